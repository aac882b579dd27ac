"""What the studio says of a grid: of the one there is, and of the one that a rebuild would make."""

from __future__ import annotations

from pathlib import Path

from gpufluid.common.errors import GpufluidError
from gpufluid.description.grid import Grid
from gpufluid.scene.file import of_other_cells
from gpufluid.scene.scene import Cells


def size_of(grid: Grid) -> str:
    """How large the box is, and its cells."""
    x, y, z = grid.size
    return f"{x:.3g} x {y:.3g} x {z:.3g} m, cells of {grid.cell_size:.3g} m"


def foreseen(grid: Grid, cells: Cells, file: Path | None) -> str:
    """What a rebuild with other `cells` makes of `grid`, or why it cannot; "" for the cells that it has.

    file: where the scene comes from. A script does with the cells as it likes, so nothing is foreseen.
    """
    if cells == grid.cells:
        return ""
    if file is None or file.suffix.lower() != ".toml":
        return "Rebuild: the scene's script decides how large the box will be"
    try:
        return f"Rebuild: {size_of(of_other_cells(grid, cells))}"
    except GpufluidError as error:
        return str(error)
