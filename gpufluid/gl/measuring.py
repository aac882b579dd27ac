"""What passes cost, asked of the driver, and of the textures they read and write."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import moderngl

from gpufluid.gl import enums
from gpufluid.gl.calls import calls


class TimeQueries:
    """Queries of the driver for the time that its device works, which serve again once they are read.

    moderngl deletes none of its own, and reads 32 bits of them: no more than 4.3 s. OpenGL has one such query
    at a time: while another runs, as one of the host's, none is begun, since its end would be that of the
    other.
    """

    def __init__(self, ctx: moderngl.Context) -> None:
        self._gl = calls(ctx)
        self._all: list[int] = []
        self._free: list[int] = []
        self._told: bool | None = None

    @property
    def there(self) -> bool:
        """Whether the driver has a clock for them: where the counter has no bits, all times are 0."""
        if self._told is None:
            self._told = self._asked(enums.QUERY_COUNTER_BITS) > 0
        return self._told

    @property
    def possible(self) -> bool:
        """Whether one can be begun now."""
        return self.there and not self._asked(enums.CURRENT_QUERY)

    def _asked(self, what: int) -> int:
        out = ctypes.c_int()
        self._gl.glGetQueryiv(enums.TIME_ELAPSED, what, ctypes.byref(out))
        return out.value

    @contextmanager
    def span(self) -> Iterator[int | None]:
        """Time what is drawn inside, by the query that is yielded; None: there can be none now."""
        if not self.possible:
            yield None
            return
        if not self._free:
            name = ctypes.c_uint()
            self._gl.glGenQueries(1, ctypes.byref(name))
            self._all.append(name.value)
            self._free.append(name.value)
        query = self._free.pop()
        self._gl.glBeginQuery(enums.TIME_ELAPSED, query)
        try:
            yield query
        except BaseException:
            self._free.append(query)
            raise
        finally:
            self._gl.glEndQuery(enums.TIME_ELAPSED)

    def milliseconds(self, query: int) -> float:
        """What it has timed; waits until that is known. The query serves again afterwards."""
        out = ctypes.c_uint64()
        self._gl.glGetQueryObjectui64v(query, enums.QUERY_RESULT, ctypes.byref(out))
        self._free.append(query)
        return out.value * 1e-6

    def release(self) -> None:
        """Delete the queries; idempotent."""
        for name in self._all:
            self._gl.glDeleteQueries(1, ctypes.byref(ctypes.c_uint(name)))
        self._all.clear()
        self._free.clear()


class Measured:
    """A context whose passes can be timed and counted.

    timings: queries of `clock`, by label, while passes are timed; else None. moved: what each pass must
    move, bytes by the kernels' names, while that is counted; else None. flush: what is called behind each
    pass that draws, or None.
    """

    def __init__(self, ctx: moderngl.Context) -> None:
        self.ctx = ctx
        self.flush: Callable[[], None] | None = None
        self.clock = TimeQueries(ctx)
        self.timings: dict[str, list[int]] | None = None
        self.moved: dict[str, list[int]] | None = None

    @contextmanager
    def timed(self, label: str) -> Iterator[None]:
        """Time what is drawn inside with a query of the driver, while `timings` is a dict."""
        if self.timings is None:
            yield
        else:
            with self.clock.span() as query:
                yield
            if query is not None:
                self.timings.setdefault(label, []).append(query)
        if self.flush is not None:
            self.flush()

    def milliseconds(self) -> dict[str, list[float]]:
        """Return the timings taken since `timings` became a dict, ms by label, and stop timing."""
        queries, self.timings = self.timings or {}, None
        return {label: [self.clock.milliseconds(q) for q in taken] for label, taken in queries.items()}

    def bytes_of(self, work: Callable[[], None]) -> dict[str, list[int]]:
        """Return what each pass of `work` must move at least, bytes, by the kernels' names."""
        moved: dict[str, list[int]] = {}
        self.moved = moved
        try:
            work()
        finally:
            self.moved = None
        return moved
