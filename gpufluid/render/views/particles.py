"""Particles that the flow carries along, moved and drawn on the GPU."""

from __future__ import annotations

import math
from collections.abc import Sequence

import moderngl
import numpy as np
from numpy.typing import NDArray

from gpufluid.common.errors import GpufluidError, each_once, named, several
from gpufluid.common.vectors import Pair
from gpufluid.contract.backend import release
from gpufluid.description.flow_views import ParticleSource, ParticlesView, SolidShape, check_response
from gpufluid.description.sources import Emitter
from gpufluid.gl.device import let_go
from gpufluid.gl.drawing import Canvas
from gpufluid.gl.fences import clear
from gpufluid.gl.uniforms import give
from gpufluid.render.camera import CLIP_Z, cells_of, clip_of_cells
from gpufluid.render.subject import FlowLike
from gpufluid.render.views.charts import Chart
from gpufluid.render.views.overlay import CameraLike, KeepsPlaces, Shot
from gpufluid.render.views.quantities import fields_of
from gpufluid.render.volume import VolumeRenderer

WIDTH = 512  # particles in a row of their texture
NONE_BORN = -1  # in the place of a source's kind
PALETTE = ((1.0, 0.62, 0.28), (0.35, 0.70, 1.0), (0.55, 0.88, 0.45), (0.92, 0.45, 0.75), (0.95, 0.88, 0.4))


@named
class Particles(Chart, KeepsPlaces):
    """Particles carried by the flow: `advance` moves them, `render` draws them. Fields may change.

    count: the most there are at a time, fixed. sources: ParticleSource, or shapes or emitters in their place.
    life: seconds, > 0, after which a particle is born again, each at a moment of its own, so that a source
    sends them out at a steady rate from the start. seed: of the random numbers; the same seed and the same
    calls give the same particles.

    color: "source", or a quantity of `SlicePlane` at the particle's place. colors, range, legend: how that is
    shown, see `Chart`. size: diameter, in the unit below. unit: of the size, "pixels" or "metres". blend:
    "additive" or "alpha" (which is not sorted by depth). opacity: 0 .. 1.

    response: seconds, >= 0, in which a particle takes up all but 1/e of what it lacks of the air's velocity
    (the relaxation time of Stokes' drag; Maxey & Riley 1983 without the terms of light particles); 0: it
    moves with the air. fall: m/s at which it would fall in air at rest; below 0 it rises. Heavy particles
    hardly follow the air: a response of 10 s and a fall of 98 m/s leave the gravity of the earth, fall /
    response. bounce: share, 0 .. 1, of the speed into a wall or solid that is thrown back. vary: 0 .. 1;
    diameters lie evenly between (1 - vary) and (1 + vary) times `size`; response and fall go with their
    squares, as Stokes' do. streak: seconds of a particle's way that are drawn behind it, straight along its
    velocity. veiled: whether they are hidden by the smoke that `render` is told of, and thin out where it
    does towards open sides (`Smoke.fade`).

    A step follows the velocity at the end of the fluid's step by the midpoint rule (second order). A particle
    stops at solids and walls, is carried round where the box is periodic, and is born again when it has left
    through an open side or an inflow, or a solid has come over it. In 2D it stays in the slice.
    Raises GpufluidError naming the value and its limit.
    """

    RULES, UNSIGNED = ParticlesView, "magma"

    def __init__(
        self,
        ctx: moderngl.Context,
        count: int = 100_000,
        sources: Sequence[ParticleSource | SolidShape | Emitter] = (),
        life: float = 2.0,
        seed: int = 0,
        *,
        color: str = "source",
        size: float = 2.5,
        unit: str = "pixels",
        blend: str = "additive",
        opacity: float = 0.2,
        colors: str | None = None,
        range: Pair | None = None,
        legend: bool = False,
        response: float = 0.0,
        fall: float = 0.0,
        bounce: float = 0.0,
        vary: float = 0.0,
        streak: float = 0.0,
        veiled: bool = True,
        linear: bool = False,
    ) -> None:
        self.count, self.seed = count, seed
        several(sources, "Particles.sources")
        self.sources = [s if isinstance(s, ParticleSource) else ParticleSource(s) for s in sources]
        self.life, self.size, self.unit, self.blend, self.opacity = life, size, unit, blend, opacity
        self.response, self.fall, self.bounce, self.vary, self.streak = response, fall, bounce, vary, streak
        self.veiled = veiled
        super().__init__(ctx, color, colors, range, legend, linear)
        rows = -(-self.count // WIDTH)
        size_of_it = min(WIDTH, self.count), rows
        device = self.device
        self._state = [device.texture(size_of_it, 4, "f4", "the particles") for _ in (0, 1)]
        self._paces = [device.texture(size_of_it, 4, "f4", "the particles") for _ in (0, 1)]
        self._values = device.texture(size_of_it, 4, "f4", "the particles")
        self._targets = [ctx.framebuffer([t]) for t in (*self._state, self._values, *self._paces)]
        self._moved = {(s, p): ctx.framebuffer([s, p]) for s in self._state for p in self._paces}
        self._through: Canvas | None = None  # where smoke hides them
        self._rows: tuple[moderngl.Texture, moderngl.Texture] | None = None
        self._told = b""  # what the textures of the sources hold
        self.time = 0.0
        self.turn = 0
        self.reset()

    def check(self) -> None:
        """Raise GpufluidError naming the first value that nothing can be moved or drawn with."""
        super().check()
        if not self.sources:
            raise GpufluidError("Particles.sources must name at least one place where particles are born")
        for source in self.sources:
            if not isinstance(source, ParticleSource):
                raise GpufluidError(f"Particles.sources must be gf.ParticleSource, got {source!r}")
            source.check()
        each_once(self.sources, "Particles.sources")
        check_response(self)
        self.numbers()

    @property
    def opaque(self) -> bool:
        """Particles are see-through."""
        return False

    @property
    def color(self) -> str:
        """What particles are coloured by; see the class."""
        return self.field

    @color.setter
    def color(self, color: str) -> None:
        self.field = color

    def numbers(self) -> list[int]:
        """Return how many particles each source has; raises GpufluidError where rates ask for too many."""
        fixed = [math.ceil(s.rate * self.life) if s.rate is not None else 0 for s in self.sources]
        left = self.count - sum(fixed)
        if left < 0:
            raise GpufluidError(
                f"Particles: rates of {sum(s.rate or 0.0 for s in self.sources):g} particles per second over "
                f"a life of {self.life:g} s need count={sum(fixed)}, got {self.count}"
            )
        shares = np.array([s.share if s.rate is None else 0.0 for s in self.sources])
        if shares.sum() > 0.0:
            cuts = np.floor(np.cumsum(shares) / shares.sum() * left + 1e-9).astype(int)
            parts = np.diff(cuts, prepend=0)
            fixed = [n + int(part) for n, part in zip(fixed, parts, strict=True)]
        return fixed

    def _places(self) -> tuple[list[moderngl.Texture], list[moderngl.Framebuffer]]:
        return self._state, self._targets

    def reset(self) -> None:
        """Remove all particles; they are born again, one after the other."""
        for target in self._targets[:2]:
            clear(target, 0.0, 0.0, 0.0, -1.0)
        for target in self._targets[3:]:
            clear(target, 0.0, 0.0, 0.0, 0.0)
        self.time, self.turn = 0.0, 0

    def advance(self, fluid: FlowLike, dt: float) -> None:
        """Move the particles on by `dt` >= 0 seconds; 0 changes nothing.

        Raises GpufluidError for another dt.
        """
        dt = self._passed(fluid, dt)
        if dt == 0.0:
            return
        sources, _ = self._source_textures(fluid)
        program = self.program("particles", fluid, "particle_advance", "velocity")
        give(
            program,
            {
                "dt": dt,
                "passed": dt / self.life,
                "clock": self._clock(),
                "turn": self.turn,
                "seed": self.seed,
                "source_count": len(self.sources),
                "response": self.response,
                "fall": self.fall,
                "bounce": float(self.bounce),
                "vary": float(self.vary),
            },
        )
        textures = {"before": self._state[0], "paces": self._paces[0], "sources": sources}
        self._fill(self._moved[self._state[1], self._paces[1]], program, fields_of(fluid), textures)
        self._state.reverse()
        self._paces.reverse()
        self._targets[0], self._targets[1] = self._targets[1], self._targets[0]
        self.time += dt
        self.turn = (self.turn + 1) % (1 << 24)

    def render(
        self,
        fluid: FlowLike,
        camera: CameraLike,
        target: moderngl.Framebuffer,
        depth: moderngl.Texture | None = None,
        clip_z: tuple[float, float] = CLIP_Z[0],
        smoke: VolumeRenderer | Sequence[VolumeRenderer] = (),
    ) -> None:
        """Draw the particles. camera, depth, clip_z: as in `VolumeRenderer.render`; raises as it does.

        smoke: what has drawn the smoke of this picture, before: it hides particles that are behind or in it,
        and where its `Smoke.fade` thins it out towards the sides of this box, they thin out too.
        """
        volumes = [smoke] if isinstance(smoke, VolumeRenderer) else list(smoke)
        for volume in volumes:
            if not isinstance(volume, VolumeRenderer) or volume.ctx is not self.ctx:
                raise GpufluidError(
                    f"Particles.render: smoke must be gf.VolumeRenderer of this context, got {volume!r}"
                )
        self._render(fluid, camera, target, depth, clip_z, volumes)

    def _veil(self, fluid: FlowLike, shot: Shot) -> moderngl.Texture:
        """The share of each particle's light that the smoke of `shot` lets through."""
        if self._through is None:
            self._through = Canvas(self.device, self._values.size, 1, "f4", "the particles")
        target = self._through.target
        clear(target, 1.0, 1.0, 1.0, 1.0)
        for volume in shot.smoke:
            volume.veil(self._state[0], fluid.grid, shot.view, target)
        return self._through.texture

    def draw(self, fluid: FlowLike, shot: Shot, target: moderngl.Framebuffer) -> None:
        """Draw the particles."""
        self._settle(fluid)
        sources, looks = self._source_textures(fluid)
        by_value = self.field != "source"
        colors = self.maps.texture(self.color_map() if by_value else "gray")
        low, high = 0.0, 1.0
        if by_value:
            shown, colors = self.measure(fluid)
            low, high = self.last_range
            program = self.program("particle values", fluid, "particle_value", "shown", sampler="hardware")
            state = {"state": self._state[0]}
            self._fill(self._targets[2], program, {"shown": shown}, state, filtered=True)
        veiled = self.veiled and bool(shot.smoke)
        through = self._veil(fluid, shot) if veiled else self._values
        program = self.device.program_of(
            "draw particles", "render/particle_fragment.glsl", "render/particle_vertex.glsl"
        )
        give(
            program,
            {
                "to_clip": clip_of_cells(fluid.grid, shot.view),
                "radius": 0.5 * float(self.size),
                "in_metres": self.unit == "metres",
                "scale": 0.5 * shot.size[1] * abs(float(shot.view.projection[1, 1])),
                "by_value": by_value,
                "range": (low, 1.0 / (high - low)),
                "opacity": float(self.opacity),
                "additive": self.blend == "additive",
                "clock": self._clock(),
                "source_count": len(self.sources),
                "vary": float(self.vary),
                "streak": self.streak,
                "veiled": veiled,
                "cell_size": fluid.grid.cell_size,
            },
        )
        textures = {
            "state": self._state[0],
            "paces": self._paces[0],
            "values": self._values,
            "through": through,
            "colors": colors,
            "sources": sources,
            "looks": looks,
        }
        with self.drawing(program, shot), self.bound(program, None, textures, smooth=("colors",)):
            self.array(program).render(moderngl.TRIANGLES, vertices=6 * self.count)
        if by_value:
            self.draw_legend(target, shot.size, shot.upside_down)

    def read(self) -> NDArray[np.float32]:
        """Return the particles, float32 [count, 4]; waits for the GPU.

        Each: place, cells from the low corner of the box, and seconds since birth, negative where not born.
        """
        return self._read(self._state[0])

    def read_velocity(self) -> NDArray[np.float32]:
        """Return the velocities of the particles, m/s, float32 [count, 3]; waits for the GPU.

        0 for those that have not been born since the last `reset`.
        """
        return self._read(self._paces[0])[:, :3]

    def _read(self, texture: moderngl.Texture) -> NDArray[np.float32]:
        raw = np.frombuffer(texture.read(alignment=1), np.float32).reshape(-1, 4)
        return raw[: self.count].copy()

    def _clock(self) -> float:
        """The share of a life that is over for a particle without a shift."""
        return math.fmod(self.time / self.life, 1.0)

    def source_rows(self, fluid: FlowLike) -> NDArray[np.float32]:
        """What shaders know of the sources, [sources, 6, 4]: see particle_turn.glsl."""
        rows = np.zeros((len(self.sources), 6, 4), np.float32)
        first = 0
        for row, source, number in zip(rows, self.sources, self.numbers(), strict=True):
            kind, place, core = source.rows
            row[:3] = (cells_of(fluid.grid) @ place)[:3]
            row[3] = core
            row[4] = kind if source.sends else NONE_BORN, first, first + number, source.velocity is not None
            row[5] = *(source.velocity or (0.0, 0.0, 0.0)), source.spread
            first += number
        return rows

    def _source_textures(self, fluid: FlowLike) -> tuple[moderngl.Texture, moderngl.Texture]:
        """The sources and their colours as textures, written where they have changed."""
        rows, number = self.source_rows(fluid), len(self.sources)
        looks = np.ones((2, number, 4), np.float32)
        looks[0, :, :3] = [s.color or PALETTE[n % len(PALETTE)] for n, s in enumerate(self.sources)]
        looks[1, :, :3] = [
            s.last_color or first for s, first in zip(self.sources, looks[0, :, :3], strict=True)
        ]
        if self._rows is None or self._rows[1].width != number:
            self._free_sources()
            texture = self.device.texture
            self._rows = (
                texture((6, number), 4, "f4", "the particle sources"),
                texture((number, 2), 4, "f4", "the particle sources"),
            )
        told = rows.tobytes() + looks.tobytes()
        if told != self._told:
            self._rows[0].write(rows.tobytes(), alignment=1)
            self._rows[1].write(looks.tobytes(), alignment=1)
            self._told = told
        return self._rows

    def _free_sources(self) -> None:
        release(*(self._rows or ()))
        self._rows, self._told = None, b""

    def release(self) -> None:
        """Release everything made in the context; idempotent."""
        if not self._released:
            self._free_sources()
            let_go(*self._moved.values(), *self._targets, *self._state, *self._paces, self._values)
            release(self._through)
        super().release()
