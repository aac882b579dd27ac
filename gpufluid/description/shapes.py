"""Shapes that have a formula: spheres, boxes, cylinders, capsules and planes.

Descriptions only. All lengths are metres, in (x, y, z) order, y up. A shape is given in its own local space;
an `Obstacle` or an `Emitter` places it in the world by a 4x4 matrix.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from gpufluid.common import rules
from gpufluid.common.checks import finite_triple, real_array
from gpufluid.common.errors import GpufluidError, named
from gpufluid.common.vectors import Floats, Real, Triple, Vector

# A rotation kept in float32 and turned a few thousand times still passes; a scale of 0.1 % does not.
ROTATION_TOLERANCE = 1e-4


def positive_triple(value: Vector, name: str) -> Triple:
    """Return `value` as three finite floats > 0, or raise naming it."""
    triple = finite_triple(value, name)
    if min(triple) <= 0.0:
        raise GpufluidError(f"{name} must be > 0 along x, y and z, got {triple}")
    return triple


def direction(value: Vector, name: str) -> Triple:
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


def placed_points(matrix: Floats, points: Floats) -> Floats:
    """`points` [..., 3] where the affine `matrix` [4, 4], for column vectors, puts them."""
    placed: Floats = points @ matrix[:3, :3].T + matrix[:3, 3]
    return placed


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


def _frame(origin: Vector, up: Vector = (0.0, 1.0, 0.0)) -> Floats:
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
class Sphere(rules.Ruled):
    """A ball. center, radius: metres, radius > 0.

    Raises GpufluidError naming the value and its limit.
    """

    center: Vector = rules.vector((0.0, 0.0, 0.0))
    radius: Real = rules.number(1.0, above=0.0)

    @property
    def form(self) -> Form:
        """The ball for the kernels: a point, rounded."""
        return Form(BOX, (0.0, 0.0, 0.0), self.radius, _frame(self.center))


@named
@dataclass(frozen=True)
class Box(rules.Ruled):
    """A box along the axes. center: metres. size: its edges along (x, y, z), metres, each > 0.

    Raises GpufluidError naming the value and its limit.
    """

    center: Vector = rules.vector((0.0, 0.0, 0.0))
    size: Vector = rules.ruled(positive_triple, (1.0, 1.0, 1.0))

    @classmethod
    def from_corners(cls, low: Vector, high: Vector) -> Box:
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
class Cylinder(rules.Ruled):
    """An upright cylinder, its axis along y. center: metres. radius, height: metres, > 0.

    A `rotation` of its obstacle or emitter lays it along another axis. In 2D a Sphere is a cylinder along z.

    Raises GpufluidError naming the value and its limit.
    """

    center: Vector = rules.vector((0.0, 0.0, 0.0))
    radius: Real = rules.number(0.5, above=0.0)
    height: Real = rules.number(1.0, above=0.0)

    @property
    def form(self) -> Form:
        """The cylinder for the kernels."""
        return Form(ROUND, (self.radius, 0.5 * self.height, 0.0), 0.0, _frame(self.center))


@named
@dataclass(frozen=True)
class Capsule(rules.Ruled):
    """All that lies within `radius` > 0 of the straight line from `start` to `end`; metres.

    Raises GpufluidError naming the value and its limit, also where both ends are one point: a Sphere.
    """

    start: Vector = rules.vector((0.0, -0.5, 0.0))
    end: Vector = rules.vector((0.0, 0.5, 0.0))
    radius: Real = rules.number(0.25, above=0.0)

    def __post_init__(self) -> None:
        super().__post_init__()
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
class Plane(rules.Ruled):
    """The half space below a plane: solid on the side that the normal points away from.

    point: any point of the plane, metres. normal: its direction, of any length > 0. Raises GpufluidError
    naming the value.
    """

    point: Vector = rules.vector((0.0, 0.0, 0.0))
    normal: Vector = rules.ruled(direction, (0.0, 1.0, 0.0))

    @property
    def form(self) -> Form:
        """The half space for the kernels."""
        return Form(HALF_SPACE, (0.0, 0.0, 0.0), 0.0, _frame(self.point, self.normal))


Analytic = Sphere | Box | Cylinder | Capsule | Plane


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
