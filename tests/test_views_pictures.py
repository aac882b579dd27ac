"""One picture of each view, held to the one that was looked at."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import golden
import moderngl
import pytest
from view_flows import BALL, ball_flow

import gpufluid as gf

ROOT = Path(__file__).parent.parent
CAMERA = gf.Camera(target=(0.0, 0.6, 0.0), distance=2.55, azimuth=28.0, elevation=9.0, fov=32.0)
CLOSE = gf.Camera(target=(0.0, 0.55, 0.0), distance=1.0, azimuth=28.0, elevation=24.0, fov=32.0)
SIZE = (240, 136)
PAPER = (0.055, 0.06, 0.07)


@pytest.fixture(scope="module")
def fluid(ctx: moderngl.Context) -> Iterator[gf.Fluid]:
    made = ball_flow(ctx, (32, 48, 32))
    yield made
    made.release()


def particles(ctx: moderngl.Context) -> Any:
    low = gf.ParticleSource(gf.Cylinder((0.0, 0.06, 0.0), 0.22, 0.06), color=(1.0, 0.55, 0.2))
    side = gf.ParticleSource(gf.Sphere((-0.2, 0.2, 0.1), 0.05), share=0.3, color=(0.3, 0.7, 1.0))
    return gf.Particles(ctx, 12_000, [low, side], life=2.0, size=0.014, unit="metres", opacity=0.35)


def hot_particles(ctx: moderngl.Context) -> Any:
    low = gf.Cylinder((0.0, 0.06, 0.0), 0.22, 0.06)
    return gf.Particles(
        ctx, 8_000, [low], life=2.0, size=2.5, color="speed", blend="alpha", opacity=0.9, legend=True
    )


def streamlines(ctx: moderngl.Context) -> Any:
    seeds = gf.grid_of_seeds((-0.26, 0.15, -0.26), (0.26, 0.15, 0.26), (6, 1, 6))
    return gf.Streamlines(ctx, seeds, points=110, both=False, line_width=1.6, legend=True)


def streaks(ctx: moderngl.Context) -> Any:
    seeds = gf.line_of_seeds((-0.24, 0.12, 0.0), (0.24, 0.12, 0.0), 17)
    return gf.StreakLines(ctx, seeds, points=90, line_width=1.6, colors="magma", legend=True)


VIEWS: dict[str, tuple[Callable[[moderngl.Context], Any], gf.Camera]] = {
    "particles": (particles, CAMERA),
    "hot_particles": (hot_particles, CAMERA),
    "streamlines": (streamlines, CAMERA),
    "streak_lines": (streaks, CAMERA),
    "glyphs": (lambda c: gf.Glyphs(c, spacing=3.2, axis="z", colors="viridis", legend=True), CAMERA),
    "slice": (lambda c: gf.SlicePlane(c, "density", colors="magma", position=0.02), CAMERA),
    "slice_slanted": (
        lambda c: gf.SlicePlane(c, "velocity_y", point=BALL.center, normal=(0.3, 1, 0.2), contours=9),
        CAMERA,
    ),
    "iso_surface": (lambda c: gf.IsoSurface(c, "density", 0.3, color=(0.55, 0.7, 0.85)), CAMERA),
    "iso_solid": (lambda c: gf.IsoSurface(c, "solid", 0.5), CLOSE),
    "voxel_wires": (lambda c: gf.VoxelView(c), CLOSE),
    "voxel_cubes": (lambda c: gf.VoxelView(c, "cubes", surface=False), CLOSE),
}
WITH_BALL = ("particles", "hot_particles", "streamlines", "streak_lines", "glyphs", "iso_surface")


@pytest.mark.parametrize("name", list(VIEWS))
def test_picture(ctx: moderngl.Context, fluid: gf.Fluid, name: str) -> None:
    make, camera = VIEWS[name]
    made = make(ctx)
    if hasattr(made, "advance"):
        for _ in range(70):
            made.advance(fluid, 0.025)
    depth = ctx.depth_texture(SIZE)
    target = ctx.framebuffer([ctx.texture(SIZE, 4)], depth)
    target.clear(*PAPER, 1.0, depth=1.0)
    if name in WITH_BALL:
        ball = gf.VoxelView(ctx, None)
        ball.render(fluid, camera, target)
        ball.release()
    made.render(fluid, camera, target, depth=depth)
    picture = golden.read_picture(target)
    likeness = (0.9, 0.5) if "particles" in name else (0.99, 0.85)  # each of them ends up a little elsewhere
    golden.assert_golden(f"view_{name}", picture, ctx, *likeness)
    assert picture.std() > 4.0
    made.release()


def test_the_gallery_draws_one_of_each(ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("views", ROOT / "tools" / "views.py")
    assert spec is not None and spec.loader is not None
    demo: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(demo)
    for name, value in {"CELLS": (14, 21, 14), "SIZE": (160, 90), "DETAIL": 1}.items():
        monkeypatch.setattr(demo, name, value)
    drawn = demo.pictures(ctx, frames=12)
    assert len(drawn) == 9
    for name, picture in drawn.items():
        assert picture.shape == (90, 160, 3) and picture.std() > 3.0, name
        assert (ROOT / "docs" / "gallery" / f"{name}.png").stat().st_size < 150_000


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("flat_texture", lambda c: gf.FlatTextureView(c, "density", colors="magma")),
        ("flat_texture_packed", lambda c: gf.FlatTextureView(c, "pressure")),
        ("histogram", lambda c: gf.HistogramView(c, "speed", bins=40, colors="viridis")),
        (
            "histogram_signed",
            lambda c: gf.HistogramView(c, "velocity_x", bins=31, range=(-0.2, 0.2), logarithmic=False),
        ),
    ],
)
def test_flat_picture(ctx: moderngl.Context, fluid: gf.Fluid, name: str, make: Any) -> None:
    made = make(ctx)
    target = ctx.simple_framebuffer(SIZE)
    target.clear()
    made.render(fluid, target)
    golden.assert_golden(f"view_{name}", golden.read_picture(target), ctx)
    made.release()
