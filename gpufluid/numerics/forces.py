"""What pushes the fluid in a step: buoyancy, vorticity confinement, and the user's forces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpufluid.common.errors import GpufluidError, ShaderError
from gpufluid.common.vectors import Floats
from gpufluid.contract.arguments import Faces
from gpufluid.contract.backend import Backend, FieldStore, release
from gpufluid.contract.kernels import WAVES, Variant
from gpufluid.description.boundaries import Boundaries
from gpufluid.description.grid import Grid
from gpufluid.description.settings import Settings
from gpufluid.description.user_forces import (
    Attractor,
    Force,
    ForceExpression,
    ForceField,
    Turbulence,
    Vortex,
    Wind,
    middle_of,
)
from gpufluid.numerics.copies import Copies, KeptFields
from gpufluid.numerics.turbulence import wave_rows

FARTHEST = 1e15  # m, of a force's center: single precision holds its square


def _padded(force: ForceField, grid: Grid) -> NDArray[np.float64]:
    """The values of a field of accelerations with a fourth channel of 0."""
    return np.pad(grid.averaged(force.array), [(0, 0)] * 3 + [(0, 1)])


def _from_corner(centers: Floats, grid: Grid, sides: Boundaries, repeats: Floats | float = 1.0) -> Floats:
    """Centers of forces [..., 3] in metres from the low corner of the box, FARTHEST at most.

    repeats: 1 for the axes along which their images act too: there it is the image in a periodic box, as
    single precision keeps few digits of a place that runs on for ever.
    """
    there = centers - grid.origin
    boxes = [edge if sides.periodic(axis) else np.inf for axis, edge in enumerate(grid.size)]
    off = np.floor(there / boxes) * [0.0 if edge == np.inf else edge for edge in boxes]
    return np.clip(there - off * repeats, -FARTHEST, FARTHEST)


class Forces:
    """The stage that lets forces act on the velocity."""

    def __init__(self, backend: Backend, settings: Settings, copies: Copies) -> None:
        self.backend = backend
        self._fields = KeptFields(backend, copies, "force", 4)
        self._vorticity: FieldStore | None = None
        self._force: FieldStore | None = None
        self.use(settings)

    def use(self, settings: Settings) -> list[FieldStore]:
        """Go on by these settings, and return the fields that are not needed any more."""
        self.settings = settings
        length = float(np.linalg.norm(settings.up)) or 1.0
        self._up = tuple(u / length for u in settings.up)
        self._confines = bool(settings.vorticity_confinement and settings.solve_velocity)
        if not self._confines or self.backend.joined:
            return self._drop_confinement()
        if self._vorticity is None:
            self._vorticity = self.backend.field("vorticity", "cell", buffers=1)
            self._force = self.backend.field("force", "cell", buffers=1)
        return []

    def compile(self, force: Force, variant: Variant) -> None:
        """Raise where `force` is an expression that this backend cannot take."""
        if not isinstance(force, ForceExpression):
            return
        if self.backend.name != "numpy":
            try:
                self.backend.kernel("force_expression", replace(variant, expression=force.expression))
            except ShaderError as error:
                raise ShaderError(
                    f"ForceExpression {force.expression!r}: {error}\n"
                    "it must be a vec3 of position (vec3, m), its x, y and z, and time (s)"
                ) from None
            return
        if force.numpy is None:
            raise GpufluidError(
                f'ForceExpression {force.expression!r} is GLSL, which backend="numpy" cannot run: give it '
                "a function as well, numpy=lambda position, time: ..."
            )
        self._call(force.numpy, np.zeros((2, 2, 2, 3)), 0.0)

    def try_out(self, force: Force, time: float) -> None:
        """Raise where a function of the user, which NumPy calls in the middle of a step, fails at `time`."""
        if self.backend.name == "numpy" and isinstance(force, ForceExpression) and force.active:
            function = force.numpy
            assert function is not None  # `compile` has looked
            self._call(function, self.backend.grid.centers(), time)

    @staticmethod
    def _call(function: Callable[..., Any], place: NDArray[np.float64], time: float) -> None:
        try:
            got = np.shape(np.asarray(function(place, time), float))
        except Exception as error:
            kind = type(error).__name__
            raise GpufluidError(f"ForceExpression.numpy raised {kind} at time {time:g}: {error}") from error
        if got not in ((3,), place.shape):
            raise GpufluidError(
                f"ForceExpression.numpy must return an array of the shape of position, [..., 3]: "
                f"for {place.shape} it returned {got}"
            )

    def push(
        self,
        dt: float,
        variant: Variant,
        faces: Faces,
        *,
        velocity: FieldStore,
        scalars: FieldStore,
        colors: FieldStore | None,
    ) -> None:
        """Buoyancy and vorticity confinement."""
        rules, run = self.settings, self.backend.kernel
        rise = (rules.buoyancy, rules.ambient_temperature, rules.weight, 0.0)
        weight: dict[str, Any] = {"scalars": scalars, "rise": rise, "up": self._up}
        pulled = variant
        if colors is not None and rules.weight:
            pulled, weight["color"] = replace(variant, dyed=True), colors
        if not self._confines:
            run("buoyancy", pulled)(velocity=velocity, dt=dt, **weight, **faces)
            return
        # both are pulls on cells: what each cell weighs is read once, not by all its faces
        # no more than the swirl itself in a step: with twice that it grows without end
        wanted = rules.vorticity_confinement
        strength = wanted if wanted * dt <= 1.0 else 1.0 / dt
        if self.backend.joined:
            run("confine", pulled)(velocity=velocity, dt=dt, strength=strength, **weight, **faces)
            return
        run("vorticity", variant)(velocity=velocity, vorticity=self._vorticity)
        run("confinement", pulled)(vorticity=self._vorticity, force=self._force, strength=strength, **weight)
        run("force_field", variant)(velocity=velocity, force=self._force, dt=dt, **faces)

    def push_by(
        self,
        forces: Sequence[Force],
        dt: float,
        time: float,
        variant: Variant,
        faces: Faces,
        *,
        velocity: FieldStore,
    ) -> None:
        """The user's forces: first those that a row of numbers tells, together, then each of the others."""
        grid, run = self.backend.grid, self.backend.kernel
        self._fields.keep(forces)
        self.backend.forget({f.expression for f in forces if isinstance(f, ForceExpression)})
        active = [f for f in forces if f.active]
        sized = replace(variant, few=True) if self.backend.few else variant
        simple = [f for f in active if isinstance(f, Wind | Vortex | Attractor)]
        for first in range(0, len(simple), sized.pushes):
            some = simple[first : first + sized.pushes]
            rows = np.zeros((sized.pushes, 3, 4))
            rows[: len(some)] = [force.row(dt) for force in some]
            rows[..., 0, :3] = _from_corner(rows[..., 0, :3], grid, variant.boundaries, rows[..., 2, 1:])
            table = rows.reshape(-1, 4).astype(np.float32)
            run("push", sized)(velocity=velocity, pushes=table, push_count=len(some), **faces)
        for force in active:
            if isinstance(force, Turbulence):
                self._stir(force, dt, time, sized, faces, velocity=velocity)
            elif isinstance(force, ForceField):
                field = self._fields.of(force, (force.version,), partial(_padded, force, grid))
                run("force_field", variant)(velocity=velocity, force=field, dt=dt * force.strength, **faces)
            elif isinstance(force, ForceExpression):
                run("force_expression", replace(variant, expression=force.expression))(
                    velocity=velocity, dt=dt, time=time, origin=grid.origin, function=force.numpy, **faces
                )

    def _stir(
        self,
        force: Turbulence,
        dt: float,
        time: float,
        variant: Variant,
        faces: Faces,
        *,
        velocity: FieldStore,
    ) -> None:
        """Let the waves of a turbulence push, as many in a pass as `variant` takes."""
        grid, run = self.backend.grid, self.backend.kernel
        waves, pushes = wave_rows(force, grid, variant.boundaries, dt, time)
        *center, narrow = middle_of(force)
        middle = (*_from_corner(np.array(center), grid, variant.boundaries), narrow)
        for first in range(0, WAVES, variant.waves):
            part = slice(first, first + variant.waves)
            some, their = waves[part], pushes[part].reshape(-1, 3)
            run("turbulence", variant)(
                velocity=velocity, waves=some, wave_pushes=their, middle=middle, **faces
            )

    def release(self) -> None:
        """Release the fields of the user's forces and the scratch fields."""
        self._fields.release()
        release(*self._drop_confinement())

    def _drop_confinement(self) -> list[FieldStore]:
        """Forget its fields, and return those there were."""
        fields = [field for field in (self._vorticity, self._force) if field is not None]
        self._vorticity = self._force = None
        return fields
