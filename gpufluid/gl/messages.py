"""What OpenGL complains of, heard where it is done: the driver's messages, or else glGetError.

Used while ``gf.debug("gl")`` is on. Where the driver has KHR_debug (OpenGL 4.3) it calls back in the midst of
the call that is wrong, so a message is kept with the line of Python that made it; elsewhere an error is found
at the end of the engine's call.
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import moderngl

from gpufluid.common.debugging import switches
from gpufluid.common.errors import GpufluidError, warn
from gpufluid.gl import enums
from gpufluid.gl.calls import Calls, calls

TYPES = {
    enums.DEBUG_TYPE_ERROR: "error",
    enums.DEBUG_TYPE_DEPRECATED_BEHAVIOR: "deprecated",
    enums.DEBUG_TYPE_UNDEFINED_BEHAVIOR: "undefined behaviour",
    enums.DEBUG_TYPE_PORTABILITY: "not portable",
}
# whatever their type but the next one
WARNINGS = enums.DEBUG_SEVERITY_HIGH, enums.DEBUG_SEVERITY_MEDIUM
# of speed: NVIDIA's driver tells of each buffer that it moves and each program that it compiles anew
HINT = enums.DEBUG_TYPE_PERFORMANCE
ERRORS = {
    enums.INVALID_ENUM: "GL_INVALID_ENUM",
    enums.INVALID_VALUE: "GL_INVALID_VALUE",
    enums.INVALID_OPERATION: "GL_INVALID_OPERATION",
    enums.STACK_OVERFLOW: "GL_STACK_OVERFLOW",
    enums.STACK_UNDERFLOW: "GL_STACK_UNDERFLOW",
    enums.OUT_OF_MEMORY: "GL_OUT_OF_MEMORY",
    enums.INVALID_FRAMEBUFFER_OPERATION: "GL_INVALID_FRAMEBUFFER_OPERATION",
    enums.CONTEXT_LOST: "GL_CONTEXT_LOST",
}
KEPT = 32  # messages, until somebody asks; one wrong call a pass would fill any memory
HERE = str(Path(__file__).parent.parent)

_heard: list[str] = []
_listening: WeakKeyDictionary[moderngl.Context, bool] = WeakKeyDictionary()  # True: the driver calls back


def _where() -> str:
    """The nearest line of the engine's that is at work."""
    frame: Any = sys._getframe(2)
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith(HERE) and name != __file__:
            return f", in {Path(name).relative_to(HERE).as_posix()} line {frame.f_lineno}"
        frame = frame.f_back
    return ""


def _hear(source: int, kind: int, number: int, severity: int, length: int, text: bytes, user: Any) -> None:
    """The driver's call. Nothing may be raised through it."""
    try:
        told = kind in TYPES or (severity in WARNINGS and kind != HINT)
        if switches.gl and told and len(_heard) < KEPT:
            words = text[:length].decode(errors="replace") if length > 0 else text.decode(errors="replace")
            _heard.append(f"{TYPES.get(kind, 'warning')}: {words.strip()}{_where()}")
    except Exception:
        _heard.append("a message that could not be read")


_KIND: Any = getattr(ctypes, "WINFUNCTYPE", ctypes.CFUNCTYPE)  # the first on Windows alone
_UINT = ctypes.c_uint
# it lives as long as the process: a driver may call until its context is gone
_CALLBACK = _KIND(None, _UINT, _UINT, _UINT, _UINT, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)(_hear)


def listen(ctx: moderngl.Context) -> bool:
    """Hear what the driver says of `ctx` from now on; True where it calls back. It must be current.

    A host that listens itself goes on doing so, and glGetError is asked instead.
    """
    if ctx not in _listening:
        gl = calls(ctx)
        hears = gl.version >= 430 or "GL_KHR_debug" in gl.extensions
        if hears:
            taken = ctypes.c_void_p()
            gl.glGetPointerv(enums.DEBUG_CALLBACK_FUNCTION, ctypes.byref(taken))
            hears = not taken.value
        if hears:
            gl.glEnable(enums.DEBUG_OUTPUT)
            gl.glEnable(enums.DEBUG_OUTPUT_SYNCHRONOUS)
            gl.glDebugMessageCallback(ctypes.cast(_CALLBACK, ctypes.c_void_p), None)
        _listening[ctx] = hears
    return _listening[ctx]


def _errors(gl: Calls) -> list[str]:
    """What glGetError has kept, at most one of each kind."""
    found = []
    for _ in ERRORS:
        number = gl.glGetError()
        if not number:
            break
        found.append(ERRORS.get(number, hex(number)))
    return found


def take(ctx: moderngl.Context | None = None) -> list[str]:
    """Return what was heard since the last time, and forget it; with a current `ctx` its errors as well."""
    found, _heard[:] = list(_heard), []
    errors = _errors(calls(ctx)) if ctx is not None else []
    return found or errors  # an error that was told of is among the errors again


def complain(said: list[str], what: str) -> None:
    """Raise GpufluidError where something was `said`. what: where, the start of the sentence."""
    if said:
        raise GpufluidError(_sentence(said, what))


def tell(said: list[str], what: str) -> None:
    """Warn where something was `said`, of what is not the engine's."""
    if said:
        warn(_sentence(said, what), RuntimeWarning)


def _sentence(said: list[str], what: str) -> str:
    return f"{what} OpenGL says: {'; '.join(dict.fromkeys(said))}"
