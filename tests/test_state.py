"""The engine as a guest: whatever a host has set is as it was after every call, and changes no number."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partialmethod
from pathlib import Path
from typing import Any

import moderngl
import numpy as np
import pytest
from driver import python
from host import Host
from sharing import CELLS

import gpufluid as gf
from gpufluid.gl import enums
from gpufluid.gl.calls import Calls, calls
from gpufluid.gl.contexts import create_context
from gpufluid.gl.messages import take
from gpufluid.gl.state import SWITCHES_MORE, _Kept, guard_of, keeping
from gpufluid.render.light.light_volume import LightVolume

CAMERA = gf.Camera(target=(0.5, 0.5, 0.5), distance=2.2, azimuth=25.0, elevation=10.0)
SEEDS = gf.line_of_seeds((0.2, 0.1, 0.5), (0.8, 0.1, 0.5), 5)


@pytest.fixture(scope="module")
def host(ctx: moderngl.Context) -> Iterator[Host]:
    """The shared context as somebody else's: its state is kept."""
    gf.keep_state(ctx, True)
    made = Host(ctx)
    yield made
    made.release()
    gf.keep_state(ctx, False)


@pytest.fixture
def odd(host: Host) -> Iterator[Host]:
    """The host with everything set oddly; it must be so in the end."""
    with host.oddly():
        yield host
    host.be_plain()


def burning(ctx: moderngl.Context, backend: str = "auto") -> gf.Fluid:
    """A little of everything: fire, colour, a mesh and a ball that moves, forces, diffusion, multigrid."""
    rules = gf.Settings(
        viscosity=1e-3,
        vorticity_confinement=0.3,
        combustion=gf.Combustion(),
        density_diffusivity=1e-4,
        pressure=gf.Multigrid(1),
    )
    fluid = gf.Fluid(gf.Grid(CELLS, 0.1), settings=rules, backend=backend, ctx=ctx)
    fluid.emitters.add(gf.Emitter(gf.Sphere((0.5, 0.2, 0.4), 0.15), density=4.0, temperature=1.0, fuel=2.0))
    fluid.emitters.add(gf.Emitter(gf.Box((0.3, 0.5, 0.4), (0.2, 0.2, 0.2)), color=(1.0, 0.2, 0.1)))
    fluid.obstacles.add(gf.Obstacle(gf.Mesh.trefoil().fitted(0.4, center=(0.5, 0.6, 0.4))))
    fluid.obstacles.add(
        gf.Obstacle(gf.Sphere((0.2, 0.8, 0.4), 0.1), slip="free", temperature=0.5, spin=(0, 3, 0))
    )
    fluid.forces.add(gf.Vortex(center=(0.5, 0, 0.4), axis=(0, 1, 0), strength=1.0, radius=0.3))
    fluid.forces.add(gf.ForceExpression("vec3(0.1, sin(y), 0)"))
    fluid.forces.add(gf.Turbulence(0.5))
    return fluid


def story(ctx: moderngl.Context, backend: str = "auto") -> list[np.ndarray]:
    """Some steps and all that can be read; ends with everything released."""
    with burning(ctx, backend) as fluid:
        for _ in range(3):
            fluid.obstacles[1].position = (0.01, 0.0, 0.0)
            fluid.step(0.05)
        fluid.settings = fluid.settings.but(pressure=gf.ConjugateGradient(4), advection="bfecc")
        fluid.density.write(np.maximum(fluid.density.read(), 0.01))
        fluid.step(0.05)
        fluid.project()
        samples = fluid.sample([(0.5, 0.5, 0.4), (0.2, 0.8, 0.4)])
        told = [samples.velocity, samples.density]
        told += [np.array(list(vars(fluid.diagnostics()).values()), np.float64)]
        names = "velocity density temperature fuel color pressure divergence flame solid solid_normals"
        return told + [getattr(fluid, name).read() for name in names.split()]


@pytest.mark.parametrize("backend", ["fragment", "compute"])
def test_a_fluid_keeps_the_hosts_state_and_the_hosts_state_changes_no_number(
    host: Host, backend: str
) -> None:
    if backend == "compute" and host.version < 430:
        pytest.skip("no compute shaders here")
    host.be_plain()
    alone = story(host.ctx, backend)
    with host.oddly():
        as_guest = story(host.ctx, backend)
    host.be_plain()
    assert alone[3].any() and alone[4].any() and alone[10].any()
    for one, other in zip(alone, as_guest, strict=True):
        np.testing.assert_array_equal(one, other)


PICTURES: dict[str, Callable[[moderngl.Context], Any]] = {
    "view-slices": gf.VolumeRenderer,
    "axis-slices": lambda ctx: gf.VolumeRenderer(ctx, method="axis-slices"),
    "ray-march": lambda ctx: gf.VolumeRenderer(ctx, method="ray-march", resolution=0.5),
    "steered": lambda ctx: gf.VolumeRenderer(ctx, frame_ms=5.0),
    "particles": lambda ctx: gf.Particles(ctx, 500, [gf.Sphere((0.5, 0.5, 0.4), 0.3)], life=1.0),
    "streamlines": lambda ctx: gf.Streamlines(ctx, SEEDS, points=30, legend=True),
    "streak lines": lambda ctx: gf.StreakLines(ctx, SEEDS, points=20),
    "glyphs": lambda ctx: gf.Glyphs(ctx, spacing=3),
    "slice": lambda ctx: gf.SlicePlane(ctx, "vorticity", axis="z", colors="magma"),
    "iso-surface": lambda ctx: gf.IsoSurface(ctx, "density", 0.1),
    "voxels": lambda ctx: gf.VoxelView(ctx, "wires"),
    "flat texture": lambda ctx: gf.FlatTextureView(ctx, "density"),
    "histogram": lambda ctx: gf.HistogramView(ctx, "speed", bins=10),
}


def draw(ctx: moderngl.Context, fluid: gf.Fluid, name: str, target: moderngl.Framebuffer) -> None:
    """One picture by a new renderer or view of that name; nothing but calls of the engine."""
    view = PICTURES[name](ctx)
    if hasattr(view, "advance"):
        for _ in range(2):
            view.advance(fluid, 0.05)
    if isinstance(view, gf.VolumeRenderer):
        lights = gf.PointLight((0.2, 0.9, 0.2)), gf.Light((1, -1, 0.2))
        for _ in range(2):
            view.render(fluid, CAMERA, target, fire=gf.Fire(), lights=lights)
    elif isinstance(view, gf.FlatTextureView | gf.HistogramView):
        view.render(fluid, target)
    else:
        view.render(fluid, CAMERA, target)
    view.release()


@pytest.fixture(scope="module")
def burnt(host: Host) -> Iterator[gf.Fluid]:
    """What `burning` has become after some steps: for pictures, which change nothing of it."""
    host.be_plain()
    with burning(host.ctx) as fluid:
        for _ in range(3):
            fluid.step(0.05)
        yield fluid


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_keeps_the_hosts_state(host: Host, burnt: gf.Fluid, name: str) -> None:
    """And is the same picture over what the host has drawn, whatever the host has set."""
    ctx = host.ctx
    host.be_plain()
    drawn = []
    for odd in (False, True):
        color, depth = ctx.texture((160, 120), 4, dtype="f4"), ctx.depth_texture((160, 120))
        target = ctx.framebuffer([color], depth)
        target.clear(0.1, 0.2, 0.3, 1.0)
        if odd:
            with host.oddly(depths=False):
                draw(ctx, burnt, name, target)
            host.be_plain()
        else:
            draw(ctx, burnt, name, target)
        drawn.append(np.frombuffer(target.read(components=4, dtype="f4"), np.float32))
        for thing in (target, color, depth):
            thing.release()
    assert drawn[0].std() > 0.01
    np.testing.assert_array_equal(*drawn)


@pytest.mark.parametrize("name", [name for name in PICTURES if name not in ("axis-slices", "steered")])
def test_a_clip_space_from_the_upper_left_turns_the_picture_over(
    host: Host, burnt: gf.Fluid, name: str
) -> None:
    """As it would the host's own triangles, legends and charts too; what is computed is the same."""
    if host.version < 450:
        pytest.skip("no glClipControl here")
    ctx, drawn = host.ctx, []
    host.be_plain()
    for origin in (0x8CA1, 0x8CA2):
        color, depth = ctx.texture((160, 120), 4, dtype="f4"), ctx.depth_texture((160, 120))
        target = ctx.framebuffer([color], depth)
        target.clear(0.1, 0.2, 0.3, 1.0)
        host("glClipControl", origin, 0x935E)
        draw(ctx, burnt, name, target)
        host.be_plain()
        drawn.append(np.frombuffer(target.read(components=4, dtype="f4"), np.float32).reshape(120, 160, 4))
        for thing in (target, color, depth):
            thing.release()
    usual, other = drawn
    assert usual.std() > 0.01
    # noise and rounding lie elsewhere
    assert np.abs(usual - other[::-1]).mean() < 0.02 * np.abs(usual - other).mean()


# types in GLSL, 2D, 3D and of several samples: what asks for the texture at a unit
SAMPLERS = {0x8B5E: 0x8069, 0x8B5F: 0x806A, 0x9108: 0x9104}


@contextmanager
def textures_read(host: Host, monkeypatch: pytest.MonkeyPatch) -> Iterator[set[tuple[str, int]]]:
    """The samplers of all that is drawn and dispatched inside, and their textures' names in OpenGL."""
    read: set[tuple[str, int]] = set()
    known: dict[int, list[tuple[str, int, int]]] = {}

    def samplers(program: int) -> list[tuple[str, int, int]]:
        count, size, length, kind = ((ctypes.c_int * 1)() for _ in range(4))
        host("glGetProgramiv", program, 0x8B86, count)
        found = []
        for n in range(count[0]):
            name = (ctypes.c_char * 200)()
            host("glGetActiveUniform", program, n, 200, length, size, kind, name)
            if kind[0] in SAMPLERS:
                place = host.function("glGetUniformLocation", ctypes.c_int, ctypes.c_int, ctypes.c_char_p)
                found.append((name.value.decode(), place(program, name.value), SAMPLERS[kind[0]]))
        return found

    def look(program: int) -> None:
        if program not in known:
            known[program] = samplers(program)
        unit, active = (ctypes.c_int * 1)(), int(host.number(0x84E0)[0])
        for name, place, asked in known[program]:
            host("glGetUniformiv", program, place, unit)
            host("glActiveTexture", 0x84C0 + unit[0])
            read.add((name, int(host.number(asked)[0])))
        host("glActiveTexture", active)

    def watch(kind: type, method: str, program: Callable[[Any], int]) -> None:
        real = getattr(kind, method)

        def watched(self: Any, *arguments: Any, **named: Any) -> None:
            look(program(self))
            real(self, *arguments, **named)

        monkeypatch.setattr(kind, method, watched)

    watch(moderngl.VertexArray, "render", lambda array: array.program.glo)
    for method in ("run", "run_indirect"):
        watch(moderngl.ComputeShader, method, lambda shader: shader.glo)
    yield read
    monkeypatch.undo()


@pytest.mark.parametrize("what", ["fragment", "compute", *PICTURES])
def test_no_sampler_finds_a_texture_of_the_hosts(
    host: Host, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor none: drivers compile a pass anew for other formats, and a host's change from frame to frame."""
    if what == "compute" and host.version < 430:
        pytest.skip("no compute shaders here")
    host.be_plain()
    color, depth = host.ctx.texture((160, 120), 4), host.ctx.depth_texture((160, 120))
    target = host.ctx.framebuffer([color], depth)
    with host.oddly(depths=False), textures_read(host, monkeypatch) as read:
        if what in PICTURES:
            with burning(host.ctx) as fluid:
                fluid.step(0.05)
                draw(host.ctx, fluid, what, target)
        else:
            story(host.ctx, what)
    host.be_plain()
    for thing in (target, color, depth):
        thing.release()
    assert read
    assert not [name for name, texture in read if texture in host.textures]


def test_a_stencil_of_the_hosts_masks_nothing(host: Host) -> None:
    """In a framebuffer that has one, which moderngl itself makes none of."""
    ctx, drawn = host.ctx, []
    host.be_plain()
    with burning(ctx) as fluid:
        fluid.step(0.05)
        color = ctx.texture((80, 60), 4, dtype="f4")
        target, name = ctx.framebuffer([color]), ctypes.c_uint()
        target.use()
        host("glGenRenderbuffers", 1, (ctypes.c_uint * 1).from_buffer(name))
        host("glBindRenderbuffer", 0x8D41, name.value)
        host("glRenderbufferStorage", 0x8D41, 0x88F0, 80, 60)  # 24 bits of depth, 8 of stencil
        host("glFramebufferRenderbuffer", 0x8D40, 0x821A, 0x8D41, name.value)
        view = gf.VolumeRenderer(ctx)
        for masked in (False, True):
            target.use()
            target.clear()
            if masked:
                host("glEnable", 0x0B90)
                host("glStencilFunc", 0x0200, 0, 255)  # never
            view.render(fluid, CAMERA, target)
            assert host("glIsEnabled", 0x0B90) == masked
            drawn.append(np.frombuffer(target.read(components=4, dtype="f4"), np.float32))
        host("glStencilFunc", 0x0207, 0, 255)
        host.be_plain()
        host("glDeleteRenderbuffers", 1, (ctypes.c_uint * 1).from_buffer(name))
        for thing in (view, target, color):
            thing.release()
    assert drawn[0].std() > 0.01
    np.testing.assert_array_equal(*drawn)


def test_a_whole_frame_keeps_the_hosts_state(
    host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine's own picture, drawn, read, resized, shown on a framebuffer of the host's.

    It is the same, views of the flow in it too, whatever the host's clip space and depths are.
    """
    ctx = host.ctx
    host.be_plain()
    pictures = []
    for odd in (False, True):
        target = ctx.simple_framebuffer((40, 30))

        def frames(target: moderngl.Framebuffer = target) -> None:
            views = gf.VoxelsView(), gf.SliceView("speed"), gf.StreamlinesView(SEEDS, points=20, opacity=0.5)
            fire = gf.Fire(shimmer=0.01)
            scene = gf.Scene(burning(ctx), camera=CAMERA, floor=0.0, fire=fire, views=views)
            renderer = gf.FrameRenderer(ctx, (64, 36))
            for size in ((64, 36), (40, 30)):
                renderer.resize(size)
                scene.advance()
                renderer.draw(scene)
                pictures.append(renderer.read())
                pictures.append(renderer.read_hdr())
                pictures.append(renderer.read_depth())
                pictures.append(renderer.read_travel(scene))
            renderer.present(target)
            renderer.release()
            scene.fluid.save(tmp_path / "a.gpufluid", overwrite=True)
            scene.release()
            gf.Fluid.load(tmp_path / "a.gpufluid", ctx=ctx).release()

        if odd:
            with host.oddly(), textures_read(host, monkeypatch) as read:
                frames()
            host.be_plain()
            assert not [name for name, texture in read if texture in host.textures]
        else:
            frames()
        pictures.append(np.frombuffer(target.read(), np.uint8))
        target.release()
    half = len(pictures) // 2
    assert all(len(np.unique(picture)) > 10 for picture in pictures[:half])
    for one, other in zip(pictures[:half], pictures[half:], strict=True):
        np.testing.assert_array_equal(one, other)


def test_smoke_in_a_framebuffer_that_encodes_is_that_of_linear_light(host: Host) -> None:
    ctx, shown = host.ctx, {}
    host.be_plain()
    camera, look = gf.Camera(target=(0.5, 0.5, 0.5), distance=2.5), gf.Smoke(extinction=6.0)
    with gf.Fluid(gf.Grid((8, 8, 8), 1 / 8), ctx=ctx) as fluid:
        fluid.density.write(np.full((8, 8, 8), 0.5))
        smoke = gf.VolumeRenderer(ctx)
        for form in (0x8C43, 0x881A):  # SRGB8_ALPHA8, RGBA16F
            texture = ctx.texture((40, 30), 4, internal_format=form)
            target = ctx.framebuffer([texture])
            host("glEnable", 0x8DB9)
            target.clear(0.2, 0.2, 0.2, 1.0)
            smoke.render(fluid, camera, target=target, smoke=look)
            host("glDisable", 0x8DB9)
            shown[form] = np.frombuffer(target.read(components=4, dtype="f4"), np.float32).reshape(30, 40, 4)
            target.release()
            texture.release()
        smoke.release()
    linear = shown[0x881A][..., :3].astype(float)
    encoded = np.where(linear < 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    assert np.ptp(linear) > 0.05
    # each of many slabs is rounded to 8 bits as it is laid over the picture
    np.testing.assert_allclose(shown[0x8C43][..., :3], encoded, atol=0.02)


def test_a_framebuffer_that_encodes_shows_the_picture_as_it_is(host: Host) -> None:
    """As windows with sRGB do: what was for a screen already was encoded again, and pale."""
    ctx, shown = host.ctx, []
    host.be_plain()
    with gf.Fluid(gf.Grid((8, 8, 8), 1 / 8), ctx=ctx) as fluid:
        renderer = gf.FrameRenderer(ctx, (40, 30))
        renderer.draw(gf.Scene(fluid, floor=0.0))
        for form in (0x8058, 0x8C43):  # RGBA8, SRGB8_ALPHA8
            texture = ctx.texture((40, 30), 4, internal_format=form)
            target = ctx.framebuffer([texture])
            for encodes in ("glDisable", "glEnable"):
                host(encodes, 0x8DB9)
                renderer.present(target)
                assert host("glIsEnabled", 0x8DB9) == (encodes == "glEnable")
            host("glDisable", 0x8DB9)
            shown.append(target.read(components=3))
            target.release()
            texture.release()
        with pytest.raises(gf.GpufluidError, match="framebuffer must be a moderngl.Framebuffer, got None"):
            renderer.present(None)  # type: ignore[arg-type]
        renderer.release()
    assert len(set(shown[0])) > 10 and shown[0] == shown[1]


def test_an_error_keeps_the_hosts_state(odd: Host) -> None:
    """Whether the call is refused at once or fails in its midst."""
    fluid = burning(odd.ctx)
    with pytest.raises(gf.GpufluidError, match="dt must be"):
        fluid.step(-1.0)
    with pytest.raises(gf.ShaderError):
        fluid.forces.add(gf.ForceExpression("vec3(nothing_of_that_name, 0, 0)"))

    class Wild:
        def solve(self, problem: Any) -> None:
            problem.jacobi(1.0)
            raise RuntimeError("in the midst of a step")

    fluid.settings = fluid.settings.but(pressure=Wild())
    with pytest.raises(RuntimeError, match="in the midst"):
        fluid.step(0.1)
    with pytest.raises(gf.GpufluidError, match="needs a texture"):
        gf.Fluid(gf.Grid((4000, 4000, 4000), 0.1), ctx=odd.ctx)
    fluid.release()


MANY = 20  # slices: a slow machine would take hundreds


def test_every_slice_of_a_step_keeps_the_hosts_state(host: Host) -> None:
    """Also the one in which the step fails, and what draws in between; two fluids take turns."""
    fluids, plain = [burning(host.ctx) for _ in range(2)], burning(host.ctx)
    plain.step(0.1)
    turns, unfinished = 0, list(fluids)
    while unfinished:
        with host.oddly():
            for fluid in list(unfinished):
                if fluid.advance(0.1, 2.0 if turns < MANY else 1e3):
                    unfinished.remove(fluid)
        host.be_plain()
        turns += 1
    assert turns > 5
    for fluid in fluids:
        np.testing.assert_array_equal(fluid.velocity.read(), plain.velocity.read())

    class Wild:
        def solve(self, problem: Any) -> None:
            fluids[0].divergence.read()  # a call of its own, in which no slice may end
            problem.jacobi(1.0)
            raise RuntimeError("in the midst of a step")

    fluids[0].settings = fluids[0].settings.but(pressure=Wild())
    failed, calls = "", 0
    while not failed:
        calls += 1
        with host.oddly():
            try:  # a row of a pass in each of the first calls
                assert not fluids[0].advance(0.1, 1e-6 if calls < 50 else 2.0 if calls < 50 + MANY else 1e3)
            except RuntimeError as error:
                failed = str(error)
    assert "in the midst" in failed
    host.be_plain()
    for fluid in (*fluids, plain):
        fluid.release()


def test_moderngl_remembers_the_hosts_framebuffer(host: Host) -> None:
    """A host that draws by moderngl goes on in its own framebuffer, its scopes go back to its own flags."""
    ctx = host.ctx
    host.be_plain()
    mine = ctx.simple_framebuffer((8, 8))
    mine.use()
    ctx.enable_only(moderngl.DEPTH_TEST | moderngl.CULL_FACE)
    with burning(ctx) as fluid:
        fluid.step(0.05)
        assert ctx.fbo is mine
        with ctx.scope(mine, enable_only=moderngl.BLEND):
            fluid.step(0.05)
            assert host("glIsEnabled", 0x0BE2)
        assert not host("glIsEnabled", 0x0BE2)
        assert host("glIsEnabled", 0x0B71) and host("glIsEnabled", 0x0B44)
    ctx.clear(0.0, 1.0, 0.0, 1.0)
    assert mine.read(components=3)[:3] == b"\x00\xff\x00"
    ctx.enable_only(moderngl.NOTHING)
    mine.release()


def test_a_host_that_released_its_framebuffer(host: Host) -> None:
    """As on a change of size: moderngl still holds it for bound, and would bind what is no more."""
    host.be_plain()
    gone = host.ctx.simple_framebuffer((8, 8))
    gone.use()
    gone.release()
    before = host.state()
    take(host.ctx)  # the host's own call that bound it again
    with burning(host.ctx) as fluid:
        fluid.step(0.05)
    assert host("glGetError") == 0
    assert host.state() == before
    assert not isinstance(host.ctx.fbo.mglo, moderngl.InvalidObject)


def test_a_host_that_makes_a_framebuffer_for_each_size(host: Host) -> None:
    """After it has released one that was in use, moderngl may cause one error, and the engine none."""
    host.be_plain()
    with burning(host.ctx) as fluid:
        gone = host.ctx.simple_framebuffer((8, 8))
        gone.use()
        gone.release()
        for number in range(3):
            target = host.ctx.simple_framebuffer((8 + number, 8))
            error = host("glGetError")
            # moderngl binds the one that is gone, whose name a driver may have given to the new one
            assert error in ((0, 0x0502) if number == 0 else (0,))
            take(host.ctx)
            draw(host.ctx, fluid, "view-slices", target)
            assert host("glGetError") == 0
            target.release()


def test_a_host_may_do_without(host: Host) -> None:
    """Without the guard the state is what the last pass left."""
    host.be_plain()
    with burning(host.ctx) as fluid:
        fluid.step(0.05)
        host.be_odd()
        gf.keep_state(host.ctx, False)
        host.be_plain()
        before = host.state()
        fluid.step(0.05)
        gf.keep_state(host.ctx, True)
        assert host.state() != before


# -- the right context ---------------------------------------------------------------------------------------


def test_a_call_with_another_context_current_says_so(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    ctx = host.ctx
    monkeypatch.setattr(guard_of(ctx), "recalled", False)  # a host's: the engine makes none of those current
    fluid, renderer = burning(ctx), gf.VolumeRenderer(ctx)
    other = create_context()
    target = other.simple_framebuffer((8, 8))
    for call, name in (
        (lambda: fluid.step(0.1), "Fluid.step"),
        (lambda: fluid.advance(0.1), "Fluid.advance"),
        (lambda: fluid.density.read(), "ScalarField.read"),
        (lambda: fluid.release(), "Fluid.release"),
        (lambda: renderer.render(fluid, CAMERA, target), "VolumeRenderer.render"),
        (lambda: gf.Particles(ctx, 10, [gf.Sphere((0.5, 0.5, 0.4), 0.3)], life=1.0), "Particles"),
    ):
        with pytest.raises(gf.GpufluidError, match=f"{name}: another GL context is current"):
            call()
    other.release()
    ctx.__enter__()
    fluid.step(0.1)
    renderer.release()
    fluid.release()


@pytest.mark.parametrize("own", [True, False])
def test_a_call_from_another_thread_says_so(host: Host, own: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard_of(host.ctx), "recalled", False)  # as one that the engine has not made
    fluid = gf.Fluid(gf.Grid((6, 6, 6), 0.1), backend="fragment", ctx=None if own else host.ctx)
    said: list[Exception] = []

    def run() -> None:
        try:
            fluid.step(0.1)
        except gf.GpufluidError as error:
            said.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    where = "current in another thread" if own else "no GL context is current in this thread"
    assert len(said) == 1 and where in str(said[0])
    fluid.step(0.1)
    fluid.release()
    host.ctx.__enter__()


def test_a_thread_that_has_ended_keeps_no_context_of_the_engines(host: Host) -> None:
    """Once it was current there for ever, and the fluid of no use to any other thread."""
    fluid, other = (gf.Fluid(gf.Grid((6, 6, 6), 0.1), backend="fragment") for _ in range(2))
    fluid.step(0.1)
    other.step(0.1)  # now that of `fluid` is current nowhere
    with ThreadPoolExecutor(1) as thread:
        thread.submit(fluid.step, 0.1).result()
    fluid.step(0.1)
    assert fluid.time == pytest.approx(0.3)
    fluid.release()
    other.release()
    host.ctx.__enter__()


def test_a_call_after_the_release_of_its_context_says_so(host: Host) -> None:
    """Once moderngl's own words came, of a framebuffer that its InvalidObject does not have."""
    ctx = moderngl.create_context(standalone=True, require=330, backend="egl")  # type: ignore[call-arg]
    fluid, renderer = burning(ctx, "fragment"), gf.VolumeRenderer(ctx)
    target = ctx.simple_framebuffer((8, 8))
    assert not fluid.released
    ctx.release()
    assert fluid.released
    for call, name in (
        (lambda: fluid.step(0.1), "Fluid.step"),
        (lambda: fluid.density.read(), "ScalarField.read"),
        (lambda: renderer.render(fluid, CAMERA, target), "VolumeRenderer.render"),
        (lambda: gf.Fluid(gf.Grid((6, 6, 6), 0.1), ctx=ctx), "Fluid"),
        (lambda: gf.VolumeRenderer(ctx), "VolumeRenderer"),
    ):
        with pytest.raises(gf.GpufluidError, match=f"{name}: its GL context has been released"):
            call()
    for _ in range(2):  # nothing is left to release, and nothing is said of it
        renderer.release()
        fluid.release()
    with pytest.raises(gf.GpufluidError, match="this Fluid was released"):
        fluid.step(0.1)
    host.ctx.__enter__()


def test_a_guard_lets_its_context_go() -> None:
    import gc
    import weakref

    ctx = create_context()
    gf.keep_state(ctx, True)
    with keeping(ctx, "test"):
        pass
    kept = weakref.ref(ctx)
    ctx.release()
    del ctx
    gc.collect()
    assert kept() is None


BY_NUMBER_33 = {("glIsEnabledi", enums.BLEND), ("glGetIntegeri_v", enums.COLOR_WRITEMASK)}
BY_NUMBER_41 = {
    *BY_NUMBER_33,
    ("glIsEnabledi", enums.SCISSOR_TEST),
    ("glGetIntegeri_v", enums.SCISSOR_BOX),
    ("glGetFloati_v", enums.VIEWPORT),
    *(("glGetIntegeri_v", name) for name in (0x80C8, 0x80C9, 0x80CA, 0x80CB, 0x8009, 0x883D)),  # of blending
}
# what came after 4.1, and in 3.3 after that, which glGet and glIsEnabled may be asked for (Khronos' gl.xml);
# the first two are where buffers are copied from and to
LATER_42 = {0x8F36, 0x8F37, 0x8D69, 0x90D2, 0x90D3, 0x90EE, 0x90EF, 0x935C, 0x935D, *range(0x8F38, 0x8F3F)}
LATER_40 = {0x825B, 0x8C36, 0x8F43}


@pytest.mark.parametrize(
    ("version", "by_number", "later"),
    [(330, BY_NUMBER_33, LATER_40 | LATER_42), (410, BY_NUMBER_41, LATER_42)],
)
def test_an_older_context_is_asked_for_what_it_has(
    host: Host, version: int, by_number: set[tuple[str, int]], later: set[int]
) -> None:
    """Mesa tells more all the same; for others it is an error, which stays behind for the host to find."""
    asked: set[tuple[str, int]] = set()

    class Older(Calls):
        def quick(self, name: str) -> Callable[..., Any]:
            return lambda *given: asked.add((name, given[0])) or 0  # type: ignore[func-returns-value]

    gl = Older(host.ctx)
    gl.version, gl.extensions = version, frozenset()
    _Kept(host.ctx, gl).ask()
    assert {(call, name) for call, name in asked if call.endswith(("i", "i_v"))} == by_number
    assert not {name for _, name in asked} & later
    assert ("glIsEnabled", enums.SCISSOR_TEST) in asked or version == 410


def test_a_function_of_an_extension_may_have_another_name(host: Host) -> None:
    """OpenGL 3.3 with GL_ARB_draw_buffers_blend need not know 4.0's names: address 0 was called."""
    gl = Calls(host.ctx)
    name, real = "glBlendFuncSeparatei", gl._load
    gl._load = lambda asked: real(name) if asked == f"{name}ARB" else 0
    for found in (gl.glBlendFuncSeparatei, gl.quick(name)):
        assert ctypes.cast(found, ctypes.c_void_p).value == real(name) > 0
    for factor in (0x0306, 0x0300, 1):  # the last is as it was
        gl.glBlendFuncSeparatei(1, factor, 0, 1, 0)
        assert host.number(0x80C9, 1, 1) == (factor,)


def test_a_switch_of_an_extension_is_off_for_as_long(host: Host) -> None:
    """As if there were none of these, as in most software; then as if the host had turned all of them on."""
    on, asked = set(SWITCHES_MORE.values()), set[int]()

    class More(Calls):
        def quick(self, name: str) -> Callable[..., Any]:
            if name != "glIsEnabled":
                return super().quick(name)
            plain = super().quick(name)

            def ask(switch: int) -> int:
                asked.add(switch)
                return switch in on if switch in SWITCHES_MORE.values() else plain(switch)

            return ask

    gl = More(host.ctx)
    gl.extensions -= set(SWITCHES_MORE)
    _Kept(host.ctx, gl).ask()
    assert not asked & on, "which a driver without them answers with an error"
    gl.extensions |= set(SWITCHES_MORE)
    for name, change in ("glEnable", on.add), ("glDisable", on.discard):
        gl.__dict__[name] = change
    kept, active = _Kept(host.ctx, gl), gl.integers(enums.ACTIVE_TEXTURE)[0]
    saved = kept.ask()
    kept.prepare(saved)
    assert not on
    kept.restore(saved, host.ctx)
    assert on == set(SWITCHES_MORE.values())
    gl.glActiveTexture(active)


def test_a_hosts_state_is_asked_for_on_windows_too(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """There ctypes has WINFUNCTYPE, whose functions take the arguments that their type names, and no more."""

    def strict(result: Any, *arguments: Any) -> type:
        named = {"_restype_": result, "_argtypes_": arguments, "_flags_": 0}  # FUNCFLAG_STDCALL
        return type("WinFunctionType", (ctypes._CFuncPtr,), named)

    _Kept(host.ctx, Calls(host.ctx)).ask()  # from now on the same texture unit is active before each
    expected = _Kept(host.ctx, Calls(host.ctx)).ask()
    monkeypatch.setattr(ctypes, "WINFUNCTYPE", strict, raising=False)
    assert _Kept(host.ctx, Calls(host.ctx)).ask() == expected
    # as with 32 bits, where no other type of function will do
    monkeypatch.setattr(ctypes, "CFUNCTYPE", None)
    monkeypatch.setattr(ctypes, "sizeof", lambda kind: 4)
    assert _Kept(host.ctx, Calls(host.ctx)).ask() == expected


def test_the_current_context_is_found_whatever_was_asked_before_there_was_one() -> None:
    """The first one brings the library that knows: none was loaded as it was asked for the first time."""
    told = """
from gpufluid.gl.calls import current_context, current_renderer
from gpufluid.gl.contexts import create_context
from gpufluid.gl.state import guard_of
assert current_context() is None and current_renderer() is None
ctx = create_context()
assert guard_of(ctx).handle is not None and current_context() == guard_of(ctx).handle
"""
    done = python("-c", told)
    assert done.returncode == 0, done.stderr


def test_what_it_costs(host: Host) -> None:
    """Asking and putting back: some tenths of a millisecond, with room for a slow machine."""
    import time

    guard, taken = guard_of(host.ctx), []
    for _ in range(20):
        start = time.perf_counter()
        guard.enter(host.ctx, "test")
        guard.leave(host.ctx)
        taken.append(time.perf_counter() - start)
    print(f"{1e3 * sorted(taken)[10]:.2f} ms")
    assert sorted(taken)[2] < 5e-3


def test_every_image_unit_of_the_hosts_is_kept(host: Host) -> None:
    """Sweeps in eighths bind ten; those from the ninth on were lost."""
    ctx = host.ctx
    gl = calls(ctx)
    units = range(min(16, gl.integers(0x8F38)[0]))
    textures = [ctx.texture((4, 4), 4, dtype="f4") for _ in units]
    for unit, texture in zip(units, textures, strict=True):
        texture.bind_to_image(unit, True, True)
    with gf.Fluid(gf.Grid((64, 64, 64), 1 / 64), ctx=ctx) as fluid:
        fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.2), (0.5, 0.5, 0.5)))
        fluid.step(1 / 30)
    assert [gl.integers(0x8F3A, 1, unit)[0] for unit in units] == [texture.glo for texture in textures]
    assert guard_of(ctx).outside


@pytest.mark.parametrize("at_once", [False, True])
def test_a_hosts_blend_equation_dims_no_light(
    host: Host, at_once: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Light that is walked in two passes was blended by it."""
    made = LightVolume.__init__
    monkeypatch.setattr(LightVolume, "__init__", partialmethod(made, at_once=at_once))
    pictures = []
    with gf.Fluid(gf.Grid((16, 16, 16), 1 / 16), ctx=host.ctx) as fluid:
        fluid.density.write(np.full((16, 16, 16), 4.0))
        for equation in (moderngl.FUNC_ADD, moderngl.MAX):
            volume = gf.VolumeRenderer(host.ctx, skip_empty=False)
            frame = gf.FrameRenderer(host.ctx, (64, 48), volume=volume)
            host.ctx.blend_equation = equation  # type: ignore[assignment]
            frame.draw(gf.Scene(fluid, floor=0.0))
            host.ctx.blend_equation = moderngl.FUNC_ADD  # type: ignore[assignment]
            pictures.append(frame.read().astype(int))
            frame.release()
    np.testing.assert_allclose(pictures[1], pictures[0], atol=1)


COMPATIBLE = """
import sys

import moderngl
import numpy as np
from host import Host, F, U

import gpufluid as gf

ctx = moderngl.create_context(standalone=True, require=330, backend="egl")
host, drawn = Host(ctx), []
if not int(host.number(0x9126)[0]) & 2:
    sys.exit(77)
TRANSFER = [name + n for name in (0x0D14, 0x0D18, 0x0D1A, 0x0D1C, 0x0D1E) for n in (0, 1)]


def odd():
    host("glEnable", 0x0BC0)  # alpha test
    host("glAlphaFunc", 0x0204, F(0.9))  # greater
    host("glEnable", 0x0B42)  # polygon stipple
    host("glPolygonStipple", (U * 32)(*range(32)))
    for name in TRANSFER:
        host("glPixelTransferf", name, F(0.5))  # factors and offsets of what is read and written
    host("glPixelTransferi", 0x0D10, 1)  # colours by a map
    host("glClampColor", 0x891B, 1)
    host("glPolygonMode", 0x0405, 0x1B01)  # lines in place of faces seen from behind, which core has not
    return told()


def told():
    numbers = [host.number(name) for name in (*TRANSFER, 0x0D10, 0x891B)] + [host.number(0x0B40, 2)]
    return [host("glIsEnabled", name) for name in (0x0BC0, 0x0B42)], numbers


def plain():
    host("glDisable", 0x0BC0)
    host("glDisable", 0x0B42)
    for name in TRANSFER:
        host("glPixelTransferf", name, F(1 - name % 2))
    host("glPixelTransferi", 0x0D10, 0)
    host("glClampColor", 0x891B, 0x891D)
    host("glPolygonMode", 0x0408, 0x1B02)


for turn in range(2):
    target = ctx.simple_framebuffer((40, 30), dtype="f4")
    target.clear(0.1, 0.2, 0.3)
    if turn:
        before = odd()
    with gf.Fluid(gf.Grid((8, 8, 8), 1 / 8), settings=gf.Settings(pressure=gf.Jacobi(2)), ctx=ctx) as fluid:
        fluid.density.write(np.full((8, 8, 8), 4.0))
        fluid.emitters.add(gf.Emitter(gf.Sphere((0.5, 0.3, 0.5), 0.2), density=9.0, temperature=3.0))
        fluid.obstacles.add(gf.Obstacle(gf.Mesh.trefoil().fitted(0.6, center=(0.5, 0.5, 0.5))))
        fluid.step(0.1)
        view = gf.VolumeRenderer(ctx)
        view.render(fluid, gf.Camera(target=(0.5, 0.5, 0.5)), target)
        read = [fluid.density.read(), fluid.velocity.read(), fluid.solid.read()]
        view.release()
    if turn:
        assert told() == before, (told(), before)
        plain()
    drawn.append([*read, np.frombuffer(target.read(dtype="f4"), np.float32)])
for one, other in zip(*drawn):
    assert one.std() > 0.01
    np.testing.assert_array_equal(one, other)
"""


def test_a_compatibility_profile_has_more_that_changes_nothing() -> None:
    """As pygame gives it unless asked for another: an alpha test of the host's took the thin smoke away."""
    environment = {**os.environ, "MESA_GL_VERSION_OVERRIDE": "4.5COMPAT"}
    environment["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    done = python("-c", COMPATIBLE, env=environment)
    if done.returncode == 77:
        pytest.skip("the driver has none")
    assert done.returncode == 0, done.stderr[-3000:]
