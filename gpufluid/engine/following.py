"""How a box moves: by whole cells, or after a point, along which axes and by how many."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gpufluid.common.checks import finite_number, whole_triple
from gpufluid.common.errors import GpufluidError
from gpufluid.common.vectors import Triple
from gpufluid.description.boundaries import Boundaries, Wall
from gpufluid.description.grid import AXES, FARTHEST, Grid
from gpufluid.engine.stepper import Stepper

Middle = tuple[float | None, float | None, float | None]
NOWHERE: Middle = (None, None, None)
Cells = tuple[int, int, int]


class MovingBox:
    """The box of a fluid, which is moved over what is in it, between steps."""

    def __init__(self, stepper: Stepper) -> None:
        self._stepper = stepper
        self.middle = NOWHERE  # where it would be, if it followed a point not by whole cells

    @property
    def spare(self) -> tuple[Triple, Triple]:
        """Cells at its ends that lie outside of one which follows a point smoothly, as of `Fluid.spare`."""
        return spare_cells(self._stepper.backend.grid, self.middle)

    def scroll(self, shift: Cells) -> None:
        """Move it by so many cells (i, j, k); it follows nothing any more. Raises GpufluidError."""
        self._move(shift)
        self.middle = NOWHERE

    def scroll_to(self, scrolled: Cells) -> None:
        """Move it to where it stood once it had gone so many cells."""
        i, j, k = (to - now for to, now in zip(scrolled, self._stepper.backend.scrolled, strict=True))
        self.scroll((i, j, k))

    def follow(self, point: Triple, dead_zone: Triple, axes: str | None) -> Cells:
        """Move it after `point`, as `gpufluid.Fluid.follow` does; return by how many cells."""
        stepper = self._stepper
        grid = stepper.backend.grid
        chosen = axes_to_follow(axes, stepper.boundaries, grid.dimensions)
        for axis in chosen:
            stepper.solver.check_scroll(axis)
        shift = cells_to_follow(grid, point, dead_zone, chosen)
        middle = middle_to_follow(grid, self.middle, point, dead_zone, chosen)
        self._move(shift)
        self.middle = middle
        return shift

    def _move(self, shift: Cells) -> None:
        stepper = self._stepper
        i, j, k = (old + new for old, new in zip(stepper.backend.scrolled, shift, strict=True))
        whole_triple((i, j, k), "cells, with those that the box has gone already,", FARTHEST)
        if any(shift):  # following a point that hardly moves leaves a step under way
            stepper.finish()
            stepper.solver.scroll(shift, list(stepper.obstacles))


def checked_middle(middle: object) -> Middle:
    """Return a `middle` of a box that was saved. Raises GpufluidError for what is none."""
    if not isinstance(middle, Sequence) or len(middle) != 3:
        raise GpufluidError(f"middle must be three numbers or nothing, got {middle!r}")
    x, y, z = (None if place is None else float(finite_number(place, "middle")) for place in middle)
    return x, y, z


def axes_to_follow(axes: str | None, boundaries: Boundaries, dimensions: int) -> list[int]:
    """The numbers of `axes`, as in "xz"; None: of all but those with a wall.

    Raises GpufluidError for what names no axes, and where walls leave none.
    """
    if axes is None:
        sides = boundaries.sides
        free = [
            axis
            for axis in range(dimensions)
            if not any(isinstance(side, Wall) for side in sides[2 * axis : 2 * axis + 2])
        ]
        if not free:
            raise GpufluidError(
                "the box cannot follow anything: there are walls across every axis; the sides that it "
                "is to move along must be gf.Open, Inflow or Periodic"
            )
        return free
    if not isinstance(axes, str) or not axes or set(axes) - set(AXES) or len(set(axes)) < len(axes):
        raise GpufluidError(f'axes must be some of "xyz", or None, got {axes!r}')
    return [AXES.index(axis) for axis in axes]


def middle_to_follow(
    grid: Grid,
    middle: Middle,
    point: Sequence[float],
    dead_zone: Sequence[float],
    axes: Sequence[int],
) -> Middle:
    """Where the middle of a box would be that followed `point` along `axes`, but not by whole cells.

    middle: where it was, metres (x, y, z), None along an axis that nothing was followed along. Of `grid`,
    which `cells_to_follow` moves, the middle is less than a cell from there.
    """
    gone: list[float | None] = [None, None, None]
    for axis in axes:
        zone = max(dead_zone[axis], grid.cell_size)
        was = middle[axis]
        start = grid.origin[axis] + 0.5 * grid.size[axis] if was is None else was
        gone[axis] = min(max(start, point[axis] - zone), point[axis] + zone)
    x, y, z = gone
    return x, y, z


def spare_cells(grid: Grid, middle: Middle) -> tuple[Triple, Triple]:
    """How much of the box lies outside of one round `middle` that is a cell shorter at each end.

    Cells at the low and the high ends of (x, y, z), 0 .. 2; 0 along an axis where `middle` is None.
    """
    low, high = [0.0] * 3, [0.0] * 3
    for axis, place in enumerate(middle):
        if place is not None:
            ahead = (place - grid.origin[axis] - 0.5 * grid.size[axis]) / grid.cell_size
            low[axis], high[axis] = 1.0 + ahead, 1.0 - ahead
            low[axis], high[axis] = (min(max(n, 0.0), 2.0) for n in (low[axis], high[axis]))
    return (low[0], low[1], low[2]), (high[0], high[1], high[2])


def cells_to_follow(
    grid: Grid, point: Sequence[float], dead_zone: Sequence[float], axes: Sequence[int]
) -> Cells:
    """By how many cells (i, j, k) the box goes on along `axes`, so that `point` is near its middle.

    dead_zone: metres (x, y, z) from the middle within which the point leaves the box where it is; never less
    than a cell.
    """
    shift = [0, 0, 0]
    for axis in axes:
        off = point[axis] - grid.origin[axis] - 0.5 * grid.size[axis]
        beyond = abs(off) - max(dead_zone[axis], grid.cell_size)
        if beyond > 0.0:
            shift[axis] = int(math.copysign(math.ceil(beyond / grid.cell_size), off))
    i, j, k = shift
    return i, j, k
