"""``gpufluid info --check``: it finds nothing on a driver that is right, and says what is wrong on others."""

from __future__ import annotations

import re
from typing import Any

import moderngl
import numpy as np
import pytest

import gpufluid as gf
from gpufluid.app import selftest
from gpufluid.app.cli import main
from gpufluid.app.selftest import BOXES, compared
from gpufluid.gl.passes import Pass

INK = BOXES[-1:]


def test_a_driver_that_is_right_is_told_so(ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every box, in one stage, is off by what its precision makes; and there is much to see."""
    play, right = selftest._played, []

    def noted(box: selftest.Box, backend: str, *more: Any, **named: Any) -> Any:
        found = play(box, backend, *more, **named)
        if backend == "numpy":
            right.append(found[-1])
        return found

    monkeypatch.setattr(selftest, "_played", noted)
    lines = list(compared(ctx, ("fragment",)))
    assert len(lines) == len(BOXES) + 1
    for box, line in zip(BOXES, lines, strict=False):
        name, off = line.split(": fragment ")
        assert name == box.name
        assert float(off) <= (1e-2 if box.alike == selftest.HALF else 1e-4)
    assert float(lines[-1].split()[-1]) < 0.5 * selftest.PICTURES
    assert len(right) == len(BOXES)
    for fields in right:
        assert np.abs(fields["velocity"]).max() > 0.2 and fields["density"].max() > 0.05
        assert np.ptp(fields["pressure"]) > 0.01


def test_numbers_that_do_not_arrive_are_found(ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a driver of a software Vulkan: compute passes went on with the first value of a flag."""
    send, sent = Pass._send_flag, set()

    def once(self: Pass, name: str, value: bool) -> None:
        if self.stage == "fragment" or (self, name) not in sent:
            sent.add((self, name))
            send(self, name, value)

    monkeypatch.setattr(Pass, "_send_flag", once)
    lines = []
    with pytest.raises(gf.GpufluidError, match=r"told: compute \(smoke.*\)\. GPUFLUID_WAY=fragment in"):
        for line in compared(ctx, ("fragment", "compute"), BOXES[:1]):
            lines.append(line)
    found = re.fullmatch(r"smoke.*: fragment \de-0\d, compute (\S+) WRONG: \w+, from step [34] on", lines[0])
    assert found is not None and float(found[1]) > 0.1


def test_passes_that_are_joined_are_compared(ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    if ctx.version_code < 430:
        pytest.skip("there are no compute passes")
    line = "passes joined in large boxes: 2 sweeps as apart, 4 sweeps as apart, confinement as apart"
    assert next(compared(ctx, ("compute",), ())) == line
    send = Pass.__call__

    def wrong(self: Pass, **given: Any) -> None:
        if self.kernel.name == "jacobi_four":
            given["weights"] = (1.0, 1.0, 1.0, 0.9)
        send(self, **given)

    monkeypatch.setattr(Pass, "__call__", wrong)
    lines = []
    expected = r"told: passes that are joined \(4 sweeps\)\. GPUFLUID_WAY=1,apart in the environment"
    with pytest.raises(gf.GpufluidError, match=expected):
        for each in compared(ctx, ("fragment", "compute"), ()):
            lines.append(each)
    assert lines[0] == line.replace("4 sweeps as apart", "4 sweeps WRONG")


def test_what_reading_hides_is_said(ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read after every step it is right, as where a driver sees late what was written."""
    play = selftest._played

    def late(*some: Any, every: bool = False) -> Any:
        found = play(*some, every=every)
        if some[1] == "fragment" and not every:
            found[-1]["density"] = 0.5 * found[-1]["density"]
        return found

    monkeypatch.setattr(selftest, "_played", late)
    lines = []
    with pytest.raises(gf.GpufluidError, match="told: fragment"):
        for line in compared(ctx, ("fragment",), INK):
            lines.append(line)
    assert lines[0].endswith("fragment 5e-01 WRONG: density, only where nothing is read in between")


def test_values_that_are_none_and_pictures_that_differ_are_wrong(
    ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = {"density": np.ones((2, 2, 2), "f4"), "velocity": np.ones((3, 3, 3, 3), "f4")}
    for bad in (np.nan, np.inf):
        found = {**values, "velocity": np.where(np.arange(81).reshape(3, 3, 3, 3) == 7, bad, 1.0)}
        assert selftest._furthest(found, values) == (np.inf, "velocity")
    monkeypatch.setattr("gpufluid.app.selftest.PICTURES", 0.0)
    with pytest.raises(gf.GpufluidError, match=r"told: pictures \(slabs and rays\)\. a newer driver"):
        list(compared(ctx, ("fragment",), ()))


def test_the_command_says_what_was_found(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(ctx: moderngl.Context, backends: tuple[str, ...]) -> Any:
        yield " ".join(backends)
        yield "more"
        raise gf.GpufluidError("this driver is odd")

    monkeypatch.setattr("gpufluid.app.selftest.compared", found)
    assert main(["info", "--check"]) == 2
    said = capsys.readouterr()
    assert "\noff by at most   auto compute fragment\n                 more\n" in said.out
    assert "this driver is odd" in said.err
    assert main(["info"]) == 0
