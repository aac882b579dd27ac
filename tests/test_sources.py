"""What emitters of every shape put where: shares in closed form, the whole through a fluid."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import moderngl
import numpy as np
import pytest
from inside import inside_shape
from sharing import DRAWN, EVERYWHERE, REST, by_turns, in_pairs

import gpufluid as gf
from gpufluid.description.masks import source_mask
from gpufluid.description.sources import Source

pytestmark = pytest.mark.usefixtures("one_context")

STILL = gf.Settings(**REST, pressure=gf.Jacobi(0))
PUT = gf.Settings(**REST, solve_velocity=False)
GRID = gf.Grid((24, 20, 16), 0.05, (-0.6, 0.0, -0.4))


def emitted(
    backend: str, emitter: gf.Emitter, grid: gf.Grid = GRID, rules: gf.Settings = STILL, dt: float = 0.5
) -> dict[str, np.ndarray]:
    """What `dt` seconds of an emitter leave in a fluid at rest."""
    with gf.Fluid(grid, settings=rules, backend=backend) as fluid:
        fluid.emitters.add(emitter)
        fluid.step(dt)
        return {n: getattr(fluid, n).read() for n in ("density", "temperature", "fuel", "velocity")}


def edge(outside: np.ndarray, width: float) -> np.ndarray:
    return np.where(outside < 4 * width, np.exp(-((np.maximum(outside, 0) / width) ** 2)), 0.0)


def covered(shape: Any, parts: int = 6) -> np.ndarray:
    """Share of each cell of GRID that lies in `shape`, by looking at parts^3 places of it."""
    nx, ny, nz = GRID.cells
    fine = gf.Grid((parts * nx, parts * ny, parts * nz), GRID.cell_size / parts, GRID.origin)
    if isinstance(shape, gf.Line):
        x, y, z = (
            o + (np.arange(n) + 0.5) * fine.cell_size for o, n in zip(GRID.origin, fine.cells, strict=True)
        )
        place = np.stack(np.meshgrid(z, y, x, indexing="ij")[::-1], axis=-1)
        distance = [to_segment(place, a, b) for a, b in itertools.pairwise(shape.points)]
        inside = np.min(distance, axis=0) <= shape.radius
    else:
        inside = inside_shape(fine, shape, np.eye(4))
    return inside.reshape(nz, parts, ny, parts, nx, parts).mean(axis=(1, 3, 5))


def to_segment(p: np.ndarray, a: Any, b: Any) -> np.ndarray:
    """Distance of points to the line from a to b."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    share = np.clip(((p - a) @ (b - a)) / ((b - a) @ (b - a)), 0, 1)
    return np.linalg.norm(p - a - share[..., None] * (b - a), axis=-1)


P = GRID.centers()
POINTS = [(-0.4, 0.2, 0.0), (0.1, 0.7, 0.1), (0.4, 0.3, -0.2)]
DISTANCES: dict[str, tuple[Any, np.ndarray]] = {
    "sphere": (gf.Sphere((0.1, 0.4, 0), 0.2), np.linalg.norm(P - (0.1, 0.4, 0), axis=-1) - 0.2),
    "box": (
        gf.Box((0.1, 0.4, 0), (0.4, 0.2, 0.3)),
        np.linalg.norm(np.maximum(np.abs(P - (0.1, 0.4, 0)) - (0.2, 0.1, 0.15), 0), axis=-1),
    ),
    "cylinder": (
        gf.Cylinder((0.1, 0.4, 0.05), 0.2, 0.3),
        np.hypot(
            np.maximum(np.hypot(P[..., 0] - 0.1, P[..., 2] - 0.05) - 0.2, 0),
            np.maximum(np.abs(P[..., 1] - 0.4) - 0.15, 0),
        ),
    ),
    "capsule": (gf.Capsule(POINTS[0], POINTS[1], 0.12), to_segment(P, *POINTS[:2]) - 0.12),
    "plane": (gf.Plane((0, 0.3, 0), (3, 4, 0)), (P - (0, 0.3, 0)) @ (0.6, 0.8, 0.0)),
    "line": (
        gf.Line(POINTS, 0.08),
        np.minimum(to_segment(P, *POINTS[:2]), to_segment(P, *POINTS[1:])) - 0.08,
    ),
}


@pytest.mark.parametrize(("name", "style", "backend"), in_pairs(DISTANCES, ["gaussian", "hard"], DRAWN))
def test_shares_follow_the_distance(name: str, style: str, backend: str) -> None:
    shape, outside = DISTANCES[name]
    emitter = gf.Emitter(shape, density=2.0, fuel=3.0, temperature=5.0, edge=style, falloff=0.07)
    got = emitted(backend, emitter)
    if style == "gaussian":
        share = edge(outside, 0.07)
        np.testing.assert_allclose(got["density"], share, atol=2e-5)
    else:
        share = covered(
            shape
        )  # by counting; what is taken for flat across a cell is not, and corners are not cut
        assert np.abs(got["density"] - share).max() < (0.22 if name == "line" else 0.2)
        assert got["density"].sum() == pytest.approx(share.sum(), rel=0.04)
        whole = share > 1 - 1e-9
        np.testing.assert_allclose(got["density"][whole], 1.0, atol=2e-5)
        share = got["density"]
    assert 50 < (share > 1 - 1e-5).sum() < share.size / 2
    np.testing.assert_allclose(got["fuel"], 1.5 * share, atol=3e-5)
    np.testing.assert_allclose(
        got["temperature"], 5 * (1 - (1 - share) ** 15), atol=1e-4
    )  # thirtieths of a s
    assert not got["velocity"].any()


@pytest.mark.parametrize("backend", DRAWN)
def test_a_hard_source_emits_its_volume_wherever_it_stands_and_whatever_the_grid(backend: str) -> None:
    """Thin ones too, and ones that are moved by part of a cell; none of it comes in jumps."""
    shapes = {
        gf.Box((0, 0.5, 0), (0.4, 0.03, 0.33)): 0.4 * 0.03 * 0.33,
        gf.Cylinder((0, 0.5, 0), 0.2, 0.03): math.pi * 0.2**2 * 0.03,
        gf.Sphere((0, 0.5, 0), 0.2): 4 / 3 * math.pi * 0.2**3,
    }
    for shape, volume in shapes.items():
        for cells in ((12, 10, 8), (24, 20, 16)):
            grid = gf.Grid(cells, 1.2 / cells[0], GRID.origin)
            totals, before = [], None
            for part in (0.0, 0.15, 0.3, 0.45) if backend == "numpy" else (0.3,):
                place = (part * grid.cell_size, 0.6 * part * grid.cell_size, 0.0)
                emitter = gf.Emitter(shape, density=2.0, edge="hard", position=place)
                got = emitted(backend, emitter, grid, PUT)["density"]
                totals.append(got.sum() * grid.cell_size**3)
                if before is not None:  # no cell gains more than the shape has moved
                    assert np.abs(got - before).max() < 0.15 + 0.09 + 0.02
                before = got
            np.testing.assert_allclose(totals, volume, rtol=0.01 if isinstance(shape, gf.Box) else 0.02)


@pytest.mark.parametrize("flat", [False, True], ids=["3D", "2D"])
@pytest.mark.parametrize("cells", [0.1, 0.5, 0.7, 1.0, 3.0])
def test_round_sources_of_any_size_emit_their_volume(cells: float, flat: bool) -> None:
    """Balls, rods and lines of a radius of so many cells: the mean over places within 3 %, each near it."""
    rng, grid = np.random.default_rng(7), gf.Grid((14, 13, 1 if flat else 12), 0.1, (-0.7, -0.65, -0.6))
    r, start, end = (
        cells * grid.cell_size,
        np.array((-0.2, -0.1, 0.0)),
        np.array((0.2, 0.1, 0.15 * (not flat))),
    )
    ball, disc, length = 4 / 3 * math.pi * r**3, math.pi * r**2, float(np.linalg.norm(end - start))
    rod = disc + 2.0 * r * length if flat else ball + disc * length
    spread = 0.22 if cells < 1.0 else 0.09 if cells < 1.5 else 0.05
    shapes: dict[str, tuple[Source, float]] = {
        "ball": (gf.Sphere((0, 0, 0), r), disc if flat else ball),
        "capsule": (gf.Capsule(tuple(start), tuple(end), r), rod),
        "line": (gf.Line([start, 0.5 * (start + end), end], r), rod),
        "cylinder": (gf.Cylinder((0, 0, 0), r, 0.4), 0.8 * r if flat else 0.4 * disc),
        "upright": (gf.Capsule((0, 0, -0.2), (0, 0, 0.2), r), disc if flat else ball + 0.4 * disc),
    }
    for name, (shape, volume) in shapes.items():
        totals = []
        for _ in range(8 if name == "line" else 16):
            x, y, z = rng.uniform(-0.05, 0.05, 3).tolist()
            emitter = gf.Emitter(shape, density=2.0, edge="hard", position=(x, y, z))
            got = emitted("numpy", emitter, grid, PUT)["density"]
            totals.append(got.sum() * grid.cell_size**grid.dimensions)
        assert np.mean(totals) == pytest.approx(volume, rel=0.03), name
        np.testing.assert_allclose(totals, volume, rtol=spread, err_msg=name)


@pytest.mark.parametrize(
    ("cells", "spread"), [((5, 3, 4), 0.05), ((6, 0.1, 4), 0.45), ((0.5, 0.5, 0.5), 0.75)]
)
def test_turned_boxes_emit_their_volume(cells: tuple[float, float, float], spread: float) -> None:
    """As near as `gf.Emitter` says of hard edges, wherever they stand."""
    rng, totals, before = np.random.default_rng(5), [], 0.0
    with gf.Fluid(gf.Grid((13, 12, 11), 1.0), settings=PUT, backend="numpy") as fluid:
        source = fluid.emitters.add(gf.Emitter(gf.Box(size=cells), density=1.0, edge="hard"))
        for _ in range(12):
            x, y, z = rng.uniform(-0.5, 0.5, 3)
            source.position, source.rotation = (6.5 + x, 6.0 + y, 5.5 + z), rng.normal(size=4)
            fluid.step(1.0)
            after = float(fluid.density.read().sum(dtype=np.float64))
            totals.append((after - before) / math.prod(cells))
            before = after
    np.testing.assert_allclose(totals, 1.0, rtol=spread)


def test_hard_shares_of_what_has_no_formula_are_those_covered() -> None:
    ball, line = gf.Mesh.icosphere(3, 0.25, (0.0, 0.5, 0.0)), gf.Line([(-0.3, 0.5, 0), (0.3, 0.5, 0.02)], 0.1)
    for shape, volume in (
        (ball, 4 / 3 * math.pi * 0.25**3),
        (line, math.pi * (0.1**2 * np.hypot(0.6, 0.02) + 4 / 3 * 0.1**3)),
        (gf.Surface(ball, 0.03), 4 * math.pi * 0.25**2 * 0.03),
        (gf.Image(np.ones((4, 4)), (0, 0.5, 0.0), (0.4, 0.4), 0.02), 0.4**2 * 0.02),
    ):
        total = source_mask(GRID, shape, np.eye(4), None).sum() * GRID.cell_size**3
        assert total == pytest.approx(volume, rel=0.01)
    flat = gf.Grid((24, 20, 1), 0.05, (-0.6, 0.0, 3.0))
    share = source_mask(flat, gf.Mesh.box((0.33, 0.21, 0.01), (0.013, 0.5, 0.0)), np.eye(4), None)
    assert share.max() == 1.0
    assert share.sum() * 0.05**2 == pytest.approx(0.33 * 0.21, rel=0.01)


@pytest.mark.parametrize("backend", DRAWN)
@pytest.mark.parametrize(
    ("shape", "straight"),
    [
        (gf.Box((0.2, 0, 0), (0.4, 0.1, 0.2)), gf.Box((0, 0, 0), (0.1, 0.4, 0.2))),
        (gf.Line([(0, 0, 0), (0.4, 0, 0)], 0.06), None),
        (gf.Mesh.box((0.4, 0.1, 0.2), (0.2, 0, 0)), None),
    ],
    ids=["box", "line", "mesh"],
)
def test_a_turned_source_is_the_source_turned(backend: str, shape: Source, straight: Source | None) -> None:
    """A quarter turn about z takes +x to +y."""
    quarter = (0.0, 0.0, math.sqrt(0.5), math.sqrt(0.5))
    grid = gf.Grid((16, 16, 8), 0.05, (-0.4, -0.4, -0.2))
    plain = emitted(backend, gf.Emitter(shape, density=2.0), grid)["density"]
    turned = emitted(backend, gf.Emitter(shape, density=2.0, rotation=quarter), grid)["density"]
    np.testing.assert_allclose(turned, np.flip(plain, 1).swapaxes(1, 2), atol=1e-5)
    moved = emitted(backend, gf.Emitter(shape, density=2.0, position=(-0.1, 0.05, 0)), grid)["density"]
    np.testing.assert_allclose(moved[:, 1:, :-2], plain[:, :-1, 2:], atol=1e-5)


@pytest.mark.parametrize("backend", DRAWN)
@pytest.mark.parametrize("name", ["sphere", "line"])
def test_a_source_sets_the_velocity_and_leaves_solids_alone(name: str, backend: str) -> None:
    with gf.Fluid(GRID, settings=gf.Settings(buoyancy=0.0, pressure=gf.Jacobi(0)), backend=backend) as fluid:
        fluid.obstacles.add(gf.Obstacle(gf.Sphere((0.1, 0.5, 0), 0.12)))
        shape = DISTANCES[name][0]
        fluid.emitters.add(gf.Emitter(shape, density=2.0, velocity=(1.0, 0.0, 0.0), edge="hard"))
        fluid.step(0.01)
        solid, u = fluid.solid.read() > 0.5, fluid.velocity.read()[:-1, :-1, 1:-1, 0]
        inner = ~(solid[..., 1:] | solid[..., :-1])
        assert not fluid.density.read()[solid].any()
        assert not u[~inner].any()
        assert u[inner].max() == pytest.approx(1.0)
        assert (u[inner] > 0.99).sum() > 30
        emitter = fluid.emitters[0]
        emitter.active = False
        before = fluid.diagnostics().mass
        fluid.step(0.01)
        assert fluid.diagnostics().mass == pytest.approx(before, rel=0.01)


@pytest.mark.parametrize(("source", "backend"), by_turns(["gaussian", "hard", "array"]))
def test_a_source_sets_as_much_a_second_in_many_steps_as_in_few(source: str, backend: str) -> None:
    """A layer of a stream, which nothing else changes; its edge has the share w and is set w in 1/30 s."""
    h, seconds = 0.1, 0.1
    y = (np.arange(14) + 0.5) * h
    beyond = np.maximum(np.abs(y - 0.73) - 0.22, 0.0)
    share = {
        "gaussian": edge(beyond, 0.2),
        "hard": np.clip((0.22 + 0.5 * h - np.abs(y - 0.73)) / h, 0.0, 1.0),
        "array": np.linspace(0.0, 0.9, 14),
    }[source]
    layer: Source = gf.Box((0.3, 0.73, 0.0), (2.0, 0.44, 1.0))
    if source == "array":
        layer = gf.Array(np.broadcast_to(share[:, None], (1, 14, 6)))
    style = "hard" if source == "hard" else "gaussian"
    free, around = gf.Wall("free"), gf.Periodic()
    sides = gf.Boundaries(left=around, right=around, bottom=free, top=free)
    for steps in (1, 3, 20):
        with gf.Fluid(gf.Grid((6, 14, 1), h), sides, gf.Settings(buoyancy=0.0), backend=backend) as fluid:
            fluid.emitters.add(
                gf.Emitter(layer, temperature=2.0, velocity=(0.5, 0, 0), edge=style, falloff=0.2)
            )
            for _ in range(steps):
                fluid.step(seconds / steps)
            expected = np.broadcast_to((1 - (1 - share) ** 3)[:, None], (14, 6))
            np.testing.assert_allclose(fluid.temperature.read()[0], 2 * expected, atol=2e-5)
            np.testing.assert_allclose(fluid.velocity.at_centers()[0, ..., 0], 0.5 * expected, atol=1e-5)


def test_a_mesh_source_is_its_volume_and_its_surface_a_sheet() -> None:
    ball = gf.Mesh.icosphere(3, 0.25, (0.0, 0.5, 0.0))  # nowhere more than 0.7 mm inside the round one
    out = np.linalg.norm(P - (0, 0.5, 0), axis=-1) - 0.25
    for width in (None, 0.06):
        volume = source_mask(GRID, ball, np.eye(4), width)
        sheet = source_mask(GRID, gf.Surface(ball, 0.1), np.eye(4), width)
        if width is None:
            np.testing.assert_allclose(volume, np.clip(0.5 - out / 0.05, 0, 1), atol=0.05)
            np.testing.assert_allclose(sheet, np.clip(0.5 + (0.05 - np.abs(out)) / 0.05, 0, 1), atol=0.05)
        else:
            np.testing.assert_allclose(volume, edge(out, width), atol=0.03)
            np.testing.assert_allclose(sheet, edge(np.abs(out) - 0.05, width), atol=0.03)


H = GRID.cell_size
THIN = {
    "cube of two cells": gf.Mesh.box((2 * H,) * 3),
    "cube of a third of one": gf.Mesh.box((0.3 * H,) * 3),
    "plate": gf.Mesh.box((0.4, 0.3, 0.3 * H)),
    "ball": gf.Mesh.icosphere(2, 1.3 * H),
    "knot": gf.Mesh.trefoil().fitted(0.4),
}


@pytest.mark.parametrize("name", THIN)
def test_thin_meshes_emit_their_volume_wherever_they_stand(name: str, rng: np.random.Generator) -> None:
    """Turned anyhow; beyond the sides of the box as if there were none; and solid cells have all of it."""
    mesh, wide = THIN[name], gf.Grid((36, 32, 28), H, (-0.9, -0.3, -0.7))
    for _ in range(4):
        matrix = np.eye(4)
        matrix[:3, :3] = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        matrix[:3, :3] *= np.linalg.det(matrix[:3, :3])
        matrix[:3, 3] = rng.uniform((0.0, 0.2, -0.3), (0.6, 0.8, 0.3))
        whole = source_mask(wide, mesh, matrix, None)
        assert whole.sum() * H**3 == pytest.approx(abs(mesh.volume), rel=1e-5)
        np.testing.assert_allclose(source_mask(GRID, mesh, matrix, None), whole[6:-6, 6:-6, 6:-6], atol=1e-9)
    if name == "cube of two cells":
        matrix[:3, :3], matrix[:3, 3] = np.eye(3), (0.0, 0.5, 0.0)
        assert source_mask(GRID, gf.Mesh.box((4 * H,) * 3), matrix, None).max() == 1.0


def test_what_is_inside_out_in_part_is_not_taken_for_thin() -> None:
    """Two balls, one with its triangles turned: their signed volume is the difference, and both emit."""
    one, two = gf.Mesh.icosphere(2, 2 * H, (-0.2, 0.5, 0.0)), gf.Mesh.icosphere(2, 1.5 * H, (0.2, 0.5, 0.0))
    triangles = np.concatenate([one.triangles, two.triangles[:, ::-1] + len(one.vertices)])
    both = gf.Mesh(np.concatenate([one.vertices, two.vertices]), triangles)
    volume = abs(one.volume) + abs(two.volume)
    assert abs(both.volume) < 0.5 * volume
    assert source_mask(GRID, both, np.eye(4), None).sum() * H**3 == pytest.approx(volume, rel=0.12)


def test_distance_to_single_triangles(rng: np.random.Generator) -> None:
    """Against the nearest of many points of the triangle."""
    from gpufluid.description.masks import _to_triangle

    corners, points = rng.normal(size=(40, 3, 3)), rng.normal(size=(40, 3)) * 2
    corners[0] = corners[0, 0]  # a point
    corners[1, 2] = 0.3 * corners[1, 0] + 0.7 * corners[1, 1]  # a line
    s, t = (v.ravel() for v in np.meshgrid(np.linspace(0, 1, 301), np.linspace(0, 1, 301)))
    s, t = s[s + t <= 1], t[s + t <= 1]
    got = np.sqrt(_to_triangle(points, *np.moveaxis(corners, 1, 0)))
    for point, triangle, distance in zip(points, corners, got, strict=True):
        a, b, c = triangle
        on = a + s[:, None] * (b - a) + t[:, None] * (c - a)
        nearest = np.linalg.norm(on - point, axis=1).min()
        assert distance <= nearest + 1e-12
        assert distance == pytest.approx(nearest, abs=1e-3)


def test_bezier_goes_where_its_curve_goes() -> None:
    control = np.array([(-0.4, 0.2, 0.0), (-0.4, 0.9, 0.0), (0.4, 0.9, 0.1), (0.4, 0.2, 0.1)])
    curve = gf.Bezier(control, 0.07)
    t = np.linspace(0, 1, 2001)[:, None]
    fine = sum(math.comb(3, i) * (1 - t) ** (3 - i) * t**i * control[i] for i in range(4))
    distance = np.min([np.linalg.norm(P - q, axis=-1) for q in fine], axis=0) - 0.07
    got = source_mask(GRID, curve, np.eye(4), 0.06)
    np.testing.assert_allclose(got, edge(distance, 0.06), atol=0.02)
    assert len(gf.Bezier(np.zeros((7, 3)) + np.arange(7)[:, None], 1.0).path) == 65


def test_a_picture_stands_upright() -> None:
    """Top row up, first column left (-x), one cell thick; black pixels emit nothing."""
    pixels = np.zeros((2, 2))
    pixels[0, 0], pixels[1, 1] = 1.0, 0.5
    grid = gf.Grid((8, 8, 5), 0.1, (0.0, 0.0, 0.0))
    got = source_mask(grid, gf.Image(pixels, (0.4, 0.4, 0.25), (0.8, 0.8)), np.eye(4), None)
    assert [k for k in range(5) if got[k].max() > 1e-9] == [2]
    sheet = got[2]
    assert sheet[5, 2] == pytest.approx(0.75**2 + 0.5 * 0.25**2, abs=0.2)
    assert sheet[5:, :3].min() > 0.3 > sheet[5:, 5:].max()
    assert sheet[:3, 5:].mean() == pytest.approx(0.5 * sheet[5:, :3].mean(), rel=0.01)
    back = source_mask(
        grid,
        gf.Image(pixels, (0, 0, 0), (0.8, 0.8)),
        gf.Emitter(gf.Sphere(), position=(0.4, 0.4, 0.25)).matrix,
        None,
    )
    np.testing.assert_allclose(back, got)


def test_a_fine_picture_is_averaged_not_picked() -> None:
    stripes = np.indices((256, 256))[1] % 4 == 0
    grid = gf.Grid((8, 8, 3), 0.1)
    got = source_mask(grid, gf.Image(stripes.astype(float), (0.4, 0.4, 0.15), (0.8, 0.8)), np.eye(4), None)
    np.testing.assert_allclose(got[1, 1:-1, 1:-1], 0.25)


def test_grey_pictures_of_16_bits_keep_their_shades(tmp_path: Path) -> None:
    """They were white from 256 of 65535 on, and one of floats black, or white."""
    from PIL import Image as Picture

    grey = np.linspace(0, 65535, 12).reshape(3, 4)
    for name, dtype in (("a.png", "<u2"), ("a.tiff", "<u2"), ("b.tiff", ">u2")):
        Picture.fromarray(grey.astype(dtype)).save(tmp_path / name)
        assert gf.Image(tmp_path / name).pixels == pytest.approx(grey / 65535, abs=1 / 255)
    for dtype in (np.float32, np.int32):
        Picture.fromarray(grey.astype(dtype)).save(tmp_path / "c.tiff")
        with pytest.raises(gf.GpufluidError, match=r"c.tiff cannot be read: .* has 32 bits, and .* 16"):
            gf.Image(tmp_path / "c.tiff")


def test_picture_files(tmp_path: Path) -> None:
    from PIL import Image as Picture

    logo = np.zeros((4, 6, 4), np.uint8)
    logo[:2, :, 3] = 255  # black, but there
    Picture.fromarray(logo).save(tmp_path / "logo.png")
    assert gf.Image(tmp_path / "logo.png").pixels[0, 0] == 1.0
    assert gf.Image(str(tmp_path / "logo.png")).pixels[3].max() == 0.0
    logo[..., :3] = (255, 0, 0)
    assert gf.Image(logo).pixels[0, 0] == pytest.approx(0.2126)
    with pytest.raises(ValueError, match="no.png does not exist"):
        gf.Image(tmp_path / "no.png")
    (tmp_path / "bad.png").write_bytes(b"no picture")
    with pytest.raises(ValueError, match="bad.png cannot be read"):
        gf.Image(tmp_path / "bad.png")


@pytest.mark.parametrize("backend", DRAWN)
def test_a_logo_stands_in_the_box_and_evaporates(backend: str) -> None:
    disc = (np.hypot(*(np.indices((32, 32)) - 15.5)) < 14).astype(float)
    grid = gf.Grid((16, 20, 9), 0.05)
    with gf.Fluid(
        grid, settings=gf.Settings(buoyancy=3.0, density_dissipation=1.0), backend=backend
    ) as fluid:
        logo = fluid.emitters.add(
            gf.Emitter(
                gf.Image(disc, (0.4, 0.35, 0.225), (0.5, 0.5)), density=20.0, temperature=1.0, edge="hard"
            )
        )
        fluid.step(0.05)
        logo.active = False
        stands = fluid.density.read()
        assert stands[4, 7, 8] == pytest.approx(1.0 * math.exp(-0.05), rel=1e-5)
        assert stands.sum() * grid.cell_size**2 == pytest.approx(math.pi * (14 / 32 * 0.5) ** 2, rel=0.1)
        low = (stands.sum((0, 2)) @ np.arange(20)) / stands.sum()
        for _ in range(20):
            fluid.step(0.05)
        rest = fluid.density.read()
        assert rest.sum() == pytest.approx(stands.sum() * math.exp(-1.0), rel=0.15)
        assert (rest.sum((0, 2)) @ np.arange(20)) / rest.sum() > low + 2


@pytest.mark.parametrize("backend", DRAWN)
def test_an_array_is_taken_cell_by_cell(backend: str, rng: np.random.Generator) -> None:
    shares = rng.random(GRID.cells[::-1])
    got = emitted(backend, gf.Emitter(gf.Array(shares), density=30.0, temperature=3.0), dt=1 / 30)
    np.testing.assert_allclose(got["density"], shares, atol=1e-6)
    np.testing.assert_allclose(got["temperature"], 3 * shares, atol=1e-6)
    with gf.Fluid(GRID, backend=backend) as fluid:
        emitter = gf.Emitter(gf.Array(np.ones((2, 3, 4))))
        with pytest.raises(ValueError, match=r"shape \(16, 20, 24\) of this fluid's grid, got \(2, 3, 4\)"):
            fluid.emitters.add(emitter)
        added = fluid.emitters.add(gf.Emitter(gf.Sphere((0, 0.5, 0), 0.2), density=1.0))
        fluid.step(0.1)
        before = fluid.density.read()
        added.shape = emitter.shape
        with pytest.raises(ValueError, match="of this fluid's grid"):
            fluid.step(0.1)
        assert np.array_equal(before, fluid.density.read())


@pytest.mark.parametrize("name", ["box", "line"])
def test_in_2d_a_source_is_cut_through_its_middle(name: str) -> None:
    grid = gf.Grid((24, 20, 1), 0.05, (-0.6, 0.0, 3.0))
    far = {
        "box": gf.Box((0.1, 0.4, 0), (0.4, 0.2, 0.01)),
        "line": gf.Line([(-0.3, 0.4, 0), (0.3, 0.4, 0)], 0.1),
    }
    for backend in DRAWN:
        got = emitted(backend, gf.Emitter(far[name], density=2.0, edge="hard"), grid)["density"]
        assert got.max() == pytest.approx(1.0)
        assert got.sum() > 20


# Noise


@pytest.mark.parametrize("shape", [gf.Box((0, 0.5, 0), (0.9, 0.8, 0.6)), gf.Array(np.ones(GRID.cells[::-1]))])
def test_noise_takes_some_away_the_same_each_time(shape: Source) -> None:
    def one(backend: str, **changes: Any) -> np.ndarray:
        given = {"density": 2.0, "noise": 0.8, "noise_size": 0.15, "seed": 5, "edge": "hard", **changes}
        return emitted(backend, gf.Emitter(shape, **given))["density"]

    got = {backend: one(backend) for backend in EVERYWHERE}
    assert np.array_equal(got["fragment"], one("fragment"))
    for backend in EVERYWHERE[1:]:
        np.testing.assert_allclose(got[backend], got["numpy"], atol=1e-4)
    inside = got["numpy"][4:12, 5:15, 6:18]
    assert 0.2 <= inside.min() < 0.4 and 0.8 < inside.max() <= 1.0
    assert inside.mean() == pytest.approx(0.6, abs=0.08)
    assert np.abs(one("numpy", seed=6) - got["numpy"]).max() > 0.2
    whole = one("numpy", noise=0.0)[4:12, 5:15, 6:18]
    np.testing.assert_allclose(whole, 1.0)


def test_noise_moves_on_without_a_jump() -> None:
    emitter = gf.Emitter(gf.Array(np.ones(GRID.cells[::-1])), density=1.0, noise=1.0, noise_time=0.4)
    with gf.Fluid(GRID, settings=PUT, backend="numpy") as fluid:
        fluid.emitters.add(emitter)
        added, before = [], fluid.density.read()
        for _ in range(20):
            fluid.step(0.1)
            added.append(fluid.density.read() - before)
            before = fluid.density.read()
        assert fluid.time == pytest.approx(2.0)
        changes = [np.abs(b - a).max() for a, b in itertools.pairwise(added)]
        assert max(changes) <= 0.1 / 4 * 1.01  # a fourth of the way to the next patches
        assert min(changes) > 0.01
        assert np.abs(added[0] - added[8]).mean() > 0.01
        fluid.reset()
        assert fluid.time == 0.0
        fluid.step(0.1)
        np.testing.assert_allclose(fluid.density.read(), added[0], atol=1e-6)


# What is kept


def test_a_mask_is_made_once_and_again_when_its_source_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    import gpufluid.numerics.emission

    made = []
    real = gpufluid.numerics.emission.source_mask
    monkeypatch.setattr(gpufluid.numerics.emission, "source_mask", lambda *a: made.append(a) or real(*a))
    with gf.Fluid(GRID, settings=STILL, backend="fragment") as fluid:
        line = fluid.emitters.add(gf.Emitter(gf.Line(POINTS, 0.1), density=1.0))
        for _ in range(3):
            fluid.step(0.02)
        assert len(made) == 1
        line.position = (0.1, 0, 0)
        fluid.step(0.02)
        assert len(made) == 2
        line.density = 3.0
        line.noise = 0.5
        fluid.step(0.02)
        assert len(made) == 2
        line.edge = "hard"
        fluid.step(0.02)
        assert len(made) == 3
        masks = fluid._solver.emission._masks
        assert len(masks._kept) == 1
        fluid.emitters.clear()
        fluid.step(0.02)
        assert not masks._kept


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: gf.Line([(0, 0, 0)]), r"Line.points must be two or more points \(x, y, z\), got the shape"),
        (lambda: gf.Line([(0, 0, 0), (0, math.nan, 0)]), "Line.points must be finite, but point 1"),
        (lambda: gf.Line([(0, 0, 0), (1, 0, 0)], 0), "Line.radius must be a finite number > 0"),
        (lambda: gf.Bezier(np.eye(3), 1), "Bezier.points must be 4, 7, 10"),
        (lambda: gf.Surface(gf.Sphere()), "Surface.mesh must be a gf.Mesh"),
        (lambda: gf.Surface(gf.Mesh.box(), -1), "Surface.thickness must be a finite number > 0"),
        (lambda: gf.Image(np.zeros((2, 2, 2))), r"Image.source must be an array \[height, width"),
        (lambda: gf.Image(np.full((2, 2), 3.0)), r"Image.source must be in 0 .. 1, got 3 at \(0, 0, 0\)"),
        (lambda: gf.Image(np.zeros((2, 2)), size=1.0), r"Image.size must be two numbers"),
        (lambda: gf.Image(np.zeros((2, 2)), size=(1.0, 0)), r"Image.size height must be a finite number > 0"),
        (lambda: gf.Array(np.zeros((2, 2))), "Array.values must have 3 dimensions"),
        (
            lambda: gf.Array(np.full((1, 1, 2), np.nan)),
            r"Array.values must be in 0 .. 1, got nan at \(0, 0, 0\)",
        ),
        (lambda: gf.Cylinder(radius=0), "Cylinder.radius must be a finite number > 0"),
        (lambda: gf.Cylinder(height=math.inf), "Cylinder.height must be a finite number > 0"),
        (
            lambda: gf.Capsule((0, 0, 0), (0, 0, 0)),
            r"Capsule.end must differ from its start \(0.0, 0.0, 0.0\)",
        ),
        (lambda: gf.Capsule(radius=-1), "Capsule.radius"),
        (lambda: gf.Plane(normal=(0, 0, 0)), r"Plane.normal must not be \(0, 0, 0\)"),
    ],
)
def test_bad_sources_and_shapes_are_named(make: Any, says: str) -> None:
    with pytest.raises(gf.GpufluidError, match=says):
        make()


# -- on its way ----------------------------------------------------------------------------------------------


def trail(backend: str, motion: float, dt: float = 1 / 30, **given: Any) -> np.ndarray:
    """Density after the way of an emitter that goes 6 m/s along x."""
    with gf.Fluid(gf.Grid((96, 12, 12), 1 / 48), settings=PUT, backend=backend) as fluid:
        source = fluid.emitters.add(gf.Emitter(**{"shape": gf.Sphere(radius=0.05), "density": 30.0, **given}))
        source.motion = (motion, 0.0, 0.0)
        for n in range(round(0.3 / dt)):
            source.position = (0.1 + 6.0 * dt * (n + 1), 0.125, 0.125)
            fluid.step(dt)
        assert source.density == 30.0  # what is emitted on the way is not the emitter's own
        return np.asarray(fluid.density.read())


@pytest.mark.parametrize(
    ("given", "backend"), by_turns([{}, {"edge": "hard"}, {"shape": gf.Box(size=(0.1, 0.1, 0.1))}])
)
def test_a_fast_emitter_leaves_a_trail_and_not_a_row_of_puffs(given: dict[str, Any], backend: str) -> None:
    """Each puff is 9.6 cells from the last one, and 4.8 wide."""
    puffs, even = trail(backend, 0.0, **given), trail(backend, 6.0, **given)
    middle = slice(24, 72)
    assert np.ptp(puffs[6, 6, middle]) > 0.9 * puffs[6, 6, middle].mean()
    assert np.ptp(even[6, 6, middle]) < 0.05 * even[6, 6, middle].mean()
    assert even.sum() == pytest.approx(puffs.sum(), rel=0.005)
    finer = trail(backend, 6.0, dt=1 / 120, **given)  # the same way in steps a fourth as long
    assert np.abs(finer - even)[..., middle].max() < 0.1 * even.max()


def test_a_moving_emitter_sets_what_it_sets_all_along(ctx: moderngl.Context) -> None:
    rules = gf.Settings(solve_velocity=False, buoyancy=0.0)
    with gf.Fluid(gf.Grid((64, 8, 8), 1 / 32), settings=rules, ctx=ctx) as fluid:
        ball = gf.Sphere((1.6, 0.125, 0.125), 0.06)
        fluid.emitters.add(gf.Emitter(ball, temperature=2.0, color=(3.0, 0.0, 6.0), motion=(36.0, 0.0, 0.0)))
        fluid.step(1 / 30)
        way = slice(16, 48)  # 1.2 m, which 16 places stand along
        assert fluid.temperature.read()[4, 4, way].min() > 1.9
        color = fluid.color.read()[4, 4, way]
        assert np.ptp(color[:, 0]) < 0.2 * color[:, 0].mean()
        assert color[:, 2] == pytest.approx(2.0 * color[:, 0], rel=1e-4)


@pytest.mark.parametrize("backend", ["numpy", "auto"])
def test_a_bar_that_moves_along_itself_sets_what_it_sets_at_rest(backend: str) -> None:
    """Of all the places on its way each sets its share: at 5 m/s each of eight set all of it."""
    rules, sides = gf.Settings(solve_velocity=False), gf.Boundaries.all(gf.Periodic())
    fields = []
    for speed, steps in ((0.0, 1), (5.0, 1), (5.0, 4), (1.0, 1)):
        with gf.Fluid(gf.Grid((8, 12, 12), 1 / 16), sides, rules, backend) as fluid:
            bar = gf.Box((0.25, 0.4, 0.35), (0.5, 0.2, 0.2))
            fluid.emitters.add(
                gf.Emitter(bar, density=2.0, temperature=1.0, falloff=0.2, motion=(speed, 0.0, 0.0))
            )
            for _ in range(steps):
                fluid.step(0.1 / steps)
            fields.append((fluid.temperature.read(), fluid.density.read()))
    for moving in fields[1:]:
        np.testing.assert_allclose(moving, fields[0], atol=5e-5)


def test_an_emitter_that_does_not_move_costs_and_changes_nothing() -> None:
    from gpufluid.numerics.emission import on_its_way

    still = gf.Emitter(gf.Sphere(radius=0.1))
    assert on_its_way(still, 0.1, 0.0, 0.1) == (still,)
    for shape in (gf.Array(np.ones((4, 4, 4))), gf.Mesh.icosphere(1), gf.Line([(0, 0, 0), (1, 0, 0)], 0.1)):
        # worked out on the CPU: for each place of a knot in 32^3 that took 0.4 s
        one = gf.Emitter(shape, motion=(1.0, 0.0, 0.0))
        assert on_its_way(one, 0.1, 0.0, 0.01) == (one,)
    far = gf.Emitter(gf.Sphere(radius=0.1), motion=(0.0, 1e30, 0.0))
    assert len(on_its_way(far, 0.1, 0.0, 0.1)) == 16
    with pytest.raises(gf.GpufluidError, match="Emitter.motion"):
        gf.Emitter(gf.Sphere(), motion=(0.0, math.nan, 0.0))
    with gf.Fluid(gf.Grid((4, 4, 4)), backend="fragment") as fluid:
        fluid.emitters.add(gf.Emitter(gf.Sphere((2, 2, 2), 1.0), density=1.0, motion=(0.0, 1e37, 0.0)))
        fluid.step(0.1)
        assert np.isfinite(fluid.density.read()).all()


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_patches_too_small_to_count_take_no_more_than_their_share(backend: str) -> None:
    """There are more of them in a metre than whole numbers, or than floats: of each cell one counts."""
    jet = gf.Emitter(gf.Sphere((1.0, 0.8, 0.7), 0.5), density=2.0, edge="hard", noise=0.8)
    with gf.Fluid(gf.Grid((10, 8, 7), 0.2), settings=gf.Settings(**REST), backend=backend) as fluid:
        fluid.emitters.add(jet)
        for jet.noise_size in (1e-9, 1e-30, 1e-38, 5e-324):
            fluid.reset()
            fluid.step(0.1)
            smoke = fluid.density.read()
            assert 0.2 * 0.2 - 1e-6 <= smoke[3, 4, 5] <= 0.2 + 1e-6
            assert smoke.min() >= 0.0
