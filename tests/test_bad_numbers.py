"""Every number that a public dataclass takes, read from the classes: what is none is refused by its name.

A field that is added to a public dataclass is tried here without a line more.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gpufluid as gf

BALL = gf.Sphere((0.5, 0.5, 0.5), 0.2)
NEEDED: dict[str, dict[str, Any]] = {  # what a class cannot be made without
    "Attractor": {"center": (0, 0, 0)},
    "Emitter": {"shape": BALL},
    "ForceExpression": {"expression": "vec3(0)"},
    "ForceField": {"values": np.zeros((4, 4, 4, 3))},
    "Grid": {"cells": (4, 4, 4)},
    "Inflow": {"velocity": (0, 0, 0)},
    "Obstacle": {"shape": BALL},
    "ParticleSource": {"shape": BALL},
    "PointLight": {"position": (0, 0, 0)},
    "SpotLight": {"position": (0, 0, 0)},
    "Scene": {"fluid": gf.Fluid(gf.Grid((2, 2, 2)), backend="numpy")},
    "Seeds": {"low": (0, 0, 0), "high": (1, 1, 1), "counts": (2, 2, 2)},
    "StreakLinesView": {"seeds": [(0, 0, 0)]},
    "StreamlinesView": {"seeds": [(0, 0, 0)]},
    "ParticlesView": {"sources": [gf.ParticleSource(BALL)]},
    "Vortex": {"center": (0, 0, 0)},
    "Wind": {"velocity": (0, 0, 0)},
}
NAN, INF = math.nan, math.inf
UNLIMITED = ("viscosity", "thermal_diffusivity", "density_diffusivity", "density_dissipation", "cooling")
NUMBERS: list[Any] = [NAN, INF, -INF, np.float64(NAN), 1j, "x", b"1", 1e300, -1e300, {}, object(), True]
TRIPLES: list[Any] = [
    *((value, 0.1, 0.1) for value in NUMBERS[:8]),
    (0.1, 0.1, NAN),
    (0.1,),
    (0.1,) * 4,
    np.array([0.1, NAN, 0.1]),
    np.full(3, 1e300),
    object(),
]


KINDS = {"RealOrNone": "float | None", "Real": "float", "Number": "float", "Pixels": "tuple[int, int]"}
ROWS = {"Triple", "Vector", "Vectors", "Pair", "Counts"}  # of numbers, as types name them


def fields() -> Iterator[tuple[str, str, frozenset[str]]]:
    """Class, field and the words of its type, for every number that a public dataclass takes."""
    for name in gf.__all__:
        cls = getattr(gf, name)
        for field in dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ():
            kind = re.sub(r"\w+", lambda word: KINDS.get(word[0], word[0]), str(field.type))
            words = frozenset(re.findall(r"\w+", kind))
            number = words & {"float", "int", *ROWS} and not words & {"Callable", "dict"}
            if number and field.init and not field.name.startswith("_"):
                yield name, field.name, words


EACH = list(fields())


@pytest.mark.parametrize(("cls", "name", "kind"), EACH, ids=[f"{c}.{n}" for c, n, _ in EACH])
def test_what_is_no_number_is_refused_by_its_name(cls: str, name: str, kind: frozenset[str]) -> None:
    bad = []
    if not kind & {"tuple", *ROWS}:
        bad += [*NUMBERS, [1.0], np.array([1.0, 2.0])]
    else:
        bad += TRIPLES
        bad += [value for value in NUMBERS if cls == "Obstacle" and name == "scale"]  # takes either
    if "None" not in kind:
        bad.append(None)
    if name in UNLIMITED:
        bad.remove(1e300)
    wrong = []
    make, needed = getattr(gf, cls), NEEDED.get(cls, {})
    later = hasattr(make, "check") and not make.__dataclass_params__.frozen  # a step or a picture looks again
    for value, afterwards in [
        (value, way) for value in bad for way in ((False, True) if later else (False,))
    ]:
        try:
            if afterwards:
                made = make(**needed)
                setattr(made, name, value)
                made.check()
            else:
                make(**{**needed, name: value})
        except gf.GpufluidError as error:
            if name not in str(error):
                wrong.append((value, str(error)))
        except Exception as error:
            wrong.append((value, f"{type(error).__name__}: {error}"))
        else:
            wrong.append((value, "taken"))
    assert not wrong


def test_the_walk_finds_them() -> None:
    found = {(cls, name) for cls, name, _ in EACH}
    assert {("Emitter", "velocity"), ("Settings", "up"), ("Camera", "fov"), ("Scene", "seed")} <= found
    assert {("Seeds", "counts"), ("Smoke", "pigments"), ("SliceView", "range")} <= found
    assert len(found) > 120


# -- arrays --------------------------------------------------------------------------------------------------

GRID = gf.Grid((4, 4, 4), 0.25)
MESH = gf.Mesh.box()


def filled(shape: tuple[int, ...], value: Any) -> np.ndarray:
    """Zeros with `value` in the middle, of a kind that holds it."""
    out = np.zeros(shape, np.result_type(np.asarray(value), float) if not isinstance(value, str) else object)
    out[tuple(n // 2 for n in shape)] = value
    return out


def vertices(value: Any) -> np.ndarray:
    out = MESH.vertices.astype(filled((1,), value).dtype)
    out[3, 1] = value
    return out


ARRAYS = {
    "density": lambda fluid, v: fluid.density.write(filled((4, 4, 4), v)),
    "temperature": lambda fluid, v: fluid.temperature.write(filled((4, 4, 4), v)),
    "pressure": lambda fluid, v: fluid.pressure.write(filled((4, 4, 4), v)),
    "color": lambda fluid, v: fluid.color.write(filled((4, 4, 4, 3), v)),
    "velocity": lambda fluid, v: fluid.velocity.write(filled((5, 5, 5, 3), v)),
    "points": lambda fluid, v: fluid.sample(filled((3, 3), v)),
    "dt": lambda fluid, v: fluid.step(v),
    "ForceField.values": lambda fluid, v: gf.ForceField(filled((4, 4, 4, 3), v)),
    "Array.values": lambda fluid, v: gf.Array(filled((4, 4, 4), v)),
    "Image.source": lambda fluid, v: gf.Image(filled((4, 4), v)),
    "Line.points": lambda fluid, v: gf.Line(filled((3, 3), v)),  # type: ignore[arg-type]
    "Bezier.points": lambda fluid, v: gf.Bezier(filled((4, 3), v)),  # type: ignore[arg-type]
    "vertices": lambda fluid, v: gf.Mesh(vertices(v), MESH.triangles),
    "moved": lambda fluid, v: MESH.moved(vertices(v)),
    "fitted": lambda fluid, v: MESH.fitted(v),
    "seeds": lambda fluid, v: gf.StreamlinesView(filled((3, 3), v)),
    "rotation": lambda fluid, v: gf.Obstacle(BALL, rotation=filled((3, 3), v)),
    "Emitter.rotation": lambda fluid, v: gf.Emitter(BALL, rotation=filled((3, 3), v)),
    "scale": lambda fluid, v: gf.Obstacle(BALL, scale=[[1, 2, v], [3]]),  # type: ignore[arg-type, list-item]
    "max_substeps": lambda fluid, v: fluid.settings.but(max_substeps=v),
}


HUGE = -(10**400)  # which no double is as large as
WRONG = [NAN, INF, -INF, 1j, 1e300, "x", "1", HUGE]


@pytest.mark.parametrize("value", WRONG, ids=lambda value: "huge" if value == HUGE else repr(value))
@pytest.mark.parametrize("what", ARRAYS)
def test_an_array_with_what_is_no_number_is_refused_by_its_name(what: str, value: Any) -> None:
    with gf.Fluid(GRID, backend="numpy") as fluid:
        with pytest.raises(gf.GpufluidError) as error:
            ARRAYS[what](fluid, value)  # type: ignore[no-untyped-call]
        assert what.rpartition(".")[2] in str(error.value) or what in ("moved", "fitted"), error.value
