"""Linear pictures in OpenEXR, for compositing: radiance, depth and motion."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpufluid.common.errors import GpufluidError, needs
from gpufluid.common.files import whole_file
from gpufluid.render.camera import View

FAR = 1e10  # m: depth where there is nothing, as Blender writes it; an infinity spreads in filters


def require_openexr() -> Any:
    """Return the OpenEXR module, or raise MissingDependencyError."""
    with needs("OpenEXR", "writing an EXR picture"):
        import OpenEXR
    return OpenEXR


def write_exr(
    path: str | os.PathLike[str],
    picture: ArrayLike,
    *,
    depth: ArrayLike | None = None,
    motion: ArrayLike | None = None,
    view: View | None = None,
    half: bool = True,
    overwrite: bool = False,
) -> Path:
    """Write linear radiance, `picture`, float [h, w, 3 or 4], top row first; return the path.

    Its alpha is premultiplied.

    depth: [h, w], metres along the camera's axis, as the channel Z, single precision; infinity becomes 1e10.
    motion: [h, w, 2], pixels from this frame to the next, (right, up), as forward.u and forward.v.
    view: what saw it, as the attributes worldToCamera and worldToNDC. OpenEXR multiplies them from the right,
    (x, y, z, 1) M; the camera looks along its -z, and NDC are -1 .. 1, x to the right and y up.
    half: half floats for colour and motion, at most 65504; False: single precision.

    The file appears whole or not at all. Raises GpufluidError for arrays of other shapes, NaN, and a path
    that cannot be written to; MissingDependencyError without the package OpenEXR.
    """
    openexr = require_openexr()
    color = np.asarray(picture)
    if color.dtype.kind != "f" or color.ndim != 3 or color.shape[2] not in (3, 4) or not color.size:
        raise GpufluidError(
            f"an EXR picture must be float [height, width, 3 or 4], got {color.dtype} {list(color.shape)}; "
            "a renderer's read_hdr() is"
        )
    dtype = np.float16 if half else np.float32
    channels = dict(zip("RGBA", (_plane(color[..., n], dtype) for n in range(color.shape[2])), strict=False))
    for name, value, shape in (("depth", depth, ()), ("motion", motion, (2,))):
        if value is not None and np.shape(value) != (*color.shape[:2], *shape):
            raise GpufluidError(
                f"{name} must have the shape {[*color.shape[:2], *shape]} of the picture, "
                f"got {list(np.shape(value))}"
            )
    if depth is not None:
        channels["Z"] = _plane(np.minimum(np.asarray(depth, np.float64), FAR), np.float32)
    if motion is not None:
        pixels = np.asarray(motion)
        channels |= {f"forward.{c}": _plane(pixels[..., n], dtype) for n, c in enumerate("uv")}
    for name, plane in channels.items():
        if np.isnan(plane).any():
            raise GpufluidError(f"the channel {name} of an EXR picture must not be NaN")
    header = {"compression": openexr.ZIP_COMPRESSION, "type": openexr.scanlineimage}
    if view is not None:
        header["worldToCamera"] = np.ascontiguousarray(view.view.T, np.float32)
        header["worldToNDC"] = np.ascontiguousarray(view.clip.T, np.float32)
    with whole_file(path, overwrite, (".exr",)) as partial:
        try:
            openexr.File(header, channels).write(str(partial))
        except RuntimeError as error:
            raise OSError(str(error)) from error
    return Path(path)


def _plane(values: NDArray[Any], dtype: type[np.floating[Any]]) -> NDArray[Any]:
    """One channel, as large numbers as `dtype` holds."""
    most = np.finfo(dtype).max
    return np.ascontiguousarray(np.clip(values, -most, most).astype(dtype))
