"""What passes cost on a GPU: time stamps that the driver takes between them, read when they are there."""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Callable, Hashable
from time import perf_counter

import moderngl

from gpufluid.backend import Costs
from gpufluid.gl.calls import calls

_TIMESTAMP, _RESULT, _AVAILABLE = 0x8E28, 0x8866, 0x8867
MOST = 2048  # time stamps on their way; no more are asked for then


class TimestampWatch:
    """By the GPU's own clock. Nothing waits: a pass of this call is known some calls later.

    Time stamps (OpenGL 3.3) do not mind what queries of time the host has running, as elapsed times would.
    """

    def __init__(self, ctx: moderngl.Context, clock: Callable[[], float] = perf_counter) -> None:
        self.costs = Costs()
        self._gl, self._clock = calls(ctx), clock
        self._start = clock()
        self._asked = 0.0  # seconds, foreseen, of what this call has asked for
        self._free: list[int] = []
        self._late: deque[tuple[int, Hashable | None, int]] = deque()  # what ended there, rows; None: a start
        self._gap = False  # a time stamp was left out
        self._before: int | None = None  # nanoseconds, at the last time stamp that was read

    def start(self, at: float) -> None:
        """A call has begun: learn what earlier ones cost, as far as it is there."""
        self._start, self._asked = at, 0.0
        self._collect()

    def lap(self, work: Hashable | None, rows: int = 1) -> None:
        """`rows` of `work` have been asked for."""
        if work is not None:
            self._asked += rows * (self.costs.foreseen(work) or 0.0)
        self._stamp(work, rows)

    def foreseen(self, work: Hashable) -> float | None:
        """What a row of `work` took the GPU as a rule."""
        return self.costs.foreseen(work)

    def spent(self) -> float:
        """The time the call has taken, or that the GPU will take over it, whichever is more."""
        return max(self._clock() - self._start, self._asked)

    def release(self) -> None:
        """Delete the queries."""
        names = [*self._free, *(query for query, *_ in self._late)]
        self._free.clear()
        self._late.clear()
        for name in names:
            self._gl.glDeleteQueries(1, ctypes.byref(ctypes.c_uint(name)))

    def _stamp(self, work: Hashable | None, rows: int) -> None:
        if len(self._late) >= MOST:
            self._gap = True
            return
        if not self._free:
            name = ctypes.c_uint()
            self._gl.glGenQueries(1, ctypes.byref(name))
            self._free.append(name.value)
        query = self._free.pop()
        self._gl.glQueryCounter(query, _TIMESTAMP)
        self._late.append((query, None if self._gap else work, rows))
        self._gap = False

    def _collect(self) -> None:
        ready, at = ctypes.c_int(), ctypes.c_uint64()
        while self._late:
            query, work, rows = self._late[0]
            self._gl.glGetQueryObjectiv(query, _AVAILABLE, ctypes.byref(ready))
            if not ready.value:
                return
            self._gl.glGetQueryObjectui64v(query, _RESULT, ctypes.byref(at))
            if work is not None and self._before is not None:
                self.costs.learn(work, 1e-9 * (at.value - self._before) / rows)
            self._before = at.value
            self._free.append(self._late.popleft()[0])
