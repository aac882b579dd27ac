"""Light in smoke in NumPy, float64: what the shaders of the light volume, of rays and of lamps compute."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from gpufluid.common.vectors import Floats
from gpufluid.render.fading import edged, fade
from gpufluid.render.light.light_frame import BEYOND, ONE, LightFrame

VEIL_PIECE = 1.5  # cells, as PIECE in veil.glsl


def trilinear(volume: Floats, place: Floats) -> Floats:
    """Return `volume` [z, y, x] at places [..., 3] in cells (x, y, z), held at the outermost centres."""
    last = np.array(volume.shape[::-1]) - 1
    q = np.clip(place - 0.5, 0.0, last)
    low = np.minimum(q.astype(int), np.maximum(last - 1, 0))
    part, high = q - low, np.minimum(low + 1, last)
    total = np.zeros(place.shape[:-1])
    for corner in range(8):
        pick = np.array([corner & 1, corner >> 1 & 1, corner >> 2 & 1])
        at = np.where(pick, high, low)
        weight = np.where(pick, part, 1.0 - part).prod(axis=-1)
        total += weight * volume[at[..., 2], at[..., 1], at[..., 0]]
    return total


def let_through(
    extinction: Floats,
    cell_size: float,
    places: Floats,
    eye: Floats,
    edge: float = 0.0,
    sides: int = 0,
    rate: float = 0.0,
) -> Floats:
    """Share of the light of `places` [n, 3] that reaches the viewer through smoke; the twin of ``veil.glsl``.

    extinction: 1/m, [z, y, x]. places, eye: cells. edge: as for `edged`. sides, rate: as for `fade`, of
    things of this box.
    """
    way = eye - places
    way = way / np.linalg.norm(way, axis=1, keepdims=True)
    way = np.where(np.abs(way) < 1e-6, 1e-6, way)
    ends = np.stack([-places / way, (np.array(extinction.shape[::-1]) - places) / way])
    start = np.maximum(ends.min(axis=0).max(axis=1), 0.0)
    end = ends.max(axis=0).min(axis=1)
    depth = np.zeros(len(places))
    while (start < end).any():
        piece = np.clip(end - start, 0.0, VEIL_PIECE)
        here = trilinear(extinction, places + way * (start + 0.5 * piece)[:, None])
        depth += edged(here, edge) * piece
        start = start + VEIL_PIECE
    cells = extinction.shape[::-1]
    return np.asarray(np.exp(-cell_size * depth) * fade(places, cells, sides, rate))


def integral(near: Floats, far: Floats, way: ArrayLike) -> Floats:
    """Return premultiplied radiance and opacity of smoke along a way, [..., 4]; twin of ``integral.glsl``.

    near, far: its ends, radiance per metre and extinction (1/m), [..., 4]; both run evenly from one to the
    other. way: m.
    """
    a, b, length = near[..., 3], far[..., 3], np.asarray(way, np.float64)
    depth = 0.5 * (a + b) * length
    hidden = -np.expm1(-depth)
    # the mean share of the optical depth that light has before it: 1/depth - 1/(exp(depth) - 1), to 6 %
    mean = (9.0 + depth) / (18.0 + depth * (5.0 + depth))
    place = (a + b) * mean / np.maximum(a + np.sqrt((1.0 - mean) * a * a + mean * b * b), 1e-20)
    there = near + place[..., None] * (far - near)
    light = there[..., :3] * (hidden / np.maximum(there[..., 3], 1e-20))[..., None]
    return np.concatenate([light, hidden[..., None]], axis=-1)


def light_layers(
    frame: LightFrame,
    density: Floats,
    extinction: float,
    solid: Floats | None = None,
    attenuation: str = "exponential",
    fades: int = 0,
    fade_rate: float = 0.0,
    fade_low: Sequence[float] = (0.0, 0.0, 0.0),
    fade_high: Sequence[float] = (0.0, 0.0, 0.0),
    past_solids: bool = False,
    edge: float = 0.0,
) -> Floats:
    """Return the share of light left at the end of each layer, [layers, rows, columns] of the tiles.

    density: [z, y, x]. extinction: 1/m per unit of density. solid: [z, y, x], 1 in solid cells, where
    density is 0; beside them density is the mean over the fluid alone. attenuation: "exponential":
    ``light * exp(-extinction * density * path)``; "harris": ``light * (1 - (1 - m) * density)``.
    fades, fade_rate, fade_low, fade_high: as for `fade`. past_solids: solids let all light by. edge: as for
    `edged`.
    """
    width, height = frame.tile
    layers = np.empty((frame.layers, height, width))
    places = frame.place
    extent = np.array(frame.extent)
    for layer in range(frame.layers):
        base = frame.base(layer)
        column, row = np.meshgrid(np.arange(width) + base[0], np.arange(height) + base[1])
        light = np.ones((height, width))
        if layer:
            before = frame.base(layer - 1)
            i, j = column - before[0], row - before[1]
            known = (i >= 0) & (j >= 0) & (i < width) & (j < height)
            light[known] = layers[layer - 1][j[known], i[known]]
        across = np.stack([column, row], axis=-1) + 0.5 - np.array(frame.start) / ONE
        enters = np.where(frame.slope > 0.0, 0.0, extent[:2])
        # the outermost cell holds on beyond where it leaves
        leaves = np.where(frame.slope > 0.0, extent[:2] + BEYOND, -BEYOND)
        near = np.maximum(layer, ((enters - across) / frame.slope).max(axis=-1))
        far = np.minimum(min(layer + 1, extent[2]), ((leaves - across) / frame.slope).min(axis=-1))
        middle = np.concatenate([across, 0.5 * (near + far)[..., None], np.ones((height, width, 1))], axis=-1)
        place = (middle @ places.T)[..., :3]
        here = np.maximum(trilinear(density, place), 0.0)
        if solid is not None:
            share = trilinear(solid, place)
            here = here / np.maximum(1.0 - share, 0.05)  # as ``over_fluid`` of lib/cell_sample.glsl
        here = edged(here * fade(place, frame.grid.cells, fades, fade_rate, fade_low, fade_high), edge)
        clear = extinction * frame.path * np.maximum(far - near, 0.0)
        if attenuation == "harris":
            left = np.clip(1.0 - (1.0 - np.exp(-clear)) * here, 0.0, 1.0)
        else:
            left = np.exp(-clear * here)
        if solid is not None and not past_solids:
            left = left * np.maximum(1.0 - 2.0 * share, 0.0)  # as ``let_by_solids`` of lib/solidity.glsl
        layers[layer] = np.where(far > near, light * left, light)
    return layers


def _read_column(frame: LightFrame, layer: int, column: Floats) -> Floats:
    """Which column to read in place of `column`; see ``read_FIELD`` in ``light_at.glsl``."""
    slope, extent, depth = frame.slope, np.array(frame.extent[:2]), layer + 1
    forth = np.where(slope > 0.0, 1.0, -1.0)
    run, place = np.abs(slope) * depth, column + slope * depth
    entered = np.where(forth > 0.0, place, extent - place)
    shift = np.where(forth > 0.0, 0.0, extent)
    middle = forth * (0.5 - np.array(frame.start) / ONE)
    first = np.mod(shift + middle + run, 1.0)
    last = extent - np.mod(extent - shift - middle - run, 1.0) + BEYOND
    share = np.clip(np.minimum(entered, run) / np.maximum(np.minimum(first, run), 1e-9), 0.0, 1.0)
    read: Floats = np.where(entered < first, first - 1.0 + share, np.minimum(entered, last))
    return column + forth * (read - entered)


def light_at(frame: LightFrame, layers: Floats, place: Sequence[float]) -> float:
    """Return the share of light that reaches one place, in cells; the twin of the GLSL lookup."""
    p, cells = np.array(place, np.float64), np.array(frame.grid.cells)
    ends = np.stack([p / frame.unit, (p - cells) / frame.unit])
    near, far = max(ends.min(axis=0).max(), 0.0), ends.max(axis=0).min()
    if near > far:
        return 1.0
    column = frame.matrix @ np.append(p - near * frame.unit, 1.0)
    depth = float(np.clip(column[2], 0.0, frame.layers - 0.001)) - 1.0
    above = int(np.floor(depth))
    part = depth - above

    def layer(m: int) -> float:
        if m < 0:
            return 1.0
        texel = _read_column(frame, m, column[:2]) + np.array(frame.start) / ONE - frame.base(m)
        # one slice deep: the trilinear sample is the bilinear filter of the texture
        return float(trilinear(layers[m][None], np.array([*texel, 0.5])))

    light = layer(above)
    return light * float((max(layer(above + 1), 1e-30) / max(light, 1e-30)) ** part)


def lamps_left(
    left: Floats, cells: Sequence[int], lag: Sequence[int], lamps: Floats, places: Floats
) -> Floats:
    """Return the share of each lamp's light at places, [n, lamp]; the twin of ``host/light.glsl``.

    left: [z, y, x, lamp], in cells of twice the size of which the first begins `lag` cells before the box.
    lamps: [lamp, 4], a place in cells and 1, or the way its light travels, of length 1, and 0. places: cells,
    in the box or outside it: there, what is left where the way to the lamp enters it.
    """
    nx, ny, nz = ((np.array(cells) - 1 + lag) // 2 + 1).tolist()
    found = np.ones((len(places), len(lamps)))
    for n, (*lamp, near) in enumerate(lamps):
        way = lamp - places if near else np.broadcast_to(np.negative(lamp), places.shape)
        d = np.where(np.abs(way) < 1e-6, 1e-6, way)
        ends = np.stack([-places / d, (np.array(cells) - places) / d])
        enters = np.maximum(ends.min(axis=0).max(axis=1), 0.0)
        there = enters <= ends.max(axis=0).min(axis=1)
        if near:
            there &= enters < 1.0
        at = 0.5 * (places + enters[:, None] * way + np.array(lag))
        found[there, n] = trilinear(left[:nz, :ny, :nx, n], at[there])
    return found


def in_cone(ways: Floats, direction: Sequence[float], angle: float, softness: float) -> Floats:
    """Return the share of a spot light's strength along `ways` from it, [..., 3]; see `gpufluid.SpotLight`.

    It is ``smoothstep`` of the cosine, from that of half the angle to that of where it is full.
    """
    axis = np.array(direction, np.float64)
    cosine = ways @ axis / (np.linalg.norm(ways, axis=-1) * np.linalg.norm(axis))
    outer, inner = np.cos(np.radians(0.5 * angle * np.array([1.0, 1.0 - softness])))
    t = np.clip((cosine - outer) / max(inner - outer, 1e-3 * (1.0 - outer)), 0.0, 1.0)
    share: Floats = t * t * (3.0 - 2.0 * t)
    return share
