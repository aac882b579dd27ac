"""What the six sides of the box are."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from gpufluid.common import rules
from gpufluid.common.checks import flag
from gpufluid.common.errors import GpufluidError, named, near
from gpufluid.common.vectors import Real, RealOrNone, Triple, Vector
from gpufluid.description.settings import SLIPS

SIDES = ("left", "right", "bottom", "top", "back", "front")  # x-, x+, y-, y+, z-, z+


@named
@dataclass(frozen=True)
class Wall(rules.Ruled):
    """A solid side, through which nothing flows.

    slip: "no" (fluid at the wall moves with it) or "free" (it glides along without friction). velocity: of
    the wall, along its own plane, m/s, as of a moving lid. Only a no-slip wall drags the fluid along.
    temperature: of the wall, conducted into the fluid by `Settings.thermal_diffusivity`; None insulates.

    Raises GpufluidError naming the field and its limit.
    """

    slip: str = rules.choice("no", *SLIPS)
    velocity: Vector = rules.vector((0.0, 0.0, 0.0))
    temperature: RealOrNone = rules.number(None)


@named
@dataclass(frozen=True)
class Open:
    """A side through which fluid leaves and enters freely: the pressure on it is 0.

    What comes in is clean, at the ambient temperature, and was at rest.
    """


@named
@dataclass(frozen=True)
class Inflow(rules.Ruled):
    """A side through which fluid is driven, in or out.

    velocity: of what comes in, or is drawn out, m/s. density, temperature: of what comes in; a temperature of
    None is the ambient one.

    Raises GpufluidError naming the field and its limit.
    """

    velocity: Vector = field(metadata=rules.VECTOR)
    density: Real = rules.number(0.0, low=0.0)
    temperature: RealOrNone = rules.number(None)


@named
@dataclass(frozen=True)
class Periodic:
    """A side joined to the opposite one, which must be periodic too: what leaves there comes in here.

    The same goes for emitters and obstacles that reach across it, and for forces with a center: their
    positions count modulo the box.
    """


Side = Wall | Open | Inflow | Periodic


@named
@dataclass(frozen=True)
class Boundaries:
    """The six sides of the box; by default no-slip walls.

    left, right: the low and high side along x. bottom, top: along y. back, front: along z. changing: their
    velocities, temperatures and densities are going to change, see `Fluid.boundaries`; those that do not are
    constants to a compiler.

    In a grid one cell deep, back and front are ignored. Raises GpufluidError for what is not a side, for a
    wall whose velocity points through it, and if only one side of an axis is periodic.
    """

    left: Side = field(default_factory=Wall)
    right: Side = field(default_factory=Wall)
    bottom: Side = field(default_factory=Wall)
    top: Side = field(default_factory=Wall)
    back: Side = field(default_factory=Wall)
    front: Side = field(default_factory=Wall)
    changing: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "changing", flag(self.changing, "Boundaries.changing"))
        for i, (name, side) in enumerate(zip(SIDES, self.sides, strict=True)):
            if not isinstance(side, Side):
                written = getattr(side, "__name__", str(side)).title()
                sides = [f"gf.{kind.__name__}()" for kind in Side.__args__]
                hint = near(f"gf.{written}()", sides) if isinstance(side, str | type) else ""
                raise GpufluidError(
                    f"Boundaries.{name} must be a gf.Wall, Open, Inflow or Periodic, got {side!r}{hint}"
                )
            if isinstance(side, Wall) and side.velocity[i // 2]:
                raise GpufluidError(
                    f"Boundaries.{name}: the wall's velocity {side.velocity} must lie in its plane "
                    f"({'xyz'[i // 2]} must be 0)"
                )
        for low, high in (("left", "right"), ("bottom", "top"), ("back", "front")):
            pair = getattr(self, low), getattr(self, high)
            if isinstance(pair[0], Periodic) != isinstance(pair[1], Periodic):
                raise GpufluidError(
                    f"Boundaries.{low} and .{high} must both be gf.Periodic() or neither, got {pair}"
                )

    @cached_property
    def _hash(self) -> int:
        return hash((self.sides, self.changing))

    def __hash__(self) -> int:
        return self._hash  # the kernels of every pass are looked up by it

    def but(self, **sides: Any) -> Boundaries:
        """Return these boundaries with other `sides`, by name: ``but(left=gf.Inflow((2.0, 0.0, 0.0)))``.

        Raises GpufluidError for a wrong name, and as the constructor does.
        """
        return replace(self, **sides)

    @cached_property
    def form(self) -> Boundaries:
        """What kernels are compiled for: these boundaries, without the numbers of sides that may change."""
        return Boundaries(*map(_bare, self.sides), changing=True) if self.changing else self

    def check_next(self, following: Boundaries) -> None:
        """Raise GpufluidError where a fluid with these boundaries cannot go on with the `following` ones."""
        for name, side, other in zip(SIDES, self.sides, following.sides, strict=True):
            if _bare(side) != _bare(other):
                raise GpufluidError(
                    f"Fluid.boundaries.{name} cannot go from {side} to {other}: only velocities, densities "
                    f"and temperatures can change, not what a side is{_hint(side, other)}; make another Fluid"
                )

    @cached_property
    def sides(self) -> tuple[Side, Side, Side, Side, Side, Side]:
        """The six sides in the order x-, x+, y-, y+, z-, z+."""
        return self.left, self.right, self.bottom, self.top, self.back, self.front

    def periodic(self, axis: int) -> bool:
        """True if the box repeats along `axis`."""
        return isinstance(self.sides[2 * axis], Periodic)

    def open(self, axis: int, high: bool) -> bool:
        """True if the low side of `axis`, or the `high` one, is open."""
        return isinstance(self.sides[2 * axis + high], Open)

    def lets_out(self, axis: int, high: bool) -> bool:
        """True if fluid may leave by the low side of `axis`, or the `high` one: it is open, or draws fluid
        out.
        """
        side = self.sides[2 * axis + high]
        if isinstance(side, Inflow):
            return side.velocity[axis] > 0.0 if high else side.velocity[axis] < 0.0
        return isinstance(side, Open)

    def closed(self, axis: int, high: bool) -> bool:
        """True if the low side of `axis`, or the `high` one, sets its flow: it is a wall or an inflow."""
        return isinstance(self.sides[2 * axis + high], Wall | Inflow)

    def velocity(self, side: int) -> Triple:
        """The velocity, m/s, that `side` (0 .. 5 as in `sides`) gives the fluid if it is closed, else 0."""
        at = self.sides[side]
        u, v, w = at.velocity if isinstance(at, Wall | Inflow) else (0.0, 0.0, 0.0)
        return u, v, w

    def temperature(self, side: int) -> float | None:
        """The temperature that `side` conducts into the fluid; None if it has none or is not a wall."""
        at = self.sides[side]
        return at.temperature if isinstance(at, Wall) else None

    def grips(self, side: int) -> bool:
        """True if the fluid beside `side` moves along with it: a no-slip wall or an inflow."""
        at = self.sides[side]
        return isinstance(at, Inflow) or (isinstance(at, Wall) and at.slip == "no")

    def rest(self, axis: int) -> bool:
        """True if the fluid beside both sides along `axis` is held at rest, and always will be."""
        both = 2 * axis, 2 * axis + 1
        return not self.changing and all(self.grips(i) and not any(self.velocity(i)) for i in both)

    @classmethod
    def all(cls, side: Side) -> Boundaries:
        """Boundaries with the same `side` all round."""
        return cls(side, side, side, side, side, side)


def _bare(side: Side) -> Side:
    """`side` with the numbers that may change at 0: what is left is what it is."""
    if isinstance(side, Inflow):
        return Inflow((0.0, 0.0, 0.0))
    return Wall(side.slip, temperature=side.temperature and 0.0) if isinstance(side, Wall) else side


def _hint(side: Side, other: Side) -> str:
    """What may be meant by a `side` that becomes the `other`."""
    if isinstance(side, Wall) and isinstance(other, Wall) and side.slip == other.slip:
        return " (a wall without a temperature insulates)"
    return " (an inflow may rest: its velocity may be 0)" if Inflow in (type(side), type(other)) else ""
