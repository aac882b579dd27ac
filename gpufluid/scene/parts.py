"""The parts of a scene, each built from its table in a description; what changes with time is noted."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gpufluid.common.checks import finite_number
from gpufluid.common.errors import GLUnavailableError, GpufluidError, SceneError, near, short
from gpufluid.common.files import open_plain
from gpufluid.common.vectors import Triple
from gpufluid.description import flow_views, shapes, sources
from gpufluid.description.keyframes import Formula, Keys, Track
from gpufluid.description.mesh import Mesh
from gpufluid.description.view import Plate
from gpufluid.scene.provenance import Provenance
from gpufluid.scene.scene import Cells, Scene, check_name
from gpufluid.scene.schema import OFF, field_types, fields_with_off, is_table, kind_of, schema

Maker = Callable[[float], Any]  # gives a value as it is at a time, s
SMOOTH = 0.25  # of its way that a thing may be off the middle of it half a frame ago; else it has jumped


@dataclass(frozen=True)
class _Move:
    """That field `name` of `thing`, said at `place`, is what `make` gives; assign: None sets an attribute."""

    thing: Any
    name: str
    make: Maker
    place: str
    assign: Callable[[str, Any], None] | None


class Builder:
    """Builds the parts of one description.

    names: what is called so by the description. provenance: what is known of the parts besides. files: those
    that were looked for. cells: of the box that is being built.
    """

    def __init__(self, path: Path, seed: int, dt: float) -> None:
        self.path, self.seed, self.dt = path, seed, dt
        self.cells: Cells = (0, 0, 0)
        self.tables = schema()
        self.names: dict[str, Any] = {}
        self.files: list[Path] = []
        self.provenance = Provenance()
        self.provenance.follow = self._follow
        self._moves: dict[tuple[int, str], _Move] = {}  # by thing and field
        self._motions: list[tuple[sources.Emitter, Maker]] = []  # how fast each moves at a time, m/s

    @contextmanager
    def at(self, place: str) -> Iterator[None]:
        """A block in which errors become a SceneError that names the file and `place`.

        What this machine cannot do stays what it is: no line of the file is to blame.
        """
        try:
            yield
        except (SceneError, GLUnavailableError):
            raise
        except (GpufluidError, TypeError, OverflowError) as error:
            wrong = SceneError(f"{self.path}: {place}: {short(str(error))}")
            wrong.files = tuple(self.files)
            raise wrong from None

    def given(self, table: Any) -> dict[str, Any]:
        """The fields that a table was given, of which there may be none."""
        if table is self.tables.unset:
            return {}
        kind = self.tables.builds.get(type(table))
        offs = () if kind is None else fields_with_off(kind)
        pairs = ((name, getattr(table, name)) for name in table.__struct_fields__)
        return {
            name: None if value == OFF and name in offs else value
            for name, value in pairs
            if value is not self.tables.unset
        }

    def call(self, made: Any, name: str, place: str) -> None:
        """Let `made` be known by `name`. Raises SceneError where nothing can be, or something else is."""
        with self.at(place):
            check_name(name, self.names)
        self.names[name] = made

    # -- what changes with time ------------------------------------------------------------------------

    def move_of(self, thing: Any, name: str) -> Callable[[float], None] | None:
        """What assigns field `name` of `thing` as it is at a time, s; None: it does not change."""
        found = self._moves.get((id(thing), name))
        return None if found is None else partial(self._assign, found)

    def hand_over(self, thing: Any, other: Any) -> None:
        """What was said of `thing`, which is going to be replaced, is said of `other` from now on."""
        self.provenance.hand_over(thing, other)
        for number, name in list(self._moves):
            if number == id(thing):
                self._moves[id(other), name] = replace(self._moves.pop((number, name)), thing=other)

    def hand_over_parts(
        self, parts: Mapping[str, Any], other: Any, assign: Callable[[str, Any], None]
    ) -> None:
        """The same for all `parts` of `other`, whose fields are then called as in "left.velocity".

        parts: by name; several may be one thing. assign: how all of these fields are set from now on.
        """
        numbers = {id(thing) for thing in parts.values()}
        moves = [(key, self._moves.pop(key)) for key in list(self._moves) if key[0] in numbers]
        for part, thing in parts.items():
            self.provenance.hand_over(thing, other, f"{part}.")
            for (number, name), move in moves:
                if number == id(thing):
                    told = f"{part}.{name}"
                    self._moves[id(other), told] = replace(move, thing=other, name=told, assign=assign)

    def _follow(self, thing: Any, other: Any, name: str) -> None:
        """Field `name` of `other` changes as that of `thing` does, if it does."""
        if (id(thing), name) in self._moves:
            self._moves[id(other), name] = replace(self._moves[id(thing), name], thing=other)

    def update(self) -> Callable[[Scene, float], None] | None:
        """What assigns all that changes with time, but for what is held; None where nothing does."""
        moves, motions = self._moves, self._motions
        if not moves:
            return None

        def update(scene: Scene, time: float) -> None:
            for move in moves.values():
                if not scene.is_held(move.thing, move.name):
                    self._assign(move, time)
            for emitter, motion in motions:
                if not scene.is_held(emitter, "motion"):
                    emitter.motion = (0.0, 0.0, 0.0) if scene.is_held(emitter, "position") else motion(time)

        return update

    def _track(self, value: Any) -> Track | None:
        """The track that `value` is, or None."""
        if type(value) is not self.tables.track:
            return None
        keys, formula = (None if v is self.tables.unset else v for v in (value.keys, value.formula))
        if (keys is None) == (formula is None):
            raise GpufluidError("a value over time must have either keys or a formula")
        if formula is not None:
            return Formula(formula if isinstance(formula, str) else [str(f) for f in formula], self.seed)
        return Keys(list(keys or ()), value.ease, value.repeat)

    def _moving(self, value: Any) -> bool:
        """Whether `value`, or anything in it, changes with time."""
        if not is_table(value):
            return False
        parts = (getattr(value, name) for name in value.__struct_fields__)
        return type(value) is self.tables.track or any(self._moving(part) for part in parts)

    def _motion(self, position: Callable[[float], Triple]) -> Callable[[float], Triple]:
        """How fast what follows `position` has moved in the last frame, m/s; 0 where it has jumped."""

        def motion(time: float) -> Triple:
            way = np.array([position(max(time - back * self.dt, 0.0)) for back in (1.0, 0.5, 0.0)])
            beside = np.abs(way[1] - 0.5 * (way[0] + way[2])).max()
            if self.dt <= 0.0 or beside > SMOOTH * np.abs(way[2] - way[0]).max():
                return 0.0, 0.0, 0.0
            u, v, w = ((way[2] - way[0]) / self.dt).tolist()
            return u, v, w

        return motion

    def _assign(self, move: _Move, time: float) -> None:
        with self.at(f"{move.place} at {time:.4g} s" if time else move.place):
            (move.assign or partial(setattr, move.thing))(move.name, move.make(time))

    # -- objects ---------------------------------------------------------------------------------------

    def make_each(self, tables: Sequence[Any], place: str) -> list[Any]:
        """An object for each of `tables`; see `make`."""
        return [self.make(table, f"{place}[{n}]") for n, table in enumerate(tables)]

    def make(
        self,
        table: Any,
        place: str,
        assign: Callable[[str, Any], None] | None = None,
        known: Mapping[str, Any] | None = None,
    ) -> Any:
        """The object that a table describes; its changing fields are assigned again before each frame.

        assign: how, by name and value; None: as attributes. known: what some fields are that a table has
        another word for. Raises SceneError.
        """
        kind, given = self.tables.builds[type(table)], self.given(table) | dict(known or {})
        named = given.pop("name", None)
        makers = {name: self._maker(value, f"{place}.{name}") for name, value in given.items()}
        for name, hint in field_types(kind).items():
            if hint is bool and name in makers:
                makers[name] = _yes_or_no(makers[name])
        others = [name for name in makers if name not in field_types(kind)]  # say what fields say otherwise
        with self.at(place):
            made = kind(**{name: make(0.0) for name, make in makers.items() if name not in others})
            for name in others:
                setattr(made, name, makers[name](0.0))
        self.provenance.places.append((made, place))
        for name, make in makers.items():
            moving = self._moving(table if name in others else given[name])
            if moving:
                self._moves[id(made), name] = _Move(made, name, make, f"{place}.{name}", assign)
            if moving or name in others or self._is_read(given[name]):
                words = self.tables.msgspec.to_builtins(given[name])
                self.provenance.say(made, name, words, None if moving else getattr(made, name))
        if kind is sources.Emitter and self._moving(given.get("position")) and "motion" not in given:
            self._motions.append((made, self._motion(makers["position"])))
            self.provenance.say(made, "motion", None, None)
        if named is not None:
            self.call(made, named, f"{place}.name")
        return made

    def _is_read(self, value: Any) -> bool:
        """Whether `value` says where something comes from, which what is made of it does not."""
        return is_table(value) and type(value) not in self.tables.builds

    # -- values ----------------------------------------------------------------------------------------

    def _maker(self, value: Any, place: str) -> Maker:
        """What gives `value` as the engine wants it, at any time. Everything in it is built once here."""
        if isinstance(value, list) and value and is_table(value[0]):
            born = [self._particle_source(part, f"{place}[{n}]") for n, part in enumerate(value)]
            return lambda time: born
        with self.at(place):
            track = self._track(value)
            if track is not None:
                return track.at
            if is_table(value):
                return self._maker_of_table(value, place)
        return lambda time: value

    def _maker_of_table(self, table: Any, place: str) -> Maker:
        kind = self.tables.builds.get(type(table))
        if kind is not None:
            return self._maker_of_object(kind, table, place)
        if type(table) is self.tables.turn:
            return self._turn(table, place)
        made: Any
        if type(table) is self.tables.numbers:
            made = self._array(table.file)
        elif type(table) is self.tables.plate:
            made = Plate(self._file(table.file))
        else:
            made = self._shape(table)
        return lambda time: made

    def _maker_of_object(self, kind: type, table: Any, place: str) -> Maker:
        """An object of `kind`, which is another one at each time where anything in it changes."""
        parts = {name: self._maker(value, f"{place}.{name}") for name, value in self.given(table).items()}

        def make(time: float) -> Any:
            return kind(**{name: part(time) for name, part in parts.items()})

        if self._moving(table):
            return make
        made = make(0.0)
        return lambda time: made

    def _turn(self, table: Any, place: str) -> Maker:
        """A rotation, as a quaternion (x, y, z, w)."""
        axis = shapes.direction(table.axis, "axis")
        degrees = self._maker(table.degrees, f"{place}.degrees")
        with self.at(f"{place}.degrees"):
            finite_number(degrees(0.0), "an angle")

        def turned(time: float) -> Any:
            half = 0.5 * np.radians(degrees(time))
            return (*(np.sin(half) * a for a in axis), np.cos(half))

        return turned

    def _particle_source(self, table: Any, place: str) -> flow_views.ParticleSource:
        """Where particles are born: a shape, or an emitter by its name."""
        emitters = {n: t for n, t in self.names.items() if isinstance(t, sources.Emitter)}
        known = {}
        if isinstance(table.shape, str):
            with self.at(f"{place}.shape"):
                if table.shape not in emitters:
                    raise GpufluidError(
                        f"must be a shape or the name of an emitter, got {table.shape!r}"
                        + near(table.shape, emitters)
                    )
            known["shape"] = emitters[table.shape]
        made: flow_views.ParticleSource = self.make(table, place, known=known)
        return made

    def _shape(self, table: Any) -> Any:
        """A shape that is read or computed once."""
        tag, given = kind_of(table), self.given(table)
        if tag == "line":
            return sources.Line(**given)
        if tag == "bezier":
            return sources.Bezier(**given)
        if tag == "array":
            return sources.Array(self._array(given["file"]))
        if tag == "image":
            return sources.Image(self._file(given.pop("file")), **given)
        mesh = self._mesh(tag, given)
        return sources.Surface(mesh, given.get("thickness")) if tag == "surface" else mesh

    def _mesh(self, tag: str | None, given: dict[str, Any]) -> Mesh:
        """A mesh from a file, or the knot or ring, of the size and at the place that are `given`."""
        if tag == "torus":
            return Mesh.torus(**given)
        if tag == "knot":
            mesh = Mesh.trefoil(**{name: given[name] for name in given if name == "tube"})
        else:
            mesh = Mesh.load(self._file(given["file"]))
        return placed(mesh, given.get("fit"), given.get("center", (0.0, 0.0, 0.0)))

    # -- files -----------------------------------------------------------------------------------------

    def _array(self, name: str) -> np.ndarray[Any, Any]:
        """The numbers of a .npy file, for the box that is being built."""
        return array_in(Path(self._file(name)), name, self.cells)

    def _file(self, name: str) -> str:
        """A file named in a description, which lies in its folder or below."""
        base = self.path.parent.resolve()
        try:
            target = (base / name).resolve()
        except (OSError, RuntimeError, ValueError) as error:  # a loop of links, a name that no file can have
            raise GpufluidError(f"{name!r} is no file's name: {error}") from None
        if not target.is_relative_to(base):
            raise GpufluidError(f"{name!r} lies outside the scene's folder {base}")
        self.files.append(target)
        # on Windows folders may be told apart so, in a scene that is then of no use elsewhere; and between
        # TOML's double quotes "meshes\torus.obj" has a tab in it. Path.exists raises for a name too long
        if ("\\" in name or not name.isprintable()) and not os.path.exists(target):  # noqa: PTH110
            raise GpufluidError(f"there is no file {name!r}: folders are told apart by /, on Windows too")
        return os.fspath(target)


def array_in(file: Path, name: str, cells: Cells) -> np.ndarray[Any, Any]:
    """The numbers of a .npy file, one or three a cell of a box of `cells`; nothing is run.

    name: what it is called. Raises GpufluidError for any other file.
    """
    read, shaped = np.lib.format, cells[::-1]
    try:
        with open_plain(file) as opened:
            header = {(1, 0): read.read_array_header_1_0, (2, 0): read.read_array_header_2_0}
            shape, _, dtype = header[read.read_magic(opened)](opened)
            if dtype.hasobject:
                raise ValueError("objects can only be unpickled, which runs what they say")
            if shape not in (shaped, (*shaped, 3)) or dtype.kind not in "biuf":
                raise GpufluidError(
                    f"{name!r} is an array {list(shape)} of {dtype}; one number or three are needed for "
                    f"each of the grid's {list(shaped)} cells"
                )
            opened.seek(0)
            return np.asarray(read.read_array(opened, allow_pickle=False))
    except FileNotFoundError:
        raise GpufluidError(f"{name!r} is missing") from None
    except GpufluidError:
        raise
    except Exception as error:  # a damaged file surfaces as whatever it makes NumPy trip over
        raise GpufluidError(f"{name!r} is no array as numpy.save writes one: {error}") from None


def placed(mesh: Mesh, fit: float | None, center: Triple) -> Mesh:
    """A mesh as a description has it: as large as `fit` with its middle at `center`, or moved by that; m."""
    if fit is not None:
        return mesh.fitted(fit, center=center)
    return mesh.moved(mesh.vertices + np.array(center)) if any(center) else mesh


def _yes_or_no(make: Maker) -> Callable[[float], bool]:
    """The same as a yes or no: a number over time is a yes from a half on."""
    return lambda time: bool(make(time) >= 0.5)
