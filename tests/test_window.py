"""The window, under Xvfb and in a process of its own."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from driver import python
from PIL import Image
from xvfb import needs_a_screen, report_of, run_under_xvfb

import gpufluid as gf
from gpufluid.app.window import Window

pytestmark = needs_a_screen


@pytest.mark.parametrize("version", ["", "3.3"])
def test_a_session_in_the_window(tmp_path: Path, version: str) -> None:
    override = {"MESA_GL_VERSION_OVERRIDE": version} if version else {}
    report = report_of("window_session.py", tmp_path, **override)
    assert report["version"] == 330 if version else report["version"] >= 430

    # azimuth, elevation, distance, target x, y, z before each frame
    view = {k: report[f"view{k}"] for k in range(9)}
    degrees = 180.0 / 200.0
    assert view[2][0] - view[1][0] == pytest.approx(-60 * degrees)
    assert view[2][1] - view[1][1] == pytest.approx(30 * degrees)
    assert view[3][2] < view[2][2], "the wheel does not go nearer"
    assert view[3][:2] == view[2][:2]
    assert view[4][4] > view[3][4], "dragged down, the scene does not follow"
    assert view[4][:3] == view[3][:3]

    assert view[5][3:] != pytest.approx(report["middle"])
    assert view[8][3:] == pytest.approx(report["middle"]), "f does not look at the box"
    assert view[8][:2] == view[5][:2]

    assert report["way1"] == ["ray-march", 0.5], "software takes its time"
    assert report["way12"] == ["view-slices", 1.0], "what the scene says of slices does not count"
    assert report["way14"] == ["ray-march", 0.5]
    assert report["way16"] == ["view-slices", 1.0], "the method that the scene names does not count"
    assert report["size1"] == [320, 200]
    assert report["size6"] == [260, 180]
    picture = np.asarray(Image.open(tmp_path / "session-0001.png"))
    assert picture.shape == (180, 260, 3)
    assert picture.std() > 5.0, "the picture is of one colour"

    assert report["frame_after_restart"] == 0
    assert report["view9"][:3] == pytest.approx(view[0][:3]), "a restart does not look from the start"
    assert 18 <= report["frames"] < 40, "escape does not close"
    assert "fps" in report["title"]
    assert report["headless_density"] == pytest.approx(0.25)


def test_macos_shows_no_window_of_another_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would end the process; so a film is rendered instead."""
    monkeypatch.setattr(sys, "platform", "darwin")
    said = []

    def open_one() -> None:
        try:
            Window((60, 40), "elsewhere").close()
        except gf.GLUnavailableError as error:
            said.append(str(error))

    thread = Thread(target=open_one)
    thread.start()
    thread.join()
    assert said == ["no window opens here (macOS shows them in the main thread alone)"]


def test_a_hand_in_the_window_paints(tmp_path: Path) -> None:
    report = report_of("hand_session.py", tmp_path)
    assert report["by_itself"] > 0.0, "nothing is painted before somebody does"
    dye, speed, touched, held = report["painted"]
    assert dye > 0.0 and speed > 0.05 and touched and held
    assert report["row"] == pytest.approx(18.0, abs=1.0), "the dye is not under the pointer"
    assert report["let_go"] == [True, pytest.approx(1.0, abs=0.05)], "the hand is still in"
    assert report["still"] == [0.0, 0.0, 0.0, 0.0, 0.0], "the view moved along"
    assert report["moved"] < 0.0, "a right drag does not move the view"
    assert report["turned"] == pytest.approx(-30.0), "with alt it does not turn"


def test_a_resumed_scene_is_asked_for_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its window knows which cells are those of the command line, and not the file's."""
    from gpufluid.app import cli, play, player, window

    seen = []

    class StoppedError(Exception):
        pass

    def made(*given: Any) -> None:
        seen.append(given[-1])
        raise StoppedError

    monkeypatch.setattr(player, "Player", made)
    monkeypatch.setattr(window, "Window", lambda *_: contextlib.nullcontext(SimpleNamespace(ctx=None)))
    scene = functools.partial(gf.Scene.load, "a.toml", cells=(4, 4, 4), changes=["dt=0.1"])
    for make in (scene, cli._resumed(scene, "a", "a.npz", None, None)):
        with pytest.raises(StoppedError):
            play._play_in_window(make, "a", None, (64, 64))
    assert seen == [{"cells": (4, 4, 4), "changes": ["dt=0.1"]}] * 2


NARROW = """
import numpy as np
import gpufluid as gf
from gpufluid.app.player import Player
from gpufluid.app.pick import ray_through
from gpufluid.app.window import Window

def make(window, **options):
    fluid = gf.Fluid(gf.Grid((24, 8, 8), 1 / 8, origin=(-1.5, -0.5, -0.5)), ctx=window.ctx)
    fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.2), position=(1.2, 0.0, 0.0)))
    return gf.Scene(fluid, picture=gf.Picture(size=(640, 320)), **options)

for camera in (gf.Camera(distance=3.0), None):
    with Window((240, 240), "narrow") as window:
        with Player(window, lambda: make(window, camera=camera), "narrow") as player:
            player.paused = True
            player.tick()
            own = player.scene.camera
            fov = own.fov
            edge = ray_through(own, 2.0, 1.0, 0.0).direction  # at the right of the film
            seen = float(np.abs(edge - player.stage.ray(240.0, 120.0).direction).max())
            ball = float(np.ptp(player.stage.renderer.read()[110:130, 160:].astype(float)))
            player.stage.frame_all()
            print(player.stage.opened, seen, ball, own.fov == fov, player.scene.camera is own, sep=";")
"""


def test_a_narrow_window_shows_all_of_a_given_picture(tmp_path: Path) -> None:
    """What a camera was placed for: its width, with more above and below; until the user frames the box."""
    (tmp_path / "narrow.py").write_text(NARROW)
    done = run_under_xvfb(tmp_path, "narrow.py")
    assert done.returncode == 0, done.stderr
    given, free = (line.split(";") for line in done.stdout.splitlines())
    assert float(given[1]) < 1e-6, "the right edge of the film is not that of the window"
    assert float(given[2]) > 40.0, "the ball is not in it"
    assert given[0] == free[0] == "1.0" and given[3:] == free[3:] == ["True", "True"]
    assert float(free[1]) > 0.01, "a camera that fits itself to the window is opened too"


def test_a_camera_that_moves_by_itself_can_be_moved_by_hand(tmp_path: Path) -> None:
    report = report_of("views_session.py", tmp_path)
    first, then = report["by_itself"]
    assert all(b > a for a, b in zip(first, then, strict=True)), "it does not move by itself"
    for what, held in (("turned", [0]), ("key", [0]), ("nearer", [0, 1]), ("moved", [0, 1, 2])):
        at_once, later = report[what]
        assert [n for n in range(3) if later[n] == at_once[n]] == held, what
    assert report["again"] == report["by_itself"], "started again it does not move by itself"
    at_once, later = report["whole"]
    assert later[1:] == at_once[1:] and later[0] > at_once[0], "f is taken back, or stops the turn"
    rebuilt, after = report["rebuilt"]
    assert rebuilt == later and after[1:] == later[1:], "with another grid it is seen from elsewhere"
    assert after[0] == report["again"][0][0], "with another grid it no longer moves by itself"


def test_the_demo_opens_a_window_where_there_is_a_display(tmp_path: Path) -> None:
    done = run_under_xvfb(tmp_path, "-m", "gpufluid", "demo", "--frames", "2", "--cells", "12", "18", "12")
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir()) == [], "a film was rendered instead"


RESIZED = """
import glfw
import numpy as np
from gpufluid.app.demos import load_demo
from gpufluid.app.player import Player
from gpufluid.app.window import Window

seen, built = [], []

def make(window):
    built.append(len(seen))
    return load_demo("plume")(cells=(8, 12, 8), ctx=window.ctx)

with Window((240, 120), "film") as window:
    swap = glfw.swap_buffers

    def take(handle):
        size = window.framebuffer_size
        raw = window.ctx.screen.read(viewport=(0, 0, *size), components=3, alignment=1)
        seen.append(np.frombuffer(raw, np.uint8).reshape(size[1], size[0], 3))
        swap(handle)

    glfw.swap_buffers = take
    with Player(window, lambda: make(window), "film") as player:
        player.tick()
        built.append(len(seen))
        player.play(1)
        player.record("")
        glfw.set_window_size(window.handle, 240, 200)
        player.play(4)
begun, then = seen[built[1] - 2 : built[1]]
np.savez("seen.npz", built=built, first=seen[0], begun=begun, then=then, last=seen[-1])
"""


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, np.ndarray]:
    """What RESIZED saw."""
    folder = tmp_path_factory.mktemp("film")
    (folder / "film.py").write_text(RESIZED)
    done = run_under_xvfb(folder, "film.py")
    assert done.returncode == 0, done.stderr
    return dict(np.load(folder / "seen.npz"))


def test_a_window_tells_what_it_waits_for(pictures: dict[str, np.ndarray]) -> None:
    """It was black, for as long as its scene was built and its shaders were compiled."""
    before, after = pictures["built"]
    assert before == 1 and after == 4, "told, built, told, the scene as it begins, its first frame"
    first, begun, then = (pictures[name].astype(float) for name in ("first", "begun", "then"))
    assert (first[0] < 12).all() and (first.max((1, 2)) > 150).sum() > 8, "no letters on an empty window"
    corner = np.abs(begun - then)[:40, :200].mean((1, 2))  # the lowest row first
    assert corner[12:36].mean() > 20.0, "the scene does not say that its flow is being prepared"
    assert np.abs(begun - then)[60:, 200:].mean() < 4.0, "the scene is not there before its flow"


def test_nothing_old_stands_beside_a_picture_that_is_filmed(pictures: dict[str, np.ndarray]) -> None:
    seen = pictures["last"]
    assert seen.shape == (200, 240, 3)
    for beside in (seen[:38], seen[-38:]):
        assert np.abs(beside - 255.0 * np.array((0.03, 0.032, 0.036))).max() < 1.0
    assert seen[40:160].std() > 5.0


FINE = """
import ctypes
from gpufluid.app.window import Window

x11 = ctypes.CDLL("libX11.so.6")
x11.XOpenDisplay.restype, x11.XDefaultRootWindow.restype = ctypes.c_void_p, ctypes.c_ulong
x11.XDefaultRootWindow.argtypes = [ctypes.c_void_p]
x11.XChangeProperty.argtypes = [
    *(ctypes.c_void_p, ctypes.c_ulong, ctypes.c_ulong, ctypes.c_ulong),
    *(ctypes.c_int, ctypes.c_int, ctypes.c_char_p, ctypes.c_int),
]
x11.XSync.argtypes = [ctypes.c_void_p, ctypes.c_int]
display = x11.XOpenDisplay(None)
RESOURCE_MANAGER, STRING = 23, 31  # Xatom.h
text = b"Xft.dpi:\\t144\\n"
x11.XChangeProperty(display, x11.XDefaultRootWindow(display), RESOURCE_MANAGER, STRING, 8, 0, text, len(text))
x11.XSync(display, 0)
with Window((200, 120), "fine") as window:
    print(*window.framebuffer_size)
"""


def test_a_window_is_no_smaller_where_pixels_are(tmp_path: Path) -> None:
    """X11 scales nothing by itself: at 144 dots an inch a unit of the screen is one and a half pixels."""
    (tmp_path / "fine.py").write_text(FINE)
    done = run_under_xvfb(tmp_path, "fine.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["300", "180"]


RENEWED = """
import time
from pathlib import Path
import gpufluid as gf

def scene(ctx=None):
    made = gf.Scene(gf.Fluid(gf.Grid((8, 8, 8), cell_size=0.1), ctx=ctx))
    yield made
    yield
    Path(__file__).write_text("import gpufluid as gf\\nx = gff.Grid")
    time.sleep(0.4)
    while True:
        yield
"""


def test_a_script_that_is_saved_with_a_mistake_does_not_end_the_window(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(RENEWED)
    done = run_under_xvfb(tmp_path, "-m", "gpufluid", "run", "mine.py", "--frames", "6")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("gpufluid: mine.py: line 2: NameError: name 'gff' is not defined")


EXITS = """
import time
from pathlib import Path
import gpufluid as gf
from gpufluid.app.player import Player
from gpufluid.app.window import Window

STORY = '''import sys
import gpufluid as gf

def scene(ctx=None):
    yield gf.Scene(gf.Fluid(gf.Grid((6, 8, 6), 0.1), ctx=ctx))
    yield
'''
file = Path("mine.py")
file.write_text(STORY)
with Window((160, 100), "mine") as window:
    with Player(window, lambda: gf.Scene.load(file, ctx=window.ctx), "mine", watch=file) as player:
        player.play(1)
        for text in (STORY + "sys.exit(3)\\n", STORY + "    sys.exit('enough')\\n"):
            file.write_text(text)
            before, until = player.message, time.monotonic() + 200.0
            while (player.message == before or "reloaded" in player.message) and time.monotonic() < until:
                player.tick()
            print("told:", player.title)
"""


def test_a_script_that_exits_does_not_end_the_window(tmp_path: Path) -> None:
    """As it is read again, and as it plays: it is told as its errors are."""
    (tmp_path / "play.py").write_text(EXITS)
    done = run_under_xvfb(tmp_path, "play.py")
    assert done.returncode == 0, done.stderr
    told = [line for line in done.stdout.splitlines() if line.startswith("told:")]
    assert told == [
        "told: gpufluid - mine.py: line 7: SystemExit: 3",
        "told: gpufluid - mine.py: line 7: SystemExit: enough",
    ]


WRONG_LATER = """
import time
from pathlib import Path
import glfw
import gpufluid as gf
from gpufluid.app.player import Player
from gpufluid.app.window import Window

GRID = "duration = 0.5\\n[grid]\\ncells = [6, 8, 6]\\ncell_size = 0.1\\n"
EMITTER = "[[emitters]]\\nshape = { kind = 'sphere', radius = 0.1 }\\ndensity = 1\\n"
file = Path("mine.toml")

file.write_text(GRID)
with Window((160, 100), "mine") as window:
    load = lambda: gf.Scene.load(file, ctx=window.ctx)
    with Player(window, load, "mine", watch=file) as player:
        def write(text):
            before = player.scene
            file.write_text(GRID + text)
            while player.scene is before:
                player.tick()

        player.play(2)
        for text in (EMITTER + "position = { formula = ['1 / floor(1.1 - 5 * t)', '0', '0'] }",
                     "[smoke]\\nfade = { formula = '0.15 - t' }"):
            write(text)
            until = time.monotonic() + 200.0
            while not player.halted and time.monotonic() < until:
                player.tick()
            for _ in range(3):
                player.tick()
            print(player.paused, player.title)
            player.pause()
            player.tick()
            print(player.paused, player.halted != "")
        write("")
        while not player.scene.over:
            player.tick()
        wait, waits = glfw.wait_events_timeout, []  # any event ends a wait early: not its time, its call
        glfw.wait_events_timeout = lambda seconds: waits.append(seconds) or wait(seconds)
        for _ in range(5):
            player.tick()
        print(player.paused, player.title, waits == [0.1] * 5)
"""


def test_a_file_that_goes_wrong_while_it_plays_does_not_end_the_window(tmp_path: Path) -> None:
    (tmp_path / "play.py").write_text(WRONG_LATER)
    done = run_under_xvfb(tmp_path, "play.py")
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if "reloaded" not in line]
    formula = "mine.toml: emitters[0].position at 0.03333 s: the formula '1 / floor(1.1 - 5 * t)' has no"
    assert lines[0].startswith(formula)
    assert lines[1].startswith(f"True mine - {formula}")
    assert lines[2:4] == [lines[0], "True True"], "asked to go on, it does not tell again"
    assert lines[4].startswith("mine.toml: smoke at 0.2 s: Smoke.fade must be a finite number >= 0, got -0.0")
    assert lines[5].startswith("True mine - mine.toml: smoke at 0.2 s: Smoke.fade must be")
    assert lines[7:] == ["True True", "False mine - over True"], "one that is over does not say so, or rest"


def test_a_scene_with_a_context_of_its_own_becomes_a_film(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "import gpufluid as gf\n"
        "fluid = gf.Fluid(gf.Grid((8, 8, 8), cell_size=0.1))\n"
        "gf.run(gf.Scene(fluid), frames=2, size=(32, 32))\n"
    )
    done = run_under_xvfb(tmp_path, "mine.py")
    assert done.returncode == 0, done.stderr
    assert "give gpufluid.run the function that builds the scene" in done.stderr.splitlines()[0]
    assert {p.name for p in tmp_path.iterdir()} == {"mine.py", "mine.mp4", "mine.png"}


def test_a_display_that_is_not_there_becomes_a_film(tmp_path: Path) -> None:
    done = python(
        *["-m", "gpufluid", "demo", "--frames", "1", "--size", "32x32", "--cells", "8", "12", "8"],
        cwd=tmp_path,
        env={**os.environ, "DISPLAY": ":9753"},
    )
    assert done.returncode == 0, done.stderr
    assert "Failed to open display :9753" in done.stderr.splitlines()[0]
    assert {p.name for p in tmp_path.iterdir()} == {"plume.mp4", "plume.png"}
