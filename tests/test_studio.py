"""The studio, driven as by a user under Xvfb in a process of its own; see studio_session.py."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import av
import glfw
import numpy as np
import pytest
from driver import python
from PIL import Image
from xvfb import needs_the_studio, report_of, run_under_xvfb

pytestmark = needs_the_studio


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the session was held."""
    return tmp_path_factory.mktemp("session")


@pytest.fixture(scope="module")
def session(folder: Path) -> dict[str, Any]:
    """What the session saw."""
    return report_of("studio_session.py", folder)


def test_tab_opens_the_panel_beside_the_picture(session: dict[str, Any]) -> None:
    assert session["tab"] == [True, [220, 440]]
    assert session["title_panel"] > 10.0, "the panel looks like the picture"
    assert session["hidden"] == [700, 420], "tab does not hide it"


def test_play_pause_and_a_single_step(session: dict[str, Any]) -> None:
    assert session["paused"] == [True, 0]
    assert session["stepped"] == 1
    assert session["played"] == [False, True]


def test_a_field_tells_what_it_means_where_the_pointer_rests(session: dict[str, Any]) -> None:
    assert session["tooltip"] is True


def test_keys_for_source_wind_and_camera(session: dict[str, Any]) -> None:
    assert session["stronger"] == pytest.approx(1.25)
    assert session["stays_stronger"] == pytest.approx(1.25), "the file's formula took it back"
    assert session["weaker"] == pytest.approx(0.8)
    assert session["wind"][0] > 0.0 and session["wind"][1] == 0.0
    assert session["calm"] == 0, "a wind of no speed is left"
    assert abs(session["turned"]) > 1.0


def test_a_ball_is_picked_and_dragged_and_stirs_the_fluid(session: dict[str, Any]) -> None:
    assert session["picked"] == ["fluids", 0, "obstacles", 0]
    x, y, z = session["ball"]
    assert x > 0.1 and y == pytest.approx(0.9) and z == pytest.approx(0.0, abs=1e-9)
    # it was grabbed on its near side, so its middle lags behind the pointer's 48
    assert session["ball_seen"] == [pytest.approx(46.0, abs=2.5), pytest.approx(0.0, abs=0.5)]
    assert session["solid_x"] == pytest.approx(x, abs=0.02), "the voxels are elsewhere"
    still, moved = session["stirred"]
    assert moved > still + 0.1, "the fluid does not follow"
    assert session["one_edit"] == 1
    dx, dy, dz = session["away"]
    assert dz < -0.02 and abs(dx) < 1e-9 and abs(dy) < abs(dz), "shift does not move along the view"


def test_undo_and_redo_of_drags(session: dict[str, Any]) -> None:
    assert session["undone_away"] and session["redone"]
    assert session["undone"] == [0.0, 0.9, 0.0]
    assert session["deleted"] == 0


def test_drags_beside_objects_turn(session: dict[str, Any]) -> None:
    assert session["orbit"] == [True, None]
    assert session["alt_orbit"] == [True, True]


def test_a_slider_reaches_the_settings_and_is_undone(session: dict[str, Any]) -> None:
    assert session["slider"] > 6.0
    assert session["slider_undone"] == 2.0
    assert session["slider"] == float(str(np.float32(session["slider"]))), "it has digits that nobody chose"
    assert session["typed"] == [0.0, 1.0, 0.1]
    assert session["solver"] == "Multigrid"


def test_the_hand_pushes_and_adds_smoke(session: dict[str, Any]) -> None:
    still, pushed = session["pushed"]
    assert pushed > still + 0.2
    before, after = session["smoked"]
    assert after > 1.2 * before + 5.0
    assert session["brush_gone"] == [True, 1], "the hand left something behind"


def test_the_panel_speaks_as_its_page_does(session: dict[str, Any]) -> None:
    assert "sources" in session["words"] and "emitters" not in session["words"]


def test_what_is_chosen_is_in_the_seen_part_of_the_list(session: dict[str, Any]) -> None:
    last, end = session["listed"]
    assert last <= end
    start, first = session["listed_first"]
    assert start <= first


def test_no_outlines_lie_over_a_chart(session: dict[str, Any]) -> None:
    assert session["outlines"] == 0.0


def test_the_rows_of_the_panel_end_in_one_line(session: dict[str, Any]) -> None:
    button, row = session["right_ends"]
    assert button == pytest.approx(row, abs=0.6)
    above, below = session["columns"]
    assert above == below, "the sliders of the tools begin elsewhere"


@pytest.mark.parametrize("behind", ["slider_grab", "slider_grab_active", "frame_bg", "button_active"])
def test_text_is_legible_on_what_it_stands_on(behind: str) -> None:
    """The contrast that the Web's guidelines ask of text of this size."""
    from gpufluid.app.studio.ui import COLORS

    def light(color: tuple[float, ...]) -> float:
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color[:3]]
        return 0.05 + 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    assert COLORS[behind][3] == 1.0
    assert light(COLORS["text"]) / light(COLORS[behind]) >= 4.5


def test_objects_are_added_and_removed(session: dict[str, Any]) -> None:
    assert session["added"] == [2, ["fluids", 0, "obstacles", 1]]
    assert session["removed"] == 1
    assert session["unremoved"] == 2


def test_pictures_and_films_are_written(session: dict[str, Any], folder: Path) -> None:
    picture = np.asarray(Image.open(folder / "session-0001.png"))
    assert picture.shape == (440, 220, 3) and picture.std() > 5.0
    assert session["recorded"] >= 3 and session["recorder"]
    with av.open(str(folder / "session-0001.mp4")) as film:
        frames = list(film.decode(video=0))
        assert len(frames) >= session["recorded"]
        assert (frames[0].width, frames[0].height) == (220, 440)


def test_a_view_is_in_the_picture_and_in_the_window(session: dict[str, Any]) -> None:
    added, differs = session["viewed"]
    assert added > 3.0
    assert differs < 1.0, "the window shows another picture than is saved"


def test_escape_closes_a_menu_and_the_help_before_the_window(session: dict[str, Any]) -> None:
    assert session["escaped"] == [True, False, False, False, False]


def test_help_is_in_the_window(session: dict[str, Any]) -> None:
    assert session["help"] > 3.0


def test_the_window_is_resized(session: dict[str, Any]) -> None:
    assert session["resized"] == [[700, 420], [360, 420]]


def test_a_restart_keeps_what_was_changed(session: dict[str, Any]) -> None:
    assert session["reset"] == [True, True, True]
    assert session["reset_objects"] == 2
    cells, ball = session["rebuilt"]
    assert cells == [16, 24, 16]
    assert ball == session["saved"]["obstacles"][0]["position"]


def test_passes_are_timed(session: dict[str, Any]) -> None:
    assert {"predict_velocity", "light", "tone map"} <= set(session["passes"])


def test_the_scene_is_saved_and_read_again(session: dict[str, Any]) -> None:
    assert session["not_read_again"], "saving starts the scene again"
    saved = session["saved"]
    assert saved["grid"]["cells"] == [16, 24, 16]
    assert saved["settings"]["pressure"] == {"kind": "multigrid"}
    assert saved["obstacles"][0]["position"][0] > 0.1
    assert saved["obstacles"][1]["shape"] == {"kind": "knot", "fit": pytest.approx(0.384)}
    assert isinstance(saved["emitters"][0]["density"], float), "what a key changed is a formula still"
    assert session["reloaded"] == [0, 2]


def test_escape_closes_and_nothing_is_remembered(session: dict[str, Any], folder: Path) -> None:
    assert session["closing"]
    assert not list(folder.glob("*.ini"))


@pytest.mark.parametrize("scene", ["plume", "story.py"])
def test_the_command_opens_demos_and_scripts(tmp_path: Path, scene: str) -> None:
    (tmp_path / "story.py").write_text(
        "import gpufluid as gf\n"
        "def scene(ctx=None, cells=(6, 6, 6)):\n"
        "    yield gf.Scene(gf.Fluid(gf.Grid(cells, 0.1), ctx=ctx))\n"
        "    yield\n"
    )
    (tmp_path / "run.py").write_text(
        "import sys\n"
        "from gpufluid.app.cli import main\n"
        "from gpufluid.app.player import Player\n"
        "def play(player, frames):\n"
        "    for _ in range(3):\n"
        "        player.tick()\n"
        "    first = player.scene\n"
        "    player.restart()\n"
        "    player.use_cells((8, 10, 8))\n"
        "    player.tick()\n"
        "    print(player.studio.shown, first is player.scene, *player.scene.fluid.grid.cells)\n"
        "Player.play = play\n"
        "sys.exit(main(['studio', *sys.argv[1:], '--size', '400x240', '--cells', '8', '12', '8']))\n"
    )
    done = run_under_xvfb(tmp_path, "run.py", scene)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "True False 8 10 8"


ADDING = """
from pathlib import Path
import glfw
import gpufluid as gf
from gpufluid.app.player import Player
from gpufluid.app.window import Window

Path("a.toml").write_text(
    "dt = 0.04\\n[grid]\\ncells = [16, 24, 16]\\ncell_size = 0.0624\\norigin = [-0.5, 0.0, -0.5]\\n"
    "[camera]\\ntarget = [0.0, 0.7, 0.0]\\n"
)
Path("folder.toml").mkdir()
with Window((240, 160), "adding") as window:
    def make():
        print(glfw.get_window_title(window.handle))
        return gf.Scene.load("a.toml", ctx=window.ctx)

    with Player(window, make, "adding") as player:
        player.open_studio()
        player.tick()
        print(glfw.get_window_title(window.handle))
        for group, name in (("emitters", "capsule"), ("obstacles", "knot"), ("lights", "point light")):
            player.studio.objects.add(group, name)
        for name in ("folder.toml", "b.toml"):
            player.studio.files.name = name
            player.studio.files.save()
            print(player.message)
"""


def test_what_is_added_lies_at_short_numbers(tmp_path: Path) -> None:
    (tmp_path / "adding.py").write_text(ADDING)
    done = run_under_xvfb(tmp_path, "adding.py")
    assert done.returncode == 0, done.stderr
    before, first, _, refused, _, wrote = done.stdout.splitlines()
    assert before == "adding - is being built ..." and not first.endswith("built ..."), "the window is silent"
    assert refused.startswith("folder.toml") and "once more" not in refused, "a folder could be replaced"
    assert wrote.startswith("wrote ")
    text = (tmp_path / "b.toml").read_text()
    numbers = [float(word) for word in re.findall(r"-?\d+\.\d+", text)]
    assert len(numbers) > 15 and all(float(f"{number:.4g}") == number for number in numbers)


BRIGHT = """
import glfw
import numpy as np
import gpufluid as gf
from gpufluid.app.player import Player
from gpufluid.app.window import Window

def make(window):
    fluid = gf.Fluid(gf.Grid((8, 8, 8), 1 / 8, origin=(-0.5, -0.5, -0.5)), ctx=window.ctx)
    fluid.emitters.add(gf.Emitter(gf.Sphere(radius=0.2), density=0.0))
    return gf.Scene(fluid, picture=gf.Picture(background=(0.9, 0.92, 0.93)))

with Window((640, 300), "bright") as window:
    with Player(window, lambda: make(window), "bright") as player:
        player.open_studio()
        player.paused = True
        swap, seen = glfw.swap_buffers, []

        def take(handle):
            raw = window.ctx.screen.read(viewport=(0, 0, 300, 300), components=3, alignment=1)
            seen.append(np.frombuffer(raw, np.uint8).astype(float))
            swap(handle)

        glfw.swap_buffers = take
        for player.studio.picture.outlines in (True, False):
            player.tick()
            player.tick()
        print(np.abs(seen[1] - seen[3]).max())
"""


def test_outlines_are_seen_before_a_bright_picture(tmp_path: Path) -> None:
    (tmp_path / "bright.py").write_text(BRIGHT)
    done = run_under_xvfb(tmp_path, "bright.py")
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) > 40.0


HELPED = """
import glfw
import gpufluid as gf
from gpufluid.app.studio.ui import imgui
from gpufluid.app.player import Player
from gpufluid.app.window import Window

with Window((640, 360), "help") as window:
    with Player(window, lambda: gf.Scene(gf.Fluid(gf.Grid((4, 4, 4), 0.1), ctx=window.ctx))) as player:
        player.open_studio()
        player.help()
        for size in ((640, 360), (500, 320), (560, 440), (760, 580), (1100, 800)):
            glfw.set_window_size(window.handle, *size)
            player.play(20)
            heights = set()
            for _ in range(6):
                player.play(1)
                box = imgui.internal.find_window_by_name("Help")
                heights.add(box.size.y)
            place, size = box.pos, box.size
            high = box.content_size_ideal.y
            print(*player.stage.size, place.x, place.y, size.x, size.y, high, len(heights))
"""


def test_the_help_fits_into_small_windows(tmp_path: Path) -> None:
    """Without trembling, in letters as large as there is room for."""
    (tmp_path / "help.py").write_text(HELPED)
    done = run_under_xvfb(tmp_path, "help.py")
    assert done.returncode == 0, done.stderr
    lines = [[float(number) for number in line.split()] for line in done.stdout.splitlines()]
    usual = lines[-1][5]  # in the largest window
    for width, height, x, y, wide, high, content, heights in lines:
        assert x >= 0.0 and y >= 0.0 and x + wide <= width and y + high <= height, (width, height)
        assert content + 17.0 <= high, (width, height)  # with its padding
        assert heights == 1 and high > 0.85 * min(height, usual), (width, height)


def test_a_window_opens_after_another_with_a_panel(tmp_path: Path) -> None:
    (tmp_path / "twice.py").write_text(
        "from gpufluid.app.demos import load_demo\n"
        "from gpufluid.app.player import Player\n"
        "from gpufluid.app.window import Window\n"
        "for number in range(2):\n"
        "    with Window((240, 160), 'twice') as window:\n"
        "        make = lambda: load_demo('plume')(cells=(8, 12, 8), ctx=window.ctx)\n"
        "        with Player(window, make, 'twice') as player:\n"
        "            player.open_studio()\n"
        "            player.play(1)\n"
        "    print(number)\n"
    )
    done = run_under_xvfb(tmp_path, "twice.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["0", "1"]


def test_on_macos_command_is_the_key_of_text_fields() -> None:
    """They could neither copy nor paste: ImGui takes Command for Ctrl there, and was never told of it."""
    from gpufluid.app.studio.ui import Ui, imgui  # which Python 3.10 cannot have

    context = imgui.create_context()
    io = imgui.get_io()
    io.set_ini_filename("")  # or it would leave a file here
    io.config_mac_osx_behaviors, io.display_size = True, imgui.ImVec2(100, 100)
    io.backend_flags |= imgui.BackendFlags_.renderer_has_textures
    ui = Ui.__new__(Ui)  # without a window
    ui.io, ui._keys = io, {glfw.KEY_V: imgui.Key.v}

    def seen() -> list[bool]:
        imgui.new_frame()
        held = [io.key_ctrl, io.key_super, imgui.is_key_down(imgui.Key.v)]
        imgui.end_frame()
        return held

    try:
        ui.key(glfw.KEY_V, True, glfw.MOD_SUPER)
        assert seen() == [True, False, True]
        ui.key(glfw.KEY_V, False, glfw.MOD_SUPER)
        ui.key(glfw.KEY_LEFT_SUPER, False, glfw.MOD_SUPER)  # as X11 tells it
        assert seen() == [False, False, False]
        ui.button(glfw.MOUSE_BUTTON_LEFT, True, glfw.MOD_SUPER)  # on a slider: its number is to be typed
        assert seen() == [True, False, False]
    finally:
        imgui.destroy_context(context)


DELETING = """
import sys
import glfw, moderngl, numpy

sys.platform, here = sys.argv[1] or sys.platform, sys.platform
from gpufluid.app.player import Player
from gpufluid.app.window import Window
sys.platform = here
import gpufluid as gf

with Window((240, 160), "deleting") as window:
    def make():
        fluid = gf.Fluid(gf.Grid((8, 8, 8), 0.1), ctx=window.ctx)
        fluid.obstacles.add(gf.Obstacle(gf.Sphere((0.4, 0.4, 0.4), 0.2)))
        return gf.Scene(fluid)

    with Player(window, make, "deleting") as player:
        player.open_studio()
        player.tick()
        player.studio.editor.select(("fluids", 0, "obstacles", 0))
        player.controls._on_key(window.handle, glfw.KEY_BACKSPACE, 0, glfw.PRESS, 0)
        print(len(player.scene.fluid.obstacles))
"""


@pytest.mark.parametrize(("platform", "left"), [("", 1), ("darwin", 0)])
def test_the_delete_key_of_a_mac_deletes(tmp_path: Path, platform: str, left: int) -> None:
    """It is backspace to glfw; elsewhere that stays a key of text fields alone."""
    done = run_under_xvfb(tmp_path, "-c", DELETING, platform)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == str(left)


def test_without_imgui_the_plain_window_still_works(tmp_path: Path) -> None:
    """A module of that name which cannot be imported stands in for one that is not there."""
    (tmp_path / "imgui_bundle.py").write_text("raise ModuleNotFoundError('not installed')\n")
    (tmp_path / "plain.py").write_text(
        "import glfw\n"
        "from gpufluid.app.demos import load_demo\n"
        "from gpufluid.app.player import Player\n"
        "from gpufluid.app.window import Window\n"
        "with Window((160, 100), 'plain') as window:\n"
        "    with Player(window, lambda: load_demo('plume')(cells=(8, 12, 8), ctx=window.ctx)) as player:\n"
        "        player.show_studio()\n"
        "        player.help()\n"
        "        player.play(2)\n"
        "        print(player.studio, player.scene.frame)\n"
    )
    done = run_under_xvfb(tmp_path, "plain.py", PYTHONPATH=_path_with(tmp_path))
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "the studio's panel needs the package 'imgui-bundle': pip install \"gpufluid[all]\""
    assert any("space" in line and "pause" in line for line in lines)
    assert lines[-1] == "None 2"


def test_the_command_without_imgui_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "imgui_bundle.py").write_text("raise ModuleNotFoundError('not installed')\n")
    done = run_under_xvfb(
        tmp_path, "-m", "gpufluid", "studio", "--cells", "8", "12", "8", PYTHONPATH=_path_with(tmp_path)
    )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("gpufluid: error: the studio's panel needs the package")


def test_the_command_needs_a_display(tmp_path: Path) -> None:
    hidden = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    done = python("-m", "gpufluid", "studio", cwd=tmp_path, env=hidden)
    assert done.returncode == 2
    assert done.stderr.strip() == "gpufluid: error: the studio needs a display, and there is none here"


def _path_with(folder: Path) -> str:
    return os.pathsep.join([str(folder), *os.environ.get("PYTHONPATH", "").split(os.pathsep)])


def test_imgui_leaves_no_file_of_settings(folder: Path, session: dict[str, Any]) -> None:
    assert not (folder / "imgui.ini").exists()
