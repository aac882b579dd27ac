"""What cells hold, in half floats as in files: half the bytes to read back, and nothing to convert."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from gpufluid.contract.arguments import Cells
from gpufluid.contract.backend import Backend, FieldStore, release
from gpufluid.contract.kernels import Variant
from gpufluid.numerics.still import State

Halves = NDArray[np.float16]
CHANNELS = ("density", "temperature", "fuel", "solid")  # of the scalars, as they are saved
HALVED = ("density", "temperature", "fuel", "color", "velocity", "solid")  # the fields that can be


class Saved:
    """Copies fields into half floats at the cell centres and reads them back."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self._field: FieldStore | None = None

    def take(self, names: Sequence[str], state: State) -> Callable[[], dict[str, Halves]]:
        """Copy what `names`, of `HALVED`, say of `state`; return a function that gives it, in any thread.

        What one pass saves is copied once. The arrays, [nz, ny, nx(, 3)], may share memory.
        """
        copies: dict[str, Callable[[], Halves]] = {}
        if "velocity" in names:
            copies["velocity"] = self.velocity(state.velocity)
        if "color" in names and state.color is not None:
            copies["color"] = self.scalars(state.color, None)
        if not set(CHANNELS).isdisjoint(names):
            copies["scalars"] = self.scalars(state.scalars, state.solids.solid)
        shape = self.backend.grid.cells[::-1]

        def unpack() -> dict[str, Halves]:
            stored = {name: copy() for name, copy in copies.items()}
            values = {name: array[..., :3] for name, array in stored.items()}
            if "scalars" in stored:
                values |= {name: stored["scalars"][..., n] for n, name in enumerate(CHANNELS)}
            if "color" in names and "color" not in values:
                values["color"] = np.broadcast_to(np.float16(0.0), (*shape, 3))
            return {name: values[name] for name in names}

        return unpack

    def velocity(self, velocity: FieldStore) -> Callable[[], Halves]:
        """Take the mean of opposite faces, m/s, and 0: [nz, ny, nx, 4], given in any thread."""
        saved = self._saved()
        self.backend.kernel("save_velocity", Variant())(saved=saved, velocity=velocity)
        return saved.take(np.float16)

    def scalars(self, scalars: FieldStore, solid: FieldStore | None) -> Callable[[], Halves]:
        """Take three channels of `scalars`, and 1 in solids: [nz, ny, nx, 4], given in any thread."""
        saved = self._saved()
        cells: Cells = {} if solid is None else {"solid": solid}
        self.backend.kernel("save_scalars", Variant(bool(cells)))(saved=saved, scalars=scalars, **cells)
        return saved.take(np.float16)

    def _saved(self) -> FieldStore:
        if self._field is None:
            self._field = self.backend.field("saved", "tall", buffers=1, short=True)
        return self._field

    def release(self) -> None:
        """Release the field; idempotent."""
        release(self._field)
        self._field = None
