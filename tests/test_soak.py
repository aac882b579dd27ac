"""The long runs of ``make soak``: memory that stays flat, decay that stays fast, scenes of every kind."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import moderngl
import pytest
from soak import TINY, Busy, Held, decay, held, life, run_random

import gpufluid as gf

pytestmark = pytest.mark.soak


def told(what: str, started: float, before: Held, after: Held) -> None:
    """Say what was measured."""
    print(f"\n{what}: {time.perf_counter() - started:.0f} s;", end=" ")
    print(f"process {before.megabytes:.1f} to {after.megabytes:.1f} MB,", end=" ")
    print(
        f"Python {before.objects} to {after.objects} objects, {before.blocks} to {after.blocks} blocks,",
        end=" ",
    )
    print(f"OpenGL {sum(before.alive.values())} to {sum(after.alive.values())} objects")


def least(ctx: moderngl.Context, run: Callable[[int], object]) -> Held:
    """What is held at the least: the driver frees some 17 MB of what it has drawn with sooner or later."""
    looks = []
    for _ in range(5):
        run(5)
        looks.append(held(ctx))
    return min(looks, key=lambda look: look.megabytes)


def check_flat(ctx: moderngl.Context, what: str, run: Callable[[int], object], times: int) -> None:
    """Nothing grows while `run` does something so many times."""
    started, before = time.perf_counter(), least(ctx, run)
    run(times)
    after = least(ctx, run)
    told(what, started, before, after)
    assert sum(after.alive.values()) <= sum(before.alive.values()) + 4  # answers on their way have a buffer
    assert after.objects - before.objects < 50
    assert after.blocks - before.blocks < 1000
    assert after.megabytes - before.megabytes < 4.0


def test_200_lives(ctx: moderngl.Context) -> None:
    keeper = gf.Fluid(gf.Grid((4, 4, 4), 0.1), ctx=ctx)  # holds the compiled programs

    def lives(times: int) -> None:
        for _ in range(times):
            life(ctx)

    lives(200)  # what the driver and the allocator keep for themselves grows that long, then no more
    check_flat(ctx, "200 lives", lives, 200)
    keeper.release()


def test_10000_steps(ctx: moderngl.Context) -> None:
    busy = Busy(ctx)
    busy.run(2000)  # the allocator takes its last piece within the first 1,000, and then no more
    check_flat(ctx, "10000 steps", busy.run, 10_000)
    busy.release()


@pytest.mark.parametrize(
    ("backend", "steps"), [("fragment", 100_000), ("compute", 100_000), ("numpy", 20_000)]
)
def test_decay_stays_fast(backend: str, steps: int) -> None:
    """Down to 1e-200 of the start and further, were there no end; NumPy's steps are slow, and fewer."""
    started = time.perf_counter()
    slower, least = decay(backend, steps, rest=0.8)
    took = time.perf_counter() - started
    print(f"\n{steps} steps of decay, {backend}: {took:.0f} s; then they take {slower:.3f} of a fresh one's,")
    print(f"the least number that is not 0 is {least:.3g}")
    assert slower < 1.2
    assert least >= TINY


@pytest.mark.parametrize("backend", ["fragment", "compute", "numpy"])
def test_random_scenes(backend: str) -> None:
    gf.debug("gl", "numbers")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's own, of large numbers
            for seed in range(60):
                run_random(seed, backend)
    finally:
        gf.debug("gl")
