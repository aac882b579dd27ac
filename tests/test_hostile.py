"""Files that mean harm: refused in bounded time and memory, and nothing in them is run or fetched."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import signal
import struct
import sys
import tracemalloc
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import gpufluid as gf
from gpufluid.common import memory
from gpufluid.common.image_files import MOST_PIXELS
from gpufluid.engine.checkpoint import HEADER, npy_header
from gpufluid.scene.file import LONG_KEY, NO_KEYS

posix = pytest.mark.skipif(sys.platform == "win32", reason="pipes, devices and signals of POSIX")
GRID = "[grid]\ncells = [4, 4, 4]\ncell_size = 0.1\n"
SOURCE = GRID + "[[emitters]]\ndensity = 1.0\n"


@contextmanager
def bounded(seconds: int = 20, megabytes: float = 100.0) -> Iterator[None]:
    """A body that must end soon, with no more of Python's and NumPy's memory than that."""

    def late(*_: Any) -> None:
        raise TimeoutError(f"it took over {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < 1e6 * megabytes
    finally:
        tracemalloc.stop()
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def refused(path: Path, text: str, says: str) -> None:
    """A scene that is refused on one line, not longer than a screen."""
    path.write_text(text)
    with pytest.raises(gf.SceneError, match=says) as caught, bounded():
        gf.Scene.load(path, backend="numpy")
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 1000


# -- what is no plain file -------------------------------------------------------------------------------


def scene_with(file: Path, kind: str) -> Callable[[], Any]:
    """A scene beside `file`, with it as a source."""
    path = file.with_name(f"{kind}.toml")
    path.write_text(SOURCE + f'shape = {{ kind = "{kind}", file = "{file.name}" }}\n')
    return lambda: gf.Scene.load(path, backend="numpy")


def opens(file: Path) -> dict[str, Callable[[], Any]]:
    """What reads `file`, by its ending."""
    return {
        ".fluid": lambda: gf.Fluid.load(file, backend="numpy"),
        ".toml": lambda: gf.Scene.load(file, backend="numpy"),
        ".obj": lambda: gf.Mesh.load(file),
        ".png": lambda: gf.Image(file),
        ".stl": scene_with(file, "mesh"),
        ".jpg": scene_with(file, "image"),
        ".npy": scene_with(file, "array"),
    }


ENDINGS = (".fluid", ".toml", ".obj", ".png", ".stl", ".jpg", ".npy")


@posix
@pytest.mark.parametrize("ending", ENDINGS)
def test_pipes_and_folders_are_no_files(tmp_path: Path, ending: str) -> None:
    """Who opens a pipe that nobody writes to waits for ever."""
    pipe = tmp_path / f"pipe{ending}"
    os.mkfifo(pipe)
    with pytest.raises(gf.GpufluidError, match="it is no plain file, but a pipe or a device"), bounded():
        opens(pipe)[ending]()
    folder = tmp_path / f"folder{ending}"
    folder.mkdir()
    with pytest.raises(gf.GpufluidError, match="[Ii]s a directory|is not a file"), bounded():
        opens(folder)[ending]()


@posix
@pytest.mark.parametrize("ending", ENDINGS[:4])
def test_devices_are_no_files(tmp_path: Path, ending: str) -> None:
    """What a user names may be a link; the device behind it never ends."""
    link = tmp_path / f"zero{ending}"
    link.symlink_to("/dev/zero")
    with pytest.raises(gf.GpufluidError, match="it is no plain file, but a pipe or a device"), bounded():
        opens(link)[ending]()


@posix
def test_scenes_name_files_of_their_folder_alone(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "secret.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    (tmp_path / "inside/link.obj").symlink_to(tmp_path / "secret.obj")
    (tmp_path / "inside/zero.npy").symlink_to("/dev/zero")
    (tmp_path / "inside/loop.obj").symlink_to("loop.obj")
    outside = "lies outside the scene's folder"
    for kind, name, says in (
        ("mesh", "../secret.obj", outside),
        ("mesh", str(tmp_path / "secret.obj"), outside),
        ("mesh", "link.obj", outside),
        ("image", "../../../../../../etc/passwd", outside),
        ("array", "/dev/zero", outside),
        ("array", "zero.npy", outside),
        ("surface", "a/../../secret.obj", outside),
        ("mesh", "loop.obj", "loop.obj"),
        ("mesh", "a\\u0000.obj", "is no file's name"),
        ("mesh", "a" * 5000 + ".obj", "File name too long"),
    ):
        text = SOURCE + f'shape = {{ kind = "{kind}", file = "{name}" }}\n'
        refused(tmp_path / "inside/a.toml", text, rf"emitters\[0\]\.shape: .*{says}")


@posix
def test_huge_files_are_refused_unread(tmp_path: Path) -> None:
    """Files of holes cost nothing to make, and 2 TB to read."""
    for ending, says in (
        (".obj", "the limit is 1073741824"),
        (".png", "the limit is 268435456"),
        (".jpg", "the limit is 268435456"),
        (".toml", "over 1 MB long"),
        (".npy", "is no array as numpy.save writes one"),
    ):
        file = tmp_path / f"huge{ending}"
        with file.open("wb") as hole:
            hole.truncate(1 << 41)
        with pytest.raises(gf.GpufluidError, match=says), bounded(megabytes=20.0):
            opens(file)[ending]()


# -- scenes ----------------------------------------------------------------------------------------------


def towers(text: str) -> str:
    return SOURCE + 'shape = { kind = "sphere" }\n' + f'fuel = {{ formula = "{text}" }}\n'


HOSTILE_SCENES = {
    "a key of 100,000 names": (GRID + "a" + ".a" * 100_000 + " = 1\n", "a key has over 32 names"),
    "names in quotes": (GRID + '"a\\""' + ' . "b"' * 100_000 + " = 1\n", "a key has over 32 names"),
    "a table's name": ("[" + "a." * 100_000 + "a]\n" + GRID, "a key has over 32 names"),
    "after a text of three quotes": (
        "x = [{a = '''''''', " + "b." * 100_000 + "b = 1}]\n",
        "a key has over 32 names",
    ),
    "arrays in arrays": (GRID + "x = " + "[" * 200_000, "not TOML"),
    "tables forty deep": (GRID + "x = " + "{x = " * 40 + "1" + "}" * 40, "lie over 32 deep"),
    "cells of 20,000 bits": (GRID.replace("4, 4, 4", "0x" + "f" * 5000 + ", 4, 4"), "over 64 bits"),
    "a seed of 20,000 bits": ("seed = 0x" + "f" * 5000 + "\n" + GRID, "over 64 bits"),
    "a number of 20,000 digits": (GRID + "x = " + "9" * 20_000, "not TOML"),
    "cells past all memory": (GRID.replace("4, 4, 4", "90000, 90000, 90000"), "and this machine has"),
    "cells past all numbers": (GRID.replace("4, 4, 4", "1, 1, 1000000000"), "must be at most 1048576"),
    "2,000 sources": (GRID + '[[emitters]]\nshape={kind="sphere"}\n' * 2_000, "array of length <= 1000"),
    "2,000 boxes": (
        "[[containers]]\ngrid = { cells = [4, 4, 4] }\n" * 2_000,
        "array of length <= 64",
    ),
    "12,000 points": (
        SOURCE + 'shape = { kind = "line", points = [' + "[0,0,0]," * 12_000 + "]}\n",
        "array of length <= 10000",
    ),
    "a word of 50,000 letters": (
        SOURCE + f'shape = {{ kind = "sphere" }}\nedge = "{"a" * 50_000}"\n',
        "edge must be one of",
    ),
    "a kind of 50,000 letters": (SOURCE + f'shape = {{ kind = "{"a" * 50_000}" }}\n', "invalid value"),
    "a tower of powers": (towers("9**9**9**9"), "has no finite value"),
    "a tower of exponentials": (towers("exp(" * 25 + "9" + ")" * 25), "has no finite value"),
    "a number past all": (towers("9" * 450), "has no finite value"),
    "an attribute": (towers("t.__class__.__mro__"), "uses what no formula may"),
    "a name of Python's": (towers("__import__('os').system('false')"), "uses what no formula may|must be"),
    "a loop": (towers("[t for t in t]"), "uses what no formula may"),
    "text": (towers("'a' * 999999999"), "uses what no formula may"),
    "brackets in brackets": (towers("(" * 240 + "t" + ")" * 240), "cannot be read|what no formula may"),
}


@posix
@pytest.mark.parametrize("name", HOSTILE_SCENES)
def test_hostile_scenes_are_refused(tmp_path: Path, name: str) -> None:
    refused(tmp_path / "a.toml", *HOSTILE_SCENES[name])


def test_what_looks_like_long_keys_is_let_through() -> None:
    for text in (
        "x = [" + "0.1, " * 100 + "]",
        'x = "' + "a." * 100 + '"',
        "# " + "a." * 100,
        'x = """' + "a." * 100 + '"""',
        "x = 'it''s' # " + "a." * 100,
    ):
        assert not LONG_KEY.search(NO_KEYS.sub("s", text)), text


def test_all_boxes_together_must_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is counted before it is asked for: of one fluid, and of all in a scene."""
    monkeypatch.setattr(memory, "main_memory", lambda: 100_000)
    gf.Fluid(gf.Grid((4, 8, 8)), backend="numpy").release()
    with pytest.raises(gf.GpufluidError, match="a fluid of 8 x 8 x 8 cells takes about 0.000154 GB"):
        gf.Fluid(gf.Grid((8, 8, 8)), backend="numpy")
    box = "[[containers]]\ngrid = { cells = [4, 8, 8] }\n"
    refused(tmp_path / "a.toml", 2 * box, r"containers\[1\].grid: all boxes together, 512 cells, takes")


def test_what_the_machine_has(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A container's limit counts where it is below the machine's own memory."""
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(memory, "GROUP_LIMIT", limit)
    whole = memory.main_memory.__wrapped__()
    limit.write_text("max\n")
    assert memory.main_memory.__wrapped__() == whole
    limit.write_text("12345678\n")
    assert memory.main_memory.__wrapped__() == 12345678


# -- pictures and arrays ---------------------------------------------------------------------------------


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def test_pictures_of_too_many_pixels_are_refused_unread(tmp_path: Path) -> None:
    """A few bytes that would be 100 MB, and some that would be 10 GB."""
    for side in (5_000, 50_000):
        head = struct.pack(">IIBBBBB", side, side, 8, 6, 0, 0, 0)
        data = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b"")
        (tmp_path / "bomb.png").write_bytes(b"\x89PNG\r\n\x1a\n" + data)
        with warnings.catch_warnings(), bounded():
            warnings.simplefilter("ignore")
            with pytest.raises(gf.GpufluidError, match=r"bomb\.png cannot be read: .*(limit|bomb)"):
                gf.Image(tmp_path / "bomb.png")
    assert MOST_PIXELS > 3840 * 2160, "a frame of a film is no bomb"


def test_no_program_is_run_for_a_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pillow knows formats that are programs, and runs Ghostscript for them."""
    file = tmp_path / "a.png"
    file.write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\n(x) = quit\n")
    with Image.open(file) as picture:
        assert picture.format == "EPS"
    monkeypatch.setattr("subprocess.Popen", lambda *a, **k: pytest.fail("a program was run"))
    with pytest.raises(gf.GpufluidError, match=r"a\.png cannot be read: it is none of PNG, JPEG"):
        gf.Image(file)


@posix
def test_arrays_that_lie_about_themselves(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> Any:
            return os.mkdir, (str(tmp_path / "was_run"),)

    np.save(tmp_path / "pickle.npy", np.array([Evil()] * 64, object).reshape(4, 4, 4), allow_pickle=True)
    np.savez(tmp_path / "zip.npz", a=np.zeros((4, 4, 4)))
    (tmp_path / "zip.npy").write_bytes((tmp_path / "zip.npz").read_bytes())
    for name, shape, dtype in (
        ("huge", (1 << 40,), "<f8"),
        ("cube", (1 << 13, 1 << 13, 1 << 13), "<f8"),
        ("other", (4, 4, 5), "<f8"),
        ("negative", (4, 4, -4), "<f8"),
        ("text", (4, 4, 4), "<U9"),
        ("complex", (4, 4, 4), "<c16"),
        ("cut", (4, 4, 4), "<f8"),
    ):
        (tmp_path / f"{name}.npy").write_bytes(npy_header(dtype, shape) + bytes(64))
    (tmp_path / "header.npy").write_bytes(b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + b"{" * 1000)
    for name in ("pickle", "zip", "huge", "cube", "other", "negative", "text", "complex", "cut", "header"):
        text = SOURCE + f'shape = {{ kind = "array", file = "{name}.npy" }}\n'
        says = r"is no array as numpy.save writes one|one number or three are needed"
        refused(tmp_path / "a.toml", text, rf"emitters\[0\]\.shape: '{name}.npy'.* ({says})")
    assert not (tmp_path / "was_run").exists()


# -- checkpoints -----------------------------------------------------------------------------------------


def test_parts_that_lie_over_each_other_are_refused(tmp_path: Path) -> None:
    """Each part is read once for each that holds it: a file of 1 MB could take as many GB as it has parts."""
    path = gf.Fluid(gf.Grid((4, 4, 4)), backend="numpy").save(tmp_path / "a.fluid")
    with zipfile.ZipFile(path) as file:
        header = json.loads(file.read(HEADER))
        parts = {name: file.read(name) for name in file.namelist() if name != HEADER}
    inner, nested = bytes(1_000_000), []
    for number in range(20):  # each holds the whole of the one before
        name, head = f"nested_{number}.npy", npy_header("|u1", (len(inner),))
        header["arrays"].append({"name": name[:-4], "dtype": "|u1", "shape": [len(inner)]})
        data = head + inner
        nested.append((name, data, 30 + len(name) + len(head)))
        sizes = zlib.crc32(data), len(data), len(data), len(name), 0
        inner = struct.pack("<4s5H3I2H", b"PK\3\4", 20, 0, 0, 0, 33, *sizes) + name.encode() + data
    hostile = tmp_path / "b.fluid"
    with zipfile.ZipFile(hostile, "w") as file:
        for name, data in {HEADER: json.dumps(header).encode(), **parts}.items():
            file.writestr(name, data)
        assert file.fp is not None
        start = file.start_dir
        file.fp.write(inner)
        file.start_dir = file.fp.tell()
        for name, data, further in reversed(nested):
            member = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            member.CRC, member.file_size, member.compress_size = zlib.crc32(data), len(data), len(data)
            member.header_offset = start
            file.filelist.append(member)
            start += further
    with contextlib.suppress(zipfile.BadZipFile), zipfile.ZipFile(hostile) as file:  # newer Pythons see it
        assert file.read("nested_3.npy") == nested[3][1], "the file is not what it should be"
    assert hostile.stat().st_size < 1_100_000
    with pytest.raises(
        gf.GpufluidError, match=r"b\.fluid: .* its parts have 2\d{7} bytes in all, and it has"
    ):
        gf.Fluid.load(hostile, backend="numpy")


# -- meshes ----------------------------------------------------------------------------------------------


def glb(header: dict[str, Any], data: bytes) -> bytes:
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 4)
    body = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(data), 0x004E4942) + data
    return struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body


def plain_glb() -> tuple[dict[str, Any], bytes]:
    """One triangle, and bytes that nothing uses."""
    data = np.float32([0, 0, 0, 1, 0, 0, 0, 1, 0]).tobytes() + np.uint32([0, 1, 2]).tobytes() + bytes(960_000)
    return {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "buffers": [{"byteLength": len(data)}],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": 36},
            {"buffer": 0, "byteOffset": 36, "byteLength": 12},
            {"buffer": 0, "byteOffset": 48, "byteLength": 960_000},
        ],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 3},
            {"bufferView": 1, "componentType": 5125, "type": "SCALAR", "count": 3},
        ],
    }, data


def other_file(header: Any) -> None:
    header["buffers"][0]["uri"] = "../../etc/passwd"


def other_text(header: Any) -> None:
    header["buffers"][0]["uri"] = (
        "data:application/octet-stream;base64," + base64.b64encode(bytes(48)).decode()
    )


def other_picture(header: Any) -> None:
    header["images"] = [{"uri": "http://localhost/a.png"}]


def endless_zeros(header: Any) -> None:
    header["accessors"][0] = {"componentType": 5126, "type": "VEC3", "count": 10**12}


def endless_array(header: Any) -> None:
    header["accessors"][0]["count"] = 10**12


def shared_bytes(header: Any) -> None:
    header["accessors"] += [{"bufferView": 2, "componentType": 5126, "type": "VEC3", "count": 80_000}] * 20


def many_copies(header: Any) -> None:
    header["nodes"] = [{"mesh": 0}] * 3000
    header["scenes"] = [{"nodes": list(range(3000))}]


def circle(header: Any) -> None:
    header["nodes"] = [{"children": [1]}, {"children": [0], "mesh": 0}]


@posix
@pytest.mark.parametrize(
    ("change", "says"),
    [
        (other_file, "names other files, which are not read"),
        (other_text, "names other files, which are not read"),
        (other_picture, "names other files, which are not read"),
        (endless_zeros, "an accessor without bytes"),
        (endless_array, "its arrays have 12000000000012 bytes in all"),
        (shared_bytes, "its arrays have .* bytes in all"),
        (many_copies, "it makes 3000 triangles, and the limit is 2000"),
        (circle, "is damaged or no mesh|holds no triangles"),
    ],
)
def test_hostile_meshes_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Any], None], says: str
) -> None:
    pytest.importorskip("trimesh")
    header, data = plain_glb()
    (tmp_path / "a.glb").write_bytes(glb(header, data))
    assert len(gf.Mesh.load(tmp_path / "a.glb").triangles) == 1
    change(header)
    (tmp_path / "a.glb").write_bytes(glb(header, data))
    monkeypatch.setattr("gpufluid.description.mesh_files.MOST_TRIANGLES", 2000)
    with pytest.raises(gf.GpufluidError, match=rf"a\.glb .*{says}"), bounded():
        gf.Mesh.load(tmp_path / "a.glb")


def test_formats_that_name_other_files_or_grow_are_refused(tmp_path: Path) -> None:
    """What trimesh would take, but XML with entities and archives may be bombs, and .gltf is many files."""
    for ending in (".dae", ".3mf", ".gltf", ".zip", ".xaml", ".urdf", ".3dxml", ".tar.gz", ".off"):
        (tmp_path / f"a{ending}").write_text("<a/>")
        with pytest.raises(gf.GpufluidError, match=r"must end in one of \.glb, \.obj, \.ply, \.stl"):
            gf.Mesh.load(tmp_path / f"a{ending}")


@posix
def test_a_mesh_names_no_files(tmp_path: Path) -> None:
    """A material library that is a pipe would hang who reads it."""
    pytest.importorskip("trimesh")
    os.mkfifo(tmp_path / "a.mtl")
    os.mkfifo(tmp_path / "a.png")
    body = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nusemtl a\nf 1/1 2/1 3/1\n"
    (tmp_path / "a.obj").write_text(f"mtllib a.mtl\n{body}")
    points = "".join(f"property float {a}\n" for a in "xyz")
    (tmp_path / "a.ply").write_text(
        f"ply\nformat ascii 1.0\ncomment TextureFile a.png\nelement vertex 3\n{points}element face 1\n"
        "property list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"
    )
    for name in ("a.obj", "a.ply"):
        with bounded():
            assert len(gf.Mesh.load(tmp_path / name).triangles) == 1


@posix
def test_numbers_in_mesh_files_ask_for_no_memory(tmp_path: Path) -> None:
    pytest.importorskip("trimesh")
    points = "".join(f"property float {a}\n" for a in "xyz")
    for kind in ("ascii", "binary_little_endian"):
        (tmp_path / "a.ply").write_text(
            f"ply\nformat {kind} 1.0\nelement vertex 1000000000000\n{points}element face 1000000000000\n"
            "property list uchar int vertex_indices\nend_header\n0 0 0\n"
        )
        with pytest.raises(gf.GpufluidError, match=r"a\.ply"), bounded():
            gf.Mesh.load(tmp_path / "a.ply")
    (tmp_path / "a.stl").write_bytes(bytes(80) + struct.pack("<I", 0xFFFFFFFF) + bytes(50))
    with pytest.raises(gf.GpufluidError, match=r"a\.stl"), bounded():
        gf.Mesh.load(tmp_path / "a.stl")
    (tmp_path / "a.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 999999999999\nf -9 1 2\n")
    with pytest.raises(gf.GpufluidError, match=r"a\.obj"), bounded():
        gf.Mesh.load(tmp_path / "a.obj")
