"""Solvers made of sweeps, and conjugate gradients over them.

How few sweeps may start from the last pressure: of a mode of the pressure the solver leaves the share G of
its error. Let a be that mode of the velocity before a projection and q = dt p that of the last pressure:
they become G (a - q) and G q + (1 - G) a. A flow that changes little enters the next projection as it left
this one, so from step to step both are multiplied by the roots of z^2 - 2 G z + G, which lie in the unit
circle for -1/3 <= G <= 1. What turns a mode over by more gathers speed without end: an odd number of Jacobi
sweeps of weight 1 does that to the chessboard, of which they leave -1, and few sweeps of a large omega to all
short waves, of which each leaves 1 - omega. (From pressure 0 a becomes G a, which gathers nothing.)
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from gpufluid.contract.backend import FieldStore
from gpufluid.description.solvers import ChebyshevJacobi, ConjugateGradient, Jacobi, RedBlackSOR
from gpufluid.numerics.multigrid import Hierarchy
from gpufluid.numerics.pressure_problem import PressureProblem

LOOK = 10  # sweeps between two looks at what is left
ROUND = 100  # sweeps of one Chebyshev polynomial at most
# of the residual's squares over their least, past which conjugate gradients stop; 60 is the most seen where
# there is a solution (Gauss-Seidel at 72^3)
GROWTH = {"multigrid": 1e2, "gauss-seidel": 3e3}
LAST = 10.0  # the same of what the last iteration leaves: no other comes that might take it away
# the curvature along a direction of length 1 that rounding alone may give it, in single precision: twice that
# was seen along the constant of a room of a few cells, five times in a closed box of 600 cells in a row
FLAT = 5e-7
ROUNDING = 4.0  # times the relative rounding error: a smaller share of the first residual is noise
# of the tolerance, at which they end: at all of it noise in 48 by 40 cells had 6 times as much in long waves
SURE = 0.1
V_CYCLES = 8  # that stand in for conjugate gradients where there is no solution; they leave 1e-5 and less
LEFT = 0.01  # what such a polynomial leaves of the modes it is made for
TURNED = 0.25  # of a mode's error, the most that a warm start may leave turned over: a third is the limit


def jacobi(rules: Jacobi, problem: PressureProblem) -> None:
    """Sweeps of one weight; from the last pressure the last one damps what they would turn over."""
    weights = jacobi_weights(rules, problem.warm)
    stride = max(LOOK if rules.tolerance is not None else rules.iterations, 1)
    for n in range(0, rules.iterations, stride):
        if problem.done(rules.tolerance):
            return
        problem.sweep(weights[n : n + stride])


def jacobi_weights(rules: Jacobi, warm: bool) -> list[float]:
    """Return the weight of each sweep. warm: they start from the last pressure.

    Of the shortest wave, the chessboard, a sweep leaves 1 - 2 weight: an odd number of them turns it over. A
    last one of 1/2 takes it away, and the even number before it turns nothing over.
    """
    weights = [rules.weight] * rules.iterations
    turns = 2.0 * rules.weight - 1.0  # so much of it is turned over by each; at 1 they never get less
    if warm and rules.iterations % 2 and (turns >= 1.0 or turns**rules.iterations > TURNED):
        weights[-1] = 0.5
    return weights


def chebyshev_jacobi(rules: ChebyshevJacobi, problem: PressureProblem) -> None:
    """Rounds of sweeps whose weights are those of a Chebyshev polynomial."""
    if not rules.iterations:
        return
    rounds = -(-rules.iterations // ROUND)
    for n in range(rounds):
        if problem.done(rules.tolerance):
            return
        count = rules.iterations * (n + 1) // rounds - rules.iterations * n // rounds
        problem.sweep(chebyshev_weights(count))


@lru_cache(maxsize=32)
def chebyshev_weights(count: int) -> tuple[float, ...]:
    """Return the weights of `count` Jacobi sweeps that leave `LEFT` of every mode in [low, 2].

    A sweep of weight w leaves 1 - w x of a mode, x in [0, 2] being 1 less Jacobi's own factor; the product is
    the Chebyshev polynomial of [low, 2] where the 1 / w are its zeros. low is as small as `count` allows.
    The zeros are taken in Leja's order (each farthest from those before), in which no part of the product
    grows: the order in which they come would overflow single precision (Reichel 1991).
    """
    reach = math.acosh(1.0 / LEFT) / count
    ratio = math.cosh(reach)  # (2 + low) / (2 - low)
    low = 2.0 * (ratio - 1.0) / (ratio + 1.0)
    angles = np.pi * (np.arange(count) + 0.5) / count
    zeros = 0.5 * (2.0 + low) - 0.5 * (2.0 - low) * np.cos(angles)
    order = [count - 1]
    distance = np.zeros(count)
    for _ in range(count - 1):
        with np.errstate(divide="ignore"):
            distance += np.log(np.abs(zeros - zeros[order[-1]]))
        order.append(int(np.argmax(distance)))
    return tuple(float(w) for w in 1.0 / zeros[order])


def red_black_sor(rules: RedBlackSOR, problem: PressureProblem) -> None:
    """Sweeps of two half sweeps; few from the last pressure do not relax by more than they may."""
    omega = rules.omega
    if problem.warm and rules.iterations:
        omega = min(omega, 1.0 + TURNED ** (1.0 / rules.iterations))
    halves = [problem.red_black(colour, omega) for colour in (0, 1)]
    for n in range(rules.iterations):
        if n % LOOK == 0 and problem.done(rules.tolerance):
            return
        for half in halves:
            half()


def conjugate_residual(rules: ConjugateGradient, problem: PressureProblem) -> None:
    """Conjugate residuals (Stiefel 1955) for the same correction, preconditioned by a symmetric sweep.

    They make what is left least, where conjugate gradients make the error least. So the part of the residual
    that nothing takes away stays as it is, spread over its room as sweeps leave it, and the lengths are
    bounded: these see only what the operator makes of the sweeps' answer, in which that part is a constant.
    The answer for the residual is carried on by those for the images. They are done with `SURE` of the
    tolerance, of what was left at first by a norm in which long waves count less than in the residual's: what
    the room keeps cannot be told from that.
    """
    change, direction, image, relaxed = map(problem.field, ("change", "direction", "image", "relaxed"))
    left, answer = problem.residual(), problem.field("answer")
    tolerance = max(SURE * (rules.tolerance or 0.0), ROUNDING * problem.backend.single().epsilon)

    def sweep(right: FieldStore) -> None:
        """Put what about takes `right` away into `relaxed`."""
        relaxed.fill([0.0])
        inner = problem.inner(relaxed, right)
        for colour in (0, 1, 0):
            inner.red_black(colour)()

    for field in (change, direction, image, answer):
        field.fill([0.0])
    sweep(left)
    problem.add(answer, relaxed)
    before = first = 0.0
    for n in range(rules.iterations):
        problem.apply(answer, left)
        now, size = problem.dot(answer, left)
        first = max(first, now)
        if not now > max(tolerance**2 * first, FLAT * size):
            break
        turn = now / before if n else 0.0
        problem.add(direction, answer, own=turn)
        problem.add(image, left, own=turn)
        sweep(image)
        length = now / problem.dot(image, relaxed)[0]
        problem.add(change, direction, length)
        problem.add(answer, relaxed, -length)
        before = now
    problem.add(problem.pressure, change, -1.0)


def conjugate_gradient(rules: ConjugateGradient, problem: PressureProblem, hierarchy: Hierarchy) -> None:
    """Conjugate gradients for the correction that takes the residual away.

    A V-cycle is no symmetric preconditioner, so each direction is made conjugate to the one before it by what
    the residual has changed (Polak & Ribiere 1969; Notay 2000), not by its size. Everything but the pressure
    is in single precision, whatever the settings say.

    Gas that expands in a room without a way out leaves no solution: once all else is solved for, directions
    go along that room's constant, without a curvature, and the lengths and the residual grow without end.
    V-cycles, or conjugate residuals where there are none, which such a room does not disturb, then solve for
    the others.
    """
    residual = problem.residual()
    change, direction, image, relaxed = map(problem.field, ("change", "direction", "image", "relaxed"))
    inner = problem.inner(relaxed, residual)
    finest = hierarchy.prepare(inner) if rules.preconditioner == "multigrid" else None
    halves = [inner.red_black(colour) for colour in (0, 1, 0)] if finest is None else []
    change.fill([0.0])
    before = length = first = 0.0
    least = math.inf  # of the residual's squares

    def precondition() -> None:
        """Put what about takes the residual away into `relaxed`."""
        relaxed.fill([0.0])
        if finest is not None:
            finest.load()
            hierarchy.cycle(finest, 1, first=True)
            finest.store()
        else:
            for half in halves:
                half()

    def go_on_otherwise() -> None:
        """Solve for what has a solution."""
        if finest is None:
            conjugate_residual(rules, problem)
            return
        for _ in range(min(rules.iterations, V_CYCLES)):
            problem.residual()
            precondition()
            problem.add(problem.pressure, relaxed, -1.0)

    for n in range(rules.iterations + 1):
        ends = n == rules.iterations
        if not ends:
            precondition()
        now, squares = problem.dot(residual, relaxed)
        if rules.tolerance is not None and problem.share(squares) <= rules.tolerance:
            break
        if not squares <= (LAST if ends else GROWTH[rules.preconditioner]) * least:
            go_on_otherwise()
            return
        if ends:
            break
        least = min(least, squares)
        first = max(first, squares)
        # past what the numbers can tell rounding alone is left, whose constant part no direction removes
        if not now > 0.0 or squares <= (ROUNDING * inner.backend.epsilon) ** 2 * first:
            break
        turn = -length * problem.dot(image, relaxed)[0] / before if n else 0.0
        problem.add(direction, relaxed, own=turn)
        problem.apply(direction, image)
        curvature, size = problem.dot(direction, image)
        if not curvature > FLAT * size:
            go_on_otherwise()
            return
        length = problem.dot(residual, direction)[0] / curvature
        problem.add(change, direction, length)
        problem.add(residual, image, -length)
        before = now
    problem.add(problem.pressure, change, -1.0)
