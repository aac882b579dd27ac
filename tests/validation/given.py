"""How much heat solids give to the fluid in a step."""

from __future__ import annotations

import numpy as np


def beside(solid: np.ndarray) -> tuple[np.ndarray, ...]:
    """What the six neighbours of each cell [z, y, x] have; a cell beside a side of the box sees itself."""
    padded, inner = np.pad(solid, 1, mode="edge"), slice(1, -1)
    return (
        *(padded[some, inner, inner] for some in (slice(None, -2), slice(2, None))),
        *(padded[inner, some, inner] for some in (slice(None, -2), slice(2, None))),
        *(padded[inner, inner, some] for some in (slice(None, -2), slice(2, None))),
    )


def given(
    temperature: np.ndarray, solid: np.ndarray, warm: np.ndarray, of: float, x: float, fourier: float
) -> float:
    """Heat that the solid cells `warm`, at temperature `of`, give in a step of steady flow, in cells.

    temperature, solid, warm: [z, y, x]; the first is that of a step's end. x: heating * dt. fourier: kappa
    dt / h^2.
    Beside a solid T' = heating (T_solid - T) + loss. A step draws T to T_solid first, which gives
    (1 - exp(-x)) (T_solid - T), and makes good 1 - (1 - exp(-x)) / x of what then diffuses away. In a cell
    that touches more of the solid than one face, x is larger.
    """
    faces = np.array(beside(warm), float).reshape(3, 2, *solid.shape).sum(1)
    touched = faces.any(0) & ~solid
    x = x * np.linalg.norm(faces, axis=0)[touched]
    into = zip(beside(temperature), beside(solid), strict=True)
    loss = fourier * sum(np.where(closed, 0.0, temperature - there)[touched] for there, closed in into)
    drawn = -np.expm1(-x)
    return float((drawn * (of - temperature[touched]) + (1.0 - drawn / x) * loss).sum())
