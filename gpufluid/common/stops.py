"""Ctrl-C, SIGTERM and other signals that a program handles in Python, held off where they would do harm."""

from __future__ import annotations

import signal
import threading
from _thread import interrupt_main
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
def unbroken(
    numbers: tuple[int, ...] | None = STOPS, *, insist: bool = True, patience: float | None = None
) -> Iterator[None]:
    """Let signals wait until the body has ended, also where it raised.

    numbers: which; None: all that have a handler in Python. insist: whether a second one strikes at once.
    patience: seconds after which the first one does; only those count then that have a handler in Python.
    """
    if threading.current_thread() is not threading.main_thread():  # which Python interrupts no other than
        yield
        return
    handlers: dict[int, Any] = {n: signal.getsignal(n) for n in (SIGNALS if numbers is None else numbers)}
    if numbers is None or patience is not None:
        handlers = {n: handler for n, handler in handlers.items() if callable(handler)}
    before: dict[int, Any] = {}
    caught: list[tuple[int, Any]] = []
    timers: list[threading.Timer] = []

    def note(number: int, frame: Any) -> None:
        caught.append((number, frame))
        if insist:
            signal.signal(number, before[number])
        if patience is not None:
            timers.append(threading.Timer(patience, strike, (number, frame)))
            timers[-1].daemon = True
            timers[-1].start()

    def strike(number: int, frame: Any) -> None:  # in the timer's thread
        caught.remove((number, frame))
        interrupt_main(signal.Signals(number))

    try:
        for number, handler in handlers.items():
            if handler is not None:  # one that was set in C could not be put back
                before[number] = handler
                signal.signal(number, note)
        yield
    finally:
        for timer in timers:
            timer.cancel()
        for number, handler in before.items():
            signal.signal(number, handler)
        for number, frame in caught:
            if callable(before[number]):
                before[number](number, frame)
            elif before[number] == signal.SIG_DFL:
                signal.raise_signal(number)  # which ends the process
