"""A quantity on a plane through the box, in colours with a scale."""

from __future__ import annotations

from typing import Any

import moderngl
import numpy as np

from gpufluid.common.errors import named
from gpufluid.common.vectors import Floats, Pair, Vector
from gpufluid.description.grid import AXES
from gpufluid.description.shapes import direction
from gpufluid.gl.uniforms import give
from gpufluid.render.camera import cells_of, clip_of_cells, middle_of
from gpufluid.render.subject import FlowLike
from gpufluid.render.views.charts import Chart
from gpufluid.render.views.overlay import InScene, Shot
from gpufluid.render.views.quantities import fields_of


@named
class SlicePlane(Chart, InScene):
    """Draws one quantity on a plane, in colours. Its fields may be changed at any time.

    field: density, temperature, fuel, pressure, divergence, speed, velocity_x, velocity_y, velocity_z,
        vorticity (the length of the curl), flame (what burns) or solid. Solids are grey.
    axis, position: the plane across "x", "y" or "z" at that place along it, metres; None: in the middle.
        point, normal: any other plane, metres; then axis and position do not count. opacity: 0 .. 1; an
        opaque plane also hides what is behind it, and writes depth. contours: how many lines of equal value
        are drawn, 0 to 100. colors, range, legend: see `Chart`. linear: see `Overlay`.

    The value of a cell is at its centre; between them it is trilinear, over the fluid alone beside solids.
    Raises GpufluidError naming the value and its limit.
    """

    def __init__(
        self,
        ctx: moderngl.Context,
        field: str = "speed",
        *,
        axis: str = "z",
        position: float | None = None,
        point: Vector | None = None,
        normal: Vector | None = None,
        colors: str | None = None,
        range: Pair | None = None,
        opacity: float = 1.0,
        contours: int = 0,
        legend: bool = True,
        linear: bool = False,
    ) -> None:
        self.axis, self.position, self.point, self.normal = axis, position, point, normal
        self.opacity, self.contours = opacity, contours
        super().__init__(ctx, field, colors, range, legend, linear)

    def check(self) -> None:
        """Raise GpufluidError naming the first value that nothing can be drawn with."""
        super().check()
        if self.normal is not None:
            self.normal = direction(self.normal, "SlicePlane.normal")

    @property
    def opaque(self) -> bool:
        """Where its opacity is 1."""
        return self.opacity == 1.0

    def plane(self, fluid: FlowLike) -> tuple[Floats, Floats]:
        """Return a point of the plane [3], metres, and its unit normal [3]."""
        middle = middle_of(fluid.grid)
        if self.normal is not None or self.point is not None:
            normal = np.array(self.normal if self.normal is not None else (0.0, 0.0, 1.0))
            return np.array(self.point) if self.point is not None else middle, normal
        axis = AXES.index(self.axis)
        if self.position is not None:
            middle[axis] = self.position
        return middle, np.eye(3)[axis]

    def draw(self, fluid: FlowLike, shot: Shot, target: moderngl.Framebuffer) -> None:
        """Draw the plane as far as it lies in the box."""
        shown, colors = self.measure(fluid)
        point, normal = self.plane(fluid)
        u = np.cross(normal, np.eye(3)[int(np.abs(normal).argmin())])
        u /= np.linalg.norm(u)
        v = np.cross(normal, u)
        grid = fluid.grid
        middle = middle_of(grid)
        middle -= normal * ((middle - point) @ normal)  # the plane's nearest place to the middle of the box
        reach = 0.51 * float(np.linalg.norm(grid.cells)) + 1.0
        low, high = self.last_range
        values: dict[str, Any] = {
            "to_clip": clip_of_cells(fluid.grid, shot.view),
            "middle": tuple((cells_of(fluid.grid) @ np.append(middle, 1.0))[:3]),
            "across": tuple(reach * u),
            "upward": tuple(reach * v),
            "range": (low, 1.0 / (high - low)),
            "opacity": float(self.opacity),
            "contours": float(self.contours),
        }
        program = self.program(
            "slice", fluid, "slice_fragment", "shown", vertex="slice_vertex", sampler="hardware"
        )
        give(program, values)
        read = {"shown": shown, "solid": fields_of(fluid)["solid"]}
        with (
            self.drawing(program, shot),
            self.bound(program, read, {"colors": colors}, filtered=True, smooth=("colors",)),
        ):
            self.array(program).render(moderngl.TRIANGLE_STRIP, 4)
        self.draw_legend(target, shot.size, shot.upside_down)
