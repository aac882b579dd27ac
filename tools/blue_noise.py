"""Writes the tile of blue noise that pictures are dithered with: gpufluid/render/blue_noise.npy.

Void and cluster (Ulichney 1993, "The void-and-cluster method for dither array generation"): every pixel of a
tile that repeats gets a rank, such that the pixels below any rank are spread as evenly as can be. How crowded
a place is, is the sum of a Gaussian round every pixel taken so far.

    python tools/blue_noise.py [FILE]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

EDGE = 64  # pixels
SIGMA = 1.5  # of the Gaussian, pixels: Ulichney's
SEEDED = 0.1  # share of the pixels the first, random pattern takes
LEVELS = 256
FILE = Path(__file__).resolve().parent.parent / "gpufluid" / "render" / "blue_noise.npy"

Floats = NDArray[np.float64]


def bump(edge: int) -> Floats:
    """The Gaussian round pixel (0, 0) of a tile that repeats, [edge, edge]."""
    away = np.minimum(np.arange(edge), edge - np.arange(edge))
    line = np.exp(-(away**2) / (2.0 * SIGMA**2))
    return np.outer(line, line)


class Pattern:
    """Which pixels are taken, and how crowded every place is by them."""

    def __init__(self, edge: int) -> None:
        self.taken = np.zeros((edge, edge), bool)
        self.crowd = np.zeros((edge, edge))
        self._bump = bump(edge)

    def flip(self, at: tuple[int, int]) -> None:
        """Take the pixel `at`, or give it back."""
        sign = -1.0 if self.taken[at] else 1.0
        self.crowd += sign * np.roll(self._bump, at, (0, 1))
        self.taken[at] = not self.taken[at]

    def cluster(self) -> tuple[int, int]:
        """The taken pixel with the most others near it."""
        return self._place(np.where(self.taken, -self.crowd, np.inf))

    def void(self) -> tuple[int, int]:
        """The free pixel with the fewest taken ones near it."""
        return self._place(np.where(self.taken, np.inf, self.crowd))

    def _place(self, least: Floats) -> tuple[int, int]:
        row, column = divmod(int(least.argmin()), least.shape[1])
        return row, column


def ranks(edge: int = EDGE, seed: int = 1) -> NDArray[np.int64]:
    """Return the rank of every pixel, 0 .. edge^2 - 1, [edge, edge]."""
    rng = np.random.default_rng(seed)
    count = edge * edge
    start = Pattern(edge)
    for index in rng.permutation(count)[: int(SEEDED * count)]:
        start.flip((int(index) // edge, int(index) % edge))
    while True:  # move the tightest cluster into the largest void until that is where it came from
        cluster = start.cluster()
        start.flip(cluster)
        void = start.void()
        start.flip(void)
        if void == cluster:
            break
    rank = np.zeros((edge, edge), np.int64)
    few, seeded = Pattern(edge), int(start.taken.sum())
    for at in np.argwhere(start.taken):
        few.flip((int(at[0]), int(at[1])))
    for n in range(seeded - 1, -1, -1):
        cluster = few.cluster()
        few.flip(cluster)
        rank[cluster] = n
    # past the half the free pixels are the fewer; the largest void of the taken is their tightest cluster,
    # for the bumps of all pixels add up to the same everywhere
    for n in range(seeded, count):
        void = start.void()
        start.flip(void)
        rank[void] = n
    return rank


if __name__ == "__main__":
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else FILE
    np.save(file, (ranks() * LEVELS // EDGE**2).astype(np.uint8))
    print(f"{file}: {file.stat().st_size} bytes")
