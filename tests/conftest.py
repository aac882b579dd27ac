"""Contexts and devices for the tests: one context for each stage, made once."""

from __future__ import annotations

from collections.abc import Iterator

import moderngl
import numpy as np
import pytest

from gpufluid.gl.device import create_context

STAGES = ("fragment", "compute")


@pytest.fixture(scope="session")
def ctx() -> Iterator[moderngl.Context]:
    """The context the suite shares."""
    context = create_context()
    yield context
    context.release()


@pytest.fixture
def rng() -> np.random.Generator:
    """Random numbers, the same in every run."""
    return np.random.default_rng(7)
