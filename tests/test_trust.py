"""The page of promises: every row names tests, and those are there and run."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
PAGE = TESTS.parent / "docs" / "trust.md"
TEST = re.compile(r"`([\w/]+\.py)::((?:Test\w+::)?test_\w+)`( ⁽[ᵛˢ]⁾)?")
MARKS = {"validation": " ⁽ᵛ⁾", "soak": " ⁽ˢ⁾"}  # of tests that `make test` leaves to others
PAGES = ("embedding", "scripting", "physics", "performance", "troubleshooting")


@functools.cache
def collected_from(file: Path) -> dict[str, list[str]]:
    """The tests that pytest collects from a file, each with its decorators and the file's own marks."""
    found, body = {}, ast.parse(file.read_text(encoding="utf-8")).body
    given = [n for n in body if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "pytestmark"]
    of_all = [ast.unparse(node.value) for node in given]
    for node in body:
        inside = node.body if isinstance(node, ast.ClassDef) and node.name.startswith("Test") else [node]
        for test in inside:
            if isinstance(test, ast.FunctionDef) and test.name.startswith("test_"):
                name = f"{node.name}::{test.name}" if isinstance(node, ast.ClassDef) else test.name
                found[name] = of_all + [ast.unparse(decorator) for decorator in test.decorator_list]
    return found


def promises(text: str) -> list[list[str]]:
    """The cells of every row below the head of a table."""
    rows, in_table = [], False
    for line in text.splitlines():
        if re.fullmatch(r"\|( --- \|)+", line):
            in_table = True
        elif not line.startswith("|"):
            in_table = False
        elif in_table:
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def breaches(text: str) -> list[str]:
    """What is wrong with the rows of the page `text`."""
    found = []
    for row in promises(text):
        if len(row) != 3:
            found.append(f"{row[0]}: {len(row)} cells, not promise, tests and where to read more")
            continue
        promise, held, _ = row
        named = TEST.findall(held)
        if not named:
            found.append(f"{promise}: no test is named")
        if re.sub(r"[,\s]", "", TEST.sub("", held)):
            found.append(f"{promise}: more than names of tests: {held}")
        for file, test, mark in named:
            path = TESTS / file
            if not path.is_file() or test not in collected_from(path):
                found.append(f"{promise}: there is no {file}::{test}")
                continue
            decorators = " ".join(collected_from(path)[test])
            expected = next((MARKS[name] for name in MARKS if f"mark.{name}" in decorators), "")
            if re.search(r"skip\(|xfail", decorators):
                found.append(f"{promise}: {file}::{test} is skipped or may fail")
            elif mark != expected:
                found.append(f"{promise}: {file}::{test} must be marked{expected or ' by nothing'}")
    return found


def test_every_promise_is_held() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert breaches(text) == []
    assert len(promises(text)) > 40


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("| it flies | | |", "no test is named"),
        (
            "| it flies | `test_trust.py::test_that_it_flies` | |",
            "there is no test_trust.py::test_that_it_flies",
        ),
        ("| it flies | `test_wings.py::test_every_promise_is_held` | |", "there is no test_wings.py"),
        (
            "| it flies | `test_trust.py::test_every_promise_is_held`, and luck | |",
            "more than names of tests",
        ),
        ("| it flies | `validation/test_cavity.py::test_cavity` | |", "must be marked ⁽ᵛ⁾"),
        ("| it flies | `test_soak.py::test_200_lives` ⁽ᵛ⁾ | |", "must be marked ⁽ˢ⁾"),
        ("| it flies | `test_trust.py::test_every_promise_is_held` ⁽ˢ⁾ | |", "must be marked by nothing"),
        ("| it flies | `test_trust.py::test_every_promise_is_held` |", "2 cells"),
    ],
)
def test_a_promise_that_nothing_holds_is_seen(row: str, says: str) -> None:
    (found,) = breaches(f"| promise | held by | more |\n| --- | --- | --- |\n{row}\n")
    assert says in found


def anchors(page: Path) -> set[str]:
    """The headings of a page, as links name them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_what_it_points_to_is_there() -> None:
    links = re.findall(r"\]\(([^)#]+)(?:#([^)]+))?\)", PAGE.read_text(encoding="utf-8"))
    assert len(links) > 30
    for file, anchor in links:
        page = PAGE.parent / file
        assert page.is_file(), file
        assert not anchor or anchor in anchors(page), f"{file} has no {anchor}"
    told = (PAGE.parent / "index.md").read_text(encoding="utf-8")
    for name in PAGES:
        assert (PAGE.parent / f"{name}.md").is_file() and name in told
