"""Which cells are solid: counts known in advance, and winding numbers taken another way."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from inside import inside_shape

import gpufluid.description.voxels
from gpufluid.common.errors import GpufluidError
from gpufluid.description.grid import Grid
from gpufluid.description.mesh import Mesh
from gpufluid.description.obstacles import Obstacle
from gpufluid.description.shapes import Box, Capsule, Cylinder, Plane, Sphere
from gpufluid.description.voxels import _winding, inside_mesh, surface_velocity

# Points of the cubic lattice within n of the origin, n = 1 .. 8: https://oeis.org/A000605
BALL_COUNTS = (7, 33, 123, 257, 515, 925, 1419, 2109)
# The same in the plane: https://oeis.org/A000328
DISC_COUNTS = (5, 13, 29, 49, 81, 113, 149, 197)


def quarter_turns() -> list[np.ndarray]:
    """The 24 rotations that take the axes to axes."""
    signed = [
        np.eye(3)[list(order)] * np.array(signs)[:, None]
        for order in itertools.permutations(range(3))
        for signs in itertools.product((1, -1), repeat=3)
    ]
    return [matrix for matrix in signed if np.linalg.det(matrix) > 0]


def joined(*meshes: Mesh) -> Mesh:
    """All meshes as one."""
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
    return Mesh(
        np.concatenate([mesh.vertices for mesh in meshes]),
        np.concatenate([mesh.triangles + start for mesh, start in zip(meshes, starts, strict=False)]),
    )


def reversed_mesh(mesh: Mesh) -> Mesh:
    """The mesh inside-out."""
    return Mesh(mesh.vertices, mesh.triangles[:, ::-1])


def winding_number(points: np.ndarray, mesh: Mesh, matrix: np.ndarray) -> np.ndarray:
    """How often a mesh winds round points [n, 3]: its solid angle / 4 pi (van Oosterom & Strackee 1983)."""
    placed = mesh.vertices @ matrix[:3, :3].T + matrix[:3, 3]
    a, b, c = (placed[mesh.triangles[:, i]][None] - points[:, None] for i in range(3))
    la, lb, lc = (np.linalg.norm(v, axis=-1) for v in (a, b, c))
    ab, bc, ca = (np.sum(u * v, axis=-1) for u, v in ((a, b), (b, c), (c, a)))
    triple = np.sum(a * np.cross(b, c), axis=-1)
    angle = 2.0 * np.arctan2(triple, la * lb * lc + ab * lc + bc * la + ca * lb)
    return angle.sum(axis=1) / (4.0 * np.pi)


# Counts


@pytest.mark.parametrize("n", range(1, 9))
def test_ball_has_the_lattice_points_of_a_sphere(n: int) -> None:
    grid = Grid((19, 20, 21), 0.25, (-1.0, 2.0, 0.5))
    center = grid.centers()[9, 9, 9]
    radius = 0.25 * np.sqrt(n * n + 0.5)
    ball = inside_shape(grid, Sphere(center, radius), np.eye(4))
    assert ball.sum() == BALL_COUNTS[n - 1]
    assert inside_mesh(grid, Mesh.icosphere(4, radius, center), np.eye(4)).sum() == BALL_COUNTS[n - 1]
    placed = Obstacle(Mesh.icosphere(4), position=center, scale=radius).matrix
    np.testing.assert_array_equal(inside_mesh(grid, Mesh.icosphere(4), placed), ball)
    np.testing.assert_array_equal(inside_shape(grid, Sphere(), placed), ball)


@pytest.mark.parametrize("n", range(1, 9))
def test_disc_in_a_grid_one_cell_deep(n: int) -> None:
    grid = Grid((19, 18, 1), 1.0)
    center, radius = (9.5, 8.5, 0.5), np.sqrt(n * n + 0.5)
    assert inside_shape(grid, Sphere(center, radius), np.eye(4)).sum() == DISC_COUNTS[n - 1]
    solid = inside_mesh(grid, Mesh.icosphere(4, radius, center), np.eye(4))
    assert solid.shape == (1, 18, 19)
    assert solid.sum() == DISC_COUNTS[n - 1]


@pytest.mark.parametrize("turn", quarter_turns())
def test_box_of_whole_cells_is_exact_at_every_quarter_turn(turn: np.ndarray) -> None:
    cell = 0.125
    grid = Grid((11, 12, 13), cell, (-0.5, 0.25, 1.0))
    extent = np.abs(turn @ (3, 5, 2)).astype(int)
    first = np.array([2, 3, 4])
    expected = np.zeros((13, 12, 11), dtype=bool)
    expected[tuple(slice(f, f + e) for f, e in zip(first[::-1], extent[::-1], strict=True))] = True
    position = grid.origin + (first + 0.5 * extent) * cell
    size = (3 * cell, 5 * cell, 2 * cell)
    matrix = Obstacle(Box(), position=position, rotation=turn).matrix
    assert expected.sum() == 30
    np.testing.assert_array_equal(inside_shape(grid, Box(size=size), matrix), expected)
    np.testing.assert_array_equal(inside_shape(grid, Mesh.box(size), matrix), expected)
    scaled = Obstacle(Box(), position=position, rotation=turn, scale=size).matrix
    np.testing.assert_array_equal(inside_shape(grid, Box(), scaled), expected)
    np.testing.assert_array_equal(inside_mesh(grid, Mesh.box(), scaled), expected)


def test_shapes_off_their_local_origin() -> None:
    grid = Grid((8, 8, 8), 1.0)
    # The local point (1, 0, 0) comes to stand at (4, 6, 3) of the world.
    matrix = Obstacle(Box(), (4, 4, 3), [[0, -1, 0], [1, 0, 0], [0, 0, 1]], 2.0).matrix
    solid = inside_shape(grid, Box((1, 0, 0), (1, 2, 1)), matrix)
    expected = np.zeros((8, 8, 8), dtype=bool)
    expected[2:4, 5:7, 2:6] = True
    np.testing.assert_array_equal(solid, expected)
    ball = inside_shape(grid, Sphere((1, 0, 0), 0.5), matrix)
    np.testing.assert_array_equal(ball, inside_shape(grid, Sphere((4, 6, 3), 1.0), np.eye(4)))
    assert ball.sum() == 8


def test_scaled_sphere_is_an_ellipsoid() -> None:
    grid = Grid((20, 20, 20), 0.1, (-1, -1, -1))
    matrix = Obstacle(Sphere(), rotation=(0, 0, 0.3, 1), scale=(0.8, 0.4, 0.6)).matrix
    solid = inside_shape(grid, Sphere(), matrix)
    assert solid.sum() * 0.1**3 == pytest.approx(4 / 3 * np.pi * 0.8 * 0.4 * 0.6, rel=0.03)
    ball = inside_mesh(grid, Mesh.icosphere(5), matrix)
    assert np.count_nonzero(ball != solid) <= 4


@pytest.mark.parametrize("n", range(1, 9))
@pytest.mark.parametrize("turn", quarter_turns()[::5])
def test_cylinder_is_discs_and_capsule_a_stretched_ball(n: int, turn: np.ndarray) -> None:
    """Lattice points of a disc times the layers; a capsule has a ball's and discs between its halves."""
    grid = Grid((25, 25, 25), 0.25)
    middle = grid.centers()[12, 12, 12]
    radius = 0.25 * np.sqrt(n * n + 0.5)
    can = Obstacle(Cylinder(radius=radius, height=0.25 * 6.5), middle, turn).matrix
    assert inside_shape(grid, Cylinder(radius=radius, height=0.25 * 6.5), can).sum() == 7 * DISC_COUNTS[n - 1]
    capsule = Capsule((0, -0.5, 0), (0, 0.25, 0), radius)
    solid = inside_shape(grid, capsule, Obstacle(capsule, middle, turn).matrix)
    assert solid.sum() == BALL_COUNTS[n - 1] + 3 * DISC_COUNTS[n - 1]
    along = Capsule(middle - 0.5 * turn[:, 1], middle + 0.25 * turn[:, 1], radius)
    np.testing.assert_array_equal(inside_shape(grid, along, np.eye(4)), solid)


@pytest.mark.parametrize("seed", range(4))
def test_turned_and_scaled_shapes_against_their_meshes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    grid = Grid((22, 23, 21), 0.1, (-1.1, -1.15, -1.05))
    pairs = [
        (Cylinder((0.1, 0, 0), 0.5, 1.2), Mesh.cylinder(0.5, 1.2, 400, (0.1, 0, 0))),
        (
            Capsule((0.3, -0.4, 0.1), (-0.2, 0.3, 0), 0.4),
            Mesh.capsule((0.3, -0.4, 0.1), (-0.2, 0.3, 0), 0.4, 200),
        ),
    ]
    for shape, mesh in pairs:
        matrix = Obstacle(shape, rng.uniform(-0.1, 0.1, 3), rng.normal(size=4), (1.2, 0.8, 1.1)).matrix
        solid = inside_shape(grid, shape, matrix)
        assert solid.sum() > 400
        assert np.count_nonzero(inside_mesh(grid, mesh, matrix) != solid) <= 3


def test_plane_is_solid_below() -> None:
    grid = Grid((6, 8, 4), 0.5, (1.0, -2.0, 0.0))
    solid = inside_shape(grid, Plane((0, 0.1, 0)), np.eye(4))
    assert solid[:, :4].all() and not solid[:, 4:].any()
    tilted = Plane((2.5, 0, 0), (-2, 1, 0))
    x, y, _ = np.moveaxis(grid.centers(), -1, 0)
    np.testing.assert_array_equal(inside_shape(grid, tilted, np.eye(4)), -2 * (x - 2.5) + y <= 0)
    over = Obstacle(Plane(), (0, 0.1, 0), (1, 0, 0, 0)).matrix  # half a turn: solid above
    np.testing.assert_array_equal(inside_shape(grid, Plane(), over), ~solid)


# The mesh path against winding numbers taken by solid angles


@pytest.mark.parametrize("seed", range(3))
def test_knot_agrees_with_its_solid_angle(seed: int) -> None:
    rng = np.random.default_rng(seed)
    grid = Grid((14, 13, 11), 0.09, (-0.6, -0.55, -0.5))
    knot = Mesh.trefoil(0.085, segments=48, sides=8)
    matrix = Obstacle(knot, rng.uniform(-0.05, 0.05, 3), rng.normal(size=4), (1.2, 0.9, 1.1)).matrix
    winding = winding_number(grid.centers().reshape(-1, 3), knot, matrix).reshape(11, 13, 14)
    solid = inside_mesh(grid, knot, matrix)
    assert solid.any()
    np.testing.assert_array_equal(solid, np.abs(winding) > 0.5)


def test_knot_fills_its_volume() -> None:
    grid = Grid((64, 64, 64), 1 / 64, (-0.5, -0.5, -0.5))
    knot = Mesh.trefoil()
    assert inside_mesh(grid, knot, np.eye(4)).mean() == pytest.approx(knot.volume, rel=5e-3)


def test_overlap_is_solid_and_a_reversed_part_is_a_hole() -> None:
    grid = Grid((10, 10, 10), 1.0)
    big, small = Mesh.box((6, 6, 6), (5, 5, 5)), Mesh.box((2, 2, 2), (5, 5, 5))
    aside = Mesh.box((4, 4, 4), (8, 5, 5))

    def count(*meshes: Mesh) -> int:
        return int(inside_mesh(grid, joined(*meshes), np.eye(4)).sum())

    assert count(big) == count(reversed_mesh(big)) == count(big, small) == 216
    assert count(big, reversed_mesh(small)) == 208
    assert count(big, aside) == 216 + 64 - 32
    assert count(big, reversed_mesh(big)) == 0


# Columns that meet edges and vertices


def test_mesh_faces_on_cell_centres_count_on_the_low_side_only() -> None:
    grid = Grid((8, 8, 8), 1.0)
    box = Mesh.box((4, 4, 4), (3.5, 3.5, 3.5))
    expected = np.zeros((8, 8, 8), dtype=bool)
    expected[1:5, 1:5, 1:5] = True
    np.testing.assert_array_equal(inside_mesh(grid, box, np.eye(4)), expected)
    # The analytic box has both its faces.
    assert inside_shape(grid, Box((3.5, 3.5, 3.5), (4, 4, 4)), np.eye(4)).sum() == 125


def test_boxes_side_by_side_share_no_cell_and_leave_no_gap() -> None:
    grid = Grid((8, 8, 8), 1.0)
    parts = [Mesh.box((2, 3, 2), (1.5 + 2 * i, 2 + 3 * j, 1.5 + 2 * k)) for k, j, i in np.ndindex(3, 2, 3)]
    times = sum(inside_mesh(grid, part, np.eye(4)).astype(int) for part in parts)
    expected = np.zeros((8, 8, 8), dtype=int)
    expected[:6, :6, :6] = 1
    np.testing.assert_array_equal(times, expected)


@pytest.mark.parametrize("seed", range(4))
def test_nothing_leaks_where_every_vertex_stands_on_a_column(seed: int) -> None:
    # Snapped to the columns, edges run through columns and many triangles stand upright.
    rng = np.random.default_rng(seed)
    grid = Grid((24, 24, 24), 1.0)
    points = Mesh.torus(segments=30, sides=12).fitted(16.0).vertices
    turned = points @ Obstacle(Sphere(), rotation=rng.normal(size=4)).matrix[:3, :3].T + 12.0
    turned[:, :2] = np.floor(turned[:, :2]) + 0.5
    turned[:, 2] = turned[:, 2] / 4.0 + 12.0
    snapped = Mesh(turned, Mesh.torus(segments=30, sides=12).triangles)
    assert snapped.is_closed
    # A box in the lowest layer stretches the bounding box, so that the leaks would be seen.
    solid = inside_mesh(grid, joined(snapped, Mesh.box((1, 1, 1), (0.5, 0.5, 0.5))), np.eye(4))
    low, high = snapped.bounds
    assert solid[0, 0, 0] and solid[0].sum() == 1
    assert solid[1 : int(low[2] - 0.5)].sum() == 0
    assert solid[int(high[2] + 1) :].sum() == 0
    assert solid.sum() > 50


def test_rounding_moves_no_triangle_past_its_own_bounding_box() -> None:
    # One step of the last digit below a corner, where interpolating along an edge overshoots its end.
    rng = np.random.default_rng(0)
    points = rng.normal(size=(40_000, 3, 3))
    rows = np.arange(len(points))
    for pick, beyond in ((np.argmax, 0.0), (np.argmin, -np.inf)):
        corner = points[rows, pick(points[:, :, 0], axis=1)]
        x = corner[:, 0] if beyond == 0.0 else np.nextafter(corner[:, 0], beyond)
        assert not _winding(points, x, np.nextafter(corner[:, 1], -np.inf)).any()


# Open meshes, the edge of the grid, batches


def test_solid_of_an_open_mesh_stays_in_its_bounding_box() -> None:
    grid = Grid((12, 12, 12), 1.0)
    ball = Mesh.icosphere(3, 3.3, (6, 6, 6))
    lowest = ball.vertices[ball.triangles].mean(axis=1)[:, 2] < 4.5
    bowl = Mesh(ball.vertices, ball.triangles[~lowest])
    assert ball.is_closed and not bowl.is_closed
    solid = inside_mesh(grid, bowl, np.eye(4))
    low, high = bowl.bounds
    within = ((grid.centers() >= low) & (grid.centers() <= high)).all(axis=-1)
    assert solid.any()
    assert not (solid & ~within).any()
    np.testing.assert_array_equal(solid[6:], inside_mesh(grid, ball, np.eye(4))[6:])


def test_part_outside_the_grid_is_cut_off() -> None:
    wide, narrow = Grid((16, 16, 16), 1.0), Grid((6, 7, 5), 1.0, (5, 4, 6))
    knot = Mesh.trefoil().fitted(15.0, (8, 8, 8))
    whole = inside_mesh(wide, knot, np.eye(4))
    np.testing.assert_array_equal(inside_mesh(narrow, knot, np.eye(4)), whole[6:11, 4:11, 5:11])
    assert inside_mesh(narrow, knot, np.eye(4)).any()
    away = Obstacle(knot, position=(100, 0, 0)).matrix
    assert not inside_mesh(wide, knot, away).any()
    assert not inside_shape(wide, Sphere(), away).any()
    speck = Mesh.icosphere(1, 0.1, (8, 8, 8))
    assert not inside_mesh(wide, speck, np.eye(4)).any()


def test_batches_change_nothing(monkeypatch) -> None:
    grid = Grid((40, 40, 40), 1 / 40, (-0.5, -0.5, -0.5))
    knot = Mesh.trefoil()
    whole = inside_mesh(grid, knot, np.eye(4))
    monkeypatch.setattr(gpufluid.description.voxels, "PAIRS_AT_ONCE", 100)
    np.testing.assert_array_equal(inside_mesh(grid, knot, np.eye(4)), whole)


# How a surface moves


def test_a_cell_has_the_weighted_mean_of_the_surface_round_it() -> None:
    """Two small triangles a quarter and half a cell from the centre of a cell, one twice the other."""
    grid, size = Grid((5, 5, 5), 2.0), 0.01
    corner = np.array([(0, 0, 0), (size, 0, 0), (0, size, 0)]) - size / 3 * np.array((1, 1, 0))
    double = corner * np.sqrt(2.0)
    before = np.concatenate([corner + np.array((5.5, 5, 5)), double + np.array((4, 5, 5))])
    ways = np.repeat([(1.0, 0.0, 2.0), (4.0, 3.0, 0.0)], 3, axis=0)
    got = surface_velocity(grid, before - ways, before, np.arange(6, dtype=np.int32).reshape(2, 3))
    near, far = 0.75 * 1.0, 0.5 * 2.0
    expected = (near * ways[0] + far * ways[5]) / (near + far)
    np.testing.assert_allclose(got[2, 2, 2], (*expected, 1.0), rtol=1e-6)
    np.testing.assert_allclose(got[2, 2, 3], (*ways[0], 1.0), rtol=1e-6)
    np.testing.assert_allclose(got[2, 2, 1], (*ways[5], 1.0), rtol=1e-6)
    assert not got[2, 2, [0, 4]].any() and not got[0].any()


@pytest.mark.parametrize("size", [0.02, 0.3])
def test_every_solid_cell_beside_fluid_has_a_velocity(size: float) -> None:
    grid = Grid((24, 22, 20), size)
    mesh = Mesh.trefoil(0.085).fitted(18 * size, (12 * size, 11 * size, 10 * size))
    solid = inside_mesh(grid, mesh, np.eye(4))
    got = surface_velocity(grid, mesh.vertices - 1.0, mesh.vertices, mesh.triangles)
    inner = solid.copy()
    for axis in range(3):
        inner &= np.roll(solid, 1, axis) & np.roll(solid, -1, axis)
    skin = solid & ~inner
    assert skin.sum() > 300
    np.testing.assert_allclose(got[skin], 1.0, rtol=1e-9)


# Bad input


@pytest.mark.parametrize(
    "matrix", [np.eye(3), np.full((4, 4), np.nan), "turned", np.eye(4) * 2.0, [[1, 2], [3]]]
)
def test_bad_matrix_is_named(matrix) -> None:
    with pytest.raises(GpufluidError, match=r"matrix must be finite, \[4, 4\]"):
        inside_mesh(Grid((4, 4, 4)), Mesh.box(), matrix)
