"""The voxels of the solids, as the fluid has them, and the surfaces they stand for."""

from __future__ import annotations

import moderngl
import numpy as np

from gpufluid.common.errors import named, one_of
from gpufluid.common.rules import check_fields
from gpufluid.common.vectors import Floats, Vector
from gpufluid.description.flow_views import VoxelsView
from gpufluid.gl.uniforms import give
from gpufluid.render.camera import cells_of, clip_of_cells
from gpufluid.render.painter import eye_uniforms
from gpufluid.render.solids.solid_meshes import SolidMeshes
from gpufluid.render.subject import FlowLike
from gpufluid.render.views.charts import lighting
from gpufluid.render.views.overlay import InScene, Shot, rays_in_cells
from gpufluid.render.views.quantities import fields_of

STYLES = ("wires", "cubes", None)
Color = tuple[float, float, float]


@named
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
        color: Vector = (0.36, 0.78, 0.86),
        surface_color: Vector = (0.72, 0.36, 0.22),
        fill: float = 0.84,
        line_width: float = 1.0,
        linear: bool = False,
    ) -> None:
        self.style, self.surface, self.color, self.surface_color = style, surface, color, surface_color
        self.fill, self.line_width = fill, line_width
        self.check()
        super().__init__(ctx, linear=linear)
        self._meshes = SolidMeshes(ctx, fine=5)

    def check(self) -> None:
        """Raise GpufluidError naming the first value that nothing can be drawn with."""
        one_of(self.style, STYLES, "VoxelView.style")  # of which a scene has no use for the last
        check_fields(self, VoxelsView, but=("style",))

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
            self.device.cover(program)

    def _draw_surfaces(self, fluid: FlowLike, shot: Shot) -> None:
        """Draw the obstacles."""
        program = self.device.program_of(
            "surfaces", "render/surface_fragment.glsl", "render/mesh_vertex.glsl"
        )
        cells = cells_of(fluid.grid)
        give(
            program,
            {
                "to_clip": clip_of_cells(fluid.grid, shot.view),
                **eye_uniforms(shot.view, fluid),
                "color": self.surface_color,
                **lighting(shot.view),
            },
        )
        with self.drawing(program, shot):
            for one in self._meshes.placed(fluid):
                turn: Floats = np.eye(4)
                turn[:3, :3] = np.linalg.inv(one.matrix[:3, :3]).T
                give(program, {"to_cells": cells @ one.matrix, "normals": turn})
                self._meshes.vertex_array(one.mesh, program).render(moderngl.TRIANGLES)

    def release(self) -> None:
        """Release everything made in the context; idempotent."""
        self._meshes.release()
        super().release()
