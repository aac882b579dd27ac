"""What is asked of values that a caller gives: each raises GpufluidError naming the value and its limit."""

from __future__ import annotations

import math
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpufluid.common.errors import GpufluidError
from gpufluid.common.vectors import Counts, Number, Pair, Size, Vector

LUMINANCE = (0.2126, 0.7152, 0.0722)  # of linear red, green and blue (ITU-R BT.709)
LARGEST = 3.4e38  # what single precision holds
MAX_SIDE = 16384  # pixels, of H.264 and of most GL drivers


def finite_triple(value: Vector, name: str, parts: str = "(x, y, z)") -> tuple[float, float, float]:
    """Return `value` as three finite floats, or raise naming it and what its `parts` are called."""
    try:
        triple = tuple(finite_number(v, name) for v in value)
    except GpufluidError:
        raise GpufluidError(f"{name} must be three finite numbers {parts}, got {value!r}") from None
    except (TypeError, ValueError, OverflowError):
        raise GpufluidError(f"{name} must be three numbers {parts}, got {value!r}") from None
    if len(triple) != 3:
        raise GpufluidError(f"{name} must be three finite numbers {parts}, got {value!r}")
    return triple


def color_triple(value: Vector, name: str) -> tuple[float, float, float]:
    """Return `value` as (r, g, b), shares of light in 0 .. 1, or raise naming it."""
    triple = finite_triple(value, name, "(r, g, b)")
    if min(triple) < 0.0 or max(triple) > 1.0:
        raise GpufluidError(f"{name} must be (r, g, b), each in 0 .. 1, got {triple}")
    return triple


def radiance(value: Vector, name: str) -> tuple[float, float, float]:
    """Return `value` as (r, g, b), of light or of smoke, none of it negative, or raise naming it."""
    triple = finite_triple(value, name, "(r, g, b)")
    if min(triple) < 0.0:
        raise GpufluidError(f"{name} must not be negative, got {triple}")
    return triple


def whole_triple(value: Counts, name: str, most: int) -> tuple[int, int, int]:
    """Return `value` as three whole numbers in -`most` .. `most`, or raise naming it."""
    given: Any = value
    try:
        i, j, k = given
    except (TypeError, ValueError):
        i = j = k = math.nan
    for n in (i, j, k):
        if isinstance(n, bool) or not isinstance(n, Integral) or abs(int(n)) > most:
            raise GpufluidError(
                f"{name} must be three whole numbers (i, j, k) of at most {most:g} in size, got {value!r}"
            )
    return int(i), int(j), int(k)


def finite_number(
    value: Number, name: str, *, low: float = -math.inf, above: float = -math.inf, most: float = LARGEST
) -> float:
    """Return `value` as a finite float >= `low`, > `above` and in -`most` .. `most`, or raise naming it."""
    try:
        if isinstance(value, str | bytes | bool):
            raise TypeError
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise GpufluidError(f"{name} must be a number, got {value!r}") from None
    if not math.isfinite(number) or number < low or number <= above:
        bound = f" > {above:g}" if above > -math.inf else f" >= {low:g}" if low > -math.inf else ""
        raise GpufluidError(f"{name} must be a finite number{bound}, got {value!r}")
    if abs(number) > most:
        raise GpufluidError(f"{name} must be at most {most:g} in size, got {value!r}")
    return number


def real_numbers(values: ArrayLike) -> NDArray[Any]:
    """Return `values` as an array, of the type they have.

    Raises TypeError or ValueError for what is no real number: text and dates are none.
    """
    given = np.asarray(values)
    text = given.dtype.kind == "O" and any(isinstance(value, str | bytes) for value in given.flat)
    if text or given.dtype.kind not in "biufO":
        raise TypeError("no real numbers")
    return given


def real_array(values: ArrayLike) -> NDArray[np.float64]:
    """Return a copy of `values` in double precision, C order.

    Raises TypeError or ValueError for what is no real number, or a whole one that no double is as large as.
    """
    try:
        return np.array(real_numbers(values), np.float64, order="C")
    except OverflowError as error:
        raise ValueError(str(error)) from None


def locked(array: NDArray[Any]) -> NDArray[Any]:
    """`array` itself, which cannot be written to from now on."""
    array.flags.writeable = False
    return array


def held(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """True for each number that single precision holds: finite, and not too large."""
    return np.asarray(np.abs(values) <= LARGEST)


def finite_points(points: ArrayLike, name: str, least: Literal["one", "two"]) -> NDArray[np.float64]:
    """Return a locked copy of `points` as [n, 3] float64, `least` or more, or raise naming them."""
    try:
        array = real_array(points)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.ndim != 2 or array.shape[1] != 3 or len(array) < {"one": 1, "two": 2}[least]:
        raise GpufluidError(
            f"{name} must be {least} or more points (x, y, z), got the shape {list(array.shape)}"
        )
    bad = np.flatnonzero(~held(array).all(axis=1))
    if bad.size:
        raise GpufluidError(f"{name} must be finite, but point {bad[0]} is {array[bad[0]].tolist()}")
    return locked(array)


def whole_number(value: int, name: str, *, low: int | None = None, high: int | None = None) -> int:
    """Return `value` as a whole number >= `low`, or in `low` .. `high`, or raise naming it."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or (low is not None and value < low) or (high is not None and value > high):
        bound = "" if low is None else f" >= {low}" if high is None else f" in {low} .. {high}"
        raise GpufluidError(f"{name} must be a whole number{bound}, got {value!r}")
    return int(value)


def check_size(size: Size, limit: int = MAX_SIDE) -> tuple[int, int]:
    """Return `size` if a picture (width, height) can have it, or raise naming the limit."""
    try:
        width, height = (int(n) for n in size)
        whole = (width, height) == tuple(size)
    except (TypeError, ValueError, OverflowError):
        whole = False
    if not whole:
        raise GpufluidError(f"size must be two whole numbers (width, height), got {size!r}")
    for what, n in ("width", width), ("height", height):
        if not 1 <= n <= limit:
            raise GpufluidError(f"the {what} of a picture must lie in 1 .. {limit} pixels, got {n}")
    return width, height


def share(value: float, name: str) -> float:
    """Return `value` as a number in 0 .. 1, or raise naming it."""
    number = finite_number(value, name)
    if not 0.0 <= number <= 1.0:
        raise GpufluidError(f"{name} must lie in 0 .. 1, got {value!r}")
    return number


def low_and_high(value: Pair, name: str) -> tuple[float, float]:
    """Return `value` as two finite floats (low, high), low < high, or raise naming it.

    Who asks takes None as well, for the range of what is shown, and the message says so.
    """
    try:
        low, high = value
    except (TypeError, ValueError):
        raise GpufluidError(f"{name} must be two numbers (low, high) or None, got {value!r}") from None
    low, high = finite_number(low, f"{name} low"), finite_number(high, f"{name} high")
    if not low < high:
        raise GpufluidError(f"{name}: low must be less than high, got ({low:g}, {high:g})")
    return low, high


def flag(value: bool, name: str) -> bool:
    """Return `value` as a bool, or raise naming it: 1 and "no" are none."""
    if not isinstance(value, bool | np.bool_):
        raise GpufluidError(f"{name} must be True or False, got {value!r}")
    return bool(value)
