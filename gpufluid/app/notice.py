"""What a window shows while it has no picture yet: shaders may take seconds to compile."""

from __future__ import annotations

from typing import Any

import glfw
import moderngl

from gpufluid.common.files import readable
from gpufluid.gl.device import Device
from gpufluid.render.views.ink import PALE, PAPER, WHITE, Ink

CAP = 9.0  # height of capitals, units of the design


class Notice:
    """A title and a line of text in a window with a GL context."""

    def __init__(self, handle: Any, ctx: moderngl.Context) -> None:
        self.handle, self.ctx = handle, ctx
        self._device = Device(ctx)
        self._ink = Ink(self._device)

    def show(self, title: str, line: str, background: tuple[float, float, float]) -> None:
        """Show both at once, in the middle of nothing else; does nothing in a window of no size."""
        width, height = glfw.get_framebuffer_size(self.handle)
        if width and height:
            self.ctx.screen.viewport = (0, 0, width, height)
            self.ctx.screen.clear(*background)
            cap = self._cap
            self._ink.text(0.5 * width, 0.5 * height + cap, readable(title), 1.4 * cap, WHITE, 0.5)
            self._ink.text(0.5 * width, 0.5 * height - 1.6 * cap, line, cap, PALE, 0.5)
            self._ink.draw(self.ctx.screen)
            glfw.swap_buffers(self.handle)
        glfw.poll_events()

    def over(self, line: str) -> None:
        """Draw a line over the low left corner of a picture that is not shown yet."""
        cap = self._cap
        self._ink.rectangle(
            cap, cap, self._ink.text_width(line, cap) + 2 * cap, 3 * cap, PAPER, 0.72, 0.6 * cap
        )
        self._ink.text(2 * cap, 2 * cap, line, cap, WHITE)
        self._ink.draw(self.ctx.screen)

    @property
    def _cap(self) -> float:
        """Pixels."""
        return float(round(CAP * (glfw.get_window_content_scale(self.handle)[0] or 1.0)))

    def release(self) -> None:
        """Release what was made for it."""
        self._ink.release()
        self._device.release()
