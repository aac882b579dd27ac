"""Finding the demos."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from pathlib import Path

from gpufluid.common.errors import GpufluidError, near
from gpufluid.common.files import own_folder
from gpufluid.scene.scene import Scene
from gpufluid.scene.script import scene_function

SUFFIXES = (".py", ".toml")
PROGRAM = "embed_"  # what the names of other libraries' programs with the engine as a guest begin with
ALL_OF_THEM = "; `gpufluid scenes` lists the demos"


def demo_folder() -> Path:
    """Return the folder of the demos. Raises GpufluidError where it is missing."""
    return own_folder("demos")


def demo_names() -> list[str]:
    """Return the names of all demos, sorted."""
    files = (p for p in demo_folder().iterdir() if p.suffix in SUFFIXES)
    return sorted(p.stem for p in files if not p.stem.startswith(("_", PROGRAM)))


def demo_file(name: str) -> Path:
    """Return the file of a demo. Raises GpufluidError for a name that is none, naming the nearest if any."""
    stem, _, suffix = name.rpartition(".")
    if f".{suffix}" in SUFFIXES and stem in demo_names():
        raise GpufluidError(f"demo must be a name, got {name!r}; did you mean {stem!r}?")
    if name.startswith(PROGRAM) and (program := demo_folder() / f"{name}.py") in demo_folder().iterdir():
        raise GpufluidError(f"{name} is no scene but a program of its own: python {program}")
    if name not in demo_names():
        raise GpufluidError(f"there is no demo {name!r}{near(name, demo_names()) or ALL_OF_THEM}")
    return next(path for suffix in SUFFIXES if (path := demo_folder() / (name + suffix)).is_file())


def demo_summary(name: str) -> str:
    """Return the first line of a demo's docstring, or its first comment, without running it."""
    path = demo_file(name)
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".toml":
        return source.partition("\n")[0].lstrip("# ")
    return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]


def load_demo(name: str) -> Callable[..., Scene]:
    """Return the function that builds the scene of a demo.

    Raises GpufluidError for a name that is none, naming the nearest if any.
    """
    path = demo_file(name)
    if path.suffix == ".toml":
        return partial(Scene.load, path)
    return scene_function(path)
