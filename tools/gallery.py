"""Draws the pictures of the docs anew: frames of demos as they ship, and what a few programs write.

    python tools/gallery.py [--out FOLDER] [PICTURE ...]
    python tools/gallery.py --list

writes them all, or those named ("campfire"), into docs/ or another folder. Frames were chosen on a software
renderer, where all take an hour and a half. The studio needs a display; `xvfb-run` will do.
"""

from __future__ import annotations

import argparse
import os
import runpy
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray
from PIL import Image

import gpufluid as gf
from gpufluid.app.demos import demo_file, load_demo
from gpufluid.common.errors import near

ROOT = Path(__file__).resolve().parent.parent
RULES: dict[str, dict[str, Any]] = {
    ".jpg": {"quality": 88},
    # every frame whole: one of what has changed leaves rectangles in a sky, and is no smaller where all moves
    ".webp": {"quality": 78, "method": 6, "kmin": 0, "kmax": 1},
}
FADE = 20  # frames of a moving picture in which its end turns into its beginning
FRAME_MS = 33
Picture = NDArray[np.uint8]  # [height, width, 3]


class Shot(NamedTuple):
    """A demo after so many frames, drawn as `gpufluid demo NAME --frames N --size WxH -o FILE.png` does."""

    demo: str
    frame: int
    size: tuple[int, int] = (640, 360)

    def __str__(self) -> str:
        return f"demo {self.demo}, frame {self.frame}, {self.size[0]} x {self.size[1]}"


class Moving(NamedTuple):
    """A demo from one frame to another, over and over, as a picture that moves.

    The last frames fade into those before the first, or into the first there is. It is drawn in the cells
    that the demo takes on a GPU.
    """

    demo: str
    first: int
    last: int
    size: tuple[int, int] = (640, 360)
    quality: int | None = None  # in place of that of the rules: an even sky shows squares with it

    def __str__(self) -> str:
        size = f"{self.size[0]} x {self.size[1]}"
        return f"demo {self.demo}, frames {self.first} to {self.last}, {size}, in a GPU's cells"


class Program(NamedTuple):
    """A program and what it is given; run in an empty folder, it leaves PNG files of the pictures' names."""

    file: str
    given: str = ""

    def __str__(self) -> str:
        return f"{self.file} {self.given}"


Source = Shot | Moving | Program


def frames(**frame: int) -> dict[str, Source]:
    """Rows of the pictures that are called as their demos are."""
    return {f"gallery/{demo}.jpg": Shot(demo, n) for demo, n in frame.items()}


def views(*names: str) -> dict[str, Source]:
    """Rows of the pictures of tools/views.py."""
    return {f"gallery/{name}.png": Program("tools/views.py") for name in names}


def looks(*names: str) -> dict[str, Source]:
    """Rows of the strips of tools/looks.py, each by itself."""
    return {f"gallery/look_{name}.jpg": Program("tools/looks.py", f"look_{name}") for name in names}


PICTURES: dict[str, Source] = {  # by their place in docs/
    "plume.webp": Moving("plume", 90, 210, (768, 432)),
    "gallery/campfire.webp": Moving("campfire", 50, 150),
    "gallery/incense.webp": Moving("incense", 60, 170, (360, 480)),
    "gallery/stage.webp": Moving("stage", 61, 180),
    "gallery/colours.webp": Moving("colours", 80, 180),
    "gallery/cloud.webp": Moving("cloud", 21, 176),
    "gallery/volcano.webp": Moving("volcano", 90, 190, quality=88),
    "gallery/particles_scene.webp": Moving("particles", 132, 209),
    **frames(flame=130, torch=80, ball_of_fire=28, vortex_blast=30, blast=46),
    **frames(smoke=120, chimney=88, lamps=90, lantern=80, animated_source=95, follow=80, walker=62),
    **frames(planet=24, steps=122, room=160, spheres=150, glass_plates=138),
    **frames(street=230, paint=120, stirring=95, benard=101),
    "gallery/ink.jpg": Shot("ink", 85, (480, 600)),
    "gallery/fireball_1.jpg": Shot("fireball", 14),
    "gallery/fireball_2.jpg": Shot("fireball", 20),
    "gallery/logo_1.jpg": Shot("logo", 22),
    "gallery/logo_2.jpg": Shot("logo", 45),
    "gallery/streamlines_scene.jpg": Shot("streamlines", 41),
    "gallery/candle.jpg": Program("demos/candle.py"),  # over its plate
    "gallery/embedded.jpg": Program("demos/embed_offscreen.py", "--frames 140 --shot embedded.png"),
    **views("particles", "streamlines", "streak_lines", "glyphs", "slice_plane", "iso_surface"),
    **views("voxels", "flat_texture", "histogram"),
    **looks("cells", "coarse", "confinement", "turbulence", "advection", "cooling", "noise", "dissipation"),
    **looks("extinction", "soft", "edge", "light", "kelvin", "soot"),
    "gallery/six_way.jpg": Program("tools/six_way.py"),
    "studio.png": Program("tools/studio.py"),  # last: without a display it ends here
}


def gpu_cells(demo: str) -> tuple[int, int, int]:
    """The cells that a demo takes on a GPU."""
    file = demo_file(demo)
    if file.suffix == ".py":
        known = runpy.run_path(str(file))
        return known.get("GPU_CELLS") or known["CELLS"]
    return tuple(msgspec.toml.decode(file.read_bytes())["grid"]["gpu_cells"])


def run(
    demo: str, size: tuple[int, int], wanted: Iterable[int], cells: tuple[int, int, int] | None = None
) -> Iterator[Picture]:
    """The pictures of one run of a demo after so many frames, which grow; cells: None for its own."""
    scene = load_demo(demo)(cells=cells)
    assert scene.fluid.ctx is not None
    scene.fit(size[0] / size[1])
    renderer = gf.FrameRenderer.of(scene.picture, scene.fluid.ctx, size)
    renderer.follow(scene)
    for frame in wanted:
        while scene.frame < frame:
            scene.advance()
        renderer.draw(scene)
        yield renderer.read()
    renderer.release()
    scene.release()


def shots(places: list[str]) -> Iterator[tuple[str, list[Picture]]]:
    """The pictures of one run, by their places."""
    asked = sorted((shot, place) for place in places if isinstance(shot := PICTURES[place], Shot))
    demo, _, size = asked[0][0]
    for (_, place), picture in zip(asked, run(demo, size, [shot.frame for shot, _ in asked]), strict=True):
        yield place, [picture]


def moving(source: Moving) -> list[Picture]:
    """All frames of a moving picture."""
    start = max(source.first - FADE, 1)
    pictures = list(run(source.demo, source.size, range(start, source.last + 1), gpu_cells(source.demo)))
    before, own = pictures[: source.first - start], pictures[source.first - start :]
    before = [pictures[0]] * (FADE - len(before)) + before
    for n, new in enumerate(before, 1):
        share = n / (FADE + 1)
        own[n - 1 - FADE] = np.rint((1.0 - share) * own[n - 1 - FADE] + share * new).astype(np.uint8)
    return own


def written(program: Program, places: list[str]) -> Iterator[tuple[str, list[Picture]]]:
    """The pictures that a program writes, by their places."""
    with tempfile.TemporaryDirectory() as folder:
        paths = os.pathsep.join([str(ROOT), *filter(None, [os.getenv("PYTHONPATH")])])  # not those installed
        call = [sys.executable, ROOT / program.file, *program.given.split()]
        subprocess.run(call, cwd=folder, env={**os.environ, "PYTHONPATH": paths}, check=True)
        for place in places:
            image = Image.open(Path(folder, f"{Path(place).stem}.png")).convert("RGB")
            yield place, [np.array(image)]


def drawn(places: list[str]) -> Iterator[tuple[str, list[Picture]]]:
    """The pictures of these places, of those that move all; what one run gives is drawn in one run."""
    runs: dict[str | Moving | Program, list[str]] = defaultdict(list)
    for place in places:
        source = PICTURES[place]
        runs[source.demo if isinstance(source, Shot) else source].append(place)
    for of, wanted in runs.items():
        if isinstance(of, Program):
            yield from written(of, wanted)
        elif isinstance(of, Moving):
            yield from ((place, moving(of)) for place in wanted)
        else:
            yield from shots(wanted)


def main(words: list[str] | None = None) -> None:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("pictures", nargs="*", metavar="PICTURE", help="which (all)")
    parser.add_argument("--out", type=Path, default=ROOT / "docs", metavar="FOLDER", help="in place of docs/")
    parser.add_argument("--list", action="store_true", help="say what each of them shows")
    asked = parser.parse_args(words)
    places = {Path(place).stem: place for place in PICTURES}
    for name in asked.pictures:
        if name not in places:
            parser.error(f"no picture is called {name!r}{near(name, places)}")
    chosen = [places[name] for name in asked.pictures or places]
    if asked.list:
        for place in chosen:
            print(f"{place:34} {PICTURES[place]}")
        return
    for place, pictures in drawn(chosen):
        file = asked.out / place
        file.parent.mkdir(parents=True, exist_ok=True)
        first, *more = map(Image.fromarray, pictures)
        rules = dict(RULES.get(file.suffix, {}))
        if quality := getattr(PICTURES[place], "quality", None):
            rules["quality"] = quality
        if more:
            first.save(file, save_all=True, append_images=more, duration=FRAME_MS, loop=0, **rules)
        else:
            first.save(file, **rules)
        print(file, flush=True)


if __name__ == "__main__":
    main()
