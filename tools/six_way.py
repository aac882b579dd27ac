"""Draws how six-way lightmaps are used, for docs/export.md: both pictures, and sprites that they light anew.

    python tools/six_way.py

writes six_way.png into the current folder.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image

import gpufluid as gf
from gpufluid.app.demos import load_demo
from gpufluid.description.view import SIX_WAY
from gpufluid.render.six_way import SixWay

SIZE, FRAME = 256, 76
BEHIND = np.array((0.006, 0.008, 0.013))  # linear radiance
# where lights are, seen by the camera (right, up, towards the viewer), and their linear colours
LIGHTS: list[list[tuple[tuple[float, float, float], tuple[float, float, float]]]] = [
    [((-0.8, 0.6, 0.15), (3.4, 2.9, 2.2))],
    [((0.3, 0.4, -0.9), (2.4, 2.6, 3.2))],
    [((-0.9, -0.4, 0.2), (3.0, 0.9, 0.2)), ((0.9, 0.3, -0.1), (0.3, 0.9, 3.0))],
]


def lit(maps: NDArray[np.float32], towards: tuple[float, float, float]) -> NDArray[np.float64]:
    """What a sprite's shader makes of the maps [h, w, 8] for one light: radiance in a light of radiance 1."""
    way = np.array(towards) / np.linalg.norm(towards)
    sides = (("right", "left"), ("top", "bottom"), ("front", "back"))
    radiance = np.zeros(maps.shape[:2])
    for share, (high, low) in zip(way, sides, strict=True):
        radiance += share**2 * maps[..., SIX_WAY.index(high if share > 0.0 else low)]
    return radiance


def shown(radiance: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Linear radiance [h, w, 3] as a screen shows it, tone mapped plainly."""
    return np.rint(255.0 * np.clip(1.0 - np.exp(-1.3 * radiance), 0.0, 1.0) ** (1 / 2.2)).astype(np.uint8)


def main() -> None:
    scene = load_demo("smoke")()
    for _ in range(FRAME):
        scene.advance()
    scene.camera = gf.Camera(target=(0.0, 0.44, 0.0), distance=2.0, azimuth=20.0, elevation=8.0)
    assert scene.fluid.ctx is not None
    with SixWay(scene.fluid.ctx, (SIZE, SIZE)) as drawn:
        maps = drawn.draw(scene)
    alpha = maps[..., SIX_WAY.index("alpha"), None].astype(np.float64)
    tiles = [shown(alpha * maps[..., start : start + 3]) for start in (0, 4)]
    for lights in LIGHTS:
        light = sum(lit(maps, towards)[..., None] * np.array(color) for towards, color in lights)
        tiles.append(shown(alpha * light + (1.0 - alpha) * BEHIND))
    Image.fromarray(np.concatenate(tiles, axis=1)).save("six_way.png")
    scene.release()


if __name__ == "__main__":
    main()
