"""What solves the coarsest grid of multigrid in a box without solids: the inverse of its equation.

There the weights of faces are products over the axes, and the inverse is one of eigenvectors along each axis
(Lynch, Rice & Thomas 1964).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from gpufluid.contract.layout import LANES
from gpufluid.description.boundaries import Boundaries


@lru_cache(maxsize=8)
def inverse(finest: tuple[int, int, int], stride: int, boundaries: Boundaries) -> NDArray[np.float32]:
    """Return the pressures that a right side of 1 in one cell makes, [1, number of it, of theirs, 1].

    The grid's cells are `stride` cells of the finest wide, but for the last of a row; faces weigh their area
    over the distance between the centres, in cells of the finest. Cells are numbered as they lie in texels:
    rows along x filled up to whole ones, y, z. Where no side is open, right sides count less their mean, and
    the pressures' mean over the volume is 0.
    """
    # no fluid crosses the sides of a slice
    axes = [_modes(n, stride, boundaries, axis, axis < 2 or n > 1) for axis, n in enumerate(finest)]
    rates, modes = np.zeros(1), np.ones((1, 1))
    for own_rates, own_modes in axes:  # x runs fastest
        rates = (own_rates[:, None] + rates).ravel()
        modes = np.kron(own_modes, modes)  # type: ignore[assignment]  # of floats as these are
    held = rates > 1e-9 * rates.max()
    solved = -(modes[:, held] / rates[held]) @ modes[:, held].T
    nx = len(axes[0][0])
    whole = LANES * -(-nx // LANES)
    rows = len(rates) // nx
    table = np.zeros((rows, whole, rows, whole), np.float32)
    table[:, :nx, :, :nx] = solved.reshape(rows, nx, rows, nx)
    return table.reshape(1, rows * whole, rows * whole, 1)


def _modes(
    finest: int, stride: int, boundaries: Boundaries, axis: int, sides: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Eigenvalues and eigenvectors [cell, mode] along an axis, of length 1 where cells count their width.

    sides: whether fluid may cross those of this axis.
    """
    count = -(-finest // stride)
    widths = np.minimum(stride, finest - stride * np.arange(count)).astype(float)
    matrix = np.zeros((count, count))
    for i in range(0 if boundaries.periodic(axis) else 1, count if count > 1 else 0):
        difference = np.zeros(count)
        difference[i] += 1.0
        difference[i - 1] -= 1.0
        matrix += np.outer(difference, difference) / (0.5 * (widths[i] + widths[i - 1]))
    for high in (False, True):
        if sides and boundaries.open(axis, high):
            end = -1 if high else 0
            matrix[end, end] += 1.0 / (0.5 * widths[end])
    root = np.sqrt(widths)
    rates, modes = np.linalg.eigh(matrix / np.outer(root, root))
    return rates, modes / root[:, None]
