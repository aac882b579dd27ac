"""What plumes of heat have in common: a law that holds between two heights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np


@dataclass(frozen=True)
class Rising:
    """x and z, m, of the cells across and up; upward speed, m/s, and temperature, of shapes that cases name.

    bottom, top: of where the law is looked for, m.
    """

    bottom: ClassVar[float]
    top: ClassVar[float]
    x: np.ndarray
    z: np.ndarray
    speed: np.ndarray
    heat: np.ndarray

    @property
    def within(self) -> np.ndarray:
        """Where the law is looked for."""
        return (self.z > self.bottom) & (self.z < self.top)

    @property
    def flux(self) -> np.ndarray:
        """What passes each height: speed times buoyancy, summed over what lies there."""
        raise NotImplementedError

    @property
    def mean_flux(self) -> float:
        """Its mean where the law is looked for."""
        return float(self.flux[self.within].mean())

    def grows(self, values: np.ndarray, power: float = 1.0) -> tuple[float, float]:
        """How fast values^(1/power) grow with height, to that power; how far from a line, of their mean."""
        z, y = self.z[self.within], values[self.within] ** (1.0 / power)
        line = np.polyfit(z, y, 1)
        return float(line[0]) ** power, float(np.abs(y - np.polyval(line, z)).max() / y.mean())
