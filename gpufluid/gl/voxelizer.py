"""Solid voxels of a triangle mesh in one instanced draw (Crane, Llamas & Tariq 2007, GPU Gems 3 ch. 30).

Every slice of the volume is an instance drawn into its own tile, seen along -z. Of each column only the
surfaces above the slice's cell centres count: front faces +1 and back faces -1, added by blending. Inside
a closed mesh the sum is not 0, however its triangles overlap.
"""

from __future__ import annotations

from typing import Any
from weakref import ReferenceType, WeakKeyDictionary, ref

import moderngl
import numpy as np
from numpy.typing import NDArray

from gpufluid.gl.device import Device
from gpufluid.gl.field import Field
from gpufluid.gl.passes import box_constants, upload
from gpufluid.gl.source import Source
from gpufluid.grid import Grid
from gpufluid.shapes import Family, Mesh


class Voxelizer:
    """Counts the surfaces of meshes above each cell centre of `grid` into a winding field."""

    def __init__(self, device: Device, grid: Grid) -> None:
        self.device, self.grid = device, grid
        vertex, fragment = Source("voxelize (vertex)"), Source("voxelize (fragment)")
        for source, file in ((vertex, "sim/voxelize_vertex.glsl"), (fragment, "sim/voxelize_fragment.glsl")):
            source.add("#version 330 core", "<stage>").add(box_constants(grid), "<box>").include(file)
        self._program = device.fragment_program(fragment, vertex)
        self._meshes: WeakKeyDictionary[Family, tuple[moderngl.VertexArray, moderngl.Buffer]]
        self._meshes = WeakKeyDictionary()
        self._drawn: WeakKeyDictionary[Family, ReferenceType[Mesh]] = WeakKeyDictionary()

    def _vertex_array(self, mesh: Mesh) -> moderngl.VertexArray:
        """The triangles of `mesh` in buffers that its whole family shares."""
        family, positions = mesh.family, mesh.vertices.astype(np.float32)
        if family not in self._meshes:
            ctx = self.device.ctx
            vertices = ctx.buffer(positions.tobytes())
            indices = ctx.buffer(np.ascontiguousarray(mesh.triangles, np.int32).tobytes())
            array = ctx.vertex_array(self._program, [(vertices, "3f", "position")], index_buffer=indices)
            self._meshes[family] = array, vertices
        elif self._drawn[family]() is not mesh:
            self._meshes[family][1].write(positions.tobytes())
        self._drawn[family] = ref(mesh)
        return self._meshes[family][0]

    def __call__(self, mesh: Mesh, matrix: NDArray[np.float64], winding: Field) -> None:
        """Write the signed count of surfaces; `matrix` takes the mesh to metres from the low corner."""
        ctx, layout = self.device.ctx, winding.layout
        values: dict[str, Any] = {"to_box": matrix, "columns": layout.columns}
        values["texture_size"] = layout.texture_size
        for name, value in values.items():
            uniform = self._program[name]
            assert isinstance(uniform, moderngl.Uniform)
            upload(uniform, value)
        vertex_array = self._vertex_array(mesh)
        with self.device.timed("voxelize"):
            winding.back_target.clear()
            winding.back_target.use()
            ctx.enable_only(moderngl.BLEND)
            ctx.blend_func = moderngl.ONE, moderngl.ONE
            ctx.blend_equation = moderngl.FUNC_ADD  # type: ignore[assignment]  # moderngl says a pair
            vertex_array.render(moderngl.TRIANGLES, instances=self.grid.cells[2])
            ctx.enable_only(moderngl.NOTHING)
        winding.swap()

    def release(self) -> None:
        """Release the buffers of every mesh seen."""
        for vertex_array, vertices in self._meshes.values():
            vertex_array.release()
            vertices.release()
        self._meshes.clear()
        self._drawn.clear()
