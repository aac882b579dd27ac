"""Oriented light volumes: how much light of one direction is left in every place of the box.

`gpufluid.render.light.light_frame` says how the columns lie. Four layers share the channels of a tile. Where
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

from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from gpufluid.common.errors import GpufluidError, one_of
from gpufluid.common.vectors import Vector
from gpufluid.contract.backend import release
from gpufluid.contract.layout import FlatLayout
from gpufluid.description.grid import Grid
from gpufluid.description.view import Smoke
from gpufluid.gl.device import GROUP, Device, let_go
from gpufluid.gl.drawing import blend
from gpufluid.gl.fences import clear, draw_to
from gpufluid.gl.uniforms import give, give_once
from gpufluid.render.fading import fading
from gpufluid.render.light.light_frame import LANES, LightFrame
from gpufluid.render.light.light_reach import AXES, BEFORE, GROUPED, REACH, LightReach, ReachPart, packed
from gpufluid.render.occupancy import Occupancy
from gpufluid.render.subject import FluidLike, lag
from gpufluid.render.volume_source import (
    GLOW,
    SUN,
    Program,
    bind,
    matter,
    volume_program,
    walking_program,
)

ATTENUATIONS = ("exponential", "harris")
RECTS, LASTS = GLOW, SUN  # texture units: where light is walked nobody reads those
GROUPS = RECTS
FEW = 4000  # columns up to which a software renderer too walks all: which to leave out takes longer to find


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
        try:
            sizes = [layout.texture_size for layout in self._layouts]
        except GpufluidError as error:
            cells = " x ".join(map(str, grid.cells))
            raise GpufluidError(
                f"the light in {cells} cells does not fit; a smaller light_scale may: {error}"
            ) from None
        size = max(w for w, _ in sizes), max(h for _, h in sizes)
        self.layers = device.texture(size, LANES, "f4", "the light volume")
        self._target = device.ctx.framebuffer([self.layers])
        clear(self._target)
        self._parts: _Parts | None = None
        self._reach: ReachPart | None = None  # of the latest walk
        self._own: LightReach | None = None
        self._read_as: dict[str, dict[str, bytes]] = {}  # what others that read it are given, by its name
        self._turn(LightFrame(grid, (0.0, -1.0, 0.0), scale))

    def _turn(self, frame: LightFrame) -> None:
        """Let the light come along `frame` from now on."""
        self.frame = frame
        self._read_as.clear()
        self._placed = packed(
            whole={
                "light_reach": REACH,
                "light_before": BEFORE,
                "light_groups": GROUPS,
                "light_first": frame.first,
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

    def face(self, fluid: FluidLike, direction: Vector) -> None:
        """Let the light come along `direction` through the box of `fluid` where that is now."""
        moved = lag(fluid)
        if (direction, moved) != (self.frame.direction, self.frame.lag):  # else it is known where columns lie
            self._turn(LightFrame(self.grid, direction, self.scale, moved))

    def update(
        self,
        fluid: FluidLike,
        direction: Vector,
        smoke: Smoke,
        occupancy: Occupancy | None = None,
        reach: ReachPart | None = None,
    ) -> None:
        """Walk the light through the fluid as it is now, in which there is `smoke`.

        occupancy: where there is anything that stops light; None: perhaps everywhere. reach: that of this
        light, found in it beside that of others after `face`; None: it is found here.
        """
        self.face(fluid, direction)
        if occupancy is None:
            reach = None
        elif reach is None:
            self._own = self._own or LightReach(self.device, [self])
            self._own.find(occupancy)
            (reach,) = self._own.parts
        follows = reach is not None and reach is self._reach and reach.follows
        if self._reach is not None:
            self._reach.walked = False
        self._reach = reach
        if occupancy is not None and reach is not None:
            if not self.at_once:
                occupancy.spread(fluid)
            if not follows:
                reach.whole.forget_before(reach)
            if not (follows and self.at_once):
                clear(self._target, 1.0, 1.0, 1.0, 1.0)
            reach.whole.use()
        fades, values = fading(fluid, smoke)
        values["past_solids"] = self.past_solids
        defines = {
            **fades,
            **GROUPED,
            "REACH": int(reach is not None),
            "HARRIS": int(self.attenuation == "harris"),
        }
        if reach is not None:
            values["light_row"] = reach.row
        if self.at_once:
            self._walk_at_once(fluid, defines, values, reach)
        else:
            self._walk_in_passes(fluid, defines, values, occupancy, reach)
        if reach is not None:
            reach.walked = True

    def _walk_at_once(
        self, fluid: FluidLike, defines: dict[str, object], values: dict[str, Any], reach: ReachPart | None
    ) -> None:
        """One dispatch: columns do not depend on each other."""
        width, height = self.frame.columns
        # a GPU ends a workgroup with nothing to do at once, and is slow where one thread looks at all of them
        few = not self.device.software or width * height <= FEW
        groups = None if reach is None or few else reach.find_groups()
        defines["LISTED"] = int(groups is not None)
        program = walking_program(self.device, fluid, "light walk", "render/light_walk.glsl", defines)
        give_once(self.device, program, "columns", self._placed)
        give(program, values)
        self.layers.bind_to_image(0, read=False, write=True)
        self.device.before_stores()
        with bind(self.device, program, **matter(fluid)):
            if groups is None:
                program.run(-(-width // GROUP), -(-height // GROUP))
            else:
                groups.texture.use(GROUPS)
                program.run_indirect(groups.buffer)
        self.device.ctx.memory_barrier()

    def _walk_in_passes(
        self,
        fluid: FluidLike,
        defines: dict[str, object],
        values: dict[str, Any],
        occupancy: Occupancy | None,
        reach: ReachPart | None,
    ) -> None:
        """A pass over all tiles, each by itself, and one that multiplies them by what those before leave."""
        device, ctx, tiles = self.device, self.device.ctx, self.frame.tiles
        parts = self._parts = self._parts or _Parts(device, self.layers)
        width, height, columns, _ = self.tiles
        size = width * columns, height * -(-tiles // columns)
        vertices, covering = 3, dict[str, Any]()
        if occupancy is not None and reach is not None:
            bands = reach.find_rects(self.tiles, self._placed)
            vertices = 6 * bands * tiles
            covering = {
                "vertex_file": "render/light_rects_vertex.glsl",
                "placed_by": occupancy.volumes,
            }
            reach.rects.use(RECTS)
            values = {**values, "light_rects": RECTS, "light_bands": bands, "light_size": size}
        parts.lasts.use(LASTS)
        for name, target, first_rect in (("parts", parts.target, 0), ("carry", self._target, tiles)):
            program = volume_program(
                device,
                fluid,
                f"light {name}",
                f"render/light_{name}.glsl",
                defines=defines,
                **covering,
            )
            if occupancy is not None:
                occupancy.give_spans(program)
            give_once(device, program, "columns", self._placed)
            give(program, {**values, "lasts": LASTS, "first_rect": first_rect})
            target.viewport = 0, 0, *size
            draw_to(target)
            if name == "carry":  # its parts times what is left of the light before it
                blend(ctx, moderngl.ZERO, moderngl.SRC_COLOR)
            else:
                ctx.enable_only(moderngl.NOTHING)
            with bind(device, program, **matter(fluid)):
                device.fullscreen(program).render(moderngl.TRIANGLES, vertices=vertices)
        ctx.enable_only(moderngl.NOTHING)

    def give(self, program: Program, name: str, unit: int) -> None:
        """Set what ``light_at_<name>`` of `program` reads, on texture unit `unit`."""
        read = program.get(f"{name}_layers", None) is not None  # else only its direction matters
        if not read and program.get(f"{name}_direction", None) is None:
            return
        give_once(self.device, program, name, self.told(name, unit))
        if read:
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
        release(self._parts, self._own)
        self._parts = self._own = self._reach = None
        let_go(self._target, self.layers)


class _Parts:
    """What a pass over all tiles writes: into `layers` what each by itself leaves, and once more the last."""

    def __init__(self, device: Device, layers: moderngl.Texture) -> None:
        self.lasts = device.texture(layers.size, 1, "f4", "the light volume")
        self.target = device.ctx.framebuffer([layers, self.lasts])

    def release(self) -> None:
        """Release the texture."""
        let_go(self.target, self.lasts)
