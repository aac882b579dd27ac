"""How each light looks at the solids of a scene: once, or from their midst all round, in tiles of one map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gpufluid.common.vectors import Floats
from gpufluid.description.grid import Grid
from gpufluid.render.solids.solid_meshes import CORNERS

MARGIN = 3  # texels round what throws shadows, in which all is lit
STEPS = 4  # sizes of texels to a factor of 2: any size would let edges creep while a solid or the eye moves
ALONG = 1e-3  # the sine of the angle up to which an axis lies along the light
APART = 1e-3  # of the depth or the width, that the first and the last lie within
PARTS = 3  # along a side of a whole tile lie so many of those of a lamp that looks all round
NEAREST = 1e-3  # of the way to the farthest, which a lamp sees
WAYS = 8  # steps from 0 to 1 of the ways a lamp may look: it does not turn after every little move of a solid
NARROW = 0.5  # the cosine of half the angle that one look of a lamp takes in
# half the sides of the square that is looked up for a cell of 1, before the map is turned: its corners are
# (+-3, +-1) / 5 and so on, and its 4 x 4 places scatter a little more than those in the cell itself
SPREAD = np.array(((-2.0, 1.0), (1.0, 2.0))).T / 5.0
# of looks all round a lamp: none along the edges of boxes
ROUND = np.array(((6.0, 2.0, 3.0), (2.0, 3.0, -6.0), (-3.0, 6.0, 2.0))) / 7.0


class Tile(NamedTuple):
    """One look of a light at solids.

    clip: the matrix from the world to its clip space, [4, 4]; texel: its size, metres, and spread: half the
    sides of the square that is looked up for a cell of a metre, as shares of the tile, [2, 2]: both where the
    fourth of clip space is 1. side: texels along each side.
    """

    clip: Floats
    texel: float
    spread: Floats
    side: int


def from_afar(unit: Floats, thrown: Sequence[Floats], boxes: Sequence[Grid], side: int, least: float) -> Tile:
    """The look of a light that comes from one direction.

    Of what is large it holds what lies as near to the boxes, seen along the light. unit: the light's way,
    length 1. thrown: the corners of boxes round what throws shadows, [8, 3] each, at least one. side: texels
    along each side. least: how small one may be, metres.
    """
    axes, turned = across(unit)
    solids = np.concatenate(thrown) @ axes.T
    room = np.concatenate([np.where(CORNERS, grid.origin, grid.upper) @ axes.T for grid in boxes])
    beside = np.ptp(room, axis=0)
    low, high = solids.min(axis=0), solids.max(axis=0)
    first = np.maximum(low, room.min(axis=0) - beside)[:2]
    last = np.minimum(high, room.max(axis=0) + beside)[:2]
    texel = _texel(np.maximum(last - first, 1e-6 * beside[:2]), side, least)
    first = _first(first, texel)
    apart = APART * float((high - low).max())  # what is flat may lie across the light
    near, far = low[2] - apart, high[2] + apart
    clip = np.eye(4)
    clip[:2, :3] = axes[:2] * (2.0 / (side * texel))
    clip[:2, 3] = -first * (2.0 / (side * texel)) - 1.0
    clip[2, :3] = axes[2] * (2.0 / (far - near))
    clip[2, 3] = -(far + near) / (far - near)
    return Tile(clip, texel, (turned @ SPREAD).T / (side * texel), side)


def from_place(
    place: Floats, thrown: Sequence[Floats], boxes: Sequence[Grid], side: int, least: float
) -> list[Tile]:
    """The looks of a lamp: one where that takes in all, else up to six of a third of the side.

    place: metres; the rest as for `from_afar`. Where no solid is, there is no look.
    """
    off = [corners - place for corners in thrown]
    every = np.concatenate(off)
    room = np.concatenate([np.where(CORNERS, grid.origin, grid.upper) - place for grid in boxes])
    beside = np.concatenate([np.where(CORNERS, -1.0, 1.0) * grid.size for grid in boxes])
    # how near the nearest may be is a share of this, and nothing to what lies far out of a large solid
    far = min(float(np.linalg.norm(every, axis=1).max()), float(np.linalg.norm(room + beside, axis=1).max()))
    far = (1.0 + APART) * max(far, 1e-9)
    ahead = 0.5 * (every.min(axis=0) + every.max(axis=0))
    ahead = np.round(ahead * (WAYS / max(float(np.abs(ahead).max()), 1e-9)))
    length = float(np.linalg.norm(ahead))
    if length > 0.0 and (every @ ahead > NARROW * length * np.linalg.norm(every, axis=1)).all():
        axes, turned = across(ahead / length)
        seen = every @ axes.T
        aside = seen[:, :2] / seen[:, 2:]
        # near a lamp a pixel is wide: there it is the room that counts, which the shadow falls into, but not
        # where its box is: one that moves on leaves texels as they are
        sides = (n * grid.cell_size for grid in boxes for n in grid.cells if n > 1)
        midst = max(float(seen[:, 2].mean()), 0.5 * min(sides, default=0.0))
        texel = _texel(np.maximum(np.ptp(aside, axis=0), 1e-6), side, least / midst)
        near, most = (1.0 - APART) * float(seen[:, 2].min()), (1.0 + APART) * float(seen[:, 2].max())
        spread = (turned @ SPREAD).T / (side * texel)
        first = _first(aside.min(axis=0), texel)
        return [Tile(_perspective(place, axes, first, texel, side, near, most), texel, spread, side)]
    side //= PARTS
    reach = side / (side - 2.0 * MARGIN)  # the tangent of half the angle: of neighbours a look holds a margin
    texel = 2.0 * reach / side
    tiles = []
    for axis in range(3):
        for forth in (ROUND[axis], -ROUND[axis]):
            axes = np.array([ROUND[axis - 2], ROUND[axis - 1], forth])
            if any(_meets(corners @ axes.T, reach) for corners in off):
                clip = _perspective(place, axes, np.array((-reach, -reach)), texel, side, NEAREST * far, far)
                tiles.append(Tile(clip, texel, SPREAD.T / (side * texel), side))
    return tiles


def across(unit: Floats) -> tuple[Floats, Floats]:
    """Two axes across the light's way and that itself, [3, 3], and how the first two were turned, [2, 2].

    They lie as far as can be from the edges of boxes along x, y and z: an edge that lies nearly along a row
    of texels has steps far apart, which no filter hides.
    """
    aside = np.cross(unit, np.eye(3)[np.abs(unit).argmin()])
    aside /= np.linalg.norm(aside)
    both = np.array([aside, np.cross(aside, unit)])
    seen = np.linalg.norm(both, axis=0) > ALONG
    quarter = 0.5 * np.pi
    angles = np.sort(np.arctan2(both[1, seen], both[0, seen]) % quarter)
    gaps = np.diff(angles, append=angles[0] + quarter)
    widest = int(gaps.argmax())
    turn = angles[widest] + 0.5 * gaps[widest]
    turned = np.array(((np.cos(turn), np.sin(turn)), (-np.sin(turn), np.cos(turn))))
    return np.array([*turned @ both, unit]), turned


def _texel(extent: Floats, side: int, least: float) -> float:
    """How large texels are of which `side` hold an `extent`, at least `least`."""
    texel = max(float(extent.max()) / (side - 2 * MARGIN - 1), least)
    return float(2.0 ** (np.ceil(STEPS * np.log2(texel)) / STEPS))


def _first(low: Floats, texel: float) -> Floats:
    """Where the first texels begin, of whole ones: so they stay where they are when something moves."""
    return np.asarray((np.floor(low / texel) - MARGIN) * texel)


def _perspective(
    place: Floats, axes: Floats, first: Floats, texel: float, side: int, near: float, far: float
) -> Floats:
    """The matrix from the world to the clip space of a look along the last of `axes`; w: metres along it.

    first, texel: as tangents of angles.
    """
    clip = np.zeros((4, 4))
    clip[:2, :3] = (axes[:2] - np.outer(first, axes[2])) * (2.0 / (side * texel)) - axes[2]
    clip[2, :3] = axes[2] * ((far + near) / (far - near))
    clip[3, :3] = axes[2]
    clip[:, 3] = -clip[:, :3] @ place
    clip[2, 3] -= 2.0 * far * near / (far - near)
    return clip


def _meets(corners: Floats, reach: float) -> bool:
    """Whether a box, [8, 3] in the axes of a look, is not past one of the sides that this takes in."""
    x, y, z = corners.T
    past = (z <= 0.0, x > reach * z, -x > reach * z, y > reach * z, -y > reach * z)
    return not any(bool(one.all()) for one in past)
