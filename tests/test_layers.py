"""Imports go down only: the layers of the package, read from its source."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from driver import python

import gpufluid

PACKAGE = Path(gpufluid.__file__).parent

# The folders of the package, the lowest first, and those each may import from beside itself.
LAYERS = {
    "common": "",
    "description": "common",
    "contract": "common description",
    "reference": "common description contract",
    "gl": "common description contract",
    "numerics": "common description contract reference",
    "engine": "common description contract reference gl numerics",
    "scene": "common description contract gl engine",
    "render": "common description contract gl",  # it reads a fluid by its public fields
    "io": "common description contract reference gl numerics engine scene render",
    "app": "common description contract reference gl numerics engine scene render io",
}
# those of which the page names each module
LISTED = ("common", "description", "contract", "gl", "numerics", "engine", "scene")
GL_PACKAGES = {"moderngl", "glfw", "glcontext", "_moderngl"}
GL_HOMES = {"gl", "render", "app"}
FOREIGN = {"_ArgumentGroup", "_context", "_exit", "_getframe", "_replace"}  # of Python and moderngl
LAZY = {"__init__", "__main__"}  # the package's own names, imported when they are first used


def imports(source: str, package: str) -> Iterator[tuple[int, str, bool]]:
    """Yield (line, dotted name, for types alone) of every import in a module of `package`."""
    tree = ast.parse(source)
    for_types = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in block.body
    }
    for node in ast.walk(tree):
        typed = id(node) in for_types
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name, typed) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")
                base = ".".join([*parents[: len(parents) - node.level + 1], *filter(None, [base])])
            yield from ((node.lineno, f"{base}.{alias.name}", typed) for alias in node.names)


def violations(path: Path, source: str) -> list[str]:
    """Return what `source`, at `path` inside the package, imports against the rules."""
    home = path.parts[0].removesuffix(".py")
    found = []
    for line, name, typed in imports(source, ".".join(["gpufluid", *path.parent.parts])):
        first, _, rest = name.partition(".")
        if first in GL_PACKAGES and home not in GL_HOMES and not typed:  # a type loads nothing
            found.append(f"{path}:{line}: {first} belongs into gl/, render/, app/ and demos/ only")
        imported = rest.partition(".")[0]
        allowed = (home, *LAYERS.get(home, " ".join(LAYERS)).split())
        if first == "gpufluid" and imported in LAYERS and imported not in allowed:
            found.append(f"{path}:{line}: {home} may not import {imported}")
    return found


def sources() -> list[Path]:
    """Return the package's files, relative to it, without the demos that a wheel keeps inside it."""
    paths = (p.relative_to(PACKAGE) for p in PACKAGE.rglob("*.py"))
    return sorted(p for p in paths if p.parts[0] not in ("demos", "glsl"))


def test_every_module_has_a_layer() -> None:
    assert {p.parts[0].removesuffix(".py") for p in sources()} - LAZY == set(LAYERS)


def test_imports_go_down_only() -> None:
    texts = {path: (PACKAGE / path).read_text(encoding="utf-8") for path in sources()}
    assert [breach for path, text in texts.items() for breach in violations(path, text)] == []


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("description/grid.py", "from gpufluid.contract.backend import Backend"),
        ("numerics/solver.py", "from gpufluid.gl.device import Device"),
        ("gl/device.py", "def late():\n    from gpufluid import numerics"),
        ("gl/device.py", "from ..engine.fluid import Fluid"),
        ("render/frame.py", "import gpufluid.scene.scene"),
        ("engine/fluid.py", "from gpufluid.app.play import run"),
        ("engine/fluid.py", "import moderngl"),
        ("reference/numpy_backend.py", "from glfw import init"),
        ("description/grid.py", "if TYPE_CHECKING:\n    from gpufluid.engine.fluid import Fluid"),
    ],
)
def test_a_breach_is_seen(path: str, source: str) -> None:
    assert len(violations(Path(path), source)) == 1


def reached_into(source: str) -> set[str]:
    """The private names that a module uses, of objects or by import, and that are none of its own."""
    nodes = list(ast.walk(ast.parse(source)))
    used = {alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}
    own = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            own.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            own.add(node.attr)
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) not in ("self", "cls"):
            used.add(node.attr)
    return {name for name in used - own if re.match("_[^_]", name)} - FOREIGN


def test_what_is_private_stays_in_its_module() -> None:
    found = {str(path): reached_into((PACKAGE / path).read_text(encoding="utf-8")) for path in sources()}
    assert {path: names for path, names in found.items() if names} == {}


def test_reaching_into_another_module_is_seen() -> None:
    assert reached_into("from a import _b\nc._d = 1\ne._d\nf._g()\nself._h") == {"_b", "_g"}


def test_types_are_checked_strictly_and_shipped() -> None:
    """What the Makefile's lint, and so its test, runs."""
    assert (PACKAGE / "py.typed").is_file()
    project = PACKAGE.parent / "pyproject.toml"
    if not project.is_file():
        pytest.skip("an installed package")
    said = project.read_text(encoding="utf-8").partition("[tool.mypy]\n")[2].partition("\n[")[0]
    assert "strict = true" in said.splitlines() and re.search(r'^files = \["gpufluid"', said, re.MULTILINE)
    recipes = (PACKAGE.parent / "Makefile").read_text(encoding="utf-8")
    assert re.search(r"^test:.*\blint\b", recipes, re.MULTILINE)
    assert re.search(r"^lint:.*\n(?:\t.*\n)*\t.*-m mypy\n", recipes, re.MULTILINE)


def test_importing_the_package_loads_no_gl() -> None:
    code = "import sys, gpufluid; print(*sys.modules)"
    loaded = python("-c", code, check=True).stdout.split()
    assert not GL_PACKAGES & set(loaded)
    assert "numpy" not in loaded, "names are looked up when they are first used"


def test_types_are_told_of_every_name() -> None:
    """What an editor and mypy read of the package is what it looks up."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    block = next(n for n in tree.body if isinstance(n, ast.If) and ast.unparse(n.test) == "TYPE_CHECKING")
    told = {
        alias.asname: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert told == {name: f"gpufluid.{home}" for name, home in gpufluid._HOME.items()}


def test_the_page_names_every_module() -> None:
    """In its table of layers."""
    page = PACKAGE.parent / "docs" / "architecture.md"
    table = page.read_text(encoding="utf-8").partition("## A kernel")[0]
    cells = {row: row.split("|")[1] for row in table.splitlines() if row.startswith("| `")}
    rows = {folder: row for row, names in cells.items() for folder in LAYERS if f"`{folder}/`" in names}
    assert set(rows) == set(LAYERS)
    modules = [path for folder in LISTED for path in (PACKAGE / folder).glob("[!_]*.py")]
    assert [path.name for path in modules if f"`{path.stem}`" not in rows[path.parent.name]] == []
