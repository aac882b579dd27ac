"""What the engine checks of itself when it is told to: OpenGL's messages, and the numbers of every pass.

``gf.debug("gl", "numbers")`` in a program, or the variable GPUFLUID_DEBUG=gl,numbers around one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gpufluid.common.errors import GpufluidError, one_of

CHECKS = ("gl", "numbers")
VARIABLE = "GPUFLUID_DEBUG"
COMPONENTS = {"velocity": "xyz", "scalars": ("density", "temperature", "fuel"), "color": ("r", "g", "b")}


class Switches:
    """Which checks are on; read where the work is done, so that each costs one look when it is off."""

    def __init__(self) -> None:
        self.gl = self.numbers = False

    def turn(self, checks: tuple[str, ...], what: str) -> None:
        """Have these on and the others off. Raises GpufluidError for one there is not."""
        for name in checks:
            one_of(name, CHECKS, what)
        self.gl, self.numbers = (name in checks for name in CHECKS)


switches = Switches()


def debug(*checks: str) -> None:
    """Make the engine check itself from now on, in every fluid and context; without arguments, stop that.

    "gl": a call in which OpenGL reports an error or a warning raises GpufluidError with the driver's words
    and the line that made it; about what was wrong before the call, by a host's doing, it warns
    (RuntimeWarning). "numbers": the first pass that makes NaN or Inf raises GpufluidError naming the kernel,
    the field, the cell, the substep and the time; a step takes many times as long, since every pass is read
    back.

    The variable GPUFLUID_DEBUG, with the same names separated by commas, turns them on from the start.
    checks: any of these names; raises GpufluidError for another.
    """
    switches.turn(checks, "gf.debug")


switches.turn(tuple(filter(None, os.environ.get(VARIABLE, "").replace(" ", "").split(","))), VARIABLE)


class NotFiniteError(GpufluidError):
    """A pass made NaN or Inf; seen with ``gf.debug("numbers")``."""


class _Named(Protocol):
    name: str


def _first(values: NDArray[Any]) -> tuple[Any, tuple[int, ...]] | None:
    """Return the first value [z, y, x, c] that is not finite, and its (x, y, z, c); None where all are."""
    wrong = ~np.isfinite(values)
    if not wrong.any():
        return None
    z, y, x, c = (int(i) for i in np.argwhere(wrong)[0])
    return values[z, y, x, c], (x, y, z, c)


def _place(field: _Named, place: tuple[int, ...]) -> str:
    *cell, channel = place
    names = COMPONENTS.get(field.name, ())
    part = f" ({names[channel]})" if channel < len(names) else f" (channel {channel})" if channel else ""
    return f"{field.name!r}{part} at {cell}"


def check_numbers(
    kernel: str,
    out: _Named,
    values: NDArray[Any],
    inputs: Callable[[], Mapping[str, tuple[_Named, NDArray[Any]]]],
) -> None:
    """Raise NotFiniteError where `values` [z, y, x, c], which a kernel wrote into `out`, are not all finite.

    kernel: its name and file, for the message. inputs: gives what it read, by name, fields and values.
    """
    found = _first(values)
    if found is None:
        return
    value, place = found
    said = f"{kernel} wrote {value} into {_place(out, place)} [x, y, z]"
    came = []
    for field, read in inputs().values():
        bad = _first(read)
        if bad is not None:
            came.append(f"{bad[0]} from {_place(field, bad[1])}")
    if came:
        raise NotFiniteError(
            f"{said}; it read {' and '.join(dict.fromkeys(came))}, which no pass has written"
        )
    raise NotFiniteError(f"{said}; all that it read is finite")
