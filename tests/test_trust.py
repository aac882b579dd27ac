"""The page of promises: every row names tests, and those are there and run."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
PAGE = TESTS.parent / "docs" / "trust.md"
TEST = re.compile(r"`([\w/]+\.py)::((?:Test\w+::)?test_\w+)`")
VALIDATION = "⁽ᵛ⁾"


@functools.cache
def collected_from(file: Path) -> dict[str, list[str]]:
    """The tests that pytest collects from a file, each with its decorators."""
    found = {}
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        inside = node.body if isinstance(node, ast.ClassDef) and node.name.startswith("Test") else [node]
        for test in inside:
            if isinstance(test, ast.FunctionDef) and test.name.startswith("test_"):
                name = f"{node.name}::{test.name}" if isinstance(node, ast.ClassDef) else test.name
                found[name] = [ast.unparse(decorator) for decorator in test.decorator_list]
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
        for file, test in named:
            path = TESTS / file
            if not path.is_file() or test not in collected_from(path):
                found.append(f"{promise}: there is no {file}::{test}")
            elif any(
                "skip(" in decorator or "xfail" in decorator for decorator in collected_from(path)[test]
            ):
                found.append(f"{promise}: {file}::{test} is skipped or may fail")
            elif (path.parent.name == "validation") != (VALIDATION in promise):
                found.append(f"{promise}: make validate alone runs {file}, and {VALIDATION} says so")
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
        ("| it flies | `validation/test_cavity.py::test_cavity` | |", "make validate alone runs"),
        ("| it flies | `test_trust.py::test_every_promise_is_held` |", "2 cells"),
    ],
)
def test_a_promise_that_nothing_holds_is_seen(row: str, says: str) -> None:
    (found,) = breaches(f"| promise | held by | more |\n| --- | --- | --- |\n{row}\n")
    assert says in found
