"""Buoyancy and confinement in one compute pass: what three leave, wherever workgroups meet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import moderngl
import numpy as np
import pytest
from driver import within

import gpufluid as gf
from gpufluid import reference
from gpufluid.app.cli import main
from gpufluid.common.errors import GpufluidError
from gpufluid.contract.kernels import CONFINING, Variant
from gpufluid.contract.layout import layouts
from gpufluid.description.boundaries import Boundaries
from gpufluid.description.grid import Grid
from gpufluid.gl import backend as backend_module
from gpufluid.gl import kept, trial
from gpufluid.gl.backend import GLBackend
from gpufluid.gl.device import Device
from gpufluid.gl.kept import WAYS, Kept
from gpufluid.gl.ways import SWEEPS, VARIABLE, Way, asked_for

PARTS = ("vorticity", "confinement", "force_field")
LID = gf.Wall(velocity=(0.3, 0.0, 0.2))
SIDES = {
    "walls": Boundaries(),
    "open": Boundaries.all(gf.Open()),
    "periodic": Boundaries.all(gf.Periodic()),
    "mixed": Boundaries(gf.Periodic(), gf.Periodic(), LID, gf.Open(), gf.Open(), gf.Inflow((0.0, 0.0, 1.0))),
    "deep": Boundaries(gf.Open(), gf.Wall(), gf.Periodic(), gf.Periodic(), gf.Periodic(), gf.Periodic()),
    "changing": Boundaries(gf.Inflow((1.0, 0.0, 0.0)), gf.Open(), LID, changing=True),
}
# in one workgroup; just over its columns and rows, and under its slices; in several along each axis, the last
# of few faces or of one; thinner than what a workgroup looks at beyond a side
SIZES = {"small": (8, 6, 5), "over": (27, 11, 6), "long": (30, 9, 67), "wide": (54, 22, 2), "thin": (1, 2, 3)}
NUMBERS = {"dt": 0.3, "strength": 0.7, "rise": (1.0, 0.2, 0.3, 0.0), "up": (0.1, 0.2, 0.9)}


class Case:
    """A flow of random numbers, smoke and a fifth of solid cells, on any backend."""

    def __init__(self, backend: Any, variant: Variant) -> None:
        self.backend, self.variant = backend, variant
        rng, (nx, ny, nz) = np.random.default_rng(7), backend.grid.cells
        self.fields, self.faces = dict[str, Any](), dict[str, Any]()
        solid = np.zeros((nz, ny, nx, 4))
        solid[..., 3:] = rng.random((nz, ny, nx, 1)) < 0.2
        solid[..., :3] = rng.normal(size=(nz, ny, nx, 3)) * solid[..., 3:]
        if variant.solids:
            moving = self.field("solid_velocity", "cell", solid)
            self.faces["solid_faces"] = self.field("solid_faces", "face", None)
            backend.kernel("close_faces", variant)(solid_velocity=moving, **self.faces)
        self.given = {"scalars": self.field("scalars", "cell", rng.random((nz, ny, nx, 4)))}
        color = self.field("color", "cell", rng.random((nz, ny, nx, 4)))
        if variant.dyed:
            self.given["color"] = color
        self.velocity = self.field("velocity", "face", rng.normal(size=(nz + 1, ny + 1, nx + 1, 4)))
        backend.kernel("constrain", variant)(velocity=self.velocity, **self.faces)
        start = self.velocity.read()
        for axis in range(3):
            if variant.boundaries.periodic(axis):  # the high face is the low one
                last, low = [slice(None)] * 3, [slice(None)] * 3
                last[2 - axis], low[2 - axis] = slice(-1, None), slice(0, 1)
                start[(*last, axis)] = start[(*low, axis)]
        self.velocity.write(start)
        self.start = self.velocity.read()

    def field(self, name: str, kind: str, values: Any) -> Any:
        field = self.fields[name] = self.backend.field(name, kind)
        if values is not None:
            field.write(values)
        return field

    def joined(self) -> np.ndarray:
        """The velocity after one pass."""
        self.velocity.write(self.start)
        kernel = self.backend.kernel("confine", self.variant)
        kernel(velocity=self.velocity, **NUMBERS, **self.given, **self.faces)
        return np.array(self.velocity.read())

    def apart(self) -> np.ndarray:
        """The velocity after three."""
        self.velocity.write(self.start)
        run, velocity = self.backend.kernel, self.velocity
        vorticity, force = (self.field(name, "cell", None) for name in ("vorticity", "force"))
        pull = {name: NUMBERS[name] for name in ("strength", "rise", "up")}
        run("vorticity", self.variant)(velocity=velocity, vorticity=vorticity)
        run("confinement", self.variant)(vorticity=vorticity, force=force, **pull, **self.given)
        run("force_field", self.variant)(velocity=velocity, force=force, dt=NUMBERS["dt"], **self.faces)
        return np.array(velocity.read())

    def expected(self) -> np.ndarray:
        """The velocity after the reference has done it, from what the fields hold."""
        arrays = {name: field.read().astype(float) for name, field in (self.given | self.faces).items()}
        velocity = self.start.astype(float)
        grid = self.backend.grid
        return np.array(reference.confine(grid, self.variant, velocity=velocity, **NUMBERS, **arrays))

    def release(self) -> None:
        for field in self.fields.values():
            field.release()
        self.backend.release()


CASES = [  # all sides with solids and without, each in two sizes or more; smoke with colours by turns
    (size, sides, (number + turn) % 2 == 0, (number + turn) % 3 == 0)
    for number, size in enumerate(SIZES)
    for turn, sides in enumerate(SIDES)
    if size != "long" or sides in ("walls", "mixed", "deep")
]


@pytest.mark.parametrize(("size", "sides", "solids", "dyed"), CASES)
def test_one_pass_is_three(size: str, sides: str, solids: bool, dyed: bool, ctx: moderngl.Context) -> None:
    """To the bit where the driver does not fuse operations, and as the reference has it."""
    variant = Variant(solids, boundaries=SIDES[sides], dyed=dyed)
    case = Case(GLBackend(Grid(SIZES[size], 0.1), "compute", ctx), variant)
    one, three, expected = case.joined(), case.apart(), case.expected()
    case.release()
    np.testing.assert_allclose(one, three, rtol=0, atol=within(0.0, 1e-5) * np.abs(three).max())
    np.testing.assert_allclose(one, expected, rtol=0, atol=1e-5 * np.abs(expected).max())
    assert np.abs(one - case.start).max() > 0.1


@pytest.mark.parametrize("sides", ["walls", "mixed"])
def test_half_floats_keep_what_lies_between(sides: str, ctx: moderngl.Context) -> None:
    """Curl and pull are not rounded to half floats: one pass is nearer to the reference than three."""
    variant = Variant(True, boundaries=SIDES[sides])
    case = Case(GLBackend(Grid((30, 13, 9), 0.1), "compute", ctx, "half"), variant)
    one, three, expected = case.joined(), case.apart(), case.expected()
    case.release()
    apart, error = (np.abs(each - expected) for each in (three, one))
    # what it writes is the nearest half float, but for a rounding that single precision decides otherwise
    assert (error <= 2.0**-11 * np.maximum(np.abs(expected), 2.0**-14) * 1.01 + 1e-6).all()
    assert 0.0 < np.abs(one - three).max() <= 4.0 * 2.0**-10 * np.abs(three).max()
    assert error.mean() < apart.mean()


def test_it_fits_in_what_every_driver_has(ctx: moderngl.Context) -> None:
    """As OpenGL 4.3 promises: 32 KB of shared memory, 1024 invocations of a workgroup."""
    across, down = CONFINING.group
    assert across * down <= 1024
    assert 6 * 2 * 4 * across * down <= 32768  # six planes of floats, each twice
    nx, ny, nz = layouts(Grid((54, 22, 64)), 1 << 14)["face"].texel_grid
    assert CONFINING.groups(nx, ny, nz) == (3, 3, 2)


# -- in a step ---------------------------------------------------------------------------------------------


@pytest.fixture
def any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Boxes of any size count as large."""
    monkeypatch.setattr(backend_module, "LARGE", 0)


def plume(ctx: moderngl.Context, cells: Any = (24, 32, 24), **rules: Any) -> gf.Fluid:
    """Coloured smoke with a weight under a ball."""
    settings = gf.Settings(**{"vorticity_confinement": 0.6, "weight": 0.2} | rules)
    fluid = gf.Fluid(gf.Grid(cells, 1 / 24), None, settings, ctx=ctx)
    sphere = gf.Sphere((0.5, 0.2, 0.5), 0.15)
    fluid.emitters.add(gf.Emitter(sphere, density=3.0, temperature=1.0, color=(1.0, 0.5, 0.2)))
    fluid.obstacles.add(gf.Obstacle(gf.Sphere((0.5, 0.7, fluid.grid.size[2] / 2), 0.15)))
    return fluid


def passes(fluid: gf.Fluid) -> set[str]:
    """The kernels of a step that push."""
    assert fluid.device is not None
    ran = set(fluid.device.bytes_of(lambda: fluid.step(1 / 30) and None))
    return ran & {*PARTS, "confine", "buoyancy"}


def test_a_step_is_the_same_in_one_pass_in_three_and_in_parts(
    ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch, any_size: None
) -> None:
    seen = []
    for way, budget in (("compute,apart", None), ("compute,joined", None), ("compute,joined", 0.5)):
        monkeypatch.setenv(VARIABLE, way)
        with plume(ctx) as fluid:
            for _ in range(3):
                if budget is None:
                    assert passes(fluid) == ({"confine"} if "joined" in way else set(PARTS))
                else:
                    while not fluid.advance(1 / 30, budget_ms=budget):
                        pass
            seen.append((fluid.velocity.read(), fluid.density.read()))
    for one, other in zip(seen[0], seen[1], strict=True):
        np.testing.assert_allclose(other, one, rtol=0, atol=within(0.0, 1e-5) * np.abs(one).max())
    for one, other in zip(seen[1], seen[2], strict=True):
        np.testing.assert_array_equal(one, other)
    assert np.abs(seen[0][0]).max() > 0.05


def scratch(fluid: gf.Fluid) -> bool:
    """Whether the fields are there that three passes have between them."""
    return fluid._solver.forces._vorticity is not None


def test_where_it_goes_in_one_pass(
    ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch, any_size: None
) -> None:
    """In boxes of three dimensions that are large; without what only three passes need."""
    monkeypatch.setenv(VARIABLE, "compute,joined")
    with plume(ctx, (24, 32, 1)) as flat:
        assert passes(flat) == set(PARTS) and scratch(flat)
    with plume(ctx, (8, 9, 7)) as fluid:
        assert passes(fluid) == {"confine"} and not scratch(fluid)
        fluid.settings = fluid.settings.but(vorticity_confinement=0.0)
        assert passes(fluid) == {"buoyancy"}
        fluid.settings = fluid.settings.but(vorticity_confinement=0.3)
        assert passes(fluid) == {"confine"} and not scratch(fluid)
    monkeypatch.setattr(backend_module, "LARGE", 8 * 9 * 7 + 1)
    with plume(ctx, (8, 9, 7)) as fluid:
        assert passes(fluid) == set(PARTS) and scratch(fluid)


def test_it_moves_three_fields_in_place_of_eight(ctx: moderngl.Context) -> None:
    """As the bench counts them: all of each field that is read or written, once."""
    case = Case(GLBackend(Grid((16, 16, 16), 0.1), "compute", ctx), Variant())
    device, of = case.backend.device, case.backend.layouts
    faces, cells = (16 * int(np.prod(of[kind].texture_size)) for kind in ("face", "cell"))
    apart = device.bytes_of(lambda: case.apart() is None)
    assert sum(sum(each) for each in apart.values()) == 3 * faces + 5 * cells
    joined = device.bytes_of(lambda: case.joined() is None)
    assert joined == {"confine": [2 * faces + cells]}
    case.release()


# -- which is chosen ---------------------------------------------------------------------------------------


def test_who_asks_for_it_gets_it_or_is_told(ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(GpufluidError, match="confinement in one pass needs compute passes, .* as fragment"):
        Device(ctx, "fragment", joined=True)
    backend = GLBackend(Grid((8, 8, 8)), "fragment", ctx)
    with pytest.raises(GpufluidError, match="kernel confine is for compute passes"):
        backend.kernel("confine", Variant())
    backend.release()
    monkeypatch.setenv(VARIABLE, "fragment,joined")
    with pytest.raises(GpufluidError, match=f"{VARIABLE}: confinement in one pass needs compute passes"):
        GLBackend(Grid((8, 8, 8)), "auto", ctx)
    monkeypatch.setenv(VARIABLE, "joined,apart")
    with pytest.raises(GpufluidError, match="got 'joined,apart'"):
        asked_for()
    monkeypatch.setenv(VARIABLE, "joined,4")
    assert asked_for() == (None, None, 4, True, False)
    monkeypatch.setenv(VARIABLE, "compute,joined")
    chosen = trial.choose(ctx)
    assert chosen.way.joined and chosen.why == (f"{VARIABLE}=compute,joined in the environment",)
    assert trial.choose(ctx, "compute").way.joined
    assert not trial.choose(ctx, "fragment").way.joined  # a program's word comes before the variable


def test_a_gpus_trial_times_it_after_the_sweeps(
    ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch, like_a_gpu: None
) -> None:
    real, winners = trial.winner, list[Way]()
    monkeypatch.setattr(trial, "clearly_faster", lambda one, other: False)

    def winner(taken: Any, champion: Way, *right: Any) -> Way:
        winners.append(real(taken, champion, *right))
        return winners[-1]

    monkeypatch.setattr(trial, "winner", winner)
    result, rule = trial.trial(ctx), Way("compute", "texel")
    assert result.way == rule == winners[-1]
    assert set(result.pushed) == {str(rule), str(replace(rule, joined=True))}
    assert set(result.large) == {str(replace(rule, sweeps=n)) for n in SWEEPS}
    assert all(ms > 0.0 for ms in (*result.large.values(), *result.pushed.values()))


@pytest.mark.parametrize(("times", "joined"), [((4.0, 2.0), True), ((4.0, 3.9), False), ((2.0, 4.0), False)])
def test_it_is_taken_where_it_wins_clearly(
    ctx: moderngl.Context,
    monkeypatch: pytest.MonkeyPatch,
    like_a_gpu: None,
    times: tuple[float, float],
    joined: bool,
) -> None:
    """Whatever sweeps were found to be best before."""

    def race(course: Any, ways: Any, what: str = trial.SWEEPING) -> dict[Way, list[float]]:
        if what == trial.CONFINEMENT:
            return {way: [times[way.joined]] * 5 for way in ways}
        return {way: [1.0 / way.sweeps] * 5 for way in ways}

    monkeypatch.setattr(trial.Course, "race", race)
    result = trial.trial(ctx)
    assert result.way == Way("compute", "texel", 4, joined) and result.rule == Way("compute", "texel")
    assert list(result.pushed.values()) == list(times)


def test_what_sweeps_have_found_stays_where_it_cannot_be_tried(
    ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch, like_a_gpu: None
) -> None:
    def race(course: Any, ways: Any, what: str = trial.SWEEPING) -> dict[Way, list[float]]:
        if what == trial.CONFINEMENT:
            raise GpufluidError("no memory")
        return {way: [1.0 / way.sweeps] * 5 for way in ways}

    monkeypatch.setattr(trial.Course, "race", race)
    result = trial.trial(ctx)
    assert result.way == Way("compute", "texel", 4) and result.large and not result.pushed


def test_software_neither_tries_nor_compiles_it(
    ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor where its compute passes are the faster ones."""
    if not Device(ctx).software:
        pytest.skip("a GPU's")
    asked = []

    def race(course: Any, ways: Any, what: str = trial.SWEEPING) -> dict[Way, list[float]]:
        asked.append(what)
        return {way: [1.0 + (way.stage == "fragment")] * 5 for way in ways}

    monkeypatch.setattr(trial.Course, "race", race)
    result = trial.trial(ctx)
    assert result.way.stage == "compute" and not result.way.joined
    assert trial.ADVECTION in asked and trial.CONFINEMENT not in asked
    assert not result.large and not result.pushed


@pytest.fixture
def cached(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Iterator[None]:
    """A folder of this test's; no context remembers its choice."""
    monkeypatch.setenv(kept.VARIABLE, str(tmp_path))
    trial._chosen.clear()
    yield
    trial._chosen.clear()


def test_it_is_kept_and_told(
    ctx: moderngl.Context,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    cached: None,
) -> None:
    best, one = Way("compute", "texel", 4, True), Way("compute", "texel")
    assert str(best) == "compute texel, 4 sweeps a pass, confinement joined" and WAYS[str(best)] == best
    assert not any(way.stage == "fragment" and way.joined for way in WAYS.values())
    when = trial.datetime.now(trial.timezone.utc)
    pushed = {str(replace(best, joined=False)): 7.0, str(best): 3.0}
    monkeypatch.setattr(trial, "trial", lambda ctx: Kept(best, one, when, {str(one): 3.0}, {}, pushed))
    choice = trial.choose(ctx)
    assert choice.way == best
    told = f"confinement in a large box took 3.00 ms ({best}), 7.00 ms (compute texel, 4 sweeps a pass)"
    assert told in "\n".join(choice.why)
    assert trial.choose(ctx, "compute").way == one  # of a program that goes the same way everywhere
    trial._chosen.clear()
    monkeypatch.setattr(trial, "trial", None)  # it is read, not tried again
    assert trial.choose(ctx).way == best
    assert main(["info"]) == 0
    said = capsys.readouterr().out
    assert "in large boxes   4 sweeps a pass, confinement in one pass\n" in said and told in said
    monkeypatch.setenv(VARIABLE, "apart")
    assert trial.choose(ctx).way == replace(best, joined=False)
