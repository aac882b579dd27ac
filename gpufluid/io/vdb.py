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

from gpufluid.errors import GpufluidError
from gpufluid.files import whole_file
from gpufluid.grid import LARGEST_HALF

MAGIC, VERSION, LIBRARY = 0x56444220, 224, (10, 0)
ZIPPED_ACTIVE = 3  # COMPRESS_ZIP | COMPRESS_ACTIVE_MASK
ALL_BACKGROUND = b"\x00"  # NO_MASK_OR_INACTIVE_VALS: what is inactive has the background's value
LEAF, NODE4, NODE5 = 8, 16, 32  # children along an axis
IN_CACHE = 1 << 14  # numbers turned into half floats at a time
TRIED = 16  # chunks of a grid that are deflated to see whether it pays
TYPES = {1: "float", 3: "vec3s"}


@dataclass(frozen=True)
class VdbGrid:
    """A grid to be written under `name`.

    values: [nz, ny, nx] or, for vectors, [nz, ny, nx, 3]. background: what it is where nothing is written.
    threshold: voxels within this of the background are not written. kind: "fog volume", "level set",
    "staggered" or "unknown". metadata: more text.
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
        if not np.isfinite(grid.values).all():
            raise GpufluidError(f"the VDB grid {grid.name!r} must be finite")
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
        values = np.asarray(grid.values, np.float32)
        values = values.reshape(*values.shape[:3], -1)
        self.channels = values.shape[3]
        self.half, self.background = half, float(np.float32(grid.background))
        # in slabs of a leaf's depth, which stay in the processor's cache
        slabs = [self._slab(values[z : z + LEAF], z, grid.threshold) for z in range(0, len(values), LEAF)]
        where, on, leaves, *shadows = (np.concatenate(part) for part in zip(*slabs, strict=True))
        at5, at4, at = where // (NODE4 * NODE5), where // NODE4 % NODE5, where % NODE4
        self._root, self._slot5 = at5, at4 @ (NODE5 * NODE5, NODE5, 1)
        self._slot4 = at @ (NODE4 * NODE4, NODE4, 1)
        order = np.lexsort((self._slot4, self._slot5, at5[:, 2], at5[:, 1], at5[:, 0]))
        self._root, self._slot5, self._slot4 = at5[order], self._slot5[order], self._slot4[order]
        self._on, self._values = on[order], leaves[order]
        self.count = int(self._on.sum())
        along = (shadows[0].any(axis=0), shadows[1].any(axis=0), shadows[2])
        spans = [np.flatnonzero(s) for s in along] if self.count else [[0]] * 3
        self.bounds = tuple(int(s[0]) for s in spans), tuple(int(s[-1]) for s in spans)
        self.memory = len(where) * (LEAF**3 * 4 * self.channels + LEAF**3 // 8)

    def _slab(self, values: NDArray[np.float32], z: int, threshold: float) -> tuple[NDArray[Any], ...]:
        """The leaves of the layers from `z` on: where, what is on, values; and what is on along x, y, z."""
        on = np.zeros(values.shape[:3], bool)
        for channel in range(self.channels):
            on |= np.abs(values[..., channel] - np.float32(self.background)) > threshold
        leaves_on = np.ascontiguousarray(_leaves(on))
        where = np.argwhere(leaves_on.reshape(*leaves_on.shape[:3], -1).any(3))
        x, y, _ = where.T
        # channel by channel: NumPy copies long rows of single numbers faster than many short ones of three
        leaves = np.empty((len(where), LEAF**3, self.channels), np.float32)
        for channel in range(self.channels):
            leaves[..., channel] = _leaves(values[..., channel])[x, y, 0].reshape(-1, LEAF**3)
        stored: NDArray[Any] = _halves(leaves.clip(-LARGEST_HALF, LARGEST_HALF)) if self.half else leaves
        on_here = leaves_on[x, y, 0].reshape(-1, LEAF**3)
        where[:, 2] = z // LEAF
        shadows: list[NDArray[Any]] = [np.any(on, axis=across) for across in ((0, 1), (0, 2), (1, 2))]
        return where, on_here, stored, shadows[0][None], shadows[1][None], shadows[2]

    def parts(self) -> tuple[bytes, bytes]:
        """The topology of the tree, and the values of its leaves."""
        topology: list[bytes] = []
        values: list[bytes] = []
        background = struct.pack(f"<{self.channels}f", *[self.background] * self.channels)
        roots, starts = np.unique(self._root, axis=0, return_index=True)
        topology.append(struct.pack("<I", 1) + background + struct.pack("<II", 0, len(roots)))
        masks = np.packbits(self._on, axis=1, bitorder="little")
        full: NDArray[np.bool_] = np.all(self._on, axis=1)
        values_on = zip(
            self._values.astype("<f2" if self.half else "<f4", copy=False), self._on, full, strict=True
        )
        chunks = [(leaf if all_on else leaf[on]).tobytes() for leaf, on, all_on in values_on]
        pack = _deflated if _pays(chunks) else _stored
        # a node's own values, none of which counts: OpenVDB writes no chunk at all for 0 half floats
        no_values = ALL_BACKGROUND + (b"" if self.half else _deflated(b""))
        ends = [*starts[1:], len(self._root)][: len(roots)]
        for root, start, end in zip(roots, starts, ends, strict=True):
            topology.append(struct.pack("<3i", *(root * LEAF * NODE4 * NODE5).tolist()))
            slots, firsts = np.unique(self._slot5[start:end], return_index=True)
            topology += [_mask(slots, NODE5**3), bytes(NODE5**3 // 8), no_values]
            lasts = [*(firsts[1:] + start), end]
            for a, b in zip(firsts + start, lasts, strict=True):
                topology += [_mask(self._slot4[a:b], NODE4**3), bytes(NODE4**3 // 8), no_values]
                for n in range(a, b):
                    mask = masks[n].tobytes()
                    topology.append(mask)
                    values += [mask, ALL_BACKGROUND, pack(chunks[n])]
        return b"".join(topology), b"".join(values)


def _leaves(volume: NDArray[Any]) -> NDArray[Any]:
    """A view of [nz, ny, nx(, c)], filled up with 0 to whole leaves, as the leaves along x, y and z.

    [nx / 8, ny / 8, nz / 8, 8, 8, 8(, c)]: OpenVDB numbers along x, y, z with z fastest.
    """
    volume = volume.swapaxes(0, 2)
    rest = volume.shape[3:]
    if any(n % LEAF for n in volume.shape[:3]):
        volume = np.pad(volume, [*((0, -n % LEAF) for n in volume.shape[:3]), *[(0, 0)] * len(rest)])
    x, y, z = volume.strides[:3]
    nx, ny, nz = (n // LEAF for n in volume.shape[:3])
    return np.lib.stride_tricks.as_strided(
        volume,
        (nx, ny, nz, LEAF, LEAF, LEAF, *rest),
        (LEAF * x, LEAF * y, LEAF * z, x, y, z, *volume.strides[3:]),
        writeable=False,
    )


def _halves(values: NDArray[np.float32]) -> NDArray[np.float16]:
    """The half floats nearest to numbers up to LARGEST_HALF, to the bit those of ``astype``, but faster.

    IEEE 754-2008: a half has 10 bits of mantissa and its exponent is 112 less. Below 2^-14 it is a multiple
    of 2^-24, which adding 0.5 to a float rounds to.
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


def _deflated(raw: bytes) -> bytes:
    """A chunk as OpenVDB's zipToStream writes it: a negative size tells that it is as it was."""
    packed = zlib.compress(raw, 1)
    if len(packed) < len(raw):
        return struct.pack("<q", len(packed)) + packed
    return _stored(raw)


def _stored(raw: bytes) -> bytes:
    return struct.pack("<q", -len(raw)) + raw


def _pays(chunks: list[bytes]) -> bool:
    """Whether some of the chunks, evenly spread, deflate to less than 85 %.

    That of a velocity saves a tenth, and would be most of the time that a file takes.
    """
    tried = chunks[:: max(1, len(chunks) // TRIED)]
    return sum(len(zlib.compress(raw, 1)) for raw in tried) < 0.85 * sum(map(len, tried))


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
