"""A session in a window, as a program of its own: test_window.py runs it under Xvfb and reads what it prints.

Input goes the way a user's does: X events sent to the window, through the server, to glfw's callbacks.
"""

from __future__ import annotations

import ctypes
import json
import sys
import time
from collections.abc import Callable

import glfw
import numpy as np

import gpufluid as gf
from gpufluid.app.demos import load_demo
from gpufluid.app.player import Player
from gpufluid.app.window import Window

KEY_PRESS, BUTTON_PRESS, BUTTON_RELEASE, MOTION = 2, 4, 5, 6
LEFT, RIGHT, WHEEL_UP = 1, 3, 4
CELLS = (12, 18, 12)


class InputEvent(ctypes.Structure):
    """XKeyEvent, XButtonEvent and XMotionEvent: one layout; `detail` is the keycode or the button."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("serial", ctypes.c_ulong),
        ("send_event", ctypes.c_int),
        ("display", ctypes.c_void_p),
        ("window", ctypes.c_ulong),
        ("root", ctypes.c_ulong),
        ("subwindow", ctypes.c_ulong),
        ("time", ctypes.c_ulong),
        ("x", ctypes.c_int),
        ("y", ctypes.c_int),
        ("x_root", ctypes.c_int),
        ("y_root", ctypes.c_int),
        ("state", ctypes.c_uint),
        ("detail", ctypes.c_uint),
        ("same_screen", ctypes.c_int),
        ("rest_of_the_union", ctypes.c_long * 24),
    )


class Hand:
    """Sends input to a window by the X server."""

    def __init__(self, handle: object) -> None:
        self.x11 = ctypes.CDLL("libX11.so.6")
        self.display = ctypes.cast(glfw.get_x11_display(), ctypes.c_void_p)
        self.window = glfw.get_x11_window(handle)
        self.x11.XKeysymToKeycode.argtypes = [ctypes.c_void_p, ctypes.c_ulong]
        self.x11.XSendEvent.argtypes = [
            ctypes.c_void_p,
            ctypes.c_ulong,
            ctypes.c_int,
            ctypes.c_long,
            ctypes.c_void_p,
        ]
        self.x11.XSync.argtypes = [ctypes.c_void_p, ctypes.c_int]

    def send(self, kind: int, x: int = 0, y: int = 0, detail: int = 0, state: int = 0) -> None:
        event = InputEvent(
            type=kind,
            display=self.display,
            window=self.window,
            x=x,
            y=y,
            state=state,
            detail=detail,
            same_screen=1,
        )
        assert self.x11.XSendEvent(self.display, self.window, 0, 0, ctypes.byref(event))
        self.x11.XSync(self.display, 0)

    def drag(self, button: int, start: tuple[int, int], end: tuple[int, int]) -> None:
        self.send(MOTION, *start)
        glfw.poll_events()
        self.send(BUTTON_PRESS, *start, detail=button)
        self.send(MOTION, *end)
        self.send(BUTTON_RELEASE, *end, detail=button)

    def turn_wheel(self) -> None:
        self.send(BUTTON_PRESS, 5, 5, detail=WHEEL_UP)

    def press(self, keysym: int) -> None:
        self.send(KEY_PRESS, detail=self.x11.XKeysymToKeycode(self.display, keysym))


class Minimised(Window):
    """A window that is minimised now and then: Xvfb has no window manager to do it."""

    hidden_until = 0.0

    @property
    def framebuffer_size(self) -> tuple[int, int]:
        return (0, 0) if time.monotonic() < self.hidden_until else super().framebuffer_size


def main() -> None:
    report: dict[str, object] = {}
    # A fluid with a headless context of its own comes first: the window has to get on with it.
    headless = gf.Fluid(gf.Grid((4, 5, 6), cell_size=0.1))
    headless.density.write(np.full((6, 5, 4), 0.25))
    build = load_demo("plume")
    steps: dict[int, Callable[[], object]] = {}
    frame = 0
    with Minimised((320, 200), "session") as window:
        report["version"] = window.ctx.version_code
        hand = Hand(window.handle)

        def make() -> gf.Scene:
            scene = build(cells=CELLS, ctx=window.ctx)
            given, grid = scene.update, scene.fluid.grid
            report["middle"] = [0.5 * (a + b) for a, b in zip(grid.origin, grid.upper, strict=True)]

            def update(scene: gf.Scene, time: float) -> None:
                nonlocal frame
                if given is not None:
                    given(scene, time)
                camera = player.scene.camera
                report[f"view{frame}"] = [camera.azimuth, camera.elevation, camera.distance, *camera.target]
                report[f"size{frame}"] = list(player.stage.renderer.size)
                report[f"way{frame}"] = [
                    player.stage.renderer.volume.method,
                    player.stage.renderer.volume.resolution,
                ]
                steps.get(frame, lambda: None)()
                frame += 1

            scene.update = update
            return scene

        steps[1] = lambda: hand.drag(LEFT, (100, 100), (160, 130))
        steps[2] = hand.turn_wheel
        steps[3] = lambda: hand.drag(RIGHT, (100, 100), (80, 120))
        steps[4] = lambda: glfw.set_window_size(window.handle, 260, 180)
        steps[5] = lambda: hand.press(ord("f"))
        steps[6] = lambda: hand.press(ord("s"))
        steps[7] = lambda: setattr(window, "hidden_until", time.monotonic() + 0.3)
        steps[8] = lambda: hand.press(0xFF0D)  # enter
        steps[9] = lambda: report.update(frame_after_restart=player.scene.frame)
        steps[10] = lambda: setattr(player.scene.picture, "slices", 12)
        steps[11] = lambda: time.sleep(0.6)  # the title changes twice a second
        steps[12] = lambda: setattr(player.scene.picture, "slices", None)
        steps[14] = lambda: setattr(player.scene.picture, "method", "view-slices")
        steps[17] = lambda: hand.press(0xFF1B)  # escape
        player = Player(window, make, name="session")
        with player:
            player.play(max_frames=40)
            report["frames"] = frame
            report["title"] = glfw.get_window_title(window.handle)
    headless.step(0.01)
    report["headless_density"] = float(headless.density.read().mean())
    headless.release()
    print(json.dumps(report), file=sys.stdout)


if __name__ == "__main__":
    main()
