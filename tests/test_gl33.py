"""A context of OpenGL 3.3, without compute: the whole road in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import sys
import numpy as np
import gpufluid as gf
from gpufluid.gl.device import create_context

ctx = create_context()
if ctx.version_code != 330:
    print(f"the driver gives {ctx.version_code} all the same")
    sys.exit(77)

def run(backend, ctx=None):
    rules = gf.Settings(vorticity_confinement=0.4, buoyancy=4.0)
    fluid = gf.Fluid(gf.Grid((17, 24, 15), 0.05), settings=rules, backend=backend, ctx=ctx)
    fluid.emitters.add(gf.Emitter(gf.Sphere((0.4, 0.15, 0.4), 0.12), density=9.0, temperature=1.0))
    mesh = gf.Mesh.trefoil().fitted(0.4)
    knot = fluid.obstacles.add(gf.Obstacle(mesh, position=(0.4, 0.6, 0.4)))
    for n in range(10):
        knot.position = (0.4, 0.6 + 0.005 * n, 0.4)
        fluid.step(0.03)
    return fluid

fluid, twin = run("auto", ctx), run("numpy")
assert fluid.backend_name == "fragment" and fluid.device.reading in ("nearest", "texel")
for name in ("density", "temperature", "velocity", "solid"):
    expected = getattr(twin, name).read()
    assert np.abs(getattr(fluid, name).read() - expected).max() <= 2e-4 * np.abs(expected).max(), name
try:
    gf.Fluid(gf.Grid((4, 4, 4)), backend="compute", ctx=ctx)
except gf.GpufluidError as error:
    assert "OpenGL 4.3, this context is 3.3" in str(error)
else:
    raise AssertionError("compute without compute shaders")

frame = gf.FrameRenderer(ctx, (96, 64))
frame.draw(gf.Scene(fluid, camera=gf.Camera(target=(0.4, 0.6, 0.4), distance=2.5), floor=0.0))
picture = frame.read()
assert picture.std() > 10, picture.std()
print("ok")
"""


def test_everything_runs_in_opengl_3_3() -> None:
    """Mesa gives a core context of 3.3 when asked; other drivers may not."""
    environment = {**os.environ, "MESA_GL_VERSION_OVERRIDE": "3.3"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, timeout=120
    )
    if done.returncode == 77:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip() == "ok"


@pytest.mark.parametrize("version", ["3.3", "4.1"])
def test_a_hosts_state_is_kept_in_older_opengl(version: str) -> None:
    """Less can be asked for there, and none of what came later may be called."""
    environment = {**os.environ, "MESA_GL_VERSION_OVERRIDE": version}
    wanted = "fluid_keeps and fragment or error_keeps or view-slices or streamlines"
    here = Path(__file__).with_name("test_state.py")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "-k",
        wanted,
        here,
    ]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=240, cwd=here.parent
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 passed" in done.stdout
