"""Triangles out of mesh files (.glb, .obj, .ply, .stl): by trimesh, and what it reads wrong or not at all."""

from __future__ import annotations

import io
import json
import logging
import re
import struct
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gpufluid.common.errors import GpufluidError, counted, needs
from gpufluid.common.files import open_plain
from gpufluid.common.vectors import Floats

STL_HEADER, STL_TRIANGLE = 84, 50  # bytes of a binary one
MOST_MESH_BYTES = 1 << 30  # of a file
MOST_TRIANGLES = 10_000_000  # of a file
GLTF_BYTES = {5120: 1, 5121: 1, 5122: 2, 5123: 2, 5125: 4, 5126: 4}  # glTF 2.0, 3.6.2.2: of a component
GLTF_PARTS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
PLY_TYPES = {"char": "b", "uchar": "B", "short": "h", "ushort": "H", "int": "i", "uint": "I", "float": "f"}
PLY_TYPES |= {"double": "d", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i"}
PLY_TYPES |= {"uint32": "I", "float32": "f", "float64": "d"}  # to those of Python's struct
# a byte-order mark, tabs, indents, lone carriage returns, lines that go on, comments behind, counts back
UNUSUAL_OBJ = re.compile(r"^\ufeff|\t|^ +\S|\r(?!\n)|\\\r?\n|^[^#\n]+#|^f [^\n#]*-", re.MULTILINE)


@contextmanager
def _quiet(logger_name: str) -> Iterator[None]:
    """No warnings while inside, and nothing logged under a name that its own handlers do not take."""
    logger, sink = logging.getLogger(logger_name), logging.NullHandler()
    before, logger.propagate = logger.propagate, False
    logger.addHandler(sink)  # without any handler Python would print warnings itself
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.removeHandler(sink)
        logger.propagate = before


def _reason(error: Exception) -> str:
    """What an error says, on one line, without the number and file name an OSError adds."""
    text = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return " ".join(text.split()) or type(error).__name__


def _whole_stl(file: Path, data: bytes) -> bytes:
    """The bytes of an STL `file`, without what lies behind the triangles of a binary one.

    trimesh takes a binary one of another length than it says for a text. Raises GpufluidError for one that
    is cut short, binary or text.
    """
    short = f"mesh file {file} is damaged or cut short:"
    begin = data[:1000].lower().lstrip()
    if begin.startswith(b"solid") and b"facet" in begin:  # not only the 80 free bytes of a binary one
        text = data.lower()
        if text.rfind(b"endsolid") < text.rfind(b"facet normal"):
            raise GpufluidError(f"{short} no endsolid follows its last facet")
        return data
    if b"\0" not in data:
        return data
    if len(data) < STL_HEADER:
        raise GpufluidError(f"{short} a binary STL begins with {STL_HEADER} bytes, and it has {len(data)}")
    count = int.from_bytes(data[STL_HEADER - 4 : STL_HEADER], "little")
    size = STL_HEADER + STL_TRIANGLE * count
    if size > len(data):
        raise GpufluidError(
            f"{short} with {counted(count, 'triangle')} it takes {size} bytes, and it has {len(data)}, "
            f"enough for {(len(data) - STL_HEADER) // STL_TRIANGLE}"
        )
    return data[:size]


def _check_glb(data: bytes) -> None:
    """Raise GpufluidError where a binary glTF asks for more than its own bytes: files, endless arrays."""
    header = json.loads(data[20 : 20 + int.from_bytes(data[12:16], "little")])
    if any("uri" in part for name in ("buffers", "images") for part in header.get(name, ())):
        raise GpufluidError("it names other files, which are not read: put all into one .glb")
    total = 0
    for accessor in header.get("accessors", ()):
        if "bufferView" not in accessor:
            raise GpufluidError("it holds an accessor without bytes (compressed, or sparse)")
        total += GLTF_BYTES[accessor["componentType"]] * GLTF_PARTS[accessor["type"]] * accessor["count"]
    if total > 4 * len(data):  # some may share bytes, but not without end
        raise GpufluidError(f"its arrays have {total} bytes in all, and it has {len(data)} itself")


def _plain_obj(text: str) -> str:
    """OBJ text as trimesh reads it right: without tabs, indents and comments behind, and with corners counted
    from the first of the file, not back from the line that names them (Wavefront 1992).
    """
    if not UNUSUAL_OBJ.search(text):
        return text
    lines, counts = [], {"v": 0, "vt": 0, "vn": 0}
    joined = text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n").replace("\\\n", " ")
    for number, line in enumerate(joined.split("\n"), 1):
        words = line.split("#", 1)[0].split()
        if words and words[0] in counts:
            counts[words[0]] += 1
        elif words and words[0] == "f" and "-" in line:
            words[1:] = [_from_the_first(corner, counts.values(), number) for corner in words[1:]]
        lines.append(" ".join(words))
    return "\n".join(lines) + "\n"


def _from_the_first(corner: str, counts: Iterable[int], line: int) -> str:
    """A `corner` v/vt/vn of a face, counted from the first on, not back from the last of so many."""
    parts = corner.split("/")
    for k, (part, count) in enumerate(zip(parts, counts, strict=False)):
        if part.startswith("-"):
            if int(part) < -count:
                raise ValueError(f"line {line}: {corner} reaches back before the first vertex")
            parts[k] = str(count + 1 + int(part))
    return "/".join(parts)


def _ply_of_all_sorts(data: bytes) -> tuple[Floats, NDArray[np.int64]] | None:
    """Vertices and triangles of a binary PLY with faces of 3, 4 and more corners; None for any other.

    trimesh takes the number of corners of the first face for that of all.
    """
    head, end, body = data.partition(b"end_header")
    lines = [line.split() for line in head.decode("latin-1").splitlines()]
    order = {"binary_little_endian": "<", "binary_big_endian": ">"}.get(
        next((line[1] for line in lines if line[:1] == ["format"]), "")
    )
    if not end or order is None:
        return None
    at = body.index(b"\n") + 1
    elements: list[tuple[str, int, list[list[str]]]] = []
    for line in lines:
        if line[:1] == ["element"]:
            elements.append((line[1], int(line[2]), []))
        elif line[:1] == ["property"]:
            elements[-1][2].append(line[1:])

    def read(kind: str, count: int = 1) -> tuple[float, ...]:
        nonlocal at
        form = f"{order}{count}{PLY_TYPES[kind]}"
        values = struct.unpack_from(form, body, at)
        at += struct.calcsize(form)
        return values

    places, corners = list[list[float]](), list[NDArray[np.int64]]()
    for element, count, properties in elements:
        if count > MOST_TRIANGLES:
            return None
        for _ in range(count if properties else 0):
            row: dict[str, tuple[float, ...]] = {}
            for kind, *given in properties:
                if kind == "list":
                    row[given[2]] = read(given[1], int(read(given[0])[0]))
                else:
                    row[given[0]] = read(kind)
            if element == "vertex":
                places.append([row[axis][0] for axis in "xyz"])
            elif element == "face":
                corners.append(np.array(row.get("vertex_indices") or row["vertex_index"], np.int64))
    if len({len(face) for face in corners}) < 2:
        return None
    fans = [np.stack([0 * face[2:] + face[0], face[1:-1], face[2:]], axis=1) for face in corners]
    return np.array(places, np.float64), np.concatenate(fans)


def _bytes_of(file: Path) -> bytes:
    """All that a mesh `file` holds, or raise."""
    try:
        with open_plain(file, MOST_MESH_BYTES) as plain:
            data = plain.read()
    except FileNotFoundError:
        raise GpufluidError(f"mesh file {file} does not exist") from None
    except IsADirectoryError:
        raise GpufluidError(f"mesh file {file} is not a file") from None
    except (OSError, ValueError) as error:
        raise GpufluidError(f"mesh file {file} cannot be read: {_reason(error)}") from error
    if not data:
        raise GpufluidError(f"mesh file {file} is empty")
    return data


def read_triangles(file: Path) -> tuple[Floats, NDArray[np.int64]]:
    """Vertices [v, 3] and triangles [t, 3] of all meshes in a `file`, placed by its scene graph.

    Raises GpufluidError for a missing, empty or unreadable file or no triangles, and
    MissingDependencyError without trimesh.
    """
    data = _bytes_of(file)
    with needs("trimesh", f"loading the mesh file {file}"):
        import trimesh
    suffix = file.suffix.lower()
    if suffix == ".stl":
        data = _whole_stl(file, data)
    # From a stream trimesh knows no folder, so it follows no names in the file to materials and textures.
    # Text that is not UTF-8 (a comment, as a rule) would make it ask for one more package to guess with.
    try:
        stream = (
            io.StringIO(_plain_obj(data.decode(errors="replace"))) if suffix == ".obj" else io.BytesIO(data)
        )
        if suffix == ".glb":
            _check_glb(data)
        with _quiet("trimesh"):
            scene = trimesh.load_scene(stream, file_type=suffix[1:], process=False, skip_materials=True)
            drawn = [scene.geometry[scene.graph[node][1]] for node in scene.graph.nodes_geometry]
            count = sum(len(part.faces) for part in drawn if isinstance(part, trimesh.Trimesh))
            if count > MOST_TRIANGLES:  # a scene may name one mesh often
                raise GpufluidError(f"it makes {count} triangles, and the limit is {MOST_TRIANGLES}")
            parts = [part for part in scene.dump() if isinstance(part, trimesh.Trimesh)]
            vertices = [np.asarray(part.vertices, dtype=np.float64) for part in parts]
            triangles = [np.asarray(part.faces, dtype=np.int64) for part in parts]
    except ImportError as error:
        raise GpufluidError(f"mesh file {file} is damaged, or text that is not UTF-8") from error
    except GpufluidError as error:
        raise GpufluidError(f"mesh file {file} cannot be used: {error}") from None
    except Exception as error:  # a damaged file surfaces as whatever the parser tripped over
        with suppress(Exception):
            if suffix == ".ply" and (found := _ply_of_all_sorts(data)) is not None:
                return found
        raise GpufluidError(f"mesh file {file} is damaged or no mesh: {_reason(error)}") from error
    if not any(len(part) for part in triangles):
        raise GpufluidError(f"mesh file {file} holds no triangles")
    starts = np.cumsum([0, *(len(part) for part in vertices[:-1])])
    placed = [part + start for part, start in zip(triangles, starts, strict=True)]
    return np.concatenate(vertices), np.concatenate(placed)
