"""What every shader that reads a fluid begins with, and the textures it reads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import moderngl

from gpufluid.gl.device import Device
from gpufluid.gl.field import Field
from gpufluid.gl.passes import box_constants, field_reader
from gpufluid.gl.source import Source
from gpufluid.kernels import Variant
from gpufluid.render.subject import FluidLike

SCALARS, SOLID = 0, 1  # texture units
UNITS = {"scalars": SCALARS, "solid": SOLID, "shaded": SCALARS}


def volume_source(label: str, fluid: FluidLike, *fields: str, solids: bool | None = None) -> Source:
    """Return GLSL that declares the box of `fluid` and its `fields`, filtered; else scalars and solid.

    solids: whether the shader knows solids; None: where the fluid has some.
    """
    if solids is None:
        solids = fluid.solid_field is not None
    source = Source(label).add("#version 330 core", "<stage>").add(box_constants(fluid.grid), "<box>")
    # a picture ends at the sides, whatever they are
    variant = Variant(solids=solids, sampler="hardware")
    defines = variant.defines(fluid.grid.dimensions)
    source.add("\n".join(f"#define {name} {value}" for name, value in defines.items()), "<variant>")
    source.add(variant.constants(fluid.grid.dimensions), "<variant>")
    layout = fluid.layouts["cell"]
    source.add(layout.glsl("cell"), "<layout>")
    for name in fields or (("scalars", "solid") if solids else ("scalars",)):
        source.add(field_reader(name, "cell", layout, "", "texel", UNITS[name], True), "<fields>")
    return source


def volume_program(
    device: Device,
    fluid: FluidLike,
    label: str,
    file: str,
    *fields: str,
    solids: bool | None = None,
    vertex_file: str | None = None,
) -> moderngl.Program:
    """Return the program of fragment shader `file` over `volume_source`; compiled once on each device."""
    has_solids = fluid.solid_field is not None if solids is None else solids

    def make() -> moderngl.Program:
        source = volume_source(label, fluid, *fields, solids=has_solids).include(file)
        vertex = None
        if vertex_file is not None:
            vertex = Source(f"{label} (vertex)").add("#version 330 core", "<stage>").include(vertex_file)
        return device.fragment_program(source, vertex)

    return device.keep((label, file, fluid.grid, fields, has_solids, vertex_file), make)


@contextmanager
def bind(device: Device, program: moderngl.Program, **fields: Field | None) -> Iterator[None]:
    """Bind the fronts of `fields` that `program` reads, filtered, while the body runs."""
    taken = []
    for name, field in fields.items():
        if field is not None and name in program:
            unit = UNITS[name]
            program[name].value = unit  # type: ignore[union-attr]
            field.front.use(unit)
            device.linear.use(unit)
            taken.append(unit)
    try:
        yield
    finally:
        for unit in taken:
            device.linear.clear(unit)
