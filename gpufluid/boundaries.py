"""What the six sides of the box are."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from gpufluid.errors import GpufluidError
from gpufluid.grid import finite_number, finite_triple

SIDES = ("left", "right", "bottom", "top", "back", "front")  # x-, x+, y-, y+, z-, z+


@dataclass(frozen=True)
class Wall:
    """A solid side: nothing flows through it.

    slip: "no" (the fluid at the wall moves with it) or "free" (it glides without friction).
    velocity: of the wall, along its own plane, m/s: a moving lid. Only a no-slip wall drags the fluid.
    temperature: of the wall, conducted into the fluid by `Settings.thermal_diffusivity`; None insulates.
    """

    slip: str = "no"
    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    temperature: float | None = None

    def __post_init__(self) -> None:
        if self.slip not in ("no", "free"):
            raise GpufluidError(f'Wall.slip must be "no" or "free", got {self.slip!r}')
        object.__setattr__(self, "velocity", finite_triple(self.velocity, "Wall.velocity"))
        if self.temperature is not None:
            object.__setattr__(self, "temperature", finite_number(self.temperature, "Wall.temperature"))


@dataclass(frozen=True)
class Boundaries:
    """The sides of the box: left, right (x), bottom, top (y), back, front (z). Default: no-slip walls.

    In a grid one cell deep back and front are ignored. Raises GpufluidError where a wall's velocity
    points through the wall: the box is closed and its size fixed.
    """

    left: Wall = field(default_factory=Wall)
    right: Wall = field(default_factory=Wall)
    bottom: Wall = field(default_factory=Wall)
    top: Wall = field(default_factory=Wall)
    back: Wall = field(default_factory=Wall)
    front: Wall = field(default_factory=Wall)

    def __post_init__(self) -> None:
        for i, part in enumerate(fields(self)):
            side = getattr(self, part.name)
            if not isinstance(side, Wall):
                raise GpufluidError(f"Boundaries.{part.name} must be a gf.Wall, got {side!r}")
            if side.velocity[i // 2]:
                raise GpufluidError(
                    f"Boundaries.{part.name}: the wall's velocity {side.velocity} must lie in its plane "
                    f"({'xyz'[i // 2]} must be 0)"
                )

    @property
    def sides(self) -> tuple[Wall, Wall, Wall, Wall, Wall, Wall]:
        """The six sides in the order x-, x+, y-, y+, z-, z+."""
        return self.left, self.right, self.bottom, self.top, self.back, self.front

    @classmethod
    def all(cls, side: Wall) -> Boundaries:
        """The same side all round."""
        return cls(side, side, side, side, side, side)
