"""Fewer slabs where a frame takes too long: what frames took, and what follows from it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from statistics import median

import moderngl

from gpufluid.common.errors import warn
from gpufluid.gl.calls import calls
from gpufluid.gl.measuring import TimeQueries

LOWEST = 0.2
SAMPLES = 5  # frames of one quality whose median a change rests on: a slow one or two change nothing
AIM = 0.9  # share of the budget that a change aims at
ROOM = 0.7  # share of the budget below which there is room for more
MOST_UP = 1.5  # factor of a rise
PATIENCE, MOST_PATIENCE = 8, 256  # frames before a rise; twice as many each time one had to be taken back
LATE = 3  # frames a query rests before it is read: by then a GPU is done with it, and nothing waits


class Quality:
    """Steers `value`, 0.2 .. 1, so that frames take no more than `budget` ms.

    A frame is taken to cost a fixed part and one in proportion to its quality. Scaling the quality by what is
    left of the budget then never overshoots upwards, and steps down by less each time until it fits. Between
    0.7 and 1 of the budget nothing changes.
    """

    def __init__(self, budget: float) -> None:
        self.budget, self.value = budget, 1.0
        self._patience = PATIENCE
        self._rose = False
        self._times: deque[float] = deque(maxlen=SAMPLES)
        self._seen = 0

    def saw(self, ms: float, at: float) -> None:
        """Take note of a frame that took `ms` at quality `at`; those of before the last change are no use."""
        if at != self.value:
            return
        self._times.append(ms)
        self._seen += 1
        if self._seen < SAMPLES:
            return
        typical = max(median(self._times), 1e-6)
        fitting = self.value * AIM * self.budget / typical
        if typical > self.budget and self.value > LOWEST:
            self._patience = min(2 * self._patience, MOST_PATIENCE) if self._rose else self._patience
            self._change(max(fitting, LOWEST))
        elif typical < ROOM * self.budget and self.value < 1.0 and self._seen >= self._patience:
            self._patience = max(self._patience // 2, PATIENCE) if self._rose else self._patience
            self._change(min(fitting, MOST_UP * self.value, 1.0))

    def _change(self, value: float) -> None:
        self._rose = value > self.value
        self.value = value
        self._times.clear()
        self._seen = 0


class FrameClock:
    """What frames took on the GPU, by queries read late enough that nothing waits for them.

    A frame is up to two spans of time, one after the other. OpenGL has one time query at a time: while one of
    the host's runs, as that of a profiler, nothing is counted.
    """

    def __init__(self, ctx: moderngl.Context) -> None:
        self.queries = TimeQueries(ctx)
        self._used: list[list[int]] = [[] for _ in range(LATE + 1)]
        self._quality = [1.0] * len(self._used)
        self._at = 0

    @contextmanager
    def span(self) -> Iterator[None]:
        """Count what is drawn inside to this frame; a third span of a frame is not counted."""
        used = self._used[self._at]
        if len(used) == 2:
            yield
            return
        with self.queries.span() as query:
            yield
        if query is not None:
            used.append(query)

    def next_frame(self, quality: float) -> tuple[float, float] | None:
        """End a frame drawn at `quality`; return ms and quality of the one drawn LATE frames before it."""
        self._quality[self._at] = quality
        self._at = (self._at + 1) % len(self._used)
        used, self._used[self._at] = self._used[self._at], []
        if not used:
            return None
        return sum(map(self.queries.milliseconds, used)), self._quality[self._at]


class FrameBudget:
    """GPU time that what is drawn may take in a frame, and the quality that keeps to it.

    ms: > 0; None: no limit.
    """

    def __init__(self, ctx: moderngl.Context) -> None:
        self._ctx = ctx
        self._steering: Quality | None = None
        self._clock: FrameClock | None = None  # from the first limit on
        self._warned = False

    @property
    def ms(self) -> float | None:
        """The limit, ms."""
        return None if self._steering is None else self._steering.budget

    @ms.setter
    def ms(self, value: float | None) -> None:
        if value is None:
            self._steering = None
            return
        self._steering = self._steering or Quality(value)
        self._steering.budget = value
        self._clock = self._clock or FrameClock(self._ctx)

    @property
    def quality(self) -> float:
        """What to draw at, 0.2 .. 1; always 1 without a limit."""
        return 1.0 if self._steering is None else self._steering.value

    def counted(self) -> AbstractContextManager[None]:
        """A block in which what is drawn counts to the frame, where there is a limit."""
        if self._clock is None or self._steering is None:
            return nullcontext()
        if not (self._warned or self._clock.queries.there):
            self._warned = True
            warn(f"frame_ms has no effect: {calls(self._ctx).renderer} has no clock for it", RuntimeWarning)
        return self._clock.span()

    def next_frame(self, quality: float) -> None:
        """End a frame drawn at `quality`; 0: it tells nothing."""
        if self._clock is not None and self._steering is not None:
            taken = self._clock.next_frame(quality)
            if taken is not None:
                self._steering.saw(*taken)

    def release(self) -> None:
        """Delete the queries; idempotent."""
        if self._clock is not None:
            self._clock.queries.release()
            self._clock = None
