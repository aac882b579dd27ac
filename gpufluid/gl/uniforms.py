"""Uniforms set by their names, for every program: kernels', pictures' and a host's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import moderngl
import numpy as np

from gpufluid.gl.hosts_program import HostsProgram, HostsUniform

if TYPE_CHECKING:
    from gpufluid.gl.device import Device


def upload(uniform: moderngl.Uniform | HostsUniform, value: Any) -> None:
    """Set a uniform from a number, a tuple, a 4x4 matrix (row by row), an array of vec4, or its bytes.

    A compiler may cut off the end of an array that a kernel does not read.
    """
    if isinstance(value, bytes):
        uniform.write(value[: 4 * uniform.dimension * uniform.array_length])
    elif isinstance(value, np.ndarray):
        matrix = value.T if uniform.dimension == 16 else value[: uniform.array_length]
        uniform.write(np.ascontiguousarray(matrix, np.float32).tobytes())
    elif isinstance(uniform, HostsUniform):
        uniform.set(value)
    else:
        uniform.value = value


def give(
    program: moderngl.Program | moderngl.ComputeShader | HostsProgram, values: Mapping[str, Any]
) -> None:
    """Set the uniforms of those names that a compiler has left in `program`."""
    for name, value in values.items():
        member = program.get(name, None)
        if isinstance(member, moderngl.Uniform | HostsUniform):
            upload(member, value)


def give_once(
    device: Device, program: moderngl.Program | moderngl.ComputeShader, name: str, values: Mapping[str, Any]
) -> None:
    """The same, unless these very `values` are what `program` was given last under `name`."""
    sent = device.sent(program)
    if sent.get(name) is not values:
        give(program, values)
        sent[name] = values
