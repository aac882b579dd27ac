"""Whether Khronos' reference compiler takes what is compiled here: drivers take more than GLSL has."""

from __future__ import annotations

import functools
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import moderngl

COMPILER = shutil.which("glslangValidator")
ENDINGS = {"vertex_shader": "vert", "geometry_shader": "geom", "fragment_shader": "frag", "source": "comp"}

_taken: set[tuple[str, str]] = set()  # texts that it takes, with their endings
_waiting: set[tuple[str, str]] = set()


def refused(texts: set[tuple[str, str]], folder: Path) -> str:
    """What the compiler says of texts, each with its ending, that it does not take. folder: for the files."""
    assert COMPILER is not None
    files = [folder / f"{number}.{ending}" for number, (_, ending) in enumerate(sorted(texts))]
    for file, (text, _) in zip(files, sorted(texts), strict=True):
        file.write_text(text, encoding="utf-8")
    done = subprocess.run([COMPILER, *map(str, files)], check=False, capture_output=True, text=True)
    return done.stdout + done.stderr if done.returncode else ""


def check(folder: Path) -> None:
    """Fail where one of the texts that a driver has taken since the last call is no GLSL."""
    texts = set(_waiting)
    _waiting.clear()
    said = refused(texts, folder) if texts and COMPILER is not None else ""
    assert not said, f"Khronos' compiler takes no such GLSL as lies in {folder}:\n{said[:4000]}"
    _taken.update(texts)


def _kept(real: Callable[..., Any], *positional: str) -> Callable[..., Any]:
    """`real`, which compiles, and keeps the texts that the driver takes."""

    @functools.wraps(real)
    def compiled(self: moderngl.Context, *given: Any, **by_name: Any) -> Any:
        program = real(self, *given, **by_name)
        texts = {**dict(zip(positional, given, strict=False)), **by_name}
        found = {(text, ENDINGS[kind]) for kind, text in texts.items() if kind in ENDINGS and text}
        _waiting.update(found - _taken)
        return program

    return compiled


def install() -> None:
    """Keep what is compiled from now on, where the compiler is there to ask."""
    if COMPILER is not None:
        context = moderngl.Context
        context.program = _kept(context.program)  # type: ignore[method-assign]
        context.compute_shader = _kept(context.compute_shader, "source")  # type: ignore[method-assign]
