"""How far the solids in a picture go until the next frame, for its motion vectors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from gpufluid.common.vectors import Floats
from gpufluid.description.mesh import Mesh
from gpufluid.description.obstacles import Shape
from gpufluid.description.periodic import came_from
from gpufluid.description.shapes import Plane, placed_points
from gpufluid.gl.device import Device, let_go
from gpufluid.gl.fences import draw_to
from gpufluid.gl.uniforms import give
from gpufluid.render.camera import View
from gpufluid.render.solids.drawn_solids import DrawnSolids, Size
from gpufluid.render.subject import FluidLike, ObstacleLike
from gpufluid.render.volume_source import DEPTH

Triangles = tuple[Floats, Floats, NDArray[np.int32]]  # places and ways of vertices, [v, 3], m, and [t, 3]


def draw_travel(
    device: Device,
    solids: DrawnSolids,
    fluids: Sequence[FluidLike],
    *,
    before: Mapping[Any, ObstacleLike],
    view: View,
    size: Size,
    target: moderngl.Framebuffer,
    depth: moderngl.Texture,
) -> None:
    """Draw into `target` how far each place of the solids goes, m, and how deep it lies in the picture, m.

    A depth of 0: there is none. before: the obstacles as they were a frame ago. depth: of the opaque scene,
    which hides what lies behind it, with a sampler that reads it bound by the caller.
    """
    draw_to(target)
    target.clear()
    shown = list(_triangles(solids, fluids, before, view, size))
    if not shown:
        return
    places, ways, triangles = (list(part) for part in zip(*shown, strict=True))
    first = np.cumsum([0, *map(len, places[:-1])])
    place, way = np.concatenate(places), np.concatenate(ways)
    seen = place @ view.exact_clip[:, :3].T + view.exact_clip[:, 3]
    program = device.program_of("travel", "render/travel_fragment.glsl", "render/travel_vertex.glsl")
    give(program, {"scene_depth": DEPTH})
    ctx, content = device.ctx, np.concatenate([seen, way, view.rays.depth(place)[:, None]], 1)
    vertices = ctx.buffer(content.astype(np.float32).tobytes())
    numbers = ctx.buffer(
        np.concatenate([t + n for t, n in zip(triangles, first, strict=True)]).astype(np.int32).tobytes()
    )
    array = ctx.vertex_array(program, [(vertices, "4f 4f", "seen", "travel")], index_buffer=numbers)
    depth.use(DEPTH)
    ctx.enable_only(moderngl.DEPTH_TEST)
    ctx.depth_func = "<"
    array.render(moderngl.TRIANGLES)
    ctx.enable_only(moderngl.NOTHING)
    let_go(array, vertices, numbers)


def _triangles(
    solids: DrawnSolids,
    fluids: Sequence[FluidLike],
    before: Mapping[Any, ObstacleLike],
    view: View,
    size: Size,
) -> Iterator[Triangles]:
    """What stands for each visible solid, and the way of each vertex until the next frame."""
    for fluid in fluids:
        for obstacle in fluid.obstacles:
            if not obstacle.visible or isinstance(obstacle.shape, Plane):
                continue
            now, was = obstacle.matrix, before.get(obstacle)
            later = None if was is None else _later(fluid, obstacle.shape, was, now)
            to_local = np.asarray(np.linalg.inv(now), np.float64)
            for one, shift in solids.images(fluid, obstacle):
                mesh = solids.as_fine(one, view.clip.astype(np.float64), size)
                place = placed_points(one.matrix, mesh.vertices)
                way = np.zeros_like(place)
                if was is not None and later is not None:
                    local = placed_points(to_local, place - shift) + _bend(was.shape, mesh)
                    way = placed_points(later, local) + shift - place
                yield place, way, mesh.triangles


def _later(fluid: FluidLike, shape: Shape, was: ObstacleLike, now: Floats) -> Floats | None:
    """Where an obstacle is in the next frame, [4, 4]; None: it stands still, or was put where it is."""
    came = came_from(fluid.grid, fluid.boundaries, shape, was.matrix, now)
    still = np.array_equal(was.matrix, now) and not (isinstance(shape, Mesh) and was.shape is not shape)
    return None if came is None or still else ahead(came, now)


def _bend(before: Shape, now: Mesh) -> Floats:
    """How far each vertex goes in the space of its mesh, if it goes on as it came from `before`."""
    if not isinstance(before, Mesh) or before.family is not now.family:
        return np.zeros_like(now.vertices)
    return np.asarray(now.vertices - before.vertices, np.float64)


def ahead(before: Floats, now: Floats) -> Floats:
    """Return where what came from `before` to `now` is after as much time again, [4, 4].

    Its origin goes on straight, and it turns and grows about that as it did.
    """
    later = now.copy()
    later[:3, :3] = now[:3, :3] @ np.linalg.inv(before[:3, :3]) @ now[:3, :3]
    later[:3, 3] += now[:3, 3] - before[:3, 3]
    return later
