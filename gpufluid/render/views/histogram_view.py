"""How often each number occurs in the fluid."""

from __future__ import annotations

import math

import moderngl
import numpy as np
from numpy.typing import NDArray

from gpufluid.common.checks import flag, whole_number
from gpufluid.common.errors import GpufluidError, named
from gpufluid.common.vectors import Pair
from gpufluid.contract.backend import release
from gpufluid.gl.drawing import Canvas, blend, first_color_alone
from gpufluid.gl.fences import draw_to
from gpufluid.gl.field import Field
from gpufluid.gl.targets import drawable
from gpufluid.gl.uniforms import give
from gpufluid.render.subject import FlowLike
from gpufluid.render.views.charts import Chart
from gpufluid.render.views.colormaps import colormap
from gpufluid.render.views.ink import PALE, PAPER, WHITE, as_color, text_size
from gpufluid.render.views.quantities import BESIDE, QUANTITIES, number_text, ticks

MOST_BINS = 512
MOST_COUNTED = 1 << 24  # cells of a draw: a single float, to which one is added for each, counts no further


@named
class HistogramView(Chart):
    """Draws a histogram of a quantity over the fluid cells, with axes, into the whole viewport.

    field: a quantity of `SlicePlane`. bins: 1 to 512. logarithmic: whether the axis of the counts is; a bin
    without cells then has no bar. range: (low, high), or None: from the smallest to the largest value. What
    lies outside is told below the axis. counts: those of the last picture, [bins], between its `edges`;
    below, above: how many are outside. Its fields may be changed at any time.

    The cells are counted on the GPU; the counts are read back. Cells in solids and numbers that are not
    finite do not count. Raises GpufluidError naming the value and its limit.
    """

    def __init__(
        self,
        ctx: moderngl.Context,
        field: str = "speed",
        *,
        bins: int = 64,
        logarithmic: bool = True,
        colors: str | None = None,
        range: Pair | None = None,
        linear: bool = False,
    ) -> None:
        self.bins, self.logarithmic = bins, logarithmic
        super().__init__(ctx, field, colors, range, False, linear)
        self._bins: Canvas | None = None
        self._read = np.zeros(0, np.float32)
        self._palette: tuple[str, NDArray[np.uint8]] | None = None
        self.counts: NDArray[np.int64] = np.zeros(0, np.int64)
        self.below = self.above = 0

    def check(self) -> None:
        """Raise GpufluidError naming the first value that nothing can be drawn with."""
        super().check()
        self.bins = whole_number(self.bins, "HistogramView.bins", low=1, high=MOST_BINS)
        self.logarithmic = flag(self.logarithmic, "HistogramView.logarithmic")

    def count(self, fluid: FlowLike) -> NDArray[np.int64]:
        """Count the cells and return `counts`, [bins]; waits for the GPU."""
        self.check_fluid(fluid)
        self.check()
        shown = self.quantity(fluid, self.field)
        if self.range is None:
            low, high = self.extent(fluid, shown)
            if not high > low:  # one value everywhere
                beside = max(0.5, BESIDE * abs(low))
                low, high = low - beside, low + beside
        else:
            low, high = self.range
        self.last_range = low, high
        values = self._count(shown)
        self.below, self.above, self.counts = int(values[0]), int(values[-1]), values[1:-1]
        return self.counts

    @property
    def edges(self) -> NDArray[np.float64]:
        """Where the bins of `counts` begin and end, in the unit of the field, [bins + 1]."""
        return np.linspace(*self.last_range, len(self.counts) + 1)

    def render(self, fluid: FlowLike, target: moderngl.Framebuffer) -> None:
        """Count the cells and draw the histogram. Raises GpufluidError for what cannot be drawn."""
        self.check_fluid(fluid)
        _, size = self.check_target(target)
        self.count(fluid)
        if 0 in size:
            return  # a minimised window
        with drawable(target) as target, first_color_alone(target):
            self._draw(target, *size)

    def _count(self, shown: Field) -> NDArray[np.int64]:
        """Add every cell to its bin; return how many there are in each."""
        ctx, width = self.ctx, int(self.bins) + 2
        if self._bins is None or self._bins.texture.width != width:
            before, self._bins = self._bins, Canvas(self.device, (width, 1), 1, "f4", "the bins")
            release(before)
            self._read = np.zeros(width, np.float32)
        program = self.device.program_of(
            "histogram", "render/histogram_fragment.glsl", "render/histogram_vertex.glsl"
        )
        give(program, {"range": self.last_range, "bins": int(self.bins)})
        texels, counts = math.prod(shown.layout.texture_size), np.zeros(width, np.int64)
        # a host may draw larger points
        blend(ctx, moderngl.ONE, moderngl.ONE, switches=moderngl.PROGRAM_POINT_SIZE)
        with self.bound(program, {"shown": shown}):
            for first in range(0, texels, MOST_COUNTED):
                draw_to(self._bins.target)
                self._bins.target.clear()
                points = min(MOST_COUNTED, texels - first)
                self.array(program).render(moderngl.POINTS, vertices=points, first=first)
                self._bins.texture.read_into(self._read, alignment=1)
                counts += np.rint(self._read).astype(np.int64)
        ctx.enable_only(moderngl.NOTHING)
        return counts

    def _draw(self, target: moderngl.Framebuffer, width: int, height: int) -> None:
        """Draw bars and axes."""
        ink, cap = self.ink, text_size(height)
        low, high = self.last_range
        most = int(self.counts.max(initial=0))
        total = int(self.counts.sum()) + self.below + self.above
        top = self._level(max(most, 1)) * 1.04
        ink.rectangle(0, 0, width, height, PAPER)
        marks = self._count_ticks(most, max(2, min(6, int(height / (4 * cap)))))
        texts = [_count_text(mark) for mark in marks]
        left = round(2.2 * cap + max(ink.text_width(text, cap) for text in texts) + cap)
        right, bottom, up = round(width - 2.2 * cap), round(5.6 * cap), round(height - 4.4 * cap)
        if right - left < 4 or up - bottom < 4:
            raise GpufluidError(f"HistogramView needs a larger viewport than {width} x {height} pixels")
        title = f"{self.field.replace('_', ' ')}  {QUANTITIES[self.field].unit}".rstrip()
        ink.text(left, height - 2.9 * cap, title, cap, WHITE)
        ink.text(right, height - 2.9 * cap, f"{total} fluid cells", cap, PALE, align=1.0)
        for mark, text in zip(marks, texts, strict=True):
            y = bottom + self._level(mark) / top * (up - bottom)
            ink.rectangle(left, round(y) - 0.5, right - left, 1.0, PALE, 0.18)
            ink.text(left - 0.8 * cap, round(y - 0.5 * cap), text, cap, PALE, align=1.0)
        colors, wide = self._colors(), (right - left) / len(self.counts)
        gap = 1.0 if wide >= 4.0 else 0.0
        for n, count in enumerate(self.counts):
            if count:
                middle = low + (n + 0.5) / len(self.counts) * (high - low)
                tint = colors[int(np.clip(self._share(middle) * 255.0, 0, 255))]
                tall = max(self._level(int(count)) / top * (up - bottom), 1.0)
                ink.rectangle(left + n * wide + 0.5 * gap, bottom, wide - gap, tall, as_color(tint))
        ink.rectangle(left, bottom - 1.0, right - left, 1.0, PALE)
        marks_x = ticks(low, high, max(2, min(8, int((right - left) / (6 * cap)))))
        step = marks_x[1] - marks_x[0] if len(marks_x) > 1 else high - low
        for value in marks_x:
            x = left + (value - low) / (high - low) * (right - left)
            ink.rectangle(round(x) - 0.5, bottom - 0.5 * cap, 1.0, 0.5 * cap, PALE)
            ink.text(x, bottom - 2.0 * cap, number_text(value, step), cap, PALE, align=0.5)
        how = "cells a bin, logarithmic" if self.logarithmic else "cells a bin"
        told = f"{self.below} below, {self.above} above this range" if self.below or self.above else ""
        ink.text(right, round(1.3 * cap), told, cap, PALE, align=1.0)
        if ink.text_width(how, cap) + ink.text_width(told, cap) + 2 * cap < right - left:
            ink.text(left, round(1.3 * cap), how, cap, PALE)
        ink.draw(target, linear=self.linear, upside_down=self._upside_down)

    def _share(self, value: float) -> float:
        """Where a value stands in the colour map; 0 is the middle of what is signed."""
        low, high = self.last_range
        if QUANTITIES[self.field].signed:
            most = max(abs(low), abs(high))
            low, high = -most, most
        return (value - low) / (high - low)

    def _level(self, count: float) -> float:
        """How high a count stands: a single cell is seen on a logarithmic axis too."""
        return math.log10(count) + 0.3 if self.logarithmic and count > 0 else float(count)

    def _count_ticks(self, most: int, number: int) -> list[int]:
        """Round counts on the axis."""
        if self.logarithmic:
            powers = range(int(math.log10(max(most, 1))) + 1)
            return [10**p for p in powers][:: max(1, math.ceil(len(powers) / number))]
        return [round(t) for t in ticks(0.0, float(max(most, 1)), number) if t == round(t)]

    def _colors(self) -> NDArray[np.uint8]:
        name = self.color_map()
        if self._palette is None or self._palette[0] != name:
            self._palette = name, colormap(name)
        return self._palette[1]

    def release(self) -> None:
        """Release everything made in the context; idempotent."""
        release(self._bins)
        self._bins = None
        super().release()


def _count_text(count: int) -> str:
    """A count in few letters."""
    for size, letter in ((10**6, "M"), (10**3, "k")):
        if count >= size and count % size == 0:
            return f"{count // size}{letter}"
    return str(count)
