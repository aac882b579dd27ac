"""A box that moves on over its fluid by whole cells: what stays in it, what comes in, and who must follow."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import moderngl
import numpy as np
import pytest
from sharing import COMPUTED, DRAWN, EVERYWHERE

import gpufluid as gf
from gpufluid.app import pick
from gpufluid.scene.saving import save_description

pytestmark = pytest.mark.usefixtures("one_context")

OPEN = gf.Boundaries.all(gf.Open())
FLOOR = gf.Boundaries(gf.Open(), gf.Open(), gf.Wall(), gf.Open(), gf.Open(), gf.Open())
GRID = gf.Grid((14, 11, 9), 0.1, origin=(-0.5, 0.2, 0.3))
DUCT = gf.Grid((16, 12, 12), 0.1)
SHIFT = (3, -2, 1)


# what a test marks as `DRAWN` or `COMPUTED` goes without the other stage
drawn, computed = (pytest.mark.parametrize("where", names, indirect=True) for names in (DRAWN, COMPUTED))


@pytest.fixture(params=EVERYWHERE)
def where(request: pytest.FixtureRequest, ctx: moderngl.Context) -> dict[str, Any]:
    """What a fluid is made with for each backend, in the context that the suite shares."""
    return {"backend": request.param, "ctx": None if request.param == "numpy" else ctx}


def random_fluid(where: dict[str, Any], sides: gf.Boundaries = OPEN) -> gf.Fluid:
    """A fluid that holds random numbers in all its fields, one that burns."""
    rng = np.random.default_rng(5)
    rules = gf.Settings(combustion=gf.Combustion(), ambient_temperature=0.3, buoyancy=1.0)
    fluid = gf.Fluid(GRID, sides, rules, **where)
    nx, ny, nz = GRID.cells
    for name in ("density", "temperature", "fuel", "pressure"):
        getattr(fluid, name).write(rng.random((nz, ny, nx)))
    fluid.color.write(rng.random((nz, ny, nx, 3)))
    fluid.velocity.write(rng.normal(size=(nz + 1, ny + 1, nx + 1, 3)))
    fluid._solver.fire.flame.write(rng.random((nz, ny, nx, 1)))
    fluid._solver.project(1.0, [])  # what is no face is 0 from now on
    return fluid


NAMES = ("density", "temperature", "fuel", "color", "flame", "pressure", "velocity")


def fields(fluid: gf.Fluid) -> dict[str, np.ndarray]:
    return {name: getattr(fluid, name).read() for name in NAMES}


def overlap(array: np.ndarray, shift: tuple[int, int, int], late: bool) -> np.ndarray:
    """The part of `array` [z, y, x, ...] that two boxes share, in the later or the earlier box."""
    index = []
    for n, length in zip(shift[::-1], array.shape, strict=False):
        low, high = (-n, length - n) if late else (n, length + n)
        index.append(slice(max(low, 0), min(high, length)))
    return array[tuple(index)]


def check_inside(
    before: dict[str, np.ndarray], after: dict[str, np.ndarray], shift: tuple[int, int, int]
) -> None:
    for name in NAMES:
        then, now = before[name], after[name]
        if name != "velocity":
            np.testing.assert_array_equal(overlap(then, shift, False), overlap(now, shift, True), name)
            continue
        for axis in range(3):  # each component has one face more along its own axis
            cut = tuple(slice(None, n - (2 - axis != a)) for a, n in enumerate(then.shape[:3]))
            np.testing.assert_array_equal(
                overlap(then[cut][..., axis], shift, False), overlap(now[cut][..., axis], shift, True)
            )


@pytest.mark.parametrize("shift", [SHIFT, (-1, 0, 0), (0, 0, -8), (0, 10, 0)])
def test_what_stays_is_equal_to_the_bit(where: dict[str, Any], shift: tuple[int, int, int]) -> None:
    with random_fluid(where) as fluid:
        before = fields(fluid)
        fluid.scroll(shift)
        check_inside(before, fields(fluid), shift)
        np.testing.assert_allclose(fluid.grid.origin, np.array(GRID.origin) + 0.1 * np.array(shift))
        assert fluid.scrolled == shift and fluid.made == GRID
        # there and back: the grid is the same to the bit, and so is what was in both boxes
        fluid.scroll(tuple(-n for n in shift))
        assert fluid.grid == GRID
        after = fields(fluid)
        for name in NAMES[:-1]:
            stayed = overlap(after[name], shift, False)
            np.testing.assert_array_equal(stayed, overlap(before[name], shift, False), name)
            assert not np.array_equal(after[name], before[name]), "what was let go is not remembered"


@drawn
def test_what_comes_in_is_what_the_sides_bring(where: dict[str, Any]) -> None:
    wind = gf.Inflow((2.0, 0.5, 0.0), density=0.7, temperature=4.0)
    sides = gf.Boundaries(wind, gf.Open(), gf.Open(), gf.Open(), gf.Open(), gf.Open())
    with random_fluid(where, sides) as fluid:
        fluid.scroll((-2, 0, 0))  # from the inflow
        assert (fluid.density.read()[..., :2] == np.float32(0.7)).all()
        assert (fluid.temperature.read()[..., :2] == 4.0).all()
        u = fluid.velocity.read()
        assert (u[:-1, :-1, :2, 0] == 2.0).all() and (u[:-1, :, :2, 1] == 0.5).all()
    with random_fluid(where, sides) as fluid:  # not into a solid that stands there
        fluid.obstacles.add(gf.Obstacle(gf.Box(size=(0.3, 0.4, 0.4)), (-0.6, 0.7, 0.7)))
        fluid.step(1e-4)
        fluid.scroll((-2, 0, 0))
        solid = fluid.solid.read() > 0.5
        assert 30 < solid.sum() < 60 and not fluid.density.read()[solid].any()
    with random_fluid(where, sides) as fluid:
        fluid.scroll((3, 0, 0))  # from the open side opposite: the wind blows there too
        assert not fluid.density.read()[..., -3:].any() and not fluid.color.read()[..., -3:, :].any()
        assert (fluid.temperature.read()[..., -3:] == np.float32(0.3)).all()
        assert not fluid.fuel.read()[..., -3:].any() and not fluid.flame.read()[..., -3:].any()
        assert not fluid.pressure.read()[..., -3:].any()
        u = fluid.velocity.read()
        assert (u[:-1, :-1, -3:, 0] == 2.0).all() and (u[:-1, :, -4:-1, 1] == 0.5).all()
    with random_fluid(where, sides) as fluid:
        fluid.scroll((0, 0, 2))  # air at rest
        assert not fluid.density.read()[-2:].any() and not fluid.velocity.read()[-2:, ..., 2].any()


@computed
def test_a_jump_of_a_whole_box_leaves_nothing(where: dict[str, Any]) -> None:
    with random_fluid(where) as fluid:
        fluid.scroll((2**40, 0, 0))
        after = fields(fluid)
        assert (after.pop("temperature") == np.float32(0.3)).all()
        assert not any(values.any() for values in after.values())
        fluid.step(0.02)
        assert np.isfinite(fluid.velocity.read()).all()


def test_smoke_is_not_lost() -> None:
    """Smoke in the middle of the box keeps its sum while the box runs to and fro over it."""
    with gf.Fluid(gf.Grid((24, 16, 16), 0.1), OPEN, backend="numpy") as fluid:
        smoke = np.zeros((16, 16, 24))
        smoke[6:10, 6:10, 10:14] = np.random.default_rng(3).random((4, 4, 4))
        fluid.density.write(smoke)
        for shift in ((7, 0, 0), (0, 5, -5), (-12, 0, 0), (5, -10, 9)):
            fluid.scroll(shift)
            assert fluid.density.read().sum() == pytest.approx(smoke.sum(), rel=1e-6)


@computed
def test_along_a_periodic_axis_it_goes_round(where: dict[str, Any]) -> None:
    sides = gf.Boundaries.all(gf.Periodic())
    with random_fluid(where, sides) as fluid:
        before = fields(fluid)
        fluid.scroll((33, -2, -40))
        for name in NAMES[:-1]:
            np.testing.assert_array_equal(
                fields(fluid)[name], np.roll(before[name], (40, 2, -33), (0, 1, 2)), name
            )
        u = before["velocity"][:-1, :-1, :-1]
        after = fluid.velocity.read()
        np.testing.assert_array_equal(after[:-1, :-1, :-1], np.roll(u, (40, 2, -33), (0, 1, 2)))
        for axis in range(3):  # the high side is the low side
            line = np.moveaxis(after[..., axis], 2 - axis, 0)
            np.testing.assert_array_equal(line[0], line[-1])


def swaying(place: np.ndarray, time: float) -> np.ndarray:
    """A force that repeats with the box, m/s^2."""
    x, y, _ = np.moveaxis(place, -1, 0)
    return np.stack([np.sin(2 * np.pi * y / 1.6), np.cos(2 * np.pi * x / 1.6), 0.0 * x], -1)


@pytest.mark.parametrize("solver", [gf.Jacobi(30), gf.FFT()])
def test_a_flow_does_not_feel_that_its_box_moved(solver: Any) -> None:
    """A periodic box with all there is in it: moved each step it flows as unmoved, in its own places."""
    flows = []
    for moved in (False, True):
        rules = gf.Settings(pressure=solver, vorticity_confinement=0.4, viscosity=1e-3)
        fluid = gf.Fluid(gf.Grid((16, 16, 8), 0.1), gf.Boundaries.all(gf.Periodic()), rules, backend="numpy")
        hard: Any = {"edge": "hard", "noise": 0.8, "noise_size": 0.15}  # an edge would not go round
        fluid.emitters.add(gf.Emitter(gf.Sphere((0.75, 0.6, 0.4), 0.15), 4.0, 1.0, **hard))
        line = gf.Line([(0.6, 0.5, 0.3), (0.9, 0.6, 0.5)], 0.06)
        fluid.emitters.add(gf.Emitter(line, 2.0, color=(1.0, 0.2, 0.0), **hard))
        fluid.forces.add(gf.ForceExpression("vec3(0)", swaying))
        for n in range(6):
            if moved:
                fluid.scroll(((1, 0, 1), (-1, 1, 0), (1, -1, -1))[n % 3])
            fluid.step(0.04)
        if moved:
            assert fluid.scrolled == (2, 0, 0)
            fluid.scroll((-2, 0, 0))
        flows.append(fields(fluid))
        fluid.release()
    still, moved = flows
    assert still["density"].max() > 0.1 and np.abs(still["velocity"]).max() > 0.1
    for name in NAMES:
        scale = max(np.abs(still[name]).max(), 1e-9)
        np.testing.assert_allclose(moved[name], still[name], rtol=0, atol=2e-6 * scale, err_msg=name)


@drawn
def test_solids_and_sources_stay_in_the_world(where: dict[str, Any]) -> None:
    """An obstacle is voxelized where it then is, and what flows at a place in the world is the same."""
    with random_fluid(where) as fluid:
        ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.21), (0.25, 0.73, 0.76)))
        standing = fluid.obstacles.add(gf.Obstacle(gf.Mesh.icosphere(2, 0.13), (0.6, 1.1, 0.8)))
        lamp = fluid.emitters.add(
            gf.Emitter(gf.Mesh.icosphere(2, 0.15), density=9.0, position=(0.45, 0.6, 0.9))
        )
        fluid.step(0.01)
        solid, before = fluid.solid.read(), fields(fluid)
        points = np.array([(0.2, 0.8, 0.8), (0.5, 0.5, 0.6), (0.4, 0.9, 1.0)])
        told = fluid.sample(points)
        fluid.scroll((1, -1, 1))
        np.testing.assert_array_equal(
            overlap(solid, (1, -1, 1), False), overlap(fluid.solid.read(), (1, -1, 1), True)
        )
        assert not fluid._solver.solids.moving, "what stands still seems to move"
        check_inside(before, fields(fluid), (1, -1, 1))
        again = fluid.sample(points)
        np.testing.assert_allclose(again.velocity, told.velocity, atol=1e-5)
        np.testing.assert_allclose(again.density, told.density, atol=1e-5)
        fluid.step(0.01)
        assert not fluid._solver.solids.moving
        assert not fluid.density.read()[fluid.solid.read() > 0.5].any()
        # a source with a mask emits where it is, not where it was first seen
        fluid.obstacles.clear()
        for field in (fluid.density, fluid.fuel):
            field.write(np.zeros(GRID.cells[::-1]))
        fluid.scroll((-2, 1, 0))
        fluid.step(1e-3)
        d = fluid.density.read()
        z, y, x = (
            o + 0.1 * (np.arange(n) + 0.5)
            for o, n in zip(fluid.grid.origin[::-1], GRID.cells[::-1], strict=True)
        )
        middle = [(d * p).sum() / d.sum() for p in (x, y[:, None], z[:, None, None])]
        np.testing.assert_allclose(middle, lamp.position, atol=1e-3)
        assert ball.position != standing.position


@drawn
def test_a_moving_solid_goes_on_moving(where: dict[str, Any]) -> None:
    """Also where somebody looks between the scroll and the next step."""
    with gf.Fluid(DUCT, OPEN, **where) as fluid:
        ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.2), (0.7, 0.6, 0.6)))
        for n in range(3):
            ball.position = (0.7 + 0.05 * n, 0.6, 0.6)
            fluid.step(0.05)
        fluid.scroll((2, 0, 0))
        solids = fluid._solver.solids
        voxels = solids._fields["solid_velocity"].read()
        inside = voxels[..., 3] > 0.5
        assert 20 < inside.sum() < 60
        np.testing.assert_allclose(voxels[inside][:, 0], 1.0, atol=1e-5)
        assert fluid.diagnostics().max_speed > 0.9
        ball.position = (0.85, 0.6, 0.6)
        fluid.step(0.05)
        voxels = solids._fields["solid_velocity"].read()
        np.testing.assert_allclose(voxels[voxels[..., 3] > 0.5][:, 0], 1.0, atol=1e-5)


@drawn
def test_who_looks_at_a_moved_solid_before_a_scroll_changes_nothing(
    where: dict[str, Any], tmp_path: Path
) -> None:
    """A piston takes its smoke along, also what it has come into since the last step; so after a file."""
    ends = []
    for look in ("", "solid", "file"):
        with gf.Fluid(DUCT, OPEN, gf.Settings(buoyancy=0.0), **where) as fluid:
            piston = fluid.obstacles.add(gf.Obstacle(gf.Box(size=(0.3, 1.5, 1.5)), (0.45, 0.6, 0.6)))
            fluid.step(1e-6)
            fluid.density.write(np.random.default_rng(2).random((12, 12, 16)))
            for step in range(1, 4):
                piston.position = (0.45 + 0.2 * step, 0.6, 0.6)
                if look:
                    assert (fluid.solid.read()[..., 5:8] == 1.0).all()
                if look == "file":
                    fluid.save(tmp_path / "looked.npz", overwrite=True)
                    fluid.load(tmp_path / "looked.npz")
                    piston = fluid.obstacles[0]
                fluid.scroll((2, 0, 0))
                fluid.step(0.1)
            ends.append(fluid.density.read())
            fluid.obstacles.remove(piston)
            if look:
                assert not fluid.solid.read().any()
            fluid.scroll((1, 0, 0))
            fluid.step(0.1)
            ends.append(fluid.density.read())
    for got in (2, 4):
        np.testing.assert_array_equal(ends[got], ends[0])
        np.testing.assert_array_equal(ends[got + 1], ends[1])


def test_what_has_a_value_for_each_cell_goes_with_the_box() -> None:
    """A `gf.Array` emits in the same cells of the box, a `gf.ForceField` pushes there."""
    cells = np.zeros((6, 6, 8))
    cells[3, 3, 5] = 1.0
    with gf.Fluid(gf.Grid((8, 6, 6), 0.1), OPEN, gf.Settings(cfl=None), backend="numpy") as fluid:
        fluid.emitters.add(gf.Emitter(gf.Array(cells), density=10.0))
        fluid.forces.add(gf.ForceField(cells[..., None] * (0.0, 5.0, 0.0)))
        for _ in range(2):
            fluid.reset()
            fluid.scroll((3, 0, 0))
            fluid.step(1e-3)
            assert np.argmax(fluid.density.read()) == np.argmax(cells)
            assert np.unravel_index(fluid.velocity.read()[..., 1].argmax(), (7, 7, 9))[2] == 5


@drawn
def test_saved_after_it_has_moved_it_goes_on(where: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "moved.fluid"
    with random_fluid(where) as fluid:
        ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.2), (0.25, 0.73, 0.76)))
        fluid.step(0.02)
        fluid.scroll((1, 0, -1))
        ball.position = (0.3, 0.75, 0.7)
        fluid.step(0.02)
        fluid.save(path)
        with gf.Fluid.load(path, ctx=where["ctx"]) as other:
            assert (other.grid, other.made, other.scrolled) == (fluid.grid, GRID, (1, 0, -1))
            for one in (fluid, other):
                one.obstacles[0].position = (0.32, 0.78, 0.7)
                one.step(0.02)
                one.scroll((-3, 1, 0))
                one.step(0.02)
            for name, values in fields(fluid).items():
                np.testing.assert_array_equal(fields(other)[name], values, name)
            other.restore(path)
            assert other.scrolled == (1, 0, -1)
        with random_fluid(where) as unmoved:
            unmoved.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.2), (0.3, 0.75, 0.7)))
            unmoved.restore(path)
            assert unmoved.grid.origin[0] == pytest.approx(-0.4)


@pytest.mark.parametrize("told", [[1, 2], [0.5, 0, 0], [2**41, 0, 0], "far", None, [True, 0, 0]])
def test_a_file_with_a_box_nowhere_is_refused(told: Any, tmp_path: Path) -> None:
    path, bad = tmp_path / "good.fluid", tmp_path / "bad.fluid"
    with gf.Fluid(gf.Grid((4, 4, 4)), OPEN, backend="numpy") as fluid:
        fluid.scroll((1, 0, 0))
        fluid.save(path)
    with zipfile.ZipFile(path) as file, zipfile.ZipFile(bad, "w") as out:
        for name in file.namelist():
            data = file.read(name)
            if name.endswith(".json"):
                header = json.loads(data)
                assert header["scrolled"] == [1, 0, 0]
                data = json.dumps({**header, "scrolled": told}).encode()
            out.writestr(name, data)
    with pytest.raises(gf.GpufluidError, match="cannot be loaded"):
        gf.Fluid.load(bad)


def test_a_box_with_walls_is_not_restored_to_where_it_cannot_go() -> None:
    """It could not come back from there: a reset said that a wall stands in the way."""
    grid = gf.Grid((4, 4, 4))
    with gf.Fluid(grid, OPEN, backend="numpy") as fluid, gf.Fluid(grid, backend="numpy") as other:
        other.restore(fluid.take_state())
        fluid.scroll((0, 2, 0))
        with pytest.raises(gf.GpufluidError, match=r"be loaded: .* along y: Boundaries\.bottom is a wall"):
            other.restore(fluid.take_state())
        assert other.scrolled == (0, 0, 0)
        other.reset()


def test_reset_brings_the_box_back() -> None:
    sides = gf.Boundaries(gf.Inflow((1.0, 0.0, 0.0), density=1.0), *[gf.Open()] * 5)
    with gf.Fluid(GRID, sides, backend="numpy") as fluid:
        fluid.step(0.02)
        fluid.scroll((-4, 0, 0))
        fluid.reset()
        assert fluid.grid == GRID and fluid.scrolled == (0, 0, 0)
        assert not fluid.density.read().any() and not fluid.velocity.read().any()


# -- following -----------------------------------------------------------------------------------------------


def test_it_follows() -> None:
    """The point is never further from the middle than asked and a cell; nothing trembles."""
    with gf.Fluid(gf.Grid((20, 10, 16), 0.1), FLOOR, backend="numpy") as fluid:
        steps = 0
        for n in range(200):
            point = np.array((1.0 + 0.037 * n, 3.0, 0.8 - 0.5 * np.sin(0.05 * n)))
            moved = fluid.follow(point, dead_zone=(0.3, 0.0, 0.25))
            steps += bool(any(moved))
            middle = np.array(fluid.grid.origin) + 0.5 * np.array(fluid.grid.size)
            assert abs(point - middle)[0] <= 0.3 + 1e-9 and abs(point - middle)[2] <= 0.25 + 1e-9
            assert moved[1] == 0 == fluid.grid.origin[1], "it left the floor"
            assert abs(moved[0]) <= 1 and abs(moved[2]) <= 1
        assert 60 < steps < 110
        middle = np.array(fluid.grid.origin) + 0.5 * np.array(fluid.grid.size)
        fluid.follow(middle)
        start = fluid.scrolled
        for tremble in (0.049, 0.051, -0.051, 0.099, -0.099):  # in a dead zone of a cell all round
            assert fluid.follow(np.add(middle, (tremble, 0.0, tremble))) == (0, 0, 0)
        assert fluid.follow(np.add(middle, (0.11, 0.0, -0.21))) == (1, 0, -2)
        assert fluid.follow(np.add(middle, (0.0, 5.0, 0.3)), axes="x") == (0, 0, 0)
        assert start != fluid.scrolled


@pytest.mark.parametrize("how", ["load", "restore"])
def test_what_was_saved_goes_on_following(how: str, tmp_path: Path) -> None:
    """Its ends without smoke are those of a run that was not interrupted, at once and from then on."""
    points = [(1.0 + 0.26 * n, 1.0, 0.8 + 0.1 * n) for n in range(6)]
    points += [(points[-1][0] - 0.05 * n, 1.0, points[-1][2]) for n in range(6)]  # back, within the dead zone
    with gf.Fluid(gf.Grid((20, 10, 16), 0.1), FLOOR, backend="numpy") as fluid:
        for point in points[:6]:
            fluid.follow(point, dead_zone=0.2)
        fluid.save(tmp_path / "a.fluid")
        with gf.Fluid(gf.Grid((20, 10, 16), 0.1), FLOOR, backend="numpy") as fresh:
            fresh.follow((0.0, 1.0, 0.0))
            fresh.restore(tmp_path / "a.fluid")
            with gf.Fluid.load(tmp_path / "a.fluid") as loaded:
                again = loaded if how == "load" else fresh
                assert fluid.spare[0] != (0.0, 0.0, 0.0)
                assert again.spare == fluid.spare
                for point in points[6:]:
                    assert again.follow(point, dead_zone=0.2) == fluid.follow(point, dead_zone=0.2)
                    assert again.spare == fluid.spare
            fluid.scroll((0, 0, 0))  # what follows nothing is saved as that
            fresh.restore(fluid.take_state())
            assert fresh.spare == fluid.spare == ((0.0,) * 3,) * 2


def test_a_flat_box_follows_in_its_plane() -> None:
    with gf.Fluid(gf.Grid((20, 10, 1), 0.1), OPEN, backend="numpy") as fluid:
        assert fluid.follow((2.0, -1.0, 9.0)) == (9, -14, 0)


@pytest.mark.parametrize(
    ("sides", "call", "says"),
    [
        (OPEN, lambda f: f.scroll((1, 2)), "cells must be three whole numbers"),
        (OPEN, lambda f: f.scroll((1.5, 0, 0)), "cells must be three whole numbers"),
        (OPEN, lambda f: f.scroll((True, 0, 0)), "cells must be three whole numbers"),
        (OPEN, lambda f: f.scroll(3), "cells must be three whole numbers"),
        (OPEN, lambda f: f.scroll((2**40 + 1, 0, 0)), r"at most 1.09951e\+12"),
        (OPEN, lambda f: [f.scroll((2**40, 0, 0)), f.scroll((1, 0, 0))], "that the box has gone already"),
        (FLOOR, lambda f: f.scroll((0, 1, 0)), "along y: Boundaries.bottom is a wall"),
        (FLOOR, lambda f: f.follow((0, 9, 0), axes="xy"), "along y: Boundaries.bottom is a wall"),
        (gf.Boundaries(), lambda f: f.follow((1, 0, 0)), "cannot follow anything: there are walls"),
        (OPEN, lambda f: f.follow((1, 0)), "point must be three"),
        (OPEN, lambda f: f.follow((np.nan, 0, 0)), "point must be three finite"),
        (OPEN, lambda f: f.follow((0, 0, 0), dead_zone=-1.0), "dead_zone must be >= 0 m"),
        (OPEN, lambda f: f.follow((0, 0, 0), dead_zone=(1.0, 2.0)), "dead_zone must be three"),
        (OPEN, lambda f: f.follow((0, 0, 0), axes="xw"), 'axes must be some of "xyz"'),
        (OPEN, lambda f: f.follow((0, 0, 0), axes="xx"), 'axes must be some of "xyz"'),
        (OPEN, lambda f: f.follow((0, 0, 0), axes=""), 'axes must be some of "xyz"'),
        (OPEN, lambda f: f.follow((1e30, 0, 0)), "of at most 1.09951"),
    ],
)
def test_where_it_cannot_go_it_says_so(sides: gf.Boundaries, call: Any, says: str) -> None:
    with gf.Fluid(gf.Grid((6, 6, 6), 0.1), sides, backend="numpy") as fluid:
        with pytest.raises(gf.GpufluidError, match=says):
            call(fluid)
        assert fluid.scrolled in ((0, 0, 0), (2**40, 0, 0))


def test_a_flat_box_has_no_depth_to_go_along() -> None:
    with gf.Fluid(gf.Grid((6, 6, 1), 0.1), OPEN, backend="numpy") as fluid:
        with pytest.raises(gf.GpufluidError, match="one cell deep cannot be scrolled along z"):
            fluid.scroll((0, 0, 1))
        with pytest.raises(gf.GpufluidError, match="along z"):
            fluid.follow((0, 0, 9), axes="z")
        fluid.scroll((1, -1, 0))


def test_it_shows_of_a_long_world_what_a_long_box_shows() -> None:
    """A source that runs further than its box is long: its trail is as in one box round all of the way."""
    smoke, heat = [], []
    for cells, low in (((24, 12, 8), -1.4), ((56, 12, 8), -1.4)):
        grid = gf.Grid(cells, 0.1, origin=(low, 0.0, -0.4))
        with gf.Fluid(grid, FLOOR, gf.Settings(pressure=gf.Multigrid(2)), backend="numpy") as fluid:
            torch = fluid.emitters.add(gf.Emitter(gf.Sphere(radius=0.12), density=9.0, temperature=0.5))
            for n in range(36):
                torch.position = (0.09 * n, 0.45, 0.0)
                if cells[0] == 24:
                    fluid.follow((torch.position[0] - 0.5, 0.5, 0.0))
                fluid.step(0.05)
            first = round((torch.position[0] - 0.9 - fluid.grid.origin[0]) / 0.1)  # the last metre and a bit
            smoke.append(fluid.density.read()[..., first : first + 12])
            heat.append(fluid.velocity.at_centers()[..., first : first + 12, 1])
            assert fluid.scrolled[0] > 24 or cells[0] == 56
    assert smoke[1].sum() > 30.0
    np.testing.assert_allclose(smoke[0].sum(), smoke[1].sum(), rtol=1e-3)
    assert np.abs(smoke[0] - smoke[1]).sum() < 1e-3 * smoke[1].sum()
    assert np.corrcoef(heat[0].ravel(), heat[1].ravel())[0, 1] > 0.9999


# -- who looks -----------------------------------------------------------------------------------------------


def smoking(ctx: moderngl.Context, **settings: Any) -> gf.Fluid:
    """Smoke that rises round a ball, clear of the sides of its box, after a second."""
    rules = gf.Settings(vorticity_confinement=0.5, **settings)
    fluid = gf.Fluid(gf.Grid((30, 21, 18), 1 / 15, origin=(-1.0, 0.0, -0.6)), FLOOR, rules, ctx=ctx)
    fluid.emitters.add(gf.Emitter(gf.Sphere((0, 0.3, 0), 0.15), density=8, temperature=1, noise=0.6))
    fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.15), (0.05, 0.75, 0.0)))
    for _ in range(20):
        fluid.step(1 / 30)
    return fluid


def test_nothing_is_compiled_or_made_anew(ctx: moderngl.Context) -> None:
    """After the first scroll and picture a box may move at every frame."""
    with smoking(ctx) as fluid:
        renderer = gf.FrameRenderer(ctx, (64, 36))
        lamp = gf.PointLight((0.8, 0.8, 0.5), color=(1.0, 0.5, 0.2))
        views = [
            gf.ParticlesView(100, [gf.ParticleSource(gf.Sphere(radius=0.2))]),
            gf.SliceView(opacity=0.5),
            gf.GlyphsView(),
        ]
        scene = gf.Scene(fluid, smoke=gf.Smoke(12.0), floor=0.0, fire=gf.Fire(), lights=[lamp], views=views)

        def turn() -> None:
            fluid.scroll((1, 0, -1))
            scene.advance()
            renderer.draw(scene)

        turn()
        turn()
        devices = [fluid.device, renderer.device, renderer.volume.device]
        devices += [made.drawn.device for made in scene.live._made]
        lighting = renderer.volume.lighting
        coarse = lighting._others, lighting._fire
        before = [(len(d._programs), len(d._kept), len(d.fields)) for d in devices]
        for _ in range(3):
            turn()
        assert [(len(d._programs), len(d._kept), len(d.fields)) for d in devices] == before
        assert renderer.volume.lighting is lighting, "the light volume was made anew"
        assert (lighting._others, lighting._fire) == coarse and None not in coarse
        renderer.release()
        scene.live.release()


def test_particles_and_streaks_keep_their_places_in_the_world(ctx: moderngl.Context) -> None:
    with smoking(ctx) as fluid:
        particles = gf.Particles(ctx, 500, [gf.Box((0, 0.5, 0), (0.8, 0.6, 0.6))], life=2.0)
        streaks = gf.StreakLines(ctx, gf.line_of_seeds((-0.3, 0.2, 0.0), (0.3, 0.2, 0.0), 7), points=12)
        target = ctx.simple_framebuffer((48, 32))
        camera = gf.Camera(target=(0.0, 0.6, 0.0), distance=2.4)

        def places(view: Any, grid: gf.Grid) -> np.ndarray:
            rows = view.read().reshape(-1, 4)
            rows[:, :3] = np.where(rows[:, 3:] >= 0, rows[:, :3] * grid.cell_size + grid.origin, 0.0)
            return rows

        for view in (particles, streaks):
            for _ in range(10):
                view.advance(fluid, 0.02)
            before = places(view, fluid.grid)
            assert (before[:, 3] >= 0).sum() > 20
            fluid.scroll((2, 0, -3))
            view.render(fluid, camera, target)
            np.testing.assert_allclose(places(view, fluid.grid), before, atol=1e-5)
            fluid.scroll((-1, 0, 1))
            view.advance(fluid, 1e-6)
            after = places(view, fluid.grid)[: len(before)]
            if view is particles:
                alive = (before[:, 3] >= 0) & (after[:, 3] > before[:, 3])
                assert alive.sum() > 20
                np.testing.assert_allclose(after[alive, :3], before[alive, :3], atol=1e-4)
            else:
                np.testing.assert_allclose(
                    after.reshape(7, 12, 4)[:, 1:, :3], before.reshape(7, 12, 4)[:, :-1, :3], atol=1e-4
                )
            view.release()
        target.release()


NIGHT = gf.Light(color=(0.0, 0.0, 0.0), ambient=(0.0, 0.0, 0.0))
LAMPS = [
    gf.PointLight((0.9, 0.5, 0.3), color=(2.0, 0.5, 0.2)),
    gf.PointLight((0.1, 0.2, 0.4), color=(0.1, 0.2, 0.02)),
    gf.Light(direction=(0.3, -1.0, -0.8), color=(0.2, 0.4, 1.3)),
]
SEEN: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {  # of the renderer, of the scene
    "view-slices": ({}, {}),
    "ray-march": ({"method": "ray-march"}, {}),
    "axis-slices": ({"method": "axis-slices"}, {}),
    "few axis-slices": ({"method": "axis-slices", "slices": 9}, {}),
    "lamps": ({}, {"light": NIGHT, "lights": LAMPS}),
    "fire": ({}, {"light": NIGHT, "fire": gf.Fire(0.0, 2600.0, glow=6.0)}),
}


@pytest.mark.parametrize("case", SEEN)
def test_the_picture_does_not_jump(case: str, ctx: moderngl.Context) -> None:
    """What is seen of smoke before and after the box moved, without a step: the same within a step of 8 bits.

    The lattices in which light is walked and smoke is sampled stay in the world.
    """
    drawn, lit = SEEN[case]
    with smoking(ctx) as fluid:
        volume = gf.VolumeRenderer(ctx, **drawn)
        renderer = gf.FrameRenderer(ctx, (128, 72), volume=volume)
        camera = gf.Camera(target=(0, 0.55, 0), distance=2.2, azimuth=33.0, elevation=14.0)
        scene = gf.Scene(fluid, camera, smoke=gf.Smoke(12.0), **lit)
        seen = []
        for shift in ((1, 0, 0), (0, 0, 1), (-3, 0, -2), (0, 0, 0)):
            renderer.draw(scene)
            seen.append(renderer.read()[..., :3].astype(int))
            fluid.scroll(shift)
        assert seen[0].max() > 150 and seen[0].std() > 20.0
        for picture in seen[1:]:
            assert np.abs(picture - seen[0]).max() <= 2
        renderer.release()
        volume.release()


def test_a_lamp_stays_where_it_is(ctx: moderngl.Context) -> None:
    """The side of the smoke that a lamp reaches is the same before and after."""
    with smoking(ctx) as fluid:
        renderer = gf.FrameRenderer(ctx, (96, 54))
        lamp = gf.PointLight((0.9, 0.5, 0.3), color=(2.0, 0.5, 0.2))
        dark = gf.Light(color=(0, 0, 0), ambient=(0, 0, 0))
        camera = gf.Camera(target=(0, 0.5, 0), distance=2.2)
        scene = gf.Scene(fluid, camera, dark, gf.Smoke(12.0), lights=[lamp])
        seen = []
        for _ in range(2):
            renderer.draw(scene)
            seen.append(renderer.read()[..., 0].astype(float))
            fluid.scroll((4, 0, 2))
        assert seen[0].max() > 60.0
        assert np.abs(seen[1] - seen[0]).mean() < 1.0
        renderer.release()


def test_the_studio_reaches_into_a_box_that_has_moved() -> None:
    """What a hand meets is where it is seen: smoke, solids, the box itself."""
    with gf.Fluid(GRID, OPEN, backend="numpy") as fluid:
        ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.1), (0.85, 0.3, 0.6)))
        fluid.scroll((7, -2, 1))
        density = np.zeros(GRID.cells[::-1])
        density[4, 5, 10] = 1.0
        fluid.density.write(density)
        smoke = np.array(fluid.grid.origin) + 0.1 * (np.array((10, 5, 4)) + 0.5)
        np.testing.assert_allclose(smoke, (1.25, 0.55, 0.85))
        eye = np.array((1.0, 1.1, 4.0))
        for place, towards in ((smoke, None), (np.array(ball.position), ball)):
            way = (place - eye) / np.linalg.norm(place - eye)
            ray = pick.Ray(eye, way)
            if towards is None:
                met, _ = pick.depth_for_hand(fluid, ray, way)
                np.testing.assert_allclose(met, place, atol=0.08)
            else:
                assert pick.hit(towards, fluid, ray) == pytest.approx(np.linalg.norm(place - eye) - 0.1)
        corners = np.concatenate(pick.box_lines(fluid))
        np.testing.assert_allclose(corners.min(0), fluid.grid.origin)
        np.testing.assert_allclose(corners.max(0), fluid.grid.upper)


def test_exports_say_where_the_box_is(tmp_path: Path) -> None:
    with random_fluid({"backend": "numpy"}) as fluid:
        fluid.scroll(SHIFT)
        gf.write_volume(tmp_path / "smoke.vti", fluid)
        text = (tmp_path / "smoke.vti").read_bytes()[:600].decode("latin1")
        x, y, z = (float(n) for n in text.split('Origin="')[1].split('"')[0].split())
        np.testing.assert_allclose((x, y, z), (-0.2, 0.0, 0.4), atol=1e-6)


def test_a_scene_is_written_with_its_box_where_it_begins(tmp_path: Path) -> None:
    path = tmp_path / "moved.toml"
    with gf.Fluid(GRID, OPEN, backend="numpy") as fluid:
        fluid.scroll(SHIFT)
        save_description(gf.Scene(fluid), path)
    with gf.Scene.load(path, backend="numpy").fluid as again:
        assert again.grid == GRID
