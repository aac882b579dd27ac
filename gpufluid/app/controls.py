"""What keys and mouse do in a window that plays a scene."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import glfw

from gpufluid.app import orbit
from gpufluid.app.edits import STRONGER
from gpufluid.app.hands import Brush, Drag, grasp, move_view
from gpufluid.contract.backend import release

if TYPE_CHECKING:
    from gpufluid.app.player import Player

# the key that a Mac's keyboard has delete on is backspace elsewhere, and to glfw
REMOVES = (glfw.KEY_DELETE, *((glfw.KEY_BACKSPACE,) if sys.platform == "darwin" else ()))
KEYS = (
    ("left drag", "turn the view; in the studio, move an object (with shift: nearer or farther)"),
    ("", "in 2D, or if the scene has a hand: push the fluid, leave smoke (with alt: turn)"),
    ("right drag", "pan"),
    ("wheel", "zoom in and out"),
    ("arrows", "turn the view"),
    ("f", "frame the whole box"),
    ("space", "pause, resume"),
    (".", "step one frame"),
    ("enter", "start again"),
    ("+ -", "make the first source stronger, weaker"),
    ("a d", "blow wind to the left, to the right"),
    ("s", "save a picture"),
    ("r", "start or stop recording a film"),
    ("ctrl-z ctrl-y", "undo, redo"),
    ("ctrl-s", "save the scene (studio)"),
    ("delete", "remove what is selected (studio)"),
    ("ctrl-d", "duplicate it, beside it (studio)"),
    ("f2", "rename it, as does a double click on its name (studio)"),
    ("tab", "show or hide the studio's panel"),
    ("h", "show or hide this help"),
    ("escape", "close"),
    ("drop a file", "a mesh into the box, a picture behind all, or open a scene (studio)"),
)

Key = int | str  # what stands on it, whatever the keyboard's layout; of those without a letter their number


class Controls:
    """Has a `player` do what the user asks for in its window; its studio is asked first.

    drag: what the hand holds while a button is down in the picture.
    """

    def __init__(self, player: Player) -> None:
        self._player, handle = player, player.window.handle
        self.drag: Drag | None = None
        turns = {
            glfw.KEY_LEFT: (-orbit.TURN, 0.0),
            glfw.KEY_RIGHT: (orbit.TURN, 0.0),
            glfw.KEY_UP: (0.0, orbit.TURN),
            glfw.KEY_DOWN: (0.0, -orbit.TURN),
        }
        self._held_actions: dict[Key, Callable[[], None]] = {  # those that a key held down repeats
            **{key: partial(player.stage.turn, *by) for key, by in turns.items()},
            "=": partial(player.strengthen, STRONGER),
            "+": partial(player.strengthen, STRONGER),
            "-": partial(player.strengthen, 1.0 / STRONGER),
            "a": partial(player.blow, -1.0),
            "d": partial(player.blow, 1.0),
            ".": player.single_step,
        }
        self._actions: dict[Key, Callable[[], None]] = {
            glfw.KEY_SPACE: player.pause,
            glfw.KEY_ENTER: player.restart,
            glfw.KEY_KP_ENTER: player.restart,
            **dict.fromkeys(REMOVES, player.remove),
            glfw.KEY_F2: player.rename,
            "r": player.record,
            "s": player.recording.snap,
            "f": player.stage.frame_all,
            "h": player.help,
            glfw.KEY_TAB: player.show_studio,
            glfw.KEY_ESCAPE: player.leave,
        }
        glfw.set_window_close_callback(handle, self._on_close)
        glfw.set_key_callback(handle, self._on_key)
        glfw.set_char_callback(handle, self._on_char)
        glfw.set_mouse_button_callback(handle, self._on_button)
        glfw.set_cursor_pos_callback(handle, self._on_pointer)
        glfw.set_scroll_callback(handle, self._on_wheel)
        dropped: Any = self._on_drop  # typed as C has it
        glfw.set_drop_callback(handle, dropped)

    @property
    def brush(self) -> Brush | None:
        """The hand that is in the fluid now, if one is."""
        return self.drag if isinstance(self.drag, Brush) else None

    def let_go(self) -> None:
        """Hold nothing more."""
        release(self.drag)
        self.drag = None

    def _on_key(self, handle: Any, key: int, code: int, action: int, mods: int) -> None:
        player = self._player
        if player.studio is not None and player.studio.take_key(key, action, mods):
            return
        if action == glfw.RELEASE:
            return
        name: Key = glfw.get_key_name(key, code) or key
        if mods & (glfw.MOD_CONTROL | glfw.MOD_SUPER):
            ways = {
                "z": player.redo if mods & glfw.MOD_SHIFT else player.undo,
                "y": player.redo,
                "s": player.save,
                "d": player.duplicate,
            }
            ways.get(str(name), lambda: None)()
        elif name in self._held_actions:
            self._held_actions[name]()
        elif action == glfw.PRESS and name in self._actions:
            self._actions[name]()

    def _on_char(self, handle: Any, code: int) -> None:
        if self._player.studio is not None:
            self._player.studio.ui.char(code)

    def _on_button(self, handle: Any, button: int, action: int, mods: int) -> None:
        player = self._player
        self.let_go()
        if player.studio is not None and player.studio.take_button(button, action == glfw.PRESS, mods):
            return
        if action == glfw.PRESS:
            left = button == glfw.MOUSE_BUTTON_LEFT
            grabbed: Drag | None = None if player.studio is None else player.studio.grab(button, mods)
            self.drag = grabbed or grasp(player.stage, left=left, alt=bool(mods & glfw.MOD_ALT))

    def _on_pointer(self, handle: Any, x: float, y: float) -> None:
        stage = self._player.stage
        before, stage.pointer = stage.pointer, (x, y)
        if self._player.studio is not None:
            self._player.studio.ui.pointer(x, y)
        if self.drag is not None:
            self.drag.move(x, y, x - before[0], y - before[1])

    def _on_wheel(self, handle: Any, dx: float, dy: float) -> None:
        player = self._player
        if player.studio is None or not player.studio.take_wheel(dx, dy):
            move_view(player.scene, lambda camera: orbit.zoom(camera, dy))

    def _on_close(self, handle: Any) -> None:
        """The window's own button was pressed."""
        if not self._player.agreed("close the window again"):
            glfw.set_window_should_close(handle, False)

    def _on_drop(self, handle: Any, files: Sequence[str]) -> None:
        """Files were dropped on the window."""
        studio = self._player.made_studio()
        if studio is not None:
            studio.take_drop([Path(file) for file in files])
