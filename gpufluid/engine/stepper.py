"""What steps a fluid, at once or in slices, and says who may look at it or change it meanwhile.

A fluid and its fields work through one `Stepper`. What they offer to programs is `at_work`; what changes the
flow is done `between_steps` as well, since a pressure solver or a force of the user's is called within one.
"""

from __future__ import annotations

import functools
import math
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any, Concatenate, NoReturn, ParamSpec, TypeVar

from gpufluid.common.errors import GpufluidError
from gpufluid.common.stops import unbroken
from gpufluid.contract.backend import release
from gpufluid.description.boundaries import Boundaries
from gpufluid.description.obstacles import Obstacle
from gpufluid.description.settings import SOLVERS, Settings
from gpufluid.description.sources import Emitter
from gpufluid.description.user_forces import Force, ForceExpression
from gpufluid.numerics.advance import Slices
from gpufluid.numerics.solver import Solver
from gpufluid.numerics.still import State, Still

WAITED = 0.4  # s, for the end of a step after Ctrl-C

P = ParamSpec("P")
R = TypeVar("R")


class Stepper:
    """Steps a fluid by its `solver`, with the things in it as they are when a step begins.

    settings, boundaries: those asked for; a step under way goes on by the ones it began with. last_dt: of the
    last step, seconds; before the first 1. slices: what `advance` works in, from its first call on.
    """

    def __init__(
        self,
        solver: Solver,
        emitters: Iterable[Emitter],
        obstacles: Iterable[Obstacle],
        forces: Iterable[Force],
    ) -> None:
        self.solver, self.backend, self.settings = solver, solver.backend, solver.settings
        self.boundaries = solver.boundaries
        self.last_dt = 1.0
        self.released = False
        self.slices: Slices | None = None
        self.emitters, self.obstacles, self.forces = emitters, obstacles, forces
        self._still: Still | None = None
        self._within = ""  # what is at work that a caller's own solver or force may be called from

    # -- looking at it -----------------------------------------------------------------------------------

    @property
    def under_way(self) -> bool:
        """Whether a step is, in slices."""
        return self.slices is not None and self.slices.under_way

    @property
    def state(self) -> State:
        """The last finished state."""
        return self._still if self.under_way and self._still else self.solver

    def seen(self) -> State:
        """The last finished state, with the solids where the obstacles are now.

        Raises GpufluidError for an obstacle that was changed into an impossible one.
        """
        state = self.state
        state.solids.update(self.checked_obstacles(), None)
        return state

    def checked_obstacles(self) -> list[Obstacle]:
        """The obstacles as they are. Raises GpufluidError for one that no solid can be."""
        obstacles = list(self.obstacles)
        for obstacle in obstacles:
            obstacle.check()
        return obstacles

    # -- changing it -------------------------------------------------------------------------------------

    def check_alive(self) -> None:
        """Raise GpufluidError after `release`."""
        if self.released:
            raise GpufluidError("this Fluid was released")

    def check_between(self, refusal: str) -> None:
        """Raise GpufluidError, beginning with `refusal`, in what a `between_steps` method has called."""
        if self._within:
            raise GpufluidError(
                f"{refusal} from within {self._within}: a pressure solver or a force of yours, or another "
                "thread, may not change the fluid there"
            )

    def settled(self, name: str) -> Solver:
        """The solver, to write `name` into. Raises GpufluidError while a step is under way."""
        self.check_between(f"{name} cannot be written")
        if self.under_way:
            raise GpufluidError(
                f"{name} cannot be written while a step is under way: do it where advance() has returned "
                "True, or call finish() first"
            )
        return self.solver

    def use(self, settings: Settings) -> None:
        """Go on by `settings` as soon as no step is under way. Raises GpufluidError where that cannot be."""
        if settings == self.settings:
            return
        if self.under_way:
            self.solver.check(settings)
        else:
            self.solver.use(settings)
        self.settings = settings

    def use_sides(self, boundaries: Boundaries) -> None:
        """Go on with `boundaries` as soon as no step is under way.

        Raises GpufluidError where that cannot be.
        """
        self.boundaries.check_next(boundaries)
        if boundaries.sides != self.boundaries.sides or boundaries.changing > self.boundaries.changing:
            self.boundaries = boundaries.but(changing=True)
            if not self.under_way:
                self.solver.use_sides(self.boundaries)

    # -- stepping it -------------------------------------------------------------------------------------

    def step(self, dt: float) -> None:
        """Advance by `dt` > 0 seconds at once; no step is under way."""
        with self._all_or_nothing():
            self.solver.step(dt, list(self.emitters), list(self.obstacles), list(self.forces))
        self.last_dt = dt

    def project(self) -> None:
        """Project the velocity as it is; no step is under way."""
        with self._all_or_nothing():
            self.solver.project(self.last_dt, self.checked_obstacles())

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Go back to what the fluid was where the body fails that calls a program's own solver or function.

        Where it calls none, nothing is kept to go back to: it would take a texture more for each field. There
        Ctrl-C waits for it to end, but not for longer than WAITED.
        """
        if not self._calls_out():
            with unbroken((signal.SIGINT,), patience=WAITED):
                yield
            return
        still = self._take_still()
        try:
            yield
        except BaseException:
            still.give_back(self.solver)
            raise

    def _calls_out(self) -> bool:
        """Whether a step calls what the program has written itself."""
        own_solver = not isinstance(self.solver.settings.pressure, SOLVERS)
        functions = self.backend.name == "numpy" and any(isinstance(f, ForceExpression) for f in self.forces)
        return own_solver or functions

    def _take_still(self) -> Still:
        if self._still is None:
            self._still = Still(self.solver)
        else:
            self._still.take(self.solver)
        return self._still

    def reset(self) -> None:
        """Go back to rest, clean air and time 0; no step is under way."""
        self.solver.reset(list(self.obstacles))
        self.last_dt = 1.0

    def make_slices(self) -> Slices:
        """What `begin` and `go_on` work in. Raises MissingDependencyError without the package greenlet."""
        if self.slices is None:
            self.slices = Slices(self.backend)
        return self.slices

    def begin(self, dt: float) -> None:
        """Take up a step, and a still of the fluid for all who look at it meanwhile."""
        solver, obstacles = self.solver, list(self.obstacles)  # where these are is asked before any pass
        as_now = solver.copies.take
        emitters, forces = [as_now(e) for e in self.emitters], [as_now(f) for f in self.forces]

        def work() -> None:
            solver.step(dt, emitters, obstacles, forces)
            self.last_dt = dt

        self._take_still()
        self.make_slices().begin(work)

    def go_on(self, budget: float, started: float) -> bool:
        """Go on with the step under way; where it fails, the fluid is what it was before.

        budget: seconds, from `started` on. Returns whether the step is finished.
        """
        assert self.slices is not None and self._still is not None
        try:
            done = self.slices.go_on(budget, started)
        except BaseException:
            if not self.slices.under_way:
                self._still.give_back(self.solver)
                self._use_latest()
            raise
        if done:
            self._use_latest()
        return done

    def finish(self) -> None:
        """Finish the step under way, if any."""
        while self.under_way:
            self.go_on(math.inf, perf_counter())

    def drop(self) -> None:
        """Go back to before the step under way, if any."""
        if self.under_way:
            assert self.slices is not None and self._still is not None
            self.slices.drop()
            self._still.give_back(self.solver)
            self._use_latest()

    def _use_latest(self) -> None:
        """Go on by sides and settings that were assigned while a step was under way."""
        if self.boundaries is not self.solver.boundaries:
            self.solver.use_sides(self.boundaries)
        if self.settings is not self.solver.settings:
            try:
                self.solver.use(self.settings)
            except BaseException:
                self.settings = self.solver.settings
                raise

    def release(self) -> None:
        """Drop the step under way, and release what only stepping in slices needs."""
        release(self.slices, self._still)
        self.released = True


class Handle:
    """What a program holds of a fluid: the fluid itself, or one of its fields."""

    _stepper: Stepper
    _instead: str  # what gives another one, for a program that would copy this

    def __copy__(self) -> NoReturn:
        """Raise GpufluidError: both would have the same numbers, and step or be written as one."""
        raise GpufluidError(f"{self!r} cannot be copied: {self._instead}")

    def __reduce_ex__(self, protocol: Any) -> Any:
        """As `object`'s, for copy.deepcopy and pickle; raise GpufluidError where the numbers are OpenGL's."""
        if getattr(self._stepper.backend, "ctx", None) is not None:
            self.__copy__()
        return super().__reduce_ex__(protocol)


Holder = TypeVar("Holder", bound=Handle)


def at_work(method: Callable[Concatenate[Holder, P], R]) -> Callable[Concatenate[Holder, P], R]:
    """Method decorator: raise after the fluid's release; make its own context current, where it has one.

    So fluids may take turns in one process. A caller's context must be current, and keeps its state.
    """
    return at_work_as(method.__qualname__)(method)


def at_work_as(
    called: str,
) -> Callable[[Callable[Concatenate[Holder, P], R]], Callable[Concatenate[Holder, P], R]]:
    """As `at_work`, for a method that does the work of what a program has `called`."""

    def decorate(method: Callable[Concatenate[Holder, P], R]) -> Callable[Concatenate[Holder, P], R]:
        @functools.wraps(method)
        def run(self: Holder, /, *given: P.args, **by_name: P.kwargs) -> R:
            stepper = self._stepper
            stepper.check_alive()
            with stepper.backend.at_work(called):
                return method(self, *given, **by_name)

        return run

    return decorate


def between_steps(method: Callable[Concatenate[Holder, P], R]) -> Callable[Concatenate[Holder, P], R]:
    """Method decorator: raise where it is called from within itself or another that is so decorated.

    A solver or a force of the user's is called in a step: it may look at the fluid, and not change it.
    """

    @functools.wraps(method)
    def run(self: Holder, /, *given: P.args, **by_name: P.kwargs) -> R:
        stepper = self._stepper
        stepper.check_between(f"{method.__qualname__} cannot be called")
        stepper._within = method.__qualname__
        try:
            return method(self, *given, **by_name)
        finally:
            stepper._within = ""

    return run
