"""Fire as a light: how hot gas glows, and what of it arrives in every place of the box."""

from __future__ import annotations

from dataclasses import dataclass

import moderngl
import numpy as np

from gpufluid.contract.backend import release
from gpufluid.contract.layout import FlatLayout
from gpufluid.description.grid import Grid
from gpufluid.description.view import Fire, Smoke
from gpufluid.gl.device import Device
from gpufluid.gl.drawing import Canvas
from gpufluid.gl.fences import draw_to
from gpufluid.gl.field import Field, PartedField
from gpufluid.gl.uniforms import give
from gpufluid.render.blackbody import COLDEST, GLOWS_FROM, HOTTEST, TABLE, fire_table
from gpufluid.render.fading import fading
from gpufluid.render.occupancy import Occupancy
from gpufluid.render.subject import FluidLike
from gpufluid.render.volume_source import FIRE_TABLE, PICTURE, Program, bind, matter, volume_program

BLOCKS = 8  # along the longest axis; each is one light
# macros of a shader that knows how hot gas glows
FIRE = {
    "FIRE": 1,
    "FIRE_COLDEST": COLDEST,
    "FIRE_HOTTEST": HOTTEST,
    "FIRE_TABLE": TABLE,
    "GLOWS_FROM": GLOWS_FROM,
}
LIST = PICTURE  # texture unit: no picture is read meanwhile


@dataclass(frozen=True)
class SeenFire:
    """The fire as rays see it.

    heat: the fields of heat.glsl by name: of the cells, and if `fire` is soft of their corners. light: which
    has the colours of `fire`.
    """

    heat: dict[str, Field]
    light: FireLight
    fire: Fire

    @property
    def defines(self) -> dict[str, float]:
        """The macros of a shader that looks it up."""
        return {**FIRE, "FIRE_SOFT": int(self.fire.soft)}

    def give(self, program: Program) -> None:
        """Set what ``fire.glsl`` of `program` reads."""
        self.light.give_colors(program, self.fire)


class FireLight:
    """The glow of the fire in the box of a fluid, gathered in blocks; see fire_glow.glsl.

    The blocks stay in the world when the box moves on. roomy: have room for those that then lie partly before
    it, as a box that has moved needs it.
    """

    def __init__(self, device: Device, grid: Grid, roomy: bool = False) -> None:
        self.device = device
        self.size = max(2, -(-max(grid.cells) // BLOCKS))  # edge of a block, cells
        nx, ny, nz = (-(-(n + roomy * (self.size - 1)) // self.size) for n in grid.cells)
        limit = device.max_texture_size
        # what shines in each, and where its middle is
        self.blocks = PartedField(device, "fire blocks", FlatLayout((nx, ny, nz), 1, limit), 4, "f4", 1, 2)
        # the numbers of those that hold fire
        self._list = Canvas(device, (nx * ny * nz, 1), 1, "f4", "the list of fires")
        # slices of how much light there is, then of where it comes from
        fine = (2 * nx, 2 * ny, 2 * (2 * nz if grid.dimensions == 3 else 1))
        self.glow = Field(device, "fire glow", FlatLayout(fine, 1, limit), 4, "f4", 1)
        table = fire_table()
        self.table = device.texture((len(table), 1), 4, "f4", "the colours of fire")
        self.table.write(np.concatenate([table, np.ones((len(table), 1))], 1).astype("f4").tobytes())
        self._heat: dict[str, Field] = {}

    @property
    def defines(self) -> dict[str, float]:
        """The macros of a shader that knows of fire."""
        return {**FIRE, "BLOCK_SIZE": self.size}

    def update(self, fluid: FluidLike, fire: Fire, smoke: Smoke, occupancy: Occupancy | None = None) -> None:
        """Gather the fire as it is now and spread its light; occupancy: where there is any fire or smoke."""
        device = self.device
        device.ctx.enable_only(moderngl.NOTHING)
        layouts = {"blocks": self.blocks.layout}
        fades, values = fading(fluid, smoke)
        defines = {**self.defines, "ENDS": int(occupancy is not None), **fades}
        program = volume_program(
            device, fluid, "fire blocks", "render/fire_blocks.glsl", defines=defines, volumes=layouts
        )
        self.give(program, fluid, fire)
        if occupancy is not None:
            occupancy.give_ends(program)
        give(program, values)
        draw_to(self.blocks.back_target)
        with bind(device, program, **matter(fluid)):
            device.cover(program)
        program = volume_program(
            device, fluid, "fire list", "render/fire_list.glsl", defines=self.defines, volumes=layouts
        )
        self._place(program, fluid)
        draw_to(self._list.target)
        with bind(device, program, blocks=self.blocks):
            device.cover(program)
        layouts |= {"middles": self.blocks.layout, "glow": self.glow.layout}
        program = volume_program(
            device, fluid, "fire glow", "render/fire_glow.glsl", defines=self.defines, volumes=layouts
        )
        self._place(program, fluid)
        give(program, {"glow_strength": float(fire.glow)})
        program["fire_list"] = LIST
        self._list.texture.use(LIST)
        draw_to(self.glow.back_target)
        with bind(device, program, blocks=self.blocks, middles=self.blocks.parts[1], scalars=fluid.scalars):
            device.cover(program)

    def seen(self, layout: FlatLayout, fire: Fire) -> SeenFire:
        """`fire` as rays see it in cells of that layout."""
        names = ("heat", "corners") if fire.soft else ("heat",)
        if tuple(self._heat) != names or self._heat["heat"].layout != layout:
            self._free_heat()
            self._heat = {name: Field(self.device, name, layout, 4, "f2", 1) for name in names}
        return SeenFire(self._heat, self, fire)

    def _free_heat(self) -> None:
        release(*self._heat.values())
        self._heat = {}

    def _place(self, program: Program, fluid: FluidLike) -> None:
        """Tell `program` how the box of `fluid` lies in the blocks."""
        give(program, {"block_lag": tuple(n % self.size for n in fluid.scrolled)})

    def give(self, program: Program, fluid: FluidLike, fire: Fire) -> None:
        """Set what ``fire.glsl`` of `program` reads, and where in the box of `fluid` the blocks lie.

        Or what ``where_fire_vertex.glsl`` does, in a program of light alone, which knows no colours of fire.
        """
        self._place(program, fluid)
        self.give_colors(program, fire)
        if program.get("fire_list", None) is not None:
            give(program, {"fire_list": FIRE_TABLE})
            self._list.texture.use(FIRE_TABLE)

    def give_colors(self, program: Program, fire: Fire) -> None:
        """Set what ``fire.glsl`` of `program` reads."""
        values = {
            "fire_table": FIRE_TABLE,
            "fire_kelvin": (fire.kelvin_at_zero, fire.kelvin_per_temperature, fire.hottest),
            "fire_intensity": fire.intensity,
            "fire_core": fire.core,
            "fire_soot": fire.soot,
        }
        give(program, values)
        self.table.use(FIRE_TABLE)

    def release(self) -> None:
        """Release the textures."""
        self._free_heat()
        release(self.blocks, self.glow, self.table, self._list)
