"""Forces of the user: accelerations in closed form on three backends, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from sharing import CELLS, COMPUTED, DRAWN, EVERYWHERE, by_turns

import gpufluid as gf
from gpufluid.contract.kernels import WAVES
from gpufluid.numerics.turbulence import waves

pytestmark = pytest.mark.usefixtures("one_context")

GRID = gf.Grid((12, 10, 9), 0.1, (-0.6, 0.2, -0.45))
FREE = gf.Settings(buoyancy=0.0, pressure=gf.Jacobi(0))  # without pressure each force is seen as it is
DT = 0.02
WALLS, ROUND = gf.Boundaries(), gf.Boundaries.all(gf.Periodic())


def places(axis: int, grid: gf.Grid = GRID) -> np.ndarray:
    """Centres of the inner low faces along an axis, [..., 3], metres."""
    ranges = [np.arange(n) + 0.5 for n in grid.cells]
    ranges[axis] = np.arange(1, grid.cells[axis])
    x, y, z = (o + r * grid.cell_size for o, r in zip(grid.origin, ranges, strict=True))
    return np.stack(np.meshgrid(z, y, x, indexing="ij")[::-1], axis=-1)


def inner(velocity: np.ndarray, axis: int) -> np.ndarray:
    """A component on its inner faces."""
    cut = [slice(0, -1)] * 3
    cut[2 - axis] = slice(1, -1)
    return velocity[(*cut, axis)]


def pushed(backend: str, *forces: Any, steps: int = 1, grid: gf.Grid = GRID) -> np.ndarray:
    with gf.Fluid(grid, settings=FREE, backend=backend) as fluid:
        for force in forces:
            assert fluid.forces.add(force) is force
        for _ in range(steps):
            fluid.step(DT / steps)
        return fluid.velocity.read()


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_vortex_and_attractor_in_closed_form(backend: str) -> None:
    center, axis, radius = np.array((0.05, 0.6, 0.02)), np.array((1.0, 2.0, 2.0)), 0.3
    for kind in ("vortex", "attractor"):
        force: Any = gf.Vortex(center, axis, 4.0, radius)
        if kind == "attractor":
            force = gf.Attractor(center, -4.0, radius)
        u = pushed(backend, force)
        largest = 0.0
        for i in range(3):
            d = places(i) - center
            if kind == "vortex":
                turn = np.cross(axis / 3, d)
                off = np.linalg.norm(turn, axis=-1)
            else:
                turn, off = d, np.linalg.norm(d, axis=-1)
            s = off / radius
            expected = DT * 4.0 * s * np.exp((1 - s**2) / 2) * turn[..., i] / off
            np.testing.assert_allclose(inner(u, i), expected, atol=1e-6)
            largest = max(largest, np.abs(expected).max())
        assert 0.8 * 4.0 * DT < largest <= 4.0 * DT


@pytest.mark.parametrize("backend", DRAWN)
def test_wind_draws_all_to_its_velocity_whatever_dt(backend: str) -> None:
    grid = gf.Grid((6, 6, 6), 1.0)
    for steps in (1, 4):
        u = pushed(backend, gf.Wind((0.2, -0.1, 0.3), rate=30.0), steps=steps, grid=grid)
        share = 1 - math.exp(-30.0 * DT)
        for axis, speed in enumerate((0.2, -0.1, 0.3)):
            middle = inner(u, axis)[2:-2, 2:-2, 2:-2]
            np.testing.assert_allclose(middle, share * speed, rtol=1e-5)


def nearness(
    axis: int, center: tuple[float, ...], radius: float, box: np.ndarray | None = None
) -> np.ndarray:
    """exp(-s^2 / 2) on the inner faces, s radii from `center` or its nearest image `box` (m) further on."""
    off = places(axis) - center
    if box is not None:
        off -= np.round(off / box) * box
    return np.exp(-0.5 * (off**2).sum(-1) / radius**2)


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_a_wind_about_a_place_whatever_dt(backend: str) -> None:
    """As weak as it is, in one step or in four: what it brings within a step is not carried on yet."""
    center, still = (0.05, 0.6, 0.1), FREE.but(advection="semi-lagrangian", trace="euler")
    for rate, steps, atol in ((30.0, 1, 1e-7), (0.02, 1, 1e-11), (30.0, 4, 2e-6)):
        with gf.Fluid(GRID, settings=still, backend=backend) as fluid:
            fluid.forces.add(gf.Wind((2e-4, -1e-4, 3e-4), rate, center=center, radius=0.3))
            for _ in range(steps):
                fluid.step(DT / steps)
            u = fluid.velocity.read()
        for axis, speed in enumerate((2e-4, -1e-4, 3e-4)):
            expected = -speed * np.expm1(-rate * DT * nearness(axis, center, 0.3))
            inside = (slice(2, -2),) * 3
            np.testing.assert_allclose(inner(u, axis)[inside], expected[inside], rtol=0, atol=atol)


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_wind_and_turbulence_about_the_nearest_image(backend: str) -> None:
    center, box = (-0.55, 0.3, -0.4), np.multiply(GRID.cells, GRID.cell_size)
    stir = gf.Turbulence(3.0, 0.9, 0.4, seed=7, center=center, radius=0.2)
    for sides, size in ((ROUND, box), (WALLS, None)):
        for force in (stir, gf.Wind((0.0, 0.0, 3.0), 1.0 / DT, center=center, radius=0.2)):
            with gf.Fluid(GRID, sides, FREE, backend=backend) as fluid:
                fluid.forces.add(force)
                fluid.step(DT)
                u = fluid.velocity.read()
            for axis in range(3):
                near = nearness(axis, center, 0.2, size)
                if force is stir:
                    expected = DT * near * stirred(stir, places(axis), 0.0, sides)[..., axis]
                else:
                    expected = -(3.0 if axis == 2 else 0.0) * np.expm1(-near)
                np.testing.assert_allclose(inner(u, axis), expected, atol=2e-6)
                assert near.max() > 0.7 > 1e-3 > near.min()


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_in_2d_the_depth_of_a_center_does_not_matter(backend: str) -> None:
    grid, flows = gf.Grid((12, 10, 1), 0.1), []
    for z in (0.05, 7.0):
        with gf.Fluid(grid, settings=FREE, backend=backend) as fluid:
            fluid.forces.add(gf.Wind((1.0, 0.5, 0.0), 5.0, center=(0.6, 0.5, z), radius=0.2))
            fluid.forces.add(gf.Turbulence(2.0, center=(0.6, 0.5, z), radius=0.2))
            fluid.step(DT)
            flows.append(fluid.velocity.read())
    assert np.array_equal(*flows) and np.abs(flows[0]).max() > 0.05


def test_what_is_about_a_place_may_be_as_narrow_or_as_strong_as_numbers_go() -> None:
    grid, center = gf.Grid((8, 8, 8), 0.125), (0.5, 0.5625, 0.5625)  # the middle of a face
    for force in (
        gf.Wind((1.0, 0.0, 0.0), 3e38, center=center, radius=0.01),
        gf.Wind((1.0, 0.0, 0.0), 1.0, center=center, radius=1e-300),
        gf.Turbulence(center=center, radius=1e-300),
        gf.Vortex(center, radius=1e-300),
        gf.Attractor(center, radius=1e-300),
    ):
        flows = []
        for backend in DRAWN:
            with gf.Fluid(grid, settings=FREE.but(cfl=None), backend=backend) as fluid:
                fluid.forces.add(force)
                fluid.step(8.0)
                flows.append(fluid.velocity.read())
        np.testing.assert_allclose(*flows, atol=1e-4)
        assert np.count_nonzero(flows[0]) < 10


def test_a_center_may_be_as_far_off_as_numbers_go() -> None:
    """An attractor 1e20 m off made every velocity NaN; a formula may divide by next to nothing."""
    for far, radius in ((1e20, 1.0), (1e20, 1e25), (3e38, 1.0), (3e38, 3e38)):
        for force in (
            gf.Wind((1.0, 0.0, 0.0), center=(far, 0.0, 0.0), radius=radius),
            gf.Turbulence(center=(far, 0.0, 0.0), radius=radius),
            gf.Vortex((far, 0.0, 0.0), radius=radius),
            gf.Attractor((far, 0.0, 0.0), radius=radius),
        ):
            with gf.Fluid(GRID, settings=FREE, backend="fragment") as fluid:
                fluid.forces.add(force)
                fluid.step(DT)
                assert np.isfinite(fluid.velocity.read()).all()


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_a_field_of_forces(backend: str, rng: np.random.Generator) -> None:
    values = rng.normal(size=(*GRID.cells[::-1], 3))
    force = gf.ForceField(values, strength=2.0)
    told = " x ".join(map(str, values.shape))
    assert repr(force) == f"ForceField({told} values, strength=2.0, active=True)", "not all its numbers"
    u = pushed(backend, force)
    for axis in range(3):
        low, high = [slice(None)] * 3, [slice(None)] * 3
        low[2 - axis], high[2 - axis] = slice(0, -1), slice(1, None)
        mean = 0.5 * (values[(*low, axis)] + values[(*high, axis)])
        np.testing.assert_allclose(inner(u, axis), 2 * DT * mean, atol=1e-6)
    with gf.Fluid(GRID, settings=FREE, backend=backend) as fluid:
        fluid.forces.add(force)
        fluid.step(DT)
        force.values = np.zeros_like(values)
        before = fluid.velocity.read()
        force.active = True
        fluid.velocity.write(np.zeros_like(before))
        fluid.step(DT)
        assert not fluid.velocity.read().any()
        force.values = np.full_like(values, np.nan)
        with pytest.raises(ValueError, match=r"ForceField.values must be finite, got nan at \(0, 0, 0, 0\)"):
            fluid.step(DT)
        assert not fluid.velocity.read().any()
        force.values = np.zeros((2, 2, 2, 3))
        with pytest.raises(ValueError, match=r"must have the shape \(9, 10, 12, 3\) in this fluid"):
            fluid.step(DT)


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_an_expression_of_place_and_time(backend: str) -> None:
    force = gf.ForceExpression(
        "vec3(time, sin(x * 10.0) + position.z,\n y) // a comment",
        numpy=lambda p, t: np.stack(
            [np.full(p.shape[:-1], t), np.sin(10 * p[..., 0]) + p[..., 2], p[..., 1]], -1
        ),
    )
    with gf.Fluid(GRID, settings=FREE, backend=backend) as fluid:
        fluid.step(0.5)
        fluid.forces.add(force)
        fluid.step(DT)
        u = fluid.velocity.read()
        np.testing.assert_allclose(inner(u, 0), 0.5 * DT, rtol=1e-5)
        p = places(1)
        np.testing.assert_allclose(inner(u, 1), DT * (np.sin(10 * p[..., 0]) + p[..., 2]), atol=1e-6)
        np.testing.assert_allclose(inner(u, 2), DT * places(2)[..., 1], atol=1e-6)


@pytest.mark.parametrize(("strength", "backend"), by_turns([(300.0,), (1e6,), (3e38,)]))
def test_any_confinement_leaves_a_flow_that_can_be_computed(strength: float, backend: str) -> None:
    """And one that is too strong is the strongest that a step can have, also in parts of it."""
    flows = []
    for given in (strength, 60.0):
        rules = gf.Settings(vorticity_confinement=given, cfl=None)
        with gf.Fluid(gf.Grid((12, 18, 12), 1 / 18), settings=rules, backend=backend) as fluid:
            fluid.emitters.add(gf.Emitter(gf.Sphere((0.33, 0.2, 0.33), 0.12), density=3.0, temperature=1.0))
            for _ in range(30):
                fluid.step(1 / 60)
            flows.append(fluid.velocity.read())
    assert 0.1 < np.abs(flows[0]).max() * 18 / 60 < 30.0, "cells a step"
    np.testing.assert_allclose(flows[0], flows[1], atol=1e-3 * np.abs(flows[0]).max())


@pytest.mark.parametrize(("cells", "backend"), by_turns([((6, 5, 4),), ((6, 5, 1),), ((2, 3, 2),)]))
def test_confinement_leaves_a_shear_flow_alone(cells: tuple[int, int, int], backend: str) -> None:
    """Where velocity grows evenly the vorticity is the same in every cell, beside the sides as well."""
    h, deep = 0.25, cells[2] > 1  # numbers of a few bits: no rounding to tell directions
    rates = np.array([[0.0, 0.75, -0.5], [1.25, 0.0, 1.0], [-0.25, 0.5, 0.0]])  # du_i / dx_j, 1/s
    rules = gf.Settings(buoyancy=0.0, vorticity_confinement=5.0)
    with gf.Fluid(gf.Grid(cells, h), gf.Boundaries.all(gf.Open()), rules, backend=backend) as fluid:
        u = np.zeros(fluid.velocity.read().shape)
        z, y, x = np.meshgrid(*(h * np.arange(n) for n in u.shape[:3]), indexing="ij")
        for axis in range(3 if deep else 2):
            u[..., axis] = rates[axis, 0] * x + rates[axis, 1] * y + rates[axis, 2] * z * deep
        fluid.velocity.write(u)
        solver = fluid._solver
        solver.forces.push(
            0.5, solver.variant, {}, velocity=solver.velocity, scalars=solver.scalars, colors=None
        )
        vorticity, after = solver.forces._vorticity.read(), fluid.velocity.read()
    curl = [0.5 - 1.0, -0.5 + 0.25, 1.25 - 0.75] if deep else [0.0, 0.0, 1.25 - 0.75]
    np.testing.assert_allclose(vorticity[..., :3], np.broadcast_to(curl, (*cells[::-1], 3)), atol=1e-6)
    if deep:
        for axis in range(3):
            np.testing.assert_allclose(inner(after, axis), inner(u, axis), atol=1e-6)


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_what_is_not_finite_does_nothing(backend: str) -> None:
    wild = gf.ForceExpression(
        "vec3(x / 0.0, sqrt(-1.0 - x * x), 1.0)",
        numpy=lambda p, t: np.stack([p[..., 0] * 0 + np.inf, p[..., 0] * np.nan, p[..., 0] * 0 + 1], -1),
    )
    u = pushed(backend, wild)
    assert np.isfinite(u).all()
    assert not u[..., :2].any()
    np.testing.assert_allclose(inner(u, 2), DT, rtol=1e-5)


def stirred(force: gf.Turbulence, place: np.ndarray, time: float, sides: gf.Boundaries = WALLS) -> np.ndarray:
    """The push at `place` [..., 3] as the sum of waves that it is, m/s^2."""
    vectors, pushes, speeds, phases = waves(force, GRID, sides)
    return np.cos(place @ vectors.T + speeds * time + phases) @ pushes


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_turbulence_is_a_sum_of_waves(backend: str) -> None:
    force, other = gf.Turbulence(3.0, 0.9, 0.4, seed=7), gf.Turbulence(2.0, 0.7, 0.4, seed=8)
    with gf.Fluid(GRID, settings=FREE, backend=backend) as fluid:
        fluid.step(0.5)
        for added in (force, other, gf.Turbulence(active=False)):
            fluid.forces.add(added)
        fluid.step(DT)
        u = fluid.velocity.read()
    for i in range(3):
        expected = DT * (stirred(force, places(i), 0.5) + stirred(other, places(i), 0.5))[..., i]
        np.testing.assert_allclose(inner(u, i), expected, atol=2e-6)
        assert np.abs(expected).max() > 2.0 * DT


def divergence(u: np.ndarray, deep: bool = True) -> np.ndarray:
    """Of a box of GRID's cell size, 1/s."""
    flows = [np.diff(u[..., i], axis=2 - i) for i in range(3 if deep else 2)]
    z, y, x = (n - 1 for n in u.shape[:3])
    return np.asarray(sum(part[: z or 1, :y, :x] for part in flows) / GRID.cell_size)


@pytest.mark.parametrize(
    ("cells", "backend"), by_turns([((12, 10, 9),), ((16, 12, 1),), ((5, 2, 3),), ((1, 6, 4),)])
)
def test_turbulence_leaves_nothing_to_the_projection(cells: tuple[int, int, int], backend: str) -> None:
    """Round the seam of a periodic box as well; between walls in all cells but those beside them."""
    grid, deep = gf.Grid(cells, GRID.cell_size, (3.0, -1.0, 2.0)), cells[2] > 1
    for sides, cut in ((ROUND, slice(None)), (WALLS, slice(1, -1))):
        with gf.Fluid(grid, sides, FREE, backend=backend) as fluid:
            fluid.forces.add(gf.Turbulence(1.0 / DT, 0.9))
            fluid.step(DT)
            u = fluid.velocity.read()
        left = divergence(u, deep)[cut if deep else slice(None), cut, cut]
        assert np.abs(u).max() > 0.5
        assert not left.size or np.abs(left).max() < 3e-5 * np.abs(u).max() / grid.cell_size
        assert deep or not u[..., 2].any()


def test_how_strong_large_and_lasting_turbulence_is(rng: np.random.Generator) -> None:
    """Waves whose push, wave lengths and times are those that were asked for, alike along all axes."""
    force = gf.Turbulence(3.0, 2.4, 0.7, seed=3)
    pushed_by = stirred(force, rng.uniform(-40.0, 40.0, (20000, 3)), 0.0)
    assert np.sqrt((pushed_by**2).sum(-1).mean()) == pytest.approx(3.0, rel=0.02)
    np.testing.assert_allclose(np.sqrt((pushed_by**2).mean(0)), 3.0 / math.sqrt(3.0), rtol=0.1)
    vectors, pushes, speeds, _ = waves(force, GRID, WALLS)
    lengths = 2 * math.pi / np.linalg.norm(vectors, axis=1)
    assert lengths.max() == pytest.approx(2.4) and lengths.min() == pytest.approx(0.6)
    shares = np.linalg.norm(pushes, axis=1) / lengths ** (1 / 3)
    np.testing.assert_allclose(shares, shares[0])
    common = np.cos(speeds * (lengths / 2.4) ** (2 / 3) * 0.7).mean()  # as if all were as large
    assert common == pytest.approx(math.exp(-1), abs=0.05)
    assert waves(gf.Turbulence(size=0.01), GRID, WALLS)[0].max() <= 2 * math.pi / (4 * GRID.cell_size)
    ways = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    between = np.degrees(
        np.arccos(np.clip(np.abs(ways[::2] @ ways[::2].T) - 2.0 * np.eye(WAVES // 2), -1.0, 1.0))
    )
    assert between.min(axis=1).min() > 38.0  # evenly spread
    others = waves(gf.Turbulence(3.0, 2.4, 0.7, seed=4), GRID, WALLS)[0]
    others /= np.linalg.norm(others, axis=1, keepdims=True)
    assert np.abs(others @ ways.T).max(axis=1).min() < 0.99  # other eddies, not the same in another order


def test_eddies_larger_than_a_periodic_box_are_as_large_as_it_is() -> None:
    vectors, pushes, _, _ = waves(gf.Turbulence(3.0, 500.0), GRID, ROUND)
    assert np.abs(vectors).max(axis=1).min() > 1.0 and np.abs(pushes).max(axis=1).min() > 0.1


def test_turbulence_goes_round_a_periodic_box_and_stays_where_it_is() -> None:
    force, box = gf.Turbulence(3.0, 0.9, 0.4), np.multiply(GRID.cells, GRID.cell_size)
    place = places(1)
    for axis in range(3):
        there = place + box[axis] * np.eye(3)[axis]
        np.testing.assert_allclose(
            stirred(force, there, 0.3, ROUND), stirred(force, place, 0.3, ROUND), atol=1e-9
        )
        assert np.abs(stirred(force, there, 0.3) - stirred(force, place, 0.3)).max() > 1.0
    pushes = []
    for shift in ((0, 0, 0), (2, -1, 3)):
        with gf.Fluid(GRID, gf.Boundaries.all(gf.Open()), FREE, backend="numpy") as fluid:
            fluid.scroll(shift)
            fluid.forces.add(force)
            fluid.step(DT)
            pushes.append(fluid.velocity.read())
    np.testing.assert_allclose(pushes[0][3:-1, 1:-2, 3:-1], pushes[1][:-4, 2:-1, 1:-3], atol=1e-6)
    assert np.abs(pushes[0]).max() > 2.0 * DT


@pytest.mark.parametrize(
    ("text", "backend"),
    [
        ("vec3(0.0, sine(x), 0.0)", "fragment"),
        ("vec4(1.0)", "compute"),
        ("1.0", "fragment"),
        ("vec3(1.0)) + (vec2(1.0)", "compute"),
        ("vec3(0.0", "fragment"),
    ],
)
def test_a_wrong_expression_is_named_when_it_is_added(text: str, backend: str) -> None:
    with gf.Fluid(GRID, backend=backend) as fluid:
        with pytest.raises(gf.ShaderError) as caught:
            fluid.forces.add(gf.ForceExpression(text))
        assert text in str(caught.value)
        assert "force_expression" in str(caught.value)
        assert str(caught.value).endswith("a vec3 of position (vec3, m), its x, y and z, and time (s)")
        assert len(fluid.forces) == 0
        fluid.step(0.1)


def test_numpy_needs_a_function_of_its_own() -> None:
    with gf.Fluid(gf.Grid((4, 4, 4)), backend="numpy") as fluid:
        with pytest.raises(ValueError, match=r"give it a function as well, numpy=lambda position, time"):
            fluid.forces.add(gf.ForceExpression("vec3(1.0)"))
        with pytest.raises(ValueError, match=r"must return an array of the shape of position"):
            fluid.forces.add(gf.ForceExpression("vec3(1.0)", numpy=lambda p, t: p[..., 0]))
        fluid.forces.add(gf.ForceExpression("vec3(1.0)", numpy=lambda p, t: (1.0, 1.0, 1.0)))
        fluid.step(0.1)


@pytest.mark.parametrize("backend", DRAWN)
def test_more_than_a_pass_holds_and_solids_and_off(backend: str) -> None:
    winds = [gf.Wind((1.0, 0, 0), rate=5.0) for _ in range(9)]
    winds.append(gf.Wind((-100.0, 0, 0), rate=50.0, active=False))
    with gf.Fluid(GRID, settings=FREE, backend=backend) as fluid:
        fluid.obstacles.add(gf.Obstacle(gf.Sphere((0, 0.7, 0), 0.2)))
        for wind in winds:
            fluid.forces.add(wind)
        fluid.step(DT)
        u, solid = inner(fluid.velocity.read(), 0), fluid.solid.read() > 0.5
        closed = solid[..., 1:] | solid[..., :-1]
        assert closed.any() and not u[closed].any()
        np.testing.assert_allclose(u[~closed], 1 - math.exp(-45 * DT), rtol=1e-5)
        fluid.forces.clear()
        assert len(fluid.forces) == 0


def test_in_2d_a_vortex_about_z_turns_the_slice() -> None:
    grid = gf.Grid((16, 16, 1), 0.1, (0, 0, 5.0))
    for backend in COMPUTED:
        u = pushed(backend, gf.Vortex((0.8, 0.8, 0), (0, 0, 1), 1.0, 0.4), grid=grid)
        assert not u[..., 2].any()
        assert u[0, 4, 8, 0] > 0.5 * DT > -0.5 * DT > u[0, 11, 8, 0]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: gf.Wind((0, 0)), "Wind.velocity must be three finite numbers"),
        (lambda: gf.Wind((0, 0, 0), -1), "Wind.rate must be a finite number >= 0"),
        (lambda: gf.Wind((0, 0, 0), active=1), "Wind.active must be True or False"),
        (lambda: gf.Wind((0, 0, 0), center=(0, 0)), "Wind.center must be three finite numbers"),
        (lambda: gf.Wind((0, 0, 0), center=(0, 0, 0), radius=0.0), "Wind.radius must be a finite number > 0"),
        (lambda: gf.Turbulence(center=(0, math.inf, 0)), "Turbulence.center must be three finite numbers"),
        (lambda: gf.Turbulence(radius=-1.0), "Turbulence.radius must be a finite number > 0"),
        (lambda: gf.Vortex((0, 0, math.nan)), "Vortex.center"),
        (lambda: gf.Vortex((0, 0, 0), (0, 0, 0)), r"Vortex.axis must not be \(0, 0, 0\)"),
        (lambda: gf.Vortex((0, 0, 0), radius=0), "Vortex.radius must be a finite number > 0"),
        (lambda: gf.Attractor((0, 0, 0), math.inf), "Attractor.strength must be a finite number"),
        (lambda: gf.Attractor((0, 0, 0), 1, -1), "Attractor.radius"),
        (lambda: gf.Turbulence(size=0), "Turbulence.size must be a finite number > 0"),
        (lambda: gf.Turbulence(time=-1.0), "Turbulence.time must be a finite number > 0"),
        (lambda: gf.Turbulence(seed=0.5), "Turbulence.seed must be a whole number"),
        (lambda: gf.ForceField(np.zeros((2, 2, 2))), r"ForceField.values must be an array \[nz, ny, nx, 3\]"),
        (lambda: gf.ForceField("wind"), "ForceField.values must be an array of numbers"),
        (lambda: gf.ForceField(np.zeros((1, 1, 1, 3)), math.nan), "ForceField.strength"),
        (lambda: gf.ForceExpression(""), "ForceExpression.expression must be a GLSL expression"),
        (lambda: gf.ForceExpression("vec3(0); discard"), "must be one expression without ';'"),
        (lambda: gf.ForceExpression("vec3(0)", numpy=3), "ForceExpression.numpy must be a function"),
        (
            lambda: gf.ForceExpression("vec3(0, 1/2, 0)"),
            r"in GLSL 1/2 is the whole number 0; write 1\.0/2\.0",
        ),
        (lambda: gf.ForceExpression("sin(x)*vec3(-7 / 2)"), "in GLSL 7/2 is the whole number 3"),
    ],
)
def test_bad_forces_are_named(make: Any, says: str) -> None:
    with pytest.raises(gf.GpufluidError, match=says):
        make()


@pytest.mark.parametrize("text", ["x * 1/2", "1.0/2", "1/2.0", "4/2", "x/1/2", "a1/2", "1e1/3", "1/2u"])
def test_a_quotient_that_is_not_rounded_is_taken(text: str) -> None:
    assert gf.ForceExpression(f"vec3({text})").expression == f"vec3({text})"


def test_only_forces_are_taken() -> None:
    with (
        gf.Fluid(gf.Grid((4, 4, 4)), backend="numpy") as fluid,
        pytest.raises(
            ValueError, match=r"expected a gf.Wind, gf.Vortex, .* or gf.ForceExpression, got 'wind'"
        ),
    ):
        fluid.forces.add("wind")  # type: ignore[arg-type]


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_a_center_may_run_on_for_ever_in_a_periodic_box(backend: str) -> None:
    """Millions of boxes on, where single precision tells no place any more, it acts as in the box."""
    around, size = gf.Periodic(), np.array([1.0, 1.2, 0.8])
    sides = gf.Boundaries(around, around, gf.Wall(), gf.Open(), around, around)
    place = np.array([0.375, 0.5, 0.3125])
    with gf.Fluid(gf.Grid(CELLS, 0.1), sides, backend=backend) as fluid:
        for force in (
            gf.Wind((1.0, 0.5, 0.0), 2.0, center=place, radius=0.2),
            gf.Vortex(place, (0.0, 1.0, 0.0), 2.0, 0.2),
            gf.Attractor(place, 2.0, 0.2),
            gf.Turbulence(2.0, 0.4, 1.0, center=place, radius=0.2),
        ):
            fluid.forces.add(force)
            seen = []
            for boxes in (0, 1_000_000, -10_000_000):
                force.center = tuple(place + boxes * size * (1, 0, 1))
                fluid.reset()
                fluid.step(0.05)
                seen.append(fluid.velocity.read())
            fluid.forces.remove(force)
            assert np.abs(seen[0]).max() > 0.005
            for one in seen[1:]:
                np.testing.assert_allclose(one, seen[0], atol=1e-5 * np.abs(seen[0]).max())
