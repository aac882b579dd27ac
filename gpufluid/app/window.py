"""A window that plays a scene: glfw, and a moderngl context in it."""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, cast

import glfw
import moderngl

from gpufluid.app import orbit
from gpufluid.app.display import egl_set_aside
from gpufluid.errors import GLUnavailableError, GpufluidError
from gpufluid.io.images import write_png
from gpufluid.render.frame import FrameRenderer
from gpufluid.scene import Scene

VERSIONS = ((4, 3), (3, 3))  # compute shaders first; 3.3 has all that the fragment stage needs
EARLY = 0.002  # seconds a frame may come before its time: a screen's refresh is never exactly on it
LOOK = 0.25  # seconds between looks at the file of the scene
HELP = """\
left drag    turn            space      pause
right drag   move            enter, r   start again
wheel        nearer, away    s          save a picture
h            this help       escape     close"""


def _stamp(file: Path | None) -> tuple[int, int] | None:
    """What tells that a file has changed, or None where there is none."""
    if file is None:
        return None
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


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


class Window:
    """An open window with a GL context in it; a context manager that closes it.

    size: (width, height), screen units. Only one may be open at a time, in the main thread.
    ctx: its moderngl.Context, 4.3 core or newer where there is one, else 3.3.

    Raises GLUnavailableError, in one line, where no window opens.
    """

    def __init__(self, size: tuple[int, int], title: str) -> None:
        self._problem = "no reason given"
        with contextlib.ExitStack() as undo:
            undo.enter_context(egl_set_aside())
            # glfw reports from inside its calls: kept for the message, not printed. None restores its own.
            undo.callback(glfw.set_error_callback, cast(Any, None))
            glfw.set_error_callback(self._note)
            if not glfw.init():
                raise GLUnavailableError(f"no window opens here ({self._problem})")
            undo.callback(glfw.terminate)
            self.handle = self._create(size, title)
            glfw.make_context_current(self.handle)
            glfw.swap_interval(1)
            loader: Any = _Loader()
            self.ctx = moderngl.create_context(require=330, context=loader)
            self._undo = undo.pop_all()

    def _note(self, code: int, text: bytes | str) -> None:
        self._problem = text.decode(errors="replace") if isinstance(text, bytes) else text

    def _create(self, size: tuple[int, int], title: str) -> Any:
        for major, minor in VERSIONS:
            glfw.default_window_hints()
            glfw.window_hint(glfw.CONTEXT_VERSION_MAJOR, major)
            glfw.window_hint(glfw.CONTEXT_VERSION_MINOR, minor)
            glfw.window_hint(glfw.OPENGL_PROFILE, glfw.OPENGL_CORE_PROFILE)
            glfw.window_hint(glfw.OPENGL_FORWARD_COMPAT, True)
            handle = glfw.create_window(*size, title, None, None)
            if handle:
                return handle
        raise GLUnavailableError(f"no window with OpenGL 3.3 opens here ({self._problem})")

    @property
    def framebuffer_size(self) -> tuple[int, int]:
        """(width, height), pixels: more than the window's on HiDPI screens, zeros while minimised."""
        width, height = glfw.get_framebuffer_size(self.handle)
        return width, height

    def close(self) -> None:
        """Close the window and its context; does nothing the second time."""
        self._undo.close()

    def __enter__(self) -> Window:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Player:
    """Plays a scene in an open window, in real time where the machine keeps up; a context manager.

    make: builds the scene in the window's context, at first and for every restart. name: what saved
    pictures are called, ``name-0001.png`` in the current folder. watch: a file; when it has changed the scene
    is built anew, or goes on as it is where the file is wrong.
    """

    def __init__(
        self, window: Window, make: Callable[[], Scene], name: str = "gpufluid", watch: Path | None = None
    ) -> None:
        self.window = window
        self.make = make
        self.name = name
        self.watch, self._stamp, self._looked = watch, _stamp(watch), 0.0
        self.paused = False
        width, height = window.framebuffer_size
        self.scene = make()
        self.renderer = FrameRenderer.of(self.scene.picture, window.ctx, (max(width, 1), max(height, 1)))
        # Where the last event saw the pointer. Asked for at a press, glfw would tell where it is by now: at a
        # few frames a second that may be the end of the drag.
        self._pointer = glfw.get_cursor_pos(window.handle)
        self._drag: Callable[..., None] | None = None
        self._shown: deque[float] = deque(maxlen=30)  # when the last frames were shown, seconds
        self._titled = 0.0
        self._due = 0.0
        self._actions: dict[int, Callable[[], None]] = {
            glfw.KEY_SPACE: self._pause,
            glfw.KEY_ENTER: self._restart,
            glfw.KEY_KP_ENTER: self._restart,
            glfw.KEY_R: self._restart,
            glfw.KEY_S: self._save,
            glfw.KEY_H: self._help,
            glfw.KEY_ESCAPE: self._close,
        }
        glfw.set_key_callback(window.handle, self._on_key)
        glfw.set_mouse_button_callback(window.handle, self._on_button)
        glfw.set_cursor_pos_callback(window.handle, self._on_pointer)
        glfw.set_scroll_callback(window.handle, self._on_wheel)

    def play(self, max_frames: int | None = None) -> None:
        """Play until the window is closed, or `max_frames` frames were simulated."""
        played = 0
        size = self.window.framebuffer_size
        while not glfw.window_should_close(self.window.handle) and played != max_frames:
            if self.paused or 0 in size:
                glfw.wait_events_timeout(0.1)  # nothing moves by itself: leave the processor alone
            else:
                glfw.poll_events()
            size = self.window.framebuffer_size
            self._reload()
            if 0 in size:
                continue
            if not self.paused and not self.scene.over and self._is_due():
                self.scene.advance()
                played += 1
            self._show(size)

    def _reload(self) -> None:
        """Build the scene anew where the file watched has changed."""
        now = time.perf_counter()
        if self.watch is None or now - self._looked < LOOK:
            return
        self._looked, before, self._stamp = now, self._stamp, _stamp(self.watch)
        if self._stamp != before and self._stamp is not None:
            try:
                self._restart()
                print(f"gpufluid: {self.watch} was read again")
            except GpufluidError as error:
                print(f"gpufluid: {error}")

    def release(self) -> None:
        """Release the renderer and the scene."""
        self.renderer.release()
        self.scene.release()

    def __enter__(self) -> Player:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def _is_due(self) -> bool:
        """Whether the next frame's time has come; a fast screen shows some frames twice."""
        now = time.perf_counter()
        if now < self._due - EARLY:
            return False
        # Counted from when it was due, so that small delays do not add up; from now once it is far behind.
        self._due = max(self._due, now - self.scene.dt) + self.scene.dt
        return True

    def _show(self, size: tuple[int, int]) -> None:
        if size != self.renderer.size:
            self.renderer.resize(size)
        screen = self.window.ctx.screen
        screen.viewport = (0, 0, *size)
        self.renderer.draw(self.scene)
        for snap in self.scene.take_snaps():
            self._write(snap, overwrite=True)
        self.renderer.present(screen)
        glfw.swap_buffers(self.window.handle)
        now = time.perf_counter()
        self._shown.append(now)
        if now - self._titled > 0.5:
            self._titled = now
            glfw.set_window_title(self.window.handle, self._title())

    def _title(self) -> str:
        if self.paused:
            return f"{self.scene.title} - paused"
        span = self._shown[-1] - self._shown[0]
        rate = f"{(len(self._shown) - 1) / span:.0f} fps" if span > 0.0 else "h for help"
        return f"{self.scene.title} - {rate}"

    def _on_key(self, handle: Any, key: int, code: int, action: int, mods: int) -> None:
        if action == glfw.PRESS and key in self._actions:
            self._actions[key]()

    def _on_button(self, handle: Any, button: int, action: int, mods: int) -> None:
        self._drag = None
        if action == glfw.PRESS:
            self._drag = orbit.rotate if button == glfw.MOUSE_BUTTON_LEFT else orbit.pan

    def _on_pointer(self, handle: Any, x: float, y: float) -> None:
        dx, dy = x - self._pointer[0], y - self._pointer[1]
        self._pointer = (x, y)
        if self._drag is not None:
            self._drag(self.scene.camera, dx, dy, max(glfw.get_window_size(handle)[1], 1))

    def _on_wheel(self, handle: Any, dx: float, dy: float) -> None:
        orbit.zoom(self.scene.camera, dy)

    def _pause(self) -> None:
        self.paused = not self.paused
        self._titled = 0.0
        self._shown.clear()

    def _restart(self) -> None:
        """Build the scene anew, camera and all; where that fails it stays as it is."""
        scene = self.make()
        self.scene.release()
        self.scene = scene
        self.paused = False
        self._due = 0.0

    def _save(self) -> None:
        """Save what is seen under the first free number."""
        number = 1
        while (path := Path(f"{self.name}-{number:04d}.png")).exists():
            number += 1
        self._write(path)

    def _write(self, path: Path, overwrite: bool = False) -> None:
        try:
            write_png(path, self.renderer.read(), overwrite)
            print(f"wrote {path.absolute()}")
        except GpufluidError as error:
            print(error)

    def _help(self) -> None:
        print(HELP)

    def _close(self) -> None:
        glfw.set_window_should_close(self.window.handle, True)
