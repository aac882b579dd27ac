"""The shaded volume as slabs blended over the picture, farthest first, in one instanced draw."""

from __future__ import annotations

from gpufluid.render.painter import Painter, Sight, give
from gpufluid.render.slabs import Rows, axis_of, axis_slabs, view_slabs


class Slices:
    """Slabs across the view, or across the axis of the box nearest the view.

    count: at full quality; None: one a cell, 32 to 160; along an axis one a layer of cells.
    """

    def __init__(self, painter: Painter, count: int | None, along_axis: bool) -> None:
        self.painter, self.count, self.along_axis = painter, count, along_axis

    def slabs(self, sight: Sight) -> Rows:
        """What is to be drawn: nothing, where the box is not seen."""
        cut = axis_slabs if self.along_axis else view_slabs
        return cut(sight.fluid.grid, sight.view.rays, self.count, sight.quality)

    def draw(self, sight: Sight, slabs: Rows) -> None:
        """Blend them."""
        painter, rays = self.painter, sight.view.rays
        program = painter.program(
            sight, "slabs", "render/slab_fragment.glsl", {"ALONG_AXIS": int(self.along_axis)}
        )
        if self.along_axis:
            give(program, along=tuple(float(i == axis_of(rays)) for i in range(3)), nearest=rays.near)
        with painter.timed(sight, "slices"):
            painter.draw(sight, program, slabs, shaded=sight.shaded)

    def release(self) -> None:
        """Nothing is kept."""
