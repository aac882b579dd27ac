"""A surface of triangles: from a file, made by itself, or moved from frame to frame."""

from __future__ import annotations

import math
import os
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpufluid.common.checks import finite_number, finite_triple, held, locked, real_array, whole_number
from gpufluid.common.errors import GpufluidError, counted, named
from gpufluid.common.vectors import Floats, Number, Vector
from gpufluid.description.mesh_files import read_triangles
from gpufluid.description.mesh_forms import icosahedron, split_in_four, trefoil_curve, tube_round, turned
from gpufluid.description.shapes import Capsule, placed_points, positive_triple

MESH_SUFFIXES = (".glb", ".obj", ".ply", ".stl")

# Half the least distance between two strands of the unit trefoil is 0.0908: a thicker tube meets itself.
TREFOIL_MAX_TUBE = 0.09

SHARP = 40.0  # degrees between two triangles, from which on their edge is drawn sharp


class Family:
    """What meshes have in common that were moved from one another: the key of what is kept for all."""


@named
class Mesh:
    """A surface of triangles.

    vertices: [v, 3] float64, metres, read-only. triangles: [t, 3] int32, read-only; counter-clockwise seen
    from outside. Triangles that name one vertex twice are dropped. Two meshes are equal only if they are the
    same object, so a mesh can key a cache.

    Raises GpufluidError for wrong shapes, values that are not finite, indices out of range and for a mesh
    without triangles.
    """

    def __init__(self, vertices: ArrayLike, triangles: ArrayLike) -> None:
        self.vertices: Final = _checked_vertices(vertices)
        self.triangles: Final = _checked_triangles(triangles, len(self.vertices))
        self.family = Family()

    def moved(self, vertices: ArrayLike) -> Mesh:
        """This mesh with its vertices at other places, [v, 3]: one that moves or deforms, frame by frame.

        An obstacle whose shape becomes `shape.moved(vertices)` gives the fluid the velocity of its surface.
        Raises GpufluidError for vertices that are not finite, or not as many.
        """
        array = _checked_vertices(vertices)
        if len(array) != len(self.vertices):
            raise GpufluidError(f"Mesh.moved needs {len(self.vertices)} vertices as before, got {len(array)}")
        mesh = copy(self)  # the triangles stay, checked as they are
        for name in ("bounds", "volume", "orientation", "normals"):
            mesh.__dict__.pop(name, None)
        mesh.__dict__["vertices"] = array
        return mesh

    def __repr__(self) -> str:
        return f"Mesh({len(self.vertices)} vertices, {counted(len(self.triangles), 'triangle')})"

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Mesh:
        """Return everything that a .glb, .obj, .ply or .stl file holds as one mesh, in the file's units.

        Transforms of a scene graph are applied, polygons are split into triangles, and vertices at one
        position are welded, so that `is_closed` judges the surface and not its seams.

        Raises GpufluidError for a missing, empty or unreadable file, another suffix, or no triangles, and
        MissingDependencyError without trimesh.
        """
        try:
            file = Path(path)
        except TypeError:
            raise GpufluidError(f"Mesh.load needs a path, got {path!r}") from None
        if file.suffix.lower() not in MESH_SUFFIXES:
            raise GpufluidError(f"mesh file {file} must end in one of {', '.join(MESH_SUFFIXES)}")
        vertices, triangles = read_triangles(file)
        try:
            return cls(vertices, triangles).welded()
        except GpufluidError as error:
            raise GpufluidError(f"mesh file {file}: {error}") from None

    @classmethod
    def icosphere(cls, subdivisions: int = 4, radius: Number = 1.0, center: Vector = (0.0, 0.0, 0.0)) -> Mesh:
        """A closed sphere of 20 * 4**subdivisions near-equal triangles, its vertices on the sphere.

        subdivisions: 0 (an icosahedron) to 7. radius, center: metres. Raises GpufluidError for others.
        """
        count = whole_number(subdivisions, "Mesh.icosphere subdivisions", low=0, high=7)
        radius = finite_number(radius, "Mesh.icosphere radius", above=0.0)
        offset = np.array(finite_triple(center, "Mesh.icosphere center"))
        points, triangles = icosahedron()
        for _ in range(count):
            points, triangles = split_in_four(points, triangles)
            points /= np.linalg.norm(points, axis=1, keepdims=True)
        return cls(points * radius + offset, triangles)

    @classmethod
    def box(cls, size: Vector = (1.0, 1.0, 1.0), center: Vector = (0.0, 0.0, 0.0)) -> Mesh:
        """A closed box along the axes, 12 triangles. size: its edges; center: metres.

        Raises GpufluidError naming the value and its limit.
        """
        edges = np.array(positive_triple(size, "Mesh.box size"))
        offset = np.array(finite_triple(center, "Mesh.box center"))
        corners = np.array([(x, y, z) for z in (-0.5, 0.5) for y in (-0.5, 0.5) for x in (-0.5, 0.5)])
        quads = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
        triangles = [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]
        return cls(corners * edges + offset, triangles)

    @classmethod
    def cylinder(
        cls,
        radius: Number = 0.5,
        height: Number = 1.0,
        sides: int = 48,
        center: Vector = (0.0, 0.0, 0.0),
    ) -> Mesh:
        """A closed cylinder along y, its corners on the round one.

        radius, height, center: metres. sides: round it, 3 or more. Raises GpufluidError naming the value and
        its limit.
        """
        radius = finite_number(radius, "Mesh.cylinder radius", above=0.0)
        height = finite_number(height, "Mesh.cylinder height", above=0.0)
        sides = whole_number(sides, "Mesh.cylinder sides", low=3, high=4096)
        offset = np.array(finite_triple(center, "Mesh.cylinder center"))
        outline = [(radius, -0.5 * height), (radius, 0.5 * height)]
        vertices, triangles = turned(outline, sides, -0.5 * height, 0.5 * height)
        return cls(vertices + offset, triangles)

    @classmethod
    def capsule(
        cls,
        start: Vector = (0.0, -0.5, 0.0),
        end: Vector = (0.0, 0.5, 0.0),
        radius: Number = 0.25,
        sides: int = 48,
    ) -> Mesh:
        """A closed capsule of `radius` round the line from `start` to `end`; metres.

        Corners lie on the round one. sides: round it. Raises GpufluidError naming the value and its limit.
        """
        capsule = Capsule(start, end, radius)
        sides = whole_number(sides, "Mesh.capsule sides", low=3, high=4096)
        rings = max(2, sides // 4)
        angle = np.arange(1, rings + 1) * (0.5 * np.pi / rings)  # from a pole to the rim
        half, r = 0.5 * capsule.length, capsule.radius
        low = [(r * math.sin(a), -half - r * math.cos(a)) for a in angle]
        vertices, triangles = turned([*low, *((x, -y) for x, y in reversed(low))], sides, -half - r, half + r)
        return cls(placed_points(capsule.form.place, vertices), triangles)

    @classmethod
    def torus(
        cls,
        radius: Number = 1.0,
        tube: Number = 0.3,
        segments: int = 96,
        sides: int = 32,
        center: Vector = (0.0, 0.0, 0.0),
    ) -> Mesh:
        """A closed ring round the z axis, 2 * segments * sides triangles.

        radius: of the circle the tube follows. tube: radius of the tube, less than `radius`. center: all
        metres. segments: round the ring. sides: round the tube. Raises GpufluidError naming the value and its
        limit.
        """
        radius = finite_number(radius, "Mesh.torus radius", above=0.0)
        tube = finite_number(tube, "Mesh.torus tube", above=0.0)
        if tube >= radius:
            raise GpufluidError(f"Mesh.torus tube must be less than its radius {radius:g}, got {tube:g}")
        segments = whole_number(segments, "Mesh.torus segments", low=3, high=4096)
        sides = whole_number(sides, "Mesh.torus sides", low=3, high=1024)
        offset = np.array(finite_triple(center, "Mesh.torus center"))
        t = np.arange(segments) * (2.0 * np.pi / segments)
        outward = np.stack([np.cos(t), np.sin(t), np.zeros(segments)], axis=1)
        tangents = np.stack([-np.sin(t), np.cos(t), np.zeros(segments)], axis=1)
        return cls(*tube_round(radius * outward + offset, tangents, tube, sides))

    @classmethod
    def trefoil(cls, tube: Number = 0.07, segments: int = 192, sides: int = 20) -> Mesh:
        """A closed tube round a trefoil knot, its longest edge 1 m, its bounding box centred on the origin.

        The knot lies in the xy plane: (sin t + 2 sin 2t, cos t - 2 cos 2t, -sin 3t), scaled.
        tube: radius of the tube, metres, less than 0.09, where strands would meet.
        segments: rings, at equal arc length. sides: corners of a ring. Raises GpufluidError naming the value
        and its limit.
        """
        tube = finite_number(tube, "Mesh.trefoil tube", above=0.0)
        if tube >= TREFOIL_MAX_TUBE:
            raise GpufluidError(f"Mesh.trefoil tube must be less than {TREFOIL_MAX_TUBE:g}, got {tube:g}")
        segments = whole_number(segments, "Mesh.trefoil segments", low=24, high=4096)
        sides = whole_number(sides, "Mesh.trefoil sides", low=3, high=1024)
        t = np.linspace(0.0, 2.0 * np.pi, 4097)
        points, _ = trefoil_curve(t)
        length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
        even = np.interp(np.arange(segments) * (length[-1] / segments), length, t)
        centers, tangents = trefoil_curve(even)
        centers *= (1.0 - 2.0 * tube) / np.ptp(points, axis=0).max()
        return cls(*tube_round(centers, tangents, tube, sides)).fitted(1.0)

    @cached_property
    def bounds(self) -> tuple[Floats, Floats]:
        """Low and high corner of the box round all triangles, each [3], metres."""
        used = self.vertices[np.unique(self.triangles)]
        return locked(used.min(axis=0)), locked(used.max(axis=0))

    @cached_property
    def is_closed(self) -> bool:
        """Whether every directed edge is matched by one that runs the other way.

        That is what makes winding numbers whole, so it asks for one orientation throughout as well. An edge
        shared by four triangles is in order; an edge of one triangle alone, or a flipped triangle, is not.
        """
        return _edges_match(self.triangles)

    @property
    def open_edges(self) -> int:
        """How many directed edges have no opposite one; 0 if the mesh is closed."""
        start, end = _directed_edges(self.triangles)
        count = len(self.vertices)
        edges = np.unique(np.concatenate([start * count + end, end * count + start]))
        there = np.searchsorted(edges, start * count + end), np.searchsorted(edges, end * count + start)
        balance = np.bincount(there[0], minlength=len(edges)) - np.bincount(there[1], minlength=len(edges))
        return int(balance[balance > 0].sum())

    @cached_property
    def volume(self) -> float:
        """Signed volume, m^3: negative if a closed mesh is inside-out; without meaning if it is open."""
        a, b, c = self._corners()
        return float(np.sum(a * np.cross(b, c)) / 6.0)

    @cached_property
    def orientation(self) -> int:
        """1 where all its connected pieces have their front outside, -1 inside; 0: not alike, or open.

        Vertices in one place count as one: what has corners of its own for sharp edges may be closed.
        """
        places, own = np.unique(self.vertices, axis=0, return_inverse=True)
        triangles = own.reshape(-1)[self.triangles]
        if not _edges_match(triangles):
            return 0
        piece = _least_connected(len(places), triangles.T)
        a, b, c = self._corners()
        volumes = np.zeros(len(piece))
        np.add.at(volumes, piece[triangles[:, 0]], np.einsum("ij,ij->i", a, np.cross(b, c)))
        there = volumes[np.unique(piece[triangles])]
        return int((there > 0.0).all()) - int((there < 0.0).all())

    @cached_property
    def normals(self) -> NDArray[np.float32]:
        """Unit normals at the vertices, [v, 3] float32: those of their triangles, weighted by area.

        Where there is nothing to average, at an unused vertex or among triangles without area, it is +y.
        """
        return locked(normals_of(self.vertices, self.triangles))

    def fitted(self, size: Number, center: Vector = (0.0, 0.0, 0.0)) -> Mesh:
        """This mesh scaled and moved: `size` is the longest edge of its bounding box, `center` its middle;
        metres.

        All axes are scaled alike. Raises GpufluidError for a mesh that is a single point.
        """
        size = finite_number(size, "Mesh.fitted size", above=0.0)
        offset = np.array(finite_triple(center, "Mesh.fitted center"))
        low, high = self.bounds
        longest = float((high - low).max())
        if longest == 0.0:
            raise GpufluidError(
                "Mesh.fitted needs a mesh with an extent > 0; all its triangles are one point"
            )
        middle = 0.5 * (low + high)
        return Mesh((self.vertices - middle) * (size / longest) + offset, self.triangles)

    def welded(self) -> Mesh:
        """This mesh with vertices at exactly equal positions merged, and unused ones dropped."""
        positions, index = np.unique(
            self.vertices[self.triangles].reshape(-1, 3), axis=0, return_inverse=True
        )
        return Mesh(positions, index.reshape(-1, 3))

    def _corners(self) -> tuple[Floats, Floats, Floats]:
        """First, second and third corner of every triangle, each [t, 3], from the middle of the `bounds`."""
        low, high = self.bounds
        moved = self.vertices - 0.5 * (low + high)
        first, second, third = self.triangles.T
        return moved[first], moved[second], moved[third]


def _directed_edges(triangles: NDArray[np.signedinteger]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where the edges of `triangles` [t, 3] start and where they end, [3 * t] each, as the triangles turn."""
    start = triangles.astype(np.int64)
    return start.ravel(), np.roll(start, -1, axis=1).ravel()


def _least_connected(count: int, groups: NDArray[np.signedinteger]) -> NDArray[np.int64]:
    """For each of `count` things the least connected with it, [count]; the columns of `groups` [k, n] are."""
    least = np.arange(count)
    settled = False
    while not settled:
        before = least.copy()
        lowest = least[groups].min(axis=0)
        for row in groups:
            np.minimum.at(least, row, lowest)
        least = least[least]
        settled = np.array_equal(least, before)
    return least


def _edges_match(triangles: NDArray[np.signedinteger]) -> bool:
    """Whether every directed edge of them is matched by one that runs the other way."""
    start, end = _directed_edges(triangles)
    count = int(triangles.max(initial=0)) + 1
    return bool(np.array_equal(np.sort(start * count + end), np.sort(end * count + start)))


def _checked_vertices(vertices: ArrayLike) -> Floats:
    """A locked copy of `vertices` as [v, 3] float64, or raise."""
    try:
        array = real_array(vertices)
    except (TypeError, ValueError):
        raise GpufluidError("Mesh vertices must be numbers in an array [v, 3]") from None
    if array.ndim != 2 or array.shape[1] != 3:
        raise GpufluidError(f"Mesh vertices must be an array [v, 3], got the shape {list(array.shape)}")
    bad = np.flatnonzero(~held(array).all(axis=1))
    if bad.size:
        raise GpufluidError(f"Mesh vertices must be finite, but vertex {bad[0]} is {array[bad[0]].tolist()}")
    return locked(array)


def _checked_triangles(triangles: ArrayLike, vertex_count: int) -> NDArray[np.int32]:
    """A locked copy of `triangles` as [t, 3] int32 without those that name a vertex twice, or raise."""
    try:
        array = np.array(triangles)
    except ValueError:
        raise GpufluidError("Mesh triangles must be whole numbers in an array [t, 3]") from None
    if array.size == 0:
        raise GpufluidError("Mesh needs at least one triangle, got none")
    if array.ndim != 2 or array.shape[1] != 3:
        raise GpufluidError(f"Mesh triangles must be an array [t, 3], got the shape {list(array.shape)}")
    if array.dtype.kind not in "iu":
        raise GpufluidError(f"Mesh triangles must be whole numbers, got the type {array.dtype}")
    bad = np.flatnonzero(((array < 0) | (array >= vertex_count)).any(axis=1))
    if bad.size:
        raise GpufluidError(
            f"Mesh triangles must name vertices 0 .. {vertex_count - 1}, "
            f"but triangle {bad[0]} is {array[bad[0]].tolist()}"
        )
    a, b, c = array.T
    proper = (a != b) & (b != c) & (c != a)
    if not proper.any():
        raise GpufluidError(f"Mesh needs a triangle with three different vertices, got none in {len(array)}")
    return locked(np.ascontiguousarray(array[proper], dtype=np.int32))


def normals_of(vertices: Floats, triangles: NDArray[np.integer]) -> NDArray[np.float32]:
    """Unit normals [v, 3] at vertices [v, 3], as `Mesh.normals` are."""
    a, b, c = vertices[triangles].swapaxes(0, 1)
    doubled_areas = np.cross(b - a, c - a)
    sums = np.zeros_like(vertices)
    for corner in range(3):
        np.add.at(sums, triangles[:, corner], doubled_areas)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    usable = lengths > 0.0
    unit = np.where(usable, sums / np.where(usable, lengths, 1.0), (0.0, 1.0, 0.0))
    return unit.astype(np.float32)


def parted_at_creases(mesh: Mesh) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
    """Where edges of `mesh` are sharp, give the triangles on either side vertices of their own.

    Returns the vertex of `mesh` that each of them is, [n], and the triangles of these, [t, 3]. Triangles that
    share an edge and lie at less than `SHARP` go on over it; round a vertex they fall into fans.
    """
    triangles = mesh.triangles.astype(np.int64)
    a, b, c = mesh.vertices[triangles].swapaxes(0, 1)
    facing = np.cross(b - a, c - a)
    lengths = np.linalg.norm(facing, axis=1, keepdims=True)
    facing /= np.where(lengths > 0.0, lengths, 1.0)
    corners = np.arange(triangles.size).reshape(-1, 3)
    start, end = _directed_edges(triangles)
    ends = _directed_edges(corners)
    turned = start > end
    key = np.minimum(start, end) * len(mesh.vertices) + np.maximum(start, end)
    first, last = np.where(turned, ends[1], ends[0]), np.where(turned, ends[0], ends[1])
    order = np.argsort(key, kind="stable")
    one, other = order[:-1], order[1:]
    across = np.einsum("ij,ij->i", facing[one // 3], facing[other // 3])
    flat = (lengths[one // 3, 0] == 0.0) | (lengths[other // 3, 0] == 0.0)
    smooth = (key[one] == key[other]) & ((across > math.cos(math.radians(SHARP))) | flat)
    one, other = one[smooth], other[smooth]
    pairs = np.concatenate([[first[one], first[other]], [last[one], last[other]]], axis=1)
    fan = _least_connected(triangles.size, pairs)
    chosen, number = np.unique(fan, return_inverse=True)
    return triangles.ravel()[chosen], number.reshape(-1, 3).astype(np.int32)
