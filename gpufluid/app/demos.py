"""Finding the demos: inside the installed package, else beside it in a checkout."""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path

from gpufluid.errors import GpufluidError
from gpufluid.scene import Scene
from gpufluid.settings import one_of


def demo_folder() -> Path:
    """Return the folder of the demos. Raises GpufluidError where it is missing."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "demos", package.parent / "demos"):
        if folder.is_dir():
            return folder
    raise GpufluidError(f"the demos are missing: no folder {package / 'demos'}")


def demo_names() -> list[str]:
    """Return the names of all demos, sorted."""
    return sorted(p.stem for p in demo_folder().glob("*.py") if not p.stem.startswith("_"))


def demo_summary(name: str) -> str:
    """Return the first line of a demo's docstring, without running it."""
    source = (demo_folder() / f"{name}.py").read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]


def load_demo(name: str) -> Callable[..., Scene]:
    """Return the function ``scene`` of a demo, which builds its scene.

    Raises GpufluidError naming the demos there are, and the nearest, for a name that is none.
    """
    one_of(name, tuple(demo_names()), "demo")
    path = demo_folder() / f"{name}.py"
    module_name = f"gpufluid_demo_{name}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    spec.loader.exec_module(module)
    make = getattr(module, "scene", None)
    if not callable(make):
        raise GpufluidError(f"{path}: a demo must define a function scene(ctx=None)")
    return make  # type: ignore[no-any-return]
