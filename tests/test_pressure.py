"""Pressure solvers: each against a dense solve, how fast they converge, what they cost and refuse."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import moderngl
import numpy as np
import pytest
from inside import opened
from reading import forbid_reading
from sharing import COMPUTED, DRAWN, EVERYWHERE, REST, by_turns

import gpufluid as gf
from gpufluid import reference
from gpufluid.contract.kernels import Variant
from gpufluid.contract.layout import SOLVED, lanes
from gpufluid.gl.backend import GLBackend
from gpufluid.gl.device import Device
from gpufluid.numerics import pressure_problem, relaxation
from gpufluid.numerics.coarsest import inverse
from gpufluid.numerics.multigrid import Chessboard, two_colours
from gpufluid.numerics.relaxation import chebyshev_weights, jacobi_weights
from gpufluid.reference.numpy_backend import NumpyBackend, ReferenceKernel

pytestmark = pytest.mark.usefixtures("one_context")
MIXED = gf.Boundaries(
    left=gf.Periodic(),
    right=gf.Periodic(),
    bottom=gf.Inflow((0.0, 0.7, 0.0)),
    top=gf.Open(),
    back=gf.Open(),
)
SIDES = {
    "walls": gf.Boundaries(),
    "periodic": gf.Boundaries.all(gf.Periodic()),
    "open top": gf.Boundaries(top=gf.Open()),
    "open all round": gf.Boundaries.all(gf.Open()),
    "inflow and open": MIXED,
    "net inflow": gf.Boundaries(left=gf.Inflow((0.5, 0.0, 0.0))),
}
CONVERGED = {
    "jacobi": gf.Jacobi(1500, weight=0.9),
    "chebyshev": gf.ChebyshevJacobi(600),
    "sor": gf.RedBlackSOR(900, omega=1.5),
    "conjugate gradients": gf.ConjugateGradient(100, tolerance=1e-7),
    "gauss-seidel": gf.ConjugateGradient(150, tolerance=1e-7, preconditioner="gauss-seidel"),
    "multigrid": gf.Multigrid(25),
}


def in_turn(number: int) -> str:
    """With and without solids in turn: a full product would compile each program for both."""
    return ("empty", "solids")[number % 2]


def noisy(
    cells: tuple[int, int, int], solver: Any, backend: str, sides: gf.Boundaries | None = None, **rules: Any
) -> gf.Fluid:
    """A fluid of white noise, the same for every solver."""
    settings = gf.Settings(pressure=solver, warm_start=False, buoyancy=0.0, **rules)
    fluid = gf.Fluid(gf.Grid(cells, 0.1), sides, settings, backend)
    nx, ny, nz = cells
    fluid.velocity.write(np.random.default_rng(3).normal(size=(nz + 1, ny + 1, nx + 1, 3)))
    return fluid


def close(fluid: gf.Fluid) -> None:
    """Let walls and solids set the velocity of their faces, as the projection does first."""
    solver = fluid._solver
    solver.solids.update(list(fluid.obstacles), None)
    solver.backend.kernel("constrain", solver.variant)(velocity=solver.velocity, **solver.solids.faces)


def rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values.astype(float) ** 2)))


def cycles(fluid: gf.Fluid, solver: Any, count: int) -> np.ndarray:
    """What is left of the divergence after each of `count` turns of `solver`, the first entry 1."""
    close(fluid)
    s = fluid._solver
    s.divergence()
    left = [1.0]
    for _ in range(count):
        s.projection.relax(solver, 1.0, s.variant, s.solids.openings)
        left.append(s.projection.problem.left())
    return np.array(left)


# -- the solution ------------------------------------------------------------------------------------------


DENSE: dict[tuple[gf.Boundaries, bytes], tuple[np.ndarray, np.ndarray]] = {}


def dense_operator(grid: gf.Grid, boundaries: gf.Boundaries, solid: np.ndarray) -> tuple[Any, Any]:
    """The inverse of the operator by least squares, and which cells are fluid; made once for each box."""
    key = boundaries, solid.tobytes()
    if key not in DENSE:
        variant = Variant(True, boundaries=boundaries)
        openings = opened(grid, variant, solid[..., None])
        columns = [
            reference.pressure_operator(grid, variant, unit.reshape(solid.shape), openings)[0].ravel()
            for unit in np.eye(solid.size)
        ]
        fluid = reference.pressure_operator(grid, variant, np.zeros(solid.shape), openings)[1] > 0
        DENSE[key] = np.linalg.pinv(np.stack(columns, 1), rcond=1e-12, hermitian=True), fluid
    return DENSE[key]


def dense_solution(fluid: gf.Fluid, solid: np.ndarray, divergence: np.ndarray) -> np.ndarray:
    """The pressure for dt = 1 by least squares, mean 0 where no side is open."""
    grid = fluid.grid
    inverse_of, fluid_cells = dense_operator(grid, fluid.boundaries, solid)
    sides = fluid.boundaries.sides[: 2 * grid.dimensions]
    right = divergence * grid.cell_size**2
    if not any(isinstance(s, gf.Open) for s in sides):
        right = np.where(fluid_cells, right - right[fluid_cells].mean(), 0.0)
    return (inverse_of @ right.ravel()).reshape(solid.shape)


@pytest.mark.parametrize(
    ("sides", "name", "solids", "backend"),
    [
        # all sides with all solvers, of those that sweep alike with one in turn, and solids by turns
        *(
            (sides, name, in_turn(n // 2 + m), "numpy")
            for n, sides in enumerate(SIDES)
            for m, name in enumerate(CONVERGED)
            if name != ("jacobi", "chebyshev")[n % 2]
        ),
        # on the GPU each is programs of its own: all sides, all solvers, three of them round solids
        ("walls", "chebyshev", "empty", "auto"),
        ("periodic", "conjugate gradients", "solids", "auto"),
        ("open top", "gauss-seidel", "solids", "auto"),
        ("open all round", "sor", "empty", "auto"),
        ("inflow and open", "multigrid", "solids", "auto"),
        ("net inflow", "jacobi", "empty", "auto"),
    ],
)
def test_converged_is_the_dense_solution(sides: str, name: str, solids: str, backend: str) -> None:
    with noisy((9, 6, 5), CONVERGED[name], backend, SIDES[sides]) as fluid:
        if solids == "solids":
            fluid.obstacles.add(gf.Obstacle(gf.Box(size=(0.3, 0.21, 0.2)), position=(0.4, 0.3, 0.2)))
        close(fluid)
        expected = dense_solution(fluid, fluid.solid.read(), fluid.divergence.read().astype(float))
        fluid.project()
        got = fluid.pressure.read()
        if name == "jacobi" and sides == "walls" and solids == "empty":  # it keeps the mean it has, here 0
            assert abs(got.mean()) < 1e-6
        assert np.abs(got - expected).max() <= (1e-5 if backend == "numpy" else 1e-4) * np.abs(expected).max()


@pytest.mark.parametrize(("name", "backend"), by_turns(list(CONVERGED)))
def test_what_stops_a_wind_is_zero_on_the_open_side(name: str, backend: str) -> None:
    """A wind from a floor: p = (y - H) U / dt stops it to the last cell, whatever solves for it."""
    with gf.Fluid(
        gf.Grid((6, 5, 9), 0.1),
        gf.Boundaries(top=gf.Open()),
        gf.Settings(pressure=CONVERGED[name]),
        backend,
    ) as fluid:
        wind = np.zeros((10, 6, 7, 3))
        wind[:9, :, :6, 1] = 0.5
        fluid.velocity.write(wind)
        fluid.project()
        height = 0.1 * (np.arange(5) + 0.5)
        expected = np.broadcast_to(0.5 * (height - 0.5)[None, :, None], (9, 5, 6))
        np.testing.assert_allclose(fluid.pressure.read(), expected, atol=2e-5)
        np.testing.assert_allclose(fluid.velocity.read(), 0.0, atol=2e-5)


@pytest.mark.parametrize(
    ("cells", "name", "sides", "backend"),
    [
        # all pairs in NumPy; on the GPU each size once, each solver and each kind of sides twice
        (cells, name, sides, ("auto", "numpy")[(n + m + k) % 3])
        for n, cells in enumerate([(1, 1, 1), (2, 1, 1), (1, 7, 3), (3, 3, 1), (24, 18, 1), (5, 2, 2)])
        for m, name in enumerate(["sor", "conjugate gradients", "multigrid"])
        for k, sides in enumerate(["walls", "open top", "periodic"])
        if (n + m + k) % 3 == 1 or ((n + m + k) % 3 == 0 and m == n % 3)
    ]
    # few cells between two open sides
    + [
        ((1, 1, 1), "sor", "open all round", "numpy"),
        ((2, 1, 1), "multigrid", "open all round", "auto"),
        ((1, 7, 3), "multigrid", "open all round", "numpy"),
        ((5, 2, 2), "conjugate gradients", "open all round", "auto"),
    ],
)
def test_boxes_of_any_size(cells: tuple[int, int, int], name: str, sides: str, backend: str) -> None:
    with noisy(cells, CONVERGED[name], backend, SIDES[sides]) as fluid:
        close(fluid)
        start = rms(fluid.divergence.read())
        fluid.project()
        assert rms(fluid.divergence.read()) <= 1e-5 * start + 1e-6


@pytest.mark.parametrize("backend", DRAWN)
@pytest.mark.parametrize("name", ["conjugate gradients", "multigrid"])
def test_projection_mac(name: str, backend: str) -> None:
    """The case of that name: 1e-4 of the starting divergence within 100 iterations or 10 cycles at 32^3."""
    solver = {"conjugate gradients": gf.ConjugateGradient(100), "multigrid": gf.Multigrid(10)}[name]
    with noisy((32, 32, 32), solver, backend) as fluid:
        close(fluid)
        start = rms(fluid.divergence.read())
        fluid.project()
        assert rms(fluid.divergence.read()) <= (1.01e-4 if name != "multigrid" else 1e-5) * start


@pytest.mark.parametrize("sides", ["walls", "open top"])
def test_a_mesh_inside_at_64(sides: str) -> None:
    """A tenth of the iterations allowed is enough for conjugate gradients."""
    solvers = gf.ConjugateGradient(10), gf.Multigrid(10)
    with noisy((64, 64, 64), solvers[0], "auto", SIDES[sides]) as fluid:
        knot = gf.Mesh.trefoil().fitted(4.5)
        fluid.obstacles.add(gf.Obstacle(knot, position=(3.2, 3.2, 3.2)))
        assert fluid.solid.read().sum() > 3000
        for flow, solver in product((fluid.velocity.read(), smooth((64, 64, 64))), solvers):
            fluid.velocity.write(flow)
            fluid.settings = fluid.settings.but(pressure=solver)
            close(fluid)
            start = rms(fluid.divergence.read())
            fluid.project()
            assert rms(fluid.divergence.read()) <= 1.01e-4 * start


@pytest.mark.parametrize("cells", [(4, 4, 4), (3, 4, 2), (2, 3, 1), (1, 4, 3), (4, 1, 1)])
@pytest.mark.parametrize(("sides", "stage"), [("walls", "fragment"), ("periodic", "compute")])
@pytest.mark.parametrize("solids", [False, True])
def test_the_coarsest_grid_in_one_pass(
    cells: tuple[int, int, int],
    sides: str,
    stage: str,
    solids: bool,
    ctx: moderngl.Context,
    rng: np.random.Generator,
) -> None:
    """Sweep for sweep what the reference does. With solids: winding rooms, of which few have a way out."""
    backend = GLBackend(gf.Grid(cells, 0.1), stage, ctx, "single")
    variant = Variant(solids, boundaries=SIDES[sides], weighted=True)
    shape = (*cells[::-1], 1)
    arrays = {"divergence": rng.normal(size=shape)}
    open_share = np.array([0.3, 0.3, 0.3, 0.05]) if solids else 0.8
    weights = rng.random((*cells[::-1], 4)) * (rng.random((*cells[::-1], 4)) < open_share)
    for axis in range(3):
        low = np.moveaxis(weights[..., axis], 2 - axis, 0)
        if not SIDES[sides].periodic(axis) or cells[axis] == 1:
            low[0] = 0.0
    inner = sum(weights[..., a] + np.roll(weights[..., a], -1, 2 - a) for a in range(3))
    weights[..., 3] = inner + 0.5 * weights[..., 3]
    arrays |= {f"weights_{part}": weights[..., n, None] for n, part in enumerate(("x", "y", "z", "sum"))}
    fields = {name: backend.field(name, "packed", buffers=1, exact=True) for name in arrays}
    for name, values in arrays.items():
        fields[name].write(values)
        arrays[name] = fields[name].read().astype(float)
    pressure = backend.field("pressure", "packed")
    rules = {"scale": 0.7, "sweeps": 3, "omega": 1.3 if two_colours(SIDES[sides], backend.grid) else 1.0}
    backend.kernel("solve_coarsest", variant)(pressure=pressure, **rules, **fields)
    expected = reference.solve_coarsest(backend.grid, variant, **rules, **arrays)
    np.testing.assert_allclose(pressure.read(), expected, rtol=0, atol=1e-5 * np.abs(expected).max())
    backend.release()


@pytest.mark.parametrize("stage", ["fragment", "compute"])
def test_cycles_round_an_odd_number_of_cells_are_those_of_the_reference(
    stage: str, rng: np.random.Generator
) -> None:
    """Beside solids: coarse grids of 5 and 3 rows, round which neighbours share a colour."""
    sides = gf.Boundaries(right=gf.Open(), bottom=gf.Periodic(), top=gf.Periodic())
    flow, found = rng.normal(size=(2, 11, 13, 3)), []
    for backend in ("numpy", stage):
        settings = gf.Settings(pressure=gf.Multigrid(1, sweeps=2))
        with gf.Fluid(gf.Grid((12, 10, 1), 0.1), sides, settings, backend) as fluid:
            fluid.obstacles.add(gf.Obstacle(gf.Box(size=(0.3, 0.3, 1.0)), position=(0.5, 0.5, 0.05)))
            fluid.velocity.write(flow)
            fluid.project()
            found.append(fluid.pressure.read())
    np.testing.assert_allclose(found[1], found[0], rtol=0, atol=1e-5 * np.abs(found[0]).max())


@pytest.mark.parametrize(
    ("cells", "sides"),
    [
        *(
            (cells, sides)
            for cells in ((29, 31, 17), (52, 35, 1))
            for sides in ("walls", "periodic", "open top")
        ),
        ((32, 32, 32), "open all round"),
        ((52, 35, 1), "open all round"),
        ((13, 7, 5), "inflow and open"),
    ],
)
def test_the_inverse_of_a_grid_of_few_cells(cells: tuple[int, int, int], sides: str) -> None:
    """It is that of the equation whose faces `coarse_weights` weighs, in boxes without solids."""
    grid, boundaries, stride = gf.Grid(cells, 0.1), SIDES[sides], 1
    variant, weights = Variant(boundaries=boundaries), {}
    names = [f"fine_weights_{part}" for part in ("x", "y", "z", "sum")]
    while lanes(grid) > SOLVED or stride == 1:
        grid, stride = grid.coarser(), 2 * stride
        given = {"finest": cells, "stride": stride, **weights}
        faces = reference.coarse_weights(grid, variant, **given)
        weights = dict(zip(names, np.split(faces, 4, -1), strict=True))
        variant = Variant(boundaries=boundaries, weighted=True)
    right = np.random.default_rng(4).normal(size=(*grid.cells[::-1], 1))
    if not any(boundaries.open(axis, high) for axis in range(grid.dimensions) for high in (False, True)):
        right -= right.mean()
    table = inverse(cells, stride, boundaries)
    solved = reference.apply_inverse(grid, variant, divergence=right, inverse=table, scale=0.7)[..., 0]
    laplacian, _ = reference.pressure_operator(grid, variant, solved, weights=faces)
    assert np.abs(laplacian - 0.7 * right[..., 0]).max() <= 1e-5 * np.abs(right).max()


@pytest.mark.parametrize("sides", ["walls", "open top", "open all round", "inflow and open"])
def test_coarse_grids_without_a_rest_have_the_equation_of_the_finest(sides: str) -> None:
    """With open sides as well: why kernels read no weights there."""
    grid, boundaries = gf.Grid((16, 8, 12), 0.1), SIDES[sides]
    plain, weights = Variant(boundaries=boundaries), {}
    variant = plain
    for stride in (2, 4):
        grid = grid.coarser()
        faces = reference.coarse_weights(grid, variant, finest=(16, 8, 12), stride=stride, **weights)
        p = np.random.default_rng(stride).normal(size=grid.cells[::-1])
        got = reference.pressure_operator(grid, variant, p, weights=faces)
        for one, other in zip(got, reference.pressure_operator(grid, plain, p), strict=True):
            np.testing.assert_allclose(one, stride * other, atol=1e-12)
        names = [f"fine_weights_{part}" for part in ("x", "y", "z", "sum")]
        weights = dict(zip(names, np.split(faces, 4, -1), strict=True))
        variant = Variant(boundaries=boundaries, weighted=True)


@pytest.mark.parametrize(
    ("cells", "weighed", "all_grids"),
    [((32, 32, 32), 0, 3), ((36, 36, 36), 0, 4), ((34, 34, 34), 2, 4), ((34, 34, 1), 0, 4)],
    ids=["even", "odd at its inverse", "odd above it", "2D"],
)
def test_weights_are_kept_of_grids_that_read_them(
    cells: tuple[int, int, int], weighed: int, all_grids: int
) -> None:
    """Without solids: of those whose cells differ in size, down to the one that its inverse solves."""
    with noisy(cells, gf.Multigrid(2), "auto") as fluid:

        def kept() -> int:
            levels = fluid._solver.projection.hierarchy.levels
            assert len(levels) == all_grids
            return sum(bool(level.weights) for level in levels)

        assert cycles(fluid, gf.Multigrid(2), 1)[-1] <= 0.03
        assert kept() == weighed
        fluid.obstacles.add(gf.Obstacle(gf.Sphere((0, 0, 0), 0.5), position=(1.0, 1.0, 0.05)))
        fluid.project()
        assert kept() == all_grids


@pytest.mark.parametrize("solver", [gf.Multigrid(1), gf.ConjugateGradient(3)], ids=["multigrid", "cg"])
def test_coarse_grids_follow_solids_that_move(solver: Any) -> None:
    """What a V-cycle does round solids that moved, went and came is what it does round new ones."""

    def projected(old: gf.Fluid | None, *obstacles: gf.Obstacle) -> tuple[gf.Fluid, np.ndarray]:
        fluid = old or noisy((16, 18, 20), solver, "fragment")
        fluid.velocity.write(np.random.default_rng(3).normal(size=(21, 19, 17, 3)))
        fluid.obstacles.clear()
        for obstacle in obstacles:
            fluid.obstacles.add(obstacle)
        fluid.pressure.write(np.zeros((20, 18, 16)))
        fluid.project()
        return fluid, fluid.pressure.read()

    ball = gf.Obstacle(gf.Sphere((0, 0, 0), 0.5), position=(0.5, 0.7, 0.8))
    used, first = projected(None, ball)
    ball.position = (1.0, 0.9, 1.1)
    for obstacles in (
        [ball],
        [],
        [ball, gf.Obstacle(gf.Box(size=(0.4, 1.8, 0.2)), position=(0.8, 0.9, 0.6))],
    ):
        used, again = projected(used, *obstacles)
        fresh, expected = projected(None, *obstacles)
        np.testing.assert_array_equal(again, expected)
        assert np.abs(again - first).max() > 0.01 * np.abs(first).max()
        fresh.release()
    used.release()


@pytest.mark.parametrize(
    ("cells", "stage", "sides", "solids"),
    [
        ((16, 18, 20), "fragment", "walls", "solids"),
        ((16, 18, 20), "fragment", "inflow and open", "empty"),
        ((13, 17, 9), "compute", "open all round", "solids"),
        ((5, 3, 2), "fragment", "walls", "empty"),
        ((26, 22, 1), "compute", "periodic", "solids"),
        # not apart, with nothing to compile
        ((13, 17, 9), "numpy", "inflow and open", "empty"),
        ((5, 3, 2), "numpy", "periodic", "empty"),
    ],
)
def test_red_and_black_apart_are_what_they_are_together(
    stage: str, cells: tuple[int, int, int], sides: str, solids: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pressures = []
    periodic = [SIDES[sides].periodic(axis) and n > 1 and n % 2 for axis, n in enumerate(cells)]
    for apart in (True, False):
        if not apart:
            monkeypatch.setattr(Chessboard, "fits", lambda problem: False)
        with noisy(cells, gf.Multigrid(2, sweeps=2), stage, SIDES[sides]) as fluid:
            if solids == "solids":
                fluid.obstacles.add(gf.Obstacle(gf.Sphere((0, 0, 0), 0.4), position=(0.5, 0.4, 0.3)))
            fluid.project()
            finest = fluid._solver.projection.hierarchy.prepare(fluid._solver.projection.problem)
            assert isinstance(finest, Chessboard) == (apart and not any(periodic))
            pressures.append(fluid.pressure.read())
    assert np.abs(pressures[0] - pressures[1]).max() <= 2e-5 * np.abs(pressures[1]).max()


SPLIT = {
    "even": ((16, 18, 20), "fragment", gf.Jacobi(12), "single"),
    "odd": ((13, 17, 31), "compute", gf.ChebyshevJacobi(12), "single"),
    "tiny": ((5, 3, 2), "fragment", gf.Jacobi(8, weight=0.8), "half"),
}


@pytest.mark.parametrize(
    ("box", "sides", "solids"),
    [
        ("even", "walls", "empty"),
        ("even", "periodic", "solids"),
        ("odd", "open all round", "solids"),
        ("odd", "inflow and open", "empty"),
        ("tiny", "walls", "empty"),
        ("tiny", "inflow and open", "solids"),
    ],
)
def test_sweeps_in_eighths_are_those_of_the_whole_to_the_bit(
    box: str, sides: str, solids: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells, stage, solver, precision = SPLIT[box]
    pressures, rules = [], SIDES[sides]
    radius = 0.25 if box == "tiny" else 0.4  # or nothing were left of a box that repeats
    if box == "tiny":
        monkeypatch.setattr(pressure_problem, "SPARE", 1.0)
    for apart in (True, False):
        monkeypatch.setattr(GLBackend, "eighths", apart)
        with noisy(cells, solver, stage, rules, precision=precision) as fluid:
            if solids == "solids":
                fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=radius), position=(0.5, 0.4, 0.3)))
            fluid.project()
            assert ("eighths" in fluid._solver.projection.problem._fields) == apart
            cold = fluid.pressure.read()
            fluid.settings = fluid.settings.but(warm_start=True)
            fluid.project()
            pressures.append((cold, fluid.pressure.read()))
    assert np.abs(pressures[0]).max() > 0.0 and np.any(pressures[0][0] != pressures[0][1])
    np.testing.assert_array_equal(*pressures)


def test_a_solver_that_does_nothing_leaves_the_pressure_0() -> None:
    """A cold start: what an earlier step found is not left there."""
    with noisy((8, 8, 8), gf.Jacobi(20), "fragment") as fluid:
        fluid.project()
        assert np.abs(fluid.pressure.read()).max() > 0.0
        fluid.settings = fluid.settings.but(pressure=gf.Jacobi(0))
        fluid.project()
        assert not fluid.pressure.read().any()


def test_boxes_that_eighths_do_not_fill_are_not_taken_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eighths hold whole groups of four slices: of two they would sweep two more that are none.

    Nor may a box that closes on itself have a part of a group in between.
    """
    for cells, sides, apart in (
        ((16, 16, 2), "walls", False),
        ((16, 5, 16), "walls", False),
        ((16, 16, 15), "walls", True),
        ((16, 16, 15), "periodic", False),
        ((15, 15, 16), "periodic", False),
        ((15, 16, 16), "periodic", True),
    ):
        with noisy(cells, gf.Jacobi(0), "numpy", SIDES[sides]) as fluid:
            fluid.project()
            with monkeypatch.context() as patch:
                patch.setattr(NumpyBackend, "eighths", True)
                assert fluid._solver.projection.problem._in_eighths(12) == apart


# -- how fast ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "sides", "bound"),
    [
        ((32, 32, 32), "walls", 0.18),
        ((31, 29, 37), "walls", 0.18),
        ((32, 32, 32), "open all round", 0.18),
        ((29, 29, 29), "inflow and open", 0.24),
        ((31, 31, 31), "periodic", 0.23),
        ((64, 64, 1), "walls", 0.15),
        ((64, 64, 3), "open top", 0.15),
    ],
)
def test_what_a_v_cycle_leaves(cells: tuple[int, int, int], sides: str, bound: float) -> None:
    with noisy(cells, gf.Multigrid(1), "numpy", SIDES[sides]) as fluid:
        left = cycles(fluid, gf.Multigrid(1), 8)
        factors = left[1:] / left[:-1]
        print(cells, sides, np.round(factors, 3))
        assert left[1] <= 0.05
        assert factors.max() <= bound


def flow_of(kind: str, cells: tuple[int, int, int]) -> np.ndarray:
    """The velocity [nz + 1, ny + 1, nx + 1, 3] of long waves, a rising puff or a jet."""
    nx, ny, nz = cells
    z, y, x = np.meshgrid(*(np.arange(n + 1) / n for n in (nz, ny, nx)), indexing="ij")
    if nz == 1:
        z[:] = 0.5
    velocity = np.zeros((*x.shape, 3))
    if kind == "long waves":
        velocity[..., 0] = np.sin(np.pi * x) * np.cos(np.pi * y)
        velocity[..., 1] = np.sin(2 * np.pi * y) * np.cos(np.pi * x)
    elif kind == "puff":
        velocity[..., 1] = np.exp(-((x - 0.5) ** 2 + (y - 0.2) ** 2 + (z - 0.5) ** 2) / 0.01)
    else:
        velocity[..., 1] = (y > 0.08) & (y < 0.2) & ((x - 0.5) ** 2 + (z - 0.5) ** 2 < 0.0144)
    return velocity


def two_v_cycles_leave_3_percent(fluid: gf.Fluid) -> None:
    """Of noise, which the fluid holds to begin with, and of other flows, from no pressure."""
    cells = fluid.grid.cells
    for kind in ("noise", "long waves", "puff", "jet"):
        if kind != "noise":
            fluid.velocity.write(flow_of(kind, cells))
        fluid.pressure.write(np.zeros(cells[::-1]))
        assert 1e-6 < cycles(fluid, gf.Multigrid(2), 1)[-1] <= 0.03, kind


@pytest.mark.parametrize(
    ("cells", "sides", "solid", "backend"),
    [
        ((64, 64, 64), "walls", False, "fragment"),
        ((64, 64, 64), "open top", True, "fragment"),
        ((64, 64, 64), "periodic", False, "numpy"),
        ((33, 47, 29), "walls", False, "numpy"),
        ((96, 64, 1), "walls", False, "fragment"),
    ],
)
def test_two_v_cycles_leave_3_percent(
    cells: tuple[int, int, int], sides: str, solid: bool, backend: str
) -> None:
    with noisy(cells, gf.Multigrid(2), backend, SIDES[sides]) as fluid:
        if solid:
            fluid.obstacles.add(gf.Obstacle(gf.Sphere((0, 0, 0), 1.0), position=(3.2, 3.9, 3.2)))
        two_v_cycles_leave_3_percent(fluid)


def test_two_sweeps_a_side_leave_less() -> None:
    with noisy((32, 32, 32), gf.Multigrid(1), "numpy") as fluid:
        assert cycles(fluid, gf.Multigrid(1, sweeps=2), 6)[-1] <= 1e-6


def test_walls_one_cell_thick_stop_no_cycle() -> None:
    """A plate with a gap, thinner than any coarse cell; then a fifth of the cells solid at random."""
    with noisy((32, 32, 32), gf.Multigrid(1), "numpy") as fluid:
        for size, position in (
            ((3.2, 1.3, 0.1), (1.6, 0.65, 1.65)),
            ((3.2, 1.3, 0.1), (1.6, 2.55, 1.65)),
            ((1.3, 3.2, 0.1), (0.65, 1.6, 1.65)),
            ((1.3, 3.2, 0.1), (2.55, 1.6, 1.65)),
        ):
            fluid.obstacles.add(gf.Obstacle(gf.Box(size=size), position=position))
        assert cycles(fluid, gf.Multigrid(1), 8)[-1] <= 5e-6
    rng = np.random.default_rng(5)
    with noisy((16, 16, 16), gf.Multigrid(1), "numpy") as fluid:
        for cell in rng.integers(0, 16, (900, 3)):
            place = tuple((cell + 0.5) * 0.1)
            fluid.obstacles.add(gf.Obstacle(gf.Box(size=(0.1, 0.1, 0.1)), position=place))
        assert 0.15 < fluid.solid.read().mean() < 0.25
        assert cycles(fluid, gf.Multigrid(1), 8)[-1] <= 1e-4


def test_a_maze_of_thin_walls_needs_conjugate_gradients() -> None:
    """Channels narrower than the coarse cells: cycles go on converging, slowly; twenty iterations do it."""
    left = {}
    for solver in (gf.Multigrid(20), gf.ConjugateGradient(20)):
        with noisy((32, 32, 32), solver, "numpy") as fluid:
            for n in range(5):
                place = (0.45 + 0.6 * n, 1.5 + 0.2 * (n % 2), 1.6)
                fluid.obstacles.add(gf.Obstacle(gf.Box(size=(0.1, 3.0, 3.2)), position=place))
            left[type(solver)] = cycles(fluid, solver, 1)[-1]
    print(left)
    assert left[gf.ConjugateGradient] <= 1e-4
    assert left[gf.Multigrid] <= 1e-2


def smooth(cells: tuple[int, int, int]) -> np.ndarray:
    """A velocity whose divergence has every wave length, the long ones most."""
    nx, ny, nz = cells
    waves = np.array(np.meshgrid(*(np.fft.fftfreq(n) * n for n in (nz, ny, nx)), indexing="ij"))
    noise = np.random.default_rng(2).normal(size=(nz, ny, nx))
    potential = np.fft.ifftn(np.fft.fftn(noise) / (1.0 + (waves**2).sum(0)) ** 1.5).real
    out = np.zeros((nz + 1, ny + 1, nx + 1, 3))
    out[:nz, :ny, 1:nx, 0] = np.diff(potential, axis=2)
    out[:nz, 1:ny, :nx, 1] = np.diff(potential, axis=1)
    out[1:nz, :ny, :nx, 2] = np.diff(potential, axis=0)
    return out


@pytest.mark.parametrize("flow", ["noise", "smooth"])
def test_at_equal_sweeps_chebyshev_and_sor_leave_less_than_jacobi(flow: str) -> None:
    solvers = gf.Jacobi(40), gf.ChebyshevJacobi(40), gf.RedBlackSOR(40)
    left = []
    for solver in solvers:
        with noisy((32, 32, 32), solver, "numpy") as fluid:
            if flow == "smooth":
                fluid.velocity.write(smooth((32, 32, 32)))
            left.append(cycles(fluid, solver, 1)[-1])
    jacobi, chebyshev, sor = left
    print(flow, left)
    assert chebyshev <= (0.35 if flow == "noise" else 0.15) * jacobi
    assert sor <= (0.05 if flow == "noise" else 0.4) * jacobi


def test_chebyshev_weights_never_grow_far() -> None:
    for count in (1, 2, 7, 40, 100):
        weights = chebyshev_weights(count)
        assert len(weights) == count
        x = np.linspace(0.0, 2.0, 4001)
        product = np.cumprod([1.0 - w * x for w in weights], axis=0)
        assert np.abs(product).max() <= 400.0
        assert np.abs(product[-1]).max() <= 1.0 + 1e-9  # no mode gains
        assert abs(product[-1][-1]) <= 0.0101  # the checkerboard least of all


def checkerboard(backend: str, solver: Any) -> float:
    """What is left of a checkerboard of divergence in a closed box."""
    settings = gf.Settings(pressure=solver)
    with gf.Fluid(gf.Grid((16, 16, 16), 0.1), settings=settings, backend=backend) as fluid:
        s = fluid._solver
        board = (-1.0) ** np.indices((16, 16, 16)).sum(0)
        s.projection.divergence.write(board[..., None])
        s.projection.relax(solver, 1.0, s.variant, {})
        return s.projection.problem.left()


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_the_checkerboard_is_damped(backend: str) -> None:
    assert checkerboard(backend, gf.Jacobi(40)) >= 0.3  # known: it goes through the walls alone
    assert checkerboard(backend, gf.ChebyshevJacobi(40)) <= 0.02
    assert checkerboard(backend, gf.RedBlackSOR(40)) <= 2e-3
    assert checkerboard(backend, gf.ConjugateGradient(20)) <= 1e-4
    assert checkerboard(backend, gf.Multigrid(6)) <= 1e-4


@pytest.mark.parametrize(("cells", "backend"), by_turns([((5, 5, 5),), ((9, 7, 1),)]))
def test_over_relaxation_holds_where_an_odd_box_closes_on_itself(
    cells: tuple[int, int, int], backend: str
) -> None:
    """At the seam two cells of one colour are neighbours: over-relaxed there it would blow up."""
    with noisy(cells, gf.RedBlackSOR(), backend, SIDES["periodic"]) as fluid:
        assert cycles(fluid, gf.RedBlackSOR(300, omega=1.9), 1)[-1] <= 1e-3


# -- when to stop ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["numpy", "auto"])
@pytest.mark.parametrize(
    ("make", "tolerance", "passes"),
    [
        (lambda t: gf.Jacobi(4000, tolerance=t), 0.02, "jacobi"),
        (lambda t: gf.ChebyshevJacobi(4000, tolerance=t), 5e-3, "jacobi"),
        (lambda t: gf.RedBlackSOR(2000, tolerance=t), 1e-3, "red_black"),
        (lambda t: gf.ConjugateGradient(500, t), 1e-4, "residual"),
        (lambda t: gf.Multigrid(50, tolerance=t), 1e-4, "prolong_half"),
    ],
    ids=["jacobi", "chebyshev", "sor", "conjugate gradients", "multigrid"],
)
def test_tolerance_stops_early_and_is_reached(
    make: Callable[[float | None], Any],
    tolerance: float,
    passes: str,
    backend: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = []
    with noisy((16, 16, 16), make(tolerance), backend) as fluid:
        close(fluid)
        start = rms(fluid.divergence.read())
        solver_backend = fluid._solver.backend
        kernel = solver_backend.kernel

        def counted(name: str, variant: Variant) -> Any:
            run = kernel(name, variant)

            def repeat(times: int, **given: Any) -> None:
                calls.extend([name] * times)
                run.repeat(times, **given)

            def bound(**given: Any) -> Callable[[], None]:
                call = run.bound(**given)
                return lambda: (calls.append(name), call())[1]

            if name in ("jacobi", "red_black", "prolong_half"):
                return SimpleNamespace(repeat=repeat, bound=bound)
            calls.append(name)
            return run

        monkeypatch.setattr(solver_backend, "kernel", counted)
        fluid.project()
        assert rms(fluid.divergence.read()) <= 1.01 * tolerance * start
        # "jacobi" once a sweep, "red_black" once a half sweep, "prolong_half" once a cycle; "residual" is
        # looked up once an iteration
        assert 0 < calls.count(passes) < 450
        before = len(calls)
        fluid.velocity.write(np.zeros((17, 17, 17, 3)))
        fluid.project()  # nothing to do: no sweep at all
        assert passes not in calls[before:] or passes == "residual"
        assert not fluid.velocity.read().any()


def test_no_tolerance_reads_nothing_back(monkeypatch: pytest.MonkeyPatch) -> None:
    for solver in (gf.Jacobi(), gf.ChebyshevJacobi(), gf.RedBlackSOR(), gf.Multigrid()):
        with noisy((12, 12, 12), solver, "auto", SIDES["net inflow"], max_substeps=1) as fluid:
            fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.2), position=(0.6, 0.6, 0.6)))
            fluid.step(0.01)
            with monkeypatch.context() as patch:
                forbid_reading(patch)
                fluid.step(0.01)


# -- precision, drift, memory ------------------------------------------------------------------------------


@pytest.mark.parametrize("sides", ["walls", "open top"])
def test_half_precision_leaves_as_little(sides: str) -> None:
    """The pressure is single: of a smooth one half floats would lose more over a cell than is to be left."""
    cells = (64, 64, 64)
    with noisy(cells, gf.Multigrid(2), "fragment", SIDES[sides], precision="half") as fluid:
        two_v_cycles_leave_3_percent(fluid)


@pytest.mark.parametrize("solver", [*CONVERGED.values(), gf.Multigrid(2), gf.ChebyshevJacobi(40)], ids=str)
def test_half_precision_stays_finite(solver: Any) -> None:
    with noisy((12, 12, 12), solver, "auto", SIDES["open top"], precision="half") as fluid:
        fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.25), position=(0.6, 0.6, 0.6)))
        close(fluid)
        start = rms(fluid.divergence.read())
        for _ in range(3):
            fluid.project()
        assert rms(fluid.divergence.read()) <= 0.05 * start
        for _ in range(5):
            fluid.step(0.02)
        assert np.isfinite(fluid.velocity.read()).all()
        assert np.abs(fluid.velocity.read()).max() < 20.0


@pytest.mark.parametrize("conjugate_first", [False, True])
def test_half_precision_takes_one_solver_after_another(conjugate_first: bool) -> None:
    """Multigrid takes the grid above its own to be in half floats, conjugate gradients in single ones."""
    solvers: list[Any] = [gf.Multigrid(20), gf.ConjugateGradient(20)]
    with noisy((12, 12, 12), solvers[conjugate_first], "auto", SIDES["open top"], precision="half") as fluid:
        start = rms(fluid.divergence.read())
        fluid.project()
        fluid.settings = fluid.settings.but(pressure=solvers[not conjugate_first])
        fluid.velocity.write(fluid.velocity.read() + np.random.default_rng(4).normal(size=(13, 13, 13, 3)))
        fluid.project()
        assert rms(fluid.divergence.read()) < 0.02 * start


@pytest.mark.parametrize(
    ("backend", "steps"), [("numpy", 10), ("auto", 30), pytest.param("numpy", 50, marks=pytest.mark.soak)]
)
@pytest.mark.parametrize(
    "solver",
    [
        gf.Jacobi(40),
        gf.ChebyshevJacobi(40),
        gf.RedBlackSOR(20),
        gf.ConjugateGradient(30, 1e-3),
        gf.Multigrid(2),
    ],
    ids=lambda s: type(s).__name__,
)
def test_a_net_inflow_makes_the_pressure_drift_nowhere(solver: Any, backend: str, steps: int) -> None:
    """Fluid is driven into a closed box and a ball swells in it: there is no solution, the mean stays 0."""
    rules = gf.Settings(pressure=solver, buoyancy=0.0, max_substeps=1)
    with gf.Fluid(gf.Grid((12, 12, 12), 0.1), SIDES["net inflow"], rules, backend) as fluid:
        ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.2), position=(0.5, 0.6, 0.6)))
        largest = []
        for n in range(steps):
            ball.position = (0.5 + 0.005 * n, 0.6, 0.6)
            ball.scale = 1.0 + 0.01 * n
            fluid.step(0.05)
            pressure, inside = fluid.pressure.read(), fluid.solid.read() > 0.5
            largest.append(np.abs(pressure).max())
            assert abs(pressure[~inside].mean()) <= 1e-5 * max(largest[-1], 1.0)
        assert max(largest[steps // 2 :]) <= 5.0 * max(largest[: steps // 2])
        assert np.isfinite(fluid.velocity.read()).all()


@pytest.mark.parametrize("solver", CONVERGED.values(), ids=CONVERGED)
def test_no_texture_is_made_after_the_first_step(solver: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with noisy((12, 12, 12), solver, "auto", SIDES["net inflow"], max_substeps=1) as fluid:
        ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.2), position=(0.6, 0.6, 0.6)))
        fluid.step(0.01)
        monkeypatch.setattr(Device, "texture", lambda *a: pytest.fail("a step makes a texture"))
        ball.position = (0.62, 0.6, 0.6)
        fluid.step(0.01)
        fluid.step(0.01)


@pytest.mark.parametrize("sweeps", [0, 1, 10, 23])
def test_jacobi_sweeps_as_often_as_asked(sweeps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with noisy((6, 5, 4), gf.Jacobi(sweeps), "numpy") as fluid:
        seen, call = [], ReferenceKernel.__call__
        monkeypatch.setattr(
            ReferenceKernel,
            "__call__",
            lambda run, **given: (seen.append(run.kernel.name), call(run, **given))[1],
        )
        fluid.project()
        assert seen.count("jacobi") == sweeps


def test_the_default_asks_for_no_pass_more() -> None:
    """In a closed box where nothing moves nothing can be out of balance: 40 sweeps and no sums."""
    with noisy((8, 8, 8), gf.Jacobi(), "numpy") as fluid:
        fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.2), position=(0.4, 0.4, 0.4)))
        fluid.project()
        backend, seen = fluid._solver.backend, []
        kernel = backend.kernel
        backend.kernel = lambda name, variant: (seen.append(name), kernel(name, variant))[1]  # type: ignore
        fluid.project()
        assert sorted(set(seen)) == ["constrain", "divergence", "jacobi", "subtract_gradient"]


# -- a user's own ------------------------------------------------------------------------------------------


class SteepestDescent:
    """A solver as a user may write one."""

    def solve(self, problem: Any) -> None:
        image = problem.field("image")
        for _ in range(400):
            residual = problem.residual()
            problem.apply(residual, image)
            across, along = problem.dot(residual, image)[0], problem.dot(residual, residual)[0]
            if problem.share(along) <= 1e-3:
                break
            problem.add(problem.pressure, residual, -along / across)


@pytest.mark.parametrize("backend", COMPUTED)
def test_a_solver_of_the_users(backend: str) -> None:
    with noisy((12, 11, 10), SteepestDescent(), backend, SIDES["open top"]) as fluid:
        close(fluid)
        start = rms(fluid.divergence.read())
        fluid.project()
        assert rms(fluid.divergence.read()) <= 1.01e-3 * start


class Meddler:
    """A solver that does something with the fluid, the first time that it is asked to solve."""

    def __init__(self) -> None:
        self.deed: Any = None
        self.said = ""

    def solve(self, problem: Any) -> None:
        deed, self.deed = self.deed, None
        if deed is not None:
            try:
                deed()
            except gf.GpufluidError as error:
                self.said = str(error)


@pytest.mark.parametrize("backend", ["numpy", "fragment"])
def test_a_solver_may_look_at_the_fluid_and_not_change_it(backend: str, tmp_path: Path) -> None:
    solver = Meddler()
    with noisy((6, 5, 4), gf.Jacobi(), backend, SIDES["open top"]) as fluid:
        fluid.save(tmp_path / "state.npz")
    with noisy((6, 5, 4), solver, backend, SIDES["open top"]) as fluid:
        deeds: dict[str, Any] = {
            "step": lambda: fluid.step(0.01),
            "advance": lambda: fluid.advance(0.01),
            "project": fluid.project,
            "finish": fluid.finish,
            "scroll": lambda: fluid.scroll((1, 0, 0)),
            "follow": lambda: fluid.follow((0.1, 0.1, 0.1)),
            "reset": fluid.reset,
            "restore": lambda: fluid.restore(tmp_path / "state.npz"),
            "settings": lambda: setattr(fluid, "settings", gf.Settings()),
            "release": fluid.release,
        }
        for name, deed in deeds.items():
            solver.deed, solver.said = deed, ""
            fluid.step(0.01)
            assert solver.said.startswith(f"Fluid.{name} cannot be called from within Fluid.step: a pressure")
        fields = fluid.velocity, fluid.density, fluid.color, fluid.pressure
        for field in fields:
            solver.deed, solver.said = partial(field.write, np.zeros(field.shape)), ""
            fluid.step(0.01)
            assert solver.said.startswith(
                f"{field.name} cannot be written from within Fluid.step: a pressure"
            )
        solver.deed = lambda: fluid.density.read()
        fluid.project()
        assert solver.deed is None
        assert fluid.time == pytest.approx(0.01 * (len(deeds) + len(fields)))


@pytest.mark.parametrize("backend", COMPUTED)
@pytest.mark.parametrize("warm", [True, False])
def test_each_projection_goes_on_from_what_the_last_left(
    backend: str, warm: bool, rng: np.random.Generator
) -> None:
    """Its pressure has been taken off: beginning with it again would bring back what it took."""
    rules = gf.Settings(pressure=gf.Jacobi(10), warm_start=warm)
    with gf.Fluid(gf.Grid((12, 11, 10), 0.1), settings=rules, backend=backend) as fluid:
        fluid.velocity.write(rng.normal(size=(11, 12, 13, 3)))
        left = []
        for _ in range(4):
            fluid.project()
            left.append(fluid.diagnostics().divergence_rms)
    assert (np.diff(left) < -0.05 * np.array(left[:-1])).all()


@pytest.mark.parametrize("backend", DRAWN)
def test_in_two_dimensions_nothing_comes_in_at_front_or_back(backend: str, rng: np.random.Generator) -> None:
    """Whatever those sides are: to the bit."""
    values, ends = rng.normal(size=(2, 13, 17, 3)), []
    for sides in (gf.Boundaries(), gf.Boundaries(back=gf.Inflow((0.0, 0.0, 1.0)), front=gf.Open())):
        with gf.Fluid(gf.Grid((16, 12, 1), 0.1), sides, backend=backend) as fluid:
            fluid.velocity.write(values)
            fluid.project()
            ends.append(fluid.velocity.read())
    np.testing.assert_array_equal(*ends)


def test_a_solver_of_a_programs_that_would_never_run_is_refused() -> None:
    """Calling a generator, or a coroutine, runs nothing of it, and the flow would never be projected."""

    class Yields:
        def solve(self, problem: Any) -> Any:
            yield problem

    class Waits:
        async def solve(self, problem: Any) -> None:
            pass

    for solver in (Yields(), Waits()):
        with pytest.raises(
            gf.GpufluidError, match=r"Settings\.pressure: solve\(problem\) of (Yields|Waits) must"
        ):
            gf.Settings(pressure=solver)  # type: ignore[arg-type]


def test_wrong_solvers_are_refused() -> None:
    for wrong in ("multigrid", gf.Jacobi, SteepestDescent, 40, None):
        with pytest.raises(gf.GpufluidError, match=r"Settings.pressure must be one of gf.Jacobi, Chebyshev"):
            gf.Settings(pressure=wrong)  # type: ignore[arg-type]
    for make, message in (
        (lambda: gf.RedBlackSOR(omega=2.0), r"RedBlackSOR.omega must be below 2, got 2"),
        (lambda: gf.RedBlackSOR(-1), r"RedBlackSOR.iterations must be a whole number >= 0, got -1"),
        (lambda: gf.Multigrid(2.5), r"Multigrid.cycles must be a whole number >= 0, got 2.5"),
        (lambda: gf.Multigrid(sweeps=0), r"Multigrid.sweeps must be a whole number >= 1, got 0"),
        (lambda: gf.ConjugateGradient(10, 0.0), r"ConjugateGradient.tolerance must be a finite number > 0"),
        (lambda: gf.ConjugateGradient(preconditioner="ssor"), r"must be one of 'multigrid', 'gauss-seidel'"),
        (lambda: gf.Jacobi(tolerance=1.5), r"Jacobi.tolerance must be below 1 .*got 1.5"),
        (lambda: gf.ChebyshevJacobi(True), r"ChebyshevJacobi.iterations must be a whole number"),
    ):
        with pytest.raises(gf.GpufluidError, match=message):
            make()


@pytest.mark.parametrize("backend", COMPUTED)
def test_steps_of_unequal_length_gather_no_speed(backend: str) -> None:
    """A blow in a short step must not come back as a stronger one in a long step, and again."""
    sides = gf.Boundaries(gf.Inflow((1.0, 0.0, 0.0)), gf.Open())
    rules = gf.Settings(buoyancy=0.0, advection="semi-lagrangian")
    with gf.Fluid(gf.Grid((24, 16, 1), 0.1), sides, rules, backend=backend) as fluid:
        for n in range(24):
            fluid.step((0.001, 0.2)[n % 2])
        assert 1.0 <= np.abs(fluid.velocity.read()).max() < 3.0


@pytest.mark.parametrize("backend", DRAWN)
def test_steps_up_to_four_times_as_long_keep_the_pressure(backend: str) -> None:
    """Air under its own weight stays at rest when the frame rate varies."""
    rules = gf.Settings(buoyancy=10.0)
    with gf.Fluid(gf.Grid((6, 8, 1), 0.1), settings=rules, backend=backend) as fluid:
        fluid.temperature.write(np.ones((1, 8, 6)))
        for _ in range(60):
            fluid.step(0.02)
        before = np.abs(fluid.velocity.read()).max()
        for dt in (0.08, 0.02, 0.05, 0.08):
            fluid.step(dt)
        assert np.abs(fluid.velocity.read()).max() <= max(4.5 * before, 1e-4)


FEW = [gf.Jacobi(1), gf.Jacobi(5), gf.Jacobi(9), gf.Jacobi(3, weight=0.95)]
FEW += [gf.RedBlackSOR(1), gf.RedBlackSOR(2), gf.RedBlackSOR(5, omega=1.9), gf.ChebyshevJacobi(1)]


def speeds_at_rest(solver: Any, backend: str, sides: gf.Boundaries, **rules: Any) -> tuple[float, float]:
    """The largest speed before and after 60 steps of a weak noise, which hardly carries itself on."""
    settings = gf.Settings(
        pressure=solver, buoyancy=0.0, advection="semi-lagrangian", trace="euler", skip_empty=False, **rules
    )
    with gf.Fluid(gf.Grid((8, 10, 12), 0.1), sides, settings, backend=backend) as fluid:
        fluid.velocity.write(np.random.default_rng(3).normal(scale=0.01, size=(13, 11, 9, 3)))
        before = float(np.abs(fluid.velocity.read()).max())
        for _ in range(60):
            fluid.step(0.01)
        return before, float(np.abs(fluid.velocity.read()).max())


@pytest.mark.parametrize("sides", ["walls", "periodic", "open top"])
@pytest.mark.parametrize("solver", FEW, ids=str)
def test_few_sweeps_from_the_last_pressure_gather_no_speed(solver: Any, sides: str) -> None:
    """Short waves that they turn over by more than a third would grow from step to step."""
    before, after = speeds_at_rest(solver, "numpy", SIDES[sides])
    assert after <= before


@pytest.mark.parametrize("solver", [gf.Jacobi(7), gf.RedBlackSOR(2)], ids=str)
@pytest.mark.parametrize("backend", ["fragment", "compute"])
def test_few_sweeps_gather_no_speed_in_textures(solver: Any, backend: str) -> None:
    before, after = speeds_at_rest(solver, backend, SIDES["periodic"], reflection=True)
    assert after <= before


def test_the_sweeps_of_before_are_left_alone() -> None:
    """From pressure 0, and where an even number of them turns nothing over, each has the weight asked for."""
    for rules, warm in ((gf.Jacobi(), True), (gf.Jacobi(5), False), (gf.Jacobi(5, weight=0.8), True)):
        assert jacobi_weights(rules, warm) == [rules.weight] * rules.iterations
    assert jacobi_weights(gf.Jacobi(3), True) == [1.0, 1.0, 0.5]
    assert jacobi_weights(gf.Jacobi(0), True) == []
    assert len(jacobi_weights(gf.Jacobi(4001, weight=1.9), True)) == 4001


def test_a_weight_that_makes_waves_grow_is_told_of() -> None:
    with pytest.warns(RuntimeWarning, match=r"Jacobi.weight is 1.5: .* up to 2 times as strong"):
        fluid = gf.Fluid(
            gf.Grid((4, 4, 4), 0.1), settings=gf.Settings(pressure=gf.Jacobi(2, 1.5)), backend="numpy"
        )
    with fluid, warnings.catch_warnings():
        warnings.simplefilter("error")
        fluid.settings = fluid.settings.but(buoyancy=0.5)
        fluid.settings = fluid.settings.but(pressure=gf.Jacobi(2))
        with pytest.raises(RuntimeWarning, match=r"Jacobi.weight is 1.2"):
            fluid.settings = fluid.settings.but(pressure=gf.Jacobi(2, 1.2))
        assert fluid.settings.pressure == gf.Jacobi(2)


def joined(solid: np.ndarray, backend: str, ctx: moderngl.Context) -> np.ndarray:
    """Bits of the cells that each of the next coarser grid stands for, [z, y, x]."""
    grid, variant = gf.Grid(solid.shape[::-1]), Variant(True)
    finest: Any = NumpyBackend(grid) if backend == "numpy" else GLBackend(grid, backend, ctx)
    openings = finest.field("openings", "pack", 1, exact=True)
    openings.write(opened(grid, variant, solid[..., None]))
    coarser = finest.coarser()
    found = coarser.field("joined", "packed", exact=True)
    coarser.kernel("join_cells", variant)(joined=found, openings=openings, finest=grid.cells, stride=2)
    return np.asarray(found.read()[..., 0])


@pytest.mark.parametrize("backend", ["numpy", "fragment", "compute"])
def test_a_coarse_cell_stands_for_what_is_joined_in_it_or_just_outside(
    backend: str, ctx: moderngl.Context
) -> None:
    """Bits 1, 2, 4, 8 are the cells x, x + 1, y + 1 and both of a slice. Solids touch at their corners."""
    solid = np.zeros((1, 12, 12))
    solid[0, 4, 5] = solid[0, 5, 4] = 1.0  # a way round through the next cells
    assert joined(solid, backend, ctx)[0, 2, 2] == 1 + 8
    solid[0, np.arange(12), 9 - np.arange(12)] = (
        1.0  # a slanted wall from side to side, two cells long beyond
    )
    assert joined(solid, backend, ctx)[0, 2, 2] == 1  # of two alone the first
    solid[0, 4, 4] = 1.0
    assert joined(solid, backend, ctx)[0, 2, 2] == 8
    solid[0, 5, 5] = 1.0
    assert joined(solid, backend, ctx)[0, 2, 2] == 0


@pytest.mark.parametrize("backend", ["fragment", "compute"])
@pytest.mark.parametrize("share", [0.35, 0.5, 0.65])
def test_cells_are_joined_as_the_reference_joins_them(
    share: float, backend: str, ctx: moderngl.Context
) -> None:
    solid = (np.random.default_rng(8).random((21, 26, 33)) < share).astype(float)
    expected = joined(solid, "numpy", ctx)
    assert len(np.unique(expected)) > 100
    np.testing.assert_array_equal(joined(solid, backend, ctx), expected)


@pytest.mark.parametrize("backend", ["fragment", "compute"])
@pytest.mark.parametrize("sides", ["closed", "periodic", "open", "mixed"])
@pytest.mark.parametrize("cells", [(64, 20, 24), (16, 24, 12), (60, 21, 13)])
def test_coarse_grids_weigh_as_the_reference_beside_few_solids(
    cells: tuple[int, int, int], sides: str, backend: str, ctx: moderngl.Context
) -> None:
    """Where nothing but fluid is round a coarse cell its weights are known, which shaders make use of."""
    around = {
        "closed": gf.Boundaries(),
        "periodic": gf.Boundaries.all(gf.Periodic()),
        "open": gf.Boundaries.all(gf.Open()),
        "mixed": gf.Boundaries(gf.Periodic(), gf.Periodic(), gf.Wall(), gf.Open(), gf.Inflow((0, 0, 1.0))),
    }[sides]
    grid, variant = gf.Grid(cells), Variant(True, boundaries=around)
    solid = np.zeros((*cells[::-1], 1))
    solid[5:8, 9:12, 6:9], solid[-1, 3, -1] = 1.0, 1.0
    solid[:, 14, 12] = 1.0
    openings = opened(grid, variant, solid)
    given: dict[str, Any] = {"finest": cells, "stride": 2, "openings": openings}
    bits = reference.join_cells(grid.coarser(), variant, **given)
    weights = reference.coarse_weights(grid.coarser(), variant, joined=bits, **given)
    finest = GLBackend(grid, backend, ctx)
    coarser = finest.coarser()
    given["openings"] = finest.field("openings", "pack", 1, exact=True)
    given["openings"].write(openings)
    known = coarser.field("joined", "packed", buffers=1, exact=True)
    found = coarser.field("weights", "weights", buffers=1, exact=True)
    coarser.kernel("join_cells", variant)(joined=known, **given)
    coarser.kernel("coarse_weights", variant)(weights=found, joined=known, **given)
    np.testing.assert_array_equal(known.read(), bits)
    for n, part in enumerate(found.parts):
        np.testing.assert_allclose(part.read()[..., 0], weights[..., n], rtol=1e-6)
    assert (weights[..., 3] == 12.0).mean() > 0.3 or cells[0] < 60 or sides == "open"


def pushed(
    cells: tuple[int, int, int], solver: Any, backend: str, way: float = 0.01
) -> Iterator[tuple[float, float]]:
    """What leaves a tube that is closed behind a piston, m/s on the mean, and the largest speed."""
    free, (n, _, deep) = gf.Wall("free"), cells
    sides = gf.Boundaries(free, gf.Open(), free, free, free, free)
    with gf.Fluid(gf.Grid(cells, 1 / n), sides, gf.Settings(**REST, pressure=solver), backend) as fluid:
        piston = fluid.obstacles.add(gf.Obstacle(gf.Box(size=(0.2, 2.0, 2.0)), (0.45, 0.5, 0.5)))
        for step in range(14):  # four cells
            piston.position = (0.45 + way * step, 0.5, 0.5)
            fluid.step(0.02)
            velocity = fluid.velocity.read()
            if step > 2:
                yield float(velocity[:deep, :-1, -1, 0].mean()), float(np.abs(velocity).max())


@pytest.mark.parametrize(
    ("cells", "backend", "way"),
    [
        ((24, 24, 1), "fragment", 0.01),
        ((33, 20, 1), "numpy", 0.01),
        ((33, 20, 1), "compute", -0.01),
        ((24, 12, 10), "numpy", -0.01),
        ((24, 12, 10), "fragment", -0.01),
    ],
)
def test_v_cycles_solve_before_a_piston_that_nothing_solves_for_behind(
    backend: str, cells: tuple[int, int, int], way: float
) -> None:
    """The tube behind it is closed: no pressure solves there. Before it all moves with it all the same."""
    for mean, largest in pushed(cells, gf.Multigrid(4), backend, way):
        assert mean == pytest.approx(way / 0.02, rel=0.02)
        assert largest < 0.9


@pytest.mark.parametrize("way", [0.01, -0.01])
@pytest.mark.parametrize(
    ("cells", "preconditioner", "backend"),
    [
        pytest.param((24, 24, 1), "multigrid", "numpy", marks=pytest.mark.soak),
        ((24, 24, 1), "multigrid", "fragment"),
        ((33, 20, 1), "multigrid", "compute"),
        ((24, 24, 1), "gauss-seidel", "numpy"),
        ((24, 24, 1), "gauss-seidel", "fragment"),
    ],
)
def test_conjugate_gradients_solve_before_such_a_piston(
    cells: tuple[int, int, int], preconditioner: str, backend: str, way: float
) -> None:
    for mean, largest in pushed(cells, gf.ConjugateGradient(preconditioner=preconditioner), backend, way):
        assert mean == pytest.approx(way / 0.02, rel=0.02)
        assert largest < 0.9


@pytest.mark.parametrize(("seed", "backend"), [(21, "fragment"), (9, "compute"), (15, "numpy")])
def test_conjugate_gradients_notice_small_rooms_without_a_solution(seed: int, backend: str) -> None:
    """Rooms of a few cells, one with an inflow and no way out: the second direction is their constants alone.

    Its curvature is rounding, and a step along it threw the air out at 1e7 m/s where it was the last.
    """
    rng, fields = np.random.default_rng(seed), []
    inflow = gf.Inflow((0.0, 0.6 * rng.uniform(-1.0, 1.0), 0.3 * rng.uniform(-1.0, 1.0)))
    sides = gf.Boundaries(top=inflow, back=gf.Periodic(), front=gf.Periodic())
    stir = rng.normal(0.0, 0.3, (5, 7, 2, 3))
    for name in ("numpy", backend):
        with gf.Fluid(gf.Grid((1, 6, 4), 0.1), sides, backend=name) as fluid:
            fluid.obstacles.add(gf.Obstacle(gf.Box(size=(0.4, 0.4, 0.8)), (0.05, 0.3, 0.2)))
            if seed % 2:
                fluid.obstacles.add(gf.Obstacle(gf.Box(size=(0.4, 0.22, 0.1)), (0.05, 0.1, 0.25)))
            for iterations in (2, 3, 100):
                fluid.reset()
                fluid.settings = gf.Settings(pressure=gf.ConjugateGradient(iterations, 1e-5))
                fluid.velocity.write(stir)
                fluid.step(0.1)
                fields.append((fluid.velocity.read(), fluid.pressure.read()))
    for (velocity, pressure), (found, pressed) in zip(fields[:3], fields[3:], strict=True):
        np.testing.assert_allclose(found, velocity, atol=1e-3)
        assert np.abs(velocity).max() < 0.7 and np.abs(pressure).max() < 10.0
        assert np.abs(pressed).max() == pytest.approx(np.abs(pressure).max(), rel=0.05)


def shut_off(cells: tuple[int, int, int], solver: Any, backend: str) -> gf.Fluid:
    """Stirred air, 0.3 m/s, on either side of a wall: on its left it comes in and cannot leave."""
    sides = gf.Boundaries(left=gf.Inflow((1.0, 0.0, 0.0)), right=gf.Open())
    settings = gf.Settings(**REST, pressure=solver)
    fluid = gf.Fluid(gf.Grid(cells, 1 / 16), sides, settings, backend)
    _, height, depth = fluid.grid.size
    wall = gf.Box(size=(0.15, 2.0 * height, 2.0 * depth))
    fluid.obstacles.add(gf.Obstacle(wall, (0.55, 0.5 * height, 0.5 * depth)))
    fluid.velocity.write(np.random.default_rng(0).normal(0.0, 0.3, fluid.velocity.read().shape))
    return fluid


@pytest.mark.parametrize("cells", [(16, 12, 1), (16, 12, 10)])
@pytest.mark.parametrize(
    ("preconditioner", "iterations", "backend"),
    [
        ("multigrid", 2, "numpy"),
        ("multigrid", 3, "fragment"),
        ("gauss-seidel", 10, "numpy"),
        ("gauss-seidel", 10, "compute"),
        ("gauss-seidel", 20, "numpy"),
    ],
)
def test_conjugate_gradients_look_at_what_the_last_iteration_left(
    preconditioner: str, iterations: int, backend: str, cells: tuple[int, int, int]
) -> None:
    """In a room without a solution it grows: that must not stay where no iteration follows.

    It threw air out at 20 m/s, from the room beside as well, whose own solution was lost with it.
    """
    with shut_off(cells, gf.ConjugateGradient(iterations, 1e-5, preconditioner), backend) as fluid:
        fluid.step(0.01)
        assert np.abs(fluid.velocity.read()).max() < 2.0
        beyond = fluid.divergence.read()[:, :, int(0.65 * cells[0]) :]
        assert rms(beyond) < 0.07 * 0.3 * math.sqrt(6.0) / fluid.grid.cell_size


def test_conjugate_gradients_end_where_what_is_left_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    """They do not wait until a direction has no curvature left, which takes a quarter more iterations."""
    sums, dot = [], pressure_problem.PressureProblem.dot
    monkeypatch.setattr(
        pressure_problem.PressureProblem, "dot", lambda *given: sums.append(dot(*given)) or sums[-1]
    )
    ends, go_on = [], relaxation.conjugate_residual
    monkeypatch.setattr(
        relaxation, "conjugate_residual", lambda *given: (ends.append(len(sums)), go_on(*given))
    )
    with shut_off((16, 12, 1), gf.ConjugateGradient(100, 1e-5, "gauss-seidel"), "numpy") as fluid:
        fluid.step(0.01)
    assert len(ends) == 1 and 20 < ends[0] < 70


@pytest.mark.parametrize("backend", DRAWN)
def test_gauss_seidel_solves_beside_a_room_without_a_solution(backend: str) -> None:
    """As far as single precision lets it. What is left in the room lies in red cells, as after V-cycles."""
    solver = gf.ConjugateGradient(preconditioner="gauss-seidel")
    with shut_off((48, 40, 1), solver, backend) as fluid:
        fluid.step(0.01)
        left = fluid.divergence.read()
        start = 0.3 * 2.0 / fluid.grid.cell_size  # rms of four faces
        assert rms(left[:, :, 11:]) < 1e-3 * start
        assert rms(left[:, :, :7]) < 1.5 * abs(left[:, :, :7].mean())
