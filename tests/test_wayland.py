"""A window on Wayland, under a compositor without a screen and in a process of its own."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest
from wayland import needs_wayland, run_on_wayland
from xvfb import needs_a_screen, run_under_xvfb

from gpufluid.app.display import glfw_chosen


@needs_wayland
def test_a_session_on_wayland(tmp_path: Path) -> None:
    done = run_on_wayland(tmp_path, str(Path(__file__).with_name("wayland_session.py")))
    assert done.returncode != -signal.SIGALRM, "it waits for a screen that does not show the window"
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout.splitlines()[-1])
    assert report["platform"], "the window is not Wayland's"
    assert report["visible"]
    assert report["app_id"] == "gpufluid"
    assert report["panel"] > 20, "the studio's panel is not drawn"
    assert report["pixels"] == [480, 240]
    assert report["fine_pixels"] == [960, 480], "a fine screen gets coarse pictures"
    assert report["hidden"]
    assert report["hidden_frames"] > 0, "nothing goes on while the window is not seen"
    assert report["twelve"] > 10 / 60, "it draws more often than the screen does"


@needs_a_screen
def test_small_delays_between_pictures_do_not_add_up(tmp_path: Path) -> None:
    """A second of a screen of 60 Hz with a clock that oversleeps; then one picture that came late."""
    (tmp_path / "pace.py").write_text(
        "from gpufluid.app import window\n"
        "\n"
        "class Clock:\n"
        "    now = 5.0\n"
        "    def perf_counter(self):\n"
        "        return self.now\n"
        "    def sleep(self, seconds):\n"
        "        self.now += seconds + 0.001\n"
        "\n"
        "window.time = clock = Clock()\n"
        "with window.Window((64, 32), 'pace') as shown:\n"
        "    shown._wait = 1 / 60\n"
        "    shown.show()\n"
        "    began = clock.now\n"
        "    for _ in range(60):\n"
        "        shown.show()\n"
        "    second = clock.now - began\n"
        "    clock.now += 3.0\n"
        "    shown.show()\n"
        "    late = clock.now\n"
        "    for _ in range(6):\n"
        "        shown.show()\n"
        "    print(second, clock.now - late)\n"
    )
    done = run_under_xvfb(tmp_path, "pace.py")
    assert done.returncode == 0, done.stderr
    second, six = map(float, done.stdout.split())
    assert second == pytest.approx(1.0, abs=0.002)
    assert six == pytest.approx(0.1, abs=0.002), "it hurries after what it has missed"


SCENE = """
[grid]
cells = [8, 8, 8]
cell_size = 0.125
"""


@needs_wayland
def test_a_session_that_does_not_tell_its_type(tmp_path: Path) -> None:
    """The glfw package would take X's library where there is no X."""
    (tmp_path / "small.toml").write_text(SCENE)
    done = run_on_wayland(tmp_path, "-m", "gpufluid", "run", "small.toml", "--frames", "2")
    assert done.returncode == 0, done.stderr
    assert not list(tmp_path.glob("*.mp4")), f"no window opened: {done.stderr}"


@needs_a_screen
def test_a_shell_from_a_session_out_of_reach(tmp_path: Path) -> None:
    """XDG_SESSION_TYPE tells of Wayland there, and X is what is to be had."""
    (tmp_path / "small.toml").write_text(SCENE)
    command = "-m", "gpufluid", "run", "small.toml", "--frames", "2"
    done = run_under_xvfb(tmp_path, *command, XDG_SESSION_TYPE="wayland")
    assert done.returncode == 0, done.stderr
    assert not list(tmp_path.glob("*.mp4")), f"no window opened: {done.stderr}"


@pytest.mark.parametrize(
    ("displays", "library"),
    [
        ({"WAYLAND_DISPLAY": "wayland-0"}, "wayland"),
        ({"DISPLAY": ":0"}, "x11"),
        ({"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"}, None),
        ({}, None),
        ({"DISPLAY": ":0", "PYGLFW_LIBRARY_VARIANT": "wayland"}, "wayland"),
    ],
)
def test_glfw_is_told_of_the_display_that_is_there(
    monkeypatch: pytest.MonkeyPatch, displays: dict[str, str], library: str | None
) -> None:
    before = dict(displays)
    with monkeypatch.context() as patched:
        patched.setattr(os, "environ", displays)
        with glfw_chosen():
            assert displays.get("PYGLFW_LIBRARY_VARIANT") == library
    assert displays == before, "other programs inherit it"
