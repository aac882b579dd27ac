"""Flows with a closed form, run on any backend: what the tests and the validation share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import gpufluid as gf
from gpufluid.description.cases import CosineMode, LambOseen, TaylorGreen

CASES: dict[str, Any] = json.loads((Path(__file__).parent / "cases.json").read_text())
FREE = gf.Boundaries.all(gf.Wall("free"))


def gradient_flow(grid: gf.Grid, potential: np.ndarray) -> np.ndarray:
    """A velocity with closed walls whose divergence is the Laplacian of `potential` (h = 1)."""
    nx, ny, nz = grid.cells
    u = np.zeros((nz + 1, ny + 1, nx + 1, 3))
    u[:nz, :ny, 1:nx, 0] = np.diff(potential, axis=2)
    u[:nz, 1:ny, :nx, 1] = np.diff(potential, axis=1)
    u[1:nz, :ny, :nx, 2] = np.diff(potential, axis=0)
    return u


def jacobi_pressure(
    mode: CosineMode, sweeps: int, weight: float = 1.0, backend: str = "auto"
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The divergence a mode starts with, the pressure after `sweeps` from zero, the divergence left."""
    rules = gf.Settings(pressure=gf.Jacobi(sweeps, weight))
    with gf.Fluid(mode.grid, settings=rules, backend=backend) as fluid:
        fluid.velocity.write(gradient_flow(mode.grid, mode.values() / mode.eigenvalue))
        start = fluid.divergence.read()
        fluid.project()
        return start, fluid.pressure.read(), fluid.divergence.read()


def taylor_green_energies(
    cells: int, viscosity: float = 0.0, every: int = 32, backend: str = "auto"
) -> tuple[float, np.ndarray, np.ndarray]:
    """The kinetic energy at the start; times to 2 and the energy then over it, every so many dt = h / 2."""
    vortex = TaylorGreen(cells, viscosity)
    rules = gf.Settings(advection="maccormack", trace="rk2", buoyancy=0.0, viscosity=viscosity)
    dt = 0.5 * vortex.grid.cell_size
    times, ratios = [0.0], [1.0]
    with gf.Fluid(vortex.grid, FREE, rules, backend=backend) as fluid:
        fluid.velocity.write(vortex.velocity())
        start = fluid.diagnostics().kinetic_energy
        for n in range(1, 4 * cells + 1):
            fluid.step(dt)
            if n % every == 0:
                times.append(n * dt)
                ratios.append(fluid.diagnostics().kinetic_energy / start)
    return start, np.array(times), np.array(ratios)


def lamb_oseen(
    cells: int, backend: str = "auto"
) -> tuple[LambOseen, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The vortex; its velocity at the start, expected and computed at the end; the faces to compare."""
    case = CASES["lamb_oseen"]
    vortex = LambOseen(cells, case["viscosity"], case["circulation"], case["core"])
    rules = gf.Settings(advection="maccormack", buoyancy=0.0, viscosity=vortex.viscosity)
    with gf.Fluid(vortex.grid, FREE, rules, backend=backend) as fluid:
        fluid.velocity.write(vortex.velocity(0.0))
        steps = round(case["time"] / vortex.grid.cell_size)
        for _ in range(steps):
            fluid.step(vortex.grid.cell_size)
        got = fluid.velocity.read()
    expected, start = vortex.velocity(steps / cells), vortex.velocity(0.0)
    lines = [np.arange(cells + 1) / cells - 0.5, (np.arange(cells + 1) + 0.5) / cells - 0.5]
    inside = np.zeros_like(expected, bool)
    inside[0, ..., 0] = lines[0][None, :] ** 2 + lines[1][:, None] ** 2 < case["radius"] ** 2
    inside[0, ..., 1] = lines[1][None, :] ** 2 + lines[0][:, None] ** 2 < case["radius"] ** 2
    return vortex, start, expected, got, inside


def diffused_modes(modes: list[int], a: float, backend: str = "auto") -> list[tuple[np.ndarray, np.ndarray]]:
    """Computed and exact, of density and temperature, after one implicit step over a and 0.3 a cells^2."""
    mode = CosineMode(gf.Grid((CASES["implicit_diffusion"]["N"],) * 2 + (1,), 0.5), (modes[0], modes[1], 0))
    dt, h = 0.1, mode.grid.cell_size
    rules = gf.Settings(
        density_diffusivity=a * h * h / dt, thermal_diffusivity=0.3 * a * h * h / dt, buoyancy=0
    )
    with gf.Fluid(mode.grid, settings=rules, backend=backend) as fluid:
        fluid.density.write(mode.values())
        fluid.temperature.write(mode.values())
        fluid.step(dt)
        return [
            (field.read(), mode.diffused(number) * mode.values())
            for field, number in ((fluid.density, a), (fluid.temperature, 0.3 * a))
        ]
