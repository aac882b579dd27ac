"""Every kernel in NumPy, float64: what the GLSL is held to, and what the NumPy backend runs.

A function has the name, the fields and the parameters of its kernel and returns the values written.
Fields are arrays [z, y, x, c]: cells [nz, ny, nx, 4]; faces [nz + 1, ny + 1, nx + 1, 4] (one slice in
2D), component i on the low face along axis i; packed [nz, ny, nx, 1]. Places are in cells from the low
corner of the box. The numbers come from the papers named in the GLSL files.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpufluid.grid import Grid
from gpufluid.kernels import EMITTER_ROWS, Variant
from gpufluid.layout import BLOCK, LANES
from gpufluid.shapes import MESH
from gpufluid.user_forces import VORTEX, WIND
from gpufluid.voxels import beyond_squared

Array = NDArray[np.float64]

CONFINEMENT_FLOOR = 1e-5  # 1/s, as in confinement.glsl
SOLID_FLOOR = 0.05  # share of fluid round a sample, as in cell_sample.glsl


def _shift(axis: int, by: int, values: Array) -> Array:
    """`values` moved so that index i holds what was at i + by along `axis` (0 x, 1 y, 2 z); edges repeat."""
    n = values.shape[2 - axis]
    return np.take(values, np.clip(np.arange(n) + by, 0, n - 1), axis=2 - axis)


def _cells(grid: Grid, faces: Array) -> Array:
    """The values of faces that are low faces of a cell: [nz, ny, nx, c]."""
    nx, ny, nz = grid.cells
    return faces[:nz, :ny, :nx]


def _high(grid: Grid, faces: Array, axis: int, component: int) -> Array:
    """Velocity `component` stored one step up along `axis`: [nz, ny, nx]."""
    nx, ny, nz = grid.cells
    x, y, z = (int(axis == a) for a in range(3))
    return faces[z : nz + z, y : ny + y, x : nx + x, component]


def _on_faces(grid: Grid, values: Array) -> Array:
    """`values` of the cells [nz, ny, nx, 4] in an array of faces, zero past the last cell."""
    nx, ny, nz = grid.cells
    deep = nz + 1 if grid.dimensions == 3 else 1
    faces = np.zeros((deep, ny + 1, nx + 1, 4))
    faces[:nz, :ny, :nx] = values
    return faces


def closed_faces(grid: Grid, variant: Variant, solid_faces: Array | None) -> tuple[NDArray[np.bool_], Array]:
    """Return which faces are closed, [z, y, x, 3], and the velocity of what closes them."""
    nx, ny, nz = grid.cells
    if variant.solids and solid_faces is not None:
        bits = solid_faces[..., 3].astype(int)
        return np.stack([(bits >> axis & 1) > 0 for axis in range(3)], -1), solid_faces[..., :3]
    shape = _on_faces(grid, np.zeros((nz, ny, nx, 4))).shape[:3]
    closed = np.ones((*shape, 3), bool)
    closed[:nz, :ny, :nx] = False
    closed[0, ..., 2] = closed[:, 0, :, 1] = closed[:, :, 0, 0] = True
    return closed, np.zeros((*shape, 3))


def _constrained(grid: Grid, variant: Variant, solid_faces: Array | None, u: Array) -> Array:
    closed, velocity = closed_faces(grid, variant, solid_faces)
    out = np.zeros_like(u)
    out[..., :3] = np.where(closed, velocity, u[..., :3])
    return out


def _trilinear(
    values: Array, place: tuple[Array, Array, Array]
) -> tuple[Array, list[tuple[Any, Any, Any]], tuple[Array, Array, Array]]:
    """Trilinear `values` [z, y, x, ...] at `place` (x, y, z, from 0): value, corner indices, weights."""
    corners, low, share = [], [], []
    for axis in range(3):
        n = values.shape[2 - axis]
        q = np.clip(place[axis], 0, n - 1)
        i = np.clip(np.floor(q).astype(int), 0, max(n - 2, 0))
        low.append(i)
        share.append(q - i)
    total: Any = 0.0
    for corner in range(8):
        weight: Any = 1.0
        index = []
        for axis in range(3):
            up = corner >> axis & 1
            index.append(np.minimum(low[axis] + up, values.shape[2 - axis] - 1))
            weight = weight * (share[axis] if up else 1.0 - share[axis])
        key = (index[2], index[1], index[0])
        corners.append(key)
        taken = values[key]
        total = total + (weight[..., None] if taken.ndim > weight.ndim else weight) * taken
    return total, corners, (share[0], share[1], share[2])


def _component_values(grid: Grid, velocity: Array, axis: int) -> Array:
    """The values of one component that are faces: no stored padding."""
    nx, ny, nz = grid.cells
    return velocity[: nz + (axis == 2), : ny + (axis == 1), : nx + (axis == 0), axis]


def _walls_beside(
    grid: Grid, variant: Variant, place: tuple[Array, Array, Array], axis: int
) -> list[tuple[Array, float]]:
    """For each no-slip wall across from `axis`: distance (cells) and the wall's velocity component."""
    beside = []
    for side in range(2 * grid.dimensions):
        wall, across = variant.boundaries.sides[side], side // 2
        if across != axis and wall.slip == "no":
            p = place[across]
            beside.append((p if side % 2 == 0 else grid.cells[across] - p, wall.velocity[axis]))
    return beside


def sample_component(
    grid: Grid, variant: Variant, velocity: Array, place: tuple[Array, Array, Array], axis: int
) -> tuple[Array, Array, Array]:
    """Velocity component `axis` at `place` (cells): value, smallest and largest of the values round it."""
    if axis == 2 and grid.dimensions == 2:
        zero = np.zeros_like(place[0])
        return zero, zero, zero
    values = _component_values(grid, velocity, axis)
    q = tuple(place[a] - (0.0 if a == axis else 0.5) for a in range(3))
    value, corners, _ = _trilinear(values, (q[0], q[1], q[2]))
    taken = np.stack([values[c] for c in corners])
    low, high = taken.min(0), taken.max(0)
    for distance, wall in _walls_beside(grid, variant, place, axis):
        share = np.clip(2.0 * distance, 0.0, 1.0)
        value = wall + (value - wall) * share
        near = distance < 0.5
        low = np.where(near, np.minimum(low, wall), low)
        high = np.where(near, np.maximum(high, wall), high)
    return value, low, high


def sample_cells(
    grid: Grid, variant: Variant, values: Array, place: tuple[Array, Array, Array]
) -> tuple[Array, Array, Array]:
    """Cell values [z, y, x, 4] at `place` over the fluid alone: value, smallest and largest round it."""
    mean, corners, _ = _trilinear(values, (place[0] - 0.5, place[1] - 0.5, place[2] - 0.5))
    taken = np.stack([values[c] for c in corners])
    if not variant.solids:
        return mean, taken.min(0), taken.max(0)
    value = mean / np.maximum(mean[..., 3:], SOLID_FLOOR)
    fluid = taken[..., 3:] > 0.5
    return value, np.where(fluid, taken, np.inf).min(0), np.where(fluid, taken, -np.inf).max(0)


def trace(
    grid: Grid,
    variant: Variant,
    velocity: Array,
    start: tuple[Array, Array, Array],
    u: tuple[Array, Array, Array],
    dt: float,
) -> tuple[Array, Array, Array]:
    """Where what is at `start` with velocity `u` was `dt` seconds ago, never outside the box (cells)."""
    reach = dt / grid.cell_size

    def back(amount: float, by: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        x, y, z = (np.clip(start[a] - amount * by[a], 0, grid.cells[a]) for a in range(3))
        return x, y, z

    if variant.trace == "rk2":
        middle = back(0.5 * reach, u)
        u = tuple(sample_component(grid, variant, velocity, middle, a)[0] for a in range(3))  # type: ignore[assignment]
    return back(reach, u)


def _centers(grid: Grid, face_axis: int | None = None) -> tuple[Array, Array, Array]:
    """Places of the cell centres, or of the low faces along one axis; arrays [nz, ny, nx]."""
    nx, ny, nz = grid.cells
    z, y, x = np.meshgrid(np.arange(nz) + 0.5, np.arange(ny) + 0.5, np.arange(nx) + 0.5, indexing="ij")
    places = [x, y, z]
    if face_axis is not None:
        places[face_axis] = places[face_axis] - 0.5
    return places[0], places[1], places[2]


def face_velocity(grid: Grid, velocity: Array, axis: int) -> tuple[Array, Array, Array]:
    """The whole velocity at the low faces along `axis`: the mean of the four nearest for the others."""
    parts = []
    for other in range(3):
        if other == axis:
            parts.append(_cells(grid, velocity)[..., axis])
        elif other == 2 and grid.dimensions == 2:
            parts.append(np.zeros(grid.cells[::-1]))
        else:
            both = _cells(grid, velocity)[..., other] + _high(grid, velocity, other, other)
            parts.append(0.25 * (both + _shift(axis, -1, both)))
    return parts[0], parts[1], parts[2]


def center_velocity(grid: Grid, velocity: Array) -> Array:
    """The velocity at the cell centres, [nz, ny, nx, 3]."""
    low = _cells(grid, velocity)
    parts = [0.5 * (low[..., a] + _high(grid, velocity, a, a)) for a in range(grid.dimensions)]
    return np.stack(parts if grid.dimensions == 3 else [*parts, low[..., 2]], -1)


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


def _flicker(grid: Grid, variant: Variant, emitter: Array, place: Array) -> Array:
    """What noise leaves of an emitter, [nz, ny, nx]; place: m from the low corner, [..., 3]."""
    strength = emitter[6, 3]
    if not variant.noise or strength == 0.0:
        return np.ones(place.shape[:-1])
    now, after = (_patches(place * emitter[7, 0], int(emitter[7, column])) for column in (1, 2))
    return np.asarray(1.0 - strength * (now + (after - now) * emitter[5, 3]))


def _emitter_weight(grid: Grid, variant: Variant, emitter: Array, face_axis: int | None = None) -> Array:
    place = np.stack(_centers(grid, face_axis), -1) * grid.cell_size
    local = place @ emitter[:3, :3].T + emitter[:3, 3]
    beyond = beyond_squared(int(emitter[4, 0]), list(np.moveaxis(local, -1, 0)), emitter[3, :3].tolist())
    t = np.minimum(np.maximum(np.sqrt(beyond) - emitter[3, 3], 0.0) * emitter[4, 1], 4.0)
    return np.where(t < 4.0, np.exp(-t * t), 0.0) * _flicker(grid, variant, emitter, place)


def _with_emitted(emitter: Array, weight: Array, scalars: Array) -> Array:
    weight = weight * scalars[..., 3]
    out = scalars.copy()
    out[..., 0] += weight * emitter[5, 0]
    out[..., 1] += (emitter[5, 1] - out[..., 1]) * weight * emitter[4, 3]
    out[..., 2] += weight * emitter[5, 2]
    return out


def _emitters(emitters: Array) -> Array:
    return emitters.reshape(-1, EMITTER_ROWS, 4).astype(float)


def emit_scalars(
    grid: Grid, variant: Variant, *, scalars: Array, emitters: Array, emitter_count: int
) -> Array:
    """Density and fuel added and temperature set where the emitters are."""
    for emitter in _emitters(emitters)[:emitter_count]:
        scalars = _with_emitted(emitter, _emitter_weight(grid, variant, emitter), scalars)
    return scalars.copy()


def emit_velocity(
    grid: Grid,
    variant: Variant,
    *,
    velocity: Array,
    emitters: Array,
    emitter_count: int,
    solid_faces: Array | None = None,
) -> Array:
    """Velocity set where the emitters are."""
    cells = _cells(grid, velocity).copy()
    for emitter in _emitters(emitters)[:emitter_count]:
        for axis in range(grid.dimensions):
            weight = _emitter_weight(grid, variant, emitter, axis) * emitter[4, 2]
            cells[..., axis] += (emitter[6, axis] - cells[..., axis]) * weight
    return _constrained(grid, variant, solid_faces, _on_faces(grid, cells))


def emit_mask(grid: Grid, variant: Variant, *, scalars: Array, mask: Array, emitters: Array) -> Array:
    """Density and fuel added and temperature set by the share of each cell in one source."""
    emitter = _emitters(emitters)[0]
    place = np.stack(_centers(grid), -1) * grid.cell_size
    return _with_emitted(emitter, mask[..., 0] * _flicker(grid, variant, emitter, place), scalars)


def emit_mask_velocity(
    grid: Grid,
    variant: Variant,
    *,
    velocity: Array,
    mask: Array,
    emitters: Array,
    solid_faces: Array | None = None,
) -> Array:
    """Velocity set by the share of each cell in one source; a face has the mean of its two cells."""
    cells, emitter = _cells(grid, velocity).copy(), _emitters(emitters)[0]
    for axis in range(grid.dimensions):
        place = np.stack(_centers(grid, axis), -1) * grid.cell_size
        share = 0.5 * (mask[..., 0] + _shift(axis, -1, mask[..., 0]))
        share = share * _flicker(grid, variant, emitter, place)
        cells[..., axis] += (emitter[6, axis] - cells[..., axis]) * share
    return _constrained(grid, variant, solid_faces, _on_faces(grid, cells))


def vorticity(grid: Grid, variant: Variant, *, velocity: Array) -> Array:
    """Curl at the cell centres and its length, 1/s."""
    low = _cells(grid, velocity)

    def slope(component: int, along: int) -> Array:
        both = low[..., component] + _high(grid, velocity, component, component)
        return 0.25 / grid.cell_size * (_shift(along, 1, both) - _shift(along, -1, both))

    out = np.zeros((*low.shape[:3], 4))
    if grid.dimensions == 3:
        out[..., 0] = slope(2, 1) - slope(1, 2)
        out[..., 1] = slope(0, 2) - slope(2, 0)
    out[..., 2] = slope(1, 0) - slope(0, 1)
    out[..., 3] = np.linalg.norm(out[..., :3], axis=-1)
    return out


def confinement(grid: Grid, variant: Variant, *, vorticity: Array, strength: float) -> Array:
    """Vorticity confinement at the cell centres, m/s^2."""
    size = vorticity[..., 3]
    growth = np.stack(
        [
            0.5 * (_shift(a, 1, size) - _shift(a, -1, size)) if a < grid.dimensions else 0.0 * size
            for a in range(3)
        ],
        -1,
    )
    towards = growth / (np.linalg.norm(growth, axis=-1, keepdims=True) + CONFINEMENT_FLOOR)
    out = np.zeros_like(vorticity)
    out[..., :3] = strength * grid.cell_size * np.cross(towards, vorticity[..., :3])
    return out


def forces(
    grid: Grid,
    variant: Variant,
    *,
    velocity: Array,
    scalars: Array,
    dt: float,
    rise: tuple[float, ...],
    up: tuple[float, ...],
    solid_faces: Array | None = None,
    confinement: Array | None = None,
) -> Array:
    """Velocity after buoyancy and confinement."""
    lift = rise[0] * (scalars[..., 1] - rise[1] * scalars[..., 3]) - rise[2] * scalars[..., 0]
    cells = _cells(grid, velocity).copy()
    for axis in range(grid.dimensions):
        force = up[axis] * 0.5 * (lift + _shift(axis, -1, lift))
        if confinement is not None:
            force = force + 0.5 * (confinement[..., axis] + _shift(axis, -1, confinement[..., axis]))
        cells[..., axis] += dt * force
    return _constrained(grid, variant, solid_faces, _on_faces(grid, cells))


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
    cells = _cells(grid, velocity).copy()
    rows = np.asarray(pushes, float).reshape(-1, 3, 4)[:push_count]
    for axis in range(grid.dimensions):
        place = np.stack(_centers(grid, axis), -1) * grid.cell_size
        for (*center, kind), (*way, amount), (scale, *_) in rows:
            if kind == WIND:
                cells[..., axis] += (way[axis] - cells[..., axis]) * amount
                continue
            d = place - center
            if grid.dimensions == 2:
                d[..., 2] = 0.0
            turn = np.cross(way, d) if kind == VORTEX else -d
            off = np.linalg.norm(d - (d @ way)[..., None] * way if kind == VORTEX else d, axis=-1)
            s = off * scale
            bell = s * np.exp(0.5 * (1.0 - s * s)) / np.maximum(off, 1e-6 / scale)
            cells[..., axis] += amount * bell * turn[..., axis]
    return _constrained(grid, variant, solid_faces, _on_faces(grid, cells))


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
    cells = _cells(grid, velocity).copy()
    for axis in range(grid.dimensions):
        cells[..., axis] += dt * 0.5 * (force[..., axis] + _shift(axis, -1, force[..., axis]))
    return _constrained(grid, variant, solid_faces, _on_faces(grid, cells))


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
    cells = _cells(grid, velocity).copy()
    for axis in range(grid.dimensions):
        place = np.stack(_centers(grid, axis), -1) * grid.cell_size + np.asarray(origin)
        force = np.broadcast_to(np.asarray(function(place, time), float), place.shape)[..., axis]
        cells[..., axis] += dt * np.where(np.isfinite(force), force, 0.0)
    return _constrained(grid, variant, solid_faces, _on_faces(grid, cells))


def constrain(grid: Grid, variant: Variant, *, velocity: Array, solid_faces: Array | None = None) -> Array:
    """The velocity with every closed face moving with what closes it."""
    return _constrained(grid, variant, solid_faces, velocity)


# -- advection -----------------------------------------------------------------------------------------


def _limited(variant: Variant, value: Array, plain: Array, low: Array, high: Array) -> Array:
    if variant.limiter == "clamp":
        return np.minimum(np.maximum(value, low), high)
    if variant.limiter == "revert":
        return np.where((value < low) | (value > high), plain, value)
    return value


def advect_velocity(
    grid: Grid, variant: Variant, *, velocity: Array, dt: float, solid_faces: Array | None = None
) -> Array:
    """Velocity carried along itself, semi-Lagrangian."""
    cells = np.zeros_like(_cells(grid, velocity))
    for axis in range(grid.dimensions):
        u = face_velocity(grid, velocity, axis)
        place = trace(grid, variant, velocity, _centers(grid, axis), u, dt)
        cells[..., axis] = sample_component(grid, variant, velocity, place, axis)[0]
    return _constrained(grid, variant, solid_faces, _on_faces(grid, cells))


def correct_velocity(
    grid: Grid,
    variant: Variant,
    *,
    velocity: Array,
    forward: Array,
    dt: float,
    solid_faces: Array | None = None,
) -> Array:
    """MacCormack's second half for the velocity."""
    cells = np.zeros_like(_cells(grid, velocity))
    for axis in range(grid.dimensions):
        u, start = face_velocity(grid, velocity, axis), _centers(grid, axis)
        there = trace(grid, variant, velocity, start, u, -dt)
        returned = sample_component(grid, variant, forward, there, axis)[0]
        plain = _cells(grid, forward)[..., axis]
        value = plain + 0.5 * (_cells(grid, velocity)[..., axis] - returned)
        back = trace(grid, variant, velocity, start, u, dt)
        _, low, high = sample_component(grid, variant, velocity, back, axis)
        cells[..., axis] = _limited(variant, value, plain, low, high)
    return _constrained(grid, variant, solid_faces, _on_faces(grid, cells))


def _finished_scalars(
    variant: Variant, values: Array, keep: tuple[float, ...], ambient: float, solid: Array | None
) -> Array:
    rest = np.array([0.0, ambient, 0.0])
    out = np.ones((*values.shape[:3], 4))
    out[..., :3] = rest + (values[..., :3] - rest) * np.asarray(keep)
    if variant.solids and solid is not None:
        out[solid[..., 3] > 0.5] = 0.0
    return out


def _cell_trace(grid: Grid, variant: Variant, velocity: Array, dt: float) -> tuple[Array, Array, Array]:
    u = center_velocity(grid, velocity)
    return trace(grid, variant, velocity, _centers(grid), (u[..., 0], u[..., 1], u[..., 2]), dt)


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
    value = sample_cells(grid, variant, scalars, _cell_trace(grid, variant, velocity, dt))[0]
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
    returned = sample_cells(grid, variant, forward, _cell_trace(grid, variant, velocity, -dt))[0]
    value = forward + 0.5 * (scalars - returned)
    if variant.solids:
        value = np.where(scalars[..., 3:] < 0.5, forward, value)
    _, low, high = sample_cells(grid, variant, scalars, _cell_trace(grid, variant, velocity, dt))
    some = low[..., 3:] <= high[..., 3:]
    value = np.where(some, _limited(variant, value, forward, low, high), value)
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
    for axis in range(grid.dimensions):
        for side, by in enumerate((-1, 1)):
            beside = _shift(axis, by, p)
            if variant.solids and openings is not None:
                open_ = _open_bits(grid, openings) >> (2 * axis + side) & 1
                beside = np.where(open_ > 0, beside, p)
            total = total + beside
    relaxed = total / (2 * grid.dimensions)
    return np.asarray(p + weight * (relaxed - p))[..., None]


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
    cells, p = _cells(grid, velocity).copy(), pressure[..., 0]
    for axis in range(grid.dimensions):
        cells[..., axis] -= dt / grid.cell_size * (p - _shift(axis, -1, p))
    return _constrained(grid, variant, solid_faces, _on_faces(grid, cells))


# -- solids --------------------------------------------------------------------------------------------


def _places(grid: Grid) -> Array:
    """Cell centres, m from the low corner, and 1: [nz, ny, nx, 4]."""
    return np.stack([*(c * grid.cell_size for c in _centers(grid)), np.ones(grid.cells[::-1])], -1)


def _inside(
    grid: Grid, winding: Array, shape: int, to_local: Array, extent: tuple[float, ...], rounding: float
) -> NDArray[np.bool_]:
    """Cells whose centre is inside an obstacle, as in inside.glsl."""
    q = np.moveaxis(_places(grid) @ np.asarray(to_local, float).T, -1, 0)[:3]
    inside: NDArray[np.bool_] = beyond_squared(shape, list(q), extent) <= rounding**2
    return inside & (np.abs(winding[..., 0]) > 0.5) if shape == MESH else inside


def add_drift(
    grid: Grid,
    variant: Variant,
    *,
    solid: Array,
    winding: Array,
    drift: Array,
    shape: int,
    to_local: Array,
    extent: tuple[float, ...],
    rounding: float,
    mean_drift: tuple[float, ...],
) -> Array:
    """The solids with the velocity of a mesh whose vertices move."""
    inside = _inside(grid, winding, shape, to_local, extent, rounding)
    out = solid.copy()
    added = np.where(drift[..., 3:] > 0.5, drift[..., :3], mean_drift)
    out[..., :3] += np.where(inside[..., None], added, 0.0)
    return out


def heat_obstacle(
    grid: Grid,
    variant: Variant,
    *,
    heat: Array,
    winding: Array,
    shape: int,
    to_local: Array,
    extent: tuple[float, ...],
    rounding: float,
    heat_given: tuple[float, ...],
) -> Array:
    """What the solids heat with, with one obstacle more."""
    out = heat.copy()
    out[_inside(grid, winding, shape, to_local, extent, rounding)] = heat_given
    return out


def heat_fluid(grid: Grid, variant: Variant, *, scalars: Array, heat: Array, dt: float) -> Array:
    """The temperature of fluid beside hot or cold solids drawn to theirs."""
    both: Any = sum(_shift(axis, by, heat) for axis in range(grid.dimensions) for by in (-1, 1))
    faces = np.where(both[..., 3] > 0.0, both[..., 3], 1.0)
    share = scalars[..., 3] * -np.expm1(-both[..., 1] / faces * dt) * (both[..., 3] > 0.0)
    out = scalars.copy()
    out[..., 1] += (both[..., 0] / faces - out[..., 1]) * share
    return out


def solid_normals(grid: Grid, variant: Variant, *, solid: Array) -> Array:
    """Unit normals out of the solids and 1 where there is one: Sobel's gradient of the voxels."""
    out = np.zeros_like(solid)
    for axis in range(grid.dimensions):
        growth = _shift(axis, 1, solid[..., 3]) - _shift(axis, -1, solid[..., 3])
        for other in {0, 1, 2} - {axis}:
            growth = _shift(other, -1, growth) + 2.0 * growth + _shift(other, 1, growth)
        out[..., axis] = -growth
    size = np.linalg.norm(out[..., :3], axis=-1)
    out[..., 3] = size > 0.5
    out[..., :3] *= (out[..., 3] / np.where(size > 0.5, size, 1.0))[..., None]
    return out


def add_obstacle(
    grid: Grid,
    variant: Variant,
    *,
    solid: Array,
    winding: Array,
    shape: int,
    to_local: Array,
    extent: tuple[float, ...],
    rounding: float,
    motion: Array,
) -> Array:
    """The solids with one more: its velocity and 1 where a cell's centre is inside."""
    inside = _inside(grid, winding, shape, to_local, extent, rounding)
    out = solid.copy()
    out[inside] = 1.0
    out[inside, :3] = (_places(grid) @ np.asarray(motion, float).T)[inside, :3]
    return out


def close_faces(grid: Grid, variant: Variant, *, solid: Array) -> Array:
    """Which low faces are closed (bits in the last channel) and how fast what closes them moves."""
    faces = _on_faces(grid, np.zeros_like(solid))
    faces[..., 3] = 7.0
    bits = np.full(solid.shape[:3], 0.0 if grid.dimensions == 3 else 4.0)
    weighted = solid[..., :3] * solid[..., 3:]
    cells = np.zeros_like(solid)
    for axis in range(grid.dimensions):
        count = solid[..., 3] + _shift(axis, -1, solid[..., 3])
        both = weighted[..., axis] + _shift(axis, -1, weighted[..., axis])
        wall = np.indices(solid.shape[:3])[2 - axis] == 0
        closed = (count > 0.5) | wall
        cells[..., axis] = np.where((count > 0.5) & ~wall, both / np.where(count > 0.5, count, 1.0), 0.0)
        bits = bits + closed * float(1 << axis)
    cells[..., 3] = bits
    nx, ny, nz = grid.cells
    faces[:nz, :ny, :nx] = cells
    return faces


def open_neighbours(grid: Grid, variant: Variant, *, solid: Array) -> Array:
    """Six bits a cell, four cells to a number: which neighbours hold fluid."""
    fluid = solid[..., 3] < 0.5
    bits = np.zeros(fluid.shape, np.int64)
    for axis in range(grid.dimensions):
        n = grid.cells[axis]
        place = np.indices(fluid.shape)[2 - axis]
        for side, by in enumerate((-1, 1)):
            beside = np.take(fluid, np.clip(np.arange(n) + by, 0, n - 1), axis=2 - axis)
            inside = (place + by >= 0) & (place + by < n)
            bits |= (fluid & beside & inside).astype(np.int64) << (2 * axis + side)
    nx, ny, nz = grid.cells
    padded = np.zeros((nz, ny, -(-nx // LANES) * LANES), np.int64)
    padded[..., :nx] = bits
    packs = (padded.reshape(nz, ny, -1, LANES) << (6 * np.arange(LANES))).sum(-1)
    return np.asarray(packs[..., None], float)


def max_speed(grid: Grid, variant: Variant, *, velocity: Array) -> Array:
    """Largest |velocity| of each component over blocks of faces, m/s."""
    nz, ny, nx = velocity.shape[:3]
    blocks = [-(-n // BLOCK) for n in (nz, ny, nx)]
    padded = np.zeros((*(b * BLOCK for b in blocks), 4))
    padded[:nz, :ny, :nx, :3] = np.abs(velocity[..., :3])
    split = padded.reshape(blocks[0], BLOCK, blocks[1], BLOCK, blocks[2], BLOCK, 4)
    return np.asarray(split.max((1, 3, 5)))
