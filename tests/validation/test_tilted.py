"""Waves that a shear tilts: they take energy from it till they stand upright, and give it back (Orr 1907)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from page import Case, Collector, Plot, Row, within

import gpufluid as gf

pytestmark = pytest.mark.validation

KX = 6.0 * np.pi  # three waves in the box, which is 1 wide; u = y between free-slip sides at +-HALF
KY = 2.0 * KX  # at the start; KY - KX t later: upright at t = 2
HALF, WIDTH = 0.75, 0.12  # of the box, and of the packet that the waves are
STRENGTH = 0.03  # of the vorticity of the waves, that of the shear being 1
END = 3.0
MESHES = (32, 64, 128)  # cells to the width of the box
K = float(np.hypot(KX, KY))


def theory(times: np.ndarray) -> np.ndarray:
    """The energy of the waves over that at the start: their vorticity goes along with the shear."""
    y = np.linspace(-HALF, HALF, 2048, endpoint=False)
    k = 2.0 * np.pi * np.fft.fftfreq(len(y), y[1] - y[0])
    stream = np.fft.fft(np.exp(1j * KY * y - 0.5 * (y / WIDTH) ** 2))
    vorticity = np.fft.ifft((KX**2 + k**2) * stream)
    tilted = np.fft.fft(vorticity * np.exp(-1j * KX * np.outer(np.append(0.0, times), y)))
    energy = (np.abs(tilted) ** 2 / (KX**2 + k**2)).sum(axis=1)
    return np.asarray(energy[1:] / energy[0])


def run(cells: int, reflection: bool = True) -> tuple[np.ndarray, np.ndarray, dict[float, np.ndarray]]:
    """Times, the energy of the waves then over that at the start, and their vorticity at whole times.

    dt = h.
    """
    h, rows, loop, free = 1.0 / cells, round(2.0 * HALF * cells), gf.Periodic(), gf.Wall("free")
    x, y = np.meshgrid(np.arange(cells + 1) * h, np.arange(rows + 1) * h - HALF)
    stream = STRENGTH / K**2 * np.cos(KX * x + KY * y) * np.exp(-0.5 * (y / WIDTH) ** 2)
    rules = gf.Settings(buoyancy=0.0, reflection=reflection, pressure=gf.Multigrid(4))
    grid = gf.Grid((cells, rows, 1), h, (0.0, -HALF, 0.0))
    with gf.Fluid(grid, gf.Boundaries(loop, loop, free, free), rules) as fluid:
        shear = np.zeros(fluid.velocity.shape)
        shear[0, :rows, :, 0] = ((np.arange(rows) + 0.5) * h - HALF)[:, None]
        start = shear.copy()
        start[0, :rows, :, 0] += np.diff(stream, axis=0) / h
        start[0, :, :cells, 1] = -np.diff(stream, axis=1) / h
        fluid.velocity.write(start)

        def waves() -> float:
            u = fluid.velocity.read().astype(float)[0, :rows, :cells]
            along = u[..., 0] - u[..., 0].mean(axis=1, keepdims=True)
            return float((along**2 + u[..., 1] ** 2).sum())

        def seen() -> np.ndarray:
            vorticity = fluid.vorticity.read()[0, ..., 2]
            return np.asarray(vorticity - vorticity.mean(axis=1, keepdims=True))

        steps, first, pictures = round(END * cells), waves(), {0.0: seen()}
        times, energy = [], []
        for step in range(1, steps + 1):
            fluid.step(END / steps)
            if step % (steps // 24) == 0:
                times.append(step * END / steps)
                energy.append(waves() / first)
            if step % (steps // 3) == 0:
                pictures[step * END / steps] = seen()
    return np.array(times), np.array(energy), pictures


def measure() -> Case:
    """With a reflection on three meshes, and in plain steps on one."""
    runs = {cells: run(cells) for cells in MESHES}
    plain = run(64, reflection=False)
    exact = theory(np.array((1.0, 2.0, 3.0)))
    got = {cells: energy[7::8] for cells, (_, energy, _) in runs.items()}  # at t = 1, 2 and 3
    errors = [abs(got[cells][1] - exact[1]) for cells in MESHES]
    why = "{:.2g} %: second order, (kh)²/6 of the wave at the start"
    rows = [
        *(
            within(f"energy at t = 2 over that at the start, {cells} cells", float(exact[1]),
                   "closed form: Orr 1907", float(got[cells][1]), (K / cells) ** 2 / 6.0,
                   why.format(100.0 * (K / cells) ** 2 / 6.0))
            for cells in MESHES
        ),
        *(
            within(f"the same at t = {t}, 128 cells", float(exact[t - 1]), "closed form: Orr 1907",
                   float(got[128][t - 1]), (K / 128) ** 2 / 6.0, "the same")
            for t in (1, 3)
        ),
        *(
            Row(f"its error at t = 2 with {b} cells over that with {a}, dt = h", "1/4", fine / rough,
                0.17, 0.35, "nearer to second order than to first (1/2) or third (1/8)")
            for a, b, rough, fine in zip(MESHES, MESHES[1:], errors, errors[1:], strict=False)
        ),
    ]  # fmt: skip

    def draw(path: Path) -> None:
        from drawing import COLORS, Sheet

        sheet = Sheet(4, size=(11.0, 3.4), gridspec_kw={"width_ratios": (1, 1, 1, 1.6)})
        for axes, (t, vorticity) in zip(sheet.axes, list(runs[128][2].items())[:3], strict=False):
            axes.imshow(
                vorticity, origin="lower", extent=(0, 1, -HALF, HALF), cmap="RdBu", vmin=-0.03, vmax=0.03
            )
            axes.grid(False)
            axes.set(title=f"t = {t:g}", xticks=[], yticks=[], ylim=(-0.45, 0.45))
        axes = sheet.axes[3]
        line = np.linspace(0.0, END, 100)
        axes.plot(line, theory(line), color="black", lw=1.0, label="closed form")
        for (cells, (times, energy, _)), color in zip(runs.items(), COLORS, strict=False):
            axes.plot(times, energy, ".", color=color, label=f"{cells} cells")
        axes.set(xlabel="t", title="energy of the waves, of its start")
        axes.legend(fontsize=8)
        sheet.save(path)

    return Case(
        "tilted",
        "Waves that a shear tilts",
        "A packet of waves leans against a shear u = y, without viscosity, periodic along it. The shear "
        "turns their crests upright by t = 2, and over. Their vorticity goes along unchanged, so the longer "
        "they become, the faster they blow: their energy grows fivefold, and falls again. With a "
        "reflection, dt = h, `Multigrid(4)`.",
        rows,
        [Plot("tilted", "Vorticity of the waves as the shear tilts them; their energy over time", draw)],
        f"With plain steps and 64 cells the energy at t = 2 is {plain[1][15]:.2f}, with a reflection "
        f"{got[64][1]:.2f}. Waves so small that they carry fluid by less than 1e-5 of a cell a step are lost "
        "in single precision ([why](physics.md#what-does-not-hold)).",
    )


def test_tilted(collector: Collector) -> None:
    collector.add(measure())
