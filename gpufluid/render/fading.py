"""How much light smoke takes, as shaders are told: less where it is thin, or leaves the box."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpufluid.common.vectors import Floats, Triple
from gpufluid.description.view import Smoke
from gpufluid.render.subject import FluidLike


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


def fade(
    place: Floats,
    cells: Sequence[int],
    sides: int,
    rate: float,
    low: Sequence[float] = (0.0, 0.0, 0.0),
    high: Sequence[float] = (0.0, 0.0, 0.0),
) -> Floats:
    """How much of the matter in each `place` [..., 3], cells, shows; the twin of ``fade.glsl``.

    sides: at which none of it is left, bits in the order x-, x+, y-, y+, z-, z+. rate: one by the cells over
    which it thins out. low, high: cells from such a side on in which there is none.
    """
    share = np.ones(place.shape)
    for side in range(6):
        if sides >> side & 1:
            x = place[..., side // 2]
            axis = side // 2
            way = (cells[axis] - high[axis] - x if side % 2 else x - low[axis]) * rate
            share[..., side // 2] = np.minimum(share[..., side // 2], np.clip(way, 0.0, 1.0))
    smooth: Floats = (share * share * (3.0 - 2.0 * share)).prod(axis=-1)
    return smooth


def edged(density: Floats, edge: float) -> Floats:
    """What of `density` shows, the rest being too thin; the twin of ``edge.glsl``. edge: 0: all of it."""
    if not edge:
        return density
    share = np.clip(density / edge, 0.0, 1.0)
    return density * share * share * (3.0 - 2.0 * share)
