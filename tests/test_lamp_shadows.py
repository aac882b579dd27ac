"""The shadows that solids throw by the light of lamps: by their shapes, whichever way the lamp must look."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import moderngl
import numpy as np
import pytest
from numpy.typing import NDArray
from test_shadows import GRID, SLANTED, TOP, on_floor

import gpufluid as gf
from gpufluid.gl.uniforms import give
from gpufluid.render.frame import FrameRenderer
from gpufluid.render.light import shadow_map
from gpufluid.render.light.shadow_map import ShadowMap, filled, laid
from gpufluid.render.light.shadow_tiles import ROUND, Tile, from_afar, from_place

pytestmark = pytest.mark.usefixtures("device")  # which keeps the programs from test to test
DARK = gf.Light(color=(0.0, 0.0, 0.0), ambient=(0.0, 0.0, 0.0))
CORNERS = np.array([(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])


@pytest.fixture
def fluid(ctx: moderngl.Context) -> Iterator[gf.Fluid]:
    with gf.Fluid(GRID, backend="fragment", ctx=ctx) as made:
        yield made


def drawn(
    ctx: moderngl.Context, fluid: gf.Fluid, size: tuple[int, int] = (300, 300), **scene: Any
) -> NDArray[np.float32]:
    frame = FrameRenderer(ctx, size, background=(0.0, 0.0, 0.0))
    frame.draw(gf.Scene(fluid, **{"camera": TOP, "light": DARK, "floor": 0.0, **scene}))
    seen = frame.read_hdr()[..., 0]
    frame.release()
    return seen


@pytest.mark.parametrize("all_round", [False, True])
@pytest.mark.parametrize("place", [(0.4, 1.2, 0.3), (-0.9, 0.9, -0.1), (0.1, 0.85, 0.0)])
def test_the_shadow_of_a_ball_is_that_of_a_cone(
    fluid: gf.Fluid, ctx: moderngl.Context, place: tuple[float, float, float], all_round: bool
) -> None:
    """All that lies within the cone from the lamp round the ball is dark, and all beyond it as without."""
    if all_round:  # with something behind the lamp no single look takes in all
        behind = np.array(place) + 0.3 * (np.array(place) - (0.0, 0.4, 0.1))
        fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.04), tuple(behind), visible=False))
    lamps = (gf.PointLight(place, (2.0, 2.0, 2.0), radius=0.1),)
    bare = drawn(ctx, fluid, (600, 600), lights=lamps)
    fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.2), (0.0, 0.4, 0.1), visible=False))
    seen = drawn(ctx, fluid, (600, 600), lights=lamps)
    x, z = on_floor(size=600)
    way = np.stack([x, np.zeros_like(x), z], axis=-1) - place
    way /= np.linalg.norm(way, axis=-1, keepdims=True)
    off = np.array((0.0, 0.4, 0.1)) - place
    angle = np.arccos(np.clip(way @ off / np.linalg.norm(off), -1.0, 1.0))
    edge = np.arcsin(0.2 / np.linalg.norm(off))
    shown = bare > 1e-4
    left = np.where(shown, seen / np.maximum(bare, 1e-4), 1.0)
    assert (angle < edge)[shown].sum() > 1000
    assert (left[shown & (angle < 0.94 * edge)] < 0.01).all()
    assert (np.abs(left[shown & (angle > 1.06 * edge)] - 1.0) < 0.01).all()
    assert (left[shown] < 0.5).sum() == pytest.approx((angle < edge)[shown].sum(), rel=0.03)


@pytest.mark.parametrize("length", [1.0, 1e-200])
def test_a_second_sun_throws_the_shadows_of_the_first(
    length: float, fluid: gf.Fluid, ctx: moderngl.Context
) -> None:
    """However long its direction is said to be."""
    fluid.obstacles.add(gf.Obstacle(gf.Box(size=(0.3, 0.1, 0.5)), (-0.1, 0.5, 0.0), visible=False))
    fluid.obstacles.add(gf.Obstacle(gf.Mesh.trefoil().fitted(0.5), (0.2, 0.3, -0.2), visible=False))
    by_sun = drawn(ctx, fluid, light=SLANTED)
    x, y, z = SLANTED.direction
    slanted = gf.Light((length * x, length * y, length * z), color=SLANTED.color, ambient=SLANTED.ambient)
    by_lamp = drawn(ctx, fluid, lights=(slanted,))
    assert (by_sun < 0.5 * by_sun.max()).sum() > 2000
    np.testing.assert_allclose(by_lamp, by_sun, atol=2e-3 * by_sun.max())


@pytest.mark.parametrize("shape", ["sphere", "box", "cylinder", "mesh"])
@pytest.mark.parametrize("all_round", [False, True])
def test_a_convex_solid_throws_no_shadow_on_itself(
    fluid: gf.Fluid, ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch, shape: str, all_round: bool
) -> None:
    """What the lamp shines on is as bright as where nothing is in the map."""
    solid: dict[str, Any] = {
        "sphere": gf.Sphere(radius=0.3),
        "box": gf.Box(size=(0.5, 0.3, 0.4)),
        "cylinder": gf.Cylinder(radius=0.2, height=0.5),
        "mesh": gf.Mesh.icosphere(3, 0.3),
    }
    fluid.obstacles.add(gf.Obstacle(solid[shape], (0.0, 0.5, 0.0), (0.2, 0.3, 0.1, 0.927)))
    if all_round:
        fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.04), (-1.3, 1.1, 1.0), visible=False))
    camera = gf.Camera(target=(0, 0.5, 0), distance=2.5, azimuth=-60.0, elevation=30.0, fov=30.0)
    for place in ((-1.0, 1.0, 0.8), (-0.6, 0.6, 0.0), (-1.0, 0.5, -0.6)):
        scene: dict[str, Any] = {"camera": camera, "lights": (gf.PointLight(place),), "floor": None}
        seen = drawn(ctx, fluid, (320, 240), **scene)
        with monkeypatch.context() as without:
            without.setattr(ShadowMap, "_draw", lambda self, *given: self._target.clear(depth=1.0))
            lit = drawn(ctx, fluid, (320, 240), **scene)
        lost = (lit - seen)[lit > 0.05]
        assert lost.size > 0.01 * lit.size
        assert np.quantile(lost, 0.98) < 0.005 and lost.mean() < 0.003, place


def test_smoke_behind_a_slab_has_no_light_of_a_lamp(fluid: gf.Fluid, ctx: moderngl.Context) -> None:
    """Each cell behind it is dark, each beside it as bright as without it."""
    fluid.density.write(np.ones((16, 16, 16)))
    place = np.array((0.03, 1.4, 0.06))
    frame, shaded = FrameRenderer(ctx, (64, 64), background=(0.0, 0.0, 0.0)), []
    for _ in range(2):
        lamps, smoke = (gf.PointLight(tuple(place)),), gf.Smoke(extinction=1e-3)
        frame.draw(gf.Scene(fluid, camera=TOP, light=DARK, lights=lamps, smoke=smoke))
        shaded.append(frame.volume._work.shaded.read()[..., 1].astype(float))
        fluid.obstacles.add(gf.Obstacle(gf.Box(size=(0.35, 0.07, 0.25)), (0.1, 0.9, -0.05), visible=False))
    bare, seen = shaded
    z, y, x = ((np.arange(16) + 0.5) / 16 + low for low in (-0.5, 0.0, -0.5))
    cells = np.stack(np.meshgrid(z, y, x, indexing="ij")[::-1], axis=-1)
    below = (cells[..., 1] < 0.8)[..., None] & np.ones(3, bool)
    share = (place[1] - 0.9) / (place[1] - cells[..., 1:2])
    foot = np.where(below, place + share * (cells - place), 9.0)  # of the way through the middle of the slab
    aside = np.maximum(np.abs(foot[..., 0] - 0.1) / 0.175, np.abs(foot[..., 2] + 0.05) / 0.125)
    assert (aside < 0.7).sum() > 50 and ((aside > 1.6) & below[..., 0]).sum() > 200
    assert (seen[aside < 0.7] < 1e-3 * bare.max()).all()
    lit = (aside > 1.6) & below[..., 0]
    np.testing.assert_allclose(seen[lit], bare[lit], rtol=2e-3)
    crossed = (aside > 0.8) & (aside < 1.2)  # by the edge, each a share of it
    part = seen[crossed] / bare[crossed]
    assert ((part > 0.2) & (part < 0.8)).mean() > 0.3
    frame.release()


def test_solids_of_another_box_stand_in_the_light_of_a_lamp(ctx: moderngl.Context, fluid: gf.Fluid) -> None:
    beside = gf.Fluid(gf.Grid((16, 16, 16), 1 / 16, (0.5, 0.0, -0.5)), backend="fragment", ctx=ctx)
    beside.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.15), (0.7, 0.3, 0.0), visible=False))
    scene = {"lights": (gf.PointLight((1.4, 0.5, 0.0)),), "others": (beside,)}
    seen = drawn(ctx, fluid, **scene)
    beside.obstacles.clear()
    bare = drawn(ctx, fluid, **scene)
    x, z = on_floor(size=300)
    dark = (np.abs(x - 0.25) < 0.1) & (np.abs(z) < 0.1)
    assert (seen[dark] < 0.02 * bare[dark]).all()
    clear = (np.abs(x - 0.25) < 0.1) & (np.abs(z) > 0.7) & (np.abs(z) < 1.0)
    np.testing.assert_allclose(seen[clear], bare[clear], rtol=1e-2)
    beside.release()


def test_smoke_of_a_further_box_stands_in_the_light_of_a_lamp(ctx: moderngl.Context, fluid: gf.Fluid) -> None:
    """Its shadow on the floor goes as far as it would if the box were the first one of the scene."""
    lamps = (gf.PointLight((1.2, 0.9, 0.0), color=(4.0, 4.0, 4.0)),)
    within = np.abs(GRID.centers() - (0.0, 0.35, 0.0)).max(axis=-1) < 0.3
    with gf.Fluid(GRID, backend="fragment", ctx=ctx) as empty:
        bare = drawn(ctx, empty, lights=lamps)
        fluid.density.write(6.0 * within)
        alone = drawn(ctx, fluid, lights=lamps)
        further = drawn(ctx, empty, lights=lamps, others=[fluid])
        first = drawn(ctx, fluid, lights=lamps, others=[empty])
    lost = np.where(bare > 0.01 * bare.max(), 1.0 - alone / np.maximum(bare, 1e-6), 0.0)
    shadow = lost > 0.5
    assert shadow.mean() > 0.03
    np.testing.assert_allclose(further, first, atol=1e-4 * bare.max())
    # where the floor fades into the backdrop, there is more of it about two boxes
    np.testing.assert_allclose(further[shadow], alone[shadow], atol=0.03 * bare.max())


@pytest.mark.parametrize("by", ["sun", "second sun"])
@pytest.mark.filterwarnings("ignore::gpufluid.MeshWarning")
def test_what_is_flat_may_lie_straight_across_the_light(
    fluid: gf.Fluid, ctx: moderngl.Context, by: str
) -> None:
    """Its depth is one number, of which there is no share."""
    corners = [(-0.2, 0.0, -0.2), (0.2, 0.0, -0.2), (0.2, 0.0, 0.2), (-0.2, 0.0, 0.2)]
    square = gf.Mesh(np.array(corners), np.array([(0, 1, 2), (0, 2, 3)]))
    fluid.obstacles.add(gf.Obstacle(square, (0.0, 0.5, 0.0), visible=False))
    down = gf.Light(direction=(0.0, -1.0, 0.0), color=(2.0, 2.0, 2.0), ambient=(0.0, 0.0, 0.0))
    seen = drawn(ctx, fluid, **({"light": down} if by == "sun" else {"lights": (down,)}))
    x, z = on_floor(size=300)
    assert (seen[(np.abs(x) < 0.17) & (np.abs(z) < 0.17)] < 1e-3).all()
    assert (seen[(np.abs(x) < 0.4) & (np.abs(z) > 0.23) & (np.abs(z) < 0.4)] > 0.1).all()


@pytest.mark.parametrize("gap", [0.2, 0.02])
@pytest.mark.filterwarnings("ignore::gpufluid.ShapeWarning")
def test_a_lamp_near_what_is_small_throws_its_shadow(
    fluid: gf.Fluid, ctx: moderngl.Context, gap: float
) -> None:
    """A pixel there is as wide as many degrees: the edge on the floor is no wider than a few pixels of it."""
    half = 0.3 * gap
    board = gf.Obstacle(gf.Box(size=(2 * half, 0.02 * gap, 2 * half)), (0.0, 0.8 - gap, 0.0), visible=False)
    lamps = (gf.PointLight((0.0, 0.8, 0.0), (2.0, 2.0, 2.0), radius=0.02),)
    bare = drawn(ctx, fluid, (200, 200), lights=lamps)
    fluid.obstacles.add(board)
    left = drawn(ctx, fluid, (200, 200), lights=lamps) / np.maximum(bare, 1e-6)
    x, z = on_floor()
    aside = np.maximum(np.abs(x), np.abs(z)) / 0.24  # pixels are 0.06 of that
    assert (left[aside < 0.8] < 0.02).all()
    assert (np.abs(left[(aside > 1.25) & (aside < 2.0)] - 1.0) < 0.02).all()


@pytest.mark.filterwarnings("ignore::gpufluid.MeshWarning")
def test_a_ground_that_reaches_far_keeps_the_shadow_of_what_is_near_a_lamp(
    fluid: gf.Fluid, ctx: moderngl.Context
) -> None:
    far = 200.0
    corners = [(-far, 0.0, -far), (far, 0.0, -far), (far, 0.0, far), (-far, 0.0, far)]
    ground = gf.Mesh(np.array(corners), np.array([(0, 1, 2), (0, 2, 3)]))
    fluid.obstacles.add(gf.Obstacle(ground, (0.0, -0.01, 0.0), visible=False))
    lamps = (gf.PointLight((0.0, 0.7, 0.0), (2.0, 2.0, 2.0), radius=0.02),)
    bare = drawn(ctx, fluid, lights=lamps)
    fluid.obstacles.add(gf.Obstacle(gf.Box(size=(0.2, 0.08, 0.2)), (0.0, 0.5, 0.0), visible=False))
    left = drawn(ctx, fluid, lights=lamps) / np.maximum(bare, 1e-6)
    x, z = on_floor(size=300)
    aside = np.maximum(np.abs(x), np.abs(z)) / (0.1 * 0.7 / 0.16)
    assert (left[aside < 0.95] < 0.02).all()
    assert (left[(aside > 1.05) & (aside < 2.0)] > 0.98).all()


def test_on_nothing_the_floor_is_what_the_shadow_of_a_lamp_takes_away(
    fluid: gf.Fluid, ctx: moderngl.Context
) -> None:
    fluid.obstacles.add(gf.Obstacle(gf.Box(size=(0.3, 0.1, 0.3)), (0.0, 0.4, 0.0), visible=False))
    frame = FrameRenderer(ctx, (200, 200), background="transparent")
    lamps = (gf.PointLight((0.0, 1.2, 0.0), (2.0, 2.0, 2.0), radius=0.1),)
    x, z = on_floor()
    for light in (DARK, gf.Light(direction=(0.0, 1.0, 0.2))):  # none comes from above
        frame.draw(gf.Scene(fluid, camera=TOP, light=light, lights=lamps, floor=0.0))
        alpha = frame.read_hdr()[..., 3]
        shadow = (np.abs(x) < 0.15) & (np.abs(z) < 0.15)
        around = (np.maximum(np.abs(x), np.abs(z)) > 0.3) & (np.hypot(x, z) < 0.7)
        assert alpha[shadow].min() > (0.95 if light is DARK else 0.5)
        assert alpha[around].max() < 0.02
    frame.release()


def test_a_map_grows_with_the_looks_that_are_taken(fluid: gf.Fluid, ctx: moderngl.Context) -> None:
    """It is drawn anew where a lamp has moved, and has room for more looks once more are taken."""
    fluid.obstacles.add(gf.Obstacle(gf.Box(size=(0.3, 0.3, 0.3)), (0.0, 0.3, 0.0)))
    fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.1), (0.4, 0.8, 0.0)))
    frame = FrameRenderer(ctx, (64, 64), background=(0.0, 0.0, 0.0))
    bare, square, seen = frame.picture_bytes, 4 * frame._shadows.side**2, []
    for place, squares, version in (
        (None, 1, 1),
        ((2.0, 1.0, 0.0), 2, 2),
        ((2.0, 1.0, 0.0), 2, 2),
        ((0.25, 0.6, 0.0), 2, 3),  # between the two: six looks of a third of the side
        ((2.0, 1.0, 0.0), 2, 4),
        (None, 2, 5),
    ):
        lamps = () if place is None else (gf.PointLight(place),)
        frame.draw(gf.Scene(fluid, camera=TOP, light=SLANTED, lights=lamps, floor=0.0))
        copies = 2 * frame._targets.color_bytes  # for outlines
        assert frame.picture_bytes - bare == squares * square + copies
        assert frame._shadows.version == version
        seen.append(frame.read_hdr())
    for one, other in ((0, 5), (1, 2), (1, 4)):
        np.testing.assert_array_equal(seen[one], seen[other])
    frame.release()


@pytest.mark.filterwarnings("ignore::gpufluid.ShapeWarning")
def test_a_solid_is_drawn_in_those_looks_alone_that_hold_it(
    fluid: gf.Fluid, ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of six most hold one or two; what the map holds is the same."""
    places = np.random.default_rng(2).uniform((-0.5, 0.0, -0.5), (0.5, 1.0, 0.5), (40, 3))
    for place in places[np.abs(places - (0.0, 0.5, 0.0)).max(axis=1) > 0.2]:
        fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.03), tuple(place)))
    lamps = (gf.PointLight((0.0, 0.5, 0.0)), gf.PointLight((0.05, 0.5, 0.05)))
    sent: list[int] = []
    monkeypatch.setattr(shadow_map, "give", lambda *given: (sent.append(1), give(*given)))
    frame, maps = FrameRenderer(ctx, (64, 64)), []

    def held_by_all(corners: Any, clips: Any) -> Any:
        return np.full((len(clips), len(corners)), True)

    for every in (False, True):
        if every:
            monkeypatch.setattr(shadow_map, "_held", held_by_all)
            frame.draw(gf.Scene(fluid, camera=TOP, floor=0.0))  # another map between
        sent.clear()
        frame.draw(gf.Scene(fluid, camera=TOP, lights=lamps, floor=0.0))
        assert frame._shadows._depths is not None and len(frame._shadows._laid) == 13
        maps.append((len(sent), frame._shadows._depths.read()))
    assert maps[0][0] < 0.45 * maps[1][0]
    assert maps[0][1] == maps[1][1]
    frame.release()


@pytest.mark.parametrize("place", [(0.3, 1.4, 0.5), (-0.7, 0.4, 0.2), (0.0, 0.45, 0.0)])
def test_cells_that_no_solid_can_shade_look_for_none(
    fluid: gf.Fluid, ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch, place: tuple[float, float, float]
) -> None:
    """Those beside all solids, as a light sees them, or before them: cells have the bits of many looks."""
    fluid.density.write(np.ones((16, 16, 16)))
    for at, size in (((0.3, 0.3, 0.2), 0.12), ((-0.3, 0.5, -0.25), 0.2), ((0.1, 0.8, 0.1), 0.07)):
        fluid.obstacles.add(gf.Obstacle(gf.Box(size=(size, size, size)), at, (0.2, 0.3, 0.1, 0.927)))
    lamps, smoke = (gf.PointLight(place), gf.Light(direction=(0.3, -1.0, 0.2))), gf.Smoke(extinction=1e-3)
    scene = gf.Scene(fluid, camera=TOP, light=SLANTED, lights=lamps, smoke=smoke)
    frame, shares, shaded = FrameRenderer(ctx, (64, 64)), [], []

    def anywhere(corners: Any, clips: Any, sees: Any) -> tuple[Any, Any]:
        rects, nearest = filled(corners, clips, sees)
        shares.append((rects, nearest))
        return np.full_like(rects, (-9.0, -9.0, 9.0, 9.0)), np.full_like(nearest, -9.0)

    for every in (False, True):
        if every:
            monkeypatch.setattr(shadow_map, "filled", anywhere)
            frame.draw(gf.Scene(fluid, camera=TOP))  # another map between
        frame.draw(scene)
        shaded.append(frame.volume._work.shaded.read())
    np.testing.assert_array_equal(shaded[0], shaded[1])
    rects, _ = shares[-1]
    used = rects[:, 0] < rects[:, 2]
    assert used.sum() > 2 and (rects[used][:, 2:] - rects[used][:, :2]).prod(axis=1).min() < 0.5
    frame.release()


def test_sides_that_look_away_from_a_light_change_nothing(
    fluid: gf.Fluid, ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are not drawn; but for a texel of the outline the map holds what it does with them."""
    for n, shape in enumerate((gf.Sphere(radius=0.1), gf.Box(size=(0.2, 0.2, 0.2)), gf.Cylinder(radius=0.1))):
        fluid.obstacles.add(gf.Obstacle(shape, (0.3 * n - 0.3, 0.3, 0.1), (0.2, 0.3, 0.1, 0.927)))
    frame, maps = FrameRenderer(ctx, (64, 64)), []
    for every in (False, True):
        if every:
            monkeypatch.setattr(shadow_map, "hidden_sides", lambda one, clip: None)
            frame.draw(gf.Scene(fluid, camera=TOP, floor=0.0))  # another map between
        frame.draw(gf.Scene(fluid, camera=TOP, lights=(gf.PointLight((0.0, 0.6, 0.1)),), floor=0.0))
        depths = frame._shadows._depths
        assert depths is not None
        maps.append(np.frombuffer(depths.read(alignment=1), np.float32))
    frame.release()
    assert (maps[0] < 1.0).mean() > 0.02
    assert (np.abs(maps[1] - maps[0]) > 1e-6).sum() < 100


def looks(tiles: list[Tile], places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of each place in each tile what it is in its clip space, [tile, place, 3], NaN behind the light."""
    clip = np.array([np.c_[places, np.ones(len(places))] @ tile.clip.T for tile in tiles])
    ahead = clip[..., 3:] > 0.0
    return np.where(ahead, clip[..., :3] / np.where(ahead, clip[..., 3:], 1.0), np.nan)


@pytest.mark.parametrize("place", [(3.0, 2.0, 1.0), (0.2, 0.6, 0.1), (0.0, 0.5, 0.0), (-0.4, 0.9, 3.0)])
def test_every_solid_is_seen_in_the_look_that_looks_there(place: tuple[float, float, float]) -> None:
    """What lies on a solid, in all of the directions there are, has a place in a tile, and a depth."""
    rng = np.random.default_rng(3)
    thrown = [0.1 * CORNERS + middle for middle in ((0.3, 0.2, 0.1), (-0.3, 0.8, 0.2), (0.1, 0.4, -0.4))]
    tiles = from_place(np.array(place), thrown, [GRID], 384, 0.0)
    alone = place[0] == 3.0 or place[2] == 3.0
    assert len(tiles) == 1 if alone else 1 < len(tiles) <= 6
    assert {tile.side for tile in tiles} == {384 if alone else 128}
    points = np.concatenate([0.1 * rng.uniform(-1, 1, (200, 3)) + corners.mean(axis=0) for corners in thrown])
    seen = looks(tiles, points)
    rim = 1.0 - 2.0 * 3.0 / tiles[0].side if alone else 1.0
    held = (np.abs(seen[..., :2]) <= rim + 1e-9).all(axis=-1) & (np.abs(seen[..., 2]) <= 1.0)
    assert held.any(axis=0).all()
    # the farther from the light, the deeper; texels are as large as they are said to be
    for tile in tiles:
        middle = np.linalg.inv(tile.clip) @ (0.1, -0.2, 0.5, 1.0)
        middle = middle[:3] / middle[3]
        further = middle + 0.01 * (middle - place)
        a, b = looks([tile], np.array([middle, further]))[0]
        np.testing.assert_allclose(a[:2], b[:2], atol=1e-6)
        assert b[2] > a[2]
        w = float(tile.clip[3] @ (*middle, 1.0))
        over = np.linalg.pinv(tile.clip[:2, :3] - np.outer(a[:2], tile.clip[3, :3])) @ (w, 0.0)
        assert np.linalg.norm(over) * 2.0 / tile.side == pytest.approx(tile.texel * w, rel=0.5)


def test_texels_of_a_look_are_no_finer_than_pixels() -> None:
    """In the midst of what throws shadows, where they are as large as is asked for or a little larger."""
    for place in ((3.0, 2.0, 1.0), (0.0, 4.0, 0.0)):
        thrown = [0.1 * CORNERS, 0.1 * CORNERS + 0.3]
        (tile,) = from_place(np.array(place), thrown, [GRID], 1024, 0.01)
        size = tile.texel * float(np.mean([tile.clip[3] @ (*p, 1.0) for p in np.concatenate(thrown)]))
        assert size * (1.0 + 1e-9) >= 0.01 and size < 0.01 * 2.0**0.25


def test_looks_all_round_leave_no_gap() -> None:
    np.testing.assert_allclose(ROUND @ ROUND.T, np.eye(3), atol=1e-12)
    rng = np.random.default_rng(5)
    ways = rng.normal(size=(5000, 3))
    tiles = from_place(np.zeros(3), [CORNERS], [GRID], 384, 0.0)
    assert len(tiles) == 6
    seen = looks(tiles, 0.9 * ways / np.linalg.norm(ways, axis=1, keepdims=True))
    inner = 1.0 - 2.0 * 3.0 / 128
    held = (np.abs(seen[..., :2]) <= inner + 1e-9).all(axis=-1)
    assert held.any(axis=0).all()  # each with a margin of three texels round it


def test_a_look_with_nothing_in_it_is_left_out() -> None:
    ahead = 0.05 * CORNERS + ROUND[1]
    behind = 0.05 * CORNERS - ROUND[1]
    assert len(from_place(np.zeros(3), [ahead, behind], [GRID], 64, 0.0)) == 2


@pytest.mark.parametrize(("wholes", "small"), [(1, 0), (2, 0), (1, 6), (3, 5), (5, 0), (1, 24)])
def test_tiles_do_not_overlap(wholes: int, small: int) -> None:
    one = from_afar(np.array((0.0, -1.0, 0.0)), [CORNERS], [GRID], 9, 0.0)
    placed, columns, rows = laid([one._replace(side=9)] * wholes + [one._replace(side=3)] * small, 9)
    taken = np.zeros((9 * rows, 9 * columns), int)
    for tile, x, y in placed:
        taken[y : y + tile.side, x : x + tile.side] += 1
    assert taken.max() == 1 and taken.sum() == 81 * wholes + 9 * small
    assert columns * rows < wholes + -(-small // 9) + columns
