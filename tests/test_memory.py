"""Memory: what is released is given back, and what is made for a mesh goes with it."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import Any

import moderngl
import numpy as np
import pytest

import gpufluid as gf
from gpufluid.gl.mesh_buffers import MeshBuffers

CYCLES = 60


def resident() -> float:
    """Memory of this process, MB."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 / 1e6


def life(ctx: moderngl.Context) -> None:
    """A fluid with a mesh of its own, stepped, drawn and released."""
    fluid = gf.Fluid(gf.Grid((10, 12, 8), 0.1), settings=gf.Settings(pressure=gf.Multigrid(1)), ctx=ctx)
    fluid.emitters.add(gf.Emitter(gf.Sphere((0.5, 0.3, 0.4), 0.2), density=2.0, temperature=1.0))
    fluid.obstacles.add(gf.Obstacle(gf.Mesh.trefoil().fitted(0.4, center=(0.5, 0.8, 0.4))))
    fluid.step(0.05)
    fluid.sample([(0.5, 0.5, 0.4)]).velocity.sum()
    renderer, view = gf.FrameRenderer(ctx, (48, 32)), gf.VoxelView(ctx)
    scene = gf.Scene(fluid, camera=gf.Camera(target=(0.5, 0.6, 0.4), distance=3.0))
    renderer.draw(scene)
    view.render(fluid, scene.camera, renderer.shown)
    for thing in (view, renderer, fluid):
        thing.release()


@pytest.mark.skipif(sys.platform != "linux", reason="tells its memory on Linux")
def test_memory_stays_flat_over_many_lives(ctx: moderngl.Context) -> None:
    """In one context; half of them are there to reach what a process keeps for good."""
    keeper = gf.Fluid(gf.Grid((4, 4, 4), 0.1), ctx=ctx)  # holds the compiled programs
    told, objects = [], []
    for n in range(CYCLES):
        life(ctx)
        if n % 10 == 9:
            gc.collect()
            told.append(resident())
            objects.append(len(gc.get_objects()))
    keeper.release()
    assert told[-1] - told[2] < 2.0, f"MB after each ten: {np.round(told, 1)}"
    assert objects[-1] - objects[2] < 50, objects


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
