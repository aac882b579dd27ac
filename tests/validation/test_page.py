"""The page of the validation: what passes, and when it is written (these run with the other tests)."""

from __future__ import annotations

import math
from pathlib import Path

import page
import pytest
from page import ORDER, Case, Collector, Plot, Row, at_most, within


def case(name: str, got: float = 1.0) -> Case:
    """A case of one number and one picture."""
    return Case(
        name,
        f"Title {name}",
        "How.",
        [within("a number", 1.0, "someone 1900", got, 0.1, "because")],
        [Plot(name, "a picture", lambda path: path.write_bytes(b"drawn") and None)],
    )


@pytest.fixture
def collector(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Collector:
    """A collector that writes elsewhere."""
    monkeypatch.setattr(page, "machine", lambda: "MACHINE")
    return Collector([].append, tmp_path)


def test_bounds() -> None:
    for got, passed in ((0.9, True), (1.1, True), (0.89, False), (1.11, False), (math.nan, False)):
        assert within("x", 1.0, "", got, 0.1, "").passed == passed
    for got, passed in ((-5.0, True), (2.0, True), (2.1, False), (math.nan, False)):
        assert at_most("x", 2.0, got, "").passed == passed
    assert within("x", -0.2, "", -0.21, 0.1, "").passed
    assert Row("x", "", 3.0, 2.0, math.inf, "").bounds == "at least 2"


def test_a_whole_run_writes_the_page(collector: Collector) -> None:
    for name in reversed(ORDER):
        collector.add(case(name))
    assert collector.finish()
    text = (collector.docs / "validation.md").read_text(encoding="utf-8")
    assert [line[9:] for line in text.splitlines() if line.startswith("## ")] == list(ORDER)
    assert "MACHINE" in text
    assert f"{len(ORDER)} numbers, {len(ORDER)} within bounds" in text
    assert text.count("| a number | 1 (someone 1900) | 1 | 0.9 to 1.1 | because | yes |") == len(ORDER)
    for name in ORDER:
        assert f"![a picture](validation/{name}.png)" in text
        assert (collector.docs / "validation" / f"{name}.png").read_bytes() == b"drawn"


def test_a_partial_run_leaves_it(collector: Collector) -> None:
    for name in ORDER[1:]:
        collector.add(case(name))
    assert not collector.finish()
    assert collector.missing == [ORDER[0]]
    assert not list(collector.docs.iterdir())


def test_a_number_out_of_bounds_fails_and_is_shown(collector: Collector) -> None:
    for name in ORDER[1:]:
        collector.add(case(name))
    with pytest.raises(AssertionError, match=r"cavity: a number: got 2, allowed 0.9 to 1.1"):
        collector.add(case("cavity", 2.0))
    assert collector.finish()
    text = (collector.docs / "validation.md").read_text(encoding="utf-8")
    assert f"{len(ORDER)} numbers, {len(ORDER) - 1} within bounds" in text
    assert "| a number | 1 (someone 1900) | 2 | 0.9 to 1.1 | because | **no** |" in text


def test_every_case_has_its_test() -> None:
    names = {path.stem.removeprefix("test_") for path in Path(__file__).parent.glob("test_*.py")}
    assert names - {"page", "polar"} == set(ORDER)  # those two run with the other tests
