"""The engine on Windows and macOS, as far as Linux can show it: what these lack, and where they differ."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from driver import PATIENCE

# no calls, signals and flags that Linux alone has, once all that asks for the system by itself is loaded
ELSEWHERE = """
    import ctypes.util, io, os, pathlib, random, signal, subprocess, sys, tempfile, urllib.request
    import av, moderngl, msgspec, numpy, OpenEXR, PIL.Image, tomlkit, tqdm

    make = moderngl.create_context
    def made(standalone=False, **given):  # by what the system has, which is EGL after all
        assert not given.keys() - {"require"}, given
        return make(standalone=standalone, backend="egl", **given)
    moderngl.create_context = made
    for name in ("sched_setscheduler", "sched_getaffinity", "setpriority", "getpriority", "PRIO_PROCESS"):
        delattr(os, name)
"""
WINDOWS = """
    sys.platform = "win32"
    for name in ("sysconf", "mkfifo", "geteuid", "O_NONBLOCK", "RTLD_NOLOAD", "RTLD_LAZY"):
        delattr(os, name)
    for name in ("SIGHUP", "SIGALRM", "SIGTSTP", "SIGPIPE"):
        delattr(signal, name)
    sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding="cp1252")

    def WINFUNCTYPE(result, *arguments):  # whose functions take the arguments named, and no more
        named = {"_restype_": result, "_argtypes_": arguments, "_flags_": 0}
        return type("WinFunctionType", (ctypes._CFuncPtr,), named)
    def WinDLL(name, mode=0):
        raise OSError
    ctypes.WINFUNCTYPE, ctypes.WinDLL = WINFUNCTYPE, WinDLL

    replace, chance = pathlib.Path.replace, random.Random(2)
    def held_open(self, target):  # by what looks for viruses
        if chance.random() < 0.3:
            raise PermissionError(13, "Permission denied")
        return replace(self, target)
    pathlib.Path.replace = held_open
"""
MACOS = """
    sys.platform = "darwin"
"""
ALL = """
    import gpufluid as gf
    from gpufluid.app.cli import main

    def go(words):
        assert main(words.split()) == 0, words
    go("info")
    go("new 煙é --from logo")
    few = "run 煙é.toml --cells 12 12 12 --size 48x32 --frames 2"
    go(few + " -o fr --volumes vol --save 煙.fluid")
    go(few + " -o fr --volumes vol --resume 煙.fluid")
    go(few + " -o 煙.mp4 --flip-book b.png --quiet")
    assert main(["run", "none.toml"]) == 2

    ctx = moderngl.create_context(standalone=True, require=330)  # a host's, whose state is kept
    fluid, renderer = gf.Fluid(gf.Grid((8, 8, 8), 0.1), ctx=ctx), gf.FrameRenderer(ctx, (48, 32))
    fluid.density.write(numpy.ones((8, 8, 8)))
    ctx.enable_only(moderngl.CULL_FACE)
    fluid.step(0.01)
    renderer.draw(gf.Scene(fluid))
    assert renderer.read().std() > 3.0
    sys.stdout.flush()
"""
MADE = {"b.json", "b.png", "fr", "logo.png", "vol", "煙.fluid", "煙.mp4", "煙é.toml"}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the others are what they are")
@pytest.mark.parametrize(
    ("system", "encoding", "cache", "version"),
    [(WINDOWS, "cp1252", "gpufluid", ""), (MACOS, "utf-8", "Library/Caches/gpufluid", "4.1FC")],
    ids=["windows", "macos"],
)
def test_the_command_and_a_guest_elsewhere(
    tmp_path: Path, system: str, encoding: str, cache: str, version: str
) -> None:
    home, folder = tmp_path / "home", tmp_path / "run"
    home.mkdir()
    folder.mkdir()
    given = {"HOME": str(home), "LOCALAPPDATA": str(home), "PYTHONUTF8": "0", "LC_ALL": "C.UTF-8"}
    if version:
        given |= {"MESA_GL_VERSION_OVERRIDE": version, "MESA_GLSL_VERSION_OVERRIDE": "410"}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GPUFLUID_")}
    done = subprocess.run(
        [sys.executable, "-c", "".join(map(textwrap.dedent, (ELSEWHERE, system, ALL)))],
        env={**environment, **given},
        cwd=folder,
        capture_output=True,
        timeout=PATIENCE,
    )
    told = done.stdout.decode(encoding)
    assert done.returncode == 0, told + done.stderr.decode(errors="replace")
    assert {path.name for path in folder.iterdir()} == MADE
    assert len(list((folder / "fr").iterdir())) == len(list((folder / "vol").iterdir())) == 4 + 1
    assert list((home / cache).glob("way-*.json")), "the trial was not kept"
    assert "\\u7159é.toml" in told if encoding == "cp1252" else "煙é.toml" in told
    assert ("OpenGL           4.1" in told) == bool(version)
