"""Leaving empty space out of the stages that move and make scalars."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from gpufluid.contract.backend import Backend, FieldStore, Strips, release
from gpufluid.description.boundaries import Boundaries
from gpufluid.description.grid import CellBox
from gpufluid.description.settings import Settings
from gpufluid.description.sources import Emitter
from gpufluid.numerics.emission import Reach


class EmptySpace:
    """Tells fields where passes need to write; it does nothing on a backend that leaves nothing out.

    Something is what is not exactly 0. Interpolation rounds any other ambient temperature, and an implicit
    diffusion brings something of everything everywhere: there nothing is left out.
    """

    def __init__(self, backend: Backend, settings: Settings, boundaries: Boundaries) -> None:
        self.backend, self.boundaries = backend, boundaries
        self._strips: Strips | None = None
        self._everywhere: CellBox = (0, 0, 0), backend.grid.cells
        self._solids_in_volumes = False  # whether passes of a stage mark what solids leave and come into
        self.on = False  # whether anything is left out in this substep
        self.use(settings)

    def use(self, settings: Settings) -> list[Strips]:
        """Go on by these settings, and return what is not needed any more."""
        rules = self.settings = settings
        still = not (rules.ambient_temperature or rules.thermal_diffusivity or rules.density_diffusivity)
        idle: list[Strips] = []
        if not (rules.skip_empty and still):
            if self._strips is not None:
                idle.append(self._strips)
            self.on, self._strips = False, None
        elif self._strips is None:
            self._strips = self.backend.strips()
        # from how many times as far as the flow goes a value may come; a limiter makes none that is not there
        far = {"bfecc": 2} if rules.limiter else {"bfecc": 3, "maccormack": 2}
        self._times = far.get(rules.advection, 1)
        return idle

    def begin(self, heated: bool, solids: bool) -> None:
        """Begin a substep. heated: solids warm the fluid. solids: there are any."""
        self._solids_in_volumes = solids and self.settings.advection == "finite-volume"
        free = not heated and self.backend.pace.pacer is None  # in slices a pass may be cut anywhere
        self.on = self._strips is not None and free and self._strips.wanted()

    def forget(self) -> None:
        """What fields hold has been changed in other ways than by stages."""
        if self._strips is not None:
            self._strips.forget()

    @contextmanager
    def emitting(
        self,
        changed: Sequence[CellBox] | None,
        emitters: Sequence[Emitter],
        reach: Reach,
        scalars: FieldStore,
        colors: FieldStore | None,
        *others: FieldStore,
    ) -> Iterator[None]:
        """While solids cover what is there, sources add to it, and fire burns it.

        changed: where solids have come or gone; None: perhaps anywhere. reach: of the emitters.
        """
        strips = self._strips if self.on else None
        if strips is not None and all(strips.covers(f.mark) for f in (scalars, colors) if f is not None):
            inside = reach.of([e for e in emitters if e.active])
            if inside is None or changed is None:
                strips = None
            elif inside or changed:
                strips.add(inside, changed)
        else:
            strips = None  # written whole, and looked at afterwards
        if self._strips is not None and strips is None and (changed is None or changed):
            # each texture tells solids from air, and none knows of these yet
            anywhere = [self._everywhere] if self._solids_in_volumes else []
            self._strips.forget(anywhere if changed is None else changed)
        with _only(strips, (scalars, colors, *others)):
            yield

    @contextmanager
    def carrying(
        self,
        dt: float,
        times: int,
        scalars: FieldStore,
        colors: FieldStore | None,
        speed: FieldStore | None,
        *others: FieldStore,
    ) -> Iterator[None]:
        """While the flow carries them, `times` as far as in `dt` seconds.

        speed: the largest of (many) blocks of faces, now.
        """
        strips = self._strips if self.on else None
        if strips is not None:
            reach = dt / self.backend.grid.cell_size
            strips.carry(scalars, colors, speed, self.boundaries, reach, times * self._times)
        with _only(strips, (scalars, colors, *others)):
            yield

    def release(self) -> None:
        """Release what it holds."""
        self.on = False
        release(self._strips)
        self._strips = None


@contextmanager
def _only(strips: Strips | None, fields: Iterable[FieldStore | None]) -> Iterator[None]:
    """Have `fields` written only in `strips` while the body runs."""
    written = [field for field in fields if field is not None]
    for field in written:
        field.where = strips
    try:
        yield
    finally:
        for field in written:
            field.where = None
