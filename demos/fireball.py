"""A fireball: a heap of fuel is lit at its heart, swells in lobes, and rises as a mushroom of soot."""

from __future__ import annotations

from typing import Any

import gpufluid as gf

SOFTWARE_CELLS = (112, 134, 112)
GPU_CELLS = (160, 192, 160)
HEIGHT = 2.8  # m
AGAIN, EMPTY = 2.0, 0.15  # s: a blast follows another so late; it takes fuel, and is stirred, for so long
BACK = 1.6  # s, in which the view draws back from the cloud that swells
PUFFS = (  # m, the balls of fuel that the cloud is heaped of: centres and radii; each becomes a lobe
    ((0.0, 0.5, 0.0), 0.15),
    ((0.22, 0.4, 0.1), 0.11),
    ((-0.2, 0.42, 0.14), 0.12),
    ((-0.06, 0.38, -0.22), 0.1),
    ((0.16, 0.62, -0.12), 0.09),
)


def scene(cells: tuple[int, int, int] | None = None, backend: str = "auto", ctx: Any = None) -> gf.Scene:
    """A cloud of fuel over the ground, out of doors."""
    coarse = cells is None and gf.is_software(ctx)  # it has no time for a flow as fine as its smoke
    cells = cells or (SOFTWARE_CELLS if coarse else GPU_CELLS)
    size = HEIGHT / cells[1]
    fluid = gf.Fluid(
        gf.Grid(cells, size, origin=(-0.5 * size * cells[0], 0.0, -0.5 * size * cells[2])),
        boundaries=gf.Boundaries(gf.Open(), gf.Open(), gf.Wall("free"), gf.Open(), gf.Open(), gf.Open()),
        settings=gf.Settings(
            combustion=gf.Combustion(smoke_per_burn=0.7, expansion_per_burn=1.5),
            buoyancy=1.2,
            weight=0.25,
            cooling=0.8,
            density_dissipation=0.2,
            vorticity_confinement=3.5,
            pressure=gf.Multigrid(2),
            coarse_velocity=coarse,
        ),
        backend=backend,
        ctx=ctx,
    )
    for center, radius in PUFFS:
        puff = fluid.emitters.add(gf.Emitter(gf.Sphere(center, radius), fuel=3.5, falloff=0.05))
        puff.noise, puff.noise_size, puff.noise_time = 0.95, 0.1, 1.0
    fluid.emitters.add(gf.Emitter(gf.Sphere((0.0, 0.42, 0.0), 0.2), temperature=0.8, falloff=0.08))
    stirred = gf.Turbulence(strength=4.0, size=0.3)  # so that it folds, and no lobe is even
    fluid.forces.add(stirred)

    camera = gf.Camera(azimuth=30.0, elevation=7.0)

    def burn_out(_: gf.Scene, time: float) -> None:
        for source in fluid.emitters:
            source.active = time % AGAIN < EMPTY
        stirred.active = time % AGAIN < EMPTY
        if time <= BACK:  # later it can be moved by hand
            share = time / BACK
            share *= share * (3.0 - 2.0 * share)
            camera.target, camera.distance = (0.0, 0.64 + 0.6 * share, 0.0), 2.4 + 1.75 * share

    return gf.Scene(
        fluid,
        camera=camera,
        light=gf.Light(direction=(-0.7, -0.5, 0.55), color=(0.9, 0.98, 1.3), ambient=(0.012, 0.015, 0.025)),
        smoke=gf.Smoke(extinction=32.0, albedo=(0.4, 0.38, 0.37), fade=0.3, soft=True),
        fire=gf.Fire(300.0, 330.0, intensity=85.0, glow=2.5, core=(0.0, 0.0, 0.0), hottest=3000.0, soft=True),
        floor=0.0,
        picture=gf.Picture(floor_color=(0.05, 0.045, 0.04), background=(0.004, 0.005, 0.009)),
        update=burn_out,
        title="gpufluid: fireball",
    )


if __name__ == "__main__":
    gf.run(scene)
