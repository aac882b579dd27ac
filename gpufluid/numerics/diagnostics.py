"""Numbers that tell how a simulation fares."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from gpufluid.common.errors import one_of
from gpufluid.description.grid import Grid
from gpufluid.numerics.still import State
from gpufluid.reference.arrays import center_velocity, face_count, faces_of, on_faces
from gpufluid.reference.walls import cells_round_faces, closed_faces


@dataclass(frozen=True)
class Diagnostics:
    """What `Fluid.diagnostics` measures.

    kinetic_energy: half the sum of squared face velocities times a cell's volume, m^5/s^2 (per unit of
        mass density), without the faces inside solids.
    max_speed: at cell centres, m/s. cfl: cells that speed carries in the last dt (1 s before the first).
    divergence_rms: over the fluid cells, 1/s, beyond the expansion that burning gas asked for.
    mass: sum of density times a cell's volume.
    leak: the largest speed at which anything flows through a wall or a solid, m/s: 0 at all times, but for
        how a given velocity is rounded in a field (1e-7 of it, half floats 5e-4).

    Every number is also had by its name: ``diagnostics["mass"]``; ``dict(diagnostics)`` is a row of a table.
    """

    kinetic_energy: float
    max_speed: float
    cfl: float
    divergence_rms: float
    mass: float
    leak: float

    def keys(self) -> list[str]:
        """The names of the numbers."""
        return [field.name for field in fields(self)]

    def __getitem__(self, name: str) -> float:
        one_of(name, tuple(self.keys()), "the name of a number")
        return float(getattr(self, name))


def measure(solver: State, grid: Grid, dt: float) -> Diagnostics:
    """Read the fields back and sum them up; waits for the GPU."""
    stored = solver.velocity.read().astype(np.float64)
    # without what a program wrote where no face is
    velocity = faces_of(grid, [on_faces(grid, stored, axis) for axis in range(grid.dimensions)])
    scalars = solver.scalars.read().astype(np.float64)
    fluid = scalars[..., 3] > 0.5
    once, borders = velocity[..., :3].copy(), np.zeros((*velocity.shape[:3], 3), np.bool_)
    for axis in range(grid.dimensions):
        z, y, x = face_count(grid, axis)
        low, high = cells_round_faces(grid, solver.variant, axis, fluid.astype(np.float64))
        beside = np.maximum(low, high)  # between two cells of a solid moves no fluid
        once[:z, :y, :x, axis] *= beside
        borders[:z, :y, :x, axis] = beside > 0.0
        if solver.boundaries.periodic(axis):  # its high side is its low side: count it once
            np.moveaxis(once, 2 - axis, 0)[-1] = 0.0
    divergence = solver.divergence(solver.swelling).read().astype(np.float64)[..., 0]
    faces = solver.solids.faces.get("solid_faces")
    shut = None if faces is None else faces.read().astype(np.float64)
    closed, moving = closed_faces(grid, solver.variant, shut)
    volume = grid.cell_size**3
    speed = float(np.linalg.norm(center_velocity(grid, velocity), axis=-1).max())
    rms = float(np.sqrt(np.mean(divergence[fluid] ** 2))) if fluid.any() else 0.0
    return Diagnostics(
        kinetic_energy=0.5 * volume * float((once**2).sum()),
        max_speed=speed,
        cfl=speed * dt / grid.cell_size,
        divergence_rms=rms,
        mass=volume * float(scalars[..., 0].sum()),
        leak=float(np.abs(np.where(closed & borders, velocity[..., :3] - moving, 0.0)).max()),
    )
