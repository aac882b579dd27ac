"""How much memory a fluid takes, known before any is asked for, and how much there is."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache
from pathlib import Path

from gpufluid.common.errors import GpufluidError

# Bytes a cell of a fluid after its first step with default settings, measured at 96^3 (NumPy: 64^3), by what
# keeps it. Multigrid, colours and solids come on top: a limit for what can never work.
CELL = {"half": 94, "single": 150, "numpy": 300}
GROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")  # of a container: "max", or bytes


@cache
def main_memory() -> int | None:
    """Bytes of memory that this machine has, or that a container lets its programs have; None: unknown."""
    found = []
    with suppress(AttributeError, OSError, ValueError):  # Windows has no sysconf
        found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    with suppress(OSError, ValueError):
        found.append(int(GROUP_LIMIT.read_text(encoding="ascii")))
    return min((n for n in found if n > 0), default=None)


def free_memory() -> int | None:
    """Bytes a program can take on Linux before it is killed for it; None where the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable")), None)


def check_memory(cells: int, kind: str, what: str) -> None:
    """Raise GpufluidError where `cells` cells of one `kind` of CELL cannot lie in main memory.

    what: of which size, for the message.
    """
    there, needed = main_memory(), cells * CELL[kind]
    if there is not None and needed > there:
        raise GpufluidError(
            f"{what} takes about {needed / 1e9:.3g} GB of memory, and this machine has {there / 1e9:.3g} GB"
        )
