"""Where in a box there is anything to see, or to stop light, found and used on the GPU alone.

Rows of eight cells, four to a texel, say which of them hold something, blocks of 8^3 or more where those lie;
what reads a cell or two further off widens that. Light and looks are then worked out there alone, and have
one value elsewhere.
Where the last step left out what holds nothing (`gpufluid.gl.strips`), rows there are not looked at.

Smoke so thin that light would lose less than 1e-6 in 512 cells of it counts as none: a flow spreads smoke by
a cell a step, if ever so thinly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import moderngl
import numpy as np

from gpufluid.contract.backend import release
from gpufluid.contract.layout import FlatLayout
from gpufluid.description.grid import Grid
from gpufluid.description.view import Fire, Look
from gpufluid.gl.device import Device
from gpufluid.gl.drawing import Canvas, blend
from gpufluid.gl.fences import clear, draw_to
from gpufluid.gl.field import Field
from gpufluid.gl.kernel_source import box_constants, field_reader
from gpufluid.gl.source import Source
from gpufluid.gl.strips import Strips
from gpufluid.gl.uniforms import give
from gpufluid.render.blackbody import GLOWS_FROM
from gpufluid.render.subject import FluidLike
from gpufluid.render.volume_source import (
    PICTURE,
    UNITS,
    Program,
    bind,
    contents,
    images_of,
    matter,
    volume_program,
    write_cells,
)

ROW, STACKED = 8, 4  # cells in a row, and rows above each other in a texel
BLOCKS = 8  # along the longest side, about: what each costs a vertex shader is the same, however large
# cells: a fragment loops over all rows of a block, and llvmpipe ends a shader's loops after 65,535 turns
LARGEST_EDGE = 72
SPAN = 64, 16  # cells that a span may be long and high, or a block
WORTH = 0.6  # share of the box from which on all of it is written at once
FAINT = 2.0**-30  # optical depth of a cell up to which it holds nothing
NOWHERE = -1e6  # an end of nothing: blending keeps the largest


class Occupancy:
    """The blocks of cells of a fluid that hold anything. margin: cells about them that show something too."""

    def __init__(self, device: Device, fluid: FluidLike) -> None:
        self.device = device
        nx, ny, nz = fluid.grid.cells
        edge = min(ROW * -(-max(fluid.grid.cells) // (ROW * BLOCKS)), LARGEST_EDGE)
        blocks = -(-nx // edge), -(-ny // edge), -(-nz // edge)
        long, high = (max(1, n // edge) for n in SPAN)
        self._defines = {"EDGE": edge, "SPAN": long, "ROWS": high}
        limit = device.max_texture_size

        def field(name: str, size: tuple[int, int, int], components: int, dtype: str) -> Field:
            return Field(device, name, FlatLayout(size, 1, limit), components, dtype, 1)

        self._rows = field("occupied rows", (-(-nx // ROW), -(-ny // STACKED), nz), 4, "f4")
        self.boxes = field("occupied boxes", blocks, 4, "f4")
        # behind the last slice one more, for how many cells all of them hold
        self._spans = field("occupied spans", (-(-blocks[0] // long), -(-blocks[1] // high), nz + 1), 4, "f4")
        self._ends = Canvas(device, (4, 1), 4, "f4", "the ends of what a box holds")
        self._worth = WORTH * nx * ny * nz
        self._known: object = None
        self.margin = 0.0
        self._beside: int | None = None  # cells beside what shows that spans take in; None: they are found

    @property
    def blocks(self) -> int:
        """How many there are."""
        return int(np.prod(self.boxes.layout.size))

    def update(self, fluid: FluidLike, look: Look) -> None:
        """Find them in what `fluid` holds now."""
        self._known = _state(fluid, look)
        device, smoke, fire = self.device, look.smoke, look.fire
        device.ctx.enable_only(moderngl.NOTHING)
        extinction = smoke.extinction * fluid.grid.cell_size
        values: dict[str, object] = {"faint": min(FAINT / extinction, 1e38) if extinction else 1e38}
        defines: dict[str, float] = {}
        if fire is not None:
            defines = {"FIRE": 1, "GLOWS_FROM": GLOWS_FROM}
            values["fire_kelvin"] = _kelvin(fire)
        # a solid shows the mean of the fluid beside it, and what is softened its neighbours; air beside smoke
        # shows nothing, but rays look up its light, which is softened too where smoke is, and how cold it is
        softened = fire is not None or fluid.color_field is not None
        solids = int(fluid.solid_field is not None)
        soft_fire = fire is not None and fire.soft
        self.margin = solids + (1.5 if soft_fire else float(softened or smoke.soft))  # see heat_at.glsl
        self._fill(
            self._rows, fluid, "occupied rows", matter(fluid), values, defines, _strips_of(fluid, look)
        )
        self._fill(self.boxes, fluid, "occupied boxes", {"rows": self._rows})
        self._beside = solids + (3 if smoke.soft or soft_fire else 1 if fire is None else 2)
        if look.lights or fire is not None:
            self._find_ends(fluid.grid.local)

    def spread(self, fluid: FluidLike) -> None:
        """Find the spans of cells that show something, or lie beside such, once after an `update`.

        What writes cells asks for them; light that is walked in one dispatch does without.
        """
        if self._beside is not None:
            self.device.ctx.enable_only(moderngl.NOTHING)
            self._fill(self._spans, fluid, "occupied spans", {"boxes": self.boxes}, {"margin": self._beside})
            self._beside = None

    def knows(self, fluid: FluidLike, look: Look) -> bool:
        """Whether the latest `update` holds for `fluid` as it is now."""
        return self._known == _state(fluid, look)

    def _fill(
        self,
        out: Field,
        fluid: FluidLike,
        label: str,
        given: Mapping[str, Field],
        values: Mapping[str, object] | None = None,
        defines: Mapping[str, float] | None = None,
        strips: Strips | None = None,
    ) -> None:
        """One small pass over `out`; strips: those whose spans alone it looks at, elsewhere it writes 0."""
        name, images = label.rsplit(" ", 1)[1], images_of(self.device, given)
        layouts = {name: out.layout, **{n: f.layout for n, f in given.items() if n in ("rows", "boxes")}}
        program = volume_program(
            self.device,
            fluid,
            label,
            f"render/{label.replace(' ', '_')}.glsl",
            solids="solid" in given,
            defines={**self._defines, **(defines or {})},
            volumes=layouts,
            images=images,
            vertex_file=None if strips is None else "render/occupied_rows_vertex.glsl",
            placed_by=None if strips is None else {"strips": strips.layout},
            target=None if strips is None else out.layout,
        )
        give(program, values or {})
        vertices = 3
        if strips is not None:
            program["strips"] = UNITS["strips"]
            program["strip_size"], program["joins"] = strips.size, strips.joins
            strips.spans.front.use(UNITS["strips"])
            clear(out.back_target)
            vertices = strips.vertices
        draw_to(out.back_target)
        with bind(self.device, program, images, **given):
            self.device.fullscreen(program).render(moderngl.TRIANGLES, vertices=vertices)

    def _find_ends(self, grid: Grid) -> None:
        """The corners of one box round all that shows anything, and of one round all that stops light."""
        program = self.scattering(self.device, grid, "occupied_ends")
        clear(self._ends.target, *(NOWHERE,) * 4)
        with self.scatter(program, self._ends.target):
            self.device.fullscreen(program).render(moderngl.TRIANGLES, vertices=3 * self.blocks)

    def scattering(
        self, device: Device, grid: Grid, name: str, defines: Mapping[str, object] | None = None
    ) -> moderngl.Program:
        """The program of render/<name>_vertex.glsl and _fragment.glsl: each block writes what it says.

        defines: macros of both.
        """
        layout = self.boxes.layout
        macros = defines or {}

        def make() -> moderngl.Program:
            vertex = Source(f"{name} (vertex)", 330).add(box_constants(grid), "<box>")
            vertex.define({"DIMENSIONS": 3, "EDGE": self._defines["EDGE"], **macros})
            vertex.add("const bvec3 periodic = bvec3(false), open_high = bvec3(false);", "<variant>")
            vertex.add(layout.glsl("boxes"), "<layout>")
            vertex.add(field_reader("boxes", "boxes", layout, UNITS["boxes"]), "<fields>")
            vertex.include(f"render/{name}_vertex.glsl").drop_unused()
            fragment = Source(name, 330).define(macros)
            return device.fragment_program(fragment.include(f"render/{name}_fragment.glsl"), vertex)

        return device.keep((name, grid, layout, *macros.items()), make)

    @contextmanager
    def scatter(self, program: moderngl.Program, target: moderngl.Framebuffer) -> Iterator[None]:
        """Let blocks write into `target`, where the largest of what they write stays."""
        ctx = self.device.ctx
        draw_to(target)
        program["boxes"] = UNITS["boxes"]
        self.boxes.front.use(UNITS["boxes"])
        blend(ctx, moderngl.ONE, moderngl.ONE, moderngl.MAX)
        try:
            yield
        finally:
            ctx.enable_only(moderngl.NOTHING)
            ctx.blend_equation = moderngl.FUNC_ADD  # type: ignore[assignment]

    def give_ends(self, program: moderngl.Program) -> None:
        """Set what ``ends.glsl`` of `program` reads; found while there are other lights or fire."""
        program["ends"] = PICTURE
        self._ends.texture.use(PICTURE)

    @property
    def volumes(self) -> dict[str, FlatLayout]:
        """What ``whole.glsl`` and ``spans_vertex.glsl`` read."""
        return {"spans": self._spans.layout}

    @property
    def spanning(self) -> dict[str, Any]:
        """What `cells_program` is told, so that cells outside the spans are left out."""
        return {"spans": self._spans.layout, "macros": self._defines}

    def give_spans(self, program: Program) -> None:
        """Set what ``whole.glsl``, ``spans_vertex.glsl`` and ``each_cell.glsl`` of `program` read.

        After `spread`.
        """
        give(program, {"spans": UNITS["spans"], "worth": self._worth})
        self._spans.front.use(UNITS["spans"])

    def cover(self, program: Program, target: Field) -> None:
        """Write the cells of `target` that show anything, and 0 elsewhere; program: of `cells_program`."""
        if isinstance(program, moderngl.Program):
            clear(target.back_target)
        long, high, deep = self._spans.layout.size
        self.give_spans(program)
        write_cells(self.device, program, target, 6 * long * high * (deep - 1))

    def release(self) -> None:
        """Release the textures; idempotent."""
        release(self._rows, self.boxes, self._spans, self._ends)


def _strips_of(fluid: FluidLike, look: Look) -> Strips | None:
    """The strips outside whose spans nothing in `fluid` shows or stops light; None: it may anywhere."""
    fields = matter(fluid)
    if look.fire is not None or "solid" in fields:
        return None
    marks = [fields[name].mark for name in ("scalars", "color") if name in fields]
    strips = marks[0][0] if marks[0] is not None else None
    return strips if strips is not None and all(strips.covers(mark) for mark in marks) else None


def _kelvin(fire: Fire) -> tuple[float, float, float]:
    """What decides where gas glows."""
    return fire.kelvin_at_zero, fire.kelvin_per_temperature, fire.hottest


def _state(fluid: FluidLike, look: Look) -> object:
    """What differs where other cells may hold something."""
    fire = look.fire and (_kelvin(look.fire), look.fire.soft)
    return contents(fluid), look.smoke.extinction, look.smoke.soft, fire, bool(look.lights)
