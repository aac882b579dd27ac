"""Shaders held to Khronos' reference compiler of GLSL: conftest asks it after each file of tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import khronos
import moderngl
import pytest

import gpufluid as gf

pytestmark = pytest.mark.skipif(
    khronos.COMPILER is None and "CI" not in os.environ, reason="needs glslangValidator: glslang-tools"
)


@pytest.fixture
def waiting(monkeypatch: pytest.MonkeyPatch) -> Iterator[set[tuple[str, str]]]:
    """What was compiled since the test began, and would be asked about after its file."""
    found: set[tuple[str, str]] = set()
    monkeypatch.setattr(khronos, "_waiting", found)
    monkeypatch.setattr(khronos, "_taken", set())
    yield found


@pytest.mark.parametrize("stage", ["fragment", "compute"])
def test_every_shader_of_a_step_and_a_picture_is_asked_about(
    stage: str, ctx: moderngl.Context, waiting: set[tuple[str, str]], tmp_path: Path
) -> None:
    """One that is no GLSL is found, though the driver took it before it was spoilt."""
    with gf.Fluid(gf.Grid((9, 7, 5), 0.1), backend=stage, ctx=ctx) as fluid:
        fluid.step(1 / 30)
        with gf.FrameRenderer(ctx, (16, 9)) as frames:
            frames.draw(gf.Scene(fluid))
    for ending in {"fragment": ("vert", "frag"), "compute": ("vert", "frag", "comp")}[stage]:
        asked = {text for text, of in waiting if of == ending}
        assert len(asked) > {"vert": 3, "frag": 8, "comp": 12}[ending]
        text = sorted(asked)[0]
        spoilt = text.replace("void main()", "float nobody_knows() { return x_of_nothing; }\nvoid main()")
        assert spoilt != text
        assert "x_of_nothing" in khronos.refused({(spoilt, ending)}, tmp_path)
        assert not khronos.refused({(text, ending)}, tmp_path)


def test_what_the_compiler_does_not_take_fails(waiting: set[tuple[str, str]], tmp_path: Path) -> None:
    """And is not asked about twice, nor is what it takes."""
    good = ("#version 330 core\nvoid main() { gl_Position = vec4(0.0); }\n", "vert")
    waiting.update({good, ("#version 330 core\nvoid main() { gl_Position = vec3(0.0); }\n", "vert")})
    with pytest.raises(AssertionError, match="cannot convert"):
        khronos.check(tmp_path)
    assert not waiting
    waiting.add(good)
    khronos.check(tmp_path)
    assert khronos._taken == {good}
