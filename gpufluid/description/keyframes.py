"""Values that change with time: keyframes, and formulas of the time. Descriptions only."""

from __future__ import annotations

import ast
import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from gpufluid.common.checks import finite_number
from gpufluid.common.errors import GpufluidError, counted, one_of

EASES = ("linear", "smooth", "spline", "step")
LONGEST = 500  # characters of a formula
DEEPEST = 30  # nested terms of a formula

Value = float | tuple[float, ...]


class Keys:
    """A value by keyframes: times, s, rising, and a number or several of them for each.

    ease: between two keys "linear", "smooth" (starts and ends without speed), "spline" (goes through the keys
    with the speed it has there, and never beyond the values of two neighbours) or "step" (holds the earlier).
    repeat: begins again after the last key. Before the first key and after the last their values hold.

    Raises GpufluidError naming the first key that is wrong.
    """

    def __init__(self, keys: Sequence[Sequence[Any]], ease: str = "linear", repeat: bool = False) -> None:
        one_of(ease, EASES, "ease")
        if not keys:
            raise GpufluidError("keys must hold at least one [time, value]")
        self.ease, self.repeat = ease, repeat
        self.times: list[float] = []
        self.values: list[tuple[float, ...]] = []
        self.single = True
        for number, key in enumerate(keys):
            if isinstance(key, str) or not isinstance(key, Sequence) or len(key) != 2:
                raise GpufluidError(f"keys[{number}] must be [time, value], got {key!r}")
            time = finite_number(key[0], f"the time of keys[{number}]")
            if self.times and time <= self.times[-1]:
                raise GpufluidError(f"keys must rise in time, but keys[{number}] is at {time:g} s")
            several = isinstance(key[1], Sequence) and not isinstance(key[1], str)
            values = key[1] if several else [key[1]]
            numbers = (int(v) if isinstance(v, bool) else v for v in values)  # true and false are 1 and 0
            value = tuple(finite_number(v, f"the value of keys[{number}]") for v in numbers)
            if self.values and len(value) != len(self.values[0]):
                raise GpufluidError(
                    f"keys must hold values alike, but keys[{number}] holds "
                    f"{counted(len(value), 'number')} and the first {len(self.values[0])}"
                )
            self.single = not several
            self.times.append(time)
            self.values.append(value)
        if repeat and len(self.times) < 2:
            raise GpufluidError("keys that repeat must be two or more")
        self._speeds = self._speeds_at_keys() if ease == "spline" and len(self.times) > 1 else []

    def at(self, time: float) -> Value:
        """The value at `time` seconds."""
        times, values = self.times, self.values
        if self.repeat:
            time = times[0] + (time - times[0]) % (times[-1] - times[0])
        after = next((i for i, t in enumerate(times) if t > time), len(times))
        if after == 0 or after == len(times):
            value = values[0 if after == 0 else -1]
        else:
            length = times[after] - times[after - 1]
            share = (time - times[after - 1]) / length
            smooth = share * share * (3.0 - 2.0 * share)
            part = {"linear": share, "smooth": smooth, "spline": smooth, "step": 0.0}[self.ease]
            value = tuple(a + (b - a) * part for a, b in zip(values[after - 1], values[after], strict=True))
            if self._speeds:  # the rest of Hermite's cubic
                begins, ends = share * (1.0 - share) ** 2 * length, share**2 * (share - 1.0) * length
                speeds = zip(value, self._speeds[after - 1], self._speeds[after], strict=True)
                value = tuple(v + begins * a + ends * b for v, a, b in speeds)
        return value[0] if self.single else value

    def _speeds_at_keys(self) -> list[tuple[float, ...]]:
        """What each number of the value changes by in a second, at each key: Fritsch & Butland (1984)."""
        steps = [b - a for a, b in zip(self.times, self.times[1:], strict=False)]
        tracks = []
        for values in zip(*self.values, strict=True):
            slopes = [(b - a) / h for a, b, h in zip(values, values[1:], steps, strict=False)]
            inner = [_speed(*some) for some in zip(slopes, slopes[1:], steps, steps[1:], strict=False)]
            first, last = slopes[0], slopes[-1]
            if self.repeat and values[0] == values[-1]:
                first = last = _speed(slopes[-1], slopes[0], steps[-1], steps[0])
            tracks.append([first, *inner, last])
        return list(zip(*tracks, strict=True))


def _speed(before: float, after: float, length: float, next_length: float) -> float:
    """The slope at a key between lines of two slopes and lengths (s): their weighted harmonic mean.

    0 where the slopes differ in sign. Hermite's cubics with such slopes stay between the values at their ends
    (Fritsch & Butland 1984).
    """
    if not 0.0 < before * after < math.inf:
        return 0.0
    one, other = 2.0 * next_length + length, next_length + 2.0 * length
    return (one + other) / (one / before + other / after)


def _noise(x: float, seed: int) -> float:
    """Smooth noise of x, -1 .. 1: cubic between random values at whole numbers."""
    low = math.floor(x)
    share = x - low

    def value(n: int) -> float:
        bits = ((n & 0xFFFFFFFF) * 747796405 + seed * 277803737 + 2891336453) & 0xFFFFFFFF
        word = (((bits >> ((bits >> 28) + 4)) ^ bits) * 277803737) & 0xFFFFFFFF  # PCG (O'Neill 2014)
        return ((word >> 22) ^ word) / 0x7FFFFFFF - 1.0

    return value(low) + (value(low + 1) - value(low)) * share * share * (3.0 - 2.0 * share)


FUNCTIONS: dict[str, Callable[..., float]] = {
    **{name: getattr(math, name) for name in ("sin", "cos", "tan", "exp", "sqrt", "floor", "ceil", "atan2")},
    "abs": abs,
    "min": min,
    "max": max,
    "clamp": lambda x, low, high: min(max(x, low), high),
    "mix": lambda a, b, share: a + (b - a) * share,
    "step": lambda edge, x: float(x >= edge),
    "smoothstep": lambda a, b, x: (s := min(max((x - a) / (b - a), 0.0), 1.0)) * s * (3.0 - 2.0 * s),
}
CONSTANTS = {"pi": math.pi, "tau": math.tau}
OPERATORS: dict[type, Callable[[float, float], float]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.Mod: lambda a, b: a % b,
    ast.Pow: math.pow,
}
SIGNS: dict[type, Callable[[float], float]] = {ast.USub: lambda a: -a, ast.UAdd: lambda a: a}


class Formula:
    """A value by a formula of the time: text, or one text for each of several numbers.

    It may use `t` (seconds), numbers, + - * / % **, pi, tau, sin, cos, tan, atan2, exp, sqrt, abs, floor,
    ceil, min, max, clamp(x, low, high), mix(a, b, share), step(edge, x), smoothstep(a, b, x) and noise(x), a
    smooth random number in -1 .. 1 that `seed` decides. Nothing else is ever run.

    Raises GpufluidError naming the part that is none of these, or the time at which it has no finite value.
    """

    def __init__(self, text: str | Sequence[str], seed: int = 0) -> None:
        self.seed, self.single = seed, isinstance(text, str)
        texts = [text] if isinstance(text, str) else list(text)
        self.texts = [t if isinstance(t, str) else repr(t) for t in texts]
        self._terms = [_parsed(t) for t in self.texts]

    def at(self, time: float) -> Value:
        """The value at `time` seconds."""
        values = []
        for text, term in zip(self.texts, self._terms, strict=True):
            try:
                value = float(self._value(term, time))
            except (ArithmeticError, ValueError, TypeError):
                value = math.nan
            if not math.isfinite(value):
                raise GpufluidError(f"the formula {text!r} has no finite value at t = {time:g} s")
            values.append(value)
        return values[0] if self.single else tuple(values)

    def _value(self, term: ast.expr, time: float) -> float:
        if isinstance(term, ast.Constant):
            return float(term.value)  # type: ignore[arg-type]  # _check let only numbers pass
        if isinstance(term, ast.Name):
            return time if term.id == "t" else CONSTANTS[term.id]
        if isinstance(term, ast.UnaryOp):
            return SIGNS[type(term.op)](self._value(term.operand, time))
        if isinstance(term, ast.BinOp):
            return OPERATORS[type(term.op)](self._value(term.left, time), self._value(term.right, time))
        assert isinstance(term, ast.Call) and isinstance(term.func, ast.Name)
        values = [self._value(argument, time) for argument in term.args]
        if term.func.id == "noise":
            return _noise(values[0], self.seed)
        return FUNCTIONS[term.func.id](*values)


def _parsed(text: str) -> ast.expr:
    """The formula `text` as a tree of nothing but what a formula may use."""
    if len(text) > LONGEST:
        raise GpufluidError(f"a formula may have {LONGEST} characters, this one has {len(text)}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", SyntaxWarning)  # of "2if", which nobody means
            warnings.simplefilter("error", DeprecationWarning)  # the same in Python 3.10
            term = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise GpufluidError(f"the formula {text!r} cannot be read") from None
    _check(term, text, 0)
    return term


def _check(term: ast.expr, text: str, depth: int) -> None:
    """Raise GpufluidError where `term` is more than a formula may use."""
    parts: Sequence[ast.expr] = ()
    if isinstance(term, ast.Constant):
        good = isinstance(term.value, int | float) and not isinstance(term.value, bool)
    elif isinstance(term, ast.Name):
        one_of(term.id, ("t", *CONSTANTS), f"the formula {text!r}: a name")
        good = True
    elif isinstance(term, ast.UnaryOp):
        good, parts = type(term.op) in SIGNS, [term.operand]
    elif isinstance(term, ast.BinOp):
        good, parts = type(term.op) in OPERATORS, [term.left, term.right]
    else:
        good = isinstance(term, ast.Call) and isinstance(term.func, ast.Name) and not term.keywords
        if good:
            assert isinstance(term, ast.Call) and isinstance(term.func, ast.Name)
            one_of(term.func.id, (*FUNCTIONS, "noise"), f"the formula {text!r}: a function")
            good, parts = len(term.args) > 0, term.args
    if not good or depth > DEEPEST:
        raise GpufluidError(f"the formula {text!r} uses what no formula may: {ast.unparse(term)[:40]}")
    for part in parts:
        _check(part, text, depth + 1)


Track = Keys | Formula
