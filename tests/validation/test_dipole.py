"""A pair of vortices that carries itself: its speed, whichever way it goes, and in a wind."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from page import Case, Collector, Plot, Row, at_most

import gpufluid as gf
from gpufluid.description.cases import LambDipole

pytestmark = pytest.mark.validation

END = 2.0
MESHES = (64, 128, 256)


def middle(vorticity: np.ndarray, size: float) -> np.ndarray:
    """Where the squared vorticity [y, x] has its middle, round the periodic box, (x, y)."""
    n = len(vorticity)
    turn = np.exp(2j * np.pi * ((np.arange(n) + 0.5) / n - 0.5))
    square = vorticity.astype(float) ** 2
    return np.angle([(square * turn).sum(), (square * turn[:, None]).sum()]) * size / (2.0 * np.pi)


def flown(pair: LambDipole, wind: float = 0.0, **rules: bool) -> tuple[np.ndarray, float, np.ndarray]:
    """The mean velocity (x, y) against the wind along x, the share left of the peak, the vorticity at END."""
    h = pair.grid.cell_size
    settings = gf.Settings(buoyancy=0.0, pressure=gf.FFT(), **rules)  # type: ignore[arg-type]
    start = pair.velocity()
    start[..., 0] += wind
    with gf.Fluid(pair.grid, gf.Boundaries.all(gf.Periodic()), settings) as fluid:
        fluid.velocity.write(start)
        first = fluid.vorticity.read()[0, ..., 2]
        steps = round(2.0 * END / h)
        for _ in range(steps):
            fluid.step(END / steps)
        last = fluid.vorticity.read()[0, ..., 2]
    way = middle(last, pair.size) - middle(first, pair.size) - (wind * END, 0.0)
    way -= pair.size * np.round(way / pair.size)
    return way / END, float(np.abs(last).max() / np.abs(first).max()), last


def measure() -> Case:
    """Plain steps and reflected ones on three meshes; along y, and in a wind, on one."""
    speed = LambDipole(64).speed
    short: dict[bool, list[float]] = {False: [], True: []}
    pictures = {}
    for reflection, errors in short.items():
        for cells in MESHES:
            way, _, pictures[reflection, cells] = flown(LambDipole(cells), reflection=reflection)
            errors.append(1.0 - float(way[0]) / speed)
    along_x, peak, _ = flown(LambDipole(128), reflection=True)
    along_y, _, _ = flown(LambDipole(128, axis=1), reflection=True)
    blown, _, _ = flown(LambDipole(128), wind=1.0, reflection=True)
    orders = {key: np.log2(np.array(e[:-1]) / e[1:]) for key, e in short.items()}
    rows = [
        *(
            Row(f"speed, {cells}², with a reflection", f"{speed:.4f} (1 − π/64: Lamb 1895)",
                speed * (1.0 - e), speed * (1.0 - 2.0 * h**2), speed * (1.0 + 2.0 * h**2),
                f"{200 * h**2:.2g} %: second order, twice (h / radius)²", 4)
            for cells, e, h in zip(MESHES, short[True], (1 / 8, 1 / 16, 1 / 32), strict=True)
        ),
        Row("how much too slow with plain steps: order between 128² and 256²", "1 (Chorin 1968)",
            float(orders[False][1]), 0.7, 1.3, "nearer to first order than to second"),
        Row("the same with a reflection: order between 64² and 128²", "2 (Zehnder et al. 2018)",
            float(orders[True][0]), 1.7, 2.5, "nearer to second order than to first"),
        Row("peak of the vorticity, 128², with a reflection, of its start", "1", peak, 0.98, 1.02,
            "2 %: the core is 16 cells in radius"),
        at_most("along y instead of x: difference of the two ways' velocities, 128²", 1e-5,
                float(np.abs(along_y[::-1] - along_x).max()), "the same but for rounding"),
        at_most("in a wind of 1 along its way: change of its velocity in the wind, 128²", 0.01,
                float(np.abs(blown - along_x).max()), "1 %: what goes through the mesh is interpolated"),
    ]  # fmt: skip

    def draw(path: Path) -> None:
        from drawing import COLORS, Sheet

        sheet = Sheet(3, size=(10.8, 3.6))
        half = 0.5 * LambDipole(64).size
        for axes, reflection in zip(sheet.axes[:2], (False, True), strict=True):
            axes.imshow(pictures[reflection, 256], origin="lower", extent=(-half, half, -half, half),
                        cmap="RdBu", vmin=-12, vmax=12)  # fmt: skip
            axes.axvline(speed * END, color="black", lw=0.8, ls=":")
            axes.set(title=f"t = {END:g}, 256², {'with a reflection' if reflection else 'plain steps'}",
                     xlim=(-1, 4), ylim=(-2.5, 2.5), xlabel="x", ylabel="y")  # fmt: skip
        axes = sheet.axes[2]
        for (reflection, errors), color in zip(short.items(), COLORS, strict=False):
            axes.loglog(MESHES, errors, "o-", color=color, label="reflection" if reflection else "plain")
        axes.set(xlabel="cells along a side", ylabel="how much too slow", title="Error of the speed")
        axes.legend(fontsize=8)
        sheet.save(path)

    plain = ", ".join(f"{100 * e:.2g}" for e in short[False])
    return Case(
        "dipole",
        "A pair of vortices that carries itself",
        "Lamb and Chaplygin's dipole: a circle of radius 1 in which vorticity of two signs pushes itself "
        "through resting fluid at the speed 1, unchanged, without viscosity. A periodic square of 8, `FFT`, "
        "dt = h / 2; the speed is that of the middle of the squared vorticity up to t = 2. The images in the "
        "periodic square slow it by π / 64.",
        rows,
        [
            Plot(
                "dipole",
                "Vorticity of the pair with plain steps and with a reflection; errors of speed",
                draw,
            )
        ],
        f"With plain steps the pair is too slow by {plain} % with 64², 128² and 256²: its vorticity is "
        "damped, as [the step takes energy](#vortices-in-three-dimensions). What travels far by its own "
        "vorticity, such as a smoke ring, wants `Settings(reflection=True)`.",
    )


def test_dipole(collector: Collector) -> None:
    collector.add(measure())
