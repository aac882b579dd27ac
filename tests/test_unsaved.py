"""What is changed in the studio and not saved is not lost unasked; see unsaved_session.py."""

from __future__ import annotations

from typing import Any

from xvfb import needs_the_studio, session_of

pytestmark = needs_the_studio
session = session_of("unsaved_session.py")


def test_without_the_panel_or_changes_nothing_is_asked(session: dict[str, Any]) -> None:
    assert session["without_panel"] and session["read_without_panel"]
    assert session["unchanged"] == [True, True]


def test_escape_and_the_button_of_the_window_ask_first(session: dict[str, Any]) -> None:
    lost = "2 unsaved changes would be lost: "
    assert session["escape"] == [False, f"{lost}press escape again to close", True]
    assert session["button"] == [False, f"{lost}close the window again", True]
    assert session["too_late"] == [False, False]
    assert session["another_question"][1].startswith("1 unsaved change would be lost: ")
    assert session["another_question"][0] is False, "it closes for what was said of more"


def test_reload_asks_first(session: dict[str, Any]) -> None:
    said = "1 unsaved change would be lost: press Reload again to reload"
    assert session["reload"] == [True, said, False, 0]


def test_a_file_saved_elsewhere_takes_no_changes_away(session: dict[str, Any]) -> None:
    kept, said, title = session["kept"]
    assert kept, "the changes are gone"
    assert said == (
        "scene.toml has changed: Reset reads it and keeps 1 unsaved change, Reload reads it without"
    )
    assert title == "session - scene.toml has changed"
    assert session["both"][:3] == [2, 1, False] and "changed" not in session["both"][3]
    assert session["file_only"] == [1, 0, False]


def test_what_is_saved_is_not_asked_for(session: dict[str, Any]) -> None:
    asked = "save again to replace it"
    assert session["saved"] == [True, True, 0], "its own file is not saved at once"
    assert session["over_other"] == [f"other.toml exists: {asked}", ""]
    assert session["undone"] == 1
    assert session["over_another"] == f"scene.toml has changed: {asked}"


def test_what_is_in_the_file_is_not_done_twice(session: dict[str, Any]) -> None:
    assert session["not_twice"] == 2 and session["undone_again"] == 1


def test_a_scene_saved_under_another_name_goes_by_that_file(session: dict[str, Any]) -> None:
    assert session["other"] == ["other.toml", 0]
    same_density, _, cells = session["other_read"]
    assert same_density and cells == [12, 18, 12]
    assert session["other_read"][1] == session["other_forces"], "what was not saved is there after a reload"
    assert session["other_said"] == "gpufluid: other.toml was reloaded"
    assert session["other_watched"] == [True, 2]


def test_a_rebuild_is_told_before_and_undone(session: dict[str, Any]) -> None:
    assert session["typed"], "it is told only when the field is left"
    assert session["foreseen"] == ["Rebuild: 1.44 x 0.96 x 0.72 m, cells of 0.12 m"]
    was, made, unsaved, undone, fewer, said, again, more = session["grids"]
    assert was == [[24, 36, 24], [0.96, 1.44, 0.96], 3]
    assert made == [[12, 8, 6], [1.44, 0.96, 0.72], 3] and unsaved == 2
    assert undone == was and fewer == 1 and said == "restarted with the other grid"
    assert again == [*made[:2], 4] and more == 3, "what was undone with it is not done again"


def test_what_can_do_nothing_is_greyed(session: dict[str, Any]) -> None:
    (undo, redo, remove, snap), changed = session["greyed"]
    assert max(undo, redo, remove) < 0.8 * snap
    assert "nothing to undo" not in session["undo_said"], "a button that is greyed was pressed"
    undo, redo, remove, snap = changed
    assert redo < 0.8 * snap < min(undo, remove)
