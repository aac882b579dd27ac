"""Every kernel in NumPy, float64: what the GLSL is held to, and what the NumPy backend runs.

A function has the name, the fields and the parameters of its kernel and returns the values written.
Fields are arrays [z, y, x, c]: cells [nz, ny, nx, 4]; faces [nz + 1, ny + 1, nx + 1, 4] (one slice in
2D), component i on the low face along axis i; packed [nz, ny, nx, 1]. Places are in cells from the low
corner of the box. The numbers come from the papers named in the GLSL files.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, reduce
from itertools import islice, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpufluid.boundaries import Inflow, Open
from gpufluid.grid import LARGEST_HALF, Grid
from gpufluid.kernels import EMITTER_ROWS, PATH, Variant
from gpufluid.layout import BLOCK, LANES, of_octets
from gpufluid.shapes import HALF_SPACE, MESH, ROUND
from gpufluid.user_forces import VORTEX, WIND
from gpufluid.voxels import beyond_squared, cover

Array = NDArray[np.float64]
Places = tuple[Array, Array, Array]  # x, y and z of places, or of vectors there

CONFINEMENT_FLOOR = 1e-5  # 1/s, as in confinement.glsl
SOLID_FLOOR = 0.05  # share of fluid round a sample, as in cell_sample.glsl


def _beside(
    grid: Grid, variant: Variant, axis: int, by: int, values: Array, beyond: float | None = None
) -> Array:
    """Cell `values` moved so that index i holds what was at i + by along `axis` (0 x, 1 y, 2 z).

    Past a side the nearest value repeats, or the box does where it is periodic; `beyond` is what stands
    past an open side, None for the nearest value there too.
    """
    n, sides = values.shape[2 - axis], variant.boundaries
    around = sides.periodic(axis) and axis < grid.dimensions
    out: Array = values.take(_moved(n, by, around), axis=2 - axis)
    if beyond is not None and not around and sides.open(axis, by > 0):
        rows = np.moveaxis(out, 2 - axis, 0)
        rows[max(n - by, 0) if by > 0 else 0 : n if by > 0 else -by] = beyond
    return out


@lru_cache(maxsize=256)
def _moved(n: int, by: int, around: bool) -> NDArray[np.int_]:
    """The number of the cell `by` further on, of each of n in a row; past the ends the last, or round."""
    at = np.arange(n) + by
    return at % n if around else np.clip(at, 0, n - 1)


@lru_cache(maxsize=256)
def _of_colour(colour: int, *shape: int) -> NDArray[np.bool_]:
    """Whether the sum of the indices and of `colour`, 0 for red, 1 for black, is even, in all of `shape`."""
    even: NDArray[np.bool_] = (np.indices(shape).sum(0) + colour) % 2 == 0
    even.flags.writeable = False
    return even


def _rolled(values: Array, by: int, axis: int) -> Array:
    """`values` moved so that index i of `axis` holds what was at i + by, round the box."""
    return values.take(_moved(values.shape[axis], by, around=True), axis)


def _round_faces(
    grid: Grid, variant: Variant, axis: int, values: Array, beyond: float | None = None
) -> tuple[Array, Array]:
    """Cell `values` below and above each face along `axis`: n + 1 of them; past a side as in `_beside`."""
    low = _beside(grid, variant, axis, -1, values, beyond)
    last = np.take(values, [-1], axis=2 - axis)
    high = np.take(_beside(grid, variant, axis, 1, values, beyond), [-1], axis=2 - axis)
    return np.concatenate([low, last], 2 - axis), np.concatenate([values, high], 2 - axis)


def _cells(grid: Grid, faces: Array) -> Array:
    """The values of faces that are low faces of a cell: [nz, ny, nx, c]."""
    nx, ny, nz = grid.cells
    return faces[:nz, :ny, :nx]


def _high(grid: Grid, faces: Array, axis: int, component: int) -> Array:
    """Velocity `component` stored one step up along `axis`: [nz, ny, nx]."""
    nx, ny, nz = grid.cells
    x, y, z = (int(axis == a) for a in range(3))
    return faces[z : nz + z, y : ny + y, x : nx + x, component]


def _face_count(grid: Grid, axis: int) -> tuple[int, int, int]:
    """Faces along one axis: [nz, ny, nx] with one more along it."""
    nx, ny, nz = grid.cells
    return nz + (axis == 2), ny + (axis == 1), nx + (axis == 0)


def _faces_of(grid: Grid, parts: list[Array], fill: Array | None = None) -> Array:
    """One array of faces from its components, each of `_face_count` values; 0 or `fill` where no face is."""
    nx, ny, nz = grid.cells
    deep = nz + 1 if grid.dimensions == 3 else 1
    faces = np.zeros((deep, ny + 1, nx + 1, 4)) if fill is None else fill.copy()
    for axis, values in enumerate(parts):
        z, y, x = values.shape
        faces[:z, :y, :x, axis] = values
    return faces


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
        z, y, x = _face_count(grid, axis)
        shut, speed = closed[:z, :y, :x, axis], velocity[:z, :y, :x, axis]
        shut[...] = False
        if solid_velocity is not None:
            count = sum(_round_faces(grid, variant, axis, solid_velocity[..., 3], 0.0))
            both = sum(
                _round_faces(grid, variant, axis, solid_velocity[..., axis] * solid_velocity[..., 3], 0.0)
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


def _constrained(grid: Grid, variant: Variant, solid_faces: Array | None, u: Array) -> Array:
    closed, velocity = closed_faces(grid, variant, solid_faces)
    out = np.zeros_like(u)
    out[..., :3] = np.where(closed, velocity, u[..., :3])
    return out


def _trilinear(
    values: Array, place: Places, periods: tuple[int, ...] = (0, 0, 0)
) -> tuple[Array, list[Array], list[Array], list[Array]]:
    """Trilinear `values` [z, y, x, ...] at `place` (x, y, z, from 0); the eight round it, weights, shares.

    periods: cells after which the values repeat along (x, y, z), 0 where they do not.
    """
    ends, parts, share, stride = [], [], [], 1  # of each axis: the indices and the weights of low and high
    for axis in range(3):
        n, period = values.shape[2 - axis], periods[axis]
        q = place[axis] % period if period else np.minimum(np.maximum(place[axis], 0), n - 1)
        low = np.floor(q).astype(int)
        if not period:
            low = np.minimum(low, max(n - 2, 0))
        high = (low + 1) % period if period else np.minimum(low + 1, n - 1)
        share.append(q - low)
        parts.append((1.0 - share[-1], share[-1]))
        ends.append((stride * (low % period if period else low), stride * high))
        stride *= n
    flat = values.reshape(stride, *values.shape[3:])  # one index finds a value sooner than three
    index = [x + y for y in ends[1] for x in ends[0]]
    weights = [x * y for y in parts[1] for x in parts[0]]
    index, weights = [xy + z for z in ends[2] for xy in index], [xy * z for z in parts[2] for xy in weights]
    # what is no number has no index: it takes any value, with a weight that is none either
    taken = [flat.take(each, axis=0, mode="clip") for each in index]
    total = np.zeros(taken[0].shape)
    for weight, value in zip(weights, taken, strict=True):
        total += (weight[..., None] if values.ndim > 3 else weight) * value
    return total, taken, weights, share


def _periods(grid: Grid, variant: Variant) -> tuple[int, ...]:
    """Cells after which the box repeats along (x, y, z), 0 where it does not."""
    sides = variant.boundaries
    return tuple(grid.cells[a] if sides.periodic(a) and a < grid.dimensions else 0 for a in range(3))


def _walls_beside(grid: Grid, variant: Variant, place: Places, axis: int) -> list[tuple[Array, float]]:
    """For each no-slip wall across from `axis`: distance (cells) and the wall's velocity component."""
    beside = []
    for side in range(2 * grid.dimensions):
        sides, across = variant.boundaries, side // 2
        if across != axis and sides.grips(side):
            p = place[across]
            beside.append((p if side % 2 == 0 else grid.cells[across] - p, sides.velocity(side)[axis]))
    return beside


def _round_component(
    grid: Grid, variant: Variant, velocity: Array, place: Places, axis: int
) -> tuple[Array, list[Array]]:
    """Velocity component `axis` at `place` (cells), as if no wall were near, and the eight round it."""
    z, y, x = _face_count(grid, axis)
    q = tuple(place[a] - (0.0 if a == axis else 0.5) for a in range(3))
    return _trilinear(velocity[:z, :y, :x, axis], (q[0], q[1], q[2]), _periods(grid, variant))[:2]


def _slowed(value: Array, walls: list[tuple[Array, float]]) -> Array:
    """`value`, of the fluid alone, as the no-slip `walls` beside it leave it."""
    for distance, wall in walls:
        value = wall + (value - wall) * np.clip(2.0 * distance, 0.0, 1.0)
    return value


def sample_component(grid: Grid, variant: Variant, velocity: Array, place: Places, axis: int) -> Array:
    """Velocity component `axis` at `place` (cells)."""
    if axis == 2 and grid.dimensions == 2:
        return np.zeros_like(place[0])
    value, _ = _round_component(grid, variant, velocity, place, axis)
    return _slowed(value, _walls_beside(grid, variant, place, axis))


def bounded_component(
    grid: Grid, variant: Variant, velocity: Array, place: Places, axis: int
) -> tuple[Array, Array, Array]:
    """The same as `sample_component`, and the smallest and the largest of the values that it is made of."""
    value, taken = _round_component(grid, variant, velocity, place, axis)
    low, high = reduce(np.minimum, taken), reduce(np.maximum, taken)
    walls = _walls_beside(grid, variant, place, axis)
    for distance, wall in walls:
        near = distance < 0.5
        low = np.where(near, np.minimum(low, wall), low)
        high = np.where(near, np.maximum(high, wall), high)
    return _slowed(value, walls), low, high


def _reachable(fluid: NDArray[np.bool_], nearest: list[NDArray[np.bool_]]) -> NDArray[np.bool_]:
    """Which of eight corners [8, ...] are reached from the nearest one without crossing a solid."""
    corner = np.arange(8).reshape(-1, *[1] * (fluid.ndim - 1))
    home = sum(bit.astype(int) << axis for axis, bit in enumerate(nearest))
    found = fluid & (corner == home)
    for axis in (0, 1, 2) * 3:
        found = (found | found[np.arange(8) ^ (1 << axis)]) & fluid
    return np.where(found.any(0), found, fluid)


def cubic_component(
    grid: Grid,
    variant: Variant,
    velocity: Array,
    place: Places,
    axis: int,
    solid_faces: Array | None = None,
) -> Array:
    """Velocity component `axis` at `place` (cells), monotone cubic; trilinear beside solids."""
    values = _component(grid, velocity, axis)
    q = tuple(place[a] - (0.0 if a == axis else 0.5) for a in range(3))
    value, index = _tricubic(values, (q[0], q[1], q[2]), _periods(grid, variant), grid.dimensions)
    value = _slowed(value, _walls_beside(grid, variant, place, axis))
    if not variant.solids or solid_faces is None:
        return value
    z, y, x = values.shape
    closed = (solid_faces[:z, :y, :x, 3].astype(int) >> axis & 1) > 0
    if not variant.boundaries.periodic(axis):
        np.moveaxis(closed, 2 - axis, 0)[[0, -1]] = False  # sides of the box
    plain = sample_component(grid, variant, velocity, place, axis)
    return np.where(_any_of(closed, index), plain, value)


def _any_of(flags: NDArray[np.bool_], index: list[NDArray[np.int_]]) -> NDArray[np.bool_]:
    """Where one of the `flags` [z, y, x] at the four indices along each axis [axis][four] is set."""
    found = np.zeros(index[0].shape[1:], bool)
    for z, y, x in product(index[2], index[1], index[0]):
        found |= flags[z, y, x]
    return found


def _round_cells(
    grid: Grid, variant: Variant, values: Array, place: Places
) -> tuple[Array, Array, Array, Any]:
    """Cell values at `place`, the eight round it [8, ...], their weights, and which of them count."""
    shifted = place[0] - 0.5, place[1] - 0.5, place[2] - 0.5
    mean, corners, weights, share = _trilinear(values, shifted, _periods(grid, variant))
    taken = np.stack(corners)
    seen: Any = True
    if variant.solids:
        seen = _reachable(taken[..., 3] > 0.5, [part >= 0.5 for part in share])[..., None]
    return mean, taken, np.stack(weights)[..., None], seen


def sample_cells(grid: Grid, variant: Variant, values: Array, place: Places) -> Array:
    """Cell values [z, y, x, 4] at `place` (cells) over the fluid alone."""
    if not variant.solids:
        return _trilinear(values, (place[0] - 0.5, place[1] - 0.5, place[2] - 0.5), _periods(grid, variant))[
            0
        ]
    mean, taken, weights, seen = _round_cells(grid, variant, values, place)
    if variant.sampler == "exact" or any(_periods(grid, variant)):
        mean = (seen * weights * taken).sum(0)
    return mean / np.maximum(mean[..., 3:], SOLID_FLOOR)


def cell_bounds(grid: Grid, variant: Variant, values: Array, place: Places) -> tuple[Array, Array]:
    """The smallest and the largest of the values that `sample_cells` makes its own of."""
    _, taken, _, seen = _round_cells(grid, variant, values, place)
    return np.where(seen, taken, np.inf).min(0), np.where(seen, taken, -np.inf).max(0)


def cubic_cells(grid: Grid, variant: Variant, values: Array, place: Places) -> Array:
    """Cell values [z, y, x, 4] at `place` (cells), monotone cubic; trilinear over the fluid beside solids."""
    shifted = place[0] - 0.5, place[1] - 0.5, place[2] - 0.5
    value, index = _tricubic(values, shifted, _periods(grid, variant), grid.dimensions)
    if not variant.solids:
        return value
    beside = _any_of(values[..., 3] < 0.5, index)[..., None]
    return np.where(beside, sample_cells(grid, variant, values, place), value)


def monotone_cubic(four: list[Array], share: Array, low_slope: Array, high_slope: Array) -> Array:
    """The value at `share` of the way from four[1] to four[2], monotone between them.

    low_slope, high_slope: 1 over the distance of the two values that the slope at either end is taken from.
    Hermite with slopes between 0 and three times the rise (Fedkiw, Stam & Jensen 2001; Fritsch & Carlson
    1980). Third order; second in the intervals beside an extremum.
    """
    before, low, high, after = four
    rise = high - low
    least, most = np.minimum(3.0 * rise, 0.0), np.maximum(3.0 * rise, 0.0)
    start = np.clip((high - before) * low_slope, least, most)
    end = np.clip((after - low) * high_slope, least, most)
    left = 1.0 - share
    return np.asarray(
        low + share**2 * (3.0 - 2.0 * share) * rise + share * left * (left * start - share * end)
    )


def _tricubic(values: Array, place: Places, periods: tuple[int, ...], dimensions: int) -> tuple[Array, Any]:
    """Monotone cubic `values` [z, y, x, ...] at `place` (x, y, z, from 0), and the indices they are taken at.

    Axis by axis, x first; the indices are [axis][four]. periods: as in `_trilinear`.
    """
    index, share, slopes = [], [], []
    for axis in range(3):
        n, period = values.shape[2 - axis], periods[axis]
        q = place[axis] % period if period else np.clip(place[axis], 0, n - 1)
        low = np.floor(q).astype(int)
        if not period:
            low = np.minimum(low, max(n - 2, 0))
        at = low + np.arange(-1, 3).reshape(-1, *[1] * q.ndim)
        at = at % period if period else np.clip(at, 0, n - 1)
        index.append(at)
        tail = (...,) + (None,) * (values.ndim - 3)
        share.append((q - low)[tail])
        apart = (0 * at[2:] + 2 if period else np.maximum(at[2:] - at[:2], 1))[(..., *tail[1:])]
        slopes.append(1.0 / apart)

    def along(axis: int, corner: tuple[Any, ...]) -> Array:
        if axis < 0:
            return np.asarray(values[corner])
        if axis >= dimensions:
            return along(axis - 1, (*corner, index[axis][1]))
        four = [along(axis - 1, (*corner, i)) for i in index[axis]]
        return monotone_cubic(four, share[axis], *slopes[axis])

    return along(2, ()), index


def clipped(grid: Grid, variant: Variant, solid: Array | None, start: Places, end: Places) -> Places:
    """`end`, or the last place before a solid or the first beyond a side on the way from `start` (cells).

    Walks from cell to cell (Amanatides & Woo 1987).
    """
    if not variant.solids or solid is None:
        return end
    begin = np.stack(start)
    way = np.stack(end) - begin
    back = way < 0.0
    cell = np.where(back, np.ceil(begin) - 1, np.floor(begin)).astype(int)
    inverse = 1.0 / np.maximum(np.abs(way), 1e-20)
    following = np.abs(np.where(back, begin - cell, cell + 1 - begin)) * inverse
    stop = np.ones(way.shape[1:])
    walking, cut = np.ones(way.shape[1:], bool), np.zeros(way.shape[1:], bool)
    count = np.array(grid.cells).reshape(3, 1, 1, 1)
    periods = np.array(_periods(grid, variant)).reshape(3, 1, 1, 1)
    length = np.maximum(np.linalg.norm(way, axis=0), 1e-20)
    for _ in range(3 * PATH):
        share = following.min(0)
        walking = walking & (share < 1.0)
        if not walking.any():
            break
        axis = np.argmax(following <= share, axis=0)
        turn = (np.arange(3).reshape(3, 1, 1, 1) == axis) & walking
        cell = cell + turn * np.where(back, -1, 1)
        at = np.where(periods > 0, cell % np.maximum(periods, 1), cell)
        inside = ((at >= 0) & (at < count)).all(0)
        x, y, z = np.clip(at, 0, count - 1)
        hit = walking & inside & (solid[z, y, x, 0] > 0.5)
        stop = np.where(hit, np.maximum(share - 1e-3 / length, 0.0), stop)
        stop = np.where(walking & ~inside, share + 1e-3 / length, stop)
        cut |= walking & (hit | ~inside)
        walking = walking & inside & ~hit
        following = following + turn * inverse
    x, y, z = np.where(cut, begin + stop * way, np.stack(end))
    return x, y, z


def trace(
    grid: Grid,
    variant: Variant,
    velocity: Array,
    start: Places,
    u: Places,
    dt: float,
    solid: Array | None = None,
) -> Places:
    """Where what is at `start` with velocity `u` was `dt` seconds ago (cells).

    Never in a solid, but perhaps beyond a side.
    """
    reach = dt / grid.cell_size

    def back(amount: float, by: Places) -> Places:
        x, y, z = (start[a] - amount * by[a] for a in range(3))
        return x, y, z

    if variant.trace == "rk2":
        middle = back(0.5 * reach, u)
        u = tuple(sample_component(grid, variant, velocity, middle, a) for a in range(3))  # type: ignore[assignment]
    return clipped(grid, variant, solid, start, back(reach, u))


def _centers(grid: Grid, face_axis: int | None = None) -> Places:
    """Places of the cell centres, [nz, ny, nx], or of the faces along one axis, one more along it."""
    shape = grid.cells[::-1] if face_axis is None else _face_count(grid, face_axis)
    z, y, x = np.meshgrid(*(np.arange(n) + 0.5 for n in shape), indexing="ij")
    places = [x, y, z]
    if face_axis is not None:
        places[face_axis] = places[face_axis] - 0.5
    return places[0], places[1], places[2]


def _home(grid: Grid, variant: Variant, axis: int) -> Places:
    """Places of the faces along `axis`, those of a periodic high side being those of its low side."""
    place, period = list(_centers(grid, axis)), _periods(grid, variant)[axis]
    if period:
        place[axis] = place[axis] % period
    return place[0], place[1], place[2]


def _component(grid: Grid, velocity: Array, axis: int) -> Array:
    """The part of `velocity` that holds component `axis` on its faces; a view."""
    z, y, x = _face_count(grid, axis)
    return velocity[:z, :y, :x, axis]


def face_velocity(grid: Grid, variant: Variant, velocity: Array, axis: int) -> Places:
    """The whole velocity at the faces along `axis`: the mean of the four nearest for the others."""
    place = _centers(grid, axis)
    x, y, z = (sample_component(grid, variant, velocity, place, a) for a in range(3))
    return x, y, z


def center_velocity(grid: Grid, velocity: NDArray[Any]) -> NDArray[Any]:
    """The velocity at the cell centres, [nz, ny, nx, 3]."""
    low = _cells(grid, velocity)
    parts = [0.5 * (low[..., a] + _high(grid, velocity, a, a)) for a in range(grid.dimensions)]
    return np.stack(parts if grid.dimensions == 3 else [*parts, low[..., 2]], -1)


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


# -- sources and forces --------------------------------------------------------------------------------


def _random(lattice: NDArray[np.int64], seed: int) -> Array:
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
    low = np.floor(place).astype(np.int64)
    f = place - low
    f = f * f * (3.0 - 2.0 * f)
    total: Any = 0.0
    for corner in range(8):
        up = np.array([corner >> axis & 1 for axis in range(3)])
        total = total + np.where(up, f, 1.0 - f).prod(-1) * _random(low + up, seed)
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
    place = place - _boxes_off(grid, variant, place - middle)
    lattice = (place + np.asarray(noise_shift)) * emitter[7, 0]
    now, after = (_patches(lattice, int(emitter[7, column])) for column in (1, 2))
    return np.asarray(1.0 - strength * (now + (after - now) * emitter[5, 3]))


def _boxes_off(grid: Grid, variant: Variant, way: Array) -> Array:
    """The whole boxes in ways [..., 3], m, along periodic axes: what is left without them is shortest."""
    size = np.array(grid.size)
    along = np.array(_periods(grid, variant)) > 0
    return np.asarray(along * size * np.floor(way / size + 0.5))


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


def _emitter_share(grid: Grid, emitter: Array, place: Array) -> Array:
    """The share of an emitter, without its noise, at places [..., 3], m from the low corner."""
    local = place @ emitter[:3, :3].T + emitter[:3, 3]
    kind, core, rounding = int(emitter[4, 0]) % 4, emitter[3, :3].tolist(), float(emitter[3, 3])
    if emitter[4, 1] <= 0.0:
        return float(-emitter[4, 1]) * _emitter_cover(grid, emitter, local, kind, core, rounding)
    beyond = beyond_squared(kind, list(np.moveaxis(local, -1, 0)), core)
    t = np.minimum(np.maximum(np.sqrt(beyond) - rounding, 0.0) * emitter[4, 1], 4.0)
    return np.where(t < 4.0, np.exp(-t * t), 0.0)


def _with_emitted(emitter: Array, weight: Array, scalars: Array) -> Array:
    weight = weight * scalars[..., 3]
    out = scalars.copy()
    out[..., 0] += weight * emitter[5, 0]
    out[..., 1] = out[..., 1] * (1.0 - weight * emitter[4, 3]) + weight * emitter[5, 1]
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
    places = _centers(grid) if face_axis is None else _home(grid, variant, face_axis)
    place, share = np.stack(places, -1) * grid.cell_size, None
    for emitter, middle in zip(_rows(emitters), middles[:, :3], strict=False):
        own = _emitter_share(grid, emitter, place)
        own = own * _flicker(grid, variant, emitter, middle, place, noise_shift)
        share = own if share is None or emitter[4, 0] < 4.0 else np.maximum(share, own)
        yield emitter, share


def emit_scalars(
    grid: Grid,
    variant: Variant,
    *,
    scalars: Array,
    emitters: Array,
    middles: Array,
    emitter_count: int,
    noise_shift: tuple[float, ...],
) -> Array:
    """Density and fuel added and temperature set where the emitters are."""
    for emitter, weight in islice(_shares(grid, variant, emitters, middles, noise_shift), emitter_count):
        scalars = _with_emitted(emitter, weight, scalars)
    return scalars.copy()


def emit_velocity(
    grid: Grid,
    variant: Variant,
    *,
    velocity: Array,
    emitters: Array,
    middles: Array,
    emitter_count: int,
    noise_shift: tuple[float, ...],
    solid_faces: Array | None = None,
) -> Array:
    """Velocity set where the emitters are."""
    out = velocity.copy()
    for axis in range(grid.dimensions):
        u, shares = _component(grid, out, axis), _shares(grid, variant, emitters, middles, noise_shift, axis)
        for emitter, share in islice(shares, emitter_count):
            u += (emitter[6, axis] - u) * (share * emitter[4, 2])
    return _constrained(grid, variant, solid_faces, out)


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
    emitter, place = _rows(emitters)[0], np.stack(_centers(grid), -1) * grid.cell_size
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
        place = np.stack(_home(grid, variant, axis), -1) * grid.cell_size
        share = 0.5 * sum(_round_faces(grid, variant, axis, mask[..., 0]))
        share = share * _flicker(grid, variant, emitter, middles[0, :3], place, noise_shift)
        u = _component(grid, out, axis)
        u += (emitter[6, axis] - u) * share
    return _constrained(grid, variant, solid_faces, out)


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
    return np.asarray(np.minimum(np.maximum(scalars[..., 2], 0.0) / fuel_per_burn, hot) / dt)[..., None]


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
        excess = np.where(out[..., 3] > 0.5, np.maximum(out[..., 1] - ambient, 0.0), 0.0)
        out[..., 1] -= excess * (1.0 - np.cbrt(1.0 / (1.0 + 3.0 * radiation * dt * excess**3)))
    return out


def _slope(grid: Grid, variant: Variant, axis: int, values: Array) -> Array:
    """Change of cell `values` over one cell along `axis`: of two beside a side, else of three."""
    change = _beside(grid, variant, axis, 1, values) - _beside(grid, variant, axis, -1, values)
    if not variant.boundaries.periodic(axis):
        ends = np.moveaxis(change, 2 - axis, 0)
        ends[0] *= 2.0
        ends[-1] *= 2.0
    return np.asarray(0.5 * change)


def vorticity(grid: Grid, variant: Variant, *, velocity: Array) -> Array:
    """Curl at the cell centres and its length, 1/s."""
    low = _cells(grid, velocity)

    def slope(component: int, along: int) -> Array:
        both = low[..., component] + _high(grid, velocity, component, component)
        return _slope(grid, variant, along, both) * 0.5 / grid.cell_size

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
        [_slope(grid, variant, a, size) if a < grid.dimensions else 0.0 * size for a in range(3)],
        -1,
    )
    towards = growth / (np.linalg.norm(growth, axis=-1, keepdims=True) + CONFINEMENT_FLOOR)
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
        force = up[axis] * 0.5 * sum(_round_faces(grid, variant, axis, lift))
        z, y, x = _face_count(grid, axis)
        out[:z, :y, :x, axis] += dt * force
    return _constrained(grid, variant, solid_faces, out)


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
        u = _component(grid, out, axis)
        place = np.stack(_home(grid, variant, axis), -1) * grid.cell_size
        for (*center, kind), (*way, amount), (scale, *repeats) in rows:
            if kind == WIND:
                u += (way[axis] - u) * amount
                continue
            d = place - center
            d -= _boxes_off(grid, variant, d) * repeats
            if grid.dimensions == 2:
                d[..., 2] = 0.0
            turn = np.cross(way, d) if kind == VORTEX else -d
            off = np.linalg.norm(d - (d @ way)[..., None] * way if kind == VORTEX else d, axis=-1)
            s = off * scale
            bell = s * np.exp(0.5 * (1.0 - s * s)) / np.maximum(off, 1e-6 / scale)
            u += amount * bell * turn[..., axis]
    return _constrained(grid, variant, solid_faces, out)


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
        u = _component(grid, out, axis)
        u += dt * 0.5 * sum(_round_faces(grid, variant, axis, force[..., axis]))
    return _constrained(grid, variant, solid_faces, out)


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
        place = np.stack(_home(grid, variant, axis), -1) * grid.cell_size + np.asarray(origin)
        force = np.broadcast_to(np.asarray(function(place, time), float), place.shape)[..., axis]
        u = _component(grid, out, axis)
        u += dt * np.where(np.isfinite(force), force, 0.0)
    return _constrained(grid, variant, solid_faces, out)


def constrain(grid: Grid, variant: Variant, *, velocity: Array, solid_faces: Array | None = None) -> Array:
    """The velocity with closed faces moving with what closes them, and periodic sides the same."""
    u = velocity.copy()
    for axis, period in enumerate(_periods(grid, variant)):
        if period:
            line = np.moveaxis(u, 2 - axis, 0)
            line[-1] = line[0]
    return _constrained(grid, variant, solid_faces, u)


# -- diffusion -----------------------------------------------------------------------------------------


def _velocity_neighbour(
    grid: Grid, variant: Variant, own: Array, component: int, axis: int, side: int
) -> Array:
    """The next face value of velocity `component` along `axis`, or what a side stands for."""
    n, period = own.shape[2 - axis], _periods(grid, variant)[axis]
    at = np.arange(n) + 2 * side - 1
    if period:
        return np.asarray(np.take(own, at % period, axis=2 - axis))
    out = np.take(own, np.clip(at, 0, n - 1), axis=2 - axis)
    sides, number = variant.boundaries, 2 * axis + side
    if axis != component and sides.grips(number):
        line = np.moveaxis(out, 2 - axis, 0)
        line[-side] = 2.0 * sides.velocity(number)[component] - np.moveaxis(own, 2 - axis, 0)[-side]
    return out


def _scalars_neighbour(grid: Grid, variant: Variant, own: Array, axis: int, side: int) -> Array:
    """The next cell's scalars along `axis`, or what a side stands for: itself, but for a wall's heat."""
    out = _beside(grid, variant, axis, 2 * side - 1, own)
    heat = variant.boundaries.temperature(2 * axis + side)
    if heat is not None:
        line = np.moveaxis(out, 2 - axis, 0)
        line[-side, ..., 1] = 2.0 * heat - np.moveaxis(own, 2 - axis, 0)[-side, ..., 1]
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
        z, y, x = _face_count(grid, component)
        start, own, older = (field[:z, :y, :x, component] for field in (before, latest, previous))
        laplacian: Any = 0.0
        for axis in range(grid.dimensions):
            for side in range(2):
                beside = _velocity_neighbour(grid, variant, own, component, axis, side)
                if variant.solids and solid_faces is not None and axis != component:
                    bits = solid_faces[:z, :y, :x, 3].astype(int) >> component
                    bits = _shifted(grid, variant, axis, 2 * side - 1, bits.astype(float)).astype(int)
                    beside = np.where(bits & 64, 2.0 * beside - own, beside)
                    beside = np.where(bits & 8, own, beside)
                laplacian = laplacian + beside - own
        left = start - own + fourier_number * laplacian
        diagonal = (1.0 + 2.0 * grid.dimensions * fourier_number) / relaxation
        parts.append(_swept(own, older, left, diagonal, weight))
    return _constrained(grid, variant, solid_faces, _faces_of(grid, parts))


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
    laplacian = np.zeros_like(latest)
    for axis in range(grid.dimensions):
        for side in range(2):
            beside = _scalars_neighbour(grid, variant, latest, axis, side)
            if variant.solids:
                beside = np.where(beside[..., 3:] < 0.5, latest, beside)
            laplacian += beside - latest
    numbers = np.array([*fourier_numbers, 0.0])
    left = before - latest + numbers * laplacian
    out = _swept(latest, previous, left, (1.0 + 2.0 * grid.dimensions * numbers) / relaxation, weight)
    out[..., 3] = latest[..., 3]
    return np.where(latest[..., 3:] < 0.5, latest, out) if variant.solids else out


# -- advection -----------------------------------------------------------------------------------------


def _limited(variant: Variant, value: Array, plain: Array, low: Array, high: Array) -> Array:
    if variant.limiter == "clamp":
        return np.minimum(np.maximum(value, low), high)
    if variant.limiter == "revert":
        return np.where((value < low) | (value > high), plain, value)
    return value


def _still_air(grid: Grid, variant: Variant, place: Places) -> Array:
    """Share of the velocity at an open side that is left at `place`: 0 from one cell beyond it."""
    share = np.ones(place[0].shape)
    for axis in range(grid.dimensions):
        for high in (False, True):
            if variant.boundaries.open(axis, high):
                beyond = place[axis] - grid.cells[axis] if high else -place[axis]
                share = share * np.clip(1.0 - beyond, 0.0, 1.0)
    return share


def advect_velocity(
    grid: Grid,
    variant: Variant,
    *,
    velocity: Array,
    dt: float,
    solid_faces: Array | None = None,
    solid: Array | None = None,
) -> Array:
    """Velocity carried along itself, semi-Lagrangian."""
    parts = []
    for axis in range(grid.dimensions):
        u = face_velocity(grid, variant, velocity, axis)
        place = trace(grid, variant, velocity, _centers(grid, axis), u, dt, solid)
        if variant.cubic:
            carried = cubic_component(grid, variant, velocity, place, axis, solid_faces)
        else:
            carried = sample_component(grid, variant, velocity, place, axis)
        parts.append(_still_air(grid, variant, place) * carried)
    return _constrained(grid, variant, solid_faces, _faces_of(grid, parts))


def predict_velocity(
    grid: Grid,
    variant: Variant,
    *,
    velocity: Array,
    dt: float,
    solid_faces: Array | None = None,
    solid: Array | None = None,
) -> Array:
    """MacCormack's first half for the velocity: values, the least and the largest they may be, [z, y, x, 12].

    The last channel of each four: the share of still air at one of the components' places.
    """
    found: list[tuple[Array, ...]] = []  # of each axis
    for axis in range(grid.dimensions):
        u = face_velocity(grid, variant, velocity, axis)
        place = trace(grid, variant, velocity, _centers(grid, axis), u, dt, solid)
        value, low, high = bounded_component(grid, variant, velocity, place, axis)
        if variant.limiter is None:
            low = high = np.zeros_like(value)
        share = _still_air(grid, variant, place)
        found.append((share * value, low, high, share))
    *parts, shares = (
        _constrained(grid, variant, solid_faces, _faces_of(grid, list(each)))
        for each in zip(*found, strict=True)
    )
    for number, part in enumerate(parts):
        part[..., 3] = shares[..., number]
    return np.concatenate(parts, -1)


def correct_velocity(
    grid: Grid,
    variant: Variant,
    *,
    velocity: Array,
    predicted: Array,
    dt: float,
    solid_faces: Array | None = None,
    solid: Array | None = None,
) -> Array:
    """MacCormack's second half for the velocity."""
    parts = []
    forward, least, largest = np.split(predicted, 3, -1)
    shares = predicted[..., 3::4]
    for axis in range(grid.dimensions):
        u = face_velocity(grid, variant, velocity, axis)
        there = trace(grid, variant, velocity, _centers(grid, axis), u, -dt, solid)
        returned = sample_component(grid, variant, forward, there, axis)
        z, y, x = _face_count(grid, axis)
        before, plain, low, high, share = (
            values[:z, :y, :x, axis] for values in (velocity, forward, least, largest, shares)
        )
        value = _limited(variant, plain + 0.5 * (before - returned), plain, low, high)
        parts.append(plain + (value - plain) * share)
    return _constrained(grid, variant, solid_faces, _faces_of(grid, parts))


def compensate_velocity(
    grid: Grid,
    variant: Variant,
    *,
    velocity: Array,
    forward: Array,
    dt: float,
    solid_faces: Array | None = None,
    solid: Array | None = None,
) -> Array:
    """The velocity with the error of carrying it there and back taken off beforehand."""
    parts = []
    for axis in range(grid.dimensions):
        u, start = face_velocity(grid, variant, velocity, axis), _centers(grid, axis)
        there = trace(grid, variant, velocity, start, u, -dt, solid)
        z, y, x = _face_count(grid, axis)
        returned = sample_component(grid, variant, forward, there, axis)
        parts.append(1.5 * velocity[:z, :y, :x, axis] - 0.5 * returned)
    return _constrained(grid, variant, solid_faces, _faces_of(grid, parts))


def finish_velocity(
    grid: Grid,
    variant: Variant,
    *,
    velocity: Array,
    compensated: Array,
    dt: float,
    solid_faces: Array | None = None,
    solid: Array | None = None,
) -> Array:
    """The compensated velocity carried along the velocity."""
    parts = []
    for axis in range(grid.dimensions):
        u, start = face_velocity(grid, variant, velocity, axis), _centers(grid, axis)
        place = trace(grid, variant, velocity, start, u, dt, solid)
        plain, low, high = bounded_component(grid, variant, velocity, place, axis)
        value = sample_component(grid, variant, compensated, place, axis)
        parts.append(_still_air(grid, variant, place) * _limited(variant, value, plain, low, high))
    return _constrained(grid, variant, solid_faces, _faces_of(grid, parts))


def _finished_scalars(
    variant: Variant, values: Array, keep: tuple[float, ...], ambient: float, solid: Array | None
) -> Array:
    rest = np.array([0.0, ambient, 0.0])
    out = np.ones((*values.shape[:3], 4))
    out[..., :3] = rest + (values[..., :3] - rest) * np.asarray(keep)
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


def _with_entering(
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
        density, temperature = (kind.density, kind.temperature) if isinstance(kind, Inflow) else (0.0, None)
        brought = np.array([density, ambient if temperature is None else temperature, 0.0, 1.0])
        values = (1.0 - share) * values + share * brought
        among |= share[..., 0] > 1e-3  # not for rounding, of air that stands still
    return values, among


def _cell_trace(grid: Grid, variant: Variant, velocity: Array, dt: float, solid: Array | None) -> Places:
    u = center_velocity(grid, velocity)
    return trace(grid, variant, velocity, _centers(grid), (u[..., 0], u[..., 1], u[..., 2]), dt, solid)


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
    place = _cell_trace(grid, variant, velocity, dt, solid)
    if variant.cubic:
        value = cubic_cells(grid, variant, scalars, place)
    else:
        value = sample_cells(grid, variant, scalars, place)
    value, _ = _with_entering(grid, variant, place, ambient, _uncovered(variant, value, ambient))
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
    place = _cell_trace(grid, variant, velocity, dt, solid)
    low, high = cell_bounds(grid, variant, scalars, place)
    some = low[..., 3:] <= high[..., 3:]
    value = np.where(some, _limited(variant, value, forward, low, high), value)
    _, among = _with_entering(grid, variant, place, ambient, value)
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
    return np.where(scalars[..., 3:] < 0.5, 0.0, out) if variant.solids else out


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
    place = _cell_trace(grid, variant, velocity, dt, solid)
    value = _uncovered(variant, sample_cells(grid, variant, compensated, place), ambient)
    plain = sample_cells(grid, variant, scalars, place)
    low, high = cell_bounds(grid, variant, scalars, place)
    plain = _uncovered(variant, plain, ambient)
    some = low[..., 3:] <= high[..., 3:]
    value = np.where(some, _limited(variant, value, plain, low, high), value)
    value, _ = _with_entering(grid, variant, place, ambient, value)
    return _finished_scalars(variant, value, keep, ambient, solid)


# -- pressure ------------------------------------------------------------------------------------------


def _open_bits(grid: Grid, openings: Array) -> NDArray[np.int64]:
    """The six bits of each cell, [nz, ny, nx], of the packed whole numbers [nz, ny, packs, 1]."""
    lanes = openings[..., 0].astype(np.int64)[..., None] >> (6 * np.arange(LANES)) & 63
    return lanes.reshape(*openings.shape[:2], -1)[..., : grid.cells[0]]


def divergence(grid: Grid, variant: Variant, *, velocity: Array, openings: Array | None = None) -> Array:
    """Divergence of the velocity, 1/s; 0 in solids."""
    low = _cells(grid, velocity)
    out = sum(_high(grid, velocity, a, a) - low[..., a] for a in range(grid.dimensions)) / grid.cell_size
    if variant.solids and openings is not None:
        out = np.where(_open_bits(grid, openings) == 0, 0.0, out)
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
        made = np.where((_open_bits(grid, openings) != 0)[..., None], made, 0.0)
    return np.asarray(divergence - made)


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
    bits = _open_bits(grid, openings) if variant.solids and openings is not None else None
    for axis in range(grid.dimensions):
        for side, by in enumerate((-1, 1)):
            beside = _beside(grid, variant, axis, by, p, 0.0)
            if bits is not None:
                beside = np.where(bits >> (2 * axis + side) & 1 > 0, beside, p)
            total = total + beside
    relaxed = total / (2 * grid.dimensions)
    return np.asarray(p + weight * (relaxed - p))[..., None]


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


def jacobi_eighths(
    grid: Grid,
    variant: Variant,
    *,
    eighths: Array,
    divergence: Array,
    scale: float,
    weight: float,
    openings: Array | None = None,
) -> Array:
    """`jacobi` of a pressure in eighths."""
    pressure = join_eighths(grid, variant, eighths=eighths)
    swept = jacobi(
        grid,
        variant,
        pressure=pressure,
        divergence=divergence,
        scale=scale,
        weight=weight,
        openings=openings,
    )
    return split_eighths(grid, variant, values=swept)


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
        low, high = _round_faces(grid, variant, axis, p, 0.0)
        z, y, x = _face_count(grid, axis)
        out[:z, :y, :x, axis] -= dt / grid.cell_size * (high - low)
    return _constrained(grid, variant, solid_faces, out)


def _open_masks(grid: Grid, variant: Variant, openings: Array | None) -> NDArray[np.bool_]:
    """Where the neighbour of a cell is open, [side, z, y, x] with the sides x-, x+, y-, y+, z-, z+."""
    if openings is None or not variant.solids:
        openings = open_neighbours(grid, variant, solid=np.zeros((*grid.cells[::-1], 4)))
    return (_open_bits(grid, openings) >> np.arange(6)[:, None, None, None] & 1) > 0


def pressure_operator(
    grid: Grid, variant: Variant, p: Array, openings: Array | None = None, weights: Array | None = None
) -> tuple[Array, Array]:
    """Return the Laplacian of `p` [z, y, x] (cells of size 1) and the weight of a cell's own pressure in it.

    Both are 0 in a cell that nothing opens. weights: of a coarse grid's faces, [z, y, x, 4] (x, y, z, sum).
    """
    if weights is not None:
        diagonal = weights[..., 3]
        out = -diagonal * p
        for axis in range(3):
            low, a = weights[..., axis], 2 - axis
            out += low * _rolled(p, -1, a) + _rolled(low, 1, a) * _rolled(p, 1, a)
        return out, diagonal
    out, diagonal = np.zeros_like(p), np.zeros_like(p)
    for side, mask in enumerate(_open_masks(grid, variant, openings)[: 2 * grid.dimensions]):
        beside = _beside(grid, variant, side // 2, 2 * (side % 2) - 1, p, 0.0)
        out += np.where(mask, beside - p, 0.0)
        diagonal += mask
    return out, diagonal


def _stacked(*parts: Array | None) -> Array | None:
    """The weights of a coarse grid's faces, [z, y, x, 4], of packed fields; None without."""
    return None if parts[0] is None else np.concatenate([p for p in parts if p is not None], -1)


def first_sweep(grid: Grid, variant: Variant, *, divergence: Array, **given: Any) -> Array:
    """A sweep of successive over-relaxation from pressure 0: red cells, then black ones."""
    p = np.zeros_like(divergence)
    for colour in (0, 1):
        p = red_black(grid, variant, pressure=p, divergence=divergence, colour=colour, **given)
    return p


def solve_coarsest(
    grid: Grid, variant: Variant, *, divergence: Array, scale: float, sweeps: int, **weights: Array
) -> Array:
    """Red-black Gauss-Seidel sweeps from pressure 0 on a coarse grid."""
    if variant.solids:
        divergence = _balanced_rooms(grid, divergence, np.concatenate(list(weights.values()), -1))
    p = np.zeros_like(divergence)
    for n in range(2 * sweeps):
        p = red_black(
            grid,
            variant,
            pressure=p,
            divergence=divergence,
            scale=scale,
            omega=1.0,
            colour=n % 2,
            **weights,
        )
    return p


def _balanced_rooms(grid: Grid, divergence: Array, weights: Array) -> Array:
    """`divergence` less its mean in each room of a coarse grid that no face leads out of."""
    out = divergence.copy()
    room = np.arange(float(out.size)).reshape(out.shape[:3])
    for _ in range(out.size):
        for axis in range(3):
            joined, a = weights[..., axis] > 0.0, 2 - axis
            least = np.where(joined, np.minimum(room, _rolled(room, -1, a)), room)
            room = np.minimum(least, _rolled(np.where(joined, least, out.size), 1, a))
    inner = sum(weights[..., a] + _rolled(weights[..., a], 1, 2 - a) for a in range(3))
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
    weights_x: Array | None = None,
    weights_y: Array | None = None,
    weights_z: Array | None = None,
    weights_sum: Array | None = None,
) -> Array:
    """Half a sweep of successive over-relaxation: the cells whose x + y + z + colour is even."""
    weights = _stacked(weights_x, weights_y, weights_z, weights_sum)
    p = pressure[..., 0]
    laplacian, diagonal = pressure_operator(grid, variant, p, openings, weights)
    factor = np.full(p.shape, omega)
    for axis in range(grid.dimensions):
        n = grid.cells[axis]
        if variant.boundaries.periodic(axis) and n % 2:
            np.moveaxis(factor, 2 - axis, 0)[[0, -1]] = min(omega, 1.0)
    change = factor * (laplacian - scale * divergence[..., 0]) / np.where(diagonal > 0.0, diagonal, 1.0)
    p = np.where(_of_colour(colour, *p.shape), p + change, p)
    return np.where(diagonal > 0.0, p, 0.0)[..., None]


def residual(
    grid: Grid,
    variant: Variant,
    *,
    pressure: Array,
    divergence: Array,
    scale: float,
    openings: Array | None = None,
    weights_x: Array | None = None,
    weights_y: Array | None = None,
    weights_z: Array | None = None,
    weights_sum: Array | None = None,
) -> Array:
    """What the pressure leaves of its equation."""
    weights = _stacked(weights_x, weights_y, weights_z, weights_sum)
    laplacian, diagonal = pressure_operator(grid, variant, pressure[..., 0], openings, weights)
    return np.where(diagonal > 0.0, scale * divergence[..., 0] - laplacian, 0.0)[..., None]


def _sum_pairs(fine: Array, axis: int) -> Array:
    """Sums over pairs of neighbours along array `axis`; a last one without a partner stands alone."""
    return np.asarray(np.add.reduceat(fine, np.arange(0, fine.shape[axis], 2), axis))


def _sum_of_eight(fine: Array) -> Array:
    """Sums of [z, y, x, 1] over the cells that one of the next coarser grid stands for."""
    for axis in range(3):
        fine = _sum_pairs(fine, axis)
    return fine


def _stood_for(grid: Grid, joined: Array | None) -> NDArray[np.bool_]:
    """Whether the coarse cell over each cell of `grid` stands for it; joined: bits of the coarse ones."""
    nx, ny, nz = grid.cells
    if joined is None:
        return np.ones((nz, ny, nx), bool)
    z, y, x = np.indices((nz, ny, nx))
    bits = joined[..., 0].astype(int)[z // 2, y // 2, x // 2]
    return np.asarray((bits >> (x % 2 + 2 * (y % 2) + 4 * (z % 2)) & 1) > 0)


def restrict(grid: Grid, variant: Variant, *, joined: Array | None = None, **given: Any) -> Array:
    """The residual, summed over the cells that one of the next coarser grid stands for."""
    return _sum_of_eight(residual(grid, variant, **given) * _stood_for(grid, joined)[..., None])


def _finer(finest: tuple[int, int, int], stride: int) -> Grid:
    """The grid whose cells are half of `stride` cells of the finest wide."""
    nx, ny, nz = (-(-n // (stride // 2)) for n in finest)
    return Grid((nx, ny, nz))


def join_cells(
    grid: Grid,
    variant: Variant,
    *,
    finest: tuple[int, int, int],
    stride: int,
    openings: Array | None = None,
    fine_weights_x: Array | None = None,
    fine_weights_y: Array | None = None,
    fine_weights_z: Array | None = None,
    fine_weights_sum: Array | None = None,
) -> Array:
    """Bits of the finer cells that each cell stands for: of those joined in it and round it the most."""
    weights = _stacked(fine_weights_x, fine_weights_y, fine_weights_z, fine_weights_sum)
    if weights is None:
        masks = _open_masks(_finer(finest, stride), variant, openings)
        fluid: NDArray[np.bool_] = np.any(masks, axis=0)
        ways = [masks[2 * axis] for axis in range(3)]
    else:
        fluid, ways = weights[..., 3] > 0.0, [weights[..., axis] > 0.0 for axis in range(3)]
    fluid, ways = _rounds(fluid), [_rounds(way) for way in ways]
    # its own finer cells first, in the order x + 2 y + 4 z, then those round them; 64: none
    number = np.full((4, 4, 4), 8)
    number[1:3, 1:3, 1:3] = np.arange(8).reshape(2, 2, 2)
    number[number == 8] = np.arange(8, 64)
    part = np.where(fluid, number, 64)
    before = np.zeros_like(part)
    while (before != part).any():
        before = part.copy()
        for axis, way in enumerate(ways):
            lines = np.moveaxis(part, 5 - axis, 0)
            met = np.moveaxis(way & fluid, 5 - axis, 0)[1:] & np.moveaxis(fluid, 5 - axis, 0)[:-1]
            least = np.where(met, np.minimum(lines[1:], lines[:-1]), 64)
            lines[1:] = np.minimum(lines[1:], least)
            lines[:-1] = np.minimum(lines[:-1], least)
    own = (slice(None), slice(None), slice(None), slice(1, 3), slice(1, 3), slice(1, 3))
    part = part[own].reshape(*grid.cells[::-1], 8)
    sizes = (part[..., None, :] == np.arange(8)[:, None]).sum(-1)
    chosen = (part < 64) & (part == sizes.argmax(-1)[..., None])
    return np.asarray(chosen @ 2.0 ** np.arange(8))[..., None]


def _rounds(values: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Of each coarse cell the values of the 4 x 4 x 4 finer ones in it and round it; False past the sides."""
    counts = [-(-n // 2) for n in values.shape]
    padded = np.pad(values, [(1, 2 * count - n + 1) for n, count in zip(values.shape, counts, strict=True)])
    z, y, x = (2 * np.arange(count)[:, None] + np.arange(4) for count in counts)
    return np.asarray(
        padded[
            z[:, None, None, :, None, None], y[None, :, None, None, :, None], x[None, None, :, None, None, :]
        ]
    )


def _widths(finest: int, stride: int) -> Array:
    """Widths of the cells of a row, in finest cells: `stride`, but for the last."""
    return np.minimum(stride, finest - stride * np.arange(-(-finest // stride))).astype(float)


def _distances(finest: int, stride: int) -> tuple[Array, tuple[float, float]]:
    """Return how far the centres of coarse cells lie apart, in finest cells.

    From each cell to the one before it (for the first round the box); and from the first and from the last
    to the centre of the finest cell beyond the side.
    """
    widths = _widths(finest, stride)
    return 0.5 * (widths + np.roll(widths, 1)), (0.5 * (widths[0] + 1.0), 0.5 * (widths[-1] + 1.0))


def coarse_weights(
    grid: Grid,
    variant: Variant,
    *,
    finest: tuple[int, int, int],
    stride: int,
    joined: Array | None = None,
    openings: Array | None = None,
    fine_weights_x: Array | None = None,
    fine_weights_y: Array | None = None,
    fine_weights_z: Array | None = None,
    fine_weights_sum: Array | None = None,
) -> Array:
    """Area over distance of the low faces of coarse cells along x, y and z, and the sum over all six."""
    fine_weights = _stacked(fine_weights_x, fine_weights_y, fine_weights_z, fine_weights_sum)
    finer, narrow = _finer(finest, stride), stride // 2
    kept = _stood_for(finer, joined)
    nx, ny, nz = grid.cells
    out = np.zeros((nz, ny, nx, 4))
    sides = variant.boundaries
    beyond = np.zeros(
        kept.shape
    )  # weight of the open sides of the box, and of faces to what nothing stands for
    if fine_weights is not None:
        inner = sum(
            fine_weights[..., axis] + _rolled(fine_weights[..., axis], 1, 2 - axis) for axis in range(3)
        )
        beyond = fine_weights[..., 3] - inner
        beyond[beyond <= 1e-5 * fine_weights[..., 3]] = 0.0
    else:
        masks = _open_masks(finer, variant, openings)
    lost = np.zeros(kept.shape)
    shrink = np.full(kept.shape, (narrow + 1.0) / (stride + 1.0))
    for axis in range(grid.dimensions):
        a, n = 2 - axis, finer.cells[axis]
        near, fine_beyond = _distances(finest[axis], narrow)
        far, coarse_beyond = _distances(finest[axis], stride)
        line = [1, 1, 1]
        line[a] = -1
        place = np.indices(kept.shape)[a]
        for high in (False, True):
            if sides.open(axis, high):
                here = place == (n - 1 if high else 0)
                shrink = np.where(here, fine_beyond[high] / coarse_beyond[high], shrink)
                if fine_weights is None:
                    beyond += here * masks[2 * axis + high] / coarse_beyond[high]
        if fine_weights is not None:
            area = fine_weights[..., axis] * near.reshape(line)
        else:
            area = masks[2 * axis].astype(float)
            if not sides.periodic(axis):
                area[place == 0] = 0.0
        if grid.cells[axis] == 1:
            continue
        before = kept.take(np.arange(n) - 1, a, mode="wrap")
        width, coarse_width = (_widths(finest[axis], s) for s in (narrow, stride))
        over = coarse_width.repeat(2)[:n]  # the width of the coarse cell over each
        own = area * (kept & ~before) / (0.5 * (over + np.roll(width, 1))).reshape(line)
        others = area * (before & ~kept) / (0.5 * (np.roll(over, 1) + width)).reshape(line)
        lost += own + _rolled(others, 1, a)
        area = np.take(area * (kept & before), np.arange(0, n, 2), a)
        for b in {0, 1, 2} - {a}:
            area = _sum_pairs(area, b)
        out[..., axis] = area / far.reshape(line)
    if fine_weights is not None:
        beyond *= shrink
    whole = np.where(kept, beyond + lost, 0.0)
    for a in range(3):
        whole = _sum_pairs(whole, a)
    out[..., 3] = whole + sum(out[..., a] + _rolled(out[..., a], 1, 2 - a) for a in range(3))
    return out


def prolong(
    grid: Grid,
    variant: Variant,
    *,
    pressure: Array,
    correction: Array,
    reach: float,
    joined: Array | None = None,
    openings: Array | None = None,
    weights_x: Array | None = None,
    weights_y: Array | None = None,
    weights_z: Array | None = None,
    weights_sum: Array | None = None,
) -> Array:
    """The pressure with the coarser grid's correction, linear between cells that see each other."""
    kept = _stood_for(grid, joined)
    weights = _stacked(weights_x, weights_y, weights_z, weights_sum)
    coarse, sides = correction[..., 0], variant.boundaries
    index = [np.arange(n) // 2 for n in grid.cells[::-1]]
    own = coarse[np.ix_(*index)]
    change = own.copy()
    diagonal = pressure_operator(grid, variant, own, openings, weights)[1]
    masks = None if weights is not None else _open_masks(grid, variant, openings)
    for axis in range(grid.dimensions):
        a, n, m = 2 - axis, grid.cells[axis], coarse.shape[2 - axis]
        line = [1, 1, 1]
        line[a] = -1
        i = np.arange(n)
        up = i % 2 == 1
        at = i // 2 + np.where(up, 1, -1)
        low, high = (at < 0) & sides.open(axis, False), (at >= m) & sides.open(axis, True)
        at = at % m if sides.periodic(axis) else np.clip(at, 0, m - 1)
        beside = coarse[np.ix_(*(at if b == a else index[b] for b in range(3)))]
        out = (low | high).reshape(line)
        beside = np.where(out, 0.0, beside)
        share = np.where(low | high, reach, 0.25)
        share[(i == n - 1) & ~up] = 0.0  # a cell that is a coarse one by itself
        if weights is not None:
            faces = weights[..., axis]
            open_ = np.where(up.reshape(line), np.roll(faces, -1, a), faces) > 0.0
        else:
            assert masks is not None
            open_ = np.where(up.reshape(line), masks[2 * axis + 1], masks[2 * axis])
        open_ = open_ & kept.take((i + np.where(up, 1, -1)) % n, a)
        change += np.where(open_ | out, share.reshape(line) * (beside - own), 0.0)
    return np.where(diagonal > 0.0, pressure[..., 0] + change * kept, 0.0)[..., None]


# the same with the two colours of a chess-board apart


def halve(grid: Grid, variant: Variant, *, divergence: Array, pressure: Array, scale: float) -> Array:
    """Red right sides, black right sides, and the black pressures, side by side."""
    right = scale * divergence
    return np.concatenate([half(grid, right, 0), half(grid, right, 1), half(grid, pressure, 1)], -1)


def half(grid: Grid, values: Array, colour: int) -> Array:
    """The cells whose x + y + z + colour is even, every second one of a row."""
    out = np.zeros((2, *half_shape(grid)))
    for first in range(2):
        own = values[:, :, first::2]
        out[first, :, :, : own.shape[2]] = own
    return np.asarray(np.where(_of_colour(colour, *values.shape[:2])[..., None, None], *out))


def half_shape(grid: Grid) -> tuple[int, int, int, int]:
    """The shape of the values of one colour, lanes past the rows with them."""
    nx, ny, nz = grid.cells
    return nz, ny, LANES * -(-nx // (2 * LANES)), 1


def _interleaved(grid: Grid, red: Array, black: Array) -> Array:
    """The values of all cells [z, y, x, 1], of those of the two colours."""
    nx = grid.cells[0]
    pairs = [own.repeat(2, axis=2)[:, :, :nx] for own in (red, black)]
    return np.asarray(np.where(_of_colour(0, *grid.cells[::-1])[..., None], *pairs))


def sum_halves(
    grid: Grid, variant: Variant, *, red: Array, black: Array, openings: Array | None = None
) -> Array:
    """Sums over the fluid of each row of cells: 0, 0, the values of both colours, and the number of cells."""
    values = _interleaved(grid, red, black)
    rows = dot_rows(grid, variant, a=values, b=values, openings=openings)
    return np.asarray(rows * [0.0, 0.0, 1.0, 1.0])


def join_halves(
    grid: Grid,
    variant: Variant,
    *,
    red: Array,
    black: Array,
    wholes: Array,
    share: float,
    openings: Array | None = None,
) -> Array:
    """The values of all cells, of those of the two colours, less a share of their mean over the fluid."""
    values, scaled = _interleaved(grid, red, black), wholes * [1.0, 1.0, share, 1.0]
    return balance(grid, variant, values=values, wholes=scaled, openings=openings)


def _joined(grid: Grid, colour: int, own: Array, other: Array) -> Array:
    red, black = (own, other) if colour == 0 else (other, own)
    return _interleaved(grid, red, black)


def relax_half(
    grid: Grid,
    variant: Variant,
    *,
    other: Array,
    right: Array,
    colour: int,
    openings: Array | None = None,
) -> Array:
    """Half a sweep of Gauss-Seidel over one colour."""
    nothing = np.zeros_like(other)
    relaxed = red_black(
        grid,
        variant,
        pressure=_joined(grid, colour, nothing, other),
        divergence=_joined(grid, colour, right, nothing),
        scale=1.0,
        omega=1.0,
        colour=colour,
        openings=openings,
    )
    return half(grid, relaxed, colour)


def restrict_half(
    grid: Grid,
    variant: Variant,
    *,
    own: Array,
    other: Array,
    right: Array,
    colour: int,
    joined: Array | None = None,
    openings: Array | None = None,
) -> Array:
    """What cells of one colour leave of their equation, summed over those that a coarser cell stands for."""
    pressure = _joined(grid, colour, own, other)
    divergence = _joined(grid, colour, right, np.zeros_like(right))
    left = residual(grid, variant, pressure=pressure, divergence=divergence, scale=1.0, openings=openings)
    has_colour = _of_colour(colour, *left.shape[:3]) & _stood_for(grid, joined)
    return _sum_of_eight(left * has_colour[..., None])


def prolong_half(
    grid: Grid,
    variant: Variant,
    *,
    own: Array,
    correction: Array,
    colour: int,
    reach: float,
    joined: Array | None = None,
    openings: Array | None = None,
) -> Array:
    """The pressure of one colour with the coarser grid's correction."""
    whole = prolong(
        grid,
        variant,
        pressure=_joined(grid, colour, own, np.zeros_like(own)),
        correction=correction,
        reach=reach,
        joined=joined,
        openings=openings,
    )
    return half(grid, whole, colour)


def add_scaled(
    grid: Grid, variant: Variant, *, values: Array, other: Array, own: float, factor: float
) -> Array:
    """Return own * values + factor * other."""
    return np.asarray(own * values + factor * other)


def dot_rows(grid: Grid, variant: Variant, *, a: Array, b: Array, openings: Array | None = None) -> Array:
    """Sums over the fluid of each row of cells: a * b, a * a, a, and the number of cells."""
    fluid = np.ones(a.shape[:3])
    if variant.solids and openings is not None:
        fluid = (_open_bits(grid, openings) != 0).astype(float)
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
        out = np.where(_open_bits(grid, openings) != 0, out, 0.0)
    return np.asarray(out)[..., None]


# -- solids --------------------------------------------------------------------------------------------


Complex = NDArray[np.complex128]


def _complex(transform: Array) -> Complex:
    """The values of each row two by two as complex numbers."""
    numbers: Complex = transform[..., 0::2, 0] + 1.0j * transform[..., 1::2, 0]
    return numbers


def _two_by_two(numbers: Complex) -> Array:
    """The inverse of `_complex`."""
    nz, ny, half_row = numbers.shape
    return np.stack([numbers.real, numbers.imag], -1).reshape((nz, ny, 2 * half_row, 1))


def _fourier_pass(numbers: Complex, roots: Array, done: int, bits: int, direction: float) -> Complex:
    """One pass along the last axis: transforms of length 2^done become such of length 2^(done + bits)."""
    count, radix, wide = numbers.shape[-1], 1 << bits, 1 << (done + bits)
    n = np.arange(count)
    start = n // wide * (wide // radix) + n % (wide // radix)
    turn = roots[:, 0, 0, 0] + 1.0j * direction * roots[:, 0, 0, 1]
    out = np.zeros_like(numbers)
    for r in range(radix):
        angle = r * (n % wide) % wide * (len(turn) // wide)
        out += turn[angle] * numbers[..., start + r * (count // radix)]
    return out


def fft_load(grid: Grid, variant: Variant, *, divergence: Array, scale: float) -> Array:
    """What the transform starts from."""
    return np.pad(scale * divergence, ((0, 0), (0, 0), (0, grid.cells[0] % 2), (0, 0)))


def fft_rows(
    grid: Grid, variant: Variant, *, transform: Array, roots: Array, done: int, bits: int, direction: float
) -> Array:
    """One pass along x."""
    numbers = _complex(transform)
    return _two_by_two(_fourier_pass(numbers, roots, done, bits, direction))


def fft_lines(
    grid: Grid,
    variant: Variant,
    *,
    transform: Array,
    roots: Array,
    axis: int,
    done: int,
    bits: int,
    direction: float,
) -> Array:
    """One pass along y or z."""
    numbers = np.moveaxis(_complex(transform), 2 - axis, -1)
    passed = _fourier_pass(numbers, roots, done, bits, direction)
    return _two_by_two(np.moveaxis(passed, -1, 2 - axis))


def fft_divide(grid: Grid, variant: Variant, *, transform: Array, roots: Array) -> Array:
    """The transform of the pressure from that of its Laplacian; its mean is 0."""
    numbers = _complex(transform)
    waves = [roots[:: len(roots) // n, 0, 0] for n in grid.cells]
    x, y, z = (wave[:, 2] for wave in waves)
    symbol = x + y[:, None] + z[:, None, None]
    over = np.divide(-1.0 / numbers.size, symbol, out=np.zeros_like(symbol), where=symbol > 0.0)
    # the transforms of the even and of the odd cells, both real, from that of even + i * odd; in rows of one
    # cell low and high are the same wave
    other = np.conj(np.roll(numbers[::-1, ::-1, ::-1], (1, 1, 1), (0, 1, 2)))
    even, odd = (numbers + other) / 2.0, (numbers - other) / 2.0j
    turn = (waves[0][:, 0] + 1.0j * waves[0][:, 1])[: numbers.shape[-1]]
    low, high = np.split(over * np.concatenate([even + turn * odd, even - turn * odd], -1), 2, -1)
    return _two_by_two((low + high) / 2.0 + 1.0j * (low - high) / 2.0 * np.conj(turn))


def fft_store(grid: Grid, variant: Variant, *, transform: Array) -> Array:
    """The pressure out of the transform."""
    return transform[:, :, : grid.cells[0]].copy()


def _places(grid: Grid) -> Array:
    """Cell centres, m from the low corner, and 1: [nz, ny, nx, 4]."""
    return np.stack([*(c * grid.cell_size for c in _centers(grid)), np.ones(grid.cells[::-1])], -1)


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
    winding: Array,
    drift: Array,
    shape: int,
    to_local: Array,
    extent: tuple[float, ...],
    rounding: float,
    mean_drift: tuple[float, ...],
) -> Array:
    """The solids, with the velocity of a mesh whose vertices move."""
    inside = _inside(grid, winding, shape, to_local, extent, rounding)
    out = solid_velocity.copy()
    added = np.where(drift[..., 3:] > 0.5, drift[..., :3], mean_drift)
    out[..., :3] += np.where(inside[..., None], added, 0.0)
    return out


def mark_obstacle(
    grid: Grid,
    variant: Variant,
    *,
    marks: Array,
    winding: Array,
    shape: int,
    to_local: Array,
    extent: tuple[float, ...],
    rounding: float,
    mark: tuple[float, ...],
) -> Array:
    """What the solids heat with and which are free-slip, with one obstacle more."""
    out = marks.copy()
    out[_inside(grid, winding, shape, to_local, extent, rounding)] = mark
    return out


def heat_fluid(grid: Grid, variant: Variant, *, scalars: Array, marks: Array, dt: float) -> Array:
    """The temperature of fluid beside hot or cold solids drawn to theirs."""
    both: Any = sum(
        _beside(grid, variant, axis, by, marks) for axis in range(grid.dimensions) for by in (-1, 1)
    )
    faces = np.where(both[..., 3] > 0.0, both[..., 3], 1.0)
    share = scalars[..., 3] * -np.expm1(-both[..., 1] / faces * dt) * (both[..., 3] > 0.0)
    out = scalars.copy()
    out[..., 1] += (both[..., 0] / faces - out[..., 1]) * share
    return out


def solid_normals(grid: Grid, variant: Variant, *, solid: Array) -> Array:
    """Unit normals out of the solids and 1 where there is one: Sobel's gradient of the voxels."""
    out = np.zeros((*solid.shape[:3], 4))
    for axis in range(grid.dimensions):
        growth = _beside(grid, variant, axis, 1, solid[..., 0]) - _beside(
            grid, variant, axis, -1, solid[..., 0]
        )
        for other in {0, 1, 2} - {axis}:
            growth = (
                _beside(grid, variant, other, -1, growth)
                + 2.0 * growth
                + _beside(grid, variant, other, 1, growth)
            )
        out[..., axis] = -growth
    size = np.linalg.norm(out[..., :3], axis=-1)
    out[..., 3] = size > 0.5
    out[..., :3] *= (out[..., 3] / np.where(size > 0.5, size, 1.0))[..., None]
    return out


def add_obstacle(
    grid: Grid,
    variant: Variant,
    *,
    solid_velocity: Array,
    winding: Array,
    shape: int,
    to_local: Array,
    extent: tuple[float, ...],
    rounding: float,
    motion: Array,
) -> Array:
    """The solids with one more: its velocity and 1 where a cell's centre is inside."""
    inside = _inside(grid, winding, shape, to_local, extent, rounding)
    out = solid_velocity.copy()
    out[inside] = 1.0
    out[inside, :3] = (_places(grid) @ np.asarray(motion, float).T)[inside, :3]
    return out


def cover_scalars(grid: Grid, variant: Variant, *, scalars: Array, solid: Array) -> Array:
    """The scalars with nothing left in cells that a solid has just come into."""
    return np.where(solid > 0.5, 0.0, scalars)


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
            np.minimum(*_round_faces(grid, variant, axis, values, 1.0))
            for values in (solid_velocity[..., 3], free_cells)
        )
        own = (inside > 0.5) * 64.0 + (free > 0.5) * 8.0
        for high in (False, True):
            if variant.boundaries.closed(axis, high):
                np.moveaxis(own, 2 - axis, 0)[-high] = 0.0
        z, y, x = own.shape
        bits[:z, :y, :x] += own * 2**axis
    return np.concatenate([velocity, bits[..., None]], -1)


def _shifted(grid: Grid, variant: Variant, axis: int, by: int, values: Array) -> Array:
    """`values` moved so that index i holds what was at i + by along `axis`; 0 past a side."""
    n = values.shape[2 - axis]
    at = np.arange(n) + by
    if variant.boundaries.periodic(axis):
        return np.asarray(np.take(values, at % n, axis=2 - axis))
    line = [1, 1, 1]
    line[2 - axis] = n
    inside = ((at >= 0) & (at < n)).reshape(line)
    return np.asarray(np.take(values, np.clip(at, 0, n - 1), axis=2 - axis) * inside)


def let_slip(grid: Grid, variant: Variant, *, velocity: Array, solid_faces: Array) -> Array:
    """The closed faces, those inside free-slip solids with the mean velocity of the faces round them."""
    bits, out = solid_faces[..., 3].astype(int), solid_faces.copy()
    for axis in range(grid.dimensions):
        z, y, x = _face_count(grid, axis)
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
                    beside = _shifted(grid, variant, a, by, beside)
                    counted = _shifted(grid, variant, a, by, counted)
                total, count = total + beside, count + counted
            mean = np.where((found == 0.0) & (count > 0.0), total / np.where(count > 0.0, count, 1.0), mean)
            found = found + count
        out[:z, :y, :x, axis] = np.where(own >> (3 + axis) & 1, mean, moving)
    return out


def open_neighbours(grid: Grid, variant: Variant, *, solid: Array) -> Array:
    """Six bits a cell, four cells to a number: which neighbours hold fluid."""
    fluid = solid[..., 0] < 0.5
    bits = np.zeros(fluid.shape, np.int64)
    sides = variant.boundaries
    for axis in range(grid.dimensions):
        n = grid.cells[axis]
        place = np.indices(fluid.shape)[2 - axis]
        for side, by in enumerate((-1, 1)):
            beside = _beside(grid, variant, axis, by, fluid.astype(float)) > 0.5
            past = (place + by < 0) | (place + by >= n)
            if not sides.periodic(axis):
                beside = np.where(past, sides.open(axis, bool(side)), beside)
            bits |= (fluid & beside).astype(np.int64) << (2 * axis + side)
    nx, ny, nz = grid.cells
    padded = np.zeros((nz, ny, -(-nx // LANES) * LANES), np.int64)
    padded[..., :nx] = bits
    packs = (padded.reshape(nz, ny, -1, LANES) << (6 * np.arange(LANES))).sum(-1)
    return np.asarray(packs[..., None], float)


def _inside_box(grid: Grid, place: Places) -> NDArray[np.bool_]:
    inside = np.ones(place[0].shape, bool)
    for axis in range(3):
        inside &= (place[axis] >= 0.0) & (place[axis] <= grid.cells[axis])
    return inside


def sample_velocity(grid: Grid, variant: Variant, *, velocity: Array, points: Array) -> Array:
    """Velocity at points (cells) and 1 in the box; 0 outside."""
    place = points[..., 0], points[..., 1], points[..., 2]
    parts = [sample_component(grid, variant, velocity, place, axis) for axis in range(3)]
    inside = _inside_box(grid, place)
    return np.stack([*parts, np.ones(inside.shape)], -1) * inside[..., None]


def sample_scalars(
    grid: Grid, variant: Variant, *, scalars: Array, points: Array, solid: Array | None = None
) -> Array:
    """Density, temperature and fuel at points (cells) and 1 in fluid; 0 in solids and outside the box."""
    place = points[..., 0], points[..., 1], points[..., 2]
    inside, out = _inside_box(grid, place), sample_cells(grid, variant, scalars, place).copy()
    if solid is not None:
        x, y, z = (np.clip(np.floor(p).astype(int), 0, n - 1) for p, n in zip(place, grid.cells, strict=True))
        inside &= solid[z, y, x, 0] < 0.5
    out[..., 3] = 1.0
    return np.asarray(out * inside[..., None])


def _came_from(
    grid: Grid, variant: Variant, shift: tuple[int, ...], face_axis: int | None = None
) -> tuple[list[Any], NDArray[np.bool_]]:
    """Where cells, or the faces along one axis, were before the box was scrolled, and which of them in it.

    The first is an index [z, y, x], clamped to the box.
    """
    shape = grid.cells[::-1] if face_axis is None else _face_count(grid, face_axis)
    at, inside = [], np.ones(shape, bool)
    for axis in range(3):
        n, length = grid.cells[axis], shape[2 - axis]
        index = np.arange(length) + shift[axis]
        if axis < grid.dimensions and variant.boundaries.periodic(axis):
            index %= n
        line = [1, 1, 1]
        line[2 - axis] = length
        inside &= ((index >= 0) & (index < length)).reshape(line)
        at.append(np.clip(index, 0, length - 1))
    return list(np.ix_(at[2], at[1], at[0])), inside


def scroll_velocity(
    grid: Grid,
    variant: Variant,
    *,
    velocity: Array,
    shift: tuple[int, ...],
    solid_faces: Array | None = None,
) -> Array:
    """The velocity in a box that has gone `shift` cells on; what comes in moves as the air outside does."""
    out, sides = np.zeros_like(velocity), variant.boundaries
    for axis in range(grid.dimensions):
        index, inside = _came_from(grid, variant, shift, axis)
        values = np.where(inside, _component(grid, velocity, axis)[tuple(index)], 0.0)
        left = ~inside
        for across in range(grid.dimensions):
            if sides.periodic(across):
                continue
            length = values.shape[2 - across]
            came = np.arange(length) + shift[across]
            for high, beyond in ((False, came < 0), (True, came >= length)):
                line = [1, 1, 1]
                line[2 - across] = length
                here = left & beyond.reshape(line)
                side = 2 * across + (not high if sides.open(across, high) else high)
                values = np.where(here, sides.velocity(side)[axis], values)
                left = left & ~here
        _component(grid, out, axis)[...] = values
    return _constrained(grid, variant, solid_faces, out)


def scroll_scalars(
    grid: Grid, variant: Variant, *, scalars: Array, shift: tuple[int, ...], ambient: float
) -> Array:
    """The scalars in a box that has gone `shift` cells on; what comes in is what the sides bring."""
    index, inside = _came_from(grid, variant, shift)
    x, y, z = _centers(grid)
    place = x + shift[0], y + shift[1], z + shift[2]
    rest = np.broadcast_to(np.array([0.0, ambient, 0.0, 1.0]), (*x.shape, 4))
    fresh, _ = _with_entering(grid, variant, place, ambient, rest)
    return np.asarray(np.where(inside[..., None], scalars[tuple(index)], fresh))


def scroll_flame(grid: Grid, variant: Variant, *, flame: Array, shift: tuple[int, ...]) -> Array:
    """What burnt, in a box that has gone `shift` cells on; nothing burns in what comes in."""
    index, inside = _came_from(grid, variant, shift)
    return np.asarray(np.where(inside[..., None], flame[tuple(index)], 0.0))


def scroll_pressure(grid: Grid, variant: Variant, *, pressure: Array, shift: tuple[int, ...]) -> Array:
    """The pressure in a box that has gone `shift` cells on; in what comes in 0, as beyond an open side.

    From an inflow it is that of the nearest cell.
    """
    index, _ = _came_from(grid, variant, shift)
    out: Array = pressure[tuple(index)].copy()
    for axis in range(grid.dimensions):
        came = np.arange(grid.cells[axis]) + shift[axis]
        for high, beyond in ((False, came < 0), (True, came >= grid.cells[axis])):
            if variant.boundaries.open(axis, high):
                np.moveaxis(out, 2 - axis, 0)[beyond] = 0.0
    return out


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
