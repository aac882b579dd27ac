"""Several Jacobi sweeps in one compute pass: what as many passes leave, wherever workgroups meet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import moderngl
import numpy as np
import pytest
from driver import within
from inside import opened

import gpufluid as gf
from gpufluid.common.errors import GpufluidError
from gpufluid.contract.kernels import WALKING, WALKS, Variant
from gpufluid.description.boundaries import Boundaries
from gpufluid.description.grid import Grid
from gpufluid.gl import backend as backend_module
from gpufluid.gl import trial
from gpufluid.gl.backend import GLBackend
from gpufluid.gl.device import Device
from gpufluid.gl.kept import WAYS, Kept
from gpufluid.gl.ways import SWEEPS, VARIABLE, Way, asked_for
from gpufluid.numerics.pressure_problem import PressureProblem
from gpufluid.reference.numpy_backend import NumpyBackend

MIXED = Boundaries(gf.Periodic(), gf.Periodic(), gf.Wall(), gf.Open(), gf.Open(), gf.Inflow((0.0, 0.0, 1.0)))
SIDES = {
    "walls": Boundaries(),
    "open": Boundaries.all(gf.Open()),
    "periodic": Boundaries.all(gf.Periodic()),
    "mixed": MIXED,
}
# in one workgroup; in several along each axis, the last of few cells; thin, with a row that fills no pack
SIZES = {"small": (8, 6, 5), "long": (132, 10, 70), "odd": (69, 35, 7), "wide": (64, 33, 65)}
WEIGHTS = (0.9, 1.4, 0.6, 1.1)


def fits(size: str, sides: str) -> bool:
    return not (SIDES[sides].periodic(0) and SIZES[size][0] % 4)


CASES = [  # two sweeps and four by turns, both with each size, with all sides, with solids and without
    (size, sides, solids, list(WALKS)[(number + turn + solids) % 2])
    for number, size in enumerate(SIZES)
    for turn, sides in enumerate(SIDES)
    for solids in (False, True)
    if fits(size, sides) and (number % 2 == 0 or solids or sides == "walls")
]


def made(backend: Any, solids: bool, sides: str) -> dict[str, Any]:
    """Fields of random numbers, and of a tenth of solid cells, on any backend."""
    rng, (nx, ny, nz) = np.random.default_rng(7), backend.grid.cells
    exact = {"pressure": True, "divergence": False}
    fields = {name: backend.field(name, "packed", exact=of_it) for name, of_it in exact.items()}
    for field in fields.values():
        field.write(rng.normal(size=(nz, ny, nx, 1)))
    if solids:
        variant = Variant(True, boundaries=SIDES[sides])
        fields["openings"] = backend.field("openings", "pack", 1, buffers=1, exact=True)
        fields["openings"].write(opened(backend.grid, variant, rng.random((nz, ny, nx, 1)) < 0.1))
    return fields


@pytest.mark.parametrize(("size", "sides", "solids", "name"), CASES)
def test_sweeps_in_one_pass_are_those_in_several(
    size: str, sides: str, solids: bool, name: str, ctx: moderngl.Context
) -> None:
    """And those of the reference; each sweep has a weight of its own."""
    variant, weights = Variant(solids, boundaries=SIDES[sides]), WEIGHTS[: WALKS[name].sweeps]
    results = []
    for backend in (GLBackend(Grid(SIZES[size], 0.1), "compute", ctx), NumpyBackend(Grid(SIZES[size], 0.1))):
        fields = made(backend, solids, sides)
        start = fields["pressure"].read()
        for weight in weights:
            backend.kernel("jacobi", variant)(**fields, scale=0.3, weight=weight)
        results.append(fields["pressure"].read())
        fields["pressure"].write(start)
        backend.kernel(name, variant)(**fields, scale=0.3, weights=weights)
        results.append(fields["pressure"].read())
        for field in fields.values():
            field.release()
        backend.release()
    several, one, reference, walked = results
    np.testing.assert_allclose(walked, reference, rtol=0, atol=1e-6 * np.abs(one).max())  # read as single
    np.testing.assert_allclose(one, several, rtol=0, atol=within(0.0, 1e-6) * np.abs(one).max())
    np.testing.assert_allclose(one, reference, rtol=0, atol=1e-5 * np.abs(one).max())
    assert np.abs(one - start).max() > 0.1


@pytest.fixture
def walking(ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[int, GLBackend]]:
    """Backends whose passes make one, two and four sweeps, in boxes of any size."""
    monkeypatch.setattr(backend_module, "LARGE", 0)
    backends = {}
    for sweeps in SWEEPS:
        monkeypatch.setenv(VARIABLE, f"compute,{sweeps}")
        backends[sweeps] = GLBackend(Grid((24, 20, 9), 0.1), "auto", ctx)
    yield backends
    for backend in backends.values():
        backend.release()


@pytest.mark.parametrize("count", [1, 3, 8, 11])
def test_a_solver_takes_as_many_at_once_as_there_are(walking: dict[int, GLBackend], count: int) -> None:
    """Those left over are made one by one; weights may differ, and none is made twice."""
    weights = [0.8 + 0.05 * (n % 3) for n in range(count)]
    results, counted = [], []
    for sweeps, backend in walking.items():
        fields = made(backend, True, "walls")
        problem = PressureProblem(backend, fields["pressure"], fields["divergence"])
        variant = Variant(True)
        problem.pose(fields["divergence"], 0.3, variant, {"openings": fields["openings"]})
        moved = backend.device.bytes_of(lambda problem=problem: problem.sweep(weights))
        ran = {name: len(each) for name, each in moved.items()}
        whole = count // sweeps if sweeps > 1 else 0
        wanted = {WALKING.get(sweeps, ""): whole, "jacobi": count - whole * sweeps}
        assert ran == {name: times for name, times in wanted.items() if times}
        counted.append(sum(sum(each) for each in moved.values()))
        results.append(fields["pressure"].read())
        problem.release()
        for field in fields.values():
            field.release()
    assert len(set(counted)) == 1  # sweep by sweep: that many at once move less can be seen
    for other in results[1:]:
        np.testing.assert_allclose(other, results[0], rtol=0, atol=within(0.0, 1e-6) * np.abs(other).max())


def test_a_step_is_the_same_in_parts(ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a plume round a ball: with sweeps together as one by one; sliced to a budget to the bit as whole."""
    monkeypatch.setattr(backend_module, "LARGE", 0)
    seen = []
    for way, budget in (("compute,1", None), ("compute,4", None), ("compute,4", 0.5)):
        monkeypatch.setenv(VARIABLE, way)
        with gf.Fluid(gf.Grid((24, 32, 24), 1 / 24), ctx=ctx) as fluid:
            fluid.emitters.add(gf.Emitter(gf.Sphere((0.5, 0.2, 0.5), 0.15), density=3.0, temperature=1.0))
            fluid.obstacles.add(gf.Obstacle(gf.Sphere((0.5, 0.7, 0.5), 0.15)))
            for _ in range(3):
                if budget is None:
                    fluid.step(1 / 30)
                else:
                    while not fluid.advance(1 / 30, budget_ms=budget):
                        pass
            assert fluid.device is not None and fluid.device.sweeps == int(way[-1])
            seen.append((fluid.velocity.read(), fluid.pressure.read(), fluid.density.read()))
    for one, other in zip(seen[0], seen[1], strict=True):
        np.testing.assert_allclose(other, one, rtol=0, atol=1e-5 * np.abs(one).max())
    for one, other in zip(seen[1], seen[2], strict=True):
        np.testing.assert_array_equal(one, other)


def test_weights_may_be_any_numbers(walking: dict[int, GLBackend]) -> None:
    backend, results = walking[4], []
    fields = made(backend, False, "walls")
    start = fields["pressure"].read()
    for weights in ([1.0] * 4, [1] * 4, np.ones(4), np.ones(4, np.float32)):
        fields["pressure"].write(start)
        problem = PressureProblem(backend, fields["pressure"], fields["divergence"])
        problem.pose(fields["divergence"], 0.3, Variant(), {})
        problem.sweep(weights)  # type: ignore[arg-type]
        results.append(fields["pressure"].read())
    assert all((other == results[0]).all() for other in results)


def test_in_half_precision_the_pressure_is_single(ctx: moderngl.Context) -> None:
    """So what is stored between sweeps is not rounded either."""
    backend, results = GLBackend(Grid((24, 20, 9), 0.1), "compute", ctx, "half"), []
    for name in ("jacobi", "jacobi_four"):
        fields = made(backend, False, "walls")
        if name == "jacobi":
            for weight in WEIGHTS:
                backend.kernel(name, Variant())(**fields, scale=0.3, weight=weight)
        else:
            backend.kernel(name, Variant())(**fields, scale=0.3, weights=WEIGHTS)
        results.append(fields["pressure"].read().astype(float))
        for field in fields.values():
            field.release()
    one, several = results[1], results[0]
    np.testing.assert_allclose(one, several, rtol=0, atol=within(0.0, 1e-6) * np.abs(several).max())
    backend.release()


@pytest.mark.parametrize(
    ("cells", "sides", "together"),
    [
        ((24, 20, 9), "walls", 4),
        ((24, 20, 9), "periodic", 4),
        ((22, 20, 9), "open", 4),
        ((22, 20, 9), "periodic", 1),  # the last pack of a row that closes on itself holds two cells
        ((24, 20, 4), "periodic", 4),
        ((24, 20, 3), "periodic", 1),  # four slices beyond a side lie more than once round
        ((24, 2, 9), "periodic", 1),
        ((24, 2, 3), "walls", 4),
        ((24, 20, 1), "walls", 1),
    ],
)
def test_where_sweeps_go_together(
    ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch, cells: Any, sides: str, together: int
) -> None:
    monkeypatch.setattr(backend_module, "LARGE", 0)
    monkeypatch.setenv(VARIABLE, "compute,4")
    backend = GLBackend(Grid(cells, 0.1), "auto", ctx)
    fields = made(backend, False, sides)
    problem = PressureProblem(backend, fields["pressure"], fields["divergence"])
    variant, start = Variant(boundaries=SIDES[sides]), fields["pressure"].read()
    problem.pose(fields["divergence"], 0.3, variant, {})
    moved = backend.device.bytes_of(lambda: problem.jacobi(sweeps=8))
    swept = fields["pressure"].read()
    fields["pressure"].write(start)
    backend.kernel("jacobi", variant).repeat(8, **fields, scale=problem.scale, weight=1.0)
    np.testing.assert_allclose(swept, fields["pressure"].read(), rtol=0, atol=1e-5)
    assert {name: len(each) for name, each in moved.items()} == (
        {WALKING[together]: 2} if together > 1 else {"jacobi": 8}
    )
    monkeypatch.setattr(backend_module, "LARGE", backend.grid.cell_count + 1)
    assert backend.sweeps == 1  # in a box that caches hold
    problem.release()
    backend.release()


def test_who_asks_for_what_is_not_there_is_told(
    ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(GpufluidError, match="2 sweeps a pass need compute passes, .* as fragment ones"):
        Device(ctx, "fragment", sweeps=2)
    backend = GLBackend(Grid((8, 8, 8)), "fragment", ctx)
    with pytest.raises(GpufluidError, match="kernel jacobi_two is for compute passes"):
        backend.kernel("jacobi_two", Variant())
    backend.release()
    monkeypatch.setenv(VARIABLE, "fragment,4")
    with pytest.raises(GpufluidError, match=f"{VARIABLE}: 4 sweeps a pass need compute passes"):
        GLBackend(Grid((8, 8, 8)), "auto", ctx)
    for words, says in (("2,4", "got '2,4'"), ("3", "did you mean|must be")):
        monkeypatch.setenv(VARIABLE, words)
        with pytest.raises(GpufluidError, match=f"{VARIABLE}.*({says})"):
            asked_for()
    monkeypatch.setenv(VARIABLE, "2, texel")
    assert asked_for() == (None, "texel", 2, None, False)
    monkeypatch.setenv(VARIABLE, "compute,4")
    assert trial.choose(ctx, "fragment").way.sweeps == 1  # a program's word comes before the variable
    assert not any(way.stage == "fragment" and way.sweeps > 1 for way in WAYS.values())


# -- which is chosen ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("times", "sweeps"), [((4.0, 3.0, 2.0), 4), ((4.0, 2.0, 3.0), 2), ((4.0, 3.9, 3.8), 1)]
)
def test_the_fastest_is_taken_where_it_wins_clearly(
    ctx: moderngl.Context,
    monkeypatch: pytest.MonkeyPatch,
    like_a_gpu: None,
    times: tuple[float, ...],
    sweeps: int,
) -> None:
    def race(course: Any, ways: Any, what: str = "sweeps") -> dict[Way, list[float]]:
        taken = dict(zip(SWEEPS, times, strict=True))
        return {way: [taken[way.sweeps]] * 5 for way in ways}

    monkeypatch.setattr(trial.Course, "race", race)
    result = trial.trial(ctx)
    assert result.way == Way("compute", "texel", sweeps) and result.rule == Way("compute", "texel")
    assert list(result.large.values()) == list(times)


def test_a_box_too_large_for_a_trial_leaves_what_was_found(
    ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch, like_a_gpu: None
) -> None:
    real = trial.Course

    def course(ctx: moderngl.Context, side: int | None = None) -> Any:
        if side is not None:
            raise GpufluidError("no memory")
        return real(ctx)

    monkeypatch.setattr(trial, "Course", course)
    monkeypatch.setattr(real, "race", lambda self, ways, what="sweeps": {w: [1.0] * 5 for w in ways})
    result = trial.trial(ctx)
    assert result.way == Way("compute", "texel") and result.ms and not result.large


def test_a_trial_that_cannot_begin_leaves_the_rule(
    ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(ctx: moderngl.Context, side: int | None = None) -> Any:
        raise MemoryError

    monkeypatch.setattr(trial, "Course", none)
    result = trial.trial(ctx)
    assert result.way == result.rule == trial.by_rule(ctx.version_code, trial.is_software(ctx))
    assert not result.ms and not result.large


def test_it_is_kept_and_told(ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    four, one = Way("compute", "texel", 4), Way("compute", "texel")
    assert str(four) == "compute texel, 4 sweeps a pass" and WAYS[str(four)] == four
    monkeypatch.setenv("GPUFLUID_CACHE", str(tmp_path))
    trial._chosen.clear()
    when = trial.datetime.now(trial.timezone.utc)
    kept = Kept(four, one, when, {str(one): 3.0}, {str(one): 9.0, str(four): 4.0})
    monkeypatch.setattr(trial, "trial", lambda ctx: kept)
    choice = trial.choose(ctx)
    assert choice.way == four
    said = "\n".join(choice.why)
    assert "8 sweeps took 3.00 ms (compute texel)" in said
    large = "4.00 ms (compute texel, 4 sweeps a pass), 9.00 ms (compute texel)"
    assert f"8 sweeps in a large box took {large}" in said
    trial._chosen.clear()
    monkeypatch.setattr(trial, "trial", None)
    assert trial.choose(ctx, "compute").way == one  # of a program that goes the same way everywhere
    assert trial.choose(ctx, "fragment").way.sweeps == 1
    monkeypatch.setenv(VARIABLE, "2")
    assert trial.choose(ctx).way == Way("compute", "texel", 2)
    trial._chosen.clear()
