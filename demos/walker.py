"""A figure walks through fog: its mesh bends at every frame, and its legs leave swirls behind them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

import gpufluid as gf

SOFTWARE_CELLS = (112, 56, 52)
GPU_CELLS = (224, 112, 104)
LENGTH = 3.6  # m
START = -2.1  # m; it comes in from the left
SPEED, STEPS = 1.1, 4.6  # m/s; radians of its gait a second

Floats = NDArray[np.float64]


def figure(gait: float) -> gf.Mesh:
    """A body of capsules, 1.7 m high, that walks along x, at the angle `gait` of its step, radians."""
    parts = [gf.Mesh.icosphere(3, 0.12, (0.03, 1.6, 0)), gf.Mesh.capsule((0, 1, 0), (0.02, 1.34, 0), 0.15)]

    def limb(start: Floats, angle: float, length: float, radius: float) -> Floats:
        """Add a capsule that hangs from `start`, swung forward by `angle`; return where it ends."""
        end = start + length * np.array((math.sin(angle), -math.cos(angle), 0.0))
        parts.append(gf.Mesh.capsule(tuple(start), tuple(end), radius, 24))
        return end

    for side in (-1, 1):
        turn = gait + 0.5 * math.pi * side
        thigh, knee = 0.45 * math.sin(turn), 0.12 + 0.85 * max(0.0, math.cos(turn + 0.4)) ** 2
        end = limb(np.array((0.0, 0.92, 0.1 * side)), thigh, 0.42, 0.085)
        end = limb(end, thigh - knee, 0.42, 0.065)
        limb(end, 0.5 * math.pi + 0.6 * (thigh - knee), 0.14, 0.05)
        end = limb(np.array((0.02, 1.38, 0.21 * side)), -0.8 * thigh, 0.28, 0.055)
        limb(end, 0.4 - 0.8 * thigh, 0.26, 0.045)
    starts = np.cumsum([0, *(len(part.vertices) for part in parts)])
    vertices = np.concatenate([part.vertices for part in parts])
    vertices[:, 1] -= vertices[:, 1].min()  # it stands on its lower foot
    return gf.Mesh(vertices, np.concatenate([p.triangles + n for p, n in zip(parts, starts, strict=False)]))


def fog(grid: gf.Grid) -> Floats:
    """Fog over the ground, deeper in some places than in others, [z, y, x]."""
    x, y, z = np.moveaxis(grid.local.centers(), -1, 0)
    wisps = np.zeros_like(x)
    for a, b, c, phase in np.random.default_rng(7).normal(size=(48, 4)) * (11.0, 9.0, 11.0, 9.0):
        wisps += np.sin(a * x + b * y + c * z + phase) / 5.0
    low = np.exp(-((y / (0.34 + 0.16 * wisps).clip(0.1)) ** 3))
    off_center = (2.0 * x / LENGTH - 1.0) ** 2 + 0.7 * (2.0 * z / grid.size[2] - 1.0) ** 2
    ends = 1.6 * off_center**2  # it thins out all round
    return np.asarray(low * np.clip(0.45 + 0.8 * wisps - ends, 0.0, 2.0))


def scene(cells: tuple[int, int, int] | None = None, backend: str = "auto", ctx: Any = None) -> gf.Scene:
    """A field of fog 3.6 m long, and who walks through it."""
    cells = cells or (SOFTWARE_CELLS if gf.is_software(ctx) else GPU_CELLS)
    size = LENGTH / cells[0]
    grid = gf.Grid(cells, size, origin=(-0.5 * LENGTH, 0.0, -0.5 * size * cells[2]))
    sides = gf.Boundaries(gf.Open(), gf.Open(), gf.Wall(), gf.Open(), gf.Open(), gf.Open())
    settings = gf.Settings(weight=0.1, vorticity_confinement=0.5, pressure=gf.Multigrid(2))
    fluid = gf.Fluid(grid, sides, settings, backend=backend, ctx=ctx)
    fluid.density.write(fog(grid))
    body = fluid.obstacles.add(gf.Obstacle(first := figure(0.0), position=(START, 0.0, 0.0)))

    def walk(_: gf.Scene, time: float) -> None:
        body.shape = first.moved(figure(STEPS * time).vertices)
        body.position = (START + SPEED * time, 0.0, 0.0)

    camera = gf.Camera(target=(0.1, 0.76, 0.0), distance=3.6, azimuth=12.0, elevation=8.0)
    light = gf.Light(direction=(-0.62, -0.32, 0.6), color=(3.6, 2.6, 1.7), ambient=(0.07, 0.11, 0.19))
    smoke = gf.Smoke(extinction=4.5, anisotropy=0.5, fade=0.5, edge=0.25)
    return gf.Scene(fluid, camera, light, smoke, floor=0.0, update=walk, title="gpufluid: walker")


if __name__ == "__main__":
    gf.run(scene)
