"""Programs with windows, as processes of their own under a Wayland compositor without a screen."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from driver import PATIENCE
from xvfb import without_displays

SWAY = shutil.which("sway") and shutil.which("swaymsg")
CONFIG = """
output HEADLESS-1 mode 640x400@60Hz
default_border none
xwayland disable
for_window [app_id=".*"] floating enable
"""

needs_wayland = pytest.mark.skipif(
    not SWAY and "CI" not in os.environ, reason="tests of windows on Wayland need sway: apt-get install sway"
)


@contextlib.contextmanager
def compositor() -> Iterator[dict[str, str]]:
    """A compositor that runs until the block ends; yields the environment of what shows windows in it."""
    # not in a test's folder: a socket's path has at most 107 letters
    with tempfile.TemporaryDirectory(prefix="way") as folder:
        config = Path(folder, "config")
        config.write_text(CONFIG)
        env = {k: v for k, v in without_displays().items() if k != "SWAYSOCK"} | {"XDG_RUNTIME_DIR": folder}
        other: dict[str, Any] = {}
        if os.getuid() == 0:  # sway does not run as root
            other = {"user": "nobody", "group": "nogroup", "extra_groups": []}
            for file in (folder, config):
                shutil.chown(file, "nobody")
        headless = {"WLR_BACKENDS": "headless", "WLR_LIBINPUT_NO_DEVICES": "1", "WLR_RENDERER": "pixman"}
        with subprocess.Popen(
            ["sway", "-c", str(config)],
            env={**env, **headless},
            **other,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as sway:
            try:
                yield env | _sockets(Path(folder), sway)
            finally:
                sway.terminate()


def _sockets(folder: Path, sway: subprocess.Popen[str]) -> dict[str, str]:
    """How to reach it, once it listens."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and sway.poll() is None:
        shown = [file for file in folder.glob("wayland-*") if file.suffix != ".lock"]
        told = list(folder.glob("sway-ipc*"))
        if shown and told:
            return {"WAYLAND_DISPLAY": shown[0].name, "SWAYSOCK": str(told[0])}
        time.sleep(0.05)
    sway.terminate()  # or what it has said would be waited for in vain
    raise AssertionError(f"sway does not start: {sway.communicate(timeout=10)[0]}")


def run_on_wayland(folder: Path, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run Python with `command` in `folder`. variables: of its environment, beside those there are."""
    with compositor() as env:
        return subprocess.run(
            [sys.executable, *command],
            check=False,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            cwd=folder,
            env={**env, "LP_NUM_THREADS": "", **variables},
        )
