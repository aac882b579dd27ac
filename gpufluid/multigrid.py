"""Multigrid V-cycles for the pressure, in boxes of any size and round solids.

A coarse cell stands for two by two by two finer ones, in an odd row's end for fewer. The face between two
coarse cells carries a weight: the area of it that is open, over the distance between their centres. So a
wall that is thinner than a coarse cell still holds, a gap in it still lets through, and a side that is open
stays where it is. A finer residual is summed up, a correction is interpolated linearly, but not through
faces that are closed on the finer grid.
"""

from __future__ import annotations

from typing import Any

from gpufluid.backend import Backend, FieldStore
from gpufluid.kernels import Variant
from gpufluid.pressure_problem import PressureProblem
from gpufluid.solvers import Multigrid

SMALLEST = 3  # cells along the longest side of the coarsest grid, at most
LAST_SWEEPS = 4  # on the coarsest grid


class Level:
    """One coarse grid: what is left to solve there, and the correction that solves it."""

    def __init__(self, backend: Backend, stride: int) -> None:
        self.backend, self.stride = backend, stride
        self.pressure = backend.field("pressure", "packed")
        self.divergence = backend.field("divergence", "packed", buffers=1)
        self.residual = backend.field("residual", "packed", buffers=1)
        self.weights = backend.field("weights", "cell", buffers=1)

    @property
    def arguments(self) -> dict[str, Any]:
        """What kernels take of the level's faces."""
        return {"weights": self.weights}

    def release(self) -> None:
        """Release the fields."""
        for field in (self.pressure, self.divergence, self.residual, self.weights):
            field.release()


class Hierarchy:
    """The coarse grids of a problem, made when first needed."""

    def __init__(self) -> None:
        self.levels: list[Level] = []
        self._weighted_for: Variant | None = None

    def prepare(self, problem: PressureProblem) -> None:
        """Make the levels, and weigh their faces where the solids may have changed."""
        if not self.levels:
            backend, stride = problem.backend, 1
            while max(backend.grid.cells) > SMALLEST:
                backend, stride = backend.coarser(), 2 * stride
                self.levels.append(Level(backend, stride))
        if problem.variant != self._weighted_for or problem.variant.solids:
            self._weigh(problem)
            self._weighted_for = problem.variant

    def _weigh(self, problem: PressureProblem) -> None:
        finer: dict[str, FieldStore] = dict(problem.openings)
        variant = Variant(problem.variant.solids, boundaries=problem.variant.boundaries)
        for level in self.levels:
            level.backend.kernel("coarse_weights", variant)(
                weights=level.weights, finest=problem.grid.cells, stride=level.stride, **finer
            )
            finer = {"fine_weights": level.weights}
            variant = self.variant(problem)

    @staticmethod
    def variant(problem: PressureProblem) -> Variant:
        """How kernels are compiled on the coarse grids."""
        return Variant(boundaries=problem.variant.boundaries, weighted=True)

    def release(self) -> None:
        """Release the levels."""
        for level in self.levels:
            level.release()
        self.levels.clear()


def multigrid(rules: Multigrid, problem: PressureProblem, hierarchy: Hierarchy) -> None:
    """V-cycles, from the pressure as it is."""
    hierarchy.prepare(problem)
    for _ in range(rules.cycles):
        if problem.done(rules.tolerance):
            return
        v_cycle(problem, hierarchy, rules.sweeps)


def v_cycle(problem: PressureProblem, hierarchy: Hierarchy, sweeps: int) -> None:
    """Smooth, hand the residual down, take the correction, smooth again."""
    levels, coarse = hierarchy.levels, hierarchy.variant(problem)
    last = len(levels)
    residuals: list[FieldStore] = []
    for depth in range(last + 1):
        if depth:
            level = levels[depth - 1]
            level.backend.kernel("restrict", coarse)(residual=residuals[-1], divergence=level.divergence)
            level.pressure.fill([0.0])
        _smooth(problem, hierarchy, depth, sweeps if depth < last else LAST_SWEEPS)
        if depth < last:
            residuals.append(problem.residual() if not depth else _residual(level, coarse))
    for depth in reversed(range(last)):
        finer = problem if not depth else levels[depth - 1]
        finer.backend.kernel("prolong", problem.variant if not depth else coarse)(
            pressure=finer.pressure,
            correction=levels[depth].pressure,
            reach=reach(levels[depth].stride),
            **(problem.openings if not depth else levels[depth - 1].arguments),
        )
        _smooth(problem, hierarchy, depth, sweeps)


def reach(stride: int) -> float:
    """How far a finer cell beside an open side is on the way from its coarse cell's centre to where p = 0."""
    return 0.25 * stride / (0.5 * stride + 0.5)


def _residual(level: Level, variant: Variant) -> FieldStore:
    level.backend.kernel("residual", variant)(
        pressure=level.pressure,
        divergence=level.divergence,
        scale=1.0,
        residual=level.residual,
        **level.arguments,
    )
    return level.residual


def _smooth(problem: PressureProblem, hierarchy: Hierarchy, depth: int, sweeps: int) -> None:
    for _ in range(sweeps):
        for colour in (0, 1):
            if not depth:
                problem.red_black(colour)
                continue
            level = hierarchy.levels[depth - 1]
            level.backend.kernel("red_black", hierarchy.variant(problem))(
                pressure=level.pressure,
                divergence=level.divergence,
                scale=1.0,
                omega=1.0,
                colour=colour,
                **level.arguments,
            )
