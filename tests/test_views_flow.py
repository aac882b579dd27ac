"""Particles, streamlines, streak lines and arrows against NumPy and closed forms."""

from __future__ import annotations

from typing import Any

import moderngl
import numpy as np
import pytest
import reference_flow as twin
from view_flows import (
    BALL,
    ball_flow,
    parallel,
    rotation,
    solid_of,
    variant_of,
    velocity_of,
    write_velocity,
)

import gpufluid as gf
from gpufluid.contract.kernels import Variant

FREE = gf.Boundaries.all(gf.Wall(slip="free"))
OPEN = gf.Boundaries(
    left=gf.Periodic(), right=gf.Periodic(), top=gf.Open(), bottom=gf.Inflow((0.0, 0.5, 0.0))
)


def swirl(x: Any, y: Any, z: Any) -> tuple[Any, Any, Any]:
    return (
        0.8 * np.sin(3 * y + 1) + 0.4 * np.cos(4 * z),
        0.7 * np.sin(3 * z) + 0.5 * np.cos(3 * x) + 0.3,
        0.6 * np.cos(2 * x + y),
    )


def fluid_of(ctx: moderngl.Context, case: str) -> gf.Fluid:
    """Small boxes of every kind, filled with motion."""
    if case == "solid":
        return ball_flow(ctx, (17, 26, 19), boundaries=OPEN)
    cells = (19, 23, 1) if case == "2d" else (13, 19, 17)
    sides = {"walls": gf.Boundaries(), "2d": FREE, "open": OPEN, "changed": OPEN}[case]
    fluid = gf.Fluid(gf.Grid(cells, 0.05, (0.3, -0.2, 0.1)), sides, backend="fragment", ctx=ctx)
    if case == "changed":
        fluid.boundaries = OPEN.but(
            bottom=gf.Inflow((0.3, 0.9, -0.6)), back=gf.Wall(velocity=(0.0, 0.8, 0.0))
        )
    write_velocity(fluid, swirl)
    return fluid


def sources(fluid: gf.Fluid) -> list[gf.ParticleSource]:
    """Four shapes, one of which reaches out of the box, and an emitter."""
    grid = fluid.grid
    middle = np.array(grid.origin) + 0.5 * np.array(grid.size)
    low = middle - 0.3 * np.array(grid.size)
    emitter = gf.Emitter(gf.Sphere(radius=0.1), position=tuple(middle), rotation=None)
    return [
        gf.ParticleSource(gf.Sphere(tuple(grid.origin), 0.2)),
        gf.ParticleSource(gf.Box(tuple(middle), (0.3, 0.1, 0.2)), share=2.0),
        gf.ParticleSource(gf.Cylinder(tuple(low), 0.12, 0.2)),
        gf.ParticleSource(gf.Capsule(tuple(low), tuple(middle), 0.08), rate=300.0),
        gf.ParticleSource(emitter),
    ]


# -- particles -----------------------------------------------------------------------------------------------


HEAVY = {"response": 0.15, "fall": 1.3, "bounce": 0.6, "vary": 0.5}


@pytest.mark.parametrize("grains", [{}, HEAVY], ids=["tracers", "heavy"])
@pytest.mark.parametrize("case", ["walls", "open", "changed", "2d", "solid"])
def test_particles_follow_their_twin(ctx: moderngl.Context, case: str, grains: dict[str, float]) -> None:
    """Each advance from the shader's own state: places to 1e-3 cells, births included."""
    fluid = fluid_of(ctx, case)
    born = sources(fluid)
    if grains:
        born[0].velocity, born[1].spread = (0.3, 1.0, -0.4), 1.5
    made = gf.Particles(ctx, 3000, born, life=0.8, seed=5, **grains)
    velocity, solid, grid = velocity_of(fluid), solid_of(fluid), fluid.grid
    state, births = made.read().astype(np.float64), 0
    paces = made.read_velocity().astype(np.float64)
    assert (state[:, 3] == -1.0).all()
    for n in range(12):
        born[2].active = n % 4 > 0 or case == "solid"
        given = {
            "dt": 0.06 if n % 3 else 0.13,
            "life": 0.8,
            "clock": made.time / 0.8 % 1.0,
            "turn": n,
            "seed": 5,
        }
        rows = made.source_rows(fluid).astype(np.float64)
        expected, expected_paces = twin.advance_particles(
            grid, variant_of(fluid), state, paces, rows, velocity, solid, twin.Grains(**grains), **given
        )
        made.advance(fluid, given["dt"])
        state, paces = made.read().astype(np.float64), made.read_velocity().astype(np.float64)
        alive = expected[:, 3] >= 0.0
        births += int((expected[:, 3] < given["dt"])[alive].sum())
        apart = np.abs(state - expected)[alive].max(axis=1)
        assert np.mean(apart > 1e-3) < 2e-3, f"step {n}: {apart.max()}"  # who is cut off by a rounding error
        apart = np.abs(paces - expected_paces)[alive].max(axis=1)
        assert np.mean(apart > 1e-3) < 2e-3, f"step {n}: {apart.max()} m/s"
        assert np.mean((state[:, 3] >= 0.0) != alive) < 2e-3
        inside = state[state[:, 3] >= 0.0, :3]
        assert (inside >= 0.0).all() and (inside <= grid.cells).all()
        assert not twin.in_solid(grid, solid, inside).any()
        if case == "2d":
            assert (inside[:, 2] == 0.5).all()
    assert births > 1500 and (state[:, 3] >= 0.0).mean() > 0.4
    made.release()
    fluid.release()


def test_solids_round_a_place_in_closed_form() -> None:
    """Half the square of how far a flat wall reaches into a cell round the place; 0 a cell away from it."""
    grid = gf.Grid((8, 8, 8), 1.0)
    solid = np.zeros((8, 8, 8, 1))
    solid[:, 5:] = 1.0
    away = np.array([0.1, 0.25, 0.5, 0.8, 1.2])
    points = np.stack([3.3 + 0 * away, 5.0 - away, 4.1 + 0 * away], -1)
    share, growth = twin.solid_round(grid, Variant(solids=True), solid, points)
    left = np.maximum(1.0 - away, 0.0)
    np.testing.assert_allclose(share, 0.5 * left**2, atol=1e-12)
    np.testing.assert_allclose(growth, left[:, None] * (0.0, 1.0, 0.0), atol=1e-12)
    # at the box's own side the wall goes on
    beside = twin.solid_round(grid, Variant(solids=True), solid, np.array([[0.1, 4.75, 7.9]]))
    assert beside[0] == pytest.approx(0.5 * 0.75**2)
    # what comes to it slides along, half a cell off it; so does what leaves it, where it likes
    start = np.array([[3.3, 4.0, 4.0], [3.3, 4.7, 4.0], [3.3, 4.9, 4.0]])
    ways = np.array([[1.0, 3.0, -0.5], [1.5, 0.1, 0.0], [0.0, -1.0, 0.0]])
    ends = twin.slid(grid, Variant(solids=True), solid, start, start + ways)
    np.testing.assert_allclose(ends[0], (4.3, 4.5, 3.5), atol=2e-3)
    np.testing.assert_allclose(ends[1], (4.8, 4.5, 4.0), atol=2e-3)
    np.testing.assert_allclose(ends[2], (3.3, 3.9, 4.0), atol=2e-3)


def test_particles_stream_round_a_ball(ctx: moderngl.Context) -> None:
    """None is held under it: those born below are past its middle, or out at the top, in a few seconds."""
    fluid = ball_flow(ctx)
    made = gf.Particles(ctx, 2000, [gf.Cylinder((0.0, 0.3, 0.0), 0.1, 0.05)], life=100.0, seed=3)
    made.advance(fluid, 1e-3)
    grid = fluid.grid
    y, x, z = 0.3 / grid.cell_size, 0.5 * grid.cells[0], 0.5 * grid.cells[2]
    rng = np.random.default_rng(4)
    places = np.stack(
        [x + rng.uniform(-2, 2, 2000), y + 0 * rng.uniform(size=2000), z + rng.uniform(-2, 2, 2000)]
    )
    state = np.concatenate([places, np.zeros((1, 2000))]).T.astype(np.float32)
    made._state[0].write(np.resize(state, (made._state[0].height, made._state[0].width, 4)).tobytes())
    for _ in range(90):
        made.advance(fluid, 1.0 / 15.0)
    after = made.read().astype(np.float64)
    alive = after[after[:, 3] > 4.0]
    height = alive[:, 1] * grid.cell_size
    assert len(alive) > 1800
    assert np.mean(height < BALL.center[1]) < 0.02, np.mean(height < BALL.center[1])
    made.release()
    fluid.release()


def test_particles_stay_out_of_a_solid_that_comes_over_them(ctx: moderngl.Context) -> None:
    fluid = fluid_of(ctx, "walls")
    ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.16), position=(0.45, 0.3, 0.5)))
    made = gf.Particles(ctx, 4000, [gf.Box.from_corners((0.3, -0.2, 0.1), (0.9, 0.7, 0.9))], life=1.0)
    for n in range(20):
        ball.position = (0.45 + 0.02 * n, 0.3, 0.5)
        fluid.solid.read()
        made.advance(fluid, 0.05)
        state = made.read().astype(np.float64)
        alive = state[state[:, 3] >= 0.0]
        assert not twin.in_solid(fluid.grid, solid_of(fluid), alive[:, :3]).any()
    assert len(alive) > 3000
    made.release()
    fluid.release()


def test_a_source_sends_particles_out_evenly(ctx: moderngl.Context) -> None:
    """From the first step on, and after several lives: no pulse. Nobody leaves this box."""
    with gf.Fluid(gf.Grid((8, 8, 8), 0.1), backend="fragment", ctx=ctx) as fluid:
        made = gf.Particles(ctx, 10_000, [gf.Sphere((0.4, 0.4, 0.4), 0.2)], life=1.7)
        for n in range(1, 120):
            made.advance(fluid, 0.05)
            age = made.read()[:, 3]
            born = int(((age >= 0.0) & (age < 0.05)).sum())
            assert abs(born - 10_000 * 0.05 / 1.7) <= 4
            assert abs((age >= 0.0).sum() - min(n * 0.05 / 1.7, 1.0) * 10_000) <= 4
        # and in every moment of the last life
        np.testing.assert_allclose(np.histogram(age, 17, (0.0, 1.7))[0], 10_000 / 17, atol=5)
        made.release()


@pytest.mark.parametrize("switch", ["source", "emitter"])
def test_a_source_switched_off_lets_those_on_their_way_go_on(ctx: moderngl.Context, switch: str) -> None:
    """Sparks of a blast: none before it, born evenly while it lasts, each to the end of its life."""
    emitter = gf.Emitter(gf.Sphere((0.4, 0.4, 0.4), 0.2))
    source = gf.ParticleSource(emitter)
    with gf.Fluid(gf.Grid((8, 8, 8), 0.1), backend="fragment", ctx=ctx) as fluid:
        made = gf.Particles(ctx, 10_000, [source], life=1.0)
        for n in range(1, 60):
            there = source if switch == "source" else emitter
            there.active = 10 < n <= 14 or n > 40
            made.advance(fluid, 0.05)
            age = made.read()[:, 3]
            born = int(((age >= 0.0) & (age < 0.05)).sum())
            assert abs(born - 500 * there.active) <= 4, n
            lasting = min(max(n - 10, 0), 4) - min(max(n - 30, 0), 4) + max(n - 40, 0)
            assert abs((age >= 0.0).sum() - 500 * lasting) <= 8, n
        made.release()


@pytest.mark.parametrize(
    "shape",
    [
        gf.Sphere((0.4, 0.5, 0.6), 0.3),
        gf.Box((0.4, 0.5, 0.6), (0.6, 0.3, 0.5)),
        gf.Cylinder((0.4, 0.5, 0.6), 0.25, 0.5),
        gf.Capsule((0.2, 0.4, 0.5), (0.6, 0.6, 0.7), 0.15),
    ],
)
def test_particles_are_born_evenly_all_over_a_shape(ctx: moderngl.Context, shape: Any) -> None:
    """Inside it, round its middle, and as far from it as its points are in the mean."""
    rng = np.random.default_rng(2)
    form = shape.form
    local = rng.uniform(-1.0, 1.0, (400_000, 3))
    profile = np.abs(local)
    if form.kind == 1:
        profile = np.stack([np.hypot(local[:, 0], local[:, 2]), profile[:, 1], 0 * profile[:, 0]], -1)
    beyond = np.maximum(profile - form.core, 0.0)
    inside = local[(beyond**2).sum(1) <= form.rounding**2]
    expected = inside @ form.place[:3, :3].T + form.place[:3, 3]
    with gf.Fluid(gf.Grid((16, 16, 16), 0.1), backend="fragment", ctx=ctx) as fluid:
        made = gf.Particles(ctx, 20_000, [shape], life=1.0)
        made.advance(fluid, 1.0)
        state = made.read()
        born = state[state[:, 3] >= 0.0, :3] * 0.1
        made.release()
    assert len(born) == 20_000
    np.testing.assert_allclose(born.mean(0), expected.mean(0), atol=0.006)
    np.testing.assert_allclose(np.cov(born.T), np.cov(expected.T), atol=0.0015)
    back = (born - form.place[:3, 3]) @ form.place[:3, :3]
    reach = np.abs(back)
    if form.kind == 1:
        reach = np.stack([np.hypot(back[:, 0], back[:, 2]), reach[:, 1], 0 * reach[:, 0]], -1)
    assert np.sqrt((np.maximum(reach - form.core, 0.0) ** 2).sum(1)).max() <= form.rounding + 1e-5


def test_particles_are_of_second_order(ctx: moderngl.Context) -> None:
    """On a circle: half the step leaves a quarter of the way off it."""
    with gf.Fluid(gf.Grid((32, 32, 1), 1.0), FREE, backend="fragment", ctx=ctx) as fluid:
        write_velocity(fluid, rotation(1.0, 16.0, 16.0))
        off = []
        for steps in (16, 32, 64):
            made = gf.Particles(ctx, 64, [gf.Sphere((22.0, 16.0, 0.5), 1e-6)], life=1e4)
            made._state[0].write(np.tile(np.array([22.0, 16.0, 0.5, 0.0], "f4"), (64, 1)).tobytes())
            for _ in range(steps):
                made.advance(fluid, 2.0 * np.pi / steps)
            off.append(float(np.linalg.norm(made.read()[0, :2] - (22.0, 16.0))))
            made.release()
    assert 3.3 < off[0] / off[1] < 5.0 and 3.3 < off[1] / off[2] < 5.0 and off[2] < 0.08


def test_rates_and_shares(ctx: moderngl.Context) -> None:
    ball = gf.Sphere((0.4, 0.4, 0.4), 0.1)
    made = gf.Particles(
        ctx,
        1000,
        [gf.ParticleSource(ball, rate=100.0), gf.ParticleSource(ball), gf.ParticleSource(ball, share=3)],
    )
    assert made.numbers() == [200, 200, 600]
    made.sources[0].rate = 600.0
    with pytest.raises(
        gf.GpufluidError, match=r"600 particles per second over a life of 2 s need count=1200"
    ):
        made.check()
    made.sources = made.sources[:1]
    made.sources[0].rate = 50.0
    assert made.numbers() == [100]
    with gf.Fluid(gf.Grid((8, 8, 8), 0.1), backend="fragment", ctx=ctx) as fluid:
        for _ in range(30):
            made.advance(fluid, 0.1)
        assert (made.read()[:, 3] >= 0.0).sum() == 100
        before = made.read()
        made.advance(fluid, 0.0)
        np.testing.assert_array_equal(made.read(), before)
    # places are kept in cells: on another grid all are born anew
    with gf.Fluid(gf.Grid((9, 8, 8), 0.1), backend="fragment", ctx=ctx) as fluid:
        made.advance(fluid, 0.01)
        assert (made.read()[:, 3] >= 0.0).sum() < 5
    made.release()


# -- lines ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", ["walls", "open", "changed", "2d", "solid"])
def test_streamlines_equal_their_twin(ctx: moderngl.Context, case: str) -> None:
    fluid = fluid_of(ctx, case)
    grid = fluid.grid
    seeds = gf.grid_of_seeds(grid.origin, grid.upper, (4, 3, 1 if case == "2d" else 4))
    made = gf.Streamlines(ctx, seeds, points=61, step=0.7)
    made.trace(fluid)
    got = made.read().astype(np.float64)
    assert got.shape == (2 * len(seeds), 61, 4)
    cells = (seeds - grid.origin) / grid.cell_size
    if case == "2d":
        cells[:, 2] = 0.5
    least = 1e-6 * made.last_range[1]
    same = 0
    for half, downstream in enumerate((True, False)):
        expected = twin.streamlines(
            grid,
            variant_of(fluid),
            velocity_of(fluid),
            cells,
            points=61,
            step=0.7,
            least=least,
            downstream=downstream,
            solid=solid_of(fluid),
        )
        lines = got[half * len(seeds) : (half + 1) * len(seeds)]
        for line, wanted in zip(lines, expected, strict=True):
            there = wanted[:, 3] >= 0.0
            # an end that a rounding error moves by a point is none to fail for; whole lines are
            both = there & (line[:, 3] >= 0.0)
            assert abs(int(there.sum()) - int((line[:, 3] >= 0.0).sum())) <= 1
            np.testing.assert_allclose(line[both, :3], wanted[both, :3], atol=5e-3)
            np.testing.assert_allclose(line[both, 3], wanted[both, 3], atol=5e-3)
            same += int(both.sum())
    assert same > 250
    made.release()
    fluid.release()


def test_streamlines_of_a_rotation_close(ctx: moderngl.Context) -> None:
    """Circles, to 1e-3 cells after a whole turn; and equally long steps."""
    with gf.Fluid(gf.Grid((32, 32, 32), 1.0), FREE, backend="fragment", ctx=ctx) as fluid:
        write_velocity(fluid, rotation(0.3, 16.0, 16.0))
        radii = np.array([2.0, 5.0, 9.0, 13.0])
        seeds = np.stack([16.0 + radii, 0 * radii + 16.0, np.array([3.0, 11.0, 16.0, 25.0])], -1)
        made = gf.Streamlines(ctx, seeds, points=200, step=0.5, both=False)
        made.trace(fluid)
        lines = made.read().astype(np.float64)
        made.release()
    assert (lines[..., 3] > 0.0).all()
    distance = np.hypot(lines[..., 0] - 16.0, lines[..., 1] - 16.0)
    np.testing.assert_allclose(distance, np.broadcast_to(radii[:, None], distance.shape), atol=1e-3)
    np.testing.assert_allclose(lines[..., 2], np.broadcast_to(seeds[:, 2:], distance.shape), atol=1e-4)
    np.testing.assert_allclose(lines[..., 3], 0.3 * distance, rtol=1e-4)
    for line, radius in zip(lines, radii, strict=True):
        angle = np.unwrap(np.arctan2(line[:, 1] - 16.0, line[:, 0] - 16.0))
        np.testing.assert_allclose(angle, 0.5 * np.arange(200) / radius, atol=8e-3)


def test_lines_come_in_again_where_the_box_is_periodic(ctx: moderngl.Context) -> None:
    """To the right from the middle: drawn over the whole width of the box, and nowhere beside it."""
    sides = gf.Boundaries(left=gf.Periodic(), right=gf.Periodic())
    with gf.Fluid(gf.Grid((20, 10, 10), 0.1), sides, backend="fragment", ctx=ctx) as fluid:
        write_velocity(fluid, lambda x, y, z: (0 * x + 1.0, 0 * y, 0 * z))
        view = np.eye(4)
        view[:3, 3] = -1.0, -0.5, -5.0
        target = ctx.simple_framebuffer((100, 40))
        for made in (
            gf.Streamlines(ctx, [(1.0, 0.5, 0.5)], points=60, both=False, fade=0.0),
            gf.StreakLines(ctx, [(1.0, 0.5, 0.5)], points=60, fade=0.0),
        ):
            if isinstance(made, gf.StreakLines):
                for _ in range(60):
                    made.advance(fluid, 0.05)
            target.clear()
            made.render(fluid, (view, parallel(2.5, 1.0, 1.0, 9.0)), target)
            drawn = np.frombuffer(target.read(components=3), np.uint8).reshape(40, 100, 3).any(-1)
            columns = np.flatnonzero(drawn.any(0))  # the box: 30 to 70
            assert abs(columns[0] - 30) <= 1 and abs(columns[-1] - 69) <= 1 and len(columns) >= 39
            assert set(np.flatnonzero(drawn.any(1))) <= {18, 19, 20, 21}
            made.release()
        target.release()


def test_streamlines_end_at_solids_and_sides(ctx: moderngl.Context) -> None:
    """Straight up: into the ball, or out of the top."""
    fluid = ball_flow(ctx)
    write_velocity(fluid, lambda x, y, z: (0 * x, 0 * y + 1.0, 0 * z))
    made = gf.Streamlines(
        ctx, [(0.0, 0.1, 0.0), (0.35, 0.1, 0.0), (0.0, 0.55, 0.0), (5.0, 0.0, 0.0)], points=96, both=False
    )
    made.trace(fluid)
    lines = made.read()
    size = fluid.grid.cell_size
    height = [float(line[line[:, 3] >= 0.0, 1].max(initial=0.0)) * size for line in lines]
    assert height[0] == pytest.approx(0.55 - 0.17, abs=1.5 * size)
    assert height[1] == pytest.approx(1.2, abs=1e-4)
    assert (lines[2:, :, 3] == -1.0).all()  # born in the solid; outside the box
    made.release()
    fluid.release()


def test_streak_lines_equal_their_twin(ctx: moderngl.Context) -> None:
    for case in ("walls", "open", "changed", "2d", "solid"):
        fluid = fluid_of(ctx, case)
        grid = fluid.grid
        seeds = gf.grid_of_seeds(
            np.array(grid.origin) + 0.15, np.array(grid.upper) - 0.15, (3, 3, 1 if case == "2d" else 2)
        )
        made = gf.StreakLines(ctx, seeds, points=40)
        variant, velocity, solid = variant_of(fluid), velocity_of(fluid), solid_of(fluid)
        for _ in range(25):
            before = made.read().astype(np.float64)
            made.advance(fluid, 0.04)
            after = made.read().astype(np.float64)
            moved, lost = twin.advance_streaks(
                grid, variant, velocity, before[..., :3].reshape(-1, 3), 0.04, solid
            )
            moved, lost = moved.reshape(before[..., :3].shape), lost.reshape(before.shape[:2])
            there = (before[..., 3] >= 0.0) & ~lost
            apart = np.abs(after[:, 1:, :3] - moved[:, :-1])[there[:, :-1]]
            assert (apart > 1e-3).sum() <= 5e-3 * apart.size
            assert np.mean((after[:, 1:, 3] >= 0.0) != there[:, :-1]) <= 5e-3
        assert (after[..., 3] >= 0.0).sum() > 60
        made.release()
        fluid.release()


def test_streak_lines_of_a_rotation(ctx: moderngl.Context) -> None:
    """What was released t seconds ago has turned by t times the speed, on its circle."""
    with gf.Fluid(gf.Grid((32, 32, 1), 1.0), FREE, backend="fragment", ctx=ctx) as fluid:
        write_velocity(fluid, rotation(0.8, 16.0, 16.0))
        made = gf.StreakLines(ctx, [(24.0, 16.0, 0.5), (16.0, 3.5, 0.5)], points=64)
        for _ in range(64):
            made.advance(fluid, 0.1)
        line = made.read().astype(np.float64)
        assert (line[..., 3] > 0.0).all()
        for points, radius, start in zip(line, (8.0, 12.5), (0.0, -0.5 * np.pi), strict=True):
            angle = np.unwrap(np.arctan2(points[:, 1] - 16.0, points[:, 0] - 16.0))
            np.testing.assert_allclose(angle, start + 0.08 * np.arange(64), atol=1e-4)
            np.testing.assert_allclose(np.hypot(*(points[:, :2] - 16.0).T), radius, atol=1e-3)
        made.release()
        # released at 0, 0.3, 0.6, 0.9 and 1.2 s
        slow = gf.StreakLines(ctx, [(24.0, 16.0, 0.5)], points=8, interval=0.3)
        for _ in range(12):
            slow.advance(fluid, 0.1)
        assert (slow.read()[0, :, 3] >= 0.0).sum() == 5
        slow.release()
        # 4 in each step, at 0, 0.02, 0.04 s ...: each has turned since then
        fine = gf.StreakLines(ctx, [(24.0, 16.0, 0.5)], points=64, interval=0.02)
        for dt in (0.08, 0.05, 0.13, 0.08):
            fine.advance(fluid, dt)
        line = fine.read()[0].astype(np.float64)
        there = line[:, 3] >= 0.0
        assert there.sum() == 18 and there[:18].all()
        angle = np.arctan2(line[:18, 1] - 16.0, line[:18, 0] - 16.0)
        np.testing.assert_allclose(angle, 0.8 * (0.34 - 0.02 * np.arange(17, -1, -1)), atol=1e-4)
        # more than fit: the newest are kept
        few = gf.StreakLines(ctx, [(24.0, 16.0, 0.5)], points=8, interval=0.02)
        few.advance(fluid, 0.34)
        few_line = few.read()[0].astype(np.float64)
        angle = np.arctan2(few_line[:, 1] - 16.0, few_line[:, 0] - 16.0)
        np.testing.assert_allclose(angle, 0.8 * 0.02 * np.arange(8), atol=1e-4)
        fine.release()
        few.release()


# -- arrows --------------------------------------------------------------------------------------------------


def test_arrows_sample_the_velocity(ctx: moderngl.Context) -> None:
    for case in ("walls", "open", "changed", "2d", "solid"):
        fluid = fluid_of(ctx, case)
        made = gf.Glyphs(ctx, spacing=2.5)
        made.sample(fluid)
        (nx, ny, nz), first, spacing = made.lattice(fluid)
        z, y, x = np.meshgrid(*(np.arange(n) for n in (nz, ny, nx)), indexing="ij")
        points = first + spacing * np.stack([x, y, z], -1).reshape(-1, 3)
        assert (points >= 0.0).all() and (points <= fluid.grid.cells).all()
        expected = twin.velocity_at(fluid.grid, variant_of(fluid), velocity_of(fluid), points)
        got = made.read()[: len(points)]
        covered = twin.in_solid(fluid.grid, solid_of(fluid), points)
        assert (got[:, 3] == np.where(covered, 0.0, 1.0)).all()
        np.testing.assert_allclose(got[~covered, :3], expected[~covered], atol=2e-5)
        assert covered.any() == (case == "solid")
        made.release()
        fluid.release()


def test_an_arrow_is_as_long_as_the_speed_says(ctx: moderngl.Context) -> None:
    """From the front, 1 m in 100 pixels: 0.3 m/s at 1.5 m per m/s are 45 pixels, to the right."""
    with gf.Fluid(gf.Grid((10, 10, 1), 0.1), FREE, backend="fragment", ctx=ctx) as fluid:
        write_velocity(fluid, lambda x, y, z: (0 * x + 0.3, 0 * y, 0 * z))
        made = gf.Glyphs(ctx, spacing=10, length=1.5, range=(0.0, 1.0))
        view = np.eye(4)
        view[:3, 3] = -0.5, -0.5, -3.0
        target = ctx.simple_framebuffer((100, 100))
        target.clear()
        made.render(fluid, (view, parallel(0.5, 0.5, 1.0, 5.0)), target)
        drawn = np.frombuffer(target.read(components=3), np.uint8).reshape(100, 100, 3).max(-1) > 20
        columns, rows = np.flatnonzero(drawn.any(0)), np.flatnonzero(drawn.any(1))
        assert abs(columns[0] - 27.5) <= 1.5 and abs(columns[-1] - 71.5) <= 1.5
        heights = drawn.sum(0)
        assert heights[columns[-20:]].max() > 1.8 * heights[columns[2:20]].max()  # the head is on the right
        assert abs(rows.mean() - 49.5) <= 1.0
        made.release()
        target.release()


def test_the_ball_is_where_the_tests_think(ctx: moderngl.Context) -> None:
    """Potential flow: at rest in front of the ball, half as fast again beside it, nothing inside."""
    fluid = ball_flow(ctx, (36, 48, 36))
    velocity = fluid.velocity.at_centers()
    (cx, cy, cz), a, size = BALL.center, BALL.radius, fluid.grid.cell_size
    at = [int((v - o) / size) for v, o in zip((cx, cy, cz), fluid.grid.origin, strict=True)]
    assert np.abs(velocity[at[2], at[1], at[0]]).max() == 0.0
    beside = int((a + size) / size) + at[0]
    assert velocity[at[2], at[1], beside, 1] > 0.52
    fluid.release()
