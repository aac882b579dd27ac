"""The GL state of a host, left as it was.

A host draws with a context of its own; between two of its calls the engine binds programs, textures and
framebuffers of its own in it. What the engine or moderngl can change is asked for before and put back after,
whatever happens between. What a host may have set and the engine counts on (no stencil, no colour mask, rows
of pixels without gaps) is put to OpenGL's defaults for as long.

moderngl keeps copies of some of it for itself (`Context.fbo`); those are put back as well.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

import moderngl

from gpufluid.debugging import switches
from gpufluid.errors import GpufluidError
from gpufluid.gl.calls import Calls, calls, current_context
from gpufluid.gl.messages import complain, listen, take, tell

UNITS = 16  # texture units the engine binds from 0 on; and the one moderngl makes textures on
IMAGES = 12  # image units that it binds, at most

# glEnable's, and what the engine draws with
BLEND, SCISSOR_TEST = 0x0BE2, 0x0C11
LOWER_LEFT = 0x8CA1  # of glClipControl: y in clip space goes the way of a framebuffer's rows
CULL_FACE, DEPTH_TEST, DISCARD, POINT_SIZES = 0x0B44, 0x0B71, 0x8C89, 0x8642
SWITCHES = {
    CULL_FACE: False,
    DEPTH_TEST: False,
    DISCARD: False,
    POINT_SIZES: False,
    0x0B90: False,  # stencil test
    0x0B20: False,  # smooth lines
    0x0B41: False,  # smooth polygons
    0x0BD0: True,  # dither
    0x809D: True,  # multisample
    0x0BF2: False,  # logic operation
    0x2A01: False,  # polygon offset of points, lines, fills
    0x2A02: False,
    0x8037: False,
    0x809E: False,  # alpha to coverage, to one; coverage, sample mask
    0x809F: False,
    0x80A0: False,
    0x8E51: False,
    0x864F: False,  # depth clamp
    0x8F9D: False,  # primitive restart
    **{0x3000 + plane: False for plane in range(8)},  # clip distances
}
SWITCHES_40 = {0x8C36: False}  # sample shading
SWITCHES_43 = {0x8D69: False}  # primitive restart at a fixed index

# of unpacking, then packing: swap bytes, lsb first, row length, skip rows, skip pixels, alignment
PIXEL_STORE = {
    name: (4 if name in (0x0CF5, 0x0D05) else 0)
    for first in (0x0CF0, 0x0D00)
    for name in range(first, first + 6)
}
PIXEL_STORE |= {0x806D: 0, 0x806E: 0, 0x806B: 0, 0x806C: 0}  # skip images, image height
# binding -> target; the engine counts on none for pixels
BUFFERS = {0x8894: 0x8892, 0x8A28: 0x8A11, 0x88ED: 0x88EB, 0x88EF: 0x88EC, 0x8F36: 0x8F36, 0x8F37: 0x8F37}
BUFFERS_43 = {0x90D3: 0x90D2, 0x90EF: 0x90EE, 0x8F43: 0x8F3F}  # storage, dispatch, draw
PACK, UNPACK = 0x88EB, 0x88EC
FLAGS = {
    BLEND: moderngl.BLEND,
    CULL_FACE: moderngl.CULL_FACE,
    DEPTH_TEST: moderngl.DEPTH_TEST,
    DISCARD: moderngl.RASTERIZER_DISCARD,
    POINT_SIZES: moderngl.PROGRAM_POINT_SIZE,
}


class _Saved:
    """The state of a context at one moment."""

    def __init__(self, gl: Calls, limits: _Limits) -> None:
        ask = gl.integers
        self.switches = {name: bool(gl.glIsEnabled(name)) for name in limits.switches}
        self.blend = [bool(gl.glIsEnabledi(BLEND, n)) for n in range(limits.buffers)]
        self.scissors = [bool(gl.glIsEnabledi(SCISSOR_TEST, n)) for n in range(limits.viewports)]
        self.pixels = {name: ask(name)[0] for name in PIXEL_STORE}
        self.bindings = {target: ask(name)[0] for name, target in limits.bindings.items()}
        self.program, self.vertices = ask(0x8B8D)[0], ask(0x85B5)[0]
        self.draw, self.read, self.renderbuffer = ask(0x8CA6)[0], ask(0x8CAA)[0], ask(0x8CA7)[0]
        self.polygon, self.cull, self.front = ask(0x0B40)[0], ask(0x0B45)[0], ask(0x0B46)[0]
        self.depth_func, self.depth_mask = ask(0x0B74)[0], ask(0x0B72)[0]
        self.clear_color, self.clear_depth = gl.floats(0x0C22, 4), gl.floats(0x0B73)[0]
        self.clamp, self.point, self.provoking = ask(0x891C)[0], gl.floats(0x0B11)[0], ask(0x8E4F)[0]
        self.masks = [ask(0x0C23, 4, n) for n in range(limits.buffers)]
        if limits.indexed_blend:
            self.functions = [
                (*(ask(name, 1, n)[0] for name in (0x80C9, 0x80C8, 0x80CB, 0x80CA)),)
                for n in range(limits.buffers)
            ]
            self.equations = [(ask(0x8009, 1, n)[0], ask(0x883D, 1, n)[0]) for n in range(limits.buffers)]
        else:
            self.functions = [tuple(ask(name)[0] for name in (0x80C9, 0x80C8, 0x80CB, 0x80CA))]
            self.equations = [(ask(0x8009)[0], ask(0x883D)[0])]
        if limits.indexed_viewports:
            self.viewports = [gl.floats(0x0BA2, 4, n) for n in range(limits.viewports)]
            self.boxes = [ask(0x0C10, 4, n) for n in range(limits.viewports)]
        else:
            self.viewports, self.boxes = [gl.floats(0x0BA2, 4)], [ask(0x0C10, 4)]
        self.clip = (ask(0x935C)[0], ask(0x935D)[0]) if limits.clip else None
        self.images = [
            (n, *(ask(name, 1, n)[0] for name in (0x8F3A, 0x8F3B, 0x8F3C, 0x8F3D, 0x8F3E, 0x906E)))
            for n in range(limits.images)
        ]
        self.unit = ask(0x84E0)[0]
        self.textures = []
        for unit in limits.units:
            gl.glActiveTexture(0x84C0 + unit)
            self.textures.append((unit, ask(0x8069)[0], ask(0x8919)[0]))

    def restore(self, gl: Calls, limits: _Limits, ctx: moderngl.Context) -> None:
        """Put it back; of what the call has released, nothing is left bound."""

        def there(kind: str, name: int) -> int:
            return name if name and getattr(gl, f"glIs{kind}")(name) else 0

        # moderngl's own record of its five switches, which a scope of the host's goes back to
        on = self.switches | {BLEND: self.blend[0]}
        ctx.enable_only(sum(flag for name, flag in FLAGS.items() if on[name]))
        for name, value in self.switches.items():
            (gl.glEnable if value else gl.glDisable)(name)
        for n, value in enumerate(self.blend):
            (gl.glEnablei if value else gl.glDisablei)(BLEND, n)
        for n, value in enumerate(self.scissors):
            (gl.glEnablei if value else gl.glDisablei)(SCISSOR_TEST, n)
        for unit, texture, sampler in self.textures:
            gl.glActiveTexture(0x84C0 + unit)
            gl.glBindTexture(0x0DE1, there("Texture", texture))
            gl.glBindSampler(unit, there("Sampler", sampler))
        gl.glActiveTexture(self.unit)
        for n, texture, level, layered, layer, access, form in self.images:
            gl.glBindImageTexture(n, there("Texture", texture), level, layered, layer, access, form)
        for name, number in self.pixels.items():
            gl.glPixelStorei(name, number)
        for target, buffer in self.bindings.items():
            gl.glBindBuffer(target, there("Buffer", buffer))
        gl.glUseProgram(there("Program", self.program))
        gl.glBindVertexArray(there("VertexArray", self.vertices))
        gl.glBindFramebuffer(0x8CA9, there("Framebuffer", self.draw))
        gl.glBindFramebuffer(0x8CA8, there("Framebuffer", self.read))
        gl.glBindRenderbuffer(0x8D41, there("Renderbuffer", self.renderbuffer))
        gl.glPolygonMode(0x0408, self.polygon)
        gl.glCullFace(self.cull)
        gl.glFrontFace(self.front)
        gl.glDepthFunc(self.depth_func)
        gl.glDepthMask(self.depth_mask)
        gl.glClearColor(*self.clear_color)
        gl.glClearDepth(self.clear_depth)
        gl.glClampColor(0x891C, self.clamp)
        gl.glPointSize(self.point)
        gl.glProvokingVertex(self.provoking)
        for n, mask in enumerate(self.masks):
            gl.glColorMaski(n, *mask)
        if limits.indexed_blend:
            for n, (function, equation) in enumerate(zip(self.functions, self.equations, strict=True)):
                gl.glBlendFuncSeparatei(n, *function)
                gl.glBlendEquationSeparatei(n, *equation)
        else:
            gl.glBlendFuncSeparate(*self.functions[0])
            gl.glBlendEquationSeparate(*self.equations[0])
        if limits.indexed_viewports:
            for n, (viewport, box) in enumerate(zip(self.viewports, self.boxes, strict=True)):
                gl.glViewportIndexedf(n, *viewport)
                gl.glScissorIndexed(n, *box)
        else:
            gl.glViewport(*map(int, self.viewports[0]))
            gl.glScissor(*self.boxes[0])
        if self.clip is not None:
            gl.glClipControl(*self.clip)


class _Limits:
    """What a context has of the state that depends on its version."""

    def __init__(self, ctx: moderngl.Context, gl: Calls) -> None:
        def has(version: int, *extensions: str) -> bool:
            return gl.version >= version or any(name in gl.extensions for name in extensions)

        self.switches = dict(SWITCHES)
        if has(400):
            self.switches |= SWITCHES_40
        if has(430):
            self.switches |= SWITCHES_43
        self.bindings = BUFFERS | (BUFFERS_43 if has(430) else {})
        self.buffers = gl.integers(0x8824)[0]
        self.indexed_blend = has(400, "GL_ARB_draw_buffers_blend")
        self.indexed_viewports = has(410, "GL_ARB_viewport_array")
        self.viewports = gl.integers(0x825B)[0] if self.indexed_viewports else 1
        self.clip = has(450, "GL_ARB_clip_control")
        self.images = min(IMAGES, gl.integers(0x8F38)[0]) if has(420) else 0
        units = min(UNITS, gl.integers(0x8B4D)[0])
        self.units = [*range(units), *({ctx.default_texture_unit} - set(range(units)))]


class StateGuard:
    """Saves and restores the state of one context; entered again inside itself it does nothing.

    kept: False where the host puts back what it needs by itself; the engine then leaves what it left before.
    """

    def __init__(self, ctx: moderngl.Context) -> None:
        self.kept = True
        self._gl = calls(ctx)
        self._limits: _Limits | None = None
        self.handle = current_context()
        self._depth = 0
        self._saved: _Saved | None = None
        self._fbo: Any = None
        self._elsewhere = 0  # a framebuffer of its own, with nothing in it
        if switches.gl:
            listen(ctx)

    @property
    def outside(self) -> bool:
        """True between the calls of the engine's."""
        return self._depth == 0

    @property
    def upside_down(self) -> bool:
        """Whether the host's matrices, in this call of its, are made for an origin at the upper left."""
        clip = None if self._saved is None else self._saved.clip
        return clip is not None and clip[0] != LOWER_LEFT

    def check_current(self, what: str) -> None:
        """Raise GpufluidError where the context is not current in this thread."""
        current = current_context()
        if self.handle is not None and current != self.handle:
            there = "another GL context is" if current else "no GL context is"
            raise GpufluidError(
                f"{what}: {there} current in this thread; make the one it was made with current first "
                "(a context is current in one thread at a time)"
            )

    def enter(self, ctx: moderngl.Context, what: str) -> None:
        """Save, and put what the engine counts on to OpenGL's defaults. Raises as `check_current`.

        Only the depths in clip space stay the host's (glClipControl), whose matrices are made for them.
        """
        if self._depth == 0:
            self.check_current(what)
            if switches.gl:
                tell(take(ctx), f"before {what}, by somebody else's call,")
                listen(ctx)
            if self.kept:
                self._limits = self._limits or _Limits(ctx, self._gl)
                self._saved = _Saved(self._gl, self._limits)
            if ctx.fbo is not None and isinstance(ctx.fbo.mglo, moderngl.InvalidObject):
                # the host released it, and moderngl would bind it again
                ctx.fbo = ctx.detect_framebuffer()
                ctx.mglo.fbo = ctx.fbo.mglo
            if self._saved is not None and self._limits is not None:
                self._fbo = ctx.fbo, ctx.mglo.fbo
                self._prepare(self._saved, self._limits)
        self._depth += 1

    def _prepare(self, saved: _Saved, limits: _Limits) -> None:
        gl = self._gl
        if saved.draw == 0:
            # Mesa: a window whose host has only cleared it since the engine last drew elsewhere would be
            # drawn to upside down; a change of framebuffers makes it look again which way is up
            self._elsewhere = self._elsewhere or gl.name_of_a_framebuffer()
            gl.glBindFramebuffer(0x8CA9, self._elsewhere)
            gl.glBindFramebuffer(0x8CA9, 0)
        if saved.clip is not None and saved.clip[0] != LOWER_LEFT:
            gl.glClipControl(LOWER_LEFT, saved.clip[1])
        for name, usual in limits.switches.items():
            if saved.switches[name] != usual:
                (gl.glEnable if usual else gl.glDisable)(name)
        if any(saved.blend):
            gl.glDisable(BLEND)
        if any(saved.scissors):
            gl.glDisable(SCISSOR_TEST)
        for name, value in PIXEL_STORE.items():
            if saved.pixels[name] != value:
                gl.glPixelStorei(name, value)
        for target in (PACK, UNPACK):
            if saved.bindings[target]:
                gl.glBindBuffer(target, 0)
        for unit, _, sampler in saved.textures:
            if sampler:
                gl.glBindSampler(unit, 0)
        gl.glPolygonMode(0x0408, 0x1B02)
        gl.glCullFace(0x0405)
        gl.glFrontFace(0x0901)
        gl.glClampColor(0x891C, 0x891D)
        gl.glPointSize(1.0)
        gl.glProvokingVertex(0x8E4E)
        gl.glDepthMask(1)

    def leave(self, ctx: moderngl.Context) -> None:
        """Put back what `enter` saved."""
        self._depth -= 1
        if self._depth == 0 and self._saved is not None:
            saved, self._saved = self._saved, None
            assert self._limits is not None
            saved.restore(self._gl, self._limits, ctx)
            (ctx.fbo, ctx.mglo.fbo), self._fbo = self._fbo, None


_guards: WeakKeyDictionary[moderngl.Context, StateGuard] = WeakKeyDictionary()


def guard_of(ctx: moderngl.Context) -> StateGuard:
    """The guard of `ctx`; the first time it must be current."""
    if ctx not in _guards:
        _guards[ctx] = StateGuard(ctx)
    return _guards[ctx]


def keep_state(ctx: moderngl.Context, kept: bool = True) -> None:
    """Say whether the engine leaves the GL state of `ctx` as it found it; it does unless told otherwise.

    kept: False is for hosts that set all they need before they draw: it saves half a millisecond a call.
    """
    guard_of(ctx).kept = bool(kept)


@contextmanager
def keeping(ctx: moderngl.Context, what: str) -> Iterator[None]:
    """The GL state of `ctx` is after it as it was before. what: the call of the user's, for error messages.

    Raises GpufluidError where the context is not current in this thread.
    """
    guard = guard_of(ctx)
    guard.enter(ctx, what)
    try:
        yield
    finally:
        guard.leave(ctx)
        said = take(ctx) if switches.gl and guard.outside else []
    if said:  # not where something else was raised already
        complain(said, f"{what}:")


class Guest:
    """Base of what works in a host's context: each of its public methods is `guarded`."""

    ctx: moderngl.Context

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name, method in list(vars(cls).items()):
            if inspect.isfunction(method) and (name == "__init__" or not name.startswith("_")):
                setattr(cls, name, guarded(method))


Self = TypeVar("Self")
P = ParamSpec("P")
R = TypeVar("R")


def guarded(method: Callable[Concatenate[Self, P], R]) -> Callable[Concatenate[Self, P], R]:
    """Method decorator: what a host can ask OpenGL is after the call as it was before.

    The method's object has the context as `ctx` (None: there is no OpenGL), or, while it is made, takes it as
    its first argument. Raises GpufluidError where that context is not current in this thread.
    """
    name = "" if method.__name__ == "__init__" else "." + method.__name__

    @functools.wraps(method)
    def run(self: Self, *given: P.args, **by_name: P.kwargs) -> R:
        ctx: Any = getattr(self, "ctx", None) or by_name.get("ctx") or (given[0] if given else None)
        if not isinstance(ctx, moderngl.Context):
            return method(self, *given, **by_name)
        with keeping(ctx, type(self).__name__ + name):
            return method(self, *given, **by_name)

    return run  # type: ignore[return-value]  # mypy wants `self` by position alone
