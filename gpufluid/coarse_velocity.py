"""The velocity found on a grid with half as many cells along each axis, for scalars that lie in all cells.

Nothing lasts on the coarse grid from one substep to the next. It begins with the means of what the fine one
holds (`begin`, `hand_down`), and gives back a velocity that, away from solids, has these means again, and in
each fine cell the divergence of the coarse cell round it. So the fine fields are all of the state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpufluid.errors import GpufluidError
from gpufluid.grid import AXES, Grid
from gpufluid.settings import Settings

if TYPE_CHECKING:
    from gpufluid.solver import Solver


def check_cells(grid: Grid) -> None:
    """Raise GpufluidError for a grid of which no coarser one has half the cells."""
    for axis, cells in zip(AXES, grid.cells[: grid.dimensions], strict=False):
        if cells % 2:
            raise GpufluidError(
                f"Settings.coarse_velocity needs an even number of cells along each axis, got {cells} along "
                f"{axis} in {grid.cells}"
            )


def solving(settings: Settings) -> Settings:
    """What the solver of the velocity goes by: it carries no scalars."""
    scheme = settings.velocity_scheme
    return settings.but(
        coarse_velocity=False, advection="semi-lagrangian", velocity_advection=scheme, skip_empty=False
    )


def carrying(settings: Settings) -> Settings:
    """What the stages on the fine grid go by: with a coarse velocity they only carry scalars along it."""
    return settings.but(solve_velocity=False) if settings.coarse_velocity else settings


def begin(fine: Solver, coarse: Solver) -> None:
    """Let `coarse` stand where `fine` does, with its solids, velocity and last pressure."""
    backend, run = coarse.backend, coarse.backend.kernel
    backend.grid = fine.backend.grid.coarser()
    coarse.time = fine.time
    coarse.solids.mirror(fine.solids)
    variant = coarse.variant
    velocity = {"fine_velocity": fine.velocity, "velocity": coarse.velocity}
    run("restrict_velocity", variant)(**velocity, **coarse.solids.faces)
    run("restrict_pressure", variant)(fine_pressure=fine.pressure, pressure=coarse.pressure)
    coarse.let_slip()


def hand_down(fine: Solver, coarse: Solver) -> None:
    """Give `coarse` the scalars, colours and flame that push its velocity."""
    run, variant = coarse.backend.kernel, coarse.variant
    run("restrict_scalars", variant)(fine_scalars=fine.scalars, scalars=coarse.scalars)
    if fine.color is not None and fine.settings.weight:
        colors = coarse.prepare_colors()
        run("restrict_scalars", variant)(fine_scalars=fine.color, scalars=colors)
    if coarse.swelling:
        run("restrict_flame", variant)(fine_flame=fine.flame, flame=coarse.flame)


def give_velocity_back(fine: Solver, coarse: Solver) -> None:
    """Give `fine` the velocity of `coarse`."""
    slopes = coarse.backend.kernel("face_slopes", coarse.variant)
    slopes(velocity=coarse.velocity, slopes=coarse.slopes, **coarse.solids.faces)
    prolong = fine.backend.kernel("prolong_velocity", fine.variant)
    prolong(slopes=coarse.slopes, velocity=fine.velocity, **fine.solids.faces)


def give_pressure_back(fine: Solver, coarse: Solver) -> None:
    """Give `fine` the pressure of `coarse`, also where that has no fluid and `fine` some."""
    prolong = fine.backend.kernel("prolong_pressure", fine.variant)
    solid = {"coarse_solid": coarse.solids.cells["solid"]} if fine.solids.present else {}
    prolong(coarse_pressure=coarse.pressure, pressure=fine.pressure, **solid)
