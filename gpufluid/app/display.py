"""Whether a window can be shown here, and how a window's context gets on with a headless one."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from collections.abc import Iterator

GLFW_LIBRARY = "PYGLFW_LIBRARY_VARIANT"  # the package's variable


def has_display() -> bool:
    """Return whether a window can be expected to open: always on macOS and Windows, else by the session."""
    if sys.platform in ("darwin", "win32"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


@contextlib.contextmanager
def glfw_chosen() -> Iterator[None]:
    """Let the glfw package, imported inside, take its library for the display that is there: Wayland or X.

    It goes by XDG_SESSION_TYPE, which some sessions do not set, and which a shell from elsewhere (su, ssh -X)
    has from a session that it does not reach. Where both are there, or a library is asked for, so be it.
    """
    wayland, x = (bool(os.environ.get(name)) for name in ("WAYLAND_DISPLAY", "DISPLAY"))
    if wayland == x or os.environ.get(GLFW_LIBRARY):
        yield
        return
    os.environ[GLFW_LIBRARY] = "wayland" if wayland else "x11"
    try:
        yield
    finally:
        del os.environ[GLFW_LIBRARY]


def _loaded_egl() -> ctypes.CDLL | None:
    """Return libEGL if this process uses it already; never loads it."""
    no_load = getattr(os, "RTLD_NOLOAD", None)
    if no_load is None or sys.platform == "darwin":
        return None
    try:
        return ctypes.CDLL("libEGL.so.1", mode=no_load | os.RTLD_LAZY)
    except OSError:
        return None


@contextlib.contextmanager
def egl_set_aside() -> Iterator[None]:
    """Let a window's context become current in this thread; afterwards the headless one is current again.

    Where an EGL context is current, Xlib ends the process with BadAccess as soon as GLX makes another
    context current, so the EGL one has to let go of the thread first. Seen with Mesa 22.3 and libglvnd 1.6.
    """
    egl = _loaded_egl()
    if egl is None:
        yield
        return
    handle = ctypes.c_void_p
    for name in ("eglGetCurrentDisplay", "eglGetCurrentContext"):
        getattr(egl, name).restype = handle
    egl.eglGetCurrentSurface.restype, egl.eglGetCurrentSurface.argtypes = handle, [ctypes.c_int32]
    egl.eglMakeCurrent.argtypes = [handle] * 4
    draw, read = 0x3059, 0x305A  # EGL_DRAW, EGL_READ
    display, context = egl.eglGetCurrentDisplay(), egl.eglGetCurrentContext()
    surfaces = egl.eglGetCurrentSurface(draw), egl.eglGetCurrentSurface(read)
    egl.eglReleaseThread()
    try:
        yield
    finally:
        if context:
            egl.eglMakeCurrent(display, *surfaces, context)
