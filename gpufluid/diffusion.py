"""Viscosity and the diffusion of heat and density: implicit, and solved to a known error.

One step of length dt solves (1 - a * lap) u = before (backward Euler), a = diffusivity * dt / h^2 the grid's
Fourier number, lap the sum of the 2d differences to the neighbours. It is stable and monotone for any a.

Jacobi's sweep is u <- B u + before / (1 + 2da). B is symmetric and its rows sum in size to at most
rho = 2da / (1 + 2da), whatever the walls and solids (a mirrored or repeated neighbour is an entry on the
diagonal), so its eigenvalues lie in [-rho, rho]. Chebyshev's recurrence there (Golub & Varga 1961) is

    u[k+1] = u[k-1] + w[k+1] (sweep(u[k]) - u[k-1]),   w[1] = 1, w[2] = 2 / (2 - rho^2),
    w[k+1] = 1 / (1 - rho^2 w[k] / 4)

and m sweeps of it leave at most 1 / T_m(1 / rho) of the first error in the 2-norm. The first error is what
the whole step of diffusion changes, since the field itself is the start. m is the least number for which
this is at most `TOLERANCE`: about 10.3 sqrt(2da), 16 at a = 1/2, 30 at a = 2 and 291 at a = 200 in 2D. Plain
Jacobi, which is right only up to a = m / 8, takes 13.8 (1 + 2da).

More sweeps, not shorter substeps: n substeps cost sqrt(n) times as much and solve another equation. Each
sweep keeps the sum of a scalar where all sides insulate. Half precision rounds every sweep: the error is then
3e-3 of the field up to a = 2, and 3e-2 beyond.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from gpufluid.backend import Backend, FieldStore, KernelCall
from gpufluid.errors import GpufluidError
from gpufluid.kernels import Variant
from gpufluid.settings import Settings

TOLERANCE = 1e-6  # share of a step's diffusion that may be left out: single precision resolves no more
MOST_SWEEPS = 10_000  # a of about 2.3e5 in 2D, 1.6e5 in 3D: the step then reaches over hundreds of cells


def sweeps_for(fourier_number: float, dimensions: int, tolerance: float = TOLERANCE) -> float:
    """Return the sweeps that leave at most `tolerance` of the error: a whole number, or inf."""
    if fourier_number <= 0.0:
        return 0
    x = 1.0 / (2.0 * dimensions * fourier_number)  # 1 / rho = 1 + x
    rate = math.log1p(x + math.sqrt(x * (2.0 + x)))  # arccosh(1 + x)
    return math.ceil(math.acosh(1.0 / tolerance) / rate) if rate > 1e-15 else math.inf


def chebyshev_weights(fourier_number: float, dimensions: int, count: int) -> Iterator[float]:
    """Yield the weights w[1] .. w[count] of the recurrence."""
    spread = 2.0 * dimensions * fourier_number
    square = (spread / (1.0 + spread)) ** 2
    weight = 1.0
    for k in range(count):
        yield weight
        weight = 1.0 / (1.0 - square * weight / (2.0 if k == 0 else 4.0))


class Diffusion:
    """Viscosity of the velocity, diffusion of density and heat; each only where its coefficient is not 0."""

    def __init__(self, backend: Backend, settings: Settings) -> None:
        self.backend = backend
        self._faces: list[FieldStore] = []
        self._cells: list[FieldStore] = []
        self.use(settings)

    def use(self, settings: Settings) -> None:
        """Go on by these settings; scratch fields that were needed once are kept."""
        self._viscosity = settings.viscosity if settings.solve_velocity else 0.0
        self._diffusivities = (settings.density_diffusivity, settings.thermal_diffusivity, 0.0)
        if self._viscosity and not self._faces:
            self._faces = self._scratch("face")
        if any(self._diffusivities) and not self._cells:
            self._cells = self._scratch("cell")

    def _scratch(self, kind: str) -> list[FieldStore]:
        """The sweep written, the latest and the one before; the right-hand side is the field itself."""
        return [self.backend.field(f"diffused {kind}s", kind, buffers=1) for _ in range(3)]

    def _number(self, diffusivity: float, dt: float) -> float:
        return diffusivity * dt / self.backend.grid.cell_size**2

    def check(self, dt: float) -> None:
        """Raise GpufluidError where a step of `dt` seconds would take more than `MOST_SWEEPS` sweeps."""
        density, heat, _ = self._diffusivities
        for name, diffusivity in (
            ("viscosity", self._viscosity),
            ("density_diffusivity", density),
            ("thermal_diffusivity", heat),
        ):
            number = self._number(diffusivity, dt)
            if not sweeps_for(number, self.backend.grid.dimensions) <= MOST_SWEEPS:
                raise GpufluidError(
                    f"Settings.{name} = {diffusivity:g} m^2/s over dt = {dt:g} s reaches {number:.3g} "
                    f"cells^2, too far for {MOST_SWEEPS} sweeps: take a smaller one or a shorter step"
                )

    def diffuse_velocity(
        self, dt: float, variant: Variant, solids: dict[str, Any], *, velocity: FieldStore
    ) -> None:
        """Let the velocity, whose closed faces hold what closes them, diffuse over `dt` seconds."""
        if self._viscosity:
            a = self._number(self._viscosity, dt)
            sweep = self.backend.kernel("diffuse_velocity", variant)
            self._solve(sweep, velocity, self._faces, a, fourier_number=a, **solids)

    def diffuse_scalars(self, dt: float, variant: Variant, *, scalars: FieldStore) -> None:
        """Let density and temperature diffuse over `dt` seconds, round the solids of the last advection."""
        if any(self._diffusivities):
            numbers = tuple(self._number(d, dt) for d in self._diffusivities)
            sweep = self.backend.kernel("diffuse_scalars", variant)
            self._solve(sweep, scalars, self._cells, max(numbers), fourier_numbers=numbers)

    def diffuse_colors(self, dt: float, variant: Variant, *, colors: FieldStore) -> None:
        """Let red, green and blue diffuse over `dt` seconds as density does."""
        if self._diffusivities[0]:
            a = self._number(self._diffusivities[0], dt)
            sweep = self.backend.kernel("diffuse_scalars", variant)
            self._solve(sweep, colors, self._cells, a, fourier_numbers=(a, a, a))

    def _solve(
        self, sweep: KernelCall, field: FieldStore, scratch: list[FieldStore], a: float, **rest: Any
    ) -> None:
        """Sweep from `field` until it may be written: it is the right-hand side until then."""
        dimensions = self.backend.grid.dimensions
        count = int(sweeps_for(a, dimensions))
        previous = latest = field
        for k, weight in enumerate(chebyshev_weights(a, dimensions, count)):
            out = field if k == count - 1 else scratch[k % 3]
            sweep(before=field, latest=latest, previous=previous, diffused=out, weight=weight, **rest)
            previous, latest = latest, out

    def release(self) -> None:
        """Release the scratch fields."""
        for field in (*self._faces, *self._cells):
            field.release()
