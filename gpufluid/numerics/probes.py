"""What flows at given points, asked for without waiting for the GPU."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from weakref import WeakSet, finalize

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpufluid.common.checks import held, real_array
from gpufluid.common.errors import GpufluidError, counted
from gpufluid.contract.arguments import Cells
from gpufluid.contract.backend import Backend, FieldStore, Later, release
from gpufluid.contract.kernels import Variant
from gpufluid.contract.layout import PROBES

Singles = NDArray[np.float32]


class Samples:
    """What `Fluid.sample` was asked for: there from the moment on when `ready` is True.

    Any of the arrays waits until it is. They are of the moment when they were asked for.
    """

    def __init__(
        self,
        count: int,
        velocity: list[Later],
        scalars: list[Later],
        at_work: Callable[[str], AbstractContextManager[None]],
    ) -> None:
        self._count, self._late, self._at_work = count, (velocity, scalars), at_work
        self._there: tuple[Singles, Singles] | None = None

    def __repr__(self) -> str:
        return (
            f"<{counted(self._count, 'sample')} of a gf.Fluid: velocity, density, temperature, fuel, inside>"
        )

    @property
    def ready(self) -> bool:
        """True once the arrays are there."""
        if self._there is not None:
            return True
        with self._at_work("Samples.ready"):
            return all(late.ready for many in self._late for late in many)

    @property
    def velocity(self) -> Singles:
        """m/s, [n, 3]; 0 outside the box, the solid's own inside one."""
        return self.read()[0][:, :3]

    @property
    def inside(self) -> NDArray[np.bool_]:
        """Which points lie in the box, [n]."""
        inside: NDArray[np.bool_] = self.read()[0][:, 3] > 0.5
        return inside

    @property
    def density(self) -> Singles:
        """[n]; as `temperature` and `fuel` 0 in solids and outside the box."""
        return self.read()[1][:, 0]

    @property
    def temperature(self) -> Singles:
        """[n]."""
        return self.read()[1][:, 1]

    @property
    def fuel(self) -> Singles:
        """[n]."""
        return self.read()[1][:, 2]

    def read(self) -> tuple[Singles, Singles]:
        """Return all of it as it was sampled, two float32 [n, 4]; copies on the device are then let go.

        The first: velocity, m/s, and 1 in the box; the second: density, temperature, fuel.
        """
        if self._there is None:
            with self._at_work("Samples"):
                velocity, scalars = (
                    np.concatenate([late.read().reshape(-1, 4) for late in many] or [np.zeros((0, 4))])
                    for many in self._late
                )
            self._there = (
                velocity[: self._count].astype(np.float32),
                scalars[: self._count].astype(np.float32),
            )
        return self._there


class Probes:
    """Samples fields at points, `PROBES`^2 in a pass."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self._fields: dict[str, FieldStore] = {}
        self._asked: WeakSet[Samples] = WeakSet()
        self._orphans: list[Later] = []  # of answers nobody holds any more, until a context is surely current

    def ask(
        self,
        points: NDArray[np.float64],
        variant: Variant,
        cells: Cells,
        *,
        velocity: FieldStore,
        scalars: FieldStore,
    ) -> Samples:
        """Ask for the `velocity` and `scalars` at `points` [n, 3], metres. cells: the solids, if any."""
        variant = replace(variant, sampler="exact")
        grid, run = self.backend.grid, self.backend.kernel
        self._release_orphans()
        for name in ("points", "sampled"):
            if name not in self._fields:
                self._fields[name] = self.backend.field(name, "probe", buffers=1, exact=True)
        at, sampled = self._fields["points"], self._fields["sampled"]
        places = (points - np.array(grid.origin)) / grid.cell_size
        late: tuple[list[Later], list[Later]] = [], []
        for first in range(0, len(places), PROBES**2):
            some = places[first : first + PROBES**2]
            volume = np.full((PROBES**2, 4), -1.0)  # nowhere
            volume[: len(some), :3] = some
            at.write(volume.reshape(1, PROBES, PROBES, 4))
            run("sample_velocity", variant)(sampled=sampled, points=at, velocity=velocity)
            late[0].append(sampled.later())
            run("sample_scalars", variant)(sampled=sampled, points=at, scalars=scalars, **cells)
            late[1].append(sampled.later())
        samples = Samples(len(points), *late, self.backend.at_work)
        self._asked.add(samples)
        finalize(samples, self._orphans.extend, [*late[0], *late[1]]).atexit = False
        return samples

    def release(self) -> None:
        """Release the fields and all copies of answers; those that somebody holds still are read first."""
        for samples in self._asked:
            samples.read()
        self._release_orphans()
        release(*self._fields.values())
        self._fields.clear()

    def _release_orphans(self) -> None:
        while self._orphans:
            self._orphans.pop().release()


def places_of(points: ArrayLike) -> NDArray[np.float64]:
    """`points` as [n, 3] float64, or GpufluidError."""
    try:
        places = real_array(points)
    except (TypeError, ValueError):
        raise GpufluidError("points must be an array of numbers of shape [n, 3]") from None
    if places.shape == (0,):  # of an empty list
        places = places.reshape(0, 3)
    if places.ndim != 2 or places.shape[1] != 3:
        raise GpufluidError(f"points must have the shape [n, 3], got {list(places.shape)}")
    if not held(places).all():
        where = int(np.argwhere(~held(places))[0][0])
        raise GpufluidError(f"points must be finite, got {tuple(places[where].tolist())} at {where}")
    return places
