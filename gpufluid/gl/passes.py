"""A kernel compiled for one stage, called like a function: ``jacobi(pressure=p, divergence=d, ...)``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from gpufluid.debugging import check_numbers, switches
from gpufluid.errors import GpufluidError
from gpufluid.gl.device import GROUP, Device
from gpufluid.gl.field import Field
from gpufluid.gl.source import Source
from gpufluid.grid import LARGEST_HALF, TINY, Grid
from gpufluid.kernels import Kernel, Slot, Variant, unknown_argument
from gpufluid.layout import QUOTIENT, STRIP, FlatLayout

IMAGE_FORMAT = {(1, "f2"): "r16f", (4, "f2"): "rgba16f", (1, "f4"): "r32f", (4, "f4"): "rgba32f"}


# llvmpipe compiles a shader for the inside and for the edges of what is drawn, but once where it may discard.
# That halves what is long to compile, and runs a fifth longer where little is computed for a texel: so it is
# for passes of FEW texels, and for those that compute much.
FEW = 4096
LONG = {"advect_velocity", "correct_velocity", "compensate_velocity", "finish_velocity", "max_speed"}
# Passes of coarse grids, of all of which one program serves each: sizes come to it as numbers.
SIZED = {"coarse_weights", "first_sweep", "red_black", "restrict", "prolong"}
STRIP_UNIT = 15  # texture unit of the spans
SPARSE = {  # kernels of cells that keep what is at rest at rest
    "emit_scalars",
    "emit_mask",
    "ignite",
    "burn",
    "advect_scalars",
    "correct_scalars",
    "compensate_scalars",
    "finish_scalars",
}


def strip_macros() -> dict[str, int]:
    """The GLSL macros of the size of a strip."""
    return {"STRIP_WIDTH": STRIP[0], "STRIP_ROWS": STRIP[1]}


def strips_reader(layouts: Mapping[str, FlatLayout]) -> str:
    """The GLSL that reads the spans of strips, see `gpufluid.gl.strips`."""
    macros = "".join(f"#define {name} {value}\n" for name, value in strip_macros().items())
    reader = field_reader("strips", "strip", layouts["strip"], "", "texel", STRIP_UNIT, False)
    return macros + layouts["strip"].glsl("strip") + reader


def kept(stage: str, slot: Slot, dtype: str) -> str:
    """The GLSL of what a pass leaves in a texel of `slot`; NaN stays, so that it can be found.

    A half float ends at the largest; a single one that is nearly denormal is 0. Only sweeps for the pressure
    in fragment passes go without: it would cost 3 % of a step on llvmpipe, which mostly does it by itself.
    What is `short` the kernel has rounded itself.
    """
    if slot.short:
        return "v"
    if dtype == "f2":
        return f"mix(v, sign(v) * {LARGEST_HALF}, greaterThan(abs(v), vec4({LARGEST_HALF})))"
    if stage == "compute" or slot.kind in ("cell", "face"):
        return f"mix(v, vec4(0.0), lessThan(abs(v), vec4({TINY!r})))"
    return "v"


def sized(layouts: Mapping[str, FlatLayout], kinds: Iterable[str], grid: Grid) -> tuple[str, bytes]:
    """The GLSL of a grid and its layouts, of a size that comes as numbers; and these, for ``sizes``."""
    values, text = [(*grid.cells, 0)], QUOTIENT + "#define cells sizes[0].xyz\n"
    for number, kind in enumerate(kinds, 1):
        values.append(layouts[kind].sizes)
        text += layouts[kind].glsl(kind, f"sizes[{number}]")
    return f"uniform ivec4 sizes[{len(values)}];\n{text}", np.array(values, np.int32).tobytes()


def box_constants(grid: Grid) -> str:
    """The GLSL constants every kernel knows of its grid."""
    nx, ny, nz = grid.cells
    return f"const ivec3 cells = ivec3({nx}, {ny}, {nz});\nconst float cell_size = {grid.cell_size!r};\n"


def field_reader(
    name: str,
    kind: str,
    layout: FlatLayout | None,
    image_format: str,
    reading: str,
    unit: int,
    filtered: bool,
) -> str:
    """The GLSL that declares field `name` and its ``fetch_<name>(index)``.

    layout: None where its size comes as numbers.
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
    if filtered:
        text += (
            f"vec4 filtered_{name}(vec2 xy, int slice) {{ return between({name},"
            f" (vec2({kind}_texel(ivec3(0, 0, slice))) + xy + 0.5) * {scale}); }}\n"
        )
    return text


def upload(uniform: moderngl.Uniform, value: Any) -> None:
    """Set a uniform from a number, a tuple, a 4x4 matrix (row by row) or an array of vec4.

    A compiler may cut off the end of an array that a kernel does not read.
    """
    if isinstance(value, np.ndarray):
        matrix = value.T if uniform.array_length == 1 else value[: uniform.array_length]
        uniform.write(np.ascontiguousarray(matrix, np.float32).tobytes())
    else:
        uniform.value = value


class Pass:
    """One kernel on one grid in one stage.

    A call names every field and parameter; the field it writes is swapped afterwards. Unknown and missing
    names raise GpufluidError with the nearest right one.
    """

    def __init__(
        self,
        device: Device,
        grid: Grid,
        layouts: Mapping[str, FlatLayout],
        kernel: Kernel,
        variant: Variant,
        dtype: str,
    ) -> None:
        self.device, self.kernel, self.variant = device, kernel, variant
        self._slots = kernel.slots(variant)
        self._names = kernel.arguments(variant)
        self._layout = layouts[kernel.write.kind]
        self._size = self._layout.texture_size
        hardware = variant.sampler == "hardware"
        self._filtered = {s.name for s in self._slots if hardware and s.name in kernel.sampled}
        images = device.reading == "image"
        self._as_image = {s.name for s in self._slots if images and s.name not in self._filtered}

        def dtype_of(slot: Slot) -> str:
            if slot.short:
                return device.kept_as(slot.components, "f2", f"the {slot.name} field")
            return "f4" if slot.exact else dtype

        compute = device.stage == "compute"
        self._sparse = kernel.name in SPARSE
        version = 430 if compute else 420 if images else 330
        source = Source(f"{kernel.name} ({device.stage})").add(f"#version {version} core", "<stage>")
        if compute:
            source.add(f"layout(local_size_x = {GROUP}, local_size_y = {GROUP}) in;", "<stage>")
        defines = variant.defines(grid.dimensions) | device.defines
        source.add("\n".join(f"#define {k} {v}" for k, v in defines.items()), "<variant>")
        if self._filtered:
            source.include("lib/between.glsl")
        kinds = dict.fromkeys(s.kind for s in (*self._slots, kernel.write))
        sizes, several = b"", kernel.name in SIZED and "fine_cell" in layouts
        if several:
            text, sizes = sized(layouts, kinds, grid)
            source.add(text, "<layout>")
        else:
            source.add(box_constants(grid), "<box>")
            for kind in kinds:
                source.add(layouts[kind].glsl(kind), "<layout>")
        source.add(variant.constants(grid.dimensions), "<box>")
        outputs = kernel.write.parts
        # name, which of its textures, sampler, unit, as image, filtered
        self._inputs: list[tuple[str, int, str, int, bool, bool]] = []
        image_unit = len(outputs) if compute else 0  # compute writes through the first image units
        texture_unit = 0
        for slot, part, sampler in ((s, n, name) for s in self._slots for n, name in enumerate(s.parts)):
            as_image, filtered = slot.name in self._as_image, slot.name in self._filtered
            unit = image_unit if as_image else texture_unit
            if as_image:
                image_unit += 1
            else:
                texture_unit += 1
            image_format = IMAGE_FORMAT[slot.components, dtype_of(slot)]
            source.add(
                field_reader(
                    sampler,
                    slot.kind,
                    None if several else layouts[slot.kind],
                    image_format,
                    device.reading,
                    unit,
                    filtered,
                ),
                "<fields>",
            )
            self._inputs.append((slot.name, part, sampler, unit, as_image, filtered))
        write = kernel.write
        self._written_as = device.kept_as(write.components, dtype_of(write), f"the {write.name} field")
        written = write.name + "_out"
        several_out = len(outputs) > 1
        if several_out:
            source.add(f"vec4 {written}[{len(outputs)}];", "<fields>")
        else:
            source.add(f"vec4 {written} = vec4(0.0);", "<fields>")
        source.add(
            f"vec4 kept(vec4 v) {{ return {kept(device.stage, kernel.write, dtype_of(kernel.write))}; }}",
            "<fields>",
        )
        outs = [f"kept({written}[{part}])" for part in range(len(outputs))]
        if not several_out:
            outs = [f"kept({written})"]
        if variant.expression:
            source.add("vec3 user_force(vec3 position, float time) {", "<stage>")
            source.add("float x = position.x, y = position.y, z = position.z; return (", "<stage>")
            source.add(variant.expression, "<expression>").add("); }", "<stage>")
        source.include(f"{kernel.folder}/{kernel.name}.glsl")
        kind = kernel.write.kind
        run = f"    ivec3 index = {kind}_index(texel);\n    if (index.z < {kind}_extent.z) kernel(index);\n"
        if compute:
            if self._sparse:
                # as uniform as a strip is long: a group with nothing to do ends here
                source.add(strips_reader(layouts) + "uniform bool whole;", "<fields>")
                run = run.replace(
                    "    if",
                    "    if (!whole) {\n"
                    "        vec2 span = fetch_strips(index / ivec3(STRIP_WIDTH, STRIP_ROWS, 1)).zw;\n"
                    "        if (float(index.x) < span.x || float(index.x) >= span.y) return;\n    }\n    if",
                    1,
                )
            image_format = IMAGE_FORMAT[kernel.write.components, dtype_of(kernel.write)]
            size = "imageSize(image_0)" if several else "ivec2({}, {})".format(*self._size)
            declared = (
                f"layout({image_format}, binding = {n}) writeonly restrict uniform image2D image_{n};\n"
                for n in range(len(outs))
            )
            stored = (f"    imageStore(image_{n}, texel, {out});\n" for n, out in enumerate(outs))
            source.add(
                f"{''.join(declared)}uniform int first_row;\n"
                "void main() {\n    ivec2 texel = ivec2(gl_GlobalInvocationID) + ivec2(0, first_row);\n"
                f"    if (any(greaterThanEqual(texel, {size}))) return;\n{run}"
                f"{''.join(stored)}}}",
                "<main>",
            )
            self._compute = device.compute_program(source)
            program: moderngl.Program | moderngl.ComputeShader = self._compute
        else:
            few = several or self._size[0] * self._size[1] <= FEW
            once = device.software and (few or kernel.name in LONG)
            never = "    if (texel.x < 0) discard;\n" if once else ""
            declared = (f"layout(location = {n}) out vec4 color_{n};\n" for n in range(len(outs)))
            stored = (f"    color_{n} = {out};\n" for n, out in enumerate(outs))
            source.add(
                f"{''.join(declared)}"
                f"void main() {{\n    ivec2 texel = ivec2(gl_FragCoord.xy);\n{never}{run}{''.join(stored)}}}",
                "<main>",
            )
            vertex = self._strip_vertex(grid, layouts) if self._sparse else None
            self._triangle = device.fullscreen(device.fragment_program(source, vertex))
            program = self._triangle.program
        self._program = program
        self._says = f"the kernel {kernel.name} (glsl/{kernel.folder}/{kernel.name}.glsl)"
        # a compiler drops what a variant does not use: such names are taken and not sent
        members = {n: program[n] for n in kernel.parameters if n in program}
        #: what one call must move at least, bytes: all of each field it reads, and what it writes
        self.nbytes = sum(
            layouts[s.kind].texture_size[0]
            * layouts[s.kind].texture_size[1]
            * s.components
            * int(dtype_of(s)[1])
            * len(s.parts)
            for s in (*self._slots, kernel.write)
        )
        self._uniforms = [(n, m) for n, m in members.items() if isinstance(m, moderngl.Uniform)]
        self._sizes: tuple[moderngl.Uniform, bytes] | None = None
        if isinstance(member := program.get("sizes", None), moderngl.Uniform):
            self._sizes = member, sizes[: 16 * member.array_length]
        # a program keeps what it is sent, and may be that of other passes too: their text is the same
        self._sent = device.sent(program)
        for _, _, sampler, unit, as_image, _ in self._inputs:
            if not as_image and sampler in program:
                program[sampler].value = unit  # type: ignore[union-attr]

    def _strip_vertex(self, grid: Grid, layouts: Mapping[str, FlatLayout]) -> Source:
        """The vertex shader that covers the spans of strips."""
        source = Source(f"{self.kernel.name} (strips)").add("#version 330 core", "<stage>")
        source.add(box_constants(grid), "<box>")
        source.add(layouts["cell"].glsl("cell"), "<layout>").add(strips_reader(layouts), "<fields>")
        width, height = self._size
        source.add(f"const ivec2 target_size = ivec2({width}, {height});", "<layout>")
        return source.include("sim/strip_vertex.glsl")

    def __call__(self, **arguments: Any) -> None:
        """Run the kernel over every value of the field it writes."""
        if arguments.keys() != self._names:
            raise GpufluidError(unknown_argument(self.kernel, self.variant, arguments))
        out: Field = arguments[self.kernel.write.name]
        if out.layout is not self._layout and out.layout != self._layout:
            raise GpufluidError(
                f"kernel {self.kernel.name} writes {self._layout.size} values, field {out.name!r} has "
                f"{out.layout.size}"
            )
        if out.dtype != self._written_as:
            raise GpufluidError(
                f"kernel {self.kernel.name} writes {self._written_as}, field {out.name!r} holds {out.dtype}"
            )
        pacer, first, height = self.device.pace.pacer, 0, self._size[1]
        before = out.fronts  # after the swap the field may have left it to another one
        if pacer is None:
            self._work(arguments, out, 0, height)
        while pacer is not None and first < height:  # all is bound anew: much may happen in between
            rows = pacer.before(self, height - first)
            self._work(arguments, out, first, rows)
            first += rows
        out.swap()
        if self.device.moved is not None:
            self.device.moved.setdefault(self.kernel.name, []).append(self.nbytes)
        if switches.numbers:
            check_numbers(self._says, out, out.read(), lambda: self._read(arguments, before))

    def repeat(self, times: int, **arguments: Any) -> None:
        """Call it as often, each time on what the call before has left.

        Between two of its runs a pass that reads what it writes has but those two textures to bind. More than
        that costs as much again: Python does not stay in a cache that software renderers need as well.
        """
        device, singly = self.device, self._sparse or self._filtered or switches.numbers
        counted = device.timings is not None or device.moved is not None
        if singly or counted or device.pace.pacer is not None:
            for _ in range(times):
                self(**arguments)
            return
        if not times:
            return
        self(**arguments)
        out: Field = arguments[self.kernel.write.name]
        renewed = [
            (part, unit, image) for name, part, _, unit, image, _ in self._inputs if arguments[name] is out
        ]
        for _ in range(times - 1):
            fronts = out.fronts
            for part, unit, as_image in renewed:
                if as_image:
                    fronts[part].bind_to_image(unit, True, False)
                else:
                    fronts[part].use(unit)
            self._start(out)
            out.swap()

    def _read(
        self, arguments: Mapping[str, Any], before: Sequence[moderngl.Texture]
    ) -> dict[str, tuple[Field, NDArray[np.float32]]]:
        """What the last call read, by name: fields and values; of the field it wrote what was `before`."""
        out: Field = arguments[self.kernel.write.name]
        fields: dict[str, Field] = {slot.name: arguments[slot.name] for slot in self._slots}
        return {name: (field, field.read(before if field is out else ())) for name, field in fields.items()}

    def _work(self, arguments: Mapping[str, Any], out: Field, first: int, rows: int) -> None:
        """Bind what is read and write `rows` of the texture from `first` on."""
        device, filtered_units = self.device, []
        for name, part, _, unit, as_image, filtered in self._inputs:
            field: Field = arguments[name]
            texture = field.fronts[part]
            if field is out and field.scratch:
                raise GpufluidError(f"kernel {self.kernel.name} reads and writes the scratch field {name!r}")
            if as_image:
                texture.bind_to_image(unit, True, False)
            else:
                texture.use(unit)
                if filtered:
                    device.between.use(unit)
                    filtered_units.append(unit)
        sent = self._sent
        if self._sizes is not None and sent.get("sizes") is not self._sizes:
            uniform, sizes = sent["sizes"] = self._sizes
            uniform.write(sizes)
        for name, uniform in self._uniforms:
            value = arguments[name]
            if isinstance(value, float | int) and value and sent.get(name) == value:
                continue  # it has that already; a 0 may have another sign
            upload(uniform, value)
            sent[name] = value
        if device.timings is None:
            self._run(out, first, rows)
        else:
            with device.timed(self.kernel.name):
                self._run(out, first, rows)
        for unit in filtered_units:
            device.between.clear(unit)

    def _run(self, out: Field, first: int, rows: int) -> None:
        device, (width, height), vertices = self.device, self._size, 3
        if self._sparse:
            vertices = self._leave_out(out)
        if device.stage == "compute":
            if first != self._sent.get("first_row", 0):
                self._compute["first_row"] = self._sent["first_row"] = first
            self._start(out, rows=rows)
            return
        target = out.back_target
        if rows != height:
            target.viewport = 0, first, width, rows
        device.ctx.enable_only(moderngl.NOTHING)
        self._start(out, vertices)
        if rows != height:
            target.viewport = 0, 0, width, height

    def _start(self, out: Field, vertices: int = 3, rows: int = 0) -> None:
        """Draw or dispatch into the back of `out`; all else is bound and set. rows: 0 for all of them."""
        device = self.device
        if device.stage == "compute":
            width, height = self._size
            for unit, texture in enumerate(out.backs):
                texture.bind_to_image(unit, False, True)
            if device.draws:
                self._compute.run(-(-width // GROUP), -(-(rows or height) // GROUP))
                device.ctx.memory_barrier()
            return
        out.back_target.use()
        if device.draws:
            self._triangle.render(moderngl.TRIANGLES, vertices)

    def _leave_out(self, out: Field) -> int:
        """Leave out of a pass what is at rest in `out` and stays so; return the vertices of what is drawn."""
        strips, sent = out.where, self._sent
        whole = strips is None or not strips.covers(out.back_mark)
        if sent.get("whole") is not whole:
            self._program["whole"] = sent["whole"] = whole
            # a unit with nothing in it is one that a driver warns of
            self._program["strips"] = 0 if whole else STRIP_UNIT
        return 3 if strips is None or whole else strips.bind()
