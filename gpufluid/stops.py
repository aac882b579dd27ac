"""Ctrl-C, SIGTERM and other signals that a program handles in Python, held off where they would do harm."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# Ctrl-C; and what ends a program: a kill, its terminal that is closed, on Windows Ctrl-Break
ENDS = tuple(
    int(getattr(signal, name)) for name in ("SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name)
)
STOPS = (int(signal.SIGINT), *ENDS)
SIGNALS = tuple(map(int, signal.valid_signals()))  # to list them takes as long as to ask for their handlers


@contextmanager
def unbroken(numbers: tuple[int, ...] | None = STOPS, *, insist: bool = True) -> Iterator[None]:
    """Let signals wait until the body has ended, also where it raised.

    numbers: which; None: all that have a handler in Python. insist: whether a second one strikes at once.
    """
    if threading.current_thread() is not threading.main_thread():  # which Python interrupts no other than
        yield
        return
    if numbers is None:
        numbers = tuple(n for n in SIGNALS if callable(signal.getsignal(n)))
    # one that was set in C could not be put back
    numbers = tuple(n for n in numbers if signal.getsignal(n) is not None)
    before: dict[int, Any] = {}
    caught: list[tuple[int, Any]] = []

    def note(number: int, frame: Any) -> None:
        caught.append((number, frame))
        if insist:
            signal.signal(number, before[number])

    try:
        for number in numbers:
            before[number] = signal.getsignal(number)
            signal.signal(number, note)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number, frame in caught:
            if callable(before[number]):
                before[number](number, frame)
            elif before[number] == signal.SIG_DFL:
                signal.raise_signal(number)  # which ends the process
