"""GLSL put together in Python, remembering which file and line every assembled line came from."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from gpufluid.common.errors import GpufluidError, ShaderError, one_of
from gpufluid.common.files import own_folder

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

FULLSCREEN = """#version 330 core
void main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0); }
"""
PREFIX = "gpufluid"  # what the names of a host's texts begin with
_PREFIX = re.compile(r"(?!gl_)[A-Za-z](?:_?[A-Za-z0-9])*")  # GLSL keeps gl_ and two underscores for itself
_UNIFORM = re.compile(r"\s*uniform\s+(\w+)\s+([\w\s,\[\]]+);")
_WORD = re.compile(r"[A-Za-z_]\w*")
_GIVEN = re.compile(r"#define (\w+) |(?:const|uniform) \w+ (\w+)(?:\[6\])?(?: =|;)")  # what Python declares
_DECLARED = re.compile(r"\s*(\w+)\s*(?:\[([0-9]+)\])?\s*$")  # a name, and of how many elements
# numbers that a uniform holds, by its type
_NUMBERS = {"float": 1, "int": 1, "bool": 1, "mat3": 9, "mat4": 16}
_NUMBERS |= {f"{kind}vec{n}": n for kind in ("", "i") for n in (2, 3, 4)}


@cache
def shader_root() -> Path:
    """The folder of the GLSL files. Raises GpufluidError where it is missing."""
    return own_folder("glsl")


def checked_prefix(prefix: str) -> str:
    """Return `prefix` as it is; raises GpufluidError for what no name of GLSL begins with."""
    if not isinstance(prefix, str) or not _PREFIX.fullmatch(prefix):
        raise GpufluidError(
            f"prefix must be a name of GLSL, not gl_ and without two underscores in a row, got {prefix!r}"
        )
    return prefix


def glsl(name: str, prefix: str = PREFIX) -> str:
    """Return GLSL to put into shaders of your own. It needs GLSL 3.30.

    name: "sample" (the flow, set by `Fluid.give`) or "light" (set by `VolumeRenderer.give`). prefix: what all
    names in it begin with. A shader that asks for two fluids takes the text twice, each with its own prefix,
    which is given to `give` too.

    Raises GpufluidError for an unknown name, telling those there are, and for what cannot be a prefix.
    """
    folder = shader_root() / "host"
    one_of(name, tuple(sorted(path.stem for path in folder.glob("*.glsl"))), "the name of a GLSL text")
    text = (folder / f"{name}.glsl").read_text(encoding="utf-8")
    return text.replace(f"{PREFIX}_", f"{checked_prefix(prefix)}_")


class _Run(NamedTuple):
    """Lines of a file, where they stand, their words, and what is included after: file and field, or none."""

    lines: list[str]
    origin: list[tuple[str, int]]
    words: set[str]
    then: tuple[str, str] | tuple[()]


@lru_cache(maxsize=4096)  # what Python writes is nearly the same in each program
def _words(line: str) -> tuple[str, ...]:
    """The names in a line of GLSL, but for those in a comment."""
    return tuple(_WORD.findall(line.partition("//")[0]))


@lru_cache(maxsize=1024)  # a step puts some 30 programs together, of as many files each
def _runs_of_lines(path: Path, changed: int, name: str, field: str) -> list[_Run]:
    """What `Source.include` appends of the file `name`, with `field` for FIELD; changed: when it was."""
    runs = [_Run([], [], set(), ())]
    for number, raw in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        line = raw.replace("FIELD", field) if field else raw
        if match := _INCLUDE.match(line):
            runs[-1] = runs[-1]._replace(then=(match[1], match[2] or ""))
            runs.append(_Run([], [], set(), ()))
        else:
            runs[-1].lines.append(line)
            runs[-1].origin.append((f"glsl/{name}", number))
            runs[-1].words.update(_words(line))
    return runs


class Source:
    """GLSL assembled from parts.

    ``#include "lib/file.glsl"`` takes a file in once. ``#include "lib/file.glsl" for velocity`` takes it in
    once for that name, which stands wherever the file says FIELD.

    version: of GLSL, 330 for 3.30, that it begins with; None: it is added later. group: invocations of a
    compute shader's workgroup, along x or along x and y.
    """

    def __init__(self, label: str, version: int | None = None, group: Sequence[int] = ()) -> None:
        self.label = label
        self._lines: list[str] = []
        self._origin: list[tuple[str, int]] = []
        self._taken: set[tuple[str, str]] = set()
        self._words: set[str] = set()  # in files
        if version is not None:
            self.add(f"#version {version} core", "<stage>")
        if group:
            sizes = (f"local_size_{axis} = {size}" for axis, size in zip("xy", group, strict=False))
            self.add(f"layout({', '.join(sizes)}) in;", "<stage>")

    def add(self, text: str, origin: str) -> Source:
        """Append text written in Python; `origin` names it in error messages."""
        for number, line in enumerate(text.splitlines(), 1):
            self._lines.append(line)
            self._origin.append((origin, number))
        return self

    def define(self, macros: Mapping[str, object]) -> Source:
        """Append `macros`: their values by name."""
        return self.add("\n".join(f"#define {name} {value}" for name, value in macros.items()), "<variant>")

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
            self._words |= run.words
            if run.then:
                self.include(*run.then, (*chain, name))
        return self

    def drop_unused(self) -> Source:
        """Leave out each macro, constant and uniform that is declared in Python and that nothing reads.

        Once all of the shader is there. What differs in nothing that a pass reads is then one program.
        """
        own = [n for n, (file, _) in enumerate(self._origin) if file[0] == "<"]
        read = Counter(word for n in own for word in _words(self._lines[n]))
        for n in reversed(own):  # what one of them is made of has been declared before
            given = _GIVEN.match(self._lines[n])
            name = given and (given[1] or given[2])
            if name and name not in self._words and read[name] == 1:
                for word in _words(self._lines[n]):
                    read[word] -= 1
                del self._lines[n], self._origin[n]
        return self

    def size_arrays(self, macros: Mapping[str, int]) -> None:
        """Write sizes of uniforms that are one of `macros`, or some of it, as numbers: they are handed on."""
        sized = re.compile(rf"(?<=\[)(?:(\d+) \* )?({'|'.join(macros)})(?=\])")
        for n, line in enumerate(self._lines):
            if line.startswith("uniform "):
                self._lines[n] = sized.sub(lambda size: str(int(size[1] or 1) * macros[size[2]]), line)

    def compiled_once(self) -> Source:
        """Return a fragment shader that does the same, and that llvmpipe compiles once and not twice.

        It has one variant for texels that lie wholly within what is drawn and one for its edges, but only the
        second where a shader writes a sample mask. Targets of one sample have none: it changes no bit.
        """
        out = Source(self.label).add(self._lines[0], "<stage>").add(_ONCE_BEGIN, "<once>")
        out._lines += self._lines[1:]
        out._origin += self._origin[1:]
        return out.add(_ONCE_END, "<once>")

    def handed_on(self, vertex: Source, room: int) -> tuple[Source, Source]:
        """Return this fragment shader and `vertex`, which hands its uniforms on as flat varyings.

        llvmpipe loads a uniform for each fragment anew: 16 numbers take 4 ms for a million fragments on two
        cores, flat ones 0.1 ms, since they are known once for a triangle. The bits are the same. Arrays sized
        by a macro stay uniforms, as do those over `room` numbers and those whose names `vertex` has in use.
        """
        out, stage = Source(self.label), Source(vertex.label)
        there = set(_WORD.findall(vertex.text))
        declared = {name for line in vertex._lines for _, name, *_ in _uniforms(line)}
        handed: dict[str, tuple[str, str]] = {}  # type and size, by name
        for line, origin in zip(self._lines, self._origin, strict=True):
            found = _uniforms(line) if "uniform" in line else []  # sought in every line: this is soon told
            if not found:
                out._lines.append(line)
                out._origin.append(origin)
                continue
            lines = [line]
            room -= sum(count for *_, count in found)
            if room >= 0 and all(name in declared or name not in there for _, name, *_ in found):
                lines.clear()
                for kind, name, size, _ in found:
                    handed[name] = kind, size
                    value = f"flat_{name} != 0" if kind == "bool" else f"flat_{name}"
                    lines.append(f"flat in {_flat(kind)} flat_{name}{size}; {kind} {name}{size} = {value};")
            out._lines += lines
            out._origin += [origin] * len(lines)
        for line, origin in zip(vertex._lines, vertex._origin, strict=True):
            stage._lines.append(line.replace("void main()", "void place_corner()"))
            stage._origin.append(origin)
        for name, (kind, size) in handed.items():
            own = "" if name in declared else f"uniform {kind} {name}{size}; "
            stage.add(f"{own}flat out {_flat(kind)} flat_{name}{size};", "<handed>")
        stage.add("void main() {\n    place_corner();", "<handed>")
        for name, (kind, _) in handed.items():
            stage.add(f"    flat_{name} = {f'int({name})' if kind == 'bool' else name};", "<handed>")
        return out, stage.add("}", "<handed>")

    @property
    def text(self) -> str:
        """The assembled source."""
        return "\n".join(self._lines) + "\n"

    def explain(self, log: str) -> ShaderError:
        """Return the error a driver's log becomes: pass, glsl file and line, and once the line itself."""
        out: dict[str, str] = {}  # what was said: its line; a driver repeats a slip for all that is round it
        shown = set()
        for line in log.splitlines():
            match = _LOG.match(line)
            number = int(match[1] or match[2]) if match else 0
            if match and 1 <= number <= len(self._lines):
                file, at = self._origin[number - 1]
                code = "" if number in shown else f"  | {self._lines[number - 1].strip()}"
                out.setdefault(f"{file}:{at}: {line[match.end() :]}", code)
                shown.add(number)
            elif line.strip(" =") and line.strip() not in _NOISE:
                out.setdefault(line.strip(), "")
        return ShaderError(f"pass {self.label}: " + "\n".join(said + code for said, code in out.items()))


def _uniforms(line: str) -> list[tuple[str, str, str, int]]:
    """The uniforms of numbers that a line declares: type, name, size in brackets, how many numbers.

    None where one is an array of truth values, or of a size that is a macro.
    """
    match = _UNIFORM.match(line)
    if match is None or match[1] not in _NUMBERS:
        return []
    found = [_DECLARED.match(each) for each in match[2].split(",")]
    if not all(found) or (match[1] == "bool" and "[" in match[2]):
        return []
    return [
        (match[1], each[1], f"[{each[2]}]" if each[2] else "", _NUMBERS[match[1]] * int(each[2] or 1))
        for each in found
        if each is not None
    ]


def _flat(kind: str) -> str:
    """The type that a varying holds a uniform of type `kind` in."""
    return "int" if kind == "bool" else kind
