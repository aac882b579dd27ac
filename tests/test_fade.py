"""Smoke that thins out where it is thin (`Smoke.edge`), and with fire before open sides (`Smoke.fade`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from puff import Canvas, Floats, Puff, along_z, exact
from reference_light import light_layers, trilinear

import gpufluid as gf
from gpufluid.description.view import Look
from gpufluid.gl.device import Device
from gpufluid.render.fading import edged, fade, fading_sides
from gpufluid.render.light.light_volume import LightVolume
from gpufluid.render.light.lighting import Lighting
from gpufluid.render.volume import VolumeRenderer

OPEN, WALL = gf.Open(), gf.Wall()
SIDES = {
    "all": (gf.Boundaries.all(OPEN), 0b111111),
    "top": (gf.Boundaries(top=OPEN), 0b001000),
    "some": (gf.Boundaries(left=OPEN, bottom=OPEN, front=OPEN), 0b100101),
    "along y": (gf.Boundaries(bottom=OPEN, top=OPEN, left=gf.Periodic(), right=gf.Periodic()), 0b001100),
    "drawn out": (
        gf.Boundaries(right=gf.Inflow((1.0, 0.0, 0.0)), back=gf.Inflow((0.0, 0.0, -0.5))),
        0b010010,
    ),
    "none": (gf.Boundaries(left=gf.Inflow((1.0, 0.0, 0.0))), 0),
}
DARK = gf.Light(color=(0, 0, 0), ambient=(0, 0, 0))


def drawn(puff: Any, camera: Any, options: dict[str, Any] | None = None, **given: Any) -> Floats:
    """Return the premultiplied picture of `puff` on nothing, [height, width, 4]."""
    canvas = Canvas(puff.ctx)
    made = VolumeRenderer(puff.ctx, **(options or {}))
    made.render(puff, camera, canvas.target, **given)
    made.release()
    return canvas.read()


def test_smoothstep_towards_each_open_side() -> None:
    """By hand: at the side nothing, halfway half, all of it further in; at a corner the product."""
    cells = (10, 20, 8)
    for place, sides, there in (
        ((0.0, 9.0, 4.0), 0b000001, 0.0),
        ((2.0, 9.0, 4.0), 0b000001, 0.5),
        ((1.0, 9.0, 4.0), 0b000001, 3 / 16 - 2 / 64),
        ((2.0, 9.0, 4.0), 0b111110, 1.0),
        ((4.0, 9.0, 4.0), 0b000001, 1.0),
        ((8.0, 18.0, 4.0), 0b001010, 0.25),
        ((8.0, 18.0, 6.0), 0b111111, 0.125),
    ):
        assert fade(np.array(place), cells, sides, 0.25) == pytest.approx(there)


def test_it_begins_further_in_where_cells_are_spare() -> None:
    for place, there in (((1.5, 9.0, 4.0), 0.0), ((3.5, 9.0, 4.0), 0.5), ((7.5, 9.0, 4.0), 0.5)):
        ends = (1.5, 0.0, 0.0), (0.5, 0.0, 0.0)
        assert fade(np.array(place), (10, 20, 8), 0b000011, 0.25, *ends) == pytest.approx(there)


@pytest.mark.parametrize("backwards", [False, True])
def test_where_it_begins_goes_along_with_what_the_box_follows(tmp_path: Path, backwards: bool) -> None:
    """The box goes by whole cells, and the ends of what shows by as much as the point, within the box."""
    fluid = gf.Fluid(gf.Grid((16, 16, 16), 0.1), gf.Boundaries.all(OPEN), backend="numpy")
    assert fluid.spare == ((0.0,) * 3,) * 2
    before, moved = None, 0
    for n in range(40):
        x = 0.8 + 0.037 * n * (-1.0 if backwards else 1.0)
        moved += any(fluid.follow((x, 0.8, 0.8), axes="x"))
        low, high = (np.array(ends) for ends in fluid.spare)
        assert (low >= 0.0).all() and (high >= 0.0).all() and not low[1:].any()
        ends = fluid.grid.origin[0] + 0.1 * low[0], fluid.grid.upper[0] - 0.1 * high[0]
        assert ends[1] - ends[0] == pytest.approx(1.4)
        if n > 5:
            np.testing.assert_allclose(np.abs(np.subtract(ends, before)), 0.037, atol=1e-9)
        before = ends
    assert 10 < moved < 20
    here, there = tmp_path / "here.fluid", tmp_path / "there.fluid"
    fluid.save(here)
    spare = fluid.spare
    fluid.restore(here)
    assert fluid.spare == spare, "it goes on as it was"
    fluid.scroll((1, 0, 0))
    assert fluid.spare == ((0.0,) * 3,) * 2
    fluid.save(there)
    fluid.follow((x + 0.4, 0.8, 0.8), axes="x")
    assert fluid.spare[0][0] > 0.0
    fluid.restore(there)
    assert fluid.spare == ((0.0,) * 3,) * 2


@pytest.mark.parametrize(("named", "at_once"), [(named, n % 2 == 1) for n, named in enumerate(SIDES)])
def test_the_light_is_that_of_its_twin(
    device: Device, rng: np.random.Generator, named: str, at_once: bool
) -> None:
    """Beside solids as well; the sides that fade are the open ones."""
    if at_once and device.version < 430:
        pytest.skip("no compute shaders")
    sides, bits = SIDES[named]
    grid, smoke = gf.Grid((13, 17, 11), cell_size=0.1), gf.Smoke(6.0, fade=0.45)
    solids = np.zeros(grid.cells[::-1])
    solids[4:7, 6:10, 3:8] = 1.0
    puff = Puff(device, grid, rng.random(solids.shape), solids, boundaries=sides)
    puff.spare = (1.3, 0.0, 0.4), (0.7, 2.0, 1.6)
    ends = dict(zip(("fade_low", "fade_high"), puff.spare, strict=True))
    assert fading_sides(puff, smoke) == bits
    assert fading_sides(puff, gf.Smoke(6.0)) == 0
    density = puff.scalars.read()[..., 0].astype(np.float64)
    volume = LightVolume(device, grid, at_once=at_once)
    for direction in [(0.0, -1.0, 0.0), (0.3, -0.9, 0.2), (-0.8, 0.1, 0.55)]:
        volume.update(puff, direction, smoke)
        twin = light_layers(volume.frame, density, 6.0, solids, fades=bits, fade_rate=0.1 / 0.45, **ends)
        np.testing.assert_allclose(volume.read(), twin, atol=exact(device, 3e-5))
        bare = light_layers(volume.frame, density, 6.0, solids)
        assert (np.abs(twin - bare).max() > 0.05) == bool(bits)
    volume.release()


def test_what_is_thin_shows_less() -> None:
    """By hand: smoothstep's share of the density, all of it from the edge on; without an edge all of it."""
    density = np.array([0.0, 0.1, 0.2, 0.4, 1.0])
    np.testing.assert_allclose(edged(density, 0.4), [0.0, 0.1 * (3 / 16 - 2 / 64), 0.1, 0.4, 1.0])
    assert edged(density, 0.0) is density


@pytest.mark.parametrize("at_once", [False, True], ids=["passes", "dispatch"])
def test_thin_smoke_lets_light_by_as_its_twin_does(
    device: Device, rng: np.random.Generator, at_once: bool
) -> None:
    """Beside solids and open sides as well; the share is that of the density between the cells."""
    if at_once and device.version < 430:
        pytest.skip("no compute shaders")
    sides, bits = SIDES["some"]
    grid, smoke = gf.Grid((13, 17, 11), cell_size=0.1), gf.Smoke(9.0, fade=0.45, edge=0.8)
    solids = np.zeros(grid.cells[::-1])
    solids[4:7, 6:10, 3:8] = 1.0
    puff = Puff(device, grid, rng.random(solids.shape), solids, boundaries=sides)
    density = puff.scalars.read()[..., 0].astype(np.float64)
    volume = LightVolume(device, grid, at_once=at_once)
    volume.update(puff, (0.3, -0.9, 0.2), smoke)
    how: dict[str, Any] = {"fades": bits, "fade_rate": 0.1 / 0.45}
    twin = light_layers(volume.frame, density, 9.0, solids, **how, edge=0.8)
    np.testing.assert_allclose(volume.read(), twin, atol=exact(device, 3e-5))
    assert np.abs(twin - light_layers(volume.frame, density, 9.0, solids, **how)).max() > 0.1
    volume.release()


@pytest.mark.parametrize("fire", [None, gf.Fire()], ids=["smoke", "beside fire"])
@pytest.mark.parametrize("method", ["view-slices", "axis-slices", "ray-march"])
def test_edges_are_finer_than_cells(device: Device, method: str, fire: gf.Fire | None) -> None:
    """Parallel rays along z: what shows is a share of the density between cells, not that of cells."""
    n, edge = 8, 0.9
    across = np.tile([0.0, 0.0, 1.0, 0.0, 0.2, 1.0, 1.0, 0.3], (n, n, 1))
    puff = Puff(device, gf.Grid((n, n, n), cell_size=1 / n), across, temperature=2.0)
    look: dict[str, Any] = {"smoke": gf.Smoke(4.0, edge=edge), "fire": fire}
    through = 1.0 - drawn(puff, along_z(), {"method": method}, **look)[..., 3]
    width = through.shape[1]
    places = np.full((width, 3), 0.5 * n)
    places[:, 0] = (np.arange(width) + 0.5) / width * n
    np.testing.assert_allclose(
        through,
        np.broadcast_to(np.exp(-4.0 * edged(trilinear(across, places), edge)), through.shape),
        atol=2e-3,
    )
    by_cells = np.exp(-4.0 * trilinear(edged(across, edge), places))
    assert np.abs(through[10] - by_cells).max() > 0.1


@pytest.mark.parametrize("lit", ["sun", "lamps", "fire", "colours"])
def test_even_smoke_is_as_thin_as_it_shows(device: Device, lit: str) -> None:
    """In every light: smoke that thins out is other smoke, of the density that shows."""
    grid, camera = gf.Grid((16, 16, 16), cell_size=1 / 16), gf.Camera(target=(0.5, 0.5, 0.5), distance=2.5)
    look: dict[str, Any] = {}
    if lit == "lamps":
        look["lights"] = [gf.PointLight((0.5, 0.5, 0.5), radius=0.2), gf.Light((1.0, -1.0, 0.0))]
    if lit == "fire":
        look["fire"] = gf.Fire(intensity=3.0)
    density, edge = 0.5, 0.9
    shown = float(edged(np.array(density), edge))
    pictures = []
    for there, smoke in (
        (density, gf.Smoke(6.0, edge=edge)),
        (shown, gf.Smoke(6.0)),
        (density, gf.Smoke(6.0)),
    ):
        dyes = (0.2 * there, 0.1 * there, 0.0) if lit == "colours" else None
        puff = Puff(device, grid, 0.7 * there if dyes else there, temperature=2.0, color=dyes)
        pictures.append(drawn(puff, camera, smoke=smoke, **look))
    np.testing.assert_allclose(pictures[0], pictures[1], atol=3e-3)
    assert np.abs(pictures[2] - pictures[0]).max() > 0.05


def test_fire_in_clear_gas_keeps_every_bit(device: Device) -> None:
    puff = Puff(device, gf.Grid((16, 16, 16), cell_size=1 / 16), temperature=2.0)
    camera = gf.Camera(target=(0.5, 0.5, 0.5), distance=3.0)
    one, other = (drawn(puff, camera, smoke=gf.Smoke(edge=edge), fire=gf.Fire()) for edge in (0.0, 0.5))
    assert one.max() > 0.1 and (one == other).all()


@pytest.mark.parametrize("method", ["view-slices", "axis-slices", "ray-march"])
def test_a_ray_loses_what_there_is_on_its_way(device: Device, method: str) -> None:
    """Parallel rays along z through even smoke: what is left is exp(-extinction density) of their way."""
    n, sides = 16, 0b111011
    puff = Puff(
        device,
        gf.Grid((n, n, n), cell_size=1 / n),
        density=0.5,
        boundaries=gf.Boundaries(OPEN, OPEN, WALL, OPEN, OPEN, OPEN),
    )
    assert fading_sides(puff, gf.Smoke(fade=0.3)) == sides
    options = {"method": method, "slices": 256 if method != "axis-slices" else None, "jitter": False}
    through = 1.0 - drawn(puff, along_z(), options, smoke=gf.Smoke(8.0, fade=0.3))[..., 3]
    height, width = through.shape
    z, y, x = np.meshgrid(*(np.arange(n) + 0.5,) * 3, indexing="ij")
    there = fade(np.stack([x, y, z], -1), (n, n, n), sides, 1 / (0.3 * n))
    v, u = np.meshgrid(
        (np.arange(height) + 0.5) / height * n, (np.arange(width) + 0.5) / width * n, indexing="ij"
    )
    fine = (np.arange(400) + 0.5) / 400 * n
    places = np.stack([np.broadcast_arrays(u[..., None], v[..., None], fine)[k] for k in range(3)], -1)
    depth = 8.0 * 0.5 * trilinear(there, places).mean(axis=-1)
    assert depth.max() > 2.5 > 0.2 > depth.min()
    np.testing.assert_allclose(through, np.exp(-depth), atol=0.012)


@pytest.mark.parametrize(
    ("method", "edge", "soft"),
    [
        ("view-slices", 0.0, False),
        ("view-slices", 0.0, True),
        ("ray-march", 0.0, False),
        ("ray-march", 0.9, True),
    ],
)
def test_the_same_with_and_without_the_places_without_smoke(
    device: Device, rng: np.random.Generator, method: str, edge: float, soft: bool
) -> None:
    grid = gf.Grid((20, 24, 16), cell_size=1 / 20)
    density, colors = np.zeros((2, *grid.cells[::-1]))
    density[4:12, 15:24, 8:20] = 3.0 * rng.random((8, 9, 12))
    colors[:6, 10:18, 2:9] = 2.0
    puff = Puff(
        device,
        grid,
        density,
        color=(colors, 0.3 * colors, 0.0),
        boundaries=gf.Boundaries.all(OPEN),
        temperature=density,
    )
    camera = gf.Camera(target=(0.5, 0.6, 0.4), distance=2.5, azimuth=33.0)
    look: dict[str, Any] = {
        "smoke": gf.Smoke(20.0, fade=0.25, edge=edge, soft=soft),
        "fire": gf.Fire(),
        "lights": [gf.PointLight((0.5, 2.0, 0.5))],
    }
    pictures = [drawn(puff, camera, {"method": method, "skip_empty": skip}, **look) for skip in (True, False)]
    assert pictures[0].max() > 0.3
    np.testing.assert_allclose(pictures[0], pictures[1], atol=2e-3)
    whole = drawn(puff, camera, {"method": method}, **look | {"smoke": gf.Smoke(20.0)})
    assert np.abs(whole - pictures[0]).max() > 0.1


def test_fire_and_its_glow_thin_out_too(device: Device) -> None:
    """Hot gas at an open side: dark there, as bright as ever in the middle; what it lights has less of it."""
    n = 16
    grid = gf.Grid((n, n, n), cell_size=1 / n)
    puff = Puff(device, grid, temperature=2.0, boundaries=gf.Boundaries(top=OPEN))
    camera = gf.Camera(target=(0.5, 0.5, 0.5), distance=6.0, elevation=0.0, fov=11.0)
    plain, faded = (
        drawn(puff, camera, light=DARK, smoke=gf.Smoke(0.0, fade=width), fire=gf.Fire(glow=0.0))[:, 24, 0]
        for width in (0.0, 0.5)
    )
    seen = np.flatnonzero(plain)
    top, middle = seen[-1], seen[len(seen) // 2 - 2]
    assert faded[top] < 0.03 * plain[top]
    assert faded[middle] > 0.95 * plain[middle]
    glows = []
    for width in (0.0, 0.5):
        lighting = Lighting(device, puff, 1.0, "exponential")
        lighting.update(puff, Look(light=DARK, smoke=gf.Smoke(0.0, fade=width), fire=gf.Fire()))
        assert lighting._fire is not None
        blocks = lighting._fire.blocks.read()[..., 0]
        glows.append(blocks.sum(axis=(0, 2)))
        lighting.release()
    np.testing.assert_allclose(glows[1][:4], glows[0][:4], rtol=1e-5)
    # blocks of two cells: the mean of smoothstep in the middles of their cells
    steps = (np.arange(8.0) + 0.5) / 8.0
    shares = (steps**2 * (3.0 - 2.0 * steps)).reshape(4, 2).mean(axis=1)[::-1]
    np.testing.assert_allclose(glows[1][4:] / glows[0][4:], shares, rtol=1e-4)


def test_what_has_no_open_side_keeps_every_bit(device: Device) -> None:
    """A closed box; and in 2D nothing fades across the picture."""
    camera = gf.Camera(target=(0.5, 0.5, 0.03), distance=2.0, azimuth=20.0)
    looks = [{"smoke": gf.Smoke(10.0, fade=width), "fire": gf.Fire()} for width in (0.0, 0.4)]
    closed = Puff(device, gf.Grid((16, 16, 16), cell_size=1 / 16), density=0.5, temperature=1.0)
    one, other = (drawn(closed, camera, **look) for look in looks)
    assert one.max() > 0.1 and (one == other).all()
    flat = Puff(
        device, gf.Grid((16, 16, 1), cell_size=1 / 16), density=0.9, boundaries=gf.Boundaries.all(OPEN)
    )
    assert fading_sides(flat, gf.Smoke(fade=0.4)) == 0b001111
    opacity = drawn(flat, gf.Camera(target=(0.5, 0.5, 0.03), elevation=0.0), smoke=gf.Smoke(40.0, fade=0.2))[
        ..., 3
    ]
    assert opacity[16, 24] == pytest.approx(1.0 - np.exp(-40.0 * 0.9 / 16), rel=0.02)


@pytest.mark.parametrize("wrong", [-0.1, float("nan"), "wide", None])
@pytest.mark.parametrize("name", ["fade", "edge"])
def test_a_fade_is_a_length_and_an_edge_a_density(name: str, wrong: Any) -> None:
    with pytest.raises(gf.GpufluidError, match=rf"Smoke\.{name} must"):
        gf.Smoke(**{name: wrong})
