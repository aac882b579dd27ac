"""Triangles of meshes in buffers, for any program that draws them."""

from __future__ import annotations

from typing import Any
from weakref import ReferenceType, WeakKeyDictionary, finalize, ref

import moderngl
import numpy as np

from gpufluid.contract.backend import release
from gpufluid.description.mesh import Family, Mesh, normals_of, parted_at_creases


class _Drawable:
    """The buffers of a family of meshes, which differ in where their vertices are, and its vertex arrays."""

    def __init__(self, ctx: moderngl.Context, mesh: Mesh, normals: bool) -> None:
        # which vertices are drawn, and their triangles: those of the family, whose edges are as sharp as here
        self._drawn = parted_at_creases(mesh) if normals else None
        self.vertices = ctx.buffer(self.content(mesh), dynamic=True)  # a mesh may bend
        triangles = mesh.triangles if self._drawn is None else self._drawn[1]
        self.indices = ctx.buffer(np.ascontiguousarray(triangles, np.int32).tobytes())
        self.arrays: dict[int, moderngl.VertexArray] = {}  # by program
        self.holds: ReferenceType[Mesh] = ref(mesh)
        self.gone: finalize[Any, Any] | None = None  # what is called when no mesh of the family is left

    def content(self, mesh: Mesh) -> bytes:
        """What is known at the vertices of `mesh`, one of the family."""
        if self._drawn is None:
            return mesh.vertices.astype(np.float32).tobytes()
        chosen, triangles = self._drawn
        places = mesh.vertices[chosen]
        return np.concatenate([places, normals_of(places, triangles)], axis=1).astype(np.float32).tobytes()

    def release(self) -> None:
        if self.gone is not None:
            self.gone.detach()
        release(*self.arrays.values())
        self.arrays.clear()
        self.vertices.release()
        self.indices.release()


class MeshBuffers:
    """The triangles of every mesh that was drawn lately; those of a mesh that is no more are released.

    normals: vertices have a `normal` beside their `position`, and where edges are sharp one for either side.
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
            drawable = self._families[mesh.family] = _Drawable(self.ctx, mesh, len(self._attributes) > 1)
            drawable.gone = finalize(mesh.family, self._orphans.append, drawable)
            drawable.gone.atexit = False
        elif drawable.holds() is not mesh:
            drawable.vertices.write(drawable.content(mesh))
            drawable.holds = ref(mesh)
        if program.glo not in drawable.arrays:
            read = [name for name in self._attributes if program.get(name, None) is not None]
            form = " ".join("3f" if name in read else "12x" for name in self._attributes)
            content = (drawable.vertices, form, *read)
            drawable.arrays[program.glo] = self.ctx.vertex_array(
                program, [content], index_buffer=drawable.indices
            )
        return drawable.arrays[program.glo]

    def _release_orphans(self) -> None:
        while self._orphans:
            self._orphans.pop().release()

    def release(self) -> None:
        """Release the buffers of every mesh; idempotent."""
        self._orphans += self._families.values()
        self._families.clear()
        self._release_orphans()
