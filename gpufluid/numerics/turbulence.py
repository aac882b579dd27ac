"""The waves that `Turbulence` is a sum of: a random field without divergence (Kraichnan 1970)."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from gpufluid.common.vectors import Floats
from gpufluid.contract.kernels import WAVES
from gpufluid.description.boundaries import Boundaries
from gpufluid.description.grid import Grid
from gpufluid.description.user_forces import Turbulence

BAND = 4.0  # the largest eddies measure so many times the finest
FINEST = 4.0  # cells: no wave is shorter, wherever the band would end
STILL = 1e-9  # a slope below that is none: a wave as long as a cell looks the same to all of its faces
GOLDEN = math.pi * (3.0 - math.sqrt(5.0))  # the golden angle, rad


def wave_rows(
    force: Turbulence, grid: Grid, boundaries: Boundaries, dt: float, time: float
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return what the turbulence kernel reads of `force` for a step of `dt` s at `time`.

    Of each wave its vector, 1/m, and its phase at the low corner of the box, [WAVES, 4]; and what its cosine
    and its sine in the middle of a cell push the cell's low faces by, m/s, [WAVES, 2, 3].
    """
    vectors, pushes, speeds, phases = waves(force, grid, boundaries)
    half = 0.5 * grid.cell_size * vectors  # how far the phase is on, from a low face to the middle
    phases = phases + vectors @ grid.origin + speeds * time
    rows = np.column_stack((vectors, phases % (2.0 * math.pi)))
    by_both = dt * np.stack((pushes * np.cos(half), pushes * np.sin(half)), 1)
    return rows.astype(np.float32), by_both.astype(np.float32)


def waves(force: Turbulence, grid: Grid, boundaries: Boundaries) -> tuple[Floats, Floats, Floats, Floats]:
    """Return of the waves vectors, 1/m, and pushes, m/s^2, [WAVES, 3]; speeds, rad/s, and phases, [WAVES].

    The push at a place p is the sum of push * cos(vector . p + speed * t + phase).
    """
    draws = np.random.Generator(np.random.PCG64(force.seed)).random((WAVES + 3, 4))
    finest = FINEST * grid.cell_size
    largest = max(force.size, finest)
    order = np.arange(WAVES) / (WAVES - 1)
    lengths = largest * (max(force.size / BAND, finest) / largest) ** order
    vectors = 2.0 * math.pi / lengths[:, None] * _directions(draws, grid.dimensions)
    for axis in range(grid.dimensions):
        if boundaries.periodic(axis):  # a whole number of waves fits in
            most = 2.0 * math.pi / grid.size[axis]
            vectors[:, axis] = most * np.round(vectors[:, axis] / most)
            vectors[_size(_slopes(vectors, grid)) < STILL, axis] = most
    slopes = _slopes(vectors, grid)
    shares = lengths ** (1.0 / 3.0) * (_size(slopes) > STILL)  # of the speed, as in a Kolmogorov cascade
    shares *= force.strength / math.sqrt(max(0.5 * float(shares @ shares), STILL))
    pushes = shares[:, None] * _across(slopes, draws, grid.dimensions)
    # how fast each turns over is spread as a normal distribution is, and finer ones do so sooner
    ranks = (np.argsort(draws[:WAVES, 1]) + 0.5) / WAVES
    speeds = np.array([NormalDist().inv_cdf(rank) for rank in ranks.tolist()])
    speeds *= math.sqrt(2.0) / force.time * (largest / lengths) ** (2.0 / 3.0)
    return vectors, pushes, speeds, 2.0 * math.pi * draws[:WAVES, 2]


def _slopes(vectors: Floats, grid: Grid) -> Floats:
    """What differences between faces see of the waves: a push across that leaves them no divergence."""
    return np.asarray(np.sin(0.5 * grid.cell_size * vectors))


def _size(vectors: Floats) -> Floats:
    return np.asarray(np.linalg.norm(vectors, axis=1))


def _directions(draws: Floats, dimensions: int) -> Floats:
    """Directions of the waves, two in each, spread evenly: Fibonacci's lattice on half a sphere, turned."""
    pairs = np.repeat(np.argsort(draws[: WAVES // 2, 0]), 2)
    if dimensions == 2:
        angles = 2.0 * math.pi * (pairs + draws[WAVES, 0]) / WAVES
        return np.column_stack((np.cos(angles), np.sin(angles), 0.0 * angles))
    height, angles = (pairs + 0.5) / (WAVES // 2), GOLDEN * pairs
    round_it = np.sqrt(1.0 - height**2)
    turn, _ = np.linalg.qr(draws[WAVES:, :3] - 0.5)
    ways: Floats = np.column_stack((round_it * np.cos(angles), round_it * np.sin(angles), height))
    return np.asarray(ways @ turn.T)


def _across(slopes: Floats, draws: Floats, dimensions: int) -> Floats:
    """Unit vectors at right angles to `slopes`; the two of a pair at right angles to each other, nearly."""
    along = slopes / np.maximum(_size(slopes), STILL)[:, None]
    if dimensions == 2:
        return np.column_stack((-along[:, 1], along[:, 0], 0.0 * along[:, 2]))
    least = np.eye(3)[np.argmin(np.abs(along), axis=1)]
    one = np.cross(along, least)
    one /= np.maximum(_size(one), STILL)[:, None]
    angles = 0.5 * math.pi * (np.repeat(4.0 * draws[: WAVES // 2, 3], 2) + np.arange(WAVES) % 2)
    return np.asarray(np.cos(angles)[:, None] * one + np.sin(angles)[:, None] * np.cross(along, one))
