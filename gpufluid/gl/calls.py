"""OpenGL by name, for what moderngl has no words for: asking for state, and which context is current.

The addresses come from the context's own loader, so they are the driver's, whoever made the context.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import moderngl

from gpufluid.common.errors import GpufluidError
from gpufluid.gl import enums

_INT, _UINT, _ENUM, _FLOAT = ctypes.c_int, ctypes.c_uint, ctypes.c_uint, ctypes.c_float
_BOOL, _POINTER = ctypes.c_ubyte, ctypes.c_void_p
_SIGNATURES: dict[str, tuple[Any, ...]] = {  # result, then arguments
    "glGetIntegerv": (None, _ENUM, _POINTER),
    "glGetFloatv": (None, _ENUM, _POINTER),
    "glGetIntegeri_v": (None, _ENUM, _UINT, _POINTER),
    "glGetFloati_v": (None, _ENUM, _UINT, _POINTER),
    "glIsEnabled": (_BOOL, _ENUM),
    "glIsEnabledi": (_BOOL, _ENUM, _UINT),
    "glEnable": (None, _ENUM),
    "glDisable": (None, _ENUM),
    "glEnablei": (None, _ENUM, _UINT),
    "glDisablei": (None, _ENUM, _UINT),
    "glActiveTexture": (None, _ENUM),
    "glBindTexture": (None, _ENUM, _UINT),
    "glBindSampler": (None, _UINT, _UINT),
    "glBindImageTexture": (None, _UINT, _UINT, _INT, _BOOL, _INT, _ENUM, _ENUM),
    "glBindBuffer": (None, _ENUM, _UINT),
    "glBindFramebuffer": (None, _ENUM, _UINT),
    "glBindRenderbuffer": (None, _ENUM, _UINT),
    "glBindVertexArray": (None, _UINT),
    "glUseProgram": (None, _UINT),
    "glGetProgramiv": (None, _UINT, _ENUM, _POINTER),
    "glGetUniformLocation": (_INT, _UINT, ctypes.c_char_p),
    "glGetUniformIndices": (None, _UINT, _INT, _POINTER, _POINTER),
    "glGetActiveUniform": (None, _UINT, _UINT, _INT, _POINTER, _POINTER, _POINTER, _POINTER),
    **{f"glUniform{n}{kind}v": (None, _INT, _INT, _POINTER) for n in (1, 2, 3, 4) for kind in "fi"},
    "glUniformMatrix4fv": (None, _INT, _INT, _BOOL, _POINTER),
    "glPixelStorei": (None, _ENUM, _INT),
    "glPixelTransferf": (None, _ENUM, _FLOAT),
    "glPixelTransferi": (None, _ENUM, _INT),
    "glPolygonMode": (None, _ENUM, _ENUM),
    "glCullFace": (None, _ENUM),
    "glFrontFace": (None, _ENUM),
    "glDepthFunc": (None, _ENUM),
    "glDepthMask": (None, _BOOL),
    "glColorMaski": (None, _UINT, _BOOL, _BOOL, _BOOL, _BOOL),
    "glClearColor": (None, _FLOAT, _FLOAT, _FLOAT, _FLOAT),
    "glClearDepth": (None, ctypes.c_double),
    "glViewport": (None, _INT, _INT, _INT, _INT),
    "glViewportIndexedf": (None, _UINT, _FLOAT, _FLOAT, _FLOAT, _FLOAT),
    "glScissor": (None, _INT, _INT, _INT, _INT),
    "glScissorIndexed": (None, _UINT, _INT, _INT, _INT, _INT),
    "glBlendFuncSeparate": (None, _ENUM, _ENUM, _ENUM, _ENUM),
    "glBlendFuncSeparatei": (None, _UINT, _ENUM, _ENUM, _ENUM, _ENUM),
    "glBlendEquationSeparate": (None, _ENUM, _ENUM),
    "glBlendEquationSeparatei": (None, _UINT, _ENUM, _ENUM),
    "glClipControl": (None, _ENUM, _ENUM),
    "glDepthRange": (None, ctypes.c_double, ctypes.c_double),
    "glDepthRangeIndexed": (None, _UINT, ctypes.c_double, ctypes.c_double),
    "glClampColor": (None, _ENUM, _ENUM),
    "glPointSize": (None, _FLOAT),
    "glProvokingVertex": (None, _ENUM),
    "glFlush": (None,),
    "glFenceSync": (_POINTER, _ENUM, _UINT),
    "glClientWaitSync": (_ENUM, _POINTER, _UINT, ctypes.c_uint64),
    "glDeleteSync": (None, _POINTER),
    "glGenQueries": (None, _INT, _POINTER),
    "glDeleteQueries": (None, _INT, _POINTER),
    "glBeginQuery": (None, _ENUM, _UINT),
    "glEndQuery": (None, _ENUM),
    "glQueryCounter": (None, _UINT, _ENUM),
    "glGetQueryiv": (None, _ENUM, _ENUM, _POINTER),
    "glGetQueryObjectiv": (None, _UINT, _ENUM, _POINTER),
    "glGetQueryObjectui64v": (None, _UINT, _ENUM, _POINTER),
    "glGenFramebuffers": (None, _INT, _POINTER),
    "glCheckFramebufferStatus": (_ENUM, _ENUM),
    "glGetFramebufferAttachmentParameteriv": (None, _ENUM, _ENUM, _ENUM, _POINTER),
    "glFramebufferRenderbuffer": (None, _ENUM, _ENUM, _ENUM, _UINT),
    "glFramebufferTexture": (None, _ENUM, _ENUM, _UINT, _INT),
    "glFramebufferTexture2D": (None, _ENUM, _ENUM, _ENUM, _UINT, _INT),
    "glFramebufferTextureLayer": (None, _ENUM, _ENUM, _UINT, _INT, _INT),
    "glGetError": (_ENUM,),
    **{f"glIs{kind}": (_BOOL, _UINT) for kind in ("Buffer", "Framebuffer", "Program", "Renderbuffer")},
    **{f"glIs{kind}": (_BOOL, _UINT) for kind in ("Sampler", "Texture", "VertexArray")},
    "glGetPointerv": (None, _ENUM, _POINTER),
    "glDebugMessageCallback": (None, _POINTER, _POINTER),
    "glGetString": (ctypes.c_char_p, _ENUM),
}


class Calls:
    """The OpenGL functions of one context: ``calls.glEnable(GL_BLEND)``, and queries that return numbers.

    A function that the context's version lacks may have an address all the same: ask `version` first.
    """

    def __init__(self, ctx: moderngl.Context) -> None:
        self.version: int = ctx.version_code
        self.extensions = frozenset(ctx.extensions)
        self._load = ctx.mglo._context.load_opengl_function  # moderngl's own way to the driver

    def __getattr__(self, name: str) -> Callable[..., Any]:
        self.__dict__[name] = function = self._function(name, *_SIGNATURES[name])
        return function

    def quick(self, name: str) -> Callable[..., Any]:
        """That function in half the time: it takes whole numbers of 32 bits and `ctypes.byref` alone.

        With 64 bits all functions are called alike; of 32-bit Windows' ctypes must know the arguments.
        """
        if ctypes.sizeof(_POINTER) == 4:
            return self._function(name, *_SIGNATURES[name])
        return ctypes.CFUNCTYPE(_SIGNATURES[name][0])(self._address(name))

    def _address(self, name: str) -> int:
        """Where that function is; a driver that has it as an extension may know it by that name alone."""
        return self._load(name) or self._load(f"{name}ARB") or 0

    def _function(self, name: str, result: Any, *arguments: Any) -> Callable[..., Any]:
        kind: Any = getattr(ctypes, "WINFUNCTYPE", ctypes.CFUNCTYPE)  # the first on Windows alone
        return kind(result, *arguments)(self._address(name))  # type: ignore[no-any-return]

    def integers(self, name: int, count: int = 1, index: int | None = None) -> tuple[int, ...]:
        """glGetIntegerv, or glGetIntegeri_v at `index`."""
        out = (_INT * 16)()
        if index is None:
            self.glGetIntegerv(name, out)
        else:
            self.glGetIntegeri_v(name, index, out)
        return tuple(out[:count])

    def name_of_a_framebuffer(self) -> int:
        """glGenFramebuffers, of one."""
        out = _UINT()
        self.glGenFramebuffers(1, ctypes.byref(out))
        return out.value

    @property
    def renderer(self) -> str:
        """Who draws, as the driver calls it."""
        return self.text(enums.RENDERER)

    def text(self, name: int) -> str:
        """glGetString."""
        return (self.glGetString(name) or b"").decode(errors="replace")


def a_context(ctx: Any) -> None:
    """Raise GpufluidError where `ctx` is none, as that of a fluid without OpenGL is."""
    if not isinstance(ctx, moderngl.Context):
        raise GpufluidError(
            f'ctx must be a moderngl.Context, got {ctx!r}: that of a fluid with backend="numpy" is None'
        )


_calls: WeakKeyDictionary[moderngl.Context, Calls] = WeakKeyDictionary()


def calls(ctx: moderngl.Context) -> Calls:
    """The functions of `ctx`, looked up once."""
    if ctx not in _calls:
        _calls[ctx] = Calls(ctx)
    return _calls[ctx]


def _library(name: str, mode: int = ctypes.DEFAULT_MODE) -> Any:
    """A library of the system's. Raises OSError where there is none of that name."""
    kind: Any = getattr(ctypes, "WinDLL", ctypes.CDLL)  # the first on Windows alone
    return kind(name, mode=mode)


def _asker(library: str, name: str) -> Callable[[], int | None] | None:
    """The function `name` of a library that this process has loaded already; None where it has not."""
    try:
        loaded = _library(library, getattr(os, "RTLD_NOLOAD", 0) | getattr(os, "RTLD_LAZY", 0))
        function = getattr(loaded, name)
    except (OSError, AttributeError):
        return None
    function.restype, function.argtypes = _POINTER, ()
    asks: Callable[[], int | None] = function
    return asks


_PLATFORMS: dict[str, Sequence[tuple[str, str]]] = {
    "linux": (
        ("libEGL.so.1", "eglGetCurrentContext"),
        ("libGLX.so.0", "glXGetCurrentContext"),
        ("libGL.so.1", "glXGetCurrentContext"),
    ),
    "win32": (("opengl32.dll", "wglGetCurrentContext"), ("libEGL.dll", "eglGetCurrentContext")),
    "darwin": (("/System/Library/Frameworks/OpenGL.framework/OpenGL", "CGLGetCurrentContext"),),
}


def current_context(anew: bool = False) -> int | None:
    """The driver's handle of the context that is current in this thread; None where there is none.

    anew: look again for the libraries that this process had not loaded when it was asked before: the first
    context brings them. To look takes longer than a call of the engine's may.
    """
    for library, name in _PLATFORMS.get(sys.platform, ()):
        asks = _known.get(name)
        if asks is None and (anew or name not in _known):
            asks = _known[name] = _asker(library, name)
        handle = asks() if asks else None
        if handle:
            return handle
    return None


_known: dict[str, Callable[[], int | None] | None] = {}
_OPENGL = {
    "linux": ("libGL.so.1", "libOpenGL.so.0"),
    "win32": ("opengl32.dll",),
    "darwin": ("/System/Library/Frameworks/OpenGL.framework/OpenGL",),
}


def current_renderer() -> str | None:
    """Who draws in the context that is current in this thread, whoever made it; None where there is none."""
    for library in _OPENGL.get(sys.platform, ()) if current_context(anew=True) else ():
        try:
            ask = _library(library).glGetString
        except (OSError, AttributeError):
            continue
        ask.restype, ask.argtypes = _SIGNATURES["glGetString"][0], _SIGNATURES["glGetString"][1:]
        return (ask(enums.RENDERER) or b"").decode(errors="replace") or None
    return None
