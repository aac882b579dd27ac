"""Values over time: keyframes and formulas."""

from __future__ import annotations

import itertools
import math
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gpufluid as gf
from gpufluid.description.keyframes import Formula, Keys


def test_keys_pass_through_their_values() -> None:
    keys = [[0.0, 1.0], [2.0, 5.0], [3.0, -1.0]]
    for ease, middle in (("linear", 3.0), ("smooth", 3.0), ("step", 1.0)):
        track = Keys(keys, ease)
        assert [track.at(t) for t in (-1.0, 0.0, 2.0, 3.0, 9.0)] == [1.0, 1.0, 5.0, -1.0, -1.0]
        assert track.at(1.0) == pytest.approx(middle)
    assert Keys(keys, "smooth").at(0.5) == pytest.approx(1.0 + 4.0 * (3 * 0.25**2 - 2 * 0.25**3))


def test_keys_repeat_and_hold_several_numbers() -> None:
    track = Keys([[1.0, [0.0, 10.0]], [3.0, [4.0, 20.0]]], repeat=True)
    assert track.at(2.0) == track.at(4.0) == track.at(0.0) == (2.0, 15.0)


def test_a_spline_goes_through_its_keys() -> None:
    """With one speed from both sides of a key, where "smooth" stops; none where it turns."""
    keys = [[0.0, [0.0, 1.0]], [1.0, [1.0, 3.0]], [3.0, [5.0, 7.0]], [4.0, [2.0, 9.0]]]
    track, tiny = Keys(keys, "spline"), 1e-6

    def speed(time: float, axis: int, side: float) -> float:
        there, near = track.at(time), track.at(time + side * tiny)
        assert isinstance(there, tuple) and isinstance(near, tuple)
        return (near[axis] - there[axis]) / (side * tiny)

    assert [track.at(t) for t, _ in keys] == [tuple(v) for _, v in keys]
    for time in (1.0, 3.0):
        for axis in (0, 1):
            assert speed(time, axis, -1.0) == pytest.approx(speed(time, axis, 1.0), abs=1e-4)
    assert speed(1.0, 0, 1.0) == pytest.approx(
        9.0 / (5.0 / 1.0 + 4.0 / 2.0), abs=1e-4
    )  # slopes 1 and 2, 1 and 2 s
    assert speed(3.0, 0, 1.0) == pytest.approx(0.0, abs=1e-4)  # it turns there
    assert track.at(0.37) == pytest.approx((track.at(0.37)[0], 1.74))  # type: ignore[index]
    around = Keys([[0.0, 0.0], [1.0, 1.0], [2.0, 3.0], [3.0, 0.0]], "spline", repeat=True)
    assert around.at(3.0 - tiny) == pytest.approx(0.0, abs=1e-5) and around.at(3.0 + tiny) == pytest.approx(
        0.0, abs=1e-5
    )
    assert around.at(tiny) / tiny == pytest.approx(0.0, abs=1e-3)  # type: ignore[operator]  # it turns there too


@given(
    st.lists(st.tuples(st.floats(1e-3, 1e3), st.floats(-1e6, 1e6)), min_size=2, max_size=6),
    st.floats(0.0, 1.0),
    st.booleans(),
)
def test_a_spline_stays_between_its_keys(
    steps: list[tuple[float, float]], share: float, repeat: bool
) -> None:
    """So an amount that is nowhere negative stays so."""
    times = list(itertools.accumulate(step for step, _ in steps))
    track = Keys([[t, v] for t, (_, v) in zip(times, steps, strict=True)], "spline", repeat)
    for (start, end), (a, b) in zip(
        itertools.pairwise(times), itertools.pairwise(v for _, v in steps), strict=True
    ):
        value = track.at(start + share * (end - start))
        if repeat and start + share * (end - start) >= times[-1]:
            continue
        slack = 1e-9 * max(abs(a), abs(b))
        assert isinstance(value, float) and min(a, b) - slack <= value <= max(a, b) + slack


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ([], "at least one"),
        ([[0.0, 1.0], [0.0, 2.0]], r"keys must rise in time, but keys\[1\] is at 0 s"),
        ([[0.0]], r"keys\[0\] must be \[time, value\]"),
        (["ab"], r"keys\[0\] must be \[time, value\]"),
        ([[0.0, 1.0], [1.0, [1.0, 2.0]]], "holds 2 numbers and the first 1"),
        ([[0.0, math.nan]], "finite"),
        ([["soon", 1.0]], r"the time of keys\[0\]"),
    ],
)
def test_wrong_keys_are_named(keys: list[object], words: str) -> None:
    with pytest.raises(gf.GpufluidError, match=words):
        Keys(keys)  # type: ignore[arg-type]


def test_a_formula_is_what_it_says() -> None:
    def wave(t: float) -> float:
        return 0.5 * math.sin(2 * math.pi * t) ** 2 - t / 4 + (-t % 3)

    track = Formula("0.5 * sin(2 * pi * t) ** 2 - t / 4 + -t % 3")
    for t in (0.0, 0.3, 7.9):
        assert track.at(t) == pytest.approx(wave(t))
    assert Formula(["t", "max(t, 2)", "clamp(t, 0, 1)"]).at(1.5) == (1.5, 2.0, 1.0)
    assert Formula("mix(2, 4, smoothstep(0, 2, t))").at(1.0) == 3.0


def test_noise_is_smooth_random_and_decided_by_its_seed() -> None:
    track, other = Formula("noise(t)", seed=1), Formula("noise(t)", seed=2)
    values = [float(track.at(0.01 * n)) for n in range(20_000)]  # type: ignore[arg-type]
    assert -1.0 <= min(values) < -0.9 and 0.9 < max(values) <= 1.0
    assert abs(sum(values)) / len(values) < 0.1
    assert max(abs(a - b) for a, b in itertools.pairwise(values)) < 0.031  # 1.5 x 2 x 0.01
    assert values == [track.at(0.01 * n) for n in range(20_000)]
    assert sum(abs(a - float(other.at(0.01 * n))) > 0.05 for n, a in enumerate(values[:1000])) > 800  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "().__class__",
        "t.real",
        "[t for t in (1, 2)]",
        "lambda: 1",
        "'a' * 3",
        "True",
        "t if t else 1",
        "sin(x=1)",
        "open('x')",
        "sin",
        "1 +",
        "t" * 501,
        "(" * 60 + "t" + ")" * 60 + "+" + "-" * 40 + "t",
        "",
    ],
)
def test_nothing_else_is_run(text: str) -> None:
    with pytest.raises(gf.GpufluidError, match="formula"):
        Formula(text)


def test_a_formula_without_a_value_says_when() -> None:
    for text in ("1 / t", "sqrt(t - 1)", "exp(1000 + t)", "9 ** 9 ** 9 ** 9", "0 ** -1"):
        with pytest.raises(gf.GpufluidError, match="has no finite value at t = 0 s"):
            Formula(text).at(0.0)
    with pytest.raises(gf.GpufluidError, match="did you mean 'sin'"):
        Formula("sinn(t)")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with pytest.raises(gf.GpufluidError, match="the formula '2if t else 3' cannot be read"):
            Formula("2if t else 3")
    assert not said


@given(st.text(alphabet="t0123456789.+-*/%() sincoexpqrabmx,_[]'=:", max_size=60), st.floats(0.0, 100.0))
def test_any_text_is_a_formula_or_an_error(text: str, time: float) -> None:
    try:
        value = Formula(text).at(time)
    except gf.GpufluidError:
        return
    assert isinstance(value, float) and math.isfinite(value)
