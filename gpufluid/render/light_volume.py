"""Oriented light volumes: how much light of one direction is left in every place of the box.

`gpufluid.render.reference_light` says how the columns lie. Four layers share the channels of a tile. Where
there are compute shaders one dispatch walks all layers, a column each. Else two passes do: light is only ever
multiplied, so the first walks the four layers of every tile by themselves, and the second multiplies each
column of a tile by what the tiles before it leave; both ways multiply in the same order. The textures fit
every direction; nothing is allocated when the light turns. Light is kept in single precision: in half, thin
smoke would dim it by less than a step a layer and so never.

Where it is known what holds anything (`gpufluid.render.occupancy`), each group of columns is walked from the
first layer with such a thing in its way to the last. Before them all light is left, behind them what was. The
two passes draw rectangles of each tile, round the columns that may meet anything in it, or did so before. The
dispatch writes what the walk before left in the dark as well, and so needs no cleared volume; on a software
renderer it is of the workgroups from the first to the last with anything to write.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from gpufluid.errors import one_of
from gpufluid.gl.device import GROUP, Device, let_go
from gpufluid.gl.passes import give
from gpufluid.gl.source import Source
from gpufluid.grid import Grid
from gpufluid.layout import FlatLayout
from gpufluid.render.fading import fading
from gpufluid.render.occupancy import NOWHERE, Occupancy
from gpufluid.render.reference_light import LANES, ONE, LightFrame
from gpufluid.render.subject import FluidLike, lag
from gpufluid.render.volume_source import (
    GLOW,
    PICTURE,
    SKY,
    SUN,
    Program,
    bind,
    matter,
    volume_program,
    walking_program,
)
from gpufluid.view import Smoke

ATTENUATIONS = ("exponential", "harris")
AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
# texture units: where light is walked nobody reads those
REACH, BEFORE, RECTS, LASTS = PICTURE, SKY, GLOW, SUN
GROUPS = RECTS
COLUMNS = 8, 4  # of a group
FEW = 4000  # columns up to which a software renderer too walks all: which to leave out takes longer to find
BAND = 16  # rows of a tile that are drawn at once


class LightVolume:
    """The light left of one directional light in the box of a fluid.

    scale: light cells per cell, at most 1. attenuation: "exponential", right at any angle and resolution, or
    "harris". at_once: walk all layers in one dispatch of a compute shader, not in two passes; None: where
    there are such. Both ways give the same bits. past_solids: solids let all light by.
    """

    def __init__(
        self,
        device: Device,
        grid: Grid,
        scale: float = 1.0,
        attenuation: str = "exponential",
        at_once: bool | None = None,
        past_solids: bool = False,
    ) -> None:
        self.device, self.grid, self.scale, self.past_solids = device, grid, scale, past_solids
        self.at_once = device.version >= 430 if at_once is None else at_once
        one_of(attenuation, ATTENUATIONS, "attenuation")
        self.attenuation = attenuation
        frames = [LightFrame(grid, axis, scale) for axis in AXES]
        limit = device.max_texture_size
        self._layouts = [FlatLayout((*frame.largest_tile, frame.tiles), 1, limit) for frame in frames]
        sizes = [layout.texture_size for layout in self._layouts]
        size = max(w for w, _ in sizes), max(h for _, h in sizes)
        self.layers = device.texture(size, LANES, "f4", "the light volume")
        self._target = device.ctx.framebuffer([self.layers])
        self._target.clear()
        self._parts: _Parts | None = None
        self._reach: _Reach | None = None
        self._read_as: dict[str, dict[str, bytes]] = {}  # what others that read it are given, by its name
        self._turn(LightFrame(grid, (0.0, -1.0, 0.0), scale))

    def _turn(self, frame: LightFrame) -> None:
        """Let the light come along `frame` from now on."""
        self.frame, spread = frame, spread_of(frame)
        self._read_as.clear()
        self._columns = frame.tile[0] + spread[0], frame.tile[1] + spread[1]
        self._placed = packed(
            whole={
                "light_reach": REACH,
                "light_before": BEFORE,
                "light_groups": GROUPS,
                "light_first": first_of(frame),
                "light_tiles": self.tiles,
                "light_shear": frame.shear,
                "light_start": frame.start,
            },
            real={
                "light_slope": frame.slope,
                "light_extent": frame.extent,
                "light_path": frame.path,
                "light_place": frame.place.T,
            },
        )

    @property
    def tiles(self) -> tuple[int, int, int, int]:
        """Width and height of a tile, tiles in a row, layers."""
        return *self.frame.tile, self._layouts[self.frame.axis].columns, self.frame.layers

    @property
    def textures(self) -> list[moderngl.Texture]:
        """Those it holds."""
        return [self.layers, *([self._parts.lasts] if self._parts else ())]

    def update(
        self,
        fluid: FluidLike,
        direction: tuple[float, float, float],
        smoke: Smoke,
        occupancy: Occupancy | None = None,
    ) -> None:
        """Walk the light through the fluid as it is now, in which there is `smoke`.

        occupancy: where there is anything that stops light; None: perhaps everywhere.
        """
        moved = lag(fluid)
        if (direction, moved) != (self.frame.direction, self.frame.lag):  # else it is known where columns lie
            self._turn(LightFrame(self.grid, direction, self.scale, moved))
        reach = None
        if occupancy is not None:
            if not self.at_once:
                occupancy.spread(fluid)
            reach = self._reach = self._reach or _Reach(self, occupancy)
            follows = reach.find(occupancy, self.frame)
            if not (follows and self.at_once):
                self._target.clear(1.0, 1.0, 1.0, 1.0)
            reach.groups.use(REACH)
            reach.before.use(BEFORE)
        elif self._reach is not None:
            self._reach.walked = False
        fades, values = fading(fluid, smoke)
        walk = self._walk_at_once if self.at_once else self._walk_in_passes
        values = {**values, **self._placed, "past_solids": self.past_solids}
        walk(fluid, fades | self._defines(reach), values, reach)
        if reach is not None:
            reach.walked = True

    def _defines(self, reach: _Reach | None) -> dict[str, object]:
        """The macros of a walk."""
        return {"REACH": int(reach is not None), "HARRIS": int(self.attenuation == "harris"), **GROUPED}

    def _walk_at_once(
        self, fluid: FluidLike, defines: dict[str, object], values: dict[str, Any], reach: _Reach | None
    ) -> None:
        """One dispatch: columns do not depend on each other."""
        width, height = self._columns
        # a GPU ends a workgroup with nothing to do at once, and is slow where one thread looks at all of them
        few = not self.device.software or width * height <= FEW
        groups = None if reach is None or few else reach.find_groups()
        defines["LISTED"] = int(groups is not None)
        program = walking_program(self.device, fluid, "light walk", "render/light_walk.glsl", defines)
        give(program, values)
        self.layers.bind_to_image(0, read=False, write=True)
        with bind(self.device, program, **matter(fluid)):
            if groups is None:
                program.run(-(-width // GROUP), -(-height // GROUP))
            else:
                groups.texture.use(GROUPS)
                program.run_indirect(groups.buffer)
        self.device.ctx.memory_barrier()

    def _walk_in_passes(
        self, fluid: FluidLike, defines: dict[str, object], values: dict[str, Any], reach: _Reach | None
    ) -> None:
        """A pass over all tiles, each by itself, and one that multiplies them by what those before leave."""
        device, ctx, tiles = self.device, self.device.ctx, self.frame.tiles
        parts = self._parts = self._parts or _Parts(device, self.layers)
        width, height, columns, _ = self.tiles
        size = width * columns, height * -(-tiles // columns)
        vertices, covering = 3, dict[str, Any]()
        if reach is not None:
            bands = reach.find_rects(self.tiles, self._placed)
            vertices = 6 * bands * tiles
            covering = {
                "vertex_file": "render/light_rects_vertex.glsl",
                "placed_by": reach.occupancy.volumes,
            }
            reach.rects.use(RECTS)
            values = {**values, "light_rects": RECTS, "light_bands": bands, "light_size": size}
        parts.lasts.use(LASTS)
        ctx.blend_func = moderngl.ZERO, moderngl.SRC_COLOR
        ctx.blend_equation = moderngl.FUNC_ADD  # type: ignore[assignment]  # moderngl says a pair
        for name, target, state, first_rect in (
            ("parts", parts.target, moderngl.NOTHING, 0),
            ("carry", self._target, moderngl.BLEND, tiles),
        ):
            program = volume_program(
                device,
                fluid,
                f"light {name}",
                f"render/light_{name}.glsl",
                defines=defines,
                **covering,
            )
            if reach is not None:
                reach.occupancy.give_spans(program)
            give(program, {**values, "lasts": LASTS, "first_rect": first_rect})
            target.viewport = 0, 0, *size
            target.use()
            ctx.enable_only(state)
            with bind(device, program, **matter(fluid)):
                device.fullscreen(program).render(moderngl.TRIANGLES, vertices=vertices)
        ctx.enable_only(moderngl.NOTHING)

    def give(self, program: Program, name: str, unit: int) -> None:
        """Set what ``light_at_<name>`` of `program` reads, on texture unit `unit`."""
        values, sent = self.told(name, unit), self.device.sent(program)
        if sent.get(name) is not values:
            give(program, values)
            sent[name] = values
        if program.get(f"{name}_layers", None) is not None:  # else only its direction matters
            self.layers.use(unit)
            self.device.between.use(unit)

    def told(self, name: str, unit: int) -> dict[str, bytes]:
        """The uniforms of what reads it as `name`, always on the same `unit`, by their names."""
        if name not in self._read_as:
            self._read_as[name] = packed(
                whole={
                    f"{name}_tiles": self.tiles,
                    f"{name}_shear": self.frame.shear,
                    f"{name}_start": self.frame.start,
                    f"{name}_layers": unit,
                },
                real={
                    f"{name}_matrix": self.frame.matrix.T,
                    f"{name}_slope": self.frame.slope,
                    f"{name}_extent": self.frame.extent[:2],
                    f"{name}_direction": self.frame.unit,
                },
            )
        return self._read_as[name]

    def read(self) -> NDArray[np.float32]:
        """Return the light left at the end of each layer, [layers, rows, columns] of the tiles."""
        width, height, columns, layers = self.tiles
        size = self.layers.height, self.layers.width, LANES
        image = np.frombuffer(self.layers.read(alignment=1), np.float32).reshape(size)
        corners = [(n // columns * height, n % columns * width) for n in range(self.frame.tiles)]
        tiles = np.array([image[y : y + height, x : x + width] for y, x in corners])
        return np.ascontiguousarray(np.moveaxis(tiles, 3, 1).reshape(-1, height, width)[:layers])

    def release(self) -> None:
        """Release the textures; idempotent."""
        for part in (self._parts, self._reach):
            if part is not None:
                part.release()
        self._parts = self._reach = None
        let_go(self._target, self.layers)


class _Parts:
    """What a pass over all tiles writes: into `layers` what each by itself leaves, and once more the last."""

    def __init__(self, device: Device, layers: moderngl.Texture) -> None:
        self.lasts = device.texture(layers.size, 1, "f4", "the light volume")
        self.target = device.ctx.framebuffer([layers, self.lasts])

    def release(self) -> None:
        """Release the texture."""
        let_go(self.target, self.lasts)


GROUPED = {"GROUP_SIZE": f"ivec2{COLUMNS}", "RECT_ROWS": BAND, "GROUP": GROUP}  # macros


def packed(whole: Mapping[str, Any], real: Mapping[str, Any]) -> dict[str, bytes]:
    """The bytes of uniforms of whole and of real numbers, by name; matrices column by column."""
    numbers = {name: np.array(value, np.int32) for name, value in whole.items()}
    numbers |= {name: np.array(value, np.float32) for name, value in real.items()}
    return {name: values.tobytes() for name, values in numbers.items()}


def spread_of(frame: LightFrame) -> tuple[int, int]:
    """How many columns and rows more than a tile holds come near the box in some layer."""
    u, v = (abs(p - q) for p, q in zip(frame.base(0), frame.base(frame.layers - 1), strict=True))
    return u, v


def first_of(frame: LightFrame) -> tuple[int, int]:
    """The first column and row of all tiles."""
    u, v = map(min, frame.base(0), frame.base(frame.layers - 1))
    return u, v


class _Reach:
    """Where on its way the light of a volume may meet anything, by group of columns."""

    def __init__(self, volume: LightVolume, occupancy: Occupancy) -> None:
        self.device = device = volume.device
        self.occupancy = occupancy
        frames = [LightFrame(volume.grid, axis, volume.scale) for axis in AXES]
        # a column crosses no more columns than layers
        wide, high, self._tiles = (
            max(frame.largest_tile[0] + frame.layers + 1 for frame in frames),
            max(frame.largest_tile[1] + frame.layers + 1 for frame in frames),
            max(frame.tiles for frame in frames),
        )
        self._bands = -(-max(frame.largest_tile[1] for frame in frames) // BAND)
        size = -(-wide // COLUMNS[0]), -(-high // COLUMNS[1])
        # of this walk and of the one before
        self.groups, self.before = (device.texture(size, 4, "f4", "the reach of light") for _ in range(2))
        self._target, self._target_before = (device.ctx.framebuffer([t]) for t in (self.groups, self.before))
        self._groups: _Groups | None = None
        self._rects: moderngl.Texture | None = None
        self._rects_target: moderngl.Framebuffer | None = None
        self._count = 0, 0
        self.walked = False  # whether the light in the volume is of the latest reach
        self._frame: LightFrame | None = None
        self._placed: dict[str, bytes] = {}

    def _turn(self, frame: LightFrame) -> None:
        """Let the light come along `frame` from now on."""
        self._frame = frame
        width, height = (n + more for n, more in zip(frame.tile, spread_of(frame), strict=True))
        self._count = -(-width // COLUMNS[0]), -(-height // COLUMNS[1])
        self._placed = packed(
            whole={},
            real={
                "light_matrix": frame.matrix.T,
                "light_first": first_of(frame),
                "light_start": [n / ONE for n in frame.start],
                "light_slope": frame.slope,
                "light_axes": (*frame.across, frame.axis),
                "light_scale": frame.scale,
                "group_size": COLUMNS,
                "group_count": self._count,
            },
        )

    def find(self, occupancy: Occupancy, frame: LightFrame) -> bool:
        """Find it for light of `frame`; return whether what is in the volume is of the one before."""
        self.occupancy, follows = occupancy, self.walked and frame is self._frame
        self.walked = False
        self.groups, self.before = self.before, self.groups
        self._target, self._target_before = self._target_before, self._target
        if frame is not self._frame:
            self._turn(frame)
        if not follows:
            self._target_before.clear(*(NOWHERE,) * 4)
        program = occupancy.scattering(self.device, frame.grid, "light_reach")
        give(program, self._placed)
        self._target.viewport = (0, 0, *self._count)
        self._target.clear(*(NOWHERE,) * 4)
        with occupancy.scatter(program, self._target):
            self.device.fullscreen(program).render(moderngl.TRIANGLES, vertices=3 * occupancy.blocks)
        return follows

    @property
    def rects(self) -> moderngl.Texture:
        """The columns that may meet anything, by band of rows and tile, and those that did so before."""
        assert self._rects is not None
        return self._rects

    def find_groups(self) -> _Groups:
        """The workgroups of a dispatch that have anything to write."""
        device = self.device
        groups = self._groups = self._groups or _Groups(device)
        program = _small_program(device, "light groups")
        give(program, {"light_reach": REACH, "light_before": BEFORE, "group_count": self._count})
        groups.back_target.use()
        device.ctx.enable_only(moderngl.NOTHING)
        device.cover(program)
        groups.tell()
        return groups

    def find_rects(self, tiles: tuple[int, int, int, int], placed: Mapping[str, bytes]) -> int:
        """Find `rects`; return how many bands there are. placed: the uniforms of the light's columns."""
        device = self.device
        if self._rects is None:
            self._rects = device.texture((self._bands, 2 * self._tiles), 4, "f4", "the reach of light")
            self._rects_target = device.ctx.framebuffer([self._rects])
        assert self._rects_target is not None
        bands = -(-tiles[1] // BAND)
        program = _small_program(device, "light rects")
        give(program, {**placed, "group_count": self._count})
        self.groups.use(REACH)
        self._rects_target.viewport = 0, 0, bands, 2 * (-(-tiles[3] // LANES))
        self._rects_target.use()
        device.ctx.enable_only(moderngl.NOTHING)
        device.cover(program)
        return bands

    def release(self) -> None:
        """Release the textures."""
        let_go(self._target, self._target_before, self.groups, self.before)
        if self._groups is not None:
            self._groups.release()
        if self._rects is not None and self._rects_target is not None:
            let_go(self._rects_target, self._rects)


class _Groups:
    """How many workgroups a dispatch has, which the GPU alone knows."""

    def __init__(self, device: Device) -> None:
        self.texture = device.ctx.texture((1, 1), 4, dtype="u4")
        self.back_target = device.ctx.framebuffer([self.texture])
        self.buffer = device.ctx.buffer(reserve=16)

    def tell(self) -> None:
        """Copy what was drawn to where a dispatch takes it from."""
        self.texture.read_into(self.buffer)

    def release(self) -> None:
        """Release all of it; idempotent."""
        let_go(self.back_target, self.texture, self.buffer)


def _small_program(device: Device, label: str) -> moderngl.Program:
    """The program of a pass over a few texels; compiled once on each device."""

    def make() -> moderngl.Program:
        source = Source(label).add("#version 330 core", "<stage>")
        source.add("\n".join(f"#define {name} {value}" for name, value in GROUPED.items()), "<variant>")
        return device.fragment_program(source.include(f"render/{label.replace(' ', '_')}.glsl"))

    return device.keep(label, make)
