"""Unsaved changes in the studio, as a program of its own; test_unsaved.py runs it under Xvfb."""

from __future__ import annotations

import ctypes
import time
from pathlib import Path
from typing import Any

import glfw
import numpy as np
from PIL import Image
from studio_session import CONTROL, ESCAPE, SCENE, SIZE, Driver, hold
from window_session import MOTION

import gpufluid as gf

CLIENT_MESSAGE = 33
WM = (b"WM_PROTOCOLS", b"WM_DELETE_WINDOW")
BALL = '[[obstacles]]\nshape = { kind = "sphere", radius = 0.1 }\nposition = [0.3, 1.2, 0.0]\n'


class ClientMessage(ctypes.Structure):
    """XClientMessageEvent, with room for the union that it is part of."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("serial", ctypes.c_ulong),
        ("send_event", ctypes.c_int),
        ("display", ctypes.c_void_p),
        ("window", ctypes.c_ulong),
        ("message_type", ctypes.c_ulong),
        ("format", ctypes.c_int),
        ("data", ctypes.c_long * 5),
        ("rest_of_the_union", ctypes.c_long * 24),
    )


def press_close(drive: Driver) -> bool:
    """The window's own button, as a window manager tells of it; whether the window would close."""
    hand, handle = drive.hand, drive.player.window.handle
    hand.x11.XInternAtom.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int]
    hand.x11.XInternAtom.restype = ctypes.c_ulong
    protocols, delete = (hand.x11.XInternAtom(hand.display, name, 0) for name in WM)
    event = ClientMessage(
        type=CLIENT_MESSAGE,
        display=hand.display,
        window=hand.window,
        message_type=protocols,
        format=32,
        data=(delete, 0, 0, 0, 0),
    )
    assert hand.x11.XSendEvent(hand.display, hand.window, 0, 0, ctypes.byref(event))
    hand.x11.XSync(hand.display, 0)
    drive.frames(1)
    closing = bool(glfw.window_should_close(handle))
    glfw.set_window_should_close(handle, False)
    return closing


def press_escape(drive: Driver) -> bool:
    """The key; whether the window would close."""
    drive.press(ESCAPE)
    closing = bool(glfw.window_should_close(drive.player.window.handle))
    glfw.set_window_should_close(drive.player.window.handle, False)
    return closing


def edited(drive: Driver, text: str, file: str = "scene.toml") -> gf.Scene:
    """The scene after its file was saved in an editor."""
    Path(file).write_text(text)
    time.sleep(0.3)
    drive.frames(2)
    return drive.player.scene


def session(drive: Driver, report: dict[str, Any]) -> None:
    """Everything a user does, in turn."""
    player = drive.player

    def press_reload() -> None:
        drive.press_widget("Reload")
        drive.frames()

    drive.press(ord("="))
    report["without_panel"] = press_escape(drive)
    before = player.scene
    report["read_without_panel"] = edited(drive, SCENE + "\n") is not before
    studio = drive.open_studio()
    drive.press(ord(" "))

    def contrast(label: str) -> float:
        """Of a button's text with what is behind it."""
        x0, y0, x1, y1 = map(round, drive.places[label])
        return float(np.ptp(drive.picture()[y0 + 2 : y1 - 2, x0 + 4 : x1 - 4].astype(float)))

    drive.hand.send(MOTION, 100, 100)  # from the buttons
    drive.frames()
    report["greyed"] = [[contrast(name) for name in ("Undo", "Redo", "Remove", "Snap")]]
    drive.press_widget("Undo")
    drive.frames()
    report["undo_said"] = player.message
    report["unchanged"] = [press_escape(drive), press_close(drive)]

    # closed by the key and by the window's button, with two changes; a question stands for a while
    drive.press(ord("="))
    drive.press(ord("d"))
    studio.editor.select(("fluids", 0, "obstacles", 0))
    drive.hand.send(MOTION, 100, 100)
    drive.frames()
    report["greyed"] += [[contrast(name) for name in ("Undo", "Redo", "Remove", "Snap")]]
    report["escape"] = [press_escape(drive), player.message, press_escape(drive)]
    report["button"] = [press_close(drive), player.message, press_close(drive)]
    first = press_escape(drive)
    player.told._until -= 6.0  # type: ignore[operator]  # it was seen
    report["too_late"] = [first, press_escape(drive)]
    drive.press(ord("z"), CONTROL)
    report["another_question"] = [press_escape(drive), player.message]

    # Reload
    before = player.scene
    press_reload()
    report["reload"] = [player.scene is before, player.message]
    press_reload()
    report["reload"] += [player.scene is before, len(player.history.done)]

    # the file is saved by an editor: the changes stay, Reset takes both, Reload the file
    drive.press(ord("d"))
    drive.press(ord(" "))
    before = player.scene
    report["kept"] = [edited(drive, SCENE + BALL) is before, player.message, player.title]
    drive.press_widget("Reset")
    drive.frames()
    drive.press(ord(" "))
    fluid = player.scene.fluid
    report["both"] = [len(fluid.obstacles), len(fluid.forces), player.maker.stale, player.title]
    edited(drive, SCENE)
    press_reload()
    press_reload()
    fluid = player.scene.fluid
    report["file_only"] = [len(fluid.obstacles), len(fluid.forces), player.maker.stale]

    # saved, nothing is lost; what is undone then is a change as well
    drive.press(ord(" "))
    drive.press(ord("d"))
    studio.files.save()
    report["saved"] = [player.message.startswith("wrote "), press_escape(drive), player.unsaved]
    drive.press(ord("z"), CONTROL)
    report["undone"] = player.unsaved
    drive.press(ord("y"), CONTROL)
    drive.press(ord("d"))
    edited(drive, SCENE + BALL)
    studio.files.save()
    report["over_another"] = player.message

    # saved, what is in the file is not done again when it starts again; undone, it is taken away there too
    studio.files.save()
    studio.objects.add("obstacles", "sphere")
    drive.press(ord("s"), CONTROL)
    drive.press_widget("Reset")
    drive.frames()
    report["not_twice"] = len(player.scene.fluid.obstacles)
    drive.press(ord("z"), CONTROL)
    drive.press_widget("Reset")
    drive.frames()
    report["undone_again"] = len(player.scene.fluid.obstacles)

    # saved under another name, that is the file: to be read again, and to be watched
    studio.files.name = "other.toml"
    Path("other.toml").write_text("")
    studio.files.save()
    report["over_other"] = [player.message, Path("other.toml").read_text()]
    player.use_cells((12, 18, 12))
    drive.press(ord("="))
    studio.files.save()
    studio.files.save()
    report["other"] = [str(player.maker.file), player.unsaved]
    density = player.scene.fluid.emitters[0].density
    report["other_forces"] = len(player.scene.fluid.forces)
    drive.press(ord("d"))
    studio.objects.add("forces", "vortex")
    press_reload()
    press_reload()
    fluid = player.scene.fluid
    report["other_read"] = [fluid.emitters[0].density == density, len(fluid.forces), list(fluid.grid.cells)]
    report["other_said"] = player.message
    before = player.scene
    report["other_watched"] = [
        edited(drive, SCENE) is before,
        len(edited(drive, SCENE + BALL, "other.toml").fluid.obstacles),
    ]

    # another grid: its size is told before, and it is undone
    studio.objects.add("obstacles", "sphere")
    for title in ("Objects", "Flow", "Grid"):
        drive.scroll_to(title)
        drive.press_widget(title)
    drive.scroll_to("##cells")
    drive.press_widget("##cells", 0.1)
    for letter in ("a", *"12"):
        drive.press(ord(letter), CONTROL if letter == "a" else 0)
    drive.frames()
    report["typed"] = "Rebuild: 0.48 x 1.44 x 0.96 m, cells of 0.04 m" in drive.places
    drive.press(ESCAPE)  # leaves the field as it was
    drive.frames()
    studio.grid.cells = [12, 8, 6]
    drive.frames()
    report["foreseen"] = [name for name in drive.places if name.startswith("Rebuild: 1.44")]
    Image.fromarray(drive.picture()).save("rebuild.png")

    def grid() -> list[Any]:
        fluid = player.scene.fluid
        return [list(fluid.grid.cells), [round(n, 6) for n in fluid.grid.size], len(fluid.obstacles)]

    drive.scroll_to("Rebuild")
    report["grids"] = [grid()]
    drive.press_widget("Rebuild")
    drive.frames()
    report["grids"] += [grid(), player.unsaved]
    studio.objects.add("obstacles", "sphere")
    for _ in range(2):
        drive.press(ord("z"), CONTROL)
    report["grids"] += [grid(), player.unsaved, player.message]
    for _ in range(2):
        drive.press(ord("y"), CONTROL)
    report["grids"] += [grid(), player.unsaved]


if __name__ == "__main__":
    hold("unsaved", SIZE, SCENE, session)
