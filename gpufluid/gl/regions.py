"""Passes that change a field in a few boxes alone, and leave the rest where it is.

Such a pass writes the back in the boxes, and what it wrote there is brought over to the front. The rest of
the field is neither read nor written, and front and back do not change places.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import moderngl

from gpufluid.contract.layout import FlatLayout
from gpufluid.description.boundaries import Boundaries
from gpufluid.description.grid import CellBox
from gpufluid.gl.capabilities import IMAGE_FORMAT
from gpufluid.gl.device import GROUP, Device
from gpufluid.gl.fences import draw_to
from gpufluid.gl.field import Field
from gpufluid.gl.kernel_source import vertex_source
from gpufluid.gl.source import Source

Place = tuple[int, int, int]
Region = tuple[Place, Place]  # of values: the first, and the one after the last along each axis

MOST_GROUPS = 65535  # workgroups of a dispatch along an axis, as many as every OpenGL has
WORTH = 0.5  # share of a field from which on a pass goes through all of it, and writes it once


def regions_of(boxes: Sequence[CellBox], size: Place, boundaries: Boundaries) -> list[Region] | None:
    """Return the regions of a field of `size` values that `boxes` of cells touch; None: all is done as soon.

    None as well where a region has more slices than every OpenGL has workgroups along z. A face belongs to
    the cells on both sides of it. The first and the last along a periodic axis are one.
    """
    regions = []
    for low, high in boxes:
        first = [min(max(math.floor(x), 0), n) for x, n in zip(low, size, strict=True)]
        last = [min(max(math.ceil(x) + 1, 0), n) for x, n in zip(high, size, strict=True)]
        for axis in range(3):
            if boundaries.periodic(axis) and (first[axis] == 0 or last[axis] == size[axis]):
                first[axis], last[axis] = 0, size[axis]
        region = (first[0], first[1], first[2]), (last[0], last[1], last[2])
        if count_of(region):
            regions.append(region)
    regions = _merged(regions)
    few = sum(map(count_of, regions)) < WORTH * math.prod(size)
    return regions if few and max(map(slices_of, regions), default=0) <= MOST_GROUPS else None


def count_of(region: Region) -> int:
    """The values in `region`."""
    (x, y, z), (right, top, back) = region
    return max(right - x, 0) * max(top - y, 0) * max(back - z, 0)


def _merged(regions: list[Region]) -> list[Region]:
    """The same values in regions of which no two are done sooner as one."""
    apart: list[Region] = []
    while regions:
        one = regions.pop()
        for other in regions:
            low, high = (
                (pick(one[n][0], other[n][0]), pick(one[n][1], other[n][1]), pick(one[n][2], other[n][2]))
                for n, pick in enumerate((min, max))
            )
            if count_of((low, high)) <= count_of(one) + count_of(other):
                regions[regions.index(other)] = low, high
                break
        else:
            apart.append(one)
    return apart


def groups_of(region: Region, group: tuple[int, int]) -> Place:
    """The workgroups of a dispatch over `region`, of `group` invocations each."""
    (x, y, z), (right, top, back) = region
    return -(-(right - x) // group[0]), -(-(top - y) // group[1]), back - z


def slices_of(region: Region) -> int:
    """The slices of `region`, of which two triangles are drawn round each."""
    return region[1][2] - region[0][2]


def bring_over(out: Field, regions: Sequence[Region]) -> None:
    """Put what the back of `out` holds in `regions` into its front as well."""
    device, layout = out.device, out.layout
    key = "bring over", layout, out.components, out.dtype
    program = device.keep(key, partial(_program, device, layout, IMAGE_FORMAT[out.components, out.dtype]))
    out.back.use(0)
    if isinstance(program, moderngl.ComputeShader):
        out.front.bind_to_image(0, False, True)
        for region in regions:
            program["region_low"], program["region_high"] = region
            program.run(*groups_of(region, (GROUP, GROUP)))
        device.ctx.memory_barrier()
        return
    draw_to(out.front_target)
    device.ctx.enable_only(moderngl.NOTHING)
    triangles = device.fullscreen(program)
    for region in regions:
        program["region_low"], program["region_high"] = region
        triangles.render(moderngl.TRIANGLES, 6 * slices_of(region))
    if device.flush is not None:
        device.flush()


def _program(device: Device, layout: FlatLayout, form: str) -> moderngl.Program | moderngl.ComputeShader:
    label = f"bring over ({device.stage})"
    fields = "uniform sampler2D written;\nvec4 brought;"
    made: moderngl.Program | moderngl.ComputeShader
    if device.stage == "fragment":
        source = Source(label, 330).add(fields, "<fields>").include("sim/bring_over.glsl")
        main = "void main() {\n    kernel(ivec2(gl_FragCoord.xy));\n    color_0 = brought;\n}"
        source.add(f"layout(location = 0) out vec4 color_0;\n{main}", "<main>")
        made = device.fragment_program(source, vertex_source(layout, "bring over", placed=False))
    else:
        source = Source(label, 430, (GROUP, GROUP))
        source.add(layout.glsl("cell"), "<layout>").include("sim/region_texel.glsl")
        source.add(fields, "<fields>").include("sim/bring_over.glsl")
        source.add(f"layout({form}, binding = 0) writeonly restrict uniform image2D image_0;", "<main>")
        main = "    ivec2 texel;\n    if (!of_region(texel)) return;\n    kernel(texel);\n"
        main += "    imageStore(image_0, texel, brought);"
        made = device.compute_program(source.add(f"void main() {{\n{main}\n}}", "<main>"))
    return made
