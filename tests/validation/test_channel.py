"""Shear flows between plates that start or swing: Poiseuille, Couette, Stokes' plate, Womersley's pulse."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from page import Case, Collector, Plot, Row, at_most, within

import gpufluid as gf

pytestmark = pytest.mark.validation

VISCOSITY = 0.1  # the plates are 1 apart
OMEGA = 2.0 * np.pi  # of what swings
MESHES = (8, 16, 32)
BELOW = 4  # layers of cells inside the plate that swings
START = 0.5  # when the flows that start are looked at
Profile = Callable[[np.ndarray, float], np.ndarray]


def poiseuille(y: np.ndarray, t: float) -> np.ndarray:
    """Between plates at rest, pushed by 1 from t = 0 on: the parabola, less what is still missing."""
    odd = np.arange(1, 200, 2)[:, None]
    missing = np.sin(odd * np.pi * y) / odd**3 * np.exp(-VISCOSITY * (odd * np.pi) ** 2 * t)
    return np.asarray((0.5 * y * (1.0 - y) - 4.0 / np.pi**3 * missing.sum(0)) / VISCOSITY)


def couette(y: np.ndarray, t: float) -> np.ndarray:
    """Dragged by an upper plate that slides with 1 from t = 0 on."""
    k = np.arange(1, 200)[:, None]
    missing = (-1.0) ** k / k * np.sin(k * np.pi * y) * np.exp(-VISCOSITY * (k * np.pi) ** 2 * t)
    return np.asarray(y + 2.0 / np.pi * missing.sum(0))


def stokes(y: np.ndarray, t: float) -> np.ndarray:
    """Above a plate that swings with cos(omega t), below a free-slip side at 1."""
    k = np.sqrt(1j * OMEGA / VISCOSITY)
    return np.asarray((np.cosh(k * (1.0 - y)) / np.cosh(k) * np.exp(1j * OMEGA * t)).real)


def womersley(y: np.ndarray, t: float) -> np.ndarray:
    """Between plates at rest, pushed by omega cos(omega t)."""
    k = np.sqrt(1j * OMEGA / VISCOSITY)
    core = 1.0 - np.cosh(k * (y - 0.5)) / np.cosh(0.5 * k)
    return np.asarray((-1j * core * np.exp(1j * OMEGA * t)).real)


@dataclass(frozen=True)
class Flow:
    """exact: the profile over y and t. end: when it is compared. top: the upper side.

    push: the acceleration, of `time`. below: layers of cells in a solid plate.
    """

    exact: Profile
    end: float
    top: gf.Wall
    push: str = "0.0"
    below: int = 0

    @property
    def swings(self) -> bool:
        """True if it repeats, False if it starts from rest."""
        return self.end != START

    @property
    def speed(self) -> float:
        """The largest speed of a swing, or what a start has reached."""
        y, quarter = np.linspace(0.0, 1.0, 101), 0.25 * self.swings
        return float(np.hypot(self.exact(y, self.end), self.exact(y, self.end - quarter) * self.swings).max())


REST, FREE = gf.Wall(), gf.Wall("free")
FLOWS = {
    "Poiseuille's flow, starting": Flow(poiseuille, START, REST, "1.0"),
    "Couette's flow, starting": Flow(couette, START, gf.Wall(velocity=(1.0, 0.0, 0.0))),
    "Stokes' swinging plate": Flow(stokes, 1.0, FREE, below=BELOW),
    "Womersley's pulse": Flow(womersley, 1.0, REST, f"{OMEGA:.9f} * cos({OMEGA:.9f} * time)"),
}


def run(flow: Flow, cells: int, dt: float, end: float) -> tuple[np.ndarray, np.ndarray]:
    """Heights of the cells above the plate and u there at `end`, from the exact profile at t = 0 on."""
    h = 1.0 / cells
    grid = gf.Grid((4, cells + flow.below, 1), h, (0.0, -flow.below * h, 0.0))
    loop = gf.Periodic()
    rules = gf.Settings(viscosity=VISCOSITY, buoyancy=0.0, pressure=gf.Multigrid(1))
    y = (np.arange(cells) + 0.5) * h
    with gf.Fluid(grid, gf.Boundaries(loop, loop, FREE if flow.below else REST, flow.top), rules) as fluid:
        plate = gf.Obstacle(gf.Plane())
        if flow.below:
            fluid.obstacles.add(plate)
        fluid.forces.add(gf.ForceExpression(f"vec3({flow.push}, 0.0, 0.0)"))
        start = np.zeros(fluid.velocity.shape)
        start[0, flow.below : -1, :, 0] = flow.exact(y, 0.0)[:, None]
        fluid.velocity.write(start)
        for n in range(1, round(end / dt) + 1):
            plate.position = (float(np.sin(OMEGA * n * dt) / OMEGA), 0.0, 0.0)
            fluid.step(dt)
        return y, fluid.velocity.at_centers()[0, flow.below :, 1, 0]


def measure() -> Case:
    """All flows on three meshes with dt = 2 h², and the steady parabola on one."""
    profiles = {
        name: {cells: run(flow, cells, 2.0 / cells**2, flow.end) for cells in MESHES}
        for name, flow in FLOWS.items()
    }
    errors = {
        name: {
            cells: float(np.sqrt(np.mean((u - flow.exact(y, flow.end)) ** 2))) / flow.speed
            for cells, (y, u) in profiles[name].items()
        }
        for name, flow in FLOWS.items()
    }
    pushed = FLOWS["Poiseuille's flow, starting"]
    y, u = run(pushed, 16, 0.25, 25.0)
    above = float((u - poiseuille(y, 1e3)).mean() * 8.0 * VISCOSITY)
    rows = [
        within(
            "steady Poiseuille flow, 16 cells: how far it stands above the parabola, of its top", 1.0 / 256.0,
            "h², with mirrored values behind the plates", above, 0.02,
            "2 % of it: sweeps that leave 1e-6 of each step's change",
        )
    ]  # fmt: skip
    for name, by_cells in errors.items():
        bound, why = 0.003, "0.3 %: ν π² dt is 0.2 %, and h² 0.1 %"
        if FLOWS[name].swings:
            bound, why = 0.015, "1.5 %: ω dt is 1.2 %, the lag of a step, and the rest the mesh's"
        rows += [
            at_most(f"{name}: rms error with 32 cells, of the largest speed", bound, by_cells[32], why),
            Row(
                f"{name}: order between 16 and 32 cells, dt ∝ h²", "2",
                float(np.log2(by_cells[16] / by_cells[32])), 1.7, 2.3,
                "nearer to second than to first or third",
            ),
        ]  # fmt: skip

    def draw(path: Path) -> None:
        from drawing import COLORS, DATA, Sheet

        sheet = Sheet(2, size=(9.6, 3.8))
        axes = sheet.axes[0]
        line = np.linspace(0.0, 1.0, 200)
        for (name, flow), color in zip(FLOWS.items(), COLORS, strict=False):
            axes.plot(flow.exact(line, flow.end), line, color=color, lw=1.2, label=name)
            axes.plot(profiles[name][16][1], profiles[name][16][0], **{**DATA, "color": color})
        axes.set(xlabel="u", ylabel="y", title="Profiles, exact; points: measured, 16 cells")
        axes.legend(fontsize=8)
        axes = sheet.axes[1]
        sizes = np.array([1.0 / cells for cells in MESHES])
        for (name, by_cells), color in zip(errors.items(), COLORS, strict=False):
            axes.loglog(sizes, list(by_cells.values()), "o-", color=color, label=name)
        axes.loglog(sizes, 0.02 * (sizes / sizes[0]) ** 2, ":", color="black", lw=1.0, label="h²")
        axes.set(xlabel="h", ylabel="rms error, of the largest speed", title="dt = 2 h²")
        axes.legend(fontsize=8)
        sheet.save(path)

    return Case(
        "channel",
        "Flow between plates",
        "Layers of fluid between plates 1 apart, ν = 0.1, periodic along them: pushed by 1 from rest, or "
        "dragged by a plate from rest (both at t = 1/2); above a solid plate that swings with cos(2πt), or "
        "pushed by 2π cos(2πt) (both started from the closed form, after one period). dt = 2 h².",
        rows,
        [Plot("channel", "Profiles of four flows between plates over their closed forms; errors", draw)],
    )


def test_channel(collector: Collector) -> None:
    collector.add(measure())
