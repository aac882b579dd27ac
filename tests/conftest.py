"""The OpenGL context of the tests, and what holds in all of them."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Generator, Iterator
from contextlib import suppress
from typing import Any

# read where NumPy is imported: the matrices here are small, and threads that wait spin, beside other tests
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import fencing
import khronos
import leftovers
import moderngl
import numpy as np
import pytest
import uniforms
from driver import IN_THE_SUITE
from hypothesis import HealthCheck, settings

from gpufluid.common.debugging import VARIABLE, debug
from gpufluid.description.grid import Grid
from gpufluid.gl import trial
from gpufluid.gl.backend import GLBackend
from gpufluid.gl.calls import current_context
from gpufluid.gl.contexts import create_context
from gpufluid.gl.device import Device
from gpufluid.gl.kept import OFF, cache_folder
from gpufluid.gl.kept import VARIABLE as CACHE
from gpufluid.gl.messages import take
from gpufluid.gl.state import guard_of
from gpufluid.gl.ways import VARIABLE as WAY

# Mesa keeps compiled shaders there, most of what a run of the suite takes. In the folder of all programs, of
# 1 GiB, a few versions of the shaders drive each other out. Processes of xdist are given the folder
shaders = cache_folder()
# nobody's cache decides how kernels run here, and no test leaves one: the rules do, in every process
os.environ[CACHE] = OFF
os.environ.pop(WAY, None)
if VARIABLE not in os.environ:
    os.environ[VARIABLE] = "gl"  # for the processes that tests start
    debug("gl")
# a shell that starts the suite in the background has this signal ignored, for tests and their children too
signal.signal(signal.SIGINT, signal.default_int_handler)
# a process that a test lets write a few thousand bytes would leave half a compiled module to all after it
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
sys.dont_write_bytecode = True

# how long an example takes says how busy the machine is
settings.register_profile("busy", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")

uniforms.install()  # before anything imports gpufluid.render
fencing.install()
khronos.install()
leftovers.install()

_shared: list[moderngl.Context] = []


def pytest_configure(config: pytest.Config) -> None:
    """Let llvmpipe do without LLVM's optimiser, half of its time to compile, and without threads.

    They wait for one another longer than they draw what is as small as here, and the cores have other tests.
    The bits are the same, which is tested in test_compiling. What it compiles has a folder of its own. Long
    runs are of the code that users have, and so are all where the variables are set, if to nothing; windows
    have threads.
    """
    if config.option.markexpr not in ("validation", "soak"):
        for name, value in IN_THE_SUITE.items():
            os.environ.setdefault(name, value)
        if shaders is not None and "MESA_SHADER_CACHE_DIR" not in os.environ:
            with suppress(OSError):
                (shaders / "tests").mkdir(parents=True, exist_ok=True)
                os.environ["MESA_SHADER_CACHE_DIR"] = str(shaders / "tests")
                os.environ.setdefault("MESA_SHADER_CACHE_MAX_SIZE", "2G")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """Have Python look for garbage neither while tests are collected nor among what that has left.

    Of thousands of tests, their modules and texts nothing goes before the end. To walk through all of them
    took 0.2 s each time, a twentieth of a run.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="module")
def ctx() -> Iterator[moderngl.Context]:
    """The context the tests of a module share.

    One for all kept thousands of shaders, several GiB, and a driver that drops some of them now and then.
    """
    _shared.append(create_context())
    yield _shared[0]
    _shared.pop().release()


@pytest.fixture(scope="module")
def another(ctx: moderngl.Context) -> Iterator[moderngl.Context]:
    """A second context, with programs of its own of the names that the first keeps."""
    made = create_context()
    ctx.__enter__()
    yield made
    made.release()


@pytest.fixture
def like_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """The renderer is taken for a GPU, whose trials are those of small boxes here."""
    monkeypatch.setattr("gpufluid.gl.contexts.SOFTWARE", ())
    monkeypatch.setattr(trial, "CELLS", {True: 8, False: 8})
    monkeypatch.setattr(trial, "LARGE", 12)


@pytest.fixture(scope="module")
def device(ctx: moderngl.Context) -> Iterator[Device]:
    """One that draws, in that context."""
    made = Device(ctx, "fragment")
    yield made
    made.release()


@pytest.fixture(scope="module")
def one_context(ctx: moderngl.Context, device: Device) -> Iterator[None]:
    """Fluids that would each make a context of their own are all in the module's.

    A program is linked once for them, which takes longer than most of their steps; `device` keeps it. Not for
    files with thousands of programs: the 800 of test_pressure take 0.8 GB, 1500 took 2.6.
    """
    alone = GLBackend.__init__

    def together(
        self: GLBackend, grid: Grid, backend: str = "auto", own: moderngl.Context | None = None, *more: Any
    ) -> None:
        alone(self, grid, backend, own if own is not None else ctx, *more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(GLBackend, "__init__", together)
        yield


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Make the module's context current again: a test before may have had one of its own."""
    if _shared and "ctx" in getattr(item, "fixturenames", ()):
        _shared[0].__enter__()
        _shared[0].detect_framebuffer(0).use()  # or moderngl would bind a target that a test has released


@pytest.fixture(autouse=True)
def opengl_has_nothing_to_say() -> Iterator[None]:
    """Any error or warning of OpenGL fails the test it came in, wherever it was made.

    Calls of the engine raise by themselves, since GPUFLUID_DEBUG is set; this hears the rest.
    """
    take()
    yield
    current = bool(_shared) and guard_of(_shared[0]).handle == current_context()
    said = take(_shared[0] if current else None)
    assert not said, said


@pytest.fixture(scope="module", autouse=True)
def every_shader_is_glsl(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What the tests of a module compile is GLSL to Khronos' compiler too, where that is installed."""
    yield
    khronos.check(tmp_path_factory.mktemp("shaders"))


@pytest.fixture
def rng() -> np.random.Generator:
    """Random numbers, the same in every run."""
    return np.random.default_rng(7)
