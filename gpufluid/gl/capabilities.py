"""What a context can do with what the engine uses, textures above all, found by trying each."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import moderngl
import numpy as np

from gpufluid.common.stops import unbroken
from gpufluid.contract.backend import release
from gpufluid.gl import enums
from gpufluid.gl.calls import calls
from gpufluid.gl.fences import mark
from gpufluid.gl.messages import take
from gpufluid.gl.source import FULLSCREEN
from gpufluid.gl.state import IMAGES as KEPT_IMAGES
from gpufluid.gl.state import keeping

# (channels, "f2" or "f4") of a texture: the format's name in a shader's layout, OpenGL's in small letters
IMAGE_FORMAT = {(1, "f2"): "r16f", (4, "f2"): "rgba16f", (1, "f4"): "r32f", (4, "f4"): "rgba32f"}
# how many images a pass has, and the OpenGL that knows of it
IMAGES = {
    enums.MAX_IMAGE_UNITS: 420,
    enums.MAX_FRAGMENT_IMAGE_UNIFORMS: 420,
    enums.MAX_COMPUTE_IMAGE_UNIFORMS: 430,
}
BETWEEN = """#version 330 core
uniform sampler2D texels;
out vec4 color;
void main() { color = textureLod(texels, vec2(0.5), 0.0); }
"""


# numbers that lie between half floats: the nearest are 1, 1 + 2^-10 and the same below 0
HALFWAY = tuple(sign * (1.0 + part * 2.0**-10) for sign in (1.0, -1.0) for part in (0.25, 0.75))
DRAWN = """#version 330 core
uniform vec4 numbers;
out vec4 color;
void main() { color = numbers; }
"""
STORED = """#version 430 core
layout(local_size_x = 1) in;
layout(rgba16f, binding = 0) writeonly uniform image2D texels;
uniform vec4 numbers;
void main() { imageStore(texels, ivec2(0), numbers); }
"""


@dataclass(frozen=True)
class Capabilities:
    """What textures can be.

    max_images: how many a pass may read and write at once, 0 before OpenGL 4.2. max_outputs: how many a
    fragment shader may have of them and of the colours that it writes together. max_varyings: numbers that go
    from a vertex shader to a fragment shader at most.
    drawn: (channels, "f2" or "f4") that can be drawn to and read back. filtered: of these, those between
    whose texels the driver interpolates. nearest: the stages in which a half float that is written is the
    nearest: OpenGL lets drivers cut off what is beyond it.
    """

    max_texture_size: int
    max_images: int
    max_outputs: int
    max_varyings: int
    drawn: frozenset[tuple[int, str]]
    filtered: frozenset[tuple[int, str]]
    nearest: frozenset[str]

    @property
    def filters(self) -> bool:
        """Whether all that can be drawn to is filtered; else shaders interpolate by hand everywhere."""
        return self.drawn <= self.filtered


_known: WeakKeyDictionary[moderngl.Context, Capabilities] = WeakKeyDictionary()


def capabilities(ctx: moderngl.Context) -> Capabilities:
    """What `ctx` can do; tried once, in a few milliseconds, and no state is changed."""
    if ctx not in _known:
        with keeping(ctx, "the trial of textures"):
            _known[ctx] = _tried(ctx)
    return _known[ctx]


def _tried(ctx: moderngl.Context) -> Capabilities:
    drawn = frozenset(kind for kind in IMAGE_FORMAT if _draws(ctx, *kind))
    with unbroken(None, insist=False):
        program = ctx.program(vertex_shader=FULLSCREEN, fragment_shader=BETWEEN)
    triangle = ctx.vertex_array(program, [])
    filtered = frozenset(kind for kind in drawn if _filters(ctx, triangle, *kind))
    triangle.release()
    program.release()
    nearest = frozenset(stage for stage in ("fragment", "compute") if _rounds(ctx, stage, drawn))
    take(ctx)  # a driver that refuses may say so as an error
    limits = calls(ctx).integers
    images = [limits(name)[0] for name, version in IMAGES.items() if ctx.version_code >= version]
    most = min(*images, KEPT_IMAGES) if images else 0
    outputs = limits(enums.MAX_COMBINED_IMAGE_UNITS_AND_FRAGMENT_OUTPUTS)[0] if images else 0
    # what lies beyond the largest viewport would not be drawn, and nobody told
    largest = min(*limits(enums.MAX_TEXTURE_SIZE), *limits(enums.MAX_VIEWPORT_DIMS, 2))
    varyings = limits(enums.MAX_VARYING_COMPONENTS)[0]
    return Capabilities(largest, most, outputs, varyings, drawn, filtered, nearest)


def _draws(ctx: moderngl.Context, channels: int, dtype: str) -> bool:
    """True where a texture can be cleared to a number and gives it back."""
    texture = ctx.texture((2, 2), channels, dtype=dtype, alignment=1)
    try:
        target = ctx.framebuffer([texture])
    except moderngl.Error:  # it is not complete
        texture.release()
        return False
    target.clear(0.25, 0.25, 0.25, 0.25)
    mark(ctx)
    back = np.frombuffer(texture.read(alignment=1), dtype)
    _release(ctx, target, texture)
    return bool((back == 0.25).all())


def _filters(ctx: moderngl.Context, triangle: moderngl.VertexArray, channels: int, dtype: str) -> bool:
    """True where halfway between texels of 0 and 1 a sample is 1/2, to 8 bits."""
    texels = ctx.texture(
        (2, 1), channels, np.repeat([0.0, 1.0], channels).astype(dtype), dtype=dtype, alignment=1
    )
    texels.filter = moderngl.LINEAR, moderngl.LINEAR
    texels.repeat_x = texels.repeat_y = False
    texture = ctx.texture((1, 1), channels, dtype=dtype, alignment=1)
    target = ctx.framebuffer([texture])
    target.use()
    texels.use(0)
    ctx.enable_only(moderngl.NOTHING)
    triangle.render(moderngl.TRIANGLES, vertices=3)
    mark(ctx)
    value = float(np.frombuffer(texture.read(alignment=1), dtype)[0])
    _release(ctx, target, texture, texels)
    return abs(value - 0.5) < 1.0 / 128.0


def _rounds(ctx: moderngl.Context, stage: str, drawn: frozenset[tuple[int, str]]) -> bool:
    """True where a pass of `stage` leaves the half float that is nearest to what it writes."""
    if (4, "f2") not in drawn or (stage == "compute" and ctx.version_code < 430):
        return False
    texture = ctx.texture((1, 1), 4, dtype="f2", alignment=1)
    target = ctx.framebuffer([texture])
    if stage == "compute":
        with unbroken(None, insist=False):
            compute = ctx.compute_shader(STORED)
        compute["numbers"] = HALFWAY
        texture.bind_to_image(0, read=False, write=True)
        compute.run()
        ctx.memory_barrier()
        compute.release()
    else:
        with unbroken(None, insist=False):
            program = ctx.program(vertex_shader=FULLSCREEN, fragment_shader=DRAWN)
        program["numbers"] = HALFWAY
        triangle = ctx.vertex_array(program, [])
        target.use()
        ctx.enable_only(moderngl.NOTHING)
        triangle.render(moderngl.TRIANGLES, vertices=3)
        mark(ctx)
        triangle.release()
        program.release()
    back = np.frombuffer(texture.read(alignment=1), np.float16)
    _release(ctx, target, texture)
    return bool((back == np.array(HALFWAY).astype(np.float16)).all())


def _release(ctx: moderngl.Context, target: moderngl.Framebuffer, *others: moderngl.Texture) -> None:
    ctx.detect_framebuffer(0).use()  # or moderngl would bind a name that is no more
    target.release()
    release(*others)
