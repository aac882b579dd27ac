"""Memory that OpenGL gives holds what was there before: in the suite nothing may count on zeros.

A driver in software mostly gives zeros. Others give what a program had there, or another one.
"""

from __future__ import annotations

from typing import Any

import moderngl

LARGEST = 1 << 22  # bytes, those of 64^3 cells: what is larger is kept as what is smaller
# each float of such bytes is NaN, half or single, and each whole number the largest
NANS = memoryview(b"\xff" * LARGEST)


def install() -> None:
    """Have textures and buffers that are made without contents hold NaN."""
    texture, buffer = moderngl.Context.texture, moderngl.Context.buffer

    def textured(
        self: moderngl.Context, size: Any, components: int, data: Any = None, *more: Any, **named: Any
    ) -> moderngl.Texture:
        made = texture(self, size, components, data, *more, **named)
        nbytes = made.width * made.height * components * int(made.dtype[-1])
        if data is None and made.samples == 0 and 0 < nbytes <= LARGEST:
            made.write(NANS[:nbytes], alignment=1)
        return made

    def buffered(self: moderngl.Context, data: Any = None, **named: Any) -> moderngl.Buffer:
        made = buffer(self, data, **named)
        if data is None and made.size <= LARGEST:
            made.write(NANS[: made.size])
        return made

    moderngl.Context.texture, moderngl.Context.buffer = textured, buffered  # type: ignore[method-assign]
