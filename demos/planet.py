"""A planet with a skin that flows: jets of gas, each way by turns, curl up between their coloured bands."""

from __future__ import annotations

from typing import Any

import numpy as np

import gpufluid as gf

SOFTWARE_CELLS = (56, 56, 56)
GPU_CELLS = (128, 128, 128)
LENGTH = 1.12  # m, of the box
RADIUS = 0.4  # m, of the core; the skin lies round it
SKIN = 0.07  # m
BANDS = 27.0  # 1/m: how many jets lie between the poles
JETS = 2.2  # m/s^2
BANDED = ((0.0, 4.0, 0.0), (4.0, 0.0, 0.0), (0.0, 0.0, 4.0))  # densities of colour made a second


def scene(cells: tuple[int, int, int] | None = None, backend: str = "auto", ctx: Any = None) -> gf.Scene:
    """A ball in a closed box, a skin of three colours held between it and the still air, and a sun."""
    cells = cells or (SOFTWARE_CELLS if gf.is_software(ctx) else GPU_CELLS)
    size = LENGTH / cells[0]
    origin = -0.5 * size * cells[0], -0.5 * size * cells[1], -0.5 * size * cells[2]
    fluid = gf.Fluid(
        gf.Grid(cells, size, origin=origin),
        boundaries=gf.Boundaries.all(gf.Wall(slip="free")),
        settings=gf.Settings(
            buoyancy=0.0, density_dissipation=1.6, vorticity_confinement=0.5, pressure=gf.Multigrid(2)
        ),
        backend=backend,
        ctx=ctx,
    )
    fluid.obstacles.add(gf.Obstacle(gf.Sphere((0.0, 0.0, 0.0), RADIUS), slip="free"))
    z, y, x = (o + size * (np.arange(n) + 0.5) for o, n in zip(origin[::-1], cells[::-1], strict=True))
    place = np.stack(np.meshgrid(z, y, x, indexing="ij")[::-1], axis=-1)
    height = np.linalg.norm(place, axis=-1) - RADIUS
    shell = np.clip(1.0 - height / SKIN, 0.0, 1.0)
    bands = [(1.0 + np.sin(0.7 * BANDS * place[..., 1] + 2.1 * n)) ** 3 for n in range(3)]
    for band, color in zip(bands, BANDED, strict=True):
        skin = gf.Array(shell * band / sum(bands))
        fluid.emitters.add(gf.Emitter(skin, color=color, noise=0.4, noise_size=0.1))
    # the air above the skin is held still, and with it the skin
    still = np.clip(2.0 * height / SKIN - 1.2, 0.0, 1.0)
    fluid.emitters.add(gf.Emitter(gf.Array(still), velocity=(0.0, 0.0, 0.0)))
    # jets round the axis, waved a little, that they may break up into eddies
    wave = np.sin(BANDS * (place[..., 1] + 0.05 * np.sin(9.0 * place[..., 0]) * np.cos(8.0 * place[..., 2])))
    around = np.cross((0.0, 1.0, 0.0), place) / RADIUS
    fluid.forces.add(gf.ForceField(JETS * wave[..., None] * around))
    # a wind of the keys a and d blows round it: straight on, it would but press on the still air
    gale = gf.Vortex((0.0, 0.0, 0.0), (0.0, 1.0, 0.0), 0.0, RADIUS)
    fluid.forces.add(gale)

    def turn(_: gf.Scene, time: float) -> None:
        gale.strength = 10.0 * sum(force.velocity[0] for force in fluid.forces if isinstance(force, gf.Wind))

    return gf.Scene(
        fluid,
        camera=gf.Camera(target=(0.0, 0.0, 0.0), distance=1.75, azimuth=0.0, elevation=12.0),
        light=gf.Light(direction=(-0.95, -0.3, -0.3), color=(4.5, 4.3, 4.0), ambient=(0.01, 0.012, 0.02)),
        smoke=gf.Smoke(extinction=60.0, pigments=((0.85, 0.25, 0.08), (0.95, 0.85, 0.6), (0.15, 0.3, 0.5))),
        picture=gf.Picture(background=(0.001, 0.001, 0.002)),
        update=turn,
        title="gpufluid: planet",
    )


if __name__ == "__main__":
    gf.run(scene)
