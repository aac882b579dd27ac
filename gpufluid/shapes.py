"""Shapes that stand in a fluid: spheres, boxes, cylinders, capsules, planes, triangle meshes, obstacles.

Descriptions only. All lengths are metres, in (x, y, z) order, y up. A shape is given in its own local space;
an `Obstacle` places it in the world by a 4x4 matrix.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpufluid.checks import (
    color_triple,
    finite_number,
    finite_triple,
    flag,
    held,
    radiance,
    real_array,
    share,
    whole_number,
)
from gpufluid.errors import GpufluidError, named, one_of
from gpufluid.mesh_files import read_triangles
from gpufluid.mesh_forms import icosahedron, split_in_four, trefoil_curve, tube_round, turned
from gpufluid.settings import SLIPS

Floats = NDArray[np.float64]
Triple = tuple[float, float, float]

MESH_SUFFIXES = (".glb", ".obj", ".ply", ".stl")

# A rotation kept in float32 and turned a few thousand times still passes; a scale of 0.1 % does not.
ROTATION_TOLERANCE = 1e-4

# Half the least distance between two strands of the unit trefoil is 0.0908: a thicker tube meets itself.
TREFOIL_MAX_TUBE = 0.09


def positive_triple(value: Sequence[float], name: str) -> Triple:
    """Return `value` as three finite floats > 0, or raise naming it."""
    triple = finite_triple(value, name)
    if min(triple) <= 0.0:
        raise GpufluidError(f"{name} must be > 0 along x, y and z, got {triple}")
    return triple


def direction(value: Sequence[float], name: str) -> Triple:
    """Return `value` as a unit vector, one as it is, to the bit; or raise naming it."""
    triple = finite_triple(value, name)
    largest = max(map(abs, triple))
    if largest == 0.0:
        raise GpufluidError(f"{name} must not be (0, 0, 0): it has no direction")
    if math.isclose(math.hypot(*triple), 1.0, rel_tol=1e-15):
        return triple  # divided again it would be another one, each time that it is checked
    x, y, z = (v / largest for v in triple)
    length = math.sqrt(x * x + y * y + z * z)
    return x / length, y / length, z / length


BOX, ROUND, HALF_SPACE, MESH = range(4)  # kinds of a Form, as in shape.glsl; a mesh has voxels instead


@dataclass(frozen=True)
class Form:
    """A shape as the kernels know it, one formula for all: what lies within `rounding` of a box.

    A point (x, y, z) of the form's own space has a profile: for the kind BOX (|x|, |y|, |z|), for ROUND
    (sqrt(x^2 + z^2), |y|, 0), for HALF_SPACE (0, y, 0). It is inside where its profile exceeds `core` by a
    vector no longer than `rounding`; by how much longer is its distance. place: [4, 4], the form's own space
    to the shape's, without scale. Metres.
    """

    kind: int
    core: Triple
    rounding: float
    place: Floats

    @property
    def half(self) -> Floats:
        """Half the edges of the box round it in its own space, m, [3]; of no meaning for a HALF_SPACE."""
        x, y, z = self.core
        return np.array((x, y, x if self.kind == ROUND else z)) + self.rounding


def _frame(origin: Sequence[float], up: Sequence[float] = (0.0, 1.0, 0.0)) -> Floats:
    """[4, 4]: a rotation that takes the y axis to `up`, of any length > 0, then a shift to `origin`."""
    frame = np.eye(4)
    frame[:3, 3] = origin
    y = np.array(up) / np.linalg.norm(up)
    if not np.array_equal(y, (0.0, 1.0, 0.0)):
        x = np.cross(y, np.eye(3)[2 if abs(y[2]) < 0.9 else 1])
        x /= np.linalg.norm(x)
        frame[:3, :3] = np.stack([x, y, np.cross(x, y)], axis=1)
    return frame


@named
@dataclass(frozen=True)
class Sphere:
    """A ball. center, radius: metres, radius > 0.

    Raises GpufluidError naming the value and its limit.
    """

    center: Triple = (0.0, 0.0, 0.0)
    radius: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "center", finite_triple(self.center, "Sphere.center"))
        object.__setattr__(self, "radius", finite_number(self.radius, "Sphere.radius", above=0.0))

    @property
    def form(self) -> Form:
        """The ball for the kernels: a point, rounded."""
        return Form(BOX, (0.0, 0.0, 0.0), self.radius, _frame(self.center))


@named
@dataclass(frozen=True)
class Box:
    """A box along the axes. center: metres. size: its edges along (x, y, z), metres, each > 0.

    Raises GpufluidError naming the value and its limit.
    """

    center: Triple = (0.0, 0.0, 0.0)
    size: Triple = (1.0, 1.0, 1.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "center", finite_triple(self.center, "Box.center"))
        object.__setattr__(self, "size", positive_triple(self.size, "Box.size"))

    @classmethod
    def from_corners(cls, low: Sequence[float], high: Sequence[float]) -> Box:
        """The box between two corners, metres; raises GpufluidError where `high` is not above `low`."""
        low, high = finite_triple(low, "Box low corner"), finite_triple(high, "Box high corner")
        if any(b <= a for a, b in zip(low, high, strict=True)):
            raise GpufluidError(
                f"Box high corner must lie above its low corner {low} on every axis, got {high}"
            )
        center = [a + 0.5 * (b - a) for a, b in zip(low, high, strict=True)]
        return cls((center[0], center[1], center[2]), (high[0] - low[0], high[1] - low[1], high[2] - low[2]))

    @property
    def half_size(self) -> Triple:
        """Distance from the centre to the faces along (x, y, z), metres."""
        x, y, z = self.size
        return 0.5 * x, 0.5 * y, 0.5 * z

    @property
    def form(self) -> Form:
        """The box for the kernels."""
        return Form(BOX, self.half_size, 0.0, _frame(self.center))


@named
@dataclass(frozen=True)
class Cylinder:
    """An upright cylinder, its axis along y. center: metres. radius, height: metres, > 0.

    A `rotation` of its obstacle or emitter lays it along another axis. In 2D a Sphere is a cylinder along z.

    Raises GpufluidError naming the value and its limit.
    """

    center: Triple = (0.0, 0.0, 0.0)
    radius: float = 0.5
    height: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "center", finite_triple(self.center, "Cylinder.center"))
        for name in ("radius", "height"):
            value = finite_number(getattr(self, name), f"Cylinder.{name}", above=0.0)
            object.__setattr__(self, name, value)

    @property
    def form(self) -> Form:
        """The cylinder for the kernels."""
        return Form(ROUND, (self.radius, 0.5 * self.height, 0.0), 0.0, _frame(self.center))


@named
@dataclass(frozen=True)
class Capsule:
    """All that lies within `radius` > 0 of the straight line from `start` to `end`; metres.

    Raises GpufluidError naming the value and its limit, also where both ends are one point: a Sphere.
    """

    start: Triple = (0.0, -0.5, 0.0)
    end: Triple = (0.0, 0.5, 0.0)
    radius: float = 0.25

    def __post_init__(self) -> None:
        for name in ("start", "end"):
            object.__setattr__(self, name, finite_triple(getattr(self, name), f"Capsule.{name}"))
        object.__setattr__(self, "radius", finite_number(self.radius, "Capsule.radius", above=0.0))
        if not self.length > 0.0:
            raise GpufluidError(f"Capsule.end must differ from its start {self.start}, got {self.end}")

    @property
    def length(self) -> float:
        """From `start` to `end`, metres."""
        return math.dist(self.start, self.end)

    @property
    def form(self) -> Form:
        """The capsule for the kernels: a line, rounded."""
        start, end = np.array(self.start), np.array(self.end)
        return Form(
            BOX, (0.0, 0.5 * self.length, 0.0), self.radius, _frame(start + 0.5 * (end - start), end - start)
        )


@named
@dataclass(frozen=True)
class Plane:
    """The half space below a plane: solid on the side that the normal points away from.

    point: any point of the plane, metres. normal: its direction, of any length > 0. Raises GpufluidError
    naming the value.
    """

    point: Triple = (0.0, 0.0, 0.0)
    normal: Triple = (0.0, 1.0, 0.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "point", finite_triple(self.point, "Plane.point"))
        object.__setattr__(self, "normal", direction(self.normal, "Plane.normal"))

    @property
    def form(self) -> Form:
        """The half space for the kernels."""
        return Form(HALF_SPACE, (0.0, 0.0, 0.0), 0.0, _frame(self.point, self.normal))


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
        return f"Mesh({len(self.vertices)} vertices, {len(self.triangles)} triangles)"

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
    def icosphere(cls, subdivisions: int = 4, radius: float = 1.0, center: Triple = (0.0, 0.0, 0.0)) -> Mesh:
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
    def box(cls, size: Triple = (1.0, 1.0, 1.0), center: Triple = (0.0, 0.0, 0.0)) -> Mesh:
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
        radius: float = 0.5,
        height: float = 1.0,
        sides: int = 48,
        center: Triple = (0.0, 0.0, 0.0),
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
        start: Triple = (0.0, -0.5, 0.0),
        end: Triple = (0.0, 0.5, 0.0),
        radius: float = 0.25,
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
        place = capsule.form.place
        return cls(vertices @ place[:3, :3].T + place[:3, 3], triangles)

    @classmethod
    def torus(
        cls,
        radius: float = 1.0,
        tube: float = 0.3,
        segments: int = 96,
        sides: int = 32,
        center: Triple = (0.0, 0.0, 0.0),
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
    def trefoil(cls, tube: float = 0.07, segments: int = 192, sides: int = 20) -> Mesh:
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
        return _read_only(used.min(axis=0)), _read_only(used.max(axis=0))

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
        start = self.triangles.astype(np.int64).ravel()
        end = np.roll(self.triangles, -1, axis=1).astype(np.int64).ravel()
        count = len(self.vertices)
        edges = np.unique(np.concatenate([start * count + end, end * count + start]))
        there = np.searchsorted(edges, start * count + end), np.searchsorted(edges, end * count + start)
        balance = np.bincount(there[0], minlength=len(edges)) - np.bincount(there[1], minlength=len(edges))
        return int(balance[balance > 0].sum())

    @cached_property
    def volume(self) -> float:
        """Signed volume, m^3: negative if a closed mesh is inside-out; without meaning if it is open."""
        low, high = self.bounds
        a, b, c = self._corners(origin=0.5 * (low + high))
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
        piece = np.arange(len(places))  # the least vertex that is known to be connected with each
        settled = False
        while not settled:
            before = piece.copy()
            np.minimum.at(piece, triangles, piece[triangles].min(axis=1, keepdims=True))
            piece = piece[piece]
            settled = np.array_equal(piece, before)
        low, high = self.bounds
        a, b, c = self._corners(origin=0.5 * (low + high))
        volumes = np.zeros(len(piece))
        np.add.at(volumes, piece[triangles[:, 0]], np.einsum("ij,ij->i", a, np.cross(b, c)))
        there = volumes[np.unique(piece[triangles])]
        return int((there > 0.0).all()) - int((there < 0.0).all())

    @cached_property
    def normals(self) -> NDArray[np.float32]:
        """Unit normals at the vertices, [v, 3] float32: those of their triangles, weighted by area.

        Where there is nothing to average, at an unused vertex or among triangles without area, it is +y.
        """
        a, b, c = self._corners()
        doubled_areas = np.cross(b - a, c - a)
        sums = np.zeros_like(self.vertices)
        for corner in range(3):
            np.add.at(sums, self.triangles[:, corner], doubled_areas)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        usable = lengths > 0.0
        unit = np.where(usable, sums / np.where(usable, lengths, 1.0), (0.0, 1.0, 0.0))
        normals: NDArray[np.float32] = unit.astype(np.float32)
        normals.flags.writeable = False
        return normals

    def fitted(self, size: float, center: Triple = (0.0, 0.0, 0.0)) -> Mesh:
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

    def _corners(self, origin: ArrayLike = 0.0) -> tuple[Floats, Floats, Floats]:
        """First, second and third corner of every triangle, each [t, 3], relative to `origin`."""
        moved = self.vertices - np.asarray(origin)
        first, second, third = self.triangles.T
        return moved[first], moved[second], moved[third]


Analytic = Sphere | Box | Cylinder | Capsule | Plane
Shape = Analytic | Mesh


@named
@dataclass(eq=False)  # two obstacles alike are still two: lists must find the very one
class Obstacle:
    """A solid in the fluid. Its fields can be changed at any time.

    shape: Sphere, Box, Cylinder, Capsule, Plane or Mesh, in local space.
    position: where its local origin stands, metres.
    rotation: about its local origin: a 3x3 rotation matrix, a quaternion (x, y, z, w) of any length > 0, or
        None. An object with x, y, z and w is read by those names.
    scale: > 0, one number or one for each local axis (x, y, z).
    velocity: of the surface alone, m/s, (x, y, z), and spin: rad/s about the world's axes through the local
        origin, also of the surface alone: a conveyor, a spinning drum. Both add to the motion that follows
        from position, rotation and scale.
    slip: "no" (the fluid beside it is dragged along) or "free" (the fluid glides: only the part of the
        solid's velocity that points into the fluid counts). Slanting and curved surfaces are stairs of
        voxels, which hold fluid back about as much as no-slip ones. Across a solid one cell thick, the flow
        on one side drags the flow on the other.
    temperature: of the solid; None: it heats nothing. heating: 1/s, >= 0; in fluid cells that share a face
        with the solid, the difference to its temperature falls by exp(-heating) in each second.
    visible: whether it is drawn. The fluid feels it in any case, and it throws its shadow.
    color: of its paint, linear albedo (r, g, b), 0 .. 1; None: terracotta, or what the renderer is told.
        gloss: strength of the soft sheen on it, 0 (rock, cloth) .. 1 (glaze). emission: linear radiance (r,
        g, b), >= 0, that it glows with, as an ember or a screen does. It lights nothing else: put a lamp into
        it. In the pictures of `FrameRenderer` a lamp inside a glowing solid shines out of it.

    A solid that moves, in one step, further than the diagonal of its bounding box counts as put elsewhere: it
    gives the fluid no velocity. (A Plane: further than the diagonal of the box of fluid.)

    In a periodic box, what reaches over a side comes in at the opposite one, and the solid moves the shortest
    way modulo the box: a position may be kept within the box or run on for ever. A Plane ends at the sides.

    Raises GpufluidError naming the field and its limit.
    """

    shape: Shape
    position: Triple = (0.0, 0.0, 0.0)
    rotation: ArrayLike | None = None
    scale: float | Triple = 1.0
    velocity: Triple = (0.0, 0.0, 0.0)
    spin: Triple = (0.0, 0.0, 0.0)
    temperature: float | None = None
    heating: float = 10.0
    visible: bool = True
    slip: str = "no"
    color: Triple | None = None
    gloss: float = 1.0
    emission: Triple = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        self.check()

    def check(self) -> None:
        """Raise GpufluidError naming the first field that no solid can have."""
        if not isinstance(self.shape, Shape):
            raise GpufluidError(
                f"Obstacle.shape must be a Sphere, Box, Cylinder, Capsule, Plane or Mesh, got {self.shape!r}"
            )
        for name in ("position", "velocity", "spin"):
            setattr(self, name, finite_triple(getattr(self, name), f"Obstacle.{name}"))
        if self.temperature is not None:
            self.temperature = finite_number(self.temperature, "Obstacle.temperature")
        self.heating = finite_number(self.heating, "Obstacle.heating", low=0.0)
        self.visible = flag(self.visible, "Obstacle.visible")
        one_of(self.slip, SLIPS, "Obstacle.slip")
        if self.color is not None:
            self.color = color_triple(self.color, "Obstacle.color")
        self.gloss = share(self.gloss, "Obstacle.gloss")
        self.emission = radiance(self.emission, "Obstacle.emission")
        rotation_matrix(self.rotation, "Obstacle.rotation")
        _scale_triple(self.scale)

    @property
    def surface_motion(self) -> Floats:
        """Place in the world, m, to the surface's own velocity, m/s: [4, 4], the last row 0."""
        x, y, z = self.spin
        motion = np.zeros((4, 4))
        motion[:3, :3] = (0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0)
        motion[:3, 3] = self.velocity - motion[:3, :3] @ self.position
        return motion

    @property
    def matrix(self) -> Floats:
        """Local to world, [4, 4] float64, for column vectors: translate @ rotate @ scale.

        Raises as `check` does.
        """
        matrix = np.eye(4)
        rotation = rotation_matrix(self.rotation, "Obstacle.rotation")
        matrix[:3, :3] = rotation * _scale_triple(self.scale)
        matrix[:3, 3] = finite_triple(self.position, "Obstacle.position")
        return matrix


def rotation_matrix(rotation: ArrayLike | None, name: str) -> Floats:
    """The [3, 3] rotation that a matrix, a quaternion (x, y, z, w) or None stands for, or raise."""
    if rotation is None:
        return np.eye(3)
    if all(hasattr(rotation, part) for part in "xyzw"):  # by name: others write them in another order
        rotation = [rotation.x, rotation.y, rotation.z, rotation.w]  # type: ignore[union-attr]
    try:
        given = real_array(rotation)
    except (TypeError, ValueError):
        given = np.empty(0)
    if given.shape not in ((3, 3), (4,)) or not np.isfinite(given).all():
        raise GpufluidError(
            f"{name} must be None, a finite 3x3 rotation matrix or quaternion (x, y, z, w), got {rotation!r}"
        )
    if given.shape == (3, 3):
        with np.errstate(over="ignore"):  # far from a rotation, then
            error = float(np.abs(given @ given.T - np.eye(3)).max())
        if error > ROTATION_TOLERANCE or np.linalg.det(given) < 0.0:
            raise GpufluidError(
                f"{name} must be a rotation: orthonormal within {ROTATION_TOLERANCE:g} and not mirrored, "
                f"got {given.tolist()}"
            )
        return given
    largest = float(np.abs(given).max())
    if largest == 0.0:
        raise GpufluidError(f"{name} must not be the zero quaternion")
    given /= largest
    x, y, z, w = (given / np.linalg.norm(given)).tolist()
    return np.array(
        [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
            [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
            [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
        ]
    )


def _scale_triple(scale: float | Sequence[float]) -> Triple:
    """The scale of an obstacle, a number or three of them, > 0, as three floats; or raise naming it."""
    if not isinstance(scale, list | tuple) and np.ndim(scale) == 0:
        number = finite_number(scale, "Obstacle.scale", above=0.0)  # type: ignore[arg-type]
        return number, number, number
    return positive_triple(scale, "Obstacle.scale")  # type: ignore[arg-type]


def _edges_match(triangles: NDArray[np.signedinteger]) -> bool:
    """Whether every directed edge of them is matched by one that runs the other way."""
    start = triangles.astype(np.int64).ravel()
    end = np.roll(triangles, -1, axis=1).astype(np.int64).ravel()
    count = int(triangles.max(initial=0)) + 1
    return bool(np.array_equal(np.sort(start * count + end), np.sort(end * count + start)))


def _read_only(array: Floats) -> Floats:
    """`array`, locked."""
    array.flags.writeable = False
    return array


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
    return _read_only(array)


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
    kept: NDArray[np.int32] = np.ascontiguousarray(array[proper], dtype=np.int32)
    kept.flags.writeable = False
    return kept
