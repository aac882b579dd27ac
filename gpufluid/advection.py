"""Stages 1 and 4 of a step: carrying the velocity and the scalars along the flow."""

from __future__ import annotations

import math
from typing import Any

from gpufluid.backend import Backend, FieldStore
from gpufluid.kernels import Variant
from gpufluid.settings import Settings


class Advection:
    """Semi-Lagrangian (Stam 1999), or MacCormack (Selle et al. 2008): carried there, back, and corrected."""

    def __init__(self, backend: Backend, settings: Settings) -> None:
        self.backend, self.settings = backend, settings
        self._forward_velocity: FieldStore | None = None
        self._forward_scalars: FieldStore | None = None
        if settings.velocity_scheme == "maccormack" and settings.solve_velocity:
            self._forward_velocity = backend.field("forward velocity", "face", buffers=1)
        if settings.advection == "maccormack":
            self._forward_scalars = backend.field("forward scalars", "cell", buffers=1)

    def carry_velocity(
        self, dt: float, variant: Variant, solids: dict[str, Any], *, velocity: FieldStore
    ) -> None:
        """Carry the velocity along itself."""
        run, forward = self.backend.kernel, self._forward_velocity
        run("advect_velocity", variant)(velocity=velocity, carried=forward or velocity, dt=dt, **solids)
        if forward is not None:
            run("correct_velocity", variant)(velocity=velocity, forward=forward, dt=dt, **solids)

    def carry_scalars(
        self,
        dt: float,
        variant: Variant,
        solids: dict[str, Any],
        *,
        scalars: FieldStore,
        velocity: FieldStore,
    ) -> None:
        """Carry density, temperature and fuel along the velocity, and let them fade."""
        run, rules, forward = self.backend.kernel, self.settings, self._forward_scalars
        fading = (math.exp(-rules.density_dissipation * dt), math.exp(-rules.cooling * dt), 1.0)
        whole = (1.0, 1.0, 1.0)
        ambient = rules.ambient_temperature
        run("advect_scalars", variant)(
            scalars=scalars,
            velocity=velocity,
            carried=forward or scalars,
            dt=dt,
            keep=whole if forward else fading,
            ambient=ambient,
            **solids,
        )
        if forward is not None:
            run("correct_scalars", variant)(
                scalars=scalars,
                forward=forward,
                velocity=velocity,
                dt=dt,
                keep=fading,
                ambient=ambient,
                **solids,
            )

    def release(self) -> None:
        """Release the scratch fields."""
        for field in (self._forward_velocity, self._forward_scalars):
            if field is not None:
                field.release()
