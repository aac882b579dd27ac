"""The public Fluid: a box of smoke that is stepped."""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpufluid.backend import Backend, FieldStore
from gpufluid.boundaries import Boundaries
from gpufluid.checkpoint import load, restore, save
from gpufluid.diagnostics import Diagnostics, measure
from gpufluid.errors import GpufluidError, MeshWarning, named
from gpufluid.grid import Grid, finite_number
from gpufluid.layout import FlatLayout
from gpufluid.numpy_backend import NumpyBackend
from gpufluid.probes import Probes, Samples
from gpufluid.reference import center_velocity
from gpufluid.settings import Settings, one_of
from gpufluid.shapes import Mesh, Obstacle
from gpufluid.solver import Solver
from gpufluid.sources import Array, Emitter, Surface
from gpufluid.user_forces import Force, ForceField

if TYPE_CHECKING:
    import moderngl

    from gpufluid.gl.device import Device
    from gpufluid.gl.field import Field as GLField

BACKENDS = ("auto", "compute", "fragment", "numpy")
FIELDS = (
    *("density", "temperature", "fuel", "flame", "color", "velocity"),
    *("pressure", "divergence", "solid", "solid_normals"),
)
HUGE = 100.0  # times the longest side of the box: so large a mesh hardly belongs there
FloatArray = NDArray[np.float32]
P = ParamSpec("P")
R = TypeVar("R")
Thing = TypeVar("Thing", Emitter, Obstacle, Force)


def _at_work(method: Callable[P, R]) -> Callable[P, R]:
    """Method decorator: raise after the fluid's release; make its own context current, where it has one.

    So fluids may take turns in one process. A caller's context must be current, and keeps its state.
    """

    name = method.__qualname__

    @functools.wraps(method)
    def run(*given: P.args, **by_name: P.kwargs) -> R:
        fluid: Any = getattr(given[0], "_fluid", given[0])
        fluid.check_alive()
        with fluid._backend.at_work(name):
            return method(*given, **by_name)

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
            raise GpufluidError(f"expected {_names(self._kind)}, got {thing!r}")
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
        """Take `thing` away; raises GpufluidError where it was never added."""
        if thing not in self._things:
            raise GpufluidError(f"this {type(thing).__name__} is not in the fluid")
        self._things.remove(thing)

    def clear(self) -> None:
        """Take all away."""
        self._things.clear()

    def __iter__(self) -> Iterator[Thing]:
        return iter(self._things)

    def __len__(self) -> int:
        return len(self._things)

    def __getitem__(self, index: int) -> Thing:
        return self._things[index]


def checked_array(values: ArrayLike, shape: tuple[int, ...], name: str) -> FloatArray:
    """Return `values` as float32 of `shape`; raises GpufluidError naming the field, shape or bad number."""
    try:
        if np.iscomplexobj(values):
            raise TypeError
        with np.errstate(over="ignore"):  # what is too large becomes infinite, and is refused
            array = np.asarray(values, np.float32)
    except (TypeError, ValueError):
        raise GpufluidError(f"{name} must be an array of numbers of shape {shape}") from None
    if array.shape != shape:
        raise GpufluidError(f"{name} must have the shape {shape}, got {array.shape}")
    if not np.isfinite(array).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise GpufluidError(f"{name} must be finite, got {array[where]} at {where}")
    return array


class ScalarField:
    """One scalar of the fluid at the cell centres, [nz, ny, nx]."""

    def __init__(self, fluid: Fluid, name: str, store: FieldStore, channel: int) -> None:
        self.name = name
        self._fluid, self.store, self._channel = fluid, store, channel

    @_at_work
    def read(self) -> FloatArray:
        """Return a float32 copy [nz, ny, nx]; waits for the GPU."""
        return self.of(self.store.read())

    def of(self, stored: FloatArray) -> FloatArray:
        """This field of what is read from its store."""
        return np.ascontiguousarray(stored[..., self._channel])

    @_at_work
    def write(self, values: ArrayLike) -> None:
        """Set the values, [nz, ny, nx]; in solids a carried scalar stays 0.

        Raises GpufluidError for another shape or a number that is not finite.
        """
        array = checked_array(values, self._fluid.grid.cells[::-1], self.name)
        volume = self.store.read()
        volume[..., self._channel] = array
        if volume.shape[-1] == 4:  # the last channel tells fluid from solid, whose values are all 0
            volume[..., 3] = 1.0
            volume *= 1.0 - self._fluid.solid.read()[..., None]
        self.store.write(volume)


class ColorField:
    """Red, green and blue densities of coloured smoke at the cell centres, [nz, ny, nx, 3].

    The fluid holds them from the first emitter with a color, or the first `write`, on.
    """

    def __init__(self, fluid: Fluid, solver: Solver) -> None:
        self.name = "color"
        self._fluid, self._solver = fluid, solver
        self._shape = (*fluid.grid.cells[::-1], 3)

    @_at_work
    def read(self) -> FloatArray:
        """Return a float32 copy [nz, ny, nx, 3], zeros where there is no colour; waits for the GPU."""
        store = self.store
        return np.zeros(self._shape, np.float32) if store is None else self.of(store.read())

    @property
    def store(self) -> FieldStore | None:
        """Where it is kept; None where there is no colour yet."""
        return self._solver.colors.field

    def of(self, stored: FloatArray) -> FloatArray:
        """This field of what is read from its store."""
        return np.ascontiguousarray(stored[..., :3])

    @_at_work
    def write(self, values: ArrayLike) -> None:
        """Set the values, [nz, ny, nx, 3]; in solids they stay 0.

        Raises GpufluidError for another shape or a number that is not finite.
        """
        volume = np.ones((*self._shape[:3], 4), np.float32)
        volume[..., :3] = checked_array(values, self._shape, self.name)
        volume *= 1.0 - self._fluid.solid.read()[..., None]
        self._solver.prepare_colors().write(volume)


class DerivedField:
    """A field that follows from the others, [nz, ny, nx(, c)]: it can be read only."""

    def __init__(self, fluid: Fluid, name: str, compute: Callable[[], FloatArray], source: str) -> None:
        self.name, self._fluid, self._compute, self._source = name, fluid, compute, source

    @_at_work
    def read(self) -> FloatArray:
        """Return it as it is now, float32 [nz, ny, nx(, c)]; waits for the GPU."""
        return self._compute()

    @property
    def store(self) -> None:
        """It is kept nowhere."""

    @_at_work
    def write(self, values: ArrayLike) -> None:
        """Raise GpufluidError: it follows from something else, named there."""
        raise GpufluidError(f"{self.name} cannot be written: it follows from {self._source}")


class VelocityField:
    """The staggered velocity, m/s: component i on the low face along axis i."""

    def __init__(self, fluid: Fluid, store: FieldStore) -> None:
        self.name = "velocity"
        self._fluid, self.store = fluid, store
        nx, ny, nz = fluid.grid.cells
        self._shape = (nz + 1, ny + 1, nx + 1, 3)

    @_at_work
    def read(self) -> FloatArray:
        """Return a float32 copy [nz + 1, ny + 1, nx + 1, 3]; entries that are no face are 0."""
        return self.of(self.store.read())

    def of(self, stored: FloatArray) -> FloatArray:
        """This field of what is read from its store."""
        out = np.zeros(self._shape, np.float32)
        out[: stored.shape[0]] = stored[..., :3]
        return out

    @_at_work
    def write(self, values: ArrayLike) -> None:
        """Set it from [nz + 1, ny + 1, nx + 1, 3]. Faces of walls and solids keep the wall's velocity.

        The high side of a periodic box is its low side: what is given for it is not used.

        Raises GpufluidError for another shape or a number that is not finite.
        """
        array = checked_array(values, self._shape, self.name)
        volume = self.store.read()
        volume[..., :3] = array[: volume.shape[0]]
        for axis in range(self._fluid.grid.dimensions):
            if self._fluid.boundaries.periodic(axis):
                line = np.moveaxis(volume, 2 - axis, 0)
                line[-1] = line[0]
        self.store.write(volume)

    @_at_work
    def at_centers(self) -> FloatArray:
        """Return the mean of opposite faces, float32 [nz, ny, nx, 3]."""
        # single precision is enough: the sum of two numbers is rounded once either way
        return center_velocity(self._fluid.grid, self.store.read()).astype(np.float32, copy=False)


@named
class Fluid:
    """A box of fluid.

    grid: cells and size. boundaries: the six sides. settings: schemes and numbers.
    backend: "compute" (GL 4.3), "fragment" (GL 3.3), "numpy" (no GL, float64), or "auto", the faster of the
        first two on this renderer. ctx: a moderngl.Context of the caller's, used and never released, and
        made current by the caller; None makes one without a window, which every call makes current.

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
        if not isinstance(grid, Grid):
            raise GpufluidError(f"Fluid.grid must be a gf.Grid, got {grid!r}")
        one_of(backend, BACKENDS, "Fluid.backend")
        if not isinstance(boundaries, Boundaries | None):
            raise GpufluidError(f"Fluid.boundaries must be a gf.Boundaries, got {boundaries!r}")
        if not isinstance(settings, Settings | None):
            raise GpufluidError(f"Fluid.settings must be a gf.Settings, got {settings!r}")
        if ctx is not None and not hasattr(ctx, "version_code"):
            raise GpufluidError(f"Fluid.ctx must be a moderngl.Context, got {ctx!r}")
        self.grid = grid
        self.boundaries = boundaries or Boundaries()
        self._settings = settings or Settings()
        self._released = False
        self._last_dt = 1.0
        self._backend: Backend
        if backend == "numpy":
            self._backend = NumpyBackend(grid)
        else:
            from gpufluid.gl.backend import GLBackend

            self._backend = GLBackend(grid, backend, ctx, self.settings.precision)
        try:
            self._backend.check_memory(
                grid.cell_count, f"a fluid of {' x '.join(map(str, grid.cells))} cells"
            )
            with self._backend.at_work("Fluid"):
                self._solver = Solver(self._backend, self.settings, self.boundaries)
        except MemoryError:
            self._backend.release()
            raise GpufluidError(
                f"no memory for a fluid of {' x '.join(map(str, grid.cells))} cells"
            ) from None
        except BaseException:
            self._backend.release()
            raise
        self.emitters: Things[Emitter] = Things(Emitter, self._take_emitter)
        self.obstacles: Things[Obstacle] = Things(Obstacle, self._check_obstacle)
        self.forces: Things[Force] = Things(Force, self._check_force)
        self._probes = Probes(self._backend)
        solver = self._solver
        self.velocity = VelocityField(self, solver.velocity)
        self.density = ScalarField(self, "density", solver.scalars, 0)
        self.temperature = ScalarField(self, "temperature", solver.scalars, 1)
        self.fuel = ScalarField(self, "fuel", solver.scalars, 2)
        self.color = ColorField(self, solver)
        self.pressure = ScalarField(self, "pressure", solver.projection.pressure, 0)
        self.divergence = DerivedField(self, "divergence", self._divergence, "fluid.velocity")
        self.flame = DerivedField(self, "flame", self._flame, "fluid.temperature and fluid.fuel, in a step")
        self.solid = DerivedField(self, "solid", self._solid, "fluid.obstacles")
        self.solid_normals = DerivedField(self, "solid_normals", self._solid_normals, "fluid.obstacles")

    @property
    def settings(self) -> Settings:
        """The schemes and numbers it is stepped by.

        Assign others at any time: ``fluid.settings = fluid.settings.but(viscosity=0.1)``; the flow goes on
        from what it is. Raises GpufluidError for another precision, which needs another Fluid.
        """
        return self._settings

    @settings.setter
    @_at_work
    def settings(self, settings: Settings) -> None:
        if not isinstance(settings, Settings):
            raise GpufluidError(f"Fluid.settings must be gf.Settings, got {settings!r}")
        if settings.precision != self._settings.precision:
            raise GpufluidError(
                f"Fluid.settings cannot go from precision={self._settings.precision!r} to "
                f"{settings.precision!r}: make another Fluid"
            )
        if settings != self._settings:
            self._solver.use(settings)
            self._settings = settings

    # -- stepping --------------------------------------------------------------------------------------

    @_at_work
    def step(self, dt: float) -> None:
        """Advance by `dt` seconds; 0 changes nothing.

        Raises GpufluidError for a dt that is negative, NaN or infinite, for an emitter or obstacle that was
        changed into a bad one, for a force function on NumPy that fails, and for a dt over which a
        diffusivity reaches too far to be solved for, as it may round solids (see `gpufluid.diffusion`); the
        fluid is then as it was.
        """
        dt = finite_number(dt, "dt", low=0.0)
        for thing in (*self.emitters, *self.obstacles, *self.forces):
            thing.check()
        for emitter in self.emitters:
            self._check_emitter(emitter)
        for force in self.forces:
            self._check_force(force)
            self._solver.forces.try_out(force, self.time)
        if dt == 0.0:
            return
        if any(emitter.color is not None for emitter in self.emitters):
            self._solver.prepare_colors()
        self._solver.step(dt, list(self.emitters), list(self.obstacles), list(self.forces))
        self._last_dt = dt

    @_at_work
    def project(self) -> None:
        """The projection alone, on the velocity as it is; the pressure is that of the last dt, or of 1 s."""
        self._solver.project(self._last_dt, list(self.obstacles))

    @_at_work
    def take(self, names: Sequence[str]) -> Callable[[], dict[str, FloatArray]]:
        """Copy fields as they are now; what is returned gives them by name, as `read` does, in any thread.

        names: of the attributes that are fields. Each texture is copied once, and unpacked where it is
        called: this waits for the GPU as `read` does, but costs the thread that steps less.
        Raises GpufluidError for another name.
        """
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
    def sample(self, points: ArrayLike) -> Samples:
        """Ask what flows at `points` [n, 3], metres, without waiting for the GPU.

        The answer is of this moment and comes a frame or so later: ``samples.ready``, ``samples.velocity``.
        Raises GpufluidError for points of another shape or that are not finite.
        """
        try:
            places = np.array(points, np.float64)
        except (TypeError, ValueError):
            raise GpufluidError("points must be an array of numbers of shape [n, 3]") from None
        if places.ndim != 2 or places.shape[1] != 3:
            raise GpufluidError(f"points must have the shape [n, 3], got {list(places.shape)}")
        if not np.isfinite(places).all():
            where = int(np.argwhere(~np.isfinite(places))[0][0])
            raise GpufluidError(f"points must be finite, got {tuple(places[where].tolist())} at {where}")
        solver = self._solver
        solver.solids.update(list(self.obstacles), None)
        return self._probes.ask(
            places, solver.variant, solver.solids.cells, velocity=solver.velocity, scalars=solver.scalars
        )

    @_at_work
    def diagnostics(self) -> Diagnostics:
        """Measure energy, speed, CFL number, divergence and mass; waits for the GPU."""
        self._solver.solids.update(list(self.obstacles), None)
        return measure(self._solver, self.grid, self._last_dt)

    @_at_work
    def reset(self) -> None:
        """Back to rest and clean air; emitters and obstacles stay."""
        solver = self._solver
        for store, values in (
            (solver.velocity, [0.0] * 4),
            (solver.scalars, [0.0, self.settings.ambient_temperature, 0.0, 1.0]),
        ):
            store.fill(values)
        solver.colors.clear()
        solver.cover()
        solver.fire.clear()
        solver.projection.clear()
        solver.time = 0.0

    @_at_work
    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> Path:
        """Write all that the next step starts from to a file, and return its path; see `load`.

        The file appears whole or not at all. Raises GpufluidError for a file that exists, unless `overwrite`,
        for what the disk refuses, and naming what no file can hold: a pressure solver or a function of yours.
        """
        return save(self, path, overwrite)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        ctx: moderngl.Context | None = None,
        backend: str | None = None,
    ) -> Fluid:
        """Return the fluid of a file of `save`: on the same device it goes on as the saved one, bit for bit.

        ctx: as in the constructor. backend: as in the constructor; None: the one the saved fluid ran on. On
        another backend or device the state is the same and the steps differ by their rounding.
        Raises GpufluidError for a file that is missing, cut, altered, or of another version, before any field
        is made, and as the constructor does.
        """
        return load(cls, path, ctx, backend)

    @_at_work
    def restore(self, path: str | os.PathLike[str]) -> None:
        """Take the state from a file of `save`, of a fluid with this one's grid and as many obstacles.

        Emitters, obstacles, forces, sides and settings stay this fluid's own: a program that has made them
        again goes on, bit for bit where they are what they were. Raises GpufluidError as `load` does.
        """
        restore(self, path)

    @property
    def time(self) -> float:
        """Seconds stepped since the start or the last `reset`."""
        return self._solver.time

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
        """How volumes lie in textures, by kind: cell, face, packed, pack, block."""
        layouts: dict[str, FlatLayout] = getattr(self._backend, "layouts", {})
        return layouts

    @property
    def scalars(self) -> GLField:
        """The flat texture of density, temperature, fuel and fluid fraction; not on NumPy."""
        return self._gl_field(self._solver.scalars)

    @property
    def color_field(self) -> GLField | None:
        """The flat texture of red, green, blue and fluid fraction, or None where there is no colour."""
        store = self._solver.colors.field
        return None if store is None else self._gl_field(store)

    @property
    def flame_field(self) -> GLField | None:
        """The flat texture of `flame`, one channel, or None without combustion."""
        store = self._solver.fire.flame
        return None if store is None else self._gl_field(store)

    @property
    def solid_field(self) -> GLField | None:
        """The flat texture of the solids (velocity, 1 inside) as last voxelized, or None without any."""
        store = self._solver.solids.solid
        return None if store is None else self._gl_field(store)

    @property
    def velocity_field(self) -> GLField:
        """The flat texture of the velocity, component i on the low face along axis i; not on NumPy."""
        return self._gl_field(self._solver.velocity)

    @property
    def pressure_field(self) -> GLField:
        """The flat texture of the pressure, four cells along x in a texel; not on NumPy."""
        return self._gl_field(self._solver.projection.pressure)

    def give(self, program: moderngl.Program, unit: int = 8) -> None:
        """Set what ``gf.glsl("sample")`` in a program of yours reads: the fluid as it is now.

        Binds two textures, from `unit` on, and leaves them bound: call it after each step.
        Raises GpufluidError on NumPy, which has no textures.
        """
        self.check_alive()
        fields = {"gpufluid_scalars": self.scalars, "gpufluid_velocity": self.velocity_field}
        values = {
            "gpufluid_origin": tuple(self.grid.origin),
            "gpufluid_cell_size": self.grid.cell_size,
            "gpufluid_cells": tuple(self.grid.cells),
            "gpufluid_tiles": (self.layouts["cell"].columns, self.layouts["face"].columns),
        }
        for at, (name, field) in enumerate(fields.items(), unit):
            field.front.use(at)
            values[name] = at
        for name, value in values.items():
            if name in program:  # a compiler leaves out what a shader does not use
                program[name].value = value  # type: ignore[union-attr]

    def _gl_field(self, store: Any) -> GLField:
        if self.device is None:
            raise GpufluidError('a fluid on backend="numpy" has no textures: read() its fields instead')
        field: GLField = store
        return field

    @_at_work
    def finish(self) -> None:
        """Wait until every step asked for is done."""
        self._backend.finish()

    def release(self) -> None:
        """Release everything but a context of the caller's; idempotent."""
        if not self._released:
            with self._backend.at_work("Fluid.release"):
                self._released = True
                self._probes.release()
                self._solver.release()
                self._backend.release()

    def check_alive(self) -> None:
        """Raise GpufluidError after `release`."""
        if self._released:
            raise GpufluidError("this Fluid was released")

    def __enter__(self) -> Fluid:
        return self

    def __exit__(self, *exception: object) -> None:
        self.release()

    def _divergence(self) -> FloatArray:
        solver = self._solver
        solver.solids.update(list(self.obstacles), None)
        solver.projection.measure(solver.variant, solver.solids.openings, velocity=solver.velocity)
        return solver.projection.divergence.read()[..., 0]

    def _flame(self) -> FloatArray:
        """What burnt per second in the last substep, 1/s, [nz, ny, nx]; 0 without combustion."""
        store = self._solver.fire.flame
        if store is None:
            return np.zeros(self.grid.cells[::-1], np.float32)
        return np.ascontiguousarray(store.read()[..., 0])

    def _solid(self) -> FloatArray:
        self._solver.solids.update(list(self.obstacles), None)
        store = self._solver.solids.solid
        if store is None:
            return np.zeros(self.grid.cells[::-1], np.float32)
        return np.ascontiguousarray(store.read()[..., 3])

    def _solid_normals(self) -> FloatArray:
        """Out of the solids into the fluid, unit length, [nz, ny, nx, 3]; 0 away from their surface."""
        self._solver.solids.update(list(self.obstacles), None)
        store = self._solver.solids.normals()
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
        if isinstance(emitter.shape, Mesh | Surface):
            solid = isinstance(emitter.shape, Mesh)
            mesh = emitter.shape if isinstance(emitter.shape, Mesh) else emitter.shape.mesh
            self._doubt(mesh, emitter.matrix, "what is inside it is a guess" if solid else None)
        if emitter.color is not None:
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
        self._solver.check_obstacles()
        if isinstance(obstacle.shape, Mesh):
            self._doubt(obstacle.shape, obstacle.matrix, "its solid is a guess inside its bounding box")

    def _doubt(self, mesh: Mesh, matrix: NDArray[np.float64], where_open: str | None) -> None:
        """Warn of a mesh, placed by `matrix`, that will hardly be what was meant.

        where_open: what follows for one that is not closed; None: nothing.
        """
        size, cell = max(self.grid.size), self.grid.cell_size
        corners = mesh.vertices @ matrix[:3, :3].T + matrix[:3, 3]
        low, high = corners.min(0), corners.max(0)
        extent = high - low
        doubts = []
        if where_open is not None and not mesh.is_closed:
            doubts.append(f"is not closed ({mesh.open_edges} open edges): {where_open}")
        if (high < self.grid.origin).any() or (low > self.grid.upper).any():
            doubts.append(
                f"lies outside the box: it spans {_triple(low)} to {_triple(high)}, the box "
                f"{_triple(self.grid.origin)} to {_triple(self.grid.upper)} m"
            )
        elif extent.max() < cell:
            doubts.append(
                f"is {extent.max():.3g} m across, and a cell {cell:.3g} m: it may lie between the cells"
            )
        if extent.max() > HUGE * size:
            doubts.append(f"is {extent.max():.3g} m across, and the box {size:.3g} m: is its unit right?")
        for doubt in doubts:
            warnings.warn(f"{mesh!r} {doubt}", MeshWarning, stacklevel=5)


def _names(kind: Any) -> str:
    names = [f"gf.{one.__name__}" for one in getattr(kind, "__args__", (kind,))]
    return "a " + (names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}")


def _triple(values: ArrayLike) -> str:
    return "(" + ", ".join(f"{v:.3g}" for v in np.asarray(values)) + ")"
