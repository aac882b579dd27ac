"""What a scene is as a description, and one saved over its own: for the tests of what its text becomes."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any

import gpufluid as gf
from gpufluid.scene.saving import _Told, save_description


def description_of(scene: gf.Scene) -> dict[str, Any]:
    """What `scene` is now as the plain values of a description."""
    return _Told.of(scene).brief()


def saved(scene: gf.Scene, path: Path) -> tuple[list[str], list[str]]:
    """Save it; the lines that went, and those that came. What is read again is the same scene."""
    before = path.read_text().splitlines()
    save_description(scene, path, overwrite=True)
    told = [*difflib.ndiff(before, path.read_text().splitlines())]
    again = gf.Scene.load(path, backend="numpy")
    assert description_of(again) == description_of(scene)
    again.release()
    return [line[2:] for line in told if line[0] == "-"], [line[2:] for line in told if line[0] == "+"]
