"""The light on a floor about several boxes, gathered from all of them before the floor is drawn.

The smoke of each box leaves a share of each light, and these are multiplied, light by light: the picture
does not depend on the order of the boxes, and where shadows of one light overlap, the other lights are there
in full. The light of all fires is added. A floor about one box asks that box itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import moderngl

from gpufluid.gl.device import Device
from gpufluid.gl.drawing import blend
from gpufluid.gl.fences import clear
from gpufluid.gl.uniforms import give
from gpufluid.render.camera import View
from gpufluid.render.floor import around, at_floor, common, floor_part, union
from gpufluid.render.frame_targets import FIRES, LEFT, FrameTargets, only
from gpufluid.render.painter import ray_uniforms
from gpufluid.render.solids.drawn_solids import Part
from gpufluid.render.subject import FluidLike
from gpufluid.render.volume_source import FIRELIGHT, LAMP_SHARES, SHARES

FLOOR_FIRE = "render/floor_fire.glsl"
# sets the light of the box of that number in the program of a shader; whether sun and sky are undimmed there
Lit = Callable[[int, str, bool], AbstractContextManager[moderngl.Program]]


def gather(
    device: Device,
    targets: FrameTargets,
    fluids: Sequence[FluidLike],
    view: View,
    height: float,
    dims: Sequence[Part],
    fire: bool,
    lamps: bool,
    lit: Lit,
) -> None:
    """Write the light on the floor at `height` about `fluids` into the textures of `targets` for it.

    dims: the parts of the picture in which the smoke of each dims sun or sky. fire: whether it shines. lamps:
    whether there is light beside the sun, whose shadows may fall anywhere.
    """
    grounds = [floor_part(height, fluid.grid, view, targets.size) for fluid in fluids]
    whole = union(grounds)
    shares = targets.floor_light(LEFT).target
    clear(shares, 1.0, 1.0, 1.0, 1.0, viewport=whole)
    if fire:
        clear(targets.floor_light(FIRES).target, viewport=whole)
    for number, (fluid, ground, dim) in enumerate(zip(fluids, grounds, dims, strict=True)):
        values = {
            **ray_uniforms(view, fluid),
            **at_floor(height, fluid.grid),
            "picture_size": targets.size,
            "brightest": targets.brightest,
        }
        dim = common(whole, dim)
        beside = around(common(whole, dim), whole) if lamps else around(common(ground, dim), ground)
        for clear_of_smoke, parts in ((False, [dim]), (True, beside)):
            with lit(number, "render/floor_shares.glsl", clear_of_smoke) as program:
                blend(device.ctx, moderngl.ZERO, moderngl.SRC_COLOR)
                _cover(device, program, values, shares, parts)
        if fire:
            with lit(number, FLOOR_FIRE, True) as program:
                blend(device.ctx, moderngl.ONE, moderngl.ONE)
                _cover(device, program, values, targets.floor_light(FIRES).target, [whole])
    device.ctx.enable_only(moderngl.NOTHING)


def _cover(
    device: Device,
    program: moderngl.Program,
    values: dict[str, Any],
    target: moderngl.Framebuffer,
    parts: Sequence[Part],
) -> None:
    """Draw `program` over `parts` of `target`, with these uniforms."""
    give(program, values)
    for part in parts:
        if part[2] and part[3]:
            with only(target, part):
                device.cover(program)


@contextmanager
def gathered_for(
    device: Device, targets: FrameTargets, program: moderngl.Program, fire: bool
) -> Iterator[None]:
    """Let ``gathered.glsl`` in `program` read what was gathered while the body runs."""
    textures = [*targets.floor_light(LEFT).textures, *(targets.floor_light(FIRES).textures if fire else ())]
    give(program, {"floor_shares": SHARES, "floor_lamps": LAMP_SHARES, "floor_fire": FIRELIGHT})
    units = (SHARES, LAMP_SHARES, FIRELIGHT)[: len(textures)]
    for unit, texture in zip(units, textures, strict=True):
        texture.use(unit)
    try:
        yield
    finally:
        for unit in units:
            device.blank().use(unit)
