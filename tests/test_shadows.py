"""The shadows of solids on floor and solids: by their shapes, once, and where they belong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import moderngl
import numpy as np
import pytest
from numpy.typing import NDArray

import gpufluid as gf
from gpufluid.render import opaque
from gpufluid.render.camera import view_of
from gpufluid.render.frame import FrameRenderer
from gpufluid.render.light.shadow_map import ShadowMap, pixel_size
from gpufluid.render.light.shadow_tiles import SPREAD, across

pytestmark = pytest.mark.usefixtures("device")  # which keeps the programs from test to test
GRID = gf.Grid((16, 16, 16), 1 / 16, (-0.5, 0.0, -0.5))
WHITE = (0.8, 0.8, 0.8)
SLANTED = gf.Light(direction=(1.0, -1.0, 0.3), color=(2.0, 2.0, 2.0), ambient=(0.0, 0.0, 0.0))
TOP = gf.Camera(target=(0.0, 0.0, 0.0), distance=8.0, azimuth=0.0, elevation=89.0, fov=20.0)


@pytest.fixture
def fluid(ctx: moderngl.Context) -> Iterator[gf.Fluid]:
    with gf.Fluid(GRID, backend="fragment", ctx=ctx) as made:
        yield made


@pytest.fixture
def frame(ctx: moderngl.Context) -> Iterator[FrameRenderer]:
    made = FrameRenderer(ctx, (200, 200), background=WHITE)
    yield made
    made.release()


def drawn(frame: FrameRenderer, fluid: gf.Fluid, **scene: Any) -> NDArray[np.float32]:
    rules = {"camera": TOP, "light": SLANTED, "floor": 0.0, **scene}
    frame.draw(gf.Scene(fluid, **rules))
    return frame.read_hdr()[..., 0]


def on_floor(camera: gf.Camera = TOP, size: int = 200) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """x and z of the floor at each pixel of a square picture, top row first."""
    back = np.linalg.inv(view_of(camera, 1.0).clip.astype(np.float64))
    at = 2.0 * (np.arange(size) + 0.5) / size - 1.0
    x, y = np.meshgrid(at, -at)
    near, far = (np.stack([x, y, np.full_like(x, z), np.ones_like(x)], -1) @ back.T for z in (-0.9, 0.9))
    near, far = near[..., :3] / near[..., 3:], far[..., :3] / far[..., 3:]
    place = near + (far - near) * (near[..., 1] / (near[..., 1] - far[..., 1]))[..., None]
    return place[..., 0], place[..., 2]


def floor_there(x: Any, z: Any, middles: Sequence[float] = (0.0,), reach: float = 2.6) -> NDArray[np.float64]:
    """How much of the floor there is about boxes whose middles lie in a row along x."""
    ways = [np.clip((1.0 - np.hypot(x - middle, z) / reach) / 0.95, 0.0, 1.0) for middle in middles]
    return np.asarray(1.0 - np.prod([1.0 - way * way * (3.0 - 2.0 * way) for way in ways], axis=0))


def share_of_light(
    seen: NDArray[np.float32], x: Any, z: Any, reach: float = 2.6, middles: Sequence[float] = (0.0,)
) -> NDArray[np.float64]:
    """Of what a floor has in full, from its colour before a backdrop of `WHITE`, into which it fades."""
    there = floor_there(x, z, middles, reach)
    return 1.0 - (1.0 - seen / WHITE[0]) / np.maximum(there, 1e-3)


@pytest.mark.parametrize(("visible", "side"), [(False, 1536), (True, 1536), (True, 3072)])
def test_the_shadow_of_a_ball_is_an_ellipse(
    fluid: gf.Fluid, ctx: moderngl.Context, visible: bool, side: int
) -> None:
    """That of a ball of 0.2 m half a metre up: on the floor an ellipse, longer by what the light slants."""
    ball = gf.Obstacle(gf.Sphere(radius=0.2), (-0.25, 0.5, -0.1), visible=visible)
    fluid.obstacles.add(ball)
    frame = FrameRenderer(ctx, (600, 600), background=WHITE)  # pixels of 5 mm
    frame._shadows.side = side  # as on a GPU
    before = frame.picture_bytes
    seen = drawn(frame, fluid)
    copies = 2 * frame._targets.color_bytes if visible else 0  # for the outlines of what is seen
    assert frame.picture_bytes - before == 4 * side**2 + copies
    x, z = on_floor(size=600)
    way = np.array(SLANTED.direction) / np.linalg.norm(SLANTED.direction)
    off = np.stack([x + 0.25, np.full_like(x, -0.5), z + 0.1], axis=-1)
    from_axis = np.linalg.norm(np.cross(off, way), axis=-1)
    hidden = np.hypot(x + 0.267, z + 0.107) < 0.25  # by the ball itself, which stands above it
    clear = np.zeros_like(x, bool) if not visible else hidden
    light = share_of_light(seen, x, z)
    assert (abs(light[(from_axis < 0.19) & ~clear]) < 0.01).all()
    assert (abs(light[(from_axis > 0.21) & (np.hypot(x, z) < 1.2) & ~clear] - 1.0) < 0.01).all()
    assert (light[~clear] < 0.5).sum() == pytest.approx((from_axis[~clear] < 0.2).sum(), rel=0.03)
    frame.release()


@pytest.mark.parametrize("way", [(1.0, -1.0, 0.3), (0.0, -1.0, 0.6), (0.0, -1.0, 0.0)])
def test_the_edge_of_a_shadow_shows_neither_pixels_nor_texels(
    fluid: gf.Fluid, frame: FrameRenderer, way: tuple[float, float, float]
) -> None:
    """That of a beam along x, a few degrees off the pixels' rows: straight, to a tenth of a pixel or so."""
    fluid.obstacles.add(gf.Obstacle(gf.Box(size=(1.6, 0.1, 0.4)), (0.0, 0.5, 0.0), visible=False))
    camera = gf.Camera(target=(0.0, 0.0, 0.0), distance=5.0, azimuth=3.0, elevation=89.0, fov=20.0)
    light = gf.Light(direction=way, color=(2.0, 2.0, 2.0), ambient=(0.0, 0.0, 0.0))
    x, z = on_floor(camera)
    share = share_of_light(drawn(frame, fluid, camera=camera, light=light), x, z)
    dark = np.where(np.hypot(x, z) < 1.2, 1.0 - share, 0.0)[:, 70:130]
    width = dark.sum(axis=0)  # pixels
    middle = (dark * np.arange(200.0)[:, None]).sum(axis=0) / width
    off = np.arange(width.size)
    straight = np.polyval(np.polyfit(off, middle, 1), off)
    assert 30.0 < width.mean() < 80.0
    assert np.ptp(straight) > 2.0
    assert (middle - straight).std() < 0.1 and width.std() < 0.2


def teeth(
    fluid: gf.Fluid, ctx: moderngl.Context, ground: str, elevation: float, lamp: bool, axis: int
) -> float:
    """What is off in shadows by the sun or a `lamp` on the `ground`, as a share of a pixel along their edges.

    That is from the mean of six by six pixels for each. axis: of the picture, across the edges.
    """
    if ground == "solid":
        fluid.obstacles.add(gf.Obstacle(gf.Box(size=(3.0, 0.1, 3.0)), (0.0, -0.05, 0.0), gloss=0.0))
    floor = 0.0 if ground == "floor" else None
    camera = gf.Camera(target=(0.2, 0.0, -0.1), distance=2.2, azimuth=-8.0, elevation=elevation, fov=30.0)
    dark, sun = gf.Light(color=(0.0, 0.0, 0.0), ambient=(0.0, 0.0, 0.0)), (0.6, -1.0, 0.2)
    lights: tuple[gf.PointLight, ...] = (gf.PointLight((-1.2, 2.3, -0.3), (9.0, 9.0, 9.0)),) if lamp else ()
    light = dark if lamp else gf.Light(direction=sun, color=(2.0, 2.0, 2.0), ambient=(0.0, 0.0, 0.0))
    seen = []
    for fine in (1, 6):
        frame = FrameRenderer(ctx, (192 * fine, 108 * fine), background=WHITE)
        frame._shadows.side *= 1 + (fine > 1)
        many = drawn(frame, fluid, camera=camera, light=light, lights=lights, floor=floor).astype(float)
        seen.append(many.reshape(108, fine, 192, fine).mean(axis=(1, 3)))
        frame.release()
    few, truth = seen
    return float(np.abs(few - truth).sum() / np.abs(np.diff(truth, axis=axis)).sum())


@pytest.mark.parametrize("lamp", [False, True])
@pytest.mark.parametrize(
    ("ground", "elevation", "limit"),
    [("floor", 5.0, 0.45), ("floor", 30.0, 0.2), ("solid", 5.0, 0.7), ("solid", 30.0, 0.32)],
)
def test_shadows_seen_at_a_slant_are_those_that_more_pixels_see(
    fluid: gf.Fluid, ctx: moderngl.Context, ground: str, elevation: float, limit: float, lamp: bool
) -> None:
    """Bars of light on the ground, near the eye, where a pixel is much longer than wide: no teeth."""
    for x in (-0.3, -0.1, 0.1, 0.3):
        fluid.obstacles.add(gf.Obstacle(gf.Box(size=(0.1, 0.1, 1.4)), (x, 0.9, 0.0), visible=False))
    assert teeth(fluid, ctx, ground, elevation, lamp, axis=1) < limit


@pytest.mark.parametrize("ground", ["floor", "solid"])
@pytest.mark.parametrize("lamp", [False, True])
def test_shadows_that_run_across_the_view_have_no_teeth(
    fluid: gf.Fluid, ctx: moderngl.Context, ground: str, lamp: bool
) -> None:
    """Bars of light on the ground that are seen to run a few degrees off the pixels' rows."""
    for z in (-0.6, -0.2, 0.2, 0.6):
        fluid.obstacles.add(gf.Obstacle(gf.Box(size=(1.4, 0.1, 0.2)), (0.0, 0.9, z), visible=False))
    assert teeth(fluid, ctx, ground, 12.0, lamp, axis=0) < 0.08


@pytest.mark.parametrize("way", [(1, -1, 0.3), (0, -1, 0), (0, -1, 1), (1, 1, 1), (1e-5, -1, 0), (3, -1, -2)])
def test_rows_of_a_map_lie_off_the_edges_of_boxes(way: tuple[float, float, float]) -> None:
    unit = np.array(way) / np.linalg.norm(way)
    axes, turned = across(unit)
    np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(turned @ turned.T, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(axes[2], unit)
    seen = axes[:2].T
    seen = seen[np.linalg.norm(seen, axis=1) > 1e-3]
    angles = np.degrees(np.arctan2(seen[:, 1], seen[:, 0])) % 90.0
    assert angles.min() > 14.9 and angles.max() < 75.1


def test_a_map_is_as_fine_as_solids_before_the_eye_ask_for() -> None:
    """The nearest of them; what stands behind it is not seen, and asks for nothing."""
    seen_by = view_of(TOP, 1.0).clip.astype(np.float64)
    cube = np.array([(x, y, z) for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)])
    there, nearer, behind = (cube + np.array((0.0, y, 0.0)) for y in (0.0, 4.0, 20.0))
    pixel = pixel_size([there], seen_by, (200, 200))
    assert pixel == pytest.approx(2.0 * 8.0 * np.tan(np.radians(10.0)) / 200, rel=1e-3)
    assert pixel_size([there, nearer], seen_by, (200, 200)) == pytest.approx(0.5 * pixel, rel=1e-2)
    assert pixel_size([there, behind], seen_by, (200, 200)) == pixel
    assert pixel_size([behind], seen_by, (200, 200)) == 0.0


def test_a_shadow_begins_where_a_solid_stands(fluid: gf.Fluid, frame: FrameRenderer) -> None:
    """Beside the foot of a box, as wide as three pixels, there is no light between it and its shadow."""
    fluid.obstacles.add(gf.Obstacle(gf.Box(size=(0.2, 0.4, 0.4)), (-0.1, 0.2, 0.0)))
    seen = drawn(frame, fluid, camera=gf.Camera((0.0, 0.1, 0.0), 2.0, azimuth=90.0, elevation=30.0, fov=30.0))
    fluid.obstacles.clear()
    fluid.step(0.01)
    bare = drawn(frame, fluid, camera=gf.Camera((0.0, 0.1, 0.0), 2.0, azimuth=90.0, elevation=30.0, fov=30.0))
    dark = seen < 0.1 * bare
    assert dark.sum() > 500  # its side that looks at the eye, and its shadow, which are one piece
    columns = dark[:, 90:110]
    for column in columns.T:
        rows = np.flatnonzero(column)
        assert (np.diff(rows) == 1).all()


@pytest.mark.parametrize("shape", ["sphere", "box", "cylinder", "capsule", "mesh"])
@pytest.mark.parametrize("size", [(96, 72), (640, 480)])
def test_a_convex_solid_throws_no_shadow_on_itself(
    fluid: gf.Fluid,
    ctx: moderngl.Context,
    monkeypatch: pytest.MonkeyPatch,
    shape: str,
    size: tuple[int, int],
) -> None:
    """What the light falls on is as bright as without shadows, however it slants."""
    solid: dict[str, Any] = {
        "sphere": gf.Sphere(radius=0.3),
        "box": gf.Box(size=(0.5, 0.3, 0.4)),
        "cylinder": gf.Cylinder(radius=0.2, height=0.5),
        "capsule": gf.Capsule(radius=0.15),
        "mesh": gf.Mesh.icosphere(3, 0.3),
    }
    turned = (0.2, 0.3, 0.1, 0.927)
    fluid.obstacles.add(gf.Obstacle(solid[shape], (0.0, 0.5, 0.0), turned))
    frame = FrameRenderer(ctx, size, background=(0.0, 0.0, 0.0))
    camera = gf.Camera(target=(0, 0.5, 0), distance=2.5, azimuth=-60.0, elevation=30.0, fov=30.0)
    for way in ((1.0, -1.0, 0.3), (0.2, -1.0, 0.1), (1.0, -0.05, -0.4)):
        light = gf.Light(direction=way, color=(1.0, 1.0, 1.0), ambient=(0.0, 0.0, 0.0))
        scene = {"camera": camera, "light": light, "floor": None}
        seen = drawn(frame, fluid, **scene)
        with monkeypatch.context() as without:
            without.setattr(ShadowMap, "any", False)
            lit = drawn(frame, fluid, **scene)
        assert (lit > 0.05).sum() > 0.01 * lit.size
        lost = (lit - seen)[
            lit > 0.05
        ]  # but where light only grazes triangles that stand for something round
        assert np.quantile(lost, 0.98) < 0.005 and lost.mean() < 0.003, way
    frame.release()


def test_a_shadow_reaches_beyond_the_box(
    fluid: gf.Fluid, frame: FrameRenderer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A beam that sticks out of it shades the floor there; the picture is what it is where all of it asks."""
    fluid.obstacles.add(gf.Obstacle(gf.Box(size=(0.2, 0.1, 2.4)), (-0.2, 0.6, 0.0)))
    for camera in (TOP, gf.Camera((0, 0, 0), 4.0, azimuth=30.0, elevation=40.0)):
        seen = drawn(frame, fluid, camera=camera)
        with monkeypatch.context() as whole:
            whole.setattr(opaque, "dimmed", lambda *given: (0, 0, *frame.size))
            np.testing.assert_allclose(seen, drawn(frame, fluid, camera=camera), atol=1e-6)
    seen = drawn(frame, fluid)
    x, z = on_floor()
    shadow = (abs(x - 0.4) < 0.05) & (abs(z - 0.18) < 1.15)
    assert (abs(share_of_light(seen, x, z)[shadow]) < 0.02).all()


@pytest.mark.parametrize("visible", [False, True])
def test_what_is_parked_far_away_throws_no_shadow(
    fluid: gf.Fluid, frame: FrameRenderer, visible: bool
) -> None:
    """Straight above the box, a hundred times its height; a huge ground below it costs no sharpness."""
    sun = gf.Light(direction=(0.0, -1.0, 0.0), color=(1.0, 1.0, 1.0), ambient=(0.0, 0.0, 0.0))
    fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.3), (0.0, 100.0, 0.0), visible=visible))
    fluid.obstacles.add(gf.Obstacle(gf.Box(size=(900.0, 1.0, 900.0)), (0.0, -0.55, 0.0), visible=False))
    seen = drawn(frame, fluid, light=sun)
    assert seen.min() > 0.7
    fluid.obstacles.add(gf.Obstacle(gf.Box(size=(0.4, 0.2, 0.4)), (0.0, 0.4, 0.0), visible=False))
    x, z = on_floor()
    light = share_of_light(drawn(frame, fluid, light=sun), x, z)
    aside = np.maximum(abs(x), abs(z))
    assert (light[aside < 0.19] < 0.02).all() and (light[(aside > 0.21) & (aside < 1.0)] > 0.98).all()


def test_solids_shade_each_other_across_boxes(ctx: moderngl.Context, fluid: gf.Fluid) -> None:
    """A plate in one box shades a block in the next, and the floor once: light from all round is left."""
    beside = gf.Fluid(gf.Grid((16, 16, 16), 1 / 16, (0.5, 0.0, -0.5)), backend="fragment", ctx=ctx)
    plate = fluid.obstacles.add(gf.Obstacle(gf.Box(size=(0.4, 0.07, 0.6)), (0.2, 0.8, 0.0)))
    beside.obstacles.add(gf.Obstacle(gf.Box(size=(0.3, 0.1, 0.3)), (0.95, 0.05, 0.2)))
    frame = FrameRenderer(ctx, (200, 200), background=WHITE)
    around = (0.2, 0.2, 0.2)

    def picture(sun: float, y: float) -> NDArray[np.float32]:
        plate.position = (0.2, y, 0.0)
        fluid.step(0.01)
        light = gf.Light(direction=SLANTED.direction, color=(sun,) * 3, ambient=around)
        frame.draw(gf.Scene(fluid, others=(beside,), camera=TOP, light=light, floor=0.0))
        return frame.read_hdr()[..., 0]

    shaded, lit, no_sun = picture(1.0, 0.8), picture(1.0, 80.0), picture(0.0, 80.0)
    x, z = on_floor()
    block = (abs(x - 0.92) < 0.05) & (abs(z - 0.2) < 0.1)
    floor = (abs(x - 0.9) < 0.05) & (abs(z - 0.45) < 0.03)
    assert block.sum() > 10 and floor.sum() > 3
    assert (shaded[block] < 0.5 * lit[block]).all()
    np.testing.assert_allclose(shaded[block], no_sun[block], rtol=0.02)
    share = share_of_light(shaded, x, z, middles=(0.0, 1.0))[floor].mean()
    assert share == pytest.approx(0.2 / (0.2 + 1.0 / np.linalg.norm(SLANTED.direction)), rel=0.05)
    frame.release()
    beside.release()


def test_a_map_is_drawn_when_something_has_moved(
    fluid: gf.Fluid, frame: FrameRenderer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for x in (-0.45, 0.45):  # between which one moves: the map stays where it is
        fluid.obstacles.add(gf.Obstacle(gf.Box(size=(0.07, 0.9, 0.9)), (x, 0.5, 0.0)))
    ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.2), (0.0, 0.5, 0.0)))
    drawings: list[int] = []
    arrays = type(frame._shadows.solids).arrays

    def counted(self: Any, *given: Any) -> Any:
        drawings.append(len(given[0]))
        return arrays(self, *given)

    monkeypatch.setattr(type(frame._shadows.solids), "arrays", counted)
    scene = {"camera": gf.Camera((0.0, 0.5, 0.0), 3.0)}
    shown = 1  # the ball itself, in each picture
    for there, anew in (
        ((0.0, 0.5, 0.0), 1),
        ((0.0, 0.5, 0.0), 0),
        ((0.1, 0.5, 0.0), 1),
        ((0.1, 0.5, 0.0), 0),
    ):
        ball.position = there
        fluid.step(0.01)
        drawings.clear()
        drawn(frame, fluid, **scene)
        assert len(drawings) == shown + anew
    held = frame.picture_bytes
    fluid.obstacles.clear()
    fluid.step(0.01)
    seen = drawn(frame, fluid)
    assert seen.min() == pytest.approx(seen.max(), rel=1e-3)  # and goes with the last
    assert frame.picture_bytes == held


def test_smoke_shades_solids_as_if_they_were_not_there(fluid: gf.Fluid, frame: FrameRenderer) -> None:
    """Its share of light is lost on the top of a block under it, and on the floor beside the block."""
    sun = gf.Light(direction=(0.0, -1.0, 0.0), color=(1.0, 1.0, 1.0), ambient=(0.0, 0.0, 0.0))
    smoke = np.zeros((16, 16, 16))
    smoke[:, 12:14] = 1.0
    fluid.density.write(smoke)
    fluid.obstacles.add(gf.Obstacle(gf.Box(size=(0.4, 0.25, 0.4)), (0.0, 0.125, 0.0)))
    fluid.voxelize()
    # looked at from below the smoke: not through it
    camera = gf.Camera((0.0, 0.1, 0.0), 3.0, azimuth=0.0, elevation=11.0, fov=15.0)
    kept = np.exp(-8.0 * 2.0 / 16.0)
    bare, seen = (
        drawn(frame, fluid, light=sun, camera=camera, smoke=gf.Smoke(extinction=e, visible=e > 0.0))
        for e in (0.0, 8.0)
    )
    x, z = on_floor(camera)
    top = (bare > 0.2) & (bare < 0.6)  # darker paint than the floor's; its sides look past the light
    floor = (np.abs(x) < 0.4) & (z > 0.25) & (z < 0.4)
    assert top.sum() > 500 and floor.sum() > 500
    assert np.median(seen[top] / bare[top]) == pytest.approx(kept, rel=0.02)
    assert np.median(share_of_light(seen, x, z)[floor]) == pytest.approx(kept, rel=0.02)


def bar_of_smoke(ctx: moderngl.Context, *extinctions: float, **scene: Any) -> tuple[list[Any], Any, Any]:
    """Pictures of a floor under a bar of smoke aslant of 32^3 cells, one an extinction, and its x and z."""
    camera = gf.Camera(target=(0.0, 0.0, 0.0), distance=8.0, azimuth=0.0, elevation=89.0, fov=10.0)
    grid = gf.Grid((32, 32, 32), 1 / 32, (-0.5, 0.0, -0.5))
    from_axis = np.linalg.norm(np.cross(grid.centers() - (0.0, 0.3, 0.0), (0.92, 0.0, 0.39)), axis=-1)
    frame = FrameRenderer(ctx, (300, 300), background=WHITE)
    with gf.Fluid(grid, backend="fragment", ctx=ctx) as fluid:
        fluid.density.write(np.clip((0.05 - from_axis) * 32 + 0.5, 0.0, 1.0))
        seen = [drawn(frame, fluid, camera=camera, smoke=gf.Smoke(one), **scene) for one in extinctions]
    frame.release()
    return seen, *on_floor(camera, 300)


def unevenness(lit: Any, x: Any, z: Any, middle: float) -> float:
    """Of the edge of a shadow on 32^3 cells, within 0.2 m of x = `middle`: cells, rms."""
    columns = np.nonzero(np.abs(x[0] - middle) < 0.2)[0]
    lit = lit[:, columns]
    below = len(lit) - (lit < 0.5)[::-1].argmax(axis=0)  # the first row past the shadow
    dark, light = (lit[row, np.arange(len(columns))] for row in (below - 1, below))
    edge = (below - 1 + (0.5 - dark) / (light - dark)) * 32 * (z[1, 0] - z[0, 0])
    assert np.ptp(edge) > 4.0
    return float((edge - np.polyval(np.polyfit(columns, edge, 2), columns)).std())


@pytest.mark.parametrize(("way", "limit"), [((0.1, -1.0, 0.6), 0.03), ((0.4, -0.7, 1.0), 0.13)])
def test_the_edge_of_the_shadow_of_dense_smoke_has_no_teeth(
    ctx: moderngl.Context, way: tuple[float, float, float], limit: float
) -> None:
    """That of a bar aslant of the cells, on the floor: half of what single lookups leave, and less."""
    sun = gf.Light(direction=way, color=(2.0, 2.0, 2.0), ambient=(0.0, 0.0, 0.0))
    (seen,), x, z = bar_of_smoke(ctx, 200.0, light=sun)
    assert unevenness(share_of_light(seen, x, z), x, z, -0.3 * way[0] / way[1]) < limit


@pytest.mark.parametrize(
    ("lamp", "limit"),
    [
        (gf.Light((0.1, -1.0, 0.6), color=(2.0, 2.0, 2.0), ambient=(0.0, 0.0, 0.0)), 0.1),
        (gf.Light((0.4, -0.7, 1.0), color=(2.0, 2.0, 2.0), ambient=(0.0, 0.0, 0.0)), 0.2),
        (gf.PointLight((0.0, 1.5, -0.9), color=(6.0, 6.0, 6.0)), 0.1),
    ],
)
def test_the_edge_of_the_shadow_of_dense_smoke_from_a_lamp_has_no_teeth(
    ctx: moderngl.Context, lamp: gf.Light | gf.PointLight, limit: float
) -> None:
    """Nor has it in the light of others than the sun, kept in cells of twice the size: a third, and less."""
    night = gf.Light((0.0, -1.0, 0.0), color=(0.0, 0.0, 0.0), ambient=(0.0, 0.0, 0.0))
    (seen, clear), x, z = bar_of_smoke(ctx, 200.0, 1e-6, light=night, lights=[lamp])
    assert unevenness(seen / np.maximum(clear, 1e-6), x, z, 0.0) < limit


def test_the_shadow_of_smoke_from_a_near_lamp_has_no_seam(ctx: moderngl.Context) -> None:
    """Where its light comes along another axis of the box than beside it."""
    night = gf.Light((0.0, -1.0, 0.0), color=(0.0, 0.0, 0.0), ambient=(0.0, 0.0, 0.0))
    lamp = gf.PointLight((0.0, 0.6, -0.3), color=(6.0, 6.0, 6.0))
    (seen, clear), x, z = bar_of_smoke(ctx, 200.0, 1e-6, light=night, lights=[lamp])
    lit, floor = seen / np.maximum(clear, 1e-6), np.abs(z - x * 0.39 / 0.92) > 0.12  # beside the bar
    assert lit[floor].min() < 0.01
    bends = [np.abs(np.diff(lit, 2, axis=0))[floor[1:-1]], np.abs(np.diff(lit, 2, axis=1))[floor[:, 1:-1]]]
    assert max(bend.max() for bend in bends) < 0.06


def test_the_edge_of_a_beam_in_smoke_shows_no_cells(fluid: gf.Fluid, frame: FrameRenderer) -> None:
    """Thin smoke under a slab: of each row of cells a share is dark as wide as the slab, and as it lies."""
    fluid.density.write(np.ones((16, 16, 16)))
    fluid.obstacles.add(gf.Obstacle(gf.Box(size=(0.3, 0.07, 4.0)), (-0.1, 0.9, 0.0), visible=False))
    near = gf.Camera(target=(0.0, 0.0, 0.0), distance=2.0, elevation=89.0, fov=20.0)
    row, height = np.arange(16), 0.9 - (np.arange(13) + 0.5) / 16
    wider, aside, ribs = [], [], []
    for slant in (0.2, 0.3, 0.37, 0.45):
        light = gf.Light(direction=(slant, -1.0, 0.0), color=(1.0, 1.0, 1.0), ambient=(0.0, 0.0, 0.0))
        drawn(frame, fluid, light=light, smoke=gf.Smoke(extinction=1e-3), camera=near)
        shaded = frame.volume._work.shaded
        every = shaded.read()[4:12, :13, :, 1].astype(float)
        lit = every[4] / every.max()
        # the light grazes the upper edge on one side and the lower one on the other
        left, right = (-0.25 + slant * (height - 0.035), 0.05 + slant * (height + 0.035))
        edges = np.clip((np.array([left, right]) + 0.5) * 16, 0.0, 16.0)
        width = (1.0 - lit).sum(axis=1)
        wider.append(width - (edges[1] - edges[0]))
        aside.append(((1.0 - lit) * (row + 0.5)).sum(axis=1) / width - edges.mean(axis=0))
        within = (row > edges[0][:, None] + 0.5) & (row + 1 < edges[1][:, None] - 0.5)
        assert lit[within].max() < 1e-3
        # what a ray along the edge sees, which would show ribs
        lit = every.mean(axis=0) / every.max()
        width = (1.0 - lit).sum(axis=1)
        ribs.append(width - (edges[1] - edges[0]))
    assert np.std(ribs) < 0.075 and np.abs(ribs).max() < 0.22
    for off, most in ((np.array(wider), 0.3), (np.array(aside), 0.17)):
        assert np.abs(off).max() < most and off.std() < 0.5 * most and np.abs(off.mean()) < 0.1


@pytest.mark.parametrize("way", [(0.3, -1.0, 0.0), (0.45, -1.0, 0.37), (-0.2, -1.0, 0.6)])
def test_a_cell_in_a_shadows_edge_is_the_mean_of_sixteen_places(
    fluid: gf.Fluid, frame: FrameRenderer, way: tuple[float, float, float]
) -> None:
    """Each of those that the slab above hides from the sun, in float64, up to a texel of the map."""
    fluid.density.write(np.ones((16, 16, 16)))
    fluid.obstacles.add(gf.Obstacle(gf.Box(size=(0.3, 0.07, 4.0)), (-0.1, 0.9, 0.0), visible=False))
    light = gf.Light(direction=way, color=(1.0, 1.0, 1.0), ambient=(0.0, 0.0, 0.0))
    drawn(frame, fluid, light=light, smoke=gf.Smoke(extinction=1e-3))
    seen = frame.volume._work.shaded.read()[:, :13, :, 1].astype(float)
    axes, turned = across(np.array(way) / np.linalg.norm(way))
    sides = (turned @ SPREAD).T @ axes[:2] / 16.0  # metres
    steps = (-1.0, -1.0 / 3.0, 1.0 / 3.0, 1.0)
    offs = np.array([(i, j) for i in steps for j in steps]) @ sides
    x, y = (GRID.centers()[0, :13, :, n, None] + offs[:, n] for n in (0, 1))
    above = np.stack([x + way[0] / way[1] * (height - y) for height in (0.865, 0.935)])
    shares = []
    texel = frame._shadows._laid[0].tile.texel * np.hypot(1.0, np.hypot(way[0], way[2]))
    for half in (0.15 + texel, 0.15 - texel):
        hidden = (above.min(axis=0) < -0.1 + half) & (above.max(axis=0) > -0.1 - half)
        shares.append(1.0 - hidden.mean(axis=-1))
    least, most = shares
    assert ((least > 0.2) & (most < 0.8)).sum() > 8 and (most - least).mean() < 0.03
    lit = seen / seen.max(axis=(0, 2), keepdims=True)
    assert (lit > least - 0.02).all() and (lit < most + 0.02).all()


@pytest.mark.parametrize("lamp", [False, True])
@pytest.mark.parametrize("method", ["view-slices", "ray-march"])
def test_the_edge_of_a_shadow_on_dense_smoke_has_no_speckles(
    fluid: gf.Fluid, ctx: moderngl.Context, method: Any, lamp: bool
) -> None:
    """That of a bar on an opaque bank of smoke, along the cells: as wide in all rows of pixels."""
    smoke = np.zeros((16, 16, 16))
    smoke[:, :6] = 1.0
    fluid.density.write(smoke)
    fluid.obstacles.add(gf.Obstacle(gf.Box(size=(0.21, 0.08, 3.0)), (-0.03, 0.75, 0.0), visible=False))
    dark, sun = gf.Light(color=(0.0, 0.0, 0.0), ambient=(0.0, 0.0, 0.0)), (0.25, -1.0, 0.2)
    lights: tuple[gf.PointLight, ...] = (gf.PointLight((-0.25, 2.3, 0.2), (9.0, 9.0, 9.0)),) if lamp else ()
    light = dark if lamp else gf.Light(direction=sun, color=(2.0, 2.0, 2.0), ambient=(0.0, 0.0, 0.0))
    camera = gf.Camera((0.0, 0.37, 0.0), 3.0, azimuth=0.0, elevation=89.0, fov=12.0)
    frame = FrameRenderer(ctx, (200, 200), volume=gf.VolumeRenderer(ctx, method=method))
    seen = drawn(frame, fluid, camera=camera, light=light, lights=lights, smoke=gf.Smoke(extinction=300.0))
    rows = seen[40:160].astype(float)
    width = (1.0 - rows / rows.max(axis=1, keepdims=True)).sum(axis=1)  # pixels
    off = np.arange(width.size)
    even = np.polyval(np.polyfit(off, width, 2), off)  # the light of a lamp fades away from it
    assert 20.0 < width.mean() < 150.0 and (rows.min(axis=1) < 0.05 * rows.max(axis=1)).all()
    assert (width - even).std() < 0.1
    frame.release()


def test_a_beam_in_smoke_stays_where_it_is_when_the_box_moves_on(
    ctx: moderngl.Context, frame: FrameRenderer
) -> None:
    """Each cell of the world is as light as before, wherever in the box it now is."""
    fluid = gf.Fluid(GRID, gf.Boundaries.all(gf.Open()), backend="fragment", ctx=ctx)
    fluid.obstacles.add(gf.Obstacle(gf.Box(size=(0.3, 0.07, 0.5)), (-0.1, 0.9, 0.0), visible=False))
    light = gf.Light(direction=(0.3, -1.0, 0.2), color=(1.0, 1.0, 1.0), ambient=(0.0, 0.0, 0.0))
    seen = []
    for _ in range(2):
        fluid.density.write(np.ones((16, 16, 16)))
        drawn(frame, fluid, light=light, smoke=gf.Smoke(extinction=1e-3))
        seen.append(frame.volume._work.shaded.read()[..., 1].astype(float))
        fluid.scroll((1, 2, 3))
    before, after = seen[0][3:, 2:13, 1:], seen[1][:-3, :11, :-1]
    assert ((before > 0.1 * before.max()) & (before < 0.9 * before.max())).sum() > 20
    np.testing.assert_allclose(after, before, atol=0.01 * before.max())
    fluid.release()


def test_the_gloss_of_a_solid_lies_over_its_paint(fluid: gf.Fluid, ctx: moderngl.Context) -> None:
    """Black paint shows nothing else: half the gloss is half as bright, none of it black."""
    frame, seen = FrameRenderer(ctx, (64, 64), background=(0.0, 0.0, 0.0)), []
    ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.3), (0.0, 0.5, 0.0), color=(0.0, 0.0, 0.0)))
    camera = gf.Camera(target=(0.0, 0.5, 0.0), distance=2.0)
    for gloss in (1.0, 0.5, 0.0):
        ball.gloss = gloss
        seen.append(drawn(frame, fluid, camera=camera, floor=None, light=gf.Light()))
    inside = np.hypot(*(np.indices((64, 64)) - 31.5)) < 13.0  # its outline is no mean of radiance
    assert seen[0][inside].max() > 0.1 and (seen[0] > 0.0).sum() < 1.7 * inside.sum()
    np.testing.assert_allclose(seen[1][inside], 0.5 * seen[0][inside], rtol=2e-3, atol=1e-6)
    assert seen[2].max() == 0.0
    frame.release()


def test_lamps_are_seen_in_a_gloss_as_the_sun_is(fluid: gf.Fluid, ctx: moderngl.Context) -> None:
    """Light of the sun, of a lamp with a direction and of one far away is the same, highlight and all."""
    frame, seen = FrameRenderer(ctx, (64, 64), background=(0.0, 0.0, 0.0)), []
    fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.3), (0.0, 0.5, 0.0), color=(0.05, 0.1, 0.2)))
    camera, nothing = gf.Camera(target=(0.0, 0.5, 0.0), distance=2.0, azimuth=10.0), (0.0, 0.0, 0.0)
    way, far = np.array((-0.48, -0.6, -0.64)), 300.0  # m
    sun = gf.Light(direction=tuple(way), color=(3.0, 2.0, 1.0), ambient=nothing)
    dark = gf.Light(direction=tuple(way), color=nothing, ambient=nothing)
    place = tuple((np.array(camera.target) - far * way).tolist())
    lamp = gf.PointLight(place, color=tuple(far**2 * np.array(sun.color)))
    for light, lights in ((sun, []), (dark, [sun]), (dark, [lamp])):
        frame.draw(gf.Scene(fluid, camera=camera, floor=None, light=light, lights=lights))
        seen.append(frame.read_hdr()[..., :3].astype(float))
    frame.release()
    assert seen[0].max() > 3.0 * sun.color[0] * 0.05  # more than matt paint has
    for other in seen[1:]:
        np.testing.assert_allclose(other, seen[0], atol=0.01)


def test_a_solid_glows_by_itself(fluid: gf.Fluid, ctx: moderngl.Context) -> None:
    """As bright as it says, beside what it throws back; no other is the brighter, and there is a limit."""
    frame, seen = FrameRenderer(ctx, (64, 64), background=(0.0, 0.0, 0.0)), []
    ember = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.2), (-0.25, 0.5, 0.0)))
    fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.2), (0.25, 0.5, 0.0)))
    camera, dim = gf.Camera((0.0, 0.5, 0.0), 2.0, azimuth=0.0), gf.Light(color=(0.5, 0.5, 0.5))
    scene, glow = gf.Scene(fluid, camera=camera, light=dim, floor=None), (2.0, 0.5, 0.0)
    for emission in ((0.0, 0.0, 0.0), glow, (1e30, 0.0, 0.0)):
        ember.emission = emission
        frame.draw(scene)
        seen.append(frame.read_hdr()[..., :3].copy())
    brighter, inside = seen[1] - seen[0], seen[1][..., 0] >= 2.0
    assert 80 < inside.sum() < 800 and not inside[:, 32:].any()
    np.testing.assert_allclose(brighter[inside], np.broadcast_to(glow, brighter[inside].shape), atol=4e-3)
    np.testing.assert_array_equal(seen[1][:, 32:], seen[0][:, 32:])
    assert 1e4 < seen[2].max() <= 6e4  # below the largest half float
    frame.release()


def test_a_lamp_shines_out_of_what_glows(fluid: gf.Fluid, ctx: moderngl.Context) -> None:
    """As if nothing were round it, on the floor and in smoke; other solids throw their shadows as ever."""
    frame = FrameRenderer(ctx, (200, 200), background=(0.0, 0.0, 0.0), floor_color=(0.5, 0.5, 0.5))
    post = fluid.obstacles.add(gf.Obstacle(gf.Box(size=(0.1, 0.4, 0.1)), (0.25, 0.2, 0.0), visible=False))
    fluid.obstacles.add(gf.Obstacle(gf.Box(size=(0.1, 0.4, 0.1)), (-0.3, 0.2, 0.1), visible=False))
    smoke = np.zeros(fluid.grid.cells[::-1])
    smoke[:4, :, :4] = 4.0
    fluid.density.write(smoke)
    lamp = gf.PointLight((0.02, 0.55, -0.01))
    dark = gf.Light(color=(0.0, 0.0, 0.0), ambient=(0.0, 0.0, 0.0))

    def seen() -> NDArray[np.float32]:
        return drawn(frame, fluid, light=dark, lights=[lamp])

    alone = seen()
    bulb = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.1), (0.0, 0.5, 0.0), visible=False))
    shut = seen()
    bulb.emission = (1.0, 0.0, 0.0)
    assert (np.abs(seen() - alone) > 1e-3).mean() < 0.02, "more than the edges of the post's shadow"
    fluid.obstacles.remove(post)
    assert np.abs(seen() - alone).max() > 0.3 * alone.max(), "the post threw no shadow"
    assert shut.max() < 0.02 * alone.max() and alone.max() > 0.5
    for beside in ((0.0, 0.39, 0.0), (0.0, 0.61, 0.0)):
        lamp.position, bulb.emission = beside, (1.0, 0.0, 0.0)
        bright = seen()
        bulb.emission = (0.0, 0.0, 0.0)
        np.testing.assert_array_equal(seen(), bright)
    frame.release()


def test_the_shade_under_a_solid_is_soft_and_as_round_as_it_is(fluid: gf.Fluid, frame: FrameRenderer) -> None:
    """Of the light from above a ball takes some, least at its rim: all round alike, though it is of cells."""
    fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.25), (0.0, 0.5, 0.0), visible=False))
    sky = gf.Light(direction=(0.0, -1.0, 0.0), color=(0.0, 0.0, 0.0), ambient=(1.0, 1.0, 1.0))
    share = share_of_light(drawn(frame, fluid, light=sky), *on_floor())
    away = np.hypot(*on_floor())
    rings = [share[(away > r) & (away < r + 0.02)] for r in np.arange(0.0, 0.4, 0.02)]
    means = np.array([ring.mean() for ring in rings])
    assert means[0] < 0.7 and means[-1] > 0.97
    assert (np.diff(means) > -0.02).all() and np.diff(means).max() < 0.05
    assert max(ring.std() for ring in rings) < 0.035


def test_a_solid_with_the_sun_behind_the_viewer_is_all_there(fluid: gf.Fluid, ctx: moderngl.Context) -> None:
    """A cosine that rounding takes above 1 once left black blocks in one picture out of ten."""
    frame = FrameRenderer(ctx, (320, 180), background=(0.0, 0.0, 0.0))
    fluid.obstacles.add(gf.Obstacle(gf.Box(size=(6.0, 6.0, 0.2)), (0.0, 0.5, -2.0)))
    for turn in range(6):
        camera = gf.Camera(target=(0.0, 0.5, 0.0), distance=3.0, azimuth=3.1 * turn, elevation=7.0, fov=2.0)
        way = tuple(t - e for t, e in zip(camera.target, camera.eye, strict=True))
        seen = drawn(frame, fluid, camera=camera, light=gf.Light(direction=way), floor=None)
        assert np.isfinite(seen).all()
        assert seen.min() > 0.5 * seen.max()
    frame.release()


@pytest.mark.parametrize("normal", [(0.0, 1.0, 0.0), (0.5, 1.0, 0.2), (1.0, 0.1, 0.0)])
def test_a_plane_shades_what_is_behind_it(
    fluid: gf.Fluid, frame: FrameRenderer, normal: tuple[float, float, float]
) -> None:
    """Smoke before a wall that the sun is behind has none of its light; all where it is before it."""
    fluid.density.write(np.ones((16, 16, 16)))
    point = np.array((0.0, 0.5, 0.0))
    fluid.obstacles.add(gf.Obstacle(gf.Plane(tuple(point), normal)))
    fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.1), (0.0, 0.5, 1.2)))  # something beside it
    way = np.array(normal) / np.linalg.norm(normal)
    cells = np.stack(np.meshgrid(*((np.arange(16) + 0.5) / 16,) * 3, indexing="ij"), -1)[..., ::-1]
    places = cells + np.array((-0.5, 0.0, -0.5))
    before = (places - point) @ way
    foot = places - before[..., None] * way  # where their light crosses the plane: in the box, with room
    those = (before > 0.1) & (np.abs(foot - point) < 0.4).all(axis=-1)
    for sign in (1.0, -1.0):
        light = gf.Light(direction=tuple(sign * way), color=(1.0, 1.0, 1.0), ambient=(0.0, 0.0, 0.0))
        drawn(frame, fluid, light=light, smoke=gf.Smoke(extinction=1e-3), floor=None)
        shaded = frame.volume._work.shaded
        seen = shaded.read()[..., 1].astype(float)[those]
        if sign > 0.0:
            assert seen.max() < 1e-9
        else:
            assert seen.min() > 0.9 * seen.max() > 0.0


def test_smoke_is_lit_anew_when_a_solid_of_another_box_moves(ctx: moderngl.Context, fluid: gf.Fluid) -> None:
    """Its own box is as it was, and light that is as it was is taken over."""
    beside = gf.Fluid(gf.Grid((16, 16, 16), 1 / 16, (0.5, 0.0, -0.5)), backend="fragment", ctx=ctx)
    beside.density.write(np.ones((16, 16, 16)))
    plate = fluid.obstacles.add(gf.Obstacle(gf.Box(size=(0.4, 0.07, 0.6)), (0.2, 0.8, 0.0)))
    frame, lit = FrameRenderer(ctx, (64, 64), background=WHITE), []
    for y in (0.8, 0.8, 0.3):
        plate.position = (0.2, y, 0.0)
        frame.draw(gf.Scene(fluid, others=(beside,), camera=TOP, light=SLANTED, floor=0.0))
        shaded = frame._more[0]._work.shaded
        lit.append(shaded.read()[..., 1].astype(float))
    np.testing.assert_array_equal(lit[0], lit[1])
    assert (np.abs(lit[2] - lit[0]) > 0.2 * lit[0].max()).sum() > 50
    frame.release()
    beside.release()
