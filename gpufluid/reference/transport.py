"""What the fluid holds, carried in finite volumes."""

from __future__ import annotations

import numpy as np

from gpufluid.contract.kernels import Variant
from gpufluid.description.boundaries import Wall
from gpufluid.description.grid import Grid
from gpufluid.reference.advection import brought, faded
from gpufluid.reference.arrays import Array, cells_beside, high_faces, low_faces
from gpufluid.reference.reductions import largest_of_blocks

LEAST = 0.05  # fluid in a cell: what is divided by less is rounding, and values take the rest from before


def _row(grid: Grid, variant: Variant, scalars: Array, axis: int, by: int, ambient: float) -> Array:
    """The cells `by` steps on along `axis`: beyond a side what it brings, or nothing."""
    out = cells_beside(grid, variant, axis, by, scalars)
    if by and not variant.boundaries.periodic(axis):
        rows = np.moveaxis(out, 2 - axis, 0)
        some = brought(variant.boundaries.sides[2 * axis + (by > 0)], ambient)
        rows[-by:] = some if by > 0 else rows[-by:]
        rows[: max(-by, 0)] = some
    return out


def _flows(grid: Grid, variant: Variant, velocity: Array, axis: int, dt: float) -> list[Array]:
    """The flow through the low faces of the cells before, of each, and of the two after, in cells."""
    n, rows = grid.cells[axis], np.moveaxis(velocity[..., axis], 2 - axis, 0)
    around = variant.boundaries.periodic(axis)
    nx, ny, nz = grid.cells
    flows = []
    for by in (-1, 0, 1, 2):
        at = np.arange(n) + by
        flow = np.moveaxis(rows[at % n if around else np.clip(at, 0, n)], 0, 2 - axis)[:nz, :ny, :nx]
        flows.append(flow * dt / grid.cell_size)
    if not around:
        np.moveaxis(flows[0], 2 - axis, 0)[0] = 0.0
        np.moveaxis(flows[3], 2 - axis, 0)[-1] = 0.0
        for high in (False, True):
            if isinstance(variant.boundaries.sides[2 * axis + high], Wall):  # whatever was written there
                for by, flow in zip((-1, 0, 1, 2), flows, strict=True):
                    face = n - by if high else -by
                    if 0 <= face < n:
                        np.moveaxis(flow, 2 - axis, 0)[face] = 0.0
    return flows


def _given(fluid: Array, low: Array, high: Array) -> Array:
    """The share that a cell can give of what would leave it through its two faces."""
    leaves = np.maximum(high, 0.0) + np.maximum(-low, 0.0)
    short = (fluid > 0.0) & (leaves > fluid)
    return np.where(short, fluid / np.where(short, leaves, 1.0), 1.0)


def _crossing(flow: Array, *five: Array) -> Array:
    """What crosses a face for `flow` cells of fluid; of five cells in a row it comes from the middle one."""
    a, b, c, d, e = five
    moves = c[..., 3:] == 0.0  # a solid, from which comes what is beside it
    beside = d
    b = np.where(b[..., 3:] == 0.0, c, b)
    a = np.where(a[..., 3:] == 0.0, b, a)
    d = np.where(d[..., 3:] == 0.0, c, d)
    e = np.where(e[..., 3:] == 0.0, d, e)
    ahead = np.clip((7.0 * (c + d) - (b + e)) / 12.0, np.minimum(c, d), np.maximum(c, d))
    behind = np.clip((7.0 * (b + c) - (a + d)) / 12.0, np.minimum(b, c), np.maximum(b, c))
    rise, fall = ahead - c, c - behind
    most = 2.0 * np.minimum(np.abs(rise), np.abs(fall)) * (rise * fall > 0.0)
    rise, fall = np.clip(rise, -most, most), np.clip(fall, -most, most)
    fluid = np.where(moves, 1.0, c[..., 3:])
    share = np.minimum(np.abs(flow[..., None]) / fluid, 1.0)
    mean = c + rise - 0.5 * share * (rise + fall + (3.0 - 2.0 * share) * (rise - fall))
    return flow[..., None] * np.where(moves, beside, mean)


def transport_scalars(
    grid: Grid,
    variant: Variant,
    *,
    scalars: Array,
    velocity: Array,
    dt: float,
    ends: int,
    amounts: tuple[float, ...],
    keep: tuple[float, ...],
    ambient: float,
) -> Array:
    """Density, temperature and fuel carried along one axis, by parabolas."""
    axis = variant.axis
    row = [_row(grid, variant, scalars, axis, by, ambient) for by in range(-3, 4)]
    come = scalars[..., 3] < 0.0  # a solid, just now: what it pushes on comes not from its other side
    for cells in row if variant.covered else ():
        cells[..., 3] = np.where(come, np.maximum(-cells[..., 3], 0.0), np.abs(cells[..., 3]))
    flow = _flows(grid, variant, velocity, axis, dt)
    share = [_given(row[n + 2][..., 3], flow[n], flow[n + 1]) for n in range(3)]

    def through(face: int) -> tuple[Array, Array]:
        """The fluid that crosses the low or the high face (0, 1) of each cell, and what is in it."""
        up = flow[face + 1] > 0.0
        fluid = flow[face + 1] * np.where(up, share[face], share[face + 1])
        along = _crossing(fluid, *row[face : face + 5])
        against = _crossing(fluid, *row[face + 5 : face : -1])
        return fluid, np.where(up[..., None], along, against)

    (comes, brings), (goes, takes) = through(0), through(1)
    here = row[3]
    left = (here[..., 3] + comes - goes)[..., None]
    fluid, amount = np.maximum(left, LEAST), np.array([*amounts, 0.0])
    held = here[..., 3:] * here + brings - takes
    values = (held + (fluid - left) * (1.0 - amount) * here) / fluid
    if ends:
        values = faded(values + (held - values) * amount, keep, ambient)
        fluid = np.ones_like(fluid)
    out = np.concatenate([values[..., :3], np.where(come[..., None], -fluid, fluid)], -1)
    return np.where(here[..., 3:] == 0.0, 0.0, out)


def most_asked(grid: Grid, variant: Variant, *, velocity: Array) -> Array:
    """What cells in each block are asked for at most between two axes, m/s; first channel."""
    axes = range(grid.dimensions)
    low = [low_faces(grid, velocity)[..., axis] for axis in axes]
    high = [high_faces(grid, velocity, axis, axis) for axis in axes]
    leaves = [np.maximum(b, 0.0) + np.maximum(-a, 0.0) for a, b in zip(low, high, strict=True)]
    lost = [b - a for a, b in zip(low, high, strict=True)]
    asked = [
        leaves[axis] + sum(lost[before] for before in order[: order.index(axis)])
        for order in ([*axes], [*axes][::-1])
        for axis in axes
    ]
    extra = [(0, faces - cells) for faces, cells in zip(velocity.shape, grid.cells[::-1], strict=False)]
    most = np.pad(np.max(asked, 0), extra, mode="edge")  # a block may hold none but the last faces
    return largest_of_blocks(most[..., None] * [1.0, 0.0, 0.0, 0.0])
