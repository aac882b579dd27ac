"""What a validation case returns, and the page of all of them, docs/validation.md."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import gpufluid as gf

DOCS = Path(__file__).parents[2] / "docs"

# The cases in the order of the page. It is written when every one of them has run, and not otherwise.
ORDER = (
    *("cavity", "cylinder", "balls", "street", "convection", "heated", "warm"),
    *("annulus", "spheres", "thermal", "plume", "point", "waves"),
    *("shear", "tilted", "stretching", "dipole", "channel", "dispersion", "decay", "confinement"),
    *("order", "backends"),
)


@dataclass(frozen=True)
class Row:
    """One number that was measured and what it is held to.

    expected: the number, or both ends of a range, source and all, in words. low, high: the bounds of `got`.
    why: what the tolerance allows for, in one line.
    """

    what: str
    expected: str
    got: float
    low: float
    high: float
    why: str
    digits: int = 3

    @property
    def passed(self) -> bool:
        """True within the bounds; a NaN is not."""
        return self.low <= self.got <= self.high

    @property
    def bounds(self) -> str:
        """The bounds as the table shows them."""
        if self.low == -float("inf"):
            return f"at most {self._text(self.high)}"
        if self.high == float("inf"):
            return f"at least {self._text(self.low)}"
        return f"{self._text(self.low)} to {self._text(self.high)}"

    def _text(self, value: float) -> str:
        return f"{value:.{self.digits}g}"

    def line(self) -> str:
        """The row in Markdown."""
        cells = (self.what, self.expected, self._text(self.got), self.bounds, self.why)
        return f"| {' | '.join(cells)} | {'yes' if self.passed else '**no**'} |"


def within(
    what: str, expected: float, source: str, got: float, tolerance: float, why: str, digits: int = 4
) -> Row:
    """A row that may differ from `expected` by the share `tolerance`."""
    slack = abs(expected) * tolerance
    text = f"{expected:.{digits}g} ({source})" if source else f"{expected:.{digits}g}"
    return Row(what, text, got, expected - slack, expected + slack, why, digits)


def at_most(what: str, bound: float, got: float, why: str, expected: str = "0", digits: int = 2) -> Row:
    """A row that may not exceed `bound`."""
    return Row(what, expected, got, -float("inf"), bound, why, digits)


@dataclass(frozen=True)
class Plot:
    """A picture docs/validation/NAME.png: draw(path) makes it. text: what it shows, for who cannot see it."""

    name: str
    text: str
    draw: Callable[[Path], None]


@dataclass(frozen=True)
class Case:
    """One flow: how it was set up, what was measured, pictures, and what the numbers mean."""

    name: str
    title: str
    setup: str
    rows: Sequence[Row]
    plots: Sequence[Plot]
    notes: str = ""

    def check(self) -> None:
        """Raise AssertionError naming every row out of bounds."""
        bad = [f"{row.what}: got {row.got:.6g}, allowed {row.bounds}" for row in self.rows if not row.passed]
        assert not bad, f"{self.name}: " + "; ".join(bad)


HEAD = """# Validation

What the engine computes, compared with published numbers and closed forms. `make validate` runs all of it
(about a quarter of an hour on two CPU cores without a GPU) and writes this page and its pictures;
`make validate ARGS="-k confinement"` runs one case and leaves the page as it is. Each case is a file in
`tests/validation`. The sources are named in full [with the physics](physics.md#sources).

{machine}

{count} numbers, {passed} within bounds.
"""

TABLE = """| measured | expected (source) | got | allowed | why this tolerance | pass |
| --- | --- | --- | --- | --- | --- |
"""


def page(cases: Sequence[Case], machine: str) -> str:
    """docs/validation.md of `cases`."""
    rows = [row for case in cases for row in case.rows]
    head = HEAD.format(machine=machine, count=len(rows), passed=sum(row.passed for row in rows))
    parts = [head]
    for case in cases:
        pictures = "\n\n".join(f"![{plot.text}](validation/{plot.name}.png)" for plot in case.plots)
        table = TABLE + "\n".join(row.line() for row in case.rows)
        parts += [f"## {case.title}\n", f"{case.setup}\n", f"{pictures}\n", f"{table}\n"]
        if case.notes:
            parts.append(f"{case.notes}\n")
    return "\n".join(parts)


@dataclass
class Collector:
    """Keeps the cases that ran; `finish` writes the page once all of them have."""

    say: Callable[[str], None]
    docs: Path = DOCS
    cases: dict[str, Case] = field(default_factory=dict)

    def add(self, case: Case) -> None:
        """Keep `case`, say how it went, and raise AssertionError where a row is out of bounds."""
        assert case.name in ORDER, case.name
        self.cases[case.name] = case
        for row in case.rows:
            mark = "ok " if row.passed else "BAD"
            self.say(f"  {mark} {row.what}: {row.got:.5g} (allowed {row.bounds})")
        case.check()

    @property
    def missing(self) -> list[str]:
        """The cases that did not run to their end."""
        return [name for name in ORDER if name not in self.cases]

    def finish(self) -> bool:
        """Write the page and the pictures where no case is missing; return whether it was written."""
        if self.missing:
            return False
        cases = [self.cases[name] for name in ORDER]
        pictures = self.docs / "validation"
        pictures.mkdir(parents=True, exist_ok=True)
        for case in cases:
            for plot in case.plots:
                plot.draw(pictures / f"{plot.name}.png")
        (self.docs / "validation.md").write_text(page(cases, machine()), encoding="utf-8")
        return True


def machine() -> str:
    """What the numbers were measured with: no date, no path."""
    with gf.Fluid(gf.Grid((4, 4, 1))) as fluid:
        device = fluid.device
        assert device is not None
        return f"gpufluid {gf.__version__}, backend `{fluid.backend_name}`, renderer {device.renderer}."
