"""A ball of warm air that rises: a thermal's similarity law (Morton, Taylor & Turner 1956; Scorer 1957)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from page import Case, Collector, Plot, Row, at_most

import gpufluid as gf

pytestmark = pytest.mark.validation

CELLS, SIZE = (48, 128, 48), 1.5  # a quarter of the thermal between two planes of symmetry; its width, metres
RADIUS, HEIGHT = 0.25, 0.5  # of the ball
STEP, START, END = 0.05, 1.5, 4.5  # s; between the last two it is a ring far from the walls


@dataclass(frozen=True)
class Thermal:
    """Height and radius (rms distance from the axis) of the heat over time, metres and seconds."""

    times: np.ndarray
    heights: np.ndarray
    radii: np.ndarray
    heat: np.ndarray
    slices: dict[float, np.ndarray]

    @property
    def late(self) -> np.ndarray:
        """Where the law is looked for."""
        return (self.times >= START - 1e-9) & (self.times <= END + 1e-9)


def rise(scheme: str) -> Thermal:
    """The thermal up to END, of buoyancy 1 m/s^2, without viscosity; its heat is carried by `scheme`."""
    h = SIZE / CELLS[0]
    rules = gf.Settings(
        advection=scheme, velocity_advection="maccormack", buoyancy=1.0, pressure=gf.Multigrid(2), cfl=None
    )
    x, y, z = ((np.arange(n) + 0.5) * h for n in CELLS)
    r = np.sqrt(x**2 + (y[:, None] - HEIGHT) ** 2 + z[:, None, None] ** 2)
    rows, slices = [], {}
    with gf.Fluid(gf.Grid(CELLS, h), gf.Boundaries.all(gf.Wall("free")), rules) as fluid:
        fluid.temperature.write(np.clip(0.5 - (r - RADIUS) / (2 * h), 0.0, 1.0))
        for n in range(round(END / STEP) + 1):
            heat = fluid.temperature.read().astype(np.float64)
            if n % 30 == 0:
                slices[n * STEP] = heat[0]
            whole, along_x, along_z = heat.sum(), heat.sum((0, 1)), heat.sum((1, 2))
            square = (along_x @ x**2 + along_z @ z**2) / whole
            rows.append((n * STEP, heat.sum((0, 2)) @ y / whole, np.sqrt(square), 4.0 * whole * h**3))
            fluid.step(STEP)
    times, heights, radii, total = np.array(rows).T
    return Thermal(times, heights, radii, total, slices)


def exponent_in_time(t: np.ndarray, z: np.ndarray) -> float:
    """p of z = c (t - t0)^p, t0 with the smallest error."""

    def fit(t0: float) -> tuple[float, float]:
        line, error, *_ = np.polyfit(np.log(t - t0), np.log(z), 1, full=True)
        return float(error[0]), float(line[0])

    return min(fit(t0) for t0 in np.arange(-2.0, t[0] - 0.05, 0.01))[1]


@dataclass(frozen=True)
class Law:
    """What the law is about: how straight the cone is, and the two exponents."""

    slope: float
    origin: float
    bend: float
    power: float
    inverse: float
    change: float  # of the heat

    @classmethod
    def of(cls, thermal: Thermal) -> Law:
        """That of a thermal, where it is looked for."""
        late = thermal.late
        t, y, r = thermal.times[late], thermal.heights[late], thermal.radii[late]
        slope, rest = np.polyfit(y, r, 1)
        origin = -rest / slope
        bend = float(np.abs(r - slope * (y - origin)).max() / r.mean())
        inverse = float(np.polyfit(np.log(r), np.log(np.gradient(y, t)), 1)[0])
        change = float(np.ptp(thermal.heat) / thermal.heat[0])
        return cls(float(slope), float(origin), bend, exponent_in_time(t, y - origin), inverse, change)


def measure() -> Case:
    """The exponents of the law, and how straight the cone is."""
    thermal, in_volumes = rise("maccormack"), Law.of(rise("finite-volume"))
    law = Law.of(thermal)
    slope, origin = law.slope, law.origin
    cone = "radius over height: farthest from a straight line, of the mean radius"
    power, power_of = "exponent of the height above the cone's tip over time", "1/2 (Morton et al. 1956)"
    inverse, inverse_of = "exponent of the speed over the radius", "−1 (Morton et al. 1956)"
    straight = "0 (a cone: Scorer 1957)"
    rows = [
        at_most(cone, 0.05, law.bend, "5 %: one cell is 9 % of the radius", straight),
        Row(power, power_of, law.power, 0.4, 0.6,
            "0.1: the radius grows by 1.9 in the window, and the fit finds its own start of time"),
        Row(inverse, inverse_of, law.inverse, -1.2, -0.8,
            "0.2: the same window; it needs neither the tip nor the start"),
        at_most("change of the heat, largest, of its start", 0.12, law.change,
                "12 %: MacCormack with a limiter does not conserve what it carries"),
        at_most(f"in finite volumes: {cone}", 0.05, in_volumes.bend, "the same", straight),
        Row(f"in finite volumes: {power}", power_of, in_volumes.power, 0.45, 0.55,
            "half of that: the heat stays what it was"),
        Row(f"in finite volumes: {inverse}", inverse_of, in_volumes.inverse, -1.1, -0.9, "the same"),
        at_most("in finite volumes: change of the heat, largest, of its start", 0.01, in_volumes.change,
                "1 %: two V-cycles leave that much of a divergence"),
    ]  # fmt: skip

    def draw(path: Path) -> None:
        from drawing import COLORS, DATA, Sheet, picture

        sheet = Sheet(3, size=(9.6, 3.8), width_ratios=(1.15, 1.0, 1.0))
        axes = sheet.axes[0]
        bottom, top = 0.0, CELLS[1] * SIZE / CELLS[0]
        whole = np.maximum.reduce([np.hstack([s[:, ::-1], s]) for s in thermal.slices.values()])
        image = picture(axes, whole, (-SIZE, SIZE, bottom, top), cmap="inferno", vmin=0.0, vmax=1.0)
        for time, values in thermal.slices.items():
            middle = values.sum(1) @ (np.arange(CELLS[1]) + 0.5) / values.sum() * SIZE / CELLS[0]
            axes.text(0.85, middle, f"t = {time:.1f} s", color="white", va="center", fontsize=8)
        axes.plot([0, 3 * slope], [origin, origin + 3], "w:", lw=0.8)
        axes.plot([0, -3 * slope], [origin, origin + 3], "w:", lw=0.8)
        axes.set(xlabel="x, m", ylabel="y, m", ylim=(0, 3.0), title="temperature, four moments")
        sheet.figure.colorbar(image, ax=axes, shrink=0.8)
        axes = sheet.axes[1]
        axes.plot(thermal.heights, thermal.radii, **DATA, markevery=3, label="measured")
        line = np.array([origin, thermal.heights[-1]])
        axes.plot(line, slope * (line - origin), color=COLORS[1], label=f"slope {slope:.2f}")
        axes.set(xlabel="height of the heat, m", ylabel="radius (rms), m", title="a cone", xlim=(0, None))
        axes.set_ylim(0, None)
        axes.legend(fontsize=8)
        axes = sheet.axes[2]
        r = thermal.radii[thermal.late]
        speed = np.gradient(thermal.heights[thermal.late], thermal.times[thermal.late])
        axes.loglog(r, speed, **DATA, markevery=3, label="measured")
        axes.loglog(r, np.exp(np.mean(np.log(speed * r))) / r, color=COLORS[1], label="1 / radius")
        ticks = [0.22, 0.3, 0.4]
        axes.set_xticks(ticks, [f"{v:g}" for v in ticks])
        ticks = [0.25, 0.3, 0.35, 0.4, 0.45]
        axes.set_yticks(ticks, [f"{v:g}" for v in ticks])
        axes.minorticks_off()
        axes.set(xlabel="radius (rms), m", ylabel="speed of its rise, m/s", title="slower as it grows")
        axes.legend(fontsize=8)
        sheet.save(path)

    return Case(
        "thermal",
        "A rising thermal",
        f"A ball of warm air, radius {RADIUS:g} m, buoyancy 1 m/s², let go in still air; 3D, a quarter of "
        "it between planes of symmetry, 1/32 m to a cell, no viscosity, dt = 0.05 s. The law: it widens as "
        "a cone, and its height above the cone's tip grows with the square root of time. Measured "
        f"between {START:g} and {END:g} s. The heat is carried by MacCormack's scheme, and in a second run "
        "in finite volumes.",
        rows,
        [Plot("thermal", "Temperature of the thermal at four moments; its radius and speed", draw)],
        f"The cone's slope is {slope:.2f} in the rms distance of the heat from the axis, which is 0.63 of "
        "the radius of a ball filled evenly. Laboratory thermals, which are turbulent, widen by 0.15 to "
        "0.35 of their height in visible radius.",
    )


def test_thermal(collector: Collector) -> None:
    collector.add(measure())
