"""A cumulus in the light of a sun that turns: noon, evening, its silver lining against the sun, and noon."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

import gpufluid as gf

SOFTWARE_CELLS = (96, 60, 72)
GPU_CELLS = (192, 120, 144)
LENGTH = 1.3  # of the box; a cloud in the sky is some hundred times as large
SUN = (  # s; degrees round the cloud, degrees above the horizon; colours of the sun and of the sky
    (0.0, 125.0, 52.0, 6.5, 6.2, 5.8, 0.3, 0.46, 0.8),
    (1.0, 120.0, 42.0, 6.2, 5.8, 5.2, 0.3, 0.46, 0.8),
    (2.4, 100.0, 6.0, 5.2, 2.2, 0.8, 0.24, 0.25, 0.38),
    (4.0, 168.0, 14.0, 6.0, 3.5, 1.8, 0.15, 0.18, 0.32),
)
DAY = 5.2  # s, from noon to noon
FRESH = 1.5  # 1/s: vapour condenses where the cloud is, and droplets dry up round it


def cumulus(grid: gf.Grid) -> NDArray[np.float64]:
    """Vapour heaped over a flat base, [z, y, x]: balls that carry smaller balls, which carry smaller ones."""
    random = np.random.default_rng(5)
    x, z = random.normal(0.0, (0.24, 0.17), (18, 2)).clip((-0.38, -0.2), (0.38, 0.2)).T
    height = 0.1 + 0.42 * np.exp(-7.0 * (x + 0.06) ** 2 - 16.0 * z**2) * random.uniform(0.4, 1.0, 18)
    heap = [np.stack([x, height, z, random.uniform(0.1, 0.18, 18)], axis=1)]
    heap[0][0] = 0.0, 0.24, 0.0, 0.22
    # down to balls four cells wide: larger ones show as bubbles in a GPU's finer cells
    for children in (24, 14, 20) if grid.cell_size < 0.01 else (24, 14):
        parents = np.repeat(heap[-1], children, axis=0)
        way = random.normal(size=(len(parents), 3))
        way *= parents[:, 3:] / np.linalg.norm(way, axis=1, keepdims=True)
        radius = 0.45 * parents[:, 3:] * random.uniform(0.8, 1.1, (len(parents), 1))
        heap.append(np.concatenate([parents[:, :3] + way, radius], axis=1))
    axes = [o + grid.cell_size * (np.arange(n) + 0.5) for o, n in zip(grid.origin, grid.cells, strict=True)]
    inside = np.full(grid.cells[::-1], -1.0)  # metres under the surface
    for *at, r in np.concatenate(heap):
        i, j, k = (slice(*np.searchsorted(p, (c - r, c + r))) for p, c in zip(axes, at, strict=True))
        x, y, z = axes[0][i] - at[0], axes[1][j, None] - at[1], axes[2][k, None, None] - at[2]
        inside[k, j, i] = np.maximum(inside[k, j, i], r - np.sqrt(x**2 + y**2 + z**2))
    return np.asarray(np.clip(inside / 0.03, 0, 1) * np.clip((axes[1][:, None] - 0.1) / 0.05, 0, 1))


def scene(cells: tuple[int, int, int] | None = None, backend: str = "auto", ctx: Any = None) -> gf.Scene:
    """A cloud that keeps its place in an open sky, while the eddies of the air tug at it."""
    cells = cells or (SOFTWARE_CELLS if gf.is_software(ctx) else GPU_CELLS)
    size = LENGTH / cells[0]
    grid = gf.Grid(cells, size, origin=(-0.5 * LENGTH, 0.0, -0.5 * size * cells[2]))
    settings = gf.Settings(density_dissipation=FRESH, vorticity_confinement=0.3, pressure=gf.Multigrid(2))
    fluid = gf.Fluid(grid, gf.Boundaries.all(gf.Open()), settings, backend=backend, ctx=ctx)
    vapour = cumulus(fluid.grid)
    fluid.density.write(vapour)
    fluid.emitters.add(gf.Emitter(gf.Array(vapour), density=FRESH))
    fluid.forces.add(gf.Turbulence(strength=0.02, size=0.2))
    light = gf.Light()

    def turn(_: gf.Scene, time: float) -> None:
        times, *tracks = zip(*SUN, strict=True)
        around, above, *c = (float(np.interp(time, times, track, period=DAY)) for track in tracks)
        a, e = math.radians(around), math.radians(above)
        light.direction = -math.cos(e) * math.sin(a), -math.sin(e), -math.cos(e) * math.cos(a)
        light.color, light.ambient = (c[0], c[1], c[2]), (c[3], c[4], c[5])

    return gf.Scene(
        fluid,
        camera=gf.Camera(target=(0.0, 0.38, 0.0), distance=1.6, elevation=-4.0),
        light=light,
        smoke=gf.Smoke(extinction=75.0, albedo=(0.99, 0.99, 0.99), anisotropy=0.5, edge=0.6, soft=True),
        picture=gf.Picture(background="sky"),
        update=turn,
        title="gpufluid: cloud",
    )


if __name__ == "__main__":
    gf.run(scene)
