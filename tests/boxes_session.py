"""A session in the studio with two boxes and meshes from files; test_studio_boxes.py runs it under Xvfb."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import glfw
import msgspec
import numpy as np
from PIL import Image
from studio_session import CONTROL, KEY_RELEASE, Driver, hold
from window_session import KEY_PRESS

import gpufluid as gf

CONTROL_KEY = 0xFFE3
BOX = """
[[containers]]
grid = {{ cells = [{n}, 18, 12], cell_size = 0.06, origin = [{x}, 0.0, -0.36] }}
settings = {{ buoyancy = 2.0, pressure = {{ kind = "jacobi", iterations = 6 }} }}
[[containers.emitters]]
shape = {{ kind = "sphere", center = [{center}, 0.25, 0.0], radius = 0.15 }}
density = 6.0
temperature = 1.0
"""
SCENE = """\
dt = 0.04
floor = 0.0
[camera]
target = [0.0, 0.5, 0.0]
distance = 3.4
[picture]
slices = 12
size = [160, 320]
"""
WEDGE = "v 0 0 0\nv 2 0 0\nv 0 2 0\nv 0 0 2\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def session(drive: Driver, report: dict[str, Any]) -> None:
    """Everything a user does, in turn."""
    player = drive.player
    scene = player.scene
    studio = drive.open_studio()
    drive.simulated(3)
    drive.press(ord(" "))
    drive.press_widget("Flow")
    drive.frames(1)

    def choose_box(name: str) -> None:
        drive.press_widget("##box")
        drive.frames(1)
        drive.press_widget(name)

    def undo() -> None:
        """Ctrl-Z as X tells it: what goes up is still down in its own event."""
        code = drive.code(CONTROL_KEY)
        drive.send(KEY_PRESS, detail=code)
        drive.press(ord("z"), CONTROL)
        drive.send(KEY_RELEASE, detail=code, state=CONTROL)

    # an object for the second box, by its selector
    choose_box("box 2")
    report["box"] = studio.editor.box
    drive.press_widget("Add ...")
    drive.frames(1)
    drive.press_widget("  sphere##obstacles")
    report["added"] = [[len(f.obstacles) for f in scene.fluids], list(studio.editor.selected or ())]
    report["inside"] = scene.fluids[1].obstacles[0].position[0] > 0.1
    # one that is picked chooses its box: the source of the first, in the picture
    x, y = drive.seen_at((-0.5, 0.25, 0.0))
    drive.click(x, y)
    report["picked"] = [list(studio.editor.selected or ()), studio.editor.box]

    # a mesh: no file, a bad file, a good one; typed, then by the dialog
    drive.press_widget("Add ...")
    drive.frames(1)
    drive.press_widget("  mesh file ...##obstacles")
    drive.frames(1)
    said = []
    for name in ("none.obj", "bad.obj", "wedge.obj"):
        drive.press_widget("##mesh, obstacles")
        drive.press(ord("a"), CONTROL)
        drive.type_text(name)
        if name == "bad.obj":
            drive.press_widget("Add mesh")
            drive.frames(2)
            Image.fromarray(drive.picture()).save("bad_mesh.png")
        else:
            drive.press(0xFF0D)  # enter
        said.append(studio.objects.form.fields["mesh"].wrong)
    report["said"] = said
    report["meshes"] = [[type(o.shape).__name__ for o in f.obstacles] for f in scene.fluids]
    mesh = scene.fluids[0].obstacles[0].shape
    report["fitted"] = float(np.ptp(mesh.vertices, axis=0).max())
    solid = scene.fluids[0].solid.read()
    report["solid"] = float(solid.sum())
    drive.frames(2)
    Image.fromarray(drive.picture()).save("mesh.png")
    drive.press(ord("z"), CONTROL)
    report["undone"] = len(scene.fluids[0].obstacles)
    drive.press(ord("y"), CONTROL)
    drive.press_widget("Add ...")
    drive.frames(1)
    drive.press_widget("  mesh file ...##emitters")
    drive.frames(1)
    drive.press_widget("...")
    for _ in range(200):
        drive.frames(1)
        if "chosen" in studio.objects.form.fields["mesh"].text:
            break
    report["dialog"] = studio.objects.form.fields["mesh"].text
    drive.frames(1)
    report["surface"] = [type(e.shape).__name__ for e in scene.fluids[0].emitters]

    # a view of the second box
    drive.scroll_to("Objects")
    drive.press_widget("Objects")
    drive.frames(1)
    drive.press_widget("Views")
    drive.frames(1)
    left = np.s_[:, : player.stage.area[2] // 2]
    right = np.s_[:, player.stage.area[2] // 2 : player.stage.area[2]]

    def seen() -> np.ndarray:
        """The window without what it says for some seconds, or a slow machine differs from a fast one."""
        player.told._until = 0.0
        return drive.picture().astype(float)

    studio.editor.select(None)  # a click on a view's name chooses that, and the outline goes
    before = seen()
    drawn = player.stage.renderer.read().astype(float)
    report["upright"] = float(np.median(np.abs(before[:, : drawn.shape[1]] - drawn)))
    choose_box("box 2")
    drive.press_widget("Add view ...")
    drive.frames(1)
    drive.press_widget("  slice##views")
    drive.frames(1)

    def viewed() -> list[float]:
        """What the views change in the left half of the picture and in the right one."""
        drive.frames(1)
        now = seen()
        return [float(np.abs(now - before)[part].mean()) for part in (left, right)]

    report["viewed"] = viewed()
    report["views"] = [view.box for view in scene.views]
    # its fields: a slider, the boxes, on and off; each is undone
    (view,) = scene.views
    drive.press_widget("slice  (box 2)###views-0")
    drive.frames(1)
    drive.scroll_to("##opacity")
    drive.press_widget("##opacity", 0.6)
    report["opacity"] = [view.opacity]
    undo()
    report["opacity"] += [view.opacity]
    drive.scroll_to("##of")
    drive.press_widget("##of")
    drive.frames(1)
    drive.press_widget("every box")
    report["every_box"] = [view.box, *viewed()]
    Image.fromarray(drive.picture()).save("view_of_every_box.png")
    undo()
    report["one_box"] = [view.box, *viewed()]
    drive.scroll_to("##visible 0")
    drive.press_widget("##visible 0")
    report["hidden"] = [view.visible, *viewed()]
    undo()
    Image.fromarray(drive.picture()).save("view_of_box_2.png")
    drive.scroll_to("Remove view")
    drive.press_widget("Remove view")
    report["no_view"] = [len(scene.views), *viewed()]
    undo()
    # a view that cannot be drawn any more is hidden, and the window goes on
    drive.frames(1)
    drive.scroll_to("Add view ...")
    drive.press_widget("Add view ...")
    drive.frames(1)
    drive.press_widget("  particles##views")
    scene.views[1].sources = [gf.ParticleSource(gf.Sphere((-9.0, 0.0, 0.0), 0.1))]
    drive.frames(2)
    report["failing"] = [scene.views[1].visible, player.message]
    undo()
    report["left"] = [type(each).__name__ for each in scene.views]
    drive.frames(1)
    drive.scroll_to("Histogram")
    drive.press_widget("Histogram")
    drive.frames(2)
    report["chart"] = [[chart.box for chart in studio.views.charts], *viewed()]
    Image.fromarray(drive.picture()).save("histogram.png")
    drive.press_widget("Histogram")
    drive.frames(1)
    drive.scroll_to("Views")

    # another grid for the second box, then for the first; a restart keeps both, and the view
    drive.press_widget("Views")
    drive.scroll_to("Grid")
    drive.press_widget("Grid")
    drive.frames(1)
    report["shown_cells"] = list(studio.grid.cells)
    studio.grid.cells = [8, 12, 8]
    drive.scroll_to("Rebuild")
    Image.fromarray(drive.picture()).save("grid_of_box_2.png")
    drive.press_widget("Rebuild")
    report["rebuilt"] = [list(f.grid.cells) for f in player.scene.fluids]
    choose_box("box 1")
    drive.frames(1)
    studio.grid.cells = [6, 9, 6]
    drive.press_widget("Rebuild")
    drive.press_widget("Reset")
    report["again"] = [list(f.grid.cells) for f in player.scene.fluids]
    report["sizes"] = [list(f.grid.size) for f in player.scene.fluids]
    report["kept"] = [[len(f.obstacles), len(f.emitters)] for f in player.scene.fluids]
    drive.frames(2)
    report["views_again"] = [view.box for view in player.scene.views]

    # the passes of both boxes
    drive.press_widget("Grid")
    drive.scroll_to("Passes")
    drive.press_widget("Passes")
    studio.passes.measured = 0.0
    drive.simulated(2)
    report["passes"] = sorted(studio.passes.taken)
    devices = {id(f.device) for f in player.scene.fluids}
    report["devices"] = len(devices)

    # a screen on which all is twice as large
    panel = studio.panel_pixels
    scale_of = glfw.get_window_content_scale
    glfw.get_window_content_scale = lambda handle: (2.0, 2.0)
    drive.frames(2)
    whole = player.stage.area[2] + studio.panel_pixels == player.stage.size[0]
    report["large"] = [studio.panel_pixels > panel, whole]
    glfw.get_window_content_scale = scale_of
    drive.frames(2)

    # what was added is in the saved scene, by its file
    Path("scene.toml").unlink()
    studio.files.save()
    saved = msgspec.toml.decode(Path("scene.toml").read_text())
    report["saved"] = [box.get("obstacles") for box in saved["containers"]]
    report["saved_views"] = saved["views"]
    again = gf.Scene.load("scene.toml", player.window.ctx)
    report["loaded"] = [[type(o.shape).__name__ for o in f.obstacles] for f in again.fluids]
    again.release()

    # the file is saved by an editor: read again; with a mistake in it: told, and the scene goes on
    def edited(text: str) -> gf.Scene:
        Path("scene.toml").write_text(text)
        time.sleep(0.3)
        drive.frames(2)
        return player.scene

    before = player.scene
    fresh = edited(SCENE.replace("0.04", "0.02") + BOX.format(n=8, x=0.0, center=0.2))
    report["live"] = [fresh is not before, fresh.dt, len(fresh.fluids)]
    kept = edited("dt = 'x'") is fresh
    report["mistaken"] = [kept, player.message, player.title]
    edited(SCENE + BOX.format(n=8, x=0.0, center=0.2))
    report["mended"] = player.title


def main() -> None:
    boxes = BOX.format(n=14, x=-0.92, center=-0.5), BOX.format(n=12, x=0.08, center=0.44)
    for name, text in (("wedge.obj", WEDGE), ("chosen.obj", WEDGE), ("bad.obj", "no mesh at all\n")):
        Path(name).write_text(text)
    # stands in for the system's dialog, which no test could click
    dialog = Path("bin/zenity")
    dialog.parent.mkdir()
    dialog.write_text(f"#!/bin/sh\necho {Path('chosen.obj').absolute()}\n")
    dialog.chmod(0o755)
    os.environ["PATH"] = f"{dialog.parent.absolute()}{os.pathsep}{os.environ['PATH']}"
    hold("boxes", (760, 460), SCENE + "".join(boxes), session)


if __name__ == "__main__":
    main()
