"""Solids whose surfaces are found first and lit after, once a pixel: much cheaper in software.

llvmpipe shades a triangle in whole blocks of pixels, and the light on one of a few pixels costs it ten times
what these would. So triangles leave their normals and depths, in each sample of a pixel, and one pass over
the picture lights them; what the samples of a pixel show alike it lights once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import accumulate

import moderngl
import numpy as np

from gpufluid.gl.device import Device
from gpufluid.gl.drawing import blend, let_go
from gpufluid.gl.passes import give
from gpufluid.render.camera import View
from gpufluid.render.drawn_solids import DrawnSolids, Part
from gpufluid.render.frame_targets import FrameTargets, only
from gpufluid.render.painter import eye_uniforms, ray_uniforms
from gpufluid.render.solid_meshes import Placed
from gpufluid.render.subject import FluidLike
from gpufluid.render.volume_source import MATERIALS, SURFACES
from gpufluid.vectors import Vector

WIDE = 256  # texels of a row of materials
Solids = tuple[FluidLike, Sequence[Placed]]  # those in the box of a fluid
Lit = Callable[[int], AbstractContextManager[moderngl.Program]]


class FoundSolids:
    """Draws `solids` into the surfaces of `FrameTargets`, and lights those."""

    def __init__(self, device: Device, solids: DrawnSolids) -> None:
        self.device, self._solids = device, solids
        self._materials: moderngl.Texture | None = None
        self._holds = np.zeros((0, WIDE, 4), np.float32)

    def find(self, targets: FrameTargets, boxes: Sequence[Solids], view: View, paint: Vector) -> None:
        """Draw their surfaces. The solids have numbers from 1 on, box by box."""
        files = "render/found_fragment.glsl", "render/mesh_vertex.glsl"
        program = self.device.program_of("found solids", *files)
        self._keep([one for _, shown in boxes for one in shown], paint)
        for first, (fluid, shown) in zip(_firsts(boxes), boxes, strict=True):
            grid, rays = fluid.grid, view.rays
            ahead = grid.cell_size * rays.forward, rays.depth(np.array(grid.origin))
            give(program, {"to_depth": (*ahead[0].tolist(), float(ahead[1]))})
            self._solids.draw(shown, program, fluid, view, paint, targets.size, first)

    def light(self, targets: FrameTargets, boxes: Sequence[Solids], view: View, part: Part, lit: Lit) -> None:
        """Light what was found in `part` of the picture over what is there, and write its depths.

        lit: sets the light of the box of that number in the program that it gives.
        """
        device, ctx = self.device, self.device.ctx
        marks = device.program_of("marks of solids", "render/found_marks.glsl")
        assert targets.surfaces is not None and targets.samples is not None and self._materials is not None
        for n, (first, (fluid, shown)) in enumerate(zip(_firsts(boxes), boxes, strict=True)):
            if not shown:
                continue
            values = {
                "surfaces": SURFACES,
                "materials": MATERIALS,
                "numbers": (first, first + len(shown)),
                **ray_uniforms(view, fluid),
                **eye_uniforms(view, fluid),
                "picture_size": targets.size,
            }
            with lit(n) as program:
                targets.surfaces.use(SURFACES)
                self._materials.use(MATERIALS)
                give(marks, values)
                give(program, values)
                ctx.enable_only(moderngl.DEPTH_TEST)
                ctx.depth_func = "1"
                with only(targets.depth_alone, part):
                    device.cover(marks)
                # a test of one sample spares all blocks of pixels that are not marked
                blend(ctx, moderngl.ONE, moderngl.ONE_MINUS_SRC_ALPHA, switches=moderngl.DEPTH_TEST)
                ctx.depth_func = "=="
                with only(targets.scene, part):
                    device.cover(program)
        depths = device.program_of("depths of solids", "render/found_depth.glsl")
        give(depths, {"solid_depth": SURFACES})
        targets.samples.use(SURFACES)
        ctx.enable_only(moderngl.DEPTH_TEST)
        ctx.depth_func = "1"
        with only(targets.depth_alone, part):
            device.cover(depths)
        ctx.enable_only(moderngl.NOTHING)
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
