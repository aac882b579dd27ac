"""What flows between cylinders and balls are held to is itself held to closed forms and published numbers.

These run with the other tests.
"""

from __future__ import annotations

import numpy as np
import polar
import pytest
from polar import Gap, passages

PRANDTL, ACROSS = 0.7, 16  # cells; what the cases expect is of 24 and 32
CYLINDERS, BALLS = (0.625, 1.625), (1.0, 2.0)  # the radii of the cases
KUEHN_GOLDSTEIN = {1_000: 1.081, 10_000: 2.010, 50_000: 3.024}  # 1976; heat over what conduction carries
BOTH = pytest.mark.parametrize(("radii", "balls"), [(CYLINDERS, False), (BALLS, True)])


def slow(inner: float, outer: float, balls: bool) -> float:
    """The largest stream function over Ra as Ra goes to 0, of heat that the flow does not carry yet.

    psi = Ra f(r) sin(theta), of balls sin(theta)^2, and f = df / dr = 0 on both walls.
    Cylinders: (d2 / dr2 + d / dr / r - 1 / r^2)^2 f = 1 / (r ln(outer / inner)).
    Balls: (d2 / dr2 - 2 / r^2)^2 f = inner outer / ((outer - inner) r).
    """
    r = np.linspace(inner, outer, 10_001)
    log, one = np.log(r), np.ones_like(r)
    free = [(1.0 / r, -1.0 / r**2), (r, one)]  # solutions without heat, and their derivatives
    if balls:
        free += [(r**2, 2.0 * r), (r**4, 4.0 * r**3)]
        forced = -inner * outer / (outer - inner) / 8.0 * np.array([r**3, 3.0 * r**2])
    else:
        free += [(r * log, log + 1.0), (r**3, 3.0 * r**2)]
        forced = np.array([r**3 * log, 3.0 * r**2 * log + r**2]) / (16.0 * np.log(outer / inner))
    walls = np.array(free)[:, :, [0, -1]].reshape(4, 4).T
    shares = np.linalg.solve(walls, -forced[:, [0, -1]].ravel())
    return float(np.abs(forced[0] + shares @ np.array(free)[:, 0]).max())


@BOTH
def test_without_a_flow_heat_is_conducted(radii: tuple[float, float], balls: bool) -> None:
    still = passages(*radii, [0.0], balls=balls, prandtl=PRANDTL, across=ACROSS)[0.0]
    assert still.given == pytest.approx(1.0, abs=1e-6)
    assert still.taken == pytest.approx(1.0, abs=1e-6)
    assert still.stream < 1e-9


@BOTH
def test_slow_flow_has_a_closed_form(radii: tuple[float, float], balls: bool) -> None:
    flow = passages(*radii, [1.0], balls=balls, prandtl=PRANDTL, across=ACROSS)[1.0]
    assert flow.stream == pytest.approx(slow(*radii, balls), rel=2e-3)


def test_balls_carry_the_vorticity_of_a_rigid_ring() -> None:
    """Flow changes vorticity by stretching its rings only: what grows as the distance from the axis stays."""
    gap = Gap(*BALLS, True, PRANDTL, 64)
    for derivative in gap.of_w:
        changes = np.abs((derivative @ gap.q**2).reshape(gap.shape)[1:-1])
        assert changes.max() < 1e-3 * (gap.q**2).max()


def test_published_numbers_between_cylinders() -> None:
    flows = passages(*CYLINDERS, list(KUEHN_GOLDSTEIN), balls=False, prandtl=PRANDTL, across=ACROSS)
    for rayleigh, heat in KUEHN_GOLDSTEIN.items():
        assert flows[rayleigh].given == pytest.approx(heat, rel=0.03)


@BOTH
def test_what_one_gives_the_other_takes(radii: tuple[float, float], balls: bool) -> None:
    """Nothing in the equations on the mesh sees to it; they are not in the form that conserves heat."""
    for flow in passages(*radii, [1_000.0, 10_000.0], balls=balls, prandtl=PRANDTL, across=ACROSS).values():
        assert flow.taken == pytest.approx(flow.given, rel=5e-3)


def test_where_it_finds_nothing_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polar, "ROUNDS", 1)
    gap = Gap(*CYLINDERS, False, PRANDTL, 8)
    with pytest.raises(RuntimeError, match="no steady flow at Ra = 1000"):
        gap.newton(1_000.0, gap.rest)
