"""Drivers that lack something: another way is taken, or what is missing is named."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import moderngl
import numpy as np
import pytest
from driver import within

import gpufluid as gf
from gpufluid.contract.layout import FlatLayout
from gpufluid.gl import capabilities as module
from gpufluid.gl.backend import GLBackend
from gpufluid.gl.calls import Calls, calls
from gpufluid.gl.capabilities import IMAGE_FORMAT, Capabilities, capabilities
from gpufluid.gl.device import Device
from gpufluid.gl.kernel_source import KernelSource
from gpufluid.gl.messages import take
from gpufluid.gl.source import shader_root
from gpufluid.numerics.solver import Solver

Lacking = Callable[..., Capabilities]


@pytest.fixture
def lacking(ctx: moderngl.Context, monkeypatch: Any) -> Lacking:
    """Have the shared context lack something in the test, as far as the engine can tell."""

    def have(**changes: Any) -> Capabilities:
        less = replace(capabilities(ctx), **changes)
        monkeypatch.setitem(module._known, ctx, less)
        return less

    return have


def scene(ctx: moderngl.Context, cells: tuple[int, int, int] = (10, 12, 8), **rules: Any) -> gf.Scene:
    """A little fire below a ball, stepped."""
    backend, solid = rules.pop("backend", "fragment"), rules.pop("solid", None)
    settings = gf.Settings(pressure=gf.Multigrid(1), combustion=gf.Combustion(), **rules)
    fluid = gf.Fluid(gf.Grid(cells, 0.1), settings=settings, backend=backend, ctx=ctx)
    low = gf.Sphere((0.5, 0.3, 0.4), 0.2)
    fluid.emitters.add(gf.Emitter(low, density=6.0, temperature=2.0, fuel=1.0, velocity=(0.0, 0.5, 0.0)))
    if solid is not None:
        fluid.obstacles.add(solid)
    for _ in range(3):
        fluid.step(0.05)
    return gf.Scene(
        fluid, camera=gf.Camera(target=(0.5, 0.6, 0.4), distance=3.0), fire=gf.Fire(shimmer=1.0), floor=0.0
    )


def picture(ctx: moderngl.Context, made: gf.Scene, fire: bool = True) -> np.ndarray:
    if not fire:  # whose table of colours is 256 texels long
        made.fire = None
    frame = gf.FrameRenderer(ctx, (48, 32))
    frame.draw(made)
    out = frame.read().astype(float)
    frame.release()
    made.fluid.release()
    return out


def test_this_driver_is_as_it_says(ctx: moderngl.Context) -> None:
    """OpenGL 3.3 asks every driver for all of it; what is tried agrees on the renderer of the tests."""
    able = capabilities(ctx)
    assert able.drawn == able.filtered == frozenset(IMAGE_FORMAT)
    assert able.max_texture_size == ctx.info["GL_MAX_TEXTURE_SIZE"]
    while ctx.error != "GL_NO_ERROR":  # what moderngl asks for beyond the version
        pass


def test_what_is_larger_than_a_viewport_is_too_large(ctx: moderngl.Context, monkeypatch: Any) -> None:
    """OpenGL cuts a viewport off, and says nothing."""
    real, limits = Calls.integers, {0x0D3A: (4096, 2048)}

    def integers(self: Calls, name: int, count: int = 1, index: int | None = None) -> tuple[int, ...]:
        return limits.get(name) or real(self, name, count, index)

    monkeypatch.setattr(Calls, "integers", integers)
    assert module._tried(ctx).max_texture_size == 2048


def test_the_end_of_memory_is_told_whatever_went_wrong_before(
    ctx: moderngl.Context, monkeypatch: Any
) -> None:
    """OpenGL keeps the first error, and of an earlier one of a host's the engine's passes went on without."""
    device = Device(ctx, "fragment")
    if not device.renderer.startswith("llvmpipe"):
        pytest.skip("a GPU may have so much")
    monkeypatch.setattr(device, "software", False)
    for earlier in (False, True):
        if earlier:
            calls(ctx).glEnable(0x1234)
        with pytest.raises(gf.GpufluidError, match="smoke: no memory left for a texture of 16384 x 16384"):
            device.texture((16384, 16384), 4, "f4", "smoke")  # 4 GB, of 1 that it makes at most
        take(ctx)
    device.release()


def test_a_trial_tells_what_fails(ctx: moderngl.Context, monkeypatch: Any) -> None:
    real_target, real_texture = type(ctx).framebuffer, type(ctx).texture

    def framebuffer(self: Any, attached: Any = (), depth: Any = None) -> Any:
        if attached and attached[0].dtype == "f2":
            raise moderngl.Error("the framebuffer is not complete (UNSUPPORTED)")
        return real_target(self, attached, depth)

    def texture(*given: Any, **by_name: Any) -> Any:
        made = real_texture(*given, **by_name)
        if made.size == (2, 1) and made.components == 1:
            made.write(np.zeros(2, made.dtype).tobytes(), alignment=1)  # so that halfway is no longer 1/2
        return made

    monkeypatch.setattr(type(ctx), "framebuffer", framebuffer)
    monkeypatch.setattr(type(ctx), "texture", texture)
    able = module._tried(ctx)
    assert able.drawn == {(1, "f4"), (4, "f4")}
    assert able.filtered == {(4, "f4")}


@pytest.mark.parametrize("stage", ["fragment", "compute"])
def test_half_floats_are_rounded_by_passes_where_the_driver_cuts_them_off(
    ctx: moderngl.Context, lacking: Lacking, rng: np.random.Generator, stage: str
) -> None:
    """The trial says what a pass without rounding of its own leaves, and a pass has it if need be alone."""
    if stage == "compute" and ctx.version_code < 430:
        pytest.skip("no compute shaders here")
    does = stage in capabilities(ctx).nearest
    warm, speeds = rng.random((6, 7, 8)).astype(np.float16), {}
    for precision, nearest in (("single", ()), ("half", ()), ("half", (stage,))):
        lacking(nearest=frozenset(nearest))
        rules = gf.Settings(precision=precision, pressure=gf.Jacobi(0))
        with gf.Fluid(gf.Grid((8, 7, 6), 0.1), settings=rules, backend=stage, ctx=ctx) as fluid:
            fluid.temperature.write(warm)
            fluid.step(0.01)
            speeds[precision, bool(nearest)] = fluid.velocity.read()
    rounded = speeds["single", False].astype(np.float16)
    np.testing.assert_array_equal(speeds["half", False], rounded)
    assert np.array_equal(speeds["half", True], rounded) == does


def test_images_and_colours_together_are_no_more_than_a_driver_has(
    ctx: moderngl.Context, lacking: Lacking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OpenGL 4.2 promises eight in a fragment shader: the rest is read as textures, with the same bits."""
    if ctx.version_code < 420:
        pytest.skip("no images here")
    monkeypatch.setattr(GLBackend, "eighths", True)
    counts, steps = set[int](), []
    declared = KernelSource._declare_inputs

    def counted(source: KernelSource, hardware: bool) -> None:
        declared(source, hardware)
        counts.add(sum(each.as_image for each in source.inputs) + len(source.kernel.write.parts))

    monkeypatch.setattr(KernelSource, "_declare_inputs", counted)
    for few in (False, True):
        if few:
            lacking(max_images=8, max_outputs=8)
        backend = GLBackend(gf.Grid((16, 12, 8), 0.1), "fragment", ctx, reading="image")
        solver = Solver(backend, gf.Settings(pressure=gf.Jacobi(6)), gf.Boundaries())
        counts.clear()
        source = gf.Emitter(gf.Sphere((0.8, 0.6, 0.4), 0.3), density=3.0, velocity=(1.0, 2.0, 0.5))
        solver.step(0.05, [source], [])
        steps.append((solver.velocity.read(), solver.scalars.read(), max(counts)))
        solver.release()
        backend.release()
    assert steps[0][2] > 8 == steps[1][2]
    for one, other in zip(steps[0][:2], steps[1][:2], strict=True):
        assert one.std() > 0.01 and np.array_equal(one, other)


def test_without_half_floats_pictures_are_of_single_ones(ctx: moderngl.Context, lacking: Lacking) -> None:

    def as_on_a_gpu() -> gf.FrameRenderer:
        frame = gf.FrameRenderer(ctx, (48, 31))
        frame.device.software = False  # in software pictures are of single floats anyhow
        frame.resize((48, 32))
        return frame

    usual, other = picture(ctx, scene(ctx)), as_on_a_gpu()
    assert other._targets.color.dtype == "f2"
    other.release()
    lacking(drawn=frozenset({(1, "f4"), (4, "f4")}))
    made = scene(ctx)
    assert made.fluid.scalars.front.dtype == "f4"
    frame = as_on_a_gpu()
    assert frame._targets.color.dtype == "f4"
    frame.draw(made)
    radiance = frame.read_hdr()
    assert radiance.shape == (32, 48, 4) and 0.01 < radiance.std() < 10.0
    frame.release()
    alike = picture(ctx, made)
    assert usual.std() > 10.0
    assert np.abs(alike - usual).max() <= 2.0  # of 255, the rounding of halves
    with pytest.raises(
        gf.GLUnavailableError, match=r'precision="half" .* R16F and RGBA16F .* use precision="single"'
    ):
        gf.Fluid(gf.Grid((4, 4, 4)), settings=gf.Settings(precision="half"), backend="fragment", ctx=ctx)


def test_without_single_floats_the_format_is_named(ctx: moderngl.Context, lacking: Lacking) -> None:
    lacking(drawn=frozenset({(1, "f2"), (4, "f2"), (1, "f4")}))
    with pytest.raises(
        gf.GLUnavailableError, match=r"RGBA32F that can be drawn to, and .* has none: .*numpy"
    ):
        gf.Fluid(gf.Grid((4, 4, 4)), backend="fragment", ctx=ctx)


def test_one_place_leaves_filtering_floats_to_the_driver() -> None:
    """The others read bytes, which every driver filters, depths and noise at centres of texels, or compare.

    What is filtered of the depths of shadows is what a comparison says, 0 or 1.
    """
    bytes_or_centres = {"colors", "letters", "noise_tile", "plate", "scene_depth", "solid_depths"}
    read = {
        (path.name, name)
        for path in shader_root().rglob("*.glsl")
        for name in re.findall(
            r"\btexture(?:Lod|Grad|Offset|Gather)?\((\w+)", path.read_text(encoding="utf-8")
        )
    }
    assert ("between.glsl", "texels") in read
    assert {name for file, name in read if file != "between.glsl"} == bytes_or_centres


@pytest.mark.parametrize(
    ("backend", "methods"),
    [("fragment", ("view-slices", "ray-march")), ("compute", ())],
    ids=["fragment", "compute"],
)
def test_without_filtering_steps_and_pictures_are_the_same(
    ctx: moderngl.Context, lacking: Lacking, backend: str, methods: tuple[str, ...]
) -> None:
    """Samplers are nearest ones then: what still left the filtering to the driver would look otherwise."""

    def look() -> tuple[list[np.ndarray], list[np.ndarray]]:
        ball = gf.Obstacle(gf.Sphere((0.5, 0.7, 0.4), 0.15))
        # each stage takes its steps either with a solid or without
        made = scene(ctx, sampler="hardware", backend=backend, solid=ball if methods else None)
        fluid = made.fluid
        made.lights = [gf.PointLight((0.9, 0.9, 0.9), color=(0.4, 0.6, 2.0))]
        made.views = [
            gf.SliceView("temperature"),
            gf.IsoSurfaceView("density", 1.0),
            gf.ParticlesView(200, [gf.ParticleSource(gf.Sphere((0.5, 0.4, 0.4), 0.2))], color="speed"),
        ]
        fluid.step(0.05)
        pictures = []
        for method in methods:
            frame = gf.FrameRenderer.of(gf.Picture(method=method), ctx, (96, 64))
            frame.draw(made)
            pictures.append(frame.read().astype(float))
            frame.release()
        state = [fluid.density.read(), fluid.velocity.read(), fluid.temperature.read()]
        fluid.release()
        return state, pictures

    filtered = look()
    lacking(filtered=frozenset({(1, "f2"), (4, "f2")}))  # as where single floats are not filtered
    by_hand = look()
    for a, b in zip(filtered[0], by_hand[0], strict=True):
        assert np.abs(a).max() > 0.5
        assert np.abs(a - b).max() <= within(1e-4, 4e-3) * np.abs(a).max()
    for a, b in zip(filtered[1], by_hand[1], strict=True):
        assert a.std() > 10.0
        assert np.abs(a - b).max() <= within(1.0, 16.0)  # of 255


def test_a_small_texture_limit(ctx: moderngl.Context, lacking: Lacking) -> None:
    """A grid takes the tilings that are left; where there is none both sizes are named."""
    usual = picture(ctx, scene(ctx), fire=False)
    limit = 64
    lacking(max_texture_size=limit)
    made = scene(ctx)
    textures = [field.front for field in made.fluid.device.fields]  # type: ignore[union-attr]
    assert max(max(texture.size) for texture in textures) <= limit
    with pytest.raises(gf.GpufluidError, match="width of a picture must lie in 1 .. 64 pixels, got 65"):
        gf.FrameRenderer(ctx, (65, 32))
    assert np.abs(picture(ctx, made, fire=False) - usual).max() <= 2.0
    with pytest.raises(
        gf.GpufluidError, match=r"17 x 17 x 17 values needs a texture of 85 texels .* here is 64"
    ):
        gf.Fluid(gf.Grid((16, 16, 16)), backend="fragment", ctx=ctx)


@pytest.mark.parametrize(
    "cells", [(256, 240, 200), (4095, 64, 4), (2, 4095, 62), (128, 128, 511), (61, 61, 4095)]
)
def test_what_fits_4096_texels_is_found(cells: tuple[int, int, int]) -> None:
    from gpufluid.contract.layout import layouts

    for kind, layout in layouts(gf.Grid(cells), 4096).items():
        assert max(layout.texture_size) <= 4096, kind
        assert layout.columns * layout.rows >= layout.size[2]


def test_what_does_not_names_both_sizes() -> None:
    from gpufluid.contract.layout import layouts

    with pytest.raises(gf.GpufluidError, match=r"257 x 257 x 257 values needs a texture of 4369 .* is 4096"):
        _ = layouts(gf.Grid((256, 256, 256)), 4096)["face"].columns


@pytest.mark.parametrize(
    ("size", "limit"), [((24, 24, 5), 64), ((9000, 9000, 2), 16384), ((3, 61, 26), 64), ((70, 1, 1), 64)]
)
def test_the_size_that_is_named_is_what_it_takes(size: tuple[int, int, int], limit: int) -> None:
    """By the number of texels 54 a side would do for the first, but the limit of 64 was what it lacked."""
    with pytest.raises(gf.GpufluidError) as told:
        _ = FlatLayout(size, 1, limit).columns
    side = int(re.findall(r"texture of (\d+) texels", str(told.value))[0])
    assert max(FlatLayout(size, 1, side).texture_size) == side > limit
    with pytest.raises(gf.GpufluidError):
        _ = FlatLayout(size, 1, side - 1).columns


def test_light_that_does_not_fit_is_named(ctx: moderngl.Context, lacking: Lacking) -> None:
    """Its tiles are a little wider than a slice: a box that just fits may have none that is as fine."""
    lacking(max_texture_size=64)
    with gf.Fluid(gf.Grid((60, 60, 1), 0.1), backend="fragment", ctx=ctx) as fluid:
        target = ctx.simple_framebuffer((32, 32))
        camera = gf.Camera((3.0, 3.0, 0.05), 8.0)
        made, coarse = gf.VolumeRenderer(ctx), gf.VolumeRenderer(ctx, light_scale=0.5)
        told = (
            r"the light in 60 x 60 x 1 cells does not fit; a smaller light_scale may: .* the limit here is 64"
        )
        with pytest.raises(gf.GpufluidError, match=told):
            made.render(fluid, camera, target)
        fluid.density.write(np.ones((1, 60, 60)))
        coarse.render(fluid, camera, target)
        assert any(target.read())
        for thing in (made, coarse, target):
            thing.release()
