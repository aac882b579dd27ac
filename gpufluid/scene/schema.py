"""What a description of a scene may say: tables that follow the engine's own classes, field by field.

msgspec holds a description to them before anything is built. What it finds wrong is told with the place in
the description, and with the nearest right word there.
"""

from __future__ import annotations

import dataclasses
import difflib
import re
import types
import typing
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from gpufluid.common.errors import SceneError, counted, near, needs, short
from gpufluid.common.vectors import Triple
from gpufluid.description import (
    boundaries,
    flow_views,
    hand,
    settings,
    shapes,
    solvers,
    sources,
    user_forces,
    view,
)
from gpufluid.description.boundaries import SIDES
from gpufluid.description.combustion import Combustion
from gpufluid.description.grid import Grid
from gpufluid.description.obstacles import Obstacle

Field = tuple[Any, ...]  # of a table: its name, its type, and its value where nothing is said
DEEPEST = 32  # tables and arrays within one another, and names in a row with dots between
MOST_THINGS = 1000  # emitters, obstacles, forces or views
MOST_BOXES = 64
MOST_POINTS = 10_000  # of a line

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
    "turbulence": user_forces.Turbulence,
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
LIGHT_KINDS: dict[str, type] = {"sun": view.Light, "point": view.PointLight, "spot": view.SpotLight}
KINDS = {*SIDE_KINDS, *SOLVER_KINDS, *FORM_KINDS, *FORCE_KINDS, *VIEW_KINDS, *LIGHT_KINDS}
KINDS |= {"mesh", "knot", "torus", "line", "bezier", "image", "surface", "array", "expression"}
LISTS = "emitters", "obstacles", "forces", "views", "lights", "containers"  # of tables
LONGEST = 100  # letters of what may be meant otherwise
NUMBER = r"[ \t]*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?[ \t]*"
NUMBERS = re.compile(rf"[\[(]?({NUMBER}(?:,{NUMBER})*)[\])]?")
FORMULA = re.compile(r"\bt\b|[(*/+]")
OFF = "none"  # what TOML has no word for: a setting that is on unless it is None


def load_msgspec() -> Any:
    """The module msgspec. Raises MissingDependencyError where it is not installed."""
    with needs("msgspec", "reading a scene file"):
        import msgspec
    return msgspec


class Schema:
    """The tables of a description, made from the classes they build.

    scene: that of a whole description. track: of a value over time. turn: of a rotation. numbers: of a .npy
    file. plate: of a picture behind all. builds: the class that a table with the fields of one builds.
    """

    def __init__(self) -> None:
        self.msgspec = load_msgspec()
        self.unset = self.msgspec.UNSET
        self.builds: dict[type, type] = {}
        # msgspec takes one table a union: both kinds of track in one, told apart when built
        self.track = self._table(
            "Track",
            [
                self._optional("keys", list[Any]),
                ("ease", str, "linear"),
                ("repeat", bool, False),
                self._optional("formula", str | list[str | float]),
            ],
        )
        self.turn = self._table("Turn", [("axis", Triple), ("degrees", float | self.track)])
        self.numbers = self._table("ArrayFile", [("file", str)])
        self.plate = self._table("PlateFile", [("file", str)])
        self.scene = self._scene()

    # -- tables and their fields -----------------------------------------------------------------------

    def _table(self, name: str, fields: Sequence[Field], tag: str | None = None) -> Any:
        """A table of these `fields`; tag: its kind, among those of a union."""
        options: dict[str, Any] = {"kw_only": True, "forbid_unknown_fields": True, "omit_defaults": True}
        if tag is not None:
            options |= {"tag_field": "kind", "tag": tag}
        return self.msgspec.defstruct(name, list(fields), **options)

    def _optional(self, name: str, hint: Any) -> Field:
        """A field that need not be said."""
        return name, hint | self.msgspec.UnsetType, self.unset

    def _several(self, name: str, kind: Any, most: int = MOST_THINGS) -> Field:
        """A field of at most so many of `kind`, or none."""
        return name, self._list_of(kind, most), []

    def _list_of(self, kind: Any, most: int = MOST_THINGS) -> Any:
        """The type of a list of at most so many of `kind`, which is known only as the program runs."""
        return typing.Annotated[types.GenericAlias(list, (kind,)), self.msgspec.Meta(max_length=most)]

    def _table_of(self, kind: type, tag: str | None = None, moving: bool = True, **own: Any) -> Any:
        """A table with the fields of dataclass `kind`, and `own` types for some, or for more fields.

        moving: whether those that can may change with time.
        """
        hints = field_types(kind)
        fields: list[Field] = []
        for part in dataclasses.fields(kind):
            hint = own.pop(part.name, hints[part.name])
            if moving and _can_move(hint):
                hint = hint | self.track
            if part.name in fields_with_off(kind) and str not in typing.get_args(hint):
                hint = hint | typing.Literal[OFF]
            missing = dataclasses.MISSING
            needed = part.default is missing and part.default_factory is missing
            fields.append((part.name, hint) if needed else self._optional(part.name, hint))
        fields += [self._optional(name, hint) for name, hint in own.items()]
        table = self._table(kind.__name__, fields, tag)
        self.builds[table] = kind
        return table

    def _any_of(self, kinds: Mapping[str, type], moving: bool = True, **own: Any) -> Any:
        """The type of a table of one of `kinds`, by their names; own: as in `_table_of`."""
        return _either(*(self._table_of(kind, tag, moving, **own) for tag, kind in kinds.items()))

    # -- the parts of a description --------------------------------------------------------------------

    def _scene(self) -> Any:
        """The whole description."""
        forms = [self._table_of(kind, tag) for tag, kind in FORM_KINDS.items()]
        grid = self._table_of(Grid, moving=False, gpu_cells=tuple[int, int, int])
        contents = self._contents(forms)
        background = str | Triple | self.plate
        container = self._table("Container", [self._optional("name", str), ("grid", grid), *contents])
        return self._table(
            "SceneFile",
            [
                self._optional("title", str),
                self._optional("dt", float),
                self._optional("frames", int),
                self._optional("duration", float),
                ("seed", int, 0),
                self._optional("floor", float),
                self._optional("grid", grid),
                *contents,
                self._several("containers", container, MOST_BOXES),
                self._optional("camera", self._table_of(view.Camera, eye=Triple | self.track)),
                self._optional("light", self._table_of(view.Light)),
                self._several("lights", self._any_of(LIGHT_KINDS, name=str)),
                self._several("views", self._views(forms)),
                self._optional("smoke", self._table_of(view.Smoke)),
                self._optional("fire", self._table_of(view.Fire)),
                self._optional("picture", self._table_of(view.Picture, moving=False, background=background)),
                self._optional("hand", self._table_of(hand.Hand)),
            ],
        )

    def _contents(self, forms: Sequence[Any]) -> list[Field]:
        """Of a box: its sides, its settings, and what is in it."""
        side = self._any_of(SIDE_KINDS)
        sides = self._table("Sides", [self._optional(name, side) for name in ("all", *SIDES)])
        solver = self._any_of(SOLVER_KINDS, moving=False)
        rules = self._table_of(settings.Settings, pressure=solver, combustion=self._table_of(Combustion))
        rotation = tuple[float, float, float, float] | self.turn | None
        solid, source = self._shapes(forms)
        emitter = self._table_of(sources.Emitter, shape=source, rotation=rotation, name=str)
        obstacle = self._table_of(Obstacle, shape=solid, rotation=rotation, name=str)
        return [
            self._optional("sides", sides),
            self._optional("settings", rules),
            self._several("emitters", emitter),
            self._several("obstacles", obstacle),
            self._several("forces", self._forces()),
        ]

    def _shapes(self, forms: Sequence[Any]) -> tuple[Any, Any]:
        """What obstacles may be, and what emitters may."""
        fitted = [self._optional("fit", float), self._optional("center", Triple)]
        thickness = self._optional("thickness", float)
        path = [("points", self._list_of(Triple, MOST_POINTS)), self._optional("radius", float)]
        image = [
            ("file", str),
            self._optional("center", Triple),
            self._optional("size", tuple[float, float]),
            thickness,
        ]
        solids = [
            *forms,
            self._table("MeshFile", [("file", str), *fitted], "mesh"),
            self._table("Knot", [self._optional("tube", float), *fitted], "knot"),
            self._table(
                "Torus", [self._optional(n, float) for n in ("radius", "tube")] + fitted[1:], "torus"
            ),
        ]
        more = [
            self._table("LineOf", path, "line"),
            self._table("BezierOf", path, "bezier"),
            self._table("ImageOf", image, "image"),
            self._table("SurfaceOf", [("file", str), thickness, *fitted], "surface"),
            self._table("ArrayOf", [("file", str)], "array"),
        ]
        return _either(*solids), _either(*solids, *more)

    def _forces(self) -> Any:
        """What pushes the fluid."""
        own = {"field": {"values": self.numbers}}
        forces = [
            self._table_of(kind, tag, name=str, **own.get(tag, {})) for tag, kind in FORCE_KINDS.items()
        ]
        expression = self._table(
            "Expression",
            [("expression", str), ("active", bool, True), self._optional("name", str)],
            "expression",
        )
        self.builds[expression] = user_forces.ForceExpression
        return _either(*forces, expression)

    def _views(self, forms: Sequence[Any]) -> Any:
        """What is drawn of the flow."""
        source = self._table_of(flow_views.ParticleSource, shape=_either(*forms, str))
        seeds = self._table_of(flow_views.Seeds, moving=False) | list[Triple]
        own: dict[str, dict[str, Any]] = {
            "particles": {"sources": self._list_of(source)},
            "streamlines": {"seeds": seeds},
            "streak-lines": {"seeds": seeds},
        }
        return _either(
            *(
                self._table_of(kind, tag, name=str, box=str, **own.get(tag, {}))
                for tag, kind in VIEW_KINDS.items()
            )
        )


@cache
def schema() -> Schema:
    """The tables of a description, made once."""
    return Schema()


@cache
def field_types(kind: type) -> dict[str, Any]:
    """The types of the fields of `kind`, by name: text, which takes long to understand."""
    return typing.get_type_hints(kind)


@cache
def fields_with_off(kind: type) -> frozenset[str]:
    """The fields of dataclass `kind` that are something unless they are None."""
    return frozenset(
        part.name
        for part in dataclasses.fields(kind)
        if types.NoneType in typing.get_args(field_types(kind)[part.name])
        and part.default not in (None, dataclasses.MISSING)
    )


def is_table(value: Any) -> bool:
    """Whether `value` is a table of a description, and no plain value."""
    return hasattr(value, "__struct_fields__")


def kind_of(table: Any) -> str | None:
    """What a table, or its type, says or would say as its ``kind``; None: nothing."""
    tag: str | None = table.__struct_config__.tag
    return tag


def _either(*kinds: Any) -> Any:
    """The type of a value that is of one of `kinds`."""
    return typing.Union[kinds]  # noqa: UP007  # from a tuple


def _can_move(hint: Any) -> bool:
    """Whether a field of this type holds what may change with time: numbers, or a yes or no."""
    parts = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    return any(part in (float, bool, Triple) for part in parts)


# -- checking ------------------------------------------------------------------------------------------


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
    what = _expected(what, _hints_at(place, given)).replace("`", "")
    what = re.sub(r"Invalid enum value (.*)", f"must be a number or {OFF!r}, got \\1", what)  # the one such
    what = re.sub(r"\bobject\b", "table", what.replace("Object", "the table"))
    word = re.search(r"(?:unknown field|Invalid value) '?([^' ]+)'?", what)
    if word:
        words = sorted(_words_at(place, given))
        hint = "" if word[1] in KINDS else near(word[1], words)  # a right one elsewhere is not misspelt
        if "unknown field" in what and word[1] in field_types(schema().scene):
            hint = f"; did you mean {word[1]!r} at the top, above all tables?"
        listed = "; one of" if place.endswith("kind") else "; it may have"
        what += hint or _further_in(place, word[1]) or (f"{listed} {', '.join(words)}" if words else "")
    elif what.endswith("missing required field kind"):
        what += f"; one of {', '.join(sorted(_words_at(f'{place}.kind', given)))}"
    else:
        what += _meant(what, place, given)
    return f"{place}: {what[0].lower()}{what[1:]}"


def _expected(what: str, hints: Sequence[Any]) -> str:
    """`what` msgspec says of a value of one of the types `hints`, in words for those of several kinds."""
    tables = schema()
    parts = {part for hint in hints for part in (hint, *typing.get_args(hint))}
    found = re.match(r"Expected `([^`]*)`(?: of length \d+)?, got (.*)", what)
    if found and tables.turn in parts:
        got = counted(int(found[2]), "number") if found[2].isdigit() else found[2]
        return f"Expected {{ axis = [x, y, z], degrees = ... }}, or a quaternion [x, y, z, w], got {got}"
    if found is None or tables.track not in parts or " | " not in found[1]:
        return what
    words = {
        "float": "a number",
        "bool": "true or false",
        "array": "a list of three numbers",
        "object": "a table of keys",
    }
    kinds = [word for kind, word in words.items() if kind in found[1].split(" | ")]
    return f"Expected {', '.join(kinds[:-1])}, or {kinds[-1]}, got {found[2]}"


def _meant(what: str, place: str, given: Mapping[str, Any]) -> str:
    """What the value at `place` may be meant for that is not `what` is expected, as "; did you mean ...?"."""
    value, name = _value_at(place, given), re.sub(r"\[\d+\]", "", place)
    if what.endswith("array, got table") and place.rpartition(".")[2] in LISTS:
        return f"; did you mean [[{name}]]?"
    if what.endswith("table, got array") and value and all(isinstance(part, dict) for part in value):
        return f"; did you mean [{name}]?"
    if what.endswith("table, got bool") and value:
        return "; did you mean {}?"
    if not isinstance(value, str) or len(value) > LONGEST:
        return ""
    if what.endswith("table, got str"):
        kinds = sorted(_words_at(f"{place}.kind", given))
        close = difflib.get_close_matches(value, kinds, 1)
        if close:
            return f'; did you mean {{ kind = "{close[0]}" }}?'
        if kinds:
            return f"; its kind may be {', '.join(kinds)}"
        return f'; did you mean {{ shape = "{value}" }}?' if "shape" in _words_at(place, given) else ""
    numbers = NUMBERS.fullmatch(value)
    if numbers and ("list" in what or "array" in what) == ("," in value):
        listed = ", ".join(part.strip() for part in numbers[1].split(","))
        return f"; did you mean {f'[{listed}]' if ',' in value else listed}?"
    return '; a formula is written { formula = "..." }' if "keys" in what and FORMULA.search(value) else ""


def _further_in(place: str, word: str) -> str:
    """What a word at the top is meant for that a table there knows, as "; did you mean ...?", or ""."""
    if place != "the top":
        return ""
    tops = field_types(schema().scene)
    tables = {name: _tables_in(hint) for name, hint in tops.items() if name not in LISTS}
    found = [name for name, inner in tables.items() if any(word in one.__struct_fields__ for one in inner)]
    return f"; did you mean {f'{found[0]}.{word}'!r}?" if len(found) == 1 else ""


def _value_at(place: str, given: Any) -> Any:
    """What the description `given` holds at `place`."""
    for step in () if place == "the top" else re.findall(r"[^.\[\]]+", place):
        given = given[int(step) if isinstance(given, list) else step]
    return given


def _hints_at(place: str, given: Mapping[str, Any]) -> list[Any]:
    """The types that what stands at `place` of a description may have."""
    hints: list[Any] = [schema().scene]
    value: Any = given
    for step in () if place == "the top" else re.findall(r"[^.\[\]]+", place):
        if step.isdigit() and isinstance(value, list):
            value = value[int(step)]
        elif isinstance(value, dict):
            tables = {table for hint in hints for table in _tables_in(hint)}
            of_kind = {table for table in tables if kind_of(table) in (None, value.get("kind"))}
            hints = [
                field_types(table)[step] for table in of_kind or tables if step in table.__struct_fields__
            ]
            value = value.get(step)
    return hints


def _words_at(place: str, given: Mapping[str, Any]) -> set[str]:
    """The keys of the table at `place` of a description; where that is a kind, all kinds that it may be."""
    outer, _, last = place.rpartition(".")
    kind = last == "kind"
    inner = outer if kind else place
    tables = {table for hint in _hints_at(inner, given) for table in _tables_in(hint)}
    if kind:
        return {tag for table in tables if (tag := kind_of(table)) is not None}
    value = _value_at(inner, given)
    said = value.get("kind") if isinstance(value, dict) else None
    return {name for table in tables if kind_of(table) in (None, said) for name in table.__struct_fields__}


def _tables_in(hint: Any) -> set[Any]:
    """The tables among which a value of the type `hint` is, or its parts are."""
    if is_table(hint):
        return {hint}
    return {table for part in typing.get_args(hint) for table in _tables_in(part)}
