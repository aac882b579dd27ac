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
    Size = Sequence[int] | NDArray[Any]  # (width, height)

    class Real:
        """A field that is given as any number and read as a float."""

        def __get__(self, owner: Any, kind: Any) -> float: ...
        def __set__(self, owner: Any, value: Number) -> None: ...

    class RealOrNone:
        """A field that is given as any number or None, and read as a float or None."""

        def __get__(self, owner: Any, kind: Any) -> float | None: ...
        def __set__(self, owner: Any, value: Number | None) -> None: ...

    class Pixels:
        """A field that is given as any two whole numbers and read as (width, height)."""

        def __get__(self, owner: Any, kind: Any) -> tuple[int, int]: ...
        def __set__(self, owner: Any, size: Size) -> None: ...

    class Listed(Generic[Thing]):
        """A field that is given as any sequence and read as a list, which may be added to."""

        def __get__(self, owner: Any, kind: Any) -> list[Thing]: ...
        def __set__(self, owner: Any, things: Sequence[Thing]) -> None: ...

else:  # what scene files and panels read in their place
    Number = Real = float
    RealOrNone = float | None
    Vector, Pair = Triple, tuple[float, float]
    Size = Pixels = tuple[int, int]
    Counts, Vectors, Listed = tuple[int, int, int], tuple[Triple, ...], list
