"""What a fluid looks like: the state that all who look at it read, and a still of it while a step goes on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from gpufluid.contract.arguments import Swelling
from gpufluid.contract.backend import Backend, FieldStore, release
from gpufluid.contract.kernels import Variant
from gpufluid.description.boundaries import Boundaries
from gpufluid.description.obstacles import Obstacle
from gpufluid.description.settings import Settings
from gpufluid.numerics.pressure import measure
from gpufluid.numerics.solids import Solids
from gpufluid.numerics.solver import Solver, variant_of


class State(Protocol):
    """The finished state of a fluid: what a `gpufluid.numerics.solver.Solver` holds between two steps."""

    backend: Backend
    settings: Settings
    boundaries: Boundaries
    time: float
    velocity: FieldStore
    scalars: FieldStore
    solids: Solids

    @property
    def pressure(self) -> FieldStore:
        """The pressure."""

    @property
    def color(self) -> FieldStore | None:
        """The colours, or None."""

    @property
    def flame(self) -> FieldStore | None:
        """What burnt last, or None without combustion."""

    @property
    def swelling(self) -> Swelling:
        """What the divergence takes of burning gas."""

    @property
    def variant(self) -> Variant:
        """How kernels are compiled for it."""

    def divergence(self, swelling: Swelling | None = None) -> FieldStore:
        """The divergence of the velocity as it is, less that of `swelling` gas."""

    def stores(self) -> dict[str, FieldStore]:
        """What the next step starts from, by name."""

    def numbers(self) -> dict[str, float]:
        """The numbers that the next step starts from, by name."""


class StillSolids(Solids):
    """The voxels of the finished state. Obstacles that have moved since are seen from the next step on."""

    def update(self, obstacles: Sequence[Obstacle], dt: float | None) -> None:
        """Nothing changes in a still."""


class Still:
    """The state of a solver as it was when `take` was called, whatever the solver does since.

    It holds the very textures, which the solver leaves to it when it first writes: nothing is copied. Each
    field of the state has one texture more from the first `take` on.
    """

    def __init__(self, solver: Solver) -> None:
        self.backend = solver.backend
        self.solids: Solids = StillSolids(solver.backend, solver.boundaries)
        self._kept: dict[str, tuple[FieldStore, FieldStore]] = {}  # of the solver, and of this
        self._divergence: FieldStore | None = None
        self.take(solver)

    def take(self, solver: Solver) -> None:
        """Show what `solver` is now."""
        self.settings, self.time, self.boundaries = solver.settings, solver.time, solver.boundaries
        self._numbers = solver.numbers()
        stores = solver.stores()
        for name in [name for name, (its, _) in self._kept.items() if stores.get(name) is not its]:
            self._kept.pop(name)[1].release()
        for name, store in stores.items():
            self._kept[name] = store, store.held(self._kept[name][1] if name in self._kept else None)
        self.velocity, self.scalars, self.pressure = (
            self._kept[name][1] for name in ("velocity", "scalars", "pressure")
        )
        self.color, self.flame = (
            self._kept[name][1] if name in self._kept else None for name in ("color", "flame")
        )
        self.swelling = solver.swelling.copy()
        if self.swelling and self.flame is not None:
            self.swelling["flame"] = self.flame
        self._solid_fields = self.solids.take(solver.solids)

    def give_back(self, solver: Solver) -> None:
        """Bring `solver` back to what it was when `take` was called."""
        for store, still in self._kept.values():
            store.take_back(still)
        solver.start_from(self._numbers)
        solver.solids.go_back(self.solids, self._solid_fields)

    @property
    def variant(self) -> Variant:
        """As the solver's was."""
        return variant_of(self.settings, self.boundaries, self.solids.present)

    def divergence(self, swelling: Swelling | None = None) -> FieldStore:
        """The divergence of the velocity, in a field of its own, made when it is first asked for."""
        if self._divergence is None:
            self._divergence = self.backend.field("divergence", "packed")
        openings = self.solids.openings
        measure(self.backend, self._divergence, self.variant, openings, self.velocity, swelling)
        return self._divergence

    def stores(self) -> dict[str, FieldStore]:
        """As the solver's were."""
        return {name: still for name, (_, still) in self._kept.items()}

    def numbers(self) -> dict[str, float]:
        """As the solver's were."""
        return dict(self._numbers)

    def release(self) -> None:
        """Release every field."""
        release(*(still for _, still in self._kept.values()), self.solids, self._divergence)
        self._kept.clear()
        self._divergence = None
