"""Where in a box there is anything, found and used on the GPU alone, so that empty space costs nothing.

The box is cut into strips, 64 by 32 cells of one slice, by 4 on a GPU. Of each a *span*, a rectangle of
cells, may hold something; outside all spans every cell is at rest: 0 in its three channels. Before a stage a
few small passes find the spans of what is there and widen them by as far as the stage can bring anything. The
stage's passes then write the spans alone. What they leave out the plain pass would set to rest, and it is at
rest already:

Each texture of a field remembers the stage it was last written in; outside that stage's spans it is at rest.
So a pass writes the spans of its own stage and of the two before it, and a texture that was written earlier,
or by anyone else, is written whole. A texture also says which cells are solid: a stage holds the cells
where solids have come or gone, and every texture is written there the next time.

Whether it pays is looked at now and then in a copy that nothing waits for. The bits do not depend on that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import moderngl
import numpy as np
from numpy.typing import NDArray

from gpufluid.contract.backend import release
from gpufluid.contract.kernels import SIDE_NUMBERS, Variant, side_numbers
from gpufluid.contract.layout import JOINED_ROWS, STRIP, STRIP_ROWS, FlatLayout
from gpufluid.description.boundaries import Boundaries
from gpufluid.description.grid import CellBox, Grid
from gpufluid.gl.capabilities import IMAGE_FORMAT
from gpufluid.gl.device import Device, let_go
from gpufluid.gl.fences import draw_to
from gpufluid.gl.field import Field
from gpufluid.gl.kernel_source import (
    GROUPS_ACROSS,
    STRIP_UNIT,
    box_constants,
    field_reader,
    run_kernel,
    strip_macros,
)
from gpufluid.gl.late import LateRead
from gpufluid.gl.source import Source
from gpufluid.gl.uniforms import upload

HISTORY = 3  # stages whose spans are known
BOXES = 8  # of sources that a pass takes one by one
# that small passes take
NUMBERS = ("everywhere", "steady", "reach", "walls", "times", "low", "high", "box_count", *SIDE_NUMBERS)
GROUP = 32  # strips to a workgroup
ROW = 128  # as found.glsl has it
SHARES = 8  # parts in which software takes the largest speed: each strip reads them all
NO_BOXES = np.zeros((BOXES, 3), np.float32).tobytes()
NO_GROUPS = np.array((0, 0, 1, 0), np.uint32).tobytes()
WORTH = 0.6  # share of the box from which on nothing is left out: finding the spans costs as well
ASK_EVERY, TRY_EVERY = 8, 32  # stages between two looks at that share, while it pays and while it does not

Mark = tuple["Strips", int]  # whose stage, and which
Read = Mapping[str, tuple[str, Field]]  # what a pass reads, by name: of which kind, and the field


class _Pass(NamedTuple):
    """A small pass. file: in ``glsl/sim/``. kind: of what it writes. boundaries: their form, if known."""

    label: str
    file: str
    kind: str
    macros: Mapping[str, int]
    boundaries: Boundaries | None = None


class Strips:
    """The spans of the fields of cells in one box.

    index: of the latest stage. size: of a strip, cells along x and y. joins: strips, one above the other,
    that two triangles are drawn round. vertices: of those triangles.
    """

    def __init__(self, device: Device, grid: Grid, layouts: Mapping[str, FlatLayout]) -> None:
        self.device, self.grid, self.index = device, grid, 0
        self._layouts = {kind: layouts[kind] for kind in ("cell", "strip", "found", "piece", "block")}
        if grid.many:
            self._layouts["block"] = layouts["group"]  # whose speeds are then known

        def field(name: str, kind: str, buffers: int) -> Field:
            return Field(device, name, self._layouts[kind], 4, "f4", buffers)

        across, up, deep = layouts["strip"].size
        rows = STRIP_ROWS[device.software]
        self.size, self.joins = (STRIP, rows), JOINED_ROWS // rows
        self.vertices = 6 * across * -(-up // self.joins) * deep
        self._found = field("found", "found", 2)
        self._speed: tuple[Field, int] | None = None  # that `_found` knows, and its version
        slices = self._layouts["block"].size[2]
        self._shares = {"SHARES": min(SHARES, slices) if device.software else slices}
        self._programs: dict[tuple[str, int], _Program] = {}
        self._walls: tuple[Boundaries, tuple[float, ...]] | None = None
        self._stages = [field("spans", "strip", 1) for _ in range(HISTORY)]  # the latest first
        self._pieces = _Pieces(device, layouts["piece"]) if device.stage == "compute" else None
        self.always = False  # whether it pays or not
        self._pays, self._count = True, 0
        self._added: Sequence[CellBox] = ()  # since the latest stage that carried, for the next one
        self._held: Sequence[CellBox] = ()  # by the latest stage, beside what it carried
        self._asked: LateRead | None = None

    @property
    def spans(self) -> Field:
        """The latest spans."""
        return self._stages[0]

    def forget(self, changed: Sequence[CellBox] = ()) -> None:
        """No texture is known any more. changed: what the next stage that carries holds all the same.

        It may write a texture more than once: the first time whole, and solids with it that have just come.
        """
        self.index += HISTORY
        self._added = changed

    @property
    def mark(self) -> Mark:
        """What tells of the latest stage."""
        return self, self.index

    def covers(self, mark: Mark | None) -> bool:
        """Whether the latest spans hold all there is in a texture last written in the stage `mark`."""
        return mark is not None and mark[0] is self and self.index - mark[1] < HISTORY

    def wanted(self) -> bool:
        """Whether to leave anything out in the step that begins; asks now and then what that would save."""
        if self._asked is not None and self._asked.ready:
            self._pays = self.share(self._asked.read()) < WORTH
            self._asked = None
        self._count += 1
        return self.always or self._pays or self._count % TRY_EVERY == 0

    def share(self, image: NDArray[np.floating]) -> float:
        """The share of the box in the spans of a texture."""
        corners = self._layouts["strip"].unflatten(image)[..., 2:]
        rows, cells = np.divmod(corners, ROW)
        return float((np.diff(rows) * np.diff(cells)).sum() / np.prod(self.grid.cells))

    def add(self, sources: Sequence[CellBox], changed: Sequence[CellBox] = ()) -> None:
        """Let the latest stage bring something into the boxes `sources` as well, and write `changed` anew.

        Its spans grow by them, so what was written in it holds to them. The next one that carries holds the
        sources too: for those that stay no pass is needed.
        """
        self._added, boxes = sources, [*sources, *changed]
        if not all(box in self._held for box in boxes):
            self._held = [*self._held, *boxes]
            self._write(_Pass("strip add", "strip_spread", "strip", {"CARRIED": 0}), {}, boxes)
            latest, before, written = self._stages
            self._stages = [written, before, latest]

    def carry(
        self,
        scalars: Field,
        colors: Field | None,
        speed: Field,
        boundaries: Boundaries,
        reach: float,
        times: int,
    ) -> None:
        """A stage that carries what is in the two fields now.

        speed: the largest of (many) blocks of faces, m/s. reach: cells per m/s. times: how often
        as far as the flow.
        """
        known = all(self.covers(field.mark) for field in (scalars, colors) if field is not None)
        given = {"scalars": ("cell", scalars), "known": ("strip", self.spans)}
        if colors is not None:
            given["color"] = ("cell", colors)
        given |= {"speed": ("block", speed), "before": ("found", self._found)}
        macros, now = {"COLORED": int(colors is not None), **self._shares}, (speed, speed.version)
        look = {"everywhere": not known, "steady": now == self._speed}
        self._run(_Pass("strip found", "strip_found", "found", macros), given, self._found, **look)
        self._found.turn()
        self._speed = now
        if self._walls is None or self._walls[0] is not boundaries:
            walls = np.abs([boundaries.velocity(side) for side in range(6)]).max(axis=0)
            self._walls = boundaries, tuple(walls.tolist())
        found = {"found": ("found", self._found)}
        numbers = {"reach": float(reach), "walls": self._walls[1], "times": times}
        numbers |= {name: values.tobytes() for name, values in side_numbers(boundaries).items()}
        boxes, self._added = self._added, ()
        macros = {"CARRIED": 1, **self._shares}
        spread = _Pass("strip carry", "strip_spread", "strip", macros, boundaries.form)
        self._held = boxes
        self._write(spread, found, boxes, **numbers)
        self._stages = [self._stages[-1], *self._stages[:-1]]
        self.index += 1
        if self._asked is None and self._count % (ASK_EVERY if self._pays else TRY_EVERY) == 0:
            self._asked = self.spans.later()

    def _write(self, small: _Pass, fields: Read, boxes: Sequence[CellBox], **values: object) -> None:
        """Write spans where those of the stage are that no pass goes by any more."""
        if len(boxes) > BOXES:  # the rest as one
            rest = np.array(boxes[BOXES - 1 :], float)
            boxes = [*boxes[: BOXES - 1], (rest[:, 0].min(axis=0).tolist(), rest[:, 1].max(axis=0).tolist())]
        low = high = NO_BOXES
        if boxes:
            ends = np.zeros((2, BOXES, 3), np.float32)
            ends[:, : len(boxes)] = np.swapaxes(np.array(boxes, np.float32), 0, 1)
            low, high = ends[0].tobytes(), ends[1].tobytes()
        out = self._stages[-1]
        given = {**fields, "last": ("strip", self._stages[0]), "before": ("strip", self._stages[1])}
        macros = {**small.macros, "BOXES": BOXES}
        values |= {"low": low, "high": high, "box_count": len(boxes)}
        if self._pieces is not None:  # image units behind those of what is read and what is written
            units = len(given) + 1, len(given) + 2
            macros |= {"LISTED": units[0], "COUNTED": units[1]}
            self._pieces.begin(*units)
        self._run(small._replace(macros=macros), given, out, **values)
        if self._pieces is not None:
            self._pieces.end()

    def _run(self, small: _Pass, fields: Read, out: Field, **values: object) -> None:
        """Write `out` by a small pass."""
        device, key = self.device, (small.label, len(fields))
        if key not in self._programs or self._programs[key].boundaries != small.boundaries:
            self._programs[key] = self._compiled(small, fields, out)
        known = self._programs[key]
        for unit, (_, field) in enumerate(fields.values()):
            if device.reading == "image":
                field.front.bind_to_image(unit, True, False)
            else:
                field.front.use(unit)
        sent = known.sent
        for name, uniform in known.uniforms:
            value = values[name]
            if value != sent.get(name):
                upload(uniform, value)
                sent[name] = value
        with device.timed(small.label) if device.timings is not None else nullcontext():
            if isinstance(known.program, moderngl.ComputeShader):
                out.back.bind_to_image(len(fields), False, True)
                known.program.run(*known.groups)
                device.ctx.memory_barrier()
                return
            draw_to(out.back_target)
            device.ctx.enable_only(moderngl.NOTHING)
            device.cover(known.program)

    def _compiled(self, small: _Pass, fields: Read, out: Field) -> _Program:
        """The pass of `_run`; each field has a texture or image unit, by its place among them."""
        device = self.device
        forms = tuple((name, field.dtype) for name, (_, field) in fields.items())
        key = small.label, forms, small.boundaries, self.grid
        program = device.keep(key, partial(self._program, small, fields, out))
        for unit, name in enumerate(fields):
            if name in program and device.reading != "image":
                program[name] = unit
        uniforms = [
            (name, member)
            for name in NUMBERS
            if name in program and isinstance(member := program[name], moderngl.Uniform)
        ]
        texels = int(np.prod(out.layout.texture_size))
        groups = min(-(-texels // GROUP), GROUPS_ACROSS), -(-texels // (GROUP * GROUPS_ACROSS))
        return _Program(small.boundaries, program, groups, uniforms, device.sent(program))

    def _program(self, small: _Pass, fields: Read, out: Field) -> moderngl.Program | moderngl.ComputeShader:
        source, written = self._source(small, fields), f"{out.name}_out"
        source.add(f"vec4 {written} = vec4(0.0);", "<fields>").include(f"sim/{small.file}.glsl")
        run = run_kernel(small.kind)
        if self.device.small_stage == "fragment":
            main = f"void main() {{\n    ivec2 texel = ivec2(gl_FragCoord.xy);\n{run}"
            source.add("layout(location = 0) out vec4 color_0;", "<main>")
            source.add(f"{main}    color_0 = {written};\n}}", "<main>")
            return self.device.fragment_program(source.drop_unused())
        width, height = out.layout.texture_size
        image = f"layout(rgba32f, binding = {len(fields)}) writeonly restrict uniform image2D image_0;"
        main = (  # the last texels first: those may take the longest
            f"void main() {{\n    int number = {width * height - 1} - int(gl_GlobalInvocationID.x)"
            f" - {GROUP * GROUPS_ACROSS} * int(gl_GlobalInvocationID.y);\n"
            f"    if (number < 0) return;\n    ivec2 texel = ivec2(number % {width}, number / {width});\n"
            f"{run}    imageStore(image_0, texel, {written});\n}}"
        )
        return self.device.compute_program(source.add(image, "<main>").add(main, "<main>").drop_unused())

    def _source(self, small: _Pass, fields: Read) -> Source:
        """What stands before the file of a pass: the box, its macros and what it reads."""
        device, compute = self.device, self.device.small_stage == "compute"
        variant = Variant(boundaries=small.boundaries or Boundaries())
        defines = {**variant.defines(self.grid.dimensions), **device.defines}
        defines |= {**strip_macros(device.software), **small.macros}
        version = 430 if compute else 420 if device.reading == "image" else 330
        source = Source(small.label, version, (GROUP,) if compute else ())
        source.add(box_constants(self.grid), "<box>").define(defines)
        source.add(variant.constants(self.grid.dimensions), "<box>")
        for kind in dict.fromkeys((*(kind for kind, _ in fields.values()), small.kind, "piece")):
            source.add(self._layouts[kind].glsl(kind), "<layout>")
        for unit, (name, (kind, field)) in enumerate(fields.items()):
            form = IMAGE_FORMAT[field.components, field.dtype]
            reader = field_reader(name, kind, self._layouts[kind], unit, device.reading, image_format=form)
            source.add(reader, "<fields>")
        return source

    def bind(self) -> None:
        """Bind for a pass what tells it where: the list of pieces in a compute pass, else the spans."""
        where = self.spans if self._pieces is None else self._pieces.listed
        where.front.use(STRIP_UNIT)

    @property
    def groups(self) -> moderngl.Buffer:
        """The workgroups of a compute pass over the pieces, for an indirect dispatch."""
        assert self._pieces is not None
        return self._pieces.groups

    @property
    def layout(self) -> FlatLayout:
        """How the spans lie in their texture."""
        return self._layouts["strip"]

    def release(self) -> None:
        """Release every texture; idempotent."""
        self.forget()
        release(self._found, *self._stages, self._pieces, self._asked)
        self._asked = None


class _Pieces:
    """The spans in pieces, a workgroup's work each; how many there are the GPU alone knows."""

    def __init__(self, device: Device, layout: FlatLayout) -> None:
        self.listed = Field(device, "listed", layout, 4, "f4", 1)
        self._count = device.ctx.texture((4, 1), 1, dtype="u4")  # workgroups along x, y, z; pieces
        self.groups = device.ctx.buffer(reserve=16)

    def begin(self, listed: int, counted: int) -> None:
        """Bind the list and the count, 0 so far, to these image units for the pass that lists."""
        self._count.write(NO_GROUPS)
        self.listed.back.bind_to_image(listed, False, True)
        self._count.bind_to_image(counted, True, True)

    def end(self) -> None:
        """All are listed."""
        self._count.read_into(self.groups)

    def release(self) -> None:
        """Release all of it; idempotent."""
        self.listed.release()
        let_go(self._count, self.groups)


@dataclass(frozen=True)
class _Program:
    """A small pass, compiled. groups: workgroups of a dispatch, along x and y.

    uniforms: of the numbers that it takes, by name. sent: what they are.
    """

    boundaries: Boundaries | None
    program: moderngl.Program | moderngl.ComputeShader
    groups: tuple[int, int]
    uniforms: list[tuple[str, moderngl.Uniform]]
    sent: dict[str, object]
