"""Paint with coloured smoke by dragging the mouse; until you do, a hand paints by itself."""

from __future__ import annotations

import math
from typing import Any

import gpufluid as gf

SOFTWARE_CELLS = (384, 216, 1)
GPU_CELLS = (960, 540, 1)
WIDTH, HEIGHT = 1.6, 0.9  # m
STRENGTH = 16.0  # of the colours, per second
DEPTH = 3.75  # optical, of the sheet where the colours are 1: in 2D it is one cell deep, however fine


def scene(cells: tuple[int, int, int] | None = None, backend: str = "auto", ctx: Any = None) -> gf.Scene:
    """A sheet of still air, and a hand whose colour changes all the time."""
    cells = cells or (SOFTWARE_CELLS if gf.is_software(ctx) else GPU_CELLS)
    size = WIDTH / cells[0]
    fluid = gf.Fluid(
        gf.Grid(cells, size, origin=(-0.5 * WIDTH, -0.5 * size * cells[1], -0.5 * size)),
        boundaries=gf.Boundaries.all(gf.Wall(slip="free")),
        settings=gf.Settings(
            buoyancy=0.0,
            vorticity_confinement=0.2,
            density_dissipation=0.05,
            cfl=8.0,
            pressure=gf.Multigrid(2),
        ),
        backend=backend,
        ctx=ctx,
    )
    hand = gf.Hand(reach=0.022, push=0.5, density=0.0, color=(0.0, 0.0, 0.0))

    def way(time: float) -> tuple[float, float, float]:
        """Where the hand is that paints by itself."""
        a, b = 1.5 * time + 2.0, 4.1 * time
        x, y = 0.27 * math.cos(a) + 0.14 * math.cos(b), 0.25 * math.sin(a) - 0.2 * math.sin(b)
        return x * WIDTH, y * HEIGHT, 0.0

    def paint(scene: gf.Scene, time: float) -> None:
        red, yellow, blue = (0.5 + 0.5 * math.cos(1.9 * time - math.tau * n / 3) for n in range(3))
        hand.color = (STRENGTH * red**2, STRENGTH * yellow**2, STRENGTH * blue**2)
        if not scene.touched:
            scene.stroke(way(time - scene.dt), way(time))

    return gf.Scene(
        fluid,
        camera=gf.Camera(distance=1.40, elevation=0.0),
        light=gf.Light(direction=(0.2, -0.4, -1.0), color=(7.0, 7.0, 7.0), ambient=(1.2, 1.2, 1.2)),
        smoke=gf.Smoke(DEPTH / size, pigments=((0.95, 0.06, 0.25), (0.99, 0.75, 0.05), (0.02, 0.3, 0.9))),
        picture=gf.Picture(background=(0.8, 0.78, 0.72)),
        hand=hand,
        update=paint,
        title="gpufluid: paint",
    )


if __name__ == "__main__":
    gf.run(scene)
