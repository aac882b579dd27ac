"""Golden pictures of the volume: every way to draw it, every kind of view and of light."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import moderngl
import numpy as np
import pytest
from golden import assert_golden
from puff import Puff, pictured

import gpufluid as gf
from gpufluid.description.view import METHODS
from gpufluid.gl.device import Device
from gpufluid.render.camera import view_of

SIZE = (240, 136)
GRID = gf.Grid((40, 48, 40), 1 / 40, (-0.5, 0.0, -0.5))
CAMERA = gf.Camera(target=(0.0, 0.55, 0.0), distance=3.0, azimuth=25.0, elevation=12.0)
NIGHT = gf.Light(direction=(-0.8, -0.6, 0.3), color=(0.25, 0.27, 0.33), ambient=(0.02, 0.025, 0.04))
PARALLEL = (
    view_of(gf.Camera(target=(0.0, 0.55, 0.0), azimuth=-30.0, elevation=25.0), 1.0).view,
    np.array([[0.68, 0, 0, 0], [0, 1.2, 0, 0], [0, 0, -0.2, -1.0], [0, 0, 0, 1.0]]),
)


def billows() -> np.ndarray:
    """A column of smoke with billows, [z, y, x], 0 .. 1: sums of sines, the same everywhere."""
    z, y, x = (np.indices(GRID.cells[::-1]) + 0.5) / 40 - np.array([0.5, 0.0, 0.5]).reshape(3, 1, 1, 1)
    lump = np.sin(11 * x + 2 * y) * np.sin(13 * y + 3 * z) + np.sin(12 * z - x) * np.sin(17 * y + 1.0)
    radius = 0.12 + 0.16 * y + 0.05 * lump
    return np.clip((radius - np.hypot(x + 0.06 * np.sin(5 * y), z)) / 0.05, 0.0, 1.0) * (y < 1.05)


@pytest.fixture(scope="module")
def cloud(ctx: moderngl.Context) -> Iterator[Puff]:
    """The column, hot at its foot, a third of it red, a third blue; a ball before it and a box beside it."""
    device = Device(ctx, "fragment")
    smoke = billows()
    y = (np.arange(48) + 0.5).reshape(1, -1, 1) / 40
    hot = 2.0 * smoke * np.clip(1.1 - 1.6 * y, 0.0, 1.0)
    solids = [
        gf.Obstacle(gf.Sphere(radius=0.13), position=(0.18, 0.4, 0.33)),
        gf.Obstacle(gf.Box(size=(0.2, 0.5, 0.2)), position=(-0.38, 0.25, 0.1)),
    ]
    with gf.Fluid(GRID, backend="fragment", ctx=ctx) as fluid:  # to have the solids as voxels
        for solid in solids:
            fluid.obstacles.add(solid)
        voxels = fluid.solid.read()
    yield Puff(device, GRID, smoke, voxels, temperature=hot, obstacles=solids)
    device.release()


def shown(ctx: moderngl.Context, fluid: Any, picture: gf.Picture | None = None, **scene: Any) -> np.ndarray:
    renderer = gf.FrameRenderer.of(picture or gf.Picture(), ctx, SIZE)
    renderer.draw(
        pictured(fluid, **{"camera": CAMERA, "floor": 0.0, "smoke": gf.Smoke(extinction=25.0), **scene})
    )
    out = renderer.read()
    renderer.release()
    return out


@pytest.mark.parametrize("method", [*METHODS, "half"])
def test_every_way_to_draw(ctx: moderngl.Context, cloud: Puff, method: str) -> None:
    picture = (
        gf.Picture(method="ray-march", resolution=0.5) if method == "half" else gf.Picture(method=method)
    )
    assert_golden(f"volume_{method.replace('-', '_')}", shown(ctx, cloud, picture), ctx)


@pytest.mark.parametrize(
    ("name", "camera"),
    [
        ("front", gf.Camera(target=(0.0, 0.55, 0.0), distance=3.0, azimuth=0.0, elevation=0.0)),
        ("above", gf.Camera(target=(0.0, 0.5, 0.0), distance=3.0, azimuth=45.0, elevation=80.0)),
        ("inside", gf.Camera(target=(0.0, 0.7, 0.0), distance=0.4, azimuth=70.0, elevation=5.0, fov=75.0)),
        ("parallel", PARALLEL),
    ],
)
def test_every_view(ctx: moderngl.Context, cloud: Puff, name: str, camera: Any) -> None:
    assert_golden(f"view_from_{name}", shown(ctx, cloud, camera=camera), ctx)


LIGHTS: dict[str, dict[str, Any]] = {
    "behind": {"light": gf.Light(direction=(0.2, -0.3, 1.0)), "smoke": gf.Smoke(25.0, anisotropy=0.5)},
    "diagonal": {"light": gf.Light(direction=(1.0, -1.0, 0.0))},
    "coloured": {
        "light": NIGHT,
        "lights": [
            gf.PointLight((0.7, 0.5, 0.6), (1.0, 0.25, 0.1)),
            gf.PointLight((-0.6, 0.9, 0.5), (0.1, 0.35, 1.1)),
            gf.Light(direction=(0.0, -1.0, -0.2), color=(0.2, 0.5, 0.2), ambient=(0.0, 0.0, 0.0)),
        ],
    },
    "within": {"light": NIGHT, "lights": [gf.PointLight((0.0, 0.3, 0.0), (0.3, 0.25, 0.18))]},
    "fire": {
        "light": NIGHT,
        "fire": gf.Fire(300.0, 1000.0, 12.0, (0.02, 0.08, 0.5), shimmer=0.01, hottest=4000.0),
    },
}


@pytest.mark.parametrize("name", LIGHTS)
def test_every_light(ctx: moderngl.Context, cloud: Puff, name: str) -> None:
    assert_golden(f"light_{name}", shown(ctx, cloud, **LIGHTS[name]), ctx)


def test_coloured_smoke(ctx: moderngl.Context, cloud: Puff) -> None:
    smoke = billows()
    turn = np.linspace(0.0, 3.0, 48).reshape(1, -1, 1)
    dye = [smoke * np.clip(1.0 - np.abs(turn - n - 0.5), 0.0, 1.0) for n in range(3)]
    puff = Puff(cloud.device, GRID, 0.0, color=dye)
    assert_golden("smoke_coloured", shown(ctx, puff), ctx)


def test_transparent(ctx: moderngl.Context, cloud: Puff) -> None:
    """Straight alpha over a chess-board, as a program for pictures would put it there."""
    renderer = gf.FrameRenderer(ctx, SIZE, background="transparent")
    renderer.draw(pictured(cloud, camera=CAMERA, floor=0.0, smoke=gf.Smoke(extinction=25.0)))
    rgba = renderer.read("straight").astype(float)
    renderer.release()
    board = 90.0 + 70.0 * (np.indices((SIZE[1], SIZE[0])).sum(axis=0) // 8 % 2)[..., None]
    share = rgba[..., 3:] / 255.0
    over = np.rint(rgba[..., :3] * share + board * (1.0 - share)).astype(np.uint8)
    assert_golden("transparent", np.ascontiguousarray(over), ctx)
