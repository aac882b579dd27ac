"""Framebuffers that a host made without moderngl: what hangs in them, and how the engine draws to it.

moderngl knows neither what hangs in one that it has only detected nor which of its colours are drawn to: once
it has used it, all of them are. So the engine draws to a framebuffer of its own over the same colour, and
leaves the host's alone.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import moderngl

from gpufluid.common.errors import GpufluidError
from gpufluid.gl import enums
from gpufluid.gl.calls import Calls, calls
from gpufluid.gl.messages import take

TARGET = enums.DRAW_FRAMEBUFFER


class Hung(NamedTuple):
    """What hangs in a framebuffer. kind: enums.TEXTURE or RENDERBUFFER; 0: nothing."""

    kind: int = 0
    name: int = 0
    level: int = 0
    face: int = 0  # of a cube; 0: it is none
    layer: int = 0


def is_hosts(target: moderngl.Framebuffer) -> bool:
    """True for a framebuffer that moderngl has not made, but for that of a window, in which nothing hangs."""
    return bool(target.glo) and target.color_attachments is None


def check_hosts(target: moderngl.Framebuffer, what: str) -> None:
    """Raise GpufluidError where nothing can be drawn into a host's framebuffer. what: for the message."""
    gl = calls(target.ctx)
    if not gl.glIsFramebuffer(target.glo):
        raise GpufluidError(f"the {what} was deleted")
    with _bound(gl, target.glo):
        drawn = _first_drawn(gl)
        if not drawn or not _hung(gl, drawn).kind:
            raise GpufluidError(f"the {what} has no colour to draw to")
        status = gl.glCheckFramebufferStatus(TARGET)
        if status != enums.FRAMEBUFFER_COMPLETE:
            raise GpufluidError(f"the {what} is not complete: glCheckFramebufferStatus says 0x{status:04X}")
        if _part(gl, drawn, enums.ATTACHMENT_COMPONENT_TYPE) in (enums.INT, enums.UNSIGNED_INT):
            raise GpufluidError(
                f"the {what} holds whole numbers, which no light is: make it of floats or bytes"
            )
    if target.size == (0, 0) and 0 in target.viewport[2:]:
        raise GpufluidError(
            f"moderngl does not know the size of the {what}, as of one with a layer of a texture or several "
            "samples a pixel in it: set its viewport"
        )


@contextmanager
def drawable(target: moderngl.Framebuffer, *, depth: bool = True) -> Iterator[moderngl.Framebuffer]:
    """What to draw to `target` by: itself, or for a host's one over its first colour, while the body runs.

    depth: whether its depth hangs in that too.
    """
    if not is_hosts(target):
        yield target
        return
    gl = calls(target.ctx)
    with _bound(gl, target.glo):
        color = _hung(gl, _first_drawn(gl))
        below = _hung(gl, enums.DEPTH_ATTACHMENT) if depth else Hung()
        plain = not (color.layer or color.face or gl.integers(enums.SAMPLES)[0])
    name = gl.name_of_a_framebuffer()
    with _bound(gl, name):
        plain = not _hang(gl, enums.COLOR_ATTACHMENT0, color) and plain
        _hang(gl, enums.DEPTH_ATTACHMENT, below)
    over = target.ctx.detect_framebuffer(name)
    if not plain or over.size == (0, 0):
        take(target.ctx)  # an error of moderngl's, which asks for the size of a plain texture
    over.viewport = target.viewport
    try:
        yield over
    finally:
        if target.ctx.mglo.fbo is over.mglo:
            target.ctx.detect_framebuffer(0).use()  # or moderngl would bind a name that is no more
        over.release()


def depth_of(target: moderngl.Framebuffer) -> Hung:
    """What hangs in `target` as its depth; a window is taken to have one."""
    if is_hosts(target):
        gl = calls(target.ctx)
        with _bound(gl, target.glo):
            return _hung(gl, enums.DEPTH_ATTACHMENT)
    if not target.glo:
        return Hung(enums.RENDERBUFFER)
    there = target.depth_attachment
    if there is None:
        return Hung()
    return Hung(enums.TEXTURE if isinstance(there, moderngl.Texture) else enums.RENDERBUFFER, there.glo)


def hang_depth(target: moderngl.Framebuffer, depth: moderngl.Renderbuffer | None) -> None:
    """Hang `depth`, or nothing, as the depth of what `drawable` gave for a host's."""
    gl = calls(target.ctx)
    with _bound(gl, target.glo):
        if depth is None:
            gl.glFramebufferRenderbuffer(TARGET, enums.DEPTH_ATTACHMENT, enums.RENDERBUFFER, 0)
        else:
            _hang(gl, enums.DEPTH_ATTACHMENT, Hung(enums.RENDERBUFFER, depth.glo))


def samples_of(target: moderngl.Framebuffer) -> int:
    """Samples a pixel of `target`; 0: one."""
    if not is_hosts(target):
        return target.samples
    gl = calls(target.ctx)
    with _bound(gl, target.glo):
        return gl.integers(enums.SAMPLES)[0]


def size_of(target: moderngl.Framebuffer) -> tuple[int, int]:
    """Width and height of `target`; of a host's, which moderngl may not know, as far as it is drawn to."""
    x, y, width, height = target.viewport
    return (x + width, y + height) if is_hosts(target) else target.size


@contextmanager
def _bound(gl: Calls, name: int) -> Iterator[None]:
    before = gl.integers(enums.DRAW_FRAMEBUFFER_BINDING)[0]
    gl.glBindFramebuffer(TARGET, name)
    try:
        yield
    finally:
        gl.glBindFramebuffer(TARGET, before)


def _first_drawn(gl: Calls) -> int:
    """The first of the colours that the framebuffer bound draws to; 0: none."""
    buffers = range(gl.integers(enums.MAX_DRAW_BUFFERS)[0])
    return next((drawn for n in buffers if (drawn := gl.integers(enums.DRAW_BUFFER0 + n)[0])), 0)


def _part(gl: Calls, place: int, name: int) -> int:
    out = ctypes.c_int()
    gl.glGetFramebufferAttachmentParameteriv(TARGET, place, name, ctypes.byref(out))
    return out.value


def _hung(gl: Calls, place: int) -> Hung:
    """What hangs at `place` of the framebuffer bound."""
    kind = _part(gl, place, enums.ATTACHMENT_OBJECT_TYPE)
    if not kind:
        return Hung()
    name = _part(gl, place, enums.ATTACHMENT_OBJECT_NAME)
    if kind != enums.TEXTURE:
        return Hung(kind, name)
    more = enums.ATTACHMENT_TEXTURE_LEVEL, enums.ATTACHMENT_CUBE_MAP_FACE, enums.ATTACHMENT_TEXTURE_LAYER
    return Hung(kind, name, *(_part(gl, place, part) for part in more))


def _hang(gl: Calls, place: int, what: Hung) -> bool:
    """Hang it at `place` of the framebuffer bound; return whether it is the first layer of several."""
    if what.kind == enums.RENDERBUFFER:
        gl.glFramebufferRenderbuffer(TARGET, place, enums.RENDERBUFFER, what.name)
    elif what.kind and what.face:
        gl.glFramebufferTexture2D(TARGET, place, what.face, what.name, what.level)
    elif what.kind and what.layer:
        gl.glFramebufferTextureLayer(TARGET, place, what.name, what.level, what.layer)
    elif what.kind:
        gl.glFramebufferTexture(TARGET, place, what.name, what.level)
        if _part(gl, place, enums.ATTACHMENT_LAYERED):
            # it has layers, and all of them hang now: only the first is drawn to, and may hang beside what
            # has none, as a depth mostly has
            gl.glFramebufferTextureLayer(TARGET, place, what.name, what.level, 0)
            return True
    return False
