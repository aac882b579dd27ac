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
            combustion=gf.Combustion(smoke_per_burn=1.6, expansion_per_burn=10.0),
            buoyancy=2.0,
            cooling=2.0,
            vorticity_confinement=6.0,
            pressure=gf.Multigrid(2),
        ),
        backend=backend,
        ctx=ctx,
    )
    fluid.obstacles.add(gf.Obstacle(gf.Box((1.7, 0.35, -0.5), (0.5, 0.7, 0.6))))
    fluid.obstacles.add(gf.Obstacle(gf.Box((2.3, 0.25, 0.55), (0.5, 0.5, 0.5)), rotation=(0, 0.2, 0, 0.98)))
    for wall in walls(0.5 * size * cells[2]):  # around the box: the sides of it are what holds the air
        fluid.obstacles.add(gf.Obstacle(wall, color=(0.5, 0.48, 0.44)))
    leak = gf.Emitter(gf.Box((0.95, 0.35, 0.0), (1.2, 0.6, 1.9)), fuel=0.4, falloff=0.15)
    leak.noise, leak.noise_size, leak.noise_time = 1.0, 0.11, 1.0
    spark = gf.Emitter(gf.Sphere((0.4, 0.4, 0.2), 0.08), temperature=1.0, falloff=0.05, active=False)
    fluid.emitters.add(leak)
    fluid.emitters.add(spark)

    def light(_: gf.Scene, time: float) -> None:
        leak.active, spark.active = time < LIT, LIT <= time < EMPTY

    return gf.Scene(
        fluid,
        camera=gf.Camera(target=(1.75, 0.9, 0.0), distance=5.4, azimuth=26.0, elevation=7.0),
        light=gf.Light(direction=(-0.3, -0.2, -1.0), color=(0.12, 0.13, 0.17), ambient=(0.02, 0.023, 0.032)),
        smoke=gf.Smoke(extinction=40.0, albedo=(0.3, 0.28, 0.26), fade=0.25),
        fire=gf.Fire(300.0, 850.0, intensity=190.0, core=(0.0, 0.005, 0.03), hottest=4000.0, glow=1.95),
        picture=gf.Picture(floor_color=(0.2, 0.19, 0.18), background=(0.004, 0.005, 0.009)),
        dt=1.0 / 60.0,
        floor=0.0,
        update=light,
        title="gpufluid: blast",
    )


if __name__ == "__main__":
    gf.run(scene)
