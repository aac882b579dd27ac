"""What a drag of the mouse does in a picture: turn the view, or reach into the fluid. No window in here."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gpufluid.app import orbit, pick
from gpufluid.description.hand import Hand
from gpufluid.description.view import Camera
from gpufluid.scene.scene import Scene


class Stage(Protocol):
    """Where a scene is played and pointed at: a window, or a frame in a notebook."""

    scene: Scene

    @property
    def pointer(self) -> tuple[float, float]:
        """Where the last event saw it, (x, y), y downward, in units of the pointer's."""

    @property
    def height(self) -> int:
        """Of the whole, in the units of the pointer."""

    @property
    def opened(self) -> float:
        """How many times as high as its camera sees the picture shows it, at one depth."""

    def ray(self, x: float, y: float) -> pick.Ray:
        """The ray through a point, in the units of the pointer."""


class Drag(Protocol):
    """What the hand holds while a button is down."""

    def move(self, x: float, y: float, dx: float, dy: float) -> None:
        """The pointer is at (x, y) now, and was (dx, dy) before; screen units."""

    def release(self) -> None:
        """The button is up again."""


class Orbit:
    """A drag that moves the camera."""

    def __init__(self, stage: Stage, way: Callable[..., None]) -> None:
        self.stage, self.way = stage, way

    def move(self, x: float, y: float, dx: float, dy: float) -> None:
        """Turn or move the camera."""
        move_view(self.stage.scene, lambda camera: self.way(camera, dx, dy, self.stage.height))

    def release(self) -> None:
        """Nothing more."""


class Brush:
    """A drag that goes through the fluid, at the depth where it went in.

    hand: what it does there, asked for in every frame.
    """

    def __init__(self, stage: Stage, hand: Callable[[], Hand | None]) -> None:
        self.stage, self.hand = stage, hand
        ray = stage.ray(*stage.pointer)
        self.anchor, self.normal = pick.depth_for_hand(stage.scene.fluid, ray, forward_of(stage.scene.camera))
        met = ray.meets(self.anchor, self.normal)
        self.point: NDArray[np.float64] = self.anchor if met is None else met
        self.last = self.point
        stage.scene.touched = True

    def move(self, x: float, y: float, dx: float, dy: float) -> None:
        """The hand is elsewhere."""
        met = self.stage.ray(x, y).meets(self.anchor, self.normal)
        if met is not None:
            self.point = met

    def release(self) -> None:
        """The hand is out, and nothing stays of it."""

    def stroke(self) -> None:
        """Leave in the next frame what the hand did since the last one."""
        start, end, self.last = self.last.tolist(), self.point.tolist(), self.point
        hand = self.hand()
        if hand is not None:
            self.stage.scene.stroke(start, end, hand)


def hand_of(scene: Scene) -> Hand | None:
    """What a drag in the picture of `scene` does to its fluid; None: it turns the view.

    In 2D, where there is nothing to turn, a hand is there also where the scene has none of its own.
    """
    if scene.hand is None and scene.fluid.grid.dimensions == 2:
        return Hand()
    return scene.hand


def grasp(stage: Stage, *, left: bool, alt: bool) -> Drag:
    """What a button grabs that goes down over the picture: the fluid, or the view.

    left: the left button; others move the view. alt: its key is down, and the fluid is left alone.
    """
    if left and not alt and hand_of(stage.scene) is not None:
        return Brush(stage, lambda: hand_of(stage.scene))
    return Orbit(stage, orbit.rotate if left else partial(orbit.pan, opened=stage.opened))


def move_view(scene: Scene, way: Callable[[Camera], object]) -> None:
    """Let `way` move the camera of `scene`; what it changes follows no keyframes or formula any more."""
    camera = scene.camera
    before = dict(vars(camera))
    way(camera)
    for name, value in before.items():
        if getattr(camera, name) != value:
            scene.hold(camera, name)


def forward_of(camera: Camera) -> NDArray[np.float64]:
    """Where `camera` looks, a vector of length 1."""
    eye, target = np.array(camera.eye), np.array(camera.target)
    away: NDArray[np.float64] = (target - eye) / np.linalg.norm(target - eye)
    return away
