"""What can be drawn over the smoke or in its place, and how the smoke itself: whatever this package has.

A view is listed where its class is there. It has ``render(fluid, camera, target, depth)``, or, where it fills
the picture, ``render(fluid, target)``; and, where it moves with the flow, ``advance(fluid, dt)``.
"""

from __future__ import annotations

import copy
import dataclasses
import inspect
import typing
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import moderngl
import numpy as np

import gpufluid
from gpufluid.app.studio_fields import CHOICES, Item, item_of
from gpufluid.errors import GpufluidError
from gpufluid.fluid import Fluid
from gpufluid.render.frame import FrameRenderer
from gpufluid.render.volume import VolumeRenderer
from gpufluid.scene import Scene
from gpufluid.shapes import Analytic
from gpufluid.view import Picture

SEEDS = 4  # along each edge of the box, of lines


def _made(name: str) -> Any:
    """The package's own `name`; raises AttributeError where it has none."""
    return getattr(gpufluid, name)


def _lines(ctx: moderngl.Context, scene: Scene, name: str) -> Any:
    """Lines from seeds all over the lower half of the box."""
    grid = scene.fluid.grid
    low, size = np.array(grid.origin), np.array(grid.size)
    deep = 1 if grid.dimensions == 2 else SEEDS
    x, y, z = np.meshgrid(
        *((np.arange(n) + 0.5) / n for n in (SEEDS, SEEDS if deep == 1 else 3, deep)), indexing="ij"
    )
    points = low + np.stack([x.ravel(), (0.5 if deep > 1 else 1.0) * y.ravel(), z.ravel()], axis=1) * size
    return _made(name)(ctx, points)


def _particles(ctx: moderngl.Context, scene: Scene) -> Any:
    """Particles from every emitter that can send them out, or from a ball in the middle."""
    sources: list[Any] = [e for e in scene.fluid.emitters if isinstance(e.shape, Analytic)]
    if not sources:
        grid = scene.fluid.grid
        x, y, z = (0.5 * (a + b) for a, b in zip(grid.origin, grid.upper, strict=True))
        sources = [gpufluid.Sphere((x, y, z), 0.2 * min(grid.size))]
    return _made("Particles")(ctx, 20_000, sources)


@dataclass(frozen=True)
class Way:
    """A view that can be chosen. name: of its class in the package. make: builds one for a scene."""

    label: str
    name: str
    make: Callable[[moderngl.Context, Scene], Any]


WAYS = (
    Way("Slice", "SlicePlane", lambda ctx, scene: _made("SlicePlane")(ctx)),
    Way("Arrows", "Glyphs", lambda ctx, scene: _made("Glyphs")(ctx)),
    Way("Streamlines", "Streamlines", lambda ctx, scene: _lines(ctx, scene, "Streamlines")),
    Way("Streak lines", "StreakLines", lambda ctx, scene: _lines(ctx, scene, "StreakLines")),
    Way("Particles", "Particles", _particles),
    Way("Surface", "IsoSurface", lambda ctx, scene: _made("IsoSurface")(ctx)),
    Way("Voxels", "VoxelView", lambda ctx, scene: _made("VoxelView")(ctx)),
    Way("Histogram", "HistogramView", lambda ctx, scene: _made("HistogramView")(ctx)),
    Way("Flat texture", "FlatTextureView", lambda ctx, scene: _made("FlatTextureView")(ctx)),
)


def ways(all_ways: tuple[Way, ...] = WAYS) -> tuple[Way, ...]:
    """Those of `all_ways` whose class this package has."""
    return tuple(way for way in all_ways if hasattr(gpufluid, way.name))


@dataclass
class FlowView:
    """A view in use. box: the number of the fluid that it shows."""

    way: Way
    view: Any
    box: int = 0
    items: tuple[Item, ...] = field(default=())

    def __post_init__(self) -> None:
        items = parameters(type(self.view))
        self.items = tuple(i for i in items if hasattr(self.view, i.name) and _settable(self.view, i.name))

    @classmethod
    def of(cls, way: Way, ctx: moderngl.Context, scene: Scene, box: int) -> FlowView:
        """A view of one box of `scene`. Raises GpufluidError as the view does."""
        alone = copy.copy(scene)
        alone.fluid, alone.others = scene.fluids[box], ()
        return cls(way, way.make(ctx, alone), box)

    def fluid(self, scene: Scene) -> Fluid:
        """What it shows of `scene`."""
        return scene.fluids[min(self.box, len(scene.fluids) - 1)]

    def draw(self, scene: Scene, renderer: FrameRenderer) -> None:
        """Draw it over the picture. Raises GpufluidError as the view does."""
        needed = len(inspect.signature(self.view.render).parameters)
        if needed <= 2:
            self.view.render(self.fluid(scene), renderer.shown)
        else:
            self.view.render(self.fluid(scene), scene.camera, renderer.shown, renderer.depth)

    def advance(self, scene: Scene) -> None:
        """Move it with the flow, where it moves."""
        if hasattr(self.view, "advance"):
            self.view.advance(self.fluid(scene), scene.dt)

    def again(self, ctx: moderngl.Context, scene: Scene) -> FlowView:
        """The same for another scene, with the same values."""
        made = FlowView.of(self.way, ctx, scene, min(self.box, len(scene.fluids) - 1))
        for item in self.items:
            setattr(made.view, item.name, getattr(self.view, item.name))
        self.view.release()
        return made

    def put(self, name: str, value: Any) -> None:
        """Set one of its values. Raises GpufluidError for one that cannot be, and keeps the one before."""
        before = getattr(self.view, name)
        try:
            setattr(self.view, name, value)
            if hasattr(self.view, "check"):
                self.view.check()
        except GpufluidError:
            setattr(self.view, name, before)
            raise


def _settable(view: Any, name: str) -> bool:
    found = getattr(type(view), name, None)
    return not isinstance(found, property) or found.fset is not None


def parameters(kind: type) -> tuple[Item, ...]:
    """What the constructor of a view or renderer takes beside its context, as it can be shown."""
    init: Any = kind.__init__  # type: ignore[misc]  # the class is what is looked at
    try:
        hints = typing.get_type_hints(init)
    except NameError:
        return ()
    found = []
    for name, parameter in list(inspect.signature(init).parameters.items())[2:]:
        if name in ("linear", "seeds", "sources", "count", "points", "seed", "range", "point", "normal"):
            continue
        default = None if parameter.default is inspect.Parameter.empty else parameter.default
        CHOICES.setdefault(f"{kind.__name__}.{name}", _choices(kind, name))
        item = item_of(kind.__name__, name, hints.get(name), default)
        if item is not None and (item.kind != "text" or item.choices):
            found.append(item)
    return tuple(found)


def _choices(kind: type, name: str) -> tuple[Any, ...]:
    """The words that parameter `name` may be, as far as the package tells."""
    module = inspect.getmodule(kind)
    fixed = {"axis": ("x", "y", "z"), "style": ("wires", "cubes", None), "unit": ("pixels", "metres")}
    fixed |= {"blend": ("additive", "alpha")}
    if name == "axis" and kind.__name__ == "Glyphs":
        return (None, *fixed["axis"])
    if name == "field" or (name == "color" and kind.__name__ == "Particles"):
        try:
            known = tuple(import_module("gpufluid.render.quantities").QUANTITIES)
        except (ImportError, AttributeError):
            known = ()
        return known if name == "field" else ("source", *known)
    constants = {"attenuation": "ATTENUATIONS", "method": "METHODS", "resolution": "RESOLUTIONS"}
    if name in constants:
        return tuple(getattr(module, constants[name], ()))
    return fixed.get(name, ())


def renderer_items() -> tuple[Item, ...]:
    """What the renderer of the smoke can be set to beside what a Picture says."""
    known = {part.name for part in dataclasses.fields(Picture)}
    return tuple(item for item in parameters(VolumeRenderer) if item.name not in known)
