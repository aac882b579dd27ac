"""Descriptions as plain data, and back: what a file can hold of emitters, settings, shapes and their like.

A description becomes JSON and arrays. Which classes may come back is a closed list, found once from the
annotations of the descriptions themselves (`KINDS`): a class that is named there, by any new field of an old
class too, can be saved and loaded, and no other can. Nothing is unpickled, or looked up by name elsewhere.
Loading calls the constructors, which check every value as if a program had given it.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from inspect import isclass, signature
from typing import Any, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from gpufluid.common.errors import GpufluidError
from gpufluid.description.boundaries import Boundaries
from gpufluid.description.grid import Grid
from gpufluid.description.mesh import Mesh
from gpufluid.description.obstacles import Obstacle
from gpufluid.description.settings import Settings
from gpufluid.description.sources import Emitter
from gpufluid.description.user_forces import Force

ROOTS: tuple[Any, ...] = (Grid, Boundaries, Settings, Emitter, Obstacle, Force)
DTYPES = ("|b1", "|i1", "|u1", "<i2", "<u2", "<f2", "<i4", "<u4", "<f4", "<i8", "<u8", "<f8")
HELD = {"source": "pixels"}  # the attribute that holds an argument of another name: of an Image

Json = Any  # None, bool, int, float, str, and lists and dicts of them


def _named(hint: Any) -> Iterator[type]:
    """The classes of this package that an annotation names, protocols left out."""
    if isclass(hint) and hint.__module__.startswith("gpufluid.") and not getattr(hint, "_is_protocol", False):
        yield hint
    for part in get_args(hint):
        yield from _named(part)


def arguments(kind: type) -> list[str]:
    """The arguments that make one of `kind`."""
    if is_dataclass(kind):
        return [part.name for part in fields(kind) if part.init]
    return list(signature(kind).parameters)


@cache
def _hints(kind: type) -> dict[str, Any]:
    """How the arguments that make one of `kind` are annotated."""
    return get_type_hints(kind if is_dataclass(kind) else kind.__init__)  # type: ignore[misc]


def _kinds(roots: Sequence[Any]) -> dict[str, type]:
    """The classes of `roots` and all that their arguments are annotated with, by name."""
    found: dict[str, type] = {}
    todo = [kind for root in roots for kind in _named(root)]
    while todo:
        kind = todo.pop()
        if kind.__name__ in found:
            continue
        found[kind.__name__] = kind
        todo += [part for name in arguments(kind) for part in _named(_hints(kind).get(name))]
    return found


KINDS = _kinds(ROOTS)


class Writer:
    """Turns descriptions into JSON. The arrays and meshes it meets are gathered beside it.

    arrays: little-endian, in order. meshes: their records, one for each Mesh however often it is named.
    """

    def __init__(self) -> None:
        self.arrays: list[NDArray[Any]] = []
        self.meshes: list[Json] = []
        self._mesh_numbers: dict[int, int] = {}
        self._families: dict[int, int] = {}
        self._alive: list[Mesh] = []  # an id is one object's only while that lives

    def __call__(self, value: Any, name: str) -> Json:
        """Return `value` as JSON; raises GpufluidError naming what no file can hold."""
        if value is None or isinstance(value, bool | str):
            return value
        if isinstance(value, np.bool_ | np.integer | np.floating):
            value = value.item()
        if isinstance(value, bool | int):
            return value
        if isinstance(value, float):
            if not math.isfinite(value):
                raise GpufluidError(f"{name} cannot be saved: it is {value}")
            return value
        if isinstance(value, bytes):
            return {"bytes": base64.b64encode(value).decode()}
        if isinstance(value, list | tuple):
            parts = [self(part, f"{name}[{n}]") for n, part in enumerate(value)]
            return parts if isinstance(value, list) else {"tuple": parts}
        if isinstance(value, np.ndarray):
            return {"array": self.array(value, name)}
        if isinstance(value, Mesh):
            return {"mesh": self._mesh(value, name)}
        kind = type(value)
        if KINDS.get(kind.__name__) is not kind:
            raise GpufluidError(
                f"{name} cannot be saved: a file can hold numbers, arrays and what gpufluid describes, but "
                f"not {value!r}"
            )
        return {
            "kind": kind.__name__,
            "with": {
                part: self(getattr(value, HELD.get(part, part)), f"{kind.__name__}.{part}")
                for part in arguments(kind)
            },
        }

    def array(self, values: NDArray[Any], name: str) -> int:
        """Gather an array and return its number."""
        plain = np.ascontiguousarray(values).astype(values.dtype.newbyteorder("<"), copy=False)
        if plain.dtype.str not in DTYPES:
            raise GpufluidError(f"{name} cannot be saved: it is an array of {values.dtype}")
        self.arrays.append(plain.reshape(values.shape))
        return len(self.arrays) - 1

    def _mesh(self, mesh: Mesh, name: str) -> int:
        number = self._mesh_numbers.get(id(mesh))
        if number is None:
            number = self._mesh_numbers[id(mesh)] = len(self.meshes)
            self._alive.append(mesh)
            self.meshes.append(
                {
                    "vertices": self.array(mesh.vertices, f"{name}.vertices"),
                    "triangles": self.array(mesh.triangles, f"{name}.triangles"),
                    "family": self._families.setdefault(id(mesh.family), len(self._families)),
                }
            )
        return number


class Reader:
    """Makes descriptions of what a `Writer` wrote.

    meshes: their records. array: returns the array of a number.
    Every method raises GpufluidError for a record that no `Writer` writes.
    """

    def __init__(self, meshes: Json, array: Callable[[Json], NDArray[Any]]) -> None:
        self._array = array
        families: dict[str, Mesh] = {}
        self._meshes: list[Mesh] = []
        for record in _list(meshes):
            parts = _dict(record, {"vertices", "triangles", "family"})
            mesh = Mesh(array(parts["vertices"]), array(parts["triangles"]))
            first = families.setdefault(str(parts["family"]), mesh)
            if len(first.vertices) != len(mesh.vertices) or len(first.triangles) != len(mesh.triangles):
                raise GpufluidError("there are meshes of one family that differ in more than their places")
            mesh.family = first.family
            self._meshes.append(mesh)

    def __call__(self, record: Json) -> Any:
        """Return what `record` stands for."""
        if record is None or isinstance(record, bool | int | float | str):
            return record
        if isinstance(record, list):
            return [self(part) for part in record]
        if not isinstance(record, dict):
            raise GpufluidError(f"there is no record of the type {type(record).__name__}")
        if record.keys() == {"kind", "with"}:
            return self._made(record)
        if len(record) != 1:
            raise GpufluidError(f"there is no record with the parts {sorted(map(str, record))}")
        ((sort, value),) = record.items()
        if sort == "tuple":
            return tuple(self(part) for part in _list(value))
        if sort == "bytes" and isinstance(value, str):
            try:
                return base64.b64decode(value, validate=True)
            except ValueError:
                raise GpufluidError("there are bytes that are not base64") from None
        if sort == "array":
            return self._array(value).copy()
        if sort == "mesh":
            return self._meshes[index(value, len(self._meshes), "mesh")]
        raise GpufluidError(f"there is no record of the sort {sort!r}")

    def _made(self, record: Json) -> Any:
        kind = KINDS.get(record["kind"]) if isinstance(record["kind"], str) else None
        if kind is None:
            raise GpufluidError(f"nothing of the kind {record['kind']!r} can be loaded")
        given, known = _dict(record["with"]), set(arguments(kind))
        if given.keys() - known:
            raise GpufluidError(f"{kind.__name__} has no {', '.join(sorted(given.keys() - known))} here")
        values = {name: self(part) for name, part in given.items()}
        hints = _hints(kind)
        for name, value in values.items():  # the one type that constructors take as it comes
            if hints.get(name) is bool and not isinstance(value, bool):
                raise GpufluidError(f"{kind.__name__}.{name} must be True or False, got {value!r}")
        return kind(**values)

    def one(self, record: Json, kind: Any) -> Any:
        """Return what `record` stands for, which must be one of `kind`."""
        made = self(record)
        if not isinstance(made, kind):
            raise GpufluidError(f"there is {made!r} where another thing belongs")
        return made


def index(value: Json, count: int, what: str) -> int:
    """Return `value` if it numbers one of `count` things, or raise."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < count:
        raise GpufluidError(f"there is no {what} {value!r}")
    return value


def _list(value: Json) -> list[Json]:
    if not isinstance(value, list):
        raise GpufluidError("a list is missing")
    return value


def _dict(value: Json, keys: set[str] | None = None) -> dict[str, Json]:
    if not isinstance(value, dict) or (keys is not None and value.keys() != keys):
        raise GpufluidError("a record is incomplete")
    return value
