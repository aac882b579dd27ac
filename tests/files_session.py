"""Files in the studio, and what the command line asks for; test_studio_files.py runs it under Xvfb."""

from __future__ import annotations

import ctypes
import json
import os
import time
from pathlib import Path
from typing import Any

import glfw
import numpy as np
from boxes_session import WEDGE
from PIL import Image
from studio_session import CONTROL, CONTROL_KEY, ESCAPE, KEY_RELEASE, SCENE, SIZE, Driver, Watcher
from window_session import KEY_PRESS

import gpufluid as gf
from gpufluid.app.player import Player
from gpufluid.app.window import Window
from gpufluid.render import frame_targets

CELLS, ENTER = (12, 18, 12), 0xFF0D
LONG = 60  # seconds that the dialog stays open by itself


def drop(drive: Driver, *names: str) -> None:
    """Let go of files over the window: glfw calls what is registered for that."""
    handle = drive.player.window.handle
    take = glfw.set_drop_callback(handle, None)  # type: ignore[arg-type]
    glfw.set_drop_callback(handle, drive.player.controls._on_drop)
    paths = (ctypes.c_char_p * len(names))(*(str(Path(name).absolute()).encode() for name in names))
    take(handle, len(names), paths)
    drive.frames(2)


def enter(drive: Driver, label: str, text: str) -> None:
    """Type another text into a field, and press enter."""
    drive.press_widget(label)
    drive.press(ord("a"), CONTROL)
    drive.type_text(text)
    drive.press(ENTER)
    drive.frames(2)


def cells_of_the_file() -> str:
    """The line that says them."""
    return next(line for line in Path("scene.toml").read_text().splitlines() if line.startswith("cells"))


def session(drive: Driver, report: dict[str, Any]) -> None:
    """Everything a user does, in turn."""
    player = drive.player
    studio = drive.open_studio()
    drive.press(ord(" "))
    for title in ("Flow", "Objects"):
        drive.press_widget(title)
    drive.frames(2)

    def fold(title: str) -> None:
        drive.press_widget(title)
        drive.frames(2)

    # what the command line asks for
    drive.press(ord("d"))
    drive.press(ord("s"), CONTROL)
    text = Path("scene.toml").read_text()
    report["saved"] = [cells_of_the_file(), "viscosity" in text, '"wind"' in text, player.message]
    drive.press_widget("Reset")
    drive.frames()
    report["reset"] = list(player.scene.fluid.grid.cells)
    drive.press(ord(" "))
    drive.press(ord("s"), CONTROL)
    report["saved_again"] = [cells_of_the_file(), player.message]
    fold("Grid")
    report["told"] = [name for name in drive.places if "--cells" in name]
    drive.scroll_to("Rebuild")
    drive.press_widget("Rebuild")
    drive.frames()
    report["kept_by_hand"] = player.unsaved
    drive.press(ord("s"), CONTROL)
    report["rebuilt"] = [cells_of_the_file(), player.message]
    fold("Grid")

    # a photograph: none, no picture, a good one typed, another pasted
    fold("Picture")
    fold("picture")
    before = player.scene.picture.background
    drive.press_widget("##background")
    drive.frames(2)
    drive.press_widget("a picture file")
    drive.frames(2)
    said = []
    for name in ("none.png", "bad.png"):
        enter(drive, "##picture file", name)
        said.append([label for label in drive.places if label.startswith("image file")][-1])
    report["bad_plates"] = said
    Image.fromarray(drive.picture()).save("bad_plate.png")
    report["untouched"] = player.scene.picture.background == before
    enter(drive, "##picture file", "plate.png")
    report["plate"] = repr(player.scene.picture.background)
    Image.fromarray(drive.picture()).save("plate_shown.png")
    drive.press(ord("s"), CONTROL)
    report["plate_saved"] = [line for line in Path("scene.toml").read_text().splitlines() if "plate" in line]
    glfw.set_clipboard_string(None, str(Path("folder/wide.png").absolute()))
    drive.press_widget("##picture file")
    drive.press(ord("a"), CONTROL)
    code = drive.code(CONTROL_KEY)
    drive.send(KEY_PRESS, detail=code)
    drive.press(ord("v"), CONTROL)
    drive.send(KEY_RELEASE, detail=code, state=CONTROL)
    drive.press(ENTER)
    drive.frames(2)
    report["pasted"] = repr(player.scene.picture.background)
    report["its_name"] = studio.files.words_of(player.scene.picture, "background")
    drive.press(ord("z"), CONTROL)
    drive.frames(2)
    report["back"] = [
        repr(player.scene.picture.background),
        studio.files.words_of(player.scene.picture, "background"),
    ]
    drive.press_widget("##background")
    drive.frames(2)
    drive.press_widget("a color")
    drive.frames(2)
    report["color"] = list(player.scene.picture.background)
    drop(drive, "plate.png")
    report["dropped_plate"] = repr(player.scene.picture.background)
    drive.press(ord("z"), CONTROL)
    drive.press(ord("z"), CONTROL)
    drive.press(ord("z"), CONTROL)
    report["first"] = player.scene.picture.background
    fold("Picture")

    # objects by files: an image that emits, a mesh dropped, and the same with another file
    fold("Objects")
    drive.press_widget("Add ...")
    drive.frames(2)
    drive.press_widget("  image file ...##emitters")
    drive.frames(2)
    enter(drive, "##image, sources", "plate.png")
    emitter = player.scene.fluid.emitters[-1]
    report["image"] = [type(emitter.shape).__name__, list(emitter.shape.size)]
    # arrays: a source, and a force with another file in its place
    for group, name in (("emitters", "small.npy"), ("emitters", "mist.npy"), ("forces", "wind.npy")):
        drive.press_widget("Add ...")
        drive.frames(2)
        drive.press_widget(f"  array file ...##{group}")
        drive.frames(2)
        enter(drive, f"##array, {'sources' if group == 'emitters' else group}", name)
        if name == "small.npy":
            report["small"] = studio.objects.form.fields["array"].wrong
            drive.press_widget("Cancel")
            drive.frames(2)
    force = player.scene.fluid.forces[-1]
    report["arrays"] = [type(player.scene.fluid.emitters[-1].shape).__name__, type(force).__name__]
    enter(drive, "##array file", "gust.npy")
    report["gust"] = [float(force.values.max()), studio.files.words_of(force, "values")]
    drive.press(ord("z"), CONTROL)
    report["gust_undone"] = [float(force.values.max()), studio.files.words_of(force, "values")]
    drive.press(ord("y"), CONTROL)
    drive.frames(2)
    drop(drive, "wind.npy")
    report["array_dropped"] = player.message

    drive.press_widget("Add ...")
    drive.frames(2)
    drive.press_widget("  mesh file ...##obstacles")
    drive.frames(2)
    for _ in range(2):  # a dialog that stays open, while the flow runs and it is asked for again
        drive.press_widget("...")
        drive.frames(2)
    report["dialogs"] = len(Path("dialogs").read_text().splitlines())
    drive.press_widget("Cancel")
    drive.frames(2)
    drop(drive, "wedge.obj")
    report["dropped"] = [type(o.shape).__name__ for o in player.scene.fluid.obstacles]
    Image.fromarray(drive.picture()).save("wedge.png")
    solid, before = player.scene.fluid.obstacles[-1], player.scene.fluid.obstacles[-1].shape
    enter(drive, "##mesh file", "gone.obj")
    report["gone"] = [
        solid.shape is before,
        [name for name in drive.places if name.startswith("mesh file")][-1],
    ]
    enter(drive, "##mesh file", "folder/other.obj")
    report["other"] = [solid.shape is before, round(float(np.ptp(solid.shape.vertices, axis=0).max()), 4)]
    drive.press(ord("s"), CONTROL)
    report["files"] = [line for line in Path("scene.toml").read_text().splitlines() if "file =" in line]
    drive.press(ord("z"), CONTROL)
    report["other_undone"] = solid.shape is before
    edits = len(player.history.done)
    drive.press_widget("##mesh file")
    drive.type_text("abc")
    drive.press(ESCAPE)
    drive.frames(2)
    report["escaped"] = [len(player.history.done) - edits, studio.objects._shown["mesh"].text]
    drop(drive, "../outside.obj")
    report["outside"] = player.message
    drive.press(ord("s"), CONTROL)
    report["unsaved"] = player.message
    drive.press_widget("...")  # and another, as the window is closed
    drive.frames(2)
    drop(drive, "note.txt")
    report["note"] = player.message

    # another scene
    Path("next.toml").write_text(SCENE.replace('"session"', '"next"'))
    Path("wrong.toml").write_text("dt = 'long'\n")
    drop(drive, "next.toml")
    report["asked"] = [player.scene.title, player.message]
    drop(drive, "next.toml")
    report["opened"] = [player.scene.title, player.unsaved]
    drop(drive, "wrong.toml")
    report["wrong"] = [player.scene.title, player.message]
    drive.press(ord("d"))
    drive.press(ord("s"), CONTROL)
    report["next_saved"] = ["wind" in Path("next.toml").read_text(), Path("wrong.toml").read_text()]


def main() -> None:
    """Hold the session, with what a command line might ask for, and print what it reports, as JSON."""
    report: dict[str, Any] = {}
    frame_targets.SAMPLES = min(frame_targets.SAMPLES, 1)
    Path("scene.toml").write_text(SCENE)
    Path("folder").mkdir(exist_ok=True)
    files = (
        ("wedge.obj", WEDGE),
        ("folder/other.obj", WEDGE),
        ("../outside.obj", WEDGE),
        ("bad.png", "no picture"),
    )
    for name, text in (*files, ("note.txt", "")):
        Path(name).write_text(text)
    for name, width in (("plate.png", 16), ("folder/wide.png", 32)):
        Image.fromarray(np.full((8, width, 3), (40, 160, 220), np.uint8)).save(name)
    shape = CELLS[::-1]
    for name, values in (
        ("mist.npy", np.ones(shape)),
        ("wind.npy", np.ones((*shape, 3))),
        ("gust.npy", np.full((*shape, 3), 2.0)),
        ("small.npy", np.ones((2, 2, 2))),
    ):
        np.save(name, values)
    dialog = Path("bin/zenity")
    dialog.parent.mkdir(exist_ok=True)
    dialog.write_text(f"#!/bin/sh\necho asked >> dialogs\nexec sleep {LONG}\n")
    dialog.chmod(0o755)
    os.environ["PATH"] = f"{dialog.parent.absolute()}:{os.environ['PATH']}"
    asked: dict[str, Any] = {"cells": CELLS, "changes": ["settings.viscosity=0.001"]}
    with Window((SIZE[0], 620), "files") as window:

        def make(**more: Any) -> gf.Scene:
            return gf.Scene.load("scene.toml", window.ctx, **(asked | more))

        watcher = Watcher()
        with Player(window, make, "files", Path("scene.toml"), asked) as player:
            session(Driver(player, watcher), report)
            began = time.monotonic()
    report["closed_in"] = time.monotonic() - began
    print(json.dumps(report))


if __name__ == "__main__":
    main()
