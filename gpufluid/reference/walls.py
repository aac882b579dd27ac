"""Faces that sides and solids close, and what they give the fluid."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpufluid.common.checks import locked
from gpufluid.contract.kernels import Variant
from gpufluid.contract.layout import LANES
from gpufluid.description.grid import Grid
from gpufluid.reference.arrays import Array, cells_beside, face_count, periods_of, shifted


def cells_round_faces(
    grid: Grid, variant: Variant, axis: int, values: Array, beyond: float | None = None
) -> tuple[Array, Array]:
    """Cell `values` below and above each of n + 1 faces along `axis`; past a side as in `cells_beside`."""
    low = cells_beside(grid, variant, axis, -1, values, beyond)
    last = np.take(values, [-1], axis=2 - axis)
    high = np.take(cells_beside(grid, variant, axis, 1, values, beyond), [-1], axis=2 - axis)
    return np.concatenate([low, last], 2 - axis), np.concatenate([values, high], 2 - axis)


def _sides_and_solids(
    grid: Grid, variant: Variant, solid_velocity: Array | None
) -> tuple[NDArray[np.bool_], Array]:
    """Return which faces sides and solids close, [z, y, x, 3], and the velocity of what closes them."""
    nx, ny, nz = grid.cells
    deep = nz + 1 if grid.dimensions == 3 else 1
    closed = np.ones((deep, ny + 1, nx + 1, 3), bool)
    velocity = np.zeros(closed.shape)
    sides = variant.boundaries
    for axis in range(grid.dimensions):
        z, y, x = face_count(grid, axis)
        shut, speed = closed[:z, :y, :x, axis], velocity[:z, :y, :x, axis]
        shut[...] = False
        if solid_velocity is not None:
            count = sum(cells_round_faces(grid, variant, axis, solid_velocity[..., 3], 0.0))
            both = sum(
                cells_round_faces(
                    grid, variant, axis, solid_velocity[..., axis] * solid_velocity[..., 3], 0.0
                )
            )
            shut[...] = count > 0.5
            speed[...] = np.where(shut, both / np.where(shut, count, 1.0), 0.0)
        for high in (False, True):
            if sides.closed(axis, high):
                at: list[Any] = [slice(None)] * 3
                at[2 - axis] = -1 if high else 0
                shut[tuple(at)] = True
                speed[tuple(at)] = sides.velocity(2 * axis + high)[axis]
    return closed, velocity


def closed_faces(grid: Grid, variant: Variant, solid_faces: Array | None) -> tuple[NDArray[np.bool_], Array]:
    """Return which faces are closed, [z, y, x, 3], and the velocity of what closes them."""
    if variant.solids and solid_faces is not None:
        bits = solid_faces[..., 3].astype(int)
        return np.stack([(bits >> axis & 1) > 0 for axis in range(3)], -1), solid_faces[..., :3]
    return _sides_and_solids(grid, variant, None)


def constrained(grid: Grid, variant: Variant, solid_faces: Array | None, u: Array) -> Array:
    closed, velocity = closed_faces(grid, variant, solid_faces)
    out = np.zeros_like(u)
    out[..., :3] = np.where(closed, velocity, u[..., :3])
    return out


def constrain(grid: Grid, variant: Variant, *, velocity: Array, solid_faces: Array | None = None) -> Array:
    """The velocity with closed faces moving with what closes them, and periodic sides the same."""
    u = velocity.copy()
    for axis, period in enumerate(periods_of(grid, variant)):
        if period:
            line = np.moveaxis(u, 2 - axis, 0)
            line[-1] = line[0]
    return constrained(grid, variant, solid_faces, u)


def open_bits(grid: Grid, openings: Array) -> NDArray[np.int64]:
    """The six bits of each cell, [nz, ny, nx], of the packed whole numbers [nz, ny, packs, 1]."""
    lanes = openings[..., 0].astype(np.int64)[..., None] >> (6 * np.arange(LANES)) & 63
    return lanes.reshape(*openings.shape[:2], -1)[..., : grid.cells[0]]


def open_masks(grid: Grid, variant: Variant, openings: Array | None) -> NDArray[np.bool_]:
    """Where the neighbour of a cell is open, [side, z, y, x] with the sides x-, x+, y-, y+, z-, z+."""
    if openings is None or not variant.solids:
        return _open_without_solids(grid, variant)
    return _masks(grid, openings)


@lru_cache(maxsize=8)
def _open_without_solids(grid: Grid, variant: Variant) -> NDArray[np.bool_]:
    """The masks of a box without solids, which every sweep in it asks for; not to be written to."""
    return locked(_masks(grid, open_neighbours(grid, variant)))


def _masks(grid: Grid, openings: Array) -> NDArray[np.bool_]:
    """The masks of packed whole numbers, see `open_masks`."""
    return (open_bits(grid, openings) >> np.arange(6)[:, None, None, None] & 1) > 0


def find_solid(grid: Grid, variant: Variant, *, solid_velocity: Array) -> Array:
    """1 in the cells that are solid."""
    return solid_velocity[..., 3:]


def close_faces(grid: Grid, variant: Variant, *, solid_velocity: Array, marks: Array | None = None) -> Array:
    """Which low faces are closed (bits in the last channel) and how fast what closes them moves."""
    closed, velocity = _sides_and_solids(grid, variant, solid_velocity)
    bits = closed @ [1.0, 2.0, 4.0]
    free_cells = np.zeros(grid.cells[::-1]) if marks is None else marks[..., 2] * solid_velocity[..., 3]
    for axis in range(grid.dimensions):
        inside, free = (
            np.minimum(*cells_round_faces(grid, variant, axis, values, 1.0))
            for values in (solid_velocity[..., 3], free_cells)
        )
        own = (inside > 0.5) * 64.0 + (free > 0.5) * 8.0
        for high in (False, True):
            if variant.boundaries.closed(axis, high):
                np.moveaxis(own, 2 - axis, 0)[-high] = 0.0
        z, y, x = own.shape
        bits[:z, :y, :x] += own * 2**axis
    return np.concatenate([velocity, bits[..., None]], -1)


def let_slip(grid: Grid, variant: Variant, *, velocity: Array, solid_faces: Array) -> Array:
    """The closed faces, those inside free-slip solids with the mean velocity of the faces round them."""
    bits, out = solid_faces[..., 3].astype(int), solid_faces.copy()
    for axis in range(grid.dimensions):
        z, y, x = face_count(grid, axis)
        own, moving = bits[:z, :y, :x], solid_faces[:z, :y, :x, axis]
        touching = (own >> (6 + axis) & 1) == 0
        u = np.where(own >> axis & 1, moving, velocity[:z, :y, :x, axis]) * touching
        mean, found = moving, np.zeros(u.shape)
        across = [a for a in range(grid.dimensions) if a != axis]
        straight = [((a, by),) for a in across for by in (-1, 1)]
        diagonal = [((across[0], i), (across[-1], j)) for i in (-1, 1) for j in (-1, 1)]
        for steps in (straight, diagonal if len(across) == 2 else []):
            total, count = np.zeros(u.shape), np.zeros(u.shape)
            for step in steps:
                beside, counted = u, touching.astype(float)
                for a, by in step:
                    beside = shifted(variant, a, by, beside)
                    counted = shifted(variant, a, by, counted)
                total, count = total + beside, count + counted
            mean = np.where((found == 0.0) & (count > 0.0), total / np.where(count > 0.0, count, 1.0), mean)
            found = found + count
        out[:z, :y, :x, axis] = np.where(own >> (3 + axis) & 1, mean, moving)
    return out


def open_neighbours(grid: Grid, variant: Variant, *, solid_faces: Array | None = None) -> Array:
    """Six bits a cell, four cells to a number: through which of its faces there is fluid beside it."""
    closed, _ = closed_faces(grid, variant, solid_faces)
    nx, ny, nz = grid.cells
    bits = np.zeros((nz, ny, -(-nx // LANES) * LANES), np.int64)
    for axis in range(grid.dimensions):
        faces = np.moveaxis(~closed[..., axis], 2 - axis, 0)
        for side, some in enumerate((faces[:-1], faces[1:])):
            open_ones = np.moveaxis(some, 0, 2 - axis)[:nz, :ny, :nx]
            bits[..., :nx] |= open_ones.astype(np.int64) << (2 * axis + side)
    packs = (bits.reshape(nz, ny, -1, LANES) << (6 * np.arange(LANES))).sum(-1)
    return np.asarray(packs[..., None], float)
