"""Obstacles as voxels: which cells are solid, how fast they move, which faces they close."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpufluid.backend import Backend, FieldStore
from gpufluid.boundaries import Boundaries
from gpufluid.kernels import Variant
from gpufluid.shapes import Box, Mesh, Obstacle, Sphere

Matrix = NDArray[np.float64]


class Solids:
    """The voxels of a fluid's obstacles, made anew when one has moved.

    The fields exist from the first obstacle on. `faces` and `cells` and `openings` are the arguments that
    kernels take of them, empty dicts while there is no obstacle.
    """

    def __init__(self, backend: Backend, boundaries: Boundaries) -> None:
        self.backend, self.boundaries = backend, boundaries
        self.faces: dict[str, Any] = {}
        self.cells: dict[str, Any] = {}
        self.openings: dict[str, Any] = {}
        self._fields: dict[str, FieldStore] = {}
        self._places: dict[int, Matrix] = {}  # where each obstacle was at the last step
        self._voxels: list[tuple[Any, ...]] = []  # what the fields hold now

    @property
    def present(self) -> bool:
        """True where there is an obstacle."""
        return bool(self.faces)

    @property
    def moving(self) -> bool:
        """True where an obstacle came from elsewhere in this step, and may have displaced fluid."""
        return any(motion.any() for *_, motion in self._voxels)

    @property
    def solid(self) -> FieldStore | None:
        """Cells: velocity (m/s) and 1 inside, or None while there is no obstacle."""
        return self.cells.get("solid")

    def update(self, obstacles: Sequence[Obstacle], dt: float | None) -> None:
        """Voxelize `obstacles` where they are now, if anything has changed.

        dt: seconds since the last step, over which an obstacle came here from where it was; None only
        looks, with every solid at rest.
        """
        to_box = np.eye(4)
        to_box[:3, 3] = np.negative(self.backend.grid.origin)
        places = {id(o): to_box @ o.matrix for o in obstacles}
        voxels: list[tuple[Any, ...]] = []
        for obstacle in obstacles:
            place = places[id(obstacle)]
            before = self._places.get(id(obstacle), place)
            motion = np.zeros((4, 4))
            if dt and not np.array_equal(before, place):
                motion = (np.eye(4) - before @ np.linalg.inv(place)) / dt
            voxels.append((obstacle.shape, place.tobytes(), motion.tobytes(), place, motion))
        if dt is not None:
            self._places = places
        if [v[:3] for v in voxels] != [v[:3] for v in self._voxels]:
            self._voxels = voxels
            self._voxelize()

    def _voxelize(self) -> None:
        if not self._voxels:
            self.faces, self.cells, self.openings = {}, {}, {}
            return
        backend, run, variant = (
            self.backend,
            self.backend.kernel,
            Variant(solids=True, boundaries=self.boundaries),
        )
        if not self._fields:
            self._fields = {
                "solid": backend.field("solid", "cell"),
                "winding": backend.field("winding", "cell", 1, buffers=1),
                "solid_faces": backend.field("solid_faces", "face", buffers=1),
                "openings": backend.field("openings", "pack", 1, buffers=1, exact=True),
            }
        fields = self._fields
        fields["solid"].fill([0.0])
        for shape, _, _, place, motion in self._voxels:
            kind, center, extent = 0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
            if isinstance(shape, Mesh):
                backend.voxelize(shape, place, fields["winding"])
                corners = shape.vertices @ place[:3, :3].T + place[:3, 3]
                low, high = corners.min(0), corners.max(0)
                kind, center, extent = 2, tuple((low + high) / 2), tuple((high - low) / 2)
            elif isinstance(shape, Sphere):
                center, extent = shape.center, (shape.radius,) * 3
            elif isinstance(shape, Box):
                kind, center, extent = 1, shape.center, shape.half_size
            run("add_obstacle", variant)(
                solid=fields["solid"],
                winding=fields["winding"],
                shape=kind,
                to_local=np.linalg.inv(place),
                center=center,
                extent=extent,
                motion=motion,
            )
        run("close_faces", variant)(solid=fields["solid"], solid_faces=fields["solid_faces"])
        run("open_neighbours", variant)(solid=fields["solid"], openings=fields["openings"])
        self.faces = {"solid_faces": fields["solid_faces"]}
        self.cells = {"solid": fields["solid"]}
        self.openings = {"openings": fields["openings"]}

    def release(self) -> None:
        """Release the fields."""
        for field in self._fields.values():
            field.release()
        self._fields.clear()
        self.faces, self.cells, self.openings = {}, {}, {}
