"""Rayleigh-Benard convection: its onset (Chandrasekhar 1961) and its heat flow (Clever & Busse 1974)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest
from page import Case, Collector, Plot, within

import gpufluid as gf

pytestmark = pytest.mark.validation

CRITICAL, WAVE = 1707.76, 2.016  # Rayleigh number and wave length of the onset between no-slip walls
NUSSELT = {5_000: 2.116, 10_000: 2.661}  # Pr = 0.71, wave number 3.117 (Clever & Busse 1974, table 1)


def scene(rayleigh: float, cells: int, prandtl: float, push: float, backend: str = "auto") -> gf.Fluid:
    """One wave length of fluid between a warm floor and a cold lid, at rest, its heat pushed a little.

    Height, g * beta * difference of temperature: 1, so that nu = sqrt(Pr / Ra), kappa = 1 / sqrt(Pr Ra).
    """
    grid = gf.Grid((round(WAVE * cells), cells, 1), 1.0 / cells)
    sides = gf.Boundaries(
        left=gf.Periodic(),
        right=gf.Periodic(),
        bottom=gf.Wall(temperature=0.5),
        top=gf.Wall(temperature=-0.5),
    )
    rules = gf.Settings(
        viscosity=float(np.sqrt(prandtl / rayleigh)),
        thermal_diffusivity=float(1.0 / np.sqrt(prandtl * rayleigh)),
        buoyancy=1.0,
        pressure=gf.Multigrid(2),
    )
    fluid = gf.Fluid(grid, sides, rules, backend)
    x, y = ((np.arange(n) + 0.5) / n for n in grid.cells[:2])
    wave = push * np.sin(np.pi * y)[:, None] * np.cos(2.0 * np.pi * x)
    fluid.temperature.write((0.5 - y[:, None] + wave)[None])
    return fluid


@dataclass(frozen=True)
class Growth:
    """The rms of the vertical velocity over time; units of free fall over the height."""

    rayleigh: float
    times: np.ndarray
    speeds: np.ndarray

    @cached_property
    def rate(self) -> float:
        """Of exponential growth, after the start has sorted itself out."""
        late = self.times > 10.0
        return float(np.polyfit(self.times[late], np.log(self.speeds[late]), 1)[0])


def grow(rayleigh: float, cells: int) -> Growth:
    """A push of 0.001 for 30 times of free fall, Pr = 1, dt = 1.28 h."""
    dt = 1.28 / cells
    times, speeds = [], []
    with scene(rayleigh, cells, 1.0, 1e-3) as fluid:
        for n in range(1, round(30.0 / dt) + 1):
            fluid.step(dt)
            if n % 10 == 0:
                v = fluid.velocity.read()[0, 1:cells, :-1, 1].astype(np.float64)
                times.append(n * dt)
                speeds.append(float(np.sqrt(np.mean(v**2))))
    return Growth(rayleigh, np.array(times), np.array(speeds))


def onset(below: Growth, above: Growth) -> float:
    """Where the rate is 0. It is nearly linear in Ra^(-1/2); between free-slip walls at Pr = 1 exactly so."""
    low, high = below.rayleigh**-0.5, above.rayleigh**-0.5
    return float((low + (high - low) * below.rate / (below.rate - above.rate)) ** -2)


@dataclass(frozen=True)
class Cells:
    """Steady convection: temperature, velocity at the cell centres, heat through the floor and the lid."""

    rayleigh: float
    temperature: np.ndarray
    velocity: np.ndarray

    @property
    def nusselt(self) -> float:
        """Mean heat flow through both walls over that of fluid at rest."""
        height = len(self.temperature)
        return float(height * (1.0 - self.temperature[0].mean() + self.temperature[-1].mean()))


def convect(rayleigh: float, cells: int = 32) -> Cells:
    """Pr = 0.71 after 80 times of free fall with dt = 0.64 h."""
    dt = 0.64 / cells
    with scene(rayleigh, cells, 0.71, 0.1) as fluid:
        for _ in range(round(80.0 / dt)):
            fluid.step(dt)
        return Cells(rayleigh, fluid.temperature.read()[0], fluid.velocity.at_centers()[0])


def measure() -> Case:
    """The onset on three meshes, and the heat flow at two Rayleigh numbers."""
    growths = {cells: (grow(1500.0, cells), grow(2000.0, cells)) for cells in (16, 32, 64)}
    critical = {cells: onset(*pair) for cells, pair in growths.items()}
    limit = critical[64] + (critical[64] - critical[32]) / 3.0
    steady = [convect(rayleigh) for rayleigh in NUSSELT]
    rows = [
        within(
            f"critical Ra, {cells} cells high", CRITICAL, "Chandrasekhar 1961", critical[cells], bound, why
        )
        for cells, bound, why in (
            (16, 0.077, "7.7 %: second order, (k² + π²) h² of the mode that sets in, k = 3.117"),
            (32, 0.019, "a quarter of that"),
            (64, 0.0048, "a quarter again"),
        )
    ]  # fmt: skip
    rows.append(
        within(
            "critical Ra, 32 and 64 extrapolated to h = 0", CRITICAL, "Chandrasekhar 1961", limit, 0.01,
            "1 %: what is left once the second order is taken off",
        )
    )  # fmt: skip
    rows += [
        within(
            f"Nusselt number, Ra = {flow.rayleigh:,.0f}, 32 cells high", NUSSELT[int(flow.rayleigh)],
            "Clever & Busse 1974", flow.nusselt, 0.03, "3 %: second order, thermal layers of 6 to 8 cells",
        )
        for flow in steady
    ]  # fmt: skip

    def draw_growth(path: Path) -> None:
        from drawing import COLORS, Sheet

        sheet = Sheet(2, size=(9.6, 3.5))
        axes = sheet.axes[0]
        for cells, style in ((16, ":"), (32, "--"), (64, "-")):
            for growth, color in zip(growths[cells], COLORS, strict=False):
                axes.semilogy(
                    growth.times, growth.speeds, style, color=color,
                    label=f"Ra = {growth.rayleigh:g}, {cells} cells",
                )  # fmt: skip
        axes.set(xlabel="t, times of free fall", ylabel="rms vertical velocity", title="A small push")
        axes.legend(fontsize=8, ncols=1)
        axes = sheet.axes[1]
        sizes = np.array([1000.0 / cells**2 for cells in critical])
        axes.plot(sizes, list(critical.values()), "o-", color=COLORS[0], label="measured")
        axes.plot(
            [0.0, sizes[-1]], [limit, critical[64]], "--", color=COLORS[0], lw=1.0, label="extrapolated"
        )  # fmt: skip
        axes.axhline(CRITICAL, color="black", lw=1.0, label="1707.8 (Chandrasekhar)")
        axes.set(
            xlabel="1000 (h / height)², dt = 1.28 h", ylabel="critical Ra", xlim=(0, None), title="The onset"
        )
        axes.legend(fontsize=8)
        sheet.save(path)

    def draw_cells(path: Path) -> None:
        from drawing import Sheet, picture

        sheet = Sheet(2, size=(9.6, 2.9), sharey=True)
        for axes, flow in zip(sheet.axes, steady, strict=True):
            image = picture(
                axes, flow.temperature, (0.0, WAVE, 0.0, 1.0), cmap="RdYlBu_r", vmin=-0.5, vmax=0.5
            )
            ny, nx = flow.temperature.shape
            x, y = (np.arange(nx) + 0.5) * WAVE / nx, (np.arange(ny) + 0.5) / ny
            some = (slice(2, None, 4), slice(2, None, 4))
            axes.quiver(
                x[some[1]], y[some[0]], flow.velocity[..., 0][some], flow.velocity[..., 1][some],
                color="#20252a", width=0.0035, scale=6.5,
            )  # fmt: skip
            axes.set(xlabel="x / height", title=f"Ra = {flow.rayleigh:,.0f}: Nu = {flow.nusselt:.3f}")
        sheet.axes[0].set_ylabel("y / height")
        sheet.figure.colorbar(image, ax=sheet.axes, label="temperature", shrink=0.85)
        sheet.save(path)

    return Case(
        "convection",
        "Rayleigh-Bénard convection",
        "No-slip walls, warm below and cold above, one critical wave length (2.016 heights) wide and "
        "periodic. The growth rates of a small push at Ra = 1500 and 2000 (Pr = 1) give the Rayleigh "
        "number of the onset; at larger ones (Pr = 0.71) steady cells carry Nu times the heat that fluid "
        "at rest conducts. `Multigrid(2)`.",
        rows,
        [
            Plot("benard", "Convection cells: temperature and velocity at two Rayleigh numbers", draw_cells),
            Plot(
                "onset", "Growth and decay of a push; the critical Rayleigh number over the mesh", draw_growth
            ),
        ],
        "Viscosity acts while the last pressure pushes (Goda 1979). Without that, fluid slips along a "
        "no-slip wall by dt ∇p, and the onset comes 8, 4 and 2 % early on these meshes.",
    )


def test_convection(collector: Collector) -> None:
    collector.add(measure())
