"""The fields of a fluid, as programs read and write them: NumPy arrays [z, y, x(, c)]."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from gpufluid.common.checks import real_numbers
from gpufluid.common.errors import GpufluidError
from gpufluid.contract.backend import FieldStore
from gpufluid.engine.stepper import Handle, Stepper, at_work, at_work_as
from gpufluid.numerics.still import State
from gpufluid.reference.arrays import center_velocity

FloatArray = NDArray[np.float32]


def checked_array(values: ArrayLike, shape: tuple[int, ...], name: str) -> FloatArray:
    """Return `values` as float32 of `shape`; raises GpufluidError naming the field, shape or bad number."""
    try:
        with np.errstate(over="ignore"):  # what is too large becomes infinite, and is refused
            array = np.asarray(real_numbers(values), np.float32)
    except (TypeError, ValueError, OverflowError):
        raise GpufluidError(f"{name} must be an array of numbers of shape {shape}") from None
    if array.shape != shape:
        raise GpufluidError(f"{name} must have the shape {shape}, got {array.shape}")
    if not np.isfinite(array).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise GpufluidError(f"{name} must be finite, got {array[where]} at {where}")
    return array


class Field(Handle, ABC):
    """A field of the fluid, in each cell or on each face. NumPy's functions take it as the array of `read`.

    shape: of that array, [z, y, x(, c)].
    """

    _instead = "read() gives an array of its own"

    def __init__(self, stepper: Stepper, name: str, components: tuple[int, ...] = ()) -> None:
        self.name, self._stepper = name, stepper
        self.shape: tuple[int, ...] = (*stepper.backend.grid.cells[::-1], *components)

    @abstractmethod
    def read(self) -> FloatArray:
        """Return a float32 copy, [z, y, x(, c)] as in `shape`; waits for the GPU."""

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError(f"{self.name} is read back from where it is kept, which makes a copy")
        return np.asarray(self.read(), dtype)

    if not TYPE_CHECKING:  # a type checker would let every name pass, and all that raises here

        def __getitem__(self, index: object) -> NoReturn:
            """Raise GpufluidError: what reads the whole is no line that may be written for every cell."""
            raise GpufluidError(f"{self.name} is read as a whole: fluid.{self.name}.read()[...]")

        def __setitem__(self, index: object, values: object) -> NoReturn:
            """Raise GpufluidError."""
            raise GpufluidError(f"{self.name} is written as a whole: fluid.{self.name}.write(array)")

        def __getattr__(self, name: str) -> NoReturn:
            told = f"{type(self).__name__!r} object has no attribute {name!r}"
            if not name.startswith("_") and hasattr(np.ndarray, name):
                told = f"{self.name} has no {name!r}; its array has: fluid.{self.name}.read().{name}"
            raise AttributeError(told)

    def __repr__(self) -> str:
        return f"<{self.name} {list(self.shape)} of a gf.Fluid: read() gives the array>"


class StoredField(Field):
    """A field of which a store holds the numbers, perhaps with those of others."""

    @property
    @abstractmethod
    def store(self) -> FieldStore | None:
        """Where it is kept; None where it is 0 everywhere and kept nowhere."""

    @abstractmethod
    def of(self, stored: FloatArray) -> FloatArray:
        """This field, as `read` gives it, of `stored` [z, y, x, c], what is read from its store."""

    def _checked(self, values: ArrayLike) -> FloatArray:
        """What is to be written, read before this fluid is at work: it may be another one's field."""
        return checked_array(values, self.shape, self.name)

    def _share_of_fluid(self) -> FloatArray:
        """1 in fluid, 0 in the solids where the obstacles are now, [nz, ny, nx]. These will hold nothing."""
        solids = self._stepper.seen().solids
        solids.were_emptied()
        return 1.0 - first_channel(solids.solid, self.shape[:3])


class ScalarField(StoredField):
    """One scalar of the fluid at the cell centres, [nz, ny, nx]."""

    def __init__(
        self, stepper: Stepper, name: str, store: Callable[[State], FieldStore], channel: int
    ) -> None:
        super().__init__(stepper, name)
        self._store, self._channel = store, channel

    @at_work
    def read(self) -> FloatArray:
        """Return a float32 copy [nz, ny, nx]; waits for the GPU."""
        return self.of(self.store.read())

    @property
    def store(self) -> FieldStore:
        """Where it is kept."""
        return self._store(self._stepper.state)

    def of(self, stored: FloatArray) -> FloatArray:
        """This field, as `read` gives it, of `stored` [z, y, x, c], what is read from its store."""
        return np.ascontiguousarray(stored[..., self._channel])

    def write(self, values: ArrayLike) -> None:
        """Set the `values`, [nz, ny, nx]; in solids a carried scalar stays 0.

        Raises GpufluidError for another shape, a number that is not finite, or while a step is under way.
        """
        self._put(self._checked(values))

    @at_work_as("Field.write")
    def _put(self, array: FloatArray) -> None:
        store = self._store(self._stepper.settled(self.name))
        volume = store.read()
        volume[..., self._channel] = array
        if volume.shape[-1] == 4:  # the last channel tells fluid from solid, whose values are all 0
            volume[..., 3] = 1.0
            volume *= self._share_of_fluid()[..., None]
        store.write(volume)


class ColorField(StoredField):
    """Red, green and blue densities of coloured smoke at the cell centres, [nz, ny, nx, 3].

    The fluid holds them from the first emitter with a color, or the first `write`, on.
    """

    def __init__(self, stepper: Stepper) -> None:
        super().__init__(stepper, "color", (3,))

    @at_work
    def read(self) -> FloatArray:
        """Return a float32 copy [nz, ny, nx, 3], zeros where there is no colour; waits for the GPU."""
        store = self.store
        return np.zeros(self.shape, np.float32) if store is None else self.of(store.read())

    @property
    def store(self) -> FieldStore | None:
        """Where it is kept; None where there is no colour yet."""
        return self._stepper.state.color

    def of(self, stored: FloatArray) -> FloatArray:
        """This field, as `read` gives it, of `stored` [z, y, x, 4], what is read from its store."""
        return np.ascontiguousarray(stored[..., :3])

    def write(self, values: ArrayLike) -> None:
        """Set the `values`, [nz, ny, nx, 3]; in solids they stay 0.

        Raises GpufluidError for another shape, a number that is not finite, or while a step is under way.
        """
        self._put(self._checked(values))

    @at_work_as("Field.write")
    def _put(self, array: FloatArray) -> None:
        volume = np.ones((*self.shape[:3], 4), np.float32)
        volume[..., :3] = array
        solver = self._stepper.settled(self.name)
        volume *= self._share_of_fluid()[..., None]
        solver.prepare_colors().write(volume)


class DerivedField(Field):
    """A field that follows from the others, [nz, ny, nx(, c)]: it can be read only."""

    def __init__(
        self,
        stepper: Stepper,
        name: str,
        compute: Callable[[], FloatArray],
        source: str,
        components: tuple[int, ...] = (),
    ) -> None:
        super().__init__(stepper, name, components)
        self._compute, self._source = compute, source

    @at_work
    def read(self) -> FloatArray:
        """Return it as it is now, float32 [nz, ny, nx(, c)]; waits for the GPU."""
        return self._compute()

    @at_work
    def write(self, values: ArrayLike) -> None:
        """Raise GpufluidError whatever the `values` [z, y, x(, c)]: it follows from the fields that the error
        names.
        """
        raise GpufluidError(f"{self.name} cannot be written: it follows from {self._source}")


class VelocityField(StoredField):
    """The staggered velocity, m/s: component i on the low face along axis i."""

    def __init__(self, stepper: Stepper) -> None:
        super().__init__(stepper, "velocity")
        nx, ny, nz = stepper.backend.grid.cells
        self.shape = (nz + 1, ny + 1, nx + 1, 3)

    @at_work
    def read(self) -> FloatArray:
        """Return a float32 copy [nz + 1, ny + 1, nx + 1, 3].

        Entries that are no face are 0, or what was written there until the next step or `project`.
        """
        return self.of(self.store.read())

    @property
    def store(self) -> FieldStore:
        """Where it is kept."""
        return self._stepper.state.velocity

    def of(self, stored: FloatArray) -> FloatArray:
        """This field, as `read` gives it, of `stored` [z, y, x, 4], what is read from its store."""
        out = np.zeros(self.shape, np.float32)
        out[: stored.shape[0]] = stored[..., :3]
        return out

    def write(self, values: ArrayLike) -> None:
        """Set it from `values` [nz + 1, ny + 1, nx + 1, 3].

        In the next `project`, or step that solves for it, faces of walls and solids get the wall's velocity,
        whatever is given. Ignored are values where there is no face, those of z in a box one cell deep, and
        the high side of a periodic box, which is its low side.

        Raises GpufluidError for another shape, a number that is not finite, or while a step is under way.
        """
        self._put(self._checked(values))

    @at_work_as("Field.write")
    def _put(self, array: FloatArray) -> None:
        store, dimensions = self._stepper.settled(self.name).velocity, self._stepper.backend.grid.dimensions
        volume = np.zeros(store.shape, np.float32)  # what no face along an axis has is 0
        volume[..., :dimensions] = array[: volume.shape[0], ..., :dimensions]
        for axis in range(dimensions):
            if self._stepper.solver.boundaries.periodic(axis):
                line = np.moveaxis(volume, 2 - axis, 0)
                line[-1] = line[0]
        store.write(volume)

    def write_at_centers(self, values: ArrayLike) -> None:
        """Set it from `values` at the cell centres, [nz, ny, nx, 3].

        A face gets the mean of the two cells beside it; on a side of the box, the value of its one cell. Read
        back by `at_centers` the values are a little smoother.
        Raises GpufluidError as `write` does.
        """
        cells, sides = self._stepper.backend.grid.cells, self._stepper.solver.boundaries
        array = checked_array(values, (*cells[::-1], 3), f"{self.name} at the cell centres")
        faces = np.zeros(self.shape, np.float32)
        for axis in range(self._stepper.backend.grid.dimensions):
            nx, ny, nz = (n + (a == axis) for a, n in enumerate(cells))
            line = np.moveaxis(array[..., axis], 2 - axis, 0)
            ends = (line[-1:], line[:1]) if sides.periodic(axis) else (line[:1], line[-1:])
            beside = np.concatenate([ends[0], line, ends[1]])
            np.moveaxis(faces[:nz, :ny, :nx, axis], 2 - axis, 0)[...] = 0.5 * (beside[1:] + beside[:-1])
        self.write(faces)

    @at_work
    def at_centers(self) -> FloatArray:
        """Return the mean of opposite faces, float32 [nz, ny, nx, 3]."""
        # single precision is enough: the sum of two numbers is rounded once either way
        return center_velocity(self._stepper.backend.grid, self.store.read()).astype(np.float32, copy=False)


def first_channel(store: FieldStore | None, shape: tuple[int, ...]) -> FloatArray:
    """The first channel of `store`, [nz, ny, nx]; zeros of that `shape` without one."""
    if store is None:
        return np.zeros(shape, np.float32)
    return np.ascontiguousarray(store.read()[..., 0])


def take_fields(fields: Mapping[str, Field]) -> Callable[[], dict[str, FloatArray]]:
    """Copy these fields as they are now; return a function that gives their arrays, in any thread.

    Each store is copied once, for all the fields in it, and unpacked where the function is called.
    """
    ready: dict[str, FloatArray] = {}
    stored: dict[FieldStore, dict[str, StoredField]] = {}  # the fields that are kept in one
    for name, field in fields.items():
        if isinstance(field, StoredField) and (store := field.store) is not None:
            stored.setdefault(store, {})[name] = field
        else:
            ready[name] = field.read()
    copies = [(store.take(), kept) for store, kept in stored.items()]

    def unpack() -> dict[str, FloatArray]:
        values = dict(ready)
        for copy, kept in copies:
            array = copy()
            values |= {name: field.of(array) for name, field in kept.items()}
        return {name: values[name] for name in fields}

    return unpack
