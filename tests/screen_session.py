"""A session on a screen of two pixels a unit, then minimised; test_screen.py runs it under Xvfb.

Xvfb has neither such a screen nor a window manager. So the window's units are halved where glfw tells them:
in the sizes and in the places of the pointer, as on a Mac. And what a window manager writes on a window that
it has minimised (ICCCM 4.1.3.1: WM_STATE) is written here.
"""

from __future__ import annotations

import ctypes
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import glfw
import numpy as np
from PIL import Image
from studio_session import SCENE, Driver, Watcher

import gpufluid as gf
from gpufluid.app.player import Player
from gpufluid.app.window import Window

PIXELS = (780, 560)
DENSITY = 2  # pixels of a unit
NORMAL, ICONIC = 1, 3  # of WM_STATE


class Fine(Driver):
    """A hand whose places are pixels, as X has them; those of the widgets are units."""

    def press_widget(self, label: str, share: float = 0.5) -> None:
        x0, y0, x1, y1 = (DENSITY * v for v in self.places[label])
        self.click(x0 + share * (x1 - x0), 0.5 * (y0 + y1))

    def set_state(self, state: int) -> None:
        """What a window manager writes on a window that it minimises, or shows again."""
        x11, display, window = self.hand.x11, self.hand.display, self.hand.window
        x11.XInternAtom.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int]
        x11.XInternAtom.restype = ctypes.c_ulong
        atom = x11.XInternAtom(display, b"WM_STATE", 0)
        x11.XChangeProperty.argtypes = [
            *(ctypes.c_void_p, ctypes.c_ulong, ctypes.c_ulong, ctypes.c_ulong),
            *(ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_int),
        ]
        values = (ctypes.c_long * 2)(state, 0)
        x11.XChangeProperty(display, window, atom, atom, 32, 0, values, 2)
        x11.XSync(display, 0)


def halve_units() -> None:
    """From now on glfw tells a screen of DENSITY pixels a unit."""
    size_of, pointer_of, listen = glfw.get_window_size, glfw.get_cursor_pos, glfw.set_cursor_pos_callback

    def listen_in_units(handle: Any, tell: Callable[[Any, float, float], None]) -> Any:
        return listen(handle, lambda handle, x, y: tell(handle, x / DENSITY, y / DENSITY))

    glfw.get_window_size = lambda handle: tuple(n // DENSITY for n in size_of(handle))
    glfw.get_cursor_pos = lambda handle: tuple(v / DENSITY for v in pointer_of(handle))
    glfw.set_cursor_pos_callback = listen_in_units
    glfw.get_window_content_scale = lambda handle: (float(DENSITY), float(DENSITY))


def fine_screen(drive: Fine, report: dict[str, Any]) -> None:
    """Clicks and drags where every unit has two pixels."""
    player = drive.player
    scene = player.scene
    studio = drive.open_studio()
    drive.frames(2)
    report["sizes"] = [
        list(player.stage.size),
        list(studio.ui.size),
        studio.panel_pixels,
        list(player.stage.renderer.size),
    ]
    drive.press_widget("Pause")
    report["paused"] = player.paused
    ball = scene.fluid.obstacles[0]
    x, y = drive.seen_at(ball.position)
    drive.click(x + 100, y)
    report["beside"] = studio.editor.selected
    drive.click(x, y)
    report["picked"] = list(studio.editor.selected or ())
    drive.drag((x, y), [(x + 10, y), (x + 20, y)])
    report["dragged"] = list(np.subtract(drive.seen_at(ball.position), (x, y)))
    drive.frames(2)
    picture = drive.picture()
    Image.fromarray(picture).save("fine.png")
    x0, y0, x1, y1 = (round(DENSITY * v) for v in drive.places["Reload"])
    report["button"] = [x1 - x0, y1 - y0]
    text = picture[y0:y1, x0:x1].astype(float).mean(axis=2)
    lit = np.argwhere(text > 0.6 * text.max() + 0.4 * text.min())
    report["letters"] = [int(n) for n in np.ptp(lit, axis=0) + 1]  # rows, columns
    report["fine_rows"] = float(np.abs(text[0::2][: len(text) // 2] - text[1::2][: len(text) // 2]).mean())
    drive.press_widget("Play")


def minimised(drive: Fine, report: dict[str, Any]) -> None:
    """It sleeps while nobody can see it, and is there again."""
    player = drive.player
    drive.simulated(1)
    drive.press(ord("r"))
    drive.simulated(1)
    drive.set_state(ICONIC)
    frame, ticks = player.scene.frame, drive.ticks
    drive.frames(1)
    player.window.ctx.finish()
    time.sleep(0.3)  # the driver's threads
    began, busy = time.monotonic(), time.process_time()
    while time.monotonic() - began < 1.0:
        drive.frames(1)
    report["asleep"] = [player.scene.frame - frame, drive.ticks - ticks]
    report["busy"] = (time.process_time() - busy) / (time.monotonic() - began)
    report["while_minimised"] = list(player.window.framebuffer_size)
    drive.set_state(NORMAL)
    drive.simulated(2)
    report["awake"] = player.scene.frame - frame
    picture = drive.picture()
    Image.fromarray(picture).save("restored.png")
    report["seen_again"] = [list(player.stage.size), float(picture[:, : player.stage.area[2]].std())]
    drive.press(ord("r"))
    report["filmed"] = [path.name for path in Path().glob("*.mp4")]


def main() -> None:
    report: dict[str, Any] = {}
    Path("scene.toml").write_text(SCENE)
    watcher = Watcher()
    with Window(PIXELS, "screen") as window:
        halve_units()
        with Player(window, lambda: gf.Scene.load("scene.toml", window.ctx), "screen") as player:
            drive = Fine(player, watcher)
            fine_screen(drive, report)
            minimised(drive, report)
    print(json.dumps(report))


if __name__ == "__main__":
    main()
