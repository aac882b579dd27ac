"""The voxels of the solids, as the fluid has them, and the surfaces they stand for."""

from __future__ import annotations

from typing import Any
from weakref import ReferenceType, WeakKeyDictionary, ref

import moderngl
import numpy as np

from gpufluid.errors import GpufluidError
from gpufluid.flow_views import check_color
from gpufluid.grid import finite_number
from gpufluid.render.charts import check_flag, lighting
from gpufluid.render.overlay import (
    Floats,
    InScene,
    Shot,
    clip_of_cells,
    give,
    rays_in_cells,
    to_cells,
)
from gpufluid.render.quantities import fields_of
from gpufluid.render.subject import FlowLike, ObstacleLike
from gpufluid.settings import one_of
from gpufluid.shapes import Box, Capsule, Cylinder, Family, Mesh, Plane, Shape, Sphere

STYLES = ("wires", "cubes", None)
Color = tuple[float, float, float]


class VoxelView(InScene):
    """Draws the voxels of the solids, and the surfaces of the obstacles. Its fields may be changed.

    style: "wires" round the cells, "cubes", or None for the surfaces alone. surface: whether the obstacles'
    own surfaces are drawn as well; a plane has none. color, surface_color: (r, g, b) as a screen shows them.
    fill: edge of a cube, share of a cell, above 0 to 1. line_width: of wires, pixels, > 0.

    Everything is opaque and writes depth. Raises GpufluidError naming the value and its limit.
    """

    def __init__(
        self,
        ctx: moderngl.Context,
        style: str | None = "wires",
        *,
        surface: bool = True,
        color: Color = (0.36, 0.78, 0.86),
        surface_color: Color = (0.72, 0.36, 0.22),
        fill: float = 0.84,
        line_width: float = 1.0,
        linear: bool = False,
    ) -> None:
        self.style, self.surface, self.color, self.surface_color = style, surface, color, surface_color
        self.fill, self.line_width = fill, line_width
        self.check()
        super().__init__(ctx, linear=linear)
        self._meshes: WeakKeyDictionary[Family, tuple[list[Any], ReferenceType[Mesh]]]
        self._meshes = WeakKeyDictionary()
        self._buffers: list[moderngl.Buffer] = []
        self._ball = Mesh.icosphere(5)
        self._cube = _apart(Mesh.box(), lids_only=False)
        self._can = _apart(Mesh.cylinder(1.0, 1.0, 96), lids_only=True)

    def check(self) -> None:
        """Raise GpufluidError naming the first value that nothing can be drawn with."""
        one_of(self.style, STYLES, "VoxelView.style")
        self.surface = check_flag(self.surface, "VoxelView.surface")
        self.color = check_color(self.color, "VoxelView.color")
        self.surface_color = check_color(self.surface_color, "VoxelView.surface_color")
        if finite_number(self.fill, "VoxelView.fill", above=0.0) > 1.0:
            raise GpufluidError(f"VoxelView.fill must be at most 1, got {self.fill!r}")
        finite_number(self.line_width, "VoxelView.line_width", above=0.0)

    def draw(self, fluid: FlowLike, shot: Shot, target: moderngl.Framebuffer) -> None:
        """Draw the solids."""
        if self.surface:
            self._draw_surfaces(fluid, shot)
        if self.style is None or fluid.solid_field is None:
            return
        program = self.program("voxels", fluid, "voxels", "solid")
        values = {
            "fill": float(self.fill) if self.style == "cubes" else 0.0,
            "line_width": float(self.line_width),
            "color": self.color,
        }
        give(program, {**values, **rays_in_cells(fluid, shot.view), **lighting(shot.view)})
        with self.drawing(program, shot), self.bound(program, fields_of(fluid)):
            self.device.fullscreen(program).render(moderngl.TRIANGLES, vertices=3)

    def _draw_surfaces(self, fluid: FlowLike, shot: Shot) -> None:
        """Draw the obstacles."""
        program = self.flat_program("surfaces", "surface_fragment", "mesh_vertex")
        cells, rays = to_cells(fluid), shot.view.rays
        eye = (cells @ np.append(rays.origin[0], 1.0))[:3]
        give(
            program,
            {
                "to_clip": clip_of_cells(fluid, shot.view),
                "eye": tuple(eye if shot.view.is_perspective else -rays.direction[0]),
                "parallel_view": not shot.view.is_perspective,
                "color": self.surface_color,
                **lighting(shot.view),
            },
        )
        with self.drawing(program, shot):
            for obstacle in fluid.obstacles:
                for mesh, matrix in self._placed(obstacle) if obstacle.visible else ():
                    turn: Floats = np.eye(4)
                    turn[:3, :3] = np.linalg.inv(matrix[:3, :3]).T
                    give(program, {"to_cells": cells @ matrix, "normals": turn})
                    self._surface(mesh, program).render(moderngl.TRIANGLES)

    def _placed(self, obstacle: ObstacleLike) -> list[tuple[Mesh, Floats]]:
        """The triangles that stand for an obstacle, and their places in the world; a plane has none.

        One mesh serves all balls, one all boxes, one all cylinders, however they change.
        """
        shape: Shape = obstacle.shape
        if isinstance(shape, Mesh):
            return [(shape, obstacle.matrix)]
        if isinstance(shape, Plane):
            return []
        place = obstacle.matrix @ shape.form.place
        if isinstance(shape, Sphere):
            return [(self._ball, place @ _scaled(shape.radius, shape.radius, shape.radius))]
        if isinstance(shape, Box):
            return [(self._cube, place @ _scaled(*shape.size))]
        if isinstance(shape, Cylinder):
            return [(self._can, place @ _scaled(shape.radius, shape.height, shape.radius))]
        assert isinstance(shape, Capsule)
        r, parts = shape.radius, [(self._can, place @ _scaled(shape.radius, shape.length, shape.radius))]
        for y in (-0.5, 0.5):
            end = np.eye(4)
            end[1, 3] = y * shape.length
            parts.append((self._ball, place @ end @ _scaled(r, r, r)))
        return parts

    def _surface(self, mesh: Mesh, program: moderngl.Program) -> moderngl.VertexArray:
        """The triangles of `mesh` in buffers that its whole family shares."""
        known = self._meshes.get(mesh.family)
        if known is None or known[1]() is not mesh:
            vertices = np.concatenate([mesh.vertices.astype(np.float32), mesh.normals], axis=1).tobytes()
            if known is None:
                buffer = self.ctx.buffer(vertices)
                indices = self.ctx.buffer(np.ascontiguousarray(mesh.triangles, np.int32).tobytes())
                self._buffers += [buffer, indices]
                array = self.ctx.vertex_array(
                    program, [(buffer, "3f 3f", "position", "normal")], index_buffer=indices
                )
                known = [array, buffer], ref(mesh)
            else:
                known[0][1].write(vertices)
                known = known[0], ref(mesh)
            self._meshes[mesh.family] = known
        found: moderngl.VertexArray = known[0][0]
        return found

    def release(self) -> None:
        """Release everything made in the context; idempotent."""
        for (array, _), _ in self._meshes.values():
            array.release()
        for buffer in self._buffers:
            buffer.release()
        self._meshes.clear()
        self._buffers.clear()
        super().release()


def _scaled(x: float, y: float, z: float) -> Floats:
    """A matrix that scales along each axis."""
    return np.diag([x, y, z, 1.0])


def _apart(mesh: Mesh, lids_only: bool) -> Mesh:
    """`mesh` with corners of their own for its triangles, or the level ones: edges there stay sharp."""
    corners = mesh.vertices[mesh.triangles]
    level = np.ptp(corners[..., 1], axis=1) == 0.0
    chosen = level if lids_only else np.ones_like(level)
    own = corners[chosen].reshape(-1, 3)
    number = len(mesh.vertices) + np.arange(len(own)).reshape(-1, 3)
    return Mesh(np.concatenate([mesh.vertices, own]), np.concatenate([mesh.triangles[~chosen], number]))
