"""What tests share so that there are fewer programs to compile, which is what a first run spends its time on.

A program knows the size of its box, and each stage has its own. That both stages do what NumPy does is shown
for each kernel in `test_kernels` and for whole steps in `test_fluid`: what is about a flow takes one of them
beside NumPy, files and tests by turns.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

CELLS = (10, 12, 8)  # of a box that might be any; they are 0.1 wide
DRAWN, COMPUTED = ("numpy", "fragment"), ("numpy", "compute")


def by_turns(cases: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Each case with NumPy and with one of the stages, the next with the other."""
    rows = [case if isinstance(case, tuple) else (case,) for case in cases]
    return [(*row, backend) for number, row in enumerate(rows) for backend in (DRAWN, COMPUTED)[number % 2]]
