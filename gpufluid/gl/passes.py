"""A kernel compiled for one stage, called like a function: ``jacobi(pressure=p, divergence=d, ...)``."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from gpufluid.common.debugging import check_numbers, switches
from gpufluid.common.errors import GpufluidError
from gpufluid.contract.kernels import side_numbers, unknown_argument
from gpufluid.description.grid import CellBox
from gpufluid.gl.fences import draw_to
from gpufluid.gl.field import Field
from gpufluid.gl.kernel_source import STRIP_UNIT, KernelSource
from gpufluid.gl.regions import Region, bring_over, count_of, groups_of, regions_of, slices_of
from gpufluid.gl.uniforms import upload

if TYPE_CHECKING:
    from gpufluid.gl.strips import Strips


NUMBERS = float, int  # an object, where `float | int` would be made anew for each look


class Pass:
    """One kernel on one grid in one stage.

    A call names every field and parameter; the field it writes is swapped afterwards. Unknown and missing
    names raise GpufluidError with the nearest right one. sides: `kernels.side_numbers` of the next call.
    """

    def __init__(self, source: KernelSource) -> None:
        self.device, self.kernel, self.variant = source.device, source.kernel, source.variant
        self.stage = source.stage
        device, kernel, self._slots = source.device, source.kernel, source.slots
        self._names = kernel.arguments(source.variant)
        self._layout, self._size = source.layout, source.layout.texture_size
        self._inputs, self._sparse, self._group = source.inputs, source.sparse, source.group
        self._local = source.local
        self._groups = source.groups
        self._placed = source.placed
        self._filtered = any(read.filtered for read in source.inputs)
        self._written_as, self.nbytes = source.written_as, source.nbytes
        self._program: moderngl.Program | moderngl.ComputeShader
        if self.stage == "compute":
            self._program = self._compute = device.compute_program(source.shader)
        else:
            self._triangle = device.fullscreen(
                device.fragment_program(source.shader, source.vertex, twice=source.twice, handed=True)
            )
            self._program = self._triangle.program
        program = self._program
        device.take_up(program)
        self._label = f"the kernel {kernel.name} (glsl/{kernel.folder}/{kernel.name}.glsl)"
        # a compiler drops what a variant does not use: such names are taken and not sent
        members = {n: program[n] for n in kernel.parameters if n in program}
        self._uniforms = [(n, m) for n, m in members.items() if isinstance(m, moderngl.Uniform)]
        self.sides = side_numbers(source.variant.boundaries)
        told = [(name, program.get(name, None)) for name in self.sides]
        self._side_uniforms = [(n, member) for n, member in told if isinstance(member, moderngl.Uniform)]
        self._sizes: tuple[moderngl.Uniform, bytes] | None = None
        if isinstance(member := program.get("sizes", None), moderngl.Uniform):
            self._sizes = member, source.sizes[: 16 * member.array_length]
        # a program keeps what it is sent, and may be that of other passes too: their text is the same
        self._sent = device.sent(program)
        for read in self._inputs:
            if not read.as_image and read.sampler in program:
                program[read.sampler].value = read.unit  # type: ignore[union-attr]
        if self._sparse:
            sampler, kind = source.places
            program[sampler], self._everywhere = STRIP_UNIT, source.layouts[kind].texture_size

    def release(self) -> None:
        """Let go of the program. Only for a pass that never runs again."""
        self.device.give_up(self._program)

    def __call__(self, **arguments: Any) -> None:
        """Run the kernel over every value of the field it writes."""
        out = self._checked(arguments)
        pacer, first, height = self.device.pace.pacer, 0, self._size[1]
        least = self._group[1] if self.stage == "compute" else 1
        if self._groups is not None:
            least = height  # in one piece: a workgroup walks through many rows of the texture
        before = out.fronts  # after the swap the field may have left it to another one
        if pacer is None:
            self._bind_and_run(arguments, out, 0, height)
        while pacer is not None and first < height:  # all is bound anew: much may happen in between
            rows = pacer.before(self, height - first, least)
            self._bind_and_run(arguments, out, first, rows)
            first += rows
        out.swap()
        if self.device.moved is not None:
            self.device.moved.setdefault(self.kernel.name, []).append(self.nbytes)
        if switches.numbers:
            check_numbers(self._label, out, out.read(), lambda: self._read(arguments, before))

    def within(self, boxes: Sequence[CellBox] | None, /, **arguments: Any) -> None:
        """Run a local kernel in `boxes` alone, and leave front and back of the field what they are.

        Over every value where that pays as well, where another field shows the front, which has to stay as
        it is, and where numbers are checked, for which it has to be there afterwards.
        """
        out, device, regions = self._checked(arguments), self.device, None
        if boxes is not None and not (out.shown or switches.numbers):
            regions = regions_of(boxes, self._layout.size, self.variant.boundaries)
        if regions is None:
            self(**arguments)
        elif regions:
            if device.pace.pacer is not None:
                slices = sum(map(slices_of, regions))
                device.pace.pacer.before((self, "within"), slices, slices)
            self._bind_and_run(arguments, out, 0, self._size[1], regions)
            out.amend()
            if device.moved is not None:
                share = sum(map(count_of, regions)) / math.prod(self._layout.size)
                device.moved.setdefault(self.kernel.name, []).append(round(share * self.nbytes))

    def repeat(self, times: int, **arguments: Any) -> None:
        """Call it as often, each time on what the call before has left.

        Between two of its runs a pass that reads what it writes has but those two textures to bind. More than
        that costs as much again: Python does not stay in a cache that software renderers need as well.
        """
        if self._sparse or self._filtered or self.device.watched:
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

    def bound(self, **arguments: Any) -> Callable[[], None]:
        """The same call, to be made again and again: what it is given is looked at once, here.

        That saves more than the time it takes to look, see `repeat`.
        """
        out = self._checked(arguments)
        if self._sparse or self._filtered:
            return partial(self, **arguments)
        reads = [(arguments[name], part, unit, image) for name, part, _, unit, image, _ in self._inputs]
        numbers = [(name, uniform, arguments[name]) for name, uniform in self._uniforms]

        def call() -> None:
            if self.device.watched:
                self(**arguments)
                return
            for field, part, unit, as_image in reads:
                texture = field.fronts[part]
                if as_image:
                    texture.bind_to_image(unit, True, False)
                else:
                    texture.use(unit)
            sent = self._sent
            self._send_sizes()
            self._send_sides()
            for name, uniform, value in numbers:
                if sent.get(name) is not value:
                    upload(uniform, value)
                    sent[name] = value
            if self.stage == "fragment":
                self.device.ctx.enable_only(moderngl.NOTHING)
            self._start(out)
            out.swap()

        return call

    def _checked(self, arguments: Mapping[str, Any]) -> Field:
        """Return the field that is written, of a call that may be made."""
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
        if out.scratch:
            for slot in self._slots:
                if arguments[slot.name] is out:
                    raise GpufluidError(
                        f"kernel {self.kernel.name} reads and writes the scratch field {slot.name!r}"
                    )
        return out

    def _send_sizes(self) -> None:
        """Send the sizes of the grid to a program that serves several."""
        if self._sizes is not None and self._sent.get("sizes") is not self._sizes:
            uniform, sizes = self._sent["sizes"] = self._sizes
            uniform.write(sizes)

    def _send_sides(self) -> None:
        """Send what sides do that may change."""
        for name, uniform in self._side_uniforms:
            if self._sent.get(name) is not self.sides[name]:
                upload(uniform, self.sides[name])
                self._sent[name] = self.sides[name]

    def _read(
        self, arguments: Mapping[str, Any], before: Sequence[moderngl.Texture]
    ) -> dict[str, tuple[Field, NDArray[np.float32]]]:
        """What the last call read, by name: fields and values; of the field it wrote what was `before`."""
        out: Field = arguments[self.kernel.write.name]
        fields: dict[str, Field] = {slot.name: arguments[slot.name] for slot in self._slots}
        return {name: (field, field.read(before if field is out else ())) for name, field in fields.items()}

    def _bind_and_run(
        self,
        arguments: Mapping[str, Any],
        out: Field,
        first: int,
        rows: int,
        regions: Sequence[Region] | None = None,
    ) -> None:
        """Bind what is read and write `rows` of the texture from `first` on, or all `regions`."""
        device, filtered_units = self.device, []
        for name, part, _, unit, as_image, filtered in self._inputs:
            if part == 0:  # the parts of a field follow each other: it is looked up once for all
                field: Field = arguments[name]
                fronts = field.fronts
            texture = fronts[part]
            if as_image:
                texture.bind_to_image(unit, True, False)
            else:
                texture.use(unit)
                if filtered:
                    device.between.use(unit)
                    filtered_units.append(unit)
        sent = self._sent
        self._send_sizes()
        self._send_sides()
        for name, uniform in self._uniforms:
            value = arguments[name]
            if isinstance(value, NUMBERS) and value and sent.get(name) == value:
                continue  # it has that already; a 0 may have another sign
            upload(uniform, value)
            sent[name] = value
        run = (
            partial(self._run, out, first, rows)
            if regions is None
            else partial(self._run_regions, out, regions)
        )
        if device.timings is None:
            run()
        else:
            with device.timed(self.kernel.name):
                run()
        for unit in filtered_units:
            device.between.clear(unit)

    def _run(self, out: Field, first: int, rows: int) -> None:
        device, height, vertices = self.device, self._size[1], 3
        strips = self._strips_to_write(out) if self._sparse else None
        if self._local:
            self._send_flag("whole", True)
        if self.stage == "compute":
            self._start(out, first=first, rows=rows, strips=strips)
            return
        if strips is not None:
            vertices = strips.vertices
        device.ctx.enable_only(moderngl.NOTHING)
        if rows == height:
            self._start(out, vertices)
            return
        self._cut(out, first, height - first - rows)
        try:
            self._start(out, vertices)
        finally:
            self._cut(out, 0, 0)

    def _run_regions(self, out: Field, regions: Sequence[Region]) -> None:
        """Write `regions` of the back, and bring them over to the front."""
        device, program = self.device, self._program
        self._send_flag("whole", False)
        if self.stage == "fragment":
            device.ctx.enable_only(moderngl.NOTHING)
            draw_to(out.back_target)
        else:
            out.back.bind_to_image(0, False, True)
        for region in regions:
            program["region_low"], program["region_high"] = region
            if self.stage == "fragment":
                self._triangle.render(moderngl.TRIANGLES, 6 * slices_of(region))
            else:
                self._compute.run(*groups_of(region, self._group))
        if self.stage == "compute":
            device.ctx.memory_barrier()
        elif device.flush is not None:
            device.flush()
        bring_over(out, regions)

    def _cut(self, out: Field, below: int, above: int) -> None:
        """Leave so many rows of the target out of what is drawn."""
        width, height = self._size
        out.back_target.viewport = 0, below, width, height - below - above
        if self._placed:
            self._program["rows_left_out"] = below, above

    def _start(
        self, out: Field, vertices: int = 3, first: int = 0, rows: int = 0, strips: Strips | None = None
    ) -> None:
        """Draw or dispatch into the back of `out`; all else is bound and set.

        first, rows: of those to dispatch, 0 for all. strips: dispatch a workgroup for each of these alone.
        """
        device = self.device
        if self.stage == "compute":
            if first != self._sent.get("first_row", 0):
                self._compute["first_row"] = self._sent["first_row"] = first
            width, height = self._size
            for unit, texture in enumerate(out.backs):
                texture.bind_to_image(unit, False, True)
            groups = strips.groups if strips is not None else None
            if self._groups is not None:
                self._compute.run(*self._groups)
            elif groups is not None:
                self._compute.run_indirect(groups)
            else:
                across, down = self._group
                self._compute.run(-(-width // across), -(-(rows or height) // down))
            device.ctx.memory_barrier()
            return
        out.back_target.use()
        self._triangle.render(moderngl.TRIANGLES, vertices)
        if device.flush is not None:
            device.flush()

    def _send_flag(self, name: str, value: bool) -> None:
        """Set a uniform that has that value but rarely not."""
        if self._sent.get(name) is not value:
            self._program[name] = self._sent[name] = value

    def _strips_to_write(self, out: Field) -> Strips | None:
        """Leave out of a pass what is at rest in `out` and stays so; return the rest, or None for all."""
        strips = out.where
        whole = strips is None or not strips.covers(out.back_mark)
        self._send_flag("whole", whole)
        if strips is None:
            self.device.blank(self._everywhere).use(STRIP_UNIT)
        else:
            strips.bind()
        return None if whole else strips
