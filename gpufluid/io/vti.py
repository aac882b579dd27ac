"""VTK image data (.vti) for ParaView: the cells of a box as they are."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from gpufluid.common.errors import GpufluidError
from gpufluid.common.files import whole_file

BLOCK = 1 << 20  # bytes deflated at once
TYPES = {"float32": "Float32", "float64": "Float64", "uint8": "UInt8"}


def write_vti(
    path: str | os.PathLike[str],
    arrays: Mapping[str, NDArray[Any]],
    *,
    cell_size: float = 1.0,
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0),
    time: float | None = None,
    overwrite: bool = False,
) -> Path:
    """Write cell data and return the path.

    arrays: by name, each [nz, ny, nx] or [nz, ny, nx, 3], float32, float64 or uint8. cell_size: metres.
    origin: the low corner of the box, metres. time: seconds, shown by ParaView. XML with the data appended
    raw, deflated in blocks (VTK File Formats, 19.3).

    The file appears whole or not at all. Raises GpufluidError for arrays that do not fit each other, and a
    path that cannot be written to.
    """
    extent = " ".join(f"0 {n}" for n in reversed(_checked_shape(arrays)))
    blocks: list[bytes] = []
    lines: list[str] = []
    offset = 0
    for name, array in arrays.items():
        blocks.append(_deflated(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()))
        lines.append(
            f'<DataArray type="{TYPES[array.dtype.name]}" Name={quoteattr(name)} '
            f'NumberOfComponents="{3 if array.ndim == 4 else 1}" format="appended" offset="{offset}"/>'
        )
        offset += len(blocks[-1])
    place = " ".join(map(repr, map(float, origin)))
    head = (
        '<?xml version="1.0"?>\n'
        '<VTKFile type="ImageData" version="1.0" byte_order="LittleEndian" header_type="UInt64" '
        'compressor="vtkZLibDataCompressor">\n'
        f'<ImageData WholeExtent="{extent}" Origin="{place}" Spacing="{f"{float(cell_size)!r} " * 3}">\n'
        f'{_when(time)}<Piece Extent="{extent}"><CellData>\n' + "\n".join(lines) + "\n</CellData></Piece>\n"
        '</ImageData>\n<AppendedData encoding="raw">\n_'
    )
    with whole_file(path, overwrite, (".vti",)) as partial, partial.open("wb") as file:
        file.write(head.encode())
        for block in blocks:
            file.write(block)
        file.write(b"\n</AppendedData>\n</VTKFile>\n")
    return Path(path)


def _checked_shape(arrays: Mapping[str, NDArray[Any]]) -> tuple[int, ...]:
    """The shape [nz, ny, nx] that all `arrays` have. Raises GpufluidError for what is no VTK image data."""
    shapes = {np.shape(array)[:3] for array in arrays.values()}
    if len(shapes) != 1 or any(np.shape(array)[3:] not in ((), (3,)) for array in arrays.values()):
        raise GpufluidError(
            "VTK image data must be [nz, ny, nx] or [nz, ny, nx, 3], all of one size, got "
            + ", ".join(f"{name} {list(np.shape(array))}" for name, array in arrays.items())
        )
    (shape,) = shapes
    if len(shape) != 3 or not all(shape):
        raise GpufluidError(f"VTK image data must be [nz, ny, nx], got {list(shape)}")
    for name, array in arrays.items():
        if array.dtype.name not in TYPES:
            raise GpufluidError(f"VTK image data must be {', '.join(TYPES)}, got {name} of {array.dtype}")
    return shape


def _when(time: float | None) -> str:
    """What tells ParaView the `time`, seconds."""
    if time is None:
        return ""
    return (
        '<FieldData><DataArray type="Float64" Name="TimeValue" NumberOfTuples="1" format="ascii">'
        f"{float(time)!r}</DataArray></FieldData>\n"
    )


def _deflated(raw: bytes) -> bytes:
    """Number of blocks, their size, the size of a last shorter one or 0, the deflated sizes, the blocks."""
    parts = [zlib.compress(raw[n : n + BLOCK], 1) for n in range(0, len(raw), BLOCK)]
    sizes = len(parts), BLOCK, len(raw) % BLOCK, *map(len, parts)
    return struct.pack(f"<{len(sizes)}Q", *sizes) + b"".join(parts)
