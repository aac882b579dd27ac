"""The fences kept behind what is drawn on Mesa's llvmpipe; `fencing` looks for them in all tests."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import moderngl
import pytest

from gpufluid.gl import enums
from gpufluid.gl import fences as module
from gpufluid.gl.contexts import is_software
from gpufluid.gl.fences import MOST, Fences, draw_to, fences
from gpufluid.gl.state import keeping

TIMEOUT_EXPIRED = 0x911B


class Driver:
    """Numbers fences from 1 on; its threads have passed those up to `passed`."""

    def __init__(self) -> None:
        self.made = self.passed = 0
        self.deleted: list[int] = []
        self.glClientWaitSync, self.glDeleteSync = self.wait, self.delete

    def quick(self, name: str) -> Any:
        assert name == "glFenceSync"
        return self.make

    def make(self, condition: int, flags: int) -> int:
        assert (condition, flags) == (enums.SYNC_GPU_COMMANDS_COMPLETE, 0)
        self.made += 1
        return self.made

    def wait(self, fence: int, flags: int, timeout: int) -> int:
        assert timeout > 0 and fence not in self.deleted
        passed, self.passed = self.passed, self.made
        return enums.CONDITION_SATISFIED if fence <= passed else TIMEOUT_EXPIRED

    def delete(self, fence: int) -> None:
        assert fence < self.passed  # all threads have left it: they have passed a later one
        self.deleted.append(fence)


def test_a_fence_is_kept_until_a_later_one_is_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else llvmpipe writes into memory that it has freed."""
    driver = Driver()
    monkeypatch.setattr(module, "calls", lambda ctx: driver)
    kept = Fences(SimpleNamespace())  # type: ignore[arg-type]  # whose functions are the driver's
    for _ in range(MOST):
        kept.add()
    assert not driver.deleted and not driver.passed
    for _ in range(20 * MOST):
        kept.add()
    assert driver.deleted == list(range(1, len(driver.deleted) + 1))
    assert MOST // 2 <= driver.made - len(driver.deleted) <= MOST


def test_a_driver_that_gives_no_fence_is_not_asked_about_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """As one that has lost the context."""
    driver = Driver()
    driver.make = lambda condition, flags: None  # type: ignore[assignment, method-assign, return-value]
    driver.glDeleteSync = lambda fence: None  # which takes 0 as well
    driver.glClientWaitSync = driver.delete
    monkeypatch.setattr(module, "calls", lambda ctx: driver)
    kept = Fences(SimpleNamespace())  # type: ignore[arg-type]
    for _ in range(3 * MOST):
        kept.add()
    assert not driver.deleted


def test_what_is_drawn_without_a_fence_is_seen(ctx: moderngl.Context) -> None:
    """Or `fencing` would let everything pass."""
    if fences(ctx) is None:
        assert not is_software(ctx)
        pytest.skip("not llvmpipe")
    one, two = (ctx.framebuffer([ctx.texture((2, 2), 4)]) for _ in range(2))
    with pytest.raises(AssertionError, match="no fence is behind"), keeping(ctx, "a test"):
        one.clear()
        two.clear()
    with keeping(ctx, "a test"):
        one.clear()
        draw_to(two)
        two.clear()
    for target in (one, two):
        target.color_attachments[0].release()
        target.release()
