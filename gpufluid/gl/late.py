"""Reading back without waiting: the driver copies a texture when it comes to it, and tells when it has."""

from __future__ import annotations

import moderngl
import numpy as np
from numpy.typing import NDArray

from gpufluid.gl import enums
from gpufluid.gl.calls import calls
from gpufluid.gl.fences import PASSED, SLICE


def settle(ctx: moderngl.Context) -> None:
    """Wait, in short slices, until the driver has done all that it was asked for, as any reading back does.

    Python runs its signal handlers between two of them: Ctrl-C strikes while a large picture is drawn.
    """
    gl = calls(ctx)
    fence = gl.glFenceSync(enums.SYNC_GPU_COMMANDS_COMPLETE, 0)
    try:
        answer = None
        while answer not in PASSED:
            answer = gl.glClientWaitSync(fence, enums.SYNC_FLUSH_COMMANDS_BIT, SLICE)
    finally:
        gl.glDeleteSync(fence)


class LateRead:
    """A copy of `texture` as it is now, on its way. Reads of the next passes do not wait for it."""

    def __init__(self, texture: moderngl.Texture) -> None:
        self._ctx, self._gl = texture.ctx, calls(texture.ctx)
        width, height = texture.size
        self._shape, self._dtype = (height, width, texture.components), texture.dtype
        size = height * width * texture.components * int(texture.dtype[1])
        self._buffer: moderngl.Buffer | None = self._ctx.buffer(reserve=size)
        texture.read_into(self._buffer, alignment=1)
        self._fence = self._gl.glFenceSync(enums.SYNC_GPU_COMMANDS_COMPLETE, 0)
        self._values: NDArray[np.floating] | None = None

    @property
    def ready(self) -> bool:
        """True once `read` does not wait."""
        return self.wait(0.0)

    def wait(self, seconds: float) -> bool:
        """Wait for it, but no longer than `seconds`; return whether it is `ready`.

        Where the driver cannot wait, it never will: then it is, and `read` meets what is wrong.
        """
        if self._buffer is None:
            return True
        flush, most = enums.SYNC_FLUSH_COMMANDS_BIT, int(seconds * 1e9)
        return self._gl.glClientWaitSync(self._fence, flush, most) in PASSED

    def read(self) -> NDArray[np.floating]:
        """Return it, [height, width, components]; waits where it is not `ready`."""
        if self._values is None:
            assert self._buffer is not None
            self._values = np.frombuffer(self._buffer.read(), self._dtype).reshape(self._shape)
            self.release()
        return self._values

    def release(self) -> None:
        """Forget the copy; idempotent."""
        if self._buffer is not None:
            self._buffer.release()
            self._gl.glDeleteSync(self._fence)
            self._buffer = None
