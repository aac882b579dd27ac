"""A small stroke font of our own, as distances to its strokes: letters of any size from one texture.

A glyph is drawn in units: digits and capitals are 6 high, small letters 4, the line is at 0. It is a list
of strokes; a stroke is a list of points (x, y) and of arcs "@x,y:rx,ry:from,to" (degrees, counter-clockwise
from the right).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gpufluid.common.vectors import Floats

CAP = 6.0  # units
REACH = 1.5  # units from a stroke that the texture tells
DETAIL = 4  # texels a unit
LEFT, DOWN, WIDE, HIGH = -1.5, -3.5, 9.0, 11.5  # a glyph's place in its tile, units
GAP = 1.35  # units between letters
SPACE = 1.9
COLUMNS = 12

GLYPHS = {
    "0": "@2,3:1.9,3:0,360",
    "1": "0.5,4.7 2,6 2,0",
    "2": "@2,4.2:1.85,1.8:165,-35 0.1,0 4,0",
    "3": "@1.9,4.5:1.75,1.5:150,-90|@1.9,1.55:2,1.55:90,-150",
    "4": "3,0 3,6 0,1.6 4.1,1.6",
    "5": "3.6,6 0.6,6 0.35,3.15 @1.9,1.95:2.05,1.95:142,-145",
    "6": "@2,1.9:1.9,1.9:0,360|@4,1.9:3.9,4.1:180,102",
    "7": "0,6 4,6 1.4,0",
    "8": "@2,4.5:1.6,1.5:0,360|@2,1.5:1.95,1.5:0,360",
    "9": "@2,4.1:1.9,1.9:0,360|@0,4.1:3.9,4.1:0,-78",
    ".": "@0.45,0.3:0.3,0.3:0,360",
    ",": "0.5,0.1 0.1,-1",
    ":": "@0.45,0.3:0.3,0.3:0,360|@0.45,3.2:0.3,0.3:0,360",
    "-": "0,2.6 2.6,2.6",
    "+": "0,2.6 3.4,2.6|1.7,0.9 1.7,4.3",
    "=": "0,1.9 3.4,1.9|0,3.5 3.4,3.5",
    "/": "0,-0.8 2.4,6.5",
    "_": "0,-0.8 3.4,-0.8",
    "%": "@1,4.7:1,1.3:0,360|@4.2,1.3:1,1.3:0,360|0.9,0 4.3,6",
    "(": "@2.3,2.6:2.2,4.4:125,235",
    ")": "@-0.7,2.6:2.2,4.4:55,-55",
    "²": "@0.95,5.3:0.85,0.85:165,-35 0.1,3.3 1.9,3.3",
    "°": "@0.8,5.2:0.8,0.8:0,360",
    "a": "@1.8,2:1.75,2:0,360|3.55,4 3.55,0",
    "b": "0,6 0,0|@1.8,2:1.75,2:0,360",
    "c": "@2,2:1.9,2:48,312",
    "d": "@1.8,2:1.75,2:0,360|3.55,6 3.55,0",
    "e": "0.1,2.1 3.7,2.1 @1.9,2:1.82,2:3,315",
    "f": "1.1,0 1.1,4.8 @2.2,4.8:1.1,1.2:180,75|0,3.9 2.2,3.9",
    "g": "@1.8,2:1.75,2:0,360|3.55,4 3.55,-0.4 @1.8,-0.4:1.75,1.6:0,-150",
    "h": "0,6 0,0|@1.7,2.3:1.7,1.7:180,0 3.4,0",
    "i": "0.2,4 0.2,0|0.2,5.7 0.2,5.72",
    "j": "0.9,4 0.9,-0.9 @-0.1,-0.9:1,1.1:0,-75|0.9,5.7 0.9,5.72",
    "k": "0,6 0,0|3,4 0,1.4|1.2,2.4 3.2,0",
    "l": "0.2,6 0.2,0",
    "m": "0,4 0,0|@1.35,2.6:1.35,1.4:180,0 2.7,0|@4.05,2.6:1.35,1.4:180,0 5.4,0",
    "n": "0,4 0,0|@1.7,2.3:1.7,1.7:180,0 3.4,0",
    "o": "@1.9,2:1.85,2:0,360",
    "p": "0,4 0,-2|@1.8,2:1.75,2:0,360",
    "q": "@1.8,2:1.75,2:0,360|3.55,4 3.55,-2",
    "r": "0,4 0,0|@1.7,2.2:1.7,1.8:180,68",
    "s": "@1.5,3:1.3,1:40,270|@1.5,1:1.45,1:90,-145",
    "t": "1.1,5.4 1.1,1.2 @2.2,1.2:1.1,1.2:180,282|0,4 2.3,4",
    "u": "0,4 0,1.7 @1.7,1.7:1.7,1.7:180,360|3.4,4 3.4,0",
    "v": "0,4 1.7,0 3.4,4",
    "w": "0,4 1.3,0 2.6,3.8 3.9,0 5.2,4",
    "x": "0,4 3.2,0|3.2,4 0,0",
    "y": "0,4 1.75,0.1|3.4,4 1.1,-1.6",
    "z": "0,4 3.1,4 0,0 3.2,0",
    "A": "0,0 2.2,6 4.4,0|0.8,2 3.6,2",
    "B": "0,0 0,6 2,6 @2,4.55:1.5,1.45:90,-90 0,3.1|2,3.1 @2.1,1.55:1.8,1.55:90,-90 0,0",
    "C": "@2.6,3:2.5,3:48,312",
    "D": "0,0 0,6 1.6,6 @1.6,3:2.6,3:90,-90 0,0",
    "E": "3.4,6 0,6 0,0 3.4,0|0,3.1 3,3.1",
    "F": "3.4,6 0,6 0,0|0,3.1 3,3.1",
    "G": "@2.6,3:2.5,3:48,318 4.6,2.8 2.9,2.8",
    "H": "0,6 0,0|4,6 4,0|0,3.1 4,3.1",
    "I": "0,6 2,6|1,6 1,0|0,0 2,0",
    "J": "2.6,6 2.6,1.7 @1.2,1.7:1.4,1.7:0,-160",
    "K": "0,6 0,0|3.8,6 0,2.2|1.4,3.6 4,0",
    "L": "0,6 0,0 3.3,0",
    "M": "0,0 0,6 2.5,1.6 5,6 5,0",
    "N": "0,0 0,6 4,0 4,6",
    "O": "@2.7,3:2.65,3:0,360",
    "P": "0,0 0,6 2,6 @2,4.4:1.7,1.6:90,-90 0,2.8",
    "Q": "@2.7,3:2.65,3:0,360|3.3,1.6 5,-0.5",
    "R": "0,0 0,6 2,6 @2,4.4:1.7,1.6:90,-90 0,2.8|1.9,2.8 3.9,0",
    "S": "@2,4.5:1.75,1.5:35,270|@2,1.5:1.95,1.5:90,-150",
    "T": "0,6 4.2,6|2.1,6 2.1,0",
    "U": "0,6 0,2 @2,2:2,2:180,360 4,6",
    "V": "0,6 2.2,0 4.4,6",
    "W": "0,6 1.5,0 3,5.6 4.5,0 6,6",
    "X": "0,6 4,0|4,6 0,0",
    "Y": "0,6 2.1,3 4.2,6|2.1,3 2.1,0",
    "Z": "0,6 4,6 0,0 4.1,0",
    "?": "@1.7,4.4:1.6,1.6:160,-60 1.7,2.4 1.7,1.8|1.7,0.1 1.7,0.12",
}
INDEX = {glyph: number for number, glyph in enumerate(GLYPHS)}


@dataclass(frozen=True)
class Letter:
    """One glyph of a line: which, and its offset from the line's begin, units."""

    number: int
    offset: float


def _strokes(glyph: str) -> list[Floats]:
    """The strokes of a glyph as lines through points, [n, 2] each."""
    strokes = []
    for stroke in GLYPHS[glyph].split("|"):
        points: list[tuple[float, float]] = []
        for part in stroke.split():
            if part.startswith("@"):
                (x, y), (rx, ry), (start, end) = (map(float, p.split(",")) for p in part[1:].split(":"))
                for a in np.radians(np.linspace(start, end, max(3, round(abs(end - start) / 12)))):
                    points.append((x + rx * math.cos(a), y + ry * math.sin(a)))
            else:
                px, py = map(float, part.split(","))
                points.append((px, py))
        strokes.append(np.array(points))
    return strokes


@cache
def _width(glyph: str) -> float:
    """Where a glyph ends, units."""
    return max(float(stroke[:, 0].max()) for stroke in _strokes(glyph))


def letters(text: str) -> tuple[list[Letter], float]:
    """Return the letters of a line and its width, units. What the font lacks is shown as a question mark."""
    out, at = [], 0.0
    for character in text:
        if character == " ":
            at += SPACE + GAP
            continue
        glyph = character if character in GLYPHS else "?"
        out.append(Letter(INDEX[glyph], at))
        at += _width(glyph) + GAP
    return out, max(at - GAP, 0.0)


@cache
def atlas() -> NDArray[np.uint8]:
    """All glyphs, [height, width], lowest row first: 255 on a stroke, 0 from REACH units on."""
    wide, high = int(WIDE * DETAIL), int(HIGH * DETAIL)
    rows = -(-len(GLYPHS) // COLUMNS)
    out = np.zeros((rows * high, COLUMNS * wide), np.uint8)
    y, x = np.meshgrid(
        (np.arange(high) + 0.5) / DETAIL + DOWN, (np.arange(wide) + 0.5) / DETAIL + LEFT, indexing="ij"
    )
    for glyph, number in INDEX.items():
        nearest = np.full(x.shape, REACH)
        for points in _strokes(glyph):
            for (ax, ay), (bx, by) in pairwise(points):
                dx, dy = bx - ax, by - ay
                share = np.clip(((x - ax) * dx + (y - ay) * dy) / max(dx * dx + dy * dy, 1e-12), 0.0, 1.0)
                nearest = np.minimum(nearest, np.hypot(x - ax - share * dx, y - ay - share * dy))
        row, column = divmod(number, COLUMNS)
        tile = np.rint(255.0 * (1.0 - nearest / REACH))
        out[row * high : (row + 1) * high, column * wide : (column + 1) * wide] = tile
    return out
