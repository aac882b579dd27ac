"""What the fluid holds, carried in finite volumes."""

from __future__ import annotations

import numpy as np

from gpufluid.contract.kernels import Variant
from gpufluid.contract.layout import BLOCK
from gpufluid.description.boundaries import Wall
from gpufluid.description.grid import Grid
from gpufluid.reference.advection import brought, faded
from gpufluid.reference.arrays import Array

LEAST = 0.05  # fluid in a cell: what is divided by less is rounding, and values take the rest from before


def _passing(grid: Grid, variant: Variant, velocity: Array, axis: int) -> Array:
    """The velocity through the faces of rows along `axis`, which comes first: 0 through a wall."""
    n, sides = grid.cells[axis], variant.boundaries
    faces = np.moveaxis(velocity[..., axis], 2 - axis, 0)[: n + 1]
    across, up = (count for a, count in reversed(list(enumerate(grid.cells))) if a != axis)
    flow = faces[:, :across, :up].copy()
    if sides.periodic(axis):
        flow[n] = flow[0]
    for high in (False, True):
        if isinstance(sides.sides[2 * axis + high], Wall):  # whatever was written there
            flow[n * high] = 0.0
    return flow


def _rows(grid: Grid, variant: Variant, scalars: Array, axis: int, wide: int, ambient: float) -> Array:
    """The cells along `axis`, which comes first, and at both ends `wide` more of what sides bring."""
    rows, n = np.moveaxis(scalars, 2 - axis, 0), grid.cells[axis]
    at = np.arange(-wide, n + wide)
    if variant.boundaries.periodic(axis):
        return rows[at % n]
    out = rows[np.clip(at, 0, n - 1)]
    out[:wide], out[n + wide :] = (
        brought(side, ambient) for side in variant.boundaries.sides[2 * axis : 2 * axis + 2]
    )
    return out


def _on_face(a: Array, b: Array, c: Array, d: Array) -> Array:
    """The values on the face between the middle two of four cells in a row."""
    return np.clip((7.0 * (b + c) - (a + d)) / 12.0, np.minimum(b, c), np.maximum(b, c))


def _crossing(rows: Array, wide: int, flow: Array, reach: int, inside: bool) -> Array:
    """What crosses each face for a flow in cells: those before it whole, and a part of the last.

    inside: whether only cells count that solids have come into, not the fluid on their other side.
    """
    up = flow > 0.0
    on, left, whole = np.where(up, -1, 1), np.abs(flow), np.zeros((*flow.shape, 3))
    at = np.arange(len(flow))[:, None, None] + wide - up

    def cells(by: int) -> Array:
        return np.take_along_axis(rows, (at + by * on)[..., None], 0)

    def fluid(of: Array) -> Array:
        return np.where(solid, np.maximum(-of[..., 3], 0.0), np.abs(of[..., 3]))

    solid = inside | (cells(0)[..., 3] < 0.0)
    for _ in range(reach):
        first = cells(0)
        takes = np.where(left > fluid(first), fluid(first), 0.0)
        if not takes.any():
            break  # most flows end long before those that cross cells with little fluid
        whole += takes[..., None] * first[..., :3]
        left -= takes
        at += np.where(takes > 0.0, on, 0)
        solid |= cells(0)[..., 3] < 0.0
    a, b, c, d, e = (cells(by) for by in (-2, -1, 0, 1, 2))

    def or_else(some: Array, other: Array) -> Array:
        return np.where(fluid(some)[..., None] == 0.0, other, some)

    c = or_else(c, b)  # from a solid that moves comes what is beside it
    b, d = or_else(b, c), or_else(d, c)
    a, e = or_else(a, b), or_else(e, d)
    there = fluid(c)
    share = np.minimum(left / np.where(there > 0.0, there, 1.0), 1.0)[..., None]
    a, b, c, d, e = (each[..., :3] for each in (a, b, c, d, e))
    rise, fall = _on_face(a, b, c, d) - c, c - _on_face(b, c, d, e)
    most = 2.0 * np.minimum(np.abs(rise), np.abs(fall)) * (rise * fall > 0.0)
    rise, fall = np.clip(rise, -most, most), np.clip(fall, -most, most)
    mean = c + rise - 0.5 * share * (rise + fall + (3.0 - 2.0 * share) * (rise - fall))
    return np.where(up, 1.0, -1.0)[..., None] * (whole + left[..., None] * mean)


def transport_scalars(
    grid: Grid,
    variant: Variant,
    *,
    scalars: Array,
    velocity: Array,
    dt: float,
    reach: int,
    ends: int,
    amounts: tuple[float, ...],
    keep: tuple[float, ...],
    ambient: float,
) -> Array:
    """Density, temperature and fuel carried along one axis, by parabolas."""
    axis, wide = variant.axis, reach + 3
    rows = _rows(grid, variant, scalars, axis, wide, ambient)
    flow = _passing(grid, variant, velocity, axis) * dt / grid.cell_size
    crossing = _crossing(rows, wide, flow, reach, inside=False)
    here = np.moveaxis(scalars, 2 - axis, 0)
    own, come = here[..., :3], here[..., 3:] < 0.0
    change = crossing[:-1] - crossing[1:]
    if variant.covered:  # a solid takes nothing from the fluid on its other side
        crossing = _crossing(rows, wide, flow, reach, inside=True)
        change = np.where(come, crossing[:-1] - crossing[1:], change)
    fluid = np.abs(here[..., 3:])
    left = fluid + (flow[:-1] - flow[1:])[..., None]
    least, held = np.maximum(left, LEAST), fluid * own + change
    values = np.where(amounts, held, held + (least - left) * own) / least
    if ends:
        values = faded(np.where(amounts, held, values), keep, ambient)
        least = np.ones_like(least)
    out = np.concatenate([values, np.where(come, -least, least)], -1)
    return np.moveaxis(np.where(fluid == 0.0, 0.0, out), 0, 2 - axis)


def most_asked(grid: Grid, variant: Variant, *, velocity: Array) -> Array:
    """What finite volumes go by, over blocks of cells, m/s.

    The most that axes take from a cell, and that all together leave; how much the flow along one differs, the
    first cells of the next block included.
    """
    axes = range(grid.dimensions)
    rows = [_passing(grid, variant, velocity, axis) for axis in axes]
    low, high = (
        np.stack([np.moveaxis(flow[at], 0, 2 - axis) for axis, flow in zip(axes, rows, strict=True)], -1)
        for at in (slice(None, -1), slice(1, None))
    )
    lost = high - low
    taken = np.maximum(np.cumsum(lost, -1), np.cumsum(lost[..., ::-1], -1)).max(-1)
    blocks = [-(-faces // BLOCK) for faces in velocity.shape[:3]]  # some may hold none but the last faces

    def in_blocks(values: Array, edge: int) -> Array:
        for axis, count in enumerate(blocks):
            last = grid.cells[2 - axis] - 1 + (variant.boundaries.periodic(2 - axis) and edge > BLOCK)
            at = np.minimum(BLOCK * np.arange(count)[:, None] + np.arange(edge), last)
            values = np.take(values, at % grid.cells[2 - axis], axis=2 * axis)
        return np.moveaxis(values, (1, 3, 5), (0, 1, 2)).reshape(edge**3, *blocks, -1)

    most = in_blocks(np.stack([taken, np.abs(lost.sum(-1))], -1), BLOCK).max(0)
    passes = np.concatenate([in_blocks(low, BLOCK + 1), in_blocks(high, BLOCK)])
    differs = passes.max(0) - passes.min(0)
    out = [np.maximum(most[..., 0], 0.0), most[..., 1], differs.max(-1), np.zeros(blocks)]
    return np.stack(out, -1)
