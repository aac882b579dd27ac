"""Types that many modules name alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Triple = tuple[float, float, float]
if TYPE_CHECKING:
    Vector = Sequence[float] | NDArray[Any]  # what users give: any three numbers in a row
else:
    Vector = Triple  # what scene files and panels read in its place
