"""Long flows on the three backends: fifty steps of each, against float64 NumPy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import test_convection
import test_street
from page import Case, Collector, Plot, at_most

import gpufluid as gf

pytestmark = pytest.mark.validation

STEPS = 50
GL = ("fragment", "compute")


def cavity(backend: str) -> tuple[gf.Fluid, float]:
    """The cavity at 32 x 32 from rest, and its step."""
    sides = gf.Boundaries(top=gf.Wall(velocity=(1.0, 0.0, 0.0)))
    rules = gf.Settings(viscosity=0.01, buoyancy=0.0)
    return gf.Fluid(gf.Grid((32, 32, 1), 1 / 32), sides, rules, backend), 1 / 32


def street(backend: str) -> tuple[gf.Fluid, float]:
    """The street with 5 cells to D, and its step."""
    return test_street.scene(100, 5, backend), 0.5 / 5


def convection(backend: str) -> tuple[gf.Fluid, float]:
    """Convection at Ra = 10,000, 24 cells high, and its step."""
    return test_convection.scene(10_000, 24, 0.71, 0.1, backend), 0.64 / 24


FLOWS: dict[str, Callable[[str], tuple[gf.Fluid, float]]] = {
    "cavity": cavity,
    "street": street,
    "convection": convection,
}


def history(flow: str, backend: str) -> tuple[np.ndarray, np.ndarray]:
    """Velocity and temperature after each step."""
    fluid, dt = FLOWS[flow](backend)
    velocity, temperature = [], []
    with fluid:
        for _ in range(STEPS):
            fluid.step(dt)
            velocity.append(fluid.velocity.read())
            temperature.append(fluid.temperature.read())
    return np.array(velocity), np.array(temperature)


def difference(a: tuple[np.ndarray, np.ndarray], b: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Largest difference after each step, of the largest value: of velocity or temperature, the larger."""
    shares = []
    for one, other in zip(a, b, strict=True):
        largest = np.abs(other).max()
        if largest > 0.0:
            shares.append(np.abs(one - other).reshape(STEPS, -1).max(1) / largest)
    return np.max(shares, axis=0)


def measure() -> Case:
    """Every flow on every backend."""
    shares: dict[tuple[str, str], np.ndarray] = {}
    for flow in FLOWS:
        truth = history(flow, "numpy")
        for backend in GL:
            shares[flow, backend] = difference(history(flow, backend), truth)
    rounding = "fifty steps' rounding in single precision, 1e-7 to 1e-6 each"
    rows = [
        at_most(f"{flow}, {backend}", 1e-5, float(share.max()), rounding)
        for (flow, backend), share in shares.items()
    ]

    def draw(path: Path) -> None:
        from drawing import COLORS, Sheet

        sheet = Sheet(1, size=(7.0, 3.6))
        axes = sheet.axes[0]
        for (flow, backend), share in shares.items():
            color = COLORS[list(FLOWS).index(flow)]
            axes.semilogy(
                np.arange(1, STEPS + 1), np.maximum(share, 1e-9), "--" if backend == "fragment" else "-",
                color=color, label=f"{flow}, {backend}", lw=2.2 if backend == "fragment" else 1.2,
            )  # fmt: skip
        axes.set(
            xlabel="steps", ylabel="largest difference, of the largest value", title="Against float64 NumPy"
        )
        axes.legend(fontsize=8, ncols=3)
        sheet.save(path)

    return Case(
        "backends",
        "The same on every backend",
        "Fifty steps of the cavity (32²), the street (5 cells to D) and convection (24 cells high) with "
        "OpenGL in single precision, fragment and compute passes, against NumPy in double precision: the "
        "largest difference of velocity or temperature at any cell and step.",
        rows,
        [Plot("backends", "Difference of the backends over fifty steps", draw)],
    )


def test_backends(collector: Collector) -> None:
    collector.add(measure())
