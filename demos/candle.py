"""A candle flame on nothing, to be laid over a plate: run this file itself to see it over one."""

from __future__ import annotations

from typing import Any

import numpy as np

import gpufluid as gf
from gpufluid.io.images import write_png

SOFTWARE_CELLS, GPU_CELLS = (32, 64, 32), (96, 192, 96)
HEIGHT = 0.24  # m
TOP, WICK = 0.08, 0.095  # m, of the wax, and of the wick's tip


def scene(cells: tuple[int, int, int] | None = None, backend: str = "auto", ctx: Any = None) -> gf.Scene:
    """A wick that gives off fuel over a cylinder of wax; three times slower than it is."""
    cells = cells or (SOFTWARE_CELLS if gf.is_software(ctx) else GPU_CELLS)
    size = HEIGHT / cells[1]
    fluid = gf.Fluid(
        gf.Grid(cells, size, origin=(-0.5 * size * cells[0], 0.0, -0.5 * size * cells[2])),
        boundaries=gf.Boundaries(gf.Open(), gf.Open(), gf.Wall(), gf.Open(), gf.Open(), gf.Open()),
        settings=gf.Settings(
            combustion=gf.Combustion(burn_per_temperature=7.0, smoke_per_burn=0.3, expansion_per_burn=0.5),
            buoyancy=1.0,
            cooling=7.5,
            density_dissipation=6.0,
            viscosity=2e-4,
            pressure=gf.Multigrid(2),
        ),
        backend=backend,
        ctx=ctx,
    )
    wick = gf.Capsule((0.0, TOP, 0.0), (0.0, WICK, 0.0), 0.0019)
    for solid in (gf.Cylinder((0.0, 0.5 * TOP, 0.0), 0.028, TOP), wick):
        fluid.obstacles.add(gf.Obstacle(solid))
    vapour = gf.Emitter(gf.Sphere((0.0, WICK, 0.0), 0.008), fuel=3.0, velocity=(0.0, 0.12, 0.0))
    spark = gf.Emitter(gf.Sphere((0.0, WICK - 0.004, 0.0), 0.007), temperature=0.9)
    for source in (vapour, spark):
        source.falloff = 0.00375
        fluid.emitters.add(source)
    return gf.Scene(
        fluid,
        camera=gf.Camera(target=(0.0, 0.12, 0.0), distance=0.42, azimuth=20.0, elevation=4.0),
        light=gf.Light(direction=(-0.7, -0.6, -0.4), color=(0.9, 0.9, 1.0), ambient=(0.1, 0.11, 0.14)),
        smoke=gf.Smoke(extinction=20.0),
        fire=gf.Fire(600.0, 540.0, intensity=1450.0, core=(0.0, 0.14, 0.8), soot=0.4, hottest=4000.0),
        picture=gf.Picture(background="transparent"),
        dt=1.0 / 90.0,
        title="gpufluid: candle",
    )


def over(picture: np.ndarray, plate: np.ndarray) -> np.ndarray:
    """Premultiplied [h, w, 4] over a plate [h, w, 3], uint8: light adds to light, the flame hides nothing."""
    light, behind = ((p[..., :3] / 255.0) ** 2.2 for p in (picture, plate))
    shown = light + (1.0 - picture[..., 3:] / 255.0) * behind
    return np.asarray(255.0 * np.minimum(shown, 1.0) ** (1.0 / 2.2) + 0.5, np.uint8)


def table(width: int, height: int) -> np.ndarray:
    """A plate: lamps out of focus behind a table, [height, width, 3]."""
    y, x = np.mgrid[0:height, 0:width] / height
    wall = np.stack([0.10 + 0.10 * y, 0.08 + 0.06 * y, 0.12 + 0.02 * y], axis=-1)
    for n in range(14):
        at = 0.37 * n % 1.78, 0.15 + 0.55 * (0.61 * n % 1.0)
        disc = np.clip(40.0 * (0.05 + 0.03 * (0.7 * n % 1.0) - np.hypot(x - at[0], y - at[1])), 0.0, 1.0)
        wall += 0.16 * disc[..., None] * np.array([1.0, 0.55 + 0.3 * (n % 2), 0.2 + 0.4 * (n % 3 == 0)])
    grain = 0.03 * np.sin(9.0 * x + 90.0 * y) + 0.02 * np.sin(210.0 * y + 5.0 * np.sin(4.0 * x))
    wood = (0.10 + 0.25 * (y - 0.8) + grain * y)[..., None] * np.array([1.5, 0.9, 0.5])
    return np.asarray(255.0 * np.clip(np.where(y[..., None] > 0.8, wood, wall), 0.0, 1.0), np.uint8)


if __name__ == "__main__":
    shot = scene()
    while shot.time < 0.8:
        shot.advance()
    assert shot.fluid.ctx is not None
    frame = gf.FrameRenderer.of(shot.picture, shot.fluid.ctx)
    frame.draw(shot)
    write_png("candle.png", over(frame.read("premultiplied"), table(*frame.size)))
