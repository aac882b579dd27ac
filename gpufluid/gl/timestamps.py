"""What passes cost on a GPU: time stamps that the driver takes between them, read when they are there."""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Callable, Hashable
from time import perf_counter

import moderngl

from gpufluid.contract.stopwatch import COUNTS, SLACK, UNKNOWN, Delays, Watch
from gpufluid.gl import enums
from gpufluid.gl.calls import calls

MOST = 2048  # time stamps on their way; no more are asked for then


def takes_timestamps(ctx: moderngl.Context) -> bool:
    """Whether the driver has a clock for them. That of macOS has none: all its time stamps are 0."""
    bits = ctypes.c_int()
    calls(ctx).glGetQueryiv(enums.TIMESTAMP, enums.QUERY_COUNTER_BITS, ctypes.byref(bits))
    return bits.value > 0


class TimestampWatch(Watch):
    """By the GPU's own clock. Nothing waits: a pass of this call is known some calls later.

    Time stamps (OpenGL 3.3) do not mind what queries of time the host has running, as elapsed times would.
    """

    def __init__(self, ctx: moderngl.Context, clock: Callable[[], float] = perf_counter) -> None:
        super().__init__(Delays(), clock)
        self._gl = calls(ctx)
        self._asked = 0.0  # seconds, foreseen, of what this call has asked for
        self._free: list[int] = []
        # what ended there, rows, seconds as foreseen; None: a call begins or ends
        self._late: deque[tuple[int, Hashable | None, int, float]] = deque()
        self._gap = False  # a time stamp was left out
        self._before: int | None = None  # nanoseconds, at the last time stamp that was read
        self._sums = 0.0, 0.0  # seconds of the call that is being read, foreseen and real

    def start(self, at: float, budget: float) -> None:
        """A call has begun: learn what earlier ones cost, as far as it is there."""
        self._start, self._budget, self._asked = at, budget, 0.0
        self._collect()

    def lap(self, work: Hashable | None, rows: int = 1) -> None:
        """`rows` of `work` have been asked for."""
        row = self.costs.foreseen(work)
        if work is not None:
            self._asked += UNKNOWN * self._budget if row is None else rows * row
        self._stamp(work, rows, rows * (row or 0.0))

    def room(self) -> float:
        """By the clock or of the GPU's time, whichever is less.

        Nothing is known of this call before it is over, so all that it asks for may be slow.
        """
        most = self._budget * min(1.0, (1.0 + SLACK) / self.delays.factor)
        return min(self.left(), most - self._asked)

    @property
    def portion(self) -> float:
        """Nothing is known before the call is over: passes are divided where they must be."""
        return self._budget

    def release(self) -> None:
        """Delete the queries."""
        names = [*self._free, *(query for query, *_ in self._late)]
        self._free.clear()
        self._late.clear()
        for name in names:
            self._gl.glDeleteQueries(1, ctypes.byref(ctypes.c_uint(name)))

    def _stamp(self, work: Hashable | None, rows: int, foreseen: float) -> None:
        if len(self._late) >= MOST:
            self._gap = True
            return
        if not self._free:
            name = ctypes.c_uint()
            self._gl.glGenQueries(1, ctypes.byref(name))
            self._free.append(name.value)
        query = self._free.pop()
        self._gl.glQueryCounter(query, enums.TIMESTAMP)
        self._late.append((query, None if self._gap else work, rows, foreseen))
        self._gap = False

    def _collect(self) -> None:
        ready, at = ctypes.c_int(), ctypes.c_uint64()
        while self._late:
            query, work, rows, foreseen = self._late[0]
            self._gl.glGetQueryObjectiv(query, enums.QUERY_RESULT_AVAILABLE, ctypes.byref(ready))
            if not ready.value:
                return
            self._gl.glGetQueryObjectui64v(query, enums.QUERY_RESULT, ctypes.byref(at))
            if work is None or self._before is None:
                self._learn_delay()
            elif at.value >= self._before:  # of Intel's GPUs Mesa's clock begins anew every 69 s
                took = 1e-9 * (at.value - self._before)
                self.costs.learn(work, took / rows)
                if foreseen:
                    self._sums = self._sums[0] + foreseen, self._sums[1] + took
            self._before = at.value
            self._free.append(self._late.popleft()[0])

    def _learn_delay(self) -> None:
        """All of a call is known: its passes are late together, or make up for each other."""
        (foreseen, real), self._sums = self._sums, (0.0, 0.0)
        if foreseen > max(COUNTS * self._budget, 0.0):  # a call may begin late, with nothing left
            self.delays.learn(real / foreseen)
