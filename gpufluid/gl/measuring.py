"""What passes cost, asked of the driver, of Python, and of the textures they read and write."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import thread_time

import moderngl


class Measured:
    """A context whose passes can be timed and counted.

    timings: queries of the driver, by label, while passes are timed; else None. moved: what each pass must
    move, bytes by the kernels' names, while that is counted; else None. draws: False while passes do all but
    draw and dispatch, for a measure of what that costs.
    """

    def __init__(self, ctx: moderngl.Context) -> None:
        self.ctx = ctx
        self.timings: dict[str, list[moderngl.Query]] | None = None
        self.moved: dict[str, list[int]] | None = None
        self.draws = True

    @contextmanager
    def timed(self, label: str) -> Iterator[None]:
        """Time what is drawn inside with a query of the driver, while `timings` is a dict."""
        if self.timings is None:
            yield
            return
        query = self.ctx.query(time=True)
        with query:
            yield
        self.timings.setdefault(label, []).append(query)

    def milliseconds(self) -> dict[str, list[float]]:
        """Return the timings taken since `timings` became a dict, ms by label, and stop timing."""
        queries, self.timings = self.timings or {}, None
        return {label: [q.elapsed * 1e-6 for q in taken] for label, taken in queries.items()}

    def python_ms(self, step: Callable[[], None], count: int = 30) -> float:
        """Return what `step` costs the calling thread without its draw and dispatch calls, ms.

        The median of `count` calls, by the thread's own clock, so that other work on the machine counts
        little. Fields are swapped and not written meanwhile: what is stepped is spoiled.
        """
        taken = []
        self.draws = False
        try:
            for _ in range(count):
                start = thread_time()
                step()
                taken.append(thread_time() - start)
        finally:
            self.draws = True
        return 1e3 * sorted(taken)[count // 2]

    def bytes_of(self, work: Callable[[], None]) -> dict[str, list[int]]:
        """Return what each pass of `work` must move at least, bytes, by the kernels' names."""
        moved: dict[str, list[int]] = {}
        self.moved = moved
        try:
            work()
        finally:
            self.moved = None
        return moved
