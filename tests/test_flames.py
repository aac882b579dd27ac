"""Fire as rays see it: heat between cells, mapped to how it glows, against its twin and closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from driver import within
from puff import Canvas, Floats, Puff, along_z, go_that_way
from reference_fire import heat, radiance, softened
from reference_light import trilinear

import gpufluid as gf
from gpufluid.gl.device import Device
from gpufluid.render.fading import fade
from gpufluid.render.volume import VolumeRenderer

DARK = gf.Light(color=(0, 0, 0), ambient=(0, 0, 0))
METHODS = ["view-slices", "axis-slices", "ray-march"]
N = 8
ACROSS = [0.0, 0.0, 2.0, 0.3, 0.0, 1.5, 1.8, 0.2]  # temperatures along x


def drawn(
    puff: Puff, camera: Any, options: dict[str, Any] | None = None, **look: Any
) -> tuple[Floats, Floats]:
    """The picture, and how hot all cells of it are; of soft fire their corners."""
    canvas = Canvas(puff.ctx)
    renderer = VolumeRenderer(puff.ctx, **(options or {}))
    renderer.render(puff, camera, canvas.target, light=DARK, **look)
    seen = renderer.lighting.seen_fire(puff)
    assert seen is not None
    values = list(seen.heat.values())[-1].read().astype(np.float64)[..., :3]
    renderer.release()
    return canvas.read(), values


def as_points(heat: Floats, places: Floats) -> Floats:
    """The channels of `heat` between the cells."""
    return np.stack([trilinear(heat[..., n], places) for n in range(3)], axis=-1)


@pytest.mark.parametrize("way", ["filtered", "loaded", "dispatched"])
@pytest.mark.parametrize("cells", [(13, 17, 11), (21, 16, 1)])
@pytest.mark.parametrize("solid", [False, True])
@pytest.mark.parametrize("soft", [False, True])
def test_heat_is_that_of_its_twin(
    device: Device,
    rng: np.random.Generator,
    monkeypatch: pytest.MonkeyPatch,
    soft: bool,
    solid: bool,
    cells: tuple[int, int, int],
    way: str,
) -> None:
    """With soot, burning fuel, open sides and solids, in two dimensions too; from far too hot to cold."""
    go_that_way(device, monkeypatch, way)
    shape = cells[::-1]
    density, temperature, flame = rng.random((3, *shape))
    temperature[..., :4], temperature[rng.random(shape) < 0.1] = 0.0, 30.0
    solids = (rng.random(shape) < 0.2).astype(float) if solid else None
    if solids is not None:
        flame *= 1.0 - solids
    sides = gf.Boundaries(left=gf.Open(), top=gf.Open())
    puff = Puff(
        device, gf.Grid(cells, 0.1), density, solids, 4.0 * temperature, flame=(flame,), boundaries=sides
    )
    fire = gf.Fire(300.0, 700.0, core=(0.1, 0.2, 0.9), soot=0.6, hottest=2000.0, soft=soft)
    camera = gf.Camera(target=(0.6, 0.8, 0.5), distance=4.0)
    _, found = drawn(puff, camera, smoke=gf.Smoke(6.0, fade=0.45), fire=fire)
    z, y, x = np.indices(shape) + 0.5
    there = fade(np.stack([x, y, z], -1) + 0.5 * soft, cells, 0b001001, 0.1 / 0.45)
    expected = heat(puff.scalars.read().astype(np.float64), fire, flame, there, corners=soft)
    assert expected[..., 0].max() == 4000.0 and (expected[..., 0] == 0.0).any()
    np.testing.assert_allclose(found, expected, rtol=within(1.5e-3, 3e-3), atol=1e-3)  # half floats


@pytest.mark.parametrize("method", METHODS)
def test_flames_have_edges_finer_than_cells(device: Device, method: str) -> None:
    """Rays along z see how gas of the heat between the cells glows, not what is between the glow of cells."""
    temperature = np.tile(ACROSS, (N, N, 1))
    puff = Puff(device, gf.Grid((N, N, N), 1 / N), temperature=temperature)
    fire = gf.Fire(600.0, 600.0, intensity=3.0, glow=0.0)
    picture, cells = drawn(puff, along_z(), {"method": method}, smoke=gf.Smoke(0.0), fire=fire)
    width = picture.shape[1]
    places = np.full((width, 3), 0.5 * N)
    places[:, 0] = (np.arange(width) + 0.5) / width * N
    expected = radiance(as_points(heat(puff.scalars.read().astype(float), fire), places), fire)
    np.testing.assert_allclose(
        picture[..., :3], np.broadcast_to(expected, (*picture.shape[:2], 3)), rtol=0.02, atol=0.02
    )
    glow = radiance(cells, fire)
    by_cells = np.stack([trilinear(glow[..., n], places) for n in range(3)], axis=-1)
    assert np.abs(expected - by_cells)[:, 0].max() > 0.15 * expected.max()
    assert np.abs(np.diff(expected[:, 0])).max() > 1.15 * np.abs(np.diff(by_cells[:, 0])).max()


def test_what_is_many_cells_thick_sends_out_what_its_cells_do(device: Device) -> None:
    """Balls of fire, all of their light against the sum over their cells: what is thin is less bright."""
    told = []
    for radius, least in ((10.0, 0.88), (4.0, 0.7), (2.0, 0.48)):
        n = 32
        z, y, x = np.indices((n, n, n)) + 0.5 - 0.5 * n
        off = np.sqrt(x**2 + y**2 + z**2)
        temperature = 2.0 * np.clip(0.5 + radius - off, 0.0, 1.0)
        puff = Puff(device, gf.Grid((n, n, n), 1 / n), temperature=temperature)
        fire = gf.Fire(600.0, 600.0, intensity=3.0, glow=0.0)
        fine = {"slices": 256}  # slabs of a cell find 3 % less of the smallest
        picture, _ = drawn(puff, along_z(), fine, smoke=gf.Smoke(0.0), fire=fire)
        bare = np.stack([600.0 * temperature, 1.0 + 0.0 * off, 0.0 * off], -1)
        of_cells = radiance(bare, fire)[..., 0].sum() / n**3
        share = picture[..., 0].mean() / of_cells
        told.append((radius, least, share))
    assert all(least < share < 1.03 for _, least, share in told), told


def test_softened_heat_is_lost_nowhere(rng: np.random.Generator) -> None:
    values = np.zeros((9, 9, 9))
    values[2:7, 2:7, 2:7] = rng.random((5, 5, 5))
    soft = softened(values)
    assert soft.sum() == pytest.approx(values.sum())
    one = np.zeros((5, 5, 5))
    one[2, 2, 2] = 1.0
    np.testing.assert_allclose(softened(one)[2, 2, 1:4], np.array([1 / 6, 4 / 6, 1 / 6]) * (4 / 6) ** 2)


@pytest.mark.parametrize("method", METHODS)
def test_without_heat_fire_changes_nothing(device: Device, rng: np.random.Generator, method: str) -> None:
    """Smoke in a scene that has fire, of which there is none now: to the bit, its edge too."""
    puff = Puff(device, gf.Grid((12, 14, 10), 1 / 12), rng.random((10, 14, 12)), flame=(0.0,))
    camera = gf.Camera(target=(0.5, 0.6, 0.4), distance=2.5, azimuth=20.0)
    pictures = []
    for fire in (None, gf.Fire()):
        canvas, renderer = Canvas(puff.ctx), VolumeRenderer(puff.ctx, method=method, jitter=False)
        renderer.render(puff, camera, canvas.target, smoke=gf.Smoke(9.0, edge=0.6), fire=fire)
        pictures.append(canvas.read())
        renderer.release()
    assert pictures[0].max() > 0.3
    np.testing.assert_array_equal(*pictures)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("depth", [0.0, 1.4])
def test_a_shell_of_soft_fire_shows_no_cells(device: Device, method: str, depth: float) -> None:
    """Hot gas two cells thick about a ball varies with the way from its middle alone, in smoke too."""
    n, m = 32, 128
    off = np.linalg.norm(np.indices((n, n, n)) + 0.5 - 0.5 * n, axis=0)
    shell = np.exp(-0.5 * (off - 10.3) ** 2)
    puff = Puff(device, gf.Grid((n, n, n), 1 / n), shell, temperature=shell)
    radius = np.hypot(*(np.indices((m, m)) - 0.5 * (m - 1)))
    rings, ripples = np.arange(radius.max()), []
    for soft in (False, True):
        canvas, renderer = Canvas(device.ctx, (m, m)), VolumeRenderer(device.ctx, method=method)
        fire = gf.Fire(600.0, 1700.0, intensity=30.0, glow=0.0, hottest=2300.0, soft=soft)
        renderer.render(puff, along_z(), canvas.target, light=DARK, smoke=gf.Smoke(depth * n), fire=fire)
        renderer.release()
        seen = canvas.read()[..., 1]
        means = [seen[(radius >= k) & (radius < k + 1)].mean() for k in rings]
        inside = radius < 0.25 * m
        ripples.append((seen - np.interp(radius, rings + 0.5, means))[inside].std() / seen[inside].mean())
    assert ripples[0] > 0.015 and ripples[1] < 0.006, ripples


def test_the_outline_of_fire_has_no_steps(device: Device) -> None:
    """A slanted face of hot gas: where it is seen to begin lies on a line, however cold it is beside it."""
    n, m = 32, 256
    _, y, x = np.indices((n, n, n)) + 0.5
    inside = 0.5 * n + 0.17 * (x - 0.5 * n) - y
    puff = Puff(device, gf.Grid((n, n, n), 1 / n), temperature=np.clip(0.5 + inside / 2.0, 0.0, 1.0))
    canvas, renderer = Canvas(device.ctx, (m, m)), VolumeRenderer(device.ctx)
    fire = gf.Fire(300.0, 2000.0, intensity=30.0, glow=0.0)
    renderer.render(puff, along_z(), canvas.target, light=DARK, smoke=gf.Smoke(0.0), fire=fire)
    renderer.release()
    seen = canvas.read()[..., 0]
    begins = [np.interp(-0.02 * seen.max(), -column, np.arange(m)) for column in seen.T[32:-32]]
    line, at = np.polynomial.polynomial, np.arange(len(begins))
    steps = begins - line.polyval(at, line.polyfit(at, begins, 1))
    assert steps.std() * n / m < 0.03  # cells; 0.1 where what is too cold to glow counts as just cold enough
