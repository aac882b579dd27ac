"""Nothing gets through a solid: not one cell thick, not a slanting wall, not a moving one."""

from __future__ import annotations

import numpy as np
import pytest

import gpufluid as gf

pytestmark = pytest.mark.usefixtures("one_context")

N, H = 14, 0.1


def stir(fluid: gf.Fluid, strength: float) -> None:
    """A rough velocity that blows against everything."""
    rng = np.random.default_rng(5)
    u = np.zeros(fluid.velocity.read().shape)
    u[...] = rng.normal(size=u.shape) * strength
    fluid.velocity.write(u)
    fluid.project()


def cell_box(fluid: gf.Fluid, slip: str, *index: int) -> None:
    """One solid cell."""
    center = tuple((i + 0.5) * H for i in index)
    fluid.obstacles.add(gf.Obstacle(gf.Box(size=(1.1 * H,) * 3), position=center, slip=slip))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("advection", "slip", "backend"),
    [
        ("maccormack", "no", "fragment"),
        ("semi-lagrangian", "no", "numpy"),
        ("monotone-cubic", "no", "numpy"),
        ("finite-volume", "no", "compute"),
        ("maccormack", "free", "numpy"),
        ("maccormack", "free", "fragment"),
    ],
)
def test_a_wall_one_cell_thick_lets_nothing_through(advection: str, slip: str, backend: str) -> None:
    rules = gf.Settings(advection=advection, cfl=None, limiter=None)  # traces of several cells
    with gf.Fluid(gf.Grid((N, N, 7), H), settings=rules, backend=backend) as fluid:
        wall = gf.Box.from_corners((0.7, -1.0, -1.0), (0.8, 3.0, 3.0))
        fluid.obstacles.add(gf.Obstacle(wall, slip=slip))
        density = np.zeros((7, N, N))
        density[:, :, :7] = 1.0
        fluid.density.write(density)
        for _ in range(12):
            stir(fluid, 6.0)
            fluid.step(0.1)
        assert fluid.diagnostics().leak == 0.0
        assert not fluid.density.read()[:, :, 7:].any()
        assert fluid.density.read()[:, :, :7].mean() > 0.5


@pytest.mark.parametrize(
    ("touching", "advection", "slip", "backend"),
    [
        ("faces", "maccormack", "no", "compute"),
        ("faces", "monotone-cubic", "no", "numpy"),
        ("faces", "maccormack", "free", "compute"),
        ("corners", "maccormack", "no", "numpy"),
        ("corners", "maccormack", "no", "compute"),
        ("corners", "monotone-cubic", "no", "compute"),
        ("corners", "maccormack", "free", "compute"),
        ("corners", "finite-volume", "no", "fragment"),
    ],
)
def test_a_diagonal_staircase_lets_nothing_through(
    touching: str, advection: str, slip: str, backend: str
) -> None:
    rules = gf.Settings(advection=advection, cfl=None, limiter=None, trace="euler")
    with gf.Fluid(gf.Grid((N, N, 1), H), settings=rules, backend=backend) as fluid:
        for i in range(N):
            cell_box(fluid, slip, i, i, 0)
            if touching == "faces" and i + 1 < N:
                cell_box(fluid, slip, i + 1, i, 0)
        y, x = np.indices((N, N))
        fluid.density.write((y > x)[None].astype(float))
        for _ in range(12):
            stir(fluid, 4.0)
            fluid.step(0.1)
        assert fluid.diagnostics().leak == 0.0
        assert not fluid.density.read()[0][y < x].any()
        assert fluid.density.read()[0][y > x].mean() > 0.5


@pytest.mark.parametrize(
    ("speed", "advection", "slip", "backend"),  # speed: cells a step
    [
        (0.3, "maccormack", "no", "compute"),
        (1.0, "maccormack", "no", "compute"),
        (1.7, "maccormack", "no", "compute"),
        (1.7, "maccormack", "no", "numpy"),
        (1.7, "monotone-cubic", "no", "compute"),
        (0.3, "finite-volume", "no", "numpy"),
        (1.7, "finite-volume", "no", "numpy"),
        (1.7, "finite-volume", "no", "compute"),
        (1.7, "finite-volume", "free", "fragment"),
        (0.3, "maccormack", "free", "compute"),
        (1.7, "maccormack", "free", "numpy"),
        (1.7, "maccormack", "free", "compute"),
    ],
)
def test_a_moving_plate_keeps_the_two_sides_apart(
    speed: float, advection: str, slip: str, backend: str
) -> None:
    rules = gf.Settings(advection=advection, buoyancy=0.0)
    with gf.Fluid(gf.Grid((20, 6, 6), H), settings=rules, backend=backend) as fluid:
        box = gf.Box(size=(2.05 * H, 9.0, 9.0))
        plate = fluid.obstacles.add(gf.Obstacle(box, position=(0.42, 0.3, 0.3), slip=slip))
        density = np.zeros((6, 6, 20))
        density[:, :, 6:] = 1.0
        fluid.density.write(density)
        for _ in range(int(10 / speed)):
            x, y, z = plate.position
            plate.position = (x + speed * H, y, z)
            fluid.step(0.1)
            solid = fluid.solid.read()[3, 3]
            behind = int(np.argmax(solid > 0.5))
            assert behind > 0
            assert not fluid.density.read()[:, :, :behind].any()
            assert fluid.diagnostics().leak == 0.0


def test_the_leak_is_measured() -> None:
    """A velocity written into a wall is a leak until a step closes it."""
    with gf.Fluid(gf.Grid((6, 6, 6), H), backend="numpy") as fluid:
        u = np.zeros((7, 7, 7, 3))
        u[3, 3, 0, 0] = -0.25
        fluid.velocity.write(u)
        assert fluid.diagnostics()["leak"] == pytest.approx(0.25)
        fluid.step(0.1)
        assert fluid.diagnostics()["leak"] == 0.0
