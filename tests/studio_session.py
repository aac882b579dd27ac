"""A session in the studio, as a program of its own: test_studio.py runs it under Xvfb, reads what it prints.

Input goes the way a user's does, as in window_session.py. Where a widget is, the session learns from ImGui
itself, as it draws them.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import glfw
import msgspec
import numpy as np
from PIL import Image
from window_session import BUTTON_PRESS, BUTTON_RELEASE, KEY_PRESS, LEFT, MOTION, WHEEL_UP, Hand

import gpufluid as gf
from gpufluid.app.player import Player
from gpufluid.app.studio import file_field, files, hands, objects, overlay, rows, sections, sides, studio
from gpufluid.app.studio.views import Shown
from gpufluid.app.window import Window
from gpufluid.render import frame_targets

KEY_RELEASE = 3
CONTROL_KEY = 0xFFE3
SHIFT, CONTROL, ALT = 1, 4, 8  # bits of an X event's state
ESCAPE, TAB, SHIFT_KEY, LEFT_KEY = 0xFF1B, 0xFF09, 0xFFE1, 0xFF51
SIZE = (560, 440)
PANEL = (studio, file_field, files, hands, objects, overlay, rows, sections, sides)
FIRST = 105  # where what the panel scrolls begins
SCENE = """\
title = "session"
dt = 0.04
floor = 0.0

[grid]
cells = [24, 36, 24]
cell_size = 0.04
origin = [-0.48, 0.0, -0.48]

[settings]
buoyancy = 2.0
pressure = { kind = "jacobi", iterations = 12 }

[[emitters]]
name = "source"
shape = { kind = "sphere", radius = 0.1 }
position = [0.0, 0.2, 0.0]
density = { formula = "3 + t" }
temperature = 1.0

[[obstacles]]
name = "ball"
shape = { kind = "sphere", radius = 0.15 }
position = [0.0, 0.9, 0.0]

[camera]
target = [0.0, 0.72, 0.0]
distance = 3.2

[picture]
slices = 16
size = [160, 320]
"""


class Watcher:
    """ImGui as the studio sees it from now on, which notes where each widget was drawn last."""

    def __init__(self) -> None:
        self.imgui, self.places = studio.imgui, {}
        for module in PANEL:
            module.imgui = self  # type: ignore[assignment]

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.imgui, name)
        if name not in (
            *(
                "button",
                "checkbox",
                "slider_float",
                "slider_int",
                "selectable",
                "collapsing_header",
                "tree_node",
                "tree_node_ex",
            ),
            *(
                "begin_combo",
                "drag_float2",
                "drag_float3",
                "input_text",
                "input_text_with_hint",
                "input_int3",
                "small_button",
                "text_disabled",
                "text_wrapped",
            ),
        ):
            return found

        def watched(label: str, *rest: Any, **more: Any) -> Any:
            result = found(label, *rest, **more)
            low, high = self.imgui.get_item_rect_min(), self.imgui.get_item_rect_max()
            self.places[label] = low.x, low.y, high.x, high.y
            return result

        return watched


class Driver:
    """A hand on a player's window that waits until what it did was seen.

    The scene is drawn anew where the session waits for frames, which takes most of its time; with each event,
    of which a click has three and a word one a letter, the panel is, beside the picture that there was.
    """

    def __init__(self, player: Player, watcher: Watcher) -> None:
        self.player, self.places = player, watcher.places
        self.hand = Hand(player.window.handle)
        self.ticks = 0

    def open_studio(self) -> studio.Studio:
        """Show the panel, and return what it is of."""
        self.press(TAB)
        assert self.player.studio is not None
        return self.player.studio

    def frames(self, count: int = 2) -> None:
        """Let the loop run, and draw the last picture of it."""
        self.panel_frames(count - 1)
        self.ticks += 1
        self.player.tick()

    def panel_frames(self, count: int = 1) -> None:
        """Let the loop run with the picture as it is."""
        renderer = self.player.stage.renderer
        renderer.draw = lambda scene: None  # type: ignore[method-assign]
        for _ in range(count):
            self.ticks += 1
            self.player.tick()
        del renderer.draw

    def simulated(self, count: int) -> None:
        """Let the loop run until so many frames were simulated."""
        for _ in range(20 * count):
            self.ticks += 1
            count -= self.player.tick()
            if not count:
                return
        raise AssertionError("nothing is simulated")

    def send(self, kind: int, x: float = 0, y: float = 0, detail: int = 0, state: int = 0) -> None:
        """An event, and the frame that takes it."""
        self.hand.send(kind, round(x), round(y), detail, state)
        self.panel_frames()

    def code(self, keysym: int) -> int:
        """The keyboard's own number of a key."""
        return int(self.hand.x11.XKeysymToKeycode(self.hand.display, keysym))

    def press(self, keysym: int, state: int = 0) -> None:
        """A key, down and up."""
        code = self.code(keysym)
        self.hand.send(KEY_PRESS, detail=code, state=state)
        self.send(KEY_RELEASE, detail=code, state=state)

    def type_text(self, text: str) -> None:
        for letter in text:
            self.press(ord(letter))

    def click(self, x: float, y: float) -> None:
        """Press and let go there."""
        self.hand.send(MOTION, round(x), round(y))
        self.send(BUTTON_PRESS, x, y, LEFT)
        self.send(BUTTON_RELEASE, x, y, LEFT)
        self.panel_frames()

    def press_widget(self, label: str, share: float = 0.5) -> None:
        """Click a widget, at a share of its width."""
        x0, y0, x1, y1 = self.places[label]
        self.click(x0 + share * (x1 - x0), 0.5 * (y0 + y1))

    def scroll_to(self, label: str) -> None:
        """Turn the wheel over the panel until a widget is in it."""
        for _ in range(40):
            _, top, _, bottom = self.places[label]
            if top >= FIRST and bottom < self.player.stage.size[1] - 8:
                return
            x = self.player.stage.size[0] - 100
            self.hand.send(MOTION, x, 300)
            self.hand.send(BUTTON_PRESS, x, 300, WHEEL_UP + (top > FIRST))
            self.panel_frames()
        raise AssertionError(f"{label} is not in the panel: {self.places[label]}")

    def drag(
        self,
        start: tuple[float, float],
        ends: list[tuple[float, float]],
        state: int = 0,
        during: Callable[[], object] = lambda: None,
    ) -> None:
        """Press, go from place to place, see what happened, let go."""
        self.hand.send(MOTION, round(start[0]), round(start[1]))
        self.send(BUTTON_PRESS, *start, LEFT, state)
        for end in ends:
            self.hand.send(MOTION, round(end[0]), round(end[1]), state=state)
            self.frames(1) if self.player.paused else self.simulated(1)
        during()
        self.send(BUTTON_RELEASE, *ends[-1], LEFT, state)

    def seen_at(self, point: tuple[float, float, float]) -> tuple[float, float]:
        """Where a point of the scene is in the window."""
        from gpufluid.render.camera import view_of

        left, bottom, width, height = self.player.stage.picture_area
        x, y, _, w = view_of(self.player.stage.camera, width / height).clip.astype(float) @ [*point, 1.0]
        top = self.player.stage.size[1] - bottom - height
        return left + 0.5 * (x / w + 1.0) * width, top + 0.5 * (1.0 - y / w) * height

    def picture(self) -> np.ndarray:
        """The whole window as it is shown, [height, width, 3]."""
        taken: list[np.ndarray] = []
        swap = glfw.swap_buffers

        def take(handle: Any) -> None:
            width, height = self.player.stage.size
            raw = self.player.window.ctx.screen.read(
                viewport=(0, 0, width, height), components=3, alignment=1
            )
            taken.append(np.frombuffer(raw, np.uint8).reshape(height, width, 3)[::-1])
            swap(handle)

        glfw.swap_buffers = take
        try:
            self.frames(1)
        finally:
            glfw.swap_buffers = swap
        return taken[-1]


def wind_near(fluid: gf.Fluid, place: tuple[float, float, float], radius: float) -> float:
    """The mean velocity along x within `radius` of a place, m/s, where there is no solid."""
    grid = fluid.grid
    z, y, x = np.meshgrid(*(np.arange(n) + 0.5 for n in grid.cells[::-1]), indexing="ij")
    points = np.stack([x, y, z], axis=-1) * grid.cell_size + grid.origin
    near = (np.linalg.norm(points - place, axis=-1) < radius) & (fluid.solid.read() < 0.5)
    return float(fluid.velocity.at_centers()[near, 0].mean())


def hold(
    name: str, size: tuple[int, int], scene: str, session: Callable[[Driver, dict[str, Any]], None]
) -> None:
    """Hold a session in a window that shows a scene's text, and print what it reports, as JSON."""
    report: dict[str, Any] = {}
    frame_targets.SAMPLES = min(frame_targets.SAMPLES, 1)  # outlines of solids are no concern of the panel's
    Path("scene.toml").write_text(scene)
    watcher = Watcher()
    with Window(size, name) as window:

        def make(**more: Any) -> gf.Scene:
            return gf.Scene.load("scene.toml", window.ctx, **more)

        with Player(window, make, name, Path("scene.toml")) as player:
            session(Driver(player, watcher), report)
    print(json.dumps(report))


def session(drive: Driver, report: dict[str, Any]) -> None:
    """Everything a user does, in turn."""
    player = drive.player
    scene = player.scene
    plain = drive.picture()
    studio = drive.open_studio()
    drive.frames(2)
    report["tab"] = [studio.shown, list(player.stage.renderer.size)]
    report["title_panel"] = float(np.abs(drive.picture()[:, 400:].astype(float) - plain[:, 400:]).mean())

    # play, pause, a single step
    drive.simulated(2)
    drive.press(ord(" "))
    paused_at = scene.frame
    drive.frames(3)
    report["paused"] = [player.paused, scene.frame - paused_at]
    drive.press_widget("Step")
    report["stepped"] = scene.frame - paused_at
    drive.press_widget("Play")
    drive.simulated(1)
    report["played"] = [player.paused, scene.frame > paused_at + 1]

    # keys: the source, the wind, the camera
    emitter = scene.fluid.emitters[0]
    drive.press(ord(" "))
    density = emitter.density
    drive.press(ord("="))
    report["stronger"] = emitter.density / density
    drive.press(ord(" "))
    drive.simulated(1)
    report["stays_stronger"] = emitter.density / density  # though the file says a formula
    drive.press(ord(" "))
    drive.press(ord("-"))
    drive.press(ord("-"))
    report["weaker"] = emitter.density / density
    drive.press(ord("d"))
    report["wind"] = list(scene.fluid.forces[0].velocity)
    drive.press(ord("a"))
    report["calm"] = len(scene.fluid.forces)
    azimuth = scene.camera.azimuth
    drive.press(LEFT_KEY)
    report["turned"] = scene.camera.azimuth - azimuth
    scene.camera.azimuth = azimuth

    # picking, and dragging while the flow runs
    drive.press(ord(" "))
    before = player.history.done[:]
    ball = scene.fluid.obstacles[0]
    x, y = drive.seen_at(ball.position)
    still = wind_near(scene.fluid, ball.position, 0.21)

    def stirred() -> None:
        report["stirred"] = [still, wind_near(scene.fluid, ball.position, 0.21)]

    drive.drag((x, y), [(x + 12 * n, y) for n in range(1, 5)], during=stirred)
    report["picked"] = list(studio.editor.selected or ())
    report["ball"] = list(ball.position)
    report["ball_seen"] = list(np.subtract(drive.seen_at(ball.position), (x, y)))
    solid = scene.fluid.solid.read()
    report["solid_x"] = float((solid.sum((0, 1)) * (np.arange(24) + 0.5)).sum() / solid.sum() * 0.04 - 0.48)
    report["one_edit"] = len(player.history.done) - len(before)
    Image.fromarray(drive.picture()).save("studio.png")
    x, y = drive.seen_at(ball.position)
    shift = drive.code(SHIFT_KEY)
    drive.send(KEY_PRESS, detail=shift)
    place = ball.position
    drive.drag((x, y), [(x, y - 20)], state=SHIFT)
    drive.send(KEY_RELEASE, detail=shift)
    report["away"] = [b - a for a, b in zip(place, ball.position, strict=True)]
    drive.press(ord("z"), CONTROL)
    report["undone_away"] = list(ball.position) == list(place)
    drive.press(0xFFFF)  # delete
    report["deleted"] = len(scene.fluid.obstacles)
    drive.press(ord("z"), CONTROL)
    drive.press(ord("z"), CONTROL)
    report["undone"] = list(ball.position)
    drive.press(ord("y"), CONTROL)
    report["redone"] = list(ball.position) == list(place)

    # turning: a drag beside everything, alt and a drag on the ball
    azimuth = scene.camera.azimuth
    drive.drag((20, 480), [(40, 480)])
    report["orbit"] = [scene.camera.azimuth != azimuth, studio.editor.selected]
    azimuth = scene.camera.azimuth
    drive.drag(drive.seen_at(ball.position), [(40, 480)], state=ALT)
    report["alt_orbit"] = [scene.camera.azimuth != azimuth, list(ball.position) == list(place)]

    # a slider, its undo, a choice of the solver
    drive.press(ord(" "))
    drive.press_widget("Objects")
    drive.frames(1)
    drive.scroll_to("##buoyancy")
    drive.press_widget("##buoyancy", 0.9)
    report["slider"] = scene.fluid.settings.buoyancy
    drive.scroll_to("##up")
    code = drive.code(CONTROL_KEY)
    drive.send(KEY_PRESS, detail=code)
    _, y0, x1, y1 = drive.places["##up"]
    drive.send(MOTION, x1 - 10, 0.5 * (y0 + y1))
    drive.send(BUTTON_PRESS, x1 - 10, 0.5 * (y0 + y1), LEFT, CONTROL)
    drive.send(BUTTON_RELEASE, x1 - 10, 0.5 * (y0 + y1), LEFT, CONTROL)
    drive.send(KEY_RELEASE, detail=code, state=CONTROL)
    drive.frames(1)
    drive.type_text("0.1")
    drive.press(0xFF0D)
    report["typed"] = list(scene.fluid.settings.up)
    without = drive.picture()
    _, y0, x1, y1 = drive.places["##buoyancy"]
    drive.hand.send(MOTION, round(x1 - 20), round(0.5 * (y0 + y1)))
    until = time.monotonic() + 100.0
    while np.abs(drive.picture().astype(float) - without).max() < 100.0:
        assert time.monotonic() < until, "no tooltip"
    report["tooltip"] = time.monotonic() < until
    drive.press_widget("Undo")
    drive.press_widget("Undo")
    report["slider_undone"] = scene.fluid.settings.buoyancy
    drive.scroll_to("##pressure")
    drive.press_widget("##pressure")
    drive.press_widget("Multigrid")
    report["solver"] = type(scene.fluid.settings.pressure).__name__
    drive.scroll_to("Objects")
    drive.press_widget("Objects")

    # the hand: push, and smoke
    drive.press(ord(" "))
    drive.press_widget("Push")
    scene.camera.azimuth, scene.camera.elevation = 0.0, 10.0  # past the smoke, in the box's middle plane
    spot = (-0.3, 0.5, 0.0)
    still = wind_near(scene.fluid, spot, 0.1)

    def pushed() -> None:
        report["pushed"] = [still, wind_near(scene.fluid, spot, 0.1)]

    x, y = drive.seen_at(spot)
    drive.drag((x - 10, y), [(x, y), (x + 10, y)], during=pushed)
    report["columns"] = [drive.places["##reach"][0], drive.places["##buoyancy"][0]]
    drive.press_widget("Smoke")
    x, y = drive.seen_at((0.3, 1.3, 0.0))
    above = float(scene.fluid.density.read()[:, 30:].sum())
    drive.drag((x, y), [(x + n, y) for n in range(1, 4)])
    report["smoked"] = [above, float(scene.fluid.density.read()[:, 30:].sum())]
    report["brush_gone"] = [player.controls.brush is None, len(scene.fluid.emitters)]
    drive.press_widget("Select")

    # escape closes what is open first
    drive.press_widget("Add ...")
    drive.frames(1)
    open_before = studio.ui.has_menu
    report["words"] = sorted(drive.places)
    drive.press(ESCAPE)
    drive.frames(1)
    report["escaped"] = [open_before, studio.ui.has_menu, studio.menu]
    drive.press(ord("h"))
    drive.press(ESCAPE)
    report["escaped"] += [studio.helping, bool(glfw.window_should_close(player.window.handle))]

    # a long list shows what is chosen; a chart fills the picture, outlines and all
    drive.frames(1)
    report["right_ends"] = [drive.places["?"][2], drive.places["Redo"][2]]
    for _ in range(8):
        studio.objects.add("obstacles", "sphere")
    drive.frames(3)
    names = [name for name in drive.places if name.endswith(f"##{studio.editor.selected}")]
    report["listed"] = [drive.places[names[0]][3], drive.places["Add ..."][1]]
    studio.editor.select(("fluids", 0, "emitters", 0))
    drive.frames(3)
    names = [name for name in drive.places if name.endswith(f"##{studio.editor.selected}")]
    report["listed_first"] = [drive.places["Objects"][3], drive.places[names[0]][1]]
    for _ in range(8):
        drive.press(ord("z"), CONTROL)
    paused = player.paused
    player.paused = True
    player.told.say("")  # what was told might be gone from the second picture
    studio.views.charts.append(Shown("Histogram", player.window.ctx, 0))
    drive.frames(2)
    with_them = drive.picture()
    studio.picture.outlines = False
    without = drive.picture()
    report["outlines"] = float(np.abs(with_them.astype(float) - without)[:, : player.stage.area[2]].max())
    studio.views.drop(studio.views.charts[0])
    studio.picture.outlines, player.paused = True, paused
    drive.frames(2)

    # add, remove
    drive.press_widget("Add ...")
    drive.frames(1)
    drive.press_widget("  knot##obstacles")
    report["added"] = [len(scene.fluid.obstacles), list(studio.editor.selected or ())]
    drive.simulated(2)
    drive.press_widget("Remove")
    report["removed"] = len(scene.fluid.obstacles)
    drive.press(ord("z"), CONTROL)
    report["unremoved"] = len(scene.fluid.obstacles)

    # pictures and films
    drive.press(ord("s"))
    drive.press_widget("Record")
    drive.simulated(3)
    report["recorded"] = player.recording.frames
    drive.press(ord("r"))
    report["recorder"] = not player.recording.on

    # a view of the flow, in the picture and in what is saved of it
    before_view = player.stage.renderer.read()
    drive.press(ord(" "))
    studio.views.add("slice")
    shown = drive.picture()[:, : player.stage.area[2]]
    report["viewed"] = [
        float(np.abs(player.stage.renderer.read().astype(float) - before_view).mean()),
        float(np.median(np.abs(player.stage.renderer.read().astype(float) - shown))),
    ]
    drive.press(ord("z"), CONTROL)
    drive.press(ord(" "))

    # help, and the panel hidden
    drive.press(ord("h"))
    helped = drive.picture()
    drive.press(ord("h"))
    report["help"] = float(np.abs(helped.astype(float) - drive.picture())[100:400, 100:400].mean())
    glfw.set_window_size(player.window.handle, 700, 420)
    drive.frames(4)
    report["resized"] = [list(player.stage.size), list(player.stage.renderer.size)]
    drive.press(TAB)
    drive.frames(2)
    report["hidden"] = list(player.stage.renderer.size)
    drive.press(TAB)
    glfw.set_window_size(player.window.handle, *SIZE)
    drive.frames(4)

    # start again: what was changed stays changed
    drive.press_widget("Reset")
    again = player.scene
    report["reset"] = [
        again is not scene,
        again.frame < 5,
        list(again.fluid.obstacles[0].position) == list(place),
    ]
    report["reset_objects"] = len(again.fluid.obstacles)

    # save, read again
    drive.press(ord(" "))
    studio.editor.select(None)
    for title in ("Objects", "Flow", "Grid"):
        drive.scroll_to(title)
        drive.press_widget(title)
    studio.player.history.seal()
    drive.scroll_to("Rebuild")
    Image.fromarray(drive.picture()).save("studio_grid.png")
    studio.grid.cells = [16, 24, 16]
    drive.press_widget("Rebuild")
    report["rebuilt"] = [list(player.scene.fluid.grid.cells), list(player.scene.fluid.obstacles[0].position)]
    drive.scroll_to("Passes")
    drive.press_widget("Passes")
    drive.press(ord(" "))
    drive.simulated(1)
    time.sleep(0.6)
    drive.simulated(3)
    report["passes"] = sorted(studio.passes.taken)
    drive.press_widget("Passes")
    drive.press(ord(" "))
    drive.scroll_to("File")
    drive.press_widget("File")
    drive.scroll_to("Save scene")
    frame = player.scene.frame
    drive.press_widget("Save scene")
    time.sleep(0.3)
    drive.frames(3)
    report["not_read_again"] = player.scene.frame == frame and bool(player.history.done)
    report["saved"] = msgspec.toml.decode(Path("scene.toml").read_text())
    drive.press_widget("Reload")
    report["reloaded"] = [len(player.history.done), len(player.scene.fluid.obstacles)]
    drive.press(ESCAPE)
    report["ticks"] = drive.ticks
    report["closing"] = bool(glfw.window_should_close(player.window.handle))


if __name__ == "__main__":
    hold("session", SIZE, SCENE, session)
