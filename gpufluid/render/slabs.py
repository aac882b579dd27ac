"""Where the box of a fluid lies in a picture, whole and cut into slabs.

A row of six numbers tells what is drawn at once: left, bottom, right, top of its rectangle in the picture
(-1 .. 1), and its two ends. It holds one slab, or a stack of neighbouring ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from gpufluid.common.checks import locked
from gpufluid.common.vectors import Floats
from gpufluid.description.grid import Grid
from gpufluid.render.camera import Rays, middle_of

FEWEST, MOST = 32, 160  # slabs across the view chosen by default, at full quality
LEAST_LEAD = 1e-6  # share of a slab: less of the first one is none
GOLDEN = 0.6180339887  # from cut to cut, by which noise evens out along a ray
TOLD = 0.01  # share of a slab, that the ends of a row are told apart by at least, see `_told`
STACK = 8  # neighbouring slabs that one rectangle stands for, at most

Rows = NDArray[np.float32]
Cuts = tuple[float, float, int]  # where the first slab begins, how thick each is, their number

CORNERS = np.array([(i & 1, i >> 1 & 1, i >> 2 & 1) for i in range(8)], np.float64)
EDGES = np.array([(i, i | bit) for bit in (1, 2, 4) for i in range(8) if not i & bit])
NONE = np.empty((0, 6), np.float32)


def box_of(grid: Grid, rays: Rays) -> Rows:
    """Return the box as one slab, [1, 6]: its ends are m in front of the eye; none where it is not seen."""
    near, far = _depths(grid, rays)
    if far <= near:
        return NONE
    return _seen(rectangles(rays, _corners(grid), np.array([far, near])), np.array([[near, far]]))


@dataclass(frozen=True)
class _Across:
    """Cuts across the view: the slab in which the box begins is number 0.

    near, far: where the box begins and ends, m in front of the eye. thickness: of a whole slab, m. lead: the
    share of slab 0 that lies before the box, 0 .. 1. number: of slabs, the first and the last of which may be
    thinner. phase: what number slab 0 has for the noise, which goes down from slab to slab.
    """

    near: float
    far: float
    thickness: float
    lead: float
    number: int
    phase: int

    @classmethod
    def of(
        cls, grid: Grid, rays: Rays, count: int | None, quality: float, lag: tuple[int, int, int]
    ) -> _Across:
        """The cuts through a box that has moved on by `lag` cells over them: they stay in the world.

        count: of slabs at full quality; None: one a cell, 32 to 160. quality: the share of them taken, at
        least one. Slabs of a number that nobody has given lie about the middle of the box, as thick however
        it is seen: as the view turns they turn with it, and none leaps because one more has found a place.
        """
        near, far = _depths(grid, rays)
        if count is None:
            slabs = max(1.0, quality * float(np.clip((far - near) / grid.cell_size, FEWEST, MOST)))
        else:
            slabs = float(max(1, round(quality * count)))
        thickness = (far - near) / slabs
        gone = float(np.array(lag) @ rays.forward) * grid.cell_size / thickness
        if count is None:
            middle = float(rays.depth(middle_of(grid)))
            gone -= (middle - near) / thickness  # where a cut lies
        elif near <= rays.near:  # from the eye on, which is in the box
            gone = 0.0
        passed, lead = _parted(gone)
        return cls(near, far, thickness, lead, _whole(slabs + lead), -1 - passed)


def _whole(slabs: float) -> int:
    """How many slabs it takes, the last of which may be a part."""
    return max(1, int(np.ceil(slabs - 1e-6)))


def _parted(gone: float) -> tuple[int, float]:
    """How many whole slabs that is, and the share of one that is left."""
    number = int(np.floor(gone + 1e-6))
    return number, max(gone - number, 0.0)


def view_slabs(
    grid: Grid,
    rays: Rays,
    count: int | None = None,
    quality: float = 1.0,
    lag: tuple[int, int, int] = (0, 0, 0),
    stack: int = 1,
    spread: float = 0.0,
) -> Rows:
    """Return slabs of equal thickness across the view, farthest first, [n, 6]; ends: m in front of the eye.

    Those out of the picture are left out. The first and the last may be thinner, but for `_told`. count,
    quality, lag: as in `_Across.of`. stack: slabs to a row, counted from the nearest. spread: share of a slab
    by which each may be longer.
    """
    near, far = _depths(grid, rays)
    if far <= near:
        return NONE
    across = _Across.of(grid, rays, count, quality, lag)
    cuts = near + (np.arange(across.number, -1.0, -1.0) - across.lead) * across.thickness
    cuts[0], cuts[-1] = far, near
    cuts = _every(stack, cuts[::-1])[::-1]
    further = spread * across.thickness
    ends = np.stack([cuts[1:], cuts[:-1]], axis=1)
    return _seen(rectangles(rays, _corners(grid), cuts, further), _told(ends, across.thickness))


def view_cuts(grid: Grid, rays: Rays, count: int | None, quality: float, lag: tuple[int, int, int]) -> Cuts:
    """Return where the nearest of `view_slabs` would begin whole, how thick each is, m, and their number."""
    across = _Across.of(grid, rays, count, quality, lag)
    return across.near - across.lead * across.thickness, across.thickness, across.number


def view_shifts(
    grid: Grid, rays: Rays, count: int | None, quality: float, lag: tuple[int, int, int]
) -> tuple[float, float]:
    """Return by how much noise is shifted where the nearest of `view_slabs` begins, and more by cut."""
    return GOLDEN * _Across.of(grid, rays, count, quality, lag).phase % 1.0, -GOLDEN


def axis_of(rays: Rays) -> int:
    """Return the axis of the box nearest the middle of the view."""
    return int(np.abs(rays.direction[0]).argmax())


def axis_slabs(
    grid: Grid,
    rays: Rays,
    count: int | None = None,
    quality: float = 1.0,
    scrolled: tuple[int, int, int] = (0, 0, 0),
    stack: int = 1,
    spread: float = 0.0,
) -> Rows:
    """Return slabs across `axis_of` the box, farthest first, [n, 6]; ends: cells along that axis.

    count: how many; None: one a layer of cells. Those out of the picture are left out. scrolled: as in
    `axis_cuts`; the first and the last may then be thinner. stack: slabs to a row, counted from the lowest.
    spread: as for `view_slabs`.
    """
    axis = axis_of(rays)
    first, thickness, count = axis_cuts(grid, rays, count, quality, scrolled)
    cuts = np.clip(first + thickness * np.arange(count + 1), 0.0, grid.cells[axis])
    cuts[-1] = grid.cells[axis]
    cuts = _every(stack, cuts)
    ends = np.stack([cuts[:-1], cuts[1:]], axis=1)
    if rays.parallel:
        ends = ends[::-1] if rays.direction[0, axis] > 0.0 else ends
    else:
        # seen from one point, on every ray a slab hides those further along the axis from that point
        eye = (rays.origin[0, axis] - grid.origin[axis]) / grid.cell_size
        apart = np.maximum(np.maximum(ends[:, 0] - eye, eye - ends[:, 1]), 0.0)
        ends = ends[np.argsort(-apart, kind="stable")]
    corners = np.repeat(_corners(grid)[None], len(ends), axis=0)
    held = np.clip(ends + spread * thickness * np.array((-1.0, 1.0)), 0.0, grid.cells[axis])
    corners[..., axis] = grid.origin[axis] + grid.cell_size * held[:, CORNERS[:, axis].astype(int)]
    low, high = _extent(rays, corners, rays.depth(corners) >= rays.near)
    low_cut, high_cut = _crossings(rays, corners, np.full(len(ends), rays.near))
    return _seen(_with_slack(np.minimum(low, low_cut), np.maximum(high, high_cut)), ends)


def axis_cuts(
    grid: Grid, rays: Rays, count: int | None, quality: float, scrolled: tuple[int, int, int]
) -> Cuts:
    """Return where the lowest of `axis_slabs` would begin whole, how thick each is, cells, and their number.

    scrolled: cells that the box has moved on over them; they stay in the world.
    """
    axis = axis_of(rays)
    steps = _axis_steps(grid, axis, count, quality)
    thickness, (_, lead) = grid.cells[axis] / steps, _axis_lead(grid, axis, steps, scrolled)
    if lead > LEAST_LEAD:
        return -lead * thickness, thickness, steps + 1
    return 0.0, thickness, steps


def axis_shifts(
    grid: Grid, rays: Rays, count: int | None, quality: float, scrolled: tuple[int, int, int]
) -> tuple[float, float]:
    """Return by how much noise is shifted where the lowest of `axis_slabs` begins, and more by cut."""
    axis = axis_of(rays)
    steps = _axis_steps(grid, axis, count, quality)
    number, _ = _axis_lead(grid, axis, steps, scrolled)
    if rays.direction[0, axis] > 0.0:  # counted from the farthest slab on
        return GOLDEN * (steps - 1 - number) % 1.0, -GOLDEN
    return GOLDEN * number % 1.0, GOLDEN


def stack_of(count: int) -> int:
    """Return how many of `count` slabs one rectangle stands for: about as many for each."""
    return -(-count // -(-count // STACK))


def _every(stack: int, cuts: Floats) -> Floats:
    """The first of every `stack` cuts, and the last of all."""
    return np.concatenate([cuts[:-1:stack], cuts[-1:]])


def _told(ends: Floats, thickness: float) -> Floats:
    """The ends of rows, farthest first, as a shader is told them: thin ones reach on beyond the box.

    It finds which row it is from the middle between them, in single floats that GPUs divide inexactly: one
    that lies within rounding of a cut would be taken for the row before, and be drawn twice.
    """
    lacks = np.maximum(TOLD * thickness - (ends[:, 1] - ends[:, 0]), 0.0)
    told = ends.copy()
    told[0, 1] += lacks[0]
    if len(ends) > 1:
        told[-1, 0] -= lacks[-1]
    return told


def _axis_steps(grid: Grid, axis: int, count: int | None, quality: float) -> int:
    """How many slabs the box is cut into along an axis."""
    return max(1, round(quality * (grid.cells[axis] if count is None else count)))


def _axis_lead(grid: Grid, axis: int, steps: int, scrolled: tuple[int, int, int]) -> tuple[int, float]:
    """The number of the slab in which the box begins, and the share of that slab that lies before it."""
    return _parted(scrolled[axis] * steps / grid.cells[axis])


@lru_cache(maxsize=1)
def _corners(grid: Grid) -> Floats:
    return locked(np.array(grid.origin) + CORNERS * np.array(grid.size))


@lru_cache(maxsize=1)  # a picture asks for it a dozen times
def _depths(grid: Grid, rays: Rays) -> tuple[float, float]:
    """Where the box begins and ends in front of the eye, no nearer than the picture, m."""
    depths = rays.depth(_corners(grid))
    return max(float(depths.min()), rays.near), float(depths.max())


def _seen(bounds: Floats, ends: Floats) -> Rows:
    seen = (bounds[:, :2] < bounds[:, 2:]).all(axis=1)
    return np.concatenate([bounds, ends], axis=1)[seen].astype(np.float32)


def rectangles(rays: Rays, corners: Floats, cuts: Floats, further: float = 0.0) -> Floats:
    """The rectangle of the picture round the part of a box between neighbouring cuts, [n, 4].

    corners: of the box, [8, 3]. cuts: m in front of the eye, falling, [n + 1]. further: m beyond these cuts.
    """
    depths = rays.depth(corners)
    near = np.maximum(cuts - further, rays.near) if further else cuts
    far = cuts + further
    inside = (depths <= far[:-1, None]) & (depths >= near[1:, None])
    low_corner, high_corner = _extent(rays, corners, inside)
    low, high = _crossings(rays, corners, near)
    low_far, high_far = _crossings(rays, corners, far) if further else (low, high)
    return _with_slack(
        np.minimum(np.minimum(low_far[:-1], low[1:]), low_corner),
        np.maximum(np.maximum(high_far[:-1], high[1:]), high_corner),
    )


def _with_slack(low: Floats, high: Floats) -> Floats:
    slack = 1e-3  # of the picture's half: float32 and pixels that the edge only touches
    return np.concatenate([np.clip(low - slack, -1.0, 1.0), np.clip(high + slack, -1.0, 1.0)], axis=1)


def _extent(rays: Rays, points: Floats, counted: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """The lowest and highest place in the picture of the points [..., n, 3] that are counted."""
    places = _in_picture(rays, points)
    return (
        np.where(counted[..., None], places, np.inf).min(axis=-2),
        np.where(counted[..., None], places, -np.inf).max(axis=-2),
    )


def _crossings(rays: Rays, corners: Floats, cuts: Floats) -> tuple[Floats, Floats]:
    """The lowest and highest place in the picture where each cut meets the edges of its box."""
    depths = rays.depth(corners)
    a, b = depths[..., EDGES[:, 0]], depths[..., EDGES[:, 1]]
    step = b - a
    part = (cuts[:, None] - a) / np.where(step == 0.0, 1.0, step)
    met = (part >= 0.0) & (part <= 1.0) & (step != 0.0)
    start, end = corners[..., EDGES[:, 0], :], corners[..., EDGES[:, 1], :]
    return _extent(rays, start + part[..., None] * (end - start), met)


def _in_picture(rays: Rays, points: Floats) -> Floats:
    """Where points [..., 3] are in the picture, [..., 2]; anything large behind the eye or beside it."""
    # point = (origin0 + depth direction0) + x (origin1 + depth direction1) + y (...), across the view
    depth = np.maximum(rays.depth(points), 1e-9)[..., None]
    from_axis = points - rays.origin[0] - depth * rays.direction[0]
    right, up = (rays.origin[i] + depth * rays.direction[i] for i in (1, 2))
    # least squares of two axes that are all but never skew
    rr, ru, uu = ((p * q).sum(axis=-1) for p, q in ((right, right), (right, up), (up, up)))
    r, u = ((from_axis * axis).sum(axis=-1) for axis in (right, up))
    area = rr * uu - ru * ru
    return np.stack([(r * uu - u * ru) / area, (u * rr - r * ru) / area], axis=-1)
