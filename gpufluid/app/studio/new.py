"""What new objects of the studio are like, and where they are put. No window in here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gpufluid.app.pick import anchor, anchor_name, outline
from gpufluid.common.image_files import read_image
from gpufluid.description import shapes, user_forces, view
from gpufluid.description.flow_views import FlowView
from gpufluid.description.grid import Grid
from gpufluid.description.mesh import Mesh
from gpufluid.description.obstacles import Obstacle
from gpufluid.description.sources import Array, Emitter, Image, Surface
from gpufluid.engine.fluid import Fluid
from gpufluid.scene.parts import array_in, placed

ADDABLE = {
    "emitters": ("sphere", "box", "cylinder", "capsule"),
    "obstacles": ("sphere", "box", "cylinder", "capsule", "knot"),
    "forces": ("wind", "vortex", "attractor", "turbulence"),
    "lights": ("point light", "spot light", "sun"),
}
SHAPED = ("emitters", "obstacles")  # the groups of what has a shape
# kinds of files, and the groups that may be made of them
FILES = {"mesh": SHAPED, "image": ("emitters",), "array": ("emitters", "forces")}
SHARE = 0.4  # of the box that they fill
GAP, LEAST = 1.2, 0.1  # from the middle of an object to that of its copy: widths, and of the box at least
TITLES = {"emitters": "sources"}  # of the groups, where people call them otherwise


def new_object(group: str, name: str, grid: Grid) -> tuple[Any, dict[str, Any]]:
    """An object of ADDABLE in the middle of a box, and what a description says of it: see `Addition`."""
    x, y, z = middle(grid)
    r = _short(0.1 * min(grid.size[: grid.dimensions]))
    forms: dict[str, Callable[[], Any]] = {
        "sphere": lambda: shapes.Sphere(radius=r),
        "box": lambda: shapes.Box(size=(2 * r, 2 * r, 2 * r)),
        "cylinder": lambda: shapes.Cylinder(radius=r, height=2 * r),
        "capsule": lambda: shapes.Capsule((0.0, -r, 0.0), (0.0, r, 0.0), _short(0.6 * r)),
        "knot": lambda: Mesh.trefoil().fitted(_short(4 * r)),
    }
    others: dict[str, Callable[[], Any]] = {
        "wind": lambda: user_forces.Wind((0.3, 0.0, 0.0)),
        "vortex": lambda: user_forces.Vortex((x, y, z), radius=2 * r),
        "attractor": lambda: user_forces.Attractor((x, y, z), radius=2 * r),
        "turbulence": lambda: user_forces.Turbulence(size=_short(4 * r)),
        "point light": lambda: view.PointLight(
            (x, _short(y + 2 * r), _short(z + 4 * r)), color=(0.5, 0.45, 0.4)
        ),
        "spot light": lambda: view.SpotLight(
            (x, _short(y + 4 * r), z), color=(0.8, 0.75, 0.65), direction=(0.0, -1.0, 0.0)
        ),
        "sun": lambda: view.Light(ambient=(0.0, 0.0, 0.0)),
    }
    told = {"shape": {"kind": "knot", "fit": _short(4 * r)}} if name == "knot" else {}
    return (_placed(group, forms[name](), grid) if group in SHAPED else others[name]()), told


def new_from_file(group: str, kind: str, file: Path, folder: Path, grid: Grid) -> tuple[Any, dict[str, Any]]:
    """An emitter, obstacle or force made of a file of a `kind` in FILES, and what a description says of it.

    That is nothing where its file lies outside the `folder` of the description. Raises GpufluidError for a
    file that cannot be read, and warns as `Mesh.load` does.
    """
    size = _short(SHARE * min(grid.size[: grid.dimensions]))
    words: dict[str, Any]
    if kind == "image":
        height, width = read_image(file).shape[:2]
        across = [_short(size * n / max(width, height)) for n in (width, height)]
        words = {"kind": "image", "size": across}
    elif kind == "array":
        words = {} if group == "forces" else {"kind": "array"}
    else:
        words = {"kind": "surface" if group == "emitters" else "mesh", "fit": size}
    made, told = made_from(words, file, folder, grid)
    if group == "forces":
        return user_forces.ForceField(made), {} if told is None else {"values": told}
    thing = Emitter(made, density=4.0, temperature=1.0) if kind == "array" else _placed(group, made, grid)
    return thing, {} if told is None else {"shape": told}


def made_from(
    words: Mapping[str, Any], file: Path, folder: Path, grid: Grid
) -> tuple[Any, dict[str, Any] | None]:
    """The shape in a file, as the `words` of a description say but for its file; and these with that.

    Without a kind among the words it is the array itself, as a force has it, for the box of `grid`. None
    instead of the words where the file lies outside the `folder` of the description. Raises GpufluidError for
    a file that cannot be read.
    """
    kind = words.get("kind")
    given = {name: each for name, each in words.items() if name not in ("kind", "file")}
    made: Any
    if kind in (None, "array"):
        values = array_in(file, file.name, grid.cells)
        made = values if kind is None else Array(values)
    elif kind == "image":
        made = Image(file, **given)
    else:
        made = placed(Mesh.load(file), given.get("fit"), given.get("center", (0.0, 0.0, 0.0)))
        if kind == "surface":
            made = Surface(made, given.get("thickness"))
    name = name_in(folder, file)
    said = {} if kind is None else {"kind": kind}
    return made, None if name is None else {**said, "file": name, **given}


def name_in(folder: Path, file: Path) -> str | None:
    """What a description in `folder` calls `file`; None: it lies outside, so that no description names it."""
    base, target = folder.resolve(), file.resolve()
    return target.relative_to(base).as_posix() if target.is_relative_to(base) else None


def called(thing: Any) -> str:
    """What an object is called that has no name."""
    shape = getattr(thing, "shape", None)
    if shape is None:
        names = {
            "Light": "sun",
            "PointLight": "point light",
            "SpotLight": "spot light",
            "ForceExpression": "formula",
        }
        return names.get(type(thing).__name__, type(thing).__name__.lower())
    role = "source" if isinstance(thing, Emitter) else "obstacle"
    return f"{type(shape).__name__.lower()} {role}"


def beside(thing: Any, fluid: Fluid) -> dict[str, Any]:
    """Where a copy of `thing` is put, as its field: beside it along x, on the side that has room in the box.

    Nothing for what is nowhere, such as a wind, or everywhere, such as a view.
    """
    name = None if isinstance(thing, FlowView) else anchor_name(thing)
    if name is None:
        return {}
    lines = outline(thing, fluid)
    low, high, size = fluid.grid.origin[0], fluid.grid.upper[0], fluid.grid.size[0]
    x, y, z = anchor(thing)
    along = np.concatenate(lines)[:, 0] if lines else np.array([x])
    step = float(np.clip(GAP * np.ptp(along), LEAST * size, 0.5 * size))
    right, left = high - float(along.max()), float(along.min()) - low  # room there
    if right >= min(step, left):
        return {name: (_short(x + min(step, max(right, LEAST * size))), y, z)}
    return {name: (_short(x - min(step, max(left, LEAST * size))), y, z)}


def _placed(group: str, shape: Any, grid: Grid) -> Any:
    """An emitter in the lower part of a box, or an obstacle in its middle."""
    x, y, z = middle(grid)
    if group == "emitters":
        y = _short(y - 0.3 * grid.size[1])
        return Emitter(shape, density=4.0, temperature=1.0, position=(x, y, z))
    return Obstacle(shape, position=(x, y, z))


def middle(grid: Grid) -> tuple[float, float, float]:
    x, y, z = (_short(0.5 * (a + b)) for a, b in zip(grid.origin, grid.upper, strict=True))
    return x, y, z


def _short(metres: float) -> float:
    """A length to begin with, in few digits."""
    return float(f"{metres:.4g}")
