"""A ball of fire that stays in place: three vortices turn it about its own centre while fuel feeds it."""

from __future__ import annotations

from typing import Any

import gpufluid as gf

SOFTWARE_CELLS = (64, 64, 64)
GPU_CELLS = (112, 112, 112)
LENGTH = 1.6  # m, of the box
RADIUS = 0.22  # m, of the ball
CENTER = (0.0, 0.8, 0.0)


def scene(cells: tuple[int, int, int] | None = None, backend: str = "auto", ctx: Any = None) -> gf.Scene:
    """Fuel and heat in a ball, in air that hot gas hardly rises in; + and - feed it, a and d blow on it."""
    cells = cells or (SOFTWARE_CELLS if gf.is_software(ctx) else GPU_CELLS)
    size = LENGTH / cells[0]
    fluid = gf.Fluid(
        gf.Grid(cells, size, origin=(-0.5 * LENGTH, 0.0, -0.5 * size * cells[2])),
        boundaries=gf.Boundaries.all(gf.Open()),
        settings=gf.Settings(
            advection="monotone-cubic",
            combustion=gf.Combustion(burn_per_temperature=2.0, smoke_per_burn=0.5, expansion_per_burn=0.6),
            buoyancy=0.08,
            cooling=2.5,
            density_dissipation=3.0,
            vorticity_confinement=3.0,
            pressure=gf.Multigrid(2),
        ),
        backend=backend,
        ctx=ctx,
    )
    fuel = gf.Emitter(gf.Sphere(CENTER, RADIUS), fuel=1.1, falloff=0.04)
    fuel.noise, fuel.noise_size, fuel.noise_time = 1.0, 0.13, 0.25
    fluid.emitters.add(fuel)
    fluid.emitters.add(gf.Emitter(gf.Sphere(CENTER, 0.3 * RADIUS), temperature=4.0, falloff=0.05))
    fluid.forces.add(gf.Turbulence(strength=2.5, size=0.2))
    # no axis of its own: each turns the ball about another one, and they take turns
    axes = ((1.0, 0.3, 0.0), (0.0, 1.0, 0.3), (0.3, 0.0, 1.0))
    vortices = [gf.Vortex(CENTER, axis, 0.0, RADIUS) for axis in axes]
    for vortex in vortices:
        fluid.forces.add(vortex)

    def churn(_: gf.Scene, time: float) -> None:
        for n, vortex in enumerate(vortices):
            vortex.strength = 1.1 * (-1.0) ** int(1.7 * time + n / 3)

    return gf.Scene(
        fluid,
        camera=gf.Camera(target=(0.0, 0.74, 0.0), distance=2.4, azimuth=20.0, elevation=8.0),
        light=gf.Light(direction=(-0.6, -0.8, -0.3), color=(0.14, 0.16, 0.24), ambient=(0.012, 0.015, 0.025)),
        smoke=gf.Smoke(extinction=45.0, albedo=(0.5, 0.45, 0.4)),
        fire=gf.Fire(
            kelvin_at_zero=550.0,
            kelvin_per_temperature=300.0,
            intensity=65.0,
            core=(0.0, 0.01, 0.05),
            hottest=2800.0,
            glow=1.4,
        ),
        floor=0.0,
        picture=gf.Picture(floor_color=(0.15, 0.135, 0.12), background=(0.004, 0.005, 0.009)),
        update=churn,
        title="gpufluid: ball_of_fire",
    )


if __name__ == "__main__":
    gf.run(scene)
