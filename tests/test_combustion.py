"""Fire: the closed form it burns by, what it conserves, how it expands and spreads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sharing import COMPUTED, EVERYWHERE

import gpufluid as gf
from gpufluid import reference
from gpufluid.contract.kernels import Variant

pytestmark = pytest.mark.usefixtures("one_context")

ROUNDING = {"numpy": 1e-6, "fragment": 3e-5, "compute": 3e-5}  # read back in single precision
OPEN_TOP = gf.Boundaries.all(gf.Wall("free"))
OPEN_TOP = gf.Boundaries(OPEN_TOP.left, OPEN_TOP.right, OPEN_TOP.bottom, gf.Open(), *OPEN_TOP.sides[4:])


def burning(
    backend: str = "numpy",
    cells: tuple[int, int, int] = (7, 5, 4),
    boundaries: gf.Boundaries | None = None,
    combustion: gf.Combustion | None = None,
    **rules: Any,
) -> gf.Fluid:
    """A box of random fuel and heat at rest, that only burns."""
    rules = {"buoyancy": 0.0, "combustion": combustion or gf.Combustion(), **rules}
    fluid = gf.Fluid(gf.Grid(cells, 0.1), boundaries, gf.Settings(**rules), backend)
    rng = np.random.default_rng(5)
    for field, most in ((fluid.temperature, 0.6), (fluid.fuel, 0.3), (fluid.density, 0.2)):
        field.write(most * rng.random(cells[::-1]))
    return fluid


def scalars(fluid: gf.Fluid) -> np.ndarray:
    return np.stack([getattr(fluid, n).read() for n in ("density", "temperature", "fuel")], -1).astype(float)


def ode(start: np.ndarray, rules: gf.Combustion, time: float, count: int = 10000) -> np.ndarray:
    """Density, temperature and fuel burnt by Heun's rule in many small steps."""
    state, dt = start.copy(), time / count
    change = np.array([rules.smoke_per_burn, rules.heat_per_burn, -rules.fuel_per_burn])

    def rate(s: np.ndarray) -> np.ndarray:
        hot = rules.burn_per_temperature * np.maximum(s[..., 1] - rules.ignition_temperature, 0.0)
        return np.where(s[..., 2] > 0.0, hot, 0.0)[..., None] * change

    for _ in range(count):
        first = rate(state)
        state = state + 0.5 * dt * (first + rate(state + dt * first))
    return state


# -- burning alone -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_it_burns_as_the_equation_says(backend: str) -> None:
    with burning(backend, solve_velocity=False) as fluid:
        start, rules, dt = scalars(fluid), fluid.settings.combustion, 0.06
        fluid.step(dt)
        end, flame = scalars(fluid), fluid.flame.read()
    assert rules is not None
    expected = ode(start, rules, dt)
    gone = expected[..., 2] <= 0.0
    assert 0 < gone.sum() < gone.size, "some cells must run out of fuel and others not"
    np.testing.assert_allclose(end, expected, atol=2e-3)  # what Heun misses where the fuel runs out
    np.testing.assert_allclose(end[~gone], expected[~gone], atol=ROUNDING[backend])
    np.testing.assert_allclose(dt * flame, (start - end)[..., 2] / rules.fuel_per_burn, atol=2e-5)
    assert (flame[start[..., 1] < rules.ignition_temperature] == 0.0).all()
    assert (flame[(start[..., 1] > 0.06) & (start[..., 2] > 0.01)] > 0.0).all()


@pytest.mark.parametrize("heat", [5.0, 0.0, 1e-12])
@pytest.mark.parametrize("backend", EVERYWHERE)
def test_ten_steps_burn_what_one_does(backend: str, heat: float) -> None:
    ends = []
    for count in (1, 10):
        with burning(backend, combustion=gf.Combustion(heat_per_burn=heat), solve_velocity=False) as fluid:
            before = scalars(fluid)
            for _ in range(count):
                fluid.step(0.12 / count)
            ends.append(scalars(fluid))
    np.testing.assert_allclose(ends[1], ends[0], rtol=ROUNDING[backend], atol=ROUNDING[backend])
    assert (before - ends[0])[..., 2].max() > 0.01


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_hot_gas_radiates_as_the_equation_says(backend: str) -> None:
    """dT/dt = -r (T - ambient)^4, by Heun's rule in small steps: in one step and in ten, not in solids."""
    rules, ambient, time = gf.Combustion(radiation=0.4, burn_per_temperature=0.0), 0.25, 0.5
    ends = []
    for count in (1, 10):
        with burning(backend, combustion=rules, ambient_temperature=ambient, solve_velocity=False) as fluid:
            hot = np.random.default_rng(6).uniform(-0.5, 6.0, (4, 5, 7))
            fluid.obstacles.add(gf.Obstacle(gf.Box((0.05, 0.25, 0.2), (0.1, 0.5, 0.4))))
            fluid.step(1e-9)
            fluid.temperature.write(hot)
            start = fluid.temperature.read().astype(float)
            for _ in range(count):
                fluid.step(time / count)
            ends.append(fluid.temperature.read().astype(float))
            solid = fluid.solid.read() > 0.5
    expected, dt = start - ambient, time / 5000
    for _ in range(5000):
        first = -0.4 * np.maximum(expected, 0.0) ** 4
        expected += 0.5 * dt * (first - 0.4 * np.maximum(expected + dt * first, 0.0) ** 4)
    assert solid.any() and (start[~solid] < ambient).any()
    for end in ends:
        np.testing.assert_allclose((end - ambient)[~solid], expected[~solid], atol=3e-5)
        np.testing.assert_array_equal(end[solid], start[solid])
    assert ends[0].max() - ambient < (3.0 * 0.4 * time) ** (-1 / 3) < start.max() - ambient


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_the_hottest_gas_radiates_down_to_what_time_leaves_it(backend: str) -> None:
    """((T - ambient)^-3 + 3 r t)^(-1/3), also where the cube of it is no float, and never below ambient."""
    rules, ambient, time = gf.Combustion(radiation=0.4, burn_per_temperature=0.0), 0.25, 0.5
    hot = np.array([1e3, 1e6, 3e9, 1e12, 2e13, 1e30, 1e38, 1e-20])
    with burning(backend, combustion=rules, ambient_temperature=ambient, solve_velocity=False) as fluid:
        start = fluid.temperature.read()
        start[0, 0, :4], start[0, 1, :4] = hot[:4], hot[4:]
        fluid.temperature.write(start)
        fluid.step(time)
        end = fluid.temperature.read()[0, :2, :4].ravel().astype(float)
    expected = (np.maximum(hot - ambient, 1e-9) ** -3.0 + 3.0 * 0.4 * time) ** (-1 / 3)
    np.testing.assert_allclose(end[:7], ambient + expected[:7], rtol=1e-5)
    assert end[7] == pytest.approx(1e-20, rel=1e-6)  # colder than the air: it radiates nothing


@settings(max_examples=200, deadline=None)
@given(
    density=st.floats(0, 50),
    temperature=st.floats(-5, 500),
    fuel=st.floats(-1, 100),
    ignition=st.floats(-1, 5),
    rate=st.floats(0, 1e4),
    per=st.tuples(st.floats(1e-3, 100), st.floats(0, 1e3), st.floats(0, 100)),
    dt=st.floats(1e-6, 1e3),
)
def test_what_burns_is_conserved(
    density: float,
    temperature: float,
    fuel: float,
    ignition: float,
    rate: float,
    per: tuple[float, float, float],
    dt: float,
) -> None:
    """Fuel never falls below 0 nor rises, smoke and heat never fall, and fuel + its share burnt stays."""
    rules = gf.Combustion(ignition, rate, *per)
    values, grid = np.array([[[[density, temperature, fuel, 1.0]]]]), gf.Grid((1, 1, 1))
    flame = reference.ignite(
        grid,
        Variant(),
        scalars=values,
        dt=dt,
        ignition=ignition,
        growth=rules.growth(dt),
        fuel_per_burn=rules.fuel_per_burn,
    )
    makes = rules.smoke_per_burn, rules.heat_per_burn, rules.fuel_per_burn
    out = reference.burn(grid, Variant(), scalars=values, flame=flame, dt=dt, per_burn=makes)
    assert np.isfinite(out).all() and np.isfinite(flame).all()
    assert out[0, 0, 0, 0] >= density and out[0, 0, 0, 1] >= temperature and out[0, 0, 0, 3] == 1.0
    assert min(0.0, fuel) <= out[0, 0, 0, 2] <= fuel
    burnt = float(flame[0, 0, 0, 0]) * dt
    assert (burnt > 0.0) <= (temperature > ignition and fuel > 0.0 and rate > 0.0)
    assert out[0, 0, 0, 2] + rules.fuel_per_burn * burnt == pytest.approx(fuel, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("exponent", [0.0, 1e-310, 1e-20, 1e-9, 0.3, 5.0, 79.0])
def test_growth_is_that_of_the_exponential(exponent: float) -> None:
    rules = gf.Combustion(burn_per_temperature=2.0, heat_per_burn=exponent / 0.5)
    series = 1.0 + exponent / 2.0 + exponent**2 / 6.0  # of (exp(x) - 1) / x
    exact = series if exponent < 1e-6 else (np.exp(exponent) - 1.0) / exponent
    assert rules.growth(0.25) == pytest.approx(0.5 * min(exact, 2e18), rel=1e-7)
    assert 0.0 < gf.Combustion(burn_per_temperature=1e30, heat_per_burn=1e30).growth(1e30) < 1e20


@pytest.mark.parametrize("backend", COMPUTED)
def test_nothing_burns_below_ignition_nor_in_solids(backend: str) -> None:
    with burning(backend, combustion=gf.Combustion(ignition_temperature=0.7), pressure=gf.Jacobi(5)) as cold:
        before = scalars(cold)
        cold.step(0.1)
        assert not cold.flame.read().any() and not cold.velocity.read().any()
        np.testing.assert_allclose(scalars(cold), before, atol=1e-6)
    hot = gf.Combustion(ignition_temperature=-1.0)
    with burning(backend, combustion=hot, pressure=gf.Jacobi(5)) as fluid:
        fluid.obstacles.add(gf.Obstacle(gf.Box((0.35, 0.25, 0.2), (0.3, 0.3, 0.2))))
        fluid.step(0.1)
        solid, flame = fluid.solid.read() > 0.5, fluid.flame.read()
        assert solid.any() and (flame[~solid] > 0.0).all() and not flame[solid].any()
        assert not scalars(fluid)[solid].any()


def test_the_flame_is_a_field_that_cannot_be_written() -> None:
    with gf.Fluid(gf.Grid((3, 4, 5)), backend="numpy") as plain:
        assert not plain.flame.read().any() and plain.flame.read().shape == (5, 4, 3)
        assert plain.flame_field is None
    with burning("compute", pressure=gf.Jacobi(5)) as fluid:
        fluid.step(0.1)
        assert fluid.flame_field is not None and fluid.flame_field.components == 1
        np.testing.assert_array_equal(fluid.flame_field.read()[..., 0], fluid.flame.read())
        assert fluid.flame.read().any()
        with pytest.raises(gf.GpufluidError, match=r"flame cannot be written: it follows from fluid\.temp"):
            fluid.flame.write(np.zeros((4, 5, 7)))
        fluid.reset()
        assert not fluid.flame.read().any() and fluid.diagnostics().divergence_rms == 0.0


def test_without_combustion_no_pass_runs() -> None:
    calls: list[str] = []
    with burning(combustion=None) as fluid, gf.Fluid(gf.Grid((4, 4, 4)), backend="numpy") as plain:
        for one in (fluid, plain):
            kernel = one._backend.kernel

            def listed(name: str, variant: Variant, kernel: Any = kernel) -> Any:
                calls.append(name)
                return kernel(name, variant)

            calls.clear()
            one._backend.kernel = listed  # type: ignore[method-assign]
            one.step(0.1)
            ran = {"ignite", "burn", "expand"} & set(calls)
            assert ran == (set() if one is plain else {"ignite", "burn", "expand"})


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"fuel_per_burn": 0.0}, r"Combustion\.fuel_per_burn must be a finite number > 0, got 0\.0"),
        ({"heat_per_burn": -1.0}, r"Combustion\.heat_per_burn must be a finite number >= 0, got -1\.0"),
        ({"smoke_per_burn": float("nan")}, r"Combustion\.smoke_per_burn must be a finite number"),
        ({"burn_per_temperature": "hot"}, r"Combustion\.burn_per_temperature must be a number, got 'hot'"),
        ({"expansion_per_burn": -2}, r"Combustion\.expansion_per_burn must be a finite number >= 0"),
        ({"ignition_temperature": float("inf")}, r"Combustion\.ignition_temperature must be a finite number"),
    ],
)
def test_bad_numbers_are_named(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(gf.GpufluidError, match=message):
        gf.Combustion(**wrong)


def test_settings_take_nothing_but_a_combustion() -> None:
    with pytest.raises(gf.GpufluidError, match=r"Settings\.combustion must be a gf\.Combustion or None"):
        gf.Settings(combustion=True)  # type: ignore[arg-type]


# -- expansion ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("solver", "backend"),
    [
        (gf.ConjugateGradient(60, tolerance=1e-6), "numpy"),
        (gf.ConjugateGradient(60, tolerance=1e-6), "fragment"),
        (gf.Multigrid(20), "numpy"),
    ],
    ids=str,
)
def test_what_burns_leaves_through_the_open_side(backend: str, solver: Any) -> None:
    """The outflow is the volume made by burning; a solid takes nothing of it."""
    rules = gf.Combustion(expansion_per_burn=2.0)
    with burning(backend, (8, 9, 6), OPEN_TOP, rules, pressure=solver) as fluid:
        fluid.temperature.write(np.full((6, 9, 8), 0.5))
        fluid.fuel.write(np.full((6, 9, 8), 10.0))
        fluid.obstacles.add(gf.Obstacle(gf.Box((0.4, 0.3, 0.3), (0.4, 0.2, 0.2))))
        for _ in range(2):
            fluid.step(0.05)
            made = 2.0 * float(fluid.flame.read().sum()) * 0.1**3
            out = float(fluid.velocity.read()[:, -1, :, 1].sum()) * 0.1**2
            assert made > 0.5
            assert out == pytest.approx(made, rel=2e-5)
            told = fluid.diagnostics()
            assert told.divergence_rms < 1e-4 * fluid.divergence.read().max()
            assert told.leak == 0.0
        fluid.project()
        assert float(fluid.velocity.read()[:, -1, :, 1].sum()) * 0.1**2 == pytest.approx(made, rel=2e-5)


@pytest.mark.parametrize(
    ("solver", "periodic", "backend"),
    [
        (gf.Jacobi(40), False, "numpy"),
        (gf.Jacobi(40), True, "compute"),
        (gf.Multigrid(4), False, "numpy"),
        (gf.Multigrid(4), True, "numpy"),
        (gf.ConjugateGradient(30), False, "fragment"),
        (gf.ConjugateGradient(30), True, "numpy"),
    ],
    ids=str,
)
def test_a_closed_box_stays_bounded(backend: str, solver: Any, periodic: bool) -> None:
    """There is no room to expand into: the gas is spread evenly, and nothing drifts."""
    sides = gf.Boundaries.all(gf.Periodic() if periodic else gf.Wall("free"))
    with burning(backend, (9, 8, 7), sides, gf.Combustion(0.05, 0.5), pressure=solver) as fluid:
        fluid.obstacles.add(gf.Obstacle(gf.Box((0.1, 0.1, 0.1), (0.2, 0.2, 0.2))))
        fluid.temperature.write(np.full((7, 8, 9), 0.5))
        fluid.fuel.write(np.where(np.indices((7, 8, 9))[2] < 4, 1e3, 0.0))
        seen = []
        for n in range(24):
            fluid.temperature.write(np.full((7, 8, 9), 0.5))
            fluid.step(0.02)
            if n in (7, 15, 23):
                seen.append(float(np.abs(fluid.pressure.read()).max()))
        fluid_cells = fluid.solid.read() < 0.5
        asked = float(fluid.flame.read().sum())
        mean = asked / float(fluid_cells.sum())
        assert float(fluid.divergence.read()[fluid_cells].sum()) == pytest.approx(0.0, abs=1e-3 * asked)
        assert fluid.diagnostics().divergence_rms == pytest.approx(mean, rel=0.2)
        assert max(seen) < 1.5 * seen[0] + 1e-3
        assert abs(float(fluid.pressure.read()[fluid_cells].mean())) < 1e-4 * max(seen)
        assert np.isfinite(fluid.velocity.read()).all()


@pytest.mark.parametrize(
    ("solver", "backend"),
    [
        (gf.Jacobi(20), "fragment"),
        (gf.Multigrid(2), "numpy"),
        (gf.Multigrid(2), "fragment"),
        (gf.ConjugateGradient(30), "fragment"),
        (gf.ConjugateGradient(30, preconditioner="gauss-seidel"), "numpy"),
        (gf.ConjugateGradient(30, preconditioner="gauss-seidel"), "fragment"),
    ],
    ids=str,
)
def test_a_sealed_room_does_no_harm(backend: str, solver: Any) -> None:
    """Gas that expands where there is no way out has no pressure: it stays, the rest of the box holds."""
    rules = gf.Combustion(burn_per_temperature=0.3)
    with burning(backend, (12, 12, 12), OPEN_TOP, rules, pressure=solver) as fluid:
        for axis in range(3):
            for way in (-0.25, 0.25):
                center, size = np.full(3, 0.6), np.full(3, 0.62)
                center[axis] += way
                size[axis] = 0.1
                fluid.obstacles.add(gf.Obstacle(gf.Box(tuple(center), tuple(size))))
        fluid.fuel.write(np.full((12, 12, 12), 1.0))
        fluid.temperature.write(np.full((12, 12, 12), 0.3))
        for _ in range(20):
            fluid.step(1 / 30)
        velocity, flame = fluid.velocity.read(), fluid.flame.read()
        room = np.zeros((12, 12, 12), bool)
        room[4:8, 4:8, 4:8] = True
        assert flame[room].min() > 0.1 and fluid.solid.read()[3, 4:8, 4:8].all()
        made = float(flame[~room].sum()) * 0.1**3
        left_out = 0.6 if isinstance(solver, gf.ConjugateGradient) else 0.2  # it stops early
        assert float(velocity[:, -1, :, 1].sum()) * 0.1**2 == pytest.approx(made, rel=left_out)
        assert np.abs(velocity).max() < 2.0
        assert np.abs(velocity[4:9, 4:9, 4:9]).max() < 0.5


# -- fire that spreads -------------------------------------------------------------------------------------


def front(fluid: gf.Fluid) -> float:
    """How far along x the fuel is burnt, metres."""
    return float((1.0 - fluid.fuel.read() / 0.1).sum()) * fluid.grid.cell_size


def fuse(diffusivity: float) -> gf.Fluid:
    """A strip full of fuel, lit at its left end, that carries nothing."""
    rules = gf.Settings(
        combustion=gf.Combustion(), thermal_diffusivity=diffusivity, solve_velocity=False, buoyancy=0.0
    )
    fluid = gf.Fluid(gf.Grid((192, 1, 1), 0.01), settings=rules, backend="numpy")
    fluid.fuel.write(np.full((1, 1, 192), 0.1))
    fluid.temperature.write(np.where(np.arange(192) < 4, 1.0, 0.0).reshape(1, 1, 192))
    return fluid


def test_a_flame_lights_its_neighbours() -> None:
    """The front of T' = D T'' + k H T has a speed that grows with the root of D (Kolmogorov et al. 1937)."""
    speeds = []
    for diffusivity in (0.0, 4e-3, 16e-3):
        with fuse(diffusivity) as fluid:
            places = []
            for n in range(121):
                if n % 60 == 0:
                    places.append(front(fluid))
                fluid.step(1 / 240)
            speeds.append((places[2] - places[1]) / 0.25)
    assert speeds[0] == 0.0 and speeds[1] > 0.1
    assert 0.5 < speeds[1] / (2.0 * np.sqrt(4e-3 * 20.0)) < 1.0
    assert speeds[2] / speeds[1] == pytest.approx(2.0, rel=0.2)


def test_the_backends_burn_alike() -> None:
    """A whole step with wind, walls, a solid and diffusion, against NumPy's."""
    ends = []
    for name in ("numpy", "fragment"):
        rules = {"thermal_diffusivity": 2e-3, "cooling": 1.5, "buoyancy": 2.0}
        with burning(name, (8, 9, 6), OPEN_TOP, pressure=gf.Jacobi(20), **rules) as fluid:
            fluid.obstacles.add(gf.Obstacle(gf.Sphere((0.6, 0.4, 0.35), 0.18)))
            fluid.emitters.add(gf.Emitter(gf.Sphere((0.3, 0.2, 0.3), 0.15), fuel=1.0, temperature=0.8))
            for _ in range(4):
                fluid.step(0.02)
            ends.append((scalars(fluid), fluid.flame.read(), fluid.velocity.read()))
    for mine, theirs in zip(*ends, strict=True):
        assert np.abs(theirs).max() > 0.1
        np.testing.assert_allclose(mine, theirs, atol=2e-4 * np.abs(theirs).max())
