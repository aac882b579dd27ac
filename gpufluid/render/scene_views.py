"""The views of the flow that a scene asks for: made from what it says, moved with it, drawn."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import moderngl

import gpufluid
from gpufluid.flow_views import FlowView
from gpufluid.render.overlay import Overlay
from gpufluid.render.subject import FlowLike
from gpufluid.view import Camera


class SceneViews:
    """The views of one scene, in the context of its fluid. What a description says may change at any time."""

    def __init__(self, ctx: moderngl.Context) -> None:
        self.ctx = ctx
        self._made: list[tuple[FlowView, dict[str, Any], Overlay]] = []  # what it was made from

    def follow(self, fluid: FlowLike, asked: Sequence[FlowView]) -> None:
        """Have the views that `asked` describes, with the values they have now. Raises as the views do."""
        before, self._made = self._made, []
        try:
            for view in asked:
                view.check()
                known = next((made for made in before if made[0] is view), None)
                fixed = {name: _plain(getattr(view, name)) for name in view.FIXED}
                if known is None or known[1] != fixed:
                    made = getattr(gpufluid, view.MADE)(self.ctx, **view.parameters(fluid))
                    self._made.append((view, fixed, made))
                    continue
                before.remove(known)
                self._made.append(known)
                for part in dataclasses.fields(view):
                    if part.name not in view.FIXED:
                        setattr(known[2], part.name, getattr(view, part.name))
        finally:
            for _, _, left in before:
                left.release()

    def advance(self, fluid: FlowLike, dt: float) -> None:
        """Move those that move with the flow on by `dt` seconds."""
        for _, _, made in self._made:
            if hasattr(made, "advance"):
                made.advance(fluid, dt)

    def draw(
        self,
        fluid: FlowLike,
        camera: Camera,
        target: moderngl.Framebuffer,
        depth: moderngl.Texture,
        *,
        opaque: bool,
    ) -> None:
        """Draw those that hide what is behind them, or the others, into a target of linear light."""
        for _, _, made in self._made:
            shown: Any = made
            if shown.opaque is opaque:
                before, shown.linear = shown.linear, True
                try:
                    shown.render(fluid, camera, target, depth)
                finally:
                    shown.linear = before

    def release(self) -> None:
        """Release all views; idempotent."""
        for _, _, made in self._made:
            made.release()
        self._made = []


def _plain(value: Any) -> Any:
    """`value` as something that is compared by what it says, and is no longer the description's own."""
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return repr(value) if hasattr(value, "tolist") else value
