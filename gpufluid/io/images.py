"""Pictures as PNG or EXR files, one at a time or as a numbered sequence."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpufluid.common.errors import GpufluidError, needs
from gpufluid.common.files import named_file, whole_file
from gpufluid.io.exr import require_openexr, write_exr
from gpufluid.io.folders import NumberedFolder
from gpufluid.io.paths import FRAME_PATTERN, KINDS, PICTURES, check_output, output_kind


def require_pillow() -> Any:
    """Return Pillow's Image module, or raise MissingDependencyError."""
    with needs("pillow", "writing a PNG picture"):
        from PIL import Image
    return Image


def check_picture(
    picture: NDArray[Any], size: tuple[int, int] | None = None, deep: bool = False
) -> NDArray[Any]:
    """Return `picture` as it is; raises GpufluidError where it is not uint8 [h, w, 3 or 4], top row first.

    size: the (width, height) it must have, or None for any. deep: uint16 will do too.
    """
    types = ("uint8", "uint16")[: 1 + deep]
    if hasattr(picture, "read_hdr"):
        raise GpufluidError("a picture must be an array: give it renderer.read(), not the renderer")
    array = np.asarray(picture)
    if array.dtype not in types or array.ndim != 3 or array.shape[2] not in (3, 4) or not array.size:
        raise GpufluidError(
            f"a picture must be {' or '.join(types)} [height, width, 3 or 4], "
            f"got {array.dtype} {list(array.shape)}"
        )
    height, width = array.shape[:2]
    if size is not None and (width, height) != size:
        raise GpufluidError(f"a picture of {width} x {height} does not fit the film of {size[0]} x {size[1]}")
    return array


def write_png(path: str | os.PathLike[str], picture: NDArray[Any], overwrite: bool = False) -> Path:
    """Write `picture`, uint8 or uint16 [h, w, 3 or 4], top row first, and return the path.

    sRGB is what PNG readers assume; alpha is straight. uint16 makes a PNG of 16 bits a channel.
    The file appears whole or not at all. Raises GpufluidError for a path that cannot be written to, or is
    not a .png, and for an array that is no picture.
    """
    array = check_picture(picture, deep=True)
    encode = _eight_bits if array.dtype == np.uint8 else _sixteen_bits
    if named_file(path).suffix.lower() != ".png":
        raise GpufluidError(f"{os.fspath(path)}: a picture's name must end in .png")
    target = check_output(path, overwrite)
    with whole_file(target, overwrite) as partial:
        encode(np.ascontiguousarray(array), partial)
    return target


def png_bytes(picture: NDArray[np.uint8]) -> bytes:
    """Return `picture`, uint8 [h, w, 3 or 4], top row first, as the bytes of a PNG file."""
    buffer = io.BytesIO()
    _eight_bits(np.ascontiguousarray(check_picture(picture)), buffer)
    return buffer.getvalue()


def _eight_bits(array: NDArray[np.uint8], path: Path | io.BytesIO) -> None:
    require_pillow().fromarray(array).save(path, format="PNG")


def _sixteen_bits(array: NDArray[np.uint16], path: Path) -> None:
    """By FFmpeg's encoder: Pillow takes 16 bits for grey pictures only."""
    with needs("av", "writing a PNG picture of 16 bits a channel"):
        import av
    pixels = "rgb48be" if array.shape[2] == 3 else "rgba64be"
    encoder: Any = av.CodecContext.create("png", "w")
    encoder.height, encoder.width = array.shape[:2]
    encoder.pix_fmt, encoder.time_base = pixels, Fraction(1)
    encoder.sample_aspect_ratio = Fraction(1)
    encoder.options = {"pred": "mixed"}
    frame = av.VideoFrame.from_ndarray(array, format=pixels)
    frame.pts = 0
    path.write_bytes(b"".join(bytes(packet) for part in (frame, None) for packet in encoder.encode(part)))


class FrameFolder(NumberedFolder):
    """A `folder` of numbered pictures, ``frame_0001.png`` on; a context manager.

    The folder is made with the first picture; each picture is whole once it is there. With `overwrite`,
    frames of an earlier and longer film that are left over at the end are removed.
    suffix: ".png", or ".exr" for linear radiance. begin: the number of the first; pictures of lower numbers
    are an earlier part of the film, stay, and count as its frames. about: what is told of the frames, plain
    JSON; it comes into `frames.json` beside them, with their number, which is right after every frame, also
    after a crash, and with "complete": true once the block ends without an exception. None: no such file.
    Raises GpufluidError for a folder that cannot be written to or holds pictures, unless `overwrite`, and for
    another suffix.
    """

    what = PICTURES

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        overwrite: bool = False,
        suffix: str = ".png",
        about: Mapping[str, Any] | None = None,
        begin: int = 1,
    ) -> None:
        if output_kind(folder) != "folder":
            raise GpufluidError(
                f"{os.fspath(folder)}: the name of a folder must not end in {', '.join(filter(None, KINDS))}"
            )
        if suffix not in (".png", ".exr"):
            raise GpufluidError(f"numbered pictures end in .png or .exr, not in {suffix!r}")
        require_pillow() if suffix == ".png" else require_openexr()
        super().__init__(folder, "frame", suffix, FRAME_PATTERN, overwrite, about, begin)

    def write(self, picture: NDArray[Any], **channels: Any) -> None:
        """Add one picture, top row first.

        picture: uint8 or uint16 [h, w, 3 or 4] as PNG; float [h, w, 4] as EXR, where `channels` is what else
        `write_exr` takes. Raises GpufluidError for another, and for what the disk refuses.
        """
        array = np.asarray(picture)
        if self._suffix == ".png":
            check_picture(array, deep=True)
            write_png(self.next_file(), array, overwrite=True)
        else:
            write_exr(self.next_file(), array, overwrite=True, **channels)
        self.is_there()
