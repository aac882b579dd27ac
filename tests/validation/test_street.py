"""Karman's vortex street behind a cylinder: the Strouhal number against Williamson (1989)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from page import Case, Collector, Plot, Row, within

import gpufluid as gf

pytestmark = pytest.mark.validation

LENGTH, WIDTH, PLACE = 22, 16, 8.0  # of the box and of the cylinder's axis, in diameters
START, END = 36.0, 95.0  # D / U: the street is regular from 35 on; eight periods or more are measured


def williamson(re: float) -> float:
    """Strouhal number of parallel shedding, 49 < Re < 178 and its continuation (Williamson 1989)."""
    return -3.3265 / re + 0.1816 + 1.6e-4 * re


def scene(re: float, cells: int, backend: str = "auto") -> gf.Fluid:
    """U = 1 from the left round a cylinder of D = 1, `cells` across, and a push to one side behind it."""
    grid = gf.Grid((LENGTH * cells, WIDTH * cells, 1), 1.0 / cells)
    sides = gf.Boundaries(
        left=gf.Inflow((1.0, 0.0, 0.0)), right=gf.Open(), bottom=gf.Wall("free"), top=gf.Wall("free")
    )
    rules = gf.Settings(viscosity=1.0 / re, buoyancy=0.0)
    fluid = gf.Fluid(grid, sides, rules, backend)
    fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.5), position=(PLACE, WIDTH / 2, 0.5 / cells)))
    nx, ny, _ = grid.cells
    x, y = (np.arange(nx) + 0.5) / cells, np.arange(ny + 1) / cells
    u = np.zeros((2, ny + 1, nx + 1, 3))
    u[0, :ny, :, 0] = 1.0
    u[0, :, :nx, 1] = 0.5 * np.exp(-((x - PLACE - 1.5) ** 2) - (y[:, None] - WIDTH / 2) ** 2)
    fluid.velocity.write(u)
    return fluid


@dataclass(frozen=True)
class Street:
    """What a probe 2.5 D behind the axis saw, and the velocity at the end; units of D and U."""

    re: float
    cells: int
    times: np.ndarray
    probe: np.ndarray
    velocity: np.ndarray
    width: float

    @property
    def crossings(self) -> np.ndarray:
        """The moments at which the probe's v rises through its mean, after START."""
        late = self.times > START
        t, v = self.times[late], self.probe[late] - self.probe[late].mean()
        i = np.flatnonzero((v[:-1] < 0.0) & (v[1:] >= 0.0))
        return np.asarray(t[i] - v[i] * (t[i + 1] - t[i]) / (v[i + 1] - v[i]))

    @property
    def periods(self) -> int:
        """Whole periods that were measured."""
        return len(self.crossings) - 1

    @property
    def strouhal(self) -> float:
        """f D / U."""
        return float(self.periods / (self.crossings[-1] - self.crossings[0]))

    @property
    def spread(self) -> float:
        """The longest period over the shortest, less 1."""
        periods = np.diff(self.crossings)
        return float(periods.max() / periods.min() - 1.0)


def run(re: float, cells: int, courant: float = 0.5) -> Street:
    """The street at t = END with dt = courant h / U."""
    dt = courant / cells
    times, probe = [], []
    with scene(re, cells) as fluid:
        for n in range(1, round(END / dt) + 1):
            fluid.step(dt)
            if n % 2 == 0:
                v = fluid.velocity.read()[0, WIDTH * cells // 2, round((PLACE + 2.5) * cells), 1]
                times.append(n * dt)
                probe.append(float(v))
        width = float(np.sqrt(4.0 / np.pi * fluid.solid.read().sum()) / cells)
        return Street(re, cells, np.array(times), np.array(probe), fluid.velocity.read()[0], width)


def measure() -> Case:
    """Re = 100 on three meshes, Re = 200 on one, and the step's length."""
    streets = [run(100, 8), run(100, 12), run(100, 16), run(200, 12)]
    quick = run(100, 8, courant=1.0)
    source = "Williamson 1989"
    rows = [
        within(
            f"St at Re = {s.re:g}, {s.cells} cells to D ({s.periods} periods)", williamson(s.re), source,
            s.strouhal, 0.06 if s.re < 150 else 0.08, why, 3,
        )
        for s, why in zip(
            streets,
            (
                "6 %: the voxels' width (2 %), the length of the step (4 %), the box (1 %)",
                "6 %: the same",
                "6 %: the same",
                "8 %: the same, and boundary layers 1.4 times thinner",
            ),
            strict=True,
        )
    ]  # fmt: skip
    rows += [
        Row(
            "periods measured, fewest", "8 or more", float(min(s.periods for s in streets)), 8.0,
            float("inf"), "enough for a mean to 0.1 %",
        ),
        Row(
            "longest period over shortest, less 1, largest", "0", max(s.spread for s in streets),
            -float("inf"), 0.03, "a street that is regular", 2,
        ),
    ]  # fmt: skip
    widths = ", ".join(f"{s.width:.3f} D with {s.cells} cells" for s in streets[:3])
    notes = (
        "The cylinder is made of whole cells, so its width is known to half a cell: as a circle of the "
        f"same area it is {widths}. A period grows with that width. The step is of first order in time and "
        "damps the street a little: with 8 cells and dt = h / U instead of h / 2U St is "
        f"{quick.strouhal:.3f} instead of {streets[0].strouhal:.3f}. The box, {WIDTH} D wide, has a "
        f"blockage of {1 / WIDTH:.0%}."
    )

    def draw_street(path: Path) -> None:
        from drawing import Sheet, picture

        s = streets[2]
        nx, ny = LENGTH * s.cells, WIDTH * s.cells
        v, u = s.velocity[1:ny, 1 : nx + 1, :], s.velocity[1:ny, 1:nx, 0]
        below, left = s.velocity[: ny - 1, 1:nx, 0], s.velocity[1:ny, : nx - 1, 1]
        spin = (v[:, : nx - 1, 1] - left - u + below) * s.cells  # at the corners of the cells
        sheet = Sheet(1, size=(9.6, 3.7))
        axes = sheet.axes[0]
        edge = 0.5 / s.cells
        extent = (-PLACE + edge, LENGTH - PLACE - edge, -WIDTH / 2 + edge, WIDTH / 2 - edge)
        image = picture(axes, spin, extent, cmap="RdBu_r", vmin=-2.5, vmax=2.5)
        circle = np.linspace(0.0, 2.0 * np.pi, 100)
        axes.fill(0.5 * np.cos(circle), 0.5 * np.sin(circle), color="#3a3f45", lw=0)
        axes.set(xlim=(-2.0, LENGTH - PLACE - edge), ylim=(-3.0, 3.0), xlabel="x / D", ylabel="y / D")
        axes.set_title(f"Vorticity at Re = {s.re:g}, {s.cells} cells to D")
        sheet.figure.colorbar(image, ax=axes, label="vorticity · D / U", shrink=0.75)
        sheet.save(path)

    def draw_probe(path: Path) -> None:
        from drawing import COLORS, Sheet

        sheet = Sheet(2, size=(9.6, 3.5), width_ratios=(1.7, 1.0))
        axes = sheet.axes[0]
        for s, color in ((streets[2], COLORS[0]), (streets[3], COLORS[1])):
            axes.plot(s.times, s.probe, color=color, label=f"Re = {s.re:g}", lw=1.3)
        axes.axvspan(0, START, color="#f0f2f4", zorder=0)
        axes.text(1.0, -1.05, "not measured", fontsize=8, color="#5c6670")
        axes.set(
            xlabel="t U / D", ylabel="v / U, 2.5 D behind the axis", xlim=(0, END), ylim=(-1.15, 1.15)
        )  # fmt: skip
        axes.legend(ncols=2, fontsize=9, loc="upper left")
        axes = sheet.axes[1]
        re = np.linspace(60, 220, 100)
        axes.plot(re, williamson(re), color="black", lw=1.2, label="Williamson 1989")
        for s, mark in zip(streets, "v^so", strict=True):
            color = COLORS[0] if s.re < 150 else COLORS[1]
            axes.plot(s.re, s.strouhal, mark, color=color, label=f"{s.cells} cells to D, Re = {s.re:g}")
        axes.set(xlabel="Re", ylabel="St = f D / U", ylim=(0.12, 0.21))
        axes.legend(fontsize=8)
        sheet.save(path)

    return Case(
        "street",
        "Kármán's vortex street",
        f"A cylinder of D = 1 in a stream U = 1: inflow {PLACE:g} D before it, an open side "
        f"{LENGTH - PLACE:g} D behind it, free-slip sides {WIDTH} D apart; 2D, default solver, dt = h / 2U. "
        "The frequency is that of the transverse velocity 2.5 D behind the axis, from its zero crossings "
        f"after t = {START:g}; a push to one side starts the street.",
        rows,
        [
            Plot("street", "Vorticity of the street behind the cylinder: alternating vortices", draw_street),
            Plot("strouhal", "The probe's signal, and St over Re beside Williamson's relation", draw_probe),
        ],
        notes,
    )


def test_street(collector: Collector) -> None:
    collector.add(measure())
