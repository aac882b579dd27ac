"""The fences of Mesa's llvmpipe, kept until its threads have left them."""

from __future__ import annotations

from array import array
from typing import Any
from weakref import WeakKeyDictionary

import moderngl

from gpufluid.gl import enums
from gpufluid.gl.calls import calls

MOST = 128  # that are kept before half of them are let go; the driver has 64 scenes under way at most
SLICE = 20_000_000  # ns, of waiting
PASSED = enums.ALREADY_SIGNALED, enums.CONDITION_SATISFIED, enums.WAIT_FAILED  # or it never will be


class Fences:
    """A fence of our own behind what is drawn, or the driver would free its own too early.

    llvmpipe frees the fence of a scene, which is what was drawn to one target, as soon as its count says that
    all threads have passed it, while the last of them may still be about to unlock it: bytes of memory that
    is something else's by then become 0, which ends processes on machines with more to do than cores. A fence
    that OpenGL has handed out is not freed before it is deleted. The threads take up scenes together, one
    after the other: where all have passed a later fence, none is left at an earlier one.
    """

    def __init__(self, ctx: moderngl.Context) -> None:
        self._gl = calls(ctx)
        self._new = self._gl.quick("glFenceSync")
        self._kept = array("Q", [0] * MOST)  # their addresses; a step leaves no objects of Python's
        self._count = 0

    def add(self) -> None:
        """Have the driver start on what was drawn, and keep the fence behind it."""
        if self._count == MOST:
            self._let_go(MOST // 2)
        self._kept[self._count] = self._new(enums.SYNC_GPU_COMMANDS_COMPLETE, 0) or 0
        self._count += 1

    def _let_go(self, count: int) -> None:
        """Delete the first `count`, once all threads have passed the one after them, as they will have."""
        gl, kept = self._gl, self._kept
        while kept[count] and gl.glClientWaitSync(kept[count], 0, SLICE) not in PASSED:
            pass
        for fence in kept[:count]:
            gl.glDeleteSync(fence)
        kept[: MOST - count] = kept[count:]
        self._count -= count


_fences: WeakKeyDictionary[moderngl.Context, Fences | None] = WeakKeyDictionary()


def fences(ctx: moderngl.Context) -> Fences | None:
    """Those of `ctx`, for all who draw in it, where it needs them; the last few go with the context."""
    if ctx not in _fences:
        _fences[ctx] = Fences(ctx) if calls(ctx).renderer.startswith("llvmpipe") else None
    return _fences[ctx]


def mark(ctx: moderngl.Context) -> None:
    """Keep the fence behind what was drawn in `ctx`: before another target is drawn to, cleared or copied."""
    kept = fences(ctx)
    if kept is not None:
        kept.add()


def draw_to(target: moderngl.Framebuffer) -> None:
    """Draw to `target` from now on."""
    mark(target.ctx)
    target.use()


def clear(target: moderngl.Framebuffer, *color: Any, **how: Any) -> None:
    """Clear `target`."""
    mark(target.ctx)
    target.clear(*color, **how)


def copy(source: moderngl.Framebuffer, target: moderngl.Framebuffer) -> None:
    """Copy the picture of `source`, resolved where it has several samples a pixel, to `target`."""
    mark(target.ctx)
    target.ctx.copy_framebuffer(target, source)
