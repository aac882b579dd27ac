"""`Fluid.advance`: one step in slices, of which nothing is seen before it is finished."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import moderngl
import numpy as np
import pytest
from sharing import COMPUTED

import gpufluid as gf
from gpufluid.common.errors import GpufluidError, MissingDependencyError
from gpufluid.contract import backend, stopwatch
from gpufluid.gl.calls import calls
from gpufluid.gl.passes import Pass
from gpufluid.gl.timestamps import TimestampWatch
from gpufluid.numerics import advance
from gpufluid.numerics.copies import Copies

pytestmark = pytest.mark.usefixtures("one_context")

BACKENDS = ("compute", "fragment", "numpy")
GRID = gf.Grid((10, 12, 8), 0.1)
FIELDS = (
    *("velocity", "density", "temperature", "fuel", "pressure", "color"),
    *("flame", "solid", "divergence", "vorticity"),
)
TINY = 1e-6  # ms: one pass a call


class OwnSolver:
    """A user's: sweeps that go on from a field of its own, which lasts from step to step."""

    def solve(self, problem: Any) -> None:
        kept = problem.field("mine")
        problem.add(problem.pressure, kept, 0.5)
        for _ in range(3):
            problem.jacobi(0.8)
        if problem.left() > 0.0:
            problem.add(kept, problem.residual(), 0.1, own=0.5)


def flowing(where: str, ctx: moderngl.Context, **settings: Any) -> gf.Fluid:
    """Fire, colours, a force, two kinds of emitters, and solids that move."""
    rules = gf.Settings(**{"pressure": gf.Jacobi(3), "combustion": gf.Combustion()} | settings)
    shared = None if where == "numpy" else ctx
    fluid = gf.Fluid(GRID, gf.Boundaries(top=gf.Open()), rules, backend=where, ctx=shared)
    fluid.emitters.add(
        gf.Emitter(
            gf.Sphere((0.5, 0.3, 0.4), 0.2),
            density=2.0,
            temperature=2.0,
            fuel=3.0,
            velocity=(0.0, 2.0, 0.0),
            color=(1.0, 0.5, 0.0),
            noise=0.5,
        )
    )
    fluid.emitters.add(gf.Emitter(gf.Line([(0.1, 0.1, 0.1), (0.5, 0.5, 0.5)], 0.1), density=1.0))
    fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.15), (0.5, 0.8, 0.4), slip="free", temperature=1.0))
    fluid.forces.add(gf.Wind((1.0, 0.0, 0.0)))
    return fluid


def told(fluid: gf.Fluid) -> dict[str, Any]:
    """All of its state that can be read."""
    return {name: getattr(fluid, name).read() for name in FIELDS} | {"time": np.array(fluid.time)}


def same(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return all(a[name].tobytes() == b[name].tobytes() for name in a)


def whole(fluid: gf.Fluid, dt: float, budget_ms: float = TINY) -> int:
    """Advance until the step is finished; return the number of calls."""
    calls = 1
    while not fluid.advance(dt, budget_ms):
        calls += 1
    return calls


SETTINGS: dict[str, dict[str, Any]] = {
    "jacobi in substeps": {"cfl": 0.8, "vorticity_confinement": 0.2},
    "conjugate gradients": {"pressure": gf.ConjugateGradient(iterations=4)},
    "multigrid to a tolerance": {"pressure": gf.Multigrid(2, tolerance=0.2)},
    "sor, half": {"pressure": gf.RedBlackSOR(3), "precision": "half"},
    "chebyshev": {"pressure": gf.ChebyshevJacobi(4), "viscosity": 1e-3},
    "own solver": {"pressure": OwnSolver()},
    "with a reflection": {"reflection": True, "viscosity": 1e-3},
    "coarse velocity": {"coarse_velocity": True, "vorticity_confinement": 0.2},
}
# all but the first in few of them: another stage would compile the same passes once more
TRIED = {
    "jacobi in substeps": BACKENDS,
    "conjugate gradients": ("compute",),
    "multigrid to a tolerance": ("fragment", "numpy"),
    "sor, half": ("fragment",),
    "chebyshev": ("compute",),
    "own solver": ("compute", "numpy"),
    "with a reflection": ("fragment",),
    "coarse velocity": ("compute",),
}
CASES = [(where, name) for name in SETTINGS for where in TRIED[name]]


@pytest.mark.parametrize(("where", "settings"), [(w, SETTINGS[s]) for w, s in CASES], ids=map(str, CASES))
def test_the_step_is_the_same_to_the_bit(where: str, settings: dict[str, Any], ctx: moderngl.Context) -> None:
    """And until it is finished all that is read is what was there before."""
    if where == "numpy" and not isinstance(settings.get("pressure"), OwnSolver | gf.Multigrid):
        settings = {**settings, "combustion": None}  # a cheaper step
    with flowing(where, ctx, **settings) as plain, flowing(where, ctx, **settings) as sliced:
        for n in range(2):
            for fluid in (plain, sliced):
                fluid.obstacles[0].position = (0.5 + 0.05 * n, 0.8, 0.4)
                fluid.emitters[1].position = (0.05 * n, 0.0, 0.0)
            before, calls = told(sliced), 0
            while not sliced.advance(0.1, TINY):
                calls += 1
                if calls % 19 == 1:
                    assert same(told(sliced), before)
                    assert 0.0 < sliced.progress < 1.0
            plain.step(0.1)
            assert calls > 10 and sliced.progress == 0.0
            assert same(told(sliced), told(plain)) and not same(told(sliced), before)


def test_the_transform_too(ctx: moderngl.Context) -> None:
    """The solver that takes no solids, in a box without sides."""
    rules, sides = gf.Settings(pressure=gf.FFT()), gf.Boundaries.all(gf.Periodic())
    made = [gf.Fluid(gf.Grid((8, 16, 8), 0.1), sides, rules, "compute", ctx) for _ in range(2)]
    for fluid in made:
        fluid.emitters.add(gf.Emitter(gf.Sphere((0.4, 0.4, 0.4), 0.2), temperature=1.0, velocity=(0, 1, 0)))
    for _ in range(2):
        assert whole(made[0], 0.1) > 10
        made[1].step(0.1)
    assert same(told(made[0]), told(made[1]))
    for fluid in made:
        fluid.release()


@pytest.mark.parametrize("where", BACKENDS)
def test_what_changes_meanwhile_counts_from_the_next_step_on(where: str, ctx: moderngl.Context) -> None:
    """Emitters, obstacles, forces and settings are those of the moment the step began."""
    with flowing(where, ctx) as plain, flowing(where, ctx) as sliced:

        def change(fluid: gf.Fluid) -> None:
            fluid.emitters[0].density, fluid.emitters[0].color = 9.0, (0.0, 0.0, 5.0)
            fluid.emitters[1].rotation[0] = 0.4
            fluid.emitters.add(gf.Emitter(gf.Sphere((0.8, 0.3, 0.4), 0.1), density=3.0))
            fluid.obstacles[0].position = (0.4, 0.7, 0.4)
            fluid.obstacles.add(gf.Obstacle(gf.Box((0.2, 0.2, 0.2)), (0.2, 0.9, 0.4)))
            fluid.forces[0].velocity = (0.0, 0.0, 3.0)
            fluid.forces.add(gf.Attractor((0.5, 0.5, 0.4), 5.0))
            fluid.settings = fluid.settings.but(pressure=gf.RedBlackSOR(2), viscosity=1e-3, combustion=None)

        for fluid in (plain, sliced):
            fluid.emitters[1].rotation = np.array([0.0, 0.0, 0.2, 0.98])
            fluid.step(0.05)
        plain.step(0.1)
        change(plain)
        for _ in range(3):
            assert not sliced.advance(0.1, TINY)
        before = told(sliced)
        change(sliced)
        assert same(told(sliced), before)
        assert sliced.settings == plain.settings
        whole(sliced, 77.0)  # the step has its dt
        for name in ("velocity", "density", "color", "pressure"):
            assert (getattr(sliced, name).read() == getattr(plain, name).read()).all(), name
        plain.step(0.1)
        whole(sliced, 0.1)
        assert same(told(sliced), told(plain))


def test_masks_are_not_made_again(ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the step is given are copies of the emitters; what was worked out for them is kept."""
    from gpufluid.numerics import emission

    made: list[Any] = []
    real = emission.source_mask
    monkeypatch.setattr(emission, "source_mask", lambda *given: made.append(given) or real(*given))
    with flowing("compute", ctx) as fluid:
        fluid.step(0.1)
        whole(fluid, 0.1)
        fluid.step(0.1)
        whole(fluid, 0.1)
        assert len(made) == 1


@dataclass
class Lamp(gf.Emitter):
    """With an __eq__ that compares fields, and so without a hash."""


def test_a_copy_is_known_by_itself_alone() -> None:
    """Nothing is written into a thing of the user's, or into what is copied from it."""
    copies, lamp = Copies(), Lamp(gf.Sphere())
    once = copies.take(lamp)
    twice = copies.take(once)
    assert all(copies.original(one) is lamp for one in (lamp, once, twice))
    assert vars(once) == vars(twice) == vars(lamp)
    del once, twice
    others = [copy(lamp) for _ in range(8)]  # in the memory of those copies
    assert all(copies.original(one) is one for one in others)
    wind = gf.ForceExpression("vec3(1.0)")
    assert copies.take(wind) is copies.original(wind) is wind


@pytest.mark.parametrize("where", BACKENDS)
def test_step_project_and_finish_finish_the_step_first(where: str, ctx: moderngl.Context) -> None:
    with flowing(where, ctx) as plain, flowing(where, ctx) as sliced:
        for next_call in (lambda f: f.step(0.05), lambda f: f.project(), lambda f: f.finish()):
            plain.step(0.1)
            assert not sliced.advance(0.1, TINY)
            for fluid in (plain, sliced):
                next_call(fluid)
            assert sliced.progress == 0.0
            assert same(told(sliced), told(plain))


@pytest.mark.parametrize("where", COMPUTED)
def test_a_box_that_moves_finishes_the_step_first(where: str, ctx: moderngl.Context) -> None:
    states = []
    for sliced in (False, True):
        open_all = gf.Boundaries.all(gf.Open())
        shared = None if where == "numpy" else ctx
        with gf.Fluid(GRID, open_all, gf.Settings(pressure=gf.Jacobi(3)), where, shared) as fluid:
            fluid.emitters.add(gf.Emitter(gf.Sphere((0.5, 0.6, 0.4), 0.2), density=2.0, temperature=2.0))
            fluid.step(0.1)
            if sliced:
                assert not fluid.advance(0.1, TINY)
                under_way = fluid.progress
                assert fluid.follow((0.55, 0.6, 0.4)) == (0, 0, 0)  # nearer than a cell: the box stays
                fluid.scroll((0, 0, 0))
                assert fluid.progress == under_way > 0.0
            else:
                fluid.step(0.1)
            assert fluid.follow((0.9, 0.6, 0.4)) == (4, 0, 0)
            assert fluid.progress == 0.0
            states.append((fluid.grid, told(fluid)))
    assert states[0][0] == states[1][0]
    assert same(states[0][1], states[1][1])


@pytest.mark.parametrize("where", BACKENDS)
def test_reset_and_restore_give_the_step_up(where: str, ctx: moderngl.Context, tmp_path: Path) -> None:
    with flowing(where, ctx) as fluid:
        fluid.step(0.1)
        finished = told(fluid)
        for _ in range(12):
            assert not fluid.advance(0.1, TINY)
        fluid.save(tmp_path / "half.zip")  # the finished state
        fluid.reset()
        assert fluid.progress == 0.0 and fluid.time == 0.0
        assert not fluid.density.read().any() and not fluid.velocity.read().any()
        assert not fluid.advance(0.1, TINY)
        fluid.restore(tmp_path / "half.zip")
        assert fluid.progress == 0.0 and same(told(fluid), finished)
        fluid.step(0.1)
        after = told(fluid)
    with gf.Fluid.load(tmp_path / "half.zip", None if where == "numpy" else ctx) as loaded:
        assert same(told(loaded), finished)
        whole(loaded, 0.1)
        assert same(told(loaded), after)


@pytest.mark.parametrize("where", BACKENDS)
def test_writing_is_refused_in_the_middle(where: str, ctx: moderngl.Context) -> None:
    """What was read before would undo the step for that field alone."""
    with flowing(where, ctx) as fluid:
        fluid.step(0.1)
        assert not fluid.advance(0.1, TINY)
        for name in ("density", "velocity", "color"):
            field = getattr(fluid, name)
            with pytest.raises(
                GpufluidError, match=rf"^{name} cannot be written while a step is under way.*fin"
            ):
                field.write(field.read())
        fluid.finish()
        fluid.density.write(fluid.density.read() + 1.0)
        assert fluid.density.read().max() > 1.0


@pytest.mark.parametrize("where", BACKENDS)
def test_what_fails_leaves_the_last_finished_state(where: str, ctx: moderngl.Context) -> None:
    """In the middle of a step, in a later call; the step after it is the one that would have been."""

    class Failing(OwnSolver):
        fails = False

        def solve(self, problem: Any) -> None:
            problem.jacobi(0.8)
            if self.fails:
                raise RuntimeError("no pressure today")

    solvers = Failing(), Failing()
    with (
        flowing(where, ctx, pressure=solvers[0]) as plain,
        flowing(where, ctx, pressure=solvers[1]) as sliced,
    ):
        for fluid in (plain, sliced):
            fluid.step(0.1)
            fluid.obstacles[0].position = (0.4, 0.7, 0.4)
        finished = told(sliced)
        solvers[1].fails = True
        calls = 0
        with pytest.raises(RuntimeError, match="no pressure today"):
            while not sliced.advance(0.1, TINY):
                calls += 1
        assert calls > 5 and sliced.progress == 0.0
        assert all(
            same({n: told(sliced)[n]}, {n: finished[n]}) for n in FIELDS if n not in ("solid", "divergence")
        )
        solvers[1].fails = False
        plain.step(0.1)
        whole(sliced, 0.1)
        assert same(told(sliced), told(plain))


class Tired(OwnSolver):
    """Works so often, then fails once."""

    left = 99

    def solve(self, problem: Any) -> None:
        problem.jacobi(0.8)
        self.left -= 1
        if not self.left:
            raise RuntimeError("no pressure today")


@pytest.mark.parametrize("advection", ["maccormack", "finite-volume"])
@pytest.mark.parametrize("where", ["fragment", "numpy"])
def test_the_last_solid_may_go_after_a_step_that_failed(
    where: str, advection: str, ctx: moderngl.Context
) -> None:
    """That step had left a share of the smoke in cells that the solid came into, for it to be carried off."""
    with (
        flowing(where, ctx, pressure=Tired(), advection=advection) as plain,
        flowing(where, ctx, pressure=Tired(), advection=advection) as fluid,
    ):
        for one in (plain, fluid):
            one.step(0.1)
        solver: Any = fluid.settings.pressure
        for after in (lambda one: None, gf.Fluid.reset):
            fluid.obstacles[0].position = (0.4, 0.7, 0.4)
            solver.left = 1
            with pytest.raises(RuntimeError, match="no pressure today"):
                fluid.step(0.1)
            balls = [one.obstacles[0] for one in (plain, fluid)]
            for one, ball in zip((plain, fluid), balls, strict=True):
                one.obstacles.remove(ball)
                after(one)
                one.step(0.1)
            assert same(told(fluid), told(plain))
            for one, ball in zip((plain, fluid), balls, strict=True):
                ball.position = (0.5, 0.8, 0.4)
                one.obstacles.add(ball)
                one.step(0.1)


@pytest.mark.parametrize("where", BACKENDS)
def test_a_plain_step_that_fails_in_a_programs_own_solver_leaves_nothing(
    where: str, ctx: moderngl.Context
) -> None:
    """Nor does a projection; the step after it is the one that would have been."""
    rules = {"cfl": 0.8, "viscosity": 1e-3}
    with (
        flowing(where, ctx, pressure=Tired(), **rules) as plain,
        flowing(where, ctx, pressure=Tired(), **rules) as fluid,
    ):
        for one in (plain, fluid):
            one.step(0.1)
            one.step(0.1)
            one.velocity.write(one.velocity.read() + 0.1)  # not free of divergence
            one.obstacles[0].position = (0.4, 0.7, 0.4)
        before, numbers = told(fluid), fluid._solver.numbers()
        solver: Any = fluid.settings.pressure
        # the second of the substeps; a projection alone
        for left, deed in ((2, lambda: fluid.step(0.1)), (1, fluid.project)):
            solver.left = left
            with pytest.raises(RuntimeError, match="no pressure today"):
                deed()
            assert fluid._solver.numbers() == numbers
            after = told(fluid)
            assert all(
                same({n: after[n]}, {n: before[n]}) for n in FIELDS if n not in ("solid", "divergence")
            )
        for one in (plain, fluid):
            one.step(0.1)
        assert same(told(fluid), told(plain))


def test_a_plain_step_that_fails_in_a_programs_own_force_leaves_nothing() -> None:
    """In its second substep: the first is tried before the step."""
    late = gf.ForceExpression("vec3(0)", numpy=lambda place, time: (1.0, 0.0, 0.0) if time < 0.11 else 1 / 0)
    with flowing("numpy", None, cfl=0.8) as fluid:  # type: ignore[arg-type]
        fluid.forces.add(late)
        fluid.step(0.1)
        before, numbers = told(fluid), fluid._solver.numbers()
        with pytest.raises(ZeroDivisionError):
            fluid.step(0.1)
        assert same(told(fluid), before) and fluid._solver.numbers() == numbers


def test_a_plain_step_that_calls_nothing_of_a_programs_keeps_nothing(ctx: moderngl.Context) -> None:
    """To go back costs a texture more for each field."""
    with flowing("fragment", ctx) as fluid:
        for solver, keeps in ((gf.Multigrid(1), False), (OwnSolver(), True)):
            fluid.settings = fluid.settings.but(pressure=solver)
            fluid.step(0.1)
            assert (fluid._stepper._still is not None) == keeps


def test_what_fails_in_a_later_substep_leaves_the_time_as_it_was() -> None:
    """And the shortest step, which tells the next one how much of the last pressure it may take."""

    class Failing:
        left = 99

        def solve(self, problem: Any) -> None:
            self.left -= 1
            if not self.left:
                raise RuntimeError("no pressure today")
            problem.jacobi(0.8)

    solver = Failing()
    with flowing("numpy", None, pressure=solver, cfl=0.01, max_substeps=3) as fluid:  # type: ignore[arg-type]
        fluid.step(0.1)
        before = fluid.time, fluid._solver.numbers()
        solver.left = 2
        with pytest.raises(RuntimeError, match="no pressure today"):
            while not fluid.advance(0.03, TINY):
                pass
        assert (fluid.time, fluid._solver.numbers()) == before


@pytest.mark.parametrize("where", BACKENDS)
@pytest.mark.parametrize(
    "rules",
    [
        {"cfl": 0.8},
        {"viscosity": 1e-3, "reflection": True},
        {"pressure": gf.Multigrid(1), "precision": "half"},
    ],
    ids=["jacobi", "reflection", "multigrid, half"],
)
def test_after_a_reset_all_is_as_in_a_new_fluid(
    where: str, rules: dict[str, Any], ctx: moderngl.Context
) -> None:
    """To the bit, a projection too: its pressure is that of 1 s again, not of the last step."""
    with flowing(where, ctx, **rules) as new, flowing(where, ctx, **rules) as fluid:
        for dt in (0.05, 0.002, 0.3):
            fluid.step(dt)
        fluid.reset()
        assert same(told(fluid), told(new))
        stir = np.random.default_rng(3).normal(size=fluid.velocity.shape)
        for one in (new, fluid):
            one.velocity.write(stir)
            one.project()
        assert same(told(fluid), told(new))
        for one in (new, fluid):
            one.step(0.03)
            one.step(0.03)
        assert same(told(fluid), told(new))


def test_bad_input(ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    with flowing("fragment", ctx) as fluid:
        for dt in (-1.0, float("nan"), float("inf"), "1"):
            with pytest.raises(GpufluidError, match="dt must be"):
                fluid.advance(dt)  # type: ignore[arg-type]
        for budget in (0.0, -1.0, float("nan"), None):
            with pytest.raises(GpufluidError, match="budget_ms must be"):
                fluid.advance(0.1, budget)  # type: ignore[arg-type]
        assert fluid.advance(0.0) and fluid.time == 0.0
        fluid.emitters[0].density = -1.0
        with pytest.raises(GpufluidError, match=r"Emitter\.density"):
            fluid.advance(0.1)
        assert fluid.progress == 0.0
        fluid.emitters[0].density = 1.0
        assert not fluid.advance(0.1, TINY)
    with pytest.raises(GpufluidError, match="released"):
        fluid.advance(0.1)
    monkeypatch.setitem(sys.modules, "greenlet", None)
    with (
        gf.Fluid(GRID, backend="numpy") as other,
        pytest.raises(MissingDependencyError, match=r"Fluid.advance needs .*greenlet.*gpufluid\[all\]"),
    ):
        other.advance(0.1)


def test_another_thread_and_the_step_itself_are_refused() -> None:
    class Nosy:
        fluid: Any = None

        def solve(self, problem: Any) -> None:
            problem.jacobi()
            with pytest.raises(GpufluidError, match="cannot be called from within Fluid.advance"):
                self.fluid.advance(0.1)
            assert self.fluid.density.read() is not None  # which is no place to leave the step at
            problem.jacobi()

    solver = Nosy()
    with gf.Fluid(GRID, settings=gf.Settings(pressure=solver), backend="numpy") as fluid:
        solver.fluid = fluid
        assert not fluid.advance(0.1, TINY)
        raised: list[BaseException] = []

        def elsewhere() -> None:
            try:
                fluid.advance(0.1)
            except GpufluidError as error:
                raised.append(error)

        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        assert "another thread: it must be finished there, or abandoned by reset()" in str(raised[0])
        whole(fluid, 0.1)
        assert fluid.time == 0.1


@pytest.mark.parametrize("where", ["compute", "fragment"])
def test_pictures_samples_and_textures_are_of_the_finished_state(where: str, ctx: moderngl.Context) -> None:
    """A renderer, a flow view, a probe and a program of the host's own, in the middle of a step."""
    with flowing(where, ctx) as fluid:
        fluid.step(0.1)
        camera = gf.Camera(target=(0.5, 0.6, 0.4), distance=3.0)
        smoke, voxels = gf.VolumeRenderer(ctx), gf.VoxelView(ctx)
        target = ctx.simple_framebuffer((40, 30), components=4, dtype="f4")

        def seen() -> tuple[Any, ...]:
            pictures = []
            for view in (smoke, voxels):
                target.clear()
                view.render(fluid, camera, target=target)
                pictures.append(target.read(components=4, dtype="f4"))
            samples = fluid.sample([(0.5, 0.4, 0.4)])
            shown = fluid.scalars.front.read(), fluid.velocity_field.front.read()
            numbers = fluid.diagnostics()
            return *pictures, samples.velocity.tobytes(), samples.density.tobytes(), *shown, numbers

        before = seen()
        calls = 0
        while not fluid.advance(0.1, TINY):
            calls += 1
            if calls % 19 == 1:
                assert seen() == before
        after = seen()
        assert calls > 20 and all(a != b for a, b in zip(after, before, strict=True) if a is not after[1])
        for thing in (smoke, voxels, target):
            thing.release()


def test_nothing_is_held_before_the_first_advance_and_little_after(
    ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A texture more for each field that can be seen; no more with every step."""
    with flowing("compute", ctx) as fluid:
        fluid.step(0.1)
        assert fluid.device is not None
        plain = fluid.device.field_bytes
        held, made = [], []
        real = fluid.device.texture
        monkeypatch.setattr(fluid.device, "texture", lambda *given: made.append(given) or real(*given))
        for n in range(4):
            if n == 1:
                made.clear()
            for _ in range(4):
                fluid.advance(0.1, TINY)
            held.append(fluid.device.field_bytes)
            whole(fluid, 0.1)
            held.append(fluid.device.field_bytes)
            fluid.step(0.1)
        state = [fluid.velocity_field, fluid.scalars, fluid.color_field, fluid.flame_field, fluid.solid_field]
        assert plain < held[0] <= plain + 2.5 * sum(f.nbytes / len(f._textures) for f in state if f)
        assert max(held[2:]) <= held[1] and not made
    assert all(not field._textures for field in fluid.device.fields)


# -- the budget ----------------------------------------------------------------------------------------


class Clock:
    """A clock that only work moves."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, cost: Callable[[str], float]) -> None:
        from gpufluid.reference.numpy_backend import NumpyBackend, ReferenceKernel

        self.now, self.ran = 0.0, [""]
        real = ReferenceKernel.__call__
        clock = self

        def run(kernel: ReferenceKernel, **arguments: Any) -> None:
            real(kernel, **arguments)
            clock.now += cost(kernel.kernel.name)
            clock.ran.append(kernel.kernel.name)

        monkeypatch.setattr(ReferenceKernel, "__call__", run)
        monkeypatch.setattr(NumpyBackend, "stopwatch", lambda b: stopwatch.WallWatch(b.finish, self.read))
        monkeypatch.setattr("gpufluid.engine.fluid.perf_counter", self.read)
        monkeypatch.setattr("gpufluid.engine.stepper.perf_counter", self.read)
        monkeypatch.setattr(advance, "perf_counter", self.read)

    def read(self) -> float:
        return self.now


def test_a_slice_ends_before_the_pass_that_would_break_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that tells 1 ms a pass and 5 ms for one of them."""
    clock = Clock(monkeypatch, lambda name: 0.005 if name == "correct_velocity" else 0.001)
    with gf.Fluid(gf.Grid((4, 4, 4), 0.1), settings=gf.Settings(cfl=None), backend="numpy") as fluid:
        whole(fluid, 0.1, 4.0)  # learns
        for budget in (2.0, 4.5, 20.0):
            took, passes = [], []
            done = False
            while not done:
                start, first = clock.now, len(clock.ran)
                done = fluid.advance(0.1, budget)
                took.append(1e3 * (clock.now - start))
                passes.append(clock.ran[first:])
            for ms, names, following in zip(took, passes, [*passes[1:], None], strict=True):
                assert ms <= budget + 1e-9 or names == ["correct_velocity"]
                if following is not None:  # it has used what there was
                    cost = 5.0 if following[0] == "correct_velocity" else 1.0
                    assert ms + cost > stopwatch.AIM * budget - 1e-9
        assert len(passes) == 4


def test_a_picture_drawn_before_a_call_takes_nothing_of_its_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step of 30 passes of 0.5 ms took a call for each where a picture of 5 ms was still being drawn."""
    from gpufluid.reference.numpy_backend import NumpyBackend

    clock, drawing = Clock(monkeypatch, lambda name: 0.0005), [0.0]

    def finish(_: NumpyBackend) -> None:
        clock.now, drawing[0] = clock.now + drawing[0], 0.0

    monkeypatch.setattr(NumpyBackend, "finish", finish)
    with gf.Fluid(gf.Grid((4, 4, 4), 0.1), settings=gf.Settings(cfl=None), backend="numpy") as fluid:
        whole(fluid, 0.1, 4.0)  # learns
        calls = []
        for picture in (0.0, 0.005):
            first, done, count = len(clock.ran), False, 0
            while not done:
                drawing[0] = picture
                done, count = fluid.advance(0.1, 4.0), count + 1
            calls.append(count)
            assert len(clock.ran) - first > 2 * count
        assert calls[0] == calls[1]


@pytest.mark.parametrize("where", ["compute", "fragment"])
def test_a_pass_longer_than_the_budget_is_divided(
    where: str, ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a clock that tells 0.2 ms a row of any texture: no call is longer than its budget."""
    now, parts = [0.0], []
    real = Pass._run

    def run(self: Pass, out: Any, first: int, rows: int) -> None:
        real(self, out, first, rows)
        parts.append(rows < self._size[1])
        if where == "compute":
            assert first % self._group[1] == 0  # a workgroup's rows are not run twice
        now[0] += 0.0002 * rows

    with flowing(where, ctx, sampler="hardware") as plain, flowing(where, ctx, sampler="hardware") as sliced:
        for _ in range(2):
            plain.step(0.1)
        monkeypatch.setattr(Pass, "_run", run)
        monkeypatch.setattr("gpufluid.engine.fluid.perf_counter", lambda: now[0])
        monkeypatch.setattr("gpufluid.engine.stepper.perf_counter", lambda: now[0])
        monkeypatch.setattr(advance, "perf_counter", lambda: now[0])
        monkeypatch.setattr(
            type(sliced._backend), "stopwatch", lambda b: stopwatch.WallWatch(b.finish, lambda: now[0])
        )
        whole(sliced, 0.1, 2.5)  # learns
        done, took = False, []
        parts.clear()
        while not done:
            start = now[0]
            done = sliced.advance(0.1, 2.5)
            took.append(1e3 * (now[0] - start))
            sliced.sample([(0.5, 0.5, 0.4)])  # others bind their own in between
            now[0] += 0.005
        assert max(took) <= 2.5 + 1e-6 and np.median(took) >= 1.25
        assert sum(parts) > 20 and not all(parts)
        monkeypatch.setattr(Pass, "_run", real)
        assert same(told(sliced), told(plain))


def test_unknown_passes_are_taken_for_a_quarter_of_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """So the first calls do not ask a GPU for everything at once: what passes cost there is known later."""
    clock = Clock(monkeypatch, lambda name: 0.0007)
    monkeypatch.setattr(stopwatch.Costs, "learn", lambda *given: None)
    with gf.Fluid(gf.Grid((4, 4, 4), 0.1), settings=gf.Settings(cfl=None), backend="numpy") as fluid:
        assert not fluid.advance(0.1, 4.0)
        assert len(clock.ran) == 1 + 4  # the fourth begins at 2.1 of 3.4 ms, a fifth would at 2.8


def test_a_gpu_is_asked_for_four_unknown_passes_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the clock says: asking takes no time, and what they cost is told two calls later."""
    device = Device(monkeypatch, True, lambda call, part: 1.0)
    slices, parts = advance.Slices(device), []  # type: ignore[arg-type]
    slices.begin(device.step)
    while True:
        device.calls += 1
        done = slices.go_on(1 / 16, 0.0)  # exact in quarters
        parts.append(device.parts - sum(parts))
        if done:
            break
    assert parts[:2] == [4, 4] and parts[-1] < 4
    device.parts, device.calls = 0, 99
    slices.begin(device.step)
    assert slices.go_on(1 / 16, 0.0) and device.parts == len(device.PASSES)  # all known, and 36 ms


def test_costs_are_means_that_interruptions_hardly_move() -> None:
    costs = stopwatch.Costs()
    assert costs.foreseen("a") is None
    for _ in range(50):
        costs.learn("a", 0.001)
    costs.learn("a", 0.5)  # another program had the processor
    known = costs.foreseen("a")
    assert known is not None and 0.001 < known < 0.0025
    for _ in range(30):
        costs.learn("a", 0.004)  # it does cost more now
    assert costs.foreseen("a") == pytest.approx(0.004, rel=0.1)
    for seconds in (2.0, 0.001):  # compiled, then run
        costs.learn("b", seconds)
    assert costs.foreseen("b") == 0.001
    for seconds in (0.0, 0.001, 0.001):  # a clock too coarse for it
        costs.learn("c", seconds)
    assert costs.foreseen("c") != pytest.approx(0.0, abs=1e-9)


def test_delays_are_learned_fast_and_forgotten_slowly() -> None:
    delays = stopwatch.Delays()
    for _ in range(400):
        delays.learn(1.0 + 1e-9)
    assert 1.0 < delays.factor < 1.11  # less than the slack: nothing is kept back for it
    for _ in range(8):
        delays.learn(1.6)
    assert 1.6 <= delays.factor < 1.7
    for _ in range(100):
        delays.learn(1.0)
    assert delays.factor > 1.55
    for n in range(8000):  # one in fifty is far more than the share that may be late
        delays.learn(1.4 if n % 50 == 0 else 1.0)
    assert 1.38 < delays.factor < 1.5
    for n in range(12000):  # one in four thousand is less
        delays.learn(1.4 if n % 4000 == 0 else 1.0)
    assert delays.factor < 1.12
    for _ in range(100):
        delays.learn(9.0)  # a machine that stands still is not waited for
    assert delays.factor == stopwatch.SLOWEST


class Device:
    """A processor, or a GPU, on which a row costs what it should, but for some parts or calls that are slow.

    A GPU (`late`) tells times only two calls later, and takes nothing of the caller's own.
    """

    ROW = 1e-4  # seconds
    PASSES = (3, 40, 11, 70, 25, 8, 8, 8, 64, 120)  # rows

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, late: bool, slowness: Callable[[int, int], float]
    ) -> None:
        self.now, self.slowness, self.parts, self.calls = 0.0, slowness, 0, 0
        self.stamps: dict[int, tuple[int, float]] = {}
        self.pace, self.late = backend.Pace(), late
        self.begun = 0  # nanoseconds, what a GPU's clock tells at first; it has 36 bits
        monkeypatch.setattr(advance, "perf_counter", self.clock)
        gl = SimpleNamespace(
            glGenQueries=self.new,
            glQueryCounter=self.stamp,
            glGetQueryObjectiv=self.ready,
            glGetQueryObjectui64v=self.read,
        )
        monkeypatch.setattr("gpufluid.gl.timestamps.calls", lambda _: gl)

    def clock(self) -> float:
        return 0.0 if self.late else self.now

    def stopwatch(self) -> backend.Stopwatch:
        if self.late:
            return TimestampWatch(None, self.clock)  # type: ignore[arg-type]
        return stopwatch.WallWatch(lambda: None, self.clock)

    def new(self, _: int, name: Any) -> None:
        name._obj.value = len(self.stamps) + 1
        self.stamps[name._obj.value] = 0, 0.0

    def stamp(self, name: int, _: int) -> None:
        self.stamps[name] = self.calls, self.now

    def ready(self, name: int, _: int, ready: Any) -> None:
        ready._obj.value = self.calls - self.stamps[name][0] >= 2

    def read(self, name: int, _: int, at: Any) -> None:
        at._obj.value = (self.begun + round(1e9 * self.stamps[name][1])) % (1 << 36)

    def step(self) -> None:
        for work, height in enumerate(self.PASSES):
            first = 0
            while first < height:
                assert self.pace.pacer is not None
                rows = self.pace.pacer.before(work, height - first)
                self.now += rows * self.ROW * self.slowness(self.calls, self.parts)
                self.parts += 1
                first += rows

    def run(self, steps: int, budget: float) -> np.ndarray:
        """What each call took, as shares of the budget; without the ends of steps."""
        slices, took = advance.Slices(self), []  # type: ignore[arg-type]
        for _ in range(steps):
            slices.begin(self.step)
            done = False
            while not done:
                start = self.now
                self.calls += 1
                done = slices.go_on(budget, self.clock())
                if not done:
                    took.append((self.now - start) / budget)
        return np.array(took)


@pytest.mark.parametrize("late", [False, True], ids=["the clock", "time stamps"])
@pytest.mark.parametrize("budget", [2e-3, 4e-3, 8e-3])
def test_calls_keep_the_budget_where_some_of_the_work_is_slow(
    monkeypatch: pytest.MonkeyPatch, late: bool, budget: float
) -> None:
    """One part in 23, or on a GPU one call in 15, takes so much longer; it is known by none before."""

    def slowness(call: int, part: int) -> float:
        return 1.5 * (call % 15 == 0) or 1.0 if late else 3.5 * (part % 23 == 0) or 1.0

    took = Device(monkeypatch, late, slowness).run(150, budget)
    learned = took[len(took) // 2 :]
    assert took.max() > 1.2  # at first nothing is known of that
    assert learned.max() < 1.25 and np.mean(learned > 1.2 + 1e-6) < 0.005
    assert learned.max() > 1.1  # no more is kept back than has to be
    assert learned.mean() > 0.6


def test_the_rest_of_a_call_makes_up_for_what_was_slow_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = set()

    def slowness(call: int, _: int) -> float:
        first = call not in begun
        begun.add(call)
        return 3.0 if first and call % 10 == 0 else 1.0

    took = Device(monkeypatch, False, slowness).run(60, 8e-3)
    assert took.max() < 1.0 and took.mean() > 0.75


@pytest.mark.parametrize("late", [False, True], ids=["the clock", "time stamps"])
def test_calls_use_the_budget_where_nothing_is_slow(monkeypatch: pytest.MonkeyPatch, late: bool) -> None:
    took = Device(monkeypatch, late, lambda call, part: 1.0).run(40, 4e-3)[40:]
    aim = 1.0 if late else stopwatch.AIM
    assert aim - advance.LEAST - 1e-6 < took.min() and took.max() < aim + 1e-6
    assert took.mean() > 0.9 * aim


def test_of_a_pass_that_does_not_fit_at_all_the_least_part_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    device = Device(monkeypatch, False, lambda call, part: 1.0)
    took = device.run(3, 0.5 * device.ROW)
    assert took[-200:] == pytest.approx(2.0)  # a row


def test_the_time_is_kept_here(ctx: moderngl.Context) -> None:
    """Leniently: other work runs on this machine. Slices of one pass may be longer than any budget."""
    rules = gf.Settings(advection="semi-lagrangian", pressure=gf.Jacobi(60))
    with gf.Fluid(gf.Grid((24, 24, 24), 1 / 24), settings=rules, backend="fragment", ctx=ctx) as fluid:
        fluid.emitters.add(gf.Emitter(gf.Sphere((0.5, 0.3, 0.5), 0.2), density=1.0, temperature=1.0))
        for _ in range(3):
            whole(fluid, 1 / 60, 2.0)
        assert fluid._stepper.slices is not None
        took, calls, done = [], 0, False
        for _ in range(4):
            done = False
            while not done:
                before, start = fluid._stepper.slices._passes * (calls > 0), time.perf_counter()
                done = fluid.advance(1 / 60, 2.0)
                fluid._backend.finish()
                calls = 0 if done else calls + 1
                if fluid._stepper.slices._passes - before > 1:
                    took.append(1e3 * (time.perf_counter() - start))
        assert len(took) > 4
        assert np.median(took) < 2.0 * 1.2 * 2


def test_a_gpus_clock_may_begin_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """That of Mesa's driver for Intel does every 2^36 ns: a pass seemed to cost nothing for 30 steps."""
    device = Device(monkeypatch, True, lambda call, part: 1.0)
    rows = 10 * sum(device.PASSES) + 60  # in the midst of the pass of 70
    device.begun = (1 << 36) - round(1e9 * rows * device.ROW)
    slices = advance.Slices(device)  # type: ignore[arg-type]
    for _ in range(14):
        slices.begin(device.step)
        done = False
        while not done:
            device.calls += 1
            done = slices.go_on(0.008, 0.0)
        known = slices.watch.costs._known
        assert all(each == pytest.approx(device.ROW, rel=1e-3) for each in known.values())
    assert len(known) == len(device.PASSES) and device.now * 1e9 + device.begun > 1 << 36


@pytest.mark.parametrize("bits", [64, 0])
def test_a_gpu_without_time_stamps_goes_by_the_clock(
    ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch, bits: int
) -> None:
    """macOS says that they have no bits, and each is 0 there: passes would seem to cost nothing."""
    monkeypatch.setitem(
        calls(ctx).__dict__, "glGetQueryiv", lambda target, name, out: setattr(out._obj, "value", bits)
    )
    with gf.Fluid(GRID, backend="fragment", ctx=ctx) as fluid:
        monkeypatch.setattr(fluid.device, "software", False)
        watch = fluid._backend.stopwatch()
        assert isinstance(watch, TimestampWatch if bits else stopwatch.WallWatch)
        monkeypatch.undo()


def test_time_stamps_tell_what_passes_cost(ctx: moderngl.Context) -> None:
    """The watch for GPUs, here on whatever there is: nothing is read before it is there, all is learned."""
    watch = TimestampWatch(ctx)
    with gf.Fluid(GRID, backend="fragment", ctx=ctx) as fluid:
        assert fluid._stepper.slices is None
        fluid._stepper.slices = advance.Slices(fluid._backend)
        fluid._stepper.slices.watch = watch
        for _ in range(4):
            whole(fluid, 0.1, 50.0)
            ctx.finish()
        watch.start(time.perf_counter(), 0.05)
        rows = {work: seconds for work, seconds in watch.costs._known.items() if isinstance(work, Pass)}
        known = {work.kernel.name: seconds * work._size[1] for work, seconds in rows.items()}
        assert {"jacobi", "predict_velocity", "divergence"} <= known.keys()
        assert all(0.0 <= seconds < 0.5 for seconds in known.values())
        assert known["correct_velocity"] > known["jacobi"] > 1e-6
        assert not watch._late and watch._free
        jacobi = next(w for w in watch.costs._known if isinstance(w, Pass) and w.kernel.name == "jacobi")
        watch.lap(jacobi)
        foreseen = watch.foreseen(jacobi)
        assert foreseen is not None and watch._asked == foreseen
    assert not watch._free
