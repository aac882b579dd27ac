"""A small game of somebody else's: a ball rolls between pillars. One line of its shader knows of smoke.

It draws by moderngl into a picture with depth, in linear light, and tone maps that to the window. The
embed_*.py beside it put smoke into it, each in a window of another library, one in none.
"""

from __future__ import annotations

import argparse
import math
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from gpufluid.io.images import write_png

SIZE = 640, 360
DT = 1 / 60  # s a frame
SUN = -0.55, -0.8, 0.25  # the way its light travels

VERTEX = """#version 330 core
uniform mat4 view, projection;
uniform vec3 place, size;
in vec3 corner, normal;
out vec3 at, facing;
void main() {
    at = place + size * corner;
    facing = normalize(normal / size);
    gl_Position = projection * view * vec4(at, 1.0);
}"""
FRAGMENT = """#version 330 core
uniform vec3 sun, color;
in vec3 at, facing;
out vec4 seen;
SMOKE
void main() {
    ivec2 tile = ivec2(floor(at.xz * 2.0));
    float check = at.y > 0.001 || ((tile.x + tile.y) & 1) == 1 ? 1.0 : 0.75;
    float lit = max(dot(normalize(facing), -sun), 0.0) * gpufluid_sunlight_at(at);
    vec3 light = vec3(1.9, 1.75, 1.5) * lit + vec3(0.10, 0.13, 0.18);
    float far = smoothstep(3.0, 9.0, length(at.xz));
    seen = vec4(mix(color * check * light, vec3(0.02, 0.03, 0.045), far), 1.0);
}"""
WHOLE = """#version 330 core
void main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0); }"""
TONE = """#version 330 core
uniform sampler2D picture;
out vec4 seen;
void main() {
    vec3 light = texelFetch(picture, ivec2(gl_FragCoord.xy), 0).rgb;
    seen = vec4(pow(light / (1.0 + 0.6 * light), vec3(1.0 / 2.2)), 1.0);
}"""


def mesh(rows: int, columns: int, box: bool = False) -> NDArray[np.float32]:
    """Corners and normals of a ball of radius 1, or of a box of half size 1, as triangles, [n, 6]."""
    out = []
    if box:
        square = np.array([(-1, -1), (1, -1), (1, 1), (-1, -1), (1, 1), (-1, 1)], np.float32)
        for axis in range(3):
            for side in (-1.0, 1.0):
                corners, normal = np.full((6, 3), side, np.float32), np.zeros(3, np.float32)
                corners[:, [(axis + 1) % 3, (axis + 2) % 3]] = square
                normal[axis] = side
                out += [[*corner, *normal] for corner in corners]
        return np.array(out, np.float32)

    def at(row: int, column: int) -> list[float]:
        a, b = math.pi * row / rows, math.tau * column / columns
        place = [math.sin(a) * math.cos(b), math.cos(a), math.sin(a) * math.sin(b)]
        return [*place, *place]

    for i in range(rows):
        for j in range(columns):
            quad = (i, j), (i + 1, j), (i + 1, j + 1), (i, j), (i + 1, j + 1), (i, j + 1)
            out += [at(*corner) for corner in quad]
    return np.array(out, np.float32)


class World:
    """The game: what is in it, where the camera stands, how it is drawn.

    smoke: GLSL that says how much of the sun's light smoke lets through to a place.
    """

    def __init__(self, ctx: moderngl.Context, smoke: str, size: tuple[int, int] = SIZE) -> None:
        self.ctx, self.size = ctx, size
        self.depth = ctx.depth_texture(size)
        self._color = ctx.texture(size, 4, dtype="f2")
        self.framebuffer = ctx.framebuffer([self._color], self.depth)
        fragment = FRAGMENT.replace("SMOKE", smoke)
        self.program: Any = ctx.program(vertex_shader=VERTEX, fragment_shader=fragment)
        self._ball, self._box = (
            ctx.vertex_array(self.program, [(ctx.buffer(made), "3f 3f", "corner", "normal")])
            for made in (mesh(24, 48), mesh(0, 0, box=True))
        )
        self._tone = ctx.vertex_array(ctx.program(vertex_shader=WHOLE, fragment_shader=TONE), [])
        self.camera = look_at((2.3, 1.25, 2.6), (0.0, 0.55, 0.0)), perspective(40.0, size[0] / size[1])

    def ball(self, time: float) -> tuple[float, float, float]:
        """Where the ball is, metres."""
        return 0.75 * math.sin(1.6 * time), 0.25, 0.35 * math.sin(3.2 * time)

    def draw(self, time: float) -> None:
        """Draw all of it; as most programs do, it sets what it needs and leaves it so."""
        ctx, program = self.ctx, self.program
        self.framebuffer.use()
        ctx.enable_only(moderngl.DEPTH_TEST)
        ctx.clear(0.02, 0.03, 0.045, 1.0)
        program["view"].write(self.camera[0].T.astype("f4").tobytes())
        program["projection"].write(self.camera[1].T.astype("f4").tobytes())
        program["sun"].value = tuple(np.array(SUN) / np.linalg.norm(SUN))
        things: list[tuple[Any, ...]] = [(self._box, (0.0, -0.05, 0.0), (9.0, 0.05, 9.0), (0.11, 0.11, 0.12))]
        for x, z in ((-1.1, -0.7), (0.1, -0.8), (1.1, -0.5)):
            things.append((self._box, (x, 0.5, z), (0.1, 0.5, 0.1), (0.3, 0.26, 0.21)))
        things.append((self._ball, self.ball(time), (0.25,) * 3, (0.75, 0.16, 0.08)))
        for shape, place, size, color in things:
            program["place"].value, program["size"].value, program["color"].value = place, size, color
            shape.render()

    def show(self, window: moderngl.Framebuffer) -> None:
        """Tone map the picture to a window."""
        window.use()
        self.ctx.enable_only(moderngl.NOTHING)
        self._color.use(0)
        self._tone.render(moderngl.TRIANGLES, vertices=3)

    def save(self, window: moderngl.Framebuffer, path: str) -> None:
        """Write what a window shows."""
        pixels = np.frombuffer(window.read((0, 0, *self.size), 3, alignment=1), np.uint8)
        _ = self.ctx.error  # moderngl's reading of a window leaves one
        write_png(path, pixels.reshape(self.size[1], self.size[0], 3)[::-1], overwrite=True)


def look_at(eye: tuple[float, ...], target: tuple[float, ...]) -> NDArray[np.float64]:
    """The view matrix, left of column vectors."""
    back = np.subtract(eye, target) / np.linalg.norm(np.subtract(eye, target))
    right = np.cross((0, 1, 0), back)
    right /= np.linalg.norm(right)
    view = np.eye(4)
    view[:3, :3] = right, np.cross(back, right), back
    view[:3, 3] = -view[:3, :3] @ eye
    return view


def perspective(degrees: float, aspect: float, near: float = 0.1, far: float = 30.0) -> NDArray[np.float64]:
    """The projection matrix, left of column vectors."""
    f = 1.0 / math.tan(math.radians(degrees) / 2)
    depth = (near + far) / (near - far), 2.0 * near * far / (near - far)
    return np.array([(f / aspect, 0, 0, 0), (0, f, 0, 0), (0, 0, *depth), (0, 0, -1, 0)])


def options() -> argparse.Namespace:
    """What the command line asks for: --frames N ends after N frames, --shot FILE writes the last one."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--frames", type=int, default=None)
    parser.add_argument("--shot", default=None)
    return parser.parse_args()
