"""Hands that reach into the fluid from a window."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gpufluid.app import studio_pick as pick
from gpufluid.hand import Hand
from gpufluid.scene import Scene

if TYPE_CHECKING:
    from gpufluid.app.window import Player


def hand_of(scene: Scene) -> Hand | None:
    """What a drag in the picture of `scene` does to its fluid; None: it turns the view.

    In 2D, where there is nothing to turn, a hand is there also where the scene has none of its own.
    """
    if scene.hand is None and scene.fluid.grid.dimensions == 2:
        return Hand()
    return scene.hand


class Brush:
    """A drag that goes through the fluid, at the depth where it went in.

    hand: what it does there, asked for in every frame.
    """

    def __init__(self, player: Player, hand: Callable[[], Hand | None]) -> None:
        self.player, self.hand = player, hand
        ray = player.ray(*player.pointer)
        self.anchor, self.normal = pick.depth_for_hand(player.scene.fluid, ray, player.forward)
        met = ray.meets(self.anchor, self.normal)
        self.point: NDArray[np.float64] = self.anchor if met is None else met
        self.last = self.point
        player.scene.touched = True

    def move(self, x: float, y: float, dx: float, dy: float) -> None:
        """The hand is elsewhere."""
        met = self.player.ray(x, y).meets(self.anchor, self.normal)
        if met is not None:
            self.point = met

    def release(self) -> None:
        """The hand is out, and nothing stays of it."""

    def stroke(self) -> None:
        """Leave in the next frame what the hand did since the last one."""
        start, end, self.last = self.last.tolist(), self.point.tolist(), self.point
        hand = self.hand()
        if hand is not None:
            self.player.scene.stroke(start, end, hand)
