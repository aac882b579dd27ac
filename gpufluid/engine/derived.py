"""What follows from the state of a fluid and is kept nowhere: it is worked out when it is read."""

from __future__ import annotations

import numpy as np

from gpufluid.contract.backend import FieldStore, release
from gpufluid.engine.fields import FloatArray, first_channel
from gpufluid.engine.stepper import Stepper


class Derived:
    """Works out the fields of a fluid that can only be read, float32 [nz, ny, nx(, 3)]."""

    def __init__(self, stepper: Stepper) -> None:
        self._stepper, self._backend = stepper, stepper.backend
        self._shape = stepper.backend.grid.cells[::-1]
        self._curl: FieldStore | None = None  # from the first time the vorticity is read on

    def divergence(self) -> FloatArray:
        """The divergence of the velocity, 1/s."""
        return first_channel(self._stepper.seen().divergence(), self._shape)

    def vorticity(self) -> FloatArray:
        """The curl of the velocity, 1/s, [nz, ny, nx, 3], as confinement sees it; in 2D only z is not 0.

        Each derivative is the mean of those on the four edges round the centre, without the layers of walls:
        central differences, of second order, and one-sided beside a side of the box.
        """
        if self._curl is None:  # not the one of a step, which may be under way
            self._curl = self._backend.field("vorticity", "cell", buffers=1)
        state = self._stepper.state
        self._backend.kernel("vorticity", state.variant)(velocity=state.velocity, vorticity=self._curl)
        return np.ascontiguousarray(self._curl.read()[..., :3])

    def flame(self) -> FloatArray:
        """What burnt per second in the last substep, 1/s; 0 without combustion."""
        return first_channel(self._stepper.state.flame, self._shape)

    def solid(self) -> FloatArray:
        """1 in the solids where the obstacles are now."""
        return first_channel(self._stepper.seen().solids.solid, self._shape)

    def solid_normals(self) -> FloatArray:
        """Out of the solids into the fluid, unit length, [nz, ny, nx, 3]; 0 away from their surface."""
        store = self._stepper.seen().solids.normals()
        if store is None:
            return np.zeros((*self._shape, 3), np.float32)
        return np.ascontiguousarray(store.read()[..., :3])

    def release(self) -> None:
        """Release what the curl is worked out in."""
        release(self._curl)
        self._curl = None
