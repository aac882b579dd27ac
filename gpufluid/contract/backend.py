"""What a backend gives the solver: fields, kernels, voxels. The contract both backends keep."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from gpufluid.contract.kernels import Variant
from gpufluid.description.boundaries import Boundaries
from gpufluid.description.grid import CellBox, Grid
from gpufluid.description.mesh import Mesh


class Releasable(Protocol):
    """What holds something that must be given back."""

    def release(self) -> object:
        """Give it back."""


class Later(Protocol):
    """A copy on its way."""

    @property
    def ready(self) -> bool:
        """True once `read` does not wait."""

    def wait(self, seconds: float) -> bool:
        """Wait until `read` does not, but no longer than `seconds`; return whether it is `ready`."""

    def read(self) -> NDArray[Any]:
        """Return the copied values; waits where they are not there yet."""

    def release(self) -> None:
        """Forget them; idempotent."""


R = TypeVar("R", bound=Releasable)


@contextmanager
def released(thing: R) -> Iterator[R]:
    """`thing`, which is released when the block ends."""
    try:
        yield thing
    finally:
        thing.release()


def release(*things: Any) -> None:
    """Release those of `things` that there are; None is nothing to release."""
    for thing in things:
        if thing is not None:
            thing.release()


class FieldStore(Protocol):
    """A volume [z, y, x, c] with a front that is read and a back that is written.

    where: set by a stage while it writes only there, and leaves at rest what is at rest elsewhere.
    version: a number that changes with the values in front.
    """

    name: str
    version: int
    where: Any

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Of what `dump` returns: [z, y, x, c]."""

    @property
    def parts(self) -> Sequence[FieldStore]:
        """For each of its parts a field to read that from; itself where it is one."""

    @property
    def mark(self) -> Any:
        """What tells `where` the front was written, see `Strips.covers`."""

    def read(self) -> NDArray[np.float32]:
        """Return the front as float32 [z, y, x, c]."""

    def take(self, dtype: type[Any] = np.float32) -> Callable[[], NDArray[Any]]:
        """Copy the front of now. What is returned gives it as `read` does, as `dtype`, in any thread."""

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

    def held(self, still: Any = None) -> Any:
        """Return a field, to be read only, that shows the front as it is now, whatever is written here later.

        still: what an earlier call returned, which then shows this front in place of that one.
        """

    def take_back(self, still: Any) -> None:
        """Make what `still`, from `held`, shows the front again."""

    def release(self) -> None:
        """Release what the field holds."""


class Strips(Protocol):
    """Where the fields of cells may hold anything but 0; elsewhere passes leave them as they are.

    always: leave out what is empty even where that does not pay; False but for tests.
    """

    always: bool

    def wanted(self) -> bool:
        """Whether to leave anything out in the step that begins."""

    def forget(self, changed: Sequence[CellBox] = ()) -> None:
        """No field is known any more. changed: where solids have come or gone since the latest stage."""

    def covers(self, mark: Any) -> bool:
        """Whether what a field's `mark` tells of is known still."""

    def add(self, sources: Sequence[CellBox], changed: Sequence[CellBox]) -> None:
        """Let the latest stage bring something into the boxes `sources` too, and write `changed` anew."""

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

    def within(self, boxes: Sequence[CellBox] | None, /, **arguments: Any) -> None:
        """The same, of a local kernel that changes nothing outside `boxes`; None: it may anywhere."""

    def repeat(self, times: int, **arguments: Any) -> None:
        """Call it as often, each time on what the call before has left; faster than as many calls."""

    def bound(self, **arguments: Any) -> Callable[[], None]:
        """The same call, to be made again and again: what it is given is looked at once, here."""


class Pacer(Protocol):
    """Who has a step run a few passes at a time: it may let the caller do something else in between."""

    def before(self, work: Hashable, rows: int = 1, least: int = 1) -> int:
        """The pass `work` comes next, or the last `rows` of it; return how many of these to run now.

        As long as some are left it is asked again. It may return only in a later call of the caller's.
        least: a part has some multiple of so many rows.
        """

    def wait(self, late: Later) -> None:
        """Return once `late` is ready."""


@dataclass
class Pace:
    """Whom the backends of one device ask before each pass; None: nobody, all runs at once."""

    pacer: Pacer | None = None


class Stopwatch(Protocol):
    """Learns what passes cost, seconds a row."""

    def start(self, at: float, budget: float) -> None:
        """A call of `budget` seconds has begun, `at` seconds of `time.perf_counter`."""

    def lap(self, work: Hashable | None, rows: int = 1) -> None:
        """`rows` of `work` have been asked for since the last lap; None: nothing to learn of."""

    def foreseen(self, work: Hashable) -> float | None:
        """What a row of `work` will cost, going by what it did; None where that is not known."""

    def left(self) -> float:
        """Seconds of the call's budget that are left by the clock."""

    def room(self) -> float:
        """Seconds of work, as foreseen, that may be asked for at a time.

        So much that the call exceeds its budget by more than `gpufluid.contract.stopwatch.SLACK` only where
        passes take longer than they do in all but rare cases.
        """

    @property
    def portion(self) -> float:
        """Seconds to ask for at a time, where a pass can be divided so far."""

    def release(self) -> None:
        """Give back what it holds."""


class Backend(Protocol):
    """Where the step runs."""

    name: str
    grid: Grid
    made: Grid  # where the box was made
    scrolled: tuple[int, int, int]  # cells that the box has gone on along (x, y, z) since it was made
    epsilon: float  # of its numbers: the step from 1 to the next
    pace: Pace

    @property
    def eighths(self) -> bool:
        """Whether Jacobi sweeps are faster here on a pressure in eighths."""

    @property
    def sweeps(self) -> int:
        """How many Jacobi sweeps one pass makes at best here, of those of `kernels.WALKS`, or 1."""

    @property
    def joined(self) -> bool:
        """Whether buoyancy and confinement are faster here in one pass, the kernel ``confine``."""

    @property
    def few(self) -> bool:
        """Whether passes are faster here that take FEW_PUSHES forces or FEW_WAVES waves each."""

    @property
    def inverts(self) -> bool:
        """Whether the cells are so few that an equation's inverse, a field of kind "matrix", is kept."""

    def field(
        self,
        name: str,
        kind: str,
        components: int = 4,
        *,
        buffers: int = 2,
        exact: bool = False,
        short: bool = False,
    ) -> FieldStore:
        """Create a field of zeros; whatever the setting, `exact` keeps single and `short` half precision."""

    def kernel(self, name: str, variant: Variant) -> KernelCall:
        """Return the kernel, compiled once for each variant."""

    def forget(self, expressions: Collection[str]) -> None:
        """Release what was compiled for other expressions of users than these, but for the latest few."""

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

    def scroll_to(self, scrolled: tuple[int, int, int]) -> None:
        """Place the box so many cells from where it was made; the fields stay as they are."""

    def check_memory(self, cells: int, what: str) -> None:
        """Raise GpufluidError where a fluid of so many cells, told of as `what`, takes more than there is."""

    @property
    def gone(self) -> bool:
        """Whether all that this backend holds went with the GL context of a host that released it."""

    def at_work(self, what: str) -> AbstractContextManager[None]:
        """While it is open, what is called reaches what this backend holds, and no host's GL state is lost.

        Inside it nobody is asked before a pass: no step may leave in the middle of a call.
        what: the call of the user's, for error messages. Raises GpufluidError where the GL context of the
        caller's is not current.
        """

    def all_or_none(self) -> AbstractContextManager[None]:
        """While it is open, the fields made are those of one thing: they are released where it fails."""

    def stopwatch(self) -> Stopwatch:
        """Return what tells the costs of passes here."""

    def finish(self) -> None:
        """Wait until everything asked for is done."""

    def release(self) -> None:
        """Release what the backend itself holds."""
