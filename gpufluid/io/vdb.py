"""OpenVDB files, written by hand: there is no OpenVDB package for every Python.

A file holds sparse grids. A grid is a tree of the shape 5-4-3: a root, nodes of 32^3 and 16^3 children, and
leaves of 8^3 voxels; only leaves with a voxel that differs from the background by more than a threshold are
there, so empty space costs nothing. Index (i, j, k) of a grid is the centre of a voxel.

File version 224 (openvdb/io/Archive.cc, openvdb/tree/InternalNode.h and LeafNode.h). All numbers are
little-endian; leaves hold their active voxels alone, deflated (RFC 1950) where that makes a grid shorter.
"""

from __future__ import annotations

import os
import struct
import uuid
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from gpufluid.common.errors import GpufluidError
from gpufluid.common.files import whole_file
from gpufluid.description.grid import LARGEST_HALF

MAGIC, VERSION, LIBRARY = 0x56444220, 224, (10, 0)
ZIPPED_ACTIVE = 3  # COMPRESS_ZIP | COMPRESS_ACTIVE_MASK
ALL_BACKGROUND = b"\x00"  # NO_MASK_OR_INACTIVE_VALS: what is inactive has the background's value
LEAF, NODE4, NODE5 = 8, 16, 32  # children along an axis
MASK = LEAF**3 // 8  # bytes
IN_CACHE = 1 << 16  # numbers worked on at a time
SIZE = np.uint16(0x7FFF)  # the bits of a half float without its sign: they grow with what it is
INFINITE = 0x7C00  # such bits, and what is beyond is no number
TRIED = 8  # chunks of a grid that are deflated to see whether it pays
PAYS = 0.7  # of their size: a velocity's vary from 0.82 to 0.95
TYPES = {1: "float", 3: "vec3s"}
Raw = bytes | memoryview


@dataclass(frozen=True)
class VdbGrid:
    """A grid to be written under `name`.

    values: [nz, ny, nx] or, for vectors, [nz, ny, nx, 3], in single or half precision. background: what it is
    where nothing is written. threshold: voxels within this of it, rounded as the values are, are not written.
    kind: "fog volume", "level set", "staggered" or "unknown". metadata: more text.
    """

    name: str
    values: NDArray[Any]
    background: float = 0.0
    threshold: float = 0.0
    kind: str = "fog volume"
    metadata: tuple[tuple[str, str], ...] = ()


def write_vdb(
    path: str | os.PathLike[str],
    grids: Sequence[VdbGrid],
    *,
    voxel_size: float = 1.0,
    first: tuple[float, float, float] = (0.0, 0.0, 0.0),
    half: bool = True,
    metadata: tuple[tuple[str, str], ...] = (),
    overwrite: bool = False,
) -> Path:
    """Write `grids` and return the path.

    voxel_size: metres. first: the centre of voxel (0, 0, 0), metres. half: 16-bit floats in the file, which
    readers turn into 32; beyond 65504 they end there. metadata: of the file, text.

    The file appears whole or not at all. Raises GpufluidError for arrays of other shapes or not finite, two
    grids of one name, and a path that cannot be written to.
    """
    for grid in grids:
        shape = np.shape(grid.values)
        if len(shape) not in (3, 4) or shape[3:] not in ((), (3,)) or not all(shape):
            raise GpufluidError(
                f"the VDB grid {grid.name!r} must be [nz, ny, nx] or [nz, ny, nx, 3], got {shape}"
            )
    names = [grid.name for grid in grids]
    if len(set(names)) != len(names) or not all(names):
        raise GpufluidError(f"the grids of a VDB file need names, each its own, got {names}")
    with whole_file(path, overwrite, (".vdb",)) as partial, partial.open("wb") as file:
        file.write(struct.pack("<qIII?", MAGIC, VERSION, *LIBRARY, True))
        file.write(str(uuid.uuid4()).encode())
        file.write(_metadata([("creator", "string", b"gpufluid"), *_texts(metadata)]))
        file.write(struct.pack("<I", len(grids)))
        for grid in grids:
            _write_grid(file, grid, voxel_size, first, half)
    return Path(path)


def _write_grid(
    file: BinaryIO, grid: VdbGrid, voxel_size: float, first: tuple[float, float, float], half: bool
) -> None:
    """One grid: descriptor with the places of its parts, metadata, transform, topology, values."""
    tree = _Tree(grid, half)
    kind = f"Tree_{TYPES[tree.channels]}_5_4_3" + ("_HalfFloat" if half else "")
    file.write(_text(grid.name) + _text(kind) + _text(""))  # the last: no grid whose tree it shares
    places = file.tell()
    file.write(bytes(24))
    start = file.tell()
    low, high = tree.bounds
    file.write(struct.pack("<I", ZIPPED_ACTIVE))
    file.write(
        _metadata(
            [
                ("class", "string", grid.kind.encode()),
                ("name", "string", grid.name.encode()),
                ("is_saved_as_half_float", "bool", bytes([half])),
                ("file_bbox_min", "vec3i", struct.pack("<3i", *low)),
                ("file_bbox_max", "vec3i", struct.pack("<3i", *high)),
                ("file_compression", "string", b"zip + active values"),
                ("file_mem_bytes", "int64", struct.pack("<q", tree.memory)),
                ("file_voxel_count", "int64", struct.pack("<q", tree.count)),
                *_texts(grid.metadata),
            ]
        )
    )
    # translation, scale, size of a voxel, 1 / scale, 1 / scale^2, 1 / (2 scale): ScaleTranslateMap::write
    h = voxel_size
    file.write(_text("UniformScaleTranslateMap"))
    for triple in (first, (h,) * 3, (h,) * 3, (1 / h,) * 3, (1 / h**2,) * 3, (0.5 / h,) * 3):
        file.write(struct.pack("<3d", *triple))
    topology, values = tree.parts()
    file.write(topology)
    middle = file.tell()
    file.write(values)
    end = file.tell()
    file.seek(places)
    file.write(struct.pack("<3q", start, middle, end))
    file.seek(end)


class _Tree:
    """The leaves of a grid that hold anything, in the order of the file."""

    def __init__(self, grid: VdbGrid, half: bool) -> None:
        values = np.asarray(grid.values)
        if values.dtype != np.float16 or not half:
            values = values.astype(np.float32, copy=False)
        values = values.reshape(*values.shape[:3], -1)
        self.channels = values.shape[3]
        self._dtype = np.dtype("<f2" if half else "<f4")
        self.background = float(np.float32(grid.background))
        on = self._counted(values, grid)
        rows = on.view(np.uint64)  # of a leaf's width each
        z, y, x = rows.shape
        rows = np.bitwise_or.reduce(rows.reshape(z, y // LEAF, LEAF, x), axis=2)
        rows = np.bitwise_or.reduce(rows.reshape(z // LEAF, LEAF, y // LEAF, x), axis=1)
        where = np.argwhere(rows.T)
        at5, at4, at = where // (NODE4 * NODE5), where // NODE4 % NODE5, where % NODE4
        slot5, slot4 = at4 @ (NODE5 * NODE5, NODE5, 1), at @ (NODE4 * NODE4, NODE4, 1)
        order = np.lexsort((slot4, slot5, at5[:, 2], at5[:, 1], at5[:, 0]))
        self._root, self._slot5, self._slot4 = at5[order], slot5[order], slot4[order]
        leaves = tuple(where[order].T)
        self._on = _leaves(on)[leaves].reshape(-1, LEAF**3)
        # channel by channel: NumPy copies long rows of single numbers faster than many short ones of three
        held = np.empty((len(where), LEAF**3, self.channels), values.dtype)
        for channel in range(self.channels):
            held[..., channel] = _leaves(values[..., channel])[leaves].reshape(-1, LEAF**3)
        self._values = held if held.dtype == self._dtype else _halves(held)
        self.count = int(np.count_nonzero(self._on))
        self.bounds = _bounds(where[order], self._on)
        self.memory = len(where) * (LEAF**3 * 4 * self.channels + LEAF**3 // 8)

    def _counted(self, values: NDArray[Any], grid: VdbGrid) -> NDArray[np.bool_]:
        """Which voxels are on, [nz, ny, nx], filled up with False to whole leaves."""
        nz, ny, nx = values.shape[:3]
        on = np.zeros((nz + -nz % LEAF, ny + -ny % LEAF, nx + -nx % LEAF), bool)
        layers = max(1, IN_CACHE // (ny * nx))
        for z in range(0, nz, layers):
            for channel in range(self.channels):
                away, near, infinite = _away(
                    values[z : z + layers, ..., channel], self.background, grid.threshold
                )
                if not np.max(away) < infinite:
                    raise GpufluidError(f"the VDB grid {grid.name!r} must be finite")
                on[z : z + len(away), :ny, :nx] |= away > near
        return on

    def parts(self) -> tuple[bytes, bytes]:
        """The topology of the tree, and the values of its leaves."""
        topology: list[bytes] = []
        background = struct.pack(f"<{self.channels}f", *[self.background] * self.channels)
        roots, starts = np.unique(self._root, axis=0, return_index=True)
        topology.append(struct.pack("<I", 1) + background + struct.pack("<II", 0, len(roots)))
        masks = np.packbits(self._on, axis=1, bitorder="little")
        # a node's own values, none of which counts: OpenVDB writes no chunk at all for 0 half floats
        no_values = ALL_BACKGROUND + (b"" if self._dtype.itemsize == 2 else bytes(8))
        ends = [*starts[1:], len(self._root)][: len(roots)]
        for root, start, end in zip(roots, starts, ends, strict=True):
            topology.append(struct.pack("<3i", *(root * LEAF * NODE4 * NODE5).tolist()))
            slots, firsts = np.unique(self._slot5[start:end], return_index=True)
            topology += [_mask(slots, NODE5**3), bytes(NODE5**3 // 8), no_values]
            lasts = [*(firsts[1:] + start), end]
            for a, b in zip(firsts + start, lasts, strict=True):
                topology += [_mask(self._slot4[a:b], NODE4**3), bytes(NODE4**3 // 8), no_values]
                topology.append(masks[a:b].tobytes())
        return b"".join(topology), self._leaf_values(masks)

    def _leaf_values(self, masks: NDArray[np.uint8]) -> bytes:
        """Of each leaf its mask and a chunk: its active voxels."""
        chunks = self._chunks()
        kept = [_deflated(chunk) for chunk in chunks] if _pays(chunks) else chunks
        # as OpenVDB's zipToStream has it: a negative size tells that a chunk is as it was
        sizes = [len(k) if k is not chunk else -len(k) for k, chunk in zip(kept, chunks, strict=True)]
        heads = np.zeros((len(masks), MASK + len(ALL_BACKGROUND) + 8), np.uint8)
        heads[:, :MASK] = masks
        heads[:, -8:] = np.array(sizes, "<i8")[:, None].view(np.uint8)
        parts: list[Raw] = []
        for n, chunk in enumerate(kept):
            parts += [heads[n].data, chunk]
        return b"".join(parts)

    def _chunks(self) -> list[Raw]:
        """The active voxels of each leaf; of leaves that are all active, which is most, nothing is copied."""
        full: NDArray[np.bool_] = np.all(self._on, axis=1)
        whole, some = _bytes(self._values), _bytes(self._values[~full][self._on[~full]])
        width = self.channels * self._dtype.itemsize
        leaf, taken = width * LEAF**3, 0
        chunks: list[Raw] = []
        for n, count in enumerate(self._on.sum(axis=1).tolist()):
            if count == LEAF**3:
                chunks.append(whole[n * leaf : (n + 1) * leaf])
            else:
                chunks.append(some[taken : taken + count * width])
                taken += count * width
        return chunks


def _away(
    values: NDArray[Any], background: float, threshold: float
) -> tuple[NDArray[Any], np.generic | float, float]:
    """How far values are from a background, in some measure; the threshold and infinity in that measure."""
    if values.dtype == np.float16:
        background = min(max(background, -LARGEST_HALF), LARGEST_HALF)
        if not background:  # their bits alone will do
            near = np.float16(min(threshold, LARGEST_HALF))
            near = np.nextafter(near, np.float16(0.0)) if float(near) > threshold else near
            return values.view(np.uint16) & SIZE, near.view(np.uint16), INFINITE
        background = float(np.float16(background))
    return np.abs(values.astype(np.float32, copy=False) - np.float32(background)), threshold, np.inf


def _bounds(where: NDArray[np.intp], on: NDArray[np.bool_]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The first and the last voxel that is on along each axis, of leaves at `where` [n, 3]; 0 without any."""
    if not len(where):
        return (0, 0, 0), (0, 0, 0)
    voxels, ends = on.reshape(-1, LEAF, LEAF, LEAF), []
    for axis in range(3):
        at, others = where[:, axis], tuple({0, 1, 2} - {axis})
        for edge, which in (at.min(), 0), (at.max(), -1):
            outer = np.any(voxels[at == edge], axis=0)
            ends.append(int(LEAF * edge + np.flatnonzero(outer.any(axis=others))[which]))
    return tuple(ends[::2]), tuple(ends[1::2])


def _leaves(volume: NDArray[Any]) -> NDArray[Any]:
    """A view of [nz, ny, nx], filled up with 0 to whole leaves, as the leaves along x, y and z.

    [nx / 8, ny / 8, nz / 8, 8, 8, 8]: OpenVDB numbers along x, y, z with z fastest.
    """
    if any(n % LEAF for n in volume.shape):
        volume = np.pad(volume, [(0, -n % LEAF) for n in volume.shape])
    nz, ny, nx = (n // LEAF for n in volume.shape)
    return volume.reshape(nz, LEAF, ny, LEAF, nx, LEAF).transpose(4, 2, 0, 5, 3, 1)


def _halves(values: NDArray[np.float32]) -> NDArray[np.float16]:
    """The half floats nearest to numbers, to the bit those of ``astype``, but faster.

    What is beyond them ends at the largest, as in glsl/lib/nearest_half.glsl. IEEE 754-2008: a half has
    10 bits of mantissa and its exponent is 112 less. Below 2^-14 it is a multiple of 2^-24, which adding 0.5
    to a float rounds to.
    """
    bits = np.ascontiguousarray(values).reshape(-1).view(np.uint32)
    halves = np.empty(bits.shape, np.uint16)
    for start in range(0, len(bits), IN_CACHE):
        some = bits[start : start + IN_CACHE]
        size = some & np.uint32(0x7FFFFFFF)
        half = size >> np.uint32(13)
        half &= np.uint32(1)
        half += size
        half -= np.uint32((112 << 23) - 0xFFF)
        half >>= np.uint32(13)
        np.minimum(half, np.uint32(INFINITE - 1), out=half)
        tiny = (size.view(np.float32) + np.float32(0.5)).view(np.uint32) - np.uint32(0x3F000000)
        np.copyto(half, tiny, where=size < np.uint32(113 << 23))
        half |= (some >> np.uint32(16)) & np.uint32(0x8000)
        halves[start : start + IN_CACHE] = half
    return halves.view(np.float16).reshape(values.shape)


def _mask(slots: NDArray[Any], size: int) -> bytes:
    """A bit for each of `size` children, the first lowest."""
    bits = np.zeros(size, bool)
    bits[slots] = True
    return np.packbits(bits, bitorder="little").tobytes()


def _bytes(array: NDArray[Any]) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def _deflated(raw: Raw) -> Raw:
    """The chunk deflated where that makes it shorter, else the very chunk."""
    packed = zlib.compress(raw, 1)
    return packed if len(packed) < len(raw) else raw


def _pays(chunks: Sequence[Raw]) -> bool:
    """Whether some of the chunks, evenly spread, deflate to less than `PAYS` of their size.

    A velocity loses a tenth, and that would take longer than all the rest of a file.
    """
    tried = chunks[:: max(1, len(chunks) // TRIED)]
    return sum(len(zlib.compress(raw, 1)) for raw in tried) < PAYS * sum(map(len, tried))


def _text(text: str) -> bytes:
    raw = text.encode()
    return struct.pack("<I", len(raw)) + raw


def _texts(items: tuple[tuple[str, str], ...]) -> list[tuple[str, str, bytes]]:
    return [(name, "string", text.encode()) for name, text in items]


def _metadata(items: Sequence[tuple[str, str, bytes]]) -> bytes:
    """Named values: name, type, bytes."""
    parts = [struct.pack("<I", len(items))]
    for name, kind, raw in items:
        parts += [_text(name), _text(kind), struct.pack("<I", len(raw)), raw]
    return b"".join(parts)
