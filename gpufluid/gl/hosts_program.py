"""A shader program that a host made without moderngl, known by the name that OpenGL gave it."""

from __future__ import annotations

import ctypes
from typing import Any

import moderngl
import numpy as np

from gpufluid.common.errors import GpufluidError
from gpufluid.gl import enums
from gpufluid.gl.calls import calls

# by OpenGL's name of a type: the numbers in a value, and the letter of what sets it; first vectors of 2, 3
# and 4 floats, whole numbers and flags
KINDS = {
    first + n: (2 + n, letter)
    for first, letter in ((0x8B50, "f"), (0x8B53, "i"), (0x8B57, "i"))
    for n in range(3)
} | {
    enums.FLOAT: (1, "f"),
    enums.FLOAT_MAT4: (16, "f"),
    enums.INT: (1, "i"),
    enums.BOOL: (1, "i"),
    enums.SAMPLER_2D: (1, "i"),
}


class HostsUniform:
    """One of its uniforms, which is set as one of moderngl's is."""

    def __init__(self, program: HostsProgram, location: int, kind: int, array_length: int) -> None:
        self._program, self._location, self.array_length = program, location, array_length
        self.dimension, self._letter = KINDS[kind]

    def write(self, data: bytes) -> None:
        """Set it by its bytes."""
        gl = self._program.gl
        matrix = self.dimension == 16
        name = "glUniformMatrix4fv" if matrix else f"glUniform{self.dimension}{self._letter}v"
        before = gl.integers(enums.CURRENT_PROGRAM)[0]
        gl.glUseProgram(self._program.glo)
        count = len(data) // (4 * self.dimension)
        getattr(gl, name)(self._location, count, *((0,) if matrix else ()), data)
        gl.glUseProgram(before)

    def set(self, value: Any) -> None:
        """Set it by a number, or by the numbers of all of it."""
        self.write(np.ascontiguousarray(value, np.float32 if self._letter == "f" else np.int32).tobytes())


class HostsProgram:
    """Its uniforms by their names, as a moderngl.Program has them. glo: its name, of a linked program."""

    def __init__(self, ctx: moderngl.Context, glo: int) -> None:
        self.glo, self.gl = glo, calls(ctx)

    def check(self, what: str) -> None:
        """Raise GpufluidError where there is no such program, or not linked. what: the call of the user's."""
        linked = ctypes.c_int()
        if not self.gl.glIsProgram(self.glo):
            raise GpufluidError(f"{what}: this GL context has no program {self.glo}")
        self.gl.glGetProgramiv(self.glo, enums.LINK_STATUS, ctypes.byref(linked))
        if not linked.value:
            raise GpufluidError(f"{what}: the program {self.glo} is not linked")

    def get(self, name: str, default: Any = None) -> Any:
        """The uniform of that name; `default` where it has none, or the compiler left it out."""
        # an array answers to the name of its first
        location = self.gl.glGetUniformLocation(self.glo, name.encode())
        if location < 0:
            return default
        index, size, kind = (ctypes.c_uint * 1)(), ctypes.c_int(), ctypes.c_uint()
        names = (ctypes.c_char_p * 1)(name.encode())
        self.gl.glGetUniformIndices(self.glo, 1, names, index)
        self.gl.glGetActiveUniform(self.glo, index[0], 0, None, ctypes.byref(size), ctypes.byref(kind), None)
        return HostsUniform(self, location, kind.value, size.value)

    def __contains__(self, name: str) -> bool:
        return bool(self.gl.glGetUniformLocation(self.glo, name.encode()) >= 0)
