"""The uniforms that Python sets by name are those that GLSL declares, and the other way round."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from pathlib import Path

import pytest
import uniforms

import gpufluid
import gpufluid.render
from gpufluid.gl.device import Device
from gpufluid.gl.source import Source

PACKAGE = Path(gpufluid.__file__).parent
PREFIX = re.compile(r"^(FIELD|gpufluid_(sun|glow|lamps)|gpufluid)_")  # Python puts a name there


def words_of_python() -> set[str]:
    """The words in the package's strings, and the names of arguments."""
    found = set[str]()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg:
                found.add(node.arg)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found |= {word.strip("_") for word in re.findall(r"\w+", node.value)}
    return found


def test_every_uniform_is_set_by_somebody() -> None:
    words = words_of_python()
    for path in uniforms.SHADERS:
        for name in uniforms.declared(path.read_text(encoding="utf-8")):
            assert PREFIX.sub("", name) in words, f"{path.name}: nobody sets {name}"


def test_every_test_looks_at_what_is_given() -> None:
    found = pkgutil.walk_packages(gpufluid.render.__path__, "gpufluid.render.")
    modules = [importlib.import_module(module.name) for module in found]
    giving = [module for module in modules if hasattr(module, "give")]
    assert len(giving) > 20
    assert all(module.give is uniforms.give for module in giving)


def test_a_wrong_name_is_seen(device: Device) -> None:
    text = "#version 330 core\nuniform float a, b;\nout vec4 c;\n#if 0\nuniform vec2 d;\n#endif\n"
    program = device.fragment_program(Source("two").add(text + "void main() { c = vec4(a); }", "<test>"))
    uniforms.give(program, {"a": 1.0, "b": 2.0, "d": (0.0, 0.0)})
    assert program["a"].value == 1.0  # type: ignore[union-attr]
    with pytest.raises(AssertionError, match="declares a uniform A, eh"):
        uniforms.give(program, {"a": 1.0, "eh": 2.0, "A": 3.0})
