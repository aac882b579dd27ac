"""Pressure solvers by name: parameters only. `gpufluid.pressure` turns them into passes.

A solver may also be an object of your own with a method ``solve(problem)``, which is given a
`gpufluid.pressure_problem.PressureProblem` and improves its pressure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from gpufluid.checks import finite_number, whole_number
from gpufluid.errors import GpufluidError, named, one_of
from gpufluid.vectors import Real, RealOrNone, default

PRECONDITIONERS = ("multigrid", "gauss-seidel")


def _keep(solver: Any, **numbers: float) -> None:
    """Set fields of a frozen `solver`, to numbers of Python's own: NumPy's have their own arithmetic."""
    for name, number in numbers.items():
        object.__setattr__(solver, name, number)


def _keep_count(solver: Any, name: str, low: int = 0) -> None:
    """Check and keep a whole number."""
    own = f"{type(solver).__name__}.{name}"
    _keep(solver, **{name: whole_number(getattr(solver, name), own, low=low)})


def _keep_tolerance(solver: Any) -> None:
    """Check and keep the tolerance."""
    if solver.tolerance is None:
        return
    name = f"{type(solver).__name__}.tolerance"
    value = finite_number(solver.tolerance, name, above=0.0)
    if value >= 1.0:
        raise GpufluidError(f"{name} must be below 1 (a share of the starting divergence), got {value:g}")
    _keep(solver, tolerance=value)


@runtime_checkable
class PressureSolver(Protocol):
    """What `Settings.pressure` takes beside the solvers named here."""

    def solve(self, problem: Any) -> None:
        """Improve ``problem.pressure``, from what it is, towards laplacian(p) = divergence / dt.

        Where it is that of the last step (``problem.warm``), no mode's error may be left turned over by more
        than a third: it would grow from step to step.
        """


@named
@dataclass(frozen=True)
class Jacobi:
    """Weighted Jacobi sweeps of the pressure Poisson equation: simple, and the default.

    iterations: sweeps per projection, >= 0. weight: 1 is plain Jacobi; in (0, 2), though above 1 the shortest
    waves grow. From the last pressure the last sweep has the weight 1/2 where an odd number of `weight` would
    gather speed (`gpufluid.relaxation` says why): at 1 that is each odd number.
    tolerance: stop once the divergence left is this share (rms) of that before the projection; checked every
    ten sweeps, for which the CPU waits. None: always all sweeps, without waiting.
    One sweep leaves ``1 - weight * (1 - mu)`` of a cosine mode, mu the mean of ``cos(pi k_i / N)``.

    Raises GpufluidError naming the value and its limit.
    """

    iterations: int = 40
    weight: Real = default(1.0)
    tolerance: RealOrNone = default(None)

    def __post_init__(self) -> None:
        _keep_count(self, "iterations")
        weight = finite_number(self.weight, "Jacobi.weight", above=0.0)
        if weight >= 2.0:
            raise GpufluidError(f"Jacobi.weight must be below 2, got {weight:g}")
        _keep(self, weight=weight)
        _keep_tolerance(self)


@named
@dataclass(frozen=True)
class ChebyshevJacobi:
    """Jacobi sweeps with varying weights, which form a Chebyshev polynomial together (Golub & Varga 1961).

    The passes are those of `Jacobi`; all modes but the longest keep 1 % of their error or less.
    iterations: sweeps per projection; more than a hundred are done in rounds of equal length. tolerance: as
    in `Jacobi`, checked after each round.

    Raises GpufluidError naming the field and what it should be.
    """

    iterations: int = 40
    tolerance: RealOrNone = default(None)

    def __post_init__(self) -> None:
        _keep_count(self, "iterations")
        _keep_tolerance(self)


@named
@dataclass(frozen=True)
class RedBlackSOR:
    """Successive over-relaxation, on the cells coloured like the squares of a chess-board (Young 1954).

    A sweep is two passes, one per colour. iterations: sweeps per projection. omega: over-relaxation in (0,
    2); 1 is Gauss-Seidel. From the last pressure few sweeps take at most 1 + (1/4)^(1 / iterations): 1.5 for
    2, 1.87 for 10. tolerance: as in `Jacobi`.

    Raises GpufluidError naming the value and its limit.
    """

    iterations: int = 40
    omega: Real = default(1.7)
    tolerance: RealOrNone = default(None)

    def __post_init__(self) -> None:
        _keep_count(self, "iterations")
        omega = finite_number(self.omega, "RedBlackSOR.omega", above=0.0)
        if omega >= 2.0:
            raise GpufluidError(f"RedBlackSOR.omega must be below 2, got {omega:g}")
        _keep(self, omega=omega)
        _keep_tolerance(self)


@named
@dataclass(frozen=True)
class ConjugateGradient:
    """Preconditioned conjugate gradients (Hestenes & Stiefel 1952).

    iterations: the most per projection; the CPU waits for four sums in each, and for one after the last.
    preconditioner: "multigrid", one V-cycle (about ten iterations, also in mazes that slow `Multigrid` down),
    or "gauss-seidel", a symmetric red-black sweep (a hundred or more, each cheaper; no coarse grids to hold).
    tolerance: as in `Jacobi`, checked in every iteration; None: always all iterations.

    Where solids shut off a room that has no solution, the iteration is given up before it grows: V-cycles, or
    with "gauss-seidel" conjugate residuals (Stiefel 1955), then solve for the rest.

    Raises GpufluidError naming the value and its limit.
    """

    iterations: int = 100
    tolerance: RealOrNone = default(1e-4)
    preconditioner: str = "multigrid"

    def __post_init__(self) -> None:
        _keep_count(self, "iterations")
        one_of(self.preconditioner, PRECONDITIONERS, "ConjugateGradient.preconditioner")
        _keep_tolerance(self)


@named
@dataclass(frozen=True)
class FFT:
    """The exact solution, to rounding, by the fast Fourier transform (after Stam 2001); no parameters.

    For a box that is periodic on every side, with a power of two cells along each axis and without obstacles:
    anything else raises GpufluidError when the `Fluid` is made, or when the obstacle is added. The mean of
    the pressure is 0. It needs no start, so `warm_start` makes no difference. The transform is in single
    precision, whatever the settings say.
    """


@named
@dataclass(frozen=True)
class Multigrid:
    """V-cycles over a series of grids, each with half as many cells along every axis (Brandt 1977).

    cycles: V-cycles per projection. sweeps: red-black Gauss-Seidel sweeps before a coarser grid's turn, and
    again after it. tolerance: as in `Jacobi`, checked after every cycle.

    Raises GpufluidError naming the field and what it should be.
    """

    cycles: int = 2
    sweeps: int = 1
    tolerance: RealOrNone = default(None)

    def __post_init__(self) -> None:
        _keep_count(self, "cycles")
        _keep_count(self, "sweeps", low=1)
        _keep_tolerance(self)
