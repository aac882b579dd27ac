"""Where a picture is taken from: matrices, and the rays through its pixels.

Matrices are 4x4 and stand left of a column vector: ``clip = projection @ view @ (x, y, z, 1)``. This is the
only file that uses pyrr; it gives row-vector matrices and wants float input, both settled here.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import moderngl
import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpufluid.common.errors import GpufluidError, one_of
from gpufluid.common.vectors import Floats
from gpufluid.description.grid import Grid
from gpufluid.description.view import Camera
from gpufluid.gl.state import guard_of

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # where it is compiled for the first time: of escapes in its texts
    import pyrr

TOUCHING = 1e-3  # cells by which boxes that stand side by side may reach into each other, by rounding
SHEAR = 1e-3  # what a view may be off from a rotation, of 1
SCALED = 1e-5  # from which on a scale is none of rounding
Matrix = NDArray[np.float32]
CLIP_Z = ((-1, 1), (0, 1))


@dataclass(frozen=True, eq=False)
class Rays:
    """The ray through each point (x, y) of the picture, both -1 .. 1, y up.

    origin, direction: [3, 3], metres; row 0 holds for the centre, rows 1 and 2 are added times x and y.
    Directions have length 1 along `forward`, so the ray's parameter is the depth in front of the eye.
    near: the depth the picture begins at, metres.
    """

    origin: Floats
    direction: Floats
    forward: Floats
    near: float

    @property
    def parallel(self) -> bool:
        """Whether the rays never meet."""
        return bool(self.origin[1:].any())

    def depth(self, points: Floats) -> Floats:
        """Depth of points [..., 3] along `forward`, metres."""
        depth: Floats = (points - self.origin[0]) @ self.forward
        return depth


@dataclass(frozen=True)
class View:
    """A view and a projection matrix, float32 [4, 4] each.

    clip_z: the depths in clip space that the values 0 and 1 of a depth texture stand for, which are where the
    picture begins and ends, or ends and begins. (-1, 1) is what OpenGL does by itself, (0, 1) after
    glClipControl(..., GL_ZERO_TO_ONE).
    """

    view: Matrix
    projection: Matrix
    clip_z: tuple[float, float] = CLIP_Z[0]

    @property
    def exact_clip(self) -> Floats:
        """World to clip space, multiplied in double precision, float64 [4, 4]."""
        return self.projection.astype(np.float64) @ self.view.astype(np.float64)

    @property
    def clip(self) -> Matrix:
        """World to clip space, float32 [4, 4]."""
        return self.exact_clip.astype(np.float32)

    @cached_property
    def inverse(self) -> Matrix:
        """Clip space to world, float32 [4, 4], inverted in double precision."""
        return np.linalg.inv(self.exact_clip).astype(np.float32)

    @cached_property
    def is_perspective(self) -> bool:
        """Whether rays meet at an eye; else they are parallel."""
        return bool(self.projection[3, 2] < -0.5)

    @cached_property
    def rays(self) -> Rays:
        """The rays through the picture's points, in world space."""
        p = self.projection.astype(np.float64)
        to_world = np.linalg.inv(self.view.astype(np.float64))
        turn = to_world[:3, :3]
        # in eye space p[:2, :2] @ xy = w picture - z p[:2, 2] - p[:2, 3], where w is the depth, -z, or 1
        solve = np.linalg.inv(p[:2, :2])
        origin, direction = np.zeros((3, 3)), np.zeros((3, 3))
        direction[0, 2] = -1.0
        if self.is_perspective:
            direction[0, :2] = solve @ p[:2, 2]
            direction[1:, :2] = solve.T
            at = [p[2, 3] / (n + p[2, 2]) for n in self.clip_z if n + p[2, 2] != 0.0]
            near = min((d for d in at if d > 0.0), default=0.0)
        else:
            origin[0, :2] = -solve @ p[:2, 3]
            origin[1:, :2] = solve.T
            direction[0, :2] = solve @ p[:2, 2]
            near = min((p[2, 3] - n) / p[2, 2] for n in self.clip_z)
        world_origin = origin @ turn.T
        world_origin[0] += to_world[:3, 3]
        return Rays(world_origin, direction @ turn.T, -turn[:, 2], float(near))

    @property
    def depth_scale(self) -> tuple[float, float, float, float]:
        """(a, b, c, d): the depth in metres is (a z + b) / (c z + d) at depth z, -1 .. 1, of the picture."""
        p = self.projection.astype(np.float64)
        # z (p32 e + p33) = p22 e + p23 with e = -depth
        return float(p[3, 3]), float(-p[2, 3]), float(p[3, 2]), float(-p[2, 2])

    @property
    def texture_scale(self) -> tuple[float, float, float, float]:
        """(a, b, c, d): the depth in metres is (a z + b) / (c z + d) at the value z of a depth texture."""
        a, b, c, d = self.depth_scale
        low, high = self.clip_z
        return a * (high - low), a * low + b, c * (high - low), c * low + d


def middle_of(grid: Grid) -> Floats:
    """The middle of the box, metres."""
    return np.array(grid.origin) + 0.5 * np.array(grid.size)


def _may_hide(one: Grid, other: Grid, rays: Rays) -> bool:
    """Whether a ray may come through `one` and then `other`: not if a plane between them says no."""
    slack = TOUCHING * min(one.cell_size, other.cell_size)
    for axis, eye in enumerate(rays.origin[0]):
        low, high = one.origin[axis], one.origin[axis] + one.size[axis]
        below = high - slack <= other.origin[axis]
        above = low + slack >= other.origin[axis] + other.size[axis]
        if rays.parallel:
            back = (below and rays.direction[0, axis] <= 0.0) or (above and rays.direction[0, axis] >= 0.0)
        else:
            back = (below and eye >= high) or (above and eye <= low)
        if back:
            return False
    return True


def farthest_first(grids: Sequence[Grid], rays: Rays) -> list[int]:
    """Return in which order to draw boxes, so that none is drawn before another that it hides.

    Where there is no such order, as for boxes that overlap, they go by the depth of their middles.
    """
    left = list(range(len(grids)))
    if len(left) == 1:
        return left
    left.sort(key=lambda n: -float(rays.depth(middle_of(grids[n]))))
    order = []
    while left:
        last = (n for n in left if not any(m != n and _may_hide(grids[n], grids[m], rays) for m in left))
        order.append(next(last, left[0]))
        left.remove(order[-1])
    return order


def cells_of(grid: Grid) -> Floats:
    """[4, 4]: metres in the world to cells from the low corner of the box."""
    matrix = np.eye(4)
    matrix[:3, :3] /= grid.cell_size
    matrix[:3, 3] = -np.array(grid.origin) / grid.cell_size
    return matrix


def clip_of_cells(grid: Grid, view: View) -> Floats:
    """[4, 4]: cells from the low corner of the box to clip space, in double precision."""
    return view.exact_clip @ np.linalg.inv(cells_of(grid))


def view_of(
    camera: Camera | View | tuple[ArrayLike, ArrayLike],
    aspect: float,
    clip_z: tuple[float, float] = CLIP_Z[0],
) -> View:
    """Return the matrices of `camera` for pictures `aspect` times as wide as high.

    camera: a Camera, or a host's own (view, projection), which has its aspect already, and a view that may
    scale all axes alike; a View is what is returned. clip_z: see `View`.
    Raises GpufluidError for what is no camera and no pair of usable matrices.
    """
    if isinstance(camera, View):
        return camera
    if isinstance(clip_z, tuple) and clip_z == (1, 0):
        raise GpufluidError("clip_z must be (0, 1) for reversed z too: the projection turns it round")
    one_of(clip_z, CLIP_Z, "clip_z")
    if isinstance(camera, Camera):
        camera.check()
        eye, target = np.array(camera.eye, np.float64), np.array(camera.target, np.float64)
        view = pyrr.matrix44.create_look_at(eye, target, np.array([0.0, 1.0, 0.0]), dtype=np.float64).T
        projection = pyrr.matrix44.create_perspective_projection(
            float(camera.fov), float(aspect), float(camera.near), float(camera.far), dtype=np.float64
        ).T
        return View(_matrix(view, "view"), _matrix(_with_clip_z(projection, clip_z), "projection"), clip_z)
    try:
        view, projection = camera
    except (TypeError, ValueError):
        raise GpufluidError(
            f"camera must be a gpufluid.Camera or a pair (view, projection) of 4x4 matrices, got {camera!r}"
        ) from None
    seen, shown = (_matrix(m, n).astype(np.float64) for m, n in ((view, "view"), (projection, "projection")))
    for name, matrix, rows in (
        ("view", seen, [(0.0, 0.0, 0.0, 1.0)]),
        ("projection", shown, [(0.0, 0.0, -1.0, 0.0), (0.0, 0.0, 0.0, 1.0)]),
    ):
        if not any(np.allclose(matrix[3], row, atol=1e-6) for row in rows):
            turned = any(np.allclose(matrix[:, 3], row, atol=1e-6) for row in rows)
            raise GpufluidError(
                f"the bottom row of the {name} matrix, which stands left of column vectors, must be "
                f"{' or '.join(map(str, rows))}, got {tuple(matrix[3].tolist())}"
                f"{': transpose it' if turned else _advice(matrix)}"
            )
    return View(*_in_metres(seen, shown), clip_z)


def _advice(matrix: Floats) -> str:
    """What may be wrong with a host's matrix, or nothing."""
    if matrix[3, 2] == 1.0:
        return ": a left-handed one; negate its third column and the third row of the view matrix"
    return ""


def _in_metres(view: Floats, projection: Floats) -> tuple[Matrix, Matrix]:
    """The matrices of a host, in single precision, the view without its scale; the same clip space.

    Raises GpufluidError for a view that shears, or scales axes differently.
    """
    scale = float(np.cbrt(abs(np.linalg.det(view[:3, :3]))))
    turn = view[:3, :3] / scale
    if np.abs(turn @ turn.T - np.eye(3)).max() > SHEAR:
        raise GpufluidError(
            f"the view matrix may turn, move, and scale all axes alike, and does more: {view.tolist()}"
        )
    if abs(scale - 1.0) > SCALED:
        view, projection = view.copy(), projection.copy()
        view[:3] /= scale
        if projection[3, 2]:  # as a whole divided by it, which clip space does not tell
            projection[:, 3] /= scale
        else:
            projection[:, :3] *= scale
    return view.astype(np.float32), projection.astype(np.float32)


def hosts_view(
    ctx: moderngl.Context,
    camera: Camera | View | tuple[ArrayLike, ArrayLike],
    aspect: float,
    clip_z: tuple[float, float],
) -> View:
    """`view_of`, of a host that draws in `ctx`.

    Where its matrices are made for a clip space with its origin at the upper left (glClipControl), y is
    turned round: the engine draws with the origin at the lower left.
    """
    view = view_of(camera, aspect, clip_z)
    if view is camera or not guard_of(ctx).upside_down:
        return view
    return View(view.view, view.projection * np.array([[1], [-1], [1], [1]], np.float32), clip_z)


def _with_clip_z(projection: Floats, clip_z: tuple[float, float]) -> Floats:
    """`projection`, which takes what is seen to z = -1 .. 1, for `clip_z`."""
    low, high = clip_z
    change = np.eye(4)
    change[2, 2:] = 0.5 * (high - low), 0.5 * (high + low)
    return change @ projection


def _matrix(value: ArrayLike, name: str) -> Matrix:
    """Return `value` as a finite, invertible float32 [4, 4], or raise naming it."""
    try:
        matrix = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        matrix = np.empty(0)
    if matrix.shape == (16,):
        raise GpufluidError(
            f"the {name} matrix must be 4x4, got 16 numbers: np.reshape(m, (4, 4)).T if these are its columns"
        )
    if matrix.shape != (4, 4) or not np.isfinite(matrix).all() or np.linalg.det(matrix) == 0.0:
        raise GpufluidError(f"the {name} matrix must be a finite, invertible 4x4 matrix, got {value!r}")
    return matrix.astype(np.float32)
