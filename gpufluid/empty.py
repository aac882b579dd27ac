"""Leaving empty space out of the stages that move and make scalars."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import product

import numpy as np

from gpufluid.backend import Backend, FieldStore, Strips
from gpufluid.boundaries import Boundaries
from gpufluid.forces import edge_width
from gpufluid.grid import Grid
from gpufluid.settings import Settings
from gpufluid.shapes import HALF_SPACE, ROUND, Analytic
from gpufluid.sources import Emitter

EDGE = 4.0  # widths of a Gaussian edge at which it ends, see emitter.glsl
Box = tuple[Sequence[float], Sequence[float]]


class EmptySpace:
    """Tells fields where passes need to write, and nothing where a backend leaves nothing out.

    Something is what is not exactly 0. Interpolation rounds any other ambient temperature, and an implicit
    diffusion brings something of everything everywhere: there nothing is left out.
    """

    def __init__(self, backend: Backend, settings: Settings, boundaries: Boundaries) -> None:
        self.backend, self.boundaries = backend, boundaries
        self._strips: Strips | None = None
        self._on = False
        self.use(settings)

    def use(self, settings: Settings) -> None:
        """Go on by these settings."""
        rules = self.settings = settings
        still = not (rules.ambient_temperature or rules.thermal_diffusivity or rules.density_diffusivity)
        if not (rules.skip_empty and still):
            self.release()
        elif self._strips is None:
            self._strips = self.backend.strips()
        # how many times as far as the flow a value may come from: a limiter holds to what is there
        far = {"bfecc": 2} if rules.limiter else {"bfecc": 3, "maccormack": 2}
        self._times = far.get(rules.advection, 1)

    def begin(self, heated: bool, changed: bool) -> None:
        """Begin a substep. heated: solids warm the fluid. changed: there are other solids than before."""
        if self._strips is not None and changed:
            self._strips.forget()
        free = not heated and self.backend.pace.pacer is None  # in slices a pass may be cut anywhere
        self._on = self._strips is not None and free and self._strips.wanted()

    def forget(self) -> None:
        """What fields hold has been changed in other ways than by stages."""
        if self._strips is not None:
            self._strips.forget()

    @contextmanager
    def emitting(
        self, emitters: Sequence[Emitter], scalars: FieldStore, colors: FieldStore | None, *others: FieldStore
    ) -> Iterator[None]:
        """While sources add to what is there, and fire burns it."""
        strips = self._strips if self._on else None
        if strips is not None:
            known = all(strips.covers(f.mark) for f in (scalars, colors) if f is not None)
            boxes = [emitter_box(e, self.backend.grid) for e in emitters if e.active]
            inside = [box for box in boxes if box is not None]
            if not known or len(inside) < len(boxes):
                strips = None  # written whole, and looked at afterwards
            elif boxes:
                strips.add(inside)
        written = (scalars, colors, *others)
        _only(strips, written)
        try:
            yield
        finally:
            _only(None, written)

    @contextmanager
    def carrying(
        self,
        dt: float,
        scalars: FieldStore,
        colors: FieldStore | None,
        speed: FieldStore | None,
        *others: FieldStore,
    ) -> Iterator[None]:
        """While the flow carries them for `dt` seconds; speed: the largest of (many) blocks of faces, now."""
        strips = self._strips if self._on else None
        if strips is not None:
            reach = dt / self.backend.grid.cell_size
            strips.carry(scalars, colors, speed, self.boundaries, reach, self._times)
        written = (scalars, colors, *others)
        _only(strips, written)
        try:
            yield
        finally:
            _only(None, written)

    @property
    def on(self) -> bool:
        """Whether anything is left out in this substep."""
        return self._on

    def release(self) -> None:
        """Release what it holds."""
        self._on = False
        if self._strips is not None:
            self._strips.release()
            self._strips = None


def _only(strips: Strips | None, fields: Iterable[FieldStore | None]) -> None:
    """Have `fields` written only in `strips`, from now on."""
    for field in fields:
        if field is not None:
            field.where = strips


def emitter_box(emitter: Emitter, grid: Grid) -> Box | None:
    """Return low and high corner of the cells that `emitter` reaches, in cells; None: perhaps all of them."""
    shape = emitter.shape
    if not isinstance(shape, Analytic) or shape.form.kind == HALF_SPACE:
        return None
    form, width = shape.form, edge_width(emitter, grid)
    place = emitter.matrix @ form.place
    place[:3, 3] -= grid.origin
    core = np.array(form.core)
    if form.kind == ROUND:
        core = core[[0, 1, 0]]
    core = core + form.rounding + max(0.0 if width is None else EDGE * width, 2.0 * grid.cell_size)
    corners = np.array([(*(core * signs), 1.0) for signs in product((-1.0, 1.0), repeat=3)]) @ place.T
    low, high = corners[:, :3].min(axis=0), corners[:, :3].max(axis=0)
    low, high = np.floor(low / grid.cell_size) - 1.0, np.ceil(high / grid.cell_size) + 1.0
    if grid.dimensions == 2:
        low[2], high[2] = 0.0, 1.0
    return np.clip(low, -1e6, 1e6).tolist(), np.clip(high, -1e6, 1e6).tolist()
