"""Memory: what is released is given back, and what is made for a mesh goes with it."""

from __future__ import annotations

import gc
import tracemalloc
import weakref
from itertools import pairwise
from pathlib import Path
from typing import Any

import moderngl
import numpy as np
import pytest
from host import Host
from sharing import CELLS
from soak import TINY, Busy, alive, decay, full_life, held, life, run_random

import gpufluid as gf
from gpufluid.gl.contexts import FEW, _own, create_context
from gpufluid.gl.device import Device
from gpufluid.gl.mesh_buffers import MeshBuffers
from gpufluid.gl.programs import compiled
from gpufluid.gl.state import gone


def test_lives_leave_nothing_behind(ctx: moderngl.Context) -> None:
    """Neither in the context nor in Python; the first lives make what a context keeps."""
    host = Host(ctx)
    keeper = gf.Fluid(gf.Grid((4, 4, 4), 0.1), ctx=ctx)  # holds the compiled programs
    told = []
    for lives in (3, 7):
        for _ in range(lives):
            life(ctx)
        gc.collect()
        told.append((alive(host), len(gc.get_objects())))
    keeper.release()
    host.release()
    (first, objects), (last, more) = told
    assert first["Texture"] > 5 and first["Program"] > 20
    assert last == first
    assert more - objects < 5


def test_lives_with_all_there_is_leave_nothing_behind(ctx: moderngl.Context) -> None:
    host = Host(ctx)
    keeper = gf.Fluid(gf.Grid((4, 4, 4), 0.1), ctx=ctx)
    told = []
    for _ in range(2):
        full_life(ctx)
        gc.collect()
        told.append(alive(host))
    keeper.release()
    host.release()
    assert told[0] == told[1]


def test_nothing_counts_on_what_a_new_texture_holds(ctx: moderngl.Context, monkeypatch: Any) -> None:
    """Mesa makes it 0; other drivers leave what was there before."""
    clean, real = full_life(ctx), Device.texture

    def dirty(self: Device, size: tuple[int, int], components: int, dtype: str, what: str) -> Any:
        texture = real(self, size, components, dtype, what)
        count, kind = size[0] * size[1] * components, texture.dtype
        foul = np.full(count, 171, np.uint8) if kind == "f1" else np.full(count, np.nan, kind)
        texture.write(foul.tobytes(), alignment=1)
        return texture

    monkeypatch.setattr(Device, "texture", dirty)
    foul = full_life(ctx)
    assert clean["flame"].any() and clean["picture"].std() > 5.0
    for name, values in clean.items():
        np.testing.assert_array_equal(foul[name], values, err_msg=name)


def test_the_last_one_out_takes_the_programs_along() -> None:
    own = create_context()
    gf.keep_state(own, True)  # or the last program would stay in use, and so alive
    host = Host(own)
    told = [alive(host)]
    for _ in range(2):
        with gf.Fluid(gf.Grid((4, 4, 4), 0.1), backend="fragment", ctx=own) as fluid:
            fluid.step(0.1)
            assert alive(host)["Program"] > told[0]["Program"] + 10
        told.append(alive(host))
    assert told[0]["Program"] == told[1]["Program"]
    assert told[1] == told[2]
    # a driver may give their names to other programs, of which nothing must then seem known
    assert not any(len(kept) for name, kept in vars(compiled[own]).items() if name != "users")
    host.release()
    own.release()


def test_fluids_that_are_dropped_are_let_go() -> None:
    """As a cell of a notebook makes them anew; but not the context that somebody else is in as well."""
    grid, sides = gf.Grid((4, 4, 4), 0.1), gf.Boundaries.all(gf.Open())
    first = gf.Fluid(grid, sides)
    shared = first.ctx
    assert shared is not None
    second = gf.Fluid(grid, sides, ctx=shared)
    first.step(0.1)
    second.step(0.1)
    del first
    contexts = []
    gc.disable()
    try:
        for _ in range(2 * sum(not gone(ctx) for ctx in _own) + FEW + 2):
            fluid = gf.Fluid(grid, sides)
            fluid.step(0.1)
            contexts.append(fluid.ctx)
    finally:
        gc.enable()
    assert 1 <= sum(not gone(ctx) for ctx in contexts) < len(contexts), "Python was asked for them"
    gc.collect()
    with gf.Fluid(grid, sides) as last:
        last.step(0.1)
        assert [gone(ctx) for ctx in contexts] == [True] * (len(contexts) - 1) + [False], "the last is held"
        fluid.step(0.1)
        assert not gone(shared)
        second.step(0.1)
        assert np.isfinite(second.velocity.read()).all()
    del second
    gc.collect()
    fluid.release()
    with gf.Fluid(grid, sides):
        assert gone(shared)


@pytest.mark.parametrize("backend", ["fragment", "compute"])
def test_expressions_that_no_force_has_any_more_are_let_go(backend: str) -> None:
    """But for the latest few; another fluid goes on with one they share; and each does what it says."""
    own = create_context()
    host, cells, dt = Host(own), gf.Grid((4, 4, 4), 0.1), 0.1
    rules = gf.Settings(buoyancy=0.0, pressure=gf.Jacobi(0))
    sides = gf.Boundaries.all(gf.Periodic())
    with (
        gf.Fluid(cells, sides, rules, backend, own) as fluid,
        gf.Fluid(cells, sides, rules, backend, own) as other,
    ):
        other.forces.add(gf.ForceExpression("vec3(0.0, float(3), 0.0)"))
        counts, speed = [], 0.0
        for n in range(20):
            force = fluid.forces.add(gf.ForceExpression(f"vec3(0.0, float({n % 15}), 0.0)"))
            fluid.step(dt)
            fluid.forces.remove(force)
            speed += dt * (n % 15)
            np.testing.assert_allclose(fluid.velocity.read()[:4, :4, :4, 1], speed, rtol=1e-5)
            counts.append(alive(host, "Program")["Program"])
            if n in (5, 13):
                other.step(dt)
        other.step(dt)
        np.testing.assert_allclose(other.velocity.read()[:4, :4, :4, 1], 0.9, rtol=1e-5)
        assert max(counts) <= counts[3] + 8
    host.release()
    own.release()


def test_steps_leave_nothing_behind(ctx: moderngl.Context) -> None:
    """100 of them, with pictures, samples, a solid that moves and a source that comes and goes."""
    busy = Busy(ctx)
    busy.run(70)
    before = held(ctx)
    busy.run(100)
    after = held(ctx)
    busy.release()
    assert sum(after.alive.values()) <= sum(before.alive.values()) + 4  # answers on their way have a buffer
    assert after.objects - before.objects < 10
    assert after.blocks - before.blocks < 100
    assert after.megabytes - before.megabytes < 4.0


@pytest.mark.parametrize("backend", ["fragment", "compute"])
def test_decay_ends_at_normal_numbers(backend: str) -> None:
    """As the soak's, with a faster decay: without an end it would be among the denormal numbers by then."""
    _, least = decay(backend, 250, rest=5e-4)
    assert least >= TINY


@pytest.mark.filterwarnings("ignore::gpufluid.ShapeWarning")  # some stand outside
@pytest.mark.filterwarnings("ignore:a step of")  # some are very fast
@pytest.mark.parametrize("seed", [0, 3])  # the ones with the most in them; the soak runs many more
def test_random_scenes_stay_finite(ctx: moderngl.Context, seed: int) -> None:
    run_random(seed, ("fragment", "compute")[seed % 2], 2, ctx)


def test_answers_that_nobody_reads_are_given_back(ctx: moderngl.Context, monkeypatch: Any) -> None:
    """A program that samples at every frame and looks now and then."""
    from gpufluid.gl.late import LateRead

    alive: list[Any] = []
    real = LateRead.__init__

    def counted(self: Any, texture: Any) -> None:
        real(self, texture)
        alive.append(self)

    monkeypatch.setattr(LateRead, "__init__", counted)
    with gf.Fluid(gf.Grid((6, 6, 6), 0.1), ctx=ctx) as fluid:
        kept = fluid.sample([(0.3, 0.3, 0.3)])
        for _ in range(10):
            fluid.sample([(0.3, 0.3, 0.3)])
            gc.collect()
        held = [late for late in alive if late._buffer is not None]
        assert len(alive) == 22 and len(held) <= 4
        assert kept.velocity.shape == (1, 3)


def test_answers_outlive_their_fluid_and_leave_nothing_behind(ctx: moderngl.Context) -> None:
    """Those that were still held when it was released kept their buffers, of a context of its own nothing."""
    host = Host(ctx)
    before = alive(host, "Buffer")["Buffer"]
    for own in (False, True):
        fluid = gf.Fluid(gf.Grid((4, 4, 4), 0.25), backend="fragment", ctx=None if own else ctx)
        fluid.density.write(np.full((4, 4, 4), 2.0))
        read, dropped = fluid.sample([(0.5, 0.5, 0.5)]), fluid.sample([(0.5, 0.5, 0.5)])
        fluid.release()
        assert read.ready and read.density.tolist() == [2.0]
        del dropped
        ctx.__enter__()
    assert alive(host, "Buffer")["Buffer"] == before
    host.release()


def test_what_was_made_for_a_mesh_goes_with_it(ctx: moderngl.Context, monkeypatch: Any) -> None:
    """Meshes that come and go leave nothing; one that moves keeps its buffers."""
    program = ctx.program(
        vertex_shader="#version 330\nin vec3 position; void main() { gl_Position = vec4(position, 1.0); }"
    )
    made: list[Any] = []
    real = type(ctx).buffer

    def counted(self: Any, *given: Any, **by_name: Any) -> Any:
        made.append(real(self, *given, **by_name))
        return made[-1]

    monkeypatch.setattr(type(ctx), "buffer", counted)

    def alive() -> int:
        return sum(not isinstance(buffer.mglo, moderngl.InvalidObject) for buffer in made)

    buffers, mesh = MeshBuffers(ctx, normals=False), gf.Mesh.icosphere(1)
    for n in range(5):
        buffers.vertex_array(mesh.moved(mesh.vertices + n), program)
    assert alive() == len(made) == 2
    for _ in range(5):
        buffers.vertex_array(gf.Mesh.icosphere(1), program)
        gc.collect()
    assert len(made) == 12 and alive() <= 4
    buffers.release()
    assert alive() == 0


def test_steps_leave_no_python_memory_behind(ctx: moderngl.Context) -> None:
    """Steps in which all changes that may; CPython itself keeps names of attributes it has looked up.

    All is counted from before the fluid: what is put together anew takes the place of what counted. The
    middle of three stretches counts: once, a list of calls is replaced or numbers outgrow the small integers.
    """
    rules = gf.Settings(pressure=gf.Multigrid(1), combustion=gf.Combustion())
    first, stretch = 60, 30  # steps
    ours = tracemalloc.Filter(True, f"{Path(gf.__file__).parent}/*")
    tracemalloc.start()
    try:
        with gf.Fluid(gf.Grid(CELLS, 0.1), settings=rules, backend="compute", ctx=ctx) as fluid:
            flame = fluid.emitters.add(
                gf.Emitter(
                    gf.Sphere((0.3, 0.2, 0.3), 0.15), fuel=2.0, temperature=1, noise=0.5, color=(1, 0, 0)
                )
            )
            line = fluid.emitters.add(
                gf.Emitter(gf.Line([(0.1, 0.1, 0.1), (0.5, 0.5, 0.5)], 0.1), density=1.0)
            )
            ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.1), position=(0.3, 0.5, 0.3)))
            wind = fluid.forces.add(gf.Wind((1, 0, 0)))

            def steps(start: int, end: int) -> tuple[int, int]:
                for n in range(start, end):
                    flame.temperature = 1.0 + 0.01 * n
                    line.position = wind.velocity = (0.0001 * n, 0, 0)
                    ball.position = (0.3 + 0.0002 * n, 0.5, 0.3)
                    fluid.step(0.01 + 1e-5 * n)
                gc.collect()
                traces = tracemalloc.take_snapshot().filter_traces([ours]).traces
                return sum(trace.size for trace in traces), tracemalloc.get_traced_memory()[0]

            ends = range(first, first + 3 * stretch + 1, stretch)
            held = [steps(n - stretch if n > first else 0, n) for n in ends]
    finally:
        tracemalloc.stop()
    grown, all_grown = (sorted(b - a for a, b in pairwise(each))[1] for each in zip(*held, strict=True))
    assert grown < stretch * 8
    assert all_grown < stretch * 300


def test_a_mesh_forgets_the_fluids_that_are_gone(ctx: moderngl.Context) -> None:
    """It called one after the other when it went itself."""
    mesh, known = gf.Mesh.icosphere(1), weakref.finalize._registry  # type: ignore[attr-defined]
    before = len(known)
    for _ in range(3):
        with gf.Fluid(gf.Grid((8, 8, 8), 1 / 8), ctx=ctx) as fluid:
            fluid.obstacles.add(gf.Obstacle(mesh, (0.5, 0.5, 0.5)))
            fluid.step(0.01)
    gc.collect()
    assert len(known) <= before + 1


def test_confinement_that_is_no_more_holds_nothing(ctx: moderngl.Context) -> None:
    """Its two fields stayed, and its passes ran on with strength 0."""
    with gf.Fluid(gf.Grid((8, 8, 8), 1 / 8), ctx=ctx) as fluid:
        plain = fluid.settings.but(vorticity_confinement=0.0)
        fluid.settings = plain
        held = len(fluid.device.fields)
        fluid.settings = plain.but(vorticity_confinement=0.3)
        fluid.step(0.01)
        assert len(fluid.device.fields) == held + 2
        fluid.settings = plain
        fluid.step(0.01)
        assert len(fluid.device.fields) == held


def held_by(host: Host) -> tuple[int, int]:
    """Textures and framebuffers; programs are kept as long as a context is."""
    names = alive(host, "Texture", "Framebuffer")
    return names["Texture"], names["Framebuffer"]


def fail_at(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Let there be no memory for that texture of those that are made from now on."""
    real, made = Device.texture, 0

    def scarce(self: Device, *given: Any) -> moderngl.Texture:
        nonlocal made
        made += 1
        if made == number:
            raise gf.GpufluidError("no memory left")
        return real(self, *given)

    monkeypatch.setattr(Device, "texture", scarce)


def test_settings_that_find_no_memory_change_nothing(
    ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once schemes had been left without the fields they need, and half of the new ones stayed."""
    host, grid = Host(ctx), gf.Grid(CELLS, 0.1)
    plain = gf.Settings(combustion=gf.Combustion(), pressure=gf.Jacobi(4))
    other = plain.but(advection="bfecc", vorticity_confinement=0.3, combustion=None, viscosity=1e-3)
    with gf.Fluid(grid, settings=plain, ctx=ctx) as fluid, gf.Fluid(grid, settings=plain, ctx=ctx) as twin:
        for one in (fluid, twin):
            one.emitters.add(gf.Emitter(gf.Sphere((0.4, 0.3, 0.3), 0.2), fuel=4.0, temperature=2.0))
            one.step(0.05)
        failed = 0
        for number in range(1, 30):
            before = held_by(host)
            with monkeypatch.context() as patch:
                fail_at(patch, number)
                try:
                    fluid.settings = other
                except gf.GpufluidError:
                    failed += 1
                else:
                    break
            assert fluid.settings == plain
            assert held_by(host) == before
            for one in (fluid, twin):
                one.step(0.02)
            for name in ("velocity", "temperature", "flame", "pressure"):
                np.testing.assert_array_equal(getattr(fluid, name).read(), getattr(twin, name).read())
        assert failed == 9 and fluid.settings == other
        fluid.step(0.02)
    host.release()


def test_settings_that_find_no_memory_after_a_step_in_slices_are_put_off(
    ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They were told of as those it is stepped by from then on."""
    with gf.Fluid(gf.Grid(CELLS, 0.1), settings=gf.Settings(pressure=gf.Jacobi(4)), ctx=ctx) as fluid:
        plain = fluid.settings
        assert not fluid.advance(0.05, 1e-6)
        fluid.settings = plain.but(vorticity_confinement=0.3)
        with monkeypatch.context() as patch:
            fail_at(patch, 1)
            with pytest.raises(gf.GpufluidError, match="no memory"):
                fluid.finish()
        assert fluid.settings == plain and fluid.time == pytest.approx(0.05)


def test_a_fluid_that_finds_no_memory_leaves_nothing_behind(
    ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    host, keeper = Host(ctx), gf.Fluid(gf.Grid((4, 4, 4), 0.1), ctx=ctx)
    before, samplers = held_by(host), alive(host, "Sampler")
    for number in (1, 2, 7, 12):
        with monkeypatch.context() as patch:
            fail_at(patch, number)
            with pytest.raises(gf.GpufluidError, match="no memory"):
                gf.Fluid(gf.Grid(CELLS, 0.1), ctx=ctx)
        assert held_by(host) == before
    with pytest.raises(gf.GpufluidError, match="the limit here is"):
        gf.Fluid(gf.Grid((4096, 4096, 4096)), ctx=ctx)
    assert held_by(host) == before and alive(host, "Sampler") == samplers
    keeper.release()
    host.release()
