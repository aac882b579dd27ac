"""The OpenGL context of the tests, and what holds in all of them."""

from __future__ import annotations

import ctypes.util
import functools
import os
import signal
import threading
from collections.abc import Iterator

import moderngl
import numpy as np
import pytest

import gpufluid.gl.backend
from gpufluid.debugging import VARIABLE, debug
from gpufluid.gl.calls import current_context
from gpufluid.gl.device import Device, create_context
from gpufluid.gl.kept import OFF
from gpufluid.gl.kept import VARIABLE as CACHE
from gpufluid.gl.messages import take
from gpufluid.gl.state import guard_of
from gpufluid.gl.ways import VARIABLE as WAY

# nobody's cache decides how kernels run here, and no test leaves one: the rules do, in every process
os.environ[CACHE] = OFF
os.environ.pop(WAY, None)
if VARIABLE not in os.environ:
    os.environ[VARIABLE] = "gl"  # for the processes that tests start
    debug("gl")
# a shell that starts the suite in the background has this signal ignored, for tests and their children too
signal.signal(signal.SIGINT, signal.default_int_handler)
# processes that tests start would each compile the whole package from its text, more than half of their start
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# moderngl asks it twice for each context, and it asks a process of its own that lists all libraries
ctypes.util.find_library = functools.cache(ctypes.util.find_library)

_shared: list[moderngl.Context] = []


def pytest_configure(config: pytest.Config) -> None:
    """Let llvmpipe do without LLVM's optimiser, half of its time to compile; the bits are the same.

    That is tested in test_compiling. Long runs are of optimised code, and so are all where the variable is
    set, if to nothing.
    """
    if config.option.markexpr not in ("validation", "soak"):
        os.environ.setdefault("GALLIVM_PERF", "nopt")


@pytest.fixture(scope="module")
def ctx() -> Iterator[moderngl.Context]:
    """The context the tests of a module share.

    One for all kept thousands of shaders, several GiB, and a driver that drops some of them now and then. A
    device is there from first to last: without any, a context lets go of its programs, and each test would
    link them anew.
    """
    _shared.append(create_context())
    keeper = Device(_shared[0], "fragment")
    yield _shared[0]
    keeper.release()
    _shared.pop().release()


class Lender:
    """Contexts for fluids that want one of their own: one that another has left, with its programs, or a new.

    To a fluid it is its own: no other has it at that time. To make one takes longer than many a test, and to
    link in it what was linked in the last as long again.
    """

    def __init__(self) -> None:
        self._made: list[tuple[moderngl.Context, Device]] = []
        self._idle: list[moderngl.Context] = []

    def lend(self) -> moderngl.Context:
        """One that is nobody's, current; outside the main thread, where it could not be, one to keep."""
        if threading.current_thread() is not threading.main_thread():
            return create_context()
        if self._idle:
            ctx = self._idle.pop()
            ctx.__enter__()
            ctx.detect_framebuffer(0).use()  # or moderngl would bind a target that was released
            return ctx
        ctx = create_context()
        self._made.append((ctx, Device(ctx, "fragment")))
        ctx.release = functools.partial(self._take_back, ctx)  # type: ignore[method-assign]
        return ctx

    def _take_back(self, ctx: moderngl.Context) -> None:
        """What a fluid calls when it releases what it takes for its own."""
        if ctx not in self._idle:
            self._idle.append(ctx)

    def release(self) -> None:
        """Release all that were made, those of fluids that never were as well."""
        for ctx, keeper in self._made:
            ctx.__enter__()
            keeper.release()
            moderngl.Context.release(ctx)


@pytest.fixture(scope="module", autouse=True)
def lent_contexts() -> Iterator[None]:
    """Fluids of a module that are given no context take turns with those of a lender."""
    lender, patch = Lender(), pytest.MonkeyPatch()
    patch.setattr(gpufluid.gl.backend, "create_context", lender.lend)
    yield
    patch.undo()
    lender.release()


@pytest.fixture(scope="module")
def device(ctx: moderngl.Context) -> Iterator[Device]:
    """One that draws, in that context."""
    made = Device(ctx, "fragment")
    yield made
    made.release()


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


@pytest.fixture
def rng() -> np.random.Generator:
    """Random numbers, the same in every run."""
    return np.random.default_rng(7)
