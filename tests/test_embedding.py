"""The engine in programs of other libraries: each in a process of its own, the same picture in all."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from test_window import pytestmark as needs_xvfb
from test_window import run_under_xvfb

from gpufluid.app.demos import demo_folder, demo_names

FRAMES = 6
LIBRARIES = {
    "glfw": "glfw",
    "moderngl_window": "moderngl_window",
    "pygame": "pygame",
    "pyglet": "pyglet",
    "pyside6": "PySide6",
}
pytestmark = needs_xvfb


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
    subprocess.run(command, check=True, timeout=120)
    return np.asarray(Image.open(picture)).astype(int)


def smoke_in(picture: np.ndarray) -> int:
    """Pixels brighter than anything in the game: the smoke's."""
    return int((picture.min(-1) > 150).sum())


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_program_with_smoke_in_it(name: str, off_screen: np.ndarray, tmp_path: Path) -> None:
    """It runs in that library's window, ends well, and shows what the program without a window shows."""
    if importlib.util.find_spec(LIBRARIES[name]) is None and "CI" not in os.environ:
        pytest.skip(f"{LIBRARIES[name]} is not installed: pip install 'gpufluid[embed]'")
    program, picture = demo_folder() / f"embed_{name}.py", tmp_path / "window.png"
    assert len(program.read_text(encoding="utf-8").splitlines()) < 100
    done = run_under_xvfb(tmp_path, str(program), "--frames", str(FRAMES), "--shot", str(picture))
    assert done.returncode == 0, done.stdout + done.stderr
    shown = np.asarray(Image.open(picture)).astype(int)
    assert shown.shape == (360, 640, 3)
    assert smoke_in(off_screen) > 100
    difference = np.abs(shown - off_screen)
    assert difference.mean() < 0.2 and difference.max() <= 24  # another driver path may round otherwise


def test_they_are_no_demos_of_the_engine() -> None:
    assert not [name for name in demo_names() if name.startswith(("embed", "_"))]
