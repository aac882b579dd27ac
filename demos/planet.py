"""A planet with a skin that flows: jets of gas, each way by turns, curl up between their coloured bands."""

from __future__ import annotations

from typing import Any

import numpy as np

import gpufluid as gf

SOFTWARE_CELLS = (56, 56, 56)
GPU_CELLS = (128, 128, 128)
LENGTH = 1.2  # m, of the box
RADIUS = 0.4  # m, of the core; the skin lies round it
SKIN = 0.05  # m
BANDS = 22.0  # 1/m: how many jets lie between the poles
JETS = 2.5  # m/s^2
BANDED = ((0.0, 3.0, 0.0), (3.0, 0.0, 0.0), (0.0, 0.0, 3.0))  # densities of colour made a second


def scene(cells: tuple[int, int, int] | None = None, backend: str = "auto", ctx: Any = None) -> gf.Scene:
    """A ball in a closed box, a skin of three colours held between it and the still air, and a sun."""
    cells = cells or (SOFTWARE_CELLS if gf.is_software(ctx) else GPU_CELLS)
    size = LENGTH / cells[0]
    origin = tuple(-0.5 * size * n for n in cells)
    fluid = gf.Fluid(
        gf.Grid(cells, size, origin=origin),
        boundaries=gf.Boundaries.all(gf.Wall(slip="free")),
        settings=gf.Settings(
            buoyancy=0.0, density_dissipation=0.7, vorticity_confinement=0.5, pressure=gf.Multigrid(2)
        ),
        backend=backend,
        ctx=ctx,
    )
    fluid.obstacles.add(gf.Obstacle(gf.Sphere((0.0, 0.0, 0.0), RADIUS)))
    z, y, x = (o + size * (np.arange(n) + 0.5) for o, n in zip(origin[::-1], cells[::-1], strict=True))
    place = np.stack(np.meshgrid(z, y, x, indexing="ij")[::-1], axis=-1)
    shell = np.clip(
        1.5 - np.abs(np.linalg.norm(place, axis=-1) - RADIUS - 0.5 * SKIN) / (0.5 * SKIN), 0.0, 1.0
    )
    for n, color in enumerate(BANDED):
        band = 0.5 + 0.5 * np.sin(0.75 * BANDS * place[..., 1] + 2.1 * n)
        fluid.emitters.add(
            gf.Emitter(gf.Array(shell * band**3), color=color, noise=0.5, noise_size=0.1, seed=n)
        )
    # jets round the axis, waved a little, that they may break up into eddies
    wave = np.sin(BANDS * (place[..., 1] + 0.02 * np.sin(9.0 * place[..., 0]) * np.cos(8.0 * place[..., 2])))
    around = np.cross((0.0, 1.0, 0.0), place) / RADIUS
    fluid.forces.add(gf.ForceField(JETS * wave[..., None] * around))
    return gf.Scene(
        fluid,
        camera=gf.Camera(target=(0.0, 0.0, 0.0), distance=2.0, azimuth=0.0, elevation=12.0),
        light=gf.Light(direction=(-0.8, -0.35, -0.6), color=(4.5, 4.3, 4.0), ambient=(0.01, 0.012, 0.02)),
        smoke=gf.Smoke(extinction=120.0, pigments=((0.75, 0.3, 0.12), (0.95, 0.88, 0.72), (0.55, 0.4, 0.32))),
        picture=gf.Picture(background=(0.001, 0.001, 0.002)),
        title="gpufluid: planet",
    )


if __name__ == "__main__":
    gf.run(scene)
