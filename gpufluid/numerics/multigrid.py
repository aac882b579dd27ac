"""Multigrid V-cycles for the pressure, in boxes of any size and round solids.

A coarse cell stands for two by two by two finer ones, in an odd row's end for fewer. The face between two
coarse cells carries a weight: the area of it that is open, over the distance between their centres. So a
wall that is thinner than a coarse cell still holds, a gap in it still lets through, and a side that is open
stays where it is. A finer residual is summed up, a correction is interpolated linearly, but not through
faces that are closed on the finer grid.

A wall may cut the finer cells of a coarse one in parts that have nothing to do with each other, not even
through the cells next to it. It then stands for the largest part alone: the others are left to the finer
grid, and count as cells whose correction is 0. So rooms that solids shut off from each other stay apart on
every grid, and a room into which more flows than out, which has no solution, spoils none of the others.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence

from gpufluid.contract.arguments import Openings
from gpufluid.contract.backend import Backend, FieldStore, release
from gpufluid.contract.kernels import Variant
from gpufluid.description.boundaries import Boundaries
from gpufluid.description.grid import Grid
from gpufluid.description.solvers import Multigrid
from gpufluid.numerics.coarsest import inverse
from gpufluid.numerics.pressure_problem import PressureProblem

MOST_CYCLES = 8  # whose calls are kept: of a step whose length changes they would pile up
SMALLEST = 4  # cells along the longest side of the coarsest grid, at most; without solids see `SOLVED`
# On the coarsest grid: sweeps, and how far they go, best for 4 x 4 x 4 equal cells (Young 1954). Where
# neighbours share a colour, round an odd number of cells, that is no further than 1.
LAST, LAST_APART = (40, 1.0), (16, 1.4)
# How far half sweeps of coarse grids go, by dimensions. With 1, two V-cycles would leave three times as much
# of long waves (Yavneh 1996: red-black smoothing gains by it, most in 3D). Those of the finest grid go no
# further than 1: red and black apart live on black cells being solved after a sweep.
OVERSHOOT = {2: 1.15, 3: 1.25}
Call = Callable[[], None]  # of a kernel, on fields of its own
PLAIN = Variant()
Openness = Mapping[str, object]  # what kernels take of how open the faces of a grid are
WEIGHTS = ("weights_x", "weights_y", "weights_z", "weights_sum")  # of faces: the low ones of cells, all six


class Level:
    """One coarse grid: what is left to solve there, and the correction that solves it.

    `fit` says how kernels run on it. Where all its faces weigh the same they are the plain ones, which count
    faces and read no weights: the equation is then solved in parts of that weight. unit: that weight, of the
    residual that is handed down; else 1. scale: from the unit of the residual that comes down to this one's.
    inverted: without solids, of few cells, it is solved by the inverse of its equation.
    """

    def __init__(self, backend: Backend, stride: int) -> None:
        self.backend, self.stride = backend, stride
        self.variant, self.unit, self.scale, self.inverted = Variant(weighted=True), 1.0, 1.0, False
        self.pressure = backend.field("pressure", "packed")
        self.divergence = backend.field("divergence", "packed", buffers=1)
        self._weights: FieldStore | None = None  # of faces, where a grid needs them
        self.weights: dict[str, FieldStore] = {}
        # which finer cells each stands for, and what kernels of the finer grid take of it
        self._joined: FieldStore | None = None
        self.parts: dict[str, FieldStore] = {}
        inverts = backend.inverts
        self.inverse = backend.field("inverse", "matrix", buffers=1, exact=True) if inverts else None

    def fit(self, problem: PressureProblem, unit: float) -> None:
        """Choose the kernels for this problem. unit: of the residual that comes down."""
        sides, cells = problem.variant.boundaries, problem.grid.cells
        axes = range(problem.grid.dimensions)
        same = not problem.variant.solids and not any(cells[axis] % self.stride for axis in axes)
        self.unit = float(self.stride ** (len(axes) - 2)) if same else 1.0  # area over distance
        self.scale = unit / self.unit
        self.inverted, self.parts = False, {}
        if self.inverse is not None and not problem.variant.solids:
            self.inverted = True
            self.inverse.write(inverse(cells, self.stride, sides))
        weighted = not (same or self.inverted)
        self.variant = Variant(problem.variant.solids, boundaries=sides, weighted=weighted)

    @property
    def openness(self) -> Mapping[str, FieldStore]:
        """What kernels take of how open its faces are."""
        return self.weights if self.variant.weighted else {}

    def weigh(self, variant: Variant, finest: tuple[int, int, int], finer: Openness) -> None:
        """Weigh the faces, and find out which finer cells each cell stands for: solids tell these apart.

        finest: cells of the finest grid. finer: of the next finer one.
        """
        if self._weights is None:
            self._weights = self.backend.field("weights", "weights", buffers=1, exact=True)
            self.weights = dict(zip(WEIGHTS, self._weights.parts, strict=True))
        given = {"finest": finest, "stride": self.stride, **finer}
        if variant.solids:
            if self._joined is None:
                self._joined = self.backend.field("joined", "packed", buffers=1, exact=True)
            self.parts = {"joined": self._joined}
            self.backend.kernel("join_cells", variant)(**given, **self.parts)
        self.backend.kernel("coarse_weights", variant)(weights=self._weights, **given, **self.parts)

    def release(self) -> None:
        """Release the fields."""
        release(self.pressure, self.divergence, self._weights, self.inverse, self._joined)


class Hierarchy:
    """The coarse grids of a problem, made when first needed."""

    def __init__(self) -> None:
        self.levels: list[Level] = []
        self.depth = self.weighed = 0  # of them that are in use, and that weigh their faces
        self._finest: Finest | None = None
        self._fitted_to: Variant | None = None
        self._fitted_with: Openings | None = None
        self._cycles: dict[object, list[Call]] = {}  # the calls of V-cycles, by what these depend on

    def prepare(self, problem: PressureProblem) -> Finest:
        """Make the levels, weigh their faces where solids may have changed, and return the finest grid."""
        if not self.levels:
            backend, stride = problem.backend, 1
            while max(backend.grid.cells) > SMALLEST:
                backend, stride = backend.coarser(), 2 * stride
                self.levels.append(Level(backend, stride))
        # solids that have changed come with other arguments, not with others in the same dict
        if problem.variant != self._fitted_to or problem.openings is not self._fitted_with:
            self._fit(problem)
            self._weigh(problem)
            self._fitted_to, self._fitted_with = problem.variant, problem.openings
            self._cycles.clear()
        if self._finest is None or self._finest.problem is not problem:
            release(self._finest)
            self._cycles.clear()
            self._finest = (Chessboard if Chessboard.fits(problem) else Finest)(problem)
        return self._finest

    def cycle(self, finest: Finest, sweeps: int, first: bool) -> None:
        """Run a V-cycle, whose calls are put together once. first: after `Finest.load`."""
        key = (sweeps, first, *finest.depends())
        if key not in self._cycles:
            if len(self._cycles) == MOST_CYCLES:
                self._cycles.clear()
            self._cycles[key] = list(v_cycle(finest, self.levels[: self.depth], sweeps, first))
        for call in self._cycles[key]:
            call()

    def _fit(self, problem: PressureProblem) -> None:
        """Fit the levels, as far down as the first that is inverted.

        Those that read weights need these of the finer ones too, which they are made of.
        """
        unit, self.depth, self.weighed = 1.0, 0, 0
        for level in self.levels:
            level.fit(problem, unit)
            unit = level.unit
            self.depth += 1
            if level.variant.weighted:
                self.weighed = self.depth
            if level.inverted:
                break

    def _weigh(self, problem: PressureProblem) -> None:
        finer: Openness = problem.openings
        solids = problem.variant.solids
        variant = Variant(solids, boundaries=problem.variant.boundaries)
        for level in self.levels[: self.weighed]:
            level.weigh(variant, problem.grid.cells, finer)
            finer = {f"fine_{name}": weights for name, weights in level.weights.items()}
            variant = Variant(solids, boundaries=problem.variant.boundaries, weighted=True)

    def release(self) -> None:
        """Release the levels and the finest grid's own fields."""
        release(*self.levels, self._finest)
        self._cycles.clear()
        self.levels.clear()
        self._finest = None


class Finest:
    """The problem's own grid in a V-cycle, its cells as they lie."""

    def __init__(self, problem: PressureProblem) -> None:
        self.problem = problem

    def load(self) -> None:
        """Take the problem's pressure and divergence."""

    def store(self, balanced: bool = False) -> None:
        """Give the pressure back. balanced: less its mean over the fluid."""
        if balanced:
            self.problem.balance(self.problem.pressure, self.problem.pressure)

    def depends(self) -> tuple[object, ...]:
        """What the calls of a V-cycle depend on that may change from one solve to the next."""
        return self.problem.pressure, self.problem.divergence, self.problem.scale

    def smooth(self, sweeps: int, first: bool = False) -> Iterator[Call]:
        """Red-black Gauss-Seidel sweeps. first: after `load`."""
        for colour in (0, 1) * sweeps:
            yield self.problem.red_black(colour)

    def restrict(self, level: Level) -> Call:
        """Hand what is left down to the next grid."""
        problem = self.problem
        return _restrict(problem, problem.variant, problem.scale, level, problem.openings)

    def prolong(self, level: Level) -> Call:
        """Add the next grid's correction."""
        return _prolong(self.problem, self.problem.variant, level, self.problem.openings)

    def release(self) -> None:
        """Release the fields, of which there are none."""


class Chessboard(Finest):
    """The problem's own grid with red and black cells apart: half a sweep touches half of the numbers.

    After a sweep nothing is left in the black cells, and what red ones hold is not looked at by the next, so
    that only red residuals go down and only black cells take the correction. To rounding it is what `Finest`
    gives. Not for a box with a periodic axis of an odd number of cells: round it neighbours share a colour.
    """

    def __init__(self, problem: PressureProblem) -> None:
        super().__init__(problem)
        make = problem.backend.field
        self._fields = {
            "red": make("red", "half", buffers=1, exact=True),
            "black": make("black", "half", exact=True),
            "halves": make("halves", "halves", buffers=1, exact=True),
        }
        self._right_red, self._right_black, self._start = self._fields["halves"].parts

    @staticmethod
    def fits(problem: PressureProblem) -> bool:
        """Whether it can."""
        return two_colours(problem.variant.boundaries, problem.grid)

    def load(self) -> None:
        """Take the divergence of both colours, and the black pressures: the first sweep makes red ones."""
        problem = self.problem
        problem.backend.kernel("halve", problem.variant)(
            divergence=problem.divergence,
            pressure=problem.pressure,
            halves=self._fields["halves"],
            scale=problem.scale,
        )

    def store(self, balanced: bool = False) -> None:
        """Give the pressure back. balanced: less its mean over the fluid."""
        problem, halves = self.problem, {name: self._fields[name] for name in ("red", "black")}
        if balanced:
            problem.sum_rows("sum_halves", problem.backend, **halves, **problem.openings)
        problem.backend.kernel("join_halves", problem.variant)(
            values=problem.pressure,
            wholes=problem.sums["wholes"],
            share=float(balanced),
            **halves,
            **problem.openings,
        )

    def depends(self) -> tuple[object, ...]:
        """Nothing: all that changes is loaded."""
        return ()

    def smooth(self, sweeps: int, first: bool = False) -> Iterator[Call]:
        """Red-black Gauss-Seidel sweeps."""
        problem, fields = self.problem, self._fields
        relax = problem.backend.kernel("relax_half", problem.variant)
        red, black = fields["red"], fields["black"]
        for n in range(sweeps):
            other = self._start if first and n == 0 else black
            yield relax.bound(own=red, other=other, right=self._right_red, colour=0, **problem.openings)
            yield relax.bound(own=black, other=red, right=self._right_black, colour=1, **problem.openings)

    def restrict(self, level: Level) -> Call:
        """Hand what is left in the red cells down to the next grid."""
        problem, fields = self.problem, self._fields
        return problem.backend.kernel("restrict_half", problem.variant).bound(
            restricted=level.divergence,
            own=fields["red"],
            other=fields["black"],
            right=self._right_red,
            colour=0,
            **problem.openings,
            **level.parts,
        )

    def prolong(self, level: Level) -> Call:
        """Add the next grid's correction to the black cells."""
        problem = self.problem
        return problem.backend.kernel("prolong_half", problem.variant).bound(
            own=self._fields["black"],
            correction=level.pressure,
            colour=1,
            **problem.openings,
            **level.parts,
        )

    def release(self) -> None:
        """Release the fields."""
        release(*self._fields.values())


def two_colours(sides: Boundaries, grid: Grid) -> bool:
    """Whether neighbours never share one of the colours of a chessboard."""
    return not any(sides.periodic(a) and grid.cells[a] % 2 for a in range(grid.dimensions))


def multigrid(rules: Multigrid, problem: PressureProblem, hierarchy: Hierarchy) -> None:
    """V-cycles, from the pressure as it is."""
    finest = hierarchy.prepare(problem)
    if not rules.cycles or problem.done(rules.tolerance):
        return
    finest.load()
    for n in range(rules.cycles):
        hierarchy.cycle(finest, rules.sweeps, first=n == 0)
        if rules.tolerance is not None:
            finest.store(problem.floats)
            if problem.done(rules.tolerance):
                return
    if rules.tolerance is None:
        finest.store(problem.floats)


def v_cycle(finest: Finest, levels: Sequence[Level], sweeps: int, first: bool) -> Iterator[Call]:
    """Smooth, hand the residual down, take the correction, smooth again. first: after `Finest.load`."""
    if not levels:
        yield from finest.smooth(LAST[0], first)
        return
    yield from finest.smooth(sweeps, first)
    yield finest.restrict(levels[0])
    omega = OVERSHOOT[finest.problem.grid.dimensions]
    for level, coarser in itertools.pairwise(levels):
        yield level.backend.kernel("first_sweep", level.variant).bound(
            pressure=level.pressure,
            divergence=level.divergence,
            scale=level.scale,
            omega=omega,
            **level.openness,
        )
        yield from _smooth(level, sweeps - 1, omega)
        yield _restrict(level, level.variant, level.scale, coarser, level.openness)
    yield _solve(levels[-1], finest.problem)
    for coarser, level in itertools.pairwise(reversed(levels)):
        yield _prolong(level, level.variant, coarser, level.openness)
        yield from _smooth(level, sweeps, omega)
    yield finest.prolong(levels[0])
    yield from finest.smooth(sweeps)


def _solve(level: Level, problem: PressureProblem) -> Call:
    """Solve the coarsest grid: by its inverse, or where solids may move by sweeps."""
    given = {
        "pressure": level.pressure,
        "divergence": level.divergence,
        "scale": level.scale * level.unit,
    }
    if level.inverted:
        return level.backend.kernel("apply_inverse", PLAIN).bound(inverse=level.inverse, **given)
    apart = two_colours(problem.variant.boundaries, level.backend.grid)
    sweeps, omega = LAST_APART if apart else LAST
    # weights tell of the sides but where neighbours share a colour: one program for all others
    sides = Boundaries() if apart else problem.variant.boundaries
    variant = Variant(problem.variant.solids, boundaries=sides, weighted=True)
    return level.backend.kernel("solve_coarsest", variant).bound(
        sweeps=sweeps, omega=omega, **given, **level.weights
    )


def _restrict(
    finer: PressureProblem | Level,
    variant: Variant,
    scale: float,
    coarser: Level,
    openness: Openness,
) -> Call:
    return finer.backend.kernel("restrict", variant).bound(
        restricted=coarser.divergence,
        pressure=finer.pressure,
        divergence=finer.divergence,
        scale=scale,
        **openness,
        **coarser.parts,
    )


def _prolong(finer: PressureProblem | Level, variant: Variant, coarser: Level, openness: Openness) -> Call:
    return finer.backend.kernel("prolong", variant).bound(
        pressure=finer.pressure,
        correction=coarser.pressure,
        **openness,
        **coarser.parts,
    )


def _smooth(level: Level, sweeps: int, omega: float) -> Iterator[Call]:
    """Red-black sweeps on a coarse grid."""
    relax = level.backend.kernel("red_black", level.variant)
    for colour in (0, 1) * sweeps:
        yield relax.bound(
            pressure=level.pressure,
            divergence=level.divergence,
            scale=level.scale,
            omega=omega,
            colour=colour,
            **level.openness,
        )
