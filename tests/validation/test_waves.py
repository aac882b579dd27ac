"""Internal waves: how fast layered air swings in a box, and the beams of a source that swings in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from page import Case, Collector, Plot, Row, within

import gpufluid as gf

pytestmark = pytest.mark.validation

FREE = gf.Boundaries.all(gf.Wall("free"))
MESHES = (12, 24, 48)  # cells to the height of the box, which is 1
N = 2.0  # the frequency of air that is pushed up and let go, 1/s
SWINGS = 10
HEIGHT = 0.002  # of the standing wave: its own steepness is 0.006, so it is a small one
SCHEMES: dict[str, dict[str, Any]] = {
    "MacCormack": {},
    "finite volumes": {"advection": "finite-volume"},
    "with a reflection": {"reflection": True},
    "a coarse velocity": {"coarse_velocity": True},
}
SOURCES = (0.5, 0.7, np.sqrt(0.75))  # frequencies over N: beams at 60, 45.6 and 30 degrees to the vertical
BEAMS, WIDE, PERIODS = 256, 5.0, 8  # cells along a side; radius of the source in cells; how long it swings


def standing(cells: int, **rules: Any) -> tuple[float, float]:
    """The frequency of a wave in a box twice as wide as high, and its last height of its first, in theory 1.

    A swing takes 20 steps with 12 cells to the height. Heights are those of a sine and a cosine that fit it.
    """
    h, k = 1.0 / cells, np.pi  # of the wave, along both axes
    steps, omega = 20 * cells // MESHES[0], N * np.sqrt(0.5)
    x, y = (np.arange(2 * cells) + 0.5) * h, ((np.arange(cells) + 0.5) * h)[:, None]
    mode, layers = np.sin(k * y) * np.cos(k * x), np.broadcast_to(y, (cells, 2 * cells))
    settings = gf.Settings(buoyancy=N**2, pressure=gf.Multigrid(4), **rules)
    with gf.Fluid(gf.Grid((2 * cells, cells, 1), h), FREE, settings) as fluid:
        fluid.temperature.write((layers + HEIGHT * mode)[None])
        swung = []
        for _ in range(SWINGS * steps):
            fluid.step(2.0 * np.pi / omega / steps)
            swung.append(float(((fluid.temperature.read()[0] - layers) * mode).sum() / (mode**2).sum()))
    phases = 2.0 * np.pi * (np.arange(steps) + 1) / steps
    waves = np.exp(-1j * phases) @ np.reshape(swung, (SWINGS, steps)).T
    turned = np.unwrap(np.angle(waves))
    slower = np.polyfit(np.arange(SWINGS), turned, 1)[0] / (2.0 * np.pi)
    return omega * (1.0 + slower), float(abs(waves[-1] / waves[0]))


def beams(ratio: float) -> np.ndarray:
    """The upward velocity round a source that swings with `ratio` N in its last period, [y, x], complex."""
    omega, h, steps = ratio * N, 1.0 / BEAMS, 24
    y = (np.arange(BEAMS) + 0.5) * h - 0.5
    push = f"0.1 * sin({omega:.9f} * time) * exp(-(x * x + y * y) / {(WIDE * h) ** 2:.9f})"
    settings = gf.Settings(buoyancy=N**2, pressure=gf.Multigrid(2))
    with gf.Fluid(gf.Grid((BEAMS, BEAMS, 1), h, (-0.5, -0.5, 0.0)), FREE, settings) as fluid:
        fluid.temperature.write(np.broadcast_to(y[:, None], (1, BEAMS, BEAMS)))
        fluid.forces.add(gf.ForceExpression(f"vec3(0.0, {push}, 0.0)"))
        swung = np.zeros((BEAMS, BEAMS), complex)
        for step in range(1, PERIODS * steps + 1):
            fluid.step(2.0 * np.pi / omega / steps)
            if step > (PERIODS - 1) * steps:
                up = fluid.velocity.at_centers()[0, ..., 1]
                swung += up * np.exp(-2j * np.pi * step / steps) * 2.0 / steps
    return swung


def slant(swung: np.ndarray) -> float:
    """k_h / k of the waves in it, of which half the energy has less.

    Of waves shorter than a quarter of the box, which longer ones fill, and longer than the source is round.
    """
    mirrored = np.concatenate([swung, swung[:, ::-1]], 1)  # nothing goes through the sides
    mirrored = np.concatenate([mirrored, -mirrored[::-1]])
    energy = np.abs(np.fft.fft2(mirrored)) ** 2
    k = np.pi * np.fft.fftfreq(2 * BEAMS) * 2 * BEAMS
    length = np.hypot(k, k[:, None])
    seen = (length > 8.0 * np.pi) & (length < 2.0 * BEAMS / WIDE)
    slants, energy = (np.abs(k) / np.maximum(length, 1e-9))[seen], energy[seen]
    order = np.argsort(slants)
    total = np.cumsum(energy[order])
    return float(slants[order][np.searchsorted(total, 0.5 * total[-1])])


def measure() -> Case:
    """A standing wave on three meshes and by each scheme; beams of three frequencies."""
    theory, pi = N * np.sqrt(0.5), np.pi
    swings = {cells: standing(cells) for cells in MESHES}
    by_scheme = {name: standing(24, **rules) if rules else swings[24] for name, rules in SCHEMES.items()}
    pictures = {ratio: beams(ratio) for ratio in SOURCES}
    errors = [abs(swings[cells][0] - theory) for cells in MESHES]
    source = "N k_h / k: Mowbray & Rarity 1967"
    rows = [
        *(
            within(f"frequency, {name}, 24 cells high", theory, source, omega,
                   (pi * h) ** 2 / 8.0 + (2.0 * pi / 40.0) ** 2 / 24.0,
                   "second order: a mean over two cells is (kh)²/8 short, a step (ω dt)²/24")
            for (name, (omega, _)), h in zip(
                by_scheme.items(), (1 / 24, 1 / 24, 1 / 24, 1 / 12), strict=True)
        ),
        *(
            Row(f"its error with {b} cells over that with {a}, dt ∝ h", "1/4", fine / rough, 0.17, 0.35,
                "nearer to second order than to first (1/2) or third (1/8)")
            for a, b, rough, fine in zip(MESHES, MESHES[1:], errors, errors[1:], strict=False)
        ),
        *(
            within(f"height in the tenth swing over that in the first, {name}", 1.0, "", kept, 0.01,
                   "1 %: no part of a step damps a small wave to first order in dt or h")
            for name, (_, kept) in by_scheme.items()
        ),
        *(
            within(f"beams of a source at {ratio:.3g} N: k_h / k of their waves", float(ratio),
                   "ω / N: Mowbray & Rarity 1967", slant(swung), 1.0 / (2.0 * PERIODS),
                   "6 %: what swings eight times has a frequency that is as sharp as that", 3)
            for ratio, swung in pictures.items()
        ),
    ]  # fmt: skip

    def draw(path: Path) -> None:
        from drawing import Sheet

        sheet = Sheet(3, size=(10.8, 4.0))
        for axes, (ratio, swung) in zip(sheet.axes, pictures.items(), strict=True):
            strength = np.abs(swung)
            axes.imshow(strength, origin="lower", extent=(-0.5, 0.5, -0.5, 0.5), cmap="magma",
                        vmax=np.quantile(strength, 0.995))  # fmt: skip
            axes.grid(False)
            angle = np.arccos(ratio)
            ends = np.array((0.28, 0.48))
            for x, y in ((-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)):
                axes.plot(x * ends * np.sin(angle), y * ends * np.cos(angle), "w:", lw=1.2)
            axes.set(title=f"ω = {ratio:.3g} N: {np.degrees(angle):.1f}° to the vertical", xticks=[],
                     yticks=[])  # fmt: skip
        sheet.save(path)

    return Case(
        "waves",
        "Waves in layered air",
        "Air that is warmer the higher it lies, between free-slip walls, without viscosity; N is the "
        "frequency of air that is pushed up and let go, k_h the horizontal part of a wave's number k. A "
        "small standing wave, one long and half of one high in a box twice as wide as high, swings ten "
        "times, in 40 steps each with 24 cells, `Multigrid(4)`. In a square of 256² a push up and down on a "
        "spot 5 cells in radius makes waves that leave as four beams, at the same angle θ to the vertical "
        "whatever their length: cos θ = ω / N, which is also k_h / k. Measured in the eighth period.",
        rows,
        [Plot("waves", "Beams of internal waves from a source that swings, at three frequencies", draw)],
    )


def test_waves(collector: Collector) -> None:
    collector.add(measure())
