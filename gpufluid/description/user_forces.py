"""Forces a user adds to a fluid: wind, vortices, attractors, turbulence, fields, expressions. Only described.

All are accelerations, m/s^2, whatever the density of the smoke. Lengths are metres, (x, y, z).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from gpufluid.common import rules
from gpufluid.common.checks import held, locked, real_array
from gpufluid.common.errors import GpufluidError, named
from gpufluid.common.vectors import Floats, Real, Vector
from gpufluid.description.shapes import direction
from gpufluid.description.sources import MAX_SEED

AT_ONCE = 1e30  # a rate times dt above which single precision may hold it as infinite
NARROWEST = 1e12  # 1/m: its square too is held in single precision
WIND, VORTEX, ATTRACTOR = range(3)  # as in push.glsl
STRAIGHT = 1e-9  # part of a direction below which it runs across an axis
# "1/2", but not in "x * 1/2" or "1.0/2", which are not whole: what stands before the first number decides
WHOLE_QUOTIENT = re.compile(r"(?:^|[^\w.*/\s])\s*(\d+)\s*/\s*(\d+)(?![\w.])")


@named
@dataclass(eq=False)  # two forces alike are still two
class Wind(rules.Checked):
    """Draws the fluid towards a velocity, everywhere or near a point. Its fields can be changed at any time.

    velocity: of the wind, m/s. rate: how fast the fluid takes it up, 1/s, >= 0: in each second the difference
    falls by exp(-rate), whatever dt. active: whether it acts. center: the point where it blows most, metres;
    None: it blows everywhere alike. radius: metres, > 0; at the distance s * radius from the center the rate
    is rate * exp(-s^2 / 2). In a periodic box the nearest image of the center counts.

    Raises GpufluidError naming the field and what it should be.
    """

    velocity: Vector = field(metadata=rules.VECTOR)
    rate: Real = rules.number(1.0, low=0.0)
    active: bool = rules.flag(True)
    center: Vector | None = rules.vector(None)
    radius: Real = rules.number(0.25, above=0.0)

    def row(self, dt: float) -> tuple[tuple[float, ...], ...]:
        """The three vec4 that the push kernel reads, see push.glsl."""
        *center, narrow = middle_of(self)
        return (*center, WIND), (*self.velocity, min(self.rate * dt, AT_ONCE)), (narrow, 1.0, 1.0, 1.0)


@named
@dataclass(eq=False)
class Vortex(rules.Checked):
    """Turns the fluid about an axis, counter-clockwise if the axis points at you.

    center: a point of the axis, metres. axis: its direction. strength: the largest acceleration, m/s^2,
    reached at `radius` metres (> 0) from the axis; at the distance s * radius it is strength * s * exp((1 -
    s^2) / 2). active: whether it acts. In a periodic box its nearest image acts, along the axes of the box
    that it runs across.

    Its fields can be changed at any time.

    Raises GpufluidError naming the field and what it should be.
    """

    center: Vector = field(metadata=rules.VECTOR)
    axis: Vector = rules.ruled(direction, (0.0, 1.0, 0.0))
    strength: Real = rules.number(1.0)
    radius: Real = rules.number(0.25, above=0.0)
    active: bool = rules.flag(True)

    def row(self, dt: float) -> tuple[tuple[float, ...], ...]:
        """The three vec4 that the push kernel reads, see push.glsl."""
        across = (float(abs(a) < STRAIGHT) for a in self.axis)  # along itself it has no images
        return (*self.center, VORTEX), (*self.axis, self.strength * dt), (_narrow(self.radius), *across)


@named
@dataclass(eq=False)
class Attractor(rules.Checked):
    """Pulls the fluid to a point, or pushes it away. Its fields can be changed at any time.

    center: the point, metres. strength: acceleration towards it, m/s^2, away from it if < 0; it is largest at
    `radius` metres (> 0), and at the distance s * radius it is strength * s * exp((1 - s^2) / 2). active:
    whether it acts. In a periodic box its nearest image acts.

    Raises GpufluidError naming the field and what it should be.
    """

    center: Vector = field(metadata=rules.VECTOR)
    strength: Real = rules.number(1.0)
    radius: Real = rules.number(0.25, above=0.0)
    active: bool = rules.flag(True)

    def row(self, dt: float) -> tuple[tuple[float, ...], ...]:
        """The three vec4 that the push kernel reads, see push.glsl."""
        return (
            (*self.center, ATTRACTOR),
            (0.0, 0.0, 0.0, self.strength * dt),
            (_narrow(self.radius), 1.0, 1.0, 1.0),
        )


@named
@dataclass(eq=False)
class Turbulence(rules.Checked):
    """Stirs the fluid with eddies that come and go, everywhere or near a point.

    strength: acceleration, m/s^2, the root mean square over place and time. size: wavelength of the largest
    eddies, metres, > 0; the finest measure a quarter of it, and none is finer than four cells. time: how long
    a large eddy lasts, seconds, > 0: after that its push has only a share of 1/e in common with what it was;
    finer ones change sooner. seed: a whole number, >= 0; another one gives other eddies. active: whether it
    acts. center: the point where it stirs most, metres; None: it stirs everywhere alike. radius: metres, > 0;
    at the distance s * radius from the center the strength is strength * exp(-s^2 / 2). In a periodic box the
    nearest image of the center counts.

    It is a sum of random waves (Kraichnan 1970) that fits into periodic boxes. Where it acts everywhere alike
    its push has no divergence on the grid's faces, away from sides and solids, so the projection takes
    nothing of it. It stays where it is in the world as a box scrolls. Its fields can be changed at any time;
    `size` and `time` are of the whole pattern: as they change, it moves everywhere.

    Raises GpufluidError naming the field and what it should be.
    """

    strength: Real = rules.number(1.0)
    size: Real = rules.number(0.5, above=0.0)
    time: Real = rules.number(1.0, above=0.0)
    seed: int = rules.whole(0, 0, MAX_SEED)
    active: bool = rules.flag(True)
    center: Vector | None = rules.vector(None)
    radius: Real = rules.number(0.25, above=0.0)


@named
@dataclass(eq=False)
class ForceField(rules.Checked):
    """An acceleration for every cell, m/s^2, array [nz, ny, nx, 3]; a face gets the mean of its two cells.

    values: kept as a read-only copy; assign another array to change them. strength: a factor on all of them.
    active: whether it acts.

    Raises GpufluidError naming the field and what it should be.
    """

    values: ArrayLike
    strength: Real = rules.number(1.0)
    active: bool = rules.flag(True)

    def __repr__(self) -> str:
        shape = " x ".join(map(str, np.shape(self.values)))
        return f"ForceField({shape} values, strength={self.strength}, active={self.active})"

    def check(self) -> None:
        """Raise GpufluidError naming the first thing that no field can have."""
        super().check()
        if isinstance(self.values, np.ndarray) and self.values is getattr(self, "_checked", None):
            return
        try:
            array = real_array(self.values)
        except (TypeError, ValueError):
            raise GpufluidError("ForceField.values must be an array of numbers [nz, ny, nx, 3]") from None
        if array.ndim != 4 or array.shape[3] != 3:
            raise GpufluidError(
                f"ForceField.values must be an array [nz, ny, nx, 3], got the shape {list(array.shape)}"
            )
        if not held(array).all():
            where = tuple(int(i) for i in np.argwhere(~held(array))[0])
            raise GpufluidError(f"ForceField.values must be finite, got {array[where]} at {where}")
        self.values = self._checked = locked(array)
        self.version = getattr(self, "version", 0) + 1

    @property
    def array(self) -> Floats:
        """The checked values, [nz, ny, nx, 3]."""
        self.check()
        return self._checked


@named
@dataclass(frozen=True, eq=False)
class ForceExpression(rules.Checked):
    """An acceleration given by a formula, m/s^2: one GLSL expression of type vec3.

    expression: a formula of `position` (vec3, metres) and `time` (float, seconds since the start), as in
        "vec3(0, sin(x * 10.0), 0)"; `x`, `y` and `z` are the parts of `position`. Where its value is not
        finite it does nothing. "1/2" is 0 in GLSL, where both are whole numbers, and refused: "1.0/2.0".
    numpy: the same for the NumPy backend: a function of position [..., 3] and time that returns [..., 3].
    active: whether it acts.

    Raises GpufluidError for what cannot be one expression. A GL fluid compiles it when it is added, and
    raises ShaderError naming the expression.
    """

    expression: str
    numpy: Callable[[Floats, float], ArrayLike] | None = None
    active: bool = rules.flag(True)

    def check(self) -> None:
        """Raise GpufluidError for what cannot be one expression."""
        text = self.expression
        if not isinstance(text, str) or not text.strip():
            raise GpufluidError(f"ForceExpression.expression must be a GLSL expression, got {text!r}")
        for sign in ";{}#\\":
            if sign in text:
                raise GpufluidError(
                    f"ForceExpression.expression must be one expression without {sign!r}, got {text!r}"
                )
        for above, below in WHOLE_QUOTIENT.findall(text):
            if int(below) and int(above) % int(below):
                raise GpufluidError(
                    f"ForceExpression.expression: in GLSL {above}/{below} is the whole number "
                    f"{int(above) // int(below)}; write {above}.0/{below}.0, got {text!r}"
                )
        if self.numpy is not None and not callable(self.numpy):
            raise GpufluidError(f"ForceExpression.numpy must be a function, got {self.numpy!r}")
        super().check()


def middle_of(force: Wind | Turbulence) -> tuple[float, float, float, float]:
    """Return the center of what acts about a place, metres, and 1 / radius, 1/m; else 0."""
    if force.center is None:
        return 0.0, 0.0, 0.0, 0.0
    return *force.center, _narrow(force.radius)


def _narrow(radius: float) -> float:
    """1 / radius, 1/m; any radius that meets no face is as good as another."""
    return min(1.0 / radius, NARROWEST)


Analytic = Wind | Vortex | Attractor
Force = Analytic | Turbulence | ForceField | ForceExpression
