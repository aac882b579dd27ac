"""A host with unusual habits: sets every piece of GL state to something odd, and asks for all of it.

The names and numbers are those of the OpenGL 4.5 specification, tables 23.3 to 23.74; nothing of the
engine's own list is used.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import moderngl
import numpy as np

N, U, F, B, P, D = (
    ctypes.c_int,
    ctypes.c_uint,
    ctypes.c_float,
    ctypes.c_ubyte,
    ctypes.c_void_p,
    ctypes.c_double,
)
UNITS = 32
NUMBERS = {
    "active texture": (0x84E0, 1),
    "alignment of packing": (0x0D05, 1),
    "alignment of unpacking": (0x0CF5, 1),
    "array buffer": (0x8894, 1),
    "blend colour": (0x8005, 4),
    "clamp of reads": (0x891C, 1),
    "clear colour": (0x0C22, 4),
    "clear depth": (0x0B73, 1),
    "clear stencil": (0x0B91, 1),
    "copy read buffer": (0x8F36, 1),
    "copy write buffer": (0x8F37, 1),
    "cull face": (0x0B45, 1),
    "depth function": (0x0B74, 1),
    "depth range": (0x0B70, 2),
    "depth mask": (0x0B72, 1),
    "draw framebuffer": (0x8CA6, 1),
    "front face": (0x0B46, 1),
    "line width": (0x0B21, 1),
    "logic operation": (0x0BF0, 1),
    "pack buffer": (0x88ED, 1),
    "point fade": (0x8128, 1),
    "point origin": (0x8CA0, 1),
    "point size": (0x0B11, 1),
    "polygon mode": (0x0B40, 1),
    "polygon offset factor": (0x8038, 1),
    "polygon offset units": (0x2A00, 1),
    "primitive restart index": (0x8F9E, 1),
    "program": (0x8B8D, 1),
    "provoking vertex": (0x8E4F, 1),
    "read framebuffer": (0x8CAA, 1),
    "renderbuffer": (0x8CA7, 1),
    "sample coverage": (0x80AA, 1),
    "sample coverage inverted": (0x80AB, 1),
    "scissor box": (0x0C10, 4),
    "stencil, back": (0x8800, 1),
    "stencil, front": (0x0B92, 1),
    "stencil mask, back": (0x8CA5, 1),
    "stencil mask, front": (0x0B98, 1),
    "stencil reference": (0x0B97, 1),
    "stencil value mask": (0x0B93, 1),
    "stencil fail": (0x0B94, 1),
    "stencil depth pass": (0x0B96, 1),
    "transform feedback buffer": (0x8C8F, 1),
    "uniform buffer": (0x8A28, 1),
    "unpack buffer": (0x88EF, 1),
    "vertex array": (0x85B5, 1),
    "viewport": (0x0BA2, 4),
} | {
    f"{way} {what}": (first + n, 1)
    for way, first in (("pack", 0x0D00), ("unpack", 0x0CF0))
    for n, what in enumerate(("swap", "lsb", "row length", "skip rows", "skip pixels"))
} | {
    "pack skip images": (0x806B, 1),
    "pack image height": (0x806C, 1),
    "unpack skip images": (0x806D, 1),
    "unpack image height": (0x806E, 1),
}  # fmt: skip
NUMBERS_40 = {
    "patch vertices": (0x8E72, 1),
    "least sample shading": (0x8C37, 1),
    "transform feedback": (0x8E25, 1),
}
NUMBERS_43 = {"dispatch buffer": (0x90EF, 1), "draw buffer": (0x8F43, 1), "storage buffer": (0x90D3, 1)}
NUMBERS_45 = {"clip origin": (0x935C, 1), "clip depth": (0x935D, 1)}
SWITCHES = {
    "colour logic": 0x0BF2,
    "cull face": 0x0B44,
    "depth clamp": 0x864F,
    "depth test": 0x0B71,
    "discard": 0x8C89,
    "dither": 0x0BD0,
    "line smooth": 0x0B20,
    "multisample": 0x809D,
    "point size": 0x8642,
    "offset fill": 0x8037,
    "offset line": 0x2A02,
    "offset point": 0x2A01,
    "polygon smooth": 0x0B41,
    "primitive restart": 0x8F9D,
    "alpha to coverage": 0x809E,
    "alpha to one": 0x809F,
    "sample coverage": 0x80A0,
    "sample mask": 0x8E51,
    "seamless": 0x884F,
    "srgb": 0x8DB9,
    "stencil": 0x0B90,
} | {f"clip distance {n}": 0x3000 + n for n in range(8)}
SWITCHES_40 = {"sample shading": 0x8C36}
SWITCHES_43 = {"fixed restart": 0x8D69}
TEXTURES = {
    "2D": 0x8069,
    "3D": 0x806A,
    "cube": 0x8514,
    "array": 0x8C1D,
    "buffer": 0x8C2C,
    "multisample": 0x9104,
}


class Host:
    """A context and what its owner has bound in it."""

    def __init__(self, ctx: moderngl.Context) -> None:
        self.ctx, self.version = ctx, ctx.version_code
        self._load = ctx.mglo._context.load_opengl_function
        self.buffers = self.number(0x8824)[0]
        self.viewports = self.number(0x825B)[0] if self.version >= 410 else 1
        pixel = np.zeros((4, 4, 4), np.float32)
        self.texture = ctx.texture((4, 4), 4, pixel, dtype="f4")
        self.volume = ctx.texture3d((2, 2, 2), 4, np.zeros(32, np.float32), dtype="f4")
        self.samples = ctx.texture((4, 4), 4, samples=4)
        self.sampler = ctx.sampler(filter=(moderngl.LINEAR, moderngl.LINEAR))
        self.buffer = ctx.buffer(bytes(1 << 16))
        self.render = ctx.renderbuffer((8, 8))
        self.drawn = [ctx.texture((8, 8), 4) for _ in range(2)]
        self.targets = [ctx.framebuffer([texture]) for texture in self.drawn]
        self.program = ctx.program(
            vertex_shader="#version 330\nvoid main() { gl_Position = vec4(0.0); }",
            fragment_shader="#version 330\nout vec4 c;\nvoid main() { c = vec4(1.0); }",
        )
        self.vertices = ctx.vertex_array(self.program, [])

    @property
    def textures(self) -> set[int]:
        """The names of what it leaves at texture units; 0: nothing."""
        return {0, self.texture.glo, self.volume.glo, self.samples.glo}

    def __call__(self, name: str, *arguments: Any) -> Any:
        """Call OpenGL: integers, or arguments of ctypes."""
        given = [a if isinstance(a, ctypes._SimpleCData | ctypes.Array) else N(a) for a in arguments]
        kinds = [P if isinstance(a, ctypes.Array) else type(a) for a in given]
        result = B if name.startswith("glIs") else U if name == "glGetError" else None
        return self.function(name, result, *kinds)(*given)

    def function(self, name: str, result: Any, *kinds: Any) -> Any:
        """A function of OpenGL's that is called often."""
        return ctypes.CFUNCTYPE(result, *kinds)(self._load(name))

    def number(self, name: int, count: int = 1, index: int | None = None) -> tuple[float, ...]:
        """Ask for numbers."""
        out = (D * 16)() if index is None else (N * 16)()
        self(*(("glGetDoublev", name) if index is None else ("glGetIntegeri_v", name, index)), out)
        return tuple(out[:count]) if index is not None else tuple(round(v, 6) for v in out[:count])

    def state(self) -> dict[str, Any]:
        """All that can be asked for, by a name to print."""
        numbers, switches = dict(NUMBERS), dict(SWITCHES)
        if self.version >= 400:
            numbers, switches = numbers | NUMBERS_40, switches | SWITCHES_40
        if self.version >= 430:
            numbers, switches = numbers | NUMBERS_43, switches | SWITCHES_43
        if self.version >= 450:
            numbers |= NUMBERS_45
        out: dict[str, Any] = {name: self.number(*what) for name, what in numbers.items()}
        out |= {f"enabled: {name}": self("glIsEnabled", what) for name, what in switches.items()}
        for n in range(int(self.buffers)):
            out[f"blend {n}"] = self("glIsEnabledi", 0x0BE2, n)
            out[f"colour mask {n}"] = self.number(0x0C23, 4, n)
            if self.version >= 400:
                names = 0x80C9, 0x80C8, 0x80CB, 0x80CA, 0x8009, 0x883D
                out[f"blending {n}"] = [self.number(name, 1, n) for name in names]
        if self.version < 400:
            out["blending"] = [self.number(n) for n in (0x80C9, 0x80C8, 0x80CB, 0x80CA, 0x8009, 0x883D)]
        for n in range(int(self.viewports)):
            out[f"scissor {n}"] = self("glIsEnabledi", 0x0C11, n)
            if self.version >= 410:
                out[f"viewport {n}"] = [self.number(name, 4, n) for name in (0x0BA2, 0x0C10)]
        for n in range(8):
            if self.version >= 420:
                names = 0x8F3A, 0x8F3B, 0x8F3C, 0x8F3D, 0x8F3E, 0x906E
                out[f"image {n}"] = [self.number(name, 1, n) for name in names]
            if self.version >= 430:
                out[f"storage {n}"] = self.number(0x90D3, 1, n)
            out[f"uniform {n}"] = self.number(0x8A28, 1, n)
        unit = self.number(0x84E0)[0]
        for n in range(UNITS):
            self("glActiveTexture", 0x84C0 + n)
            out[f"textures {n}"] = {name: self.number(what) for name, what in TEXTURES.items()}
            out[f"sampler {n}"] = self.number(0x8919)
        self("glActiveTexture", int(unit))
        return out

    def be_odd(self) -> None:
        """Set everything to what nobody expects."""
        gl, version = self, self.version
        while gl("glGetError"):  # of whoever was here before
            pass
        for n in range(UNITS):
            self.texture.use(n)
            self.volume.use(n)
            self.samples.use(n)
            self.sampler.use(n)
        gl("glActiveTexture", 0x84C0 + 5)
        for name in (0x0CF0, 0x0D00):
            for n, value in enumerate((1, 1, 7, 1, 2, 8)):
                gl("glPixelStorei", name + n, value)
        for n, name in enumerate((0x806B, 0x806C, 0x806D, 0x806E)):
            gl("glPixelStorei", name, n + 1)
        glo = self.buffer.glo
        for target in (0x8892, 0x88EB, 0x88EC, 0x8F36, 0x8F37):
            gl("glBindBuffer", target, glo)
        for n in range(4):
            gl("glBindBufferBase", 0x8A11, n, glo)
        gl("glClampColor", 0x891C, 1)
        gl("glClearColor", F(0.1), F(0.2), F(0.3), F(0.4))
        gl("glClearDepth", D(0.25))
        gl("glClearStencil", 3)
        gl("glBlendColor", F(0.4), F(0.3), F(0.2), F(0.1))
        gl("glCullFace", 0x0404)
        gl("glFrontFace", 0x0900)
        gl("glDepthFunc", 0x0205)
        gl("glDepthRange", D(0.1), D(0.9))
        gl("glDepthMask", B(0))
        gl("glLogicOp", 0x150A)
        gl("glPointParameterf", 0x8128, F(2.0))
        gl("glPointParameteri", 0x8CA0, 0x8CA1)
        gl("glPointSize", F(3.0))
        gl("glPolygonMode", 0x0408, 0x1B01)
        gl("glPolygonOffset", F(1.5), F(2.5))
        gl("glPrimitiveRestartIndex", 7)
        gl("glProvokingVertex", 0x8E4D)
        gl("glBindFramebuffer", 0x8CA9, self.targets[0].glo)
        gl("glBindFramebuffer", 0x8CA8, self.targets[1].glo)
        gl("glBindRenderbuffer", 0x8D41, self.render.glo)
        gl("glSampleCoverage", F(0.75), B(1))
        gl("glStencilFuncSeparate", 0x0404, 0x0204, 1, U(0x0F))
        gl("glStencilFuncSeparate", 0x0405, 0x0206, 2, U(0xF0))
        gl("glStencilMaskSeparate", 0x0404, U(0x33))
        gl("glStencilMaskSeparate", 0x0405, U(0x55))
        gl("glStencilOpSeparate", 0x0404, 0x1E01, 0x1E02, 0x1E03)
        gl("glUseProgram", self.program.glo)
        gl("glBindVertexArray", self.vertices.glo)
        for switch in SWITCHES.values():
            gl("glEnable", switch)
        gl("glDisable", 0x0BD0)
        gl("glDisable", 0x809D)
        for n in range(int(self.buffers)):
            gl("glColorMaski", n, B(n & 1), B(n >> 1 & 1), B(0), B(0))
            gl("glEnablei" if n % 2 == 0 else "glDisablei", 0x0BE2, n)
            if version >= 400:
                gl("glBlendFuncSeparatei", n, 0x0306, 0x0300, 0x0305, 0x0304)
                gl("glBlendEquationSeparatei", n, 0x800A, 0x8007 + n % 2)
        if version < 400:
            gl("glBlendFuncSeparate", 0x0306, 0x0300, 0x0305, 0x0304)
            gl("glBlendEquationSeparate", 0x800A, 0x8007)
        gl("glViewport", 3, 2, 5, 4)
        gl("glScissor", 1, 2, 3, 4)
        if version >= 400:
            gl("glEnable", 0x8C36)
            gl("glMinSampleShading", F(0.5))
            gl("glPatchParameteri", 0x8E72, 5)
        if version >= 410:
            for n in range(1, int(self.viewports)):
                gl("glViewportIndexedf", n, F(n), F(1), F(n + 2.5), F(3))
                gl("glScissorIndexed", n, n, 1, 2, 3)
                gl("glEnablei" if n % 3 else "glDisablei", 0x0C11, n)
        gl("glEnablei", 0x0C11, 0)
        if version >= 420:
            for n in range(8):
                gl("glBindImageTexture", n, self.texture.glo, 0, B(0), 0, 0x88BA, 0x8814)
        if version >= 430:
            gl("glEnable", 0x8D69)
            for target in (0x90EE, 0x8F3F):
                gl("glBindBuffer", target, glo)
            for n in range(4):
                gl("glBindBufferBase", 0x90D2, n, glo)
        if version >= 450:
            gl("glClipControl", 0x8CA2, 0x935F)  # upper left, depth from 0
        assert gl("glGetError") == 0

    @contextmanager
    def oddly(self, depths: bool = True) -> Iterator[None]:
        """Nothing that happens inside may change what can be asked for.

        depths: also what clip space and depths mean, which a host's matrices and its depth buffer go with.
        """
        self.be_odd()
        if not depths:
            self("glDepthRange", D(0.0), D(1.0))
            if self.version >= 450:
                self("glClipControl", 0x8CA1, 0x935E)
        before = self.state()
        yield
        after = self.state()
        changed = {name: (before[name], after[name]) for name in before if before[name] != after[name]}
        assert not changed
        assert self("glGetError") == 0

    def be_plain(self) -> None:
        """OpenGL's own values again."""
        gl, version = self, self.version
        for switch in (*SWITCHES.values(), 0x0BE2, 0x0C11):
            gl("glDisable", switch)
        gl("glEnable", 0x0BD0)
        gl("glEnable", 0x809D)
        for name in (0x0CF0, 0x0D00):
            for n, value in enumerate((0, 0, 0, 0, 0, 4)):
                gl("glPixelStorei", name + n, value)
        for name in (0x806B, 0x806C, 0x806D, 0x806E):
            gl("glPixelStorei", name, 0)
        for target in (0x8892, 0x88EB, 0x88EC, 0x8F36, 0x8F37):
            gl("glBindBuffer", target, 0)
        gl("glClampColor", 0x891C, 0x891D)
        for name, value in (("glCullFace", 0x0405), ("glFrontFace", 0x0901), ("glDepthFunc", 0x0201)):
            gl(name, value)
        gl("glDepthRange", D(0.0), D(1.0))
        gl("glDepthMask", B(1))
        gl("glColorMask", B(1), B(1), B(1), B(1))
        gl("glPointSize", F(1.0))
        gl("glPolygonMode", 0x0408, 0x1B02)
        gl("glProvokingVertex", 0x8E4E)
        for n in range(UNITS):
            gl("glBindSampler", n, 0)
        if version >= 400:
            gl("glDisable", 0x8C36)
        if version >= 430:
            gl("glDisable", 0x8D69)
        if version >= 450:
            gl("glClipControl", 0x8CA1, 0x935E)

    def release(self) -> None:
        """Release what was made."""
        self.be_plain()
        for thing in (self.vertices, self.program, *self.targets, self.render, self.buffer, self.sampler):
            thing.release()
        for texture in (*self.drawn, self.volume, self.texture, self.samples):
            texture.release()
