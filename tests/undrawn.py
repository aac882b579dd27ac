"""Passes that do all but draw and dispatch, for a measure of what that costs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any

import moderngl
import pytest

CALLS = {
    moderngl.VertexArray: ["render"],
    moderngl.ComputeShader: ["run", "run_indirect"],
    moderngl.Framebuffer: ["clear"],
    moderngl.Context: ["memory_barrier"],
}


def _nothing(*given: Any, **by_name: Any) -> None:
    pass


@contextmanager
def undrawn() -> Iterator[CodeType]:
    """Nothing is drawn, dispatched or cleared inside; yield the code of what is called in its place.

    Fields are swapped and not written meanwhile: what is stepped is spoiled.
    """
    with pytest.MonkeyPatch.context() as patch:
        for kind, names in CALLS.items():
            for name in names:
                patch.setattr(kind, name, _nothing)
        yield _nothing.__code__
