"""Dye in a channel: the flow that it diffuses across spreads it along, Taylor (1953) and Aris (1956)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from page import Case, Collector, Plot, within

import gpufluid as gf

pytestmark = pytest.mark.validation

PECLET = 20.0  # mean velocity times width over diffusivity
LENGTH = 16  # of the periodic channel, in widths
STRIPE = 0.5  # standard deviation of the dye along it at first
BEGIN, END = 0.2 * PECLET, 0.4 * PECLET  # by then what differs across the channel is e^-7.9 of what it was
SPREAD = 1.0 + PECLET**2 / 210.0  # effective diffusivity over the molecular one
UNEVEN = 0.2  # the mean square of u - 1, u = 6 y (1 - y)
SCHEMES = {"MacCormack": "maccormack", "finite volumes": "finite-volume"}


@dataclass(frozen=True)
class Stripe:
    """Dye at the start, at BEGIN and at END, [y, x], and the effective diffusivity between these two."""

    dye: tuple[np.ndarray, np.ndarray, np.ndarray]
    spread: float


def variance(dye: np.ndarray, h: float) -> float:
    """Of its place along the channel, about its middle on the circle that the channel closes to."""
    x, amount = (np.arange(dye.shape[1]) + 0.5) * h, dye.sum(0)
    middle = np.angle((amount * np.exp(2j * np.pi * x / LENGTH)).sum()) * LENGTH / (2.0 * np.pi)
    off = (x - middle + 0.5 * LENGTH) % LENGTH - 0.5 * LENGTH
    off -= (amount * off).sum() / amount.sum()
    return float((amount * off**2).sum() / amount.sum())


def flow_off(scheme: str, cells: int, dt: float) -> Stripe:
    """A stripe across the channel, carried by a parabola of the mean 1; width 1, a whole number of steps."""
    h = 1.0 / cells
    rules = gf.Settings(
        advection=scheme, solve_velocity=False, density_diffusivity=1.0 / PECLET, buoyancy=0.0
    )
    sides = gf.Boundaries(left=gf.Periodic(), right=gf.Periodic())
    y, x = (np.arange(cells) + 0.5) * h, (np.arange(LENGTH * cells) + 0.5) * h
    with gf.Fluid(gf.Grid((LENGTH * cells, cells, 1), h), sides, rules) as fluid:
        velocity = np.zeros_like(fluid.velocity.read())
        velocity[0, :cells, :, 0] = (6.0 * y * (1.0 - y))[:, None]
        fluid.velocity.write(velocity)
        start = np.exp(-0.5 * ((x - 0.5 * LENGTH) / STRIPE) ** 2)
        fluid.density.write(np.broadcast_to(start, (1, cells, len(x))))
        dye = [fluid.density.read()[0].astype(float)]
        for end in (BEGIN, END):
            while fluid.time < end - 0.5 * dt:
                fluid.step(dt)
            dye.append(fluid.density.read()[0].astype(float))
    growth = variance(dye[2], h) - variance(dye[1], h)
    return Stripe((dye[0], dye[1], dye[2]), 0.5 * PECLET * growth / (END - BEGIN))


def measure() -> Case:
    """Two schemes on two meshes; on the finer one with two steps."""
    stripes, rows = {}, []
    for name, scheme in SCHEMES.items():
        for cells, cut in ((12, 2), (24, 2), (24, 4)):
            stripes[name, cells, cut] = flow_off(scheme, cells, 1.0 / (cut * cells))
        for cells in (12, 24):
            mesh = (2.0 * np.pi / cells) ** 2 / 12.0
            why = "(2πh)²/12: differences of the wave across the channel are short by it"
            rows.append(
                within(
                    f"spread, {name}, {cells} cells across, dt = h/2",
                    SPREAD + 0.5 * UNEVEN * PECLET / (2 * cells), "see below",
                    stripes[name, cells, 2].spread, mesh,
                    f"{100.0 * mesh:.2g} %: {why if cells == 12 else 'a quarter of that'}",
                )
            )  # fmt: skip
        short, long = (stripes[name, 24, cut].spread for cut in (4, 2))
        rows.append(
            within(
                f"spread, {name}, 24 cells, dt → 0", SPREAD, "1 + Pe²/210: Taylor 1953, Aris 1956",
                2.0 * short - long, mesh, "the same",
            )
        )  # fmt: skip

    def draw(path: Path) -> None:
        from drawing import COLORS, Sheet, picture

        shown = stripes["finite volumes", 24, 4].dye
        sheet = Sheet(1, 2, size=(9.0, 4.2), sharex=True)
        above, below = sheet.axes
        picture(above, shown[1], (0.0, LENGTH, 0.0, 1.0), cmap="viridis", aspect="auto", vmin=0.0)
        above.set(ylabel="y", title=f"dye after the flow has gone {BEGIN:g} widths")
        x = (np.arange(shown[0].shape[1]) + 0.5) * LENGTH / shown[0].shape[1]
        for dye, time, color in zip(shown, (0.0, BEGIN, END), COLORS, strict=False):
            below.plot(x, dye.mean(0), color=color, label=f"after {time:g} widths")
        amount = shown[0].mean(0).sum() * LENGTH / len(x)
        wide = variance(shown[1], LENGTH / len(x)) + 2.0 * SPREAD / PECLET * (END - BEGIN)
        off = (x - 0.5 * LENGTH - END + 0.5 * LENGTH) % LENGTH - 0.5 * LENGTH
        below.plot(
            x, amount / np.sqrt(2.0 * np.pi * wide) * np.exp(-0.5 * off**2 / wide),
            "--", color="black", label="Taylor and Aris",
        )  # fmt: skip
        below.set(xlabel="x", ylabel="mean across")
        below.legend()
        sheet.save(path)

    return Case(
        "dispersion",
        "Dye in a channel",
        "A stripe of dye across a channel 1 wide, in a flow u = 6 y (1 − y) that is held "
        "(`solve_velocity=False`); κ = 1/20, so Pe = 20; periodic, 16 long. What the flow draws out diffuses "
        "across, and so the stripe spreads along as if its diffusivity were greater. The spread is how fast, "
        "in units of κ, from t = 4 to 8.",
        rows,
        [Plot("dispersion", "Dye drawn out by the flow in a channel; its mean across beside theory", draw)],
        "In a step dye is carried and then diffuses. Carried alone, for dt, it spreads by the variance "
        "of u, 1/5, times dt²: by a diffusivity of dt / 10 more. So 2.988 is expected with 12 cells and "
        "2.946 with 24, and 1 + Pe²/210 as dt → 0.",
    )


def test_dispersion(collector: Collector) -> None:
    collector.add(measure())
