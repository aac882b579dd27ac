"""A fluid in a file, and back: it goes on as if it had never stopped, bit for bit on one device.

The file is a zip without compression: `checkpoint.json`, and one .npy for each array, so that `numpy.load`
opens it too. It holds everything a step starts from: velocity, scalars and pressure in the precision they
are kept in; the time; where each obstacle was at the last step and what is voxelized; and the grid, sides,
settings, emitters, obstacles and forces themselves (`gpufluid.description.records`).

A file is read with suspicion. Nothing in it is code; an array takes no more memory than the file is long,
since nothing is compressed; what the JSON says must be exactly what the zip holds, and fit the grid, before
anything is read; CRC-32 tells what was altered. All that is wrong is one GpufluidError.
"""

from __future__ import annotations

import json
import os
import re
import struct
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import zip_longest
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from warnings import catch_warnings, simplefilter

import numpy as np
from numpy.typing import NDArray

from gpufluid.common.checks import finite_number, whole_triple
from gpufluid.common.errors import GLUnavailableError, GpufluidError, ShapeWarning, counted
from gpufluid.common.files import named_file, open_plain, whole_file
from gpufluid.contract.backend import Releasable
from gpufluid.description.boundaries import Boundaries
from gpufluid.description.grid import FARTHEST, Grid
from gpufluid.description.mesh import Mesh
from gpufluid.description.obstacles import Obstacle
from gpufluid.description.records import DTYPES, Json, Reader, Writer, index
from gpufluid.description.settings import Settings
from gpufluid.engine.following import NOWHERE, Middle, checked_middle
from gpufluid.engine.stepper import Stepper
from gpufluid.numerics.solver import Solver
from gpufluid.numerics.travel import check_history

if TYPE_CHECKING:
    import moderngl

FORMAT = 1
HEADER = "checkpoint.json"
MOST_HEADER = 1 << 24  # bytes of JSON
NAME = re.compile(r"[a-z]+(_[0-9]+)?")
DATE = (1980, 1, 1, 0, 0, 0)  # of every part: the same state is the same file
NEEDED = {"velocity", "scalars", "pressure"}
COMES = {"color", "flame"}  # of what is 0 where it is not there: sources and settings may have changed since
PARTS = {
    *("format", "engine", "backend", "grid", "boundaries", "settings", "numbers", "last_dt", "emitters"),
    *("obstacles", "forces", "state", "before", "voxels", "meshes", "arrays"),
}
OPTIONAL = {"scrolled", "middle"}  # of a box that stands elsewhere than it was made, and that follows a point


@dataclass(frozen=True, repr=False)
class Taken:
    """The state of a fluid as it was, all of it in main memory, to be written when it is wanted."""

    text: bytes
    names: list[str]
    arrays: list[NDArray[Any]]

    def __repr__(self) -> str:
        return "the state taken of a fluid"

    def write(self, path: str | os.PathLike[str], overwrite: bool = False) -> Path:
        """Write it to `path` and return that; see `Fluid.save`."""
        if len(self.text) > MOST_HEADER:
            raise GpufluidError(f"{os.fspath(path)}: what describes the fluid is over {MOST_HEADER} bytes")
        with whole_file(path, overwrite) as partial, zipfile.ZipFile(partial, "w") as file:
            file.writestr(zipfile.ZipInfo(HEADER, DATE), self.text)
            for name, array in zip(self.names, self.arrays, strict=True):
                with file.open(zipfile.ZipInfo(f"{name}.npy", DATE), "w", force_zip64=True) as member:
                    member.write(npy_header(array.dtype.str, array.shape))
                    member.write(array.reshape(-1).view(np.uint8).data if array.size else b"")
        return Path(path)


Kept = str | os.PathLike[str] | Taken  # a file, or what has not been written to one


Loaded = TypeVar("Loaded", bound=Releasable)  # a fluid


def take(stepper: Stepper, middle: Middle) -> Taken:
    """Return the last finished state of a fluid. Raises GpufluidError for what no file can hold.

    middle: of its box where that follows a point, see `MovingBox`.
    """
    write, state, backend = Writer(), stepper.state, stepper.backend
    before, voxels = state.solids.history(list(stepper.obstacles))
    header: dict[str, Json] = {
        "format": FORMAT,
        "engine": _engine(),
        "backend": backend.name,
        "grid": write(backend.made, "Fluid.grid"),
        "boundaries": write(stepper.boundaries, "Fluid.boundaries"),
        "settings": write(stepper.settings, "Fluid.settings"),
        "numbers": {name: number.hex() for name, number in state.numbers().items()},
        "last_dt": stepper.last_dt,
        "before": write(before, "Fluid.obstacles"),
        "voxels": write(voxels, "Fluid.obstacles"),
    }
    if any(backend.scrolled):
        header["scrolled"] = list(backend.scrolled)
    if middle != NOWHERE:
        header["middle"] = list(middle)
    for name in ("emitters", "obstacles", "forces"):
        header[name] = [write(thing, f"fluid.{name}[{n}]") for n, thing in enumerate(getattr(stepper, name))]
    names = {}
    header["state"] = {}
    for name, store in state.stores().items():
        number = header["state"][name] = write.array(store.dump(), name)
        names[number] = name
    header["meshes"] = write.meshes
    arrays = {names.get(n, f"array_{n}"): array for n, array in enumerate(write.arrays)}
    header["arrays"] = [
        {"name": name, "dtype": array.dtype.str, "shape": list(array.shape)} for name, array in arrays.items()
    ]
    text = json.dumps(header, allow_nan=False, indent=1).encode()
    # what was read back is a copy already, the arrays of shapes are their owners'
    copies = [array if n in names else array.copy() for n, array in enumerate(write.arrays)]
    return Taken(text, list(arrays), copies)


def load(
    make: Callable[..., Loaded],
    source: Kept,
    ctx: moderngl.Context | None,
    backend: str | None,
    take_over: Callable[[Loaded, Contents], None],
) -> Loaded:
    """Return the fluid in `source`, which `make` makes and `take_over` gives its state; see `Fluid.load`."""
    file, found = _named(source), _contents(source)
    try:
        ran_on = found.backend if backend is None else backend
        fluid = make(found.grid, found.boundaries, found.settings, ran_on, ctx)
    except (GpufluidError, ImportError):
        raise
    except Exception as error:
        raise _damaged(file, error) from error
    try:
        with catch_warnings():
            simplefilter("ignore", ShapeWarning)  # they came when the obstacle was first added
            take_over(fluid, found)
    except BaseException as error:
        fluid.release()
        if isinstance(error, GLUnavailableError) or not isinstance(error, Exception):
            raise
        if isinstance(error, GpufluidError):
            raise GpufluidError(f"{file}: cannot be loaded: {error}") from error
        raise _damaged(file, error) from error
    return fluid


def restore(stepper: Stepper, source: Kept, take_over: Callable[[Contents], None]) -> None:
    """Let `take_over` give a fluid, stepped by `stepper`, the state in `source`; see `Fluid.restore`."""
    file, found = _named(source), _contents(source)
    obstacles = list(stepper.obstacles)
    check_grid(file, found.grid, stepper.backend.made)
    if len(found.before) != len(obstacles):
        raise GpufluidError(
            f"{file}: is of a fluid with {counted(len(found.before), 'obstacle')}, and this one has "
            f"{len(obstacles)}"
        )
    # what has not changed since is this fluid's own, and need not be voxelized again; of what has bent since
    # the last step the next one is to know that
    saved = [getattr(thing, "shape", None) for thing in found.things["obstacles"]]
    before = [
        was if was is None else (_bent(_own(was[0], o.shape), o.shape, then), *was[1:])
        for was, o, then in zip_longest(found.before, obstacles, saved[: len(obstacles)])
    ]
    voxels = found.voxels
    if len(voxels) == len(obstacles):
        voxels = [(_own(v[0], o.shape), *v[1:]) for v, o in zip(voxels, obstacles, strict=True)]
    try:
        take_over(replace(found, things={}, before=before, voxels=voxels))
    except GpufluidError as error:
        raise GpufluidError(f"{file}: cannot be loaded: {error}") from error


def _own(shape: Any, own: Any) -> Any:
    """`own` where it is the same as `shape`."""
    if isinstance(shape, Mesh) and isinstance(own, Mesh):
        same = np.array_equal(shape.vertices, own.vertices) and np.array_equal(shape.triangles, own.triangles)
        return own if same else shape
    return shape


def _bent(shape: Any, own: Any, saved: Any) -> Any:
    """`shape` as one that `own` has come of by bending, where `saved`, in the file, has and is alike."""
    if not (isinstance(shape, Mesh) and isinstance(own, Mesh) and isinstance(saved, Mesh)):
        return shape
    alike = len(shape.vertices) == len(own.vertices) and np.array_equal(shape.triangles, own.triangles)
    return own.moved(shape.vertices) if shape.family is saved.family and alike else shape


@dataclass(frozen=True)
class Contents:
    """What a file holds.

    things: emitters, obstacles and forces, by the names of a fluid's own. before, voxels: where the obstacles
    were at the last step, and what is voxelized. numbers, state: of a solver, by name.
    """

    grid: Grid
    scrolled: tuple[int, int, int]
    middle: Middle
    boundaries: Boundaries
    settings: Settings
    backend: str
    things: dict[str, list[Any]]
    before: list[Any]
    voxels: list[Any]
    numbers: dict[str, float]
    last_dt: float
    state: dict[str, NDArray[Any]]

    def check(self, solver: Solver) -> None:
        """Raise GpufluidError where the state does not fit `solver`, which stays as it is."""
        shapes = {name: store.shape for name, store in solver.stores().items()}
        if strange := sorted(self.state.keys() - shapes.keys() - COMES):
            raise GpufluidError(f"it holds {', '.join(strange)}, which is nothing of a fluid")
        if wrong := solver.numbers().keys() ^ self.numbers.keys():
            raise GpufluidError(f"its numbers lack or add {', '.join(sorted(wrong))}")
        check_history(self.before, self.voxels)
        for axis, (to, now) in enumerate(zip(self.scrolled, solver.backend.scrolled, strict=True)):
            if to != now:
                solver.check_scroll(axis)
        cells = solver.scalars.shape
        shapes |= {"color": cells, "flame": (*cells[:3], 1)}
        for name, values in self.state.items():
            if values.shape != shapes[name]:
                raise GpufluidError(f"its {name} is {values.shape} where {shapes[name]} belongs")

    def give(self, solver: Solver, obstacles: list[Obstacle]) -> None:
        """Bring `solver`, in a fluid with these `obstacles`, to the state, which fits it."""
        solver.backend.scroll_to(self.scrolled)
        carried = [self.state[name] for name in ("scalars", "color") if name in self.state]
        holes = any(bool((values[..., 3] < 0.5).any()) for values in carried)
        solver.solids.recall(obstacles, self.before, self.voxels, holes)
        solver.fire.clear()
        for name, store in solver.stores(self.state).items():
            if name in self.state:
                store.restore(self.state[name])
        if "color" not in self.state:
            solver.clear_colors()
        solver.start_from(self.numbers)


def saved_start(path: str | os.PathLike[str]) -> tuple[Grid, float]:
    """The grid that the fluid in a file was made with, and its time, seconds; raises as `Fluid.load` does."""
    found = _contents(path)
    return found.grid, found.numbers["time"]


def check_grid(file: object, saved: Grid, made: Grid) -> None:
    """Raise GpufluidError where the `file` of a fluid made with the grid `saved` is not for one of `made`."""
    if saved != made:
        raise GpufluidError(f"{file}: is of {saved}, which is not this fluid's: {made}")


def _named(source: Kept) -> Path | Taken:
    return source if isinstance(source, Taken) else named_file(source)


def _contents(source: Kept) -> Contents:
    """Read what was saved. Raises GpufluidError for a file that is missing, or is no checkpoint."""
    file = _named(source)
    try:
        header, arrays = (json.loads(file.text), file.arrays) if isinstance(file, Taken) else _read(file)
        read = Reader(header["meshes"], lambda n: arrays[index(n, len(arrays), "array")])
        grid = read.one(header["grid"], Grid)
        scrolled = whole_triple(header.get("scrolled", (0, 0, 0)), "scrolled", FARTHEST)
        middle = checked_middle(header.get("middle", NOWHERE))
        boundaries = read.one(header["boundaries"], Boundaries)
        settings = read.one(header["settings"], Settings)
        things = {name: [read(r) for r in header[name]] for name in ("emitters", "obstacles", "forces")}
        before, voxels = read(header["before"]), read(header["voxels"])
        numbers = {name: float.fromhex(text) for name, text in header["numbers"].items()}
        numbers.setdefault("pushed", 0.0)  # files of before 2026-11-27 know nothing of it
        numbers.setdefault("turn", 0.0)  # of before 2026-11-30
        last_dt = finite_number(header["last_dt"], "last_dt", above=0.0)
        finite_number(numbers.get("time", -1.0), "time", low=0.0)
        finite_number(numbers["pushed"], "pushed", low=0.0)
        if numbers["turn"] not in (0.0, 1.0):
            raise GpufluidError(f"turn must be 0 or 1, got {numbers['turn']}")
        if not numbers.get("shortest", 1.0) > 0.0:
            raise GpufluidError(f"its shortest step must be > 0 s, got {numbers['shortest']}")
        for name, number in numbers.items():
            if number != number:
                raise GpufluidError(f"its number {name!r} is NaN")
        state = {name: arrays[index(n, len(arrays), "array")] for name, n in header["state"].items()}
    except (GpufluidError, MemoryError) as error:
        raise GpufluidError(f"{file}: cannot be loaded: {error}") from error
    except OSError as error:
        raise GpufluidError(f"{file}: cannot be read: {error.strerror or error}") from error
    except Exception as error:  # a damaged file surfaces as whatever it makes the reader trip over
        raise _damaged(file, error) from error
    made_of = header["backend"]
    return Contents(
        grid, scrolled, middle, boundaries, settings, made_of, things, before, voxels, numbers, last_dt, state
    )


def _damaged(file: Path | Taken, error: Exception) -> GpufluidError:
    reason = " ".join(f"{type(error).__name__} {error}".split())
    return GpufluidError(f"{file}: is no gpufluid checkpoint, or a damaged one ({reason})")


def _engine() -> str:
    from gpufluid import __version__

    return __version__


def npy_header(dtype: str, shape: tuple[int, ...]) -> bytes:
    """The bytes before the values in a .npy file, format 1.0 (numpy.lib.format), little-endian C order."""
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {tuple(shape)!r}, }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode("latin1")


def _read(path: Path) -> tuple[dict[str, Json], list[NDArray[Any]]]:
    """Return the JSON and the arrays of a file in which both fit each other and the grid."""
    with open_plain(path) as plain, zipfile.ZipFile(plain) as file:
        members = {member.filename: member for member in file.infolist()}
        if len(members) != len(file.infolist()):
            raise GpufluidError("it names a part twice")
        for member in members.values():
            if member.compress_type != zipfile.ZIP_STORED or member.compress_size != member.file_size:
                raise GpufluidError(f"its part {member.filename!r} is compressed, which no checkpoint is")
        total, length = sum(member.file_size for member in members.values()), os.fstat(plain.fileno()).st_size
        if total > length:  # parts that lie over each other would be read once each
            raise GpufluidError(f"its parts have {total} bytes in all, and it has {length} itself")
        about = members.pop(HEADER, None)
        if about is None:
            raise GpufluidError(f"it is a zip file, but has no {HEADER}")
        if about.file_size > MOST_HEADER:
            raise GpufluidError(f"its {HEADER} is over {MOST_HEADER} bytes")
        header = json.loads(file.read(about))
        _check_header(header)
        expected = []
        for part in header["arrays"]:
            name, dtype, shape = part["name"], part["dtype"], part["shape"]
            if not (isinstance(name, str) and NAME.fullmatch(name)) or dtype not in DTYPES:
                raise GpufluidError(f"it describes an array {name!r} of {dtype!r}, which no checkpoint has")
            sizes = [isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in shape]
            if len(shape) > 4 or not all(sizes):
                raise GpufluidError(f"it describes {name} as of the shape {shape}, which no checkpoint has")
            expected.append((f"{name}.npy", dtype, tuple(shape)))
        _check_state(header)
        if sorted(name for name, *_ in expected) != sorted(members):
            raise GpufluidError("it does not hold the arrays that it describes")
        for name, dtype, shape in expected:
            size = prod(shape) * np.dtype(dtype).itemsize + len(npy_header(dtype, shape))
            if members[name].file_size != size:
                raise GpufluidError(f"its part {name} has {members[name].file_size} bytes, not {size}")
        return header, [_array(file.read(members[part[0]]), *part) for part in expected]


def _array(data: bytes, name: str, dtype: str, shape: tuple[int, ...]) -> NDArray[Any]:
    head = npy_header(dtype, shape)
    if not data.startswith(head):
        raise GpufluidError(f"its part {name} is not what it is described as")
    return np.frombuffer(data, dtype, offset=len(head)).reshape(shape)


def _check_header(header: Json) -> None:
    """Raise where the JSON is not that of a checkpoint which this version reads."""
    if not isinstance(header, dict) or "format" not in header:
        raise GpufluidError(f"its {HEADER} is not that of a gpufluid checkpoint")
    if header["format"] != FORMAT:
        raise GpufluidError(
            f"it has the format {header['format']!r}, written by gpufluid {header.get('engine')!r}; "
            f"this is gpufluid {_engine()}, which reads the format {FORMAT}"
        )
    if header.keys() - OPTIONAL != PARTS:
        wrong = (header.keys() - OPTIONAL) ^ PARTS
        raise GpufluidError(f"its {HEADER} lacks or adds {', '.join(sorted(wrong))}")


def _check_state(header: Json) -> None:
    """Raise where an array of the state is no field of the grid."""
    grid = Reader([], lambda n: np.zeros(0)).one(header["grid"], Grid)
    nx, ny, nz = grid.cells
    if not header["state"].keys() >= NEEDED:  # so that no small file can ask for a large fluid
        raise GpufluidError(f"its state lacks {', '.join(sorted(NEEDED - header['state'].keys()))}")
    sizes = [nz, ny, nx], [nz + (grid.dimensions == 3), ny + 1, nx + 1]
    for name, number in header["state"].items():
        part = header["arrays"][index(number, len(header["arrays"]), "array")]
        if part["shape"][:3] not in sizes or part["dtype"] not in ("<f2", "<f4", "<f8"):
            raise GpufluidError(
                f"its {name} is {part['dtype']} {part['shape']}, no field of {nx} x {ny} x {nz} cells"
            )
