"""The views in a renderer of somebody else's: viewports, depth, what is made anew, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import moderngl
import numpy as np
import pytest
from driver import told_on_gl_33
from reading import nothing_new
from view_flows import BALL, ball_flow, parallel, round_a_ball, write_velocity

import gpufluid as gf
from gpufluid.gl.contexts import create_context
from gpufluid.render.camera import view_of

CAMERA = gf.Camera(target=(0.0, 0.6, 0.0), distance=2.4, azimuth=25.0, elevation=10.0, near=0.5, far=6.0)
SIZE = (96, 64)


@pytest.fixture(scope="module")
def fluid(ctx: moderngl.Context) -> Iterator[gf.Fluid]:
    made = ball_flow(ctx)
    yield made
    made.release()


def views(ctx: moderngl.Context) -> dict[str, Any]:
    """One of each, small."""
    seeds = gf.line_of_seeds((-0.3, 0.1, 0.0), (0.3, 0.1, 0.0), 7)
    return {
        "particles": gf.Particles(ctx, 4000, [gf.Box((0, 0.5, 0), (0.6, 0.8, 0.6))], life=0.6, size=4.0),
        "hot particles": gf.Particles(
            ctx,
            4000,
            [BALL, gf.Box((0, 0.5, 0), (0.6, 0.8, 0.6))],
            life=0.6,
            color="temperature",
            blend="alpha",
        ),
        "streamlines": gf.Streamlines(ctx, seeds, points=60, line_width=3.0),
        "streaks": gf.StreakLines(ctx, seeds, points=30, line_width=3.0),
        "glyphs": gf.Glyphs(ctx, spacing=4),
        "slice": gf.SlicePlane(ctx, "speed", legend=False),
        "glassy slice": gf.SlicePlane(ctx, "pressure", axis="x", opacity=0.5, legend=False, contours=5),
        "surface": gf.IsoSurface(ctx, "density", 0.3),
        "voxels": gf.VoxelView(ctx, "cubes"),
        "wires": gf.VoxelView(ctx),
    }


@pytest.fixture(scope="module")
def all_views(ctx: moderngl.Context, fluid: gf.Fluid) -> Iterator[dict[str, Any]]:
    """One of each, with particles and streaks on their way."""
    made = views(ctx)
    for view in made.values():
        if hasattr(view, "advance"):
            for _ in range(20):
                view.advance(fluid, 0.05)
    yield made
    for view in made.values():
        view.release()


NAMES = [
    "particles",
    "hot particles",
    "streamlines",
    "streaks",
    "glyphs",
    "slice",
    "glassy slice",
    "surface",
    "voxels",
    "wires",
]


class Scene:
    """A target with depth, filled with a pattern; and what it is filled with."""

    def __init__(self, ctx: moderngl.Context, size: tuple[int, int] = SIZE, far: float = 1.0) -> None:
        self.texture = ctx.texture(size, 4, dtype="f4")
        self.depth = ctx.depth_texture(size)
        self.target = ctx.framebuffer([self.texture], self.depth)
        self.bare = ctx.framebuffer([self.texture])
        self.background = np.random.default_rng(1).random((size[1], size[0], 4)).astype("f4")
        self.clear(far)

    def clear(self, depth: float = 1.0) -> None:
        self.target.clear(depth=depth)
        self.texture.write(self.background.tobytes())

    def read(self) -> Any:
        width, height = self.texture.size
        return np.frombuffer(self.texture.read(), np.float32).reshape(height, width, 4)

    def changed(self) -> Any:
        return (self.read() != self.background).any(-1)


def depth_at(camera: Any, metres: float) -> float:
    """The depth, 0 .. 1, of what is so far in front of the eye."""
    a, b, c, d = view_of(camera, SIZE[0] / SIZE[1]).depth_scale
    return 0.5 + 0.5 * (b - d * metres) / (c * metres - a)


def cameras() -> dict[str, Any]:
    view = view_of(CAMERA, SIZE[0] / SIZE[1])
    flat = parallel(1.05, 0.7, 0.5, 6.0)
    turned = np.diag([1.0, 1.0, -1.0, 1.0])
    return {
        "perspective": CAMERA,
        "parallel": (view.view, flat),
        "reversed": (view.view, turned @ view.projection),
        "reversed parallel": (view.view, turned @ flat),
    }


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", list(cameras()))
def test_the_scene_hides_what_is_behind(
    ctx: moderngl.Context, fluid: gf.Fluid, all_views: dict[str, Any], name: str, kind: str
) -> None:
    """Behind a wall before the box there is nothing, before one behind it all; however depth is given."""
    made, camera = all_views[name], cameras()[kind]
    far = 0.0 if "reversed" in kind else 1.0
    scene, other = Scene(ctx, far=far), Scene(ctx)
    made.render(fluid, camera, scene.target)
    free, count = scene.read().copy(), int(scene.changed().sum())
    assert count > 60
    middle = 2.45 if name == "streaks" else 2.3
    for metres, seen in ((0.6, 0.0), (middle, 0.5), (5.5, 1.0)):
        pictures = []
        for how in ("sampled", "attached", "sampled bare"):
            depth = scene.depth if how == "attached" else other.depth
            other.target.clear(depth=depth_at(camera, metres))
            scene.clear(depth_at(camera, metres) if how == "attached" else far)
            made.render(fluid, camera, scene.bare if "bare" in how else scene.target, depth=depth)
            pictures.append(scene.read().copy())
        share = float(scene.changed().sum()) / count
        assert share == seen if seen != 0.5 else 0.05 < share < 0.98
        for picture in pictures[1:]:
            differs = (picture != pictures[0]).any(-1)
            assert differs.sum() <= 3, "the depth test and sampling disagree"
        if seen == 1.0:
            np.testing.assert_array_equal(pictures[0], free)


def test_depth_is_not_read_while_it_is_written(ctx: moderngl.Context, all_views: dict[str, Any]) -> None:
    """GL leaves open what comes of it; a software renderer would not tell."""
    made, scene, other = all_views["slice"], Scene(ctx), Scene(ctx)
    opaque = made.shot(CAMERA, scene.target, scene.depth)
    assert opaque.sampled is None and opaque.target is scene.target
    clear = all_views["particles"].shot(CAMERA, scene.target, scene.depth)
    assert clear.sampled is scene.depth and clear.target.depth_attachment is None
    assert made.shot(CAMERA, scene.target, other.depth).sampled is other.depth
    assert made.shot(CAMERA, scene.bare, None).target.depth_attachment is not None


@pytest.mark.parametrize("name", NAMES)
def test_a_viewport_is_a_picture_of_its_own(
    ctx: moderngl.Context, fluid: gf.Fluid, all_views: dict[str, Any], name: str
) -> None:
    """In a part of a larger target: the same picture there, and not a bit outside; depth of either size."""
    made = all_views[name]
    alone, large = Scene(ctx), Scene(ctx, (150, 100))
    large.background[20:84, 31:127] = alone.background
    mask = np.zeros((100, 150), bool)
    mask[20:84, 31:127] = True
    small_depth = ctx.depth_texture(SIZE)
    ramp = np.tile(np.linspace(0.72, 0.98, 96, dtype="f4"), (64, 1))
    small_depth.write(ramp.tobytes())
    made.render(fluid, CAMERA, alone.bare, depth=small_depth)
    assert alone.changed().any()
    for given in ("viewport", "target"):
        large.clear()
        if given == "target":
            wide = np.ones((100, 150), "f4")
            wide[20:84, 31:127] = ramp
            large.depth.write(wide.tobytes())
        large.bare.viewport = 31, 20, 96, 64
        made.render(fluid, CAMERA, large.bare, depth=small_depth if given == "viewport" else large.depth)
        assert large.bare.viewport == (31, 20, 96, 64)
        assert not large.changed()[~mask].any()
        apart = np.abs(large.read()[20:84, 31:127] - alone.read()).max(-1)
        assert (apart > 0.004).sum() <= 20  # elsewhere, the same is rounded another way
        np.testing.assert_allclose(large.read()[20:84, 31:127].mean(), alone.read().mean(), rtol=1e-3)


def test_opaque_views_hide_each_other(
    ctx: moderngl.Context, fluid: gf.Fluid, all_views: dict[str, Any]
) -> None:
    """The order does not matter where depth is written, but for soft edges."""
    for near, far in (("slice", "voxels"), ("glyphs", "voxels"), ("surface", "wires")):
        pictures = []
        for order in ((near, far), (far, near)):
            scene = Scene(ctx)
            for name in order:
                all_views[name].render(fluid, CAMERA, scene.target)
            pictures.append(scene.read().copy())
        assert (np.abs(pictures[0] - pictures[1]).max(-1) > 0.01).mean() < 0.03
        assert scene.changed().mean() > 0.05


def test_later_frames_make_nothing(ctx: moderngl.Context, fluid: gf.Fluid, all_views: dict[str, Any]) -> None:
    targets = [Scene(ctx), Scene(ctx)]
    texture = ctx.simple_framebuffer((200, 140))
    flat = gf.FlatTextureView(ctx), gf.HistogramView(ctx), gf.SlicePlane(ctx)

    def draw() -> None:
        for view in all_views.values():
            if hasattr(view, "advance"):
                view.advance(fluid, 0.02)
            view.render(fluid, CAMERA, targets[0].target, depth=targets[1].depth)
            view.render(fluid, CAMERA, targets[0].target, depth=targets[0].depth)
        flat[0].render(fluid, texture)
        flat[1].render(fluid, texture)
        flat[2].render(fluid, CAMERA, texture)

    draw()
    ball = fluid.obstacles[0]
    with nothing_new():
        draw()
        # one that grows is drawn from the same triangles
        ball.shape = gf.Sphere(BALL.center, 0.9 * BALL.radius)
        draw()
    ball.shape = BALL
    for view in flat:
        view.release()


def test_targets_with_several_samples(
    ctx: moderngl.Context, fluid: gf.Fluid, all_views: dict[str, Any]
) -> None:
    """Resolved, they show what a plain target does, with softer edges; with depth and without."""
    if ctx.max_samples < 4:
        pytest.skip("this renderer has no multisampling")
    plain, resolved = ctx.simple_framebuffer(SIZE), ctx.simple_framebuffer(SIZE)
    color, depth = ctx.renderbuffer(SIZE, 4, samples=4), ctx.depth_renderbuffer(SIZE, samples=4)
    for many in (ctx.framebuffer([color], depth), ctx.framebuffer([color])):
        for name, view in all_views.items():
            pictures = []
            for target in (many, plain):
                target.clear(depth=1.0)
                view.render(fluid, CAMERA, target)
            ctx.copy_framebuffer(resolved, many)
            for target in (resolved, plain):
                pictures.append(np.frombuffer(target.read(components=3), np.uint8).reshape(64, 96, 3) / 255.0)
            assert pictures[1].std() > 0.01
            assert np.abs(pictures[0] - pictures[1]).mean() < 0.02, name
            np.testing.assert_allclose(pictures[0].mean(), pictures[1].mean(), rtol=0.1, err_msg=name)


def test_the_other_colors_of_a_target_are_left_alone(
    ctx: moderngl.Context, fluid: gf.Fluid, all_views: dict[str, Any]
) -> None:
    """Normals, motion: what a host draws beside the picture. The first color shows what it does alone."""
    size = 240, 160
    scene, beside = Scene(ctx, size), ctx.texture(size, 4, dtype="f4")
    kept = np.random.default_rng(2).random((160, 240, 4)).astype("f4").tobytes()
    smoke, frame = gf.VolumeRenderer(ctx), gf.FrameRenderer(ctx, size)
    frame.draw(gf.Scene(fluid, camera=CAMERA))
    draws: dict[str, Any] = {
        name: lambda target, depth, view=view: view.render(fluid, CAMERA, target, depth)
        for name, view in (*all_views.items(), ("smoke", smoke))
    }
    flat = {"flat": gf.FlatTextureView(ctx), "histogram": gf.HistogramView(ctx)}
    draws |= {
        name: lambda target, depth, view=view: view.render(fluid, target) for name, view in flat.items()
    }
    draws["frame"] = lambda target, depth: frame.present(target)
    for attached in (None, scene.depth):
        several = ctx.framebuffer([scene.texture, beside], attached)
        for name, draw in draws.items():
            pictures = []
            for target in (several, ctx.framebuffer([scene.texture], attached)):
                scene.clear()
                beside.write(kept)
                masks = target.color_mask
                draw(target, scene.depth)
                assert target.color_mask == masks
                pictures.append(scene.read())
                assert beside.read() == kept, name
            assert scene.changed().any(), name
            np.testing.assert_array_equal(*pictures, err_msg=name)
    for made in (smoke, frame, *flat.values()):
        made.release()


def test_released_views_say_so(ctx: moderngl.Context, fluid: gf.Fluid) -> None:
    for view in views(ctx).values():
        view.release()
        view.release()
        with pytest.raises(gf.GpufluidError, match="was released"):
            view.render(fluid, CAMERA, ctx.simple_framebuffer(SIZE))


def test_nothing_moves_in_air_at_rest(ctx: moderngl.Context) -> None:
    """No range, no flow, no solid: every view still draws, or draws nothing."""
    with gf.Fluid(gf.Grid((8, 8, 8), 0.15), backend="fragment", ctx=ctx) as still:
        target = ctx.simple_framebuffer(SIZE)
        for name, view in views(ctx).items():
            target.clear()
            if hasattr(view, "advance"):
                view.advance(still, 0.1)
            view.render(still, CAMERA, target)
            drawn = np.frombuffer(target.read(components=3), np.uint8).any()
            assert drawn == (name in ("particles", "hot particles", "slice", "glassy slice")), name
            view.release()
        assert ctx.error == "GL_NO_ERROR"


@pytest.mark.parametrize("case", ["2d", "sides", "half", "compute"])
def test_every_view_of_every_fluid(ctx: moderngl.Context, case: str) -> None:
    """A plane box, sides of every kind, half precision, the other stage: something is drawn."""
    if case == "compute" and ctx.version_code < 430:
        pytest.skip("this context has no compute shaders")
    every = gf.Boundaries(
        left=gf.Periodic(), right=gf.Periodic(), top=gf.Open(), bottom=gf.Inflow((0, 0.4, 0)), back=gf.Open()
    )
    cells = (16, 23, 1) if case == "2d" else (16, 23, 13)
    size = 1.2 / 23
    strange = gf.Fluid(
        gf.Grid(cells, size, (-0.42, 0.0, -0.5 * size * cells[2])),
        every if case == "sides" else None,
        gf.Settings(precision="half" if case == "half" else "single", buoyancy=3.0),
        backend="compute" if case == "compute" else "fragment",
        ctx=ctx,
    )
    strange.obstacles.add(gf.Obstacle(gf.Sphere((0.0, 0.6, 0.0), 0.15)))
    strange.solid.read()
    write_velocity(strange, round_a_ball)
    strange.density.write(np.ones(cells[::-1]) * (np.arange(cells[1]) < 8)[:, None])
    strange.temperature.write(strange.density.read())
    made = views(ctx)
    for view in made.values():
        for _ in range(12):
            if hasattr(view, "advance"):
                view.advance(strange, 0.05)
    for name, view in made.items():
        target = ctx.simple_framebuffer(SIZE)
        target.clear()
        view.render(strange, CAMERA, target)
        assert np.frombuffer(target.read(components=3), np.uint8).std() > 1.0, name
        view.release()
    assert ctx.error == "GL_NO_ERROR"
    strange.release()


def test_linear_targets_get_linear_light(ctx: moderngl.Context, fluid: gf.Fluid) -> None:
    """sRGB (IEC 61966-2-1): 0.5 on a screen is 0.214 of its light."""
    means = []
    for linear in (False, True):
        scene = Scene(ctx)
        made = gf.SlicePlane(ctx, "density", colors="gray", range=(-1e6, 1e6), legend=False, linear=linear)
        made.render(fluid, CAMERA, scene.target)
        means.append(np.median(scene.read()[scene.changed()][:, 0]))
        made.release()
    assert means == pytest.approx([0.5, 0.2140], abs=0.005)


# -- what is refused -----------------------------------------------------------------------------------------

BAD = [
    (lambda c: gf.SlicePlane(c, "presure"), "SlicePlane.field must be one of .* did you mean 'pressure'"),
    (lambda c: gf.SlicePlane(c, "speed", colors="virdis"), "colors must be one of .* did you mean 'viridis'"),
    (lambda c: gf.SlicePlane(c, "speed", range=(1.0, 1.0)), r"SlicePlane.range: low must be less than high"),
    (lambda c: gf.SlicePlane(c, "speed", range=3.0), r"SlicePlane.range must be two numbers"),
    (lambda c: gf.SlicePlane(c, axis="w"), "SlicePlane.axis must be one of 'x', 'y', 'z', got 'w'"),
    (lambda c: gf.SlicePlane(c, position=float("nan")), "SlicePlane.position must be a finite number"),
    (lambda c: gf.SlicePlane(c, normal=(0, 0, 0)), r"SlicePlane.normal must not be \(0, 0, 0\)"),
    (lambda c: gf.SlicePlane(c, opacity=1.5), r"SlicePlane.opacity must lie in 0 .. 1"),
    (lambda c: gf.SlicePlane(c, contours=1000), r"SlicePlane.contours must be a whole number in 0 .. 100"),
    (lambda c: gf.IsoSurface(c, "smoke"), "IsoSurface.field must be one of"),
    (lambda c: gf.IsoSurface(c, level=float("inf")), "IsoSurface.level must be a finite number"),
    (lambda c: gf.IsoSurface(c, color=(2, 0, 0)), "IsoSurface.color must be"),
    (lambda c: gf.VoxelView(c, "cube"), "VoxelView.style must be one of .* did you mean 'cubes'"),
    (lambda c: gf.VoxelView(c, fill=0.0), "VoxelView.fill must be a finite number > 0"),
    (lambda c: gf.FlatTextureView(c, "denisty"), "did you mean 'density'"),
    (lambda c: gf.HistogramView(c, bins=0), r"HistogramView.bins must be a whole number in 1 .. 512"),
    (lambda c: gf.HistogramView(c, legend=True), "legend"),
    (lambda c: gf.Glyphs(c, spacing=0.5), "Glyphs.spacing must be a finite number >= 1"),
    (lambda c: gf.Glyphs(c, length=-1.0), "Glyphs.length must be a finite number > 0"),
    (lambda c: gf.Streamlines(c, []), r"Streamlines.seeds must be one or more points"),
    (lambda c: gf.Streamlines(c, [(0, 0, float("nan"))]), "Streamlines.seeds must be finite, but point 0"),
    (lambda c: gf.Streamlines(c, [(0, 0, 0)], step=2.0), "Streamlines.step must be at most 1, got 2"),
    (lambda c: gf.Streamlines(c, [(0, 0, 0)], points=1), r"Streamlines.points must be a whole number in 2"),
    (
        lambda c: gf.StreakLines(c, [(0, 0, 0)], interval=0.0),
        "StreakLines.interval must be a finite number > 0",
    ),
    (lambda c: gf.StreakLines(c, [(0, 0, 0)], line_width=0.0), "StreakLines.line_width must be"),
    (lambda c: gf.Particles(c, 0, [gf.Sphere()]), r"Particles.count must be a whole number in 1"),
    (lambda c: gf.Particles(c, 10), "Particles.sources must name at least one place"),
    (lambda c: gf.Particles(c, 10, [gf.Plane()]), "ParticleSource.shape must be a Sphere, Box, Cylinder"),
    (lambda c: gf.Particles(c, 10, [gf.Sphere()], life=0.0), "Particles.life must be a finite number > 0"),
    (lambda c: gf.Particles(c, 10, [gf.Sphere()], color="heat"), "Particles.color must be one of"),
    (
        lambda c: gf.Particles(c, 10, [gf.Sphere()], blend="add"),
        "Particles.blend must be one of 'additive', 'alpha', got 'add'",
    ),
    (lambda c: gf.Particles(c, 10, [gf.ParticleSource(gf.Sphere(), rate=90.0)]), "need count=180, got 10"),
    (lambda c: gf.SlicePlane(None), "ctx must be a moderngl.Context, got None"),
    (lambda c: gf.SlicePlane(c, linear=1), "SlicePlane.linear must be True or False"),
    (lambda c: gf.line_of_seeds((0, 0, 0), (1, 0, 0), 0), "count must be a whole number"),
    (lambda c: gf.grid_of_seeds((0, 0, 0), (1, 0, 0), 4), "counts must be three whole numbers"),
]


@pytest.mark.parametrize("number", range(len(BAD)))
def test_bad_values_are_named(ctx: moderngl.Context, number: int) -> None:
    make, told = BAD[number]
    with pytest.raises((gf.GpufluidError, TypeError), match=told):
        make(ctx)


@pytest.mark.parametrize("name", NAMES)
def test_bad_frames_are_refused(
    ctx: moderngl.Context, fluid: gf.Fluid, all_views: dict[str, Any], name: str
) -> None:
    made, scene = all_views[name], Scene(ctx)
    nan, gone = np.full((4, 4), np.nan), ctx.depth_texture(SIZE)
    gone.release()
    with gf.Fluid(gf.Grid((4, 4, 4)), backend="numpy") as on_cpu:
        cases: list[tuple[Any, str]] = [
            ((on_cpu, CAMERA, scene.target), 'a fluid with backend="numpy" has no textures to draw'),
            ((fluid, (nan, np.eye(4)), scene.target), "the view matrix must be a finite"),
            ((fluid, "camera", scene.target), "camera must be a gpufluid.Camera or a pair"),
            ((fluid, CAMERA, scene.texture), "target must be a moderngl.Framebuffer"),
            ((fluid, CAMERA, ctx.framebuffer([ctx.texture((9, 7), 4, dtype="i4")])), "holds whole numbers"),
            ((fluid, CAMERA, scene.target, scene.texture), "depth must be a depth texture"),
            ((fluid, CAMERA, scene.target, gone), "the depth texture was released"),
            ((fluid, CAMERA, scene.target, ctx.depth_texture(SIZE, samples=4)), "has 4 samples a pixel"),
            (
                (fluid, CAMERA, scene.target, ctx.depth_texture((10, 10))),
                "must have the size of the target, 96 x 64, or of its viewport, 96 x 64, got 10 x 10",
            ),
        ]
        for arguments, told in cases:
            with pytest.raises(gf.GpufluidError, match=told):
                made.render(*arguments)
        scene.target.viewport = 0, 0, 0, 7  # as a minimised window has it: no error of the game's
        made.render(fluid, CAMERA, scene.target)
        if hasattr(made, "advance"):
            for dt in (-1.0, float("nan")):
                with pytest.raises(gf.GpufluidError, match="dt must be a finite number"):
                    made.advance(fluid, dt)
    assert not scene.changed().any()


@pytest.mark.parametrize("name", NAMES)
def test_depths_may_be_in_a_texture_that_does_not_say_so(
    ctx: moderngl.Context, fluid: gf.Fluid, all_views: dict[str, Any], name: str
) -> None:
    """As a host's own texture, taken over by moderngl, is one of a component."""
    values = np.full(SIZE[::-1], depth_at(CAMERA, 2.0), np.float32)
    values[:, : SIZE[0] // 2] = 1.0
    pictures = []
    for depth in (ctx.depth_texture(SIZE), ctx.texture(SIZE, 1, dtype="f4")):
        depth.write(values.tobytes(), alignment=1)
        scene = Scene(ctx)
        all_views[name].render(fluid, CAMERA, scene.bare, depth=depth)
        pictures.append(scene.read())
    assert np.abs(pictures[1] - pictures[0]).max() < 0.02
    assert (pictures[1] != scene.background).any()


def test_another_context_is_refused(
    ctx: moderngl.Context, fluid: gf.Fluid, all_views: dict[str, Any]
) -> None:
    other = create_context()
    try:
        foreign = other.simple_framebuffer(SIZE)
        depth = other.depth_texture(SIZE)
        strange = gf.Fluid(gf.Grid((4, 4, 4)), backend="fragment", ctx=other)
        ctx.__enter__()  # the views' own
        for made in all_views.values():
            with pytest.raises(
                gf.GpufluidError,
                match=r"the fluid lives in another GL context than this .*gf.Fluid\(\.\.\., ctx=ctx\)",
            ):
                made.render(strange, CAMERA, foreign)
            with pytest.raises(gf.GpufluidError, match="the target lives in another GL context"):
                made.render(fluid, CAMERA, foreign)
            with pytest.raises(gf.GpufluidError, match="the depth texture lives in another GL context"):
                made.render(fluid, CAMERA, Scene(ctx).target, depth=depth)
        other.__enter__()
        strange.release()
    finally:
        other.release()
        ctx.__enter__()


SCRIPT = """
import sys
sys.path.insert(0, {tests!r})
from gpufluid.gl.contexts import create_context
import numpy as np
import test_views_use, view_flows
ctx = create_context()
fluid = view_flows.ball_flow(ctx)
target = ctx.simple_framebuffer((96, 64))
for name, view in test_views_use.views(ctx).items():
    target.clear()
    if hasattr(view, "advance"):
        for _ in range(8):
            view.advance(fluid, 0.05)
    view.render(fluid, test_views_use.CAMERA, target)
    assert np.frombuffer(target.read(), np.uint8).std() > 1.0, name
print(ctx.version_code, ctx.error)
"""


def test_all_of_it_runs_on_gl_33() -> None:
    assert told_on_gl_33(SCRIPT) == ["GL_NO_ERROR"]
