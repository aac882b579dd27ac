"""The contract of `gpufluid.backend` in OpenGL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

import moderngl
import numpy as np
from numpy.typing import NDArray

from gpufluid.backend import FieldStore
from gpufluid.gl.device import Device, create_context
from gpufluid.gl.field import Field
from gpufluid.gl.passes import Pass
from gpufluid.gl.state import keeping
from gpufluid.gl.strips import Strips
from gpufluid.gl.voxelizer import Voxelizer
from gpufluid.grid import Grid
from gpufluid.kernels import KERNELS, Variant
from gpufluid.layout import layouts, link
from gpufluid.shapes import Mesh


class GLBackend:
    """Fields and passes in a context: the caller's, or one of its own that it releases in the end.

    Raises GpufluidError where the grid does not fit the driver's texture limit.
    """

    def __init__(
        self,
        grid: Grid,
        backend: str = "auto",
        ctx: moderngl.Context | None = None,
        precision: str = "single",
        reading: str | None = None,
    ) -> None:
        owned = ctx is None
        ctx = ctx if ctx is not None else create_context()
        self._on(Device(ctx, backend, reading), grid, "f2" if precision == "half" else "f4")
        self._owns_context, self._owns_device = owned, True

    def _on(self, device: Device, grid: Grid, dtype: str) -> None:
        """Work on `device`, which another backend may share."""
        self.grid, self.device, self.ctx = grid, device, device.ctx
        self.name = device.stage
        self._dtype = dtype
        self.epsilon = 2.0**-10 if dtype == "f2" else 2.0**-23
        self._owns_context = self._owns_device = False
        self.layouts = layouts(grid, self.device.max_texture_size)
        for layout in self.layouts.values():
            _ = layout.columns  # raises here, before any texture is made
        self._passes: dict[tuple[str, Variant], Pass] = {}
        self._voxelizer: Voxelizer | None = None
        self._coarser: GLBackend | None = None
        self._single: GLBackend | None = None

    def _sharing(self, grid: Grid) -> GLBackend:
        """A backend on the same device, in single precision."""
        other = GLBackend.__new__(GLBackend)
        other._on(self.device, grid, "f4")
        return other

    def field(
        self, name: str, kind: str, components: int = 4, *, buffers: int = 2, exact: bool = False
    ) -> Field:
        """Create a field of zeros."""
        dtype = "f4" if exact else self._dtype
        return Field(self.device, name, self.layouts[kind], components, dtype, buffers)

    def kernel(self, name: str, variant: Variant) -> Pass:
        """Return the pass, compiled once for each variant."""
        key = (name, variant)
        if key not in self._passes:
            self._passes[key] = Pass(
                self.device, self.grid, self.layouts, KERNELS[name], variant, self._dtype
            )
        return self._passes[key]

    def coarser(self) -> GLBackend:
        """The same on a grid of half the cells, in single precision."""
        if self._coarser is None:
            self._coarser = self._sharing(self.grid.coarser())
            link(self.layouts, self._coarser.layouts)
        return self._coarser

    def single(self) -> GLBackend:
        """The same in single precision."""
        if self._dtype == "f4":
            return self
        if self._single is None:
            self._single = self._sharing(self.grid)
        return self._single

    def strips(self) -> Strips:
        """Where in the box there is anything."""
        return Strips(self.device, self.grid, self.layouts)

    def voxelize(self, mesh: Mesh, matrix: NDArray[np.float64], winding: FieldStore) -> None:
        """Count surfaces; see `gpufluid.gl.voxelizer`."""
        if self._voxelizer is None:
            self._voxelizer = Voxelizer(self.device, self.grid)
        self._voxelizer(mesh, matrix, cast(Field, winding))

    @contextmanager
    def at_work(self, what: str) -> Iterator[None]:
        """Its own context is made current, and left so; the state of a caller's is kept.

        Raises GpufluidError where the caller's is not current, or its own is used from another thread.
        """
        if self._owns_context:
            # its __exit__ would leave no context current at all
            self.ctx.__enter__()  # type: ignore[no-untyped-call]
        with keeping(self.ctx, what):
            yield

    def finish(self) -> None:
        """Wait for the driver."""
        self.ctx.finish()

    def release(self) -> None:
        """Release passes, and the context where it is the engine's own; idempotent."""
        if self._voxelizer is not None:
            self._voxelizer.release()
            self._voxelizer = None
        self._passes.clear()
        for other in (self._coarser, self._single):
            if other is not None:
                other.release()
        self._coarser = self._single = None
        if self._owns_device:
            self.device.release()
        if self._owns_context:
            self.ctx.release()
