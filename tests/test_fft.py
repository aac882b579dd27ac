"""The direct pressure solver: its transform against NumPy's, what it leaves, what it refuses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import moderngl
import numpy as np
import pytest
from reading import forbid_reading
from sharing import DRAWN, EVERYWHERE

import gpufluid as gf
from gpufluid import reference
from gpufluid.contract.kernels import KERNELS, Variant
from gpufluid.gl.backend import GLBackend
from gpufluid.gl.device import Device
from gpufluid.numerics.fourier import passes, roots
from gpufluid.reference.numpy_backend import NumpyBackend

pytestmark = pytest.mark.usefixtures("one_context")
PERIODIC = gf.Boundaries.all(gf.Periodic())
VARIANT = Variant(boundaries=PERIODIC)
BOXES = [(16, 8, 4), (32, 1, 1), (1, 16, 1), (2, 4, 8), (1, 1, 64), (64, 32, 1), (4, 128, 2), (8, 8, 8)]


def noisy(cells: tuple[int, int, int], backend: str, solver: Any = None, **rules: Any) -> gf.Fluid:
    """A periodic box of white noise."""
    settings = gf.Settings(pressure=solver or gf.FFT(), buoyancy=0.0, **rules)
    fluid = gf.Fluid(gf.Grid(cells, 0.1), PERIODIC, settings, backend)
    nx, ny, nz = cells
    fluid.velocity.write(np.random.default_rng(3).normal(size=(nz + 1, ny + 1, nx + 1, 3)))
    return fluid


def rms_divergence(fluid: gf.Fluid) -> float:
    """In the backend's own precision."""
    field: Any = fluid._solver.divergence()
    values = field.values if fluid.backend_name == "numpy" else field.read().astype(float)
    return float(np.sqrt(np.mean(values**2)))


# -- the transform -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=EVERYWHERE)
def made(request: pytest.FixtureRequest, ctx: moderngl.Context) -> Iterator[Any]:
    """A function that makes a backend of one kind on some cells."""
    backends: list[Any] = []

    def make(cells: tuple[int, int, int]) -> Any:
        grid = gf.Grid(cells, 0.1)
        backends.append(
            NumpyBackend(grid) if request.param == "numpy" else GLBackend(grid, request.param, ctx)
        )
        return backends[-1]

    yield make
    for backend in backends:
        backend.release()


@pytest.mark.parametrize("cells", BOXES)
def test_the_transform_is_numpys(cells: tuple[int, int, int], made: Any) -> None:
    """Forward it is np.fft of the numbers x(2i) + i x(2i + 1), and back again the same times their count."""
    backend = made(cells)
    nx, ny, nz = cells
    half = max(nx // 2, 1)
    rng = np.random.default_rng(5)
    numbers = rng.normal(size=(nz, ny, half)) + 1j * rng.normal(size=(nz, ny, half))
    transform = backend.field("transform", "wave", exact=True)
    table = backend.field("roots", "root", buffers=1, exact=True)
    table.write(roots(max(cells)))
    transform.write(np.stack([numbers.real, numbers.imag], -1).reshape(nz, ny, 2 * half, 1))
    tolerance = 1e-12 if backend.name == "numpy" else 1e-6

    def run(direction: float) -> Any:
        for count, name, extra in (
            (half, "fft_rows", {}),
            (ny, "fft_lines", {"axis": 1}),
            (nz, "fft_lines", {"axis": 2}),
        ):
            for done, bits in passes(count):
                backend.kernel(name, VARIANT)(
                    transform=transform, roots=table, done=done, bits=bits, direction=direction, **extra
                )
        values = transform.values if backend.name == "numpy" else transform.read().astype(float)
        return values[:, :, 0::2, 0] + 1j * values[:, :, 1::2, 0]

    expected = np.fft.fftn(numbers)
    scale = float(np.sqrt(np.mean(np.abs(expected) ** 2)))
    assert np.abs(run(1.0) - expected).max() <= tolerance * scale
    assert np.abs(run(-1.0) / numbers.size - numbers).max() <= 2.0 * tolerance


def test_a_transform_takes_few_passes() -> None:
    assert [list(passes(n)) for n in (1, 2, 4, 32)] == [[], [(0, 1)], [(0, 2)], [(0, 2), (2, 2), (4, 1)]]


def test_the_division_is_numpys() -> None:
    """Of the whole spectrum, in a box whose three sides differ."""
    grid = gf.Grid((16, 4, 8))
    rng = np.random.default_rng(2)
    right = rng.normal(size=(8, 4, 16))
    numbers = np.fft.fftn(right[..., 0::2] + 1j * right[..., 1::2])
    given = np.stack([numbers.real, numbers.imag], -1).reshape(8, 4, 16, 1)
    divided = reference.fft_divide(grid, VARIANT, transform=given, roots=roots(16))
    back = np.fft.ifftn(divided[..., 0::2, 0] + 1j * divided[..., 1::2, 0]) * numbers.size
    symbol = np.zeros(right.shape)
    for axis, n in enumerate(right.shape):
        shape = [n if a == axis else 1 for a in range(3)]
        symbol = symbol - (4.0 * np.sin(np.pi * np.arange(n) / n) ** 2).reshape(shape)
    symbol[0, 0, 0] = np.inf
    expected = np.fft.ifftn(np.fft.fftn(right) / symbol).real
    np.testing.assert_allclose(
        np.stack([back.real, back.imag], -1).reshape(right.shape), expected, atol=1e-13
    )


# -- the solution ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "backend"),
    [
        *((cells, "numpy") for cells in [*BOXES, (2, 1, 1), (2, 2, 2), (32, 32, 32)]),
        # the transforms of all boxes are tested above
        ((2, 1, 1), "fragment"),
        ((16, 8, 4), "fragment"),
        ((64, 32, 1), "compute"),
        ((32, 32, 32), "compute"),
    ],
)
def test_the_divergence_falls_to_rounding(cells: tuple[int, int, int], backend: str) -> None:
    with noisy(cells, backend) as fluid:
        start = rms_divergence(fluid)
        fluid.project()
        assert start > 5.0
        assert rms_divergence(fluid) <= (1e-12 if backend == "numpy" else 1e-5) * start
        pressure = fluid.pressure.read()
        assert abs(pressure.mean(dtype=float)) <= 1e-6 * np.abs(pressure).max()


def test_a_box_of_one_cell_has_no_pressure() -> None:
    for backend in DRAWN:
        with noisy((1, 1, 1), backend) as fluid:
            fluid.project()
            assert not fluid.pressure.read().any()


@pytest.mark.parametrize(
    ("cells", "backend"), [((16, 8, 4), "numpy"), ((16, 8, 4), "fragment"), ((64, 32, 1), "numpy")]
)
def test_conjugate_gradients_come_to_the_same(cells: tuple[int, int, int], backend: str) -> None:
    pressures = []
    for solver in (gf.FFT(), gf.ConjugateGradient(200, tolerance=1e-7)):
        with noisy(cells, backend, solver) as fluid:
            fluid.project()
            pressure = fluid.pressure.read()
            pressures.append(pressure - pressure.mean())
    assert np.abs(pressures[0] - pressures[1]).max() <= 2e-6 * np.abs(pressures[0]).max()


@pytest.mark.parametrize("backend", ["numpy", "auto"])
def test_the_last_pressure_does_not_matter(backend: str) -> None:
    pressures = []
    for before in (0.0, 1e4):
        with noisy((16, 8, 4), backend, warm_start=True) as fluid:
            fluid.pressure.write(np.full((4, 8, 16), before))
            fluid.step(0.02)
            pressures.append(fluid.pressure.read())
    assert np.array_equal(pressures[0], pressures[1])


@pytest.mark.parametrize("backend", ["compute"])
def test_half_precision(backend: str) -> None:
    """The transform is single: what is left is what half floats make of velocity and pressure."""
    with noisy((32, 16, 8), backend, precision="half") as fluid:
        start = rms_divergence(fluid)
        fluid.project()
        assert rms_divergence(fluid) <= 2e-3 * start
        assert abs(fluid.pressure.read().mean(dtype=float)) <= 1e-3
        for _ in range(5):
            fluid.step(0.02)
        assert np.isfinite(fluid.velocity.read()).all()


def test_steps_read_nothing_back_and_make_no_texture(monkeypatch: pytest.MonkeyPatch) -> None:
    with noisy((16, 8, 4), "auto", max_substeps=1) as fluid:
        fluid.step(0.01)
        with monkeypatch.context() as patch:
            forbid_reading(patch)
            patch.setattr(Device, "texture", lambda *a: pytest.fail("a step makes a texture"))
            fluid.step(0.01)
        assert rms_divergence(fluid) <= 1e-4


def test_transforms_are_single_whatever_the_precision() -> None:
    """Mesa takes a wrong image format for the right one, so the declarations are looked at."""
    kernels = [kernel for name, kernel in KERNELS.items() if name.startswith("fft")]
    slots = [slot for kernel in kernels for slot in (kernel.write, *kernel.reads)]
    assert len(kernels) == 5
    for slot in slots:
        assert slot.exact == (slot.kind in ("wave", "root") or slot.name == "pressure"), slot


# -- what it refuses ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_side_that_is_not_periodic_is_named(axis: int) -> None:
    names = (("left", "right"), ("bottom", "top"), ("back", "front"))[axis]
    for side in (gf.Wall(), gf.Open()):
        sides = gf.Boundaries(
            **{
                name: gf.Periodic()
                for name in ("left", "right", "bottom", "top", "back", "front")
                if name not in names
            },
            **{names[0]: side, names[1]: gf.Wall("free")},
        )
        with pytest.raises(
            gf.GpufluidError, match=rf"needs gf.Periodic\(\) .*{names[0]} is {type(side).__name__}"
        ):
            gf.Fluid(gf.Grid((8, 8, 8)), sides, gf.Settings(pressure=gf.FFT()), "numpy")


def test_back_and_front_of_a_flat_box_are_no_sides() -> None:
    sides = gf.Boundaries(*[gf.Periodic()] * 4)
    with gf.Fluid(gf.Grid((8, 8, 1)), sides, gf.Settings(pressure=gf.FFT()), "numpy") as fluid:
        fluid.velocity.write(np.random.default_rng(1).normal(size=(2, 9, 9, 3)))
        fluid.project()
        assert rms_divergence(fluid) <= 1e-12


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ((12, 8, 8), r"got 12 along x in \(12, 8, 8\); the nearest are 8 and 16"),
        ((8, 7, 8), r"got 7 along y in \(8, 7, 8\); the nearest are 4 and 8"),
        ((8, 8, 3), r"got 3 along z in \(8, 8, 3\); the nearest are 2 and 4"),
    ],
)
@pytest.mark.parametrize("backend", ["numpy", "auto"])
def test_a_size_that_is_no_power_of_two_is_named(
    cells: tuple[int, int, int], message: str, backend: str
) -> None:
    with pytest.raises(gf.GpufluidError, match=r"gf.FFT\(\) needs a power of two.*" + message):
        gf.Fluid(gf.Grid(cells), PERIODIC, gf.Settings(pressure=gf.FFT()), backend)


@pytest.mark.parametrize("backend", ["numpy", "auto"])
def test_an_obstacle_is_refused_and_nothing_changes(backend: str) -> None:
    ball = gf.Obstacle(gf.Sphere(radius=0.2), position=(0.4, 0.4, 0.4))
    with noisy((8, 8, 8), backend) as fluid:
        before = fluid.velocity.read()
        with pytest.raises(gf.GpufluidError, match=r"obstacles cannot stand in a fluid with .*gf.FFT\(\)"):
            fluid.obstacles.add(ball)
        assert len(fluid.obstacles) == 0
        with pytest.raises(gf.GpufluidError, match="obstacles cannot stand"):  # by hand
            fluid._solver.step(0.1, [], [ball])
        assert fluid._solver.solids.solid is None
        assert np.array_equal(fluid.velocity.read(), before)
    with noisy((8, 8, 8), backend, gf.Jacobi()) as fluid:
        fluid.obstacles.add(ball)
        fluid.settings = fluid.settings.but(pressure=gf.FFT())
        for solve in (fluid.project, lambda: fluid.step(0.1)):
            with pytest.raises(gf.GpufluidError, match="obstacles cannot stand"):
                solve()
        assert np.array_equal(fluid.velocity.read(), before)


def test_it_takes_no_parameters() -> None:
    with pytest.raises(gf.GpufluidError, match="Settings.pressure must be one of .*FFT"):
        gf.Settings(pressure=gf.FFT)  # type: ignore[arg-type]
    assert gf.Settings(pressure=gf.FFT()).pressure == gf.FFT()
