"""Motion on the screen, for compositing: where what a pixel shows goes until the next frame."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufluid.common.checks import finite_number
from gpufluid.common.errors import GpufluidError
from gpufluid.common.vectors import Floats
from gpufluid.description.view import Camera, Smoke
from gpufluid.engine.fluid import Fluid
from gpufluid.render.camera import View, view_of
from gpufluid.render.fading import edged, fading_sides, spare_ends
from gpufluid.render.fading import fade as fade_at

LEAST = 1e-3  # opacity of a ray under which a pixel shows no smoke
HALF = 0.5  # opacity of smoke under which a pixel shows more of a solid behind it
CLOSER = 0.1  # share of its distance to which what a pixel shows comes in a frame
CHUNK = 1 << 16  # rays at once


def motion_of(
    fluid: Fluid,
    camera: Camera | View,
    size: tuple[int, int],
    dt: float,
    *,
    extinction: float = 40.0,
    fade: float = 0.0,
    edge: float = 0.0,
    depth: NDArray[np.floating] | None = None,
    travel: NDArray[np.floating] | None = None,
    later: Camera | View | None = None,
) -> NDArray[np.float32]:
    """Return [h, w, 2], top row first: pixels (right, up) that what each pixel shows moves in `dt` seconds.

    A pixel shows smoke of many depths; its motion is that of one place, where the ray has met half of what it
    loses on its way through the box (Beer-Lambert): what is in front of it and behind it hides as much. It
    goes on with its velocity for `dt`, and is seen by `camera` before and by `later` after that. A solid of
    which smoke hides less than half has its own motion. What else is opaque, and a solid without `travel`,
    stands still, and counts where smoke hides less than a thousandth. Where nothing is, there is 0.

    extinction, fade, edge: 1/m per unit of density, metres, and a density, as in `gf.Smoke`. depth: [h, w],
    metres along the camera's axis where the opaque scene begins, as `FrameRenderer.read_depth` gives it;
    None: nothing stands in the way. travel: [h, w, 4], how far solids go until the next frame, as
    `FrameRenderer.read_travel` gives it. later: the camera after `dt`; None: it stands still.
    Worked out on the CPU, a sample a cell. Raises GpufluidError for arrays of another size.
    """
    look = Smoke(extinction=extinction, fade=fade, edge=edge)
    return motion_later([fluid], camera, size, dt, look, depth=depth, travel=travel, later=later)()


def motion_later(
    fluids: Sequence[Fluid],
    camera: Camera | View,
    size: tuple[int, int],
    dt: float,
    smoke: Smoke,
    *,
    depth: NDArray[np.floating] | None = None,
    travel: NDArray[np.floating] | None = None,
    later: Camera | View | None = None,
) -> Callable[[], NDArray[np.float32]]:
    """Read the fluids and the camera now, and return what works out `motion_of`, in any thread.

    fluids: the farthest first, whose smoke that of the nearer hides.
    """
    width, height = size
    dt = finite_number(dt, "dt")
    view = view_of(camera, width / height)
    after = view if later is None else view_of(later, width / height)
    hiding = [_Hiding.of(fluid, smoke) for fluid in fluids]
    x, y = np.meshgrid((np.arange(width) + 0.5) * 2 / width - 1, 1 - (np.arange(height) + 0.5) * 2 / height)
    picture = np.stack([np.ones_like(x), x, y], -1).reshape(-1, 3)
    far, gone = np.full(len(picture), np.inf), np.zeros((len(picture), 4))
    if depth is not None:
        far = _pixels(depth, size, "depth", ())[:, 0]
    if travel is not None:
        gone = _pixels(travel, size, "travel", (4,))

    def motion() -> NDArray[np.float32]:
        found = np.zeros((len(picture), 2))
        for start in range(0, len(picture), CHUNK):
            part = slice(start, start + CHUNK)
            found[part] = _opaque_motion(view, after, picture[part], far[part], gone[part])
            least = np.where(gone[part, 3] > 0.0, HALF, LEAST)
            for box in hiding:
                moves, opacity = _motion(view, after, box, picture[part], far[part], dt)
                np.copyto(found[part], moves, where=(opacity > least)[:, None])
        return (found * (0.5 * width, 0.5 * height)).reshape(height, width, 2).astype(np.float32)

    return motion


def _pixels(
    values: NDArray[np.floating], size: tuple[int, int], name: str, channels: tuple[int, ...]
) -> Floats:
    """What is known of each pixel, [pixels, channels], or raise naming it."""
    shape = size[1], size[0], *channels
    if np.shape(values) != shape:
        raise GpufluidError(
            f"{name} must have the shape {list(shape)} of the picture, got {list(np.shape(values))}"
        )
    return np.asarray(values, np.float64).reshape(size[0] * size[1], -1)


def _opaque_motion(view: View, later: View, picture: Floats, far: Floats, gone: Floats) -> Floats:
    """The way of what is opaque in picture coordinates, -1 .. 1, for rays [n, 3] of the picture.

    far: where it begins, m. gone: how far solids go, and where they begin, m, [n, 4].
    """
    solid = gone[:, 3] > 0.0
    begins = np.where(solid, gone[:, 3], far)
    motion = np.zeros((len(picture), 2))
    there = np.isfinite(begins) & (solid | (later is not view))
    start = picture[there] @ view.rays.origin + begins[there, None] * (picture[there] @ view.rays.direction)
    motion[there] = _way(view, start, later, start + gone[there, :3])
    return motion


@dataclass(frozen=True)
class _Hiding:
    """What hides, and how it moves.

    loss: [nz, ny, nx], 1/m. velocity: [nz, ny, nx, 3], m/s. low: corner of the box. first, last: corners of
    the box round all cells that could be seen, metres. cell_size: metres.
    """

    loss: NDArray[np.float32]
    velocity: Floats
    low: Floats
    first: Floats
    last: Floats
    cell_size: float

    @classmethod
    def of(cls, fluid: Fluid, smoke: Smoke) -> _Hiding:
        grid = fluid.grid
        low, h = np.array(grid.origin), grid.cell_size
        sides = fading_sides(fluid, smoke)
        density = sum_of_densities(fluid)
        if sides:
            middles: Floats = np.moveaxis(0.5 + np.indices(density.shape, np.float64)[::-1], 0, -1)
            density = density * fade_at(middles, grid.cells, sides, h / smoke.fade, *spare_ends(fluid, sides))
        loss = (smoke.extinction * edged(density, smoke.edge)).astype(np.float32)
        # all the cells left out, one behind the other, hide less than 1e-5
        hides = np.argwhere(loss * np.linalg.norm(grid.size) > 1e-5)[:, ::-1]
        first, last = (hides.min(0), hides.max(0) + 1) if len(hides) else (np.zeros(3), np.zeros(3))
        velocity = fluid.velocity.at_centers().astype(np.float64)
        return cls(loss, velocity, low, low + h * first, low + h * last, h)


def sum_of_densities(fluid: Fluid) -> Floats:
    """The density of all smoke, the coloured too, [nz, ny, nx], none of it negative."""
    density = np.maximum(fluid.density.read().astype(np.float64), 0.0)
    return np.asarray(density + np.maximum(fluid.color.read().astype(np.float64), 0.0).sum(axis=-1))


def _motion(
    view: View, later: View, smoke: _Hiding, picture: Floats, far: Floats, dt: float
) -> tuple[Floats, Floats]:
    """The way of the smoke in picture coordinates, -1 .. 1, for rays [n, 3] of the picture; its opacity."""
    rays, h = view.rays, smoke.cell_size
    origin, direction = picture @ rays.origin, picture @ rays.direction
    safe = np.where(np.abs(direction) < 1e-12, 1e-12, direction)
    a, b = (smoke.first - origin) / safe, (smoke.last - origin) / safe
    near = np.maximum(np.minimum(a, b).max(1), rays.near)
    end = np.minimum(np.maximum(a, b).min(1), far)
    motion, hides = np.zeros((len(picture), 2)), np.zeros(len(picture))
    hit = np.flatnonzero(end > near)
    if not len(hit):
        return motion, hides
    origin, direction, near, end = origin[hit], direction[hit], near[hit], end[hit]
    lengths = np.linalg.norm(direction, axis=1)
    steps = int(np.ceil(((end - near) * lengths).max() / h)) + 1
    step = (end - near) / steps
    optical = _optical_depths(
        smoke.loss,
        (origin + near[:, None] * direction - smoke.low) / h,
        step[:, None] * direction / h,
        step * lengths,
        steps,
    )
    opacity = -np.expm1(-optical[-1].astype(np.float64))
    half = -np.log1p(-0.5 * opacity)  # the optical depth at which half the opacity is reached
    after = np.minimum((optical < half).sum(0), steps - 1)
    ray = np.arange(len(hit))
    before = np.where(after > 0, optical[after - 1, ray], 0.0)
    within = (half - before) / np.maximum(optical[after, ray] - before, 1e-30)
    depth = near + (after + np.clip(within, 0.0, 1.0)) * step
    start = origin + depth[:, None] * direction
    moved = start + dt * trilinear(smoke.velocity, (start - smoke.low) / h)
    motion[hit], hides[hit] = _way(view, start, later, moved), opacity
    return motion, hides


def _optical_depths(
    loss: NDArray[np.float32], start: Floats, step: Floats, way: Floats, steps: int
) -> NDArray[np.float32]:
    """What each of n rays has met at the end of each step, [steps, n]. start, step: [n, 3], cells; way: m.

    The cell in the middle of each step counts for all of it.
    """
    nz, ny, nx = loss.shape
    place = np.ascontiguousarray(start.T, np.float32)
    along = np.ascontiguousarray(step.T, np.float32)
    place += 0.5 * along
    cells, metres = loss.ravel(), way.astype(np.float32)
    out = np.empty((steps, len(start)), np.float32)
    total = np.zeros(len(start), np.float32)
    for n in range(steps):
        x, y, z = (
            np.clip(row.astype(np.int32), 0, count - 1)
            for row, count in zip(place, (nx, ny, nz), strict=True)
        )
        total += cells[(z * ny + y) * nx + x] * metres
        out[n] = total
        place += along
    return out


def _way(view: View, start: Floats, later: View, end: Floats) -> Floats:
    """From `start` in `view` to `end` in `later`, places [n, 3], in picture coordinates, -1 .. 1.

    What comes past the eye is in no picture then: it goes as if a tenth of its distance were left.
    """
    seen, then = (
        np.concatenate([places, np.ones((len(places), 1))], 1) @ by.exact_clip.T
        for by, places in ((view, start), (later, end))
    )
    distance = np.maximum(seen[:, 3:], 1e-9)
    return np.asarray(then[:, :2] / np.maximum(then[:, 3:], CLOSER * distance) - seen[:, :2] / distance)


def trilinear(values: Floats, places: Floats) -> Floats:
    """Values [nz, ny, nx(, c)] of cells, between their centres, at places [n, 3] (cells)."""
    high = np.array(values.shape[2::-1]) - 1
    at = np.clip(places - 0.5, 0.0, high)
    low = np.minimum(at.astype(np.intp), np.maximum(high - 1, 0))
    share = at - low
    out = np.zeros((len(places), *values.shape[3:]))
    for corner in range(8):
        shift = np.array([corner & 1, corner >> 1 & 1, corner >> 2])
        x, y, z = np.minimum(low + shift, high).T
        weight = np.where(shift, share, 1.0 - share).prod(1)
        out += weight.reshape(-1, *[1] * (values.ndim - 3)) * values[z, y, x]
    return out
