"""Triangles of meshes in buffers, for any program that draws them."""

from __future__ import annotations

from typing import Any
from weakref import ReferenceType, WeakKeyDictionary, finalize, ref

import moderngl
import numpy as np

from gpufluid.mesh import Family, Mesh


class _Drawable:
    """The buffers of a family of meshes, which differ in where their vertices are, and its vertex arrays."""

    def __init__(self, ctx: moderngl.Context, mesh: Mesh, vertices: bytes) -> None:
        self.vertices = ctx.buffer(vertices, dynamic=True)  # a mesh may bend
        self.indices = ctx.buffer(np.ascontiguousarray(mesh.triangles, np.int32).tobytes())
        self.arrays: dict[int, moderngl.VertexArray] = {}  # by program
        self.holds: ReferenceType[Mesh] = ref(mesh)
        self.gone: finalize[Any, Any] | None = None  # what is called when no mesh of the family is left

    def release(self) -> None:
        if self.gone is not None:
            self.gone.detach()
        for array in self.arrays.values():
            array.release()
        self.arrays.clear()
        self.vertices.release()
        self.indices.release()


class MeshBuffers:
    """The triangles of every mesh that was drawn lately; those of a mesh that is no more are released.

    normals: vertices have a `normal` beside their `position`.
    """

    def __init__(self, ctx: moderngl.Context, normals: bool) -> None:
        self.ctx = ctx
        self._attributes = ["position", "normal"] if normals else ["position"]
        self._families: WeakKeyDictionary[Family, _Drawable] = WeakKeyDictionary()
        self._orphans: list[_Drawable] = []  # of meshes that are no more, until a context is surely current

    def vertex_array(self, mesh: Mesh, program: moderngl.Program) -> moderngl.VertexArray:
        """The triangles of `mesh` as they are now, for `program`."""
        self._release_orphans()
        drawable = self._families.get(mesh.family)
        if drawable is None:
            drawable = self._families[mesh.family] = _Drawable(self.ctx, mesh, self._vertices(mesh))
            drawable.gone = finalize(mesh.family, self._orphans.append, drawable)
            drawable.gone.atexit = False
        elif drawable.holds() is not mesh:
            drawable.vertices.write(self._vertices(mesh))
            drawable.holds = ref(mesh)
        if program.glo not in drawable.arrays:
            read = [name for name in self._attributes if program.get(name, None) is not None]
            form = " ".join("3f" if name in read else "12x" for name in self._attributes)
            content = (drawable.vertices, form, *read)
            drawable.arrays[program.glo] = self.ctx.vertex_array(
                program, [content], index_buffer=drawable.indices
            )
        return drawable.arrays[program.glo]

    def _vertices(self, mesh: Mesh) -> bytes:
        position = mesh.vertices.astype(np.float32)
        if len(self._attributes) == 1:
            return position.tobytes()
        return np.concatenate([position, mesh.normals.astype(np.float32)], axis=1).tobytes()

    def _release_orphans(self) -> None:
        while self._orphans:
            self._orphans.pop().release()

    def release(self) -> None:
        """Release the buffers of every mesh; idempotent."""
        self._orphans += self._families.values()
        self._families.clear()
        self._release_orphans()
