"""Particles and flow lines in NumPy, float64: what the shaders of the views are held to.

Places are [n, 3], (x, y, z) in cells from the low corner of the box; velocities as `gpufluid.reference` takes
them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from gpufluid.common.vectors import Floats
from gpufluid.contract.kernels import Variant
from gpufluid.description.boundaries import Inflow, Open
from gpufluid.description.grid import Grid
from gpufluid.description.shapes import HALF_SPACE, ROUND
from gpufluid.reference.arrays import Places
from gpufluid.reference.sampling import clipped, sample_component
from gpufluid.reference.sources import random_of

EDGE = 1e-3  # cells from a wall, as in kept_inside.glsl
TRIES = 16  # for a place to be born, as in particle_advance.glsl
KEPT = 0.5  # cells between a flat wall and what slides along it, as in slide.glsl
STOPPED = 1e-4  # cells that something was kept from going, as in particle_advance.glsl
SHIFT = 2654435769  # the golden ratio as a share of 2^32
OTHER_SHIFT = 3242174889  # of 2^32, for numbers that have nothing to do with those


def _places(points: Floats) -> Places:
    """Points as `gpufluid.reference` takes them."""
    x, y, z = points.T.reshape(3, 1, 1, -1)
    return x, y, z


def velocity_at(grid: Grid, variant: Variant, velocity: Floats, points: Floats) -> Floats:
    """The velocity at points, m/s, [n, 3]."""
    place = _places(points)
    return np.stack([sample_component(grid, variant, velocity, place, a).ravel() for a in range(3)], -1)


def _clipped(grid: Grid, variant: Variant, solid: Floats | None, start: Floats, end: Floats) -> Floats:
    """`clipped` for points."""
    return np.stack([p.ravel() for p in clipped(grid, variant, solid, _places(start), _places(end))], -1)


def _stopped(
    grid: Grid, variant: Variant, solid: Floats | None, start: Floats, end: Floats
) -> tuple[Floats, NDArray[np.bool_]]:
    """`end`, or a place before a solid on the way there, and where that is so; see flow_line.glsl."""
    cut = _clipped(grid, variant, solid, start, end)
    inside = ((cut >= 0.0) & (cut <= np.array(grid.cells))).all(axis=1)
    hit = (cut != end).any(axis=1) & inside
    q = np.where(hit[:, None], cut, end)
    for share in (0.999, 0.0):
        within = inside & in_solid(grid, solid, q)
        q = np.where(within[:, None], start + share * (end - start), q)
        hit |= within
    return q, hit


def _solid_cells(grid: Grid, variant: Variant, solid: Floats, cells: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which cells [n, 3] are solid; the nearest of the box where a side lies between."""
    count = np.array(grid.cells)
    x, y, z = np.where(_periodic(grid, variant), cells % count, np.clip(cells, 0, count - 1)).T
    return np.asarray(solid[z, y, x, 0] > 0.5)


def solid_round(grid: Grid, variant: Variant, solid: Floats, points: Floats) -> tuple[Floats, Floats]:
    """Share of solid round points, [n], and how it grows per cell, [n, 3]; see slide.glsl."""
    middle = np.floor(points).astype(int)
    at = points - middle - 0.5
    weight = np.stack([0.5 * (0.5 - at) ** 2, 0.75 - at**2, 0.5 * (0.5 + at) ** 2])  # [3, n, axis]
    slope = np.stack([at - 0.5, -2.0 * at, at + 0.5])
    if grid.dimensions == 2:
        weight[:, :, 2] = np.array([0.0, 1.0, 0.0])[:, None]
        slope[:, :, 2] = 0.0
    share, growth = np.zeros(len(points)), np.zeros((len(points), 3))
    for i, j, k in np.ndindex(3, 3, 3):
        here = _solid_cells(grid, variant, solid, middle + np.array([i, j, k]) - 1)
        wx, wy, wz = weight[i, :, 0], weight[j, :, 1], weight[k, :, 2]
        share += here * wx * wy * wz
        sx, sy, sz = slope[i, :, 0], slope[j, :, 1], slope[k, :, 2]
        growth += here[:, None] * np.stack([sx * wy * wz, wx * sy * wz, wx * wy * sz], -1)
    return share, growth


def slid(grid: Grid, variant: Variant, solid: Floats | None, start: Floats, end: Floats) -> Floats:
    """Where what is on its way from `start` to `end` comes to, along the solids; see slide.glsl."""
    if solid is None:
        return end
    q = _clipped(grid, variant, solid, start, end)
    low = np.floor(q - 0.5).astype(int)
    near = np.zeros(len(q), bool)
    for n in np.ndindex(2, 2, grid.dimensions - 1):
        near |= _solid_cells(grid, variant, solid, low + n)
    near &= (((q >= 0.0) & (q <= np.array(grid.cells))) | _periodic(grid, variant)).all(axis=1)
    share, growth = solid_round(grid, variant, solid, q)
    rest, squared = end - q, (growth**2).sum(axis=1)
    rest -= (np.maximum((rest * growth).sum(axis=1), 0.0) / np.maximum(squared, 1e-6))[:, None] * growth
    off = np.maximum(1.0 - (1.0 - KEPT) / np.maximum(np.sqrt(2.0 * share), 1e-6), 0.0)
    to = _clipped(grid, variant, solid, q, q - off[:, None] * growth)
    to = _clipped(grid, variant, solid, to, to + rest)
    return np.where(near[:, None], to, q)


def _periodic(grid: Grid, variant: Variant) -> NDArray[np.bool_]:
    sides = variant.boundaries
    return np.array([sides.periodic(axis) and axis < grid.dimensions for axis in range(3)])


def kept_inside(grid: Grid, variant: Variant, points: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Points carried round a periodic box and held inside walls; which have left. See kept_inside.glsl."""
    count, periodic = np.array(grid.cells), _periodic(grid, variant)
    points = np.where(periodic, points - count * np.floor(points / count), points)
    for axis in range(3):
        for high in (False, True):
            passes = isinstance(variant.boundaries.sides[2 * axis + high], Open | Inflow)
            if not passes and not periodic[axis]:
                held = np.minimum(points[:, axis], count[axis] - EDGE)
                points[:, axis] = held if high else np.maximum(points[:, axis], EDGE)
    if grid.dimensions == 2:
        points[:, 2] = 0.5
    return points, np.asarray(((points < 0.0) | (points > count)).any(axis=1))


def in_solid(grid: Grid, solid: Floats | None, points: Floats) -> NDArray[np.bool_]:
    """Which points lie in a solid cell."""
    if solid is None:
        return np.zeros(len(points), bool)
    x, y, z = np.clip(np.floor(points).astype(int), 0, np.array(grid.cells) - 1).T
    return np.asarray(solid[z, y, x, 0] > 0.5)


@dataclass(frozen=True)
class Grains:
    """What particles are like; see `gpufluid.Particles`."""

    response: float = 0.0
    fall: float = 0.0
    bounce: float = 0.0
    vary: float = 0.0

    def diameters(self, index: NDArray[np.int64]) -> Floats:
        """Those of particles, as multiples of their common one; see particle_turn.glsl."""
        return 1.0 + self.vary * (2.0 * _evenly(index, OTHER_SHIFT) - 1.0)


TRACERS = Grains()  # they go with the air


def _taken_up(seconds: Floats, response: Floats) -> tuple[Floats, Floats]:
    """Shares of the air's velocity that are taken up, in the end and in the mean of the way, [n, 1]."""
    x = np.divide(seconds, response, out=np.full(len(seconds), np.inf), where=response > 0.0)
    share = -np.expm1(-x)
    mean = np.where(x > 0.0, 1.0 - share / np.where(x > 0.0, x, 1.0), 0.0)
    return share[:, None], mean[:, None]


def _flown(
    grid: Grid,
    variant: Variant,
    velocity: Floats,
    solid: Floats | None,
    points: Floats,
    paces: Floats,
    grains: Grains,
    diameters: Floats,
    seconds: Floats,
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Where and how fast (m/s) particles are `seconds` later, and who is gone; see particle_advance.glsl."""
    response, reach = grains.response * diameters**2, seconds[:, None] / grid.cell_size
    sink = np.zeros((len(points), 3))
    sink[:, 1] = -grains.fall * diameters**2
    _, taken = _taken_up(0.5 * seconds, response)
    share, mean = _taken_up(seconds, response)
    u = velocity_at(grid, variant, velocity, points) + sink
    half_way = points + 0.5 * reach * (paces + taken * (u - paces))
    u = velocity_at(grid, variant, velocity, half_way) + sink
    end = points + reach * (paces + mean * (u - paces))
    place, lost = kept_inside(grid, variant, slid(grid, variant, solid, points, end))
    paces = paces + share * (u - paces)
    off, count = place - end, np.array(grid.cells)
    off -= np.where(_periodic(grid, variant), count * np.floor(off / count + 0.5), 0.0)
    squared = (off**2).sum(axis=1)
    into = np.where(squared > STOPPED**2, np.minimum((paces * off).sum(axis=1), 0.0), 0.0)
    back = (1.0 + grains.bounce) * into / np.where(squared > 0.0, squared, 1.0)
    return place, paces - back[:, None] * off, lost


def _evenly(index: NDArray[np.int64], shift: int) -> Floats:
    """Numbers in 0 .. 1 that lie evenly however many there are."""
    bits = (index.astype(np.uint64) * np.uint64(shift) % np.uint64(1 << 32)) >> np.uint64(8)
    return np.asarray(bits / 16777216.0)


def turn_of(index: NDArray[np.int64], clock: float) -> Floats:
    """The share of its life that is over for each particle; see particle_turn.glsl."""
    return np.asarray((clock + _evenly(index, SHIFT)) % 1.0)


def _at_random(index: NDArray[np.int64], turn: int, number: int, seed: int) -> Floats:
    """Three random numbers for each particle, [n, 3], each in 0 .. 1."""
    lattice = [np.stack([index, 0 * index + turn, 0 * index + 3 * number + a], -1) for a in range(3)]
    return random_of(np.stack(lattice, 1), seed)


def _birth_paces(
    index: NDArray[np.int64], turn: int, seed: int, row: Floats, own: Floats, dimensions: int
) -> Floats:
    """Velocities that particles of one source are born with, m/s; own: the fluid's there, [n, 3]."""
    r = _at_random(index, turn, TRIES, seed)
    up, turned = 2.0 * r[:, 0] - 1.0, 2.0 * np.pi * r[:, 1]
    across = np.sqrt(1.0 - up**2)
    ball = np.cbrt(r[:, 2:]) * np.stack([across * np.cos(turned), up, across * np.sin(turned)], -1)
    paces = (row[5, :3] if row[4, 3] else own) + row[5, 3] * ball
    if dimensions == 2:
        paces[:, 2] = 0.0
    return np.asarray(paces)


def birthplaces(index: NDArray[np.int64], turn: int, seed: int, row: Floats) -> Floats:
    """Where particles of one source are born, cells; row: [6, 4], see particle_turn.glsl."""
    kind, core, rounding = int(row[4, 0]), row[3, :3], row[3, 3]
    assert kind != HALF_SPACE
    reach = (core[[0, 1, 0]] if kind == ROUND else core) + rounding
    local, found = np.zeros((len(index), 3)), np.zeros(len(index), bool)
    for n in range(TRIES):
        q = (2.0 * _at_random(index, turn, n, seed) - 1.0) * reach
        profile = np.abs(q)
        if kind == ROUND:
            profile = np.stack([np.hypot(q[:, 0], q[:, 2]), np.abs(q[:, 1]), 0.0 * q[:, 0]], -1)
        inside = (np.maximum(profile - core, 0.0) ** 2).sum(1) <= rounding**2
        local = np.where((inside & ~found)[:, None], q, local)
        found |= inside
    return np.asarray(local @ row[:3, :3].T + row[:3, 3])


def advance_particles(
    grid: Grid,
    variant: Variant,
    particles: Floats,
    paces: Floats,
    rows: Floats,
    velocity: Floats,
    solid: Floats | None = None,
    grains: Grains = TRACERS,
    *,
    dt: float,
    life: float,
    clock: float,
    turn: int,
    seed: int,
) -> tuple[Floats, Floats]:
    """Particles [n, 4] and their velocities [n, 3] (m/s) after one advance.

    See particle_advance.glsl and `Particles.source_rows`.
    """
    out, out_paces = np.zeros_like(particles), np.zeros_like(paces)
    out[:, 3] = -1.0
    flown = partial(_flown, grid, variant, velocity, solid)
    for row in rows:
        index = np.arange(int(row[4, 1]), int(row[4, 2]))
        if not len(index):
            continue
        was = particles[index]
        spent = turn_of(index, clock) + dt / life
        due, age = spent >= 1.0, was[:, 3].copy()
        alive = (age >= 0.0) & ~due
        diameters = grains.diameters(index)
        moved, pace, lost = flown(was[:, :3], paces[index], grains, diameters, np.full(len(index), dt))
        lost = np.where(alive, lost | in_solid(grid, solid, moved), age < -1.5)
        points = np.where(alive[:, None], moved, was[:, :3])
        age = np.where(alive, age + dt, age)
        over = due | lost
        born = over & (row[4, 0] >= 0.0)
        new = birthplaces(index, turn, seed, row)
        if grid.dimensions == 2:
            new[:, 2] = 0.5
        bad = ((new < 0.0) | (new > grid.cells)).any(axis=1) | in_solid(grid, solid, new)
        since = np.where(due, (spent % 1.0) * life, 0.0)
        own = velocity_at(grid, variant, velocity, new)
        new_pace = _birth_paces(index, turn, seed, row, own, grid.dimensions)
        later, new_pace, gone = flown(new, new_pace, grains, diameters, since)
        bad_later = gone | in_solid(grid, solid, later)
        points = np.where(born[:, None], np.where(bad[:, None], new, later), points)
        out[index, :3] = points
        out[index, 3] = np.where(born, np.where(bad | bad_later, -2.0, since), np.where(over, -1.0, age))
        pace = np.where((alive & ~over)[:, None], pace, np.where(over, 0.0, 1.0)[:, None] * paces[index])
        out_paces[index] = np.where(born[:, None], np.where(bad[:, None], 0.0, new_pace), pace)
    return out, out_paces


def runge_kutta(field: Callable[[Floats], Floats], points: Floats, step: float) -> Floats:
    """Points one `step` on along ``field(points)`` by the classical method of fourth order (Kutta 1901)."""
    a = field(points)
    b = field(points + 0.5 * step * a)
    c = field(points + 0.5 * step * b)
    d = field(points + step * c)
    return np.asarray(points + step / 6.0 * (a + 2.0 * b + 2.0 * c + d))


def streamlines(
    grid: Grid,
    variant: Variant,
    velocity: Floats,
    seeds: Floats,
    *,
    points: int,
    step: float,
    least: float,
    downstream: bool = True,
    solid: Floats | None = None,
) -> Floats:
    """Lines from seeds [n, 3] (cells), [n, points, 4]: places and speed, -1 past the end.

    See streamline_step.glsl.
    """
    count, periodic = np.array(grid.cells), _periodic(grid, variant)

    def speed(p: Floats) -> Floats:
        return np.asarray(np.linalg.norm(velocity_at(grid, variant, velocity, p), axis=1))

    def way(p: Floats) -> Floats:
        u = velocity_at(grid, variant, velocity, p)
        sign = 1.0 if downstream else -1.0
        return np.asarray(sign * u / np.maximum(np.linalg.norm(u, axis=1, keepdims=True), 1e-30))

    out = np.full((len(seeds), points, 4), -1.0)
    p = seeds.copy()
    outside = ((p < 0.0) | (p > count)).any(axis=1)
    going = ~outside & ~in_solid(grid, solid, p) & (speed(p) > least)
    out[:, 0, :3], out[going, 0, 3] = p, speed(p)[going]
    for m in range(1, points):
        q = runge_kutta(way, p, step)
        a = way(p)
        b = way(p + 0.5 * step * a)
        stages = p, p + 0.5 * step * a, p + 0.5 * step * b, p + step * way(p + 0.5 * step * b)
        going &= np.stack([speed(stage) > least for stage in stages]).all(axis=0)
        shift = np.where(periodic, count * np.floor(p / count), 0.0)
        end, hit = _stopped(grid, variant, solid, p - shift, q - shift)
        q = end + shift
        held = np.where(periodic, q, np.clip(q, 0.0, count))
        last = hit | (held != q).any(axis=1)
        out[going, m, :3], out[going, m, 3] = held[going], speed(held)[going]
        p, going = np.where(going[:, None], held, p), going & ~last
    return out


def advance_streaks(
    grid: Grid,
    variant: Variant,
    velocity: Floats,
    points: Floats,
    dt: float,
    solid: Floats | None = None,
) -> tuple[Floats, NDArray[np.bool_]]:
    """Points [n, 3] of streak lines after `dt` seconds, and which are lost. See streak_step.glsl."""
    count, periodic = np.array(grid.cells), _periodic(grid, variant)
    q = runge_kutta(lambda p: velocity_at(grid, variant, velocity, p) / grid.cell_size, points, dt)
    shift = np.where(periodic, count * np.floor(points / count), 0.0)
    end = slid(grid, variant, solid, points - shift, q - shift)
    kept, lost = kept_inside(grid, variant, end.copy())
    return shift + np.where(periodic, end, kept), lost | in_solid(grid, solid, kept)
