"""One step in slices: a few passes now, the next ones when the caller comes again.

A step is written as the algorithm, and a pressure solver of the user's is called in the middle of it. So that
neither has to know of slices, it runs in a greenlet: a call stack of its own, which is left before a pass
and gone on with later. Generators would have to be handed up through every stage and could not be through a
function of the user's; a thread could not draw in the host's context.

Nothing that belongs to a call (the host's GL state put aside, a context made current) is entered inside the
greenlet: it is entered and left round each slice, by who asks for the slice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from contextlib import suppress
from time import perf_counter
from typing import Any

from gpufluid.common.errors import GpufluidError, needs
from gpufluid.contract.backend import Backend, Later
from gpufluid.contract.stopwatch import UNKNOWN

LEAST = 0.1  # of the budget: a part that costs less is not worth a pass's being divided
GUESS = 60  # passes of a step, before one has been counted


class Slices:
    """Runs work whose passes are those of `backend`, a slice at a time.

    Raises MissingDependencyError without the package greenlet.
    """

    def __init__(self, backend: Backend) -> None:
        with needs("greenlet", "Fluid.advance"):
            import greenlet
        self._greenlets: Any = greenlet
        self.backend, self.watch = backend, backend.stopwatch()
        self._worker: Any = None
        # the last pass and its rows, not timed yet
        self._running: tuple[Hashable, int] | tuple[None] = (None,)
        self._budget = math.inf
        self._moved = False  # whether this slice has got anywhere
        self._passes, self._expected = 0, 0
        self._leaving = 0.0  # seconds that the caller's end of a call takes
        self._ended = 0.0

    @property
    def under_way(self) -> bool:
        """True from `begin` until the work is done or dropped."""
        return self._worker is not None

    @property
    def progress(self) -> float:
        """The share of the passes that is done, 0 .. 1, by their number last time; 0: none is under way."""
        if not self.under_way:
            return 0.0
        expected = max(self._expected or GUESS, self._passes + 1)
        return max(self._passes, 0.5) / expected

    def begin(self, work: Callable[[], object]) -> None:
        """Take up `work`, of which nothing runs yet."""
        self._worker = self._greenlets.greenlet(work)
        self._passes = 0

    def go_on(self, budget: float, started: float) -> bool:
        """Go on until the next pass would take the call over `budget` seconds; return whether all is done.

        At least one pass is run, or a part of one that is longer than the budget. started: when the call
        began, by `time.perf_counter`. What the work raises comes out here, and the work is over.
        """
        worker, pace = self._worker, self.backend.pace
        self._budget, self._moved, self._running = budget - self._leaving, False, (None,)
        self.watch.start(started, self._budget)
        try:
            worker.parent = self._greenlets.getcurrent()
        except ValueError:
            raise GpufluidError(
                "a step is under way that was begun in another thread: it must be finished there, or "
                "abandoned by reset()"
            ) from None
        pace.pacer = self
        try:
            worker.switch()
        finally:
            pace.pacer = None
            if worker.dead:
                self._worker = None
        self._lap()
        if worker.dead:
            self._expected = self._passes
        self._ended = perf_counter()
        return bool(worker.dead)

    def call_ended(self) -> None:
        """The caller has it again: how long it took to leave counts for the next calls."""
        self._leaving += 0.2 * (perf_counter() - self._ended - self._leaving)

    def drop(self) -> None:
        """Forget the work under way."""
        worker, self._worker = self._worker, None
        if worker is not None and not worker.dead:
            with suppress(ValueError):  # begun in another thread, it ends when that one comes to it
                worker.parent = self._greenlets.getcurrent()
                worker.throw()  # GreenletExit: what the work holds is let go

    def release(self) -> None:
        """Forget the work, and give back what the watch holds."""
        self.drop()
        self.watch.release()

    # -- asked by the backend, inside the greenlet -------------------------------------------------------

    def before(self, work: Hashable, rows: int = 1, least: int = 1) -> int:
        """A pass comes next: leave first where it would take the call over its budget.

        One that does not fit is divided, where a part of it does that is worth it.
        """
        self._lap()
        fitting = self._fitting(work, rows, least)
        if self._moved and not fitting:
            self._leave()
            fitting = self._fitting(work, rows, least)  # the call may be one of another budget
        rows = fitting or min(rows, least)
        self._running, self._moved = (work, rows), True
        self._passes += 1
        return rows

    def _fitting(self, work: Hashable, rows: int, least: int) -> int:
        """How many of `rows` to run now; 0: there is no room for enough of them."""
        watch = self.watch
        row, room = watch.foreseen(work), watch.room()
        if row is None:
            return rows if UNKNOWN * self._budget <= room else 0
        at_once = min(room, watch.portion)
        if row * rows <= at_once:
            return rows
        part = max(int(at_once / row) // least * least, min(rows, least))
        worth = part == rows or row * part >= LEAST * self._budget
        return part if worth and row * part <= room else 0

    def wait(self, late: Later) -> None:
        """Wait for `late` as long as the budget of a call lasts, and then in later calls."""
        while not late.wait(min(max(self.watch.left(), 0.0), 1.0)):
            if self._budget < math.inf:
                self._leave()
        self._moved = True

    def _lap(self) -> None:
        """What was let run has been asked for."""
        self.watch.lap(*self._running)
        self._running = (None,)

    def _leave(self) -> None:
        """Go back to the caller; return in its next call."""
        self._lap()
        self._greenlets.getcurrent().parent.switch()
        self.watch.lap(None)
