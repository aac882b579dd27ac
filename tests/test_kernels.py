"""Every kernel in both stages and every way of reading, against the float64 reference on random fields."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from functools import cache
from typing import Any

import moderngl
import numpy as np
import pytest
from driver import within
from inside import opened
from sharing import in_pairs

from gpufluid import reference
from gpufluid.common.debugging import switches
from gpufluid.common.errors import GpufluidError
from gpufluid.contract.kernels import EMITTER_ROWS, EMITTERS, PUSHES, SIDE_NUMBERS, Kernel, Variant
from gpufluid.contract.kernels import KERNELS as ALL_KERNELS
from gpufluid.contract.layout import DIGIT, EIGHTHS, SOLVED, lanes
from gpufluid.description.boundaries import Boundaries, Inflow, Open, Periodic, Wall
from gpufluid.description.grid import Grid
from gpufluid.gl.backend import GLBackend
from gpufluid.gl.source import Source
from gpufluid.numerics.fourier import roots
from gpufluid.reference.numpy_backend import NumpyBackend

SIZES = {
    "power of two": (8, 8, 8),
    "prime": (13, 7, 5),
    "2D": (10, 9, 1),
    "last row partly filled": (6, 9, 13),
}
SIDES = Boundaries(
    top=Wall(velocity=(0.97, 0.0, 0.41), temperature=0.7),  # no trace along it meets an edge of cells
    left=Wall("free", temperature=-0.4),
    front=Wall("free", temperature=0.0),
    back=Wall(temperature=1.3),
)
MIXED = Boundaries(
    left=Periodic(),
    right=Periodic(),
    bottom=Inflow((0.2, 0.7, -0.1), density=0.4, temperature=2.0),
    top=Open(),
    back=Open(),
    front=Wall(velocity=(0.3, 0.0, 0.0), temperature=0.6),
)
FORCE = "vec3(y * time, 2.0 * position.x, -z)"
VARIANTS = {
    "open, rk2, clamp": Variant(False, "rk2", "clamp", boundaries=SIDES, expression=FORCE),
    "solids, rk2, clamp": Variant(True, "rk2", "clamp", boundaries=SIDES, noise=True, expression=FORCE),
    "solids, euler, revert": Variant(True, "euler", "revert", boundaries=SIDES),
    "open, euler, no limiter": Variant(False, "euler", None, boundaries=Boundaries.all(Wall("free"))),
    "periodic, open, inflow": Variant(False, "rk2", "clamp", boundaries=MIXED, noise=True, expression=FORCE),
    "solids, periodic, open, inflow": Variant(
        True, "rk2", "clamp", boundaries=MIXED, noise=True, expression=FORCE
    ),
    "solids, open all round": Variant(
        True, "euler", None, boundaries=Boundaries.all(Open()), expression=FORCE
    ),
    "coloured": Variant(boundaries=SIDES, dyed=True),
    "coloured, solids, periodic, open, inflow": Variant(True, boundaries=MIXED, dyed=True),
    "free-slip solids": Variant(True, boundaries=SIDES, slip=True),
    "free-slip solids, periodic": Variant(True, boundaries=MIXED, slip=True),
    "periodic all round": Variant(
        False, "rk2", "revert", boundaries=Boundaries.all(Periodic()), expression=FORCE
    ),
    "coarse": Variant(boundaries=SIDES, weighted=True),
    "coarse, periodic, open, inflow": Variant(boundaries=MIXED, weighted=True),
    "coarse, open all round": Variant(boundaries=Boundaries.all(Open()), weighted=True),
    "coarse, solids": Variant(True, boundaries=SIDES, weighted=True),
    "coarse, solids, periodic, open, inflow": Variant(True, boundaries=MIXED, weighted=True),
    "coarse, periodic all round": Variant(boundaries=Boundaries.all(Periodic()), weighted=True),
    "cubic": Variant(boundaries=SIDES, cubic=True),
    "cubic, solids": Variant(True, "euler", boundaries=SIDES, cubic=True),
    "cubic, periodic, open, inflow": Variant(boundaries=MIXED, cubic=True),
    "cubic, solids, periodic, open, inflow": Variant(True, boundaries=MIXED, cubic=True),
    "cubic, periodic all round": Variant(boundaries=Boundaries.all(Periodic()), cubic=True),
    "cubic, solids, filtered taps": Variant(True, "euler", None, "hardware", boundaries=SIDES, cubic=True),
    "solids, filtered taps": Variant(True, "rk2", None, "hardware", boundaries=SIDES),
    "changing": Variant(boundaries=SIDES.but(changing=True), expression=FORCE),
    "changing, periodic, open, inflow": Variant(boundaries=MIXED.but(changing=True), expression=FORCE),
    "changing, solids": Variant(True, boundaries=MIXED.but(changing=True), expression=FORCE),
    "reflected": Variant(boundaries=SIDES, reflected=True),
    "reflected, solids, monotone": Variant(
        True, "euler", "revert", boundaries=SIDES, cubic=True, reflected=True
    ),
    "reflected, periodic, open, inflow": Variant(boundaries=MIXED, reflected=True),
    "covered": Variant(True, boundaries=SIDES, covered=True),
    "covered, revert": Variant(True, "euler", "revert", boundaries=SIDES, cubic=True, covered=True),
    "covered, periodic, open, inflow": Variant(True, boundaries=MIXED, covered=True),
    "covered, filtered taps": Variant(True, "rk2", None, "hardware", boundaries=SIDES, covered=True),
    "few": Variant(boundaries=SIDES, few=True),
    "few, changing, solids, periodic": Variant(True, boundaries=MIXED.but(changing=True), few=True),
    "reflected, filtered taps": Variant(True, "rk2", None, "hardware", boundaries=SIDES, reflected=True),
}
PARAMETERS: dict[str, Any] = {
    "dt": 0.13,
    "scale": 0.1,
    "weight": 0.9,
    "fourier_number": 0.4,
    "relaxation": 0.8,
    "fourier_numbers": (0.3, 0.7, 0.0),
    "strength": 0.7,
    "rise": (2.0, 0.3, 0.5, 0.0),
    "up": (0.6, 0.8, 0.0),
    "keep": (0.9, 0.8, 1.0),
    "ambient": 0.3,
    "left": 0.25,
    "emitter_count": 3,
    "mark": (5.0, 2.0, 1.0, 1.0),
    "mean_drift": (0.3, -0.2, 0.1),
    "middle": (0.3, 0.2, 0.25, 3.0),
    "time": 0.7,
    "origin": (0.5, -0.25, 1.0),
    "function": lambda p, t: np.stack([p[..., 1] * t, 2.0 * p[..., 0], -p[..., 2]], -1),
    "shape": 0,
    "to_local": np.array([[0.8, -0.6, 0, -0.21], [0.6, 0.8, 0, -0.52], [0, 0, 1, -0.107], [0, 0, 0, 1]]),
    "extent": (0.223, 0.317, 0.251),
    "rounding": 0.05,
    "omega": 1.7,
    "colour": 1,
    "most": 0.7,
    "ignition": 0.2,
    "growth": 0.6,
    "fuel_per_burn": 0.25,
    "per_burn": (3.0, 5.0, 0.25),
    "radiation": 1.7,
    "expansion": 1.5,
    "own": 0.7,
    "share": 0.6,
    "factor": -1.3,
    "axis": 2,
    "ends": 1,
    "amounts": (1.0, 0.0, 1.0),
    "done": 1,
    "direction": -1.0,
    "noise_shift": (0.3, -0.2, 0.1),
}
COARSE_VELOCITY = re.compile("(restrict|prolong)_(velocity|scalars|flame|pressure|solids|marks|faces)$")
APART = ("relax_half", "restrict_half", "prolong_half", "jacobi_eighths")
# those that walk: `test_walks` and `test_confining`; of two grids: `test_coarse_velocity`
KERNELS = {n: k for n, k in ALL_KERNELS.items() if k.walk is None and not COARSE_VELOCITY.match(n)}
COVERED = ("advect_scalars", "correct_scalars", "compensate_scalars", "finish_scalars", "transport_scalars")
H = 0.1
GRAZING = 1e-5  # relative: further than rounding takes a trace, and nearer than a test of values sees


class Case:
    """Random fields of one size and one variant, the same on every backend."""

    def __init__(self, cells: tuple[int, int, int], variant: Variant) -> None:
        self.grid, self.variant = Grid(cells, H), variant
        self.rng = np.random.default_rng(hash(cells) % 1000)
        nx, ny, nz = cells
        self.solid, self.solid_velocity = np.zeros((nz, ny, nx, 1)), np.zeros((nz, ny, nx, 4))
        if variant.solids:
            # few beside cubics: where one of 32 values is solid they are not used
            self.solid[..., 0] = self.rng.random((nz, ny, nx)) < (0.02 if variant.cubic else 0.2)
            self.solid_velocity[..., :3] = self.single(self.rng.normal(size=(nz, ny, nx, 3))) * self.solid
            self.solid_velocity[..., 3:] = self.solid
        self.marks = self.rng.random(self.solid_velocity.shape) * self.solid
        self.marks[..., 2:] = self.marks[..., 2:] > 0.3
        slip = replace(variant, slip=True)  # the others do not look at what it marks
        self.faces = self.single(
            reference.close_faces(self.grid, slip, solid_velocity=self.solid_velocity, marks=self.marks)
        )
        left = self.solid * (self.rng.random(self.solid.shape) < 0.5)
        self.fluid_before = 1.0 - (left if variant.solids else self.solid)
        self.openings = opened(self.grid, variant, self.solid)
        self.weights = self.coarse_weights() if variant.weighted else np.zeros(0)

    def coarse_weights(self) -> np.ndarray:
        """What a grid of this size has over a finer one, of an odd number of cells, with solids in it."""
        nx, ny, nz = (max(2 * n - 1, 1) for n in self.grid.cells)
        finer, solids = Grid((nx, ny, nz), H / 2), Variant(True, boundaries=self.variant.boundaries)
        solid = (self.rng.random((nz, ny, nx, 1)) < 0.3).astype(float)
        openings = opened(finer, solids, solid)
        given = {"finest": finer.cells, "stride": 2, "openings": openings}
        given["joined"] = reference.join_cells(finer.coarser(), solids, **given)
        return reference.coarse_weights(finer.coarser(), solids, **given)

    def joined(self) -> np.ndarray:
        """What the next coarser grid's cells stand for."""
        given: dict[str, Any] = {"openings": self.openings}
        if self.variant.weighted:
            parts = ("x", "y", "z", "sum")
            given = {f"fine_weights_{p}": self.weights[..., n, None] for n, p in enumerate(parts)}
        coarser = self.grid.coarser()
        return reference.join_cells(coarser, self.variant, finest=self.grid.cells, stride=2, **given)

    @staticmethod
    def single(values: np.ndarray) -> np.ndarray:
        return values.astype(np.float32).astype(float)

    def fields(self, backend: GLBackend, *kernels: Kernel) -> dict[str, Any]:
        """Those of `backend` that these read and write, by name, with the values that they have here."""
        fields = {}
        for slot in dict.fromkeys(s for k in kernels for s in (k.write, *k.slots(self.variant))):
            field = fields[slot.name] = backend.field(slot.name, slot.kind, slot.components, exact=slot.exact)
            field.write(self.values(slot.name, slot.kind, field.read().shape))
        return fields

    def values(self, name: str, kind: str, shape: tuple[int, ...]) -> np.ndarray:
        fixed = {
            "solid": self.solid,
            "solid_velocity": self.solid_velocity,
            "solid_faces": self.faces,
            "openings": self.openings,
        }
        fixed["marks"] = self.single(self.marks)
        for part, which in enumerate(("x", "y", "z", "sum") if self.variant.weighted else ()):
            fixed[f"weights_{which}"] = fixed[f"fine_weights_{which}"] = self.weights[..., part, None]
        fixed |= {"roots": self.single(roots(max(self.grid.cells)))}
        if name in fixed:
            return fixed[name]
        if name == "joined":
            return self.joined()
        values = self.single(self.rng.normal(size=shape))
        faces = {"solid_faces": self.faces} if self.variant.solids else {}
        if kind in ("face", "bounded"):
            values = reference.constrain(self.grid, self.variant, velocity=values[..., :4], **faces)
        if kind == "bounded":  # what is predicted of another velocity
            solid = {"solid": self.solid} if self.variant.solids else {}
            rules = {"dt": PARAMETERS["dt"], **faces, **solid}
            return self.single(reference.predict_velocity(self.grid, self.variant, velocity=values, **rules))
        if kind == "cell" and name in ("scalars", "forward", "compensated"):
            values[..., 3] = 1.0
            # a moving solid has just come into some cells and left others
            values *= np.roll(self.fluid_before, 1, axis=2) if name == "scalars" else 1.0 - self.solid
            if self.variant.covered and name == "scalars":
                values *= np.where(self.solid > 0.5, 0.25, 1.0)
        if name == "drift":
            values[..., 3] = self.rng.random(shape[:3]) < 0.5
        if name in ("flame", "wholes"):
            values = np.abs(values)
        if name == "points":  # in the box and a little outside
            values = self.single((self.rng.random(shape) * 1.2 - 0.1) * [*self.grid.cells, 0.0])
        if kind == "half":  # lanes past the row hold 0
            whole = self.single(self.rng.normal(size=(*self.grid.cells[::-1], 1)))
            colour = PARAMETERS["colour"] if name in ("own", "right", "black") else 0
            values = reference.half(self.grid, whole, colour)
        if kind == "eighth":
            whole = self.single(self.rng.normal(size=(*self.grid.cells[::-1], 1)))
            values = reference.split_eighths(self.grid, self.variant, values=whole)
        if name == "winding":
            values = np.round(values) + DIGIT * np.round(self.rng.normal(size=shape))
        return values

    def parameters(self, kernel: Kernel) -> dict[str, Any]:
        emitters = self.rng.random((EMITTERS, EMITTER_ROWS, 4)).astype(np.float32)
        emitters[:, :3, :3] += np.eye(3) - 0.5  # turned, sheared
        emitters[:, :4] *= 0.3
        emitters[:, 4, 0] = np.arange(EMITTERS) % 3
        # the others have hard edges, every kind of form
        emitters[:, 4, 1] *= np.where(np.arange(EMITTERS) < 4, 12.0, -1.0)
        emitters[6:, 3, 3] = 0.0  # and are not rounded
        emitters[:, 7, :3] = 5.3, 12345.0, 12346.0
        if any(self.variant.boundaries.periodic(axis) for axis in range(self.grid.dimensions)):
            emitters[[1, 4], 4, 0] += 4.0  # one more image of the one before
        emitters = emitters.reshape(-1, 4)
        pushes = self.rng.normal(size=(PUSHES, 3, 4)).astype(np.float32)
        pushes[:, 0, 3] = np.arange(PUSHES) % 3
        pushes[:, 1, :3] /= np.linalg.norm(pushes[:, 1, :3], axis=1, keepdims=True)
        pushes[::3, 1, 3] = self.rng.random(len(pushes[::3]))  # of winds a rate times dt
        pushes[:, 2, 0] = 3.0
        pushes[:, 2, 1:] = self.rng.random((PUSHES, 3)) < 0.5
        own = {"pushes": pushes.reshape(-1, 4), "emitters": emitters, "motion": self.rng.normal(size=(4, 4))}
        own |= {"push_count": min(3, self.variant.pushes)}
        own |= {"waves": self.rng.normal(size=(self.variant.waves, 4)).astype(np.float32)}
        own |= {"wave_pushes": self.rng.normal(size=(2 * self.variant.waves, 3)).astype(np.float32)}
        own |= {"middles": self.rng.random((EMITTERS, 4)).astype(np.float32)}
        own |= {"shift": (3, -2, 1 if self.grid.dimensions == 3 else 0)}
        own |= {"bits": 1 if kernel.name == "fft_rows" else 2}  # of 8 cells: 4 numbers along x, 8 along z
        if kernel.name == "transport_scalars":
            own |= {"dt": 0.04}
        if kernel.name in BETWEEN:
            wide = 2 if self.variant.weighted else 1  # cells of the finest grid in one of this
            cells = tuple(wide * n - (wide - 1) for n in self.grid.cells)
            own |= {"finest": cells, "stride": 2 * wide}
        return {name: own.get(name, PARAMETERS.get(name)) for name in kernel.parameters}


def run(backend: GLBackend, kernel: Kernel, case: Case, shift: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Return what the backend and the reference wrote; a kernel between two grids runs on its own."""
    fields, arrays = {}, {}
    below = backend.coarser()
    if kernel.name in BETWEEN:  # the finer grid's are read
        backend = below
    for slot in kernel.slots(case.variant):
        field = backend.field(slot.name, slot.kind, slot.components, exact=slot.exact)
        values = case.values(slot.name, slot.kind, field.read().shape)
        if (kernel.name, slot.name) == ("transport_scalars", "scalars"):  # halfway, with more fluid or less
            values[..., 3] *= case.rng.uniform(0.4, 1.5, values.shape[:3])
            if case.variant.covered:
                values[..., 3] *= np.where(case.solid[..., 0] > 0.5, -1.0, 1.0)
        field.write(values)
        fields[slot.name], arrays[slot.name] = field, field.read().astype(float)
    parameters = case.parameters(kernel)
    write, variant = kernel.write, case.variant
    if kernel.name == "transport_scalars":
        several = int(case.rng.integers(2))
        variant = replace(variant, axis=int(case.rng.integers(case.grid.dimensions)), several=several > 0)
        parameters["reach"] = 3 * several
    if write.name not in fields:
        fields[write.name] = backend.field(
            write.name, write.kind, write.components, buffers=1, exact=write.exact, short=write.short
        )
    twin = getattr(reference, kernel.name)
    backend.kernel(kernel.name, variant)(**fields, **parameters)
    got = fields[write.name].read().astype(float)
    expected = twin(backend.grid, variant, **arrays, **parameters)
    for field in fields.values():
        field.release()
    if case.variant.solids and kernel.sampled:
        # where a trace grazes a solid, rounding decides on which side: there another velocity, no further off
        # than rounding takes it, ends elsewhere too
        for sign in (-1.0, 1.0, case.rng.choice((-1.0, 1.0), arrays["velocity"].shape)):
            nudged = arrays["velocity"] * (1.0 + sign * GRAZING) + sign * GRAZING
            other = twin(backend.grid, variant, **arrays | {"velocity": nudged}, **parameters)
            grazing = np.abs(other - expected) > 50.0 * GRAZING * max(1.0, np.abs(expected).max())
            assert grazing.mean() < 0.005
            got = np.where(grazing, expected, got)
    return got, expected


def relevant(name: str, variant: str, size: str) -> bool:
    """A kernel that no option of the later variants touches is not tried again in each.

    Fourier transforms are for periodic boxes of powers of two: `test_fft` tries more of them.
    """
    if name.startswith("fft"):
        return variant == "periodic all round" and size == "power of two"
    if "free-slip" in variant:
        return name in ("close_faces", "let_slip")
    if "few" in variant:
        return name in ("push", "turbulence")
    if "coloured" in variant:
        return bool(KERNELS[name].dyed_reads)
    if "covered" in variant and name not in COVERED:
        return False
    if "reflected" in variant and not KERNELS[name].reflected_reads:
        return False
    steps = (1, *EIGHTHS) if name == "jacobi_eighths" else (2, 2, 2)
    if name in APART and any(
        n % steps[axis]
        for axis, n in enumerate(SIZES[size])
        if VARIANTS[variant].boundaries.periodic(axis) and n > 1
    ):
        return False  # there neighbours share a colour, or are not where those of an eighth are
    if name == "solve_coarsest":  # of a few cells: `test_pressure` tries it
        return False
    if name == "apply_inverse" and lanes(Grid(SIZES[size])) > SOLVED:
        return False
    if not knows_its_variant(name):
        return variant == ALL_AT_ONCE
    if "coarse, solids" in variant:
        own = KERNELS[name]
        return bool(own.parted_reads and own.weighted_reads) or name == "join_cells"
    if "coarse" in variant:
        return bool(KERNELS[name].weighted_reads)
    if "cubic" in variant:
        return name.startswith("advect")
    if "changing" in variant:
        return asks_for_sides(name)
    sided = "periodic" in variant or "open all" in variant
    return (
        sided
        or "reflected" in variant
        or "rk2, clamp" in variant
        or any(part in name for part in ("advect", "predict", "correct", "finish"))
    )


ALL_AT_ONCE = "solids, periodic, open, inflow"
FAR_READING = (
    *(
        "advect",
        "join_cells",
        "predict",
        "correct",
        "jacobi",
        "red_black",
        "residual",
        "restrict",
        "prolong",
        "half",
        "eighth",
    ),
    *("close_faces", "let_slip", "diffuse_velocity"),
)
STAGES = ("fragment", "compute")
BETWEEN = ("join_cells", "coarse_weights")  # from a finer grid to this one


def reaches_far(name: str) -> bool:
    """Whether a kernel reads across faces or between grids."""
    return any(part in name for part in FAR_READING)


@cache
def asks_for_sides(name: str) -> bool:
    """Whether a kernel reads what sides do."""
    kernel = KERNELS[name]
    text = re.sub("//.*", "", Source(name).include(f"{kernel.folder}/{name}.glsl").text)
    return any(number in text for number in SIDE_NUMBERS)


@cache
def knows_its_variant(name: str) -> bool:
    """Whether a kernel asks for an option: its twin does, or it reads other fields."""
    asked = inspect.getsource(getattr(reference, name)).count("variant") > 1
    return asked or len({KERNELS[name].slots(variant) for variant in VARIANTS.values()}) > 1


def covering() -> dict[tuple[str, str, str], tuple[str, ...]]:
    """The stages that each size, variant and kernel is tried in.

    Not all of the product, for each of it is a program of its own, but all pairs: a kernel meets each variant
    on one size in one stage, sizes and stages by turns, and everything at once in both. What reads across
    faces and between grids meets solids, alone and with everything, on every size, and so does what knows
    no variant, which is tried with everything only.
    """
    chosen, met = {}, Counter[str]()  # how many kernels have met each variant
    for turn, name in enumerate(KERNELS):
        every = {ALL_AT_ONCE, "solids, rk2, clamp"} if reaches_far(name) else set()
        every |= set() if knows_its_variant(name) else {ALL_AT_ONCE}
        tried = [v for v in VARIANTS if any(relevant(name, v, size) for size in SIZES)]
        for number, variant in enumerate(tried):
            sizes = [size for size in SIZES if relevant(name, variant, size)]
            for place, size in enumerate(sizes):
                if (place - number - turn) % len(sizes):
                    stages = (STAGES[(place + turn) % 2],) if variant in every else ()
                elif variant == ALL_AT_ONCE or len(tried) == 1 or "changing" in variant:
                    stages = STAGES
                else:
                    stages = (STAGES[met[variant] % 2],)
                    met[variant] += 1
                if stages:
                    chosen[size, variant, name] = stages
    return chosen


CASES = covering()
READING = {"fragment": "nearest", "compute": "image"}


def test_the_cases_cover_every_kernel() -> None:
    """Each meets every variant, size, stage; what reads far meets solids and periodic sides on every size."""
    solids = {name for name, variant in VARIANTS.items() if variant.solids}
    periodic = {name for name, v in VARIANTS.items() if any(v.boundaries.periodic(axis) for axis in range(3))}
    for name in KERNELS:
        fit = [(size, v) for size in SIZES for v in VARIANTS if relevant(name, v, size)]
        assert fit or name == "solve_coarsest"
        tried = [(size, v) for size, v in fit if (size, v, name) in CASES]
        assert {v for _, v in tried} == {v for _, v in fit}
        assert not fit or STAGES in [CASES[size, v, name] for size, v in tried]
        for wanted in (set(VARIANTS), *((solids, periodic) if reaches_far(name) else ())):
            assert {size for size, v in tried if v in wanted} == {size for size, v in fit if v in wanted}
    for variant in VARIANTS:
        met = [stages for (_, v, _), stages in CASES.items() if v == variant]
        assert set(STAGES) == set().union(*met), variant


@pytest.mark.parametrize("sides", [Boundaries(), Boundaries.all(Periodic()), Boundaries.all(Open()), MIXED])
def test_open_faces_are_those_between_cells_of_fluid(sides: Boundaries) -> None:
    """And those on sides that let fluid pass: what the pressure goes by, told without faces."""
    variant, rng = Variant(True, boundaries=sides), np.random.default_rng(2)
    for nx, ny, nz in SIZES.values():
        grid, solid = Grid((nx, ny, nz), H), np.zeros((nz, ny, nx, 4))
        solid[..., 3] = rng.random((nz, ny, nx)) < 0.3
        faces = reference.close_faces(grid, variant, solid_velocity=solid)
        found = reference.open_neighbours(grid, variant, solid_faces=faces)
        np.testing.assert_array_equal(found, opened(grid, variant, solid[..., 3:]))


@pytest.fixture(scope="module")
def backends(ctx: moderngl.Context) -> Iterator[dict[Any, GLBackend]]:
    made: dict[Any, GLBackend] = {}
    yield made
    for backend in made.values():
        backend.release()


def backend_of(
    made: dict[Any, GLBackend], ctx: moderngl.Context, size: str, stage: str, reading: str, precision: str
) -> GLBackend:
    key = (size, stage, reading, precision)
    if key not in made:
        made[key] = GLBackend(Grid(SIZES[size], H), stage, ctx, precision, reading)
    return made[key]


@pytest.mark.parametrize(("size", "variant", "name"), CASES)
def test_both_stages_against_the_reference(
    size: str, variant: str, name: str, ctx: moderngl.Context, backends: dict[Any, GLBackend]
) -> None:
    results = []
    for stage in CASES[size, variant, name]:
        backend = backend_of(backends, ctx, size, stage, READING[stage], "single")
        got, expected = run(backend, KERNELS[name], Case(SIZES[size], VARIANTS[variant]))
        size_of_values, hardware = max(1.0, np.abs(expected).max()), VARIANTS[variant].sampler == "hardware"
        # a filtering sampler rounds its weights: Mesa to 1e-5, GPUs to 8 bits, and solids magnify that
        tolerance = within(1e-3, 0.1) if hardware else 1e-5
        np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance * size_of_values)
        if hardware:
            assert np.abs(got - expected).mean() <= within(1e-3, 1e-2) * size_of_values
        results.append(got)
    assert np.abs(results[0] - results[-1]).max() <= 1e-6 * max(1.0, np.abs(got).max())


def drawn(variant: str, name: str) -> str:
    """A size on which CASES have a kernel in a fragment pass, an odd one if there is one."""
    sizes = [size for size in SIZES if "fragment" in CASES.get((size, variant, name), ())]
    return next((size for size in sizes if size != "power of two"), (*sizes, "power of two")[0])


ALL_ONCE = [(ALL_AT_ONCE, name) for name in KERNELS if name != "solve_coarsest"]
ALL_ONCE += [("cubic, solids", name) for name in KERNELS if name.startswith("advect")]


@pytest.mark.parametrize(
    ("variant", "name", "reading"),
    [(*each, ("image", "texel")[number % 2]) for number, each in enumerate(ALL_ONCE)],
)
def test_every_way_of_reading_gives_the_same_bits(
    variant: str, name: str, reading: str, ctx: moderngl.Context, backends: dict[Any, GLBackend]
) -> None:
    """As "nearest" does; which of the other two, kernels take by turns."""
    results, size = [], drawn(variant, name)
    for way in ("nearest", reading):
        backend = backend_of(backends, ctx, size, "fragment", way, "single")
        results.append(run(backend, KERNELS[name], Case(SIZES[size], VARIANTS[variant]))[0])
    # a GPU gathers where it does not load images: another program, which it may round elsewhere
    np.testing.assert_allclose(*results, rtol=0, atol=within(0.0, 1e-6 * max(1.0, np.abs(results[0]).max())))


GATHERING = (
    *("advect_velocity", "predict_velocity", "correct_velocity", "finish_velocity"),
    *("advect_scalars", "vorticity"),
)


@pytest.mark.parametrize(
    ("name", "size", "stage"),
    [
        (name, size, STAGES[(number // 2 + turn) % 2])
        for number, name in enumerate(GATHERING)
        for turn, size in enumerate(("2D", tuple(SIZES)[number % 2 * 2 - 1]))
    ],
)
def test_four_values_gathered_at_once_are_the_same_bits(
    name: str, size: str, stage: str, ctx: moderngl.Context
) -> None:
    """As fetched one by one; which one a driver gives first is not asked for elsewhere."""
    if ctx.version_code < 430:
        pytest.skip("no OpenGL 4.3 here")
    results = []
    for gathers in (False, True):
        case = Case(SIZES[size], VARIANTS["open, rk2, clamp"])
        backend = GLBackend(Grid(SIZES[size], H), stage, ctx, "single", "texel")
        backend.device.gathers = gathers
        source = backend._source(KERNELS[name], case.variant).shader.text
        assert ("#define GATHERED 1" in source and "textureGather" in source) is gathers
        results.append(run(backend, KERNELS[name], case)[0])
        backend.release()
    assert np.array_equal(*results)


@pytest.mark.parametrize("cells", [(3500, 4, 5), (4, 3500, 5), (3, 20, 245)], ids=str)
def test_what_is_gathered_lies_right_in_large_textures(cells: Any, ctx: moderngl.Context) -> None:
    """Where it lies is counted in single floats: a texture wide, one high, one of many slices."""
    if ctx.version_code < 430:
        pytest.skip("no OpenGL 4.3 here")
    backend = GLBackend(Grid(cells, H), "compute", ctx, "single", "texel")
    backend.device.gathers = True
    got, expected = run(backend, KERNELS["vorticity"], Case(cells, VARIANTS["open, rk2, clamp"]))
    backend.release()
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("name", ["advect_velocity", "predict_velocity"])
@pytest.mark.parametrize("size", ["2D", "prime"])
def test_walls_at_rest_hold_the_fluid_as_each_by_itself(
    size: str, name: str, stage: str, ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two opposite ones only the nearer is looked at."""
    variant, results = Variant(boundaries=Boundaries(top=Wall(velocity=(0.97, 0.0, 0.41)))), []
    for resting in ({"2D": 0b001, "prime": 0b101}[size], 0):
        if not resting:
            monkeypatch.setattr(Boundaries, "rest", lambda self, axis: False)
        assert variant.defines(Grid(SIZES[size]).dimensions)["RESTING"] == resting
        backend = GLBackend(Grid(SIZES[size], H), stage, ctx)
        results.append(run(backend, KERNELS[name], Case(SIZES[size], variant)))
        backend.release()
    np.testing.assert_array_equal(results[0][0], results[1][0])
    np.testing.assert_allclose(*results[0], rtol=0, atol=1e-5 * np.abs(results[0][1]).max())


@pytest.mark.parametrize(
    ("variant", "name", "stage"), [(*each, STAGES[number % 2]) for number, each in enumerate(ALL_ONCE)]
)
def test_half_precision(
    variant: str, name: str, stage: str, ctx: moderngl.Context, backends: dict[Any, GLBackend]
) -> None:
    backend = backend_of(backends, ctx, "power of two", stage, "image", "half")
    case = Case(SIZES["power of two"], VARIANTS[variant])
    got, expected = run(backend, KERNELS[name], case)
    np.testing.assert_allclose(got, expected, rtol=0, atol=2e-3 * max(1.0, np.abs(expected).max()))


def test_a_field_of_other_numbers_or_another_size_is_refused(ctx: moderngl.Context) -> None:
    backend = GLBackend(Grid((8, 8, 8), H), "compute", ctx, "half")
    coarser = backend.coarser()
    pressure, divergence = (backend.field(name, "packed") for name in ("pressure", "divergence"))
    restrict = backend.kernel("restrict", Variant())
    for field, told in (
        (coarser.field("coarse", "packed"), None),
        (backend.field("coarse", "coarse_packed"), "restrict writes f4, field 'coarse' holds f2"),
        (
            backend.field("fine", "packed", exact=True),
            "restrict writes .* values, field 'fine' has",
        ),
    ):
        with pytest.raises(ValueError, match=told) if told else nullcontext():
            restrict(restricted=field, pressure=pressure, divergence=divergence, scale=1.0)
    backend.release()


def test_a_call_with_a_wrong_name_says_which(ctx: moderngl.Context, backends: dict[Any, GLBackend]) -> None:
    backend = backend_of(backends, ctx, "prime", "fragment", "nearest", "single")
    jacobi = backend.kernel("jacobi", Variant())
    p, d = backend.field("p", "packed"), backend.field("d", "packed")
    with pytest.raises(ValueError, match="no argument 'presure'; did you mean 'pressure'"):
        jacobi(presure=p, divergence=d, scale=1.0, weight=1.0)
    with pytest.raises(ValueError, match="kernel jacobi needs: weight"):
        jacobi(pressure=p, divergence=d, scale=1.0)
    scratch = backend.field("scratch", "packed", buffers=1)
    with pytest.raises(ValueError, match="reads and writes the scratch field 'pressure'"):
        jacobi(pressure=scratch, divergence=d, scale=1.0, weight=1.0)


def test_a_2d_kernel_never_mixes_slices() -> None:
    """The z component of a grid one cell deep stays exactly 0 in every kernel that writes velocity."""
    case = Case(SIZES["2D"], VARIANTS["open, rk2, clamp"])
    for name in ("constrain", "advect_velocity", "subtract_gradient"):
        kernel = KERNELS[name]
        shapes = {"face": (1, 10, 11, 4), "packed": (1, 9, 10, 1)}
        arrays = {s.name: case.values(s.name, s.kind, shapes[s.kind]) for s in kernel.slots(case.variant)}
        out = getattr(reference, name)(case.grid, case.variant, **arrays, **case.parameters(kernel))
        assert not out[..., 2].any()
        assert out[..., :2].any()


@pytest.mark.parametrize(
    ("size", "variant", "stage"),
    [
        (size, ("open, rk2, clamp", ALL_AT_ONCE, "coloured")[number % 3], STAGES[number % 2])
        for number, size in enumerate(SIZES)
    ],
)
def test_buoyancy_on_cells_pushes_as_on_faces(
    size: str, variant: str, stage: str, ctx: moderngl.Context, backends: dict[Any, GLBackend]
) -> None:
    """With confinement the weight of a cell is added to its pull; faces get what `buoyancy` gives."""
    backend, case = (
        backend_of(backends, ctx, size, stage, READING[stage], "single"),
        Case(SIZES[size], VARIANTS[variant]),
    )
    kernels = [KERNELS[name] for name in ("confinement", "force_field", "buoyancy")]
    fields = case.fields(backend, *kernels)
    before = fields["velocity"].read()
    results = []
    both = ("confinement", "force_field")
    for names, strength in ((("buoyancy",), 0.0), (both, 0.0), (both, 0.7)):
        fields["velocity"].write(before)
        for name in names:
            kernel = KERNELS[name]
            given = {slot.name: fields[slot.name] for slot in (*kernel.slots(case.variant), kernel.write)}
            told = case.parameters(kernel)
            if "strength" in told:
                told["strength"] = strength
            backend.kernel(name, case.variant)(**given, **told)
        results.append(fields["velocity"].read())
    for field in fields.values():
        field.release()
    alone, together, confined = results
    np.testing.assert_allclose(together, alone, rtol=0, atol=1e-6 * np.abs(alone).max())
    assert np.abs(alone - before).max() > 0.01
    assert np.abs(confined - alone).max() > 1e-3


@pytest.mark.parametrize(
    ("times", "reading", "stage"), in_pairs([0, 1, 2, 5], ["image", "nearest", "texel"], STAGES)
)
def test_repeated_is_called_as_often(
    stage: str, reading: str, times: int, ctx: moderngl.Context, backends: dict[Any, GLBackend]
) -> None:
    """The same bits, whether a kernel reads what it writes (jacobi) or not (halve)."""
    backend, case = (
        backend_of(backends, ctx, "prime", stage, reading, "single"),
        Case(SIZES["prime"], VARIANTS["solids, rk2, clamp"]),
    )
    for kernel in (KERNELS["jacobi"], KERNELS["halve"]):
        fields = case.fields(backend, kernel)
        out, run, given = (
            fields[kernel.write.name],
            backend.kernel(kernel.name, case.variant),
            case.parameters(kernel),
        )
        start = out.read()
        for _ in range(times):
            run(**fields, **given)
        expected = out.read()
        out.write(start)
        run.repeat(times, **fields, **given)
        assert out.read().tobytes() == expected.tobytes()
        assert times == 0 or np.abs(expected - start).max() > 0.0
        for field in fields.values():
            field.release()


@pytest.mark.parametrize("way", ["fragment", "compute", "numpy"])
def test_what_is_put_together_once_does_what_calls_do(way: str, ctx: moderngl.Context) -> None:
    """With numbers and sizes of its own, whatever else has run in the same program in between."""
    finest: Any = (
        NumpyBackend(Grid((22, 18, 12), H))
        if way == "numpy"
        else GLBackend(Grid((22, 18, 12), H), way, ctx, reading=READING[way])
    )
    levels = [finest.coarser(), finest.coarser().coarser()]  # on a GPU one program serves both
    rng, todo, fields = np.random.default_rng(3), [], []
    for level in levels:
        pressure, divergence = (
            level.field(name, "packed", exact=True) for name in ("pressure", "divergence")
        )
        divergence.write(rng.normal(size=divergence.read().shape))
        fields += [pressure, divergence]
        for colour, omega in ((0, 1.25), (1, 0.5), (0, 0.0), (1, -0.0)):
            given = {"colour": colour, "omega": omega, "scale": float(rng.uniform(1.0, 2.0))}
            given |= {"pressure": pressure, "divergence": divergence}
            todo.append((level.kernel("red_black", Variant()), given))

    def run(call: Any) -> list[bytes]:
        for field in fields[::2]:
            field.fill([0.5])
        for _ in range(2):
            for number in (0, 4, 1, 2, 3, 5, 6, 7, 4, 1):  # from level to level, from number to number
                call(*todo[number])
        return [field.read().tobytes() for field in fields[::2]]

    expected = run(lambda kernel, given: kernel(**given))
    bound = {id(given): kernel.bound(**given) for kernel, given in todo}
    assert run(lambda _, given: bound[id(given)]()) == expected
    calls = [0]

    def mixed(kernel: Any, given: Any) -> None:
        calls[0] += 1
        if calls[0] % 3:
            bound[id(given)]()
        else:
            kernel(**given)

    assert run(mixed) == expected
    kernel, given = todo[0]
    with pytest.raises(GpufluidError, match="omega"):
        kernel.bound(**{name: value for name, value in given.items() if name != "omega"})
    with pytest.raises(GpufluidError, match="colur"):
        kernel.bound(**given, colur=1)
    for field in fields:
        field.release()
    finest.release()


def test_what_is_put_together_once_is_watched_as_calls_are(ctx: moderngl.Context) -> None:
    """Timed, counted, cut into parts and looked at for bad numbers."""
    backend = GLBackend(Grid((22, 18, 12), H), "compute" if ctx.version_code >= 430 else "fragment", ctx)
    pressure, divergence = (backend.field(name, "packed", exact=True) for name in ("pressure", "divergence"))
    divergence.write(np.random.default_rng(4).normal(size=divergence.read().shape))
    kernel = backend.kernel("jacobi", Variant())
    call = kernel.bound(pressure=pressure, divergence=divergence, scale=1.0, weight=1.0)
    call()
    expected = pressure.read()
    assert np.abs(expected).max() > 0.1

    device, cuts = backend.device, []
    assert list(device.bytes_of(call)) == ["jacobi"]
    device.timings = {}
    call()
    assert [len(taken) for taken in device.milliseconds().values()] == [1]

    class Cutter:
        """Lets a few rows of a pass run at a time."""

        def before(self, work: Any, rows: int = 1, least: int = 1) -> int:
            cuts.append(rows)
            return min(rows, 2 * least)

    device.pace.pacer = Cutter()  # type: ignore[assignment]
    pressure.fill([0.0])
    call()
    device.pace.pacer = None
    assert len(cuts) > 2 and pressure.read().tobytes() == expected.tobytes()
    pressure.fill([0.0])
    call()  # all of it again, not from where the last part began
    assert pressure.read().tobytes() == expected.tobytes()

    divergence.write(np.full_like(expected, np.nan))
    switches.numbers = True
    try:
        with pytest.raises(GpufluidError, match="jacobi"):
            call()
    finally:
        switches.numbers = False
    backend.release()
