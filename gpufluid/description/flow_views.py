"""Which views of the flow a scene shows: descriptions only, no GL.

Each says what a view in `gpufluid.render` with the same parameters is made with; it tells what they mean.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpufluid.common import rules
from gpufluid.common.checks import finite_number, finite_points, low_and_high, whole_number
from gpufluid.common.errors import GpufluidError, each_once, named, near, several
from gpufluid.common.vectors import Counts, Pair, Real, RealOrNone, Vector
from gpufluid.description.grid import AXES
from gpufluid.description.shapes import HALF_SPACE, Box, Capsule, Cylinder, Sphere, direction
from gpufluid.description.sources import Emitter

SolidShape = Sphere | Box | Cylinder | Capsule
FIELDS = (
    *("density", "temperature", "fuel", "pressure", "divergence", "speed", "velocity_x", "velocity_y"),
    *("velocity_z", "vorticity", "solid", "flame"),
)
MAPS = ("viridis", "magma", "coolwarm", "dusk", "gray")
MOST_SEEDS = 1 << 20


@named
@dataclass
class ParticleSource(rules.Checked):
    """Where particles are born, spread evenly over a shape. Its fields can be changed at any time.

    shape: a Sphere, Box, Cylinder or Capsule, in metres; or an Emitter with one, which it then follows. rate:
    particles per second; None: a share of those that are left, see `share`. color: (r, g, b) as a screen
    shows it; None: one of five, by the source's place among the others. last_color: colour at the end of a
    life; None: the same. velocity: m/s, that they are born with; None: that of the fluid. spread: m/s, the
    most by which velocities at birth differ from it, evenly in every direction. Both are for particles that
    take their time to follow the flow: `Particles.response`. active: False lets none be born, and nor does an
    Emitter that is switched off; those on their way go on to the end of their lives.

    Raises GpufluidError naming the field and what it should be.
    """

    shape: SolidShape | Emitter
    rate: RealOrNone = rules.number(None, low=0.0)
    share: Real = rules.number(1.0, low=0.0)
    color: Vector | None = rules.color(None)
    last_color: Vector | None = rules.color(None)
    velocity: Vector | None = rules.vector(None)
    spread: Real = rules.number(0.0, low=0.0)
    active: bool = rules.flag(True)

    def check(self) -> None:
        """Raise GpufluidError naming the first field that nothing can be born with."""
        shape = self.shape.shape if isinstance(self.shape, Emitter) else self.shape
        if not isinstance(shape, SolidShape):
            raise GpufluidError(
                "ParticleSource.shape must be a Sphere, Box, Cylinder or Capsule, or an Emitter with one, "
                f"got {self.shape!r}"
            )
        super().check()

    @property
    def sends(self) -> bool:
        """Whether any are born now."""
        return self.active and not (isinstance(self.shape, Emitter) and not self.shape.active)

    @property
    def thrown(self) -> bool:
        """Whether what is born has a velocity of its own."""
        return self.velocity is not None or self.spread > 0.0

    def lies_in(self, fluid: Any) -> bool:
        """Whether it is an emitter of `fluid`, or a shape whose middle lies in its box."""
        if isinstance(self.shape, Emitter):
            return any(self.shape is emitter for emitter in fluid.emitters)
        return bool(_inside(self.shape.form.place[None, :3, 3], fluid)[0])

    @property
    def rows(self) -> tuple[int, NDArray[np.float64], tuple[float, float, float, float]]:
        """Kind of the form, its own space to the world [4, 4], its core and rounding; metres."""
        shape, place = self.shape, np.eye(4)
        if isinstance(shape, Emitter):
            place, shape = shape.matrix, shape.shape  # type: ignore[assignment]
        assert isinstance(shape, SolidShape)
        form = shape.form
        assert form.kind != HALF_SPACE
        return form.kind, place @ form.place, (*form.core, form.rounding)


@named
@dataclass
class Seeds(rules.Ruled):
    """Points from corner `low` to `high`, metres, `counts` along (x, y, z); a single one is in the middle.

    Raises GpufluidError naming the value and its limit.
    """

    low: Vector = dataclasses.field(metadata=rules.VECTOR)
    high: Vector = dataclasses.field(metadata=rules.VECTOR)
    counts: Counts

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            nx, ny, nz = self.counts
        except (TypeError, ValueError):
            raise GpufluidError(
                f"counts must be three whole numbers (x, y, z), got {self.counts!r}"
            ) from None
        x, y, z = (whole_number(n, "counts", low=1, high=MOST_SEEDS) for n in (nx, ny, nz))
        if x * y * z > MOST_SEEDS:
            raise GpufluidError(f"Seeds.counts: at most {MOST_SEEDS} points, got {x} x {y} x {z}")
        self.counts = x, y, z

    def points(self) -> NDArray[np.float64]:
        """The points, [n, 3], metres; x fastest."""
        axes = [
            np.linspace(p, q, n) if n > 1 else np.array([0.5 * (p + q)])
            for p, q, n in zip(self.low, self.high, self.counts, strict=True)
        ]
        z, y, x = np.meshgrid(axes[2], axes[1], axes[0], indexing="ij")
        return np.stack([x, y, z], -1).reshape(-1, 3)


def check_seeds(seeds: Any, name: str) -> NDArray[np.float64]:
    """Return `seeds` as finite float64 [n, 3] with n >= 1, or raise naming them."""
    try:
        points = seeds.points() if isinstance(seeds, Seeds) else seeds
    except (TypeError, ValueError):  # its fields may have been set to anything since
        points = ()
    return finite_points(points, f"{name}.seeds", "one")


def check_response(particles: Any) -> None:
    """Raise GpufluidError where sources give velocities to particles that lose them at once."""
    name = type(particles).__name__
    if particles.response == 0.0 and any(source.thrown for source in particles.sources):
        raise GpufluidError(
            f"{name}.response must be > 0 s where ParticleSource.velocity or spread is given, got 0: such "
            "particles go with the flow from the start"
        )


def _up_to_one(default: float) -> Any:
    def check(value: Any, name: str) -> float:
        number = finite_number(value, name, above=0.0)
        if number > 1.0:
            raise GpufluidError(f"{name} must be at most 1, got {value!r}")
        return number

    return rules.ruled(check, default)


def _word(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise GpufluidError(f"{name} must be a name or None, got {value!r}")
    return value


def _normal(value: Vector, name: str) -> Vector:
    """`value` as it is, of any length."""
    direction(value, name)
    return value


def _colors() -> Any:
    return rules.choice(None, *MAPS, None)


def _range() -> Any:
    return rules.ruled(low_and_high, None)


@dataclass(kw_only=True)
class FlowView(rules.Checked):
    """The base of the descriptions. Change any field at any time. MADE: the class that draws it.

    box: the name of the box that it shows, one of `Scene.box_names`; None: every box. Of several boxes each
    has the seeds and sources that lie in it. visible: False draws nothing, and lets nothing move on.
    """

    MADE: ClassVar[str] = ""
    FIXED: ClassVar[tuple[str, ...]] = ()  # fields that another value of needs another view
    box: str | None = rules.ruled(_word, None)
    visible: bool = rules.flag(True)

    @property
    def drawn(self) -> dict[str, Any]:
        """The values that the view itself has too, by their names."""
        own = {part.name for part in dataclasses.fields(FlowView)}
        return {p.name: getattr(self, p.name) for p in dataclasses.fields(self) if p.name not in own}

    def boxes(self, names: Sequence[str]) -> tuple[int, ...]:
        """Which of the boxes called `names` it shows, by number. Raises GpufluidError where `box` is none."""
        if self.box is None:
            return tuple(range(len(names)))
        if self.box not in names:
            known = ", ".join(map(repr, names))
            raise GpufluidError(
                f"must be the name of a box, {known}, got {self.box!r}{near(self.box, names)}"
            )
        return (names.index(self.box),)

    def parameters(self, fluid: Any, within: bool = False) -> dict[str, Any] | None:
        """What the view of `fluid` is made with, beside its context.

        within: only with what lies in its box; None where nothing does.
        """
        return self.drawn


def _inside(points: NDArray[np.float64], fluid: Any) -> NDArray[np.bool_]:
    """Which of `points` [n, 3], metres, lie in the box of `fluid`; in 2D the depth does not count."""
    axes = slice(fluid.grid.dimensions)
    low, high = np.array(fluid.grid.origin)[axes], np.array(fluid.grid.upper)[axes]
    inside: NDArray[np.bool_] = np.logical_and(points[:, axes] >= low, points[:, axes] <= high)
    return np.asarray(inside.all(axis=1))


@named
@dataclass
class ParticlesView(FlowView):
    """Particles that the flow carries; see `gpufluid.Particles`. No sources: the fluid's emitters are.

    Raises GpufluidError naming the field and what it should be.
    """

    MADE, FIXED = "Particles", ("count", "seed", "sources")
    count: int = rules.whole(100_000, 1, 1 << 24)
    sources: Sequence[ParticleSource] = ()
    life: Real = rules.number(2.0, above=0.0)
    seed: int = rules.whole(0, 0, (1 << 24) - 1)
    color: str = rules.choice("source", "source", *FIELDS)
    size: Real = rules.number(2.5, above=0.0)
    unit: str = rules.choice("pixels", "pixels", "metres")
    blend: str = rules.choice("additive", "additive", "alpha")
    opacity: Real = rules.share(0.2)
    colors: str | None = _colors()
    range: Pair | None = _range()
    legend: bool = rules.flag(False)
    response: Real = rules.number(0.0, low=0.0)
    fall: Real = rules.number(0.0)
    bounce: Real = rules.share(0.0)
    vary: Real = rules.share(0.0)
    streak: Real = rules.number(0.0, low=0.0)
    veiled: bool = rules.flag(True)

    def check(self) -> None:
        """Raise GpufluidError naming the first value that nothing can be drawn with."""
        super().check()
        several(self.sources, "ParticlesView.sources")
        for source in self.sources:
            if not isinstance(source, ParticleSource):
                raise GpufluidError(f"ParticlesView.sources must be gf.ParticleSource, got {source!r}")
            source.check()
        each_once(self.sources, "ParticlesView.sources")
        check_response(self)

    def parameters(self, fluid: Any, within: bool = False) -> dict[str, Any] | None:
        """What the view is made with. within: with the sources whose middle lies in the box."""
        sources = [s for s in self.sources if not within or s.lies_in(fluid)] or [
            ParticleSource(e) for e in fluid.emitters if not self.sources and isinstance(e.shape, SolidShape)
        ]
        return None if within and not sources else {**self.drawn, "sources": sources}


@dataclass
class _Lines(FlowView):
    """What lines have in common."""

    FIXED: ClassVar[tuple[str, ...]] = ("points", "seeds")
    seeds: Seeds | ArrayLike = ()
    points: int = rules.whole(192, 2, 8192)
    line_width: Real = rules.number(2.0, above=0.0)
    fade: Real = rules.share(0.25)
    opacity: Real = rules.share(1.0)
    colors: str | None = _colors()
    range: Pair | None = _range()
    legend: bool = rules.flag(False)

    def check(self) -> None:
        """Raise GpufluidError naming the first value that nothing can be drawn with."""
        super().check()
        check_seeds(self.seeds, type(self).__name__)

    def parameters(self, fluid: Any, within: bool = False) -> dict[str, Any] | None:
        """What the view is made with. within: with the seeds that lie in the box."""
        seeds = check_seeds(self.seeds, type(self).__name__)
        if within:
            seeds = seeds[_inside(seeds, fluid)]
        return {**self.drawn, "seeds": seeds} if len(seeds) else None


@named
@dataclass
class StreamlinesView(_Lines):
    """Lines along the velocity as it is; see `gpufluid.Streamlines`.

    Raises GpufluidError naming the field and what it should be.
    """

    MADE, FIXED = "Streamlines", ("points", "seeds", "both")
    step: Real = _up_to_one(0.5)
    both: bool = rules.flag(True)


@named
@dataclass
class StreakLinesView(_Lines):
    """Lines through what was released at each seed; see `gpufluid.StreakLines`.

    Raises GpufluidError naming the field and what it should be.
    """

    MADE = "StreakLines"
    points: int = rules.whole(128, 2, 8192)
    interval: RealOrNone = rules.number(None, above=0.0)


@named
@dataclass
class GlyphsView(FlowView):
    """Arrows; see `gpufluid.Glyphs`.

    Raises GpufluidError naming the field and what it should be.
    """

    MADE = "Glyphs"
    spacing: RealOrNone = rules.number(None, low=1.0)
    axis: str | None = rules.choice(None, *AXES, None)
    position: RealOrNone = rules.number(None)
    length: RealOrNone = rules.number(None, above=0.0)
    colors: str | None = _colors()
    range: Pair | None = _range()
    legend: bool = rules.flag(False)


@named
@dataclass
class SliceView(FlowView):
    """A plane coloured by a quantity; see `gpufluid.SlicePlane`.

    Raises GpufluidError naming the field and what it should be.
    """

    MADE = "SlicePlane"
    field: str = rules.choice("speed", *FIELDS)
    axis: str = rules.choice("z", *AXES)
    position: RealOrNone = rules.number(None)
    point: Vector | None = rules.vector(None)
    normal: Vector | None = rules.ruled(_normal, None)
    colors: str | None = _colors()
    range: Pair | None = _range()
    opacity: Real = rules.share(1.0)
    contours: int = rules.whole(0, 0, 100)
    legend: bool = rules.flag(True)


@named
@dataclass
class IsoSurfaceView(FlowView):
    """The surface on which a quantity has one value; see `gpufluid.IsoSurface`.

    Raises GpufluidError naming the field and what it should be.
    """

    MADE = "IsoSurface"
    field: str = rules.choice("density", *FIELDS)
    level: RealOrNone = rules.number(None)
    color: Vector = rules.color((0.80, 0.82, 0.86))
    smooth: bool = rules.flag(True)


@named
@dataclass
class VoxelsView(FlowView):
    """The voxels of the solids; see `gpufluid.VoxelView`. surface: whether their surfaces are drawn too; the
    scene draws its solids anyway.

    Raises GpufluidError naming the field and what it should be.
    """

    MADE = "VoxelView"
    style: str = rules.choice("wires", "wires", "cubes")
    surface: bool = rules.flag(False)
    color: Vector = rules.color((0.36, 0.78, 0.86))
    surface_color: Vector = rules.color((0.72, 0.36, 0.22))
    fill: Real = _up_to_one(0.84)
    line_width: Real = rules.number(1.0, above=0.0)
