"""How much of a source each cell gets, 0 .. 1, for shapes that no kernel knows by a formula.

Every array is float64 [nz, ny, nx]. What lies outside a shape by d metres gets exp(-(d / width)^2), nothing
from 4 widths on, as in emitter.glsl; without a width a cell gets the share of it that the shape covers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from gpufluid.common.errors import GpufluidError
from gpufluid.common.vectors import Floats, Triple
from gpufluid.description.grid import Grid
from gpufluid.description.mesh import Family, Mesh
from gpufluid.description.periodic import bounds, images, moved
from gpufluid.description.shapes import Analytic, placed_points
from gpufluid.description.sources import Array, Bezier, Image, Line, Surface
from gpufluid.description.voxels import centers_along, cover, in_batches, inside_mesh

Unformed = Mesh | Surface | Line | Bezier | Image

SEEN = 3.0  # widths of an edge past which nobody sees what is emitted: exp(-9) is 1e-4
CUT = 4.0  # widths of an edge past which nothing is emitted: exp(-16) is 1e-7
PARTS = 8  # of a cell along each axis, where cover is counted out
PAIRS_AT_ONCE = 1 << 14  # pairs of triangle and cell held at once: of 1 << 16 each takes twice as long
MOST_BEYOND = 8  # times the cells of the box that a mesh may reach over which is looked at whole
# cells of 6 V / A: the diameter of a ball, the edge of a cube, three times how thick a sheet is. The cover of
# what is thicker comes to the right volume to 1 % by itself
THIN = 8.0
COUNTED = 48  # cells of a mesh along each axis, to see whether its volume is what is inside
MOST_PAIRS = 1 << 26  # some ten seconds' work
# Where a triangle has more cells near it, on average, it is first ruled out for most of them. That takes as
# long as to measure so many, and an eighth of the time of each.
WIDE, CHEAPER = 200, 8


def source_mask(
    grid: Grid,
    shape: Unformed | Array,
    matrix: Floats,
    width: float | None,
    period: Triple = (0.0, 0.0, 0.0),
) -> Floats:
    """The share of each cell in a source whose space `matrix` [4, 4], a rigid motion, takes to the world.

    width: of the Gaussian edge, metres; None: a hard edge, where parts thinner than a cell of a mesh that is
    open, overlaps itself or is inside out in part may count for up to half a cell more. In 2D the shape is
    moved along z, so that its middle lies in the slice. period: as of `periodic.periods`; where images of a
    source overlap, a cell has the share of the one with most of it.
    """
    if isinstance(shape, Array):
        return grid.averaged(shape.values)
    there = images(period, *bounds(*source_box(grid, shape, matrix, width)))
    shares = [_mask(grid, shape, moved(matrix, shift), width) for shift in there]
    if isinstance(shape, Image):  # side by side the pixels at their edges make up for one another
        return np.asarray(np.minimum(np.sum(shares, axis=0), 1.0))
    return np.asarray(np.max(shares, axis=0))


def source_box(grid: Grid, shape: Unformed, matrix: Floats, width: float | None) -> tuple[Floats, Floats]:
    """The box round all that a source reaches: [4, 4], from its middle to metres from the low corner of the
    grid, and half its edges, m, [3].
    """
    reach = _reach(grid, width)
    if isinstance(shape, Image):
        pixels = (size / n for size, n in zip(shape.size, shape.pixels.shape[::-1], strict=True))
        beyond = [0.5 * max(pixel, grid.cell_size) for pixel in pixels]  # a pixel fades over the next
        half = 0.5 * np.array((*shape.size, thickness_of(grid, shape))) + (*beyond, 0.0)
        low, high = shape.center - half, shape.center + half
    elif isinstance(shape, Line | Bezier):
        radius = max(shape.radius, 0.5 * grid.cell_size)  # see `covering`
        low, high = shape.path.min(axis=0) - radius, shape.path.max(axis=0) + radius
    elif isinstance(shape, Surface):
        low, high = shape.mesh.bounds
        reach += 0.5 * thickness_of(grid, shape)
    else:
        low, high = shape.bounds
    middle = np.eye(4)
    middle[:3, 3] = 0.5 * (low + high)
    place = matrix @ middle
    place[:3, 3] -= grid.origin
    return place, 0.5 * (high - low) + reach


def is_sure_to_reach(grid: Grid, shape: Unformed | Analytic, width: float | None) -> bool:
    """Whether a source that is in the box brings something to the middle of a cell wherever it stands.

    None lies further than half a cell's diagonal from one. False where only a look at all of them tells.
    """
    cell = grid.cell_size
    near = 0.5 * math.sqrt(3.0) * cell
    reach = 0.5 * cell if width is None else SEEN * width
    if isinstance(shape, Analytic):
        return shape.form.rounding > 0.0 if width is None else reach >= near  # see `covering`
    if isinstance(shape, Line | Bezier):
        return width is None or shape.radius + reach >= near
    half = 0.0 if isinstance(shape, Mesh) else 0.5 * thickness_of(grid, shape)
    if isinstance(shape, Image):  # whose edge fades across the sheet alone
        return half + reach >= near and min(shape.size) >= 2.0 * cell
    low, high = shape.bounds if isinstance(shape, Mesh) else shape.mesh.bounds
    broad = width is None and np.partition(high - low, 1)[1] >= 2.0 * cell  # no speck and no thread
    return bool(broad) or half + reach >= near


def covering(grid: Grid, radius: float, length: float, ends: bool = True) -> tuple[float, float]:
    """The reach of a `cover` that brings the volume of what is round, and the share of it that counts.

    length: of its axis, metres, 0 for a ball; in 2D of what lies in the slice. ends: whether those are round,
    as of a capsule, or flat, as of a cylinder.
    A cover fades over a cell, and so brings the mean of the bodies parallel to it half a cell within and
    beyond (Steiner 1840): of a ball that reaches R it is 4/3 pi (R^3 + R h^2/4), of a metre of a rod, and of
    a disc in 2D, pi (R^2 + h^2/12). So R is less than the radius; but at least h/2, as what is smaller could
    lie between the middles of cells.
    """
    return _covering(radius, length if ends else math.inf, grid.cell_size, grid.dimensions)


@lru_cache(maxsize=256)
def _covering(radius: float, length: float, h: float, dimensions: int) -> tuple[float, float]:
    def brought(reach: float, h: float) -> float:
        disc = math.pi * (reach * reach + h * h / 12.0)
        if math.isinf(length):
            return disc
        if dimensions == 2:
            return disc + 2.0 * reach * length
        return 4.0 / 3.0 * math.pi * reach * (reach * reach + 0.25 * h * h) + disc * length

    wanted, low, high = brought(radius, 0.0), 0.5 * h, radius
    least = brought(low, h)
    if wanted <= least:
        return low, wanted / least
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if brought(middle, h) < wanted else (low, middle)
    return high, 1.0


def _reach(grid: Grid, width: float | None) -> float:
    """How far beyond its surface a source is felt, metres."""
    return 0.5 * grid.cell_size if width is None else CUT * width


def thickness_of(grid: Grid, shape: Surface | Image) -> float:
    """Of a sheet, metres."""
    return grid.source_cell if shape.thickness is None else shape.thickness


def _mask(grid: Grid, shape: Unformed, matrix: Floats, width: float | None) -> Floats:
    """The share of each cell in one image of a source, as in `source_mask`."""
    if isinstance(shape, Image):
        return _image(grid, shape, _into_slice(grid, matrix, np.array([shape.center])), width)
    reach = _reach(grid, width)
    if isinstance(shape, Line | Bezier):
        matrix = _into_slice(grid, matrix, shape.path)
        points, radius, counts = placed_points(matrix, shape.path), shape.radius, 1.0
        if width is None:
            parts = np.diff(points, axis=0)[:, : grid.dimensions]
            radius, counts = covering(grid, radius, float(np.linalg.norm(parts, axis=1).sum()))
        chains = np.stack([points[:-1], points[1:], points[1:]], axis=1)
        distance = _distance(grid, chains, radius + reach, flat=True)
        return counts * _edge(grid, distance, radius, width)
    mesh = shape if isinstance(shape, Mesh) else shape.mesh
    matrix = _into_slice(grid, matrix, np.stack(mesh.bounds))
    corners = placed_points(matrix, mesh.vertices)[mesh.triangles]
    if isinstance(shape, Surface):
        half = 0.5 * thickness_of(grid, shape)
        return _edge(grid, _distance(grid, corners, half + reach), half, width)
    if width is None and grid.dimensions == 2:
        return _counted_cover(grid, mesh, matrix)
    if width is None:
        thin = _thin_cover(grid, mesh, matrix, corners)
        return _solid_cover(grid, _depth(grid, mesh, matrix, corners, reach)) if thin is None else thin
    inside, distance = inside_mesh(grid, mesh, matrix), _distance(grid, corners, reach)
    return np.where(inside, 1.0, _edge(grid, distance, 0.0, width))


def _depth(grid: Grid, mesh: Mesh, matrix: Floats, corners: Floats, reach: float) -> Floats:
    """How far within the surface of a mesh each cell centre lies, metres; infinite beyond `reach` from it."""
    distance = _distance(grid, corners, reach)
    return np.where(inside_mesh(grid, mesh, matrix), distance, -distance)


def _solid_cover(grid: Grid, depth: Floats) -> Floats:
    """The share of cells so far within a surface that it covers, were it flat there."""
    return np.clip(0.5 + depth / grid.cell_size, 0.0, 1.0)


def _covered(grid: Grid, depth: Floats, within: float) -> float:
    """Cells of volume that are covered where cover begins so far within the surface, metres."""
    return float(_solid_cover(grid, depth - within).sum())


def _thin_cover(grid: Grid, mesh: Mesh, matrix: Floats, corners: Floats) -> Floats | None:
    """The share of each cell that a mesh covers which is few cells thick.

    Its cover begins so far within its surface that its volume comes of it, wherever the box of `grid` ends.
    None: many cells thick, where it makes no difference, or of a volume that is not known.
    """
    h, sides = grid.cell_size, np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area, wanted = 0.5 * float(np.linalg.norm(sides, axis=1).sum()), abs(mesh.volume) / h**3
    if not 0.0 < 6.0 * wanted * h * h < THIN * area or not _is_its_volume(mesh):
        return None
    least = np.floor((corners.min(axis=(0, 1)) - grid.origin) / h) - 1.0
    most = np.ceil((corners.max(axis=(0, 1)) - grid.origin) / h) + 1.0
    beside = (most <= 0.0).any() or (least >= grid.cells).any()
    if beside or np.prod(most - least) > MOST_BEYOND * grid.cell_count:
        return None  # most of it, or all, lies beside the box
    low, high = least.astype(int), most.astype(int)
    (x, y, z), (i, j, k) = (np.array(grid.origin) + low * h).tolist(), (high - low).tolist()
    whole = Grid((i, j, k), h, (x, y, z))
    for end in (0.1 * h, 0.5 * h):  # most begin near: fewer cells to look at
        depth = _depth(whole, mesh, matrix, corners, 0.5 * h + end)
        near = depth[depth > -h]
        if _covered(grid, near, end) < wanted:
            break
    within, counts = _beginning(grid, near, wanted, end)
    out = np.zeros(grid.cells[::-1])
    first, last = np.maximum(low, 0), np.minimum(high, grid.cells)
    if (first < last).all():
        there = tuple(slice(a, b) for a, b in zip(first[::-1], last[::-1], strict=True))
        of_it = tuple(slice(a, b) for a, b in zip((first - low)[::-1], (last - low)[::-1], strict=True))
        out[there] = counts * _solid_cover(grid, depth[of_it] - within)
    return out


def _beginning(grid: Grid, depth: Floats, wanted: float, most: float) -> tuple[float, float]:
    """How far within the surface cover begins that is of the `wanted` volume, and the share that counts.

    depth: of cells within the surface, metres. wanted: in cells. Cover begins `most` metres within at most:
    where that is too much of it still, it counts by less.
    """
    start, end = 0.0, most
    if _covered(grid, depth, start) <= wanted:
        return start, 1.0
    if _covered(grid, depth, end) >= wanted:
        return end, wanted / _covered(grid, depth, end)
    for _ in range(30):
        middle = 0.5 * (start + end)
        start, end = (middle, end) if _covered(grid, depth, middle) > wanted else (start, middle)
    return end, 1.0


_known_volumes: WeakKeyDictionary[Family, bool] = WeakKeyDictionary()


def _is_its_volume(mesh: Mesh) -> bool:
    """Whether the signed volume of a mesh is what lies inside: no parts overlap, or are inside out."""
    if mesh.family not in _known_volumes:
        low, high = mesh.bounds
        whole = np.eye(4)  # takes its bounding box to that of a grid
        whole[:3, :3] = np.diag(COUNTED / np.maximum(high - low, 1e-30))
        whole[:3, 3] = -whole[:3, :3] @ low
        inside = inside_mesh(Grid((COUNTED,) * 3, 1.0), mesh, whole)
        share = abs(mesh.volume) / max(float(np.prod(high - low)), 1e-90)
        alike = abs(float(inside.mean()) - share) < 0.1 * share
        _known_volumes[mesh.family] = mesh.is_closed and alike
    return _known_volumes[mesh.family]


def _counted_cover(grid: Grid, mesh: Mesh, matrix: Floats) -> Floats:
    """The share of each cell of the one slice that a mesh covers in the middle of the slice."""
    nx, ny, _ = grid.cells
    fine = grid.cell_size / PARTS
    x, y, z = grid.origin
    parts = Grid((PARTS * nx, PARTS * ny, 1), fine, (x, y, z + 0.5 * (grid.cell_size - fine)))
    inside = inside_mesh(parts, mesh, matrix).reshape(1, ny, PARTS, nx, PARTS)
    return np.asarray(inside.mean(axis=(2, 4)))


def _edge(grid: Grid, off: Floats, reach: float, width: float | None, wide: float | None = None) -> Floats:
    """The share of cells `off` metres from the middle of what reaches as far as `reach` from there.

    wide: of a cell, metres; None: its size.
    """
    if width is None:
        return cover(off, reach, grid.cell_size if wide is None else wide)
    t = np.maximum(off - reach, 0.0) / width
    return np.where(t < CUT, np.exp(-(np.minimum(t, CUT) ** 2)), 0.0)


def _into_slice(grid: Grid, matrix: Floats, points: Floats) -> Floats:
    """`matrix`, in 2D with its z moved: the middle of the `points` it places lies in the slice."""
    if grid.dimensions == 3:
        return matrix
    z = placed_points(matrix, points)[:, 2]
    out = matrix.copy()
    out[2, 3] += grid.origin[2] + 0.5 * grid.cell_size - 0.5 * (z.min() + z.max())
    return out


def _distance(grid: Grid, triangles: Floats, reach: float, flat: bool = False) -> Floats:
    """Distance of each cell centre to the nearest of `triangles` [t, 3, 3] within `reach`, else infinite.

    flat: each is a line from its first corner to its second.
    """
    nearest = np.full(grid.cell_count, np.inf)
    nx, ny, _ = grid.cells
    x, y, z = centers_along(grid)
    triangles = _few(grid, triangles, reach)
    for triangle, i, j, k in _pairs(grid, triangles, reach):
        a, b, c = (triangles[triangle, corner] for corner in range(3))
        p = np.stack([x[i], y[j], z[k]], axis=1)
        squared = _to_line(p, a, b) if flat else _to_triangle(p, a, b, c)
        np.minimum.at(nearest, (k * ny + j) * nx + i, squared)
    return np.asarray(np.sqrt(nearest).reshape(grid.cells[::-1]))


def _few(grid: Grid, triangles: Floats, reach: float) -> Floats:
    """`triangles`, or where they are too many, a corner of one of those that share a part of a cell.

    Then the distance may be too large by two parts, a quarter, half or a whole cell wide. Raises
    GpufluidError where even so there are too many.
    """
    most = len(triangles)
    for part in (0.0, 0.25, 0.5, 1.0):
        if part:
            wide = part * grid.cell_size
            small = np.ptp(triangles, axis=1).max(axis=1) <= wide
            corners = triangles[small, 0]
            _, first = np.unique(np.floor(corners / wide), axis=0, return_index=True)
            points = np.repeat(corners[first][:, None], 3, axis=1)
            triangles = np.concatenate([triangles[~small], points])
        near = _reached(grid, triangles, reach)[1].prod(axis=0)
        pairs = int(near.sum())
        limit = CHEAPER * (MOST_PAIRS - WIDE * len(near)) if _is_wide(near) else MOST_PAIRS
        if pairs <= limit:
            return triangles
    raise GpufluidError(
        f"an emitter's mesh of {most} triangles is too large, or its edge too wide: {pairs} pairs of a "
        f"triangle and a cell lie near each other, the limit is {max(limit, 0)}"
    )


def _reached(grid: Grid, triangles: Floats, reach: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first cell along each axis within `reach` of each triangle's bounding box, and how many: [3, t]."""
    low = triangles.min(axis=1) - reach
    high = triangles.max(axis=1) + reach
    first = [np.searchsorted(c, low[:, axis]) for axis, c in enumerate(centers_along(grid))]
    last = [np.searchsorted(c, high[:, axis], side="right") for axis, c in enumerate(centers_along(grid))]
    return np.stack(first), np.stack(last) - np.stack(first)


def _pairs(grid: Grid, triangles: Floats, reach: float) -> Iterator[tuple[NDArray[np.int64], ...]]:
    """Triangle, i, j and k of the cells within `reach` of each triangle's bounding box, in batches.

    Of many cells to a triangle only those that may have it for their nearest.
    """
    first, count = _reached(grid, triangles, reach)
    near = count.prod(axis=0)
    batches = in_batches(near, PAIRS_AT_ONCE)
    if _is_wide(near):
        batches = _contenders(grid, triangles, reach, first, count)
    for triangle, at in batches:
        at, i = np.divmod(at, count[0][triangle])
        k, j = np.divmod(at, count[1][triangle])
        yield triangle, first[0][triangle] + i, first[1][triangle] + j, first[2][triangle] + k


def _is_wide(near: NDArray[np.int64]) -> bool:
    """Whether triangles with so many cells near them are first ruled out for most of these."""
    return bool(near.mean() > WIDE)


def _contenders(
    grid: Grid, triangles: Floats, reach: float, first: NDArray[np.int64], count: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Triangle, and number of a cell among those near it, of pairs that may be nearest, in batches.

    first, count: as of `_reached`. The middle of a triangle is on it, so the nearest middle tells a cell how
    far its nearest triangle is at most; and none is nearer than the ball round it.
    """
    axes = centers_along(grid)
    last, middles = first + count, triangles.mean(axis=1)
    radii = np.sqrt(np.square(triangles - middles[:, None]).sum(axis=2).max(axis=1))
    there = np.flatnonzero(count.prod(axis=0)).tolist()
    boxes = [tuple(map(slice, first[::-1, n], last[::-1, n])) for n in there]

    def squared(n: int, box: tuple[slice, ...]) -> Floats:
        """Of the distances of the cells in a box to the middle of triangle `n`."""
        z, y, x = (np.square(axes[2 - a][part] - middles[n, 2 - a]) for a, part in enumerate(box))
        return np.asarray(z[:, None, None] + y[:, None] + x)

    most = np.full(grid.cells[::-1], reach * reach)
    for n, box in zip(there, boxes, strict=True):
        np.minimum(most[box], squared(n, box), out=most[box])
    most = np.sqrt(most) * (1.0 + 1e-9)  # for rounding
    held: list[tuple[int, NDArray[np.int64]]] = []
    pairs = 0
    for n, box in zip(there, boxes, strict=True):
        held.append((n, np.flatnonzero(squared(n, box) <= np.square(most[box] + radii[n]))))
        pairs += len(held[-1][1])
        if pairs > PAIRS_AT_ONCE or n == there[-1]:
            owners, cells = zip(*held, strict=True)
            yield np.repeat(owners, list(map(len, cells))), np.concatenate(cells)
            held, pairs = [], 0


def _dot(a: Floats, b: Floats) -> Floats:
    return np.asarray(np.einsum("ij,ij->i", a, b))


def _to_line(p: Floats, a: Floats, b: Floats) -> Floats:
    """Squared distance of points to the lines from `a` to `b`, [n]."""
    along, from_a = b - a, p - a
    length = _dot(along, along)
    share = np.clip(_dot(from_a, along) / np.where(length > 0.0, length, 1.0), 0.0, 1.0)
    off = from_a - share[:, None] * along
    return _dot(off, off)


def _to_triangle(p: Floats, a: Floats, b: Floats, c: Floats) -> Floats:
    """Squared distance of points to triangles, [n]: to the plane above a triangle, else to an edge."""
    normal = np.cross(b - a, c - a)
    size = _dot(normal, normal)
    above = size > 0.0
    for start, end in ((a, b), (b, c), (c, a)):
        above &= _dot(np.cross(normal, end - start), p - start) >= 0.0
    plane = _dot(normal, p - a) ** 2 / np.where(size > 0.0, size, 1.0)
    edges = np.minimum(np.minimum(_to_line(p, a, b), _to_line(p, b, c)), _to_line(p, c, a))
    return np.where(above, plane, edges)


def _image(grid: Grid, image: Image, matrix: Floats, width: float | None) -> Floats:
    """The share of each cell in a sheet: the picture there, faded across the sheet."""
    local = (grid.centers() - matrix[:3, 3]) @ matrix[:3, :3] - image.center  # the inverse of a rotation
    pixels = _coarsened(image, grid.cell_size)
    rows, columns = pixels.shape
    u = (local[..., 0] / image.size[0] + 0.5) * columns - 0.5
    v = (0.5 - local[..., 1] / image.size[1]) * rows - 0.5
    padded = np.pad(pixels, 1)  # beyond the picture there is nothing
    i, j = (np.clip(np.floor(w).astype(int), -1, n - 1) for w, n in ((u, columns), (v, rows)))
    s, t = np.clip(u - i, 0.0, 1.0), np.clip(v - j, 0.0, 1.0)
    here = (1 - s) * padded[j + 1, i + 1] + s * padded[j + 1, i + 2]
    below = (1 - s) * padded[j + 2, i + 1] + s * padded[j + 2, i + 2]
    inside = (u > -1.0) & (u < columns) & (v > -1.0) & (v < rows)
    picture = np.where(inside, (1 - t) * here + t * below, 0.0)
    # in 2D the slice has no width across which a thin sheet would fill it in part
    wide = 1e-6 * grid.cell_size if grid.dimensions == 2 else None
    return picture * _edge(grid, np.abs(local[..., 2]), 0.5 * thickness_of(grid, image), width, wide)


def _coarsened(image: Image, cell_size: float) -> Floats:
    """The picture with whole blocks of pixels averaged, so that one is no smaller than half a cell."""
    pixels = image.pixels
    for axis, size in ((1, image.size[0]), (0, image.size[1])):
        n = pixels.shape[axis]
        parts = min(n, max(1, round(2.0 * size / cell_size)))
        starts = np.arange(parts) * n // parts
        counts = np.diff([*starts, n])
        shape = [1, 1]
        shape[axis] = parts
        pixels = np.add.reduceat(pixels, starts, axis=axis) / counts.reshape(shape)
    return pixels
