"""What is asked of the fields of a description, told beside what they begin with.

``density: Real = number(0.0, low=0.0)`` is 0 where nothing is said, and must be >= 0. A field that must be
said has no default: ``velocity: Vector = field(metadata=VECTOR)``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import MISSING
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gpufluid.common import checks
from gpufluid.common.errors import GpufluidError, one_of

MATRIX = 16  # numbers of the largest of places and turns
Check = Callable[[Any, str], object]  # takes a value and its name; returns what it becomes, or raises


def rule(check: Check, *, names: Sequence[Any] = (), optional: bool = False) -> dict[str, Any]:
    """The metadata of a field held to `check`. A None is not checked where it is the default, or `optional`.

    names: what it may be, for those who offer a choice.
    """
    return {"check": check, "names": names, "optional": optional}


VECTOR = rule(checks.finite_triple)


def ruled(check: Check, default: Any, **more: Any) -> Any:
    """A field held to `check`; more: as for `rule`."""
    return dataclasses.field(default=default, metadata=rule(check, **more))


def number(default: float | None, *, optional: bool = False, **limits: Any) -> Any:
    """A number, with the limits of `finite_number`."""
    return ruled(partial(checks.finite_number, **limits), default, optional=optional)


def between(low: float, high: float, default: float, unit: str = "") -> Any:
    """A number in `low` .. `high`; unit: what messages have after these."""

    def check(value: Any, name: str) -> float:
        number = checks.finite_number(value, name)
        if not low <= number <= high:
            raise GpufluidError(f"{name} must lie in {low:g} .. {high:g}{unit}, got {value!r}")
        return number

    return ruled(check, default)


def share(default: float) -> Any:
    """A number in 0 .. 1."""
    return ruled(checks.share, default)


def whole(default: int | None, low: int | None = None, high: int | None = None) -> Any:
    """A whole number from `low` to `high`."""
    return ruled(partial(checks.whole_number, low=low, high=high), default)


def flag(default: bool) -> Any:
    """True or False."""
    return ruled(checks.flag, default)


def choice(default: Any, *names: Any) -> Any:
    """One of `names`."""

    def check(value: Any, name: str) -> Any:
        one_of(value, names, name)
        return value

    return ruled(check, default, names=names)


def vector(default: tuple[float, float, float] | None) -> Any:
    """Three numbers (x, y, z)."""
    return ruled(checks.finite_triple, default)


def color(default: tuple[float, float, float] | None) -> Any:
    """Three numbers (r, g, b), each in 0 .. 1."""
    return ruled(checks.color_triple, default)


def radiance(default: tuple[float, float, float] | None) -> Any:
    """Three numbers (r, g, b), none of them negative."""
    return ruled(checks.radiance, default)


@cache
def _rules(kind: type, described: type) -> list[tuple[str, str, Check, bool]]:
    """The name of each field of `described` with a rule, what messages call it, its check, if None passes."""
    return [
        (
            part.name,
            f"{kind.__name__}.{part.name}",
            part.metadata["check"],
            part.metadata["optional"] or part.default is None,
        )
        for part in dataclasses.fields(described)
        if "check" in part.metadata
    ]


def check_fields(thing: Any, described: type | None = None, but: Sequence[str] = ()) -> None:
    """Make each value of `thing` what its rule makes of it; raise GpufluidError naming the first bad one.

    described: the dataclass whose rules these are, all of whose fields a view need not have. but: the names
    of fields that are left alone.
    """
    kind: type = type(thing)
    for name, told, check, optional in _rules(kind, described or kind):
        value = getattr(thing, name, MISSING)
        if value is MISSING or name in but or (value is None and optional):
            continue
        object.__setattr__(thing, name, check(value, told))  # of a frozen one too


class Ruled:
    """The base of dataclasses that are held to their rules as they are made.

    Each number is kept as Python's own: NumPy's have their own arithmetic, -np.uint8(1) is 255.
    """

    def __post_init__(self) -> None:
        check_fields(self)


class Checked:
    """The base of dataclasses that are checked as they are made, and again before they are used.

    A place or a turn that is given as an array is its own from then on: a program that goes on to write into
    that array moves nothing by it, nor does ``thing.position += step`` change the program's.
    """

    if not TYPE_CHECKING:  # which would let any name pass

        def __setattr__(self, name: str, value: object) -> None:
            if isinstance(value, np.ndarray) and value.size <= MATRIX:
                value = value.copy()
            object.__setattr__(self, name, value)

    def __post_init__(self) -> None:
        self.check()

    def check(self) -> None:
        """Raise GpufluidError naming the first field that cannot be what it is."""
        check_fields(self)
