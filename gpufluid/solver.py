"""One step of the incompressible Navier-Stokes equations, as a list of stages."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence

import numpy as np

from gpufluid.advection import Advection
from gpufluid.backend import Backend, FieldStore
from gpufluid.boundaries import Boundaries
from gpufluid.diffusion import Diffusion
from gpufluid.forces import Forces
from gpufluid.kernels import Variant
from gpufluid.pressure import Projection
from gpufluid.settings import Settings
from gpufluid.shapes import Obstacle
from gpufluid.solids import Solids
from gpufluid.sources import Emitter
from gpufluid.user_forces import Force


class Solver:
    """The fields of a fluid and the stages that step them, on any backend."""

    def __init__(self, backend: Backend, settings: Settings, boundaries: Boundaries) -> None:
        self.backend, self.settings, self.boundaries = backend, settings, boundaries
        self.time = 0.0  # seconds since the start
        self.velocity = backend.field("velocity", "face")
        self.scalars = backend.field("scalars", "cell")
        self.scalars.fill([0.0, settings.ambient_temperature, 0.0, 1.0])
        self.speed = backend.field("speed", "block", buffers=1, exact=True)
        self.solids = Solids(backend, boundaries)
        self.forces = Forces(backend, settings)
        self.advection = Advection(backend, settings)
        self.diffusion = Diffusion(backend, settings)
        self.projection = Projection(backend, settings)

    @property
    def variant(self) -> Variant:
        """How the kernels are compiled at present."""
        rules = self.settings
        return Variant(
            self.solids.present, rules.trace, rules.limiter, rules.sampler, boundaries=self.boundaries
        )

    def step(
        self,
        dt: float,
        emitters: Sequence[Emitter],
        obstacles: Sequence[Obstacle],
        forces: Sequence[Force] = (),
    ) -> int:
        """Advance by `dt` > 0 seconds; return the number of equal substeps it took.

        Raises GpufluidError, before anything has changed, where diffusion would take too many sweeps.
        """
        self.diffusion.check(dt)
        if self.solids.update(obstacles, dt) and self.solids.present:
            # smoke where a solid is now must not be seen from the other side of it
            self.backend.kernel("cover_scalars", self.variant)(scalars=self.scalars, **self.solids.cells)
        count = self.substeps(dt)
        for _ in range(count):
            self.substep(dt / count, emitters, forces)
        return count

    def substep(self, dt: float, emitters: Sequence[Emitter], forces: Sequence[Force] = ()) -> None:
        """One substep: advect velocity, add sources and forces, diffuse, project, advect scalars, diffuse.

        The velocity is carried along before anything is added to it, while it has no divergence: carried
        after the forces, as in Stam (1999), air at rest would carry its own unbalanced weight about.
        """
        u, s, variant = self.velocity, self.scalars, self.variant
        faces, cells, openings = self.solids.faces, self.solids.cells, self.solids.openings
        moving = self.settings.solve_velocity
        if moving:
            self.advection.carry_velocity(dt, variant, {**faces, **cells}, velocity=u)
        self.forces.emit(emitters, dt, self.time, variant, faces, velocity=u, scalars=s)
        self.solids.warm(dt, variant, scalars=s)
        if moving:
            self.forces.push(dt, variant, faces, velocity=u, scalars=s)
            self.forces.push_by(forces, dt, self.time, variant, faces, velocity=u)
            self.diffusion.diffuse_velocity(dt, variant, faces, velocity=u)
            self.projection.project(dt, variant, faces, openings, velocity=u, displaced=self.solids.moving)
        self.advection.carry_scalars(dt, variant, cells, scalars=s, velocity=u)
        self.diffusion.diffuse_scalars(dt, variant, scalars=s)
        self.time += dt

    def project(self, dt: float, obstacles: Sequence[Obstacle]) -> None:
        """Close the faces and project the velocity as it is."""
        self.solids.update(obstacles, None)
        faces, openings = self.solids.faces, self.solids.openings
        self.backend.kernel("constrain", self.variant)(velocity=self.velocity, **faces)
        self.projection.project(dt, self.variant, faces, openings, velocity=self.velocity)

    def max_speed(self) -> float:
        """Largest speed, m/s: no less than the true one, and more by at most the change over four cells."""
        self.backend.kernel("max_speed", self.variant)(velocity=self.velocity, speed=self.speed)
        return float(np.linalg.norm(self.speed.read()[..., :3], axis=-1).max())

    def substeps(self, dt: float) -> int:
        """How many equal parts keep what is carried within `cfl` cells; at most `max_substeps`."""
        rules = self.settings
        if rules.cfl is None or not rules.solve_velocity or rules.max_substeps == 1:
            return 1
        carried = self.max_speed() * dt / self.backend.grid.cell_size
        if not math.isfinite(carried):
            return int(rules.max_substeps)
        return max(1, min(int(rules.max_substeps), math.ceil(carried / rules.cfl)))

    def stores(self, wanted: Container[str] = ()) -> dict[str, FieldStore]:
        """What the next step starts from, by name; those `wanted` are made where there are none yet."""
        return {"velocity": self.velocity, "scalars": self.scalars, "pressure": self.projection.pressure}

    def numbers(self) -> dict[str, float]:
        """The numbers that the next step starts from, by name."""
        return {"time": self.time}

    def start_from(self, numbers: Mapping[str, float]) -> None:
        """Go on from the `numbers` of another solver."""
        self.time = numbers["time"]

    def release(self) -> None:
        """Release every field."""
        for part in (self.velocity, self.scalars, self.speed):
            part.release()
        for stage in (self.solids, self.forces, self.advection, self.diffusion, self.projection):
            stage.release()
