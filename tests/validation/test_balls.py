"""Slow flow through a lattice of balls: the drag of Zick & Homsy (1982)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from page import Case, Collector, Plot, within

import gpufluid as gf

pytestmark = pytest.mark.validation

SOURCE = "Zick & Homsy 1982"
# share of the volume that balls take: drag over 6 pi nu R U, U the mean velocity over fluid and balls
PUBLISHED = {0.027: 2.008, 0.064: 2.810, 0.125: 4.292, 0.216: 7.442, 0.343: 15.4}
MEASURED = ((0.064, 24), (0.125, 12), (0.125, 24), (0.216, 24))  # share, cells from ball to ball
PUSH, TIME = 0.01, 0.8  # m/s^2: Re is below 1e-3; s, ten times what the flow takes to start


@dataclass(frozen=True)
class Flow:
    """The steady flow: drag over 6 pi nu R U, speed over U on the middle plane, [y, x]."""

    drag: float
    speed: np.ndarray


def radius(share: float) -> float:
    """Of balls that are 1 apart, m."""
    return float((0.75 * share / math.pi) ** (1.0 / 3.0))


def stream(share: float, cells: int) -> Flow:
    """From rest, pushed evenly; distance of the balls and viscosity: 1.

    The ball stands a quarter of a cell off: about a corner of cells, or the middle of one, voxels come and go
    in rings of many, so that their volume is up to 6 % off.
    """
    h = 1.0 / cells
    grid = gf.Grid((cells, cells, cells), h)
    rules = gf.Settings(viscosity=1.0, buoyancy=0.0, pressure=gf.Multigrid(2))
    dt = 3.5 * h * h
    with gf.Fluid(grid, gf.Boundaries.all(gf.Periodic()), rules) as fluid:
        fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=radius(share)), (0.5 + 0.25 * h,) * 3))
        fluid.forces.add(gf.ForceField(np.broadcast_to((PUSH, 0.0, 0.0), (cells, cells, cells, 3))))
        for _ in range(math.ceil(TIME / dt)):
            fluid.step(dt)
        mean = float(fluid.velocity.read()[:cells, :cells, :cells, 0].mean(dtype=float))
        middle = np.linalg.norm(fluid.velocity.at_centers()[cells // 2], axis=-1)
    # nothing else holds the fluid back: in each cube of the lattice its ball takes up the whole push
    return Flow(PUSH / (6.0 * math.pi * radius(share) * mean), middle / mean)


def steepness(share: float) -> float:
    """By what power of its radius the drag of a ball grows, from the published numbers about `share`."""
    shares = sorted(PUBLISHED)
    i = shares.index(share)
    low, high = shares[i - 1], shares[i + 1]
    return 1.0 + math.log(PUBLISHED[high] / PUBLISHED[low]) / math.log(radius(high) / radius(low))


def measure() -> Case:
    """Three lattices, one of them on two meshes."""
    flows = {(share, cells): stream(share, cells) for share, cells in MEASURED}
    rows = []
    for (share, cells), flow in flows.items():
        size = radius(share) * cells
        power = steepness(share)
        tolerance = 0.1 / size * power
        why = f"{100.0 * tolerance:.2g} %: a tenth of a cell in the radius, whose power {power:.2g} drag is"
        what = f"drag, balls taking {share} of the volume, radius of {size:.2g} cells"
        rows.append(within(what, PUBLISHED[share], SOURCE, flow.drag, tolerance, why))

    def draw(path: Path) -> None:
        from drawing import COLORS, DATA, Sheet, picture

        sheet = Sheet(2, size=(9.0, 3.9))
        left, right = sheet.axes
        shown = flows[0.125, 24].speed
        image = picture(left, shown, (0.0, 1.0, 0.0, 1.0), cmap="viridis", vmin=0.0)
        left.set(xlabel="x", ylabel="y", title="balls taking 0.125 of the volume")
        sheet.figure.colorbar(image, ax=left, label="speed / mean", shrink=0.9)
        right.plot(list(PUBLISHED), list(PUBLISHED.values()), label=SOURCE, **DATA)
        for cells, color in ((12, COLORS[1]), (24, COLORS[0])):
            some = [(share, flow.drag) for (share, of), flow in flows.items() if of == cells]
            right.plot(*zip(*some, strict=True), "x", color=color, markersize=8, label=f"{cells} cells apart")
        right.set(xlabel="share of the volume", ylabel="drag / 6πνRU", yscale="log")
        right.set_yticks((2, 4, 8, 16), ("2", "4", "8", "16"))
        right.minorticks_off()
        right.legend()
        sheet.save(path)

    return Case(
        "balls",
        "Balls in a slow stream",
        "A cubic lattice of balls, 1 apart (one in a periodic cube), ν = 1, pushed by 0.01 through viscous "
        "fluid, `Multigrid(2)`, dt = 3.5 h², until steady. The drag is in units of 6πνRU, what a ball alone "
        "feels in slow fluid (Stokes 1851); U is the mean velocity over fluid and balls.",
        rows,
        [Plot("balls", "Speed of the fluid round a ball of the lattice; its drag over its share", draw)],
        "The balls are made of whole cells, and stand a quarter of a cell off the corners of cells: there "
        "their volume is right within 0.5 %. About a corner a ball of 5 cells in radius has 6 % too little "
        "of it, and the drag of a ball of that volume.",
    )


def test_balls(collector: Collector) -> None:
    collector.add(measure())
