"""What flows at given points: asked by a program, and by its shaders."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import moderngl
import numpy as np
import pytest
from reading import forbid_reading
from sharing import EVERYWHERE

import gpufluid as gf

GRID = gf.Grid((14, 11, 9), 0.1, origin=(-0.5, 0.2, 0.3))


def flowing(backend: str, cells: tuple[int, int, int] = GRID.cells, **settings: Any) -> gf.Fluid:
    """Velocity and density linear in place, m/s."""
    grid = gf.Grid(cells, 0.1, GRID.origin)
    open_all_round = gf.Boundaries.all(gf.Open())
    fluid = gf.Fluid(grid, open_all_round, gf.Settings(buoyancy=0.0, **settings), backend=backend)
    nz, ny, nx = (n + 1 for n in cells[::-1])
    z, y, x = np.meshgrid(*(0.1 * np.arange(n) for n in (nz, ny, nx)), indexing="ij")
    low = np.array(grid.origin)
    u = np.stack([1.0 + 2.0 * (x + low[0]), 3.0 * (y + low[1]), -1.0 + (z + low[2])], -1)
    if cells[2] == 1:
        u[..., 2] = 0.0
    fluid.velocity.write(u)
    fluid.density.write(5.0 + (x + y)[:-1, :-1, :-1] + 0.1)
    return fluid


def places(fluid: gf.Fluid, rng: np.random.Generator, count: int, rim: float = 0.0) -> np.ndarray:
    """Random places in the box, `rim` metres from its sides."""
    low, high = np.array(fluid.grid.origin) + rim, np.array(fluid.grid.upper) - rim
    return rng.uniform(low, high, (count, 3))


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_what_is_linear_is_sampled_exactly(backend: str, rng: np.random.Generator) -> None:
    """More points than one pass takes, in the order asked."""
    with flowing(backend) as fluid:
        points = places(fluid, rng, 2500, rim=0.051)
        samples = fluid.sample(points)
        x, y, z = points.T
        expected = np.stack([1.0 + 2.0 * x, 3.0 * y, -1.0 + z], -1)
        np.testing.assert_allclose(samples.velocity, expected, atol=1e-5)
        np.testing.assert_allclose(samples.density, 5.0 + x + 0.5 + y - 0.2, atol=1e-5)
        assert samples.inside.all() and not samples.fuel.any()
        assert samples.velocity.dtype == samples.density.dtype == np.float32


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_outside_and_in_solids_there_is_nothing(backend: str) -> None:
    with flowing(backend) as fluid:
        fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.15), (0.2, 0.7, 0.7), velocity=(0.0, 0.0, 2.0)))
        fluid.step(1e-3)
        samples = fluid.sample([(0.2, 0.7, 0.7), (-0.51, 0.5, 0.5), (0.0, 5.0, 0.5), (-0.4, 0.4, 0.4)])
        np.testing.assert_array_equal(samples.inside, [True, False, False, True])
        np.testing.assert_allclose(samples.velocity[0], (0.0, 0.0, 2.0), atol=1e-4)
        np.testing.assert_array_equal(samples.velocity[1:3], 0.0)
        np.testing.assert_array_equal(samples.density[:3], 0.0)
        assert samples.density[3] > 1.0


def rough(
    backend: str, sides: gf.Boundaries, rng: np.random.Generator, deep: int = GRID.cells[2]
) -> gf.Fluid:
    """Random velocity and density."""
    grid = gf.Grid((*GRID.cells[:2], deep), 0.1, GRID.origin)
    fluid = gf.Fluid(grid, sides, gf.Settings(buoyancy=0.0), backend=backend)
    for field in (fluid.velocity, fluid.density):
        field.write(rng.uniform(0.5, 2.0, field.read().shape))
    return fluid


PERIODIC = gf.Boundaries.all(gf.Periodic())
ACROSS = gf.Boundaries(gf.Open(), gf.Open(), gf.Periodic(), gf.Periodic(), gf.Open(), gf.Open())


@pytest.mark.parametrize("backend", EVERYWHERE)
@pytest.mark.parametrize("sides", [PERIODIC, ACROSS], ids=["all", "y"])
def test_a_place_counts_modulo_a_periodic_box(
    backend: str, sides: gf.Boundaries, rng: np.random.Generator
) -> None:
    """It was outside. Along other axes it still is."""
    with rough(backend, sides, rng) as fluid:
        points, size = places(fluid, rng, 200), np.array(fluid.grid.size)
        inside, beyond = fluid.sample(points), fluid.sample(points + size * (0, -2, 0))
        np.testing.assert_allclose(beyond.velocity, inside.velocity, atol=1e-4)
        np.testing.assert_allclose(beyond.density, inside.density, atol=1e-4)
        assert beyond.inside.all() and (inside.density > 0.4).all()
        far = fluid.sample(points + size * (1, 0, -3))
        assert far.inside.all() if sides is PERIODIC else not far.inside.any()
        body = {"areas": 0.02, "volumes": 0.001}
        parts = [fluid.forces_on(points + size * (0, n, 0), **body).parts for n in (0, 4)]
        np.testing.assert_allclose(parts[1], parts[0], atol=1e-4)


@pytest.mark.parametrize("settings", [{"sampler": "hardware"}, {"precision": "half"}])
def test_whatever_the_settings(settings: dict[str, Any], rng: np.random.Generator) -> None:
    with flowing("fragment", **settings) as fluid:
        points = places(fluid, rng, 50, rim=0.051)
        np.testing.assert_allclose(fluid.sample(points).density, 5.3 + points[:, 0] + points[:, 1], rtol=2e-3)


def test_two_dimensions(rng: np.random.Generator) -> None:
    with flowing("fragment", (12, 8, 1)) as fluid:
        points = places(fluid, rng, 20, rim=0.05)
        velocity = fluid.sample(points).velocity
        np.testing.assert_allclose(velocity[:, 1], 3.0 * points[:, 1], atol=1e-5)
        assert not velocity[:, 2].any()


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_the_answer_is_of_the_moment_of_the_question(backend: str) -> None:
    """And comes without waiting for it: what is asked after does not change it."""
    with flowing(backend) as fluid:
        asked = [fluid.sample([(0.0, 0.5, 0.6)])]
        fluid.density.write(np.full(GRID.cells[::-1], 9.0))
        asked.append(fluid.sample([(0.0, 0.5, 0.6)]))
        fluid.finish()
        assert all(samples.ready for samples in asked)
        np.testing.assert_allclose([samples.density[0] for samples in asked], [5.8, 9.0], atol=1e-5)
        assert all(samples.ready for samples in asked)
        assert repr(asked[0]) == "<1 sample of a gf.Fluid: velocity, density, temperature, fuel, inside>"
        forces = fluid.forces_on(np.ones((3, 3)), areas=1.0)
        assert repr(forces) == "<what a gf.Fluid does to 3 points: force, torque, parts>"
        for nothing in (np.zeros((0, 3)), [], ()):
            assert fluid.sample(nothing).velocity.shape == (0, 3)
            assert not fluid.forces_on(nothing, areas=1.0).force.any()


@pytest.mark.parametrize("backend", ["fragment", "compute"])
def test_asking_waits_for_nothing_and_the_driver_says_when_it_is_there(
    backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with flowing(backend) as fluid:
        place = [(0.0, 0.5, 0.6)]
        assert fluid.sample(place).velocity.any()  # compiled
        with monkeypatch.context() as patch:
            forbid_reading(patch)
            asked = fluid.sample(place)
        said = 0
        for late in (each for many in asked._late for each in many):
            late._gl = SimpleNamespace(  # type: ignore[attr-defined]
                glClientWaitSync=lambda *_: said,
                glDeleteSync=late._gl.glDeleteSync,  # type: ignore[attr-defined]
            )
        for word, ready in (("911B", False), ("911C", True), ("911D", True), ("911A", True)):
            said = int(word, 16)  # time is over; done; it cannot wait, and never will; done before
            assert asked.ready == ready
        assert asked.velocity.any() and asked.ready


@pytest.mark.parametrize(
    ("points", "says"),
    [
        ((1.0, 2.0, 3.0), r"points must have the shape \[n, 3\], got \[3\]"),
        (np.zeros((4, 2)), r"points must have the shape \[n, 3\], got \[4, 2\]"),
        ([(0.0, np.nan, 0.0)], r"points must be finite, got \(0.0, nan, 0.0\) at 0"),
        ("here", "points must be an array of numbers"),
    ],
)
def test_bad_points_are_named(points: Any, says: str) -> None:
    with flowing("numpy") as fluid, pytest.raises(gf.GpufluidError, match=says):
        fluid.sample(points)


# -- in shaders of the host's --------------------------------------------------------------------------------

VERTEX = """#version 330
in vec3 place;
out vec4 scalars;
out vec3 velocity;
{}
void main() {{ scalars = gpufluid_scalars_at(place); velocity = gpufluid_velocity_at(place); }}
"""


def by_shader(ctx: moderngl.Context, fluid: gf.Fluid, points: np.ndarray) -> np.ndarray:
    """Scalars and velocity at points, [n, 7], by a program of a host's."""
    program = ctx.program(vertex_shader=VERTEX.format(gf.glsl("sample")), varyings=["scalars", "velocity"])
    fluid.give(program, unit=3)
    out = ctx.buffer(reserve=28 * len(points))
    given = ctx.vertex_array(program, [(ctx.buffer(points.astype("f4")), "3f", "place")])
    given.transform(out, moderngl.POINTS)
    return np.frombuffer(out.read(), np.float32).reshape(-1, 7)


@pytest.mark.parametrize(("cells", "solid"), [(GRID.cells, False), (GRID.cells, True), ((13, 9, 1), True)])
def test_a_shader_sees_what_a_program_is_told(
    cells: tuple[int, int, int], solid: bool, rng: np.random.Generator
) -> None:
    """Random fields, in and beside a solid too."""
    with flowing("fragment", cells) as fluid:
        if solid:
            fluid.obstacles.add(gf.Obstacle(gf.Sphere((0.0, 0.5, 0.35), 0.12)))
        fluid.step(1e-3)
        points = np.concatenate([places(fluid, rng, 300), np.array([(-9.0, 0.0, 0.0), (0.0, 0.5, 9.0)])])
        assert fluid.ctx is not None
        seen, told = by_shader(fluid.ctx, fluid, points), fluid.sample(points)
        np.testing.assert_allclose(seen[:, 4:], told.velocity, atol=2e-5)
        np.testing.assert_allclose(seen[:, 0], told.density, atol=2e-5)
        assert solid == bool((seen[:-2, 3] == 0.0).any())
        np.testing.assert_array_equal(seen[-2:], 0.0)


@pytest.mark.parametrize(("sides", "deep"), [(PERIODIC, 9), (ACROSS, 1)], ids=["all", "y of a slice"])
def test_a_shader_sees_over_the_seam(sides: gf.Boundaries, deep: int, rng: np.random.Generator) -> None:
    """It held to the last values there, and places in the next box were outside."""
    with rough("fragment", sides, rng, deep) as fluid:
        fluid.step(1e-3)
        around = np.array(fluid.grid.size) * (0.0, 1.0, 0.0)
        points = places(fluid, rng, 400)
        points = np.concatenate([points, points + 2 * around, points - around])
        assert fluid.ctx is not None
        seen, told = by_shader(fluid.ctx, fluid, points), fluid.sample(points)
        np.testing.assert_allclose(seen[:, 4:], told.velocity, atol=2e-4)
        np.testing.assert_allclose(seen[:, 0], told.density, atol=2e-4)
        assert told.inside.all()


WALLS = gf.Boundaries(
    gf.Inflow((2.0, 0.3, -0.4)),
    gf.Open(),
    gf.Wall(),
    gf.Wall(velocity=(1.0, 0.0, 0.5)),
    gf.Wall(slip="free"),
    gf.Wall(),
)


@pytest.mark.parametrize("deep", [9, 1])
def test_a_shader_sees_the_flow_fall_off_beside_walls(deep: int, rng: np.random.Generator) -> None:
    """Within half a cell of a no-slip wall it saw the flow of the nearest faces."""
    with rough("fragment", WALLS, rng, deep) as fluid:
        fluid.step(1e-3)
        points = places(fluid, rng, 600)
        low, cells = np.array(fluid.grid.origin), np.array(fluid.grid.cells)
        at = (points - low) / 0.1
        points = np.concatenate([points, low + 0.1 * np.where(at < 0.5 * cells, 0.1 * at, cells - 0.1 * at)])
        points = np.clip(points, low + 1e-5, low + 0.1 * cells - 1e-5)
        assert fluid.ctx is not None
        seen, told = by_shader(fluid.ctx, fluid, points), fluid.sample(points)
        np.testing.assert_allclose(seen[:, 4:], told.velocity, atol=5e-5)


def test_a_wrong_name_of_glsl_is_named() -> None:
    with pytest.raises(
        gf.GpufluidError, match="must be one of 'light', 'sample', got 'simple'; did you mean 'sample'"
    ):
        gf.glsl("simple")


def test_what_nothing_can_be_given_to_is_named(ctx: moderngl.Context) -> None:
    """Once it was an error of OpenGL's that nobody heard of, or one of Python's."""
    program = ctx.program(vertex_shader="#version 330\nvoid main() { gl_Position = vec4(0.0); }")
    with flowing("fragment") as fluid, gf.Fluid(gf.Grid((4, 4, 4)), backend="fragment", ctx=ctx) as guest:
        view = gf.VolumeRenderer(ctx)
        for give in (guest.give, lambda *given: view.give(guest, *given)):
            for given, said in (
                ((None,), r"give: program must be a moderngl\.Program or .*, got None"),
                ((program, 5000), r"give: unit must be a texture unit, 0 \.\. [0-9]+ here, got 5000"),
                ((program, -1), "unit must be a whole number >= 0, got -1"),
                ((program, 8, "gl_smoke"), "prefix must be a name of GLSL, .*, got 'gl_smoke'"),
            ):
                with pytest.raises(gf.GpufluidError, match=said):
                    give(*given)
        with pytest.raises(gf.GpufluidError, match=r"Fluid\.give: the program lives in another GL context"):
            fluid.give(program)
        ctx.__enter__()
        program.release()
        with pytest.raises(gf.GpufluidError, match=r"Fluid\.give: the program was released"):
            guest.give(program)
        view.release()
        assert ctx.error == "GL_NO_ERROR"


def test_there_is_nothing_to_give_on_numpy() -> None:
    with flowing("numpy") as fluid, pytest.raises(gf.GpufluidError, match="has no textures"):
        fluid.give(None)  # type: ignore[arg-type]
