"""The hand on an orbit camera: what a drag or a turn of the wheel does to it. No window in here.

Drags are given in pixels of the window, x to the right and y downward, as pointers report them.
"""

from __future__ import annotations

import math

from gpufluid.description.view import STEEPEST, Camera

TURN = 12.0  # pixels of a drag that one press of an arrow key stands for
MOST_NOTCHES = 1000.0  # at once: they go past all that a camera sees, and many more overflow
ZOOM_STEP = 0.88  # distance after one notch of the wheel, as a share of the distance before it


def rotate(camera: Camera, dx: float, dy: float, height: float) -> None:
    """Turn `camera` so that the scene follows the hand; half a turn for a drag of the window's height."""
    degrees = 180.0 / height
    # Wrapped to -180 .. 180, so that hours of turning lose no precision.
    camera.azimuth = (camera.azimuth - dx * degrees + 180.0) % 360.0 - 180.0
    camera.elevation = min(max(camera.elevation + dy * degrees, -STEEPEST), STEEPEST)


def pan(camera: Camera, dx: float, dy: float, height: float, opened: float = 1.0) -> None:
    """Move `camera` and its target so that what lies at the target's depth stays under the pointer.

    opened: how many times as high as the camera sees a picture of that `height` shows it.
    """
    metres = 2.0 * opened * camera.distance * math.tan(math.radians(camera.fov) / 2.0) / height
    right, up = camera.axes
    x, y, z = (t + metres * (dy * u - dx * r) for t, r, u in zip(camera.target, right, up, strict=True))
    camera.target = (x, y, z)


def zoom(camera: Camera, notches: float) -> None:
    """Move `camera` to its target for positive `notches`, away for negative ones; never through it."""
    before = camera.distance
    # The target stays between the clipping planes with room on both sides; where somebody has put the camera
    # with less, it does not leap there, which may be the other way.
    least, most = min(4.0 * camera.near, before), max(0.5 * camera.far, before)
    notches = min(max(notches, -MOST_NOTCHES), MOST_NOTCHES)
    camera.distance = min(max(before * ZOOM_STEP**notches, least), most)
