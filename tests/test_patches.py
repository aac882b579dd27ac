"""What tests put in place of names of the package: those are there. Others are set to no effect."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

TESTS = Path(__file__).parent


def programs(path: Path) -> Iterator[ast.Module]:
    """Yield what a file holds of Python: itself, and the programs in its strings."""
    whole = ast.parse(path.read_text(encoding="utf-8"))
    yield whole
    for node in ast.walk(whole):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "import " in node.value:
            try:
                yield ast.parse(textwrap.dedent(node.value))
            except SyntaxError:
                continue


def set_in_vain(program: ast.Module) -> list[str]:
    """The names that `program` sets in modules of the package which have none of that name."""
    nodes = list(ast.walk(program))
    modules = {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in nodes
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "gpufluid"
        for alias in node.names
        if find_spec(node.module or "").submodule_search_locations  # type: ignore[union-attr]  # a package
        and find_spec(f"{node.module}.{alias.name}")
    }
    found = {
        (modules[node.value.id], node.attr)
        for node in nodes
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        if isinstance(node.value, ast.Name) and node.value.id in modules
    }
    return sorted(f"{module}.{name}" for module, name in found if not hasattr(import_module(module), name))


def test_what_is_set_is_there() -> None:
    found = {path.name: [set_in_vain(program) for program in programs(path)] for path in TESTS.glob("*.py")}
    assert {path: names for path, names in found.items() if any(names)} == {}


def test_a_name_that_is_not_there_is_seen() -> None:
    text = "from gpufluid.gl import contexts\nfrom gpufluid.description import grid as g, Fluid\n"
    text += "contexts.create_context = contexts.nothing = None\ng.TINY, g.HUGE = 1, 2\nFluid.x = 3\n"
    assert set_in_vain(ast.parse(text)) == ["gpufluid.description.grid.HUGE", "gpufluid.gl.contexts.nothing"]
