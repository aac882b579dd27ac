"""What holds in every scene, in random ones. ``make fuzz [SEED=n] [SCENES=n]`` runs many; the suite a few."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import moderngl
import numpy as np
import pytest
from driver import within
from fuzz import seeds
from random_scenes import Drawing, H, Own, Scene, run

import gpufluid as gf
from gpufluid.engine.fluid import FIELDS

pytestmark = pytest.mark.usefixtures("one_context")

STAGES = ("fragment", "compute")
COMPARED = ("velocity", "density", "temperature", "fuel", "color", "vorticity", "solid")


@contextmanager
def told(scene: Scene, seed: int, backend: str) -> Iterator[list[int]]:
    """Where a scene fails, say how to see it again. Gives the count of steps begun, to be counted up."""
    count = [0]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", gf.ShapeWarning)  # thin ones, and those that fill the box
            yield count
    except BaseException:
        print(
            f"\nmake fuzz SEED={seed} SCENES=1   # in step {count[0]} of\n{scene.text(backend, count[0])}\n"
        )
        raise


def fields(fluid: gf.Fluid, names: tuple[str, ...] = tuple(FIELDS)) -> dict[str, Any]:
    """What the fluid shows, all of it finite."""
    seen = fluid.take(names)()
    for name, values in seen.items():
        assert np.isfinite(values).all(), f"{name} is no number in {(~np.isfinite(values)).sum()} places"
    return seen


def same(one: dict[str, Any], other: dict[str, Any]) -> None:
    """Both have the same bits."""
    off = {
        name: np.abs(one[name] - other[name]).max()
        for name in one
        if not np.array_equal(one[name], other[name])
    }
    assert not off, f"not the same: {off}"


def alike(got: dict[str, Any], expected: dict[str, Any], bound: float, few: int = 0) -> None:
    """All values but a few are within `bound` of a field's size."""
    speed = max(float(np.abs(expected["velocity"]).max()), 0.01)
    for name, values in expected.items():
        size = {"velocity": speed, "vorticity": speed / H}.get(name, max(float(np.abs(values).max()), 0.01))
        off = np.abs(got[name].astype(np.float64) - values) / size
        assert (off > bound).sum() <= few, (
            f"{name}: {(off > bound).sum()} of {off.size} values off, by up to {off.max():.2g} of {size:.3g}"
        )


@seeds(6, 10, 11, 245)
def test_backends_agree(seed: int) -> None:
    hold_to_numpy(seed, within(2e-4, 2e-2))


@seeds(12, 13, 14)
def test_what_gpus_do_otherwise_agrees(
    another: moderngl.Context, request: pytest.FixtureRequest, seed: int
) -> None:
    """They sample by gathers, share memory and join sweeps."""
    bound = within(2e-4, 2e-2)
    request.getfixturevalue("like_a_gpu")
    with another:
        hold_to_numpy(seed, bound, another)


def hold_to_numpy(seed: int, bound: float, ctx: moderngl.Context | None = None) -> None:
    """Step by step, each from the state of the stage, as small differences may grow."""
    scene, stage = Drawing(seed).scene(), STAGES[seed % 2]
    with told(scene, seed, stage) as count, scene.begin("numpy") as exact, scene.begin(stage, ctx) as fluid:
        for changes, dt in scene.steps:
            count[0] += 1
            for one in (exact, fluid):
                run(changes, one)
                one.step(dt)
            got, expected = fields(fluid, COMPARED), fields(exact, COMPARED)
            alike(got, expected, bound)
            speed = float(np.abs(expected["velocity"]).max())
            for one in (exact, fluid):
                assert one.diagnostics().leak <= 1e-5 * speed + 1e-6
            exact.restore(fluid.take_state())


@seeds(0, 1, 2)
def test_saved_and_restored_it_goes_on(seed: int, tmp_path: Path) -> None:
    """Loaded, and restored into a fluid with another past: the same bits from there on."""
    scene, backend = Drawing(seed, "wide").scene(), ("numpy", *STAGES)[seed % 3]
    at = seed % len(scene.steps)
    with told(scene, seed, backend) as count, scene.begin(backend) as fluid, scene.begin(backend) as other:
        for changes, dt in scene.steps[:at]:
            count[0] += 1
            for one, part in ((fluid, 1.0), (other, 0.75)):
                run(changes, one)
                one.step(part * dt)
        other.restore(fluid.take_state())
        with gf.Fluid.load(fluid.save(tmp_path / "state.npz"), ctx=fluid.ctx) as loaded:
            for changes, dt in scene.steps[at:]:
                count[0] += 1
                for one in (fluid, loaded, other):
                    run(changes, one)
                    one.step(dt)
                    same(fields(fluid), fields(one))


@seeds(3, 4, 5)
def test_slices_are_a_step(seed: int) -> None:
    scene, backend = Drawing(seed, "wide").scene(), ("numpy", *STAGES)[seed % 3]
    with told(scene, seed, backend) as count, scene.begin(backend) as whole, scene.begin(backend) as sliced:
        for changes, dt in scene.steps:
            count[0] += 1
            run(changes, whole)
            run(changes, sliced)
            before = fields(sliced)
            whole.step(dt)
            calls = 0
            while not sliced.advance(dt, 0.3):
                calls += 1
                if calls == 3:
                    same(before, fields(sliced))
            same(fields(whole), fields(sliced))


@seeds(1, 2, 4)
def test_failed_steps_change_nothing(seed: int) -> None:
    scene, backend = Drawing(seed, "failing").scene(), ("numpy", *STAGES)[seed % 3]
    with told(scene, seed, backend) as count, scene.begin(backend) as fluid, scene.begin(backend) as other:
        for changes, dt in scene.steps:
            count[0] += 1
            run(changes, fluid)
            run(changes, other)
            before, solver = fields(other), other.settings.pressure
            assert isinstance(solver, Own)
            stood = [(solid, solid.position) for solid in other.obstacles]
            for solid, (x, y, z) in stood:
                solid.position = (x + 0.5 * H, y - 0.4 * H, z)
            solver.fails = 1
            with pytest.raises(RuntimeError, match="it failed"):
                other.step(2.0 * dt)
            for solid, place in stood:
                solid.position = place
            same(before, fields(other))
            if count[0] == len(scene.steps):  # nor is anything left that asks for solids
                for one in (fluid, other):
                    for solid in list(one.obstacles):
                        one.obstacles.remove(solid)
            fluid.step(dt)
            other.step(dt)
            same(fields(fluid), fields(other))


@seeds(0, 1, 2, 3)
def test_mirrored_scenes_give_mirrored_fields(seed: int) -> None:
    axis = seed % 3
    scene, mirror = Drawing(seed, "mirror").scene(), Drawing(seed, "mirror", axis).scene()
    with told(scene, seed, "numpy") as count, scene.begin("numpy") as one, mirror.begin("numpy") as other:
        for (changes, dt), (mirrored, _) in zip(scene.steps, mirror.steps, strict=True):
            count[0] += 1
            run(changes, one)
            run(mirrored, other)
            seen = []
            for fluid in (one, other):
                fluid.step(dt)
                values = {
                    name: getattr(fluid, name).read()
                    for name in ("density", "temperature", "fuel", "color", "solid")
                }
                seen.append(values | {"velocity": fluid.velocity.at_centers()})
            back = {name: np.flip(values, 2 - axis).copy() for name, values in seen[1].items()}
            back["velocity"][..., axis] *= -1.0
            alike(back, seen[0], 1e-4)


@seeds(0, 1, 2, 3)
def test_no_amount_is_gained_or_lost(seed: int) -> None:
    """With finite volumes, in a closed box with solids at rest."""
    scene, backend = Drawing(seed, "closed").scene(), ("numpy", *STAGES)[seed % 3]
    with told(scene, seed, backend) as count, scene.begin(backend) as fluid:
        fluid.step(1e-6)  # solids take their places: nothing is in them from now on
        start = amounts(fluid)
        for changes, dt in scene.steps:
            count[0] += 1
            run(changes, fluid)
            fluid.step(dt)
            bound = 1e-6 if backend == "numpy" else 1e-5
            np.testing.assert_allclose(amounts(fluid), start, rtol=bound, atol=1e-4 * bound)


def amounts(fluid: gf.Fluid) -> Any:
    """The sums of smoke, fuel and the three colours over all cells."""
    seen = fields(fluid, ("density", "fuel", "color"))
    return np.concatenate([values.sum((0, 1, 2), np.float64).ravel() for values in seen.values()])


@seeds(0, 1, 2, 3)
def test_an_accurate_solve_leaves_no_divergence(seed: int) -> None:
    """Beside solids at rest, whatever the sides, to the solver's tolerance; nothing flows through them."""
    scene = Drawing(seed, "accurate").scene()
    with told(scene, seed, "numpy") as count, scene.begin("numpy") as fluid:
        for changes, dt in scene.steps:
            count[0] += 1
            run(changes, fluid)
            fluid.step(dt)
            seen = fields(fluid, ("velocity", "divergence"))
            speed = max(float(np.abs(seen["velocity"]).max()), 1e-3)
            assert np.abs(seen["divergence"]).max() <= 1e-4 * speed / H
            assert fluid.diagnostics().leak <= 1e-6 * speed
