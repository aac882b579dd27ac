"""Decay curves with a closed form: Taylor-Green, Lamb-Oseen, implicit diffusion, Jacobi's sweeps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from flows import CASES, diffused_modes, jacobi_pressure, lamb_oseen, taylor_green_energies
from page import Case, Collector, Plot, Row, at_most

import gpufluid as gf
from gpufluid.description.cases import CosineMode, TaylorGreen

pytestmark = pytest.mark.validation

VISCOSITY = 0.01
SWEEPS = (5, 10, 20, 40, 80)
MODES = ((1, 0, 0), (2, 0, 0), (4, 4, 4))
NUMBERS = (0.1, 0.5, 2.0, 10.0, 50.0, 200.0)


def speed_over_radius(velocity: np.ndarray, cells: int) -> tuple[np.ndarray, np.ndarray]:
    """Distance from the middle and v on the horizontal line through it, right half."""
    half = cells // 2
    return (np.arange(half, cells) + 0.5) / cells - 0.5, velocity[0, half, half:cells, 1]


def measure() -> Case:
    """Everything at 64 x 64 and the vortex at 128 x 128 too."""
    green = {nu: taylor_green_energies(64, nu) for nu in (0.0, VISCOSITY)}
    exact = TaylorGreen(64, VISCOSITY)
    vortices = {cells: lamb_oseen(cells) for cells in (64, 128)}
    errors = {
        cells: float(np.linalg.norm((got - expected)[inside]) / np.linalg.norm(expected[inside]))
        for cells, (_, _, expected, got, inside) in vortices.items()
    }
    factors: dict[tuple[int, ...], list[float]] = {}
    diffusion = {}
    for modes in CASES["implicit_diffusion"]["modes"]:
        worst = 0.0
        for a in NUMBERS:
            got, expected = diffused_modes(modes, a)[0]
            # the mode's share: a projection onto it
            factors.setdefault(tuple(modes), []).append(
                float((got * expected).sum() / (expected**2).sum())
                * CosineMode(gf.Grid((32, 32, 1)), (*modes, 0)).diffused(a)
            )
            if a <= 2.0:
                worst = max(worst, float(np.abs(got - expected).max() / np.abs(expected).max()))
        diffusion[tuple(modes)] = worst
    left: dict[tuple[int, int, int], list[float]] = {}
    pressures = {}
    for mode in (CosineMode(gf.Grid((32, 32, 32)), modes) for modes in MODES):
        scale = float((mode.values() ** 2).sum())
        for sweeps in SWEEPS:
            _, pressure, end = jacobi_pressure(mode, sweeps)
            left.setdefault(mode.wave_numbers, []).append(float((end * mode.values()).sum()) / scale)
            if sweeps == 40:
                exact_pressure = mode.after(40)
                pressures[mode.wave_numbers] = float(
                    np.abs(pressure - exact_pressure).max() / np.abs(exact_pressure).max()
                )

    expected_end = exact.energy_ratio(2.0)
    low, high = CASES["taylor_green_2d"]["viscous_range"]
    rows = [
        Row("energy of Taylor-Green at t = 2, no viscosity, 64²", "0.928 (1 without steps)",
            float(green[0.0][2][-1]), 0.918, 0.9285,
            "256 projections leave 1 / (1 + ½ π² dt t) = 0.928, and the mesh takes 1 % at most"),
        Row(f"the same with viscosity {VISCOSITY:g}", f"{expected_end:.4f} (exp(−4π²νt))",
            float(green[VISCOSITY][2][-1]), low, high,
            "as much numerical damping as without viscosity; never a gain", 4),
        *(
            at_most(f"Lamb-Oseen vortex at {cells}²: velocity error within r < 0.25, of its norm", bound,
                    errors[cells], why, "0 (Oseen 1912)")
            for cells, bound, why in (
                (64, CASES["lamb_oseen"]["tolerance"], "image vortices of the square, a core of 4 cells"),
                (128, 0.06, "the images stay, the rest falls"),
            )
        ),
        *(
            at_most(f"implicit diffusion of mode {modes}, a ≤ 2: largest error, of the mode", 2e-6, worst,
                    "single precision, and sweeps that leave 1e-6 of the change")
            for modes, worst in diffusion.items()
        ),
        *(
            at_most(f"pressure after 40 Jacobi sweeps, mode {modes}: largest error, of the mode", 2.5e-6,
                    error, "rounding of 40 sweeps in single precision, 6e-8 each")
            for modes, error in pressures.items()
        ),
    ]  # fmt: skip

    def draw(path: Path) -> None:
        from drawing import COLORS, DATA, Sheet

        sheet = Sheet(2, 2, size=(9.6, 6.8))
        axes = sheet.axes[0]
        t = np.linspace(0.0, 2.0, 100)
        for (nu, (_, times, ratios)), color in zip(green.items(), COLORS, strict=False):
            axes.plot(times, ratios, "o", color=color, markersize=5, label=f"ν = {nu:g}, measured")
            axes.plot(t, np.exp(-4.0 * np.pi**2 * nu * t), color=color, lw=1.2, label=f"ν = {nu:g}, exact")
        axes.set(
            xlabel="t",
            ylabel="kinetic energy, of the start",
            title="Taylor-Green vortex, 64²",
            ylim=(0, 1.05),
        )
        axes.legend(fontsize=8)
        axes = sheet.axes[1]
        for (cells, vortex), color in zip(vortices.items(), COLORS, strict=False):
            axes.plot(*speed_over_radius(vortex[3], cells), ".", color=color, label=f"{cells}², measured")
        fine = vortices[128]
        axes.plot(*speed_over_radius(fine[2], 128), color="black", lw=1.1, label="exact at t = 0.8")
        axes.plot(*speed_over_radius(fine[1], 128), ":", color="black", lw=1.1, label="start")
        axes.set(
            xlabel="r", ylabel="speed round the axis", title="Lamb-Oseen vortex, ν = 0.001", xlim=(0, 0.3)
        )
        axes.legend(fontsize=8)
        axes = sheet.axes[2]
        a = np.geomspace(NUMBERS[0], NUMBERS[-1], 100)
        for (modes, values), color in zip(factors.items(), COLORS, strict=False):
            mode = CosineMode(gf.Grid((32, 32, 1)), (modes[0], modes[1], 0))
            axes.loglog(a, [mode.diffused(n) for n in a], color=color, lw=1.2, label=f"mode {modes}, exact")
            axes.loglog(NUMBERS, values, **{**DATA, "color": color})
        axes.set(
            xlabel="a = ν dt / h²",
            ylabel="left after one step",
            title="Implicit diffusion, 32²; points: measured",
        )
        axes.legend(fontsize=8)
        axes = sheet.axes[3]
        m = np.arange(1, SWEEPS[-1] + 1)
        for (modes, values), color in zip(left.items(), COLORS, strict=False):
            mode = CosineMode(gf.Grid((32, 32, 32)), modes)
            axes.semilogy(m, mode.factor**m, color=color, lw=1.2, label=f"mode {modes}, exact")
            axes.semilogy(SWEEPS, values, **{**DATA, "color": color})
        axes.set(
            xlabel="sweeps",
            ylabel="divergence left",
            title="Jacobi sweeps, 32³; points: measured",
            ylim=(3e-4, 2),
        )
        axes.legend(fontsize=8)
        sheet.save(path)

    return Case(
        "decay",
        "Decay with a closed form",
        "Vortices and modes whose decay is known: Taylor-Green in a free-slip square (dt = h / 2), a "
        "Lamb-Oseen vortex (dt = h), cosine modes under one implicit step of diffusion and under Jacobi's "
        "sweeps.",
        rows,
        [
            Plot(
                "decay",
                "Energy of a Taylor-Green vortex, profile of a Lamb-Oseen vortex, modes that decay",
                draw,
            )
        ],
    )


def test_decay(collector: Collector) -> None:
    collector.add(measure())
