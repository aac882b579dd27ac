"""The shaded volume as slabs blended over the picture, farthest first, in one instanced draw.

Of each slab only what has anything to show is drawn; see `gpufluid.render.extents`.
"""

from __future__ import annotations

import numpy as np

from gpufluid.render.extents import Extents
from gpufluid.render.painter import LIMIT, Painter, Sight, give
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
        grid, rays = sight.fluid.grid, sight.view.rays
        if self.along_axis:
            return axis_slabs(grid, rays, self.count, sight.quality, sight.fluid.scrolled)
        return view_slabs(grid, rays, self.count, sight.quality, lag(sight.fluid))

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
        if self.along_axis:
            axis = tuple(float(i == axis_of(rays)) for i in range(3))
            give(program, along=axis, nearest=rays.near)
            plane, how = (*axis, 0.0), (grid, rays, self.count, sight.quality, sight.fluid.scrolled)
            cuts, shifts = axis_cuts(*how), axis_shifts(*how)
        else:
            start = rays.forward @ (np.array(grid.origin) - rays.origin[0])
            plane = (*(rays.forward * grid.cell_size).tolist(), float(start))
            how = (grid, rays, self.count, sight.quality, lag(sight.fluid))
            cuts, shifts = view_cuts(*how), view_shifts(*how)
        give(program, cuts=cuts[:2], shifts=shifts)
        vertices = 0
        if occupancy is not None and extents is not None:
            with painter.timed(sight, "extents"):
                extents.update(sight, occupancy, plane, cuts)
            vertices = extents.give(program, sight)
        with painter.timed(sight, "slices"):
            painter.draw(sight, program, slabs, None, vertices, shaded=sight.shaded)

    def release(self) -> None:
        """Release what is kept between frames."""
        if self._extents is not None:
            self._extents.release()
