"""The growth of waves on a shear layer without viscosity (Kelvin & Helmholtz): Michalke (1964)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest
from page import Case, Collector, Plot, Row, within

import gpufluid as gf

pytestmark = pytest.mark.validation

WAVE_NUMBER, RATE = 0.4446, 0.1897  # of the wave that grows fastest on u = tanh(y), and its growth
MESHES = (32, 64, 128)  # cells to the wave
HEIGHT = 20.0  # of the box, whose sides the wave reaches with exp(-2 * 4.4) of its strength
LENGTH = 2.0 * np.pi / WAVE_NUMBER


@dataclass(frozen=True)
class Growth:
    """The amplitude of the wave of v on y = 0 over time."""

    times: np.ndarray
    sizes: np.ndarray

    @cached_property
    def rate(self) -> float:
        """Of exponential growth, after the start has sorted itself out."""
        late = self.times > 10.0
        return float(np.polyfit(self.times[late], np.log(self.sizes[late]), 1)[0])


def grow(cells: int, courant: float) -> Growth:
    """A push of 0.001 for 22 units of time, dt = courant * h; `cells` to the wave."""
    h = LENGTH / cells
    rows = 2 * round(0.5 * HEIGHT / h)
    grid = gf.Grid((cells, rows, 1), h, (0.0, -0.5 * rows * h, 0.0))
    loop, free = gf.Periodic(), gf.Wall("free")
    rules = gf.Settings(buoyancy=0.0, pressure=gf.Multigrid(2))
    edge = (np.arange(rows + 1) - rows / 2) * h
    middle = edge[:-1] + 0.5 * h
    corners = np.arange(cells + 1) * h
    stream = 1e-3 * np.outer(1.0 / np.cosh(WAVE_NUMBER * edge), np.cos(WAVE_NUMBER * corners))
    stream[[0, -1]] = 0.0
    times, sizes = [], []
    with gf.Fluid(grid, gf.Boundaries(loop, loop, free, free), rules) as fluid:
        start = np.zeros(fluid.velocity.shape)
        start[0, :-1, :, 0] = np.tanh(middle)[:, None] + np.diff(stream, axis=0) / h
        start[0, :, :-1, 1] = -np.diff(stream, axis=1) / h
        fluid.velocity.write(start)
        wave = np.exp(1j * WAVE_NUMBER * (corners[:-1] + 0.5 * h))
        dt = courant * h
        for n in range(round(22.0 / dt) + 1):
            if n:
                fluid.step(dt)
            times.append(n * dt)
            sizes.append(abs(fluid.velocity.read()[0, rows // 2, :-1, 1] @ wave) / cells)
    return Growth(np.array(times), np.array(sizes))


def measure() -> Case:
    """Three meshes, each with two steps; one of them with a third."""
    runs = {(cells, c): grow(cells, c) for cells in MESHES for c in (0.5, 0.25)}
    runs[64, 0.125] = grow(64, 0.125)
    rates = {run: growth.rate for run, growth in runs.items()}
    limits = {cells: 2.0 * rates[cells, 0.25] - rates[cells, 0.5] for cells in MESHES}
    limit = limits[128] + (limits[128] - limits[64]) / 3.0
    rows = [
        within(
            f"growth rate, {cells} cells to the wave, dt → 0", RATE, "Michalke 1964", limits[cells],
            (LENGTH / cells) ** 2,
            f"{100 * (LENGTH / cells) ** 2:.2g} %: second order, (h / width)², the layer being "
            f"{cells / LENGTH:.1f} cells wide",
        )
        for cells in MESHES
    ]  # fmt: skip
    rows += [
        Row(
            f"its error over that with {cells // 2} cells", "1/4",
            (RATE - limits[cells]) / (RATE - limits[cells // 2]), 0.17, 0.35,
            "nearer to second order than to first (1/2) or third (1/8)",
        )
        for cells in MESHES[1:]
    ]  # fmt: skip
    rows += [
        Row(
            "what halving dt = h/2 gains over what halving h/4 gains, 64 cells", "2",
            (rates[64, 0.25] - rates[64, 0.5]) / (rates[64, 0.125] - rates[64, 0.25]), 1.4, 2.8,
            "nearer to first order (2) than to second (4) or none (1)",
        ),
        within(
            "growth rate, dt → 0 and h → 0", RATE, "Michalke 1964", limit, 0.01,
            "1 %: what is left once the first order in dt and the second in h are taken off",
        ),
    ]  # fmt: skip

    def draw(path: Path) -> None:
        from drawing import COLORS, Sheet

        sheet = Sheet(2, size=(9.6, 3.5))
        axes = sheet.axes[0]
        for cells, color in zip(MESHES, COLORS, strict=False):
            growth = runs[cells, 0.25]
            axes.semilogy(growth.times, growth.sizes, color=color, label=f"{cells} cells, dt = h/4")
        finest = runs[MESHES[-1], 0.25]
        line = finest.sizes[-1] * np.exp(RATE * (finest.times - finest.times[-1]))
        axes.semilogy(finest.times, line, "--", color="black", lw=1.0, label=f"exp({RATE} t)")
        axes.set(xlabel="t", ylabel="amplitude of v on y = 0", title="A small push")
        axes.legend(fontsize=8)
        axes = sheet.axes[1]
        courants = np.array([0.0, 0.5])
        for cells, color in zip(MESHES, COLORS, strict=False):
            taken = [c for n, c in runs if n == cells]
            axes.plot(taken, [rates[cells, c] for c in taken], "o", color=color, label=f"{cells} cells")
            ends = limits[cells] + courants / 0.5 * (rates[cells, 0.5] - limits[cells])
            axes.plot(courants, ends, color=color, lw=1.0)
        axes.plot([0.0], [limit], "k*", label="dt → 0 and h → 0")
        axes.axhline(RATE, color="black", lw=1.0, label=f"{RATE} (Michalke)")
        axes.set(xlabel="dt / h", ylabel="growth rate", title="Towards dt = 0", xlim=(-0.02, 0.55))
        axes.legend(fontsize=8)
        sheet.save(path)

    return Case(
        "shear",
        "Waves on a shear layer",
        "Without viscosity a layer u = tanh(y) rolls up (Kelvin & Helmholtz); the wave with the wave number "
        "0.4446 grows fastest. The box is one such wave long and periodic, and 20 high between free-slip "
        "sides; `Multigrid(2)`. A push of 0.001 starts the wave; its growth rate is the slope of the "
        "logarithm for 10 < t < 22.",
        rows,
        [Plot("shear", "Growth of the wave on three meshes; growth rates over the step", draw)],
        f"With 64 cells the rate is {rates[64, 0.5]:.3f} with dt = h/2, {rates[64, 0.25]:.3f} with dt = h/4 "
        f"and {rates[64, 0.125]:.3f} with dt = h/8: smaller steps damp less, down to what the mesh takes "
        "([why](#vortices-in-three-dimensions)).",
    )


def test_shear(collector: Collector) -> None:
    collector.add(measure())
