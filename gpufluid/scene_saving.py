"""Scenes written as descriptions: what a scene is now, in TOML."""

from __future__ import annotations

import filecmp
import os
from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import numpy as np

from gpufluid import flow_views, user_forces
from gpufluid.boundaries import SIDES
from gpufluid.combustion import Combustion
from gpufluid.errors import GpufluidError, MissingDependencyError
from gpufluid.files import whole_file
from gpufluid.fluid import Fluid
from gpufluid.provenance import Said
from gpufluid.scene import Scene
from gpufluid.scene_schema import (
    FORCE_KINDS,
    FORM_KINDS,
    LIGHT_KINDS,
    OFF,
    SIDE_KINDS,
    SOLVER_KINDS,
    VIEW_KINDS,
    fields_with_off,
)
from gpufluid.sources import Emitter


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


def description_of(scene: Scene) -> dict[str, Any]:
    """What `scene` is now as the plain values of a description; see `save_description`."""
    if scene.story is not None or scene.update not in (None, scene.provenance.update):
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
        self.scene = scene
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
        for part in fields(thing):
            value = getattr(thing, part.name)
            said = self._said(thing if owner is None else owner, part.name)
            if said is not None and (said.made is None or said.made is value):
                if said.words is not None:
                    out[part.name] = said.words
                continue
            default = part.default if part.default_factory is MISSING else part.default_factory()
            if value is None and part.name in fields_with_off(thing.__class__):
                out[part.name] = OFF
            elif value is not None and (default is MISSING or value != default):
                out[part.name] = self.plain(value, f"{type(thing).__name__}.{part.name}")
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
        raise GpufluidError(f"{name}: a description cannot say {value!r}")
