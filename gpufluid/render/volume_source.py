"""What every shader that reads a fluid begins with, and the textures it reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import moderngl

from gpufluid.contract.kernels import Variant
from gpufluid.contract.layout import FlatLayout
from gpufluid.gl.capabilities import IMAGE_FORMAT
from gpufluid.gl.device import GROUP, Device
from gpufluid.gl.fences import draw_to
from gpufluid.gl.field import Field
from gpufluid.gl.kernel_source import box_constants, field_reader
from gpufluid.gl.source import Source
from gpufluid.render.subject import FluidLike

# texture units
SCALARS, SOLID, SUN, SKY, DEPTH, COLOR, FLAME, FIRE_TABLE, OTHERS, BLOCKS, GLOW, PICTURE, NOISE = range(13)
EXTENTS, WHOLES = BLOCKS, GLOW  # where slabs are drawn nobody reads blocks
SHADOWS = PICTURE  # where the scene is lit nobody reads the picture
SURFACES, MATERIALS, BEHIND = DEPTH, NOISE, BLOCKS  # nor, where solids are, depths, noise and blocks
ADDED = FLAME  # nor how fuel burns
SHARES, LAMP_SHARES, FIRELIGHT = OTHERS, BLOCKS, GLOW  # nor, where these are, volumes of light
UNITS = {
    "scalars": SCALARS,
    "shaded": SCALARS,
    "solid": SOLID,
    "color": COLOR,
    "heat": COLOR,  # where rays are drawn nobody reads colours
    "flame": FLAME,
    "corners": FLAME,  # nor how fuel burns
    "others": OTHERS,
    "blocks": BLOCKS,
    "occupied": BLOCKS,
    "rows": BLOCKS,
    "boxes": BLOCKS,
    "spans": BLOCKS,
    "glow": GLOW,
    "middles": GLOW,
    "strips": GLOW,
}
UNSAID = (  # macros that are 0 where a shader does not ask for more
    *("OTHERS", "FIRE", "FIRE_SOFT", "CORNERS", "ENDS", "COMPUTED", "CLEAR"),
    *(
        "SHADOWED",
        "LAMPS_SHADOWED",
        "FADES",
        "EDGED",
        "SOFTENED",
        "PLATE",
        "DEPTHLESS",
        "GATHERED",
        "FIRE_ALONE",
        "ADDED",
    ),
)
Volumes = Mapping[str, FlatLayout]
Program = moderngl.Program | moderngl.ComputeShader


def matter(fluid: FluidLike) -> dict[str, Field]:
    """The fields a picture of `fluid` is made of: scalars, and those it has of solid, color and flame."""
    fields = {
        "scalars": fluid.scalars,
        "solid": fluid.solid_field,
        "color": fluid.color_field,
        "flame": fluid.flame_field,
    }
    return {name: field for name, field in fields.items() if field is not None}


def contents(fluid: FluidLike) -> dict[str, object]:
    """What differs where a picture of `fluid` may differ."""
    return {name: (field, field.front.mglo, field.version) for name, field in matter(fluid).items()}


def volume_source(
    device: Device,
    label: str,
    fluid: FluidLike,
    *fields: str,
    solids: bool | None = None,
    defines: Mapping[str, object] | None = None,
    volumes: Volumes | None = None,
    version: int = 330,
    images: Mapping[str, str] | None = None,
) -> Source:
    """Return GLSL that declares the box of `fluid` and its `fields`, filtered; else all its `matter`.

    solids: whether the shader knows solids; None: where the fluid has some. defines: macros beyond those of a
    kernel. volumes: textures beside those of the fluid, with their layouts. images: the formats of fields
    that are read as images and not filtered, by name, on image units in this order.
    """
    images = dict(images or {})
    present = matter(fluid)
    if solids is None:
        solids = "solid" in present
    source = Source(label, version).add(box_constants(fluid.grid), "<box>")
    # a picture ends at the sides, whatever they are
    variant = Variant(solids=solids, sampler="hardware")
    macros: dict[str, object] = dict.fromkeys(UNSAID, 0)
    macros |= {"COLORED": int("color" in present), "BURNING": int("flame" in present)}
    macros["LOADED"] = int(bool(images))
    macros |= variant.defines(fluid.grid.dimensions) | device.defines | dict(defines or {})
    source.define(macros).add(variant.constants(fluid.grid.dimensions), "<variant>")
    layout = fluid.layouts["cell"]
    source.include("lib/between.glsl").add(layout.glsl("cell"), "<layout>")
    for name in fields or present:
        if name in images:
            source.add(image_reader(name, "cell", images, layout), "<fields>")
        elif name != "solid" or solids:
            source.add(field_reader(name, "cell", layout, UNITS[name], filtered=True), "<fields>")
    for name, its in (volumes or {}).items():
        source.add(its.glsl(name), "<layout>")
        if name in images:
            source.add(image_reader(name, name, images, its), "<fields>")
        else:
            source.add(field_reader(name, name, its, UNITS[name], filtered=True), "<fields>")
    return source


def images_of(device: Device, fields: Mapping[str, Field]) -> dict[str, str]:
    """The formats of `fields` that a shader only loads texels of, where it had better read images."""
    if device.reading != "image":
        return {}
    return {name: IMAGE_FORMAT[field.components, field.dtype] for name, field in fields.items()}


def image_reader(name: str, kind: str, images: Mapping[str, str], layout: FlatLayout) -> str:
    """The GLSL that reads field `name` of `kind`, one of `images`, as an image."""
    unit = list(images).index(name)
    return field_reader(name, kind, layout, unit, "image", image_format=images[name])


def volume_program(
    device: Device,
    fluid: FluidLike,
    label: str,
    file: str,
    *fields: str,
    solids: bool | None = None,
    vertex_file: str | None = None,
    defines: Mapping[str, object] | None = None,
    volumes: Volumes | None = None,
    placed_by: Volumes | None = None,
    target: FlatLayout | None = None,
    images: Mapping[str, str] | None = None,
    handed: bool = True,
) -> moderngl.Program:
    """Return the program of fragment shader `file` over `volume_source`; compiled once on each device.

    placed_by: volumes that the vertex shader reads, to write some cells of a volume laid out as `target`, or
    as the fluid's own.
    images: as for `volume_source`; they need OpenGL 4.2. handed: as for `Device.fragment_program`.
    """
    defines, volumes, placed_by = dict(defines or {}), dict(volumes or {}), dict(placed_by or {})
    images = dict(images or {})

    def make() -> moderngl.Program:
        version = 420 if images else 330
        source = volume_source(
            device,
            label,
            fluid,
            *fields,
            solids=solids,
            defines=defines,
            volumes=volumes,
            version=version,
            images=images,
        )
        vertex = None
        if vertex_file is not None:
            vertex = Source(f"{label} (vertex)", 330)
            if placed_by:
                cell = target or fluid.layouts["cell"]
                width, height = cell.texture_size
                vertex.add(f"const ivec2 target_size = ivec2({width}, {height});", "<layout>")
                vertex.add(cell.glsl("cell"), "<layout>")
            for name, its in placed_by.items():
                vertex.add(its.glsl(name), "<layout>")
                vertex.add(field_reader(name, name, its, UNITS[name]), "<fields>")
            vertex.include(vertex_file)
        return device.fragment_program(source.include(file).drop_unused(), vertex, handed=handed)

    present = tuple(matter(fluid))
    grid = fluid.grid.local  # a box that moves needs no other program
    key: tuple[object, ...] = (label, file, grid, fields, present, solids, vertex_file)
    key = (*key, target, *defines.items(), *volumes.items(), *placed_by.items(), *images.items())
    return device.keep(key, make)


def walking_program(
    device: Device, fluid: FluidLike, label: str, file: str, defines: Mapping[str, object] | None = None
) -> moderngl.ComputeShader:
    """Return compute shader `file` over `volume_source`; compiled once on each device."""
    given = dict(defines or {})

    def make() -> moderngl.ComputeShader:
        source = volume_source(device, label, fluid, version=430, defines={"GROUP": GROUP, **given})
        return device.compute_program(source.include(file).drop_unused())

    return device.keep((label, file, fluid.grid.local, tuple(matter(fluid)), *given.items()), make)


def computes(device: Device) -> bool:
    """Whether cells are written by dispatches: there are GPUs that draw with few of their cores."""
    return device.version >= 430 and not device.software


def cells_program(
    device: Device,
    fluid: FluidLike,
    label: str,
    file: str,
    *fields: str,
    form: str = "",
    solids: bool | None = None,
    defines: Mapping[str, object] | None = None,
    volumes: Volumes | None = None,
    spans: FlatLayout | None = None,
    macros: Mapping[str, int] | None = None,
    images: Mapping[str, str] | None = None,
) -> Program:
    """Return the program of `file`, over each_cell.glsl; compiled once on each device.

    form: the format of what a compute shader writes, which knows no `images`; "": it draws. spans: the layout
    of those of an `Occupancy`, which alone are written; macros: their sizes.
    """
    if not form:
        given: dict[str, Any] = {} if spans is None else {"vertex_file": "render/spans_vertex.glsl"}
        placed = None if spans is None else {"spans": spans}
        rules: dict[str, Any] = {"solids": solids, "defines": defines, "volumes": volumes, "images": images}
        rules |= given
        return volume_program(device, fluid, label, file, *fields, placed_by=placed, **rules)
    known, named = dict(volumes or {}), {**dict(defines or {}), **dict(macros or {})}
    named |= {"COMPUTED": 1, "GROUP": GROUP, "SPARED": int(spans is not None)}
    if spans is not None:
        known["spans"] = spans

    def make() -> moderngl.ComputeShader:
        source = volume_source(
            device, label, fluid, *fields, solids=solids, defines=named, volumes=known, version=430
        )
        image = f"layout({form}, binding = 0) writeonly restrict uniform image2D cells_out;"
        return device.compute_program(source.add(image, "<fields>").include(file).drop_unused())

    grid, present = fluid.grid.local, tuple(matter(fluid))
    return device.keep(
        (label, file, grid, fields, present, solids, form, *named.items(), *known.items()), make
    )


def write_cells(device: Device, program: Program, target: Field, vertices: int = 3) -> None:
    """Write `target` by a program of `cells_program`; vertices: of what it draws, if it draws."""
    if isinstance(program, moderngl.Program):
        draw_to(target.back_target)
        device.fullscreen(program).render(moderngl.TRIANGLES, vertices=vertices)
        return
    target.back.bind_to_image(0, read=False, write=True)
    width, height = target.layout.texture_size
    device.before_stores()
    program.run(-(-width // GROUP), -(-height // GROUP))
    device.ctx.memory_barrier()


@contextmanager
def bind(
    device: Device, program: Program, images: Mapping[str, str] | None = None, /, **fields: Field | None
) -> Iterator[None]:
    """Bind the fronts of `fields` that `program` reads, filtered or as `images`, while the body runs."""
    taken, known = [], list(images or {})
    for name, field in fields.items():
        sampler = program.get(name, None) if field is not None else None
        if field is not None and name in known:
            field.front.bind_to_image(known.index(name), True, False)
        elif field is not None and isinstance(sampler, moderngl.Uniform):
            unit = UNITS[name]
            sampler.value = unit
            field.front.use(unit)
            device.between.use(unit)
            taken.append(unit)
    try:
        yield
    finally:
        for unit in taken:
            device.between.clear(unit)
