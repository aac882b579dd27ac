"""What emitters bring in a step: where they reach, and what kernels add of them to the fluid."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpufluid.common.checks import LARGEST
from gpufluid.common.vectors import Floats, Triple
from gpufluid.contract.arguments import Faces
from gpufluid.contract.backend import Backend, FieldStore
from gpufluid.contract.kernels import EMITTER_ROWS, EMITTERS, Variant
from gpufluid.description.boundaries import Boundaries
from gpufluid.description.doubts import doubt_mesh, doubt_source
from gpufluid.description.grid import CellBox, Grid
from gpufluid.description.masks import CUT, SEEN, covering, is_sure_to_reach, source_box, source_mask
from gpufluid.description.mesh import Mesh
from gpufluid.description.periodic import HERE, bounds, cells_between, form_images, images, moved, periods
from gpufluid.description.shapes import HALF_SPACE, ROUND, Analytic, Form, Plane
from gpufluid.description.sources import MAX_SEED, Array, Emitter, Surface
from gpufluid.numerics.copies import Copies, KeptFields, as_now
from gpufluid.reference.sources import emitter_share

Rows = NDArray[np.float32]
RowsOf = Callable[[Emitter, Grid, Boundaries, float, float], tuple[Rows, Sequence[float]]]

PLACES = 16  # at most along the way of an emitter in a substep
WAY, PER_CELL = 4, 8  # cells of the way of an emitter that are looked along, and places in each
MORE = 4  # added to the kind of a form that is one more image, see emitter.glsl
SET_RATE = 30.0  # 1/s: where an emitter has a share, it sets that much of a value in 1 / SET_RATE seconds
SEED_STRIDE = 104729  # a prime: emitters of neighbouring seeds do not show each other's later noise soon


class _Place(Emitter):
    """An emitter at one of several places on its way, which share the time of a substep between them."""

    places = 1


def emitter_images(
    emitter: Emitter, grid: Grid, boundaries: Boundaries
) -> tuple[Form, Floats, Sequence[Triple]]:
    """Return the form of an emitter, where it stands, and how far off those images are that reach the box, m.

    The place is [4, 4], the form's own space to metres from the low corner of the box.
    """
    assert isinstance(emitter.shape, Analytic)
    form, width = emitter.shape.form, edge_width(emitter, grid)
    place: Floats = emitter.matrix @ form.place
    place[:3, 3] -= grid.origin
    if grid.dimensions == 2:
        place[2, 3] = 0.5 * grid.cell_size
    reach = grid.cell_size if width is None else CUT * width  # a hard edge fades over a cell, askew too
    form, there = form_images(grid, boundaries, form, place, reach, most=EMITTERS)
    return form, place, there


def emitter_rows(
    emitter: Emitter, grid: Grid, boundaries: Boundaries, dt: float, time: float
) -> tuple[Rows, Sequence[float]]:
    """Return what the emit kernels read of an emitter, see emitter.glsl, and the middle of its shape, m.

    [k, 8, 4] for its images that reach the box; k is 1 where it is a mask. time: seconds since the start,
    which tells the noise.
    """
    middle: Sequence[float] = [0.5 * edge for edge in grid.size]
    dt = _time_of(emitter, dt)
    rows, width, counts = np.zeros((1, EMITTER_ROWS, 4)), edge_width(emitter, grid), 1.0
    if isinstance(emitter.shape, Analytic):
        form, place, there = emitter_images(emitter, grid, boundaries)
        rows, middle = np.zeros((len(there), EMITTER_ROWS, 4)), place[:3, 3].tolist()
        inverse = np.linalg.inv(place)[:3]
        rows[:, :3] = inverse
        if there is not HERE:
            rows[:, :3, 3] -= np.reshape(there, (-1, 3)) @ inverse[:, :3].T
        (x, *core), rounding = form.core, form.rounding
        along = float(np.linalg.norm(place[: grid.dimensions, 1]))  # of the axis of a round one, in the grid
        if width is None and rounding:
            rounding, counts = covering(grid, rounding, 2.0 * core[0] * along)
        elif width is None and form.kind == ROUND and (grid.dimensions == 3 or along < 0.5):
            x, counts = covering(grid, x, 0.0, ends=False)
        rows[:, 3] = x, *core, rounding
        rows[:, 4, 0] = form.kind
    elif emitter.noise and not isinstance(emitter.shape, Array):
        middle = source_box(grid, emitter.shape, emitter.matrix, width)[0][:3, 3].tolist()
    rows[:, 4, 1:] = (
        -counts if width is None else 1.0 / width,
        SET_RATE * dt * (emitter.velocity is not None),
        SET_RATE * dt * (emitter.temperature is not None),
    )
    turn, share = divmod(time / emitter.noise_time, 1.0)
    density, fuel = (min(amount * dt, LARGEST) for amount in (emitter.density, emitter.fuel))
    rows[:, 5] = density, emitter.temperature or 0.0, fuel, share
    rows[:, 6] = *(emitter.velocity or (0.0, 0.0, 0.0)), emitter.noise
    size = 4.0 * grid.source_cell if emitter.noise_size is None else emitter.noise_size
    seeds = ((int(emitter.seed) * SEED_STRIDE + int(turn) + n) % (MAX_SEED + 1) for n in (0, 1))
    rows[:, 7] = 1.0 / max(size, 1e-30), *seeds, 0.0
    if len(rows) > 1:  # the last brings the largest share of all images, the others nothing
        rows[1:, 4, 0] += MORE
        rows[:-1, 4, 2:] = rows[:-1, 5, :3] = 0.0
    return rows.astype(np.float32), middle


def color_rows(
    emitter: Emitter, grid: Grid, boundaries: Boundaries, dt: float, time: float
) -> tuple[Rows, Sequence[float]]:
    """Return the same, with which the emit kernels add the colour of an emitter."""
    rows, middle = emitter_rows(emitter, grid, boundaries, dt, time)
    rows[-1:, 4, 3] = 0.0  # add to the second channel, do not set it
    rows[-1:, 5, :3] = np.minimum(np.multiply(emitter.color or 0.0, _time_of(emitter, dt)), LARGEST)
    return rows, middle


def _time_of(emitter: Emitter, dt: float) -> float:
    """How many of `dt` seconds an emitter is where it is."""
    return dt / emitter.places if isinstance(emitter, _Place) else dt


def edge_width(emitter: Emitter, grid: Grid) -> float | None:
    """Width of the Gaussian edge, metres; None for a hard one."""
    if emitter.edge == "hard":
        return None
    return grid.source_cell if emitter.falloff is None else emitter.falloff


class Reach:
    """The boxes of cells that emitters and their images reach, as these are now: looked for once."""

    def __init__(self, grid: Grid, boundaries: Boundaries) -> None:
        self._place = grid, boundaries
        self._found: dict[int, list[CellBox] | None] = {}

    def of(self, emitters: Sequence[Emitter]) -> list[CellBox] | None:
        """The corners of those boxes of `emitters`, in cells; None: perhaps all cells."""
        boxes = list[CellBox]()
        for emitter in emitters:
            if id(emitter) not in self._found:
                self._found[id(emitter)] = _boxes_of(emitter, *self._place)
            of_one = self._found[id(emitter)]
            if of_one is None:
                return None
            boxes += of_one
        return boxes


def _boxes_of(emitter: Emitter, grid: Grid, boundaries: Boundaries) -> list[CellBox] | None:
    if isinstance(emitter.shape, Array):
        shape = emitter.shape.values.shape[::-1]  # of finer cells, perhaps
        wide = [own / its for own, its in zip(grid.cells, shape, strict=True)]
        return [(_scaled(low, wide), _scaled(high, wide)) for low, high in emitter.shape.boxes]
    width = edge_width(emitter, grid)
    there: Sequence[Triple]
    if isinstance(emitter.shape, Analytic):
        form, place, there = emitter_images(emitter, grid, boundaries)
        if form.kind == HALF_SPACE:
            return None
        half = form.half + max(0.0 if width is None else CUT * width, 2.0 * grid.cell_size)
    else:
        place, half = source_box(grid, emitter.shape, emitter.matrix, width)
        there = images(periods(grid, boundaries), *bounds(place, half))
    return [cells_between(grid, shift, *bounds(place, half)) for shift in there]


def _scaled(place: Sequence[float], by: Sequence[float]) -> list[float]:
    return [n * factor for n, factor in zip(place, by, strict=True)]


def _noisy(variant: Variant, emitters: Sequence[Emitter]) -> Variant:
    """The variant that knows of noise where one of `emitters` has some."""
    return replace(variant, noise=True) if any(e.noise for e in emitters) else variant


def on_its_way(emitter: Emitter, dt: float, later: float, spacing: float) -> Sequence[Emitter]:
    """`emitter`, or one for each place on the way that it comes in `dt` seconds: together they bring as much,
    and set as much.

    later: seconds from the end of that way to where it stands. spacing: metres between places, about.
    """
    if not any(emitter.motion) or not isinstance(emitter.shape, Analytic):
        return (emitter,)  # a mask, which the CPU works out, would have to be made for each place
    count = min(max(math.ceil(math.hypot(*emitter.motion) * dt / spacing), 1), PLACES)
    place = _Place(**{field.name: getattr(emitter, field.name) for field in fields(emitter)})
    place.places = count
    return [_gone_on(place, -(later + dt * (n + 0.5) / count)) for n in range(count)]


def _gone_on(emitter: Emitter, seconds: float) -> Emitter:
    """A copy of an emitter where its motion takes it in so many seconds, or where it was before (< 0)."""
    one = as_now(emitter)
    x, y, z = (p + v * seconds for p, v in zip(emitter.position, emitter.motion, strict=True))
    one.position = x, y, z
    return one


def is_lost(emitter: Emitter, grid: Grid, boundaries: Boundaries) -> bool:
    """Whether an emitter changes nothing since it lies between the places where values are.

    Those are the middles of cells, or of faces if it brings a velocity alone; none of them gets more than
    1e-4 of it. One that moves is looked at on the next WAY cells of its way.
    """
    shape, width = emitter.shape, edge_width(emitter, grid)
    if isinstance(shape, Array | Plane) or is_sure_to_reach(grid, shape, width):
        return False
    least = 0.0 if width is None else math.exp(-(SEEN**2))
    if not isinstance(shape, Analytic):
        share = source_mask(grid, shape, emitter.matrix, width, periods(grid, boundaries))
        return bool(share.max() <= least)
    speed = math.hypot(*emitter.motion)
    for n in range(WAY * PER_CELL if speed else 1):
        one = _gone_on(emitter, n * grid.cell_size / PER_CELL / (speed or 1.0))
        if any((share > least).any() for share in _shares_near(one, grid, boundaries)):
            return False
    return True


def _shares_near(emitter: Emitter, grid: Grid, boundaries: Boundaries) -> Iterator[Floats]:
    """Yield what there is of an emitter with a form where it changes something, its middle slice first."""
    h, deep = grid.cell_size, grid.dimensions
    rows, _ = emitter_rows(emitter, grid, boundaries, 1.0, 0.0)
    form, place, there = emitter_images(emitter, grid, boundaries)
    width = edge_width(emitter, grid)
    brings = emitter.density or emitter.fuel or emitter.color or emitter.temperature is not None
    offsets = np.full((3, 3), 0.5) - 0.5 * np.eye(3)  # of low faces, cells from a cell's low corner
    offsets = np.full((1, 3), 0.5) if brings or emitter.velocity is None else offsets[:deep]
    for row, shift in zip(rows, there, strict=True):
        low, high = bounds(moved(place, shift), form.half + (h if width is None else CUT * width))
        for off in offsets:
            faces = np.array(grid.cells) + (off == 0.0)
            first = np.clip(np.floor(np.divide(low, h) - off), 0, faces).astype(int)
            last = np.clip(np.ceil(np.divide(high, h) - off) + 1, 0, faces).astype(int)
            x, y, z = ((np.arange(a, b) + c) * h for a, b, c in zip(first, last, off, strict=True))
            for height in sorted(z.tolist(), key=lambda c: abs(c - place[2, 3] - shift[2])):
                yield emitter_share(grid, row, np.stack(np.meshgrid(x, y, height), -1))


def doubt_emitter(emitter: Emitter, grid: Grid, boundaries: Boundaries) -> None:
    """Warn of an emitter that will hardly do what was meant."""
    shape, period = emitter.shape, periods(grid, boundaries)
    lost = partial(is_lost, emitter, grid, boundaries)
    if isinstance(shape, Mesh | Surface):
        mesh, where_open = (
            (shape, "what is inside it is a guess") if isinstance(shape, Mesh) else (shape.mesh, None)
        )
        doubt_mesh(mesh, emitter.matrix, grid, period, where_open, axes=grid.dimensions, lost=lost)
    else:
        doubt_source(emitter, edge_width(emitter, grid) or 0.0, grid, period, lost)


class _Moment(NamedTuple):
    """Where and for how long a stage brings what it does: see `Emission.emit`."""

    reach: Reach
    dt: float
    time: float
    variant: Variant
    faces: Faces


class Emission:
    """The stage that adds what emitters bring.

    placed: the backend whose cells tell how far the box has gone since it was made.
    """

    def __init__(self, backend: Backend, copies: Copies, placed: Backend | None = None) -> None:
        self.backend, self._placed = backend, placed or backend
        self._masks = KeptFields(backend, copies, "mask", 1)

    def emit(
        self,
        emitters: Sequence[Emitter],
        reach: Reach,
        dt: float,
        time: float,
        variant: Variant,
        faces: Faces,
        *,
        velocity: FieldStore | None,
        scalars: FieldStore,
        colors: FieldStore | None = None,
    ) -> None:
        """Add the density, fuel and colour of every emitter; set its temperature and velocity.

        reach: of the emitters. faces: which solids close. velocity: None where it is not solved for.
        """
        self._masks.keep(emitters)
        active, moment = [e for e in emitters if e.active], _Moment(reach, dt, time, variant, faces)
        self._emit_into(scalars, active, emitter_rows, moment, velocity)
        if colors is not None:
            self._emit_into(colors, [e for e in active if e.color is not None], color_rows, moment)

    def _emit_into(
        self,
        values: FieldStore,
        emitters: Sequence[Emitter],
        rows_of: RowsOf,
        moment: _Moment,
        velocity: FieldStore | None = None,
    ) -> None:
        """Put what `rows_of` says of `emitters` into three channels of cells, and into `velocity`, if any."""
        run, size = self.backend.kernel, self._placed.grid.cell_size
        where = {"noise_shift": tuple(n * size for n in self._placed.scrolled)}
        reach, variant, faces = moment.reach, moment.variant, moment.faces
        formed = [e for e in emitters if isinstance(e.shape, Analytic)]
        masked = [e for e in emitters if not isinstance(e.shape, Analytic)]
        for some, rows, count in self._passes(formed, rows_of, moment):
            given, kind = {**rows, **where, "emitter_count": count}, _noisy(variant, some)
            run("emit_scalars", kind).within(reach.of(some), scalars=values, **given)
            pushing = [e for e in some if e.velocity is not None]
            if velocity is not None and pushing:
                run("emit_velocity", kind).within(reach.of(pushing), velocity=velocity, **given, **faces)
        for emitter in masked:
            for some, rows, _ in self._passes([emitter], rows_of, moment):
                given, kind = {**rows, **where, "mask": self._mask(emitter, variant)}, _noisy(variant, some)
                boxes = reach.of(some)
                run("emit_mask", kind).within(boxes, scalars=values, **given)
                if velocity is not None and emitter.velocity is not None:
                    run("emit_mask_velocity", kind).within(boxes, velocity=velocity, **given, **faces)

    def _passes(
        self, emitters: Sequence[Emitter], rows_of: RowsOf, moment: _Moment
    ) -> Iterator[tuple[list[Emitter], dict[str, Rows], int]]:
        """Yield the emitters of each pass, what it takes of them, and how many images: all those of each."""
        some, rows, middles = list[Emitter](), list[Rows](), list[Sequence[float]]()
        when = moment.variant.boundaries, moment.dt, moment.time

        def taken() -> tuple[list[Emitter], dict[str, Rows], int]:
            of_each = np.zeros((EMITTERS, EMITTER_ROWS, 4), np.float32), np.zeros((EMITTERS, 4), np.float32)
            of_each[0][: len(rows)], of_each[1][: len(rows), :3] = rows, middles
            return some, {"emitters": of_each[0].reshape(-1, 4), "middles": of_each[1]}, len(rows)

        for emitter in emitters:
            own, middle = rows_of(emitter, self.backend.grid, *when)
            if len(rows) + len(own) > EMITTERS:
                yield taken()
                some, rows, middles = [], [], []
            some.append(emitter)
            rows.extend(own)
            middles.extend([middle] * len(own))
        if rows:
            yield taken()

    def _mask(self, emitter: Emitter, variant: Variant) -> FieldStore:
        """The share of each cell in an emitter without a formula."""
        shape, grid = emitter.shape, self.backend.grid
        assert not isinstance(shape, Analytic)
        width, matrix = edge_width(emitter, grid), emitter.matrix
        period = periods(grid, variant.boundaries)
        # an array belongs to the cells of the box, wherever that stands
        stands = None if isinstance(shape, Array) else grid.origin
        state = shape, matrix.tobytes(), width, stands
        return self._masks.of(
            emitter, state, lambda: source_mask(grid, shape, matrix, width, period)[..., None]
        )

    def release(self) -> None:
        """Release the masks."""
        self._masks.release()
