"""What a host hands in: whether it can be drawn to, read, or given textures. All raise GpufluidError."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import moderngl
import numpy as np

from gpufluid.common.checks import whole_number
from gpufluid.common.errors import GpufluidError
from gpufluid.gl import enums
from gpufluid.gl.calls import calls
from gpufluid.gl.hosts_program import HostsProgram
from gpufluid.gl.source import checked_prefix
from gpufluid.gl.state import another, guard_of
from gpufluid.gl.targets import check_hosts, is_hosts


def check_target(target: Any, ctx: moderngl.Context, by: str, what: str = "target") -> None:
    """Raise GpufluidError where nothing can be drawn into `target` in `ctx`. by, what: for the message."""
    if not isinstance(target, moderngl.Framebuffer):
        told = "of another library's, by its name in OpenGL: ctx.detect_framebuffer(name)"
        if isinstance(target, moderngl.Texture | moderngl.Renderbuffer):
            told = "ctx.framebuffer([texture]) draws into it"
        raise GpufluidError(f"{what} must be a moderngl.Framebuffer, got {target!r} ({told})")
    if isinstance(target.mglo, moderngl.InvalidObject):
        raise GpufluidError(f"the {what} was released")
    if target.ctx is not ctx:
        raise GpufluidError(f"the {what} lives in {another(target.ctx, ctx)} than {by}")
    if is_hosts(target):
        check_hosts(target, what)
    colors = target.color_attachments  # None in one that moderngl has not made
    if colors == ():
        raise GpufluidError(f"the {what} has no colour to draw to: give it a texture, framebuffer([texture])")
    kind = str(getattr(colors[0], "dtype", "")) if colors else ""
    if kind.startswith(("i", "u")):
        raise GpufluidError(
            f'the {what} holds whole numbers (dtype="{kind}"), which no light is: make it of "f2" or "f1"'
        )


def check_depth(depth: Any, ctx: moderngl.Context, by: str) -> None:
    """Raise GpufluidError where `depth` is no texture of depths that shaders in `ctx` can read, for `by`."""
    if not isinstance(depth, moderngl.Texture):
        told = (
            "ctx.external_texture(name, size, 1, 0, \"f4\") makes one of OpenGL's name of another library's"
        )
        if isinstance(depth, moderngl.Renderbuffer):
            told = "no shader reads a renderbuffer; attach ctx.depth_texture(size) instead"
        raise GpufluidError(
            f"depth must be a depth texture (moderngl.Texture) or None, got {depth!r}: {told}"
        )
    if isinstance(depth.mglo, moderngl.InvalidObject):
        raise GpufluidError("the depth texture was released")
    # a host's own depth texture, of one component, does not say that it is one
    if not depth.depth and depth.components != 1:
        raise GpufluidError(
            f"depth must be a depth texture (ctx.depth_texture), got one of {depth.components} components"
        )
    if depth.ctx is not ctx:
        raise GpufluidError(f"the depth texture lives in {another(depth.ctx, ctx)} than {by}")
    if not calls(ctx).glIsTexture(depth.glo):
        raise GpufluidError("the depth texture was deleted: make another depth, of the one there is now")
    if depth.samples:
        raise GpufluidError(
            f"the depth texture has {depth.samples} samples a pixel, {by} needs one: resolve it first "
            "(ctx.copy_framebuffer)"
        )


def hosts_program(
    program: Any, ctx: moderngl.Context, unit: int, what: str, prefix: str, samplers: Sequence[str]
) -> moderngl.Program | moderngl.ComputeShader | HostsProgram:
    """Return a host's `program`, by whose name it may be given, to set uniforms in.

    Raises GpufluidError where it cannot be given textures in `ctx`, from `unit` on.
    what: the call of the user's, for the message. prefix: what the names of its uniforms begin with.
    samplers: the rest of the names of its textures, by their units; those not read a compiler leaves out.
    """
    guard_of(ctx).check_current(ctx, what)
    if isinstance(program, int | np.integer) and not isinstance(program, bool):
        found: Any = HostsProgram(ctx, int(program))
        found.check(what)
    elif not isinstance(program, moderngl.Program | moderngl.ComputeShader):
        raise GpufluidError(
            f"{what}: program must be a moderngl.Program or moderngl.ComputeShader, or OpenGL's name of "
            f"a program, got {program!r}"
        )
    elif isinstance(program.mglo, moderngl.InvalidObject):
        raise GpufluidError(f"{what}: the program was released")
    elif program.ctx is not ctx:
        raise GpufluidError(f"{what}: the program lives in {another(program.ctx, ctx)}")
    else:
        found = program
    checked_prefix(prefix)
    used = [n for n, name in enumerate(samplers) if f"{prefix}_{name}" in found]
    last = calls(ctx).integers(enums.MAX_COMBINED_TEXTURE_IMAGE_UNITS)[0] - max([1, *used]) - 1
    if whole_number(unit, "unit", low=0) > last:
        raise GpufluidError(f"{what}: unit must be a texture unit, 0 .. {last} here, got {unit}")
    return found  # type: ignore[no-any-return]
