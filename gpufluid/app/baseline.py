"""What the bench compares the engine with: the same step, written the plain way.

Every read is a texelFetch, pressure and divergence hold one cell to a texel, and a Jacobi sweep asks of each
neighbour whether it is solid. All else is the engine's own: solver, stages and kernels.
"""

from __future__ import annotations

from typing import Any

import moderngl

from gpufluid.contract.kernels import ROWS, SOLID_FACES, VELOCITY, WHOLE, Kernel, Slot, Variant
from gpufluid.description.grid import Grid
from gpufluid.gl.backend import GLBackend
from gpufluid.gl.field import Field
from gpufluid.gl.kernel_source import KernelSource

PRESSURE, DIVERGENCE = Slot("pressure", "cell", 1), Slot("divergence", "cell", 1)
OPENINGS = Slot("openings", "cell", 1, exact=True)

UNPACKED: dict[str, Kernel] = {
    "divergence": Kernel(
        "divergence_unpacked", DIVERGENCE, (VELOCITY,), solid_reads=(OPENINGS,), folder="bench"
    ),
    "jacobi": Kernel(
        "jacobi_unpacked",
        PRESSURE,
        (PRESSURE, DIVERGENCE),
        ("scale", "weight"),
        solid_reads=(OPENINGS,),
        folder="bench",
    ),
    "subtract_gradient": Kernel(
        "subtract_gradient_unpacked",
        Slot("pushed", "face"),
        (VELOCITY, PRESSURE),
        ("dt",),
        solid_reads=(SOLID_FACES,),
        folder="bench",
    ),
    "dot_rows": Kernel(
        "dot_rows_unpacked",
        ROWS,
        (Slot("a", "cell", 1), Slot("b", "cell", 1)),
        solid_reads=(OPENINGS,),
        folder="bench",
    ),
    "balance": Kernel(
        "balance_unpacked",
        Slot("balanced", "cell", 1),
        (Slot("values", "cell", 1), WHOLE),
        solid_reads=(OPENINGS,),
        folder="bench",
    ),
    "open_neighbours": Kernel("open_neighbours_unpacked", OPENINGS, (SOLID_FACES,), folder="bench"),
}


class BaselineBackend(GLBackend):
    """Fragment passes that read by texelFetch, with one cell to a texel everywhere."""

    def __init__(self, grid: Grid, ctx: moderngl.Context) -> None:
        super().__init__(grid, "fragment", ctx, reading="texel")

    @property
    def eighths(self) -> bool:
        """Sweeps are plain ones."""
        return False

    def field(self, name: str, kind: str, components: int = 4, **how: Any) -> Field:
        """Create a field of zeros; what the engine packs has one value a cell here."""
        if kind in ("packed", "pack"):
            kind, components = "cell", 1
        return super().field(name, kind, components, **how)

    def _source(self, kernel: Kernel, variant: Variant) -> KernelSource:
        """That of the baseline where it has one of its own, else the engine's."""
        return super()._source(UNPACKED.get(kernel.name, kernel), variant)
