"""The velocity, and what the fluid holds, carried along the velocity."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from gpufluid.contract.kernels import Variant
from gpufluid.description.boundaries import Inflow, Open, Side
from gpufluid.description.grid import LARGEST_HALF, Grid
from gpufluid.reference.arrays import Array, Places, center_velocity, centers_of, face_count, faces_of
from gpufluid.reference.sampling import (
    EITHER,
    NOW,
    WAS_FLUID,
    bounded_component,
    cell_bounds,
    cubic_cells,
    cubic_component,
    face_velocity,
    sample_cells,
    sample_component,
    trace,
)
from gpufluid.reference.walls import constrained


def _saved(values: list[Array]) -> Array:
    """Four channels in half floats; what is finite ends at the largest."""
    single = np.stack(values, -1).astype(np.float32)
    most = np.where(np.isinf(single), np.inf, np.float32(LARGEST_HALF))
    return np.clip(single, -most, most).astype(np.float16).astype(np.float64)


def save_velocity(grid: Grid, variant: Variant, *, velocity: Array) -> Array:
    """The velocity at the cell centres, as files hold it."""
    x, y, z = np.moveaxis(center_velocity(grid, velocity), -1, 0)
    return _saved([x, y, z, np.zeros_like(x)])


def save_scalars(grid: Grid, variant: Variant, *, scalars: Array, solid: Array | None = None) -> Array:
    """Three scalars or colours, and 1 in solids, as files hold them."""
    inside = np.zeros(scalars.shape[:3]) if solid is None else solid[..., 0]
    return _saved([*np.moveaxis(scalars[..., :3], -1, 0), inside])


def _limited(variant: Variant, value: Array, plain: Array, low: Array, high: Array) -> Array:
    if variant.limiter == "clamp":
        return np.minimum(np.maximum(value, low), high)
    if variant.limiter == "revert":
        return np.where((value < low) | (value > high), plain, value)
    return value


def _still_air(grid: Grid, variant: Variant, place: Places, component: int) -> Array:
    """Share of a velocity component that is left on the faces where it comes from `place`.

    Air from beyond an open side is at rest. Across the side: so much as it fills of the half cells round a
    face, of a face on the side of the half in the box. Along it: all that comes from a cell beyond.
    """
    share = np.ones(place[0].shape)
    for axis in range(grid.dimensions):
        for high in (False, True):
            if variant.boundaries.open(axis, high):
                left = 1.0 + (grid.cells[axis] - place[axis] if high else place[axis])
                if axis == component:
                    left -= 0.5
                    np.moveaxis(left, 2 - axis, 0)[-1 if high else 0] *= 2.0
                share = share * np.clip(left, 0.0, 1.0)
    return share


def _cell_trace(grid: Grid, variant: Variant, velocity: Array, dt: float, solid: Array | None) -> Places:
    """Where what comes to the cell centres was `dt` ago, or, below 0, will be."""
    u = center_velocity(grid, velocity)
    return trace(grid, variant, velocity, centers_of(grid), (u[..., 0], u[..., 1], u[..., 2]), dt, solid)


def _cell_source(
    grid: Grid,
    variant: Variant,
    scalars: Array,
    velocity: Array,
    dt: float,
    solid: Array | None,
) -> tuple[Places, Array | float]:
    """Where what comes to the cell centres was `dt` ago; the share above which cells there count as fluid."""
    if not variant.covered:
        return _cell_trace(grid, variant, velocity, dt, solid), 0.5
    looks = np.where(scalars[..., 3] > 0.5, EITHER, NOW)
    u = center_velocity(grid, velocity)
    at = (u[..., 0], u[..., 1], u[..., 2])
    place = trace(grid, variant, velocity, centers_of(grid), at, dt, solid, (scalars, looks))
    return place, np.where(looks == NOW, 0.5, WAS_FLUID)


def _face_trace(
    grid: Grid, variant: Variant, velocity: Array, axis: int, dt: float, solid: Array | None
) -> Places:
    """The same for the low faces along `axis`."""
    u = face_velocity(grid, variant, velocity, axis)
    return trace(grid, variant, velocity, centers_of(grid, axis), u, dt, solid)


def combine_velocities(
    grid: Grid,
    variant: Variant,
    *,
    velocity: Array,
    other: Array,
    own: float,
    factor: float,
    solid_faces: Array | None = None,
) -> Array:
    """`own` times the velocity and `factor` times another."""
    return constrained(grid, variant, solid_faces, own * velocity + factor * other)


def _carried(
    grid: Grid,
    variant: Variant,
    velocity: Array,
    dt: float,
    given: Mapping[str, Array],
    value: Callable[[int, Places], Array],
) -> Array:
    """On the faces along each axis what `value` is for the axis and the places where they come from.

    given: what a kernel that carries the velocity is given beside it where there is such a thing: solid,
    solid_faces, reflected.
    """
    solid = given.get("solid")
    parts = [
        value(axis, _face_trace(grid, variant, velocity, axis, dt, solid)) for axis in range(grid.dimensions)
    ]
    return constrained(grid, variant, given.get("solid_faces"), faces_of(grid, parts))


def advect_velocity(grid: Grid, variant: Variant, *, velocity: Array, dt: float, **given: Array) -> Array:
    """Velocity carried along itself, or `reflected` along it, semi-Lagrangian."""
    moved = given.get("reflected", velocity)

    def value(axis: int, place: Places) -> Array:
        if variant.cubic:
            there = cubic_component(grid, variant, moved, place, axis, given.get("solid_faces"))
        else:
            there = sample_component(grid, variant, moved, place, axis)
        return _still_air(grid, variant, place, axis) * there

    return _carried(grid, variant, velocity, dt, given, value)


def predict_velocity(grid: Grid, variant: Variant, *, velocity: Array, dt: float, **given: Array) -> Array:
    """MacCormack's first half for the velocity, or for `reflected`, [z, y, x, 12].

    Values, the least and the largest they may be. The last channel of each four: the share of still air at
    one of the components' places.
    """
    moved = given.get("reflected", velocity)
    found: list[tuple[Array, ...]] = []  # of each axis
    for axis in range(grid.dimensions):
        place = _face_trace(grid, variant, velocity, axis, dt, given.get("solid"))
        value, low, high = bounded_component(grid, variant, moved, place, axis)
        if variant.limiter is None:
            low = high = np.zeros_like(value)
        share = _still_air(grid, variant, place, axis)
        found.append((share * value, low, high, share))
    *parts, shares = (
        constrained(grid, variant, given.get("solid_faces"), faces_of(grid, list(each)))
        for each in zip(*found, strict=True)
    )
    for number, part in enumerate(parts):
        part[..., 3] = shares[..., number]
    return np.concatenate(parts, -1)


def correct_velocity(
    grid: Grid, variant: Variant, *, velocity: Array, predicted: Array, dt: float, **given: Array
) -> Array:
    """MacCormack's second half for the velocity, or for `reflected`."""
    moved = given.get("reflected", velocity)
    forward, least, largest = np.split(predicted, 3, -1)
    shares = predicted[..., 3::4]

    def value(axis: int, there: Places) -> Array:
        returned = sample_component(grid, variant, forward, there, axis)
        z, y, x = face_count(grid, axis)
        before, plain, low, high, share = (
            values[:z, :y, :x, axis] for values in (moved, forward, least, largest, shares)
        )
        corrected = _limited(variant, plain + 0.5 * (before - returned), plain, low, high)
        return np.where(share > 0.999, corrected, plain)  # still air is no error

    return _carried(grid, variant, velocity, -dt, given, value)


def compensate_velocity(
    grid: Grid, variant: Variant, *, velocity: Array, forward: Array, dt: float, **given: Array
) -> Array:
    """The velocity, or `reflected`, with the error of carrying it there and back taken off beforehand."""
    moved = given.get("reflected", velocity)

    def value(axis: int, there: Places) -> Array:
        returned = sample_component(grid, variant, forward, there, axis)
        z, y, x = face_count(grid, axis)
        return 1.5 * moved[:z, :y, :x, axis] - 0.5 * returned

    return _carried(grid, variant, velocity, -dt, given, value)


def finish_velocity(
    grid: Grid, variant: Variant, *, velocity: Array, compensated: Array, dt: float, **given: Array
) -> Array:
    """What was compensated, of the velocity or of `reflected`, carried along the velocity."""
    moved = given.get("reflected", velocity)

    def value(axis: int, place: Places) -> Array:
        plain, low, high = bounded_component(grid, variant, moved, place, axis)
        there = sample_component(grid, variant, compensated, place, axis)
        return _still_air(grid, variant, place, axis) * _limited(variant, there, plain, low, high)

    return _carried(grid, variant, velocity, dt, given, value)


def faded(values: Array, keep: tuple[float, ...], ambient: float) -> Array:
    """Three scalars after what they lose in a step, as in fade.glsl."""
    rest = np.array([0.0, ambient, 0.0])
    left: Array = rest + (values[..., :3] - rest) * np.asarray(keep)
    return left


def _finished_scalars(
    variant: Variant, values: Array, keep: tuple[float, ...], ambient: float, solid: Array | None
) -> Array:
    out = np.ones((*values.shape[:3], 4))
    out[..., :3] = faded(values, keep, ambient)
    if variant.solids and solid is not None:
        out[solid[..., 0] > 0.5] = 0.0
    return out


def _uncovered(variant: Variant, sample: Array, ambient: float) -> Array:
    """A sample of scalars, with ambient air for the share of it that found no fluid."""
    if not variant.solids:
        return sample
    out = sample.copy()
    out[..., 1] += ambient * (1.0 - sample[..., 3])
    return out


def brought(side: Side, ambient: float) -> Array:
    """What a side brings, and 1; nothing where it lets nothing in."""
    if not isinstance(side, Open | Inflow):
        return np.zeros(4)
    density, temperature = (side.density, side.temperature) if isinstance(side, Inflow) else (0.0, None)
    return np.array([density, ambient if temperature is None else temperature, 0.0, 1.0])


def with_entering(
    grid: Grid, variant: Variant, place: Places, ambient: float, values: Array
) -> tuple[Array, NDArray[np.bool_]]:
    """`values` [nz, ny, nx, 4] of `place` with their share of what sides bring, and which have any.

    Beyond a side that lets fluid in lies a cell of what it brings.
    """
    among = np.zeros(place[0].shape, bool)
    for side, kind in enumerate(variant.boundaries.sides[: 2 * grid.dimensions]):
        if not isinstance(kind, Open | Inflow):
            continue
        p = place[side // 2]
        share = np.clip(0.5 + (-p if side % 2 == 0 else p - grid.cells[side // 2]), 0.0, 1.0)[..., None]
        values = (1.0 - share) * values + share * brought(kind, ambient)
        among |= share[..., 0] > 1e-3  # not for rounding, of air that stands still
    return values, among


def advect_scalars(
    grid: Grid,
    variant: Variant,
    *,
    scalars: Array,
    velocity: Array,
    dt: float,
    keep: tuple[float, ...],
    ambient: float,
    solid: Array | None = None,
) -> Array:
    """Density, temperature and fuel carried along the velocity, semi-Lagrangian."""
    place, least = _cell_source(grid, variant, scalars, velocity, dt, solid)
    if variant.cubic:
        value = cubic_cells(grid, variant, scalars, place, least)
    else:
        value = sample_cells(grid, variant, scalars, place, least)
    value, _ = with_entering(grid, variant, place, ambient, _uncovered(variant, value, ambient))
    return _finished_scalars(variant, value, keep, ambient, solid)


def correct_scalars(
    grid: Grid,
    variant: Variant,
    *,
    scalars: Array,
    forward: Array,
    velocity: Array,
    dt: float,
    keep: tuple[float, ...],
    ambient: float,
    solid: Array | None = None,
) -> Array:
    """MacCormack's second half for density, temperature and fuel."""
    returned = sample_cells(grid, variant, forward, _cell_trace(grid, variant, velocity, -dt, solid))
    value = forward + 0.5 * (scalars - returned)
    if variant.solids:
        value = np.where(scalars[..., 3:] < 0.5, forward, value)
    place, least = _cell_source(grid, variant, scalars, velocity, dt, solid)
    low, high = cell_bounds(grid, variant, scalars, place, forward, least)
    if variant.limiter is not None:  # where nothing was found there is nothing to hold a correction to
        some = low[..., 3:] <= high[..., 3:]
        value = np.where(some, _limited(variant, value, forward, low, high), forward)
    _, among = with_entering(grid, variant, place, ambient, value)
    value = np.where(among[..., None], forward, value)
    return _finished_scalars(variant, value, keep, ambient, solid)


def compensate_scalars(
    grid: Grid,
    variant: Variant,
    *,
    scalars: Array,
    forward: Array,
    velocity: Array,
    dt: float,
    solid: Array | None = None,
) -> Array:
    """Density, temperature and fuel with the error of carrying them there and back taken off beforehand."""
    place = _cell_trace(grid, variant, velocity, -dt, solid)
    out = 1.5 * scalars - 0.5 * sample_cells(grid, variant, forward, place)
    out[..., 3] = 1.0
    return np.where(scalars[..., 3:] < 0.5, scalars, out) if variant.solids else out


def finish_scalars(
    grid: Grid,
    variant: Variant,
    *,
    scalars: Array,
    compensated: Array,
    velocity: Array,
    dt: float,
    keep: tuple[float, ...],
    ambient: float,
    solid: Array | None = None,
) -> Array:
    """The compensated scalars carried along the velocity."""
    place, least = _cell_source(grid, variant, scalars, velocity, dt, solid)
    value = _uncovered(variant, sample_cells(grid, variant, compensated, place, least), ambient)
    plain = sample_cells(grid, variant, scalars, place, least)
    plain = _uncovered(variant, plain, ambient)
    low, high = cell_bounds(grid, variant, scalars, place, plain, least)
    some = low[..., 3:] <= high[..., 3:]
    value = np.where(some, _limited(variant, value, plain, low, high), value)
    value, _ = with_entering(grid, variant, place, ambient, value)
    return _finished_scalars(variant, value, keep, ambient, solid)
