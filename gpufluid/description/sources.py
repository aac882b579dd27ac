"""What feeds a fluid: emitters, and the shapes only they can have.

Descriptions only; `masks` tells how much of a source each cell gets. Lengths are metres, (x, y, z).
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from gpufluid.common import rules
from gpufluid.common.checks import LUMINANCE, finite_number, finite_points, finite_triple, locked, real_array
from gpufluid.common.errors import GpufluidError, named
from gpufluid.common.image_files import read_image
from gpufluid.common.vectors import Floats, Number, Pair, Real, RealOrNone, Vector
from gpufluid.description.grid import CellBox
from gpufluid.description.mesh import Mesh
from gpufluid.description.shapes import Analytic, rotation_matrix

EDGES = ("gaussian", "hard")
BEZIER_PARTS = 32  # straight parts of a cubic: off the curve by at most 1e-3 of its longest second difference
MAX_SEED = (1 << 24) - 1  # what a float holds exactly


@named
class Line:
    """All that lies within `radius` > 0 of a line through `points` [n, 3], n >= 2; metres.

    Raises GpufluidError naming the value and its limit.
    """

    def __init__(self, points: ArrayLike, radius: Number = 0.05) -> None:
        self.points: Final = finite_points(points, "Line.points", "two")
        self.radius: Final = finite_number(radius, "Line.radius", above=0.0)

    def __repr__(self) -> str:
        return f"Line({len(self.points)} points, radius={self.radius:g})"

    @property
    def path(self) -> Floats:
        """The points that straight parts join, [n, 3]."""
        return self.points


@named
class Bezier:
    """All that lies within `radius` > 0 of cubic Bezier curves through control points; metres.

    points: [3 k + 1, 3]: an end, two handles, an end, and so on; each end starts the next curve.
    Drawn as 32 straight parts a curve. Raises GpufluidError naming the value and its limit.
    """

    def __init__(self, points: ArrayLike, radius: Number = 0.05) -> None:
        self.points: Final = finite_points(points, "Bezier.points", "two")
        self.radius: Final = finite_number(radius, "Bezier.radius", above=0.0)
        if len(self.points) % 3 != 1:
            raise GpufluidError(
                f"Bezier.points must be 4, 7, 10, ... points (an end and three more a curve), "
                f"got {len(self.points)}"
            )

    def __repr__(self) -> str:
        return f"Bezier({len(self.points)} points, radius={self.radius:g})"

    @cached_property
    def path(self) -> Floats:
        """The points that straight parts join, [n, 3]."""
        t = np.linspace(0.0, 1.0, BEZIER_PARTS + 1)[:, None]
        curves = [
            (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t**2 * c + t**3 * d
            for a, b, c, d in (self.points[i : i + 4] for i in range(0, len(self.points) - 1, 3))
        ]
        return np.concatenate([curves[0], *(curve[1:] for curve in curves[1:])])


@named
class Surface:
    """The surface of `mesh` as a sheet of `thickness` metres; None is one cell.

    Raises GpufluidError naming the value and its limit.
    """

    def __init__(self, mesh: Mesh, thickness: Number | None = None) -> None:
        if not isinstance(mesh, Mesh):
            raise GpufluidError(f"Surface.mesh must be a gf.Mesh, got {mesh!r}")
        self.mesh: Final = mesh
        self.thickness: Final = (
            None if thickness is None else finite_number(thickness, "Surface.thickness", above=0.0)
        )

    def __repr__(self) -> str:
        return f"Surface({self.mesh!r}, thickness={self.thickness})"


@named
class Image:
    """A picture that stands in the box as a thin sheet facing +z; bright parts emit more.

    source: a file (with the film extra) or an array [height, width(, 1, 3 or 4)], uint8 or 0 .. 1, top row
        first. Its strength is the luminance (Rec. 709) times alpha; a picture without light but with alpha (a
        black logo) emits by its alpha.
    center: metres. size: width and height, metres, > 0. thickness: metres; None is one cell.

    Raises GpufluidError naming the file or value, MissingDependencyError without Pillow.
    """

    def __init__(
        self,
        source: str | os.PathLike[str] | ArrayLike,
        center: Vector = (0.0, 0.0, 0.0),
        size: Pair = (1.0, 1.0),
        thickness: Number | None = None,
    ) -> None:
        self.pixels: Final = _luminance(source)
        self.center: Final = finite_triple(center, "Image.center")
        try:
            width, height = size
        except (TypeError, ValueError):
            raise GpufluidError(f"Image.size must be two numbers (width, height), got {size!r}") from None
        self.size: Final = (
            finite_number(width, "Image.size width", above=0.0),
            finite_number(height, "Image.size height", above=0.0),
        )
        self.thickness: Final = (
            None if thickness is None else finite_number(thickness, "Image.thickness", above=0.0)
        )

    def __repr__(self) -> str:
        height, width = self.pixels.shape
        return f"Image({width} x {height} pixels, center={self.center}, size={self.size})"


@named
class Array:
    """A value of 0 .. 1 for every cell of the grid, its share of the emission; it cannot be moved or get an
    edge.

    values: [nz, ny, nx].

    Raises GpufluidError naming the field and what it should be.
    """

    def __init__(self, values: ArrayLike) -> None:
        self.values: Final = _shares(values, "Array.values", 3)

    def __repr__(self) -> str:
        return f"Array({' x '.join(map(str, self.values.shape))} shares)"

    @cached_property
    def boxes(self) -> list[CellBox]:
        """The corners of the box round all cells with a share, cells; none where there are no such cells."""
        along = [np.flatnonzero(self.values.any(axis=axes)) for axes in ((0, 1), (0, 2), (1, 2))]
        if not len(along[0]):
            return []
        return [([float(n[0]) for n in along], [float(n[-1] + 1) for n in along])]


Source = Analytic | Mesh | Line | Bezier | Surface | Image | Array


@named
@dataclass(eq=False)  # two emitters alike are still two: lists must find the very one
class Emitter(rules.Checked):
    """A source of smoke, heat, fuel or motion. Its fields can be changed at any time.

    shape: Sphere, Box, Cylinder, Capsule, Plane, Mesh (its volume), Surface (of a mesh), Line, Bezier, Image
        or Array. In a grid one cell deep its middle is moved along z into the one slice.
    density, fuel: added per second inside the shape, >= 0.
    color: red, green and blue densities added per second, >= 0, to `Fluid.color`; None: none.
    temperature: the value set inside the shape; None leaves it alone.
    velocity: m/s, (x, y, z), set inside the shape; None leaves it alone. Where the edge or the noise weakens
        the emitter, temperature and velocity replace only that share of what is there, per thirtieth of a
        second whatever the time step: a second brings as much heat and motion in many short steps as in few.
    edge: "gaussian" fades outside the shape over `falloff` metres (> 0; None: one cell), "hard" ends at the
        shape. A gaussian edge emits too: a ball six cells across with a falloff of one cell emits 2.3 times
        its volume. With a hard one a cell that is covered in part gets proportionally less, so that the
        shape's volume decides how much is emitted: exactly on average over all places, and in any one place
        within 6 %; round shapes under three cells across within 20 %, turned boxes and cylinders thinner than
        a cell within 40 %, a turned box of half a cell all round within 70 %. A closed mesh emits its volume
        in every place, where no parts of it overlap.
    noise: 0 .. 1, how much of the emission a pattern of patches `noise_size` metres wide (None: four cells)
        takes away at most, half of that on average; the pattern is another one after every `noise_time`
        seconds. seed: a whole number; the same seed gives the same patches. Without a `falloff` and a
        `noise_size` both go by the cells; give them in metres, and on a finer grid the same source emits as
        much, in the same patches.
    position, rotation: where the shape's own origin stands, and how it is turned about it; see `Obstacle`. In
        a periodic box, what reaches over a side comes in at the opposite one, with the same patches, and
        where the shape meets itself there it counts once. A Plane, which has no bounds, and an Array, which
        has a value for each cell already, end at the sides. A Box, Cylinder or Capsule along an axis, as long
        as the box, has no ends there; of other shapes longer than the box, the eight images nearest to its
        middle count.
    active: False switches the emitter off.
    motion: how fast it moves, m/s; `position` is where it has arrived. What it emits in a step is spread
        along the way it has come, so a fast source leaves a trail and not a row of puffs; what it sets, it
        sets for as long as it is there, as in many short steps. It stays in effect
        until it is set back; in a description it follows from the position. Not for a Mesh and the shapes
        after it in the list above.

    For a Mesh and the shapes after it in the list, the share of each cell is worked out on the CPU whenever
    the shape is new or has moved. Solids get nothing. Raises GpufluidError naming the field and its limit.
    """

    shape: Source
    density: Real = rules.number(0.0, low=0.0)
    temperature: RealOrNone = rules.number(None)
    velocity: Vector | None = rules.vector(None)
    falloff: RealOrNone = rules.number(None, above=0.0)
    active: bool = rules.flag(True)
    fuel: Real = rules.number(0.0, low=0.0)
    edge: str = rules.choice("gaussian", *EDGES)
    noise: Real = rules.share(0.0)
    noise_size: RealOrNone = rules.number(None, above=0.0)
    noise_time: Real = rules.number(0.25, above=0.0)
    seed: int = rules.whole(0, 0, MAX_SEED)
    position: Vector = rules.vector((0.0, 0.0, 0.0))
    rotation: ArrayLike | None = None
    color: Vector | None = rules.radiance(None)
    motion: Vector = rules.vector((0.0, 0.0, 0.0))

    def check(self) -> None:
        """Raise GpufluidError naming the first field that nothing can be emitted with."""
        if not isinstance(self.shape, Source):
            raise GpufluidError(
                "Emitter.shape must be a Sphere, Box, Cylinder, Capsule, Plane, Mesh, Surface, Line, Bezier, "
                f"Image or Array, got {self.shape!r}"
            )
        super().check()
        rotation_matrix(self.rotation, "Emitter.rotation")

    @property
    def matrix(self) -> Floats:
        """The shape's space to the world, [4, 4] float64: translate @ rotate. Raises as `check`."""
        matrix = np.eye(4)
        matrix[:3, :3] = rotation_matrix(self.rotation, "Emitter.rotation")
        matrix[:3, 3] = finite_triple(self.position, "Emitter.position")
        return matrix


def _shares(values: ArrayLike, name: str, dimensions: int) -> Floats:
    """A locked copy of `values` as float64 in 0 .. 1, or raise naming it."""
    try:
        array = real_array(values)
    except (TypeError, ValueError):
        raise GpufluidError(f"{name} must be an array of numbers") from None
    if array.ndim != dimensions or not array.size:
        raise GpufluidError(f"{name} must have {dimensions} dimensions, got the shape {list(array.shape)}")
    good = (array >= 0.0) & (array <= 1.0)
    if not good.all():
        where = tuple(int(i) for i in np.argwhere(~good)[0])
        raise GpufluidError(f"{name} must be in 0 .. 1, got {array[where]:g} at {where}")
    return locked(array)


def _luminance(source: str | os.PathLike[str] | ArrayLike) -> Floats:
    """The strength of a picture, [height, width], top row first; see `Image`."""
    try:
        pixels = np.asarray(read_image(Path(source)) if isinstance(source, str | os.PathLike) else source)
    except GpufluidError:
        raise
    except (TypeError, ValueError):
        raise GpufluidError("Image.source must be a file or an array of numbers") from None
    if pixels.dtype == np.uint8:
        pixels = pixels / 255.0
    if pixels.ndim == 2:
        pixels = pixels[..., None]
    if pixels.ndim != 3 or pixels.shape[2] not in (1, 3, 4):
        raise GpufluidError(
            f"Image.source must be an array [height, width(, 1, 3 or 4)], got the shape {list(pixels.shape)}"
        )
    pixels = _shares(pixels, "Image.source", 3)
    light = pixels[..., :3] @ LUMINANCE if pixels.shape[2] >= 3 else pixels[..., 0]
    alpha = pixels[..., 3] if pixels.shape[2] == 4 else np.ones_like(light)
    strength = np.asarray(light * alpha)
    return _shares(np.clip(strength if strength.any() or pixels.shape[2] < 4 else alpha, 0, 1), "Image", 2)
