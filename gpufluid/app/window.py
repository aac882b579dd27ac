"""An open window: glfw, and a moderngl context in it."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from typing import Any, cast

import glfw
import moderngl

from gpufluid.app.display import egl_set_aside
from gpufluid.common.errors import GLUnavailableError
from gpufluid.common.files import readable
from gpufluid.gl.contexts import VERSIONS, make_own

OVERSLEPT = 0.002  # s, that a sleep may take longer


class _Loader:
    """How moderngl finds the functions of glfw's current context, whatever the window system."""

    def load_opengl_function(self, name: str) -> int:
        return glfw.get_proc_address(name) or 0  # type: ignore[return-value]  # an address, None without one

    load = load_opengl_function

    def __enter__(self) -> _Loader:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def release(self) -> None:
        """Nothing: the context goes with its window."""


def _on_wayland() -> bool:
    """Whether glfw shows its windows there."""
    if hasattr(glfw, "get_platform"):
        return bool(glfw.get_platform() == glfw.PLATFORM_WAYLAND)
    return "Wayland" in str(glfw.get_version_string())  # GLFW 3.3 is built for one


def _shortest_wait() -> float:
    """Seconds between two pictures of the screen that shows most a second."""
    modes = [glfw.get_video_mode(screen) for screen in glfw.get_monitors()]
    return 1.0 / max([mode.refresh_rate for mode in modes if mode and mode.refresh_rate > 0], default=60)


class Window:
    """An open window with a GL context in it; a context manager that closes it.

    size: (width, height), units of the screen, each of several pixels where these are fine. Only one may be
    open at a time, in the main thread.
    ctx: its moderngl.Context, 4.3 core or newer where there is one, else 3.3.

    Raises GLUnavailableError, in one line, where no window opens.
    """

    def __init__(self, size: tuple[int, int], title: str) -> None:
        if sys.platform == "darwin" and threading.current_thread() is not threading.main_thread():
            raise GLUnavailableError("no window opens here (macOS shows them in the main thread alone)")
        self._problem = "no reason given"
        with contextlib.ExitStack() as undo:
            undo.enter_context(egl_set_aside())
            # glfw reports from inside its calls: kept for the message, not printed. None restores its own.
            undo.callback(glfw.set_error_callback, cast(Any, None))
            glfw.set_error_callback(self._note)
            if not glfw.init():
                raise GLUnavailableError(f"no window opens here ({self._problem})")
            undo.callback(glfw.terminate)
            self.handle = self._create(size, readable(title))
            glfw.make_context_current(self.handle)
            # On Wayland a swap that waits for the screen waits while the window is on another workspace: no
            # film goes on, and Ctrl+C is not heard. Nothing tears there without it, so `show` waits instead.
            self._wait = _shortest_wait() if _on_wayland() else None
            self._due = 0.0  # s, when the next picture may be shown
            glfw.swap_interval(0 if self._wait else 1)
            loader: Any = _Loader()
            # the panel, which draws in it too, sets all that it needs itself
            self.ctx = make_own(moderngl.create_context(require=330, context=loader))
            self._undo = undo.pop_all()

    def _note(self, code: int, text: bytes | str) -> None:
        self._problem = text.decode(errors="replace") if isinstance(text, bytes) else text

    def _create(self, size: tuple[int, int], title: str) -> Any:
        for version in VERSIONS:
            major, minor = version // 100, version % 100 // 10
            glfw.default_window_hints()
            glfw.window_hint(glfw.CONTEXT_VERSION_MAJOR, major)
            glfw.window_hint(glfw.CONTEXT_VERSION_MINOR, minor)
            glfw.window_hint(glfw.OPENGL_PROFILE, glfw.OPENGL_CORE_PROFILE)
            glfw.window_hint(glfw.OPENGL_FORWARD_COMPAT, True)
            glfw.window_hint(glfw.SCALE_TO_MONITOR, True)  # else tiny where units are pixels, fine ones
            for hint in ("WAYLAND_APP_ID", "X11_CLASS_NAME", "X11_INSTANCE_NAME"):
                if hasattr(glfw, hint):  # what a desktop knows the program by
                    glfw.window_hint_string(getattr(glfw, hint), "gpufluid")
            handle = glfw.create_window(*size, title, None, None)
            if handle:
                return handle
        raise GLUnavailableError(f"no window with OpenGL 3.3 opens here ({self._problem})")

    @property
    def framebuffer_size(self) -> tuple[int, int]:
        """(width, height), pixels: more than the window's on HiDPI screens, zeros while minimised."""
        if glfw.get_window_attrib(self.handle, glfw.ICONIFIED):
            return 0, 0  # X11 leaves it its size
        width, height = glfw.get_framebuffer_size(self.handle)
        return width, height

    def show(self) -> None:
        """Show what was drawn, at most as often as a screen does."""
        glfw.swap_buffers(self.handle)
        if self._wait:
            time.sleep(max(self._due - time.perf_counter(), 0.0))
            # from when it was due, so that what sleeps take longer does not add up; from now where it is late
            self._due = max(self._due, time.perf_counter() - OVERSLEPT) + self._wait

    def close(self) -> None:
        """Close the window and its context; does nothing the second time."""
        self._undo.close()

    def __enter__(self) -> Window:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
