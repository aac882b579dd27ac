"""Emitters and forces of the user as they were at some moment, and the fields of cells that they fill."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, NamedTuple, TypeVar
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from gpufluid.contract.backend import Backend, FieldStore
from gpufluid.description.sources import Emitter
from gpufluid.description.user_forces import Force, ForceExpression

Thing = TypeVar("Thing", bound="Emitter | Force")


def as_now(thing: Thing) -> Thing:
    """A copy of an emitter or force that stays what it is now."""
    if isinstance(thing, ForceExpression):  # frozen
        return thing
    same = copy(thing)
    if isinstance(same, Emitter) and same.rotation is not None:
        same.rotation = np.array(same.rotation, np.float64)
    return same


class Copies:
    """Emitters and forces as they were at some moment, and which of the user's each is a copy of.

    A copy is known as long as somebody holds it.
    """

    def __init__(self) -> None:
        # by the identity of the copy: a class of the user's may be one that cannot be hashed
        self._originals: dict[int, Emitter | Force] = {}

    def take(self, thing: Thing) -> Thing:
        """Copy `thing` as it is now."""
        same = as_now(thing)
        if same is not thing:
            self._originals[id(same)] = self.original(thing)
            finalize(same, self._originals.pop, id(same)).atexit = False
        return same

    def original(self, thing: Emitter | Force) -> Emitter | Force:
        """What `thing` is a copy of, or itself."""
        return self._originals.get(id(thing), thing)


class _Filled(NamedTuple):
    """A field that `thing` has filled, while it was in `state`."""

    thing: Emitter | Force  # held, so that its identity stays its own
    state: tuple[Any, ...]
    field: FieldStore


class KeptFields:
    """Fields of cells that things of the user fill: one each, written anew when its thing has changed.

    copies: of things; one has the field of what it is a copy of.
    """

    def __init__(self, backend: Backend, copies: Copies, name: str, components: int) -> None:
        self.backend, self.copies, self.name, self.components = backend, copies, name, components
        self._kept: dict[int, _Filled] = {}  # by the identity of the user's own thing

    def keep(self, things: Sequence[Emitter | Force]) -> None:
        """Release the fields of all but `things`."""
        if self._kept:
            for key in self._kept.keys() - {id(self.copies.original(thing)) for thing in things}:
                self._kept.pop(key).field.release()

    def of(
        self, thing: Emitter | Force, state: tuple[Any, ...], make: Callable[[], NDArray[Any]]
    ) -> FieldStore:
        """The field of `thing`, holding what `make` returns, which is called when `state` has changed."""
        thing = self.copies.original(thing)
        kept = self._kept.get(id(thing))
        if kept is None or kept.state != state:
            values, field = make(), None if kept is None else kept.field
            if field is None:
                field = self.backend.field(self.name, "cell", self.components, buffers=1)
            field.write(values)
            kept = self._kept[id(thing)] = _Filled(thing, state, field)
        return kept.field

    def release(self) -> None:
        """Release all."""
        self.keep(())
