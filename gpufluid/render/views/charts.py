"""What the views with colours have in common: a colour map, a range, a legend; and how surfaces are lit."""

from __future__ import annotations

from typing import Any, ClassVar

import moderngl
import numpy as np

from gpufluid.common.rules import check_fields
from gpufluid.common.vectors import Pair
from gpufluid.contract.backend import release
from gpufluid.description.flow_views import FlowView, SliceView
from gpufluid.gl.field import Field
from gpufluid.render.camera import View
from gpufluid.render.subject import FlowLike
from gpufluid.render.views.colormaps import ColorMaps
from gpufluid.render.views.ink import Ink
from gpufluid.render.views.ink import legend as draw_legend
from gpufluid.render.views.quantities import QUANTITIES, QuantityOverlay, Range

KEY = np.array([-0.45, 0.65, 0.62])  # where the light of a view stands: right, up, towards the viewer


class Chart(QuantityOverlay):
    """A view with a colour map. Its fields may be changed at any time.

    field: the quantity shown. colors: a map of `gpufluid.render.views.colormaps`; None: one that suits it.
    range: (low, high), or None for that of the data, which waits for the GPU. legend: whether a bar with
    numbers is drawn. last_range: that of the last picture.
    """

    RULES: ClassVar[type[FlowView]] = SliceView  # the description that has its fields
    SIGNED, UNSIGNED = "coolwarm", "viridis"

    def __init__(
        self,
        ctx: moderngl.Context,
        field: str,
        colors: str | None,
        range: Pair | None,
        legend: bool,
        linear: bool,
    ) -> None:
        self.field, self.colors, self.range, self.legend = field, colors, range, legend
        self.legend_place = 0  # of several in one picture
        self.check()
        super().__init__(ctx, linear=linear)
        self.maps = ColorMaps(self.device)
        self._ink: Ink | None = None
        self.last_range: Range = (0.0, 1.0)

    def check(self) -> None:
        """Raise GpufluidError naming the first value that nothing can be drawn with."""
        check_fields(self, self.RULES)

    @property
    def ink(self) -> Ink:
        """What text and bars are drawn with, made when it is first needed."""
        if self._ink is None:
            self._ink = Ink(self.device)
        return self._ink

    def color_map(self) -> str:
        """The name of the map in use."""
        return self.colors or (self.SIGNED if QUANTITIES[self.field].signed else self.UNSIGNED)

    def measure(self, fluid: FlowLike) -> tuple[Field, moderngl.Texture]:
        """Work out the quantity and its range; return its field and the colour map."""
        shown = self.quantity(fluid, self.field)
        self.last_range = self.range_of(fluid, shown, self.field, self.range)
        return shown, self.maps.texture(self.color_map())

    def draw_legend(
        self, target: moderngl.Framebuffer, size: tuple[int, int], upside_down: bool = False
    ) -> None:
        """Draw the colour bar, if it is wanted. upside_down: as in `Ink.draw`."""
        if self.legend:
            unit, place = QUANTITIES[self.field].unit, self.legend_place
            draw_legend(self.ink, size, self.field, unit, *self.last_range, place)
            colors = self.maps.texture(self.color_map())
            self.ink.draw(target, colors, linear=self.linear, upside_down=upside_down)

    def release(self) -> None:
        """Release everything made in the context; idempotent."""
        release(self._ink)
        self._ink = None
        self.maps.release()
        super().release()


def lighting(view: View) -> dict[str, Any]:
    """The uniforms of plain_light.glsl: a key light over the viewer's left shoulder, in world directions."""
    turn = np.linalg.inv(view.view.astype(np.float64))[:3, :3]
    key = turn @ KEY
    return {"key_way": tuple(key / np.linalg.norm(key))}
