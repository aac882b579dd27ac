"""GLSL put together in Python: includes, and errors that name glsl file, line and pass."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import moderngl
import pytest

import gpufluid.gl.source
from gpufluid.errors import ShaderError
from gpufluid.gl.backend import GLBackend
from gpufluid.gl.source import Source, shader_root
from gpufluid.grid import Grid
from gpufluid.kernels import Variant


@pytest.fixture
def shaders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the shader folder that a test may spoil."""
    root = tmp_path / "glsl"
    shutil.copytree(shader_root(), root)
    monkeypatch.setattr(gpufluid.gl.source, "shader_root", lambda: root)
    return root


def spoil(file: Path, old: str, new: str) -> int:
    """Replace `old` and return the number of the line it stands in."""
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
    return text[: text.index(old)].count("\n") + 1


@pytest.mark.parametrize("stage", ["fragment", "compute"])
@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("sim/jacobi.glsl", "vec4 p = fetch_pressure", "vec4 p = fetch_nonsense"),
        ("lib/box.glsl", "return clamp(cell", "return clump(cell"),
    ],
)
def test_a_broken_shader_names_file_line_and_pass(
    file: str, old: str, new: str, stage: str, shaders: Path, ctx: moderngl.Context
) -> None:
    line = spoil(shaders / file, old, new)
    with pytest.raises(ShaderError) as error:
        GLBackend(Grid((4, 4, 4)), stage, ctx).kernel("jacobi", Variant())
    message = str(error.value)
    assert f"glsl/{file}:{line}:" in message
    assert f"pass jacobi ({stage})" in message
    assert new.split()[-1] in message


def test_a_broken_mesh_shader_names_its_own_stage(shaders: Path, ctx: moderngl.Context) -> None:
    from gpufluid.gl.voxelizer import Voxelizer

    name = "sim/voxelize_vertex.glsl"
    line = spoil(shaders / name, "slice = gl_InstanceID", "slice = gl_InstanceId")
    with pytest.raises(ShaderError, match=rf"pass voxelize \(vertex\): glsl/{name}:{line}:"):
        Voxelizer(GLBackend(Grid((4, 4, 4)), "fragment", ctx).device, Grid((4, 4, 4)))


def test_a_file_is_taken_in_once_for_each_name(shaders: Path) -> None:
    (shaders / "lib" / "value.glsl").write_text("float FIELD_value;\n")
    (shaders / "both.glsl").write_text(
        '#include "lib/value.glsl" for density\n#include "lib/value.glsl" for fuel  // again\n'
        '#include "lib/value.glsl" for density\n'
    )
    assert Source("test").include("both.glsl").text == "float density_value;\nfloat fuel_value;\n"


def test_a_file_that_was_changed_is_read_again(shaders: Path) -> None:
    """As someone writes on a shader while the program runs: a fluid made then has the new one."""
    file = shaders / "lib" / "value.glsl"
    for n in range(3):
        file.write_text(f"const float FIELD = {n}.0;\n")
        os.utime(file, ns=(n, n))  # two changes in one tick of the clock are not told apart
        for _ in range(2):
            assert Source("test").include("lib/value.glsl", "fuel").text == f"const float fuel = {n}.0;\n"
            assert Source("test").include("lib/value.glsl", "gas").text == f"const float gas = {n}.0;\n"


def test_missing_files_and_circles_are_named(shaders: Path) -> None:
    (shaders / "a.glsl").write_text('#include "b.glsl"\n')
    (shaders / "b.glsl").write_text('#include "a.glsl"\n')
    with pytest.raises(ShaderError, match="includes go round: a.glsl -> b.glsl -> a.glsl"):
        Source("test").include("a.glsl")
    (shaders / "c.glsl").write_text('#include "no.glsl"\n')
    with pytest.raises(ShaderError, match="glsl/c.glsl: no shader file 'no.glsl'"):
        Source("test").include("c.glsl")
    with pytest.raises(ShaderError, match="pass test: no shader file 'none.glsl'"):
        Source("test").include("none.glsl")


@pytest.mark.parametrize(
    "log",
    [
        "0:2(7): error: here",
        "0(2) : error C1008: here",
        "ERROR: 0:2: 'x' : here",
    ],
    ids=["mesa", "nvidia", "apple"],
)
def test_the_logs_of_three_drivers(log: str) -> None:
    source = Source("p").add("first", "<made>").add("second", "file.glsl")
    message = str(source.explain(log))
    assert message.startswith("pass p: file.glsl:1: ")
    assert message.endswith("here  | second")
