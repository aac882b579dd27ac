"""A blast, then a fire whirl: a vortex winds up the blast, and the flames of three burners into a rope."""

from __future__ import annotations

import math
from typing import Any

import gpufluid as gf

SOFTWARE_CELLS = (48, 104, 48)
GPU_CELLS = (104, 225, 104)
HEIGHT = 2.6  # m
RING = 0.17  # m, from the axis to the burners
TURN = 1.3  # rad/s, of the burners against the vortex: so the strands of the rope seem to climb
LEAK = 0.2  # s, for which gas has leaked when the burners are lit
BLAST = 0.8  # s, until which it is stirred: the rope after it is smooth


def scene(cells: tuple[int, int, int] | None = None, backend: str = "auto", ctx: Any = None) -> gf.Scene:
    """Burners on a grate that lets air in, in gas that has leaked, under a hood that draws it off."""
    cells = cells or (SOFTWARE_CELLS if gf.is_software(ctx) else GPU_CELLS)
    size = HEIGHT / cells[1]
    # with an open top air would come down the axis, where the pressure is low, and press the flames flat
    grate, hood = gf.Inflow((0.0, 0.8, 0.0)), gf.Inflow((0.0, 2.0, 0.0))
    fluid = gf.Fluid(
        gf.Grid(cells, size, origin=(-0.5 * size * cells[0], 0.0, -0.5 * size * cells[2])),
        boundaries=gf.Boundaries(gf.Open(), gf.Open(), grate, hood, gf.Open(), gf.Open()),
        settings=gf.Settings(
            combustion=gf.Combustion(
                burn_per_temperature=3.0, smoke_per_burn=0.35, expansion_per_burn=0.6, radiation=0.1
            ),
            buoyancy=2.6,
            cooling=3.0,
            density_dissipation=0.6,
            vorticity_confinement=0.6,
            pressure=gf.Multigrid(2),
        ),
        backend=backend,
        ctx=ctx,
    )
    burners = [gf.Emitter(gf.Sphere((0.0, 0.1, 0.0), 0.07), fuel=3.0, temperature=1.0) for _ in range(3)]
    for burner in burners:
        burner.falloff, burner.noise, burner.noise_size, burner.noise_time = 0.03, 0.9, 0.08, 0.2
        fluid.emitters.add(burner)
    leak = gf.Emitter(gf.Sphere((0.0, 0.25, 0.0), 0.2), fuel=4.0, falloff=0.1, noise=0.9, noise_size=0.15)
    fluid.emitters.add(leak)
    fluid.forces.add(gf.Vortex((0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0), strength=4.5, radius=0.25))
    stirred = gf.Turbulence(strength=3.0, size=0.3)
    fluid.forces.add(stirred)

    def turn(_: gf.Scene, time: float) -> None:
        leak.active, stirred.active = time < LEAK, time < BLAST
        for n, burner in enumerate(burners):
            a = TURN * time + 2.0 * math.pi * n / len(burners)
            burner.temperature = None if leak.active else 1.0
            burner.position = (RING * math.cos(a), 0.0, RING * math.sin(a))

    sparks = [gf.ParticleSource(burner, color=(1.0, 0.35, 0.06)) for burner in burners]
    return gf.Scene(
        fluid,
        camera=gf.Camera(target=(0.0, 0.98, 0.0), distance=3.2, azimuth=30.0, elevation=8.0),
        light=gf.Light(direction=(-0.8, -0.7, 0.3), color=(0.3, 0.34, 0.5), ambient=(0.02, 0.024, 0.035)),
        smoke=gf.Smoke(extinction=30.0, albedo=(0.45, 0.42, 0.4), fade=0.4, soft=True),
        fire=gf.Fire(
            600.0, 480.0, intensity=110.0, core=(0.0, 0.004, 0.02), hottest=2600.0, glow=1.9, soft=True
        ),
        views=[gf.ParticlesView(300, sparks, life=1.6, size=0.009, unit="metres", opacity=1.0, streak=0.03)],
        floor=0.0,
        picture=gf.Picture(floor_color=(0.15, 0.135, 0.12), background=(0.004, 0.005, 0.009)),
        update=turn,
        title="gpufluid: vortex_blast",
    )


if __name__ == "__main__":
    gf.run(scene)
