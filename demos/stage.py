"""Three spotlights sweep through haze over a stage; the shadow of a turning knot stands in their beams."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import gpufluid as gf

SOFTWARE_CELLS = (96, 60, 72)
GPU_CELLS = (224, 140, 168)
LENGTH = 2.4  # m, of the box
HAZE = 0.12  # density, of which a machine keeps making more
LOST = 0.2  # 1/s
ROUND = 4.0  # s, after which lamps and knot, which half a turn leaves as it was, are where they were
AIM = (0.0, 0.46, 0.0)  # the knot
COLORS = ((9.0, 1.1, 2.0), (0.8, 2.8, 9.0), (7.5, 3.9, 0.9))
PLACES = ((-1.05, 1.75, 0.4), (1.05, 1.75, 0.35), (0.05, 1.8, -0.75))


def scene(cells: tuple[int, int, int] | None = None, backend: str = "auto", ctx: Any = None) -> gf.Scene:
    """Haze that drifts, a knot on a round block, and the lamps above it."""
    cells = cells or (SOFTWARE_CELLS if gf.is_software(ctx) else GPU_CELLS)
    size, out = LENGTH / cells[0], gf.Open()
    fluid = gf.Fluid(
        gf.Grid(cells, size, origin=(-0.5 * LENGTH, 0.0, -0.5 * size * cells[2])),
        boundaries=gf.Boundaries(out, out, gf.Wall("free"), out, out, out),
        settings=gf.Settings(
            buoyancy=0.0,
            weight=0.5,
            density_dissipation=LOST,
            vorticity_confinement=0.4,
            pressure=gf.Multigrid(2),
        ),
        backend=backend,
        ctx=ctx,
    )
    block = gf.Cylinder(radius=0.3, height=0.16)
    fluid.obstacles.add(gf.Obstacle(block, (0.0, 0.08, 0.0), color=(0.05, 0.05, 0.06), gloss=0.5))
    knot = gf.Obstacle(gf.Mesh.trefoil().fitted(0.46), AIM, color=(0.6, 0.6, 0.62), gloss=0.6)
    fluid.obstacles.add(knot)
    fluid.density.write(np.full(cells[::-1], HAZE))
    whole = gf.Box((0.0, 0.75, 0.0), (LENGTH, 1.5, 1.8))
    wisps = gf.Emitter(whole, density=7.0 * LOST * HAZE, falloff=0.1)
    wisps.noise, wisps.noise_size = 1.0, 0.3
    fluid.emitters.add(wisps)
    ice = gf.Emitter(gf.Cylinder((0.0, 0.18, 0.0), 0.27, 0.03), density=12.0, falloff=0.03, noise=1.0)
    ice.noise_size = 0.15
    fluid.emitters.add(ice)
    fluid.forces.add(gf.Vortex((0.0, 0.0, 0.0), (0.0, 1.0, 0.0), strength=0.3, radius=0.8))
    lamps = [
        gf.SpotLight(place, color, radius=0.15, angle=24.0, softness=0.5)
        for place, color in zip(PLACES, COLORS, strict=True)
    ]

    def sweep(_: gf.Scene, time: float) -> None:
        turn = math.pi * time / ROUND
        for n, lamp in enumerate(lamps):
            aside = 0.35 * math.sin(2.0 * turn + 2.1 * n), 0.2 * math.sin(2.0 * turn + 1.3 * n)
            x, y, z = (a - p for a, p in zip(AIM, lamp.position, strict=True))
            lamp.direction = (x + aside[0], y, z + aside[1])
        knot.rotation = (0.0, math.sin(0.5 * turn), 0.0, math.cos(0.5 * turn))

    return gf.Scene(
        fluid,
        camera=gf.Camera(target=(0.0, 0.54, 0.0), distance=2.2, azimuth=12.0, elevation=9.0),
        light=gf.Light((0.0, -1.0, -0.4), color=(0.06, 0.07, 0.1), ambient=(0.02, 0.024, 0.04)),
        lights=lamps,
        smoke=gf.Smoke(extinction=3.0, anisotropy=0.4, fade=0.3, soft=True),
        picture=gf.Picture(exposure=1.3, floor_color=(0.2, 0.19, 0.2), background=(0.001, 0.001, 0.002)),
        floor=0.0,
        update=sweep,
        title="gpufluid: stage",
    )


if __name__ == "__main__":
    gf.run(scene)
