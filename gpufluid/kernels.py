"""The kernels of a step: what each reads, writes and takes. One declaration for every backend.

A kernel is one GLSL body in ``glsl/sim/<name>.glsl`` and one float64 function in `gpufluid.reference`;
tests hold them to each other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gpufluid.boundaries import Boundaries
from gpufluid.layout import BLOCK
from gpufluid.settings import LIMITERS

EMITTERS = 8  # emitters a pass can hold; more take another pass
PUSHES = 8  # wind, vortices and attractors a pass can hold
EMITTER_ROWS = 8  # vec4 an emitter takes, see emitter.glsl


@dataclass(frozen=True)
class Slot:
    """A field a kernel reads or writes: its name there, where its values lie, channels a texel.

    exact: always single precision, since it holds whole numbers.
    """

    name: str
    kind: str
    components: int = 4
    exact: bool = False


@dataclass(frozen=True)
class Variant:
    """What is fixed when a kernel is compiled."""

    solids: bool = False
    trace: str = "rk2"
    limiter: str | None = "clamp"
    sampler: str = "exact"
    confinement: bool = False
    noise: bool = False
    expression: str = ""  # of a user's force
    boundaries: Boundaries = field(default_factory=Boundaries)

    def defines(self, dimensions: int) -> dict[str, int]:
        """The GLSL macros of this variant on a grid of 2 or 3 dimensions."""
        slip = sum(1 << i for i, s in enumerate(self.boundaries.sides[: 2 * dimensions]) if s.slip == "no")
        return {
            "DIMENSIONS": dimensions,
            "SOLIDS": int(self.solids),
            "TRACE_RK2": int(self.trace == "rk2"),
            "LIMITER": {"clamp": 1, "revert": 2, None: 0}[self.limiter],
            "HARDWARE_SAMPLER": int(self.sampler == "hardware"),
            "CONFINEMENT": int(self.confinement),
            "NO_SLIP": slip,
            "NOISE": int(self.noise),
            "EMITTERS": EMITTERS,
            "PUSHES": PUSHES,
            "BLOCK": BLOCK,
        }


@dataclass(frozen=True)
class Kernel:
    """A kernel's name, the slot it writes, the slots it reads, its parameters.

    solid_reads: slots read only where there are solids. confined_reads: only with vorticity confinement.
    sampled: names of the slots read between their values, which a filtering sampler can serve.
    folder: where its GLSL file lies, below ``glsl/``.
    """

    name: str
    write: Slot
    reads: tuple[Slot, ...]
    parameters: tuple[str, ...] = ()
    solid_reads: tuple[Slot, ...] = ()
    confined_reads: tuple[Slot, ...] = ()
    sampled: tuple[str, ...] = ()
    folder: str = "sim"

    def slots(self, variant: Variant) -> tuple[Slot, ...]:
        """The slots this variant reads."""
        solids = self.solid_reads if variant.solids else ()
        return self.reads + solids + (self.confined_reads if variant.confinement else ())

    def arguments(self, variant: Variant) -> set[str]:
        """The names a call of this variant takes."""
        return {slot.name for slot in self.slots(variant)} | {self.write.name, *self.parameters}


def _cell(name: str) -> Slot:
    return Slot(name, "cell")


def _face(name: str) -> Slot:
    return Slot(name, "face")


def _packed(name: str) -> Slot:
    return Slot(name, "packed")


VELOCITY, SCALARS = _face("velocity"), _cell("scalars")
SOLID, SOLID_FACES = _cell("solid"), _face("solid_faces")
OPENINGS = Slot("openings", "pack", components=1, exact=True)
WINDING = Slot("winding", "cell", components=1)
HEAT = _cell("heat")  # of solids: temperature, rate, 0, 1 where there is one
MASK = Slot("mask", "cell", components=1)  # share of each cell in a source, 0 .. 1

KERNELS: dict[str, Kernel] = {
    kernel.name: kernel
    for kernel in (
        Kernel("emit_scalars", SCALARS, (SCALARS,), ("emitters", "emitter_count")),
        Kernel("emit_velocity", VELOCITY, (VELOCITY,), ("emitters", "emitter_count"), (SOLID_FACES,)),
        Kernel("emit_mask", SCALARS, (SCALARS, MASK), ("emitters",)),
        Kernel("emit_mask_velocity", VELOCITY, (VELOCITY, MASK), ("emitters",), (SOLID_FACES,)),
        Kernel("vorticity", _cell("vorticity"), (VELOCITY,)),
        Kernel("confinement", _cell("confinement"), (_cell("vorticity"),), ("strength",)),
        Kernel(
            "forces",
            VELOCITY,
            (VELOCITY, SCALARS),
            ("dt", "rise", "up"),
            (SOLID_FACES,),
            (_cell("confinement"),),
        ),
        Kernel("push", VELOCITY, (VELOCITY,), ("pushes", "push_count"), (SOLID_FACES,)),
        Kernel("force_field", VELOCITY, (VELOCITY, _cell("force")), ("dt",), (SOLID_FACES,)),
        Kernel(
            "force_expression",
            VELOCITY,
            (VELOCITY,),
            ("dt", "time", "origin", "function"),  # the function is for NumPy
            (SOLID_FACES,),
        ),
        Kernel("constrain", VELOCITY, (VELOCITY,), (), (SOLID_FACES,)),
        Kernel(
            "advect_velocity", _face("carried"), (VELOCITY,), ("dt",), (SOLID_FACES,), sampled=("velocity",)
        ),
        Kernel(
            "correct_velocity",
            VELOCITY,
            (VELOCITY, _face("forward")),
            ("dt",),
            (SOLID_FACES,),
            sampled=("velocity", "forward"),
        ),
        Kernel(
            "advect_scalars",
            _cell("carried"),
            (SCALARS, VELOCITY),
            ("dt", "keep", "ambient"),
            (SOLID,),
            sampled=("scalars", "velocity"),
        ),
        Kernel(
            "correct_scalars",
            SCALARS,
            (SCALARS, _cell("forward"), VELOCITY),
            ("dt", "keep", "ambient"),
            (SOLID,),
            sampled=("scalars", "forward", "velocity"),
        ),
        Kernel("divergence", _packed("divergence"), (VELOCITY,), (), (OPENINGS,)),
        Kernel(
            "jacobi",
            _packed("pressure"),
            (_packed("pressure"), _packed("divergence")),
            ("scale", "weight"),
            (OPENINGS,),
        ),
        Kernel("subtract_gradient", VELOCITY, (VELOCITY, _packed("pressure")), ("dt",), (SOLID_FACES,)),
        Kernel(
            "add_obstacle",
            SOLID,
            (SOLID, WINDING),
            ("shape", "to_local", "extent", "rounding", "motion"),
        ),
        Kernel(
            "add_drift",
            SOLID,
            (SOLID, WINDING, _cell("drift")),
            ("shape", "to_local", "extent", "rounding", "mean_drift"),
        ),
        Kernel(
            "heat_obstacle",
            HEAT,
            (HEAT, WINDING),
            ("shape", "to_local", "extent", "rounding", "heat_given"),
        ),
        Kernel("heat_fluid", SCALARS, (SCALARS, HEAT), ("dt",)),
        Kernel("solid_normals", _cell("normals"), (SOLID,)),
        Kernel("close_faces", SOLID_FACES, (SOLID,)),
        Kernel("open_neighbours", OPENINGS, (SOLID,)),
        Kernel("max_speed", Slot("speed", "block", exact=True), (VELOCITY,)),
    )
}

assert set(LIMITERS) == {"clamp", "revert", None}


def unknown_argument(kernel: Kernel, variant: Variant, given: Any) -> str:
    """Say which argument of a call is wrong, with the nearest right name."""
    import difflib

    names = kernel.arguments(variant)
    for name in given:
        if name not in names:
            near = difflib.get_close_matches(name, sorted(names), 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            return f"kernel {kernel.name} has no argument {name!r}{hint}"
    missing = ", ".join(sorted(names - set(given)))
    return f"kernel {kernel.name} needs: {missing}"
