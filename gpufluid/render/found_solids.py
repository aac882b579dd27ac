"""Solids whose surfaces are found first and lit after, once a pixel: much cheaper in software.

llvmpipe shades a triangle in whole blocks of pixels, and the light on one of a few pixels costs it ten times
what these would. So triangles leave their normals and depths, in each sample of a pixel, and one pass over
the picture lights them; what the samples of a pixel show alike it lights once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import moderngl
import numpy as np

from gpufluid.gl.device import Device
from gpufluid.gl.drawing import blend, let_go
from gpufluid.gl.passes import give
from gpufluid.mesh import Mesh
from gpufluid.render.camera import View
from gpufluid.render.drawn_solids import DrawnSolids, Part
from gpufluid.render.floor import FLOOR_REACH, floor_depth, sees_down
from gpufluid.render.frame_targets import FrameTargets, only
from gpufluid.render.painter import eye_uniforms, ray_uniforms
from gpufluid.render.solid_meshes import Placed
from gpufluid.render.subject import FluidLike
from gpufluid.render.volume_source import MATERIALS, SUN, SURFACES
from gpufluid.vectors import Vector

MANY = 1 << 24  # more solids than there are
NOWHERE = -1e18  # m: lower than all that is seen
FURTHER = 4.0  # than the floor reaches: no edge of its plane crosses a pixel's samples
SQUARE = Mesh([(-1, 0, -1), (-1, 0, 1), (1, 0, 1), (1, 0, -1)], [(0, 1, 2), (0, 2, 3)])
WIDE = 256  # texels of a row of materials
Solids = tuple[FluidLike, Sequence[Placed]]  # those in the box of a fluid
Lit = Callable[[int], AbstractContextManager[moderngl.Program]]


@dataclass(frozen=True)
class Floor:
    """The floor of a picture, under the box of `fluid`. height: m; None: there is none."""

    height: float | None
    fluid: FluidLike
    view: View

    @property
    def values(self) -> dict[str, Any]:
        """What shaders are told of it, in cells of the box."""
        grid, height = self.fluid.grid, NOWHERE if self.height is None else self.height
        x, _, z = grid.cells
        return {
            "floor_height": (height - grid.origin[1]) / grid.cell_size,
            "floor_middle": (0.5 * x, 0.5 * z),
            "floor_reach": FLOOR_REACH * max(grid.cells),
        }

    @property
    def plane(self) -> Placed:
        """More of its plane than is seen of it."""
        grid = self.fluid.grid
        x, _, z = np.array(grid.origin) + 0.5 * np.array(grid.size)
        matrix = np.diag([FURTHER * FLOOR_REACH * max(grid.size)] * 3 + [1.0])
        matrix[:3, 3] = x, self.height, z
        return Placed(SQUARE, matrix)


class FoundSolids:
    """Draws `solids` into the surfaces of `FrameTargets`, and lights those."""

    def __init__(self, device: Device, solids: DrawnSolids) -> None:
        self.device, self._solids = device, solids
        self._materials: moderngl.Texture | None = None
        self._holds = np.zeros((0, WIDE, 4), np.float32)

    def find(
        self, targets: FrameTargets, boxes: Sequence[Solids], floor: Floor, part: Part, paint: Vector
    ) -> None:
        """Draw their surfaces into `part` of the picture. They have numbers from 1 on, box by box."""
        files, ctx = ("render/found_fragment.glsl", "render/mesh_vertex.glsl"), self.device.ctx
        program = self.device.program_of("found solids", *files)
        self._keep([one for _, shown in boxes for one in shown], paint)
        plane = [] if floor.height is None or not sees_down(floor.view, floor.height) else [floor.plane]
        with only(targets.opaque, part):
            # had all samples of a pixel one depth of the floor, the foot of a solid on it would go in stairs
            ctx.depth_func = "1"
            for first, (fluid, shown) in zip(
                (0, *_firsts(boxes)), ((floor.fluid, plane), *boxes), strict=True
            ):
                grid, rays = fluid.grid, floor.view.rays
                x, y, z = (grid.cell_size * rays.forward).tolist()
                depth = {"to_depth": (x, y, z, float(rays.depth(np.array(grid.origin))))}
                give(program, {**depth, **floor.values})
                self._solids.draw(shown, program, fluid, floor.view, paint, targets.size, first)
                ctx.depth_func = "<"
        ctx.enable_only(moderngl.NOTHING)

    def mark(self, targets: FrameTargets, part: Part, numbers: tuple[int, int] = (1, MANY)) -> None:
        """Write depths into `part` of the picture that tell what solids of these `numbers` cover.

        A test of them, in the midst of all depths, spares whole blocks of pixels.
        """
        self._write(targets.depth_alone, targets, part, {"marks": True, "sampled": False, "numbers": numbers})

    def write_depths(
        self,
        target: moderngl.Framebuffer,
        targets: FrameTargets,
        floor: Floor,
        part: Part,
        sampled: bool = False,
    ) -> None:
        """Write depths into `part` of `target`: of the floor, or if `sampled` of what was found."""
        values = {
            "picture_size": targets.size,
            "depth_scale": floor.view.depth_scale,
            "floor_depth": floor_depth(floor.view, floor.height, targets.size),
            **ray_uniforms(floor.view, floor.fluid),
            **floor.values,
        }
        self._write(target, targets, part, {"marks": False, "sampled": sampled, **values})

    def _write(
        self, target: moderngl.Framebuffer, targets: FrameTargets, part: Part, values: dict[str, Any]
    ) -> None:
        """Write what found_depths.glsl says into the depths of `part` of `target`."""
        device, ctx = self.device, self.device.ctx
        program = device.program_of("depths of solids", "render/found_depths.glsl")
        give(program, {"surfaces": SURFACES, "solid_depth": SUN, **values})
        read = target is targets.depth_alone
        assert targets.surfaces is not None and targets.samples is not None
        targets.surfaces.use(SURFACES)
        (targets.samples if read else targets.no_samples).use(SUN)
        ctx.enable_only(moderngl.DEPTH_TEST)
        ctx.depth_func = "1"
        with only(target, part):
            device.cover(program)
        ctx.enable_only(moderngl.NOTHING)
        for unit in (SURFACES, SUN):
            device.blank().use(unit)

    def light(self, targets: FrameTargets, boxes: Sequence[Solids], view: View, part: Part, lit: Lit) -> None:
        """Light what was found in `part` of the picture, and marked there, over what is there.

        lit: sets the light of the box of that number in the program that it gives.
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
                "picture_size": targets.size,
                **ray_uniforms(view, fluid),
                **eye_uniforms(view, fluid),
            }
            with lit(n) as program, only(targets.painted, part):
                targets.surfaces.use(SURFACES)
                self._materials.use(MATERIALS)
                give(program, values)
                blend(ctx, moderngl.ONE, moderngl.ONE_MINUS_SRC_ALPHA, switches=moderngl.DEPTH_TEST)
                ctx.depth_func = ">="
                device.cover(program)
        for unit in (SURFACES, MATERIALS):
            device.blank().use(unit)

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
