"""Scenes written as descriptions: what a scene is now, in TOML."""

from __future__ import annotations

import filecmp
import os
from collections.abc import Container, Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import numpy as np

from gpufluid.common.errors import GpufluidError
from gpufluid.common.files import readable, whole_file
from gpufluid.description import flow_views, user_forces
from gpufluid.description.boundaries import SIDES, Wall
from gpufluid.description.combustion import Combustion
from gpufluid.description.mesh import Mesh
from gpufluid.description.sources import Emitter, Image, Surface
from gpufluid.description.view import Camera, Plate
from gpufluid.engine.fluid import Fluid
from gpufluid.scene.provenance import BoxGrid, Said
from gpufluid.scene.scene import EYE, Scene, direction_of_view
from gpufluid.scene.schema import (
    FORCE_KINDS,
    FORM_KINDS,
    LIGHT_KINDS,
    OFF,
    SIDE_KINDS,
    SOLVER_KINDS,
    VIEW_KINDS,
    fields_with_off,
    load_msgspec,
)
from gpufluid.scene.text import THING, OddTextError, bare, changed, written

FROM_FILES = Mesh, Surface, Image, Plate  # what a description has but from files
# tables, and lists of tables, by which a scene is seen, in this order
SEEN_BY = "camera", "light", "smoke", "fire", "picture", "hand"
LOOKS = *SEEN_BY, "views", "lights"


def save_description(
    scene: Scene,
    path: str | os.PathLike[str],
    overwrite: bool = False,
    cells_as_read: Container[int] = (),
) -> Path:
    """Write what `scene` is now, but for the state of its fluids, as a description; return its path.

    Of one that was read from a description the text stays as it is, comments too, but for what has changed.
    Values that follow keyframes or formulas stay so, and files that were read are named again. cells_as_read:
    the numbers of boxes whose grid stays that of the description, though they have another one now. Raises
    GpufluidError for what only a script can make (a mesh of its own, an array, an `update`), for a file that
    exists unless `overwrite`, for one that cannot be written, for a folder without the files it names, and
    for the scene's own file where its text cannot be changed in place.
    """
    target = Path(path)
    told = _Told.of(scene, cells_as_read)
    brief = told.brief()
    _check_files(brief, scene, target)
    before, text = scene.provenance.told, None
    if isinstance(before, _Told) and before.text is not None:
        try:
            text = told.after(before)
        except OddTextError as error:
            own = scene.provenance.file
            if own is not None and own.absolute() == target.absolute():
                raise GpufluidError(
                    f"{path}: its text cannot be changed in place ({error}): save under another name, which "
                    f"leaves out the comments"
                ) from None
    told.text = written(brief) if text is None else text
    with whole_file(path, overwrite, (".toml",)) as partial:
        partial.write_bytes(told.text.encode("utf-8"))
    scene.provenance.told = told
    return target


def note_description(scene: Scene, text: bytes, given: dict[str, Any]) -> None:
    """Note what a description, of this `text`, says of `scene` as it was just built of what is `given`.

    That is what stays of the text when the scene is saved. given: with changes to it, if any.
    """
    try:
        told = _Told.of(scene, range(len(scene.fluids)))
    except GpufluidError:
        return  # it is written anew, then
    told.text, told.given = text.decode("utf-8"), given
    scene.provenance.told = told


class _Told:
    """What a scene says of itself at some time.

    every: all fields of everything; plain: those not at their defaults. text: the description that says so.
    given: what that says where it is not the text.
    """

    def __init__(self, every: dict[str, Any], plain: dict[str, Any]) -> None:
        self.every, self.plain = every, plain
        self.text: str | None = None
        self.given: dict[str, Any] | None = None

    @classmethod
    def of(cls, scene: Scene, cells_as_read: Container[int] = ()) -> _Told:
        """Of `scene` now; cells_as_read: see `save_description`. Raises GpufluidError."""
        return cls(_values(scene, True, cells_as_read), _values(scene, False, cells_as_read))

    def brief(self) -> dict[str, Any]:
        """The plain values as a description of their own."""
        boxes = self.plain["boxes"]
        brief: dict[str, Any] = bare(_shaped(self.plain, len(boxes) == 1 and "name" not in boxes[0]))
        return brief

    def after(self, before: _Told) -> str:
        """The text that says this, made of the one that said what was `before`. Raises OddTextError."""
        text = before.text or ""
        mark = text[: text.startswith("\ufeff")]  # some editors begin with one
        text, lines = text[len(mark) :], text.count("\n")
        windows = lines > 0 and text.count("\r\n") == lines
        if windows:
            text = text.replace("\r\n", "\n")
        said = load_msgspec().toml.decode(text)
        if before.given is not None and before.given != said:
            text = changed(text, said, before.given, before.given)
            said = before.given
        was, now, brief = (_shaped(v, "grid" in said) for v in (before.every, self.every, self.plain))
        if "duration" in said:  # which says how many frames there are
            was["duration"], was["frames"] = said["duration"], None
            frames, same = now.pop("frames", None), now["dt"] == was["dt"]
            if frames is not None:
                kept = same and frames == before.every["frames"]
                now["duration"] = said["duration"] if kept else round(frames * now["dt"], 9)
        text = changed(text, was, now, brief)
        return mark + (text.replace("\n", "\r\n") if windows else text)


def _shaped(values: dict[str, Any], alone: bool) -> dict[str, Any]:
    """`values` as a description has them. alone: the first box is in no list of boxes."""
    out = dict(values)
    boxes = out.pop("boxes")
    if alone:
        looks = {name: out.pop(name) for name in LOOKS if name in out}
        out |= {name: value for name, value in boxes[0].items() if name != THING} | looks
        boxes = boxes[1:]
    return {**out, "containers": boxes} if boxes else out


def _check_files(described: Any, scene: Scene, path: Path) -> None:
    """Raise GpufluidError where a file that a description names is not the one in the folder of `path`."""
    todo, folder = [described], path.parent
    home = folder if scene.provenance.file is None else scene.provenance.file.parent
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


def is_script(scene: Scene) -> bool:
    """Whether a script tells what `scene` does, so that no description can."""
    return scene.story is not None or scene.update not in (None, scene.provenance.update)


def _values(scene: Scene, every: bool, cells_as_read: Container[int]) -> dict[str, Any]:
    """What `scene` is now, with its boxes in a list of their own; see `_Told`."""
    if is_script(scene):
        raise GpufluidError(
            f"the scene {scene.title!r} is a script: what it does cannot be written as a description"
        )
    writer = _Writer(scene, every)
    plain = {part.name: part.default for part in fields(scene) if part.name in ("dt", "seed")}
    file = scene.provenance.file  # without a title it is called as its file
    out: dict[str, Any] = {}
    if every or file is None or scene.title != readable(file.stem):
        out["title"] = scene.title
    out |= {name: value for name, usual in plain.items() if (value := getattr(scene, name)) != usual or every}
    out |= {name: value for name in ("frames", "floor") if (value := getattr(scene, name)) is not None}
    out["boxes"] = [writer.container(fluid, n, n in cells_as_read) for n, fluid in enumerate(scene.fluids)]
    for name in SEEN_BY:
        thing = getattr(scene, name)
        if thing is not None:
            out[name] = writer.camera() if name == "camera" else writer.table(thing)
    flat = scene.fluid.grid.dimensions == 2
    camera = out["camera"]
    if scene.camera_is_free:  # it is placed again when the file is read
        for name in ("target", "distance", "near", "far"):
            camera.pop(name, None)
        camera |= writer.clipping()
        for name, seen in zip(("azimuth", "elevation"), direction_of_view(flat), strict=True):
            if camera.get(name) == seen:
                del camera[name]
    else:  # at its defaults too: a file that says neither leaves it to the boxes
        place = {} if "eye" in camera else {"distance": scene.camera.distance}
        out["camera"] = {"target": list(scene.camera.target)} | place | camera
    if any(scene.is_held(scene.camera, part.name) for part in fields(scene.camera)):
        out["camera"] = _short(out["camera"])  # a hand's digits are no one's intention
    if scene.views:
        out["views"] = [writer.listed(v, kind=_kind(VIEW_KINDS, v)) for v in scene.views]
    if scene.lights:
        out["lights"] = [writer.listed(light, kind=_kind(LIGHT_KINDS, light)) for light in scene.lights]
    usual = ["camera", "smoke", "picture"]  # which are there anyway
    usual += [] if flat else ["light"]
    return {name: value for name, value in out.items() if value or every or name not in usual}


def _short(value: Any) -> Any:
    """`value` with no more than six digits in each number that is not whole."""
    if isinstance(value, dict):
        return {name: _short(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_short(part) for part in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def _kind(kinds: Mapping[str, type], thing: Any) -> str:
    """The name of the kind that `thing` is. Raises GpufluidError where a description knows none."""
    for name, kind in kinds.items():
        if type(thing) is kind:
            return name
    raise GpufluidError(f"a description cannot say {thing!r}")


class _Writer:
    """Turns what a scene is made of into plain values."""

    def __init__(self, scene: Scene, every: bool) -> None:
        self.scene, self.every = scene, every
        self.names = {id(thing): name for name, thing in scene.names.items()}

    def container(self, fluid: Fluid, box: int, cells_as_read: bool) -> dict[str, Any]:
        """One fluid, in the box of that number, and all that is in it."""
        out: dict[str, Any] = {
            "name": self.names.get(id(fluid)),
            "grid": self._grid(fluid, box, cells_as_read),
            "settings": self.table(fluid.settings, owner=fluid),
            "sides": self._sides(fluid),
            "emitters": [self.listed(emitter) for emitter in fluid.emitters],
            "obstacles": [self.listed(obstacle) for obstacle in fluid.obstacles],
            "forces": [self._force(force) for force in fluid.forces],
        }
        return {THING: fluid} | {name: value for name, value in out.items() if value}

    def _grid(self, fluid: Fluid, box: int, as_read: bool) -> dict[str, Any]:
        """The grid of a box where it is when the scene begins: on a GPU other cells are those for a GPU."""
        known = self.scene.provenance.grids
        read = known[box] if box < len(known) else BoxGrid(fluid.made, None, False)
        cells = read.gpu_cells
        if cells is not None and read.on_gpu and not as_read:
            cells = fluid.made.cells
        grid = read.grid if as_read or read.on_gpu else fluid.made
        return self.table(grid) | ({} if cells is None else {"gpu_cells": list(cells)})

    def _sides(self, fluid: Fluid) -> dict[str, Any]:
        """All six; unless every, the most usual one for all not named, and nothing for plain walls."""
        each = {
            name: {"kind": _kind(SIDE_KINDS, side), **self.table(side, owner=fluid, part=f"{name}.")}
            for name, side in zip(SIDES, fluid.boundaries.sides, strict=True)
        }
        if self.every:
            return each
        usual = max(each.values(), key=list(each.values()).count)
        rest = {} if usual == {"kind": "wall", **self.table(Wall())} else {"all": usual}
        return rest | {name: side for name, side in each.items() if side != usual}

    def listed(self, thing: Any, **kind: str) -> dict[str, Any]:
        """A table in a list."""
        return {THING: thing, **kind, **self.table(thing)}

    def _force(self, force: Any) -> dict[str, Any]:
        if isinstance(force, user_forces.ForceExpression):
            out: dict[str, Any] = {THING: force, "kind": "expression"}
            if id(force) in self.names:
                out["name"] = self.names[id(force)]
            out["expression"] = force.expression
            return out | ({} if force.active and not self.every else {"active": force.active})
        return self.listed(force, kind=_kind(FORCE_KINDS, force))

    def table(self, thing: Any, owner: Any = None, part: str = "") -> dict[str, Any]:
        """The fields of a dataclass object; unless every, those that are not at their defaults.

        owner: whose fields they are as a description tells of them, there called by `part` and their names.
        """
        out: dict[str, Any] = {}
        if id(thing) in self.names:
            out["name"] = self.names[id(thing)]
        for each in fields(thing):
            name, value = each.name, getattr(thing, each.name)
            said = self._said(thing if owner is None else owner, part + name)
            if said is not None and (said.made is None or said.made is value):
                if said.words is not None:
                    out[name] = self.plain(said.words, name)
                continue
            default = each.default if each.default_factory is MISSING else each.default_factory()
            if value is None and name in fields_with_off(thing.__class__):
                out[name] = OFF
            elif value is not None and (self.every or default is MISSING or value != default):
                out[name] = self.plain(value, f"{type(thing).__name__}.{name}")
        return out

    def camera(self) -> dict[str, Any]:
        """The scene's camera: where it stands by its `eye` if the description says it so."""
        camera = self.scene.camera
        out, said = self.table(camera), self.scene.provenance.said(camera, "eye")
        if said is None:
            return out
        out = {name: value for name, value in out.items() if name not in EYE[1:]}
        stays = self._said(camera, "eye") is said and said.made in (None, camera.eye)
        return out | {"eye": self.plain(said.words if stays else camera.eye, "Camera.eye")}

    def clipping(self) -> dict[str, Any]:
        """The clipping distances of a camera that nobody has placed, as they were before it was placed."""
        camera, out = self.scene.camera, {}
        for name, value in zip(("near", "far"), self.scene.clipping_as_given, strict=True):
            said = self._said(camera, name)
            if said is not None:
                out[name] = self.plain(said.words, name)
            elif self.every or value != getattr(Camera, name):
                out[name] = value
        return out

    def _said(self, thing: Any, name: str) -> Said | None:
        """What the scene's description says of a field, unless that follows somebody's hand by now."""
        return None if self.scene.is_held(thing, name) else self.scene.provenance.said(thing, name)

    def plain(self, value: Any, name: str) -> Any:
        """`value` as TOML can hold it."""
        if isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, tuple | list):
            return [self.plain(part, name) for part in value]
        if isinstance(value, dict):
            return {key: self.plain(part, name) for key, part in value.items()}
        if type(value) in SOLVER_KINDS.values():
            return {"kind": _kind(SOLVER_KINDS, value), **self.table(value)}
        if isinstance(value, Emitter) and id(value) in self.names:
            return self.names[id(value)]
        if isinstance(value, flow_views.ParticleSource | flow_views.Seeds):
            return self.table(value)
        if isinstance(value, np.ndarray):
            return self.plain(value.tolist(), name)
        if type(value) in FORM_KINDS.values():
            return {"kind": _kind(FORM_KINDS, value), **self.table(value)}
        if isinstance(value, Combustion):
            return self.table(value)
        file = ": it comes from no file in the scene's folder" if isinstance(value, FROM_FILES) else ""
        raise GpufluidError(f"{name}: a description cannot say {value!r}{file}")
