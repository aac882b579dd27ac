"""Scenes in TOML: read, checked and built; and written again.

A description is checked in two stages, both before anything is computed: msgspec holds it to the tables
declared here, which follow the engine's own classes field by field; then those classes check the values. A
number may be followed over time: ``{ keys = [[0, 1], [2, 5]] }`` or ``{ formula = "1 + sin(t)" }``.
"""

from __future__ import annotations

import dataclasses
import filecmp
import os
import re
import types
import typing
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from gpufluid import boundaries, flow_views, hand, settings, shapes, solvers, sources, user_forces, view
from gpufluid.boundaries import SIDES, Boundaries
from gpufluid.combustion import Combustion
from gpufluid.errors import GpufluidError, MissingDependencyError, SceneError, ShapeWarning, near, short
from gpufluid.files import open_plain, readable, whole_file
from gpufluid.fluid import Fluid
from gpufluid.grid import Grid
from gpufluid.keyframes import Formula, Keys, Track
from gpufluid.scene import Cells, Scene, box_names, direction_of_view

Triple = tuple[float, float, float]
# (id of a thing, field): the thing, what a file says there, and what that has made (None: it changes)
Origins = dict[tuple[int, str], tuple[Any, Any, Any]]
Moves = dict[tuple[int, str], Callable[[float], None]]  # what assigns a field again, by the same keys
Motions = list[tuple[sources.Emitter, Callable[[float], Triple]]]  # and how fast each moves at a time, m/s
DT = 1.0 / 30.0  # seconds a frame
SEEN = 20.0  # s of a scene without an end for which a camera that turns is placed
LOOKS = 64  # at the scene meanwhile
SMOOTH = 0.25  # of its way that a thing may be off the middle of it half a frame ago; else it has jumped
LARGEST = 1 << 20  # bytes of a description
DEEPEST = 32  # tables and arrays within one another, and names in a row with dots between
MOST_THINGS = 1000  # emitters, obstacles, forces or views
MOST_BOXES = 64
LISTS = "emitters", "obstacles", "forces", "views", "lights", "containers"
MOST_POINTS = 10_000  # of a line

# What a TOML text holds besides its keys: comments and strings, unfinished ones too (TOML 1.0). It never
# fails, so it takes a time that grows with the text alone.
NO_KEYS = re.compile(
    r"""#[^\n]*|\"{3}(?:[^"\\]|\\.|"(?!""))*"{0,5}|'{3}(?:[^']|'(?!''))*'{0,5}"""
    r"""|"(?:[^"\\\n]|\\[^\n])*"?|'[^'\n]*'?""",
    re.DOTALL,
)
LONG_KEY = re.compile(rf"(?<![A-Za-z0-9_-])(?:[A-Za-z0-9_-]+[ \t]*\.[ \t]*){{{DEEPEST}}}")
# The place a change is of, as in ``emitters[0].shape.radius``: names and numbers, after dots or in brackets.
PLACE = re.compile(r"[^.\[\]]+(?:\.[^.\[\]]+|\[[^.\[\]]+\])*")

# Names in a file, and the classes they build.
SIDE_KINDS: dict[str, type] = {
    "wall": boundaries.Wall,
    "open": boundaries.Open,
    "inflow": boundaries.Inflow,
    "periodic": boundaries.Periodic,
}
SOLVER_KINDS: dict[str, type] = {
    "jacobi": solvers.Jacobi,
    "chebyshev": solvers.ChebyshevJacobi,
    "sor": solvers.RedBlackSOR,
    "conjugate-gradient": solvers.ConjugateGradient,
    "multigrid": solvers.Multigrid,
    "fft": solvers.FFT,
}
FORM_KINDS: dict[str, type] = {
    "sphere": shapes.Sphere,
    "box": shapes.Box,
    "cylinder": shapes.Cylinder,
    "capsule": shapes.Capsule,
    "plane": shapes.Plane,
}
FORCE_KINDS: dict[str, type] = {
    "wind": user_forces.Wind,
    "vortex": user_forces.Vortex,
    "attractor": user_forces.Attractor,
    "field": user_forces.ForceField,
}
VIEW_KINDS: dict[str, type] = {
    "particles": flow_views.ParticlesView,
    "streamlines": flow_views.StreamlinesView,
    "streak-lines": flow_views.StreakLinesView,
    "glyphs": flow_views.GlyphsView,
    "slice": flow_views.SliceView,
    "iso-surface": flow_views.IsoSurfaceView,
    "voxels": flow_views.VoxelsView,
}
OFF = "none"  # what TOML has no word for: a setting that is on unless it is None
LIGHT_KINDS: dict[str, type] = {"sun": view.Light, "point": view.PointLight}
KINDS = {*SIDE_KINDS, *SOLVER_KINDS, *FORM_KINDS, *FORCE_KINDS, *VIEW_KINDS, *LIGHT_KINDS}
KINDS |= {"mesh", "knot", "line", "bezier", "image", "surface", "array", "expression"}


def _msgspec() -> Any:
    try:
        import msgspec
    except ImportError:
        raise MissingDependencyError("msgspec", "reading a scene file") from None
    return msgspec


class _Schema:
    """The tables of a description, made once from the classes they build."""

    def __init__(self) -> None:
        self.msgspec = msgspec = _msgspec()
        unset = msgspec.UNSET
        define = msgspec.defstruct

        def table(name: str, fields: Sequence[tuple[Any, ...]], tag: str | None = None) -> Any:
            options: dict[str, Any] = {"kw_only": True, "forbid_unknown_fields": True}
            if tag is not None:
                options |= {"tag_field": "kind", "tag": tag}
            return define(name, list(fields), **options)

        # msgspec takes one table a union: both kinds of track in one, told apart when built
        self.track = table(
            "Track",
            [
                ("keys", list[Any] | msgspec.UnsetType, unset),
                ("ease", str, "linear"),
                ("repeat", bool, False),
                ("formula", str | list[str | float] | msgspec.UnsetType, unset),
            ],
        )
        turn = table("Turn", [("axis", Triple), ("degrees", float | self.track)])

        def of(kind: type, tag: str | None = None, moving: bool = True, **own: Any) -> Any:
            """A table with the fields of dataclass `kind`, and `own` types for some (None: leave it out)."""
            hints = typing.get_type_hints(kind)
            fields: list[tuple[Any, ...]] = []
            for part in dataclasses.fields(kind):
                hint = own.pop(part.name, hints[part.name])
                if hint is None or part.name.startswith("_"):
                    continue
                if moving and _moves(hint):
                    hint = hint | self.track
                if part.name in _offs(kind) and str not in typing.get_args(hint):
                    hint = hint | typing.Literal[OFF]
                missing = dataclasses.MISSING
                if part.default is missing and part.default_factory is missing:
                    fields.append((part.name, hint))
                else:
                    fields.append((part.name, hint | msgspec.UnsetType, unset))
            fields += [(name, hint, unset) for name, hint in own.items()]
            return table(kind.__name__, fields, tag)

        def union(kinds: Mapping[str, type], moving: bool = True, **own: Any) -> Any:
            return _either(*(of(kind, tag, moving, **own) for tag, kind in kinds.items()))

        side = union(SIDE_KINDS, moving=False)
        solver = union(SOLVER_KINDS, moving=False)
        rotation = tuple[float, float, float, float] | turn | None
        fitted = [
            ("fit", float | msgspec.UnsetType, unset),
            ("center", Triple | msgspec.UnsetType, unset),
        ]
        mesh = table("MeshFile", [("file", str), *fitted], "mesh")
        knot = table("Knot", [("tube", float | msgspec.UnsetType, unset), *fitted], "knot")
        forms = [of(kind, tag) for tag, kind in FORM_KINDS.items()]
        path = [("points", _list(Triple, MOST_POINTS)), ("radius", float | msgspec.UnsetType, unset)]
        image = [
            ("file", str),
            ("center", Triple | msgspec.UnsetType, unset),
            ("size", tuple[float, float] | msgspec.UnsetType, unset),
            ("thickness", float | msgspec.UnsetType, unset),
        ]
        surface = [("file", str), ("thickness", float | msgspec.UnsetType, unset), *fitted]
        self.solid_shape = _either(*forms, mesh, knot)
        self.source_shape = _either(
            *forms,
            mesh,
            knot,
            table("LineOf", path, "line"),
            table("BezierOf", path, "bezier"),
            table("ImageOf", image, "image"),
            table("SurfaceOf", surface, "surface"),
            table("ArrayOf", [("file", str)], "array"),
        )
        named = str | msgspec.UnsetType
        optional = msgspec.UnsetType
        emitter = of(sources.Emitter, shape=self.source_shape, rotation=rotation, name=named)
        obstacle = of(shapes.Obstacle, shape=self.solid_shape, rotation=rotation, name=named)
        expression = table(
            "Expression", [("expression", str), ("active", bool, True), ("name", named, unset)], "expression"
        )
        numbers = table("ArrayFile", [("file", str)])
        forces = [
            of(kind, tag, name=named, **({"values": numbers} if tag == "field" else {}))
            for tag, kind in FORCE_KINDS.items()
        ]
        force = _either(*forces, expression)
        source = of(flow_views.ParticleSource, moving=False, shape=_either(*forms, str))
        seeds = of(flow_views.Seeds, moving=False) | list[Triple]
        own: dict[str, dict[str, Any]] = {
            "particles": {"sources": _list(source)},
            "streamlines": {"seeds": seeds},
            "streak-lines": {"seeds": seeds},
        }
        views = [of(kind, tag, name=named, box=named, **own.get(tag, {})) for tag, kind in VIEW_KINDS.items()]
        rules = of(settings.Settings, pressure=solver, combustion=of(Combustion))
        sides = table("Sides", [(name, side | optional, unset) for name in ("all", *SIDES)])
        grid = of(Grid, moving=False)
        container: list[tuple[Any, ...]] = [
            ("grid", grid),
            ("sides", sides | optional, unset),
            ("settings", rules | optional, unset),
            ("emitters", _list(emitter), []),
            ("obstacles", _list(obstacle), []),
            ("forces", _list(force), []),
        ]
        self.scene = table(
            "SceneFile",
            [
                ("title", str | optional, unset),
                ("dt", float | optional, unset),
                ("frames", int | optional, unset),
                ("duration", float | optional, unset),
                ("seed", int, 0),
                ("floor", float | optional, unset),
                *[
                    (name, hint | optional, unset) if name == "grid" else (name, hint, *rest)
                    for name, hint, *rest in container
                ],
                (
                    "containers",
                    _list(table("Container", [("name", named, unset), *container]), MOST_BOXES),
                    [],
                ),
                ("camera", of(view.Camera) | optional, unset),
                ("light", of(view.Light) | optional, unset),
                ("lights", _list(union(LIGHT_KINDS)), []),
                ("views", _list(_either(*views)), []),
                ("smoke", of(view.Smoke) | optional, unset),
                ("fire", of(view.Fire) | optional, unset),
                ("picture", of(view.Picture, moving=False) | optional, unset),
                ("hand", of(hand.Hand) | optional, unset),
            ],
        )


def _either(*kinds: Any) -> Any:
    """The type of a value that is of one of `kinds`."""
    return typing.Union[kinds]  # noqa: UP007  # from a tuple


def _list(kind: Any, most: int = MOST_THINGS) -> Any:
    """The type of a list of at most so many of `kind`, which is known only as the program runs."""
    return typing.Annotated[types.GenericAlias(list, (kind,)), _msgspec().Meta(max_length=most)]


def _moves(hint: Any) -> bool:
    """Whether a field of this type holds what may change with time: numbers, or a yes or no."""
    parts = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    return any(part in (float, bool, Triple) for part in parts)


def _yes_or_no(make: Callable[[float], Any]) -> Callable[[float], bool]:
    """The same as a yes or no: a number over time is a yes from a half on."""
    return lambda time: bool(make(time) >= 0.5)


_schema: _Schema | None = None


def schema() -> _Schema:
    """The tables of a description."""
    global _schema
    if _schema is None:
        _schema = _Schema()
    return _schema


# -- reading -------------------------------------------------------------------------------------------


def load_description(
    path: Path,
    ctx: Any,
    changes: Sequence[str],
    cells: Cells | Sequence[Cells | None] | None,
    backend: str,
) -> Scene:
    """Return the scene that the TOML file `path` describes; see `Scene.load`."""
    return build(read_description(path, changes), path, ctx, cells, backend)


def read_description(path: Path, changes: Sequence[str] = ()) -> dict[str, Any]:
    """The description in `path` with `changes` made to it, as plain values. Raises SceneError."""
    msgspec = _msgspec()
    try:
        with open_plain(path) as file:
            text = file.read(LARGEST + 1)
    except OSError as error:
        raise SceneError(f"{path}: cannot be read: {error.strerror or error}") from None
    if len(text) > LARGEST:
        raise SceneError(f"{path}: over {LARGEST >> 20} MB long, which no scene is")
    try:
        plain = text.decode("utf-8-sig")  # some editors begin with a mark
        if LONG_KEY.search(
            NO_KEYS.sub("s", plain)
        ):  # the parser's memory grows with the square of their length
            raise SceneError(
                f"{path}: a key has over {DEEPEST} names with dots between, which no scene's has"
            )
        given: dict[str, Any] = msgspec.toml.decode(plain)
    except SceneError:
        raise
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError, RecursionError) as error:
        raise SceneError(f"{path}: not TOML: {short(str(error))}") from None
    for change in changes:
        _change(given, change, path)
    return given


def _change(given: dict[str, Any], change: str, path: Path) -> None:
    """Make the assignment `change`, as in ``emitters[0].density=2``, to a description."""
    name, sign, text = change.partition("=")
    steps = re.findall(r"[^.\[\]]+", name.strip())
    if not sign or not PLACE.fullmatch(name.strip()):
        raise SceneError(f"a change must look like settings.viscosity=0.001, got {change!r}")
    try:
        value = _msgspec().toml.decode(f"value = {text.strip()}")["value"]
    except ValueError:
        value = text.strip()  # a word without its quotes
    place: Any = given
    told = f"{path}: {short(name.strip())}"
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        key: Any = step
        if isinstance(place, list):
            key = _index(place, step, told)
        elif not isinstance(place, dict):
            raise SceneError(f"{told}: {step!r} lies in what is no table")
        elif following is not None and key in LISTS and key not in place:
            raise SceneError(f"{told}: there are no {key}")
        if following is None:
            place[key] = value
        elif isinstance(place, dict):
            place = place.setdefault(key, {})
        else:
            place = place[key]


def _index(things: Sequence[Any], step: str, told: str) -> int:
    """Which of `things` a change means by a number or a name. Raises SceneError where there is none."""
    if step.isascii() and step.isdigit():
        if len(step) > 9 or int(step) >= len(things):
            raise SceneError(f"{told}: there are {len(things)}, counted from 0")
        return int(step)
    names = [thing.get("name") if isinstance(thing, dict) else None for thing in things]
    if step not in names:
        known = [name for name in names if name is not None]
        raise SceneError(f"{told}: there is none with the name {step!r}{near(step, known)}")
    return names.index(step)


def checked(given: Mapping[str, Any], path: Path) -> Any:
    """The description as the tables of the schema. Raises SceneError naming the place."""
    tables = schema()
    _check_plain(given, path)
    try:
        return tables.msgspec.convert(given, tables.scene)
    except tables.msgspec.ValidationError as error:
        raise SceneError(f"{path}: {short(_explained(str(error), given))}") from None


def _check_plain(given: Any, path: Path) -> None:
    """Raise SceneError for whole numbers over 64 bits, which TOML has not, and for what lies too deep."""
    todo: list[tuple[Any, int]] = [(given, 0)]
    while todo:
        value, depth = todo.pop()
        if isinstance(value, dict | list):
            if depth == DEEPEST:
                raise SceneError(f"{path}: tables and arrays lie over {DEEPEST} deep, which no scene needs")
            parts = value.values() if isinstance(value, dict) else value
            todo += [(part, depth + 1) for part in parts if isinstance(part, dict | list | int)]
        elif isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
            raise SceneError(f"{path}: a whole number in it has over 64 bits")


def _explained(text: str, given: Mapping[str, Any]) -> str:
    """What msgspec says of the description `given`, with the place first and the nearest right word there."""
    what, _, place = text.partition(" - at `$")
    place = place.rstrip("`").lstrip(".") or "the top"
    what = what.replace("`float | object`", "a number, or a table of keys").replace("`", "")
    what = re.sub(r"Invalid enum value (.*)", f"must be a number or {OFF!r}, got \\1", what)  # the one such
    what = re.sub(r"\bobject\b", "table", what.replace("Object", "the table"))
    word = re.search(r"(?:unknown field|Invalid value) '?([^' ]+)'?", what)
    if word:
        words = sorted(_words_at(place, given))
        hint = "" if word[1] in KINDS else near(word[1], words)  # a right one elsewhere is not misspelt
        listed = "; one of" if place.endswith("kind") else "; it may have"
        what += hint or (f"{listed} {', '.join(words)}" if words else "")
    return f"{place}: {what[0].lower()}{what[1:]}"


@cache
def _hints(kind: type) -> dict[str, Any]:
    """The types of the fields of `kind`, by name: text, which takes long to understand."""
    return typing.get_type_hints(kind)


@cache
def _offs(kind: type) -> frozenset[str]:
    """The fields of dataclass `kind` that are something unless they are None."""
    return frozenset(
        part.name
        for part in dataclasses.fields(kind)
        if types.NoneType in typing.get_args(_hints(kind)[part.name])
        and part.default not in (None, dataclasses.MISSING)
    )


def _words_at(place: str, given: Mapping[str, Any]) -> set[str]:
    """The keys of the table at `place` of a description; where that is a kind, all kinds that it may be."""
    tables, kind = {schema().scene}, False
    value: Any = given
    for step in () if place == "the top" else re.findall(r"[^.\[\]]+", place):
        kind = step == "kind"
        if step.isdigit() and isinstance(value, list):
            value = value[int(step)]
        elif not kind and isinstance(value, dict):
            of_kind = {t for t in tables if t.__struct_config__.tag in (None, value.get("kind"))}
            hints = [_hints(t).get(step) for t in of_kind or tables]
            tables, value = {t for hint in hints for t in _tables_in(hint)}, value.get(step)
    if kind:
        return {t.__struct_config__.tag for t in tables if t.__struct_config__.tag is not None}
    said = value.get("kind") if isinstance(value, dict) else None
    return {name for t in tables if t.__struct_config__.tag in (None, said) for name in t.__struct_fields__}


def _tables_in(hint: Any) -> set[Any]:
    """The tables among which a value of the type `hint` is, or its parts are."""
    if hasattr(hint, "__struct_fields__"):
        return {hint}
    return {t for part in typing.get_args(hint) for t in _tables_in(part)}


# -- building ------------------------------------------------------------------------------------------


class _Builder:
    """Builds the parts of one description, and notes what changes with time."""

    def __init__(self, path: Path, seed: int) -> None:
        self.path, self.seed = path, seed
        self.cells: Cells = (0, 0, 0)  # of the box that is being built
        self.unset = schema().msgspec.UNSET
        self.moves: Moves = {}
        self.motions: Motions = []
        self.dt = DT
        self.names: dict[str, Any] = {}
        self.origins: Origins = {}
        self.made: list[tuple[Any, str]] = []  # what may be wrong later, with its places

    def at(self, place: str) -> _Place:
        """A block in which errors are told to be at `place`."""
        return _Place(self.path, place)

    def given(self, table: Any, kind: type | None = None) -> dict[str, Any]:
        """The fields that a table, of what makes a `kind`, was given, of which there may be none."""
        if table is self.unset:
            return {}
        pairs = ((name, getattr(table, name)) for name in table.__struct_fields__)
        offs = () if kind is None else _offs(kind)
        return {
            name: None if value == OFF and name in offs else value
            for name, value in pairs
            if value is not self.unset
        }

    def track(self, value: Any) -> Track | None:
        """The track that `value` is, or None."""
        if type(value) is not schema().track:
            return None
        keys, formula = (None if v is self.unset else v for v in (value.keys, value.formula))
        if (keys is None) == (formula is None):
            raise GpufluidError("a value over time must have either keys or a formula")
        if formula is not None:
            return Formula(formula if isinstance(formula, str) else [str(f) for f in formula], self.seed)
        return Keys(list(keys or ()), value.ease, value.repeat)

    def moving(self, value: Any) -> bool:
        """Whether `value`, or anything in it, changes with time."""
        if hasattr(value, "__struct_fields__"):
            return type(value) is schema().track or any(
                self.moving(getattr(value, name)) for name in value.__struct_fields__
            )
        return False

    def make(
        self,
        kind: type,
        table: Any,
        place: str,
        assign: Callable[[str, Any], None] | None = None,
    ) -> Any:
        """An object of `kind` from a table; its changing fields are assigned again before each frame."""
        given = self.given(table, kind)
        named = given.pop("name", None)
        makers = {name: self.maker(value, f"{place}.{name}") for name, value in given.items()}
        hints = _hints(kind)
        makers = {
            name: _yes_or_no(make) if hints.get(name) is bool else make for name, make in makers.items()
        }
        with self.at(place):
            made = kind(**{name: make(0.0) for name, make in makers.items()})
        self.made.append((made, place))
        for name, make in makers.items():
            if self.moving(given[name]) or _is_read(given[name]):
                told = schema().msgspec.to_builtins(given[name])
                still = None if self.moving(given[name]) else getattr(made, name)
                self.origins[id(made), name] = made, told, still
            if self.moving(given[name]):
                move = self._mover(assign or partial(setattr, made), name, make, f"{place}.{name}")
                self.moves[id(made), name] = move
        if kind is sources.Emitter and self.moving(given.get("position")) and "motion" not in given:
            self.motions.append((made, self._motion(makers["position"])))
            self.origins[id(made), "motion"] = made, self.unset, None
        if named is not None:
            self.call(made, named, f"{place}.name")
        return made

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

    def call(self, made: Any, name: str, place: str) -> None:
        """Let `made` be known by `name`. Raises SceneError where something else is."""
        if name in self.names:
            raise SceneError(f"{self.path}: {place}: {name!r} is taken already")
        self.names[name] = made

    def _mover(
        self, assign: Callable[[str, Any], None], name: str, make: Callable[[float], Any], place: str
    ) -> Callable[[float], None]:
        def move(time: float) -> None:
            with self.at(place):
                assign(name, make(time))

        return move

    def maker(self, value: Any, place: str) -> Callable[[float], Any]:
        """What gives `value` as the engine wants it, at any time. Everything in it is built once here."""
        if isinstance(value, list) and value and type(value[0]).__name__ == "ParticleSource":
            born = [self._source(part, f"{place}[{n}]") for n, part in enumerate(value)]
            return lambda time: born
        with self.at(place):
            track = self.track(value)
            if track is not None:
                return track.at
            if hasattr(value, "__struct_fields__"):
                return self._maker_of_table(value, place)
        return lambda time: value

    def _source(self, table: Any, place: str) -> flow_views.ParticleSource:
        """Where particles are born: a shape, or an emitter by its name."""
        given = self.given(table)
        with self.at(f"{place}.shape"):
            if isinstance(table.shape, str):
                emitters = {n: t for n, t in self.names.items() if isinstance(t, sources.Emitter)}
                if table.shape not in emitters:
                    raise GpufluidError(
                        f"must be a shape or the name of an emitter, got {table.shape!r}"
                        + near(table.shape, emitters)
                    )
                given["shape"] = emitters[table.shape]
            else:
                given["shape"] = self.maker(table.shape, f"{place}.shape")(0.0)
        with self.at(place):
            return flow_views.ParticleSource(**given)

    def _maker_of_table(self, table: Any, place: str) -> Callable[[float], Any]:
        name = type(table).__name__
        given = self.given(table)
        if name == "Turn":
            axis = shapes.direction(table.axis, "axis")
            degrees = self.maker(table.degrees, f"{place}.degrees")

            def turned(time: float) -> Any:
                half = 0.5 * np.radians(degrees(time))
                return (*(np.sin(half) * a for a in axis), np.cos(half))

            return turned
        tag = table.__struct_config__.tag
        if tag in FORM_KINDS and name == FORM_KINDS[tag].__name__:
            kind = FORM_KINDS[tag]
            parts = {key: self.maker(value, f"{place}.{key}") for key, value in given.items()}
            if not self.moving(table):
                shape = kind(**{key: part(0.0) for key, part in parts.items()})
                return lambda time: shape
            return lambda time: kind(**{key: part(time) for key, part in parts.items()})
        if tag in SOLVER_KINDS:
            solver = SOLVER_KINDS[tag](**self.given(table, SOLVER_KINDS[tag]))
            return lambda time: solver
        if name == "ArrayFile":
            values = self._array(given["file"])
            return lambda time: values
        if name == "Seeds":
            seeds = flow_views.Seeds(**given)
            return lambda time: seeds
        if name == "Combustion":
            parts = {key: self.maker(value, f"{place}.{key}") for key, value in given.items()}
            kind = Combustion
            return lambda time: kind(**{key: part(time) for key, part in parts.items()})
        made = self._shape(tag, given)
        return lambda time: made

    def _shape(self, tag: str, given: dict[str, Any]) -> Any:
        """A shape that is read or computed once."""
        if tag == "line":
            return sources.Line(**given)
        if tag == "bezier":
            return sources.Bezier(**given)
        if tag == "array":
            return sources.Array(self._array(given["file"]))
        if tag == "image":
            return sources.Image(self._file(given.pop("file")), **given)
        fit, center = given.pop("fit", None), given.pop("center", (0.0, 0.0, 0.0))
        mesh = (
            shapes.Mesh.trefoil(**{k: v for k, v in given.items() if k == "tube"})
            if tag == "knot"
            else shapes.Mesh.load(self._file(given["file"]))
        )
        if fit is not None:
            mesh = mesh.fitted(fit, center=center)
        elif any(center):
            mesh = mesh.moved(mesh.vertices + np.array(center))
        return sources.Surface(mesh, given.get("thickness")) if tag == "surface" else mesh

    def _array(self, name: str) -> np.ndarray[Any, Any]:
        """The numbers of a .npy file, one or three a cell of the box that is being built; nothing is run."""
        read, cells = np.lib.format, self.cells[::-1]
        try:
            with open_plain(Path(self._file(name))) as file:
                header = {(1, 0): read.read_array_header_1_0, (2, 0): read.read_array_header_2_0}
                shape, _, dtype = header[read.read_magic(file)](file)
                if dtype.hasobject:
                    raise ValueError("objects can only be unpickled, which runs what they say")
                if shape not in (cells, (*cells, 3)) or dtype.kind not in "biuf":
                    raise GpufluidError(
                        f"{name!r} is an array {list(shape)} of {dtype}; one number or three are needed for "
                        f"each of the grid's {list(cells)} cells"
                    )
                file.seek(0)
                return np.asarray(read.read_array(file, allow_pickle=False))
        except FileNotFoundError:
            raise GpufluidError(f"{name!r} is missing") from None
        except GpufluidError:
            raise
        except Exception as error:  # a damaged file surfaces as whatever it makes NumPy trip over
            raise GpufluidError(f"{name!r} is no array as numpy.save writes one: {error}") from None

    def _file(self, name: str) -> str:
        """A file named in a description, which lies in its folder or below."""
        base = self.path.parent.resolve()
        try:
            target = (base / name).resolve()
        except (OSError, RuntimeError, ValueError) as error:  # a loop of links, a name that no file can have
            raise GpufluidError(f"{name!r} is no file's name: {error}") from None
        if not target.is_relative_to(base):
            raise GpufluidError(f"{name!r} lies outside the scene's folder {base}")
        return os.fspath(target)


def _is_read(value: Any) -> bool:
    """Whether `value` is a table that says where something comes from, which what is made of it does not."""
    tag = getattr(getattr(value, "__struct_config__", None), "tag", None)
    read = "mesh", "knot", "image", "surface", "line", "bezier", "array"
    return tag in read or type(value).__name__ in ("Turn", "ArrayFile")


class _Place:
    """Errors inside become a SceneError that names file and place."""

    def __init__(self, path: Path, place: str) -> None:
        self.path, self.place = path, place

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, GpufluidError) and not isinstance(error, SceneError):
            raise SceneError(f"{self.path}: {self.place}: {short(str(error))}") from None
        if isinstance(error, TypeError | OverflowError):
            raise SceneError(f"{self.path}: {self.place}: {short(str(error))}") from None


def build(
    given: Mapping[str, Any],
    path: Path,
    ctx: Any = None,
    cells: Cells | Sequence[Cells | None] | None = None,
    backend: str = "auto",
) -> Scene:
    """Return the scene that a description, read from `path`, describes. Raises SceneError."""
    table = checked(given, path)
    builder = _Builder(path, table.seed)
    builder.dt = DT if table.dt is builder.unset else table.dt
    unset = builder.unset
    boxes: list[tuple[str, Any]] = [("", table)] if table.grid is not unset else []
    boxes += [(f"containers[{n}].", box) for n, box in enumerate(table.containers)]
    if not boxes:
        raise SceneError(f"{path}: grid: the table is missing; a scene needs a grid, or containers")
    if table.grid is unset and (table.emitters or table.obstacles or table.forces):
        raise SceneError(f"{path}: grid: the table is missing, but there is something to put in it")
    chosen = _chosen(cells, len(boxes), path)
    looks = {}
    for name, kind in (
        ("camera", view.Camera),
        ("light", view.Light),
        ("smoke", view.Smoke),
        ("fire", view.Fire),
        ("hand", hand.Hand),
    ):
        part = getattr(table, name)
        if part is not unset:
            looks[name] = builder.make(kind, part, name)
    if table.picture is not unset:
        looks["picture"] = builder.make(view.Picture, table.picture, "picture")
    looks["lights"] = [
        builder.make(LIGHT_KINDS[light.__struct_config__.tag], light, f"lights[{n}]")
        for n, light in enumerate(table.lights)
    ]
    fluids: list[Fluid] = []
    try:
        for n, (prefix, box) in enumerate(boxes):
            # fluids of one scene live in one context
            shared = fluids[0].ctx if fluids else ctx
            fluids.append(_fluid(builder, box, prefix, shared, chosen[n], backend))
            if getattr(box, "name", unset) is not unset:
                builder.call(fluids[-1], box.name, f"{prefix}name")
            with builder.at(f"{prefix}grid"):
                total = sum(fluid.grid.cell_count for fluid in fluids)
                fluids[0]._backend.check_memory(total, f"all boxes together, {total} cells,")
        views = [
            builder.make(VIEW_KINDS[v.__struct_config__.tag], v, f"views[{n}]")
            for n, v in enumerate(table.views)
        ]
        called = box_names(fluids, builder.names)
        if len(set(called)) < len(called):
            raise SceneError(
                f"{path}: containers: each box must have a name of its own, got {', '.join(called)}"
            )
        for n, shown in enumerate(views):
            with builder.at(f"views[{n}].box"):
                shown.boxes(called)
        with builder.at("the top"):
            dt = builder.dt
            frames = None if table.frames is unset else table.frames
            if table.duration is not unset:
                if frames is not None:
                    raise GpufluidError("frames and duration say the same thing: give one of them")
                if not dt > 0.0:
                    raise GpufluidError(f"dt must be > 0 seconds for a duration, got {dt:g}")
                if not 0.0 < table.duration < 1e9:
                    raise GpufluidError(f"duration must be > 0 seconds, got {table.duration:g}")
                frames = max(1, round(table.duration / dt))
            scene = Scene(
                fluids[0],
                **looks,
                dt=dt,
                floor=None if table.floor is unset else table.floor,
                title=readable(path.stem) if table.title is unset else table.title,
                frames=frames,
                others=fluids[1:],
                names=builder.names,
                seed=table.seed,
                views=views,
                _origins=builder.origins,
                _described=True,
                _places=builder.made,
                update=_updater(builder.moves, builder.motions),
            )
            if table.camera is not unset:
                _place(scene, builder, builder.given(table.camera))
            return scene
    except BaseException:
        for fluid in reversed(fluids):  # the first may own the context of all
            fluid.release()
        raise


def _place(scene: Scene, builder: _Builder, given: Mapping[str, Any]) -> None:
    """Place the camera of a description that says neither its target nor its distance."""
    if {"target", "distance"} & given.keys():
        return
    camera = scene.camera
    azimuth, elevation = direction_of_view(scene.fluid.grid.dimensions == 2)
    camera.azimuth = camera.azimuth if "azimuth" in given else azimuth
    camera.elevation = camera.elevation if "elevation" in given else elevation
    moves = [move for name in given if (move := builder.moves.get((id(camera), name))) is not None]
    last = SEEN if scene.frames is None else scene.frames * scene.dt
    seen = []
    for time in np.linspace(last, 0.0, LOOKS if moves else 1):  # which ends where the scene begins
        for move in moves:
            move(float(time))
        seen.append(dataclasses.replace(camera))
    scene._place(seen)


def _of_other_cells(grid: Grid, cells: Cells) -> Grid:
    """As wide or as high as `grid` was, whichever is more, on its floor and round its middle."""
    size = max(grid.size[:2]) / max(cells[:2])
    x, y, z = grid.origin
    wider, _, deeper = (n * size - was for n, was in zip(cells, grid.size, strict=True))
    rounding = 1e-6 * size
    x -= 0.5 * wider if abs(wider) > rounding else 0.0
    z -= 0.5 * deeper if abs(deeper) > rounding and grid.dimensions == 3 else 0.0
    return Grid(cells, size, (x, y, z))


def _chosen(cells: Cells | Sequence[Cells | None] | None, boxes: int, path: Path) -> list[Cells | None]:
    """The cells asked for, box by box. Raises SceneError for more than there are boxes."""
    given: list[Any] = [] if not cells else [cells] if isinstance(cells[0], Integral) else list(cells)
    if len(given) > boxes:
        raise SceneError(f"{path}: cells for {len(given)} grids were given, but there are {boxes}")
    return [*given, *[None] * (boxes - len(given))]


def _updater(moves: Moves, motions: Motions) -> Callable[[Scene, float], None] | None:
    if not moves:
        return None

    def update(scene: Scene, time: float) -> None:
        for key, move in moves.items():
            if key not in scene._held:
                move(time)
        for emitter, motion in motions:
            if not scene.is_held(emitter, "motion"):
                emitter.motion = (0.0, 0.0, 0.0) if scene.is_held(emitter, "position") else motion(time)

    return update


def _fluid(
    builder: _Builder,
    box: Any,
    prefix: str,
    ctx: Any,
    cells: Cells | None,
    backend: str,
) -> Fluid:
    """The fluid of one container, with all that is in it."""
    grid = builder.make(Grid, box.grid, f"{prefix}grid")
    if cells is not None:
        with builder.at(f"{prefix}grid"):
            grid = _of_other_cells(grid, cells)
    sides = _sides(builder, box.sides, f"{prefix}sides")
    builder.cells = grid.cells
    made: list[Fluid] = []

    def assign(name: str, value: Any) -> None:
        made[0].settings = made[0].settings.but(**{name: value})

    rules = builder.make(settings.Settings, box.settings, f"{prefix}settings", assign)
    with builder.at(f"{prefix}grid"):
        fluid = Fluid(grid, sides, rules, backend=backend, ctx=ctx)
    made.append(fluid)
    for (_, name), (thing, *told) in list(builder.origins.items()):
        if (
            thing is rules
        ):  # settings are replaced when they change: what was said of them stays with the fluid
            builder.origins[id(fluid), name] = fluid, *told
            if (id(rules), name) in builder.moves:
                builder.moves[id(fluid), name] = builder.moves.pop((id(rules), name))
    try:
        for kind, name, things, owner in (
            (sources.Emitter, "emitters", box.emitters, fluid.emitters),
            (shapes.Obstacle, "obstacles", box.obstacles, fluid.obstacles),
        ):
            for n, table in enumerate(things):
                place = f"{prefix}{name}[{n}]"
                thing = builder.make(kind, table, place)
                with builder.at(place), warnings.catch_warnings():
                    if (id(thing), "position") in builder.moves:  # it may be on its way
                        warnings.filterwarnings("ignore", ".* lies outside the box", ShapeWarning)
                    owner.add(thing)
        for n, table in enumerate(box.forces):
            place = f"{prefix}forces[{n}]"
            tag = table.__struct_config__.tag
            force = builder.make(FORCE_KINDS.get(tag, user_forces.ForceExpression), table, place)
            with builder.at(place):
                fluid.forces.add(force)
    except BaseException:
        fluid.release()
        raise
    return fluid


def _sides(builder: _Builder, table: Any, place: str) -> Boundaries:
    """The sides of a box: `all` for those not named."""
    given = builder.given(table)
    sides = {}
    for name, side in given.items():
        sides[name] = builder.make(SIDE_KINDS[side.__struct_config__.tag], side, f"{place}.{name}")
    rest = sides.pop("all", boundaries.Wall())
    with builder.at(place):
        return Boundaries(**{name: sides.get(name, rest) for name in SIDES})


# -- writing -------------------------------------------------------------------------------------------


def save_description(scene: Scene, path: str | os.PathLike[str], overwrite: bool = False) -> Path:
    """Write what `scene` is now, but for the state of its fluids, as a description; return its path.

    Values that follow keyframes or formulas stay so, and files that were read are named again. Raises
    GpufluidError for what only a script can make (a mesh of its own, an array, an `update`), for a file that
    exists unless `overwrite`, for one that cannot be written, and for a folder without the files it names.
    """
    try:
        import tomli_w
    except ImportError:
        raise MissingDependencyError("tomli-w", "writing a scene file") from None
    described = description_of(scene)
    _check_files(described, scene, Path(path))
    text = tomli_w.dumps(described)
    with whole_file(path, overwrite, (".toml",)) as partial:
        partial.write_text(text, encoding="utf-8")
    return Path(path)


def _check_files(described: Any, scene: Scene, path: Path) -> None:
    """Raise GpufluidError where a file that a description names is not the one in the folder of `path`."""
    todo, folder = [described], path.parent
    home = folder if scene._file is None else scene._file.parent
    while todo:
        part = todo.pop()
        if isinstance(part, dict):
            name = part.get("file")
            if isinstance(name, str):
                here, there = folder / name, home / name
                what = "not" if not here.is_file() else "another one"
                if what == "not" or (there.is_file() and not filecmp.cmp(here, there, shallow=False)):
                    raise GpufluidError(
                        f"{path}: the scene reads {name!r}, which is {what} in that folder: copy it there, "
                        f"or save the scene in {home}"
                    )
            todo += part.values()
        elif isinstance(part, list):
            todo += part


def description_of(scene: Scene) -> dict[str, Any]:
    """What `scene` is now as the plain values of a description; see `save_description`."""
    if scene.story is not None or (scene.update is not None and not scene._described):
        raise GpufluidError(
            f"the scene {scene.title!r} is a script: what it does cannot be written as a description"
        )
    writer = _Writer(scene)
    out: dict[str, Any] = {"title": scene.title, "dt": scene.dt}
    out |= {name: value for name in ("frames", "floor") if (value := getattr(scene, name)) is not None}
    out["seed"] = scene.seed
    boxes = [writer.container(fluid) for fluid in scene.fluids]
    out |= boxes[0] if len(boxes) == 1 and "name" not in boxes[0] else {"containers": boxes}
    for name in ("camera", "light", "smoke", "fire", "picture", "hand"):
        thing = getattr(scene, name)
        if thing is not None:
            out[name] = writer.table(thing)
    # at its defaults too: a file that says neither leaves it to the boxes
    out["camera"] = {"target": list(scene.camera.target), "distance": scene.camera.distance} | out["camera"]
    if scene.views:
        out["views"] = [{"kind": _kind(VIEW_KINDS, v), **writer.table(v)} for v in scene.views]
    if scene.lights:
        out["lights"] = [{"kind": _kind(LIGHT_KINDS, light), **writer.table(light)} for light in scene.lights]
    return out


def _kind(kinds: Mapping[str, type], thing: Any) -> str:
    """The name of the kind that `thing` is. Raises GpufluidError where a description knows none."""
    for name, kind in kinds.items():
        if type(thing) is kind:
            return name
    raise GpufluidError(f"a description cannot say {thing!r}")


class _Writer:
    """Turns what a scene is made of into plain values."""

    def __init__(self, scene: Scene) -> None:
        self.unset = _msgspec().UNSET  # what is said of a field that others decide
        self.origins = {key: told for key, told in scene._origins.items() if key not in scene._held}
        self.names = {id(thing): name for name, thing in scene.names.items()}

    def container(self, fluid: Fluid) -> dict[str, Any]:
        """One fluid and all that is in it."""
        out: dict[str, Any] = {
            "name": self.names.get(id(fluid)),
            "grid": self.table(fluid.made),  # where it is when the scene begins
            "settings": self.table(fluid.settings, owner=fluid),
        }
        sides = {name: getattr(fluid.boundaries, name) for name in SIDES}
        out["sides"] = {name: {"kind": _kind(SIDE_KINDS, s), **self.table(s)} for name, s in sides.items()}
        out["emitters"] = [self.table(emitter) for emitter in fluid.emitters]
        out["obstacles"] = [self.table(obstacle) for obstacle in fluid.obstacles]
        out["forces"] = [self._force(force) for force in fluid.forces]
        return {name: value for name, value in out.items() if value}

    def _force(self, force: Any) -> dict[str, Any]:
        if isinstance(force, user_forces.ForceExpression):
            return {"kind": "expression", "expression": force.expression, "active": force.active}
        return {"kind": _kind(FORCE_KINDS, force), **self.table(force)}

    def table(self, thing: Any, owner: Any = None) -> dict[str, Any]:
        """The fields of a dataclass object that are not at their defaults."""
        out: dict[str, Any] = {}
        if id(thing) in self.names:
            out["name"] = self.names[id(thing)]
        for part in dataclasses.fields(thing):
            value = getattr(thing, part.name)
            found = self.origins.get((id(owner if owner is not None else thing), part.name))
            ours = found is not None and (found[0] is thing or found[0] is owner)
            if found is not None and ours and (found[2] is None or found[2] is value):
                if found[1] is not self.unset:
                    out[part.name] = found[1]
                continue
            default = part.default
            if part.default_factory is not dataclasses.MISSING:
                default = part.default_factory()
            if value is None and part.name in _offs(thing.__class__):
                out[part.name] = OFF
            elif value is not None and (default is dataclasses.MISSING or value != default):
                out[part.name] = self.plain(value, f"{type(thing).__name__}.{part.name}")
        return out

    def plain(self, value: Any, name: str) -> Any:
        """`value` as TOML can hold it."""
        if isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, tuple | list):
            return [self.plain(part, name) for part in value]
        if type(value) in SOLVER_KINDS.values():
            return {"kind": _kind(SOLVER_KINDS, value), **self.table(value)}
        if isinstance(value, sources.Emitter) and id(value) in self.names:
            return self.names[id(value)]
        if isinstance(value, flow_views.ParticleSource | flow_views.Seeds):
            return self.table(value)
        if isinstance(value, np.ndarray):
            return self.plain(value.tolist(), name)
        if type(value) in FORM_KINDS.values():
            return {"kind": _kind(FORM_KINDS, value), **self.table(value)}
        if isinstance(value, Combustion):
            return self.table(value)
        raise GpufluidError(f"{name}: a description cannot say {value!r}")
