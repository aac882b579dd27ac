"""What cells hold, in half floats as in files: half the bytes to read back, and nothing to convert."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from gpufluid.backend import Backend, FieldStore
from gpufluid.kernels import Variant

Halves = NDArray[np.float16]


class Saved:
    """Copies fields into half floats at the cell centres and reads them back."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self._field: FieldStore | None = None

    def velocity(self, velocity: FieldStore) -> Callable[[], Halves]:
        """Take the mean of opposite faces, m/s, and 0: [nz, ny, nx, 4], given in any thread."""
        saved = self._saved()
        self.backend.kernel("save_velocity", Variant())(saved=saved, velocity=velocity)
        return saved.take(np.float16)

    def scalars(self, scalars: FieldStore, solid: FieldStore | None) -> Callable[[], Halves]:
        """Take three channels of `scalars`, and 1 in solids: [nz, ny, nx, 4], given in any thread."""
        saved, solids = self._saved(), {} if solid is None else {"solid": solid}
        self.backend.kernel("save_scalars", Variant(bool(solids)))(saved=saved, scalars=scalars, **solids)
        return saved.take(np.float16)

    def _saved(self) -> FieldStore:
        if self._field is None:
            self._field = self.backend.field("saved", "tall", buffers=1, short=True)
        return self._field

    def release(self) -> None:
        """Release the field; idempotent."""
        if self._field is not None:
            self._field.release()
            self._field = None
