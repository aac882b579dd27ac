"""The shaded volume as slabs blended over the picture, farthest first, in one instanced draw."""

from __future__ import annotations

from gpufluid.render.painter import Painter, Sight, give
from gpufluid.render.slabs import Rows, axis_of, axis_slabs, lead_of, steps_through, view_slabs
from gpufluid.render.subject import lag


class Slices:
    """Slabs across the view, or across the axis of the box nearest the view.

    count: at full quality; None: one a cell, 32 to 160; along an axis one a layer of cells.
    """

    def __init__(self, painter: Painter, count: int | None, along_axis: bool) -> None:
        self.painter, self.count, self.along_axis = painter, count, along_axis

    def slabs(self, sight: Sight) -> Rows:
        """What is to be drawn: nothing, where the box is not seen."""
        grid, rays = sight.fluid.grid, sight.view.rays
        if self.along_axis:
            return axis_slabs(grid, rays, self.count, sight.quality)
        return view_slabs(grid, rays, self.count, sight.quality, lag(sight.fluid))

    def draw(self, sight: Sight, slabs: Rows) -> None:
        """Blend them."""
        painter, rays = self.painter, sight.view.rays
        program = painter.program(
            sight, "slabs", "render/slab_fragment.glsl", {"ALONG_AXIS": int(self.along_axis)}
        )
        if self.along_axis:
            give(program, along=tuple(float(i == axis_of(rays)) for i in range(3)), nearest=rays.near)
        else:
            grid = sight.fluid.grid
            steps = steps_through(grid, rays, self.count, sight.quality)
            number, lead = lead_of(grid, rays, steps, lag(sight.fluid))
            give(program, first_number=-number - (lead > 1e-6))
        with painter.timed(sight, "slices"):
            painter.draw(sight, program, slabs, shaded=sight.shaded)

    def release(self) -> None:
        """Nothing is kept."""
