"""What a step costs Python itself, with the draw and dispatch calls left out."""

from __future__ import annotations

import sys
from statistics import median
from time import thread_time
from typing import Any

import moderngl
import pytest
from sharing import CELLS
from undrawn import undrawn

import gpufluid as gf

SETTINGS = {
    "plain": gf.Settings(advection="semi-lagrangian", cfl=None),
    "default": gf.Settings(),
    "multigrid": gf.Settings(pressure=gf.Multigrid()),
}
# Python and C functions called in a step, which no load on the machine changes; some 0.2 microseconds each
CALLS = {"plain": 2000, "default": 2100, "multigrid": 2400}


def smoking(ctx: moderngl.Context, name: str, backend: str, cells: int) -> gf.Fluid:
    """A fluid with an emitter, stepped until all is compiled."""
    fluid = gf.Fluid(gf.Grid((cells,) * 3, 1.0 / cells), settings=SETTINGS[name], backend=backend, ctx=ctx)
    fluid.emitters.add(
        gf.Emitter(gf.Sphere((0.5, 0.2, 0.5), 0.15), density=2.0, temperature=1.0, velocity=(0, 1, 0))
    )
    for _ in range(2):
        fluid._solver.step(1 / 60, list(fluid.emitters), [])
    return fluid


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("backend", ["compute", "fragment"])
def test_a_step_calls_few_functions(ctx: moderngl.Context, name: str, backend: str) -> None:
    """As many as 1.5 ms allow with room to spare; counted, since a loaded machine takes its time."""
    with smoking(ctx, name, backend, 32) as fluid:
        called = 0

        def count(frame: Any, event: str, argument: Any) -> None:
            nonlocal called
            called += event in ("call", "c_call") and frame.f_code is not left_out

        emitters, before = list(fluid.emitters), sys.getprofile()
        with undrawn() as left_out:
            sys.setprofile(count)
            try:
                fluid._solver.step(1 / 60, emitters, [])
            finally:
                sys.setprofile(before)
    assert CALLS[name] / 4 < called < CALLS[name]


@pytest.mark.parametrize("name", SETTINGS)
def test_python_time(ctx: moderngl.Context, name: str) -> None:
    """Three times what it must keep on a machine of its own: the processor may be at other work as well."""
    with smoking(ctx, name, "auto", 32) as fluid:
        taken = []  # by the thread's own clock, so that other work on the machine counts little
        with undrawn():
            for _ in range(15):
                start = thread_time()
                fluid.step(1 / 60)
                taken.append(1e3 * (thread_time() - start))
        assert 0.05 < median(taken) < 3 * 1.5


def test_two_fluids_that_share_programs_do_not_mix_up_their_numbers(ctx: moderngl.Context) -> None:
    """A program keeps what it was sent last; another fluid on the same grid may send it something else."""

    def made(dt: float) -> tuple[gf.Fluid, float]:
        fluid = gf.Fluid(gf.Grid(CELLS, 0.1), backend="fragment", ctx=ctx)
        fluid.emitters.add(gf.Emitter(gf.Sphere((0.4, 0.3, 0.4), 0.2), density=1.0, temperature=2.0))
        return fluid, dt

    def run(*fluids: tuple[gf.Fluid, float]) -> list[bytes]:
        for _ in range(3):
            for fluid, dt in fluids:
                fluid.step(dt)
        told = [fluid.velocity.read().tobytes() + fluid.density.read().tobytes() for fluid, _ in fluids]
        for fluid, _ in fluids:
            fluid.release()
        return told

    together = run(made(0.03), made(0.07))
    assert together == [*run(made(0.03)), *run(made(0.07))]
    assert together[0] != together[1]
