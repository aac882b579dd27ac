"""The tile of blue noise on the GPU; ``tools/blue_noise.py`` makes it."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import moderngl
import numpy as np
from numpy.typing import NDArray

from gpufluid.gl.device import Device

FILE = Path(__file__).with_name("blue_noise.npy")


def noise_tile() -> NDArray[np.uint8]:
    """Return the tile, [64, 64], each of 256 levels as often as the others."""
    # not from the file itself: where NumPy asks what that is called, it makes a TypeError of a Ctrl-C
    tile: NDArray[np.uint8] = np.load(BytesIO(FILE.read_bytes()))
    return tile


def noise_texture(device: Device) -> moderngl.Texture:
    """Return a texture of the tile."""
    tile = noise_tile()
    texture = device.texture((tile.shape[1], tile.shape[0]), 1, "f1", "the noise")
    texture.repeat_x = texture.repeat_y = True
    texture.write(tile.tobytes())
    return texture
