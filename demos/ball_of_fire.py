"""A ball of fire that stays in place: three vortices turn it about its own centre while fuel feeds it."""

from __future__ import annotations

from typing import Any

import gpufluid as gf

SOFTWARE_CELLS = (64, 64, 64)
GPU_CELLS = (112, 112, 112)
LENGTH = 1.28  # m, of the box, which ends above the ground
RADIUS = 0.22  # m, of the ball
CENTER = (0.0, 0.8, 0.0)


def scene(cells: tuple[int, int, int] | None = None, backend: str = "auto", ctx: Any = None) -> gf.Scene:
    """Fuel and heat in a ball, in air that hot gas hardly rises in; + and - feed it, a and d blow on it."""
    cells = cells or (SOFTWARE_CELLS if gf.is_software(ctx) else GPU_CELLS)
    size = LENGTH / cells[0]
    low = [middle - 0.5 * size * n for middle, n in zip(CENTER, cells, strict=True)]
    fluid = gf.Fluid(
        gf.Grid(cells, size, origin=tuple(low)),
        boundaries=gf.Boundaries.all(gf.Open()),
        settings=gf.Settings(
            advection="monotone-cubic",
            combustion=gf.Combustion(burn_per_temperature=2.0, smoke_per_burn=0.8, expansion_per_burn=0.6),
            buoyancy=0.08,
            cooling=2.5,
            density_dissipation=3.0,
            vorticity_confinement=4.0,
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
        light=gf.Light(direction=(-0.6, -0.8, -0.3), color=(0.06, 0.07, 0.11), ambient=(0.008, 0.01, 0.017)),
        smoke=gf.Smoke(extinction=90.0, albedo=(0.45, 0.4, 0.36), fade=0.15),
        fire=gf.Fire(
            kelvin_at_zero=350.0,
            kelvin_per_temperature=460.0,
            intensity=85.0,
            core=(0.0, 0.01, 0.05),
            hottest=2900.0,
            glow=4.0,
            soot=0.25,
            soft=True,
        ),
        floor=0.0,
        picture=gf.Picture(floor_color=(0.2, 0.175, 0.15), background=(0.004, 0.005, 0.009)),
        update=churn,
        title="gpufluid: ball_of_fire",
    )


if __name__ == "__main__":
    gf.run(scene)
