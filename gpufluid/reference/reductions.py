"""Sums and largest values of fields."""

from __future__ import annotations

import numpy as np

from gpufluid.contract.kernels import Variant
from gpufluid.contract.layout import BLOCK
from gpufluid.description.grid import Grid
from gpufluid.reference.arrays import Array
from gpufluid.reference.pressure import pressure_operator
from gpufluid.reference.walls import open_bits


def add_scaled(
    grid: Grid, variant: Variant, *, values: Array, other: Array, own: float, factor: float
) -> Array:
    """Return own * values + factor * other."""
    return np.asarray(own * values + factor * other)


def dot_rows(grid: Grid, variant: Variant, *, a: Array, b: Array, openings: Array | None = None) -> Array:
    """Sums over the fluid of each row of cells: a * b, a * a, a, and the number of cells."""
    fluid = np.ones(a.shape[:3])
    if variant.solids and openings is not None:
        fluid = (open_bits(grid, openings) != 0).astype(float)
    x, y = a[..., 0] * fluid, b[..., 0]
    return np.asarray(np.stack([x * y, x * x, x, fluid], -1).sum(2, keepdims=True))


def sum_slices(grid: Grid, variant: Variant, *, rows: Array) -> Array:
    """Sums over the rows of each slice."""
    return np.asarray(rows.sum(1, keepdims=True))


def sum_whole(grid: Grid, variant: Variant, *, slices: Array) -> Array:
    """Sums over all slices."""
    return np.asarray(slices.sum(0, keepdims=True))


def balance(
    grid: Grid, variant: Variant, *, values: Array, wholes: Array, openings: Array | None = None
) -> Array:
    """The values less their mean over the fluid; 0 elsewhere."""
    _, _, total, count = wholes[0, 0, 0]
    out = values[..., 0] - total / max(count, 1.0)
    if variant.solids and openings is not None:
        out = np.where(open_bits(grid, openings) != 0, out, 0.0)
    return np.asarray(out)[..., None]


def start_rows(
    grid: Grid,
    variant: Variant,
    *,
    pressure: Array,
    divergence: Array,
    scale: float,
    openings: Array | None = None,
) -> Array:
    """Sums over the fluid of each row: the squares of what the pressure takes off, and is to take off."""
    laplacian, diagonal = pressure_operator(grid, variant, pressure[..., 0], openings)
    fluid = diagonal > 0.0
    taken, asked = (np.where(fluid, each, 0.0) for each in (laplacian, scale * divergence[..., 0]))
    return np.asarray(np.stack([taken**2, asked**2, 0 * taken, 0 * taken], -1).sum(2, keepdims=True))


def weaken(grid: Grid, variant: Variant, *, pressure: Array, wholes: Array, most: float) -> Array:
    """The pressure, taking off no more than `most` times what it is to take off (rms)."""
    taken, asked, _, _ = wholes[0, 0, 0]
    allowed = most**2 * asked
    return np.asarray(pressure * (np.sqrt(allowed / taken) if taken > allowed else 1.0))


def largest_of_blocks(values: Array) -> Array:
    """The largest of values >= 0, [z, y, x, c], in blocks of BLOCK^3 of them."""
    nz, ny, nx, channels = values.shape
    blocks = [-(-n // BLOCK) for n in (nz, ny, nx)]
    padded = np.zeros((*(b * BLOCK for b in blocks), channels))
    padded[:nz, :ny, :nx] = values
    split = padded.reshape(blocks[0], BLOCK, blocks[1], BLOCK, blocks[2], BLOCK, channels)
    return np.asarray(split.max((1, 3, 5)))


def max_speed(grid: Grid, variant: Variant, *, velocity: Array) -> Array:
    """Largest |velocity| of each component over blocks of faces, m/s."""
    return largest_of_blocks(np.abs(velocity) * [1.0, 1.0, 1.0, 0.0])


def largest_speed(grid: Grid, variant: Variant, *, speed: Array) -> Array:
    """The largest over blocks of what `max_speed` returns, m/s, and last the largest of their lengths."""
    axes = speed[..., :3]
    return largest_of_blocks(np.concatenate((axes, np.linalg.norm(axes, axis=-1, keepdims=True)), -1))
