"""Which cells a shape holds, as the engine asks it: for the tests that know the answer."""

from __future__ import annotations

import numpy as np

from gpufluid.grid import Grid
from gpufluid.kernels import Variant
from gpufluid.mesh import Mesh
from gpufluid.periodic import moved
from gpufluid.reference.solids import mark_obstacle
from gpufluid.shapes import Analytic
from gpufluid.voxels import inside_mesh, tie


def inside_shape(grid: Grid, shape: Analytic | Mesh, matrix: np.ndarray) -> np.ndarray:
    """Cells whose centre lies inside the placed shape, or on its surface, [nz, ny, nx]."""
    if isinstance(shape, Mesh):
        return inside_mesh(grid, shape, matrix)
    form = shape.form
    to_local = np.linalg.inv(moved(matrix @ form.place, -np.array(grid.origin)))  # from the low corner
    marks = mark_obstacle(
        grid,
        Variant(),
        marks=np.zeros((*grid.cells[::-1], 4)),
        winding=np.empty(0),
        shape=form.kind,
        to_local=to_local,
        extent=form.core,
        rounding=form.rounding + tie(grid, to_local),
        mark=(1.0,) * 4,
    )
    return marks[..., 0] > 0.5
