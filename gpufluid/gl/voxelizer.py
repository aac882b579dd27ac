"""Solid voxels of a triangle mesh in one instanced draw (Crane, Llamas & Tariq 2007, GPU Gems 3 ch. 30).

Every eight slices of the volume are an instance drawn into their own tile, seen along -z. Of each column
the surfaces above the slices' cell centres count: front faces +1 and back faces -1, added by blending, for
two slices in each channel. Inside a closed mesh the sum is not 0, however its triangles overlap.
"""

from __future__ import annotations

from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from gpufluid.description.grid import Grid
from gpufluid.description.mesh import Mesh
from gpufluid.gl.device import Device
from gpufluid.gl.drawing import blend
from gpufluid.gl.fences import draw_to
from gpufluid.gl.field import Field
from gpufluid.gl.kernel_source import box_constants
from gpufluid.gl.mesh_buffers import MeshBuffers
from gpufluid.gl.source import Source
from gpufluid.gl.uniforms import give


class Voxelizer:
    """Counts the surfaces of meshes above each cell centre of `grid` into a winding field."""

    def __init__(self, device: Device, grid: Grid) -> None:
        self.device, self.grid = device, grid
        box = box_constants(grid)
        vertex = Source("voxelize (vertex)", 330).add(box, "<box>").include("sim/voxelize_vertex.glsl")
        fragment = Source("voxelize (fragment)", 330).add(box, "<box>").include("sim/voxelize_fragment.glsl")
        self._program = device.fragment_program(fragment, vertex)
        self._meshes = MeshBuffers(device.ctx, normals=False)

    def __call__(self, mesh: Mesh, matrix: NDArray[np.float64], winding: Field) -> None:
        """Write the signed count of surfaces; `matrix` takes the mesh to metres from the low corner."""
        if self.device.pace.pacer is not None:
            self.device.pace.pacer.before((self, mesh))
        ctx, layout = self.device.ctx, winding.layout
        values: dict[str, Any] = {"to_box": matrix, "columns": layout.columns}
        values["texture_size"] = layout.texture_size
        give(self._program, values)
        vertex_array = self._meshes.vertex_array(mesh, self._program)
        with self.device.timed("voxelize"):
            draw_to(winding.back_target)
            winding.back_target.clear()
            blend(ctx, moderngl.ONE, moderngl.ONE)
            vertex_array.render(moderngl.TRIANGLES, instances=winding.layout.size[2])
            ctx.enable_only(moderngl.NOTHING)
        winding.swap()

    def release(self) -> None:
        """Release the buffers of every mesh seen."""
        self._meshes.release()
