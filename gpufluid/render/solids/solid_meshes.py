"""The triangles that stand for obstacles in a picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import moderngl
import numpy as np
from numpy.typing import NDArray

from gpufluid.common.vectors import Floats, Triple, Vector
from gpufluid.description.grid import Grid
from gpufluid.description.mesh import Mesh
from gpufluid.description.obstacles import Shape
from gpufluid.description.periodic import HERE, held, moved, periods
from gpufluid.description.shapes import Box, Capsule, Cylinder, Plane, Sphere, placed_points
from gpufluid.gl.mesh_buffers import MeshBuffers
from gpufluid.render.subject import FluidLike, ObstacleLike

CORNERS = np.array(list(product((True, False), repeat=3)))  # of a box, by axis: whether the low one

MOST_CUTS = 16  # of planes that are kept


class Placed(NamedTuple):
    """A mesh in a picture. matrix: [4, 4], to the world. color, gloss, emission: as an obstacle has them."""

    mesh: Mesh
    matrix: Floats
    color: Vector | None = None
    gloss: float = 1.0
    emission: Vector = (0.0, 0.0, 0.0)

    def shines_by(self, place: Floats) -> bool:
        """Whether it glows, and the box round it holds a `place` of the world: a lamp there shines out."""
        if not any(self.emission):
            return False
        low, high = self.mesh.bounds
        local = (np.linalg.inv(self.matrix) @ (*place, 1.0))[:3]
        return bool((low <= local).all() and (local <= high).all())

    @property
    def corners(self) -> Floats:
        """Of the box round the mesh, in the world, [8, 3]."""
        return placed_points(self.matrix, np.where(CORNERS, *self.mesh.bounds))


class SolidMeshes(MeshBuffers):
    """The surfaces of obstacles: one mesh each for all balls, boxes and cylinders, one for every mesh.

    A capsule is a tube with a ball at either end. fine: how often the triangles of a ball are halved.
    """

    def __init__(self, ctx: moderngl.Context, fine: int = 4) -> None:
        super().__init__(ctx, normals=True)
        self._cuts: dict[tuple[Plane, bytes, Grid], Mesh | None] = {}
        self._ball = Mesh.icosphere(fine)
        self._cube = _apart(Mesh.box(), lids_only=False)
        self._can, self._tube = cans(32 * fine)

    def placed(self, fluid: FluidLike, hidden: bool = False) -> Iterator[Placed]:
        """The triangles that stand for the visible obstacles of `fluid`, their places and colours.

        In a periodic box also for the images that it holds. hidden: also for those that are not visible, and
        for planes, as far as they lie in the box.
        """
        for obstacle in fluid.obstacles:
            if not (obstacle.visible or hidden):
                continue
            if isinstance(obstacle.shape, Plane):
                cut = self._cut(obstacle.shape, obstacle.matrix, fluid.grid) if hidden else None
                if cut is not None:
                    yield Placed(cut, np.eye(4))
                continue
            yield from (one for one, _ in self.images(fluid, obstacle))

    def images(self, fluid: FluidLike, obstacle: ObstacleLike) -> Iterator[tuple[Placed, Triple]]:
        """The triangles that stand for an obstacle, and how far they are off it as its image, m.

        It is no plane.
        """
        grid, sides, shape = fluid.grid, fluid.boundaries, obstacle.shape
        there: Sequence[Triple] = HERE
        if any(periods(grid, sides)):
            there = held(grid, sides, shape, moved(obstacle.matrix, np.negative(grid.origin))).there
        for (mesh, place), shift in product(self._parts(obstacle), there):
            look = obstacle.color, obstacle.gloss, obstacle.emission
            yield Placed(mesh, moved(place, shift), *look), shift

    def _cut(self, plane: Plane, matrix: Floats, grid: Grid) -> Mesh | None:
        """The part of a plane that lies in a box; one mesh while neither moves."""
        key = plane, matrix.tobytes(), grid
        if key not in self._cuts:
            if len(self._cuts) >= MOST_CUTS:
                self._cuts.clear()
            self._cuts[key] = _section(
                matrix[:3, :3] @ plane.point + matrix[:3, 3], matrix[:3, :3] @ plane.normal, grid
            )
        return self._cuts[key]

    def _parts(self, obstacle: ObstacleLike) -> list[tuple[Mesh, Floats]]:
        """The triangles that stand for an obstacle where it is."""
        shape: Shape = obstacle.shape
        if isinstance(shape, Mesh):
            return [(shape, obstacle.matrix)]
        assert not isinstance(shape, Plane)
        place = obstacle.matrix @ shape.form.place
        if isinstance(shape, Sphere):
            return [(self._ball, place @ _scaled(shape.radius, shape.radius, shape.radius))]
        if isinstance(shape, Box):
            return [(self._cube, place @ _scaled(*shape.size))]
        if isinstance(shape, Cylinder):
            return [(self._can, place @ _scaled(shape.radius, shape.height, shape.radius))]
        assert isinstance(shape, Capsule)
        r, parts = shape.radius, [(self._tube, place @ _scaled(shape.radius, shape.length, shape.radius))]
        for y in (-0.5, 0.5):
            end = np.eye(4)
            end[1, 3] = y * shape.length
            parts.append((self._ball, place @ end @ _scaled(r, r, r)))
        return parts


def cans(sides: int) -> tuple[Mesh, Mesh]:
    """A cylinder of radius and height 1 with so many sides, and the tube that it is without its lids."""
    can = Mesh.cylinder(1.0, 1.0, sides)
    return _apart(can, lids_only=True), Mesh(can.vertices, can.triangles[~_level(can)])


def _scaled(x: float, y: float, z: float) -> Floats:
    """A matrix that scales along each axis."""
    return np.diag([x, y, z, 1.0])


def _apart(mesh: Mesh, lids_only: bool) -> Mesh:
    """`mesh` with corners of their own for its triangles, or the level ones: edges there stay sharp."""
    corners = mesh.vertices[mesh.triangles]
    chosen = _level(mesh) if lids_only else np.full(len(corners), True)
    own = corners[chosen].reshape(-1, 3)
    number = len(mesh.vertices) + np.arange(len(own)).reshape(-1, 3)
    return Mesh(np.concatenate([mesh.vertices, own]), np.concatenate([mesh.triangles[~chosen], number]))


def _level(mesh: Mesh) -> NDArray[np.bool_]:
    """Which triangles of `mesh` have one height."""
    level: NDArray[np.bool_] = np.ptp(mesh.vertices[mesh.triangles][..., 1], axis=1) == 0.0
    return level


def _section(point: Floats, normal: Floats, grid: Grid) -> Mesh | None:
    """The polygon that a plane through `point` cuts out of a box; None where it passes by."""
    corners = np.where(CORNERS, grid.origin, grid.upper)
    above = (corners - point) @ normal
    ends = np.array([(a, b) for a in range(8) for b in range(a) if (CORNERS[a] != CORNERS[b]).sum() == 1])
    ends = ends[(above[ends[:, 0]] > 0.0) != (above[ends[:, 1]] > 0.0)]
    if len(ends) < 3:
        return None
    a, b = ends.T
    share = above[a] / (above[a] - above[b])
    rim = corners[a] + share[:, None] * (corners[b] - corners[a])
    middle = rim.mean(axis=0)
    aside = rim[0] - middle
    around = np.arctan2(
        (rim - middle) @ np.cross(normal / np.linalg.norm(normal), aside), (rim - middle) @ aside
    )
    rim = rim[np.argsort(around)]
    fan = [(0, n, n + 1) for n in range(1, len(rim) - 1)]
    return Mesh(rim, np.array(fan))
