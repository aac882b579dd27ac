"""One OpenGL context as the engine sees it: what it can do, its programs, and the textures made in it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeVar
from weakref import WeakSet

import moderngl

from gpufluid.common.debugging import switches
from gpufluid.common.errors import GLUnavailableError, GpufluidError, one_of
from gpufluid.common.memory import free_memory
from gpufluid.common.stops import unbroken
from gpufluid.contract.backend import Pace, release
from gpufluid.gl.calls import a_context, calls
from gpufluid.gl.capabilities import IMAGE_FORMAT, capabilities
from gpufluid.gl.contexts import check_process, names_software
from gpufluid.gl.fences import clear, fences
from gpufluid.gl.measuring import Measured
from gpufluid.gl.messages import take
from gpufluid.gl.programs import Programs, compiled
from gpufluid.gl.source import FULLSCREEN, Source
from gpufluid.gl.ways import BACKENDS, by_rule, check

OWN_VARYINGS = 16  # numbers that vertex shaders tell fragments beside uniforms
GROUP = 8  # edge of a compute workgroup, texels


AnyProgram = TypeVar("AnyProgram", bound="moderngl.Program | moderngl.ComputeShader")


class Device(Measured):
    """A context, the shader stage the kernels run in, and how they read a texel.

    backend: "compute" (GL 4.3), "fragment" (GL 3.3), or "auto". reading: "image" (imageLoad), "nearest"
    (texture() at texel centres) or "texel" (texelFetch), which all give the same bits. What is left open goes
    by the rules of `gpufluid.gl.ways`, by the renderer's name alone; fluids ask `gpufluid.gl.trial` before.
    mixed: among fragment passes a few small ones may be dispatched, where that is faster (`dispatches`).
    sweeps, joined: how large boxes go, see `gpufluid.gl.ways.Way`.

    Raises GpufluidError where the context lacks what `backend` asks for, and as `check_process` does.
    """

    def __init__(
        self,
        ctx: moderngl.Context,
        backend: str = "auto",
        reading: str | None = None,
        *,
        mixed: bool = False,
        sweeps: int = 1,
        joined: bool = False,
    ) -> None:
        one_of(backend, BACKENDS, "backend")
        a_context(ctx)
        check_process()
        super().__init__(ctx)
        self.version: int = ctx.version_code
        # not ctx.info: what it asks for beyond the context's version stays behind as a GL error of the host's
        self.renderer = calls(ctx).renderer
        self.software = names_software(self.renderer)
        if self.version < 330:
            raise GpufluidError(f"the context is OpenGL {self.version / 100:.1f}, the engine needs 3.3")
        self.capabilities = capabilities(ctx)
        self.max_texture_size = self.capabilities.max_texture_size
        stage = None if backend == "auto" else backend
        check(self.version, self.renderer, stage)
        rule = by_rule(self.version, self.software, stage)
        self.stage, self.reading = rule.stage, reading or rule.reading
        check(self.version, self.renderer, self.stage, self.reading, sweeps=sweeps, joined=joined)
        self.sweeps, self.joined = sweeps, joined
        #: four values of one channel are read by one textureGather, where a sample needs four: a GPU waits
        #: for its texture units. 4.0 has it, but nobody has tried it in macOS' 4.1.
        self.gathers = not self.software and self.reading != "image" and self.version >= 430
        # llvmpipe has a tile of 64 x 64 texels drawn by one thread, and starts a draw later than a dispatch
        self.dispatches = mixed and self.software and self.stage == "fragment" and self.version >= 430
        self.pace = Pace()
        # Mesa's software renderer starts on a pass when the next one is asked for, which then waits for it:
        # told to start at once, it draws while that is prepared
        if self.software:
            kept = fences(ctx)
            self.flush = calls(ctx).glFlush if kept is None else kept.add
        self.fields: WeakSet[Any] = WeakSet()  # those alive
        self.made: list[Any] | None = None  # those made, while they may have to be given back
        self._shared = compiled.setdefault(ctx, Programs())
        self._shared.users.add(self)
        self._programs = self._shared.by_text
        self.used: set[int] = set()  # programs, by their names in OpenGL
        self._released = False
        self._kept: dict[Hashable, moderngl.Program | moderngl.ComputeShader] = {}
        self._fullscreen: dict[int, moderngl.VertexArray] = {}
        self.linear = self.sampler(filtered=True)
        #: for textures of floats that are read by lib/between.glsl: a filter that the driver lacks reads 0
        self.between = self.sampler(self.capabilities.filters)
        self._blanks: dict[tuple[int, int], moderngl.Texture] = {}

    def fragment_program(
        self, source: Source, vertex: Source | None = None, *, twice: bool = False, handed: bool = False
    ) -> moderngl.Program:
        """Compile a full-screen fragment pass, or one with a vertex shader of its own.

        twice: let a software renderer compile it for the inside of what is drawn and once more for its edges,
        which pays for passes of many texels that compute little. handed: let it run `vertex` to hand uniforms
        on (`Source.handed_on`), which pays where triangles are few and large, as a full-screen one.
        Raises ShaderError naming pass, glsl file and line.
        """
        handed = handed or vertex is None
        vertex = vertex or Source("full screen (vertex)").add(FULLSCREEN, "<stage>")
        if self.software and handed:
            source, vertex = source.handed_on(vertex, self.capabilities.max_varyings - OWN_VARYINGS)
        if self.software and not twice:
            source = source.compiled_once()
        corners, pixels = vertex, source
        return self._compiled(
            corners.text + pixels.text,
            lambda: self.ctx.program(vertex_shader=corners.text, fragment_shader=pixels.text),
            lambda message: corners if "vertex_shader" in message else pixels,
        )

    def compute_program(self, source: Source) -> moderngl.ComputeShader:
        """Compile a compute pass. Raises ShaderError naming pass, glsl file and line."""
        return self._compiled(
            source.text, lambda: self.ctx.compute_shader(source.text), lambda message: source
        )

    def _compiled(
        self, text: str, compile: Callable[[], AnyProgram], blamed: Callable[[str], Source]
    ) -> AnyProgram:
        """The program of that `text`, compiled the first time. blamed: the source that an error is in."""
        if text not in self._programs:
            try:
                with unbroken(None, insist=False):  # a handler that raised in it would kill the process
                    self._programs[text] = compile()
            except moderngl.Error as error:
                take()  # what it says is in the error
                raise blamed(str(error)).explain(str(error)) from None
        program = self._programs[text]
        self.used.add(program.glo)
        return program  # type: ignore[return-value]  # what `compile` of this text returned

    def sent(self, program: moderngl.Program | moderngl.ComputeShader) -> dict[str, Any]:
        """The values of its uniforms that passes have sent and need not send again, by name."""
        return self._shared.sent.setdefault(program.glo, {})

    def take_up(self, program: moderngl.Program | moderngl.ComputeShader) -> None:
        """One pass more runs `program`."""
        self._shared.passes[program.glo] += 1

    def give_up(self, program: moderngl.Program | moderngl.ComputeShader) -> None:
        """One pass less runs `program`, which goes with the last: for what users write anew and anew."""
        shared, name = self._shared, program.glo
        if name in self._fullscreen:
            self._fullscreen.pop(name).release()
        shared.passes[name] -= 1
        if shared.passes[name] > 0:
            return
        shared.forget(program)
        program.release()

    def keep(self, key: Hashable, make: Callable[[], AnyProgram]) -> AnyProgram:
        """Return the program kept under `key`, made the first time: sources are read once, not each frame."""
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]  # type: ignore[return-value]  # what `make` of this key returned

    def program_of(
        self,
        label: str,
        fragment: str,
        vertex: str | None = None,
        macros: Mapping[str, object] | None = None,
    ) -> moderngl.Program:
        """Return the program of files of the shader folder that know of no fluid; compiled once.

        vertex: None covers the viewport. macros: of the fragment shader, the same whenever `label` is asked
        for. Raises as `fragment_program` does.
        """

        def make() -> moderngl.Program:
            source = Source(label, 330).define(macros or {}).include(fragment)
            corners = None if vertex is None else Source(f"{label} (vertex)", 330).include(vertex)
            return self.fragment_program(source, corners)

        return self.keep((label, fragment, vertex), make)

    def sampler(self, filtered: bool) -> moderngl.Sampler:
        """Create a sampler that does not repeat: of what is `filtered` between texels, or of the nearest."""
        kind = moderngl.LINEAR if filtered else moderngl.NEAREST
        return self.ctx.sampler(filter=(kind, kind), repeat_x=False, repeat_y=False)

    def blank(self, size: tuple[int, int] = (1, 1)) -> moderngl.Texture:
        """For a sampler that has nothing to read now, in place of a texture of `size`: four floats a texel.

        A driver may compile a pass anew for another format or size, and warns of no texture at all.
        """
        if size not in self._blanks:
            # in the midst of a step, where no error is asked for: a host's stays the host's
            made = self._blanks[size] = self.ctx.texture(size, 4, dtype="f4")
            made.filter = moderngl.NEAREST, moderngl.NEAREST
            made.repeat_x = made.repeat_y = False
        return self._blanks[size]

    @property
    def watched(self) -> bool:
        """Whether more is asked of each pass than to run: to be timed, counted, cut or looked at."""
        return (
            self.timings is not None
            or self.moved is not None
            or self.pace.pacer is not None
            or switches.numbers
        )

    @property
    def small_stage(self) -> str:
        """The shader stage that small passes run in."""
        return "compute" if self.dispatches else self.stage

    @property
    def defines(self) -> dict[str, int]:
        """The macros of what the driver can do."""
        return {"FILTERING": int(self.capabilities.filters), "ROLLED": int(self.software), "GATHERED": 0}

    @property
    def field_bytes(self) -> int:
        """Bytes of GPU memory that the fields made on it hold."""
        return sum(field.nbytes for field in self.fields)

    def fullscreen(self, program: moderngl.Program) -> moderngl.VertexArray:
        """The triangle that covers the target, for `program`."""
        if program.glo not in self._fullscreen:
            self._fullscreen[program.glo] = self.ctx.vertex_array(program, [])
        return self._fullscreen[program.glo]

    def cover(self, program: moderngl.Program) -> None:
        """Draw `program` over the whole viewport of the target in use."""
        self.fullscreen(program).render(moderngl.TRIANGLES, vertices=3)
        if self.flush is not None:
            self.flush()

    def kept_as(self, components: int, dtype: str, what: str) -> str:
        """The numbers that a texture of `what` is kept in: `dtype`, or single precision in place of half.

        Raises GLUnavailableError naming the format where the driver draws to neither.
        """
        for kind in (dtype, "f4"):
            if (components, kind) in self.capabilities.drawn or kind == "f1":
                return kind
        name = IMAGE_FORMAT[components, "f4"].upper()
        raise GLUnavailableError(
            f"{what} needs textures of the format {name} that can be drawn to, and "
            f'{self.renderer} has none: another driver may, and backend="numpy" needs no OpenGL'
        )

    def texture(self, size: tuple[int, int], components: int, dtype: str, what: str) -> moderngl.Texture:
        """Create a texture that reads nearest texels and does not repeat; of single floats where it must be.

        Raises GpufluidError over the driver's limit: moderngl itself stays silent there.
        """
        dtype = self.kept_as(components, dtype, what)
        if max(size) > self.max_texture_size:
            raise GpufluidError(
                f"{what} needs a texture of {size[0]} x {size[1]} texels, the limit of {self.renderer} is "
                f"{self.max_texture_size}"
            )
        room = free_memory() if self.software else None
        nbytes = size[0] * size[1] * components * int(dtype[1])
        if room is not None and nbytes > room:
            raise GpufluidError(
                f"{what} needs {nbytes / 1e6:.0f} MB more, {room / 1e6:.0f} MB of memory are free"
            )
        _ = self.ctx.error  # of a host's: OpenGL would keep that one, and not say that the memory ends
        texture = self.ctx.texture(size, components, dtype=dtype, alignment=1)
        if self.ctx.error == "GL_OUT_OF_MEMORY":
            texture.release()
            raise GpufluidError(f"{what}: no memory left for a texture of {size[0]} x {size[1]} texels")
        texture.filter = (moderngl.NEAREST, moderngl.NEAREST)
        texture.repeat_x = texture.repeat_y = False
        return texture

    def before_stores(self) -> None:
        """Have what was drawn or copied before read its textures to the end: a dispatch writes over them.

        Draws wait for each other, and for what a dispatch left behind a barrier; but image stores may begin
        while fragments still read what they overwrite (OpenGL 4.6, 7.13.2, SHADER_IMAGE_ACCESS_BARRIER_BIT).
        A software renderer waits by itself.
        """
        if self.version >= 430 and not self.software:
            self.ctx.memory_barrier()

    def clear(
        self, texture: moderngl.Texture, target: moderngl.Framebuffer, color: tuple[float, ...]
    ) -> None:
        """Set every texel of `texture`, to which `target` draws, to `color`."""
        if self.stage == "fragment":
            red, green, blue, alpha = color
            with self.timed("fill"):
                clear(target, red, green, blue, alpha)
            return
        form = IMAGE_FORMAT[texture.components, texture.dtype]

        def make() -> moderngl.ComputeShader:
            source = Source("fill (compute)", 430, (GROUP, GROUP))
            source.add(f"layout({form}, binding = 0) writeonly uniform image2D filled;", "<fields>")
            return self.compute_program(source.include("sim/fill.glsl"))

        program = self.keep(("fill", form), make)
        program["value"] = color
        texture.bind_to_image(0, False, True)
        self.before_stores()
        with self.timed("fill"):
            program.run(*(-(-side // GROUP) for side in texture.size))
            self.ctx.memory_barrier()

    def release(self) -> None:
        """Release the samplers, and with the last device of the context its programs. Idempotent."""
        release(*self._fullscreen.values())
        self._fullscreen.clear()
        self._kept.clear()
        if not self._released:
            self._released = True
            self._shared.leave(self)
            self.clock.release()
            self.linear.release()
            self.between.release()
            let_go(*self._blanks.values())


def let_go(*things: Any) -> None:
    """Release what was made in a context; what is bound to draw to is not left so.

    moderngl would bind its name again when it next makes or clears another framebuffer, which is an error.
    """
    for thing in things:
        if isinstance(thing, moderngl.Framebuffer) and thing.ctx.mglo.fbo is thing.mglo:
            thing.ctx.detect_framebuffer(0).use()
        thing.release()
