"""The grids of a multigrid cycle, each with half the cells along every axis, and cells in two colours."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpufluid.contract.kernels import Variant
from gpufluid.contract.layout import LANES
from gpufluid.description.grid import Grid
from gpufluid.reference.arrays import Array, rolled
from gpufluid.reference.pressure import of_colour, pressure_operator, red_black, residual, stacked
from gpufluid.reference.reductions import balance, dot_rows
from gpufluid.reference.walls import open_masks


def sum_pairs(fine: Array, axis: int) -> Array:
    """Sums over pairs of neighbours along array `axis`; a last one without a partner stands alone."""
    return np.asarray(np.add.reduceat(fine, np.arange(0, fine.shape[axis], 2), axis))


def sum_of_eight(fine: Array) -> Array:
    """Sums of [z, y, x, ...] over the cells that one of the next coarser grid stands for."""
    for axis in range(3):
        fine = sum_pairs(fine, axis)
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
    return sum_of_eight(residual(grid, variant, **given) * _stood_for(grid, joined)[..., None])


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
    **fine_weights: Array,
) -> Array:
    """Bits of the finer cells that each cell stands for: of those joined in it and round it the most."""
    weights = stacked(fine_weights)
    if weights is None:
        masks = open_masks(_finer(finest, stride), variant, openings)
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
    met = [
        np.moveaxis(way & fluid, 5 - axis, 0)[1:] & np.moveaxis(fluid, 5 - axis, 0)[:-1]
        for axis, way in enumerate(ways)
    ]
    while (before != part).any():
        before = part.copy()
        for axis, joined in enumerate(met):
            lines = np.moveaxis(part, 5 - axis, 0)
            least = np.where(joined, np.minimum(lines[1:], lines[:-1]), 64)
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
    to the side.
    """
    widths = _widths(finest, stride)
    return 0.5 * (widths + np.roll(widths, 1)), (0.5 * widths[0], 0.5 * widths[-1])


def coarse_weights(
    grid: Grid,
    variant: Variant,
    *,
    finest: tuple[int, int, int],
    stride: int,
    joined: Array | None = None,
    openings: Array | None = None,
    **fine_weights: Array,
) -> Array:
    """Area over distance of the low faces of coarse cells along x, y and z, and the sum over all six."""
    fine = stacked(fine_weights)
    finer, narrow = _finer(finest, stride), stride // 2
    kept = _stood_for(finer, joined)
    nx, ny, nz = grid.cells
    out = np.zeros((nz, ny, nx, 4))
    sides = variant.boundaries
    # weight of the open sides of the box, and of faces to what nothing stands for
    beyond = np.zeros(kept.shape)
    if fine is not None:
        inner = sum(fine[..., axis] + rolled(fine[..., axis], 1, 2 - axis) for axis in range(3))
        beyond = fine[..., 3] - inner
        beyond[beyond <= 1e-5 * fine[..., 3]] = 0.0
    else:
        masks = open_masks(finer, variant, openings)
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
                if fine is None:
                    beyond += here * masks[2 * axis + high] / coarse_beyond[high]
        if fine is not None:
            area = fine[..., axis] * near.reshape(line)
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
        lost += own + rolled(others, 1, a)
        area = np.take(area * (kept & before), np.arange(0, n, 2), a)
        for b in {0, 1, 2} - {a}:
            area = sum_pairs(area, b)
        out[..., axis] = area / far.reshape(line)
    if fine is not None:
        beyond *= shrink
    whole = sum_of_eight(np.where(kept, beyond + lost, 0.0))
    out[..., 3] = whole + sum(out[..., a] + rolled(out[..., a], 1, 2 - a) for a in range(3))
    return out


def prolong(
    grid: Grid,
    variant: Variant,
    *,
    pressure: Array,
    correction: Array,
    joined: Array | None = None,
    openings: Array | None = None,
    **weights: Array,
) -> Array:
    """The pressure with the coarser grid's correction, linear between cells that see each other."""
    kept = _stood_for(grid, joined)
    faces = stacked(weights)
    coarse, sides = correction[..., 0], variant.boundaries
    index = [np.arange(n) // 2 for n in grid.cells[::-1]]
    own = coarse[np.ix_(*index)]
    change = own.copy()
    diagonal = pressure_operator(grid, variant, own, openings, faces)[1]
    masks = None if faces is not None else open_masks(grid, variant, openings)
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
        share = np.where(low | high, 0.5, 0.25)  # of the way to the side, or to the next
        share[(i == n - 1) & ~up] = 0.0  # a cell that is a coarse one by itself
        if faces is not None:
            low_faces = faces[..., axis]
            open_ = np.where(up.reshape(line), np.roll(low_faces, -1, a), low_faces) > 0.0
        else:
            assert masks is not None
            open_ = np.where(up.reshape(line), masks[2 * axis + 1], masks[2 * axis])
        open_ = open_ & kept.take((i + np.where(up, 1, -1)) % n, a)
        change += np.where(open_ | out, share.reshape(line) * (beside - own), 0.0)
    return np.where(diagonal > 0.0, pressure[..., 0] + change * kept, 0.0)[..., None]


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
    return np.asarray(np.where(of_colour(colour, *values.shape[:2])[..., None, None], *out))


def half_shape(grid: Grid) -> tuple[int, int, int, int]:
    """The shape of the values of one colour, lanes past the rows with them."""
    nx, ny, nz = grid.cells
    return nz, ny, LANES * -(-nx // (2 * LANES)), 1


def _interleaved(grid: Grid, red: Array, black: Array) -> Array:
    """The values of all cells [z, y, x, 1], of those of the two colours."""
    nx = grid.cells[0]
    pairs = [own.repeat(2, axis=2)[:, :, :nx] for own in (red, black)]
    return np.asarray(np.where(of_colour(0, *grid.cells[::-1])[..., None], *pairs))


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
    grid: Grid, variant: Variant, *, other: Array, right: Array, colour: int, **openings: Array
) -> Array:
    """Half a sweep of Gauss-Seidel over one colour."""
    nothing = np.zeros_like(other)
    pressure, divergence = _joined(grid, colour, nothing, other), _joined(grid, colour, right, nothing)
    given = {"pressure": pressure, "divergence": divergence, **openings}
    return half(grid, red_black(grid, variant, scale=1.0, omega=1.0, colour=colour, **given), colour)


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
    has_colour = of_colour(colour, *left.shape[:3]) & _stood_for(grid, joined)
    return sum_of_eight(left * has_colour[..., None])


def prolong_half(
    grid: Grid, variant: Variant, *, own: Array, correction: Array, colour: int, **given: Array
) -> Array:
    """The pressure of one colour with the coarser grid's correction."""
    pressure = _joined(grid, colour, own, np.zeros_like(own))
    return half(grid, prolong(grid, variant, pressure=pressure, correction=correction, **given), colour)
