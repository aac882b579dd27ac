"""The pressure of boxes without solids by fast Fourier transforms."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufluid.contract.kernels import Variant
from gpufluid.description.grid import Grid
from gpufluid.reference.arrays import Array

Complex = NDArray[np.complex128]


def _complex(transform: Array) -> Complex:
    """The values of each row two by two as complex numbers."""
    numbers: Complex = transform[..., 0::2, 0] + 1.0j * transform[..., 1::2, 0]
    return numbers


def _two_by_two(numbers: Complex) -> Array:
    """The inverse of `_complex`."""
    nz, ny, half_row = numbers.shape
    return np.stack([numbers.real, numbers.imag], -1).reshape((nz, ny, 2 * half_row, 1))


def _fourier_pass(numbers: Complex, roots: Array, done: int, bits: int, direction: float) -> Complex:
    """One pass along the last axis: transforms of length 2^done become such of length 2^(done + bits)."""
    count, radix, wide = numbers.shape[-1], 1 << bits, 1 << (done + bits)
    n = np.arange(count)
    start = n // wide * (wide // radix) + n % (wide // radix)
    turn = roots[:, 0, 0, 0] + 1.0j * direction * roots[:, 0, 0, 1]
    out = np.zeros_like(numbers)
    for r in range(radix):
        angle = r * (n % wide) % wide * (len(turn) // wide)
        out += turn[angle] * numbers[..., start + r * (count // radix)]
    return out


def fft_load(grid: Grid, variant: Variant, *, divergence: Array, scale: float) -> Array:
    """What the transform starts from."""
    return np.pad(scale * divergence, ((0, 0), (0, 0), (0, grid.cells[0] % 2), (0, 0)))


def fft_rows(
    grid: Grid, variant: Variant, *, transform: Array, roots: Array, done: int, bits: int, direction: float
) -> Array:
    """One pass along x."""
    numbers = _complex(transform)
    return _two_by_two(_fourier_pass(numbers, roots, done, bits, direction))


def fft_lines(
    grid: Grid,
    variant: Variant,
    *,
    transform: Array,
    roots: Array,
    axis: int,
    done: int,
    bits: int,
    direction: float,
) -> Array:
    """One pass along y or z."""
    numbers = np.moveaxis(_complex(transform), 2 - axis, -1)
    passed = _fourier_pass(numbers, roots, done, bits, direction)
    return _two_by_two(np.moveaxis(passed, -1, 2 - axis))


def fft_divide(grid: Grid, variant: Variant, *, transform: Array, roots: Array) -> Array:
    """The transform of the pressure from that of its Laplacian; its mean is 0."""
    numbers = _complex(transform)
    waves = [roots[:: len(roots) // n, 0, 0] for n in grid.cells]
    x, y, z = (wave[:, 2] for wave in waves)
    symbol = x + y[:, None] + z[:, None, None]
    over = np.divide(-1.0 / numbers.size, symbol, out=np.zeros_like(symbol), where=symbol > 0.0)
    # the transforms of the even and of the odd cells, both real, from that of even + i * odd; in rows of one
    # cell low and high are the same wave
    other = np.conj(np.roll(numbers[::-1, ::-1, ::-1], (1, 1, 1), (0, 1, 2)))
    even, odd = (numbers + other) / 2.0, (numbers - other) / 2.0j
    turn = (waves[0][:, 0] + 1.0j * waves[0][:, 1])[: numbers.shape[-1]]
    low, high = np.split(over * np.concatenate([even + turn * odd, even - turn * odd], -1), 2, -1)
    return _two_by_two((low + high) / 2.0 + 1.0j * (low - high) / 2.0 * np.conj(turn))


def fft_store(grid: Grid, variant: Variant, *, transform: Array) -> Array:
    """The pressure out of the transform."""
    return transform[:, :, : grid.cells[0]].copy()
