"""The views of the flow that a scene asks for: made from what it says, moved with it, drawn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import moderngl

import gpufluid
from gpufluid.common.errors import GpufluidError
from gpufluid.contract.backend import release
from gpufluid.description.flow_views import FlowView, Seeds
from gpufluid.render.camera import View, farthest_first
from gpufluid.render.subject import FlowLike
from gpufluid.render.views.charts import Chart
from gpufluid.render.views.particles import Particles
from gpufluid.render.views.quantities import QUANTITIES
from gpufluid.render.volume import VolumeRenderer


@dataclass
class _Made:
    """A view in one box. fixed: the values it was made from. drawn: None where nothing of it lies there."""

    view: FlowView
    fluid: FlowLike
    fixed: dict[str, Any]
    drawn: Any

    def release(self) -> None:
        release(self.drawn)


class SceneViews:
    """The views of one scene, in its fluids' context. What a description says may change at any time."""

    def __init__(self, ctx: moderngl.Context) -> None:
        self.ctx = ctx
        self._made: list[_Made] = []

    def follow(self, fluids: Sequence[FlowLike], asked: Sequence[FlowView], names: Sequence[str]) -> None:
        """Have the views that `asked` describes, with the values they have now.

        names: of the boxes of `fluids`. Raises as the views do, and for a box that none is called.
        """
        before, self._made = self._made, []
        try:
            for number, view in enumerate(asked):
                if any(view is other for other in asked[:number]):
                    continue
                if not isinstance(view, FlowView):
                    wanted = "a description such as gf.StreamlinesView"
                    raise GpufluidError(f"Scene.views[{number}] must be {wanted}, got {view!r}")
                if not view.visible:  # it waits as it was
                    self._made += [made for made in before if made.view is view]
                    continue
                view.check()
                try:
                    boxes = view.boxes(names)
                except GpufluidError as error:
                    raise GpufluidError(f"Scene.views[{number}].box {error}") from None
                within = len(fluids) > 1
                shown = [self._follow(view, fluids[box], within, before) for box in boxes]
                if within and not any(made.drawn is not None for made in shown):
                    raise GpufluidError(
                        f"Scene.views[{number}]: what it starts from lies in no box that it shows: "
                        + ", ".join(repr(names[box]) for box in boxes)
                    )
        finally:
            for made in before:
                if not any(made is kept for kept in self._made):
                    made.release()

    def _follow(self, view: FlowView, fluid: FlowLike, within: bool, before: Sequence[_Made]) -> _Made:
        """The view of one box, one of `before` where that is still right; with the values it has now."""
        fixed = {name: _plain(getattr(view, name)) for name in view.FIXED} | {"within": within}
        for made in before:
            if made.view is view and made.fluid is fluid and made.fixed == fixed:
                break
        else:
            given = view.parameters(fluid, within)
            drawn = None if given is None else getattr(gpufluid, view.MADE)(self.ctx, **given)
            made = _Made(view, fluid, fixed, drawn)
        self._made.append(made)
        if made.drawn is not None:
            for name, value in view.drawn.items():
                if name not in view.FIXED:
                    setattr(made.drawn, name, value)
        return made

    def advance(self, dt: float) -> None:
        """Move those that move with the flow on by `dt` seconds."""
        for made in self._made:
            if made.view.visible and hasattr(made.drawn, "advance"):
                made.drawn.advance(made.fluid, dt)

    def draw(
        self,
        view: View,
        target: moderngl.Framebuffer,
        depth: moderngl.Texture,
        *,
        opaque: bool,
        smoke: Sequence[VolumeRenderer] = (),
    ) -> None:
        """Draw those that hide what is behind them, or the others, into a target of linear light.

        view: what all of the picture is seen through; a camera would be taken for one of the host's, whose
        clip space may have its origin at the upper left.
        smoke: what drew the smoke there is, which hides particles.
        Of a view in several boxes the farthest is drawn first; they have one range of colours and one legend.
        Those are drawn with the others: smoke does not hide them.
        """
        asked = {id(made.view): made.view for made in self._made}.values()
        bars = [id(one) for one in asked if one.visible and getattr(one, "legend", False)]
        for one in asked:
            shown = [made for made in self._made if made.view is one and made.drawn is not None]
            if not one.visible or not shown:
                continue
            shown = [shown[n] for n in farthest_first([made.fluid.grid for made in shown], view.rays)]
            if shown[0].drawn.opaque is not opaque:
                if not opaque and id(one) in bars:
                    self._draw_legend(shown[-1].drawn, target)
                continue
            common = _common_range(shown) if len(shown) > 1 else None
            for made in shown:
                drawn = made.drawn
                values: dict[str, Any] = {"linear": True}
                if isinstance(drawn, Chart) and id(one) in bars:
                    drawn.legend_place = bars.index(id(one))
                if common is not None:
                    values["range"] = common
                if (opaque or made is not shown[-1]) and hasattr(drawn, "legend"):
                    values["legend"] = False
                veil = {"smoke": smoke} if isinstance(drawn, Particles) else {}
                with _having(drawn, values):
                    drawn.render(made.fluid, view, target, depth, **veil)

    @staticmethod
    def _draw_legend(drawn: Chart, target: moderngl.Framebuffer) -> None:
        """Draw the legend of what was drawn before into a target of linear light."""
        _, _, width, height = target.viewport
        with _having(drawn, {"linear": True}):
            drawn.draw_legend(target, (width, height))

    def release(self) -> None:
        """Release all views; idempotent."""
        release(*self._made)
        self._made = []


@contextmanager
def _having(drawn: Any, values: Mapping[str, Any]) -> Iterator[None]:
    """A block in which a view has these `values`."""
    before = {name: getattr(drawn, name) for name in values}
    try:
        for name, value in values.items():
            setattr(drawn, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(drawn, name, value)


def _common_range(shown: Sequence[_Made]) -> tuple[float, float] | None:
    """The range of colours that charts of several boxes share; None where it is given, or nothing has one."""
    charts = [(made.drawn, made.fluid) for made in shown]
    if any(
        not isinstance(chart, Chart) or chart.range or chart.field not in QUANTITIES for chart, _ in charts
    ):
        return None
    ranges = [
        chart.range_of(fluid, chart.quantity(fluid, chart.field), chart.field, None)
        for chart, fluid in charts
    ]
    return min(low for low, _ in ranges), max(high for _, high in ranges)


def _plain(value: Any) -> Any:
    """`value` as something that is compared by what it says, and is no longer the description's own."""
    if isinstance(value, Seeds):
        return value.low, value.high, value.counts
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return repr(value) if hasattr(value, "tolist") else value
