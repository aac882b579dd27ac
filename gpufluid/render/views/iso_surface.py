"""The surface on which a quantity has one value."""

from __future__ import annotations

import moderngl

from gpufluid.common.errors import named
from gpufluid.common.rules import check_fields
from gpufluid.common.vectors import Vector
from gpufluid.description.flow_views import IsoSurfaceView
from gpufluid.gl.field import Field
from gpufluid.gl.uniforms import give
from gpufluid.render.subject import FlowLike
from gpufluid.render.views.charts import lighting
from gpufluid.render.views.overlay import InScene, Shot, rays_in_cells
from gpufluid.render.views.quantities import QuantityOverlay

STRIDE = 0.5  # cells of the march
SMOOTHINGS = 3  # of a solid, whose voxels are steps


@named
class IsoSurface(QuantityOverlay, InScene):
    """Draws the surface on which one quantity has the value `level`. Its fields may be changed at any time.

    field: a quantity of `SlicePlane`; "solid" shows the obstacles as the fluid has them. level: None: half of
    the largest value, which waits for the GPU. color: (r, g, b) as a screen shows it. smooth: whether the
    values are first smoothed, as by a cubic B-spline. Without that, flow drawn out into sheets a cell thick
    shows the rows of cells, and is torn along them where its peaks are near the level. A solid, whose voxels
    are steps, is smoothed three times. Each takes cell_size^2 / (3 r) off the radius r of a ball.

    It writes depth. What is thinner than half a cell along the ray may be missed. Raises GpufluidError naming
    the value.
    """

    def __init__(
        self,
        ctx: moderngl.Context,
        field: str = "density",
        level: float | None = None,
        *,
        color: Vector = (0.80, 0.82, 0.86),
        smooth: bool = True,
        linear: bool = False,
    ) -> None:
        self.field, self.level, self.color, self.smooth = field, level, color, smooth
        self.check()
        super().__init__(ctx, linear=linear)
        self.last_level = 0.5

    def check(self) -> None:
        """Raise GpufluidError naming the first value that nothing can be drawn with."""
        check_fields(self, IsoSurfaceView)

    def draw(self, fluid: FlowLike, shot: Shot, target: moderngl.Framebuffer) -> None:
        """Draw the surface."""
        shown = self.quantity(fluid, self.field)
        if self.level is None:
            low, high = self.extent(fluid, shown)
            if high <= low:
                return  # the same everywhere
            self.last_level = low + 0.5 * (high - low)
        else:
            self.last_level = self.level
        for _ in range(0 if not self.smooth else SMOOTHINGS if self.field == "solid" else 1):
            shown = self._smoothed(fluid, shown)
        program = self.program(
            "iso-surface", fluid, "iso_surface", "shown", sampler="hardware", solids=self._around(fluid)
        )
        values = {"level": self.last_level, "stride": STRIDE, "color": self.color}
        give(program, {**values, **rays_in_cells(fluid, shot.view), **lighting(shot.view)})
        with self.drawing(program, shot), self.bound(program, {"shown": shown}, filtered=True):
            self.device.cover(program)

    def _around(self, fluid: FlowLike) -> bool:
        """Whether solids are left out of the mean between cells; not where they are what is drawn."""
        return fluid.solid_field is not None and self.field != "solid"

    def _smoothed(self, fluid: FlowLike, shown: Field) -> Field:
        """Return the field smoothed once, in another field of this view's."""
        out = self.kept_field("shown" if shown is self.kept_field("smooth", fluid) else "smooth", fluid)
        program = self.program("smooth", fluid, "smooth", "shown", solids=False)
        self._fill(out.back_target, program, {"shown": shown})
        return out
