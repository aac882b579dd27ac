"""The look of the plots: one size, one set of colours, small PNG files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

COLORS = ("#1f5fa8", "#d1622b", "#2f8f6b", "#8a4fa3", "#b8972a", "#5c6670")
DATA = {"color": "black", "marker": "o", "linestyle": "", "markersize": 5, "markerfacecolor": "none"}
STYLE = {
    "font.size": 10.0,
    "axes.titlesize": 10.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e4e7ea",
    "grid.linewidth": 0.7,
    "axes.axisbelow": True,
    "axes.prop_cycle": mpl.cycler(color=COLORS),
    "lines.linewidth": 1.6,
    "legend.frameon": False,
    "figure.dpi": 100.0,
}
mpl.rcParams.update(STYLE)


class Sheet:
    """A figure of some axes in a row or a grid, saved without anything that differs between two runs."""

    def __init__(self, columns: int = 2, rows: int = 1, size: tuple[float, float] = (9.0, 3.8), **rest: Any):
        self.figure = Figure(figsize=size, layout="constrained")
        self.axes: list[Axes] = list(np.atleast_1d(self.figure.subplots(rows, columns, **rest)).ravel())

    def save(self, path: Path) -> None:
        """Write a PNG of at most 256 colours, which keeps it below 100 kB."""
        self.figure.savefig(path, metadata={"Software": None})
        with Image.open(path) as image:
            small = image.convert("RGB").quantize(
                256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
            )
        small.save(path, optimize=True)


def picture(axes: Axes, values: np.ndarray, extent: tuple[float, float, float, float], **rest: Any) -> Any:
    """Show [y, x] values as an image, y up."""
    axes.grid(False)
    return axes.imshow(values, origin="lower", extent=extent, interpolation="bilinear", **rest)


def warm_flow(
    axes: Axes,
    temperature: np.ndarray,
    velocity: np.ndarray | None,
    at: tuple[np.ndarray, np.ndarray],
    extent: tuple[float, float, float, float],
    some: slice,
    width: float,
) -> Any:
    """Show temperature [y, x], 0 .. 1, with isotherms, and velocity [y, x, 2] by arrows, if there is one.

    at: x and y of the cells. some: of them along each axis, which have arrows. width: of these.
    """
    image = picture(axes, temperature, extent, cmap="inferno", vmin=0.0, vmax=1.0)
    axes.contour(*at, temperature, levels=np.linspace(0.1, 0.9, 9), colors="white", linewidths=0.6)
    if velocity is not None:
        x, y = at
        u, v = velocity[some, some, 0], velocity[some, some, 1]
        axes.quiver(x[some], y[some], u, v, color="#9fd3ff", width=width)
    return image
