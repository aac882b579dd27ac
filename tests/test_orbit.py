"""The orbit camera under the hand: which way a drag turns, moves and zooms, and how far."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpufluid.app import orbit
from gpufluid.description.view import Camera

HEIGHT = 480.0
drags = st.floats(-2000.0, 2000.0)
cameras = st.builds(
    Camera,
    target=st.tuples(*[st.floats(-2.0, 2.0)] * 3),
    distance=st.floats(0.5, 5.0),
    azimuth=st.floats(-180.0, 180.0),
    elevation=st.floats(-80.0, 80.0),
    fov=st.floats(20.0, 90.0),
)


def on_screen(camera: Camera, point: np.ndarray) -> np.ndarray:
    """Return where `point` is seen, pixels from the middle, x to the right and y downward.

    Written from the eye, the target and the world's up alone, not with the angles that orbit uses.
    """
    forward = np.subtract(camera.target, camera.eye)
    forward /= np.linalg.norm(forward)
    right = np.cross(forward, (0.0, 1.0, 0.0))
    right /= np.linalg.norm(right)
    up = np.cross(right, forward)
    away = np.subtract(point, camera.eye)
    scale = 0.5 * HEIGHT / math.tan(math.radians(camera.fov) / 2.0) / (away @ forward)
    return np.array([away @ right, -(away @ up)]) * scale


def test_scene_follows_a_turn() -> None:
    # What lies between the eye and the target is in front, and goes where the hand goes.
    for dx, dy in ((40.0, 0.0), (-40.0, 0.0), (0.0, 30.0), (0.0, -30.0)):
        camera = Camera(distance=2.0, azimuth=20.0, elevation=15.0)
        front = 0.3 * np.array(camera.eye)
        orbit.rotate(camera, dx, dy, HEIGHT)
        moved = on_screen(camera, front)
        assert moved @ (dx, dy) > 0.0
        assert abs(moved @ (-dy, dx)) < 0.2 * abs(moved @ (dx, dy))


def test_half_a_turn_for_the_height_of_the_window() -> None:
    camera = Camera(azimuth=10.0)
    orbit.rotate(camera, HEIGHT, 0.0, HEIGHT)
    assert camera.azimuth == pytest.approx(-170.0)


@given(camera=cameras, dx=drags, dy=drags)
def test_target_plane_stays_under_the_pointer(camera: Camera, dx: float, dy: float) -> None:
    before = np.array(camera.target)
    orbit.pan(camera, dx, dy, HEIGHT)
    assert on_screen(camera, before) == pytest.approx([dx, dy], abs=1e-6 * (1.0 + abs(dx) + abs(dy)))


@given(camera=cameras, dx=drags, dy=drags, notches=st.floats(-200.0, 200.0))
def test_no_drag_makes_a_camera_no_picture_can_use(
    camera: Camera, dx: float, dy: float, notches: float
) -> None:
    orbit.rotate(camera, dx, dy, HEIGHT)
    orbit.pan(camera, dx, dy, HEIGHT)
    orbit.zoom(camera, notches)
    camera.check()
    assert -180.0 <= camera.azimuth <= 180.0
    assert camera.near < camera.distance < camera.far


def test_wheel_goes_nearer_and_back() -> None:
    camera = Camera(distance=2.0)
    orbit.zoom(camera, 1.0)
    assert camera.distance < 2.0
    orbit.zoom(camera, -1.0)
    assert camera.distance == pytest.approx(2.0)


@pytest.mark.parametrize("notches", [6e3, 1e300])
def test_a_wheel_that_turns_without_end_goes_as_far_as_the_camera_sees(notches: float) -> None:
    """As from a program that sends its own; half of `far`, and four times `near`."""
    camera = Camera(distance=2.0)
    orbit.zoom(camera, -notches)
    assert camera.distance == 0.5 * camera.far
    orbit.zoom(camera, notches)
    assert camera.distance == 4.0 * camera.near


@pytest.mark.parametrize(("distance", "in_first"), [(80.0, False), (0.02, True)])
def test_the_wheel_goes_its_own_way_where_there_is_little_room(distance: float, in_first: bool) -> None:
    """From where somebody has put the camera, near what it clips."""
    camera = Camera(distance=distance)
    orbit.zoom(camera, 1.0 if in_first else -1.0)
    assert camera.distance == distance
    orbit.zoom(camera, -1.0 if in_first else 1.0)
    assert camera.distance == pytest.approx(
        distance / orbit.ZOOM_STEP if in_first else distance * orbit.ZOOM_STEP
    )
