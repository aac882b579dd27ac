"""Scenes in TOML: read, and built.

A description is checked in two stages, both before anything is computed: msgspec holds it to the tables of
`gpufluid.scene.schema`; then the engine's own classes check the values. A number may be followed over time:
``{ keys = [[0, 1], [2, 5]] }`` or ``{ formula = "1 + sin(t)" }``.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from gpufluid.common.errors import GpufluidError, SceneError, ShapeWarning, near, short
from gpufluid.common.files import open_plain, readable
from gpufluid.description.boundaries import SIDES, Boundaries, Wall
from gpufluid.description.grid import Grid
from gpufluid.description.settings import Settings
from gpufluid.description.view import Camera
from gpufluid.engine.fluid import Fluid, check_together
from gpufluid.scene.parts import Builder
from gpufluid.scene.provenance import BoxGrid
from gpufluid.scene.saving import note_description
from gpufluid.scene.scene import Cells, Scene, box_names, direction_of_view
from gpufluid.scene.schema import DEEPEST, LISTS, checked, load_msgspec, schema

DT = 1.0 / 30.0  # seconds a frame
SEEN = 20.0  # s of a scene without an end for which a camera that turns is placed
LOOKS = 64  # at the scene meanwhile
LARGEST = 1 << 20  # bytes of a description
SHOWN = 80  # letters of a line that is wrong

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


def load_description(
    path: Path,
    ctx: Any,
    changes: Sequence[str],
    cells: Cells | Sequence[Cells | None] | None,
    backend: str,
) -> Scene:
    """Return the scene that the TOML file `path` describes; see `Scene.load`."""
    load_msgspec()  # where it is missing nothing else matters
    text = _text(path)
    given = _decoded(text, path)
    for change in changes:
        _change(given, change, path)
    scene = build(given, path, ctx, cells, backend)
    scene.provenance.file = path
    note_description(scene, text, given)
    return scene


def _text(path: Path) -> bytes:
    """What stands in the file `path`. Raises SceneError."""
    try:
        with open_plain(path) as file:
            text = file.read(LARGEST + 1)
    except OSError as error:
        raise SceneError(f"{path}: cannot be read: {error.strerror or error}") from None
    if len(text) > LARGEST:
        raise SceneError(f"{path}: over {LARGEST >> 20} MB long, which no scene is")
    return text


def _decoded(text: bytes, path: Path) -> dict[str, Any]:
    """What the TOML `text` of `path` says. Raises SceneError."""
    msgspec = load_msgspec()
    try:
        plain = text.decode("utf-8-sig")  # some editors begin with a mark
        # the parser's memory grows with the square of their length
        if LONG_KEY.search(NO_KEYS.sub("s", plain)):
            raise SceneError(
                f"{path}: a key has over {DEEPEST} names with dots between, which no scene's has"
            )
        given: dict[str, Any] = msgspec.toml.decode(plain)
    except SceneError:
        raise
    except UnicodeDecodeError as error:
        raise SceneError(
            f"{path}: is not in UTF-8, as TOML has to be ({error.reason} at byte {error.start}): save it so"
        ) from None
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        told = f"{short(str(error))}{_line_of(error, text)}"
        raise SceneError(f"{path}: not TOML: {told}") from None
    return given


def _line_of(error: Exception, text: bytes) -> str:
    """The line of `text` that `error` names, and what TOML has for Python's words or Windows' paths in it."""
    found = re.search(r"\(at line (\d{1,9}), column", str(error))
    lines = text.decode("utf-8", "replace").splitlines()
    if found is None or not 0 < int(found[1]) <= len(lines):
        return ""
    line = lines[int(found[1]) - 1].strip()
    word = re.search(r"=\s*(True|False)\b", line)
    hint = f"; did you mean {word[1].lower()}?" if word else ""
    if "\\" in line and re.search("escape|hex", str(error), re.IGNORECASE):
        hint = "; folders are told apart by /, on Windows too"
    return f": {line if len(line) <= SHOWN else f'{line[:SHOWN]} ...'!r}{hint}"


def _change(given: dict[str, Any], change: str, path: Path) -> None:
    """Make the assignment `change`, as in ``emitters[0].density=2``, to a description."""
    name, sign, text = change.partition("=")
    steps = re.findall(r"[^.\[\]]+", name.strip())
    if not sign or not PLACE.fullmatch(name.strip()):
        raise SceneError(f"a change must look like settings.viscosity=0.001, got {change!r}")
    msgspec = load_msgspec()
    try:
        value = msgspec.toml.decode(f"value = {text.strip()}")["value"]
    except (msgspec.DecodeError, ValueError):  # the first is one of the second since msgspec 0.21
        word = text.strip()  # without its quotes
        value = {"True": True, "False": False}.get(word, word)  # as a script has them
    place: Any = given
    told = f"{path}: {short(name.strip())}"
    for before, step, following in zip(["", *steps], steps, [*steps[1:], None], strict=False):
        key: Any = step
        if isinstance(place, list):
            hint = f"; say of which, as in {before}[0].{step}" if following is None and place else ""
            key = _index(place, step, told, hint)
        elif not isinstance(place, dict):
            raise SceneError(f"{told}: {step!r} lies in what is no table")
        elif following is not None and key in LISTS and key not in place:
            raise SceneError(f"{told}: there are no {key}")
        if following is None:
            place[key] = value
            if key == "cells":  # with a GPU as without
                place.pop("gpu_cells", None)
        elif isinstance(place, dict):
            place = place.setdefault(key, {})
        else:
            place = place[key]


def _index(things: Sequence[Any], step: str, told: str, hint: str) -> int:
    """Which of `things` a change means by a number or a name.

    Raises SceneError where there is none, with a `hint` where no name is near.
    """
    if step.isascii() and step.isdigit():
        if len(step) > 9 or int(step) >= len(things):
            count = f"are {len(things)}, counted from 0" if len(things) > 1 else "is one, number 0"
            raise SceneError(f"{told}: there {count}")
        return int(step)
    names = [thing.get("name") if isinstance(thing, dict) else None for thing in things]
    if step not in names:
        known = [name for name in names if name is not None]
        raise SceneError(f"{told}: there is none with the name {step!r}{near(step, known) or hint}")
    return names.index(step)


# -- building ------------------------------------------------------------------------------------------


def build(
    given: Mapping[str, Any],
    path: Path,
    ctx: Any = None,
    cells: Cells | Sequence[Cells | None] | None = None,
    backend: str = "auto",
) -> Scene:
    """Return the scene that a description, read from `path`, describes. Raises SceneError."""
    table = checked(given, path)
    builder = Builder(path, table.seed, DT if _unsaid(table.dt) else table.dt)
    boxes = _boxes(table, path)
    chosen = _chosen(cells, len(boxes), path)
    looks = _looks(builder, table)
    fluids: list[Fluid] = []
    try:
        for (prefix, box), size in zip(boxes, chosen, strict=True):
            # fluids of one scene live in one context
            fluids.append(_fluid(builder, box, prefix, fluids[0].ctx if fluids else ctx, size, backend))
            if prefix and not _unsaid(box.name):
                builder.call(fluids[-1], box.name, f"{prefix}name")
            with builder.at(f"{prefix}grid"):
                check_together(fluids)
        looks["views"] = _views(builder, table, fluids)
        looks["camera"] = _camera(builder, table.camera, fluids)
        with builder.at("the top"):
            scene = Scene(
                fluids[0],
                **looks,
                dt=builder.dt,
                floor=None if _unsaid(table.floor) else table.floor,
                title=readable(path.stem) if _unsaid(table.title) else table.title,
                frames=_frames(table, builder.dt),
                others=fluids[1:],
                names=builder.names,
                seed=table.seed,
                update=builder.update(),
            )
            scene.provenance = builder.provenance
            scene.provenance.update = scene.update
            if not _unsaid(table.camera):
                _place_camera(scene, builder, table.camera)
            return scene
    except BaseException:
        for fluid in reversed(fluids):  # the first may own the context of all
            fluid.release()
        raise


def _unsaid(value: Any) -> bool:
    """Whether a description says nothing of a field that has this `value`."""
    return value is schema().unset


def _boxes(table: Any, path: Path) -> list[tuple[str, Any]]:
    """The tables of all boxes, each after what its places begin with. Raises SceneError without one."""
    boxes = [] if _unsaid(table.grid) else [("", table)]
    boxes += [(f"containers[{n}].", box) for n, box in enumerate(table.containers)]
    if not boxes:
        raise SceneError(f"{path}: grid: the table is missing; a scene needs a grid, or containers")
    if _unsaid(table.grid) and (table.emitters or table.obstacles or table.forces):
        raise SceneError(f"{path}: grid: the table is missing, but there is something to put in it")
    return boxes


def _chosen(cells: Cells | Sequence[Cells | None] | None, boxes: int, path: Path) -> list[Cells | None]:
    """The cells asked for, box by box. Raises SceneError for more than there are boxes."""
    given: list[Any] = [] if not cells else [cells] if isinstance(cells[0], Integral) else list(cells)
    if len(given) > boxes:
        has = "is one" if boxes == 1 else f"are {boxes}"
        raise SceneError(f"{path}: cells for {len(given)} grids were given, but there {has}")
    return [*given, *[None] * (boxes - len(given))]


def _looks(builder: Builder, table: Any) -> dict[str, Any]:
    """How the scene is looked at, and drawn, by the fields of a `Scene`."""
    looks = {
        name: builder.make(part, name)
        for name in ("light", "smoke", "fire", "hand", "picture")
        if not _unsaid(part := getattr(table, name))
    }
    return looks | {"lights": builder.make_each(table.lights, "lights")}


def _views(builder: Builder, table: Any, fluids: Sequence[Fluid]) -> list[Any]:
    """The views of the flow in the boxes of `fluids`."""
    views = builder.make_each(table.views, "views")
    called = box_names(fluids, builder.names)
    if len(set(called)) < len(called):
        raise SceneError(
            f"{builder.path}: containers: each box must have a name of its own, got {', '.join(called)}"
        )
    for n, shown in enumerate(views):
        with builder.at(f"views[{n}].box"):
            shown.boxes(called)
    return views


def _frames(table: Any, dt: float) -> int | None:
    """After how many frames of `dt` seconds the scene ends; None: never. Raises GpufluidError."""
    frames: int | None = None if _unsaid(table.frames) else table.frames
    if not _unsaid(table.duration):
        if frames is not None:
            raise GpufluidError("frames and duration say the same thing: give one of them")
        if not dt > 0.0:
            raise GpufluidError(f"dt must be > 0 seconds for a duration, got {dt:g}")
        if not 0.0 < table.duration < 1e9:
            raise GpufluidError(f"duration must be > 0 and < 1e9 seconds, got {table.duration:g}")
        frames = max(1, round(table.duration / dt))
    return frames


def _camera(builder: Builder, table: Any, fluids: Sequence[Fluid]) -> Camera | None:
    """The camera of a description; one that says its `eye` alone looks at the middle of all boxes."""
    if _unsaid(table):
        return None
    given = builder.given(table)
    if "eye" in given:
        same = [name for name in ("distance", "azimuth", "elevation") if name in given]
        if same:
            raise SceneError(
                f"{builder.path}: camera: eye says where the camera stands, and so "
                f"{'does' if len(same) == 1 else 'do'} {' and '.join(same)}: give only one of them"
            )
        if "target" not in given:
            low = np.min([fluid.grid.origin for fluid in fluids], axis=0)
            high = np.max([fluid.grid.upper for fluid in fluids], axis=0)
            table = schema().msgspec.structs.replace(table, target=tuple((0.5 * (low + high)).tolist()))
    camera: Camera = builder.make(table, "camera")
    return camera


def _place_camera(scene: Scene, builder: Builder, table: Any) -> None:
    """Place the camera of a description that says neither its target nor where it stands."""
    given = builder.given(table)
    if {"target", "distance", "eye"} & given.keys():
        return
    camera = scene.camera
    azimuth, elevation = direction_of_view(scene.fluid.grid.dimensions == 2)
    camera.azimuth = camera.azimuth if "azimuth" in given else azimuth
    camera.elevation = camera.elevation if "elevation" in given else elevation
    moves = [move for name in given if (move := builder.move_of(camera, name)) is not None]
    last = SEEN if scene.frames is None else scene.frames * scene.dt
    seen = []
    for time in np.linspace(last, 0.0, LOOKS if moves else 1):  # which ends where the scene begins
        for move in moves:
            move(float(time))
        seen.append(replace(camera))
    scene.place_camera(seen)


def _fluid(
    builder: Builder,
    box: Any,
    prefix: str,
    ctx: Any,
    cells: Cells | None,
    backend: str,
) -> Fluid:
    """The fluid of one container, with all that is in it."""
    grid = _grid(builder, box.grid, f"{prefix}grid", ctx, cells, backend)
    sides = _sides(builder, box.sides, f"{prefix}sides")
    builder.cells = grid.cells

    def assign(name: str, value: Any) -> None:
        fluid.settings = fluid.settings.but(**{name: value})

    def assign_side(name: str, value: Any) -> None:
        side, _, field = name.partition(".")
        changed = replace(getattr(fluid.boundaries, side), **{field: value})
        fluid.boundaries = fluid.boundaries.but(**{side: changed})

    rules = Settings() if _unsaid(box.settings) else builder.make(box.settings, f"{prefix}settings", assign)
    with builder.at(f"{prefix}grid"):
        fluid = Fluid(grid, sides, rules, backend=backend, ctx=ctx)
    builder.hand_over(rules, fluid)  # settings are replaced when they change, and so are sides
    builder.hand_over_parts(dict(zip(SIDES, sides.sides, strict=True)), fluid, assign_side)
    try:
        _fill(fluid, builder, box, prefix)
    except BaseException:
        fluid.release()
        raise
    return fluid


def _grid(builder: Builder, table: Any, place: str, ctx: Any, cells: Cells | None, backend: str) -> Grid:
    """The grid of one box, in the `cells` asked for, or else on a GPU in those that its table has for one."""
    gpu_cells: Cells | None = builder.given(table).get("gpu_cells")
    grid: Grid = builder.make(schema().msgspec.structs.replace(table, gpu_cells=schema().unset), place)
    on_gpu = False
    if gpu_cells is not None:
        with builder.at(f"{place}.gpu_cells"):  # looked at without a GPU as well
            finer = of_other_cells(grid, gpu_cells)
            if finer.dimensions != grid.dimensions:
                deep = "one cell" if grid.dimensions == 2 else "several cells"
                raise GpufluidError(f"must be {deep} deep, as cells are, got {gpu_cells}")
        on_gpu = backend != "numpy" and _has_gpu(ctx)
        cells = cells or (gpu_cells if on_gpu else None)
    builder.provenance.grids.append(BoxGrid(grid, gpu_cells, on_gpu))
    if cells is None:
        return grid
    with builder.at(place):
        return of_other_cells(grid, cells)


def _has_gpu(ctx: Any) -> bool:
    """Whether OpenGL in `ctx`, or here, runs on a GPU."""
    from gpufluid.gl.contexts import is_software  # without it numpy needs no OpenGL

    return not is_software(ctx)


def _fill(fluid: Fluid, builder: Builder, box: Any, prefix: str) -> None:
    """Put into `fluid` what a description says is in its box."""
    for name in ("emitters", "obstacles", "forces"):
        for n, table in enumerate(getattr(box, name)):
            place = f"{prefix}{name}[{n}]"
            thing = builder.make(table, place)
            with builder.at(place), warnings.catch_warnings():
                if builder.move_of(thing, "position") is not None:  # it may be on its way
                    warnings.filterwarnings("ignore", ".* lies outside the box", ShapeWarning)
                getattr(fluid, name).add(thing)


def of_other_cells(grid: Grid, cells: Cells) -> Grid:
    """A grid of other `cells`, as wide or as high as `grid`, whichever is more, on its floor and round its
    middle. Raises GpufluidError where there is none."""
    if cells == grid.cells:
        return grid  # to the last bit
    size = max(grid.size[:2]) / max(*cells[:2], 1)
    x, y, z = grid.origin
    wider, _, deeper = (n * size - was for n, was in zip(cells, grid.size, strict=True))
    rounding = 1e-6 * size
    x -= 0.5 * wider if abs(wider) > rounding else 0.0
    z -= 0.5 * deeper if abs(deeper) > rounding and grid.dimensions == 3 else 0.0
    return Grid(cells, size, (x, y, z))


def _sides(builder: Builder, table: Any, place: str) -> Boundaries:
    """The sides of a box: `all` for those not named."""
    sides = {name: builder.make(side, f"{place}.{name}") for name, side in builder.given(table).items()}
    rest = sides.pop("all", Wall())
    each = {name: sides.get(name, rest) for name in SIDES}
    changing = any(
        builder.move_of(side, part.name) is not None for side in each.values() for part in fields(side)
    )
    with builder.at(place):
        return Boundaries(**each, changing=changing)
