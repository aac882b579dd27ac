"""Emitters, ignition and burning."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpufluid.contract.kernels import EMITTER_ROWS, Variant
from gpufluid.description.grid import Grid
from gpufluid.description.shapes import HALF_SPACE, ROUND
from gpufluid.description.voxels import beyond_squared, cover
from gpufluid.reference.arrays import Array, boxes_off, centers_of, face_places, on_faces
from gpufluid.reference.walls import cells_round_faces, constrained

NEARLY = 0.03125  # of an emitter's share, as in emitter.glsl


def random_of(lattice: NDArray[np.int64], seed: int) -> Array:
    """Random numbers in 0 .. 1 for points of a lattice [..., 3]: pcg3d, as in noise.glsl."""
    salt = np.uint64(seed) * np.array([747796405, 2891336453, 277803737], np.uint64)
    x, y, z = np.moveaxis((lattice.astype(np.uint64) + salt).astype(np.uint32), -1, 0)
    x, y, z = (v * np.uint32(1664525) + np.uint32(1013904223) for v in (x, y, z))
    x = x + y * z
    y = y + z * x
    z = z + x * y
    x, y, z = (v ^ (v >> np.uint32(16)) for v in (x, y, z))
    x = x + y * z
    return np.asarray((x >> np.uint32(8)) / 16777216.0)


def _patches(place: Array, seed: int) -> Array:
    """Smooth noise in 0 .. 1 with a patch to each unit of `place` [..., 3]."""
    f = place - np.floor(place)
    with np.errstate(invalid="ignore"):  # of patches so small that no integer counts them
        low = np.floor(place).astype(np.int64)
    f = f * f * (3.0 - 2.0 * f)
    total: Any = 0.0
    for corner in range(8):
        up = np.array([corner >> axis & 1 for axis in range(3)])
        total = total + np.where(up, f, 1.0 - f).prod(-1) * random_of(low + up, seed)
    return np.asarray(total)


def _flicker(
    grid: Grid,
    variant: Variant,
    emitter: Array,
    middle: Array,
    place: Array,
    noise_shift: tuple[float, ...],
) -> Array:
    """What noise leaves of an emitter, [nz, ny, nx].

    middle: of its shape, [3]; place: m from the low corner of the box, as that, [..., 3].
    """
    strength = emitter[6, 3]
    if not variant.noise or strength == 0.0:
        return np.ones(place.shape[:-1])
    place = place - boxes_off(grid, variant, place - middle)
    lattice = (place + np.asarray(noise_shift)) * emitter[7, 0]
    now, after = (_patches(lattice, int(emitter[7, column])) for column in (1, 2))
    return np.asarray(1.0 - strength * (now + (after - now) * emitter[5, 3]))


def _emitter_cover(
    grid: Grid, emitter: Array, local: Array, kind: int, core: list[float], rounding: float
) -> Array:
    """Share of the cells about `local` [..., 3] that an emitter of a hard edge covers; see emitter.glsl."""
    x, y, z = np.moveaxis(local, -1, 0)
    h = grid.cell_size
    if rounding > 0.0:
        return cover(np.sqrt(beyond_squared(kind, [x, y, z], core)), rounding, h)
    wide = [h] * 3
    if grid.dimensions == 2:
        wide = np.maximum(h * np.hypot(emitter[:3, 0], emitter[:3, 1]), 1e-6 * h).tolist()
    if kind == HALF_SPACE:
        return np.asarray(np.clip(0.5 - y / wide[1], 0.0, 1.0))
    if kind == ROUND:
        return cover(np.hypot(x, z), core[0], h) * cover(np.abs(y), core[1], wide[1])
    along = (cover(np.abs(q), c, w) for q, c, w in zip((x, y, z), core, wide, strict=True))
    return np.asarray(np.prod(list(along), axis=0))


def emitter_share(grid: Grid, emitter: Array, place: Array) -> Array:
    """The share of an emitter, without its noise, at places [..., 3], m from the low corner."""
    local = place @ emitter[:3, :3].T + emitter[:3, 3]
    kind, core, rounding = int(emitter[4, 0]) % 4, emitter[3, :3].tolist(), float(emitter[3, 3])
    if emitter[4, 1] <= 0.0:
        return float(-emitter[4, 1]) * _emitter_cover(grid, emitter, local, kind, core, rounding)
    beyond = beyond_squared(kind, list(np.moveaxis(local, -1, 0)), core)
    t = np.minimum(np.maximum(np.sqrt(beyond) - rounding, 0.0) * emitter[4, 1], 4.0)
    return np.where(t < 4.0, np.exp(-t * t), 0.0)


def _set_share(weight: Array, times: float) -> Array:
    """The share that is set of a value where an emitter has the share `weight`; see emitter.glsl."""
    if times <= 0.0:
        return np.zeros_like(weight)
    lacks = np.clip(1.0 - weight, 0.0, 1.0)
    return np.asarray(1.0 - np.maximum(lacks, NEARLY) ** times * np.minimum(lacks / NEARLY, 1.0))


def _with_emitted(emitter: Array, weight: Array, scalars: Array) -> Array:
    weight = weight * (scalars[..., 3] > 0.5)
    out = scalars.copy()
    out[..., 0] += weight * emitter[5, 0]
    if emitter[4, 3] > 0.0:
        out[..., 1] += (emitter[5, 1] - out[..., 1]) * _set_share(weight, emitter[4, 3])
    else:
        out[..., 1] += weight * emitter[5, 1]
    out[..., 2] += weight * emitter[5, 2]
    return out


def _rows(emitters: Array) -> Array:
    """The rows of emitters, [n, 8, 4]."""
    return np.asarray(emitters, float).reshape(-1, EMITTER_ROWS, 4)


def _shares(
    grid: Grid,
    variant: Variant,
    emitters: Array,
    middles: Array,
    noise_shift: tuple[float, ...],
    face_axis: int | None = None,
) -> Iterator[tuple[Array, Array]]:
    """Yield the rows of each emitter, and what there is of it in cells or on the faces along one axis.

    Of an image of the shape before it is the larger of both.
    """
    places = centers_of(grid) if face_axis is None else face_places(grid, variant, face_axis)
    place, share = np.stack(places, -1) * grid.cell_size, None
    for emitter, middle in zip(_rows(emitters), middles[:, :3], strict=False):
        own = emitter_share(grid, emitter, place)
        own = own * _flicker(grid, variant, emitter, middle, place, noise_shift)
        share = own if share is None or emitter[4, 0] < 4.0 else np.maximum(share, own)
        yield emitter, share


def emit_scalars(grid: Grid, variant: Variant, *, scalars: Array, emitter_count: int, **given: Any) -> Array:
    """Density and fuel added and temperature set where the emitters are. given: as for `_shares`."""
    for emitter, weight in islice(_shares(grid, variant, **given), emitter_count):
        scalars = _with_emitted(emitter, weight, scalars)
    return scalars.copy()


def emit_velocity(
    grid: Grid,
    variant: Variant,
    *,
    velocity: Array,
    emitter_count: int,
    solid_faces: Array | None = None,
    **given: Any,
) -> Array:
    """Velocity set where the emitters are. given: as for `_shares`."""
    out = velocity.copy()
    for axis in range(grid.dimensions):
        u, shares = on_faces(grid, out, axis), _shares(grid, variant, face_axis=axis, **given)
        for emitter, share in islice(shares, emitter_count):
            u += (emitter[6, axis] - u) * _set_share(share, emitter[4, 2])
    return constrained(grid, variant, solid_faces, out)


def emit_mask(
    grid: Grid,
    variant: Variant,
    *,
    scalars: Array,
    mask: Array,
    emitters: Array,
    middles: Array,
    noise_shift: tuple[float, ...],
) -> Array:
    """Density and fuel added and temperature set by the share of each cell in one source."""
    emitter, place = _rows(emitters)[0], np.stack(centers_of(grid), -1) * grid.cell_size
    flicker = _flicker(grid, variant, emitter, middles[0, :3], place, noise_shift)
    return _with_emitted(emitter, mask[..., 0] * flicker, scalars)


def emit_mask_velocity(
    grid: Grid,
    variant: Variant,
    *,
    velocity: Array,
    mask: Array,
    emitters: Array,
    middles: Array,
    noise_shift: tuple[float, ...],
    solid_faces: Array | None = None,
) -> Array:
    """Velocity set by the share of each cell in one source; a face has the mean of its two cells."""
    out, emitter = velocity.copy(), _rows(emitters)[0]
    for axis in range(grid.dimensions):
        place = np.stack(face_places(grid, variant, axis), -1) * grid.cell_size
        share = 0.5 * sum(cells_round_faces(grid, variant, axis, mask[..., 0]))
        share = share * _flicker(grid, variant, emitter, middles[0, :3], place, noise_shift)
        u = on_faces(grid, out, axis)
        u += (emitter[6, axis] - u) * _set_share(share, emitter[4, 2])
    return constrained(grid, variant, solid_faces, out)


def ignite(
    grid: Grid,
    variant: Variant,
    *,
    scalars: Array,
    dt: float,
    ignition: float,
    growth: float,
    fuel_per_burn: float,
) -> Array:
    """What burns per second, on average over `dt` seconds, 1/s."""
    hot = growth * np.maximum(scalars[..., 1] - ignition, 0.0)
    burnt = np.minimum(np.maximum(scalars[..., 2], 0.0) / fuel_per_burn, hot)
    return np.where(scalars[..., 3] > 0.5, burnt / dt, 0.0)[..., None]


def burn(
    grid: Grid,
    variant: Variant,
    *,
    scalars: Array,
    flame: Array,
    dt: float,
    per_burn: tuple[float, ...],
    radiation: float = 0.0,
    ambient: float = 0.0,
) -> Array:
    """The scalars after the flame has been there for `dt` seconds, and hot gas has radiated as long."""
    burnt = dt * flame[..., 0]
    out = scalars.copy()
    out[..., 0] += per_burn[0] * burnt
    out[..., 1] += per_burn[1] * burnt
    out[..., 2] -= np.minimum(per_burn[2] * burnt, np.maximum(out[..., 2], 0.0))
    if radiation > 0.0:
        excess = out[..., 1] - ambient
        hot = (out[..., 3] > 0.5) & (excess > 0.0)
        left = ambient + excess / np.cbrt(1.0 + 3.0 * radiation * dt * np.maximum(excess, 0.0) ** 3)
        out[..., 1] = np.where(hot, left, out[..., 1])
    return out
