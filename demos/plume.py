"""Warm smoke rises round an obstacle, lit from the side: a complete gpufluid program."""

from __future__ import annotations

import math
from typing import Any

import gpufluid as gf

CELLS = (84, 144, 84)
HEIGHT = 1.5  # m


def scene(
    obstacle: gf.Mesh | None = None,
    cells: tuple[int, int, int] | None = None,
    backend: str = "auto",
    ctx: Any = None,
) -> gf.Scene:
    """A box 1.5 m high that is open but for its floor, a hot source near that, and a mesh above it."""
    coarse = cells is None and gf.is_software(ctx)  # it has no time for a flow as fine as its smoke
    cells = cells or CELLS
    size = HEIGHT / cells[1]
    fluid = gf.Fluid(
        gf.Grid(cells, size, origin=(-0.5 * size * cells[0], 0.0, -0.5 * size * cells[2])),
        boundaries=gf.Boundaries.all(gf.Open()).but(bottom=gf.Wall()),
        settings=gf.Settings(
            vorticity_confinement=0.7,
            buoyancy=2.2,
            cooling=0.7,
            density_dissipation=0.4,
            coarse_velocity=coarse,
            # neither leaves streaks; the first takes longer, and keeps as much smoke as was emitted
            advection="monotone-cubic" if coarse else "finite-volume",
            velocity_advection="maccormack",
            pressure=gf.Multigrid(2),
        ),
        backend=backend,
        ctx=ctx,
    )
    mesh = (obstacle or gf.Mesh.trefoil()).fitted(0.5)
    fluid.obstacles.add(gf.Obstacle(mesh, position=(0.0, 0.58, 0.0)))
    source = gf.Emitter(gf.Cylinder(), temperature=1.0)
    source.falloff, source.noise, source.noise_size, source.noise_time = 0.0156, 0.95, 0.1, 0.12
    fluid.emitters.add(source)
    fluid.forces.add(gf.Turbulence(strength=0.35, size=0.35))

    def sway(_: gf.Scene, time: float) -> None:
        center = (0.03 * math.sin(7.0 * time), 0.04, 0.03 * math.sin(5.0 * time))
        source.shape = gf.Cylinder(center, radius=min(0.03 + 0.06 * time, 0.1), height=0.03)  # grows
        source.density = min(0.5 + 3.5 * time, 7.0)

    return gf.Scene(
        fluid,
        camera=gf.Camera(target=(-0.13, 0.63, 0.09), distance=2.2, azimuth=55.0, elevation=6.0),
        light=gf.Light(direction=(-0.6, -0.5, 0.75), color=(3.8, 2.7, 1.65), ambient=(0.05, 0.07, 0.12)),
        lights=[gf.PointLight((0.3, 0.6, 1.3), color=(0.05, 0.2, 0.5))],  # fills its shadows with blue
        smoke=gf.Smoke(extinction=120.0, edge=0.1, fade=0.2, soft=True),
        picture=gf.Picture(floor_color=(0.045, 0.045, 0.05)),
        floor=0.0,
        update=sway,
        title="gpufluid: plume",
    )


if __name__ == "__main__":
    gf.run(scene)
