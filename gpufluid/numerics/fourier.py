"""A direct pressure solve by the fast Fourier transform, in boxes that close on themselves.

Stam (2001), "A simple fluid solver based on the FFT", projects the velocity in Fourier space. Here the
pressure is solved for there, on the staggered grid and with what the grid's own differences make of a wave:
-(4 sin^2(pi k_x / n_x) + 4 sin^2(pi k_y / n_y) + 4 sin^2(pi k_z / n_z)) / h^2. So the divergence that
`Projection` measures falls to rounding, which the symbol -k^2 of the continuous Laplacian would not give.

The cells of a row are taken two by two as complex numbers: half the work of a transform of complex cells.
Passes of radix 4 and 2 transform x, y and z, in the order that sorts itself (Stockham; Cochran et al. 1967).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpufluid.common.errors import GpufluidError
from gpufluid.contract.backend import FieldStore, release
from gpufluid.description.boundaries import SIDES, Boundaries, Periodic
from gpufluid.description.grid import AXES, Grid
from gpufluid.numerics.pressure_problem import PressureProblem

BITS = 2  # of the radix of a pass: reads four, where an odd power of two is left over two


def check_box(grid: Grid, boundaries: Boundaries) -> None:
    """Raise GpufluidError where a side of the box is not periodic or its cells are no power of two."""
    for number, name in enumerate(SIDES[: 2 * grid.dimensions]):
        side = boundaries.sides[number]
        if not isinstance(side, Periodic):
            raise GpufluidError(
                f"Settings.pressure = gf.FFT() needs gf.Periodic() on every side of the box, {name} is "
                f"{side!r}: take gf.Multigrid() or gf.ConjugateGradient() there"
            )
    for name, count in zip(AXES, grid.cells, strict=True):
        if count & (count - 1):
            below = 1 << (count.bit_length() - 1)
            raise GpufluidError(
                f"Settings.pressure = gf.FFT() needs a power of two of cells along each axis, got {count} "
                f"along {name} in {grid.cells}; the nearest are {below} and {2 * below}"
            )


def refuse_obstacle() -> None:
    """Raise GpufluidError: waves know of no solids."""
    raise GpufluidError(
        "obstacles cannot stand in a fluid with Settings.pressure = gf.FFT(): take gf.Multigrid() or "
        "gf.ConjugateGradient() for solids"
    )


def roots(count: int) -> NDArray[np.float64]:
    """Return cos and sin of -2 pi n / count, 4 sin^2(pi n / count) and 0 at n < count, [count, 1, 1, 4]."""
    n = np.arange(count)
    angle = 2.0 * np.pi * n / count
    four = np.cos(angle), -np.sin(angle), 4.0 * np.sin(0.5 * angle) ** 2, 0.0 * angle
    return np.stack(four, -1)[:, None, None]


def passes(count: int) -> Iterator[tuple[int, int]]:
    """Yield (done, bits) of the passes that transform `count` numbers, a power of two.

    A pass makes transforms of length 2^(done + bits) of those of length 2^done.
    """
    whole, done = count.bit_length() - 1, 0
    while done < whole:
        bits = min(BITS, whole - done)
        yield done, bits
        done += bits


class Fourier:
    """What a transform works in, made when first needed."""

    def __init__(self) -> None:
        self._fields: dict[str, FieldStore] = {}

    def solve(self, problem: PressureProblem) -> None:
        """Set the pressure to the one of mean 0 that leaves no divergence. What it was does not matter."""
        cells, fields = problem.grid.cells, self._prepared(problem)

        def run(name: str, **arguments: Any) -> None:
            problem.backend.kernel(name, problem.variant)(**arguments)

        def transform(direction: float) -> None:
            for done, bits in passes(max(cells[0] // 2, 1)):
                run("fft_rows", done=done, bits=bits, direction=direction, **fields)
            for axis in (1, 2):
                for done, bits in passes(cells[axis]):
                    run("fft_lines", axis=axis, done=done, bits=bits, direction=direction, **fields)

        values = fields["transform"]
        run("fft_load", divergence=problem.divergence, scale=problem.scale, transform=values)
        transform(1.0)
        run("fft_divide", **fields)
        transform(-1.0)
        run("fft_store", transform=values, pressure=problem.pressure)

    def _prepared(self, problem: PressureProblem) -> dict[str, FieldStore]:
        if not self._fields:
            backend = problem.backend
            self._fields["transform"] = backend.field("transform", "wave", exact=True)
            self._fields["roots"] = backend.field("roots", "root", buffers=1, exact=True)
            self._fields["roots"].write(roots(max(problem.grid.cells)))
        return self._fields

    def release(self) -> None:
        """Release the fields."""
        release(*self._fields.values())
        self._fields.clear()
