"""A steady flame: a burner blows fuel, a ring of pilots lights its edge, and it burns inwards as it rises."""

from __future__ import annotations

from typing import Any

import numpy as np

import gpufluid as gf

SOFTWARE_CELLS = (40, 80, 40)
GPU_CELLS = (96, 192, 96)
HEIGHT = 1.0  # m
BURNER = 0.085  # m, its radius


def scene(cells: tuple[int, int, int] | None = None, backend: str = "auto", ctx: Any = None) -> gf.Scene:
    """A burner over the floor of a box that is open all round; above it the flame draws in air."""
    cells = cells or (SOFTWARE_CELLS if gf.is_software(ctx) else GPU_CELLS)
    size = HEIGHT / cells[1]
    fluid = gf.Fluid(
        gf.Grid(cells, size, origin=(-0.5 * size * cells[0], 0.0, -0.5 * size * cells[2])),
        boundaries=gf.Boundaries(gf.Open(), gf.Open(), gf.Wall(), gf.Open(), gf.Open(), gf.Open()),
        settings=gf.Settings(
            combustion=gf.Combustion(burn_per_temperature=2.2, smoke_per_burn=0.6),
            buoyancy=2.0,
            cooling=3.2,
            density_dissipation=1.5,
            thermal_diffusivity=1e-3,  # by which the flame eats into the cold fuel
            vorticity_confinement=2.5,
            pressure=gf.Multigrid(2),
        ),
        backend=backend,
        ctx=ctx,
    )
    fuel = gf.Emitter(
        gf.Cylinder((0.0, 0.04, 0.0), BURNER, 0.04), fuel=3.6, velocity=(0.0, 0.3, 0.0), edge="hard"
    )
    fuel.noise, fuel.noise_size, fuel.noise_time = 0.9, 0.06, 0.1
    fluid.emitters.add(fuel)
    turn = np.linspace(0.0, 2.0 * np.pi, 25)
    ring = np.stack([BURNER * np.cos(turn), np.full(25, 0.055), BURNER * np.sin(turn)], axis=1)
    pilots = gf.Emitter(gf.Line(ring, 0.01), temperature=0.8, falloff=max(0.0125, size))  # no gaps in it
    fluid.emitters.add(pilots)
    return gf.Scene(
        fluid,
        camera=gf.Camera(target=(0.0, 0.4, 0.0), distance=1.6, azimuth=20.0, elevation=6.0),
        light=gf.Light(direction=(-0.8, -0.7, 0.4), color=(0.25, 0.27, 0.35), ambient=(0.02, 0.024, 0.035)),
        smoke=gf.Smoke(extinction=3.0, albedo=(0.2, 0.18, 0.17), fade=0.2),
        fire=gf.Fire(
            100.0, 600.0, intensity=300.0, core=(0.0, 0.12, 0.42), soot=1.4, shimmer=0.004, hottest=2400.0
        ),
        floor=0.0,
        picture=gf.Picture(floor_color=(0.08, 0.072, 0.065), background=(0.004, 0.005, 0.009)),
        title="gpufluid: flame",
    )


if __name__ == "__main__":
    gf.run(scene)
