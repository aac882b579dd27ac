"""The six sides of the box: walls, open sides, inflow, periodic boxes."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from sharing import COMPUTED, DRAWN, EVERYWHERE, REST, by_turns, in_pairs

import gpufluid as gf

pytestmark = pytest.mark.usefixtures("one_context")

FREE = gf.Wall("free")


@pytest.mark.parametrize(("axis", "backend"), by_turns([0, 1, 2]))
def test_a_uniform_stream_from_inflow_to_open_stays_uniform(axis: int, backend: str) -> None:
    names = (("left", "right"), ("bottom", "top"), ("back", "front"))[axis]
    stream = tuple(0.8 if a == axis else 0.0 for a in range(3))
    sides: dict[str, Any] = dict.fromkeys(("left", "right", "bottom", "top", "back", "front"), FREE)
    sides[names[0]], sides[names[1]] = gf.Inflow(stream, density=0.5), gf.Open()
    with gf.Fluid(gf.Grid((9, 10, 11), 0.1), gf.Boundaries(**sides), gf.Settings(**REST), backend) as fluid:
        u = np.zeros((12, 11, 10, 3))
        u[..., axis] = 0.8
        fluid.velocity.write(u)
        for _ in range(35):
            fluid.step(0.1)
        faces = [np.s_[:11, :10, :], np.s_[:11, :, :9], np.s_[:, :10, :9]][axis]
        np.testing.assert_allclose(fluid.velocity.read()[faces][..., axis], 0.8, atol=1e-6)
        np.testing.assert_allclose(fluid.density.read(), 0.5, atol=1e-6)  # it has come in everywhere


@pytest.mark.parametrize(
    ("advection", "side", "backend"),
    in_pairs(
        ["semi-lagrangian", "maccormack", "bfecc", "monotone-cubic", "finite-volume"],
        ["left", "right", "bottom", "top"],
        ["numpy", "fragment", "numpy", "compute"],
    ),
)
def test_as_much_comes_in_however_small_the_steps(side: str, backend: str, advection: str) -> None:
    """Down to a twentieth of a cell a step: what is let in during the time, exact where that is linear."""
    a = int(side in ("bottom", "top"))
    ends = (("left", "right"), ("bottom", "top"))[a]
    low = side == ends[0]
    u = np.zeros((2, 17, 17, 3))
    u[..., a] = 1.0 if low else -1.0
    stream = tuple(u[0, 0, 0])
    sides: dict[str, Any] = dict.fromkeys(("left", "right", "bottom", "top"), FREE)
    sides |= {side: gf.Inflow(stream, density=2.0, temperature=3.0), ends[low]: gf.Open()}
    for dt in (0.1, 0.02, 0.005):
        with gf.Fluid(
            gf.Grid((16, 16, 1), 0.1),
            gf.Boundaries(**sides),
            gf.Settings(buoyancy=0.0, advection=advection, solve_velocity=False),
            backend,
        ) as fluid:
            fluid.velocity.write(u)
            for _ in range(round(0.6 / dt)):
                fluid.step(dt)
            density = fluid.density.read()[0].astype(float)
            came = density.sum() / (16 * 2.0)  # cells
            assert came == pytest.approx(6.0, abs=3e-4 if advection == "semi-lagrangian" else 0.65)
            np.testing.assert_allclose(fluid.temperature.read()[0], 1.5 * density, atol=2e-5)
            along = np.moveaxis(density, 1 - a, 0)[:: 1 if low else -1]
            np.testing.assert_allclose(along[0], 2.0, atol=0.01)
            assert np.ptp(along, axis=1).max() < 1e-5


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_clean_air_replaces_smoke_however_small_the_steps(backend: str) -> None:
    """What an open side lets in; the air beside a side that nothing crosses stays as it is."""
    sides = gf.Boundaries(left=gf.Open(), right=gf.Open(), bottom=gf.Open(), top=gf.Open())
    rules = gf.Settings(buoyancy=0.0, solve_velocity=False, ambient_temperature=1.0)
    with gf.Fluid(gf.Grid((16, 16, 1), 0.1), sides, rules, backend) as fluid:
        u = np.zeros((2, 17, 17, 3))
        u[..., 0] = 1.0
        fluid.velocity.write(u)
        fluid.density.write(np.ones((1, 16, 16)))
        for _ in range(80):
            fluid.step(0.01)
        left = fluid.density.read()[0]
        assert left[:, :5].max() < 0.01 and left[:, 12:].min() > 0.99
        np.testing.assert_allclose(fluid.temperature.read(), 1.0, atol=1e-5)
        assert np.ptp(left, axis=0).max() < 1e-6


@pytest.mark.parametrize("backend", COMPUTED)
def test_a_stream_starts_from_rest_when_it_is_driven(backend: str) -> None:
    sides = gf.Boundaries(
        left=gf.Inflow((1.0, 0.0, 0.0)), right=gf.Open(), bottom=FREE, top=FREE, back=FREE, front=FREE
    )
    rules = gf.Settings(**REST, pressure=gf.Jacobi(1500))
    with gf.Fluid(gf.Grid((7, 6, 6), 0.1), sides, rules, backend) as fluid:
        for _ in range(4):
            fluid.step(0.05)
        u = fluid.velocity.read()
        np.testing.assert_allclose(u[:6, :6, :, 0], 1.0, atol=1e-5)
        assert fluid.diagnostics().divergence_rms < 1e-2


def test_a_plume_leaves_through_an_open_top() -> None:
    sides = gf.Boundaries(top=gf.Open(), left=FREE, right=FREE, back=FREE, front=FREE)
    rules = gf.Settings(buoyancy=8.0, ambient_temperature=1.0, pressure=gf.Jacobi(500))
    with gf.Fluid(gf.Grid((12, 14, 12), 0.1), sides, rules, "fragment") as fluid:
        source = fluid.emitters.add(gf.Emitter(gf.Sphere((0.6, 0.3, 0.6), 0.2), density=1.0, temperature=3.0))
        masses = []
        for n in range(60):
            if n == 20:
                source.active = False
            fluid.step(0.05)
            masses.append(fluid.diagnostics().mass)
        assert masses[-1] < 0.5 * max(masses)
        temperature = fluid.temperature.read()
        assert temperature.min() > 1.0 - 1e-4  # what comes in again is of the ambient temperature
        across_top = fluid.velocity.read()[:12, -1, :12, 1]
        assert across_top.max() > 0.05
        assert abs(across_top.sum()) < 0.05 * np.abs(across_top).sum() + 1e-3  # as much comes in as leaves


@pytest.mark.parametrize("backend", COMPUTED)
def test_a_blob_goes_round_a_periodic_box(backend: str) -> None:
    """Carried by whole cells it comes back unchanged, whatever way it leaves."""
    rules = gf.Settings(solve_velocity=False, cfl=None)
    with gf.Fluid(gf.Grid((8, 9, 7), 0.5), gf.Boundaries.all(gf.Periodic()), rules, backend) as fluid:
        u = np.zeros((8, 10, 9, 3))
        u[:] = (0.5, -1.0, 1.5)
        fluid.velocity.write(u)
        blob = np.random.default_rng(3).random((7, 9, 8)).astype(np.float32)
        fluid.density.write(blob)
        fluid.step(1.0)
        np.testing.assert_allclose(fluid.density.read(), np.roll(blob, (3, -2, 1), (0, 1, 2)), atol=2e-6)


@pytest.mark.parametrize("cells_a_step", [-20, -9, 17, 26])
@pytest.mark.parametrize("backend", EVERYWHERE)
def test_a_flow_past_a_solid_goes_round_a_periodic_box_more_than_once(
    backend: str, cells_a_step: int
) -> None:
    """All but the row that the solid stands in: no path ends where there is nothing."""
    rules = gf.Settings(solve_velocity=False, cfl=None, advection="semi-lagrangian")
    with gf.Fluid(gf.Grid((8, 5, 7), 0.5), gf.Boundaries.all(gf.Periodic()), rules, backend) as fluid:
        fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.3), position=(1.75, 1.25, 1.75)))
        for axis in range(3):
            fluid.velocity.write(np.eye(3)[axis] * 0.5 * cells_a_step + np.zeros((8, 6, 9, 3)))
            blob = np.random.default_rng(3).random((7, 5, 8)).astype(np.float32)
            blob[3, 2, 3] = 0.0
            fluid.density.write(blob)
            fluid.step(1.0)
            rows, found = (np.moveaxis(values, 2 - axis, 0) for values in (blob, fluid.density.read()))
            beside = np.ones(rows.shape[1:], bool)
            beside[tuple(n for a, n in enumerate((3, 2, 3)) if a != 2 - axis)] = False
            np.testing.assert_allclose(
                found[:, beside], np.roll(rows, cells_a_step, 0)[:, beside], atol=2e-5, err_msg="xyz"[axis]
            )


@pytest.mark.parametrize("backend", DRAWN)
def test_a_periodic_flow_does_not_know_where_the_box_begins(backend: str, rng: np.random.Generator) -> None:
    """The same flow with the box shifted: the same fields, shifted."""
    cells, shift = (12, 10, 8), (3, 4, 5)
    nx, ny, nz = cells
    sides = gf.Boundaries.all(gf.Periodic())
    rules = gf.Settings(vorticity_confinement=0.4, buoyancy=1.0, pressure=gf.Jacobi(60))
    start, warm = rng.normal(size=(nz, ny, nx, 3)), rng.normal(size=(nz, ny, nx))
    ends = []
    for moved in (False, True):
        with gf.Fluid(gf.Grid(cells, 0.1), sides, rules, backend) as fluid:
            field, heat = start, warm
            if moved:
                field = np.roll(start, shift, (0, 1, 2))
                heat = np.roll(warm, shift, (0, 1, 2))
            u = np.zeros((nz + 1, ny + 1, nx + 1, 3))
            u[:nz, :ny, :nx] = field
            fluid.velocity.write(u)
            fluid.temperature.write(heat)
            for _ in range(5):
                fluid.step(0.02)
            v, t = fluid.velocity.read(), fluid.temperature.read()
            assert np.array_equal(v[:nz, :ny, 0, 0], v[:nz, :ny, nx, 0])
            ends.append((v[:nz, :ny, :nx], t))
    for a, b in zip(*ends, strict=True):
        np.testing.assert_allclose(np.roll(a, shift, (0, 1, 2)), b, atol=2e-5 * np.abs(a).max())


@pytest.mark.parametrize("backend", COMPUTED)
def test_a_moving_lid_drags_the_fluid(backend: str) -> None:
    sides = gf.Boundaries(top=gf.Wall(velocity=(1.0, 0.0, 0.0)))
    with gf.Fluid(gf.Grid((12, 12, 1), 1 / 12), sides, gf.Settings(buoyancy=0.0), backend) as fluid:
        u = np.zeros((2, 13, 13, 3))
        u[0, 11, 1:12, 0] = 0.5  # under the lid: a trace that comes from above takes up the lid's speed
        fluid.velocity.write(u)
        for _ in range(5):
            fluid.step(0.05)
        assert fluid.velocity.read()[0, 11, 1:12, 0].max() > 0.2


def test_three_backends_agree_with_every_side_at_once() -> None:
    sides = gf.Boundaries(
        left=gf.Periodic(),
        right=gf.Periodic(),
        bottom=gf.Inflow((0.1, 0.5, 0.0), density=0.3, temperature=0.5),
        top=gf.Open(),
        back=gf.Wall(velocity=(0.4, 0.0, 0.0)),
        front=gf.Open(),
    )
    ends = []
    for name in EVERYWHERE:
        rules = gf.Settings(vorticity_confinement=0.3, buoyancy=3.0)
        with gf.Fluid(gf.Grid((11, 16, 10), 0.08), sides, rules, name) as fluid:
            fluid.emitters.add(gf.Emitter(gf.Sphere((0.4, 0.3, 0.4), 0.12), density=5.0, temperature=1.0))
            fluid.obstacles.add(gf.Obstacle(gf.Box(size=(0.3, 0.2, 0.3)), position=(0.84, 0.71, 0.46)))
            for _ in range(10):
                fluid.step(0.04)
            ends.append([fluid.velocity.read(), fluid.density.read(), fluid.pressure.read()])
    for expected, *both in zip(*ends, strict=True):
        for got in both:
            assert np.abs(got - expected).max() <= 2e-4 * np.abs(expected).max()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: gf.Boundaries(left=gf.Periodic()),
            r"left and .right must both be gf.Periodic\(\) or neither",
        ),
        (lambda: gf.Boundaries(top="open"), r"Boundaries.top must be a gf.Wall, Open, Inflow or Periodic"),  # type: ignore[arg-type]
        (lambda: gf.Inflow((1.0, float("nan"), 0.0)), r"Inflow.velocity must be three finite numbers"),
        (lambda: gf.Inflow((1.0, 0.0, 0.0), density=-1.0), r"Inflow.density must be a finite number >= 0"),
    ],
)
def test_bad_sides(make: Any, message: str) -> None:
    with pytest.raises(gf.GpufluidError, match=message):
        make()


@pytest.mark.parametrize(
    ("side", "advection", "backend"),
    [
        *product(("left", "right"), ("semi-lagrangian", "maccormack", "bfecc", "monotone-cubic"), ("numpy",)),
        ("left", "semi-lagrangian", "fragment"),
        ("left", "maccormack", "compute"),
        ("right", "bfecc", "fragment"),
        ("right", "monotone-cubic", "compute"),
    ],
)
def test_air_drawn_in_comes_from_rest(side: str, advection: str, backend: str) -> None:
    """Nothing but advection: of the half cells round a face as much is at rest as what came in fills.

    Of a face on the side there is one in the box, full after half a cell. So what stops is what comes.
    """
    sides = gf.Boundaries(**{**dict.fromkeys(("left", "right", "bottom", "top"), FREE), side: gf.Open()})
    # BFECC takes the jump at the side for an error and corrects some of it, unless it is limited
    limiter = "clamp" if advection == "bfecc" else None
    rules = gf.Settings(advection=advection, limiter=limiter, buoyancy=0.0, pressure=gf.Jacobi(0), cfl=None)
    inward = -1.0 if side == "right" else 1.0
    for dt, left in ((0.025, (0.5, 1.0, 1.0)), (0.05, (0.0, 1.0, 1.0)), (0.15, (0.0, 0.0, 1.0))):
        with gf.Fluid(gf.Grid((12, 4, 1), 0.1), sides, rules, backend) as fluid:
            u = np.zeros((2, 5, 13, 3))
            u[0, :4, :, 0] = inward
            fluid.velocity.write(u)
            fluid.step(dt)
            after = fluid.velocity.read()[0, :4, :, 0]
            faces = (12, 11, 10) if side == "right" else (0, 1, 2)
            for face, share in zip(faces, left, strict=True):
                np.testing.assert_allclose(after[:, face], share * inward, atol=1e-5)


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_a_warm_part_pulls_as_in_a_duct(backend: str) -> None:
    """Buoyancy b over l of a duct of length L, open at both ends, sets it off at b l / L on any cells."""
    sides = gf.Boundaries(left=FREE, right=FREE, bottom=gf.Open(), top=gf.Open())
    rules = gf.Settings(buoyancy=2.0, pressure=gf.ConjugateGradient(tolerance=1e-6))
    for n, warm_cells in ((1, 1), (2, 1), (8, 2), (20, 5)):
        with gf.Fluid(gf.Grid((6, n, 1), 1.0 / n), sides, rules, backend) as fluid:
            warm = np.zeros((1, n, 6))
            warm[:, n // 4 : n // 4 + warm_cells] = 1.0
            fluid.temperature.write(warm)
            fluid.step(0.01)
            up = fluid.velocity.read()[0, :, :6, 1]
        np.testing.assert_allclose(up, 0.01 * 2.0 * warm_cells / n, rtol=2e-5)


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_warm_air_below_an_open_top_stays_at_rest(backend: str) -> None:
    """Its pressure rises to 0 at the side itself: p = b (y - H), to rounding."""
    sides = gf.Boundaries(top=gf.Open())
    rules = gf.Settings(buoyancy=2.0, pressure=gf.ConjugateGradient(tolerance=1e-6))
    with gf.Fluid(gf.Grid((5, 7, 6), 0.1), sides, rules, backend) as fluid:
        fluid.temperature.write(np.full((6, 7, 5), 3.0))
        fluid.step(0.1)
        depth = 0.1 * (7 - (np.arange(7) + 0.5))
        expected = np.broadcast_to(-2.0 * 3.0 * depth[None, :, None], (6, 7, 5))
        np.testing.assert_allclose(fluid.pressure.read(), expected, atol=2e-5)
        np.testing.assert_allclose(fluid.velocity.read(), 0.0, atol=2e-5)


@pytest.mark.parametrize(("sides", "backend"), by_turns(["top", "top and right", "left, right and top"]))
def test_potential_flow_through_open_sides_is_of_second_order(sides: str, backend: str) -> None:
    """The gradient of a potential that is 0 on them and level at walls is taken off whole but for O(h^2)."""
    left, right = "left" in sides, "right" in sides
    kx, ky = np.pi * (1.5 if right and not left else 1.0), 0.5 * np.pi
    phase = -0.5 * np.pi if left else 0.0  # of cos(kx x + phase) cos(ky y)
    box = gf.Boundaries(gf.Open() if left else FREE, gf.Open() if right else FREE, FREE, gf.Open())
    rules = gf.Settings(pressure=gf.ConjugateGradient(tolerance=1e-6))
    errors = []
    for n in (8, 16, 32):
        faces, middles = np.arange(n + 1) / n, (np.arange(n) + 0.5) / n
        u = np.zeros((2, n + 1, n + 1, 3))
        u[0, :n, :, 0] = -kx * np.outer(np.cos(ky * middles), np.sin(kx * faces + phase))
        u[0, :, :n, 1] = -ky * np.outer(np.sin(ky * faces), np.cos(kx * middles + phase))
        with gf.Fluid(gf.Grid((n, n, 1), 1.0 / n), box, rules, backend) as fluid:
            fluid.velocity.write(u)
            fluid.project()
            errors.append(float(np.sqrt(np.mean(fluid.velocity.read() ** 2))))
    assert errors[0] < 0.02
    assert np.log2(errors[0] / errors[1]) >= 1.9 and np.log2(errors[1] / errors[2]) >= 1.95


@pytest.mark.parametrize(
    ("advection", "backend"),
    [
        *product(("semi-lagrangian", "maccormack", "bfecc", "monotone-cubic"), ("numpy",)),
        ("maccormack", "fragment"),
        ("maccormack", "compute"),
    ],
)
def test_a_wind_through_an_open_duct_slows_down_as_still_air_comes_in(advection: str, backend: str) -> None:
    """Of what is in it U dt a step is at rest: U = U0 / (1 + U0 t / L), whatever scheme and dt."""
    sides = gf.Boundaries(left=gf.Open(), right=gf.Open(), bottom=FREE, top=FREE)
    rules = gf.Settings(buoyancy=0.0, velocity_advection=advection, pressure=gf.Multigrid(6), cfl=None)
    for dt in (0.2, 0.05, 0.0125):
        with gf.Fluid(gf.Grid((15, 4, 1), 0.1), sides, rules, backend) as fluid:
            wind = np.zeros((2, 5, 16, 3))
            wind[0, :4, :, 0] = 1.0
            fluid.velocity.write(wind)
            for _ in range(round(2.0 / dt)):
                fluid.step(dt)
            after = fluid.velocity.read()[0, :4, :, 0]
        np.testing.assert_allclose(after, 1.0 / (1.0 + 2.0 / 1.5), rtol=0.3 * dt)
