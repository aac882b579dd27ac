"""Finite volumes: nothing is gained or lost, values stay within their bounds, and edges are sharp."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sharing import COMPUTED, DRAWN, EVERYWHERE, by_turns

import gpufluid as gf
from gpufluid import reference
from gpufluid.contract.backend import KernelCall
from gpufluid.contract.kernels import Variant
from gpufluid.numerics.course import course_of

pytestmark = pytest.mark.usefixtures("one_context")
FREE = gf.Boundaries.all(gf.Wall("free"))
OPEN = gf.Boundaries.all(gf.Open())
ROUND = gf.Boundaries.all(gf.Periodic())
RULES = gf.Settings(advection="finite-volume", solve_velocity=False, cfl=None)
CELLS = (11, 9, 7)
H = 0.1


def curl(rng: np.random.Generator, cells: tuple[int, int, int], sides: gf.Boundaries) -> np.ndarray:
    """A velocity at the faces that is the curl of random edges: it has no divergence, and crosses no wall."""
    nx, ny, nz = cells
    around = sides is ROUND
    edges = rng.normal(size=(nz + 1, ny + 1, nx + 1, 3))
    if nz == 1:
        edges[:] = edges[:1] * [0.0, 0.0, 1.0]
    for axis in range(3 if nz > 1 else 2):
        values = np.moveaxis(edges, 2 - axis, 0)
        if around:
            values[-1] = values[0]
        else:
            values[[0, -1]] = 0.0
    u = np.zeros((nz + 1, ny + 1, nx + 1, 3))
    ex, ey, ez = np.moveaxis(edges, -1, 0)
    u[:nz, :ny, :, 0] = (ez[:nz, 1:] - ez[:nz, :ny]) - (ey[1:, :ny] - ey[:nz, :ny])
    u[:nz, :, :nx, 1] = (ex[1:, :, :nx] - ex[:nz, :, :nx]) - (ez[:nz, :, 1:] - ez[:nz, :, :nx])
    u[:, :ny, :nx, 2] = (ey[:, :ny, 1:] - ey[:, :ny, :nx]) - (ex[:, 1:, :nx] - ex[:, :ny, :nx])
    return u / np.abs(u).max()


def amounts(fluid: gf.Fluid) -> np.ndarray:
    """What there is of density, fuel and each colour."""
    colors = fluid.color.read().astype(float).sum((0, 1, 2))
    return np.array(
        [fluid.density.read().astype(float).sum(), fluid.fuel.read().astype(float).sum(), *colors]
    )


@pytest.mark.parametrize(
    ("crossed", "sides", "backend"),
    by_turns([(0.4, FREE), (1.7, FREE), (0.9, ROUND), (3.3, ROUND), (9.0, ROUND)]),
)
def test_nothing_is_gained_or_lost(
    crossed: float, sides: gf.Boundaries, backend: str, rng: np.random.Generator
) -> None:
    """Rough smoke, fuel and dye in a rough flow, by up to 9 cells a step, round a ball at rest."""
    with gf.Fluid(gf.Grid(CELLS, H), sides, RULES, backend) as fluid:
        fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.2), (0.55, 0.45, 0.35)))
        fluid.velocity.write(curl(rng, CELLS, sides))
        fluid.project()  # it closes the faces of the ball
        shape = CELLS[::-1]
        fluid.density.write(rng.random(shape) * (rng.random(shape) < 0.3))
        fluid.fuel.write(rng.random(shape))
        fluid.color.write(rng.random((*shape, 3)))
        fluid.step(1e-9)
        start = amounts(fluid)
        for _ in range(20):
            fluid.step(crossed * H)
        np.testing.assert_allclose(amounts(fluid), start, rtol=3e-6)
        assert np.abs(fluid.density.read() - start[0] / np.prod(CELLS)).max() < 1.0  # it has been stirred


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_nothing_comes_through_walls_whatever_flow_is_written_there(
    backend: str, rng: np.random.Generator
) -> None:
    """A rough flow that crosses them and that no step closes, for nothing solves for the velocity."""
    with gf.Fluid(gf.Grid(CELLS, H), FREE, RULES, backend) as fluid:
        fluid.velocity.write(rng.normal(size=fluid.velocity.read().shape))
        fluid.density.write(rng.random(CELLS[::-1]))
        start = fluid.density.read().sum(dtype=float)
        for _ in range(5):
            fluid.step(0.07)
        assert fluid.density.read().sum(dtype=float) == pytest.approx(start, rel=3e-6)


@pytest.mark.parametrize("backend", EVERYWHERE)
@pytest.mark.parametrize("crossed", [0.9, 2.6, 3.7])
def test_no_value_leaves_the_bounds_of_the_start(
    crossed: float, backend: str, rng: np.random.Generator
) -> None:
    """Where the flow has no divergence: temperature to rounding, and smoke too, which is an amount."""
    with gf.Fluid(gf.Grid(CELLS, H), ROUND, RULES, backend) as fluid:
        fluid.velocity.write(curl(rng, CELLS, ROUND))
        rough = rng.integers(0, 3, CELLS[::-1]) / 2.0
        fluid.density.write(rough)
        fluid.temperature.write(rough - 0.5)
        for _ in range(8):  # the first of which find jumps everywhere
            fluid.step(crossed * H)
            smoke, heat = fluid.density.read(), fluid.temperature.read()
            assert smoke.min() > -1e-6 and smoke.max() < 1.0 + 1e-5
            assert np.abs(heat).max() < 0.5 + 1e-6
    assert smoke.std() > 0.02


@pytest.mark.parametrize("backend", EVERYWHERE)
@pytest.mark.parametrize("sides", [FREE, ROUND])
@pytest.mark.parametrize("cells", [CELLS, (*CELLS[:2], 1)])
def test_even_smoke_stays_even_however_rough_the_flow(
    cells: tuple[int, int, int], sides: gf.Boundaries, backend: str, rng: np.random.Generator
) -> None:
    """Steps have so many parts that between two axes no cell is asked for more than it has."""
    with gf.Fluid(gf.Grid(cells, H), sides, RULES, backend) as fluid:
        fluid.density.write(np.ones(cells[::-1]))
        for crossed in (0.7, 0.98, 1.9, 4.0, 15.0):
            fluid.velocity.write(curl(rng, cells, sides))
            fluid.step(crossed * H)
            np.testing.assert_allclose(fluid.density.read(), 1.0, atol=4e-6)


@pytest.mark.parametrize("crossed", [0.2, 0.6, 0.95])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_an_even_wind_makes_no_new_extremum(axis: int, crossed: float, rng: np.random.Generator) -> None:
    """Along each axis, in both directions: of rough smoke no row has more ups and downs than before."""
    with gf.Fluid(gf.Grid(CELLS, H), ROUND, RULES, ("fragment", "compute", "numpy")[axis]) as fluid:
        wind = np.zeros(fluid.velocity.read().shape)
        wind[..., axis] = 1.0 - 2.0 * (axis == 1)
        fluid.velocity.write(wind)
        rough = rng.integers(0, 3, CELLS[::-1]) / 2.0
        fluid.density.write(rough)
        fluid.step(crossed * H)
        smoke = fluid.density.read()

    def variation(values: np.ndarray) -> np.ndarray:
        rows = np.moveaxis(values, 2 - axis, 0)
        return np.abs(rows - np.roll(rows, 1, 0)).sum(0)

    assert smoke.min() >= -1e-6 and smoke.max() <= 1.0 + 1e-6
    assert (variation(smoke) <= variation(rough) + 1e-5).all()
    assert np.abs(smoke - rough).max() > 0.1


@pytest.mark.parametrize("backend", EVERYWHERE)
@pytest.mark.parametrize("crossed", [3.0, -3.0, 7.0, 24.0, -22.0])
def test_a_wind_takes_all_as_far_as_it_blows_in_a_step(
    crossed: float, backend: str, rng: np.random.Generator
) -> None:
    """Whole cells, and more of them than the box has."""
    with gf.Fluid(gf.Grid(CELLS, H), ROUND, RULES, backend) as fluid:
        smoke, heat = rng.random((2, *CELLS[::-1]))
        fluid.density.write(smoke)
        fluid.temperature.write(heat)
        fluid.velocity.write(np.broadcast_to((crossed, -crossed, 0.0), fluid.velocity.read().shape))
        fluid.step(H)
        there = int(crossed)
        for field, start in ((fluid.density, smoke), (fluid.temperature, heat)):
            moved = np.roll(start, (-there, there), (1, 2))
            np.testing.assert_allclose(field.read(), moved, atol=2e-5)


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_a_value_stays_even_whatever_divergence_is_left(backend: str, rng: np.random.Generator) -> None:
    """An ambient temperature of 300 K in a flow that no projection has seen, with smoke that gathers."""
    rules = RULES.but(ambient_temperature=300.0)
    with gf.Fluid(gf.Grid(CELLS, H), OPEN, rules, backend) as fluid:
        fluid.velocity.write(rng.normal(size=fluid.velocity.read().shape))
        fluid.density.write(np.ones(CELLS[::-1]))
        for _ in range(6):
            fluid.step(0.02)
        np.testing.assert_allclose(fluid.temperature.read(), 300.0, rtol=2e-6)
        smoke = fluid.density.read()
    assert smoke.min() >= -1e-9 and smoke.std() > 0.1


@settings(max_examples=40, deadline=None)
@given(
    st.tuples(st.integers(1, 6), st.integers(1, 6), st.integers(1, 6)),
    st.sampled_from([FREE, OPEN, ROUND]),
    st.integers(0, 10**6),
    st.floats(0.01, 20.0),
)
def test_no_cell_gives_more_than_it_has(
    cells: tuple[int, int, int], sides: gf.Boundaries, seed: int, crossed: float
) -> None:
    """By kernels alone: smoke is nowhere below 0, in flows of any divergence, however far they go."""
    rng = np.random.default_rng(seed)
    grid, variant = gf.Grid(cells, H), Variant(boundaries=sides)
    deep = cells[2] + 1 if grid.dimensions == 3 else 1
    u = reference.constrain(grid, variant, velocity=rng.normal(size=(deep, cells[1] + 1, cells[0] + 1, 4)))
    for axis in range(grid.dimensions):
        if sides.periodic(axis):  # both sides are one
            faces = np.moveaxis(u, 2 - axis, 0)
            faces[-1] = faces[0]
    values = rng.random((*cells[::-1], 4)) * (rng.random((*cells[::-1], 1)) < 0.5)
    values[..., 3] = 1.0
    start = values[..., 0].sum()
    most = reference.most_asked(grid, variant, velocity=u)[..., :3].max((0, 1, 2)) * crossed
    course = course_of(np.abs(u).max() * crossed, *most, grid.dimensions, seed % 2)
    rules: dict[str, Any] = {"amounts": (1.0, 1.0, 1.0), "keep": (1.0, 1.0, 1.0), "ambient": 0.0}
    for axis, share, ends in course.passes:
        rules |= {"ends": int(ends), "dt": share * crossed * H, "reach": course.reach}
        along = replace(variant, axis=axis)
        values = reference.transport_scalars(grid, along, scalars=values, velocity=u, **rules)
        assert values[..., :3].min() >= -1e-12
    if sides is not OPEN:
        assert values[..., 0].sum() == pytest.approx(start, rel=1e-9, abs=1e-9)


def turned(cells_a_step: float, backend: str) -> tuple[np.ndarray, np.ndarray]:
    """A blob and a disc before and after one turn, [2, y, x, 2]."""
    n = 64
    h, x = 1.0 / n, (np.arange(n) + 0.5) / n
    away = np.hypot(x[None] - 0.5, x[:, None] - 0.7)
    start = np.exp(-0.5 * (away / (4.5 * h)) ** 2), (away < 9.5 * h) * 1.0
    steps = round(0.4 * np.pi / h / cells_a_step)
    with gf.Fluid(gf.Grid((n, n, 1), h), OPEN, RULES, backend) as fluid:
        u = np.zeros(fluid.velocity.read().shape)
        u[:, :n, :, 0] = 2 * np.pi * (0.5 - x[:, None])
        u[:, :, :n, 1] = 2 * np.pi * (x - 0.5)
        fluid.velocity.write(u)
        fluid.density.write(start[0][None])
        fluid.fuel.write(start[1][None])
        for _ in range(steps):
            fluid.step(1.0 / steps)
        end = fluid.density.read()[0], fluid.fuel.read()[0]
    return np.stack(start), np.stack(end)


@pytest.mark.parametrize(("cells_a_step", "backend"), [(0.5, "compute"), (2.0, "fragment")])
def test_what_turns_stays_as_it_is(cells_a_step: float, backend: str) -> None:
    """After one turn a blob has lost 0.026 (MacCormack 0.16), a disc 0.24 (0.42), and neither any smoke."""
    start, end = turned(cells_a_step, backend)
    errors = np.linalg.norm(end - start, axis=(1, 2)) / np.linalg.norm(start, axis=(1, 2))
    assert errors[0] < 0.03 and errors[1] < 0.25
    np.testing.assert_allclose(end.sum((1, 2)), start.sum((1, 2)), rtol=3e-5)  # its tail leaves the box
    assert end.min() >= -1e-9 and end.max() < 1.0 + 1e-5


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_a_flow_too_fast_to_be_measured_carries_nothing(backend: str, rng: np.random.Generator) -> None:
    """By 1e30 m/s, whose square single precision does not hold: no smoke becomes infinite."""
    with gf.Fluid(gf.Grid(CELLS, H), ROUND, RULES, backend) as fluid:
        smoke = rng.random(CELLS[::-1]).astype(np.float32)
        fluid.density.write(smoke)
        fluid.velocity.write(1e30 * curl(rng, CELLS, ROUND))
        with np.errstate(over="ignore"):
            fluid.step(H)
        np.testing.assert_allclose(fluid.density.read(), smoke, rtol=1e-6)


def test_beside_a_solid_that_moves_a_flow_may_be_no_number() -> None:
    """One face alone, as forces of a user's may leave: the step ends, and smoke elsewhere is as it was."""
    with gf.Fluid(gf.Grid(CELLS, H), FREE, RULES, "numpy") as fluid:
        ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.15), (0.35, 0.45, 0.35)))
        fluid.density.write(np.ones(CELLS[::-1]))
        fluid.step(0.1)
        wind = np.zeros((CELLS[2] + 1, CELLS[1] + 1, CELLS[0] + 1, 4))
        wind[3, 4, 9, 0] = np.nan
        fluid._solver.velocity.write(wind)
        ball.position = (0.45, 0.45, 0.35)
        fluid.step(0.1)
        assert (fluid.density.read()[:, :, 10] == 1.0).all()


@pytest.mark.parametrize(("speed", "backend"), [(4.0, "numpy"), (4.0, "fragment"), (8.0, "compute")])
def test_slanted_jets_carry_as_well_in_long_steps(speed: float, backend: str) -> None:
    """Side by side, 8 cells wide, against one another: x + y stays as it is, however far each cell goes."""
    n, way, sigma = 48, 8.0, 4.0
    x = np.arange(n) + 0.5
    across = 2.0 * np.pi / 16.0

    def blob(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        dx, dy = (x - 10.0) % n - n / 2, (y - 11.0) % n - n / 2
        return np.exp(-0.5 * (dx**2 + dy**2) / sigma**2)

    with gf.Fluid(gf.Grid((n, n, 1), 1.0), ROUND, RULES, backend) as fluid:
        u, faces = np.zeros(fluid.velocity.read().shape), np.arange(n + 1.0)
        u[0, :n, :, 0] = -speed * np.sin(across * (x[:, None] + faces))
        u[0, :, :n, 1] = speed * np.sin(across * (x + faces[:, None]))
        fluid.velocity.write(u)
        fluid.density.write(blob(x, x[:, None])[None])
        for _ in range(round(way / speed)):
            fluid.step(1.0)
        gone = way * np.sin(across * (x + x[:, None]))
        there = blob(x + gone, x[:, None] - gone)
        error = np.linalg.norm(fluid.density.read()[0] - there) / np.linalg.norm(there)
    assert error < 0.16  # in two parts 0.25 by 4 cells a step


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_jumps_between_blocks_count_as_those_within(backend: str) -> None:
    """Of winds in both directions, halfway through the box and at its seam, or two cells further on."""
    n, after = 16, []
    for on in (0, 2):
        ways = np.roll(np.where(np.arange(n) < n // 2, 1.5, -1.5), on)
        with gf.Fluid(gf.Grid((n, n, 1), 1.0), ROUND, RULES, backend) as fluid:
            u = np.zeros(fluid.velocity.read().shape)
            u[0, :n, :, 0] = ways[:, None]
            u[0, :, :n, 1] = ways
            fluid.velocity.write(u)
            smoke = np.zeros((n, n))
            smoke[5:10, 6:11] = 1.0
            fluid.density.write(np.roll(smoke, (on, on), (0, 1))[None])
            fluid.step(1.0)
            after.append(np.roll(fluid.density.read()[0], (-on, -on), (0, 1)))
    np.testing.assert_allclose(*after, atol=1e-5)


@pytest.mark.parametrize(("speed", "backend"), [(6.0, "numpy"), (12.0, "fragment")])
def test_waves_across_a_wind_do_not_tremble(speed: float, backend: str) -> None:
    """They differ little, but what first goes far along one axis finds others: ahead or behind, by turns."""
    n, high = 128, 1.97
    x, along = np.arange(n) + 0.5, 2.0 * np.pi / 128.0
    with gf.Fluid(gf.Grid((n, 48, 1), 1.0), ROUND, RULES, backend) as fluid:
        u = np.zeros(fluid.velocity.read().shape)
        u[..., 0] = speed
        u[0, :, :n, 1] = high * np.sin(along * x)
        fluid.velocity.write(u)
        y = x[:48, None]
        fluid.density.write(np.exp(-0.5 * ((x - 32.0) ** 2 + (y - 24.0) ** 2) / 25.0)[None])
        off, middle = [], 32.0
        for step in range(1, 9):
            fluid.step(1.0)
            row = fluid.density.read()[0].sum(1)
            # the middle of the blob, less that of its way: waves even out over its width
            turn = np.angle((row * np.exp(2j * np.pi * y[:, 0] / 48.0)).sum()) * 48.0 / (2.0 * np.pi)
            way = np.cos(along * middle) - np.cos(along * (middle + speed * step))
            way *= high / speed / along * np.exp(-0.5 * (5.0 * along) ** 2)
            off.append((turn - 24.0 - way + 24.0) % 48.0 - 24.0)
    assert np.abs(np.diff(off)).max() < 0.12  # in one part 0.28 and 0.55


@pytest.mark.parametrize("backend", DRAWN)
def test_a_plume_passes_on_what_is_emitted(backend: str) -> None:
    """A rising stream of smoke, 6 cells wide where it begins: at each height as much goes by as comes in."""
    cells, h, dt = (16, 32, 16), 1.0 / 16, 1.0 / 30
    sides = OPEN.but(bottom=gf.Wall("free"))
    rules = gf.Settings(buoyancy=4.0, advection="finite-volume", pressure=gf.Multigrid(2))
    passing = np.zeros(cells[1])
    with gf.Fluid(gf.Grid(cells, h), sides, rules, backend) as fluid:
        fluid.emitters.add(
            gf.Emitter(gf.Sphere((0.5, 0.3, 0.5), 0.2), density=3.0, temperature=1.0, falloff=0.05)
        )
        fluid.step(dt)
        emitted = fluid.diagnostics().mass / dt
        for n in range(100):
            fluid.step(dt)
            if n >= 60:
                smoke, up = fluid.density.read(), fluid.velocity.at_centers()[..., 1]
                passing += (smoke * up).sum((0, 2)) * h**2 / 40
    np.testing.assert_allclose(passing[10:26] / emitted, 1.0, atol=0.06)


@pytest.mark.parametrize("backend", COMPUTED)
@pytest.mark.parametrize("speed", [0.5, 3.5])
def test_what_comes_in_and_goes_out_is_counted(speed: float, backend: str) -> None:
    """A wind of so many cells a step brings its smoke, and takes with it what was there."""
    sides = FREE.but(left=gf.Inflow((speed, 0.0, 0.0), density=2.0, temperature=3.0), right=gf.Open())
    with gf.Fluid(gf.Grid((12, 4, 3), H), sides, RULES, backend) as fluid:
        wind = np.zeros((4, 5, 13, 3))
        wind[..., 0] = speed
        fluid.velocity.write(wind)
        fluid.density.write(np.ones((3, 4, 12)))
        for steps in range(1, 20):
            fluid.step(0.1)
            filled = min(speed * steps, 12.0)
            amount = fluid.density.read().sum() / 12.0
            assert amount == pytest.approx(2.0 * filled + (12.0 - filled), abs=0.02)
        for _ in range(12):
            fluid.step(0.1)
        np.testing.assert_allclose(fluid.density.read(), 2.0, atol=2e-2)
        np.testing.assert_allclose(fluid.temperature.read(), 3.0, atol=3e-2)


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_gas_that_expands_dilutes_its_smoke_and_keeps_its_heat(backend: str) -> None:
    """A flow that has a divergence of 1 everywhere, written by hand: smoke falls as 1 / (1 + dt) a step."""
    cells = (8, 8, 8)
    with gf.Fluid(gf.Grid(cells, H), OPEN, RULES, backend) as fluid:
        u = np.zeros((9, 9, 9, 3))
        for axis in range(3):
            np.moveaxis(u, 2 - axis, 0)[..., axis] = ((np.arange(9) - 4.0) * H / 3.0)[:, None, None]
        fluid.velocity.write(u)
        fluid.density.write(np.full(cells[::-1], 2.0))
        fluid.temperature.write(np.full(cells[::-1], 2.0))
        for _ in range(10):
            fluid.step(0.05)
        np.testing.assert_allclose(fluid.density.read()[2:-2, 2:-2, 2:-2], 2.0 * 0.95**10, rtol=2e-3)
        np.testing.assert_allclose(fluid.temperature.read(), 2.0, rtol=1e-5)


@pytest.mark.parametrize("backend", COMPUTED)
@pytest.mark.parametrize("speed", [0.3, 0.45, 1.3])
def test_a_piston_pushes_on_what_is_before_it(speed: float, backend: str) -> None:
    """By parts of a cell a step, for half of a duct that begins anew at its end: even smoke stays even."""
    sides = gf.Boundaries(gf.Periodic(), gf.Periodic(), gf.Wall("free"), gf.Wall("free"))
    rules = gf.Settings(advection="finite-volume", buoyancy=0.0)
    with gf.Fluid(gf.Grid((24, 4, 1), 1.0), sides, rules, backend) as fluid:
        piston = fluid.obstacles.add(gf.Obstacle(gf.Box(size=(3.0, 9.0, 9.0)), (4.5, 2.0, 0.5), slip="free"))
        fluid.step(1e-6)
        wind = np.zeros(fluid.velocity.read().shape)
        wind[..., 0] = speed
        fluid.velocity.write(wind)
        smoke = np.zeros((1, 4, 24))
        smoke[..., 6:16] = 1.0
        fluid.density.write(smoke)
        for step in range(1, round(12 / speed)):
            piston.position = (4.5 + step * speed, 2.0, 0.5)
            fluid.step(1.0)
        after, solid = fluid.density.read(), fluid.solid.read()
    assert not after[solid > 0.5].any()
    assert after.sum() == pytest.approx(smoke.sum(), rel=0.05)


@pytest.mark.parametrize(("coarse", "backend"), [(False, "numpy"), (False, "fragment"), (True, "compute")])
def test_a_free_slip_ball_pushes_on_what_is_before_it(coarse: bool, backend: str) -> None:
    """By three cells a step through even smoke: its inside goes with it, not with what slips past it."""
    sides = gf.Boundaries(gf.Periodic(), gf.Periodic(), *[gf.Wall("free")] * 4)
    rules = RULES.but(solve_velocity=True, buoyancy=0.0, pressure=gf.Multigrid(2), coarse_velocity=coarse)
    with gf.Fluid(gf.Grid((32, 16, 16), 1.0), sides, rules, backend) as fluid:
        ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=4.0), (8.0, 8.0, 8.0), slip="free"))
        fluid.step(1e-9)
        fluid.density.write(1.0 - fluid.solid.read())
        start = fluid.density.read().sum()
        for step in range(1, 6):
            ball.position = (8.0 + 3.0 * step, 8.0, 8.0)
            fluid.step(1.0)
            smoke = fluid.density.read()
            assert smoke[fluid.solid.read() < 0.5].min() > 0.7  # without that 0.1
        assert smoke.sum() == pytest.approx(start, rel=0.01)
        solid, along = fluid.solid.read() > 0.5, fluid.velocity.read()[:-1, :-1, 1:-1, 0]
        assert along[solid[..., 1:] & solid[..., :-1]].min() < 2.0  # and then the fluid slips past again


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_a_solid_that_comes_in_pushes_on_what_is_in_the_box(backend: str) -> None:
    """Through an open side, by 1.5 cells a step in two parts: no clean air from beyond comes before it."""
    with gf.Fluid(
        gf.Grid((12, 4, 3), 1.0), FREE.but(left=gf.Open(), right=gf.Open()), RULES, backend
    ) as fluid:
        piston = fluid.obstacles.add(gf.Obstacle(gf.Box(size=(20.0, 9.0, 9.0)), (22.2, 2.0, 1.5)))
        fluid.step(1e-9)  # there
        fluid.velocity.write(np.tile([-1.5, 0.0, 0.0], (4, 5, 13, 1)))
        fluid.density.write(np.ones((3, 4, 12)))
        for step in range(1, 6):
            piston.position = (22.2 - 1.5 * step, 2.0, 1.5)
            fluid.step(1.0)
        np.testing.assert_allclose(fluid.density.read() + fluid.solid.read(), 1.0, rtol=1e-5)


def test_empty_space_changes_no_bit_in_a_rough_flow(rng: np.random.Generator) -> None:
    """Where an empty cell would give more than it has, how much fluid comes from it counts beside it."""
    cells = (40, 24, 20)
    wind, after = rng.normal(size=(21, 25, 41, 3)) * 0.3, []
    for skip in (True, False):
        with gf.Fluid(gf.Grid(cells, H), OPEN, RULES.but(skip_empty=skip), "fragment") as fluid:
            if strips := fluid._solver.empty._strips:
                strips.always = True  # type: ignore[attr-defined]
            fluid.velocity.write(wind)
            warm = np.zeros(cells[::-1])
            warm[8:12, 9:13, 10:14] = 1.0
            fluid.temperature.write(warm)
            for _ in range(6):
                fluid.step(H)
            after.append(fluid.temperature.read())
    assert np.array_equal(*after)


def test_a_box_that_has_moved_may_lose_its_last_solid() -> None:
    with gf.Fluid(gf.Grid(CELLS, H), OPEN, RULES, "numpy") as fluid:
        fluid.density.write(np.ones(CELLS[::-1]))
        ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.1), (0.5, 0.45, 0.35)))
        fluid.step(0.1)
        fluid.scroll((1, 0, 0))
        fluid.obstacles.remove(ball)
        fluid.step(0.1)
        assert fluid.density.read()[:, :, :10].min() == 1.0


def test_steps_turn_the_axes_round_and_a_saved_fluid_goes_on_by_them(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    """x, y, z and then back; a step that turns what it carries does both, and the middle one in one pass."""
    axes: list[int] = []

    with gf.Fluid(gf.Grid(CELLS, H), ROUND, RULES, "numpy") as fluid:
        kernel = fluid._solver.backend.kernel

        def noted(name: str, variant: Variant) -> KernelCall:
            call = kernel(name, variant)
            if name != "transport_scalars":
                return call

            def run(**given: Any) -> None:
                axes.append(variant.axis)
                call(**given)

            return run  # type: ignore[return-value]

        monkeypatch.setattr(fluid._solver.backend, "kernel", noted)
        fluid.velocity.write(np.full(fluid.velocity.read().shape, 1.0))
        fluid.density.write(rng.random(CELLS[::-1]))
        fluid.step(0.9 * H)
        assert axes == [0, 1, 2]
        fluid.step(0.9 * H)
        assert axes == [0, 1, 2, 2, 1, 0]
        fluid.step(0.9 * H)
        wind = np.ones(fluid.velocity.read().shape)
        wind[..., 1] += rng.random((1, 1, wind.shape[2]))  # shears it
        fluid.velocity.write(wind)
        fluid.save(tmp_path / "a.npz")
        axes.clear()
        fluid.step(1.9 * H)
        assert axes == [2, 1, 0, 1, 2]
        with gf.Fluid.load(tmp_path / "a.npz", backend="numpy") as again:
            again.step(1.9 * H)
            assert np.array_equal(again.density.read(), fluid.density.read())
        fluid.reset()
        axes.clear()
        fluid.step(0.1)
        assert axes == [0, 1, 2]


def test_the_velocity_is_carried_by_another_scheme(rng: np.random.Generator) -> None:
    wind = curl(rng, CELLS, FREE)
    after = []
    for scheme in ("finite-volume", "maccormack"):
        rules = gf.Settings(advection=scheme, buoyancy=0.0, pressure=gf.Jacobi(0), cfl=None)
        assert rules.velocity_scheme == "maccormack"
        with gf.Fluid(gf.Grid(CELLS, H), FREE, rules, "numpy") as fluid:
            fluid.velocity.write(wind)
            fluid.step(0.06)
            after.append(fluid.velocity.read())
    assert np.array_equal(*after)
    with pytest.raises(gf.GpufluidError, match="velocity_advection must be one of 'maccormack', "):
        gf.Settings(velocity_advection="finite-volume")
