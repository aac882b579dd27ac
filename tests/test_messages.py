"""OpenGL's complaints are heard: in the engine's calls, before them, and in the suite."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import moderngl
import pytest
from driver import PATIENCE

import gpufluid as gf
from gpufluid.gl import enums, messages
from gpufluid.gl.calls import calls
from gpufluid.gl.field import Field
from gpufluid.gl.messages import take

NO_SUCH = 0x1234  # an enum that OpenGL does not have


def small(ctx: moderngl.Context) -> gf.Fluid:
    fluid = gf.Fluid(gf.Grid((4, 4, 4), 0.1), backend="fragment", ctx=ctx)
    fluid.emitters.add(gf.Emitter(gf.Sphere((0.2, 0.2, 0.2), 0.1), density=1.0))
    return fluid


def test_a_wrong_bind_is_told_with_its_line(ctx: moderngl.Context, monkeypatch: Any) -> None:
    with small(ctx) as fluid:
        real = Field.swap

        def wrong(self: Field) -> None:
            real(self)
            calls(ctx).glBindTexture(0x0DE1, 987654)  # a name nobody has given

        monkeypatch.setattr(Field, "swap", wrong)
        with pytest.raises(
            gf.GpufluidError,
            match=r"^Fluid.step: OpenGL says: error: .*(glBindTexture|Texture name).*, in gl/passes.py line",
        ):
            fluid.step(0.1)
        monkeypatch.undo()
        fluid.step(0.1)


def test_what_a_host_did_is_told_apart(ctx: moderngl.Context) -> None:
    with small(ctx) as fluid:
        calls(ctx).glEnable(NO_SUCH)
        with pytest.warns(
            RuntimeWarning, match=r"^before Fluid.step, by somebody else's call, OpenGL says: .*ENUM"
        ):
            fluid.step(0.1)


def test_without_the_drivers_voice_errors_are_asked_for(ctx: moderngl.Context, monkeypatch: Any) -> None:
    gl = calls(ctx)
    gl.glDebugMessageCallback(None, None)
    try:
        with small(ctx) as fluid:
            real = Field.swap

            def wrong(self: Field) -> None:
                real(self)
                gl.glEnable(NO_SUCH)

            monkeypatch.setattr(Field, "swap", wrong)
            with pytest.raises(gf.GpufluidError, match="^Fluid.step: OpenGL says: GL_INVALID_ENUM$"):
                fluid.step(0.1)
            monkeypatch.undo()
    finally:
        gl.glDebugMessageCallback(ctypes.cast(messages._CALLBACK, ctypes.c_void_p), None)


def test_a_host_that_listens_itself_goes_on(ctx: moderngl.Context) -> None:
    from gpufluid.gl.contexts import create_context

    gf.debug()
    own = create_context()
    gf.debug("gl")
    heard: list[bytes] = []
    kind = messages._KIND(None, *[ctypes.c_uint] * 4, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
    callback = kind(lambda *given: heard.append(given[5]))
    gl = calls(own)
    gl.glEnable(enums.DEBUG_OUTPUT)
    gl.glEnable(enums.DEBUG_OUTPUT_SYNCHRONOUS)
    gl.glDebugMessageCallback(ctypes.cast(callback, ctypes.c_void_p), None)
    with small(own) as fluid:
        fluid.step(0.1)
        gl.glEnable(NO_SUCH)
        assert b"GL_INVALID_ENUM" in heard[-1]
        with pytest.warns(RuntimeWarning, match="^before Fluid.step, .* GL_INVALID_ENUM$"):
            fluid.step(0.1)
    gl.glDebugMessageCallback(None, None)
    own.release()
    ctx.__enter__()


def test_without_the_switch_nothing_is_raised(ctx: moderngl.Context) -> None:
    with small(ctx) as fluid:
        gf.debug()
        try:
            calls(ctx).glEnable(NO_SUCH)
            fluid.step(0.1)
        finally:
            gf.debug("gl")
        assert any("GL_INVALID_ENUM" in text for text in take(ctx))


def test_an_error_outside_the_engine_fails_a_test(tmp_path: Path) -> None:
    """Of this suite: in a process of its own, one test that passes and one that binds what is not there."""
    test = tmp_path / "test_it.py"
    test.write_text(
        "from gpufluid.gl.calls import calls\n"
        "def test_right(ctx): calls(ctx).glEnable(0x0B71)\n"
        "def test_wrong(ctx): calls(ctx).glBindTexture(0x0DE1, 987654)\n"
    )
    here = Path(__file__).parent
    path = os.pathsep.join([str(here), str(here.parent), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "conftest",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:xdist",
            str(test),
        ],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        cwd=tmp_path,
    )
    assert "2 passed, 1 error" in done.stdout, done.stdout
    assert re.search("ERROR test_it.py::test_wrong.*(glBindTexture|GL_INVALID_OPERATION)", done.stdout)
