"""Names and copies in the studio, as a program of its own; test_studio_names.py runs it under Xvfb."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import glfw
import numpy as np
from PIL import Image
from studio_session import CONTROL, ESCAPE, FIRST, SIZE, Driver, hold
from window_session import BUTTON_PRESS, BUTTON_RELEASE, LEFT, MOTION, WHEEL_UP

ENTER, BACKSPACE, DELETE, F2 = 0xFF0D, 0xFF08, 0xFFFF, 0xFFBF
SCENE = """\
dt = 0.04

# the one on the left
[[containers]]
name = "left"     # as one looks
grid = { cells = [8, 12, 8], cell_size = 0.06, origin = [-0.5, 0.0, -0.24] }
settings = { pressure = { kind = "jacobi", iterations = 4 } }

[[containers.emitters]]
name = "source"   # of all smoke
shape = { kind = "sphere", radius = 0.1 }
position = [-0.3, 0.15, 0.0]
density = { formula = "3 + t" }   # more and more

[[containers.obstacles]]
name = "ball"
shape = { kind = "sphere", radius = 0.06 }   # small
position = [-0.36, 0.5, 0.0]

[[containers]]
grid = { cells = [8, 12, 8], cell_size = 0.06, origin = [0.1, 0.0, -0.24] }

[[lights]]
kind = "point"
position = [0.0, 0.9, 0.5]

[[views]]
kind = "particles"
name = "sparks"
box = "left"
count = 100
sources = [{ shape = "source",  share = 0.5 },   # where the smoke is
           { shape = { kind = "sphere", center = [-0.3, 0.3, 0.0], radius = 0.05 } }]   # and above

[camera]
target = [-0.05, 0.36, 0.0]
distance = 2.2

[picture]
slices = 8
size = [160, 320]
"""
BALL, SOURCE, LAMP = "('fluids', 0, 'obstacles', 0)", "('fluids', 0, 'emitters', 0)", "('lights', 0)"


def session(drive: Driver, report: dict[str, Any]) -> None:
    """Everything a user does, in turn."""
    player = drive.player
    scene = player.scene
    studio = drive.open_studio()
    drive.simulated(2)
    drive.press(ord(" "))
    drive.frames(2)
    editor, naming = studio.editor, studio.naming

    def double_click(label: str) -> None:
        x0, y0, _, y1 = drive.places[label]
        x, y = x0 + 30, 0.5 * (y0 + y1)
        drive.hand.send(MOTION, round(x), round(y))
        for kind in (BUTTON_PRESS, BUTTON_RELEASE, BUTTON_PRESS, BUTTON_RELEASE):
            drive.send(kind, x, y, LEFT)
        drive.frames(2)

    def press(key: int, state: int = 0) -> None:
        drive.press(key, state)
        drive.frames(2)

    def names() -> list[str]:
        return sorted(scene.names)

    # a double click; enter keeps, and it is one edit
    double_click(f"ball  (left)##{BALL}")
    report["asked"] = [list(naming.path or ()), list(editor.selected or ())]
    drive.type_text("moons")  # of which each letter but one does something elsewhere
    Image.fromarray(drive.picture()).save("naming.jpg")
    press(ENTER)
    report["renamed"] = [
        names(),
        naming.path,
        len(player.history.done),
        f"moons  (left)##{BALL}" in drive.places,
    ]
    report["letters"] = [[path.name for path in Path().glob("*.png")], len(scene.fluid.forces)]
    press(ord("z"), CONTROL)
    report["undone"] = names()
    press(ord("y"), CONTROL)
    report["redone"] = names()

    # F2: taken, empty, given up; nothing has changed
    said = []
    press(F2)
    drive.type_text("source")
    press(ENTER)
    said += [player.message, list(naming.path or ())]
    Image.fromarray(drive.picture()).save("taken.png")
    press(BACKSPACE)
    press(ENTER)
    said += [player.message, list(naming.path or ())]
    drive.type_text("a.b")
    press(ENTER)
    said += [player.message]
    press(ESCAPE)
    closing = bool(glfw.window_should_close(player.window.handle))
    report["refused"] = [said, naming.path, closing, names(), len(player.history.done)]
    x = SIZE[0] - 100
    for _ in range(12):  # down to where the list is not seen
        drive.hand.send(MOTION, x, 300)
        drive.hand.send(BUTTON_PRESS, x, 300, WHEEL_UP + 1)
        drive.frames(1)
    unseen = drive.places["Objects"][3] < FIRST
    press(F2)
    drive.frames(2)
    report["scrolled"] = [unseen, studio.ui.wants_keys, drive.places["##name"][1] > FIRST]
    drive.type_text("star")
    press(ESCAPE)
    report["given_up"] = [naming.path, names()]
    # a click elsewhere keeps it, of what had no name too; folded, the list opens
    drive.scroll_to("Objects")
    drive.press_widget("Objects")
    drive.frames(1)
    editor.select(("lights", 0))
    press(F2)
    drive.type_text("lamp")
    drive.press_widget(f"source  (left)##{SOURCE}")
    drive.frames(2)
    report["kept"] = [names(), list(editor.selected or ()), f"lamp##{LAMP}" in drive.places]

    # a copy, by key; dragged at once
    drive.press_widget(f"moons  (left)##{BALL}")
    before = len(player.history.done)
    press(ord("d"), CONTROL)
    balls = scene.fluid.obstacles
    report["copied"] = [len(balls), list(editor.selected or ()), "moons 2" in scene.names]
    report["beside"] = [list(ball.position) for ball in balls]
    Image.fromarray(drive.picture()).save("copied.png")
    x, y = drive.seen_at(balls[1].position)
    drive.drag((x, y), [(x, y + 8), (x, y + 16)])
    report["dragged"] = [list(ball.position) for ball in balls]
    report["two_edits"] = len(player.history.done) - before
    press(ord("z"), CONTROL)
    press(ord("z"), CONTROL)
    report["uncopied"] = [len(balls), names(), editor.selected]
    press(DELETE)  # of nothing
    press(ord("y"), CONTROL)
    press(ord("y"), CONTROL)
    report["copied_again"] = [[list(ball.position) for ball in balls], names()]
    # by button
    drive.press_widget(f"source  (left)##{SOURCE}")
    drive.press_widget("Duplicate")
    drive.frames(2)
    report["button"] = [[list(e.position) for e in scene.fluid.emitters], list(editor.selected or ())]

    # a box, in Flow; its view follows
    drive.press_widget("Objects")
    drive.frames(2)
    double_click("left###fluids-0")
    drive.type_text("room")
    press(ENTER)
    report["box"] = [list(scene.box_names), [view.box for view in scene.views]]
    drive.press_widget("Flow")
    drive.press_widget("Views")
    drive.frames(2)

    # a view: chosen by its name, renamed, copied by key and button, taken away
    drive.press_widget("sparks  (room)###views-0", 0.3)
    drive.frames(1)
    report["view"] = [list(editor.selected or ())]
    press(F2)
    drive.type_text("glow")
    press(ENTER)
    press(ord("d"), CONTROL)
    report["view"] += [names(), list(editor.selected or ())]
    Image.fromarray(drive.picture()).save("views.png")
    drive.scroll_to("Duplicate view")
    drive.press_widget("Duplicate view")
    drive.frames(1)
    report["view"] += [len(scene.views)]
    press(DELETE)
    report["view"] += [len(scene.views)]
    drive.scroll_to("glow  (room)###views-0")
    double_click("glow  (room)###views-0")
    report["view"] += [list(naming.path or ())]
    press(ESCAPE)

    # saved in place, and read again; a scene that starts again has all of it too
    drive.press_widget("Reset")
    drive.frames(1)
    scene = player.scene
    report["reset"] = [names(), [len(f.obstacles) for f in scene.fluids], len(scene.views)]
    press(ord(" "))
    press(ord("s"), CONTROL)
    report["said"] = player.message
    report["text"] = Path("scene.toml").read_text()
    drive.press_widget("Reload")
    drive.frames(1)
    scene = player.scene
    report["reloaded"] = [names(), [len(f.obstacles) for f in scene.fluids], len(scene.views)]

    # what is told stands while the pointer is over it
    press(ord(" "))
    drive.hand.send(MOTION, 100, 100)
    player.say("something that takes a while to read")
    waits = [player.told._until]
    drive.frames(3)
    assert player.told._until is not None
    waits += [player.told._until - time.perf_counter()]
    left = np.s_[SIZE[1] - 60 :, : player.stage.area[2]]
    shown = drive.picture()[left].astype(float)
    drive.hand.send(MOTION, 40, SIZE[1] - 22)
    drive.frames(2)
    player.told._until = 0.0
    held = drive.picture()[left].astype(float)
    drive.hand.send(MOTION, 100, 100)
    drive.frames(2)
    gone = drive.picture()[left].astype(float)
    report["told"] = [waits, float(np.abs(held - shown).mean()), float(np.abs(gone - shown).mean())]


if __name__ == "__main__":
    hold("names", SIZE, SCENE, session)
