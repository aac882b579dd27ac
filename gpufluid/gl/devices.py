"""The GPUs of this machine, as EGL counts them: which one a context without a window is made on (Linux)."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from gpufluid.common.errors import GpufluidError

VARIABLE = "GPUFLUID_DEVICE"
MODERNGLS = "GLCONTEXT_DEVICE_INDEX"  # its own variable, which goes before what it is given
EGL = "libEGL.so.1"


def device_count() -> int:
    """Return how many devices EGL knows here: GPUs, mostly a renderer in software too; 1 if it tells none."""
    if not sys.platform.startswith("linux"):
        return 1
    try:
        egl = ctypes.CDLL(EGL)
    except OSError:
        return 1
    egl.eglGetProcAddress.restype = ctypes.c_void_p
    address = egl.eglGetProcAddress(b"eglQueryDevicesEXT")
    count = ctypes.c_int(0)
    if address:
        kind = ctypes.CFUNCTYPE(ctypes.c_uint, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
        kind(address)(0, None, ctypes.addressof(count))
    return max(count.value, 1)


def device_asked() -> int | None:
    """Return the number of the device that GPUFLUID_DEVICE names, or else moderngl's own variable, or None.

    Raises GpufluidError where that is none of them.
    """
    linux = sys.platform.startswith("linux")
    for variable in (VARIABLE, MODERNGLS)[: 1 + linux]:
        asked = os.environ.get(variable, "").strip()
        if asked:
            break
    else:
        return None
    if not linux:
        raise GpufluidError(f"{variable} chooses a GPU on Linux alone; elsewhere the system does")
    count = device_count()
    if not (asked.isascii() and asked.isdigit() and int(asked) < count):
        known = f"a number from 0 to {count - 1} (`gpufluid info` lists them)" if count > 1 else "0 here"
        raise GpufluidError(f"{variable} must be {known}, got {asked!r}")
    return int(asked)


@contextmanager
def device_given() -> Iterator[None]:
    """Let moderngl take the device that it is given inside, whatever its variable says."""
    kept = os.environ.pop(MODERNGLS, None)
    try:
        yield
    finally:
        if kept is not None:
            os.environ[MODERNGLS] = kept
