"""The names that calls of kernels give, as the package's source has them: they are those declared."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import gpufluid
from gpufluid.contract import arguments
from gpufluid.contract.kernels import KERNELS, Kernel, Variant

PACKAGE = Path(gpufluid.__file__).parent
# what is handed on whole, by the names that it has in the package
WHOLE = {
    "faces": arguments.Faces,
    "cells": arguments.Cells,
    "solids": arguments.FacesAndCells,
    "openings": arguments.Openings,
    "heat": arguments.Heat,
    "swelling": arguments.Swelling,
    "image": arguments.Image,
}
SOLIDS = {*arguments.FacesAndCells.__annotations__, "openings"}  # read only where there are some


def every_name(kernel: Kernel) -> set[str]:
    """The names that some variant of `kernel` takes."""
    variants = [Variant(), Variant(weighted=True), Variant(weighted=True, solids=True)]
    variants.append(Variant(solids=True, slip=True, dyed=True, reflected=True))
    return set().union(*map(kernel.arguments, variants))


def calls(source: str) -> Iterator[tuple[int, str, set[str], set[str]]]:
    """Yield line, kernel, the names given one by one, and those of what is handed on whole.

    Of a call that hands on something else whole there are no names of the last kind but "?".
    """
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        of = node.func
        if isinstance(of, ast.Attribute) and of.attr in ("bound", "repeat", "within"):
            of = of.value
        if not (isinstance(of, ast.Call) and of.args and isinstance(of.args[0], ast.Constant)):
            continue
        asked = of.func.attr if isinstance(of.func, ast.Attribute) else getattr(of.func, "id", "")
        if asked not in ("run", "kernel"):
            continue
        own = {word.arg for word in node.keywords if word.arg is not None}
        handed: set[str] = set()
        for word in node.keywords:
            if word.arg is None:
                name = getattr(word.value, "attr", getattr(word.value, "id", ""))
                handed |= set(WHOLE[name].__annotations__) if name in WHOLE else {"?"}
        yield node.lineno, str(of.args[0].value), own, handed


def wrong(source: str) -> list[str]:
    """What no variant of a kernel takes, and what a call that names all lacks."""
    found = []
    for line, name, own, handed in calls(source):
        if name not in KERNELS:
            found.append(f"{line}: no kernel {name}")
            continue
        kernel = KERNELS[name]
        found += [f"{line}: {name} takes no {one}" for one in (own | handed) - every_name(kernel) - {"?"}]
        if "?" not in handed:
            missing = kernel.arguments(Variant()) - own - handed - SOLIDS
            found += [f"{line}: {name} lacks {one}" for one in missing]
    return found


MODULES = sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))


def test_calls_name_what_kernels_take() -> None:
    found = {str(path): wrong((PACKAGE / path).read_text(encoding="utf-8")) for path in MODULES}
    assert {path: names for path, names in found.items() if names} == {}


def test_calls_are_found() -> None:
    found = [one for path in MODULES for one in calls((PACKAGE / path).read_text(encoding="utf-8"))]
    assert len(found) > 60
    assert {name for _, name, _, _ in found} <= KERNELS.keys()
    assert set().union(*(handed for *_, handed in found)) >= {"solid_faces", "solid", "openings", "marks"}


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ('run("constrain", v)(velocity=u, **solids.faces)', []),
        ('run("constrain", v)(velocity=u, **solids.cells)', ["1: constrain takes no solid"]),
        ('run("constrain", v)(**faces)', ["1: constrain lacks velocity"]),
        ('self.backend.kernel("burnt", v)(a=1)', ["1: no kernel burnt"]),
        ('run("dot_rows", v).bound(a=a, b=b, c=c, rows=r)', ["1: dot_rows takes no c"]),
    ],
)
def test_a_wrong_name_is_seen(call: str, says: list[Any]) -> None:
    assert wrong(call) == says
