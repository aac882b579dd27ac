"""Several GPUs: which one a context of the engine's own is made on. EGL's devices are played."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any

import moderngl
import pytest

import gpufluid as gf
from gpufluid.app.info import device_lines
from gpufluid.contract.backend import released
from gpufluid.gl import contexts, devices
from gpufluid.gl.contexts import create_context

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="EGL's devices are Linux'")
REAL = moderngl.create_context


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Three devices: the first opens nothing, the others are this machine's. Those asked, in turn."""
    asked = []

    def create(device_index: int = -1, **options: Any) -> moderngl.Context:
        asked.append(device_index)
        if device_index == 0:
            raise ValueError("eglInitialize failed (0x3001)")
        return REAL(**{"backend": "egl", **contexts.LIBRARIES, **options})

    monkeypatch.setattr(moderngl, "create_context", create)
    for module in (contexts, devices):
        monkeypatch.setattr(module, "device_count", lambda: 3)
    monkeypatch.setattr(contexts, "_warned", set())
    monkeypatch.setattr(contexts, "_settled", None)
    for variable in (devices.VARIABLE, "GLCONTEXT_DEVICE_INDEX"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.delenv("LIBGL_ALWAYS_SOFTWARE", raising=False)
    return asked


def test_a_gpu_that_does_not_open_is_passed_over_and_told_once(played: list[int]) -> None:
    told = r"GPU 0 does not open \(eglInitialize failed \(0x3001\)\), so .* draws in software, .*/dev/dri"
    with pytest.warns(RuntimeWarning, match=told) as warned, released(create_context()) as ctx:
        assert contexts.is_software(ctx)
    assert played == [0, 0, 0, 1, 2, 1], "in each version, then to look for a GPU after it, then to take it"
    played.clear()
    assert len(warned) == 1
    assert warned[0].filename == __file__, "it does not name the program's line"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        create_context().release()
    assert played == [1], "it was looked for again"


@pytest.mark.parametrize("closed", [(), (0,), (2,)])
def test_a_gpu_goes_before_what_draws_in_software(
    played: list[int], monkeypatch: pytest.MonkeyPatch, closed: tuple[int, ...]
) -> None:
    """Wherever EGL numbers it: of several vendors' drivers a renderer in software may come first."""
    create, named = moderngl.create_context, {1: "llvmpipe", 2: "GPU"}

    def numbered(device_index: int, **options: Any) -> moderngl.Context:
        if device_index in closed:
            raise ValueError("closed")
        return create(device_index=device_index or 1, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(moderngl, "create_context", numbered)
    monkeypatch.setattr(contexts, "names_software", lambda renderer: named.get(played[-1]) != "GPU")
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        create_context().release()
        assert played[-1] == (1 if 2 in closed else 2)
        played.clear()
        with released(create_context()) as ctx:
            assert ctx.error == "GL_NO_ERROR", "another context is current"
    assert played == [1 if 2 in closed else 2], "it was looked for again"
    told = [str(one.message).partition(" (")[0] for one in warned]
    assert told == (["GPU 2 does not open"] if 2 in closed else [])


def test_who_wants_software_is_not_warned(played: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIBGL_ALWAYS_SOFTWARE", "1")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        create_context().release()
    assert 2 not in played, "a GPU was looked for"


def test_a_gpu_after_one_that_does_not_open_is_no_reason_to_warn(
    played: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contexts, "names_software", lambda renderer: False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        create_context().release()


def test_the_variable_takes_one_and_no_other(played: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(devices.VARIABLE, "2")
    create_context().release()
    assert played == [2]
    played.clear()
    monkeypatch.setenv(devices.VARIABLE, "0")
    with pytest.raises(gf.GLUnavailableError, match=r"no OpenGL 3.3 here \(eglInitialize failed"):
        create_context()
    assert set(played) == {0}, "another one was tried"


@pytest.mark.parametrize("value", ["3", "-1", "x", "1.0", "²"])
def test_a_device_that_is_not_there(played: list[int], monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv(devices.VARIABLE, value)
    with pytest.raises(
        gf.GpufluidError, match=f"^GPUFLUID_DEVICE must be a number from 0 to 2 .* got '{value}'$"
    ):
        create_context()
    assert not played


def test_the_variable_of_moderngl_is_heard_and_goes_second(
    played: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would go before what moderngl is told: every device would be this one."""
    monkeypatch.setenv("GLCONTEXT_DEVICE_INDEX", "2")
    create_context().release()
    assert played == [2]
    monkeypatch.setenv("GLCONTEXT_DEVICE_INDEX", "3")
    with pytest.raises(
        gf.GpufluidError, match="^GLCONTEXT_DEVICE_INDEX must be a number from 0 to 2 .* '3'$"
    ):
        create_context()
    monkeypatch.setenv(devices.VARIABLE, "1")
    create_context().release()
    assert played == [2, 1]
    assert os.environ["GLCONTEXT_DEVICE_INDEX"] == "3", "the host's contexts go by it"


def test_of_one_device_the_number_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "device_count", lambda: 1)
    monkeypatch.setenv(devices.VARIABLE, "1")
    with pytest.raises(gf.GpufluidError, match="^GPUFLUID_DEVICE must be 0 here, got '1'$"):
        create_context()


def test_other_systems_have_no_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setenv(devices.VARIABLE, "0")
    with pytest.raises(gf.GpufluidError, match="^GPUFLUID_DEVICE chooses a GPU on Linux alone"):
        create_context()
    assert devices.device_count() == 1


@pytest.mark.filterwarnings("ignore:GPU 0 does not open")
def test_info_lists_several(played: list[int]) -> None:
    lines = list(device_lines(False))
    assert lines[0] == "devices          0: does not open (eglInitialize failed (0x3001))"
    assert lines[1].startswith(f"{'':16} 1: ")
    assert lines[1][20:] == lines[2][20:] == lines[3].split(maxsplit=1)[1].rsplit(" (", 1)[0]


def test_the_devices_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last one opens, as its number says, and there is none behind it."""
    count = devices.device_count()
    assert count >= 1
    options = {"standalone": True, "backend": "egl", **contexts.LIBRARIES}
    REAL(device_index=count - 1, **options).release()  # type: ignore[arg-type]
    with pytest.raises(Exception, match=f"found {count} devices"):
        REAL(device_index=count, **options)  # type: ignore[arg-type]
    monkeypatch.setenv(devices.VARIABLE, str(count - 1))
    create_context().release()
    assert any(line.startswith("devices") for line in device_lines(False)) == (count > 1)
