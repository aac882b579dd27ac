"""A blast in a room: what burns wants ten times the room, and rushes round the boxes to the open side."""

from __future__ import annotations

from typing import Any

import gpufluid as gf

SOFTWARE_CELLS = (80, 40, 56)
GPU_CELLS = (160, 80, 112)
LENGTH = 4.0  # m
LIT, EMPTY = 0.3, 0.4  # s: when the gas is lit, and when the spark is gone


def scene(cells: tuple[int, int, int] | None = None, backend: str = "auto", ctx: Any = None) -> gf.Scene:
    """A room 2 m high without its right wall, two boxes in it, and a leak of gas beside them."""
    cells = cells or (SOFTWARE_CELLS if gf.is_software(ctx) else GPU_CELLS)
    size = LENGTH / cells[0]
    fluid = gf.Fluid(
        gf.Grid(cells, size, origin=(0.0, 0.0, -0.5 * size * cells[2])),
        boundaries=gf.Boundaries(right=gf.Open()),
        settings=gf.Settings(
            combustion=gf.Combustion(smoke_per_burn=0.5, expansion_per_burn=10.0),
            buoyancy=2.0,
            cooling=1.5,
            vorticity_confinement=0.5,
            pressure=gf.Multigrid(2),
        ),
        backend=backend,
        ctx=ctx,
    )
    fluid.obstacles.add(gf.Obstacle(gf.Box((1.7, 0.35, -0.5), (0.5, 0.7, 0.6))))
    fluid.obstacles.add(gf.Obstacle(gf.Box((2.3, 0.25, 0.55), (0.5, 0.5, 0.5)), rotation=(0, 0.2, 0, 0.98)))
    leak = gf.Emitter(gf.Box((0.75, 0.5, 0.0), (0.9, 0.8, 1.6)), fuel=0.4, falloff=0.1)
    leak.noise, leak.noise_size, leak.noise_time = 0.8, 0.15, 1.0
    spark = gf.Emitter(gf.Sphere((0.4, 0.4, 0.2), 0.08), temperature=1.0, falloff=0.05, active=False)
    fluid.emitters.add(leak)
    fluid.emitters.add(spark)

    def light(_: gf.Scene, time: float) -> None:
        leak.active, spark.active = time < LIT, LIT <= time < EMPTY

    return gf.Scene(
        fluid,
        camera=gf.Camera(target=(2.0, 0.8, 0.0), distance=6.0, azimuth=25.0, elevation=14.0),
        light=gf.Light(direction=(-0.6, -0.8, -0.3), color=(0.5, 0.52, 0.6), ambient=(0.03, 0.035, 0.05)),
        smoke=gf.Smoke(extinction=9.0, albedo=(0.4, 0.38, 0.36)),
        fire=gf.Fire(300.0, 850.0, intensity=14.0, core=(0.0, 0.005, 0.03), hottest=4000.0),
        dt=1.0 / 60.0,
        floor=0.0,
        update=light,
        title="gpufluid: blast",
    )


if __name__ == "__main__":
    gf.run(scene)
