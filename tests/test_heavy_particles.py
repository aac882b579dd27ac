"""Particles that take their time to go with the air, fall and bounce, against closed forms; streaks."""

from __future__ import annotations

import math
from typing import Any

import moderngl
import numpy as np
import pytest
from numpy.typing import NDArray

import gpufluid as gf
from gpufluid.gl.device import let_go

WALLS = gf.Boundaries.all(gf.Wall(slip="free"))
SPOT = gf.Sphere((4.0, 6.0, 4.0), 1e-6)


@pytest.fixture
def still(ctx: moderngl.Context) -> Any:
    """Air at rest, 8 x 16 x 8 m."""
    with gf.Fluid(gf.Grid((8, 16, 8), 1.0), WALLS, backend="fragment", ctx=ctx) as fluid:
        yield fluid


def flight(made: gf.Particles, fluid: gf.Fluid, steps: int, dt: float) -> NDArray[np.float64]:
    """Places (m) and velocities (m/s) of the first particle from birth on, after each step, [steps, 6]."""
    put(made, (4.0, 6.0, 4.0))
    out = []
    for _ in range(steps):
        made.advance(fluid, dt)
        out.append([*made.read()[0, :3] * fluid.grid.cell_size, *made.read_velocity()[0]])
    return np.array(out)


def put(made: gf.Particles, place: tuple[float, float, float]) -> None:
    """Have all particles at `place`, cells, with the velocity of their source."""
    start = *(made.sources[0].velocity or (0.0, 0.0, 0.0)), 0.0
    for texture, value in ((made._state[0], (*place, 0.0)), (made._paces[0], start)):
        texture.write(np.tile(np.array(value, "f4"), (texture.width * texture.height, 1)).tobytes())


def test_falling_through_air_at_rest(ctx: moderngl.Context, still: gf.Fluid) -> None:
    """Stokes' drag: v = -fall (1 - exp(-t / response)), whatever the step."""
    for dt, steps in ((0.01, 60), (0.2, 3)):
        made = gf.Particles(ctx, 4, [SPOT], life=1e4, response=0.25, fall=2.0)
        path, t = flight(made, still, steps, dt), dt * np.arange(1, steps + 1)
        late = 1.0 - np.exp(-t / 0.25)
        np.testing.assert_allclose(path[:, 4], -2.0 * late, atol=1e-5)
        np.testing.assert_allclose(path[:, 1], 6.0 - 2.0 * (t - 0.25 * late), atol=1e-4)
        np.testing.assert_allclose(path[:, [0, 2]], 4.0, atol=1e-5)
        made.release()


def test_none_has_a_velocity_before_it_is_born(ctx: moderngl.Context, still: gf.Fluid) -> None:
    """Whatever the memory held that it is kept in, and after a reset too."""
    made = gf.Particles(ctx, 3, [gf.ParticleSource(SPOT, velocity=(1.0, 6.0, -0.5))], life=3.0, response=1e4)
    assert not made.read_velocity().any()
    made.advance(still, 2.5)
    assert made.read_velocity().any(axis=1).sum() == 2  # the third waits for its turn
    made.reset()
    assert not made.read_velocity().any()
    made.release()


def test_what_is_heavy_flies_a_parabola(ctx: moderngl.Context, still: gf.Fluid) -> None:
    source = gf.ParticleSource(SPOT, velocity=(1.0, 6.0, -0.5))
    made = gf.Particles(ctx, 4, [source], life=1e4, response=1e4, fall=9.81e4)
    path, t = flight(made, still, 60, 1 / 60), np.arange(1, 61) / 60
    np.testing.assert_allclose(path[:, 1], 6.0 + 6.0 * t - 0.5 * 9.81 * t**2, atol=5e-4)
    np.testing.assert_allclose(path[:, 0], 4.0 + t, atol=2e-4)
    np.testing.assert_allclose(path[:, 5], -0.5, atol=2e-4)
    made.release()


def test_wind_takes_particles_along(ctx: moderngl.Context) -> None:
    """Of a wind of 3 m/s a particle has taken up all but exp(-t / response)."""
    sides = gf.Boundaries.all(gf.Periodic())
    with gf.Fluid(gf.Grid((8, 8, 8), 1.0), sides, backend="fragment", ctx=ctx) as fluid:
        velocity = fluid.velocity.read()
        velocity[..., 0] = 3.0
        fluid.velocity.write(velocity)
        made = gf.Particles(ctx, 4, [SPOT], life=1e4, response=0.5)
        path, t = flight(made, fluid, 40, 0.05), 0.05 * np.arange(1, 41)
        late = 1.0 - np.exp(-t / 0.5)
        np.testing.assert_allclose(path[:, 3], 3.0 * late, atol=1e-5)
        np.testing.assert_allclose(path[:, 0], (4.0 + 3.0 * (t - 0.5 * late)) % 8.0, atol=5e-5)
        made.release()
        # what responds at once has all of it from birth, and falls through it
        made = gf.Particles(ctx, 4, [SPOT], life=1e4, fall=1.0)
        np.testing.assert_allclose(flight(made, fluid, 5, 0.05)[:, 3:], [(3.0, -1.0, 0.0)] * 5, atol=1e-6)
        made.release()


def test_the_way_through_a_vortex_is_of_second_order(ctx: moderngl.Context) -> None:
    """In a solid rotation, whose ways solve a linear equation: half the step, a quarter of the error."""
    response, turn = 0.3, 1.5
    spin = np.array([[0.0, -turn], [turn, 0.0]])
    rate = np.block([[np.zeros((2, 2)), np.eye(2)], [spin / response, -np.eye(2) / response]])
    values, modes = np.linalg.eig(rate)
    start = np.linalg.solve(modes, np.array([2.0, 0.0, 0.0, 0.0], complex))
    exact = (modes @ (np.exp(values * 2.0) * start)).real[:2]
    with gf.Fluid(gf.Grid((32, 32, 1), 1.0), WALLS, backend="fragment", ctx=ctx) as fluid:
        velocity = fluid.velocity.read()
        velocity[..., 0] = -turn * (np.arange(33)[:, None] + 0.5 - 16.0)
        velocity[..., 1] = turn * (np.arange(33)[None, :] + 0.5 - 16.0)
        fluid.velocity.write(velocity)
        off = []
        for steps in (10, 20, 40):
            made = gf.Particles(ctx, 4, [gf.Sphere((16.0, 16.0, 0.5), 1e-6)], life=1e4, response=response)
            put(made, (18.0, 16.0, 0.5))
            for _ in range(steps):
                made.advance(fluid, 2.0 / steps)
            off.append(float(np.linalg.norm(made.read()[0, :2] - 16.0 - exact)))
            made.release()
    assert 3.3 < off[0] / off[1] < 5.0 and 3.3 < off[1] / off[2] < 5.0 and off[2] < 0.02


@pytest.mark.parametrize("bounce", [0.0, 0.5, 1.0])
def test_what_falls_on_the_floor_bounces(ctx: moderngl.Context, still: gf.Fluid, bounce: float) -> None:
    """Thrown back with that share of the speed it rises to its square of the height."""
    made = gf.Particles(ctx, 4, [SPOT], life=1e4, response=1e4, fall=1e5, bounce=bounce)
    path, dt = flight(made, still, 600, 0.004), 0.004
    hit = int(np.argmax(path[:, 1] < 0.05))
    assert hit * dt == pytest.approx(math.sqrt(2.0 * 6.0 / 10.0), abs=0.01)
    top = path[hit:, 1].max()
    assert top == pytest.approx(6.0 * bounce**2, abs=0.1)
    if bounce == 0.0:
        np.testing.assert_allclose(
            path[hit + 1 :, 4], 0.0, atol=0.09
        )  # what it gains in a step it loses again
    made.release()


def test_what_falls_on_a_solid_stays_outside(ctx: moderngl.Context) -> None:
    with gf.Fluid(gf.Grid((16, 24, 16), 0.5), WALLS, backend="fragment", ctx=ctx) as fluid:
        fluid.obstacles.add(gf.Obstacle(gf.Box((4.0, 2.0, 4.0), (4.0, 2.0, 4.0))))  # its top at 3 m
        fluid.step(1e-3)
        rain = gf.Box((4.0, 8.0, 4.0), (3.0, 0.5, 3.0))
        made = gf.Particles(ctx, 500, [rain], life=1e4, response=0.5, fall=8.0)
        state = np.zeros((500, 4), "f4")
        state[:, :3] = np.random.default_rng(0).uniform((5.0, 15.0, 5.0), (11.0, 17.0, 11.0), (500, 3))
        made._state[0].write(state.tobytes())
        for _ in range(80):
            made.advance(fluid, 0.05)
        place, pace = made.read(), made.read_velocity()
        assert (place[:, 3] > 3.9).all()  # none was lost
        assert place[:, 1].min() >= 6.0 and place[:, 1].max() < 7.1  # cells; they lie on it
        assert np.abs(pace).max() < 0.9  # what gravity, 16 m/s^2, gives in a step
        made.release()


def test_diameters_vary_and_with_them_how_fast_particles_fall(ctx: moderngl.Context, still: gf.Fluid) -> None:
    made = gf.Particles(ctx, 2048, [SPOT], life=1e4, fall=0.5, vary=0.6)
    flight(made, still, 1, 0.1)
    diameters = np.sqrt(-made.read_velocity()[:, 1] / 0.5)
    assert np.histogram(diameters, 8, (0.4, 1.6))[0].tolist() == pytest.approx([256] * 8, abs=12)
    made.release()


def test_velocities_at_birth_fill_a_ball(ctx: moderngl.Context, still: gf.Fluid) -> None:
    source = gf.ParticleSource(SPOT, velocity=(0.0, 2.0, 0.0), spread=1.0)
    made = gf.Particles(ctx, 4000, [source], life=0.1, response=1e6)
    made.advance(still, 0.1)
    made.advance(still, 1e-4)
    pace = made.read_velocity()[made.read()[:, 3] >= 0.0].astype(float) - (0.0, 2.0, 0.0)
    length = np.linalg.norm(pace, axis=1)
    assert len(pace) > 3900 and length.max() <= 1.0 + 1e-5
    assert np.abs(pace.mean(0)).max() < 0.04
    assert np.histogram(length**3, 5, (0, 1))[0].tolist() == pytest.approx([len(pace) / 5] * 5, rel=0.12)
    made.release()


def picture(ctx: moderngl.Context, made: gf.Particles, fluid: gf.Fluid) -> NDArray[np.float32]:
    """A picture of 200 x 200, [row, column, 4], from the front, 25 pixels a metre."""
    target = ctx.framebuffer([ctx.texture((200, 200), 4, dtype="f4")])
    target.clear()
    projection, view = np.diag([2 / 8.0, 2 / 8.0, -2 / 200.0, 1.0]), np.eye(4)
    view[:3, 3] = -4.0, -6.0, -50.0
    made.render(fluid, (view, projection), target)
    image = np.frombuffer(target.read(components=4, dtype="f4"), np.float32).reshape(200, 200, 4)
    texture = target.color_attachments[0]
    let_go(target, texture)
    return image


def test_streaks_are_as_long_as_the_way(ctx: moderngl.Context, still: gf.Fluid) -> None:
    source = gf.ParticleSource(SPOT, velocity=(3.0, 4.0, 0.0), color=(1, 0, 0), last_color=(0, 0, 1))
    made = gf.Particles(ctx, 1, [source], life=1.0, response=1e6, size=6.0, opacity=1.0, streak=0.4)
    for _ in range(31):  # the first particle waits for a life
        made.advance(still, 0.05)
    age, spent = float(made.read()[0, 3]), made.time % 1.0
    assert age > 0.4
    image = picture(ctx, made, still)
    rows, columns = np.nonzero(image[..., :3].sum(-1) > 0.02)
    head = made.read()[0, :2].astype(float)
    ends = [(columns.min(), rows.min()), (columns.max(), rows.max())]
    at = [100 + 25.0 * (head - (4.0, 6.0) - back * np.array([3.0, 4.0])) for back in (0.4, 0.0)]
    np.testing.assert_allclose(ends, at, atol=3.5)  # and half of its breadth
    # as bright along all of it, in a colour that goes from the first to the last
    middle, quarter = (tuple(np.round(at[1] + s * (at[0] - at[1])).astype(int)) for s in (0.5, 0.25))
    np.testing.assert_allclose(image[middle[1], middle[0], :3], image[quarter[1], quarter[0], :3], rtol=0.2)
    red, _, blue = image[middle[1], middle[0], :3]
    assert blue / (red + blue) == pytest.approx(spent, abs=2e-3)
    # what was just born has come no further
    made.advance(still, 1.0 - spent + 0.05)
    image = picture(ctx, made, still)
    assert 25.0 * 5.0 * 0.04 < np.ptp(np.nonzero(image[..., 0] + image[..., 2] > 0.02)[0]) < 25.0 * 4.0 * 0.15
    made.release()


@pytest.mark.parametrize("streak", [0.0, 0.4])
@pytest.mark.parametrize("size", [0.6, 1.5, 3.0])
def test_small_particles_do_not_twinkle(
    ctx: moderngl.Context, still: gf.Fluid, size: float, streak: float
) -> None:
    """However a particle lies among the pixels they get all of its light, which is that of its area."""
    source = gf.ParticleSource(SPOT, color=(1.0, 1.0, 1.0))
    made = gf.Particles(
        ctx, 1, [source], life=1.0, response=1e6, size=size, blend="additive", opacity=1.0, streak=streak
    )
    made.time = 0.5  # half of its life is over: it neither comes nor goes
    random, light = np.random.default_rng(5), []
    for turn, *off in random.uniform(-0.5, 0.5, (30, 3)):
        angle = 2.0 * np.pi * turn
        for texture, values in (
            (made._state[0], (4.0 + off[0] / 25.0, 6.0 + off[1] / 25.0, 4.0, 0.5)),
            (made._paces[0], (np.cos(angle), np.sin(angle), 0.0, 0.0)),
        ):
            texture.write(np.array(values, "f4").tobytes())
        light.append(picture(ctx, made, still)[..., 0].sum())
    radius, length = 0.5 * size, 25.0 * streak  # pixels
    # the integral of (1 - r^2)^2 over a disc, and over each unit of a strip
    area = np.pi / 3.0 * radius**2 + 16.0 / 15.0 * radius * length
    np.testing.assert_allclose(light, area, rtol=0.12)
    assert np.mean(light) == pytest.approx(area, rel=0.02)
    made.release()


def test_diameters_are_seen(ctx: moderngl.Context, still: gf.Fluid) -> None:
    made = gf.Particles(ctx, 1, [SPOT], life=1.0, size=20.0, opacity=1.0)
    made.advance(still, 0.9)
    made.advance(still, 0.5)  # the first particle waits for a life
    widths = []
    for vary in (0.0, 0.9):
        made.vary = vary
        widths.append(np.ptp(np.nonzero(picture(ctx, made, still)[..., 0] > 0.0)[1]) + 1)
    assert widths[0] == pytest.approx(20, abs=1) and widths[1] == pytest.approx(
        2, abs=1
    )  # the first has 1 - vary
    made.release()


def test_bad_values_are_told(ctx: moderngl.Context) -> None:
    for given, message in (
        ({"response": -1.0}, r"Particles.response must be a finite number >= 0"),
        ({"fall": math.nan}, r"Particles.fall must be a finite number"),
        ({"bounce": 1.5}, r"Particles.bounce must lie in 0 .. 1, got 1.5"),
        ({"vary": -0.5}, r"Particles.vary must lie in 0 .. 1, got -0.5"),
        ({"streak": -0.1}, r"Particles.streak must be a finite number >= 0"),
    ):
        with pytest.raises(gf.GpufluidError, match=message):
            gf.Particles(ctx, 10, [SPOT], **given)
        with pytest.raises(gf.GpufluidError, match=message.split(" ")[0].replace("s.", "sView.")):
            gf.ParticlesView(10, [gf.ParticleSource(SPOT)], **given)
    for source in (gf.ParticleSource(SPOT, velocity=(0, 1, 0)), gf.ParticleSource(SPOT, spread=1.0)):
        for make in (lambda s: gf.Particles(ctx, 10, [s]), lambda s: gf.ParticlesView(10, [s])):
            with pytest.raises(gf.GpufluidError, match=r"\.response must be > 0 s where ParticleSource"):
                make(source)
    with pytest.raises(gf.GpufluidError, match=r"ParticleSource.last_color must be \(r, g, b\)"):
        gf.ParticleSource(SPOT, last_color=(2, 0, 0))
    with pytest.raises(gf.GpufluidError, match=r"ParticleSource.spread must be a finite number >= 0"):
        gf.ParticleSource(SPOT, spread=-1)
