"""Vertices [v, 3] and outward triangles [t, 3] of the forms that `gpufluid.Mesh` makes by itself."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gpufluid.common.vectors import Floats


def icosahedron() -> tuple[Floats, NDArray[np.int64]]:
    """Vertices [12, 3] on the unit sphere and outward triangles [20, 3] of an icosahedron."""
    golden = 0.5 * (1.0 + math.sqrt(5.0))
    base = [(-1, golden, 0), (1, golden, 0), (-1, -golden, 0), (1, -golden, 0)]
    points = np.array([p[-turn:] + p[:-turn] if turn else p for turn in range(3) for p in base])
    triangles = [
        *[(0, 11, 5), (0, 5, 1), (0, 1, 7), (0, 7, 10), (0, 10, 11)],
        *[(1, 5, 9), (5, 11, 4), (11, 10, 2), (10, 7, 6), (7, 1, 8)],
        *[(3, 9, 4), (3, 4, 2), (3, 2, 6), (3, 6, 8), (3, 8, 9)],
        *[(4, 9, 5), (2, 4, 11), (6, 2, 10), (8, 6, 7), (9, 8, 1)],
    ]
    return points / math.hypot(1.0, golden), np.array(triangles)


def split_in_four(points: Floats, triangles: NDArray[np.int64]) -> tuple[Floats, NDArray[np.int64]]:
    """Every triangle cut at the middles of its edges; triangles side by side share the new vertices."""
    edges = np.sort(np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2).reshape(-1, 2), axis=1)
    unique, index = np.unique(edges, axis=0, return_inverse=True)
    middle = len(points) + index.reshape(-1, 3)
    a, b, c = triangles.T
    ab, bc, ca = middle.T
    split = np.stack([a, ab, ca, b, bc, ab, c, ca, bc, ab, bc, ca], axis=1).reshape(-1, 3)
    return np.concatenate([points, 0.5 * (points[unique[:, 0]] + points[unique[:, 1]])]), split


def trefoil_curve(t: Floats) -> tuple[Floats, Floats]:
    """Points and tangents, of any length, of the trefoil knot at parameters t, each [n, 3]."""
    points = [np.sin(t) + 2.0 * np.sin(2.0 * t), np.cos(t) - 2.0 * np.cos(2.0 * t), -np.sin(3.0 * t)]
    tangents = [np.cos(t) + 4.0 * np.cos(2.0 * t), 4.0 * np.sin(2.0 * t) - np.sin(t), -3.0 * np.cos(3.0 * t)]
    return np.stack(points, axis=1), np.stack(tangents, axis=1)


def turned(
    outline: Sequence[tuple[float, float]], sides: int, bottom: float, top: float
) -> tuple[Floats, NDArray[np.int64]]:
    """Vertices and outward triangles of an outline (radius, height), from low to high, turned round y.

    Closed by fans to points on the axis at the heights `bottom` and `top`.
    """
    angle = np.arange(sides) * (2.0 * np.pi / sides)
    rings = [np.stack([r * np.sin(angle), np.full(sides, y), r * np.cos(angle)], axis=1) for r, y in outline]
    vertices = np.concatenate([*rings, [(0.0, bottom, 0.0), (0.0, top, 0.0)]])
    j = np.arange(sides)
    beside, last, poles = (j + 1) % sides, (len(outline) - 1) * sides, len(outline) * sides
    triangles = [
        np.stack([beside, j, np.full(sides, poles)], axis=1),
        np.stack([last + j, last + beside, np.full(sides, poles + 1)], axis=1),
    ]
    for ring in range(len(outline) - 1):
        low, high = ring * sides, (ring + 1) * sides
        triangles.append(np.stack([low + j, low + beside, high + j], axis=1))
        triangles.append(np.stack([low + beside, high + beside, high + j], axis=1))
    return vertices, np.concatenate(triangles)


def tube_round(
    centers: Floats, tangents: Floats, radius: float, sides: int
) -> tuple[Floats, NDArray[np.int64]]:
    """Vertices and outward triangles of a closed tube round a closed curve.

    centers, tangents: [n, 3]. The rings are turned by the z axis, so no tangent may run along it; in return
    the last ring meets the first without a twist to take out.
    """
    along = tangents / np.linalg.norm(tangents, axis=1, keepdims=True)
    across = np.cross((0.0, 0.0, 1.0), along)
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    up = np.cross(along, across)
    angle = np.arange(sides) * (2.0 * np.pi / sides)
    ring = np.cos(angle)[:, None] * across[:, None] + np.sin(angle)[:, None] * up[:, None]
    vertices = (centers[:, None] + radius * ring).reshape(-1, 3)

    count = len(centers)
    i, j = np.meshgrid(np.arange(count), np.arange(sides), indexing="ij")
    here, beside = i * sides + j, i * sides + (j + 1) % sides
    ahead, across_ahead = (i + 1) % count * sides + j, (i + 1) % count * sides + (j + 1) % sides
    triangles = np.stack([here, beside, ahead, beside, across_ahead, ahead], axis=-1).reshape(-1, 3)
    return vertices, triangles
