"""Pictures of others, read with suspicion."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gpufluid.common.errors import GpufluidError, needs
from gpufluid.common.files import open_plain

PICTURES = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF")  # Pillow runs a program to open some others
IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff")  # of such files
MOST_PIXELS = 1 << 23  # of a picture: each takes up to 100 bytes for a while
MOST_BYTES = 1 << 28  # of its file


def read_image(file: Path, most: int = MOST_PIXELS) -> NDArray[np.uint8]:
    """The pixels of an image file of at most so many, [height, width, 4], top row first; alpha is straight.

    They are as screens show them; what a camera says of how it was held is heeded.
    Raises GpufluidError naming the file and what is wrong with it, MissingDependencyError without Pillow.
    """
    with needs("pillow", f"reading the image {file}"):
        from PIL import Image as Picture
        from PIL import ImageOps
    try:
        with open_plain(file, MOST_BYTES) as plain, Picture.open(plain, formats=PICTURES) as picture:
            width, height = picture.size
            if width * height > most:
                raise GpufluidError(f"it has {width} x {height} pixels, and the limit is {most} in all")
            if picture.mode == "F" or (picture.mode == "I" and picture.format != "PNG"):
                raise GpufluidError("a channel of it has 32 bits, and the limit is 16")
            held: Picture.Image = ImageOps.exif_transpose(picture)
            if held.mode.startswith("I"):  # grey of 16 bits, which would be cut off at 255
                held = Picture.fromarray((np.asarray(held) >> 8).astype(np.uint8))
            return np.asarray(held.convert("RGBA"))
    except FileNotFoundError:
        raise GpufluidError(f"image file {file} does not exist") from None
    except Exception as error:  # a damaged file surfaces as whatever the decoder tripped over
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        if type(error).__name__ == "UnidentifiedImageError":
            reason = f"it is none of {', '.join(PICTURES)}"
        raise GpufluidError(f"image file {file} cannot be read: {' '.join(reason.split())}") from error
