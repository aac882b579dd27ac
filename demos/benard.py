"""Convection cells in a layer that is heated from below and cooled from above (Bénard 1900)."""

from __future__ import annotations

from typing import Any

import numpy as np

import gpufluid as gf

SOFTWARE_CELLS = (136, 16, 108)
GPU_CELLS = (320, 40, 256)
HEIGHT = 0.16  # m, of the layer
RIM, TALL = 0.025, 0.175  # m: of the dish
BUOYANCY = 2.0  # m/s^2 for the difference of temperature across the layer, which is 1
VISCOSITY = DIFFUSIVITY = 6.4e-4  # m^2/s, of momentum and of heat
RAYLEIGH = BUOYANCY * HEIGHT**3 / (VISCOSITY * DIFFUSIVITY)  # 20000; above 1708 (Jeffreys 1928) it turns over


def scene(
    cells: tuple[int, int, int] | None = None,
    backend: str = "auto",
    ctx: Any = None,
    rayleigh: float = RAYLEIGH,
) -> gf.Scene:
    """A layer at rest that conducts heat, a little uneven: from that the cells grow."""
    cells = cells or (SOFTWARE_CELLS if gf.is_software(ctx) else GPU_CELLS)
    size = HEIGHT / cells[1]
    fluid = gf.Fluid(
        gf.Grid(cells, size, origin=(-0.5 * size * cells[0], 0.0, -0.5 * size * cells[2])),
        boundaries=gf.Boundaries(
            gf.Wall("free"),
            gf.Wall("free"),
            gf.Wall(temperature=0.5),
            gf.Wall(temperature=-0.5),
            gf.Wall("free"),
            gf.Wall("free"),
        ),
        settings=gf.Settings(
            buoyancy=BUOYANCY * rayleigh / RAYLEIGH,
            viscosity=VISCOSITY,
            thermal_diffusivity=DIFFUSIVITY,
            pressure=gf.Multigrid(2),
        ),
        backend=backend,
        ctx=ctx,
    )
    nx, ny, nz = cells
    height = (np.arange(ny) + 0.5) / ny
    spots = np.random.default_rng(1).normal(0.0, 0.05, SOFTWARE_CELLS[::-2])  # [z, x], as wide in all cells
    z, x = (np.arange(n) * of // n for n, of in zip((nz, nx), spots.shape, strict=True))
    uneven = spots[np.ix_(z, x)][:, None] * np.sin(np.pi * height)[:, None]
    fluid.temperature.write(0.5 - height[:, None] + uneven)

    def show(_: gf.Scene, time: float) -> None:
        warm = fluid.temperature.read()
        seen = np.clip(5.0 * warm - 0.5, 0.0, 1.0)  # what rises, yellow while it is hot; a haze of what sinks
        hot = np.clip(3.6 * warm - 0.7, 0.0, 1.0)
        fluid.color.write(np.stack([seen * hot, seen * (1.0 - hot), np.maximum(-0.07 * warm, 0.0)], axis=-1))

    # the rim of the dish: outside the box, the layer does not feel it
    wide, _, deep = fluid.grid.size
    beside, before = (RIM, TALL, deep + 2.0 * RIM), (wide, TALL, RIM)
    for side in (-0.5, 0.5):
        for rim, x, z in ((beside, side * (wide + RIM), 0.0), (before, 0.0, side * (deep + RIM))):
            fluid.obstacles.add(gf.Obstacle(gf.Box(size=rim), (x, 0.5 * TALL, z), color=(0.03, 0.028, 0.027)))

    return gf.Scene(
        fluid,
        camera=gf.Camera(target=(0.02, -0.06, 0.05), distance=2.05, azimuth=30.0, elevation=36.0),
        light=gf.Light(direction=(0.7, -0.6, -0.5), color=(4.5, 4.2, 3.8), ambient=(0.15, 0.17, 0.21)),
        smoke=gf.Smoke(110.0, pigments=((1.0, 0.56, 0.09), (0.85, 0.17, 0.03), (0.04, 0.13, 0.3)), soft=True),
        picture=gf.Picture(floor_color=(0.03, 0.033, 0.04)),
        floor=0.0,
        update=show,
        title="gpufluid: benard",
    )


if __name__ == "__main__":
    gf.run(scene)
