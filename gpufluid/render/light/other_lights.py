"""The lights beside the sun: up to four, from afar or in one place, and how much of them is left where."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from gpufluid.common.vectors import Floats, Vector
from gpufluid.contract.layout import FlatLayout
from gpufluid.description.grid import Grid
from gpufluid.description.view import Light, PointLight, Smoke, SpotLight
from gpufluid.gl.device import Device
from gpufluid.gl.fences import draw_to
from gpufluid.gl.field import Field
from gpufluid.gl.uniforms import give
from gpufluid.render.fading import fading
from gpufluid.render.occupancy import Occupancy
from gpufluid.render.subject import FluidLike
from gpufluid.render.volume_source import Program, bind, matter, volume_program

SHARP = 1e-3  # of the cone, over which its edge fades at least


@dataclass(frozen=True)
class Rows:
    """Lights as their shader takes them, float32 [n, 4] each; see other_lights.glsl."""

    places: NDArray[np.float32]
    colors: NDArray[np.float32]
    cones: NDArray[np.float32]


def rows_of(lights: Sequence[Light | PointLight], grid: Grid) -> Rows:
    """The lights in cells of `grid`."""
    places, colors, cones = np.zeros((3, len(lights), 4), np.float32)
    cones[:, 3] = 1.0  # everywhere
    for place, color, cone, light in zip(places, colors, cones, lights, strict=True):
        color[:3] = light.color
        if isinstance(light, PointLight):
            place[:3] = (np.array(light.position) - grid.origin) / grid.cell_size
            place[3], color[3] = 1.0, light.radius**2
            if isinstance(light, SpotLight):
                cone[:] = cone_of(light)
        else:
            place[:3] = unit(light.direction)
    return Rows(places, colors, cones)


def cone_of(light: SpotLight) -> Floats:
    """(x, y, z, w): the first three times a way from it, of length 1, + w is 0 where the cone ends, 1 where
    its light is full.
    """
    half = math.radians(0.5 * light.angle)
    outer, inner = math.cos(half), math.cos(half * (1.0 - light.softness))
    steepness = 1.0 / max(inner - outer, SHARP * (1.0 - outer))
    return np.array([*(steepness * unit(light.direction)), -steepness * outer])


def unit(way: Vector) -> Floats:
    """`way` with length 1, however long it is."""
    scaled: Floats = np.array(way, np.float64) / np.abs(way).max()
    return scaled / float(np.linalg.norm(scaled))


class OtherLights:
    """The share of each light that is left in every place of the box of a fluid, a light a channel.

    In cells of twice the size, which stay in the world when the box moves on. roomy: have room for those that
    then lie half before it, as a box that has moved needs it.
    """

    def __init__(self, device: Device, grid: Grid, roomy: bool = False) -> None:
        self.device = device
        nx, ny, nz = (-(-(n + roomy) // 2) for n in grid.cells)
        self.field = Field(device, "others", FlatLayout((nx, ny, nz), 1, device.max_texture_size), 4, "f4", 1)

    def update(
        self,
        fluid: FluidLike,
        lights: Sequence[Light | PointLight],
        smoke: Smoke,
        occupancy: Occupancy | None = None,
        past_solids: bool = False,
    ) -> None:
        """Walk from every place to every light, through the fluid as it is now; at least one light.

        occupancy: where there is anything that stops light; None: perhaps everywhere. past_solids: solids let
        all light by.
        """
        fades, values = fading(fluid, smoke)
        program = volume_program(
            self.device,
            fluid,
            "other lights",
            "render/other_layer.glsl",
            defines={
                "OTHERS": len(lights),
                "ENDS": int(occupancy is not None),
                "LAMPS_SHADOWED": int(past_solids),
                **fades,
            },
            volumes={"others": self.field.layout},
        )
        self.place(program, fluid, lights)
        give(program, values)
        if occupancy is not None:
            occupancy.give_ends(program)
        self.device.ctx.enable_only(moderngl.NOTHING)
        draw_to(self.field.back_target)
        with bind(self.device, program, **matter(fluid)):
            self.device.cover(program)

    def place(self, program: Program, fluid: FluidLike, lights: Sequence[Light | PointLight]) -> None:
        """Tell `program` where the lights are, seen from the box of `fluid`, and how that lies."""
        rows = rows_of(lights, fluid.grid)
        values = {
            "others_lag": tuple(n % 2 for n in fluid.scrolled),
            "other_places": rows.places.tobytes(),
            "other_colors": rows.colors.tobytes(),
            "other_cones": rows.cones.tobytes(),
        }
        give(program, values)

    def told(
        self, prefix: str, grid: Grid, scrolled: Iterable[int], lights: Sequence[Light | PointLight]
    ) -> dict[str, Any]:
        """What tells ``host/light.glsl`` where the lights are, and how what is left of them lies."""
        places = np.zeros((4, 4), np.float32)
        places[: len(lights)] = rows_of(lights, grid).places
        return {
            f"{prefix}_lamps_extent": self.field.layout.texel_grid,
            f"{prefix}_lamps_tiles": (self.field.layout.columns, len(lights)),
            f"{prefix}_lamps_lag": tuple(n % 2 for n in scrolled),
            f"{prefix}_lamp_places": places.tobytes(),
        }

    def release(self) -> None:
        """Release the texture."""
        self.field.release()
