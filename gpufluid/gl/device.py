"""One OpenGL context as the engine sees it: what it can do, and the programs compiled in it."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import sleep, thread_time
from typing import Any, TypeVar
from weakref import WeakSet

import moderngl
import numpy as np
from numpy.typing import NDArray

from gpufluid.backend import Pace
from gpufluid.checks import whole_number
from gpufluid.debugging import switches
from gpufluid.errors import GLUnavailableError, GpufluidError, one_of
from gpufluid.gl import enums
from gpufluid.gl.calls import a_context, calls
from gpufluid.gl.capabilities import IMAGE_FORMAT, capabilities
from gpufluid.gl.contexts import names_software
from gpufluid.gl.hosts_program import HostsProgram
from gpufluid.gl.messages import take
from gpufluid.gl.programs import Programs, compiled
from gpufluid.gl.source import FULLSCREEN, Source, checked_prefix
from gpufluid.gl.state import another, guard_of, keeping
from gpufluid.gl.targets import check_hosts, drawable, is_hosts, samples_of
from gpufluid.gl.ways import BACKENDS, by_rule, check
from gpufluid.stops import unbroken

OWN_VARYINGS = 16  # numbers that vertex shaders tell fragments beside uniforms
GROUP = 8  # edge of a compute workgroup, texels
SETTLED = 5e-5  # s, asleep: enough for threads that wait for a processor to get one


AnyProgram = TypeVar("AnyProgram", bound="moderngl.Program | moderngl.ComputeShader")


class Device:
    """A context, the shader stage the kernels run in, and how they read a texel.

    backend: "compute" (GL 4.3), "fragment" (GL 3.3), or "auto". reading: "image" (imageLoad), "nearest"
    (texture() at texel centres) or "texel" (texelFetch), which all give the same bits. What is left open goes
    by the rules of `gpufluid.gl.ways`, by the renderer's name alone; fluids ask `gpufluid.gl.trial` before.
    mixed: among fragment passes a few small ones may be dispatched, where that is faster (`dispatches`).
    sweeps: of Jacobi's that a pass makes in a large box, one of `gpufluid.gl.ways.SWEEPS`.

    Raises GpufluidError where the context lacks what `backend` asks for.
    """

    def __init__(
        self,
        ctx: moderngl.Context,
        backend: str = "auto",
        reading: str | None = None,
        *,
        mixed: bool = False,
        sweeps: int = 1,
    ) -> None:
        one_of(backend, BACKENDS, "backend")
        a_context(ctx)
        self.ctx = ctx
        self.version: int = ctx.version_code
        # not ctx.info: what it asks for beyond the context's version stays behind as a GL error of the host's
        self.renderer = calls(ctx).renderer
        self.software = names_software(self.renderer)
        self._lags = self.software and os.environ.get("LP_NUM_THREADS") != "0"  # llvmpipe draws in threads
        if self.version < 330:
            raise GpufluidError(f"the context is OpenGL {self.version / 100:.1f}, the engine needs 3.3")
        self.capabilities = capabilities(ctx)
        self.max_texture_size = self.capabilities.max_texture_size
        stage = None if backend == "auto" else backend
        check(self.version, self.renderer, stage)
        rule = by_rule(self.version, self.software, stage)
        self.stage, self.reading = rule.stage, reading or rule.reading
        check(self.version, self.renderer, self.stage, self.reading, sweeps=sweeps)
        self.sweeps = sweeps
        #: four values of one channel are read by one textureGather, where a sample needs four: a GPU waits
        #: for its texture units. 4.0 has it, but nobody has tried it in macOS' 4.1.
        self.gathers = not self.software and self.reading != "image" and self.version >= 430
        # llvmpipe has a tile of 64 x 64 texels drawn by one thread, and starts a draw later than a dispatch
        self.dispatches = mixed and self.software and self.stage == "fragment" and self.version >= 430
        self.timings: dict[str, list[moderngl.Query]] | None = None
        self.pace = Pace()
        # Mesa's software renderer starts on a pass when the next one is asked for, which then waits for it:
        # told to start at once, it draws while that is prepared
        self.flush: Callable[[], None] | None = calls(ctx).glFlush if self.software else None
        self.draws = True  # False: passes do all but draw and dispatch, for a measure of what that costs
        self.moved: dict[str, list[int]] | None = None  # what passes must move, by name, while it is counted
        self.fields: WeakSet[Any] = WeakSet()  # those alive
        self.made: list[Any] | None = None  # those made, while they may have to be given back
        self._shared = compiled.setdefault(ctx, Programs())
        self._shared.users.add(self)
        self._programs = self._shared.by_text
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
        key = vertex.text + source.text
        if key not in self._programs:
            self.settle()
            try:
                with unbroken(None, insist=False):  # a handler that raised in it would kill the process
                    self._keep_compiled(
                        key, self.ctx.program(vertex_shader=vertex.text, fragment_shader=source.text)
                    )
            except moderngl.Error as error:
                take()  # what it says is in the error
                blamed = vertex if "vertex_shader" in str(error) else source
                raise blamed.explain(str(error)) from None
        program = self._programs[key]
        assert isinstance(program, moderngl.Program)
        return program

    def compute_program(self, source: Source) -> moderngl.ComputeShader:
        """Compile a compute pass. Raises ShaderError naming pass, glsl file and line."""
        if source.text not in self._programs:
            self.settle()
            try:
                with unbroken(None, insist=False):
                    self._keep_compiled(source.text, self.ctx.compute_shader(source.text))
            except moderngl.Error as error:
                take()
                raise source.explain(str(error)) from None
        program = self._programs[source.text]
        assert isinstance(program, moderngl.ComputeShader)
        return program

    def _keep_compiled(self, key: str, program: moderngl.Program | moderngl.ComputeShader) -> None:
        self._programs[key] = program
        self._shared.fresh.add(program.glo)

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
        for key in [key for key, one in shared.by_text.items() if one is program]:
            del shared.by_text[key]
        shared.sent.pop(name, None)
        shared.fresh.discard(name)
        del shared.passes[name]
        self.settle()
        program.release()

    def keep(self, key: Hashable, make: Callable[[], AnyProgram]) -> AnyProgram:
        """Return the program kept under `key`, made the first time: sources are read once, not each frame."""
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]  # type: ignore[return-value]  # what `make` of this key returned

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

    def hosts_program(
        self, program: Any, unit: int, what: str, prefix: str, samplers: Sequence[str]
    ) -> moderngl.Program | moderngl.ComputeShader | HostsProgram:
        """Return a host's `program`, by whose name it may be given, to set uniforms in.

        Raises GpufluidError where it cannot be given textures, from `unit` on.
        what: the call of the user's, for the message. prefix: what the names of its uniforms begin with.
        samplers: the rest of the names of its textures, by their units; those not read a compiler leaves out.
        """
        guard_of(self.ctx).check_current(self.ctx, what)
        if isinstance(program, int | np.integer) and not isinstance(program, bool):
            found: Any = HostsProgram(self.ctx, int(program))
            found.check(what)
        elif not isinstance(program, moderngl.Program | moderngl.ComputeShader):
            raise GpufluidError(
                f"{what}: program must be a moderngl.Program or moderngl.ComputeShader, or OpenGL's name of "
                f"a program, got {program!r}"
            )
        elif isinstance(program.mglo, moderngl.InvalidObject):
            raise GpufluidError(f"{what}: the program was released")
        elif program.ctx is not self.ctx:
            raise GpufluidError(f"{what}: the program lives in {another(program.ctx, self.ctx)}")
        else:
            found = program
        checked_prefix(prefix)
        used = [n for n, name in enumerate(samplers) if f"{prefix}_{name}" in found]
        last = calls(self.ctx).integers(enums.MAX_COMBINED_TEXTURE_IMAGE_UNITS)[0] - max([1, *used]) - 1
        if whole_number(unit, "unit", low=0) > last:
            raise GpufluidError(f"{what}: unit must be a texture unit, 0 .. {last} here, got {unit}")
        return found  # type: ignore[no-any-return]

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

    def bytes_of(self, work: Callable[[], None]) -> dict[str, list[int]]:
        """Return what each pass of `work` must move at least, bytes, by the kernels' names."""
        moved: dict[str, list[int]] = {}
        self.moved = moved
        try:
            work()
        finally:
            self.moved = None
        return moved

    def fullscreen(self, program: moderngl.Program) -> moderngl.VertexArray:
        """The triangle that covers the target, for `program`."""
        if program.glo not in self._fullscreen:
            if program.glo in self._shared.fresh:
                self.settle()
            self._fullscreen[program.glo] = self.ctx.vertex_array(program, [])
        return self._fullscreen[program.glo]

    def cover(self, program: moderngl.Program) -> None:
        """Draw `program` over the whole viewport of the target in use."""
        self.fullscreen(program).render(moderngl.TRIANGLES, vertices=3)

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
        self.settle()
        room = _available_memory() if self.software else None
        nbytes = size[0] * size[1] * components * int(dtype[1])
        if room is not None and nbytes > room:
            raise GpufluidError(
                f"{what} needs {nbytes / 1e6:.0f} MB more, {room / 1e6:.0f} MB of memory are free"
            )
        texture = self.ctx.texture(size, components, dtype=dtype, alignment=1)
        if self.ctx.error == "GL_OUT_OF_MEMORY":
            texture.release()
            raise GpufluidError(f"{what}: no memory left for a texture of {size[0]} x {size[1]} texels")
        texture.filter = (moderngl.NEAREST, moderngl.NEAREST)
        texture.repeat_x = texture.repeat_y = False
        return texture

    def settle(self) -> None:
        """Let a software renderer's threads get through with what was drawn, before more is made or compiled.

        Mesa's llvmpipe frees a fence as soon as its count says that all threads have passed it, while the
        last of them may still be about to unlock it: four bytes of memory that is free by then become 0. The
        next fence soon takes that memory; what is made meanwhile may get it in its place, and break.
        """
        if self._lags:
            self.ctx.finish()
            sleep(SETTLED)

    def settle_first(self, program: moderngl.Program | moderngl.ComputeShader) -> None:
        """The same before `program` runs for the first time, when the driver compiles the rest of it."""
        if program.glo in self._shared.fresh:
            self._shared.fresh.discard(program.glo)
            self.settle()

    def clear(
        self, texture: moderngl.Texture, target: moderngl.Framebuffer, color: tuple[float, ...]
    ) -> None:
        """Set every texel of `texture`, to which `target` draws, to `color`."""
        if self.stage == "fragment":
            red, green, blue, alpha = color
            with self.timed("fill"):
                target.clear(red, green, blue, alpha)
            return
        form = IMAGE_FORMAT[texture.components, texture.dtype]

        def make() -> moderngl.ComputeShader:
            source = Source("fill (compute)").add("#version 430 core", "<stage>")
            source.add(f"layout(local_size_x = {GROUP}, local_size_y = {GROUP}) in;", "<stage>")
            source.add(f"layout({form}, binding = 0) writeonly uniform image2D filled;", "<fields>")
            return self.compute_program(source.include("sim/fill.glsl"))

        program = self.keep(("fill", form), make)
        program["value"] = color
        texture.bind_to_image(0, False, True)
        with self.timed("fill"):
            program.run(*(-(-side // GROUP) for side in texture.size))
            self.ctx.memory_barrier()

    @contextmanager
    def timed(self, label: str) -> Iterator[None]:
        """Time what is drawn inside with a query of the driver, while `timings` is a dict."""
        if self.timings is None:
            yield
            return
        query = self.ctx.query(time=True)
        with query:
            yield
        self.timings.setdefault(label, []).append(query)

    def milliseconds(self) -> dict[str, list[float]]:
        """Return the timings taken since `timings` became a dict, ms by label, and stop timing."""
        queries, self.timings = self.timings or {}, None
        return {label: [q.elapsed * 1e-6 for q in taken] for label, taken in queries.items()}

    def python_ms(self, step: Callable[[], None], count: int = 30) -> float:
        """Return what `step` costs the calling thread without its draw and dispatch calls, ms.

        The median of `count` calls, by the thread's own clock, so that other work on the machine counts
        little. Fields are swapped and not written meanwhile: what is stepped is spoiled.
        """
        taken = []
        self.draws = False
        try:
            for _ in range(count):
                start = thread_time()
                step()
                taken.append(thread_time() - start)
        finally:
            self.draws = True
        return 1e3 * sorted(taken)[count // 2]

    def release(self) -> None:
        """Release the samplers, and with the last device of the context its programs. Idempotent."""
        for vertex_array in self._fullscreen.values():
            vertex_array.release()
        self._fullscreen.clear()
        self._kept.clear()
        if not self._released:
            self._released = True
            self._shared.leave(self)
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


def check_target(target: Any, ctx: moderngl.Context, by: str, what: str = "target") -> None:
    """Raise GpufluidError where nothing can be drawn into `target` in `ctx`. by, what: for the message."""
    if not isinstance(target, moderngl.Framebuffer):
        raise GpufluidError(
            f"{what} must be a moderngl.Framebuffer, got {target!r} (of another library's, by its name in "
            "OpenGL: ctx.detect_framebuffer(name))"
        )
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
        raise GpufluidError(
            f"depth must be a depth texture (moderngl.Texture) or None, got {depth!r}: "
            "ctx.external_texture(name, size, 1, 0, \"f4\") makes one of OpenGL's name of another library's"
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


def read_target(target: Any, channels: int) -> NDArray[np.uint8]:
    """Return the first colour of `target`, within its viewport, uint8 [h, w, channels], top row first.

    Raises GpufluidError for what nothing can be drawn to, and for several samples a pixel.
    """
    if not isinstance(target, moderngl.Framebuffer):
        raise GpufluidError(f"the picture must be a moderngl.Framebuffer, got {target!r}")
    with keeping(target.ctx, "write_picture"):
        check_target(target, target.ctx, "it", "framebuffer")
        _, _, width, height = target.viewport
        if samples := samples_of(target):
            raise GpufluidError(
                f"the framebuffer has {samples} samples a pixel, which cannot be read: "
                "ctx.copy_framebuffer makes one of them, in another"
            )
        with drawable(target, depth=False) as seen:
            raw = np.frombuffer(seen.read(target.viewport, channels, alignment=1), np.uint8)
        _ = target.ctx.error  # moderngl's reading of a window leaves one
    return np.ascontiguousarray(raw.reshape(height, width, channels)[::-1])


def drawn_to(target: moderngl.Framebuffer) -> tuple[Any, ...]:
    """What `target` draws its colours to, and its size; equal for the same textures and renderbuffers alone.

    Names of OpenGL do not tell: drivers give that of one that was released to the next.
    """
    return target.size, *(thing.mglo for thing in target.color_attachments)


@contextmanager
def first_color_alone(target: moderngl.Framebuffer) -> Iterator[None]:
    """Write the first colour of `target` alone while the body draws: in its others a host has something else.

    What a shader does not write is undefined there, and would be blended over them.
    """
    masks = target.color_mask
    if isinstance(masks[0], bool):  # it has one
        yield
        return
    target.color_mask = masks[0], *[(False,) * 4] * (len(masks) - 1)
    try:
        yield
    finally:
        target.color_mask = masks


def blend(
    ctx: moderngl.Context,
    drawn: int,
    there: int,
    equation: int = moderngl.FUNC_ADD,
    *,
    switches: int = moderngl.NOTHING,
) -> None:
    """Blend what is drawn from now on, times the factor `drawn`, with what is there, times that of `there`.

    equation: how. switches: those of moderngl to turn on beside it. It ends at the next ``enable_only``.
    """
    ctx.enable_only(moderngl.BLEND | switches)
    ctx.blend_func = drawn, there
    ctx.blend_equation = equation  # type: ignore[assignment]  # moderngl says a pair


def _available_memory() -> int | None:
    """Bytes a program can take on Linux before it is killed for it; None where the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable")), None)
