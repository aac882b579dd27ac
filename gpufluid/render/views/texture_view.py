"""The flat texture a field lies in, as it is."""

from __future__ import annotations

import moderngl
import numpy as np

from gpufluid.common.errors import GpufluidError, named
from gpufluid.common.vectors import Pair
from gpufluid.gl.drawing import first_color_alone
from gpufluid.gl.fences import draw_to
from gpufluid.gl.field import Field
from gpufluid.gl.targets import drawable
from gpufluid.gl.uniforms import give
from gpufluid.render.subject import FlowLike
from gpufluid.render.views.charts import Chart
from gpufluid.render.views.ink import PAPER, text_size

MARGIN = 0.02  # of the viewport's height, round what is shown
# where numbers are stored: the fluid's field, and the channel there
STORED = {
    "density": ("scalars", 0),
    "temperature": ("scalars", 1),
    "fuel": ("scalars", 2),
    "pressure": ("pressure_field", 0),
    "velocity_x": ("velocity_field", 0),
    "velocity_y": ("velocity_field", 1),
    "velocity_z": ("velocity_field", 2),
    "solid": ("solid_field", 0),
    "flame": ("flame_field", 0),
}


@named
class FlatTextureView(Chart):
    """Draws a field's texture into the whole viewport: slices as tiles, the lowest z at the lower left.

    field: density, temperature, fuel, pressure, velocity_x, _y, _z (the values on the faces) and solid are
    shown as they are stored, pressure with the four cells of a texel side by side; divergence, speed and
    vorticity, which are not stored, are shown as the views compute them. colors, range, legend: see `Chart`.

    Raises GpufluidError naming the value and its limit.
    """

    def __init__(
        self,
        ctx: moderngl.Context,
        field: str = "density",
        *,
        colors: str | None = None,
        range: Pair | None = None,
        legend: bool = True,
        linear: bool = False,
    ) -> None:
        super().__init__(ctx, field, colors, range, legend, linear)

    def render(self, fluid: FlowLike, target: moderngl.Framebuffer) -> None:
        """Draw the texture. Raises GpufluidError for what cannot be drawn."""
        self.check_fluid(fluid)
        self.check()
        corner, size = self.check_target(target)
        if 0 in size:
            return  # a minimised window
        shown, colors = self.measure(fluid)
        field, channel = self._stored(fluid, shown)
        layout = field.layout
        packed = layout.packing > 1
        tile = layout.tile[0] * layout.packing, layout.tile[1]
        width, height = layout.texture_size[0] * layout.packing, layout.texture_size[1]
        margin = max(2.0, MARGIN * size[1])
        room = (
            size[0] - 2 * margin - (13.0 * text_size(size[1]) if self.legend else 0.0),
            size[1] - 2 * margin,
        )
        if min(room) < 1.0:
            raise GpufluidError(f"FlatTextureView needs a larger viewport than {size[0]} x {size[1]} pixels")
        scale = min(room[0] / width, room[1] / height)
        scale = float(np.floor(scale)) if scale >= 2.0 else scale  # whole texels where there is room
        low, high = self.last_range
        wide, tall = scale * width, scale * height
        below = round(margin + 0.5 * (room[1] - tall))
        turned = self._upside_down  # pixels are counted from above then
        program = self.device.program_of(
            "flat texture", "render/texture_view.glsl", "render/cover_vertex.glsl"
        )
        give(
            program,
            {
                "channel": tuple(float(n == channel) for n in (0, 1, 2, 3)),
                "four_in_one": packed,
                "corner": (
                    corner[0] + round(margin + 0.5 * (room[0] - wide)),
                    corner[1] + (size[1] - below if turned else below),
                ),
                "shown_size": (wide, -tall if turned else tall),
                "tile": tile,
                "valid": layout.size[:2],
                "tiles": (layout.columns, layout.size[2]),
                "range": (low, 1.0 / (high - low)),
                "linear_light": self.linear,
                "has_depth": False,
            },
        )
        textures = {"flat_texture": field.front, "colors": colors}
        with drawable(target) as target, first_color_alone(target):
            self.ink.rectangle(0, 0, *size, PAPER)
            self.ink.draw(target, linear=self.linear)
            draw_to(target)
            self.ctx.enable_only(moderngl.NOTHING)
            with self.bound(program, None, textures, smooth=("colors",)):
                self.device.cover(program)
            self.draw_legend(target, size, turned)

    def _stored(self, fluid: FlowLike, shown: Field) -> tuple[Field, int]:
        """The field that holds what is shown, and the channel."""
        name, channel = STORED.get(self.field, ("", 0))
        field: Field | None = getattr(fluid, name, None)
        return (shown, 0) if field is None else (field, channel)
