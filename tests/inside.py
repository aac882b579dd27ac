"""Which cells a shape holds, as the engine asks it: for the tests that know the answer."""

from __future__ import annotations

import numpy as np

from gpufluid.contract.kernels import Variant
from gpufluid.contract.layout import LANES
from gpufluid.description.grid import Grid
from gpufluid.description.mesh import Mesh
from gpufluid.description.periodic import moved
from gpufluid.description.shapes import Analytic
from gpufluid.description.voxels import inside_mesh, tie
from gpufluid.reference.solids import mark_obstacle


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


def opened(grid: Grid, variant: Variant, solid: np.ndarray) -> np.ndarray:
    """The `openings` of a box with these solid cells, [nz, ny, nx, 1], by what lies beside each."""
    nx, ny, nz = grid.cells
    fluid, sides = solid[..., 0] < 0.5, variant.boundaries
    bits = np.zeros((nz, ny, -(-nx // LANES) * LANES), np.int64)
    for axis in range(grid.dimensions):
        for side, by in enumerate((-1, 1)):
            beside = np.roll(fluid, -by, 2 - axis)
            if not sides.periodic(axis):
                np.moveaxis(beside, 2 - axis, 0)[-side] = sides.open(axis, bool(side))
            bits[..., :nx] |= (fluid & beside).astype(np.int64) << (2 * axis + side)
    packs = (bits.reshape(nz, ny, -1, LANES) << (6 * np.arange(LANES))).sum(-1)
    return np.asarray(packs[..., None], float)
