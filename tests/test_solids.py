"""Solids in a fluid: every shape's voxels, what their surfaces do, their heat, their normals."""

from __future__ import annotations

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import moderngl
import numpy as np
import pytest
from driver import within
from inside import inside_shape
from sharing import CELLS, COMPUTED, DRAWN, EVERYWHERE, by_turns

import gpufluid as gf
from gpufluid.description.periodic import place_between
from gpufluid.description.shapes import rotation_matrix
from gpufluid.gl.passes import Pass
from gpufluid.render.frame import FrameRenderer

pytestmark = pytest.mark.usefixtures("one_context")

GRID = gf.Grid((20, 18, 16), 0.05, (-0.5, 0.0, -0.4))
STILL = gf.Settings(buoyancy=0.0)
SHAPES: dict[str, Any] = {
    "sphere": gf.Sphere((0.05, 0, 0), 0.2),
    "box": gf.Box((0.05, 0, 0), (0.3, 0.2, 0.25)),
    "cylinder": gf.Cylinder((0.05, 0, 0), 0.2, 0.3),
    "capsule": gf.Capsule((-0.1, -0.1, 0), (0.15, 0.1, 0.05), 0.12),
    "plane": gf.Plane((0, -0.1, 0), (1, 2, 0.5)),
}
TURN = (0.2, -0.3, 0.4, 0.8)


def inner_velocity(fluid: gf.Fluid, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """A velocity component on the faces between two solid cells, and the places of those, metres."""
    solid, u = fluid.solid.read() > 0.5, fluid.velocity.read()
    low, high = [slice(None)] * 3, [slice(None)] * 3
    low[2 - axis], high[2 - axis] = slice(0, -1), slice(1, None)
    both = solid[tuple(low)] & solid[tuple(high)]
    cut = [slice(0, -1)] * 3
    cut[2 - axis] = slice(1, -1)
    place = 0.5 * (fluid.grid.centers()[tuple(low)] + fluid.grid.centers()[tuple(high)])
    return u[(*cut, axis)][both], place[both]


@pytest.mark.parametrize("backend", EVERYWHERE)
@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_stands_where_it_is_placed(name: str, backend: str) -> None:
    obstacle = gf.Obstacle(SHAPES[name], (0.02, 0.45, 0.01), TURN, (1.2, 0.9, 1.1))
    expected = inside_shape(GRID, obstacle.shape, obstacle.matrix)
    with gf.Fluid(GRID, settings=STILL, backend=backend) as fluid:
        fluid.obstacles.add(obstacle)
        solid = fluid.solid.read() > 0.5
    assert 100 < expected.sum() < 0.7 * expected.size
    assert np.count_nonzero(solid != expected) <= (0 if backend == "numpy" else 1)


# What a surface does


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_a_conveyor_and_a_drum_move_the_fluid_and_not_themselves(backend: str) -> None:
    with gf.Fluid(GRID, settings=STILL, backend=backend) as fluid:
        belt = fluid.obstacles.add(gf.Obstacle(gf.Plane((0, 0.16, 0)), velocity=(0.7, 0, 0)))
        fluid.step(0.02)
        before = fluid.solid.read()
        fluid.step(0.02)
        assert np.array_equal(before, fluid.solid.read())
        speed, _ = inner_velocity(fluid, 0)
        assert speed.size > 100
        np.testing.assert_allclose(speed, 0.7, rtol=1e-6)
        fluid.obstacles.remove(belt)
        center = np.array((0.0, 0.45, 0.0))
        fluid.obstacles.add(gf.Obstacle(gf.Cylinder(radius=0.25, height=0.4), center, spin=(1.0, 3.0, 0.5)))
        fluid.step(0.02)
        for axis in range(3):
            speed, place = inner_velocity(fluid, axis)
            np.testing.assert_allclose(speed, np.cross((1.0, 3.0, 0.5), place - center)[:, axis], atol=1e-5)
        assert np.array_equal(fluid.solid.read() > 0.5, inside_shape(GRID, *_placed(fluid.obstacles[0])))
        fluid.project()  # the surface moves in a bare projection, too
        speed, place = inner_velocity(fluid, 0)
        np.testing.assert_allclose(speed, np.cross((1.0, 3.0, 0.5), place - center)[:, 0], atol=1e-5)


def _placed(obstacle: gf.Obstacle) -> tuple[Any, np.ndarray]:
    return obstacle.shape, obstacle.matrix


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_own_velocity_is_added_to_the_motion(backend: str) -> None:
    with gf.Fluid(GRID, settings=STILL, backend=backend) as fluid:
        ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.2), (0, 0.4, 0), velocity=(0, 0.1, 0)))
        fluid.step(0.1)
        ball.position = (0.05, 0.42, 0)
        fluid.step(0.1)
        np.testing.assert_allclose(inner_velocity(fluid, 0)[0], 0.5, rtol=1e-4)
        np.testing.assert_allclose(inner_velocity(fluid, 1)[0], 0.3, rtol=1e-4)


@pytest.mark.parametrize(
    ("shape", "backend"),
    by_turns([gf.Sphere(radius=0.15), gf.Mesh.icosphere(2, 0.15), gf.Capsule(radius=0.05)]),
)
def test_a_solid_that_is_put_elsewhere_pushes_nothing(shape: Any, backend: str) -> None:
    with gf.Fluid(GRID, settings=STILL, backend=backend) as fluid:
        solid = fluid.obstacles.add(gf.Obstacle(shape, (-0.25, 0.5, 0), scale=0.9))
        fluid.step(0.01)
        solid.position = (30.0, 0.5, 0)  # out of the box
        fluid.step(0.01)
        assert not fluid.velocity.read().any()
        assert not fluid.solid.read().any()
        solid.position = (0.3, 0.5, 0)
        fluid.step(0.01)
        assert not fluid.velocity.read().any()
        assert fluid.solid.read().any()
        solid.position = (0.25, 0.5, 0)
        fluid.step(0.01)
        np.testing.assert_allclose(inner_velocity(fluid, 0)[0], -5.0, rtol=1e-4)


@pytest.mark.parametrize(
    ("pressure", "backend"),
    by_turns([gf.Jacobi(), gf.ChebyshevJacobi(40), gf.RedBlackSOR(20), gf.Multigrid(2)]),
)
def test_a_room_blows_no_harder_for_how_long_it_was_closed(pressure: Any, backend: str) -> None:
    """A wall blows 0.1 m/s into a room of 8 by 8 cells for sixty steps, and then its lid comes off.

    The pressure of such a room has no solution and grows from step to step: by that of all steps the air came
    out at 2 to 3 m/s. What blows in leaves through a mouth as wide; round its edges it may be twice as fast.
    """
    h = 0.1
    rules = gf.Settings(buoyancy=0.0, pressure=pressure)
    with gf.Fluid(gf.Grid((20, 20, 1), h), gf.Boundaries(top=gf.Open()), rules, backend) as fluid:

        def wall(*corners: int) -> gf.Obstacle:
            x, y, far_x, far_y = (n * h for n in corners)
            return fluid.obstacles.add(gf.Obstacle(gf.Box.from_corners((x, y, -1.0), (far_x, far_y, 1.0))))

        wall(5, 5, 6, 14).velocity = (0.1, 0.0, 0.0)
        wall(14, 5, 15, 15), wall(5, 5, 15, 6), wall(5, 14, 6, 15)
        lid = wall(6, 14, 14, 15)
        for _ in range(60):
            fluid.step(0.1)
        closed = np.abs(fluid.velocity.read()).max()
        lid.position, fastest = (50.0, 0.0, 0.0), 0.0
        for _ in range(8):
            fluid.step(0.1)
            fastest = max(fastest, float(np.abs(fluid.velocity.read()).max()))
        assert 0.1 <= closed < 0.3
        assert 0.1 <= fastest < 0.5


@pytest.mark.parametrize("goes", ["taken away", "past the side"])
@pytest.mark.parametrize("backend", EVERYWHERE)
def test_who_looks_or_saves_as_the_last_solid_goes_changes_nothing(goes: str, backend: str) -> None:
    """Who saw that it had gone kept the step from weakening the pressure that had grown behind it.

    One that was moved past the side is on its way there in the step: the cells that it comes through are not
    to be filled before.
    """
    sides, states = gf.Boundaries(left=gf.Inflow((1.0, 0.0, 0.0), density=1.0), right=gf.Open()), []
    for looks, saves in ((False, False), (True, False), (True, True)):
        with gf.Fluid(gf.Grid(CELLS, 0.1), sides, backend=backend) as fluid:
            wall = fluid.obstacles.add(gf.Obstacle(gf.Box(size=(0.2, 9.0, 9.0)), (0.5, 0.5, 0.5)))
            for _ in range(8):
                fluid.step(0.05)
            if goes == "taken away":
                fluid.obstacles.remove(wall)
            else:
                wall.position = (1.5, 0.5, 0.5)
            if looks:
                assert not fluid.solid.read().any()
            if saves:
                fluid.take_state()
            fluid.step(0.05)
            states.append((fluid.velocity.read(), fluid.density.read()))
    for state in states[1:]:
        for one, other in zip(states[0], state, strict=True):
            np.testing.assert_array_equal(one, other)


def test_a_turn_is_never_a_jump() -> None:
    with gf.Fluid(GRID, settings=STILL, backend="numpy") as fluid:
        cube = fluid.obstacles.add(gf.Obstacle(gf.Box(size=(0.4, 0.4, 0.4)), (0, 0.45, 0)))
        fluid.step(0.1)
        cube.rotation = (0.0, math.sqrt(0.5), 0.0, math.sqrt(0.5))
        fluid.step(0.1)
        assert np.abs(inner_velocity(fluid, 0)[0]).max() > 1.0


@pytest.mark.parametrize("slip", ["no", "free"])
@pytest.mark.parametrize("angle", [0.05, 0.5])
def test_a_turn_pushes_out_as_much_as_it_takes_in(angle: float, slip: str) -> None:
    """It moves a solid across itself alone, however far in a step: nothing goes through the sides."""
    sides = gf.Boundaries.all(gf.Open())
    rules = gf.Settings(buoyancy=0.0, pressure=gf.Multigrid(12), warm_start=False)
    with gf.Fluid(gf.Grid((16, 16, 1), 1 / 16), sides, rules, "numpy") as fluid:
        solid = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.2), (0.5, 0.5, 1 / 32), slip=slip))
        fluid.step(0.02)
        for n in range(1, 4):
            solid.rotation = (0.0, 0.0, math.sin(angle * n / 2), math.cos(angle * n / 2))
            fluid.step(0.02)
            u = fluid.velocity.read()[0]
            out = u[:16, 16, 0].sum() - u[:16, 0, 0].sum() + u[16, :16, 1].sum() - u[0, :16, 1].sum()
            assert abs(out) / 16 < 1e-6
        assert (np.abs(u).max() > 0.1) == (slip == "no")


def test_an_obstacle_made_anew_has_not_come_from_where_another_was() -> None:
    """Though Python may give it the other's place in memory."""
    grid, rules = gf.Grid(CELLS, 0.1, GRID.origin), STILL.but(pressure=gf.Jacobi(4))
    with gf.Fluid(grid, settings=rules, backend="numpy") as fluid:
        for n in range(20):
            fluid.obstacles.clear()
            fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.2), (0.02 * n, 0.45, 0)))
            fluid.step(0.05)
            assert not fluid.velocity.read().any()


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_no_time_in_single_precision_is_no_time(backend: str) -> None:
    with gf.Fluid(gf.Grid(CELLS, 0.1), backend=backend) as fluid:
        fluid.emitters.add(gf.Emitter(gf.Sphere((0.5, 0.3, 0.4), 0.2), density=3.0, temperature=2.0))
        fluid.step(0.02)
        before = fluid.velocity.read()
        for dt in (5e-324, 1e-44, 1e-38):
            fluid.step(dt)
            np.testing.assert_array_equal(fluid.velocity.read(), before)
        fluid.step(1e-30)
        fluid.step(0.02)
        assert np.isfinite(fluid.velocity.read()).all()


def test_a_plane_may_move_as_far_as_the_box_is_wide() -> None:
    with gf.Fluid(GRID, settings=STILL, backend="numpy") as fluid:
        piston = fluid.obstacles.add(gf.Obstacle(gf.Plane(), (0, 0.1, 0)))
        fluid.step(0.1)
        piston.position = (0, 0.3, 0)
        fluid.step(0.1)
        np.testing.assert_allclose(inner_velocity(fluid, 1)[0], 2.0, rtol=1e-9)


# Meshes that bend


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_a_mesh_that_bends_moves_the_fluid_as_its_surface_moves(backend: str) -> None:
    """A ball that grows into an egg: its surface moves by a field that is linear in place."""
    center, stretch, dt = np.array((0.0, 0.45, 0.0)), np.array((0.08, 0.02, -0.05)), 0.1
    ball = gf.Mesh.icosphere(3, 0.25)
    with gf.Fluid(GRID, settings=STILL, backend=backend) as fluid:
        solid = fluid.obstacles.add(gf.Obstacle(ball, center))
        fluid.step(dt)
        assert not fluid.velocity.read().any()
        solid.shape = ball.moved(ball.vertices * (1 + stretch))
        fluid.step(dt)
        # the cells beside the fluid: the others are of no account
        inside, moved = fluid.solid.read() > 0.5, fluid._solver.solids.solid
        assert moved is not None
        expected = inside_shape(GRID, *_placed(solid))
        assert np.count_nonzero(inside != expected) <= within(1, 8)  # eight centres lie on an edge
        speed = fluid.velocity.read()
        for axis in range(3):
            low, high = [slice(None)] * 3, [slice(None)] * 3
            low[2 - axis], high[2 - axis] = slice(0, -1), slice(1, None)
            edge = inside[tuple(low)] != inside[tuple(high)]
            cut = [slice(0, -1)] * 3
            cut[2 - axis] = slice(1, -1)
            place = 0.5 * (GRID.centers()[tuple(low)] + GRID.centers()[tuple(high)])[edge]
            exact = ((place - center) * stretch / (1 + stretch))[:, axis] / dt
            got = speed[(*cut, axis)][edge]
            assert np.abs(exact).max() > 0.03
            np.testing.assert_allclose(got, exact, atol=0.25 * np.abs(exact).max())
            assert np.corrcoef(got, exact)[0, 1] > 0.95
        fluid.step(dt)  # it stays: at rest again
        assert not inner_velocity(fluid, 0)[0].any()


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_vertices_that_move_as_a_rigid_body_are_one(backend: str) -> None:
    grids = []
    knot = gf.Mesh.trefoil(0.08, 96, 10).fitted(0.7)
    for bend in (True, False):
        with gf.Fluid(GRID, settings=STILL, backend=backend) as fluid:
            solid = fluid.obstacles.add(gf.Obstacle(knot, (0, 0.45, 0)))
            fluid.step(0.1)
            if bend:
                solid.shape = knot.moved(knot.vertices + np.array((0.01, -0.02, 0.03)))
            else:
                solid.position = (0.01, 0.43, 0.03)
            fluid.step(0.1)
            grids.append((fluid.solid.read(), fluid.velocity.read()))
    assert np.count_nonzero(grids[0][0] != grids[1][0]) <= 1
    np.testing.assert_allclose(grids[0][1], grids[1][1], atol=2e-3)


def test_bending_makes_nothing_new_and_a_jump_of_vertices_pushes_nothing(monkeypatch: Any) -> None:
    import moderngl

    ball = gf.Mesh.icosphere(2, 0.2)
    with gf.Fluid(GRID, settings=STILL, backend="fragment") as fluid:
        solid = fluid.obstacles.add(gf.Obstacle(ball, (0, 0.45, 0)))
        for n in range(2):
            solid.shape = ball.moved(ball.vertices * (1 + 0.01 * n))
            fluid.step(0.1)
        made = []
        for name in ("buffer", "vertex_array", "texture", "framebuffer", "program"):
            make = getattr(moderngl.Context, name)
            monkeypatch.setattr(
                moderngl.Context, name, lambda *a, _m=make, **k: made.append(1) or _m(*a, **k)
            )
        for n in range(2, 5):
            solid.shape = ball.moved(ball.vertices * (1 + 0.01 * n))
            fluid.step(0.1)
        assert not made
        assert fluid.velocity.read().any()
        fluid.reset()
        solid.shape = ball.moved(ball.vertices + np.array((0.0, 0.0, 50.0)))
        fluid.step(0.1)
        assert not fluid.velocity.read().any()
    with pytest.raises(ValueError, match="Mesh.moved needs 162 vertices as before, got 3"):
        ball.moved(np.zeros((3, 3)))
    with pytest.raises(ValueError, match="Mesh vertices must be finite, but vertex 0"):
        ball.moved(np.full((162, 3), np.nan))


# Heat


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_a_hot_solid_heats_the_cells_it_touches(backend: str) -> None:
    """A cell that touches two or three faces of its stairs touches sqrt(2) or sqrt(3) times as much of it."""
    with gf.Fluid(GRID, settings=STILL, backend=backend) as fluid:
        fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.2), (0, 0.45, 0), temperature=8.0, heating=4.0))
        fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.1), (0.35, 0.45, 0)))  # heats nothing
        ends = []
        for steps in (1, 4):
            fluid.reset()
            for _ in range(steps):
                fluid.step(0.1 / steps)
            ends.append(fluid.temperature.read())
        hot = inside_shape(GRID, *_placed(fluid.obstacles[0]))
        air = fluid.solid.read() < 0.5
        faces = [(np.roll(hot, 1, axis) | np.roll(hot, -1, axis)) & air for axis in range(3)]
        touched = np.sqrt(np.sum(faces, 0))
        beside = touched > 0.0
        for got in ends:
            np.testing.assert_allclose(got[beside], 8.0 * -np.expm1(-0.4 * touched[beside]), rtol=1e-4)
            assert not got[~beside].any()
        fluid.obstacles[0].temperature = None
        fluid.step(0.1)
        np.testing.assert_allclose(fluid.temperature.read(), ends[1], atol=1e-4)


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_air_between_two_hot_plates_touches_both(backend: str) -> None:
    with gf.Fluid(gf.Grid((3, 1, 1), 1.0), settings=STILL, backend=backend) as fluid:
        for x in (0.5, 2.5):
            hot = gf.Box((x, 0.5, 0.5), (1.0, 2.0, 2.0))
            fluid.obstacles.add(gf.Obstacle(hot, temperature=1.0, heating=0.3))
        fluid.step(1.0)
        assert fluid.temperature.read()[0, 0, 1] == pytest.approx(-math.expm1(-0.6), rel=1e-5)


# Normals


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_normals_point_out_of_a_ball(backend: str) -> None:
    with gf.Fluid(gf.Grid((32, 32, 32), 1 / 32), backend=backend) as fluid:
        assert not fluid.solid_normals.read().any()
        fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.35), (0.5, 0.5, 0.5)))
        normals = fluid.solid_normals.read()
        assert normals.shape == (32, 32, 32, 3)
        out = fluid.grid.centers() - 0.5
        distance = np.linalg.norm(out, axis=-1)
        near = np.abs(distance - 0.35) < 0.5 / 32
        assert not normals[np.abs(distance - 0.35) > 2 / 32].any()
        np.testing.assert_allclose(np.linalg.norm(normals[near], axis=-1), 1.0, rtol=1e-5)
        cosine = (normals * out).sum(-1)[near] / distance[near]
        assert cosine.min() > math.cos(math.radians(15))
        assert cosine.mean() > math.cos(math.radians(8))
        with pytest.raises(ValueError, match="solid_normals cannot be written"):
            fluid.solid_normals.write(normals)


@pytest.mark.parametrize("backend", DRAWN)
def test_normals_of_a_floor_are_exact_in_2d_and_3d(backend: str) -> None:
    for deep in (1, 6):
        with gf.Fluid(gf.Grid((8, 8, deep), 0.1), backend=backend) as fluid:
            fluid.obstacles.add(gf.Obstacle(gf.Plane((0, 0.3, 0))))
            normals = fluid.solid_normals.read()
            assert np.array_equal(normals[:, 2:4], np.broadcast_to((0.0, 1.0, 0.0), (deep, 2, 8, 3)))
            assert not normals[:, [0, 1, 4, 5, 6, 7]].any()


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("velocity", (0, math.nan, 0), "Obstacle.velocity must be three finite numbers"),
        ("spin", 3.0, "Obstacle.spin must be three numbers"),
        ("temperature", "hot", "Obstacle.temperature must be a number, got 'hot'"),
        ("heating", -1.0, "Obstacle.heating must be a finite number >= 0"),
    ],
)
def test_bad_surfaces_are_refused_before_the_step(field: str, value: Any, says: str) -> None:
    with gf.Fluid(GRID, backend="numpy") as fluid:
        solid = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.2), (0, 0.4, 0)))
        fluid.step(0.1)
        before = fluid.temperature.read(), fluid.time
        setattr(solid, field, value)
        with pytest.raises(ValueError, match=says):
            fluid.step(0.1)
        assert np.array_equal(before[0], fluid.temperature.read())
        assert fluid.time == before[1]


# The picture


@pytest.mark.parametrize("name", ["cylinder", "capsule"])
def test_a_shape_is_drawn_as_its_mesh_is(name: str) -> None:
    shape = SHAPES[name]
    mesh = gf.Mesh.cylinder(0.2, 0.3, 200, (0.05, 0, 0))
    if name == "capsule":
        mesh = gf.Mesh.capsule(shape.start, shape.end, shape.radius, 200)
    pictures, depths = [], []
    with gf.Fluid(GRID, backend="fragment") as fluid:
        assert fluid.ctx is not None
        frame = gf.FrameRenderer(fluid.ctx, (96, 72))
        camera = gf.Camera(target=(0, 0.4, 0), distance=1.6)
        for one in (shape, mesh, gf.Plane((0, -5, 0))):
            fluid.obstacles.clear()
            fluid.obstacles.add(gf.Obstacle(one, (0, 0.4, 0), TURN))
            fluid.step(0.01)
            frame.draw(gf.Scene(fluid, camera=camera, floor=0.0))
            pictures.append(frame.read().astype(int))
            depths.append(frame.read_depth())
        frame.release()
    shown, outline = (depth < depths[2] - 0.01 for depth in depths[:2])  # in front of the floor
    assert shown.sum() > 300
    assert np.count_nonzero(shown != outline) < 0.02 * shown.sum()
    if name == "capsule":  # the mesh of a cylinder shades its rims round, the cylinder sharp
        assert np.abs(pictures[0] - pictures[1])[shown].mean() < 2.0


SCHEMES = ["semi-lagrangian", "maccormack", "bfecc", "monotone-cubic", "finite-volume"]


@pytest.mark.parametrize(
    ("scheme", "backend"), by_turns(["semi-lagrangian", "maccormack", "bfecc", "finite-volume"])
)
def test_what_a_solid_leaves_behind_has_the_ambient_temperature(scheme: str, backend: str) -> None:
    rules = gf.Settings(advection=scheme, ambient_temperature=20.0, buoyancy=0.1)
    with gf.Fluid(GRID, settings=rules, backend=backend) as fluid:
        ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.25), (0, 0.45, 0)))
        fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.1), (0.35, 0.45, 0)))
        fluid.step(0.02)
        ball.position = (0.0, 9.0, 0.0)
        fluid.step(0.02)
        fluid_cells = fluid.solid.read() < 0.5
        np.testing.assert_allclose(fluid.temperature.read()[fluid_cells], 20.0, rtol=1e-5)
        assert np.abs(fluid.velocity.read()).max() < 1e-4


@pytest.mark.parametrize(("scheme", "backend"), by_turns(SCHEMES))
def test_even_smoke_stays_even_round_a_solid_that_moves(scheme: str, backend: str) -> None:
    """Cells that it leaves are filled by those beside them; the ones that it covers hold nothing."""
    # amounts gather where a divergence is left
    solver = gf.Multigrid(10, tolerance=1e-5) if scheme == "finite-volume" else gf.Multigrid(2)
    rules = gf.Settings(advection=scheme, buoyancy=0.0, pressure=solver)
    with gf.Fluid(GRID, settings=rules, backend=backend) as fluid:
        fluid.density.write(np.full(GRID.cells[::-1], 2.0))
        ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.15), (-0.2, 0.45, 0)))
        for n in range(12):
            ball.position = (-0.2 + 0.02 * n, 0.45, 0.0)
            fluid.step(0.02)
        solid, smoke = fluid.solid.read() > 0.5, fluid.density.read()
        assert 80 < solid.sum() < 150 and not smoke[solid].any()
        np.testing.assert_allclose(smoke[~solid], 2.0, atol=2e-5)


@contextmanager
def duct(
    rules: gf.Settings, backend: str, cells: int = 24, thickness: float = 3.0, x: float = 4.5
) -> Iterator[tuple[gf.Fluid, gf.Obstacle]]:
    """A duct that begins anew at its end, and the piston at `x` that fills it, which is known there."""
    slippery = gf.Wall("free")
    sides = gf.Boundaries(left=gf.Periodic(), right=gf.Periodic(), bottom=slippery, top=slippery)
    with gf.Fluid(gf.Grid((cells, 4, 1), 1.0), sides, rules, backend=backend) as fluid:
        box = gf.Box(size=(thickness, 9.0, 9.0))
        piston = fluid.obstacles.add(gf.Obstacle(box, (x, 2.0, 0.5), slip="free"))
        fluid.step(1e-6)
        yield fluid, piston


@pytest.mark.parametrize(("cells_a_step", "cfl"), [(1, 5.0), (2, 5.0), (3, 5.0), (3, 1.01)])
@pytest.mark.parametrize(("scheme", "backend"), by_turns(SCHEMES))
def test_a_piston_pushes_all_smoke_on(scheme: str, backend: str, cells_a_step: int, cfl: float) -> None:
    """In a duct that it fills all goes on with it, by whole cells a part of a step, before it and behind."""
    rules = gf.Settings(buoyancy=0.0, advection=scheme, ambient_temperature=2.0, cfl=cfl)
    with duct(rules, backend) as (fluid, piston):
        fields = [np.zeros(fluid.density.read().shape) for _ in range(2)]
        fields[0][..., 6:12], fields[0][..., :3] = (1.0, 0.7, 0.9, 0.2, 0.5, 0.1), (0.3, 0.6, 0.2)
        fields[1][..., 6:12], fields[1][..., :3] = (5.0, 1.0, 4.0, 2.0, 3.0, 2.0), (1.0, 4.0, 2.0)
        flow = np.zeros(fluid.velocity.read().shape)
        flow[..., 0] = 1.0
        fluid.velocity.write(flow)
        fluid.density.write(fields[0])
        fluid.temperature.write(fields[1])
        fluid.color.write(fields[0][..., None] * (1.0, 0.5, 2.0))
        for step in range(1, 4):
            piston.position = (4.5 + step * cells_a_step, 2.0, 0.5)
            fluid.step(float(cells_a_step))
        density, heat = (np.roll(field, 3 * cells_a_step, axis=2) for field in fields)
        solid = fluid.solid.read() > 0.5
        np.testing.assert_allclose(fluid.density.read(), density, atol=1e-4)
        np.testing.assert_allclose(fluid.color.read(), density[..., None] * (1.0, 0.5, 2.0), atol=2e-4)
        np.testing.assert_allclose(fluid.temperature.read(), np.where(solid, 0.0, heat), atol=5e-4)


@pytest.mark.parametrize("reflection", [False, True])
@pytest.mark.parametrize(("scheme", "backend"), by_turns(SCHEMES))
def test_a_hot_piston_heats_what_it_draws_as_what_it_pushes(
    scheme: str, backend: str, reflection: bool
) -> None:
    """The air goes with it, so both cells beside it are heated all the while."""
    rules = gf.Settings(buoyancy=0.0, advection=scheme, reflection=reflection)
    with duct(rules, backend) as (fluid, piston):
        flow = np.zeros(fluid.velocity.read().shape)
        flow[..., 0] = 1.0
        fluid.velocity.write(flow)
        piston.temperature, piston.heating = 8.0, 0.2
        for step in range(1, 5):
            piston.position = (4.5 + step, 2.0, 0.5)
            fluid.step(1.0)
        beside = fluid.temperature.read()[0, :, [6, 10]]
        np.testing.assert_allclose(beside, 8.0 * (1.0 - math.exp(-0.8)), rtol=1e-3)


@pytest.mark.parametrize(("scheme", "backend"), by_turns(SCHEMES[:-1]))
def test_smoke_between_cells_that_a_piston_came_into_counts_evenly(scheme: str, backend: str) -> None:
    """A slope of smoke goes on as it is, also by parts of cells."""
    rules = gf.Settings(buoyancy=0.0, advection=scheme)
    with duct(rules, backend) as (fluid, piston):
        smoke, flow = np.zeros(fluid.density.read().shape), np.zeros(fluid.velocity.read().shape)
        smoke[...], flow[..., 0] = np.arange(24.0), 1.4
        fluid.density.write(smoke)
        fluid.velocity.write(flow)
        piston.position = (5.9, 2.0, 0.5)
        fluid.step(1.0)
        assert (fluid.solid.read()[..., 4:7] == 1.0).all()
        got = fluid.density.read()[..., 8:20]
        np.testing.assert_allclose(got, np.broadcast_to(np.arange(8, 20) - 1.4, got.shape), atol=1e-4)


@pytest.mark.parametrize("backend", COMPUTED)
def test_nothing_burns_in_cells_that_a_solid_came_into(backend: str) -> None:
    """Fuel there is as hot as a quarter of what it was, and moves on unburnt."""
    rules = gf.Settings(buoyancy=0.0, combustion=gf.Combustion(expansion_per_burn=0.0))
    with duct(rules, backend) as (fluid, piston):
        flow = np.zeros(fluid.velocity.read().shape)
        flow[..., 0] = 2.0
        fluid.velocity.write(flow)
        fluid.fuel.write(np.ones(fluid.fuel.read().shape))
        fluid.temperature.write(np.full(fluid.fuel.read().shape, 20.0))
        piston.position = (6.5, 2.0, 0.5)
        fluid.step(1.0)
        solid, flame = fluid.solid.read() > 0.5, fluid.flame.read()
        assert solid[..., 5:8].all() and not flame[solid].any() and flame[~solid].any()


@pytest.mark.parametrize("backend", COMPUTED)
@pytest.mark.parametrize(("speed", "cfl"), [(0.7, 5.0), (1.3, 5.0), (2.2, 5.0), (0.0, 5.0), (2.2, 0.5)])
def test_no_smoke_is_seen_through_a_thin_piston(speed: float, cfl: float, backend: str) -> None:
    """What lies before it never comes out behind, also where it jumps over cells; 0: it goes to and fro."""
    rules = gf.Settings(buoyancy=0.0, pressure=gf.Multigrid(2), cfl=cfl)
    with duct(rules, backend, cells=32, thickness=1.0, x=8.5) as (fluid, piston):
        smoke, flow = np.zeros(fluid.density.read().shape), np.zeros(fluid.velocity.read().shape)
        smoke[..., 9:17], flow[..., 0] = 1.0, speed
        fluid.density.write(smoke)
        fluid.velocity.write(flow)
        for step in range(1, 9):
            way = step * speed or 3.0 * math.sin(step)
            piston.position = (8.5 + way, 2.0, 0.5)
            fluid.step(1.0)
            behind = (np.arange(32) + 0.5 - 8.5 - way + 16.0) % 32.0 - 16.0
            behind = (behind < -0.5) & (behind > -7.0)
            assert not fluid.density.read()[..., behind].any()
        assert fluid.density.read().sum() > 10.0


BALL = gf.Mesh.icosphere(2, 2.5)


def go(solid: gf.Obstacle, how: str, share: float) -> None:
    """Put a solid where it is after a share of its way."""
    if how == "moves":
        solid.position = (5.0 + 3.0 * share, 6.0 + 0.5 * share, 6.0)
    elif how == "crosses the seam":
        solid.position = ((14.5 + 3.0 * share) % 16.0, 6.0, 6.0)
    elif how == "turns and grows":
        half = 0.5 * share * math.radians(50.0)
        solid.rotation = (0.0, 0.6 * math.sin(half), 0.8 * math.sin(half), math.cos(half))
        solid.scale = 1.0 + 0.25 * share
    elif how == "bends":
        solid.shape = BALL.moved(BALL.vertices * (1.0 + 0.5 * share, 1.0, 1.0))
        solid.position = (5.0 + share, 6.0, 6.0)
    elif how == "was put there":
        solid.position = (12.5, 6.0, 6.0)
    elif how == "jumped by its vertices":
        solid.shape = BALL.moved(BALL.vertices + np.array((5.5, 5.5, 5.5)))


@pytest.mark.parametrize(
    ("how", "shape", "slip", "backend"),
    by_turns(
        [
            ("moves", gf.Sphere(radius=2.5), "free"),
            ("crosses the seam", gf.Box(size=(2.0, 5.0, 5.0)), "no"),
            ("turns and grows", gf.Box(size=(6.0, 1.3, 4.0)), "no"),
            ("bends", BALL, "no"),
            ("was put there", gf.Sphere(radius=2.0), "no"),
            ("jumped by its vertices", BALL, "no"),
        ]
    ),
)
def test_a_step_of_parts_moves_solids_as_so_many_steps(how: str, shape: Any, slip: str, backend: str) -> None:
    """Where they are on their way, about what they spin there, and what they push on; another moves too."""
    sides = gf.Boundaries(left=gf.Periodic(), right=gf.Periodic())
    numbers, ends = np.random.default_rng(3), []
    smoke, flow = numbers.random((12, 12, 16)), 0.3 * numbers.random((13, 13, 17, 3)) + 0.5
    for parts, cfl in ((1, 2.0), (2, None)):
        rules = gf.Settings(buoyancy=0.0, cfl=cfl)
        with gf.Fluid(gf.Grid((16, 12, 12), 1.0), sides, rules, backend=backend) as fluid:
            x = 14.5 if how == "crosses the seam" else 5.0
            solid = gf.Obstacle(shape, (x, 6.0, 6.0), slip=slip, spin=(0.1, -0.2, 0.3))
            fluid.obstacles.add(solid)
            other = fluid.obstacles.add(gf.Obstacle(gf.Box(size=(1.0, 2.0, 2.0)), (9.5, 2.0, 2.0)))
            fluid.step(1e-6)
            fluid.density.write(smoke)
            fluid.velocity.write(flow)
            for part in range(1, parts + 1):
                go(solid, how, part / parts)
                other.position = (9.5, 2.0 + part / parts, 2.0)
                fluid.step(2.0 / parts)
            ends.append((fluid.solid.read(), fluid.density.read(), fluid.velocity.read()))
    np.testing.assert_array_equal(ends[0][0], ends[1][0])
    for got, expected in zip(ends[0][1:], ends[1][1:], strict=True):
        np.testing.assert_allclose(got, expected, atol=2e-4)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.1, 2.0, 3.1415, math.pi])
def test_a_solid_turns_evenly_about_one_axis(angle: float) -> None:
    """Also by half a turn, where two ways are as short."""
    axis, first = np.array((0.48, -0.6, 0.64)), rotation_matrix(TURN, "first")

    def place(share: float) -> np.ndarray:
        turn = rotation_matrix((*axis * math.sin(0.5 * share * angle), math.cos(0.5 * share * angle)), "turn")
        size = (1.0 + share, 2.0, 3.0 - share)
        return gf.Obstacle(gf.Box(), (share, 2.0 * share, 1.0), turn @ first, size).matrix

    for share in (0.0, 0.25, 0.5, 0.75):
        there = place_between(place(0.0), place(1.0), share)
        if angle == math.pi and np.abs(there - place(share)).max() > 0.1:
            axis = -axis
        np.testing.assert_allclose(there, place(share), atol=1e-7)


class Onlooker:
    """A pressure solver that looks at solids, and may fail, in each part of a step."""

    def __init__(self) -> None:
        self.fluid: gf.Fluid | None = None
        self.seen: list[np.ndarray] = []
        self.fails_at = 0

    def solve(self, problem: Any) -> None:
        if self.fluid is not None:
            self.seen.append(self.fluid.solid.read().copy())
            if len(self.seen) == self.fails_at:
                raise RuntimeError("enough")
        for _ in range(10):
            problem.jacobi()


def test_who_looks_in_a_part_of_a_step_sees_solids_on_their_way() -> None:
    """And changes nothing; after a step that failed there they are seen where they are."""
    ends = []
    for fails_at in (0, 0, 2):
        solver = Onlooker()
        rules = gf.Settings(buoyancy=0.0, cfl=1.0, pressure=solver)
        with gf.Fluid(gf.Grid((16, 6, 1), 1.0), settings=rules, backend="numpy") as fluid:
            solid = fluid.obstacles.add(gf.Obstacle(gf.Box(size=(2.0, 2.0, 9.0)), (4.0, 3.0, 0.5)))
            fluid.step(1e-6)
            fluid.density.write(np.ones((1, 6, 16)))
            fluid.velocity.write(np.full((2, 7, 17, 3), (1.9, 0.0, 0.0)))
            solver.fluid, solver.fails_at = fluid if ends else None, fails_at
            solid.position = (6.0, 3.0, 0.5)
            if fails_at:
                with pytest.raises(RuntimeError, match="enough"):
                    fluid.step(1.0)
            else:
                fluid.step(1.0)
            ends.append(fluid.density.read())
            assert [np.flatnonzero(seen[0, 3]).min() for seen in solver.seen] == [4, 5][: len(solver.seen)]
            assert np.flatnonzero(fluid.solid.read()[0, 3]).tolist() == [5, 6]
    assert len(solver.seen) == 2 and np.array_equal(ends[0], ends[1])


@pytest.mark.parametrize("backend", COMPUTED)
def test_a_source_in_a_solid_that_moves_brings_nothing(backend: str) -> None:
    """Nor into cells that it has just come into, out of which the fluid before it comes."""
    with gf.Fluid(gf.Grid(CELLS, 1.0), settings=STILL, backend=backend) as fluid:
        ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=3.0), slip="free", temperature=3.0))
        source = fluid.emitters.add(
            gf.Emitter(gf.Sphere(radius=2.3), density=5.0, color=(1.0, 0.0, 0.0), edge="hard")
        )
        for step in range(8):
            ball.position = source.position = (3.2 + 0.7 * step, 0.5 * CELLS[1], 0.5 * CELLS[2])
            fluid.step(1.0)
        assert fluid.velocity.read().max() > 0.3
        assert not fluid.density.read().any() and not fluid.color.read().any()


@pytest.mark.parametrize(("limiter", "backend"), by_turns(["clamp", "revert"]))
def test_air_from_where_a_solid_was_is_not_corrected(limiter: str, backend: str) -> None:
    """MacCormack's error of air that comes from where nothing was to be found has no bounds to be held to."""
    rules = gf.Settings(solve_velocity=False, limiter=limiter, trace="euler", max_substeps=1)
    with gf.Fluid(gf.Grid((18, 4, 4), 0.1), settings=rules, backend=backend) as fluid:
        wall = fluid.obstacles.add(gf.Obstacle(gf.Box(size=(0.6, 2.0, 2.0)), (0.7, 0.2, 0.2)))  # cells 4 to 9
        smoke = np.zeros((4, 4, 18))
        smoke[..., 11] = 5.0
        fluid.density.write(smoke)
        fluid.step(0.1)
        wind = np.zeros((5, 5, 19, 3))
        wind[..., :13, 0] = 3.0  # three cells a step up to cell 12, where it stops
        fluid.velocity.write(wind)
        wall.position = (0.7, 9.0, 0.2)
        fluid.step(0.1)
        assert np.abs(fluid.density.read()[..., 11]).max() < 1e-5


@pytest.mark.parametrize("backend", COMPUTED)
def test_nothing_is_left_where_a_solid_is_whoever_looked_at_it_first(backend: str) -> None:
    """Smoke under a new wall is not seen beside it, also when the wall was looked at before the step."""
    still = gf.Settings(solve_velocity=False, advection="semi-lagrangian")
    for look in (False, True):
        with gf.Fluid(gf.Grid((9, 6, 6), 0.1), settings=still, backend=backend) as fluid:
            smoke = np.zeros((6, 6, 9))
            smoke[..., 4] = 1.0
            fluid.density.write(smoke)
            wind = np.zeros((7, 7, 10, 3))
            wind[..., 0] = 0.7
            fluid.velocity.write(wind)
            fluid.obstacles.add(gf.Obstacle(gf.Box((0.45, 0.3, 0.3), (0.1, 0.9, 0.9))))
            if look:
                assert (fluid.solid.read()[..., 4] == 1.0).all()
            fluid.step(0.1)
            assert (fluid.density.read() == 0.0).all()


@pytest.mark.parametrize("origin", [(0.0, 0.0, 0.0), (3.0, -2.0, 1.0), (0.1, 70.3, -0.7)])
@pytest.mark.parametrize("backend", EVERYWHERE)
@pytest.mark.filterwarnings("ignore:.*fills the whole box:gpufluid.ShapeWarning")  # at twice its size
def test_a_surface_through_the_middles_of_cells(backend: str, origin: tuple[float, float, float]) -> None:
    """Those cells are solid, all of them: rounding does not tell for each by itself."""
    ball = np.indices((9, 9, 9)) - 4
    counts = {
        gf.Sphere(radius=0.3): np.count_nonzero((ball**2).sum(0) <= 9),
        gf.Box(size=(0.4, 0.4, 0.4)): 5**3,
        gf.Cylinder(radius=0.3, height=0.4): 5 * np.count_nonzero((ball[1:, 0] ** 2).sum(0) <= 9),
        gf.Capsule((0.0, -0.1, 0.0), (0.0, 0.1, 0.0), 0.2): None,
        gf.Plane(): 9 * 9 * 5,
    }
    with gf.Fluid(gf.Grid((9, 9, 9), 0.1, origin), backend=backend) as fluid:
        middle = tuple(o + 0.45 for o in origin)
        for shape, count in counts.items():
            for scale in (1.0, 2.0, (2.0, 1.0, 1.0)):
                obstacle = fluid.obstacles.add(gf.Obstacle(shape, middle, scale=scale))
                solid = fluid.solid.read()
                assert count is None or scale != 1.0 or solid.sum() == count
                for axis in range(3):
                    mirrored = not isinstance(shape, gf.Plane) or axis != 1
                    assert (solid == np.flip(solid, axis)).all() == mirrored
                fluid.obstacles.remove(obstacle)


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_a_reset_leaves_solids_empty(backend: str) -> None:
    """From the next step on: until then they may be put elsewhere, as in a new fluid."""
    with gf.Fluid(gf.Grid(CELLS, 0.1), backend=backend) as fluid:
        fluid.obstacles.add(gf.Obstacle(gf.Box((0.3, 0.3, 0.3), (0.2, 0.9, 0.9))))
        fluid.color.write(np.ones((*CELLS[::-1], 3)))
        fluid.step(0.01)
        fluid.reset()
        assert (fluid._solver.scalars.read() == (0.0, 0.0, 0.0, 1.0)).all()
        fluid.step(0.01)
        solid = fluid.solid.read() > 0.5
        for store in (fluid._solver.scalars, fluid._solver.colors.field):
            values = store.read()
            assert (values[solid] == 0.0).all() and (values[~solid] == (0.0, 0.0, 0.0, 1.0)).all()


@pytest.mark.parametrize(("change", "backend"), by_turns(["taken away", "moved", "moved after it", "put in"]))
def test_a_reset_knows_the_obstacles_as_they_are(change: str, backend: str) -> None:
    """Afterwards a fluid steps as a new one does: one that was taken away, or moved, leaves no trace."""
    rules = gf.Settings(ambient_temperature=2.0)

    def made() -> gf.Fluid:
        fluid = gf.Fluid(gf.Grid(CELLS, 0.1), settings=rules, backend=backend)
        fluid.emitters.add(gf.Emitter(gf.Sphere((0.3, 0.3, 0.3), 0.25), density=5.0))
        return fluid

    ball = gf.Obstacle(gf.Sphere(radius=0.15), (0.3, 0.3, 0.3))
    with made() as fluid, made() as fresh:
        if change != "put in":
            fluid.obstacles.add(ball)
        for _ in range(2):
            fluid.step(0.02)
        if change == "taken away":
            fluid.obstacles.remove(ball)
        elif change == "moved":
            ball.position = (0.35, 0.3, 0.3)
        elif change == "put in":
            fluid.obstacles.add(ball)
        for obstacle in fluid.obstacles:
            fresh.obstacles.add(obstacle)
        fluid.reset()
        assert (fluid.temperature.read() == 2.0).all()
        if change == "moved after it":
            assert fluid.solid.read().any()
            ball.position = (0.3, 0.5, 0.3)
        for one in (fluid, fresh):
            one.step(0.02)
        for name in ("density", "temperature", "velocity"):
            np.testing.assert_array_equal(getattr(fluid, name).read(), getattr(fresh, name).read(), name)


@pytest.mark.parametrize("backend", COMPUTED)
def test_a_state_from_before_an_obstacle_came_knows_nothing_of_it(backend: str, tmp_path: Path) -> None:
    """Not of the way that one came in the last step either, once it has been taken away."""
    with gf.Fluid(gf.Grid(CELLS, 0.1), backend=backend) as fluid:
        saved = fluid.save(tmp_path / "before.npz")
        ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.15), (0.3, 0.3, 0.3)))
        fluid.step(0.02)
        ball.position = (0.35, 0.3, 0.3)
        fluid.step(0.02)
        fluid.obstacles.remove(ball)
        fluid.restore(saved)
        fluid.step(0.02)
        assert not fluid.solid.read().any() and not fluid.velocity.read().any()


def test_solids_on_their_way_are_where_they_are_after_a_reset_in_another_thread() -> None:
    """That cannot end what another thread began; what it had put somewhere on the way is put there anew."""
    rules = gf.Settings(cfl=0.2, max_substeps=4)
    with gf.Fluid(gf.Grid((24, 6, 6), 1.0), settings=rules, backend="numpy") as fluid:
        ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=2.0), (4.0, 3.0, 3.0)))
        fluid.emitters.add(gf.Emitter(gf.Sphere((18.0, 3.0, 3.0), 2.0), velocity=(3.0, 0.0, 0.0)))
        fluid.step(1.0)
        ball.position = (5.0, 3.0, 3.0)

        def begin() -> None:
            while not fluid._solver.solids.on_way:
                assert not fluid.advance(1.0, budget_ms=1e-3)

        with ThreadPoolExecutor(1) as other:
            other.submit(begin).result()
            fluid.reset()
            ball.position = (16.0, 3.0, 3.0)
            assert np.flatnonzero(fluid.solid.read()[3, 3]).tolist() == [14, 15, 16, 17]


# What pictures show of them


@pytest.mark.parametrize("backend", ["fragment", "compute"])
def test_a_picture_shows_obstacles_where_they_are_now(backend: str, ctx: moderngl.Context) -> None:
    """Put in, moved and taken away between steps, shadows and all; the next step is as without pictures."""

    def made() -> tuple[gf.Fluid, gf.Obstacle]:
        fluid = gf.Fluid(gf.Grid(CELLS, 0.1), backend=backend, ctx=ctx)
        fluid.emitters.add(gf.Emitter(gf.Sphere((0.5, 0.2, 0.5), 0.15), density=2.0, temperature=1.0))
        return fluid, gf.Obstacle(gf.Sphere(radius=0.2), position=(0.5, 0.6, 0.5))

    camera = gf.Camera((0.5, 0.5, 0.5), distance=2.5)
    frames = FrameRenderer(ctx, (96, 72))

    def picture(fluid: gf.Fluid) -> np.ndarray:
        frames.draw(gf.Scene(fluid, camera, floor=0.0))
        return frames.read().astype(float)

    def settled(place: tuple[float, float, float] | None) -> np.ndarray:
        """The picture of a fluid in which that is known."""
        with gf.Fluid(gf.Grid(CELLS, 0.1), backend=backend, ctx=ctx) as fluid:
            if place is not None:
                fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.2), position=place))
            fluid.step(1e-7)
            return picture(fluid)

    with gf.Fluid(gf.Grid(CELLS, 0.1), backend=backend, ctx=ctx) as fluid:
        empty = picture(fluid)
        ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.2), position=(0.5, 0.6, 0.5)))
        for place in ((0.5, 0.6, 0.5), (0.4, 0.5, 0.3)):
            ball.position = place
            assert np.abs(picture(fluid) - empty).max() > 60.0
            np.testing.assert_array_equal(picture(fluid), settled(place))
        fluid.obstacles.remove(ball)
        np.testing.assert_array_equal(picture(fluid), settled(None))

    states = []
    for looks in (False, True):
        fluid, ball = made()
        fluid.obstacles.add(ball)
        for n in range(4):
            fluid.step(0.02)
            ball.position = (0.5 + 0.01 * n, 0.6, 0.5)
            if looks:
                picture(fluid)
        fluid.step(0.02)
        states.append((fluid.velocity.read(), fluid.density.read()))
        fluid.release()
    for one, other in zip(*states, strict=True):
        np.testing.assert_array_equal(one, other)
    frames.release()


@pytest.mark.parametrize("backend", EVERYWHERE)
@pytest.mark.parametrize("looked", [False, True], ids=["stepped", "looked at"])
def test_the_last_solid_leaves_air_of_the_ambient_temperature(backend: str, looked: bool) -> None:
    """It left a hole at 0, which fell: the plain kernels take what was solid for air."""
    rules = gf.Settings(ambient_temperature=20.0, buoyancy=1.0)
    with gf.Fluid(gf.Grid(CELLS, 0.1), settings=rules, backend=backend) as fluid:
        fluid.density.write(np.ones(CELLS[::-1]))
        ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.2), (0.5, 0.5, 0.5)))
        fluid.step(0.02)
        was_solid = fluid.solid.read() > 0.5
        assert was_solid.any()
        fluid.obstacles.remove(ball)
        if looked:
            assert not fluid.solid.read().any()
        for _ in range(3):
            fluid.step(0.02)
            assert np.ptp(fluid.temperature.read()) < 1e-4
        assert fluid.diagnostics().max_speed < 1e-4
        assert fluid.solid_field is None, "the kernels know of no solids any more"
        density = fluid.density.read()
        np.testing.assert_allclose(density[~was_solid], 1.0, atol=1e-4)
        assert density[was_solid].min() >= 0.0 and density.max() < 1.0 + 1e-4


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_projecting_beside_a_solid_that_grew_leaves_the_mean_pressure(backend: str) -> None:
    """It rose with every call: only a step knew that a solid took room."""
    with gf.Fluid(gf.Grid(CELLS, 0.1), backend=backend) as fluid:
        ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.2), (0.5, 0.5, 0.5)))
        fluid.step(1 / 30)
        ball.scale = 1.3
        fluid.step(1 / 30)
        rms = fluid.pressure.read().std()
        for _ in range(20):
            fluid.project()
        assert abs(fluid.pressure.read().mean()) < 0.2 * max(rms, fluid.pressure.read().std())


# Beside the box

BESIDE: dict[str, gf.Obstacle] = {
    "below, up to the wall": gf.Obstacle(gf.Box(size=(2.0, 0.3, 2.0)), (0.0, -0.15, 0.0)),
    "short of the first middles": gf.Obstacle(gf.Cylinder(radius=0.3, height=1.0), (-0.78, 0.4, 0.0)),
    "free-slip and hot, past a corner": gf.Obstacle(
        gf.Sphere(radius=0.2), (0.71, 1.0, 0.5), slip="free", temperature=5.0
    ),
    "a mesh": gf.Obstacle(gf.Mesh.cylinder(0.2, 0.5), (0.0, 0.4, 0.62)),
}


@pytest.mark.filterwarnings("ignore::gpufluid.MeshWarning")
@pytest.mark.parametrize("backend", EVERYWHERE)
@pytest.mark.parametrize("name", BESIDE)
def test_a_solid_that_stands_beside_the_box_costs_nothing(name: str, backend: str, tmp_path: Path) -> None:
    """The bits are those without it, until it moves in; a box that has moved on may meet it at any time."""
    told, obstacle = [], BESIDE[name]
    assert not inside_shape(GRID, obstacle.shape, obstacle.matrix).any()
    for there in (False, True):
        with gf.Fluid(GRID, gf.Boundaries.all(gf.Open()), gf.Settings(), backend) as fluid:
            fluid.emitters.add(gf.Emitter(gf.Sphere((0.0, 0.3, 0.0), 0.2), density=1.0, temperature=1.0))
            if there:
                fluid.obstacles.add(obstacle)
            for _ in range(2):
                fluid.step(0.02)
            assert not fluid._solver.solids.present
            told.append(fluid.velocity.read())
            if there:
                fluid.save(tmp_path / "state.zip")
                fluid.scroll((1, 0, 0))
                fluid.step(0.02)
                assert fluid._solver.solids.present
    np.testing.assert_array_equal(*told)
    with gf.Fluid.load(tmp_path / "state.zip", backend=backend) as fluid:
        (one,) = fluid.obstacles
        one.position = tuple(np.add(one.position, 0.4 * (np.array((0.0, 0.4, 0.0)) - one.position)))
        fluid.step(0.02)
        solid = fluid.solid.read() > 0.5
        np.testing.assert_array_equal(solid, inside_shape(GRID, one.shape, one.matrix))
        assert solid.any()
        one.position = obstacle.position
        for _ in range(2):
            fluid.step(0.02)
        assert not fluid._solver.solids.present


@pytest.mark.parametrize("sides", ["walls", "periodic"])
def test_a_box_that_repeats_has_nothing_beside_it(sides: str) -> None:
    """An image of the solid is in it."""
    left = gf.Periodic() if sides == "periodic" else gf.Wall()
    with gf.Fluid(GRID, gf.Boundaries(left=left, right=left), STILL, "numpy") as fluid:
        fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.2), (1.5, 0.45, 0.0)))
        fluid.step(0.02)
        assert fluid._solver.solids.present == (sides == "periodic")
        assert fluid.solid.read().any() == (sides == "periodic")


def test_who_looks_does_not_take_a_solid_away_that_has_gone_past_the_side() -> None:
    with gf.Fluid(GRID, gf.Boundaries.all(gf.Open()), STILL, "numpy") as fluid:
        ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.2), (0.6, 0.45, 0.0)))
        fluid.step(0.02)
        ball.position = (0.75, 0.45, 0.0)
        fluid.step(0.02)
        closed = fluid._solver.solids.faces
        assert not fluid.solid.read().any()
        assert fluid._solver.solids.faces is closed


@pytest.mark.parametrize(("cells", "backend"), [((40, 28, 24), "fragment"), ((48, 32, 1), "compute")])
@pytest.mark.parametrize("periodic", [False, True])
def test_each_solid_is_written_where_it_is_alone(
    cells: tuple[int, int, int], backend: str, periodic: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same voxels as by passes through the whole box, which move several times as much."""
    h, middle = 1 / cells[0], cells[2] / cells[0] / 2
    around = ("left", "right", "bottom", "top") if periodic else ()
    sides = gf.Boundaries(**dict.fromkeys(around, gf.Periodic()))
    ring = gf.Mesh.torus(0.1, 0.04)
    grown = ring.moved(ring.vertices * 1.1)
    forms: list[Any] = [
        (gf.Sphere(radius=0.05), (0.2, 0.5, middle)),
        (gf.Box(size=(0.2, 0.05, 0.1)), (0.6, 0.6, middle)),
        (gf.Capsule((-0.1, 0, 0), (0.1, 0.05, 0), 0.03), (0.97, 0.02, middle)),  # over an edge, or round it
        (gf.Cylinder(radius=0.03, height=1.1), (0.5, 0.3, middle)),
        (ring, (0.3, 0.2, middle)),
        (gf.Sphere(radius=0.05), (5.0, 0.5, middle)),
    ]

    def fields(through_all: bool) -> tuple[list[np.ndarray], int]:
        with (
            gf.Fluid(gf.Grid(cells, h), sides, backend=backend) as fluid,
            monkeypatch.context() as m,
        ):
            if through_all:
                m.setattr(Pass, "within", lambda self, boxes, /, **given: self(**given))
            for shape, place in forms:
                fluid.obstacles.add(
                    gf.Obstacle(shape, place, TURN, temperature=2.0, slip="free", spin=(0.0, 0.0, 1.0))
                )
            fluid.step(0.01)
            for solid in fluid.obstacles:
                solid.position = np.add(solid.position, (0.02, 0.01, 0.0))
            next(o for o in fluid.obstacles if o.shape is ring).shape = grown
            moved = fluid.device.bytes_of(lambda: fluid.step(0.01))
            held = fluid._stepper.solver.solids._fields
            names = ("solid", "solid_velocity", "marks", "openings", "solid_faces")
            assert "add_drift" in moved or cells[2] == 1
            return [held[name].read() for name in names], sum(moved["add_obstacle"])

    (some, few), (all_of_them, many) = fields(False), fields(True)
    for one, other in zip(some, all_of_them, strict=True):
        np.testing.assert_array_equal(one, other)
    assert some[0].sum() > 50 and few < many * (0.7 if periodic else 0.3)


@pytest.mark.parametrize("backend", ["fragment", "compute"])
def test_paths_go_round_a_periodic_box_one_cell_long(backend: str) -> None:
    """As round a longer one that repeats the same cell; a path that began on its side ended there."""
    sides = gf.Boundaries(gf.Periodic(), gf.Periodic(), gf.Wall("free"), gf.Wall("free"))
    rules = gf.Settings(
        advection="semi-lagrangian", trace="euler", cfl=None, buoyancy=0.0, pressure=gf.Jacobi(0)
    )
    once = np.random.default_rng(0).normal(scale=0.6, size=(6, 8, 1, 3))
    found = []
    for cells, where in ((1, backend), (3, backend), (1, "numpy")):
        with gf.Fluid(gf.Grid((cells, 7, 5), 0.1), sides, rules, where) as fluid:
            fluid.obstacles.add(gf.Obstacle(gf.Box((0.05 * cells, 0.25, 0.35), (1.0, 0.2, 0.2))))
            fluid.velocity.write(np.repeat(once, cells + 1, 2))
            fluid.project()
            fluid.step(0.2)
            found.append(fluid.velocity.read()[:, :, 0])
    np.testing.assert_allclose(found[0], found[1], atol=2e-6)
    np.testing.assert_allclose(found[0], found[2], atol=2e-6)


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_solids_shrink_to_nothing_and_grow_without_end(backend: str) -> None:
    """Also where the square of a length in their own space is no float."""
    shapes = (gf.Sphere(radius=0.15), gf.Box(size=(0.3, 0.2, 0.3)), gf.Cylinder(radius=0.1, height=0.3))
    with gf.Fluid(gf.Grid((8, 9, 6), 0.1), backend=backend) as fluid:
        solid = fluid.obstacles.add(gf.Obstacle(shapes[0], (0.43, 0.61, 0.31)))
        for solid.shape in (*shapes, gf.Capsule((0.0, 0.0, 0.0), (0.1, 0.0, 0.0), 0.1)):
            for scale, share in ((1e-30, 0.0), (1e-38, 0.0), (1e30, 1.0), (1e20, 1.0)):
                solid.scale = scale
                fluid.voxelize()
                assert fluid.solid.read().mean() == share, (solid.shape, scale)


@pytest.mark.parametrize("backend", ["numpy", "fragment"])
@pytest.mark.parametrize("written", [False, True])
def test_a_solid_that_goes_before_any_step_leaves_nothing_to_fill(
    written: bool, backend: str, rng: np.random.Generator
) -> None:
    """Who looks at it changes no bit. Where density is written round it there is nothing: air comes in."""
    rows = rng.random((12, 14, 16))
    settings = gf.Settings(advection="monotone-cubic", ambient_temperature=0.5, buoyancy=0.0)
    seen = []
    for looks in (False, True):
        with gf.Fluid(gf.Grid((16, 14, 12), 0.1), settings=settings, backend=backend) as fluid:
            fluid.temperature.write(rows)
            ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.12), (0.8, 0.7, 0.6)))
            if looks:
                assert fluid.solid.read().any()
            if written:
                fluid.density.write(rows + 1.0)
                assert fluid.temperature.read()[6, 7, 8] == 0.0
            fluid.obstacles.remove(ball)
            fluid.step(0.1)
            seen.append([fluid.temperature.read(), fluid.density.read()])
            inside = seen[-1][0][5:7, 6:8, 7:9]
            assert written == bool((np.abs(inside - 0.5) < 1e-5).all())
    np.testing.assert_array_equal(*seen)
