"""How obstacles came to where they are in a step, and what they are voxelized as."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpufluid.common.errors import GpufluidError
from gpufluid.description.mesh import Mesh
from gpufluid.description.obstacles import Obstacle, Shape
from gpufluid.description.periodic import place_between
from gpufluid.description.shapes import Box, Plane, Sphere

Matrix = NDArray[np.float64]

# a mesh and its `Voxelized.place_bytes`, before its vertices moved, and over how many seconds; () for none
Bends = tuple[Mesh, bytes, float] | tuple[()]


class Mark(NamedTuple):
    """What the voxels of an obstacle are marked with, four numbers; slips, heats: 1 or 0."""

    temperature: float
    heating: float
    slips: float
    heats: float

    @classmethod
    def of(cls, obstacle: Obstacle) -> Mark:
        """What the voxels of `obstacle` are marked with."""
        free = float(obstacle.slip == "free")
        if obstacle.temperature is None:
            return cls(0.0, 0.0, free, 0.0)
        return cls(obstacle.temperature, obstacle.heating, free, 1.0)


class Voxelized(NamedTuple):
    """An obstacle as it is voxelized, in the order of a checkpoint.

    place: [4, 4], its own space to metres from the low corner of the box. motion: [4, 4], those to its
    velocity, m/s. place_bytes, motion_bytes: of these two, which tell whether anything has changed.
    """

    shape: Shape
    place_bytes: bytes
    mark: Mark
    motion_bytes: bytes
    bends: Bends
    place: Matrix
    motion: Matrix

    @classmethod
    def of(cls, shape: Shape, place: Matrix, motion: Matrix, mark: Mark, bends: Bends) -> Voxelized:
        """One with the bytes of its matrices."""
        return cls(shape, place.tobytes(), mark, motion.tobytes(), bends, place, motion)

    @property
    def key(self) -> tuple[Shape, bytes]:
        """What tells where it is."""
        return self.shape, self.place_bytes

    def fingerprint(self, moving: bool) -> tuple[Any, ...]:
        """What differs from before where its voxels have changed; moving: or where they move otherwise."""
        return (*self.key, self.mark, self.motion_bytes, self.bends) if moving else (*self.key, self.mark)


class Travel(NamedTuple):
    """How an obstacle came to where it is in a step.

    surface: [4, 4], metres from the low corner of the box to the velocity of the surface alone, m/s. came:
    where it was before, as `place`; None where it has not moved or was put there. was: the mesh before its
    vertices moved, or None.
    """

    shape: Shape
    place: Matrix
    surface: Matrix
    mark: Mark
    came: Matrix | None
    was: Mesh | None

    def at(self, share: float) -> tuple[Shape, Matrix]:
        """Its shape and place once it has gone that share of the way."""
        if self.came is None or share == 1.0:
            return self.shape, self.place
        shape = self.shape
        if self.was is not None and isinstance(shape, Mesh):
            vertices = (1.0 - share) * self.was.vertices + share * shape.vertices
            shape = self.was.moved(vertices) if share else self.was
        return shape, place_between(self.came, self.place, share)

    def voxelized(self, start: float, end: float, dt: float) -> Voxelized:
        """It where it is once it has gone the share `end`, `dt` seconds after the share `start`."""
        (before, there), (shape, place) = self.at(start), self.at(end)
        motion = self.surface.copy()
        motion[:3, 3] += motion[:3, :3] @ (self.place - place)[:3, 3]  # it spins about where it is
        bends: Bends = ()
        if isinstance(before, Mesh) and self.was is not None:
            bends = before, there.tobytes(), dt
        elif self.came is not None:
            # central differences: what only turns then pushes as much fluid out as it takes in
            motion = motion + (place @ np.linalg.inv(there) - there @ np.linalg.inv(place)) / (2.0 * dt)
        if self.mark.slips:
            motion = _pushing(shape, place, motion)
        return Voxelized.of(shape, place, motion, self.mark, bends)


def bent(was: Mesh, now: Mesh) -> bool:
    """True where `now` is `was` with its vertices moved."""
    return was is not now and was.family is now.family


def _pushing(shape: Shape, place: Matrix, motion: Matrix) -> Matrix:
    """`motion` [4, 4], place (m) to velocity (m/s), less what slides a shape `place`d there along itself.

    Turns of a ball about its middle, of a cylinder or capsule about its axis, and all of a plane's motion but
    that along its normal. A free-slip surface moves no fluid by these, but the stairs of its voxels would.
    """
    if isinstance(shape, Mesh | Box):
        return motion
    frame = place @ shape.form.place
    if isinstance(shape, Plane):
        normal = np.linalg.inv(frame)[1, :3]
        across = np.zeros((4, 4))
        across[:3, :3] = np.outer(normal, normal) / (normal @ normal)
        return across @ motion
    x, y, z = frame[:3, :3].T
    size = x @ x

    def alike(*pairs: tuple[float, float]) -> bool:
        return all(abs(a - b) <= 1e-9 * size for a, b in pairs)

    if not alike((z @ z, size), (x @ y, 0.0), (y @ z, 0.0), (z @ x, 0.0)):
        return motion  # stretched
    turn = 0.5 * (motion[:3, :3] - motion[:3, :3].T)
    if not (isinstance(shape, Sphere) and alike((y @ y, size))):
        spin = np.array((turn[2, 1], turn[0, 2], turn[1, 0])) @ y / (y @ y) * y
        turn = np.cross(np.eye(3), spin)
    slid = np.zeros((4, 4))
    slid[:3, :3] = turn
    slid[:3, 3] = -turn @ frame[:3, 3]
    return motion - slid


def check_history(before: list[Any], voxels: list[Any]) -> None:
    """Raise GpufluidError for what is no `Solids.history`."""
    for was in before:
        if was is not None and not (isinstance(was[0], Shape) and _is_place(was[1])):
            raise GpufluidError("it does not tell where an obstacle was")
    for shape, place_bytes, _, motion_bytes, bends, place, motion in voxels:
        told = _is_place(place) and _is_place(motion)
        told = told and (place_bytes, motion_bytes) == (place.tobytes(), motion.tobytes())
        meshes = bends and isinstance(shape, Mesh) and isinstance(bends[0], Mesh)
        bent = not bends or (meshes and len(bends[1]) == place.nbytes and bends[2] > 0.0)
        if not (isinstance(shape, Shape) and told and bent):
            raise GpufluidError("it does not tell what is solid")


def _is_place(matrix: Any) -> bool:
    """True for a [4, 4] of finite float64."""
    array = isinstance(matrix, np.ndarray) and (matrix.shape, matrix.dtype) == ((4, 4), np.float64)
    return array and bool(np.isfinite(matrix).all())
