"""The kernels of a step: what each reads, writes and takes. One declaration for every backend.

A kernel is one GLSL body in ``glsl/sim/<name>.glsl`` and one float64 function in `gpufluid.reference`;
tests hold them to each other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpufluid.common.errors import near
from gpufluid.contract.layout import BLOCK, PARTS
from gpufluid.description.boundaries import Boundaries, Inflow, Open, Side, Wall
from gpufluid.description.settings import LIMITERS

PATH = 64  # cells along each axis that a trace is followed for solids; longer ones go unchecked from there
EMITTERS = 8  # emitters a pass can hold; more take another pass
PUSHES, FEW_PUSHES = 8, 1  # wind, vortices and attractors a pass can hold, at most and where it takes few
WAVES, FEW_WAVES = 16, 8  # that turbulence is a sum of, a multiple of two; those of a pass that takes few
EMITTER_ROWS = 8  # vec4 an emitter takes, see emitter.glsl


@dataclass(frozen=True)
class Slot:
    """A field a kernel reads or writes: its name there, where its values lie, channels a texel.

    exact: always single precision, since it holds whole numbers. short: always half, as files have it.
    """

    name: str
    kind: str
    components: int = 4
    exact: bool = False
    short: bool = False

    @property
    def parts(self) -> tuple[str, ...]:
        """Its textures' names: its own, or ``<name>_0`` and so on where there are several."""
        count = PARTS.get(self.kind, 1)
        return (self.name,) if count == 1 else tuple(f"{self.name}_{part}" for part in range(count))


@dataclass(frozen=True)
class Variant:
    """What is fixed when a kernel is compiled.

    weighted: on a coarse grid, whose faces have weights in place of being open or closed.
    cubic: what is carried is read with monotone cubics, not trilinear; only the advect kernels know of it.
    slip: some solids are free-slip; only the kernel that closes faces is asked.
    dyed: smoke has colours, and a weight; only the kernels of buoyancy are asked.
    reflected: the velocity carries one that was reflected, not itself; only the kernels that do so are asked.
    covered: cells that solids have just come into still hold a share of what was there (see was_fluid.glsl);
        only the kernels that carry scalars are asked.
    few: passes take few forces or waves at a time (see `Backend.few`); only their kernels are asked.
    axis: along which a pass of finite volumes carries.
    several: its flows may cross several cells, which takes a quarter longer in software.
    """

    solids: bool = False
    trace: str = "rk2"
    limiter: str | None = "clamp"
    sampler: str = "exact"
    noise: bool = False
    expression: str = ""  # of a user's force
    boundaries: Boundaries = field(default_factory=Boundaries)
    weighted: bool = False
    cubic: bool = False
    slip: bool = False
    dyed: bool = False
    reflected: bool = False
    covered: bool = False
    few: bool = False
    axis: int = 0
    several: bool = False

    @property
    def pushes(self) -> int:
        """The winds, vortices and attractors that a pass holds."""
        return FEW_PUSHES if self.few else PUSHES

    @property
    def waves(self) -> int:
        """The waves that a pass of turbulence adds."""
        return FEW_WAVES if self.few else WAVES

    @cached_property
    def _hash(self) -> int:
        return hash(tuple(getattr(self, part.name) for part in fields(self)))

    def __hash__(self) -> int:
        return self._hash  # each pass of a step is looked up by it

    @property
    def compiled(self) -> Variant:
        """This variant as it is compiled: what sides do that may change comes to it as `side_numbers`."""
        return self._compiled if self.boundaries.changing else self

    @cached_property
    def _compiled(self) -> Variant:
        return replace(self, boundaries=self.boundaries.form)

    def defines(self, dimensions: int) -> dict[str, int]:
        """The GLSL macros of this variant on a grid of 2 or 3 dimensions."""
        sides, number = self.boundaries, 2 * dimensions
        return {
            "DIMENSIONS": dimensions,
            "SOLIDS": int(self.solids),
            "TRACE_RK2": int(self.trace == "rk2"),
            "LIMITER": {"clamp": 1, "revert": 2, None: 0}[self.limiter],
            "HARDWARE_SAMPLER": int(self.sampler == "hardware"),
            "WEIGHTED": int(self.weighted),
            "CUBIC": int(self.cubic),
            "SLIP": int(self.slip),
            "DYED": int(self.dyed),
            "COVERED": int(self.covered),
            "NO_SLIP": sum(1 << i for i in range(number) if sides.grips(i)),
            "RESTING": sum(1 << axis for axis in range(dimensions) if sides.rest(axis)),
            "ANY_PERIODIC": int(any(sides.periodic(axis) for axis in range(dimensions))),
            "ALL_WALLS": int(all(isinstance(s, Wall) for s in sides.sides[:number])),
            "HEATED": sum(1 << i for i in range(number) if sides.temperature(i) is not None),
            "NOISE": int(self.noise),
            "EMITTERS": EMITTERS,
            "FEW": int(self.few),
            "AXIS": self.axis,
            "SEVERAL": int(self.several),
            "PUSHES": self.pushes,
            "WAVES": self.waves,
            "BLOCK": BLOCK,
            "PATH": PATH,
        }

    @property
    def carried(self) -> str:
        """The field that the kernels which carry the velocity take for FIELD."""
        return "reflected" if self.reflected else "velocity"

    def constants(self, dimensions: int) -> str:
        """The GLSL constants that tell the sides of the box apart."""
        sides, axes = self.boundaries, range(3)

        def bvec3(flags: Iterable[bool]) -> str:
            return "bvec3({}, {}, {})".format(*("true" if flag else "false" for flag in flags))

        deep = [axis < dimensions for axis in axes]
        text = (
            f"const bvec3 periodic = {bvec3(sides.periodic(a) and deep[a] for a in axes)};\n"
            f"const bvec3 open_low = {bvec3(sides.open(a, False) and deep[a] for a in axes)};\n"
            f"const bvec3 open_high = {bvec3(sides.open(a, True) and deep[a] for a in axes)};\n"
        )
        if sides.changing:
            return text + "".join(f"uniform {kind} {name}[6];\n" for name, kind in SIDE_NUMBERS.items())
        velocities = ", ".join("vec3({}, {}, {})".format(*sides.velocity(i)) for i in range(6))
        heat = ", ".join(repr(float(sides.temperature(i) or 0.0)) for i in range(6))
        entering = ", ".join("vec3({}, {}, {})".format(*_brought(side)) for side in sides.sides)
        return (
            f"{text}const vec3 wall_velocity[6] = vec3[6]({velocities});\n"
            f"const float wall_temperature[6] = float[6]({heat});\n"
            f"const vec3 entering[6] = vec3[6]({entering});\n"
        )


# What GLSL knows of what each side does: constants, or numbers where these may change.
SIDE_NUMBERS = {"wall_velocity": "vec3", "wall_temperature": "float", "entering": "vec3"}


def _brought(side: Side) -> tuple[float, float, float]:
    """What comes in through `side`, as lib/entering.glsl has it."""
    if isinstance(side, Open):
        return 0.0, 0.0, 1.0
    if isinstance(side, Inflow):
        return float(side.density), float(side.temperature or 0.0), float(side.temperature is None)
    return -1.0, -1.0, -1.0


@lru_cache(maxsize=64)
def side_numbers(boundaries: Boundaries) -> dict[str, NDArray[np.float32]]:
    """The values of the uniforms that tell of `boundaries` which may change; none of constant ones."""
    if not boundaries.changing:
        return {}
    heat = [boundaries.temperature(side) or 0.0 for side in range(6)]
    values = {
        "wall_velocity": [boundaries.velocity(side) for side in range(6)],
        "wall_temperature": heat,
        "entering": [_brought(side) for side in boundaries.sides],
    }
    return {name: np.array(value, np.float32) for name, value in values.items()}


@dataclass(frozen=True)
class Walk:
    """How the workgroups of a kernel go up through the box.

    columns, rows, slices: of texels, what a workgroup writes along x, y and z. rim: how many more columns and
    rows it computes, on both sides together. sweeps: of Jacobi's that it makes at once.
    """

    columns: int
    rows: int
    slices: int
    rim: tuple[int, int]
    sweeps: int = 1

    @property
    def group(self) -> tuple[int, int]:
        """Invocations of a workgroup along x and y."""
        return self.columns + self.rim[0], self.rows + self.rim[1]

    @property
    def defines(self) -> dict[str, int]:
        """The GLSL macros of it."""
        sizes = {"BLOCK_COLUMNS": self.columns, "BLOCK_ROWS": self.rows, "BLOCK_SLICES": self.slices}
        return {"SWEEPS": self.sweeps, **sizes}

    def groups(self, columns: int, rows: int, slices: int) -> tuple[int, int, int]:
        """How many workgroups a box of so many takes along x, y and z."""
        return -(-columns // self.columns), -(-rows // self.rows), -(-slices // self.slices)


@dataclass(frozen=True)
class Kernel:
    """A kernel's name, the slot it writes, the slots it reads, its parameters.

    solid_reads: slots read only where there are solids.
    weighted_reads: those read on a weighted grid, in place of solid_reads.
    slip_reads: those read with free-slip solids. dyed_reads: where coloured smoke has a weight.
    reflected_reads: where the velocity carries one that was reflected.
    parted_reads: those read on either where there are solids.
    sampled: names of the textures read between their values, which a filtering sampler can serve.
    folder: where its GLSL file lies, below ``glsl/``.
    walk: how workgroups go through the box, of a kernel that only compute passes have; None: an invocation a
    value.
    local: each value it writes depends on no other one of that field, and it may be called `within` boxes.
    """

    name: str
    write: Slot
    reads: tuple[Slot, ...]
    parameters: tuple[str, ...] = ()
    solid_reads: tuple[Slot, ...] = ()
    sampled: tuple[str, ...] = ()
    folder: str = "sim"
    weighted_reads: tuple[Slot, ...] = ()
    slip_reads: tuple[Slot, ...] = ()
    dyed_reads: tuple[Slot, ...] = ()
    reflected_reads: tuple[Slot, ...] = ()
    parted_reads: tuple[Slot, ...] = ()
    walk: Walk | None = None
    local: bool = False

    def slots(self, variant: Variant) -> tuple[Slot, ...]:
        """The slots this variant reads."""
        solids = self.solid_reads if variant.solids else ()
        if variant.weighted:
            solids = self.weighted_reads
        solids += self.parted_reads if variant.solids else ()
        more = (self.slip_reads if variant.slip else ()) + (self.dyed_reads if variant.dyed else ())
        more += self.reflected_reads if variant.reflected else ()
        return self.reads + solids + more

    def arguments(self, variant: Variant) -> set[str]:
        """The names a call of this variant takes."""
        return {slot.name for slot in self.slots(variant)} | {self.write.name, *self.parameters}


# Several Jacobi sweeps in a pass, and confinement in one: each has the 32 KB of shared memory that OpenGL
# promises, and no more invocations.
WALKS = {
    "jacobi_two": Walk(16, 12, 32, rim=(2, 4), sweeps=2),
    "jacobi_four": Walk(16, 16, 64, rim=(2, 8), sweeps=4),
}
WALKING = {walk.sweeps: name for name, walk in WALKS.items()}
CONFINING = Walk(27, 11, 64, rim=(5, 5))


def _cell(name: str) -> Slot:
    return Slot(name, "cell")


def _face(name: str) -> Slot:
    return Slot(name, "face")


def _packed(name: str) -> Slot:
    return Slot(name, "packed")


def _half(name: str) -> Slot:
    return Slot(name, "half", exact=True)


VELOCITY, SCALARS = _face("velocity"), _cell("scalars")
SOLID, SOLID_FACES = Slot("solid", "cell", components=1), _face("solid_faces")
SOLID_VELOCITY = _cell("solid_velocity")  # m/s, and 1 inside
OPENINGS = Slot("openings", "pack", components=1, exact=True)
WINDING = Slot("winding", "octet", exact=True)
FLAME = Slot("flame", "cell", components=1, exact=True)  # burnt per second, 1/s
MARKS = _cell("marks")  # of solids: temperature, rate, 1 where it is free-slip, 1 where it has a temperature
MASK = Slot("mask", "cell", components=1)  # share of each cell in a source, 0 .. 1
# of a coarse grid's faces: the low ones along each axis, and a cell's sum over all six
WEIGHTS = tuple(Slot(f"weights_{part}", "packed", exact=True) for part in ("x", "y", "z", "sum"))
FINE_OPENINGS = Slot("openings", "fine_pack", components=1, exact=True)
# which finer cells a coarse one stands for, bits
JOINED, COARSE_JOINED = (Slot("joined", kind, exact=True) for kind in ("packed", "coarse_packed"))
FINE_WEIGHTS = tuple(Slot(f"fine_{slot.name}", "fine_packed", exact=True) for slot in WEIGHTS)
EIGHTHS = Slot("eighths", "eighth", exact=True)
PREDICTED = Slot("predicted", "bounded")
REFLECTED, COMPENSATED = _face("reflected"), _face("compensated")
HALVES = Slot("halves", "halves", exact=True)
OTHER = Slot("other", "packed", exact=True)
# in half floats its rounding alone, over a cell, would be more than what a projection leaves
PRESSURE, VALUES = (Slot(name, "packed", exact=True) for name in ("pressure", "values"))
SWEPT = PRESSURE, _packed("divergence")  # what a sweep for the pressure reads
TRANSFORM = Slot("transform", "wave", exact=True)  # two complex numbers to a texel
ROOTS = Slot("roots", "root", exact=True)
POINTS, PROBED = Slot("points", "probe", exact=True), Slot("sampled", "probe", exact=True)
SAVED = Slot("saved", "tall", short=True)
SPEED = Slot("speed", "block", exact=True)
ROWS, SLICES, WHOLE = (Slot(kind + "s", kind, exact=True) for kind in ("row", "slice", "whole"))

# what tells kernels where emitters are; and which cells lie in an obstacle, see `arguments.Image`
EMITTED = "emitters", "middles", "noise_shift"
IMAGE = "shape", "to_local", "extent", "rounding"


def _emits(name: str, write: Slot, *more: str, reads: tuple[Slot, ...] = ()) -> Kernel:
    """A kernel that adds to `write` what emitters bring."""
    faces = (SOLID_FACES,) if write is VELOCITY else ()
    return Kernel(name, write, (write, *reads), (*EMITTED, *more), faces, local=True)


def _adds_solid(name: str, write: Slot, *more: str, reads: tuple[Slot, ...] = ()) -> Kernel:
    """A kernel that writes something into the cells of an obstacle."""
    return Kernel(name, write, (write, WINDING, *reads), (*IMAGE, *more), local=True)


def _carries_velocity(name: str, write: Slot, reads: tuple[Slot, ...], *sampled: str) -> Kernel:
    """A kernel that looks for where the velocity, or a reflected one, comes from."""
    solids = (SOLID_FACES, SOLID)
    return Kernel(name, write, reads, ("dt",), solids, sampled=sampled, reflected_reads=(REFLECTED,))


def _carries_scalars(
    name: str, write: Slot, beside: tuple[Slot, ...], *sampled: str, ends: bool = True
) -> Kernel:
    """A kernel that looks for where scalars come from. ends: what it writes is what they become."""
    parameters = ("dt", "keep", "ambient") if ends else ("dt",)
    return Kernel(name, write, (SCALARS, *beside, VELOCITY), parameters, (SOLID,), sampled=sampled)


def _relaxes(name: str, reads: tuple[Slot, ...], *parameters: str, **more: Any) -> Kernel:
    """A kernel that improves a pressure, on coarse grids too."""
    return Kernel(name, PRESSURE, reads, parameters, weighted_reads=WEIGHTS, **more)


KERNELS: dict[str, Kernel] = {
    kernel.name: kernel
    for kernel in (
        _emits("emit_scalars", SCALARS, "emitter_count"),
        _emits("emit_velocity", VELOCITY, "emitter_count"),
        _emits("emit_mask", SCALARS, reads=(MASK,)),
        _emits("emit_mask_velocity", VELOCITY, reads=(MASK,)),
        Kernel("ignite", FLAME, (SCALARS,), ("dt", "ignition", "growth", "fuel_per_burn")),
        Kernel("burn", SCALARS, (SCALARS, FLAME), ("dt", "per_burn", "radiation", "ambient")),
        Kernel("vorticity", _cell("vorticity"), (VELOCITY,)),
        Kernel(
            "confinement",
            _cell("force"),
            (_cell("vorticity"), SCALARS),
            ("strength", "rise", "up"),
            dyed_reads=(_cell("color"),),
        ),
        Kernel(
            "buoyancy",
            VELOCITY,
            (VELOCITY, SCALARS),
            ("dt", "rise", "up"),
            (SOLID_FACES,),
            dyed_reads=(_cell("color"),),
        ),
        Kernel(
            "diffuse_velocity",
            _face("diffused"),
            (_face("before"), _face("latest"), _face("previous")),
            ("fourier_number", "weight", "relaxation"),
            (SOLID_FACES,),
        ),
        Kernel(
            "diffuse_scalars",
            _cell("diffused"),
            (_cell("before"), _cell("latest"), _cell("previous")),
            ("fourier_numbers", "weight", "relaxation"),
        ),
        Kernel(
            "diffuse_warmed",
            _cell("diffused"),
            (_cell("before"), _cell("latest"), _cell("previous"), MARKS),
            ("fourier_numbers", "weight", "relaxation", "dt"),
        ),
        Kernel("push", VELOCITY, (VELOCITY,), ("pushes", "push_count"), (SOLID_FACES,)),
        Kernel("turbulence", VELOCITY, (VELOCITY,), ("waves", "wave_pushes", "middle"), (SOLID_FACES,)),
        Kernel("force_field", VELOCITY, (VELOCITY, _cell("force")), ("dt",), (SOLID_FACES,)),
        Kernel(
            "confine",
            VELOCITY,
            (VELOCITY, SCALARS),
            ("dt", "strength", "rise", "up"),
            (SOLID_FACES,),
            dyed_reads=(_cell("color"),),
            walk=CONFINING,
        ),
        Kernel(
            "force_expression",
            VELOCITY,
            (VELOCITY,),
            ("dt", "time", "origin", "function"),  # the function is for NumPy
            (SOLID_FACES,),
        ),
        Kernel("constrain", VELOCITY, (VELOCITY,), (), (SOLID_FACES,)),
        _carries_velocity("advect_velocity", _face("carried"), (VELOCITY,), "velocity", "reflected"),
        _carries_velocity("predict_velocity", PREDICTED, (VELOCITY,), "velocity", "reflected"),
        _carries_velocity(
            "correct_velocity", VELOCITY, (VELOCITY, PREDICTED), "velocity", PREDICTED.parts[0]
        ),
        _carries_scalars("advect_scalars", _cell("carried"), (), "scalars", "velocity"),
        _carries_scalars("correct_scalars", SCALARS, (_cell("forward"),), "scalars", "forward", "velocity"),
        _carries_velocity(
            "compensate_velocity", COMPENSATED, (VELOCITY, _face("forward")), "velocity", "forward"
        ),
        _carries_velocity(
            "finish_velocity", VELOCITY, (VELOCITY, COMPENSATED), "velocity", "reflected", "compensated"
        ),
        _carries_scalars(
            "compensate_scalars", _cell("compensated"), (_cell("forward"),), "forward", "velocity", ends=False
        ),
        _carries_scalars(
            "finish_scalars", SCALARS, (_cell("compensated"),), "scalars", "compensated", "velocity"
        ),
        Kernel("divergence", _packed("divergence"), (VELOCITY,), (), (OPENINGS,)),
        Kernel("expand", _packed("divergence"), (_packed("divergence"), FLAME), ("expansion",), (OPENINGS,)),
        Kernel("jacobi", PRESSURE, SWEPT, ("scale", "weight"), (OPENINGS,)),
        *(
            Kernel(name, PRESSURE, SWEPT, ("scale", "weights"), (OPENINGS,), walk=walk)
            for name, walk in WALKS.items()
        ),
        Kernel("split_eighths", EIGHTHS, (VALUES,)),
        Kernel("jacobi_eighths", EIGHTHS, (EIGHTHS, SWEPT[1]), ("scale", "weight"), (OPENINGS,)),
        Kernel("join_eighths", VALUES, (EIGHTHS,)),
        _relaxes("red_black", SWEPT, "scale", "omega", "colour", solid_reads=(OPENINGS,)),
        Kernel(
            "residual",
            Slot("residual", "packed", exact=True),
            SWEPT,
            ("scale",),
            (OPENINGS,),
            weighted_reads=WEIGHTS,
        ),
        _relaxes("first_sweep", (_packed("divergence"),), "scale", "omega", solid_reads=(OPENINGS,)),
        _relaxes("solve_coarsest", (_packed("divergence"),), "scale", "sweeps", "omega"),
        Kernel(
            "apply_inverse",
            PRESSURE,
            (_packed("divergence"), Slot("inverse", "matrix", exact=True)),
            ("scale",),
        ),
        Kernel(
            "restrict",
            Slot("restricted", "coarse_packed", exact=True),
            SWEPT,
            ("scale",),
            (OPENINGS,),
            weighted_reads=WEIGHTS,
            parted_reads=(COARSE_JOINED,),
        ),
        Kernel(
            "prolong",
            PRESSURE,
            (PRESSURE, Slot("correction", "coarse_packed", exact=True)),
            (),
            (OPENINGS,),
            weighted_reads=WEIGHTS,
            parted_reads=(COARSE_JOINED,),
        ),
        Kernel("join_cells", JOINED, (), ("finest", "stride"), (FINE_OPENINGS,), weighted_reads=FINE_WEIGHTS),
        Kernel(
            "coarse_weights",
            Slot("weights", "weights", exact=True),
            (),
            ("finest", "stride"),
            (FINE_OPENINGS,),
            weighted_reads=FINE_WEIGHTS,
            parted_reads=(JOINED,),
        ),
        Kernel("face_slopes", Slot("slopes", "bounded"), (VELOCITY,), (), (SOLID_FACES,)),
        Kernel("restrict_velocity", VELOCITY, (Slot("fine_velocity", "fine_face"),), (), (SOLID_FACES,)),
        Kernel("restrict_solids", SOLID_VELOCITY, (Slot("fine_solid_velocity", "fine_cell"),)),
        Kernel("restrict_marks", MARKS, (Slot("fine_marks", "fine_cell"),)),
        Kernel("restrict_faces", SOLID_FACES, (SOLID_FACES, Slot("fine_solid_faces", "fine_face"))),
        Kernel("restrict_scalars", SCALARS, (Slot("fine_scalars", "fine_cell"),)),
        Kernel("restrict_flame", FLAME, (Slot("fine_flame", "fine_cell", components=1, exact=True),)),
        Kernel("restrict_pressure", PRESSURE, (Slot("fine_pressure", "fine_packed", exact=True),)),
        Kernel(
            "prolong_velocity",
            VELOCITY,
            (Slot("slopes", "coarse_bounded", exact=True),),
            (),
            (SOLID_FACES,),
        ),
        Kernel(
            "prolong_pressure",
            PRESSURE,
            (Slot("coarse_pressure", "coarse_packed", exact=True),),
            (),
            (Slot("coarse_solid", "coarse_cell", components=1),),
        ),
        Kernel("halve", HALVES, (_packed("divergence"), PRESSURE), ("scale",)),
        Kernel("sum_halves", ROWS, (_half("red"), _half("black")), (), (OPENINGS,)),
        Kernel("join_halves", VALUES, (_half("red"), _half("black"), WHOLE), ("share",), (OPENINGS,)),
        Kernel("relax_half", _half("own"), (_half("other"), _half("right")), ("colour",), (OPENINGS,)),
        Kernel(
            "restrict_half",
            Slot("restricted", "coarse_packed", exact=True),
            (_half("own"), _half("other"), _half("right")),
            ("colour",),
            (OPENINGS,),
            parted_reads=(COARSE_JOINED,),
        ),
        Kernel(
            "prolong_half",
            _half("own"),
            (_half("own"), Slot("correction", "coarse_packed", exact=True)),
            ("colour",),
            (OPENINGS,),
            parted_reads=(COARSE_JOINED,),
        ),
        Kernel("add_scaled", VALUES, (VALUES, OTHER), ("own", "factor")),
        Kernel("dot_rows", ROWS, (_packed("a"), _packed("b")), (), (OPENINGS,)),
        Kernel("sum_slices", SLICES, (ROWS,)),
        Kernel("sum_whole", WHOLE, (SLICES,)),
        Kernel("balance", _packed("balanced"), (_packed("values"), WHOLE), (), (OPENINGS,)),
        Kernel("start_rows", ROWS, SWEPT, ("scale",), (OPENINGS,)),
        Kernel("weaken", PRESSURE, (PRESSURE, WHOLE), ("most",)),
        Kernel("fft_load", TRANSFORM, (_packed("divergence"),), ("scale",)),
        Kernel("fft_rows", TRANSFORM, (TRANSFORM, ROOTS), ("done", "bits", "direction")),
        Kernel("fft_lines", TRANSFORM, (TRANSFORM, ROOTS), ("axis", "done", "bits", "direction")),
        Kernel("fft_divide", TRANSFORM, (TRANSFORM, ROOTS)),
        Kernel("fft_store", PRESSURE, (TRANSFORM,)),
        Kernel(
            "combine_velocities",
            _face("combined"),
            (VELOCITY, _face("other")),
            ("own", "factor"),
            (SOLID_FACES,),
        ),
        Kernel(
            "subtract_gradient",
            _face("pushed"),
            (VELOCITY, PRESSURE),
            ("dt",),
            (SOLID_FACES,),
        ),
        Kernel(
            "transport_scalars",
            _cell("carried"),
            (SCALARS, VELOCITY),
            ("dt", "reach", "ends", "amounts", "keep", "ambient"),
        ),
        Kernel("most_asked", Slot("asked", "block", exact=True), (VELOCITY,)),
        Kernel("uncover_scalars", SCALARS, (SCALARS, SOLID), ("ambient", "ends")),
        _adds_solid("add_obstacle", SOLID_VELOCITY, "motion"),
        Kernel("cover_scalars", SCALARS, (SCALARS, SOLID), ("left",)),
        Kernel("clear_colors", _cell("colors"), (SCALARS,)),
        _adds_solid("add_drift", SOLID_VELOCITY, "mean_drift", reads=(_cell("drift"),)),
        _adds_solid("mark_obstacle", MARKS, "mark"),
        Kernel("heat_fluid", SCALARS, (SCALARS, MARKS), ("dt",)),
        Kernel("solid_normals", _cell("normals"), (SOLID,)),
        Kernel("find_solid", SOLID, (SOLID_VELOCITY,)),
        Kernel("close_faces", SOLID_FACES, (SOLID_VELOCITY,), slip_reads=(MARKS,)),
        Kernel("let_slip", _face("slip_faces"), (VELOCITY, SOLID_FACES)),
        Kernel("open_neighbours", OPENINGS, (SOLID_FACES,)),
        Kernel("sample_velocity", PROBED, (VELOCITY, POINTS)),
        Kernel("sample_scalars", PROBED, (SCALARS, POINTS), (), (SOLID,)),
        Kernel("scroll_velocity", VELOCITY, (VELOCITY,), ("shift",), (SOLID_FACES,)),
        Kernel("scroll_scalars", SCALARS, (SCALARS,), ("shift", "ambient")),
        Kernel("scroll_flame", FLAME, (FLAME,), ("shift",)),
        Kernel("scroll_pressure", PRESSURE, (PRESSURE,), ("shift",)),
        Kernel("save_velocity", SAVED, (VELOCITY,)),
        Kernel("save_scalars", SAVED, (SCALARS,), (), (SOLID,)),
        Kernel("max_speed", SPEED, (VELOCITY,)),
        Kernel("largest_speed", Slot("largest", "group", exact=True), (SPEED,)),
    )
}

assert set(LIMITERS) == {"clamp", "revert", None}


def unknown_argument(kernel: Kernel, variant: Variant, given: Any) -> str:
    """Say which argument of a call is wrong, with the nearest right name."""
    names = kernel.arguments(variant)
    for name in given:
        if name not in names:
            return f"kernel {kernel.name} has no argument {name!r}{near(name, sorted(names))}"
    missing = ", ".join(sorted(names - set(given)))
    return f"kernel {kernel.name} needs: {missing}"
