"""The floor of a picture: where it is seen, how deep it lies, and where it is not in full light."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import moderngl
import numpy as np

from gpufluid.common.vectors import Floats
from gpufluid.description.grid import Grid
from gpufluid.gl.device import Device
from gpufluid.gl.uniforms import give
from gpufluid.render.camera import View, cells_of, middle_of
from gpufluid.render.frame_targets import FrameTargets, only
from gpufluid.render.light.light_frame import LightFrame
from gpufluid.render.solids.drawn_solids import Part, Size, part_round
from gpufluid.render.solids.solid_meshes import CORNERS
from gpufluid.render.volume_source import SUN

ASIDE = 1.25  # cells round the box and solids that their shadows may reach further, since they are filtered
FLOOR = (0.060, 0.058, 0.060)  # its albedo
BEFORE_EYE = 1e-6  # m, or the like: nearer nothing is seen
FLOOR_REACH = 2.6  # edges of the box from its middle to where the floor has faded into the backdrop


def sees_down(view: View, height: float) -> bool:
    """Whether a picture may show a floor from above, all of it before the viewer."""
    rays = view.rays
    if rays.parallel:
        return bool(rays.forward[1] < 0.0 and rays.near >= 0.0)
    return bool(rays.origin[0, 1] > height)


def sees_ahead(view: View, height: float) -> bool:
    """Whether a picture sees a floor from above, and none of it nearer than where the picture begins."""
    rays = view.rays
    corners = np.array([(1.0, x, y) for x, y in product((-1.0, 1.0), repeat=2)])
    down = -corners @ rays.direction[:, 1]
    above = corners @ rays.origin[:, 1] - height
    return sees_down(view, height) and bool((above >= rays.near * down).all())


def floor_depth(view: View, height: float | None, size: Size) -> tuple[float, float, float]:
    """The depth of the floor, -1 .. 1: at the lower left corner of a picture of `size`, per pixel of x, of y.

    Where none can be seen it lies behind everything.
    """
    if height is None or not sees_down(view, height):
        return 2.0, 0.0, 0.0
    x, y, z, one = np.array([0.0, 1.0, 0.0, -height]) @ np.linalg.inv(view.clip.astype(np.float64))
    return float((x + y - one) / z), float(-2.0 * x / z / size[0]), float(-2.0 * y / z / size[1])


def floor_part(height: float | None, grid: Grid, view: View, size: Size) -> Part:
    """The part of a picture of `size` outside which it shows nothing of a floor at `height`, about `grid`."""
    if height is None:
        return 0, 0, 0, 0
    x, _, z = middle_of(grid)
    reach = FLOOR_REACH * max(grid.cells) * grid.cell_size
    square = [(x + i * reach, height, z + j * reach, 1.0) for i, j in ((-1, -1), (-1, 1), (1, 1), (1, -1))]
    places = np.array(square) @ view.exact_clip.T
    # what is before the eye: of each side that goes past it the place where it does
    after = np.roll(places, -1, axis=0)
    past = (places[:, 3] < BEFORE_EYE) != (after[:, 3] < BEFORE_EYE)
    here, there = places[past], after[past]
    share = (BEFORE_EYE - here[:, 3:]) / (there[:, 3:] - here[:, 3:])
    crossed = here + share * (there - here)
    crossed[:, 3] = BEFORE_EYE
    seen = np.concatenate([places[places[:, 3] >= BEFORE_EYE], crossed])
    return part_round(seen, size) if len(seen) else (0, 0, 0, 0)


def at_floor(height: float, grid: Grid) -> dict[str, float]:
    """What ``floor_at.glsl`` is told to find a floor at `height` about `grid`."""
    return {
        "floor_height": (height - grid.origin[1]) / grid.cell_size,
        "floor_reach": FLOOR_REACH * max(grid.cells),
    }


def dimmed(
    height: float | None, grid: Grid, sun: LightFrame, view: View, size: Size, throw: Sequence[Floats] = ()
) -> Part:
    """The part of a picture of `size` outside which a floor at `height` has all the light of sun and sky.

    grid: the box whose smoke dims it. throw: corners of what else may.
    """
    if height is None:
        return 0, 0, 0, 0
    aside = ASIDE * grid.cell_size * np.where(CORNERS, -1.0, 1.0)
    corners = np.where(CORNERS, grid.origin, grid.upper) + aside
    under = corners.copy()  # the sky is dimmed straight below the box alone, and above it
    under[:, 1] = height
    corners = np.concatenate([corners, *((one[:, None] + aside).reshape(-1, 3) for one in throw)])
    down = -float(sun.unit[1])
    above = np.maximum(corners[:, 1:2] - height, 0.0)
    if down > 0.0:  # else the floor has no light of the sun
        corners[:, 1:2] = np.maximum(corners[:, 1:2], height)
        under = np.concatenate([under, corners + above / down * sun.unit])
    return part_round(np.concatenate([under, np.ones((len(under), 1))], axis=1) @ view.clip.T, size)


def write_depths(
    device: Device,
    targets: FrameTargets,
    target: moderngl.Framebuffer,
    height: float,
    grids: Sequence[Grid],
    view: View,
    part: Part,
    middles: bool = False,
) -> None:
    """Write depths of a floor about boxes of `grids` into `part` of `target`, which is one of `targets`.

    Had all samples of a pixel one depth, a solid that stands on the floor would be before it in all of
    them, or none: its foot would go in stairs. middles: in what has one sample a pixel, where that was
    one of the floor's. Smoke would be cut elsewhere than beside `part`.
    """
    if not sees_down(view, height):
        return
    program = device.program_of("floor", "render/floor_fragment.glsl", "render/floor_vertex.glsl")
    if targets.samples is not None:  # a sampler that is not read has a texture too, and none of a host's
        (targets.samples if middles else targets.no_samples).use(SUN)
    device.ctx.enable_only(moderngl.DEPTH_TEST)
    device.ctx.depth_func = "1"
    with only(target, part):
        for grid in grids:
            x, _, z = grid.cells
            at = at_floor(height, grid)
            values = {
                "to_clip": view.clip.astype(np.float64) @ np.linalg.inv(cells_of(grid)),
                "middle": (0.5 * x, at["floor_height"], 0.5 * z),
                "reach": at["floor_reach"],
                "middles": middles,
                "solid_depth": SUN,
            }
            give(program, values)
            device.fullscreen(program).render(moderngl.TRIANGLE_STRIP, vertices=4)
    device.ctx.enable_only(moderngl.NOTHING)
    if middles:
        device.blank().use(SUN)


def around(part: Part, whole: Part) -> list[Part]:
    """What is left of `whole`: below `part` of it, above it, on its left and on its right."""
    (x, y, width, height), (left, bottom, across, up) = part, whole
    right, top = x + width, y + height
    return [
        (left, bottom, across, y - bottom),
        (left, top, across, bottom + up - top),
        (left, y, x - left, height),
        (right, y, left + across - right, height),
    ]


def common(one: Part, other: Part) -> Part:
    """What lies in both, which may be nothing, but in `one`."""
    low = [min(max(a, b), a + n) for a, b, n in zip(one, other, one[2:], strict=False)]
    high = [min(a + n, b + m) for a, n, b, m in zip(one, one[2:], other, other[2:], strict=False)]
    return low[0], low[1], max(high[0] - low[0], 0), max(high[1] - low[1], 0)


def union(parts: Sequence[Part]) -> Part:
    """The least part that all of `parts` lie in."""
    some = [part for part in parts if all(part[2:])]
    if not some:
        return 0, 0, 0, 0
    x, y = (min(part[i] for part in some) for i in (0, 1))
    right, top = (max(part[i] + part[i + 2] for part in some) for i in (0, 1))
    return x, y, right - x, top - y
