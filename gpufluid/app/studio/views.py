"""What the studio can show beside the smoke: views, which belong to a scene, and charts, which lie over it.

A chart is the window's own: no scene holds it. It fills the picture, by ``render(fluid, target)``.
"""

from __future__ import annotations

import dataclasses
import inspect
import typing
from typing import Any

import moderngl
import numpy as np

from gpufluid.app.studio.fields import CHOICES, Item, item_of, meaning
from gpufluid.common.errors import GpufluidError
from gpufluid.description.flow_views import (
    FIELDS,
    MAPS,
    FlowView,
    ParticleSource,
    ParticlesView,
    Seeds,
    SolidShape,
    StreakLinesView,
    StreamlinesView,
)
from gpufluid.description.shapes import Sphere
from gpufluid.description.view import Picture
from gpufluid.engine.fluid import Fluid
from gpufluid.render.frame import FrameRenderer
from gpufluid.render.light.light_volume import ATTENUATIONS
from gpufluid.render.views.histogram_view import HistogramView
from gpufluid.render.views.texture_view import FlatTextureView
from gpufluid.render.volume import VolumeRenderer
from gpufluid.scene.scene import Scene
from gpufluid.scene.schema import VIEW_KINDS

SEEDS = 4  # along each edge of the box, of lines


def view_for(kind: str, fluid: Fluid, box: str | None = None) -> FlowView:
    """A view of VIEW_KINDS to begin with, of `fluid`, whose box is called so; None: it is the only one."""
    grid = fluid.grid
    low, size, flat = np.array(grid.origin), np.array(grid.size), grid.dimensions == 2
    made: FlowView
    if kind == "particles":
        some = any(isinstance(emitter.shape, SolidShape) for emitter in fluid.emitters)
        x, y, z = (low + 0.5 * size).tolist()
        ball = ParticleSource(Sphere((x, y, z), 0.2 * float(size[: grid.dimensions].min())))
        made = ParticlesView(20_000, () if some else [ball])
    elif kind in ("streamlines", "streak-lines"):  # from the lower half of the box, in 2D from all of it
        counts = (SEEDS, SEEDS, 1) if flat else (SEEDS, SEEDS - 1, SEEDS)
        part = np.array([1.0, 1.0 if flat else 0.5, 1.0]) * size
        edge = 0.5 * part / counts
        seeds = Seeds(tuple((low + edge).tolist()), tuple((low + part - edge).tolist()), counts)
        made = StreamlinesView(seeds) if kind == "streamlines" else StreakLinesView(seeds)
    else:
        made = VIEW_KINDS[kind]()
    made.box = box
    return made


CHARTS = {"Histogram": HistogramView, "Flat texture": FlatTextureView}
CHARTS_TOLD = {
    "Histogram": "Over the picture: how many cells have which value; in this window only",
    "Flat texture": "Over the picture: a field slice by slice, as it lies in memory; in this window only",
}


class Shown:
    """One of CHARTS in use, of fluid number `box`. items: what can be set of it. Raises as the chart does."""

    def __init__(self, name: str, ctx: moderngl.Context, box: int) -> None:
        self.name, self.box = name, box
        self.view: Any = CHARTS[name](ctx)
        items = parameters(type(self.view))
        self.items = tuple(i for i in items if hasattr(self.view, i.name) and _settable(self.view, i.name))

    def draw(self, scene: Scene, renderer: FrameRenderer) -> None:
        """Draw it over the picture. Raises GpufluidError as the chart does."""
        self.view.render(scene.fluids[min(self.box, len(scene.fluids) - 1)], renderer.shown)

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
        if name in ("linear", "range"):
            continue
        default = None if parameter.default is inspect.Parameter.empty else parameter.default
        CHOICES.setdefault(f"{kind.__name__}.{name}", _choices(name))
        item = item_of(kind.__name__, name, hints.get(name), default)
        if item is not None and (item.kind != "text" or item.choices):
            found.append(dataclasses.replace(item, meaning=meaning(kind, name)))
    return tuple(found)


def _choices(name: str) -> tuple[Any, ...]:
    """The words that parameter `name` may be."""
    if name == "field":
        return FIELDS
    if name == "colors":
        return (*MAPS, None)
    return ATTENUATIONS if name == "attenuation" else ()


def renderer_items() -> tuple[Item, ...]:
    """What the renderer of the smoke can be set to beside what a Picture says."""
    known = {part.name for part in dataclasses.fields(Picture)}
    return tuple(item for item in parameters(VolumeRenderer) if item.name not in known)
