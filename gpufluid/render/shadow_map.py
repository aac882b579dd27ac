"""The shadows that solids throw on the scene: how far the sun's light gets (Williams 1978).

A light volume knows solids by their cells, whose shadows on a surface have teeth. Their triangles, drawn as
the sun sees them, throw shadows with the edges that the picture shows. Smoke is left to the light volumes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from weakref import ref

import moderngl
import numpy as np
from numpy.typing import NDArray

from gpufluid.gl.device import Device, let_go
from gpufluid.gl.passes import give
from gpufluid.gl.source import Source
from gpufluid.grid import Grid
from gpufluid.render.drawn_solids import DrawnSolids, Size, cells_of
from gpufluid.render.solid_meshes import CORNERS, Placed
from gpufluid.render.volume_source import SHADOWS, Program

SIDES = 1024, 2048  # texels, in software and on a GPU
MARGIN = 3  # texels round what throws shadows, in which all is lit
STEPS = 4  # texels grow by the fourth root of 2, or edges would creep while a solid or the eye moves
PIXELS = 0.7  # of the picture, that a texel is at least
ALONG = 1e-3  # the sine of the angle up to which an axis lies along the light
# two places in a cell from its middle, with two more opposite; before the map is turned
SPREAD = np.array(((-3.0, -1.0), (-1.0, 3.0))).T / 8.0
APART = 1e-3  # of the depth, that the first and the last lie within

Floats = NDArray[np.float64]


class ShadowMap:
    """The depth at which light of one direction meets the first of the solids of a scene."""

    def __init__(self, device: Device, solids: DrawnSolids) -> None:
        self.device, self.solids = device, solids
        self.side = SIDES[not device.software]
        self._depths: moderngl.Texture | None = None
        self._target: moderngl.Framebuffer | None = None
        self._near: moderngl.Sampler
        self._between: moderngl.Sampler
        self._holds: object = None
        self._clip = np.eye(4)  # world -> clip space of the map
        self._texel = 0.0  # metres
        self._spread = np.zeros((2, 2))  # of places in a cell of a metre, as shares of the map
        self.thrown: list[Floats] = []  # the corners of boxes round what throws shadows, [8, 3] each
        self.version = 0  # another one whenever it is drawn anew

    @property
    def bytes(self) -> int:
        """GPU memory it takes."""
        return 0 if self._depths is None else 4 * self.side**2

    @property
    def any(self) -> bool:
        """Whether anything throws a shadow."""
        return self._holds is not None

    def update(
        self, throw: Sequence[Placed], unit: Floats, boxes: Sequence[Grid], seen_by: Floats, size: Size
    ) -> None:
        """Draw all that may throw a shadow in or beside the `boxes`. unit: the way of the light, length 1.

        seen_by, size: the matrix from the world to the clip space of the picture, and its size. Texels are no
        finer than its pixels, nearly, or edges of shadows would show those. A ball is as fine here as it is
        there, lest its triangles lie in the shadow of finer ones.
        """
        near = [(one, corners) for one in throw if _beside(corners := one.corners, boxes)]
        throw, self.thrown = [one for one, _ in near], [corners for _, corners in near]
        if not throw:
            self._holds = None
            return
        least = PIXELS * _pixel(self.thrown, seen_by, size)
        axes, turned = _across(unit)
        clip, texel = _framed(self.thrown, axes, boxes, self.side, least)
        meshes = [self.solids.as_fine(one, seen_by, size) for one in throw]
        holds = clip.tobytes(), [(ref(m), one.matrix.tobytes()) for m, one in zip(meshes, throw, strict=True)]
        if holds == self._holds:
            return
        self._holds, self._clip, self._texel = None, clip, texel
        self._spread = (turned @ SPREAD).T / (self.side * texel)
        ctx = self.device.ctx
        if self._depths is None:
            self.device.settle()
            self._depths = ctx.depth_texture((self.side, self.side))
            self._depths.repeat_x = self._depths.repeat_y = False
            self._depths.compare_func = "<="
            self._near, self._between = (
                ctx.sampler(False, False, False, (way, way), compare_func="<=")
                for way in (moderngl.NEAREST, moderngl.LINEAR)
            )
            self._target = ctx.framebuffer(depth_attachment=self._depths)
        assert self._target is not None
        program = self.device.keep("shadow map", self._program)
        self._target.use()
        self._target.clear(depth=1.0)
        ctx.enable_only(moderngl.DEPTH_TEST)
        ctx.depth_func = "<"
        for one, triangles in self.solids.arrays(throw, program, seen_by, size):
            give(program, {"to_clip": clip @ one.matrix})
            triangles.render(moderngl.TRIANGLES)
        ctx.enable_only(moderngl.NOTHING)
        self._holds, self.version = holds, self.version + 1

    def _program(self) -> moderngl.Program:
        vertex = Source("shadow map (vertex)").add("#version 330 core", "<stage>")
        fragment = Source("shadow map").add("#version 330 core\nvoid main() {}", "<stage>")
        return self.device.fragment_program(
            fragment, vertex.include("render/shadow_vertex.glsl"), handed=False
        )

    @contextmanager
    def read_by(self, program: Program, grid: Grid, filtered: bool) -> Iterator[None]:
        """Let ``past_solids.glsl`` in `program` read it while the body runs, for places in cells of `grid`.

        filtered: between texels too, which surfaces need; software takes twice as long for it.
        """
        assert self._depths is not None
        half = np.diag([0.5, 0.5, 0.5, 1.0])
        half[:3, 3] = 0.5
        give(
            program,
            {
                "solid_depths": SHADOWS,
                "to_depths": half @ self._clip @ np.linalg.inv(cells_of(grid)),
                "depth_texel": self._texel / grid.cell_size,
                "depth_spread": tuple((self._spread * grid.cell_size).ravel()),
            },
        )
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


def _beside(corners: Floats, boxes: Sequence[Grid]) -> bool:
    """Whether it lies in a box, or no further beside it than that is wide: what is parked is gone."""
    least, most = corners.min(axis=0), corners.max(axis=0)
    sides = ((np.array(grid.origin), np.array(grid.upper)) for grid in boxes)
    return any(bool((most >= 2.0 * a - b).all() and (least <= 2.0 * b - a).all()) for a, b in sides)


def _across(unit: Floats) -> tuple[Floats, Floats]:
    """Two axes across the light's way and that itself, [3, 3], and how the first two were turned, [2, 2].

    They lie as far as can be from the edges of boxes along x, y and z: an edge that lies nearly along a row
    of texels has steps far apart, which no filter hides.
    """
    aside = np.cross(unit, np.eye(3)[np.abs(unit).argmin()])
    aside /= np.linalg.norm(aside)
    across = np.array([aside, np.cross(aside, unit)])
    seen = np.linalg.norm(across, axis=0) > ALONG
    quarter = 0.5 * np.pi
    angles = np.sort(np.arctan2(across[1, seen], across[0, seen]) % quarter)
    gaps = np.diff(angles, append=angles[0] + quarter)
    widest = int(gaps.argmax())
    turn = angles[widest] + 0.5 * gaps[widest]
    turned = np.array(((np.cos(turn), np.sin(turn)), (-np.sin(turn), np.cos(turn))))
    return np.array([*turned @ across, unit]), turned


def _pixel(thrown: Sequence[Floats], seen_by: Floats, size: Size) -> float:
    """How large a pixel is in the midst of the nearest of them before the eye, metres; 0: there is none.

    Of the solids, not of the boxes: a box that moves on over them leaves the map as it is.
    """
    ahead = (float(seen_by[3] @ (*corners.mean(axis=0), 1.0)) for corners in thrown)
    near = min((w for w in ahead if w > 0.0), default=0.0)
    return 2.0 * near / float(np.linalg.norm(seen_by[1, :3])) / size[1]


def _framed(
    thrown: Sequence[Floats], axes: Floats, boxes: Sequence[Grid], side: int, least: float
) -> tuple[Floats, float]:
    """The matrix from the world to the clip space of the map, and the size of its texels in metres.

    Of what is large it holds what lies as near to the boxes, seen along the light. thrown: corners of all.
    axes: of rows and columns, and of the light. side: texels along each side. least: how small one may be,
    metres.
    """
    solids = np.concatenate(thrown) @ axes.T
    room = np.concatenate([np.where(CORNERS, grid.origin, grid.upper) @ axes.T for grid in boxes])
    beside = np.ptp(room, axis=0)
    low, high = solids.min(axis=0), solids.max(axis=0)
    first = np.maximum(low, room.min(axis=0) - beside)[:2]
    last = np.minimum(high, room.max(axis=0) + beside)[:2]
    texel = float(np.maximum(last - first, 1e-6 * beside[:2]).max()) / (side - 2 * MARGIN - 1)
    texel = max(texel, least)
    texel = 2.0 ** (np.ceil(STEPS * np.log2(texel)) / STEPS)
    first = (np.floor(first / texel) - MARGIN) * texel
    near, far = low[2], high[2]
    near, far = near - APART * (far - near), far + APART * (far - near)
    clip = np.eye(4)
    clip[:2, :3] = axes[:2] * (2.0 / (side * texel))
    clip[:2, 3] = -first * (2.0 / (side * texel)) - 1.0
    clip[2, :3] = axes[2] * (2.0 / (far - near))
    clip[2, 3] = -(far + near) / (far - near)
    return clip, texel
