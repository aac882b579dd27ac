"""Scenes as Python: a function that tells its story with a ``yield`` for every frame."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.machinery import SourceFileLoader
from numbers import Integral
from pathlib import Path
from types import CodeType
from typing import Any

from gpufluid.common.errors import SceneError, near, script_line, told_of
from gpufluid.scene.scene import Cells, Scene

NAMES = ("scene", "story")  # what the function may be called
OWN = ("ctx", "cells", "backend")  # its parameters that no change sets


class _AsItIs(SourceFileLoader):
    """Reads a script as it is now.

    Python keeps what it has compiled beside a file, and takes that as long as the file has the same size and
    was saved in the same second: of one that is saved twice in a second it would play the first.
    """

    def get_code(self, fullname: str) -> CodeType:
        """What the file says, compiled anew. Raises SceneError for what is no text, or nested too deeply."""
        source = self.get_data(self.path)
        try:
            return self.source_to_code(source, self.path)
        except (ValueError, RecursionError, MemoryError, OverflowError) as error:
            raise SceneError(f"{self.path}: {str(error) or 'is nested too deeply'}") from None


def load_script(
    path: Path,
    ctx: Any,
    changes: Sequence[str],
    cells: Cells | Sequence[Cells | None] | None,
    backend: str,
) -> Scene:
    """Return the scene of the Python file `path`; see `Scene.load`.

    The file defines a function ``scene``. It returns a Scene, or it is a generator whose first ``yield``
    gives the Scene and whose every further one is a frame. It is given those of ``ctx``, ``cells``,
    ``backend`` and `changes` that it has parameters for. Raises SceneError.
    """
    make = scene_function(path)
    known = inspect.signature(make).parameters
    given: dict[str, Any] = {"ctx": ctx, "backend": backend}
    if cells:
        if not isinstance(cells[0], Integral):
            raise SceneError(f"{path}: a script chooses the cells of its further boxes itself")
        given["cells"] = cells
        if "cells" not in known:
            raise SceneError(f"{path}: its function scene has no choice of cells: give it a parameter cells")
    if "backend" not in known and backend != "auto":
        raise SceneError(f"{path}: its function scene has no choice of backend: give it a parameter backend")
    given = {name: value for name, value in given.items() if name in known}
    free = [name for name in known if name not in OWN]
    for change in changes:
        name, sign, text = (part.strip() for part in change.partition("="))
        if not sign or not name:
            raise SceneError(f"{path}: a change must look like strength=5, got {change!r}")
        if name not in free:
            raise SceneError(f"{path}: {_no_parameter(name, free)}")
        given[name] = _value(text)
    try:
        inspect.signature(make).bind(**given)
    except TypeError as error:
        raise SceneError(f"{path}: its function scene is {error}; give it a default, or set it") from None
    with told_of(path, partial(script_line, path)):
        scene = scene_of(make(**given), str(path))
    scene.provenance.file = path
    return scene


def scene_function(path: Path) -> Callable[..., Any]:
    """The function ``scene`` (or ``story``) that a Python file defines. Raises SceneError."""
    try:
        there = path.is_file()
    except OSError as error:  # a folder that is closed, a name that is too long
        raise SceneError(f"{path}: cannot be read: {error.strerror or error}") from None
    if not there:
        raise SceneError(f"{path}: {'is a folder' if path.is_dir() else 'there is no such file'}")
    name = f"gpufluid_scene_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path, loader=_AsItIs(name, str(path)))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickles of the script look for it there
    folder = str(path.resolve().parent)
    sys.path.insert(0, folder)  # of modules beside it, as where Python runs it
    try:
        with told_of(path, partial(script_line, path)), _syntax_told(path):
            spec.loader.exec_module(module)
    except OSError as error:  # of the file itself: one of its own has a line
        raise SceneError(f"{path}: cannot be read: {error.strerror or error}") from None
    finally:
        if folder in sys.path:
            sys.path.remove(folder)
    for candidate in NAMES:
        make = getattr(module, candidate, None)
        if callable(make):
            return make  # type: ignore[no-any-return]
    raise SceneError(f"{path}: a scene script must define a function scene(ctx=None)")


@contextmanager
def _syntax_told(path: Path) -> Iterator[None]:
    """A SyntaxError inside, of the file or of a module that it imports, becomes a SceneError."""
    try:
        yield
    except SyntaxError as error:
        where = path if error.filename in (None, str(path)) else error.filename
        line = "" if error.lineno is None else f"line {error.lineno}: "
        raise SceneError(f"{where}: {line}{error.msg}") from None
    except ValueError as error:
        # of a byte 0 in a file, before Python 3.11.4; what a script raises is told with its line
        if "null bytes" not in str(error):
            raise
        raise SceneError(f"{path}: {error}") from None


def scene_of(made: Any, name: str) -> Scene:
    """The Scene that a scene function returned, or that its generator yields first. Raises SceneError."""
    if isinstance(made, Iterator):
        story = made
        try:
            made = next(story)
        except StopIteration:
            raise SceneError(f"{name}: the story ended before it gave a scene") from None
        if isinstance(made, Scene):
            made.story = story
    if not isinstance(made, Scene):
        raise SceneError(
            f"{name}: the function scene must return a gpufluid.Scene, or yield one first, got {made!r}"
        )
    return made


def _no_parameter(name: str, free: Sequence[str]) -> str:
    """That a change names no parameter of the function, and which it may: those in `free`."""
    told = f"its function scene has no parameter {name!r} to set"
    if name in OWN:
        return told
    if free:
        return f"{told}{near(name, sorted(free)) or ', only ' + ', '.join(free)}"
    last = name.rpartition(".")[2]  # as of settings.viscosity, which a .toml scene would have
    given = last if last.isidentifier() else "strength"
    return f"{told}, nor any other: give it one, as in def scene(ctx=None, {given}=1.0)"


def _value(text: str) -> Any:
    """What stands behind the = of a change: a Python constant, true or false as in TOML, or a word."""
    import ast

    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return {"true": True, "false": False}.get(text, text)  # the word false would count as true
