"""Colour maps as 256 sRGB colours, worked out from a few.

viridis, magma: every ninth part of the maps of van der Walt & Smith (2015, CC0), with a cubic (Catmull & Rom
1974) between. coolwarm: Moreland (2009), Diverging Color Maps for Scientific Visualization, by his formula.
dusk: from dark in the middle to blue and to orange, even in the lightness of Oklab (Ottosson 2020), for
what is signed on a dark ground. gray: even in sRGB.
"""

from __future__ import annotations

from collections.abc import Callable

import moderngl
import numpy as np
from numpy.typing import NDArray

from gpufluid.common.errors import one_of
from gpufluid.common.vectors import Floats
from gpufluid.contract.backend import release
from gpufluid.gl.device import Device

COLORS = 256
VIRIDIS = "440154 482878 3e4989 31688e 26828e 1f9e89 35b779 6ece58 b5de2b fde725"
MAGMA = "000004 180f3d 440f76 721f81 9e2f7f cd4071 f1605d fd9668 feca8d fcfdbf"
WHITE = np.array([0.9504559, 1.0, 1.0890578])  # XYZ of D65
TO_XYZ = np.array(
    [
        [0.4123908, 0.3575843, 0.1804808],
        [0.2126390, 0.7151687, 0.0721923],
        [0.0193308, 0.1191948, 0.9505322],
    ]
)  # of linear sRGB, IEC 61966-2-1


def _linear(srgb: Floats) -> Floats:
    out: Floats = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    return out


def _srgb(linear: Floats) -> Floats:
    linear = np.clip(linear, 0.0, 1.0)
    out: Floats = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1.0 / 2.4) - 0.055)
    return out


def _through(colors: str) -> Floats:
    """A smooth curve through colours at equal distances, [COLORS, 3]."""
    points = np.array([[int(c[i : i + 2], 16) / 255.0 for i in (0, 2, 4)] for c in colors.split()])
    points = np.concatenate([2 * points[:1] - points[1:2], points, 2 * points[-1:] - points[-2:-1]])
    at = np.linspace(0.0, len(points) - 3, COLORS)
    i = np.minimum(at.astype(int), len(points) - 4)
    t = (at - i)[:, None]
    a, b, c, d = (points[i + n] for n in range(4))
    out: Floats = b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)))
    return out


def _to_lab(srgb: Floats) -> Floats:
    """CIE L*a*b* of one colour."""
    xyz = TO_XYZ @ _linear(srgb) / WHITE
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def _from_lab(lab: Floats) -> Floats:
    """The colours of CIE L*a*b* [n, 3]."""
    fy = (lab[:, 0] + 16) / 116
    f = np.stack([fy + lab[:, 1] / 500, fy, fy - lab[:, 2] / 200], -1)
    xyz = np.where(f > 6 / 29, f**3, 3 * (6 / 29) ** 2 * (f - 4 / 29)) * WHITE
    return _srgb(xyz @ np.linalg.inv(TO_XYZ).T)


def _coolwarm() -> Floats:
    """Moreland's map between his blue and his red, by way of his Msh space (polar L*a*b*)."""

    def msh(rgb: tuple[int, int, int]) -> tuple[float, float, float]:
        lab = _to_lab(np.array(rgb) / 255.0)
        m = float(np.linalg.norm(lab))
        return m, float(np.arccos(lab[0] / m)), float(np.arctan2(lab[2], lab[1]))

    def turned(color: tuple[float, float, float], m: float) -> float:
        """The hue that an unsaturated middle takes on the way to `color`."""
        own, s, h = color
        if own >= m:
            return h
        turn = s * np.sqrt(m * m - own * own) / (own * np.sin(s))
        return float(h + turn if h > -np.pi / 3 else h - turn)

    ends, m = (msh((59, 76, 192)), msh((180, 4, 38))), 88.0
    parts = []
    for low, high in (
        (ends[0], (m, 0.0, turned(ends[0], m))),
        ((m, 0.0, turned(ends[1], m)), ends[1]),
    ):
        t = np.linspace(0.0, 1.0, COLORS // 2)[:, None]
        parts.append(np.array(low) * (1 - t) + np.array(high) * t)
    m_s_h = np.concatenate(parts)
    radius, s, h = m_s_h.T
    lab = np.stack([radius * np.cos(s), radius * np.sin(s) * np.cos(h), radius * np.sin(s) * np.sin(h)], -1)
    return _from_lab(lab)


def _dusk() -> Floats:
    """Blue, dark, orange: lightness of Oklab 0.86 at the ends, 0.2 in the middle."""
    to_lms = np.array(
        [
            [0.4122214708, 0.5363325363, 0.0514459929],
            [0.2119034982, 0.6806995451, 0.1073969566],
            [0.0883024619, 0.2817188376, 0.6299787005],
        ]
    )  # of linear sRGB; Ottosson (2020)
    to_oklab = np.array(
        [
            [0.2104542553, 0.7936177850, -0.0040720468],
            [1.9779984951, -2.4285922050, 0.4505937099],
            [0.0259040371, 0.7827717662, -0.8086757660],
        ]
    )
    t = np.linspace(-1.0, 1.0, COLORS)
    size = np.abs(t)
    hue = np.radians(np.where(t < 0.0, 245.0 - 15.0 * (1.0 - size), 60.0 - 25.0 * (1.0 - size)))
    chroma = 0.125 * np.sin(np.pi * np.clip(size, 0.0, 1.0) ** 0.7 * 0.78)
    oklab = np.stack([0.20 + 0.66 * size**0.9, chroma * np.cos(hue), chroma * np.sin(hue)], -1)
    lms = (oklab @ np.linalg.inv(to_oklab).T) ** 3
    return _srgb(lms @ np.linalg.inv(to_lms).T)


def _gray() -> Floats:
    return np.linspace(0.0, 1.0, COLORS)[:, None].repeat(3, 1)


MAPS: dict[str, Callable[[], Floats]] = {
    "viridis": lambda: _through(VIRIDIS),
    "magma": lambda: _through(MAGMA),
    "coolwarm": _coolwarm,
    "dusk": _dusk,
    "gray": _gray,
}


def colormap(name: str) -> NDArray[np.uint8]:
    """Return the map of that name, sRGB uint8 [256, 3], low numbers first; raises GpufluidError for none."""
    one_of(name, tuple(MAPS), "colors")
    return np.rint(np.clip(MAPS[name](), 0.0, 1.0) * 255.0).astype(np.uint8)


class ColorMaps:
    """The maps as textures of one row, made when they are first used."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._textures: dict[str, moderngl.Texture] = {}

    def texture(self, name: str) -> moderngl.Texture:
        """The texture of a map."""
        if name not in self._textures:
            made = self.device.texture((COLORS, 1), 4, "f1", "a colour map")
            opaque = np.concatenate([colormap(name), np.full((COLORS, 1), 255, np.uint8)], 1)
            made.write(opaque.tobytes(), alignment=1)
            self._textures[name] = made
        return self._textures[name]

    def release(self) -> None:
        """Release the textures; idempotent."""
        release(*self._textures.values())
        self._textures.clear()
