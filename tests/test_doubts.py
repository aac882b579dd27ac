"""Sources that bring nothing, as they lie between the middles of cells or outside, are told of: no others."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest

import gpufluid as gf

H = 0.1
CORNER = (0.6, 0.6, 0.6)  # between eight cells
ROW = [(0.1, 0.6, 0.6), (1.1, 0.6, 0.6)]  # between four rows of cells
SHEET = gf.Mesh.box((0.8, 0.001, 0.8))
SPECK = gf.Mesh.icosphere(2, 0.01)
PICTURE = np.ones((4, 4))
STILL = gf.Settings(buoyancy=0.0)
SAYS = r"lies between the middles of the cells, 0\.1 m apart, and brings nothing there: it spans "

THIN: dict[str, dict[str, Any]] = {
    "sphere": {"shape": gf.Sphere(CORNER, 0.02)},
    "box": {"shape": gf.Box(CORNER, (0.8, 0.02, 0.8))},
    "cylinder": {"shape": gf.Cylinder(CORNER, 0.01, 0.8)},
    "capsule": {"shape": gf.Capsule(*ROW, 0.01)},
    "line": {"shape": gf.Line(ROW, 0.01)},
    "curve": {"shape": gf.Bezier([ROW[0], ROW[0], ROW[1], ROW[1]], 0.01)},
    "surface": {"shape": gf.Surface(SHEET, 0.001), "position": CORNER},
    "mesh": {"shape": SPECK, "position": CORNER},
    "image": {"shape": gf.Image(PICTURE, CORNER, (0.5, 0.5), 0.001)},
}


def brought(
    emitter: gf.Emitter, cells: tuple[int, int, int] = (12, 12, 12), **given: Any
) -> tuple[float, list]:
    """What the cell with the most of it has of the density, and what was said when it was added."""
    with gf.Fluid(gf.Grid(cells, H), settings=STILL, backend="numpy", **given) as fluid:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            fluid.emitters.add(emitter)
        fluid.step(0.125)
        return float(fluid.density.read().max()), told


@pytest.mark.parametrize("name", THIN)
def test_thin_sources_between_the_cells_are_told_of(name: str) -> None:
    """Where they are, and how large a cell is; with a falloff of half a cell they bring something."""
    thin = gf.Emitter(**THIN[name], density=8.0, falloff=0.01)
    most, told = brought(thin)
    assert most < 1e-3
    assert [w.category for w in told] == [gf.MeshWarning if name in ("surface", "mesh") else gf.ShapeWarning]
    assert told[0].filename == __file__
    said = str(told[0].message)
    assert re.search(SAYS, said) and "falloff=0.05" in said and "0x" not in said, said
    for falloff in (0.05, None):
        most, told = brought(gf.Emitter(**THIN[name], density=8.0, falloff=falloff))
        assert most > 0.05 and not told


@pytest.mark.parametrize("name", THIN)
def test_thin_sources_that_hold_the_middle_of_a_cell_are_not(name: str) -> None:
    given = dict(THIN[name])
    given["position"] = np.add(given.get("position", (0.0, 0.0, 0.0)), 0.5 * H)
    most, told = brought(gf.Emitter(**given, density=8.0, falloff=0.01))
    assert most > 0.9 and not told


@pytest.mark.parametrize("name", THIN)
def test_hard_edges_bring_their_volume_and_are_not_told_of(name: str) -> None:
    """But for a mesh smaller than half a cell, of which no middle lies near enough."""
    most, told = brought(gf.Emitter(**THIN[name], density=8.0, edge="hard"))
    assert (most == 0.0) == (name == "mesh") == bool(told)
    turn = {"position": CORNER, "rotation": (0.2, 0.5, 0.3, 1.0)}
    for size in (0.01, 0.1):
        most, told = brought(gf.Emitter(gf.Box(size=(size,) * 3), density=8.0, edge="hard", **turn))
        assert (most == 0.0) == (size == 0.01) == bool(told)


def test_told_is_what_brings_nothing_and_no_more() -> None:
    """Random shapes, edges and places, in boxes of 3D and 2D, closed and periodic."""
    rng = np.random.default_rng(3)
    around = gf.Boundaries(left=gf.Periodic(), right=gf.Periodic(), bottom=gf.Periodic(), top=gf.Periodic())
    found = np.zeros((2, 2), int)
    for number in range(240):
        cells = (7, 6, 5 if number % 3 else 1)
        size = rng.uniform(0.0, 1.2) ** 3 * H + 1e-4
        long = size if rng.random() < 0.5 else 0.5
        shape: Any = [
            gf.Sphere(radius=size),
            gf.Box(size=(size, long, size)),
            gf.Box(size=(long, size, long)),
            gf.Cylinder(radius=size, height=long),
            gf.Capsule((0, -long, 0), (0, long, 0), size),
            gf.Line([(-long, 0, 0), (long, 0, 0)], size),
            gf.Image(PICTURE, size=(long, size), thickness=size),
            gf.Surface(SPECK.fitted(long), size),
        ][number % 8]
        emitter = gf.Emitter(shape, density=8.0, falloff=rng.uniform(0.05, 1.0) ** 2 * H)
        emitter.edge = "hard" if rng.random() < 0.3 else "gaussian"
        emitter.position = tuple(rng.uniform(0.0, 1.0, 3) * (0.7, 0.6, 0.1 * cells[2]))
        emitter.rotation = rng.normal(size=4) if rng.random() < 0.5 else None
        most, told = brought(emitter, cells, boundaries=around if rng.random() < 0.3 else gf.Boundaries())
        assert len(told) <= 1
        nothing = most <= (0.0 if emitter.edge == "hard" else np.exp(-9.0) * (1.0 + 1e-4))
        assert nothing == bool(told), (number, emitter, most, told and str(told[0].message))
        found[int(cells[2] == 1), int(nothing)] += 1
    assert found.min() >= 10, found


def test_a_thin_fan_on_faces_moves_the_air_and_is_not_told_of() -> None:
    """What brings a velocity alone is asked on faces, where that is set."""
    fan = {"velocity": (0.0, 1.0, 0.0), "falloff": 0.01}
    with gf.Fluid(gf.Grid((12, 12, 12), H), settings=STILL, backend="numpy") as fluid:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            fluid.emitters.add(gf.Emitter(gf.Box(CORNER, (0.8, 0.02, 0.8)), **fan))
        fluid.step(0.1)
        assert np.abs(fluid.velocity.read()).max() > 0.1
        with pytest.warns(gf.ShapeWarning, match=SAYS):
            fluid.emitters.add(gf.Emitter(gf.Sphere(CORNER, 0.01), **fan))
        with pytest.warns(gf.ShapeWarning, match=SAYS):  # of its smoke
            fluid.emitters.add(gf.Emitter(gf.Box(CORNER, (0.8, 0.02, 0.8)), density=1.0, **fan))


def test_one_that_moves_is_told_of_where_its_way_lies_between_the_cells() -> None:
    ball = {"density": 1.0, "falloff": 0.01}
    with gf.Fluid(gf.Grid((12, 12, 12), H), settings=STILL, backend="numpy") as fluid:
        with pytest.warns(gf.ShapeWarning, match=SAYS):
            fluid.emitters.add(gf.Emitter(gf.Sphere(CORNER, 0.02), motion=(2.0, 0.0, 0.0), **ball))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            fluid.emitters.add(gf.Emitter(gf.Sphere(CORNER, 0.02), motion=(2.0, 2.0, 2.0), **ball))
            on_its_way_in = gf.Sphere((0.6, -0.02, 0.6), 0.05)
            fluid.emitters.add(gf.Emitter(on_its_way_in, motion=(0.0, 2.0, 0.0), **ball))
            above = gf.Line([(0.1, 9.6, 0.6), (1.1, 9.6, 0.6)])
            fluid.emitters.add(gf.Emitter(above, motion=(0.0, -2.0, 0.0), **ball))


@pytest.mark.parametrize("name", THIN)
def test_sources_outside_the_box_are_told_of_as_that(name: str) -> None:
    given = {**THIN[name], "position": np.add(THIN[name].get("position", (0.0, 0.0, 0.0)), (0.0, 9.0, 0.0))}
    most, told = brought(gf.Emitter(**given, density=8.0))
    assert most == 0.0 and len(told) == 1
    assert "lies outside the box: it spans" in str(told[0].message)


@pytest.mark.parametrize("cells", [(12, 8, 10), (12, 8, 1)])
@pytest.mark.parametrize(
    "shape",
    [
        gf.Sphere(radius=0.78),
        gf.Box(size=(1.1, 0.7, 0.9)),
        gf.Cylinder(radius=0.8, height=1.0),
        gf.Capsule((-0.5, 0.0, 0.0), (0.5, 0.0, 0.0), 0.5),
        gf.Plane((0.0, 0.35, 0.0)),
    ],
    ids=lambda shape: type(shape).__name__,
)
def test_a_solid_that_fills_the_box_is_told_of(shape: Any, cells: tuple[int, int, int]) -> None:
    """In metres where centimetres were meant, say: just where all cells are solid, and no other is."""
    full = []
    for scale in (0.6, 0.99, 1.01, (1.1, 1.2, 1.3)):
        with gf.Fluid(gf.Grid(cells, H), backend="numpy") as fluid:
            solid = gf.Obstacle(shape, (0.6, 0.4, H * cells[2] / 2), (0.0, 0.0, 1.0, 0.0), scale=scale)
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                fluid.obstacles.add(solid)
            full.append(bool(fluid.solid.read().all()))
            assert [w.category for w in told] == full[-1] * [gf.ShapeWarning]
            assert all("fills the whole box, (0, 0, 0) to (1.2, 0.8, " in str(w.message) for w in told)
    assert True in full and False in full
