"""A gas giant: winds given by a formula carry its coloured bands round it and curl them up."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

import gpufluid as gf

SOFTWARE_CELLS, GPU_CELLS = (96, 96, 96), (160, 160, 160)
LENGTH, RADIUS = 1.0, 0.48  # m: of the box, of the planet
FRESH = 1.8  # 1/s: gas of a place's own colour wells up
JETS, EDDIES, STORM = 0.5, 0.11, 0.6  # m/s, of eddies each
SPOT, WIDTH = (0.128, -0.187, 0.423), (0.1, 0.058, 0.1)  # m: where the storm is, and half its widths


def bandwise(y: Any) -> Any:
    """The phase of the bands, radians, at y / RADIUS: they are of unequal widths."""
    return 17.0 * y + 1.5 * np.sin(5.0 * y + 1.0) + 0.4


def winds(place: Any) -> list[Any]:
    """Velocities, m/s: of jets and storm, of eddies now and a quarter of their period on, of a mere turn."""
    random, apart = np.random.default_rng(5), (place - SPOT) / WIDTH
    steady = STORM / 0.6 * np.exp(0.5 - 0.5 * (apart**2).sum(-1, keepdims=True)) * apart
    steady[..., 1] += JETS * np.sin(bandwise(place[..., 1] / RADIUS))  # each way by turns
    slopes = random.normal(size=(12, 3)) * (1.0, 1.6, 1.0)  # eddies are wider than they are high
    slopes *= random.uniform(0.6, 1.9, (12, 1)) / np.linalg.norm(slopes, axis=1, keepdims=True)
    phase = 36.0 * place @ slopes.T + random.uniform(0.0, 2.0 * np.pi, 12)
    now, later = EDDIES * np.cos(phase) @ slopes, EDDIES * np.sin(phase) @ slopes
    calm = np.clip(0.5 - (np.linalg.norm(place, axis=-1, keepdims=True) - RADIUS) / 0.012, 0.0, 1.0)
    # each the slope of a stream function across the radius: along the surface, and without divergence
    return [calm * np.cross(slope, place) / RADIUS for slope in (steady, now, later, (0, 1, 0))]


def bands(place: Any) -> Any:
    """Shares of dark belts, pale zones and grey hoods of the poles, [..., 3]."""
    y = place[..., 1] / RADIUS
    phase = bandwise(y) + 0.35 * np.sin(17.0 * place[..., 0]) * np.sin(15.0 * place[..., 2])
    belt = np.clip(0.6 + 2.6 * np.sin(phase) + 1.9 * np.sin(2.3 * phase + 1.0), 0.0, 1.0)
    belt *= 0.86 + 0.14 * np.sin(4.0 * y + 2.5)
    apart = np.linalg.norm((place - SPOT) / WIDTH, axis=-1)  # the storm is dark in a pale ring
    belt += np.clip(3.0 - 1.5 * apart, 0.0, 1.0) * (np.clip(3.0 - 2.5 * apart, 0.0, 1.0) - belt)
    hood = np.clip(10.0 * np.abs(y) - 7.3, 0.0, 1.0) + 0.5 * np.exp(-(((y - 0.05) / 0.035) ** 2))
    return np.stack([belt * (1.0 - hood), (1.0 - belt) * (1.0 - hood), hood], axis=-1)


def scene(cells: tuple[int, int, int] | None = None, backend: str = "auto", ctx: Any = None) -> gf.Scene:
    """A ball of gas of three colours, and a sun."""
    cells = cells or (SOFTWARE_CELLS if gf.is_software(ctx) else GPU_CELLS)
    size = LENGTH / cells[0]
    x, y, z = (-0.5 * size * n for n in cells)
    settings = gf.Settings(solve_velocity=False, density_dissipation=FRESH)  # nothing pushes these winds
    fluid = gf.Fluid(gf.Grid(cells, size, (x, y, z)), settings=settings, backend=backend, ctx=ctx)
    corners = size * np.moveaxis(np.indices([n + 1 for n in cells[::-1]])[::-1], 0, -1) + (x, y, z)
    steady, now, later, turn = fields = winds(corners)
    for field, n, axis in product(fields, range(3), range(3)):
        if n + axis != 2:  # to the middles of the faces that part n goes through
            field[..., n] = 0.5 * (field[..., n] + np.roll(field[..., n], -1, axis))
    place = corners[:-1, :-1, :-1] + 0.5 * size
    deep = RADIUS - np.linalg.norm(place, axis=-1, keepdims=True)
    gas = np.clip(deep / (2.5 * size), 0.0, 1.0) * bands(place)
    fluid.color.write(gas)
    for n in range(3):
        fluid.emitters.add(gf.Emitter(gf.Array(gas[..., n]), color=tuple(FRESH * np.eye(3)[n])))

    moon = gf.Sphere((0.55, 0.2, 0.5), 0.035)  # outside the box: all it does is throw its shadow
    fluid.obstacles.add(gf.Obstacle(moon, color=(0.16, 0.14, 0.13)))

    def blow(scene: gf.Scene, time: float) -> None:
        if scene.frame % 5 == 0:  # they change slowly; a wind of the keys a and d turns the planet
            spin = sum(force.velocity[0] for force in fluid.forces if isinstance(force, gf.Wind))
            fluid.velocity.write(steady + np.cos(0.8 * time) * now + np.sin(0.8 * time) * later + spin * turn)

    return gf.Scene(
        fluid,
        camera=gf.Camera(target=(0.12, 0.0, 0.0), distance=1.85),
        light=gf.Light(direction=(-0.95, -0.22, -0.4), color=(2.6, 2.4, 2.15), ambient=(0.01, 0.01, 0.01)),
        smoke=gf.Smoke(58.0, pigments=((0.5, 0.13, 0.035), (0.95, 0.82, 0.6), (0.3, 0.38, 0.47)), soft=True),
        picture=gf.Picture(background=(0.001, 0.001, 0.002)),
        update=blow,
        title="gpufluid: planet",
    )


if __name__ == "__main__":
    gf.run(scene)
