"""A candle flame on a transparent background, to put over a picture: run the file itself to see that."""

from __future__ import annotations

from typing import Any

import numpy as np

import gpufluid as gf
from gpufluid.io.images import write_png

SOFTWARE_CELLS, GPU_CELLS = (68, 136, 68), (96, 192, 96)
HEIGHT, TOP, WICK = 0.24, 0.08, 0.095  # m, of the box, of the wax, and of the wick's tip


def scene(cells: tuple[int, int, int] | None = None, backend: str = "auto", ctx: Any = None) -> gf.Scene:
    """A wick that gives off fuel over a cylinder of wax; three times slower than it is."""
    coarse = cells is None and gf.is_software(ctx)  # it has no time for a flow as fine as its flame
    cells = cells or (SOFTWARE_CELLS if coarse else GPU_CELLS)
    size = HEIGHT / cells[1]
    fluid = gf.Fluid(
        gf.Grid(cells, size, origin=(-0.5 * size * cells[0], 0.0, -0.5 * size * cells[2])),
        boundaries=gf.Boundaries(gf.Open(), gf.Open(), gf.Wall(), gf.Open(), gf.Open(), gf.Open()),
        settings=gf.Settings(
            combustion=gf.Combustion(burn_per_temperature=5.5, smoke_per_burn=0.3, expansion_per_burn=0.5),
            buoyancy=1.0,
            cooling=11.0,
            density_dissipation=3.0,
            viscosity=2e-4,
            pressure=gf.Multigrid(2),
            coarse_velocity=coarse,
        ),
        backend=backend,
        ctx=ctx,
    )
    wick = gf.Capsule((0.0, TOP, 0.0), (0.0, WICK, 0.0), 0.0019)
    wax = gf.Cylinder((0.0, 0.5 * TOP, 0.0), 0.028, TOP)
    for solid, color in ((wax, (0.78, 0.55, 0.36)), (wick, (0.03, 0.02, 0.02))):
        fluid.obstacles.add(gf.Obstacle(solid, color=color))
    vapour = fluid.emitters.add(gf.Emitter(gf.Sphere((0.0, WICK, 0.0), 0.008), fuel=3.0, falloff=0.0025))
    vapour.velocity = (0.0, 0.12, 0.0)
    fluid.forces.add(gf.Turbulence(strength=0.16, size=0.12, time=0.5))  # the air of a room is never still
    fluid.emitters.add(gf.Emitter(gf.Sphere((0, WICK - 0.004, 0), 0.007), temperature=0.9, falloff=0.0025))
    return gf.Scene(
        fluid,
        camera=gf.Camera(target=(0.0, 0.105, 0.0), distance=0.36, azimuth=20.0, elevation=5.0),
        light=gf.Light(direction=(-0.8, -0.3, 0.1), color=(0.5, 0.34, 0.2), ambient=(0.09, 0.06, 0.05)),
        lights=[gf.PointLight((0.0, TOP + 0.04, 0.0), color=(0.004, 0.0022, 0.0009), radius=0.01)],
        smoke=gf.Smoke(extinction=4.0),
        fire=gf.Fire(400.0, 600.0, intensity=1450.0, core=(0.0, 0.3, 1.1), soot=1.0, hottest=4000.0),
        picture=gf.Picture(background="transparent"),
        dt=1.0 / 90.0,
        title="gpufluid: candle",
    )


def over(picture: np.ndarray, plate: np.ndarray) -> np.ndarray:
    """Premultiplied [h, w, 4] over a plate [h, w, 3], uint8: light adds to light, the flame hides nothing."""
    light, behind = ((p[..., :3] / 255.0) ** 2.2 for p in (picture, plate))
    shown = light + (1.0 - picture[..., 3:] / 255.0) * behind
    return np.asarray(255.0 * np.minimum(shown, 1.0) ** (1.0 / 2.2) + 0.5, np.uint8)


def table(width: int, height: int) -> np.ndarray:
    """A plate: lamps out of focus behind a table, [height, width, 3]."""
    random, horizon = np.random.default_rng(7), int(0.78 * height)
    y, x = np.mgrid[0:height, 0:width] / height
    tints = np.array([(1.0, 0.45, 0.12), (1.0, 0.25, 0.08), (1.0, 0.7, 0.35), (0.2, 0.4, 0.6)])
    light = np.array([0.014, 0.008, 0.012]) * (0.2 + y[..., None])
    for n in range(24):
        radius, across, up = random.uniform((0.03, 0.0, 0.1), (0.1, 1.78, 0.7))
        apart = np.hypot(x - across, y - up) / radius
        disc = np.clip(12.0 * (1.0 - apart), 0.0, 1.0) * (0.65 + 0.35 * np.minimum(apart, 1.0) ** 6)
        light += 0.0042 / radius**1.3 * disc[..., None] * tints[n % 4]
    below = np.arange(height - horizon)  # the wood mirrors some of them, and is lit by the flame
    grain = 0.8 + 0.25 * np.sin(5.0 * x + 160.0 * y + 2.0 * np.sin(7.0 * x)) * np.sin(333.0 * y + 3.0 * x)
    near = np.exp(-(((x - 0.5 * width / height) / 0.4) ** 2) - ((y - 0.93) / 0.16) ** 2)
    wood = (0.01 + 0.16 * near * grain)[..., None] * np.array([1.0, 0.42, 0.15])
    light[horizon:] = wood[horizon:] + 0.25 * light[horizon - 1 - below]
    return np.asarray(255.0 * np.clip(light, 0.0, 1.0) ** (1.0 / 2.2) + 0.5, np.uint8)


if __name__ == "__main__":
    shot = scene()
    while shot.time < 0.8:
        shot.advance()
    frame = gf.FrameRenderer.of(shot.picture, shot.fluid.ctx)
    frame.draw(shot)
    write_png("candle.png", over(frame.read("premultiplied"), table(*frame.size)))
