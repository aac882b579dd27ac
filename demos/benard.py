"""Convection cells in a layer that is heated from below and cooled from above (Bénard 1900)."""

from __future__ import annotations

from typing import Any

import numpy as np

import gpufluid as gf

SOFTWARE_CELLS = (128, 15, 102)
GPU_CELLS = (320, 40, 256)
HEIGHT = 0.16  # m, of the layer
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
        seen = np.clip(1.8 * warm - 0.1, 0.0, 1.0)  # what rises, yellow while it is hot; a haze of what sinks
        hot = np.clip(3.2 * warm - 0.4, 0.0, 1.0)
        fluid.color.write(np.stack([seen * hot, seen * (1.0 - hot), np.maximum(-0.07 * warm, 0.0)], axis=-1))

    return gf.Scene(
        fluid,
        camera=gf.Camera(target=(0.0, 0.04, 0.03), distance=2.05, azimuth=28.0, elevation=27.0),
        light=gf.Light(direction=(0.9, -0.36, -0.15), color=(4.5, 4.2, 3.8), ambient=(0.1, 0.12, 0.15)),
        smoke=gf.Smoke(90.0, pigments=((0.97, 0.42, 0.07), (0.8, 0.14, 0.03), (0.04, 0.13, 0.3))),
        picture=gf.Picture(floor_color=(0.03, 0.033, 0.04)),
        floor=0.0,
        update=show,
        title="gpufluid: benard",
    )


if __name__ == "__main__":
    gf.run(scene)
