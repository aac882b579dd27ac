"""What is drawn into: how, how it is read, and what of ours stands over the textures of a host's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import moderngl
import numpy as np
from numpy.typing import DTypeLike, NDArray

from gpufluid.common.errors import GpufluidError
from gpufluid.gl import enums
from gpufluid.gl.device import Device, let_go
from gpufluid.gl.hosts import check_target
from gpufluid.gl.state import keeping
from gpufluid.gl.targets import depth_of, drawable, hang_depth, is_hosts, samples_of, size_of


def blend(
    ctx: moderngl.Context,
    drawn: int,
    there: int,
    equation: int = moderngl.FUNC_ADD,
    *,
    switches: int = moderngl.NOTHING,
) -> None:
    """Blend what is drawn from now on, times the factor `drawn`, with what is there, times that of `there`.

    equation: how. switches: those of moderngl to turn on beside it. It ends at the next ``enable_only``.
    """
    ctx.enable_only(moderngl.BLEND | switches)
    ctx.blend_func = drawn, there
    ctx.blend_equation = equation  # type: ignore[assignment]  # moderngl says a pair


@contextmanager
def first_color_alone(target: moderngl.Framebuffer) -> Iterator[None]:
    """Write the first colour of `target` alone while the body draws: in its others a host has something else.

    What a shader does not write is undefined there, and would be blended over them.
    """
    masks = target.color_mask
    if isinstance(masks[0], bool):  # it has one
        yield
        return
    target.color_mask = masks[0], *[(False,) * 4] * (len(masks) - 1)
    try:
        yield
    finally:
        target.color_mask = masks


def drawn_to(target: moderngl.Framebuffer) -> tuple[Any, ...]:
    """What `target` draws its colours to, and its size; equal for the same textures and renderbuffers alone.

    Names of OpenGL do not tell: drivers give that of one that was released to the next.
    """
    return target.size, *(thing.mglo for thing in target.color_attachments)


class OverTarget:
    """Framebuffers of our own over the textures of a host's target, made once for each target."""

    def __init__(self) -> None:
        self._key: object = None
        self._things: list[Any] = []

    def of(self, target: moderngl.Framebuffer, make: Callable[[], list[Any]]) -> list[Any]:
        """What `make` made for `target`, first of all a framebuffer, which has its viewport."""
        key: object = (size_of(target), samples_of(target)) if is_hosts(target) else drawn_to(target)
        if self._key != key:
            self.release()
            self._things, self._key = make(), key
        self._things[0].viewport = target.viewport
        return self._things

    def color(self, target: moderngl.Framebuffer) -> moderngl.Framebuffer:
        """The first colour of `target` without its depth: GL forbids to read that while it is drawn to."""
        bare: moderngl.Framebuffer
        if is_hosts(target):
            hang_depth(target, None)
            return target
        (bare,) = self.of(target, lambda: [target.ctx.framebuffer(target.color_attachments[:1])])
        return bare

    def release(self) -> None:
        """Let go of them; idempotent."""
        things, self._things, self._key = self._things, [], None
        let_go(*things)


def hangs_in(depth: moderngl.Texture | None, target: moderngl.Framebuffer) -> bool:
    """Whether `depth` is what `target` keeps its depth in."""
    return depth is not None and depth_of(target)[:2] == (enums.TEXTURE, depth.glo)


def top_first(raw: bytes, dtype: DTypeLike, size: tuple[int, int], channels: int) -> NDArray[Any]:
    """Return a picture of `size` as OpenGL has read it, [height, width, channels], with its top row first."""
    pixels = np.frombuffer(raw, dtype).reshape(size[1], size[0], channels)
    return np.ascontiguousarray(pixels[::-1])


def read_target(target: Any, channels: int) -> NDArray[np.uint8]:
    """Return the first colour of `target`, within its viewport, uint8 [h, w, channels], top row first.

    Raises GpufluidError for what nothing can be drawn to, and for several samples a pixel.
    """
    if not isinstance(target, moderngl.Framebuffer):
        raise GpufluidError(f"the picture must be a moderngl.Framebuffer, got {target!r}")
    with keeping(target.ctx, "write_picture"):
        check_target(target, target.ctx, "it", "framebuffer")
        _, _, width, height = target.viewport
        if samples := samples_of(target):
            raise GpufluidError(
                f"the framebuffer has {samples} samples a pixel, which cannot be read: "
                "ctx.copy_framebuffer makes one of them, in another"
            )
        with drawable(target, depth=False) as seen:
            raw = seen.read(target.viewport, channels, alignment=1)
        _ = target.ctx.error  # moderngl's reading of a window leaves one
    return top_first(raw, np.uint8, (width, height), channels)


class Canvas:
    """A texture of the engine's own, and what draws into it."""

    def __init__(self, device: Device, size: tuple[int, int], components: int, dtype: str, what: str) -> None:
        self.texture = device.texture(size, components, dtype, what)
        self.target = device.ctx.framebuffer([self.texture])

    def release(self) -> None:
        """Let go of both; idempotent."""
        let_go(self.target, self.texture)
