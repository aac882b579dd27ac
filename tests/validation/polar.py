"""Steady convection between two cylinders or two balls about one middle, by Newton's method on a polar mesh.

Nothing of it is the engine's: it gives what the engine's tests expect. The inner one is warm (T = 1), the
outer one cold (T = 0). Lengths are in gaps, times in gap^2 / kappa; Ra = g beta (difference of T) gap^3 / (nu
kappa), Pr = nu / kappa. With xi = ln r, theta from the top, n = 0 for cylinders and 1 for balls (then psi is
Stokes's stream function), q = (r sin theta)^n, w = q * vorticity, and indices for derivatives:

    velocity = (psi_theta, -psi_xi) / (r q)
    psi_xixi - n psi_xi + psi_thetatheta - n cot(theta) psi_theta = -r^2 w
    (psi_theta (w_xi - 2 n w) - psi_xi (w_theta - 2 n cot(theta) w)) / q
        = Pr (w_xixi - n w_xi + w_thetatheta - n cot(theta) w_theta)
          - Ra Pr r q (sin(theta) T_xi + cos(theta) T_theta)
    (psi_theta T_xi - psi_xi T_theta) / q = T_xixi + n T_xi + T_thetatheta + n cot(theta) T_theta

Differences are central, of second order. In xi nodes lie on the walls, in theta in the middle of cells, of
which half the ring is solved: beyond its ends fields go on mirrored, psi and w of cylinders with their sign
changed. On a wall psi = psi_xi = 0, so r^2 w = -psi_xixi = -(8 psi_1 - psi_2) / (2 dxi^2) with the two nodes
beside it, of second order too (Jensen 1959). No flow carries heat there, so T_xixi = -n T_xi, and T_xi = (8
T_1 - T_2 - 7 T_0) / (6 dxi - 2 n dxi^2) to the third order; dxi < 0 at the outer wall.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import spsolve

START, FACTOR = 500.0, 2.0  # the Ra that is solved first, from rest, and how many times it then grows at most
ROUNDS, CHANGE = 20, 1e-8  # of Newton's method: at most so many, until T changes by no more than this


@dataclass(frozen=True)
class Passage:
    """A steady flow: heat that the inner one gives and the outer one takes, over what conduction would carry.

    stream: the largest stream function, over kappa (cylinders) or kappa times the gap (balls).
    """

    given: float
    taken: float
    stream: float


def derivatives(count: int, width: float, mirrored: float) -> tuple[Any, Any]:
    """The first and second one, [count, count], where beyond an end lies `mirrored` times what is at it."""
    first = sparse.diags_array([-1.0, 1.0], offsets=[-1, 1], shape=(count, count)).tolil()
    second = sparse.diags_array([1.0, -2.0, 1.0], offsets=[-1, 0, 1], shape=(count, count)).tolil()
    for end, side in ((0, -1.0), (count - 1, 1.0)):
        first[end, end] = side * mirrored
        second[end, end] += mirrored
    return first.tocsr() / (2.0 * width), second.tocsr() / width**2


def crossed(field: np.ndarray, of_field: Sequence[Any], of_other: Sequence[Any]) -> Any:
    """The matrix that makes field_xi g_theta - field_theta g_xi of another field g."""
    along, around = (sparse.diags_array(derivative @ field) for derivative in of_field)
    return along @ of_other[1] - around @ of_other[0]


class Gap:
    """The equations on `across` cells from wall to wall and twice as many from the top to the bottom.

    A state is psi, w and T, each [across + 1, 2 across], flat; `rest` is conduction without a flow.
    """

    def __init__(self, inner: float, outer: float, balls: bool, prandtl: float, across: int) -> None:
        n, self.shape, self.prandtl = float(balls), (across + 1, 2 * across), prandtl
        dxi, dtheta = np.log(outer / inner) / across, 0.5 * np.pi / across
        radii, angles = inner * np.exp(dxi * np.arange(across + 1)), dtheta * (np.arange(2 * across) + 0.5)
        self.r, theta = np.repeat(radii, 2 * across), np.tile(angles, across + 1)
        self.q = (self.r * np.sin(theta)) ** n
        self.wall = np.repeat([1.0, *[0.0] * (across - 1), 1.0], 2 * across)

        rows, columns, one = (sparse.eye_array(size) for size in (*self.shape, len(theta)))
        xi, xi_xi = (sparse.kron(a, columns) for a in derivatives(across + 1, dxi, 0.0))  # wrong on walls
        even = [sparse.kron(rows, a) for a in derivatives(2 * across, dtheta, 1.0)]
        signed = [sparse.kron(rows, a) for a in derivatives(2 * across, dtheta, 2.0 * n - 1.0)]
        cot, sin, cos = (sparse.diags_array(a) for a in (n / np.tan(theta), np.sin(theta), np.cos(theta)))
        self.of_psi, self.of_t = (xi, signed[0]), (xi, even[0])
        self.of_w = xi - 2.0 * n * one, signed[0] - 2.0 * cot
        self.stokes = xi_xi - n * xi + signed[1] - cot @ signed[0]
        self.laplace = xi_xi + n * xi + even[1] + cot @ even[0]
        self.lift = sparse.diags_array(self.r * self.q) @ (sin @ xi + cos @ even[0])
        beside = sparse.lil_array((across + 1, across + 1))
        beside[0, 1] = beside[-1, -2] = 8.0 / (2.0 * dxi**2)
        beside[0, 2] = beside[-1, -3] = -1.0 / (2.0 * dxi**2)
        self.jensen = sparse.kron(beside, columns)

        profile = 1.0 / radii if balls else -np.log(radii)  # of T, but for a factor and a constant
        span, slopes = profile[0] - profile[-1], -(radii[[0, -1]] ** -n)
        still = np.repeat((profile - profile[-1]) / span, 2 * across)
        self.rest = np.concatenate([0.0 * still, 0.0 * still, still])
        way, parts = dxi * np.array([1.0, -1.0]), np.sin(angles) ** n  # parts of the wall
        self.shares = parts / parts.sum() / ((6.0 * way - 2.0 * n * way**2) * slopes / span)[:, None]

    def newton(self, rayleigh: float, state: np.ndarray) -> np.ndarray:
        """The steady state near `state`. Raises RuntimeError where it finds none."""
        wall, inside, r2 = map(sparse.diags_array, (self.wall, 1.0 - self.wall, self.r**2))
        flow, pr = sparse.diags_array((1.0 - self.wall) / self.q), self.prandtl
        held = self.wall * self.rest.reshape(3, -1)[2]
        for _ in range(ROUNDS):
            psi, w, t = state.reshape(3, -1)
            carried_w, carried_t = (-flow @ crossed(psi, self.of_psi, of) for of in (self.of_w, self.of_t))
            pulled_w, pulled_t = (
                flow @ crossed(a, of, self.of_psi) for a, of in ((w, self.of_w), (t, self.of_t))
            )
            of_w = carried_w - pr * inside @ self.stokes + wall @ r2
            matrix = [
                [inside @ self.stokes + wall, inside @ r2, None],
                [pulled_w + self.jensen, of_w, rayleigh * pr * inside @ self.lift],
                [pulled_t, None, carried_t - inside @ self.laplace + wall],
            ]
            known = np.concatenate([0.0 * psi, carried_w @ w, carried_t @ t + held])
            state = spsolve(sparse.block_array(matrix, format="csc"), known)
            if np.abs(state.reshape(3, -1)[2] - t).max() <= CHANGE:
                return state
        raise RuntimeError(f"Newton's method finds no steady flow at Ra = {rayleigh:g}")

    def numbers(self, state: np.ndarray) -> list[float]:
        """What a Passage holds, of `state`; psi is largest on parabolas through its largest node."""
        psi, _, t = state.reshape(3, *self.shape)
        slopes = np.stack([8.0 * a[1] - a[2] - 7.0 * a[0] for a in (t, t[::-1])])
        size = np.pad(np.abs(psi), 1)
        i, j = np.unravel_index(size.argmax(), size.shape)
        lines = ((size[i - 1, j], size[i + 1, j]), (size[i, j - 1], size[i, j + 1]))
        top = sum((a - b) ** 2 / (8.0 * (2.0 * size[i, j] - a - b)) for a, b in lines if size[i, j] > 0.0)
        return [*(self.shares * slopes).sum(1), size[i, j] + top]


def passages(
    inner: float, outer: float, rayleighs: Sequence[float], *, balls: bool, prandtl: float, across: int
) -> dict[float, Passage]:
    """The steady flow at each of `rayleighs`, between the radii `inner` and `outer`, which differ by 1.

    Extrapolated from `across` and twice as many cells (Richardson, second order). Raises RuntimeError where
    Newton's method finds no flow.
    """
    found: list[list[float]] = []
    for cells in (across, 2 * across):
        gap, now = Gap(inner, outer, balls, prandtl, cells), -1.0
        state = gap.rest
        for rayleigh in sorted(rayleighs):
            while now < rayleigh:  # little by little: Newton's method must begin near what it looks for
                now = min(rayleigh, max(START, FACTOR * now))
                state = gap.newton(now, state)
            found.append(gap.numbers(state))
    coarse, fine = np.split(np.array(found), 2)
    numbers = ((4.0 * fine - coarse) / 3.0).tolist()
    return {ra: Passage(*row) for ra, row in zip(sorted(rayleighs), numbers, strict=True)}
