"""Solids whose surfaces are found first and lit after, once a pixel: much cheaper in software.

llvmpipe shades a triangle in whole blocks of pixels, and the light on one of a few pixels costs it ten times
what these would. So triangles leave their normals and depths, in each sample of a pixel, and one pass over
the picture lights them; what the samples of a pixel show alike it lights once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import accumulate
from typing import Any, NamedTuple

import moderngl
import numpy as np

from gpufluid.common.vectors import Vector
from gpufluid.gl.device import Device, let_go
from gpufluid.gl.drawing import blend
from gpufluid.gl.fences import clear
from gpufluid.gl.uniforms import give
from gpufluid.render.camera import View
from gpufluid.render.frame_targets import CLEAR, FIRES, FrameTargets, only
from gpufluid.render.painter import eye_uniforms, ray_uniforms
from gpufluid.render.solids.drawn_solids import DrawnSolids, Part
from gpufluid.render.solids.solid_meshes import Placed
from gpufluid.render.subject import FluidLike
from gpufluid.render.volume_source import ADDED, BEHIND, MATERIALS, SURFACES

MANY = 1 << 24  # more solids than there are
WIDE = 256  # texels of a row of materials
Solids = tuple[FluidLike, Sequence[Placed]]  # those in the box of a fluid
Lit = Callable[[int, bool], AbstractContextManager[moderngl.Program]]


class AddedFire(NamedTuple):
    """The fire of another box, which lights solids of the box of that `number`.

    lit: sets its light in the program that it gives.
    """

    number: int
    lit: Callable[[], AbstractContextManager[moderngl.Program]]


class FoundSolids:
    """Draws `solids` into the surfaces of `FrameTargets`, and lights those."""

    def __init__(self, device: Device, solids: DrawnSolids) -> None:
        self.device, self._solids = device, solids
        self._materials: moderngl.Texture | None = None
        self._holds = np.zeros((0, WIDE, 4), np.float32)

    def programs(self) -> tuple[moderngl.Program, moderngl.Program]:
        """Those of marks and depths, which know of no light: made with the first picture, solids or none."""
        return (
            self.device.program_of("marks of solids", "render/found_marks.glsl"),
            self.device.program_of("depths of solids", "render/found_depth.glsl"),
        )

    def find(
        self, targets: FrameTargets, boxes: Sequence[Solids], view: View, part: Part, paint: Vector
    ) -> None:
        """Draw their surfaces into `part` of the picture. They have numbers from 1 on, box by box."""
        files = "render/found_fragment.glsl", "render/mesh_vertex.glsl"
        program = self.device.program_of("found solids", *files)
        self._keep([one for _, shown in boxes for one in shown], paint)
        self.device.ctx.depth_func = "<"
        with only(targets.opaque, part):
            for first, (fluid, shown) in zip(_firsts(boxes), boxes, strict=True):
                grid, rays = fluid.grid, view.rays
                x, y, z = (grid.cell_size * rays.forward).tolist()
                give(program, {"to_depth": (x, y, z, float(rays.depth(np.array(grid.origin))))})
                self._solids.draw(shown, program, fluid, view, paint, targets.size, first)
        self.device.ctx.enable_only(moderngl.NOTHING)

    def mark(self, targets: FrameTargets, part: Part, numbers: tuple[int, int] = (1, MANY)) -> None:
        """Write depths into `part` of the picture that tell what solids of these `numbers` cover.

        A test of them, in the midst of all depths, spares whole blocks of pixels.
        """
        assert targets.surfaces is not None
        program = self.programs()[0]
        give(program, {"surfaces": SURFACES, "numbers": numbers})
        targets.surfaces.use(SURFACES)
        self._write_depths(targets, program, part)

    def light(
        self,
        targets: FrameTargets,
        boxes: Sequence[Solids],
        view: View,
        part: Part,
        exposure: float,
        lit: Lit,
        fires: Sequence[AddedFire] = (),
    ) -> None:
        """Light what was found in `part` of the picture, and marked there, over what is there.

        exposure: with which it will be shown. lit: sets the light of the box of that number in the program
            that it gives, which adds light of other fires or does not. fires: what lights some of
            them besides.
        """
        device, ctx = self.device, self.device.ctx
        assert targets.surfaces is not None and self._materials is not None
        several = sum(bool(shown) for _, shown in boxes) > 1
        for n, (first, (fluid, shown)) in enumerate(zip(_firsts(boxes), boxes, strict=True)):
            if not shown:
                continue
            numbers = first, first + len(shown)
            if several:
                self.mark(targets, part, numbers)
            values = {
                "surfaces": SURFACES,
                "materials": MATERIALS,
                "numbers": numbers,
                "behind": BEHIND,
                "added": ADDED,
                "exposure": exposure,
                "picture_size": targets.size,
                **ray_uniforms(view, fluid),
                **eye_uniforms(view, fluid),
            }
            added = [fire for fire in fires if fire.number == n]
            if added:
                self._add(targets, part, added, values)
            behind = targets.copy(CLEAR, part)
            with lit(n, bool(added)) as program, only(targets.painted, part):
                behind.use(BEHIND)
                if added:
                    targets.floor_light(FIRES).textures[0].use(ADDED)
                targets.surfaces.use(SURFACES)
                self._materials.use(MATERIALS)
                give(program, values)
                blend(ctx, moderngl.ONE, moderngl.ONE_MINUS_SRC_ALPHA, switches=moderngl.DEPTH_TEST)
                ctx.depth_func = ">="
                device.cover(program)
        for unit in (SURFACES, MATERIALS, BEHIND, ADDED):
            device.blank().use(unit)

    def _add(self, targets: FrameTargets, part: Part, fires: Sequence[AddedFire], values: Any) -> None:
        """Sum the light of `fires` on what is marked in `part` of the picture. values: of the uniforms."""
        assert targets.surfaces is not None and self._materials is not None
        sum_of = targets.floor_light(FIRES).target  # the floor has been drawn
        clear(sum_of, viewport=part)
        for fire in fires:
            with fire.lit() as program, only(sum_of, part):
                targets.surfaces.use(SURFACES)
                self._materials.use(MATERIALS)
                give(program, values)
                blend(self.device.ctx, moderngl.ONE, moderngl.ONE, switches=moderngl.DEPTH_TEST)
                self.device.ctx.depth_func = ">="
                self.device.cover(program)

    def write_depths(self, targets: FrameTargets, part: Part) -> None:
        """Write the depth of a sample of each pixel into `part` of the picture."""
        assert targets.samples is not None
        program = self.programs()[1]
        give(program, {"solid_depth": SURFACES})
        targets.samples.use(SURFACES)
        self._write_depths(targets, program, part)
        self.device.blank().use(SURFACES)

    def _write_depths(self, targets: FrameTargets, program: moderngl.Program, part: Part) -> None:
        """Write what `program` says into the depths of `part` of the picture."""
        self.device.ctx.enable_only(moderngl.DEPTH_TEST)
        self.device.ctx.depth_func = "1"
        with only(targets.depth_alone, part):
            self.device.cover(program)
        self.device.ctx.enable_only(moderngl.NOTHING)

    def _keep(self, shown: Sequence[Placed], paint: Vector) -> None:
        """Have the texture of what they are made of, by their numbers."""
        looks = [(*(one.color or paint), one.gloss, *one.emission, 0.0) for one in shown]
        texels = np.zeros((2 * len(shown) // WIDE + 1) * WIDE * 4, np.float32)
        texels[: 8 * len(shown)] = np.ravel(looks)
        holds = texels.reshape(-1, WIDE, 4)
        if self._materials is None or holds.shape != self._holds.shape:
            self.release()
            self._materials = self.device.texture((WIDE, len(holds)), 4, "f4", "the materials of solids")
        elif np.array_equal(holds, self._holds):
            return
        self._materials.write(holds)
        self._holds = holds

    def release(self) -> None:
        """Release the texture; idempotent."""
        if self._materials is not None:
            let_go(self._materials)
            self._materials = None


def _firsts(boxes: Sequence[Solids]) -> Iterator[int]:
    """The number of the first solid of each box."""
    return accumulate((len(shown) for _, shown in boxes[:-1]), initial=1)
