"""Views of the flow in scenes: what a scene says of them, and that its picture shows it."""

from __future__ import annotations

import inspect
from dataclasses import MISSING, fields
from typing import Any

import moderngl
import numpy as np
import pytest
from view_flows import ball_flow

import gpufluid as gf
from gpufluid.description.flow_views import FIELDS, MAPS, FlowView
from gpufluid.render.views import colormaps
from gpufluid.render.views.quantities import QUANTITIES
from gpufluid.scene.schema import VIEW_KINDS

SEEDS = gf.Seeds((-0.2, 0.2, -0.2), (0.2, 0.2, 0.2), (4, 1, 4))
CAMERA = gf.Camera(target=(0.0, 0.6, 0.0), distance=2.4)


def scene_of(ctx: moderngl.Context, *views: FlowView, **options: Any) -> gf.Scene:
    """A ball in a stream, seen from the front."""
    fluid = ball_flow(ctx, (16, 24, 16))
    return gf.Scene(fluid, camera=CAMERA, views=list(views), **options)


def picture(scene: gf.Scene, renderer: gf.FrameRenderer) -> np.ndarray[Any, Any]:
    renderer.draw(scene)
    return renderer.read().astype(int)


@pytest.mark.parametrize("kind", list(VIEW_KINDS))
def test_a_description_has_the_parameters_of_its_view(kind: str) -> None:
    """With the same defaults, but for what is said in another way."""
    described = {part.name: part for part in fields(VIEW_KINDS[kind])}
    made = inspect.signature(getattr(gf, VIEW_KINDS[kind].MADE)).parameters
    own = {"box", "visible"}  # what a scene does with a view, which the view itself does not know
    assert set(described) - own == set(made) - {"ctx", "linear"}
    for name, part in described.items():
        if name in own:
            continue
        default = None if part.default is MISSING else part.default
        if (kind, name) not in {("voxels", "surface")} and name not in ("seeds", "sources"):
            assert default == made[name].default, name
    assert set(VIEW_KINDS[kind].FIXED) <= set(described)


def test_names_are_those_of_the_views() -> None:
    assert set(FIELDS) == set(QUANTITIES) and set(MAPS) == set(colormaps.MAPS)


def test_lights_and_views_may_be_added_to(ctx: moderngl.Context) -> None:
    """By default too; what cannot be drawn is told of by the next picture."""
    renderer, scene = gf.FrameRenderer(ctx, (48, 36)), gf.Scene(ball_flow(ctx, (8, 12, 8)), camera=CAMERA)
    scene.fluid.density.write(np.full((8, 12, 8), 0.2))
    plain = picture(scene, renderer)
    for things, thing, words in (
        (scene.lights, gf.PointLight((0.0, 1.0, 0.5), color=(9.0, 9.0, 9.0)), "a gf.Light or gf.PointLight"),
        (scene.views, gf.GlyphsView(), "a description such as gf.StreamlinesView"),
    ):
        things.append(thing)
        before, plain = plain, picture(scene, renderer)
        assert np.abs(plain - before).max() > 5
        things.append("no such thing")
        with pytest.raises(gf.GpufluidError, match=rf"\[1\] must be {words}, got 'no such thing'"):
            renderer.draw(scene)
        things.pop()
    assert gf.Scene(scene.fluid).lights is not gf.Scene(scene.fluid).lights
    renderer.release()


def test_each_kind_is_drawn_and_moves(ctx: moderngl.Context) -> None:
    renderer = gf.FrameRenderer(ctx, (96, 72))
    views: dict[str, FlowView] = {
        "particles": gf.ParticlesView(
            3000, [gf.ParticleSource(gf.Sphere((0.0, 0.3, 0.0), 0.1))], opacity=0.8
        ),
        "streamlines": gf.StreamlinesView(SEEDS),
        "streak-lines": gf.StreakLinesView(SEEDS, interval=0.01, points=64),
        "glyphs": gf.GlyphsView(axis="z"),
        "slice": gf.SliceView("density", axis="z", opacity=0.7),
        "iso-surface": gf.IsoSurfaceView("density", 0.3),
        "voxels": gf.VoxelsView("cubes"),
    }
    assert set(views) == set(VIEW_KINDS)
    for kind, view in views.items():
        scene = scene_of(ctx, smoke=gf.Smoke(visible=False))
        empty = picture(scene, renderer)
        scene.views = [view]
        renderer.follow(scene)
        for _ in range(6):
            scene.advance()
        assert np.abs(picture(scene, renderer) - empty).max(axis=2).astype(bool).mean() > 0.003, kind
        moved = view.MADE in ("Particles", "StreakLines")
        made = scene.live._made[0].drawn
        if moved:
            assert (made.read()[..., 3] >= 0.0).sum() > 100, kind
        scene.views = []
        renderer.follow(scene)
        assert made._released
        scene.release()
        assert scene.live is None
    renderer.release()


def test_hidden_smoke_is_none(ctx: moderngl.Context) -> None:
    """To the bit, with its shadow on the floor."""
    renderer = gf.FrameRenderer(ctx, (96, 72))
    scene = scene_of(ctx, floor=0.0, smoke=gf.Smoke(extinction=80.0))
    shown = picture(scene, renderer)
    scene.smoke = gf.Smoke(extinction=80.0, visible=False)
    hidden = picture(scene, renderer)
    scene.fluid.density.write(np.zeros((16, 24, 16)))
    scene.smoke = gf.Smoke(extinction=80.0)
    np.testing.assert_array_equal(picture(scene, renderer), hidden)
    assert np.abs(shown - hidden).max() > 20
    with pytest.raises(gf.GpufluidError, match=r"Smoke.visible must be True or False, got 1"):
        gf.Smoke(visible=1)  # type: ignore[arg-type]
    scene.release()
    renderer.release()


def test_smoke_and_solids_hide_views(ctx: moderngl.Context) -> None:
    """A slice behind the ball is not seen through it; thick smoke before a slice dims it."""
    renderer = gf.FrameRenderer(ctx, (96, 72))
    behind = gf.SliceView("speed", axis="z", position=-0.3, legend=False, range=(-1.0, 1.0))
    scene = scene_of(ctx, smoke=gf.Smoke(visible=False))
    without = picture(scene, renderer)
    scene.views = [behind]
    with_slice = picture(scene, renderer)
    changed = np.abs(with_slice - without).max(axis=2) > 6
    ball = np.s_[36:42, 46:50]
    assert not changed[ball].any() and changed.mean() > 0.1
    # alpha counts too: over nothing the slice is opaque
    renderer.background = "transparent"
    scene.smoke = gf.Smoke(visible=False)
    renderer.draw(scene)
    alpha = renderer.read("straight")[..., 3]
    assert np.median(alpha[changed]) == 255 and alpha[0, 0] == 0
    scene.release()
    renderer.release()


def test_values_may_change_while_it_runs(ctx: moderngl.Context) -> None:
    renderer = gf.FrameRenderer(ctx, (96, 72))
    view = gf.StreamlinesView(SEEDS, line_width=1.0)
    scene = scene_of(ctx, view, smoke=gf.Smoke(visible=False))
    thin = picture(scene, renderer)
    made = scene.live._made[0].drawn
    view.line_width = 6.0
    thick = picture(scene, renderer)
    assert scene.live._made[0].drawn is made and np.abs(thick - thin).max() > 40
    view.points = 20  # another view has to be made
    picture(scene, renderer)
    assert scene.live._made[0].drawn is not made and made._released
    view.fade = 3.0
    with pytest.raises(gf.GpufluidError, match=r"StreamlinesView.fade must lie in 0 .. 1, got 3"):
        renderer.draw(scene)
    with pytest.raises(gf.GpufluidError, match=r"Scene.views\[0\] must be a description"):
        gf.Scene(scene.fluid, views=["particles"])  # type: ignore[list-item]
    scene.release()
    renderer.release()


# -- several boxes -------------------------------------------------------------------------------------------


def two_boxes(ctx: moderngl.Context, *views: FlowView, **options: Any) -> gf.Scene:
    """Air that flows along x in two boxes left and right of x = 0, there twice as fast."""
    fluids = []
    for number, x in enumerate((-1.0, 0.2)):
        fluid = gf.Fluid(gf.Grid((8, 8, 8), 0.1, (x, 0.0, -0.4)), ctx=ctx)
        velocity = np.zeros((9, 9, 9, 3))
        velocity[..., 0] = 1.0 + number
        fluid.velocity.write(velocity)
        fluids.append(fluid)
    camera = gf.Camera(target=(0.0, 0.4, 0.0), distance=2.6)
    return gf.Scene(
        fluids[0],
        others=fluids[1:],
        names={"left": fluids[0], "right": fluids[1]},
        camera=camera,
        views=list(views),
        smoke=gf.Smoke(visible=False),
        **options,
    )


@pytest.mark.parametrize("kind", ["particles", "streamlines", "glyphs", "slice"])
def test_a_view_is_in_every_box_or_in_the_one_it_names(ctx: moderngl.Context, kind: str) -> None:
    balls = [gf.ParticleSource(gf.Sphere((x, 0.4, 0.0), 0.2)) for x in (-0.6, 0.6)]
    seeds = gf.Seeds((-0.9, 0.2, 0.0), (0.9, 0.6, 0.0), (4, 4, 1))
    views: dict[str, FlowView] = {
        "particles": gf.ParticlesView(2000, balls, life=0.05, opacity=1.0),
        "streamlines": gf.StreamlinesView(seeds, line_width=3.0),
        "glyphs": gf.GlyphsView(axis="z"),
        "slice": gf.SliceView(legend=False),
    }
    view = views[kind]
    renderer = gf.FrameRenderer(ctx, (96, 72))
    scene = two_boxes(ctx, dt=0.01)
    empty = picture(scene, renderer)
    scene.views = [view]

    def look() -> list[float]:
        """How much of the left and of the right half of the picture the view changes."""
        renderer.follow(scene)
        scene.advance()
        changed = np.abs(picture(scene, renderer) - empty).max(axis=2) > 8
        return [float(half.mean()) for half in (changed[:, :48], changed[:, 48:])]

    assert min(look()) > 0.005
    assert len(scene.live._made) == 2
    view.box = "right"
    left, right = look()
    assert left == 0.0 and right > 0.005
    view.box = "left"
    left, right = look()
    assert left > 0.005 and right == 0.0
    view.visible = False
    assert look() == [0.0, 0.0]
    made = scene.live._made[0].drawn
    view.visible = True
    left, right = look()
    assert left > 0.005 and right == 0.0 and scene.live._made[0].drawn is made, "it was made anew"
    scene.release()
    renderer.release()
    assert made._released


def test_hidden_particles_stand_still(ctx: moderngl.Context) -> None:
    renderer = gf.FrameRenderer(ctx, (32, 24))
    view = gf.ParticlesView(200, [gf.ParticleSource(gf.Sphere((-0.6, 0.4, 0.0), 0.2))])
    scene = two_boxes(ctx, view, dt=0.01)
    renderer.follow(scene)
    scene.advance()
    (made,) = (m.drawn for m in scene.live._made if m.drawn is not None)
    before = made.read()
    view.visible = False
    scene.advance()
    np.testing.assert_array_equal(made.read(), before)
    view.visible = True
    scene.advance()
    assert np.abs(made.read() - before).max() > 0.005
    scene.release()
    renderer.release()


def test_legends_of_several_views_stand_side_by_side(ctx: moderngl.Context) -> None:
    """They lay on one another, unreadable."""
    fluid = gf.Fluid(gf.Grid((8, 8, 8), 1 / 8), ctx=ctx)
    views = [gf.SliceView("speed", axis=axis, range=(0.0, 1.0)) for axis in "xyz"]
    scene, size = gf.Scene(fluid, views=views), (640, 360)
    renderer = gf.FrameRenderer(ctx, size)

    def columns(*shown: int) -> set[int]:
        """Where a picture of the views with those legends differs from one without any."""
        pictures = []
        for some in (shown, ()):
            for n, view in enumerate(views):
                view.legend = n in some
            renderer.draw(scene)
            pictures.append(renderer.read().astype(int))
        changed = np.abs(pictures[0] - pictures[1]).max(axis=(0, 2)) > 8
        return set(np.flatnonzero(changed).tolist())

    right, both, all_three = columns(0), columns(0, 1), columns(0, 1, 2)
    assert right == columns(1) and min(right) > 480  # alone each is at the right
    assert right < both and max(both - right) < 160
    third = all_three - both
    assert third and max(third) < min(right) and min(third) > 320
    renderer.release()
    fluid.release()


def test_smoke_hides_no_legend(ctx: moderngl.Context) -> None:
    """That of an opaque slice was drawn with the slice, and smoke over both."""
    renderer = gf.FrameRenderer(ctx, (160, 120))
    view = gf.SliceView("speed", axis="z", range=(0.0, 1.0))
    fluid = gf.Fluid(gf.Grid((8, 8, 8), 1 / 8, origin=(-0.5, -0.5, -0.5)), ctx=ctx)
    fluid.density.write(np.ones((8, 8, 8)))
    scene = gf.Scene(fluid, camera=gf.Camera(distance=1.2), smoke=gf.Smoke(extinction=200.0), views=[view])
    seen = picture(scene, renderer)
    view.legend = False
    assert (np.abs(seen - picture(scene, renderer)).max(axis=2) > 40).sum() > 500  # the bar and the letters
    scene.release()
    renderer.release()


def test_boxes_share_one_range_and_one_legend(ctx: moderngl.Context) -> None:
    """The slower box is drawn with the colours of the faster one; a bar is drawn once, over everything."""
    renderer = gf.FrameRenderer(ctx, (96, 72))
    view = gf.SliceView("velocity_x", legend=False)
    scene = two_boxes(ctx, view)
    both = picture(scene, renderer)
    assert [made.drawn.last_range for made in scene.live._made] == [(-2.0, 2.0)] * 2
    assert [made.drawn.range for made in scene.live._made] == [None, None]
    view.range = (-2.0, 2.0)
    np.testing.assert_array_equal(picture(scene, renderer), both)
    view.range, view.box = None, "left"
    picture(scene, renderer)
    assert scene.live._made[0].drawn.last_range == (-1.0, 1.0)
    view.box, view.legend = None, True
    drawn: list[Any] = []
    for made in scene.live._made:
        made.release()
    scene.live._made.clear()
    renderer.follow(scene)
    for made in scene.live._made:
        made.drawn.draw_legend = lambda *_, made=made: drawn.append(made) if made.drawn.legend else None
    picture(scene, renderer)
    assert [made.fluid for made in drawn] == [scene.live._made[1].fluid]
    scene.release()
    renderer.release()


@pytest.mark.filterwarnings("ignore::gpufluid.ShapeWarning")  # one lies in another box
def test_a_box_has_what_lies_in_it(ctx: moderngl.Context) -> None:
    """Seeds and sources go to the box they lie in, emitters to their fluid; without any there is no view."""
    renderer = gf.FrameRenderer(ctx, (32, 24))
    lines = gf.StreamlinesView([(-0.9, 0.4, 0.0), (-0.8, 0.4, 0.0), (0.9, 0.4, 0.0), (0.0, 0.4, 0.0)])
    scene = two_boxes(ctx, lines, dt=0.01)
    renderer.follow(scene)
    assert [len(made.drawn.seeds) for made in scene.live._made] == [2, 1]
    source = scene.others[0].emitters.add(gf.Emitter(gf.Sphere((-0.6, 0.4, 0.0), 0.1), density=1.0))
    for view in (gf.ParticlesView(10), gf.ParticlesView(10, [gf.ParticleSource(source)])):
        scene.views = [view]
        renderer.follow(scene)
        assert [made.drawn is None for made in scene.live._made] == [True, False]
        assert scene.live._made[1].drawn.sources[0].shape is source
    scene.views = [gf.StreamlinesView([(0.0, 0.4, 0.0)])]
    with pytest.raises(
        gf.GpufluidError,
        match=r"views\[0\]: what it starts from lies in no box that it shows: 'left', 'right'",
    ):
        renderer.follow(scene)
    scene.views[0].box = "rigth"
    with pytest.raises(gf.GpufluidError, match=r"views\[0\].box must be .* 'left', 'right', .*mean 'right'"):
        renderer.draw(scene)
    with pytest.raises(gf.GpufluidError, match=r"views\[0\].box must be the name of a box, 'box 1', got 'a'"):
        gf.Scene(scene.fluid, views=[gf.SliceView(box="a")])
    with pytest.raises(gf.GpufluidError, match=r"SliceView.box must be a name or None, got 1"):
        gf.SliceView(box=1)  # type: ignore[arg-type]
    assert scene.box_names == ("left", "right")
    scene.names.pop("right")
    assert scene.box_names == ("left", "box 2")
    scene.release()
    renderer.release()


def test_seeds_that_are_changed_make_other_lines(ctx: moderngl.Context) -> None:
    renderer = gf.FrameRenderer(ctx, (32, 24))
    seeds = gf.Seeds((-0.2, 0.2, 0.0), (0.2, 0.2, 0.0), (4, 1, 1))
    scene = scene_of(ctx, gf.StreamlinesView(seeds))
    renderer.follow(scene)
    seeds.counts = (7, 1, 1)
    renderer.follow(scene)
    assert len(scene.live._made[0].drawn.seeds) == 7
    scene.release()
    renderer.release()


def test_particles_start_from_the_emitters_where_nothing_else_is_said(ctx: moderngl.Context) -> None:
    scene = scene_of(ctx, gf.ParticlesView(100))
    renderer = gf.FrameRenderer(ctx, (32, 24))
    with pytest.raises(gf.GpufluidError, match=r"Particles.sources must name at least one place"):
        renderer.follow(scene)
    scene.fluid.emitters.add(gf.Emitter(gf.Sphere((0.0, 0.2, 0.0), 0.1), density=1.0))
    renderer.follow(scene)
    scene.advance()
    assert (scene.live._made[0].drawn.read()[:, 3] >= 0.0).any()
    scene.release()
    renderer.release()
