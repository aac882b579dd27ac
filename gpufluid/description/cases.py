"""Closed forms a fluid solver can be held to; tests and demos share them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufluid.description.grid import Grid

Array = NDArray[np.float64]


@dataclass(frozen=True)
class CosineMode:
    """A product of cosines in a closed box of cells: an eigenvector of Jacobi's sweep.

    wave_numbers: half waves along each axis. The neighbour beyond a wall has the centre's own value.
    """

    grid: Grid
    wave_numbers: tuple[int, int, int]

    def values(self) -> Array:
        """Return the mode at the cell centres, [nz, ny, nx]."""
        lines = [
            np.cos(np.pi * k * (np.arange(n) + 0.5) / n)
            for k, n in zip(self.wave_numbers, self.grid.cells, strict=True)
        ]
        return np.asarray(np.einsum("k,j,i->kji", lines[2], lines[1], lines[0]))

    @property
    def _axes(self) -> list[tuple[int, int]]:
        pairs = list(zip(self.wave_numbers, self.grid.cells, strict=True))
        return pairs[: self.grid.dimensions]

    @property
    def factor(self) -> float:
        """mu: what one sweep leaves of the mode's error."""
        return float(np.mean([np.cos(np.pi * k / n) for k, n in self._axes]))

    @property
    def eigenvalue(self) -> float:
        """Of the Laplacian with cells of size 1."""
        return -float(sum(4.0 * np.sin(np.pi * k / (2 * n)) ** 2 for k, n in self._axes))

    def diffused(self, fourier_number: float) -> float:
        """What one implicit step of diffusion over a = diffusivity dt / h^2 leaves of the mode."""
        return 1.0 / (1.0 - fourier_number * self.eigenvalue)

    def after(self, sweeps: int, weight: float = 1.0) -> Array:
        """Return the pressure after `sweeps` from zero, the right-hand side being the mode itself (h = 1)."""
        left = 1.0 - weight * (1.0 - self.factor)
        return (1.0 - left**sweeps) / self.eigenvalue * self.values()


@dataclass(frozen=True)
class FourierMode:
    """A wave carried at a constant speed: what one step of an advection scheme makes of it.

    angles: phase a cell along (x, y, z), radians. cells_per_step: how far it is carried, cells.
    """

    angles: tuple[float, float, float]
    cells_per_step: tuple[float, float, float]

    def amplification(self, scheme: str) -> complex:
        """Return the complex factor of one step of a scheme without limiter."""
        g = 1.0 + 0.0j
        for theta, c in zip(self.angles, self.cells_per_step, strict=True):
            whole, part = int(np.floor(c)), c - np.floor(c)
            g *= np.exp(-1j * theta * whole) * (1.0 - part + part * np.exp(-1j * theta))
        error = 1.0 - abs(g) ** 2  # of carrying it there and back
        return {"semi-lagrangian": g, "maccormack": g + error / 2.0, "bfecc": g * (1.0 + error / 2.0)}[scheme]

    def values(self, grid: Grid, factor: complex = 1.0) -> Array:
        """Return the wave times `factor` at the cell centres, [nz, ny, nx]."""
        nx, ny, nz = grid.cells
        z, y, x = np.meshgrid(np.arange(nz), np.arange(ny), np.arange(nx), indexing="ij")
        phase = self.angles[0] * x + self.angles[1] * y + self.angles[2] * z
        return np.asarray((factor * np.exp(1j * phase)).real)


@dataclass(frozen=True)
class TaylorGreen:
    """The steady vortex of Taylor & Green (1937) in a closed unit square with free-slip sides.

    viscosity: m^2/s; the energy decays by exp(-4 pi^2 viscosity t).
    """

    cells: int
    viscosity: float = 0.0

    @property
    def grid(self) -> Grid:
        """The unit square, one cell deep."""
        return Grid((self.cells, self.cells, 1), 1.0 / self.cells)

    def velocity(self) -> Array:
        """Return the staggered velocity, [2, ny + 1, nx + 1, 3]."""
        n = self.cells
        face, center = np.arange(n + 1) / n, (np.arange(n) + 0.5) / n
        out = np.zeros((2, n + 1, n + 1, 3))
        out[0, :n, :, 0] = np.outer(np.cos(np.pi * center), np.sin(np.pi * face))
        out[0, :, :n, 1] = -np.outer(np.sin(np.pi * face), np.cos(np.pi * center))
        return out

    def energy_ratio(self, time: float) -> float:
        """Return the kinetic energy at `time` over that of the start."""
        return float(np.exp(-4.0 * np.pi**2 * self.viscosity * time))


@dataclass(frozen=True)
class LambOseen:
    """The decaying vortex of Oseen (1912) about the middle of a unit square.

    v_theta = circulation / (2 pi r) (1 - exp(-r^2 / (4 viscosity t))). The start, time 0, is the moment at
    which its core, sqrt(4 viscosity t), has the radius `core`. SI units.
    """

    cells: int
    viscosity: float = 0.001
    circulation: float = 0.3
    core: float = 0.06

    @property
    def grid(self) -> Grid:
        """The unit square, one cell deep."""
        return Grid((self.cells, self.cells, 1), 1.0 / self.cells)

    def velocity(self, time: float) -> Array:
        """Return the staggered velocity `time` seconds after the start, [2, ny + 1, nx + 1, 3]."""
        n, square = self.cells, self.core**2 + 4.0 * self.viscosity * time
        face, center = np.arange(1, n) / n - 0.5, (np.arange(n) + 0.5) / n - 0.5

        def over_radius(x: Array, y: Array) -> Array:
            r2 = x[None, :] ** 2 + y[:, None] ** 2
            return np.asarray(self.circulation / (2.0 * np.pi) * -np.expm1(-r2 / square) / r2)

        out = np.zeros((2, n + 1, n + 1, 3))
        out[0, :n, 1:n, 0] = -center[:, None] * over_radius(face, center)
        out[0, 1:n, :n, 1] = center[None, :] * over_radius(center, face)
        return out


@dataclass(frozen=True)
class LambDipole:
    """A pair of vortices of radius 1 that carries itself along x or y (Lamb 1895, Chaplygin 1903).

    Within the circle the vorticity is -2 K J1(K r) / J0(K) sin(angle), K the first zero of J1: in fluid that
    rests far away the pair moves with the speed 1, unchanged. Here it stands in the middle of a periodic
    square of `size`, whose mean velocity is 0, among its images: they slow it by pi / size^2, the momentum
    of its own flow spread over the square. SI units; the error is of the order (1 / size)^4.
    """

    cells: int
    size: float = 8.0
    axis: int = 0

    FIRST_ZERO = 3.83170597020751  # of J1, and J0 there
    J0_THERE = -0.402759395702553

    @property
    def grid(self) -> Grid:
        """The square about the origin, one cell deep."""
        half = -0.5 * self.size
        return Grid((self.cells, self.cells, 1), self.size / self.cells, (half, half, 0.0))

    @property
    def speed(self) -> float:
        """How fast it moves, m/s."""
        return 1.0 - np.pi / self.size**2

    def velocity(self) -> Array:
        """Return the staggered velocity, divergence-free on the grid, [2, n + 1, n + 1, 3]."""
        n, h = self.cells, self.size / self.cells
        line = np.arange(n) * h - 0.5 * self.size
        x, y = np.meshgrid(line, line)
        across = y if self.axis == 0 else -x
        r = np.hypot(x, y)
        angles = (np.arange(64) + 0.5) / 64 * np.pi
        bessel = np.mean([np.cos(a - self.FIRST_ZERO * np.minimum(r, 1.0) * np.sin(a)) for a in angles], 0)
        vorticity = -2.0 * self.FIRST_ZERO / self.J0_THERE * bessel * across / np.maximum(r, 1e-9) * (r < 1.0)
        # the stream function at the corners of the cells, by Fourier modes of the grid's own Laplacian
        wave = (2.0 - 2.0 * np.cos(2.0 * np.pi * np.fft.fftfreq(n))) / h**2
        squares = wave[:, None] + wave[None, :]
        squares[0, 0] = np.inf
        stream = np.pad(np.fft.ifft2(np.fft.fft2(vorticity) / squares).real, ((0, 1), (0, 1)), mode="wrap")
        out = np.zeros((2, n + 1, n + 1, 3))
        out[0, :n, :, 0] = np.diff(stream, axis=0) / h
        out[0, :, :n, 1] = -np.diff(stream, axis=1) / h
        return out
