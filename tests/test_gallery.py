"""The tool that draws the pictures of the docs knows each of them, and draws one."""

from __future__ import annotations

import importlib.util
import re
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from test_demos import DRAWN

from gpufluid.app.demos import demo_names, load_demo

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
CHARTS = {"performance.png", "performance-gpu.png"}  # by `make bench`


@pytest.fixture
def gallery(monkeypatch: pytest.MonkeyPatch) -> Any:
    """tools/gallery.py as a module."""
    spec = importlib.util.spec_from_file_location("gallery", ROOT / "tools" / "gallery.py")
    assert spec is not None and spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "gallery", tool)
    spec.loader.exec_module(tool)
    return tool


def test_every_picture_of_the_docs_has_a_row(gallery: Any) -> None:
    """And every row a picture, of its size, that a page shows."""
    kept = {f.relative_to(DOCS).as_posix() for pattern in ("*.png", "gallery/*") for f in DOCS.glob(pattern)}
    assert set(gallery.PICTURES) == kept - CHARTS
    shown = {
        place
        for page in DOCS.glob("*.md")
        for place in re.findall(r"!\[.*?\]\((.+?)\)", page.read_text(encoding="utf-8"))
    }
    assert set(gallery.PICTURES) <= shown
    for place, source in gallery.PICTURES.items():
        if isinstance(source, gallery.Shot):
            assert Image.open(DOCS / place).size == source.size, place


def test_every_demo_has_a_picture(gallery: Any) -> None:
    sources = gallery.PICTURES.values()
    shots = {source.demo for source in sources if isinstance(source, gallery.Shot)}
    programs = {source.file for source in sources if isinstance(source, gallery.Program)}
    assert all((ROOT / file).is_file() for file in programs)
    assert shots <= set(demo_names()) <= shots | {Path(file).stem for file in programs}


def test_it_draws_those_named(gallery: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two frames of one run, and what a program leaves."""
    program = tmp_path / "program.py"
    program.write_text(
        "import sys; from PIL import Image; Image.new('RGBA', (5, 4), 'red').save(sys.argv[1])"
    )
    table = {
        "late.png": gallery.Shot("stirring", 2, (64, 36)),
        "gallery/early.png": gallery.Shot("stirring", 1, (64, 36)),
        "dot.jpg": gallery.Program(str(program), "dot.png"),
        "other.png": gallery.Shot("no demo", 1),
    }
    monkeypatch.setattr(gallery, "PICTURES", table)
    monkeypatch.setattr(gallery, "load_demo", lambda name: partial(load_demo(name), cells=DRAWN[name]))
    gallery.main(["late", "early", "dot", "--out", str(tmp_path / "out")])
    late, early, dot = (np.asarray(Image.open(tmp_path / "out" / place)) for place in list(table)[:3])
    assert late.shape == early.shape == (36, 64, 3) and dot.shape == (4, 5, 3)
    assert late.std() > 30.0 and np.abs(late.astype(float) - early).mean() > 0.3


def test_it_tells_what_they_show(gallery: Any, capsys: pytest.CaptureFixture[str]) -> None:
    gallery.main(["--list", "plume", "candle"])
    told = capsys.readouterr().out
    assert re.search(r"plume.png +demo plume, frame \d+, 960 x 540\n", told)
    assert re.search(r"gallery/candle.jpg +demos/candle.py *\n", told)
    with pytest.raises(SystemExit):
        gallery.main(["--list", "camp_fire"])
    assert "no picture is called 'camp_fire'; did you mean 'campfire'?" in capsys.readouterr().err
