"""Numbers at the ends of what a texture holds: the largest half floats, the smallest of all, and NaN."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import moderngl
import numpy as np
import pytest
from driver import python
from sharing import CELLS, EVERYWHERE

import gpufluid as gf
from gpufluid import reference
from gpufluid.common.debugging import NotFiniteError, switches
from gpufluid.contract.kernels import SCALARS, VELOCITY, Slot
from gpufluid.description.grid import LARGEST_HALF, TINY
from gpufluid.gl.kernel_source import bounded
from gpufluid.gl.source import shader_root

pytestmark = pytest.mark.usefixtures("one_context")
FIELDS = ("velocity", "density", "temperature", "fuel", "pressure", "divergence")
SOLVERS = (gf.Jacobi(8), gf.Multigrid(1), gf.RedBlackSOR(8), gf.ConjugateGradient(8))


@pytest.fixture
def numbers() -> Iterator[None]:
    """The check of every pass, beside that of OpenGL."""
    before = tuple(name for name in ("gl", "numbers") if getattr(switches, name))
    gf.debug("gl", "numbers")
    yield
    gf.debug(*before)


# -- half precision ------------------------------------------------------------------------------------------


def overturning(backend: str, precision: str) -> float:
    """Amplitude of the first wave, m/s, 2 s after air that is warm below and cold above was left alone."""
    free, around, n = gf.Wall("free"), gf.Periodic(), 24
    sides = gf.Boundaries(around, around, free, free)
    rules = gf.Settings(pressure=gf.Multigrid(2), precision=precision)
    with gf.Fluid(gf.Grid((n, 2 * n, 1), 1 / n), sides, rules, backend) as f:
        x, y = (np.arange(n) + 0.5) / n, (np.arange(2 * n) + 0.5) / n
        place = 1.0 + 0.02 * np.cos(2.0 * np.pi * x) - y[:, None]
        f.temperature.write(np.clip(n * place, -0.5, 0.5)[None])
        for _ in range(100):
            f.step(0.02)
        rises = f.velocity.read()[0, :-1, :-1, 1]
        return float(np.abs(rises @ np.exp(-2j * np.pi * x)).max() * 2.0 / n)


@pytest.mark.parametrize("backend", ["fragment", "compute"])
def test_layers_overturn_in_half_precision_as_in_single(backend: str) -> None:
    """Where passes cut off what is beyond a half float, all that moves gets slower by 0.03 % in each."""
    assert overturning(backend, "half") == pytest.approx(overturning(backend, "single"), rel=0.01)


@pytest.mark.parametrize("backend", ["fragment", "compute"])
def test_half_precision_rounds_to_the_nearest(backend: str, rng: np.random.Generator) -> None:
    warm, speeds = rng.random((6, 7, 8)).astype(np.float16), []
    for precision in ("single", "half"):
        rules = gf.Settings(precision=precision, pressure=gf.Jacobi(0))
        with gf.Fluid(gf.Grid((8, 7, 6), 0.1), settings=rules, backend=backend) as fluid:
            fluid.temperature.write(warm)
            fluid.step(0.01)
            speeds.append(fluid.velocity.read())
    assert np.abs(speeds[0]).max() > 5e-3
    np.testing.assert_array_equal(speeds[1], speeds[0].astype(np.float16))


@pytest.mark.filterwarnings("error")  # of an overflow in NumPy
@pytest.mark.parametrize(
    ("solver", "backend"),
    [*((solver, "fragment") for solver in SOLVERS), (SOLVERS[0], "compute")],
    ids=[*(type(s).__name__ for s in SOLVERS), "compute"],
)
def test_half_precision_ends_at_its_largest_number(backend: str, solver: Any) -> None:
    rules = gf.Settings(
        precision="half",
        pressure=solver,
        vorticity_confinement=3.0,
        buoyancy=1e6,
        viscosity=1e-4,
        thermal_diffusivity=1e-4,
        ambient_temperature=-1e6,
        max_substeps=1,
        combustion=gf.Combustion(),
    )
    with gf.Fluid(gf.Grid((9, 10, 8), 0.01), settings=rules, backend=backend) as fluid:
        assert fluid.temperature.read().max() == -LARGEST_HALF
        fluid.density.write(np.full((8, 10, 9), 1e30))
        assert fluid.density.read().min() == LARGEST_HALF
        ball = gf.Sphere((0.045, 0.05, 0.04), 0.03)
        source = gf.Emitter(
            ball, density=1e9, temperature=1e8, fuel=1e8, velocity=(3e5, -3e5, 0.0), color=(1e9, 0.0, 1.0)
        )
        fluid.emitters.add(source)
        for _ in range(2):  # whose sum no single precision holds
            fluid.emitters.add(gf.Emitter(ball, density=3e38, fuel=3e38, color=(3e38, 0.0, 0.0)))
        fluid.forces.add(gf.Wind((1e7, 0.0, 0.0), rate=1e3))
        fluid.obstacles.add(gf.Obstacle(gf.Sphere((0.07, 0.08, 0.02), 0.015), temperature=1e6))
        for dt in (0.05, 0.05, 2.0):
            fluid.step(dt)
        for name in (*FIELDS, "color"):
            values = getattr(fluid, name).read()
            assert np.isfinite(values).all(), name
            assert np.abs(values).max() <= LARGEST_HALF, name
        assert fluid.density.read().max() == LARGEST_HALF > fluid.temperature.read().max() > 6e4
        assert fluid.color.read().max() == LARGEST_HALF
        assert np.abs(fluid.velocity.read()).max() > 0.5 * LARGEST_HALF


# -- decay ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_what_has_decayed_is_gone(backend: str, rng: np.random.Generator) -> None:
    """It ends at the smallest normal number or above: denormal ones are slow, and some would stay."""
    smallest = float(np.finfo(np.float32).tiny)
    rules = gf.Settings(
        viscosity=1e-2, density_dissipation=0.4, cooling=0.4, thermal_diffusivity=1e-4, cfl=None
    )
    with gf.Fluid(gf.Grid(CELLS, 0.1), settings=rules, backend=backend) as fluid:
        carried = [fluid.velocity, fluid.density, fluid.temperature]
        for field in carried:
            field.write(rng.uniform(0.1, 1.0, field.read().shape) * 1e-36)
        for _ in range(24):
            fluid.step(1.0)
            for field in (*carried, fluid.pressure):
                values = np.abs(field.read())
                assert values[values > 0.0].min(initial=1.0) >= smallest, field.name
        for field in carried:
            assert np.abs(field.read()).max() < 1e-37, field.name


@pytest.mark.parametrize("stage", ["fragment", "compute"])
@pytest.mark.parametrize(("slot", "dtype"), [(VELOCITY, "f4"), (SCALARS, "f4"), (SCALARS, "f2")])
def test_what_a_pass_leaves_is_bounded(ctx: moderngl.Context, slot: Slot, dtype: str, stage: str) -> None:
    """The text of it in a compute shader: llvmpipe makes denormal numbers 0 by itself in fragment shaders."""
    least = np.float32(TINY)
    given = np.array([0.0, -0.5 * least, 0.9 * least, -least, 1e-40, 3.0, 1e6, -1e38, np.nan], np.float32)
    expected = np.where(np.abs(given) < least, 0.0, given)
    if dtype == "f2":
        given[:5] = 0.0, 1.0 + 0.7 * 2.0**-10, -3.0 - 0.9 * 2.0**-9, 1.0 + 1.5 * 2.0**-10, 1e-7
        expected = np.clip(given, -LARGEST_HALF, LARGEST_HALF).astype(np.float16).astype(np.float32)
    shader = ctx.compute_shader(
        "#version 430\nlayout(local_size_x = 1) in;\n"
        "layout(std430, binding = 0) buffer B { float values[]; };\n"
        f"{(shader_root() / 'lib/nearest_half.glsl').read_text()}\n"
        f"vec4 kept(vec4 v) {{ return {bounded(stage, slot, dtype, nearest=False)}; }}\n"
        "void main() { uint n = gl_GlobalInvocationID.x; values[n] = kept(vec4(values[n])).x; }"
    )
    buffer = ctx.buffer(given.tobytes())
    buffer.bind_to_storage_buffer(0)
    shader.run(len(given))
    np.testing.assert_array_equal(np.frombuffer(buffer.read(), np.float32), expected)
    for thing in (shader, buffer):
        thing.release()


# -- the first pass that makes NaN ---------------------------------------------------------------------------


class Broken:
    """A pressure solver of a user's that divides 0 by 0 in one cell, from a given time on."""

    def __init__(self, since: int) -> None:
        self.left = since

    def solve(self, problem: Any) -> None:
        self.left -= 1
        values = problem.pressure.read()
        values[...] = 0.0
        if self.left < 0:
            values[3, 2, 4] = np.nan
        problem.pressure.write(values)


def stirred(backend: str, **rules: Any) -> gf.Fluid:
    fluid = gf.Fluid(gf.Grid(CELLS, 0.1), settings=gf.Settings(**rules), backend=backend)
    fluid.emitters.add(gf.Emitter(gf.Sphere((0.4, 0.3, 0.3), 0.2), density=2.0, temperature=1.0))
    return fluid


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_what_a_user_wrote_is_told_from_what_a_pass_made(backend: str, numbers: None) -> None:
    with stirred(backend, pressure=Broken(since=3), cfl=None) as fluid:
        for _ in range(3):
            fluid.step(0.05)
        with pytest.raises(NotFiniteError) as error:
            fluid.step(0.05)
        says = str(error.value)
        assert "; it read nan from 'pressure' at [4, 2, 3], which no pass has written" in says
        assert says.endswith("(substep 1 of 1, from 0.15 s on)")


@pytest.mark.parametrize("backend", ["fragment", "compute"])
def test_what_is_read_is_told_where_the_state_before_is_shown_meanwhile(backend: str, numbers: None) -> None:
    """`advance` leaves what a field holds to whoever looks at it, and that is what the pass has read."""
    with stirred(backend) as fluid:
        fluid.step(0.05)
        scalars = fluid.scalars
        values = np.frombuffer(scalars.front.read(alignment=1), "f4").copy()
        values[4 * 20] = np.nan  # a program of the user's has written it
        scalars.front.write(values.tobytes(), alignment=1)
        with pytest.raises(
            NotFiniteError, match="emit_scalars .* read nan from 'scalars' .* no pass has written"
        ):
            while not fluid.advance(0.05, budget_ms=1.0):
                pass


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_the_first_pass_that_makes_one_is_named(backend: str, numbers: None, monkeypatch: Any) -> None:
    """On GL the buoyancy runs over; in double precision nothing does, and one number is made bad."""
    with stirred(backend, buoyancy=3e37, max_substeps=2) as fluid:
        field = np.zeros(CELLS[::-1])
        field[4, 1, 5] = 1e4
        fluid.temperature.write(field)
        fluid.emitters.clear()
        if backend == "numpy":
            real = reference.buoyancy

            def broken(*given: Any, **by_name: Any) -> Any:
                out = real(*given, **by_name)
                out[4, 1, 5, 1] = np.inf
                return out

            monkeypatch.setattr(reference, "buoyancy", broken)
        where = "gpufluid.reference.buoyancy" if backend == "numpy" else "glsl/sim/buoyancy.glsl"
        with pytest.raises(NotFiniteError) as error:
            fluid.step(0.05)
        says = str(error.value)
        assert says.startswith(f"the kernel buoyancy ({where}) wrote ")
        assert " into 'velocity' (" in says and " at [5, 1, 4] [x, y, z]; " in says
        assert says.endswith("all that it read is finite (substep 1 of 1, from 0 s on)")


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # NumPy, of what it is about
@pytest.mark.parametrize("backend", EVERYWHERE)
def test_without_the_check_nobody_looks(backend: str) -> None:
    with stirred(backend, pressure=Broken(since=0), cfl=None) as fluid:
        fluid.step(0.05)
        assert np.isnan(fluid.velocity.read()).any()


def test_a_check_that_is_none_is_refused() -> None:
    with pytest.raises(
        gf.GpufluidError, match="gf.debug must be one of 'gl', 'numbers', got 'number'; did you"
    ):
        gf.debug("number")
    done = python(
        "-c",
        "import gpufluid.common.debugging as d; print(d.switches.gl, d.switches.numbers)",
        env={**os.environ, "GPUFLUID_DEBUG": "numbers"},
    )
    assert done.stdout.split() == ["False", "True"]
