"""The numbers and schemes of a simulation."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from inspect import iscoroutinefunction, isgeneratorfunction
from typing import Any

from gpufluid.common import rules
from gpufluid.common.errors import GpufluidError, named
from gpufluid.common.vectors import Real, RealOrNone, Vector
from gpufluid.description.combustion import Combustion
from gpufluid.description.solvers import (
    FFT,
    ChebyshevJacobi,
    ConjugateGradient,
    Jacobi,
    Multigrid,
    PressureSolver,
    RedBlackSOR,
)

SOLVERS = (Jacobi, ChebyshevJacobi, RedBlackSOR, ConjugateGradient, Multigrid, FFT)

VELOCITY_ADVECTION = ("maccormack", "semi-lagrangian", "bfecc", "monotone-cubic")
ADVECTION = (*VELOCITY_ADVECTION, "finite-volume")
TRACES = ("rk2", "euler")
LIMITERS = ("clamp", "revert", None)
SAMPLERS = ("exact", "hardware")
PRECISIONS = ("single", "half")
SLIPS = ("no", "free")


@named
@dataclass(frozen=True)
class Settings(rules.Ruled):
    """How a fluid is stepped. All units are SI; every rate is per second and does not depend on dt.

    advection: the scheme that carries everything: "maccormack" (Selle et al. 2008), "bfecc" (Dupont & Liu
        2003), "semi-lagrangian" (Stam 1999) or "monotone-cubic", which is semi-Lagrangian with the monotone
        cubics of Fedkiw, Stam & Jensen (2001) in place of trilinear interpolation. The last two never leave
        the range of the values they start from. "finite-volume" carries smoke, fuel and colours as amounts,
        none of which is gained or lost, by the parabolas of Colella & Woodward (1984), and the velocity by
        MacCormack.
    velocity_advection: the scheme for the velocity alone, any but "finite-volume"; None: the same as
        `advection`.
    reflection: advect and project twice in a step, for half of it each, and reflect the velocity between the
        two, as in Zehnder, Narain & Thomaszewski (2018): projections then hardly damp the flow. It costs as
        much as steps of half the length, and three textures: a vortex that keeps 0.92 of its energy with
        those keeps 0.99. It helps where little else damps, so not with "semi-lagrangian". Without
        `solve_velocity` it does nothing.
    trace: how a back-trace follows the flow, "rk2" (midpoint) or "euler".
    limiter: what keeps MacCormack and BFECC within the values they start from: "clamp", "revert" (to
        semi-Lagrangian) or None.
    sampler: "exact" interpolates in the shader; "hardware" uses filtered texture reads (8-bit weights on
        GPUs).
    cfl: the most cells that the flow may cross in a substep; a longer step is split. None: steps are never
        split; nor are they without `solve_velocity`.
    max_substeps: the most parts that a step is split into, whatever `cfl` asks for.
    pressure: a solver: `Jacobi`, `ChebyshevJacobi`, `RedBlackSOR`, `Multigrid`, `ConjugateGradient` or `FFT`,
        or an object of yours with a method solve(problem).
    warm_start: whether the solver starts from the last pressure.
    vorticity_confinement: how strongly small swirls are restored; eps of Fedkiw, Stam & Jensen (2001), 1/s.
        Its force is proportional to cell_size: the same eps does half the work on a vortex with twice the
        cells (docs/validation.md). A step of dt restores as with 1 / dt at most: more would grow without end.
    ambient_temperature: the temperature of air that nothing has warmed.
    buoyancy: m/s^2 upward per unit of temperature above `ambient_temperature`.
    weight: m/s^2 downward per unit of density, of smoke of any colour.
    up: the direction against gravity.
    viscosity: of the velocity, m^2/s; air has 1.5e-5.
    thermal_diffusivity: of the temperature, m^2/s.
    density_diffusivity: of the density, m^2/s. Viscosity and both diffusivities are implicit and stable; at 0
        no pass runs. `gpufluid.numerics.diffusion` says how accurately they are solved.
    density_dissipation: rate at which smoke fades away, 1/s.
    cooling: rate at which the temperature returns to ambient, 1/s.
    combustion: a gf.Combustion; None: nothing burns.
    solve_velocity: False keeps the velocity that you write, and only carries the scalars along with it.
    coarse_velocity: find the velocity on a grid with half as many cells along each axis, and carry smoke,
        heat, fuel and colours in all cells: they stay as sharp in a fraction of the time, but the flow has no
        swirls finer than its own cells. `cfl` then counts those cells, and `pressure` solves on their grid.
        Each axis must have an even number of cells.
    skip_empty: skip empty regions when scalars are carried: the result is the same, to the bit. This works in
        textures, with an ambient temperature of 0, without diffusion of scalars and without heated solids
        (beside which nothing stays at rest), and is done if enough is empty for it to pay.
    precision: "single" or "half" floats in the textures, "single" in those of the pressure whatever it says;
        the reference always uses float64.

    Raises GpufluidError naming the setting and its limits.
    """

    advection: str = rules.choice("maccormack", *ADVECTION)
    velocity_advection: str | None = rules.choice(None, *VELOCITY_ADVECTION, None)
    reflection: bool = rules.flag(False)
    trace: str = rules.choice("rk2", *TRACES)
    limiter: str | None = rules.choice("clamp", *LIMITERS)
    sampler: str = rules.choice("exact", *SAMPLERS)
    cfl: RealOrNone = rules.number(5.0, above=0.0, optional=True)
    max_substeps: int = rules.whole(4, low=1)
    pressure: (
        Jacobi | ChebyshevJacobi | RedBlackSOR | ConjugateGradient | Multigrid | FFT | PressureSolver
    ) = field(default_factory=Jacobi)
    warm_start: bool = rules.flag(True)
    vorticity_confinement: Real = rules.number(0.0, low=0.0)
    buoyancy: Real = rules.number(1.0)
    weight: Real = rules.number(0.0)
    ambient_temperature: Real = rules.number(0.0)
    viscosity: Real = rules.number(0.0, low=0.0, most=math.inf)
    thermal_diffusivity: Real = rules.number(0.0, low=0.0, most=math.inf)
    density_diffusivity: Real = rules.number(0.0, low=0.0, most=math.inf)
    up: Vector = rules.vector((0.0, 1.0, 0.0))
    density_dissipation: Real = rules.number(0.0, low=0.0, most=math.inf)
    cooling: Real = rules.number(0.0, low=0.0, most=math.inf)
    combustion: Combustion | None = None
    solve_velocity: bool = rules.flag(True)
    coarse_velocity: bool = rules.flag(False)
    skip_empty: bool = rules.flag(True)
    precision: str = rules.choice("single", *PRECISIONS)

    def __post_init__(self) -> None:
        super().__post_init__()
        solve = getattr(self.pressure, "solve", None)
        own = not isinstance(self.pressure, type) and callable(solve)
        if not isinstance(self.pressure, SOLVERS) and not own:
            names = ", ".join(solver.__name__ for solver in SOLVERS)
            raise GpufluidError(
                f"Settings.pressure must be one of gf.{names}, made with (), or an object with a method "
                f"solve(problem), got {self.pressure!r}"
            )
        if isgeneratorfunction(solve) or iscoroutinefunction(solve):  # a call would run nothing of it
            raise GpufluidError(
                f"Settings.pressure: solve(problem) of {type(self.pressure).__name__} must return when it "
                "has solved, without yield or async"
            )
        if self.combustion is not None and not isinstance(self.combustion, Combustion):
            raise GpufluidError(
                f"Settings.combustion must be a gf.Combustion or None, got {self.combustion!r}"
            )

    def but(self, **changes: Any) -> Settings:
        """Return these settings with `changes`, by name. Raises GpufluidError for a wrong name or value."""
        return replace(self, **changes)

    @property
    def reflects(self) -> bool:
        """Whether a step is one with a reflection: not where the velocity is not solved for."""
        return self.reflection and self.solve_velocity

    @property
    def velocity_scheme(self) -> str:
        """The scheme that carries the velocity."""
        own = "maccormack" if self.advection == "finite-volume" else self.advection
        return self.velocity_advection or own
