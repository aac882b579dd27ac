"""What the studio edits: the scene that is played, and what is chosen in it. No widgets in here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from gpufluid.app.edits import LISTS, Addition, Edit, Path, Removal, value_at
from gpufluid.errors import GpufluidError
from gpufluid.fluid import Fluid
from gpufluid.scene import Scene

if TYPE_CHECKING:
    from gpufluid.app.window import Player


class Editor:
    """Changes a player's scene so that it can be undone; where something cannot be, it says why.

    selected: the path of the object whose fields are shown. box: the number of the fluid that new objects,
    views and another grid are for.
    """

    def __init__(self, player: Player) -> None:
        self.player = player
        self.selected: Path | None = None
        self.box = 0

    @property
    def scene(self) -> Scene:
        """What is played."""
        return self.player.scene

    @property
    def fluid(self) -> Fluid:
        """What is in the chosen box."""
        self.box = min(self.box, len(self.scene.fluids) - 1)
        return self.scene.fluids[self.box]

    def select(self, path: Path | None) -> None:
        """Show the fields of what lies at `path`, and choose its box."""
        self.selected = path
        if path is not None and path[0] == "fluids":
            assert isinstance(path[1], int)
            self.box = path[1]

    def objects(self) -> Iterator[tuple[Path, Any, Fluid]]:
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

    def change(self, path: Path, value: Any) -> None:
        """Change what lies at `path`."""
        try:
            self.player.history.change(self.scene, path, value)
        except GpufluidError as error:
            self.say(str(error))

    def make(self, edit: Edit) -> bool:
        """Do `edit`; whether that could be."""
        try:
            self.player.history.make(self.scene, edit)
        except GpufluidError as error:
            self.say(str(error))
            return False
        return True

    def add(self, path: Path, thing: Any, told: dict[str, Any] | None = None) -> bool:
        """Add `thing` to the list at `path`, and select it; whether that could be. told: see `Addition`."""
        index = len(value_at(self.scene, path))
        added = self.make(Addition(path, index, thing, told or {}))
        if added:
            self.select((*path, index))
        return added

    def remove(self) -> None:
        """Take the selected object away."""
        if self.selected is not None:
            self.remove_at(self.selected)
        self.selected = None

    def remove_at(self, at: Path) -> None:
        """Take away what lies at this place of a list."""
        *path, index = at
        assert isinstance(index, int)
        try:
            thing = value_at(self.scene, at)
        except GpufluidError as error:
            self.say(str(error))
            return
        self.make(Removal(tuple(path), index, thing))
