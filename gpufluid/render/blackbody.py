"""The colour of hot matter: black-body radiation as linear sRGB."""

from __future__ import annotations

import numpy as np

from gpufluid.common.vectors import Floats

COLDEST, HOTTEST = 700.0, 4000.0  # K, of the table
TABLE = 2048  # temperatures in it
DRAPER = 798.0  # K, below which nothing glows visibly (Draper 1847)
BRIGHT = 1200.0  # K, from which on brightness follows the radiated power alone
GLOWS_FROM = DRAPER - (HOTTEST - COLDEST) / (TABLE - 1)  # K, where the table begins to rise
REFERENCE = 2000.0  # K, whose brightness is 1
LENGTHS = np.arange(380.0, 781.0, 5.0)  # nm
TO_SRGB = np.array([[3.2406, -1.5372, -0.4986], [-0.9689, 1.8758, 0.0415], [0.0557, -0.2040, 1.0570]])


def _lobe(middle: float, below: float, above: float) -> Floats:
    width = np.where(middle > LENGTHS, below, above)
    return np.asarray(np.exp(-0.5 * ((LENGTHS - middle) / width) ** 2))


# the CIE 1931 observer as sums of lobes (Wyman, Sloan & Shirley 2013)
OBSERVER = np.stack(
    [
        1.056 * _lobe(599.8, 37.9, 31.0)
        + 0.362 * _lobe(442.0, 16.0, 26.7)
        - 0.065 * _lobe(501.1, 20.4, 26.2),
        0.821 * _lobe(568.8, 46.9, 40.5) + 0.286 * _lobe(530.9, 16.3, 31.1),
        1.217 * _lobe(437.0, 11.8, 36.0) + 0.681 * _lobe(459.0, 26.0, 13.8),
    ]
)


def blackbody_xyz(kelvin: Floats) -> Floats:
    """CIE XYZ of black bodies of `kelvin` [n] (Planck 1901), up to a common factor: [n, 3]."""
    metres = LENGTHS * 1e-9
    spectrum = metres**-5.0 / np.expm1(1.438777e-2 / (metres * np.asarray(kelvin)[:, None]))
    return np.asarray(spectrum @ OBSERVER.T)


def fire_table() -> Floats:
    """Radiance of gas from `COLDEST` to `HOTTEST` K, linear sRGB [TABLE, 3].

    The colour is a black body's, its largest channel 1 at `REFERENCE`; the brightness goes with the fourth
    power of the temperature (Stefan & Boltzmann), as a camera that follows it halfway shows it: the visible
    part alone would grow a thousandfold between red and yellow heat.
    """
    kelvin = np.linspace(COLDEST, HOTTEST, TABLE)
    color = np.maximum(blackbody_xyz(kelvin) @ TO_SRGB.T, 0.0)  # the reddest lie outside sRGB
    color /= color.max(axis=1, keepdims=True)
    visible = np.clip((kelvin - DRAPER) / (BRIGHT - DRAPER), 0.0, 1.0)
    bright = (kelvin / REFERENCE) ** 4 * visible**2 * (3.0 - 2.0 * visible)
    return np.asarray(color * bright[:, None])
