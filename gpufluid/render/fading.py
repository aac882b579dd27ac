"""How much light smoke takes, as shaders are told: less where it is thin, or leaves the box."""

from __future__ import annotations

from typing import Any

from gpufluid.render.subject import FluidLike
from gpufluid.vectors import Triple
from gpufluid.view import Smoke


def fading_sides(fluid: FluidLike, smoke: Smoke) -> int:
    """The sides at which none of it is left, as bits in the order x-, x+, y-, y+, z-, z+."""
    if not smoke.fade:
        return 0
    axes = range(fluid.grid.dimensions)
    return sum(
        fluid.boundaries.lets_out(axis, high) << 2 * axis + high for axis in axes for high in (False, True)
    )


def spare_ends(fluid: FluidLike, sides: int) -> tuple[Triple, Triple]:
    """Cells in which nothing is left, from the low and the high ends of the box at such `sides` on."""
    low, high = (
        tuple(n * (sides >> 2 * axis + end & 1) for axis, n in enumerate(ends))
        for end, ends in enumerate(fluid.spare)
    )
    return low, high  # type: ignore[return-value]


def fading(fluid: FluidLike, smoke: Smoke) -> tuple[dict[str, object], dict[str, Any]]:
    """The macros and the values of a shader that reads ``fade.glsl``, ``edge.glsl`` and `extinction`."""
    sides = fading_sides(fluid, smoke)
    values: dict[str, Any] = {"extinction": float(smoke.extinction)}
    if sides:
        values["fade_rate"] = fluid.grid.cell_size / smoke.fade
        values["fade_low"], values["fade_high"] = spare_ends(fluid, sides)
    if smoke.edge:
        values["smoke_edge"] = float(smoke.edge)
    return {"FADES": sides, "EDGED": int(smoke.edge > 0.0)}, values
