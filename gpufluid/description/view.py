"""What is looked at and how: camera, light and the look of the smoke. Descriptions only, no GL."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from numbers import Integral
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpufluid.common import rules
from gpufluid.common.checks import (
    LARGEST,
    color_triple,
    finite_number,
    finite_triple,
    locked,
    radiance,
    real_array,
    whole_number,
)
from gpufluid.common.errors import GpufluidError, each_once, named, one_of, short
from gpufluid.common.image_files import read_image
from gpufluid.common.vectors import Pixels, Real, Size, Triple, Vector, Vectors

MOST_LIGHTS = 4  # beside the sun
EXPOSURE = 0.95  # factor on radiance before the tone map
METHODS = ("view-slices", "axis-slices", "ray-march")  # to draw smoke
RESOLUTIONS = (1.0, 0.5)  # of the rays of "ray-march", to the picture's
MOST_SLICES = 1024  # slabs, whoever chooses
FRAME_RATES = 0.001, 1000.0  # frames a second that a film may have
STEEPEST = 89.0  # degrees above and below the horizon at which a camera may stand
CLOSEST = 1e-12  # of how far off its target is: nearer to that rounding would say where a camera looks
ROUNDED = 1e-4  # degrees that a place at the very steepest may be off by rounding
NEAREST = 1e-3  # of its distance from the middle of a box, at which the picture begins: depths have 24 bits
FILLED = 0.94  # share of the picture's width or height that a box takes which is looked at whole
# channels of six-way lightmaps, of two RGBA pictures: the side that light comes from, seen by the camera
SIX_WAY = ("right", "top", "back", "alpha", "left", "bottom", "front", "emissive")
BACKGROUNDS = ("studio", "sky", "transparent")
MOST_OF_A_PLATE = 1 << 26  # pixels: more than cameras have


@named
@dataclass
class Camera(rules.Checked):
    """A camera that looks at `target` from some distance; y is up.

    target: the point it looks at, metres. distance: from the target, metres, > 0, and > 1e-12 of how far
    the target lies from the origin. azimuth: degrees round the y axis; at 0 it looks along -z. elevation:
    degrees above the horizon, -89 to 89. fov: vertical angle of view, degrees, 1 to 170. near, far: clipping
    distances, metres.

    All of them can be changed at any time. eye: the place of the camera, metres. To set it, as in
    ``camera.eye = (3, 1, 2)``, changes distance, azimuth and elevation, and a description may say it in their
    place.

    Raises GpufluidError naming the field and what it should be.
    """

    target: Vector = rules.vector((0.0, 0.0, 0.0))
    distance: Real = rules.number(2.0, above=0.0)
    azimuth: Real = rules.number(0.0)
    elevation: Real = rules.between(-STEEPEST, STEEPEST, 10.0)
    fov: Real = rules.between(1.0, 170.0, 35.0, " degrees")
    near: Real = rules.number(0.01, above=0.0)
    far: Real = rules.number(100.0)

    def check(self) -> None:
        """Raise GpufluidError naming the first value a picture cannot be made with."""
        super().check()
        least = max(1.0 / LARGEST, CLOSEST * max(map(abs, self.target)))
        finite_number(self.distance, "Camera.distance", above=least)
        finite_number(self.far, "Camera.far", above=self.near)

    @property
    def eye(self) -> Triple:
        """Where the camera stands, metres: put it there, and it looks at the `target` from there.

        Raises GpufluidError for what is no place, and for one where a camera cannot stand.
        """
        a, e = math.radians(self.azimuth), math.radians(self.elevation)
        x, y, z = self.target
        across = self.distance * math.cos(e)
        return x + across * math.sin(a), y + self.distance * math.sin(e), z + across * math.cos(a)

    @eye.setter
    def eye(self, place: Vector) -> None:
        place = finite_triple(place, "Camera.eye")
        x, y, z = (p - t for p, t in zip(place, self.target, strict=True))
        elevation = math.degrees(math.atan2(y, math.hypot(x, z)))
        if not (x or y or z) or abs(elevation) > STEEPEST + ROUNDED:
            raise GpufluidError(
                f"Camera.eye must be seen from the target, {self.target}, at -89 to 89 degrees above the "
                f"horizon, got {place}"
            )
        # without the digits that rounding leaves: a place that is put back gives the numbers it was made of
        self.distance, self.elevation, self.azimuth = (
            float(f"{number:.13g}")
            for number in (
                math.hypot(x, y, z),
                min(max(elevation, -STEEPEST), STEEPEST),
                math.degrees(math.atan2(x, z)),
            )
        )

    def after(self, before: Camera) -> Camera:
        """The camera that goes on from here by as much as from `before` to here, turning the shorter way."""
        turned = (self.azimuth - before.azimuth + 180.0) % 360.0 - 180.0
        x, y, z = (2.0 * here - there for here, there in zip(self.target, before.target, strict=True))
        return replace(
            self,
            target=(x, y, z),
            distance=max(2.0 * self.distance - before.distance, 0.1 * self.distance),
            azimuth=self.azimuth + turned,
            elevation=min(max(2.0 * self.elevation - before.elevation, -STEEPEST), STEEPEST),
            fov=min(max(2.0 * self.fov - before.fov, 1.0), 170.0),
        )

    @property
    def axes(self) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
        """What is to the right and up in its picture, each of length 1."""
        a, e = math.radians(self.azimuth), math.radians(self.elevation)
        right = (math.cos(a), 0.0, -math.sin(a))
        return right, (-math.sin(a) * math.sin(e), math.cos(e), -math.cos(a) * math.sin(e))

    def frame(self, low: Vector, high: Vector, aspect: float = 16.0 / 9.0) -> None:
        """Look at the box from `low` to `high` (x, y, z), metres, from far enough away to see all of it.

        The direction of view stays. aspect: width of the picture over its height. The clipping distances are
        widened if the box does not lie between them, and `near` is at least a thousandth of the distance, for
        depths to tell things in a box of a kilometre apart. Raises GpufluidError for places that are not
        finite or do not span a box, and for an aspect that is not > 0.
        """
        low, high = finite_triple(low, "low"), finite_triple(high, "high")
        aspect = finite_number(aspect, "aspect", above=0.0)
        if not all(a < b for a, b in zip(low, high, strict=True)):
            raise GpufluidError(f"low must lie below high along every axis, got {low} and {high}")
        half = math.tan(math.radians(self.fov) / 2.0) * FILLED
        a, e = math.radians(self.azimuth), math.radians(self.elevation)
        # not by where it stands, or a camera in its place would be moved by rounding
        towards = (math.cos(e) * math.sin(a), math.sin(e), math.cos(e) * math.cos(a))
        right, up = self.axes
        corners = list(product(*((0.5 * (a - b), 0.5 * (b - a)) for a, b in zip(low, high, strict=True))))
        x, y, z = (0.5 * (a + b) for a, b in zip(low, high, strict=True))
        self.target = (x, y, z)
        self.distance = max(
            max(abs(_dot(corner, right)) / (half * aspect), abs(_dot(corner, up)) / half)
            + _dot(corner, towards)
            for corner in corners
        )
        radius = max(math.hypot(*corner) for corner in corners)
        front = self.distance - max(_dot(corner, towards) for corner in corners)
        self.near = min(max(self.near, NEAREST * self.distance), 0.02 * self.distance, 0.5 * front)
        self.far = max(self.far, 2.0 * (self.distance + radius))


def _dot(a: Sequence[float], b: Sequence[float]) -> float:
    return sum(p * q for p, q in zip(a, b, strict=True))


def check_drawing(method: Any, slices: Any, resolution: Any, of: str = "") -> None:
    """Raise GpufluidError where smoke is not drawn so; of: in front of the names, as in "Picture."."""
    one_of(method, METHODS, f"{of}method")
    whole = isinstance(slices, Integral) and not isinstance(slices, bool)
    if slices is not None and not (whole and 1 <= slices <= MOST_SLICES):
        raise GpufluidError(
            f"{of}slices must be a whole number in 1 .. {MOST_SLICES} or None, got {slices!r}"
        )
    one_of(finite_number(resolution, f"{of}resolution"), RESOLUTIONS, f"{of}resolution")
    if resolution != 1.0 and method != "ray-march":
        raise GpufluidError(f'{of}resolution={resolution} needs method="ray-march", got method={method!r}')


@named
class Plate:
    """A photograph behind everything, for smoke to be put into.

    source: a file (with the film extra) or an array [height, width, 3 or 4], uint8 or 0 .. 1, as screens show
        it, top row first; if it has alpha, it is put over black.

    It fills the picture, and what is too wide or too high is cut off equally on both sides. The floor shows
    only by what shadows, fire and lamps change on it. `pixels` are a copy of its own, uint8 [height, width,
    3].
    Raises GpufluidError naming the file or value, MissingDependencyError without Pillow.
    """

    def __init__(self, source: str | os.PathLike[str] | ArrayLike) -> None:
        self.pixels: Final = _plate(source)

    def __repr__(self) -> str:
        height, width = self.pixels.shape[:2]
        return f"Plate({width} x {height} pixels)"


def _plate(source: Any) -> NDArray[np.uint8]:
    """The pixels of a `Plate`."""
    try:
        from_file = isinstance(source, str | os.PathLike)
        pixels = read_image(Path(source), MOST_OF_A_PLATE) if from_file else np.asarray(source)
        if pixels.dtype != np.uint8:
            pixels = real_array(source)
    except GpufluidError:
        raise
    except (TypeError, ValueError):
        raise GpufluidError("Plate.source must be a file or an array of numbers") from None
    if pixels.ndim != 3 or pixels.shape[2] not in (3, 4) or not pixels.size:
        raise GpufluidError(
            f"Plate.source must be an array [height, width, 3 or 4], got the shape {list(pixels.shape)}"
        )
    if pixels.dtype != np.uint8:
        if not ((pixels >= 0.0) & (pixels <= 1.0)).all():
            raise GpufluidError("Plate.source must be uint8 or in 0 .. 1")
        pixels = 255.0 * pixels
    if pixels.shape[2] == 4:
        pixels = pixels[..., :3] * (pixels[..., 3:] / np.float32(255.0))
    return locked(np.array(np.rint(pixels[..., :3]), np.uint8, order="C"))


Background = str | Vector | Plate


def checked_background(value: Any, name: str) -> Background:
    """Return `value` as what a picture has behind it: a word, (r, g, b) or a Plate; or raise naming it."""
    if isinstance(value, Plate):
        return value
    if not isinstance(value, str):
        return radiance(value, name)
    if Path(value).suffix:
        file = short(repr(value))
        raise GpufluidError(
            f"{name} must be gf.Plate({file}) for a picture from a file, in a description {{ file = {file} }}"
        )
    one_of(value, BACKGROUNDS, name)
    return value


def _towards(value: Vector, name: str) -> Triple:
    """Return `value` as three finite floats that are not all 0, or raise naming it."""
    triple = finite_triple(value, name)
    if not any(triple):
        raise GpufluidError(f"{name} must not be (0, 0, 0)")
    return triple


@named
@dataclass
class Light(rules.Checked):
    """A directional light such as the sun, and the ambient light round the scene.

    direction: the direction in which the light travels, away from its source. color: linear radiance (r, g,
    b) of a white surface that faces it. ambient: linear radiance (r, g, b) that arrives from all directions.

    Raises GpufluidError naming the field and what it should be.
    """

    direction: Vector = rules.ruled(_towards, (-0.75, -0.6, 0.3))
    color: Vector = rules.radiance((3.0, 2.8, 2.5))
    ambient: Vector = rules.radiance((0.16, 0.2, 0.28))


@named
@dataclass
class PointLight(rules.Checked):
    """A lamp at one place, inside the box or outside.

    position: metres. color: linear radiance (r, g, b) of a white surface that faces it from a metre away; it
    falls off with the square of the distance. radius: metres, > 0; closer than this the light gets no
    brighter.

    Raises GpufluidError naming the field and what it should be.
    """

    position: Vector = field(metadata=rules.VECTOR)
    color: Vector = rules.radiance((1.0, 0.9, 0.75))
    radius: Real = rules.number(0.05, above=0.0)


@named
@dataclass
class SpotLight(PointLight):
    """A lamp at one place that shines into a cone.

    position: metres. color: linear radiance (r, g, b) of a white surface that faces it from a metre away in
    the middle of its cone; it falls off with the square of the distance. radius: metres, > 0; closer than
    this the light gets no brighter. direction: the direction in which the middle of its beam travels. angle:
    degrees across the whole cone, 1 to 170. softness: 0 .. 1, the share of the cone, from its edge inwards,
    over which the light fades out; 0 gives a sharp edge.

    Raises GpufluidError naming the field and what it should be.
    """

    direction: Vector = rules.ruled(_towards, (0.0, -1.0, 0.0))
    angle: Real = rules.between(1.0, 170.0, 40.0, " degrees")
    softness: Real = rules.share(0.3)


@named
@dataclass
class Fire(rules.Checked):
    """How hot gas glows: in the colour of a black body of its temperature (Planck 1901).

    kelvin_at_zero: what a temperature of 0 in the fluid means, K. kelvin_per_temperature: what each unit of
    temperature adds, K. Nothing glows below 798 K (Draper 1847); from 1200 K on the brightness grows with the
    fourth power. intensity: radiance per metre at 2000 K, of red. core: colour (r, g, b) that burning fuel
    adds, radiance per metre at a burn rate of 1/s: the blue root of a flame. glow: how strongly the fire
    lights the smoke, the solids and the floor around it; 1 is what its radiance amounts to, 0 turns that off.
    shimmer: how far hot gas bends the light from behind it, radians per unit of temperature; 0 is off, 0.02
    can be seen. soot: how dense the smoke must be to glow: the share 1 - exp(-(density / soot)^2) of the
    radiance is emitted. As it is soot that glows in a flame, the flame is clear and blue where little soot
    has formed yet; what sends out the light of the core is gone before soot outshines it, and exp(-(6 density
    / soot)^2) of that light is left. 0: hot gas glows whatever its density, also where it burns, and there
    its red and a blue core add up to pink: no gas without soot does that. hottest: K; hotter gas looks as if
    it had this temperature, or 4000 K if that is lower. With more fuel a real flame heats more air and gets
    no whiter, while a fluid's temperature has no limit. soft: whether rays look up the heat between the
    corners of cells as well, and smoke that hides fire counts more exactly, so that fire that is bright over
    a steep gradient shows no weave of cells and no rings; a picture of fire takes 1.3 to 1.45 times as long.

    Raises GpufluidError naming the field and what it should be.
    """

    kelvin_at_zero: Real = rules.number(600.0, low=0.0)
    kelvin_per_temperature: Real = rules.number(600.0, low=0.0)
    intensity: Real = rules.number(30.0, low=0.0)
    core: Vector = rules.radiance((0.0, 0.006, 0.035))
    glow: Real = rules.number(1.0, low=0.0)
    shimmer: Real = rules.number(0.0, low=0.0)
    soot: Real = rules.number(0.0, low=0.0)
    hottest: Real = rules.number(2200.0, low=0.0)
    soft: bool = rules.flag(False)


@named
@dataclass
class Smoke(rules.Checked):
    """How smoke looks.

    extinction: how opaque it is, 1/m per unit of density (Beer-Lambert).
    albedo: share of the light that it scatters rather than absorbs, (r, g, b), 0 to 1.
    anisotropy: g of Henyey & Greenstein (1941), -0.95 to 0.95; 0 scatters equally in all directions, above 0
        mostly forwards.
    pigments: albedos of coloured smoke, one each for the r, g and b densities that emitters with a `color`
        make.
    visible: False leaves the smoke and its shadow out of the picture; fire and views of the flow are still
        drawn.

    These change the look alone, not the flow:

    fade: metres before the open sides of the box (and inflows that draw fluid out) over which smoke, fire and
        particles thin out, so that they do not look cut off there; 0: they end at the side.
    edge: smoke thinner than this density fades from sight: the share ``smoothstep(0, edge, density)`` of it
        shows and takes light. This gives smoke edges finer than the cells, and keeps thin remains from
        veiling the rest. 0: all of it shows.
    soft: whether the picture softens the smoke over a cell, so that dense smoke, of more than about two
        optical depths per cell, shows no cells; its finest detail is less sharp. The light that gets through
        it stays the same.

    Raises GpufluidError naming the field and what it should be.
    """

    extinction: Real = rules.number(40.0, low=0.0)
    albedo: Vector = rules.color((0.9, 0.9, 0.92))
    anisotropy: Real = rules.between(-0.95, 0.95, 0.0)
    pigments: Vectors = (
        (0.95, 0.13, 0.08),
        (0.12, 0.85, 0.16),
        (0.1, 0.2, 0.97),
    )
    visible: bool = rules.flag(True)
    fade: Real = rules.number(0.0, low=0.0)
    edge: Real = rules.number(0.0, low=0.0)
    soft: bool = rules.flag(False)

    def check(self) -> None:
        """Raise GpufluidError naming the first value smoke cannot have."""
        super().check()
        try:
            pigments = tuple(self.pigments)
        except TypeError:
            pigments = ()
        if len(pigments) != 3:
            raise GpufluidError(f"Smoke.pigments must be three colours (r, g, b), got {self.pigments!r}")
        self.pigments = tuple(color_triple(p, f"Smoke.pigments[{n}]") for n, p in enumerate(pigments))


def _pixels(value: Size, name: str) -> tuple[int, int]:
    """Return `value` as two whole numbers (width, height) >= 1, or raise naming it."""
    try:
        width, height = value
    except (TypeError, ValueError):
        raise GpufluidError(f"{name} must be two whole numbers (width, height), got {value!r}") from None
    what = f"{name} (width, height)"
    return whole_number(width, what, low=1), whole_number(height, what, low=1)


@named
@dataclass
class Picture(rules.Ruled):
    """How a picture of a scene is made.

    size: (width, height), pixels. fps: frames per second of a film. exposure: factor on the radiance before
    the tone map. background: "studio", "sky" (in the colours of the light), "transparent", a `Plate` or a
    linear radiance (r, g, b). floor_color: linear albedo (r, g, b) of the floor, 0 .. 1; None: dark, or the
    colour of a plain background. slices, resolution: as in `VolumeRenderer`. method: that of a
    `VolumeRenderer`; None: slabs across the view, or rays at half the resolution in windows on a
    software renderer.

    Raises GpufluidError naming the field and its limit; for the size, a renderer made with it does so too.
    """

    size: Pixels = rules.ruled(_pixels, (640, 360))
    fps: Real = rules.between(*FRAME_RATES, 30.0)
    exposure: Real = rules.number(EXPOSURE, above=0.0)
    background: Background = rules.ruled(checked_background, "studio")
    slices: int | None = None
    method: str | None = None
    resolution: Real = rules.number(1.0)
    floor_color: Vector | None = rules.color(None)

    def __post_init__(self) -> None:
        check_drawing(self.drawn_by, self.slices, self.resolution, "Picture.")
        super().__post_init__()

    @property
    def drawn_by(self) -> str:
        """The method that smoke is drawn by."""
        return METHODS[0] if self.method is None else self.method


@named
@dataclass
class Look:
    """What a picture of a fluid is lit by, and how smoke and fire look.

    light: the sun. lights: up to four more, whose light is dimmed by the smoke at half the resolution. fire:
    None: hot gas does not glow.
    """

    light: Light = field(default_factory=Light)
    smoke: Smoke = field(default_factory=Smoke)
    fire: Fire | None = None
    lights: Sequence[Light | PointLight] = ()

    @property
    def shows(self) -> bool:
        """Whether there is smoke or fire to be seen."""
        return self.smoke.visible or self.fire is not None

    def check(self) -> None:
        """Raise GpufluidError naming the first thing no picture can be made with."""
        for name, kind in (("light", Light), ("smoke", Smoke), ("fire", Fire)):
            thing = getattr(self, name)
            if not isinstance(thing, kind) and not (name == "fire" and thing is None):
                raise GpufluidError(f"{name} must be a gf.{kind.__name__}, got {thing!r}")
            if thing is not None:
                thing.check()
        try:
            self.lights = tuple(self.lights)
        except TypeError:
            raise GpufluidError(
                f"lights must be a list of gf.Light and gf.PointLight, got {self.lights!r}"
            ) from None
        if len(self.lights) > MOST_LIGHTS:
            raise GpufluidError(
                f"lights must be at most {MOST_LIGHTS} beside the first, got {len(self.lights)}"
            )
        for number, light in enumerate(self.lights):
            if not isinstance(light, Light | PointLight):
                raise GpufluidError(f"lights[{number}] must be a gf.Light or gf.PointLight, got {light!r}")
            light.check()
        each_once(self.lights, "lights")
