"""Carrying the velocity, at the start of a step, and the scalars, at its end, along the flow."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

from gpufluid.contract.arguments import Cells, Faces, FacesAndCells
from gpufluid.contract.backend import Backend, FieldStore, release
from gpufluid.contract.kernels import Variant
from gpufluid.description.settings import Settings
from gpufluid.numerics.course import Course, course_of

# scratch fields that schemes keep what they carry in between two passes: of which kind, and what
OF_FACES = {
    "maccormack": (("bounded", "predicted"),),
    "bfecc": (("face", "forward"), ("face", "compensated")),
}
OF_REFLECTION = (("face", "earlier"), ("face", "reflected"))
OF_CELLS = {
    "maccormack": (("cell", "forward"),),
    "bfecc": (("cell", "forward"), ("cell", "compensated")),
    "finite-volume": (("cell", "between axes"), ("block", "asked"), ("group", "most asked")),
}
# those that are written from themselves: forces push the one, the second of three axes carries the other
IN_PLACE = ("reflected", "between axes")


def _interpolating(variant: Variant, scheme: str) -> Variant:
    """The variant that reads what `scheme` carries the way it wants it."""
    return replace(variant, cubic=True) if scheme == "monotone-cubic" else variant


class _Carried(NamedTuple):
    """Three values of cells that the flow carries.

    keep: the share that each keeps in a step, the second of what it is above `ambient`. amounts: for finite
    volumes, 1 for each that is an amount, 0 for others.
    """

    field: FieldStore
    variant: Variant
    keep: tuple[float, float, float]
    ambient: float
    amounts: tuple[float, float, float]


class Advection:
    """Semi-Lagrangian (Stam 1999), also with cubics, and two schemes that see what it does there and back.

    MacCormack (Selle et al. 2008) carries forth, back, and adds half the difference to what was carried.
    BFECC (Dupont & Liu 2003) takes half the difference off before it is carried.

    "monotone-cubic" is semi-Lagrangian with the monotonic cubics of Fedkiw, Stam & Jensen (2001) in place of
    trilinear interpolation, axis by axis. The paper's slopes (f[k+1] - f[k-1]) / 2, 0 where their sign is not
    that of the rise, can still overshoot. Here they are also held to three times the rise (Fritsch & Carlson
    1980): every value lies between the least and the largest of the eight cells or faces round the place it
    comes from, and no new extremum appears. What slopes are taken from beyond the eight is linear along the
    axes before (Ritchie et al. 1995), and bent as what is beside it. Beside a side of the box slopes are
    one-sided. Where a solid takes or hides one of the 32 values that are read the sample is the trilinear
    one, which sees what it can reach.

    "finite-volume" carries scalars along one axis after the other, from the first to the last and, the next
    time, back (Strang 1968), in so many parts of a step that in none a cell is asked for more than it has and
    gets; a flow may take what lies cells before a face (Lin & Rood 1996). What leaves a cell comes into
    the next one: smoke, fuel and colours are amounts, of which there is always as much. Temperature is a
    value: fluid keeps its own, however much of it there is. Where a solid moves into a cell, what was in
    it is taken out, and through the face before it comes as much of what is there; cells that it leaves
    are filled with what is beside them.

    turn: of the axes, 0 or 1: which is the first.
    """

    def __init__(self, backend: Backend, settings: Settings) -> None:
        self.backend = backend
        self._scratch: dict[tuple[str, str], FieldStore] = {}  # by kind and name
        self.turn = 0
        self.use(settings)

    def use(self, settings: Settings) -> list[FieldStore]:
        """Go on by these settings; return the fields of other schemes, which are not needed any more."""
        self.settings, before, self._scratch = settings, dict(self._scratch), {}
        velocity_scheme = settings.velocity_scheme if settings.solve_velocity else "semi-lagrangian"
        reflected = OF_REFLECTION if settings.reflects else ()
        scratch = (*OF_FACES.get(velocity_scheme, ()), *reflected, *OF_CELLS.get(settings.advection, ()))
        for kind, name in scratch:
            kept = before.pop((kind, name), None)
            buffers, exact = 2 if name in IN_PLACE else 1, kind in ("block", "group")
            self._scratch[kind, name] = kept or self.backend.field(
                f"{name} ({kind}s)", kind, buffers=buffers, exact=exact
            )
        return list(before.values())

    @property
    def finite_volume(self) -> bool:
        """Whether that is how scalars are carried."""
        return self.settings.advection == "finite-volume"

    @property
    def cell_scratch(self) -> list[FieldStore]:
        """The scratch fields of what is carried in cells."""
        return [field for (kind, _), field in self._scratch.items() if kind == "cell"]

    @property
    def reflected(self) -> FieldStore:
        """The scratch field of a velocity that is reflected."""
        return self._scratch["face", "reflected"]

    def remember(self, variant: Variant, faces: Faces, *, velocity: FieldStore) -> None:
        """Keep the velocity as it is, for `foresee`."""
        earlier = self._scratch["face", "earlier"]
        self.backend.kernel("combine_velocities", variant)(
            combined=earlier, velocity=velocity, other=velocity, own=1.0, factor=0.0, **faces
        )

    def foresee(self, variant: Variant, faces: Faces, *, velocity: FieldStore) -> None:
        """Go on with the velocity by as much as it has changed since `remember`."""
        earlier = self._scratch["face", "earlier"]
        self.backend.kernel("combine_velocities", variant)(
            combined=velocity, velocity=velocity, other=earlier, own=2.0, factor=-1.0, **faces
        )

    def carry_velocity(
        self,
        dt: float,
        variant: Variant,
        solids: FacesAndCells,
        *,
        velocity: FieldStore,
        reflected: FieldStore | None = None,
    ) -> None:
        """Carry the velocity along itself, or put there what carrying `reflected` along it makes."""
        run, scheme = self.backend.kernel, self.settings.velocity_scheme
        flow = {"velocity": velocity, "dt": dt, **solids}
        if reflected is not None:
            flow["reflected"], variant = reflected, replace(variant, reflected=True)
        if scheme == "maccormack":
            predicted = self._scratch["bounded", "predicted"]
            run("predict_velocity", variant)(predicted=predicted, **flow)
            run("correct_velocity", variant)(predicted=predicted, **flow)
            return
        forward, compensated = (self._scratch.get(("face", name)) for name in ("forward", "compensated"))
        run("advect_velocity", _interpolating(variant, scheme))(carried=forward or velocity, **flow)
        if scheme == "bfecc":
            run("compensate_velocity", variant)(forward=forward, compensated=compensated, **flow)
            run("finish_velocity", variant)(compensated=compensated, **flow)

    def carry_scalars(
        self,
        dt: float,
        variant: Variant,
        cells: Cells,
        *,
        scalars: FieldStore,
        velocity: FieldStore,
        course: Course | None = None,
    ) -> None:
        """Carry density, temperature and fuel along the velocity, and let them fade.

        course: as of `course`, for finite volumes.
        """
        rules = self.settings
        keep = math.exp(-rules.density_dissipation * dt), math.exp(-rules.cooling * dt), 1.0
        carried = _Carried(scalars, variant, keep, rules.ambient_temperature, (1.0, 0.0, 1.0))
        self._carry(dt, carried, cells, velocity, course)

    def carry_colors(
        self,
        dt: float,
        variant: Variant,
        cells: Cells,
        *,
        colors: FieldStore,
        velocity: FieldStore,
        course: Course | None = None,
    ) -> None:
        """Carry red, green and blue along the velocity, and let them fade as density does."""
        share = math.exp(-self.settings.density_dissipation * dt)
        carried = _Carried(colors, variant, (share, share, share), 0.0, (1.0, 1.0, 1.0))
        self._carry(dt, carried, cells, velocity, course)

    def course(self, crossed: float, dt: float, variant: Variant, *, velocity: FieldStore) -> Course:
        """How finite volumes carry by `dt` seconds, so that no cell is asked for more than it has and gets.

        Where the flow has no divergence even smoke then stays even, and no value leaves its bounds.
        crossed: cells that the fastest flow crosses.
        """
        run, grid, asked = self.backend.kernel, self.backend.grid, self._scratch["block", "asked"]
        run("most_asked", variant)(velocity=velocity, asked=asked)
        if grid.many:  # the device finds the most sooner than all blocks are read back
            most = self._scratch["group", "most asked"]
            run("largest_speed", variant)(speed=asked, largest=most)
            asked = most
        taken, stray, differs = (asked.read()[..., :3].max((0, 1, 2)) * (dt / grid.cell_size)).tolist()
        return course_of(crossed, taken, stray, differs, grid.dimensions, self.turn)

    def uncover(
        self, variant: Variant, cells: Cells, times: int, ambient: float, *, scalars: FieldStore
    ) -> None:
        """Fill cells that solids have left, for finite volumes: `times` cells deep with what is beside them.

        ambient: the temperature of the air in those further in.
        """
        run = self.backend.kernel("uncover_scalars", variant)
        for number in range(1, times + 1):
            run(scalars=scalars, ambient=ambient, ends=int(number == times), **cells)

    def _carry(
        self, dt: float, carried: _Carried, cells: Cells, velocity: FieldStore, course: Course | None
    ) -> None:
        if course is not None:
            self._transport(dt, carried, velocity, course)
        else:
            self._trace(dt, carried, cells, velocity)

    def _transport(self, dt: float, carried: _Carried, velocity: FieldStore, course: Course) -> None:
        """Carry it in finite volumes, along one axis after the other."""
        field, variant, fading, ambient, amounts = carried
        axes, between = range(self.backend.grid.dimensions), self._scratch["cell", "between axes"]
        kinds = [replace(variant, axis=axis, several=course.reach > 0) for axis in axes]
        along = [self.backend.kernel("transport_scalars", kind) for kind in kinds]
        flow = {"velocity": velocity, "reach": course.reach, "amounts": amounts, "ambient": ambient}
        latest, last = field, len(course.passes) - 1
        for number, (axis, share, ends) in enumerate(course.passes):
            out = field if ends else between
            keep = fading if number == last else (1.0, 1.0, 1.0)
            along[axis](carried=out, scalars=latest, dt=share * dt, ends=int(ends), keep=keep, **flow)
            latest = out

    def _trace(self, dt: float, carried: _Carried, cells: Cells, velocity: FieldStore) -> None:
        """Carry it from where back traces end."""
        field, variant, fading, ambient, _ = carried
        run, rules = self.backend.kernel, self.settings
        forward, compensated = (self._scratch.get(("cell", name)) for name in ("forward", "compensated"))
        flow = {"scalars": field, "velocity": velocity, "dt": dt, **cells}
        fade = {"keep": fading, "ambient": ambient}
        whole = {"keep": (1.0, 1.0, 1.0), "ambient": ambient}
        first = run("advect_scalars", _interpolating(variant, rules.advection))
        first(carried=forward or field, **(whole if forward else fade), **flow)
        if rules.advection == "maccormack":
            run("correct_scalars", variant)(forward=forward, **fade, **flow)
        elif rules.advection == "bfecc":
            run("compensate_scalars", variant)(forward=forward, compensated=compensated, **flow)
            run("finish_scalars", variant)(compensated=compensated, **fade, **flow)

    def release(self) -> None:
        """Release the scratch fields."""
        release(*self._scratch.values())
