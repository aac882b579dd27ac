"""What random scenes are drawn by, and which of them a property is held to."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

FIRST = int(os.environ.get("FUZZ_SEED") or 1000)  # make gives the time, unless it is told
MANY = int(os.environ.get("FUZZ_SCENES") or 25)


def seeds(*few: int) -> Any:
    """The seeds of a property: a few for the suite, and those of ``make fuzz``."""
    drawn = [pytest.param(FIRST + n, marks=pytest.mark.fuzz, id=f"fuzz-{FIRST + n}") for n in range(MANY)]
    return pytest.mark.parametrize("seed", [*few, *drawn])


class Dice:
    """The draws of a seed."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def one(self, *of: Any) -> Any:
        return of[int(self.rng.integers(len(of)))]

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def near(self, low: float, high: float) -> float:
        """A number between both, in 256ths."""
        return round(256 * float(self.rng.uniform(low, high))) / 256
