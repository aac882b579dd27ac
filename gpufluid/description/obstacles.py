"""Solids in a fluid: a shape, where it stands, and what it does to the fluid beside it."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from gpufluid.common import rules
from gpufluid.common.checks import finite_number, finite_triple
from gpufluid.common.errors import GpufluidError, named
from gpufluid.common.vectors import Floats, Number, Real, RealOrNone, Triple, Vector
from gpufluid.description.mesh import Mesh
from gpufluid.description.settings import SLIPS
from gpufluid.description.shapes import Analytic, positive_triple, rotation_matrix

Shape = Analytic | Mesh


@named
@dataclass(eq=False)  # two obstacles alike are still two: lists must find the very one
class Obstacle(rules.Checked):
    """A solid in the fluid. Its fields can be changed at any time.

    shape: Sphere, Box, Cylinder, Capsule, Plane or Mesh, in local space. One that is put in its place gives
        the fluid no velocity, unless it is a mesh that bends, ``shape.moved(vertices)``.
    position: where its local origin stands, metres.
    rotation: about its local origin: a 3x3 rotation matrix, a quaternion (x, y, z, w) of any length > 0, or
        None. An object with x, y, z and w is read by those names.
    scale: > 0, one number or one for each local axis (x, y, z).
    velocity: of the surface alone, m/s, (x, y, z), and spin: rad/s about the world's axes through the local
        origin, also of the surface alone: a conveyor, a spinning drum. Both add to the motion that follows
        from position, rotation and scale. What points into the fluid blows, what points out of it sucks.
    slip: "no" (the fluid beside it is dragged along) or "free" (the fluid glides: only the part of the
        solid's velocity that points into the fluid counts). Slanting and curved surfaces are stairs of
        voxels, which hold fluid back about as much as no-slip ones. Across a solid one cell thick, the flow
        on one side drags the flow on the other.
    temperature: of the solid; None: it heats nothing. heating: 1/s, >= 0; in fluid cells that share a face
        with the solid, the difference to its temperature falls by exp(-heating) in each second; in the stairs
        of a slope, where a cell shares 2 or 3 faces, by that to the power of sqrt(2) or sqrt(3). Where heat
        diffuses, 2 * thermal_diffusivity / cell_size^2 gives the surface itself the temperature, whatever dt.
    visible: whether it is drawn. The fluid feels it in any case, and it throws its shadow.
    color: of its paint, linear albedo (r, g, b), 0 .. 1; None: terracotta, or what the renderer is told.
        gloss: strength of the soft sheen on it, in which sun and lamps have highlights, 0 (rock, cloth) .. 1
        (glaze). emission: linear radiance (r, g, b), >= 0, that it glows with, as an ember or a screen does.
        It lights nothing else: put a lamp into it. In the pictures of `FrameRenderer` a lamp inside a glowing
        solid shines out of it.

    In a step that is split into parts it goes its way part by part: its local origin straight on, its turn
    about one axis, its scale and the vertices of a mesh evenly.

    A solid that moves, in one step, further than the diagonal of its bounding box counts as put elsewhere: it
    gives the fluid no velocity. (A Plane: further than the diagonal of the box of fluid.)

    In a periodic box, what reaches over a side comes in at the opposite one, and the solid moves the shortest
    way modulo the box: a position may be kept within the box or run on for ever. A Plane ends at the sides.

    Raises GpufluidError naming the field and its limit.
    """

    shape: Shape
    position: Vector = rules.vector((0.0, 0.0, 0.0))
    rotation: ArrayLike | None = None
    scale: Number | Vector = 1.0
    velocity: Vector = rules.vector((0.0, 0.0, 0.0))
    spin: Vector = rules.vector((0.0, 0.0, 0.0))
    temperature: RealOrNone = rules.number(None)
    heating: Real = rules.number(10.0, low=0.0)
    visible: bool = rules.flag(True)
    slip: str = rules.choice("no", *SLIPS)
    color: Vector | None = rules.color(None)
    gloss: Real = rules.share(1.0)
    emission: Vector = rules.radiance((0.0, 0.0, 0.0))

    def check(self) -> None:
        """Raise GpufluidError naming the first field that no solid can have."""
        if not isinstance(self.shape, Shape):
            raise GpufluidError(
                f"Obstacle.shape must be a Sphere, Box, Cylinder, Capsule, Plane or Mesh, got {self.shape!r}"
            )
        super().check()
        rotation_matrix(self.rotation, "Obstacle.rotation")
        _scale_triple(self.scale)

    @property
    def surface_motion(self) -> Floats:
        """Place in the world, m, to the surface's own velocity, m/s: [4, 4], the last row 0.

        Raises as `check` does.
        """
        x, y, z = finite_triple(self.spin, "Obstacle.spin")
        motion = np.zeros((4, 4))
        motion[:3, :3] = (0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0)
        velocity = np.array(finite_triple(self.velocity, "Obstacle.velocity"))
        motion[:3, 3] = velocity - motion[:3, :3] @ finite_triple(self.position, "Obstacle.position")
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


def as_now(obstacle: Obstacle) -> Obstacle:
    """Return a copy of `obstacle` that stays where it is now, whatever is written into its rotation."""
    same = copy(obstacle)
    same.rotation = rotation_matrix(obstacle.rotation, "Obstacle.rotation").copy()
    return same


def _scale_triple(scale: Number | Vector) -> Triple:
    """The scale of an obstacle, a number or three of them, > 0, as three floats; or raise naming it."""
    if not isinstance(scale, list | tuple) and np.ndim(scale) == 0:
        number = finite_number(scale, "Obstacle.scale", above=0.0)  # type: ignore[arg-type]
        return number, number, number
    return positive_triple(scale, "Obstacle.scale")  # type: ignore[arg-type]
