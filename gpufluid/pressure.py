"""Stage 3 of a step: the projection that leaves a velocity without divergence.

pressure is kinematic (pressure / mass density, m^2/s^2): laplacian(pressure) = divergence / dt, and the
velocity loses dt * grad(pressure). It does not depend on dt, so it is the right start for the next step.
"""

from __future__ import annotations

from typing import Any

from gpufluid.backend import Backend, FieldStore
from gpufluid.kernels import Variant
from gpufluid.settings import Settings
from gpufluid.solvers import Jacobi


class Projection:
    """Divergence, pressure solve, gradient (Chorin 1968)."""

    def __init__(self, backend: Backend, settings: Settings) -> None:
        self.backend, self.settings = backend, settings
        self.pressure = backend.field("pressure", "packed")
        self.divergence = backend.field("divergence", "packed", buffers=1)

    def project(
        self,
        dt: float,
        variant: Variant,
        faces: dict[str, Any],
        openings: dict[str, Any],
        *,
        velocity: FieldStore,
    ) -> None:
        """Take from `velocity`, whose closed faces hold what closes them, its divergence."""
        self.measure(variant, openings, velocity=velocity)
        if not self.settings.warm_start:
            self.clear()
        self.relax(self.settings.pressure, dt, variant, openings)
        self.backend.kernel("subtract_gradient", variant)(
            velocity=velocity, pressure=self.pressure, dt=dt, **faces
        )

    def measure(self, variant: Variant, openings: dict[str, Any], *, velocity: FieldStore) -> None:
        """Put the divergence of `velocity` into `self.divergence`."""
        self.backend.kernel("divergence", variant)(velocity=velocity, divergence=self.divergence, **openings)

    def relax(self, solver: Jacobi, dt: float, variant: Variant, openings: dict[str, Any]) -> None:
        """Jacobi sweeps over the pressure."""
        sweep = self.backend.kernel("jacobi", variant)
        scale = self.backend.grid.cell_size**2 / dt
        for _ in range(solver.iterations):
            sweep(
                pressure=self.pressure,
                divergence=self.divergence,
                scale=scale,
                weight=solver.weight,
                **openings,
            )

    def clear(self) -> None:
        """Forget the last pressure."""
        self.pressure.fill([0.0])

    def release(self) -> None:
        """Release pressure and divergence."""
        self.pressure.release()
        self.divergence.release()
