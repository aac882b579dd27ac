"""The shaded volume as slabs blended over the picture, farthest first, in one instanced draw.

Of each slab only what has anything to show is drawn; see `gpufluid.render.extents`.
"""

from __future__ import annotations

import numpy as np

from gpufluid.contract.backend import release
from gpufluid.description.grid import Grid
from gpufluid.gl.uniforms import give
from gpufluid.render.camera import Rays
from gpufluid.render.extents import Extents
from gpufluid.render.painter import LIMIT, Painter, Sight
from gpufluid.render.slabs import (
    Cuts,
    Rows,
    axis_cuts,
    axis_of,
    axis_shifts,
    axis_slabs,
    stack_of,
    view_cuts,
    view_shifts,
    view_slabs,
)
from gpufluid.render.subject import lag


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
        cuts = self._cuts(sight)
        return made(*self._how(sight), stack=stack_of(cuts[2]), spread=0.5 * self._spread(sight, cuts))

    def draw(self, sight: Sight, slabs: Rows) -> None:
        """Blend them."""
        painter, rays, grid = self.painter, sight.view.rays, sight.fluid.grid
        occupancy, extents = sight.occupancy, None if sight.occupancy is None else self._extents
        cuts = first, thickness, count = self._cuts(sight)
        stack, spread = stack_of(count), self._spread(sight, cuts)
        program = painter.program(
            sight,
            "slabs",
            "render/slab_fragment.glsl",
            {"ALONG_AXIS": int(self.along_axis), "JITTERED": int(spread > 0.0)},
            vertex_file=f"render/slab{'' if extents is None else '_bands'}_vertex.glsl",
        )
        shifts = axis_shifts if self.along_axis else view_shifts
        painter.give_cuts(program, cuts, stack, shifts(*self._how(sight)), spread)
        give(program, {"nearest": rays.near})
        if self.along_axis:
            axis = tuple(float(i == axis_of(rays)) for i in range(3))
            give(program, {"along": axis})
            plane: tuple[float, ...] = (*axis, 0.0)
        else:
            start = rays.forward @ (np.array(grid.origin) - rays.origin[0])
            plane = (*(rays.forward * grid.cell_size).tolist(), float(start))
        vertices = 0
        if occupancy is not None and extents is not None:
            with painter.timed(sight, "extents"):
                stacks = first, thickness * stack, -(-count // stack)
                extents.update(sight, occupancy, plane, stacks, 0.5 * spread / stack)
            vertices = extents.give(program, sight)
        with painter.timed(sight, "slices"):
            painter.draw(sight, program, slabs, None, vertices)

    def _how(self, sight: Sight) -> tuple[Grid, Rays, int | None, float, tuple[int, int, int]]:
        """What the functions of `gpufluid.render.slabs` are asked with."""
        moved = sight.fluid.scrolled if self.along_axis else lag(sight.fluid)
        return sight.fluid.grid, sight.view.rays, self.count, sight.quality, moved

    def _cuts(self, sight: Sight) -> Cuts:
        """Where the first slab begins, how thick each is, and their number."""
        return (axis_cuts if self.along_axis else view_cuts)(*self._how(sight))

    def _spread(self, sight: Sight, cuts: Cuts) -> float:
        """The share of a slab over which noise spreads its ends."""
        return self.painter.spread(cuts[1] if self.along_axis else cuts[1] / sight.fluid.grid.cell_size)

    def release(self) -> None:
        """Release what is kept between frames."""
        release(self._extents)
