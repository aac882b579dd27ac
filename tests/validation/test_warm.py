"""A warm cylinder in the middle of a cold square box, air: Kim, Lee, Ha & Yoon (2008)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from page import Case, Collector, Plot, at_most, within

import gpufluid as gf

pytestmark = pytest.mark.validation

SOURCE, PRANDTL, RADIUS = "Kim et al. 2008", 0.7, 0.2  # of a box one wide
# Rayleigh number, by the width of the box: mean of the temperature's slope on the cylinder, over 1 / width
PUBLISHED = {1_000: 5.093, 10_000: 5.108, 100_000: 7.767}
MESHES = (32, 64)


@dataclass(frozen=True)
class Room:
    """The steady flow: temperature and velocity at the cell centres, which cells are solid, Nu."""

    temperature: np.ndarray
    velocity: np.ndarray
    solid: np.ndarray
    nusselt: float


def heat(rayleigh: float, cells: int, dt: float = 5.0 / 3.0) -> Room:
    """From rest until nothing changes; width, g * beta * difference of temperature: 1. dt: in cells."""
    diffusivity = float(1.0 / np.sqrt(PRANDTL * rayleigh))
    h, cold = 1.0 / cells, gf.Wall(temperature=0.0)
    rules = gf.Settings(
        viscosity=PRANDTL * diffusivity,
        thermal_diffusivity=diffusivity,
        buoyancy=1.0,
        pressure=gf.Multigrid(2),
    )
    sides = gf.Boundaries(left=cold, right=cold, bottom=cold, top=cold)
    with gf.Fluid(gf.Grid((cells, cells, 1), h), sides, rules) as fluid:
        round_one = gf.Sphere((0.5, 0.5, 0.5 * h), RADIUS)
        # through half a cell of air: so the surface has the temperature
        fluid.obstacles.add(gf.Obstacle(round_one, temperature=1.0, heating=2.0 * diffusivity / h**2))
        for _ in range(round(min(0.25 / diffusivity, 30.0) / (dt * h))):
            fluid.step(dt * h)
        temperature, solid = fluid.temperature.read()[0], fluid.solid.read()[0] > 0.5
        edges = temperature[[0, -1]].sum() + temperature[:, [0, -1]].sum()
        nusselt = 2.0 * float(edges) / (2.0 * np.pi * RADIUS)
        return Room(temperature, fluid.velocity.at_centers()[0], solid, nusselt)


def measure() -> Case:
    """Three Rayleigh numbers on two meshes, and one in shorter steps."""
    rooms = {rayleigh: {cells: heat(rayleigh, cells) for cells in MESHES} for rayleigh in PUBLISHED}
    rows = []
    for cells in MESHES:
        half = 0.5 / (2.0 * RADIUS * cells)
        why = (
            f"{100 * (half + 0.01):.1f} %: half a cell of the width, and 1 % that published numbers are apart"
        )
        rows += [
            within(
                f"Nusselt number, Ra = {rayleigh:,}, {cells}²", nusselt, SOURCE,
                rooms[rayleigh][cells].nusselt, half + 0.01, why,
            )
            for rayleigh, nusselt in PUBLISHED.items()
        ]  # fmt: skip
    once = rooms[1_000][MESHES[0]].nusselt
    apart = abs(heat(1_000, MESHES[0], dt=5.0 / 12.0).nusselt / once - 1.0)
    rows.append(
        at_most(
            "Ra = 1,000, 32²: its change with a quarter of the step (κ dt / h² = 0.5, not 2)",
            0.005, apart, "0.5 %: a step is of first order, and steady flow hardly knows of it",
        )
    )  # fmt: skip

    def draw(path: Path) -> None:
        from drawing import Sheet, warm_flow

        sheet = Sheet(3, size=(11.4, 3.7), sharey=True)
        n = MESHES[-1]
        for axes, (rayleigh, meshes) in zip(sheet.axes, rooms.items(), strict=True):
            room = meshes[n]
            shown = np.where(room.solid, 1.0, room.temperature)
            at, extent = (np.arange(n) + 0.5) / n, (0.0, 1.0, 0.0, 1.0)
            image = warm_flow(axes, shown, room.velocity, (at, at), extent, slice(2, None, 5), 0.004)
            axes.set(xlabel="x", title=f"Ra = {rayleigh:,}: Nu = {room.nusselt:.3f}")
        sheet.axes[0].set_ylabel("y")
        sheet.figure.colorbar(image, ax=sheet.axes, label="temperature", shrink=0.85)
        sheet.save(path)

    areas = {cells: float(rooms[1_000][cells].solid.sum()) / cells**2 for cells in MESHES}
    as_wide = ", ".join(
        f"{np.sqrt(area / np.pi) / RADIUS:.3f} D on {cells}²" for cells, area in areas.items()
    )
    return Case(
        "warm",
        "A warm cylinder in a cold box",
        f"A unit square of cold no-slip walls, a warm cylinder of D = {2 * RADIUS:g} in its middle; air (Pr "
        f"= {PRANDTL:g}), `heating` = 2 κ / h², dt = 5 h / 3, `Multigrid(2)`, until steady. Nu is what "
        "passes through the walls, over the cylinder's circumference.",
        rows,
        [Plot("warm", "Temperature and velocity round a warm cylinder at three Rayleigh numbers", draw)],
        f"The cylinder is made of whole cells: as a circle of the same area it is {as_wide}. Conduction "
        "alone makes Nu 5.03, and changes by as large a share as the width does. Shu & Zhu (2002) have 1 % "
        "more at Ra = 10,000. With `heating=1000`, which warms the solid half a cell further out, "
        "Nu is 5.4, 5.5 and 9.6 on 32².",
    )


def test_warm(collector: Collector) -> None:
    collector.add(measure())
