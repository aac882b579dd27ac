"""Observed orders of accuracy over three meshes."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from flows import FREE
from page import Case, Collector, Plot, Row

import gpufluid as gf
from gpufluid.description.cases import CosineMode, TaylorGreen

pytestmark = pytest.mark.validation

MESHES = (32, 64, 128)
FINE = "MacCormack, dt ∝ h²"
REFLECTED = "with a reflection"
SCHEMES = (("semi-lagrangian", None), ("maccormack", None), ("bfecc", None), ("maccormack", "clamp"))
VOLUMES = ("finite-volume", None)  # they carry no velocity


def norm(values: np.ndarray) -> float:
    """The root of the mean square."""
    return float(np.sqrt(np.mean(values.astype(np.float64) ** 2)))


def carried(scheme: str, limiter: str | None, cells: int) -> float:
    """Error of a bump turned by a quarter about the middle of a unit square, dt = h, by a given velocity."""
    h = 1.0 / cells
    center = (np.arange(cells) + 0.5) * h - 0.5
    u = np.zeros((2, cells + 1, cells + 1, 3))
    u[0, :cells, :, 0] = -center[:, None]
    u[0, :, :cells, 1] = center
    steps = cells

    def bump(x0: float, y0: float) -> np.ndarray:
        return np.exp(-((center - x0) ** 2 + (center[:, None] - y0) ** 2) / (2 * 0.08**2))[None]

    rules = gf.Settings(advection=scheme, limiter=limiter, cfl=None, solve_velocity=False)
    with gf.Fluid(gf.Grid((cells, cells, 1), h), FREE, rules) as fluid:
        fluid.velocity.write(u)
        fluid.density.write(bump(0.2, 0.0))
        for _ in range(steps):
            fluid.step(0.5 * np.pi / steps)
        return norm(fluid.density.read() - bump(0.0, 0.2)) / norm(bump(0.0, 0.2))


def vortex(scheme: str, limiter: str | None, cells: int, steps: int = 0, reflection: bool = False) -> float:
    """Error of the velocity of a Taylor-Green vortex at t = 1/2, dt = h / 2 or as many steps as said."""
    green = TaylorGreen(cells)
    rules = gf.Settings(
        advection=scheme,
        limiter=limiter,
        reflection=reflection,
        buoyancy=0.0,
        pressure=gf.Multigrid(10, tolerance=1e-5),
        cfl=None,
    )
    with gf.Fluid(green.grid, FREE, rules) as fluid:
        fluid.velocity.write(green.velocity())
        for _ in range(steps or cells):
            fluid.step(0.5 / (steps or cells))
        got, exact = fluid.velocity.read(), green.velocity()
    return norm(got - exact) / norm(exact)


def diffused(cells: int, power: int) -> float:
    """Error of a cosine's decay up to t = 1/2 against exp(-nu k^2 t), dt proportional to h^power."""
    mode = CosineMode(gf.Grid((cells, 4, 1), 1.0 / cells), (1, 0, 0))
    steps = cells // 8 if power == 1 else (cells // 16) ** 2
    rules = gf.Settings(density_diffusivity=0.1, buoyancy=0.0, solve_velocity=False)
    with gf.Fluid(mode.grid, FREE, rules) as fluid:
        fluid.density.write(mode.values())
        for _ in range(steps):
            fluid.step(0.5 / steps)
        exact = np.exp(-0.1 * np.pi**2 * 0.5) * mode.values()
        return norm(fluid.density.read() - exact) / norm(exact)


def projected(cells: int) -> float:
    """Error of a projection that has to find Taylor-Green under an added gradient."""
    green = TaylorGreen(cells)
    face, center = np.arange(cells + 1) / cells, (np.arange(cells) + 0.5) / cells
    u = green.velocity()
    exact = u.copy()
    u[0, :cells, :, 0] -= np.pi * np.outer(np.cos(2 * np.pi * center), np.sin(np.pi * face))
    u[0, :, :cells, 1] -= 2 * np.pi * np.outer(np.sin(2 * np.pi * face), np.cos(np.pi * center))
    with gf.Fluid(green.grid, FREE, gf.Settings(pressure=gf.Multigrid(12, tolerance=1e-6))) as fluid:
        fluid.velocity.write(u)
        fluid.project()
        return norm(fluid.velocity.read() - exact) / norm(exact)


def orders(errors: list[float]) -> list[float]:
    """log2 of the error's ratio, mesh to mesh."""
    return [float(np.log2(a / b)) for a, b in pairwise(errors)]


def measure() -> Case:
    """Every scheme's errors on three meshes; the order between the finer two."""
    names = {"semi-lagrangian": "semi-Lagrangian", "maccormack": "MacCormack", "bfecc": "BFECC"}
    names["finite-volume"] = "finite volumes"
    label = {(s, k): names[s] + (" (limited)" if k else "") for s, k in (*SCHEMES, VOLUMES)}
    given = {label[s]: [carried(*s, n) for n in MESHES] for s in (*SCHEMES, VOLUMES)}
    whole = {label[s]: [vortex(*s, n) for n in MESHES] for s in SCHEMES}
    parts: dict[str, list[float]] = {
        "diffusion, dt ∝ h": [diffused(n, 1) for n in MESHES],
        "diffusion, dt ∝ h²": [diffused(n, 2) for n in MESHES],
        "projection": [projected(n) for n in MESHES],
    }
    whole[FINE] = [vortex("maccormack", None, n, n * n // 32) for n in MESHES]
    whole[REFLECTED] = [vortex("maccormack", None, n, reflection=True) for n in MESHES]
    inf = float("inf")
    plan: tuple[tuple[str, dict[str, list[float]], str, str, float, float, str], ...] = (
        ("carrying a bump", given, "semi-Lagrangian", "1", 0.7, 1.3, "it still damps a third of the bump"),
        ("carrying a bump", given, "MacCormack", "2", 1.8, 2.6, "0.2 below two; above it is no harm"),
        ("carrying a bump", given, "BFECC", "2", 1.8, 2.6, "the same"),
        ("carrying a bump", given, "MacCormack (limited)", "1 to 2", 1.2, 2.6, "the limiter cuts the top"),
        ("carrying a bump", given, "finite volumes", "2 (Strang 1968)", 1.8, inf, "0.2 below two"),
        ("Taylor-Green, dt ∝ h", whole, "semi-Lagrangian", "1", 0.8, 1.2, "a fifth"),
        ("Taylor-Green, dt ∝ h", whole, "MacCormack", "1 (Chorin 1968)", 0.9, inf, "a tenth"),
        ("Taylor-Green, dt ∝ h", whole, "BFECC", "1 (Chorin 1968)", 0.9, inf, "a tenth"),
        ("Taylor-Green, dt ∝ h", whole, "MacCormack (limited)", "1 (Chorin 1968)", 0.9, inf, "a tenth"),
        ("Taylor-Green, dt ∝ h²", whole, FINE, "2", 1.8, 2.2, "a fifth"),
        ("Taylor-Green, dt ∝ h", whole, REFLECTED, "2 (Zehnder et al. 2018)", 1.8, inf, "a fifth"),
        ("", parts, "diffusion, dt ∝ h", "1 (backward Euler)", 0.9, 1.1, "a tenth"),
        ("", parts, "diffusion, dt ∝ h²", "2", 1.8, 2.2, "a fifth: the coarsest mesh takes 4 steps"),
        ("", parts, "projection", "2", 1.9, 2.1, "a twentieth: nothing but the mesh"),
    )  # fmt: skip
    rows = [
        Row(
            f"order of {flow}{': ' if flow else ''}{name.partition(',')[0] if flow else name}",
            expected,
            orders(errors[name])[-1],
            low,
            high,
            why,
        )
        for flow, errors, name, expected, low, high, why in plan
    ]

    def draw(path: Path) -> None:
        from drawing import COLORS, Sheet

        sheet = Sheet(3, size=(9.6, 3.7))
        sizes = np.array([1.0 / n for n in MESHES])
        titles = ("Carrying a bump", "Taylor-Green, whole step", "Diffusion and projection")
        for axes, title, errors in zip(sheet.axes, titles, (given, whole, parts), strict=True):
            for (name, values), color, mark in zip(errors.items(), COLORS, "os^DvP", strict=False):
                axes.loglog(
                    sizes, values, mark + ("--" if "limited" in name else "-"), color=color, markersize=4,
                    markerfacecolor="white" if "limited" in name else color,
                    label=f"{name}: {orders(values)[-1]:.2f}",
                )  # fmt: skip
            values = np.array(list(errors.values()))
            for order, style, top in ((1, ":", values.max()), (2, "--", values.max())):
                axes.loglog(sizes, 1.8 * top * (sizes / sizes[0]) ** order, style, color="#5c6670", lw=1.0)
                axes.annotate(  # before all lines begin, so that none strikes it through
                    f"order {order}", (sizes[-1], 1.8 * top * (sizes[-1] / sizes[0]) ** order), (-4, 0),
                    textcoords="offset points", fontsize=7, color="#5c6670", ha="right", va="center",
                )  # fmt: skip
            axes.set_xlim(sizes[-1] / 1.5, None)
            axes.set_xticks(sizes, [f"1/{n}" for n in MESHES])
            axes.minorticks_off()
            axes.set(xlabel="h", title=title)
            # in the middle between its lines, where the best that is found crosses one
            axes.legend(fontsize=7, loc=(0.02, 0.32) if errors is whole else "best")
            axes.set_ylim(values.min() / 12.0, None)
        sheet.axes[0].set_ylabel("error (rms), of the exact field")
        sheet.save(path)

    return Case(
        "order",
        "Order of accuracy",
        "Errors (root mean square) on 32², 64² and 128²; the order is log₂ of their ratio between the "
        "finer two. A bump turned by a quarter at a given velocity with dt ∝ h shows the order of the "
        "advection schemes; the steady Taylor-Green vortex without viscosity (t = 1/2, dt = h / 2) that of "
        "the whole step.",
        rows,
        [
            Plot(
                "order",
                "Errors over the mesh width on logarithmic axes, with lines of order one and two",
                draw,
            )
        ],
        "The whole step is of first order in time with every scheme: velocity and pressure are split "
        "(Chorin 1968), and the flow is traced back along the velocity of the step's start. With a "
        "reflection it is of second order, and this steady flow hardly changes. In space it is of second "
        "order with MacCormack and BFECC. At 128² and dt ∝ h MacCormack's error is "
        f"{whole['MacCormack'][-1]:.1%}, with a reflection {whole[REFLECTED][-1]:.4%}, semi-Lagrangian's "
        f"{whole['semi-Lagrangian'][-1]:.1%}.",
    )


def test_order(collector: Collector) -> None:
    collector.add(measure())
