"""The page of figures that ``gpufluid bench --page FILE`` writes: this machine, measured in one run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gpufluid.app.timing import (
    PICTURE,
    SAMPLES,
    SWEEPS,
    WARM_UP,
    Case,
    Subject,
    copy_bandwidth,
    described,
    take_turns,
    timed,
    warm_up,
)
from gpufluid.common.errors import GpufluidError, needs
from gpufluid.common.files import whole_file
from gpufluid.contract.backend import release
from gpufluid.description.grid import Grid
from gpufluid.description.settings import Settings
from gpufluid.description.solvers import ChebyshevJacobi, ConjugateGradient, Jacobi, Multigrid, RedBlackSOR
from gpufluid.description.view import Camera, Look
from gpufluid.engine.fluid import Fluid
from gpufluid.io.paths import check_new_file
from gpufluid.numerics.pressure_problem import PressureProblem
from gpufluid.numerics.solver import Solver

if TYPE_CHECKING:
    import moderngl

SIZES = {True: (32, 48, 64, 96, 128), False: (64, 128, 256, 512)}  # cells a side, in software and on a GPU
AT = {True: 64, False: 256}  # cells a side where solvers, stages and precisions are compared
STEPS: dict[str, dict[str, Any]] = {
    "plain": {"profile": "plain"},
    "default": {"profile": "default"},
    "best, Euler trace": {"profile": "best", "trace": "euler"},
    "best": {"profile": "best"},
    "best, coarse velocity": {"profile": "best", "coarse_velocity": True},
}
HALF = {  # on a GPU, where it pays
    "best, half precision": {"profile": "best", "precision": "half"},
    "the same, filtered taps": {"profile": "best", "precision": "half", "sampler": "hardware"},
}


def plain_sweeps(problem: PressureProblem) -> None:
    """Jacobi's sweeps, each a pass on the pressure as it lies, also where another way is faster."""
    problem.backend.kernel("jacobi", problem.variant).repeat(
        SWEEPS.iterations,
        pressure=problem.pressure,
        divergence=problem.divergence,
        scale=problem.scale,
        weight=1.0,
        **problem.openings,
    )


SOLVERS: dict[str, Any] = {
    "`gf.Jacobi(40)`": SWEEPS,
    "40 sweeps, each a pass": plain_sweeps,
    "`gf.Jacobi(10)`": Jacobi(10),
    "`gf.ChebyshevJacobi(40)`": ChebyshevJacobi(40),
    "`gf.RedBlackSOR(20)`": RedBlackSOR(20),
    "`gf.Multigrid(cycles=1)`": Multigrid(1),
    "`gf.Multigrid(cycles=2)`": Multigrid(2),
    "`gf.ConjugateGradient(10)`": ConjugateGradient(10, None),
}

TENTH = 0.378, 0.7, 0.378  # sides of a block that fills a tenth of the box, as shares of its sides
CARRIED: dict[str, dict[str, Any]] = {  # scalars, by how they are advected
    "scalars, MacCormack, RK2": {"advection": "maccormack", "trace": "rk2"},
    "scalars, finite volumes": {"advection": "finite-volume"},
    "scalars, semi-Lagrangian, RK2": {"advection": "semi-lagrangian", "trace": "rk2"},
    "scalars, semi-Lagrangian, Euler": {"advection": "semi-lagrangian", "trace": "euler"},
}
A_FRAME = next(iter(CARRIED)), "light", "slices"  # what of a frame leaves empty space out
TOGETHER = 10  # steps, as in the loop of a game
IN_A_ROW = 3  # of one kind before the next: the last, which is timed, comes after its like


def write_page(path: Path, ctx: moderngl.Context, samples: int = SAMPLES, sizes: Sequence[int] = ()) -> None:
    """Measure and write `path` (.md) and, beside it, a plot of its name (.png).

    Raises GpufluidError for another ending or a folder that takes no files, MissingDependencyError without
    matplotlib.
    """
    if path.suffix != ".md":
        raise GpufluidError(f"{path}: the page's name must end in .md")
    check_new_file(path, overwrite=True)  # before minutes are spent
    with needs("matplotlib", "plotting what was measured"):
        import matplotlib as mpl
    mpl.use("Agg")
    from gpufluid.gl.backend import GLBackend
    from gpufluid.gl.trial import choose

    probe = GLBackend(Case((8, 8, 8)).grid, "auto", ctx)
    software, device = probe.device.software, probe.device
    probe.release()
    sizes = sizes or SIZES[software]
    kinds = STEPS if software else STEPS | HALF
    steps: dict[int, dict[str, float]] = {}
    without: list[str] = []
    for n in sizes:
        try:
            steps[n] = _steps(ctx, n, samples, kinds, software)
        except GpufluidError as error:  # there is no room for so many
            without += [f"Without {n}: {error}.", ""]
    at = min(AT[software], max(steps, default=min(sizes)))
    machine = described(Case((at,) * 3))
    lines = [
        "# Performance" if software else "# Performance on a GPU",
        "",
        f"Written by `{'make bench' if software else 'gpufluid bench --page FILE'}`: one run on one machine, "
        "medians of samples that take turns, each until the device has finished. Your machine gives other "
        "figures: run it there.",
        "",
        f"- {device.renderer}, OpenGL {device.version // 100}.{device.version % 100 // 10}",
        f"- {machine['cpu']}, {machine['cores']} cores",
        f"- copies {copy_bandwidth(ctx, software) / 1e9:.1f} GB/s, read and written",
        f"- kernels run as {device.stage} passes, reading: {device.reading}"
        f"{f', {device.sweeps} sweeps a pass' if device.sweeps > 1 else ''}"
        f"{', confinement in one' if device.joined else ''}; {samples} samples",
        *(f"- chosen {line}" for line in choose(ctx).why[:1]),
        "",
        *_engine_and_baseline(ctx, at, samples),
        *_growth(steps, kinds, path),
        *without,
        *_solvers(ctx, at, samples),
        *_stages(ctx, at, samples),
        *_empty_space(ctx, at, samples),
    ]
    with whole_file(path, overwrite=True) as partial:
        partial.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _subject(ctx: moderngl.Context, n: int, backend: str = "auto", **rules: Any) -> Subject:
    from gpufluid.gl.backend import GLBackend

    case = Case((n, n, n), rules.pop("profile", "plain"), solids=False, **rules)
    return Subject(GLBackend(case.grid, backend, ctx, case.settings.precision), case)


def _in_turns(subjects: dict[str, Subject], samples: int) -> dict[str, float]:
    """The median ms of a step of each."""
    for subject in subjects.values():
        warm_up(subject.step, subject.backend.finish, subject.device is None or subject.device.software)
    taken: dict[str, list[float]] = {name: [] for name in subjects}
    for _ in range(samples):
        for name, subject in subjects.items():
            taken[name].append(timed(subject.step, subject.backend.finish)[0])
    return {name: median(times) for name, times in taken.items()}


def _steps(
    ctx: moderngl.Context, n: int, samples: int, kinds: dict[str, dict[str, Any]], software: bool
) -> dict[str, float]:
    """The median ms of each kind of step, MiB of the fields of the first, and ms of Python and the driver.

    On a GPU one kind is measured after the other: it has little else to do, and no room for all of them.
    """
    found: dict[str, float] = {}
    for names in [list(kinds)] if software else [[name] for name in kinds]:
        subjects: dict[str, Subject] = {}
        try:
            for name in names:
                subjects[name] = _subject(ctx, n, **dict(kinds[name]))
            found |= _in_turns(subjects, samples)
            if "MiB" not in found:
                first: Any = subjects[names[0]]
                found["MiB"] = first.backend.device.field_bytes / 2**20
                found["own"] = median(timed(first.step, first.backend.finish)[1] for _ in range(samples))
        finally:
            release(*subjects.values())
    return found


def _said(*paragraphs: str) -> Iterator[str]:
    """The lines of these, each with an empty one behind it."""
    for paragraph in paragraphs:
        yield from (paragraph, "")


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|" + " --- |" * len(head)
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    yield ""


def _engine_and_baseline(ctx: moderngl.Context, n: int, samples: int) -> Iterator[str]:
    from gpufluid.app.baseline import BaselineBackend
    from gpufluid.gl.backend import GLBackend
    from gpufluid.gl.kernel_source import SPARSE

    case = Case((n, n, n), "plain", solids=False)
    backend = GLBackend(case.grid, "auto", ctx)
    engine, baseline = Subject(backend, case), Subject(BaselineBackend(case.grid, ctx), case)
    take_turns([engine, baseline], samples)
    moved, bandwidth = backend.device.bytes_of(engine.step), copy_bandwidth(ctx, backend.device.software)
    sizes = {name: sum(each) for name, each in moved.items() if name not in SPARSE}
    a, b = median(engine.step_ms), median(baseline.step_ms)
    c, d = median(engine.jacobi_ms), median(baseline.jacobi_ms)
    yield from _said(
        "## Against the same step written the plain way",
        f"{n} x {n} x {n} cells, `plain`: semi-Lagrangian with an Euler trace, confinement, 40 cold Jacobi "
        "sweeps, closed box. The baseline reads each cell by itself, from unpacked textures.",
    )
    yield from _table(
        ("", "engine, ms", "baseline, ms", "times faster"),
        [("step", _ms(a), _ms(b), f"{b / a:.1f}"), ("40 sweeps", _ms(c), _ms(d), f"{d / c:.1f}")],
    )
    size, sweeps = sum(sizes.values()), sum(n for name, n in sizes.items() if "jacobi" in name)
    least, least_of_sweeps = (n / bandwidth * 1e3 for n in (size, sweeps))

    def steps() -> None:
        for _ in range(TOGETHER):
            engine.step()

    warm_up(steps, engine.backend.finish, backend.device.software)
    in_a_row = median(timed(steps, engine.backend.finish)[0] for _ in range(SAMPLES)) / TOGETHER
    yield from _said(
        f"{TOGETHER} steps in a row, waited for once, take {_ms(in_a_row)} ms each. The passes of a step "
        f"must move {size / 2**20:.0f} MiB, counted sweep by sweep and without those that leave empty space "
        f"out: {_ms(least)} ms at the rate of a copy. A step in a row takes {in_a_row / least:.2f} times "
        f"that, and 40 sweeps take {c / least_of_sweeps:.2f} times what theirs would."
    )
    engine.release()
    baseline.release()


def _ms(value: float) -> str:
    return f"{value:.1f}" if value >= 10.0 else f"{value:.2f}"


def _growth(
    steps: dict[int, dict[str, float]], kinds: dict[str, dict[str, Any]], path: Path
) -> Iterator[str]:
    from matplotlib.figure import Figure

    yield from _said(
        "## Growth with cells",
        "Milliseconds a step; nanoseconds a cell in brackets. Boxes of n^3 cells. `default`: MacCormack, "
        "midpoint traces, 40 sweeps; `best`: the same with two V-cycles of `gf.Multigrid`; both with "
        "confinement.",
        f"![Time of a step over the cells of the box]({path.stem}.png)",
    )

    def rows() -> Iterator[Sequence[str]]:
        for n, found in steps.items():
            each = (f"{_ms(found[name])} ({found[name] / n**3 * 1e6:.3g})" for name in kinds)
            yield (f"{n}", *each, f"{found['own']:.1f}", f"{found['MiB']:.0f}")

    yield from _table(("n", *kinds, "of plain: Python and driver, ms", "fields, MiB"), rows())
    if 64 in steps and 128 in steps:
        grown = {name: steps[128][name] / steps[64][name] / 8.0 for name in kinds}
        times = ", ".join(f"{grown[name]:.2f} times ({name})" for name in kinds)
        yield from _said(f"From 64 to 128 the cost of a cell grows {times}.")
    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    axes = figure.subplots()
    for name in kinds:
        axes.loglog([n**3 for n in steps], [found[name] for found in steps.values()], "o-", label=name)
    axes.set(xlabel="cells", ylabel="ms a step")
    axes.grid(alpha=0.3, which="both")
    axes.legend()
    figure.savefig(path.with_suffix(".png"), dpi=100)


def _solvers(ctx: moderngl.Context, n: int, samples: int) -> Iterator[str]:
    subject = _subject(ctx, n)
    for _ in range(WARM_UP):
        subject.step()
    solver: Solver = subject.solver
    projection, dt = solver.projection, subject.case.dt

    def solve(rules: Any) -> None:
        projection.pressure.fill([0.0])
        if rules is plain_sweeps:
            plain_sweeps(projection.problem)
            return
        projection.relax(rules, dt, solver.variant, solver.solids.openings)

    solves, left = [partial(solve, rules) for rules in SOLVERS.values()], {}
    for name, once in zip(SOLVERS, solves, strict=True):
        once()
        left[name] = projection.problem.left()
    taken = dict(zip(SOLVERS, _after_its_like(ctx, solves, samples), strict=True))
    subject.release()
    sweeps = taken["`gf.Jacobi(40)`"]
    yield from _said(
        "## Pressure solvers",
        f"{n} x {n} x {n} cells, from pressure 0. Left: rms of the divergence, as a share of its start, in a "
        f"smooth flow after {WARM_UP} steps; `gf.RedBlackSOR` raises short waves before it lowers the long "
        "ones, and may leave more than there was. Where that is faster, `gf.Jacobi` splits the pressure into "
        "eighths, or makes several sweeps in a pass.",
    )
    yield from _table(
        ("solver", "ms", "of 40 sweeps", "left"),
        ((name, _ms(ms), f"{ms / sweeps:.2f}", f"{left[name]:.1e}") for name, ms in taken.items()),
    )


def _stages(ctx: moderngl.Context, n: int, samples: int) -> Iterator[str]:
    yield from _said(
        "## Stages and precisions",
        f"{n} x {n} x {n} cells, ms a step, in turns: no step finds its fields in the processor's caches.",
    )
    stages = ("compute", "fragment") if ctx.version_code >= 430 else ("fragment",)
    rows = []
    for profile in ("plain", "best"):
        subjects = {
            f"{stage} {precision}": _subject(ctx, n, stage, profile=profile, precision=precision)
            for stage in stages
            for precision in ("single", "half")
        }
        found = _in_turns(subjects, samples)
        rows.append((profile, *map(_ms, found.values())))
        heads = ("", *subjects)
        release(*subjects.values())
    yield from _table(heads, rows)


def smoke(n: int, tenth: bool) -> NDArray[np.float32]:
    """Density 1 in all of n^3 cells, or in an upright block of a tenth of them; [z, y, x]."""
    density = np.ones((n, n, n), np.float32)
    if tenth:
        for axis, share in enumerate(TENTH):
            side = np.abs((np.arange(n) + 0.5) / n - 0.5) < 0.5 * share
            density *= side.reshape([-1 if other == axis else 1 for other in range(3)])
    return density


def _empty_space(ctx: moderngl.Context, n: int, samples: int) -> Iterator[str]:
    yield from _said(
        "## Empty space",
        f"{n} x {n} x {n} cells, with smoke in all of them and in a still block of a tenth. Scalars: whole "
        "steps with a velocity that is given. Light: to find what is there, and to walk through it. Slices: "
        "the rest of a picture of {} x {}. Together: the default's scalars, light and slices.".format(
            *PICTURE
        ),
    )
    taken = empty_space(ctx, n, samples)
    taken["together"] = [sum(ms) for ms in zip(*(taken[name] for name in A_FRAME), strict=True)]
    yield from _table(
        ("", "all, ms", "a tenth, ms", "share"),
        (
            (name, f"{full:.2f}", f"{tenth:.2f}", f"{tenth / full:.2f}")
            for name, (full, tenth) in taken.items()
        ),
    )


def empty_space(ctx: moderngl.Context, n: int, samples: int) -> dict[str, Sequence[float]]:
    """The median ms of what leaves empty space out, by name: with smoke in all n^3 cells, and in a tenth."""
    taken = {}
    for name, rules in CARRIED.items():
        with _full_and_tenth(ctx, n, **rules) as fluids:
            moves = [partial(fluid.step, fluid.grid.cell_size) for fluid in fluids]
            taken[name] = _after_its_like(ctx, moves, samples)
    return taken | _light_and_slices(ctx, n, samples)


@contextmanager
def _full_and_tenth(ctx: moderngl.Context, n: int, **rules: Any) -> Iterator[list[Fluid]]:
    """Two fluids whose velocity is given, the first full of smoke, the other to a tenth."""
    grid, settings = Grid((n, n, n), cell_size=1.0 / n), Settings(solve_velocity=False, buoyancy=0.0, **rules)
    fluids = [Fluid(grid, settings=settings, ctx=ctx) for _ in range(2)]
    for fluid, tenth in zip(fluids, (False, True), strict=True):
        fluid.density.write(smoke(n, tenth))
    yield fluids
    release(*fluids)


def _light_and_slices(ctx: moderngl.Context, n: int, samples: int) -> dict[str, Sequence[float]]:
    from gpufluid.render.volume import VolumeRenderer

    camera, look = Camera((0.5, 0.5, 0.5), distance=2.5, azimuth=25.0), Look()
    target, volumes = ctx.simple_framebuffer(PICTURE), [VolumeRenderer(ctx, reuse=False) for _ in range(2)]
    with _full_and_tenth(ctx, n) as fluids:
        for fluid in fluids:  # after steps it is known where there is nothing
            for _ in range(WARM_UP):
                fluid.step(fluid.grid.cell_size)
        pairs = list(zip(volumes, fluids, strict=True))
        walks = [partial(volume.prepare, fluid, look) for volume, fluid in pairs]
        draws = [partial(volume.draw, fluid, camera, target, None, look) for volume, fluid in pairs]
        taken = {name: _after_its_like(ctx, w, samples) for name, w in (("light", walks), ("slices", draws))}
    release(*volumes)
    target.release()
    return taken


def _after_its_like(
    ctx: moderngl.Context, kinds: Sequence[Callable[[], None]], samples: int
) -> Sequence[float]:
    """The median ms of each of `kinds` in turns of several in a row, the last of which counts."""
    from gpufluid.gl.contexts import is_software

    for work in kinds:
        warm_up(work, ctx.finish, is_software(ctx))
    taken: list[list[float]] = [[] for _ in kinds]
    for _ in range(samples + WARM_UP):
        for work, times in zip(kinds, taken, strict=True):
            for _ in range(IN_A_ROW - 1):
                work()
            times.append(timed(work, ctx.finish)[0])
    return [median(times[WARM_UP:]) for times in taken]
