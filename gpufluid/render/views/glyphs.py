"""Arrows of the velocity."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from gpufluid.common.errors import GpufluidError, named
from gpufluid.common.vectors import Pair
from gpufluid.contract.backend import release
from gpufluid.description.flow_views import GlyphsView
from gpufluid.description.grid import AXES
from gpufluid.gl.drawing import Canvas
from gpufluid.gl.uniforms import give
from gpufluid.render.camera import clip_of_cells
from gpufluid.render.painter import eye_uniforms
from gpufluid.render.subject import FlowLike
from gpufluid.render.views.charts import Chart, lighting
from gpufluid.render.views.overlay import InScene, Shot
from gpufluid.render.views.quantities import fields_of

MOST_ARROWS = 1 << 18
SIDES = 12  # of an arrow, round it
THIN = 0.055  # radius of a shaft, share of the spacing


@named
class Glyphs(Chart, InScene):
    """Arrows of the velocity on a regular grid of points, or on a plane of it, coloured by speed.

    spacing: cells from one arrow to the next, >= 1; None: about 14 arrows along the longest edge of the box.
    axis, position: a plane across "x", "y" or "z" at that place along it, metres (None: in the middle); axis
    None: the whole box. length: metres of arrow per m/s; None: as long as the spacing at the high end of the
    range. An arrow has its middle at its point. colors, range, legend: see `Chart`. Opaque: it writes depth.

    Raises GpufluidError naming the value and its limit.
    """

    RULES = GlyphsView

    def __init__(
        self,
        ctx: moderngl.Context,
        *,
        spacing: float | None = None,
        axis: str | None = None,
        position: float | None = None,
        length: float | None = None,
        colors: str | None = None,
        range: Pair | None = None,
        legend: bool = False,
        linear: bool = False,
    ) -> None:
        self.spacing, self.axis, self.position, self.length = spacing, axis, position, length
        super().__init__(ctx, "speed", colors, range, legend, linear)
        self._arrow = ctx.buffer(_arrow().tobytes())
        self._velocities: Canvas | None = None

    def lattice(self, fluid: FlowLike) -> tuple[tuple[int, int, int], NDArray[np.float64], float]:
        """Return how many arrows stand along (x, y, z), where the first does [3], and the spacing; cells.

        Raises GpufluidError for more than a view draws.
        """
        grid = fluid.grid
        cells = np.array(grid.cells, np.float64)
        spacing = float(self.spacing) if self.spacing is not None else max(1.0, cells.max() / 14.0)
        counts = np.maximum(np.floor(cells / spacing + 1e-9).astype(int), 1)
        first = 0.5 * (cells - (counts - 1) * spacing)
        if self.axis is not None:
            a = AXES.index(self.axis)
            counts[a] = 1
            first[a] = 0.5 * cells[a]
            if self.position is not None:
                first[a] = (self.position - grid.origin[a]) / grid.cell_size
        if counts.prod() > MOST_ARROWS:
            raise GpufluidError(
                f"Glyphs.spacing: {spacing:g} makes {counts.prod()} arrows, the limit is {MOST_ARROWS}"
            )
        nx, ny, nz = (int(n) for n in counts)
        return (nx, ny, nz), first, spacing

    def draw(self, fluid: FlowLike, shot: Shot, target: moderngl.Framebuffer) -> None:
        """Draw the arrows."""
        values = self.sample(fluid)
        _, colors = self.measure(fluid)
        low, high = self.last_range
        counts, _, spacing = self.lattice(fluid)
        size = fluid.grid.cell_size
        per_speed = self.length / size if self.length is not None else spacing / max(abs(low), abs(high))
        program = self.device.program_of("arrows", "render/glyph_fragment.glsl", "render/glyph_vertex.glsl")
        give(
            program,
            {
                **values,
                "to_clip": clip_of_cells(fluid.grid, shot.view),
                "cells_per_speed": per_speed,
                "thickness": THIN * spacing,
                "range": (low, 1.0 / (high - low)),
                **eye_uniforms(shot.view, fluid),
                **lighting(shot.view),
            },
        )
        assert self._velocities is not None
        textures = {"velocities": self._velocities.texture, "colors": colors}
        number = counts[0] * counts[1] * counts[2]
        with self.drawing(program, shot), self.bound(program, None, textures, smooth=("colors",)):
            array = self.array(program, [(self._arrow, "3f 3f", "position", "normal")])
            array.render(moderngl.TRIANGLES, instances=number)
        self.draw_legend(target, shot.size, shot.upside_down)

    def sample(self, fluid: FlowLike) -> dict[str, Any]:
        """Sample the velocity where the arrows stand; return the uniforms that tell where that is."""
        counts, first, spacing = self.lattice(fluid)
        number = counts[0] * counts[1] * counts[2]
        width = min(number, 512)
        size = width, -(-number // width)
        if self._velocities is None or self._velocities.texture.size != size:
            before, self._velocities = self._velocities, Canvas(self.device, size, 4, "f4", "the arrows")
            release(before)
        values = {"counts": counts, "first": tuple(first), "spacing": (spacing,) * 3}
        program = self.program("arrows' velocities", fluid, "glyph_value", "velocity")
        give(program, {**values, "width": width})
        self._fill(self._velocities.target, program, fields_of(fluid))
        return values

    def read(self) -> NDArray[np.float32]:
        """Return the velocities last sampled, float32 [n, 4], x fastest: m/s, and 1 where an arrow stands."""
        assert self._velocities is not None
        return np.frombuffer(self._velocities.texture.read(alignment=1), np.float32).reshape(-1, 4)

    def release(self) -> None:
        """Release everything made in the context; idempotent."""
        if not self._released:
            release(self._velocities, self._arrow)
        super().release()


def _arrow() -> NDArray[np.float32]:
    """Triangles of an arrow for glyph_vertex.glsl, [n, 6]: places, normals.

    The shaft runs along x from 0 to 1, the head from -1, where the shaft ends, to 0, the tip; radii are in
    those of the shaft.
    """
    angle = np.linspace(0.0, 2.0 * np.pi, SIDES + 1)
    ring = np.stack([np.zeros_like(angle), np.cos(angle), np.sin(angle)], -1)
    x = np.array([1.0, 0.0, 0.0])
    head, slope = 2.4, 0.48  # radius of the head; how far its normals lean forward
    triangles: list[tuple[Any, Any]] = []

    def quad(a: Any, b: Any, c: Any, d: Any, normals: tuple[Any, Any, Any, Any]) -> None:
        for corners in ((0, 1, 2), (0, 2, 3)):
            triangles.extend(((a, b, c, d)[i], normals[i]) for i in corners)

    tiny = np.array([1e-6, 0.0, 0.0])  # below 0: part of the head
    for p, q in pairwise(ring):
        triangles.extend([(0 * x, -x), (q, -x), (p, -x)])
        quad(p, q, q + x, p + x, (p, q, q, p))
        collar = -x
        quad(p + collar, q + collar, head * q + collar, head * p + collar, (-x,) * 4)
        lean_p, lean_q = p + slope * x, q + slope * x
        tip = -tiny
        triangles.extend(
            [(head * p + collar, lean_p), (head * q + collar, lean_q), (tip, 0.5 * (lean_p + lean_q))]
        )
    out = np.array([np.concatenate(pair) for pair in triangles])
    out[:, 3:] /= np.linalg.norm(out[:, 3:], axis=1, keepdims=True)
    return np.ascontiguousarray(out, np.float32)
