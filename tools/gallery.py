"""Draws the pictures of the docs anew: frames of demos as they ship, and what a few programs write.

    python tools/gallery.py [--out FOLDER] [PICTURE ...]
    python tools/gallery.py --list

writes them all, or those named ("campfire"), into docs/ or another folder. Frames were chosen in the cells
of a software renderer, where all take half an hour. The studio needs a display; `xvfb-run` will do.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

import gpufluid as gf
from gpufluid.app.demos import load_demo
from gpufluid.errors import near

ROOT = Path(__file__).resolve().parent.parent
QUALITY = 88  # of JPEG
Picture = NDArray[np.uint8]  # [height, width, 3]


class Shot(NamedTuple):
    """A demo after so many frames, drawn as `gpufluid demo NAME --frames N --size WxH -o FILE.png` does."""

    demo: str
    frame: int
    size: tuple[int, int] = (640, 360)

    def __str__(self) -> str:
        return f"demo {self.demo}, frame {self.frame}, {self.size[0]} x {self.size[1]}"


class Program(NamedTuple):
    """A program and what it is given; run in an empty folder, it leaves PNG files of the pictures' names."""

    file: str
    given: str = ""

    def __str__(self) -> str:
        return f"{self.file} {self.given}"


def frames(**frame: int) -> dict[str, Shot | Program]:
    """Rows of the pictures that are called as their demos are."""
    return {f"gallery/{demo}.jpg": Shot(demo, n) for demo, n in frame.items()}


def views(*names: str) -> dict[str, Shot | Program]:
    """Rows of the pictures of tools/views.py."""
    return {f"gallery/{name}.png": Program("tools/views.py") for name in names}


PICTURES: dict[str, Shot | Program] = {  # by their place in docs/
    "plume.png": Shot("plume", 108, (960, 540)),
    **frames(flame=75, torch=80, campfire=76, ball_of_fire=40, vortex_blast=34, blast=75, volcano=90),
    **frames(
        smoke=100, lamps=70, stage=36, lantern=80, colours=100, animated_source=110, follow=80, walker=80
    ),
    **frames(planet=44, steps=130, room=112, spheres=80, glass_plates=116),
    **frames(street=230, paint=120, stirring=120, benard=101),
    "gallery/ink.jpg": Shot("ink", 120, (480, 600)),
    "gallery/fireball_1.jpg": Shot("fireball", 18),
    "gallery/fireball_2.jpg": Shot("fireball", 32),
    "gallery/logo_1.jpg": Shot("logo", 22),
    "gallery/logo_2.jpg": Shot("logo", 45),
    "gallery/cloud_1.jpg": Shot("cloud", 20),
    "gallery/cloud_2.jpg": Shot("cloud", 72),
    "gallery/cloud_3.jpg": Shot("cloud", 118),
    "gallery/particles_scene.jpg": Shot("particles", 72),
    "gallery/streamlines_scene.jpg": Shot("streamlines", 41),
    "gallery/candle.jpg": Program("demos/candle.py"),  # over its plate
    "gallery/embedded.jpg": Program("demos/embed_offscreen.py", "--frames 140 --shot embedded.png"),
    **views("particles", "streamlines", "streak_lines", "glyphs", "slice_plane", "iso_surface"),
    **views("voxels", "flat_texture", "histogram"),
    "studio.png": Program("tools/studio.py"),  # last: without a display it ends here
}


def shots(demo: str, places: list[str]) -> Iterator[tuple[str, Picture]]:
    """The pictures of one run of a demo, by their places."""
    asked = [(shot, place) for place in places if isinstance(shot := PICTURES[place], Shot)]
    size = asked[0][0].size
    scene = load_demo(demo)()
    assert scene.fluid.ctx is not None
    scene.fit(size[0] / size[1])
    renderer = gf.FrameRenderer.of(scene.picture, scene.fluid.ctx, size)
    renderer.follow(scene)
    for shot, place in sorted(asked):
        while scene.frame < shot.frame:
            scene.advance()
        renderer.draw(scene)
        yield place, renderer.read()
    renderer.release()
    scene.release()


def written(program: Program, places: list[str]) -> Iterator[tuple[str, Picture]]:
    """The pictures that a program writes, by their places."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, ROOT / program.file, *program.given.split()], cwd=folder, check=True)
        for place in places:
            yield place, np.array(Image.open(Path(folder, f"{Path(place).stem}.png")).convert("RGB"))


def drawn(places: list[str]) -> Iterator[tuple[str, Picture]]:
    """The pictures of these places; what one run gives is drawn in one run."""
    runs: dict[str | Program, list[str]] = defaultdict(list)
    for place in places:
        source = PICTURES[place]
        runs[source.demo if isinstance(source, Shot) else source].append(place)
    for run, wanted in runs.items():
        yield from written(run, wanted) if isinstance(run, Program) else shots(run, wanted)


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
    for place, picture in drawn(chosen):
        file = asked.out / place
        file.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(picture).save(file, quality=QUALITY)
        print(file, flush=True)


if __name__ == "__main__":
    main()
