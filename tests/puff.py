"""Still smoke and somewhere to draw it, for the tests of the picture."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import moderngl
import numpy as np
import pytest
from numpy.typing import NDArray

import gpufluid as gf
from gpufluid.contract.layout import FlatLayout, layouts
from gpufluid.gl.device import Device
from gpufluid.gl.field import Field
from gpufluid.render import volume
from gpufluid.render.camera import view_of
from gpufluid.render.volume import VolumeRenderer

SIZE = (48, 32)
Floats = NDArray[np.float64]


def along_z() -> tuple[Floats, Floats]:
    """View and projection of parallel rays along -z through a box of 1 m."""
    view, projection = np.eye(4), np.diag([2.0, 2.0, -0.5, 1.0])
    view[:3, 3] = -0.5, -0.5, -2.0
    projection[2, 3] = -1.0
    return view, projection


@dataclass
class Puff:
    """Still smoke: what the view reads of a fluid, with any density and solids put into it."""

    device: Device
    grid: gf.Grid
    density: Any = 0.0
    solids: Any = None
    temperature: Any = 0.0
    color: Any = None
    flame: Any = None
    obstacles: list[gf.Obstacle] = field(default_factory=list)
    scrolled: tuple[int, int, int] = (0, 0, 0)
    boundaries: gf.Boundaries = field(default_factory=gf.Boundaries)
    spare: Any = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))

    def __post_init__(self) -> None:
        self.ctx = self.device.ctx
        self.layouts: dict[str, FlatLayout] = layouts(self.grid, self.device.max_texture_size)
        values = np.zeros((*self.grid.cells[::-1], 4))
        values[..., 0], values[..., 1], values[..., 3] = self.density, self.temperature, 1.0
        self.scalars = Field(self.device, "scalars", self.layouts["cell"], 4, "f4")
        self.solid_field: Field | None = None
        self.color_field = self._extra("color", self.color)
        self.flame_field = self._extra("flame", self.flame)
        if self.solids is not None:
            values *= 1.0 - self.solids[..., None]
            self.solid_field = Field(self.device, "solid", self.layouts["cell"], 1, "f4")
            self.solid_field.write(self.solids[..., None])
        self.scalars.write(values)

    def voxelize(self) -> None:
        """Its solids are what it was given."""

    def _extra(self, name: str, channels: Any) -> Field | None:
        """A field of the given first channels, or None."""
        if channels is None:
            return None
        values = np.ones((*self.grid.cells[::-1], 4))
        values[..., : len(channels)] = np.moveaxis(np.broadcast_arrays(*channels, values[..., 0])[:-1], 0, -1)
        made = Field(self.device, name, self.layouts["cell"], 4, "f4")
        made.write(values)
        return made


def specks(rng: np.random.Generator, grid: gf.Grid, count: int) -> Floats:
    """A few small boxes of smoke anywhere in the box, [z, y, x], and nothing between them."""
    density = np.zeros(grid.cells[::-1])
    for _ in range(count):
        low = [int(rng.integers(0, n)) for n in density.shape]
        size = [int(rng.integers(1, 6)) for _ in low]
        density[tuple(slice(a, a + n) for a, n in zip(low, size, strict=True))] = rng.uniform(0.2, 2.0)
    return density


@dataclass
class Canvas:
    """A target in single precision, cleared to nothing."""

    ctx: moderngl.Context
    size: tuple[int, int] = SIZE

    def __post_init__(self) -> None:
        self.texture = self.ctx.texture(self.size, 4, dtype="f4")
        self.target = self.ctx.framebuffer([self.texture])
        self.target.clear()

    def read(self) -> Floats:
        """Return [height, width, 4], bottom row first, as the picture's y runs."""
        width, height = self.size
        raw = np.frombuffer(self.texture.read(), np.float32).reshape(height, width, 4)
        return raw.astype(np.float64)


def drawn(fluid: Any, camera: Any, slices: int | None = None, **options: Any) -> Floats:
    """Return the premultiplied picture of `fluid` on nothing, [height, width, 4]."""
    canvas = Canvas(fluid.ctx)
    made = VolumeRenderer(fluid.ctx, slices=slices)
    made.render(fluid, camera, canvas.target, **options)
    picture = canvas.read()
    made.release()
    return picture


def go_that_way(device: Device, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    """Let what cells look like be "filtered" from textures, "loaded" from images, or "dispatched"."""
    if device.version < {"filtered": 330, "loaded": 420, "dispatched": 430}[way]:
        pytest.skip(f"OpenGL {device.version / 100:.1f} has none that is {way}")
    monkeypatch.setattr(volume, "computes", lambda _: way == "dispatched")
    if way == "filtered":
        monkeypatch.setattr(volume, "images_of", lambda *_: {})


def pictured(fluid: Any, **given: Any) -> Any:
    """A scene as the view knows it, of a fluid that need not be one."""
    looks = {"camera": gf.Camera(), "light": gf.Light(), "smoke": gf.Smoke()}
    rest = {"fire": None, "lights": (), "floor": None, "others": (), "views": (), "live": None}
    return SimpleNamespace(**{"fluid": fluid, **looks, **rest, **given})


def exact(device: Device, tolerance: float) -> float:
    """`tolerance` where texture filters weigh in floats; GPUs weigh in steps of 1/256."""
    return tolerance if device.software else 0.02


def way_through_box(
    camera: Any,
    stop: Any = np.inf,
    planes: tuple[float, float] = (-1.0, 0.99),
    size: tuple[int, int] = SIZE,
    step: int = 1,
) -> Floats:
    """Metres each pixel's ray spends in the unit box, [height, width], from the matrices' inverse alone.

    stop: depth in front of the eye where rays end. planes: clip depths of the near plane and of one behind.
    step: pixels along x and y that a ray stands for.
    """
    width, height = size
    view = view_of(camera, width / height)
    inverse = np.linalg.inv(view.projection.astype(float) @ view.view.astype(float))
    x, y = np.meshgrid(*((np.arange(0, n, step) + 0.5 * step) / n * 2 - 1 for n in size))

    def at(z: float) -> Floats:
        point = np.stack([x, y, np.full_like(x, z), np.ones_like(x)], -1) @ inverse.T
        return point[..., :3] / point[..., 3:]

    start, way = at(planes[0]), at(planes[1]) - at(planes[0])
    unit = way / np.linalg.norm(way, axis=-1, keepdims=True)
    forward = -view.view[2, :3].astype(float)
    eye = np.linalg.inv(view.view.astype(float))[:3, 3]
    a, b = -start / unit, (1.0 - start) / unit
    near = np.maximum(np.minimum(a, b).max(-1), 0.0)
    far = np.minimum(np.maximum(a, b).min(-1), (stop - (start - eye) @ forward) / (unit @ forward))
    return np.maximum(far - near, 0.0)
