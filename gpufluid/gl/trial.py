"""Which way kernels run in a context: as told, as a trial on this driver found and kept, or by rule.

What is chosen must not change from run to run, since stages may round differently. So a trial is made once
for a driver, in a context of the engine's own, and what it found is kept in a file (`gpufluid.gl.kept`).
Another way than the rules' must win clearly, over all samples and in most of those taken side by side. There
is no trial where nothing can be kept, nor in a context of a host's, whose frames must not wait: what was kept
counts there, else the rules. What wins must also give what the rules' way gives, but for rounding: a driver
that compiles it wrongly may well be fast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from statistics import median
from threading import Lock
from time import perf_counter
from typing import Any
from weakref import WeakKeyDictionary

import moderngl
import numpy as np
from numpy.typing import NDArray

import gpufluid
from gpufluid.common.debugging import switches
from gpufluid.common.errors import GpufluidError, one_of
from gpufluid.contract.backend import release, released
from gpufluid.contract.kernels import KERNELS, WALKING, Variant
from gpufluid.contract.layout import layouts
from gpufluid.description.grid import Grid
from gpufluid.gl import enums
from gpufluid.gl import kept as cache
from gpufluid.gl.calls import calls, current_context
from gpufluid.gl.contexts import create_context, is_own, is_software
from gpufluid.gl.device import Device
from gpufluid.gl.field import Field
from gpufluid.gl.kept import Kept
from gpufluid.gl.kernel_source import KernelSource
from gpufluid.gl.passes import Pass
from gpufluid.gl.state import guard_of, keeping
from gpufluid.gl.ways import (
    BACKENDS,
    JOINED,
    SWEEPS,
    VARIABLE,
    Way,
    asked_for,
    by_rule,
    check,
    readings,
    stages,
)

REVISION = 4  # of the trial: another one is tried anew
CELLS = {True: 48, False: 128}  # a side of the box, in software and on a GPU
LARGE = 192  # a side of a box that no cache of a GPU holds
CHECKED = 45  # a side of the box that ways are compared in: workgroups do not fill it evenly
TRIED_SWEEPS = 8  # for the pressure, in one sample
SWEEPING, ADVECTION, CONFINEMENT = "sweeps", "sweeps and advection", "confinement"  # what a sample is of
WRITTEN = {  # by their passes: fields and their kinds
    ADVECTION: (("pressure", "packed"), ("carried faces", "face"), ("carried cells", "cell")),
    CONFINEMENT: (("velocity", "face"),),
}
# Of the median change: what may be rounding. And of how many values more, as where there is nearly no slope
ROUNDING, STRAY = 0.01, 1e-4
ROUNDS, FEWEST = 11, 5  # samples of each way
MOST = 0.25  # s that a race may take beyond its first samples
MARGIN = 0.85  # of what the other took
SHARE = 0.8  # of the samples taken side by side
NOWHERE = f"nothing is kept ({cache.VARIABLE}={cache.OFF}, or nobody's home)"


@dataclass(frozen=True)
class Choice:
    """A way, and why: lines for people. free: nobody asked for its stage."""

    way: Way
    why: tuple[str, ...]
    free: bool = True

    def device(self, ctx: moderngl.Context) -> Device:
        """A device of `ctx` that goes this way."""
        way = self.way
        return Device(ctx, way.stage, way.reading, mixed=self.free, sweeps=way.sweeps, joined=way.joined)


_chosen: WeakKeyDictionary[moderngl.Context, Choice] = WeakKeyDictionary()
_one_trial = Lock()


def driver_of(ctx: moderngl.Context) -> dict[str, str]:
    """What a trial is kept for: who draws, which version of it, and which engine."""
    gl = calls(ctx)
    return {
        "vendor": gl.text(enums.VENDOR),
        "renderer": gl.renderer,
        "version": gl.text(enums.VERSION),
        "gpufluid": f"{gpufluid.__version__}, trial {REVISION}",
    }


def choose(ctx: moderngl.Context, backend: str = "auto", reading: str | None = None) -> Choice:
    """The way for a fluid in `ctx`: what the arguments say, then the variable GPUFLUID_WAY, then `tried`.

    A stage or reading that is not among what was chosen otherwise comes with the rules' for the rest.
    Readings give the same bits; a program that names a stage, to go the same way everywhere, has its sweeps
    one by one, and confinement in three passes, unless the variable says otherwise.
    Raises GpufluidError where the context lacks what is asked for, or is not current.
    """
    one_of(backend, BACKENDS, "backend")
    guard_of(ctx).check_current(ctx, "Fluid")
    version, renderer = ctx.version_code, calls(ctx).renderer
    stage = None if backend == "auto" else backend
    named, read_by, sweeps, joined, rules = asked_for()
    if stage == "fragment":
        sweeps = joined = None  # as the stage that the variable names: the program's word comes first
    check(version, renderer, stage)
    if stage is None and named is not None:
        check(version, renderer, named, what=VARIABLE)
    words = (named, stage is None), (read_by, reading is None), (str(sweeps or ""), True)
    told = tuple(word for word, counts in words if word and counts)
    told += tuple(word for word, value in JOINED.items() if value is joined)
    why = [f"{VARIABLE}={','.join(told)} in the environment"] if told else []
    if stage or reading:
        why.insert(0, "as the program asks")
    stage, reading = stage or named, reading or read_by
    if stage is None and reading is None and sweeps is None and joined is None:
        return _by_rule(ctx, f"{VARIABLE}=rule in the environment") if rules else tried(ctx)
    best = by_rule(version, is_software(ctx), stage)
    found = None if rules or reading is not None else _kept(ctx)
    if isinstance(found, Kept) and stage in (None, found.way.stage):
        best = found.way
    if backend != "auto":
        best = Way(best.stage, best.reading)
    joined = best.joined if joined is None else joined
    way = Way(best.stage, reading or best.reading, sweeps or best.sweeps, joined)
    what = VARIABLE if told else "backend"
    check(version, renderer, way.stage, way.reading, what, way.sweeps, way.joined)
    return Choice(way, tuple(why), stage is None)


def tried(ctx: moderngl.Context) -> Choice:
    """The way that is kept for this driver, or is after a trial now; in a host's context never a trial."""
    if ctx not in _chosen:
        with _one_trial:
            found = _kept(ctx)
            if found is None and is_own(ctx):
                found = _try_and_keep(ctx)
        if isinstance(found, Kept):
            _chosen[ctx] = Choice(found.way, tuple(_told(found, ctx)))
        else:
            _chosen[ctx] = _by_rule(ctx, found or "no trial was made: the context is a program's own")
    return _chosen[ctx]


def tune(ctx: moderngl.Context | None = None) -> str:
    """Time again which way of running kernels is fastest here, keep it for later runs, and return what was
    found.

    The engine does so by itself in the first context that it makes on a driver. A program that makes its own
    context may call this while it loads: it takes about half a second, and counts for the fluids made after
    it. The GL state of `ctx` is the same afterwards; None: a context is made for the trial.

    Raises GpufluidError if nothing can be kept, naming the file, if `ctx` is not current, and without a `ctx`
    if any context is, since it would not be current any more. GLUnavailableError without OpenGL.
    """
    if ctx is None and current_context(anew=True):
        raise GpufluidError(
            "a GL context is current here: say gf.tune(ctx), or fluid.ctx for that of a fluid"
        )
    own = create_context() if ctx is None else None
    try:
        here = own or ctx
        assert here is not None
        guard_of(here).check_current(here, "gf.tune")
        with _one_trial:
            found = _try_and_keep(here, anew=True)
        if not isinstance(found, Kept):
            raise GpufluidError(found)
        _chosen[here] = Choice(found.way, tuple(_told(found, here)))
        return "\n".join(_chosen[here].why)
    finally:
        release(own)


def _by_rule(ctx: moderngl.Context, why: str) -> Choice:
    return Choice(by_rule(ctx.version_code, is_software(ctx)), (f"by rule: {why}",))


def _has(ctx: moderngl.Context, way: Way) -> bool:
    version = ctx.version_code
    return way.stage in stages(version) and way.reading in readings(version, way.stage)


def _kept(ctx: moderngl.Context) -> Kept | str | None:
    """What is kept for this driver; None where nothing is, or why it does not count."""
    driver = driver_of(ctx)
    file = cache.file_of(driver)
    if file is None:
        return NOWHERE
    try:
        found = cache.read(file, driver)
        if found is not None and not _has(ctx, found.way):
            raise ValueError("it names what this context does not have")
    except ValueError as error:
        return f"{_shown(file)} does not count: {error}; `gpufluid info --trial` writes it anew"
    return found


def _try_and_keep(ctx: moderngl.Context, anew: bool = False) -> Kept | str:
    """Make the trial and keep what it found; why not, where that cannot be."""
    driver = driver_of(ctx)
    file = cache.file_of(driver)
    if file is None:
        return NOWHERE
    try:
        cache.check_folder(file)
        cache.keep(file, driver, trial(ctx), anew)
    except (OSError, GpufluidError) as error:
        return f"nothing can be kept in {_shown(file)}: {getattr(error, 'strerror', None) or error}"
    if anew:
        _chosen.clear()
    return _kept(ctx) or f"{_shown(file)} is gone"  # another process may have been first


def _shown(file: Path) -> str:
    return str(file).encode("unicode_escape").decode()


def _told(found: Kept, ctx: moderngl.Context) -> Iterator[str]:
    """What a trial found, line by line."""
    what = f"{'no other way was ' if found.way == found.rule else ''}clearly faster than the rule's"
    if not found.ms:
        what = "it failed, the rule's stays"
    yield f"by the trial of {found.when:%Y-%m-%d %H:%M} UTC: {what}, {found.rule}"
    if found.ms:
        sweeps = f"{TRIED_SWEEPS} sweeps"
        races = {
            sweeps: found.ms,
            f"{sweeps} in a large box": found.large,
            "confinement in a large box": found.pushed,
        }
        for work, taken in races.items():
            each = sorted(taken.items(), key=lambda item: item[1])
            if each:
                times = ", ".join(f"{ms:.2f} ms ({name})" for name, ms in each)
                yield f"{work} took {times}"
    for name in found.wrong:
        yield f"{name} was faster, and gave wrong numbers: it is not taken"
    file = cache.file_of(driver_of(ctx))
    if file is not None:
        yield f"kept in {_shown(file)}"


# -- the trial ---------------------------------------------------------------------------------------------


def clearly_faster(one: Sequence[float], other: Sequence[float]) -> bool:
    """Whether `one` took clearly less than `other`, in samples taken side by side.

    Its median and its shortest are at most 0.85 of the other's, and it was faster in at least 4 of 5 pairs:
    neither a burst of other work nor a lucky sample decides.
    """
    wins = sum(a < b for a, b in zip(one, other, strict=True))
    shorter = all(taken(one) <= MARGIN * taken(other) for taken in (median, min))
    return shorter and wins >= SHARE * len(one)


def winner(
    taken: dict[Way, list[float]], champion: Way, right: Callable[[Way], bool] = lambda _: True
) -> Way:
    """The fastest of those that are clearly faster than `champion`, and `right`; else that."""
    better = [way for way in taken if clearly_faster(taken[way], taken[champion])]
    return next(filter(right, sorted(better, key=lambda way: median(taken[way]))), champion)


def agrees(ctx: moderngl.Context, way: Way, rule: Way) -> bool:
    """Whether `way` makes of a flow what `rule` makes of it, but for rounding."""
    for what in (ADVECTION, CONFINEMENT) if way.joined else (ADVECTION,):
        made = []
        for each in (way, rule):
            with released(Course(ctx, CHECKED)) as course:
                made.append(course.changes(each, what))
        for one, other in zip(*made, strict=True):
            near = np.abs(one - other) <= ROUNDING * np.median(np.abs(other))  # NaN is not
            if 1.0 - near.mean() > STRAY:
                return False
    return True


def trial(ctx: moderngl.Context) -> Kept:
    """Time the ways of `ctx` on real kernels and return the best; its GL state is after it as it was.

    First the readings of the rule's stage, then the other stage, in sweeps for the pressure, the most of a
    step. What wins there must win a piece of a step with advection too. Then, for compute passes of a GPU,
    how many sweeps one makes in a large box, and whether one makes all of confinement. The rule's where it
    fails, or gives other numbers. In software nothing of the latter is even compiled.
    """
    best = rule = by_rule(ctx.version_code, is_software(ctx))
    wrong: list[str] = []

    def right(way: Way) -> bool:
        same = agrees(ctx, way, rule)
        if not same:
            wrong.append(str(way))
        return same

    taken: dict[Way, list[float]] = {}
    large: dict[Way, list[float]] = {}
    pushed: dict[Way, list[float]] = {}
    with keeping(ctx, "the trial of ways"), _unchecked():
        try:
            with released(Course(ctx)) as course:
                best, taken = _raced(course, ctx.version_code, right)
            if best.stage == "compute" and not is_software(ctx):
                with released(Course(ctx, LARGE)) as course:
                    large = course.race([best, *(replace(best, sweeps=n) for n in SWEEPS[1:])])
                best = winner(large, best, right)
                with released(Course(ctx, LARGE)) as course:
                    pushed = course.race([best, replace(best, joined=True)], CONFINEMENT)
                best = winner(pushed, best, right)
        except (GpufluidError, moderngl.Error, MemoryError):
            pass  # what was found before stays
    races = (taken, large, pushed)
    ms = [{str(way): median(samples) for way, samples in each.items()} for each in races]
    return Kept(best, rule, datetime.now(timezone.utc), ms[0], ms[1], ms[2], tuple(wrong))


def _raced(course: Course, version: int, right: Callable[[Way], bool]) -> tuple[Way, dict[Way, list[float]]]:
    """The best way that is `right`, and the samples of all in sweeps, ms."""
    rule = course.rule
    others = (Way(rule.stage, reading) for reading in readings(version, rule.stage))
    taken = course.race([rule, *(way for way in others if way != rule)])
    best = winner(taken, rule)
    across = [
        Way(stage, best.reading)
        for stage in stages(version)
        if stage != rule.stage and best.reading in readings(version, stage)
    ]
    if across:
        again = course.race([best, *across])
        best = winner(again, best)
        taken |= {way: again[way] for way in across}
    if best != rule:
        best = winner(course.race([rule, best], ADVECTION), rule, right)
    return best, taken


@contextmanager
def _unchecked() -> Iterator[None]:
    """Passes are not read back to look for NaN: that would be what is timed."""
    before, switches.numbers = switches.numbers, False
    try:
        yield
    finally:
        switches.numbers = before


class Course:
    """A box with a flow in it, and the passes that run through it in each way.

    side: cells along each; None: as many as a sample of all passes takes.
    """

    def __init__(self, ctx: moderngl.Context, side: int | None = None) -> None:
        self.ctx = ctx
        device = Device(ctx)
        self.software, self.rule = device.software, Way(device.stage, device.reading)
        self._devices = {self.rule: device}
        self._passes: dict[tuple[Way, str], Pass] = {}
        n = side or CELLS[self.software]
        self._grid = Grid((n, n, n), 1.0)  # cells of 1 m and steps of 1 s: m/s are cells a step
        self._layouts = layouts(self._grid, device.max_texture_size, device.software)
        self._fields: dict[str, Field] = {}

    def field(self, name: str, kind: str, scratch: bool = False) -> Field:
        """A field of numbers between -2 and 2, made the first time. scratch: of zeros, with one texture."""
        if name not in self._fields:
            buffers = 1 if scratch else 2
            field = Field(self._devices[self.rule], name, self._layouts[kind], buffers=buffers)
            self._fields[name] = field
            nx, ny, nz = field.layout.size
            shape = (nz, ny, nx, 1 if field.layout.packing > 1 else field.components)
            if not scratch:
                field.write(np.random.default_rng(1).random(shape, np.float32) * 4.0 - 2.0)
        return self._fields[name]

    def run(self, way: Way, name: str, **arguments: Any) -> None:
        """Run a kernel in one way."""
        if (way, name) not in self._passes:
            if way not in self._devices:
                self._devices[way] = Device(self.ctx, way.stage, way.reading)
            device, variant = self._devices[way], Variant(trace="euler")
            source = KernelSource(device, self._grid, self._layouts, KERNELS[name], variant, "f4")
            self._passes[way, name] = Pass(source)
        self._passes[way, name](**arguments)

    def work(self, way: Way, what: str) -> None:
        """Ask for one sample's passes."""
        field = self.field
        if what == CONFINEMENT:
            self._confine(way)
            return
        if what == ADVECTION:
            velocity, scalars = field("velocity", "face"), field("scalars", "cell")
            carried = field("carried faces", "face"), field("carried cells", "cell")
            self.run(way, "advect_velocity", velocity=velocity, carried=carried[0], dt=1.0)
            self.run(
                way,
                "advect_scalars",
                scalars=scalars,
                velocity=velocity,
                carried=carried[1],
                dt=1.0,
                keep=(1.0, 1.0, 1.0),
                ambient=0.0,
            )
        pressure, divergence = field("pressure", "packed"), field("divergence", "packed")
        kernel: dict[str, Any] = {"name": "jacobi", "weight": 1.0}
        if way.sweeps > 1:
            kernel = {"name": WALKING[way.sweeps], "weights": (1.0,) * way.sweeps}
        for _ in range(TRIED_SWEEPS // way.sweeps):
            self.run(way, pressure=pressure, divergence=divergence, scale=1.0, **kernel)

    def _confine(self, way: Way) -> None:
        """Buoyancy and vorticity confinement."""
        field = self.field
        velocity, scalars = field("velocity", "face"), field("scalars", "cell", scratch=True)
        given: dict[str, Any] = {
            "scalars": scalars,
            "strength": 0.5,
            "rise": (1.0,) * 4,
            "up": (0.0, 1.0, 0.0),
        }
        if way.joined:
            self.run(way, "confine", velocity=velocity, dt=1e-3, **given)
            return
        vorticity, force = (field(name, "cell", scratch=True) for name in ("vorticity", "force"))
        self.run(way, "vorticity", velocity=velocity, vorticity=vorticity)
        self.run(way, "confinement", vorticity=vorticity, force=force, **given)
        self.run(way, "force_field", velocity=velocity, force=force, dt=1e-3)

    def changes(self, way: Way, what: str) -> list[NDArray[np.float32]]:
        """How one sample's passes change what they write, a list of [z, y, x, c]."""
        fields = [self.field(name, kind) for name, kind in WRITTEN[what]]
        before = [field.read() for field in fields]
        self.work(way, what)
        return [field.read() - was for field, was in zip(fields, before, strict=True)]

    def sample(self, way: Way, what: str) -> float:
        """The ms of one sample: by the driver's clock on a GPU, which does not count how fast Python asks.

        By that on the wall where the driver has none, or a host has it time something else.
        """
        device = self._devices.get(way)
        if self.software or device is None or not device.clock.possible:
            self.ctx.finish()
            start = perf_counter()
            self.work(way, what)
            self.ctx.finish()
            return 1e3 * (perf_counter() - start)
        device.timings = {}
        self.work(way, what)
        return sum(sum(each) for each in device.milliseconds().values())

    def race(self, ways: Sequence[Way], what: str = SWEEPING) -> dict[Way, list[float]]:
        """Samples of `ways`, which take turns, ms; the first of each, which compiles, does not count."""
        for way in ways:
            self.sample(way, what)
        taken: dict[Way, list[float]] = {way: [] for way in ways}
        end = perf_counter() + MOST
        for n in range(ROUNDS):
            if n >= FEWEST and perf_counter() > end:
                break
            for way in ways if n % 2 else reversed(ways):
                taken[way].append(self.sample(way, what))
        return taken

    def release(self) -> None:
        """Release what it holds."""
        release(*self._fields.values(), *self._devices.values())
