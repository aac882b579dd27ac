"""Viscosity and the diffusion of heat and matter: sweeps of an implicit step."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpufluid.contract.kernels import Variant
from gpufluid.description.grid import Grid
from gpufluid.reference.arrays import (
    Array,
    cells_beside,
    face_count,
    faces_of,
    layer,
    moved,
    periods_of,
    shifted,
)
from gpufluid.reference.solids import heat_beside
from gpufluid.reference.walls import constrained


def velocity_beside(grid: Grid, variant: Variant, own: Array, component: int, axis: int, side: int) -> Array:
    """The next face value of velocity `component` along `axis`, or what a side stands for."""
    n, period = own.shape[2 - axis], periods_of(grid, variant)[axis]
    out: Array = own.take(moved(n, 2 * side - 1, period), axis=2 - axis)
    sides, number = variant.boundaries, 2 * axis + side
    if not period and axis != component and sides.grips(number):
        last = layer(axis, -side)
        out[last] = 2.0 * sides.velocity(number)[component] - own[last]
    return out


def _scalars_neighbour(grid: Grid, variant: Variant, own: Array, axis: int, side: int) -> Array:
    """The next cell's scalars along `axis`, or what a side stands for: itself, but for a wall's heat."""
    out = cells_beside(grid, variant, axis, 2 * side - 1, own)
    heat = variant.boundaries.temperature(2 * axis + side)
    if heat is not None:
        last = layer(axis, -side)
        out[..., 1][last] = 2.0 * heat - own[..., 1][last]
    return out


def _swept(latest: Array, previous: Array, left: Array, diagonal: Any, weight: float) -> Array:
    return np.asarray(previous + weight * (latest + left / diagonal - previous))


def diffuse_velocity(
    grid: Grid,
    variant: Variant,
    *,
    before: Array,
    latest: Array,
    previous: Array,
    fourier_number: float,
    weight: float,
    relaxation: float,
    solid_faces: Array | None = None,
) -> Array:
    """One sweep of implicit viscosity: the next of the iterates `previous`, `latest`."""
    parts = []
    for component in range(grid.dimensions):
        z, y, x = face_count(grid, component)
        start, own, older = (field[:z, :y, :x, component] for field in (before, latest, previous))
        closed = solid_faces[:z, :y, :x, 3].astype(int) >> component if solid_faces is not None else None
        laplacian: Any = 0.0
        for axis in range(grid.dimensions):
            for side in range(2):
                beside = velocity_beside(grid, variant, own, component, axis, side)
                if variant.solids and closed is not None and axis != component:
                    bits = shifted(variant, axis, 2 * side - 1, closed.astype(float)).astype(int)
                    beside = np.where(bits & 64, 2.0 * beside - own, beside)
                    beside = np.where(bits & 8, own, beside)
                laplacian = laplacian + beside - own
        left = start - own + fourier_number * laplacian
        diagonal = (1.0 + 2.0 * grid.dimensions * fourier_number) / relaxation
        parts.append(_swept(own, older, left, diagonal, weight))
    return constrained(grid, variant, solid_faces, faces_of(grid, parts))


def diffuse_scalars(
    grid: Grid,
    variant: Variant,
    *,
    before: Array,
    latest: Array,
    previous: Array,
    fourier_numbers: tuple[float, ...],
    weight: float,
    relaxation: float,
) -> Array:
    """One sweep of implicit diffusion: the next of the iterates `previous`, `latest`."""
    numbers = np.array([*fourier_numbers, 0.0])
    return _swept_scalars(grid, variant, before, latest, previous, numbers, weight, relaxation)


def diffuse_warmed(
    grid: Grid,
    variant: Variant,
    *,
    before: Array,
    latest: Array,
    previous: Array,
    marks: Array,
    fourier_numbers: tuple[float, ...],
    weight: float,
    relaxation: float,
    dt: float,
) -> Array:
    """The same beside solids with a temperature, which make good some of what it takes meanwhile."""
    numbers = np.broadcast_to([*fourier_numbers, 0.0], latest.shape).copy()
    x = heat_beside(grid, variant, marks)[1] * dt
    numbers[..., 1] *= np.where(x > 0.0, -np.expm1(-x) / np.where(x > 0.0, x, 1.0), 1.0)
    return _swept_scalars(grid, variant, before, latest, previous, numbers, weight, relaxation)


def _swept_scalars(
    grid: Grid,
    variant: Variant,
    before: Array,
    latest: Array,
    previous: Array,
    numbers: Array,
    weight: float,
    relaxation: float,
) -> Array:
    """numbers: Fourier's, of each channel, [4] or [nz, ny, nx, 4]."""
    laplacian = np.zeros_like(latest)
    for axis in range(grid.dimensions):
        for side in range(2):
            beside = _scalars_neighbour(grid, variant, latest, axis, side)
            if variant.solids:
                beside = np.where(beside[..., 3:] < 0.5, latest, beside)
            laplacian += beside - latest
    left = before - latest + numbers * laplacian
    out = _swept(latest, previous, left, (1.0 + 2.0 * grid.dimensions * numbers) / relaxation, weight)
    out[..., 3] = latest[..., 3]
    return np.where(latest[..., 3:] < 0.5, latest, out) if variant.solids else out
