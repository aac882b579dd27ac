"""What may be asked of the driver that the tests run on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import moderngl
import pytest

from gpufluid.gl.contexts import is_software

# llvmpipe's environment in the suite: see conftest and test_compiling. With vectors of four numbers it would
# compile faster, but what it keeps on disk does not tell how many they are, and others break the heap
IN_THE_SUITE = {"GALLIVM_PERF": "nopt", "LP_NUM_THREADS": "0"}
# s that a process which a test started may take: it ends one that hangs, and measures nothing. A machine at
# other work has taken ten times as long as a quiet one.
PATIENCE = 600.0


def within(exact: float, gpu: float) -> float:
    """The tolerance on this driver: `exact` of a software renderer, `gpu` of a GPU.

    A GPU mostly rounds the weights of its filters to 8 bits, and rounds elsewhere where a processor rounds
    as the reference does.
    """
    return exact if is_software(moderngl.get_context()) else gpu


def python(*words: Any, **options: Any) -> subprocess.CompletedProcess[str]:
    """How a process of Python's with these words ended, and what it said. options: as of subprocess.run."""
    command = [sys.executable, *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, **options)


def told_on_gl_33(script: str) -> list[str]:
    """What a Python `script`, its {tests} the folder of the tests, prints in OpenGL 3.3, first of all 330.

    Skips the test on a driver that gives another version than Mesa is told to.
    """
    result = python(
        "-c",
        script.format(tests=str(Path(__file__).parent)),
        env={**os.environ, "MESA_GL_VERSION_OVERRIDE": "3.3"},
    )
    assert result.returncode == 0, result.stderr
    version, *told = result.stdout.split()
    if version != "330":
        pytest.skip("this driver is not Mesa, or is newer than asked for")
    return told
