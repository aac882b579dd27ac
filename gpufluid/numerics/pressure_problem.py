"""The equation a pressure solver is given, and what it may do with it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gpufluid.contract.arguments import Openings
from gpufluid.contract.backend import Backend, FieldStore, release
from gpufluid.contract.kernels import WALKING, Variant
from gpufluid.contract.layout import EIGHTHS, LANES
from gpufluid.description.grid import Grid

SPARE = 0.1  # of the cells along an axis: so many more may eighths hold
WORTH = 6  # sweeps in eighths that gain more than bringing the pressure there and back costs


class PressureProblem:
    """laplacian(pressure) = divergence / dt on the fluid cells of a box.

    In cells of size 1 that is ``sum over open neighbours of (their pressure - mine) = scale * divergence``:
    walls, inflow and solids are no neighbours. On an open side the pressure is 0: the neighbour beyond it has
    the cell's own times -1. A cell with no open neighbour keeps the pressure 0.

    pressure: packed field to be improved, holding the start. divergence: packed field, 1/s. scale:
    cell_size^2 / dt, m^2/s^2 per 1/s. openings: {} or {"openings": field}, what kernels take of the solids.
    floats: True where a constant may be added to every pressure, since no side is open. warm: whether the
    start is the pressure of the last step, which bounds what a solver may do
    (`gpufluid.numerics.relaxation`).
    """

    def __init__(self, backend: Backend, pressure: FieldStore, divergence: FieldStore) -> None:
        self.backend, self.pressure, self.divergence = backend, pressure, divergence
        self.scale, self.warm = 1.0, False
        self.variant = Variant()
        self.openings: Openings = {}
        self._fields: dict[str, FieldStore] = {}
        self._start: float | None = None
        self._inner: PressureProblem | None = None

    def pose(
        self, divergence: FieldStore, scale: float, variant: Variant, openings: Openings
    ) -> PressureProblem:
        """Make this the problem of one projection."""
        self.divergence, self.scale = divergence, scale
        variant = variant.compiled  # how fast sides move is in the divergence
        if variant != self.variant:  # the same object as before is found faster, by each pass
            self.variant = variant
        self.openings = openings
        self._start = None
        return self

    @property
    def grid(self) -> Grid:
        """The cells."""
        return self.backend.grid

    @property
    def floats(self) -> bool:
        """True where no side is open: the pressure is then known but for a constant."""
        sides = self.variant.boundaries
        return not any(sides.open(a, high) for a in range(self.grid.dimensions) for high in (False, True))

    def field(self, name: str) -> FieldStore:
        """A packed field of your own, in single precision; made when it is first asked for, then kept."""
        if name not in self._fields:
            self._fields[name] = self.backend.single().field(name, "packed", exact=True)
        return self._fields[name]

    def inner(self, values: FieldStore, right: FieldStore) -> PressureProblem:
        """Return the problem ``-laplacian(values) = right`` on the same cells, for a preconditioner."""
        if self._inner is None:
            self._inner = PressureProblem(self.backend.single(), values, right)
        self._inner.pressure = values
        return self._inner.pose(right, -1.0, self.variant, self.openings)

    # -- improving the pressure ------------------------------------------------------------------------

    def jacobi(self, weight: float = 1.0, sweeps: int = 1) -> None:
        """Weighted Jacobi sweeps, divided by 2d even beside walls."""
        self.sweep([weight] * sweeps)

    def sweep(self, weights: Sequence[float]) -> None:
        """The same, each of its weight."""
        name, field, values = "jacobi", "pressure", self.pressure
        apart = self._in_eighths(len(weights))
        if apart:
            name, field, values = "jacobi_eighths", "eighths", self._eighths()
            self.backend.kernel("split_eighths", self.variant)(values=self.pressure, eighths=values)
        given = {field: values, "divergence": self.divergence, "scale": self.scale, **self.openings}
        together = 1 if apart else self._together()
        whole = len(weights) // together * together if together > 1 else 0
        if whole:
            several = self.backend.kernel(WALKING[together], self.variant)
            chunks = (tuple(weights[n : n + together]) for n in range(0, whole, together))
            for those, alike in itertools.groupby(chunks):
                several.repeat(len(list(alike)), weights=those, **given)
        sweep = self.backend.kernel(name, self.variant)
        for weight, same in itertools.groupby(weights[whole:]):
            sweep.repeat(len(list(same)), weight=weight, **given)
        if apart:
            self.backend.kernel("join_eighths", self.variant)(values=self.pressure, eighths=values)

    def _in_eighths(self, sweeps: int) -> bool:
        """Whether so many sweeps are worth bringing the pressure into eighths, in which a sweep reads less.

        Not where cells close on themselves that would not do so in eighths, nor where much of these would lie
        beyond the box.
        """
        if self.grid.dimensions < 3 or sweeps < WORTH:
            return False
        for axis, step in zip((1, 2), EIGHTHS, strict=True):
            cells = self.grid.cells[axis]
            beyond = -cells % step
            if beyond > SPARE * cells or (beyond and self.variant.boundaries.periodic(axis)):
                return False
        return self.backend.eighths

    def _together(self) -> int:
        """How many sweeps one pass makes.

        One where the last cells of a row that closes on itself fill no pack, or where so few rows or slices
        close that a workgroup, which looks as many beyond a side, would come round twice.
        """
        sweeps, cells, closes = self.backend.sweeps, self.grid.cells, self.variant.boundaries.periodic
        unfilled = closes(0) and cells[0] % LANES
        thin = any(closes(axis) and cells[axis] < sweeps for axis in (1, 2))
        return 1 if self.grid.dimensions < 3 or unfilled or thin else sweeps

    def _eighths(self) -> FieldStore:
        if "eighths" not in self._fields:
            self._fields["eighths"] = self.backend.field("eighths", "eighth", exact=True)
        return self._fields["eighths"]

    def red_black(self, colour: int, omega: float = 1.0) -> Callable[[], None]:
        """Return what makes half a sweep of over-relaxation, over the cells of `colour` 0 or 1."""
        return self.backend.kernel("red_black", self.variant).bound(
            pressure=self.pressure,
            divergence=self.divergence,
            scale=self.scale,
            omega=omega,
            colour=colour,
            **self.openings,
        )

    # -- vectors: fields of `field()` ------------------------------------------------------------------

    def residual(self) -> FieldStore:
        """Return the field ``scale * divergence - laplacian(pressure)``, 0 outside the fluid."""
        out = self.field("residual")
        self.backend.kernel("residual", self.variant)(
            pressure=self.pressure,
            divergence=self.divergence,
            scale=self.scale,
            residual=out,
            **self.openings,
        )
        return out

    def apply(self, values: FieldStore, out: FieldStore) -> None:
        """Put ``-laplacian(values)``, a symmetric operator without negative eigenvalues, into `out`."""
        self.backend.single().kernel("residual", self.variant)(
            pressure=values, divergence=values, scale=0.0, residual=out, **self.openings
        )

    def add(self, values: FieldStore, other: FieldStore, factor: float = 1.0, own: float = 1.0) -> None:
        """Make `values` ``own * values + factor * other``; `values` may be the pressure."""
        backend = self.backend if values is self.pressure else self.backend.single()
        backend.kernel("add_scaled", self.variant)(values=values, other=other, own=own, factor=factor)

    def dot(self, a: FieldStore, b: FieldStore) -> tuple[float, float]:
        """Return the sums over the fluid of a * b and of a * a. The CPU waits for them."""
        sums = self._rows(self.backend.single(), a, b)
        return float(sums[0]), float(sums[1])

    def _rows(self, backend: Backend, a: FieldStore, b: FieldStore) -> Any:
        rows, slices = self.sums["rows"], self.sums["slices"]
        backend.kernel("dot_rows", self.variant)(a=a, b=b, rows=rows, **self.openings)
        if not self.grid.many:
            return rows.read().astype(np.float64).sum((0, 1, 2))
        backend.kernel("sum_slices", self.variant)(rows=rows, slices=slices)
        return slices.read().astype(np.float64).sum((0, 1, 2))

    # -- how far it is ---------------------------------------------------------------------------------

    @property
    def start(self) -> float:
        """The sum of the squares of ``scale * divergence``: what pressure 0 leaves. The CPU waits for it."""
        if self._start is None:
            divergence = self._rows(self.backend, self.divergence, self.divergence)
            self._start = self.scale**2 * float(divergence[1])
        return self._start

    def left(self) -> float:
        """Return what is left of the divergence, as a share of its start (rms). The CPU waits for it."""
        residual = self.residual()
        return self.share(self.dot(residual, residual)[1])

    def share(self, squares: float) -> float:
        """The root of a residual's sum of squares as a share of the start."""
        if self.start > 0.0:
            return float(np.sqrt(squares / self.start))
        return math.inf if squares > 0.0 else 0.0

    def done(self, tolerance: float | None) -> bool:
        """True where no more than `tolerance` is left; False, without waiting, where it is None."""
        return tolerance is not None and self.left() <= tolerance

    def balance(self, values: FieldStore, out: FieldStore) -> None:
        """Put `values` less their mean over the fluid into `out`, 0 elsewhere. Nothing waits."""
        # the divergence is in the fluid's precision, pressures are in single
        backend = self.backend if values is self.divergence else self.backend.single()
        self.sum_rows("dot_rows", backend, a=values, b=values, **self.openings)
        backend.kernel("balance", self.variant)(
            values=values, wholes=self.sums["wholes"], balanced=out, **self.openings
        )

    def weaken(self, most: float) -> None:
        """Let the pressure take off no more than `most` times what it is to take off (rms). Nothing waits."""
        given = {"divergence": self.divergence, "scale": self.scale, **self.openings}
        self.sum_rows("start_rows", self.backend, pressure=self.pressure, **given)
        self.backend.kernel("weaken", self.variant)(
            pressure=self.pressure, wholes=self.sums["wholes"], most=most
        )

    def sum_rows(self, name: str, backend: Backend, **fields: Any) -> None:
        """Put what kernel `name` sums up in each row, summed over all rows, into ``sums["wholes"]``."""
        run, variant, sums = backend.kernel, self.variant, self.sums
        run(name, variant)(rows=sums["rows"], **fields)
        run("sum_slices", variant)(rows=sums["rows"], slices=sums["slices"])
        run("sum_whole", variant)(slices=sums["slices"], wholes=sums["wholes"])

    @property
    def sums(self) -> dict[str, FieldStore]:
        """The fields "rows", "slices" and "wholes", for sums over ever more of the box."""
        kinds = {"rows": "row", "slices": "slice", "wholes": "whole"}
        for name, kind in kinds.items():
            if name not in self._fields:
                self._fields[name] = self.backend.field(name, kind, buffers=1, exact=True)
        return {name: self._fields[name] for name in kinds}

    def prepare_balance(self) -> None:
        """Make what `balance` needs."""
        _ = self.sums
        for name in ("dot_rows", "sum_slices", "sum_whole", "balance"):
            for backend in (self.backend, self.backend.single()):
                backend.kernel(name, self.variant)

    def release(self) -> None:
        """Release the fields."""
        release(*self._fields.values(), self._inner)
        self._fields.clear()
