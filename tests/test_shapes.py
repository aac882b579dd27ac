"""Spheres, boxes, meshes, emitters and obstacles: what they accept, and what they say when they do not."""

from __future__ import annotations

import logging
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

import moderngl
import numpy as np
import pytest

import gpufluid as gf
from gpufluid.common.errors import GpufluidError, MissingDependencyError
from gpufluid.description.mesh import MESH_SUFFIXES, Mesh, normals_of, parted_at_creases
from gpufluid.description.obstacles import Obstacle
from gpufluid.description.shapes import Box, Sphere
from gpufluid.description.sources import Emitter

MAKERS = {
    "icosphere": Mesh.icosphere(3),
    "box": Mesh.box((1.0, 2.0, 3.0), (4.0, 5.0, 6.0)),
    "cylinder": Mesh.cylinder(0.7, 1.5, 24, (1.0, 2.0, 3.0)),
    "capsule": Mesh.capsule((0.0, 1.0, 2.0), (1.0, -1.0, 0.5), 0.4),
    "torus": Mesh.torus(),
    "trefoil": Mesh.trefoil(),
}
TRIANGLE = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
QUARTER_TURN_Z = [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]


def face_normals(mesh: Mesh) -> np.ndarray:
    """Unit normals of the triangles, [t, 3]."""
    a, b, c = np.moveaxis(mesh.vertices[mesh.triangles], 1, 0)
    normal = np.cross(b - a, c - a)
    return normal / np.linalg.norm(normal, axis=1, keepdims=True)


def trefoil_points(count: int) -> np.ndarray:
    """The trefoil's curve at equal steps of its parameter, [count, 3], not scaled."""
    t = np.arange(count) * (2.0 * np.pi / count)
    return np.stack([np.sin(t) + 2 * np.sin(2 * t), np.cos(t) - 2 * np.cos(2 * t), -np.sin(3 * t)], axis=1)


# Sphere and Box


def test_sphere_and_box_keep_floats() -> None:
    assert Sphere(np.array([1, 2, 3]), 2) == Sphere((1.0, 2.0, 3.0), 2.0)
    box = Box.from_corners((0, -1, 2), (1, 1, 5))
    assert box == Box((0.5, 0.0, 3.5), (1.0, 2.0, 3.0))
    assert box.half_size == (0.5, 1.0, 1.5)
    assert {Sphere(): 1}[Sphere()] == 1


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Sphere((0, 0, float("nan"))), "Sphere.center"),
        (lambda: Sphere((0, 0)), "Sphere.center"),
        (lambda: Sphere(radius=0), r"Sphere.radius must be a finite number > 0, got 0"),
        (lambda: Sphere(radius=-1), "Sphere.radius"),
        (lambda: Sphere(radius=float("inf")), "Sphere.radius"),
        (lambda: Sphere(radius="wide"), "Sphere.radius must be a number, got 'wide'"),
        (lambda: Box((0, float("inf"), 0)), "Box.center"),
        (lambda: Box(size=(1, 0, 1)), r"Box.size must be > 0 along x, y and z, got \(1.0, 0.0, 1.0\)"),
        (lambda: Box(size=(1, 1, -1)), "Box.size"),
        (lambda: Box(size=2.0), "Box.size must be three numbers"),
        (lambda: Box.from_corners((0, 0, 0), (1, 0, 1)), "high corner must lie above its low corner"),
        (lambda: Box.from_corners((0, 0, 0), (1, float("nan"), 1)), "Box high corner"),
    ],
)
def test_bad_sphere_or_box_is_named(make, says) -> None:
    with pytest.raises(GpufluidError, match=says):
        make()


# Mesh: what it takes


def test_mesh_keeps_locked_copies() -> None:
    vertices, triangles = np.array(TRIANGLE), np.array([[0, 1, 2]], dtype=np.int32)
    mesh = Mesh(vertices, triangles)
    vertices[:] = 9.0
    triangles[:] = 9
    np.testing.assert_array_equal(mesh.vertices, TRIANGLE)
    np.testing.assert_array_equal(mesh.triangles, [[0, 1, 2]])
    assert (mesh.vertices.dtype, mesh.triangles.dtype) == (np.float64, np.int32)
    assert mesh.vertices.flags.c_contiguous and mesh.triangles.flags.c_contiguous
    for array in (mesh.vertices, mesh.triangles, *mesh.bounds, mesh.normals):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_mesh_takes_other_number_types() -> None:
    mesh = Mesh(np.array(TRIANGLE, np.float32, order="F"), np.array([[0, 1, 2]], np.uint64))
    np.testing.assert_array_equal(mesh.vertices, TRIANGLE)
    np.testing.assert_array_equal(mesh.triangles, [[0, 1, 2]])
    assert (mesh.vertices.dtype, mesh.triangles.dtype) == (np.float64, np.int32)
    assert mesh.vertices.flags.c_contiguous


def test_mesh_drops_triangles_that_name_a_vertex_twice() -> None:
    mesh = Mesh(TRIANGLE, [[0, 0, 1], [0, 1, 2], [1, 2, 1], [2, 0, 0]])
    np.testing.assert_array_equal(mesh.triangles, [[0, 1, 2]])


@pytest.mark.parametrize(
    ("vertices", "triangles", "says"),
    [
        (
            [[0, 0], [1, 0], [0, 1]],
            [[0, 1, 2]],
            r"vertices must be an array \[v, 3\], got the shape \[3, 2\]",
        ),
        ([0, 1, 2], [[0, 1, 2]], r"got the shape \[3\]"),
        ("cow", [[0, 1, 2]], "vertices must be numbers"),
        ([[0, 0, 0], [1, 0]], [[0, 1, 2]], "vertices must be numbers"),
        ([[0, 0, 0], [1, 0, float("nan")], [0, 1, 0]], [[0, 1, 2]], "must be finite, but vertex 1 is"),
        ([[0, 0, 0], [1, 0, 0], [float("inf"), 1, 0]], [[0, 1, 2]], "must be finite, but vertex 2 is"),
        (TRIANGLE, [], "at least one triangle"),
        (TRIANGLE, np.zeros((0, 3), int), "at least one triangle"),
        (TRIANGLE, [[0, 1]], r"triangles must be an array \[t, 3\], got the shape \[1, 2\]"),
        (TRIANGLE, [[0, 1, 2], [0, 1]], "triangles must be whole numbers"),
        (TRIANGLE, [[0.0, 1.0, 2.0]], "triangles must be whole numbers, got the type float64"),
        (TRIANGLE, [[0, 1, 2], [0, 1, 3]], r"must name vertices 0 .. 2, but triangle 1 is \[0, 1, 3\]"),
        (TRIANGLE, [[0, 1, -1]], "must name vertices 0 .. 2, but triangle 0"),
        (TRIANGLE, [[0, 0, 1], [2, 2, 2]], "three different vertices, got none in 2"),
    ],
)
def test_bad_mesh_is_named(vertices, triangles, says) -> None:
    with pytest.raises(GpufluidError, match=says):
        Mesh(vertices, triangles)


# Mesh: what it knows


@pytest.mark.parametrize("name", MAKERS)
def test_made_meshes_are_closed_and_face_outward(name: str) -> None:
    mesh = MAKERS[name]
    assert mesh.is_closed
    assert mesh.volume > 0.0


def test_made_meshes_have_their_volumes() -> None:
    assert MAKERS["box"].volume == pytest.approx(6.0, rel=1e-14)
    np.testing.assert_array_equal(MAKERS["box"].bounds, [[3.5, 4.0, 4.5], [4.5, 6.0, 7.5]])
    sphere = [Mesh.icosphere(n, radius=2.0, center=(5.0, 0.0, 0.0)) for n in (3, 4, 5)]
    missing = [1.0 - mesh.volume / (32.0 / 3.0 * np.pi) for mesh in sphere]
    order = np.log2(np.array(missing[:-1]) / missing[1:])
    assert missing[2] < 1e-3
    np.testing.assert_allclose(order, 2.0, atol=0.02)
    # Pappus: the area of a cross-section, a polygon, times the way its centre goes.
    section = 0.5 * 32 * 0.3**2 * np.sin(2 * np.pi / 32)
    assert MAKERS["torus"].volume == pytest.approx(section * 2 * np.pi, rel=2e-3)


def test_made_meshes_take_their_counts() -> None:
    assert len(Mesh.icosphere(0).triangles) == 20
    assert len(Mesh.icosphere(2).triangles) == 320
    assert len(Mesh.icosphere(2).vertices) == 162
    assert len(Mesh.torus(segments=7, sides=5).triangles) == 70
    assert len(Mesh.trefoil(segments=30, sides=4).triangles) == 240
    assert repr(Mesh.box()) == "Mesh(8 vertices, 12 triangles)"


def test_icosphere_lies_on_its_sphere() -> None:
    mesh = Mesh.icosphere(3, radius=0.25, center=(1.0, 2.0, 3.0))
    outward = (mesh.vertices - (1.0, 2.0, 3.0)) / 0.25
    np.testing.assert_allclose(np.linalg.norm(outward, axis=1), 1.0, atol=1e-14)
    np.testing.assert_allclose(mesh.normals, outward, atol=0.015)


def test_trefoil_is_a_smooth_tube_of_unit_size() -> None:
    mesh = MAKERS["trefoil"]
    assert 6000 <= len(mesh.triangles) <= 10000
    low, high = mesh.bounds
    assert (high - low).max() == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(low + high, 0.0, atol=1e-12)

    # Neighbours across an edge turn by little: the sum of both bends of a 20-gon swept along the knot.
    faces = face_normals(mesh)
    edges = np.stack([mesh.triangles, np.roll(mesh.triangles, -1, axis=1)], axis=2).reshape(-1, 2)
    owner = np.repeat(np.arange(len(faces)), 3)
    order = np.lexsort(np.sort(edges, axis=1).T)
    pairs = owner[order].reshape(-1, 2)
    bend = np.degrees(np.arccos(np.clip(np.sum(faces[pairs[:, 0]] * faces[pairs[:, 1]], axis=1), -1, 1)))
    assert bend.max() < 1.3 * 360 / 20


@pytest.mark.parametrize("tube", [0.03, 0.07, 0.0899])
def test_trefoil_does_not_meet_itself(tube: float) -> None:
    mesh = Mesh.trefoil(tube)
    # Scaled as the tube was, then moved as fitting moved it: the tube reaches `tube` past the curve.
    curve = trefoil_points(4000)
    low, high = curve.min(axis=0), curve.max(axis=0)
    curve = (curve - 0.5 * (low + high)) * ((1.0 - 2.0 * tube) / (high - low).max())
    nearest = [np.linalg.norm(curve - vertex, axis=1).min() for vertex in mesh.vertices[::7]]
    np.testing.assert_allclose(nearest, tube, rtol=0.02)


def test_hole_flip_or_seam_opens_a_mesh() -> None:
    mesh = Mesh.icosphere(1)
    assert not Mesh(mesh.vertices, mesh.triangles[1:]).is_closed
    flipped = mesh.triangles.copy()
    flipped[0] = flipped[0, ::-1]
    assert not Mesh(mesh.vertices, flipped).is_closed
    assert not Mesh(mesh.vertices, np.concatenate([mesh.triangles, mesh.triangles[:1]])).is_closed
    seams = Mesh(mesh.vertices[mesh.triangles].reshape(-1, 3), np.arange(240).reshape(-1, 3))
    assert not seams.is_closed
    assert seams.welded().is_closed
    assert len(seams.welded().vertices) == len(mesh.vertices)


def test_boxes_that_touch_along_an_edge_are_closed() -> None:
    one, two = Mesh.box(), Mesh.box(center=(1.0, 1.0, 0.0))
    both = Mesh(
        np.concatenate([one.vertices, two.vertices]), np.concatenate([one.triangles, two.triangles + 8])
    )
    assert both.is_closed
    assert len(both.welded().vertices) == 14
    assert both.welded().is_closed


def test_inside_out_mesh_has_negative_volume() -> None:
    mesh = MAKERS["trefoil"]
    turned = Mesh(mesh.vertices + 100.0, mesh.triangles[:, ::-1])
    assert turned.is_closed
    assert turned.volume == pytest.approx(-mesh.volume, rel=1e-9)


def test_bounds_ignore_unused_vertices() -> None:
    mesh = Mesh([*TRIANGLE, [9.0, 9.0, 9.0]], [[0, 1, 2]])
    np.testing.assert_array_equal(mesh.bounds, [[0, 0, 0], [1, 1, 0]])
    assert len(mesh.welded().vertices) == 3


def test_normals_weigh_by_area() -> None:
    # At vertex 0 a triangle of area 3 faces +z and one of area 4 faces +x.
    mesh = Mesh([[0, 0, 0], [3, 0, 0], [0, 2, 0], [0, 0, 4], [5, 5, 5]], [[0, 1, 2], [0, 2, 3]])
    np.testing.assert_allclose(mesh.normals[0], [0.8, 0.0, 0.6], atol=1e-7)
    np.testing.assert_allclose(mesh.normals[1], [0.0, 0.0, 1.0], atol=1e-7)
    np.testing.assert_array_equal(mesh.normals[4], [0.0, 1.0, 0.0])
    assert mesh.normals.dtype == np.float32


def test_normals_survive_triangles_without_area() -> None:
    mesh = Mesh([[0, 0, 0], [1, 1, 1], [2, 2, 2]], [[0, 1, 2]])
    np.testing.assert_array_equal(mesh.normals, [[0.0, 1.0, 0.0]] * 3)


def test_fitted_scales_alike_and_centres() -> None:
    mesh = Mesh.box((1.0, 2.0, 4.0), (7.0, 8.0, 9.0)).fitted(0.5, (1.0, 0.0, -1.0))
    np.testing.assert_allclose(mesh.bounds, [[0.9375, -0.125, -1.25], [1.0625, 0.125, -0.75]], atol=1e-15)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Mesh.box().fitted(0.0), "Mesh.fitted size"),
        (lambda: Mesh.box().fitted(1.0, (0, 0)), "Mesh.fitted center"),
        (lambda: Mesh([[1, 1, 1]] * 3, [[0, 1, 2]]).fitted(1.0), "extent > 0"),
        (lambda: Mesh.icosphere(8), r"subdivisions must be a whole number in 0 .. 7, got 8"),
        (lambda: Mesh.icosphere(True), "subdivisions"),
        (lambda: Mesh.icosphere(1, radius=0), "Mesh.icosphere radius"),
        (lambda: Mesh.box((1, 1, 0)), "Mesh.box size"),
        (lambda: Mesh.torus(1.0, 1.0), "tube must be less than its radius 1"),
        (lambda: Mesh.torus(sides=2), "Mesh.torus sides must be a whole number in 3"),
        (lambda: Mesh.trefoil(0.09), "tube must be less than 0.09, got 0.09"),
        (lambda: Mesh.trefoil(0.0), "Mesh.trefoil tube"),
        (lambda: Mesh.trefoil(segments=8), "Mesh.trefoil segments"),
    ],
)
def test_bad_making_is_named(make, says) -> None:
    with pytest.raises(GpufluidError, match=says):
        make()


# Mesh.load


@pytest.mark.parametrize("suffix", [*MESH_SUFFIXES, ".OBJ"])
def test_load_reads_what_was_written(tmp_path: Path, suffix: str) -> None:
    trimesh = pytest.importorskip("trimesh")
    mesh = Mesh.trefoil(segments=48, sides=8)
    path = tmp_path / f"knot{suffix}"
    trimesh.Trimesh(mesh.vertices, mesh.triangles, process=False).export(path, file_type=suffix[1:].lower())
    for name in (path, str(path)):
        loaded = Mesh.load(name)
        assert loaded.is_closed
        assert loaded.triangles.shape == mesh.triangles.shape
        assert loaded.vertices.shape == mesh.vertices.shape
        assert loaded.volume == pytest.approx(mesh.volume, rel=1e-6)
        np.testing.assert_allclose(loaded.bounds, mesh.bounds, atol=1e-7)


def test_load_welds_the_triangle_soup_of_an_ascii_stl(tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    mesh = Mesh.icosphere(2)
    text = trimesh.Trimesh(mesh.vertices, mesh.triangles, process=False).export(file_type="stl_ascii")
    (tmp_path / "ball.stl").write_text(text)
    assert Mesh.load(tmp_path / "ball.stl").is_closed


def test_load_places_the_parts_of_a_scene(tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    box = trimesh.creation.box()
    moved, mirrored = np.eye(4), np.diag([-2.0, 1.0, 1.0, 1.0])
    moved[:3, 3], mirrored[:3, 3] = (3, 0, 0), (-3, 0, 0)
    scene = trimesh.Scene()
    for matrix in (np.eye(4), moved, mirrored):
        scene.add_geometry(box, transform=matrix)
    scene.export(tmp_path / "scene.glb")
    mesh = Mesh.load(tmp_path / "scene.glb")
    assert len(mesh.triangles) == 36
    assert mesh.is_closed
    assert mesh.volume == pytest.approx(4.0)
    np.testing.assert_allclose(mesh.bounds, [[-4.0, -0.5, -0.5], [3.5, 0.5, 0.5]])


def test_load_splits_polygons_and_needs_no_material(tmp_path: Path, capfd, caplog) -> None:
    pytest.importorskip("trimesh")
    quad = "mtllib none.mtl\nusemtl brass\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nf 1/1 2/1 3/1 4/1\n"
    (tmp_path / "quad.obj").write_bytes(b"# gr\xfcn\n" + quad.encode())
    with caplog.at_level(logging.DEBUG):
        mesh = Mesh.load(tmp_path / "quad.obj")
    assert (len(mesh.vertices), len(mesh.triangles)) == (4, 2)
    assert caplog.records == []
    assert capfd.readouterr() == ("", "")
    assert logging.getLogger("trimesh").propagate


OBJ = "v 0 0 0\nv 1 0 0\nv 0 1 0\n"
PLY = (
    "ply\nformat ascii 1.0\nelement vertex 1\n"
    + "".join(f"property float {a}\n" for a in "xyz")
    + "end_header\n"
)
BAD_FILES = {
    "empty.obj": (b"", "is empty"),
    "empty.stl": (b"", "is empty"),
    "cow.fbx": (b"cow", "must end in one of .glb, .obj, .ply, .stl"),
    "cow": (b"cow", "must end in one of"),
    "points.obj": (OBJ.encode(), "holds no triangles"),
    "points.ply": (PLY.encode() + b"0 0 0\n", "holds no triangles"),
    "text.obj": (b"hello\n", "holds no triangles"),
    "text.stl": (b"hello\n", "holds no triangles"),
    "text.ply": (b"hello\n", "is damaged or no mesh"),
    "text.glb": (b"hello\n" * 9, "is damaged or no mesh"),
    "noise.glb": (bytes(range(256)) * 8, "is damaged or no mesh"),
    "noise.stl": (bytes(range(255, -1, -1)) * 8, "is damaged|holds no triangles"),  # as trimesh sees it
    "range.obj": (OBJ.encode() + b"f 1 2 9\n", "is damaged or no mesh"),
    "nan.obj": (b"v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "vertices must be finite"),
    "twice.obj": (OBJ.encode() + b"f 1 2 2\n", "three different vertices"),
    "welded.obj": (b"v 0 0 0\nv 0 0 0\nv 0 1 0\nf 1 2 3\n", "three different vertices"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_file_is_named_on_one_line(tmp_path: Path, capfd, name: str) -> None:
    pytest.importorskip("trimesh")
    content, says = BAD_FILES[name]
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(GpufluidError, match=says) as caught:
        Mesh.load(path)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    assert capfd.readouterr() == ("", "")


def test_an_stl_that_is_cut_short_says_so(tmp_path: Path) -> None:
    """Binary and text, wherever the cut is; bytes behind the triangles do no harm."""
    trimesh = pytest.importorskip("trimesh")
    mesh, path = Mesh.icosphere(1), tmp_path / "ball.stl"
    made = trimesh.Trimesh(mesh.vertices, mesh.triangles, process=False)
    binary, text = made.export(file_type="stl"), made.export(file_type="stl_ascii").encode()
    path.write_bytes(binary + bytes(10))
    assert len(Mesh.load(path).triangles) == 80
    for size, whole in ((len(binary) - 1, 79), (len(binary) - 50, 79), (1000, 18), (84, 0)):
        path.write_bytes(binary[:size])
        says = f"with 80 triangles it takes 4084 bytes, and it has {size}, enough for {whole}"
        with pytest.raises(GpufluidError, match=rf"ball\.stl is damaged or cut short: {says}$"):
            Mesh.load(path)
    path.write_bytes(binary[:20])
    with pytest.raises(
        GpufluidError, match="is damaged or cut short: a binary STL begins with 84 bytes, and it has 20"
    ):
        Mesh.load(path)
    for size in (len(text) - 40, 1000, 100):
        path.write_bytes(text[:size])
        with pytest.raises(
            GpufluidError, match="is damaged or cut short: no endsolid follows its last facet"
        ):
            Mesh.load(path)
    path.write_bytes(text + bytes(10))
    assert len(Mesh.load(path).triangles) == 80
    path.write_bytes(text + text[:1000])
    with pytest.raises(GpufluidError, match="is damaged or cut short: no endsolid follows its last facet"):
        Mesh.load(path)


def test_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(GpufluidError, match=r"cow.obj does not exist"):
        Mesh.load(tmp_path / "cow.obj")
    (tmp_path / "folder.obj").mkdir()
    with pytest.raises(GpufluidError, match=r"folder.obj is not a file"):
        Mesh.load(tmp_path / "folder.obj")
    with pytest.raises(GpufluidError, match="cannot be read"):
        Mesh.load("\0.obj")
    with pytest.raises(GpufluidError, match="needs a path, got None"):
        Mesh.load(None)  # type: ignore[arg-type]


def test_missing_trimesh_names_the_command(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "trimesh", None)
    (tmp_path / "cow.obj").write_text(OBJ + "f 1 2 3\n")
    with pytest.raises(
        MissingDependencyError, match=r'cow.obj needs .* .trimesh.: pip install "gpufluid\[all\]"'
    ):
        Mesh.load(tmp_path / "cow.obj")


# Emitter


def test_emitter_takes_what_numpy_gives() -> None:
    emitter = Emitter(Sphere(), density=np.float32(2), velocity=np.array([0, 1, 0]), active=np.bool_(False))
    assert emitter.velocity == (0.0, 1.0, 0.0)
    assert emitter.temperature is None and emitter.falloff is None
    assert Emitter(Sphere()) != Emitter(Sphere())
    assert len({emitter, Emitter(Box())}) == 2


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("fuel", -1, "Emitter.fuel must be a finite number >= 0"),
        ("noise", 1.5, r"Emitter.noise must lie in 0 .. 1, got 1.5"),
        ("noise_size", 0, "Emitter.noise_size must be a finite number > 0"),
        ("noise_time", 0, "Emitter.noise_time must be a finite number > 0"),
        ("edge", "gausian", "Emitter.edge .* did you mean 'gaussian'"),
        ("seed", 1.5, "Emitter.seed must be a whole number in 0 .. 16777215"),
        ("position", (0, 0), "Emitter.position"),
        ("rotation", (0, 0, 0, 0), "Emitter.rotation must not be the zero quaternion"),
        ("shape", (0, 0, 0), "Emitter.shape must be a Sphere, Box, Cylinder"),
        ("density", -1.0, "Emitter.density must be a finite number >= 0"),
        ("density", float("nan"), "Emitter.density"),
        ("density", None, "Emitter.density must be a number"),
        ("temperature", float("inf"), "Emitter.temperature"),
        ("velocity", (1.0, 2.0), "Emitter.velocity"),
        ("velocity", (0.0, float("nan"), 0.0), "Emitter.velocity"),
        ("falloff", 0.0, "Emitter.falloff must be a finite number > 0"),
        ("active", "no", "Emitter.active must be True or False, got 'no'"),
    ],
)
def test_bad_emitter_is_named_at_once_and_after_a_change(field, value, says) -> None:
    with pytest.raises(GpufluidError, match=says):
        Emitter(**{"shape": Sphere(), field: value})
    emitter = Emitter(Box(), density=1.0, temperature=1.0, velocity=(0, 1, 0), falloff=0.1)
    emitter.check()
    setattr(emitter, field, value)
    with pytest.raises(GpufluidError, match=says):
        emitter.check()


# Obstacle


def test_obstacle_scales_then_turns_then_moves() -> None:
    obstacle = Obstacle(Box(), position=(10, 20, 30), rotation=QUARTER_TURN_Z, scale=(2, 3, 4))
    moved = obstacle.matrix @ [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]
    np.testing.assert_array_equal(moved.T, [[10, 22, 30, 1], [7, 20, 30, 1], [10, 20, 34, 1]])
    np.testing.assert_array_equal(Obstacle(Sphere()).matrix, np.eye(4))
    np.testing.assert_array_equal(Obstacle(Sphere(), scale=2).matrix, np.diag([2, 2, 2, 1]))


@pytest.mark.parametrize("length", [1.0, -0.3, 1e-200, 1e200])
def test_quaternion_turns_like_its_matrix(length: float) -> None:
    half = np.radians(90) / 2
    for axis in range(3):
        quaternion = np.zeros(4)
        quaternion[axis], quaternion[3] = length * np.sin(half), length * np.cos(half)
        turned = Obstacle(Sphere(), rotation=quaternion).matrix[:3, :3]
        # Right-handed: each axis takes the next one to the one after it.
        ahead = np.roll(np.eye(3), 1, axis=0)
        expected = np.outer(np.eye(3)[axis], np.eye(3)[axis])
        expected += np.outer(ahead[(axis + 3) % 3], ahead[(axis + 2) % 3])
        expected -= np.outer(ahead[(axis + 2) % 3], ahead[(axis + 3) % 3])
        np.testing.assert_allclose(turned, expected, atol=1e-15)


def test_a_quaternion_with_names_is_read_by_them() -> None:
    """Some write w first: here a quarter turn about y."""

    class WFirst:
        x, y, z, w = 0.0, np.sqrt(0.5), 0.0, np.sqrt(0.5)

        def __iter__(self) -> Iterator[float]:
            return iter((self.w, self.x, self.y, self.z))

        def __len__(self) -> int:
            return 4

        def __getitem__(self, n: int) -> float:
            return (self.w, self.x, self.y, self.z)[n]

    turned = Obstacle(Sphere(), rotation=WFirst()).matrix[:3, :3]  # type: ignore[arg-type]
    np.testing.assert_allclose(turned @ (1.0, 0.0, 0.0), (0.0, 0.0, -1.0), atol=1e-12)


def test_general_quaternion_follows_rodrigues() -> None:
    axis = np.array([1.0, -2.0, 0.5]) / np.sqrt(5.25)
    angle = 0.7
    cross = np.cross(np.eye(3), axis)  # rows: e_i x axis, so this is the matrix of axis x v
    rodrigues = np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
    turned = Obstacle(Sphere(), rotation=(*np.sin(angle / 2) * axis, np.cos(angle / 2))).matrix[:3, :3]
    np.testing.assert_allclose(turned @ axis, axis, atol=1e-15)
    np.testing.assert_allclose(turned, rodrigues, atol=1e-15)


def test_obstacle_matrix_follows_its_fields() -> None:
    obstacle = Obstacle(Mesh.box(), rotation=np.eye(3))
    obstacle.position = np.array([1, 2, 3])
    obstacle.check()
    assert obstacle.position == (1.0, 2.0, 3.0)
    obstacle.rotation = QUARTER_TURN_Z
    obstacle.scale = 2.0
    np.testing.assert_array_equal(obstacle.matrix @ [1, 0, 0, 1], [1, 4, 3, 1])
    twin = Obstacle(obstacle.shape, obstacle.position, obstacle.rotation, obstacle.scale)
    assert obstacle != twin
    assert len({obstacle, twin}) == 2


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        (
            "shape",
            "cow.obj",
            "Obstacle.shape must be a Sphere, Box, Cylinder, Capsule, Plane or Mesh, got 'cow.obj'",
        ),
        ("position", (0, 0), "Obstacle.position"),
        ("position", (0, 0, float("nan")), "Obstacle.position"),
        ("rotation", (0, 0, 0, 0), "zero quaternion"),
        ("rotation", (0, 0, 90), "Obstacle.rotation must be None, a finite 3x3"),
        ("rotation", "quarter", "Obstacle.rotation must be None, a finite 3x3"),
        ("rotation", (0, 0, float("nan"), 1), "Obstacle.rotation must be None, a finite 3x3"),
        ("rotation", np.eye(4), "Obstacle.rotation must be None, a finite 3x3"),
        ("rotation", np.diag([1.0, 1.0, 1.01]), "orthonormal within 0.0001 and not mirrored"),
        ("rotation", np.diag([1.0, 1.0, -1.0]), "not mirrored"),
        ("rotation", np.zeros((3, 3)), "orthonormal"),
        ("scale", 0.0, "Obstacle.scale must be a finite number > 0"),
        ("scale", -1.0, "Obstacle.scale"),
        ("scale", (1, 1, 0), "Obstacle.scale must be > 0 along x, y and z"),
        ("scale", (1, 1), "Obstacle.scale must be three"),
        ("scale", None, "Obstacle.scale must be a number, got None"),
    ],
)
def test_bad_obstacle_is_named_at_once_and_after_a_change(field, value, says) -> None:
    with pytest.raises(GpufluidError, match=says):
        Obstacle(**{"shape": Sphere(), field: value})
    obstacle = Obstacle(Box())
    setattr(obstacle, field, value)
    with pytest.raises(GpufluidError, match=says):
        obstacle.check()


CUBE_LINES = [
    *(f"v {x} {y} {z}" for x in (0, 1) for y in (0, 1) for z in (0, 1)),
    *("f 1 2 4 3", "f 5 7 8 6", "f 1 5 6 2", "f 3 4 8 7", "f 1 3 7 5", "f 2 6 8 4"),
]
UNUSUAL = {
    "plain": lambda lines: "\n".join(lines),
    "tabs": lambda lines: "\n".join(lines).replace(" ", "\t"),
    "indented": lambda lines: "\n".join("   " + line for line in lines),
    "comments": lambda lines: "\n".join(line + "  # x" for line in lines),
    "mark": lambda lines: "\ufeff" + "\n".join(lines),
    "carriage returns": lambda lines: "\r".join(lines) + "\r",
    "both ends": lambda lines: "\r\n".join(lines),
    "lines that go on": lambda lines: "\n".join(line.replace(" ", " \\\n", 1) for line in lines),
}


@pytest.mark.parametrize("way", UNUSUAL)
def test_obj_text_of_every_exporter(tmp_path: Path, way: str) -> None:
    file = tmp_path / "cube.obj"
    file.write_bytes(UNUSUAL[way](CUBE_LINES).encode())
    mesh = Mesh.load(file)
    assert mesh.is_closed and len(mesh.vertices) == 8
    assert mesh.volume == pytest.approx(1.0)


def test_corners_counted_back_from_their_line(tmp_path: Path) -> None:
    """Two cubes, the second 3 m on; also with vertices and a normal for each face, written just before it."""
    lines, apart = list[str](), list[str]()
    for shift in (0, 3):
        lines += [f"v {x + shift} {y} {z}" for x in (0, 1) for y in (0, 1) for z in (0, 1)]
        for face in CUBE_LINES[8:]:
            numbers = [int(word) for word in face.split()[1:]]
            lines.append("f " + " ".join(str(n - 9) for n in numbers))
            corners = [CUBE_LINES[n - 1].split()[1:] for n in numbers]
            apart += [f"v {float(x) + shift} {y} {z}" for x, y, z in corners] + ["vn 0 1 0"]
            apart.append("f -4//-1 -3//-1 -2//-1 -1//-1")
    for text in (lines, apart):
        file = tmp_path / "cubes.obj"
        file.write_text("\n".join(text))
        mesh = Mesh.load(file)
        np.testing.assert_array_equal(mesh.bounds, [[0, 0, 0], [4, 1, 1]])
        assert mesh.is_closed and mesh.volume == pytest.approx(2.0)
    file.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf -1 -2 -4\n")
    with pytest.raises(GpufluidError, match=r"cubes.obj is damaged or no mesh: line 4: -4 reaches back"):
        Mesh.load(file)


@pytest.mark.parametrize("order", ["little", "big"])
def test_binary_ply_of_triangles_and_quads(tmp_path: Path, order: str) -> None:
    """As Blender writes it: trimesh takes the corners of the first face for those of all."""
    points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0.5, 0.5, 1)]
    faces = [(0, 1, 4), (0, 3, 2, 1), (1, 2, 4), (2, 3, 4), (3, 0, 4)]
    head = (
        f"ply\nformat binary_{order}_endian 1.0\nelement vertex 5\nproperty float x\nproperty float y\n"
        "property float z\nproperty uchar red\nelement face 5\nproperty list uchar uint vertex_indices\n"
        "property int flags\nelement edge 1\nproperty int vertex1\nend_header\n"
    )
    mark = "<" if order == "little" else ">"
    body = b"".join(struct.pack(mark + "fffB", *point, 7) for point in points)
    body += b"".join(struct.pack(f"{mark}B{len(f)}Ii", len(f), *f, -1) for f in faces)
    file = tmp_path / "pyramid.ply"
    file.write_bytes(head.encode() + body + bytes(4))
    mesh = Mesh.load(file)
    assert mesh.is_closed and len(mesh.triangles) == 6
    assert mesh.volume == pytest.approx(1.0 / 3.0)
    file.write_bytes(head.encode() + body[:-9])
    with pytest.raises(GpufluidError, match=r"pyramid.ply is damaged"):
        Mesh.load(file)


# -- sharp edges ---------------------------------------------------------------------------------------------


def test_sharp_edges_part_the_triangles_on_either_side() -> None:
    """A box has a normal for each face, a cylinder's rim two; what is round stays whole."""
    for mesh, count in (
        (Mesh.box(), 24),
        (Mesh.cylinder(1.0, 1.0, 32), 2 * 2 * 32 + 2),
        (Mesh.icosphere(2), len(Mesh.icosphere(2).vertices)),
        (Mesh.trefoil(), len(Mesh.trefoil().vertices)),
    ):
        chosen, triangles = parted_at_creases(mesh)
        assert len(chosen) == count and triangles.shape == mesh.triangles.shape
        np.testing.assert_array_equal(chosen[triangles], mesh.triangles)
    chosen, triangles = parted_at_creases(Mesh.box())
    normals = normals_of(Mesh.box().vertices[chosen], triangles)
    np.testing.assert_allclose(np.sort(np.abs(normals), axis=1), [[0.0, 0.0, 1.0]] * 24, atol=1e-6)


def test_a_mesh_of_a_box_is_drawn_as_the_box(ctx: moderngl.Context) -> None:
    """Its corners are shared by three faces; a lamp's light went round them, and its shadow had teeth."""
    box = Mesh(Mesh.box().vertices * (0.6, 0.1, 0.2), Mesh.box().triangles)
    pictures = []
    with gf.FrameRenderer(ctx, (160, 90)) as renderer:
        for shape in (gf.Box(size=(0.6, 0.1, 0.2)), box):
            fluid = gf.Fluid(gf.Grid((16, 16, 16), 1 / 16), ctx=ctx)
            fluid.obstacles.add(gf.Obstacle(shape, position=(0.5, 0.7, 0.5), rotation=(0.0, 0.6, 0.0, 0.8)))
            lamp = gf.PointLight((1.1, 0.3, 0.9), color=(1.5, 0.6, 0.2))
            camera = gf.Camera((0.5, 0.7, 0.5), 1.5, azimuth=15.0)
            renderer.draw(gf.Scene(fluid, camera, lights=[lamp], floor=0.0))
            pictures.append(renderer.read().astype(int))
            fluid.release()
    assert np.ptp(pictures[0]) > 150
    assert np.abs(pictures[1] - pictures[0]).max() <= 2
