"""The lid-driven cavity at Re = 100, at the points of Ghia, Ghia & Shin (1982), see tests/cases.json."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flows import CASES
from page import Case, Collector, Plot, at_most, within

import gpufluid as gf

CASE: dict[str, Any] = CASES["lid_driven_cavity_2d"]
pytestmark = pytest.mark.validation


def profiles(cells: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """u on x = 1/2, v on y = 1/2, walls included, and the velocity at the cell centres; T = 40, dt = h."""
    sides = gf.Boundaries(top=gf.Wall(velocity=(1.0, 0.0, 0.0)))
    rules = gf.Settings(advection="maccormack", trace="rk2", viscosity=1.0 / CASE["Re"], buoyancy=0.0)
    with gf.Fluid(gf.Grid((cells, cells, 1), 1.0 / cells), sides, rules) as fluid:
        for _ in range(40 * cells):
            fluid.step(1.0 / cells)
        u, centers = fluid.velocity.read()[0], fluid.velocity.at_centers()[0]
    middle = cells // 2
    across = np.array([0.0, *u[:cells, middle, 0], 1.0]), np.array([0.0, *u[middle, :cells, 1], 0.0])
    return *across, centers


def places(cells: int) -> np.ndarray:
    """Where the values of a profile lie, 0 .. 1."""
    return np.array([0.0, *(np.arange(cells) + 0.5) / cells, 1.0])


def errors(cells: int, u: np.ndarray, v: np.ndarray) -> tuple[float, float]:
    """The rms of u and of v over the published points."""
    u_error = np.interp(CASE["y"], places(cells), u) - CASE["u"]
    v_error = np.interp(CASE["x"], places(cells), v) - CASE["v"]
    return float(np.sqrt(np.mean(u_error**2))), float(np.sqrt(np.mean(v_error**2)))


def measure() -> Case:
    """Both meshes, the profiles over the points."""
    flows = {cells: profiles(cells) for cells in (32, 64)}
    rms = {cells: errors(cells, flow[0], flow[1]) for cells, flow in flows.items()}
    source = "Botella & Peyret 1998"
    rows = [
        at_most(f"rms error of {name} at 64²", CASE["rms_tolerance"], rms[64][i], why)
        for i, name, why in (
            (0, "u on x = 1/2", "0.4 % of the lid's speed: twice the second-order error of 64 cells"),
            (1, "v on y = 1/2", "the same"),
        )
    ]
    rows.append(
        within(
            "smallest u on x = 1/2 at 64²", CASE["u_min"], source, float(flows[64][0].min()),
            CASE["u_min_tolerance"] / abs(CASE["u_min"]), "0.006: the rms bound and half as much again",
        )
    )  # fmt: skip
    for i, name in enumerate(("u", "v")):
        rows.append(
            at_most(
                f"error of {name} at 64² over that at 32²", CASE["ratio_tolerance"], rms[64][i] / rms[32][i],
                "between first order (1/2) and second (1/4)", "1/4",
            )
        )  # fmt: skip

    def draw(path: Path) -> None:
        from drawing import COLORS, DATA, Sheet

        sheet = Sheet(3, size=(9.6, 3.4))
        for axes, name, i in zip(sheet.axes, ("u", "v"), (0, 1), strict=False):
            for cells, style in ((32, "--"), (64, "-")):
                axes.plot(
                    *((flows[cells][i], places(cells))[:: 1 if i == 0 else -1]),
                    style, color=COLORS[0], label=f"{cells} × {cells}",
                )  # fmt: skip
            points = (CASE["u"], CASE["y"]) if i == 0 else (CASE["x"], CASE["v"])
            axes.plot(*points, **DATA, label="Botella & Peyret 1998")
            axes.set(
                xlabel="u / U" if i == 0 else "x", ylabel="y" if i == 0 else "v / U",
                title=f"{name} on {'x' if i == 0 else 'y'} = 1/2",
            )  # fmt: skip
            axes.legend(fontsize=8)
        centers = flows[64][2]
        x = (np.arange(64) + 0.5) / 64
        speed = np.linalg.norm(centers[..., :2], axis=-1)
        axes = sheet.axes[2]
        axes.grid(False)
        axes.streamplot(
            x, x, centers[..., 0], centers[..., 1], color=speed, cmap="viridis", density=1.3, linewidth=0.9,
            arrowsize=0.7,
        )  # fmt: skip
        axes.set(xlabel="x", ylabel="y", title="streamlines, coloured by speed", aspect="equal")
        axes.set(xlim=(0, 1), ylim=(0, 1))
        sheet.save(path)

    return Case(
        "cavity",
        "Lid-driven cavity, Re = 100",
        "A unit square of no-slip walls whose lid slides at U = 1; default solver, dt = h, after t = 40.",
        rows,
        [
            Plot(
                "cavity", "Velocity profiles on the middle lines over the published points; streamlines", draw
            )
        ],
        "The points are those of Ghia, Ghia & Shin (1982), the values there of an extrapolated solution that "
        "agrees with Botella & Peyret (1998) to 2e-6; Ghia's own lie up to 0.009 from it.",
    )


def test_cavity(collector: Collector) -> None:
    collector.add(measure())
