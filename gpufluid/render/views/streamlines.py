"""Lines that show where the flow goes: streamlines as it is now, streak lines as it has been."""

from __future__ import annotations

import math
from typing import Any

import moderngl
import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpufluid.common.checks import finite_triple, flag, whole_number
from gpufluid.common.errors import GpufluidError, counted, named
from gpufluid.common.vectors import Counts, Floats, Pair, Vector
from gpufluid.description.flow_views import Seeds, StreakLinesView, StreamlinesView, check_seeds
from gpufluid.description.shapes import placed_points
from gpufluid.gl.device import let_go
from gpufluid.gl.fences import clear, draw_to
from gpufluid.gl.field import Field
from gpufluid.gl.uniforms import give
from gpufluid.render.camera import cells_of, clip_of_cells
from gpufluid.render.subject import FlowLike
from gpufluid.render.views.charts import Chart
from gpufluid.render.views.overlay import InScene, KeepsPlaces, Shot
from gpufluid.render.views.quantities import fields_of

STILL = 1e-6  # share of the fastest speed of the range below which a streamline ends
LONGEST = 4.0  # cells between points of a streak line that are still joined, where the flow tears it apart


def line_of_seeds(start: Vector, end: Vector, count: int) -> Floats:
    """Return `count` evenly spaced points from `start` to `end`, [count, 3], metres.

    Raises GpufluidError for a count below 1 and places that are not finite.
    """
    a, b = np.array(finite_triple(start, "start")), np.array(finite_triple(end, "end"))
    share = np.linspace(0.0, 1.0, whole_number(count, "count", low=1, high=1 << 20))[:, None]
    points: Floats = a + share * (b - a)
    return points


def grid_of_seeds(low: Vector, high: Vector, counts: Counts) -> Floats:
    """Return a grid of points from `low` to `high`, `counts` along (x, y, z), [n, 3], metres.

    Where a count is 1 they are in the middle. Raises GpufluidError for counts below 1 and places that are not
    finite.
    """
    return Seeds(low, high, counts).points()


class _Lines(Chart, InScene):
    """What streamlines and streak lines have in common: seeds, and how lines are drawn."""

    def __init__(
        self,
        ctx: moderngl.Context,
        seeds: ArrayLike,
        points: int,
        line_width: float,
        fade: float,
        opacity: float,
        colors: str | None,
        range: Pair | None,
        legend: bool,
        linear: bool,
    ) -> None:
        name = type(self).__name__
        self.points, self.line_width, self.fade, self.opacity = points, line_width, fade, opacity
        self._checked_seeds = check_seeds(seeds, name)
        super().__init__(ctx, "speed", colors, range, legend, linear)
        limit = self.device.max_texture_size // 2
        if len(self._checked_seeds) > limit:
            raise GpufluidError(
                f"{name}.seeds: at most {limit} points fit this renderer, got {len(self._checked_seeds)}"
            )
        count = len(self._checked_seeds)
        self._seed_texture = self.device.texture((count, 1), 4, "f4", "the seeds")
        self._told = b""
        self._textures: list[moderngl.Texture] = []
        self._targets: list[moderngl.Framebuffer] = []

    @property
    def seeds(self) -> Floats:
        """Where lines begin, [n, 3], metres; as many as at first may be set at any time."""
        return self._checked_seeds

    @seeds.setter
    def seeds(self, seeds: ArrayLike) -> None:
        points = check_seeds(seeds, type(self).__name__)
        if points.shape != self._checked_seeds.shape:
            many = counted(len(self._checked_seeds), "point")
            raise GpufluidError(f"{type(self).__name__}.seeds must stay {many}, got {len(points)}")
        self._checked_seeds = points

    def _make(self, size: tuple[int, int]) -> None:
        """Two textures for points."""
        device = self.device
        self._textures = [device.texture(size, 4, "f4", "the points of lines") for _ in (0, 1)]
        self._targets = [self.ctx.framebuffer([t]) for t in self._textures]

    def _seeds_in_cells(self, fluid: FlowLike) -> moderngl.Texture:
        """The seeds as a texture, written where they have changed."""
        places = np.ones((len(self.seeds), 4), np.float32)
        places[:, :3] = placed_points(cells_of(fluid.grid), self.seeds)
        told = places.tobytes()
        if told != self._told:
            self._seed_texture.write(told, alignment=1)
            self._told = told
        return self._seed_texture

    def _draw(
        self, fluid: FlowLike, shot: Shot, target: moderngl.Framebuffer, lines: int, values: dict[str, Any]
    ) -> None:
        """Draw the lines that the textures hold."""
        low, high = self.last_range
        program = self.program("lines", fluid, "line_fragment", vertex="line_vertex", solids=False)
        give(
            program,
            {
                "points": self.points,
                "to_clip": clip_of_cells(fluid.grid, shot.view),
                "line_width": self.line_width,
                "fade": float(self.fade),
                "opacity": float(self.opacity),
                "range": (low, 1.0 / (high - low)),
                **values,
            },
        )
        textures = {
            "even": self._textures[0],
            "odd": self._textures[1],
            "colors": self.maps.texture(self.color_map()),
        }
        with self.drawing(program, shot), self.bound(program, None, textures, smooth=("colors",)):
            self.array(program).render(moderngl.TRIANGLES, vertices=6 * (self.points - 1) * lines)
        self.draw_legend(target, shot.size, shot.upside_down)

    def _read(self, texture: moderngl.Texture) -> NDArray[np.float32]:
        width, height = texture.size
        return np.frombuffer(texture.read(alignment=1), np.float32).reshape(height, width, 4)

    def release(self) -> None:
        """Release everything made in the context; idempotent."""
        if not self._released:
            let_go(*self._targets, *self._textures, self._seed_texture)
        super().release()


@named
class Streamlines(_Lines):
    """Lines along the velocity as it is now, coloured by speed; computed afresh each time they are drawn.

    seeds: points [n, 3], metres, that the lines start from; see `line_of_seeds`, `grid_of_seeds`. points: how
    many a line has, 2 to 8192. step: cells from one point to the next, at most 1. both: whether a line also
    goes upstream from its seed. line_width: pixels. fade: share of a line over which it fades out, 0 .. 1.
    opacity: of the lines, 0 .. 1. colors, range, legend: see `Chart`.

    Each step follows the direction of the velocity by the fourth-order method of Runge and Kutta. A line ends
    at a solid, at a side of the box that is not periodic, and where nothing moves. It writes depth. Raises
    GpufluidError naming the value and its limit.
    """

    RULES = StreamlinesView

    def __init__(
        self,
        ctx: moderngl.Context,
        seeds: ArrayLike,
        *,
        points: int = 192,
        step: float = 0.5,
        both: bool = True,
        line_width: float = 2.0,
        fade: float = 0.25,
        opacity: float = 1.0,
        colors: str | None = None,
        range: Pair | None = None,
        legend: bool = False,
        linear: bool = False,
    ) -> None:
        self.step = step
        flag(both, "Streamlines.both")
        super().__init__(ctx, seeds, points, line_width, fade, opacity, colors, range, legend, linear)
        self.lines = len(self.seeds) * (2 if both else 1)
        self._make(((self.points + 1) // 2, self.lines))

    def trace(self, fluid: FlowLike) -> None:
        """Compute the lines, in one small pass for each of their points."""
        self.check_fluid(fluid)
        self.check()
        shown: Field = self.quantity(fluid, "speed")
        self.last_range = self.range_of(fluid, shown, "speed", self.range)
        seeds = self._seeds_in_cells(fluid)
        program = self.program("streamlines", fluid, "streamline_step", "velocity")
        give(
            program,
            {
                "seed_count": len(self.seeds),
                "stride": float(self.step),
                "least": STILL * max(map(abs, self.last_range)),
            },
        )
        triangle = self.device.fullscreen(program)
        self.ctx.enable_only(moderngl.NOTHING)
        for m in range(self.points):
            target, before = self._targets[m & 1], self._textures[1 - (m & 1)]
            target.viewport = m >> 1, 0, 1, self.lines
            draw_to(target)
            give(program, {"column": (m - 1) >> 1 if m else -1})
            with self.bound(program, fields_of(fluid), {"before": before, "seeds": seeds}):
                triangle.render(moderngl.TRIANGLES, vertices=3)

    def draw(self, fluid: FlowLike, shot: Shot, target: moderngl.Framebuffer) -> None:
        """Trace and draw the lines."""
        self.trace(fluid)
        values = {"head": 0, "slots": 0, "longest": 4.0 * float(self.step), "natural": 0.0}
        self._draw(fluid, shot, target, self.lines, values)

    def read(self) -> NDArray[np.float32]:
        """Return the lines of the last `trace`, float32 [lines, points, 4]; waits for the GPU.

        Each point: place, cells from the low corner of the box, and speed, m/s, -1 past a line's end. Lines
        upstream follow those downstream.
        """
        both = np.stack([self._read(texture) for texture in self._textures], axis=2)
        out = both.reshape(self.lines, -1, 4)[:, : self.points].copy()
        last = out[..., 3] < -1.5
        out[..., 3] = np.where(last, -2.0 - out[..., 3], out[..., 3])
        return out


@named
class StreakLines(_Lines, KeepsPlaces):
    """Lines through everything released at each seed, one point after the other, coloured by speed; like dye.

    seeds, line_width, fade, opacity, colors, range, legend: as in `Streamlines`. points: how many a line has,
    2 to 8192; the oldest is dropped when a new one comes. interval: seconds between two releases, the first
    at once; None: one at the end of each `advance`. If it is shorter than a step, several are released in the
    step, each of which has been on its way since: so lines hold together longer where the flow draws them
    out.

    `advance` moves all points by the fourth-order method of Runge and Kutta in the velocity as it is then.
    They slide along solids and stay within walls. A line ends where points have left the box; it thins out
    and breaks where neighbours are 4 cells apart, or twice as far as they were released if that is more.
    Opaque: it writes depth. Raises GpufluidError naming the value and its limit.
    """

    RULES = StreakLinesView

    def __init__(
        self,
        ctx: moderngl.Context,
        seeds: ArrayLike,
        *,
        points: int = 128,
        interval: float | None = None,
        line_width: float = 2.0,
        fade: float = 0.25,
        opacity: float = 1.0,
        colors: str | None = None,
        range: Pair | None = None,
        legend: bool = False,
        linear: bool = False,
    ) -> None:
        self.interval = interval
        super().__init__(ctx, seeds, points, line_width, fade, opacity, colors, range, legend, linear)
        self._make((self.points, len(self.seeds)))
        self.reset()

    def _places(self) -> tuple[list[moderngl.Texture], list[moderngl.Framebuffer]]:
        return self._textures, self._targets

    def reset(self) -> None:
        """Remove all points."""
        for target in self._targets:
            clear(target, 0.0, 0.0, 0.0, -1.0)
        self._head, self._due, self._apart = -1, 0.0, 0.0

    def advance(self, fluid: FlowLike, dt: float) -> None:
        """Move the points on by `dt` >= 0 seconds and release new ones; 0 changes nothing.

        Raises GpufluidError for another dt.
        """
        dt = self._passed(fluid, dt)
        if dt == 0.0:
            return
        released, age, self._apart = 1, 0.0, dt
        if self.interval is not None:
            self._apart = self.interval
            released = max(math.floor((dt - self._due) / self.interval + 1e-6) + 1, 0)
            self._due += released * self.interval - dt  # from the end of this step to the next release
            age = max(self.interval - self._due, 0.0)
        self._head = (self._head + released) % self.points
        seeds = self._seeds_in_cells(fluid)
        program = self.program("streak lines", fluid, "streak_step", "velocity")
        values = {"head": self._head, "released": released, "age": age, "interval": self._apart, "dt": dt}
        give(program, values)
        self._write(program, fields_of(fluid), "before", seeds=seeds)

    def draw(self, fluid: FlowLike, shot: Shot, target: moderngl.Framebuffer) -> None:
        """Draw the lines."""
        self._settle(fluid)
        shown = self.quantity(fluid, "speed")
        self.last_range = self.range_of(fluid, shown, "speed", self.range)
        values = {"head": self._head % self.points, "slots": self.points, "longest": LONGEST}
        values["natural"] = self._apart / fluid.grid.cell_size
        self._draw(fluid, shot, target, len(self.seeds), values)

    def read(self) -> NDArray[np.float32]:
        """Return the points, newest first, float32 [lines, points, 4]; waits for the GPU.

        Each: place, cells from the low corner of the box, and speed, m/s, -1 where there is none.
        """
        order = (self._head - np.arange(self.points)) % self.points
        return self._read(self._textures[0])[:, order].copy()
