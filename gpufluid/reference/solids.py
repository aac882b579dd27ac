"""Obstacles in cells: where they are, how they move, how warm they are.

image: of a kernel, all that tells which cells lie in an obstacle; see `_inside`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpufluid.contract.kernels import Variant
from gpufluid.contract.layout import of_octets
from gpufluid.description.grid import Grid
from gpufluid.description.shapes import MESH
from gpufluid.description.voxels import beyond_squared
from gpufluid.reference.arrays import Array, cells_beside, centers_of


def _places(grid: Grid) -> Array:
    """Cell centres, m from the low corner, and 1: [nz, ny, nx, 4]."""
    return np.stack([*(c * grid.cell_size for c in centers_of(grid)), np.ones(grid.cells[::-1])], -1)


def _inside(
    grid: Grid, winding: Array, shape: int, to_local: Array, extent: tuple[float, ...], rounding: float
) -> NDArray[np.bool_]:
    """Cells whose centre is inside an obstacle, as in inside.glsl."""
    q = np.moveaxis(_places(grid) @ np.asarray(to_local, float).T, -1, 0)[:3]
    inside: NDArray[np.bool_] = beyond_squared(shape, list(q), extent) <= rounding**2
    return inside & (np.abs(of_octets(winding, grid.cells[2])) > 0.5) if shape == MESH else inside


def add_drift(
    grid: Grid,
    variant: Variant,
    *,
    solid_velocity: Array,
    drift: Array,
    mean_drift: tuple[float, ...],
    **image: Any,
) -> Array:
    """The solids, with the velocity of a mesh whose vertices move."""
    inside = _inside(grid, **image)
    out = solid_velocity.copy()
    added = np.where(drift[..., 3:] > 0.5, drift[..., :3], mean_drift)
    out[..., :3] += np.where(inside[..., None], added, 0.0)
    return out


def mark_obstacle(
    grid: Grid, variant: Variant, *, marks: Array, mark: tuple[float, ...], **image: Any
) -> Array:
    """What the solids heat with and which are free-slip, with one obstacle more."""
    out = marks.copy()
    out[_inside(grid, **image)] = mark
    return out


def heat_fluid(grid: Grid, variant: Variant, *, scalars: Array, marks: Array, dt: float) -> Array:
    """The temperature of fluid beside hot or cold solids drawn to theirs."""
    solid, rate = heat_beside(grid, variant, marks)
    share = (scalars[..., 3] > 0.5) * -np.expm1(-rate * dt)
    out = scalars.copy()
    out[..., 1] += (solid - out[..., 1]) * share
    return out


def heat_beside(grid: Grid, variant: Variant, marks: Array) -> tuple[Array, Array]:
    """The temperature and the rate of the solids that share faces with each cell; 0 where none does.

    Their means; the rate times the surface that a cell touches: sqrt(2) of a face in a stair of two.
    """
    both: Any = [
        sum(cells_beside(grid, variant, axis, by, marks) for by in (-1, 1)) for axis in range(grid.dimensions)
    ]
    temperature, rate, _, faces = np.moveaxis(sum(both), -1, 0)
    faces = np.where(faces > 0.0, faces, np.inf)
    surface = np.sqrt(sum(along[..., 3] ** 2 for along in both))
    return temperature / faces, rate / faces * surface


def solid_normals(grid: Grid, variant: Variant, *, solid: Array) -> Array:
    """Unit normals out of the solids and 1 where there is one: Sobel's gradient of the voxels."""
    out = np.zeros((*solid.shape[:3], 4))
    for axis in range(grid.dimensions):
        growth = cells_beside(grid, variant, axis, 1, solid[..., 0]) - cells_beside(
            grid, variant, axis, -1, solid[..., 0]
        )
        for other in {0, 1, 2} - {axis}:
            growth = (
                cells_beside(grid, variant, other, -1, growth)
                + 2.0 * growth
                + cells_beside(grid, variant, other, 1, growth)
            )
        out[..., axis] = -growth
    size = np.linalg.norm(out[..., :3], axis=-1)
    out[..., 3] = size > 0.5
    out[..., :3] *= (out[..., 3] / np.where(size > 0.5, size, 1.0))[..., None]
    return out


def add_obstacle(
    grid: Grid, variant: Variant, *, solid_velocity: Array, motion: Array, **image: Any
) -> Array:
    """The solids with one more: its velocity and 1 where a cell's centre is inside."""
    inside = _inside(grid, **image)
    out = solid_velocity.copy()
    out[inside] = 1.0
    out[inside, :3] = (_places(grid) @ np.asarray(motion, float).T)[inside, :3]
    return out


def cover_scalars(grid: Grid, variant: Variant, *, scalars: Array, solid: Array, left: float) -> Array:
    """The scalars with the share `left` of all four channels in cells that a solid has just come into."""
    return np.where(solid > 0.5, left * scalars, scalars)


def clear_colors(grid: Grid, variant: Variant, *, scalars: Array) -> Array:
    """No colour in any cell, of which the scalars tell fluid from solids."""
    return np.where(np.arange(4) == 3, scalars, 0.0)


def uncover_scalars(
    grid: Grid, variant: Variant, *, scalars: Array, solid: Array, ambient: float, ends: int
) -> Array:
    """What cells hold that a solid has left: the mean of the fluid beside them, at the end air.

    Those that a solid has come into hold all of what they held a share of, and -1.
    """
    inside, held = solid > 0.5, scalars[..., 3:]
    air = np.concatenate([scalars[..., :3], np.ones_like(held)], -1) * ((held > 0.5) & ~inside)
    total: Array = sum(
        (cells_beside(grid, variant, axis, by, air) for axis in range(grid.dimensions) for by in (-1, 1)),
        np.zeros_like(air),
    )
    some, bare = total[..., 3:] > 0.0, ~inside & (held < 0.5)
    out = np.where(bare & some, total / np.where(some, total[..., 3:], 1.0), scalars)
    out[(bare & ~some)[..., 0] & bool(ends)] = [0.0, ambient, 0.0, 1.0]
    come = (inside & (held > 0.0))[..., 0]
    out[come] = np.concatenate([scalars[come][:, :3] / held[come], np.full((come.sum(), 1), -1.0)], -1)
    return out
