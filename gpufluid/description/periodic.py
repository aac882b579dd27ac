"""What a periodic box holds of a thing that stands in it: the thing and its images, whole boxes apart.

The box repeats without end along its periodic axes, and so does all that stands in it (Born & von Karman
1912). An image of a thing is the thing moved by whole edges of the box; those that touch the box are what it
holds. So where a thing stands counts modulo the box. Lengths are metres, from the low corner of the box.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np

from gpufluid.common.vectors import Floats, Triple
from gpufluid.description.boundaries import Boundaries
from gpufluid.description.grid import CellBox, Grid
from gpufluid.description.mesh import Mesh
from gpufluid.description.obstacles import Shape
from gpufluid.description.shapes import BOX, HALF_SPACE, Form, Plane, placed_points
from gpufluid.description.voxels import beyond_squared

MOST = 5  # images along an axis: all there are of things up to four boxes long
ALIGNED = 1e-9  # how far a direction may be off an axis of the box and is one
CLOSE = 1e-9  # of the box: what reaches no further beyond a side ends there
HERE = ((0.0, 0.0, 0.0),)  # the thing itself
CORNERS = np.array([(*signs, 1.0) for signs in product((-1.0, 1.0), repeat=3)])  # of a box of half edges 1


def periods(grid: Grid, boundaries: Boundaries) -> Triple:
    """Return the edges of the box along (x, y, z), m, and 0 along the axes it does not repeat along."""
    x, y, z = (
        edge if boundaries.periodic(axis) and axis < grid.dimensions else 0.0
        for axis, edge in enumerate(grid.size)
    )
    return x, y, z


def into_box(grid: Grid, boundaries: Boundaries, places: Floats) -> Floats:
    """`places` [n, 3], metres in the world, each moved by whole boxes to where it lies in the box.

    Along axes that the box does not repeat along they stay.
    """
    edges = np.array(periods(grid, boundaries))
    boxes = (places - np.array(grid.origin)) / np.where(edges > 0.0, edges, 1.0)
    return np.where(edges > 0.0, places - np.floor(boxes) * edges, places)


def nearest(period: Triple, way: Floats) -> Floats:
    """Return the shift, m, [3], that brings an image as near as any to what is `way` (m) from the thing."""
    off = zip(way.tolist(), period, strict=True)
    return np.array([round(d / edge) * edge if edge else 0.0 for d, edge in off])


def moved(place: Floats, shift: Floats | Triple) -> Floats:
    """`place` [4, 4] moved by `shift`, m."""
    there = place.copy()
    there[:3, 3] += shift
    return there


def came_from(
    grid: Grid, boundaries: Boundaries, shape: Shape, before: Floats, place: Floats
) -> Floats | None:
    """Return where a shape now at `place` [4, 4] was before, or the image of it there that is nearest.

    None where even that is further off than the shape is large: it was put there, and did not travel.
    """
    corners = _corners(shape)
    now, way = corners @ place.T, corners @ (place - before).T
    size = np.linalg.norm(now[0] - now[-1])
    if isinstance(shape, Plane):
        size = np.linalg.norm(grid.size)
    elif any(period := periods(grid, boundaries)):
        shift = nearest(period, way[:, :3].mean(axis=0))
        before, way = moved(before, shift), way - (*shift, 0.0)
    return before if np.linalg.norm(way, axis=1).max() <= size else None


def place_between(before: Floats, place: Floats, share: float) -> Floats:
    """Return where a shape is that has gone a share of the way from `before` to `place`, [4, 4].

    Its local origin moves and its axes are scaled evenly, while it turns the shorter way round. Both are
    translate @ rotate @ scale.
    """
    there = (1.0 - share) * before + share * place
    if not np.array_equal(before[:3, :3], place[:3, :3]):
        first, last = (np.linalg.norm(matrix[:3, :3], axis=0) for matrix in (before, place))
        start = before[:3, :3] / first
        turn = place[:3, :3] / last @ start.T
        axis = np.linalg.eigh(turn + turn.T)[1][:, 2]
        around = np.cross(np.eye(3), axis)  # @ v: axis x v
        angle = share * np.arctan2(0.5 * (turn * around).sum(), 0.5 * (np.trace(turn) - 1.0))
        turn = np.eye(3) + np.sin(angle) * around + (1.0 - np.cos(angle)) * around @ around
        there[:3, :3] = turn @ start * ((1.0 - share) * first + share * last)
    return there


def _corners(shape: Shape) -> Floats:
    """The corners of the box round a shape, and 1, in its own space, [8, 4]: first and last are opposite."""
    if isinstance(shape, Mesh):
        low, high = (corner.tolist() for corner in shape.bounds)
        return np.array([(*corner, 1.0) for corner in product(*zip(low, high, strict=True))])
    form = shape.form
    return np.array((CORNERS * (*form.half, 1.0)) @ form.place.T)


def bounds(place: Floats, half: Floats) -> tuple[list[float], list[float]]:
    """Return low and high corner of what a box of half edges `half` takes up where `place` [4, 4] puts it."""
    reach, middle = np.abs(place[:3, :3]) @ half, place[:3, 3]
    return (middle - reach).tolist(), (middle + reach).tolist()


def cells_between(grid: Grid, shift: Triple, low: Sequence[float], high: Sequence[float]) -> CellBox:
    """Return the corners, in cells, of what lies `shift` off between two corners, all in m; a cell more."""
    first, last = (
        [
            min(max((x + d) / grid.cell_size, -2.0), n + 2.0)
            for x, d, n in zip(corner, shift, grid.cells, strict=True)
        ]
        for corner in (low, high)
    )
    if grid.dimensions == 2:
        first[2], last[2] = 0.0, 1.0
    return [math.floor(x) - 1.0 for x in first], [math.ceil(x) + 1.0 for x in last]


def images(period: Triple, low: Sequence[float], high: Sequence[float]) -> Sequence[Triple]:
    """Return by how much to move what lies between two corners to get its images that touch the box, m.

    One at least. Of what is more than four boxes long along an axis, the MOST nearest there.
    """
    if not any(period):
        return HERE
    return _shifts(period, [_along(edge, a, b) for edge, a, b in zip(period, low, high, strict=True)])


def form_images(
    grid: Grid,
    boundaries: Boundaries,
    form: Form,
    place: Floats,
    reach: float = 0.0,
    most: int = MOST**3,
) -> tuple[Form, Sequence[Triple]]:
    """Return a form, and by how much to move it to get its images that touch the box, m.

    place: [4, 4], the form's own space to metres from the low corner of the box; without scale where the
    form is felt as far as `reach` beyond its surface. most: of the images, those nearest to the box.

    A half space has no images: it has no bounds as it is, and they would fill the box. What runs along an
    axis for as long as the box is has no ends there: one image will do, of a form long enough for the box.
    """
    period = periods(grid, boundaries)
    if form.kind == HALF_SPACE or not any(period):
        return form, HERE
    low, high = bounds(place, form.half + reach)
    along = [_along(edge, a, b) for edge, a, b in zip(period, low, high, strict=True)]
    for axis, edge in enumerate(period):
        column = _endless(form, place, axis, edge) if len(along[axis]) > 1 else None
        if column is not None:
            x, y, z = (3.0 * core if n == column else core for n, core in enumerate(form.core))
            form, along[axis] = replace(form, core=(x, y, z)), (round(0.5 - float(place[axis, 3]) / edge),)
    there = _shifts(period, along)
    return form, there if len(there) == 1 else _touching(grid, form, place, reach, there, most)


class Held(NamedTuple):
    """What a box holds of a shape, m from its low corner.

    form: what the shape and its images are voxelized as, see `form_images`; None: the mesh itself. low, high:
    corners of what it takes up, of no meaning for a plane. there: by how much to move it to get each image.
    """

    form: Form | None
    low: Sequence[float]
    high: Sequence[float]
    there: Sequence[Triple]


def held(grid: Grid, boundaries: Boundaries, shape: Shape, place: Floats) -> Held:
    """Return what the box holds of a shape. place: [4, 4], its own space to metres from the low corner."""
    if isinstance(shape, Mesh):
        corners = placed_points(place, shape.vertices)
        low, high = corners.min(axis=0).tolist(), corners.max(axis=0).tolist()
        return Held(None, low, high, images(periods(grid, boundaries), low, high))
    frame = place @ shape.form.place
    form, there = form_images(grid, boundaries, shape.form, frame)
    return Held(form, *bounds(frame, form.half), there)


def _touching(
    grid: Grid, form: Form, place: Floats, reach: float, there: Sequence[Triple], most: int
) -> Sequence[Triple]:
    """Those of the images of a form that its own axes do not keep off the box, at most so many."""
    inverse, half = np.linalg.inv(place)[:3, :3], 0.5 * np.array(grid.size)
    off = (half - place[:3, 3] - there) @ inverse.T
    touches = (np.abs(off) <= form.half + reach + np.abs(inverse) @ half).all(axis=1)
    found = np.flatnonzero(touches)
    if len(found) > most:
        middles = (place[:3, 3] + there)[found]
        way = np.clip(middles, 0.0, grid.size) - middles
        # of what is no askew form every place of the box has a nearer image than those half a box off
        hidden = (np.abs(way) > (0.5 + CLOSE) * np.array(grid.size)).any(axis=1)
        beside = beyond_squared(form.kind, list((way @ inverse.T).T), form.core)  # 0 where it reaches the box
        found = found[np.lexsort(((way**2).sum(axis=1), beside, hidden))[:most]]
    return [there[n] for n in found.tolist()]


def _along(edge: float, low: float, high: float) -> Sequence[int]:
    """By how many boxes to move what lies from `low` to `high` along an axis. edge: see `periods`."""
    if not edge or (low >= 0.0 and high <= edge):
        return (0,)
    first, last = math.floor(CLOSE - high / edge) + 1, math.ceil(1.0 - low / edge - CLOSE) - 1
    if last - first >= MOST:
        first = round(0.5 - 0.5 * (low + high) / edge) - MOST // 2
        last = first + MOST - 1
    return range(first, max(first, last) + 1)


def _shifts(period: Triple, along: Sequence[Sequence[int]]) -> Sequence[Triple]:
    """By how much to move by so many boxes along each axis, in all combinations, m."""
    if all(tuple(numbers) == (0,) for numbers in along):
        return HERE
    x, y, z = ([n * edge for n in numbers] for numbers, edge in zip(along, period, strict=True))
    return [(i, j, k) for k, j, i in product(z, y, x)]


def _endless(form: Form, place: Floats, axis: int, edge: float) -> int | None:
    """Which axis of a form runs along `axis` of the box for all of its `edge`, if one does."""
    for column in range(3) if form.kind == BOX else (1,):
        x, y, z = np.abs(place[:3, column]).tolist()
        length = (x, y, z)[axis]
        if x + y + z <= length * (1.0 + ALIGNED) and 2.0 * form.core[column] * length >= edge * (1.0 - 1e-6):
            return column
    return None
