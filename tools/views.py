"""A warm plume round a ball, seen in nine ways: one picture of each view of a flow.

    python tools/views.py [FOLDER]

writes them as PNG files.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

import gpufluid as gf
from gpufluid.io.images import write_png

CELLS = (56, 84, 56)
HEIGHT = 1.2  # m
FRAMES = 100
BALL = gf.Sphere((0.0, 0.47, 0.0), 0.15)
SOURCE = gf.Cylinder((0.0, 0.06, 0.0), 0.11, 0.06)
SIZE = (460, 370)
DETAIL = 2  # pixels drawn for each one of the picture, along both axes: edges come out soft
PAPER = (0.055, 0.06, 0.07)
CAMERA = gf.Camera(target=(0.0, 0.53, 0.0), distance=2.05, azimuth=30.0, elevation=7.0, fov=31.0)
CLOSE = gf.Camera(target=BALL.center, distance=0.82, azimuth=30.0, elevation=22.0, fov=31.0)


def scene(ctx: Any = None) -> gf.Scene:
    """A box with open sides, a hot source near its floor and a ball above it."""
    size = HEIGHT / CELLS[1]
    away = gf.Open()
    fluid = gf.Fluid(
        gf.Grid(CELLS, size, origin=(-0.5 * size * CELLS[0], 0.0, -0.5 * size * CELLS[2])),
        boundaries=gf.Boundaries(
            left=away, right=away, back=away, front=away, top=away, bottom=gf.Wall("free")
        ),
        settings=gf.Settings(vorticity_confinement=0.1, buoyancy=1.6, cooling=0.5, density_dissipation=0.3),
        ctx=ctx,
    )
    fluid.obstacles.add(gf.Obstacle(BALL))
    source = fluid.emitters.add(gf.Emitter(SOURCE, density=4.0, temperature=1.0, velocity=(0.0, 0.45, 0.0)))

    def sway(_: gf.Scene, time: float) -> None:
        source.position = 0.012 * math.sin(6.0 * time), 0.0, 0.012 * math.cos(4.3 * time)

    return gf.Scene(
        fluid, camera=CAMERA, smoke=gf.Smoke(extinction=40.0), update=sway, title="gpufluid: views"
    )


class Canvas:
    """A picture with depth, drawn larger than it is shown."""

    def __init__(self, ctx: moderngl.Context) -> None:
        size = SIZE[0] * DETAIL, SIZE[1] * DETAIL
        self.depth = ctx.depth_texture(size)
        self.target = ctx.framebuffer([ctx.texture(size, 4)], self.depth)

    def clear(self) -> None:
        """Paper all over."""
        self.target.clear(*PAPER, 1.0, depth=1.0)

    def read(self) -> NDArray[np.uint8]:
        """The picture, uint8 [height, width, 3], top row first."""
        raw = np.frombuffer(self.target.read(components=3, alignment=1), np.uint8)
        fine = raw.reshape(SIZE[1], DETAIL, SIZE[0], DETAIL, 3)[::-1].astype(float)
        shown: NDArray[np.uint8] = np.rint(fine.mean(axis=(1, 3))).astype(np.uint8)
        return shown


def pictures(ctx: moderngl.Context, frames: int = FRAMES) -> dict[str, NDArray[np.uint8]]:
    """Run the plume and return a picture of each view, by name."""
    played = scene(ctx)
    fluid, canvas = played.fluid, Canvas(ctx)
    ball = gf.VoxelView(ctx, None)
    particles = gf.Particles(
        ctx,
        100_000,
        [
            gf.ParticleSource(SOURCE, color=(1.0, 0.52, 0.18)),
            gf.ParticleSource(gf.Cylinder((0.0, 0.05, 0.0), 0.30, 0.1), share=0.5, color=(0.25, 0.6, 1.0)),
        ],
        life=2.2,
        size=0.006,
        unit="metres",
        opacity=0.16,
    )
    streaks = gf.StreakLines(
        ctx,
        gf.line_of_seeds((-0.13, 0.1, 0.0), (0.13, 0.1, 0.0), 40),
        points=700,
        fade=0.5,
        interval=played.dt / 12,
        line_width=1.2 * DETAIL,
        colors="viridis",
        legend=True,
    )
    streamlines = gf.Streamlines(
        ctx,
        gf.grid_of_seeds((-0.24, 0.3, -0.24), (0.24, 0.3, 0.24), (8, 1, 8)),
        points=220,
        line_width=1.3 * DETAIL,
        legend=True,
    )
    for _ in range(frames):
        played.advance()
        particles.advance(fluid, played.dt)
        streaks.advance(fluid, played.dt)

    shot: dict[str, Callable[[], None]] = {
        "particles": lambda: particles.render(fluid, CAMERA, canvas.target, depth=canvas.depth),
        "streamlines": lambda: streamlines.render(fluid, CAMERA, canvas.target),
        "streak_lines": lambda: streaks.render(fluid, CAMERA, canvas.target),
        "glyphs": lambda: gf.Glyphs(ctx, spacing=4, axis="z", length=0.2, legend=True).render(
            fluid, CAMERA, canvas.target
        ),
        "slice_plane": lambda: gf.SlicePlane(ctx, "vorticity", colors="magma").render(
            fluid, CAMERA, canvas.target
        ),
        "iso_surface": lambda: gf.IsoSurface(ctx, "temperature", 0.2, color=(0.93, 0.62, 0.36)).render(
            fluid, CAMERA, canvas.target
        ),
        "voxels": lambda: gf.VoxelView(ctx, "wires", line_width=1.2 * DETAIL).render(
            fluid, CLOSE, canvas.target
        ),
        "flat_texture": lambda: gf.FlatTextureView(ctx, "density", colors="magma").render(
            fluid, canvas.target
        ),
        "histogram": lambda: gf.HistogramView(ctx, "speed", bins=80, colors="viridis").render(
            fluid, canvas.target
        ),
    }
    out = {}
    for name, draw in shot.items():
        canvas.clear()
        if name in ("particles", "streamlines", "streak_lines", "glyphs", "iso_surface"):
            ball.render(fluid, CAMERA, canvas.target)
        draw()
        out[name] = canvas.read()
    fluid.release()
    return out


if __name__ == "__main__":
    from gpufluid.gl.contexts import create_context

    folder = sys.argv[1] if len(sys.argv) > 1 else "."
    for name, picture in pictures(create_context()).items():
        print(write_png(f"{folder}/{name}.png", picture, overwrite=True))
