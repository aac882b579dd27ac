"""The lid-driven cavity at Re = 100 against published numbers (Ghia, Ghia & Shin 1982; tests/cases.json)."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpufluid as gf

CASE: dict[str, Any] = json.loads((Path(__file__).parents[1] / "cases.json").read_text())[
    "lid_driven_cavity_2d"
]
pytestmark = pytest.mark.validation


@cache
def profiles(cells: int) -> tuple[np.ndarray, np.ndarray]:
    """u on x = 1/2 and v on y = 1/2 in the unit cavity after T = 40 with dt = h, walls included."""
    sides = gf.Boundaries(top=gf.Wall(velocity=(1.0, 0.0, 0.0)))
    rules = gf.Settings(advection="maccormack", trace="rk2", viscosity=1.0 / CASE["Re"], buoyancy=0.0)
    with gf.Fluid(gf.Grid((cells, cells, 1), 1.0 / cells), sides, rules) as fluid:
        for _ in range(40 * cells):
            fluid.step(1.0 / cells)
        u = fluid.velocity.read()[0]
    middle = cells // 2
    return np.array([0.0, *u[:cells, middle, 0], 1.0]), np.array([0.0, *u[middle, :cells, 1], 0.0])


def errors(cells: int) -> tuple[float, float]:
    """The rms of u and of v over the published points."""
    u, v = profiles(cells)
    places = [0.0, *(np.arange(cells) + 0.5) / cells, 1.0]
    u_error = np.interp(CASE["y"], places, u) - CASE["u"]
    v_error = np.interp(CASE["x"], places, v) - CASE["v"]
    return float(np.sqrt(np.mean(u_error**2))), float(np.sqrt(np.mean(v_error**2)))


def test_profiles_at_64() -> None:
    assert max(errors(64)) <= CASE["rms_tolerance"]
    assert abs(profiles(64)[0].min() - CASE["u_min"]) <= CASE["u_min_tolerance"]


def test_the_error_falls_with_the_cells() -> None:
    for fine, coarse in zip(errors(64), errors(32), strict=True):
        assert fine <= CASE["ratio_tolerance"] * coarse
