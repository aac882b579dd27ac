"""Flat things drawn over a picture, in its pixels: rectangles, colour bars and lines of text."""

from __future__ import annotations

import moderngl
import numpy as np
from numpy.typing import NDArray

from gpufluid.contract.backend import release
from gpufluid.gl.device import Device
from gpufluid.gl.drawing import blend
from gpufluid.gl.fences import draw_to
from gpufluid.gl.uniforms import give
from gpufluid.render.views import lettering
from gpufluid.render.views.quantities import number_text, ticks

Color = tuple[float, float, float]
RECTANGLE, GLYPH, BAR = range(3)  # as in ink_fragment.glsl
ROW = 13  # floats of a thing: rectangle, what it is, colour, kind
LETTERS_UNIT, COLORS_UNIT = 0, 1
PAPER, PALE, WHITE = (0.055, 0.06, 0.07), (0.62, 0.65, 0.70), (0.93, 0.94, 0.96)


class Ink:
    """Collects things and draws them at once. Places are pixels from the low left corner of the viewport."""

    def __init__(self, device: Device) -> None:
        self.device = device
        atlas = lettering.atlas()
        height, width = atlas.shape
        self._atlas = device.texture((width, height), 1, "f1", "the letters")
        self._atlas.write(atlas.tobytes(), alignment=1)
        self._rows = np.zeros((1024, ROW), np.float32)
        self._count = 0
        self._buffer = device.ctx.buffer(reserve=self._rows.nbytes, dynamic=True)
        self._array: moderngl.VertexArray | None = None

    def _add(
        self, rectangle: tuple[float, ...], what: tuple[float, ...], color: Color, alpha: float, kind: int
    ) -> None:
        if self._count == len(self._rows):  # more than ever before: twice the room from now on
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
            self._buffer.orphan(self._rows.nbytes)
        self._rows[self._count] = (*rectangle, *what, *color, alpha, kind)
        self._count += 1

    def rectangle(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        color: Color,
        alpha: float = 1.0,
        round_by: float = 0.0,
    ) -> None:
        """A rectangle, its corners rounded by `round_by` pixels."""
        self._add((x, y, width, height), (round_by, 0.0, 0.0, 0.0), color, alpha, RECTANGLE)

    def bar(self, x: float, y: float, width: float, height: float) -> None:
        """A colour map from below up."""
        self._add((x, y, width, height), (0.0, 0.0, 0.0, 0.0), (1.0, 1.0, 1.0), 1.0, BAR)

    def text(
        self, x: float, y: float, text: str, size: float, color: Color = WHITE, align: float = 0.0
    ) -> float:
        """A line of text whose capitals are `size` pixels high; y: its base line. Return its width, pixels.

        align: 0 begins at x, 1 ends there, 0.5 has its middle there.
        """
        letters, width = lettering.letters(text)
        scale = size / lettering.CAP
        x = round(x - align * width * scale)
        for letter in letters:
            row, column = divmod(letter.number, lettering.COLUMNS)
            place = (
                x + (letter.offset + lettering.LEFT) * scale,
                y + lettering.DOWN * scale,
                lettering.WIDE * scale,
                lettering.HIGH * scale,
            )
            self._add(place, (column, row, scale, 0.0), color, 1.0, GLYPH)
        return width * scale

    def text_width(self, text: str, size: float) -> float:
        """Pixels a line takes."""
        return lettering.letters(text)[1] * size / lettering.CAP

    def draw(
        self,
        target: moderngl.Framebuffer,
        colors: moderngl.Texture | None = None,
        *,
        linear: bool = False,
        upside_down: bool = False,
    ) -> None:
        """Draw what was collected over the viewport of `target`, and forget it.

        colors: of the bars. upside_down: counted from the high left corner down, for a host whose clip space
        has its origin at the upper left.
        """
        if not self._count:
            return
        ctx = self.device.ctx
        program = self.device.program_of("ink", "render/ink_fragment.glsl", "render/ink_vertex.glsl")
        if self._array is None:
            self._array = ctx.vertex_array(
                program, [(self._buffer, "4f 4f 4f 1f/i", "rectangle", "what", "ink", "kind")]
            )
        self._buffer.write(np.ascontiguousarray(self._rows[: self._count]).tobytes())
        _, _, width, height = target.viewport
        give(
            program,
            {
                "size": (width, height),
                "up": -1.0 if upside_down else 1.0,
                "letters": LETTERS_UNIT,
                "colors": COLORS_UNIT,
                "linear_light": linear,
                "tile": (lettering.WIDE * lettering.DETAIL, lettering.HIGH * lettering.DETAIL),
                "reach": lettering.REACH,
            },
        )
        self._atlas.use(LETTERS_UNIT)
        (colors or self._atlas).use(COLORS_UNIT)
        self.device.linear.use(LETTERS_UNIT)
        self.device.linear.use(COLORS_UNIT)
        draw_to(target)
        blend(ctx, moderngl.ONE, moderngl.ONE_MINUS_SRC_ALPHA)
        self._array.render(moderngl.TRIANGLE_STRIP, 4, instances=self._count)
        ctx.enable_only(moderngl.NOTHING)
        self.device.linear.clear(LETTERS_UNIT)
        self.device.linear.clear(COLORS_UNIT)
        self._count = 0

    def release(self) -> None:
        """Release everything made; idempotent."""
        release(self._array)
        self._array = None
        self._buffer.release()
        self._atlas.release()


def text_size(height: int) -> float:
    """Pixels that capitals are high in a picture of that height."""
    return float(max(7, min(16, round(height / 42))))


def legend(
    ink: Ink, size: tuple[int, int], title: str, unit: str, low: float, high: float, place: int = 0
) -> None:
    """A colour bar with a scale from `low` to `high`, in a picture of `size` pixels.

    place: of several in one picture, 0 at the right, 1 at the left, 2 beside 0 and so on.
    """
    width, height = size
    cap = text_size(height)
    long = round(max(0.5 * height, 6 * cap))
    thick = max(6, round(1.1 * cap))
    marks = ticks(low, high, max(2, min(7, int(long / (2.6 * cap)))))
    step = marks[1] - marks[0] if len(marks) > 1 else high - low
    texts = [number_text(mark, step) for mark in marks]
    head = f"{title}  {unit}".rstrip().replace("_", " ")
    inner = max(thick + cap + max(ink.text_width(t, cap) for t in texts), ink.text_width(head, cap))
    margin = round(1.2 * cap)
    panel = inner + 2 * margin, long + 3.2 * cap + 2 * margin
    x = margin + place // 2 * (panel[0] + margin)
    x = x if place % 2 else width - panel[0] - x
    y = round(0.5 * (height - panel[1]))
    ink.rectangle(x, y, *panel, PAPER, 0.72, 0.6 * cap)
    x, y = round(x + margin), y + margin
    ink.text(x, round(y + long + 2.0 * cap), head, cap, WHITE)
    ink.bar(x, y, thick, long)
    for mark, text in zip(marks, texts, strict=True):
        at = y + (mark - low) / (high - low) * long
        ink.rectangle(x + thick, round(at) - 0.5, 0.4 * cap, 1.0, PALE)
        ink.text(x + thick + 0.8 * cap, round(at - 0.5 * cap), text, cap, PALE)


def as_color(values: NDArray[np.uint8]) -> Color:
    """A colour of 0 .. 255 as one of 0 .. 1."""
    r, g, b = (float(v) / 255.0 for v in values)
    return r, g, b
