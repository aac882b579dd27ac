"""A fluid in a file goes on bit for bit; a file that is not what was written is refused."""

from __future__ import annotations

import contextlib
import json
import os
import tracemalloc
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import moderngl
import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sharing import COMPUTED, DRAWN, in_pairs

import gpufluid as gf
from gpufluid.description.records import KINDS, Reader, Writer
from gpufluid.engine.checkpoint import HEADER, Taken, npy_header

SHAPES: list[Callable[[], Any]] = [
    lambda: gf.Sphere((0.3, 0.2, 0.3), 0.1),
    lambda: gf.Box((0.4, 0.2, 0.3), (0.1, 0.2, 0.3)),
    lambda: gf.Cylinder((0.4, 0.2, 0.3), 0.1, 0.2),
    lambda: gf.Capsule((0.4, 0.2, 0.3), (0.5, 0.2, 0.3), 0.1),
    lambda: gf.Plane((0.4, 0.05, 0.3), (0.1, 1.0, 0.0)),
    lambda: gf.Mesh.box((0.2, 0.2, 0.2), (0.4, 0.3, 0.3)),
]
SOURCES: list[Callable[[], Any]] = [
    lambda: gf.Surface(gf.Mesh.icosphere(1, 0.2, (0.4, 0.3, 0.3)), 0.1),
    lambda: gf.Line([(0.1, 0.1, 0.1), (0.5, 0.4, 0.3)], 0.1),
    lambda: gf.Bezier([(0.1, 0.1, 0.1), (0.5, 0.4, 0.3), (0.2, 0.4, 0.3), (0.3, 0.1, 0.4)], 0.1),
    lambda: gf.Image(np.linspace(0.0, 1.0, 24).reshape(2, 3, 4), (0.4, 0.4, 0.3), (0.3, 0.2)),
]


def written(thing: Any) -> Any:
    """What a file would hold of `thing`, arrays and all."""
    write = Writer()
    return write(thing, "thing"), write.meshes, [(a.dtype.str, a.shape, a.tobytes()) for a in write.arrays]


def reread(thing: Any) -> Any:
    write = Writer()
    record = json.loads(json.dumps(write(thing, "thing"), allow_nan=False))
    return Reader(write.meshes, lambda n: write.arrays[n])(record)


def state(fluid: gf.Fluid) -> dict[str, np.ndarray]:
    return {name: store.dump() for name, store in fluid._solver.stores().items()}


def same(a: gf.Fluid, b: gf.Fluid) -> bool:
    one, other = state(a), state(b)
    bits = all(one[k].dtype == other[k].dtype and one[k].tobytes() == other[k].tobytes() for k in one)
    return one.keys() == other.keys() and bits and a.time == b.time


def busy(backend: str, ctx: moderngl.Context | None) -> gf.Fluid:
    """A fluid with something of every sort in it."""
    grid = gf.Grid((13, 11, 7), 0.06, (-0.1, 0.0, 0.05))
    sides = gf.Boundaries(gf.Inflow((0.3, 0, 0), 0.5), gf.Open(), gf.Wall(temperature=2.0), gf.Open())
    rules = gf.Settings(
        pressure=gf.ChebyshevJacobi(9),
        vorticity_confinement=0.3,
        viscosity=1e-3,
        cooling=0.1,
        weight=0.2,
        combustion=gf.Combustion(expansion_per_burn=0.5),
    )
    fluid = gf.Fluid(grid, sides, rules, backend, ctx)
    add = fluid.emitters.add
    add(gf.Emitter(SHAPES[0](), 3.0, 5.0, (0.0, 1.0, 0.2), noise=0.7, seed=5, noise_time=0.1))
    add(gf.Emitter(SHAPES[5](), 1.0, fuel=2.0, edge="hard", rotation=np.float32([0, 0, 0.6, 0.8])))
    add(gf.Emitter(gf.Array(np.random.default_rng(3).random((7, 11, 13))), 0.3, color=(0.5, 0.0, 2.0)))
    mesh = gf.Mesh.icosphere(1, 0.1)
    fluid.obstacles.add(gf.Obstacle(mesh, (0.3, 0.45, 0.25)))
    fluid.obstacles.add(
        gf.Obstacle(
            gf.Box(size=(0.2, 0.1, 0.2)), (0.1, 0.3, 0.2), temperature=3.0, spin=(0, 2, 0), slip="free"
        )
    )
    add_force = fluid.forces.add
    add_force(gf.Wind((1.0, 0.0, 0.0), 0.3))
    add_force(gf.Vortex((0.3, 0.3, 0.3), strength=2.0))
    add_force(gf.Attractor((0.2, 0.5, 0.2)))
    add_force(gf.Turbulence(0.5, 0.3, 0.7, seed=5))
    add_force(gf.ForceField(np.random.default_rng(4).standard_normal((7, 11, 13, 3)), 0.5))
    if backend != "numpy":
        add_force(gf.ForceExpression("vec3(sin(40.0 * y + time), 0, 0)"))
    return fluid


def drive(fluid: gf.Fluid, first: int, count: int) -> None:
    """Steps `first` on, in each of which both solids are elsewhere and the mesh bends."""
    rest = gf.Mesh.icosphere(1, 0.1).vertices
    bends, moves = fluid.obstacles
    for n in range(first, first + count):
        assert isinstance(bends.shape, gf.Mesh)
        bends.shape = bends.shape.moved(rest * (1.0 + 0.02 * n))
        bends.position = (0.3 + 0.003 * n, 0.45, 0.25)
        moves.rotation = [0.0, np.sin(0.05 * n), 0.0, np.cos(0.05 * n)]
        fluid.step(0.03 + 0.001 * n if n % 3 else 0.004)  # ever again much shorter than the next


@pytest.mark.parametrize("backend", COMPUTED)
def test_a_busy_fluid_goes_on_bit_for_bit(tmp_path: Path, ctx: moderngl.Context, backend: str) -> None:
    context = None if backend == "numpy" else ctx
    fluid = busy(backend, context)
    drive(fluid, 0, 4)
    path = fluid.save(tmp_path / "busy.fluid")
    before = state(fluid)
    drive(fluid, 4, 4)
    again = gf.Fluid.load(path, ctx=context)
    assert again.backend_name == backend
    assert all(np.array_equal(before[k], v) for k, v in state(again).items())
    drive(again, 4, 4)
    assert np.abs(state(again)["pressure"]).max() > 0.01
    assert not np.array_equal(before["scalars"], state(again)["scalars"])
    assert same(fluid, again)
    assert np.array_equal(fluid.solid.read(), again.solid.read())
    fluid.release()
    again.release()


RULES = {
    "2D, periodic, half": (
        gf.Grid((17, 19, 1), 0.05),
        gf.Boundaries(left=gf.Periodic(), right=gf.Periodic()),
        gf.Settings(precision="half", advection="semi-lagrangian", pressure=gf.RedBlackSOR(5)),
    ),
    "multigrid": (
        gf.Grid((9, 8, 5), 0.1),
        gf.Boundaries(bottom=gf.Inflow((0.0, 1.0, 0.0))),
        gf.Settings(pressure=gf.Multigrid(1), advection="bfecc", density_diffusivity=1e-3),
    ),
    "conjugate gradients, no warm start": (
        gf.Grid((9, 8, 5), 0.1),
        gf.Boundaries(top=gf.Open()),
        gf.Settings(pressure=gf.ConjugateGradient(5), warm_start=False, thermal_diffusivity=1e-3),
    ),
    "cells carried by a given velocity": (
        gf.Grid((6, 7, 5), 0.1),
        gf.Boundaries(),
        gf.Settings(solve_velocity=False, limiter=None, trace="euler", pressure=gf.RedBlackSOR(3)),
    ),
}


@pytest.mark.parametrize(
    ("name", "backend"),
    [
        *((name, "numpy") for name in RULES),
        *((next(iter(RULES)), stage) for stage in ("fragment", "compute")),
    ],
)
def test_every_sort_goes_on_bit_for_bit(
    tmp_path: Path, ctx: moderngl.Context, name: str, backend: str, rng: np.random.Generator
) -> None:
    grid, sides, rules = RULES[name]
    context = None if backend == "numpy" else ctx
    fluid = gf.Fluid(grid, sides, rules, backend, context)
    fluid.velocity.write(0.3 * rng.standard_normal(fluid.velocity.read().shape))
    fluid.density.write(rng.random(grid.cells[::-1]))
    fluid.temperature.write(rng.random(grid.cells[::-1]))
    fluid.step(0.05)
    again = gf.Fluid.load(fluid.save(tmp_path / "a.fluid"), context)
    assert (again.grid, again.boundaries, again.settings) == (grid, sides, rules)
    for one in (fluid, again):
        one.project()  # over the last dt, which is not 1 s
        one.step(0.05)
    assert same(fluid, again)
    fluid.release()
    again.release()


@pytest.mark.parametrize("backend", ["numpy", "fragment"])
def test_a_state_is_written_later_and_in_another_thread(
    tmp_path: Path, ctx: moderngl.Context, backend: str
) -> None:
    """As a game does that saves in mid-play."""
    with busy(backend, None if backend == "numpy" else ctx) as fluid:
        drive(fluid, 0, 3)
        now = fluid.save(tmp_path / "now.fluid").read_bytes()
        taken = fluid.take_state()
        drive(fluid, 3, 2)
        with ThreadPoolExecutor() as pool:
            later = pool.submit(taken.write, tmp_path / "later.fluid").result()
        assert later.read_bytes() == now


@pytest.mark.parametrize("backend", ["numpy", "fragment"])
def test_a_state_that_was_taken_is_gone_back_to(ctx: moderngl.Context, backend: str) -> None:
    """As a game does that rewinds, with nothing written to the disk; again and again."""
    context = None if backend == "numpy" else ctx
    with busy(backend, context) as fluid:
        drive(fluid, 0, 3)
        taken = fluid.take_state()
        drive(fluid, 3, 2)
        for _ in range(2):
            with gf.Fluid.load(taken, context) as other:
                drive(other, 3, 2)
                assert same(fluid, other)
            ahead, then = state(fluid), fluid.time
            fluid.restore(taken)
            assert fluid.time < then
            drive(fluid, 3, 2)
            assert all(np.array_equal(ahead[k], v) for k, v in state(fluid).items())
        with gf.Fluid(gf.Grid((4, 4, 4), 0.1), backend="numpy") as small:
            with pytest.raises(gf.GpufluidError, match=r"^the state taken of a fluid: is of Grid\(cells"):
                small.restore(taken)
            with pytest.raises(gf.GpufluidError, match="^the state taken of a fluid: "):
                gf.Fluid.load(Taken(b"{}", [], []))


def test_solids_are_as_they_moved_last(tmp_path: Path) -> None:
    fluid = gf.Fluid(gf.Grid((8, 8, 6), 0.1), backend="numpy")
    ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.15), (0.3, 0.4, 0.3)))
    fluid.step(0.1)
    ball.position = (0.35, 0.4, 0.3)
    fluid.step(0.1)
    again = gf.Fluid.load(fluid.save(tmp_path / "a.fluid"))
    for one in (fluid, again):
        one.velocity.write(np.zeros(one.velocity.read().shape))
        one.project()
    assert fluid.velocity.read()[..., 0].max() > 0.4, "the ball pushes nothing"
    assert same(fluid, again)


@pytest.mark.parametrize("backend", ["numpy", "fragment"])
def test_a_refused_state_changes_nothing(
    tmp_path: Path, ctx: moderngl.Context, backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The box had been scrolled by then to where the file's is."""
    from gpufluid.engine import checkpoint

    grid, context = gf.Grid((8, 8, 6), 0.1), None if backend == "numpy" else ctx
    sides = gf.Boundaries.all(gf.Open())
    with gf.Fluid(grid, sides, backend=backend, ctx=context) as fluid:
        fluid.emitters.add(gf.Emitter(gf.Sphere((0.4, 0.4, 0.3), 0.2), color=(1.0, 0.5, 0.2)))
        fluid.step(0.05)
        fluid.scroll((2, 1, 0))
        fluid.step(0.05)
        found = checkpoint._contents(fluid.save(tmp_path / "colored.fluid"))
    strange = replace(found, state=found.state | {"spin": found.state["color"]})
    burning = gf.Settings(combustion=gf.Combustion())
    with gf.Fluid(grid, sides, burning, backend, context) as other:
        other.density.write(np.full((6, 8, 8), 0.3))
        other.step(0.05)
        before = other.save(tmp_path / "before.fluid").read_bytes()
        monkeypatch.setattr(checkpoint, "_contents", lambda path: strange)
        with pytest.raises(gf.GpufluidError, match=r"cannot be loaded: it holds spin, which is nothing of"):
            other.restore(tmp_path / "colored.fluid")
        assert other.grid == grid
        assert other.save(tmp_path / "after.fluid").read_bytes() == before


RED = (1.0, 0.0, 0.0)
CHANGES: dict[str, Callable[[gf.Fluid], Any]] = {
    "a source gets a colour": lambda fluid: setattr(next(iter(fluid.emitters)), "color", RED),
    "a coloured source comes": lambda fluid: fluid.emitters.add(gf.Emitter(gf.Sphere(radius=0.2), color=RED)),
    "it burns from now on": lambda fluid: setattr(
        fluid, "settings", fluid.settings.but(combustion=gf.Combustion())
    ),
    "it burns no more": lambda fluid: setattr(fluid, "settings", fluid.settings.but(combustion=None)),
}


@pytest.mark.parametrize(("change", "half_done", "backend"), in_pairs(CHANGES, [False, True], DRAWN))
def test_what_comes_and_goes_with_sources_and_settings(
    tmp_path: Path, ctx: moderngl.Context, change: str, half_done: bool, backend: str
) -> None:
    """Saved right after a change, where the state does not know of it yet; restored from a file before it."""
    context = None if backend == "numpy" else ctx
    burns = gf.Combustion() if change == "it burns no more" else None
    settings = gf.Settings(combustion=burns, buoyancy=1.0)
    with gf.Fluid(gf.Grid((8, 8, 6), 0.1), settings=settings, backend=backend, ctx=context) as fluid:
        fluid.emitters.add(
            gf.Emitter(gf.Sphere((0.4, 0.4, 0.3), 0.2), density=2.0, temperature=3.0, fuel=1.0)
        )
        fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.15), (0.3, 0.6, 0.3)))
        fluid.step(0.05)
        first, before = fluid.save(tmp_path / "first.fluid"), fluid.density.read()
        if half_done:
            assert not fluid.advance(0.05, budget_ms=1e-3)
        CHANGES[change](fluid)
        with gf.Fluid.load(fluid.save(tmp_path / "changed.fluid"), context) as again:
            if half_done:  # the step under way is finished by the rules that it began with
                assert np.array_equal(again.density.read(), before)
                again.step(0.05)
                assert again.density.read().sum() > before.sum()
            else:
                for one in (fluid, again):
                    one.step(0.05)
                assert same(fluid, again)
        while not fluid.advance(0.05, budget_ms=1e3):
            pass
        fluid.step(0.05)
        assert fluid.color.read().any() == ("colour" in change)
        fluid.restore(first)
        assert np.array_equal(fluid.density.read(), before)
        assert not fluid.color.read().any()
        fluid.step(0.05)
        assert np.isfinite(fluid.velocity.read()).all()


def test_a_damaged_state_brings_no_colors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gpufluid.engine import checkpoint

    with gf.Fluid(gf.Grid((8, 8, 6), 0.1), backend="numpy") as fluid:
        fluid.emitters.add(gf.Emitter(gf.Sphere((0.4, 0.4, 0.3), 0.2), color=(1.0, 0.5, 0.2)))
        fluid.step(0.05)
        found = checkpoint._contents(fluid.save(tmp_path / "a.fluid"))
    for name in ("pressure", "color"):
        short = found.state | {name: found.state[name][:-1]}
        monkeypatch.setattr(checkpoint, "_contents", lambda path, short=short: replace(found, state=short))
        with gf.Fluid(gf.Grid((8, 8, 6), 0.1), backend="numpy") as other:
            with pytest.raises(gf.GpufluidError, match=f"its {name} is .* belongs"):
                other.restore(tmp_path / "a.fluid")
            assert "color" not in other._solver.stores()


def test_what_only_looks_at_a_moved_solid_is_remembered(tmp_path: Path) -> None:
    fluid = gf.Fluid(gf.Grid((8, 8, 6), 0.1), backend="numpy")
    ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.15), (0.3, 0.4, 0.3)))
    fluid.step(0.1)
    ball.position = (0.35, 0.4, 0.3)
    fluid.diagnostics()  # voxelizes the ball where it is now, at rest
    again = gf.Fluid.load(fluid.save(tmp_path / "a.fluid"))
    for one in (fluid, again):
        one.step(0.1)
    assert fluid.velocity.read()[..., 0].max() > 0.4, "the ball pushes nothing"
    assert same(fluid, again)


def test_a_mesh_that_has_bent_since_the_last_step_pushes_after_a_restore(tmp_path: Path) -> None:
    """The file tells of which mesh this one has come: the next step moves the fluid as its surface moves."""
    mesh = gf.Mesh.cylinder(radius=0.15, height=0.3)
    with gf.Fluid(gf.Grid((8, 8, 6), 0.1), backend="numpy") as fluid:
        tube = fluid.obstacles.add(gf.Obstacle(mesh, (0.4, 0.4, 0.3)))
        fluid.step(0.1)
        tube.shape = mesh.moved(mesh.vertices * (1.6, 1.0, 1.0))
        saved = fluid.save(tmp_path / "a.fluid")
        fluid.step(0.1)
        once = fluid.velocity.read()
        assert once.max() > 0.3, "the tube pushes nothing"
        fluid.restore(saved)
        fluid.step(0.1)
        np.testing.assert_array_equal(fluid.velocity.read(), once)


def test_one_state_is_one_file(tmp_path: Path) -> None:
    fluid = busy("numpy", None)
    drive(fluid, 0, 2)
    one = fluid.save(tmp_path / "a.fluid").read_bytes()
    other = gf.Fluid.load(tmp_path / "a.fluid").save(tmp_path / "b.fluid").read_bytes()
    assert one == other


def test_another_backend_takes_the_state_over(tmp_path: Path, ctx: moderngl.Context) -> None:
    fluid = busy("numpy", None)
    drive(fluid, 0, 2)
    again = gf.Fluid.load(fluid.save(tmp_path / "a.fluid"), ctx, "fragment")
    assert again.backend_name == "fragment"
    assert again.density.read() == pytest.approx(fluid.density.read(), rel=1e-6)
    back = gf.Fluid.load(again.save(tmp_path / "b.fluid"), backend="numpy")
    assert np.array_equal(back.density.read(), again.density.read())
    again.release()


def test_numpy_opens_it_without_pickle(tmp_path: Path) -> None:
    fluid = busy("numpy", None)
    drive(fluid, 0, 1)
    with np.load(fluid.save(tmp_path / "a.npz"), allow_pickle=False) as file:
        assert np.array_equal(file["velocity"][..., :3], fluid._solver.velocity.dump()[..., :3])
        assert file["scalars"].dtype == np.float64


@pytest.mark.parametrize("make", SHAPES + SOURCES, ids=lambda make: type(make()).__name__)
def test_shapes_come_back(make: Callable[[], Any]) -> None:
    thing = gf.Emitter(make(), 1.0, velocity=(1.0, 2.0, 0.1 + 0.2), rotation=np.eye(3, dtype=np.float32))
    again = reread(thing)
    assert type(again.shape) is type(thing.shape)
    assert written(again) == written(thing)


def test_meshes_that_move_stay_one_family() -> None:
    mesh = gf.Mesh.box()
    other = gf.Mesh.box()
    moved = mesh.moved(mesh.vertices + 1.0)
    first, second, again, stranger = reread((mesh, moved, mesh, other))
    assert first is again
    assert first.family is second.family is not stranger.family
    assert np.array_equal(second.vertices, moved.vertices)


def test_all_that_describes_a_fluid_can_be_saved() -> None:
    """A class that a new field names is found without being listed."""
    for name in gf.__all__:
        home = getattr(gf, name)
        module = getattr(home, "__module__", "")
        described = ("shapes", "sources", "user_forces", "solvers", "boundaries", "settings", "grid")
        if module.removeprefix("gpufluid.") in described:
            assert KINDS[home.__name__] is home
    assert not {"Fluid", "Family", "Form", "PressureSolver", "Camera"} & KINDS.keys()


class Own:
    def solve(self, problem: Any) -> None:
        problem.jacobi()


class Special(gf.Emitter):
    pass


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: None, r"Settings\.pressure cannot be saved: .*<.*Own object"),
        (lambda f: f.emitters.add(Special(gf.Sphere())), r"fluid\.emitters\[0\] cannot be saved"),
        (
            lambda f: f.forces.add(gf.ForceExpression("position", lambda p, t: p)),
            r"ForceExpression\.numpy cannot be saved: .*<function",
        ),
    ],
)
def test_what_no_file_can_hold_is_named(
    tmp_path: Path, change: Callable[[gf.Fluid], Any], message: str
) -> None:
    rules = gf.Settings(pressure=Own()) if "pressure" in message else gf.Settings()
    fluid = gf.Fluid(gf.Grid((4, 4, 4), 0.1), settings=rules, backend="numpy")
    change(fluid)
    with pytest.raises(gf.GpufluidError, match=message):
        fluid.save(tmp_path / "a.fluid")
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_kept_unless_asked_and_whole_or_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fluid = gf.Fluid(gf.Grid((4, 4, 4), 0.1), backend="numpy")
    path = fluid.save(tmp_path / "a.fluid")
    old = path.read_bytes()
    fluid.step(0.1)
    with pytest.raises(gf.GpufluidError, match=r"a\.fluid: exists already; .*overwrite=True"):
        fluid.save(path)
    with pytest.raises(gf.GpufluidError, match="missing does not exist"):
        fluid.save(tmp_path / "missing" / "a.fluid")

    def full(self: zipfile.ZipFile, *rest: Any, **options: Any) -> Any:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(zipfile.ZipFile, "open", full)
        with pytest.raises(gf.GpufluidError, match=r"a\.fluid: could not be written: No space left"):
            fluid.save(path, overwrite=True)
    assert path.read_bytes() == old
    fluid.save(path, overwrite=True)
    assert path.read_bytes() != old
    assert [p.name for p in tmp_path.iterdir()] == ["a.fluid"]
    fluid.release()
    with pytest.raises(gf.GpufluidError, match="released"):
        fluid.save(path, overwrite=True)


# -- files that were not written by save ---------------------------------------------------------------


@dataclass
class Original:
    """A small checkpoint, and where to put a changed one."""

    data: bytes = field(repr=False)
    path: Path

    def load(self, data: bytes) -> gf.Fluid:
        self.path.write_bytes(data)
        return gf.Fluid.load(self.path, backend="numpy")


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Original:
    fluid = gf.Fluid(gf.Grid((4, 3, 2), 0.1), gf.Boundaries(top=gf.Open()), backend="numpy")
    fluid.emitters.add(gf.Emitter(gf.Sphere((0.2, 0.1, 0.1), 0.1), 2.0, 3.0))
    fluid.obstacles.add(gf.Obstacle(gf.Mesh.box((0.1, 0.1, 0.1), (0.1, 0.2, 0.1))))
    fluid.step(0.1)
    folder = tmp_path_factory.mktemp("fuzz")
    return Original(fluid.save(folder / "good.fluid").read_bytes(), folder / "changed.fluid")


def test_a_file_from_before_the_last_pressure_pushed(original: Original) -> None:
    """It lacks for how long that pushed: the first step goes without."""
    header, parts = parts_of(original)
    del header["numbers"]["pushed"]
    fluid = original.load(packed(header, parts))
    assert fluid._solver.numbers()["pushed"] == 0.0
    fluid.step(0.1)


def refused_or_the_same(original: Original, data: bytes) -> None:
    """The property of every file: it is refused, or what it loads is what was saved."""
    try:
        fluid = original.load(data)
    except gf.GpufluidError as error:
        assert str(original.path) in str(error)
        assert "\n" not in str(error)
    else:
        assert fluid.save(original.path, overwrite=True).read_bytes() == original.data


quick = settings(
    max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
)


@quick
@given(st.data())
def test_bytes_that_were_changed_are_found(original: Original, data: st.DataObject) -> None:
    changed = bytearray(original.data)
    for _ in range(data.draw(st.integers(1, 3))):
        changed[data.draw(st.integers(0, len(changed) - 1))] ^= data.draw(st.integers(1, 255))
    refused_or_the_same(original, bytes(changed))


@quick
@given(st.floats(0.0, 1.0))
@example(0.0)
@example(1.0)
def test_a_file_that_was_cut_is_found(original: Original, share: float) -> None:
    end = int(share * (len(original.data) - 1))
    with pytest.raises(gf.GpufluidError, match=r"changed\.fluid: "):
        original.load(original.data[:end])


@quick
@given(st.data())
def test_a_header_that_was_changed_makes_no_other_error(original: Original, data: st.DataObject) -> None:
    """Also where the zip's own checksum is right: whatever JSON stands there, no other error comes."""
    header = parts_of(original)[0]
    places = [(header, key) for key in header]
    for box, key in places:
        inner = box[key]
        if isinstance(inner, dict | list):
            places += [(inner, k) for k in (inner if isinstance(inner, dict) else range(len(inner)))]
    box, key = data.draw(st.sampled_from(places))
    box[key] = data.draw(st.sampled_from(JUNK))
    try:
        fluid = original.load(packed(header, parts_of(original)[1]))
    except gf.GpufluidError as error:
        assert str(original.path) in str(error) or "Fluid" in str(error)
        return
    with contextlib.suppress(gf.GpufluidError):  # a viscosity that is no number of this world, say
        fluid.step(0.1)


JUNK = [None, True, -1, 0, 3, 1e30, 10**30, "x", "", [], {}, [[]], [1, 2, 3]]
JUNK += [{"array": 0}, {"array": -1}, {"mesh": 0}, {"tuple": [1, 2]}, {"bytes": "AAAA"}, {"kind": "Mesh"}]
JUNK += [{"kind": "Mesh", "with": {"vertices": {"array": 0}, "triangles": {"array": 1}}}]
JUNK += [{"kind": "Sphere", "with": {}}]


def parts_of(original: Original) -> tuple[dict[str, Any], dict[str, bytes]]:
    original.path.write_bytes(original.data)
    with zipfile.ZipFile(original.path) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    return json.loads(parts.pop(HEADER)), parts


def packed(header: Any, parts: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    import io

    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as file:
        file.writestr(HEADER, header if isinstance(header, str) else json.dumps(header))
        for name, data in parts.items():
            file.writestr(name, data)
    return stream.getvalue()


def huge_grid(header: Any, parts: Any) -> None:
    header["grid"]["with"]["cells"] = {"tuple": [2000, 2000, 2000]}


def huge_and_without_state(header: Any, parts: Any) -> None:
    huge_grid(header, parts)
    for number in header["state"].values():
        del parts[header["arrays"][number]["name"] + ".npy"]
    header["arrays"] = [a for n, a in enumerate(header["arrays"]) if n not in header["state"].values()]
    header["state"] = {}


def huge_array(header: Any, parts: Any) -> None:
    header["arrays"][0]["shape"] = [1 << 40, 1 << 20]


def huge_field(header: Any, parts: Any) -> None:
    huge_grid(header, parts)
    for number in header["state"].values():
        header["arrays"][number]["shape"][:3] = [2000, 2000, 2000]


def other_dtype(header: Any, parts: Any) -> None:
    header["arrays"][header["state"]["velocity"]]["dtype"] = "<i8"


def object_dtype(header: Any, parts: Any) -> None:
    header["arrays"][0]["dtype"] = "|O"


def other_bytes(header: Any, parts: Any) -> None:
    parts["velocity.npy"] = b"\x00" + parts["velocity.npy"][1:]


def one_more(header: Any, parts: Any) -> None:
    parts["../../evil.npy"] = b"x"


def path_trick(header: Any, parts: Any) -> None:
    header["arrays"][0]["name"] = "../evil"
    parts["../evil.npy"] = parts.pop("array_0.npy")


def newer(header: Any, parts: Any) -> None:
    header["format"], header["engine"] = 99, "9.9"


def unknown_setting(header: Any, parts: Any) -> None:
    header["settings"]["with"]["warp"] = 1


def bad_setting(header: Any, parts: Any) -> None:
    header["settings"]["with"]["advection"] = "upwind"


def odd_setting(header: Any, parts: Any) -> None:
    header["settings"]["with"]["warm_start"] = {"array": 0}


def other_kind(header: Any, parts: Any) -> None:
    header["emitters"][0]["kind"] = "Fluid"


def no_kind(header: Any, parts: Any) -> None:
    header["emitters"][0]["kind"] = "os.system"


def no_middle(header: Any, parts: Any) -> None:
    header["middle"] = [0.5, None]


def odd_middle(header: Any, parts: Any) -> None:
    header["middle"] = [0.5, None, "far"]


def misplaced(header: Any, parts: Any) -> None:
    header["grid"] = header["settings"]


def lacks(header: Any, parts: Any) -> None:
    del header["forces"]


def no_number(header: Any, parts: Any) -> None:
    header["numbers"]["time"] = "nan"


def number_more(header: Any, parts: Any) -> None:
    header["numbers"]["luck"] = "0x1p+3"


def wrong_size_mesh(header: Any, parts: Any) -> None:
    header["meshes"][0]["triangles"] = header["meshes"][0]["vertices"]


def bad_voxels(header: Any, parts: Any) -> None:
    header["voxels"] = [[1, 2, 3]]


def no_voxels(header: Any, parts: Any) -> None:
    header["voxels"][0]["tuple"][5] = {"array": header["voxels"][0]["tuple"][6]["array"]}


def bent_ball(header: Any, parts: Any) -> None:
    ball = {"kind": "Sphere", "with": {"center": {"tuple": [0.0, 0.0, 0.0]}, "radius": 0.3}}
    voxels = header["voxels"][0]["tuple"]
    voxels[0], voxels[4] = ball, {"tuple": [{"mesh": 0}, voxels[1], 0.1]}


def no_place(header: Any, parts: Any) -> None:
    header["before"][0] = {"tuple": [{"mesh": 0}, {"array": 0}]}


def odd_family(header: Any, parts: Any) -> None:
    header["meshes"].append({**header["meshes"][0], "vertices": len(header["arrays"])})
    header["arrays"].append({"name": "array_99", "dtype": "<f8", "shape": [9, 3]})
    parts["array_99.npy"] = npy_header("<f8", (9, 3)) + bytes(9 * 24)


def one_field_more(header: Any, parts: Any) -> None:
    header["state"]["ghost"] = header["state"]["velocity"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (huge_grid, "no field of 2000 x 2000 x 2000 cells"),
        (huge_and_without_state, "its state lacks pressure, scalars, velocity"),
        (huge_array, "has .* bytes, not"),
        (huge_field, "velocity.npy has .* bytes, not"),
        (other_dtype, "velocity is <i8 .*, no field"),
        (object_dtype, "which no checkpoint has"),
        (other_bytes, r"its part \w+\.npy is not what it is described as"),
        (one_more, "does not hold the arrays that it describes"),
        (path_trick, "'../evil' .* which no checkpoint has"),
        (newer, r"format 99, written by gpufluid '9\.9'; this is gpufluid .*, which reads the format 1"),
        (unknown_setting, "Settings has no warp here"),
        (bad_setting, r"Settings\.advection must be one of"),
        (odd_setting, r"Settings\.warm_start must be True or False"),
        (other_kind, "nothing of the kind 'Fluid'"),
        (no_kind, r"nothing of the kind 'os\.system'"),
        (no_middle, "middle must be three numbers or nothing"),
        (odd_middle, "middle must be a number, got .far."),
        (misplaced, "where another thing belongs"),
        (lacks, "lacks or adds forces"),
        (no_number, "time must be a finite number >= 0"),
        (number_more, "its numbers lack or add luck$"),
        (wrong_size_mesh, "Mesh triangles must be whole numbers"),
        (bad_voxels, "damaged"),
        (no_voxels, "does not tell what is solid"),
        (bent_ball, "does not tell what is solid"),
        (no_place, "does not tell where an obstacle was"),
        (odd_family, "meshes of one family that differ"),
        (one_field_more, "holds ghost, which is nothing of a fluid"),
    ],
)
def test_hostile_files_are_refused(
    original: Original, change: Callable[[Any, Any], None], message: str
) -> None:
    header, parts = parts_of(original)
    change(header, parts)
    data = packed(header, parts)
    tracemalloc.start()
    try:
        with pytest.raises(gf.GpufluidError, match=message):
            original.load(data)
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()


def test_compressed_and_nested_bombs_are_refused(original: Original) -> None:
    header, parts = parts_of(original)
    with pytest.raises(gf.GpufluidError, match="is compressed, which no checkpoint is"):
        original.load(packed(header, {**parts, "array_0.npy": bytes(1 << 24)}, zipfile.ZIP_DEFLATED))
    with pytest.raises(gf.GpufluidError, match="damaged"):
        original.load(packed("[" * 200_000, parts))
    with pytest.raises(gf.GpufluidError, match="is over"):
        original.load(packed(" " * (1 << 24) + "{}", parts))
    with pytest.warns(UserWarning, match="Duplicate"):
        twice = packed(header, parts | {HEADER: b"{}"})
    with pytest.raises(gf.GpufluidError, match="names a part twice"):
        original.load(twice)


@pytest.mark.parametrize("data", [b"", b"PK", b"not a zip file", b"\x93NUMPY"])
def test_other_files_are_refused(original: Original, data: bytes) -> None:
    with pytest.raises(gf.GpufluidError, match=r"changed\.fluid: is no gpufluid checkpoint"):
        original.load(data)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(gf.GpufluidError, match=r"gone\.fluid: cannot be read: No such file"):
        gf.Fluid.load(tmp_path / "gone.fluid")
    with pytest.raises(gf.GpufluidError, match="Is a directory" if os.name == "posix" else "denied"):
        gf.Fluid.load(tmp_path)
    with pytest.raises(gf.GpufluidError, match="must be a file name"):
        gf.Fluid.load(3)  # type: ignore[arg-type]
    np.savez(tmp_path / "a.npz", a=np.zeros(3))
    with pytest.raises(gf.GpufluidError, match=rf"is a zip file, but has no {HEADER}"):
        gf.Fluid.load(tmp_path / "a.npz")


@pytest.mark.parametrize("shape", [(), (3,), (5, 4), (17, 3, 2, 4), (1000, 1000, 1000, 3)])
@pytest.mark.parametrize("dtype", ["<f8", "|u1"])
def test_the_header_of_an_array_is_numpys(shape: tuple[int, ...], dtype: str) -> None:
    import io

    stream = io.BytesIO(npy_header(dtype, shape))
    assert np.lib.format.read_magic(stream) == (1, 0)
    assert np.lib.format.read_array_header_1_0(stream) == (shape, False, np.dtype(dtype))
    assert stream.tell() == len(stream.getvalue())
    assert stream.tell() % 64 == 0


@pytest.mark.parametrize("gone", [False, True], ids=["new", "gone"])
def test_an_obstacle_that_was_only_looked_at_is_saved_so(tmp_path: Path, gone: bool) -> None:
    """For the one that was loaded what it stands in was still there, or where it stood a hole."""
    with gf.Fluid(gf.Grid((12, 12, 12), 1 / 12), backend="fragment") as fluid:
        rng = np.random.default_rng(3)
        fluid.density.write(rng.uniform(0.0, 2.0, (12, 12, 12)))
        fluid.temperature.write(rng.uniform(0.0, 2.0, (12, 12, 12)))
        fluid.step(1 / 30)
        ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.2), (0.5, 0.5, 0.5)))
        if gone:
            fluid.step(1 / 30)
            fluid.obstacles.remove(ball)
        assert fluid.solid.read().any() == (not gone)
        fluid.save(tmp_path / "looked.fluid")
        with gf.Fluid.load(tmp_path / "looked.fluid") as other:
            for each in (fluid, other):
                each.step(1 / 30)
            for name in ("density", "temperature", "velocity"):
                np.testing.assert_array_equal(getattr(other, name).read(), getattr(fluid, name).read())


@pytest.mark.parametrize("name", ["density", "color"])
@pytest.mark.parametrize("advection", ["maccormack", "finite-volume"])
def test_what_was_written_round_a_solid_that_goes_before_any_step_has_met_it(
    advection: str, name: str, ctx: moderngl.Context
) -> None:
    """The cells it was in hold nothing, which the next step fills from beside them, in a loaded fluid too."""
    rules = gf.Settings(advection=advection, ambient_temperature=0.3)
    with gf.Fluid(gf.Grid((8, 8, 4), 0.1), settings=rules, ctx=ctx) as fluid:
        ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere((0.4, 0.4, 0.2), 0.2)))
        field = getattr(fluid, name)
        field.write(np.ones(field.shape))
        with gf.Fluid.load(fluid.take_state(), ctx) as before:
            fluid.obstacles.remove(ball)
            before.obstacles.clear()
            with gf.Fluid.load(fluid.take_state(), ctx) as after:
                for one in (fluid, before, after):
                    one.step(0.05)
                assert same(before, fluid) and same(after, fluid)
