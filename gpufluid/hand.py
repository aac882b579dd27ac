"""What a hand in the fluid does. A description only; `Scene.stroke` and a drag in a window follow it."""

from __future__ import annotations

from dataclasses import dataclass

from gpufluid.checks import Checked, finite_number, radiance
from gpufluid.errors import named
from gpufluid.vectors import Real, RealOrNone, Vector, default

REACH = 0.03  # of the box's longest side, where a hand has no reach of its own


@named
@dataclass
class Hand(Checked):
    """What a hand (a drag of the mouse, or `Scene.stroke`) does to the fluid. Can be changed at any time.

    reach: distance round it that it acts on, metres, > 0; None: 0.03 of the box's longest side. push: share
    of its own velocity that it gives the fluid, >= 0. density, color: smoke, or red, green and blue smoke,
    that it adds per second, >= 0. temperature: the value that it sets there; None leaves it alone.

    Raises GpufluidError naming the field and its limit.
    """

    reach: RealOrNone = default(None)
    push: Real = default(1.0)
    density: Real = default(8.0)
    color: Vector | None = None
    temperature: RealOrNone = default(None)

    def check(self) -> None:
        """Raise GpufluidError naming the first field that no hand can have."""
        if self.reach is not None:
            self.reach = finite_number(self.reach, "Hand.reach", above=0.0)
        self.push = finite_number(self.push, "Hand.push", low=0.0)
        self.density = finite_number(self.density, "Hand.density", low=0.0)
        if self.color is not None:
            self.color = radiance(self.color, "Hand.color")
        if self.temperature is not None:
            self.temperature = finite_number(self.temperature, "Hand.temperature")
