"""The GL state of a host, left as it was.

A host draws with a context of its own; between two of its calls the engine binds programs, textures and
framebuffers of its own in it. What the engine or moderngl can change is asked for before and put back after,
whatever happens between. What a host may have set and the engine counts on (no stencil, no colour mask, rows
of pixels without gaps) is put to OpenGL's defaults for as long.

moderngl keeps copies of some of it for itself (`Context.fbo`); those are put back as well.
"""

from __future__ import annotations

import ctypes
import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from threading import get_ident
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

import moderngl

from gpufluid.common.debugging import switches
from gpufluid.common.errors import GpufluidError
from gpufluid.gl import enums
from gpufluid.gl.calls import Calls, a_context, calls, current_context
from gpufluid.gl.fences import fences
from gpufluid.gl.messages import complain, listen, take, tell

UNITS = 16  # texture units the engine binds from 0 on; and the one moderngl makes textures on
IMAGES = 12  # image units that it binds, at most

# glEnable's, and what the engine draws with
SWITCHES = {
    enums.CULL_FACE: False,
    enums.DEPTH_TEST: False,
    enums.RASTERIZER_DISCARD: False,
    enums.PROGRAM_POINT_SIZE: False,
    enums.STENCIL_TEST: False,
    enums.LINE_SMOOTH: False,
    enums.POLYGON_SMOOTH: False,
    enums.DITHER: True,
    enums.MULTISAMPLE: True,
    enums.COLOR_LOGIC_OP: False,
    enums.POLYGON_OFFSET_POINT: False,
    enums.POLYGON_OFFSET_LINE: False,
    enums.POLYGON_OFFSET_FILL: False,
    enums.SAMPLE_ALPHA_TO_COVERAGE: False,
    enums.SAMPLE_ALPHA_TO_ONE: False,
    enums.SAMPLE_COVERAGE: False,
    enums.SAMPLE_MASK: False,
    enums.DEPTH_CLAMP: False,
    enums.PRIMITIVE_RESTART: False,
    **{enums.CLIP_DISTANCE0 + plane: False for plane in range(8)},
}
SWITCHES_40 = {enums.SAMPLE_SHADING: False}
SWITCHES_43 = {enums.PRIMITIVE_RESTART_FIXED_INDEX: False}

# what extensions have that a host may leave on after a pass of its own: it decides which fragments there are
# and what they write. No driver of Mesa's software has one of these
SWITCHES_MORE = {
    "GL_EXT_depth_bounds_test": enums.DEPTH_BOUNDS_TEST,
    "GL_EXT_raster_multisample": enums.RASTER_MULTISAMPLE,
    "GL_INTEL_conservative_rasterization": enums.CONSERVATIVE_RASTERIZATION_INTEL,
    "GL_NV_conservative_raster": enums.CONSERVATIVE_RASTERIZATION,
    "GL_NV_fragment_coverage_to_color": enums.FRAGMENT_COVERAGE_TO_COLOR,
    "GL_NV_representative_fragment_test": enums.REPRESENTATIVE_FRAGMENT_TEST,
    "GL_NV_shading_rate_image": enums.SHADING_RATE_IMAGE,
}

# what a compatibility profile has beside: alpha test, polygon stipple, maps of colours and stencils, and of
# each channel and of depth the factor and the offset of what is written to textures and read from them
SWITCHES_COMPATIBLE = {enums.ALPHA_TEST: False, enums.POLYGON_STIPPLE: False}
PIXEL_MAPS = enums.MAP_COLOR, enums.MAP_STENCIL
SCALES = enums.RED_SCALE, enums.GREEN_SCALE, enums.BLUE_SCALE, enums.ALPHA_SCALE, enums.DEPTH_SCALE
PIXEL_TRANSFER = {name + n: 1.0 - n for name in SCALES for n in (0, 1)}

# of unpacking, then packing: swap bytes, lsb first, row length, skip rows, skip pixels, alignment
PIXEL_STORE = {
    name: (4 if name in (enums.UNPACK_ALIGNMENT, enums.PACK_ALIGNMENT) else 0)
    for first in (enums.UNPACK_SWAP_BYTES, enums.PACK_SWAP_BYTES)
    for name in range(first, first + 6)
}
PIXEL_STORE |= {
    enums.UNPACK_SKIP_IMAGES: 0,
    enums.UNPACK_IMAGE_HEIGHT: 0,
    enums.PACK_SKIP_IMAGES: 0,
    enums.PACK_IMAGE_HEIGHT: 0,
}
# binding -> target; the engine counts on none for pixels
BUFFERS = {
    enums.ARRAY_BUFFER_BINDING: enums.ARRAY_BUFFER,
    enums.UNIFORM_BUFFER_BINDING: enums.UNIFORM_BUFFER,
    enums.PIXEL_PACK_BUFFER_BINDING: enums.PIXEL_PACK_BUFFER,
    enums.PIXEL_UNPACK_BUFFER_BINDING: enums.PIXEL_UNPACK_BUFFER,
}
BUFFERS_43 = {
    enums.SHADER_STORAGE_BUFFER_BINDING: enums.SHADER_STORAGE_BUFFER,
    enums.DISPATCH_INDIRECT_BUFFER_BINDING: enums.DISPATCH_INDIRECT_BUFFER,
    enums.DRAW_INDIRECT_BUFFER_BINDING: enums.DRAW_INDIRECT_BUFFER,
}
TEXTURES = {
    enums.TEXTURE_BINDING_2D: enums.TEXTURE_2D,
    enums.TEXTURE_BINDING_2D_MULTISAMPLE: enums.TEXTURE_2D_MULTISAMPLE,
}
FACTORS = enums.BLEND_SRC_RGB, enums.BLEND_DST_RGB, enums.BLEND_SRC_ALPHA, enums.BLEND_DST_ALPHA
EQUATIONS = enums.BLEND_EQUATION_RGB, enums.BLEND_EQUATION_ALPHA
IMAGE = tuple(
    getattr(enums, f"IMAGE_BINDING_{part}")
    for part in ("NAME", "LEVEL", "LAYERED", "LAYER", "ACCESS", "FORMAT")
)
FLAGS = {
    enums.BLEND: moderngl.BLEND,
    enums.CULL_FACE: moderngl.CULL_FACE,
    enums.DEPTH_TEST: moderngl.DEPTH_TEST,
    enums.RASTERIZER_DISCARD: moderngl.RASTERIZER_DISCARD,
    enums.PROGRAM_POINT_SIZE: moderngl.PROGRAM_POINT_SIZE,
}


Answers = list[Sequence[float]]  # flags, whole numbers, real numbers
FLAG, WHOLE, REAL = range(3)
ASKING = (
    ("glIsEnabled", "glIsEnabledi"),
    ("glGetIntegerv", "glGetIntegeri_v"),
    ("glGetFloatv", "glGetFloati_v"),
)


class _Piece(NamedTuple):
    """Some of a context's state."""

    kind: int
    names: Sequence[int]  # of a few values of that kind
    put: Callable[..., object]  # sets them
    usual: float | None = None  # what the engine counts on
    place: int | None = None  # where there are several of the piece
    size: int = 1  # numbers in a value
    unit: int | None = None  # the texture unit to make active before it, and what follows, is asked for


class _Kept:
    """What of a context's state is kept: asked for at once, and put back piece by piece where it has changed.

    A call of OpenGL takes less time than what Python makes of it: so answers land in two arrays, at places
    that were worked out once, and what has not changed is only compared.
    """

    def __init__(self, ctx: moderngl.Context, gl: Calls) -> None:
        self._gl = gl
        self._places: list[list[tuple[slice, _Piece]]] = [[], [], []]
        self._where: dict[int, int] = {}  # the first answer of a name, among those of its kind
        ends = [0, 0, 0]
        for piece in self._pieces(ctx.default_texture_unit):
            kind, start = piece.kind, ends[piece.kind]
            for name in piece.names:
                self._where.setdefault(name, ends[kind])
                ends[kind] += piece.size
            self._places[kind].append((slice(start, ends[kind]), piece))
        self._whole, self._real = (ctypes.c_int * ends[WHOLE])(), (ctypes.c_float * ends[REAL])()
        answers: dict[int, ctypes.Array[Any]] = {WHOLE: self._whole, REAL: self._real}
        self._flags, self._asks = list[Callable[[], int]](), list[Callable[[], Any]]()
        quick = {name: gl.quick(name) for name in (*sum(ASKING, ()), "glActiveTexture")}
        for kind, places in enumerate(self._places):
            for place, piece in places:
                if piece.unit is not None:
                    self._asks.append(partial(quick["glActiveTexture"], enums.TEXTURE0 + piece.unit))
                for n, name in enumerate(piece.names):
                    index = () if piece.place is None else (piece.place,)
                    ask = partial(quick[ASKING[kind][len(index)]], name, *index)
                    if kind == FLAG:
                        self._flags.append(ask)
                    else:
                        answer = ctypes.byref(answers[kind], 4 * (place.start + n * piece.size))
                        self._asks.append(partial(ask, answer))

    def _has(self, version: int, extension: str = "") -> bool:
        return self._gl.version >= version or extension in self._gl.extensions

    def _pieces(self, one_more_unit: int) -> Iterator[_Piece]:
        gl, viewports = self._gl, None
        if self._has(410, "GL_ARB_viewport_array"):
            viewports = gl.integers(enums.MAX_VIEWPORTS)[0]
        buffers = gl.integers(enums.MAX_DRAW_BUFFERS)[0]
        profile = gl.integers(enums.CONTEXT_PROFILE_MASK)[0]
        compatible = bool(profile & enums.CONTEXT_COMPATIBILITY_PROFILE_BIT)
        yield from self._switches(buffers, viewports, compatible)
        yield from self._objects()
        yield from self._pixels(compatible)
        yield from self._blending(buffers)
        yield from self._areas(viewports)
        yield from self._units(one_more_unit)

    def _switches(self, buffers: int, viewports: int | None, compatible: bool) -> Iterator[_Piece]:
        """What glEnable turns on. viewports: how many; None: there is one, and it has no number."""
        there = {name: False for extension, name in SWITCHES_MORE.items() if extension in self._gl.extensions}
        more = [(there, True), (SWITCHES_40, self._has(400)), (SWITCHES_43, self._has(430))]
        more += [(SWITCHES_COMPATIBLE, compatible), ({enums.SCISSOR_TEST: False}, viewports is None)]
        for name, usual in chain(SWITCHES.items(), *(some.items() for some, has in more if has)):
            yield _Piece(FLAG, [name], partial(self._switch, name), usual)
        for name, count in (enums.BLEND, buffers), (enums.SCISSOR_TEST, viewports or 0):
            for n in range(count):
                yield _Piece(FLAG, [name], partial(self._switch_one, name, n), False, n)

    def _objects(self) -> Iterator[_Piece]:
        """What is bound, but for textures and samplers."""
        gl, bound = self._gl, self._bound
        for name, target in (BUFFERS | (BUFFERS_43 if self._has(430) else {})).items():
            unbound = 0 if target in (enums.PIXEL_PACK_BUFFER, enums.PIXEL_UNPACK_BUFFER) else None
            yield _Piece(WHOLE, [name], bound("Buffer", gl.glBindBuffer, target), unbound)
        yield _Piece(WHOLE, [enums.CURRENT_PROGRAM], bound("Program", gl.glUseProgram))
        yield _Piece(WHOLE, [enums.VERTEX_ARRAY_BINDING], bound("VertexArray", gl.glBindVertexArray))
        for way in "DRAW", "READ":
            name, target = (getattr(enums, f"{way}_FRAMEBUFFER{end}") for end in ("_BINDING", ""))
            yield _Piece(WHOLE, [name], bound("Framebuffer", gl.glBindFramebuffer, target))
        renderbuffer = bound("Renderbuffer", gl.glBindRenderbuffer, enums.RENDERBUFFER)
        yield _Piece(WHOLE, [enums.RENDERBUFFER_BINDING], renderbuffer)

    def _pixels(self, compatible: bool) -> Iterator[_Piece]:
        """How pixels are stored, faces are drawn and colours are cleared."""
        gl = self._gl
        for name, value in PIXEL_STORE.items():
            yield _Piece(WHOLE, [name], partial(gl.glPixelStorei, name), value)
        # a compatibility profile has one for either side; core has one, which drivers tell once or twice
        sides = 2 if compatible else 1
        yield _Piece(WHOLE, [enums.POLYGON_MODE], self._polygon_mode, enums.FILL, size=sides)
        yield _Piece(WHOLE, [enums.CULL_FACE_MODE], gl.glCullFace, enums.BACK)
        yield _Piece(WHOLE, [enums.FRONT_FACE], gl.glFrontFace, enums.CCW)
        yield _Piece(WHOLE, [enums.DEPTH_FUNC], gl.glDepthFunc)
        yield _Piece(WHOLE, [enums.DEPTH_WRITEMASK], gl.glDepthMask, 1)
        clamp = partial(gl.glClampColor, enums.CLAMP_READ_COLOR)
        yield _Piece(WHOLE, [enums.CLAMP_READ_COLOR], clamp, enums.FIXED_ONLY)
        yield _Piece(WHOLE, [enums.PROVOKING_VERTEX], gl.glProvokingVertex, enums.LAST_VERTEX_CONVENTION)
        yield _Piece(REAL, [enums.POINT_SIZE], gl.glPointSize, 1.0)
        yield _Piece(REAL, [enums.DEPTH_CLEAR_VALUE], gl.glClearDepth)
        yield _Piece(REAL, [enums.COLOR_CLEAR_VALUE], gl.glClearColor, size=4)
        if compatible:
            for name in PIXEL_MAPS:
                yield _Piece(WHOLE, [name], partial(gl.glPixelTransferi, name), 0)
            for name, number in PIXEL_TRANSFER.items():
                yield _Piece(REAL, [name], partial(gl.glPixelTransferf, name), number)
            clamp = partial(gl.glClampColor, enums.CLAMP_FRAGMENT_COLOR)
            yield _Piece(WHOLE, [enums.CLAMP_FRAGMENT_COLOR], clamp, enums.FIXED_ONLY)

    def _blending(self, buffers: int) -> Iterator[_Piece]:
        """How each of the colours drawn to takes what is drawn."""
        gl = self._gl
        for n in range(buffers):
            yield _Piece(WHOLE, [enums.COLOR_WRITEMASK], partial(gl.glColorMaski, n), None, n, 4)
            if self._has(400, "GL_ARB_draw_buffers_blend"):
                yield _Piece(WHOLE, FACTORS, partial(gl.glBlendFuncSeparatei, n), None, n)
                yield _Piece(WHOLE, EQUATIONS, partial(gl.glBlendEquationSeparatei, n), None, n)
            elif n == 0:
                yield _Piece(WHOLE, FACTORS, gl.glBlendFuncSeparate)
                yield _Piece(WHOLE, EQUATIONS, gl.glBlendEquationSeparate)

    def _areas(self, viewports: int | None) -> Iterator[_Piece]:
        """Where is drawn. viewports: how many; None: there is one, and it has no number."""
        gl = self._gl
        if viewports is None:
            yield _Piece(WHOLE, [enums.VIEWPORT], gl.glViewport, size=4)
            yield _Piece(WHOLE, [enums.SCISSOR_BOX], gl.glScissor, size=4)
        for n in range(viewports or 0):
            yield _Piece(REAL, [enums.VIEWPORT], partial(gl.glViewportIndexedf, n), None, n, 4)
            yield _Piece(WHOLE, [enums.SCISSOR_BOX], partial(gl.glScissorIndexed, n), None, n, 4)
        if self._has(450, "GL_ARB_clip_control"):
            yield _Piece(WHOLE, [enums.CLIP_ORIGIN, enums.CLIP_DEPTH_MODE], gl.glClipControl)

    def _units(self, one_more: int) -> Iterator[_Piece]:
        """What is bound to units of images and of textures."""
        gl, bound = self._gl, self._bound
        for n in range(min(IMAGES, gl.integers(enums.MAX_IMAGE_UNITS)[0]) if self._has(420) else 0):
            yield _Piece(WHOLE, IMAGE, bound("Texture", gl.glBindImageTexture, n), None, n)
        yield _Piece(WHOLE, [enums.ACTIVE_TEXTURE], gl.glActiveTexture)  # before others are asked about
        units = range(min(UNITS, gl.integers(enums.MAX_COMBINED_TEXTURE_IMAGE_UNITS)[0]))
        for unit in (*units, *({one_more} - set(units))):
            active: int | None = unit
            for asked, target in TEXTURES.items():
                bind = bound("Texture", partial(self._bind_to, unit, target))
                yield _Piece(WHOLE, [asked], bind, unit=active)
                active = None  # it is
            yield _Piece(WHOLE, [enums.SAMPLER_BINDING], bound("Sampler", gl.glBindSampler, unit), 0)

    def _switch(self, name: int, value: float) -> None:
        (self._gl.glEnable if value else self._gl.glDisable)(name)

    def _switch_one(self, name: int, n: int, value: float) -> None:
        (self._gl.glEnablei if value else self._gl.glDisablei)(name, n)

    def _polygon_mode(self, front: int, back: int | None = None) -> None:
        if back is None or back == front:
            self._gl.glPolygonMode(enums.FRONT_AND_BACK, front)
            return
        self._gl.glPolygonMode(enums.FRONT, front)
        self._gl.glPolygonMode(enums.BACK, back)

    def _bind_to(self, unit: int, target: int, texture: int) -> None:
        self._gl.glActiveTexture(enums.TEXTURE0 + unit)
        self._gl.glBindTexture(target, texture)

    def _bound(self, kind: str, bind: Callable[..., object], *before: int) -> Callable[..., None]:
        """What binds an object of that kind; none where it has been deleted since."""

        def put(name: int, *more: int) -> None:
            there = name and getattr(self._gl, f"glIs{kind}")(name)
            bind(*before, name if there else 0, *more)

        return put

    def ask(self) -> Answers:
        """All of it as it is now. Another texture unit is active afterwards."""
        for ask in self._asks:
            ask()
        return [[ask() for ask in self._flags], self._whole[:], self._real[:]]

    def answer(self, kind: int, name: int, answers: Answers) -> float | None:
        """What was answered about `name`, at the first index; None: a context as old does not have it."""
        return answers[kind][self._where[name]] if name in self._where else None

    def prepare(self, saved: Answers) -> None:
        """Put what the engine counts on to OpenGL's defaults."""
        for numbers, places in zip(saved, self._places, strict=True):
            for place, piece in places:
                if piece.usual is None:
                    continue
                if numbers[place.start] != piece.usual or numbers[place.stop - 1] != piece.usual:
                    piece.put(piece.usual)

    def restore(self, saved: Answers, ctx: moderngl.Context) -> None:
        """Put all of it back; of what the call has released, nothing is left bound."""
        # moderngl's own record of its five switches, which a scope of the host's goes back to
        on = [flag for name, flag in FLAGS.items() if saved[FLAG][self._where[name]]]
        ctx.enable_only(sum(on))
        for before, now, places in zip(saved, self.ask(), self._places, strict=True):
            if before != now:
                for place, piece in places:
                    if before[place] != now[place]:
                        piece.put(*before[place])
        self._gl.glActiveTexture(int(saved[WHOLE][self._where[enums.ACTIVE_TEXTURE]]))


class StateGuard:
    """Saves and restores the state of one context; entered again inside itself it does nothing.

    kept: False where the host puts back what it needs by itself; the engine then leaves what it left before.
    recalled: whether each call makes the context current: nobody else does, where the engine has made it.
    """

    def __init__(self, ctx: moderngl.Context) -> None:
        self.kept, self.recalled = True, False
        self._home = get_ident()
        self._visiting = False  # whether the call has made it current in a thread that is not its home
        self._gl = calls(ctx)
        self._state: _Kept | None = None
        self.handle = current_context(anew=True)
        self._depth = 0
        self._saved: Answers | None = None
        self._fbo: Any = None
        self._elsewhere = 0  # a framebuffer of its own, with nothing in it
        self._fences = fences(ctx)
        if switches.gl:
            listen(ctx)

    @property
    def outside(self) -> bool:
        """True between the calls of the engine's."""
        return self._depth == 0

    @property
    def upside_down(self) -> bool:
        """Whether the host's matrices, in this call of its, are made for an origin at the upper left."""
        if self._state is None or self._saved is None:
            return False
        return self._state.answer(WHOLE, enums.CLIP_ORIGIN, self._saved) not in (None, enums.LOWER_LEFT)

    def check_current(self, ctx: moderngl.Context, what: str) -> None:
        """Make a context of the engine's current.

        Raises GpufluidError where the context was released, or a host's is not current in this thread.
        """
        check_there(ctx, what)
        if self.recalled:
            # its __exit__ would leave no context current at all
            ctx.__enter__()  # type: ignore[no-untyped-call]
        current = current_context()
        if self.handle is not None and current != self.handle:
            if self.recalled:
                raise GpufluidError(
                    f"{what}: its GL context is current in another thread, and it is so in one at a time; "
                    "call from that thread, or make what you need in this one"
                )
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
            away = self.recalled and get_ident() != self._home
            visiting = away and current_context() != self.handle
            self.check_current(ctx, what)
            self._visiting = visiting
            if self._fences is not None:  # behind what the host has drawn
                self._fences.add()
            if switches.gl:
                tell(take(ctx), f"before {what}, by somebody else's call,")
                listen(ctx)
            if self.kept:
                self._state = self._state or _Kept(ctx, self._gl)
                self._saved = self._state.ask()
            if ctx.fbo is not None and isinstance(ctx.fbo.mglo, moderngl.InvalidObject):
                # the host released it, and moderngl would bind it again. What is bound now may be one the
                # host has made since, which moderngl left so, and which may be released as well
                ctx.fbo = ctx.detect_framebuffer(0)
                ctx.mglo.fbo = ctx.fbo.mglo
            if self._saved is not None and self._state is not None:
                self._fbo = ctx.fbo, ctx.mglo.fbo
                self._prepare(self._state, self._saved)
        self._depth += 1

    def _prepare(self, state: _Kept, saved: Answers) -> None:
        if state.answer(WHOLE, enums.DRAW_FRAMEBUFFER_BINDING, saved) == 0:
            # Mesa: a window whose host has only cleared it since the engine last drew elsewhere would be
            # drawn to upside down; a change of framebuffers makes it look again which way is up
            self._elsewhere = self._elsewhere or self._gl.name_of_a_framebuffer()
            self._gl.glBindFramebuffer(enums.DRAW_FRAMEBUFFER, self._elsewhere)
            self._gl.glBindFramebuffer(enums.DRAW_FRAMEBUFFER, 0)
        if self.upside_down:
            self._gl.glClipControl(enums.LOWER_LEFT, state.answer(WHOLE, enums.CLIP_DEPTH_MODE, saved))
        state.prepare(saved)

    def leave(self, ctx: moderngl.Context) -> None:
        """Put back what `enter` saved."""
        self._depth -= 1
        if self._depth:
            return
        if self._fences is not None and not gone(ctx):
            self._fences.add()
        if self._saved is not None and self._state is not None:
            saved, self._saved = self._saved, None
            self._state.restore(saved, ctx)
            (ctx.fbo, ctx.mglo.fbo), self._fbo = self._fbo, None
        if self._visiting and not gone(ctx):
            # a thread that ended with it current would keep it from all others for ever
            ctx.__exit__(None, None, None)  # type: ignore[no-untyped-call]


def gone(ctx: moderngl.Context) -> bool:
    """Whether its owner has released the context, and with it all that was made in it."""
    return isinstance(ctx.mglo, moderngl.InvalidObject)


def check_there(ctx: moderngl.Context, what: str) -> None:
    """Raise GpufluidError where the context has been released."""
    if gone(ctx):
        raise GpufluidError(
            f"{what}: its GL context has been released, and with it all that the engine had there; "
            "release fluids and renderers before their context"
        )


_guards: WeakKeyDictionary[moderngl.Context, StateGuard] = WeakKeyDictionary()


def guard_of(ctx: moderngl.Context) -> StateGuard:
    """The guard of `ctx`; the first time it must be current."""
    a_context(ctx)
    if ctx not in _guards:
        check_there(ctx, "a GL context")
        _guards[ctx] = StateGuard(ctx)
    return _guards[ctx]


@contextmanager
def lent(ctx: moderngl.Context, units: Iterable[int]) -> Iterator[None]:
    """A host lends these texture units, whose textures the body binds: no sampler of its own decides there.

    The unit that is active is so again afterwards.
    """
    gl = calls(ctx)
    active = gl.integers(enums.ACTIVE_TEXTURE)[0]
    try:
        for unit in units:
            gl.glBindSampler(unit, 0)
        yield
    finally:
        gl.glActiveTexture(active)


def another(there: moderngl.Context, here: moderngl.Context) -> str:
    """What a thing made in `there` lives in, as it is called where it was to be used in `here`."""
    # who has no guard yet may be current or not
    handles = [_guards[ctx].handle for ctx in (there, here) if ctx in _guards and not gone(ctx)]
    if len(handles) == 2 and handles[0] == handles[1]:
        return "another moderngl.Context of the same GL context (call create_context once, and pass it on)"
    return "another GL context"


def keep_state(ctx: moderngl.Context, kept: bool = True) -> None:
    """Choose whether the engine leaves the GL state of `ctx` as it found it; by default it does.

    kept: False is for hosts that set all they need before they draw: it saves tenths of a millisecond per
    call. Raises GpufluidError for what is no moderngl.Context.
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


@contextmanager
def own_depths(ctx: moderngl.Context) -> Iterator[None]:
    """Depths go from -1 in clip space, which is 0 in a depth texture, to 1, which is 1, while the body runs.

    For what is drawn with matrices and into depths of the engine's alone: a host's go with its own.
    """
    gl = calls(ctx)
    indexed = gl.version >= 410 or "GL_ARB_viewport_array" in gl.extensions
    clips = gl.version >= 450 or "GL_ARB_clip_control" in gl.extensions
    near_and_far = (ctypes.c_float * 2)()
    if indexed:
        gl.glGetFloati_v(enums.DEPTH_RANGE, 0, near_and_far)
    else:
        gl.glGetFloatv(enums.DEPTH_RANGE, near_and_far)
    origin, depths = (
        gl.integers(name)[0] if clips else 0 for name in (enums.CLIP_ORIGIN, enums.CLIP_DEPTH_MODE)
    )

    def put(near: float, far: float, depths: int) -> None:
        if indexed:
            gl.glDepthRangeIndexed(0, near, far)
        else:
            gl.glDepthRange(near, far)
        if clips:
            gl.glClipControl(origin, depths)

    near, far = near_and_far
    put(0.0, 1.0, enums.NEGATIVE_ONE_TO_ONE)
    try:
        yield
    finally:
        put(near, far, depths)


Self = TypeVar("Self")
P = ParamSpec("P")
R = TypeVar("R")


class Guest:
    """Base of what works in a host's context: each of its public methods is `guarded`, or `binding`.

    A context manager that releases it.
    """

    ctx: moderngl.Context
    release: Callable[[], None]

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.release()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name, method in list(vars(cls).items()):
            public = inspect.isfunction(method) and (name == "__init__" or not name.startswith("_"))
            if public and not getattr(method, "binds", False):
                setattr(cls, name, guarded(method))


def binding(method: Callable[P, R]) -> Callable[P, R]:
    """Method decorator: it binds what the host is to draw with, which stays so."""
    method.binds = True  # type: ignore[attr-defined]
    return method


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
        if method.__name__ == "release" and gone(ctx):
            return None  # type: ignore[return-value]  # nothing is left to release
        with keeping(ctx, type(self).__name__ + name):
            return method(self, *given, **by_name)

    return run  # type: ignore[return-value]  # mypy wants `self` by position alone
