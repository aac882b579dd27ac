"""The shaded volume as slabs blended over the picture, farthest first, in one instanced draw.

Of each slab only what has anything to show is drawn; see `gpufluid.render.extents`.
"""

from __future__ import annotations

import numpy as np

from gpufluid.gl.passes import give
from gpufluid.grid import Grid
from gpufluid.render.camera import Rays
from gpufluid.render.extents import Extents
from gpufluid.render.painter import LIMIT, Painter, Sight
from gpufluid.render.slabs import (
    Rows,
    axis_cuts,
    axis_of,
    axis_shifts,
    axis_slabs,
    view_cuts,
    view_shifts,
    view_slabs,
)
from gpufluid.render.subject import lag

# neighbouring slabs that one rectangle stands for, at most; in software: a pixel costs less to go on with
# than to begin and to blend
STACK = {True: 8, False: 1}


class Slices:
    """Slabs across the view, or across the axis of the box nearest the view.

    count: at full quality; None: one a cell, 32 to 160; along an axis one a layer of cells.
    """

    def __init__(self, painter: Painter, count: int | None, along_axis: bool) -> None:
        self.painter, self.count, self.along_axis = painter, count, along_axis
        # their ends are a texel a slab: a driver whose textures hold less draws all of each slab
        fits = painter.device.max_texture_size > LIMIT
        self._extents = Extents(painter.device) if fits else None

    def slabs(self, sight: Sight) -> Rows:
        """What is to be drawn: nothing, where the box is not seen."""
        made = axis_slabs if self.along_axis else view_slabs
        return made(*self._how(sight), stack=self._stack(self._cuts(sight)[2]))

    def draw(self, sight: Sight, slabs: Rows) -> None:
        """Blend them."""
        painter, rays, grid = self.painter, sight.view.rays, sight.fluid.grid
        occupancy, extents = sight.occupancy, None if sight.occupancy is None else self._extents
        program = painter.program(
            sight,
            "slabs",
            "render/slab_fragment.glsl",
            {"ALONG_AXIS": int(self.along_axis)},
            vertex_file=f"render/slab{'' if extents is None else '_bands'}_vertex.glsl",
        )
        first, thickness, count = self._cuts(sight)
        stack = self._stack(count)
        give(program, {"cuts": (first, thickness, float(stack))})
        if self.along_axis:
            axis = tuple(float(i == axis_of(rays)) for i in range(3))
            give(program, {"shifts": axis_shifts(*self._how(sight)), "along": axis, "nearest": rays.near})
            plane: tuple[float, ...] = (*axis, 0.0)
        else:
            start = rays.forward @ (np.array(grid.origin) - rays.origin[0])
            give(program, {"shifts": view_shifts(*self._how(sight))})
            plane = (*(rays.forward * grid.cell_size).tolist(), float(start))
        vertices = 0
        if occupancy is not None and extents is not None:
            with painter.timed(sight, "extents"):
                extents.update(sight, occupancy, plane, (first, thickness * stack, -(-count // stack)))
            vertices = extents.give(program, sight)
        with painter.timed(sight, "slices"):
            painter.draw(sight, program, slabs, None, vertices)

    def _how(self, sight: Sight) -> tuple[Grid, Rays, int | None, float, tuple[int, int, int]]:
        """What the functions of `gpufluid.render.slabs` are asked with."""
        moved = sight.fluid.scrolled if self.along_axis else lag(sight.fluid)
        return sight.fluid.grid, sight.view.rays, self.count, sight.quality, moved

    def _cuts(self, sight: Sight) -> tuple[float, float, int]:
        """Where the first slab begins, how thick each is, and their number."""
        return (axis_cuts if self.along_axis else view_cuts)(*self._how(sight))

    def _stack(self, count: int) -> int:
        """How many of `count` slabs one rectangle stands for: about as many for each."""
        most = STACK[self.painter.device.software]
        return -(-count // -(-count // most))

    def release(self) -> None:
        """Release what is kept between frames."""
        if self._extents is not None:
            self._extents.release()
