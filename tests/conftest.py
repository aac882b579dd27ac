"""Contexts and devices for the tests: one context for each stage, made once."""

from __future__ import annotations

from collections.abc import Iterator

import moderngl
import numpy as np
import pytest

from gpufluid.gl.device import create_context

STAGES = ("fragment", "compute")


_shared: list[moderngl.Context] = []


@pytest.fixture(scope="session")
def ctx() -> Iterator[moderngl.Context]:
    """The context the suite shares."""
    _shared.append(create_context())
    yield _shared[0]
    _shared.pop().release()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Make the shared context current again: a test before may have had one of its own."""
    if _shared and "ctx" in getattr(item, "fixturenames", ()):
        _shared[0].__enter__()


@pytest.fixture
def rng() -> np.random.Generator:
    """Random numbers, the same in every run."""
    return np.random.default_rng(7)
