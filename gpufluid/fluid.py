"""The public Fluid: a box of smoke that is stepped."""

from __future__ import annotations

import dataclasses
import functools
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Generic, NoReturn, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from gpufluid.advance import Slices
from gpufluid.backend import Backend, FieldStore
from gpufluid.boundaries import Boundaries, Wall
from gpufluid.checkpoint import Contents, Taken, load, restore, take
from gpufluid.checks import finite_number, finite_triple, held, real_array, real_numbers, whole_triple
from gpufluid.diagnostics import Diagnostics, measure
from gpufluid.doubts import doubt_mesh, doubt_solid, doubt_source
from gpufluid.drag import AIR_DENSITY, GRAVITY, SPHERE_DRAG, BodyForces, parts_of
from gpufluid.errors import GpufluidError, UnknownNameError, named, one_of, several, short
from gpufluid.forces import as_now, edge_width, is_lost
from gpufluid.grid import AXES, FARTHEST, TINY, Grid
from gpufluid.layout import FlatLayout
from gpufluid.numpy_backend import NumpyBackend
from gpufluid.periodic import into_box, periods
from gpufluid.probes import Probes, Samples
from gpufluid.reference.arrays import center_velocity
from gpufluid.saved import Halves, Saved
from gpufluid.settings import Settings
from gpufluid.shapes import Mesh, Obstacle
from gpufluid.solver import Solver
from gpufluid.sources import Array, Emitter, Surface
from gpufluid.still import State, Still
from gpufluid.user_forces import Force, ForceField

if TYPE_CHECKING:
    import moderngl

    from gpufluid.gl.device import Device
    from gpufluid.gl.field import Field as GLField

BACKENDS = ("auto", "compute", "fragment", "numpy")
FIELDS = (
    *("density", "temperature", "fuel", "flame", "color", "velocity"),
    *("pressure", "divergence", "vorticity", "solid", "solid_normals"),
)
HALVED = ("density", "temperature", "fuel", "color", "velocity", "solid")  # of them, for `take_halves`
FloatArray = NDArray[np.float32]
P = ParamSpec("P")
R = TypeVar("R")
Thing = TypeVar("Thing", Emitter, Obstacle, Force)


# What the caller has called, where it is another's work
CALLED = {
    "_put": "Field.write",
    "_take_emitter": "Fluid.emitters.add",
    "_check_force": "Fluid.forces.add",
    "take_over": "Fluid.load",
}


def _at_work(method: Callable[P, R]) -> Callable[P, R]:
    """Method decorator: raise after the fluid's release; make its own context current, where it has one.

    So fluids may take turns in one process. A caller's context must be current, and keeps its state.
    """

    name = CALLED.get(method.__name__, method.__qualname__)

    @functools.wraps(method)
    def run(*given: P.args, **by_name: P.kwargs) -> R:
        fluid: Any = getattr(given[0], "_fluid", given[0])
        fluid.check_alive()
        with fluid._backend.at_work(name):
            return method(*given, **by_name)

    return run


def _between_steps(method: Callable[P, R]) -> Callable[P, R]:
    """Method decorator: raise where it is called from within itself or another that is so decorated.

    A solver or a force of the user's is called in a step: it may look at the fluid, and not change it.
    """

    @functools.wraps(method)
    def run(*given: P.args, **by_name: P.kwargs) -> R:
        fluid: Any = given[0]
        fluid._check_between(f"{method.__qualname__} cannot be called")
        fluid._within = method.__qualname__
        try:
            return method(*given, **by_name)
        finally:
            fluid._within = ""

    return run


class Things(Generic[Thing]):
    """The emitters, obstacles or forces of a fluid, in the order they were added."""

    def __init__(self, kind: Any, check: Callable[[Thing], None]) -> None:
        self._kind = kind
        self._check: Callable[[Thing], None] = check
        self._things: list[Thing] = []

    def add(self, thing: Thing) -> Thing:
        """Add `thing` and return it; it may be changed at any time. Raises GpufluidError for bad ones."""
        if not isinstance(thing, self._kind):
            raise GpufluidError(f"expected {_names(self._kind)}, got {short(repr(thing))}")
        added: Thing = thing
        added.check()
        self._check(added)
        self._things.append(added)
        return added

    def insert(self, index: int, thing: Thing) -> Thing:
        """Add `thing` as `add` does, before the one at `index`."""
        self.add(thing)
        self._things.insert(index, self._things.pop())
        return thing

    def remove(self, thing: Thing) -> None:
        """Remove `thing`; raises GpufluidError if it was never added."""
        if thing not in self._things:
            raise GpufluidError(f"this {type(thing).__name__} is not in the fluid")
        self._things.remove(thing)

    def clear(self) -> None:
        """Remove all of them."""
        self._things.clear()

    def __iter__(self) -> Iterator[Thing]:
        return iter(self._things)

    def __repr__(self) -> str:
        return repr(self._things)

    def __len__(self) -> int:
        return len(self._things)

    def __getitem__(self, index: int) -> Thing:
        return self._things[index]


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


class Field(ABC):
    """A field of the fluid, in each cell or on each face. NumPy's functions take it as the array of `read`.

    shape: of that array, [z, y, x(, c)].
    """

    def __init__(self, fluid: Fluid, name: str, components: tuple[int, ...] = ()) -> None:
        self.name, self._fluid = name, fluid
        self.shape: tuple[int, ...] = (*fluid.grid.cells[::-1], *components)

    @abstractmethod
    def read(self) -> FloatArray:
        """Return a float32 copy, [z, y, x(, c)] as in `shape`; waits for the GPU."""

    def _checked(self, values: ArrayLike) -> FloatArray:
        """What is to be written, read before this fluid is at work: it may be another one's field."""
        return checked_array(values, self.shape, self.name)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError(f"{self.name} is read back from where it is kept, which makes a copy")
        return np.asarray(self.read(), dtype)

    def __getitem__(self, index: object) -> NoReturn:
        """Raise GpufluidError: what reads the whole is no line that may be written for every cell."""
        raise GpufluidError(f"{self.name} is read as a whole: fluid.{self.name}.read()[...]")

    def __setitem__(self, index: object, values: object) -> NoReturn:
        """Raise GpufluidError."""
        raise GpufluidError(f"{self.name} is written as a whole: fluid.{self.name}.write(array)")

    if not TYPE_CHECKING:  # to which every name would be one

        def __getattr__(self, name: str) -> NoReturn:
            told = f"{type(self).__name__!r} object has no attribute {name!r}"
            if not name.startswith("_") and hasattr(np.ndarray, name):
                told = f"{self.name} has no {name!r}; its array has: fluid.{self.name}.read().{name}"
            raise AttributeError(told)

    def __repr__(self) -> str:
        return f"<{self.name} {list(self.shape)} of a gf.Fluid: read() gives the array>"


class ScalarField(Field):
    """One scalar of the fluid at the cell centres, [nz, ny, nx]."""

    def __init__(self, fluid: Fluid, name: str, store: Callable[[State], FieldStore], channel: int) -> None:
        super().__init__(fluid, name)
        self._store, self._channel = store, channel

    @_at_work
    def read(self) -> FloatArray:
        """Return a float32 copy [nz, ny, nx]; waits for the GPU."""
        return self.of(self.store.read())

    @property
    def store(self) -> FieldStore:
        """Where it is kept."""
        return self._store(self._fluid._state)

    def of(self, stored: FloatArray) -> FloatArray:
        """This field, as `read` gives it, of `stored` [z, y, x, c], what is read from its store."""
        return np.ascontiguousarray(stored[..., self._channel])

    def write(self, values: ArrayLike) -> None:
        """Set the `values`, [nz, ny, nx]; in solids a carried scalar stays 0.

        Raises GpufluidError for another shape, a number that is not finite, or while a step is under way.
        """
        self._put(self._checked(values))

    @_at_work
    def _put(self, array: FloatArray) -> None:
        store = self._store(self._fluid._settled(self.name))
        volume = store.read()
        volume[..., self._channel] = array
        if volume.shape[-1] == 4:  # the last channel tells fluid from solid, whose values are all 0
            volume[..., 3] = 1.0
            volume *= 1.0 - self._fluid.solid.read()[..., None]
        store.write(volume)


class ColorField(Field):
    """Red, green and blue densities of coloured smoke at the cell centres, [nz, ny, nx, 3].

    The fluid holds them from the first emitter with a color, or the first `write`, on.
    """

    def __init__(self, fluid: Fluid) -> None:
        super().__init__(fluid, "color", (3,))

    @_at_work
    def read(self) -> FloatArray:
        """Return a float32 copy [nz, ny, nx, 3], zeros where there is no colour; waits for the GPU."""
        store = self.store
        return np.zeros(self.shape, np.float32) if store is None else self.of(store.read())

    @property
    def store(self) -> FieldStore | None:
        """Where it is kept; None where there is no colour yet."""
        return self._fluid._state.color

    def of(self, stored: FloatArray) -> FloatArray:
        """This field, as `read` gives it, of `stored` [z, y, x, 4], what is read from its store."""
        return np.ascontiguousarray(stored[..., :3])

    def write(self, values: ArrayLike) -> None:
        """Set the `values`, [nz, ny, nx, 3]; in solids they stay 0.

        Raises GpufluidError for another shape, a number that is not finite, or while a step is under way.
        """
        self._put(self._checked(values))

    @_at_work
    def _put(self, array: FloatArray) -> None:
        volume = np.ones((*self.shape[:3], 4), np.float32)
        volume[..., :3] = array
        solver = self._fluid._settled(self.name)
        volume *= 1.0 - self._fluid.solid.read()[..., None]
        solver.prepare_colors().write(volume)


class DerivedField(Field):
    """A field that follows from the others, [nz, ny, nx(, c)]: it can be read only."""

    def __init__(
        self,
        fluid: Fluid,
        name: str,
        compute: Callable[[], FloatArray],
        source: str,
        components: tuple[int, ...] = (),
    ) -> None:
        super().__init__(fluid, name, components)
        self._compute, self._source = compute, source

    @_at_work
    def read(self) -> FloatArray:
        """Return it as it is now, float32 [nz, ny, nx(, c)]; waits for the GPU."""
        return self._compute()

    @property
    def store(self) -> None:
        """It is kept nowhere."""

    @_at_work
    def write(self, values: ArrayLike) -> None:
        """Raise GpufluidError whatever the `values` [z, y, x(, c)]: it follows from the fields that the error
        names.
        """
        raise GpufluidError(f"{self.name} cannot be written: it follows from {self._source}")


class VelocityField(Field):
    """The staggered velocity, m/s: component i on the low face along axis i."""

    def __init__(self, fluid: Fluid) -> None:
        super().__init__(fluid, "velocity")
        nx, ny, nz = fluid.grid.cells
        self.shape = (nz + 1, ny + 1, nx + 1, 3)

    @_at_work
    def read(self) -> FloatArray:
        """Return a float32 copy [nz + 1, ny + 1, nx + 1, 3].

        Entries that are no face are 0, or what was written there until the next step or `project`.
        """
        return self.of(self.store.read())

    @property
    def store(self) -> FieldStore:
        """Where it is kept."""
        return self._fluid._state.velocity

    def of(self, stored: FloatArray) -> FloatArray:
        """This field, as `read` gives it, of `stored` [z, y, x, 4], what is read from its store."""
        out = np.zeros(self.shape, np.float32)
        out[: stored.shape[0]] = stored[..., :3]
        return out

    def write(self, values: ArrayLike) -> None:
        """Set it from `values` [nz + 1, ny + 1, nx + 1, 3].

        In the next step or `project`, faces of walls and solids get the wall's velocity, whatever is given.
        Ignored are values where there is no face, those of z in a box one cell deep, and the high side of a
        periodic box, which is its low side.

        Raises GpufluidError for another shape, a number that is not finite, or while a step is under way.
        """
        self._put(self._checked(values))

    @_at_work
    def _put(self, array: FloatArray) -> None:
        store, dimensions = self._fluid._settled(self.name).velocity, self._fluid.grid.dimensions
        volume = np.zeros(store.shape, np.float32)  # what no face along an axis has is 0
        volume[..., :dimensions] = array[: volume.shape[0], ..., :dimensions]
        for axis in range(dimensions):
            if self._fluid.boundaries.periodic(axis):
                line = np.moveaxis(volume, 2 - axis, 0)
                line[-1] = line[0]
        store.write(volume)

    def write_at_centers(self, values: ArrayLike) -> None:
        """Set it from `values` at the cell centres, [nz, ny, nx, 3].

        A face gets the mean of the two cells beside it; on a side of the box, the value of its one cell. Read
        back by `at_centers` the values are a little smoother.
        Raises GpufluidError as `write` does.
        """
        cells, sides = self._fluid.grid.cells, self._fluid.boundaries
        array = checked_array(values, (*cells[::-1], 3), f"{self.name} at the cell centres")
        faces = np.zeros(self.shape, np.float32)
        for axis in range(self._fluid.grid.dimensions):
            nx, ny, nz = (n + (a == axis) for a, n in enumerate(cells))
            line = np.moveaxis(array[..., axis], 2 - axis, 0)
            ends = (line[-1:], line[:1]) if sides.periodic(axis) else (line[:1], line[-1:])
            beside = np.concatenate([ends[0], line, ends[1]])
            np.moveaxis(faces[:nz, :ny, :nx, axis], 2 - axis, 0)[...] = 0.5 * (beside[1:] + beside[:-1])
        self.write(faces)

    @_at_work
    def at_centers(self) -> FloatArray:
        """Return the mean of opposite faces, float32 [nz, ny, nx, 3]."""
        # single precision is enough: the sum of two numbers is rounded once either way
        return center_velocity(self._fluid.grid, self.store.read()).astype(np.float32, copy=False)


# names that only `Settings` has; the pressure of a fluid is a field
_SETTINGS = {field.name for field in dataclasses.fields(Settings)} - {"pressure"}


@named
class Fluid:
    """A box of fluid.

    grid: its cells and size. boundaries: the six sides; None: no-slip walls. settings: schemes and numbers.
    backend: "compute" (GL 4.3), "fragment" (GL 3.3), "numpy" (no GL, float64), or "auto", the faster of the
        first two on this renderer. ctx: a moderngl.Context of yours, which you make current and which is
        never released here; None makes one without a window, and every call makes it current.

    emitters, obstacles, forces: what is in the box. Add things, remove them and change them at any time.
    velocity: on the faces, m/s, to read and write. density, temperature, fuel, color, pressure: at the cell
        centres, to read and write; the pressure is divided by the fluid's density, m^2/s^2.
    divergence, vorticity, flame, solid, solid_normals: at the cell centres, to read: the divergence, 1/s; the
        curl (x, y, z) of the velocity, 1/s; burns per second; 1 in solids; and the direction out of the
        solids beside a cell.

    Raises GpufluidError for bad input, GLUnavailableError where there is no OpenGL.
    """

    def __init__(
        self,
        grid: Grid,
        boundaries: Boundaries | None = None,
        settings: Settings | None = None,
        backend: str = "auto",
        ctx: moderngl.Context | None = None,
    ) -> None:
        _check_parts(grid, boundaries, settings, backend, ctx)
        self._boundaries = boundaries or Boundaries()
        self._settings = settings or Settings()
        self._released = False
        self._within = ""  # what is at work that a caller's own solver or force may be called from
        self._last_dt = 1.0
        self._solver = _solver(grid, self._boundaries, self._settings, backend, ctx)
        self._backend: Backend = self._solver.backend
        self.emitters: Things[Emitter] = Things(Emitter, self._take_emitter)
        self.obstacles: Things[Obstacle] = Things(Obstacle, self._check_obstacle)
        self.forces: Things[Force] = Things(Force, self._check_force)
        self._probes = Probes(self._backend)
        self._saved = Saved(self._backend)
        self._slices: Slices | None = None  # from the first `advance` on
        self._still: Still | None = None
        self._curl: FieldStore | None = None  # from the first time the vorticity is read on
        self.velocity = VelocityField(self)
        self.density = ScalarField(self, "density", lambda state: state.scalars, 0)
        self.temperature = ScalarField(self, "temperature", lambda state: state.scalars, 1)
        self.fuel = ScalarField(self, "fuel", lambda state: state.scalars, 2)
        self.color = ColorField(self)
        self.pressure = ScalarField(self, "pressure", lambda state: state.pressure, 0)
        self.divergence = DerivedField(self, "divergence", self._divergence, "fluid.velocity")
        self.vorticity = DerivedField(self, "vorticity", self._vorticity, "fluid.velocity", (3,))
        self.flame = DerivedField(self, "flame", self._flame, "fluid.temperature and fluid.fuel, in a step")
        self.solid = DerivedField(self, "solid", self._solid, "fluid.obstacles")
        self.solid_normals = DerivedField(self, "solid_normals", self._solid_normals, "fluid.obstacles", (3,))

    def __repr__(self) -> str:
        if self._released:
            return "<gf.Fluid, released>"
        cells = " x ".join(map(str, self.grid.cells))
        size, name = self.grid.cell_size, self.backend_name
        return f"<gf.Fluid of {cells} cells of {size:.4g} m, {name}, at {self.time:.4g} s>"

    def __setattr__(self, name: str, value: object) -> None:
        if name in ("grid", "boundaries"):
            raise GpufluidError(f"fluid.{name} cannot be replaced: make another fluid")
        if name in _SETTINGS:  # it would change nothing
            raise UnknownNameError(
                f"gf.Fluid has no {name!r}: say fluid.settings = fluid.settings.but({name}={value!r})"
            )
        part = self.__dict__.get(name)
        if isinstance(part, Things):
            raise GpufluidError(f"fluid.{name} cannot be replaced: add(...) to and remove(...) from it")
        if isinstance(part, ScalarField | ColorField | VelocityField | DerivedField):
            raise GpufluidError(f"fluid.{name} cannot be replaced: write(...) into it")
        super().__setattr__(name, value)

    @property
    def boundaries(self) -> Boundaries:
        """The six sides that it was made with; other sides need another fluid."""
        return self._boundaries

    @property
    def grid(self) -> Grid:
        """Its cells, and where the box stands now: `scroll` and `follow` move its origin."""
        return self._backend.grid

    @property
    def made(self) -> Grid:
        """Its cells, and where the box stood when it was made."""
        return self._backend.made

    @property
    def scrolled(self) -> tuple[int, int, int]:
        """By how many whole cells along (x, y, z) the box has moved since it was made."""
        return self._backend.scrolled

    @property
    def settings(self) -> Settings:
        """The schemes and numbers it is stepped by.

        Assign others at any time: ``fluid.settings = fluid.settings.but(viscosity=0.001)``; the flow goes on
        from what it is, and a step under way by those it began with. Raises GpufluidError for another
        precision, which needs another Fluid.
        """
        return self._settings

    @settings.setter
    @_at_work
    @_between_steps
    def settings(self, settings: Settings) -> None:
        if not isinstance(settings, Settings):
            raise GpufluidError(f"Fluid.settings must be gf.Settings, got {settings!r}")
        if settings.precision != self._settings.precision:
            raise GpufluidError(
                f"Fluid.settings cannot go from precision={self._settings.precision!r} to "
                f"{settings.precision!r}: make another Fluid"
            )
        if settings != self._settings:
            if self._under_way:
                self._solver.check(settings)
            else:
                self._solver.use(settings)
            self._settings = settings

    # -- stepping --------------------------------------------------------------------------------------

    @_at_work
    @_between_steps
    def step(self, dt: float) -> None:
        """Advance by `dt` seconds; 0 changes nothing, nor does what is next to 0 in single precision (1e-36).

        Raises GpufluidError for a dt that is negative, NaN or infinite; for an emitter or obstacle that was
        changed into an impossible one; for a force function on NumPy that fails; and for a dt over which a
        diffusivity reaches too far to be solved for, as it may round solids (see `gpufluid.diffusion`). The
        fluid is then as it was.
        """
        dt = finite_number(dt, "dt", low=0.0)
        self._finish_step()
        self._check_things()
        if dt < TINY:
            return
        self._solver.step(dt, list(self.emitters), list(self.obstacles), list(self.forces))
        self._last_dt = dt

    @_between_steps
    def advance(self, dt: float, budget_ms: float = 4.0) -> bool:
        """Work on a step of `dt` seconds for about `budget_ms`; return True when it is finished.

        Call it once a frame in place of `step`: a step takes as many calls as it needs, and its result is
        that of `step`, to the last bit. The first call begins the step, with `dt`, emitters, obstacles,
        forces and settings as they are then; a `dt` given in later calls is ignored. Until the step is
        finished, everything drawn, read, sampled, handed out or saved is the state before it.

        budget_ms: time for this call, and for the GPU to do what it asks for, > 0. What passes cost is
        learned from earlier calls; a pass that takes longer than the budget is divided. Keeping a host's GL
        state takes tenths of a millisecond, so a budget below 1 ms is exceeded then.
        If anything fails, in a later call too, the fluid is as it was before the step.
        Raises GpufluidError as `step` does, MissingDependencyError without the package greenlet.
        """
        started = perf_counter()
        self.check_alive()
        dt = finite_number(dt, "dt", low=0.0)
        budget = 1e-3 * finite_number(budget_ms, "budget_ms", above=0.0, most=math.inf)
        with self._backend.at_work("Fluid.advance"):
            if self._slices is None:
                self._slices = Slices(self._backend)
            if not self._under_way:
                self._check_things()
                if dt < TINY:
                    return True
                self._begin_step(dt)
            done = self._go_on(budget, started)
        self._slices.left()
        return done

    @property
    def progress(self) -> float:
        """How far `advance` is with its step, 0 .. 1, judged by the time the last one took; 0: none is under
        way.
        """
        return self._slices.progress if self._slices else 0.0

    @property
    def _under_way(self) -> bool:
        return self._slices is not None and self._slices.under_way

    @property
    def _state(self) -> State:
        """The last finished state."""
        return self._still if self._under_way and self._still else self._solver

    def _check_things(self) -> None:
        """Raise where a step cannot begin; make what it fills."""
        if not (self.emitters or self.obstacles or self.forces):
            return
        for thing in (*self.emitters, *self.obstacles, *self.forces):
            thing.check()
        for emitter in self.emitters:
            self._check_emitter(emitter)
        for force in self.forces:
            self._check_force(force)
            self._solver.forces.try_out(force, self.time)
        if any(emitter.color is not None for emitter in self.emitters):
            self._solver.prepare_colors()

    def _begin_step(self, dt: float) -> None:
        """Take up a step, and a still of the fluid for all who look at it meanwhile."""
        assert self._slices is not None
        solver, obstacles = self._solver, list(self.obstacles)  # where these are is asked before any pass
        emitters, forces = ([as_now(thing) for thing in some] for some in (self.emitters, self.forces))

        def work() -> None:
            solver.step(dt, emitters, obstacles, forces)
            self._last_dt = dt

        if self._still is None:
            self._still = Still(solver)
        else:
            self._still.take(solver)
        self._slices.begin(work)

    def _go_on(self, budget: float, started: float) -> bool:
        """Go on with the step under way; where it fails, the fluid is what it was before."""
        assert self._slices is not None and self._still is not None
        try:
            done = self._slices.go_on(budget, started)
        except BaseException:
            if not self._slices.under_way:
                self._still.give_back(self._solver)
                self._use_settings()
            raise
        if done:
            self._use_settings()
        return done

    def _use_settings(self) -> None:
        """Go on by settings that were assigned while a step was under way."""
        if self._settings is not self._solver.settings:
            try:
                self._solver.use(self._settings)
            except BaseException:
                self._settings = self._solver.settings
                raise

    def _finish_step(self) -> None:
        """Finish the step under way, if any."""
        while self._under_way:
            self._go_on(math.inf, perf_counter())

    def _drop_step(self) -> None:
        """Go back to before the step under way, if any."""
        if self._under_way:
            assert self._slices is not None and self._still is not None
            self._slices.drop()
            self._still.give_back(self._solver)
            self._use_settings()

    def _check_between(self, refusal: str) -> None:
        """Raise GpufluidError, beginning with `refusal`, in what a `_between_steps` method has called."""
        if self._within:
            raise GpufluidError(
                f"{refusal} from within {self._within}: a pressure solver or a force of yours, or another "
                "thread, may not change the fluid there"
            )

    def _settled(self, name: str) -> Solver:
        """The solver, to write `name` into. Raises GpufluidError while a step is under way."""
        self._check_between(f"{name} cannot be written")
        if self._under_way:
            raise GpufluidError(
                f"{name} cannot be written while a step is under way: do it where advance() has returned "
                "True, or call finish() first"
            )
        return self._solver

    @_at_work
    @_between_steps
    def project(self) -> None:
        """Do the projection alone: take the divergence out of the velocity as it is now.

        The pressure is that of the last dt, or of 1 s, and is found afresh whatever `warm_start` says. Raises
        GpufluidError for an obstacle where `gpufluid.solvers.FFT` solves for the pressure.
        """
        self._finish_step()
        self._solver.project(self._last_dt, list(self.obstacles))

    # -- a box that moves ------------------------------------------------------------------------------

    @_at_work
    @_between_steps
    def scroll(self, cells: tuple[int, int, int]) -> None:
        """Move the box by whole `cells` (i, j, k) along (x, y, z); the fluid stays where it is in the world.

        What is in the box before and after keeps its values, to the bit. What the box leaves behind is lost;
        what it newly covers is filled by its sides: behind an open side with clean air at rest, of the
        ambient temperature (or moving as the inflow on the opposite side does), behind an inflow with what
        that brings. Along a periodic axis the repeating pattern stays in place, and nothing is lost. Solids
        and sources keep their places in the world, and so does the noise of sources; what has a value for
        each cell, `gf.Array` and `gf.ForceField`, moves with the box.
        Raises GpufluidError for what is no whole number, and along an axis with a wall: a box may run over
        its floor, but not lift it.
        """
        self._scroll(whole_triple(cells, "cells", FARTHEST))

    @_at_work
    @_between_steps
    def follow(
        self,
        point: Sequence[float],
        dead_zone: float | Sequence[float] = 0.0,
        axes: str | None = None,
    ) -> tuple[int, int, int]:
        """Scroll the box so that `point` (x, y, z), metres, stays near its middle; return by how many cells.

        dead_zone: how far the point may be from the middle before the box moves, metres, one number or (x, y,
        z); never less than a cell, so that the box does not tremble with the point. axes: along which it
        moves, as in "xz"; None: along all but those with a wall, so that a floor stays below.
        Call it once a frame, before `step`. Raises GpufluidError as `scroll` does, and if no axis is left.
        """
        place = finite_triple(point, "point")
        triple = isinstance(dead_zone, list | tuple) or np.ndim(dead_zone)
        given = dead_zone if triple else (dead_zone,) * 3
        zone = finite_triple(given, "dead_zone")  # type: ignore[arg-type]
        if min(zone) < 0.0:
            raise GpufluidError(f"dead_zone must be >= 0 m, got {dead_zone!r}")
        grid, shift = self.grid, [0, 0, 0]
        for axis in self._axes_to_scroll(axes):
            size = grid.cell_size
            off = place[axis] - grid.origin[axis] - 0.5 * grid.size[axis]
            beyond = abs(off) - max(zone[axis], size)
            if beyond > 0.0:
                shift[axis] = int(math.copysign(math.ceil(beyond / size), off))
        i, j, k = shift
        self._scroll((i, j, k))
        return i, j, k

    def _axes_to_scroll(self, axes: str | None) -> list[int]:
        if axes is None:
            sides = self.boundaries.sides
            free = [
                axis
                for axis in range(self.grid.dimensions)
                if not any(isinstance(side, Wall) for side in sides[2 * axis : 2 * axis + 2])
            ]
            if not free:
                raise GpufluidError(
                    "the box cannot follow anything: there are walls across every axis; the sides that it "
                    "is to move along must be gf.Open, Inflow or Periodic"
                )
            return free
        if not isinstance(axes, str) or not axes or set(axes) - set(AXES) or len(set(axes)) < len(axes):
            raise GpufluidError(f'axes must be some of "xyz", or None, got {axes!r}')
        wanted = [AXES.index(axis) for axis in axes]
        for axis in wanted:
            self._solver.check_scroll(axis)
        return wanted

    def _scroll(self, shift: tuple[int, int, int]) -> None:
        i, j, k = (old + new for old, new in zip(self.scrolled, shift, strict=True))
        whole_triple((i, j, k), "cells, with those that the box has gone already,", FARTHEST)
        if any(shift):  # following a point that hardly moves leaves a step under way
            self._finish_step()
            self._solver.scroll(shift, list(self.obstacles))

    @_at_work
    def take(self, names: Sequence[str]) -> Callable[[], dict[str, FloatArray]]:
        """Copy fields as they are now, and return a function that gives them by name, in any thread.

        names: of the attributes that are fields. Each texture is copied once, and unpacked where the function
        is called, with shapes [z, y, x(, c)] as `read` has them: that waits for the GPU as `read` does, but
        takes less time of the thread that steps. Raises GpufluidError for another name.
        """
        several(names, "names")
        for name in names:
            one_of(name, FIELDS, "names")
        ready: dict[str, FloatArray] = {}
        stored: dict[FieldStore, list[str]] = {}  # the fields that are kept in one
        for name in names:
            store = getattr(self, name).store
            if store is None:
                ready[name] = getattr(self, name).read()
            else:
                stored.setdefault(store, []).append(name)
        copies = [(store.take(), kept) for store, kept in stored.items()]

        def unpack() -> dict[str, FloatArray]:
            values = dict(ready)
            for copy, kept in copies:
                array = copy()
                values |= {name: getattr(self, name).of(array) for name in kept}
            return {name: values[name] for name in names}

        return unpack

    @_at_work
    def take_halves(self, names: Sequence[str]) -> Callable[[], dict[str, Halves]]:
        """Copy fields as `take` does, rounded to half floats, all at the cell centres: [nz, ny, nx(, 3)].

        names: of HALVED. The velocity is the mean of opposite faces. What is finite ends at 65504. The arrays
        may share memory. The GPU rounds, so that half as many bytes are read back. Raises GpufluidError for
        another name.
        """
        several(names, "names")
        for name in names:
            one_of(name, HALVED, "names")
        state = self._seen()
        copies: dict[str, Callable[[], Halves]] = {}
        if "velocity" in names:
            copies["velocity"] = self._saved.velocity(state.velocity)
        if "color" in names and state.color is not None:
            copies["color"] = self._saved.scalars(state.color, None)
        if not {"density", "temperature", "fuel", "solid"}.isdisjoint(names):
            copies["scalars"] = self._saved.scalars(state.scalars, state.solids.solid)
        shape = self.grid.cells[::-1]

        def unpack() -> dict[str, Halves]:
            stored = {name: copy() for name, copy in copies.items()}
            values = {name: array[..., :3] for name, array in stored.items()}
            if "scalars" in stored:
                channels = ("density", "temperature", "fuel", "solid")
                values |= {name: stored["scalars"][..., n] for n, name in enumerate(channels)}
            if "color" in names and "color" not in values:
                values["color"] = np.broadcast_to(np.float16(0.0), (*shape, 3))
            return {name: values[name] for name in names}

        return unpack

    @_at_work
    def sample(self, points: ArrayLike) -> Samples:
        """Ask for the flow at `points` [n, 3], metres, without waiting for the GPU.

        The answer is of this moment and arrives about a frame later: ``samples.ready``, ``samples.velocity``.
        Along a periodic axis a point counts modulo the box.
        Raises GpufluidError for points of another shape or that are not finite.
        """
        return self._ask(_places(points))

    def _ask(self, places: NDArray[np.float64]) -> Samples:
        state = self._seen()
        return self._probes.ask(
            into_box(self.grid, self.boundaries, places),
            state.variant,
            state.solids.cells,
            velocity=state.velocity,
            scalars=state.scalars,
        )

    @_at_work
    def forces_on(
        self,
        points: ArrayLike,
        areas: ArrayLike,
        velocities: ArrayLike = (0.0, 0.0, 0.0),
        *,
        drag_coefficient: float = SPHERE_DRAG,
        volumes: ArrayLike = 0.0,
        center: Sequence[float] | None = None,
        air_density: float = AIR_DENSITY,
        gravity: Sequence[float] = GRAVITY,
    ) -> BodyForces:
        """Ask for the force and torque of the flow on a rigid body of yours, without waiting for the GPU.

        points: [n, 3], metres, places on the body that each stand for a part of it. areas: cross-sections of
        the parts, m^2, one for all or [n]. velocities: of the body there, m/s, one for all or [n, 3].
        drag_coefficient: Cd of ``1/2 rho Cd A |u - v| (u - v)``, 0.47 for a sphere. volumes: m^3, one for all
        or [n], lifted by the air against `gravity`, m/s^2; 0: no lift. center: the point that the torque is
        about, metres; None: the mean of the points. air_density: rho, kg/m^3.

        The answer is of this moment and arrives about a frame later: ``asked.ready``, ``asked.force`` (N),
        ``asked.torque`` (N m), ``asked.parts`` (N, [n, 3]). The flow does not feel the body by this. Inside
        an obstacle the solid's own velocity is found: if the body is an obstacle too, take points a cell away
        from it.
        Raises GpufluidError for bad points and numbers, naming them.
        """
        places = _places(points)
        parts = parts_of(places, areas, velocities, drag_coefficient, volumes, center, air_density, gravity)
        return BodyForces(self._ask(places), *parts)

    @_at_work
    def diagnostics(self) -> Diagnostics:
        """Measure energy, speed, CFL number, divergence and mass; waits for the GPU."""
        return measure(self._seen(), self.grid, self._last_dt)

    @_at_work
    @_between_steps
    def reset(self) -> None:
        """Go back to rest and clean air, with the box where it was made; emitters and obstacles stay.

        The next step is that of a new fluid with them: where obstacles were before no longer counts. A step
        under way is abandoned.
        """
        self._drop_step()
        solver = self._solver
        i, j, k = self.scrolled
        self._scroll((-i, -j, -k))
        for store, values in (
            (solver.velocity, [0.0] * 4),
            (solver.scalars, [0.0, self.settings.ambient_temperature, 0.0, 1.0]),
        ):
            store.fill(values)
        solver.colors.clear()
        solver.solids.begin_anew(list(self.obstacles))
        solver.fire.clear()
        solver.projection.clear()
        solver.time = 0.0

    @_at_work
    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> Path:
        """Write everything that the next step starts from to a file, and return its path; see `load`.

        The file appears whole or not at all. Raises GpufluidError for a file that exists, unless `overwrite`,
        for what the disk refuses, and naming what no file can hold: a pressure solver or a function of yours.
        """
        return self.take_state().write(path, overwrite)

    @_at_work
    def take_state(self) -> Taken:
        """Copy the state as it is now, and return a function that writes it: ``write(path)`` is as `save`.

        Raises GpufluidError for what no file can hold.
        """
        for thing in (*self.emitters, *self.obstacles, *self.forces):
            thing.check()
        if not self._under_way and self._solver.solids.left:
            self._solver.fill_left()  # as the next step would: who loads it knows of no solid that has gone
        return take(self, self._state, self._last_dt)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        ctx: moderngl.Context | None = None,
        backend: str | None = None,
    ) -> Fluid:
        """Return the fluid in a file of `save`. On the same device it continues bit for bit as the saved one.

        ctx: as in the constructor. backend: as in the constructor; None: the one the saved fluid ran on. On
        another backend or device the state is the same, and the steps differ by their rounding.
        Raises GpufluidError for a file that is missing, cut short, altered, or of another version, before any
        field is made, and as the constructor does.
        """
        return load(cls, path, ctx, backend)

    @_at_work
    @_between_steps
    def restore(self, path: str | os.PathLike[str]) -> None:
        """Take the state from a file of `save`, of a fluid with this one's grid and as many obstacles.

        Emitters, obstacles, forces, sides and settings stay this fluid's own: a program that has made them
        again continues, bit for bit if they are the same. Colour and flames that are not in the file become
        0. Raises GpufluidError as `load` does.
        """
        restore(self, path)

    @_at_work
    def take_over(self, found: Contents) -> None:
        """Add the things and take the state that a file holds: `load` and `restore` do so.

        found: what was read of it. Raises GpufluidError where that does not fit this fluid.
        """
        for name, some in found.things.items():
            for thing in some:
                getattr(self, name).add(thing)
        found.check(self._solver)
        self._drop_step()
        found.give(self._solver, list(self.obstacles))
        self._last_dt = found.last_dt

    @property
    def time(self) -> float:
        """Seconds stepped since the start or the last `reset`."""
        return self._state.time

    # -- for renderers and hosts -------------------------------------------------------------------------

    @property
    def backend_name(self) -> str:
        """ "compute", "fragment" or "numpy"."""
        return self._backend.name

    @property
    def device(self) -> Device | None:
        """The GL device, None on NumPy."""
        return getattr(self._backend, "device", None)

    @property
    def ctx(self) -> moderngl.Context | None:
        """The GL context, None on NumPy."""
        return getattr(self._backend, "ctx", None)

    @property
    def layouts(self) -> dict[str, FlatLayout]:
        """How volumes are laid out in textures, by the kinds of `gpufluid.layout.layouts`; none on NumPy."""
        layouts: dict[str, FlatLayout] = getattr(self._backend, "layouts", {})
        return layouts

    @property
    def scalars(self) -> GLField:
        """The flat texture of density, temperature, fuel and fluid fraction; not on NumPy."""
        return self._gl_field(self._state.scalars)

    @property
    def color_field(self) -> GLField | None:
        """The flat texture of red, green, blue and fluid fraction, or None where there is no colour."""
        store = self._state.color
        return None if store is None else self._gl_field(store)

    @property
    def flame_field(self) -> GLField | None:
        """The flat texture of `flame`, one channel, or None without combustion."""
        store = self._state.flame
        return None if store is None else self._gl_field(store)

    @_at_work
    def voxelize(self) -> None:
        """Update `solid_field` to where the obstacles are now; pictures do this first of all.

        Looking does not stop what moves: the next step is as it would be without. While a step of `advance`
        is under way the obstacles are those of the state before it. Raises GpufluidError after `release`.
        """
        self._seen()

    @property
    def solid_field(self) -> GLField | None:
        """The flat texture of the solids (1 inside) as last voxelized, or None without any."""
        store = self._state.solids.solid
        return None if store is None else self._gl_field(store)

    @property
    def velocity_field(self) -> GLField:
        """The flat texture of the velocity, component i on the low face along axis i; not on NumPy."""
        return self._gl_field(self._state.velocity)

    @property
    def pressure_field(self) -> GLField:
        """The flat texture of the pressure, four cells along x in a texel; not on NumPy."""
        return self._gl_field(self._state.pressure)

    def give(self, program: moderngl.Program, unit: int = 8, prefix: str = "gpufluid") -> None:
        """Set what ``gf.glsl("sample")`` reads in `program`, one of yours: the fluid as it is now.

        Binds two textures, from `unit` on, and leaves them bound: call it after each step. prefix: that given
        to `glsl`; a shader that asks for two fluids has one for each, and units of their own.
        Raises GpufluidError on NumPy, which has no textures, for a program that is not in this context, and
        for a unit or a prefix that cannot be.
        """
        self.check_alive()
        fields = {"scalars": self.scalars, "velocity": self.velocity_field}
        if self.device is not None:
            self.device.check_hosts_program(program, unit, "Fluid.give", prefix, tuple(fields))
        sides = self.boundaries
        values = {
            "origin": tuple(self.grid.origin),
            "cell_size": self.grid.cell_size,
            "cells": tuple(self.grid.cells),
            "periodic": tuple(edge > 0.0 for edge in periods(self.grid, sides)),
            "tiles": (self.layouts["cell"].columns, self.layouts["face"].columns),
            "grips": [n < 2 * self.grid.dimensions and sides.grips(n) for n in range(6)],
            "wall_velocities": [sides.velocity(n) for n in range(6)],
        }
        for at, (name, field) in enumerate(fields.items(), unit):
            field.front.use(at)
            values[name] = at
        for name, value in values.items():
            name = f"{prefix}_{name}"
            if name in program:  # a compiler leaves out what a shader does not use
                program[name].value = value  # type: ignore[union-attr]

    def _gl_field(self, store: Any) -> GLField:
        if self.device is None:
            raise GpufluidError('a fluid on backend="numpy" has no textures: read() its fields instead')
        field: GLField = store
        return field

    @_at_work
    @_between_steps
    def finish(self) -> None:
        """Wait until every step asked for is done, also one that `advance` is working on."""
        self._finish_step()
        self._backend.finish()

    @_between_steps
    def release(self) -> None:
        """Release everything except a context of yours; may be called again."""
        if self._backend.gone:
            self._released = True
        if not self._released:
            with self._backend.at_work("Fluid.release"):
                if self._slices is not None:
                    self._slices.release()
                self._released = True
                if self._still is not None:
                    self._still.release()
                if self._curl is not None:
                    self._curl.release()
                self._probes.release()
                self._saved.release()
                self._solver.release()
                self._backend.release()

    def check_memory(self, cells: int, what: str) -> None:
        """Raise GpufluidError where so many `cells`, told of as `what`, take more memory than there is."""
        self._backend.check_memory(cells, what)

    def check_alive(self) -> None:
        """Raise GpufluidError after `release`."""
        if self._released:
            raise GpufluidError("this Fluid was released")

    def __enter__(self) -> Fluid:
        return self

    def __exit__(self, *exception: object) -> None:
        self.release()

    def _seen(self) -> State:
        """The last finished state, with the solids where the obstacles are now."""
        state = self._state
        state.solids.update(list(self.obstacles), None)
        return state

    def _divergence(self) -> FloatArray:
        return self._channel(self._seen().divergence())

    def _vorticity(self) -> FloatArray:
        """The curl of the velocity, 1/s, [nz, ny, nx, 3], as confinement sees it; in 2D only z is not 0.

        Each derivative is the mean of those on the four edges round the centre, without the layers of walls:
        central differences, of second order, and one-sided beside a side of the box.
        """
        if self._curl is None:  # not the one of a step, which may be under way
            self._curl = self._backend.field("vorticity", "cell", buffers=1)
        state = self._state
        self._backend.kernel("vorticity", state.variant)(velocity=state.velocity, vorticity=self._curl)
        return np.ascontiguousarray(self._curl.read()[..., :3])

    def _flame(self) -> FloatArray:
        """What burnt per second in the last substep, 1/s, [nz, ny, nx]; 0 without combustion."""
        return self._channel(self._state.flame)

    def _solid(self) -> FloatArray:
        return self._channel(self._seen().solids.solid)

    def _channel(self, store: FieldStore | None) -> FloatArray:
        """The first channel of `store`, [nz, ny, nx]; zeros without one."""
        if store is None:
            return np.zeros(self.grid.cells[::-1], np.float32)
        return np.ascontiguousarray(store.read()[..., 0])

    def _solid_normals(self) -> FloatArray:
        """Out of the solids into the fluid, unit length, [nz, ny, nx, 3]; 0 away from their surface."""
        store = self._seen().solids.normals()
        if store is None:
            return np.zeros((*self.grid.cells[::-1], 3), np.float32)
        return np.ascontiguousarray(store.read()[..., :3])

    def _check_emitter(self, emitter: Emitter) -> None:
        expected = self.grid.cells[::-1]
        if isinstance(emitter.shape, Array) and emitter.shape.values.shape != expected:
            raise GpufluidError(
                f"Emitter.shape: an Array must have the shape {expected} of this fluid's grid, "
                f"got {emitter.shape.values.shape}"
            )

    @_at_work
    def _take_emitter(self, emitter: Emitter) -> None:
        """Check an emitter that is added, and make what it fills: no step is the time for that."""
        self._check_emitter(emitter)
        shape, grid, period = emitter.shape, self.grid, periods(self.grid, self.boundaries)
        lost = functools.partial(is_lost, emitter, grid, self.boundaries)
        if isinstance(shape, Mesh | Surface):
            mesh, where_open = (
                (shape, "what is inside it is a guess") if isinstance(shape, Mesh) else (shape.mesh, None)
            )
            axes = grid.dimensions
            doubt_mesh(mesh, emitter.matrix, grid, period, where_open, axes=axes, lost=lost)
        else:
            doubt_source(emitter, edge_width(emitter, grid) or 0.0, grid, period, lost)
        if emitter.color is not None and not self._under_way:
            self._solver.prepare_colors()

    @_at_work
    def _check_force(self, force: Force) -> None:
        expected = (*self.grid.cells[::-1], 3)
        if isinstance(force, ForceField) and force.array.shape != expected:
            raise GpufluidError(
                f"ForceField.values must have the shape {expected} in this fluid, got {force.array.shape}"
            )
        self._solver.forces.compile(force, self._solver.variant)

    def _check_obstacle(self, obstacle: Obstacle) -> None:
        self.check_alive()
        self._solver.check_obstacles()
        shape, matrix, period = obstacle.shape, obstacle.matrix, periods(self.grid, self.boundaries)
        if isinstance(shape, Mesh):
            where_open = "its solid is a guess inside its bounding box"
            doubt_mesh(shape, matrix, self.grid, period, where_open)
        else:
            doubt_solid(shape, shape.form, matrix, self.grid)


def _check_parts(grid: object, boundaries: object, settings: object, backend: str, ctx: object) -> None:
    """Raise GpufluidError for what no fluid can be made of."""
    if not isinstance(grid, Grid):
        raise GpufluidError(f"Fluid.grid must be a gf.Grid, got {grid!r}")
    one_of(backend, BACKENDS, "Fluid.backend")
    if not isinstance(boundaries, Boundaries | None):
        raise GpufluidError(f"Fluid.boundaries must be a gf.Boundaries, got {boundaries!r}")
    if not isinstance(settings, Settings | None):
        raise GpufluidError(f"Fluid.settings must be a gf.Settings, got {settings!r}")
    if ctx is not None and not hasattr(ctx, "version_code"):
        raise GpufluidError(f"Fluid.ctx must be a moderngl.Context, got {ctx!r}")


def _solver(
    grid: Grid, boundaries: Boundaries, settings: Settings, name: str, ctx: moderngl.Context | None
) -> Solver:
    """A solver on a backend of that `name`, at rest. Raises GpufluidError where there is no memory for it."""
    backend: Backend
    if name == "numpy":
        backend = NumpyBackend(grid)
    else:
        from gpufluid.gl.backend import GLBackend

        backend = GLBackend(grid, name, ctx, settings.precision)
    what = f"a fluid of {' x '.join(map(str, grid.cells))} cells"
    try:
        backend.check_memory(grid.cell_count, what)
        with backend.at_work("Fluid"), backend.all_or_none():
            return Solver(backend, settings, boundaries)
    except MemoryError:
        backend.release()
        raise GpufluidError(f"no memory for {what}") from None
    except BaseException:
        backend.release()
        raise


def _names(kind: Any) -> str:
    names = [f"gf.{one.__name__}" for one in getattr(kind, "__args__", (kind,))]
    return "a " + (names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}")


def _places(points: ArrayLike) -> NDArray[np.float64]:
    """`points` as [n, 3] float64, or GpufluidError."""
    try:
        places = real_array(points)
    except (TypeError, ValueError):
        raise GpufluidError("points must be an array of numbers of shape [n, 3]") from None
    if places.ndim != 2 or places.shape[1] != 3:
        raise GpufluidError(f"points must have the shape [n, 3], got {list(places.shape)}")
    if not held(places).all():
        where = int(np.argwhere(~held(places))[0][0])
        raise GpufluidError(f"points must be finite, got {tuple(places[where].tolist())} at {where}")
    return places
