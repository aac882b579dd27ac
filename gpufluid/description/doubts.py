"""What is hardly meant: solids, sources and settings that will not work, or in part, where they are given."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from gpufluid.common.errors import MeshWarning, ShapeWarning, warn
from gpufluid.common.vectors import Floats
from gpufluid.description.boundaries import Boundaries
from gpufluid.description.grid import Grid
from gpufluid.description.masks import SEEN, thickness_of
from gpufluid.description.mesh import Mesh
from gpufluid.description.obstacles import Obstacle
from gpufluid.description.periodic import bounds, moved, periods
from gpufluid.description.settings import Settings
from gpufluid.description.shapes import BOX, HALF_SPACE, ROUND, Analytic, Form, Plane, placed_points
from gpufluid.description.solvers import Jacobi
from gpufluid.description.sources import Array, Bezier, Emitter, Image, Line, Source

HUGE = 100.0  # times the longest side of the box: so large a mesh hardly belongs there


def doubt_settings(settings: Settings) -> None:
    """Warn of a pressure solver that makes some waves stronger instead of taking them away."""
    rules = settings.pressure
    if isinstance(rules, Jacobi) and rules.weight > 1.0 and rules.iterations:
        warn(
            f"Jacobi.weight is {rules.weight:g}: above 1 each sweep makes the shortest waves up to "
            f"{2.0 * rules.weight - 1.0:.3g} times as strong, and the flow may gather speed without end",
            RuntimeWarning,
        )


def doubt_mesh(
    mesh: Mesh,
    matrix: Floats,
    grid: Grid,
    period: ArrayLike,
    where_open: str | None,
    *,
    axes: int = 3,
    lost: Callable[[], bool] | None = None,
) -> None:
    """Warn of a mesh, placed by `matrix`, that will hardly be what was meant.

    period: of the box along each axis, m; 0: it has none. where_open: what follows for one that is not
    closed; None: nothing. axes: along which it must reach into the box: a source is moved into the one slice
    of a box in 2D. lost: of a source, whether it reaches no cell.
    """
    size, cell = max(grid.size), grid.cell_size
    corners = placed_points(matrix, mesh.vertices)
    low, high = corners.min(0), corners.max(0)
    extent = high - low
    doubts = []
    if where_open is not None and not mesh.is_closed:
        doubts.append(f"is not closed ({mesh.open_edges} open edges): {where_open}")
    if _beyond(low, high, grid, period, axes):
        doubts.append(_outside(low, high, grid))
    elif lost is not None and lost():
        doubts.append(_between(low, high, grid))
    elif lost is None and extent.max() < cell:
        doubts.append(
            f"is {extent.max():.3g} m across, and a cell {cell:.3g} m: it may lie between the cells"
        )
    elif where_open is not None and mesh.is_closed:
        pieces = _least_pieces(mesh)
        across = np.cbrt(abs(mesh.volume * np.linalg.det(matrix[:3, :3])) / max(pieces, 1))
        if pieces > 1 and across < cell:
            doubts.append(
                f"falls into {pieces} pieces or more, {across:.3g} m across in the mean, and a cell is "
                f"{cell:.3g} m: most may lie between the cells"
            )
    if extent.max() > HUGE * size:
        doubts.append(f"is {extent.max():.3g} m across, and the box {size:.3g} m: is its unit right?")
    for doubt in doubts:
        warn(f"{mesh!r} {doubt}", MeshWarning)


def doubt_obstacle(obstacle: Obstacle, grid: Grid, boundaries: Boundaries) -> None:
    """Warn of an obstacle that will hardly be what was meant."""
    shape, matrix, period = obstacle.shape, obstacle.matrix, periods(grid, boundaries)
    if isinstance(shape, Mesh):
        where_open = "its solid is a guess inside its bounding box"
        doubt_mesh(shape, matrix, grid, period, where_open)
    else:
        _doubt_solid(shape, shape.form, matrix, grid, period)


def _doubt_solid(shape: object, form: Form, matrix: Floats, grid: Grid, period: ArrayLike) -> None:
    """Warn of a solid of that form, placed by `matrix`, that holds no cell or all, or lets the flow through.

    One outside the box may be scenery, or on its way, but in 2D not beside the one slice.
    """
    placed = matrix @ form.place
    if _fills(form, placed, grid):
        warn(
            f"{shape!r} fills the whole box, {_triple(grid.origin)} to {_triple(grid.upper)} m, and nothing "
            "flows: are its place and unit right?",
            ShapeWarning,
        )
    if form.kind == HALF_SPACE:
        return
    low, high = map(np.array, bounds(placed, form.half))
    if _beyond(low, high, grid, period, 3) and not _beyond(low, high, grid, period, grid.dimensions):
        warn(f"{shape!r} {_outside(low, high, grid)}, which is one cell deep", ShapeWarning)
        return
    edges = np.linalg.norm(placed[:3, :3], axis=0)
    thick = 2.0 * form.half * edges
    if grid.dimensions == 2:  # how thick it is across the one slice says nothing
        thick = thick[np.abs(placed[2, :3]) < 0.9 * edges]
    if len(thick) and thick.min() < (1.0 - 1e-6) * grid.cell_size:
        warn(
            f"{shape!r} is {thick.min():.3g} m thin, and a cell {grid.cell_size:.3g} m: solid are only the "
            "cells whose middle lies in it, so there may be gaps, or nothing",
            ShapeWarning,
        )


def _fills(form: Form, placed: Floats, grid: Grid) -> bool:
    """Whether the middles of all cells lie in a form that `placed` puts there: those at the corners do."""
    middle = 0.5 * grid.cell_size
    axes = [(low + middle, high - middle) for low, high in zip(grid.origin, grid.upper, strict=True)]
    inverse = np.linalg.inv(placed).astype(np.float64)
    x, y, z = placed_points(inverse, np.array(list(product(*axes)))).T
    none = np.zeros_like(x)
    profile = {BOX: (abs(x), abs(y), abs(z)), ROUND: (np.hypot(x, z), abs(y), none)}.get(
        form.kind, (none, y, none)
    )
    beyond = np.maximum(np.transpose(profile) - form.core, 0.0)
    return bool((np.linalg.norm(beyond, axis=-1) <= form.rounding).all())


def doubt_source(
    emitter: Emitter, fade: float, grid: Grid, period: ArrayLike, lost: Callable[[], bool]
) -> None:
    """Warn of a source, not of a mesh, that lies outside the box or between the cells.

    fade: m, of its edge. lost: whether it reaches no cell. One outside that moves may be on its way.
    """
    shape, matrix = emitter.shape, emitter.matrix
    if isinstance(shape, Array | Plane):
        return
    low, high = _span(shape, matrix, grid)
    if _beyond(low - SEEN * fade, high + SEEN * fade, grid, period, grid.dimensions):
        doubt = f"{_outside(low, high, grid)}, and brings nothing until one of them has moved"
        if any(emitter.motion):
            return
    elif lost():
        doubt = _between(low, high, grid)
    else:
        return
    warn(f"{shape!r} {doubt}", ShapeWarning)


def _span(shape: Source, matrix: Floats, grid: Grid) -> tuple[Floats, Floats]:
    """Low and high corner, m, of what a source without triangles takes up where `matrix` puts it."""
    if isinstance(shape, Line | Bezier):
        points = placed_points(matrix, shape.path)
        return points.min(axis=0) - shape.radius, points.max(axis=0) + shape.radius
    if isinstance(shape, Image):
        half = 0.5 * np.array((*shape.size, thickness_of(grid, shape)))
        place = matrix @ moved(np.eye(4), shape.center)
    else:
        assert isinstance(shape, Analytic)
        place, half = matrix @ shape.form.place, shape.form.half
    low, high = bounds(place, half)
    return np.array(low), np.array(high)


def _beyond(low: Floats, high: Floats, grid: Grid, period: ArrayLike, axes: int) -> bool:
    beyond = (high < grid.origin) | (low > grid.upper)
    return bool((beyond & (np.asarray(period) == 0.0))[:axes].any())


def _outside(low: Floats, high: Floats, grid: Grid) -> str:
    return (
        f"lies outside the box: it spans {_triple(low)} to {_triple(high)}, the box "
        f"{_triple(grid.origin)} to {_triple(grid.upper)} m"
    )


def _between(low: Floats, high: Floats, grid: Grid) -> str:
    cell = grid.cell_size
    return (
        f"lies between the middles of the cells, {cell:.3g} m apart, and brings nothing there: it spans "
        f"{_triple(low)} to {_triple(high)} m. Make it larger, or the cells smaller, or let it fade over "
        f"half a cell or more (edge='gaussian', falloff={0.5 * cell:.3g})"
    )


def _least_pieces(mesh: Mesh) -> int:
    """So many pieces a closed mesh has at least, by Euler's formula (1758): handles make it less."""
    return (len(np.unique(mesh.triangles)) - len(mesh.triangles) // 2) // 2


def _triple(values: ArrayLike) -> str:
    return "(" + ", ".join(f"{v:.3g}" for v in np.asarray(values)) + ")"
