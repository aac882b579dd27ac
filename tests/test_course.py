"""How many passes a step of finite volumes takes, and how far each goes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpufluid.numerics.course import FARTHEST, MOST_PARTS, course_of

CELLS = st.floats(0.0, 100.0)


def least_fluid(parts: int, taken: float, stray: float, ends: bool) -> float:
    """What a cell may be left with: each part takes `taken` at most, after others that have left `stray`."""
    return 1.0 - taken / parts - (0.0 if ends else (parts - 1) / parts * stray)


@given(CELLS, st.floats(0.0, 25.0), st.floats(0.0, 25.0), CELLS, st.integers(2, 3), st.integers(0, 1))
def test_each_axis_carries_all_the_way_and_some_fluid_is_left(
    crossed: float, taken: float, stray: float, differs: float, dimensions: int, turn: int
) -> None:
    stray = min(stray, taken)  # all axes together are among what is taken
    course = course_of(crossed, taken, stray, differs, dimensions, turn)
    shares, ends = np.zeros(dimensions), [end for _, _, end in course.passes]
    for axis, share, _ in course.passes:
        shares[axis] += share
    np.testing.assert_allclose(shares, 1.0)
    assert ends[-1] and sum(ends) in (1, course.parts)
    apart = sum(ends) == course.parts
    left = least_fluid(course.parts, taken, stray, apart)
    assert left >= 0.1 - 1e-12
    for _, share, _ in course.passes:  # cells that hold so little are all that a flow crosses
        assert course.reach + 1 >= share * crossed / left - 1e-9
        assert course.further >= share * crossed / left / max(crossed, 1e-300) / 2.0 - 1e-9
    assert [axis for axis, _, _ in course.passes][:dimensions] == list(range(dimensions))[:: 1 - 2 * turn]


def test_steps_have_no_more_passes_than_they_need() -> None:
    """A wind is carried far at once; what turns it in halves, of which the middle one is one pass."""
    assert course_of(20.0, 0.0, 0.0, 0.0).passes == [(0, 1.0, False), (1, 1.0, False), (2, 1.0, True)]
    assert len(course_of(0.9, 0.8, 0.0, 1.5).passes) == 3
    halves = course_of(1.1, 0.8, 0.0, 0.4, turn=1)
    assert halves.passes == [
        (2, 0.5, False),
        (1, 0.5, False),
        (0, 1.0, False),
        (1, 0.5, False),
        (2, 0.5, True),
    ]
    assert len(course_of(4.9, 1.6, 0.02, 3.0).passes) == 5


def test_slow_flows_take_no_whole_cell() -> None:
    assert course_of(0.5, 0.45, 0.01, 0.4).reach == 0
    assert course_of(0.5, 0.55, 0.01, 0.4).reach == 1


def test_where_fluid_is_left_over_each_part_ends() -> None:
    """What gas that swells leaves of an amount must not pile up until the last part."""
    ends = [end for _, _, end in course_of(3.0, 1.6, 0.9, 2.0).passes]
    assert ends == [False, False, True] * 2


def test_what_goes_too_far_is_carried_less_far() -> None:
    course = course_of(3000.0, 20.0, 0.0, 10.0)
    assert course.parts == MOST_PARTS
    shares = sum(share for axis, share, _ in course.passes if axis == 0)
    assert shares * 3000.0 == pytest.approx(MOST_PARTS * FARTHEST)


@pytest.mark.parametrize(
    ("crossed", "differs", "parts"), [(3.0, 0.29, 1), (6.0, 0.29, 2), (5.0, 6.0, 3), (6.0, 9.0, 4)]
)
def test_the_farther_flows_go_that_differ_the_more_parts(crossed: float, differs: float, parts: int) -> None:
    """Though no axis takes much from a cell: what one has brought elsewhere, the next takes another way."""
    assert course_of(crossed, 0.5, 0.0, differs).parts == parts


@pytest.mark.parametrize("wrong", [math.nan, math.inf])
@pytest.mark.parametrize("which", range(4))
def test_by_what_is_no_number_nothing_is_carried(which: int, wrong: float) -> None:
    given = [1.5, 0.5, 0.0, 0.5]
    given[which] = wrong
    course = course_of(*given)
    assert course.passes == [(0, 0.0, False), (1, 0.0, False), (2, 0.0, True)]
    assert (course.reach, course.parts, course.further) == (0, 1, 0.0)
