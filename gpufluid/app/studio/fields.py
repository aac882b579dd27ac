"""What the studio shows of each thing: its fields, their ranges and units. No window in here.

The fields come from the classes themselves; only what a class cannot tell stands in the tables below.
"""

from __future__ import annotations

import dataclasses
import functools
import re
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import gpufluid
from gpufluid.app.pick import extent
from gpufluid.common.vectors import Triple
from gpufluid.description import flow_views, settings, shapes, view
from gpufluid.description.combustion import Combustion
from gpufluid.description.grid import AXES
from gpufluid.description.shapes import rotation_matrix
from gpufluid.render.views.quantities import QUANTITIES
from gpufluid.scene.schema import FORM_KINDS, VIEW_KINDS


@dataclass(frozen=True)
class Range:
    """Where a slider goes from and to, in which unit; log: by orders of magnitude."""

    low: float
    high: float
    unit: str = ""
    log: bool = False


GLANCE = 240  # letters
NAME = r"[a-z_]+(?: \([^()]*\))?"
NAMED = re.compile(rf"(?:^|(?<=[.;)] )|(?<=, and ))({NAME}(?:, {NAME})*): ")
SENTENCE = re.compile(r"(?<=[.]) (?=[A-Z`])")
LIKE = re.compile(r"as in `(\w+)`")
ELSEWHERE = re.compile(r"[^.;`]*see `\w+`(?:\.|$)")
ANY = Range(-10.0, 10.0)

# By class and field, else by field alone.
RANGES: dict[str, Range] = {
    "Settings.cfl": Range(0.5, 20.0, "cells"),
    "Settings.max_substeps": Range(1, 16),
    "Settings.vorticity_confinement": Range(0.0, 3.0),
    "Settings.buoyancy": Range(-10.0, 10.0, "m/s²"),
    "Settings.weight": Range(-10.0, 10.0, "m/s²"),
    "Settings.ambient_temperature": Range(-2.0, 2.0),
    "Settings.viscosity": Range(0.0, 0.1, "m²/s", log=True),
    "Settings.thermal_diffusivity": Range(0.0, 0.1, "m²/s", log=True),
    "Settings.density_diffusivity": Range(0.0, 0.1, "m²/s", log=True),
    "Settings.density_dissipation": Range(0.0, 5.0, "1/s"),
    "Settings.cooling": Range(0.0, 5.0, "1/s"),
    "Settings.up": Range(-1.0, 1.0),
    "Inflow.density": Range(0.0, 5.0),
    "Inflow.temperature": Range(-2.0, 5.0),
    "Wall.temperature": Range(-2.0, 5.0),
    "Combustion.ignition_temperature": Range(-1.0, 2.0),
    "Combustion.burn_per_temperature": Range(0.0, 20.0, "1/s"),
    "Combustion.fuel_per_burn": Range(0.01, 2.0),
    "Combustion.heat_per_burn": Range(0.0, 20.0),
    "Combustion.smoke_per_burn": Range(0.0, 20.0),
    "Combustion.expansion_per_burn": Range(0.0, 20.0),
    "Combustion.radiation": Range(0.0, 1.0, "1/s"),
    "Jacobi.weight": Range(0.1, 1.0),
    "RedBlackSOR.omega": Range(0.1, 1.95),
    "iterations": Range(0, 200),
    "cycles": Range(0, 20),
    "sweeps": Range(1, 8),
    "tolerance": Range(1e-6, 0.5, log=True),
    "Emitter.density": Range(0.0, 20.0, "1/s"),
    "Emitter.fuel": Range(0.0, 20.0, "1/s"),
    "Emitter.temperature": Range(-2.0, 5.0),
    "Emitter.falloff": Range(0.001, 0.5, "m", log=True),
    "Emitter.noise": Range(0.0, 1.0),
    "Emitter.noise_size": Range(0.005, 1.0, "m", log=True),
    "Emitter.noise_time": Range(0.02, 2.0, "s"),
    "Emitter.seed": Range(0, 1000),
    "Emitter.motion": Range(-5.0, 5.0, "m/s"),
    "Emitter.color": Range(0.0, 10.0, "1/s"),
    "Obstacle.scale": Range(0.1, 4.0),
    "Obstacle.spin": Range(-30.0, 30.0, "rad/s"),
    "Obstacle.temperature": Range(-2.0, 5.0),
    "Obstacle.heating": Range(0.0, 50.0, "1/s"),
    "Obstacle.gloss": Range(0.0, 1.0),
    "Obstacle.emission": Range(0.0, 5.0),
    "Wind.rate": Range(0.0, 10.0, "1/s"),
    "Vortex.axis": Range(-1.0, 1.0),
    "Vortex.strength": Range(-50.0, 50.0, "m/s²"),
    "Attractor.strength": Range(-50.0, 50.0, "m/s²"),
    "Turbulence.strength": Range(0.0, 20.0, "m/s²"),
    "Turbulence.size": Range(0.02, 5.0, "m", log=True),
    "Turbulence.time": Range(0.05, 10.0, "s", log=True),
    "Turbulence.seed": Range(0, 1000),
    "Plane.normal": Range(-1.0, 1.0),
    "Camera.eye": Range(-5.0, 5.0, "m"),
    "Camera.distance": Range(0.1, 20.0, "m", log=True),
    "Camera.azimuth": Range(-180.0, 180.0, "°"),
    "Camera.elevation": Range(-89.0, 89.0, "°"),
    "Camera.fov": Range(5.0, 120.0, "°"),
    "Camera.near": Range(0.001, 1.0, "m", log=True),
    "Camera.far": Range(1.0, 1000.0, "m", log=True),
    "Light.direction": Range(-1.0, 1.0),
    "SpotLight.direction": Range(-1.0, 1.0),
    "SpotLight.angle": Range(1.0, 170.0, "°"),
    "SpotLight.softness": Range(0.0, 1.0),
    "Fire.kelvin_at_zero": Range(0.0, 2000.0, "K"),
    "Fire.kelvin_per_temperature": Range(0.0, 4000.0, "K"),
    "Fire.intensity": Range(0.0, 200.0),
    "Fire.glow": Range(0.0, 4.0),
    "Fire.shimmer": Range(0.0, 0.1),
    "Fire.soot": Range(0.0, 1.0),
    "Fire.hottest": Range(800.0, 4000.0, "K"),
    "Smoke.extinction": Range(0.0, 300.0, "1/m"),
    "Smoke.anisotropy": Range(-0.95, 0.95),
    "Smoke.fade": Range(0.0, 1.0, "m"),
    "Smoke.edge": Range(0.0, 2.0),
    "Picture.fps": Range(1.0, 120.0, "1/s"),
    "Picture.exposure": Range(0.05, 5.0, log=True),
    "Picture.slices": Range(1, 512),
    "ParticlesView.count": Range(1, 1_000_000, log=True),
    "ParticlesView.seed": Range(0, 1000),
    "ParticlesView.size": Range(0.5, 12.0, "px"),
    "StreamlinesView.points": Range(2, 1024),
    "StreakLinesView.points": Range(2, 1024),
    "SliceView.normal": Range(-1.0, 1.0),
    "Seeds.low": Range(-2.0, 2.0, "m"),
    "Seeds.high": Range(-2.0, 2.0, "m"),
    "Seeds.counts": Range(1, 64),
    "range": Range(-5.0, 5.0),
    "velocity": Range(-5.0, 5.0, "m/s"),
    "rotation": Range(-180.0, 180.0, "°"),
    "position": Range(-2.0, 2.0, "m"),
    "center": Range(-2.0, 2.0, "m"),
    "point": Range(-2.0, 2.0, "m"),
    "start": Range(-2.0, 2.0, "m"),
    "end": Range(-2.0, 2.0, "m"),
    "target": Range(-2.0, 2.0, "m"),
    "size": Range(0.01, 2.0, "m"),
    "radius": Range(0.005, 1.0, "m", log=True),
    "height": Range(0.01, 2.0, "m"),
    "length": Range(0.01, 2.0, "m"),
    "strength": Range(-50.0, 50.0),
    "light_scale": Range(0.1, 1.0),
    "slices": Range(1, 512),
    "frame_ms": Range(1.0, 100.0, "ms"),
    "opacity": Range(0.0, 1.0),
    "fade": Range(0.0, 1.0),
    "line_width": Range(0.5, 6.0, "px"),
    "contours": Range(0, 40),
    "spacing": Range(1.0, 20.0, "cells"),
    "life": Range(0.1, 10.0, "s"),
    "step": Range(0.05, 1.0, "cells"),
    "interval": Range(0.01, 0.5, "s"),
    "response": Range(0.0, 10.0, "s"),
    "fall": Range(-5.0, 20.0, "m/s"),
    "streak": Range(0.0, 0.2, "s"),
    "bounce": Range(0.0, 1.0),
    "vary": Range(0.0, 1.0),
    "fill": Range(0.05, 1.0),
    "bins": Range(1, 256),
    "level": Range(0.0, 5.0),
}

# Where the class does not tell, or in another order.
CHOICES: dict[str, tuple[Any, ...]] = {
    "Settings.velocity_advection": (None, *settings.ADVECTION),
    "Picture.background": view.BACKGROUNDS,
    "Picture.method": (None, *view.METHODS),
    "Picture.resolution": view.RESOLUTIONS,
}

# What None is called where it is not nothing, but a choice that is made for one.
NONES: dict[str, str] = {
    "Settings.velocity_advection": "as advection",
    "Picture.method": "automatic",
    "Inflow.temperature": "ambient",
    "Emitter.falloff": "one cell",
    "Emitter.noise_size": "four cells",
    **dict.fromkeys(("colors", "range", "level", "spacing", "length", "interval", "slices"), "automatic"),
    **dict.fromkeys(("GlyphsView.position", "SliceView.position"), "the middle"),
    **dict.fromkeys(("Wind.center", "Turbulence.center"), "everywhere"),
}

COLORS = ("color", "floor_color", "ambient", "core", "emission", "albedo", "surface_color")
HIDDEN = (
    *("Settings.precision", "Picture.size", "ForceField.values", "ForceExpression.numpy"),
    "Wall.slip",  # part of what it is
    # those of views that have a place of their own in the panel
    *(f"{kind.__name__}.{name}" for kind in VIEW_KINDS.values() for name in ("box", "visible")),
    "ParticlesView.sources",
)
# What can be set and is no field, behind which field it is shown.
SET_TOO: dict[str, tuple[str, Any]] = {"Camera.target": ("eye", Triple)}
FORMS = tuple(FORM_KINDS.values())


@dataclass(frozen=True)
class Item:
    """A field as it is shown.

    kind: number (which may also be three), whole, flag, choice, text, triple, pair, counts, color, colors,
    turn, shape, solver, part (a table of its own). optional: None is a value too, called `none`. meaning:
    what docstrings say of it.
    """

    name: str
    kind: str
    range: Range
    optional: bool
    choices: tuple[Any, ...]
    default: Any
    none: str = "none"
    meaning: str = ""

    @property
    def label(self) -> str:
        """Its name for people."""
        return self.name.replace("_", " ")


def plain(before: float, after: float) -> float:
    """The number meant by `after`, which went through single precision: 0.1, not 0.10000000149.

    before: what it was, which stays as it is to the last digit where `after` is the same.
    """
    return before if np.float32(before) == np.float32(after) else float(str(np.float32(after)))


@functools.cache
def items_of(kind: Any) -> tuple[Item, ...]:
    """The fields of dataclass `kind` that can be shown."""
    hints = typing.get_type_hints(kind)
    found = []
    for part in dataclasses.fields(kind):
        key = f"{kind.__name__}.{part.name}"
        if key in HIDDEN or part.name.startswith("_"):
            continue
        default = part.default
        if part.default_factory is not dataclasses.MISSING:
            default = part.default_factory()
        item = item_of(kind.__name__, part.name, hints[part.name], default, part.metadata.get("names", ()))
        if item is not None:
            found.append(replace(item, meaning=meaning(kind, part.name)))
        if key in SET_TOO:
            name, hint = SET_TOO[key]
            item = item_of(kind.__name__, name, hint)
            assert item is not None
            found.append(replace(item, meaning=meaning(kind, name)))
    return tuple(found)


def meaning(kind: Any, name: str) -> str:
    """What docstrings say of field `name`: that of `kind`, of its bases, of what draws it; "" for nothing.

    Where none explains the field by its name, what one says of another that mentions it.
    """
    made = getattr(gpufluid, getattr(kind, "MADE", "") or "Scene")
    classes = [*kind.__mro__, *(made.__mro__ if hasattr(kind, "MADE") else ())]
    docs = [cls.__doc__ or "" for cls in classes if cls is not object]
    for doc in docs:
        found = _explained(doc).get(name, "")
        other = LIKE.match(found)
        if other and hasattr(gpufluid, other[1]):
            there, more = meaning(getattr(gpufluid, other[1]), name), found[other.end() :].strip(".")
            return there.partition(";")[0] + more if more else there
        if found and not ELSEWHERE.match(found):
            return _told(found)
    for doc in docs:
        summary = " ".join(doc.partition("\n\n")[0].split())
        for found in (*_explained(doc).values(), summary):
            if f"`{name}`" in found:
                return _told(found)
    return ""


@functools.cache
def _explained(doc: str) -> dict[str, str]:
    """What a docstring says after names and a colon, as in ``rate: 1/s. center, radius (> 0): metres.``"""
    found: dict[str, str] = {}
    for paragraph in re.split(r"\n\s*\n", doc):
        text = " ".join(paragraph.split()).partition(" Raises ")[0]
        marks = list(NAMED.finditer(text))
        ends = [*(mark.start() for mark in marks[1:]), len(text)]
        for mark, end in zip(marks, ends, strict=False):  # there may be no marks
            for name in re.findall(r"\w+", re.sub(r"\([^()]*\)", "", mark[1])):
                found.setdefault(name, text[mark.end() : end].strip())
    return found


def _told(text: str) -> str:
    """As many of the first sentences as are read at a glance, without the marks of code."""
    text = re.sub(r",? and$", "", text).replace("`", "").replace("^2", "²")
    sentences = SENTENCE.split(text)
    told = sentences[0]
    for sentence in sentences[1:]:
        if len(told) + len(sentence) > GLANCE:
            break
        told = f"{told} {sentence}"
    return told.rstrip(",;")


def item_of(
    owner: str, name: str, hint: Any, default: Any = None, names: tuple[Any, ...] = ()
) -> Item | None:
    """How field `name` of that type, in the class `owner`, is shown; None: it is not.

    names: what it may be, where its class tells.
    """
    key = f"{owner}.{name}"
    kinds = typing.get_args(hint) if _is_union(hint) else (hint,)
    optional = type(None) in kinds
    kinds = tuple(k for k in kinds if k is not type(None))
    spread = RANGES.get(key, RANGES.get(name, ANY))
    choices = CHOICES.get(key, names)
    kind = _kind(name, kinds, choices)
    if kind is None:
        return None
    if kind == "choice":
        optional = False  # None is among the choices, or is none of them
    if default is None or default is dataclasses.MISSING:
        default = _some(kind, spread, kinds)
    none = NONES.get(key, NONES.get(name, "none"))
    return Item(name, kind, spread, optional and name != "rotation", choices, default, none)


def items_of_object(thing: Any, middle: Triple) -> tuple[Item, ...]:
    """The fields of an object; one that is given a center has it in the `middle` of its box, metres."""
    kind: Any = type(thing)
    items = items_of(kind)
    return tuple(replace(i, default=middle) if i.name == "center" and i.optional else i for i in items)


def items_of_view(shown: flow_views.FlowView, low: Triple, high: Triple) -> tuple[Item, ...]:
    """The fields of a view of the flow; `low` and `high` are the corners of the boxes that it is in, metres.

    What is measured in metres goes through these, and in units of a quantity has that quantity's unit.
    """
    name = getattr(shown, "field", None) or getattr(shown, "color", None)
    unit = QUANTITIES[name].unit if name in QUANTITIES else QUANTITIES["speed"].unit
    axis = AXES.index(getattr(shown, "axis", None) or "z")
    x, y, z = (0.5 * (a + b) for a, b in zip(low, high, strict=True))
    found = []
    kind: Any = type(shown)
    for item in items_of(kind):
        if item.name == "position":
            spread = replace(item.range, low=low[axis], high=high[axis])
            item = replace(item, range=spread, default=(x, y, z)[axis])
        elif item.name in ("range", "level"):
            item = replace(item, range=replace(item.range, unit=unit))
        elif item.name in ("point", "normal"):
            item = replace(item, default=(x, y, z) if item.name == "point" else (0.0, 0.0, 1.0))
        elif item.name == "size" and getattr(shown, "unit", "") == "metres":
            item = replace(item, range=Range(0.001, 0.1, "m", log=True))
        found.append(item)
    return tuple(found)


def _is_union(hint: Any) -> bool:
    return typing.get_origin(hint) in (typing.Union, types.UnionType)


def _kind(name: str, kinds: tuple[Any, ...], choices: tuple[Any, ...]) -> str | None:
    plain: dict[Any, str] = {float: "number", int: "whole", bool: "flag", Combustion: "part"}
    if choices:
        return "choice"
    special = {"rotation": "turn", "shape": "shape", "pressure": "solver", "seeds": "part"}
    if name in special:
        return special[name]
    if tuple[float, float] in kinds:
        return "pair"
    if tuple[int, int, int] in kinds:
        return "counts"
    if Triple in kinds and float not in kinds:
        return "color" if name in COLORS else "triple"
    if name == "pigments":
        return "colors"
    if str in kinds:
        return "text"
    return next((plain[k] for k in kinds if k in plain), None)


def _some(kind: str, spread: Range, kinds: tuple[Any, ...]) -> Any:
    """A value for a field that is None and is switched on."""
    if kind == "part":
        return kinds[0]()
    middle = (spread.low * spread.high) ** 0.5 if spread.log and spread.low > 0.0 else 0.0
    one = max(middle, spread.low) if spread.low > 0.0 or spread.log else min(1.0, spread.high)
    values = {"number": one, "whole": int(spread.low + spread.high) // 4, "flag": True, "text": ""}
    values |= {"triple": (0.0, 0.0, 0.0), "color": (1.0, 1.0, 1.0), "pair": (0.0, 1.0)}
    return values.get(kind)


def other_form(shape: Any, kind: type) -> Any:
    """A shape of class `kind`, one of FORMS, where `shape` is and about as large."""
    center, reach = extent(shape)
    if isinstance(shape, kind):
        return shape
    (x, y, z), r = center, max(min(reach), 1e-3)
    makers: dict[type, Callable[[], Any]] = {
        shapes.Sphere: lambda: shapes.Sphere(center, r),
        shapes.Box: lambda: shapes.Box(center, (2 * r, 2 * r, 2 * r)),
        shapes.Cylinder: lambda: shapes.Cylinder(center, r, 2 * r),
        shapes.Capsule: lambda: shapes.Capsule((x, y - r, z), (x, y + r, z), 0.5 * r),
        shapes.Plane: lambda: shapes.Plane(center),
    }
    return makers[kind]()


def turn_to_degrees(rotation: Any) -> Triple:
    """A rotation as turns about the world's x, then y, then z axis, degrees."""
    m: NDArray[np.float64] = rotation_matrix(rotation, "rotation")
    y = np.arcsin(np.clip(-m[2, 0], -1.0, 1.0))
    if abs(m[2, 0]) < 1.0 - 1e-9:
        x, z = np.arctan2(m[2, 1], m[2, 2]), np.arctan2(m[1, 0], m[0, 0])
    else:  # straight up: the turns about x and z are one
        x, z = np.arctan2(-m[1, 2], m[1, 1]), 0.0
    # + 0: no "-0" is shown
    return float(np.degrees(x)) + 0.0, float(np.degrees(y)) + 0.0, float(np.degrees(z)) + 0.0


def degrees_to_turn(degrees: Triple) -> tuple[float, float, float, float] | None:
    """The quaternion (x, y, z, w) of turns about x, then y, then z; None where there is none."""
    if not any(degrees):
        return None
    (a, b, c), (p, q, r) = np.cos(np.radians(degrees) / 2), np.sin(np.radians(degrees) / 2)
    turn = p * b * c - a * q * r, a * q * c + p * b * r, a * b * r - p * q * c, a * b * c + p * q * r
    return tuple(map(float, turn))  # type: ignore[return-value]  # four
