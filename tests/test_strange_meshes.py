"""Meshes that nobody meant: bounded time and memory, and a warning or an error that says what is wrong."""

from __future__ import annotations

import re
import time
import warnings
from typing import Any

import moderngl
import numpy as np
import pytest

import gpufluid as gf
from gpufluid.description import masks, voxels
from gpufluid.description.masks import source_mask
from gpufluid.description.voxels import inside_mesh, surface_velocity
from gpufluid.gl import backend as gl_backend

GRID = gf.Grid((24, 24, 24), 1 / 24)
SMALL = gf.Grid((12, 12, 12), 1 / 12)
BACKENDS = ("numpy", "fragment")


def round_mesh(rings: int) -> gf.Mesh:
    """A closed ball, radius 0.3, in the middle of the box, of about 2 rings^2 triangles."""
    around = np.arange(rings) * (2.0 * np.pi / rings)
    up = np.arange(1, rings) * (np.pi / rings)
    ring = np.stack([np.cos(around), np.zeros(rings), np.sin(around)], -1)
    points = np.sin(up)[:, None, None] * ring + np.cos(up)[:, None, None] * np.array((0.0, -1.0, 0.0))
    i, j = np.meshgrid(np.arange(rings - 2), np.arange(rings), indexing="ij")
    a, b = i * rings + j, i * rings + (j + 1) % rings
    sides = np.stack([a, a + rings, b, b, a + rings, b + rings], -1).reshape(-1, 3)
    j, south = np.arange(rings), rings * (rings - 1)
    beside, last = (j + 1) % rings, rings * (rings - 2)
    lids = [np.stack([beside, np.full(rings, south), j], -1)]
    lids += [np.stack([last + j, np.full(rings, south + 1), last + beside], -1)]
    vertices = np.concatenate([points.reshape(-1, 3), [(0.0, -1.0, 0.0), (0.0, 1.0, 0.0)]])
    return gf.Mesh(0.5 + 0.3 * vertices, np.concatenate([sides, *lids]))


# what is tried is what becomes of a mesh: a pressure that is nearly solved does for that
RULES = gf.Settings(pressure=gf.Jacobi(4), advection="semi-lagrangian", trace="euler")


def fluid_of(backend: str, ctx: moderngl.Context, grid: gf.Grid = SMALL) -> gf.Fluid:
    return gf.Fluid(grid, settings=RULES, backend=backend, ctx=None if backend == "numpy" else ctx)


BALL = round_mesh(24)
VOLUME = 4.0 / 3.0 * np.pi * 0.3**3
flipped = BALL.triangles.copy()
flipped[::3] = flipped[::3, ::-1]
soup = np.random.default_rng(1).random((400, 3))


def crumbs(count: int, size: float) -> tuple[np.ndarray, np.ndarray]:
    """Tetrahedra of that edge all over the box: vertices and triangles."""
    places = np.random.default_rng(3).random((count, 1, 3))
    corners = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], float)
    faces = np.array([(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])
    triangles = faces + 4 * np.arange(count)[:, None, None]
    return (places + size * corners).reshape(-1, 3), triangles.reshape(-1, 3)


STRANGE = {  # vertices, triangles, and what is said of them: a warning, None, or an error
    "open": (BALL.vertices, BALL.triangles[200:], r"is not closed \(\d+ open edges\)"),
    "flipped in part": (BALL.vertices, flipped, r"is not closed \(\d+ open edges\)"),
    "inside out": (BALL.vertices, BALL.triangles[:, ::-1], None),
    "every triangle twice": (BALL.vertices, np.concatenate([BALL.triangles] * 2), None),
    "one triangle": (0.5 * np.eye(3), [(0, 1, 2)], r"is not closed \(3 open edges\)"),
    "triangles without area": (
        np.repeat(np.linspace(0.2, 0.8, 9)[:, None], 3, 1),
        [(n, n + 1, n + 2) for n in range(7)],
        "is not closed",
    ),
    "one point": (np.full((3, 3), 0.5), [(0, 1, 2), (0, 2, 1)], "and a cell 0.0833 m: it may lie between"),
    "1e-12 m across": (0.5 + 1e-12 * BALL.vertices, BALL.triangles, "m: it may lie between the cells"),
    "1e12 m across": (1e12 * (BALL.vertices - 0.5), BALL.triangles, "and the box 1 m: is its unit right"),
    "1e30 m across": (1e30 * (BALL.vertices - 0.5), BALL.triangles, "and the box 1 m: is its unit right"),
    "1e9 m away": (1e9 + BALL.vertices, BALL.triangles, "lies outside the box: it spans"),
    "in a tangle": (soup, np.arange(399).reshape(-1, 3), "is not closed"),
    "in crumbs": (
        *crumbs(300, 0.05),
        "falls into 300 pieces or more, 0.0275 m across in the mean, and a cell",
    ),
    "in boulders": (*crumbs(7, 0.4), None),
    "NaN": (np.full((3, 3), np.nan), [(0, 1, 2)], "!Mesh vertices must be finite, but vertex 0 is"),
    "infinite": (np.full((3, 3), np.inf), [(0, 1, 2)], "!Mesh vertices must be finite, but vertex 0 is"),
    "an index too far": (np.eye(3), [(0, 1, 3)], "!must name vertices 0 .. 2, but triangle 0 is"),
    "an index below 0": (np.eye(3), [(0, 1, -1)], "!must name vertices 0 .. 2, but triangle 0 is"),
    "an index past all": (np.eye(3), [(0, 1, 1 << 62)], "!must name vertices 0 .. 2, but triangle 0 is"),
    "no triangle": (np.eye(3), np.zeros((0, 3), int), "!needs at least one triangle"),
    "no vertex": (np.zeros((0, 3)), [(0, 1, 2)], "!must name vertices 0 .. -1, but triangle 0 is"),
    "one vertex thrice": (np.eye(3), [(1, 1, 1)], "!needs a triangle with three different vertices"),
}


@pytest.mark.parametrize("y", [0.0, 2.0])
def test_a_source_that_is_moved_into_the_slice_is_not_outside(y: float, recwarn: Any) -> None:
    """Its own z told that it lay outside; a solid stays where it is."""
    with gf.Fluid(gf.Grid((16, 16, 1), 1 / 16), backend="numpy") as fluid:
        ball = gf.Mesh.icosphere(2, 0.2).fitted(0.4, (0.5, 0.5, 40.0))
        fluid.emitters.add(gf.Emitter(ball, density=1.0, position=(0.0, y, 0.0)))
        assert [("lies outside" in str(w.message)) for w in recwarn.list] == [True] * (y > 0.0)
        fluid.step(0.1)
        assert fluid.density.read().any() == (y == 0.0)
        with pytest.warns(gf.MeshWarning, match="lies outside the box"):
            fluid.obstacles.add(gf.Obstacle(ball))


@pytest.mark.parametrize("name", STRANGE)
@pytest.mark.parametrize(
    ("use", "backend"),
    [("obstacle", "fragment"), ("obstacle", "numpy"), ("emitter", "numpy"), ("sheet", "numpy")],
)
def test_strange_meshes(ctx: moderngl.Context, name: str, backend: str, use: str) -> None:
    """Each is told of, steps, stays finite, and moves; what is closed is solid whichever way it faces."""
    vertices, triangles, says = STRANGE[name]
    start = time.process_time()
    if says is not None and says.startswith("!"):
        with pytest.raises(gf.GpufluidError, match=says[1:]):
            gf.Mesh(vertices, triangles)
        return
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        mesh = gf.Mesh(vertices, triangles)
        fluid = fluid_of(backend, ctx)
        if use == "obstacle":
            thing: Any = fluid.obstacles.add(gf.Obstacle(mesh))
        else:
            shape = mesh if use == "emitter" else gf.Surface(mesh)
            thing = fluid.emitters.add(gf.Emitter(shape, density=1.0, velocity=(0.0, 1.0, 0.0)))
        for n in range(2):
            fluid.step(0.02)
            thing.position = (0.01 * n, 0.0, 0.0)
    about = [str(w.message) for w in told if w.category is gf.MeshWarning]
    assert len(about) == len(told), [str(w.message) for w in told]
    assert all(message.startswith(repr(mesh)) for message in about)
    if use == "sheet" and says is not None and re.search("closed|pieces", says):
        says = None  # a sheet need not be
    if use != "obstacle" and says is not None and "between" in says:
        assert fluid.density.read().any()  # it fades over a cell
        says = None
    assert bool(about) == (says is not None)
    assert says is None or any(re.search(says, message) for message in about), about
    assert np.isfinite(fluid.density.read()).all() and np.isfinite(fluid.velocity.read()).all()
    if use == "obstacle" and name in ("inside out", "every triangle twice"):
        assert fluid.solid.read().mean() == pytest.approx(VOLUME, rel=0.15)
    fluid.release()
    assert time.process_time() - start < 30.0


def test_open_edges_are_counted() -> None:
    assert BALL.open_edges == 0 and BALL.is_closed
    assert gf.Mesh(BALL.vertices, BALL.triangles[1:]).open_edges == 3
    one = BALL.triangles.copy()
    one[0] = one[0, ::-1]
    assert gf.Mesh(BALL.vertices, one).open_edges == 6


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_mesh_that_moves_in_leaps(ctx: moderngl.Context, backend: str) -> None:
    """Its vertices go to where no number is exact, and come back."""
    fluid = fluid_of(backend, ctx)
    solid = fluid.obstacles.add(gf.Obstacle(BALL))
    for factor in (1.0, 1e6, 1e-6, 1e12, 1.0):
        solid.shape = BALL.moved(0.5 + factor * (BALL.vertices - 0.5))
        fluid.step(0.02)
        assert np.isfinite(fluid.velocity.read()).all()
        assert np.abs(fluid.velocity.read()).max() < 1e3
    assert fluid.solid.read().mean() == pytest.approx(VOLUME, rel=0.15)
    fluid.release()


# -- half a million triangles, and a million or two in the long runs ----------------------------------------


@pytest.fixture(scope="module", params=[501, *(pytest.param(n, marks=pytest.mark.soak) for n in (708, 1001))])
def many(request: pytest.FixtureRequest) -> gf.Mesh:
    rings: int = request.param
    mesh = round_mesh(rings)
    assert len(mesh.triangles) == 2 * rings * (rings - 1)
    return mesh


@pytest.mark.parametrize("backend", BACKENDS)
def test_very_many_triangles_stand_in_a_fluid(
    ctx: moderngl.Context, many: gf.Mesh, backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a software renderer NumPy finds their voxels, since each would be drawn in every slice there."""
    if backend == "fragment" and gf.Fluid(gf.Grid((4, 4, 4)), ctx=ctx)._backend.device.software:  # type: ignore[attr-defined]
        monkeypatch.setattr(gl_backend.Voxelizer, "__call__", lambda *a: pytest.fail("they were drawn"))
    start = time.process_time()
    fluid = fluid_of(backend, ctx, GRID)
    fluid.obstacles.add(gf.Obstacle(many))
    fluid.step(0.02)
    assert fluid.solid.read().mean() == pytest.approx(VOLUME, rel=0.02)
    fluid.release()
    assert time.process_time() - start < 3e-5 * len(many.triangles)


@pytest.mark.parametrize("closed", [True, False])
def test_240_000_triangles_in_loose_pieces(closed: bool) -> None:
    """Bounded time, and a warning of what is finer than the cells or not closed."""
    check_loose(60_000, closed)


@pytest.mark.soak
@pytest.mark.parametrize("closed", [True, False])
def test_a_million_triangles_in_loose_pieces(closed: bool) -> None:
    check_loose(250_000, closed)


def check_loose(pieces: int, closed: bool) -> None:
    vertices, triangles = crumbs(pieces, 0.004)
    says = f"falls into {pieces} pieces or more, 0.0022 m across in the mean, and a cell is"
    if not closed:
        triangles, says = triangles.reshape(-1, 4, 3)[::5, :2].reshape(-1, 3), f"{4 * pieces // 5} open edges"
    start = time.process_time()
    fluid = gf.Fluid(GRID, settings=RULES, backend="numpy")
    with pytest.warns(gf.MeshWarning, match=says):
        fluid.obstacles.add(gf.Obstacle(gf.Mesh(vertices, triangles)))
        fluid.step(0.02)
    assert np.isfinite(fluid.velocity.read()).all()
    fluid.release()
    assert time.process_time() - start < 2.4e-4 * pieces


@pytest.mark.parametrize("edge", ["hard", "gaussian"])
def test_very_many_triangles_emit(many: gf.Mesh, edge: str) -> None:
    start = time.process_time()
    width = None if edge == "hard" else GRID.cell_size
    mask = source_mask(GRID, many, np.eye(4), width)
    exact = source_mask(GRID, BALL, np.eye(4), width)
    assert mask.mean() == pytest.approx(exact.mean(), rel=0.05)
    assert time.process_time() - start < 4.5e-5 * len(many.triangles)


@pytest.mark.parametrize("edge", [1.0, 2.0])  # cells
@pytest.mark.parametrize("what", ["ball", "sheet", "line"])
def test_what_is_ruled_out_is_not_nearest(monkeypatch: pytest.MonkeyPatch, what: str, edge: float) -> None:
    """To the bit: triangles of all sizes, some beyond the box."""
    corners = np.random.default_rng(3).normal(0.5, 0.4, (60, 3)) * [[1.0, 0.3, 1.0]]
    sheet = gf.Surface(gf.Mesh(corners, np.arange(60).reshape(-1, 3)))
    shape = {"ball": round_mesh(8), "sheet": sheet, "line": gf.Line(corners[:9], radius=0.02)}[what]
    measured, masks_found = [0, 0], []
    to_triangle = masks._to_triangle
    for n, wide in enumerate((1e9, 0.0)):

        def counted(p: Any, *corners: Any, n: int = n) -> Any:
            measured[n] += len(p)
            return to_triangle(p, *corners)

        monkeypatch.setattr(masks, "WIDE", wide)
        monkeypatch.setattr(masks, "_to_triangle", counted)
        masks_found.append(source_mask(GRID, shape, np.eye(4), edge * GRID.cell_size))
    np.testing.assert_array_equal(*masks_found)
    if what == "ball":
        assert 0 < measured[1] < 0.8 * measured[0]


def test_many_triangles_become_few_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a soft edge the distance of each to each near cell would be taken; points stand for them."""
    fine, width = round_mesh(80), GRID.cell_size
    exact = source_mask(GRID, fine, np.eye(4), width)
    monkeypatch.setattr(masks, "MOST_PAIRS", 1_500_000)
    taken = []
    few = masks._few
    monkeypatch.setattr(masks, "_few", lambda *given: taken.append(few(*given)) or taken[-1])
    near = source_mask(GRID, fine, np.eye(4), width)
    assert 1_000 < len(taken[0]) < 0.4 * len(fine.triangles)
    # half a cell off along each axis, where the edge falls fastest, by 0.86 a width
    assert 0.0 < np.abs(near - exact).max() < 0.86 * 0.5 * np.sqrt(3.0)
    assert near.mean() == pytest.approx(exact.mean(), rel=0.03)
    monkeypatch.setattr(masks, "MOST_PAIRS", 1000)
    with pytest.raises(gf.GpufluidError, match=r"mesh of \d+ triangles is too large, or its edge too wide"):
        source_mask(GRID, fine, np.eye(4), width)


def test_large_triangles_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A soup of triangles that all cover the box: an error, not an hour; and their ways in few batches."""
    corners = np.random.default_rng(2).normal(0.5, 1.0, (3000, 3))
    triangles = np.arange(3000).reshape(-1, 3)
    monkeypatch.setattr(voxels, "MOST_PAIRS", 10_000)
    with pytest.raises(gf.GpufluidError, match=r"1000 triangles covers columns of cells \d+ times"):
        inside_mesh(GRID, gf.Mesh(corners, triangles), np.eye(4))
    whole = surface_velocity(GRID, corners - 0.1, corners, triangles[:60])
    monkeypatch.setattr(voxels, "POINTS_AT_ONCE", 3000)
    np.testing.assert_allclose(
        surface_velocity(GRID, corners - 0.1, corners, triangles[:60]), whole, rtol=1e-9
    )
    batches = list(voxels._alike(np.full(60, 10)))
    assert [(n, len(where)) for n, where in batches] == [(10, 30), (10, 30)]
