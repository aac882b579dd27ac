"""Names and copies in the studio, and how long it tells what; see names_session.py."""

from __future__ import annotations

import difflib
import time
from typing import Any

import pytest
from xvfb import needs_the_studio, session_of

from gpufluid.app.twice import STANDS, Message, Twice

NAMES = ["left", "source", "sparks"]


session = session_of("names_session.py")


@needs_the_studio
def test_a_double_click_asks_for_a_name_and_enter_keeps_it(session: dict[str, Any]) -> None:
    ball = ["fluids", 0, "obstacles", 0]
    assert session["asked"] == [ball, ball]
    assert session["renamed"] == [["left", "moons", "source", "sparks"], None, 1, True]
    assert session["letters"] == [[], 0], "what was typed did something else"
    assert session["undone"] == ["ball", *NAMES]
    assert session["redone"] == ["left", "moons", "source", "sparks"]


@needs_the_studio
def test_a_name_that_cannot_be_says_why_and_changes_nothing(session: dict[str, Any]) -> None:
    said, path, closing, names, edits = session["refused"]
    ball = ["fluids", 0, "obstacles", 0]
    assert said[:2] == ["'source' is taken already", ball], "it closes before it can be mended"
    assert said[2:4] == ["a name must not be empty", ball]
    assert said[4].startswith("a name must be without '.'")
    assert (path, closing) == (None, False), "escape closes the window, not the field"
    assert names == session["redone"] and edits == 1
    assert session["given_up"] == [None, names]


@needs_the_studio
def test_the_list_is_scrolled_to_where_a_name_is_asked_for(session: dict[str, Any]) -> None:
    assert session["scrolled"] == [True, True, True]


@needs_the_studio
def test_a_click_elsewhere_keeps_the_name(session: dict[str, Any]) -> None:
    names, selected, listed = session["kept"]
    assert names == ["lamp", "left", "moons", "source", "sparks"] and listed
    assert selected == ["fluids", 0, "emitters", 0]


@needs_the_studio
def test_a_copy_is_beside_the_first_and_can_be_moved_at_once(session: dict[str, Any]) -> None:
    assert session["copied"] == [2, ["fluids", 0, "obstacles", 1], True]
    first, copy = session["beside"]
    assert copy[1:] == first[1:] and 0.12 < copy[0] - first[0] < 0.2
    unmoved, dragged = session["dragged"]
    assert unmoved == first and dragged[1] < copy[1] - 0.02
    assert session["two_edits"] == 2
    assert session["uncopied"] == [1, ["lamp", "left", "moons", "source", "sparks"], None]
    again, names = session["copied_again"]
    assert again == [unmoved, dragged] and "moons 2" in names
    (one, two), selected = session["button"]
    assert selected == ["fluids", 0, "emitters", 1] and two[0] != one[0] and two[1:] == one[1:]


@needs_the_studio
def test_boxes_and_views_have_names_too(session: dict[str, Any]) -> None:
    assert session["box"] == [["room", "box 2"], ["room"]]
    chosen, names, selected, three, two, asked = session["view"]
    assert chosen == asked == ["views", 0] and selected == ["views", 1]
    assert {"glow", "glow 2", "room"} <= set(names) and not {"sparks", "left"} & set(names)
    assert (three, two) == (3, 2)


@needs_the_studio
def test_all_of_it_is_saved_in_place_and_read_again(session: dict[str, Any]) -> None:
    from names_session import SCENE

    assert session["said"].startswith("wrote ")
    names, *counts = session["reset"]
    assert [[name for name in names if name != "glow 3"], *counts] == session["reloaded"]
    names, balls, views = session["reloaded"]
    assert names == ["glow", "glow 2", "lamp", "moons", "moons 2", "room", "source", "source 2"]
    assert balls == [2, 0] and views == 2
    told = [*difflib.ndiff(SCENE.splitlines(), session["text"].splitlines())]
    gone = [line[2:] for line in told if line[0] == "-"]
    came = [line[2:] for line in told if line[0] == "+"]
    assert gone == ['name = "left"     # as one looks', 'name = "ball"', 'name = "sparks"', 'box = "left"']
    assert {'name = "room"     # as one looks', 'name = "moons"', 'name = "glow"', 'box = "room"'} <= set(
        came
    )
    assert came.count('density = { formula = "3 + t" }') == 1, "the copy forgets the formula"
    assert session["text"].count("# where the smoke is") == 1


@needs_the_studio
def test_a_message_stands_from_when_it_is_seen_and_under_the_pointer(session: dict[str, Any]) -> None:
    (unseen, rest), held, gone = session["told"]
    assert unseen is None and STANDS - 4.0 < rest < STANDS
    assert held < 0.5 < gone


def test_a_message_waits_for_the_picture_that_shows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    now, said = 100.0, list[str]()
    monkeypatch.setattr(time, "perf_counter", lambda: now)
    message = Message()

    def say(text: str) -> None:
        said.append(text)
        message.say(text)

    asked = Twice(message, say)
    assert not message.stands
    assert not asked.agreed("lost")
    now += 60.0  # a slow picture
    assert message.stands and asked.stands("lost")
    message.seen(False)
    now += STANDS - 0.1
    assert message.stands and asked.stands("lost")
    message.seen(True)
    now += 60.0
    assert message.stands, "it goes from under the pointer"
    message.seen(False)
    assert not message.stands and not asked.stands("lost")
    assert not asked.agreed("lost") and asked.agreed("lost") and said == ["lost", "lost"]
    assert not asked.agreed("lost")
    message.say("another")
    assert not asked.agreed("lost"), "it counts though nobody can read it any more"
