"""What plumes of heat have in common: a law that holds between two heights."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

HEIGHTS = (0.6, 0.9, 1.2, 1.6)  # m, of the profiles that are drawn


@dataclass(frozen=True)
class Rising(ABC):
    """x and z, m, of the cells across and up; upward speed, m/s, and temperature, of shapes that cases name.

    bottom, top: of where the law is looked for, m. half: half the width in theory, over d. far: where drawn
    profiles end, over d.
    """

    bottom: ClassVar[float]
    top: ClassVar[float]
    half: ClassVar[float]
    far: ClassVar[float]
    x: np.ndarray
    z: np.ndarray
    speed: np.ndarray
    heat: np.ndarray

    @property
    def within(self) -> np.ndarray:
        """Where the law is looked for."""
        return (self.z > self.bottom) & (self.z < self.top)

    @property
    @abstractmethod
    def flux(self) -> np.ndarray:
        """What passes each height: speed times buoyancy, summed over what lies there."""

    @property
    @abstractmethod
    def thickness(self) -> np.ndarray:
        """d of the law at each height, m."""

    @property
    def off_axis(self) -> np.ndarray:
        """How far the cells in the middle plane are from the axis, m."""
        return self.x

    @property
    def mean_flux(self) -> float:
        """Its mean where the law is looked for."""
        return float(self.flux[self.within].mean())

    def grows(self, values: np.ndarray, power: float = 1.0) -> tuple[float, float]:
        """How fast values^(1/power) grow with height, to that power; how far from a line, of their mean."""
        z, y = self.z[self.within], values[self.within] ** (1.0 / power)
        line = np.polyfit(z, y, 1)
        return float(line[0]) ** power, float(np.abs(y - np.polyval(line, z)).max() / y.mean())


@dataclass(frozen=True)
class Profile:
    """Values [z, across] in the middle of a plume, what each height's are in units of, and their closed form.

    exact: of the distance from the axis over d. axis: what that is called.
    """

    name: str
    axis: str
    values: np.ndarray
    scale: np.ndarray
    exact: Callable[[np.ndarray], np.ndarray]


def draw_plume(path: Path, plume: Rising, speed: Profile, heat: Profile) -> None:
    """Draw the temperature, and both profiles at HEIGHTS."""
    from drawing import COLORS, Sheet, picture

    sheet = Sheet(3, size=(9.6, 3.8), width_ratios=(0.8, 1.0, 1.0))
    axes, d = sheet.axes[0], plume.thickness
    whole = np.hstack([heat.values[:, ::-1], heat.values])
    image = picture(axes, whole, (-1.0, 1.0, 0.0, 2.0), cmap="inferno", vmin=0.0, vmax=0.5)
    for by in (-1.0, 1.0):
        axes.plot(by * plume.half * d, plume.z, "w:", lw=0.8)
    axes.set(xlabel="x, m", ylabel="z, m", xlim=(-0.6, 0.6), title="temperature, half width")
    sheet.figure.colorbar(image, ax=axes, shrink=0.8)
    eta = np.linspace(0.0, plume.far, 121)
    for axes, profile in zip(sheet.axes[1:], (speed, heat), strict=True):
        axes.plot(eta, profile.exact(eta), color=COLORS[1], label="closed form")
        for height, marker in zip(HEIGHTS, "osv^", strict=True):
            row = int(np.searchsorted(plume.z, height))
            axes.plot(
                plume.off_axis / d[row],
                profile.values[row] / profile.scale[row],
                marker,
                color="black",
                markersize=4,
                markerfacecolor="none",
                label=f"z = {height:g}",
            )
        axes.set(xlabel=profile.axis, xlim=(0.0, plume.far), title=f"{profile.name}, scaled")
        axes.legend(fontsize=8)
    sheet.save(path)
