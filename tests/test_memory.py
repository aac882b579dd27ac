"""Memory: what is released is given back, and what is made for a mesh goes with it."""

from __future__ import annotations

import gc
from typing import Any

import moderngl
import pytest
from host import Host
from soak import TINY, Busy, alive, decay, held, life, run_random

import gpufluid as gf
from gpufluid.gl.mesh_buffers import MeshBuffers


def test_lives_leave_nothing_behind(ctx: moderngl.Context) -> None:
    """Neither in the context nor in Python; the first lives make what a context keeps."""
    host = Host(ctx)
    keeper = gf.Fluid(gf.Grid((4, 4, 4), 0.1), ctx=ctx)  # holds the compiled programs
    told = []
    for lives in (3, 20):
        for _ in range(lives):
            life(ctx)
        gc.collect()
        told.append((alive(host), len(gc.get_objects())))
    keeper.release()
    host.release()
    (first, objects), (last, more) = told
    assert first["Texture"] > 5 and first["Program"] > 20
    assert last == first
    assert more - objects < 20


def test_steps_leave_nothing_behind(ctx: moderngl.Context) -> None:
    """200 of them, with pictures, samples, a solid that moves and a source that comes and goes."""
    busy = Busy(ctx)
    busy.run(70)
    before = held(ctx)
    busy.run(200)
    after = held(ctx)
    busy.release()
    assert sum(after.alive.values()) <= sum(before.alive.values()) + 4  # answers on their way have a buffer
    assert after.objects - before.objects < 20
    assert after.blocks - before.blocks < 200
    assert after.megabytes - before.megabytes < 8.0


@pytest.mark.parametrize("backend", ["fragment", "compute"])
def test_decay_ends_at_normal_numbers(backend: str) -> None:
    """As the soak's, with a faster decay: without an end it would be among the denormal numbers by then."""
    _, least = decay(backend, 250, rest=5e-4)
    assert least >= TINY


@pytest.mark.parametrize("seed", range(4))
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
