"""The types of the package as mypy sees them in a program of a user's."""

from __future__ import annotations

from pathlib import Path

from driver import python

PROGRAM = """
from __future__ import annotations

from pathlib import Path

import numpy as np

import gpufluid as gf

one = np.float32(1)
fluid = gf.Fluid(gf.Grid(np.array([8, 8, 8]), one), settings=gf.Settings(buoyancy=one, cfl=one))
fluid.settings = fluid.settings.but(viscosity=np.float64(0.1))
source = fluid.emitters.add(gf.Emitter(gf.Sphere((0, 0, 0), one), density=one, temperature=one))
source.density, source.falloff, source.position = one, None, np.zeros(3)
source.density += 1
rate: float = source.density
heat: float | None = source.temperature
wind = fluid.forces.add(gf.Wind((1, 0, 0), one))
ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere(), scale=one, heating=np.uint8(3)))
scene = gf.Scene(fluid, camera=gf.Camera(distance=one), smoke=gf.Smoke(fade=one), floor=one, dt=one)
scene.draw(gf.Line([(0, 0, 0), (1, 1, 1)], one), one, color=np.ones(3), temperature=one)
scene.views.append(gf.ParticlesView(life=one, opacity=one))
picture = gf.Picture(size=[64, 48], exposure=one)
width: int = picture.size[0]
renderer = gf.FrameRenderer(fluid.ctx, np.array([64, 48]), exposure=one)
renderer.resize([64, 48])
brightness: float = renderer.exposure
smoke = gf.VolumeRenderer(fluid.ctx, method="ray-march", resolution=one, frame_ms=one)
with gf.Film("a.mp4", [64, 48], fps=one) as film:
    film.write(renderer.read())
gf.run(scene, out=Path("a.mp4"), size=[64, 48], fps=one)
state = fluid.take_state()
fluid.restore(state)
gf.Fluid.load(state)
fluid.step(one)
gf.show(scene, size=[64, 48], dt=one, seconds=one)

gf.Emitter(gf.Sphere(), density="1")  # type: ignore[arg-type]
source.density = None  # type: ignore[assignment]
whole: int = source.density  # type: ignore[assignment]
gf.Picture(size=64)  # type: ignore[arg-type]
"""


def test_numbers_and_sizes_may_be_numpys_and_lists(tmp_path: Path) -> None:
    """Strictly checked; what is wrong is found as well: mypy tells of an ignore that is of no use."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    options = ("--strict", "--warn-unused-ignores", "--follow-imports", "silent")
    done = python("-m", "mypy", *options, str(program), cwd=Path(__file__).parent.parent)
    assert done.returncode == 0, done.stdout + done.stderr
