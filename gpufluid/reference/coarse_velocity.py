"""Between a grid and one with half as many cells along each axis, on which its velocity is found."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufluid.grid import Grid
from gpufluid.kernels import Variant
from gpufluid.reference.arrays import Array, cells_beside, face_count, faces_of, on_faces
from gpufluid.reference.diffusion import velocity_beside
from gpufluid.reference.multigrid import sum_of_eight, sum_pairs
from gpufluid.reference.walls import closed_faces, constrained

FLUID = 0.01  # a cell with less of it than that holds none, as in restrict_scalars.glsl


def restrict_velocity(
    grid: Grid, variant: Variant, *, fine_velocity: Array, solid_faces: Array | None = None
) -> Array:
    """The velocity that lets as much through a face as the finer one does."""
    nx, ny, nz = (2 * n for n in grid.cells)
    fine, parts = Grid((nx, ny, nz if grid.dimensions == 3 else 1)), []
    for axis in range(grid.dimensions):
        values = np.moveaxis(on_faces(fine, fine_velocity, axis), 2 - axis, 0)[::2]
        values = np.moveaxis(values, 0, 2 - axis)
        for across in range(grid.dimensions):
            values = values if across == axis else 0.5 * sum_pairs(values, 2 - across)
        parts.append(values)
    return constrained(grid, variant, solid_faces, faces_of(grid, parts))


def restrict_scalars(grid: Grid, variant: Variant, *, fine_scalars: Array) -> Array:
    """The means over the fluid in each cell; last channel: 1 where there is any."""
    total = sum_of_eight(fine_scalars)
    fluid = total[..., 3:] > FLUID
    out = np.where(fluid, total / np.where(fluid, total[..., 3:], 1.0), 0.0)
    out[..., 3:] = fluid
    return out


def restrict_flame(grid: Grid, variant: Variant, *, fine_flame: Array) -> Array:
    """What burns in each cell, per second."""
    return sum_of_eight(fine_flame) / 2.0**grid.dimensions


def restrict_pressure(grid: Grid, variant: Variant, *, fine_pressure: Array) -> Array:
    """The mean pressure in each cell."""
    return sum_of_eight(fine_pressure) / 2.0**grid.dimensions


def prolong_pressure(
    grid: Grid, variant: Variant, *, coarse_pressure: Array, coarse_solid: Array | None = None
) -> Array:
    """The pressure of the coarse cell that each cell lies in; in a solid one of the nearest with fluid."""

    def over(values: Array) -> Array:
        for axis in range(grid.dimensions):
            values = values.repeat(2, axis=2 - axis)
        return values

    if coarse_solid is None:
        return over(coarse_pressure)
    fluid = (coarse_solid < 0.5).astype(float)
    total, count = np.zeros((2, *over(fluid).shape))
    for axis in range(grid.dimensions):
        odd = np.indices(total.shape)[2 - axis] % 2 == 1
        for values, known in ((fluid * coarse_pressure, total), (fluid, count)):
            low, high = (over(cells_beside(grid.coarser(), variant, axis, by, values)) for by in (-1, 1))
            known += np.where(odd, high, low)
    own = (over(fluid) > 0.0) | (count == 0.0)
    return np.where(own, over(coarse_pressure), total / np.maximum(count, 1.0))


def _slope(
    coarse: Grid, variant: Variant, values: Array, closed: NDArray[np.bool_], component: int, along: int
) -> Array:
    """How much a component changes along another axis over a quarter of a coarse cell.

    Not where a side or a solid gives it: what the fluid does beside that does not count.
    """
    low, high = (velocity_beside(coarse, variant, values, component, along, side) for side in (0, 1))
    z, y, x = values.shape
    return np.where(closed[:z, :y, :x, component], 0.0, 0.125 * (high - low))


def face_slopes(grid: Grid, variant: Variant, *, velocity: Array, solid_faces: Array | None = None) -> Array:
    """What a grid of twice as many cells along each axis makes its velocity of, [z, y, x, 12].

    Of each component its value, how much it changes over a quarter of a cell along the two other axes, and
    what it has halfway to the next face beyond the mean of both.
    """
    axes = range(grid.dimensions)
    given = [on_faces(grid, velocity, axis) for axis in axes]
    closed, _ = closed_faces(grid, variant, solid_faces)
    slopes = {
        (component, along): _slope(grid, variant, given[component], closed, component, along)
        for component in axes
        for along in axes
        if along != component
    }
    nx, ny, nz = grid.cells
    out = np.zeros((*velocity.shape[:3], 12))
    for axis in axes:
        z, y, x = given[axis].shape
        others = [other for other in range(3) if other != axis]
        out[:z, :y, :x, 4 * axis] = given[axis]
        for n, other in enumerate(others[: len(axes) - 1], 1):
            out[:z, :y, :x, 4 * axis + n] = slopes[axis, other]
            across = np.moveaxis(slopes[other, axis], 2 - other, 0)
            out[:nz, :ny, :nx, 4 * axis + 3] += 0.5 * np.moveaxis(across[1:] - across[:-1], 0, 2 - other)
    return out


def prolong_velocity(
    grid: Grid, variant: Variant, *, slopes: Array, solid_faces: Array | None = None
) -> Array:
    """The velocity over a coarser one, with that one's divergence in each cell (Toth & Roe 2002)."""
    coarse, parts = grid.coarser(), []
    nx, ny, nz = coarse.cells
    for axis in range(grid.dimensions):
        others = [other for other in range(3) if other != axis]
        z, y, x = face_count(coarse, axis)
        values, *changes = (slopes[:z, :y, :x, 4 * axis + n] for n in range(3))
        push = slopes[:nz, :ny, :nx, 4 * axis + 3]
        for other in others[: grid.dimensions - 1]:
            values, push, *changes = (v.repeat(2, axis=2 - other) for v in (values, push, *changes))
        for other, change in zip(others[: grid.dimensions - 1], changes, strict=False):
            towards = np.resize([-1.0, 1.0], values.shape[2 - other])
            values = values + np.moveaxis(np.moveaxis(change, 2 - other, -1) * towards, -1, 2 - other)
        on = np.moveaxis(values, 2 - axis, 0)
        out = np.zeros((2 * len(on) - 1, *on.shape[1:]))
        out[::2], out[1::2] = on, 0.5 * (on[:-1] + on[1:]) + np.moveaxis(push, 2 - axis, 0)
        parts.append(np.moveaxis(out, 0, 2 - axis))
    return constrained(grid, variant, solid_faces, faces_of(grid, parts))
