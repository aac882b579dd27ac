"""The hand on an orbit camera: what a drag or a turn of the wheel does to it. No window in here.

Drags are given in pixels of the window, x to the right and y downward, as pointers report them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

from gpufluid.view import Camera

MAX_ELEVATION = 89.0  # degrees; straight up or down the camera would have no "up"
FILLED = 0.94  # share of the picture's width or height that a box takes which is looked at whole
ZOOM_STEP = 0.88  # distance after one notch of the wheel, as a share of the distance before it


def rotate(camera: Camera, dx: float, dy: float, height: float) -> None:
    """Turn `camera` so that the scene follows the hand; half a turn for a drag of the window's height."""
    degrees = 180.0 / height
    # Wrapped to -180 .. 180, so that hours of turning lose no precision.
    camera.azimuth = (camera.azimuth - dx * degrees + 180.0) % 360.0 - 180.0
    camera.elevation = min(max(camera.elevation + dy * degrees, -MAX_ELEVATION), MAX_ELEVATION)


def pan(camera: Camera, dx: float, dy: float, height: float) -> None:
    """Move `camera` and its target so that what lies at the target's depth stays under the pointer."""
    metres = 2.0 * camera.distance * math.tan(math.radians(camera.fov) / 2.0) / height
    right, up = _axes(camera)
    x, y, z = (t + metres * (dy * u - dx * r) for t, r, u in zip(camera.target, right, up, strict=True))
    camera.target = (x, y, z)


def zoom(camera: Camera, notches: float) -> None:
    """Move `camera` to its target for positive `notches`, away for negative ones; never through it."""
    distance = camera.distance * ZOOM_STEP**notches
    # The target stays between the clipping planes with room on both sides.
    camera.distance = min(max(distance, 4.0 * camera.near), 0.5 * camera.far)


def look_at_box(camera: Camera, low: Sequence[float], high: Sequence[float], aspect: float) -> None:
    """Move `camera` so far off the box from `low` to `high`, metres, that all of it is seen from there.

    aspect: width of the picture over its height.
    """
    right, up = _axes(camera)
    half = math.tan(math.radians(camera.fov) / 2.0) * FILLED
    x, y, z = (0.5 * (a + b) for a, b in zip(low, high, strict=True))
    camera.target = (x, y, z)
    towards = tuple((e - t) / camera.distance for e, t in zip(camera.eye, camera.target, strict=True))
    camera.distance = max(
        max(abs(_dot(corner, right)) / (half * aspect), abs(_dot(corner, up)) / half) + _dot(corner, towards)
        for corner in product(*((0.5 * (a - b), 0.5 * (b - a)) for a, b in zip(low, high, strict=True)))
    )


def _axes(camera: Camera) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """What is to the right and up in the picture of `camera`, each of length 1."""
    a, e = math.radians(camera.azimuth), math.radians(camera.elevation)
    right = (math.cos(a), 0.0, -math.sin(a))
    return right, (-math.sin(a) * math.sin(e), math.cos(e), -math.cos(a) * math.sin(e))


def _dot(a: Sequence[float], b: Sequence[float]) -> float:
    return sum(p * q for p, q in zip(a, b, strict=True))
