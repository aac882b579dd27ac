"""The projection, which leaves a velocity without divergence.

pressure is kinematic (pressure / mass density, m^2/s^2): laplacian(pressure) = divergence / dt, and the
velocity loses dt * grad(pressure). It does not depend on dt, so it is the right start for the next step.

In a box without an open side nothing tells how high the pressure is, and there is a solution only where as
much flows in as out. Where an inflow or a solid brings a net inflow all the same, it is spread evenly over
the fluid cells and left there as divergence; the pressure keeps the mean 0. So it is with the volume that
burning gas makes: what does not fit into a closed box is taken off everywhere alike, and the rest of the gas
is so pushed out of the flame and spread over the box. A room that solids cut off from the rest is told apart
by multigrid's coarse grids alone: what has no solution there moves its pressure by a constant, which moves
nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gpufluid.contract.arguments import Faces, Openings, Swelling
from gpufluid.contract.backend import Backend, FieldStore, release
from gpufluid.contract.kernels import Variant
from gpufluid.description.boundaries import Inflow
from gpufluid.description.settings import Settings
from gpufluid.description.solvers import (
    FFT,
    ChebyshevJacobi,
    ConjugateGradient,
    Jacobi,
    Multigrid,
    RedBlackSOR,
)
from gpufluid.numerics.fourier import Fourier
from gpufluid.numerics.multigrid import Hierarchy, multigrid
from gpufluid.numerics.pressure_problem import PressureProblem
from gpufluid.numerics.relaxation import chebyshev_jacobi, conjugate_gradient, jacobi, red_black_sor

LONGER = 4.0  # a step up to so many times as long as an earlier one starts from all of that one's pressure
HARDER = 16.0  # times as hard as what it has to hold: more a pressure may not push where solids came or went


class Projection:
    """Divergence, pressure solve, gradient (Chorin 1968)."""

    def __init__(self, backend: Backend, settings: Settings) -> None:
        self.backend, self.settings = backend, settings
        self.pressure = backend.field("pressure", "packed", exact=True)
        self.divergence = self._divergence_for(settings)
        self.problem = PressureProblem(backend, self.pressure, self.divergence)
        self.hierarchy = Hierarchy()
        self.fourier = Fourier()
        self._balanced: FieldStore | None = None
        #: seconds, of the steps whose pressure is still in the field
        self.shortest = math.inf
        #: seconds for which that pressure pushed in the last step; 0: it did not
        self.pushed = 0.0

    def use(self, settings: Settings) -> list[FieldStore]:
        """Go on by these settings, from the last pressure; return the fields that are not needed any more."""
        idle = []
        if (settings.combustion is None) != (self.settings.combustion is None):
            idle.append(self.divergence)
            self.divergence = self._divergence_for(settings)
        self.settings = settings
        return idle

    def _divergence_for(self, settings: Settings) -> FieldStore:
        """The field of the divergence, from which burning gas is taken in place."""
        burns = settings.combustion is not None
        return self.backend.field("divergence", "packed", buffers=2 if burns else 1)

    def project(
        self,
        dt: float,
        variant: Variant,
        faces: Faces,
        openings: Openings,
        *,
        velocity: FieldStore,
        displaced: bool = False,
        swelling: Swelling | None = None,
        afresh: bool = False,
        solver: Any = None,
    ) -> None:
        """Take from `velocity`, whose closed faces hold what closes them, its divergence.

        displaced: solids are moving, so that they may take in more fluid than they leave. swelling: what
        `expand` takes of burning gas; its expansion is the divergence that is left. afresh: not from the last
        pressure, even where steps begin there. solver: None is that of the settings.
        """
        measure(self.backend, self.divergence, variant, openings, velocity, swelling)
        if afresh or not self.settings.warm_start:
            self.clear()
        if self.settings.warm_start:
            self._keep_pace(dt, variant)
        self.problem.warm = self.settings.warm_start and not afresh
        solver = self.settings.pressure if solver is None else solver
        self.relax(solver, dt, variant, openings, displaced or bool(swelling))
        self._push(dt, variant, faces, velocity)
        self.pushed = 0.0 if afresh else dt

    @contextmanager
    def reflecting(
        self,
        dt: float,
        variant: Variant,
        faces: Faces,
        *,
        velocity: FieldStore,
        reflected: FieldStore,
    ) -> Iterator[None]:
        """Let the last pressure push `velocity` once more, into `reflected`.

        What is made of that inside goes into `velocity`, and the push is then taken off again: so the next
        projection solves for the whole pressure, for which the last one is a start.
        """
        self._push(dt, variant, faces, velocity, reflected)
        yield
        self._push(-dt, variant, faces, velocity)

    @contextmanager
    def holding(self, dt: float, variant: Variant, faces: Faces, *, velocity: FieldStore) -> Iterator[None]:
        """Let the last pressure push `velocity` for what is done inside, and take its push off again.

        So viscosity sees the forces of a step as they are balanced (Goda 1979), and walls do not drag on the
        weight of air at rest: what they hold back of it would be left over as a flow, once the whole gradient
        is taken off. It pushes no longer than it did in the last step, for what stopped a blow is gone, and
        not at all where it is of a velocity that was projected between steps.
        """
        push = min(dt, self.pushed)
        if push:
            self._push(push, variant, faces, velocity)
        yield
        if push:
            self._push(-push, variant, faces, velocity)

    def _push(
        self,
        dt: float,
        variant: Variant,
        faces: Faces,
        velocity: FieldStore,
        pushed: FieldStore | None = None,
    ) -> None:
        """Take dt times the gradient of the pressure from `velocity`, in place or into `pushed`."""
        self.backend.kernel("subtract_gradient", variant)(
            velocity=velocity, pushed=pushed or velocity, pressure=self.pressure, dt=dt, **faces
        )

    def _keep_pace(self, dt: float, variant: Variant) -> None:
        """Weaken the last pressure for a step that is much longer than the one it was found in.

        What stopped a blow (a solid that set out, a source that was switched on) pushed for dt: in a step r
        times as long it pushes r times as hard. Of each mode a solver that is stopped early leaves a share s,
        so a short step puts 1 - s of a blow into the pressure, and a long one gives r s of that back:
        r s (1 - s) <= r / 4, and up to r = `LONGER` steps that alternate cannot gather speed. What only holds
        a weight is too weak after that, for one step.
        """
        if dt > LONGER * self.shortest:
            self.backend.kernel("add_scaled", variant)(
                values=self.pressure,
                other=self.problem.field("residual"),
                own=LONGER * self.shortest / dt,
                factor=0.0,
            )
            self.shortest = dt / LONGER
        self.shortest = min(self.shortest, dt)

    def reopen(
        self,
        dt: float,
        variant: Variant,
        openings: Openings,
        *,
        velocity: FieldStore,
        swelling: Swelling | None = None,
    ) -> None:
        """Weaken the last pressure where solids have come or gone and it would push far too hard there.

        In a room that solids close off, and into which more flows than out, each step adds a constant to the
        pressure. It pushes nothing while the room is closed. Once that is open it would blow like all these
        steps at once, and go on for as many as a solver that is stopped early needs to forget it. A pressure
        that holds what there is to hold is never so strong, one beside a fast solid for a step or two.
        """
        if self.settings.warm_start:
            measure(self.backend, self.divergence, variant, openings, velocity, swelling)
            scale = self.backend.grid.cell_size**2 / dt
            self.problem.pose(self.divergence, scale, variant, openings).weaken(HARDER)

    def relax(
        self, solver: Any, dt: float, variant: Variant, openings: Openings, displaced: bool = False
    ) -> None:
        """Let `solver`, one of `gpufluid.description.solvers` or a user's own, improve the pressure.

        displaced: more may flow in than out.
        """
        scale = self.backend.grid.cell_size**2 / dt
        problem = self.problem.pose(self.divergence, scale, variant, openings)
        gain = displaced or may_gain(variant, self.backend.grid.dimensions)
        balance = problem.floats and (gain or not isinstance(solver, (Jacobi, FFT)))
        if self._balanced is None and (balance or (problem.floats and variant.solids)):
            # solids may start to move at any step, which is no time to make anything
            self._balanced = self.backend.field("balanced", "packed", buffers=1)
            problem.prepare_balance()
        # to V-cycles a mean of the size of rounding does no harm: it ends in that of the pressure, taken off
        even = balance and (gain or not isinstance(solver, Multigrid))
        if even and self._balanced is not None:
            problem.balance(self.divergence, self._balanced)
            problem.pose(self._balanced, scale, variant, openings)
        if isinstance(solver, Jacobi):
            jacobi(solver, problem)
        elif isinstance(solver, ChebyshevJacobi):
            chebyshev_jacobi(solver, problem)
        elif isinstance(solver, RedBlackSOR):
            red_black_sor(solver, problem)
        elif isinstance(solver, ConjugateGradient):
            conjugate_gradient(solver, problem, self.hierarchy)
        elif isinstance(solver, Multigrid):
            multigrid(solver, problem, self.hierarchy)
        elif isinstance(solver, FFT):
            self.fourier.solve(problem)
        else:
            solver.solve(problem)
        if balance and not isinstance(solver, Multigrid):  # which does so where it writes the pressure
            problem.balance(self.pressure, self.pressure)

    def scroll(self, shift: tuple[int, int, int], variant: Variant) -> None:
        """Move the last pressure with the box that has gone `shift` cells on."""
        self.backend.kernel("scroll_pressure", variant)(pressure=self.pressure, shift=shift)

    def clear(self) -> None:
        """Forget the last pressure."""
        self.pressure.fill([0.0])
        self.shortest, self.pushed = math.inf, 0.0

    def release(self) -> None:
        """Release every field."""
        release(self.pressure, self.divergence, self._balanced, self.problem, self.hierarchy, self.fourier)


def measure(
    backend: Backend,
    divergence: FieldStore,
    variant: Variant,
    openings: Openings,
    velocity: FieldStore,
    swelling: Swelling | None = None,
) -> None:
    """Put the divergence of `velocity`, less that of swelling gas, into `divergence`."""
    backend.kernel("divergence", variant)(velocity=velocity, divergence=divergence, **openings)
    if swelling:
        backend.kernel("expand", variant)(divergence=divergence, **swelling, **openings)


def may_gain(variant: Variant, dimensions: int) -> bool:
    """True where a side may bring a net inflow into the box; in 2D there is no back and front."""
    return any(isinstance(side, Inflow) for side in variant.boundaries.sides[: 2 * dimensions])
