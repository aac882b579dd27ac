"""GLSL put together in Python: includes, and errors that name glsl file, line and pass."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import moderngl
import pytest

import gpufluid.gl.source
from gpufluid.common.errors import ShaderError
from gpufluid.contract.kernels import Variant
from gpufluid.description.boundaries import Boundaries, Inflow, Wall
from gpufluid.description.grid import Grid
from gpufluid.gl.backend import GLBackend
from gpufluid.gl.device import let_go
from gpufluid.gl.source import Source, shader_root


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
    line = spoil(shaders / name, "octet = gl_InstanceID", "octet = gl_InstanceId")
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


# GLSL 4.60, 3.6: what is reserved, and words of other versions that are no names where a context has those
RESERVED = {
    *("common", "partition", "active", "asm", "class", "union", "enum", "typedef", "template", "this"),
    *("resource", "goto", "inline", "noinline", "public", "static", "extern", "external", "interface"),
    *("long", "short", "half", "fixed", "unsigned", "superp", "input", "output", "filter", "sizeof", "cast"),
    *("namespace", "using", "row_major", "packed", "patch", "sample", "subroutine", "precise", "double"),
    *(f"{kind}vec{n}" for kind in "hfd" for n in (2, 3, 4)),
    *("attribute", "varying", "texture2D", "shadow2D", "gl_FragColor", "gl_FragData", "atomic_uint"),
}


def words_of(text: str) -> set[str]:
    """The words of GLSL, comments left out."""
    return set(re.findall(r"[A-Za-z_]\w*", re.sub(r"//.*", "", text)))


@pytest.mark.parametrize("file", sorted(shader_root().rglob("*.glsl")), ids=lambda file: file.stem)
def test_shaders_are_plain_to_every_compiler(file: Path) -> None:
    """ASCII, no names that are reserved, no two underscores side by side, no edges the wrong way round."""
    text = file.read_bytes().decode("ascii")
    words = words_of(text)
    assert not words & RESERVED
    assert not [word for word in words if "__" in word]  # reserved for the language
    # undefined where the first edge is not below the second: where that has a name, the first is 0
    for low, high in re.findall(r"smoothstep\(([\d.]+), ([^,]+),", text):
        assert float(low) < float(high) if high[0].isdigit() and "-" not in high else low == "0.0"


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


def test_what_a_driver_repeats_is_told_once() -> None:
    source = Source("p").add("first\nsecond", "file.glsl")
    log = "0:1(7): error: `a' undeclared\n0:1(9): error: twice\n0:1(12): error: twice\n0:2(1): error: twice"
    assert str(source.explain(log)).splitlines() == [
        "pass p: file.glsl:1: error: `a' undeclared  | first",
        "file.glsl:1: error: twice",
        "file.glsl:2: error: twice  | second",
    ]


# -- uniforms that the vertex shader hands on --------------------------------------------------------------

MANY = """#version 330 core
#define WITH 1
uniform vec3 tint;  // with a comment
uniform float gain[2], share;
uniform bool on, off;
uniform ivec2 step_by;
#if WITH
uniform mat3 turn;
#else
uniform vec2 absent;
uniform mat3 turn;
#endif
uniform float corner;   // the vertex shader has one too
uniform float taken;    // another thing's name there
uniform vec4 large[COUNT];
out vec4 color;
float twice(float share) { return 2.0 * share; }
void main() {
    color = vec4(turn * tint * gain[1] + gain[0], twice(share) + taken + large[1].y);
    if (on && !off) color.xy += vec2(step_by) + corner;
}
"""
CORNERS = """#version 330 core
uniform float corner;
const float taken = 4.0;
void main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * taken - corner, 0.0, 1.0); }
"""
VALUES = {
    "tint": (0.5, -1.25, 3.0),
    "gain": [0.1, 0.7],
    "share": 0.3,
    "on": True,
    "off": False,
    "step_by": (3, -7),
    "turn": (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.5),
    "corner": 1.0,
    "taken": 0.25,
    "large": [(0.0, 1.0, 2.0, 3.0), (4.0, 5.5, 6.0, 7.0)],
}


def pixel(ctx: moderngl.Context, fragment: Source, vertex: Source) -> bytes:
    """What the shaders draw with VALUES, as bytes."""
    program = ctx.program(vertex_shader=vertex.text, fragment_shader=fragment.text)
    for name, value in VALUES.items():
        program[name].value = value  # type: ignore[union-attr]
    texture = ctx.texture((3, 2), 4, dtype="f4")
    target, triangle = ctx.framebuffer([texture]), ctx.vertex_array(program, [])
    target.use()
    ctx.enable_only(moderngl.NOTHING)
    triangle.render(moderngl.TRIANGLES, vertices=3)
    drawn = texture.read()
    let_go(target, triangle, texture, program)
    return drawn


def test_uniforms_handed_on_draw_the_same(ctx: moderngl.Context) -> None:
    """Under #if and twice declared, arrays, truth values; large arrays and names in use stay uniforms."""
    fragment = Source("many").add(MANY.replace("COUNT", "2 * 1"), "here")
    vertex = Source("corners").add(CORNERS, "here")
    plain = pixel(ctx, fragment, vertex)
    handed, corners = fragment.handed_on(vertex, 100)
    left = [line.split(";")[0] for line in handed.text.splitlines() if line.startswith("uniform")]
    assert left == ["uniform float taken", "uniform vec4 large[2 * 1]"]
    assert corners.text.count("uniform float corner") == 1
    assert any(plain) and pixel(ctx, handed, corners) == plain
    assert pixel(ctx, handed.compiled_once(), corners) == plain


def test_an_error_in_such_a_shader_is_where_it_stands(shaders: Path, ctx: moderngl.Context) -> None:
    line = spoil(shaders / "sim/confinement.glsl", "growth *= 0.5", "growth *= half_of_it")
    with pytest.raises(ShaderError, match=rf"glsl/sim/confinement.glsl:{line}: .*half_of_it"):
        GLBackend(Grid((4, 4, 4)), "fragment", ctx).kernel("confinement", Variant())


def test_no_more_is_handed_on_than_there_is_room_for() -> None:
    wide = [f"uniform mat4 m{n};" for n in range(9)]
    fragment = Source("wide").add("\n".join(["#version 330 core", *wide, "void main() {}"]), "here")
    handed, _ = fragment.handed_on(Source("corners").add(CORNERS, "here"), 50)
    assert [line for line in handed.text.splitlines() if line in wide] == wide[3:]


def test_kernels_of_a_software_renderer_load_no_uniform(ctx: moderngl.Context) -> None:
    """But for arrays: a uniform is loaded for each texel."""
    backend = GLBackend(Grid((4, 4, 4)), "fragment", ctx)
    if not backend.device.software:
        pytest.skip("a GPU loads uniforms once")
    for name in ("jacobi", "confinement", "subtract_gradient"):
        backend.kernel(name, Variant())
    texts = [text for text in backend.device._programs if "gradient" in text or "confinement" in text]
    assert texts and all("flat in float flat_" in text for text in texts)
    assert not any("uniform float" in text.split("#version")[2] for text in texts)
    backend.release()


def test_few_forces_and_waves_are_handed_on_too(ctx: moderngl.Context) -> None:
    """Beside all that sides tell which change; passes that take many leave them where they are."""
    backend = GLBackend(Grid((4, 4, 4)), "fragment", ctx)
    if not backend.device.software:
        pytest.skip("a GPU loads uniforms once")
    assert backend.few
    sides = Boundaries.all(Inflow((1.0, 0.0, 0.0))).but(changing=True)
    for few in (True, False):
        for name, arrays in (("push", ["pushes"]), ("turbulence", ["waves", "wave_pushes"])):
            backend.kernel(name, Variant(boundaries=sides, few=few))
            fragment = list(backend.device._programs)[-1].split("#version")[2]
            assert [a for a in arrays if f" flat_{a}[" in fragment] == (arrays if few else [])
    backend.release()


def test_what_no_line_reads_is_not_declared() -> None:
    """So what differs in it alone is one program; a comment reads nothing, and each line keeps its number."""
    source = Source("pass").define({"OLD": 1, "NEW": 2})
    source.add("const float a = 1.0;\nconst float b = NEW * 2.0;\nconst ivec2 c = ivec2(OLD);", "<box>")
    source.add("uniform vec3 d[6];\nuniform int e;\n// a and c\nfloat f() { return b * e; }", "<here>")
    source.drop_unused()
    assert source.text.splitlines() == [
        "#define NEW 2",
        "const float b = NEW * 2.0;",
        "uniform int e;",
        "// a and c",
        "float f() { return b * e; }",
    ]
    assert "<here>:4: wrong" in str(source.explain("0:5(1): wrong"))


def test_what_a_file_reads_is_declared() -> None:
    source = Source("pass").define({"DIMENSIONS": 3, "OTHER": 1}).include("sim/divergence.glsl")
    source.drop_unused()
    assert source.text.startswith("#define DIMENSIONS 3\n// ")


def test_boxes_share_passes_that_read_nothing_of_what_they_differ_in(ctx: moderngl.Context) -> None:
    cells, sides = (8, 6, 4), Boundaries.all(Wall("free"))
    one, other = GLBackend(Grid(cells), "fragment", ctx), GLBackend(Grid(cells, 0.5), "fragment", ctx)
    for name, shared in (("halve", True), ("vorticity", False)):
        one.kernel(name, Variant())
        known = len(one.device._programs)
        other.kernel(name, Variant(boundaries=sides))
        assert (len(one.device._programs) == known) == shared, name
    one.release()
    other.release()
