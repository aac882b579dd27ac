"""Whether a fence is behind what the engine has drawn before it draws elsewhere, see `gpufluid.gl.fences`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import moderngl

from gpufluid.gl import fences as module
from gpufluid.gl.contexts import is_software
from gpufluid.gl.fences import Fences, fences
from gpufluid.gl.state import _guards


class Watched(Fences):
    """Knows which target was drawn to since the last one."""

    drawn: Any = None

    def add(self) -> None:
        self.drawn = None
        super().add()


def _draws(real: Callable[..., Any], target_of: Callable[..., Any]) -> Callable[..., Any]:
    """`real`, which draws to `target_of` its arguments; fails where no fence is behind what came before.

    Only in calls of the engine's: a host may draw as it likes.
    """

    @functools.wraps(real)
    def draw(self: Any, *given: Any, **by_name: Any) -> Any:
        ctx = self if isinstance(self, moderngl.Context) else self.ctx
        guard, kept = _guards.get(ctx), fences(ctx) if is_software(ctx) else None
        if isinstance(kept, Watched):
            target, before = target_of(self, *given), kept.drawn
            if guard is not None and not guard.outside and before is not None:
                assert before is target, "another target was drawn to, and no fence is behind that"
            kept.drawn = target
        return real(self, *given, **by_name)

    return draw


def install() -> None:
    """Look at all that is drawn from now on."""
    array, target, context = moderngl.VertexArray, moderngl.Framebuffer, moderngl.Context
    array.render = _draws(array.render, lambda array, *given: array.ctx.mglo.fbo)  # type: ignore[method-assign]
    target.clear = _draws(target.clear, lambda target, *given: target.mglo)  # type: ignore[method-assign]
    copies = _draws(context.copy_framebuffer, lambda ctx, target, source: target.mglo)
    context.copy_framebuffer = copies  # type: ignore[method-assign]
    module.Fences = Watched  # type: ignore[misc]
