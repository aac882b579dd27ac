"""Flat 3D textures: the one place that knows where a value of a volume lies in a 2D texture.

Slice k of a volume is tile ``(k mod columns, k div columns)`` of one 2D texture (Harris 2003). Any size
works: prime, one cell deep, a last row of tiles that is only partly filled. Texels outside the filled
tiles hold zero. A *packed* layout keeps four neighbours along x in the four channels of a texel.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpufluid.common.errors import GpufluidError
from gpufluid.description.grid import Grid

LANES = 4  # cells in a texel of a packed layout
PROBES = 32  # edge of the square of points that are sampled in a pass
STRIP = 64  # cells along x of a strip, of one slice; of each there is a rectangle that passes write
STRIP_ROWS = {True: 32, False: 4}  # cells along y of it, in software and on a GPU, which takes many at once
JOINED_ROWS = 32  # of strips, one above the other, that two triangles are drawn round
PIECE = (32, 4)  # cells along x and y of such a rectangle that a workgroup takes
# textures that share the values of a kind, where it is not one
PARTS = {"bounded": 3, "coarse_bounded": 3, "eighth": 8, "halves": 3, "weights": 4}
EIGHTHS = 2, 4  # cells along y and z that share a texel of eight textures
SOLVED = 512  # lanes in the texels of a grid that is solved by its inverse, at most
OCTET = 8  # cells along z in a texel, two in each channel: the second times `DIGIT`, as in octet.glsl
DIGIT = 4096.0
BLOCK = 4  # edge of the blocks of faces that a reduction reads
SQUARE = 64  # texels a side of the squares that llvmpipe's threads take one by one
SHARED = 1024, 65536  # texels: from where two threads are worth it, to where squares are too many to matter
UNLIKE = 0.02  # as dear as this share of unused tiles: a size of the other sort, see `FlatLayout.columns`


@dataclass(frozen=True)
class FlatLayout:
    """How a volume of `size` (x, y, z) values lies in a 2D texture no wider or higher than `limit`.

    packing: values along x that share a texel, 1 or 4. tall: slices one below the other where the limit
    allows it, so that the texture is the volume as it is numbered.
    Raises GpufluidError, naming both sizes, where no arrangement of tiles fits the limit.
    """

    size: tuple[int, int, int]
    packing: int = 1
    limit: int = 16384
    tall: bool = False

    @property
    def tile(self) -> tuple[int, int]:
        """Texels of one slice, (width, height)."""
        return -(-self.size[0] // self.packing), self.size[1]

    @cached_property
    def columns(self) -> int:
        """Tiles in a row of the texture: the fewest unused tiles at a shape near a square.

        A software renderer's threads should have about as much to do of it each. It compiles a program once
        for textures whose sizes are powers of two and once more for others: those of a grid and its coarser
        ones should be of one sort, the first where tiles allow it.
        """
        (width, height), slices = self.tile, self.size[2]
        if self.tall and height * slices <= self.limit and width <= self.limit:
            return 1
        alike = _power_of_two(width) and _power_of_two(height)
        best, best_cost = 0, math.inf
        for columns in range(1, min(slices, self.limit // width) + 1):
            rows = -(-slices // columns)
            w, h = columns * width, rows * height
            if w > self.limit or h > self.limit:
                continue
            cost = (columns * rows - slices) / slices + 0.05 * abs(math.log2(w / h))
            cost += UNLIKE * ((_power_of_two(w) != alike) + (_power_of_two(h) != alike))
            if SHARED[0] <= w * h <= SHARED[1]:
                cost += 0.6 * (_longer_half(w, h) - 0.5)
            if cost < best_cost:
                best, best_cost = columns, cost
        if not best:
            across = np.arange(1, slices + 1)
            side = int(np.maximum(across * width, -(-slices // across) * height).min())
            raise GpufluidError(
                f"a volume of {self.size[0]} x {self.size[1]} x {slices} values needs a texture of {side} "
                f"texels a side, the limit here is {self.limit}"
            )
        return best

    @property
    def rows(self) -> int:
        """Rows of tiles in the texture."""
        return -(-self.size[2] // self.columns)

    @property
    def texture_size(self) -> tuple[int, int]:
        """Texels of the whole texture, (width, height)."""
        return self.columns * self.tile[0], self.rows * self.tile[1]

    @property
    def texel_grid(self) -> tuple[int, int, int]:
        """Texels along (x, y, z): the index space a kernel of this layout runs over."""
        return self.tile[0], self.tile[1], self.size[2]

    def flatten(self, volume: NDArray[Any]) -> NDArray[Any]:
        """Return the texture image [height, width, channels] of a volume [z, y, x, c]."""
        nx, ny, nz = self.size
        if self.packing > 1:
            padded = np.zeros((nz, ny, self.tile[0] * self.packing), volume.dtype)
            padded[..., :nx] = volume.reshape(nz, ny, nx)
            volume = padded.reshape(nz, ny, self.tile[0], self.packing)
        channels = volume.shape[3]
        tiles = np.zeros((self.columns * self.rows, ny, self.tile[0], channels), volume.dtype)
        tiles[:nz] = volume
        tiles = tiles.reshape(self.rows, self.columns, ny, self.tile[0], channels)
        width, height = self.texture_size
        return np.ascontiguousarray(tiles.swapaxes(1, 2).reshape(height, width, channels))

    def unflatten(self, image: NDArray[Any]) -> NDArray[Any]:
        """Return the volume [z, y, x, c] of a texture image [height, width, channels]."""
        nx, ny, nz = self.size
        tiles = image.reshape(self.rows, ny, self.columns, self.tile[0], -1).swapaxes(1, 2)
        volume = tiles.reshape(self.rows * self.columns, ny, self.tile[0], -1)[:nz]
        if self.packing > 1:
            volume = volume.reshape(nz, ny, -1)[..., :nx, None]
        return np.ascontiguousarray(volume)

    def glsl(self, prefix: str, given: str = "") -> str:
        """Return the GLSL of this layout: ``<prefix>_texel(index)`` and ``<prefix>_index(texel)``.

        Sizes are compile-time constants, so that a driver turns the divisions into multiplications. given: in
        their place the GLSL of an ivec4 that holds `sizes`, in a program of layouts of several sizes.
        """
        if given:
            return (
                f"#define {prefix}_extent {given}.xyz\n"
                f"ivec2 {prefix}_texel(ivec3 index) {{ int row = quotient(index.z, {given}.w);"
                f" return ivec2(index.z - row * {given}.w, row) * {given}.xy + index.xy; }}\n"
                f"ivec3 {prefix}_index(ivec2 texel) {{"
                f" ivec2 tile = ivec2(quotient(texel.x, {given}.x), quotient(texel.y, {given}.y));"
                f" return ivec3(texel - tile * {given}.xy, tile.y * {given}.w + tile.x); }}\n"
            )
        (width, height), (sx, sy, sz) = self.tile, self.texel_grid
        return (
            f"const ivec3 {prefix}_extent = ivec3({sx}, {sy}, {sz});\n"
            f"ivec2 {prefix}_texel(ivec3 index) {{ uint z = uint(index.z);"
            f" return ivec2(int(z % {self.columns}u) * {width} + index.x,"
            f" int(z / {self.columns}u) * {height} + index.y); }}\n"
            f"ivec3 {prefix}_index(ivec2 texel) {{"
            f" ivec2 tile = ivec2(uvec2(texel) / uvec2({width}u, {height}u));"
            f" return ivec3(texel - tile * ivec2({width}, {height}), tile.y * {self.columns} + tile.x); }}\n"
        )

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        """Texels along (x, y, z), and tiles in a row of the texture."""
        return *self.texel_grid, self.columns


def _power_of_two(number: int) -> bool:
    return number & (number - 1) == 0


def _longer_half(width: int, height: int) -> float:
    """The share of a texture that the busier one of two threads draws, square by square."""
    done = [0, 0]
    across = [min(SQUARE, width - x) for x in range(0, width, SQUARE)]
    down = [min(SQUARE, height - y) for y in range(0, height, SQUARE)]
    for texels in sorted((w * h for w in across for h in down), reverse=True):
        done[done.index(min(done))] += texels
    return max(done) / sum(done)


def lanes(grid: Grid) -> int:
    """Cells of the grid, its rows filled up to whole texels of a packed layout."""
    nx, ny, nz = grid.cells
    return LANES * -(-nx // LANES) * ny * nz


def layouts(grid: Grid, limit: int = 16384, software: bool = False) -> dict[str, FlatLayout]:
    """Return the layouts of `grid` by kind. software: for a renderer of few threads.

    cell: one texel a cell; tall: the same, as it is numbered where that fits, to be read back;
    face: one more along each axis, for the high faces (not along z in 2D, where no flow crosses);
    bounded: as face, in three textures: values, and the least and the largest that they may be;
    packed: four cells along x to a texel; pack: one value for four such cells;
    strip: one texel for STRIP by STRIP_ROWS cells of a slice; piece: room for one for each PIECE of cells;
    block: one texel for BLOCK^3 faces; group: one for BLOCK^3 blocks;
    found: as strip, and behind that one for each slice of blocks at most;
    weights: as packed, in four textures, of the faces of a coarse grid;
    octet: one texel for OCTET cells along z, two in each channel, see `octets`;
    row, slice, whole: one texel for a row of cells along x, for a slice, for the whole box;
    eighth: as packed, in eight textures by y modulo 2 and z modulo 4, see `EIGHTHS`;
    half: as packed, of one colour of a chess-board the cells alone, which are every second one along x;
    halves: three such textures, of what a V-cycle begins with;
    wave: as packed, with at least two values along x and an even number; probe: one texel for each of
    PROBES^2 points; root: one texel for each cell of the longest side;
    matrix: as packed, a number for each two lanes of the packed cells, where these are `SOLVED` at most.
    """
    nx, ny, nz = grid.cells
    deep = nz + 1 if grid.dimensions == 3 else 1
    faces = nx + 1, ny + 1, deep
    blocks = -(-faces[0] // BLOCK), -(-faces[1] // BLOCK), -(-faces[2] // BLOCK)
    groups = -(-blocks[0] // BLOCK), -(-blocks[1] // BLOCK), -(-blocks[2] // BLOCK)
    strips = -(-nx // STRIP), -(-ny // STRIP_ROWS[software])
    few = lanes(grid) if lanes(grid) <= min(SOLVED, limit) else 1
    return {
        "cell": FlatLayout((nx, ny, nz), 1, limit),
        "tall": FlatLayout((nx, ny, nz), 1, limit, tall=True),
        "face": FlatLayout(faces, 1, limit),
        "bounded": FlatLayout(faces, 1, limit),
        "block": FlatLayout(blocks, 1, limit),
        "group": FlatLayout(groups, 1, limit),
        "packed": FlatLayout((nx, ny, nz), LANES, limit),
        "weights": FlatLayout((nx, ny, nz), LANES, limit),
        "eighth": FlatLayout((nx, -(-ny // EIGHTHS[0]), -(-nz // EIGHTHS[1])), LANES, limit),
        "half": FlatLayout((LANES * -(-nx // (2 * LANES)), ny, nz), LANES, limit),
        "halves": FlatLayout((LANES * -(-nx // (2 * LANES)), ny, nz), LANES, limit),
        "pack": FlatLayout((-(-nx // LANES), ny, nz), 1, limit),
        "strip": FlatLayout((*strips, nz), 1, limit),
        "piece": FlatLayout((strips[0] * STRIP // PIECE[0], -(-ny // PIECE[1]), nz), 1, limit),
        "found": FlatLayout((*strips, nz + -(-blocks[2] // (strips[0] * strips[1]))), 1, limit),
        "octet": FlatLayout((nx, ny, -(-nz // OCTET)), 1, limit),
        "row": FlatLayout((1, ny, nz), 1, limit),
        "slice": FlatLayout((1, 1, nz), 1, limit),
        "whole": FlatLayout((1, 1, 1), 1, limit),
        "wave": FlatLayout((nx + nx % 2, ny, nz), LANES, limit),
        "probe": FlatLayout((min(PROBES, limit), min(PROBES, limit), 1), 1, limit),
        "root": FlatLayout((1, 1, max(grid.cells)), 1, limit),
        "matrix": FlatLayout((few, few, 1), LANES, limit),
    }


def octets(numbers: NDArray[Any]) -> NDArray[np.float64]:
    """Return whole numbers [nz, ny, nx], at most `DIGIT` / 2 - 1 either way, as [nz / OCTET, ny, nx, 4]."""
    nz, ny, nx = numbers.shape
    padded = np.zeros((-(-nz // OCTET), 4, 2, ny, nx))
    padded.reshape(-1, ny, nx)[:nz] = numbers
    return np.moveaxis(padded[:, :, 0] + DIGIT * padded[:, :, 1], 1, -1)


def of_octets(texels: NDArray[Any], nz: int) -> NDArray[np.float64]:
    """Return the numbers [nz, ny, nx] that `octets` has put together."""
    two = np.moveaxis(texels, -1, 1)
    second = np.floor(two / DIGIT + 0.5)
    both = np.stack([two - DIGIT * second, second], axis=2)
    return both.reshape(-1, *both.shape[3:])[:nz]


def link(fine: dict[str, FlatLayout], coarse: dict[str, FlatLayout]) -> None:
    """Make the layouts of a grid and of the next coarser one known to each other: "coarse_*", "fine_*"."""
    below = {"coarse_" + kind: layout for kind, layout in coarse.items() if "_" not in kind}
    coarse.update({"fine_" + kind: layout for kind, layout in fine.items() if "_" not in kind})
    fine.update(below)
