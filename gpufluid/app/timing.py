"""How fast this machine steps a plume and draws it: what is timed, and how.

The engine and a plain baseline take turns in one run, so that whatever else the machine does slows both.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from gpufluid.contract.backend import Backend, release
from gpufluid.description.boundaries import Boundaries
from gpufluid.description.grid import Grid
from gpufluid.description.mesh import Mesh
from gpufluid.description.obstacles import Obstacle
from gpufluid.description.settings import Settings
from gpufluid.description.shapes import Sphere
from gpufluid.description.solvers import Jacobi, Multigrid
from gpufluid.description.sources import Emitter
from gpufluid.description.view import Camera
from gpufluid.engine.fluid import Fluid
from gpufluid.numerics.solver import Solver
from gpufluid.reference.numpy_backend import NumpyBackend
from gpufluid.scene.scene import Scene

if TYPE_CHECKING:
    import moderngl

    from gpufluid.gl.device import Device

SWEEPS = Jacobi(iterations=40)
# plain: what other libraries do by default, never split and never started warm, so that it compares
PROFILES = {
    "plain": Settings(
        advection="semi-lagrangian",
        trace="euler",
        cfl=None,
        pressure=SWEEPS,
        warm_start=False,
        vorticity_confinement=0.35,
    ),
    "default": Settings(vorticity_confinement=0.35),
    "best": Settings(
        advection="maccormack", cfl=None, pressure=Multigrid(cycles=2), vorticity_confinement=0.35
    ),
}
SAMPLES, NUMPY_SAMPLES = 15, 3
WARM_UP = 3  # steps
WARM_SECONDS = 0.5  # on a GPU, which is slow at first after a rest
PICTURE = (640, 360)  # pixels
COPIED = {True: 1 << 26, False: 1 << 28}  # bytes, in software and on a GPU: past all caches
COPIED_EACH = 1 << 14  # by a workgroup: 256 invocations, four vec4 each

Milliseconds = dict[str, list[float]]


class Case:
    """The plume that is measured: a hot source below a knot, in a closed box 1 m wide.

    rules: settings in place of the profile's, where they are not None.
    """

    def __init__(
        self,
        cells: tuple[int, int, int],
        profile: str = "plain",
        solids: bool = True,
        **rules: Any,
    ) -> None:
        self.grid = Grid(cells, cell_size=1.0 / max(cells[0], 1))
        given = {name: value for name, value in rules.items() if value is not None}
        self.profile, self.settings = profile, PROFILES[profile].but(**given)
        self.dt = self.grid.cell_size  # s: smoke at 1 m/s moves one cell a step, at every resolution
        across, up, deep = self.grid.size
        width = min(across, up)
        self.emitters = [
            Emitter(Sphere((across / 2, 0.15 * up, deep / 2), 0.1 * width), density=2.0, temperature=1.0)
        ]
        knot = Mesh.trefoil().fitted(0.4 * width)
        self.obstacles = [Obstacle(knot, position=(across / 2, 0.5 * up, deep / 2))] if solids else []


class Subject:
    """A solver at work on a case, the engine's or the baseline's, and the times it took, ms.

    python_ms: what the calling thread itself works in a step, Python and the driver's share, without waiting.
    passes_ms: from the driver's queries, in steps of their own, since queries cost a little.
    first_ms: of the first step, in which the driver compiles the shaders, or finds those it has kept.
    """

    def __init__(self, backend: Backend, case: Case) -> None:
        self.case, self.backend = case, backend
        self.device: Device | None = getattr(backend, "device", None)
        self.solver = Solver(backend, case.settings, Boundaries())
        self.step_ms: list[float] = []
        self.jacobi_ms: list[float] = []
        self.python_ms: list[float] = []
        self.passes_ms: Milliseconds = {}
        self.first_ms = 0.0

    def step(self) -> None:
        """Ask for one step."""
        self.solver.step(self.case.dt, self.case.emitters, self.case.obstacles)

    def sweep(self) -> None:
        """Ask for 40 Jacobi sweeps."""
        solver = self.solver
        solver.projection.relax(SWEEPS, self.case.dt, solver.variant, solver.solids.openings)

    def sample(self) -> None:
        """Time a step, the sweeps alone, and the passes of a step."""
        whole, own = timed(self.step, self.backend.finish)
        self.step_ms.append(whole)
        self.python_ms.append(own)
        self.jacobi_ms.append(timed(self.sweep, self.backend.finish)[0])
        if self.device is not None:
            add_passes(self.passes_ms, self.device, self.step)

    def release(self) -> None:
        """Release fields and passes."""
        self.solver.release()
        self.backend.release()


def timed(work: Callable[[], None], finish: Callable[[], None]) -> tuple[float, float]:
    """Return the ms until the device has finished `work`, and those that this thread works itself."""
    finish()
    start, own = time.perf_counter(), time.thread_time()
    work()
    own = time.thread_time() - own
    finish()
    return (time.perf_counter() - start) * 1e3, own * 1e3


def add_passes(taken: Milliseconds, device: Device, work: Callable[[], None]) -> None:
    """Add to `taken` the time of each pass of `work` by the driver's queries, ms; repeats are summed."""
    device.timings = {}
    work()
    times = device.milliseconds()
    for name, each in times.items():
        taken.setdefault(label(name, each), []).append(sum(each))


def label(name: str, each: Sequence[float]) -> str:
    """How a pass that ran as often is called."""
    return name.removesuffix("_unpacked") + (f" x{len(each)}" if len(each) > 1 else "")


def copy_bandwidth(ctx: moderngl.Context, software: bool) -> float:
    """Return the bytes per second, read and written, at which the device copies a large buffer.

    By the driver's own copy, or by a compute pass where that is faster: a GPU may leave copies to an engine
    that is slower than its cores.
    """
    from gpufluid.gl import enums
    from gpufluid.gl.calls import calls
    from gpufluid.gl.source import Source
    from gpufluid.gl.ways import stages

    size, computes = COPIED[software], "compute" in stages(ctx.version_code) and not software
    if computes:  # OpenGL promises 128 MB; what lies beyond is not copied
        size = min(size, calls(ctx).integers(enums.MAX_SHADER_STORAGE_BLOCK_SIZE)[0])
        size -= size % COPIED_EACH
    one, other = ctx.buffer(bytes(size)), ctx.buffer(reserve=size)
    ways: list[Callable[[], None]] = [lambda: ctx.copy_buffer(other, one)]
    copy = None
    if computes:
        source = Source("copy (compute)", 430).include("bench/copy.glsl")
        copy = ctx.compute_shader(source.text)
        one.bind_to_storage_buffer(0)
        other.bind_to_storage_buffer(1)
        ways.append(partial(copy.run, size // COPIED_EACH))
    times = [median(timed(way, ctx.finish)[0] for _ in range(SAMPLES)) for way in ways]
    release(one, other, copy)
    return 2.0 * size / (min(times) * 1e-3)


def warm_up(work: Callable[[], None], finish: Callable[[], None], software: bool) -> None:
    """Do `work` until it takes as long as it will."""
    end = time.perf_counter() + (0.0 if software else WARM_SECONDS)
    done = 0
    while done < WARM_UP or time.perf_counter() < end:
        work()
        finish()
        done += 1


def take_turns(subjects: Sequence[Subject], samples: int) -> None:
    """Warm `subjects` up, then sample each in turn."""
    for subject in subjects:
        subject.first_ms = timed(subject.step, subject.backend.finish)[0]
        warm_up(subject.step, subject.backend.finish, subject.device is None or subject.device.software)
    for _ in range(samples):
        for subject in subjects:
            subject.sample()


def measure_numpy(case: Case, samples: int) -> dict[str, Any]:
    """Return what there is to report without OpenGL: the steps and the sweeps."""
    subject = Subject(NumpyBackend(case.grid), case)
    take_turns([subject], samples)
    subject.release()
    return {**described(case), "renderer": None, "stage": "numpy", "reading": None, **_timings(subject)}


def measure_gl(
    ctx: moderngl.Context, case: Case, backend: str, samples: int, baseline: bool
) -> dict[str, Any]:
    """Return what there is to report of the steps in a context; `baseline`: of the baseline's too."""
    from gpufluid.app.baseline import BaselineBackend
    from gpufluid.gl.backend import GLBackend
    from gpufluid.gl.trial import choose

    engine = GLBackend(case.grid, backend, ctx, case.settings.precision)
    device, why = engine.device, choose(ctx, backend).why
    subjects = [Subject(engine, case)]
    if baseline:
        subjects.append(Subject(BaselineBackend(case.grid, ctx), case))
    take_turns(subjects, samples)
    moved = device.bytes_of(subjects[0].step)
    report = {
        **described(case),
        "renderer": device.renderer,
        "software": device.software,
        "gl_version": f"{device.version // 100}.{device.version % 100 // 10}",
        "stage": device.stage,
        "reading": device.reading,
        "chosen": why[0],
        **_timings(*subjects),
        "passes_ms": _medians(subjects[0].passes_ms),
        "baseline_passes_ms": _medians(subjects[-1].passes_ms) if baseline else {},
        "passes_bytes": {label(name, each): sum(each) for name, each in moved.items()},
        "copy_bytes_per_second": copy_bandwidth(ctx, device.software),
        "python_ms": median(subjects[0].python_ms),
        "compile_ms": max(subjects[0].first_ms - median(subjects[0].step_ms), 0.0),
        "field_bytes": device.field_bytes,
    }
    release(*subjects)
    return report


def measure_picture(
    ctx: moderngl.Context, case: Case, backend: str, samples: int, method: str
) -> dict[str, float]:
    """Return the parts of a picture of the case with smoke all through its middle, and the whole; ms."""
    from gpufluid.render.frame import FrameRenderer
    from gpufluid.render.volume import VolumeRenderer

    with Fluid(case.grid, None, case.settings, backend, ctx) as fluid:
        for emitter in case.emitters:
            fluid.emitters.add(emitter)
        for obstacle in case.obstacles:
            fluid.obstacles.add(obstacle)
        x, y, z = (np.linspace(-1.0, 1.0, n) if n > 1 else np.zeros(1) for n in case.grid.cells)
        fluid.density.write(np.exp(-4.0 * (x**2 + y[:, None] ** 2 + z[:, None, None] ** 2)))
        fluid.step(case.dt)
        across, up, deep = case.grid.size
        camera = Camera((across / 2, up / 2, deep / 2), distance=2.5 * max(across, up, deep), azimuth=25.0)
        scene = Scene(fluid, camera, floor=0.0)
        volume = VolumeRenderer(ctx, method=method, reuse=False)  # its smoke stands still
        renderer = FrameRenderer(ctx, size=PICTURE, volume=volume)

        def draw() -> None:
            renderer.draw(scene)

        draw()
        parts: Milliseconds = {}
        whole = []
        assert fluid.device is not None
        for _ in range(samples):
            whole.append(timed(draw, ctx.finish)[0])
            add_passes(parts, fluid.device, draw)
        renderer.release()
        volume.release()
    return {**_medians(parts), "frame": median(whole)}


def _medians(taken: Milliseconds) -> dict[str, float]:
    return {label: median(times) for label, times in taken.items()}


def described(case: Case) -> dict[str, Any]:
    """What is measured, and on which machine."""
    return {
        "profile": case.profile,
        "cells": list(case.grid.cells),
        "solids": bool(case.obstacles),
        "cpu": cpu_model(),
        "cores": core_count(),
    }


def _timings(engine: Subject, baseline: Subject | None = None) -> dict[str, Any]:
    return {
        "step_ms": engine.step_ms,
        "jacobi_ms": engine.jacobi_ms,
        "baseline_step_ms": baseline.step_ms if baseline else [],
        "baseline_jacobi_ms": baseline.jacobi_ms if baseline else [],
        "cells_per_second": engine.case.grid.cell_count / median(engine.step_ms) * 1e3,
    }


def cpu_model() -> str:
    """Return the processor's name, as Linux tells it, else as Python does."""
    try:
        told = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        told = ""
    names = [line.partition(":")[2].strip() for line in told.splitlines() if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def core_count() -> int:
    """Return the cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
