"""What tests share so that there are fewer programs to compile, which is what a first run spends its time on.

A program knows the size of its box, and each stage has its own. That both stages do what NumPy does is shown
for each kernel in `test_kernels` and for whole steps in `test_fluid`: what is about a flow takes one of them
beside NumPy, files and tests by turns.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

CELLS = (10, 12, 8)  # of a box that might be any; they are 0.1 wide
# settings of air that stays at rest: what a cell holds comes from itself, which the shortest trace finds
REST: dict[str, Any] = {"buoyancy": 0.0, "advection": "semi-lagrangian", "trace": "euler"}
DRAWN, COMPUTED = ("numpy", "fragment"), ("numpy", "compute")
EVERYWHERE = ("numpy", "fragment", "compute")


def by_turns(cases: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Each case with NumPy and with one of the stages, the next with the other."""
    rows = [case if isinstance(case, tuple) else (case,) for case in cases]
    return [(*row, backend) for number, row in enumerate(rows) for backend in (DRAWN, COMPUTED)[number % 2]]


def in_pairs(
    one: Iterable[Any], other: Iterable[Any], third: Iterable[Any] = EVERYWHERE
) -> list[tuple[Any, Any, Any]]:
    """All pairs of the first two, each with one of the third, so that that meets each of both as well.

    A fault of one value, or of two together, is found so as in the full product, with a half or a third of
    its cases. Neither of the first two has fewer than the third.
    """
    one, other, third = list(one), list(other), list(third)
    assert min(len(one), len(other)) >= len(third)
    return [(a, b, third[(n + m) % len(third)]) for n, a in enumerate(one) for m, b in enumerate(other)]
