"""Air between a warm ball and a cold hollow one round it: conduction, and natural convection."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from given import given
from page import Case, Collector, Plot, within
from polar import passages

import gpufluid as gf

pytestmark = pytest.mark.validation

PRANDTL, INNER, OUTER = 0.7, 1.0, 2.0  # the radii, over the width of the gap
SOURCE, HALF_RING = "polar grid", 24  # what is expected: polar.py, on so many cells and twice as many
FLOWS = (1_000, 10_000)  # Rayleigh numbers, by the gap
MEASURED = ((0, 8), (1_000, 8), (10_000, 8), (0, 12), (10_000, 12))  # with the cells across the gap


@dataclass(frozen=True)
class Shell:
    """The steady flow: temperature and velocity [y, x] beside the plane z = 0, which cells are solid there.

    inner, outer: heat that the one gives and the other takes, over what conduction alone would carry.
    """

    temperature: np.ndarray
    velocity: np.ndarray
    solid: np.ndarray
    inner: float
    outer: float


def hollow(inner: float, outer: float) -> gf.Mesh:
    """A ball with a ball cut out of its middle."""
    hole, hull = gf.Mesh.icosphere(5, inner), gf.Mesh.icosphere(3, outer)
    return gf.Mesh(
        np.concatenate([hole.vertices, hull.vertices]),
        np.concatenate([hole.triangles[:, ::-1], hull.triangles + len(hole.vertices)]),
    )


def heat(rayleigh: float, across: int) -> Shell:
    """A quarter of it, from rest until nothing changes; gap, g * beta * difference of temperature: 1."""
    diffusivity, h = float(1.0 / np.sqrt(PRANDTL * (rayleigh or 1_000.0))), 1.0 / across
    step = 5.0 / 3.0 * h
    rate = 2.0 * diffusivity / h**2  # through half a cell of air: so the surfaces have the temperatures
    rules = gf.Settings(
        viscosity=PRANDTL * diffusivity,
        thermal_diffusivity=diffusivity,
        buoyancy=1.0 if rayleigh else 0.0,
        pressure=gf.Multigrid(2),
    )
    cells, free = int(np.ceil(OUTER * across)) + 2, gf.Wall("free")
    middle = cells * h
    grid = gf.Grid((cells, 2 * cells, cells), h)
    with gf.Fluid(grid, gf.Boundaries(left=free, back=free), rules) as fluid:
        at = (0.0, middle, 0.0)
        fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=INNER), at, temperature=1.0, heating=rate))
        around = hollow(OUTER, 2.0 * OUTER)
        fluid.obstacles.add(gf.Obstacle(around, at, temperature=0.0, heating=rate))
        for _ in range(round(min(1.0 / diffusivity, 50.0) / step)):
            fluid.step(step)
        temperature, solid = fluid.temperature.read().astype(float), fluid.solid.read() > 0.5
        z, y, x = np.meshgrid(*((np.arange(n) + 0.5) * h for n in solid.shape), indexing="ij")
        warm = solid & (np.sqrt(x**2 + (y - middle) ** 2 + z**2) < 1.5)
        conducts = np.pi * diffusivity * INNER * OUTER / (OUTER - INNER)  # of a quarter
        inner, outer = (
            given(temperature, solid, some, of, rate * step, diffusivity * step / h**2)
            * h**3 / step / conducts
            for some, of in ((warm, 1.0), (solid & ~warm, 0.0))
        )  # fmt: skip
        return Shell(temperature[0], fluid.velocity.at_centers()[0], solid[0], inner, -outer)


def measure() -> Case:
    """No flow, and two Rayleigh numbers, on two meshes."""
    flows = passages(INNER, OUTER, FLOWS, balls=True, prandtl=PRANDTL, across=HALF_RING)
    expected = {0: 1.0} | {rayleigh: flow.given for rayleigh, flow in flows.items()}
    shells = {(rayleigh, cells): heat(rayleigh, cells) for rayleigh, cells in MEASURED}
    rows = []
    for (rayleigh, cells), shell in shells.items():
        share = 0.1 / cells * OUTER / (INNER * (OUTER - INNER)) + (0.02 if rayleigh else 0.0)
        rows.append(
            within(
                f"heat that passes, Ra = {rayleigh:,}, {cells} cells across the gap", expected[rayleigh],
                SOURCE if rayleigh else "closed form", 0.5 * (shell.inner + shell.outer), share,
                f"{100.0 * share:.1f} %: a tenth of a cell in the inner radius"
                + (", and 2 %: second order, layers of 3 to 7 cells" if rayleigh else ""),
            )
        )  # fmt: skip

    def draw(path: Path) -> None:
        from drawing import Sheet, warm_flow

        sheet = Sheet(3, size=(9.6, 4.4), sharey=True)
        for axes, key in zip(sheet.axes, ((0, 12), (1_000, 8), (10_000, 12)), strict=True):
            shell, (rayleigh, cells) = shells[key], key
            high, wide = shell.solid.shape
            up, right = (np.arange(high) + 0.5 - 0.5 * high) / cells, (np.arange(wide) + 0.5) / cells
            air = np.ma.masked_array(shell.temperature, shell.solid)
            extent = (0.0, wide / cells, -0.5 * high / cells, 0.5 * high / cells)
            flow = shell.velocity if rayleigh else None
            image = warm_flow(axes, air, flow, (right, up), extent, slice(1, None, cells // 4), 0.006)
            passes = 0.5 * (shell.inner + shell.outer)
            axes.set(xlabel="x / gap", title=f"Ra = {rayleigh:,}: {passes:.3f}")
        sheet.axes[0].set_ylabel("y / gap")
        sheet.figure.colorbar(image, ax=sheet.axes, label="temperature", shrink=0.85)
        sheet.save(path)

    return Case(
        "spheres",
        "A warm ball in a cold one",
        "Two balls about one middle, the inner one warm, the outer one, twice as wide, hollow and cold, "
        "both solids of whole cells; 3D, a quarter of it between planes of symmetry; air (Pr = "
        f"{PRANDTL:g}), `heating` = 2 κ / h², dt = 5 h / 3, `Multigrid(2)`, until steady; Ra is that of the "
        "gap. What passes is the mean of what the inner one gives and the outer one takes, over what "
        "conduction alone would carry, 4 π κ r R / (R − r).",
        rows,
        [Plot("spheres", "Temperature and velocity between two balls, without a flow and with two", draw)],
        "With a flow, what is expected is computed with another method, in `tests/validation/polar.py`: "
        "stream function and vorticity on a polar grid, central differences, Newton's method, "
        f"{HALF_RING} × {2 * HALF_RING} and {2 * HALF_RING} × {4 * HALF_RING} cells, extrapolated.",
    )


def test_spheres(collector: Collector) -> None:
    collector.add(measure())
