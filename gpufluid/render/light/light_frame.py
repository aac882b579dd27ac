"""Where the columns of a light volume lie.

Seen from the light, the box is cut into layers across the axis nearest the light's way. A column is a ray of
light: it keeps its number in every layer while its lateral place moves with the shear, so columns do not
depend on each other (the shear of Lacroute & Levoy 1994 put to the light volume of Harris 2003).

Lengths are light cells, ``1 / scale`` cells of the grid each. Layer m holds the share of light left at
depth m + 1; depth 0 is where the light enters the box.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gpufluid.common.errors import GpufluidError
from gpufluid.common.vectors import Floats, Vector
from gpufluid.description.grid import Grid

MARGIN = 4  # columns of a tile beyond those of the box: up to two beside it, and the fraction of the shear
BEYOND = 2.0  # light cells that columns go on beyond a side where light leaves; see ``light_tiles.glsl``
LANES = 4  # layers in a tile, one in each channel of its texels
LEAST = 1e-5  # smallest component of a direction, so that nothing is divided by 0: less than 0.001 degrees
STEEPEST = 8.0  # lateral places per layer of light that is walked through the one slice of a 2D box
ONE = 65536  # fixed point of the shear that places the tiles


def _unit(way: Floats) -> Floats:
    """`way` at length 1, without components that are next to 0."""
    way = way / np.abs(way).max()  # first, lest squares overflow
    way /= np.linalg.norm(way)
    way[np.abs(way) < LEAST] = np.copysign(LEAST, way[np.abs(way) < LEAST])
    return np.asarray(way / np.linalg.norm(way))


@dataclass(frozen=True)
class LightFrame:
    """The columns and layers of `grid` for light that travels along `direction`.

    scale: light cells per cell, > 0 and at most 1. lag: cells along (x, y, z) that the box has moved on over
    its columns, which stay where they are in the world: light would flicker otherwise.
    """

    grid: Grid
    direction: Vector
    scale: float = 1.0
    lag: tuple[int, int, int] = (0, 0, 0)

    def __post_init__(self) -> None:
        if not 0.0 < self.scale <= 1.0:
            raise GpufluidError(f"the scale of a light volume must lie in 0 .. 1, got {self.scale!r}")

    @cached_property
    def way(self) -> Floats:
        """The way of the light, length 1, no component 0."""
        return _unit(np.array(self.direction, np.float64))

    @cached_property
    def unit(self) -> Floats:
        """The way it is walked: the same, or along the one slice of a 2D box if that is nearly the same."""
        way = self.way
        if self.grid.dimensions == 2 and STEEPEST * abs(way[2]) < np.abs(way).max():
            return _unit(np.array((way[0], way[1], 0.0)))
        return way

    @cached_property
    def axis(self) -> int:
        """The axis the light is walked along: the nearest, or through the one slice of a 2D box.

        Columns along that would leave it and come in again, and light it in stripes.
        """
        way = np.abs(self.unit)
        if self.grid.dimensions == 2 and STEEPEST * way[2] >= way.max():
            return 2
        return int(np.argmax(way))

    @property
    def across(self) -> tuple[int, int]:
        """The axes across it: of columns, of rows."""
        u, v = (a for a in range(3) if a != self.axis)
        return u, v

    @cached_property
    def slope(self) -> Floats:
        """Lateral place per layer, [2]."""
        slope: Floats = self.unit[list(self.across)] / abs(self.unit[self.axis])
        return slope

    @cached_property
    def shear(self) -> tuple[int, int]:
        """The slope in fixed point: whole numbers, so that every pass places a tile alike."""
        u, v = np.rint(self.slope * ONE).astype(int).tolist()
        return u, v

    @cached_property
    def start(self) -> tuple[int, int]:
        """How far columns lie before whole places, in fixed point: 0 .. `ONE` - 1."""
        forth = self.lag[self.axis] * np.sign(self.unit[self.axis])
        gone = self.scale * (np.array([self.lag[a] for a in self.across]) - self.slope * forth)
        u, v = (np.rint(gone * ONE).astype(int) % ONE).tolist()
        return u, v

    @property
    def extent(self) -> tuple[float, float, float]:
        """The box: width, height, depth."""
        n, (u, v) = self.grid.cells, self.across
        return n[u] * self.scale, n[v] * self.scale, n[self.axis] * self.scale

    @property
    def largest_tile(self) -> tuple[int, int]:
        """Columns and rows that a tile has room for, whatever the direction."""
        w, h, _ = self.extent
        steep = STEEPEST if self.grid.dimensions == 2 and self.axis == 2 else 1.0
        spread = MARGIN + int((LANES - 1) * steep)
        return int(np.ceil(w)) + spread, int(np.ceil(h)) + spread

    @cached_property
    def tile(self) -> tuple[int, int]:
        """Columns and rows of a tile: those that its layers need, each a part further on."""
        w, h, _ = self.extent
        ends = self._bases.reshape(-1, LANES, 2)
        u, v = np.abs(ends[:, -1] - ends[:, 0]).max(axis=0).tolist()
        return int(np.ceil(w)) + MARGIN + u, int(np.ceil(h)) + MARGIN + v

    @property
    def tiles(self) -> int:
        """How many tiles there are."""
        return -(-self.layers // LANES)

    @property
    def layers(self) -> int:
        """Layers along the walk axis."""
        return int(np.ceil(self.extent[2]))

    @property
    def path(self) -> float:
        """The light's way through one layer, metres."""
        return self.grid.cell_size / self.scale / float(abs(self.unit[self.axis]))

    @cached_property
    def place(self) -> Floats:
        """Column, row and depth to place in cells, [4, 4]: the way back from `matrix`."""
        return np.asarray(np.linalg.inv(self.matrix), np.float64)

    @cached_property
    def matrix(self) -> Floats:
        """Place in cells to (column, row, depth, 1), [4, 4]."""
        matrix = np.zeros((4, 4))
        forth = self.unit[self.axis] > 0.0
        matrix[2, self.axis] = self.scale if forth else -self.scale
        matrix[2, 3] = 0.0 if forth else self.extent[2]
        for row, (axis, slope) in enumerate(zip(self.across, self.slope, strict=True)):
            matrix[row] = -slope * matrix[2]
            matrix[row, axis] += self.scale
        matrix[3, 3] = 1.0
        return matrix

    @cached_property
    def _bases(self) -> NDArray[np.int64]:
        """Where a tile for each layer alone would begin, [layers of all tiles, 2]."""
        ends = np.arange(1, LANES * self.tiles + 1, dtype=np.int64)[:, None]
        return ((ONE // 2 + np.array(self.start) - np.array(self.shear) * ends) >> 16) - 2

    def base(self, layer: int) -> tuple[int, int]:
        """Column and row of the first texel of the tile that holds `layer`."""
        first = layer - layer % LANES
        u, v = self._bases[[first, first + LANES - 1]].min(axis=0).tolist()
        return u, v

    @cached_property
    def first(self) -> tuple[int, int]:
        """The first column and row of all tiles."""
        u, v = map(min, self.base(0), self.base(self.layers - 1))
        return u, v

    @cached_property
    def columns(self) -> tuple[int, int]:
        """Columns and rows that come near the box in some layer."""
        ends = self.tile, self.base(0), self.base(self.layers - 1)
        u, v = (n + abs(p - q) for n, p, q in zip(*ends, strict=True))
        return u, v
