"""What passes cost, asked of the driver, and of the textures they read and write."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import moderngl


class Measured:
    """A context whose passes can be timed and counted.

    timings: queries of the driver, by label, while passes are timed; else None. moved: what each pass must
    move, bytes by the kernels' names, while that is counted; else None. flush: what is called behind each
    pass that draws, or None.
    """

    def __init__(self, ctx: moderngl.Context) -> None:
        self.ctx = ctx
        self.flush: Callable[[], None] | None = None
        self.timings: dict[str, list[moderngl.Query]] | None = None
        self.moved: dict[str, list[int]] | None = None

    @contextmanager
    def timed(self, label: str) -> Iterator[None]:
        """Time what is drawn inside with a query of the driver, while `timings` is a dict."""
        if self.timings is None:
            yield
        else:
            query = self.ctx.query(time=True)
            with query:
                yield
            self.timings.setdefault(label, []).append(query)
        if self.flush is not None:
            self.flush()

    def milliseconds(self) -> dict[str, list[float]]:
        """Return the timings taken since `timings` became a dict, ms by label, and stop timing."""
        queries, self.timings = self.timings or {}, None
        return {label: [q.elapsed * 1e-6 for q in taken] for label, taken in queries.items()}

    def bytes_of(self, work: Callable[[], None]) -> dict[str, list[int]]:
        """Return what each pass of `work` must move at least, bytes, by the kernels' names."""
        moved: dict[str, list[int]] = {}
        self.moved = moved
        try:
            work()
        finally:
            self.moved = None
        return moved
