"""Viscosity and diffusion against closed forms and small cases by hand, on every backend."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest
from flows import CASES, FREE, diffused_modes, lamb_oseen, taylor_green_energies
from sharing import COMPUTED, DRAWN, EVERYWHERE, by_turns

import gpufluid as gf
from gpufluid import reference
from gpufluid.contract.kernels import Variant
from gpufluid.description.cases import CosineMode, TaylorGreen
from gpufluid.numerics.diffusion import (
    MOST_SWEEPS,
    TOLERANCE,
    Diffusion,
    chebyshev_weights,
    slowest_scalar,
    slowest_velocity,
    sweeps_for,
)
from gpufluid.numerics.solver import Solver
from gpufluid.reference.numpy_backend import NumpyBackend

pytestmark = pytest.mark.usefixtures("one_context")
MIXED = gf.Boundaries(
    left=gf.Wall("free"), top=gf.Wall(velocity=(1.0, 0.0, -0.5), temperature=2.0), back=gf.Wall("free")
)


def diffused(
    grid: gf.Grid, sides: gf.Boundaries, u: np.ndarray, viscosity: float, dt: float, backend: str
) -> np.ndarray:
    """`u` after the viscosity alone, without advection or projection."""
    with gf.Fluid(grid, sides, gf.Settings(viscosity=viscosity), backend=backend) as fluid:
        fluid.velocity.write(u)
        solver = fluid._solver
        solver.diffusion.diffuse_velocity(dt, solver.variant, {}, velocity=solver.velocity)
        return fluid.velocity.read()


# -- the solution ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", EVERYWHERE)
@pytest.mark.parametrize("modes", CASES["implicit_diffusion"]["modes"])
@pytest.mark.parametrize(("a", "tolerance"), [(0.5, 1e-4), (2.0, 1e-4), (200.0, 1e-3)])
def test_implicit_diffusion(modes: list[int], a: float, tolerance: float, backend: str) -> None:
    """A cosine mode keeps 1 / (1 + a sum 4 sin^2(pi k / 2N)); heat and density each have their own a."""
    for got, expected in diffused_modes(modes, a, backend):
        np.testing.assert_allclose(got, expected, atol=tolerance * np.abs(expected).max())


@pytest.mark.parametrize("backend", DRAWN)
@pytest.mark.parametrize("a", [0.5, 200.0])
@pytest.mark.parametrize("slip", ["free", "no"])
def test_viscosity_on_modes(slip: str, a: float, backend: str) -> None:
    """In a closed 3D box sin (pi x) times a cosine (free slip) or a sine (no slip) across is a mode of u."""
    nx, ny, nz = 12, 9, 10
    grid, across = gf.Grid((nx, ny, nz), 0.1), np.cos if slip == "free" else np.sin
    kx, ky, kz = 1, 2, 1
    lines = (
        across(np.pi * kz * (np.arange(nz) + 0.5) / nz),
        across(np.pi * ky * (np.arange(ny) + 0.5) / ny),
        np.sin(np.pi * kx * np.arange(nx + 1) / nx),
    )
    u = np.zeros((nz + 1, ny + 1, nx + 1, 3))
    u[:nz, :ny, :, 0] = np.einsum("k,j,i->kji", *lines)
    total = sum(4 * math.sin(math.pi * k / (2 * n)) ** 2 for k, n in ((kx, nx), (ky, ny), (kz, nz)))
    got = diffused(grid, gf.Boundaries.all(gf.Wall(slip)), u, a * 0.1**2 / 0.3, 0.3, backend)
    np.testing.assert_allclose(got, u / (1.0 + a * total), atol=3e-6)


@pytest.mark.parametrize("backend", COMPUTED)
@pytest.mark.parametrize(("cells", "share"), [((2, 1, 1), 6.0), ((2, 1, 2), 8.0)])
def test_a_lid_over_one_face(cells: tuple[int, int, int], share: float, backend: str) -> None:
    """u (1 + 4a) = a (2 - u - u): lid and floor mirrored, both side walls 0; in 3D one neighbour is alike."""
    sides = gf.Boundaries(top=gf.Wall(velocity=(1.0, 0.0, 0.0)))
    a, u = 0.7, np.zeros((cells[2] + 1, 2, 3, 3))
    got = diffused(gf.Grid(cells), sides, u, a, 1.0, backend)
    u[: cells[2], 0, 1, 0] = 2.0 * a / (1.0 + share * a)
    np.testing.assert_allclose(got, u, atol=1e-6)


@pytest.mark.parametrize("backend", DRAWN)
def test_a_moving_solid_beside_one_face(backend: str) -> None:
    """u (1 + 4a) = a (2 U - u + u): U half a cell below, free slip above, both side walls 0."""
    a, dt = 0.7, 0.5
    with gf.Fluid(gf.Grid((2, 2, 1)), FREE, gf.Settings(viscosity=a / dt), backend=backend) as fluid:
        slab = fluid.obstacles.add(gf.Obstacle(gf.Box(size=(9.0, 1.0, 9.0)), position=(1.0, 0.5, 0.5)))
        solver = fluid._solver
        solver.solids.update(list(fluid.obstacles), dt)
        slab.position = (1.2, 0.5, 0.5)
        solver.solids.update(list(fluid.obstacles), dt)
        solver.solids.go_on(1, 1, dt)
        faces, u = solver.solids.faces, solver.velocity
        solver.backend.kernel("constrain", solver.variant)(velocity=u, **faces)
        solver.diffusion.diffuse_velocity(dt, solver.variant, faces, velocity=u)
        got = fluid.velocity.read()[0, :2, 1, 0]
    speed = 0.2 / dt
    np.testing.assert_allclose(got, [speed, 2.0 * a * speed / (1.0 + 4.0 * a)], rtol=1e-5)


@pytest.mark.parametrize(("cells", "backend"), [((5, 12, 1), "numpy"), ((5, 4, 12), "fragment")])
def test_heat_between_two_plates(cells: tuple[int, int, int], backend: str) -> None:
    """At rest the temperature is linear between plates of 4 and 0 degrees, whatever it was; smoke stays."""
    axis = 1 if cells[2] == 1 else 2
    names = (("bottom", "top"), ("back", "front"))[axis - 1]
    sides = gf.Boundaries(**{names[0]: gf.Wall(temperature=4.0), names[1]: gf.Wall("free", temperature=0.0)})
    rules = gf.Settings(thermal_diffusivity=0.5, buoyancy=0.0, ambient_temperature=7.0)
    with gf.Fluid(gf.Grid(cells, 0.1), sides, rules, backend=backend) as fluid:
        fluid.density.write(np.ones(cells[::-1]))
        for _ in range(3):
            fluid.step(100.0)
        profile = 4.0 - 4.0 * (np.arange(12) + 0.5) / 12
        shape = [-1 if a == axis else 1 for a in (2, 1, 0)]
        np.testing.assert_allclose(
            fluid.temperature.read(), np.broadcast_to(profile.reshape(shape), cells[::-1]), atol=2e-5
        )
        np.testing.assert_allclose(fluid.density.read(), 1.0, atol=1e-6)


@pytest.mark.parametrize("backend", ["numpy", "fragment"])
def test_nothing_diffuses_through_sides_that_let_flow_pass(backend: str) -> None:
    """Air at rest stays as warm and smoky beside an open side, and beside an inflow that stands still."""
    sides = gf.Boundaries(left=gf.Inflow((0.0, 0.0, 0.0), density=1.0, temperature=1.0), right=gf.Open())
    rules = gf.Settings(thermal_diffusivity=0.5, density_diffusivity=0.5, buoyancy=0.0)
    with gf.Fluid(gf.Grid((8, 4, 3), 0.1), sides, rules, backend=backend) as fluid:
        for field in (fluid.density, fluid.temperature):
            field.write(np.full((3, 4, 8), 0.5))
        fluid.step(1.0)
        for field in (fluid.density, fluid.temperature):
            np.testing.assert_allclose(field.read(), 0.5, atol=1e-6)


@pytest.mark.parametrize(
    ("dt", "seconds", "heating", "reflection", "backend"),
    [
        (0.02, 6.0, 1000.0, False, "numpy"),
        (1.0, 40.0, 1000.0, False, "fragment"),
        (0.1, 40.0, 10.0, True, "fragment"),
        (1.0, 40.0, 10.0, False, "numpy"),
        (4.0, 80.0, 3.0, False, "compute"),
    ],
)
def test_heat_that_a_solid_conducts(
    dt: float, seconds: float, heating: float, reflection: bool, backend: str
) -> None:
    """Steps of any length conduct as much: the cells beside it take heating * h of what they are colder."""
    kappa, h, floor = 0.1, 1 / 32, gf.Box(size=(9.0, 0.5, 9.0))
    sides = gf.Boundaries(top=gf.Wall(temperature=0.0))
    rules = gf.Settings(
        thermal_diffusivity=kappa, buoyancy=0.0, solve_velocity=reflection, reflection=reflection
    )
    with gf.Fluid(gf.Grid((4, 32, 1), h), sides, rules, backend=backend) as fluid:
        fluid.obstacles.add(gf.Obstacle(floor, temperature=1.0, heating=heating))
        for _ in range(round(seconds / dt)):
            fluid.step(dt)
        warm = fluid.temperature.read()[0, 8:, 1]
    gradient = (warm[1] - warm[-1]) / (22 * h)
    assert gradient == pytest.approx(1.0 / (23.5 * h + kappa / (heating * h)), rel=1e-3)
    if not reflection:  # its last half step has warmed them anew
        assert warm[0] == pytest.approx(1.0 - kappa / (heating * h) * gradient, abs=1e-4)


@pytest.mark.parametrize("backend", ["numpy", "fragment", "compute"])
def test_heat_that_passes_between_two_balls(backend: str) -> None:
    """An eighth of it: 4 pi kappa r R / (R - r), R = 2 r = 16 cells; a film of half a cell of fluid."""
    kappa, r, cut = 1.0, 8.0, 9
    hole, hull = gf.Mesh.icosphere(4, 2.0 * r), gf.Mesh.icosphere(2, 5.0 * r)
    hollow = gf.Mesh(
        np.concatenate([hole.vertices, hull.vertices]),
        np.concatenate([hole.triangles[:, ::-1], hull.triangles + len(hole.vertices)]),
    )
    rules = gf.Settings(thermal_diffusivity=kappa, solve_velocity=False)
    with gf.Fluid(gf.Grid((18, 18, 18), 1.0), settings=rules, backend=backend) as fluid:
        fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=r), temperature=1.0, heating=2.0 * kappa))
        fluid.obstacles.add(gf.Obstacle(hollow, temperature=0.0, heating=2.0 * kappa))
        for _ in range(30):
            fluid.step(6.4)
        temperature, solid = fluid.temperature.read(), fluid.solid.read() > 0.5
    # what leaves a cube round the inner ball, whose corners the outer one does not reach
    assert solid[0, 0, 7] and not solid[0, 0, 8] and not solid[8, 8, 8:10].any()
    near = temperature[:cut, :cut, :cut]
    passed = sum((near.take(-1, axis) - temperature.take(cut, axis)[:cut, :cut]).sum() for axis in range(3))
    assert passed == pytest.approx(0.5 * np.pi * kappa * 2.0 * r, rel=0.01)


@pytest.mark.parametrize("backend", ["numpy", "fragment"])
def test_a_solid_makes_good_what_diffuses_from_the_cells_beside_it(backend: str) -> None:
    """One step by hand: T0 + a (T0 - T1) (1 - exp(-x)) / x = 1, and T1 + a (T1 - T0) = 0, a = 2, x = 3."""
    a, x = 2.0, 3.0
    rules = gf.Settings(thermal_diffusivity=a, buoyancy=0.0, solve_velocity=False)
    with gf.Fluid(gf.Grid((3, 1, 1), 1.0), settings=rules, backend=backend) as fluid:
        fluid.obstacles.add(gf.Obstacle(gf.Box((0.0, 0.5, 0.5), (2.0, 2.0, 2.0)), temperature=1.0, heating=x))
        fluid.temperature.write(np.array([[[0.0, 1.0, 0.0]]]))
        fluid.step(1.0)
        got = fluid.temperature.read()[0, 0, 1:]
    share = (1.0 - math.exp(-x)) / x
    exact = np.linalg.solve([[1.0 + a * share, -a * share], [-a, 1.0 + a]], [1.0, 0.0])
    np.testing.assert_allclose(got, exact, rtol=1e-5)


# -- the solver --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "sides", "cells"),
    [
        (a, sides, ((7, 6, 1), (6, 5, 4))[(n + m) % 2])
        for n, a in enumerate((1e-3, 0.3, 5.0, 40.0))
        for m, sides in enumerate((gf.Boundaries(), MIXED, FREE))
    ],
)
def test_the_error_bound(a: float, cells: tuple[int, int, int], sides: gf.Boundaries) -> None:
    """With solids and any sides the sweeps leave at most TOLERANCE of what the step changes."""
    rng = np.random.default_rng(3)
    rules = gf.Settings(viscosity=a, density_diffusivity=0.2 * a, thermal_diffusivity=a)
    solver = Solver(NumpyBackend(gf.Grid(cells)), rules, sides)
    x = 2.0  # of what makes good the heat beside the solid, see diffuse_warmed.glsl
    box = gf.Obstacle(gf.Box(size=(2.0, 1.0, 2.0)), position=(3.0, 2.5, 1.0), temperature=1.0, heating=x)
    solver.solids.update([box], 1.0)
    heat = solver.solids.heat
    faces, open_cells = solver.solids.faces, 1.0 - solver.solids.cells["solid"].values  # type: ignore[attr-defined]
    solver.velocity.write(rng.normal(size=solver.velocity.read().shape))
    solver.scalars.write(
        np.append(rng.normal(size=(*cells[::-1], 3)), np.ones((*cells[::-1], 1)), -1) * open_cells
    )
    run = solver.backend.kernel
    run("constrain", solver.variant)(velocity=solver.velocity, **faces)
    for field, name, extra in (
        (solver.velocity, "diffuse_velocity", {"fourier_number": a, **faces}),
        (solver.scalars, "diffuse_scalars", {"fourier_numbers": (0.2 * a, a, 0.0)}),
        (solver.scalars, "diffuse_warmed", {"fourier_numbers": (0.2 * a, a, 0.0), "dt": 1.0, **heat}),
    ):
        before = solver.backend.field("before", "face")
        exact = solver.backend.field("exact", "face")
        before.values = exact.values = field.values.copy()  # type: ignore[attr-defined]
        sweep = run(name, solver.variant)
        for _ in range(int(20 * (1.0 + 6.0 * a)) + 20):  # plain sweeps, to 1e-9 of the change
            last = exact.values  # type: ignore[attr-defined]
            sweep(
                before=before,
                latest=exact,
                previous=exact,
                diffused=exact,
                weight=1.0,
                relaxation=1.0,
                **extra,
            )
            if np.abs(exact.values - last).max() <= 1e-12:  # type: ignore[attr-defined]  # walls end it sooner
                break
        if field is solver.velocity:
            solver.diffusion.diffuse_velocity(1.0, solver.variant, faces, velocity=field)
        else:
            warming = heat if "warmed" in name else None
            solver.diffusion.diffuse_scalars(1.0, solver.variant, warming, scalars=field)
        change = np.linalg.norm(exact.values - before.values)  # type: ignore[attr-defined]
        left = np.linalg.norm(field.values - exact.values)  # type: ignore[attr-defined]
        assert change > 1e-4
        assert left <= 1.01 * TOLERANCE * change


def test_the_number_of_sweeps() -> None:
    assert sweeps_for(0.0, 2) == 0
    assert [sweeps_for(a, 2) for a in (0.01, 0.5, 2.0, 200.0)] == [4, 16, 30, 291]
    assert sweeps_for(math.inf, 3) == math.inf
    # Chebyshev's polynomial: after m sweeps an error that a sweep leaves whole is down to 1 / T_m(1 / rho)
    a, m = 3.0, 20
    rho = 12.0 / 13.0
    before, latest = 1.0, rho  # of an error that a sweep takes to rho of it
    for weight in list(chebyshev_weights(a, 2, m))[1:]:
        before, latest = latest, before + weight * (rho * latest - before)
    assert latest == pytest.approx(1.0 / math.cosh(m * math.acosh(1.0 / rho)), rel=1e-9)


def test_no_pass_runs_where_nothing_diffuses(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[str] = []
    whole = NumpyBackend.kernel

    def kernel(self: NumpyBackend, name: str, variant: Variant) -> Any:
        called.append(name)
        return whole(self, name, variant)

    made: list[str] = []
    scratch = Diffusion._scratch
    monkeypatch.setattr(NumpyBackend, "kernel", kernel)
    monkeypatch.setattr(Diffusion, "_scratch", lambda self, kind: made.append(kind) or scratch(self, kind))
    everything = gf.Settings(viscosity=0.1, thermal_diffusivity=0.1)
    for rules, expected in (
        (gf.Settings(), []),
        (everything, ["face", "cell"]),
        (everything.but(solve_velocity=False), ["cell"]),
    ):
        called.clear()
        made.clear()
        with gf.Fluid(gf.Grid((4, 4, 1)), settings=rules, backend="numpy") as fluid:
            fluid.step(0.1)
        assert made == expected
        stages = [n for n in called if n in ("buoyancy", "divergence", "correct_scalars") or "diffuse" in n]
        if "face" in expected:
            assert stages == [
                "buoyancy",
                "diffuse_velocity",
                "divergence",
                "correct_scalars",
                "diffuse_scalars",
            ]
        else:
            assert [n for n in stages if "diffuse" in n] == ["diffuse_scalars"] * len(expected)


@pytest.mark.parametrize(("cells", "backend"), [((16, 14, 1), "numpy"), ((13, 11, 10), "compute")])
def test_a_stirred_density_keeps_its_mass(
    cells: tuple[int, int, int], backend: str, rng: np.random.Generator
) -> None:
    rules = gf.Settings(density_diffusivity=0.5, thermal_diffusivity=0.1)
    grid = gf.Grid(cells, 0.1)
    with gf.Fluid(grid, settings=rules, backend=backend) as fluid:
        fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.25), position=(0.5, 0.6, 0.5 * grid.size[2])))
        box = fluid.obstacles.add(gf.Obstacle(gf.Box(size=(0.1, 0.8, 2.0)), position=(1.0, 0.4, 0.5)))
        fluid.density.write(rng.random(cells[::-1]))
        fluid.temperature.write(rng.random(cells[::-1]))
        for n in range(4):  # the box moves: it leaves cells and comes into others
            box.position = (1.0 - 0.04 * n, 0.4, 0.5)
            fluid.step(0.05)
        solver = fluid._solver
        mass, before = fluid.diagnostics().mass, fluid.density.read()
        open_ = fluid.solid.read() < 0.5
        assert not open_.all()
        for dt, rounding in ((0.001, 2e-6), (0.1, 2e-6), (100.0, 3e-5)):  # 16 to 1300 sweeps
            solver.diffusion.diffuse_scalars(dt, solver.variant, scalars=solver.scalars)
            after = fluid.density.read()
            assert fluid.diagnostics().mass == pytest.approx(mass, rel=rounding)
            assert not after[~open_].any()
            assert before[open_].min() - 1e-6 <= after[open_].min()
            assert after[open_].max() <= before[open_].max() + 1e-6
        assert after[open_].std() < 0.1 * before[open_].std()  # 5000 cells^2: nearly even


def test_half_precision_diffuses_to_its_own_rounding() -> None:
    """Half floats round every sweep: 3e-3 of the field up to a = 2, 3e-2 at any a."""
    mode = CosineMode(gf.Grid((32, 32, 1)), (1, 0, 0))
    for a, tolerance in ((0.5, 3e-3), (2.0, 3e-3), (200.0, 3e-2)):
        rules = gf.Settings(density_diffusivity=a, precision="half")
        with gf.Fluid(mode.grid, settings=rules, backend="compute") as fluid:
            fluid.density.write(mode.values())
            fluid.step(1.0)
            np.testing.assert_allclose(fluid.density.read(), mode.diffused(a) * mode.values(), atol=tolerance)


# -- flows -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", DRAWN)
def test_taylor_green_with_viscosity(backend: str) -> None:
    case = CASES["taylor_green_2d"]
    cells = 64 if backend != "numpy" else 32
    vortex = TaylorGreen(cells, viscosity=0.01)
    assert vortex.energy_ratio(2.0) == pytest.approx(case["E_over_E0"], rel=1e-12)
    _, times, ratios = taylor_green_energies(cells, vortex.viscosity, cells // 4, backend)
    assert len(times) == 17
    for time, ratio in zip(times, ratios, strict=True):
        assert ratio <= 1.01 * vortex.energy_ratio(time)
    low, high = case["viscous_range"] if cells == 64 else (0.39, 0.455)
    assert low <= ratios[-1] <= high


@pytest.mark.parametrize(
    ("backend", "cells", "tolerance"),
    [*((backend, 64, CASES["lamb_oseen"]["tolerance"]) for backend in DRAWN), ("compute", 128, 0.08)],
)
def test_lamb_oseen(backend: str, cells: int, tolerance: float) -> None:
    """At 64 advection damps more than half as much as this viscosity; 128 cells tell it: 0.12 without."""
    _, start, expected, got, inside = lamb_oseen(cells, backend)
    scale = np.linalg.norm(expected[inside])
    assert np.linalg.norm((start - expected)[inside]) > 0.2 * scale  # it does decay
    assert np.linalg.norm((got - expected)[inside]) <= tolerance * scale


def channel(backend: str, dt: float, plates: bool = False, cells: int = 8, deep: int = 1) -> np.ndarray:
    """u over the mean, across a channel 1 m wide, far from where it comes in at 1 m/s; [y].

    plates: between solids, which have half of the box in all; else between the sides of the box.
    """
    h, pad = 1.0 / cells, 2 * plates
    glides = {name: gf.Wall("free") for name in ("back", "front", *(("bottom", "top") if plates else ()))}
    sides = gf.Boundaries(left=gf.Inflow((1.0, 0.0, 0.0)), right=gf.Open(), **glides)
    rules = gf.Settings(viscosity=0.1, pressure=gf.Multigrid(4))
    with gf.Fluid(gf.Grid((3 * cells, cells + 2 * pad, deep), h), sides, rules, backend=backend) as fluid:
        for y in (0.0, 1.0 + 2 * pad * h) if plates else ():
            fluid.obstacles.add(gf.Obstacle(gf.Box(size=(9.0, 2 * pad * h, 9.0)), position=(1.5, y, 0.5)))
        for _ in range(round(3.0 / dt)):
            fluid.step(dt)
        u = fluid.velocity.read()[deep // 2, pad : pad + cells, 2 * cells, 0]
    return np.asarray(u / u.mean())


@pytest.mark.parametrize(
    ("backend", "plates", "deep"),
    [*((b, p, 1) for b in DRAWN for p in (False, True)), ("fragment", True, 3), ("compute", False, 3)],
)
def test_what_pressure_drives_does_not_slip(backend: str, plates: bool, deep: int) -> None:
    """The parabola of second differences whose mirror images beyond the walls are its own, whatever dt.

    With viscosity before any push of the pressure it is 0.04 of the mean off at this dt.
    """
    y = (np.arange(8) + 0.5) / 8
    parabola = y * (1.0 - y) + 1.0 / 256.0
    got = channel(backend, 1.0 / 16.0, plates, deep=deep)
    np.testing.assert_allclose(got, parabola / parabola.mean(), atol=5e-5)


@pytest.mark.parametrize("warm", [True, False])
def test_the_last_pressure_pushes_no_longer_than_it_did(warm: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stopped a blow in a short step is gone in a long one; what is pushed is taken off again."""
    pushes: list[float] = []
    whole = NumpyBackend.kernel

    def kernel(self: NumpyBackend, name: str, variant: Variant) -> Any:
        run = whole(self, name, variant)
        if name != "subtract_gradient":
            return run
        return lambda dt, **given: (pushes.append(dt), run(dt=dt, **given))[1]

    monkeypatch.setattr(NumpyBackend, "kernel", kernel)
    rules = gf.Settings(viscosity=0.1, warm_start=warm)
    with gf.Fluid(gf.Grid((4, 4, 1)), settings=rules, backend="numpy") as fluid:
        for dt in (0.01, 0.2, 0.05):
            fluid.step(dt)
        fluid.settings = rules.but(viscosity=0.0)
        fluid.step(0.3)
    assert pushes == [0.01, 0.01, -0.01, 0.2, 0.05, -0.05, 0.05, 0.3]


def test_a_projection_between_steps_leaves_no_push() -> None:
    rules = gf.Settings(viscosity=0.1, warm_start=False)
    with gf.Fluid(gf.Grid((6, 5, 4), 0.1), settings=rules, backend="numpy") as fluid:
        u = np.zeros((5, 6, 7, 3))
        u[:4, :5, 1:6, 0] = 1.0
        states = []
        for forget in (False, True):
            fluid.reset()
            fluid.step(0.1)
            fluid.velocity.write(u)
            fluid.project()
            assert fluid._solver.numbers()["pushed"] == 0.0
            if forget:
                fluid.pressure.write(np.zeros((4, 5, 6)))
            fluid.step(0.1)
            states.append(fluid.velocity.read())
            assert fluid._solver.numbers()["pushed"] == 0.1
        np.testing.assert_array_equal(*states)


# -- bad input ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["viscosity", "thermal_diffusivity", "density_diffusivity"])
@pytest.mark.parametrize("value", [-1e-9, math.nan, math.inf, "thick"])
def test_bad_coefficients(name: str, value: Any) -> None:
    with pytest.raises(gf.GpufluidError, match=f"Settings.{name} must be a"):
        gf.Settings(**{name: value})


@pytest.mark.parametrize("value", [math.nan, -math.inf, "hot"])
def test_a_bad_wall_temperature(value: Any) -> None:
    with pytest.raises(gf.GpufluidError, match="Wall.temperature must be a"):
        gf.Wall(temperature=value)


@pytest.mark.parametrize("name", ["viscosity", "thermal_diffusivity", "density_diffusivity"])
@pytest.mark.parametrize("value", [1e9, 1e300])
def test_too_far_a_reach_round_solids_is_refused_and_nothing_moves(name: str, value: float) -> None:
    """Of a velocity that some side holds it is not: see `gpufluid.numerics.diffusion`."""

    def fields(fluid: gf.Fluid) -> list[np.ndarray]:
        return [f.read() for f in (fluid.density, fluid.temperature, fluid.velocity, fluid.pressure)]

    sides, rules = gf.Boundaries.all(gf.Open()), gf.Settings(**{name: value})  # type: ignore[arg-type]
    with gf.Fluid(gf.Grid((6, 5, 4), 0.1), sides, rules, "numpy") as fluid:
        fluid.emitters.add(gf.Emitter(gf.Sphere((0.3, 0.2, 0.2), 0.1), density=1.0, temperature=1.0))
        fluid.velocity.write(np.ones((5, 6, 7, 3)))
        ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.1), position=(0.3, 0.3, 0.2)))
        before, cfl = fields(fluid), fluid.diagnostics().cfl
        message = rf"Settings.{name} = .* over dt = 0.1 s .* 10000 sweeps round solids"
        with pytest.raises(gf.GpufluidError, match=message):
            fluid.step(0.1)
        assert fluid.diagnostics().cfl == cfl
        assert all(np.array_equal(b, a) for b, a in zip(before, fields(fluid), strict=True))
        fluid.obstacles.remove(ball)
        fluid.step(0.1)
        assert all(np.isfinite(field).all() for field in fields(fluid))


# -- however far it reaches --------------------------------------------------------------------------------

BOXES = {
    "no-slip": gf.Boundaries(),
    "free": FREE,
    "periodic": gf.Boundaries.all(gf.Periodic()),
    "open": gf.Boundaries.all(gf.Open()),
    "heated": gf.Boundaries(top=gf.Wall(temperature=0.0), left=gf.Wall("free", temperature=0.0)),
    "heated from both": gf.Boundaries(top=gf.Wall(temperature=0.0), bottom=gf.Wall(temperature=0.0)),
    "half open": gf.Boundaries(left=gf.Open(), bottom=gf.Wall("free"), back=gf.Open(), front=gf.Open()),
    "mixed": gf.Boundaries(
        gf.Periodic(), gf.Periodic(), gf.Inflow((0.0, 0.0, 0.0)), gf.Open(), gf.Wall("free"), gf.Open()
    ),
}


@cache
def matrix_of(cells: tuple[int, int, int], sides: gf.Boundaries, kind: int) -> Matrix:
    """The one without solids."""
    return Matrix(cells, sides, kind, False)


class Matrix:
    """-lap of one velocity component, or of the temperature (3) or density (4), as the kernels have it."""

    def __init__(self, cells: tuple[int, int, int], sides: gf.Boundaries, kind: int, solids: bool) -> None:
        self.grid = gf.Grid(cells)
        rules = gf.Settings(viscosity=1.0, density_diffusivity=1.0, thermal_diffusivity=1.0)
        self.solver = Solver(NumpyBackend(self.grid), rules, sides)
        if solids:
            box = gf.Obstacle(gf.Box(size=(1.0, 1.0, 1.0)), position=(1.5, 1.5, 0.5))
            self.solver.solids.update([box], 1.0)
        self.kind, self.variant = kind, self.solver.variant
        self.channel = kind if kind < 3 else 4 - kind
        self.field: Any = self.solver.velocity if kind < 3 else self.solver.scalars
        self.faces = self.solver.solids.faces if kind < 3 else {}
        shape = self.field.values.shape[:3]
        self.places = []
        for place in np.ndindex(*shape):
            home = all(
                place[2 - axis] < n or not sides.periodic(axis) or axis >= self.grid.dimensions
                for axis, n in enumerate(cells)
            )
            if home and self.spread(place)[place][self.channel]:
                self.places.append(place)
        self.values = np.zeros((len(self.places),) * 2)
        for n, place in enumerate(self.places):
            self.values[:, n] = -self.laplacian(self.spread(place))

    def spread(self, place: tuple[int, ...]) -> np.ndarray:
        """1 at one place, as far as sides and solids leave it there."""
        field = np.zeros_like(self.field.values)
        field[(*place, self.channel)] = 1.0
        return self.held(field)

    def held(self, field: np.ndarray) -> np.ndarray:
        if self.kind < 3:
            solids = {name: f.values for name, f in self.faces.items()}
            return reference.constrain(self.grid, self.variant, velocity=field, **solids)
        inside = self.solver.solids.cells.get("solid")
        field[..., 3] = 1.0
        return field * (1.0 - inside.values) if inside else field

    def at(self, field: np.ndarray) -> np.ndarray:
        return np.array([field[(*place, self.channel)] for place in self.places])

    def laplacian(self, field: np.ndarray) -> np.ndarray:
        extra: Any = {"fourier_number": 1.0} if self.kind < 3 else {"fourier_numbers": (1.0, 1.0, 0.0)}
        sweep = reference.diffuse_velocity if self.kind < 3 else reference.diffuse_scalars
        solids = {name: f.values for name, f in self.faces.items()}
        swept = sweep(
            self.grid,
            self.variant,
            before=field,
            latest=field,
            previous=field,
            weight=1.0,
            relaxation=1.0,
            **extra,
            **solids,
        )
        return self.at(swept - field) * (1.0 + 2.0 * self.grid.dimensions)


@pytest.mark.parametrize("sides", BOXES.values(), ids=BOXES)
@pytest.mark.parametrize("cells", [(4, 3, 1), (3, 4, 2), (1, 3, 4)])
def test_the_slowest_change_is_known(cells: tuple[int, int, int], sides: gf.Boundaries) -> None:
    """In a box the formula is exact (below 2d), round solids no more than what there is."""
    grid = gf.Grid(cells)
    for solids in (False, True):
        found: dict[int, float] = {}
        for kind in (*range(grid.dimensions), 3, 4):
            matrix = Matrix(cells, sides, kind, solids).values
            assert np.allclose(matrix, matrix.T)
            values = np.linalg.eigvalsh(matrix)
            found[kind] = min([v for v in values if v > 1e-9], default=math.inf)
            assert (np.abs(values) <= 1e-9).sum() <= 1 or solids
            assert values.size == 0 or values[-1] <= 4.0 * grid.dimensions + 1e-9
        velocity = min(found[kind] for kind in range(grid.dimensions))
        for known, there in (
            (slowest_velocity(grid, sides, solids), velocity),
            (slowest_scalar(grid, sides, solids, True), found[3]),
            (slowest_scalar(grid, sides, solids, False), found[4]),
        ):
            assert known <= there + 1e-9
            if not solids and 1 not in cells:
                assert known == pytest.approx(min(there, 2.0 * grid.dimensions), rel=1e-9)


@pytest.mark.parametrize(
    ("a", "kind", "cells"),
    [
        (a, kind, ((7, 6, 1), (4, 3, 5))[(n + m) % 2])
        for n, a in enumerate((0.3, 50.0, 1e9, 1e300))
        for m, kind in enumerate(BOXES)
    ],
)
def test_any_reach_is_solved_to_the_tolerance(a: float, kind: str, cells: tuple[int, int, int]) -> None:
    """Against the solution by eigenvectors; density and temperature together, each at its own pace."""
    rng, sides = np.random.default_rng(3), BOXES[kind]
    solver = Solver(
        NumpyBackend(gf.Grid(cells)),
        gf.Settings(viscosity=a, density_diffusivity=0.2 * a, thermal_diffusivity=a),
        sides,
    )
    matrices = [matrix_of(cells, sides, n) for n in (*range(solver.backend.grid.dimensions), 3, 4)]
    for field in (solver.velocity, solver.scalars):
        mine = [each for each in matrices if (each.kind < 3) == (field is solver.velocity)]
        start: Any = mine[0].held(rng.normal(size=field.read().shape))
        field.values = start.copy()  # type: ignore[attr-defined]
        if field is solver.velocity:
            solver.diffusion.diffuse_velocity(1.0, solver.variant, {}, velocity=field)
        else:
            solver.diffusion.diffuse_scalars(1.0, solver.variant, scalars=field)
        change = left = 0.0
        for matrix in mine:
            values, waves = np.linalg.eigh(matrix.values)
            values[np.abs(values) < 1e-9] = 0.0
            number = 0.2 * a if matrix.kind == 4 else a
            before = matrix.at(start)
            exact = waves @ (waves.T @ before / (1.0 + number * values))
            change += float(((exact - before) ** 2).sum())
            left += float(((matrix.at(field.values) - exact) ** 2).sum())  # type: ignore[attr-defined]
        assert change > 1e-3
        assert math.sqrt(left) <= 1.2 * TOLERANCE * math.sqrt(change)  # the reach is cut off at 0.1 of it


def test_the_sweeps_are_bound_by_the_box() -> None:
    for n, dimensions in ((32, 2), (64, 3), (128, 3), (500, 3)):
        grid = gf.Grid((n, n, n if dimensions == 3 else 1))
        for sides, times in ((gf.Boundaries(), 8.2), (gf.Boundaries(top=gf.Wall(temperature=1.0)), 16.4)):
            slowest = slowest_scalar(grid, sides, False, True)
            assert sweeps_for(1e30, dimensions, slowest) <= times * n
            assert sweeps_for(0.5, dimensions, slowest) <= sweeps_for(0.5, dimensions)
    assert sweeps_for(1e30, 3) > MOST_SWEEPS


@pytest.mark.parametrize(("cells", "backend"), by_turns([((32, 24, 1),), ((16, 13, 11),)]))
def test_endless_diffusion_leaves_what_the_sides_say(
    cells: tuple[int, int, int], backend: str, rng: np.random.Generator
) -> None:
    """Density even, temperature linear between two plates, and the velocity linear from floor to lid."""
    lid = gf.Wall(velocity=(1.0, 0.0, 0.0), temperature=4.0)
    sides = gf.Boundaries(
        gf.Periodic(),
        gf.Periodic(),
        gf.Wall(temperature=0.0),
        lid,
        gf.Wall("free"),
        gf.Wall("free"),
    )
    rules = gf.Settings(viscosity=1e200, density_diffusivity=1e200, thermal_diffusivity=1e9, buoyancy=0.0)
    with gf.Fluid(gf.Grid(cells, 0.1), sides, rules, backend) as fluid:
        density = rng.random(cells[::-1])
        fluid.density.write(density)
        fluid.temperature.write(rng.random(cells[::-1]))
        solver = fluid._solver
        solver.diffusion.check(100.0, solids=False)
        solver.diffusion.diffuse_velocity(100.0, solver.variant, {}, velocity=solver.velocity)
        solver.diffusion.diffuse_scalars(100.0, solver.variant, scalars=solver.scalars)
        profile = np.broadcast_to(((np.arange(cells[1]) + 0.5) / cells[1])[:, None], cells[::-1])
        np.testing.assert_allclose(fluid.density.read(), density.mean(), atol=2e-6)
        np.testing.assert_allclose(fluid.temperature.read(), 4.0 * profile, atol=1e-5)
        speed = fluid.velocity.read()[: cells[2], : cells[1], : cells[0], 0]
        np.testing.assert_allclose(speed, profile, atol=1e-5)


@pytest.mark.parametrize("backend", COMPUTED)
@pytest.mark.parametrize("a", [0.3, 1e9])
def test_one_cell_between_cold_walls(a: float, backend: str) -> None:
    """T (1 + 8a) = 1: each of its four neighbours is its mirror image. The slowest change is the fastest."""
    sides = gf.Boundaries.all(gf.Wall(temperature=0.0))
    rules = gf.Settings(thermal_diffusivity=a, viscosity=a, buoyancy=0.0)
    with gf.Fluid(gf.Grid((1, 1, 1)), sides, rules, backend) as fluid:
        fluid.temperature.write(np.ones((1, 1, 1)))
        fluid.step(1.0)
        assert fluid.temperature.read().item() == pytest.approx(1.0 / (1.0 + 8.0 * a), rel=1e-5, abs=2e-6)


def test_a_reach_of_nothing_changes_nothing() -> None:
    with gf.Fluid(gf.Grid((4, 4, 1)), FREE, gf.Settings(thermal_diffusivity=5e-324), "numpy") as fluid:
        before = np.arange(16.0).reshape(1, 4, 4)
        fluid.temperature.write(before)
        fluid._solver.diffusion.diffuse_scalars(0.1, fluid._solver.variant, scalars=fluid._solver.scalars)
        assert np.array_equal(fluid.temperature.read(), before)
