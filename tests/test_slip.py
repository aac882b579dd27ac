"""Free-slip solids: fluid glides along them as along a free-slip wall, and nothing gets through."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from sharing import COMPUTED, REST

import gpufluid as gf

pytestmark = pytest.mark.usefixtures("one_context")

H = 0.1
ALONG = {"left": gf.Periodic(), "right": gf.Periodic()}


def floor_of(slip: str, height: float, **motion: Any) -> gf.Obstacle:
    return gf.Obstacle(gf.Plane(), position=(0.0, height, 0.0), slip=slip, **motion)


# Beside a flat floor


@pytest.mark.parametrize("backend", COMPUTED)
@pytest.mark.parametrize("viscosity", [0.0, 0.01, 2.0])
def test_a_free_floor_keeps_the_speed_and_a_no_slip_one_does_not(viscosity: float, backend: str) -> None:
    """Uniform flow over a floor: exactly as it was over a free-slip one, a boundary layer over the other."""
    rules = gf.Settings(**REST, viscosity=viscosity)
    sides = gf.Boundaries(**ALONG, top=gf.Wall("free"))
    speed = {}
    for slip in ("free", "no"):
        with gf.Fluid(gf.Grid((8, 12, 1), H), sides, rules, backend=backend) as fluid:
            fluid.obstacles.add(floor_of(slip, 0.4))
            u = np.zeros((2, 13, 9, 3))
            u[0, 4:12, :, 0] = 1.0
            fluid.velocity.write(u)
            for _ in range(10):
                fluid.step(0.1)
            speed[slip] = fluid.velocity.read()[0, 4:12, :, 0]
            assert fluid.diagnostics().leak == 0.0
    np.testing.assert_allclose(speed["free"], 1.0, rtol=2e-6)
    if viscosity:
        assert speed["no"][0].max() < 0.9
        assert np.all(np.diff(speed["no"][:, 3]) > 0.0)


@pytest.mark.parametrize("slip", ["free", "no"])
def test_a_shear_flow_between_solids_decays_as_between_walls(slip: str) -> None:
    """Viscosity alone: cos(pi y) between free-slip solids, sin(pi y) between others, has the known rate."""
    n, h, viscosity, dt = 16, 1 / 16, 0.02, 0.05
    rules = gf.Settings(viscosity=viscosity, buoyancy=0.0)
    with gf.Fluid(gf.Grid((4, n + 6, 1), h), gf.Boundaries(**ALONG), rules, backend="numpy") as fluid:
        fluid.obstacles.add(gf.Obstacle(gf.Plane(), (0.0, 3 * h, 0.0), slip=slip))
        roof = gf.Plane(normal=(0.0, -1.0, 0.0))
        fluid.obstacles.add(gf.Obstacle(roof, (0.0, 1.0 + 3 * h, 0.0), slip=slip))
        u = np.zeros((2, n + 7, 5, 3))
        mode = (np.cos if slip == "free" else np.sin)(np.pi * (np.arange(n) + 0.5) / n)
        u[0, 3 : n + 3, :, 0] = mode[:, None]
        fluid.velocity.write(u)
        for _ in range(10):
            fluid.step(dt)
        got = fluid.velocity.read()[0, 3 : n + 3, 2, 0]
    rate = viscosity * dt / h**2 * 4.0 * math.sin(math.pi / (2 * n)) ** 2
    expected = mode / (1.0 + rate) ** 10
    np.testing.assert_allclose(got, expected, atol=1e-6)


@pytest.mark.parametrize(
    ("scheme", "backend"),
    [
        ("semi-lagrangian", "numpy"),
        ("maccormack", "numpy"),
        ("bfecc", "numpy"),
        ("maccormack", "fragment"),
        ("bfecc", "fragment"),
    ],
)
def test_a_free_floor_is_a_free_wall(scheme: str, backend: str) -> None:
    """A vortex over a free-slip floor of voxels, and over the side Wall("free") at the same height."""
    rules = gf.Settings(advection=scheme, viscosity=1e-3, buoyancy=0.0, pressure=gf.Jacobi(60))
    cells = {"solid": (12, 14, 6), "wall": (12, 11, 6)}
    ends = {}
    for kind, (nx, ny, nz) in cells.items():
        low = 3 if kind == "solid" else 0
        sides = gf.Boundaries(gf.Wall("free"), gf.Wall("free"), gf.Wall("free"), back=gf.Wall("free"))
        grid = gf.Grid((nx, ny, nz), H, (0, -low * H, 0))
        with gf.Fluid(grid, sides, rules, backend if low else "numpy") as fluid:
            if low:
                fluid.obstacles.add(floor_of("free", 0.0))
            else:  # a solid far away, so that both take the same traces
                fluid.obstacles.add(gf.Obstacle(gf.Sphere((90.0, 0.0, 0.0))))
            y, x = np.arange(12) / 12, np.arange(12) / 12
            u = np.zeros((nz + 1, ny + 1, nx + 1, 3))
            u[:nz, low : low + 11, 1:12, 0] = np.outer(
                np.cos(np.pi * (y[:11] + 1 / 24)), np.sin(np.pi * x[1:])
            )
            u[:nz, low : low + 11, 2:5, 2] = 0.5
            fluid.velocity.write(u)
            fluid.emitters.add(gf.Emitter(gf.Sphere((0.5, 0.1, 0.3), 0.15), density=2.0, temperature=1.0))
            fluid.project()
            for _ in range(8):
                fluid.step(0.05)
            ends[kind] = [
                fluid.velocity.read()[:nz, low:-1, :-1],
                fluid.density.read()[:, low:],
                fluid.temperature.read()[:, low:],
            ]
    # Inside the solid the scratch fields of the two longer schemes hold the velocity before the step. A trace
    # ends a thousandth of a cell before a solid and as much beyond a side.
    first = 2e-6 if scheme == "semi-lagrangian" else 6e-3
    for got, expected, tolerance in zip(ends["solid"], ends["wall"], (first, 1e-2, 1e-2), strict=True):
        assert np.abs(expected).max() > 0.1
        assert np.abs(got - expected).max() <= tolerance


@pytest.mark.parametrize("backend", COMPUTED)
def test_a_conveyor_carries_along_only_what_it_grips(backend: str) -> None:
    rules = gf.Settings(**REST, viscosity=0.05)
    sides = gf.Boundaries(**ALONG, top=gf.Wall("free"))
    speed = {}
    for slip in ("free", "no"):
        with gf.Fluid(gf.Grid((8, 12, 1), H), sides, rules, backend=backend) as fluid:
            fluid.obstacles.add(floor_of(slip, 0.4, velocity=(0.7, 0.0, 0.0)))
            for _ in range(10):
                fluid.step(0.1)
            speed[slip] = fluid.velocity.read()[0, 4:12, :-1, 0]
    assert not speed["free"].any()
    assert speed["no"][0].min() > 0.3


# Bodies


BODIES = gf.Settings(**REST, viscosity=0.003)


def spun(shape: Any, slip: str, backend: str, spin: tuple[float, float, float], **place: Any) -> float:
    """Kinetic energy of the fluid round a solid that spins for a second."""
    with gf.Fluid(gf.Grid((20, 16, 16), 0.05), settings=BODIES, backend=backend) as fluid:
        fluid.obstacles.add(gf.Obstacle(shape, (0.5, 0.4, 0.4), spin=spin, slip=slip, **place))
        for _ in range(8):
            fluid.step(0.05)
        outside = fluid.solid.read() < 0.5
        return float((fluid.velocity.at_centers()[outside] ** 2).sum())


@pytest.mark.parametrize(
    ("shape", "spin", "place"),
    [
        (gf.Sphere(radius=0.25), (1.0, -2.0, 3.0), {}),
        (gf.Cylinder(radius=0.25, height=0.4), (0.0, 3.0, 0.0), {}),
        (gf.Capsule((-0.1, -0.15, 0), (0.1, 0.15, 0), 0.15), (1.0, 1.5, 0.0), {}),
        (gf.Cylinder(radius=0.2, height=0.5), (0.0, 0.0, 3.0), {"rotation": (0.5**0.5, 0, 0, 0.5**0.5)}),
    ],
    ids=["sphere", "cylinder", "capsule", "lying cylinder"],
)
def test_a_round_solid_spins_without_stirring_where_it_is_smooth(
    shape: Any, spin: tuple[float, float, float], place: dict[str, Any]
) -> None:
    assert spun(shape, "free", "compute", spin, **place) <= 1e-10
    assert spun(shape, "no", "numpy", spin, **place) > 1.0


@pytest.mark.parametrize(
    ("shape", "place"),
    [
        (gf.Box(size=(0.5, 0.3, 0.3)), {}),
        (gf.Cylinder(radius=0.2, height=0.5), {"rotation": (0.5**0.5, 0, 0, 0.5**0.5)}),
        (gf.Sphere(radius=0.25), {"scale": (1.2, 1.0, 0.8)}),
    ],
    ids=["box", "cylinder about a diameter", "ellipsoid"],
)
def test_what_is_not_round_stirs_all_the_same(shape: Any, place: dict[str, Any]) -> None:
    assert spun(shape, "free", "numpy", (0.0, 3.0, 0.0), **place) > 0.3


@pytest.mark.parametrize("backend", COMPUTED)
def test_a_free_solid_that_moves_pushes_with_its_front(backend: str) -> None:
    """The faces that touch fluid have exactly the solid's speed along their normal."""
    with gf.Fluid(gf.Grid((20, 16, 16), 0.05), settings=BODIES, backend=backend) as fluid:
        ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.2), position=(0.35, 0.4, 0.4), slip="free"))
        fluid.step(0.1)
        ball.position = (0.40, 0.42, 0.4)
        fluid.step(0.1)
        solid, u = fluid.solid.read() > 0.5, fluid.velocity.read()
        edge = solid[:, :, 1:] != solid[:, :, :-1]
        np.testing.assert_allclose(u[:-1, :-1, 1:-1, 0][edge], 0.5, rtol=1e-5)
        edge = solid[:, 1:] != solid[:, :-1]
        np.testing.assert_allclose(u[:-1, 1:-1, :-1, 1][edge], 0.2, rtol=1e-5)
        assert fluid.velocity.at_centers()[8, 8, 13, 0] > 0.05


@pytest.mark.parametrize("backend", COMPUTED)
def test_the_energy_of_a_fluid_is_none_of_its_solids(backend: str) -> None:
    """A free solid at rest holds what fluid slips along it by, one that moves its own speed: of neither."""
    with gf.Fluid(gf.Grid((12, 10, 8), 0.1), backend=backend) as fluid:
        fluid.obstacles.add(gf.Obstacle(gf.Box(size=(0.4, 0.3, 0.4)), (0.3, 0.4, 0.4), slip="free"))
        mover = fluid.obstacles.add(gf.Obstacle(gf.Box(size=(0.3, 0.3, 0.4)), (0.85, 0.5, 0.4)))
        u = np.zeros((9, 11, 13, 3))
        u[:8, :10, 1:12, 0] = np.linspace(-1.0, 1.0, 10)[:, None]
        fluid.velocity.write(u)
        mover.position = (0.85, 0.55, 0.4)
        fluid.step(0.05)
        u, solid = fluid.velocity.read().astype(float), fluid.solid.read() > 0.5
        total, left_out = 0.0, 0.0
        for axis, count in enumerate(((8, 10, 13), (8, 11, 12), (9, 10, 12))):
            speed = u[tuple(map(slice, count))][..., axis]
            edges = [(1, 1) if a == 2 - axis else (0, 0) for a in range(3)]
            around = np.pad(solid, edges, "edge")
            low, high = (around.take(range(n, n + count[2 - axis]), 2 - axis) for n in (0, 1))
            total += 0.5e-3 * (speed[~(low & high)] ** 2).sum()
            left_out += 0.5e-3 * (speed[low & high] ** 2).sum()
        assert left_out > 0.01 * total
        np.testing.assert_allclose(fluid.diagnostics().kinetic_energy, total, rtol=1e-5)


@pytest.mark.parametrize("backend", COMPUTED)
def test_free_and_no_slip_solids_side_by_side(backend: str) -> None:
    """A floor half free-slip, half not: the flow is held back over the one half alone; slip may change."""
    rules = gf.Settings(viscosity=2e-3, buoyancy=0.0, pressure=gf.ChebyshevJacobi(60))
    sides = gf.Boundaries(gf.Inflow((1.0, 0.0, 0.0)), gf.Open(), top=gf.Wall("free"))
    with gf.Fluid(gf.Grid((24, 12, 1), H), sides, rules, backend=backend) as fluid:
        fluid.obstacles.add(
            gf.Obstacle(gf.Box.from_corners((-1.0, -1.0, -1.0), (1.2, 0.4, 1.0)), slip="free")
        )
        rough = fluid.obstacles.add(gf.Obstacle(gf.Box.from_corners((1.2, -1.0, -1.0), (9.0, 0.4, 1.0))))
        for _ in range(20):
            fluid.step(0.05)
        u = fluid.velocity.read()[0, 4, :, 0]
        assert fluid.diagnostics().leak == 0.0
        assert u[2:9].min() > 0.9
        assert u[16:].max() < 0.92
        rough.slip = "free"
        for _ in range(40):
            fluid.step(0.05)
        np.testing.assert_allclose(fluid.velocity.read()[0, 4:12, 2:, 0], 1.0, atol=0.005)
        rough.slip = "no"
        for _ in range(20):
            fluid.step(0.05)
        assert fluid.velocity.read()[0, 4, 16:, 0].max() < 0.92


# What it costs


def test_no_pass_runs_where_no_solid_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    from gpufluid.reference.numpy_backend import ReferenceKernel

    calls: list[tuple[str, bool]] = []
    run = ReferenceKernel.__call__

    def counted(self: ReferenceKernel, **arguments: Any) -> None:
        calls.append((self.kernel.name, self.variant.slip))
        run(self, **arguments)

    monkeypatch.setattr(ReferenceKernel, "__call__", counted)
    with gf.Fluid(gf.Grid((6, 6, 6), H), settings=gf.Settings(viscosity=0.01), backend="numpy") as fluid:
        ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere((0.3, 0.3, 0.3), 0.15)))
        fluid.step(0.1)
        before = [name for name, _ in calls]
        assert not any(slip for _, slip in calls)
        assert not {"let_slip", "mark_obstacle"} & set(before)
        ball.slip = "free"
        calls.clear()
        fluid.step(0.1)
        names = [name for name, _ in calls]
        assert names.count("let_slip") == 2
        assert {name for name, slip in calls if slip} == {"close_faces"}
        fluid.obstacles.clear()
        calls.clear()
        fluid.step(0.1)
        assert "let_slip" not in [name for name, _ in calls]


def test_a_wrong_slip_is_named() -> None:
    with pytest.raises(
        gf.GpufluidError, match=r"Obstacle.slip must be one of 'no', 'free', got 'fre'; did you"
    ):
        gf.Obstacle(gf.Sphere(), slip="fre")


@pytest.mark.parametrize("backend", COMPUTED)
def test_nothing_leaks_into_a_free_slip_solid_as_it_is_loaded_or_changed(backend: str) -> None:
    """Faces within have the flow round it, until something closes them anew: no fluid moves there."""
    sides = gf.Boundaries(gf.Inflow((1.0, 0.0, 0.0)), gf.Open(), gf.Wall("free"), gf.Wall("free"))
    with gf.Fluid(gf.Grid((10, 8, 8), H), sides, gf.Settings(**REST), backend=backend) as fluid:
        ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere((4 * H, 4 * H, 4 * H), 2.2 * H), slip="free"))
        for _ in range(2):
            fluid.step(0.05)
        assert fluid.diagnostics().leak <= 1e-6
        with gf.Fluid.load(fluid.take_state()) as loaded:
            assert loaded.diagnostics().leak <= 1e-6
        fluid.boundaries = fluid.boundaries.but(bottom=gf.Wall("free", (0.5, 0.0, 0.0)))
        assert fluid.diagnostics().leak <= 1e-6
        ball.slip = "no"
        assert fluid.diagnostics().leak <= 1e-6
