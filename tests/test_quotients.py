"""Whole numbers divided as floats, by drivers whose last digits are off, as OpenGL lets them be.

GPUs multiply by a reciprocal: 41 times 1 / 41 is less than 1 then.
"""

from __future__ import annotations

import re

import moderngl
import numpy as np
import pytest
from test_active import Twins

import gpufluid as gf
from gpufluid.contract.layout import layouts
from gpufluid.gl.device import Device
from gpufluid.gl.drawing import Canvas
from gpufluid.gl.source import Source

RECIPROCALS = {"exact": None, "rounded": 1.0, "below": 1.0 - 2.0**-23, "above": 1.0 + 2.0**-23}


@pytest.fixture(params=RECIPROCALS)
def quotients(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """In all shaders that are made, what is divided by a whole number is multiplied by its reciprocal.

    So it would be by ROW of found.glsl, were its inverse not written there.
    """
    factor, text = RECIPROCALS[request.param], Source.text.fget  # type: ignore[attr-defined]
    if factor is not None:

        def product(source: Source) -> str:
            return re.sub(r"/ (float\([\w.]+\)|ROW\b)", rf"* ({factor!r} / \1)", text(source))

        monkeypatch.setattr(Source, "text", property(product))


@pytest.mark.usefixtures("quotients")
def test_millions_of_pieces_have_a_texel_each(device: Device) -> None:
    """Of the largest box that a texture of 32768 texels a side holds: the first and the last of each row."""
    extent = layouts(gf.Grid((1023, 1020, 1023)), 32768)["piece"].size
    across, rows = extent[0], extent[1] * extent[2]
    source = Source("counted", 330).include("lib/quotient.glsl")
    source.add("uniform ivec3 extent;\nuniform int last;\nout vec4 color_out;", "<test>")
    place = "(int(gl_FragCoord.x) + 1024 * int(gl_FragCoord.y)) * extent.x + last * (extent.x - 1)"
    source.add(f"void main() {{ color_out = vec4(counted({place}, extent), 0.0); }}", "<test>")
    program = device.fragment_program(source)
    canvas = Canvas(device, (1024, -(-rows // 1024)), 4, "f4", "the places")
    program["extent"] = extent
    for last in (0, 1):
        program["last"] = last
        canvas.target.use()
        device.ctx.enable_only(moderngl.NOTHING)
        device.cover(program)
        found = np.frombuffer(canvas.texture.read(), np.float32).reshape(-1, 4)[:rows, :3]
        row = np.arange(rows)
        expected = np.stack([np.full(rows, last * (across - 1)), row % extent[1], row // extent[1]], -1)
        np.testing.assert_array_equal(found, expected)
    canvas.release()


@pytest.mark.parametrize(("axis", "backend"), [(1, "fragment"), (1, "compute"), (2, "compute")])
@pytest.mark.usefixtures("quotients")
def test_smoke_goes_round_a_box_of_41_cells(ctx: moderngl.Context, axis: int, backend: str) -> None:
    """Where it comes in again it is found, and looking for it ends."""
    low, high = (("left", "right"), ("bottom", "top"), ("back", "front"))[axis]
    cells = tuple(41 if n == axis else 18 for n in range(3))
    sides = gf.Boundaries(**{low: gf.Periodic(), high: gf.Periodic()})
    twins = Twins(ctx, backend, gf.Settings(solve_velocity=False), sides, gf.Grid(cells, 1 / 18))
    density, velocity = np.zeros(cells[::-1]), np.zeros((*(n + 1 for n in cells[::-1]), 3))
    density[tuple(slice(38, 41) if n == 2 - axis else slice(8, 10) for n in range(3))] = 1.0
    density[4:6, 4:6, 0] = 1.0  # where a strip begins
    velocity[...] = tuple(4.0 if n == axis else -0.3 for n in range(3))  # some 2.4 cells a step
    twins.blow(density, velocity, steps=4)
    twins.release()
