"""What the view knows of a fluid and of a scene: their public attributes, and no more.

Where an `Obstacle` is named beside its protocol, and where a scene's number or list is Any, it is for pyright
and VS Code: they do not see that fields which are read as floats and lists (`gpufluid.common.vectors`) are
such.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import moderngl
import numpy as np
from numpy.typing import NDArray

from gpufluid.common.errors import GpufluidError
from gpufluid.common.vectors import Triple, Vector
from gpufluid.contract.layout import FlatLayout
from gpufluid.description.boundaries import Boundaries
from gpufluid.description.grid import Grid
from gpufluid.description.obstacles import Obstacle, Shape
from gpufluid.description.view import Camera, Fire, Light, Smoke
from gpufluid.gl.device import Device
from gpufluid.gl.field import Field
from gpufluid.gl.state import another


class ObstacleLike(Protocol):
    """A solid: its shape, and where it stands."""

    @property
    def shape(self) -> Shape: ...

    @property
    def matrix(self) -> NDArray[np.float64]: ...

    @property
    def visible(self) -> bool: ...

    @property
    def color(self) -> Vector | None: ...

    @property
    def gloss(self) -> float: ...

    @property
    def emission(self) -> Vector: ...


class FluidLike(Protocol):
    """A fluid on the GPU.

    scrolled: cells along (x, y, z) that its box has moved on since it was made. spare: cells at its low and
    high ends that are to show nothing where smoke thins out.
    scalars: density, temperature, fuel, 1 in fluid cells. solid_field: 1 inside; None without solids.
    voxelize: bring that up to date.
    color_field: r, g, b densities of coloured smoke; flame_field: burns, 1/s; None where there are none.
    """

    @property
    def grid(self) -> Grid: ...

    @property
    def boundaries(self) -> Boundaries: ...

    @property
    def scrolled(self) -> tuple[int, int, int]: ...

    @property
    def spare(self) -> tuple[Triple, Triple]: ...

    @property
    def ctx(self) -> moderngl.Context | None: ...

    @property
    def device(self) -> Device | None: ...

    @property
    def scalars(self) -> Field: ...

    def voxelize(self) -> None: ...

    @property
    def solid_field(self) -> Field | None: ...

    @property
    def color_field(self) -> Field | None: ...

    @property
    def flame_field(self) -> Field | None: ...

    @property
    def obstacles(self) -> Iterable[Obstacle | ObstacleLike]: ...

    @property
    def layouts(self) -> Mapping[str, FlatLayout]: ...


def lag(fluid: FluidLike) -> tuple[int, int, int]:
    """Cells along (x, y, z) that the box has moved on over the lattices of light and slabs.

    They stay in the world when the box moves, so that the picture does not jump. No more than half a box:
    further off they would run through it when the light or the view turns.
    """
    i, j, k = ((gone + n // 2) % n - n // 2 for gone, n in zip(fluid.scrolled, fluid.grid.cells, strict=True))
    return i, j, k


class FlowLike(FluidLike, Protocol):
    """A fluid whose motion is looked at too. velocity_field: on faces. pressure_field: packed."""

    @property
    def velocity_field(self) -> Field: ...

    @property
    def pressure_field(self) -> Field: ...


def check_context(fluid: FluidLike, ctx: moderngl.Context, by: str) -> None:
    """Raise GpufluidError for a fluid without textures, or in another context than `ctx`, that of `by`."""
    if fluid.ctx is None:
        raise GpufluidError(
            'a fluid with backend="numpy" has no textures to draw: use "fragment", "compute" or "auto"'
        )
    if fluid.ctx is not ctx:
        raise GpufluidError(
            f"the fluid lives in {another(fluid.ctx, ctx)} than {by}: make both with one, "
            "gf.Fluid(..., ctx=ctx)"
        )


class SceneLike(Protocol):
    """A fluid and how it is looked at.

    lights: of `Light` and `PointLight`. views: of `FlowView`. floor: height of the ground, metres, or None.
    live: where the renderer keeps what draws the views. stood: the obstacles as they were a frame ago.
    """

    live: Any

    @property
    def fluid(self) -> FlowLike: ...

    @property
    def others(self) -> Sequence[FlowLike]: ...

    @property
    def stood(self) -> Mapping[Obstacle, Obstacle]: ...

    @property
    def box_names(self) -> Sequence[str]: ...

    @property
    def camera(self) -> Camera: ...

    @property
    def light(self) -> Light: ...

    @property
    def smoke(self) -> Smoke: ...

    @property
    def fire(self) -> Fire | None: ...

    @property
    def lights(self) -> Any: ...

    @property
    def views(self) -> Any: ...

    @property
    def floor(self) -> Any: ...
