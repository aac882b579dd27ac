"""Sides that change in the studio; see sides_session.py."""

from __future__ import annotations

from typing import Any

import pytest
from xvfb import needs_the_studio, session_of

pytestmark = needs_the_studio
session = session_of("sides_session.py")


def test_there_are_rows_for_what_may_change(session: dict[str, Any]) -> None:
    assert session["rows"] == [
        *("##density", "##temperature", "##temperature on", "##velocity", "##velocity x, z", "ambient")
    ]
    assert session["inside"], "rows end outside the window"


def test_in_2d_nothing_moves_along_z(session: dict[str, Any]) -> None:
    assert session["flat"] == [
        *("##density", "##temperature on", "##velocity x", "##velocity x, y", "ambient")
    ]


def test_a_drag_changes_a_side_while_the_flow_runs(session: dict[str, Any]) -> None:
    velocity, edits, unsaved = session["gust"]
    assert velocity[0] > 1.2 and velocity[1:] == [0.0, 0.0]
    assert edits == unsaved == 1
    assert session["stays"], "the file's formula took it back"
    told, found = session["blows"]
    assert found == pytest.approx(told, rel=1e-5)
    x, y, z = session["belt"]
    assert x == y == 0.0 and z > 0.2
    assert session["density"] == pytest.approx(2.5, abs=0.1)


def test_it_is_undone_and_redone_and_made_again(session: dict[str, Any]) -> None:
    assert session["undone"] == [[0.0, 0.0, 0.0], True]
    assert session["redone"] == session["belt"]
    assert session["again"] == [True, session["gust"][0], session["belt"]]


def test_it_is_saved_where_it_was_told(session: dict[str, Any]) -> None:
    unsaved, (_, tunnel) = session["saved"]
    assert unsaved == 0
    assert tunnel["sides"]["left"] == {"kind": "inflow", "velocity": session["gust"][0]}
    assert tunnel["sides"]["bottom"] == {"kind": "wall", "temperature": 0.5, "velocity": session["belt"]}
    assert "   # a gust\n" in session["text"] and "   # warm\n" in session["text"]
