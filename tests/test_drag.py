"""The force of a flow on bodies of the host's, against closed forms."""

from __future__ import annotations

from typing import Any

import moderngl
import numpy as np
import pytest
from sharing import EVERYWHERE

import gpufluid as gf

OPEN = gf.Boundaries.all(gf.Open())
GRID = gf.Grid((16, 12, 10), 0.1, origin=(-0.8, 0.0, -0.5))
RHO, CD = 1.2, 0.47


@pytest.fixture(params=EVERYWHERE)
def where(request: pytest.FixtureRequest, ctx: moderngl.Context) -> dict[str, Any]:
    """What a fluid is made with for each backend, in the context that the suite shares."""
    return {"backend": request.param, "ctx": None if request.param == "numpy" else ctx}


def wind(where: dict[str, Any], velocity: Any) -> gf.Fluid:
    """A fluid that moves everywhere with `velocity` (x, y, z), or as a function of the height says."""
    fluid = gf.Fluid(GRID, OPEN, gf.Settings(solve_velocity=False, buoyancy=0.0), **where)
    nx, ny, nz = GRID.cells
    u = np.zeros((nz + 1, ny + 1, nx + 1, 3))
    if callable(velocity):
        u[..., 0] = velocity(0.1 * (np.arange(ny + 1) + 0.5))[:, None]
    else:
        u[...] = velocity
    fluid.velocity.write(u)
    return fluid


def test_a_sphere_in_a_wind(where: dict[str, Any]) -> None:
    """F = 1/2 rho Cd A U^2 along the wind; a body as fast as the wind feels none."""
    u, area = np.array((3.0, -1.0, 0.5)), np.pi * 0.1**2
    with wind(where, u) as fluid:
        at = [(0.1, 0.6, 0.0)]
        asked = fluid.forces_on(at, area)
        expected = 0.5 * RHO * CD * area * np.linalg.norm(u) * u
        np.testing.assert_allclose(asked.force, expected, rtol=1e-5)
        np.testing.assert_allclose(np.linalg.norm(asked.force), 0.5 * RHO * CD * area * (u @ u), rtol=1e-5)
        np.testing.assert_allclose(asked.torque, 0.0, atol=1e-9)
        fluid.finish()
        assert asked.ready
        assert np.abs(fluid.forces_on(at, area, u).force).max() < 1e-9
        # twice as fast: it is held back; heavier air and a blunter body feel more
        against = fluid.forces_on(at, area, 2.0 * u, air_density=2.4, drag_coefficient=1.41)
        np.testing.assert_allclose(against.force, -6.0 * expected, rtol=1e-5)
        # cut into parts it feels the same, and outside the box nothing is known
        parts = fluid.forces_on([*at * 4, (9.0, 0.0, 0.0)], [area / 4] * 5)
        np.testing.assert_allclose(parts.force, expected, rtol=1e-5)
        assert parts.parts.shape == (5, 3) and not parts.parts[4].any()


def test_what_it_takes_the_place_of_lifts_it(where: dict[str, Any]) -> None:
    """A balloon of half a cubic metre in air at rest: rho V g, upwards; elsewhere gravity is another."""
    with wind(where, (0.0, 0.0, 0.0)) as fluid:
        lift = fluid.forces_on([(0.0, 0.5, 0.0)], 0.3, volumes=0.5).force
        np.testing.assert_allclose(lift, (0.0, 1.2 * 0.5 * 9.81, 0.0), rtol=1e-6)
        moon = fluid.forces_on([(0.0, 0.5, 0.0)], 0.3, volumes=0.5, gravity=(0.0, 0.0, 1.62)).force
        np.testing.assert_allclose(moon, (0.0, 0.0, -1.2 * 0.5 * 1.62), rtol=1e-6)


def test_a_released_body_takes_up_the_wind() -> None:
    """m dv/dt = k (U - v)^2 from rest: v = U (1 - 1 / (1 + U k t / m)), asked for anew at each step."""
    wind_speed, mass, area, dt = 4.0, 0.02, 0.05, 0.005
    with wind({"backend": "numpy"}, (wind_speed, 0.0, 0.0)) as fluid:
        k, v, told, expected = 0.5 * RHO * CD * area, 0.0, [], []
        for n in range(200):
            half = v + 0.5 * dt * fluid.forces_on([(0.0, 0.5, 0.0)], area, (v, 0.0, 0.0)).force[0] / mass
            v += dt * fluid.forces_on([(0.0, 0.5, 0.0)], area, (half, 0.0, 0.0)).force[0] / mass
            told.append(v)
            expected.append(wind_speed * (1.0 - 1.0 / (1.0 + wind_speed * k * (n + 1) * dt / mass)))
        np.testing.assert_allclose(told, expected, rtol=1e-3)
        assert 0.5 * wind_speed < told[-1] < wind_speed


def test_a_plate_in_shear_is_turned(where: dict[str, Any]) -> None:
    """u = s y on an upright plate: the integrals of 1/2 rho Cd w (s y)^2, and of that times the arm."""
    shear, low, high, width, parts = 5.0, 0.2, 1.0, 0.3, 64
    with wind(where, lambda y: shear * y) as fluid:
        y = low + (np.arange(parts) + 0.5) * (high - low) / parts
        plate = np.stack([0.0 * y, y, 0.0 * y], -1)
        asked = fluid.forces_on(plate, width * (high - low) / parts, drag_coefficient=1.17)
        strength, middle = 0.5 * RHO * 1.17 * width * shear**2, 0.5 * (low + high)
        force = strength * (high**3 - low**3) / 3
        turn = strength * ((high**4 - low**4) / 4 - middle * (high**3 - low**3) / 3)
        np.testing.assert_allclose(asked.force, (force, 0.0, 0.0), rtol=1e-3, atol=1e-6)
        np.testing.assert_allclose(asked.torque, (0.0, 0.0, -turn), rtol=2e-3, atol=1e-6)
        about = fluid.forces_on(
            plate, width * (high - low) / parts, drag_coefficient=1.17, center=(1.0, 0.0, 0.0)
        )
        np.testing.assert_allclose(about.torque[2], -strength * (high**4 - low**4) / 4, rtol=2e-3)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"points": [(1.0, 2.0)]}, r"points must have the shape \[n, 3\]"),
        ({"areas": [1.0, 2.0]}, "areas must be one number or an array of 1"),
        ({"areas": -1.0}, "areas must be finite numbers >= 0"),
        ({"volumes": np.inf}, "volumes must be finite numbers >= 0"),
        ({"velocities": (1.0, 2.0)}, r"velocities must be one velocity \(x, y, z\) or an array"),
        ({"velocities": (np.nan, 0.0, 0.0)}, "velocities must be finite"),
        ({"drag_coefficient": -0.1}, "drag_coefficient must be a finite number >= 0"),
        ({"air_density": "thin"}, "air_density must be a number"),
        ({"center": (0.0, 0.0)}, "center must be three"),
        ({"gravity": 9.81}, "gravity must be three"),
    ],
)
def test_bad_numbers_are_named(given: dict[str, Any], says: str) -> None:
    with wind({"backend": "numpy"}, (1.0, 0.0, 0.0)) as fluid, pytest.raises(gf.GpufluidError, match=says):
        fluid.forces_on(**{"points": [(0.0, 0.5, 0.0)], "areas": 0.1, **given})
