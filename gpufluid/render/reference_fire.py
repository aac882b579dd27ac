"""The fire in a picture in NumPy, float64: what `heat.glsl` and `fire_at.glsl` compute."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpufluid.render.blackbody import COLDEST, GLOWS_FROM, HOTTEST, fire_table
from gpufluid.view import Fire

Floats = NDArray[np.float64]
HOTTER = 2.0  # than `Fire.hottest`: no heat is kept as more


def softened(volume: Floats) -> Floats:
    """Return `volume` [z, y, x, ...] as the cubic B-spline of the cells has it at their middles.

    Each and its neighbours 1 : 4 : 1 along each axis; beyond a side it goes on as inside it. The twin of
    ``softened.glsl``.
    """
    for axis in range(3):
        pad = [(1, 1) if n == axis else (0, 0) for n in range(volume.ndim)]
        wide = np.pad(volume, pad, mode="edge")
        low, here, high = (np.take(wide, range(k, k + volume.shape[axis]), axis) for k in range(3))
        volume = (low + 4.0 * here + high) / 6.0
    return volume


def heat(scalars: Floats, fire: Fire, flame: Floats | None = None, there: Floats | float = 1.0) -> Floats:
    """Return K above `GLOWS_FROM`, the share that glows, and what burns (1/s), [z, y, x, 3].

    scalars: density, temperature, fuel, 1 in fluid cells and 0 in solids, [z, y, x, 4]. flame: what burns,
    [z, y, x]. there: as `fade` says of the cells' centres.
    """
    mean = softened(scalars)
    fluid = np.maximum(mean[..., 3], 1e-3)
    burn = np.zeros(fluid.shape) if flame is None else softened(flame) / fluid
    density, temperature = mean[..., 0] / fluid, mean[..., 1] / fluid
    hot = fire.kelvin_at_zero + fire.kelvin_per_temperature * temperature - GLOWS_FROM
    hot = np.clip(hot, 0.0, HOTTER * fire.hottest)
    return np.stack([hot, there * glowing(density, fire), there * burn], axis=-1)


def glowing(density: Floats, fire: Fire) -> Floats:
    """The share that glows of hot gas with that much smoke in it."""
    if not fire.soot:
        return np.ones_like(density)
    return np.asarray(1.0 - np.exp(-((np.maximum(density, 0.0) / fire.soot) ** 2)))


def through(fires: tuple[Floats, Floats], extinctions: tuple[Floats, Floats], way: ArrayLike) -> Floats:
    """Return what of the fire along a way gets out at its near end, [..., 3]; the twin of ``integral.glsl``.

    fires: of near and far end, radiance per metre [..., 3]. extinctions: of both, 1/m. way: m.
    """
    (a, b), length = extinctions, np.asarray(way, np.float64)
    depth = 0.5 * (a + b) * length
    # depths of even smoke that lets as much of an even fire out, and of such that has its mean place
    bend = (a - b) * length * depth / (36.0 + 3.0 * depth)
    even, other = (2.0 * a + b) * length / 3.0 + bend, depth + bend
    mean = ((9.0 + other) / (18.0 + other * (5.0 + other)))[..., None]
    share = np.where(even > 0.0, -np.expm1(-even) / np.maximum(even, 1e-300), 1.0)
    sent: Floats = (length * share)[..., None] * ((1.0 - mean) * fires[0] + mean * fires[1])
    return sent


def radiance(heat: Floats, fire: Fire) -> Floats:
    """Return what gas sends out per metre, linear (r, g, b), of values [..., 3] of `heat` between cells."""
    table = fire_table()
    kelvin = np.minimum(GLOWS_FROM + heat[..., 0], fire.hottest)
    places = np.linspace(COLDEST, HOTTEST, len(table))
    glow = np.stack([np.interp(kelvin, places, channel) for channel in table.T], axis=-1)
    sent: Floats = fire.intensity * heat[..., 1:2] * glow + heat[..., 2:3] * np.array(fire.core)
    return sent
