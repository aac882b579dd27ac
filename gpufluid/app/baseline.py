"""What the bench compares the engine with: the same step, written the plain way.

Every read is a texelFetch, pressure and divergence hold one cell to a texel, and a Jacobi sweep asks of each
neighbour whether it is solid. All else is the engine's own: solver, stages and kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import moderngl

from gpufluid.backend import KernelCall
from gpufluid.gl.backend import GLBackend
from gpufluid.gl.field import Field
from gpufluid.gl.passes import Pass
from gpufluid.grid import Grid
from gpufluid.kernels import ROWS, SOLID, SOLID_FACES, VELOCITY, WHOLE, Kernel, Slot, Variant

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
        VELOCITY,
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
    "open_neighbours": Kernel("open_neighbours_unpacked", OPENINGS, (SOLID,), folder="bench"),
}


class _Counted:
    """A pass that notes what it moves, each time it runs."""

    def __init__(self, run: Pass, moved: list[int]) -> None:
        self._pass, self._moved = run, moved

    def __call__(self, **arguments: Any) -> None:
        """Run once."""
        self.repeat(1, **arguments)

    def repeat(self, times: int, **arguments: Any) -> None:
        """Run as often."""
        self._moved += [self._pass.nbytes] * times
        self._pass.repeat(times, **arguments)


class CountedBackend(GLBackend):
    """The engine's backend, which knows the fields it has made and what its passes move."""

    def __init__(
        self,
        grid: Grid,
        backend: str,
        ctx: moderngl.Context,
        *,
        precision: str = "single",
        reading: str | None = None,
    ) -> None:
        super().__init__(grid, backend, ctx, precision, reading)
        self.fields: list[Field] = []
        self._moved: dict[str, list[int]] | None = None

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
        field = super().field(name, kind, components, buffers=buffers, exact=exact, short=short)
        self.fields.append(field)
        return field

    def bytes_of(self, work: Callable[[], None]) -> dict[str, list[int]]:
        """Return what each pass of `work` must move at least, bytes, by the kernels' names."""
        moved: dict[str, list[int]] = {}
        self._moved = moved
        work()
        self._moved = None
        return moved

    def kernel(self, name: str, variant: Variant) -> KernelCall:  # type: ignore[override]
        """Return the kernel, compiled once for each variant."""
        run = self._pass(name, variant)
        if self._moved is None:
            return run
        return _Counted(run, self._moved.setdefault(name, []))

    def _pass(self, name: str, variant: Variant) -> Pass:
        return super().kernel(name, variant)


class BaselineBackend(CountedBackend):
    """Fragment passes that read by texelFetch, with one cell to a texel everywhere."""

    def __init__(self, grid: Grid, ctx: moderngl.Context) -> None:
        super().__init__(grid, "fragment", ctx, reading="texel")

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
        """Create a field of zeros; what the engine packs has one value a cell here."""
        if kind in ("packed", "pack"):
            kind, components = "cell", 1
        return super().field(name, kind, components, buffers=buffers, exact=exact, short=short)

    def _pass(self, name: str, variant: Variant) -> Pass:
        """Return the pass of the baseline where it has one of its own, else the engine's."""
        if name not in UNPACKED:
            return super()._pass(name, variant)
        key = (name, variant)
        if key not in self._passes:
            self._passes[key] = Pass(
                self.device, self.grid, self.layouts, UNPACKED[name], variant, self._dtype
            )
        return self._passes[key]
