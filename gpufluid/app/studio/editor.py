"""What the studio edits: the scene that is played, and what is chosen in it. No widgets in here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from gpufluid.app.edits import (
    LISTS,
    Addition,
    Duplication,
    Edit,
    Naming,
    Removal,
    ScenePath,
    free_name,
    name_of,
    value_at,
)
from gpufluid.app.studio.new import beside
from gpufluid.common.errors import GpufluidError
from gpufluid.engine.fluid import Fluid
from gpufluid.scene.saving import is_script
from gpufluid.scene.scene import Scene

if TYPE_CHECKING:
    from gpufluid.app.player import Player


class Editor:
    """Changes a player's scene so that it can be undone; where something cannot be, it says why.

    box: the number of the fluid that new objects, views and another grid are for.
    """

    def __init__(self, player: Player) -> None:
        self.player = player
        self.box = 0
        self._path: ScenePath | None = None
        self._chosen: tuple[Any, Scene, int] | None = None  # what lay there, in which scene, among how many

    @property
    def scene(self) -> Scene:
        """What is played."""
        return self.player.scene

    @property
    def fluid(self) -> Fluid:
        """What is in the chosen box."""
        self.box = min(self.box, len(self.scene.fluids) - 1)
        return self.scene.fluids[self.box]

    @property
    def selected(self) -> ScenePath | None:
        """Where the chosen object lies now: others may have come or gone before it."""
        if self._path is None or self._chosen is None:
            return None
        try:
            here, count = value_at(self.scene, self._path), len(value_at(self.scene, self._path[:-1]))
        except GpufluidError:
            here, count = None, 0
        thing, scene, among = self._chosen
        if here is not thing:
            known = [(path, each) for path, each, _ in self.objects()]
            known += [(("views", i), shown) for i, shown in enumerate(self.scene.views)]
            path = next((path for path, each in known if each is thing), None)
            anew = self.scene is not scene or count == among  # built anew, or changed to another
            self.select(path or (self._path if here is not None and anew else None))
        return self._path

    def fluid_at(self, path: ScenePath) -> Fluid:
        """The one in which the object at `path` is; lights and views are of several, and it is the first."""
        return self.scene.fluids[int(path[1])] if path[0] == "fluids" else self.scene.fluid

    def select(self, path: ScenePath | None) -> None:
        """Show the fields of what lies at `path`, and choose its box."""
        self._path, self._chosen = path, None
        if path is not None:
            self._chosen = value_at(self.scene, path), self.scene, len(value_at(self.scene, path[:-1]))
            if path[0] == "fluids":
                assert isinstance(path[1], int)
                self.box = path[1]

    def objects(self) -> Iterator[tuple[ScenePath, Any, Fluid]]:
        """Every emitter, obstacle, force and light: its path, itself, and the fluid it is in."""
        for n, fluid in enumerate(self.scene.fluids):
            for name in LISTS:
                for i, thing in enumerate(getattr(fluid, name)):
                    yield ("fluids", n, name, i), thing, fluid
        for i, light in enumerate(self.scene.lights):
            yield ("lights", i), light, self.scene.fluid

    def say(self, text: str) -> None:
        """Tell the user."""
        self.player.say(text)

    def change(self, path: ScenePath, value: Any, words: Any = None) -> bool:
        """Change what lies at `path`; whether that could be. words: see `Change`."""
        return self._could(lambda: self.player.history.change(self.scene, path, value, words))

    def make(self, edit: Edit) -> bool:
        """Do `edit`; whether that could be."""
        return self._could(lambda: self.player.history.make(self.scene, edit))

    def _could(self, work: Callable[[], None]) -> bool:
        """Do `work`, or say why that cannot be; whether it could."""
        try:
            work()
        except GpufluidError as error:
            self.say(str(error))
            return False
        return True

    def add(self, path: ScenePath, thing: Any, told: dict[str, Any] | None = None) -> bool:
        """Add `thing` to the list at `path`, and select it; whether that could be. told: see `Addition`."""
        index = len(value_at(self.scene, path))
        added = self.make(Addition(path, index, thing, told or {}))
        if added:
            self.select((*path, index))
        return added

    def remove(self) -> None:
        """Remove the selected object."""
        if self.selected is not None:
            self.remove_at(self.selected)

    def remove_at(self, at: ScenePath) -> None:
        """Take away what lies at this place of a list."""
        *path, index = at
        assert isinstance(index, int)
        try:
            thing = value_at(self.scene, at)
        except GpufluidError as error:
            self.say(str(error))
            return
        self.make(Removal(tuple(path), index, thing))

    def duplicate(self) -> None:
        """Copy the selected object, beside it, and select the copy."""
        if self.selected is None:
            return
        *path, index = self.selected
        assert isinstance(index, int)
        thing, name = value_at(self.scene, self.selected), self.name_at(self.selected)
        other = beside(thing, self.fluid_at(self.selected))
        called = None if name is None else free_name(self.scene, name)
        if self.make(Duplication(tuple(path), index, called, other)):
            self.select((*path, index + 1))

    def name_at(self, path: ScenePath) -> str | None:
        """What the object at `path` is called; None: nothing."""
        return name_of(self.scene, value_at(self.scene, path))

    def may_rename(self) -> bool:
        """Whether parts of the scene can have other names than they have."""
        if is_script(self.scene):
            self.say(
                "this scene is told by a script, which finds its parts by their names: they cannot be renamed"
            )
            return False
        return True

    def rename(self, path: ScenePath, name: str) -> bool:
        """Call what lies at `path` otherwise; whether it is called so now."""
        before, name = self.name_at(path), name.strip()
        return name == before or self.make(Naming(path, before, name))
