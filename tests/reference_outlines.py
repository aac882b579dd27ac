"""The outlines of solids in smoke in NumPy, float64: what `outlines.glsl` computes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from gpufluid.common.vectors import Floats

FAINT = 0.1  # share of what is there, by which smoke changes it: less counts less


def shown(radiance: ArrayLike, exposure: float) -> Floats:
    """Return `radiance` as light of the screen, which has 1 at most; the curve goes on to 1.03."""
    x = exposure * np.asarray(radiance, np.float64)
    return x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14)


def radiance_shown_as(light: ArrayLike, exposure: float) -> Floats:
    """Return the radiance that is `shown` as `light`."""
    y = np.asarray(light, np.float64)
    a, b = 2.51 - 2.43 * y, 0.03 - 0.59 * y
    return (np.sqrt(b * b + 0.56 * a * y) - b) / (2.0 * a) / exposure


def mended(picture: ArrayLike, clear: ArrayLike, ends: ArrayLike, gap: ArrayLike, exposure: float) -> Floats:
    """Return `picture` [y, x, channel] with each pixel that an outline crosses made of its neighbours.

    clear: the same without smoke; where that changes little, a pixel changes less. ends: how far the four
    samples of each pixel are, m, [y, x, 4]; not above 0 where something else hides them. gap: metres from
    which on two samples are of two things, for all pixels or for each, [y, x]. What is before the outline and
    what is behind it counts by the share of the pixel's samples, as light of a screen; neighbours that share
    a side with it count twice. exposure: with which the picture is shown; it is opaque.
    """
    picture, clear, ends, gap = (np.asarray(a, np.float64) for a in (picture, clear, ends, gap))
    made = picture.copy()
    height, width = ends.shape[:2]
    before = ends < (ends.min(axis=2) + gap)[..., None]
    for y, x in np.argwhere(~before.all(axis=2)):
        here, near = ends[y, x], before[y, x]
        a, b = here[near].max(), here[~near].min()
        last_near, first_far = 3.0 / (2.0 / a + 1.0 / b), 3.0 / (1.0 / a + 2.0 / b)
        sums, counts = np.zeros((2, picture.shape[2])), np.zeros(2)
        for i, j in product((-1, 0, 1), repeat=2):
            v, u = y + i, x + j
            if not (0 <= v < height and 0 <= u < width):
                continue
            least, most = ends[v, u].min(), ends[v, u].max()
            if least > first_far or (least > 0.0 and most < last_near):
                side, weight = int(least > first_far), 2.0 if i * j == 0 else 1.0
                sums[side] += weight * picture[v, u]
                counts[side] += weight
        if counts.all():
            mean = sums / counts[:, None]
            round_it = np.s_[max(y - 1, 0) : y + 2, max(x - 1, 0) : x + 2]
            smoke = np.abs(picture[round_it] - clear[round_it]).max(axis=(0, 1))
            there = smoke / np.maximum(np.maximum(picture[round_it], clear[round_it]).max(axis=(0, 1)), 1e-20)
            share = min(there.max() / FAINT, 1.0)
            light = shown(mean, exposure)
            mixed = radiance_shown_as(light[1] + (light[0] - light[1]) * near.mean(), exposure)
            made[y, x] += share * (np.append(mixed[:3], 1.0) - made[y, x])
    return made


def spanned(floor_depth: ArrayLike, metres: Callable[[Floats], Floats], size: tuple[int, int]) -> Floats:
    """Return how far apart the floor alone is within each pixel, m, [y, x], lowest row first.

    floor_depth: depth of the floor, -1 .. 1, at the lower left corner, and per pixel of x and y. metres: of
    depths. size: width and height, pixels.
    """
    corner, right, up = np.asarray(floor_depth, np.float64)
    x, y = np.meshgrid(*(np.arange(n) + 0.5 for n in size))
    middle, aside = corner + right * x + up * y, 0.5 * (abs(right) + abs(up))
    near, far = (metres(np.clip(middle + way * aside, -1.0, 1.0)) for way in (-1.0, 1.0))
    return np.abs(far - near)
