"""The end of a process on a busy machine."""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import struct
import sys
from pathlib import Path

# what Linux knows sched_setattr by: of C libraries only new ones have a name for it
SCHED_SETATTR = {"x86_64": 314, "aarch64": 274}
SLICE = 100_000  # nanoseconds, the least there is


def hurry() -> None:
    """Let no thread of the least priority hold up the end of the process, on Linux.

    Mesa keeps shaders by such threads, and a process ends when its last thread does: beside other programs at
    work they were seen to take 3 s. They get the main one's priority, and where the process may not raise it
    a short slice of time: of who has waited alike, Linux lets run who asks for the least (since 6.12).
    """
    if sys.platform != "linux":
        return
    own = os.getpriority(os.PRIO_PROCESS, os.getpid())
    for thread in (int(path.name) for path in Path("/proc/self/task").iterdir()):
        with contextlib.suppress(OSError):  # it has ended
            os.sched_setscheduler(thread, os.SCHED_OTHER, os.sched_param(0))
            _shorten(thread)
            os.setpriority(os.PRIO_PROCESS, thread, own)


def _shorten(thread: int) -> None:
    """Have a thread ask for the least time at once, where that can be asked for."""
    call = SCHED_SETATTR.get(platform.machine())
    if call is not None:
        nice = os.getpriority(os.PRIO_PROCESS, thread)
        # size, policy, flags, nice, priority, runtime in nanoseconds, deadline, period: sched_setattr(2)
        attributes = struct.pack("=IIQiIQQQ", 48, os.SCHED_OTHER, 0, nice, 0, SLICE, 0, 0)
        ctypes.CDLL(None).syscall(call, thread, attributes, 0)
