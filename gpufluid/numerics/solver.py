"""One step of the incompressible Navier-Stokes equations, as a list of stages."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from gpufluid.common.debugging import NotFiniteError
from gpufluid.common.errors import GpufluidError, warn
from gpufluid.contract.arguments import Cells, FacesAndCells, Swelling
from gpufluid.contract.backend import Backend, FieldStore, release
from gpufluid.contract.kernels import Variant
from gpufluid.description.boundaries import SIDES, Boundaries, Wall
from gpufluid.description.grid import AXES, Grid
from gpufluid.description.obstacles import Obstacle
from gpufluid.description.settings import Settings
from gpufluid.description.solvers import FFT, Multigrid
from gpufluid.description.sources import Emitter
from gpufluid.description.user_forces import Force
from gpufluid.numerics.advection import Advection
from gpufluid.numerics.colors import Colors
from gpufluid.numerics.copies import Copies
from gpufluid.numerics.diffusion import Diffusion
from gpufluid.numerics.emission import Emission, Reach, on_its_way
from gpufluid.numerics.empty import EmptySpace
from gpufluid.numerics.fire import Fire
from gpufluid.numerics.forces import Forces
from gpufluid.numerics.fourier import check_box, refuse_obstacle
from gpufluid.numerics.pressure import Projection, measure
from gpufluid.numerics.solids import Solids
from gpufluid.numerics.speeds import Speeds

KEPT = 0.25  # share of what was in cells that a solid comes into, until it is carried off: see was_fluid.glsl
BESIDE_SOLIDS = Multigrid(2)  # leaves little of a divergence that changes from cell to cell
MOST_DEEP = 32  # cells from a solid that what it has left is filled from beside it
FAR = 50  # a dt so many times as long as `cfl` and `max_substeps` have room for is taken for a mistake


@lru_cache(maxsize=256)
def _variant(solids: bool, trace: str, limiter: str | None, sampler: str, boundaries: Boundaries) -> Variant:
    """One object for each variant: every pass of a step is looked up by it."""
    return Variant(solids, trace, limiter, sampler, boundaries=boundaries)


def variant_of(settings: Settings, boundaries: Boundaries, solids: bool) -> Variant:
    """How the kernels of a step are compiled. solids: whether there are any."""
    return _variant(solids, settings.trace, settings.limiter, settings.sampler, boundaries)


def _fine_settings(settings: Settings) -> Settings:
    """What the stages on the fine grid go by: with a coarse velocity they only carry scalars along it."""
    return settings.but(solve_velocity=False) if settings.coarse_velocity else settings


def _coarse_settings(settings: Settings) -> Settings:
    """What a `CoarseSolver` goes by: it carries no scalars."""
    scheme = settings.velocity_scheme
    return settings.but(
        coarse_velocity=False, advection="semi-lagrangian", velocity_advection=scheme, skip_empty=False
    )


class Solver:
    """The fields of a fluid and the stages that step them, on any backend.

    copies: those of emitters and forces that steps in slices go by. coarse: what solves for the velocity
    where that has a grid of its own. fine: whom this one does so for.
    """

    def __init__(
        self, backend: Backend, settings: Settings, boundaries: Boundaries, fine: Solver | None = None
    ) -> None:
        self.backend, self.settings, self.boundaries = backend, settings, boundaries
        self.check(settings)
        own = _fine_settings(settings)
        self.time = 0.0  # seconds since the start
        self.velocity = backend.field("velocity", "face")
        self.scalars = backend.field("scalars", "cell")
        self.colors = Colors(backend, boundaries)
        self._fill_with_air()
        self.speeds = Speeds(backend)
        self.solids = Solids(backend, boundaries)
        self.copies: Copies = Copies() if fine is None else fine.copies
        self.emission = Emission(backend, self.copies, None if fine is None else fine.backend)
        self.forces = Forces(backend, own, self.copies)
        self.fire = Fire(backend, settings)
        self.advection = Advection(backend, own)
        self.diffusion = Diffusion(backend, own, boundaries)
        self.projection = Projection(backend, settings)
        self.empty = EmptySpace(backend, settings, boundaries)
        self._doubted = False  # whether a dt that looks like a mistake was warned of
        self.coarse = self._coarse_for(settings)

    def _coarse_for(self, settings: Settings) -> CoarseSolver | None:
        """What is to solve for the velocity, if not this."""
        return CoarseSolver(self, settings) if settings.coarse_velocity else None

    @property
    def flow(self) -> Solver:
        """What solves for the velocity."""
        return self.coarse or self

    def _fill_with_air(self) -> None:
        """Nothing but air of the ambient temperature."""
        self.scalars.fill([0.0, self.settings.ambient_temperature, 0.0, 1.0])

    def check(self, settings: Settings) -> None:
        """Raise GpufluidError where this box cannot go on by `settings`."""
        grid = self.backend.grid
        if settings.coarse_velocity:
            _check_even(grid)
        if isinstance(settings.pressure, FFT):
            check_box(grid, self.boundaries)  # half of a power of two is one too

    def use(self, settings: Settings) -> None:
        """Go on by these settings, from the flow as it is.

        Raises GpufluidError for a box without them; where it fails, as for want of memory, nothing has
        changed.
        """
        self.check(settings)
        coarse, stages = self.coarse, list(self._stages(settings))
        before = [dict(vars(stage)) for stage, _ in stages]
        try:
            with self.backend.all_or_none():
                idle = [thing for stage, own in stages for thing in stage.use(own)]
                if (coarse is not None) != settings.coarse_velocity:
                    self.coarse = self._coarse_for(settings)
        except BaseException:
            for (stage, _), was in zip(stages, before, strict=True):
                vars(stage).update(was)
            raise
        self.settings = settings
        if self.coarse is not coarse:
            now, last = self.flow.projection, (coarse or self).projection
            now.shortest, now.pushed = last.shortest, last.pushed
            idle.append(coarse)
        elif coarse is not None:
            coarse.settings = _coarse_settings(settings)
        release(*idle)

    def _stages(self, settings: Settings) -> Iterator[tuple[Any, Settings]]:
        """The stages, and what each goes by."""
        own = _fine_settings(settings)
        yield from ((stage, own) for stage in (self.forces, self.advection, self.diffusion))
        yield from ((stage, settings) for stage in (self.fire, self.projection, self.empty))
        if self.coarse is not None and settings.coarse_velocity:
            yield from self.coarse._stages(_coarse_settings(settings))

    def use_sides(self, boundaries: Boundaries) -> None:
        """Go on in a box with sides of the same kinds that do something else, from the flow as it is."""
        self.boundaries = self.diffusion.boundaries = self.empty.boundaries = boundaries
        self.colors.use_sides(boundaries)
        self.solids.use_sides(boundaries)
        if self.coarse is not None:
            self.coarse.use_sides(boundaries)

    @property
    def variant(self) -> Variant:
        """How the kernels are compiled at present."""
        return variant_of(self.settings, self.boundaries, self.solids.present)

    @property
    def color_variant(self) -> Variant:
        """How the kernels are compiled that carry colours."""
        return replace(self.variant, boundaries=self.colors.boundaries)

    @property
    def pressure(self) -> FieldStore:
        """The last pressure."""
        return self.projection.pressure

    @property
    def color(self) -> FieldStore | None:
        """The colours, or None where there are none."""
        return self.colors.field

    @property
    def flame(self) -> FieldStore | None:
        """What burnt in the last substep, or None without combustion."""
        return self.fire.flame

    @property
    def swelling(self) -> Swelling:
        """What the divergence takes of burning gas."""
        return self.fire.swelling

    def divergence(self, swelling: Swelling | None = None) -> FieldStore:
        """The divergence of the velocity as it is, less that of `swelling` gas."""
        divergence, openings = self.projection.divergence, self.solids.openings
        measure(self.backend, divergence, self.variant, openings, self.velocity, swelling)
        return divergence

    def prepare_colors(self) -> FieldStore:
        """Return the field of colours, made where there is none yet."""
        return self.colors.prepare(self.variant, self._parted())

    def clear_colors(self) -> None:
        """Take all colour away; the scalars are in place, and tell fluid from solids."""
        self.colors.clear(self.variant, self._parted())

    def _parted(self) -> FieldStore | None:
        """The scalars, where they tell fluid from solids; None: all is fluid."""
        return self.scalars if self.solids.present or self.solids.vacated else None

    def step(
        self,
        dt: float,
        emitters: Sequence[Emitter],
        obstacles: Sequence[Obstacle],
        forces: Sequence[Force] = (),
    ) -> int:
        """Advance by `dt` > 0 seconds; return the number of equal substeps it took.

        Raises GpufluidError, before anything has changed, where diffusion would take too many sweeps, or for
        an obstacle where `gpufluid.description.solvers.FFT` solves for the pressure.
        """
        if obstacles:
            self.check_obstacles()
        self.diffusion.check(dt, solids=bool(obstacles))
        if self.coarse is not None:
            self.coarse.diffusion.check(dt, solids=bool(obstacles))
        self.solids.update(obstacles, dt)
        if self.solids.vacated:
            self.fill_vacated()
        if not self.solids.pushing:
            self.let_slip()
        count, grid = self.substeps(dt), self.backend.grid
        for number in range(1, count + 1):
            later = dt - number * dt / count  # seconds from the end of this substep to that of the step
            there = [e for of in emitters for e in on_its_way(of, dt / count, later, grid.cell_size)]
            try:
                if self.solids.pushing:
                    self.solids.go_on(number, count, dt)
                    self.let_slip()
                self.substep(dt / count, there, forces)
            except NotFiniteError as error:
                raise NotFiniteError(
                    f"{error} (substep {number} of {count}, from {self.time:.6g} s on)"
                ) from None
            finally:
                self.solids.on_way = False
        return count

    def cover(self, kept: float = 0.0) -> None:
        """Leave nothing where solids are: it must not be seen from the other side of them.

        kept: the share that stays of what was in cells they have just come into: in `carry_scalars` the fluid
            before them takes it along. It is 0 for solids that were put there and push nothing on.
        """
        if self.solids.present:
            self._keep(kept)
        self.solids.were_covered(kept > 0.0)

    def _keep(self, share: float) -> None:
        """Keep a share of what is in solids."""
        run = self.backend.kernel("cover_scalars", self.variant)
        for carried in (self.scalars, self.colors.field):
            if carried is not None:
                run(scalars=carried, left=share, **self.solids.cells)

    def let_slip(self) -> None:
        """Give the faces inside free-slip solids the velocity round them, where that is solved for here."""
        if self.settings.solve_velocity and self.coarse is None:
            self.solids.slip(self.variant, velocity=self.velocity)

    def fill_vacated(self) -> None:
        """Fill the last solid's cells with air: scalars are carried for no time, as if one were there."""
        cells = self.solids.take_vacated()
        scalars, colors, u = self.scalars, self.colors.field, self.velocity
        variant, color_variant = replace(self.variant, solids=True), replace(self.color_variant, solids=True)
        if self.advection.finite_volume:
            self._uncover(cells, 1)
        else:
            self.advection.carry_scalars(0.0, variant, cells, scalars=scalars, velocity=u)
            if colors is not None:
                self.advection.carry_colors(0.0, color_variant, cells, colors=colors, velocity=u)
        self.empty.forget()

    def _uncover(self, cells: Cells, times: int) -> None:
        """Fill cells that solids have left, `times` deep with what is beside them."""
        uncover, ambient = self.advection.uncover, self.settings.ambient_temperature
        uncover(self.variant, cells, times, ambient, scalars=self.scalars)
        if self.colors.field is not None:
            uncover(self.color_variant, cells, times, 0.0, scalars=self.colors.field)

    def check_obstacles(self) -> None:
        """Raise GpufluidError where the pressure solver takes no obstacles."""
        if isinstance(self.settings.pressure, FFT):
            refuse_obstacle()

    def substep(self, dt: float, emitters: Sequence[Emitter], forces: Sequence[Force] = ()) -> None:
        """One substep: advect velocity, add sources, burn, push, diffuse, project, advect scalars, diffuse.

        The velocity is carried along before anything is added to it, while it has no divergence: carried
        after the forces, as in Stam (1999), air at rest would carry its own unbalanced weight about.

        With a reflection (Zehnder, Narain & Thomaszewski 2018) all but the advection of scalars is done twice
        for half of dt each. The second half carries not the projected velocity P(u), but u reflected in it,
        2 P(u) - u: the second projection takes off what that is short of, and the first has then cost no
        energy. It is carried along the velocity as it will be at the end, if it changes as much again as it
        has: so both halves together go as far as the flow does, to second order, and so do the scalars along
        P(u), the velocity of the middle. The paper takes P(u) for both.

        In the second half forces act before the velocity is carried, the first half's mirror image. Carried
        without them, the push of the pressure that they were balanced by would drive whatever moves through
        them: waves in layered air grew by frequency^2 dt / 8 a second.
        """
        coarse, moving, reflects = self.coarse, self.settings.solve_velocity, self.settings.reflects
        flow = coarse or self
        part = 0.5 * dt if reflects else dt
        self.empty.begin(bool(self.solids.heat), bool(self.solids.faces))
        if moving and coarse is not None:
            coarse.restrict_flow(self)
        if reflects:
            flow.advection.remember(flow.variant, flow.solids.faces, velocity=flow.velocity)
        if moving:
            flow.carry_velocity(part)
        self.bring(part, self.time, emitters)
        if moving:
            flow.push(part, self.time, forces, flow.velocity)
            flow.balance(part)
            if coarse is not None:
                self.take_velocity(part, coarse)
        warms_late = self.solids.uncovered and self.solids.pushing  # see `bring`
        self.carry_scalars(dt)
        if warms_late:
            self.solids.warm(part, self.variant, scalars=self.scalars)
        if reflects:
            u, variant, faces = flow.velocity, flow.variant, flow.solids.faces
            reflected = flow.advection.reflected
            if coarse is not None:
                coarse.restrict_scalars(self)
            with flow.projection.reflecting(part, variant, faces, velocity=u, reflected=reflected):
                flow.push(part, self.time + dt, forces, reflected)
                flow.advection.foresee(variant, faces, velocity=u)
                flow.carry_velocity(part, reflected)
            self.bring(part, self.time + part, emitters)
            flow.balance(part)
            if coarse is not None:
                self.take_velocity(part, coarse)
        self.time += dt

    def take_velocity(self, dt: float, coarse: CoarseSolver) -> None:
        """Take the velocity of `coarse`, and the pressure that has acted on it for `dt` seconds."""
        coarse.prolong_velocity(self)
        if self.solids.present and self.advection.finite_volume:
            # smoke would gather or thin out in what divergence the finer outline leaves
            self._project(dt, afresh=True, solver=BESIDE_SOLIDS)
        else:
            self.solids.slip(self.variant, velocity=self.velocity)
        coarse.prolong_pressure(self)

    def carry_velocity(self, dt: float, reflected: FieldStore | None = None) -> None:
        """Carry the velocity, or `reflected` in place of it, along the velocity for `dt` seconds."""
        solids: FacesAndCells = {**self.solids.faces, **self.solids.cells}
        self.advection.carry_velocity(dt, self.variant, solids, velocity=self.velocity, reflected=reflected)

    def bring(self, dt: float, time: float, emitters: Sequence[Emitter]) -> None:
        """Add what emitters and warm solids bring in `dt` seconds from `time` on, and burn."""
        s, colors, variant, faces = self.scalars, self.colors.field, self.variant, self.solids.faces
        moving, coarse = self.settings.solve_velocity, self.coarse
        u = self.velocity if moving and coarse is None else None
        reach, changes = Reach(self.backend.grid, variant.boundaries), self.solids.take_changes()
        with self.empty.emitting(changes, emitters, reach, s, colors, *self.fire.fields):
            if self.solids.to_cover:
                self.cover(KEPT if self.solids.pushing else 0.0)
            self.emission.emit(
                emitters, reach, dt, time, variant, faces, velocity=u, scalars=s, colors=colors
            )
            if not (self.solids.uncovered and self.solids.pushing):
                # cells that these have left would hold nothing yet
                self.solids.warm(dt, variant, scalars=s)
            self.fire.burn(dt, variant, scalars=s)
        if moving and coarse is not None:
            coarse.blow(dt, time, emitters)
            coarse.restrict_scalars(self)

    def push(self, dt: float, time: float, forces: Sequence[Force], velocity: FieldStore) -> None:
        """Let buoyancy, confinement and `forces` push a velocity for `dt` seconds, as they are at `time`."""
        s, colors, variant, faces = self.scalars, self.colors.field, self.variant, self.solids.faces
        self.forces.push(dt, variant, faces, velocity=velocity, scalars=s, colors=colors)
        self.forces.push_by(forces, dt, time, variant, faces, velocity=velocity)

    def balance(self, dt: float) -> None:
        """Let viscosity, and last the pressure, act on the velocity for `dt` seconds."""
        u, variant, faces, openings = self.velocity, self.variant, self.solids.faces, self.solids.openings
        if self.solids.reopened:
            self.projection.reopen(dt, variant, openings, velocity=u, swelling=self.fire.swelling)
            self.solids.reopened = False
        if self.settings.viscosity:
            with self.projection.holding(dt, variant, faces, velocity=u):
                self.diffusion.diffuse_velocity(dt, variant, faces, velocity=u)
        self._project(dt)

    def _project(self, dt: float, afresh: bool = False, solver: Any = None) -> None:
        """Take from the velocity its divergence. afresh: the last pressure has been taken off already.

        solver: None is that of the settings.
        """
        solids, u, swelling, variant = self.solids, self.velocity, self.fire.swelling, self.variant
        self.projection.project(
            dt,
            variant,
            solids.faces,
            solids.openings,
            velocity=u,
            displaced=solids.moving,
            swelling=swelling,
            afresh=afresh,
            solver=solver,
        )
        solids.slip(variant, velocity=u)

    def carry_scalars(self, dt: float) -> None:
        """Carry scalars and colours along the velocity as it is for `dt` seconds, and let them diffuse."""
        u, s, colors, variant = self.velocity, self.scalars, self.colors.field, self.variant
        cells, empty = self.solids.cells, self.empty
        covered = self.solids.covered
        course, deep, apart, times = None, 0, dt, 1
        pushed = covered and self.advection.finite_volume
        stiff = pushed and self.settings.solve_velocity
        if stiff:  # what is in a solid goes with it, not with the fluid round it
            self.solids.stiffen(variant, velocity=u)
        if self.advection.finite_volume:
            crossed = self.speeds.most(variant, velocity=u) * dt / self.backend.grid.cell_size
            course = self.advection.course(crossed, dt, variant, velocity=u)
            if self.solids.uncovered and self.solids.present:
                deep = max(1, math.ceil(min(MOST_DEEP, crossed)))  # this order: it may be no number
            # how much fluid empty cells hold between axes counts beside them
            apart, times = course.further * dt, course.parts + deep + 1
        fastest = self.speeds.measure(variant, velocity=u) if empty.on else None
        with empty.carrying(apart, times, s, colors, fastest, *self.advection.cell_scratch):
            if deep:
                self._uncover(cells, deep)
            kind = replace(variant, covered=True) if covered else variant
            self.advection.carry_scalars(dt, kind, cells, scalars=s, velocity=u, course=course)
            if colors is not None:
                kind = replace(self.color_variant, covered=covered)
                self.advection.carry_colors(dt, kind, cells, colors=colors, velocity=u, course=course)
            if pushed:
                self._keep(0.0)
        if stiff:
            self.solids.slip(variant, velocity=u)
        self.advection.turn = 1 - self.advection.turn
        self.solids.were_carried()
        self.diffusion.diffuse_scalars(dt, variant, self.solids.heat, scalars=s)
        if colors is not None:
            self.diffusion.diffuse_colors(dt, self.color_variant, colors=colors)

    def project(self, dt: float, obstacles: Sequence[Obstacle]) -> None:
        """Close the faces and project the velocity as it is.

        Raises GpufluidError as `step` does for an obstacle, before anything has changed.
        """
        if obstacles:
            self.check_obstacles()
        self.solids.update(obstacles, None)
        coarse, flow = self.coarse, self.flow
        if coarse is not None:
            coarse.restrict_flow(self)
            coarse.restrict_flame(self)
        flow.backend.kernel("constrain", flow.variant)(velocity=flow.velocity, **flow.solids.faces)
        flow._project(dt, afresh=True)
        if coarse is not None:
            self.take_velocity(dt, coarse)

    def scroll(self, shift: tuple[int, int, int], obstacles: Sequence[Obstacle]) -> None:
        """Move the box on by `shift` cells over all that is in it; solids are voxelized where they then are.

        Raises GpufluidError where a side of the box stands in the way.
        """
        axes = [axis for axis in range(3) if shift[axis]]
        for axis in axes:
            self.check_scroll(axis)
        if not axes:
            return
        backend, run, before = self.backend, self.backend.kernel, self.backend.grid
        i, j, k = (old + new for old, new in zip(backend.scrolled, shift, strict=True))
        backend.scroll_to((i, j, k))
        self.solids.scroll(obstacles, before)
        sides, cells = self.boundaries, before.cells
        i, j, k = (
            n % cells[a] if sides.periodic(a) else min(max(n, -cells[a] - 1), cells[a] + 1)
            for a, n in enumerate(shift)
        )
        variant, ambient = self.variant, self.settings.ambient_temperature
        run("scroll_velocity", variant)(velocity=self.velocity, shift=(i, j, k), **self.solids.faces)
        self.solids.slip(variant, velocity=self.velocity)
        run("scroll_scalars", variant)(scalars=self.scalars, shift=(i, j, k), ambient=ambient)
        if self.colors.field is not None:
            run("scroll_scalars", self.color_variant)(scalars=self.colors.field, shift=(i, j, k), ambient=0.0)
        self.fire.scroll((i, j, k), variant)
        self.projection.scroll((i, j, k), variant)
        self.empty.forget()
        if self.solids.to_cover:
            self.cover()

    def check_scroll(self, axis: int) -> None:
        """Raise GpufluidError where the box cannot be moved along `axis`."""
        if axis >= self.backend.grid.dimensions:
            raise GpufluidError(f"a box one cell deep cannot be scrolled along {AXES[axis]}")
        for side in (2 * axis, 2 * axis + 1):
            if isinstance(self.boundaries.sides[side], Wall):
                raise GpufluidError(
                    f"the box cannot be scrolled along {AXES[axis]}: Boundaries.{SIDES[side]} is a wall, "
                    "which would have to move through the fluid; it must be gf.Open, Inflow or Periodic"
                )

    def substeps(self, dt: float) -> int:
        """How many equal parts keep what is carried within `cfl` cells; at most `max_substeps`."""
        rules = self.settings
        if rules.cfl is None or not rules.solve_velocity or rules.max_substeps == 1:
            return 1
        fastest = self.speeds.most(self.variant, velocity=self.velocity)
        carried = fastest * dt / self.flow.backend.grid.cell_size
        if not math.isfinite(carried):
            return int(rules.max_substeps)
        if carried > FAR * rules.cfl * rules.max_substeps and not self._doubted:
            self._doubted = True
            warn(
                f"a step of {dt:g} s carries the fastest flow {carried:.3g} cells, in at most "
                f"{rules.max_substeps} parts: is dt in seconds?",
                RuntimeWarning,
            )
        return max(1, min(int(rules.max_substeps), math.ceil(carried / rules.cfl)))

    def stores(self, wanted: Container[str] = ()) -> dict[str, FieldStore]:
        """What the next step starts from, by name; those `wanted` are made where there are none yet."""
        color = self.prepare_colors() if "color" in wanted else self.colors.field
        stores = {
            "velocity": self.velocity,
            "scalars": self.scalars,
            "pressure": self.projection.pressure,
            "color": color,
            "flame": self.fire.flame,
        }
        return {name: store for name, store in stores.items() if store is not None}

    def numbers(self) -> dict[str, float]:
        """The numbers that the next step starts from, by name."""
        last, turn = self.flow.projection, float(self.advection.turn)
        return {"time": self.time, "shortest": last.shortest, "pushed": last.pushed, "turn": turn}

    def start_from(self, numbers: Mapping[str, float]) -> None:
        """Go on from the `numbers` of another solver."""
        last = self.flow.projection
        self.time, last.shortest, last.pushed = (numbers[name] for name in ("time", "shortest", "pushed"))
        self.advection.turn = int(numbers["turn"])
        self.empty.forget()

    def reset(self, obstacles: Sequence[Obstacle]) -> None:
        """Go back to rest, clean air and time 0; where obstacles were before no longer counts."""
        self.velocity.fill([0.0] * 4)
        self._fill_with_air()
        self.colors.clear(self.variant, None)
        self.solids.begin_anew(obstacles)
        self.fire.clear()
        self.projection.clear()
        self.flow.projection.clear()
        self.time, self.advection.turn = 0.0, 0

    def release(self) -> None:
        """Release every field."""
        release(self.coarse, self.velocity, self.scalars, self.colors, self.speeds)
        release(self.solids, self.emission, self.forces, self.fire)
        release(self.advection, self.diffusion, self.projection, self.empty)


class CoarseSolver(Solver):
    """Solves for the velocity of `fine` on a grid with half as many cells along each axis.

    Nothing lasts here from one substep to the next. It begins with the means of what `fine` holds, and gives
    back a velocity that, away from solids, has these means again, and in each fine cell the divergence of the
    coarse cell round it. So the fine fields are all of the state.
    """

    def __init__(self, fine: Solver, settings: Settings) -> None:
        super().__init__(fine.backend.coarser(), _coarse_settings(settings), fine.boundaries, fine)
        self.slopes = self.backend.field("slopes", "bounded", buffers=1)

    def restrict_flow(self, fine: Solver) -> None:
        """Stand where `fine` does, with its solids, velocity and last pressure."""
        self.backend.grid, run = fine.backend.grid.coarser(), self.backend.kernel
        self.time = fine.time
        self.solids.mirror(fine.solids)
        variant, velocity = self.variant, {"fine_velocity": fine.velocity, "velocity": self.velocity}
        run("restrict_velocity", variant)(**velocity, **self.solids.faces)
        run("restrict_pressure", variant)(fine_pressure=fine.pressure, pressure=self.pressure)
        self.let_slip()

    def restrict_scalars(self, fine: Solver) -> None:
        """Take the scalars, colours and flame of `fine` that push the velocity."""
        run, variant = self.backend.kernel, self.variant
        run("restrict_scalars", variant)(fine_scalars=fine.scalars, scalars=self.scalars)
        if fine.color is not None and fine.settings.weight:
            run("restrict_scalars", variant)(fine_scalars=fine.color, scalars=self.prepare_colors())
        self.restrict_flame(fine)

    def restrict_flame(self, fine: Solver) -> None:
        """Take the flame of `fine`, where it swells."""
        if self.swelling:
            self.backend.kernel("restrict_flame", self.variant)(fine_flame=fine.flame, flame=self.flame)

    def blow(self, dt: float, time: float, emitters: Sequence[Emitter]) -> None:
        """Set the velocity that emitters bring; what else they do here is of no account."""
        reach = Reach(self.backend.grid, self.boundaries)
        moving = [emitter for emitter in emitters if emitter.velocity is not None]
        u, s, faces = self.velocity, self.scalars, self.solids.faces
        self.emission.emit(moving, reach, dt, time, self.variant, faces, velocity=u, scalars=s)

    def prolong_velocity(self, fine: Solver) -> None:
        """Give `fine` the velocity."""
        slopes = self.backend.kernel("face_slopes", self.variant)
        slopes(velocity=self.velocity, slopes=self.slopes, **self.solids.faces)
        prolong = fine.backend.kernel("prolong_velocity", fine.variant)
        prolong(slopes=self.slopes, velocity=fine.velocity, **fine.solids.faces)

    def prolong_pressure(self, fine: Solver) -> None:
        """Give `fine` the pressure, also where there is no fluid here and some there."""
        prolong = fine.backend.kernel("prolong_pressure", fine.variant)
        solid = {"coarse_solid": self.solids.cells["solid"]} if fine.solids.present else {}
        prolong(coarse_pressure=self.pressure, pressure=fine.pressure, **solid)

    def release(self) -> None:
        """Release every field."""
        super().release()
        self.slopes.release()


def _check_even(grid: Grid) -> None:
    """Raise GpufluidError for a grid of which no coarser one has half the cells."""
    for axis, cells in zip(AXES, grid.cells[: grid.dimensions], strict=False):
        if cells % 2:
            raise GpufluidError(
                f"Settings.coarse_velocity needs an even number of cells along each axis, got {cells} along "
                f"{axis} in {grid.cells}"
            )
