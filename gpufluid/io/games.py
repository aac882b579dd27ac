"""Sheets for games: frames in rows and columns of one picture, and velocities as colours."""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpufluid.common.checks import finite_number, real_array, whole_number
from gpufluid.common.errors import GpufluidError, one_of
from gpufluid.common.files import check_file, named_file
from gpufluid.common.vectors import Number
from gpufluid.description.grid import AXES
from gpufluid.description.view import SIX_WAY
from gpufluid.engine.fluid import Fluid
from gpufluid.io.folders import write_json
from gpufluid.io.images import check_picture, require_pillow, write_png
from gpufluid.io.motion import sum_of_densities

LARGEST_SHEET = 16384  # pixels along a side: what game engines and GPUs take at most
Sheet = TypeVar("Sheet", bound="_Sheet")
SIX_WAY_ENDINGS = ("_rtb", "_lbf")  # of the two pictures of six-way lightmaps, by their channels
ALPHA, EMISSIVE = SIX_WAY.index("alpha"), SIX_WAY.index("emissive")
LIT = [n for n in range(len(SIX_WAY)) if n not in (ALPHA, EMISSIVE)]
SEEN = 0.02  # alpha from which on the light of a pixel counts for the scale of all
ZERO = {8: 128, 16: 32768}  # what a velocity of 0 is stored as, so that it comes back as 0


def rows_and_columns(count: int, size: tuple[int, int], columns: int | None = None) -> tuple[int, int]:
    """How `count` frames of `size` (width, height) lie on a sheet; None: as near to a square as it goes.

    Raises GpufluidError for a sheet over 16384 pixels a side.
    """
    width, height = size
    if columns is None:
        columns = max(1, round(math.sqrt(count * height / width)))
    columns = min(whole_number(columns, "columns", low=1), count)
    rows = -(-count // columns)
    if max(rows * height, columns * width) > LARGEST_SHEET:
        raise GpufluidError(
            f"a sheet of {columns * width} x {rows * height} pixels is over {LARGEST_SHEET} a side: "
            "take fewer or smaller frames"
        )
    return rows, columns


def check_alike(first: NDArray[Any], frame: NDArray[Any]) -> None:
    """Raise where a frame is unlike the first of its sheet."""
    if (frame.shape, frame.dtype) != (first.shape, first.dtype):
        raise GpufluidError(
            f"the frames of a sheet must all be {first.dtype} {list(first.shape)} like the first, "
            f"got {frame.dtype} {list(frame.shape)}"
        )


def arranged(frames: Sequence[NDArray[Any]], columns: int | None = None) -> NDArray[Any]:
    """Frames of one size [h, w, c] as one picture, row by row, the first at the top left; the rest is 0.

    Raises GpufluidError for no frames, other sizes, and as `rows_and_columns`.
    """
    if not frames:
        raise GpufluidError("a sheet needs at least one frame")
    shape = frames[0].shape
    for frame in frames[1:]:
        check_alike(frames[0], frame)
    height, width, channels = shape
    rows, columns = rows_and_columns(len(frames), (width, height), columns)
    sheet = np.zeros((rows, columns, height, width, channels), frames[0].dtype)
    for n, frame in enumerate(frames):
        sheet[n // columns, n % columns] = frame
    return sheet.swapaxes(1, 2).reshape(rows * height, columns * width, channels)


def _about(frames: Sequence[NDArray[Any]], sheet: NDArray[Any], fps: float) -> dict[str, Any]:
    height, width = frames[0].shape[:2]
    return {
        "frames": len(frames),
        "rows": sheet.shape[0] // height,
        "columns": sheet.shape[1] // width,
        "frame_width": width,
        "frame_height": height,
        "fps": fps,
    }


def sheet_files(path: Path, endings: Sequence[str] = ("",)) -> list[Path]:
    """The files of a sheet: a picture for each of `endings` of its name, and the JSON."""
    return [*(path.with_stem(path.stem + ending) for ending in endings), path.with_suffix(".json")]


class _Sheet(ABC):
    """Frames being gathered for a sheet; a context manager that writes them when its block ends.

    endings: of the names of its pictures.
    """

    endings: Sequence[str] = ("",)

    def __init__(self, path: str | os.PathLike[str], columns: int | None, overwrite: bool) -> None:
        require_pillow()
        self._files = sheet_files(named_file(path, (".png",)), self.endings)
        for file in self._files:
            check_file(file, overwrite)
        self.path = self._files[0]
        self._columns, self._overwrite = columns, overwrite
        self._gathered: list[NDArray[Any]] = []
        self._closed = False

    @property
    def frames(self) -> int:
        """How many frames there are so far."""
        return len(self._gathered)

    def _add(self, frame: NDArray[Any]) -> None:
        if self._gathered:
            check_alike(self._gathered[0], frame)
        rows_and_columns(self.frames + 1, (frame.shape[1], frame.shape[0]), self._columns)
        self._gathered.append(frame.copy())

    def close(self) -> None:
        """Write the sheet; nothing without frames, and nothing the second time."""
        if self._closed or not self._gathered:
            return
        self._save()
        self._closed = True

    @abstractmethod
    def _save(self) -> None:
        """Write the sheet."""

    def __enter__(self: Sheet) -> Sheet:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class FlipBook(_Sheet):
    """A flip-book sheet being gathered: a .png of frames and a .json beside it; a context manager.

    The picture is written when the block ends: also after an exception or Ctrl-C, with the frames so far.
    columns: of frames; None: what comes nearest to a square sheet. fps: told in the JSON. about: what else
    it tells. overwrite: replace existing files, which are an error else. Raises GpufluidError for a path that
    cannot be written to.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        columns: int | None = None,
        fps: Number = 30.0,
        about: Mapping[str, Any] | None = None,
        overwrite: bool = False,
    ) -> None:
        super().__init__(path, columns, overwrite)
        self.fps = finite_number(fps, "fps", above=0.0)
        self._about = dict(about or {})

    def write(self, picture: NDArray[Any]) -> None:
        """Add `picture` as one frame, uint8 or uint16 [h, w, 3 or 4], top row first, alpha straight.

        Raises GpufluidError where it is unlike the first one, or the sheet would be over 16384 pixels a side.
        """
        self._add(check_picture(picture, deep=True))

    def _save(self) -> None:
        sheet = arranged(self._gathered, self._columns)
        write_png(self.path, sheet, self._overwrite)
        told = {**self._about, **_about(self._gathered, sheet, self.fps)}
        told["alpha"] = "straight" if sheet.shape[2] == 4 else None
        write_json(self.path.with_suffix(".json"), told, self._overwrite)


def flow_of(fluid: Fluid, axis: str = "z", at: Number | None = None) -> NDArray[np.float32]:
    """The velocity across `axis` as a picture [h, w, 2], top row first: (right, up), m/s.

    axis: the way the picture is looked along, "x", "y" or "z", from its high end: right and up are (-z, y),
    (x, -z) and (x, y). at: metres, the slice of cells that holds this place; None: the mean of all, each
    weighted with its smoke of any colour (where a column has none, the plain mean). Waits for the GPU.
    Raises GpufluidError for a slice outside the box.
    """
    one_of(axis, AXES, "axis")
    across = AXES.index(axis)
    velocity = fluid.velocity.at_centers().astype(np.float64)
    if at is None:
        weight = sum_of_densities(fluid)
        weight += np.where(weight.sum(2 - across, keepdims=True) > 0.0, 0.0, 1.0)
        flat = (velocity * weight[..., None]).sum(2 - across) / weight.sum(2 - across)[..., None]
    else:
        grid = fluid.grid
        n = math.floor((finite_number(at, "at") - grid.origin[across]) / grid.cell_size)
        n -= n == grid.cells[across] and at == grid.upper[across]
        if not 0 <= n < grid.cells[across]:
            raise GpufluidError(
                f"at must lie in the box, {grid.origin[across]:g} .. {grid.upper[across]:g} m, got {at:g}"
            )
        flat = np.take(velocity, n, 2 - across)
    x, y, z = np.moveaxis(flat, -1, 0)
    if axis == "x":  # [z, y]: seen from +x, -z is on the right
        right, up = (-z).T[::-1, ::-1], y.T[::-1, ::-1]
    elif axis == "y":  # [z, x]: seen from above, z comes towards the viewer
        right, up = x, -z
    else:  # [y, x]
        right, up = x[::-1], y[::-1]
    return np.stack([right, up], -1).astype(np.float32)


class FlowBook(_Sheet):
    """A sheet of flow maps being gathered, as `FlipBook` gathers pictures; a context manager.

    scale, bits, columns, fps, unit: as in `write_flow_sheet`, which writes it when the block ends, and raises
    for them then. Raises GpufluidError at once for a rate and for a path that cannot be written to.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        scale: Number | None = None,
        bits: int = 8,
        columns: int | None = None,
        fps: Number = 30.0,
        unit: str = "m/s",
        overwrite: bool = False,
    ) -> None:
        super().__init__(path, columns, overwrite)
        fps = finite_number(fps, "fps", above=0.0)
        self._options: dict[str, Any] = {"scale": scale, "bits": bits, "columns": columns, "fps": fps}
        self._options["unit"] = unit

    def write(self, flow: NDArray[np.float32]) -> None:
        """Add `flow` as one frame, [h, w, 2], (right, up), as `flow_of` or `motion_of` gives it.

        Raises GpufluidError where it is unlike the first one, or the sheet would be over 16384 pixels a side.
        """
        self._add(_flow_map(flow))

    def _save(self) -> None:
        write_flow_sheet(self.path, self._gathered, overwrite=self._overwrite, **self._options)


class SixWayBook(_Sheet):
    """Six-way lightmaps being gathered, two .png and a .json; a context manager that writes them in the end.

    path: "smoke.png" gives smoke_rtb.png (red right, green top, blue back, alpha), smoke_lbf.png (red left,
    green bottom, blue front, alpha emissive) and smoke.json. Values are linear, not sRGB; alpha is straight.
    scale: what a full channel of light is; None: the largest value of all frames, in pixels that hide more
    than `SEEN`; what is brighter is cut off there. emissive_scale: the same of what shines. bits: 8 or 16.
    columns, fps, about, overwrite: as of `FlipBook`. Raises GpufluidError for numbers that cannot be, and for
    a path that cannot be written to.
    """

    endings = SIX_WAY_ENDINGS

    @property
    def second(self) -> Path:
        """The picture beside `path`."""
        return self._files[1]

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        scale: Number | None = None,
        emissive_scale: Number | None = None,
        bits: int = 8,
        columns: int | None = None,
        fps: Number = 30.0,
        about: Mapping[str, Any] | None = None,
        overwrite: bool = False,
    ) -> None:
        one_of(bits, tuple(ZERO), "bits")
        super().__init__(path, columns, overwrite)
        self.fps = finite_number(fps, "fps", above=0.0)
        self._bits, self._about = bits, dict(about or {})
        self._scales = [
            given if given is None else finite_number(given, name, above=0.0)
            for given, name in ((scale, "scale"), (emissive_scale, "emissive_scale"))
        ]

    def write(self, maps: ArrayLike) -> None:
        """Add `maps` as one frame, [h, w, 8], as `SixWay.draw` gives them.

        Raises GpufluidError for what is none, where they are unlike the first, and where the sheet would be
        over 16384 pixels a side.
        """
        try:
            frame = real_array(maps)
        except (TypeError, ValueError):
            raise GpufluidError(
                "six-way lightmaps must be numbers [height, width, 8], as SixWay.draw gives them, "
                f"got {maps!r}"
            ) from None
        if (
            frame.ndim != 3
            or frame.shape[2] != len(SIX_WAY)
            or not frame.size
            or not np.isfinite(frame).all()
        ):
            raise GpufluidError(
                f"six-way lightmaps must be finite [height, width, 8], got {list(frame.shape)}"
            )
        # half floats hold twice what 8 bits do, and a sheet of 4096 x 4096 pixels is 270 MB of them
        kind = np.float16 if self._bits == 8 else np.float32
        self._add(np.clip(frame, 0.0, 6e4).astype(kind))

    def _save(self) -> None:
        light, shining = self._scales
        for frame in self._gathered if light is None else ():
            seen = frame[frame[..., ALPHA] > SEEN]
            light = max(light or 0.0, float(seen[:, LIT].max(initial=0.0)))
        for frame in self._gathered if shining is None else ():
            shining = max(shining or 0.0, float(frame[..., EMISSIVE].max()))
        scales = np.full(len(SIX_WAY), light or 1.0)
        scales[ALPHA], scales[EMISSIVE] = 1.0, shining or 1.0
        most = (1 << self._bits) - 1
        kind = np.uint8 if self._bits == 8 else np.uint16
        coded = [np.rint(np.clip(f / scales, 0.0, 1.0) * most).astype(kind) for f in self._gathered]
        sheet = arranged(coded, self._columns)
        *pictures, told = self._files
        for n, picture in enumerate(pictures):
            write_png(picture, np.ascontiguousarray(sheet[..., 4 * n : 4 * n + 4]), self._overwrite)
        about = {
            "pictures": [picture.name for picture in pictures],
            "channels": [SIX_WAY[:4], SIX_WAY[4:]],
            "scale": scales[0],
            "emissive_scale": scales[EMISSIVE],
            "encoding": "linear",
            "alpha": "straight",
        }
        write_json(told, {**self._about, **_about(coded, sheet, self.fps), **about}, self._overwrite)


def _flow_map(flow: ArrayLike) -> NDArray[np.float64]:
    try:
        frame = real_array(flow)
    except (TypeError, ValueError):
        raise GpufluidError(
            f"a flow map must be numbers [height, width, 2], as flow_of(fluid) gives it, got {flow!r}"
        ) from None
    if frame.ndim != 3 or frame.shape[2] != 2 or not frame.size or not np.isfinite(frame).all():
        raise GpufluidError(f"a flow map must be finite [height, width, 2], got {list(frame.shape)}")
    return frame


def write_flow_sheet(
    path: str | os.PathLike[str],
    flows: Sequence[ArrayLike],
    *,
    scale: Number | None = None,
    bits: int = 8,
    columns: int | None = None,
    fps: Number = 30.0,
    unit: str = "m/s",
    overwrite: bool = False,
) -> Path:
    """Write `flows`, maps [h, w, 2], (right, up), as one .png, and a .json beside it; return the path.

    columns: frames in a row; None: as many as make the sheet about square. fps: frames a second, for the
    JSON. bits: 8 or 16 a channel. unit: of the flows, for the JSON: that of `flow_of`, or "pixels" for what
    `motion_of` gives.

    Red is right, green up, blue 0. scale: what a full channel is; None: the largest component of all frames;
    what is faster is cut off there. A velocity is scale * (value - zero) / (most - zero), with value in
    0 .. most and zero and most from the JSON (128 and 255 of 8 bits), so rest is stored exactly, and all else
    to scale / 254 (8 bits) or scale / 65534 (bits=16).

    Raises GpufluidError for other shapes, numbers that cannot be, and a path that cannot be written to.
    """
    one_of(bits, tuple(ZERO), "bits")
    fps = finite_number(fps, "fps", above=0.0)
    check_file(path, overwrite, (".png",))
    sidecar = check_file(Path(path).with_suffix(".json"), overwrite)
    frames = [_flow_map(flow) for flow in flows]
    if scale is None:
        scale = max((float(np.abs(frame).max()) for frame in frames), default=0.0) or 1.0
    scale = finite_number(scale, "scale", above=0.0)
    zero, most = ZERO[bits], (1 << bits) - 1
    coded = []
    for frame in frames:
        values = zero + np.rint(np.clip(frame / scale, -1.0, 1.0) * (most - zero))
        coded.append(np.pad(values, [(0, 0), (0, 0), (0, 1)]).astype(np.uint8 if bits == 8 else np.uint16))
    sheet = arranged(coded, columns)
    write_png(path, sheet, overwrite)
    about = {"scale": scale, "unit": unit, "zero": zero, "most": most, "red": "right", "green": "up"}
    write_json(sidecar, {**_about(coded, sheet, fps), **about}, overwrite)
    return Path(path)
