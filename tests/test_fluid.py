"""The public Fluid: a whole run on three backends, its fields, its errors."""

from __future__ import annotations

import copy
import math
import pickle
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import moderngl
import numpy as np
import pytest
from driver import within
from sharing import CELLS, EVERYWHERE

import gpufluid as gf
from gpufluid.description import grid
from gpufluid.description.cases import TaylorGreen
from gpufluid.engine.fluid import FIELDS


def plume(backend: str, cells: tuple[int, int, int] = (14, 19, 13), **rules: object) -> gf.Fluid:
    """A small plume with a moving mesh, a box and a sphere in it, everything switched on."""
    settings = gf.Settings(
        **{"vorticity_confinement": 0.3, "buoyancy": 4.0, "weight": 0.2, "cooling": 0.5, **rules}  # type: ignore[arg-type]
    )
    sides = gf.Boundaries(top=gf.Wall("free"), left=gf.Wall(velocity=(0.0, 0.2, 0.0)))
    fluid = gf.Fluid(gf.Grid(cells, 0.05, origin=(-0.35, 0.0, -0.3)), sides, settings, backend)
    fluid.emitters.add(
        gf.Emitter(gf.Sphere((0, 0.15, 0), 0.1), density=5.0, temperature=1.0, velocity=(0, 0.5, 0))
    )
    fluid.emitters.add(gf.Emitter(gf.Box((0.1, 0.1, 0.0), (0.1, 0.05, 0.1)), density=1.0, temperature=0.5))
    fluid.obstacles.add(gf.Obstacle(gf.Mesh.torus(0.16, 0.06), position=(0.0, 0.5, 0.0)))
    fluid.obstacles.add(gf.Obstacle(gf.Box(size=(0.1, 0.1, 0.2)), position=(0.2, 0.7, 0.1)))
    return fluid


def advance(fluid: gf.Fluid, steps: int) -> dict[str, np.ndarray]:
    """Step with the torus turning and rising; return every field."""
    for n in range(steps):
        torus, angle = (
            fluid.obstacles[0],
            0.021 * n,
        )  # no trace grazes it: floats of one kind alone would see it
        torus.position = (0.02 * math.sin(0.3 * n), 0.5 + 0.002 * n, 0.0)
        torus.rotation = (math.sin(angle), 0.0, 0.0, math.cos(angle))
        fluid.step(0.02)
    names = ("density", "temperature", "pressure", "velocity", "solid")
    return {name: getattr(fluid, name).read() for name in names}


SCHEMES: dict[str, dict[str, object]] = {
    "maccormack": {},
    "semi-lagrangian": {"advection": "semi-lagrangian", "trace": "euler"},
    "revert": {"limiter": "revert", "max_substeps": 1},
    "bfecc": {"advection": "bfecc"},
    "cubic": {"advection": "monotone-cubic"},
    "volumes": {"advection": "finite-volume"},
    "cubic velocity": {"advection": "maccormack", "velocity_advection": "monotone-cubic"},
    "diffusive": {"viscosity": 0.05, "thermal_diffusivity": 0.02, "density_diffusivity": 0.1},
}
# another trace, limiter or scheme makes most programs anew: all but the default take one stage, by turns
STAGES = {
    "maccormack": ("fragment", "compute"),
    "semi-lagrangian": ("compute",),
    "revert": ("fragment",),
    "bfecc": ("compute",),
    "cubic": ("fragment",),
    "volumes": ("compute",),
    "cubic velocity": ("compute",),
    "diffusive": ("fragment",),
}


# and all but the first, which is the default, go on for fewer steps, of fewer of the sweeps that it has: what
# adds up in many is seen there
LONG, SHORT = (20, {}), (8, {"pressure": gf.Jacobi(10)})


@pytest.mark.parametrize("name", SCHEMES)
def test_steps_agree_on_three_backends(name: str) -> None:
    results, (steps, rules) = {}, LONG if name == "maccormack" else SHORT
    for backend in ("numpy", *STAGES[name]):
        with plume(backend, **SCHEMES[name], **rules) as fluid:
            results[backend] = advance(fluid, steps)
    reference = results["numpy"]
    assert np.abs(reference["velocity"]).max() > 0.3
    assert reference["density"].max() > 0.3
    for backend in STAGES[name]:
        for field, values in results[backend].items():
            scale = max(np.abs(reference[field]).max(), 1e-6)
            assert np.abs(values - reference[field]).max() <= within(2e-4, 2e-2) * scale, (backend, field)


@pytest.mark.parametrize("rules", [{}, {"advection": "bfecc"}], ids=["maccormack", "bfecc"])
def test_a_flow_along_one_axis_agrees_on_three_backends(
    rules: dict[str, Any], rng: np.random.Generator
) -> None:
    """Ways back end beside values, rounding says on which side: what a limiter allows has no jump there."""
    grid, ends = gf.Grid((32, 24, 20), 1 / 32), {}
    noise = rng.random(grid.cells[::-1])
    for backend in EVERYWHERE:
        with gf.Fluid(grid, settings=gf.Settings(buoyancy=0.0, **rules), backend=backend) as fluid:
            flow = np.zeros(fluid.velocity.shape)
            flow[..., 0] = 0.3 + np.sin(2 * np.pi * grid.faces("x")[..., 1])
            fluid.velocity.write(flow)
            fluid.density.write(noise)
            for _ in range(3):
                fluid.step(1 / 60)
            ends[backend] = fluid.velocity.read(), fluid.density.read()
    for backend in ("fragment", "compute"):
        for got, expected in zip(ends[backend], ends["numpy"], strict=True):
            np.testing.assert_allclose(got, expected, atol=within(2e-5, 2e-3))


def test_half_precision_stays_close() -> None:
    results = []
    for precision in ("single", "half"):
        with plume("fragment", precision=precision) as fluid:
            results.append(advance(fluid, 10))
    difference = np.abs(results[0]["density"] - results[1]["density"])
    assert 0 < difference.mean() < 5e-3 * results[0]["density"].max()


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_nothing_flows_through_solids_and_walls(backend: str) -> None:
    with plume(backend) as fluid:
        fields = advance(fluid, 12)
        fluid.step(0.02)  # the solids are at rest now
        solid, u = fluid.solid.read() > 0.5, fluid.velocity.read()
        assert solid.sum() > 30
        assert not fluid.density.read()[solid].any()
        inner = solid[:, :, 1:] | solid[:, :, :-1]
        assert not u[:-1, :-1, 1:-1, 0][inner].any()
        assert not u[:, :, [0, -1], 0].any()
        assert not u[:, [0, -1], :, 1].any()
        assert not u[[0, -1], :, :, 2].any()
        assert fields["density"].min() >= 0.0


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_a_moving_solid_drags_the_fluid(backend: str) -> None:
    with gf.Fluid(gf.Grid(CELLS, 0.1), backend=backend) as fluid:
        ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.25), position=(0.35, 0.6, 0.4)))
        fluid.step(0.1)
        assert not fluid.velocity.read().any()
        ball.position = (0.40, 0.6, 0.4)
        fluid.step(0.1)
        solid, u = fluid.solid.read() > 0.5, fluid.velocity.read()
        inner = solid[:, :, 1:] & solid[:, :, :-1]
        np.testing.assert_allclose(u[:-1, :-1, 1:-1, 0][inner], 0.5, rtol=1e-5)  # 0.05 m in 0.1 s
        assert fluid.velocity.at_centers()[4, 6, 7, 0] > 0.05  # what is ahead is pushed along
        fluid.step(0.1)
        assert not fluid.velocity.read()[:-1, :-1, 1:-1, 0][inner].any()


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_a_turning_solid_moves_as_a_rigid_body(backend: str) -> None:
    with gf.Fluid(gf.Grid(CELLS, 0.1), backend=backend) as fluid:
        wheel = fluid.obstacles.add(gf.Obstacle(gf.Box(size=(0.8, 0.8, 0.3)), position=(0.5, 0.6, 0.25)))
        fluid.step(0.1)
        angle = 0.02
        wheel.rotation = (0.0, 0.0, math.sin(angle / 2), math.cos(angle / 2))
        fluid.step(0.1)
        solid, u = fluid.solid.read() > 0.5, fluid.velocity.read()
        inner = solid[:, :, 1:] & solid[:, :, :-1]
        y = (np.arange(12) + 0.5) * 0.1 - 0.6
        expected = np.broadcast_to(-angle / 0.1 * y[None, :, None], inner.shape)
        np.testing.assert_allclose(u[:-1, :-1, 1:-1, 0][inner], expected[inner], atol=5e-5)


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_dt_zero_changes_nothing(backend: str) -> None:
    with plume(backend) as fluid:
        before = advance(fluid, 3)
        fluid.step(0.0)
        for name, values in before.items():
            assert np.array_equal(values, getattr(fluid, name).read())


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_a_bad_dt_is_refused_and_nothing_moves(backend: str) -> None:
    with plume(backend) as fluid:
        fluid.density.write(np.ones(fluid.grid.cells[::-1]))
        before = fluid.density.read()
        for dt in (-0.1, math.nan, math.inf, "soon"):
            with pytest.raises(ValueError, match="dt must be a"):
                fluid.step(dt)  # type: ignore[arg-type]
            assert np.array_equal(before, fluid.density.read())


def test_renderers_of_fluids_with_contexts_of_their_own_take_turns(tmp_path: Path) -> None:
    """As the fluids do: whichever context was current before."""
    scenes = [gf.Scene(gf.Fluid(gf.Grid(CELLS, 0.1)), floor=0.0) for _ in range(2)]
    frames = [gf.FrameRenderer(scene.fluid.ctx, (16, 12)) for scene in scenes]  # type: ignore[arg-type]
    for scene, frame in (*zip(scenes, frames, strict=True), (scenes[0], frames[0])):
        scene.advance()
        frame.draw(scene)
        assert frame.read().shape == (12, 16, 3)
    gf.run(scenes[0], frames=1, size=(16, 12), still=tmp_path / "a.png", progress=False)
    for scene, frame in zip(scenes, frames, strict=True):
        frame.release()
        scene.release()


@pytest.mark.parametrize("solved", [True, False])
def test_a_long_step_is_split(solved: bool) -> None:
    """But not where a velocity is given: how far that may carry is its giver's to say."""
    rules = gf.Settings(solve_velocity=solved)
    with gf.Fluid(gf.Grid((16, 16, 1), 0.1), gf.Boundaries.all(gf.Wall("free")), rules) as fluid:
        u = np.zeros((2, 17, 17, 3))
        u[0, :16, 1:16, 0] = 1.0
        fluid.velocity.write(u)
        solver = fluid._solver
        assert solver.speeds.most(solver.variant, velocity=solver.velocity) == pytest.approx(1.0)
        assert solver.substeps(0.4) == 1  # 4 cells
        assert solver.substeps(0.6) == (2 if solved else 1)
        assert solver.substeps(60.0) == (4 if solved else 1)  # the cap
        assert solver.substeps(1e-9) == 1


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_of_many_cells_the_device_finds_the_fastest(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what finite volumes ask for at most; it adds up what conjugate gradients do. Else all is read."""
    speeds, courses, left = [], [], []
    for many in (1, 1 << 20):
        monkeypatch.setattr(grid, "MANY", many)
        rng = np.random.default_rng(1)
        rules = gf.Settings(advection="finite-volume", pressure=gf.ConjugateGradient(6))
        with gf.Fluid(gf.Grid(CELLS, 0.1), settings=rules, backend=backend) as fluid:
            fluid.velocity.write(rng.normal(size=(9, 13, 11, 3)))
            solver = fluid._solver
            speeds.append(solver.speeds.most(solver.variant, velocity=solver.velocity))
            course = solver.advection.course(1.0, 0.1, solver.variant, velocity=solver.velocity)
            courses.append((course.parts, course.reach, *(share for _, share, _ in course.passes)))
            assert (solver.speeds.groups is not None) == (many == 1)
            fluid.project()
            left.append(fluid.velocity.read())
    assert speeds[0] == pytest.approx(speeds[1], rel=1e-6) and speeds[0] > 3.0
    assert courses[0] == pytest.approx(courses[1]) and courses[0][0] > 6
    np.testing.assert_allclose(left[0], left[1], atol=5e-6)


@pytest.mark.parametrize("backend", ["numpy", "auto"])
def test_a_field_is_an_array_to_numpy(backend: str) -> None:
    """With the shape it says, also as what another fluid is given; and a fluid says what it is."""
    grid = gf.Grid((5, 4, 3), 0.25, origin=(1.0, 2.0, 3.0))
    with gf.Fluid(grid, gf.Boundaries.all(gf.Open()), backend=backend) as fluid, gf.Fluid(grid) as other:
        fluid.color.write(np.ones((3, 4, 5, 3)))
        fluid.emitters.add(gf.Emitter(gf.Sphere((1.5, 2.5, 3.5), 0.5), density=1.0, velocity=(1.0, 2.0, 3.0)))
        fluid.step(0.1)
        assert repr(fluid) == f"<gf.Fluid of 5 x 4 x 3 cells of 0.25 m, {fluid.backend_name}, at 0.1 s>"
        assert repr(fluid.emitters) == f"[{fluid.emitters[0]!r}]" and repr(fluid.forces) == "[]"
        found = fluid.diagnostics()
        assert dict(found)["mass"] == found["mass"] == found.mass > 0.0
        for name in FIELDS:
            field = getattr(fluid, name)
            array = np.asarray(field)
            assert array.shape == field.shape and np.array_equal(array, field.read())
            assert repr(field).startswith(f"<{name} {list(field.shape)} of a gf.Fluid")
            assert np.asarray(field, np.float64).dtype == np.float64
        with pytest.raises(ValueError, match="density is read back .* makes a copy"):
            fluid.density.__array__(copy=False)
        with pytest.raises(AttributeError, match=r"density has no 'max'; .*: fluid.density.read\(\).max"):
            fluid.density.max()  # type: ignore[attr-defined]
        with pytest.raises(AttributeError, match="'ScalarField' object has no attribute 'colour'"):
            _ = fluid.density.colour  # type: ignore[attr-defined]
        with pytest.raises(gf.GpufluidError, match=r"velocity is read as a whole: fluid.velocity.read\(\)\["):
            fluid.velocity[0]
        with pytest.raises(gf.GpufluidError, match=r"fuel is written as a whole: fluid.fuel.write\(array\)"):
            fluid.fuel[0] = 1.0
        assert np.max(fluid.density) == fluid.density.read().max() > 0.0
        for name in ("velocity", "density", "color"):
            getattr(other, name).write(getattr(fluid, name))
            assert np.array_equal(getattr(other, name), getattr(fluid, name))
        assert not fluid.released
    assert fluid.released and repr(fluid) == "<gf.Fluid, released>"
    assert not {"check_alive", "check_memory", "take_over"} & set(dir(fluid)), "what programs have no use for"


def test_a_flow_is_a_formula_of_the_places_of_its_faces() -> None:
    """A linear one has its own values at the middles of the cells, wherever the box has gone."""
    pull = np.array([[0.5, -1.0, 0.25], [0.75, 1.0, -2.0], [0.0, 0.125, -1.5]])
    with gf.Fluid(gf.Grid((6, 5, 4), 0.5, (1.0, -2.0, 3.0)), gf.Boundaries.all(gf.Open())) as fluid:
        fluid.scroll((2, -1, 3))
        places = [fluid.grid.faces(axis) for axis in "xyz"]
        assert all(place.shape == (5, 6, 7, 3) for place in places)
        fluid.velocity.write(np.stack([place @ row for place, row in zip(places, pull, strict=True)], -1))
        centers = fluid.grid.centers()
        assert centers[0, 0, 0].tolist() == [2.25, -2.25, 4.75] and centers[-1, -1, -1].tolist() == [
            4.75,
            -0.25,
            6.25,
        ]
        np.testing.assert_allclose(fluid.velocity.at_centers(), centers @ pull.T, atol=1e-5)
        with pytest.raises(gf.GpufluidError, match="axis must be one of 'x', 'y', 'z', got 'w'"):
            fluid.grid.faces("w")


@pytest.mark.parametrize("cells", [(6, 5, 4), (6, 5, 1)])
@pytest.mark.parametrize("backend", ["numpy", "auto"])
def test_a_flow_may_be_given_at_the_cell_centers(backend: str, cells: tuple[int, int, int]) -> None:
    """A linear one is itself on every face within; across a periodic side a face has both its cells."""
    pull = np.array([[0.5, -1.0, 0.25], [0.75, 1.0, -2.0], [0.0, 0.125, -1.5]])
    grid, axes = gf.Grid(cells, 0.5, (1.0, -2.0, 3.0)), range(2 if cells[2] == 1 else 3)
    with gf.Fluid(grid, gf.Boundaries.all(gf.Open()), backend=backend) as fluid:
        fluid.velocity.write_at_centers(grid.centers() @ pull.T)
        found = fluid.velocity.read()
        for axis in axes:
            inner = np.s_[
                tuple(slice(int(a == axis), cells[a]) for a in (2, 1, 0))  # neither on a side nor beyond one
            ]
            linear = grid.faces("xyz"[axis]) @ pull[axis]
            np.testing.assert_allclose(found[..., axis][inner], linear[inner], atol=1e-5)
        first = grid.centers()[:, :, 0] @ pull[0]
        np.testing.assert_allclose(found[: cells[2], : cells[1], 0, 0], first, atol=1e-5)
        with pytest.raises(
            gf.GpufluidError, match=r"velocity at the cell centres must have the shape .* got \(3,\)"
        ):
            fluid.velocity.write_at_centers(np.zeros(3))
    with gf.Fluid(grid, gf.Boundaries.all(gf.Periodic()), backend=backend) as fluid:
        values = np.random.default_rng(3).normal(size=(*cells[::-1], 3)).astype(np.float32)
        fluid.velocity.write_at_centers(values)
        for axis in axes:
            either = 0.25 * (np.roll(values, 1, 2 - axis) + 2.0 * values + np.roll(values, -1, 2 - axis))
            np.testing.assert_allclose(fluid.velocity.at_centers()[..., axis], either[..., axis], atol=1e-6)


def test_a_dt_that_is_hardly_meant_is_doubted() -> None:
    """Milliseconds, as games count them: once, and the step is taken all the same."""
    with gf.Fluid(gf.Grid((8, 8, 8), 0.01), backend="numpy") as fluid:
        fluid.emitters.add(gf.Emitter(gf.Sphere((0.04, 0.04, 0.04), 0.02), velocity=(1.0, 0.0, 0.0)))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for _ in range(3):
                fluid.step(0.016)
        with pytest.warns(RuntimeWarning, match="a step of 16 s carries .* is dt in seconds") as told:
            fluid.step(16)
            fluid.step(16)
        assert len(told) == 1 and told[0].filename == __file__
        assert fluid.time == pytest.approx(3 * 0.016 + 32.0)


def test_substeps_are_steps() -> None:
    ends = []
    for rules, parts in ((gf.Settings(cfl=5.0, buoyancy=0.0), 1), (gf.Settings(cfl=None, buoyancy=0.0), 2)):
        with gf.Fluid(gf.Grid((16, 16, 1), 1 / 16), gf.Boundaries.all(gf.Wall("free")), rules) as fluid:
            fluid.velocity.write(TaylorGreen(16).velocity())
            for _ in range(parts):
                fluid.step(0.5 / parts)  # 8 cells in all
            ends.append(fluid.velocity.read())
    assert np.array_equal(ends[0], ends[1])


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("density", r"cannot be replaced: write\(\.\.\.\) into it"),
        ("velocity", r"cannot be replaced: write\(\.\.\.\) into it"),
        ("solid", r"cannot be replaced: write\(\.\.\.\) into it"),
        ("emitters", r"cannot be replaced: add\(\.\.\.\) to and remove\(\.\.\.\) from it"),
        ("obstacles", r"cannot be replaced: add"),
        ("forces", r"cannot be replaced: add"),
        ("grid", r"cannot be replaced: make another fluid"),
    ],
)
def test_the_parts_of_a_fluid_stay(name: str, says: str) -> None:
    """What was put in its place was not looked at by a step, and was saved."""
    with gf.Fluid(gf.Grid((4, 4, 4), 0.1), backend="numpy") as fluid:
        part = getattr(fluid, name)
        with pytest.raises(gf.GpufluidError, match=f"fluid.{name} {says}"):
            setattr(fluid, name, None)
        assert getattr(fluid, name) == part
        fluid.note = "a host's own"  # type: ignore[attr-defined]
        fluid.note = "and another"


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_a_flow_in_two_dimensions_knows_no_third(backend: str, rng: np.random.Generator) -> None:
    """What is written for it is not kept: it would count as speed, and split steps."""
    with gf.Fluid(gf.Grid((7, 6, 1), 0.1), backend=backend) as fluid:
        values = rng.normal(size=(2, 7, 8, 3))
        values[..., 2] = 500.0
        fluid.velocity.write(values)
        assert (fluid.velocity.read()[0, ..., :2] == values[0, ..., :2].astype(np.float32)).all()
        assert not fluid.velocity.read()[..., 2].any()
        assert fluid.diagnostics().max_speed < 10.0


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_written_fields_come_back(backend: str, rng: np.random.Generator) -> None:
    with gf.Fluid(gf.Grid((7, 6, 5), 0.1), backend=backend) as fluid:
        for field, shape in (
            (fluid.density, (5, 6, 7)),
            (fluid.temperature, (5, 6, 7)),
            (fluid.pressure, (5, 6, 7)),
            (fluid.velocity, (6, 7, 8, 3)),
        ):
            values = rng.normal(size=shape).astype(np.float32)
            field.write(values)
            read = field.read()
            assert read.dtype == np.float32
            assert np.array_equal(read, values)
        u = fluid.velocity.read()
        np.testing.assert_allclose(
            fluid.velocity.at_centers()[..., 1], 0.5 * (u[:-1, :-1, :-1, 1] + u[:-1, 1:, :-1, 1]), atol=1e-6
        )


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_what_is_written_where_no_face_is_counts_for_nothing(backend: str) -> None:
    with gf.Fluid(gf.Grid(CELLS, 0.1), backend=backend) as fluid:
        values = np.zeros((9, 13, 11, 3))
        values[-1, ..., :2] = values[:, -1, :, ::2] = values[..., -1, 1:] = 9.0
        fluid.velocity.write(values)
        found = fluid.diagnostics()
        assert (found.kinetic_energy, found.max_speed, found.leak) == (0.0, 0.0, 0.0)
        fluid.step(0.1)
        assert not fluid.velocity.read().any()


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_the_vorticity_is_the_curl_of_the_velocity(backend: str) -> None:
    """Of a linear flow exactly, beside the sides too; of a wave as central differences see it, in 2D."""
    pull = np.array([[0.5, -1.0, 0.25], [0.75, 1.0, -2.0], [0.0, 0.125, -1.5]])
    open_box = gf.Boundaries.all(gf.Open())
    with gf.Fluid(gf.Grid((6, 5, 4), 0.5), open_box, backend=backend) as fluid:
        assert fluid.vorticity.shape == (4, 5, 6, 3) and not fluid.vorticity.read().any()
        flow = [fluid.grid.faces(axis) @ row for axis, row in zip("xyz", pull, strict=True)]
        fluid.velocity.write(np.stack(flow, -1))
        curl = pull[2, 1] - pull[1, 2], pull[0, 2] - pull[2, 0], pull[1, 0] - pull[0, 1]
        np.testing.assert_allclose(fluid.vorticity, np.broadcast_to(curl, (4, 5, 6, 3)), atol=1e-6)
        with pytest.raises(gf.GpufluidError, match="vorticity cannot be written: .* fluid.velocity"):
            fluid.vorticity.write(fluid.vorticity)
    with gf.Fluid(gf.Grid((16, 8, 1), 1 / 16), gf.Boundaries.all(gf.Periodic()), backend=backend) as fluid:
        flow = np.zeros(fluid.velocity.shape)
        flow[..., 1] = np.sin(2.0 * np.pi * fluid.grid.faces("y")[..., 0])
        fluid.velocity.write(flow)
        seen = np.zeros((1, 8, 16, 3))
        seen[..., 2] = 16 * np.sin(np.pi / 8) * np.cos(2.0 * np.pi * fluid.grid.centers()[..., 0])
        np.testing.assert_allclose(fluid.vorticity, seen, atol=1e-5)


def test_wrong_arrays_are_refused() -> None:
    with gf.Fluid(gf.Grid((7, 6, 5), 0.1), backend="numpy") as fluid:
        with pytest.raises(ValueError, match=r"density must have the shape \(5, 6, 7\), got \(7, 6, 5\)"):
            fluid.density.write(np.zeros((7, 6, 5)))
        bad = np.zeros((6, 7, 8, 3))
        bad[1, 2, 3, 0] = np.nan
        with pytest.raises(ValueError, match=r"velocity must be finite, got nan at \(1, 2, 3, 0\)"):
            fluid.velocity.write(bad)
        with pytest.raises(ValueError, match="divergence cannot be written"):
            fluid.divergence.write(np.zeros((5, 6, 7)))
        fluid.release()
        with pytest.raises(ValueError, match="released"):
            fluid.step(0.1)
        fluid.release()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: gf.Grid((0, 4, 4)), r"Grid.cells along x must be a whole number >= 1, got 0"),
        (lambda: gf.Grid((4, -4, 4)), r"along y .* got -4"),
        (lambda: gf.Grid((4, 4, 2.5)), r"along z .* got 2.5"),
        (lambda: gf.Grid((4, 4)), r"three whole numbers"),
        (lambda: gf.Grid((4, 4, 4), cell_size=0), r"cell_size must be a finite number > 0"),
        (lambda: gf.Grid((4, 4, 4), cell_size=math.nan), r"cell_size must be a finite number > 0, got nan"),
        (lambda: gf.Settings(advection="macormack"), r"did you mean 'maccormack'"),
        (lambda: gf.Settings(cooling=-1), r"Settings.cooling must be a finite number >= 0"),
        (lambda: gf.Jacobi(-1), r"Jacobi.iterations must be a whole number >= 0"),
        (lambda: gf.Jacobi(weight=2.5), r"below 2"),
        (lambda: gf.Wall("none"), r"Wall.slip must be one of 'no', 'free'"),
        (lambda: gf.Boundaries(left=gf.Wall(velocity=(1, 0, 0))), r"must lie in its plane"),
        (lambda: gf.Fluid(gf.Grid((4, 4, 4)), backend="cpu"), r"Fluid.backend must be one of .*, got .cpu.$"),
        (lambda: gf.Fluid((4, 4, 4)), r"must be a gf.Grid"),  # type: ignore[arg-type]
    ],
)
def test_bad_descriptions(make: Callable[[], object], message: str) -> None:
    with pytest.raises(gf.GpufluidError, match=message):
        make()


def test_a_grid_over_the_texture_limit_names_both_sizes(ctx: moderngl.Context) -> None:
    with pytest.raises(ValueError, match=r"4096 x 4096 x 4096 values .* limit here is \d+"):
        gf.Fluid(gf.Grid((4096, 4096, 4096)), ctx=ctx)


def test_too_little_memory_is_named_before_the_system_kills(
    ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    import gpufluid.gl.device as device

    monkeypatch.setattr(device, "free_memory", lambda: 1_000_000)
    monkeypatch.setattr(device, "names_software", lambda renderer: True)
    with pytest.raises(ValueError, match=r"velocity field needs 4 MB more, 1 MB of memory are free"):
        gf.Fluid(gf.Grid((64, 64, 64)), ctx=ctx)


def test_meshes_that_work_only_in_part_warn() -> None:
    with gf.Fluid(gf.Grid((12, 12, 12), 0.1), backend="fragment") as fluid:
        whole = gf.Mesh.box((0.5, 0.5, 0.5))
        hole = gf.Mesh(whole.vertices, whole.triangles[:-2])
        with pytest.warns(gf.MeshWarning, match="not closed"):
            fluid.obstacles.add(gf.Obstacle(hole, position=(0.6, 0.6, 0.6)))
        solid = fluid.solid.read()
        assert 0 < solid.sum() <= 6**3
        assert not solid[:3].any()
        assert not solid[9:].any()
        with pytest.warns(gf.MeshWarning, match="outside the box"):
            fluid.obstacles.add(gf.Obstacle(whole, position=(5.0, 0.6, 0.6)))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            fluid.obstacles.add(gf.Obstacle(whole, position=(0.6, 0.6, 0.6)))
        fluid.step(0.01)


def test_shapes_that_will_hardly_work_warn() -> None:
    """Thinner than a cell, turned or scaled so too; outside the box, but not beside a periodic one."""
    warns = partial(pytest.warns, gf.ShapeWarning)
    middle = (0.6, 0.6, 0.6)
    plate = gf.Box(size=(0.8, 0.05, 0.8))
    with gf.Fluid(gf.Grid((12, 12, 12), 0.1), backend="numpy") as fluid:
        with warns(match=r"is 0\.05 m thin, and a cell 0\.1 m") as told:
            fluid.obstacles.add(gf.Obstacle(plate, middle, rotation=(0.0, 0.0, 0.38268343, 0.92387953)))
        assert told[0].filename == __file__
        with warns(match=r"is 0\.02 m thin"):
            fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.1), middle, scale=(1.0, 1.0, 0.1)))
        with warns(match="outside the box: it spans") as told:
            fluid.emitters.add(gf.Emitter(gf.Sphere((0.6, -0.5, 0.6), 0.1), density=1.0))
        assert told[0].filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            fluid.obstacles.add(gf.Obstacle(gf.Box(size=(0.8, 0.1, 0.8)), middle))
            fluid.obstacles.add(gf.Obstacle(gf.Plane((0.0, -9.0, 0.0))))
            fluid.obstacles.add(gf.Obstacle(gf.Capsule(), position=(5.0, 0.6, 0.6)))
            fluid.emitters.add(gf.Emitter(gf.Sphere((0.6, -0.25, 0.6), 0.1), density=1.0))  # it fades in
            fluid.emitters.add(gf.Emitter(gf.Sphere((-2, 0, 0), 0.1), density=1.0, motion=(9.0, 0.0, 0.0)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        around = gf.Boundaries(bottom=gf.Periodic(), top=gf.Periodic())
        with gf.Fluid(gf.Grid((12, 12, 12), 0.1), around, backend="numpy") as fluid:
            fluid.emitters.add(gf.Emitter(gf.Sphere((0.6, -0.5, 0.6), 0.1), density=1.0))
        with gf.Fluid(gf.Grid((12, 12, 1), 0.1), backend="numpy") as flat:
            flat.obstacles.add(gf.Obstacle(gf.Box(size=(0.3, 0.3, 0.05)), position=(0.6, 0.6, 0.05)))
            flat.emitters.add(gf.Emitter(gf.Sphere((0.6, 0.6, 3.0), 0.1), density=1.0))
            flat.obstacles.add(gf.Obstacle(gf.Sphere((5.0, 0.6, 3.0), 0.1)))
    with gf.Fluid(gf.Grid((12, 12, 1), 0.1), backend="numpy") as flat, warns(match="which is one cell deep"):
        flat.obstacles.add(gf.Obstacle(gf.Sphere((0.6, 0.6, 3.0), 0.1)))


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_removing_an_obstacle_opens_its_cells(backend: str) -> None:
    with gf.Fluid(gf.Grid(CELLS, 0.1), backend=backend) as fluid:
        ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.2), position=(0.5, 0.5, 0.5)))
        fluid.step(0.05)
        fluid.obstacles.remove(ball)
        with pytest.raises(ValueError, match="not in the fluid"):
            fluid.obstacles.remove(ball)
        assert not fluid.solid.read().any()
        fluid.density.write(np.ones(CELLS[::-1]))
        fluid.step(0.05)
        assert fluid.density.read()[5, 5, 5] > 0.5


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_emitters_add_what_they_say(backend: str) -> None:
    rules = gf.Settings(buoyancy=0.0)
    with gf.Fluid(gf.Grid(CELLS, 0.1), settings=rules, backend=backend) as fluid:
        emitter = fluid.emitters.add(
            gf.Emitter(gf.Box.from_corners((0.2, 0.2, 0.2), (0.6, 0.6, 0.6)), density=3.0, temperature=7.0)
        )
        emitter.falloff = 1e-3  # a hard edge
        fluid.step(0.5)
        assert fluid.diagnostics().mass == pytest.approx(3.0 * 0.5 * 0.4**3, rel=1e-5)
        assert fluid.temperature.read().max() == pytest.approx(7.0, rel=1e-5)
        emitter.active = False
        fluid.step(0.5)
        assert fluid.diagnostics().mass == pytest.approx(3.0 * 0.5 * 0.4**3, rel=1e-5)
        fluid.emitters.clear()
        for _ in range(9):  # more than one pass holds
            fluid.emitters.add(gf.Emitter(emitter.shape, density=1.0, falloff=1e-3))
        fluid.step(0.5)
        assert fluid.diagnostics().mass == pytest.approx(4.0 * 1.5 * 0.4**3, rel=1e-5)


def test_fading_does_not_depend_on_dt() -> None:
    ends = []
    for steps in (1, 10):
        rules = gf.Settings(density_dissipation=0.7, cooling=0.3, ambient_temperature=2.0, buoyancy=0.0)
        with gf.Fluid(gf.Grid(CELLS, 0.1), settings=rules, backend="fragment") as fluid:
            fluid.density.write(np.ones(CELLS[::-1]))
            fluid.temperature.write(np.full(CELLS[::-1], 5.0))
            for _ in range(steps):
                fluid.step(1.0 / steps)
            ends.append((fluid.density.read()[3, 3, 3], fluid.temperature.read()[3, 3, 3]))
    for density, temperature in ends:
        assert density == pytest.approx(math.exp(-0.7), rel=1e-5)
        assert temperature == pytest.approx(2.0 + 3.0 * math.exp(-0.3), rel=1e-5)


def test_a_context_of_the_callers_is_not_released(ctx: moderngl.Context) -> None:
    with gf.Fluid(gf.Grid(CELLS, 0.1), ctx=ctx) as fluid:
        fluid.step(0.1)
    assert ctx.texture((1, 1), 4).read() is not None


@pytest.mark.parametrize("backend", ["fragment", "compute"])
def test_fluids_with_contexts_of_their_own_take_turns(backend: str) -> None:
    """Stepped in turns, made and released in between: each gives the bits it gives alone."""

    def make(place: float) -> gf.Fluid:
        fluid = gf.Fluid(gf.Grid(CELLS, 0.1), backend=backend)
        fluid.emitters.add(gf.Emitter(gf.Sphere((place, 0.3, 0.4), 0.2), density=3.0, temperature=2.0))
        fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.2), (0.5, 0.8, 0.4)))
        return fluid

    alone = []
    for place in (0.4, 0.6):
        with make(place) as fluid:
            for _ in range(4):
                fluid.step(0.05)
            alone.append((fluid.velocity.read(), fluid.density.read()))
    first, second = make(0.4), make(0.6)
    for n in range(4):
        if n == 2:
            make(0.2).release()
        first.step(0.05)
        second.step(0.05)
    for fluid, (velocity, density) in zip((first, second), alone, strict=True):
        np.testing.assert_array_equal(fluid.velocity.read(), velocity)
        np.testing.assert_array_equal(fluid.density.read(), density)
        assert density.max() > 0.1
    first.release()
    second.step(0.05)
    second.release()


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_what_cannot_be_copied_says_what_gives_another(backend: str) -> None:
    """Once copy.copy gave a second name of the same fluid, and copy.deepcopy told of moderngl's context."""
    with gf.Fluid(gf.Grid(CELLS, 0.1), backend=backend) as fluid:
        ways: list[Callable[[object], object]] = [copy.copy]
        if backend != "numpy":
            ways += [copy.deepcopy, pickle.dumps]
        for way in ways:
            with pytest.raises(gf.GpufluidError, match=r"gf.Fluid of .* cannot be copied: fluid.save"):
                way(fluid)
            with pytest.raises(gf.GpufluidError, match=r"density .* cannot be copied: read\(\) gives"):
                way(fluid.density)
        if backend == "numpy":
            apart = copy.deepcopy(fluid)
            apart.density.write(np.ones(fluid.density.shape))
            apart.step(0.1)
            assert (fluid.time, fluid.density.read().max(), apart.time) == (0.0, 0.0, 0.1)


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_what_was_taken_is_of_that_moment(backend: str) -> None:
    """Every field, as `read` gives it, though the fluid has gone on; in another thread."""
    with gf.Fluid(
        gf.Grid(CELLS, 0.1), settings=gf.Settings(combustion=gf.Combustion()), backend=backend
    ) as fluid:
        fluid.emitters.add(
            gf.Emitter(gf.Sphere((0.4, 0.3, 0.3), 0.3), fuel=1.0, temperature=900.0, color=(1, 0.5, 0))
        )
        fluid.obstacles.add(gf.Obstacle(gf.Sphere((0.5, 0.9, 0.3), 0.2)))
        for _ in range(3):
            fluid.step(0.05)
        expected = {name: getattr(fluid, name).read() for name in FIELDS}
        assert all(values.any() for values in expected.values())
        taken = fluid.take(FIELDS)
        some = fluid.take(["fuel"])
        fluid.step(0.05)
        with ThreadPoolExecutor(1) as thread:
            values = thread.submit(taken).result()
        assert list(values) == list(FIELDS)
        for name in FIELDS:
            np.testing.assert_array_equal(values[name], expected[name], err_msg=name)
        assert list(some()) == ["fuel"]
        with pytest.raises(gf.GpufluidError, match="did you mean 'density'"):
            fluid.take(["densty"])
