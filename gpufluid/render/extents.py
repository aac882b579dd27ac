"""Where in a picture each slab of the shaded volume has anything to show, found and used on the GPU alone.

Rows of eight cells say which of them show anything, blocks of 8^3 where those lie. Each block then writes
what it covers of the picture into a small texture, by slab and by band of the picture, and blending keeps
the outermost ends. A slab is drawn between these ends. Its rays are then interpolated between other corners,
which rounds them differently: the picture is not the same to the bit, but far closer than a screen shows.
Rays worked out for each pixel would be, but cost a software renderer a quarter more in a full box.
"""

from __future__ import annotations

import moderngl
import numpy as np

from gpufluid.gl.device import Device, let_go
from gpufluid.gl.field import Field
from gpufluid.gl.passes import box_constants, field_reader
from gpufluid.gl.source import Source
from gpufluid.grid import Grid
from gpufluid.layout import FlatLayout
from gpufluid.render.camera import View
from gpufluid.render.painter import LIMIT, Sight, give, ray_uniforms
from gpufluid.render.volume_source import EXTENTS, UNITS, WHOLES, bind, volume_program

EDGE = 8  # of a block, cells; as many bits has a row
BAND = 32  # height of a band, pixels


class Extents:
    """The ends of what the slabs of a picture show, by slab and band."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._rows: Field | None = None
        self._boxes: Field | None = None
        self._ends: _Ends | None = None

    def update(self, sight: Sight, along: tuple[float, ...], cuts: tuple[float, float, int]) -> None:
        """Find them. along: of a place in cells, what slabs are cut across: a plane's four numbers.

        cuts: where the first slab begins there, how thick each is, how many there are.
        """
        rows, boxes = self._volumes(sight.shaded.layout)
        device, fluid = self.device, sight.fluid
        device.ctx.enable_only(moderngl.NOTHING)
        for label, given, out, known in (
            ("seen rows", {"shaded": sight.shaded}, rows, {"rows": rows.layout}),
            ("seen boxes", {"rows": rows}, boxes, {"rows": rows.layout, "boxes": boxes.layout}),
        ):
            program = volume_program(
                device,
                fluid,
                label,
                f"render/{label.replace(' ', '_')}.glsl",
                "shaded",
                solids=False,
                volumes=known,
            )
            out.back_target.use()
            with bind(device, program, **given):
                device.fullscreen(program).render(moderngl.TRIANGLES, vertices=3)
        self._write_ends(sight, boxes, along, cuts)

    def _write_ends(
        self, sight: Sight, boxes: Field, along: tuple[float, ...], cuts: tuple[float, float, int]
    ) -> None:
        device, (_, height) = self.device, sight.size
        program = _program(device, sight.fluid.grid.local, boxes.layout)
        bands = -(-height // BAND)
        ends, view = self._ends_for(bands), sight.view
        give(
            program,
            to_picture=to_picture(view, ray_uniforms(view, sight.fluid)),
            perspective=view.is_perspective,
            along=along,
            cuts=(*cuts[:2], float(cuts[2])),
            bands=(bands, 2.0 * BAND / height),
            slack=tuple(2.0 / n for n in sight.size),
            nearest=max(view.rays.near, 1e-6),
            boxes=UNITS["boxes"],
        )
        # one column a slab: the textures hold more
        ends.target.viewport = 0, 0, cuts[2], bands
        ends.target.clear(-2.0, -2.0)
        ends.target.use()
        boxes.front.use(UNITS["boxes"])
        ctx = device.ctx
        ctx.enable_only(moderngl.BLEND)
        ctx.blend_func = moderngl.ONE, moderngl.ONE
        ctx.blend_equation = moderngl.MAX  # type: ignore[assignment]  # moderngl says a pair
        device.fullscreen(program).render(moderngl.TRIANGLES, vertices=6 * int(np.prod(boxes.layout.size)))
        ctx.enable_only(moderngl.NOTHING)
        ctx.blend_equation = moderngl.FUNC_ADD  # type: ignore[assignment]
        program = device.keep("wholes", lambda: _whole_program(device))
        give(program, extents=EXTENTS, band_count=bands)
        ends.bands.use(EXTENTS)
        ends.whole_target.viewport = 0, 0, cuts[2], 1
        ends.whole_target.use()
        device.fullscreen(program).render(moderngl.TRIANGLES, vertices=3)

    def give(self, program: moderngl.Program, sight: Sight, cuts: tuple[float, float, int]) -> int:
        """Set what ``slab_bands_vertex.glsl`` of `program` reads; return the vertices of a slab."""
        assert self._ends is not None
        height = sight.size[1]
        give(
            program,
            extents=EXTENTS,
            wholes=WHOLES,
            cuts=cuts[:2],
            band=2.0 * BAND / height,
        )
        self._ends.bands.use(EXTENTS)
        self._ends.wholes.use(WHOLES)
        return 6 * -(-height // BAND)

    def _volumes(self, layout: FlatLayout) -> tuple[Field, Field]:
        nx, ny, nz = layout.size
        blocks = -(-nx // EDGE), -(-ny // EDGE), -(-nz // EDGE)
        if self._rows is None or self._boxes is None or self._rows.layout.size != (blocks[0], ny, nz):
            self._free_volumes()
            limit, lines = self.device.max_texture_size, (blocks[0], ny, nz)
            self._rows = Field(self.device, "seen rows", FlatLayout(lines, 1, limit), 1, "f2", 1)
            self._boxes = Field(self.device, "seen boxes", FlatLayout(blocks, 1, limit), 4, "f2", 1)
        return self._rows, self._boxes

    def _ends_for(self, bands: int) -> _Ends:
        """The textures of the ends, for so many bands at least."""
        if self._ends is None or self._ends.bands.height < bands:
            self._free_ends()
            self._ends = _Ends(self.device, bands)
        return self._ends

    def _free_volumes(self) -> None:
        for field in (self._rows, self._boxes):
            if field is not None:
                field.release()
        self._rows = self._boxes = None

    def _free_ends(self) -> None:
        if self._ends is not None:
            self._ends.release()
            self._ends = None

    def release(self) -> None:
        """Release what is kept between frames."""
        self._free_volumes()
        self._free_ends()


class _Ends:
    """The ends by slab and band, and of all bands together."""

    def __init__(self, device: Device, bands: int) -> None:
        self.bands = device.texture((LIMIT + 1, bands), 4, "f4", "the ends of slabs")
        self.wholes = device.texture((LIMIT + 1, 1), 4, "f4", "the ends of slabs")
        self.target = device.ctx.framebuffer([self.bands])
        self.whole_target = device.ctx.framebuffer([self.wholes])

    def release(self) -> None:
        """Release the textures."""
        let_go(self.target, self.whole_target, self.bands, self.wholes)


def to_picture(view: View, rays: dict[str, list[tuple[float, ...]]]) -> np.ndarray:
    """The matrix from places in cells to x, y and depth; in perspective x and y are times the depth."""
    origin, direction = (np.array(rays[name]) for name in ("ray_origin", "ray_direction"))
    across = direction if view.is_perspective else origin
    matrix = np.eye(4)
    matrix[:3, :3] = np.linalg.inv(np.stack([across[1], across[2], direction[0]], axis=1))
    matrix[:3, 3] = -matrix[:3, :3] @ origin[0]
    return matrix


def _whole_program(device: Device) -> moderngl.Program:
    source = Source("extents whole").add("#version 330 core", "<stage>")
    return device.fragment_program(source.include("render/extents_whole.glsl"))


def _program(device: Device, grid: Grid, layout: FlatLayout) -> moderngl.Program:
    def make() -> moderngl.Program:
        vertex = Source("extents (vertex)").add("#version 330 core", "<stage>")
        vertex.add(box_constants(grid), "<box>")
        vertex.add("#define DIMENSIONS 3", "<variant>")
        vertex.add("const bvec3 periodic = bvec3(false), open_high = bvec3(false);", "<variant>")
        vertex.add(layout.glsl("boxes"), "<layout>")
        vertex.add(field_reader("boxes", "boxes", layout, "", "texel", UNITS["boxes"], False), "<fields>")
        fragment = Source("extents").add("#version 330 core", "<stage>")
        return device.fragment_program(
            fragment.include("render/extents_fragment.glsl"), vertex.include("render/extents_vertex.glsl")
        )

    return device.keep(("extents", grid, layout), make)
