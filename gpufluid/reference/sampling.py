"""Values between cells and faces, and where a trace through the fluid comes from."""

from __future__ import annotations

from functools import reduce
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpufluid.contract.kernels import PATH, Variant
from gpufluid.description.grid import Grid
from gpufluid.reference.arrays import Array, Places, centers_of, face_count, on_faces, periods_of

SOLID_FLOOR = 0.05  # share of fluid round a sample, as in cell_sample.glsl
WAS_FLUID = 0.2  # share above which a cell was fluid that a solid has come into
NOW, EITHER, THEN = range(3)  # by which solids a path goes, as in was_fluid.glsl
REACH = 4.0  # of a limiter, as in within_reach.glsl


def trilinear(
    values: Array, place: Places, periods: tuple[int, ...] = (0, 0, 0)
) -> tuple[Array, list[Array], list[Array]]:
    """Trilinear `values` [z, y, x, ...] at `place` (x, y, z, from 0); the eight round it, and shares.

    periods: cells after which the values repeat along (x, y, z), 0 where they do not.
    """
    share, stride = [], 1
    at: list[tuple[int, Any]] = [(0, 0)]  # of each of the eight: where its values begin, and the index there
    for axis in range(3):
        n, period = values.shape[2 - axis], periods[axis]
        q = place[axis] % period if period else np.minimum(np.maximum(place[axis], 0), n - 1)
        low = np.floor(q) if period else np.minimum(np.floor(q), max(n - 2, 0))
        share.append(q - low)
        first = low.astype(int)
        if period:
            ends = [(0, stride * (first % period)), (0, stride * ((first + 1) % period))]
        else:  # the next one lies as far on in all places: the same index, among values that begin there
            ends = [(0, stride * first), (stride * min(n - 1, 1), stride * first)]
        at = [(begin + start, index + along) for start, along in ends for begin, index in at]
        stride *= n
    flat = values.reshape(stride, *values.shape[3:])  # one index finds a value sooner than three
    # what is no number has no index: it takes any value, with a share that is none either
    taken = [flat[begin:].take(index, axis=0, mode="clip") for begin, index in at]
    mixed = taken
    for part in share:
        part = part[..., None] if values.ndim > 3 else part
        mixed = [low + part * (high - low) for low, high in zip(mixed[::2], mixed[1::2], strict=True)]
    return mixed[0], taken, share


def _of_eight(ends: list[tuple[Array, Array]]) -> list[Array]:
    """The product for each of the eight round a place, of one of the two `ends` of each axis."""
    square = [x * y for y in ends[1] for x in ends[0]]
    return [xy * z for z in ends[2] for xy in square]


def _walls_beside(grid: Grid, variant: Variant, place: Places, axis: int) -> list[tuple[int, Array, float]]:
    """For each no-slip wall across from `axis`: its axis, distance (cells), and its velocity component."""
    beside = []
    for side in range(2 * grid.dimensions):
        sides, across = variant.boundaries, side // 2
        if across != axis and sides.grips(side):
            p = place[across]
            distance = p if side % 2 == 0 else grid.cells[across] - p
            beside.append((across, distance, sides.velocity(side)[axis]))
    return beside


def _reached(share: list[Array]) -> list[Array]:
    """How far a limiter goes from a sample towards each of the eight values round its place.

    All the way, but for values that next to nothing of the sample is made of: rounding decides on which side
    of a value a place beside it lies.
    """
    return _of_eight(
        [(np.minimum(REACH * (1.0 - part), 1.0), np.minimum(REACH * part, 1.0)) for part in share]
    )


def _round_component(
    grid: Grid, variant: Variant, velocity: Array, place: Places, axis: int
) -> tuple[Array, list[Array], list[Array]]:
    """Velocity component `axis` at `place` (cells), as if no wall were near, the eight round it, shares."""
    z, y, x = face_count(grid, axis)
    q = tuple(place[a] - (0.0 if a == axis else 0.5) for a in range(3))
    return trilinear(velocity[:z, :y, :x, axis], (q[0], q[1], q[2]), periods_of(grid, variant))


def _slowed(value: Array, walls: list[tuple[int, Array, float]]) -> Array:
    """`value`, of the fluid alone, as the no-slip `walls` beside it leave it.

    Along an edge the mean of one wall behind the other and the reverse: there neither goes before the other,
    which is of no account where all are at rest.
    """
    kept = [(across, np.clip(2.0 * distance, 0.0, 1.0), wall) for across, distance, wall in walls]
    behind = []
    for axes in ((0, 1, 2), (2, 1, 0)) if any(wall for _, _, wall in walls) else ((0, 1, 2),):
        slowed = value
        for _, share, wall in sorted(kept, key=lambda each: axes[each[0]]):
            slowed = wall + (slowed - wall) * share if wall else slowed * share
        behind.append(slowed)
    return np.asarray(0.5 * (behind[0] + behind[-1]))


def sample_component(grid: Grid, variant: Variant, velocity: Array, place: Places, axis: int) -> Array:
    """Velocity component `axis` at `place` (cells)."""
    if axis == 2 and grid.dimensions == 2:
        return np.zeros_like(place[0])
    value, _, _ = _round_component(grid, variant, velocity, place, axis)
    return _slowed(value, _walls_beside(grid, variant, place, axis))


def bounded_component(
    grid: Grid, variant: Variant, velocity: Array, place: Places, axis: int
) -> tuple[Array, Array, Array]:
    """The same as `sample_component`, and the least and the most that a limiter allows in its place."""
    inside, taken, share = _round_component(grid, variant, velocity, place, axis)
    walls = _walls_beside(grid, variant, place, axis)
    value = _slowed(inside, walls)
    allowed = [value + part * (each - value) for part, each in zip(_reached(share), taken, strict=True)]
    for _, distance, wall in walls:
        allowed.append(value + np.clip(REACH * (1.0 - 2.0 * distance), 0.0, 1.0) * (wall - value))
    return value, reduce(np.minimum, allowed), reduce(np.maximum, allowed)


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
    values = on_faces(grid, velocity, axis)
    q = tuple(place[a] - (0.0 if a == axis else 0.5) for a in range(3))
    value, index = _tricubic(values, (q[0], q[1], q[2]), periods_of(grid, variant), grid.dimensions)
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
    """Where one of the `flags` [z, y, x] that a cubic reads, of four indices on each axis, is set."""
    found = np.zeros(index[0].shape[1:], bool)
    for place in product(range(4), repeat=3):
        if sum(n in (0, 3) for n in place) <= 1:
            x, y, z = (at[n] for at, n in zip(index, place, strict=True))
            found |= flags[z, y, x]
    return found


def _round_cells(
    grid: Grid, variant: Variant, values: Array, place: Places, counts: Array | float
) -> tuple[Array, Array, Array, Any, list[Array]]:
    """Cell values at `place`, the eight round it [8, ...], their weights, which of them count, and shares.

    counts: the share of fluid above which a cell does.
    """
    shifted = place[0] - 0.5, place[1] - 0.5, place[2] - 0.5
    mean, corners, share = trilinear(values, shifted, periods_of(grid, variant))
    taken, weights = np.stack(corners), _of_eight([(1.0 - part, part) for part in share])
    seen: Any = True
    if variant.solids:
        seen = _reachable(taken[..., 3] > counts, [part >= 0.5 for part in share])[..., None]
    if variant.covered:  # what a solid has come into holds a share of what was there
        taken = taken / np.where(taken[..., 3:] > 0.0, taken[..., 3:], 1.0)
    return mean, taken, np.stack(weights)[..., None], seen, share


def sample_cells(
    grid: Grid, variant: Variant, values: Array, place: Places, counts: Array | float = 0.5
) -> Array:
    """Cell values [z, y, x, 4] at `place` (cells) over the fluid alone. counts: see `_round_cells`."""
    if not variant.solids:
        return trilinear(values, (place[0] - 0.5, place[1] - 0.5, place[2] - 0.5), periods_of(grid, variant))[
            0
        ]
    mean, taken, weights, seen, _ = _round_cells(grid, variant, values, place, counts)
    if variant.sampler == "exact" or any(periods_of(grid, variant)):
        mean = (seen * weights * taken).sum(0)
    return mean / np.maximum(mean[..., 3:], SOLID_FLOOR)


def cell_bounds(
    grid: Grid, variant: Variant, values: Array, place: Places, plain: Array, counts: Array | float = 0.5
) -> tuple[Array, Array]:
    """The least and the most that a limiter allows in place of `plain`, the sample at `place`."""
    _, taken, _, seen, share = _round_cells(grid, variant, values, place, counts)
    allowed = plain + np.stack(_reached(share))[..., None] * (taken - plain)
    low, high = np.where(seen, allowed, np.inf), np.where(seen, allowed, -np.inf)
    corners = 2**grid.dimensions  # the others are the same values again
    return low[:corners].min(0), high[:corners].max(0)


def cubic_cells(
    grid: Grid, variant: Variant, values: Array, place: Places, counts: Array | float = 0.5
) -> Array:
    """Cell values [z, y, x, 4] at `place` (cells), monotone cubic; trilinear over the fluid beside solids."""
    shifted = place[0] - 0.5, place[1] - 0.5, place[2] - 0.5
    value, index = _tricubic(values, shifted, periods_of(grid, variant), grid.dimensions)
    if not variant.solids:
        return value
    beside = _any_of(values[..., 3] < 0.5, index)[..., None]
    return np.where(beside, sample_cells(grid, variant, values, place, counts), value)


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

    Axis by axis, x first; the indices are [axis][four]. periods: as in `trilinear`. Only what is between the
    middle two rows and slices is cubic along the axes before. Those beyond, which slopes are taken from, are
    linear there (Ritchie et al. 1995) and bend as their neighbours do, or a sample would be of second order.
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

    def linear(axis: int, corner: tuple[Any, ...]) -> Array:
        if axis < 0:
            return np.asarray(values[corner])
        low = linear(axis - 1, (*corner, index[axis][1]))
        if axis >= dimensions:
            return low
        return np.asarray(low + share[axis] * (linear(axis - 1, (*corner, index[axis][2])) - low))

    def cubic(axis: int, corner: tuple[Any, ...]) -> Array:
        if axis < 0:
            return np.asarray(values[corner])
        before, low, high, after = ((*corner, i) for i in index[axis])
        if axis >= dimensions:
            return cubic(axis - 1, low)
        bent = [cubic(axis - 1, inner) for inner in (low, high)]
        ends = [
            linear(axis - 1, outer) + own - linear(axis - 1, inner)
            for outer, inner, own in zip((before, after), (low, high), bent, strict=True)
        ]
        return monotone_cubic([ends[0], *bent, ends[1]], share[axis], *slopes[axis])

    return cubic(2, ()), index


def clipped(
    grid: Grid,
    variant: Variant,
    solid: Array | None,
    start: Places,
    end: Places,
    back_in: tuple[Array, NDArray[np.int_]] | None = None,
) -> Places:
    """`end`, or the last place before a solid or the first beyond a side on the way from `start` (cells).

    Walks from cell to cell (Amanatides & Woo 1987). back_in: the scalars, which tell where solids were, and
    by which solids each path goes, as in was_fluid.glsl; that is written.
    """
    if not variant.solids or solid is None:
        return end
    begin = np.stack(start)
    way = np.stack(end) - begin
    back = way < 0.0
    scalars, looks = (None, None) if back_in is None else back_in
    cell = np.where(back, np.ceil(begin) - 1, np.floor(begin)).astype(int)
    inverse = 1.0 / np.maximum(np.abs(way), 1e-20)
    following = np.abs(np.where(back, begin - cell, cell + 1 - begin)) * inverse
    stop = np.ones(way.shape[1:])
    walking, cut = np.ones(way.shape[1:], bool), np.zeros(way.shape[1:], bool)
    count = np.array(grid.cells).reshape(3, 1, 1, 1)
    periods = np.array(periods_of(grid, variant)).reshape(3, 1, 1, 1)
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
        hit = solid[z, y, x, 0] > 0.5
        if scalars is not None and looks is not None:
            now, then = hit, scalars[z, y, x, 3] < WAS_FLUID
            first = walking & inside & (now != then) & (looks == EITHER)
            hit = np.where(looks == NOW, now, then & ~first)
            looks[first] = np.where(now[first], THEN, NOW)
        hit = walking & inside & hit
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
    back_in: tuple[Array, NDArray[np.int_]] | None = None,
) -> Places:
    """Where what is at `start` with velocity `u` was `dt` seconds ago (cells).

    Never in a solid, but perhaps beyond a side. back_in: as in `clipped`.
    """
    reach = dt / grid.cell_size

    def back(amount: float, by: Places) -> Places:
        x, y, z = (start[a] - amount * by[a] for a in range(3))
        return x, y, z

    if variant.trace == "rk2":
        middle = back(0.5 * reach, u)
        u = tuple(sample_component(grid, variant, velocity, middle, a) for a in range(3))  # type: ignore[assignment]
    return clipped(grid, variant, solid, start, back(reach, u), back_in)


def face_velocity(grid: Grid, variant: Variant, velocity: Array, axis: int) -> Places:
    """The whole velocity at the faces along `axis`: the mean of the four nearest for the others."""
    place, periods, n = centers_of(grid, axis), periods_of(grid, variant), grid.cells[axis]
    faces = np.arange(n + 1)
    low, high = np.maximum(faces - 1, 0), np.minimum(faces, n - 1)  # the cells beside each
    if periods[axis]:
        low, high = (faces - 1) % n, faces % n
    parts = [np.zeros(place[0].shape)] * 3
    for component in range(grid.dimensions):
        values = on_faces(grid, velocity, component)
        if component == axis:
            values = values.take(high, 2 - axis) if periods[axis] else values
        else:
            count = grid.cells[component]
            ends = np.arange(count), np.arange(1, count + 1) % (periods[component] or count + 1)
            centers = values.take(ends[0], 2 - component) + values.take(ends[1], 2 - component)
            values = 0.25 * (centers.take(low, 2 - axis) + centers.take(high, 2 - axis))
        parts[component] = _slowed(values, _walls_beside(grid, variant, place, component))
    return parts[0], parts[1], parts[2]


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
