"""Divergence, the sweeps of the pressure solvers, and the gradient that is taken off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpufluid.common.checks import locked
from gpufluid.contract.kernels import Variant
from gpufluid.contract.layout import LANES
from gpufluid.description.grid import Grid
from gpufluid.reference.arrays import Array, cells_beside, face_count, high_faces, layer, low_faces, rolled
from gpufluid.reference.walls import constrained, open_bits, open_masks


@lru_cache(maxsize=256)
def of_colour(colour: int, *shape: int) -> NDArray[np.bool_]:
    """Whether the sum of the indices and of `colour`, 0 for red, 1 for black, is even, in all of `shape`."""
    return locked((np.indices(shape).sum(0) + colour) % 2 == 0)


def divergence(grid: Grid, variant: Variant, *, velocity: Array, openings: Array | None = None) -> Array:
    """Divergence of the velocity, 1/s; 0 in solids."""
    low = low_faces(grid, velocity)
    out = sum(high_faces(grid, velocity, a, a) - low[..., a] for a in range(grid.dimensions)) / grid.cell_size
    if variant.solids and openings is not None:
        out = np.where(open_bits(grid, openings) == 0, 0.0, out)
    return np.asarray(out)[..., None]


def expand(
    grid: Grid,
    variant: Variant,
    *,
    divergence: Array,
    flame: Array,
    expansion: float,
    openings: Array | None = None,
) -> Array:
    """The divergence less the volume that burning gas makes, 1/s."""
    made = expansion * flame
    if variant.solids and openings is not None:
        made = np.where((open_bits(grid, openings) != 0)[..., None], made, 0.0)
    return np.asarray(divergence - made)


def pressure_beside(grid: Grid, variant: Variant, axis: int, by: int, p: Array) -> Array:
    """The pressure one cell on, `by` 1 or -1; past a closed side the cell's own, past an open one less it."""
    out = cells_beside(grid, variant, axis, by, p)
    if variant.boundaries.open(axis, by > 0):  # on which it is 0
        out[layer(axis, -1 if by > 0 else 0)] *= -1.0
    return out


def jacobi(
    grid: Grid,
    variant: Variant,
    *,
    pressure: Array,
    divergence: Array,
    scale: float,
    weight: float,
    openings: Array | None = None,
) -> Array:
    """One weighted Jacobi sweep; a closed neighbour has the cell's own pressure."""
    p = pressure[..., 0]
    total = -scale * divergence[..., 0]
    bits = open_bits(grid, openings) if variant.solids and openings is not None else None
    for axis in range(grid.dimensions):
        for side, by in enumerate((-1, 1)):
            beside = pressure_beside(grid, variant, axis, by, p)
            if bits is not None:
                beside = np.where(bits >> (2 * axis + side) & 1 > 0, beside, p)
            total = total + beside
    relaxed = total / (2 * grid.dimensions)
    return np.asarray(p + weight * (relaxed - p))[..., None]


def jacobi_two(
    grid: Grid, variant: Variant, *, pressure: Array, weights: Sequence[float], **given: Any
) -> Array:
    """Weighted Jacobi sweeps, one of each weight."""
    for weight in weights:
        pressure = jacobi(grid, variant, pressure=pressure, weight=weight, **given)
    return pressure


jacobi_four = jacobi_two


def split_eighths(grid: Grid, variant: Variant, *, values: Array) -> Array:
    """The values as [z / 4, y / 2, x, y mod 2 + 2 (z mod 4)]; past the box 0."""
    nz, ny, nx = values.shape[:3]
    out = np.zeros((-(-nz // 4), -(-ny // 2), nx, 8))
    for part in range(8):
        own = values[part >> 1 :: 4, part & 1 :: 2, :, 0]
        out[: own.shape[0], : own.shape[1], :, part] = own
    return out


def join_eighths(grid: Grid, variant: Variant, *, eighths: Array) -> Array:
    """The values of all cells, of those of the eighths."""
    nx, ny, nz = grid.cells
    out = np.zeros((nz, ny, nx, 1))
    for part in range(8):
        own = out[part >> 1 :: 4, part & 1 :: 2, :, 0]
        own[:] = eighths[: own.shape[0], : own.shape[1], :, part]
    return out


def jacobi_eighths(grid: Grid, variant: Variant, *, eighths: Array, **given: Any) -> Array:
    """`jacobi` of a pressure in eighths."""
    pressure = join_eighths(grid, variant, eighths=eighths)
    return split_eighths(grid, variant, values=jacobi(grid, variant, pressure=pressure, **given))


def subtract_gradient(
    grid: Grid,
    variant: Variant,
    *,
    velocity: Array,
    pressure: Array,
    dt: float,
    solid_faces: Array | None = None,
) -> Array:
    """Velocity less dt times the pressure gradient."""
    out, p = velocity.copy(), pressure[..., 0]
    for axis in range(grid.dimensions):
        a = 2 - axis
        low = np.concatenate([pressure_beside(grid, variant, axis, -1, p), p.take([-1], a)], a)
        high = np.concatenate([p, pressure_beside(grid, variant, axis, 1, p).take([-1], a)], a)
        z, y, x = face_count(grid, axis)
        out[:z, :y, :x, axis] -= dt / grid.cell_size * (high - low)
    return constrained(grid, variant, solid_faces, out)


def pressure_operator(
    grid: Grid, variant: Variant, p: Array, openings: Array | None = None, weights: Array | None = None
) -> tuple[Array, Array]:
    """Return the Laplacian of `p` [z, y, x] (cells of size 1) and the weight of a cell's own pressure in it.

    Both are 0 in a cell that nothing opens; an open side weighs twice. weights: of a coarse grid's faces,
    [z, y, x, 4] (x, y, z, sum).
    """
    if weights is not None:
        diagonal = weights[..., 3]
        out = -diagonal * p
        for axis in range(3):
            low, a = weights[..., axis], 2 - axis
            out += low * rolled(p, -1, a) + rolled(low, 1, a) * rolled(p, 1, a)
        return out, diagonal
    out, diagonal = np.zeros_like(p), np.zeros_like(p)
    for side, mask in enumerate(open_masks(grid, variant, openings)[: 2 * grid.dimensions]):
        axis, high = divmod(side, 2)
        beside = pressure_beside(grid, variant, axis, 2 * high - 1, p)
        out += np.where(mask, beside - p, 0.0)
        diagonal += mask
        if variant.boundaries.open(axis, bool(high)):  # half a cell away
            last = layer(axis, -high)
            diagonal[last] += mask[last]
    return out, diagonal


def stacked(weights: Mapping[str, Array]) -> Array | None:
    """The weights of a coarse grid's faces, [z, y, x, 4], of packed fields in that order; None without."""
    return np.concatenate(list(weights.values()), -1) if weights else None


def first_sweep(grid: Grid, variant: Variant, *, divergence: Array, **given: Any) -> Array:
    """A sweep of successive over-relaxation from pressure 0: red cells, then black ones."""
    p = np.zeros_like(divergence)
    for colour in (0, 1):
        p = red_black(grid, variant, pressure=p, divergence=divergence, colour=colour, **given)
    return p


def solve_coarsest(
    grid: Grid,
    variant: Variant,
    *,
    divergence: Array,
    scale: float,
    sweeps: int,
    omega: float,
    **weights: Array,
) -> Array:
    """Sweeps of successive over-relaxation from pressure 0 on a coarse grid."""
    together = stacked(weights)
    if variant.solids and together is not None:
        divergence = _balanced_rooms(divergence, together)
    p = np.zeros_like(divergence)
    for n in range(2 * sweeps):
        p = red_black(
            grid,
            variant,
            pressure=p,
            divergence=divergence,
            scale=scale,
            omega=omega,
            colour=n % 2,
            **weights,
        )
    return p


def _balanced_rooms(divergence: Array, weights: Array) -> Array:
    """`divergence` less its mean in each room of a coarse grid that no face leads out of."""
    out = divergence.copy()
    room = np.arange(float(out.size)).reshape(out.shape[:3])
    before = np.zeros_like(room)
    while (room != before).any():  # the least number spreads through each
        before = room
        for axis in range(3):
            joined, a = weights[..., axis] > 0.0, 2 - axis
            least = np.where(joined, np.minimum(room, rolled(room, -1, a)), room)
            room = np.minimum(least, rolled(np.where(joined, least, out.size), 1, a))
    inner = sum(weights[..., a] + rolled(weights[..., a], 1, 2 - a) for a in range(3))
    leads_out = weights[..., 3] - inner > 1e-4 * weights[..., 3]
    for number in np.unique(room):
        if not leads_out[room == number].any():
            out[room == number] -= out[room == number].mean()
    return out


def apply_inverse(grid: Grid, variant: Variant, *, divergence: Array, inverse: Array, scale: float) -> Array:
    """The solution by the inverse [1, cell of the right side, cell, 1], whose rows of cells are filled up."""
    nz, ny, nx = divergence.shape[:3]
    right = np.zeros((nz, ny, LANES * -(-nx // LANES)))
    right[..., :nx] = divergence[..., 0]
    solved = scale * right.ravel() @ inverse[0, ..., 0]
    return np.asarray(solved.reshape(right.shape)[..., :nx, None])


def red_black(
    grid: Grid,
    variant: Variant,
    *,
    pressure: Array,
    divergence: Array,
    scale: float,
    omega: float,
    colour: int,
    openings: Array | None = None,
    **weights: Array,
) -> Array:
    """Half a sweep of successive over-relaxation: the cells whose x + y + z + colour is even."""
    p = pressure[..., 0]
    laplacian, diagonal = pressure_operator(grid, variant, p, openings, stacked(weights))
    factor = np.full(p.shape, omega)
    for axis in range(grid.dimensions):
        n = grid.cells[axis]
        if variant.boundaries.periodic(axis) and n % 2:
            factor[layer(axis, 0)] = factor[layer(axis, -1)] = min(omega, 1.0)
    change = factor * (laplacian - scale * divergence[..., 0]) / np.where(diagonal > 0.0, diagonal, 1.0)
    p = np.where(of_colour(colour, *p.shape), p + change, p)
    return np.where(diagonal > 0.0, p, 0.0)[..., None]


def residual(
    grid: Grid,
    variant: Variant,
    *,
    pressure: Array,
    divergence: Array,
    scale: float,
    openings: Array | None = None,
    **weights: Array,
) -> Array:
    """What the pressure leaves of its equation."""
    laplacian, diagonal = pressure_operator(grid, variant, pressure[..., 0], openings, stacked(weights))
    return np.where(diagonal > 0.0, scale * divergence[..., 0] - laplacian, 0.0)[..., None]
