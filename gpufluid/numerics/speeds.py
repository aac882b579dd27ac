"""The largest speeds of a flow: they tell how long a substep may be, and how far anything can come in it."""

from __future__ import annotations

import numpy as np

from gpufluid.contract.backend import Backend, FieldStore, release
from gpufluid.contract.kernels import Variant


class Speeds:
    """The largest speeds of blocks of faces, m/s, found once for each velocity.

    groups: in a large box, those of groups of blocks: the device finds these sooner than all blocks are read
    back.
    """

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.blocks = backend.field("speed", "block", buffers=1, exact=True)
        self.groups: FieldStore | None = None
        if backend.grid.many:
            self.groups = backend.field("largest speed", "group", buffers=1, exact=True)
        self._measured = -1  # the version of the velocity that they were found of last
        self._most = -1, 0.0  # the version whose largest speed was read back last, and that

    def measure(self, variant: Variant, *, velocity: FieldStore) -> FieldStore:
        """Return them as they are now."""
        if self._measured != velocity.version:
            self.backend.kernel("max_speed", variant)(velocity=velocity, speed=self.blocks)
            if self.groups is not None:
                self.backend.kernel("largest_speed", variant)(speed=self.blocks, largest=self.groups)
            self._measured = velocity.version
        return self.groups or self.blocks

    def most(self, variant: Variant, *, velocity: FieldStore) -> float:
        """The largest of all: no less than the true one, and more by at most the change over four cells."""
        found = self.measure(variant, velocity=velocity)
        if self._most[0] != self._measured:
            values = found.read()
            whole = np.linalg.norm(values[..., :3], axis=-1) if self.groups is None else values[..., 3]
            self._most = self._measured, float(whole.max())
        return self._most[1]

    def release(self) -> None:
        """Release the fields."""
        release(self.blocks, self.groups)
