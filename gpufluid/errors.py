"""Errors the engine raises: each names what is wrong, where, and the limit it broke.

Everything a caller can cause is a :class:`GpufluidError`, which is a ``ValueError``.
"""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Iterable
from typing import Any, TypeVar

T = TypeVar("T")


class GpufluidError(ValueError):
    """Bad input, or something this machine cannot do; the message is one clear sentence."""


class UnknownNameError(GpufluidError, TypeError):
    """A keyword that no parameter has; the message names the nearest that one has."""


class ShaderError(GpufluidError):
    """GLSL that does not load, compile or link; the message names glsl file, line and pass."""


class GLUnavailableError(GpufluidError):
    """No usable OpenGL context on this machine."""


class MissingDependencyError(GpufluidError):
    """An optional package is not installed; the message names the command that installs it.

    package: its name. purpose: what needs it. extra: of gpufluid's, that brings it.
    """

    def __init__(self, package: str, purpose: str, extra: str = "all") -> None:
        super().__init__(f"{purpose} needs the package {package!r}: pip install 'gpufluid[{extra}]'")


class MeshWarning(UserWarning):
    """A mesh that works only in part: it is open, or it lies outside the box."""


class SceneError(GpufluidError):
    """A scene file that cannot be played: names the file, the place in it and what was expected there."""


def near(value: Any, names: Iterable[Any]) -> str:
    """Return "; did you mean ...?" with the name nearest to `value`, or nothing."""
    found = difflib.get_close_matches(str(value), [str(name) for name in names], 1)
    return f"; did you mean {found[0]!r}?" if found else ""


def named(cls: type[T]) -> type[T]:
    """Class decorator: unknown keywords raise `UnknownNameError` with the nearest right one."""
    make = cls.__init__
    names = list(inspect.signature(make).parameters)[1:]

    @functools.wraps(make)
    def checked(self: Any, *given: Any, **by_name: Any) -> None:
        for name in by_name:
            if name not in names:
                raise UnknownNameError(f"gf.{cls.__name__} has no parameter {name!r}{near(name, names)}")
        make(self, *given, **by_name)

    setattr(cls, "__init__", checked)  # noqa: B010 (mypy forbids the plain assignment)
    return cls
