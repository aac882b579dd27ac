"""Oriented light volumes: how much light of one direction is left in every place of the box.

`gpufluid.render.reference_light` says how the columns lie. Even layers are tiles of one texture and odd
layers of another, so that a layer reads the one before it from the other texture: plain passes, no feedback.
Where there are compute shaders one dispatch walks all layers. The textures fit every direction; nothing is
allocated when the light turns. Light is kept in single precision: in half, thin smoke would dim it by less
than a step a layer and so never.
"""

from __future__ import annotations

from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from gpufluid.gl.device import GROUP, Device, let_go
from gpufluid.gl.passes import upload
from gpufluid.grid import Grid
from gpufluid.layout import FlatLayout
from gpufluid.render.reference_light import LightFrame
from gpufluid.render.subject import FluidLike, lag
from gpufluid.render.volume_source import bind, matter, volume_program, walking_program
from gpufluid.settings import one_of

ATTENUATIONS = ("exponential", "harris")
AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
PREVIOUS = 2  # texture unit


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

    def _tiles(self, frame: LightFrame) -> FlatLayout:
        """The tiles of the even layers, which are as many as the odd ones or one more."""
        return FlatLayout((*frame.tile, -(-frame.layers // 2)), 1, self.device.max_texture_size)

    @property
    def tiles(self) -> tuple[int, int, int, int]:
        """Width and height of a tile, tiles in a row, layers."""
        return *self.frame.tile, self._layouts[self.frame.axis].columns, self.frame.layers

    def update(self, fluid: FluidLike, direction: tuple[float, float, float], extinction: float) -> None:
        """Walk the light through the fluid as it is now. extinction: 1/m per unit of density."""
        self.frame = frame = LightFrame(self.grid, direction, self.scale, lag(fluid))
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
        )

    def _walk_at_once(self, fluid: FluidLike, values: dict[str, Any]) -> None:
        """One dispatch: columns do not depend on each other."""
        program = walking_program(self.device, fluid, "light walk", "render/light_walk.glsl")
        for name, value in values.items():
            upload(program[name], value)  # type: ignore[arg-type]
        frame, (width, height, _, layers) = self.frame, self.tiles
        # every column that comes near the box in some layer
        spread = [abs(p - q) for p, q in zip(frame.base(0), frame.base(layers - 1), strict=True)]
        for unit, texture in enumerate(self.textures):
            texture.bind_to_image(unit, read=False, write=True)
        with bind(self.device, program, **matter(fluid)):
            program.run(-(-(width + spread[0]) // GROUP), -(-(height + spread[1]) // GROUP))
        self.device.ctx.memory_barrier()

    def _walk_by_layers(self, fluid: FluidLike, values: dict[str, Any]) -> None:
        """A pass a layer, each reading the one before."""
        program = volume_program(self.device, fluid, "light layer", "render/light_layer.glsl")
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
                triangle.render(moderngl.TRIANGLES, vertices=3)

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
