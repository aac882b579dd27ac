"""Smoke of red, green and blue densities, which the kernels of the scalars carry."""

from __future__ import annotations

from gpufluid.contract.backend import Backend, FieldStore, release
from gpufluid.contract.kernels import Variant
from gpufluid.description.boundaries import Boundaries, Inflow, Side, Wall

CLEAR = [0.0, 0.0, 0.0, 1.0]


class Colors:
    """The coloured densities of a fluid; nothing is held and no pass runs before `prepare`.

    field: cells: red, green, blue, and 1 in the fluid, 0 in all channels of a solid; or None. boundaries: the
    sides of the box as colours see them: what comes in is clear, and no wall has a temperature.
    """

    def __init__(self, backend: Backend, boundaries: Boundaries) -> None:
        self.backend = backend
        self.field: FieldStore | None = None
        self.use_sides(boundaries)

    def use_sides(self, boundaries: Boundaries) -> None:
        """Go on in a box with these sides."""
        self.boundaries = Boundaries(*map(_plain, boundaries.sides), changing=boundaries.changing)

    def prepare(self, variant: Variant, scalars: FieldStore | None) -> FieldStore:
        """Return the field, made where there is none yet.

        scalars: these tell fluid from solids, and not what is voxelized now, which may be where somebody has
            looked at obstacles since the last step; None: all is fluid.
        """
        if self.field is None:
            self.field = self.backend.field("colors", "cell")
            self.clear(variant, scalars)
        return self.field

    def clear(self, variant: Variant, scalars: FieldStore | None) -> None:
        """Take all colour away. scalars: as of `prepare`."""
        if self.field is not None:
            self.field.fill(CLEAR)
            if scalars is not None:
                self.backend.kernel("clear_colors", variant)(colors=self.field, scalars=scalars)

    def release(self) -> None:
        """Release the field."""
        release(self.field)
        self.field = None


def _plain(side: Side) -> Side:
    """`side` as a wall without a temperature or an inflow without smoke."""
    if isinstance(side, Inflow):
        return Inflow(side.velocity)
    return Wall(side.slip, side.velocity) if isinstance(side, Wall) else side
