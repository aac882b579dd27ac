"""The studio's section of the sides of a box: what each is, and what of it may change while the flow runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gpufluid.app.edits import ScenePath
from gpufluid.app.studio.fields import Item, items_of
from gpufluid.app.studio.rows import Section
from gpufluid.app.studio.ui import imgui
from gpufluid.description.boundaries import SIDES, Side, Wall
from gpufluid.description.grid import AXES


class Sides(Section):
    """The section of the sides of the chosen box."""

    def draw(self) -> None:
        """A row for what each side is, and under it those for its fields."""
        self.rows.box()
        fluid, box = self.editor.fluid, self.editor.box
        for number in range(2 * fluid.grid.dimensions):
            name, side = SIDES[number], fluid.boundaries.sides[number]
            end = "high" if number % 2 else "low"
            told = f"the {end} side along {AXES[number // 2]}. What kind it is cannot change."
            self.rows.begin(name, meaning=told)
            imgui.text(kind_of(side))
            imgui.indent()
            imgui.push_id(name)
            for item in fields_of(side):
                self._field(("fluids", box, "boundaries", name), side, item, number // 2)
            imgui.pop_id()
            imgui.unindent()

    def _field(self, path: ScenePath, side: Side, item: Item, axis: int) -> None:
        """A row for a field of a `side` across `axis`; of a velocity, for the numbers that can be other than
        0: a wall moves along its own plane, and in 2D nothing along z."""
        dimensions = self.editor.fluid.grid.dimensions
        free = [a for a in range(dimensions) if not (isinstance(side, Wall) and a == axis)]
        if item.name != "velocity" or len(free) == 3:
            self.rows.fields(path, side, (item,))
            return
        velocity = list(getattr(side, item.name))
        several = len(free) > 1
        named = replace(
            item,
            name=f"velocity {', '.join(AXES[a] for a in free)}",
            kind="pair" if several else "number",
        )
        before = tuple(velocity[a] for a in free)
        changed, after = self.rows.field(named, before if several else before[0])
        if changed:
            for a, value in zip(free, after if several else (after,), strict=True):
                velocity[a] = value
            self.editor.change((*path, item.name), tuple(velocity))


def kind_of(side: Side) -> str:
    """What a side is, in words."""
    if isinstance(side, Wall):
        return f"{side.slip}-slip wall"
    return type(side).__name__.lower()


def fields_of(side: Side) -> tuple[Item, ...]:
    """The fields of a side that can change, and make a difference."""
    kind: Any = type(side)
    items = items_of(kind)
    if not isinstance(side, Wall):
        return items
    used = {"velocity": side.slip == "no", "temperature": side.temperature is not None}
    # whether a wall has a temperature is part of what it is
    return tuple(replace(item, optional=False) for item in items if used[item.name])
