"""The engine in programs of other libraries: each in a process of its own, the same picture in all."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import moderngl
import numpy as np
import pytest
from driver import PATIENCE
from PIL import Image
from xvfb import needs_a_screen, run_under_xvfb

from gpufluid.app.demos import demo_folder, demo_names

FRAMES = 3
LIBRARIES = {
    "glfw": "glfw",
    "moderngl_window": "moderngl_window",
    "pygame": "pygame",
    "pyglet": "pyglet",
    "pyside6": "PySide6",
}
pytestmark = needs_a_screen


@pytest.fixture(scope="module")
def off_screen(tmp_path_factory: pytest.TempPathFactory) -> np.ndarray:
    """The program without a window after some frames, [h, w, 3]."""
    picture = tmp_path_factory.mktemp("embedding") / "off_screen.png"
    command = [
        sys.executable,
        demo_folder() / "embed_offscreen.py",
        "--frames",
        str(FRAMES),
        "--shot",
        picture,
    ]
    subprocess.run(command, check=True, timeout=PATIENCE)
    return np.asarray(Image.open(picture)).astype(int)


def smoke_in(picture: np.ndarray) -> int:
    """Pixels brighter than anything in the game: the smoke's."""
    return int((picture.min(-1) > 150).sum())


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_program_with_smoke_in_it(name: str, off_screen: np.ndarray, tmp_path: Path) -> None:
    """It runs in that library's window, ends well, and shows what the program without a window shows."""
    if importlib.util.find_spec(LIBRARIES[name]) is None and "CI" not in os.environ:
        pytest.skip(f'{LIBRARIES[name]} is not installed: pip install "gpufluid[embed]"')
    program, picture = demo_folder() / f"embed_{name}.py", tmp_path / "window.png"
    assert len(program.read_text(encoding="utf-8").splitlines()) < 100
    done = run_under_xvfb(tmp_path, str(program), "--frames", str(FRAMES), "--shot", str(picture))
    assert done.returncode == 0, done.stdout + done.stderr
    shown = np.asarray(Image.open(picture)).astype(int)
    assert shown.shape == (360, 640, 3)
    assert smoke_in(off_screen) > 100
    difference = np.abs(shown - off_screen)
    assert difference.mean() < 0.2 and difference.max() <= 24  # another driver path may round otherwise


def test_the_game_fills_a_window_of_fine_pixels(
    ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As on a Mac's screen, where a window has more pixels than units: it was in a quarter of it."""
    monkeypatch.syspath_prepend(demo_folder())
    import _world

    sunny = "float gpufluid_sunlight_at(vec3 world) { return 1.0; }"  # without smoke
    world = _world.World(ctx, sunny, (64, 36))
    world.draw(0.0)
    pictures = []
    for times in (1, 2):
        size = 64 * times, 36 * times
        window = ctx.framebuffer([ctx.texture(size, 4)])
        world.show(window)
        world.save(window, str(tmp_path / f"{times}.png"))
        pictures.append(np.asarray(Image.open(tmp_path / f"{times}.png")))
    plain, fine = pictures
    assert plain.std() > 20.0
    assert np.array_equal(fine, plain.repeat(2, 0).repeat(2, 1))


def test_they_are_no_demos_of_the_engine() -> None:
    assert not [name for name in demo_names() if name.startswith(("embed", "_"))]


CLEARED = """
import sys
import glfw, moderngl, numpy as np
import gpufluid as gf
glfw.init()
for hint, value in ((glfw.CONTEXT_VERSION_MAJOR, 3), (glfw.CONTEXT_VERSION_MINOR, 3),
                    (glfw.OPENGL_PROFILE, glfw.OPENGL_CORE_PROFILE), (glfw.OPENGL_FORWARD_COMPAT, True)):
    glfw.window_hint(hint, value)
window = glfw.create_window(160, 100, "host", None, None)
glfw.make_context_current(window)
ctx = moderngl.create_context()
fluid = gf.Fluid(gf.Grid((8, 8, 8), 0.1), ctx=ctx)
fluid.density.write(np.broadcast_to(np.linspace(0, 1, 8)[None, :, None] * 3, (8, 8, 8)))
scene = gf.Scene(fluid, camera=gf.Camera(target=(0.4, 0.4, 0.4), distance=2.0), floor=0.0)
renderer = gf.FrameRenderer(ctx, (160, 100))
for _ in range(3):
    renderer.draw(scene)
    ctx.screen.clear(0.1, 0.1, 0.1)
    renderer.present(ctx.screen)
    ctx.screen.use()
    pixels = np.frombuffer(ctx.screen.read((0, 0, 160, 100), 3, alignment=1), np.uint8)
    seen = pixels.reshape(100, 160, 3)[::-1]
    meant = renderer.read()[..., :3]
    assert np.abs(meant[::-1].astype(int) - meant).mean() > 10.0, "it shows which way is up"
    assert np.abs(seen.astype(int) - meant).mean() < 1.0, "upside down"
    glfw.swap_buffers(window)
"""


def test_a_window_that_its_host_has_only_cleared_shows_the_picture_upright(tmp_path: Path) -> None:
    """Mesa draws it upside down where the last program that drew elsewhere draws here next."""
    done = run_under_xvfb(tmp_path, "-c", CLEARED)
    assert done.returncode == 0, done.stderr
