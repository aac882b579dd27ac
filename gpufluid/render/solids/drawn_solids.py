"""Solids of a scene as they are drawn: triangles where they stand, and how many round ones need."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import moderngl
import numpy as np
from numpy.typing import NDArray

from gpufluid.common.vectors import Floats, Vector
from gpufluid.description.mesh import Mesh
from gpufluid.gl.uniforms import give
from gpufluid.render.camera import View, cells_of, clip_of_cells
from gpufluid.render.painter import eye_uniforms
from gpufluid.render.solids.solid_meshes import Placed, SolidMeshes, cans
from gpufluid.render.subject import FluidLike

# for what looks small: times that the triangles of an icosahedron are halved, and sides of a cylinder
COARSER, SIDES = (2, 3), (16, 32, 64)
ROUND = 0.25  # pixels by which an outline may be off

Size = tuple[int, int]
Part = tuple[int, int, int, int]  # of a picture: its lower left corner, width and height, pixels


class Coarser(NamedTuple):
    """A mesh that may stand for a finer one. flat: how far its edges lie within, share of the radius."""

    mesh: Mesh
    flat: float


class DrawnSolids(SolidMeshes):
    """Draws the surfaces of obstacles, round ones with as many triangles as their outlines need."""

    def __init__(self, ctx: moderngl.Context) -> None:
        super().__init__(ctx)
        balls = map(Mesh.icosphere, COARSER)
        made, flat = zip(*map(cans, SIDES), strict=True), [1.0 - math.cos(math.pi / n) for n in SIDES]
        # of each round form, the coarsest first
        self._coarser = {self._ball: [Coarser(ball, _flat(ball)) for ball in balls]}
        for finest, meshes in zip((self._can, self._tube), made, strict=True):
            self._coarser[finest] = list(map(Coarser, meshes, flat))

    def seen(self, shown: Sequence[Placed], view: View, size: Size) -> Part:
        """The part of a picture of `size` outside which none of what is `shown` lies; it may be empty."""
        if not shown:
            return 0, 0, 0, 0
        corners = np.concatenate([one.corners for one in shown])
        clip = view.clip.astype(np.float64)
        return part_round(corners @ clip[:, :3].T + clip[:, 3], size)

    def draw(
        self,
        shown: Sequence[Placed],
        program: moderngl.Program,
        fluid: FluidLike,
        view: View,
        paint: Vector,
        size: Size,
        first: int = 1,
        switches: int = moderngl.DEPTH_TEST,
    ) -> None:
        """Draw what is `shown` of the obstacles of `fluid` in a picture of `size`, numbered from `first`.

        switches: those of moderngl to turn on.
        """
        cells = cells_of(fluid.grid)
        give(program, {**eye_uniforms(view, fluid), "to_clip": clip_of_cells(fluid.grid, view)})
        for number, (one, triangles) in enumerate(self.arrays(shown, program, view.exact_clip, size), first):
            turn = np.eye(4)
            turn[:3, :3] = np.linalg.inv(one.matrix[:3, :3]).T
            look = {"paint": one.color or paint, "sheen": float(one.gloss), "emission": one.emission}
            give(program, {"to_cells": cells @ one.matrix, "normals": turn, "number": number, **look})
            hidden = hidden_sides(one, view.clip)
            self.ctx.enable_only(switches | (moderngl.CULL_FACE if hidden else 0))
            self.ctx.cull_face = hidden or "back"
            triangles.render(moderngl.TRIANGLES)

    def arrays(
        self, shown: Sequence[Placed], program: moderngl.Program, clip: Floats, size: Size
    ) -> Iterator[tuple[Placed, moderngl.VertexArray]]:
        """The triangles of each, as fine as a picture of `size` needs. clip: from the world to it."""
        for one in shown:
            if one.mesh in self._coarser:  # all of them, so that nothing is allocated when one comes near
                for mesh in (one.mesh, *(coarser.mesh for coarser in self._coarser[one.mesh])):
                    self.vertex_array(mesh, program)
            yield one, self.vertex_array(self.as_fine(one, clip, size), program)

    def as_fine(self, one: Placed, clip: Floats, size: Size) -> Mesh:
        """What `arrays` draws for one: of a round form the coarsest whose outline is round, by `ROUND`."""
        if one.mesh not in self._coarser:
            return one.mesh
        to_clip = clip @ one.matrix
        across, along = to_clip[:, (0, 2)], 0.5 * np.abs(to_clip[:, 1])
        if one.mesh is self._ball:
            across, along = to_clip[:, :3], np.zeros(4)
        reach = np.linalg.norm(across, axis=1)  # of a ball or circle from its middle, along each axis
        nearest = to_clip[3, 3] - reach[3] - along[3]
        pixels = 0.5 * max(reach[0] * size[0], reach[1] * size[1]) / nearest if nearest > 0.0 else np.inf
        fine = (mesh for mesh, flat in self._coarser[one.mesh] if pixels * flat <= ROUND)
        return next(fine, one.mesh)


def hidden_sides(one: Placed, clip: NDArray[np.floating[Any]]) -> str | None:
    """Which sides of its triangles others hide, "back" or "front"; None: perhaps neither.

    Those that look away, where it is closed and all of it lies in front of the viewer. llvmpipe would shade
    them with all the others: it tests depths of several samples only after. clip: from the world, [4, 4].
    """
    facing = one.mesh.orientation
    at = one.corners @ clip[:, :3].T.astype(np.float64) + clip[:, 3]
    if not facing or not (at[:, 2] > -at[:, 3]).all():
        return None
    return "back" if facing > 0 else "front"


def _flat(ball: Mesh) -> float:
    """How far the middle of the longest edge of a ball of radius 1 lies within."""
    edges = np.concatenate([ball.triangles[:, (n, (n + 1) % 3)] for n in range(3)])
    middles = np.asarray(ball.vertices[edges], np.float64).mean(axis=1)
    return float(1.0 - np.linalg.norm(middles, axis=1).min())


def part_round(places: Floats, size: Size) -> Part:
    """The part of a picture of `size` that holds all that lies between `places` in clip space, [n, 4]."""
    if (places[:, 3] <= 0.0).any():  # behind the eye in part: that has no place in a picture
        return 0, 0, *size
    at = places[:, :2] / places[:, 3:]
    pixels = 0.5 * np.array(size)
    first = np.clip(np.floor((at.min(axis=0) + 1.0) * pixels) - 1.0, 0.0, size)
    last = np.clip(np.ceil((at.max(axis=0) + 1.0) * pixels) + 1.0, first, size)
    (x, y), (width, height) = first.astype(int).tolist(), (last - first).astype(int).tolist()
    return x, y, width, height
