"""Work behind the caller's back: files are encoded and written while the next frame is computed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from time import monotonic
from typing import Any, TypeVar

T = TypeVar("T")

WAITING = 2  # pieces of work that may wait: what they hold is memory
PATIENCE = 1.0  # s, for all that waits when Ctrl-C or SIGTERM has come
LAST = 0.2  # s more, for what is then still to be said of it
SLICE = 0.1  # s


def until_done(works: Iterable[Future[Any]], patience: float | None = None) -> None:
    """Wait, in short slices, until all of them are done, or for `patience` seconds.

    On Windows, before Python 3.14, Ctrl-C strikes only between two waits.
    """
    end = None if patience is None else monotonic() + patience
    while wait(works, SLICE if end is None else max(min(SLICE, end - monotonic()), 0.0)).not_done:
        if end is not None and monotonic() >= end:
            return


def apart(work: Callable[[], T], patience: float | None = None) -> T | None:
    """Return what `work` returns, done in a thread of its own: Ctrl-C and SIGTERM strike while it goes on.

    patience: seconds after which None is returned, and it goes on alone.
    """
    thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="gpufluid-apart")
    try:
        done = thread.submit(work)
        until_done([done], patience)
        return done.result() if done.done() else None
    finally:
        thread.shutdown(wait=False)


def patience(ended_by: BaseException | None) -> float | None:
    """How long to wait still for work, s, where a body ended by this or no exception; None: until it is done.

    All who ask for one Ctrl-C or SIGTERM have PATIENCE together, from the first question on.
    """
    if not isinstance(ended_by, KeyboardInterrupt | SystemExit):
        return None
    until: float = vars(ended_by).setdefault("patience_ends", monotonic() + PATIENCE)
    return max(until - monotonic(), 0.0)


class Background:
    """A thread that does work in the order in which it is given.

    waiting: so many pieces may be unfinished; `do` waits where there are more. NumPy, zlib and FFmpeg let go
    of Python's lock, so this overlaps with whoever gives the work. A Ctrl-C, which Python raises in the main
    thread, cannot strike in the middle of a piece.

    failed: what a piece raised. Those after it are not done then.
    """

    _dropped = False

    def __init__(self, name: str, waiting: int = WAITING) -> None:
        self.failed: Exception | None = None
        self._waiting = waiting
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"gpufluid-{name}")
        self._pending: deque[Future[None]] = deque()

    def do(self, work: Callable[[], object]) -> None:
        """Have `work` done. Raises what one before it has raised."""
        while len(self._pending) >= self._waiting:
            until_done([self._pending.popleft()])
        self.check()
        self._pending.append(self._thread.submit(self._try, work))

    def check(self) -> None:
        """Raise what a piece of work has raised."""
        if self.failed is not None:
            raise self.failed

    def close(
        self,
        last: Callable[[], object] = lambda: None,
        patience: float | None = None,
        leave: bool = False,
    ) -> bool:
        """Wait until all is done, and do `last`, failed or not; raises only what that raises.

        patience: seconds after which what has not begun is left out. leave: no longer is waited for `last`
        either, nor for what it has to wait for: the thread comes to it if the process goes on. Return whether
        it has.
        """
        if patience is not None:
            until_done(self._pending, patience)
            self._dropped = True
        finished = self._thread.submit(last)
        self._thread.shutdown(wait=False)
        if leave and patience is not None:
            until_done([finished], LAST)
            if not finished.done():
                return False
        until_done([finished])
        finished.result()
        return True

    def _try(self, work: Callable[[], object]) -> None:
        if self.failed is None and not self._dropped:
            try:
                work()
            except Exception as error:  # raised in the caller's thread
                self.failed = error
