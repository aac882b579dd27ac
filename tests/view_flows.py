"""Flows in closed form for the tests of the views: nothing here depends on how a fluid is stepped."""

from __future__ import annotations

from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

import gpufluid as gf
from gpufluid.contract.kernels import Variant

Floats = NDArray[np.float64]
BALL = gf.Sphere((0.0, 0.55, 0.0), 0.17)


def face_places(grid: gf.Grid, axis: int) -> tuple[Floats, Floats, Floats]:
    """Where component `axis` lives, metres, as [nz + 1, ny + 1, nx + 1] each."""
    nx, ny, nz = grid.cells
    z, y, x = np.meshgrid(*(np.arange(n + 1) + 0.5 for n in (nz, ny, nx)), indexing="ij")
    places = [x, y, z]
    places[axis] = places[axis] - 0.5
    x, y, z = (p * grid.cell_size + o for p, o in zip(places, grid.origin, strict=True))
    return x, y, z


def cell_places(grid: gf.Grid) -> tuple[Floats, Floats, Floats]:
    """The centres of the cells, metres, as [nz, ny, nx] each."""
    z, y, x = np.meshgrid(*(np.arange(n) + 0.5 for n in grid.cells[::-1]), indexing="ij")
    x, y, z = (p * grid.cell_size + o for p, o in zip((x, y, z), grid.origin, strict=True))
    return x, y, z


def write_velocity(fluid: gf.Fluid, flow: Any) -> None:
    """Set the velocity to ``flow(x, y, z)``, which returns the three components."""
    faces = [flow(*face_places(fluid.grid, axis))[axis] for axis in range(3)]
    fluid.velocity.write(np.stack([np.broadcast_to(f, faces[0].shape) for f in faces], -1))


def rotation(speed: float, x0: float, y0: float) -> Any:
    """Solid-body rotation about an axis along z; speed: rad/s."""

    def flow(x: Floats, y: Floats, z: Floats) -> tuple[Floats, Floats, Floats]:
        return -speed * (y - y0), speed * (x - x0), 0.0 * z

    return flow


def round_a_ball(x: Floats, y: Floats, z: Floats) -> tuple[Floats, Floats, Floats]:
    """Potential flow upward round `BALL` (Batchelor 1967, 2.9), and a swirl about the y axis; 0 inside."""
    (cx, cy, cz), a = BALL.center, BALL.radius
    dx, dy, dz = x - cx, y - cy, z - cz
    r = np.maximum(np.sqrt(dx**2 + dy**2 + dz**2), 1e-9)
    cubed = np.minimum((a / r) ** 3, 1.0)
    along = 0.6 * np.exp(-((np.hypot(dx, dz) / 0.3) ** 2))  # it fades to the sides
    radial = -1.5 * along * cubed * dy / r
    swirl = 1.2 * (1.0 - cubed) * np.exp(-((np.hypot(dx, dz) / 0.22) ** 2)) * (dy > -2)
    u = radial * dx / r + swirl * dz
    v = along * (1.0 + 0.5 * cubed) + radial * dy / r
    w = radial * dz / r - swirl * dx
    outside = r > a
    return u * outside, v * outside, w * outside


def ball_flow(ctx: moderngl.Context, cells: tuple[int, int, int] = (24, 36, 24), **options: Any) -> gf.Fluid:
    """The flow round a ball, with smoke and heat that go round it as well; a box 1.2 m high on y = 0."""
    size = 1.2 / cells[1]
    grid = gf.Grid(cells, size, origin=(-0.5 * size * cells[0], 0.0, -0.5 * size * cells[2]))
    fluid = gf.Fluid(grid, backend="fragment", ctx=ctx, **options)
    fluid.obstacles.add(gf.Obstacle(BALL))
    fluid.solid.read()
    write_velocity(fluid, round_a_ball)
    x, y, z = cell_places(grid)
    r = np.hypot(x - 0.03, z)
    ball = np.exp(-(((x**2 + (y - 0.55) ** 2 + z**2) ** 0.5 / 0.26) ** 4))
    column = np.exp(-((r / 0.11) ** 2)) * (y < 0.62) + np.exp(-(((r - 0.2) / 0.07) ** 2)) * (y > 0.42) * (
        y < 0.95
    )
    fluid.density.write(np.clip(column * np.clip(y / 0.1, 0, 1) + 0.25 * ball, 0.0, 1.2))
    fluid.temperature.write(column * np.exp(-y))
    fluid.pressure.write(0.3 * (1.0 - y / 1.2) + 0.5 * ball * np.sign(0.55 - y))
    return fluid


def variant_of(fluid: gf.Fluid) -> Variant:
    """How the reference samples this fluid."""
    return Variant(solids=fluid.solid_field is not None, boundaries=fluid.boundaries)


def solid_of(fluid: gf.Fluid) -> Floats | None:
    """The field of the solids as the reference takes it."""
    return None if fluid.solid_field is None else fluid.solid_field.read().astype(np.float64)


def velocity_of(fluid: gf.Fluid) -> Floats:
    """The velocity as the reference takes it."""
    return fluid.velocity_field.read().astype(np.float64)


def parallel(half_width: float, half_height: float, near: float, far: float) -> Floats:
    """A parallel projection, left of column vectors."""
    matrix = np.diag([1.0 / half_width, 1.0 / half_height, -2.0 / (far - near), 1.0])
    matrix[2, 3] = -(far + near) / (far - near)
    return matrix
