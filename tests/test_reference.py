"""The API reference: it builds without a warning, and every public name in it says what it takes."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, is_dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import gpufluid

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "reference"
SPHINX = ("-b", "html", "-W", "--keep-going", "-n", "-q")  # warnings are errors, and so are links to nothing

# What raises GpufluidError for bad input wherever it is called.
CHECKS = {
    *(
        "color_triple",
        "finite_number",
        "finite_triple",
        "flag",
        "share",
        "one_of",
        "check_size",
        "whole_number",
        "several",
        "checked_array",
        "check_file",
    ),
    *(
        "check_output",
        "check_new_file",
        "check_picture",
        "check_folder",
        "whole_file",
        "named_file",
        "view_of",
    ),
}
ARRAY = re.compile(r"NDArray|ArrayLike|FloatArray|Floats\b|Matrix\b")
SHAPE = re.compile(r"\[[^\]]*\w[^\]]*\]|\d x \d")  # [n, 3]
OWN_WORDS = {"self", "cls"}
# What mean the same everywhere, and the first page of the reference says what.
USUAL = {"box", "ctx", "dt", "fluid", "linear", "overwrite", "path", "shot", "target", "visible"}


@dataclass(frozen=True)
class Entry:
    """What a page asks for. inherited: with what it inherits. made: by the engine alone."""

    name: str
    inherited: bool = False
    made: bool = False

    @property
    def thing(self) -> Any:
        """The class or function."""
        module, _, name = self.name.rpartition(".")
        return getattr(import_module(module), name)


def entries() -> list[Entry]:
    """All entries of the reference's pages."""
    found: list[Entry] = []
    for page in sorted(REFERENCE.glob("*.md")):
        module = ""
        for line in page.read_text(encoding="utf-8").splitlines():
            if asked := re.match(r"\.\. currentmodule:: (\S+)", line):
                module = asked[1]
            elif asked := re.match(r"\.\. auto(?:class|function):: (\w+)(\(\))?", line):
                found.append(Entry(f"{module}.{asked[1]}", made=bool(asked[2])))
            elif line.strip().startswith(":inherited-members:"):
                found[-1] = replace(found[-1], inherited=True)
    return found


def parts(entry: Entry) -> Iterator[tuple[str, Any, str]]:
    """(name, function or class or property, docstring) of an entry and of all that is public in it."""
    thing = entry.thing
    if not entry.made:
        yield entry.name, thing, own_doc(thing)
    if not inspect.isclass(thing):
        return
    for base in thing.__mro__ if entry.inherited else (thing,):
        for name, value in vars(base).items() if base.__module__.startswith("gpufluid") else ():
            value = getattr(value, "__func__", value)
            if not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)):
                yield f"{entry.name}.{name}", value, own_doc(value)


def own_doc(thing: Any) -> str:
    """Its docstring, or "" where it has none but what dataclasses write by themselves."""
    doc = inspect.getdoc(thing) or ""
    if inspect.isclass(thing) and doc.startswith(f"{thing.__name__}("):
        return ""
    return doc


def takes(thing: Any) -> list[str]:
    """Names of its parameters."""
    if isinstance(thing, property) or (
        inspect.isclass(thing) and not inspect.isfunction(inspect.unwrap(thing.__init__))
    ):
        return []
    names = inspect.signature(inspect.unwrap(thing)).parameters
    return [name for name in names if name not in OWN_WORDS and not name.startswith("_")]


def source_of(thing: Any) -> ast.AST:
    """Its syntax tree; of a class, that of what checks the values it is made with."""
    if isinstance(thing, property):
        thing = thing.fget
    if inspect.isclass(thing):
        trees = []
        for name in ("__init__", "__post_init__"):
            method = inspect.unwrap(vars(thing).get(name, len))
            if inspect.isfunction(method) and method.__code__.co_filename != "<string>":
                trees.append(source_of(method))
        return ast.Module(trees, [])  # type: ignore[arg-type]
    return ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(thing))))


def named_in(doc: str) -> set[str]:
    """What a docstring speaks of by its name: "cells: how many", "`cells`", or "cells (> 0): how many"."""
    labels = re.findall(r"((?:\w+(?: \([^)]*\))?, )*\w+(?: \([^)]*\))?):(?=\s)", doc)
    quoted = re.findall(r"`([^`]*)`", doc)
    return set(re.findall(r"\w+", " ".join([*labels, *quoted])))


def raises(thing: Any) -> bool:
    """Whether its own lines raise an error of the engine, or call what does for bad input."""
    for node in ast.walk(source_of(thing)):
        if (
            isinstance(node, ast.Raise)
            and node.exc is not None
            and re.search(r"\w+Error", ast.unparse(node.exc))
        ):
            return True
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in CHECKS:
            return True
    return False


def annotations_of(thing: Any) -> str:
    """All types that its signature names."""
    if isinstance(thing, property):
        thing = thing.fget
    return str(inspect.signature(inspect.unwrap(thing)))


def lacks(name: str, thing: Any, doc: str) -> list[str]:
    """What the docstring of `thing` does not say and should."""
    if not doc:
        return [f"{name} has no docstring"]
    found = []
    words = named_in(doc) | USUAL
    for other in re.findall(
        r"`(?:gf\.|gpufluid\.)?(\w+)(?:\.\w+)*`", doc
    ):  # what another entry is said to say
        if other in gpufluid.__all__:
            words |= named_in(own_doc(getattr(gpufluid, other)))
    unsaid = [parameter for parameter in takes(thing) if parameter not in words]
    if unsaid:
        found.append(f"{name} says nothing of {', '.join(unsaid)}")
    if raises(thing) and not re.search(r"\b[Rr]aises?\b", doc):
        found.append(f"{name} raises, and does not say so")
    if not inspect.isclass(thing) and ARRAY.search(annotations_of(thing)) and not SHAPE.search(doc):
        found.append(f"{name} takes or returns an array, and gives no shape")
    return found


def test_every_public_name_has_an_entry() -> None:
    names = [entry.name for entry in entries()]
    assert {f"gpufluid.{name}" for name in gpufluid.__all__} - set(names) == set()
    assert len(names) == len(set(names))


def test_no_constructor_takes_a_private_name() -> None:
    classes = [entry.thing for entry in entries() if is_dataclass(entry.thing)]
    taken = {made.__name__: inspect.signature(made).parameters for made in classes}
    assert len(taken) > 20
    assert [(cls, name) for cls, names in taken.items() for name in names if name.startswith("_")] == []


def test_what_is_usual_is_said_once() -> None:
    index = (REFERENCE / "index.md").read_text(encoding="utf-8")
    assert [word for word in USUAL if f"`{word}`" not in index] == []


def test_every_entry_says_what_it_takes_and_raises() -> None:
    found = [line for entry in entries() for part in parts(entry) for line in lacks(*part)]
    assert found == [], "\n".join(found)


def test_the_pages_build_without_a_warning(tmp_path: Path) -> None:
    made, trees = tmp_path / "site", tmp_path / "trees"
    done = subprocess.run(
        [*(sys.executable, "-m", "sphinx"), *SPHINX, "-d", str(trees), str(ROOT / "docs"), str(made)],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    pages = "".join(page.read_text(encoding="utf-8") for page in made.glob("reference/*.html"))
    missing = [entry.name for entry in entries() if f'id="{entry.name}"' not in pages]
    assert missing == []
    assert 'id="gpufluid.Fluid.step"' in pages
    assert "<dt>" in pages  # parameters are lists, not prose


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_every_page_is_in_the_index(page: Path) -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert page.stem == "index" or re.search(rf"^{page.stem}$", index, re.MULTILINE)
