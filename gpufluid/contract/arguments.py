"""What kernels take of solids and of burning gas, under the names that `gpufluid.contract.kernels` declares.

A kernel is handed all of one, as in ``run("constrain", variant)(velocity=u, **faces)``. Where there are no
solids they are empty, and the variant reads none.
"""

from __future__ import annotations

from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from gpufluid.contract.backend import FieldStore


class Faces(TypedDict, total=False):
    """Which faces solids close, and how fast these move."""

    solid_faces: FieldStore


class Cells(TypedDict, total=False):
    """Which cells are solid."""

    solid: FieldStore


class FacesAndCells(Faces, Cells, total=False):
    """Both, for what is traced along faces and must not pass through cells."""


class Openings(TypedDict, total=False):
    """Which faces of a cell have fluid beyond them."""

    openings: FieldStore


class Heat(TypedDict, total=False):
    """How warm solids are; empty where none has a temperature."""

    marks: FieldStore


class Swelling(TypedDict, total=False):
    """What burns, and by how much it expands; empty where nothing does."""

    flame: FieldStore
    expansion: float


class Image(TypedDict):
    """Which cells lie inside an obstacle, or inside one image of it in a periodic box."""

    winding: FieldStore
    shape: int
    to_local: NDArray[np.float64]
    extent: tuple[float, ...]
    rounding: float
