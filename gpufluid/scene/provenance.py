"""Where a scene comes from: its file, and what that says of its parts where their values do not tell."""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpufluid.common.errors import GpufluidError, script_line
from gpufluid.description.grid import Grid


@dataclass(frozen=True)
class Said:
    """What a description says of a field of `thing`: keyframes, a formula, a file, a turn.

    words: as plain values; None: nothing, since others decide the field. made: the value that this has
    become; None: it changes with time.
    """

    thing: Any  # held, or another object might take its id
    words: Any
    made: Any


@dataclass(frozen=True)
class BoxGrid:
    """What a description says of the grid of a box.

    gpu_cells: those it has on a GPU, if others. on_gpu: whether the scene was built for one.
    """

    grid: Grid
    gpu_cells: tuple[int, int, int] | None
    on_gpu: bool


class Provenance:
    """What a scene knows of the file it was read from, and of what would be written of it.

    file: None where it was read from none. update: that of the scene that does what a description says; None:
    nothing changes with time. places: parts of a description, with where they are in it. grids: of its boxes,
    in their order. told: what that said when it was read or written last, as `gpufluid.scene.saving`
    has it. follow: lets a field, given by its name, of another thing change with time as that of a thing
    does.
    """

    def __init__(self) -> None:
        self.file: Path | None = None
        self.update: Callable[[Any, float], None] | None = None
        self.places: list[tuple[Any, str]] = []
        self.grids: list[BoxGrid] = []
        self.told: Any = None
        self.follow: Callable[[Any, Any, str], None] = lambda thing, other, name: None
        self._said: dict[tuple[int, str], Said] = {}

    def say(self, thing: Any, name: str, words: Any, made: Any) -> None:
        """Note what a description says of field `name` of `thing`; see `Said`."""
        self._said[id(thing), name] = Said(thing, words, made)

    def said(self, thing: Any, name: str) -> Said | None:
        """What a description says of field `name` of `thing`; None where its value tells all."""
        return self._said.get((id(thing), name))

    def all_said(self, thing: Any) -> dict[str, Said]:
        """What a description says of the fields of `thing`, by their names."""
        return {name: said for (number, name), said in self._said.items() if number == id(thing)}

    @property
    def files(self) -> list[Path]:
        """The files beside its own that the description reads: meshes, pictures, arrays."""
        words = (
            said.words
            for (_, name), said in self._said.items()
            if said.made is not None and said.made is getattr(said.thing, name, None)
        )
        named = (one["file"] for one in words if isinstance(one, dict) and "file" in one)
        return [] if self.file is None else [self.file.parent / name for name in dict.fromkeys(named)]

    def hand_over(self, thing: Any, other: Any, part: str = "") -> None:
        """Say the same of `other` as of `thing`, which is going to be replaced.

        part: what its fields' names begin with where it is a part of `other`, as in "left.".
        """
        for name, said in self.all_said(thing).items():
            self.say(other, part + name, said.words, said.made)

    def copy(self, thing: Any, other: Any, names: Container[str]) -> None:
        """Say of fields `names` of `other`, which was made with those of `thing`, what is said of these."""
        for name, said in self.all_said(thing).items():
            if name not in names:
                continue
            if said.made is None or said.made is getattr(thing, name):
                self.say(other, name, said.words, None if said.made is None else getattr(other, name))
                self.follow(thing, other, name)

    def place_of(self, error: Exception, time: float) -> str:
        """Which part of the file is to blame for `error`, and the `time` it came at, s; else ""."""
        if self.file is not None and self.file.suffix.lower() == ".py":
            return script_line(self.file, error)
        for thing, place in self.places:
            try:
                getattr(thing, "check", lambda: None)()
            except GpufluidError as wrong:
                if str(wrong) == str(error):
                    return f"{place} at {time:.4g} s" if time else place
        return ""
