"""The regular grid a fluid lives on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gpufluid.common.checks import LARGEST, finite_number, finite_triple
from gpufluid.common.errors import GpufluidError, named, one_of
from gpufluid.common.vectors import Counts, Number, Vector

LARGEST_HALF = 65504.0  # the largest half float; what is beyond ends there
TINY = 2.0**-120  # what a pass writes below it is 0: denormal numbers are slow, and would not decay further
MOST_CELLS = 1 << 20  # along an axis
LARGEST_SIZE = 1e18  # m, of a cell: single precision holds its square, and some more
MANY = 1 << 20  # cells in a box, from which on reading numbers back takes longer than adding them up first

AXES = ("x", "y", "z")
CellBox = tuple[Sequence[float], Sequence[float]]  # low and high corner, cells

FARTHEST = 2**40  # cells a box may be moved: a double still tells places a thousandth of a cell apart there


@named
@dataclass(frozen=True)
class Grid:
    """A box of cubic cells.

    cells: number of cells along (x, y, z); ``(x, y, 1)`` is a 2D fluid.
    cell_size: edge of a cell, metres, up to 1e18; 1 where none is given.
    origin: low corner of the box, metres.

    Raises GpufluidError for sizes that are not positive whole numbers or not finite.
    """

    cells: tuple[int, int, int]
    cell_size: float = 1.0
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0)

    if TYPE_CHECKING:  # what is given need not be what is read

        def __init__(self, cells: Counts, cell_size: Number = 1.0, origin: Vector = ...) -> None: ...

    def __post_init__(self) -> None:
        try:
            cells = tuple(self.cells)
        except TypeError:
            cells = ()
        if len(cells) != 3:
            raise GpufluidError(f"Grid.cells must be three whole numbers (x, y, z), got {self.cells!r}")
        for axis, n in zip(AXES, cells, strict=True):
            if isinstance(n, Integral) and n > MOST_CELLS:  # which may be too long to be told
                raise GpufluidError(f"Grid.cells along {axis} must be at most {MOST_CELLS}")
            if isinstance(n, bool) or not isinstance(n, Integral) or n < 1:
                raise GpufluidError(
                    f"Grid.cells along {axis} must be a whole number >= 1, got {n!r} in {cells}"
                )
        object.__setattr__(self, "cells", tuple(int(n) for n in cells))
        size = finite_number(self.cell_size, "Grid.cell_size", above=0.0, most=LARGEST_SIZE)
        if size < 1.0 / LARGEST:
            raise GpufluidError(f"Grid.cell_size must be >= {1.0 / LARGEST:g}, got {size:g}")
        object.__setattr__(self, "cell_size", size)
        object.__setattr__(self, "origin", finite_triple(self.origin, "Grid.origin"))

    @property
    def dimensions(self) -> int:
        """2 for a grid one cell deep along z, else 3."""
        return 2 if self.cells[2] == 1 else 3

    @property
    def size(self) -> tuple[float, float, float]:
        """Edges of the box along (x, y, z), metres."""
        nx, ny, nz = self.cells
        return nx * self.cell_size, ny * self.cell_size, nz * self.cell_size

    @property
    def upper(self) -> tuple[float, float, float]:
        """High corner of the box, metres."""
        (x, y, z), (sx, sy, sz) = self.origin, self.size
        return x + sx, y + sy, z + sz

    def centers(self) -> NDArray[np.float64]:
        """Middles of the cells, where density and the like are, (x, y, z) in metres: [nz, ny, nx, 3]."""
        return self._lattice(self.cells, (0.5, 0.5, 0.5))

    def faces(self, axis: str) -> NDArray[np.float64]:
        """Middles of the faces that the velocity along `axis` is on, (x, y, z) in metres.

        axis: "x", "y" or "z". [nz + 1, ny + 1, nx + 1, 3] as the velocity has it: what it has no face for
        lies beyond the box. So component 0 of a flow is a formula of ``grid.faces("x")``.
        Raises GpufluidError for another axis.
        """
        one_of(axis, AXES, "axis")
        i, j, k = (0.0 if name == axis else 0.5 for name in AXES)
        nx, ny, nz = self.cells
        return self._lattice((nx + 1, ny + 1, nz + 1), (i, j, k))

    def _lattice(
        self, counts: tuple[int, int, int], first: tuple[float, float, float]
    ) -> NDArray[np.float64]:
        """So many places a cell apart, the `first` so many cells from the low corner: [z, y, x, 3]."""
        x, y, z = (
            low + (np.arange(n) + off) * self.cell_size
            for low, n, off in zip(self.origin, counts, first, strict=True)
        )
        return np.stack(np.meshgrid(z, y, x, indexing="ij")[::-1], axis=-1)

    @cached_property
    def local(self) -> Grid:
        """The same box with its low corner at 0: all that does not depend on where it stands."""
        return replace(self, origin=(0.0, 0.0, 0.0))

    def scrolled(self, cells: tuple[int, int, int]) -> Grid:
        """The same box, so many `cells` (i, j, k) further along (x, y, z)."""
        x, y, z = (low + n * self.cell_size for low, n in zip(self.origin, cells, strict=True))
        return replace(self, origin=(x, y, z))

    def cells_from(self, other: Grid) -> tuple[int, int, int]:
        """How many whole cells along (x, y, z) this box is from `other`, one of the same cells."""
        i, j, k = (
            round((here - there) / self.cell_size)
            for here, there in zip(self.origin, other.origin, strict=True)
        )
        return i, j, k

    @property
    def cell_count(self) -> int:
        """Number of cells in the box."""
        nx, ny, nz = self.cells
        return nx * ny * nz

    @property
    def many(self) -> bool:
        """Whether the device adds up and compares all that it can before anything is read from it."""
        return self.cell_count >= MANY

    @cached_property
    def source_cell(self) -> float:
        """Edge in metres of the cells that sources are told in, where nobody says how wide they are."""
        return self.cell_size

    def averaged(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """`values` of the cells, [z, y, x, ...]; of those of a finer grid the means in each cell."""
        for axis, count in enumerate(self.cells):
            parts = values.shape[2 - axis] // count
            if parts > 1:
                line = np.moveaxis(values, 2 - axis, 0)
                values = np.moveaxis(line.reshape(count, parts, *line.shape[1:]).mean(1), 0, 2 - axis)
        return values

    def coarser(self) -> Grid:
        """The grid of half as many cells along every axis, rounded up: a coarse level of multigrid.

        In 2D its one slice is as thick as its cells are wide, about the same middle.
        """
        nx, ny, nz = (-(-n // 2) for n in self.cells)
        x, y, z = self.origin
        z -= 0.5 * self.cell_size if self.dimensions == 2 else 0.0
        return CoarserGrid((nx, ny, nz), 2.0 * self.cell_size, (x, y, z), self.dimensions, self.source_cell)


@dataclass(frozen=True)
class CoarserGrid(Grid):
    """A grid over a finer one. Where that is 3D it is as well, though it be one cell deep.

    Where the finer one has an odd number of cells, the last cell here stands for one cell alone, not for two.
    """

    depth: int = 3
    finest: float = 1.0

    @property
    def dimensions(self) -> int:
        """Those of the finest grid."""
        return self.depth

    @cached_property
    def source_cell(self) -> float:
        """That of the finest grid: a source is as wide for the velocity as for what it brings along."""
        return self.finest
