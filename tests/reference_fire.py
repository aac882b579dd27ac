"""The fire in a picture in NumPy, float64: what `heat.glsl`, `integral.glsl` and others compute."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from reference_light import trilinear

from gpufluid.common.vectors import Floats
from gpufluid.description.view import Fire
from gpufluid.render.blackbody import COLDEST, HOTTEST, fire_table

HOTTER = 2.0  # than `Fire.hottest`: no heat is kept as more


def softened(volume: Floats, corners: bool = False, even: bool = False) -> Floats:
    """Return `volume` [z, y, x, ...] as the cubic B-spline of the cells has it at their middles.

    Each and its neighbours 1 : 4 : 1 along each axis; even: 1 : 1 : 1; corners: between each and the next
    along each axis, 1 : 23 : 23 : 1. Beyond a side it goes on as inside it. The twin of ``softened.glsl``.
    """
    weights = (1 / 48, 23 / 48, 23 / 48, 1 / 48) if corners else (1 / 6, 4 / 6, 1 / 6)
    if even:
        weights = (1 / 3, 1 / 3, 1 / 3)
    for axis in range(3):
        pad = [(1, len(weights) - 2) if n == axis else (0, 0) for n in range(volume.ndim)]
        wide, count = np.pad(volume, pad, mode="edge"), volume.shape[axis]
        parts = [weight * np.take(wide, range(k, k + count), axis) for k, weight in enumerate(weights)]
        volume = np.sum(parts, axis=0)
    return volume


def heat(
    scalars: Floats,
    fire: Fire,
    flame: Floats | None = None,
    there: Floats | float = 1.0,
    corners: bool = False,
) -> Floats:
    """Return K above that of temperature 0, the share that glows, and what burns (1/s), [z, y, x, 3].

    What burns counts as far as it is clear of soot.

    scalars: density, temperature, fuel, 1 in fluid cells and 0 in solids, [z, y, x, 4]. flame: what burns,
    [z, y, x]. there: as `fade` says of the cells' centres. corners: of the corners between the cells and the
    next along each axis instead, and so `there`.
    """
    mean = softened(scalars, corners)
    fluid = np.maximum(mean[..., 3], 1e-3)
    burn = np.zeros(fluid.shape) if flame is None else softened(flame, corners) / fluid
    density, temperature = mean[..., 0] / fluid, mean[..., 1] / fluid
    most = HOTTER * fire.hottest
    hot = np.clip(fire.kelvin_per_temperature * temperature, -most, most)
    return np.stack([hot, there * glowing(density, fire), there * clear(density, fire) * burn], axis=-1)


def glowing(density: Floats, fire: Fire) -> Floats:
    """The share that glows of hot gas with that much smoke in it."""
    if not fire.soot:
        return np.ones_like(density)
    return np.asarray(1.0 - np.exp(-((np.maximum(density, 0.0) / fire.soot) ** 2)))


def clear(density: Floats, fire: Fire) -> Floats:
    """The share of the light of burning fuel that is left with that much smoke in it."""
    if not fire.soot:
        return np.ones_like(density)
    return np.asarray(np.exp(-((6.0 * np.maximum(density, 0.0) / fire.soot) ** 2)))


def through(
    heats: tuple[Floats, Floats], fire: Fire, extinctions: tuple[Floats, Floats], way: ArrayLike
) -> Floats:
    """Return what of the fire along a way gets out at its near end, [..., 3]; the twin of ``integral.glsl``.

    heats: at near and far end, as of `heat` [..., 3]. extinctions: of both, 1/m. way: m.
    """
    (near, far), (a, b), length = heats, extinctions, np.asarray(way, np.float64)
    depth = 0.5 * (a + b) * length
    # depths of even smoke that lets as much of an even fire out, and of such that has its mean place
    bend = (a - b) * length * depth / (36.0 + 3.0 * depth)
    even, other = (2.0 * a + b) * length / 3.0 + bend, depth + bend
    mean = ((9.0 + other) / (18.0 + other * (5.0 + other)))[..., None]
    share = np.where(even > 0.0, -np.expm1(-even) / np.maximum(even, 1e-300), 1.0)
    ends = radiance(near, fire), radiance(far, fire)
    glow = (1.0 - mean) * ends[0] + mean * ends[1]
    if fire.soft:
        bent = 2.0 * radiance(0.5 * (near + far), fire) - ends[0] - ends[1]
        glow += -np.expm1(-depth)[..., None] * mean * (2.0 / 3.0) * bent
    sent: Floats = (length * share)[..., None] * glow
    return sent


def radiance(heat: Floats, fire: Fire) -> Floats:
    """Return what gas sends out per metre, linear (r, g, b), of values [..., 3] of `heat` between cells."""
    table = fire_table()
    kelvin = np.minimum(fire.kelvin_at_zero + heat[..., 0], fire.hottest)
    places = np.linspace(COLDEST, HOTTEST, len(table))
    glow = np.stack([np.interp(kelvin, places, channel) for channel in table.T], axis=-1)
    sent: Floats = fire.intensity * heat[..., 1:2] * glow + heat[..., 2:3] * np.array(fire.core)
    return sent


def heat_at(heat: Floats, places: Floats, corners: Floats | None = None) -> Floats:
    """Return `heat` [z, y, x, 3] in `places` [..., 3], cells; the twin of ``heat_at.glsl``.

    corners: the same of the corners of cells, if the fire is soft: the mean of both, but in the outermost
    cells, where `heat` takes over.
    """
    if corners is not None:
        cells = np.array(heat.shape[2::-1])
        share = np.clip(np.minimum(places, cells - places), 0.0, 1.0).prod(-1, keepdims=True)
        here, there = heat_at(heat, places), heat_at(corners, np.minimum(places, cells - 1) - 0.5)
        return 0.5 * (here + (1.0 - share) * here + share * there)
    return np.stack([trilinear(heat[..., n], places) for n in range(3)], axis=-1)


def past_solids(solid: Floats, place: Floats, way: Floats, reach: float, block: int) -> float:
    """Return the share of the fire's light that solids let by; the twin of ``fire_past_solids.glsl``.

    solid: 1 in solids, [z, y, x]. place: cells. way: mean of the unit vectors to the fire, reach: its mean
    distance, cells. block: cells.
    """
    one_way = float(np.linalg.norm(way))
    if one_way <= 0.5:
        return 1.0
    radius = max(2.0 * reach * np.sqrt(max(one_way * (1.0 - one_way), 0.0)), 0.5 * block)
    left = 0.0
    for axis in range(3):
        for sign in (-1.0, 1.0):
            start, end = place.copy(), place + way * (reach / one_way)
            end[axis] += sign * 0.6 * radius
            off, most = 0.0, 0.25 * block
            while off < most:
                start[axis] = place[axis] + sign * min(off + 1.0, most)
                if trilinear(solid, start) >= 0.4:
                    break
                off = min(off + 1.0, most)
            start[axis] = place[axis] + sign * off
            left += _left_between(solid, start, end, radius, block) / 6.0
    share = np.clip((one_way - 0.5) / 0.2, 0.0, 1.0)
    return float(1.0 + (left - 1.0) * share * share * (3.0 - 2.0 * share))


def _left_between(solid: Floats, start: Floats, end: Floats, spared: float, block: int) -> float:
    whole = float(np.linalg.norm(end - start))
    far, met, gone = whole - spared, 0.0, 0.5
    own = far > 0.0 and trilinear(solid, start) > 0.6
    while gone < far + 0.5:
        here = float(trilinear(solid, start + (end - start) * (gone / whole)))
        own = own and here > 0.6 and gone < 0.5 * block
        met += 0.0 if own else here * min(far - gone + 0.5, 1.0)
        gone += 1.0
    return max(1.0 - met, 0.0) if far > 0.0 else 1.0
