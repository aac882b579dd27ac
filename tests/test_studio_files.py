"""Files in the studio, and what the command line asks for, under Xvfb; see files_session.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from xvfb import needs_the_studio, report_of

pytestmark = needs_the_studio


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the session was held."""
    folder = tmp_path_factory.mktemp("session") / "scenes"
    folder.mkdir()
    return folder


@pytest.fixture(scope="module")
def session(folder: Path) -> dict[str, Any]:
    """What the session saw."""
    return report_of("files_session.py", folder)


def test_cells_of_the_command_line_do_not_become_the_scene(session: dict[str, Any]) -> None:
    cells, viscosity, wind, said = session["saved"]
    assert cells == "cells = [24, 36, 24]" and wind
    assert viscosity and said.endswith("with what --set has changed, without the cells of --cells")
    assert session["reset"] == [12, 18, 12], "the saved scene is built without them"
    again, said = session["saved_again"]
    assert again == "cells = [24, 36, 24]" and "--set" not in said and said.endswith("the cells of --cells")


def test_a_rebuild_makes_them_the_scenes(session: dict[str, Any]) -> None:
    assert session["told"] == ["cells by --cells, which are not saved; Rebuild makes them the scene's"]
    assert session["kept_by_hand"] == 1
    cells, said = session["rebuilt"]
    assert cells == "cells = [12, 18, 12]" and "--cells" not in said


def test_a_photograph_is_chosen_by_its_file(session: dict[str, Any], folder: Path) -> None:
    missing, bad = session["bad_plates"]
    assert missing == f"image file {folder / 'none.png'} does not exist"
    assert bad.startswith(f"image file {folder / 'bad.png'} cannot be read: it is none of PNG")
    assert session["untouched"], "a file that cannot be has changed the scene"
    assert session["plate"] == "Plate(16 x 8 pixels)"
    assert session["plate_saved"] == ['background = { file = "plate.png" }']
    shown = np.asarray(Image.open(folder / "plate_shown.png"))[200:240, 5:30]
    assert np.abs(shown.mean((0, 1)) - (40, 160, 220)).max() < 20.0, "it is not seen"


def test_a_path_is_pasted_and_undone(session: dict[str, Any]) -> None:
    assert session["pasted"] == "Plate(32 x 8 pixels)" and session["its_name"] == {"file": "folder/wide.png"}
    assert session["back"] == ["Plate(16 x 8 pixels)", {"file": "plate.png"}]
    assert session["color"] == [0.2, 0.2, 0.2]
    assert session["first"] == "studio"


def test_an_image_may_be_a_source(session: dict[str, Any]) -> None:
    assert session["image"] == ["Image", [0.384, 0.192]]


def test_an_array_is_a_source_or_a_force(session: dict[str, Any]) -> None:
    assert session["small"].startswith("'small.npy' is an array [2, 2, 2] of float64; one number or three")
    assert session["arrays"] == ["Array", "ForceField"]
    assert session["gust"] == [2.0, {"file": "gust.npy"}]
    assert session["gust_undone"] == [1.0, {"file": "wind.npy"}]
    assert session["array_dropped"] == "wind.npy: an array becomes a source or a force by Add ... in Objects"


def test_the_file_of_a_mesh_is_changed(session: dict[str, Any], folder: Path) -> None:
    assert session["gone"] == [True, f"mesh file {folder / 'gone.obj'} does not exist"]
    assert session["other"] == [False, 0.384], "it is not as large as the one before"
    assert session["files"] == [
        'shape = { kind = "image", file = "plate.png", size = [0.384, 0.192] }',
        'shape = { kind = "array", file = "mist.npy" }',
        'shape = { kind = "mesh", file = "folder/other.obj", fit = 0.384 }',
        'values = { file = "gust.npy" }',
    ]
    assert session["other_undone"]
    assert session["escaped"] == [0, "wedge.obj"]


def test_a_dialog_that_stays_open_holds_up_nothing(session: dict[str, Any]) -> None:
    assert session["dialogs"] == 1, "a second one is opened, and the window waits for the first"
    assert session["closed_in"] < 30.0, "the window waits for the dialog"


def test_files_are_dropped_on_the_window(session: dict[str, Any]) -> None:
    assert session["dropped_plate"] == "Plate(16 x 8 pixels)"
    assert session["dropped"] == ["Sphere", "Mesh"]
    assert "lies outside" in session["outside"], "nothing tells that it cannot be saved"
    assert session["unsaved"].endswith("it comes from no file in the scene's folder")
    assert session["note"] == "note.txt: what is dropped here must be a mesh, a picture, or a scene (.toml)"


def test_a_scene_that_is_dropped_is_opened(session: dict[str, Any]) -> None:
    title, said = session["asked"]
    assert title == "session" and said.endswith("would be lost: drop next.toml once more to open it")
    assert session["opened"] == ["next", 0]
    assert session["wrong"][0] == "next" and "wrong.toml: dt: expected" in session["wrong"][1]
    assert session["next_saved"] == [True, "dt = 'long'\n"], "it is saved over what could not be opened"
