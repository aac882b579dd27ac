"""Pictures as PNG files, one at a time or as a numbered sequence."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpufluid.errors import GpufluidError, MissingDependencyError
from gpufluid.io.paths import FRAME_NAME, check_output, numbered_frames, output_kind, partial_path


def require_pillow() -> Any:
    """Return Pillow's Image module, or raise MissingDependencyError."""
    try:
        from PIL import Image
    except ImportError:
        raise MissingDependencyError("pillow", "writing a PNG picture") from None
    return Image


def check_picture(picture: NDArray[np.uint8], size: tuple[int, int] | None = None) -> NDArray[np.uint8]:
    """Return `picture` as it is; raises GpufluidError where it is not uint8 [h, w, 3], top row first.

    size: the (width, height) it must have, or None for any.
    """
    array = np.asarray(picture)
    if array.dtype != np.uint8 or array.ndim != 3 or array.shape[2] != 3 or not array.size:
        raise GpufluidError(
            f"a picture must be uint8 [height, width, 3], got {array.dtype} {list(array.shape)}"
        )
    height, width = array.shape[:2]
    if size is not None and (width, height) != size:
        raise GpufluidError(f"a picture of {width} x {height} does not fit the film of {size[0]} x {size[1]}")
    return array


def write_png(path: str | os.PathLike[str], picture: NDArray[np.uint8], overwrite: bool = False) -> Path:
    """Write `picture`, uint8 [h, w, 3], top row first, and return the path. sRGB is what PNG readers assume.

    The file appears whole or not at all. Raises GpufluidError for a path that cannot be written to, or is
    not a .png, and for an array that is no picture.
    """
    image_module = require_pillow()
    array = check_picture(picture)
    if output_kind(path) != "picture":
        raise GpufluidError(f"{os.fspath(path)}: a picture's name must end in .png")
    target = check_output(path, overwrite)
    _save(image_module, array, target)
    return target


def _save(image_module: Any, array: NDArray[np.uint8], target: Path) -> None:
    """Write `array` to `target` by way of a partial file."""
    partial = partial_path(target)
    try:
        image_module.fromarray(np.ascontiguousarray(array)).save(partial, format="PNG")
        partial.replace(target)
    except OSError as error:
        raise GpufluidError(f"{target}: could not be written: {error.strerror or error}") from error
    finally:
        partial.unlink(missing_ok=True)


class FrameFolder:
    """A folder of numbered pictures, ``frame_0001.png`` on; a context manager.

    The folder is made with the first picture; each picture is whole once it is there. With `overwrite`,
    frames of an earlier and longer film that are left over at the end are removed.
    Raises GpufluidError as :func:`gpufluid.io.paths.check_output` does.
    """

    def __init__(self, folder: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        if output_kind(folder) != "folder":
            raise GpufluidError(f"{os.fspath(folder)}: the name of a folder must not end in .mp4 or .png")
        self._image = require_pillow()
        self.path = check_output(folder, overwrite)
        self.frames = 0

    def write(self, picture: NDArray[np.uint8]) -> None:
        """Add one picture, uint8 [h, w, 3], top row first."""
        array = check_picture(picture)
        try:
            self.path.mkdir(exist_ok=True)
        except OSError as error:
            raise GpufluidError(f"{self.path}: could not be made: {error.strerror or error}") from error
        _save(self._image, array, self.path / FRAME_NAME.format(self.frames + 1))
        self.frames += 1

    def close(self) -> None:
        """Remove what an earlier film left beyond the last frame."""
        if self.frames:
            for old in numbered_frames(self.path):
                if int(old.stem.removeprefix("frame_")) > self.frames:
                    old.unlink(missing_ok=True)

    def __enter__(self) -> FrameFolder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
