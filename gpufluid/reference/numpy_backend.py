"""The step without any GL: the kernels of `gpufluid.reference` behind the contract of a backend."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpufluid import reference
from gpufluid.common.debugging import check_numbers, switches
from gpufluid.common.errors import GpufluidError
from gpufluid.common.memory import check_memory
from gpufluid.contract.backend import FieldStore, Pace
from gpufluid.contract.kernels import KERNELS, Kernel, Variant, unknown_argument
from gpufluid.contract.layout import LANES, PARTS, SOLVED, lanes, layouts, link, octets
from gpufluid.contract.stopwatch import WallWatch
from gpufluid.description.grid import TINY, CellBox, Grid
from gpufluid.description.mesh import Mesh
from gpufluid.description.voxels import inside_mesh


class Copied:
    """A copy that is there at once."""

    ready = True

    def __init__(self, values: NDArray[Any]) -> None:
        self._values = values

    def wait(self, seconds: float) -> bool:
        """Nothing is waited for."""
        return True

    def read(self) -> NDArray[Any]:
        """Return it."""
        return self._values

    def release(self) -> None:
        """There is nothing to give back."""


class ArrayField:
    """A volume [z, y, x, c] in float64. A kernel's result replaces it whole, so it needs no back buffer."""

    def __init__(self, name: str, shape: tuple[int, int, int, int]) -> None:
        self.name, self.where, self.version = name, None, 0
        self.values = np.zeros(shape)

    @property
    def values(self) -> NDArray[np.float64]:
        """The volume; assign another to change it."""
        return self._values

    @values.setter
    def values(self, values: NDArray[np.float64]) -> None:
        self._values = values
        self.version += 1

    @property
    def parts(self) -> list[ArrayField]:
        """For each channel a field to read it from."""
        return [_Channel(self, number) for number in range(self.values.shape[-1])]

    @property
    def mark(self) -> None:
        """It was written everywhere."""
        return None

    def read(self) -> NDArray[np.float32]:
        """Return a float32 copy."""
        return self.values.astype(np.float32)

    def take(self, dtype: type[Any] = np.float32) -> Callable[[], NDArray[Any]]:
        """Return what returns a copy of the values of now."""
        values = self.values.astype(dtype)
        return lambda: values.copy()

    def write(self, volume: NDArray[Any]) -> None:
        """Set the values; raises GpufluidError for another shape."""
        if volume.shape != self.values.shape:
            raise GpufluidError(f"the {self.name} field takes {self.values.shape}, got {volume.shape}")
        self.values = np.array(volume, np.float64)

    def later(self) -> Copied:
        """Return a copy, which is there at once."""
        return Copied(self.values.copy())

    def dump(self) -> NDArray[np.float64]:
        """Return a copy."""
        return self.values.copy()

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Of the values: [z, y, x, c]."""
        return self.values.shape

    def restore(self, volume: NDArray[Any]) -> None:
        """Set the values, as `write`."""
        self.write(volume)

    def fill(self, values: Sequence[float]) -> None:
        """Set every value, one number for each channel."""
        self.values = np.broadcast_to(np.array(values, np.float64), self.values.shape).copy()

    def held(self, still: ArrayField | None = None) -> ArrayField:
        """Return a copy, which stays what it is."""
        still = still or ArrayField(self.name, self.values.shape)
        still.values = self.values.copy()
        return still

    def take_back(self, still: ArrayField) -> None:
        """Go on from what `still` shows."""
        self.values = still.values.copy()

    def release(self) -> None:
        """Forget the values."""
        self.values = np.zeros((0, 0, 0, 0))


class _Channel(ArrayField):
    """One channel of a field, to be read alone."""

    def __init__(self, whole: ArrayField, number: int) -> None:
        self.name, self.where, self.version = whole.name, None, 0
        self._whole, self._number = whole, number

    @property
    def values(self) -> NDArray[np.float64]:
        """Its values in the whole, now."""
        return self._whole.values[..., self._number, None]

    @values.setter
    def values(self, values: NDArray[np.float64]) -> None:
        raise GpufluidError(f"one channel of the {self.name} field is not written alone")


class ReferenceKernel:
    """A reference function called with fields, like a pass."""

    def __init__(self, grid: Grid, kernel: Kernel, variant: Variant, pace: Pace) -> None:
        self.grid, self.kernel, self.variant, self.pace = grid, kernel, variant, pace
        self._function = getattr(reference, kernel.name)
        self._slots = [slot.name for slot in kernel.slots(variant)]

    def __call__(self, **arguments: Any) -> None:
        """Run over every value of the field written."""
        self._check(arguments)
        if self.pace.pacer is not None:
            self.pace.pacer.before(self)
        values = {name: arguments[name].values for name in self._slots}
        given = {name: arguments[name] for name in self.kernel.parameters}
        out: ArrayField = arguments[self.kernel.write.name]
        written = np.asarray(self._function(self.grid, self.variant, **values, **given))
        tiny = np.abs(written) < TINY
        out.values = np.where(tiny, 0.0, written) if (written[tiny] != 0.0).any() else written
        if switches.numbers:
            says = f"the kernel {self.kernel.name} (gpufluid.reference.{self.kernel.name})"
            read = {name: (arguments[name], values[name]) for name in self._slots}
            check_numbers(says, out, out.values, lambda: read)

    def within(self, boxes: Sequence[CellBox] | None, /, **arguments: Any) -> None:
        """Run over every value, whatever is said of where it changes any."""
        self(**arguments)

    def repeat(self, times: int, **arguments: Any) -> None:
        """Call it as often."""
        for _ in range(times):
            self(**arguments)

    def bound(self, **arguments: Any) -> Callable[[], None]:
        """The same call, to be made again and again."""
        self._check(arguments)
        return partial(self, **arguments)

    def _check(self, arguments: Mapping[str, Any]) -> None:
        if arguments.keys() != self.kernel.arguments(self.variant):
            raise GpufluidError(unknown_argument(self.kernel, self.variant, arguments))


class NumpyBackend:
    """Float64 on the CPU, whatever precision the settings ask for."""

    name = "numpy"
    eighths = False
    sweeps = 1
    joined = False
    few = False
    epsilon = 2.0**-52

    def __init__(self, grid: Grid) -> None:
        self.grid = self.made = grid
        self.scrolled = (0, 0, 0)
        self.pace = Pace()
        self._layouts = layouts(grid, limit=1 << 31)
        self._coarser: NumpyBackend | None = None
        self._kernels: dict[tuple[str, Variant], ReferenceKernel] = {}

    @property
    def inverts(self) -> bool:
        """There are few cells."""
        return lanes(self.grid) <= SOLVED

    def field(self, name: str, kind: str, components: int = 4, **how: object) -> ArrayField:
        """Create a field of zeros; in which precision and how many buffers is nothing to arrays."""
        layout = self._layouts[kind]
        nx, ny, nz = layout.size
        channels = PARTS.get(kind, 1) * (1 if layout.packing == LANES else components)
        return ArrayField(name, (nz, ny, nx, channels))

    def forget(self, expressions: Collection[str]) -> None:
        """Nothing was compiled."""

    def kernel(self, name: str, variant: Variant) -> ReferenceKernel:
        """Return the reference function of that name as a kernel."""
        key = (name, variant.compiled)
        known = self._kernels.get(key)
        if known is None:
            known = self._kernels[key] = ReferenceKernel(self.grid.local, KERNELS[name], variant, self.pace)
        known.variant = variant  # its sides may have changed
        return known

    def coarser(self) -> NumpyBackend:
        """The same on a grid of half the cells."""
        if self._coarser is None:
            self._coarser = NumpyBackend(self.grid.local.coarser())
            self._coarser.pace = self.pace
            link(self._layouts, self._coarser._layouts)
        return self._coarser

    def single(self) -> NumpyBackend:
        """It is in double precision: more than that."""
        return self

    def strips(self) -> None:
        """Nothing is left out: the reference writes every value."""
        return

    def voxelize(self, mesh: Mesh, matrix: NDArray[np.float64], winding: FieldStore) -> None:
        """Mark the cells whose centre is inside `mesh` with 1."""
        winding.write(octets(inside_mesh(self.grid.local, mesh, matrix)))

    def check_memory(self, cells: int, what: str) -> None:
        """Raise GpufluidError where so many cells take more memory than the machine has."""
        check_memory(cells, "numpy", what)

    def scroll_to(self, scrolled: tuple[int, int, int]) -> None:
        """Place the box so many cells from where it was made."""
        self.scrolled, self.grid = scrolled, self.made.scrolled(scrolled)

    @property
    def gone(self) -> bool:
        """Never: it holds arrays."""
        return False

    @contextmanager
    def at_work(self, what: str) -> Iterator[None]:
        """There is nothing to switch."""
        pacer, self.pace.pacer = self.pace.pacer, None
        try:
            yield
        finally:
            self.pace.pacer = pacer

    def all_or_none(self) -> AbstractContextManager[None]:
        """Arrays go by themselves."""
        return nullcontext()

    def stopwatch(self) -> WallWatch:
        """The clock on the wall."""
        return WallWatch(self.finish)

    def finish(self) -> None:
        """Nothing runs behind the caller's back."""

    def release(self) -> None:
        """Forget the kernels."""
        self._kernels.clear()
        self._coarser = None
