"""The studio with several boxes and mesh files, driven under Xvfb; see boxes_session.py."""

from __future__ import annotations

from typing import Any

import pytest
from xvfb import needs_the_studio, session_of

pytestmark = needs_the_studio
session = session_of("boxes_session.py")


def test_objects_go_into_the_chosen_box(session: dict[str, Any]) -> None:
    assert session["box"] == 1
    assert session["added"] == [[0, 1], ["fluids", 1, "obstacles", 0]]
    assert session["inside"], "it lies in the first box"
    assert session["picked"] == [["fluids", 0, "emitters", 0], 0], "picking does not choose the box"


def test_meshes_are_added_from_files(session: dict[str, Any]) -> None:
    missing, bad, _ = session["said"]
    assert missing.startswith("mesh file /") and missing.endswith("/none.obj does not exist")
    assert bad.endswith("/bad.obj holds no triangles")
    assert session["meshes"] == [["Mesh"], ["Sphere"]], "a bad file has left something"
    assert session["fitted"] == pytest.approx(0.4 * 0.72)
    assert session["solid"] > 5.0
    assert session["undone"] == 0
    assert session["dialog"].endswith("chosen.obj")
    assert session["surface"] == ["Sphere", "Surface"]


def test_the_window_shows_the_picture_as_it_is_drawn(session: dict[str, Any]) -> None:
    assert session["upright"] < 2.0, "it stands on its head"


def test_a_view_shows_the_chosen_box(session: dict[str, Any]) -> None:
    first, second = session["viewed"]
    assert second > 5.0 > 10.0 * first
    assert session["views"] == session["views_again"] == ["box 2"]


def test_a_view_is_changed_undone_and_saved(session: dict[str, Any]) -> None:
    changed, undone = session["opacity"]
    assert changed == pytest.approx(0.6, abs=0.05) and undone == 1.0
    box, first, second = session["every_box"]
    assert box is None and first > 5.0 and second > 5.0
    box, first, second = session["one_box"]
    assert box == "box 2" and second > 5.0 > 10.0 * first
    assert session["hidden"][0] is False and max(session["hidden"][1:]) < 0.5
    assert session["no_view"][0] == 0 and max(session["no_view"][1:]) < 0.5
    assert session["left"] == ["SliceView"]
    assert session["saved_views"] == [{"kind": "slice", "box": "box 2"}]


def test_a_view_that_cannot_be_drawn_is_hidden(session: dict[str, Any]) -> None:
    shown, said = session["failing"]
    assert not shown and said.startswith("Scene.views[1]: what it starts from lies in no box that it shows")


def test_a_chart_lies_over_the_window(session: dict[str, Any]) -> None:
    boxes, first, second = session["chart"]
    assert boxes == [1] and min(first, second) > 5.0


def test_another_grid_for_the_chosen_box(session: dict[str, Any]) -> None:
    assert session["shown_cells"] == [12, 18, 12], "the panel shows the cells of another box"
    assert session["rebuilt"] == [[14, 18, 12], [8, 12, 8]]
    assert session["again"] == [[6, 9, 6], [8, 12, 8]], "a restart forgets the other box's grid"
    assert [size[1] for size in session["sizes"]] == [pytest.approx(1.08)] * 2
    assert session["kept"] == [[1, 2], [1, 1]]


def test_the_passes_of_all_boxes_are_timed(session: dict[str, Any]) -> None:
    assert {"divergence x2", "light x2", "tone map"} <= set(session["passes"])


def test_a_screen_of_twice_the_scale(session: dict[str, Any]) -> None:
    assert session["large"] == [True, True]


def test_a_scene_is_read_again_when_its_file_is_saved(session: dict[str, Any]) -> None:
    assert session["live"] == [True, 0.02, 1]
    kept, said, title = session["mistaken"]
    assert kept and said == "gpufluid: scene.toml: dt: expected float, got str"
    assert said.removeprefix("gpufluid: ") in title and "expected" not in session["mended"]


def test_a_mesh_from_a_file_is_saved_by_its_name(session: dict[str, Any]) -> None:
    (obstacle,) = session["saved"][0]
    assert obstacle["shape"] == {"kind": "mesh", "file": "wedge.obj", "fit": pytest.approx(0.288)}
    assert session["loaded"] == [["Mesh"], ["Sphere"]]
