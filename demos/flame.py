"""A steady flame: a burner blows fuel, a pilot lights it, and what burns feeds the rest."""

from __future__ import annotations

from typing import Any

import gpufluid as gf

SOFTWARE_CELLS = (48, 96, 48)
GPU_CELLS = (96, 192, 96)
HEIGHT = 1.2  # m
BURNER = 0.08  # m, its radius


def scene(cells: tuple[int, int, int] | None = None, backend: str = "auto", ctx: Any = None) -> gf.Scene:
    """A burner over the floor of a box that is open all round; above it the flame draws in air."""
    cells = cells or (SOFTWARE_CELLS if gf.is_software(ctx) else GPU_CELLS)
    size = HEIGHT / cells[1]
    fluid = gf.Fluid(
        gf.Grid(cells, size, origin=(-0.5 * size * cells[0], 0.0, -0.5 * size * cells[2])),
        boundaries=gf.Boundaries(gf.Open(), gf.Open(), gf.Wall(), gf.Open(), gf.Open(), gf.Open()),
        settings=gf.Settings(
            combustion=gf.Combustion(burn_per_temperature=1.5, smoke_per_burn=0.6),
            buoyancy=2.0,
            cooling=3.0,
            density_dissipation=1.0,
            vorticity_confinement=0.6,
            pressure=gf.Multigrid(2),
        ),
        backend=backend,
        ctx=ctx,
    )
    # the pilot lies below: no fuel can gather in the still air on the floor
    nozzle = gf.Cylinder((0.0, 0.06, 0.0), radius=BURNER, height=0.04)
    pilot = gf.Cylinder((0.0, 0.02, 0.0), radius=BURNER, height=0.04)
    fuel = gf.Emitter(nozzle, fuel=4.0, velocity=(0.0, 0.7, 0.0), edge="hard")
    fuel.noise, fuel.noise_size, fuel.noise_time = 0.9, 0.06, 0.1
    fluid.emitters.add(fuel)
    fluid.emitters.add(gf.Emitter(pilot, temperature=0.8, falloff=0.03))
    return gf.Scene(
        fluid,
        camera=gf.Camera(target=(0.0, 0.5, 0.0), distance=2.2, azimuth=20.0, elevation=6.0),
        light=gf.Light(direction=(-0.8, -0.7, 0.4), color=(0.9, 0.9, 1.0), ambient=(0.03, 0.035, 0.05)),
        smoke=gf.Smoke(extinction=12.0),
        fire=gf.Fire(kelvin_per_temperature=560.0, intensity=30.0, core=(0.01, 0.04, 0.2), shimmer=0.004),
        floor=0.0,
        title="gpufluid: flame",
    )


if __name__ == "__main__":
    gf.run(scene)
