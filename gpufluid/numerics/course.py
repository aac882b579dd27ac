"""How finite volumes take a step: in how many parts, and how far in each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

MOST_PARTS = 32  # of a step, one after the other
FARTHEST = 32  # cells that a flow crosses in a part
TAKEN = 0.85  # share of the fluid in a cell that axes may take, until the last has brought as much
STRAY = 0.05  # and that may be left over, or missing, after a part for the next one to go on with it
TURNED = 0.3  # cells by which flows a few cells apart differ in a long step that is taken whole
ASIDE = 0.6  # and by which what goes along one axis after the other may come out beside its way in a step


class Course(NamedTuple):
    """The passes of a step of finite volumes.

    passes: one after the other: along which axis, for which share of the step, and whether all axes have
    then had their turn. reach: cells that a flow takes whole in one of them, at most. parts: of the step.
    further: how far a part carries at most, where cells hold little, as a share of what the step would.
    """

    passes: Sequence[tuple[int, float, bool]]
    reach: int
    parts: int
    further: float


def course_of(
    crossed: float, taken: float, stray: float, differs: float, dimensions: int = 3, turn: int = 0
) -> Course:
    """Return how to carry so that some fluid is left in each cell after each axis.

    crossed: cells that the fastest flow crosses in the step. taken, stray, differs: what `most_asked` finds,
    in cells. turn: 1 where the last axis comes first. What goes too far for all parts is carried less far.
    """
    if not math.isfinite(crossed + taken + stray + differs):  # nothing goes so far, what is no number stays
        return Course([(axis, 0.0, axis == dimensions - 1) for axis in range(dimensions)], 0, 1, 0.0)
    asked = max(taken / TAKEN, crossed / FARTHEST)
    # where one axis has led to, the next finds another flow than on the way there: so far off it then leads
    # in waves across a wind, measured, and in equal parts by their number squared less
    aside = crossed * differs / 7.0
    # what turns does so in shears, one after the other, and too fast by angle^2 / 6: by less in halves
    halves = crossed > 1.0 and (differs > TURNED or aside > 0.25 * ASIDE)
    fewest = max(1 + halves, math.sqrt(aside / ASIDE))
    parts = math.ceil(min(max(fewest, asked), MOST_PARTS))
    each = 1.0 / max(parts, asked)
    least, whole = 1.0 - each * taken, stray <= STRAY
    if whole:  # then the last axis of a part and the first of the next, which is the same, make one pass
        least -= stray
    passes: list[tuple[int, float, bool]] = []
    for part in range(parts):
        order = range(dimensions) if (part + turn) % 2 == 0 else range(dimensions)[::-1]
        for axis in order:
            ends = axis == order[-1] and (not whole or part == parts - 1)
            if whole and passes and passes[-1][0] == axis:
                passes[-1] = axis, 2.0 * each, ends
            else:
                passes.append((axis, each, ends))
    furthest = max(share for _, share, _ in passes) * crossed / least
    return Course(passes, max(math.ceil(furthest) - 1, 0), parts, each / least)
