"""Sunbeams in a hazy room: smoke fills it, seen through its front wall, and leaves by a hole in the roof."""

from __future__ import annotations

from typing import Any

import numpy as np

import gpufluid as gf

SOFTWARE_CELLS = (88, 56, 48)
GPU_CELLS = (176, 112, 96)
LENGTH = 4.4  # m, of the box; the room stands in it with room above
WALL = 0.2  # m
HAZE = 0.035  # density of what floats in the room from the first, and shows the beam
PLASTER = (0.42, 0.37, 0.31)
LOW, HIGH = (-2.0, 0.0, -1.1), (2.0, 2.1, 1.1)  # corners of the room, outside
HOLE = ((0.7, -0.45), (1.5, 0.35))  # m, corners (x, z) of the hole in the roof
NICHES = (-1.35, -0.35, 0.65)  # m: where the niches in the back wall begin
NICHE = (0.6, 0.5, 1.3, 0.3)  # m: width, from what height to what height, depth


def walls() -> list[gf.Box]:
    """The boxes the room is built of; the front wall is the last."""
    (x0, y0, z0), (x1, y1, z1) = LOW, HIGH
    (a, c), (b, d) = HOLE
    wide, bottom, top, deep = NICHE
    back, box = z0 + WALL + deep, gf.Box.from_corners
    boxes = [
        box((x0, y0, z0), (x0 + WALL, y1, z1)),  # left
        box((x1 - WALL, y0, z0), (x1, y1, z1)),  # right
        box((x0, y0, z0), (x1, y1, z0 + WALL)),  # back, and before it all but the niches
        box((x0, y0, z0), (x1, bottom, back)),
        box((x0, top, z0), (x1, y1, back)),
        box((x0, y1 - WALL, z0), (a, y1, z1)),  # roof, round the hole
        box((b, y1 - WALL, z0), (x1, y1, z1)),
        box((a, y1 - WALL, z0), (b, y1, c)),
        box((a, y1 - WALL, d), (b, y1, z1)),
    ]
    edges = [x0, *(x for begin in NICHES for x in (begin, begin + wide)), x1]
    boxes += [box((a, bottom, z0), (b, top, back)) for a, b in zip(edges[::2], edges[1::2], strict=True)]
    return [*boxes, box((x0, y0, z1 - WALL), (x1, y1, z1))]


def scene(cells: tuple[int, int, int] | None = None, backend: str = "auto", ctx: Any = None) -> gf.Scene:
    """The room, out of doors, and a brazier whose hot smoke, which glows at first, fills it."""
    cells = cells or (SOFTWARE_CELLS if gf.is_software(ctx) else GPU_CELLS)
    size = LENGTH / cells[0]
    fluid = gf.Fluid(
        gf.Grid(cells, size, origin=(-0.5 * LENGTH, 0.0, -0.5 * size * cells[2])),
        boundaries=gf.Boundaries(gf.Open(), gf.Open(), gf.Wall(), gf.Open(), gf.Open(), gf.Open()),
        settings=gf.Settings(buoyancy=4.0, cooling=0.8, vorticity_confinement=1.0, pressure=gf.Multigrid(3)),
        backend=backend,
        ctx=ctx,
    )
    for box in walls():
        fluid.obstacles.add(gf.Obstacle(box, color=PLASTER))
    fluid.obstacles[len(fluid.obstacles) - 1].visible = False
    for middle in (1.5, 1.78):  # a grate above the box: its shadow parts the beam
        fluid.obstacles.add(gf.Obstacle(gf.Box((middle, 2.9, -0.24), (0.1, 0.1, 1.2))))
    brazier = gf.Cylinder((-1.0, 0.15, 0.2), 0.3, 0.3)
    fluid.obstacles.add(gf.Obstacle(brazier, color=(0.05, 0.04, 0.04)))
    source = gf.Emitter(gf.Cylinder((-1.0, 0.37, 0.2), 0.2, 0.12), density=9.0, temperature=1.0)
    source.velocity, source.falloff = (0.2, 2.0, 0.0), 0.05
    source.noise, source.noise_size, source.noise_time = 0.9, 0.2, 0.12  # it flickers
    fluid.emitters.add(source)
    fluid.forces.add(gf.Turbulence(strength=1.5, size=0.5))  # swirls, which the beam shows
    (x0, _, z0), (x1, y1, z1), place = LOW, HIGH, fluid.grid.centers()
    within = (place > (x0, -np.inf, z0)) & (place < (x1, y1 - WALL, z1))
    fluid.density.write(HAZE * within.all(-1))
    return gf.Scene(
        fluid,
        camera=gf.Camera(target=(0.0, 0.92, 0.0), distance=3.75, azimuth=-8.0, elevation=5.0),
        light=gf.Light(direction=(-0.6, -1.0, 0.21), color=(18.0, 13.5, 8.3), ambient=(0.03, 0.045, 0.08)),
        # what the sunlit floor throws back; so high up that the brazier has no shadow on the wall
        lights=[gf.PointLight((0.1, 1.2, 0.4), color=(0.6, 0.4, 0.22), radius=0.6)],
        smoke=gf.Smoke(extinction=1.9, anisotropy=0.4, soft=True),  # else the beam has ribs, a cell wide
        fire=gf.Fire(kelvin_at_zero=0.0, kelvin_per_temperature=1600.0, intensity=34.0, glow=1.3),
        picture=gf.Picture(floor_color=(0.16, 0.11, 0.08)),
        floor=0.0,
        title="gpufluid: room",
    )


if __name__ == "__main__":
    gf.run(scene)
