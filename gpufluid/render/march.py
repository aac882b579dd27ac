"""The shaded volume ray by ray: one pass over the box's rectangle in the picture, nearest first.

A ray is cut into the slabs that `Slices` would draw across the view. A texture of blocks, made each frame,
tells it where there is next to nothing; it ends where it lets next to nothing through. With half the
resolution a ray stands for 2 x 2 pixels; what they saw is made whole along the edges of the scene's depth.
"""

from __future__ import annotations

import moderngl
import numpy as np

from gpufluid.contract.backend import release
from gpufluid.contract.layout import FlatLayout
from gpufluid.gl.device import Device, let_go
from gpufluid.gl.fences import clear, draw_to
from gpufluid.gl.field import Field
from gpufluid.gl.uniforms import give
from gpufluid.render.painter import Painter, Sight
from gpufluid.render.slabs import Rows, box_of, view_cuts, view_shifts
from gpufluid.render.subject import lag
from gpufluid.render.volume_source import SCALARS, SOLID, bind, images_of, volume_program

BLOCK = 4  # edge of the blocks, cells
FAINT = 1e-4  # of radiance and opacity, all through the box: nothing that is left out adds up to more
HALVED = 0.25  # quality below which half the resolution stands for it: a quarter of the rays
HALVES = 4  # pictures of half the resolution that are kept, as of players and mirrors
LIKENESS = 1.5  # cells: a ray of half the resolution that went so much further counts half
HALF_COLOR, HALF_SEEN = SCALARS, SOLID  # texture units


class RayMarch:
    """Marches through the volume.

    count: steps through the box at full quality; None: one a cell, 32 to 160. resolution: 1 or 0.5, of the
    picture's width and height; at a quality below 0.25 it is 0.5.
    """

    def __init__(self, painter: Painter, count: int | None, resolution: float) -> None:
        self.painter, self.count, self.resolution = painter, count, resolution
        self._occupied: dict[tuple[int, int, int], Field] = {}  # by how many blocks there are
        self._halves: dict[tuple[int, int], _HalfPicture] = {}  # by their size, that drawn last behind

    def slabs(self, sight: Sight) -> Rows:
        """The box as one slab; nothing, where it is not seen."""
        return box_of(sight.fluid.grid, sight.view.rays)

    def draw(self, sight: Sight, slabs: Rows) -> None:
        """Blend what the rays see."""
        half, quality = self.resolution < 1.0, sight.quality
        if not half and quality < HALVED:
            half, quality = True, quality / HALVED
        blocks, grid = self._blocks(sight), sight.fluid.grid
        how = grid, sight.view.rays, self.count, quality, lag(sight.fluid)
        cuts = view_cuts(*how)
        spread = self.painter.spread(cuts[1] / grid.cell_size)
        program = self.painter.program(
            sight,
            "march",
            "render/march_fragment.glsl",
            {"HALF": int(half), "BLOCK": BLOCK, "JITTERED": int(spread > 0.0)},
            {"occupied": blocks.layout},
        )
        self.painter.give_cuts(program, cuts, 1, view_shifts(*how), spread)
        give(program, {"faint": FAINT / float(np.linalg.norm(grid.size))})
        given = {"occupied": blocks}
        if half:
            self._draw_half(sight, slabs, program, given)
            return
        with self.painter.timed(sight, "march"):
            self.painter.draw(sight, program, slabs, None, **given)

    def _draw_half(
        self, sight: Sight, slabs: Rows, program: moderngl.Program, given: dict[str, Field]
    ) -> None:
        """Draw half the rays along each axis into a picture of their own, and blend that, made whole."""
        picture = self._half_picture(sight)
        width, height = picture.size
        # two rays more on every side, for the pixels between one that sees smoke and one that does not
        slabs = slabs + np.array((-4 / width, -4 / height, 4 / width, 4 / height, 0, 0), np.float32)
        give(program, {"reach": (0.5 * sight.size[0] / width, 0.5 * sight.size[1] / height)})
        with self.painter.timed(sight, "march"):
            clear(picture.target)
            self.painter.draw(sight, program, slabs, picture.target, **given)
        program = self.painter.program(sight, "widen", "render/widen.glsl")
        values = {
            "picture_size": sight.size,
            "likeness": LIKENESS * sight.fluid.grid.cell_size,
            "half_color": HALF_COLOR,
            "half_seen": HALF_SEEN,
        }
        give(program, values)
        picture.color.use(HALF_COLOR)
        picture.seen.use(HALF_SEEN)
        with self.painter.timed(sight, "widen"):
            self.painter.draw(sight, program, slabs)

    def _blocks(self, sight: Sight) -> Field:
        """The most that each block of cells, and a cell round it, sends out or hides, as it is now."""
        device, size = self.painter.device, _blocks_of(sight.shaded.layout)
        if size not in self._occupied:
            layout = FlatLayout(size, 1, device.max_texture_size)
            self._occupied[size] = Field(device, "occupied", layout, 1, "f2", 1)
        occupied, images = self._occupied[size], images_of(device, sight.fields)
        program = volume_program(
            device,
            sight.fluid,
            "blocks",
            "render/blocks.glsl",
            *sight.fields,
            solids=False,
            defines={"BLOCK": BLOCK, **sight.defines},
            volumes={"occupied": occupied.layout},
            images=images,
        )
        sight.give_fire(program)
        with self.painter.timed(sight, "blocks"), bind(device, program, images, **sight.fields):
            draw_to(occupied.back_target)
            device.ctx.enable_only(moderngl.NOTHING)
            device.cover(program)
        return occupied

    def _half_picture(self, sight: Sight) -> _HalfPicture:
        """A picture of half the width and height, made again only for other sizes than the latest few."""
        width, height = sight.size
        size = -(-width // 2), -(-height // 2)
        picture = self._halves.pop(size, None) or _HalfPicture(self.painter.device, size)
        self._halves[size] = picture
        while len(self._halves) > HALVES:
            self._halves.pop(next(iter(self._halves))).release()
        return picture

    def release(self) -> None:
        """Release what is kept between frames."""
        release(*self._occupied.values(), *self._halves.values())
        self._occupied.clear()
        self._halves.clear()


def _blocks_of(layout: FlatLayout) -> tuple[int, int, int]:
    x, y, z = (-(-n // BLOCK) for n in layout.size)
    return x, y, z


class _HalfPicture:
    """Premultiplied light of half the rays, and how far each went, m."""

    def __init__(self, device: Device, size: tuple[int, int]) -> None:
        self.size = size
        self.color = device.texture(size, 4, "f2", "the picture of half the size")
        self.seen = device.texture(size, 1, "f4", "the picture of half the size")
        self.target = device.ctx.framebuffer([self.color, self.seen])

    def release(self) -> None:
        """Release the textures."""
        let_go(self.target, self.color, self.seen)
