"""The shadows that solids throw on the scene: how far the light of sun and lamps gets (Williams 1978).

A light volume knows solids by their cells, whose shadows on a surface have teeth. Their triangles, drawn as
a light sees them, throw shadows with the edges that the picture shows. Smoke is left to the light volumes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from weakref import ref

import moderngl
import numpy as np
from numpy.typing import NDArray

from gpufluid.common.vectors import Floats
from gpufluid.description.grid import Grid
from gpufluid.description.view import Light, PointLight
from gpufluid.gl.device import Device, let_go
from gpufluid.gl.fences import draw_to
from gpufluid.gl.source import Source
from gpufluid.gl.uniforms import give
from gpufluid.render.camera import cells_of
from gpufluid.render.light.other_lights import unit
from gpufluid.render.light.shadow_tiles import PARTS, Tile, from_afar, from_place
from gpufluid.render.solids.drawn_solids import DrawnSolids, Size, hidden_sides
from gpufluid.render.solids.solid_meshes import Placed
from gpufluid.render.volume_source import SHADOWS, Program

SIDES = 1536, 3072  # texels of a whole tile, in software and on a GPU
PIXELS = 0.35  # of the picture, that a texel is at least: finer ones show nothing
MOST_TILES = 6  # of a lamp; see past_solids.glsl
ROUND_IT, BEFORE = 2.0, 1e-4  # texels, and depth, that a solid is taken to be larger by: more than rounding
FAR = 1e9  # beyond all places and depths


class Laid(NamedTuple):
    """A tile and where in the map it lies: its lower left texel."""

    tile: Tile
    x: int
    y: int


class ShadowMap:
    """The depth at which the light of the sun and of each lamp meets the first of the solids of a scene."""

    def __init__(self, device: Device, solids: DrawnSolids) -> None:
        self.device, self.solids = device, solids
        # four lamps and the sun make three columns of squares
        self.side = min(SIDES[not device.software], device.max_texture_size // 3)
        self._depths: moderngl.Texture | None = None
        self._target: moderngl.Framebuffer | None = None
        self._near: moderngl.Sampler
        self._between: moderngl.Sampler
        self._holds: object = None
        self._laid: list[Laid] = []
        self._lamps: list[tuple[int, int]] = []  # the first tile of each, and the one after its last
        self._told: dict[Grid, dict[str, Any]] = {}  # what shaders are told in this picture, by what they see
        self._sees = np.zeros((0, 0), np.bool_)  # which of the solids each tile does, [tiles, solids]
        self._rects, self._nearest = np.zeros((0, 4)), np.zeros(0)  # of each tile, see `filled`
        self.thrown: list[Floats] = []  # the corners of boxes round what throws shadows, [8, 3] each
        self.version = 0  # changes whenever it is drawn anew

    @property
    def bytes(self) -> int:
        """GPU memory it takes."""
        return 0 if self._depths is None else 4 * self._depths.width * self._depths.height

    @property
    def any(self) -> bool:
        """Whether anything throws a shadow."""
        return self._holds is not None

    def update(
        self,
        throw: Sequence[Placed],
        sun: Floats,
        lamps: Sequence[Light | PointLight],
        boxes: Sequence[Grid],
        seen_by: Floats,
        size: Size,
    ) -> None:
        """Draw all that may throw a shadow in or beside the `boxes`. sun: the way of its light, length 1.

        lamps: the lights beside the sun. seen_by, size: the matrix from the world to the clip space of the
        picture, and its size. A ball is as fine here as it is there, lest its triangles lie in the shadow of
        finer ones.
        """
        self._told.clear()
        near = [(one, corners) for one in throw if _beside(corners := one.corners, boxes)]
        throw, self.thrown = [one for one, _ in near], [corners for _, corners in near]
        if not throw:
            self._holds = None
            return
        least = PIXELS * pixel_size(self.thrown, seen_by, size)
        tiles = [from_afar(sun, self.thrown, boxes, self.side, least)]
        spans, without = [], [set[int]()]
        for lamp in lamps:
            bulbs = set[int]()
            if isinstance(lamp, PointLight):
                place = np.array(lamp.position)
                bulbs = {n for n, one in enumerate(throw) if one.shines_by(place)}
                others = [corners for n, corners in enumerate(self.thrown) if n not in bulbs]
                own = from_place(place, others, boxes, self.side, least) if others else []
            else:
                own = [from_afar(unit(lamp.direction), self.thrown, boxes, self.side, least)]
            spans.append((len(tiles), len(tiles) + len(own)))
            tiles += own
            without += [bulbs] * len(own)
        meshes = [self.solids.as_fine(one, seen_by, size) for one in throw]
        looks = [tile.clip.tobytes() for tile in tiles], spans, without
        holds = looks, [(ref(m), one.matrix.tobytes()) for m, one in zip(meshes, throw, strict=True)]
        if holds == self._holds:
            return
        self._holds = None
        self._laid, columns, rows = laid(tiles, self.side)
        self._lamps = spans
        clips, corners = np.array([tile.clip for tile in tiles]), np.array(self.thrown)
        self._sees = _held(corners, clips)
        for sees, bulbs in zip(self._sees, without, strict=True):
            sees[list(bulbs)] = False
        self._rects, self._nearest = filled(corners, clips, self._sees)
        margins = ROUND_IT / np.array([tile.side for tile in tiles])
        self._rects += margins[:, None] * (-1.0, -1.0, 1.0, 1.0)
        self._make(columns * self.side, rows * self.side)
        self._draw(throw, seen_by, size)
        self._holds, self.version = holds, self.version + 1

    def _make(self, width: int, height: int) -> None:
        """Have a texture that holds so many texels; one that was made for more is kept."""
        if self._depths is not None and self._depths.width >= width and self._depths.height >= height:
            return
        self.release()
        ctx = self.device.ctx
        self._depths = ctx.depth_texture((width, height))
        self._depths.repeat_x = self._depths.repeat_y = False
        self._depths.compare_func = "<="
        self._near, self._between = (
            ctx.sampler(False, False, False, (way, way), compare_func="<=")
            for way in (moderngl.NEAREST, moderngl.LINEAR)
        )
        self._target = ctx.framebuffer(depth_attachment=self._depths)

    def _draw(self, throw: Sequence[Placed], seen_by: Floats, size: Size) -> None:
        """Draw what throws shadows into every tile."""
        ctx, target = self.device.ctx, self._target
        assert target is not None
        program = self.device.keep("shadow map", self._program)
        target.viewport = (0, 0, *target.size)
        draw_to(target)
        target.clear(depth=1.0)
        ctx.depth_func = "<"
        for n, (one, triangles) in enumerate(self.solids.arrays(throw, program, seen_by, size)):
            for number in np.flatnonzero(self._sees[:, n]):
                tile, x, y = self._laid[number]
                target.viewport = (x, y, tile.side, tile.side)
                give(program, {"to_clip": tile.clip @ one.matrix})
                hidden = hidden_sides(one, tile.clip)
                ctx.enable_only(moderngl.DEPTH_TEST | (moderngl.CULL_FACE if hidden else 0))
                ctx.cull_face = hidden or "back"
                triangles.render(moderngl.TRIANGLES)
        ctx.enable_only(moderngl.NOTHING)

    def _program(self) -> moderngl.Program:
        vertex = Source("shadow map (vertex)", 330).include("render/shadow_vertex.glsl")
        return self.device.fragment_program(Source("shadow map", 330).add("void main() {}", "<main>"), vertex)

    def _values(self, depths: moderngl.Texture, grid: Grid) -> dict[str, Any]:
        """What ``past_solids.glsl`` is told to find its places, in cells of `grid`, in `depths`."""
        half = np.diag([0.5, 0.5, 0.5, 1.0])
        half[:3, 3] = 0.5
        world = np.linalg.inv(cells_of(grid))
        size = np.array(depths.size)
        count = 1 + MOST_TILES * len(self._lamps)
        rows, places, spreads = np.zeros((count, 4, 4)), np.ones((count, 4)), np.zeros((count, 4))
        texels, rects, nearest = np.zeros(count), np.zeros((count, 4)), np.zeros(count)
        rects[: len(self._laid)], nearest[: len(self._laid)] = self._rects, self._nearest - BEFORE
        for n, (tile, x, y) in enumerate(self._laid):
            rows[n] = half @ tile.clip @ world
            places[n] = *((x, y) / size), *(tile.side / size)
            spreads[n] = (tile.spread * grid.cell_size).ravel()
            texels[n] = tile.texel / grid.cell_size
        values: dict[str, Any] = {
            "solid_depths": SHADOWS,
            "to_depths": rows.reshape(-1, 4),
            "depth_tiles": places,
            "depth_texels": texels,
            "depth_spreads": spreads,
            "depth_rects": rects,
            "depth_nearest": nearest,
        }
        if self._lamps:
            values["depth_lamps"] = np.array(self._lamps, np.int32).tobytes()
        return values

    @contextmanager
    def read_by(self, program: Program, grid: Grid, filtered: bool) -> Iterator[None]:
        """Let ``past_solids.glsl`` in `program` read it while the body runs, for places in cells of `grid`.

        filtered: between texels too, which surfaces need; software takes twice as long for it.
        """
        assert self._depths is not None
        if grid not in self._told:
            self._told[grid] = self._values(self._depths, grid)
        give(program, self._told[grid])
        sampler = self._between if filtered else self._near
        self._depths.use(SHADOWS)
        sampler.use(SHADOWS)
        try:
            yield
        finally:
            sampler.clear(SHADOWS)

    def release(self) -> None:
        """Release the texture; idempotent."""
        if self._depths is not None:
            let_go(self._target, self._depths, self._near, self._between)
        self._depths = self._target = self._holds = None


def laid(tiles: Sequence[Tile], side: int) -> tuple[list[Laid], int, int]:
    """Where each of the tiles lies in a map of squares of `side` texels, how many columns and how many rows.

    Small tiles, `PARTS` in a row, share squares.
    """
    small = [n for n, tile in enumerate(tiles) if tile.side < side]
    wholes = [n for n, tile in enumerate(tiles) if tile.side == side]
    squares = len(wholes) + -(-len(small) // PARTS**2)
    columns = int(np.ceil(np.sqrt(squares)))
    corners = {n: (k % columns * side, k // columns * side) for k, n in enumerate(wholes)}
    for k, n in enumerate(small):
        square, part = len(wholes) + k // PARTS**2, k % PARTS**2
        corners[n] = (
            square % columns * side + part % PARTS * tiles[n].side,
            square // columns * side + part // PARTS * tiles[n].side,
        )
    return [Laid(tile, *corners[n]) for n, tile in enumerate(tiles)], columns, -(-squares // columns)


def _clipped(corners: Floats, clips: Floats) -> tuple[Floats, Floats]:
    """Corners, [n, 8, 3], in clip spaces, [t, 4, 4]: xyz, [t, n, 8, 3], and w, [t, n, 8, 1]."""
    at = corners @ clips[:, None, :, :3].swapaxes(2, 3) + clips[:, None, None, :, 3]
    return at[..., :3], at[..., 3:]


def _held(corners: Floats, clips: Floats) -> NDArray[np.bool_]:
    """Which boxes, [n, 8, 3], may lie in which clip spaces, [t, 4, 4]: [t, n].

    Those that do not lie past one of their sides with all of their corners.
    """
    at, w = _clipped(corners, clips)
    past = np.concatenate([at > w, at < -w], axis=3)
    return np.asarray(~np.any(np.all(past, axis=2), axis=2))


def filled(corners: Floats, clips: Floats, sees: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Of each tile the rectangle that holds all it sees, first and last place, [t, 4], and the least depth.

    Places and depths are 0 .. 1 in the tile. All is lit beside the rectangle, and before that depth. corners:
    of boxes round solids, [n, 8, 3]; sees: which of them a tile does, [t, n].
    """
    at, w = _clipped(corners, clips)
    with np.errstate(divide="ignore", invalid="ignore"):
        at = 0.5 + 0.5 * at / w
    beside = np.any(w <= 0.0, axis=2)  # and behind the lamp: it may be anywhere
    low = np.where(beside, -FAR, at.min(axis=2))
    high = np.where(beside, FAR, at.max(axis=2))
    low = np.where(sees[..., None], low, FAR).min(axis=1)
    high = np.where(sees[..., None], high, -FAR).max(axis=1)
    return np.concatenate([low[:, :2], high[:, :2]], axis=1), low[:, 2]


def pixel_size(thrown: Sequence[Floats], seen_by: Floats, size: Size) -> float:
    """How large a pixel is in the midst of the nearest of them before the eye, metres; 0: there is none.

    Of the solids, not of the boxes: a box that moves on over them leaves the map as it is.
    """
    ahead = (float(seen_by[3] @ (*corners.mean(axis=0), 1.0)) for corners in thrown)
    near = min((w for w in ahead if w > 0.0), default=0.0)
    return 2.0 * near / float(np.linalg.norm(seen_by[1, :3])) / size[1]


def _beside(corners: Floats, boxes: Sequence[Grid]) -> bool:
    """Whether it lies in a box, or no further beside it than that is wide: what is parked is gone."""
    least, most = corners.min(axis=0), corners.max(axis=0)
    sides = ((np.array(grid.origin), np.array(grid.upper)) for grid in boxes)
    return any(bool((most >= 2.0 * a - b).all() and (least <= 2.0 * b - a).all()) for a, b in sides)
