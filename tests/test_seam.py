"""Things on the seam of a periodic box: what goes out at one side is in at the other.

The box repeats, so a thing moved by half a box is the same field rolled by half of it, and what a wider box
without a seam holds, cut into boxes and laid on one another, is what the periodic one holds.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from inside import inside_shape
from sharing import DRAWN, EVERYWHERE, REST, in_pairs

import gpufluid as gf
from gpufluid.contract.kernels import EMITTERS
from gpufluid.description.periodic import (
    HERE,
    MOST,
    bounds,
    cells_between,
    form_images,
    images,
    moved,
    nearest,
    periods,
)
from gpufluid.numerics.emission import emitter_images

pytestmark = pytest.mark.usefixtures("one_context")

ROUND = gf.Boundaries.all(gf.Periodic())
ACROSS = gf.Boundaries(left=gf.Periodic(), right=gf.Periodic())  # along x alone
GRID = gf.Grid((16, 12, 8), 1 / 16, (-0.5, 0.0, 0.25))
FLAT = gf.Grid((16, 12, 1), 1 / 16)
SIZE, MIDDLE = np.array(GRID.size), np.array(GRID.origin) + 0.5 * np.array(GRID.size)
STILL = gf.Settings(**REST, pressure=gf.Jacobi(0))
TURN = (0.2, -0.3, 0.4, 0.8)
AXES = [(1, 0, 0), (0, 1, 1), (1, 1, 1)]  # along which a thing is half a box off the middle

KNOT = gf.Mesh.trefoil(0.08, 24, 4).fitted(0.35)
RING = gf.Mesh.torus(0.14, 0.06, 24, 12)
SOURCES: dict[str, Any] = {
    "sphere": gf.Sphere(radius=0.12),
    "box": gf.Box((0.02, 0, 0), (0.3, 0.2, 0.12)),
    "cylinder": gf.Cylinder(radius=0.12, height=0.2),
    "capsule": gf.Capsule((-0.1, -0.05, 0), (0.1, 0.1, 0.05), 0.07),
    "mesh": KNOT,
    "surface": gf.Surface(gf.Mesh.icosphere(2, 0.14)),
    "line": gf.Line([(-0.15, -0.1, 0), (0.02, 0.1, 0), (0.15, 0, 0.1)], 0.05),
    "bezier": gf.Bezier([(-0.15, -0.1, 0), (-0.1, 0.2, 0), (0.1, 0.2, 0.1), (0.15, 0, 0.1)], 0.05),
    "image": gf.Image(np.outer(np.linspace(0.2, 1, 6), np.linspace(1, 0.3, 5)), size=(0.35, 0.3)),
}


def off(x: float, y: float, z: float) -> tuple[float, ...]:
    """A place so far from the middle of GRID, m."""
    return tuple(np.add(MIDDLE, (x, y, z)).tolist())


def filled(fluid: gf.Fluid) -> dict[str, np.ndarray]:
    names = ("density", "temperature", "fuel", "color", "velocity")
    return {name: getattr(fluid, name).read() for name in names}


def emitted(
    backend: str, *emitters: gf.Emitter, grid: gf.Grid = GRID, sides: gf.Boundaries = ROUND
) -> dict[str, np.ndarray]:
    """What emitters bring into air at rest in 1/30 s, in which they set just their shares."""
    with gf.Fluid(grid, sides, STILL, backend=backend) as fluid:
        for emitter in emitters:
            fluid.emitters.add(emitter)
        fluid.step(1 / 30)
        return filled(fluid)


def emitter(shape: Any, **more: Any) -> gf.Emitter:
    given = {"density": 30.0, "temperature": 3.0, "fuel": 15.0, "color": (7.5, 15.0, 30.0)} | more
    return gf.Emitter(shape, **given)


def rolled(values: np.ndarray, axes: tuple[int, ...], grid: gf.Grid = GRID) -> np.ndarray:
    """A field moved by half a box along some axes; of faces without those of the high sides."""
    nx, ny, nz = grid.cells
    by = [n // 2 * a for n, a in zip(grid.cells, axes, strict=True)]
    return np.roll(values[:nz, :ny, :nx], by[::-1], (0, 1, 2))


def folded(wide: np.ndarray, grid: gf.Grid) -> np.ndarray:
    """What many boxes hold, [.., z, y, x, ..], laid on one another: the most there is in any."""
    nx, ny, nz = grid.cells
    cut = wide[: wide.shape[0] // nz * nz, : wide.shape[1] // ny * ny, : wide.shape[2] // nx * nx]
    tiles = cut.reshape(-1, nz, cut.shape[1] // ny, ny, cut.shape[2] // nx, nx, *cut.shape[3:])
    return np.asarray(tiles.max(axis=(0, 2, 4)))


# Images


def test_images_are_those_that_touch_the_box() -> None:
    period = periods(GRID, ACROSS)
    assert period == (1.0, 0.0, 0.0)
    assert periods(FLAT, ROUND) == (1.0, 0.75, 0.0)  # one cell deep: its back and front are ignored
    assert images(period, (0.0, -9.0, -9.0), (1.0, 9.0, 9.0)) is HERE
    for low, high, expected in (
        (-0.1, 0.2, {0, 1}),
        (0.9, 1.0 + 1e-12, {0}),
        (0.9, 1.1, {-1, 0}),
        (1.0, 1.2, {-1}),
        (7.9, 8.2, {-8, -7}),
        (-3.2, -2.9, {3, 4}),
        (-0.2, 1.2, {-1, 0, 1}),
        (-0.9, 1.7, {-1, 0, 1}),
    ):
        got = images(period, (low, 0, 0), (high, 0, 0))
        assert {x for x, _, _ in got} == expected, (low, high)
        assert not any(y or z for _, y, z in got)
    far = images(period, (-300.0, 0, 0), (100.0, 0, 0))
    assert len(far) == MOST and {x for x, _, _ in far} == {98, 99, 100, 101, 102}
    assert len(images(periods(GRID, ROUND), (-0.1, -0.1, -0.1), (0.1, 0.1, 0.1))) == 8
    np.testing.assert_array_equal(nearest(period, np.array((0.9, 0.9, 0.9))), (1.0, 0, 0))
    np.testing.assert_array_equal(nearest(period, np.array((-2.6, 0, 0))), (-3.0, 0, 0))


def test_a_form_has_images_only_where_it_ends() -> None:
    grid = gf.Grid((8, 8, 8), 1 / 8)
    for shape, count in (
        (gf.Sphere(radius=0.1), 8),
        (gf.Plane(normal=(1, 2, 3)), 1),
        (gf.Box(size=(40.0, 0.2, 1.0)), 2),  # a floor
        (gf.Cylinder(radius=0.1, height=1.0), 4),  # a pipe along y
        (gf.Capsule((-2, 0, 0), (2, 0, 0), 0.1), 4),
        (gf.Capsule((0, 0, -0.45), (0, 0, 0.45), 0.1), 8),
    ):
        form, there = form_images(grid, ROUND, shape.form, shape.form.place)
        assert len(there) == count, shape
        assert (form.core != shape.form.core) == (count in (2, 4))
    # askew the form's own axes keep some away that its bounds do not
    rod = gf.Capsule((-1.1, 0, 0), (1.1, 0, 0), 0.04)
    place = gf.Obstacle(rod, (0.5, 0.5, 0.5), TURN).matrix @ rod.form.place
    there = form_images(grid, ROUND, rod.form, place)[1]
    assert form_images(grid, ROUND, rod.form, place, most=1)[1] == [(0.0, 0.0, 0.0)]
    assert 3 <= len(there) < len(images((1.0, 1.0, 1.0), *bounds(place, rod.form.half)))
    held, every = (
        [inside_shape(grid, rod, moved(place, np.array(s)) @ np.linalg.inv(rod.form.place)) for s in many]
        for many in (there, product((-2.0, -1.0, 0.0, 1.0, 2.0), repeat=3))
    )
    np.testing.assert_array_equal(np.any(held, axis=0), np.any(every, axis=0))


def test_cells_are_counted_in_boxes_of_any_length() -> None:
    """They ended at a million."""
    long = gf.Grid((1 << 20, 4, 4), 0.5)
    low, high = cells_between(long, (0.0, 0.0, 0.0), (524000.0, -1e30, 0.5), (524100.0, 1e30, 1.0))
    assert (low[0], high[0]) == (1047999.0, 1048201.0)
    assert low[1] <= 0.0 and high[1] >= 4.0 and (low[2], high[2]) == (0.0, 3.0)


# Sources


def placed(name: str, style: str, place: Any) -> gf.Emitter:
    """One of SOURCES that brings all that sources can."""
    return emitter(SOURCES[name], edge=style, falloff=0.03, velocity=(0.0, 0.0, 1e-9), position=tuple(place))


@cache
def in_the_middle(name: str, style: str, backend: str) -> dict[str, np.ndarray]:
    """What it brings into the middle of the box, where there is no seam; made once."""
    return emitted(backend, placed(name, style, MIDDLE))


@pytest.mark.parametrize(("axes", "backend", "style"), in_pairs(AXES, EVERYWHERE, ["gaussian", "hard"]))
def test_a_source_on_the_seam_is_one_in_the_middle_moved(style: str, axes: Any, backend: str) -> None:
    """Across a side, an edge and a corner of the box; formulas and masks; all that sources bring."""
    for name in ("sphere", "box", "line"):
        inside = in_the_middle(name, style, backend)
        seam = emitted(backend, placed(name, style, MIDDLE + 0.5 * SIZE * axes))
        for field, values in inside.items():
            assert np.abs(values).max() > 1e-10
            got, expected = rolled(seam[field], (0, 0, 0)), rolled(values, axes)
            np.testing.assert_allclose(got, expected, atol=1e-5 * np.abs(values).max(), err_msg=name)


WIDE = gf.Grid((32, 24, 16), 1 / 16)


def astray(name: str, style: str, noise: float) -> gf.Emitter:
    """One of SOURCES about where eight boxes meet."""
    place = np.add(0.5 * np.array(WIDE.size), (0.03, -0.02, 0.01))
    return emitter(SOURCES[name], edge=style, falloff=0.02, position=place, rotation=TURN, noise=noise)


@pytest.mark.parametrize(("name", "style", "backend"), in_pairs(SOURCES, ["gaussian", "hard"], DRAWN))
def test_a_source_is_what_a_wider_box_holds_of_it(name: str, style: str, backend: str) -> None:
    grid, noise = gf.Grid((16, 12, 8), 1 / 16), 0.8 * (list(SOURCES).index(name) // 2 % 2)  # two and two
    whole = emitted("numpy", astray(name, style, noise), grid=WIDE, sides=gf.Boundaries())
    got = emitted(backend, astray(name, style, noise), grid=grid)
    for field in ("density", "temperature", "fuel", "color"):
        expected = folded(whole[field], grid)
        assert expected.max() > 0.1
        np.testing.assert_allclose(got[field], expected, atol=3e-5, err_msg=field)


@pytest.mark.parametrize("backend", DRAWN)
def test_where_a_source_stands_counts_modulo_the_box(backend: str) -> None:
    """Also far away; in a box one cell deep its z does not count at all."""
    for name, style in (("capsule", "hard"), ("mesh", "gaussian")):
        source = emitter(SOURCES[name], edge=style, position=off(0.4, 0.3, 0.1))
        near = emitted(backend, source)
        source.position = off(*np.add((0.4, 0.3, 0.1), SIZE * (-3, 1000, 2)))
        far = emitted(backend, source)
        for field, values in near.items():
            np.testing.assert_allclose(far[field], values, atol=1e-5, err_msg=name)
    with pytest.warns(gf.MeshWarning, match="outside the box"):
        ends = emitted(backend, source, sides=ACROSS)  # along y and z
    assert not ends["density"].any()
    for shape in (gf.Sphere(radius=0.12), KNOT):
        flat = emitter(shape, position=(1.0, 0.75, 0.03), noise=0.5)
        got = emitted(backend, flat, grid=FLAT)["density"]
        wide = emitted("numpy", flat, grid=gf.Grid((32, 24, 1), 1 / 16), sides=gf.Boundaries())["density"]
        assert got[0, 0, 0] > 0.1 < got[0, -1, -1]
        np.testing.assert_allclose(got, folded(wide, FLAT), atol=3e-5)


@pytest.mark.parametrize(
    ("style", "backend"), [("gaussian", "fragment"), ("hard", "numpy"), ("hard", "fragment")]
)
def test_images_of_one_source_do_not_add_up(style: str, backend: str) -> None:
    """What is longer than the box gives a cell no more than one share, whatever passes hold of others."""
    grid, wide = gf.Grid((12, 12, 12), 1 / 12), gf.Grid((36, 36, 36), 1 / 12, (-1.0, -1.0, -1.0))
    rod = emitter(gf.Capsule((-0.65, 0, 0), (0.65, 0, 0), 0.05), edge=style, falloff=0.02)
    rod.position, rod.rotation = (0.5, 0.45, 0.55), TURN
    ball = emitter(gf.Sphere((0.4, 0.5, 0.5), 0.55), edge=style, falloff=0.02)
    assert (
        EMITTERS >= len(emitter_images(rod, grid, ROUND)[2]) > 3 < len(emitter_images(ball, grid, ROUND)[2])
    )
    small, again = (emitter(gf.Sphere((0.6, 0, 0), 0.05), density=9.0, edge=style) for _ in range(2))
    parts = []
    rough = emitter(gf.Mesh.icosphere(1, 0.55, (0.4, 0.5, 0.5)), edge=style, falloff=0.02)
    for one in (rod, ball, rough, small):
        parts.append(folded(emitted("numpy", one, grid=wide, sides=gf.Boundaries())["density"], grid))
        assert 0.05 < parts[-1].max() < 0.03334 * one.density
    got = emitted(backend, small, rod, ball, rough, again, grid=grid)["density"]
    np.testing.assert_allclose(got, sum(parts) + parts[3], atol=5e-5)


@pytest.mark.parametrize("backend", DRAWN)
@pytest.mark.parametrize("cells", [(32, 32, 2), (32, 4, 4), (16, 3, 3)])
def test_a_source_in_a_thin_box_has_both_halves(
    cells: tuple[int, int, int], backend: str, rng: np.random.Generator
) -> None:
    """Its soft edge winds round the short axes many times, and comes in at the far side of a long one."""
    grid = gf.Grid(cells, 1 / 32)
    for _ in range(4):
        place = rng.uniform(0.0, 1.0, 3) * grid.size
        place[0] = rng.uniform(-0.06, 0.06)
        there = [
            emitter(gf.Sphere(radius=0.05), position=tuple(p))
            for p in (place, place + np.array((0.5 * grid.size[0], 0, 0)))
        ]
        got, other = (emitted(backend, one, grid=grid)["density"] for one in there)
        assert got[..., 0].max() > 1e-3 < got[..., -1].max()
        np.testing.assert_allclose(got, rolled(other, (1, 0, 0), grid), atol=1e-5)


@pytest.mark.parametrize(("cells", "size"), [(3, 0.07), (16, 0.1)])
def test_noise_half_a_box_off_is_the_same_everywhere(cells: int, size: float) -> None:
    """The faces of the sides lie so far from the middle of an array: whatever is rounded there."""
    grid, array = gf.Grid((cells, 4, 1), size), gf.Array(np.ones((1, 4, cells)))
    sides = gf.Boundaries(left=gf.Periodic(), right=gf.Periodic())
    for noisy in (emitter(array, velocity=(1.0, 0.0, 0.0), noise=1.0, seed=3), None):
        pull = gf.Attractor(center=(0.5 * cells * size, 2 * size, 0), strength=1.0, radius=size)
        ends = []
        for backend in DRAWN:
            with gf.Fluid(grid, sides, STILL, backend=backend) as fluid:
                if noisy is not None:
                    fluid.emitters.add(noisy)
                else:
                    fluid.forces.add(pull)
                fluid.step(0.01)
                ends.append(fluid.velocity.read())
        for end in ends:
            np.testing.assert_allclose(end, ends[0], atol=1e-5)


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_sources_that_share_a_pass_do_not_mix(backend: str) -> None:
    """Balls that lie over one another, with an image each, and more of them than one pass holds."""
    balls = [
        emitter(
            gf.Sphere(off(0.5, 0.03 * n, 0), 0.1),
            falloff=0.02,
            density=15.0 * (1 + n),
            velocity=(0, 0, 1e-9 * (n + 1)),
        )
        for n in range(5)
    ]
    assert all(len(emitter_images(ball, GRID, ROUND)[2]) == 2 for ball in balls)
    alone = [emitted(backend, ball) for ball in balls]
    got = emitted(backend, *balls)
    np.testing.assert_allclose(got["density"], sum(one["density"] for one in alone), rtol=1e-5, atol=1e-5)
    speed: Any = 0.0
    for n, one in enumerate(alone):
        share = one["velocity"] / (1e-9 * (n + 1))
        speed = speed + (1e-9 * (n + 1) - speed) * share
    np.testing.assert_allclose(got["velocity"], speed, atol=1e-14)


@pytest.mark.parametrize("backend", DRAWN)
def test_what_is_as_long_as_the_box_has_no_ends(backend: str) -> None:
    """A floor and a pipe are one image, wherever along themselves, and full on the faces of the seam."""
    for shape in (gf.Box(size=(1.0, 0.25, 500.0)), gf.Capsule((0.0, 0, 0), (1.3, 0, 0), 0.1)):
        for style in ("gaussian", "hard"):
            source = emitter(shape, edge=style, falloff=0.02, velocity=(1e-9, 0, 0))
            source.position = off(0.3, 0.05, 0)
            assert len(emitter_images(source, GRID, ROUND)[2]) == 1
            got = emitted(backend, source)
            for field in ("density", "temperature"):
                assert got[field].max() > 0.99
                along = np.broadcast_to(got[field][..., :1], got[field].shape)
                np.testing.assert_allclose(got[field], along, atol=1e-5)
            speed = got["velocity"][..., 0]
            np.testing.assert_allclose(speed, np.broadcast_to(speed[..., :1], speed.shape), rtol=1e-5)
            assert speed.max() == pytest.approx(1e-9)


def test_a_picture_as_wide_as_the_box_has_no_border() -> None:
    picture = emitter(gf.Image(np.ones((3, 4)), size=(1.0, 0.75)), edge="hard")
    picture.position = off(0.13, 0.2, 0.0)
    sheet = emitted("numpy", picture)["density"].max(axis=0)
    np.testing.assert_allclose(sheet, sheet[0, 0], rtol=1e-6)


@pytest.mark.parametrize("backend", DRAWN)
def test_planes_and_arrays_have_no_images(backend: str, rng: np.random.Generator) -> None:
    shares = rng.random(GRID.cells[::-1])
    for shape in (gf.Plane(tuple(MIDDLE), (1, 2, 0.5)), gf.Array(shares)):
        source = emitter(shape, edge="hard", noise=0.5)
        ends = emitted(backend, source, sides=gf.Boundaries())
        for field, values in emitted(backend, source).items():
            np.testing.assert_allclose(values, ends[field], atol=1e-6)


@pytest.mark.parametrize("backend", ["fragment", "compute"])
def test_empty_space_knows_of_images(backend: str) -> None:
    """Sources that go round the box leave the same bits whether empty space is left out or not."""
    grid, states = gf.Grid((136, 20, 4), 1 / 20), []
    for skip in (True, False):
        rules = gf.Settings(skip_empty=skip, pressure=gf.Jacobi(4), velocity_advection="semi-lagrangian")
        with gf.Fluid(grid, ROUND, rules, backend=backend) as fluid:
            strips = fluid._solver.empty._strips
            assert (strips is not None) == skip
            if strips is not None:
                strips.always = True
            source = fluid.emitters.add(gf.Emitter(gf.Sphere((0.0, 0.5, 0.1), 0.08), density=5.0))
            fluid.emitters.add(gf.Emitter(gf.Sphere((3.4, 0.5, 0.1), 0.08), density=5.0))
            for n in range(6):
                source.position = (0.1 * n - 0.3 + grid.size[0] * (n % 3), -0.5, 0.0)
                fluid.step(1 / 60)
            states.append(fluid.density.read())
    np.testing.assert_array_equal(states[0], states[1])
    assert states[0][:, -1, -1].max() > 0.05 < states[0][:, 0, 0].max()


# Solids


SOLIDS: dict[str, Any] = {
    "moving ball": lambda place: gf.Obstacle(gf.Sphere(radius=0.15), place),
    "spinning box": lambda place: gf.Obstacle(
        gf.Box((0.02, 0, 0), (0.3, 0.2, 0.15)), place, TURN, spin=(1.0, 2.0, -3.0), velocity=(0.2, 0, 0)
    ),
    "free drum": lambda place: gf.Obstacle(
        gf.Cylinder(radius=0.15, height=0.2), place, TURN, scale=(1.1, 0.9, 1.1), spin=(0, 3, 0), slip="free"
    ),
    "hot mesh": lambda place: gf.Obstacle(RING, place, TURN, spin=(0, 3, 0), temperature=4.0, heating=3.0),
    "bending mesh": lambda place: gf.Obstacle(gf.Mesh.icosphere(2, 0.17), place),
}


def stirred(
    backend: str, name: str, place: np.ndarray, grid: gf.Grid = GRID, wraps: bool = False
) -> dict[str, np.ndarray]:
    """A fluid in which a solid has moved on in three steps; wraps: its place is kept in the box."""
    rules = gf.Settings(buoyancy=1.0, pressure=gf.Jacobi(6))
    with gf.Fluid(grid, ROUND, rules, backend=backend) as fluid:
        solid = fluid.obstacles.add(SOLIDS[name](tuple(place)))
        for n in range(3):
            fluid.step(0.05)
            on = place + np.array((0.03, 0.02, -0.01)) * (n + 1)
            if wraps:
                on = (on - grid.origin) % grid.size + grid.origin
            solid.position = tuple(on)
            if name == "bending mesh":
                solid.shape = solid.shape.moved(solid.shape.vertices * (1.05, 0.97, 1.0))
        fluid.step(0.05)
        got = {"solid": fluid.solid.read(), "normals": fluid.solid_normals.read()}
        return got | {n: getattr(fluid, n).read() for n in ("velocity", "temperature", "pressure")}


@pytest.mark.parametrize(("name", "axes", "backend"), in_pairs(SOLIDS, AXES, EVERYWHERE))
def test_a_solid_on_the_seam_is_one_in_the_middle_moved(name: str, axes: Any, backend: str) -> None:
    """Its voxels, what they do to the flow, its heat, its slip: across a side, an edge and a corner."""
    inside = stirred(backend, name, MIDDLE)
    assert inside["solid"].sum() > 20 and np.abs(inside["velocity"]).max() > 0.2
    assert (inside["temperature"].max() > 0.1) == (name == "hot mesh")
    seam = stirred(backend, name, MIDDLE + 0.5 * SIZE * axes)
    for field, values in inside.items():
        got, expected = rolled(seam[field], (0, 0, 0)), rolled(values, axes)
        np.testing.assert_allclose(got, expected, atol=3e-5 * max(np.abs(values).max(), 0.1), err_msg=field)


@pytest.mark.parametrize(("name", "backend"), [(name, DRAWN[n % 2]) for n, name in enumerate(SOLIDS)])
def test_a_solid_that_is_put_back_by_a_box_goes_on(name: str, backend: str) -> None:
    """A loop of the user's that keeps it in the box, and one that lets it travel: it is one motion."""
    place = MIDDLE + 0.5 * SIZE - (0.05, 0.03, 0.01)
    travels, wrapped = (stirred(backend, name, place, wraps=wraps) for wraps in (False, True))
    for field, values in travels.items():
        np.testing.assert_allclose(wrapped[field], values, atol=1e-4 * max(np.abs(values).max(), 0.1))
    far = stirred(backend, name, place + SIZE * (-2, 30, 5))
    for field, values in travels.items():
        np.testing.assert_allclose(far[field], values, atol=3e-3 * max(np.abs(values).max(), 0.1))


@pytest.mark.parametrize("shape", [gf.Sphere(radius=0.1), gf.Mesh.icosphere(2, 0.1)])
def test_a_jump_stays_one_where_no_image_is_near(shape: Any) -> None:
    with gf.Fluid(GRID, ROUND, STILL, backend="numpy") as fluid:
        solid = fluid.obstacles.add(gf.Obstacle(shape, MIDDLE))
        fluid.step(0.05)
        for by in ((0.45, 0.0, 0.0), (4.0, 0.75, 0.0)):  # too far; whole boxes: it has not moved
            solid.position = tuple(np.add(solid.position, by))
            fluid.step(0.05)
            assert np.abs(fluid.velocity.read()).max() < 1e-9
        solid.position = tuple(np.add(solid.position, (-0.98, 0.0, 0.0)))
        fluid.step(0.05)
        assert fluid.velocity.read()[..., 0].max() == pytest.approx(0.4)
        if isinstance(shape, gf.Mesh):
            solid.shape = shape.moved(np.add(shape.vertices, (0.02, 0.75, 0.0)))  # and vertices are as good
            fluid.step(0.05)
            np.testing.assert_allclose(
                np.abs(fluid.velocity.read()).max(axis=(0, 1, 2)), (0.4, 0, 0), atol=1e-9
            )


@pytest.mark.parametrize("backend", DRAWN)
def test_a_disc_on_the_seam(backend: str) -> None:
    """In a box one cell deep, whose back and front are no sides."""
    center = np.array((0.5, 0.375, 1 / 32))
    inside = stirred(backend, "moving ball", center, FLAT)
    seam = stirred(backend, "moving ball", np.add(center, (0.5, 0.375, 0.0)), FLAT)
    assert 10 < inside["solid"].sum() < 60
    for field, values in inside.items():
        got, expected = rolled(seam[field], (0, 0, 0), FLAT), rolled(values, (1, 1, 0), FLAT)
        np.testing.assert_allclose(got, expected, atol=3e-5 * max(np.abs(values).max(), 0.1), err_msg=field)


LONG: dict[str, Any] = {
    "capsule": gf.Capsule((-0.7, 0, 0), (0.7, 0, 0), 0.06),
    "mesh": gf.Mesh.capsule((-0.7, 0, 0), (0.7, 0, 0), 0.06, 12),
    "ball": gf.Sphere(radius=0.45),
    "beam": gf.Box(size=(7.0, 0.2, 0.3)),
}
CUBE = gf.Grid((16, 16, 16), 1 / 16)


def winding(name: str, rotation: Any) -> gf.Obstacle:
    """One of LONG in CUBE."""
    return gf.Obstacle(LONG[name], (0.83, 0.4, 0.55), rotation)


@cache
def laid_together(name: str, rotation: Any) -> np.ndarray:
    """The cells of CUBE in which boxes all round, one beside the other, have any of it; made once."""
    wide = gf.Grid((144, 144, 144), 1 / 16, (-4.0,) * 3)
    return folded(inside_shape(wide, LONG[name], winding(name, rotation).matrix), CUBE)


@pytest.mark.parametrize("backend", EVERYWHERE)
@pytest.mark.parametrize("name", LONG)
def test_a_solid_longer_than_the_box_winds_round_it(name: str, backend: str) -> None:
    for rotation in (None, TURN):
        if name == "beam" and rotation is not None:
            continue  # more of it than is looked for
        with gf.Fluid(CUBE, ROUND, STILL, backend=backend) as fluid:
            fluid.obstacles.add(winding(name, rotation))
            got = fluid.solid.read() > 0.5
        expected = laid_together(name, rotation)
        assert 30 < expected.sum() < expected.size
        assert np.count_nonzero(got != expected) <= (0 if backend == "numpy" else 2)


def test_planes_are_not_repeated() -> None:
    with gf.Fluid(GRID, ROUND, STILL, backend="numpy") as fluid:
        floor = fluid.obstacles.add(gf.Obstacle(gf.Plane((0, 0.2, 0), (0.3, 1, 0))))
        solid = fluid.solid.read() > 0.5
        np.testing.assert_array_equal(solid, inside_shape(GRID, floor.shape, floor.matrix))
        floor.position = (0.0, 2.0, 0.0)
        assert fluid.solid.read().all()


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_a_file_goes_on_across_the_seam(backend: str, tmp_path: Path) -> None:
    """Bit for bit, from a moment when a solid is on the seam and is put back by a box in the next step."""

    def go(fluid: gf.Fluid, steps: range) -> None:
        for n in steps:
            for k, solid in enumerate(fluid.obstacles):
                solid.position = ((0.3 + 0.05 * n + 0.2 * k + 0.5) % 1.0 - 0.5, 0.1 + 0.5 * k, 0.3)
            fluid.emitters[0].position = (0.4 + 0.05 * n, 0.7, 0.7)
            fluid.step(0.02)

    with gf.Fluid(GRID, ROUND, gf.Settings(pressure=gf.Jacobi(6)), backend=backend) as fluid:
        fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.12)))
        fluid.obstacles.add(gf.Obstacle(RING, temperature=2.0))
        fluid.emitters.add(emitter(gf.Sphere(radius=0.1), noise=0.5))
        go(fluid, range(3))
        fluid.save(tmp_path / "seam.npz")
        go(fluid, range(3, 6))
        with gf.Fluid.load(tmp_path / "seam.npz") as other:
            go(other, range(3, 6))
            for field, values in filled(fluid).items():
                np.testing.assert_array_equal(getattr(other, field).read(), values)


@pytest.mark.parametrize("backend", DRAWN)
def test_a_box_that_goes_on_keeps_what_is_on_the_seam(backend: str) -> None:
    """Along a periodic axis the pattern goes round, and with it solids and sources, wherever the box is."""
    fields = []
    for cells in ((0, 0, 0), (5, -3, 2), (-40, 1, 9)):
        with gf.Fluid(
            GRID, ROUND, gf.Settings(buoyancy=0.0, pressure=gf.Jacobi(6)), backend=backend
        ) as fluid:
            fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.12), off(0.5, 0.1, 0.25), spin=(0, 0, 3)))
            mesh = fluid.obstacles.add(gf.Obstacle(RING, off(0.1, 0.375, 0.0), temperature=2.0))
            fluid.emitters.add(emitter(gf.Sphere(radius=0.1), position=off(-0.5, 0.0, 0.0), noise=0.7))
            fluid.emitters.add(emitter(SOURCES["line"], position=off(0.0, -0.3, -0.2)))
            fluid.step(0.05)
            fluid.scroll(cells)
            for _ in range(2):
                mesh.position = tuple(np.add(mesh.position, (0.03, 0.0, 0.0)))
                fluid.step(0.05)
            got = filled(fluid) | {"solid": fluid.solid.read()}
        nx, ny, nz = GRID.cells
        fields.append({n: np.roll(v[:nz, :ny, :nx], cells[::-1], (0, 1, 2)) for n, v in got.items()})
    for field, values in fields[0].items():
        for other in fields[1:]:
            np.testing.assert_allclose(other[field], values, atol=2e-5 * np.abs(values).max(), err_msg=field)


def test_no_mesh_is_outside_a_box_that_repeats(recwarn: pytest.WarningsRecorder) -> None:
    for sides, warned in ((ROUND, 0), (ACROSS, 1)):
        with gf.Fluid(GRID, sides, backend="numpy") as fluid:
            fluid.obstacles.add(gf.Obstacle(RING, (77.0, 0.3, 0.5)))
            assert not recwarn.list
            fluid.obstacles.add(gf.Obstacle(RING, (0.0, 40.0, 0.5)))
            assert len(recwarn.list) == warned


@pytest.mark.parametrize(
    ("shape", "views"),
    [
        (gf.Sphere(radius=0.15), ()),
        (gf.Capsule((0, 0, -0.1), (0, 0, 0.1), 0.1), (gf.VoxelsView(surface=True),)),
        (RING, ()),
    ],
    ids=["ball", "view of a capsule", "mesh"],
)
def test_a_picture_shows_the_images_of_a_solid(shape: gf.Shape, views: Any) -> None:
    """It showed the solid alone, and smoke that parted round nothing at the other side."""

    def picture(sides: gf.Boundaries, *places: float) -> np.ndarray:
        with gf.Fluid(GRID, sides) as fluid:
            for x in places:
                fluid.obstacles.add(gf.Obstacle(shape, off(x, 0.1, 0.0)))
            scene = gf.Scene(fluid, camera=gf.Camera(tuple(MIDDLE), 2.5, azimuth=20.0), views=views)
            frame = gf.FrameRenderer(fluid.ctx, (120, 80))
            frame.draw(scene)
            return frame.read().astype(int)

    wide, side = SIZE[0], 0.5 * SIZE[0] - 0.02
    both = picture(gf.Boundaries.all(gf.Open()), side, side - wide)
    for x in (side, side - wide):
        np.testing.assert_allclose(picture(ACROSS, x), both, atol=2)
        assert np.abs(picture(gf.Boundaries.all(gf.Open()), x) - both).max() > 30


# Forces


@pytest.mark.parametrize("backend", EVERYWHERE)
@pytest.mark.parametrize(
    "force",
    [
        gf.Attractor(MIDDLE, strength=2.0, radius=0.1),
        gf.Vortex(MIDDLE, (0, 1, 0), strength=2.0, radius=0.1),
        gf.Vortex(MIDDLE, (3, 0, 4), strength=2.0, radius=0.2),
    ],
    ids=["attractor", "vortex", "slanting vortex"],
)
def test_a_force_is_that_of_its_nearest_image(force: Any, backend: str) -> None:
    """A vortex has none along its own axis: along x and z the slanting one is as before."""

    def pushed(axes: Any, sides: gf.Boundaries = ROUND) -> np.ndarray:
        force.center = tuple(MIDDLE + 0.5 * SIZE * axes)
        with gf.Fluid(GRID, sides, STILL, backend=backend) as fluid:
            fluid.forces.add(force)
            fluid.step(0.1)
            return fluid.velocity.read()

    slants = getattr(force, "axis", (0, 0, 0))[0] != 0.0
    inside = pushed((0, 0, 0))
    assert np.abs(inside).max() > 0.05
    for axes in [(0, 1, 0)] if slants else AXES:
        np.testing.assert_allclose(rolled(pushed(axes), (0, 0, 0)), rolled(inside, axes), atol=1e-5)
    if slants:
        ends = pushed((1, 0, 1), gf.Boundaries.all(gf.Open()))
        np.testing.assert_allclose(
            pushed((1, 0, 1))[:-1, :-1, :-1][1:, 1:, 1:], ends[1:-1, 1:-1, 1:-1], atol=1e-6
        )
    # round itself a thing in the middle has the push that it has without a seam
    ends = pushed((0, 0, 0), gf.Boundaries.all(gf.Open()))
    np.testing.assert_allclose(inside[1:-1, 1:-1, 1:-1], ends[1:-1, 1:-1, 1:-1], atol=1e-6)
