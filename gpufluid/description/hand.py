"""What a hand in the fluid does. A description only; `Scene.stroke` and a drag in a window follow it."""

from __future__ import annotations

from dataclasses import dataclass

from gpufluid.common import rules
from gpufluid.common.errors import named
from gpufluid.common.vectors import Real, RealOrNone, Vector

REACH = 0.03  # of the box's longest side, where a hand has no reach of its own


@named
@dataclass
class Hand(rules.Checked):
    """What a hand (a drag of the mouse, or `Scene.stroke`) does to the fluid. Can be changed at any time.

    reach: distance round it that it acts on, metres, > 0; None: 0.03 of the box's longest side. push: share
    of its own velocity that it gives the fluid, >= 0. density, color: smoke, or red, green and blue smoke,
    that it adds per second, >= 0. temperature: the value that it sets there; None leaves it alone.

    Raises GpufluidError naming the field and its limit.
    """

    reach: RealOrNone = rules.number(None, above=0.0)
    push: Real = rules.number(1.0, low=0.0)
    density: Real = rules.number(8.0, low=0.0)
    color: Vector | None = rules.radiance(None)
    temperature: RealOrNone = rules.number(None)
