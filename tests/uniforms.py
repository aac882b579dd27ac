"""Whether the uniforms that Python sets are those that GLSL declares: `give` skips what a program lacks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

import moderngl

from gpufluid.gl import uniforms
from gpufluid.gl.programs import compiled
from gpufluid.gl.source import shader_root

DECLARED = re.compile(r"\buniform\s+(?:highp\s+)?(?!image|highp|writeonly|readonly)\w+\s+([^;{]+);")
NAME = re.compile(r"(\w+)\s*(?:\[[^]]*\]\s*)?(?:,|$)")
PROGRAMS = moderngl.Program, moderngl.ComputeShader
SHADERS = sorted(shader_root().rglob("*.glsl"))

_names: WeakKeyDictionary[Any, frozenset[str] | None] = WeakKeyDictionary()
_give = uniforms.give


def declared(text: str) -> frozenset[str]:
    """The uniforms that GLSL declares, in any of its branches, but images, which go by their bindings."""
    code = re.sub(r"//.*", "", text)
    return frozenset(name for found in DECLARED.finditer(code) for name in NAME.findall(found[1]))


ANYWHERE = frozenset[str]().union(*(declared(path.read_text(encoding="utf-8")) for path in SHADERS))


def names_of(program: Any) -> frozenset[str] | None:
    """The uniforms in the text of `program`; None: it is a host's."""
    if not isinstance(program, PROGRAMS):
        return None
    if program not in _names:
        known = compiled.get(program.ctx)
        texts = [] if known is None else [text for text, one in known.by_text.items() if one is program]
        _names[program] = declared(texts[0]) if texts else None
    return _names[program]


def give(program: Any, values: Mapping[str, Any]) -> None:
    """As `gl.uniforms.give`, and fail for a name that neither the program declares nor any other shader.

    One dict often serves several programs, some of which have no use for a part of it.
    """
    names = names_of(program)
    unknown = set() if names is None else values.keys() - names - ANYWHERE
    assert not unknown, f"no shader declares a uniform {', '.join(sorted(unknown))}"
    _give(program, values)


def install() -> None:
    """Let every module of `gpufluid.render` that is imported from now on check what it gives."""
    uniforms.give = give
