"""The GLSL of a kernel as a pass of one stage: what is written round the file in ``glsl/``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from gpufluid.common.errors import GpufluidError
from gpufluid.contract.kernels import Kernel, Slot, Variant
from gpufluid.contract.layout import JOINED_ROWS, PIECE, STRIP, STRIP_ROWS, FlatLayout
from gpufluid.description.grid import LARGEST_HALF, TINY, Grid
from gpufluid.gl.capabilities import IMAGE_FORMAT
from gpufluid.gl.device import GROUP, Device
from gpufluid.gl.source import Source

# llvmpipe compiles a shader for the inside and for the edges of what is drawn: `Source.compiled_once`.
# Once is enough for LONG ones, which compute much; others run up to a quarter longer by it. LONG_OF_SOME do
# by a tenth of more texels than SOME. Of FEW all are compiled once, by a `discard`: llvmpipe then writes out
# fewer loops, which run up to twice as long.
FEW, SOME = 4096, 65536
LONG = {
    *("advect_velocity", "predict_velocity", "correct_velocity", "compensate_velocity", "finish_velocity"),
    *("advect_scalars", "correct_scalars", "compensate_scalars", "finish_scalars", "max_speed", "most_asked"),
    *("open_neighbours", "join_cells", "coarse_weights"),
}
LONG_OF_SOME = {"prolong_half", "restrict_half"}
# Passes of coarse grids, of all of which one program serves each: sizes come to it as numbers.
SIZED = {"join_cells", "coarse_weights", "first_sweep", "red_black", "restrict", "prolong"}
# Of these grids of more than FEW texels have a program of their own, which takes two thirds of the time.
PARTED = {"join_cells", "coarse_weights"}
# Of a few texels, with much to read for each or many threads to wake for nothing: see `Device.dispatches`.
SMALL = {"apply_inverse", "sum_slices", "sum_whole"}
ROWS = (64, 4)  # invocations of a workgroup in software, which runs rows a quarter faster than squares
STRIP_UNIT = 15  # texture unit of the spans
GROUPS_ACROSS = 32768  # workgroups along x, of those of listed strips: OpenGL promises 65535
SPARSE = {  # kernels of cells that keep what is at rest at rest
    "cover_scalars",
    "ignite",
    "burn",
    "advect_scalars",
    "correct_scalars",
    "compensate_scalars",
    "finish_scalars",
    "transport_scalars",
    "uncover_scalars",
}


def strip_macros(software: bool) -> dict[str, int]:
    """The GLSL macros of the size of a strip, of how many are joined and of the pieces they are taken in."""
    rows = STRIP_ROWS[software]
    sizes = {"STRIP_WIDTH": STRIP, "STRIP_ROWS": rows, "JOINED": JOINED_ROWS // rows}
    return {**sizes, "PIECE": PIECE[0], "PIECE_ROWS": PIECE[1], "GROUPS_ACROSS": GROUPS_ACROSS}


def strips_reader(software: bool, layouts: Mapping[str, FlatLayout], name: str, kind: str) -> str:
    """The GLSL that reads the spans of strips, or the list of their pieces, see `gpufluid.gl.strips`."""
    macros = "".join(f"#define {key} {value}\n" for key, value in strip_macros(software).items())
    reader = field_reader(name, kind, layouts[kind], STRIP_UNIT)
    return macros + layouts[kind].glsl(kind) + reader


def bounded(stage: str, slot: Slot, dtype: str, nearest: bool) -> str:
    """The GLSL of what a pass leaves in a texel of `slot`; NaN stays, so that it can be found.

    A half float ends at the largest; a single one that is nearly denormal is 0. In fragment passes that is so
    of cells and faces alone: for packed ones, sweeps for the pressure above all, it would cost 3 % of a step
    on llvmpipe, which mostly does it by itself.
    Half floats are rounded to the nearest here unless the driver does it (`nearest`). Cut off, as llvmpipe
    does it, each pass would take 0.03 % of everything. What is `short` the kernel has rounded itself.
    """
    if slot.short:
        return "v"
    if dtype == "f2":
        half = f"mix(v, sign(v) * {LARGEST_HALF}, greaterThan(abs(v), vec4({LARGEST_HALF})))"
        return half if nearest else f"rounded_half({half})"
    if stage == "compute" or slot.kind in ("cell", "face"):
        return f"mix(v, vec4(0.0), lessThan(abs(v), vec4({TINY!r})))"
    return "v"


def sized(layouts: Mapping[str, FlatLayout], kinds: Iterable[str], grid: Grid) -> tuple[str, bytes]:
    """The GLSL of a grid and its layouts, of a size that comes as numbers; and these, for ``sizes``."""
    values, text = [(*grid.cells, 0)], "#define cells sizes[0].xyz\n"
    for number, kind in enumerate(kinds, 1):
        values.append(layouts[kind].sizes)
        text += layouts[kind].glsl(kind, f"sizes[{number}]")
    return f"uniform ivec4 sizes[{len(values)}];\n{text}", np.array(values, np.int32).tobytes()


def box_constants(grid: Grid) -> str:
    """The GLSL constants every kernel knows of its grid."""
    nx, ny, nz = grid.cells
    return f"const ivec3 cells = ivec3({nx}, {ny}, {nz});\nconst float cell_size = {grid.cell_size!r};\n"


def run_kernel(kind: str) -> str:
    """The GLSL that calls the kernel for the value of `kind` that lies at ``texel``, if one does."""
    return f"    ivec3 index = {kind}_index(texel);\n    if (index.z < {kind}_extent.z) kernel(index);\n"


def field_reader(
    name: str,
    kind: str,
    layout: FlatLayout | None,
    unit: int,
    reading: str = "texel",
    *,
    image_format: str = "",
    filtered: bool = False,
    gathers: bool = False,
) -> str:
    """The GLSL that declares field `name` and its ``fetch_<name>(index)``.

    layout: None where its size comes as numbers; there nothing is gathered. unit: of images where `reading`
    is "image" and it is not `filtered`, and `image_format` theirs; else of textures.
    gathers: also ``quad_<name>(index, axis)``, a channel of the values at `index` (whole numbers), beside it
    along x, along y and along both; the last of a row or column has none.
    filtered: also ``filtered_<name>(xy, slice)``, bilinear at `xy` (values from 0) of a slice; it needs
    lib/between.glsl.
    """
    head = f"vec4 fetch_{name}(ivec3 index) {{ return "
    if reading == "image" and not filtered:
        return (
            f"layout({image_format}, binding = {unit}) readonly restrict uniform image2D {name};\n"
            f"{head}imageLoad({name}, {kind}_texel(index)); }}\n"
        )
    text = f"uniform sampler2D {name};\n"
    scale = f"(1.0 / vec2(textureSize({name}, 0)))"
    if layout is not None:
        scale = "vec2({!r}, {!r})".format(*(1.0 / count for count in layout.texture_size))
    if reading == "nearest" and not filtered:
        text += f"{head}textureLod({name}, (vec2({kind}_texel(index)) + 0.5) * {scale}, 0.0); }}\n"
    else:
        text += f"{head}texelFetch({name}, {kind}_texel(index), 0); }}\n"
    if gathers and layout is not None and not filtered:
        # between four texels, whose order is that of OpenGL; the channel must be a constant. In floats,
        # which miss that place by less than 0.01 of a texel: so much of it is the same for many quads
        each = 1.0 / layout.columns
        tile = [edge / count for edge, count in zip(layout.tile, layout.texture_size, strict=True)]
        text += (
            f"vec4 quad_{name}(vec3 index, int axis) {{"
            f" float row = floor(index.z * {each!r} + {0.5 * each!r});"
            f" vec2 slice = vec2(index.z - row * {layout.columns}.0, row) * vec2({tile[0]!r}, {tile[1]!r}),"
            f" at = index.xy * {scale} + {scale} + slice;"
            f" return (axis == 0 ? textureGather({name}, at, 0) : axis == 1 ? textureGather({name}, at, 1)"
            f" : textureGather({name}, at, 2)).wzxy; }}\n"
            f"vec4 quad_{name}(ivec3 index, int axis) {{ return quad_{name}(vec3(index), axis); }}\n"
        )
    if filtered:
        text += (
            f"vec4 filtered_{name}(vec2 xy, int slice) {{ return between({name},"
            f" (vec2({kind}_texel(ivec3(0, 0, slice))) + xy + 0.5) * {scale}); }}\n"
        )
    return text


class Input(NamedTuple):
    """One texture that a pass reads.

    name: its field's. part: which of the field's it is. sampler: its name in GLSL. unit: of images or of
    textures. filtered: between its texels.
    """

    name: str
    part: int
    sampler: str
    unit: int
    as_image: bool
    filtered: bool


class KernelSource:
    """The shaders of one kernel on one grid in one stage, and what goes with them.

    stage: that of the device; "compute" for a SMALL kernel of one that dispatches those.
    shader: the compute or the fragment shader. vertex: that of a pass that leaves strips out, or whose texels
    are told where they are (placed); else None.
    inputs: what it reads. sizes: the values of its uniform ``sizes``, if one program serves several grids.
    written_as: the numbers that it writes. nbytes: what one run must move at least, bytes: all of each field
    it reads, and what it writes, once for each of several sweeps. group: invocations of a workgroup along x
    and y. groups: how many workgroups of a kernel that walks, else None. twice: as
    `Device.fragment_program` takes it. places: sampler and kind of the texture that tells a sparse one where.
    local: it may be told which regions it changes, see `gpufluid.gl.regions`.
    """

    def __init__(
        self,
        device: Device,
        grid: Grid,
        layouts: Mapping[str, FlatLayout],
        kernel: Kernel,
        variant: Variant,
        dtype: str,
        finer: str = "",
    ) -> None:
        self.device, self._grid, self.layouts = device, grid, layouts
        self.kernel, self.variant, self._dtype, self._finer = kernel, variant, dtype, finer or dtype
        self.slots, self.layout = kernel.slots(variant), layouts[kernel.write.kind]
        self._size = self.layout.texture_size
        # one program for all coarse grids: the finest has no finer one
        self._sized = kernel.name in SIZED and "fine_cell" in layouts
        # not where neighbours lie elsewhere: a row of one has none, a periodic one ends where it began
        sides = [variant.boundaries.periodic(axis) for axis in range(grid.dimensions)]
        plain = variant.sampler != "hardware" and not any(sides)
        self._gathers = device.gathers and plain and min(grid.cells[:2]) > 1
        self.stage = device.small_stage if kernel.name in SMALL else device.stage
        self.sparse, self.local = kernel.name in SPARSE, kernel.local
        self.places = ("listed", "piece") if self.stage == "compute" else ("strips", "strip")
        self.group = PIECE if self.sparse else ROWS if device.software else (GROUP, GROUP)
        self.groups: tuple[int, int, int] | None = None
        walk = kernel.walk
        if walk is not None:
            if self.stage != "compute":
                raise GpufluidError(f"kernel {kernel.name} is for compute passes")
            self.group, self.groups = walk.group, walk.groups(*self.layout.texel_grid)
        self.inputs: list[Input] = []
        self.sizes = b""
        self.written_as = device.kept_as(
            kernel.write.components, self._dtype_of(kernel.write), f"the {kernel.write.name} field"
        )
        self.nbytes = sum(
            int(np.prod(layouts[s.kind].texture_size))
            * s.components
            * int(self._dtype_of(s)[1])
            * len(s.parts)
            for s in (*self.slots, kernel.write)
        ) * (1 if walk is None else walk.sweeps)
        self.shader = self._begun()
        self.vertex: Source | None = None
        self.placed = device.software and self.stage == "fragment" and not self._sized
        self.twice = False
        self._write()

    def _write(self) -> None:
        """Put the shaders together."""
        kernel, variant = self.kernel, self.variant
        self._declare_box(variant)
        self._declare_inputs(variant.sampler == "hardware")
        outputs = self._declare_output()
        if kernel.walk is not None:
            self._declare_put()
        if variant.expression:
            self.shader.add("vec3 user_force(vec3 position, float time) {", "<stage>")
            self.shader.add("float x = position.x, y = position.y, z = position.z; return (", "<stage>")
            self.shader.add(variant.expression, "<expression>").add("); }", "<stage>")
        self.shader.include(f"{kernel.folder}/{kernel.name}.glsl", variant.carried)
        if variant.few:
            self.shader.size_arrays({"PUSHES": variant.pushes, "WAVES": variant.waves})
        if kernel.walk is not None:
            self.shader.add("void main() { kernel(ivec3(gl_WorkGroupID)); }", "<main>")
        elif self.stage == "compute":
            self._end_compute(outputs)
        else:
            self._end_fragment(outputs)
            if self.sparse or self.local or self.placed:
                self.vertex = self._vertex()
                self.vertex.drop_unused()
        self.shader.drop_unused()

    def _dtype_of(self, slot: Slot) -> str:
        if slot.short:
            return self.device.kept_as(slot.components, "f2", f"the {slot.name} field")
        return "f4" if slot.exact else self._finer if slot.kind.startswith("fine_") else self._dtype

    def _format_of(self, slot: Slot) -> str:
        return IMAGE_FORMAT[slot.components, self._dtype_of(slot)]

    def _begun(self) -> Source:
        """The shader as far as its macros."""
        compute, device = self.stage == "compute", self.device
        version = 430 if compute or self._gathers else 420 if device.reading == "image" else 330
        defines = self.variant.defines(self._grid.dimensions) | device.defines
        defines |= {"GATHERED": int(self._gathers)}
        if self.kernel.walk is not None:
            defines |= self.kernel.walk.defines
        label, group = f"{self.kernel.name} ({self.stage})", self.group if compute else ()
        return Source(label, version, group).define(defines)

    def _declare_box(self, variant: Variant) -> None:
        kinds = dict.fromkeys(slot.kind for slot in (*self.slots, self.kernel.write))
        if self._sized:
            text, self.sizes = sized(self.layouts, kinds, self._grid)
            self.shader.include("lib/quotient.glsl").add(text, "<layout>")
        else:
            self.shader.add(box_constants(self._grid), "<box>")
            for kind in kinds:
                self.shader.add(self.layouts[kind].glsl(kind), "<layout>")
        self.shader.add(variant.constants(self._grid.dimensions), "<box>")

    def _declare_inputs(self, hardware: bool) -> None:
        """Declare what is read. hardware: by filtering samplers where the kernel reads between texels."""
        reading, writes = self.device.reading, len(self.kernel.write.parts)
        units = {True: writes if self.stage == "compute" else 0, False: 0}  # next image, next texture
        able = self.device.capabilities
        most = able.max_images
        if self.stage == "fragment":
            most = min(most, able.max_outputs - writes)
        if hardware and self.kernel.sampled:
            self.shader.include("lib/between.glsl")
        for slot in self.slots:
            room = units[True] + len(slot.parts) <= most
            layout = None if self._sized else self.layouts[slot.kind]
            for part, sampler in enumerate(slot.parts):
                filtered = hardware and sampler in self.kernel.sampled
                as_image = reading == "image" and not filtered and room
                unit = units[as_image]
                units[as_image] += 1
                self.inputs.append(Input(slot.name, part, sampler, unit, as_image, filtered))
                text = field_reader(
                    sampler,
                    slot.kind,
                    layout,
                    unit,
                    "texel" if reading == "image" and not as_image else reading,
                    image_format=self._format_of(slot),
                    filtered=filtered,
                    gathers=self._gathers,
                )
                self.shader.add(text, "<fields>")

    def _declare_output(self) -> list[str]:
        """Declare what the kernel writes, one vec4 or an array of them; return what is left of each."""
        write = self.kernel.write
        name, count = f"{write.name}_out", len(write.parts)
        dtype, nearest = self._dtype_of(write), self.stage in self.device.capabilities.nearest
        if dtype == "f2" and not (write.short or nearest):
            self.shader.include("lib/nearest_half.glsl")
        what = bounded(self.stage, write, dtype, nearest)
        declared = f"{name} = vec4(0.0)" if count == 1 else f"{name}[{count}]"
        self.shader.add(f"vec4 {declared};\nvec4 kept(vec4 v) {{ return {what}; }}", "<fields>")
        return [f"kept({name})"] if count == 1 else [f"kept({name}[{part}])" for part in range(count)]

    def _declare_put(self) -> None:
        """Declare what a kernel that walks writes a value with."""
        kind, form = self.kernel.write.kind, self._format_of(self.kernel.write)
        self.shader.add(
            f"layout({form}, binding = 0) writeonly restrict uniform image2D image_0;\n"
            f"void put(ivec3 index, vec4 v) {{ imageStore(image_0, {kind}_texel(index), v); }}",
            "<main>",
        )

    def _end_compute(self, outputs: list[str]) -> None:
        shader, form = self.shader, self._format_of(self.kernel.write)
        for n in range(len(outputs)):
            shader.add(
                f"layout({form}, binding = {n}) writeonly restrict uniform image2D image_{n};", "<main>"
            )
        if self.sparse:
            reader = strips_reader(self.device.software, self.layouts, *self.places)
            shader.add(f"{reader}uniform bool whole;", "<fields>")
            shader.include("sim/strip_texel.glsl")
        if self.local:
            shader.add(f"#define cell_texel {self.kernel.write.kind}_texel\nuniform bool whole;", "<fields>")
            shader.include("sim/region_texel.glsl")
        run = run_kernel(self.kernel.write.kind)
        size = "imageSize(image_0)" if self._sized else "ivec2({}, {})".format(*self._size)
        part = "of_piece" if self.sparse else "of_region" if self.local else ""
        listed = f"    if (!whole) {{\n        if (!{part}(texel)) return;\n    }} else\n" if part else ""
        shader.add(
            "uniform int first_row;\n"
            "void main() {\n    ivec2 texel = ivec2(gl_GlobalInvocationID) + ivec2(0, first_row);\n"
            f"{listed}    if (any(greaterThanEqual(texel, {size}))) return;\n{run}",
            "<main>",
        )
        for n, output in enumerate(outputs):
            shader.add(f"    imageStore(image_{n}, texel, {output});", "<main>")
        shader.add("}", "<main>")

    def _end_fragment(self, outputs: list[str]) -> None:
        shared = self._sized and self.kernel.name not in PARTED
        texels, name = self._size[0] * self._size[1], self.kernel.name
        few = shared or texels <= FEW
        long = name in LONG or (name in LONG_OF_SOME and texels <= SOME)
        self.twice = few or not (self.local or long)
        never = "    if (texel.x < 0) discard;\n" if few and self.device.software else ""
        for n in range(len(outputs)):
            self.shader.add(f"layout(location = {n}) out vec4 color_{n};", "<main>")
        run, place = run_kernel(self.kernel.write.kind), "gl_FragCoord.xy"
        if self.placed:
            place = "texel_place"
            self.shader.add(f"noperspective in vec2 {place};", "<main>")
        self.shader.add(f"void main() {{\n    ivec2 texel = ivec2({place});\n{never}{run}", "<main>")
        for n, output in enumerate(outputs):
            self.shader.add(f"    color_{n} = {output};", "<main>")
        self.shader.add("}", "<main>")

    def _vertex(self) -> Source:
        """The vertex shader: it covers all of the target, the spans of strips or regions."""
        if self.local:
            return vertex_source(self.layout, self.kernel.name, self.placed)
        source = Source(f"{self.kernel.name} ({'strips' if self.sparse else 'vertex'})", 330)
        source.define({"PLACED": int(self.placed)})
        source.add("const ivec2 target_size = ivec2({}, {});".format(*self._size), "<layout>")
        if not self.sparse:
            return source.include("sim/whole_vertex.glsl")
        source.add(box_constants(self._grid), "<box>")
        source.add(self.layouts["cell"].glsl("cell"), "<layout>")
        source.add(strips_reader(self.device.software, self.layouts, *self.places), "<fields>")
        return source.include("sim/strip_vertex.glsl")


def vertex_source(layout: FlatLayout, label: str, placed: bool) -> Source:
    """The vertex shader over regions of what has that layout. placed: it tells fragments where they are."""
    source = Source(f"{label} (regions)", 330).define({"PLACED": int(placed)})
    source.add("const ivec2 target_size = ivec2({}, {});".format(*layout.texture_size), "<layout>")
    source.add(layout.glsl("cell"), "<layout>")  # of faces too: their layout has one more along an axis
    return source.include("sim/region_vertex.glsl")
