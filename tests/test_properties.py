"""What holds for every scene: mirrored and turned scenes, reruns, bounds, three backends over a long flow."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
import sharing
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sharing import EVERYWHERE

import gpufluid as gf

pytestmark = pytest.mark.usefixtures("one_context")

SWAPPED = ("semi-lagrangian", "maccormack", "bfecc")  # the others go axis by axis, and that order shows
SCHEMES = (*SWAPPED, "finite-volume")
H = 0.1


# -- symmetry ----------------------------------------------------------------------------------------------
# Jacobi's sweep treats all cells and axes alike. Red-black sweeps do not (a mirror image of an even number of
# cells swaps the colours), nor does multigrid where a side is odd (the odd cell is at the high end): these
# keep a symmetry only as far as they converge. What else is not symmetric, and kept out of the scenes:
# - the side of a periodic box is its low one, so a source or a force that reaches it is not mirrored there;
# - places of sources are rounded to single precision on every backend, a place unlike its mirror image. Flows
#   that grow small differences (long steps, limiter="revert") may so part by 1e-4 after forty steps; where
#   rounding changes neither, as with multiples of 1/256 in cells of 1/8, they part by 1e-9;
# - at an edge where two walls meet that move along it, that of the higher axis is mixed in last (swaps).

Move = Callable[[tuple[float, float, float], bool], tuple[float, float, float]]


def mirror(axis: int, size: tuple[float, ...]) -> Move:
    """Places (or vectors) as a mirror across `axis` shows them."""

    def move(v: tuple[float, float, float], vector: bool) -> tuple[float, float, float]:
        out = list(v)
        out[axis] = -v[axis] if vector else size[axis] - v[axis]
        return out[0], out[1], out[2]

    return move


def swap(a: int, b: int) -> Move:
    """Places or vectors with two axes swapped."""

    def move(v: tuple[float, float, float], vector: bool) -> tuple[float, float, float]:
        out = list(v)
        out[a], out[b] = v[b], v[a]
        return out[0], out[1], out[2]

    return move


CELLS, SIZE = (10, 9, 8), (1.0, 0.9, 0.8)
SIDES = (
    gf.Wall(),
    gf.Wall("free"),
    gf.Inflow((0.0, 0.2, 0.0), density=0.5, temperature=1.0),
    gf.Open(),
    gf.Periodic(),
    gf.Periodic(),
)
LID = (gf.Wall(velocity=(0.0, 0.3, 0.1)), *SIDES[1:])
EDGES = (gf.Wall(velocity=(0.0, 0.3, 0.4)), gf.Open(), gf.Inflow((0.1, 0.2, -0.3)), *SIDES[3:])


def moved_side(side: Any, move: Move) -> Any:
    if isinstance(side, gf.Wall):
        return gf.Wall(side.slip, move(side.velocity, True), side.temperature)
    if isinstance(side, gf.Inflow):
        return gf.Inflow(move(side.velocity, True), side.density, side.temperature)
    return side


def plume(
    move: Move,
    order: tuple[int, ...],
    cells: tuple[int, int, int],
    scheme: str,
    backend: str,
    given: tuple[Any, ...] = SIDES,
) -> Any:
    """The fields after six steps of a scene with everything, each place and vector in it moved.

    order: for each side of the moved box, which side of `given` it is.
    """
    sides = gf.Boundaries(*(moved_side(given[i], move) for i in order))
    rules = gf.Settings(
        advection=scheme, buoyancy=3.0, weight=0.4,
        up=move((0.3, 1.0, 0.2), True), vorticity_confinement=0.2,
        viscosity=2e-3, thermal_diffusivity=1e-3, cfl=None,
    )  # fmt: skip
    with gf.Fluid(gf.Grid(cells, H), sides, rules, backend=backend) as fluid:
        fluid.emitters.add(
            gf.Emitter(
                gf.Sphere(move((0.37, 0.24, 0.41), False), 0.12), density=3.0, temperature=2.0, falloff=0.04,
                velocity=move((0.3, 0.8, -0.2), True),
            )
        )  # fmt: skip
        start = np.zeros(fluid.velocity.read().shape)
        start[...] = move((0.11, 0.13, 0.17), True)
        fluid.velocity.write(start)
        place = (0.63, 0.52, 0.33)
        ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.18), move(place, False), temperature=1.5))
        low = fluid.obstacles.add(
            gf.Obstacle(gf.Sphere(radius=0.14), move((0.22, 0.6, 0.5), False), slip="free")
        )
        fluid.forces.add(gf.Wind(move((0.4, 0.2, -0.3), True), 0.5))
        for n in range(6):
            ball.position = move((place[0] - 0.013 * n, place[1] + 0.007 * n, place[2]), False)
            low.velocity = move((0.1, 0.05 * n, 0.0), True)
            fluid.step(0.05)
        scalars = [fluid.density.read(), fluid.temperature.read(), fluid.pressure.read(), fluid.solid.read()]
        return fluid.velocity.read(), np.stack(scalars, -1)


def stay(v: tuple[float, float, float], vector: bool) -> tuple[float, float, float]:
    return v


@cache
def unmoved(scheme: str, backend: str, given: tuple[Any, ...] = SIDES) -> Any:
    """The fields of the scene as it is; made once, for all axes."""
    return plume(stay, (0, 1, 2, 3, 4, 5), CELLS, scheme, backend, given)


def compare(got: Any, expected: Any, backend: str) -> None:
    """To rounding: float64 in NumPy, whose arrays are read as float32; 1e-4 after six steps on GL."""
    tolerance = 1e-6 if backend == "numpy" else 1e-4
    for one, other in zip(got, expected, strict=True):
        scale = np.abs(other).max()
        assert scale > 0.3
        assert np.abs(one - other).max() <= tolerance * scale


# an axis for each scheme: the images across the others are these with the axes swapped, as is tested below
@pytest.mark.parametrize(("axis", "scheme"), [*enumerate(SWAPPED), (0, SCHEMES[-1])])
def test_a_mirrored_scene_gives_the_mirror_image(axis: int, scheme: str) -> None:
    velocity, scalars = unmoved(scheme, "numpy", LID)
    order = [0, 1, 2, 3, 4, 5]
    order[2 * axis : 2 * axis + 2] = 2 * axis + 1, 2 * axis
    got, cells = plume(mirror(axis, SIZE), tuple(order), CELLS, scheme, "numpy", LID)
    flipped = velocity.copy()
    for component in range(3):
        # each component is stored on one more face along its own axis only
        part = [slice(None)] * 3
        part[2 - axis] = slice(0, CELLS[axis] + (component == axis))
        line = np.flip(velocity[(*part, component)], 2 - axis)
        flipped[(*part, component)] = -line if component == axis else line
    compare((got, cells), (flipped, np.flip(scalars, 2 - axis)), "numpy")


@pytest.mark.parametrize(
    ("scheme", "backend", "axis", "given"),
    [
        *((scheme, "numpy", axis, SIDES) for scheme in SWAPPED for axis in range(2)),
        ("maccormack", "compute", 1, SIDES),
        # along an edge of two sides that move otherwise neither goes before the other
        *((scheme, "numpy", 0, EDGES) for scheme in SWAPPED),
        ("maccormack", "fragment", 0, EDGES),
    ],
)
def test_a_scene_with_two_axes_swapped_gives_the_same_swapped(
    scheme: str, backend: str, axis: int, given: tuple[Any, ...]
) -> None:
    velocity, scalars = unmoved(scheme, backend, given)
    a, b = axis, (axis + 1) % 3
    axes = [0, 1, 2]
    axes[a], axes[b] = b, a
    order = tuple(2 * axis + side for axis in axes for side in (0, 1))
    cells = (CELLS[axes[0]], CELLS[axes[1]], CELLS[axes[2]])
    got, values = plume(swap(a, b), order, cells, scheme, backend, given)
    turned = np.swapaxes(velocity, 2 - a, 2 - b)[..., axes]
    compare((got, values), (turned, np.swapaxes(scalars, 2 - a, 2 - b)), backend)


# -- reruns ------------------------------------------------------------------------------------------------

SOLVERS = {
    "jacobi": gf.Jacobi(20, tolerance=1e-3),
    "chebyshev": gf.ChebyshevJacobi(20),
    "sor": gf.RedBlackSOR(10),
    "conjugate gradients": gf.ConjugateGradient(10),
    "multigrid": gf.Multigrid(1),
}


RERUNS = [(name, "numpy") for name in SOLVERS] + [("conjugate gradients", "compute")]


@pytest.mark.parametrize(("name", "backend"), RERUNS)
def test_a_rerun_gives_the_same_bits(name: str, backend: str) -> None:
    """Solids that move, free and no-slip, emitters with noise and a mask: a second run is bit-equal."""
    runs = []
    for _ in range(2):
        rules = gf.Settings(pressure=SOLVERS[name], vorticity_confinement=0.2, viscosity=1e-3)
        with gf.Fluid(gf.Grid(sharing.CELLS, H), gf.Boundaries(top=gf.Open()), rules, backend) as fluid:
            fluid.emitters.add(gf.Emitter(gf.Sphere((0.4, 0.2, 0.3), 0.15), 2.0, 3.0, noise=0.7, seed=5))
            fluid.emitters.add(gf.Emitter(gf.Line([(0.1, 0.1, 0.1), (0.8, 0.3, 0.6)]), 1.0, 1.0, (0, 1, 0)))
            ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.15), (0.5, 0.5, 0.3), slip="free"))
            fluid.obstacles.add(gf.Obstacle(gf.Mesh.box((0.2, 0.1, 0.3)), (0.2, 0.6, 0.4), temperature=2.0))
            for n in range(4):
                ball.position = (0.5 - 0.02 * n, 0.5, 0.3)
                fluid.step(0.05)
            names = ("velocity", "density", "temperature", "pressure", "solid")
            runs.append([getattr(fluid, name).read() for name in names])
    assert np.abs(runs[0][0]).max() > 0.3
    for first, second in zip(*runs, strict=True):
        assert np.array_equal(first, second)


# -- random scenes -----------------------------------------------------------------------------------------

small = st.floats(-1.0, 1.0, allow_nan=False)
vectors = st.tuples(small, small, small)


@st.composite
def walls(draw: st.DrawFn, axis: int) -> gf.Wall:
    x, y, z = (0.0 if a == axis else v for a, v in enumerate(draw(vectors)))
    heat = draw(st.one_of(st.none(), st.floats(-1.0, 4.0)))
    return gf.Wall(draw(st.sampled_from(("no", "free"))), (x, y, z), heat)


@st.composite
def side_pairs(draw: st.DrawFn, axis: int) -> tuple[Any, Any]:
    if (
        draw(st.integers(0, 3)) == 0 and axis != 1
    ):  # along y, in which all weighs, a periodic box falls for ever
        return gf.Periodic(), gf.Periodic()
    one = st.one_of(walls(axis), st.just(gf.Open()), vectors.map(lambda v: gf.Inflow(v, 0.5, 1.0)))
    return draw(one), draw(one)


@st.composite
def scenes(draw: st.DrawFn) -> dict[str, Any]:
    """A description of a scene, all of it plain data, so that a failing one can be read."""
    rules = {
        "advection": draw(st.sampled_from(SCHEMES)),
        "limiter": draw(st.sampled_from(("clamp", "revert"))),
        "trace": draw(st.sampled_from(("rk2", "euler"))),
        "buoyancy": draw(st.sampled_from((0.0, 1.0, 4.0))),
        "weight": draw(st.sampled_from((0.0, 1.0))),
        "ambient_temperature": draw(st.sampled_from((0.0, 2.0))),
        "vorticity_confinement": draw(st.sampled_from((0.0, 0.3))),
        "viscosity": draw(st.sampled_from((0.0, 0.01))),
        "thermal_diffusivity": draw(st.sampled_from((0.0, 0.01))),
        "density_diffusivity": draw(st.sampled_from((0.0, 0.01))),
        "cooling": draw(st.sampled_from((0.0, 0.5))),
    }
    place = st.tuples(*[st.floats(0.2, 0.8)] * 3)
    emitters = st.fixed_dictionaries(
        {"place": place, "temperature": st.floats(0.0, 5.0), "velocity": st.one_of(st.none(), vectors)}
    )
    solids = st.fixed_dictionaries(
        {
            "shape": st.sampled_from(
                (gf.Sphere(radius=0.2), gf.Box(size=(0.3, 0.25, 0.4)), gf.Capsule(radius=0.1))
            ),
            "place": place,
            "does": st.sampled_from(("stands", "moves", "turns", "spins", "jumps")),
            "velocity": vectors,
            "slip": st.sampled_from(("no", "free")),
            "temperature": st.one_of(st.none(), st.floats(-2.0, 6.0)),
        }
    )
    steps = st.sampled_from((0.001, 0.01, 0.05, 0.1, 0.5))
    return {
        "sides": [side for axis in range(3) for side in draw(side_pairs(axis))],
        "rules": rules,
        "emitters": draw(st.lists(emitters, max_size=2)),
        "solids": draw(st.lists(solids, max_size=2)),
        "dt": draw(st.lists(steps, min_size=1, max_size=3)),
    }


def advance(solid: dict[str, Any], obstacle: gf.Obstacle, n: int, dt: float) -> float:
    """Move a solid for step n; return how fast its surface may be, m/s."""
    speed = float(np.linalg.norm(solid["velocity"]))
    if solid["does"] == "moves":
        x, y, z = np.array(obstacle.position) + 0.5 * dt * np.array(solid["velocity"])
        obstacle.position = (float(x), float(y), float(z))
        return 0.5 * speed
    if solid["does"] == "turns":
        _, _, sine, cosine = obstacle.rotation or (0.0, 0.0, 0.0, 1.0)
        half = math.atan2(sine, cosine) + 0.25 * dt
        obstacle.rotation = (0.0, 0.0, math.sin(half), math.cos(half))
        return 0.5 * 0.6  # rad/s times no more than half the largest solid
    if solid["does"] == "spins":
        obstacle.spin = tuple(5.0 * v for v in solid["velocity"])  # type: ignore[assignment]
        return 5.0 * speed * 0.6
    if solid["does"] == "jumps" and n % 20 == 19:
        x, y, z = obstacle.position
        obstacle.position = (x + (30.0 if x < 10.0 else -30.0), y, z)
    return 0.0


def check(scene: dict[str, Any], cells: tuple[int, int, int], steps: int, backend: str) -> None:
    """Step a scene and hold every step to what can be said beforehand.

    Density: what the emitters add to a cell, and what flows in, is the most that limited advection, diffusion
    and fading leave anywhere. Temperature: between the extremes of all that is ever set. Speed: advection
    carries what there is; what is set (walls, sources, solids) and what forces add (acceleration times time)
    may have to go through a single face where solids and sides leave no more, which by continuity is faster
    by the number of faces of the largest side.
    """
    rules = gf.Settings(**scene["rules"])
    sides = scene["sides"]
    with gf.Fluid(gf.Grid(cells, H), gf.Boundaries(*sides), rules, backend=backend) as fluid:
        for e in scene["emitters"]:
            shape = gf.Sphere(e["place"], 0.15)
            fluid.emitters.add(gf.Emitter(shape, 2.0, temperature=e["temperature"], velocity=e["velocity"]))
        for s in scene["solids"]:
            x, y, z = s["place"]
            place = x, y, z if cells[2] > 1 else 0.5 * H  # in 2D a solid beside the slice is none
            fluid.obstacles.add(gf.Obstacle(s["shape"], place, slip=s["slip"], temperature=s["temperature"]))
        # a kick: something to carry where nothing drives the flow
        nx, ny, nz = cells
        start = np.random.default_rng(1).uniform(-0.5, 0.5, (nz + 1, ny + 1, nx + 1, 3))
        fluid.velocity.write(start)
        heats = [rules.ambient_temperature, *(e["temperature"] for e in scene["emitters"])]
        heats += [s["temperature"] for s in scene["solids"] if s["temperature"] is not None]
        heats += [t for side in sides if (t := getattr(side, "temperature", None)) is not None]
        low, high = min(heats), max(heats)
        given = [e["velocity"] for e in scene["emitters"] if e["velocity"]]
        given += [side.velocity for side in sides if hasattr(side, "velocity")]
        fastest = max([0.9, *(float(np.linalg.norm(v)) for v in given)])
        faces = max(nx * ny, ny * nz, nz * nx) if nz > 1 else max(nx, ny)
        reach = max(high - rules.ambient_temperature, rules.ambient_temperature - low)
        time, densest = 0.0, 0.5 if any(isinstance(side, gf.Inflow) for side in sides) else 0.0
        for n in range(steps):
            dt = scene["dt"][n % len(scene["dt"])]
            for s, obstacle in zip(scene["solids"], fluid.obstacles, strict=True):
                fastest = max(fastest, advance(s, obstacle, n, dt))
            fluid.step(dt)
            time += dt
            densest += 2.0 * dt * len(scene["emitters"])
            if n % 10 and n < steps - 1 and backend != "numpy":
                continue
            velocity, density, heat = fluid.velocity.read(), fluid.density.read(), fluid.temperature.read()
            open_ = fluid.solid.read() < 0.5
            if rules.advection == "finite-volume":  # amounts gather where more comes in than can go out
                densest = max(densest, float(density.max()))
            push = rules.buoyancy * reach + rules.weight * densest
            assert np.isfinite(velocity).all(), n
            # confinement is at most eps h |curl| <= 4 sqrt(3) eps |u|: it feeds whatever turns, for ever
            growth = math.exp(min(4.0 * math.sqrt(3.0) * rules.vorticity_confinement * time, 80.0))
            assert float(np.abs(velocity).max()) <= faces * growth * (fastest + push * time), n
            assert -1e-4 * densest <= density.min(), n
            assert density.max() <= densest * (1 + 1e-4), n
            if open_.any():
                slack = 1e-4 * (1.0 + high - low)
                assert low - slack <= heat[open_].min(), n
                assert heat[open_].max() <= high + slack, n


EXAMPLES = int(os.environ.get("GPUFLUID_EXAMPLES", "0"))


@settings(
    max_examples=8,
    derandomize=True,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
    database=None,
)
@given(scene=scenes())
def test_a_random_scene_stays_within_bounds(scene: dict[str, Any]) -> None:
    check(scene, (12, 10, 1), 50, "numpy")


@pytest.mark.validation
@settings(
    max_examples=EXAMPLES or 100,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    database=None,
    phases=(Phase.generate,),  # shrinking takes longer than it is worth
)
@given(scene=scenes(), cells=st.sampled_from([(12, 10, 1), (12, 10, 8)]), backend=st.sampled_from(EVERYWHERE))
def test_many_random_scenes_stay_within_bounds(
    scene: dict[str, Any], cells: tuple[int, int, int], backend: str
) -> None:
    """GPUFLUID_EXAMPLES: how many, 100 unless told; another set in each run."""
    check(scene, cells, 200, backend)


# -- other units -------------------------------------------------------------------------------------------


@cache
def in_units(length: float = 1.0, time: float = 1.0, zero: float = 0.0, heat: float = 1.0) -> Any:
    """A scene in which all acts, told in other units of length, time and temperature; its ends in the first.

    Nothing has a time of its own (`gpufluid.numerics.emission.SET_RATE`): the source sets all or nothing.
    """
    speed, push, spread = length / time, length / time**2, length**2 / time
    rules = gf.Settings(
        viscosity=1e-3 * spread,
        thermal_diffusivity=2e-3 * spread,
        buoyancy=1.5 * push / heat,
        weight=0.3 * push,
        ambient_temperature=zero,
        vorticity_confinement=0.4 / time,
        cooling=0.5 / time,
        density_dissipation=0.3 / time,
        combustion=gf.Combustion(
            ignition_temperature=zero + 0.1 * heat,
            burn_per_temperature=4.0 / time / heat,
            heat_per_burn=5.0 * heat,
            radiation=0.2 / time / heat**3,
        ),
        pressure=gf.Multigrid(2),
    )
    sides = gf.Boundaries(
        left=gf.Inflow((0.3 * speed, 0.1 * speed, 0), density=0.2, temperature=zero + 0.5 * heat),
        right=gf.Open(),
        bottom=gf.Wall(velocity=(0.2 * speed, 0, 0.1 * speed), temperature=zero + heat),
        top=gf.Open(),
        back=gf.Periodic(),
        front=gf.Periodic(),
    )

    def at(*place: float) -> Any:
        return tuple(length * p for p in place)

    grid = gf.Grid((7, 9, 6), 0.125 * length, at(3, 0, -1))
    with gf.Fluid(grid, sides, rules, backend="numpy") as fluid:
        hot = gf.Box(at(3.375, 0.25, -0.625), at(0.25, 0.25, 0.25))
        fluid.emitters.add(gf.Emitter(hot, fuel=6 / time, temperature=zero + heat, edge="hard"))
        smoke = gf.Emitter(
            gf.Sphere(at(3.5, 0.5, -0.6), 0.2 * length), density=3 / time, falloff=0.1 * length
        )
        smoke.noise, smoke.noise_size, smoke.noise_time = 0.5, 0.3 * length, 0.1 * time
        smoke.motion = (0.5 * speed, 0, 0)
        fluid.emitters.add(smoke)
        ball = gf.Obstacle(gf.Sphere(radius=0.15 * length), temperature=zero + 2 * heat, heating=5 / time)
        fluid.obstacles.add(ball)
        fluid.forces.add(gf.Vortex(at(3.5, 0.5, -0.5), (0, 1, 0), 0.5 * push, 0.3 * length))
        fluid.forces.add(gf.Attractor(at(3.3, 0.9, -0.5), 0.5 * push, 0.3 * length))
        fluid.forces.add(gf.Wind((speed, 0, 0), 0.5 / time))
        fluid.forces.add(gf.Turbulence(0.5 * push, 0.6 * length, 0.3 * time, seed=4))
        for n in range(4):
            ball.position, ball.spin = at(3.6 + 0.03 * n, 0.7, -0.5), (0, 0, 1 / time)
            fluid.step(0.04 * time)
        warm = np.where(fluid.solid.read() > 0.5, 0.0, (fluid.temperature.read() - np.float64(zero)) / heat)
        ends = [fluid.velocity.read() / speed, fluid.pressure.read() / speed**2, warm]
        return [*ends, fluid.density.read(), fluid.fuel.read(), fluid.flame.read() * time]


@pytest.mark.parametrize(
    "units",
    [{"length": 1024.0, "time": 4096.0}, {"length": 1 / 64, "time": 0.3}, {"heat": 300.0}, {"zero": -293.0}],
)
def test_other_units_are_the_same_flow(units: dict[str, float]) -> None:
    """No length, time or temperature is built in: winds of an hour are as a draught of a second."""
    for got, expected in zip(in_units(**units), in_units(), strict=True):
        assert np.abs(expected).max() > 0.1
        np.testing.assert_allclose(got, expected, atol=1e-5 * np.abs(expected).max())


# -- a long flow on three backends -------------------------------------------------------------------------


def test_three_backends_agree_over_fifty_steps() -> None:
    """A plume round an obstacle. Rounding to single precision (6e-8 a number) is what tells GL from NumPy.

    A small difference doubles in about the time in which a parcel crosses the obstacle, some eight steps:
    fifty steps make 2^6 times of it, and of the rounding of 100 passes a step the root of 5000 times as much:
    3e-4 of the largest value in any cell, and less on average.
    """
    ends = {}
    for backend in EVERYWHERE:
        rules = gf.Settings(buoyancy=6.0, pressure=gf.Jacobi(20))
        with gf.Fluid(gf.Grid(sharing.CELLS, 0.05), settings=rules, backend=backend) as fluid:
            fluid.emitters.add(gf.Emitter(gf.Sphere((0.25, 0.12, 0.22), 0.09), density=4.0, temperature=1.0))
            fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.1), (0.28, 0.35, 0.23)))
            for _ in range(50):
                fluid.step(0.03)
            ends[backend] = [fluid.velocity.read(), fluid.density.read(), fluid.temperature.read()]
    assert np.abs(ends["numpy"][0]).max() > 0.5
    assert ends["numpy"][1][:, 9:].max() > 0.1  # it has come round the obstacle
    for backend in ("fragment", "compute"):
        for got, expected in zip(ends[backend], ends["numpy"], strict=True):
            off, scale = np.abs(got - expected), np.abs(expected).max()
            assert off.mean() <= 1e-5 * scale
            assert off.max() <= 3e-4 * scale
