"""Oriented light volumes: how much light of one direction is left in every place of the box.

`gpufluid.render.reference_light` says how the columns lie. Even layers are tiles of one texture and odd
layers of another, so that a layer reads the one before it from the other texture: plain passes, no feedback.
Where there are compute shaders one dispatch walks all layers. The textures fit every direction; nothing is
allocated when the light turns. Light is kept in single precision: in half, thin smoke would dim it by less
than a step a layer and so never.

Where it is known what holds anything (`gpufluid.render.occupancy`), each group of columns is walked from the
first layer with such a thing in its way to the last. Before them all light is left, behind them what was.
Pass by pass a rectangle of each layer is walked, that of all columns which have met anything by then.
"""

from __future__ import annotations

from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from gpufluid.gl.device import GROUP, Device, let_go
from gpufluid.gl.passes import upload
from gpufluid.gl.source import Source
from gpufluid.grid import Grid
from gpufluid.layout import FlatLayout
from gpufluid.render.occupancy import NOWHERE, Occupancy
from gpufluid.render.reference_light import ONE, LightFrame
from gpufluid.render.subject import FluidLike, lag
from gpufluid.render.volume_source import BLOCKS, GLOW, bind, matter, volume_program, walking_program
from gpufluid.settings import one_of

ATTENUATIONS = ("exponential", "harris")
AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
PREVIOUS = 2  # texture unit
REACH, RECTS = BLOCKS, GLOW  # texture units: where light is walked nobody reads those
COLUMNS = 8, 4  # of a group
BAND = 16  # rows of a tile that are drawn at once


class LightVolume:
    """The light left of one directional light in the box of a fluid.

    scale: light cells per cell, at most 1. attenuation: "exponential", right at any angle and resolution, or
    "harris". at_once: walk all layers in one dispatch of a compute shader; None: where there are such. Both
    ways give the same bits.
    """

    def __init__(
        self,
        device: Device,
        grid: Grid,
        scale: float = 1.0,
        attenuation: str = "exponential",
        at_once: bool | None = None,
    ) -> None:
        self.device, self.grid, self.scale = device, grid, scale
        self.at_once = device.version >= 430 if at_once is None else at_once
        one_of(attenuation, ATTENUATIONS, "attenuation")
        self.attenuation = attenuation
        self._layouts = [self._tiles(LightFrame(grid, axis, scale)) for axis in AXES]
        sizes = [layout.texture_size for layout in self._layouts]
        size = max(w for w, _ in sizes), max(h for _, h in sizes)
        self.textures = [device.texture(size, 1, "f4", "the light volume") for _ in range(2)]
        self._targets = [device.ctx.framebuffer([texture]) for texture in self.textures]
        for target in self._targets:
            target.clear()
        self.frame = LightFrame(grid, (0.0, -1.0, 0.0), scale)
        self._reach: _Reach | None = None

    def _tiles(self, frame: LightFrame) -> FlatLayout:
        """The tiles of the even layers, which are as many as the odd ones or one more."""
        return FlatLayout((*frame.tile, -(-frame.layers // 2)), 1, self.device.max_texture_size)

    @property
    def tiles(self) -> tuple[int, int, int, int]:
        """Width and height of a tile, tiles in a row, layers."""
        return *self.frame.tile, self._layouts[self.frame.axis].columns, self.frame.layers

    def update(
        self,
        fluid: FluidLike,
        direction: tuple[float, float, float],
        extinction: float,
        occupancy: Occupancy | None = None,
    ) -> None:
        """Walk the light through the fluid as it is now. extinction: 1/m per unit of density.

        occupancy: where there is anything that stops light; None: perhaps everywhere.
        """
        self.frame = frame = LightFrame(self.grid, direction, self.scale, lag(fluid))
        reach = None
        if occupancy is not None:
            for target in self._targets:
                target.clear(1.0)
            reach = self._reach = self._reach or _Reach(self)
            reach.find(occupancy, frame)
        walk = self._walk_at_once if self.at_once else self._walk_by_layers
        walk(
            fluid,
            {
                "light_tiles": self.tiles,
                "light_shear": frame.shear,
                "light_start": frame.start,
                "light_slope": tuple(frame.slope),
                "light_extent": frame.extent,
                "light_path": frame.path,
                "light_place": np.linalg.inv(frame.matrix),
                "extinction": float(extinction),
                "harris": self.attenuation == "harris",
            },
            reach,
        )

    def _walk_at_once(self, fluid: FluidLike, values: dict[str, Any], reach: _Reach | None) -> None:
        """One dispatch: columns do not depend on each other."""
        defines = {"REACH": int(reach is not None), **GROUPED}
        program = walking_program(self.device, fluid, "light walk", "render/light_walk.glsl", defines)
        for name, value in values.items():
            upload(program[name], value)  # type: ignore[arg-type]
        frame, (width, height, _, _) = self.frame, self.tiles
        spread = spread_of(frame)
        if reach is not None:
            program["light_reach"] = REACH
            reach.groups.use(REACH)
        for unit, texture in enumerate(self.textures):
            texture.bind_to_image(unit, read=False, write=True)
        with bind(self.device, program, **matter(fluid)):
            program.run(-(-(width + spread[0]) // GROUP), -(-(height + spread[1]) // GROUP))
        self.device.ctx.memory_barrier()

    def _walk_by_layers(self, fluid: FluidLike, values: dict[str, Any], reach: _Reach | None) -> None:
        """A pass a layer, each reading the one before."""
        vertices, vertex_file = 3, None
        if reach is not None:
            vertices, vertex_file = (
                6 * reach.find_rects(self.tiles, self.frame),
                "render/light_layer_vertex.glsl",
            )
        program = volume_program(
            self.device, fluid, "light layer", "render/light_layer.glsl", vertex_file=vertex_file
        )
        if reach is not None:
            program["light_rects"] = RECTS
            reach.rects.use(RECTS)
        for name, value in {**values, "previous": PREVIOUS}.items():
            upload(program[name], value)  # type: ignore[arg-type]
        triangle = self.device.fullscreen(program)
        ctx, (width, height, columns, layers) = self.device.ctx, self.tiles
        ctx.enable_only(moderngl.NOTHING)
        with bind(self.device, program, **matter(fluid)):
            number = program["layer"]
            for layer in range(layers):
                target, tile = self._targets[layer & 1], layer >> 1
                target.viewport = tile % columns * width, tile // columns * height, width, height
                self.textures[1 - (layer & 1)].use(PREVIOUS)
                target.use()
                number.value = layer  # type: ignore[union-attr]
                triangle.render(moderngl.TRIANGLES, vertices=vertices)

    def give(self, program: moderngl.Program, name: str, unit: int) -> None:
        """Set what ``light_at_<name>`` of `program` reads, on texture units `unit` and `unit` + 1."""
        if f"{name}_matrix" not in program:
            return
        for value, key in (
            (self.tiles, "tiles"),
            (self.frame.shear, "shear"),
            (self.frame.start, "start"),
            (self.frame.matrix, "matrix"),
            (tuple(self.frame.slope), "slope"),
            (self.frame.extent[:2], "extent"),
            (tuple(self.frame.unit), "direction"),
            (unit, "even"),
            (unit + 1, "odd"),
        ):
            upload(program[f"{name}_{key}"], value)  # type: ignore[arg-type]
        for at, texture in enumerate(self.textures, unit):
            texture.use(at)
            self.device.between.use(at)

    def read(self) -> NDArray[np.float32]:
        """Return the light left at the end of each layer, [layers, rows, columns] of the tiles."""
        layout = self._layouts[self.frame.axis]
        width, height = layout.texture_size
        out = np.empty((self.frame.layers, *layout.tile[::-1]), np.float32)
        for parity, texture in enumerate(self.textures):
            image = np.frombuffer(texture.read(alignment=1), np.float32).reshape(
                texture.height, texture.width
            )
            tiles = layout.unflatten(np.ascontiguousarray(image[:height, :width, None]))[..., 0]
            out[parity::2] = tiles[: len(out[parity::2])]
        return out

    def release(self) -> None:
        """Release the textures; idempotent."""
        let_go(*self._targets, *self.textures)
        self._targets, self.textures = [], []
        if self._reach is not None:
            self._reach.release()
            self._reach = None


GROUPED = {"GROUP_SIZE": f"ivec2{COLUMNS}", "RECT_ROWS": BAND}  # macros


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

    def __init__(self, volume: LightVolume) -> None:
        self.device = device = volume.device
        frames = [LightFrame(volume.grid, axis, volume.scale) for axis in AXES]
        # a column crosses no more columns than layers
        wide, high, self._layers = (
            max(frame.tile[0] + frame.layers + 1 for frame in frames),
            max(frame.tile[1] + frame.layers + 1 for frame in frames),
            max(frame.layers for frame in frames),
        )
        self._bands = -(-max(frame.tile[1] for frame in frames) // BAND)
        size = -(-wide // COLUMNS[0]), -(-high // COLUMNS[1])
        self.groups = device.texture(size, 4, "f4", "the reach of light")
        self._target = device.ctx.framebuffer([self.groups])
        self._rects: moderngl.Texture | None = None
        self._rects_target: moderngl.Framebuffer | None = None
        self._count, self._first = (0, 0), (0, 0)

    def find(self, occupancy: Occupancy, frame: LightFrame) -> None:
        """Find it for light of `frame`."""
        spread, self._first = spread_of(frame), first_of(frame)
        width, height = (n + more for n, more in zip(frame.tile, spread, strict=True))
        self._count = -(-width // COLUMNS[0]), -(-height // COLUMNS[1])
        program = occupancy.scattering(self.device, frame.grid, "light_reach")
        for name, value in {
            "light_matrix": frame.matrix,
            "light_first": self._first,
            "light_start": tuple(n / ONE for n in frame.start),
            "light_slope": tuple(frame.slope),
            "light_axes": (*frame.across, frame.axis),
            "light_scale": frame.scale,
            "group_size": COLUMNS,
            "group_count": self._count,
        }.items():
            if name in program:
                upload(program[name], value)  # type: ignore[arg-type]
        self._target.viewport = (0, 0, *self._count)
        self._target.clear(*(NOWHERE,) * 4)
        with occupancy.scatter(program, self._target):
            self.device.fullscreen(program).render(moderngl.TRIANGLES, vertices=6 * occupancy.blocks)

    @property
    def rects(self) -> moderngl.Texture:
        """The columns that have met anything, by band of rows and layer."""
        assert self._rects is not None
        return self._rects

    def find_rects(self, tiles: tuple[int, int, int, int], frame: LightFrame) -> int:
        """Find `rects`; return how many bands there are."""
        device = self.device
        if self._rects is None:
            self._rects = device.texture((self._bands, self._layers), 4, "f4", "the reach of light")
            self._rects_target = device.ctx.framebuffer([self._rects])
        assert self._rects_target is not None
        bands = -(-tiles[1] // BAND)
        source = Source("light rects").add("#version 330 core", "<stage>")
        source.add("\n".join(f"#define {name} {value}" for name, value in GROUPED.items()), "<variant>")
        program = device.keep(
            "light rects", lambda: device.fragment_program(source.include("render/light_rects.glsl"))
        )
        for name, value in {
            "light_tiles": tiles,
            "light_shear": frame.shear,
            "light_start": frame.start,
            "light_first": self._first,
            "group_count": self._count,
            "light_reach": REACH,
        }.items():
            if name in program:
                upload(program[name], value)  # type: ignore[arg-type]
        self.groups.use(REACH)
        self._rects_target.viewport = 0, 0, bands, tiles[3]
        self._rects_target.use()
        device.ctx.enable_only(moderngl.NOTHING)
        device.fullscreen(program).render(moderngl.TRIANGLES, vertices=3)
        return bands

    def release(self) -> None:
        """Release the textures."""
        let_go(self._target, self.groups)
        if self._rects is not None and self._rects_target is not None:
            let_go(self._rects_target, self._rects)
