"""GLSL put together in Python, remembering which file and line every assembled line came from."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from gpufluid.errors import ShaderError
from gpufluid.settings import one_of

_INCLUDE = re.compile(r'^\s*#include\s+"([^"]+)"(?:\s+for\s+(\w+))?\s*(?://.*)?$')
# "0:12(5): error", "0(12) : error", "ERROR: 0:12:", "FRAGMENT:0:12" are the forms drivers use
_LOG = re.compile(r"^(?:ERROR:\s*|WARNING:\s*)?\d+(?::(\d+)(?:\(\d+\))?|\((\d+)\))\s*:\s*")
# lines moderngl puts round a driver's log
_NOISE = ("GLSL Compiler failed", "GLSL Linker failed", "vertex_shader", "fragment_shader", "compute_shader")

_ONCE_BEGIN = """#extension GL_ARB_sample_shading : enable
#ifdef GL_ARB_sample_shading
#define main within
#endif"""
_ONCE_END = """#ifdef GL_ARB_sample_shading
#undef main
void main() {
    gl_SampleMask[0] = -1;
    within();
}
#endif"""


@cache
def shader_root() -> Path:
    """The folder of the GLSL files: in the installed package, else beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    for root in (package / "glsl", package.parent / "glsl"):
        if root.is_dir():
            return root
    raise ShaderError(f"the GLSL files are missing: no folder {package / 'glsl'}")


def glsl(name: str) -> str:
    """Return GLSL for shaders of your own. It needs GLSL 3.30.

    name: "sample", for `Fluid.give`.

    Raises GpufluidError for a name there is no text of, naming those there are.
    """
    folder = shader_root() / "host"
    one_of(name, tuple(sorted(path.stem for path in folder.glob("*.glsl"))), "the name of a GLSL text")
    return (folder / f"{name}.glsl").read_text(encoding="utf-8")


class _Run(NamedTuple):
    """Lines of a file, where they stand, and what is included after them: a file and a field, or nothing."""

    lines: list[str]
    origin: list[tuple[str, int]]
    then: tuple[str, str] | tuple[()]


@lru_cache(maxsize=1024)  # a step puts some 30 programs together, of as many files each
def _runs_of_lines(path: Path, changed: int, name: str, field: str) -> list[_Run]:
    """What `Source.include` appends of the file `name`, with `field` for FIELD; changed: when it was."""
    runs = [_Run([], [], ())]
    for number, raw in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        line = raw.replace("FIELD", field) if field else raw
        if match := _INCLUDE.match(line):
            runs[-1] = runs[-1]._replace(then=(match[1], match[2] or ""))
            runs.append(_Run([], [], ()))
        else:
            runs[-1].lines.append(line)
            runs[-1].origin.append((f"glsl/{name}", number))
    return runs


class Source:
    """GLSL assembled from parts.

    ``#include "lib/file.glsl"`` takes a file in once. ``#include "lib/file.glsl" for velocity`` takes it in
    once for that name, which stands wherever the file says FIELD.
    """

    def __init__(self, label: str) -> None:
        self.label = label
        self._lines: list[str] = []
        self._origin: list[tuple[str, int]] = []
        self._taken: set[tuple[str, str]] = set()

    def add(self, text: str, origin: str) -> Source:
        """Append text written in Python; `origin` names it in error messages."""
        for number, line in enumerate(text.splitlines(), 1):
            self._lines.append(line)
            self._origin.append((origin, number))
        return self

    def include(self, name: str, field: str = "", chain: tuple[str, ...] = ()) -> Source:
        """Append a file of the shader folder with all it includes."""
        if name in chain:
            raise ShaderError(f"pass {self.label}: includes go round: {' -> '.join((*chain, name))}")
        if (name, field) in self._taken:
            return self
        self._taken.add((name, field))
        path = shader_root() / name
        try:
            runs = _runs_of_lines(path, path.stat().st_mtime_ns, name, field)
        except OSError:
            where = f"glsl/{chain[-1]}" if chain else f"pass {self.label}"
            raise ShaderError(f"{where}: no shader file {name!r}") from None
        for run in runs:
            self._lines += run.lines
            self._origin += run.origin
            if run.then:
                self.include(*run.then, (*chain, name))
        return self

    def compiled_once(self) -> Source:
        """Return a fragment shader that does the same, and that llvmpipe compiles once and not twice.

        It has one variant for texels that lie wholly within what is drawn and one for its edges, but only the
        second where a shader writes a sample mask. Targets of one sample have none: it changes no bit.
        """
        out = Source(self.label).add(self._lines[0], "<stage>").add(_ONCE_BEGIN, "<once>")
        out._lines += self._lines[1:]
        out._origin += self._origin[1:]
        return out.add(_ONCE_END, "<once>")

    @property
    def text(self) -> str:
        """The assembled source."""
        return "\n".join(self._lines) + "\n"

    def explain(self, log: str) -> ShaderError:
        """Return the error a driver's log becomes: pass, glsl file and line, and the line itself."""
        out = []
        for line in log.splitlines():
            match = _LOG.match(line)
            number = int(match[1] or match[2]) if match else 0
            if match and 1 <= number <= len(self._lines):
                file, at = self._origin[number - 1]
                out.append(f"{file}:{at}: {line[match.end() :]}  | {self._lines[number - 1].strip()}")
            elif line.strip(" =") and line.strip() not in _NOISE:
                out.append(line.strip())
        return ShaderError(f"pass {self.label}: " + "\n".join(out))
