"""Air between a warm cylinder and a cold one round it: the flow of Kuehn & Goldstein (1976)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from given import given
from page import Case, Collector, Plot, at_most, within
from polar import passages

import gpufluid as gf

pytestmark = pytest.mark.validation

PRANDTL, INNER, OUTER = 0.7, 0.625, 1.625  # the radii, over the width of the gap
SOURCE, HALF_RING = "polar grid", 32  # what is expected: polar.py, on so many cells and twice as many
RAYLEIGHS = (1_000, 10_000, 50_000)  # by the gap
MESHES = (16, 24)  # cells across the gap
MEASURED = ((1_000, 16), (10_000, 16), (10_000, 24), (50_000, 24))


@dataclass(frozen=True)
class Ring:
    """The steady flow: temperature and velocity at the cell centres [y, x], which cells are solid.

    inner, outer: heat that the one gives and the other takes, over what conduction alone would carry.
    stream: the largest stream function over kappa.
    """

    temperature: np.ndarray
    velocity: np.ndarray
    solid: np.ndarray
    inner: float
    outer: float
    stream: float


def tube(inner: float, outer: float, half: float, corners: int = 256) -> gf.Mesh:
    """A tube along z, 2 half long."""
    angle = 2.0 * np.pi / corners * np.arange(corners)
    circle = np.stack([np.cos(angle), np.sin(angle)], 1)
    ends = ((inner, -half), (outer, -half), (outer, half), (inner, half))
    points = [np.hstack([radius * circle, np.full((corners, 1), z)]) for radius, z in ends]
    here, after = np.arange(corners), np.roll(np.arange(corners), -1)
    triangles = []
    for low in range(4):
        a, b = corners * low, corners * ((low + 1) % 4)
        triangles += [
            np.stack([a + here, a + after, b + after], 1),
            np.stack([a + here, b + after, b + here], 1),
        ]
    return gf.Mesh(np.concatenate(points), np.concatenate(triangles))


def heat(rayleigh: float, across: int, advection: str = "maccormack") -> Ring:
    """From rest until nothing changes; gap, g * beta * difference of temperature: 1."""
    diffusivity, h = float(1.0 / np.sqrt(PRANDTL * rayleigh)), 1.0 / across
    step = 5.0 / 3.0 * h
    rate = 2.0 * diffusivity / h**2  # through half a cell of air: so the surfaces have the temperatures
    rules = gf.Settings(
        advection=advection,
        viscosity=PRANDTL * diffusivity,
        thermal_diffusivity=diffusivity,
        buoyancy=1.0,
        pressure=gf.Multigrid(2),
    )
    cells = 2 * int(np.ceil(OUTER * across)) + 4
    middle = 0.5 * cells * h
    with gf.Fluid(gf.Grid((cells, cells, 1), h), settings=rules) as fluid:
        at = (middle, middle, 0.5 * h)
        fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=INNER), at, temperature=1.0, heating=rate))
        around = tube(OUTER, 2.0 * OUTER, h)
        fluid.obstacles.add(gf.Obstacle(around, at, temperature=0.0, heating=rate))
        for _ in range(round(min(1.5 / diffusivity, 80.0) / step) - 1):
            fluid.step(step)
        solid = fluid.solid.read() > 0.5
        x = (np.arange(cells) + 0.5) * h - middle
        warm = solid & (np.hypot(x[:, None], x) < 1.0)
        passed = np.zeros(2)
        for _ in range(2):  # finite volumes go along x first and along y first by turns
            fluid.step(step)
            temperature = fluid.temperature.read().astype(float)
            for number, (some, of) in enumerate(((warm, 1.0), (solid & ~warm, 0.0))):
                amount = given(temperature, solid, some, of, rate * step, diffusivity * step / h**2)
                passed[number] += 0.5 * amount * h**2 / step
        inner, outer = passed * np.log(OUTER / INNER) / (2.0 * np.pi * diffusivity)
        stream = np.abs(np.cumsum(fluid.velocity.read()[0, :, :cells, 1], axis=1)).max() * h / diffusivity
        return Ring(temperature[0], fluid.velocity.at_centers()[0], solid[0], inner, -outer, float(stream))


def measure() -> Case:
    """Three Rayleigh numbers, two of them on two meshes; one in finite volumes."""
    expected = passages(INNER, OUTER, RAYLEIGHS, balls=False, prandtl=PRANDTL, across=HALF_RING)
    rings = {(rayleigh, cells): heat(rayleigh, cells) for rayleigh, cells in MEASURED}
    rows = []
    for (rayleigh, cells), ring in rings.items():
        carried, stream = expected[rayleigh].given, expected[rayleigh].stream
        size, name = 0.25 / cells, f"Ra = {rayleigh:,}, {cells} cells across the gap"
        share = 0.4 * size / (INNER * np.log(OUTER / INNER)) + 0.02
        rows += [
            within(
                f"heat that passes, {name}", carried, SOURCE, 0.5 * (ring.inner + ring.outer), share,
                f"{100.0 * share:.1f} %: a tenth of a cell in the inner radius, and 2 %: second order, "
                "layers of 5 to 9 cells",
            ),
            within(
                f"largest stream function, {name}", stream, SOURCE, ring.stream, 6.0 * size,
                f"{600.0 * size:.1f} %: a quarter of a cell at both ends of the gap, whose third power slow "
                "flow goes by",
            ),
        ]  # fmt: skip
    kept = heat(10_000, MESHES[0], "finite-volume")
    rows.append(
        at_most(
            f"in finite volumes: what the cold one takes, over what the warm one gives, Ra = 10,000, "
            f"{MESHES[0]} cells: distance from 1",
            0.002, abs(kept.outer / kept.inner - 1.0),
            "0.2 %: none is lost; two V-cycles leave some divergence",
        )
    )  # fmt: skip

    def draw(path: Path) -> None:
        from drawing import Sheet, warm_flow

        shown = [(rayleigh, max(cells for of, cells in rings if of == rayleigh)) for rayleigh in RAYLEIGHS]
        sheet = Sheet(3, size=(11.4, 4.2), sharey=True)
        for axes, key in zip(sheet.axes, shown, strict=True):
            ring, (rayleigh, cells) = rings[key], key
            n = len(ring.solid)
            half = 0.5 * n / cells
            at = (np.arange(n) + 0.5) / cells - half
            air = np.ma.masked_array(ring.temperature, ring.solid)
            extent = (-half, half, -half, half)
            image = warm_flow(axes, air, ring.velocity, (at, at), extent, slice(2, None, n // 18), 0.004)
            passes = 0.5 * (ring.inner + ring.outer)
            axes.set(xlabel="x / gap", title=f"Ra = {rayleigh:,}: {passes:.3f}")
        sheet.axes[0].set_ylabel("y / gap")
        sheet.figure.colorbar(image, ax=sheet.axes, label="temperature", shrink=0.85)
        sheet.save(path)

    return Case(
        "annulus",
        "A warm cylinder in a cold one",
        "Two horizontal cylinders about one axis, the inner one warm, the outer one cold, both solids of "
        "whole cells: the flow of Kuehn & Goldstein (1976), their gap 0.8 of the inner diameter; air (Pr = "
        f"{PRANDTL:g}), `heating` = 2 κ / h², dt = 5 h / 3, `Multigrid(2)`, until steady; Ra is that of the "
        "gap. What passes is the mean of what the inner one gives and the outer one takes, over what "
        "conduction alone would carry; the stream function is in units of κ.",
        rows,
        [Plot("annulus", "Temperature and velocity between two cylinders at three Rayleigh numbers", draw)],
        "What is expected is computed with another method, in `tests/validation/polar.py`: stream function "
        f"and vorticity on a polar grid, central differences, Newton's method, {HALF_RING} × {2 * HALF_RING} "
        f"and {2 * HALF_RING} × {4 * HALF_RING} cells of half the ring, extrapolated. Kuehn & Goldstein give "
        "1.081, 2.010 and 3.024 for what passes. On 16 cells 3.072 passes at Ra = 50,000, 3.9 % more than "
        "expected. MacCormack's scheme does not conserve heat: at Ra = 50,000, on 24, the outer cylinder "
        "takes 3 % more than the inner one gives. In finite volumes 2.993 passes there, and the stream "
        "function is 23.82.",
    )


def test_annulus(collector: Collector) -> None:
    collector.add(measure())
