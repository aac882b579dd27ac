"""Stage 2 of a step: emitters, buoyancy, vorticity confinement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpufluid.backend import Backend, FieldStore
from gpufluid.kernels import EMITTERS, Variant
from gpufluid.settings import Settings
from gpufluid.shapes import Emitter, Sphere


def emitter_rows(
    emitter: Emitter, origin: Sequence[float], cell_size: float, dt: float
) -> NDArray[np.float32]:
    """Return the four vec4 of an emitter that the emit kernels read; places relative to the low corner."""
    shape = emitter.shape
    ball = isinstance(shape, Sphere)
    extent = (shape.radius,) * 3 if isinstance(shape, Sphere) else shape.half_size
    falloff = cell_size if emitter.falloff is None else emitter.falloff
    hot = emitter.temperature is not None
    moving = emitter.velocity is not None
    return np.array(
        [
            (*np.subtract(shape.center, origin), float(ball)),
            (*extent, falloff),
            (emitter.density * dt, emitter.temperature or 0.0, float(hot), 0.0),
            (*(emitter.velocity or (0.0, 0.0, 0.0)), float(moving)),
        ],
        np.float32,
    )


class Forces:
    """What is added to the velocity and the scalars from outside in a step."""

    def __init__(self, backend: Backend, settings: Settings) -> None:
        self.backend, self.settings = backend, settings
        length = float(np.linalg.norm(settings.up)) or 1.0
        self._up = tuple(u / length for u in settings.up)
        self._vorticity: FieldStore | None = None
        self._confinement: FieldStore | None = None
        if settings.vorticity_confinement and settings.solve_velocity:
            self._vorticity = backend.field("vorticity", "cell", buffers=1)
            self._confinement = backend.field("confinement", "cell", buffers=1)

    def emit(
        self,
        emitters: Sequence[Emitter],
        dt: float,
        variant: Variant,
        solids: dict[str, Any],
        *,
        velocity: FieldStore,
        scalars: FieldStore,
    ) -> None:
        """Add the density of every emitter; set its temperature and velocity."""
        grid = self.backend.grid
        active = [e for e in emitters if e.active]
        for first in range(0, len(active), EMITTERS):
            some = active[first : first + EMITTERS]
            rows = np.zeros((4 * EMITTERS, 4), np.float32)
            for n, emitter in enumerate(some):
                rows[4 * n : 4 * n + 4] = emitter_rows(emitter, grid.origin, grid.cell_size, dt)
            count = {"emitters": rows, "emitter_count": len(some)}
            self.backend.kernel("emit_scalars", variant)(scalars=scalars, **count)
            if self.settings.solve_velocity and any(e.velocity is not None for e in some):
                self.backend.kernel("emit_velocity", variant)(velocity=velocity, **count, **solids)

    def push(
        self,
        dt: float,
        variant: Variant,
        solids: dict[str, Any],
        *,
        velocity: FieldStore,
        scalars: FieldStore,
    ) -> None:
        """Buoyancy and vorticity confinement."""
        rules, run = self.settings, self.backend.kernel
        confined: dict[str, Any] = {}
        if self._vorticity is not None:
            run("vorticity", variant)(velocity=velocity, vorticity=self._vorticity)
            run("confinement", variant)(
                vorticity=self._vorticity,
                confinement=self._confinement,
                strength=rules.vorticity_confinement,
            )
            confined["confinement"] = self._confinement
        run("forces", replace(variant, confinement=bool(confined)))(
            velocity=velocity,
            scalars=scalars,
            dt=dt,
            rise=(rules.buoyancy, rules.ambient_temperature, rules.weight, 0.0),
            up=self._up,
            **confined,
            **solids,
        )

    def release(self) -> None:
        """Release the scratch fields."""
        for field in (self._vorticity, self._confinement):
            if field is not None:
                field.release()
