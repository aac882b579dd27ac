"""Contexts of OpenGL 3.3 and 4.1, without compute: the whole road in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from driver import PATIENCE, python

SCRIPT = """
import sys
import numpy as np
import gpufluid as gf
from gpufluid.gl.contexts import create_context

wanted = int(sys.argv[1])
ctx = create_context()
if ctx.version_code != wanted:
    print(f"the driver gives {ctx.version_code} all the same")
    sys.exit(77)

def run(backend, ctx=None):
    rules = gf.Settings(vorticity_confinement=0.4, buoyancy=4.0)
    fluid = gf.Fluid(gf.Grid((12, 14, 10), 0.05), settings=rules, backend=backend, ctx=ctx)
    fluid.emitters.add(gf.Emitter(gf.Sphere((0.3, 0.15, 0.25), 0.12), density=9.0, temperature=1.0))
    mesh = gf.Mesh.trefoil().fitted(0.4)
    fluid.forces.add(gf.Turbulence(2.0, 0.3))
    knot = fluid.obstacles.add(gf.Obstacle(mesh, position=(0.3, 0.4, 0.25)))
    for n in range(6):
        knot.position = (0.3, 0.4 + 0.005 * n, 0.25)
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
    assert f"OpenGL 4.3, this context is {wanted / 100:.1f}" in str(error)
else:
    raise AssertionError("compute without compute shaders")

frame = gf.FrameRenderer(ctx, (96, 64))
frame.draw(gf.Scene(fluid, camera=gf.Camera(target=(0.3, 0.35, 0.25), distance=1.5), floor=0.0))
picture = frame.read()
assert picture.std() > 10, picture.std()

# what else there is: fire, colours, half floats, another solver, forces, points, rays, particles
rules = gf.Settings(precision="half", pressure=gf.Multigrid(1), combustion=gf.Combustion(), viscosity=1e-4)
other = gf.Fluid(gf.Grid((12, 14, 10), 0.05), gf.Boundaries(top=gf.Open()), rules, ctx=ctx)
low = gf.Sphere((0.3, 0.15, 0.25), 0.1)
other.emitters.add(gf.Emitter(low, density=4.0, temperature=2.0, fuel=1.0, color=(1.0, 0.5, 0.0)))
other.forces.add(gf.ForceExpression("vec3(sin(x * 10.0 + time), 0, 0)"))
other.forces.add(gf.Vortex((0.3, 0.3, 0.25), strength=1.0, radius=0.2))
rays = gf.VolumeRenderer(ctx, method="ray-march")
particles = gf.Particles(ctx, 500, [low], life=1.0)
for _ in range(3):
    other.step(0.05)
    particles.advance(other, 0.05)
assert np.isfinite(other.sample([(0.3, 0.2, 0.25)]).velocity).all() and other.color.read().max() > 0.01
frame = gf.FrameRenderer(ctx, (96, 64), volume=rays)
frame.draw(gf.Scene(other, camera=gf.Camera(target=(0.3, 0.35, 0.25), distance=1.5), fire=gf.Fire()))
assert frame.read().std() > 3
for thing in (particles, rays, frame, other, fluid, twin):
    thing.release()
print("ok")
"""


@pytest.mark.parametrize(("version", "glsl"), [("3.3", "330"), ("4.1", "410")])
def test_everything_runs_without_compute(version: str, glsl: str) -> None:
    """Mesa gives a core context of the version when asked; other drivers may not. 4.1 is what macOS has."""
    wanted = {"MESA_GL_VERSION_OVERRIDE": version, "MESA_GLSL_VERSION_OVERRIDE": glsl}
    done = python("-c", SCRIPT, glsl, env={**os.environ, **wanted})
    if done.returncode == 77:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip() == "ok"


@pytest.mark.parametrize("version", ["3.3", "4.1"])
def test_a_hosts_state_is_kept_in_older_opengl(version: str) -> None:
    """Less can be asked for there, and none of what came later may be called."""
    environment = {**os.environ, "MESA_GL_VERSION_OVERRIDE": version}
    if version == "3.3":  # nor what Mesa has of it as extensions all the same
        later = "GL_ARB_draw_buffers_blend", "GL_ARB_viewport_array", "GL_ARB_clip_control"
        environment["MESA_EXTENSION_OVERRIDE"] = " ".join(f"-{name}" for name in later)
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
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE, cwd=here.parent
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "6 passed" in done.stdout
