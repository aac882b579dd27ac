"""Pressure solvers by name: parameters only. `gpufluid.pressure` turns them into passes."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral

from gpufluid.errors import GpufluidError
from gpufluid.grid import finite_number


@dataclass(frozen=True)
class Jacobi:
    """Weighted Jacobi sweeps of the pressure Poisson equation.

    iterations: sweeps a projection, >= 0. weight: 1 is plain Jacobi; in (0, 2).
    One sweep leaves ``1 - weight * (1 - mu)`` of a cosine mode, mu the mean of ``cos(pi k_i / N)``.
    """

    iterations: int = 40
    weight: float = 1.0

    def __post_init__(self) -> None:
        n = self.iterations
        if isinstance(n, bool) or not isinstance(n, Integral) or n < 0:
            raise GpufluidError(f"Jacobi.iterations must be a whole number >= 0, got {n!r}")
        weight = finite_number(self.weight, "Jacobi.weight", above=0.0)
        if weight >= 2.0:
            raise GpufluidError(f"Jacobi.weight must be below 2, got {weight:g}")
