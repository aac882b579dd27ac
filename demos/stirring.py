"""A rod stirs bands of dye in a tray and folds them into each other, in two dimensions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import gpufluid as gf

SOFTWARE_CELLS = (384, 216, 1)
GPU_CELLS = (960, 540, 1)
WIDTH = 1.6  # m
BANDS = 6
STRENGTH = 1.0  # of the dye
DEPTH = 25 / 6  # optical, of the tray at that strength: in 2D it is one cell deep, however fine
RADIUS, ROUND = 0.065, (0.5, 0.24)  # m: the rod, and half the axes of its way
TURN = 3.6  # s, once round


def scene(cells: tuple[int, int, int] | None = None, backend: str = "auto", ctx: Any = None) -> gf.Scene:
    """A closed tray seen from above, in bands of three colours, and a rod in it."""
    cells = cells or (SOFTWARE_CELLS if gf.is_software(ctx) else GPU_CELLS)
    size = WIDTH / cells[0]
    fluid = gf.Fluid(
        gf.Grid(cells, size, origin=(-0.5 * WIDTH, -0.5 * size * cells[1], -0.5 * size * cells[2])),
        settings=gf.Settings(
            buoyancy=0.0, viscosity=2e-4, pressure=gf.Multigrid(2), cfl=8.0, reflection=True
        ),
        backend=backend,
        ctx=ctx,
    )
    dye = np.zeros(fluid.color.shape, np.float32)
    for band in range(BANDS):
        dye[:, cells[1] * band // BANDS : cells[1] * (band + 1) // BANDS, :, band % 3] = STRENGTH
    fluid.color.write(dye)

    def way(time: float) -> tuple[float, float, float]:
        """Where the rod is: it goes round in an eight."""
        angle = math.tau * time / TURN
        return ROUND[0] * math.cos(angle), ROUND[1] * math.sin(2.0 * angle), 0.0

    rod = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=RADIUS), position=way(0.0)))

    def stir(_: gf.Scene, time: float) -> None:
        rod.position = way(time)

    return gf.Scene(
        fluid,
        camera=gf.Camera(distance=1.40, elevation=0.0),
        light=gf.Light(direction=(0.3, -0.4, -1.0), color=(4.0, 4.0, 4.0), ambient=(0.8, 0.8, 0.8)),
        smoke=gf.Smoke(DEPTH / size, pigments=((0.85, 0.16, 0.06), (0.98, 0.85, 0.6), (0.01, 0.16, 0.3))),
        update=stir,
        title="gpufluid: stirring",
    )


if __name__ == "__main__":
    gf.run(scene)
