"""The force of a flow on bodies of the host's, from samples of it: one way, the flow does not feel it.

Each point of a body stands for a part of it with a cross-section A that moves with v through air that would
move with u there. It feels the drag ``1/2 rho Cd A |u - v| (u - v)`` (Rayleigh 1876, On the resistance of
fluids) and the lift ``-rho V g`` of the air that its volume V takes the place of (Archimedes). The sums are
the force and the torque about a centre.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from gpufluid.common.checks import finite_number, finite_triple, held, real_array
from gpufluid.common.errors import GpufluidError, counted
from gpufluid.common.vectors import Floats, Number, Vector
from gpufluid.numerics.probes import Samples

SPHERE_DRAG = 0.47  # of a sphere, Reynolds numbers 1e3 to 2e5 (Hoerner 1965, Fluid-Dynamic Drag, chapter 3)
AIR_DENSITY = 1.2  # kg/m^3, at 20 degrees C and sea level
GRAVITY = (0.0, -9.81, 0.0)  # m/s^2


class BodyForces:
    """What `Fluid.forces_on` was asked for: there from the moment on when `ready` is True.

    Any of the numbers waits until it is. They are of the moment when they were asked for.

    arms: of the points from the centre, m. velocities: of the body there, m/s. strength: of the drag, kg/m.
    lift: N.
    """

    def __init__(
        self,
        samples: Samples,
        arms: Floats,
        velocities: Floats,
        strength: Floats,
        lift: Floats,
    ) -> None:
        self._samples, self._arms, self._velocities = samples, arms, velocities
        self._strength, self._lift = strength, lift

    def __repr__(self) -> str:
        return f"<what a gf.Fluid does to {counted(len(self._arms), 'point')}: force, torque, parts>"

    @property
    def ready(self) -> bool:
        """True once the numbers are there."""
        return self._samples.ready

    @cached_property
    def parts(self) -> Floats:
        """The force at each point, N, [n, 3]; 0 at points outside the box, where nothing is known."""
        against = self._samples.velocity - self._velocities
        speed = np.linalg.norm(against, axis=1, keepdims=True)
        forces = self._strength[:, None] * speed * against + self._lift
        return np.where(self._samples.inside[:, None], forces, 0.0)

    @property
    def force(self) -> Floats:
        """The force on the body, N, [3]."""
        return np.asarray(self.parts.sum(axis=0))

    @property
    def torque(self) -> Floats:
        """The torque on it about the centre, N m, [3]."""
        return np.asarray(np.cross(self._arms, self.parts).sum(axis=0))


def parts_of(
    points: Floats,
    *,
    areas: ArrayLike,
    velocities: ArrayLike,
    drag_coefficient: Number,
    volumes: ArrayLike,
    center: Vector | None,
    air_density: Number,
    gravity: Vector,
) -> tuple[Floats, Floats, Floats, Floats]:
    """What `BodyForces` takes of a body: arms, velocities, strength, lift; see `Fluid.forces_on`.

    Raises GpufluidError naming the first number that no body can have.
    """
    count = len(points)
    area, volume = (_each(v, count, name) for v, name in ((areas, "areas"), (volumes, "volumes")))
    density = finite_number(air_density, "air_density", low=0.0)
    coefficient = finite_number(drag_coefficient, "drag_coefficient", low=0.0)
    down = np.array(finite_triple(gravity, "gravity"))
    middle = points.mean(axis=0) if center is None and count else np.zeros(3)
    if center is not None:
        middle = np.array(finite_triple(center, "center"))
    try:
        moving = np.broadcast_to(real_array(velocities), (count, 3))
    except (TypeError, ValueError):
        raise GpufluidError(
            f"velocities must be one velocity (x, y, z) or an array of the shape [{count}, 3]"
        ) from None
    if not held(moving).all():
        raise GpufluidError("velocities must be finite")
    strength: Floats = 0.5 * density * coefficient * area
    return points - middle, moving, strength, -density * volume[:, None] * down


def _each(values: ArrayLike, count: int, name: str) -> Floats:
    """One number >= 0 for each point, [n], from that or from one for all."""
    try:
        each = np.broadcast_to(real_array(values), (count,))
    except (TypeError, ValueError):
        raise GpufluidError(f"{name} must be one number or an array of {count}, one for each point") from None
    if not (held(each).all() and (each >= 0.0).all()):
        raise GpufluidError(f"{name} must be finite numbers >= 0")
    return each
