"""Errors the engine raises: each names what is wrong, where, and the limit it broke.

Everything a caller can cause is a :class:`GpufluidError`, which is a ``ValueError``.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

MOST_TOLD = 600  # characters of an error
ALIKE = 0.7  # likeness from which on a name is offered for another: "cpu" is no slip for "compute"
MISSPELT = 0.8  # likeness from which on a name is another one with a slip in it
SHORT = 3  # letters from which on the beginning of a name stands for it: pos, vel, temp
PACKAGE = f"{Path(__file__).parent.parent}{os.sep}"


class GpufluidError(ValueError):
    """Bad input, or something this machine cannot do; the message is one clear sentence."""


class UnknownNameError(GpufluidError, TypeError):
    """A keyword that no parameter has, or a misspelt field; the message names the nearest that there is."""


class FrozenError(GpufluidError, FrozenInstanceError):
    """A field of something that cannot be changed, only put in another's place; the message says how."""


class ShaderError(GpufluidError):
    """GLSL that does not load, compile or link; the message names the GLSL file, the line and the pass."""


class GLUnavailableError(GpufluidError):
    """No usable OpenGL context on this machine."""


class MissingDependencyError(GpufluidError):
    """An optional package is not installed, and the message names the command that does it, or does not load.

    package: its name. purpose: what needs it. extra: which extra of gpufluid brings it. error: what the
    import raised.
    """

    def __init__(
        self, package: str, purpose: str, extra: str = "all", error: ImportError | None = None
    ) -> None:
        what = f"{purpose} needs the package {package!r}"
        if error is None or isinstance(error, ModuleNotFoundError):
            super().__init__(f'{what}: pip install "gpufluid[{extra}]"')
        else:  # it is there, and a library of the system, say, is not
            super().__init__(f"{what}, which does not load here: {error}")


@contextmanager
def needs(package: str, purpose: str) -> Iterator[None]:
    """Raise MissingDependencyError where an import of `package` in the block fails."""
    try:
        yield
    except ImportError as error:
        raise MissingDependencyError(package, purpose, error=error) from None


class ShapeWarning(UserWarning):
    """A solid or source that is hardly meant so: outside the box, all over it, or too thin for its cells."""


class MeshWarning(ShapeWarning):
    """A mesh that works only in part: it is open, or it reaches outside the box."""


class SceneError(GpufluidError):
    """A scene file that cannot be played; it names the file, the place in it and what was expected.

    files: those beside it that were looked for until then.
    """

    files: Sequence[Path] = ()


def short(text: str) -> str:
    """A message on one line, without the middle of a long one."""
    line = " ".join(text.split())
    half = MOST_TOLD // 2
    return line if len(line) <= MOST_TOLD else f"{line[:half]} ... {line[-half:]}"


def counted(count: int, what: str) -> str:
    """So many of `what`, a word for one of them: "1 frame", "2 frames"."""
    return f"{count} {what}{'' if count == 1 else 's'}"


@contextmanager
def told_of(file: Path, place: Callable[[Exception], str]) -> Iterator[None]:
    """Errors inside become a SceneError that names `file` and the `place` in it that they come from.

    What has no place stays what it is, unless it is a GpufluidError; so does what this machine cannot do.
    """
    try:
        yield
    except (SceneError, GLUnavailableError, MissingDependencyError):
        raise
    except Exception as error:
        where, known = place(error), isinstance(error, GpufluidError)
        if not (where or known):
            raise
        what = str(error) if known else traceback.format_exception_only(error)[-1]
        raise SceneError(f"{file}: {f'{where}: ' if where else ''}{short(what)}") from error


@contextmanager
def exits_told(script: Path | None) -> Iterator[None]:
    """Where `script` ends the program inside, as by ``sys.exit``, that is a SceneError; None: it may.

    What ends the program from without, by an exception of its own kind, does so still.
    """
    try:
        yield
    except SystemExit as end:
        where = script_line(script, end) if script is not None and type(end) is SystemExit else ""
        if not where:
            raise
        what = traceback.format_exception_only(end)[-1]
        raise SceneError(f"{script}: {where}: {short(what)}") from end


def script_line(script: Path, error: BaseException) -> str:
    """Where `error` left a Python file, "line 3", or one beside it, "other.py line 3"; "": neither."""
    folder = script.resolve().parent
    frames = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    found = [(Path(name).resolve(), line) for name, line in frames if not name.startswith("<")]
    within = [(file, line) for file, line in found if file.parent == folder]
    if not within:
        return ""
    file, line = within[-1]
    return f"line {line}" if file == script.resolve() else f"{file.name} line {line}"


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the line of the program that called the engine, however deep in the engine this is called."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def near(value: Any, names: Iterable[Any]) -> str:
    """Return "; did you mean ...?" with the name nearest to `value`, or that it begins, or nothing."""
    text, known = str(value), [str(name) for name in names]
    begun = [name for name in known if name.startswith(text)] if len(text) >= SHORT else []
    found = difflib.get_close_matches(text, known, 1, ALIKE) or begun
    return f"; did you mean {found[0]!r}?" if found else ""


def one_of(value: Any, names: tuple[Any, ...], what: str) -> None:
    """Raise, naming the nearest choice, where `value` is not one of `names`."""
    if any(type(value) is type(name) and value == name for name in names):  # an array would answer for each
        return
    choices = ", ".join(map(repr, names))
    raise GpufluidError(f"{what} must be one of {choices}, got {value!r}{near(value, names)}")


def several(values: Any, what: str) -> None:
    """Raise where `values` is no list, tuple or other sequence: one thing in the place of several."""
    if not isinstance(values, Sequence) or isinstance(values, (str, bytes)):
        raise GpufluidError(f"{what} must be a list or a tuple, got {values!r}")


def each_once(values: Sequence[Any], what: str) -> None:
    """Raise where one and the same thing is among `values` twice: it would count twice, which no one sees."""
    places: dict[int, int] = {}
    for number, value in enumerate(values):
        first = places.setdefault(id(value), number)
        if first != number:
            raise GpufluidError(
                f"{what}[{number}] is the very one of {what}[{first}]: make another one for two"
            )


def named(cls: type[T]) -> type[T]:
    """Class decorator: misspelt names raise `UnknownNameError` with the nearest right one, or all there are.

    That is every unknown keyword, and what is assigned to an object of this very class by a name that is
    nearly that of a field, or its beginning: it would be kept beside it, and change nothing. Other names are
    a program's own. Where fields are frozen, assigning one raises `FrozenError`.
    """
    make, assign = cls.__init__, cls.__setattr__
    names = list(inspect.signature(make).parameters)[1:]

    @functools.wraps(make)
    def checked(self: Any, *given: Any, **by_name: Any) -> None:
        for name in by_name:
            if name not in names:
                told = near(name, names) or f"; it has {', '.join(names)}"
                if name in fields:  # a property
                    told = f": it is set afterwards, {cls.__name__.lower()}.{name} = ..."
                raise UnknownNameError(f"gf.{cls.__name__} has no parameter {name!r}{told}")
        make(self, *given, **by_name)

    def checked_assign(self: Any, name: str, value: Any) -> None:
        if name not in fields and type(self) is cls and not name.startswith("_") and not hasattr(self, name):
            close = sorted(field for field in fields if field.startswith(name)) if len(name) >= SHORT else []
            close = difflib.get_close_matches(name, fields, 1, MISSPELT) or close
            if close and close[0] not in name:  # old_position is no slip of the finger
                raise UnknownNameError(f"gf.{cls.__name__} has no {name!r}; did you mean {close[0]!r}?")
        try:
            assign(self, name, value)
        except FrozenInstanceError:
            made = f", made by .but({name}=...)" if hasattr(cls, "but") else ""
            raise FrozenError(
                f"{cls.__name__}.{name} cannot be set: put another gf.{cls.__name__} in its place{made}"
            ) from None

    fields = {*names, *(n for n, v in vars(cls).items() if isinstance(v, property) and v.fset)}
    setattr(cls, "__init__", checked)  # noqa: B010 (mypy forbids the plain assignment)
    setattr(cls, "__setattr__", checked_assign)  # noqa: B010
    return cls
