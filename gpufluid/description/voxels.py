"""Which cell centres a mesh winds round: the float64 reference of the GPU voxelizer; and how far forms reach.

`matrix` is [4, 4], local to world, for column vectors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpufluid.common.errors import GpufluidError
from gpufluid.common.vectors import Floats
from gpufluid.description.grid import Grid
from gpufluid.description.mesh import Mesh
from gpufluid.description.shapes import HALF_SPACE, ROUND

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

# Pairs of triangle and column held at once: about 50 MB of temporaries.
PAIRS_AT_ONCE = 1 << 18
MOST_PAIRS = 1 << 28  # a minute's work, which no mesh needs that was meant for its grid
# Cells: a middle so close to a surface lies on it. A radius or an edge of whole cells often puts many there,
# and rounding would decide for each by itself.
TIE = 2e-4
POINTS_AT_ONCE = 1 << 20  # of surfaces, held at once: about 150 MB


def tie(grid: Grid, to_local: Floats) -> float:
    """`TIE` in a local space, by whose shortest axis in the world; to_local: metres to there, [4, 4]."""
    return TIE * grid.cell_size * float(np.linalg.norm(to_local[:3, :3], axis=0).min())


def beyond_squared(kind: int, local: Sequence[Floats], core: Sequence[float]) -> Floats:
    """Squared distance, m^2, from the core of a `Form` of points (x, y, z) in the form's own space."""
    x, y, z = local
    if kind == HALF_SPACE:
        return np.asarray(np.maximum(y - core[1], 0.0) ** 2)
    profile = [np.sqrt(x * x + z * z), np.abs(y)] if kind == ROUND else [np.abs(x), np.abs(y), np.abs(z)]
    return np.asarray(sum(np.maximum(p - c, 0.0) ** 2 for p, c in zip(profile, core, strict=False)))


def cover(off: Floats, reach: float, wide: float) -> Floats:
    """Share of cells `wide` > 0 across that lies within `reach` of 0, along one axis; metres.

    off: >= 0, from 0 to the middles of the cells.
    """
    return np.clip(np.minimum(0.5 + (reach - off) / wide, 2.0 * reach / wide), 0.0, 1.0)


def inside_mesh(grid: Grid, mesh: Mesh, matrix: ArrayLike) -> Bools:
    """Cells whose centre a placed mesh winds round, [nz, ny, nx].

    Along each column of cells every triangle that covers the column's (x, y) is crossed once: cells below
    the crossing count +1 where the triangle faces +z and -1 where it faces -z, and a cell is inside where
    the sum is not 0. So overlapping and inside-out parts are solid. Nothing outside the bounding box is, or
    an open mesh would fill its columns down to the floor.

    Cover is half-open: a column that meets an edge or a vertex shared by triangles is covered by one of
    them, and of two opposite faces through cell centres the low one is solid. Whether an edge passes left of
    a column depends on the edge alone, not on the triangle, so over a closed mesh all crossings cancel
    whatever is rounded.
    """
    placed = _transformed(mesh.vertices, _affine(matrix))
    corners = placed[mesh.triangles]
    low, high = corners.min(axis=1), corners.max(axis=1)
    axes = centers_along(grid)
    inside: Bools = np.zeros(grid.cells[::-1], dtype=np.bool_)
    box = [
        slice(np.searchsorted(c, a), np.searchsorted(c, b))
        for c, a, b in zip(axes, low.min(axis=0), high.max(axis=0), strict=True)
    ]
    x, y, z = (c[part] for c, part in zip(axes, box, strict=True))
    if not (x.size and y.size and z.size):
        return inside

    # crossings[k]: signed crossings with k of the centres below them; a cell counts those above its own.
    crossings = np.zeros((z.size + 1, y.size, x.size), dtype=np.int32)
    for triangle, j, i in _covered_columns(low, high, x, y):
        points = corners[triangle]
        winding = _winding(points, x[i], y[j])
        hit = winding != 0
        height = _plane_height(points[hit], x[i[hit]], y[j[hit]])
        below = np.searchsorted(z, height)
        np.add.at(crossings, (below, j[hit], i[hit]), winding[hit])
    above = np.cumsum(crossings[:0:-1], axis=0)[::-1]
    inside[box[2], box[1], box[0]] = above != 0
    return inside


def surface_velocity(grid: Grid, before: Floats, now: Floats, triangles: NDArray[np.int32]) -> Floats:
    """How far the surface near each cell has come, m, and 1 where there is one near: [nz, ny, nx, 4].

    before, now: vertices [v, 3], m from the low corner of the box. Each triangle is cut into equal ones no
    longer than a cell; each of those gives its middle's way to the eight cell centres round it, in the
    trilinear shares, weighted by its area. A cell has the mean: every solid cell beside a fluid one is
    within a cell of the surface, so it has one, and a rigid motion comes out exact.
    """
    nx, ny, nz = grid.cells
    sums = np.zeros((nz * ny * nx, 4))
    corners, ways = now[triangles], (now - before)[triangles]
    edges = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=-1).max(axis=1)
    parts = np.clip(np.ceil(edges / grid.cell_size), 1, max(grid.cells)).astype(int)
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    for n, some in _alike(parts):
        middles = _middles(n)
        points = np.einsum("mc,tcx->tmx", middles, corners[some]).reshape(-1, 3) / grid.cell_size - 0.5
        way = np.einsum("mc,tcx->tmx", middles, ways[some]).reshape(-1, 3)
        weight = np.repeat(area[some] / n**2, len(middles))
        low = np.floor(points).astype(int)
        share = points - low
        for corner in range(8):
            up = np.array([corner >> axis & 1 for axis in range(3)])
            i, j, k = (low + up).T
            here = (i >= 0) & (i < nx) & (j >= 0) & (j < ny) & (k >= 0) & (k < nz)
            w = (weight * np.where(up, share, 1.0 - share).prod(axis=1))[here]
            flat = ((k * ny + j) * nx + i)[here]
            for c in range(3):
                sums[:, c] += np.bincount(flat, w * way[here, c], len(sums))
            sums[:, 3] += np.bincount(flat, w, len(sums))
    near = sums[:, 3] > 0.0
    sums[near, :3] /= sums[near, 3:]
    sums[:, 3] = near
    return sums.reshape(nz, ny, nx, 4)


def _alike(parts: Ints) -> Iterator[tuple[int, Ints]]:
    """Each number in `parts` and the places where it stands, so few at once that their points fit."""
    for n in np.unique(parts).tolist():
        where = np.flatnonzero(parts == n)
        for batch in np.array_split(where, -(-len(where) * n * n // POINTS_AT_ONCE)):
            yield n, batch


def _middles(n: int) -> Floats:
    """Barycentric places of the middles of the n^2 equal parts of a triangle, [n^2, 3]."""
    i, j = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
    upright, upside = i + j < n, i + j < n - 1
    a = np.concatenate([i[upright] + 1 / 3, i[upside] + 2 / 3]) / n
    b = np.concatenate([j[upright] + 1 / 3, j[upside] + 2 / 3]) / n
    return np.stack([a, b, 1.0 - a - b], axis=1)


def _affine(matrix: ArrayLike) -> Floats:
    """`matrix` as [4, 4] float64 with the last row (0, 0, 0, 1), or raise."""
    try:
        array = np.array(matrix, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.shape != (4, 4) or not np.isfinite(array).all() or array[3].tolist() != [0.0, 0.0, 0.0, 1.0]:
        raise GpufluidError("matrix must be finite, [4, 4], with the last row (0, 0, 0, 1)")
    return array


def centers_along(grid: Grid) -> tuple[Floats, Floats, Floats]:
    """Cell centres along x, y and z, metres, [nx], [ny], [nz]."""
    x, y, z = (
        np.asarray(low + (np.arange(count) + 0.5) * grid.cell_size, dtype=np.float64)
        for low, count in zip(grid.origin, grid.cells, strict=True)
    )
    return x, y, z


def _transformed(vertices: Floats, matrix: Floats) -> Floats:
    """Vertices [v, 3] in world space.

    Not a matrix product: BLAS may round equal rows differently, and equal vertices must stay equal.
    """
    x, y, z = vertices.T
    return np.stack([row[0] * x + row[1] * y + row[2] * z + row[3] for row in matrix[:3]], axis=1)


def in_batches(counts: Ints, most: int) -> Iterator[tuple[Ints, Ints]]:
    """Every pair (n, m) with m < counts[n], as two arrays of n and of m, in batches.

    A batch has about `most` pairs, or those of a single n that has more.
    """
    total = np.cumsum(counts)
    cuts = np.searchsorted(total, np.arange(most, total[-1], most))
    for batch in np.split(np.arange(len(counts)), np.unique(cuts)):
        pairs = np.repeat(batch, counts[batch])
        if pairs.size:
            starts = np.repeat(np.cumsum(counts[batch]) - counts[batch], counts[batch])
            yield pairs, np.arange(pairs.size) - starts


def _covered_columns(low: Floats, high: Floats, x: Floats, y: Floats) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Triangle, j and i of all columns in the half-open bounding boxes of the triangles, in batches.

    low, high: [t, 3]. x, y: centres of the columns.
    """
    first_i, first_j = np.searchsorted(x, low[:, 0]), np.searchsorted(y, low[:, 1])
    across = np.searchsorted(x, high[:, 0]) - first_i
    count = across * (np.searchsorted(y, high[:, 1]) - first_j)
    total = int(count.sum())
    if total > MOST_PAIRS:
        raise GpufluidError(
            f"a mesh of {len(count)} triangles covers columns of cells {total} times in all, and the "
            f"limit is {MOST_PAIRS}: its triangles are large, and too many"
        )
    for triangle, at in in_batches(count, PAIRS_AT_ONCE):
        row, column = np.divmod(at, across[triangle])
        yield triangle, first_j[triangle] + row, first_i[triangle] + column


def _winding(points: Floats, x: Floats, y: Floats) -> NDArray[np.int32]:
    """How often the outlines of triangles seen from +z run round (x, y), counter-clockwise positive, [n].

    points: [n, 3, 3], a triangle for each column. Signed crossings of the ray towards +x.
    """
    winding = np.zeros(len(x), dtype=np.int32)
    for corner in range(3):
        a, b = points[:, corner], points[:, (corner + 1) % 3]
        rising = b[:, 1] > a[:, 1]
        # Lower end first, so that both triangles at an edge round alike.
        lower, upper = np.where(rising[:, None], a, b), np.where(rising[:, None], b, a)
        spans = (lower[:, 1] <= y) & (y < upper[:, 1])
        rise = np.where(spans, upper[:, 1] - lower[:, 1], 1.0)
        meets = lower[:, 0] + (y - lower[:, 1]) / rise * (upper[:, 0] - lower[:, 0])
        # Held to the edge: a column outside the triangle's bounding box must not be crossed.
        meets = np.clip(meets, np.minimum(a[:, 0], b[:, 0]), np.maximum(a[:, 0], b[:, 0]))
        winding += np.where(spans & (x < meets), np.where(rising, 1, -1), 0).astype(np.int32)
    return winding


def _plane_height(points: Floats, x: Floats, y: Floats) -> Floats:
    """z of the triangles' planes at (x, y), within the triangles' own z, [n].

    points: [n, 3, 3]. A triangle seen edge-on, which only rounding lets a column cross, gives its middle.
    """
    a, b, c = points[:, 0], points[:, 1], points[:, 2]
    normal = np.cross(b - a, c - a)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        slope = normal[:, :2] / normal[:, 2:]
        height = a[:, 2] - slope[:, 0] * (x - a[:, 0]) - slope[:, 1] * (y - a[:, 1])
    bottom, top = points[:, :, 2].min(axis=1), points[:, :, 2].max(axis=1)
    return np.where(np.isfinite(height), np.clip(height, bottom, top), 0.5 * (bottom + top))
