"""Pictures held to the ones in tests/golden/: by structure on the renderer they were drawn with, llvmpipe.

    assert_golden("slice_plane", read_picture(framebuffer), ctx)

Run with GPUFLUID_GOLDEN=write to draw them anew, then look at every one that git says has changed. A picture
that fails is written to tests/golden/failed/: as it should be, as it is, and four times the difference.
Another renderer places edges and rounds colours its own way: there the means and spreads alone are compared.
"""

from __future__ import annotations

import os
from pathlib import Path

import moderngl
import numpy as np
from numpy.typing import NDArray
from PIL import Image
from skimage.metrics import structural_similarity

FOLDER = Path(__file__).parent / "golden"
FAILED = FOLDER / "failed"
WRITE = "GPUFLUID_GOLDEN"
TILE = 16  # pixels; a tile that is wrong in a picture that is right elsewhere is seen
APART = 1.5  # of 255, the mean difference: structure alone hardly sees that all of a picture is brighter

Picture = NDArray[np.uint8]


def read_picture(framebuffer: moderngl.Framebuffer) -> Picture:
    """Return the colours of a framebuffer of 8 bits, uint8 [height, width, 3], top row first."""
    raw = np.frombuffer(framebuffer.read(components=3, alignment=1), np.uint8)
    return np.ascontiguousarray(raw.reshape(framebuffer.height, framebuffer.width, 3)[::-1])


def likeness(picture: Picture, golden: Picture) -> tuple[float, float]:
    """The structural similarity (Wang et al. 2004) of two pictures: its mean, and the worst tile's."""
    mean, local = structural_similarity(picture, golden, channel_axis=2, full=True)
    height, width = local.shape[:2]
    tiles = [
        local[y : y + TILE, x : x + TILE].mean()
        for y in range(0, height, TILE)
        for x in range(0, width, TILE)
    ]
    return float(mean), float(min(tiles))


def assert_golden(
    name: str, picture: Picture, ctx: moderngl.Context, least: float = 0.99, least_tile: float = 0.85
) -> None:
    """Raise AssertionError where `picture`, uint8 [h, w, 3], top row first, is not the golden one.

    least, least_tile: the structural similarity wanted of the whole picture, and of each 16 x 16 pixels. No
    picture may differ by more than `APART` in the mean.
    """
    path = FOLDER / f"{name}.png"
    on_llvmpipe = "llvmpipe" in str(ctx.info["GL_RENDERER"])
    if os.environ.get(WRITE) == "write":
        assert on_llvmpipe, f"golden pictures are drawn by llvmpipe, this is {ctx.info['GL_RENDERER']}"
        Image.fromarray(picture).save(path, optimize=True)
        return
    assert path.is_file(), f"there is no {path}: run once with {WRITE}=write and look at it"
    golden = np.asarray(Image.open(path).convert("RGB"))
    assert picture.shape == golden.shape, f"{name}: {picture.shape}, the golden picture is {golden.shape}"
    if not on_llvmpipe:
        for what in (np.mean, np.std):
            got, expected = what(picture, axis=(0, 1)), what(golden, axis=(0, 1))
            assert np.abs(got - expected).max() <= 3.0 + 0.1 * expected.max(), f"{name}: {what.__name__}"
        return
    mean, worst = likeness(picture, golden)
    off = float(np.abs(picture.astype(int) - golden).mean())
    if mean >= least and worst >= least_tile and off <= APART:
        return
    FAILED.mkdir(exist_ok=True)
    apart = np.clip(4 * np.abs(picture.astype(int) - golden), 0, 255).astype(np.uint8)
    Image.fromarray(np.concatenate([golden, picture, apart], axis=1)).save(FAILED / f"{name}.png")
    raise AssertionError(
        f"{name}: structural similarity {mean:.4f} (at least {least}), worst tile {worst:.3f} "
        f"(at least {least_tile}), mean difference {off:.2f} (at most {APART}): see {FAILED / name}.png"
    )
