"""A square cavity heated from the side, air: de Vahl Davis (1983)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from page import Case, Collector, Plot, at_most, within

import gpufluid as gf

pytestmark = pytest.mark.validation

SOURCE, PRANDTL = "de Vahl Davis 1983", 0.71
# Rayleigh number: mean Nu, largest u on x = 1/2, largest v on y = 1/2, in units of kappa / width
PUBLISHED = {1_000: (1.118, 3.649, 3.697), 10_000: (2.243, 16.178, 19.617)}


@dataclass(frozen=True)
class Cavity:
    """The steady flow: temperature and velocity at the cell centres, Nu, the two largest speeds."""

    temperature: np.ndarray
    velocity: np.ndarray
    nusselt: float
    u: float
    v: float


def peak(values: np.ndarray) -> float:
    """The top of the parabola through the largest of `values` and its neighbours."""
    i = int(values.argmax())
    before, top, after = (float(value) for value in values[i - 1 : i + 2])
    return top + 0.125 * (after - before) ** 2 / (2.0 * top - before - after)


def heat(rayleigh: float, cells: int) -> Cavity:
    """From rest and layers of heat until nothing changes; width, g * beta * difference of temperature: 1."""
    viscosity, diffusivity = np.sqrt(PRANDTL / rayleigh), 1.0 / np.sqrt(PRANDTL * rayleigh)
    sides = gf.Boundaries(left=gf.Wall(temperature=0.5), right=gf.Wall(temperature=-0.5))
    rules = gf.Settings(
        viscosity=float(viscosity),
        thermal_diffusivity=float(diffusivity),
        buoyancy=1.0,
        pressure=gf.Multigrid(2),
    )
    dt = 1.0 / cells
    with gf.Fluid(gf.Grid((cells, cells, 1), 1.0 / cells), sides, rules) as fluid:
        across = (np.arange(cells) + 0.5) / cells
        fluid.temperature.write(np.broadcast_to(0.5 - across, (1, cells, cells)))
        for _ in range(round((0.3 / diffusivity + 20.0) / dt)):
            fluid.step(dt)
        temperature, faces = fluid.temperature.read()[0], fluid.velocity.read()[0]
        return Cavity(
            temperature,
            fluid.velocity.at_centers()[0],
            float(cells * (1.0 - temperature[:, 0].mean() + temperature[:, -1].mean())),
            peak(faces[:cells, cells // 2, 0]) / diffusivity,
            peak(faces[cells // 2, :cells, 1]) / diffusivity,
        )


def measure() -> Case:
    """Two Rayleigh numbers on two meshes."""
    flows = {rayleigh: {cells: heat(rayleigh, cells) for cells in (16, 32)} for rayleigh in PUBLISHED}
    rows = []
    for (rayleigh, (nusselt, u, v)), share, why in zip(
        PUBLISHED.items(),
        (0.01, 0.02),
        ("1 %: second order, thermal layers (Ra^(−1/4)) of 5.7 cells", "2 %: the same, layers of 3.2 cells"),
        strict=True,
    ):
        coarse, fine = flows[rayleigh][16], flows[rayleigh][32]
        name = f"Ra = {rayleigh:,}"
        rows += [
            within(f"Nusselt number, {name}, 32²", nusselt, SOURCE, fine.nusselt, share, why),
            within(
                f"largest u on x = 1/2, {name}, 32²", u, SOURCE, fine.u, 0.02,
                "2 %: second order, ½ (kh)² of a wave as long as the box",
            ),
            within(
                f"largest v on y = 1/2, {name}, 32²", v, SOURCE, fine.v, 0.02,
                "2 %: the same",
            ),
            at_most(
                f"error of Nu at 32² over that at 16², {name}", 0.35,
                abs(fine.nusselt - nusselt) / abs(coarse.nusselt - nusselt),
                "nearer to second order than to first (1/2)", "1/4",
            ),
        ]  # fmt: skip

    def draw(path: Path) -> None:
        from drawing import Sheet, picture

        sheet = Sheet(2, size=(8.6, 3.9), sharey=True)
        for axes, (rayleigh, meshes) in zip(sheet.axes, flows.items(), strict=True):
            flow = meshes[32]
            image = picture(
                axes, flow.temperature, (0.0, 1.0, 0.0, 1.0), cmap="RdYlBu_r", vmin=-0.5, vmax=0.5
            )
            at = (np.arange(32) + 0.5) / 32
            levels = np.linspace(-0.4, 0.4, 9)
            axes.contour(at, at, flow.temperature, levels=levels, colors="#20252a", linewidths=0.7)
            some = (slice(1, None, 3), slice(1, None, 3))
            axes.quiver(
                at[some[1]], at[some[0]], flow.velocity[..., 0][some], flow.velocity[..., 1][some],
                color="#20252a", width=0.004,
            )  # fmt: skip
            axes.set(xlabel="x", title=f"Ra = {rayleigh:,}: Nu = {flow.nusselt:.3f}")
        sheet.axes[0].set_ylabel("y")
        sheet.figure.colorbar(image, ax=sheet.axes, label="temperature", shrink=0.85)
        sheet.save(path)

    return Case(
        "heated",
        "A cavity heated from the side",
        "A unit square of no-slip walls, warm on the left, cold on the right, insulated above and below; air "
        "(Pr = 0.71), dt = h, `Multigrid(2)`, until steady. Speeds are in units of κ over the width.",
        rows,
        [Plot("heated", "Temperature and velocity in the side-heated cavity at two Rayleigh numbers", draw)],
        "Nu is the mean of what passes through the warm and the cold wall. On 64² it is 0.1 and 0.3 % high.",
    )


def test_heated(collector: Collector) -> None:
    collector.add(measure())
