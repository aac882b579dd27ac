"""What makes a program wait for the GPU, reading back and making anew, forbidden for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import moderngl
import pytest


def forbid_reading(patch: pytest.MonkeyPatch) -> None:
    """Fail the test where anything is read back; a copy into a buffer, to be read later, may be made."""

    def refused(*given: Any, **by_name: Any) -> None:
        pytest.fail("it reads back")

    def read_into(self: moderngl.Texture, target: Any, *given: Any, **by_name: Any) -> None:
        if not isinstance(target, moderngl.Buffer):
            refused()
        into(self, target, *given, **by_name)

    into = moderngl.Texture.read_into
    for kind in (moderngl.Texture, moderngl.Buffer, moderngl.Framebuffer):
        patch.setattr(kind, "read", refused)
    patch.setattr(moderngl.Texture, "read_into", read_into)
    patch.setattr(moderngl.Context, "finish", refused)


@contextmanager
def nothing_new() -> Iterator[None]:
    """Fail the test where anything is made in a context inside."""

    def refused(*given: Any, **by_name: Any) -> None:
        raise AssertionError("a frame made something new")

    made = ("texture", "framebuffer", "buffer", "vertex_array", "program", "sampler")
    with pytest.MonkeyPatch.context() as patch:
        for name in (*made, "renderbuffer", "depth_renderbuffer"):
            patch.setattr(moderngl.Context, name, refused)
        yield
