"""Viscosity and the diffusion of heat and density: implicit, and solved to a known error.

One step of length dt solves (1 - a * lap) u = before (backward Euler), a = diffusivity * dt / h^2 the grid's
Fourier number, lap the sum of the 2d differences to the neighbours. It is stable and monotone for any a.

Jacobi's sweep is u <- B u + before / (1 + 2da), B = (2da + a * lap) / (1 + 2da). lap is symmetric and its
rows sum in size to at most 4d, whatever the walls and solids (a mirrored or repeated neighbour is an entry on
the diagonal), so -lap has its eigenvalues in [0, 4d]; a box has a smallest one, `slowest`, in what diffusion
changes at all, and B lies in [-rho, rho (1 - slowest / 2d)], rho = 2da / (1 + 2da). A sweep whose change is
taken `relaxation` = 1 / (1 + rho * slowest / 4d) times puts this into [-s, s], 1 / s = 1 + x with
x = (1 + a * slowest) / (a (2d - slowest / 2)). Chebyshev's recurrence there (Golub & Varga 1961) is

    u[k+1] = u[k-1] + w[k+1] (sweep(u[k]) - u[k-1]),   w[1] = 1, w[2] = 2 / (2 - s^2),
    w[k+1] = 1 / (1 - s^2 w[k] / 4)

and m sweeps of it leave at most 1 / T_m(1 / s) of the first error in the 2-norm. The first error is what
the whole step of diffusion changes, since the field itself is the start. m is the least number for which
this is at most `TOLERANCE`: about 10.3 sqrt(2da), 16 at a = 1/2, 30 at a = 2 and 291 at a = 200 in 2D, and no
more than about 8 times the longest side of the box in cells however far diffusion reaches (16 times where one
side holds its value and the opposite one does not). Plain Jacobi, which is right only up to a = m / 8, takes
13.8 (1 + 2da).

A box of any sides has a `slowest` that is known in closed form: along each axis the eigenvalues of lap are
those of cosines and sines. What no side holds, such as the density between insulating walls, has the constant
at 0 beside it: but that is in no error, since diffusion changes no sum. Solids can only raise the slowest of
a velocity that some side holds (they take rows and columns out of lap: Cauchy's interlacing). Of scalars
round solids, and of a velocity that solids alone hold, nothing better than 0 is known, and a step that would
take more than `MOST_SWEEPS` is refused.

More sweeps, not shorter substeps: n substeps cost sqrt(n) times as much and solve another equation. Each
sweep keeps the sum of a scalar where all sides insulate. Beside a solid with a temperature that of heat has a
smaller a, row by row: all of the above holds for the largest, as D^-1 A, with D the diagonal, then has its
eigenvalues between the same bounds. Half precision rounds every sweep: the error is then
3e-3 of the field up to a = 2, and 3e-2 beyond.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from gpufluid.common.errors import GpufluidError
from gpufluid.contract.arguments import Faces, Heat
from gpufluid.contract.backend import Backend, FieldStore, KernelCall, release
from gpufluid.contract.kernels import Variant
from gpufluid.description.boundaries import Boundaries
from gpufluid.description.grid import Grid
from gpufluid.description.settings import Settings

TOLERANCE = 1e-6  # share of a step's diffusion that may be left out: single precision resolves no more
MOST_SWEEPS = 10_000  # a of about 2.3e5 in 2D, 1.6e5 in 3D: the step then reaches over hundreds of cells
FAR = 0.1 * TOLERANCE  # of the slowest is left where diffusion reaches so far that further is all the same


def sweeps_for(fourier_number: float, dimensions: int, slowest: float = 0.0) -> float:
    """Return the sweeps that leave at most `TOLERANCE` of the error: a whole number, or inf.

    slowest: the smallest eigenvalue of -lap, or less.
    """
    if fourier_number <= 0.0:
        return 0
    x = _beyond_one(fourier_number, dimensions, slowest)
    rate = math.log1p(x + math.sqrt(x * (2.0 + x)))  # arccosh(1 + x)
    return math.ceil(math.acosh(1.0 / TOLERANCE) / rate) if rate > 1e-15 else math.inf


def chebyshev_weights(
    fourier_number: float, dimensions: int, count: int, slowest: float = 0.0
) -> Iterator[float]:
    """Yield the weights w[1] .. w[count] of the recurrence; slowest: as of `sweeps_for`."""
    square = (1.0 + _beyond_one(fourier_number, dimensions, slowest)) ** -2  # s^2
    weight = 1.0
    for k in range(count):
        yield weight
        weight = 1.0 / (1.0 - square * weight / (2.0 if k == 0 else 4.0))


def _beyond_one(fourier_number: float, dimensions: int, slowest: float) -> float:
    """x of the interval [-s, s] of a sweep's eigenvalues, 1 / s = 1 + x."""
    return (1.0 / fourier_number + slowest) / (2.0 * dimensions - 0.5 * slowest)


def relaxation(fourier_number: float, dimensions: int, slowest: float) -> float:
    """Return what a sweep's change is taken times."""
    spread = 2.0 * dimensions * fourier_number
    return 1.0 / (1.0 + spread / (1.0 + spread) * slowest / (4.0 * dimensions))


def slowest_velocity(grid: Grid, boundaries: Boundaries, solids: bool) -> float:
    """Return the smallest eigenvalue of -lap, or less, of the velocity's components."""

    def line(component: int, axis: int) -> tuple[float, float]:
        count, sides = grid.cells[axis], (2 * axis, 2 * axis + 1)
        if boundaries.periodic(axis):
            return _line(count / 2.0, 0)
        if component == axis:  # the faces of closed sides hold their value, those of open ones are solved for
            opened = sum(boundaries.open(axis, high) for high in (False, True))
            return _line(count + 0.5 * opened, 2 - opened)
        return _line(count, sum(boundaries.grips(side) for side in sides))

    axes = range(grid.dimensions)
    return min(_slowest([line(component, axis) for axis in axes], solids, True) for component in axes)


def slowest_scalar(grid: Grid, boundaries: Boundaries, solids: bool, heat: bool) -> float:
    """Return the smallest eigenvalue of -lap, or less, of temperature (`heat`) or density."""
    lines = []
    for axis, count in enumerate(grid.cells[: grid.dimensions]):
        held = sum(heat and boundaries.temperature(side) is not None for side in (2 * axis, 2 * axis + 1))
        lines.append(_line(count / 2.0 if boundaries.periodic(axis) else count, held))
    return _slowest(lines, solids, False)


def _line(length: float, held: int) -> tuple[float, float]:
    """Return the smallest eigenvalue of -lap along one axis, and the smallest that is not 0.

    length: from where one end is held or mirrored to where the other is, in cells; of a periodic axis half of
    it. held: how many ends hold their value. Half a wave fits in, or a quarter where one end alone is held.
    """
    first = 4.0 * math.sin(math.pi / (4.0 * length if held == 1 else 2.0 * max(length, 1.0))) ** 2
    return (first if held else 0.0), first


def _slowest(lines: list[tuple[float, float]], solids: bool, solids_hold: bool) -> float:
    """The smallest eigenvalue over all axes, the constant left out where nothing holds it; at most 2d."""
    held = sum(smallest for smallest, _ in lines)
    if solids and not (solids_hold and held):
        return 0.0
    return min(held or min(first for _, first in lines), 2.0 * len(lines))


class Diffusion:
    """Viscosity of the velocity, diffusion of density and heat; each only where its coefficient is not 0."""

    def __init__(self, backend: Backend, settings: Settings, boundaries: Boundaries) -> None:
        self.backend, self.boundaries = backend, boundaries
        self._faces: list[FieldStore] = []
        self._cells: list[FieldStore] = []
        self.use(settings)

    def use(self, settings: Settings) -> list[FieldStore]:
        """Go on by these settings, and return the fields not needed any more: none, the scratch is kept."""
        self._viscosity = settings.viscosity if settings.solve_velocity else 0.0
        self._diffusivities = (settings.density_diffusivity, settings.thermal_diffusivity, 0.0)
        if self._viscosity and not self._faces:
            self._faces = self._scratch("face")
        if any(self._diffusivities) and not self._cells:
            self._cells = self._scratch("cell")
        return []

    def _scratch(self, kind: str) -> list[FieldStore]:
        """The sweep written, the latest and the one before; the right-hand side is the field itself."""
        return [self.backend.field(f"diffused {kind}s", kind, buffers=1) for _ in range(3)]

    def _slowest_velocity(self, solids: bool) -> float:
        return slowest_velocity(self.backend.grid, self.boundaries, solids)

    def _slowest_scalar(self, solids: bool) -> float:
        """Of those that diffuse."""
        return min(
            slowest_scalar(self.backend.grid, self.boundaries, solids, heat)
            for heat, diffusivity in zip((False, True), self._diffusivities, strict=False)
            if diffusivity
        )

    def _number(self, diffusivity: float, dt: float, slowest: float) -> float:
        """The Fourier number, or the one from which on nothing changes any more."""
        number = diffusivity * dt / self.backend.grid.cell_size**2
        return min(number, 1.0 / (FAR * slowest)) if slowest else number

    def check(self, dt: float, solids: bool) -> None:
        """Raise GpufluidError where a step of `dt` seconds would take more than `MOST_SWEEPS` sweeps."""
        density, heat, _ = self._diffusivities
        for name, diffusivity in (
            ("viscosity", self._viscosity),
            ("density_diffusivity", density),
            ("thermal_diffusivity", heat),
        ):
            if not diffusivity:
                continue
            slowest = self._slowest_velocity(solids) if name == "viscosity" else self._slowest_scalar(solids)
            number = self._number(diffusivity, dt, slowest)
            if not sweeps_for(number, self.backend.grid.dimensions, slowest) <= MOST_SWEEPS:
                round_solids = " round solids" if solids else ""
                raise GpufluidError(
                    f"Settings.{name} = {diffusivity:g} m^2/s over dt = {dt:g} s reaches {number:.3g} "
                    f"cells^2, too far for {MOST_SWEEPS} sweeps{round_solids}: take a smaller one or a "
                    "shorter step"
                )

    def diffuse_velocity(self, dt: float, variant: Variant, faces: Faces, *, velocity: FieldStore) -> None:
        """Let the velocity, whose closed faces hold what closes them, diffuse over `dt` seconds."""
        if self._viscosity:
            slowest = self._slowest_velocity(variant.solids)
            a = self._number(self._viscosity, dt, slowest)
            sweep = self.backend.kernel("diffuse_velocity", variant)
            self._solve(sweep, velocity, self._faces, a, slowest, fourier_number=a, **faces)

    def diffuse_scalars(
        self, dt: float, variant: Variant, heat: Heat | None = None, *, scalars: FieldStore
    ) -> None:
        """Let density and temperature diffuse over `dt` seconds, round the solids of the last advection.

        heat: of solids, which make good what diffusion takes of the heat beside them; None or empty: none.
        """
        if any(self._diffusivities):
            slowest = self._slowest_scalar(variant.solids)
            numbers = tuple(self._number(d, dt, slowest) for d in self._diffusivities)
            name, warming = "diffuse_scalars", dict[str, Any]()
            if heat and numbers[1]:
                name, warming = "diffuse_warmed", {"dt": dt, **heat}
            sweep, given = self.backend.kernel(name, variant), {"fourier_numbers": numbers, **warming}
            self._solve(sweep, scalars, self._cells, max(numbers), slowest, **given)

    def diffuse_colors(self, dt: float, variant: Variant, *, colors: FieldStore) -> None:
        """Let red, green and blue diffuse over `dt` seconds as density does."""
        if self._diffusivities[0]:
            slowest = self._slowest_scalar(variant.solids)
            a = self._number(self._diffusivities[0], dt, slowest)
            sweep = self.backend.kernel("diffuse_scalars", variant)
            self._solve(sweep, colors, self._cells, a, slowest, fourier_numbers=(a, a, a))

    def _solve(
        self,
        sweep: KernelCall,
        field: FieldStore,
        scratch: list[FieldStore],
        a: float,
        slowest: float,
        **rest: Any,
    ) -> None:
        """Sweep from `field` until it may be written: it is the right-hand side until then."""
        dimensions = self.backend.grid.dimensions
        count = int(sweeps_for(a, dimensions, slowest))
        if not count:
            return
        rest["relaxation"] = relaxation(a, dimensions, slowest)
        previous = latest = field
        for k, weight in enumerate(chebyshev_weights(a, dimensions, count, slowest)):
            out = field if k == count - 1 else scratch[k % 3]
            sweep(before=field, latest=latest, previous=previous, diffused=out, weight=weight, **rest)
            previous, latest = latest, out

    def release(self) -> None:
        """Release the scratch fields."""
        release(*self._faces, *self._cells)
