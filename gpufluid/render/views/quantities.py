"""The numbers a view can show, one of every cell, worked out on the GPU; and their extent."""

from __future__ import annotations

import math
from dataclasses import dataclass

import moderngl
import numpy as np

from gpufluid.common.vectors import Pair
from gpufluid.gl.field import Field
from gpufluid.gl.uniforms import give
from gpufluid.render.subject import FlowLike
from gpufluid.render.views.overlay import Overlay


@dataclass(frozen=True)
class Quantity:
    """A number of every cell. number: in quantity.glsl. signed: 0 is its middle, and its colours diverge."""

    number: int
    unit: str
    reads: str
    signed: bool = False


QUANTITIES = {
    "density": Quantity(0, "", "scalars"),
    "temperature": Quantity(1, "", "scalars"),
    "fuel": Quantity(2, "", "scalars"),
    "pressure": Quantity(3, "m²/s²", "pressure", signed=True),
    "divergence": Quantity(4, "1/s", "velocity", signed=True),
    "speed": Quantity(5, "m/s", "velocity"),
    "velocity_x": Quantity(6, "m/s", "velocity", signed=True),
    "velocity_y": Quantity(7, "m/s", "velocity", signed=True),
    "velocity_z": Quantity(8, "m/s", "velocity", signed=True),
    "vorticity": Quantity(9, "1/s", "velocity"),
    "solid": Quantity(10, "", "solid"),
    "flame": Quantity(11, "1/s", "flame"),
}
Range = tuple[float, float]
BESIDE = 2.0**-10  # share of a number by which an axis that shows it alone goes on: single precision tells it


def fields_of(fluid: FlowLike) -> dict[str, Field | None]:
    """The fields of a fluid by the names that shaders know them by."""
    return {
        "velocity": fluid.velocity_field,
        "scalars": fluid.scalars,
        "solid": fluid.solid_field,
        "pressure": fluid.pressure_field,
        "flame": fluid.flame_field,
    }


class QuantityOverlay(Overlay):
    """A view of quantities."""

    def __init__(self, ctx: moderngl.Context, *, linear: bool = False) -> None:
        super().__init__(ctx, linear=linear)
        self._pair = np.zeros(4, np.float32)  # what the extent is read into

    def quantity(self, fluid: FlowLike, name: str) -> Field:
        """Return a field with the quantity of every cell in its first channel; see quantity.glsl."""
        field = self.kept_field("shown", fluid)
        reads = QUANTITIES[name].reads
        read = () if reads == "solid" or fields_of(fluid)[reads] is None else (reads,)
        defines = {"QUANTITY": QUANTITIES[name].number, "FLAME": int(reads == "flame" and bool(read))}
        program = self.program(f"quantity {name}", fluid, "quantity", *read, defines=defines, layout="cell")
        self._fill(field.back_target, program, fields_of(fluid))
        return field

    def extent(self, fluid: FlowLike, shown: Field) -> Range:
        """Return the smallest and the largest number of `shown` in the fluid; (0, 0) where there is none.

        Waits for the GPU: one texel is read back.
        """
        layouts, nx_ny_nz = fluid.layouts, fluid.grid.cells
        before: Field = shown
        for stage, kind in enumerate(("row", "slice", "whole")):
            out = self.kept_field(f"extent of a {kind}", fluid, kind)
            if stage == 0:
                program = self.program(
                    "extent", fluid, "extent", "shown", defines={"STAGE": 0}, layout="row", solids=False
                )
            else:
                program = self.program("extent", fluid, "extent", defines={"STAGE": stage}, solids=False)
                width, height = before.layout.tile
                give(
                    program,
                    {
                        "before_tile": (width, height, before.layout.columns),
                        "before_count": nx_ny_nz[stage],
                        "columns": layouts[kind].columns,
                    },
                )
            given = {"before": before.front} if stage else {}
            self._fill(out.back_target, program, {} if stage else {"shown": shown}, given)
            before = out
        before.front.read_into(self._pair, alignment=1)
        low, high = float(self._pair[0]), float(self._pair[1])
        return (low, high) if low <= high else (0.0, 0.0)

    def range_of(self, fluid: FlowLike, shown: Field, name: str, given: Pair | None) -> Range:
        """Return the range given, or that of the data: round 0 for what is signed, from 0 for the rest.

        It is never empty, nor too short for single precision: where everything is 0 it ends at 1.
        """
        if given is not None:
            low, high = given
            return low, high
        low, high = self.extent(fluid, shown)
        if QUANTITIES[name].signed:
            most = max(-low, high)
            return (-most, most) if most > 0.0 else (-1.0, 1.0)
        low = min(low, 0.0)
        return (low, high) if high > low else (low, low + max(1.0, BESIDE * abs(low)))


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return round numbers in low .. high, 1, 2 or 5 times a power of ten apart: as many as `most` allows."""
    power = 10.0 ** (math.floor(math.log10((high - low) / max(most, 1))) - 1)
    while True:
        for step in (power, 2.0 * power, 5.0 * power):
            first = math.ceil(low / step - 1e-6)
            last = math.floor(high / step + 1e-6)
            if last - first < most:
                return [n * step for n in range(first, last + 1)]
        power *= 10.0


def number_text(value: float, step: float) -> str:
    """Return `value` with as many digits as tell numbers `step` apart."""
    if value == 0.0 or abs(value) < 1e-9 * abs(step):
        return "0"
    if not 1e-3 <= abs(step) < 1e5:
        digits = max(0, math.floor(math.log10(abs(value))) - math.floor(math.log10(abs(step))))
        mantissa, _, power = f"{value:.{digits}e}".partition("e")
        return f"{mantissa}e{int(power)}"
    return f"{value:.{max(0, -math.floor(math.log10(abs(step)) + 1e-9))}f}"
