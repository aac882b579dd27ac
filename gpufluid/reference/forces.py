"""Vorticity confinement, buoyancy and forces."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpufluid.contract.kernels import Variant
from gpufluid.description.grid import Grid
from gpufluid.description.user_forces import VORTEX, WIND
from gpufluid.reference.arrays import (
    Array,
    boxes_off,
    face_count,
    face_places,
    high_faces,
    low_faces,
    on_faces,
    slope_along,
)
from gpufluid.reference.walls import cells_round_faces, constrained

CONFINEMENT_FLOOR = 1e-5  # of the vorticity, as in confinement.glsl


def vorticity(grid: Grid, variant: Variant, *, velocity: Array) -> Array:
    """Curl at the cell centres and its length, 1/s."""
    low = low_faces(grid, velocity)

    def slope(component: int, along: int) -> Array:
        both = low[..., component] + high_faces(grid, velocity, component, component)
        return slope_along(grid, variant, along, both) * 0.5 / grid.cell_size

    out = np.zeros((*low.shape[:3], 4))
    if grid.dimensions == 3:
        out[..., 0] = slope(2, 1) - slope(1, 2)
        out[..., 1] = slope(0, 2) - slope(2, 0)
    out[..., 2] = slope(1, 0) - slope(0, 1)
    out[..., 3] = np.linalg.norm(out[..., :3], axis=-1)
    return out


def confinement(
    grid: Grid,
    variant: Variant,
    *,
    vorticity: Array,
    scalars: Array,
    strength: float,
    rise: tuple[float, ...],
    up: tuple[float, ...],
    color: Array | None = None,
) -> Array:
    """Vorticity confinement and buoyancy at the cell centres, m/s^2."""
    size = vorticity[..., 3]
    growth = np.stack(
        [slope_along(grid, variant, a, size) if a < grid.dimensions else 0.0 * size for a in range(3)],
        -1,
    )
    towards = growth / (np.linalg.norm(growth, axis=-1) + CONFINEMENT_FLOOR * size + 1e-30)[..., None]
    out = np.zeros_like(vorticity)
    out[..., :3] = strength * grid.cell_size * np.cross(towards, vorticity[..., :3])
    out[..., :3] += _lift(scalars, color, rise)[..., None] * np.asarray(up)
    return out


def _lift(scalars: Array, color: Array | None, rise: tuple[float, ...]) -> Array:
    """Buoyancy of cells, m/s^2 upwards."""
    density = scalars[..., 0] if color is None else scalars[..., 0] + color[..., :3].sum(-1)
    return np.asarray(rise[0] * (scalars[..., 1] - rise[1] * scalars[..., 3]) - rise[2] * density)


def buoyancy(
    grid: Grid,
    variant: Variant,
    *,
    velocity: Array,
    scalars: Array,
    dt: float,
    rise: tuple[float, ...],
    up: tuple[float, ...],
    color: Array | None = None,
    solid_faces: Array | None = None,
) -> Array:
    """Velocity after buoyancy."""
    lift = _lift(scalars, color, rise)
    out = velocity.copy()
    for axis in range(grid.dimensions):
        force = up[axis] * 0.5 * sum(cells_round_faces(grid, variant, axis, lift))
        z, y, x = face_count(grid, axis)
        out[:z, :y, :x, axis] += dt * force
    return constrained(grid, variant, solid_faces, out)


def push(
    grid: Grid,
    variant: Variant,
    *,
    velocity: Array,
    pushes: Array,
    push_count: int,
    solid_faces: Array | None = None,
) -> Array:
    """Velocity after wind, vortices and attractors."""
    out = velocity.copy()
    rows = np.asarray(pushes, float).reshape(-1, 3, 4)[:push_count]
    for axis in range(grid.dimensions):
        u = on_faces(grid, out, axis)
        place = np.stack(face_places(grid, variant, axis), -1) * grid.cell_size
        for (*center, kind), (*way, amount), (scale, *repeats) in rows:
            d = place - center
            d -= boxes_off(grid, variant, d) * repeats
            if grid.dimensions == 2:
                d[..., 2] = 0.0
            if kind == WIND:
                rate = amount * np.exp(-0.5 * scale**2 * (d**2).sum(-1))
                u += (u - way[axis]) * np.expm1(-rate)
                continue
            turn = np.cross(way, d) if kind == VORTEX else -d
            off = np.linalg.norm(d - (d @ way)[..., None] * way if kind == VORTEX else d, axis=-1)
            s = off * scale
            bell = s * np.exp(0.5 * (1.0 - s * s)) / np.maximum(off, 1e-6 / scale)
            u += amount * bell * turn[..., axis]
    return constrained(grid, variant, solid_faces, out)


def turbulence(
    grid: Grid,
    variant: Variant,
    *,
    velocity: Array,
    waves: Array,
    wave_pushes: Array,
    middle: tuple[float, ...],
    solid_faces: Array | None = None,
) -> Array:
    """Velocity after a step of turbulence."""
    out = velocity.copy()
    rows, pushes = np.asarray(waves, float), np.asarray(wave_pushes, float).reshape(-1, 2, 3)
    for axis in range(grid.dimensions):
        place = np.stack(face_places(grid, variant, axis), -1) * grid.cell_size
        place[..., axis] += 0.5 * grid.cell_size  # the middle of the cell whose low face it is
        d = place - middle[:3]
        d -= boxes_off(grid, variant, d)
        d[..., axis] -= 0.5 * grid.cell_size
        if grid.dimensions == 2:
            d[..., 2] = 0.0
        share = np.exp(-0.5 * middle[3] ** 2 * (d**2).sum(-1))
        u = on_faces(grid, out, axis)
        for (*vector, phase), (by_cosine, by_sine) in zip(rows, pushes, strict=True):
            angle = place @ vector + phase
            u += share * (np.cos(angle) * by_cosine[axis] + np.sin(angle) * by_sine[axis])
    return constrained(grid, variant, solid_faces, out)


def force_field(
    grid: Grid,
    variant: Variant,
    *,
    velocity: Array,
    force: Array,
    dt: float,
    solid_faces: Array | None = None,
) -> Array:
    """Velocity after an acceleration given for every cell."""
    out = velocity.copy()
    for axis in range(grid.dimensions):
        u = on_faces(grid, out, axis)
        u += dt * 0.5 * sum(cells_round_faces(grid, variant, axis, force[..., axis]))
    return constrained(grid, variant, solid_faces, out)


def confine(
    grid: Grid,
    variant: Variant,
    *,
    velocity: Array,
    dt: float,
    solid_faces: Array | None = None,
    **given: Any,
) -> Array:
    """Velocity after vorticity confinement and buoyancy."""
    force = confinement(grid, variant, vorticity=vorticity(grid, variant, velocity=velocity), **given)
    return force_field(grid, variant, velocity=velocity, force=force, dt=dt, solid_faces=solid_faces)


def force_expression(
    grid: Grid,
    variant: Variant,
    *,
    velocity: Array,
    dt: float,
    time: float,
    origin: tuple[float, ...],
    function: Any,
    solid_faces: Array | None = None,
) -> Array:
    """Velocity after an acceleration given by `function`(position [nz, ny, nx, 3], time)."""
    out = velocity.copy()
    for axis in range(grid.dimensions):
        place = np.stack(face_places(grid, variant, axis), -1) * grid.cell_size + np.asarray(origin)
        force = np.broadcast_to(np.asarray(function(place, time), float), place.shape)[..., axis]
        u = on_faces(grid, out, axis)
        u += dt * np.where(np.isfinite(force), force, 0.0)
    return constrained(grid, variant, solid_faces, out)
