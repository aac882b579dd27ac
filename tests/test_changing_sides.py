"""Sides that change while a fluid goes on: gusts, lids that start, inflows that pulsate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import moderngl
import numpy as np
import pytest
from sharing import EVERYWHERE, REST

import gpufluid as gf
from gpufluid.contract.kernels import Variant

pytestmark = pytest.mark.usefixtures("one_context")

GRID = gf.Grid((14, 10, 9), 0.1)
FREE = gf.Wall("free")
CALM = gf.Boundaries(
    left=gf.Inflow((0.5, 0.0, 0.1), density=0.2),
    right=gf.Open(),
    bottom=gf.Wall(temperature=0.3),
    top=gf.Wall(velocity=(0.4, 0.0, 0.0)),
)
GUST = CALM.but(
    left=gf.Inflow((1.7, 0.3, -0.1), density=0.9, temperature=0.7),
    bottom=gf.Wall(temperature=1.5),
    top=gf.Wall(velocity=(-0.8, 0.0, 0.6)),
)
RULES = gf.Settings(viscosity=1e-3, thermal_diffusivity=1e-3, buoyancy=1.0)
STATE = ("velocity", "pressure", "density", "temperature", "color")


def tunnel(sides: gf.Boundaries, backend: str, solid: bool, **changes: Any) -> gf.Fluid:
    """A box with a ball in it, and coloured smoke."""
    fluid = gf.Fluid(GRID, sides, RULES.but(**changes), backend)
    if solid:
        fluid.obstacles.add(gf.Obstacle(gf.Sphere((0.6, 0.5, 0.4), 0.18)))
    fluid.emitters.add(gf.Emitter(gf.Sphere((0.3, 0.4, 0.4), 0.12), color=(1.0, 0.5, 0.2)))
    return fluid


def state(fluid: gf.Fluid) -> dict[str, np.ndarray]:
    """All that a step starts from."""
    return {name: getattr(fluid, name).read() for name in STATE}


def same(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> bool:
    """Whether both are the same to the bit."""
    return all(np.array_equal(one[name], other[name]) for name in STATE)


@pytest.mark.parametrize("solid", [False, True])
@pytest.mark.parametrize("backend", EVERYWHERE)
def test_a_change_goes_on_as_a_fluid_that_was_made_with_those_sides(
    backend: str, solid: bool, tmp_path: Path
) -> None:
    """To the bit where kernels are told of the sides in the same way, from the next step on."""
    ends = []
    for restored in (False, True):
        with tunnel(CALM.but(changing=True), backend, solid) as fluid:
            for _ in range(3):
                fluid.step(0.03)
            fluid.save(tmp_path / "calm", overwrite=True)
            before = state(fluid)
            if not restored:
                fluid.boundaries = GUST
                assert same(state(fluid), before)
                for _ in range(3):
                    fluid.step(0.03)
                ends.append(state(fluid))
                continue
        with tunnel(GUST.but(changing=True), backend, solid) as other:
            other.step(0.0)
            other.restore(tmp_path / "calm")
            for _ in range(3):
                other.step(0.03)
            ends.append(state(other))
    assert same(*ends)
    assert np.abs(ends[0]["velocity"][:9, :10, 0, 0] - 1.7).max() < 1e-6


@pytest.mark.parametrize("solid", [False, True])
def test_backends_agree_on_sides_that_change_in_every_step(solid: bool) -> None:
    ends = []
    for backend in EVERYWHERE:
        with tunnel(CALM, backend, solid) as fluid:
            for n in range(8):
                u = 1.0 + float(np.sin(n))
                fluid.boundaries = fluid.boundaries.but(
                    left=gf.Inflow((u, 0.0, 0.1), density=0.1 * n),
                    bottom=gf.Wall(temperature=0.3 * n),
                    top=gf.Wall(velocity=(0.2 * n, 0.0, 0.0)),
                )
                fluid.step(0.02)
            ends.append(state(fluid))
    for end in ends[1:]:
        for name in STATE:
            np.testing.assert_allclose(end[name], ends[0][name], atol=1e-4, err_msg=name)


@pytest.mark.parametrize("backend", ["fragment", "compute"])
def test_fluids_with_the_same_programs_keep_their_own_sides(backend: str, ctx: moderngl.Context) -> None:
    """In one context, by turns: each is as it is alone."""

    def wind(fluid: gf.Fluid, n: int, strength: float) -> None:
        left = gf.Inflow((strength * n, 0.0, 0.0), density=strength)
        fluid.boundaries = fluid.boundaries.but(left=left)
        fluid.step(0.02)

    sides, ends = CALM.but(changing=True), []
    for strength in (0.3, 0.8):
        with gf.Fluid(GRID, sides, RULES, backend, ctx) as alone:
            for n in range(4):
                wind(alone, n, strength)
            ends.append(alone.velocity.read())
    with gf.Fluid(GRID, sides, RULES, backend, ctx) as one, gf.Fluid(GRID, sides, RULES, backend, ctx) as two:
        for n in range(4):
            wind(one, n, 0.3)
            wind(two, n, 0.8)
        assert np.array_equal(one.velocity.read(), ends[0])
        assert np.array_equal(two.velocity.read(), ends[1])
        one.step(0.02)  # without a change in between, with programs that have another's numbers
        assert np.abs(one.velocity.read()[:9, :10, 0, 0] - 0.9).max() < 1e-6


def test_numbers_that_change_compile_nothing(one_context: Any) -> None:
    """But for once, where sides were not made to change; and no pass is kept for each of them."""
    del one_context
    with tunnel(CALM, "fragment", True) as fluid:
        fluid.step(0.02)
        device, passes = fluid.device, fluid._backend._passes  # type: ignore[attr-defined]
        assert device is not None
        counts, posed = [], []
        for n in range(4):
            fluid.boundaries = fluid.boundaries.but(top=gf.Wall(velocity=(0.1 + n, 0.0, 0.0)))
            fluid.step(0.02)
            counts.append((len(device._programs), len(passes), len(device._kept)))
            posed.append(fluid._solver.projection.problem.variant)
        assert counts[0] == counts[-1]
        assert posed[0] is posed[-1]  # by which coarse grids are made
    with gf.Fluid(GRID, CALM, backend="numpy") as fluid:
        for n in range(4):
            fluid.boundaries = fluid.boundaries.but(top=gf.Wall(velocity=(0.1 + n, 0.0, 0.0)))
            fluid.step(0.02)
            counts.append((len(fluid._backend._kernels), 0, 0))  # type: ignore[attr-defined]
        assert counts[-1] == counts[-2]


def test_sides_that_stay_are_constants() -> None:
    """Also where they are assigned: it is the change that passes are compiled for once more."""
    assert "const vec3 wall_velocity" in Variant(boundaries=CALM).constants(3)
    assert "uniform vec3 wall_velocity" in Variant(boundaries=CALM.but(changing=True)).constants(3)
    with gf.Fluid(GRID, CALM, backend="numpy") as fluid:
        fluid.boundaries = CALM.but(left=CALM.left)
        assert fluid.boundaries is CALM
        fluid.boundaries = GUST
        assert fluid.boundaries == GUST.but(changing=True)
        fluid.boundaries = CALM
        assert fluid.boundaries == CALM.but(changing=True)


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_a_step_under_way_goes_on_by_the_sides_it_began_with(backend: str) -> None:
    pytest.importorskip("greenlet")
    ends = []
    for sliced in (False, True):
        with tunnel(CALM.but(changing=True), backend, True) as fluid:
            for n in range(4):
                if sliced:
                    fluid.advance(0.02, budget_ms=1e-3)
                    fluid.boundaries = GUST if n % 2 == 0 else CALM
                    while not fluid.advance(0.02, budget_ms=1e-3):
                        assert fluid.boundaries.sides == (GUST if n % 2 == 0 else CALM).sides
                else:
                    fluid.step(0.02)
                    fluid.boundaries = GUST if n % 2 == 0 else CALM
            ends.append(state(fluid))
    assert same(*ends)


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_a_step_that_was_given_up_leaves_the_solids_where_they_were(backend: str) -> None:
    """The faces of the sides are closed anew with those of the solids before it."""
    pytest.importorskip("greenlet")
    ends = []
    for given_up in (False, True):
        with tunnel(CALM.but(changing=True), backend, True) as fluid:
            ball = fluid.obstacles[0]
            fluid.step(0.02)
            if given_up:
                ball.position = (0.1, 0.1, 0.0)
                while not fluid.advance(0.02, budget_ms=1e-3) and fluid.progress < 0.5:
                    pass
                assert fluid._stepper.under_way
                fluid._stepper.drop()
                ball.position = (0.0, 0.0, 0.0)
            fluid.boundaries = GUST
            fluid.step(0.02)
            ends.append(state(fluid))
    assert same(*ends)


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_a_checkpoint_keeps_sides_that_have_changed(backend: str, tmp_path: Path) -> None:
    with tunnel(CALM, backend, True) as fluid:
        fluid.step(0.03)
        fluid.boundaries = GUST
        fluid.step(0.03)
        fluid.save(tmp_path / "gust")
        fluid.step(0.03)
        with gf.Fluid.load(tmp_path / "gust", backend=backend) as loaded:
            assert loaded.boundaries == fluid.boundaries
            loaded.step(0.03)
            assert same(state(loaded), state(fluid))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"left": gf.Open()}, r"Fluid\.boundaries\.left cannot go from Inflow\(.* to Open\(\): only .*rest"),
        (
            {"right": gf.Inflow((1.0, 0.0, 0.0))},
            r"boundaries\.right cannot .*an inflow may rest",
        ),
        ({"top": FREE}, r"boundaries\.top cannot go from .* what a side is; make another Fluid"),
        ({"top": gf.Wall(temperature=1.0)}, r"boundaries\.top .* \(a wall without a temperature insulates\)"),
        ({"bottom": gf.Wall()}, r"boundaries\.bottom cannot go .* insulates\); make another Fluid"),
        (
            {"top": gf.Wall(velocity=(0.0, 1.0, 0.0))},
            r"Boundaries\.top: .* must lie .* \(y must be 0\)",
        ),
        ({"lft": gf.Open()}, r"no parameter 'lft'; did you mean 'left'"),
        ({"changing": 1}, r"Boundaries\.changing must be True or False"),
    ],
)
def test_what_cannot_change_is_named(changes: dict[str, Any], says: str) -> None:
    with gf.Fluid(GRID, CALM, backend="numpy") as fluid:
        with pytest.raises(gf.GpufluidError, match=says):
            fluid.boundaries = fluid.boundaries.but(**changes)
        assert fluid.boundaries is CALM
        with pytest.raises(gf.GpufluidError, match=r"Fluid\.boundaries must be a gf\.Boundaries, got Inflow"):
            fluid.boundaries = GUST.left  # type: ignore[assignment]


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_a_pulsating_inflow_keeps_its_flux(backend: str) -> None:
    """Through every section of a channel, in every step; drawn out too."""
    sides = gf.Boundaries(left=gf.Inflow((0.0, 0.0, 0.0)), right=gf.Open(), changing=True)
    rules = gf.Settings(viscosity=1e-3, buoyancy=0.0, pressure=gf.Multigrid(cycles=12))
    with gf.Fluid(gf.Grid((16, 8, 1), 1 / 8), sides, rules, backend) as fluid:
        for n in range(1, 17):
            mean = float(np.sin(2.0 * np.pi * n / 16))
            fluid.boundaries = sides.but(left=gf.Inflow((mean, 0.0, 0.0)))
            fluid.step(1 / 16)
            flux = fluid.velocity.read()[0, :8, :, 0].mean(axis=0)
            np.testing.assert_allclose(flux, mean, atol=5e-6)


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_what_a_changed_inflow_brings_too_much_is_spread_over_a_closed_box(backend: str) -> None:
    """An inflow at rest is one all the same: nothing is told anew when it begins to blow."""
    sides = gf.Boundaries(left=gf.Inflow((0.0, 0.0, 0.0)))
    with gf.Fluid(gf.Grid((8, 8, 8), 1 / 8), sides, gf.Settings(buoyancy=0.0), backend) as fluid:
        fluid.step(0.02)
        fluid.boundaries = sides.but(left=gf.Inflow((0.5, 0.0, 0.0)))
        fluid.step(0.02)
        np.testing.assert_allclose(fluid.divergence.read().mean(), -0.5, atol=1e-4)
        assert abs(fluid.pressure.read().mean()) < 1e-4


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_smoke_that_begins_to_come_in_finds_its_way_into_an_empty_box(backend: str) -> None:
    """Empty space is left out of passes until then."""
    sides = gf.Boundaries(left=gf.Inflow((1.0, 0.0, 0.0)), right=gf.Open(), bottom=FREE, top=FREE)
    with gf.Fluid(gf.Grid((32, 16, 1), 1 / 16), sides, gf.Settings(**REST), backend) as fluid:
        fluid.velocity.write(np.broadcast_to([1.0, 0.0, 0.0], fluid.velocity.shape))
        for _ in range(6):
            fluid.step(1 / 16)
        fluid.boundaries = sides.but(left=gf.Inflow((1.0, 0.0, 0.0), density=1.0))
        for _ in range(5):
            fluid.step(1 / 16)
        assert fluid.density.read()[0, 8].sum() == pytest.approx(5.0, abs=1e-4)
        fluid.boundaries = sides
        for _ in range(8):
            fluid.step(1 / 16)
        row = fluid.density.read()[0, 8]
        assert row.sum() == pytest.approx(5.0, abs=1e-4)
        assert row[:6].max() < 1e-4


def swing(cells: int, backend: str) -> float:
    """Stokes' second problem, by a side that swings with cos(omega t) below one that slips: the rms error."""
    nu, omega, dt = 0.1, 2.0 * np.pi, 2.0 / cells**2
    k = np.sqrt(1j * omega / nu)
    y = (np.arange(cells) + 0.5) / cells

    def exact(t: float) -> np.ndarray:
        return np.asarray((np.cosh(k * (1.0 - y)) / np.cosh(k) * np.exp(1j * omega * t)).real)

    loop = gf.Periodic()
    sides = gf.Boundaries(loop, loop, gf.Wall(velocity=(1.0, 0.0, 0.0)), FREE)
    rules = gf.Settings(viscosity=nu, buoyancy=0.0)
    with gf.Fluid(gf.Grid((4, cells, 1), 1 / cells), sides, rules, backend) as fluid:
        start = np.zeros(fluid.velocity.shape)
        start[0, :-1, :, 0] = exact(0.0)[:, None]
        fluid.velocity.write(start)
        errors = []
        for n in range(1, round(1.0 / dt) + 1):
            wall = gf.Wall(velocity=(float(np.cos(omega * n * dt)), 0.0, 0.0))
            fluid.boundaries = fluid.boundaries.but(bottom=wall)
            fluid.step(dt)
            errors.append(fluid.velocity.at_centers()[0, :, 1, 0] - exact(n * dt))
        return float(np.sqrt(np.mean(np.square(errors))))


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_stokes_second_problem_by_a_side_that_swings(backend: str) -> None:
    """Against the closed form, of second order in the size of the cells."""
    coarse, fine = swing(8, backend), swing(16, backend)
    assert fine < 0.007
    assert fine < coarse / 3.0


@pytest.mark.parametrize("coarse", [False, True])
@pytest.mark.parametrize("piston", [False, True])
@pytest.mark.parametrize("backend", EVERYWHERE)
def test_what_speeds_up_a_column_of_air_pushes_it_by_its_mass(
    piston: bool, coarse: bool, backend: str
) -> None:
    """dp/dx = -du/dt before an inflow, or a solid that blows, which speeds up; p is 0 where it ends.

    On the coarse grid what is carried starts from the new speed of a solid: that is u dt ahead of itself.
    """
    speeding, cells = 1.5, 16
    ends = FREE if piston else gf.Inflow((0.0, 0.0, 0.0))
    sides = gf.Boundaries(ends, gf.Open(), FREE, FREE, changing=True)
    rules = gf.Settings(buoyancy=0.0, coarse_velocity=coarse, pressure=gf.Multigrid(20, tolerance=1e-6))
    with gf.Fluid(gf.Grid((cells, 6, 1), 1 / cells), sides, rules, backend) as fluid:
        solid = gf.Obstacle(gf.Box((0.125, 0.5, 0.0), (0.25, 2.0, 2.0)))
        if piston:
            fluid.obstacles.add(solid)
        for n in range(1, 4):
            velocity = (speeding * 0.02 * n, 0.0, 0.0)
            if piston:
                solid.velocity = velocity
            else:
                fluid.boundaries = fluid.boundaries.but(left=gf.Inflow(velocity))
            fluid.step(0.02)
        left = 1.0 - (np.arange(cells) + 0.5) / cells
        if coarse:
            left = 0.5 * (left[::2] + left[1::2]).repeat(2)
        pressure = np.broadcast_to(speeding * left, (1, 6, cells))[..., 4:]
        ahead = speeding * velocity[0] * 0.02 if piston and coarse else 0.0
        np.testing.assert_allclose(fluid.pressure.read()[..., 4:], pressure, atol=1e-4 + ahead)
