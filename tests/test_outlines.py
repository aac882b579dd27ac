"""The outlines of solids in smoke: the pass that mends them against its twin, and against 16 rays a pixel."""

from __future__ import annotations

from typing import Any

import moderngl
import numpy as np
import pytest
from numpy.typing import NDArray
from reference_outlines import mended, shown, spanned

import gpufluid as gf
from gpufluid.description.view import EXPOSURE, METHODS
from gpufluid.render import frame_targets, opaque
from gpufluid.render.camera import View, view_of
from gpufluid.render.floor import floor_depth
from gpufluid.render.frame import FrameRenderer
from gpufluid.render.frame_targets import CLEAR, SAMPLES, FrameTargets
from gpufluid.render.picture_passes import PicturePasses
from gpufluid.render.solids.drawn_solids import DrawnSolids

pytestmark = pytest.mark.usefixtures("device")  # which keeps the programs from test to test
Floats = NDArray[np.float64]
CAMERA = gf.Camera(target=(0.5, 0.5, 0.5), distance=2.6, azimuth=25.0)
FINER = 4  # rays across a pixel that the truth is the mean of
READ_ALL = """
#version 330 core
uniform sampler2DMS depths;
out vec4 out_depths;
void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    for (int n = 0; n < 4; ++n) out_depths[n] = texelFetch(depths, pixel, n).x;
}
"""


def foggy(ctx: moderngl.Context, extinction: float = 2.5) -> gf.Scene:
    """Two balls and a bar, one before the other, in even fog."""
    fluid = gf.Fluid(gf.Grid((16, 16, 16), 1 / 16), ctx=ctx)
    fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.22), (0.55, 0.45, 0.4), color=(0.02, 0.0, 0.0)))
    fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.15), (0.45, 0.5, 0.8), color=(0.0, 0.02, 0.05)))
    bar = gf.Cylinder(radius=0.04, height=0.8)
    fluid.obstacles.add(
        gf.Obstacle(bar, (0.3, 0.5, 0.6), rotation=(0.0, 0.0, 0.3, 0.954), color=(0.05, 0.05, 0.0))
    )
    fluid.step(1e-3)
    fluid.density.write(np.ones(fluid.grid.cells[::-1], np.float32))
    smoke = gf.Smoke(extinction)
    return gf.Scene(fluid, camera=CAMERA, smoke=smoke, floor=0.0)


def depths_of(ctx: moderngl.Context, texture: moderngl.Texture) -> Floats:
    """All samples of a depth texture, [y, x, 4], lowest row first."""
    program = ctx.program(
        vertex_shader="""
            #version 330 core
            void main() { gl_Position = vec4(4 * (gl_VertexID & 1) - 1, 2 * (gl_VertexID & 2) - 1, 0, 1); }
        """,
        fragment_shader=READ_ALL,
    )
    drawn = ctx.texture(texture.size, 4, dtype="f4")
    target, nothing = ctx.framebuffer([drawn]), ctx.vertex_array(program, [])
    before = ctx.fbo
    target.use()
    texture.use(0)
    ctx.enable_only(moderngl.NOTHING)
    nothing.render(vertices=3)
    values = np.frombuffer(drawn.read(), np.float32).reshape(*texture.size[::-1], 4).astype(np.float64)
    before.use()
    for thing in (target, drawn, nothing, program):
        thing.release()
    return values


def metres(view: View, depths: Floats) -> Floats:
    return metres_at(view, 2.0 * depths - 1.0)


def metres_at(view: View, z: Floats) -> Floats:
    a, b, c, d = view.depth_scale
    return (a * z + b) / (c * z + d)


@pytest.mark.parametrize(("extinction", "visible"), [(2.5, 0.02), (0.03, 1e-4)])
def test_outlines_equal_their_twin(
    ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch, extinction: float, visible: float
) -> None:
    """With a plane in front of some of them, which has no samples, and where the part that is seen ends."""
    scene = foggy(ctx, extinction)
    scene.views = [gf.SliceView(field="density", axis="x", position=0.6, legend=False)]
    frames = FrameRenderer(ctx, (96, 72))
    given: dict[str, Any] = {}
    mend = PicturePasses.mend_outlines

    def watched(
        self: PicturePasses,
        targets: FrameTargets,
        samples: moderngl.Texture,
        part: Any,
        gap: float,
        view: View,
        floor: float,
        exposure: float,
    ) -> None:
        given.update(before=frames.read_hdr()[::-1], ends=depths_of(ctx, samples), part=part, gap=gap)
        x, y, width, height = part
        clear = np.frombuffer(targets.another(CLEAR)[0].read(), np.float32).reshape(72, 96, 4)
        given["clear"] = clear[y : y + height, x : x + width]
        mend(self, targets, samples, part, gap, view, floor, exposure)
        given["after"] = frames.read_hdr()[::-1]

    monkeypatch.setattr(PicturePasses, "mend_outlines", watched)
    frames.draw(scene)
    resolved = np.frombuffer(frames.depth.read(), np.float32).reshape(72, 96)
    view = view_of(CAMERA, 96 / 72)
    hidden = resolved < given["ends"].min(axis=2)
    ends = np.where(hidden[..., None], 0.0, metres(view, given["ends"]))
    x, y, width, height = given["part"]
    inside = np.s_[y : y + height, x : x + width]
    spans = spanned(floor_depth(view, 0.0, (96, 72)), lambda z: metres_at(view, z), (96, 72))
    expected = given["before"].astype(np.float64)
    gaps = given["gap"] + spans[inside]
    expected[inside] = mended(expected[inside], given["clear"], ends[inside], gaps, EXPOSURE)
    changed = np.abs(expected - given["before"]).max(axis=2)
    assert hidden.any() and 20 < (changed > visible).sum() < 0.1 * changed.size
    np.testing.assert_allclose(given["after"], expected, rtol=1e-5, atol=0.01 * visible)
    frames.release()
    scene.release()


@pytest.mark.parametrize("method", [*METHODS, "half"])
def test_outlines_in_smoke_are_what_more_rays_see(
    ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """Pixels that the outline of a solid crosses against the mean of 16 rays through each: unmended they are
    twice as far off, at the mean and at the worst.
    """
    scene, small = foggy(ctx), (80, 60)
    how: dict[str, Any] = (
        {"method": "ray-march", "resolution": 0.5} if method == "half" else {"method": method}
    )
    pictures = []
    for size, mend in ((small, True), (small, False), (tuple(FINER * n for n in small), False)):
        with monkeypatch.context() as patched:
            if not mend:
                patched.setattr(PicturePasses, "mend_outlines", lambda *given: None)
            finest = {"method": METHODS[0]} if size != small else how
            frames = FrameRenderer(ctx, size, volume=gf.VolumeRenderer(ctx, slices=64, **finest))
            frames.draw(scene)
            pictures.append(frames.read_hdr()[..., :3].astype(np.float64))
            if mend:
                samples = frames._targets.samples
                assert samples is not None and samples.samples == SAMPLES
                depths = depths_of(ctx, samples)
                crossed = np.ptp(metres(view_of(CAMERA, 80 / 60), depths)[::-1], axis=2) > 0.125
            frames.release()
    many = pictures.pop().reshape(60, FINER, 80, FINER, 3).mean(axis=(1, 3))
    off, was = (np.abs(picture - many).max(axis=2)[crossed] for picture in pictures)
    scene.release()
    assert crossed.sum() > 100 and was.max() > 0.1
    assert off.mean() < 0.6 * was.mean() and off.max() < 0.6 * was.max()


def standing(ctx: moderngl.Context, elevation: float) -> gf.Scene:
    """A white box, turned, and half a ball on a dark floor, up to the ankles in fog."""
    fluid = gf.Fluid(gf.Grid((24, 12, 24), 1 / 12, origin=(-1.0, 0.0, -1.0)), ctx=ctx)
    turned = (0.0, 0.2, 0.0, 0.98)
    fluid.obstacles.add(
        gf.Obstacle(gf.Box(size=(0.9, 0.6, 0.5)), (0.0, 0.3, 0.0), turned, color=(0.9, 0.9, 0.9))
    )
    fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.2), (-0.5, 0.05, 0.6), color=(0.9, 0.8, 0.7)))
    fluid.step(1e-3)
    fluid.density.write(
        np.where(np.arange(12) < 3, 1.0, 0.0)[None, :, None] * np.ones((24, 1, 24), np.float32)
    )
    camera = gf.Camera(target=(0.0, 0.1, 0.0), distance=3.2, azimuth=20.0, elevation=elevation)
    return gf.Scene(fluid, camera=camera, smoke=gf.Smoke(0.0), floor=0.0)


def test_what_stands_on_the_floor_has_no_stairs(
    ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The feet of solids against the mean of 16 rays a pixel, and as they were with one depth a pixel."""
    small = (160, 90)
    scene, pictures = standing(ctx, 12.0), []
    for size, spread in ((small, True), (small, False), (tuple(FINER * n for n in small), True)):
        with monkeypatch.context() as patched:
            if not spread:
                patched.setattr(opaque, "write_depths", lambda *given, **more: None)
            frames = FrameRenderer(ctx, size, floor_color=(0.02, 0.02, 0.02))
            frames.draw(scene)
            pictures.append(frames.read_hdr()[..., :3].astype(np.float64))
            frames.release()
    scene.release()
    many = pictures.pop().reshape(90, FINER, 160, FINER, 3).mean(axis=(1, 3))
    feet = np.abs(pictures[0] - pictures[1]).max(axis=2) > 0.02
    off, was = (np.abs(picture - many).max(axis=2)[feet] for picture in pictures)
    assert feet.sum() > 20
    assert off.mean() < 0.5 * was.mean() and np.median(off) < 0.5 * np.median(was)


@pytest.mark.parametrize("elevation", [12.0, 4.0])
def test_fog_on_the_floor_is_one_beside_solids(
    ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch, elevation: float
) -> None:
    """Where the part of the picture that has more samples ends is not to be seen, nor from nearly level."""
    scene, size = standing(ctx, elevation), (160, 90)
    scene.smoke = gf.Smoke(12.0)
    pictures, depths = [], []
    for whole in (False, True):
        with monkeypatch.context() as patched:
            if whole:
                patched.setattr(DrawnSolids, "seen", lambda *given: (0, 0, *size))
            frames = FrameRenderer(ctx, size, floor_color=(0.02, 0.02, 0.02))
            frames.draw(scene)
            pictures.append(frames.read_hdr())
            depths.append(frames.read_depth())
            frames.release()
    scene.release()
    assert pictures[0][..., :3].max() > 0.5
    np.testing.assert_allclose(pictures[1], pictures[0], atol=1e-3)
    near = (depths[0] < 6.0) & (depths[1] < 6.0)
    np.testing.assert_allclose(depths[1][near], depths[0][near], rtol=1e-4)


@pytest.mark.parametrize(
    ("found", "fog"), [(False, None), (True, None), *((True, method) for method in METHODS)]
)
def test_the_outline_of_what_is_bright_has_no_steps(
    ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch, found: bool, fog: str | None
) -> None:
    """A glowing box in the dark against the mean of the light that 16 rays a pixel are shown as. The mean of
    their radiance is far too bright: half of what dazzles is shown as nearly all of it.
    """
    monkeypatch.setattr(frame_targets, "lit_later", lambda device: found)
    fluid, small, pictures = gf.Fluid(gf.Grid((16, 16, 16), 1 / 16), ctx=ctx), (80, 60), []
    glow, turned = (20.0, 9.0, 4.0), (0.1, 0.2, 0.3, 0.9)
    fluid.obstacles.add(gf.Obstacle(gf.Box(size=(0.5, 0.4, 0.3)), (0.5, 0.5, 0.5), turned, emission=glow))
    fluid.step(1e-3)
    fluid.density.write(np.full(fluid.grid.cells[::-1], 1.0 if fog else 0.0, np.float32))
    scene = gf.Scene(fluid, camera=CAMERA, smoke=gf.Smoke(2.0, albedo=(0.02, 0.02, 0.02)))
    for size in (small, tuple(FINER * n for n in small)):
        volume = gf.VolumeRenderer(ctx, method=fog or METHODS[0])
        with FrameRenderer(ctx, size, background=(0.01, 0.02, 0.03), volume=volume) as frames:
            frames.draw(scene)
            pictures.append(frames.read_hdr()[..., :3].astype(np.float64))
        volume.release()
    scene.release()
    rays = pictures.pop().reshape(60, FINER, 80, FINER, 3)
    light, radiance = shown(rays, EXPOSURE).mean(axis=(1, 3)), rays.mean(axis=(1, 3))
    crossed = np.ptp(rays[..., 0], axis=(1, 3)) > 0.5 * np.ptp(rays[..., 0])
    off, steps = ((shown(picture, EXPOSURE) - light)[crossed] for picture in (pictures[0], radiance))
    assert crossed.sum() > 50 and steps.mean() > 0.15
    assert abs(off.mean()) < 0.1 * steps.mean() and np.abs(off).mean() < 0.6 * steps.mean()


@pytest.mark.parametrize("found", [False, True])
def test_outlines_lie_between_what_they_part_at_any_exposure(
    ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch, found: bool
) -> None:
    """Also where all of it is shown as white, or as black, and where the exposure is no single float."""
    monkeypatch.setattr(frame_targets, "lit_later", lambda device: found)
    fluid, glow, turned = (
        gf.Fluid(gf.Grid((16, 16, 16), 1 / 16), ctx=ctx),
        (20.0, 9.0, 4.0),
        (0.1, 0.2, 0.3, 0.9),
    )
    fluid.obstacles.add(gf.Obstacle(gf.Box(size=(0.5, 0.4, 0.3)), (0.5, 0.5, 0.5), turned, emission=glow))
    scene = gf.Scene(fluid, camera=CAMERA, light=gf.Light(color=(0.0, 0.0, 0.0), ambient=(0.0, 0.0, 0.0)))
    behind, pictures = np.array((2.0, 3.0, 5.0)), []
    for exposure in (1e-5, 1e-9, 1e-50, 1e9):
        with FrameRenderer(ctx, (80, 60), exposure=exposure, background=tuple(behind)) as frames:
            frames.draw(scene)
            pictures.append(frames.read_hdr()[..., :3])
    scene.release()
    for picture in pictures:
        assert (picture >= 0.999 * np.minimum(glow, behind)).all()
        assert (picture <= 1.001 * np.maximum(glow, behind)).all()
    np.testing.assert_allclose(pictures[1], pictures[0], rtol=0.01)
    assert ((pictures[0][..., 0] > 2.1) & (pictures[0][..., 0] < 19.9)).sum() > 30
