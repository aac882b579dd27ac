"""Warm smoke rises round an obstacle, lit from the side: the shortest complete gpufluid program."""

from __future__ import annotations

from typing import Any

import gpufluid as gf

SOFTWARE_CELLS = (64, 96, 64)  # what a software renderer steps several times a second
GPU_CELLS = (96, 144, 96)


def scene(
    obstacle: gf.Mesh | None = None,
    cells: tuple[int, int, int] | None = None,
    backend: str = "auto",
    ctx: Any = None,
) -> gf.Scene:
    """A box 1 m wide and 1.5 m high with a hot source on its floor and a mesh above it."""
    cells = cells or (SOFTWARE_CELLS if backend == "numpy" or gf.is_software(ctx) else GPU_CELLS)
    width = cells[0] / cells[1] * 1.5
    grid = gf.Grid(cells, cell_size=1.5 / cells[1], origin=(-width / 2, 0.0, -cells[2] / cells[1] * 0.75))
    fluid = gf.Fluid(
        grid,
        boundaries=gf.Boundaries.all(gf.Wall(slip="free")),
        settings=gf.Settings(vorticity_confinement=0.35, buoyancy=6.0, cooling=0.35, density_dissipation=0.1),
        backend=backend,
        ctx=ctx,
    )
    fluid.emitters.add(
        gf.Emitter(gf.Sphere((0.0, 0.12, 0.0), 0.1), density=6.0, temperature=1.0, velocity=(0.0, 0.8, 0.0))
    )
    mesh = (obstacle or gf.Mesh.trefoil()).fitted(0.42)
    fluid.obstacles.add(gf.Obstacle(mesh, position=(0.0, 0.58, 0.0)))
    return gf.Scene(
        fluid,
        camera=gf.Camera(target=(0.0, 0.7, 0.0), distance=2.9, azimuth=25.0, elevation=8.0),
        floor=0.0,
        title="gpufluid: plume",
    )


if __name__ == "__main__":
    gf.run(scene)
