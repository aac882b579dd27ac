"""Motion vectors of solids, against closed forms of what a pinhole camera sees."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import gpufluid as gf
from gpufluid.io.motion import motion_of

pytestmark = pytest.mark.usefixtures("one_context")
WIDTH, HEIGHT = SIZE = 120, 90
DISTANCE, FOV = 4.0, 35.0
FOCAL = 0.5 * HEIGHT / math.tan(math.radians(0.5 * FOV))  # pixels
RIGHT = np.arange(WIDTH) + 0.5 - 0.5 * WIDTH  # of the middles of pixels, from the middle of the picture
UP = (0.5 * HEIGHT - 0.5 - np.arange(HEIGHT))[:, None]
Move = Callable[[int], None]


def turned(degrees: float) -> np.ndarray:
    """About z."""
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def front() -> gf.Camera:
    """Looks along -z, `DISTANCE` before the origin: a place (x, y, z) is at FOCAL (x, y) / (DISTANCE - z)."""
    return gf.Camera((0.0, 0.0, 0.0), DISTANCE, azimuth=0.0, elevation=0.0, fov=FOV)


def played(move: Move, *obstacles: gf.Obstacle, frames: int = 3, **look: object) -> gf.Scene:
    """A scene of a box round the origin after some frames; move: called with the number of each, from 0."""
    boundaries = look.pop("boundaries", gf.Boundaries())
    fluid = gf.Fluid(gf.Grid((16, 16, 16), 0.125, (-1.0, -1.0, -1.0)), boundaries)  # type: ignore[arg-type]
    for obstacle in obstacles:
        fluid.obstacles.add(obstacle)
    scene = gf.Scene(fluid, front(), dt=0.1, update=lambda scene, _: move(scene.frame), **look)  # type: ignore[arg-type]
    for _ in range(frames):
        scene.advance()
    return scene


def motion(scene: gf.Scene, **given: object) -> tuple[np.ndarray, np.ndarray]:
    """Pixels that each pixel moves, [h, w, 2], and where solids are seen, [h, w]."""
    with gf.FrameRenderer(scene.fluid.ctx, SIZE) as renderer:
        renderer.draw(scene)
        depth, travel = renderer.read_depth(), renderer.read_travel(scene)
    given = {"later": scene.camera_ahead, **given}
    got = motion_of(scene.fluid, scene.camera, SIZE, scene.dt, depth=depth, travel=travel, **given)  # type: ignore[arg-type]
    return got.astype(np.float64), travel[..., 3] > 0.0


def test_a_ball_goes_as_many_pixels_as_it_moves() -> None:
    """FOCAL v / depth in each pixel, of a place of the sphere; none where another stands still."""
    ball, still = (gf.Obstacle(gf.Sphere(radius=0.35), position=(x, 0.0, 0.0)) for x in (-0.5, 0.6))

    def move(frame: int) -> None:
        ball.position = (-0.8 + 0.1 * (frame + 1), 0.05 * frame, 0.0)

    got, seen = motion(played(move, ball, still))
    x, y = ball.position[:2]
    ray = np.stack(np.broadcast_arrays(RIGHT / FOCAL, UP / FOCAL, -1.0), -1)
    off = np.array([-x, -y, DISTANCE])
    a, b, c = (ray**2).sum(-1), ray @ off, off @ off - 0.35**2
    hit = b * b > a * c * 1.001  # at its outline triangles lie deeper, and up to a quarter of a pixel off
    depth = (-b - np.sqrt(np.where(hit, b * b - a * c, 0.0))) / a
    assert hit.sum() > 400
    assert seen[hit].all()
    np.testing.assert_allclose(got[hit], (FOCAL / depth[hit])[:, None] * (0.1, 0.05), rtol=5e-3)
    beside = np.hypot(RIGHT - FOCAL * x / DISTANCE, UP - FOCAL * y / DISTANCE) > 0.42 * FOCAL / DISTANCE
    assert (seen & beside).sum() > 450, "the other ball is seen"
    assert not got[beside].any()


@pytest.mark.parametrize("visible", [True, False])
def test_a_turning_plate(visible: bool) -> None:
    """Its front, all of one depth, turns in the picture about the place of its axis, which moves too."""
    plate = gf.Obstacle(gf.Box(size=(1.2, 0.5, 0.4)), visible=visible)

    def move(frame: int) -> None:
        plate.position, plate.rotation = (0.05 * frame, -0.1, 0.0), turned(7.0 * frame)

    got, seen = motion(played(move, plate))
    scale = FOCAL / (DISTANCE - 0.2)
    x, y = RIGHT - 0.1 * scale, UP + 0.1 * scale
    local = np.stack(np.broadcast_arrays(x, y), -1) @ turned(14.0)[:2, :2] / scale
    on = (np.abs(local) < (0.57, 0.22)).all(-1)  # less a pixel all round
    assert on.sum() > 700
    if not visible:
        assert not seen.any() and not got.any()
        return
    assert seen[on].all()
    there = np.stack(np.broadcast_arrays(x, y), -1)[on]
    np.testing.assert_allclose(
        got[on], there @ turned(7.0)[:2, :2].T - there + (0.05 * scale, 0.0), atol=2e-3
    )


def test_a_mesh_that_bends() -> None:
    """A sheet that is stretched along x goes on so, each corner straight."""
    sheet = gf.Mesh.box((1.0, 0.8, 0.3))
    body = gf.Obstacle(sheet)

    def move(frame: int) -> None:
        body.shape = sheet.moved(sheet.vertices * (1.0 + 0.1 * frame, 1.0, 1.0))

    got, seen = motion(played(move, body))
    scale = FOCAL / (DISTANCE - 0.15)
    on = (np.abs(RIGHT) < 0.57 * scale) & (np.abs(UP) < 0.37 * scale)
    assert on.sum() > 500 and seen[on].all()
    expected = np.broadcast_to(0.1 / 1.2 * RIGHT, on.shape)
    np.testing.assert_allclose(got[on], np.stack([expected, np.zeros(on.shape)], -1)[on], atol=2e-3)


def test_a_camera_that_moves_past_solid_and_floor() -> None:
    """What stands still goes the other way, by its depth; what has none stays."""
    scene = played(lambda _: None, gf.Obstacle(gf.Box(size=(0.6, 0.6, 0.4))), floor=-0.9)
    scene.camera.target = (0.1, 0.0, 0.0)
    scene.advance()
    scene.camera.target = (0.2, 0.0, 0.0)
    scene.update = None
    scene.advance()
    scene.camera.target = (0.0, 0.0, 0.0)
    got, _ = motion(scene, later=gf.Camera((0.1, 0.0, 0.0), DISTANCE, 0.0, 0.0, FOV))
    scale = FOCAL / (DISTANCE - 0.2)
    on = (np.abs(RIGHT) < 0.27 * scale) & (np.abs(UP) < 0.27 * scale)
    assert on.sum() > 250
    np.testing.assert_allclose(
        got[on], np.broadcast_to((-0.1 * scale, 0.0), got[on].shape), rtol=1e-3, atol=1e-4
    )
    # the floor is -0.9 FOCAL / UP away
    on = np.broadcast_to((-0.45 * scale > UP) & (np.abs(RIGHT) < 30.0), on.shape)
    expected = np.broadcast_to(0.1 * UP / 0.9, on.shape)[on]
    assert on.sum() > 500
    np.testing.assert_allclose(got[on][:, 0], expected, rtol=0.03)  # its depth is that of one sample
    assert not got[UP[:, 0] > 0.5 * scale].any(), "the backdrop"


def test_a_solid_that_was_put_elsewhere_has_none() -> None:
    ball = gf.Obstacle(gf.Sphere(radius=0.2))
    scene = played(lambda frame: setattr(ball, "position", (0.3 * frame - 0.6, 0.0, 0.0)), ball)
    assert motion(scene)[0].any()
    scene.update, ball.position = None, (-0.6, 0.5, 0.0)
    scene.advance()
    got, seen = motion(scene)
    assert not got.any() and seen.any()


def test_a_solid_kept_in_a_periodic_box_goes_over_the_seam() -> None:
    """It is put a box back, and has gone as far as in every frame."""
    ball = gf.Obstacle(gf.Sphere(radius=0.3))

    def move(frame: int) -> None:
        ball.position = ((0.85 + 0.1 * frame + 1.0) % 2.0 - 1.0, 0.0, 0.0)

    sides = gf.Boundaries(left=gf.Periodic(), right=gf.Periodic())
    for frames in (2, 3):  # before the seam and after
        got, seen = motion(played(move, ball, frames=frames, boundaries=sides))
        for side in (RIGHT < -20.0, RIGHT > 20.0):
            here = got[seen & side]
            assert len(here) > 50, "either half of it is seen"
            assert here[:, 0].min() > 0.1 * FOCAL / (DISTANCE + 0.08)  # what the rays at its outline touch
            assert here[:, 0].max() < 0.101 * FOCAL / (DISTANCE - 0.3)


def test_a_solid_that_comes_past_the_camera_goes_outwards() -> None:
    """It is behind the eye in the next frame, where it is in no picture."""
    ball = gf.Obstacle(gf.Sphere(radius=0.5))
    scene = played(lambda frame: setattr(ball, "position", (0.0, 0.0, 0.8 * frame)), ball)
    scene.camera.distance = 2.3
    got, seen = motion(scene, later=scene.camera)
    assert seen.all()
    assert (got[..., 0] * RIGHT > 0.0).all() and (got[..., 1] * UP > 0.0).all()
    assert np.abs(got).max() < 10.0 * 0.5 * WIDTH


@pytest.mark.parametrize(("density", "solid"), [(0.0, True), (0.3, True), (1.0, False)])
def test_what_hides_more_of_a_pixel_gives_its_motion(density: float, solid: bool) -> None:
    """Even smoke that moves upwards before a ball that moves to the right, 0.4 m deep there, 1/m."""
    ball = gf.Obstacle(gf.Sphere(radius=0.6))
    scene = played(lambda frame: setattr(ball, "position", (0.1 * frame, 0.0, 0.0)), ball)
    flow = np.zeros(scene.fluid.velocity.read().shape)
    flow[..., 1] = 1.0
    scene.fluid.density.write(np.full(scene.fluid.density.read().shape, density))
    scene.fluid.velocity.write(flow)
    got, seen = motion(scene, extinction=4.0)
    middle = seen & (np.hypot(RIGHT - 0.2 * FOCAL / DISTANCE, UP) < 8.0)
    assert middle.sum() > 100
    right, up = got[middle].T
    if solid:
        assert right.min() > 0.099 * FOCAL / DISTANCE and np.abs(up).max() < 1e-4
    else:
        assert up.min() > 0.099 * FOCAL / DISTANCE and np.abs(right).max() < 1e-4


def test_what_is_no_picture_of_that_size_is_refused() -> None:
    scene = played(lambda _: None)
    for name, shape in (("depth", (90, 119)), ("travel", (90, 120, 3))):
        with pytest.raises(gf.GpufluidError, match=rf"{name} must have the shape \[90, 120"):
            motion_of(scene.fluid, scene.camera, SIZE, 0.1, **{name: np.zeros(shape)})  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["position", "rotation"])
def test_an_array_that_a_place_was_given_as_stays_the_programs(name: str) -> None:
    """What the program goes on to write into it moves nothing, before the first step as after it."""
    given = np.eye(3)[2] if name == "position" else np.eye(3)
    solid = gf.Obstacle(gf.Sphere(radius=0.1), **{name: given})  # type: ignore[arg-type]
    lamp = gf.PointLight(position=given) if name == "position" else None
    for _ in range(2):
        before = solid.matrix
        given[...] = 0.5
        np.testing.assert_array_equal(solid.matrix, before)
        assert lamp is None or tuple(lamp.position) == (0.0, 0.0, 1.0)
        setattr(solid, name, given := np.eye(3)[1] if name == "position" else np.eye(3)[[1, 2, 0]])
    if name == "position":
        solid.position += given  # type: ignore[operator, assignment]
        assert tuple(solid.position) == (0.0, 2.0, 0.0) and tuple(given) == (0.0, 1.0, 0.0)
