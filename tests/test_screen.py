"""The studio on a screen of two pixels a unit, and minimised; see screen_session.py."""

from __future__ import annotations

from typing import Any

import pytest
from xvfb import needs_the_studio, session_of

pytestmark = needs_the_studio
session = session_of("screen_session.py")


def test_picture_and_panel_have_all_pixels(session: dict[str, Any]) -> None:
    pixels, units, panel, picture = session["sizes"]
    assert pixels == [780, 560] and units == [390, 280]
    assert panel == pytest.approx(2 * 0.65 * 390, abs=1.0)
    assert picture == [780 - panel, 560]


def test_clicks_and_drags_land_where_the_pointer_is(session: dict[str, Any]) -> None:
    assert session["paused"], "the panel's button was missed"
    assert session["beside"] is None
    assert session["picked"] == ["fluids", 0, "obstacles", 0]
    # grabbed on its near side, the ball's middle lags a little behind the pointer's 20 pixels
    assert session["dragged"] == [pytest.approx(19.0, abs=1.5), pytest.approx(0.0, abs=0.5)]


def test_the_panel_can_be_read(session: dict[str, Any]) -> None:
    """Letters are twice as large in pixels, and drawn with all of them: no row of text repeats the next."""
    assert session["button"][1] == pytest.approx(42, abs=2)
    rows, columns = session["letters"]
    assert 18 <= rows <= 30 and columns > 60
    assert session["fine_rows"] > 1.0


def test_a_minimised_window_sleeps_and_wakes(session: dict[str, Any]) -> None:
    advanced, ticks = session["asleep"]
    assert advanced == 0 and ticks < 20
    assert session["while_minimised"] == [0, 0]
    assert session["busy"] < 0.2, "it is busy while nobody can see it"
    assert session["awake"] >= 2
    size, spread = session["seen_again"]
    assert size == [780, 560] and spread > 10.0
    assert session["filmed"] == ["screen-0001.mp4"]
