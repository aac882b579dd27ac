"""A drawn scene, a framebuffer or an array as a picture file: PNG of 8 or 16 bits, or EXR."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gpufluid.common.errors import GpufluidError, one_of, short
from gpufluid.common.files import check_file, named_file
from gpufluid.common.vectors import Floats
from gpufluid.io.background import apart
from gpufluid.io.exr import write_exr
from gpufluid.io.images import write_png

if TYPE_CHECKING:
    import moderngl

    from gpufluid.render.frame import FrameRenderer


def write_picture(
    path: str | os.PathLike[str],
    renderer: FrameRenderer | moderngl.Framebuffer | NDArray[Any],
    *,
    alpha: bool = False,
    bits: int = 8,
    depth: bool = True,
    motion: NDArray[Any] | None = None,
    half: bool = True,
    overwrite: bool = False,
) -> Path:
    """Write the picture that `renderer` drew last, and return the path. Its ending says how:

    .png: tone mapped for a screen, sRGB. alpha: a fourth channel, straight; make the renderer with
        background="transparent" for it to be anything but 1. bits: 8 or 16 a channel.
    .exr: linear radiance before exposure and tone map, alpha premultiplied; the header has the camera, as
        `gpufluid.io.exr.write_exr` says. depth: the scene's too, as Z. motion: [h, w, 2], from
        `gpufluid.io.motion.motion_of`. half: half floats or single precision.

    renderer: a framebuffer of moderngl's will do for a .png of 8 bits: its first colour as it is, which
        should be what a screen shows, as views of the flow draw it without ``linear=True``. An array, top row
        first, is written as it is: uint8 or uint16 [h, w, 3 or 4] as .png, float [h, w, 3 or 4] as .exr;
        what is said of alpha, bits and depth does not concern it.

    overwrite: replace an existing file, which is an error else.

    The file appears whole or not at all. Raises GpufluidError for another ending and a path that cannot be
    written to; MissingDependencyError without Pillow, PyAV (16 bits) or OpenEXR.
    """
    path_written = apart(
        picture_work(
            path, renderer, alpha=alpha, bits=bits, depth=depth, motion=motion, half=half, overwrite=overwrite
        )
    )
    assert path_written is not None  # which only who has no patience is told
    return path_written


def picture_work(
    path: str | os.PathLike[str],
    renderer: FrameRenderer | moderngl.Framebuffer | NDArray[Any],
    *,
    alpha: bool = False,
    bits: int = 8,
    depth: bool = True,
    motion: NDArray[Any] | None = None,
    half: bool = True,
    overwrite: bool = False,
) -> Callable[[], Path]:
    """Read back what `write_picture` writes; return what writes it, in any thread. Raises as that does."""
    one_of(bits, (8, 16), "bits")
    if hasattr(renderer, "color_attachments"):
        if bits != 8 or motion is not None or named_file(path).suffix.lower() != ".png":
            raise GpufluidError(
                f"{os.fspath(path)}: a framebuffer is written as a .png of 8 bits, and no more"
            )
        check_file(path, overwrite, (".png",))
        from gpufluid.gl.drawing import read_target

        seen = read_target(renderer, 4 if alpha else 3)
        return lambda: write_png(path, seen, overwrite)
    if not (isinstance(renderer, np.ndarray) or hasattr(renderer, "read_hdr")):
        raise GpufluidError(
            f"renderer must be a gf.FrameRenderer, a framebuffer or an array, got {short(repr(renderer))}"
        )
    linear = check_file(path, overwrite, (".png", ".exr")).suffix.lower() == ".exr"
    if motion is not None and not linear:
        raise GpufluidError(f"{os.fspath(path)}: a PNG holds no motion; take .exr")
    picture: NDArray[Any]
    z = view = None
    if isinstance(renderer, np.ndarray):
        picture = renderer
    elif linear:
        picture, z, view = renderer.read_hdr(), renderer.read_depth() if depth else None, renderer.view
    elif bits == 8:
        picture = renderer.read("straight" if alpha else None)
    else:
        picture = sixteen_bits(renderer.read_hdr(), renderer.exposure, alpha)
    if linear:
        return lambda: write_exr(
            path, picture, depth=z, motion=motion, view=view, half=half, overwrite=overwrite
        )
    return lambda: write_png(path, picture, overwrite)


def sixteen_bits(radiance: NDArray[np.floating], exposure: float, alpha: bool = False) -> NDArray[np.uint16]:
    """Linear premultiplied radiance [h, w, 4] for a screen, uint16 [h, w, 3], or 4 with straight alpha.

    What tone_map.glsl does, in double precision and without the noise that hides the steps of 8 bits.
    """
    values = np.asarray(radiance, np.float64)
    color = _srgb(_filmic(exposure * values[..., :3]))
    if alpha:
        hides = np.clip(values[..., 3:], 0.0, 1.0)
        alone = _srgb(_filmic(exposure * values[..., :3] / np.maximum(hides, 1e-6)))
        share = color / np.maximum(alone, 1e-30)
        shown = np.maximum(hides, share.max(-1, keepdims=True))
        color = np.concatenate(
            [np.divide(color, shown, out=np.zeros_like(color), where=shown > 0.0), shown], -1
        )
    return np.rint(65535.0 * np.clip(color, 0.0, 1.0)).astype(np.uint16)


def _filmic(x: Floats) -> Floats:
    """The curve of Narkowicz (2015)."""
    return np.clip(x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14), 0.0, 1.0)


def _srgb(x: Floats) -> Floats:
    """The transfer function of IEC 61966-2-1."""
    return np.where(x <= 0.0031308, 12.92 * x, 1.055 * np.maximum(x, 0.0031308) ** (1.0 / 2.4) - 0.055)
