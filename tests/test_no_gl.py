"""A machine without OpenGL: the package imports, NumPy steps, and the command says what to install."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from zipfile import ZipFile

import pytest
from driver import python

import gpufluid as gf

# A machine without GL as Python sees it: neither the modules nor the libraries under them can be loaded.
NO_GL = """
    import ctypes, ctypes.util, sys
    from importlib.abc import MetaPathFinder

    class Block(MetaPathFinder):
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] in ("moderngl", "_moderngl", "glfw", "glcontext"):
                raise ImportError(f"{name} is blocked in this test")
            return None

    def blocked(self, name, *args, **options):
        if name and any(part in str(name) for part in ("libGL", "libEGL", "libX11")):
            raise OSError(f"{name}: cannot open shared object file: No such file or directory")
        load(self, name, *args, **options)

    sys.meta_path.insert(0, Block())
    find, load = ctypes.util.find_library, ctypes.CDLL.__init__
    ctypes.util.find_library = lambda name: None if name in ("GL", "EGL", "X11") else find(name)
    ctypes.CDLL.__init__ = blocked
"""
# The same machine for the command, which has moderngl: the libraries it opens are not there.
NO_LIBRARIES = {f"GLCONTEXT_LINUX_LIB{name}": f"lib{name}-missing.so.1" for name in ("GL", "EGL", "X11")}


STEPS = """
    import gpufluid as gf

    fluid = gf.Fluid(gf.Grid((8, 12, 7), cell_size=0.1), backend="numpy")
    fluid.emitters.add(gf.Emitter(gf.Sphere((0.4, 0.3, 0.35), 0.2), density=5.0, temperature=40.0))
    fluid.obstacles.add(gf.Obstacle(gf.Box((0.4, 0.8, 0.35), (0.3, 0.1, 0.3))))
    for _ in range(3):
        fluid.step(0.05)
    assert fluid.density.read().max() > 0.1
    assert fluid.velocity.read()[..., 1].max() > 0.1, "hot smoke does not rise"
    assert not {"moderngl", "glfw", "glcontext"} & set(sys.modules)
    print("stepped by", fluid.backend_name)
"""


def run_python(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    headless = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    return python(*arguments, env={**headless, **variables})


def test_numpy_steps_without_gl() -> None:
    warnings = ("-X", "warn_default_encoding", "-W", "error")  # as packagers run it
    done = run_python(*warnings, "-c", textwrap.dedent(NO_GL) + textwrap.dedent(STEPS))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "stepped by numpy\n"


def test_a_package_in_a_zip_file_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its shaders and demos are no files there."""
    monkeypatch.chdir(tmp_path)
    packed, package = tmp_path / "packed.zip", Path(gf.__file__).parent
    with ZipFile(packed, "w") as archive:
        for file in package.rglob("*.py"):
            archive.write(file, file.relative_to(package.parent))
    for words in (["-m", "gpufluid", "scenes"], ["-c", "import gpufluid as gf; gf.glsl('sample')"]):
        done = run_python(*words, PYTHONPATH=str(packed))
        told = f"gpufluid cannot run inside {packed}: unpack it, or install it by pip"
        assert done.returncode and told in done.stderr, done.stderr


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="GL is part of macOS and Windows")
@pytest.mark.parametrize("words", ["info", "demo --frames 1 -o a.mp4", "demo smoke --frames 1 -o a.mp4"])
def test_the_command_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    """No scene file is to blame for it; what helps in Python alone says so."""
    monkeypatch.chdir(tmp_path)
    done = run_python("-m", "gpufluid", *words.split(), **NO_LIBRARIES)
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    for part in (
        ": error: no OpenGL 3.3",
        "libegl1 libgl1 libgl1-mesa-dri",
        'in Python gf.Fluid(..., backend="numpy")',
    ):
        assert part in done.stderr
    assert list(tmp_path.iterdir()) == []


FORKED = """
    import os, signal, sys
    import gpufluid as gf

    grid = gf.Grid((4, 4, 4), 0.1)
    fluid = gf.Fluid(grid, backend=sys.argv[1])
    if os.fork() == 0:
        signal.alarm(20)  # seconds after which a child that waits for ever is ended
        gf.Fluid(grid, backend="numpy").step(0.1)
        for make in (lambda: gf.Fluid(grid), lambda: gf.VolumeRenderer(fluid.ctx)):
            try:
                make()
                print("made", flush=True)
            except gf.GpufluidError as error:
                print(error, flush=True)
        os._exit(0)
    assert os.wait()[1] == 0, "the child waits for what the fork has left behind"
    fluid.step(0.1)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows does not fork")
def test_a_forked_process_is_told_to_be_spawned() -> None:
    """Its driver's threads are not there: the first draw waited for them for ever. NumPy steps there."""
    done = run_python("-c", textwrap.dedent(FORKED), "fragment")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count('by multiprocessing.get_context("spawn"), or use backend="numpy"\n') == 2
    done = run_python("-c", textwrap.dedent(FORKED).replace("fluid.ctx", "gf.Fluid(grid).ctx"), "numpy")
    assert (done.returncode, done.stdout) == (0, "made\nmade\n"), "nothing had used OpenGL"
