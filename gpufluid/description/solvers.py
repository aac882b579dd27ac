"""Pressure solvers by name: parameters only. `gpufluid.numerics.pressure` turns them into passes.

A solver may also be an object of your own with a method ``solve(problem)``, which is given a
`gpufluid.numerics.pressure_problem.PressureProblem` and improves its pressure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from gpufluid.common import rules
from gpufluid.common.checks import finite_number
from gpufluid.common.errors import GpufluidError, named
from gpufluid.common.vectors import Real, RealOrNone

PRECONDITIONERS = ("multigrid", "gauss-seidel")


def _below(limit: float, told: str = "") -> rules.Check:
    """What asks for a number > 0 and below `limit`, of which messages say what is `told`."""

    def check(value: Any, name: str) -> float:
        number = finite_number(value, name, above=0.0)
        if number >= limit:
            raise GpufluidError(f"{name} must be below {limit:g}{told}, got {number:g}")
        return number

    return check


def _tolerance(default: float | None) -> Any:
    """A share of the starting divergence, or None."""
    return rules.ruled(_below(1.0, " (a share of the starting divergence)"), default, optional=True)


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
class Jacobi(rules.Ruled):
    """Weighted Jacobi sweeps of the pressure Poisson equation: simple, and the default.

    iterations: sweeps per projection, >= 0. weight: 1 is plain Jacobi; in (0, 2), though above 1 the shortest
    waves grow. From the last pressure the last sweep has the weight 1/2 where an odd number of `weight` would
    gather speed (`gpufluid.numerics.relaxation` says why): at 1 that is each odd number.
    tolerance: stop once the divergence left is this share (rms) of that before the projection; checked every
    ten sweeps, for which the CPU waits. None: always all sweeps, without waiting.
    One sweep leaves ``1 - weight * (1 - mu)`` of a cosine mode, mu the mean of ``cos(pi k_i / N)``.

    Raises GpufluidError naming the value and its limit.
    """

    iterations: int = rules.whole(40, low=0)
    weight: Real = rules.ruled(_below(2.0), 1.0)
    tolerance: RealOrNone = _tolerance(None)


@named
@dataclass(frozen=True)
class ChebyshevJacobi(rules.Ruled):
    """Jacobi sweeps with varying weights, which form a Chebyshev polynomial together (Golub & Varga 1961).

    The passes are those of `Jacobi`; all modes but the longest keep 1 % of their error or less.
    iterations: sweeps per projection; more than a hundred are done in rounds of equal length. tolerance: as
    in `Jacobi`, checked after each round.

    Raises GpufluidError naming the field and what it should be.
    """

    iterations: int = rules.whole(40, low=0)
    tolerance: RealOrNone = _tolerance(None)


@named
@dataclass(frozen=True)
class RedBlackSOR(rules.Ruled):
    """Successive over-relaxation, on the cells coloured like the squares of a chess-board (Young 1954).

    A sweep is two passes, one per colour. iterations: sweeps per projection. omega: over-relaxation in (0,
    2); 1 is Gauss-Seidel. From the last pressure few sweeps take at most 1 + (1/4)^(1 / iterations): 1.5 for
    2, 1.87 for 10. tolerance: as in `Jacobi`.

    Raises GpufluidError naming the value and its limit.
    """

    iterations: int = rules.whole(40, low=0)
    omega: Real = rules.ruled(_below(2.0), 1.7)
    tolerance: RealOrNone = _tolerance(None)


@named
@dataclass(frozen=True)
class ConjugateGradient(rules.Ruled):
    """Preconditioned conjugate gradients (Hestenes & Stiefel 1952).

    iterations: the most per projection; the CPU waits for four sums in each, and for one after the last.
    preconditioner: "multigrid", one V-cycle (about ten iterations, also in mazes that slow `Multigrid` down),
    or "gauss-seidel", a symmetric red-black sweep (a hundred or more, each cheaper; no coarse grids to hold).
    tolerance: as in `Jacobi`, checked in every iteration; None: always all iterations.

    Where solids shut off a room that has no solution, the iteration is given up before it grows: V-cycles, or
    with "gauss-seidel" conjugate residuals (Stiefel 1955), then solve for the rest.

    Raises GpufluidError naming the value and its limit.
    """

    iterations: int = rules.whole(100, low=0)
    tolerance: RealOrNone = _tolerance(1e-4)
    preconditioner: str = rules.choice("multigrid", *PRECONDITIONERS)


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
class Multigrid(rules.Ruled):
    """V-cycles over a series of grids, each with half as many cells along every axis (Brandt 1977).

    cycles: V-cycles per projection. sweeps: red-black Gauss-Seidel sweeps before a coarser grid's turn, and
    again after it. tolerance: as in `Jacobi`, checked after every cycle.

    Raises GpufluidError naming the field and what it should be.
    """

    cycles: int = rules.whole(2, low=0)
    sweeps: int = rules.whole(1, low=1)
    tolerance: RealOrNone = _tolerance(None)
