"""The box moved on over the fluid by whole cells."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpufluid.contract.kernels import Variant
from gpufluid.description.grid import Grid
from gpufluid.reference.advection import with_entering
from gpufluid.reference.arrays import Array, centers_of, face_count, on_faces
from gpufluid.reference.walls import constrained


def _came_from(
    grid: Grid, variant: Variant, shift: tuple[int, ...], face_axis: int | None = None
) -> tuple[list[Any], NDArray[np.bool_]]:
    """Where cells, or the faces along one axis, were before the box was scrolled, and which of them in it.

    The first is an index [z, y, x], clamped to the box.
    """
    shape = grid.cells[::-1] if face_axis is None else face_count(grid, face_axis)
    at, inside = [], np.ones(shape, bool)
    for axis in range(3):
        n, length = grid.cells[axis], shape[2 - axis]
        index = np.arange(length) + shift[axis]
        if axis < grid.dimensions and variant.boundaries.periodic(axis):
            index %= n
        line = [1, 1, 1]
        line[2 - axis] = length
        inside &= ((index >= 0) & (index < length)).reshape(line)
        at.append(np.clip(index, 0, length - 1))
    return list(np.ix_(at[2], at[1], at[0])), inside


def scroll_velocity(
    grid: Grid,
    variant: Variant,
    *,
    velocity: Array,
    shift: tuple[int, ...],
    solid_faces: Array | None = None,
) -> Array:
    """The velocity in a box that has gone `shift` cells on; what comes in moves as the air outside does."""
    out, sides = np.zeros_like(velocity), variant.boundaries
    for axis in range(grid.dimensions):
        index, inside = _came_from(grid, variant, shift, axis)
        values = np.where(inside, on_faces(grid, velocity, axis)[tuple(index)], 0.0)
        left = ~inside
        for across in range(grid.dimensions):
            if sides.periodic(across):
                continue
            length = values.shape[2 - across]
            came = np.arange(length) + shift[across]
            for high, beyond in ((False, came < 0), (True, came >= length)):
                line = [1, 1, 1]
                line[2 - across] = length
                here = left & beyond.reshape(line)
                side = 2 * across + (not high if sides.open(across, high) else high)
                values = np.where(here, sides.velocity(side)[axis], values)
                left = left & ~here
        on_faces(grid, out, axis)[...] = values
    return constrained(grid, variant, solid_faces, out)


def scroll_scalars(
    grid: Grid, variant: Variant, *, scalars: Array, shift: tuple[int, ...], ambient: float
) -> Array:
    """The scalars in a box that has gone `shift` cells on; what comes in is what the sides bring."""
    index, inside = _came_from(grid, variant, shift)
    x, y, z = centers_of(grid)
    place = x + shift[0], y + shift[1], z + shift[2]
    rest = np.broadcast_to(np.array([0.0, ambient, 0.0, 1.0]), (*x.shape, 4))
    fresh, _ = with_entering(grid, variant, place, ambient, rest)
    return np.asarray(np.where(inside[..., None], scalars[tuple(index)], fresh))


def scroll_flame(grid: Grid, variant: Variant, *, flame: Array, shift: tuple[int, ...]) -> Array:
    """What burnt, in a box that has gone `shift` cells on; nothing burns in what comes in."""
    index, inside = _came_from(grid, variant, shift)
    return np.asarray(np.where(inside[..., None], flame[tuple(index)], 0.0))


def scroll_pressure(grid: Grid, variant: Variant, *, pressure: Array, shift: tuple[int, ...]) -> Array:
    """The pressure in a box that has gone `shift` cells on; in what comes in 0, as on an open side.

    From an inflow it is that of the nearest cell.
    """
    index, _ = _came_from(grid, variant, shift)
    out: Array = pressure[tuple(index)].copy()
    for axis in range(grid.dimensions):
        came = np.arange(grid.cells[axis]) + shift[axis]
        for high, beyond in ((False, came < 0), (True, came >= grid.cells[axis])):
            if variant.boundaries.open(axis, high):
                np.moveaxis(out, 2 - axis, 0)[beyond] = 0.0
    return out
