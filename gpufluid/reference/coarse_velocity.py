"""Between a grid and one with half as many cells along each axis, on which its velocity is found."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpufluid.contract.kernels import Variant
from gpufluid.description.grid import Grid
from gpufluid.reference.arrays import Array, cells_beside, face_count, faces_of, on_faces
from gpufluid.reference.diffusion import velocity_beside
from gpufluid.reference.multigrid import sum_of_eight, sum_pairs
from gpufluid.reference.walls import closed_faces, constrained

FLUID = 0.01  # a cell with less of it than that holds none, as in restrict_scalars.glsl


def _finer(grid: Grid) -> Grid:
    """The grid of twice as many cells along each axis."""
    nx, ny, nz = (2 * n for n in grid.cells)
    return Grid((nx, ny, nz if grid.dimensions == 3 else 1))


def _means(grid: Grid, values: NDArray[Any], axis: int) -> Array:
    """The means over the finer faces along `axis` that each face of `grid` is made of."""
    means = np.moveaxis(np.moveaxis(values, 2 - axis, 0)[::2], 0, 2 - axis)
    for across in range(grid.dimensions):
        means = means if across == axis else 0.5 * sum_pairs(means, 2 - across)
    return np.asarray(means)


def restrict_velocity(
    grid: Grid, variant: Variant, *, fine_velocity: Array, solid_faces: Array | None = None
) -> Array:
    """The velocity that lets as much through a face as the finer one does."""
    fine, axes = _finer(grid), range(grid.dimensions)
    parts = [_means(grid, on_faces(fine, fine_velocity, axis), axis) for axis in axes]
    return constrained(grid, variant, solid_faces, faces_of(grid, parts))


def _in_each(fine: Array) -> Array:
    """The values of the finer cells in each coarse one, [z, y, x, n, ...] with n = x + 2 y + 4 z."""
    deep = min(len(fine), 2)
    parts = [fine[z::2, y::2, x::2] for z in range(deep) for y in (0, 1) for x in (0, 1)]
    return np.stack(parts, 3)


def restrict_solids(grid: Grid, variant: Variant, *, fine_solid_velocity: Array) -> Array:
    """The mean velocity of what is solid in each cell; last channel: 1 where it counts as solid."""
    there = _in_each(fine_solid_velocity)
    solid = there[..., 3] > 0.5
    number = np.arange(solid.shape[-1])
    beside = np.isin(number[:, None] ^ number, (1, 2, 4))
    joined = ~solid & (np.cumsum(~solid, -1) == 1)  # the first
    for _ in number:
        joined |= ~solid & (joined[..., None, :] & beside).any(-1)
    counts, count = (solid.mean(-1) >= 0.5) | (joined != ~solid).any(-1), solid.sum(-1)[..., None]
    out = np.ones((*counts.shape, 4))
    out[..., :3] = (there[..., :3] * solid[..., None]).sum(-2) / np.maximum(count, 1)
    return np.asarray(out * counts[..., None])


def restrict_marks(grid: Grid, variant: Variant, *, fine_marks: Array) -> Array:
    """1 in the third channel where fluid glides along a solid in a cell."""
    free = _in_each(fine_marks)[..., 2].max(-1)
    return np.stack([0.0 * free, 0.0 * free, free, 0.0 * free], -1)


def restrict_faces(grid: Grid, variant: Variant, *, solid_faces: Array, fine_solid_faces: Array) -> Array:
    """The faces that are closed, also those of which all finer ones are."""
    out, fine, bits = solid_faces.copy(), _finer(grid), fine_solid_faces[..., 3].astype(int)
    for axis in range(grid.dimensions):
        z, y, x = face_count(fine, axis)
        own, velocity = bits[:z, :y, :x] >> axis, on_faces(fine, fine_solid_faces, axis)
        closed, free, speed = (_means(grid, v, axis) for v in (own & 1, own >> 3 & 1, velocity))
        z, y, x = face_count(grid, axis)
        at = out[:z, :y, :x]
        more = (closed == 1.0) & (at[..., 3].astype(int) >> axis & 1 == 0)
        at[..., axis] = np.where(more, speed, at[..., axis])
        at[..., 3] += more * (1.0 + 8.0 * (free == 1.0)) * 2**axis
    return out


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
