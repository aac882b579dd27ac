"""Where the values of a staggered grid lie in arrays, and their neighbours."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpufluid.common.checks import locked
from gpufluid.contract.kernels import Variant
from gpufluid.description.grid import Grid

Array = NDArray[np.float64]
Places = tuple[Array, Array, Array]  # x, y and z of places, or of vectors there


def cells_beside(
    grid: Grid, variant: Variant, axis: int, by: int, values: Array, beyond: float | None = None
) -> Array:
    """Cell `values` moved so that index i holds what was at i + by along `axis` (0 x, 1 y, 2 z).

    Past a side the nearest value repeats, or the box does where it is periodic; `beyond` is what stands
    past an open side, None for the nearest value there too.
    """
    n, sides = values.shape[2 - axis], variant.boundaries
    around = sides.periodic(axis) and axis < grid.dimensions
    out: Array = values.take(moved(n, by, n if around else 0), axis=2 - axis)
    if beyond is not None and not around and sides.open(axis, by > 0):
        rows = np.moveaxis(out, 2 - axis, 0)
        rows[max(n - by, 0) if by > 0 else 0 : n if by > 0 else -by] = beyond
    return out


@lru_cache(maxsize=256)
def moved(n: int, by: int, period: int = 0) -> NDArray[np.int_]:
    """The number of the value `by` further on, of each of n in a row; past the ends the last, or round."""
    at = np.arange(n) + by
    return locked(at % period if period else np.clip(at, 0, n - 1))


@cache
def layer(axis: int, number: int) -> tuple[slice | int, ...]:
    """The index of the cells that are `number` along `axis` (0 x, 1 y, 2 z) in values [z, y, x, ...]."""
    return (*[slice(None)] * (2 - axis), number)  # a third of the time of `np.moveaxis` and an index


def rolled(values: Array, by: int, axis: int) -> Array:
    """`values` moved so that index i of `axis` holds what was at i + by, round the box."""
    return values.take(moved(values.shape[axis], by, values.shape[axis]), axis)


def low_faces(grid: Grid, faces: Array) -> Array:
    """The values of faces that are low faces of a cell: [nz, ny, nx, c]."""
    nx, ny, nz = grid.cells
    return faces[:nz, :ny, :nx]


def high_faces(grid: Grid, faces: Array, axis: int, component: int) -> Array:
    """Velocity `component` stored one step up along `axis`: [nz, ny, nx]."""
    nx, ny, nz = grid.cells
    x, y, z = (int(axis == a) for a in range(3))
    return faces[z : nz + z, y : ny + y, x : nx + x, component]


def face_count(grid: Grid, axis: int) -> tuple[int, int, int]:
    """Faces along one axis: [nz, ny, nx] with one more along it."""
    nx, ny, nz = grid.cells
    return nz + (axis == 2), ny + (axis == 1), nx + (axis == 0)


def faces_of(grid: Grid, parts: list[Array]) -> Array:
    """One array of faces from its components, each of `face_count` values; 0 where no face is."""
    nx, ny, nz = grid.cells
    deep = nz + 1 if grid.dimensions == 3 else 1
    faces = np.zeros((deep, ny + 1, nx + 1, 4))
    for axis, values in enumerate(parts):
        z, y, x = values.shape
        faces[:z, :y, :x, axis] = values
    return faces


def periods_of(grid: Grid, variant: Variant) -> tuple[int, ...]:
    """Cells after which the box repeats along (x, y, z), 0 where it does not."""
    sides = variant.boundaries
    return tuple(grid.cells[a] if sides.periodic(a) and a < grid.dimensions else 0 for a in range(3))


@lru_cache(maxsize=64)
def centers_of(grid: Grid, face_axis: int | None = None) -> Places:
    """Places of the cell centres, [nz, ny, nx], or of the faces along one axis, one more along it.

    Views of three lines, to be read only.
    """
    shape = grid.cells[::-1] if face_axis is None else face_count(grid, face_axis)
    lines = [np.arange(n) + 0.5 for n in shape]
    if face_axis is not None:
        lines[2 - face_axis] -= 0.5
    z, y, x = (np.broadcast_to(line, shape) for line in np.ix_(*lines))
    return x, y, z


def face_places(grid: Grid, variant: Variant, axis: int) -> Places:
    """Places of the faces along `axis`, those of a periodic high side being those of its low side."""
    place, period = list(centers_of(grid, axis)), periods_of(grid, variant)[axis]
    if period:
        place[axis] = place[axis] % period
    return place[0], place[1], place[2]


def on_faces(grid: Grid, velocity: Array, axis: int) -> Array:
    """The part of `velocity` that holds component `axis` on its faces; a view."""
    z, y, x = face_count(grid, axis)
    return velocity[:z, :y, :x, axis]


def center_velocity(grid: Grid, velocity: NDArray[Any]) -> NDArray[Any]:
    """The velocity at the cell centres, [nz, ny, nx, 3]."""
    low = low_faces(grid, velocity)
    parts = [0.5 * (low[..., a] + high_faces(grid, velocity, a, a)) for a in range(grid.dimensions)]
    return np.stack(parts if grid.dimensions == 3 else [*parts, low[..., 2]], -1)


HALF_BOX = 0.4999  # as in boxes_off.glsl


def boxes_off(grid: Grid, variant: Variant, way: Array) -> Array:
    """The whole boxes in ways [..., 3], m, along periodic axes: what is left without them is shortest.

    What lies half a box off, as faces do, lies as near on both sides; which counts is no matter of rounding.
    """
    size = np.array(grid.size)
    along = np.array(periods_of(grid, variant)) > 0
    return np.asarray(along * size * np.floor(way / size + HALF_BOX))


def slope_along(grid: Grid, variant: Variant, axis: int, values: Array) -> Array:
    """Change of cell `values` over one cell along `axis`: of two beside a side, else of three."""
    change = cells_beside(grid, variant, axis, 1, values) - cells_beside(grid, variant, axis, -1, values)
    if not variant.boundaries.periodic(axis):
        ends = np.moveaxis(change, 2 - axis, 0)
        ends[0] *= 2.0
        ends[-1] *= 2.0
    return np.asarray(0.5 * change)


def shifted(variant: Variant, axis: int, by: int, values: Array) -> Array:
    """`values` moved so that index i holds what was at i + by along `axis`; 0 past a side."""
    n = values.shape[2 - axis]
    at = np.arange(n) + by
    if variant.boundaries.periodic(axis):
        return np.asarray(np.take(values, at % n, axis=2 - axis))
    line = [1, 1, 1]
    line[2 - axis] = n
    inside = ((at >= 0) & (at < n)).reshape(line)
    return np.asarray(np.take(values, np.clip(at, 0, n - 1), axis=2 - axis) * inside)
