"""Types that many modules name alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Triple = tuple[float, float, float]
Thing = TypeVar("Thing")
if TYPE_CHECKING:  # what users give, who may keep everything in arrays
    Number = float | np.floating[Any] | np.integer[Any]
    Vector = Sequence[float] | NDArray[Any]  # any three numbers in a row
    Pair = Sequence[float] | NDArray[Any]
    Counts = Sequence[int] | NDArray[Any]
    Vectors = Sequence[Vector] | NDArray[Any]

    class Listed(Generic[Thing]):
        """A field that is given as any sequence and read as a list, which may be added to."""

        def __get__(self, owner: Any, kind: Any) -> list[Thing]: ...
        def __set__(self, owner: Any, things: Sequence[Thing]) -> None: ...

else:  # what scene files and panels read in their place
    Number, Vector, Pair = float, Triple, tuple[float, float]
    Counts, Vectors, Listed = tuple[int, int, int], tuple[Triple, ...], list
