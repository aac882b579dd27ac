"""Whether a draw or a dispatch reads what it writes, which OpenGL leaves undefined and software does.

Of each program that runs: which textures its samplers and images would read, and what hangs in the
framebuffer drawn to or is stored to (OpenGL 4.6, 9.3.1).
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import moderngl
from host import Host

# OpenGL's types of samplers, and what tells which texture is bound for them; and of images
BINDINGS = {0x8B5E: 0x8069, 0x8B62: 0x8069, 0x8DD2: 0x8069, 0x9108: 0x9104}
IMAGES = range(0x904C, 0x906D)
READ_ONLY = 0x88B8


def _hung(host: Host) -> dict[int, str]:
    """The textures in the framebuffer drawn to."""
    found: dict[int, str] = {}
    if host.number(0x8CA6)[0]:
        drawn = [int(host.number(0x8825 + n)[0]) for n in range(8)]
        for place in (*filter(None, drawn), 0x8D00):
            kind, name = (ctypes.c_int * 1)(), (ctypes.c_int * 1)()
            host("glGetFramebufferAttachmentParameteriv", 0x8CA9, place, 0x8CD0, kind)
            if kind[0] == 0x1702:
                host("glGetFramebufferAttachmentParameteriv", 0x8CA9, place, 0x8CD1, name)
                found[name[0]] = f"what hangs at 0x{place:04X}"
    return found


@contextmanager
def nothing_read(ctx: moderngl.Context, monkeypatch: Any) -> Iterator[list[int]]:
    """Fail where what is written is read while the body runs. Yields how many textures each run may read."""
    host, counts, wrong = Host(ctx), list[int](), list[str]()

    def look(program: moderngl.Program | moderngl.ComputeShader) -> None:
        members = [(name, program[name]) for name in program]
        uniforms = [(name, one) for name, one in members if isinstance(one, moderngl.Uniform)]
        written: dict[int, str] = {} if isinstance(program, moderngl.ComputeShader) else _hung(host)
        read: list[tuple[str, int]] = []
        for name, one in uniforms:
            if one.gl_type in IMAGES:
                texture, access = (int(host.number(what, 1, one.value)[0]) for what in (0x8F3A, 0x8F3E))
                if access != READ_ONLY:
                    written[texture] = f"the image {name}"
                else:
                    read.append((name, texture))
        active = int(host.number(0x84E0)[0])
        for name, one in uniforms:
            if one.gl_type in BINDINGS:
                host("glActiveTexture", 0x84C0 + one.value)
                read.append((name, int(host.number(BINDINGS[one.gl_type])[0])))
        host("glActiveTexture", active)
        counts.append(len(read))
        for name, texture in read:
            if texture in written:
                wrong.append(f"{name} of {program.glo} is {written[texture]}")

    def watched(kind: type, name: str) -> None:
        run = getattr(kind, name)

        def runs(thing: Any, *given: Any, **more: Any) -> Any:
            look(thing.program if kind is moderngl.VertexArray else thing)
            return run(thing, *given, **more)

        monkeypatch.setattr(kind, name, runs)

    with monkeypatch.context() as monkeypatch:
        watched(moderngl.VertexArray, "render")
        watched(moderngl.ComputeShader, "run")
        watched(moderngl.ComputeShader, "run_indirect")
        yield counts
    host.release()
    assert not wrong, sorted(set(wrong))
