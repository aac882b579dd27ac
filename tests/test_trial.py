"""How kernels run: tried once for a driver, kept, not flipped by noise, overridden by whoever says so."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import moderngl
import numpy as np
import pytest
from driver import PATIENCE, python
from host import Host

import gpufluid as gf
from gpufluid.app.cli import main
from gpufluid.common.debugging import switches
from gpufluid.gl import calls, contexts, kept, trial
from gpufluid.gl.calls import current_context, current_renderer
from gpufluid.gl.contexts import create_context, is_own
from gpufluid.gl.device import Device
from gpufluid.gl.kept import Kept
from gpufluid.gl.kernel_source import SMALL
from gpufluid.gl.measuring import TimeQueries
from gpufluid.gl.ways import READINGS, SWEEPS, VARIABLE, Way, by_rule, check, readings, stages

IMAGE, NEAREST, TEXEL = (Way("fragment", reading) for reading in READINGS)
NOON = datetime(2026, 1, 1, 12, tzinfo=timezone.utc)
GRID = gf.Grid((4, 4, 4), 0.25)


def found(way: Way, rule: Way = IMAGE) -> Kept:
    """What a trial might have found."""
    return Kept(way, rule, NOON, {str(way): 1.0, str(rule): 2.0})


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of this test's to keep things in, not yet there; no context remembers its choice."""
    folder = tmp_path / "kept here"
    monkeypatch.setenv(kept.VARIABLE, str(folder))
    trial._chosen.clear()
    yield folder
    trial._chosen.clear()


@pytest.fixture
def trials(monkeypatch: pytest.MonkeyPatch) -> list[Way]:
    """The ways that trials will find, in place of real trials; what is left are those not made."""
    coming = [Way("compute", "nearest"), TEXEL, NEAREST]

    def made_up(ctx: moderngl.Context) -> Kept:
        return found(coming.pop(0))

    monkeypatch.setattr(trial, "trial", made_up)
    return coming


@pytest.fixture
def guest(ctx: moderngl.Context) -> Iterator[moderngl.Context]:
    """The shared context as a host's."""
    contexts._own.discard(ctx)
    yield ctx
    contexts._own.add(ctx)


def way_of(ctx: moderngl.Context | None, backend: str = "auto") -> Way:
    """How a fluid runs there."""
    with gf.Fluid(GRID, backend=backend, ctx=ctx) as fluid:
        assert fluid.device is not None
        return Way(fluid.device.stage, fluid.device.reading)


def keep(ctx: moderngl.Context, way: Way) -> Path:
    """Keep `way` for the driver of `ctx`."""
    driver = trial.driver_of(ctx)
    file = kept.file_of(driver)
    assert file is not None
    file.parent.mkdir(parents=True, exist_ok=True)
    kept.keep(file, driver, found(way), anew=True)
    trial._chosen.clear()
    return file


# -- what there is ---------------------------------------------------------------------------------------


def test_a_context_is_offered_what_it_has() -> None:
    assert readings(330, "fragment") == readings(410, "fragment") == ("nearest", "texel")
    assert readings(420, "fragment") == readings(430, "compute") == READINGS
    assert stages(420) == ("fragment",) and stages(430) == ("compute", "fragment")
    for version, software, way in (
        (410, False, TEXEL),
        (410, True, NEAREST),
        (450, False, Way("compute", "texel")),
        (450, True, IMAGE),
    ):
        assert by_rule(version, software) == way
    with pytest.raises(gf.GpufluidError, match=r"GPUFLUID_WAY=.compute. needs OpenGL 4.3, .* is 4.1"):
        check(410, "a driver", "compute", what=VARIABLE)
    with pytest.raises(gf.GpufluidError, match=r"imageLoad needs OpenGL 4.2, this context is 4.1"):
        check(410, "a driver", "fragment", "image")


# -- who wins --------------------------------------------------------------------------------------------


def test_a_way_must_win_clearly() -> None:
    usual = [2.0] * 10
    assert trial.clearly_faster([1.6] * 10, usual)
    assert not trial.clearly_faster([1.8] * 10, usual), "a tenth is no clear win"
    assert not trial.clearly_faster([2.4] * 10, usual)
    assert not trial.clearly_faster([1.6] * 10, [1.6, *usual[1:]]), "as fast when left alone"
    assert not trial.clearly_faster([1.0] * 7 + [2.1] * 3, usual), "not in most of the pairs"
    assert trial.clearly_faster([1.0] * 8 + [9.0] * 2, usual)
    assert trial.winner({IMAGE: usual, NEAREST: [1.5] * 10, TEXEL: [1.2] * 10}, IMAGE) == TEXEL
    assert trial.winner({IMAGE: usual, NEAREST: [1.8] * 10, TEXEL: [1.9] * 10}, IMAGE) == IMAGE


def test_noise_does_not_flip_it(rng: np.random.Generator) -> None:
    """Equal ways, in bursts of other work that make a third of the samples up to five times as long."""
    flips = 0
    for _ in range(2000):
        busy = rng.random((2, 11)) < 0.33
        longer = np.where(busy, rng.uniform(1.0, 5.0, busy.shape), 1.0)
        one, other = longer * rng.normal(1.0, 0.03, busy.shape)
        flips += trial.winner({IMAGE: list(other), TEXEL: list(one)}, IMAGE) != IMAGE
    assert flips <= 1, flips


def scripted(monkeypatch: pytest.MonkeyPatch, ms: Callable[[Way, bool], float]) -> list[tuple[Way, bool]]:
    """Have samples take what `ms` says; return those taken, (way, with advection)."""
    asked = []

    def sample(self: trial.Course, way: Way, what: str) -> float:
        asked.append((way, what == trial.ADVECTION))
        return ms(*asked[-1])

    monkeypatch.setattr(trial.Course, "sample", sample)
    return asked


def test_readings_are_tried_and_then_the_other_stage(
    ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = by_rule(ctx.version_code, trial.is_software(ctx))
    asked = scripted(monkeypatch, lambda way, _: 1.0 + (way.reading != "nearest") + (way.stage == rule.stage))
    assert trial.trial(ctx).way.reading == "nearest"
    if ctx.version_code >= 430:
        assert trial.trial(ctx).way == Way(*({"compute", "fragment"} - {rule.stage}), "nearest")
    assert (rule, True) in asked, "what won in sweeps was not tried with advection"
    # what is faster in sweeps and slower in advection is not taken
    scripted(monkeypatch, lambda way, both: 1.0 + ((way == rule) != both))
    assert trial.trial(ctx).way == rule


def fast(way: Way, _: bool) -> float:
    """Made up: the more passes are joined, the faster."""
    return (6.0 if way.stage == "fragment" else 4.0 / way.sweeps) * (0.5 if way.joined else 1.0)


@pytest.mark.parametrize(
    ("spoilt", "sweeps", "joined"),
    [(None, 4, True), ("jacobi_four", 2, True), ("jacobi_two", 4, True), ("confine", 4, False)],
)
@pytest.mark.parametrize("by", [1.5, np.nan])
def test_what_is_fast_and_wrong_is_not_taken(
    ctx: moderngl.Context,
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    spoilt: str,
    sweeps: int,
    joined: bool,
    by: float,
) -> None:
    """A driver may compile wrongly what joins passes: one such is spoilt in a few cells, and that is told."""
    if ctx.version_code < 430:
        pytest.skip("there are no compute passes")
    monkeypatch.setattr(trial, "is_software", lambda _: False)
    monkeypatch.setattr(trial, "LARGE", 8)
    monkeypatch.setattr(trial, "CHECKED", 21)
    scripted(monkeypatch, fast)
    run = trial.Course.run

    def spoils(self: trial.Course, way: Way, name: str, **given: Any) -> None:
        run(self, way, name, **given)
        if name == spoilt:
            field = given["velocity" if name == "confine" else "pressure"]
            values = field.read()
            values[-2, 2:4, :8] *= by
            field.write(values)

    monkeypatch.setattr(trial.Course, "run", spoils)
    found = trial.trial(ctx)
    assert (found.way.stage, found.way.sweeps, found.way.joined) == ("compute", sweeps, joined)
    # of two sweeps a pass nobody asks where four are faster
    assert len(found.wrong) == (spoilt not in (None, "jacobi_two"))
    driver = trial.driver_of(ctx)
    file = kept.file_of(driver)
    assert file is not None
    cache.mkdir()
    kept.keep(file, driver, found)
    again = kept.read(file, driver)
    assert again is not None and again.wrong == found.wrong
    told = "\n".join(trial._told(again, ctx))
    assert told.count("wrong numbers: it is not taken") == len(found.wrong)


def test_ways_give_the_same_but_for_rounding(ctx: moderngl.Context) -> None:
    rule = by_rule(ctx.version_code, trial.is_software(ctx))
    ways = [
        Way(stage, way) for stage in stages(ctx.version_code) for way in readings(ctx.version_code, stage)
    ]
    if ctx.version_code >= 430:
        ways += [Way("compute", "texel", sweeps, joined) for sweeps in SWEEPS for joined in (False, True)]
    assert all(trial.agrees(ctx, way, rule) for way in ways)


def test_a_real_trial_times_all_readings_and_both_stages(ctx: moderngl.Context) -> None:
    result = trial.trial(ctx)
    assert result.rule == by_rule(ctx.version_code, trial.is_software(ctx))
    ways = {str(Way(result.rule.stage, reading)) for reading in readings(ctx.version_code, result.rule.stage)}
    assert ways <= set(result.ms) and all(ms > 0.0 for ms in result.ms.values())
    assert {name.split()[0] for name in result.ms} == set(stages(ctx.version_code))


def test_a_gpu_is_timed_by_its_own_clock(ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "CELLS", {True: 16, False: 16})
    course = trial.Course(ctx)
    course.software = False
    monkeypatch.setattr(trial, "perf_counter", lambda: 0.0)  # the one on the wall stands still
    taken = course.race([course.rule], trial.ADVECTION)
    course.release()
    assert len(taken[course.rule]) == trial.ROUNDS and min(taken[course.rule]) > 0.0


@pytest.mark.parametrize("clock", ["the host's", "none"])
def test_a_gpu_is_timed_on_the_wall_where_its_own_clock_is_not_free(
    ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch, clock: str
) -> None:
    """A host's profiler times the frame in which it calls `gf.tune`: its query goes on."""
    monkeypatch.setattr(trial, "CELLS", {True: 16, False: 16})
    course = trial.Course(ctx)
    course.software = False
    profiler, running = ctx.query(time=True), ctypes.c_int()
    with profiler if clock == "the host's" else nullcontext():
        if clock == "none":
            monkeypatch.setattr(TimeQueries, "there", False)
        taken = course.race([course.rule], trial.ADVECTION)
        calls.calls(ctx).glGetQueryiv(0x88BF, 0x8865, ctypes.byref(running))
        assert bool(running.value) == (clock == "the host's")
    course.release()
    assert min(taken[course.rule]) > 0.0
    assert clock == "none" or profiler.elapsed > 0


def test_a_trial_is_not_looked_through(ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    monkeypatch.setattr(switches, "numbers", True)
    scripted(monkeypatch, lambda *_: float(not seen.append(switches.numbers)))
    trial.trial(ctx)
    assert seen and not any(seen) and switches.numbers


def test_a_trial_that_fails_leaves_the_rule(ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> float:
        raise gf.GpufluidError("no memory left for a texture")

    monkeypatch.setattr(trial.Course, "sample", fails)
    result = trial.trial(ctx)
    assert result.way == result.rule and result.ms == {}


def test_what_is_current_stays_so(ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host may ask before it has made anything of the engine's, in its context."""
    there = current_context()
    assert there is not None

    def none_is_made() -> None:
        raise AssertionError("a context was made")

    for module in (contexts, trial):
        monkeypatch.setattr(module, "create_context", none_is_made)
    assert gf.is_software() == gf.is_software(ctx)
    with pytest.raises(gf.GpufluidError, match=r"gf\.tune\(ctx\)"):
        gf.tune()
    assert current_context() == there


@pytest.mark.parametrize(
    ("renderer", "software"),
    [
        ("llvmpipe (LLVM 15.0.7, 256 bits)", True),
        ("zink Vulkan 1.3(llvmpipe (LLVM 17.0.6, 256 bits) (MESA_LLVMPIPE))", True),
        ("SWR (LLVM 10.0, 256 bits)", True),
        ("softpipe", True),
        ("Software Rasterizer", True),
        (
            "ANGLE (Google, Vulkan 1.3.0 (SwiftShader Device (Subzero) (0x0000C0DE)), SwiftShader driver)",
            True,
        ),
        ("Apple Software Renderer", True),
        ("D3D12 (Microsoft Basic Render Driver)", True),
        ("GDI Generic", True),
        ("Apple M2 Pro", False),
        ("Apple Paravirtual device", False),
        ("SVGA3D; build: RELEASE;  LLVM;", False),
        ("zink Vulkan 1.3(NVIDIA GeForce RTX 3060 (NVIDIA_PROPRIETARY))", False),
        ("D3D12 (Intel(R) UHD Graphics 620)", False),
        ("AMD Radeon Graphics (radeonsi, renoir, LLVM 17.0.6, DRM 3.57)", False),
    ],
)
def test_what_draws_on_the_processor_is_known_by_its_name(renderer: str, software: bool) -> None:
    assert contexts.names_software(renderer) == software


def test_windows_libraries_are_called_as_windows_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 32 bits there a function of the system's takes its arguments off the stack, and no other does."""
    opened = []

    def windows(name: str, mode: int) -> SimpleNamespace:
        opened.append(name)
        return SimpleNamespace(wglGetCurrentContext=lambda: 5, glGetString=lambda name: b"of Windows")

    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(ctypes, "WinDLL", windows, raising=False)
    monkeypatch.setattr(calls, "_known", {})
    assert current_renderer() == "of Windows"
    assert opened == ["opengl32.dll", "opengl32.dll"]


def test_a_trial_leaves_the_hosts_state_and_nothing_behind(ctx: moderngl.Context, cache: Path) -> None:
    gf.keep_state(ctx, True)
    host = Host(ctx)
    fields = len(Device(ctx).fields)
    before, switches.numbers = switches.numbers, True  # the trial itself is not looked through
    try:
        with host.oddly():
            told = gf.tune(ctx)
        assert switches.numbers
    finally:
        switches.numbers = before
        host.be_plain()
        host.release()
        gf.keep_state(ctx, False)
    assert told.startswith("by the trial of ") and str(cache) in told
    assert fields == len(Device(ctx).fields)


# -- kept ------------------------------------------------------------------------------------------------


def test_a_trial_is_made_once_and_kept(ctx: moderngl.Context, cache: Path, trials: list[Way]) -> None:
    first = way_of(ctx)
    assert first == Way("compute", "nearest") and len(trials) == 2
    assert way_of(ctx) == first
    trial._chosen.clear()  # as another run
    assert way_of(ctx) == way_of(None) == first
    ctx.__enter__()
    assert len(trials) == 2, "tried again"
    assert len(list(cache.iterdir())) == 1, "something is left beside what is kept"
    driver = trial.driver_of(ctx)
    file = kept.file_of(driver)
    assert file is not None and kept.read(file, driver) == found(first)
    gf.tune(ctx)
    assert way_of(ctx) == TEXEL and len(trials) == 1


def test_it_is_kept_for_this_driver_and_engine_alone(
    ctx: moderngl.Context, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = trial.driver_of(ctx)
    assert all(driver.values())
    files = {kept.file_of(driver)} | {kept.file_of({**driver, name: "another"}) for name in driver}
    assert len(files) == 1 + len(driver)
    monkeypatch.setattr(gf, "__version__", "99")
    assert kept.file_of(trial.driver_of(ctx)) not in files


def test_of_several_processes_the_first_stays(ctx: moderngl.Context, cache: Path, trials: list[Way]) -> None:
    """Another one ends its trial while this one's runs: both go by what it found."""

    def slow(ctx: moderngl.Context) -> Kept:
        keep(ctx, TEXEL)
        return found(NEAREST)

    trial.trial = slow  # type: ignore[assignment]  # the fixture puts the real one back
    assert way_of(ctx) == TEXEL


def test_many_write_at_once(tmp_path: Path) -> None:
    file = tmp_path / "way-1.json"
    script = (
        "import sys; from pathlib import Path; from gpufluid.common.files import first_file\n"
        "name, file = sys.argv[1], Path(sys.argv[2])\n"
        "print('ready', flush=True); sys.stdin.readline()\n"
        "first_file(file, name * 5000); print(file.read_text()[:1], flush=True)\n"
    )
    at_once = [
        subprocess.Popen(
            [sys.executable, "-c", script, name, str(file)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in "abc"
    ]
    for process in at_once:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
    read = {process.communicate("go\n", timeout=PATIENCE)[0].strip() for process in at_once}
    assert len(read) == 1 and file.read_text() in {name * 5000 for name in "abc"}
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_a_host_takes_what_is_kept_and_makes_no_trial(
    guest: moderngl.Context, cache: Path, trials: list[Way], monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = by_rule(guest.version_code, trial.is_software(guest))
    assert not is_own(guest) and way_of(guest) == rule
    assert len(trials) == 3 and not cache.exists()
    assert "a program's own" in trial.choose(guest).why[0]
    other = replace(rule, reading="nearest")
    keep(guest, other)
    assert way_of(guest) == other and len(trials) == 3
    assert gf.tune(guest) and way_of(guest) == Way("compute", "nearest")


BAD = {
    "empty": "",
    "no JSON": "stage = 'compute'",
    "a number": "1e999",
    "a list": "[1, 2]",
    "deep": "[" * 16000,
    "no UTF-8": "\udcff\udcfe",
    "long": '{"way": "' + "x" * 100_000 + '"}',
}
CHANGED = {
    "another driver": {"renderer": "\x1b[2JMesa"},
    "no such way": {"way": "compute magic"},
    "a way that is none": {"way": ["compute"]},
    "no time": {"ms": {"fragment image": float("nan")}},
    "a huge time": {"ms": {"fragment image": 10**400}},
    "times that are none": {"ms": 7},
    "no day": {"when": "yesterday"},
    "a day without a zone": {"when": "1902-01-01T00:00:00"},
    "a day outside time": {"when": "0001-01-01T00:00:00+23:59"},
}


@pytest.mark.parametrize("what", [*BAD, *CHANGED, "a folder", "a pipe"])
def test_a_bad_file_is_as_good_as_none(
    what: str,
    ctx: moderngl.Context,
    cache: Path,
    trials: list[Way],
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = keep(ctx, Way("compute", "nearest"))
    if what in BAD:
        file.write_text(BAD[what], encoding="utf-8", errors="surrogateescape")
    elif what in CHANGED:
        file.write_text(json.dumps({**json.loads(file.read_text()), **CHANGED[what]}))
    else:
        file.unlink()
        if what == "a folder":
            file.mkdir()
        elif hasattr(os, "mkfifo"):
            os.mkfifo(file)
    held = file.read_bytes() if file.is_file() else None
    assert way_of(ctx) == by_rule(ctx.version_code, trial.is_software(ctx))
    assert len(trials) == 3, "a rerun would go another way"
    assert held is None or file.read_bytes() == held
    assert main(["info"]) == 0
    told = capsys.readouterr().out
    assert "does not count" in told and "info --trial" in told and "\x1b" not in told
    ctx.__enter__()
    if what != "a folder":
        gf.tune(ctx)  # writes it anew
        assert way_of(ctx) == Way("compute", "nearest")


def test_what_the_context_does_not_have_does_not_count(
    ctx: moderngl.Context, cache: Path, trials: list[Way], monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(ctx, Way("compute", "nearest"))
    monkeypatch.setattr(trial, "stages", lambda version: ("fragment",))
    assert way_of(ctx).stage == by_rule(ctx.version_code, trial.is_software(ctx)).stage


@pytest.mark.parametrize("where", ["off", "/dev/null/below a file", "a file"])
def test_where_nothing_can_be_kept_there_is_no_trial(
    where: str,
    ctx: moderngl.Context,
    cache: Path,
    trials: list[Way],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if where == "a file":
        where = str(cache)
        cache.write_text("mine")
    monkeypatch.setenv(kept.VARIABLE, where)
    assert way_of(ctx) == by_rule(ctx.version_code, trial.is_software(ctx)) and len(trials) == 3
    assert trial.choose(ctx).why[0].startswith("by rule: ")
    with pytest.raises(gf.GpufluidError, match="kept|GPUFLUID_CACHE"):
        gf.tune(ctx)


def test_where_the_folder_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(kept.VARIABLE)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert kept.cache_folder() == tmp_path / ".cache" / "gpufluid"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
    assert kept.cache_folder() == tmp_path / "x" / "gpufluid"
    monkeypatch.setenv("XDG_CACHE_HOME", "beside")  # where the program happens to stand is no place for it
    assert kept.cache_folder() is None
    monkeypatch.setattr(sys, "platform", "darwin")
    assert kept.cache_folder() == tmp_path / "Library" / "Caches" / "gpufluid"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert kept.cache_folder() == tmp_path / "local" / "gpufluid"


# -- told ------------------------------------------------------------------------------------------------


def test_the_variable_and_the_argument_override(
    ctx: moderngl.Context, cache: Path, trials: list[Way], monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(ctx, TEXEL)
    rule = by_rule(ctx.version_code, trial.is_software(ctx))
    for told, backend, way in (
        ("compute,nearest", "auto", Way("compute", "nearest")),
        ("texel , compute", "auto", Way("compute", "texel")),
        ("fragment", "auto", TEXEL),  # what is kept, where it is of that stage
        ("compute", "auto", by_rule(ctx.version_code, trial.is_software(ctx), "compute")),
        ("nearest", "auto", replace(rule, reading="nearest")),
        ("compute,nearest", "fragment", NEAREST),  # the program's own word first
        ("rule", "auto", rule),
        ("rule", "fragment", by_rule(ctx.version_code, trial.is_software(ctx), "fragment")),
        ("", "fragment", TEXEL),
        ("", "auto", TEXEL),
    ):
        monkeypatch.setenv(VARIABLE, told)
        assert way_of(ctx, backend) == way, (told, backend)
    assert len(trials) == 3
    for bad, says in (
        ("fragmnet", "did you mean 'fragment'"),
        ("compute,fragment", "several"),
        ("rule,texel", "several"),
    ):
        monkeypatch.setenv(VARIABLE, bad)
        with pytest.raises(gf.GpufluidError, match=f"GPUFLUID_WAY must be .*{says}"):
            way_of(ctx)


def test_small_passes_are_dispatched_where_nobody_asks_for_one_stage(
    ctx: moderngl.Context, cache: Path, trials: list[Way], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A software renderer with compute shaders draws; it sums up, and solves few cells, faster in those."""
    if ctx.version_code < 430 or not trial.is_software(ctx):
        pytest.skip("no compute shaders here, or a GPU")
    keep(ctx, IMAGE)
    pressures = []
    for told, backend, mixed in (
        ("", "auto", True),
        ("", "fragment", False),
        ("fragment", "auto", False),
        ("compute", "auto", False),
        ("nearest", "auto", True),
    ):
        monkeypatch.setenv(VARIABLE, told)
        rules = gf.Settings(pressure=gf.Multigrid(2))
        with gf.Fluid(gf.Grid((24, 16, 8), 0.1), None, rules, backend, ctx) as fluid:
            fluid.velocity.write(np.random.default_rng(3).normal(size=fluid.velocity.read().shape))
            fluid.project()
            pressures.append(fluid.pressure.read())
            finest: Any = fluid._backend
            stage, made = finest.name, []
            while finest is not None:
                made += [(work.kernel.name, work.stage) for work in finest._passes.values()]
                finest = finest._coarser
            assert {(name, "compute" if mixed else stage) for name in SMALL} <= set(made)
            assert ("relax_half", stage) in made
    assert np.abs(pressures[0]).max() > 0.1
    for other in pressures[1:]:
        np.testing.assert_allclose(other, pressures[0], atol=1e-5 * np.abs(pressures[0]).max())


def test_info_says_what_was_chosen_and_why(
    cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def told(*words: str) -> str:
        assert main(["info", *words]) == 0
        return capsys.readouterr().out

    first = told()
    assert "by the trial of 20" in first and "sweeps took" in first and f"kept in {cache}" in first
    assert told() == first
    (file,) = cache.iterdir()
    file.write_text(file.read_text().replace('"when": "2', '"when": "1'))
    assert "by the trial of 1" in told()
    assert "by the trial of 20" in told("--trial")
    monkeypatch.setenv(VARIABLE, "fragment,texel")
    assert "read by texelFetch\nchosen           GPUFLUID_WAY=fragment,texel" in told()


@pytest.mark.parametrize("version", ["3.3", "4.1"])
def test_without_compute_and_images(version: str, tmp_path: Path) -> None:
    """The versions of GL 3.3 and of macOS, in a process of their own: a trial of what there is."""
    environment = os.environ | {
        kept.VARIABLE: str(tmp_path),
        "MESA_GL_VERSION_OVERRIDE": version,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    done = python("-m", "gpufluid", "info", env=environment, check=True)
    if f"OpenGL           {version}\n" not in done.stdout:
        pytest.skip("the driver gives another version")
    (file,) = tmp_path.iterdir()
    assert set(json.loads(file.read_text())["ms"]) == {"fragment nearest", "fragment texel"}


def test_the_suite_reads_and_leaves_no_cache() -> None:
    assert os.environ[kept.VARIABLE] == kept.OFF and kept.cache_folder() is None
    own = create_context()
    assert is_own(own)
    assert trial.choose(own).why[0].startswith("by rule: ")
    own.release()


@pytest.mark.parametrize(("newest", "given"), [(460, 430), (420, 420), (410, 330)])
def test_a_driver_that_gives_just_what_it_is_asked_for_is_asked_for_compute_shaders_first(
    newest: int, given: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As NVIDIA's does: Mesa's gives the newest version whatever is asked for."""
    asked: list[int] = []
    make = moderngl.create_context

    def exact(*, require: int, **options: Any) -> moderngl.Context:
        asked.append(require)
        if require > newest:
            raise RuntimeError("no such version")
        return make(require=330, **options)

    monkeypatch.setattr(moderngl, "create_context", exact)
    own = create_context()
    assert asked[-1] == given and asked == sorted(asked, reverse=True)
    own.release()


@pytest.mark.parametrize(
    ("platform", "words"), [("win32", "driver of the graphics card"), ("darwin", "session at the screen")]
)
def test_without_opengl_each_system_has_a_remedy_of_its_own(
    monkeypatch: pytest.MonkeyPatch, platform: str, words: str
) -> None:
    def refuse(**given: object) -> None:
        raise RuntimeError("wglCreateContext failed")

    monkeypatch.setattr(moderngl, "create_context", refuse)
    monkeypatch.setattr(sys, "platform", platform)
    with pytest.raises(gf.GLUnavailableError, match=rf"CreateContext failed\): .*{words}.*numpy") as told:
        create_context()
    assert "Debian" not in str(told.value)


def test_macos_makes_no_context_that_it_has_to_throw_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """moderngl leaves one that is older than asked for to nobody: two for each fluid there, which has 4.1."""
    made = []
    make = moderngl.create_context

    def newest(*, require: int, standalone: bool) -> moderngl.Context:
        made.append(make(standalone=standalone, require=330, backend="egl"))  # type: ignore[call-arg]
        if require > 410:
            raise ValueError(f"Requested OpenGL version {require}, got version 410")
        return made[-1]

    monkeypatch.setattr(moderngl, "create_context", newest)
    monkeypatch.setattr(sys, "platform", "darwin")
    own = create_context()
    assert made == [own]
    own.release()
