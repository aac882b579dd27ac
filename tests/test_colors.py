"""Coloured smoke: it goes where density goes, and costs nothing where there is none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sharing import COMPUTED, DRAWN, by_turns

import gpufluid as gf

TINT = (0.5, 2.0, 1.25)
GRID = gf.Grid((13, 11, 9), 0.1)
HOT = gf.Boundaries(
    left=gf.Wall(temperature=3.0), right=gf.Inflow((-0.4, 0.1, 0.0), temperature=2.0), top=gf.Open()
)
ROUND = gf.Boundaries(left=gf.Periodic(), right=gf.Periodic(), front=gf.Open())


def busy(
    backend: str, boundaries: gf.Boundaries, color: tuple[float, float, float] | None, **rules: Any
) -> gf.Fluid:
    """A box with heat, wind, a moving solid and emitters of every sort, coloured like their density."""
    rules = {"pressure": gf.Jacobi(15), "ambient_temperature": 0.5, "buoyancy": 2.0, "cooling": 0.7} | rules
    fluid = gf.Fluid(GRID, boundaries, gf.Settings(density_dissipation=0.4, **rules), backend)
    shapes: list[Any] = [gf.Sphere((0.4, 0.3, 0.4), 0.2), gf.Box((0.91, 0.51, 0.42), (0.3, 0.2, 0.5))]
    shapes.append(gf.Line([(0.2, 0.2, 0.2), (1.0, 0.8, 0.6)], 0.06))
    for n, shape in enumerate(shapes):
        tinted = None if color is None else tuple((n + 1.0) * c for c in color)
        emitter = gf.Emitter(shape, density=n + 1.0, temperature=1.0 + n, color=tinted, fuel=0.3, seed=n)
        emitter.noise, emitter.velocity = 0.5 * (n % 2), (0.5, 0.3, -0.2)
        emitter.edge = "hard" if n == 1 else "gaussian"
        fluid.emitters.add(emitter)
    return fluid


def play(fluid: gf.Fluid, steps: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Density and colour after some steps of a solid that moves through the smoke."""
    ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere((0.0, 0.0, 0.0), 0.17), position=(0.7, 0.35, 0.45)))
    for _ in range(steps):
        ball.position = np.add(ball.position, (-0.04, 0.01, 0.0))
        fluid.step(0.08)
    return fluid.density.read(), fluid.color.read()


FLOWS: dict[str, tuple[gf.Boundaries, dict[str, Any]]] = {
    "heat and inflow": (HOT, {"density_diffusivity": 3e-3, "thermal_diffusivity": 8e-3}),
    "periodic, bfecc": (ROUND, {"advection": "bfecc"}),
    "filtered": (gf.Boundaries(), {"advection": "semi-lagrangian", "sampler": "hardware"}),
}


@pytest.mark.parametrize(("flow", "backend"), by_turns(FLOWS))
def test_colour_goes_where_density_goes(flow: str, backend: str) -> None:
    """Every channel is the density times a number: emitted, carried, faded, diffused and covered alike."""
    boundaries, rules = FLOWS[flow]
    with busy(backend, boundaries, TINT, **rules) as fluid:
        density, color = play(fluid)
        assert density.max() > 0.3 and fluid.temperature.read().max() > 1.0
        solid = fluid.solid.read() > 0.5
    assert solid.any() and not color[solid].any()
    np.testing.assert_allclose(color, density[..., None] * TINT, atol=2e-5 * density.max())


@pytest.mark.parametrize("backend", ("fragment", "compute"))
def test_the_backends_agree(backend: str) -> None:
    colors = []
    for name in ("numpy", backend):
        with busy(name, HOT, TINT, **FLOWS["heat and inflow"][1]) as fluid:
            colors.append(play(fluid)[1])
    np.testing.assert_allclose(colors[1], colors[0], atol=2e-4 * colors[0].max())


def test_what_comes_in_is_clear() -> None:
    """An inflow brings its smoke, no colour, and pushes out what colour there is."""
    sides = gf.Boundaries(left=gf.Inflow((1.0, 0.0, 0.0), density=2.0, temperature=3.0), right=gf.Open())
    rules = gf.Settings(pressure=gf.ConjugateGradient(40), buoyancy=0.0, ambient_temperature=0.7)
    with gf.Fluid(GRID, sides, rules, "numpy") as fluid:
        fluid.color.write(np.ones((9, 11, 13, 3)))
        for _ in range(12):
            fluid.step(0.05)
        middle, smoke = fluid.color.read()[4, 5], fluid.density.read()[4, 5]
    assert np.abs(middle[:3]).max() < 0.05 and smoke[:3].min() > 1.9
    assert middle[-1].min() > 0.5


@pytest.mark.parametrize("backend", DRAWN)
def test_no_colour_costs_nothing(backend: str) -> None:
    runs: dict[bool, list[str]] = {True: [], False: []}
    ends = {}
    for coloured, names in runs.items():
        with busy(backend, HOT, TINT if coloured else None) as fluid:
            kernel = fluid._backend.kernel

            def listed(name: str, variant: Any, names: Any = names, kernel: Any = kernel) -> Any:
                names.append(name)
                return kernel(name, variant)

            fluid._backend.kernel = listed  # type: ignore[method-assign]
            fluid.step(0.1)
            ends[coloured] = fluid.density.read(), fluid.temperature.read()
            assert (fluid._solver.colors.field is not None) == coloured
            assert fluid.color.read().any() == coloured
            if backend != "numpy":
                assert (fluid.color_field is not None) == coloured
    assert sorted(set(runs[True])) == sorted(set(runs[False]))
    extra = len(runs[True]) - len(runs[False])
    assert extra == 4, "two analytic emitters in a pass, one mask, two passes of MacCormack"
    for mine, theirs in zip(ends[True], ends[False], strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("backend", COMPUTED)
def test_writing_and_reset(backend: str) -> None:
    with gf.Fluid(GRID, settings=gf.Settings(buoyancy=0.0), backend=backend) as fluid:
        assert fluid.color.read().shape == (9, 11, 13, 3) and not fluid.color.read().any()
        assert fluid.color_field is None
        fluid.obstacles.add(gf.Obstacle(gf.Sphere((0.6, 0.5, 0.4), 0.25)))
        values = np.random.default_rng(1).random((9, 11, 13, 3)).astype(np.float32)
        for bad, message in ((values[..., :2], "shape"), (values * np.nan, "finite")):
            with pytest.raises(gf.GpufluidError, match=f"color must .*{message}"):
                fluid.color.write(bad)
        assert fluid._solver.colors.field is None
        fluid.color.write(values)
        solid = fluid.solid.read() > 0.5
        for _ in range(2):
            np.testing.assert_allclose(fluid.color.read(), np.where(solid[..., None], 0.0, values), atol=1e-6)
            fluid.step(0.1)
        fluid.reset()
        assert not fluid.color.read().any()
        emitter = fluid.emitters.add(
            gf.Emitter(gf.Plane((0.0, 0.3, 0.0)), edge="hard", color=(1.0, 0.0, 2.0))
        )
        fluid.step(0.5)
        inside = np.broadcast_to(np.arange(11)[:, None] < 3, (9, 11, 13)) & ~solid
        np.testing.assert_allclose(fluid.color.read(), inside[..., None] * (0.5, 0.0, 1.0), atol=1e-6)
        emitter.active = False
        fluid.step(0.5)
        assert fluid.color.read().max() == pytest.approx(1.0)


@pytest.mark.parametrize("steps", [0, 1])
def test_a_look_at_a_solid_elsewhere_parts_no_colours(steps: int) -> None:
    """Those that come later are parted as the smoke is: by solids as they were in the last step."""
    seen = []
    for looks in (False, True):
        with gf.Fluid(GRID, settings=gf.Settings(advection="finite-volume"), backend="numpy") as fluid:
            emitter = fluid.emitters.add(gf.Emitter(gf.Plane((0.0, 0.9, 0.0))))
            ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.25), (0.4, 0.5, 0.4)))
            for _ in range(steps):
                fluid.step(0.1)
                ball.position = (0.5, 0.5, 0.4)
            if looks:
                assert fluid.solid.read().any()
            ball.position = (0.6, 0.6, 0.5)
            emitter.color = (1.0, 0.0, 2.0)
            fluid.step(0.1)
            seen.append(fluid.color.read())
    assert seen[0].max() > 0.1
    np.testing.assert_array_equal(*seen)


@pytest.mark.parametrize("backend", ["numpy", "fragment"])
def test_a_state_without_colours_is_parted_by_its_smoke(backend: str) -> None:
    """In a fluid that has some: what a solid leaves in the next step is then filled with that beside it."""
    with gf.Fluid(GRID, backend=backend) as fluid:
        emitter = fluid.emitters.add(gf.Emitter(gf.Plane((0.0, 0.9, 0.0)), temperature=1.0))
        ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.25), (0.4, 0.5, 0.4)))
        fluid.step(0.1)
        emitter.color = (1.0, 0.0, 2.0)  # whose field the next step makes
        ball.position = (0.5, 0.5, 0.4)
        state = fluid.take_state()
        with gf.Fluid.load(state) as loaded:  # it makes the field before it has the state
            fluid.step(0.1)
            loaded.step(0.1)
            colors, again = fluid.color.read(), loaded.color.read()
            loaded.restore(state)
            loaded.step(0.1)
            assert colors.max() > 0.1
            np.testing.assert_array_equal(again, colors)
            np.testing.assert_array_equal(loaded.color.read(), colors)


def test_a_colour_may_come_later() -> None:
    with gf.Fluid(GRID, backend="numpy") as fluid:
        emitter = fluid.emitters.add(gf.Emitter(gf.Sphere((0.6, 0.5, 0.4), 0.2)))
        fluid.obstacles.add(gf.Obstacle(gf.Sphere((0.2, 0.2, 0.2), 0.15)))
        fluid.step(0.1)
        assert fluid._solver.colors.field is None
        share = fluid._solver.prepare_colors().read()[..., 3]
        np.testing.assert_array_equal(share, 1.0 - fluid.solid.read())
        assert share.min() == 0.0
        emitter.color = (0.0, 3.0, 0.0)
        fluid.step(0.1)
        assert fluid.color.read().max(axis=(0, 1, 2)) == pytest.approx((0.0, 0.3, 0.0), abs=1e-6)
        emitter.color = (0.0, -1.0, 0.0)
        before = fluid.color.read()
        with pytest.raises(gf.GpufluidError, match=r"Emitter\.color must not be negative, got \(0\.0, -1\.0"):
            fluid.step(0.1)
        np.testing.assert_array_equal(fluid.color.read(), before)


@pytest.mark.parametrize(
    ("color", "message"),
    [
        ((1.0, float("nan"), 0.0), "three finite numbers"),
        ((1.0, 2.0), "three finite numbers"),
        ("red", "three finite numbers"),
        ((0.0, 0.0, -0.1), "must not be negative"),
    ],
)
def test_bad_colours_are_named(color: Any, message: str) -> None:
    with pytest.raises(gf.GpufluidError, match=rf"Emitter\.color .*{message}"):
        gf.Emitter(gf.Sphere(), color=color)


def test_half_precision_carries_colour() -> None:
    with busy("fragment", gf.Boundaries(), TINT, precision="half") as fluid:
        density, color = play(fluid, 3)
    np.testing.assert_allclose(color, density[..., None] * TINT, atol=1e-2 * density.max())
    assert density.max() > 0.3


@pytest.mark.parametrize(("confinement", "backend"), by_turns([0.0, 0.4]))
def test_coloured_smoke_weighs_as_much_as_grey(
    confinement: float, backend: str, rng: np.random.Generator
) -> None:
    """Half of it coloured, all of it, or none; and without a weight no colour pulls at anything."""
    amount, share = rng.random((9, 11, 13)), rng.dirichlet(np.ones(3), (9, 11, 13))
    flows = []
    for coloured, weight in ((0.0, 2.0), (0.5, 2.0), (1.0, 2.0), (1.0, 0.0)):
        rules = gf.Settings(
            weight=weight, buoyancy=0.0, vorticity_confinement=confinement, pressure=gf.Jacobi(15)
        )
        with gf.Fluid(gf.Grid((13, 11, 9), 0.1), settings=rules, backend=backend) as fluid:
            fluid.obstacles.add(gf.Obstacle(gf.Sphere((0.6, 0.5, 0.4), 0.2)))
            fluid.step(0.0)
            fluid.density.write((1.0 - coloured) * amount)
            fluid.color.write(coloured * amount[..., None] * share)
            fluid.step(0.1)
            flows.append(fluid.velocity.read())
    assert np.abs(flows[0]).max() > 0.02 and not flows[3].any()
    for flow in flows[1:3]:
        np.testing.assert_allclose(flow, flows[0], atol=1e-5)
