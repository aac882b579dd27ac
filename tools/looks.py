"""Strips of pictures that differ in one value each: what docs/looks.md shows.

    python tools/looks.py [STRIP ...]

writes them as PNG files into the folder it is called in, or those named ("look_noise"). Every picture is what
`gpufluid demo NAME --set KEY=VALUE --frames N --size 240x320 -o FILE.png` draws.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import gpufluid as gf
from gpufluid.app.demos import demo_file
from gpufluid.io.images import write_png

SIZE = (240, 320)
GAP = 4  # pixels between two pictures, of the page's white


class Strip(NamedTuple):
    """A demo after so many frames, once for each change of its scene file (a tuple of KEY=VALUE)."""

    demo: str
    frame: int
    changes: tuple[tuple[str, ...], ...]
    cells: tuple[tuple[int, int, int] | None, ...] = (None,) * 4


def of(demo: str, frame: int, key: str, *values: object) -> Strip:
    """A strip in which one value changes."""
    return Strip(demo, frame, tuple((f"{key}={value}",) for value in values))


STRIPS = {
    "look_cells": Strip("smoke", 120, ((), (), ()), ((26, 48, 26), (52, 96, 52), (78, 144, 78))),
    "look_coarse": Strip(
        "smoke",
        120,
        (
            (),
            ("settings.coarse_velocity=true", "settings.advection=maccormack"),
            ("settings.advection=maccormack",),
        ),
        ((52, 96, 52), (104, 192, 104), (104, 192, 104)),
    ),
    "look_confinement": of("smoke", 120, "settings.vorticity_confinement", 0.0, 0.7, 8.0),
    "look_turbulence": of("incense", 90, "forces[0].strength", 0.0, 0.5, 1.5),
    "look_advection": of(
        "incense",
        90,
        "settings.advection",
        "semi-lagrangian",
        "maccormack",
        "monotone-cubic",
        "finite-volume",
    ),
    "look_noise": of("smoke", 120, "emitters[0].noise", 0.0, 0.5, 0.95),
    "look_cooling": of("smoke", 120, "settings.cooling", 0.2, 0.7, 5.0),
    "look_dissipation": of("smoke", 120, "settings.density_dissipation", 0.1, 0.4, 1.6),
    "look_extinction": of("smoke", 120, "smoke.extinction", 15.0, 130.0, 400.0),
    "look_soft": Strip(
        "smoke",
        120,
        (
            ("smoke.extinction=400", "smoke.soft=false"),
            ("smoke.extinction=400",),
            (),
        ),
    ),
    "look_edge": of("smoke", 120, "smoke.edge", 0.0, 0.12, 0.4),
    "look_light": of(
        "smoke", 120, "light.direction", [-0.3, -0.4, -1.0], [-0.85, -0.45, 0.6], [-0.3, -0.25, 1.0]
    ),
    "look_soot": of("torch", 80, "fire.soot", 0.0, 0.7, 1.5),
    "look_kelvin": of("torch", 80, "fire.kelvin_per_temperature", 380, 480, 620),
}


def picture(strip: Strip, number: int) -> NDArray[np.uint8]:
    """One picture of a strip, uint8 [height, width, 3]."""
    scene = gf.Scene.load(demo_file(strip.demo), changes=strip.changes[number], cells=strip.cells[number])
    assert scene.fluid.ctx is not None
    scene.fit(SIZE[0] / SIZE[1])
    renderer = gf.FrameRenderer.of(scene.picture, scene.fluid.ctx, SIZE)
    renderer.follow(scene)
    for _ in range(strip.frame):
        scene.advance()
    renderer.draw(scene)
    drawn: NDArray[np.uint8] = renderer.read()
    renderer.release()
    scene.release()
    return drawn


def main(names: list[str]) -> None:
    """Write the strips of these names, or all."""
    gap: Any = np.full((SIZE[1], GAP, 3), 255, np.uint8)
    for name in names or STRIPS:
        strip = STRIPS[name]
        row = [part for n in range(len(strip.changes)) for part in (gap, picture(strip, n))][1:]
        write_png(f"{name}.png", np.hstack(row))
        print(f"{name}.png", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
