"""What a backend gives the solver: fields, kernels, voxels. The contract both backends keep."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gpufluid.boundaries import Boundaries
from gpufluid.grid import Grid
from gpufluid.kernels import Variant
from gpufluid.shapes import Mesh


class Later(Protocol):
    """A copy on its way."""

    @property
    def ready(self) -> bool:
        """True once `read` does not wait."""

    def read(self) -> NDArray[Any]:
        """Return the copied values; waits where they are not there yet."""

    def release(self) -> None:
        """Forget them; idempotent."""


class FieldStore(Protocol):
    """A volume [z, y, x, c] with a front that is read and a back that is written.

    where: set by a stage while it writes only there, and leaves at rest what is at rest elsewhere.
    version: another one for other values in front.
    """

    name: str
    version: int
    where: Any

    @property
    def mark(self) -> Any:
        """What tells `where` the front was written, see `Strips.covers`."""

    def read(self) -> NDArray[np.float32]:
        """Return the front as float32 [z, y, x, c]."""

    def take(self) -> Callable[[], NDArray[np.float32]]:
        """Copy the front as it is now. What is returned gives it as `read` does, in any thread."""

    def write(self, volume: NDArray[Any]) -> None:
        """Set the front from [z, y, x, c]."""

    def later(self) -> Later:
        """Ask for a copy of the front as it is now, without waiting; rows of a texture of one slice."""

    def dump(self) -> NDArray[Any]:
        """Return the front [z, y, x, c] in the precision it is kept in."""

    def restore(self, volume: NDArray[Any]) -> None:
        """Set the front from what `dump` returned: to the last bit where the precision is the same."""

    def fill(self, values: Sequence[float]) -> None:
        """Set every value: one number for all channels, or one for each."""

    def release(self) -> None:
        """Release what the field holds."""


class Strips(Protocol):
    """Where the fields of cells may hold anything but 0; elsewhere passes leave them as they are."""

    always: bool

    def wanted(self) -> bool:
        """Whether to leave anything out in the step that begins."""

    def forget(self) -> None:
        """No field is known any more."""

    def covers(self, mark: Any) -> bool:
        """Whether what a field's `mark` tells of is known still."""

    def add(self, boxes: Sequence[tuple[Sequence[float], Sequence[float]]]) -> None:
        """A stage that brings something into `boxes` alone: low and high corners, cells."""

    def carry(
        self, scalars: Any, colors: Any, speed: Any, boundaries: Boundaries, reach: float, times: int
    ) -> None:
        """A stage that carries what is there `times` as far as `speed`, at `reach` cells per m/s."""

    def release(self) -> None:
        """Forget everything."""


class KernelCall(Protocol):
    """A kernel ready to run: every field and parameter is given by name."""

    def __call__(self, **arguments: Any) -> None:
        """Run over every value of the field written, then make that its front."""


class Backend(Protocol):
    """Where the step runs."""

    name: str
    grid: Grid
    epsilon: float  # of its numbers: the step from 1 to the next

    def field(
        self, name: str, kind: str, components: int = 4, *, buffers: int = 2, exact: bool = False
    ) -> FieldStore:
        """Create a field of zeros; `exact` keeps single precision whatever the setting."""

    def kernel(self, name: str, variant: Variant) -> KernelCall:
        """Return the kernel, compiled once for each variant."""

    def coarser(self) -> Backend:
        """The same backend on a grid of half the cells, in single precision; made once, released with this.

        Its fields' kinds are this one's with "coarse_" before them here, and this one's "fine_" there, so
        that a kernel can read from both.
        """

    def single(self) -> Backend:
        """The same backend on the same grid in single precision; this one where it is that already."""

    def strips(self) -> Strips | None:
        """Where in the box there is anything, for stages that leave the rest out; None where none is left."""

    def voxelize(self, mesh: Mesh, matrix: NDArray[np.float64], winding: FieldStore) -> None:
        """Count surfaces: |winding| > 1/2 in cells whose centre is inside `mesh`.

        matrix: 4x4, the mesh's space to metres from the low corner of the box.
        """

    def at_work(self, what: str) -> AbstractContextManager[None]:
        """While it is open, what is called reaches what this backend holds, and no host's GL state is lost.

        what: the call of the user's, for error messages. Raises GpufluidError where the GL context of the
        caller's is not current.
        """

    def finish(self) -> None:
        """Wait until everything asked for is done."""

    def release(self) -> None:
        """Release what the backend itself holds."""
