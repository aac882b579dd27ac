"""A lantern swings in the fog within a circle of stones, whose shadows sweep through it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import gpufluid as gf

SOFTWARE_CELLS = (88, 32, 88)
GPU_CELLS = (224, 80, 224)
LENGTH = 3.0  # m, of the box
STONES, RING = 9, 0.72  # how many, and how far from the middle, m
STONE = (0.2, 0.62, 0.12)  # m
FOG, DEEP = 0.4, 0.3  # density at the ground, and how high up half is left and less, m
LOST = 0.25  # 1/s, of the fog, for which more comes up in wisps


def scene(cells: tuple[int, int, int] | None = None, backend: str = "auto", ctx: Any = None) -> gf.Scene:
    """Fog that lies on the ground and is slowly stirred, stones in it, and one lamp."""
    cells = cells or (SOFTWARE_CELLS if gf.is_software(ctx) else GPU_CELLS)
    size, out = LENGTH / cells[0], gf.Open()
    fluid = gf.Fluid(
        gf.Grid(cells, size, origin=(-0.5 * LENGTH, 0.0, -0.5 * size * cells[2])),
        boundaries=gf.Boundaries(out, out, gf.Wall("free"), out, out, out),
        settings=gf.Settings(
            buoyancy=0.0,
            weight=0.1,
            density_dissipation=LOST,
            vorticity_confinement=0.3,
            pressure=gf.Multigrid(2),
        ),
        backend=backend,
        ctx=ctx,
    )
    random = np.random.default_rng(2)
    for n in range(STONES):
        a = 2.0 * math.pi * (n + random.uniform(-0.15, 0.15)) / STONES
        half = 0.25 * math.pi - 0.5 * a  # of the turn that has it face the middle
        stone = gf.Obstacle(
            gf.Box(size=STONE), (RING * math.cos(a), random.uniform(0.24, 0.3), RING * math.sin(a)), gloss=0.1
        )
        stone.rotation, stone.color = (0.0, math.sin(half), 0.0, math.cos(half)), (0.2, 0.19, 0.17)
        fluid.obstacles.add(stone)
    y = size * (np.arange(cells[1]) + 0.5)
    fluid.density.write(np.broadcast_to(FOG * np.exp(-y / DEEP)[:, None], cells[::-1]))
    wisps = gf.Emitter(gf.Box((0.0, 0.1, 0.0), (LENGTH, 0.2, LENGTH)), density=1.5 * LOST * FOG, falloff=0.2)
    wisps.noise, wisps.noise_size = 1.0, 0.3
    fluid.emitters.add(wisps)
    fluid.forces.add(gf.Vortex((0.0, 0.0, 0.0), (0.0, 1.0, 0.0), strength=0.2, radius=0.7))
    bulb = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.05), emission=(4.0, 1.7, 0.4)))
    lamp = gf.PointLight((0.0, 0.42, 0.0), color=(1.0, 0.58, 0.23), radius=0.1)

    def swing(_: gf.Scene, time: float) -> None:
        x, z = 0.42 * math.sin(1.6 * time), 0.18 * math.sin(1.13 * time)
        lamp.position = bulb.position = (x, 0.42 + 0.3 * x * x, z)

    return gf.Scene(
        fluid,
        camera=gf.Camera(target=(0.0, 0.23, 0.0), distance=2.6, azimuth=24.0, elevation=26.0),
        light=gf.Light(direction=(0.4, -0.7, 0.5), color=(0.18, 0.22, 0.35), ambient=(0.016, 0.022, 0.04)),
        lights=[lamp],
        smoke=gf.Smoke(extinction=4.0, anisotropy=0.3, fade=0.9),
        picture=gf.Picture(floor_color=(0.065, 0.07, 0.05)),
        floor=0.0,
        update=swing,
        title="gpufluid: lantern",
    )


if __name__ == "__main__":
    gf.run(scene)
