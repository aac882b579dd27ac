"""A blast in a room: burning gas expands tenfold and rushes round the boxes to the open side."""

from __future__ import annotations

from typing import Any

import gpufluid as gf

SOFTWARE_CELLS = (112, 56, 80)
GPU_CELLS = (160, 80, 112)
LENGTH, HEIGHT, WALL = 4.0, 2.0, 0.12  # m
LIT, EMPTY = 0.3, 0.4  # s: when the gas is lit, and when the spark is gone


def walls(deep: float) -> list[gf.Box]:
    """Back, left and ceiling of the room, half as deep as that; it is seen through its front wall."""
    box, low = gf.Box.from_corners, -deep - WALL
    return [
        box((-WALL, 0.0, low), (LENGTH, HEIGHT, -deep)),
        box((-WALL, 0.0, -deep), (0.0, HEIGHT, deep)),
        box((-WALL, HEIGHT, low), (LENGTH, HEIGHT + WALL, deep)),
    ]


def scene(cells: tuple[int, int, int] | None = None, backend: str = "auto", ctx: Any = None) -> gf.Scene:
    """A room without its right wall, two boxes in it, and a leak of gas beside them."""
    cells = cells or (SOFTWARE_CELLS if gf.is_software(ctx) else GPU_CELLS)
    size = LENGTH / cells[0]
    fluid = gf.Fluid(
        gf.Grid(cells, size, origin=(0.0, 0.0, -0.5 * size * cells[2])),
        boundaries=gf.Boundaries(right=gf.Open()),
        settings=gf.Settings(
            combustion=gf.Combustion(burn_per_temperature=5.0, smoke_per_burn=2.2, expansion_per_burn=10.0),
            buoyancy=2.0,
            cooling=3.2,
            vorticity_confinement=6.0,
            pressure=gf.Multigrid(2),
        ),
        backend=backend,
        ctx=ctx,
    )
    fluid.obstacles.add(gf.Obstacle(gf.Box((1.7, 0.35, -0.5), (0.5, 0.7, 0.6))))
    fluid.obstacles.add(gf.Obstacle(gf.Box((2.3, 0.25, 0.55), (0.5, 0.5, 0.5)), rotation=(0, 0.2, 0, 0.98)))
    for wall in walls(0.5 * size * cells[2]):  # around the box: the sides of it are what holds the air
        fluid.obstacles.add(gf.Obstacle(wall, color=(0.5, 0.44, 0.36)))
    leak = gf.Emitter(gf.Box((0.95, 0.35, 0.0), (1.2, 0.6, 1.9)), fuel=0.4, falloff=0.15)
    leak.noise, leak.noise_size, leak.noise_time = 1.0, 0.3, 1.0
    spark = gf.Emitter(gf.Sphere((0.4, 0.4, 0.2), 0.08), temperature=1.0, falloff=0.05, active=False)
    fluid.emitters.add(leak)
    fluid.emitters.add(spark)
    stirred = gf.Turbulence(strength=11.0, size=0.8, time=0.3, center=(0.95, 0.4, 0.0), radius=0.6)
    fluid.forces.add(stirred)  # so that no side of the blast is even

    def light(_: gf.Scene, time: float) -> None:
        leak.active, spark.active, stirred.active = time < LIT, LIT <= time < EMPTY, time < EMPTY

    return gf.Scene(
        fluid,
        camera=gf.Camera(target=(1.75, 0.9, 0.0), distance=5.2, azimuth=24.0, elevation=6.0),
        light=gf.Light(
            direction=(-0.75, -0.45, -0.6), color=(0.13, 0.16, 0.24), ambient=(0.02, 0.023, 0.032)
        ),
        smoke=gf.Smoke(extinction=40.0, albedo=(0.4, 0.37, 0.34), fade=0.25),
        fire=gf.Fire(300.0, 1150.0, 200.0, core=(0.0, 0.005, 0.03), glow=1.8, hottest=4000.0, soft=True),
        picture=gf.Picture(floor_color=(0.2, 0.19, 0.18), background=(0.004, 0.005, 0.009)),
        dt=1.0 / 60.0,
        floor=0.0,
        update=light,
        title="gpufluid: blast",
    )


if __name__ == "__main__":
    gf.run(scene)
