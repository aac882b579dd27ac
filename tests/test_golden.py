"""The helper that compares pictures sees what it is there to see."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import golden
import numpy as np
import pytest
from PIL import Image

LLVMPIPE: Any = SimpleNamespace(info={"GL_RENDERER": "llvmpipe (LLVM 15)"})
OTHER: Any = SimpleNamespace(info={"GL_RENDERER": "Some GPU"})


@pytest.fixture
def picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> golden.Picture:
    """A picture, and a folder that holds it as golden."""
    monkeypatch.setattr(golden, "FOLDER", tmp_path)
    monkeypatch.setattr(golden, "FAILED", tmp_path / "failed")
    monkeypatch.delenv(golden.WRITE, raising=False)
    made = rng.integers(0, 200, (9, 16, 3)).repeat(10, 0).repeat(10, 1).astype(np.uint8)
    Image.fromarray(made).save(tmp_path / "blocks.png")
    return made


def test_the_same_and_nearly_the_same_pass(picture: golden.Picture) -> None:
    golden.assert_golden("blocks", picture, LLVMPIPE)
    golden.assert_golden("blocks", picture + 1, LLVMPIPE)


@pytest.mark.parametrize("change", ["spot", "shifted", "flipped", "darker", "brighter"])
def test_another_picture_fails_and_is_shown(picture: golden.Picture, change: str) -> None:
    other = picture.copy()
    if change == "spot":
        other[40:50, 60:70] = 255 - other[40:50, 60:70]
    else:
        other = {
            "shifted": np.roll(picture, 2, 1),
            "flipped": picture[::-1],
            "darker": picture // 2,
            "brighter": picture + 2,
        }[change]
    with pytest.raises(AssertionError, match="structural similarity"):
        golden.assert_golden("blocks", other, LLVMPIPE)
    shown = np.asarray(Image.open(golden.FAILED / "blocks.png"))
    assert shown.shape == (90, 480, 3)
    np.testing.assert_array_equal(shown[:, 160:320], other)


def test_other_renderers_are_held_to_statistics(picture: golden.Picture) -> None:
    golden.assert_golden("blocks", np.roll(picture, 2, 1), OTHER)
    with pytest.raises(AssertionError, match="blocks: mean"):
        golden.assert_golden("blocks", picture // 2, OTHER)


def test_a_missing_picture_is_an_error_and_can_be_written(
    picture: golden.Picture, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(AssertionError, match="there is no"):
        golden.assert_golden("new", picture, LLVMPIPE)
    monkeypatch.setenv(golden.WRITE, "write")
    golden.assert_golden("new", picture, LLVMPIPE)
    with pytest.raises(AssertionError, match="drawn by llvmpipe"):
        golden.assert_golden("new", picture, OTHER)
    monkeypatch.delenv(golden.WRITE)
    golden.assert_golden("new", picture, LLVMPIPE)
