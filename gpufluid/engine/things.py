"""What is in a fluid: its emitters, obstacles and forces, as lists that check what is added to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

from gpufluid.common.checks import whole_number
from gpufluid.common.errors import GpufluidError, short
from gpufluid.description.obstacles import Obstacle, Shape
from gpufluid.description.sources import Emitter, Source
from gpufluid.description.user_forces import Force
from gpufluid.description.view import Light, PointLight

WAYS = "add(thing), insert(index, thing), remove(thing) and clear()"
Thing = TypeVar("Thing", Emitter, Obstacle, Force)


class Things(Generic[Thing]):
    """The emitters, obstacles or forces of a fluid, in the order they were added."""

    def __init__(self, kind: Any, check: Callable[[Thing], None]) -> None:
        self._kind = kind
        self._check: Callable[[Thing], None] = check
        self._things: list[Thing] = []

    def add(self, thing: Thing) -> Thing:
        """Add `thing` and return it; it may be changed at any time.

        Raises GpufluidError for bad ones, and for one that is there already: it would count twice.
        """
        if not isinstance(thing, self._kind):
            raise GpufluidError(
                f"expected {_names(self._kind)}, got {short(repr(thing))}{_meant(self._kind, thing)}"
            )
        if self._holds(thing):
            raise GpufluidError(
                f"this {type(thing).__name__} is in the fluid already: make another one for two"
            )
        added: Thing = thing
        added.check()
        self._check(added)
        self._things.append(added)
        return added

    def insert(self, index: int, thing: Thing) -> Thing:
        """Add `thing` as `add` does, before the one at `index`; raises GpufluidError for what is no index."""
        index = whole_number(index, "index")
        self.add(thing)
        self._things.insert(index, self._things.pop())
        return thing

    def remove(self, thing: Thing) -> None:
        """Remove `thing`; raises GpufluidError if it was never added."""
        if not self._holds(thing):
            raise GpufluidError(f"this {type(thing).__name__} is not in the fluid")
        self._things.remove(thing)

    def _holds(self, thing: object) -> bool:
        """Whether the very `thing` is here; what it is may not even compare to others, as arrays do not."""
        return any(thing is one for one in self._things)

    def clear(self) -> None:
        """Remove all of them."""
        self._things.clear()

    def __iter__(self) -> Iterator[Thing]:
        return iter(self._things)

    def __repr__(self) -> str:
        return repr(self._things)

    def __len__(self) -> int:
        return len(self._things)

    def __getitem__(self, index: int) -> Thing:
        return self._things[index]

    if not TYPE_CHECKING:  # a type checker would let every name pass, and all that raises here

        def __setitem__(self, index: object, thing: object) -> NoReturn:
            """Raise GpufluidError: what takes its place is added, and checked."""
            raise GpufluidError(f"{_names(self._kind)} comes there by {WAYS}")

        def __delitem__(self, index: object) -> NoReturn:
            """Raise GpufluidError: what goes is named."""
            raise GpufluidError(f"{_names(self._kind)} goes by remove(thing) or clear()")

        def __add__(self, more: object) -> NoReturn:
            """Raise GpufluidError, for += as well."""
            raise GpufluidError(f"{_names(self._kind)} comes there by {WAYS}")

        def __getattr__(self, name: str) -> NoReturn:
            told = f"{type(self).__name__!r} object has no attribute {name!r}"
            if hasattr(list, name) and not name.startswith("_"):
                told = f"there is no {name!r} here; {_names(self._kind)} comes and goes by {WAYS}"
            raise AttributeError(told, name=name, obj=self)  # by which Python names the nearest


def _meant(kind: Any, thing: object) -> str:
    """How a `thing` that is none of this `kind` was meant, as "; did you mean ...?", or ""."""
    if isinstance(thing, type) and issubclass(thing, kind):
        return f"; did you mean an object of it, gf.{thing.__name__}(...)?"
    if kind is Emitter and isinstance(thing, Source):
        return "; did you mean gf.Emitter(shape, density=...)?"
    if kind is Obstacle and isinstance(thing, Shape):
        return "; did you mean gf.Obstacle(shape)?"
    if isinstance(thing, list | tuple | Things) and any(isinstance(one, kind) for one in thing):
        return "; did you mean to add them one by one?"
    if isinstance(thing, Light | PointLight):
        lit = "light=..." if isinstance(thing, Light) else "lights=[...]"
        return f"; did you mean gf.Scene(fluid, {lit})?"
    others: dict[str, Any] = {"emitters": Emitter, "obstacles": Obstacle, "forces": Force}
    places = [name for name, other in others.items() if isinstance(thing, other)]
    return f"; did you mean fluid.{places[0]}.add?" if places else ""


def _names(kind: Any) -> str:
    names = [f"gf.{one.__name__}" for one in getattr(kind, "__args__", (kind,))]
    return "a " + (names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}")
