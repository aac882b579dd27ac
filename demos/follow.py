"""A torch is carried a long way at dusk; the box of smoke follows it and drops what is left behind."""

from __future__ import annotations

import math
from typing import Any

import gpufluid as gf

SOFTWARE_CELLS = (124, 56, 62)
GPU_CELLS = (192, 88, 96)
LENGTH = 3.3  # m, of the box; the way has no end
SPEED = 1.5  # m/s
LEAD = 0.95  # m from the torch back to the middle of the box: the trail needs the room
PILLARS, APART = 5, 0.83  # that stand at a time, m: one left behind is put up again ahead


def way(time: float) -> tuple[float, float, float]:
    """Where the torch is: it weaves between the pillars."""
    x = SPEED * time
    return x, 0.55 + 0.05 * math.sin(5.0 * x), 0.32 * math.sin(1.9 * x)


def scene(cells: tuple[int, int, int] | None = None, backend: str = "auto", ctx: Any = None) -> gf.Scene:
    """A row of pillars, and a torch on its way between them."""
    coarse = cells is None and gf.is_software(ctx)  # it has no time for a flow as fine as its smoke
    cells = cells or (SOFTWARE_CELLS if coarse else GPU_CELLS)
    size = LENGTH / cells[0]
    grid = gf.Grid(cells, size, origin=(-LEAD - 0.5 * LENGTH, 0.0, -0.5 * size * cells[2]))
    sides = gf.Boundaries(gf.Open(), gf.Open(), gf.Wall(), gf.Open(), gf.Open(), gf.Open())
    settings = gf.Settings(
        vorticity_confinement=0.7,
        buoyancy=1.0,
        cooling=0.5,
        density_dissipation=0.35,
        advection="monotone-cubic",
        velocity_advection="maccormack",
        pressure=gf.Multigrid(2),
        coarse_velocity=coarse,
    )
    fluid = gf.Fluid(grid, sides, settings, backend=backend, ctx=ctx)
    torch = gf.Emitter(gf.Sphere(radius=0.07), density=42.0, temperature=5.0, falloff=0.0375)
    torch.noise, torch.noise_size, torch.noise_time = 0.95, 0.13, 0.06
    fluid.emitters.add(torch)
    fluid.forces.add(gf.Turbulence(strength=1.2, size=0.4, time=0.6))
    ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.05), emission=(2.5, 0.7, 0.12)))
    post = gf.Cylinder(radius=0.07, height=1.0)
    pillars = [
        fluid.obstacles.add(gf.Obstacle(post, color=(0.3, 0.29, 0.27), gloss=0.1)) for _ in range(PILLARS)
    ]
    lamp = gf.PointLight(way(0.0), color=(0.4, 0.13, 0.028), radius=0.2)
    camera = gf.Camera(distance=2.7, azimuth=24.0, elevation=11.0)

    def carry(_: gf.Scene, time: float) -> None:
        ball.position = lamp.position = way(time)
        torch.position = way(time - 0.07)  # it smokes behind
        x = ball.position[0]
        last = math.floor(x / APART) + 1
        for n in range(last - PILLARS + 1, last + 1):
            pillars[n % PILLARS].position = APART * n, 0.5, -0.34 * math.sin(1.9 * APART * n)
        fluid.follow((x - LEAD, 0.0, 0.0))  # by whole cells, and never off its floor
        camera.target = (x - 0.8, 0.55, 0.0)  # the view glides

    carry(None, 0.0)  # type: ignore[arg-type]
    light = gf.Light(direction=(-0.45, -0.45, 0.6), color=(1.9, 1.6, 1.45), ambient=(0.025, 0.04, 0.08))
    smoke = gf.Smoke(extinction=30.0, anisotropy=0.3, fade=0.2, edge=0.15, soft=True)
    return gf.Scene(
        fluid, camera, light, smoke, lights=[lamp], floor=0.0, update=carry, title="gpufluid: follow"
    )


if __name__ == "__main__":
    gf.run(scene)
