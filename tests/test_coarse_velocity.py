"""The velocity found on half the cells along each axis: its kernels, and fluids that are stepped so."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path
from typing import Any

import moderngl
import numpy as np
import pytest
from sharing import EVERYWHERE

import gpufluid as gf
from gpufluid import reference
from gpufluid.common.errors import GpufluidError
from gpufluid.contract.kernels import KERNELS, Variant
from gpufluid.description.grid import Grid
from gpufluid.gl.backend import GLBackend

pytestmark = pytest.mark.usefixtures("one_context")

Floats = np.ndarray
LID = gf.Wall(velocity=(0.3, 0.0, 0.2))
SIDES = {
    "walls": gf.Boundaries(),
    "free-slip": gf.Boundaries.all(gf.Wall("free")),
    "open": gf.Boundaries.all(gf.Open()),
    "periodic": gf.Boundaries.all(gf.Periodic()),
    "mixed": gf.Boundaries(
        gf.Periodic(), gf.Periodic(), LID, gf.Open(), gf.Open(), gf.Inflow((0.1, 0.2, -1.0))
    ),
    "changing": gf.Boundaries(gf.Inflow((1.0, 0.2, 0.0)), gf.Open(), LID, changing=True),
}
SIZES = {"cube": (8, 8, 8), "packs partly filled": (12, 6, 10), "2D": (10, 6, 1), "two cells": (2, 4, 2)}
BOX, CUBE = (20, 16, 12), (16, 16, 16)  # what is not about sizes has one of them, and shares its programs
ON_THE_COARSE = (
    "restrict_velocity",
    "restrict_scalars",
    "restrict_flame",
    "restrict_pressure",
    "face_slopes",
)
OF_SOLIDS = ("restrict_solids", "restrict_marks", "restrict_faces")
ON_THE_FINE = ("prolong_velocity", "prolong_pressure")


def finer(grid: Grid) -> Grid:
    """The grid of twice as many cells along each axis of the box."""
    nx, ny, nz = (2 * n for n in grid.cells)
    return Grid((nx, ny, nz if grid.dimensions == 3 else 1))


def random_solids(grid: Grid, variant: Variant, rng: np.random.Generator) -> dict[str, Floats]:
    """Fields of solids in a part of the cells, some of them free-slip; of the finer grid's cells in half."""
    if not variant.solids:
        return {}
    fields = {}
    for prefix, share in (("", 0.2), ("fine_", 0.5)):
        one = finer(grid) if prefix else grid
        nx, ny, nz = one.cells
        solid, marks = rng.normal(size=(nz, ny, nx, 4)), np.zeros((nz, ny, nx, 4))
        solid[..., 3] = rng.random((nz, ny, nx)) < share
        solid[..., :3] *= solid[..., 3:]
        marks[..., 2] = solid[..., 3] * (rng.random((nz, ny, nx)) < 0.7)
        fields |= {prefix + "solid_velocity": solid, prefix + "marks": marks}
        closed = reference.close_faces(one, variant, solid_velocity=solid, marks=marks)
        fields[prefix + "solid_faces"] = closed
    return fields


WAYS = (("fragment", "compute"), ("single", "half"))


@pytest.mark.parametrize(
    ("sides", "size", "turned"),
    [
        (s, n, number % 4)
        for number, (s, n) in enumerate(product(SIDES, SIZES))
        if n != "two cells" or number % 3 == 0
    ],
)
def test_its_kernels_are_the_references(sides: str, size: str, turned: int, ctx: moderngl.Context) -> None:
    """In both stages, from fields in both precisions, with solids and without: by turns."""
    rng = np.random.default_rng(3)
    stages, precisions = WAYS
    for number, stage in enumerate(stages):
        precision, solids = precisions[(turned // 2 + number) % 2], (turned + number) % 2 == 0
        fine, variant = (
            GLBackend(Grid(SIZES[size], 0.1), stage, ctx, precision),
            Variant(solids, boundaries=SIDES[sides]),
        )
        for name in (*ON_THE_COARSE, *ON_THE_FINE, *(OF_SOLIDS if solids else ())):
            backend: Any = fine if name in ON_THE_FINE else fine.coarser()
            given = random_solids(backend.grid, variant, rng)
            fields, arrays = {}, {}
            for slot in KERNELS[name].slots(variant):
                whose = fine if slot.kind.startswith("fine_") else backend
                if slot.kind.startswith("coarse_"):
                    whose = fine.coarser()
                kind = slot.kind.split("_")[-1]
                field = whose.field(slot.name, kind, slot.components, exact=slot.exact)
                values = given.get(slot.name, rng.normal(size=field.read().shape))
                if slot.name == "velocity":
                    values = random_flow(backend.grid, variant, rng)
                if slot.name == "fine_scalars":
                    values[..., 3] = rng.random(values.shape[:3]) < 0.5
                    values[..., :3] *= values[..., 3:]
                field.write(values)
                fields[slot.name], arrays[slot.name] = field, field.read().astype(float)
            write = KERNELS[name].write
            out = fields.get(write.name) or backend.field(
                write.name, write.kind, write.components, buffers=1, exact=write.exact
            )
            backend.kernel(name, variant)(**fields | {write.name: out})
            expected = getattr(reference, name)(backend.grid, variant, **arrays)
            rounds = 2.0**-10 if precision == "half" and name == "prolong_velocity" else 1e-6
            np.testing.assert_allclose(out.read(), expected, rtol=0, atol=4.0 * rounds, err_msg=name)
            for field in {out, *fields.values()}:
                field.release()
        fine.release()


def test_images_of_the_finer_grid_are_declared_as_they_are(ctx: moderngl.Context) -> None:
    """In half floats, read from passes of a grid that is in single ones. llvmpipe would not mind."""
    fine = GLBackend(Grid((8, 8, 8), 0.1), "compute", ctx, "half", "image")
    text = fine.coarser()._source(KERNELS["restrict_velocity"], Variant()).shader.text
    assert re.search(
        r"layout\(rgba16f, binding = \d\) readonly restrict uniform image2D fine_velocity;", text
    )
    assert re.search(r"layout\(rgba32f, binding = \d\) writeonly", text)
    fine.release()


def random_flow(grid: Grid, variant: Variant, rng: np.random.Generator) -> Floats:
    """Random faces that fit the sides."""
    nx, ny, nz = grid.cells
    faces = rng.normal(size=(nz + 1 if grid.dimensions == 3 else 1, ny + 1, nx + 1, 4))
    faces = reference.constrain(grid, variant, velocity=faces)
    for axis in range(grid.dimensions):
        if variant.boundaries.periodic(axis):
            line = np.moveaxis(faces[..., axis], 2 - axis, 0)
            line[-1] = line[0]
    return faces


@pytest.mark.parametrize("sides", SIDES)
@pytest.mark.parametrize("size", ["packs partly filled", "2D"])
def test_finer_cells_have_the_divergence_of_the_coarse_one(sides: str, size: str) -> None:
    """And the finer velocity the means that it was made of."""
    grid, variant = Grid(SIZES[size], 0.1), Variant(boundaries=SIDES[sides])
    coarse = grid.coarser()
    u = random_flow(coarse, variant, np.random.default_rng(1))
    slopes = reference.face_slopes(coarse, variant, velocity=u)
    fine = reference.prolong_velocity(grid, variant, slopes=slopes)
    back = reference.restrict_velocity(coarse, variant, fine_velocity=fine)
    np.testing.assert_allclose(back, u, atol=1e-14)
    wanted = reference.divergence(coarse, variant, velocity=u)
    got = reference.divergence(grid, variant, velocity=fine)
    np.testing.assert_allclose(
        got, reference.prolong_pressure(grid, variant, coarse_pressure=wanted), atol=1e-12
    )
    assert np.abs(wanted).max() > 10.0


def test_a_linear_flow_is_met() -> None:
    """Away from the sides, exactly: so the velocity in between is of second order."""
    grid, variant = Grid((12, 16, 8), 0.1), Variant(boundaries=SIDES["open"])
    matrix = np.array([[0.3, -0.7, 0.2], [0.5, 0.1, -0.4], [0.9, 0.6, -0.4]])

    def flow(on: Grid) -> Floats:
        nx, ny, nz = on.cells
        faces = np.zeros((nz + 1, ny + 1, nx + 1, 4))
        for axis, name in enumerate("xyz"):
            faces[..., axis] = on.faces(name) @ matrix[axis]
        return faces

    slopes = reference.face_slopes(grid.coarser(), variant, velocity=flow(grid.coarser()))
    got = reference.prolong_velocity(grid, variant, slopes=slopes)
    inner = (slice(2, -3),) * 3
    np.testing.assert_allclose(got[inner], flow(grid)[inner], atol=1e-14)


def restricted(fluid: gf.Fluid) -> Floats:
    """The velocity on half the cells."""
    u = np.pad(fluid.velocity.read().astype(float), [(0, 0)] * 3 + [(0, 1)])
    variant = Variant(boundaries=fluid.boundaries)
    return reference.restrict_velocity(fluid.grid.coarser(), variant, fine_velocity=u)[..., :3]


@pytest.mark.parametrize("reflection", [False, True])
@pytest.mark.parametrize("sides", ["walls", "open", "periodic"])
def test_the_flow_is_that_of_half_the_cells(sides: str, reflection: bool) -> None:
    """Stirred and viscous: on faces of the coarse grid the mean is what a fluid on that grid has."""
    rules = gf.Settings(
        buoyancy=0.0,
        viscosity=1e-3,
        vorticity_confinement=0.4,
        pressure=gf.Multigrid(3),
        reflection=reflection,
    )
    cells, rng = (12, 10, 8), np.random.default_rng(5)
    with (
        gf.Fluid(Grid(cells, 0.1), SIDES[sides], rules, "numpy") as plain,
        gf.Fluid(Grid((24, 20, 16), 0.05), SIDES[sides], rules.but(coarse_velocity=True), "numpy") as fluid,
    ):
        plain.velocity.write(rng.normal(size=plain.velocity.shape))
        plain.project()
        start = np.pad(plain.velocity.read().astype(float), [(0, 0)] * 3 + [(0, 1)])
        variant = Variant(boundaries=SIDES[sides])
        slopes = reference.face_slopes(plain.grid, variant, velocity=start)
        fluid.velocity.write(reference.prolong_velocity(fluid.grid, variant, slopes=slopes)[..., :3])
        fluid.project()
        plain.project()
        for _ in range(4):
            for one in (plain, fluid):
                one.forces.clear()
                one.forces.add(gf.Vortex((0.6, 0.5, 0.4), (0, 0, 1), 3.0, 0.2))
                one.step(0.04)
        apart = np.abs(restricted(fluid) - plain.velocity.read()).max()
        assert apart < 2e-4 * np.abs(plain.velocity.read()).max()
        assert fluid.diagnostics().divergence_rms == pytest.approx(
            plain.diagnostics().divergence_rms, rel=0.02
        )


def busy(sides: str, backend: str, **settings: Any) -> gf.Fluid:
    """Fire, colours with a weight, heat, motion, forces of every kind, solids that move, slip and warm."""
    rules = gf.Settings(
        combustion=gf.Combustion(expansion_per_burn=0.5),
        viscosity=1e-3,
        buoyancy=3.0,
        weight=0.5,
        vorticity_confinement=0.3,
        coarse_velocity=True,
        **settings,
    )
    fluid = gf.Fluid(Grid(BOX, 0.1), SIDES[sides], rules, backend)
    burner = gf.Emitter(gf.Sphere((0.5, 0.3, 0.5), 0.3), 2.0, 2.0, (0.0, 1.0, 0.0), fuel=3.0)
    fluid.emitters.add(burner)
    fluid.emitters.add(gf.Emitter(gf.Sphere((0.9, 0.3, 0.5), 0.2), 1.0, color=(1.0, 0.2, 0.1)))
    shares = np.zeros((12, 16, 20))
    shares[4:8, 2:6, 14:18] = 1.0
    fluid.emitters.add(gf.Emitter(gf.Array(shares), 1.0, velocity=(0.0, 0.0, 1.0)))
    pushes = np.zeros((12, 16, 20, 3))
    pushes[..., 2] = 0.5
    fluid.forces.add(gf.ForceField(pushes))
    fluid.forces.add(gf.Turbulence(strength=0.3, size=0.8))
    fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.3), (0.6, 1.0, 0.6)))
    fluid.obstacles.add(
        gf.Obstacle(gf.Box(size=(0.4, 0.4, 0.4)), (1.4, 1.0, 0.6), slip="free", temperature=1.0)
    )
    return fluid


def drive(fluid: gf.Fluid, steps: int, dt: float = 0.05) -> None:
    """Steps, between which the ball moves."""
    for _ in range(steps):
        fluid.obstacles[0].position = (0.6 + 0.2 * fluid.time, 1.0, 0.6)
        fluid.step(dt)


FIELDS = ("velocity", "density", "temperature", "color", "flame", "pressure")


def bits(fluid: gf.Fluid) -> dict[str, bytes]:
    return {name: getattr(fluid, name).read().tobytes() for name in FIELDS}


@pytest.mark.parametrize(
    ("sides", "backend"),
    [("open", "fragment"), ("mixed", "compute"), ("walls", "fragment"), ("periodic", "compute")],
)
def test_a_step_with_everything_in_it_is_the_references(sides: str, backend: str) -> None:
    with busy(sides, backend) as fluid, busy(sides, "numpy") as twin:
        for one in (fluid, twin):
            drive(one, 3)
        for name in FIELDS:
            got, expected = getattr(fluid, name).read(), getattr(twin, name).read()
            # where a trace grazes a solid, rounding decides on which side
            apart = np.quantile(np.abs(got - expected), 0.99)
            assert apart <= 2e-4 * np.abs(expected).max() > 0.0, name


@pytest.mark.parametrize("slip", ["free", "no"])
def test_what_is_closed_stays_closed(slip: str) -> None:
    """Faces of solids and of sides, on the fine grid, move with them."""
    with busy("mixed", "auto", pressure=gf.Multigrid(3)) as fluid:
        fluid.obstacles[1].slip = slip
        drive(fluid, 4)
        u, closed = fluid.velocity.read(), fluid._solver.solids.faces["solid_faces"].read()
        for axis in range(3):
            shut = closed[..., 3].astype(int) >> axis & 1 == 1
            assert shut.sum() > 30
            np.testing.assert_array_equal(u[..., axis][shut], closed[..., axis][shut])


def test_solids_are_where_they_are_on_both_grids() -> None:
    """In 2D too, where the coarse slice is thicker: its middle is that of the fine one."""
    for cells, height in (((24, 16, 1), 0.01), ((24, 16, 12), 0.5)):
        rules = gf.Settings(coarse_velocity=True, buoyancy=0.0)
        with gf.Fluid(Grid(cells, 0.1, (-1.0, 2.0, 3.0)), SIDES["walls"], rules, "numpy") as fluid:
            plate = gf.Box(size=(0.8, 0.4, height))
            middle = 3.05 if height < 0.1 else 3.6
            plate_there = fluid.obstacles.add(gf.Obstacle(plate, (0.2, 2.8, middle)))
            for n in range(3):
                plate_there.position = (0.2 + 0.05 * n, 2.8, middle)
                fluid.step(0.05)
            fine, coarse = fluid._solver.solids, fluid._solver.flow.solids
            assert coarse.solid is not None and fine.solid is not None
            of_fine = fluid._solver.flow.backend.grid.averaged(fine.solid.read()[..., 0].astype(float))
            apart = np.abs(of_fine - coarse.solid.read()[..., 0])
            assert of_fine.sum() >= 8.0 and apart.max() <= 0.5
            speeds = coarse.faces["solid_faces"].read()[..., 0]
            assert speeds.max() == pytest.approx(1.0, rel=1e-5)
            assert fluid.diagnostics().max_speed > 0.5


@pytest.mark.parametrize("slip", ["free", "no"])
def test_a_free_slip_solid_does_not_drag_what_is_beside_it(slip: str, tmp_path: Path) -> None:
    """Air glides along a block that fills the lower half of a periodic box; a quarter of a cell above it."""
    sides = SIDES["free-slip"].but(left=gf.Periodic(), right=gf.Periodic())
    with gf.Fluid(Grid((16, 16, 8), 0.1), sides, gf.Settings(buoyancy=0.0, coarse_velocity=True)) as fluid:
        block = gf.Box(size=(4.0, 0.8, 2.0))
        fluid.obstacles.add(gf.Obstacle(block, (0.8, 0.4, 0.4), slip=slip))
        fluid.velocity.write(np.broadcast_to([1.0, 0.0, 0.0], (9, 17, 17, 3)))
        fluid.step(0.02)
        (u,) = fluid.sample([(0.73, 0.825, 0.41)]).velocity[:, 0]
        assert u == pytest.approx(1.0, abs=1e-3) if slip == "free" else u < 0.8
        fluid.forces.add(gf.Vortex((0.8, 1.1, 0.4), (0, 0, 1), 5.0, 0.3))
        fluid.step(0.05)
        fluid.save(tmp_path / "glides.npz")
        with gf.Fluid.load(tmp_path / "glides.npz") as again:  # on the coarse grid it does not drag either
            for one in (fluid, again):
                one.step(0.05)
            assert bits(fluid) == bits(again)


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_it_goes_on_to_the_same_bits(backend: str, tmp_path: Path) -> None:
    """From a file, after a reset, and where steps were taken in slices."""
    ways = {
        "numpy": {"reflection": True},
        "fragment": {"cfl": 0.8},
        "compute": {"advection": "finite-volume"},
    }
    names: dict[str, Any] = ways[backend]
    with busy("open", backend, **names) as fluid:
        first = bits(fluid)
        drive(fluid, 2)
        fluid.save(tmp_path / "middle.npz")
        with gf.Fluid.load(tmp_path / "middle.npz") as again:
            assert again.settings.coarse_velocity
            for one in (fluid, again):
                drive(one, 2)
            assert bits(fluid) == bits(again)
            last = bits(fluid)
            again.reset()
            assert bits(again)["velocity"] == first["velocity"]
            for _ in range(4):
                again.obstacles[0].position = (0.6 + 0.2 * again.time, 1.0, 0.6)
                while not again.advance(0.05, 1e-3):
                    assert again.grid.cells == (20, 16, 12)
        with busy("open", backend, **names) as whole:
            drive(whole, 4)
            assert bits(whole) == last


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_a_projection_alone_lets_what_burns_swell(backend: str) -> None:
    """Also in a fluid that has just been loaded: what burns on the coarse grid is that of its cells."""
    rules = gf.Settings(combustion=gf.Combustion(expansion_per_burn=2.0), coarse_velocity=True)
    with gf.Fluid(Grid(CUBE, 0.1), SIDES["open"], rules, backend) as fluid:
        fluid.emitters.add(gf.Emitter(gf.Sphere((0.8, 0.8, 0.8), 0.2), 0.0, 2.0, fuel=3.0))
        fluid.step(0.05)
        with gf.Fluid.load(fluid.take_state()) as again:
            for one in (fluid, again):
                one.project()
            assert fluid.divergence.read().max() > 0.5
            assert bits(fluid) == bits(again)


@pytest.mark.parametrize("rests", [False, True])
def test_a_step_given_up_leaves_nothing(rests: bool) -> None:
    """Not on the coarse grid either: the next one is that of a fluid which never began it.

    rests: where solids stand as before the fine ones are not voxelized again, and the coarse ones are made
        of them.
    """
    with busy("open", "auto") as fluid, busy("open", "auto") as twin:
        for one in (fluid, twin):
            drive(one, 2)
            one.step(0.05)
        there, before = fluid.obstacles[0].position, fluid.time
        fluid.obstacles[0].position = (1.1, 0.5, 0.6)
        coarse = fluid._solver.flow.solids
        known = coarse.cells["solid"].read()
        while np.array_equal(coarse.cells["solid"].read(), known):
            assert not fluid.advance(0.05, 1e-3)
        fluid._stepper.drop()
        assert fluid.time == before
        for one in (fluid, twin):
            one.obstacles[0].position = there if rests else (0.62, 1.0, 0.6)
            one.step(0.05)
        assert bits(fluid) == bits(twin)


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_a_look_at_solids_elsewhere_leaves_nothing(backend: str) -> None:
    """Not where sides change meanwhile: the coarse faces were closed by solids as they stood at the look."""
    found = []
    for looks in (False, True):
        rules = gf.Settings(coarse_velocity=True, buoyancy=0.0, pressure=gf.Jacobi(4))
        with gf.Fluid(Grid(BOX, 0.1), SIDES["changing"], rules, backend) as fluid:
            ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.25), (0.5, 0.6, 0.4)))
            fluid.step(0.05)
            if looks:
                ball.position = (1.1, 0.6, 0.4)
                assert fluid.solid.read()[4, 6, 11] == 1.0
            fluid.boundaries = fluid.boundaries.but(left=gf.Inflow((2.0, 0.0, 0.0)))
            ball.position = (0.5, 0.6, 0.4)
            fluid.step(0.05)
            found.append(fluid.velocity.read())
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("shift", [(2, 0, 0), (3, -1, 1)])
def test_a_box_moves_by_any_number_of_cells(shift: tuple[int, int, int]) -> None:
    """Also by an odd one: what stays in it keeps its values to the bit, and its flow goes on."""
    rules = gf.Settings(buoyancy=2.0, coarse_velocity=True, pressure=gf.Multigrid(3))
    with gf.Fluid(Grid(CUBE, 0.1), SIDES["open"], rules) as fluid:
        fluid.emitters.add(gf.Emitter(gf.Sphere((0.8, 0.7, 0.8), 0.3), 4.0, 2.0, (0.5, 0.0, 0.0)))
        for _ in range(4):
            fluid.step(0.04)
        before = fluid.velocity.read()
        fluid.scroll(shift)
        after = fluid.velocity.read()
        kept, came = [], []
        for n in reversed(shift):
            kept.append(slice(max(-n, 0) + 1, 16 - max(n, 0) - 1))
            came.append(slice(max(n, 0) + 1, 16 - max(-n, 0) - 1))
        np.testing.assert_array_equal(after[tuple(kept)], before[tuple(came)])
        fluid.step(0.04)
        assert fluid._solver.flow.backend.grid.origin == fluid.grid.origin
        assert fluid.diagnostics().divergence_rms < 0.05 * fluid.diagnostics().max_speed / 0.1


Z, Y, X = np.mgrid[:16, :16, :16] - 7.5
SHARES = np.exp(-0.05 * (X**2 + Y**2 + Z**2))
SOURCES = {
    "a form": gf.Sphere((0.8, 0.6, 0.7), 0.35),
    "a mask": gf.Line([(0.4, 0.6, 0.7), (1.2, 0.6, 0.7)], 0.2),
    "an array": gf.Array(SHARES),
}


@pytest.mark.parametrize("source", SOURCES)
def test_sources_move_the_air(source: str) -> None:
    """As much as where the velocity is as fine as the smoke, within what an edge of coarse cells is wider."""
    moved = []
    for coarse in (False, True):
        rules = gf.Settings(buoyancy=0.0, coarse_velocity=coarse, pressure=gf.Multigrid(4))
        with gf.Fluid(Grid(CUBE, 0.1), SIDES["open"], rules) as fluid:
            emitter = gf.Emitter(SOURCES[source], velocity=(0.0, 1.5, 0.0), noise=0.3, noise_size=0.5)
            emitter.falloff = 0.2 if source != "an array" else None
            fluid.emitters.add(emitter)
            for _ in range(4):
                fluid.step(0.04)
            moved.append(fluid.velocity.at_centers()[..., 1].astype(float))
    fine, coarse_cells = moved
    assert coarse_cells.max() == pytest.approx(fine.max(), rel=0.15)
    assert np.corrcoef(fine.ravel(), coarse_cells.ravel())[0, 1] > 0.95
    assert np.linalg.norm(coarse_cells) == pytest.approx(np.linalg.norm(fine), rel=0.15)


@pytest.mark.parametrize("source", ["a form", "a sheet"])
def test_a_source_is_as_wide_for_the_air_as_for_its_smoke(source: str) -> None:
    """Where it does not say how wide: its edge and its thickness are a cell, not one of the coarse grid."""
    pushed = []
    for coarse in (False, True):
        rules = gf.Settings(buoyancy=0.0, coarse_velocity=coarse, pressure=gf.Multigrid(4))
        with gf.Fluid(Grid((24, 24, 24), 0.05), SIDES["open"], rules, "numpy") as fluid:
            shape = gf.Sphere((0.61, 0.4, 0.58), 0.06)
            sheet = gf.Image(np.ones((2, 2)), (0.61, 0.6, 0.63), (0.3, 0.3))
            fluid.emitters.add(gf.Emitter(sheet if source == "a sheet" else shape, velocity=(0.0, 1.5, 0.0)))
            for _ in range(3):
                fluid.step(0.04)
            pushed.append(float(fluid.velocity.at_centers()[..., 1].sum(dtype=float)))
    assert pushed[1] == pytest.approx(pushed[0], rel=0.25)


def rooms(openings: Floats, cells: tuple[int, int, int]) -> Floats:
    """The number of the room that each cell lies in, [z, y, x], by its faces that are open; -1: in none."""
    nx, ny, nz = cells
    lanes = openings[..., 0].astype(int)[..., None] >> (6 * np.arange(4)) & 63
    open_ones = lanes.reshape(nz, ny, -1)[..., :nx]
    room = np.where(open_ones > 0, np.arange(nx * ny * nz).reshape(nz, ny, nx), -1)
    before = np.full_like(room, -2)
    while (room != before).any():
        before = room.copy()
        for bit in range(6):
            beside = np.roll(room, 1 - 2 * (bit % 2), 2 - bit // 2)
            room = np.where(open_ones >> bit & 1, np.maximum(room, beside), room)
    return room


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
@pytest.mark.parametrize("size", [(20, 16, 12), (40, 32, 1)])
def test_coarse_cells_join_no_rooms(size: tuple[int, int, int], share: float) -> None:
    """Whatever way the coarse air finds, there is one through the finer cells of its own."""
    fine, variant, (nx, ny, nz) = Grid(size), Variant(True), size
    solid = np.zeros((nz, ny, nx, 4))
    z, y, x = np.indices((nz, ny, nx))
    slanted = np.abs(3 * y + 2 * x - 2 * ny - z) < 2  # a wall
    solid[..., 3] = slanted | (np.random.default_rng(5).random((nz, ny, nx)) < share)
    coarse = fine.coarser()
    closed = reference.close_faces(fine, variant, solid_velocity=solid)
    own = reference.restrict_solids(coarse, variant, fine_solid_velocity=solid)
    faces = reference.close_faces(coarse, variant, solid_velocity=own)
    faces = reference.restrict_faces(coarse, variant, solid_faces=faces, fine_solid_faces=closed)
    found = rooms(reference.open_neighbours(fine, variant, solid_faces=closed), fine.cells)
    coarser = rooms(reference.open_neighbours(coarse, variant, solid_faces=faces), coarse.cells)
    above = np.kron(coarser, np.ones((1 + (nz > 1), 2, 2), int))
    assert len(np.unique(coarser)) > 2
    for room in np.unique(coarser)[1:]:
        assert len(np.unique(found[(above == room) & (solid[..., 3] == 0.0)])) == 1


@pytest.mark.parametrize(
    ("turned", "at"), [(0.0, 0.83), (0.0, 0.88), (0.0, 0.93), (0.3, 0.8), (0.7854, 0.8), (1.2, 0.83)]
)
def test_a_wall_as_thin_as_a_cell_keeps_the_air_out(turned: float, at: float) -> None:
    """At any place and angle, from side to side: warm air below it circles, the air above stays at rest."""
    size, c, s = 0.1, np.cos(turned), np.sin(turned)
    rules = gf.Settings(buoyancy=4.0, coarse_velocity=True, pressure=gf.Multigrid(8))
    with gf.Fluid(Grid((16, 16, 8), size), SIDES["free-slip"], rules) as fluid:
        turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        fluid.obstacles.add(gf.Obstacle(gf.Box(size=(9.0, size, 9.0)), (0.8, at, 0.4), turn))
        fluid.step(1e-6)
        x, y, _ = np.moveaxis(fluid.grid.centers(), -1, 0)
        way = (y - at) * c - (x - 0.8) * s
        fluid.temperature.write(np.where((way < 0) & (x < 0.8), 1.0, 0.0))
        for _ in range(10):
            fluid.step(0.04)
        speed = np.linalg.norm(fluid.velocity.at_centers(), axis=-1)
        assert speed[way < 0].max() > 0.3
        assert speed[way > 2 * size].max() < 1e-3


@pytest.mark.parametrize("place", [12, 13])
def test_air_beside_a_thin_wall_does_not_slide_within_it(place: int) -> None:
    """A plate one cell thick fills one of two fine cells: the other lies inside what the flow goes round.

    Air in that stood still; with slopes of the flow beside it smoke ran down it, and piled up.
    """
    free = gf.Wall("free")
    sides = gf.Boundaries(gf.Inflow((1.0, 0.0, 0.0)), gf.Open(), free, free, free, free)
    rules = gf.Settings(buoyancy=0.0, coarse_velocity=True, pressure=gf.Multigrid(6))
    with gf.Fluid(Grid((32, 16, 8), 0.1), sides, rules) as fluid:
        plate = gf.Box(size=(0.1, 1.6, 9.0))
        fluid.obstacles.add(gf.Obstacle(plate, (0.1 * place + 0.05, 0.0, 0.4)))
        fluid.density.write(np.broadcast_to(np.arange(32) < place, (8, 16, 32)))
        for _ in range(20):
            fluid.step(0.04)
        assert fluid.diagnostics().max_speed > 2.0
        assert np.abs(fluid.divergence.read()).max() < 0.1
        assert fluid.density.read()[:, :8, place + 1].max() < (0.02 if place % 2 == 0 else 0.5)


def test_forces_of_cells_push_as_their_means() -> None:
    """In a box without sides an even push, given for each fine cell, moves all the air."""
    rules = gf.Settings(buoyancy=0.0, coarse_velocity=True)
    with gf.Fluid(Grid((16, 8, 12), 0.1), SIDES["periodic"], rules, "numpy") as fluid:
        values = np.random.default_rng(0).normal(size=(12, 8, 16, 3))
        values -= values.mean((0, 1, 2))
        fluid.forces.add(gf.ForceField(values + np.array([0.5, 0.0, -0.25])))
        fluid.step(0.1)
        u = fluid.velocity.read().astype(float)[:12, :8, :16]
        np.testing.assert_allclose(u.mean((0, 1, 2)), (0.05, 0.0, -0.025), atol=1e-6)
        assert u.std() > 0.01


def test_coloured_smoke_has_its_weight() -> None:
    speeds = []
    for coarse in (False, True):
        rules = gf.Settings(buoyancy=0.0, weight=2.0, coarse_velocity=coarse, pressure=gf.Multigrid(4))
        with gf.Fluid(Grid(CUBE, 0.1), settings=rules) as fluid:
            blob = gf.Emitter(gf.Sphere((0.8, 1.0, 0.8), 0.3), color=(3.0, 1.0, 0.0), falloff=0.2)
            fluid.emitters.add(blob)
            for _ in range(6):
                fluid.step(0.05)
            speeds.append(fluid.velocity.at_centers()[..., 1].min())
    assert speeds[0] < -0.1
    assert speeds[1] == pytest.approx(speeds[0], rel=0.1)


@pytest.mark.parametrize("cells", [BOX, (20, 16, 1)])
@pytest.mark.parametrize("backend", EVERYWHERE)
def test_the_pressure_reaches_solids(cells: tuple[int, int, int], backend: str) -> None:
    """Where a cell with fluid lies in a solid one, too: warm air's weight, but for that of two coarse cells.

    There it was 0, and the pressure on a cylinder that sets out summed up to 0.6 to 0.7 of its force.
    """
    h = 0.1
    rules = gf.Settings(coarse_velocity=True, buoyancy=1.0, pressure=gf.Multigrid(20, tolerance=1e-6))
    with gf.Fluid(gf.Grid(cells, h), settings=rules, backend=backend) as fluid:
        middle = tuple(h * (n // 2 + 0.5) for n in cells)  # sides through the middles of coarse cells
        fluid.obstacles.add(gf.Obstacle(gf.Box(size=(5 * h, 7 * h, 5 * h)), position=middle))
        fluid.temperature.write(np.ones(cells[::-1]))
        for _ in range(3):
            fluid.step(0.05)
        weight = (np.arange(cells[1]) + 0.5)[:, None] * h
        air = fluid.solid.read() < 0.5
        apart = (fluid.pressure.read() - weight)[air]
        assert 0.0 < np.ptp(apart) < 4.0 * h * 1.01


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_the_pressure_before_a_thin_plate_does_not_show_behind_it(backend: str) -> None:
    """Which fills a coarse cell, of which only half is solid: the other half has the pressure on its side."""
    h, rules = 0.1, gf.Settings(coarse_velocity=True, pressure=gf.Multigrid(20, tolerance=1e-6))
    with gf.Fluid(gf.Grid(BOX, h), SIDES["open"], rules, backend) as fluid:
        shape = gf.Box(
            size=(1.2 * h, 8 * h, 8 * h)
        )  # over the middles of its last cells, and of a coarse one
        plate = fluid.obstacles.add(gf.Obstacle(shape, position=(9.4 * h, 8 * h, 6 * h)))
        fluid.step(0.01)
        plate.velocity = (1.0, 0.0, 0.0)
        fluid.step(0.01)
        solid, p = fluid.solid.read()[6, 8] > 0.5, fluid.pressure.read()[6, 8]
        assert list(np.flatnonzero(solid)) == [9]
        assert p[8] == p[7] < -1.0 and p[10] > 1.0


def test_air_at_rest_stays_at_rest() -> None:
    """Warm air over cold, held by the pressure of the steps before, in few sweeps a step."""
    rules = gf.Settings(buoyancy=2.0, coarse_velocity=True, pressure=gf.Jacobi(10))
    with gf.Fluid(Grid(BOX, 0.1), settings=rules) as fluid:
        fluid.temperature.write(np.broadcast_to(np.linspace(0.0, 3.0, 16)[None, :, None], BOX[::-1]))
        for _ in range(5):
            fluid.step(0.05)
        start = fluid.diagnostics().max_speed
        for _ in range(150):
            fluid.step(0.05)
        assert fluid.diagnostics().max_speed < 0.1 * start


def test_a_step_is_split_by_the_cells_of_the_flow() -> None:
    for n, coarse in ((8, False), (16, True)):
        rules = gf.Settings(coarse_velocity=coarse, cfl=0.5, max_substeps=100)
        with gf.Fluid(Grid((n, n, n), 0.8 / n), SIDES["open"], rules, "numpy") as fluid:
            fluid.velocity.write(np.broadcast_to([1.0, 0.0, 0.0], fluid.velocity.shape))
            assert fluid._solver.substeps(0.2) == 4


def test_the_noise_of_sources_keeps_its_place_in_the_world() -> None:
    """As a box moves over them: also by an odd number of cells."""
    rules, found = gf.Settings(buoyancy=0.0, coarse_velocity=True, pressure=gf.Multigrid(4)), []
    for shift in (0, 5):
        with gf.Fluid(Grid((32, 16, 16), 0.1), SIDES["open"], rules) as fluid:
            fluid.scroll((shift, 0, 0))
            gust = gf.Emitter(gf.Sphere((1.8, 0.8, 0.8), 0.5), velocity=(0.0, 2.0, 0.0), noise=1.0)
            gust.noise_size, gust.falloff = 0.4, 0.2
            fluid.emitters.add(gust)
            fluid.step(0.05)
            found.append(fluid.velocity.at_centers()[:, :, 10 - shift : 26 - shift, 1].ravel())
    assert np.corrcoef(*found)[0, 1] > 0.97


def test_a_room_that_is_opened_does_not_burst() -> None:
    """Each step in which more flows in than out adds to the pressure of a closed room: see `reopen`."""
    sides = gf.Boundaries(left=gf.Inflow((0.2, 0.0, 0.0)), right=gf.Open())
    rules = gf.Settings(buoyancy=0.0, coarse_velocity=True)
    with gf.Fluid(Grid((20, 12, 8), 0.1), sides, rules) as fluid:
        lid = fluid.obstacles.add(gf.Obstacle(gf.Box(size=(0.4, 9.0, 9.0)), (1.2, 0.6, 0.4)))
        for _ in range(60):
            fluid.step(0.1)
        fluid.obstacles.remove(lid)
        fastest = 0.0
        for _ in range(8):
            fluid.step(0.1)
            fastest = max(fastest, fluid.diagnostics().max_speed)
        assert 0.1 <= fastest < 1.0


def test_gas_that_burns_pushes_out_as_much_as_it_swells() -> None:
    """What flows out of an open box is what the flame makes in all its cells."""
    rules = gf.Settings(
        combustion=gf.Combustion(expansion_per_burn=2.0),
        buoyancy=0.0,
        coarse_velocity=True,
        pressure=gf.Multigrid(12),
    )
    with gf.Fluid(Grid(CUBE, 0.1), SIDES["open"], rules) as fluid:
        fluid.emitters.add(gf.Emitter(gf.Sphere((0.8, 0.8, 0.8), 0.3), 0.0, 2.0, fuel=3.0))
        for _ in range(3):
            fluid.step(0.02)
        made = 2.0 * fluid.flame.read().sum(dtype=float)
        assert fluid.divergence.read().sum(dtype=float) == pytest.approx(made, rel=1e-3)
        assert made > 1.0


@pytest.mark.parametrize("sides", ["walls", "wind"])
def test_even_smoke_stays_even_in_finite_volumes(sides: str) -> None:
    """To what the projection leaves: between the coarse faces nothing is added to the divergence."""
    blown = gf.Inflow((0.5, 0.0, 0.0), density=1.0)
    wind = gf.Boundaries(left=blown, right=blown, top=gf.Wall("free"))
    rules = gf.Settings(
        advection="finite-volume",
        buoyancy=0.0,
        coarse_velocity=True,
        pressure=gf.Multigrid(12, tolerance=1e-6),
    )
    with gf.Fluid(Grid(BOX, 0.1), wind if sides == "wind" else SIDES[sides], rules) as fluid:
        fluid.density.write(np.ones((12, 16, 20)))
        fluid.forces.add(gf.Turbulence(strength=8.0, size=0.6))
        for _ in range(8):
            fluid.step(0.05)
        smoke = fluid.density.read()
        assert fluid.diagnostics().max_speed > 0.7
        assert np.abs(smoke - 1.0).max() < 2e-4


@pytest.mark.parametrize("backend", ["numpy", "auto"])
def test_even_smoke_stays_even_round_solids(backend: str) -> None:
    """Whose outline the two grids see differently: without a mend single cells held 0.2 to 5.5 of it."""
    rules = gf.Settings(
        advection="finite-volume", buoyancy=0.0, coarse_velocity=True, pressure=gf.Multigrid(3)
    )
    with gf.Fluid(Grid((20, 20, 20), 0.1), None, rules, backend) as fluid:
        fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.31), (1.03, 0.97, 1.01)))
        fluid.forces.add(gf.Vortex((1, 1, 1), (0, 0.3, 1), 6.0, 0.5))
        air = fluid.solid.read() < 0.5
        fluid.density.write(np.ones((20, 20, 20)))
        for _ in range(5 if backend == "numpy" else 25):
            fluid.step(0.04)
        smoke = fluid.density.read()[air]
        assert smoke.min() > 0.95 and smoke.max() < 1.05
        assert smoke.std() < 0.003


def test_smoke_is_as_sharp_as_its_cells() -> None:
    """A sheet of smoke that a vortex winds up keeps twice the contrast that it has on the coarse grid."""
    contrast = []
    for n, coarse in ((32, False), (64, True), (64, False)):
        rules = gf.Settings(buoyancy=0.0, coarse_velocity=coarse, pressure=gf.Multigrid(2))
        with gf.Fluid(Grid((n, n, 1), 1.0 / n), SIDES["free-slip"], rules, "numpy") as fluid:
            x, y = (fluid.grid.faces(axis)[..., a] for a, axis in enumerate("xy"))
            y_of_x, x_of_y = fluid.grid.faces("x")[..., 1], fluid.grid.faces("y")[..., 0]
            u = np.zeros(fluid.velocity.shape)
            u[..., 0] = np.sin(np.pi * x) * np.cos(np.pi * y_of_x)
            u[..., 1] = -np.cos(np.pi * x_of_y) * np.sin(np.pi * y)
            fluid.velocity.write(u)
            fluid.density.write((fluid.grid.centers()[..., 0] < 0.5).astype(float))
            for _ in range(60):
                fluid.step(1 / 30)
            smoke = fluid.density.read().astype(float)
            contrast.append(float(((smoke > 0.1) & (smoke < 0.9)).mean()))
    coarse_cells, both, fine_cells = contrast
    assert both < 0.7 * coarse_cells
    assert both < 1.25 * fine_cells


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_it_can_be_switched_on_and_off(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between steps; what it needs is there while it is on."""
    with gf.Fluid(Grid(CUBE, 0.1), settings=gf.Settings(buoyancy=2.0), backend=backend) as fluid:
        fluid.emitters.add(gf.Emitter(gf.Sphere((0.6, 0.4, 0.6), 0.25), 3.0, 2.0, (0.0, 1.0, 0.0)))
        plain = fluid.settings
        fluid.step(0.05)
        held = len(fluid.device.fields) if fluid.device is not None else 0
        energy = fluid.diagnostics().kinetic_energy
        fluid.settings = plain.but(coarse_velocity=True, vorticity_confinement=0.2)
        assert fluid.diagnostics().kinetic_energy == energy
        fluid.step(0.05)
        coarse = fluid._solver.flow
        assert coarse is not fluid._solver
        fluid.settings = fluid.settings.but(buoyancy=0.5, viscosity=1e-3)
        assert fluid._solver.flow.settings.buoyancy == 0.5
        fluid.step(0.05)
        gone: list[bool] = []
        monkeypatch.setattr(coarse, "release", lambda: gone.append(True))
        fluid.settings = plain
        assert gone == [True]
        monkeypatch.undo()
        coarse.release()
        del coarse
        fluid.step(0.05)
        if fluid.device is not None:
            assert len(fluid.device.fields) == held
        assert fluid.diagnostics().kinetic_energy > energy


def test_sides_that_change_count_on_both_grids() -> None:
    rules = gf.Settings(buoyancy=0.0, coarse_velocity=True, pressure=gf.Multigrid(4))
    with gf.Fluid(Grid(BOX, 0.1), SIDES["changing"], rules) as fluid:
        for speed in (1.0, 2.0):
            fluid.boundaries = fluid.boundaries.but(left=gf.Inflow((speed, 0.0, 0.0)))
            for _ in range(3):
                fluid.step(0.05)
            u = fluid.velocity.read()[:12, :16, :, 0]
            np.testing.assert_allclose(u[..., 0], speed, rtol=1e-6)
            assert u[..., -1].mean() == pytest.approx(speed, rel=0.05)


def test_bad_grids_and_solvers_are_refused() -> None:
    rules = gf.Settings(coarse_velocity=True)
    with pytest.raises(
        GpufluidError, match=r"coarse_velocity needs an even number of cells .* got 13 along y"
    ):
        gf.Fluid(Grid((12, 13, 8)), settings=rules, backend="numpy")
    with gf.Fluid(Grid((12, 13, 1)), backend="numpy") as fluid:
        with pytest.raises(GpufluidError, match="got 13 along y"):
            fluid.settings = rules
        assert not fluid.settings.coarse_velocity
        fluid.step(0.1)
    periodic = gf.Boundaries.all(gf.Periodic())
    with gf.Fluid(Grid((16, 8, 16)), periodic, rules.but(pressure=gf.FFT()), "numpy") as fluid:
        fluid.step(0.1)
    with pytest.raises(GpufluidError, match=r"got 12 along x in \(12, 8, 16\); the nearest are 8 and 16"):
        gf.Fluid(Grid((12, 8, 16)), periodic, rules.but(pressure=gf.FFT()), "numpy")
    with pytest.raises(GpufluidError, match="coarse_velocity must be"):
        gf.Settings(coarse_velocity=2)  # type: ignore[arg-type]


def test_half_precision_is_near() -> None:
    speeds = []
    for precision in ("single", "half"):
        with busy("open", "auto", precision=precision) as fluid:
            drive(fluid, 4)
            speeds.append(fluid.velocity.read())
    assert np.quantile(np.abs(speeds[1] - speeds[0]), 0.95) < 0.01 * np.abs(speeds[0]).max()


def test_a_scene_file_can_say_so(tmp_path: Path) -> None:
    file = tmp_path / "scene.toml"
    file.write_text(
        "[grid]\ncells = [16, 24, 16]\ncell_size = 0.05\n[settings]\ncoarse_velocity = true\n"
        "[[emitters]]\nshape = { kind = 'sphere', center = [0.4, 0.2, 0.4], radius = 0.15 }\n"
        "density = 4.0\ntemperature = 1.0\n"
    )
    scene = gf.Scene.load(file, backend="numpy")
    scene.advance()
    assert scene.fluid._solver.flow.backend.grid.cells == (8, 12, 8)
    scene.release()
