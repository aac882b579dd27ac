"""The contract of `gpufluid.contract.backend` in OpenGL."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import cast

import moderngl
import numpy as np
from numpy.typing import NDArray

from gpufluid.common.errors import GLUnavailableError
from gpufluid.common.memory import check_memory
from gpufluid.contract.backend import FieldStore, Pace, Stopwatch, release
from gpufluid.contract.kernels import KERNELS, Kernel, Variant, side_numbers
from gpufluid.contract.layout import PARTS, lanes, layouts, link, octets
from gpufluid.contract.stopwatch import WallWatch
from gpufluid.description.grid import Grid
from gpufluid.description.mesh import Mesh
from gpufluid.description.voxels import inside_mesh
from gpufluid.gl.contexts import own_contexts
from gpufluid.gl.device import Device
from gpufluid.gl.field import Field, PartedField
from gpufluid.gl.kernel_source import KernelSource
from gpufluid.gl.passes import Pass
from gpufluid.gl.state import gone, keeping
from gpufluid.gl.strips import Strips
from gpufluid.gl.timestamps import TimestampWatch, takes_timestamps
from gpufluid.gl.trial import choose
from gpufluid.gl.voxelizer import Voxelizer

# Cells of the boxes in which sweeps of a pressure in eighths were faster on llvmpipe, two cores with 1 MB of
# cache each: 0.75 of the time at 64^3, 0.85 at 80^3. In smaller ones what a pass costs by itself counts more,
# and larger ones leave the cache sooner: at 128^3 they took 1.6 times as long.
SPLIT = 100_000, 600_000
LARGE = 4_000_000  # cells of a box in which a GPU waits for its memory: half of those of the trial
KEPT_EXPRESSIONS = 8  # of users, compiled, that no force has any more: one may come back
MOST_DRAWN = 1 << 15  # triangles in all octets of slices; beyond, NumPy was faster than two cores of llvmpipe


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
        ctx = ctx if ctx is not None else own_contexts.make(self)
        dtype = "f2" if precision == "half" else "f4"
        device = choose(ctx, backend, reading).device(ctx)
        try:
            if any(device.kept_as(channels, dtype, "a fluid") != dtype for channels in (1, 4)):
                raise GLUnavailableError(
                    'precision="half" needs textures of the formats R16F and RGBA16F that can be drawn to, '
                    f'and {device.renderer} has none: use precision="single"'
                )
            self._on(device, grid, dtype)
        except BaseException:
            device.release()
            raise
        self._owns_context, self._owns_device = owned, True

    def _on(self, device: Device, grid: Grid, dtype: str) -> None:
        """Work on `device`, which another backend may share."""
        self.grid, self.device, self.ctx = grid, device, device.ctx
        self.made, self.scrolled = grid, (0, 0, 0)
        self.name = device.stage
        self.pace: Pace = device.pace
        self._dtype = self._finer = dtype  # its own numbers, and those of the next finer grid
        self.epsilon = 2.0**-10 if dtype == "f2" else 2.0**-23
        self._owns_context = self._owns_device = False
        self.layouts = layouts(grid, self.device.max_texture_size, self.device.software)
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
        other._finer = self._dtype
        return other

    def field(
        self,
        name: str,
        kind: str,
        components: int = 4,
        *,
        buffers: int = 2,
        exact: bool = False,
        short: bool = False,
    ) -> Field:
        """Create a field of zeros."""
        dtype = "f4" if exact else "f2" if short else self._dtype
        if kind in PARTS:
            layout, parts = self.layouts[kind], PARTS[kind]
            return PartedField(self.device, name, layout, components, dtype, buffers, parts)
        return Field(self.device, name, self.layouts[kind], components, dtype, buffers)

    @property
    def eighths(self) -> bool:
        """Jacobi sweeps are faster on a pressure in eighths."""
        slow = self.device.software and self.device.stage == "fragment"  # to read is what takes it long
        return slow and SPLIT[0] <= self.grid.cell_count <= SPLIT[1]

    @property
    def sweeps(self) -> int:
        """Jacobi sweeps that one pass makes: several perhaps in a box that is larger than caches."""
        return self.device.sweeps if self.grid.cell_count >= LARGE else 1

    @property
    def joined(self) -> bool:
        """Confinement is one pass: perhaps in a box that is larger than caches, and not flat."""
        return self.device.joined and self.grid.cell_count >= LARGE and self.grid.dimensions == 3

    @property
    def few(self) -> bool:
        """Passes load each number of an array for each fragment, unless there are few to be handed on."""
        return self.device.software and self.device.stage == "fragment"

    @property
    def inverts(self) -> bool:
        """There are few cells, and the texture is not too large."""
        return self.layouts["matrix"].size[0] == lanes(self.grid)

    def kernel(self, name: str, variant: Variant) -> Pass:
        """Return the pass, compiled once for each variant."""
        key = (name, variant.compiled)
        known = self._passes.get(key)
        if known is None:
            known = self._passes[key] = Pass(self._source(KERNELS[name], variant.compiled))
        if variant.boundaries.changing:
            known.sides = side_numbers(variant.boundaries)
        return known

    def forget(self, expressions: Collection[str]) -> None:
        """Release the passes of users' expressions that are not among these, but for the latest few."""
        gone = [key for key in self._passes if key[1].expression and key[1].expression not in expressions]
        for key in gone[:-KEPT_EXPRESSIONS]:
            self._passes.pop(key).release()

    def _source(self, kernel: Kernel, variant: Variant) -> KernelSource:
        return KernelSource(self.device, self.grid, self.layouts, kernel, variant, self._dtype, self._finer)

    def coarser(self) -> GLBackend:
        """The same on a grid of half the cells, in single precision."""
        if self._coarser is None:
            self._coarser = self._sharing(self.grid.local.coarser())
            link(self.layouts, self._coarser.layouts)
        return self._coarser

    def single(self) -> GLBackend:
        """The same in single precision."""
        if self._dtype == "f4":
            return self
        if self._single is None:
            self._single = self._sharing(self.grid.local)
            self._single.layouts = self.layouts  # multigrid's grids below are those of whoever asked first
        return self._single

    def strips(self) -> Strips:
        """Where in the box there is anything."""
        return Strips(self.device, self.grid.local, self.layouts)

    def voxelize(self, mesh: Mesh, matrix: NDArray[np.float64], winding: FieldStore) -> None:
        """Count surfaces; see `gpufluid.gl.voxelizer`.

        A software renderer draws each triangle once for every octet: a mesh of very many goes to NumPy.
        """
        if self.device.software and len(mesh.triangles) * self.layouts["octet"].size[2] > MOST_DRAWN:
            winding.write(octets(inside_mesh(self.grid.local, mesh, matrix)))
            return
        if self._voxelizer is None:
            self._voxelizer = Voxelizer(self.device, self.grid.local)
        self._voxelizer(mesh, matrix, cast(Field, winding))

    def scroll_to(self, scrolled: tuple[int, int, int]) -> None:
        """Place the box so many cells from where it was made. What is compiled does not know where it is."""
        self.scrolled, self.grid = scrolled, self.made.scrolled(scrolled)

    def check_memory(self, cells: int, what: str) -> None:
        """Raise GpufluidError where the renderer keeps textures in main memory, and that is too small."""
        if self.device.software:
            check_memory(cells, "half" if self._dtype == "f2" else "single", what)

    @property
    def gone(self) -> bool:
        """Whether the caller has released its context."""
        return gone(self.ctx)

    @contextmanager
    def at_work(self, what: str) -> Iterator[None]:
        """Its own context is made current, and left so; the state of a caller's is kept.

        Raises GpufluidError where the caller's is not current, or its own is used from another thread.
        """
        pacer, self.pace.pacer = self.pace.pacer, None
        try:
            with keeping(self.ctx, what):
                yield
        finally:
            self.pace.pacer = pacer

    @contextmanager
    def all_or_none(self) -> Iterator[None]:
        """What is made while it is open, on the device, is released where it fails."""
        self.device.made = made = list[Field]()
        try:
            yield
        except BaseException:
            release(*made)
            raise
        finally:
            self.device.made = None

    def stopwatch(self) -> Stopwatch:
        """The driver's time stamps; the clock on the wall where the processor draws, or it takes none."""
        by_driver = not self.device.software and takes_timestamps(self.ctx)
        return TimestampWatch(self.ctx) if by_driver else WallWatch(self.finish)

    def finish(self) -> None:
        """Wait for the driver."""
        self.ctx.finish()

    def release(self) -> None:
        """Release passes, and the context where it is the engine's own; idempotent."""
        release(self._voxelizer, self._coarser, self._single)
        self._passes.clear()
        self._voxelizer = self._coarser = self._single = None
        if self._owns_device:
            self.device.release()
        if self._owns_context:
            self.ctx.release()
