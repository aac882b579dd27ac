"""The public Fluid: a box of smoke that is stepped."""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpufluid.common.checks import finite_number, finite_triple, whole_triple
from gpufluid.common.errors import GpufluidError, UnknownNameError, named, one_of, several, short
from gpufluid.common.vectors import Counts, Number, Triple, Vector
from gpufluid.contract.backend import Backend, release
from gpufluid.contract.layout import FlatLayout
from gpufluid.description.boundaries import Boundaries, Side
from gpufluid.description.doubts import doubt_obstacle, doubt_settings
from gpufluid.description.grid import FARTHEST, TINY, Grid
from gpufluid.description.obstacles import Obstacle
from gpufluid.description.periodic import into_box, periods
from gpufluid.description.settings import Settings
from gpufluid.description.sources import Array, Emitter
from gpufluid.description.user_forces import Force, ForceField
from gpufluid.engine.checkpoint import Contents, Kept, Taken, load, restore, take
from gpufluid.engine.derived import Derived
from gpufluid.engine.fields import (
    ColorField,
    DerivedField,
    Field,
    FloatArray,
    ScalarField,
    VelocityField,
    take_fields,
)
from gpufluid.engine.following import MovingBox
from gpufluid.engine.stepper import Handle, Stepper, at_work, at_work_as, between_steps
from gpufluid.engine.things import Things
from gpufluid.numerics.diagnostics import Diagnostics, measure
from gpufluid.numerics.drag import AIR_DENSITY, GRAVITY, SPHERE_DRAG, BodyForces, parts_of
from gpufluid.numerics.emission import doubt_emitter
from gpufluid.numerics.probes import Probes, Samples, places_of
from gpufluid.numerics.saved import HALVED, Halves, Saved
from gpufluid.numerics.solver import Solver
from gpufluid.reference.numpy_backend import NumpyBackend

if TYPE_CHECKING:
    import moderngl

    from gpufluid.gl.device import Device
    from gpufluid.gl.field import Field as GLField

BACKENDS = ("auto", "compute", "fragment", "numpy")
FIELDS = (
    *("density", "temperature", "fuel", "flame", "color", "velocity"),
    *("pressure", "divergence", "vorticity", "solid", "solid_normals"),
)


# names that only `Settings` has; the pressure of a fluid is a field
_SETTINGS = {field.name for field in dataclasses.fields(Settings)} - {"pressure"}


@named
class Fluid(Handle):
    """A box of fluid: put things into it, `step` it, read its fields or draw it.

    grid: its cells and size.
    boundaries: the six sides; None: no-slip walls.
    settings: schemes and numbers; None: `Settings()`.
    backend: "compute" (GL 4.3), "fragment" (GL 3.3), "numpy" (no GL, float64), or "auto", the faster of the
        first two on this renderer.
    ctx: a moderngl.Context of yours, which you make current and which is never released here; None makes one
        without a window, and every call makes it current.

    emitters, obstacles, forces: what is in the box. Add things, remove them and change them at any time.
    velocity: on the faces, m/s, to read and write.
    density, temperature, fuel, color, pressure: at the cell centres, to read and write; the pressure is
        divided by the fluid's density, m^2/s^2.
    divergence, vorticity: at the cell centres, to read: the divergence and the curl (x, y, z) of the
        velocity, 1/s.
    flame, solid, solid_normals: at the cell centres, to read: burns per second; 1 in solids; the direction
        out of the solids beside a cell.

    Fields are arrays to NumPy, and have `read` and `write`: [z, y, x] or [z, y, x, component].

    Raises GpufluidError for bad input, GLUnavailableError where there is no OpenGL.
    """

    _instead = "fluid.save(file) and gf.Fluid.load(file) make another"

    def __init__(
        self,
        grid: Grid,
        boundaries: Boundaries | None = None,
        settings: Settings | None = None,
        backend: str = "auto",
        ctx: moderngl.Context | None = None,
    ) -> None:
        _check_parts(grid, boundaries, settings, backend, ctx)
        settings = settings or Settings()
        doubt_settings(settings)
        self._solver = _solver(grid, boundaries or Boundaries(), settings, backend, ctx)
        self._backend: Backend = self._solver.backend
        self.emitters: Things[Emitter] = Things(Emitter, self._take_emitter)
        self.obstacles: Things[Obstacle] = Things(Obstacle, self._check_obstacle)
        self.forces: Things[Force] = Things(Force, self._check_force)
        self._stepper = stepper = Stepper(self._solver, self.emitters, self.obstacles, self.forces)
        self._derived = derived = Derived(stepper)
        self._probes = Probes(self._backend)
        self._box = MovingBox(stepper)
        self._saved = Saved(self._backend)
        self.velocity = VelocityField(stepper)
        self.density = ScalarField(stepper, "density", lambda state: state.scalars, 0)
        self.temperature = ScalarField(stepper, "temperature", lambda state: state.scalars, 1)
        self.fuel = ScalarField(stepper, "fuel", lambda state: state.scalars, 2)
        self.color = ColorField(stepper)
        self.pressure = ScalarField(stepper, "pressure", lambda state: state.pressure, 0)
        self.divergence = DerivedField(stepper, "divergence", derived.divergence, "fluid.velocity")
        self.vorticity = DerivedField(stepper, "vorticity", derived.vorticity, "fluid.velocity", (3,))
        burnt = "fluid.temperature and fluid.fuel, in a step"
        self.flame = DerivedField(stepper, "flame", derived.flame, burnt)
        self.solid = DerivedField(stepper, "solid", derived.solid, "fluid.obstacles")
        self.solid_normals = DerivedField(
            stepper, "solid_normals", derived.solid_normals, "fluid.obstacles", (3,)
        )

    def __repr__(self) -> str:
        if self._stepper.released:
            return "<gf.Fluid, released>"
        cells = " x ".join(map(str, self.grid.cells))
        size, name = self.grid.cell_size, self.backend_name
        return f"<gf.Fluid of {cells} cells of {size:.4g} m, {name}, at {self.time:.4g} s>"

    if not TYPE_CHECKING:  # a type checker would let every name pass

        def __setattr__(self, name: str, value: object) -> None:
            if name == "grid":
                raise GpufluidError("fluid.grid cannot be replaced: make another fluid")
            if name in _SETTINGS:  # it would change nothing
                raise UnknownNameError(
                    f"gf.Fluid has no {name!r}: say fluid.settings = fluid.settings.but({name}={value!r})"
                )
            part = self.__dict__.get(name)
            if isinstance(part, Things):
                raise GpufluidError(f"fluid.{name} cannot be replaced: add(...) to and remove(...) from it")
            if isinstance(part, Field):
                raise GpufluidError(f"fluid.{name} cannot be replaced: write(...) into it")
            super().__setattr__(name, value)

    @property
    def boundaries(self) -> Boundaries:
        """The six sides.

        Assign others at any time, whose velocities, densities and temperatures may differ:
        ``fluid.boundaries = fluid.boundaries.but(left=gf.Inflow((2.0, 0.0, 0.0)))``. They count from the next
        step on, for all of it; a step under way goes on by those it began with. The first change compiles the
        passes that read them once more, so say ``changing=True`` when the fluid is made if that must not take
        time later. Raises GpufluidError where a side becomes another kind of side, a wall begins or ceases to
        slip, or to have a temperature: that needs another Fluid.
        """
        return self._stepper.boundaries

    @boundaries.setter
    @at_work
    @between_steps
    def boundaries(self, boundaries: Boundaries) -> None:
        _check_sides(boundaries)
        self._stepper.use_sides(boundaries)

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
    def spare(self) -> tuple[Triple, Triple]:
        """Cells at the low and at the high ends of the box in which pictures show no smoke, along (x, y, z).

        A box that follows a point moves by whole cells; what lies between these ends moves smoothly with the
        point, so smoke that thins out towards the ends does not tremble. 0 in a box that follows nothing.
        """
        return self._box.spare

    @property
    def settings(self) -> Settings:
        """The schemes and numbers it is stepped by.

        Assign others at any time: ``fluid.settings = fluid.settings.but(viscosity=0.001)``; the flow goes on
        from what it is, and a step under way by those it began with. Raises GpufluidError for another
        precision, which needs another Fluid.
        """
        return self._stepper.settings

    @settings.setter
    @at_work
    @between_steps
    def settings(self, settings: Settings) -> None:
        _check_settings(settings)
        before = self._stepper.settings
        if settings.precision != before.precision:
            raise GpufluidError(
                f"Fluid.settings cannot go from precision={before.precision!r} to "
                f"{settings.precision!r}: make another Fluid"
            )
        if settings.pressure != before.pressure:
            doubt_settings(settings)
        self._stepper.use(settings)

    # -- stepping --------------------------------------------------------------------------------------

    @at_work
    @between_steps
    def step(self, dt: Number) -> None:
        """Advance by `dt` seconds; 0 changes nothing, nor does what is next to 0 in single precision (1e-36).

        Raises GpufluidError for a dt that is negative, NaN or infinite; for an emitter or obstacle that was
        changed into an impossible one; for a force function on NumPy that fails; and for a dt over which a
        diffusivity reaches too far to be solved for, as it may round solids (see
        `gpufluid.numerics.diffusion`). The fluid is then as it was, and also where a pressure solver of your
        own raises anything.
        """
        dt = finite_number(dt, "dt", low=0.0)
        self._stepper.finish()
        self._check_things()
        if dt >= TINY:
            self._stepper.step(dt)

    @between_steps
    def advance(self, dt: Number, budget_ms: Number = 4.0) -> bool:
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
        self._stepper.check_alive()
        dt = finite_number(dt, "dt", low=0.0)
        budget = 1e-3 * finite_number(budget_ms, "budget_ms", above=0.0, most=math.inf)
        stepper = self._stepper
        with self._backend.at_work("Fluid.advance"):
            slices = stepper.make_slices()
            if not stepper.under_way:
                self._check_things()
                if dt < TINY:
                    return True
                stepper.begin(dt)
            done = stepper.go_on(budget, started)
        slices.call_ended()
        return done

    @property
    def progress(self) -> float:
        """How far `advance` is with its step, 0 .. 1, judged by the time the last one took; 0: none is under
        way.
        """
        slices = self._stepper.slices
        return slices.progress if slices else 0.0

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
            self._solver.flow.forces.try_out(force, self.time)
        if any(emitter.color is not None for emitter in self.emitters):
            self._solver.prepare_colors()

    @at_work
    @between_steps
    def project(self) -> None:
        """Do the projection alone: take the divergence out of the velocity as it is now.

        The pressure is that of the last dt, or of 1 s, and is found afresh whatever `warm_start` says. Raises
        GpufluidError for an obstacle where `gpufluid.description.solvers.FFT` solves for the pressure.
        """
        self._stepper.finish()
        self._stepper.project()

    # -- a box that moves ------------------------------------------------------------------------------

    @at_work
    @between_steps
    def scroll(self, cells: Counts) -> None:
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
        self._box.scroll(whole_triple(cells, "cells", FARTHEST))

    @at_work
    @between_steps
    def follow(
        self,
        point: Vector,
        dead_zone: Number | Vector = 0.0,
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
        return self._box.follow(place, zone, axes)

    @at_work
    def take(self, names: Sequence[str]) -> Callable[[], dict[str, FloatArray]]:
        """Copy fields as they are now, and return a function that gives them by name, in any thread.

        names: of the attributes that are fields. Each texture is copied once, and unpacked where the function
        is called, with shapes [z, y, x(, c)] as `read` has them: that waits for the GPU as `read` does, but
        takes less time of the thread that steps. Raises GpufluidError for another name.
        """
        several(names, "names")
        for name in names:
            one_of(name, FIELDS, "names")
        return take_fields({name: getattr(self, name) for name in names})

    @at_work
    def take_halves(self, names: Sequence[str]) -> Callable[[], dict[str, Halves]]:
        """Copy fields as `take` does, rounded to half floats, all at the cell centres: [nz, ny, nx(, 3)].

        names: of HALVED. The velocity is the mean of opposite faces. What is finite ends at 65504. The arrays
        may share memory. The GPU rounds, so that half as many bytes are read back. Raises GpufluidError for
        another name.
        """
        several(names, "names")
        for name in names:
            one_of(name, HALVED, "names")
        return self._saved.take(names, self._stepper.seen())

    @at_work
    def sample(self, points: ArrayLike) -> Samples:
        """Ask for the flow at `points` [n, 3], metres, without waiting for the GPU; n may be 0.

        The answer is of this moment and arrives about a frame later: ``samples.ready``, ``samples.velocity``.
        Along a periodic axis a point counts modulo the box.
        Raises GpufluidError for points of another shape or that are not finite.
        """
        return self._ask(places_of(points))

    def _ask(self, places: NDArray[np.float64]) -> Samples:
        state = self._stepper.seen()
        return self._probes.ask(
            into_box(self.grid, self.boundaries, places),
            state.variant,
            state.solids.cells,
            velocity=state.velocity,
            scalars=state.scalars,
        )

    @at_work
    def forces_on(
        self,
        points: ArrayLike,
        areas: ArrayLike,
        velocities: ArrayLike = (0.0, 0.0, 0.0),
        *,
        drag_coefficient: Number = SPHERE_DRAG,
        volumes: ArrayLike = 0.0,
        center: Vector | None = None,
        air_density: Number = AIR_DENSITY,
        gravity: Vector = GRAVITY,
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
        places = places_of(points)
        parts = parts_of(
            places,
            areas=areas,
            velocities=velocities,
            drag_coefficient=drag_coefficient,
            volumes=volumes,
            center=center,
            air_density=air_density,
            gravity=gravity,
        )
        return BodyForces(self._ask(places), *parts)

    @at_work
    def diagnostics(self) -> Diagnostics:
        """Measure energy, speed, CFL number, divergence and mass; waits for the GPU."""
        return measure(self._stepper.seen(), self.grid, self._stepper.last_dt)

    @at_work
    @between_steps
    def reset(self) -> None:
        """Go back to rest and clean air, with the box where it was made; emitters and obstacles stay.

        The next step is that of a new fluid with them: where obstacles were before no longer counts. A step
        under way is abandoned. Raises GpufluidError for an obstacle that was changed into an impossible one.
        """
        self._stepper.checked_obstacles()
        self._stepper.drop()
        self._box.scroll_to((0, 0, 0))
        self._stepper.reset()

    @at_work
    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> Path:
        """Write everything that the next step starts from to a file, and return its path; see `load`.

        The file appears whole or not at all. Raises GpufluidError for a file that exists, unless `overwrite`,
        for what the disk refuses, and naming what no file can hold: a pressure solver or a function of yours.
        """
        return self.take_state().write(path, overwrite)

    @at_work
    def take_state(self) -> Taken:
        """Read the state as it is now, and return it: its ``write(path, overwrite)`` is as `save`.

        It may be written later, and in another thread; `restore` and `load` take it as it is. Raises
        GpufluidError for what no file can hold.
        """
        for thing in (*self.emitters, *self.obstacles, *self.forces):
            thing.check()
        return take(self._stepper, self._box.middle)

    @classmethod
    def load(
        cls,
        path: Kept,
        ctx: moderngl.Context | None = None,
        backend: str | None = None,
    ) -> Fluid:
        """Return the fluid in a file of `save`. On the same device it continues bit for bit as the saved one.

        path: or what `take_state` has returned. ctx: as in the constructor. backend: as in the constructor;
        None: the one the saved fluid ran on. On another backend or device the state is the same, and the
        steps differ by their rounding.
        Raises GpufluidError for a file that is missing, cut short, altered, or of another version, before any
        field is made, and as the constructor does.
        """
        return load(cls, path, ctx, backend, cls._take_over)

    @at_work
    @between_steps
    def restore(self, path: Kept) -> None:
        """Take the state from a file of `save`, of a fluid with this one's grid and as many obstacles.

        path: or what `take_state` has returned. Emitters, obstacles, forces, sides and settings stay this
        fluid's own: a program that has made them again continues, bit for bit if they are the same. Colour
        and flames that are not in the file become 0. Raises GpufluidError as `load` does.
        """
        restore(self._stepper, path, self._take_over)

    @at_work_as("Fluid.load")
    def _take_over(self, found: Contents) -> None:
        """Add the things and take the state that were `found` in a file; raise where that does not fit."""
        for name, some in found.things.items():
            for thing in some:
                getattr(self, name).add(thing)
        found.check(self._solver)
        self._stepper.drop()
        found.give(self._solver, list(self.obstacles))
        self._box.middle = found.middle
        self._stepper.last_dt = found.last_dt

    @property
    def time(self) -> float:
        """Seconds stepped since the start or the last `reset`."""
        return self._stepper.state.time

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
    def ctx(self) -> moderngl.Context | Any:  # Any: who has not asked for NumPy need not ask for None
        """The GL context, None on NumPy."""
        return getattr(self._backend, "ctx", None)

    @property
    def layouts(self) -> dict[str, FlatLayout]:
        """How volumes are laid out in textures, by kinds (`gpufluid.contract.layout`); none on NumPy."""
        layouts: dict[str, FlatLayout] = getattr(self._backend, "layouts", {})
        return layouts

    @property
    def scalars(self) -> GLField:
        """The flat texture of density, temperature, fuel and fluid fraction; not on NumPy."""
        return self._gl_field(self._stepper.state.scalars)

    @property
    def color_field(self) -> GLField | None:
        """The flat texture of red, green, blue and fluid fraction, or None where there is no colour."""
        store = self._stepper.state.color
        return None if store is None else self._gl_field(store)

    @property
    def flame_field(self) -> GLField | None:
        """The flat texture of `flame`, one channel, or None without combustion."""
        store = self._stepper.state.flame
        return None if store is None else self._gl_field(store)

    @at_work
    def voxelize(self) -> None:
        """Update `solid_field` to where the obstacles are now; pictures do this first of all.

        Looking does not stop what moves: the next step is as it would be without. While a step of `advance`
        is under way the obstacles are those of the state before it. Raises GpufluidError after `release`, and
        for an obstacle that was changed into an impossible one.
        """
        self._stepper.seen()

    @property
    def solid_field(self) -> GLField | None:
        """The flat texture of the solids (1 inside) as last voxelized, or None without any."""
        store = self._stepper.state.solids.solid
        return None if store is None else self._gl_field(store)

    @property
    def velocity_field(self) -> GLField:
        """The flat texture of the velocity, component i on the low face along axis i; not on NumPy."""
        return self._gl_field(self._stepper.state.velocity)

    @property
    def pressure_field(self) -> GLField:
        """The flat texture of the pressure, four cells along x in a texel; not on NumPy."""
        return self._gl_field(self._stepper.state.pressure)

    def give(self, program: moderngl.Program | int, unit: int = 8, prefix: str = "gpufluid") -> None:
        """Set what ``gf.glsl("sample")`` reads in `program`, one of yours: the fluid as it is now.

        program: a moderngl.Program, or the name that OpenGL gave one that moderngl has not made.
        Binds two textures, from `unit` on, and leaves them bound: call it after each step. prefix: that given
        to `glsl`; a shader that asks for two fluids has one for each, and units of their own.
        Raises GpufluidError on NumPy, which has no textures, for a program that is not in this context, and
        for a unit or a prefix that cannot be.
        """
        from gpufluid.gl.hosts import hosts_program
        from gpufluid.gl.state import lent
        from gpufluid.gl.uniforms import give

        self._stepper.check_alive()
        fields = {"scalars": self.scalars, "velocity": self.velocity_field}
        assert self.device is not None  # or there were no velocity_field
        known = hosts_program(program, self.device.ctx, unit, "Fluid.give", prefix, tuple(fields))
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
        with lent(self.device.ctx, range(unit, unit + len(fields))):
            for at, (name, field) in enumerate(fields.items(), unit):
                field.front.use(at)
                values[name] = at
        give(known, {f"{prefix}_{name}": value for name, value in values.items()})

    def _gl_field(self, store: Any) -> GLField:
        if self.device is None:
            raise GpufluidError('a fluid on backend="numpy" has no textures: read() its fields instead')
        field: GLField = store
        return field

    @at_work
    @between_steps
    def finish(self) -> None:
        """Wait until every step asked for is done, also one that `advance` is working on."""
        self._stepper.finish()
        self._backend.finish()

    @between_steps
    def release(self) -> None:
        """Release everything except a context of yours; may be called again."""
        if self._backend.gone:
            self._stepper.released = True
        if not self._stepper.released:
            with self._backend.at_work("Fluid.release"):
                release(self._stepper, self._derived, self._probes, self._saved, self._solver)
                self._backend.release()

    @property
    def released(self) -> bool:
        """Whether nothing can be done with it any more: after `release`, or that of a context of yours."""
        return self._stepper.released or self._backend.gone

    def __enter__(self) -> Fluid:
        return self

    def __exit__(self, *exception: object) -> None:
        self.release()

    def _check_emitter(self, emitter: Emitter) -> None:
        expected = self.grid.cells[::-1]
        if isinstance(emitter.shape, Array) and emitter.shape.values.shape != expected:
            raise GpufluidError(
                f"Emitter.shape: an Array must have the shape {expected} of this fluid's grid, "
                f"got {emitter.shape.values.shape}"
            )

    @at_work_as("Fluid.emitters.add")
    def _take_emitter(self, emitter: Emitter) -> None:
        """Check an emitter that is added, and make what it fills: no step is the time for that."""
        self._check_emitter(emitter)
        doubt_emitter(emitter, self.grid, self.boundaries)
        if emitter.color is not None and not self._stepper.under_way:
            self._solver.prepare_colors()

    @at_work_as("Fluid.forces.add")
    def _check_force(self, force: Force) -> None:
        expected = (*self.grid.cells[::-1], 3)
        if isinstance(force, ForceField) and force.array.shape != expected:
            raise GpufluidError(
                f"ForceField.values must have the shape {expected} in this fluid, got {force.array.shape}"
            )
        self._solver.flow.forces.compile(force, self._solver.flow.variant)

    def _check_obstacle(self, obstacle: Obstacle) -> None:
        self._stepper.check_alive()
        self._solver.check_obstacles()
        doubt_obstacle(obstacle, self.grid, self.boundaries)


def check_together(fluids: Sequence[Fluid]) -> None:
    """Raise GpufluidError where all `fluids` of a scene take more memory than there is."""
    cells = sum(fluid.grid.cell_count for fluid in fluids)
    fluids[0]._backend.check_memory(cells, f"all boxes together, {cells} cells,")


def _check_sides(boundaries: object) -> None:
    """Raise GpufluidError for what are no six sides, and say what was meant."""
    if isinstance(boundaries, Boundaries):
        return
    told = f"Fluid.boundaries must be a gf.Boundaries, got {short(repr(boundaries))}"
    if isinstance(boundaries, Side):
        raise GpufluidError(f"{told}; did you mean gf.Boundaries.all(gf.{boundaries!r})?")
    raise GpufluidError(f"{told}; did you mean settings=?" if isinstance(boundaries, Settings) else told)


def _check_settings(settings: object) -> None:
    if not isinstance(settings, Settings):
        raise GpufluidError(f"Fluid.settings must be a gf.Settings, got {settings!r}")


def _check_parts(grid: object, boundaries: object, settings: object, backend: str, ctx: object) -> None:
    """Raise GpufluidError for what no fluid can be made of."""
    if not isinstance(grid, Grid):
        raise GpufluidError(f"Fluid.grid must be a gf.Grid, got {grid!r}")
    one_of(backend, BACKENDS, "Fluid.backend")
    if boundaries is not None:
        _check_sides(boundaries)
    if settings is not None:
        _check_settings(settings)
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
