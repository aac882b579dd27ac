"""What passes cost, and how late they may be: learned as they run, by the clock on the wall or another."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from time import perf_counter

SLACK = 0.2  # of the budget: by how much a call may be over it
UNKNOWN = 0.25  # of the budget: what a pass may cost that nobody has measured yet
COUNTS = 0.1  # of the budget: what is foreseen to take less tells nothing of delays
RARE = 0.001  # of all cases: those that may be slower than `Delays.factor` says
SLOWEST = 4.0  # from longer delays no foresight saves a call
SHARED = 2.0  # how slow work is whose two threads have to share a processor
AIM = 0.85  # of the budget, by the clock: a processor that something else takes is not seen coming
PORTION = 0.25  # of the budget: what is asked for at once where that can be divided


class Costs:
    """What each kind of work costs: a running mean."""

    def __init__(self) -> None:
        self._known: dict[Hashable, float] = {}

    def learn(self, work: Hashable, seconds: float) -> None:
        """Add a measurement. One far above the rest is an interruption: it counts as four times the mean.

        One far below tells that the others were: drivers compile a pass when it first runs.
        """
        seconds = max(seconds, 1e-9)  # no clock tells less
        mean = self._known.get(work, seconds)
        if seconds < 0.25 * mean:
            mean = seconds
        self._known[work] = mean + 0.2 * (min(seconds, 4.0 * mean) - mean)

    def foreseen(self, work: Hashable) -> float | None:
        """The mean, seconds; None before the first measurement."""
        return self._known.get(work)


class Delays:
    """How many times as long as foreseen work takes that is slow, as only the share `RARE` of it is.

    By stochastic approximation of that quantile (Robbins and Monro, 1951): ten surprises take it from 1 to 2,
    ten thousand cases without one bring it back. factor: to begin with.
    """

    def __init__(self, factor: float = 1.0) -> None:
        self.factor = factor

    def learn(self, ratio: float) -> None:
        """Work took `ratio` times as long as foreseen."""
        step = 0.1 * ((ratio > self.factor) - RARE)
        self.factor = min(max(self.factor + step, 1.0), SLOWEST)


class Watch:
    """What is known of costs and delays, whoever takes the time, and what is left of a call by the clock."""

    def __init__(self, delays: Delays, clock: Callable[[], float]) -> None:
        self.costs, self.delays, self._clock = Costs(), delays, clock
        self._start, self._budget = clock(), 0.0

    def foreseen(self, work: Hashable) -> float | None:
        """What a row of `work` took as a rule."""
        return self.costs.foreseen(work)

    def left(self) -> float:
        """Seconds of the budget that are left by the clock."""
        return self._budget - (self._clock() - self._start)


class WallWatch(Watch):
    """By the clock on the wall, where work is done while it is asked for, or by `finish` at the latest."""

    def __init__(self, finish: Callable[[], None], clock: Callable[[], float] = perf_counter) -> None:
        super().__init__(Delays(SHARED), clock)
        self._finish, self._last = finish, self._start

    def start(self, at: float, budget: float) -> None:
        """A call has begun. What its caller has asked for before, a picture say, is waited for uncounted."""
        since = self._clock() - at
        self._finish()
        self._last = self._clock()
        self._start, self._budget = self._last - since, budget

    def lap(self, work: Hashable | None, rows: int = 1) -> None:
        """Wait for `work`, and learn what it took."""
        self._finish()
        now = self._clock()
        if work is not None:
            row, took = self.costs.foreseen(work), now - self._last
            if row is not None and rows * row > COUNTS * self._budget:
                self.delays.learn(took / (rows * row))
            self.costs.learn(work, took / rows)
        self._last = now

    def room(self) -> float:
        """As much as may be slow, since the clock is looked at again after it; up to the aim at most."""
        gone = self._clock() - self._start
        return min(AIM * self._budget - gone, ((1.0 + SLACK) * self._budget - gone) / self.delays.factor)

    @property
    def portion(self) -> float:
        """So little that the rest of the call makes up for what was slow."""
        return PORTION * self._budget

    def release(self) -> None:
        """There is nothing to give back."""
