"""Warm smoke rises round an obstacle, lit from the side: a complete gpufluid program."""

from __future__ import annotations

import math
from typing import Any

import gpufluid as gf

SOFTWARE_CELLS = (64, 96, 64)  # what a software renderer steps several times a second
GPU_CELLS = (96, 144, 96)
HEIGHT = 1.5  # m


def scene(
    obstacle: gf.Mesh | None = None,
    cells: tuple[int, int, int] | None = None,
    backend: str = "auto",
    ctx: Any = None,
) -> gf.Scene:
    """A closed box 1.5 m high, a hot source near its floor, and a mesh above it."""
    cells = cells or (SOFTWARE_CELLS if gf.is_software(ctx) else GPU_CELLS)
    size = HEIGHT / cells[1]
    fluid = gf.Fluid(
        gf.Grid(cells, size, origin=(-0.5 * size * cells[0], 0.0, -0.5 * size * cells[2])),
        boundaries=gf.Boundaries.all(gf.Wall(slip="free")),
        settings=gf.Settings(vorticity_confinement=0.6, buoyancy=2.2, cooling=0.7, density_dissipation=0.5),
        backend=backend,
        ctx=ctx,
    )
    mesh = (obstacle or gf.Mesh.trefoil()).fitted(0.42)
    fluid.obstacles.add(gf.Obstacle(mesh, position=(0.0, 0.56, 0.0)))
    source = fluid.emitters.add(
        gf.Emitter(
            gf.Sphere(radius=0.08), density=2.3, temperature=1.0, velocity=(0.0, 0.5, 0.0), falloff=0.0156
        )
    )

    def sway(_: gf.Scene, time: float) -> None:
        source.shape = gf.Sphere((0.02 * math.sin(7.0 * time), 0.1, 0.02 * math.cos(5.0 * time)), 0.08)

    return gf.Scene(
        fluid,
        camera=gf.Camera(target=(0.0, 0.73, 0.0), distance=2.75, azimuth=55.0, elevation=6.0),
        light=gf.Light(direction=(-0.6, -0.5, 0.65), color=(5.2, 4.1, 2.9), ambient=(0.13, 0.19, 0.29)),
        smoke=gf.Smoke(extinction=140.0, edge=0.1),
        floor=0.0,
        update=sway,
        title="gpufluid: plume",
    )


if __name__ == "__main__":
    gf.run(scene)
