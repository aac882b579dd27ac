"""Changes to a scene while it plays, which can be undone, and made again to the scene built anew.

A value is named by a path from the scene, ("fluids", 0, "emitters", 2, "shape", "radius"), not by the object
that holds it: so what was done outlives the objects, when a scene starts again or has another grid.
"""

from __future__ import annotations

import copy
import dataclasses
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from gpufluid.common.errors import GpufluidError
from gpufluid.description.sources import Emitter
from gpufluid.description.user_forces import Wind
from gpufluid.scene.provenance import Said
from gpufluid.scene.scene import Cells, FreeCamera, Scene

ScenePath = tuple[str | int, ...]

LISTS = ("emitters", "obstacles", "forces")  # of a fluid; a scene has lights
STRONGER = 1.25  # one press of +
GUST = 0.2  # lengths of the box per second, one press of a or d
FLOW_FIELDS = ("density", "fuel", "color")  # what an emitter makes per second


def value_at(scene: Scene, path: ScenePath) -> Any:
    """What lies at `path`. Raises GpufluidError where nothing does, or nothing any more."""
    found: Any = scene
    try:
        for step in path:
            found = found[step] if isinstance(step, int) else getattr(found, step)
    except (LookupError, AttributeError):
        raise GpufluidError(f"the scene has no {'.'.join(map(str, path))}") from None
    return found


def put(scene: Scene, path: ScenePath, value: Any) -> None:
    """Set what lies at `path`; where that is part of something frozen, of which another one is made.

    Raises GpufluidError for a value that cannot be, and leaves everything as it was.
    """
    owner, name = value_at(scene, path[:-1]), path[-1]
    if isinstance(name, int) and not isinstance(owner, Sequence):  # but what checks each by itself
        before = owner[name]
        owner.insert(name, value)
        owner.remove(before)
        for called in [n for n, thing in scene.names.items() if thing is before]:
            scene.names[called] = value
    elif isinstance(name, int):
        changed = (*owner[:name], value, *owner[name + 1 :])
        put(scene, path[:-1], changed)
    elif _frozen(owner):
        put(scene, path[:-1], dataclasses.replace(owner, **{name: value}))
    else:
        before = getattr(owner, name)
        try:
            setattr(owner, name, value)
            for check in ("check", "__post_init__"):
                if hasattr(owner, check):
                    getattr(owner, check)()
                    break
        except GpufluidError:
            setattr(owner, name, before)
            raise


def _frozen(thing: Any) -> bool:
    return hasattr(thing, "__dataclass_params__") and bool(thing.__dataclass_params__.frozen)


def told_as(scene: Scene, path: ScenePath) -> tuple[Any, str] | None:
    """The object and field under which a description tells what lies at `path`; None: it tells none."""
    found: Any = scene
    holder: tuple[Any, str] | None = None
    for number, step in enumerate(path, start=1):
        inner = path[number:]
        if step == "settings" and inner:
            return found, str(inner[0])
        if step == "boundaries" and len(inner) == 2:  # a side, and its field
            return found, ".".join(map(str, inner))
        if isinstance(step, str) and dataclasses.is_dataclass(found) and not _frozen(found):
            holder = None if isinstance(found, Scene) else (found, step)
        found = found[step] if isinstance(step, int) else getattr(found, step)
    return holder


class Edit(Protocol):
    """Something that was done to a scene."""

    def do(self, scene: Scene) -> None: ...

    def undo(self, scene: Scene) -> None: ...


@dataclass
class Change:
    """A value that became another one.

    words: what a description says of the other one where its value does not tell, as of a file. said: what
    it says of the first, of which a scene that was saved with the other one and built anew knows nothing.
    What changes with time there stands still until it is saved and built anew once more.
    """

    path: ScenePath
    before: Any
    after: Any
    was_held: bool = False
    said: Said | None = None
    words: Any = None
    free: FreeCamera | None = None  # how the camera was left to be placed, where this holds it

    def do(self, scene: Scene) -> None:
        """Set it. Raises GpufluidError as `put` does."""
        stood = value_at(scene, self.path)
        put(scene, self.path, self.after)
        told = told_as(scene, self.path)
        if told is not None:
            said = scene.provenance.said(*told)
            if said is not None and said.made is not None and said.made is stood:
                said = dataclasses.replace(said, made=self.before)  # of a scene built anew it is another one
            self.said = said or self.said
            scene.hold(*told, held=self.words is None)
            if self.words is not None:
                # as it stands there now: some keep a copy of their own
                scene.provenance.say(*told, self.words, value_at(scene, self.path))

    def undo(self, scene: Scene) -> None:
        """Set it back."""
        put(scene, self.path, self.before)
        told = told_as(scene, self.path)
        if told is not None:
            scene.hold(*told, held=self.was_held)
            if self.said is not None and not self.was_held:
                made = self.said.made
                if made is not None and made is self.before:
                    made = value_at(scene, self.path)
                scene.provenance.say(*told, self.said.words, made)
            if self.free is not None:
                scene.let_camera_go(self.free)


@dataclass
class Addition:
    """An emitter, obstacle, force or light that was added at `index` of the list at `path`.

    told: what a description says of its fields where their values do not tell, as for a knot.
    """

    path: ScenePath
    index: int
    thing: Any
    told: dict[str, Any] = field(default_factory=dict)

    def do(self, scene: Scene) -> None:
        """Add it. Raises GpufluidError where it does not fit there."""
        added, as_added = self.thing, _as_it_is(self.thing)
        _insert(scene, self.path, self.index, added)
        for name, told in self.told.items():
            scene.provenance.say(added, name, told, getattr(added, name))
        self.thing = as_added  # what comes again to a scene built anew, before what was done to it since

    def undo(self, scene: Scene) -> None:
        """Take it away: what stands there now, for the scene may be another one, and comes back as it is."""
        self.thing = value_at(scene, (*self.path, self.index))
        _take(scene, self.path, self.index)


@dataclass
class Removal(Addition):
    """The same, taken away.

    name, said: what it is called, and what the description says of its fields, of which a scene that was
    saved without it and built anew knows nothing, as of a `Change`.
    """

    name: str | None = None
    said: dict[str, Said] = field(default_factory=dict)

    def do(self, scene: Scene) -> None:
        """Take it away. Raises GpufluidError where particles start from it: they could not be saved."""
        self.thing = value_at(scene, (*self.path, self.index))
        for number, shown in enumerate(scene.views):
            if any(source.shape is self.thing for source in getattr(shown, "sources", ())):
                raise GpufluidError(f"the particles of views[{number}] start from it: remove these first")
        self.name = name_of(scene, self.thing)
        said = scene.provenance.all_said(self.thing)
        self.said = {name: one for name, one in said.items() if not scene.is_held(self.thing, name)}
        super().undo(scene)

    def undo(self, scene: Scene) -> None:
        """Add it again."""
        _insert(scene, self.path, self.index, self.thing)
        for name, one in self.said.items():
            scene.provenance.say(self.thing, name, one.words, one.made)
        if self.name is not None:
            scene.names.setdefault(self.name, self.thing)


@dataclass
class Naming:
    """Another name for what lies at `path`. before, after: None is no name."""

    path: ScenePath
    before: str | None
    after: str | None
    gone: Any = None  # what was called `after` until it was taken away, and is again when it comes back

    def do(self, scene: Scene) -> None:
        """Call it so. Raises GpufluidError as `Scene.rename` does."""
        self.gone = scene.names.get(self.after or "")
        scene.rename(value_at(scene, self.path), self.after)

    def undo(self, scene: Scene) -> None:
        """Call it as before."""
        thing = value_at(scene, self.path)
        scene.rename(thing, self.before)
        if self.gone is not None and self.gone is not thing:
            scene.names[str(self.after)] = self.gone


@dataclass
class Duplication:
    """A copy of what lies at `index` of the list at `path`, right behind it, called `name`.

    other: what is not as that is, by fields. A value that follows keyframes or a formula does so in the copy.
    """

    path: ScenePath
    index: int
    name: str | None
    other: dict[str, Any]

    def do(self, scene: Scene) -> None:
        """Copy what stands there now, for the scene may be another one. Raises GpufluidError."""
        thing = value_at(scene, (*self.path, self.index))
        made = _copy(thing, scene, self.other)
        _insert(scene, self.path, self.index + 1, made)
        try:
            scene.rename(made, self.name)
        except GpufluidError:
            _take(scene, self.path, self.index + 1)
            raise

    def undo(self, scene: Scene) -> None:
        """Take the copy away."""
        scene.names.pop(self.name or "", None)
        _take(scene, self.path, self.index + 1)


def _insert(scene: Scene, path: ScenePath, index: int, thing: Any) -> None:
    """Let `thing` be the one at `index` of a list. Raises GpufluidError where it does not fit there."""
    things = value_at(scene, path)
    if isinstance(things, Sequence):
        put(scene, path, (*things[:index], thing, *things[index:]))
    else:
        things.insert(index, thing)


def _take(scene: Scene, path: ScenePath, index: int) -> None:
    """Take away the one at `index` of a list."""
    things = value_at(scene, path)
    if isinstance(things, Sequence):
        put(scene, path, (*things[:index], *things[index + 1 :]))
    else:
        things.remove(value_at(scene, (*path, index)))


def _copy(thing: Any, scene: Scene, other: dict[str, Any]) -> Any:
    """One like `thing` but for `other` values, and what a description says of it."""
    own = dict(other)
    for part in dataclasses.fields(thing):
        said = scene.provenance.said(thing, part.name)
        if said is not None and said.words is None and not scene.is_held(thing, part.name):
            own.setdefault(part.name, part.default)  # it comes from another field
    same = [part.name for part in dataclasses.fields(thing) if part.name not in own]
    made = dataclasses.replace(thing, **{name: _own(getattr(thing, name)) for name in same}, **own)
    scene.provenance.copy(thing, made, [name for name in same if not scene.is_held(thing, name)])
    for source, copied in zip(getattr(thing, "sources", ()), getattr(made, "sources", ()), strict=True):
        scene.provenance.copy(source, copied, [part.name for part in dataclasses.fields(source)])
    return made


def _as_it_is(thing: Any) -> Any:
    """One like `thing`, which what is done to that leaves as it is; nothing is read or checked anew."""
    made = copy.copy(thing)
    for part in dataclasses.fields(thing):
        object.__setattr__(made, part.name, _own(getattr(thing, part.name)))  # of a frozen one too
    return made


def _own(value: Any) -> Any:
    """`value` without parts that change with those of another: but a source of particles stays the same."""
    if isinstance(value, list | tuple):
        return type(value)(_own(part) for part in value)
    if not dataclasses.is_dataclass(value) or _frozen(value) or isinstance(value, Emitter | type):
        return value
    parts = {part.name: _own(getattr(value, part.name)) for part in dataclasses.fields(value)}
    return dataclasses.replace(value, **parts)


def name_of(scene: Scene, thing: Any) -> str | None:
    """What `thing` is called in a scene; None: nothing."""
    return next((name for name, named in scene.names.items() if named is thing), None)


def free_name(scene: Scene, name: str) -> str:
    """The next name after `name`, "ball 2" after "ball", "jet08" after "jet07", that nothing has."""
    stem, digits = re.fullmatch(r"(.*?)(\d*)", name, re.DOTALL).groups()  # type: ignore[union-attr]  # any
    stem, number = (stem, int(digits)) if digits else (f"{name} ", 1)
    while True:
        number += 1
        following = f"{stem}{number:0{len(digits)}d}"
        if following not in scene.names:
            return following


@dataclass
class Regrid:
    """Another grid in the box of a number. A scene is built with it: see `History.cells`."""

    box: int
    before: Cells
    after: Cells

    def do(self, scene: Scene) -> None:
        """Nothing."""

    def undo(self, scene: Scene) -> None:
        """Nothing."""


class History:
    """What was done to a scene: to be undone, done again, and done to the scene built anew.

    saved: what was done when the scene was saved last.
    """

    def __init__(self) -> None:
        self.done: list[Edit] = []
        self.undone: list[Edit] = []
        self.saved: list[Edit] = []
        self._open = False

    @property
    def unsaved(self) -> int:
        """How many edits were made, or undone, since the scene was saved."""
        return len(self.done) + len(self.saved) - 2 * self._common

    @property
    def _common(self) -> int:
        """How many of the first edits are both done and saved."""
        pairs = enumerate(zip(self.done, self.saved, strict=False))
        return next((n for n, (a, b) in pairs if a is not b), min(len(self.done), len(self.saved)))

    @property
    def cells(self) -> dict[int, Cells]:
        """Of the boxes that have another grid than the scene that was saved, by their numbers."""
        kept = self._common
        undone = {e.box: e.before for e in reversed(self.saved[kept:]) if isinstance(e, Regrid)}
        return undone | {e.box: e.after for e in self.done[kept:] if isinstance(e, Regrid)}

    def mark_saved(self) -> None:
        """The scene as it is now was saved."""
        self.saved = self.done[:]
        self._open = False

    def change(self, scene: Scene, path: ScenePath, value: Any, words: Any = None) -> None:
        """Set what lies at `path`. Until `seal` further changes of it are one with this.

        words: what a description says of it where its value does not tell; that change stands by itself.
        Raises GpufluidError for a value that cannot be; then nothing has changed.
        """
        last = self.done[-1] if self.done else None
        if words is None and self._open and isinstance(last, Change) and last.path == path:
            put(scene, path, value)
            last.after = value
            return
        told = told_as(scene, path)
        held = told is not None and scene.is_held(*told)
        free = scene.free_camera if told is not None and told[0] is scene.camera else None
        self.make(scene, Change(path, value_at(scene, path), value, held, words=words, free=free))
        self._open = words is None

    def make(self, scene: Scene, edit: Edit) -> None:
        """Do `edit`. Raises GpufluidError where that cannot be."""
        edit.do(scene)
        self.done.append(edit)
        self.undone.clear()
        self._open = False

    def seal(self) -> None:
        """What comes next is undone by itself."""
        self._open = False

    def undo(self, scene: Scene) -> bool:
        """Undo what was done last; False where there is nothing. Raises GpufluidError where that is gone."""
        return self._move(self.done, self.undone, lambda edit: edit.undo(scene))

    def redo(self, scene: Scene) -> bool:
        """Do again what was undone last; False where there is nothing. Raises as `undo` does."""
        return self._move(self.undone, self.done, lambda edit: edit.do(scene))

    def _move(self, source: list[Edit], target: list[Edit], way: Callable[[Edit], None]) -> bool:
        """Do the last edit of `source` a `way`, and move it to `target`; False where there is none."""
        if not source:
            return False
        way(source[-1])
        target.append(source.pop())
        self._open = False
        return True

    def repeat(self, scene: Scene) -> list[str]:
        """Do to a scene built anew, as it was saved last, what was done and undone since.

        Returns why some of it could not be, and forgets that, and what was undone.
        """
        kept = self._common
        problems: list[str] = []
        done, self.done = self.done[kept:], self.done[:kept]
        self._open = False
        for edit in reversed(self.saved[kept:]):
            try:
                edit.undo(scene)
            except GpufluidError as error:
                problems.append(str(error))
        for edit in done:
            try:
                edit.do(scene)
                self.done.append(edit)
            except GpufluidError as error:
                problems.append(str(error))
        if problems:
            self.undone.clear()
        return problems

    def clear(self) -> None:
        """Forget everything."""
        self.done.clear()
        self.undone.clear()
        self.saved.clear()
        self._open = False


def strengthen(scene: Scene, history: History, factor: float) -> str:
    """Let the first emitter make `factor` times as much; returns what to say of it."""
    if not scene.fluid.emitters:
        return "there is no source to make stronger"
    emitter, said = scene.fluid.emitters[0], []
    for name in FLOW_FIELDS:
        value = getattr(emitter, name)
        several = isinstance(value, tuple)
        each: tuple[float, ...] = value if several else (value or 0.0,)
        if not any(each):
            continue
        each = tuple(_short(v * factor) for v in each)
        history.change(scene, ("fluids", 0, "emitters", 0, name), each if several else each[0])
        said.append(f"{name} {', '.join(f'{v:.3g}' for v in each)} 1/s")
        history.seal()
    return f"source: {', '.join(said)}" if said else "the first source makes nothing"


def blow(scene: Scene, history: History, gusts: float) -> str:
    """Let the wind change by so many `GUST` to the right of the viewer; returns what to say of it.

    It is one that blows everywhere, never a fan. Where it comes to rest it is taken away: a wind of no speed
    would hold the air.
    """
    fluid = scene.fluid
    speed = GUST * gusts * max(fluid.grid.size)
    a = math.radians(scene.camera.azimuth)
    z = -speed * math.sin(a) if fluid.grid.dimensions == 3 else 0.0
    gust = _short(speed * math.cos(a)), 0.0, _short(z)
    winds = (n for n, f in enumerate(fluid.forces) if isinstance(f, Wind) and f.center is None)
    number = next(winds, None)
    forces: ScenePath = ("fluids", 0, "forces")
    if number is None:
        history.make(scene, Addition(forces, len(fluid.forces), Wind(gust)))
        return f"wind: {_speed(gust)}"
    wind = fluid.forces[number]
    assert isinstance(wind, Wind)
    x, y, z = (_short(v + g) for v, g in zip(wind.velocity, gust, strict=True))
    if math.hypot(x, y, z) < 1e-3 * abs(speed):
        history.make(scene, Removal(forces, number, wind))
        return "wind: none"
    history.change(scene, (*forces, number, "velocity"), (x, y, z))
    history.seal()
    return f"wind: {_speed((x, y, z))}"


def _short(value: float) -> float:
    """A number in as many digits as may be meant."""
    return float(f"{value:.6g}") + 0.0  # no -0


def _speed(velocity: tuple[float, float, float]) -> str:
    return f"({', '.join(f'{v:.2g}' for v in velocity)}) m/s"
