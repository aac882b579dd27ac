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
SUN = -0.5, -0.42, 0.62  # the way its light travels
PILLARS = (-1.25, -0.75), (-0.1, -0.85), (1.0, -0.7)  # m: x and z

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
uniform mat4 view;
uniform vec3 sun, color, ball;
uniform vec2 pillars[3];
in vec3 at, facing;
out vec4 seen;
SMOKE
vec3 sky(vec3 way) {
    vec3 haze = mix(vec3(0.15, 0.09, 0.075), vec3(0.01, 0.04, 0.07), smoothstep(-0.02, 0.2, way.y));
    return haze + vec3(2.2, 0.75, 0.15) * pow(max(dot(way, -sun), 0.0), 8.0);
}
float past_solids() {  // the sun's light, with the soft edges of shadows thrown from far off
    vec3 to = ball - at;
    float far = max(-dot(to, sun), 0.0), soft = 0.01 + 0.04 * far;
    float lit = far == 0.0 ? 1.0 : smoothstep(-soft, soft, length(to + far * sun) - 0.25);
    for (int i = 0; i < 3; ++i) {
        vec2 apart = pillars[i] - at.xz;
        far = max(-dot(apart, sun.xz) / dot(sun.xz, sun.xz), 0.0);
        soft = 0.01 + 0.04 * far;
        float beside = smoothstep(-soft, soft, length(apart + far * sun.xz) - 0.1);
        lit *= far < 0.02 ? 1.0 : max(smoothstep(0.95, 1.05, at.y - far * sun.y), beside);
    }
    return lit;
}
void main() {
    vec3 eye = inverse(view)[3].xyz, way = normalize(at - eye), normal = normalize(facing), to = ball - at;
    vec2 tile = abs(fract(at.xz * 2.0) - 0.5), width = 2.0 * fwidth(at.xz) + 0.008;
    vec2 joint = smoothstep(0.5 - width, vec2(0.5), tile);
    float floor_light = at.y > 0.001 ? 1.0 : 1.0 - 0.6 * max(joint.x, joint.y);
    float open = 1.0 - max(dot(normal, normalize(to)), 0.0) * min(0.0625 / dot(to, to), 1.0);  // of the sky
    float sunlight = past_solids() * gpufluid_sunlight_at(at);
    float mirrored = 0.04 + 0.5 * pow(1.0 - max(dot(normal, -way), 0.0), 5.0);  // as Schlick 1994
    float glint = 12.0 * pow(max(dot(reflect(way, normal), -sun), 0.0), 60.0) * sunlight;
    vec3 around = mix(vec3(0.09, 0.06, 0.05), vec3(0.04, 0.085, 0.15), 0.5 + 0.5 * normal.y);
    vec3 light = vec3(4.2, 2.5, 1.2) * max(dot(normal, -sun), 0.0) * sunlight + around * open;
    vec3 near = color * floor_light * light + mirrored * (open * sky(reflect(way, normal)) + glint);
    seen = vec4(mix(near, sky(way), smoothstep(3.0, 9.0, length(at.xz))), 1.0);  // far off all is haze
}"""
WHOLE = """#version 330 core
void main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0); }"""
TONE = """#version 330 core
uniform sampler2D picture;
uniform ivec2 window;  // pixels: more than the picture has on a fine screen
out vec4 seen;
void main() {
    vec3 light = texelFetch(picture, ivec2(gl_FragCoord.xy) * textureSize(picture, 0) / window, 0).rgb;
    seen = vec4(pow(light / (1.0 + 0.6 * light), vec3(1.0 / 2.2)), 1.0);
}"""


def mesh(rows: int, columns: int, square: float = 1.0) -> NDArray[np.float32]:
    """Corners and normals of a ball of radius 1 as triangles, [n, 6]; a cylinder where `square` is near 0."""
    out = []

    def at(row: int, column: int) -> list[float]:
        a, b = math.pi * row / rows, math.tau * column / columns
        around, up = math.sin(a), math.cos(a)
        place, normal = (
            [around**n * math.cos(b), math.copysign(abs(up) ** n, up), around**n * math.sin(b)]
            for n in (square, 2.0 - square)
        )
        return [*place, *normal]

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
        self._ball, self._column = (
            ctx.vertex_array(self.program, [(ctx.buffer(made), "3f 3f", "corner", "normal")])
            for made in (mesh(24, 48), mesh(24, 48, 0.05))
        )
        self._tone: Any = ctx.program(vertex_shader=WHOLE, fragment_shader=TONE)
        self._window = ctx.vertex_array(self._tone, [])
        self.camera = look_at((0.75, 0.8, 3.0), (-0.05, 0.5, 0.0)), perspective(36.0, size[0] / size[1])

    def ball(self, time: float) -> tuple[float, float, float]:
        """Where the ball is, metres."""
        return 0.75 * math.sin(1.6 * time), 0.25, 0.35 * math.sin(3.2 * time)

    def draw(self, time: float) -> None:
        """Draw all of it; as most programs do, it sets what it needs and leaves it so."""
        ctx, program = self.ctx, self.program
        self.framebuffer.use()
        ctx.enable_only(moderngl.DEPTH_TEST)
        ctx.clear()
        program["view"].write(self.camera[0].T.astype("f4").tobytes())
        program["projection"].write(self.camera[1].T.astype("f4").tobytes())
        program["sun"].value = tuple(np.array(SUN) / np.linalg.norm(SUN))
        program["ball"].value, program["pillars"].value = self.ball(time), PILLARS
        things: list[tuple[Any, ...]] = [
            (self._ball, (0.0, 0.0, 0.0), (20.0,) * 3, (0.0, 0.0, 0.0)),  # the sky: far off
            (self._column, (0.0, -0.05, 0.0), (10.0, 0.05, 10.0), (0.1, 0.1, 0.1)),
            (self._ball, self.ball(time), (0.25,) * 3, (0.6, 0.05, 0.03)),
        ]
        things += [(self._column, (x, 0.5, z), (0.1, 0.5, 0.1), (0.42, 0.33, 0.25)) for x, z in PILLARS]
        for shape, place, size, color in things:
            program["place"].value, program["size"].value, program["color"].value = place, size, color
            shape.render()

    def show(self, window: moderngl.Framebuffer) -> None:
        """Tone map the picture to all of a window."""
        window.use()
        self._tone["window"].value = window.viewport[2:]
        self.ctx.enable_only(moderngl.NOTHING)
        self._color.use(0)
        self._window.render(moderngl.TRIANGLES, vertices=3)

    def save(self, window: moderngl.Framebuffer, path: str) -> None:
        """Write what a window shows."""
        width, height = window.viewport[2:]
        pixels = np.frombuffer(window.read((0, 0, width, height), 3, alignment=1), np.uint8)
        _ = self.ctx.error  # moderngl's reading of a window leaves one
        write_png(path, pixels.reshape(height, width, 3)[::-1], overwrite=True)


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
