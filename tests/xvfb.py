"""Programs with windows, as processes of their own under Xvfb."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from driver import PATIENCE

XVFB_RUN = ["xvfb-run", "-a", "-s", "-screen 0 800x600x24 -noreset"]
XVFB = bool(shutil.which("xvfb-run") and shutil.which("xauth"))

# Continuous integration has no excuse: there a missing Xvfb, or ImGui, fails.
needs_a_screen = pytest.mark.skipif(
    not XVFB and "CI" not in os.environ, reason="window tests need Xvfb: apt-get install xvfb xauth"
)
needs_the_studio = pytest.mark.skipif(
    not (XVFB and importlib.util.find_spec("imgui_bundle")) and "CI" not in os.environ,
    reason="the studio's tests need Xvfb (apt-get install xvfb xauth) and imgui-bundle",
)


def without_displays() -> dict[str, str]:
    """The environment without displays, and without a library of glfw's, which imgui_bundle names there."""
    displays = "DISPLAY", "WAYLAND_DISPLAY", "XDG_SESSION_TYPE"
    return {k: v for k, v in os.environ.items() if k not in displays and not k.startswith("PYGLFW_")}


def run_under_xvfb(folder: Path, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run Python with `command` in `folder`. variables: of its environment, beside those there are."""
    return subprocess.run(
        [*XVFB_RUN, sys.executable, *command],
        check=False,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        cwd=folder,
        env={
            **without_displays(),
            "LP_NUM_THREADS": "",
            **variables,
        },  # llvmpipe draws with its threads, as for users
    )


def report_of(program: str, folder: Path, **variables: str) -> dict[str, Any]:
    """What a `program` of the tests saw, run in `folder`: the JSON in the last line that it prints."""
    done = run_under_xvfb(folder, str(Path(__file__).with_name(program)), **variables)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return report


def session_of(program: str) -> Any:
    """A fixture of a module: what a `program` of the tests saw, run once for all its tests."""

    @pytest.fixture(scope="module")
    def session(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
        return report_of(program, tmp_path_factory.mktemp("session"))

    return session
