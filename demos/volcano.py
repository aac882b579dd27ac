"""An eruption at dusk: ash rolls out of a crater, lit by a low sun and from within by what burns there."""

from __future__ import annotations

from typing import Any

import numpy as np

import gpufluid as gf

SOFTWARE_CELLS = (100, 122, 100)
GPU_CELLS = (144, 176, 144)
HEIGHT = 1.7  # m
CRATER, SUMMIT, FOOT = 0.1, 0.38, 0.95  # m: radius of the crater, height, width of a slope
PLAIN = (0.095, 0.075, 0.065)


def mountain() -> gf.Mesh:
    """A ball drawn out into a cone with a crater and gullies, which flattens into the plain."""
    ball = gf.Mesh.icosphere(5)
    x, y, z = ball.vertices.T
    from_top, turn = np.arccos(np.clip(y, -1.0, 1.0)) / np.pi, np.arctan2(z, x)
    inward, down = np.clip(from_top / 0.12, 0.0, 1.0), np.clip((from_top - 0.12) / 0.78, 0.0, 1.0)
    out = FOOT * down**1.4  # m, from the crater's rim
    gully = 0.13 * np.sin(11.0 * turn + 0.8 * np.sin(3.0 * turn) + out)
    gully += 0.07 * np.sin(23.0 * turn - 2.0 * out)
    height = SUMMIT * (1.0 - out / FOOT) ** 3 * (1.0 + gully * (1.0 - np.exp(-out / 0.1)))
    height -= 0.06 * (1.0 - inward) + 0.0007 * down  # its hem lies under the ground
    radius = (CRATER * inward + out) * np.clip((1.0 - from_top) / 0.1, 0.0, 1.0)
    return gf.Mesh(np.stack([radius * np.cos(turn), height, radius * np.sin(turn)], 1), ball.triangles)


def scene(cells: tuple[int, int, int] | None = None, backend: str = "auto", ctx: Any = None) -> gf.Scene:
    """A mountain in the open, a vent in its crater and a light wind."""
    coarse = cells is None and gf.is_software(ctx)  # it has no time for a flow as fine as its smoke
    cells = cells or (SOFTWARE_CELLS if coarse else GPU_CELLS)
    size = HEIGHT / cells[1]
    fluid = gf.Fluid(
        gf.Grid(cells, size, origin=(-0.33 * size * cells[0], 0.0, -0.5 * size * cells[2])),  # room to lee
        boundaries=gf.Boundaries(gf.Open(), gf.Open(), gf.Wall(), gf.Open(), gf.Open(), gf.Open()),
        settings=gf.Settings(
            combustion=gf.Combustion(smoke_per_burn=1.5, expansion_per_burn=1.0, radiation=0.12),
            buoyancy=1.9,
            weight=0.12,
            cooling=1.3,
            density_dissipation=0.25,
            vorticity_confinement=0.8,
            advection="monotone-cubic",  # keeps small billows
            velocity_advection="maccormack",
            pressure=gf.Multigrid(2),
            coarse_velocity=coarse,
        ),
        backend=backend,
        ctx=ctx,
    )
    fluid.obstacles.add(gf.Obstacle(mountain(), color=PLAIN, gloss=0.0))
    vent = gf.Emitter(gf.Cylinder((0.0, SUMMIT, 0.0), 0.085, 0.05), density=11.0, temperature=0.9)
    vent.falloff, vent.noise, vent.noise_size, vent.noise_time = 0.0193, 1.0, 0.06, 0.1
    fluid.emitters.add(vent)  # its patches and the eddies of the air break the ash up
    fluid.forces.add(gf.Wind((0.3, 0.0, 0.1), rate=0.5))
    fluid.forces.add(gf.Turbulence(strength=0.2, size=0.3))

    mouth, glow, dim = gf.Sphere((0.0, SUMMIT + 0.04, 0.0), 0.06), (1.0, 0.75, 0.35), (0.7, 0.08, 0.02)
    thrown = gf.ParticleSource(mouth, color=glow, last_color=dim, velocity=(0.0, 2.2, 0.0), spread=0.9)
    bombs = gf.ParticlesView(200, [thrown], life=1.8, unit="metres", size=0.007, response=2.0, fall=9.0)
    bombs.opacity, bombs.bounce, bombs.vary, bombs.streak = 1.0, 0.2, 0.6, 0.025

    def throb(_: gf.Scene, time: float) -> None:
        beat = np.sin(4.1 * time) + np.sin(6.7 * time + 1.0)
        vent.fuel = 1.8 + 0.6 * float(beat)
        vent.velocity = (0.2 * np.sin(5.3 * time), 2.0 + 0.3 * beat, 0.2 * np.cos(4.7 * time))

    return gf.Scene(
        fluid,
        camera=gf.Camera(target=(0.12, 0.79, 0.0), distance=2.7, azimuth=25.0, elevation=3.0),
        light=gf.Light(direction=(0.8, -0.25, 0.05), color=(4.0, 1.95, 1.1), ambient=(0.055, 0.07, 0.125)),
        smoke=gf.Smoke(extinction=60.0, edge=0.25, albedo=(0.6, 0.56, 0.53), fade=0.35, soft=True),
        fire=gf.Fire(500.0, 700.0, intensity=195.0, glow=0.62, core=(0.0, 0.0, 0.0), hottest=1900.0),
        picture=gf.Picture(background="sky", floor_color=PLAIN),
        floor=0.0,
        views=[bombs],
        update=throb,
        title="gpufluid: volcano",
    )


if __name__ == "__main__":
    gf.run(scene)
