"""What the six sides of the box are."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cached_property

from gpufluid.checks import finite_number, finite_triple
from gpufluid.errors import GpufluidError, named, near, one_of
from gpufluid.settings import SLIPS

SIDES = ("left", "right", "bottom", "top", "back", "front")  # x-, x+, y-, y+, z-, z+


@named
@dataclass(frozen=True)
class Wall:
    """A solid side, through which nothing flows.

    slip: "no" (fluid at the wall moves with it) or "free" (it glides along without friction). velocity: of
    the wall, along its own plane, m/s, as of a moving lid. Only a no-slip wall drags the fluid along.
    temperature: of the wall, conducted into the fluid by `Settings.thermal_diffusivity`; None insulates.

    Raises GpufluidError naming the field and its limit.
    """

    slip: str = "no"
    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    temperature: float | None = None

    def __post_init__(self) -> None:
        one_of(self.slip, SLIPS, "Wall.slip")
        object.__setattr__(self, "velocity", finite_triple(self.velocity, "Wall.velocity"))
        if self.temperature is not None:
            object.__setattr__(self, "temperature", finite_number(self.temperature, "Wall.temperature"))


@named
@dataclass(frozen=True)
class Open:
    """A side through which fluid leaves and enters freely: the pressure outside is 0.

    What comes in is clean, at the ambient temperature.
    """


@named
@dataclass(frozen=True)
class Inflow:
    """A side through which fluid is driven, in or out.

    velocity: of what comes in, or is drawn out, m/s. density, temperature: of what comes in; a temperature of
    None is the ambient one.

    Raises GpufluidError naming the field and its limit.
    """

    velocity: tuple[float, float, float]
    density: float = 0.0
    temperature: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "velocity", finite_triple(self.velocity, "Inflow.velocity"))
        object.__setattr__(self, "density", finite_number(self.density, "Inflow.density", low=0.0))
        if self.temperature is not None:
            temperature = finite_number(self.temperature, "Inflow.temperature")
            object.__setattr__(self, "temperature", temperature)


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

    left, right: the low and high side along x. bottom, top: along y. back, front: along z.

    In a grid one cell deep, back and front are ignored. Raises GpufluidError for what is not a side, for a
    wall whose velocity points through it, and if only one side of an axis is periodic.
    """

    left: Side = field(default_factory=Wall)
    right: Side = field(default_factory=Wall)
    bottom: Side = field(default_factory=Wall)
    top: Side = field(default_factory=Wall)
    back: Side = field(default_factory=Wall)
    front: Side = field(default_factory=Wall)

    def __post_init__(self) -> None:
        for i, part in enumerate(fields(self)):
            side = getattr(self, part.name)
            if not isinstance(side, Side):
                written = getattr(side, "__name__", str(side)).title()
                sides = [f"gf.{kind.__name__}()" for kind in Side.__args__]
                hint = near(f"gf.{written}()", sides) if isinstance(side, str | type) else ""
                raise GpufluidError(
                    f"Boundaries.{part.name} must be a gf.Wall, Open, Inflow or Periodic, got {side!r}{hint}"
                )
            if isinstance(side, Wall) and side.velocity[i // 2]:
                raise GpufluidError(
                    f"Boundaries.{part.name}: the wall's velocity {side.velocity} must lie in its plane "
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
        return hash(self.sides)

    def __hash__(self) -> int:
        return self._hash  # the kernels of every pass are looked up by it

    @property
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

    def velocity(self, side: int) -> tuple[float, float, float]:
        """The velocity, m/s, that `side` (0 .. 5 as in `sides`) gives the fluid if it is closed, else 0."""
        at = self.sides[side]
        return at.velocity if isinstance(at, Wall | Inflow) else (0.0, 0.0, 0.0)

    def temperature(self, side: int) -> float | None:
        """The temperature that `side` conducts into the fluid; None if it has none or is not a wall."""
        at = self.sides[side]
        return at.temperature if isinstance(at, Wall) else None

    def grips(self, side: int) -> bool:
        """True if the fluid beside `side` moves along with it: a no-slip wall or an inflow."""
        at = self.sides[side]
        return isinstance(at, Inflow) or (isinstance(at, Wall) and at.slip == "no")

    @classmethod
    def all(cls, side: Side) -> Boundaries:
        """Boundaries with the same `side` all round."""
        return cls(side, side, side, side, side, side)
