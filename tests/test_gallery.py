"""The tool that draws the pictures of the docs knows each of them, and draws one."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageSequence
from saving import description_of
from test_demos import DRAWN

import gpufluid as gf
from gpufluid.app.demos import demo_file, demo_names, load_demo

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
CHARTS = {"performance.png", "performance-gpu.png"}  # by `make bench`


def module_of(name: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A file in tools/ as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, tool)
    spec.loader.exec_module(tool)
    return tool


@pytest.fixture
def gallery(monkeypatch: pytest.MonkeyPatch) -> Any:
    """tools/gallery.py as a module."""
    return module_of("gallery", monkeypatch)


def lasts(file: Path) -> int:
    """Milliseconds of a moving WebP; of frames that are nearly equal it holds one, for longer."""
    data, at, time = file.read_bytes(), 12, 0
    while at < len(data):
        size = int.from_bytes(data[at + 4 : at + 8], "little")
        if data[at : at + 4] == b"ANMF":
            time += int.from_bytes(data[at + 20 : at + 23], "little")
        at += 8 + size + size % 2
    return time


def test_every_picture_of_the_docs_has_a_row(gallery: Any) -> None:
    """And every row a picture, of its size, that a page shows."""
    kept = {
        f.relative_to(DOCS).as_posix()
        for pattern in ("*.png", "*.webp", "gallery/*")
        for f in DOCS.glob(pattern)
    }
    assert set(gallery.PICTURES) == kept - CHARTS
    shown = {
        place
        for page in DOCS.glob("*.md")
        for place in re.findall(r"!\[.*?\]\((.+?)\)", page.read_text(encoding="utf-8"))
    }
    assert set(gallery.PICTURES) <= shown
    for place, source in gallery.PICTURES.items():
        if not isinstance(source, gallery.Program):
            with Image.open(DOCS / place) as picture:
                assert picture.size == source.size, place
                assert getattr(picture, "is_animated", False) == isinstance(source, gallery.Moving), place
            if isinstance(source, gallery.Moving):
                assert lasts(DOCS / place) == gallery.FRAME_MS * (source.last - source.first + 1), place


def test_every_demo_has_a_picture(gallery: Any) -> None:
    sources = gallery.PICTURES.values()
    programs = {source.file for source in sources if isinstance(source, gallery.Program)}
    shots = {source.demo for source in sources if not isinstance(source, gallery.Program)}
    assert all((ROOT / file).is_file() for file in programs)
    assert shots <= set(demo_names()) <= shots | {Path(file).stem for file in programs}


def test_it_draws_those_named(gallery: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two frames of one run, and what a program leaves."""
    program = tmp_path / "program.py"
    program.write_text(
        "import sys; from PIL import Image; Image.new('RGBA', (5, 4), 'red').save(sys.argv[1])\n"
        f"import gpufluid; assert gpufluid.__file__.startswith({str(ROOT)!r}), 'that of another checkout'"
    )
    table = {
        "late.png": gallery.Shot("stirring", 2, (64, 36)),
        "gallery/early.png": gallery.Shot("stirring", 1, (64, 36)),
        "dot.jpg": gallery.Program(str(program), "dot.png"),
        "moving.webp": gallery.Moving("stirring", 2, 5, (64, 36)),
        "coarse.webp": gallery.Moving("stirring", 2, 5, (64, 36), quality=1),
        "other.png": gallery.Shot("no demo", 1),
    }
    monkeypatch.setattr(gallery, "PICTURES", table)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.setattr(gallery, "load_demo", lambda name: lambda cells: load_demo(name)(cells=DRAWN[name]))
    monkeypatch.setattr(gallery, "gpu_cells", DRAWN.get)
    monkeypatch.setattr(gallery, "FADE", 2)
    monkeypatch.setitem(gallery.RULES, ".webp", {**gallery.RULES[".webp"], "quality": 100})
    gallery.main(["late", "early", "dot", "moving", "coarse", "--out", str(tmp_path / "out")])
    late, early, dot = (np.asarray(Image.open(tmp_path / "out" / place)) for place in list(table)[:3])
    assert late.shape == early.shape == (36, 64, 3) and dot.shape == (4, 5, 3)
    assert late.std() > 30.0 and np.abs(late.astype(float) - early).mean() > 0.3
    with Image.open(tmp_path / "out" / "moving.webp") as moving:
        assert (getattr(moving, "n_frames", 1), moving.info["loop"]) == (4, 0)
        begins = np.asarray(next(ImageSequence.Iterator(moving)).convert("L"), float)
    assert np.abs(begins - Image.fromarray(late).convert("L")).mean() < 1.0  # of 255: it is lossy
    coarse, fine = ((tmp_path / "out" / f"{name}.webp").stat().st_size for name in ("coarse", "moving"))
    assert 2 * coarse < fine


def test_the_end_of_a_moving_picture_turns_into_its_beginning(
    gallery: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A demo that is as bright as its frame says; it is run in the cells that it takes on a GPU."""

    def run(demo: str, size: tuple[int, int], wanted: range, cells: tuple[int, ...]) -> Any:
        assert cells == (112, 168, 112)
        return (np.full((1, 1, 3), n, np.uint8) for n in wanted)

    monkeypatch.setattr(gallery, "FADE", 3)
    monkeypatch.setattr(gallery, "run", run)

    def shades(first: int, last: int) -> list[int]:
        return [int(picture.max()) for picture in gallery.moving(gallery.Moving("colours", first, last))]

    # three frames come in by a quarter, a half and three quarters: those before the first, or the first
    assert shades(100, 140) == [*range(100, 138), 128, 118, 109]  # of 138, 139, 140 and 97, 98, 99
    assert shades(1, 41) == [*range(1, 39), 30, 20, 11]


def test_it_tells_what_they_show(gallery: Any, capsys: pytest.CaptureFixture[str]) -> None:
    gallery.main(["--list", "plume", "candle"])
    told = capsys.readouterr().out
    assert re.search(r"plume.webp +demo plume, frames \d+ to \d+, 768 x 432, in a GPU's cells\n", told)
    assert gallery.gpu_cells("plume") == (84, 144, 84)  # of a script; of a description see above
    assert re.search(r"gallery/candle.jpg +demos/candle.py *\n", told)
    with pytest.raises(SystemExit):
        gallery.main(["--list", "camp_fire"])
    assert "no picture is called 'camp_fire'; did you mean 'campfire'?" in capsys.readouterr().err


def description(demo: str, *changes: str) -> dict[str, Any]:
    """What a demo in few cells is, after changes by the command line."""
    scene = gf.Scene.load(demo_file(demo), changes=changes, cells=(12, 12, 12), backend="numpy")
    told = description_of(scene)
    scene.release()
    return told


@pytest.mark.filterwarnings("ignore::gpufluid.ShapeWarning")  # in few cells
def test_looks_differ_in_what_their_page_says(
    gallery: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The text under a strip names key and values; one in its place is the demo as it is. One is drawn."""
    looks = module_of("looks", monkeypatch)
    page = (DOCS / "looks.md").read_text(encoding="utf-8")
    strips = {place for place, of in gallery.PICTURES.items() if getattr(of, "file", "") == "tools/looks.py"}
    assert strips == {f"gallery/{name}.jpg" for name in looks.STRIPS}
    for name, strip in looks.STRIPS.items():
        text = re.search(rf"\(gallery/{name}.jpg\)\n\n(.*?)(?:\n\n|$)", page, re.DOTALL)
        assert text is not None, name
        ships, ways = description(strip.demo), [description(strip.demo, *some) for some in strip.changes]
        if name != "look_cells":
            last = name in ("look_advection", "look_noise", "look_soft")
            place = 0 if name == "look_coarse" else len(ways) - 1 if last else 1
            assert [n for n, way in enumerate(ways) if way == ships] == [place], name
        for key, value in (change.split("=") for changes in strip.changes for change in changes):
            assert f"`{key}`" in text[1] or f"`{key.rpartition('.')[2]}`" in text[1], (name, key)
            if not value.startswith("["):
                assert (f"{float(value):g}" if value[0].isdigit() else value) in text[1], (name, value)
    monkeypatch.chdir(tmp_path)
    few = looks.STRIPS["look_soot"]._replace(frame=2, cells=((12, 12, 8),) * 3)
    monkeypatch.setitem(looks.STRIPS, "look_soot", few)
    looks.main(["look_soot"])
    strip = np.asarray(Image.open("look_soot.png"))
    width, height = looks.SIZE
    assert strip.shape == (height, 3 * width + 2 * looks.GAP, 3) and (strip[:, width] == 255).all()
