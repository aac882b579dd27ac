"""Light of every kind against closed forms: walks in one dispatch, other lights, fire, coloured smoke."""

from __future__ import annotations

import itertools
from typing import Any

import moderngl
import numpy as np
import pytest
from driver import within
from puff import SIZE, Canvas, Puff, drawn, exact, go_that_way, pictured
from reference_fire import past_solids, softened
from reference_light import in_cone, light_at, light_layers
from test_shadows import on_floor

import gpufluid as gf
from gpufluid.gl.device import Device
from gpufluid.render.blackbody import COLDEST, DRAPER, HOTTEST, TABLE, blackbody_xyz, fire_table
from gpufluid.render.camera import view_of
from gpufluid.render.floor import FLOOR_REACH
from gpufluid.render.light.firelight import FireLight
from gpufluid.render.light.light_volume import LightVolume
from gpufluid.render.light.other_lights import OtherLights
from gpufluid.render.volume import VolumeRenderer

GRID = gf.Grid((16, 16, 16), cell_size=1 / 16)
STRAIGHT = gf.Camera(target=(0.5, 0.5, 0.5), distance=3.0, azimuth=0.0, elevation=0.0, fov=30.0)
DARK = gf.Light(color=(0.0, 0.0, 0.0), ambient=(0.0, 0.0, 0.0))
MIDDLE = (16, 24)  # pixel


# -- the sun -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cells", [(13, 8, 11), (29, 23, 1), (1, 30, 17)])
@pytest.mark.parametrize("solid", [False, True])
def test_one_dispatch_gives_the_bits_of_many_passes(
    device: Device, rng: np.random.Generator, cells: tuple[int, int, int], solid: bool
) -> None:
    """Also where the box is thin: a column then crosses few layers, and the others are not walked."""
    if device.version < 430:
        pytest.skip("no compute shaders here")
    grid, shape = gf.Grid(cells, cell_size=0.1), cells[::-1]
    solids = (rng.random(shape) < 0.1).astype(float) if solid else None
    puff = Puff(device, grid, rng.random(shape), solids, color=rng.random((3, *shape)))
    at_once, by_layers = (LightVolume(device, grid, at_once=way) for way in (True, False))
    for direction in itertools.product((-1.0, 0.0, 1.0), (-0.9, 0.2), (-0.8, 0.0, 1.1)):
        at_once.update(puff, direction, gf.Smoke(3.0))
        by_layers.update(puff, direction, gf.Smoke(3.0))
        ends = by_layers.read()
        assert ends.min() < 0.6
        np.testing.assert_array_equal(at_once.read(), ends)
    at_once.release()
    by_layers.release()


def test_a_light_that_turns_never_pops(device: Device, rng: np.random.Generator) -> None:
    """Once round in steps of a degree, through the angles where the walk changes its axis."""
    z, y, x = np.indices((16, 16, 16)) - 7.5
    puff = Puff(device, GRID, np.exp(-((x - 2) ** 2 + y**2 + (z + 1) ** 2) / 12.0))
    renderer, smoke = VolumeRenderer(device.ctx), gf.Smoke(extinction=20.0)
    canvas = Canvas(device.ctx)
    for across in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)):
        pictures = []
        for degrees in range(361):
            angle = np.radians(degrees + 0.3)
            way = np.cos(angle) * np.array(across) + np.sin(angle) * np.array((0.0, 0.0, 1.0))
            light = gf.Light(direction=tuple(way), ambient=(0.0, 0.0, 0.0))
            canvas.target.clear()
            renderer.render(puff, STRAIGHT, canvas.target, light=light, smoke=smoke)
            pictures.append(canvas.read()[..., 0])
        changes = np.sqrt(np.square(np.diff(pictures, axis=0)).mean(axis=(1, 2)))
        assert np.max(pictures) > 0.5
        assert 1e-4 < np.median(changes) < 1.5e-3  # what a degree is worth
        assert changes.max() < 4e-3  # at 45 degrees too: one step of 8 bits
    renderer.release()


THROUGH = (0.2, -0.4, -1.0), (-0.75, -0.6, 0.3), (0.5, -0.8, -0.3), (-0.9, 0.2, 0.13)


@pytest.mark.parametrize("at_once", [False, True], ids=["passes", "dispatch"])
@pytest.mark.parametrize("way", THROUGH)
def test_light_falls_through_a_slice(
    device: Device, rng: np.random.Generator, way: tuple[float, float, float], at_once: bool
) -> None:
    """However slanted: Beer's law in even smoke, halfway and behind it; the shader's walk is its twin's.

    Behind it the look-up ends a thousandth of a layer early.
    """
    if at_once and device.version < 430:
        pytest.skip("no compute shaders here")
    grid, extinction = gf.Grid((29, 23, 1), cell_size=0.1), 4.0
    volume = LightVolume(device, grid, at_once=at_once)
    volume.update(Puff(device, grid, density=0.5), way, gf.Smoke(extinction))
    layers, behind = volume.read().astype(float), 1.5 if way[2] > 0.0 else -0.5
    whole = np.exp(-extinction * 0.5 * 0.1 * np.linalg.norm(way) / abs(way[2]))
    for x, y in ((14.5, 11.5), (13.0, 12.2), (15.8, 10.4), (14.1, 12.9)):
        assert light_at(volume.frame, layers, (x, y, 0.5)) == pytest.approx(np.sqrt(whole), rel=1e-3)
        assert light_at(volume.frame, layers, (x, y, behind)) == pytest.approx(whole, rel=2e-3)
    density = rng.random((1, 23, 29))
    volume.update(Puff(device, grid, density), way, gf.Smoke(extinction))
    twin = light_layers(volume.frame, density, extinction)
    np.testing.assert_allclose(volume.read(), twin, atol=exact(device, 3e-5))
    volume.release()


@pytest.mark.parametrize("way", THROUGH)
def test_light_through_a_slice_that_is_mostly_empty(device: Device, way: tuple[float, float, float]) -> None:
    """Where nothing is, nothing is walked; the picture is the same."""
    y, x = np.indices((48, 64)) + 0.5
    density = np.exp(-((x - 40.0) ** 2 + (y - 20.0) ** 2) / 30.0)
    puff = Puff(device, gf.Grid((64, 48, 1), 1 / 48), np.where(density > 0.01, density, 0.0)[None])
    camera, pictures = gf.Camera(target=(0.7, 0.5, 0.0), distance=2.0, elevation=0.0), []
    for skip_empty in (True, False):
        canvas, renderer = Canvas(device.ctx), VolumeRenderer(device.ctx, skip_empty=skip_empty)
        renderer.render(puff, camera, canvas.target, light=gf.Light(way), smoke=gf.Smoke(60.0))
        pictures.append(canvas.read())
        renderer.release()
    assert pictures[0].max() > 0.2
    np.testing.assert_allclose(pictures[0], pictures[1], atol=within(2e-5, 1e-3))


# -- other lights ------------------------------------------------------------------------------------------


def left(device: Device, puff: Puff, lights: list[gf.Light | gf.PointLight], extinction: float) -> np.ndarray:
    """Share of each light left, [z, y, x, light], in cells of twice the size."""
    others = OtherLights(device, puff.grid)
    others.update(puff, lights, gf.Smoke(extinction))
    values = others.field.read().astype(float)
    others.release()
    return values


def test_lights_fade_with_the_way_through_smoke(device: Device) -> None:
    """In even smoke exp(-extinction density way): to a light within, to one outside, and from a direction."""
    puff = Puff(device, GRID, density=0.5)
    inside, outside = (0.3, 0.6, 0.45), (2.0, 0.5, 0.5)
    lights = [gf.PointLight(inside), gf.PointLight(outside), gf.Light(direction=(0.0, -2.0, 0.0))]
    values = left(device, puff, lights, 4.0)
    z, y, x = (np.indices((8, 8, 8)) + 0.5) / 8
    to_inside = np.sqrt((x - inside[0]) ** 2 + (y - inside[1]) ** 2 + (z - inside[2]) ** 2)
    way = np.sqrt((2.0 - x) ** 2 + (0.5 - y) ** 2 + (0.5 - z) ** 2)
    in_box = way * np.minimum((1.0 - x) / (2.0 - x), 1.0)  # such rays leave through x = 1
    np.testing.assert_allclose(values[..., 0], np.exp(-2.0 * to_inside), rtol=1e-4)
    np.testing.assert_allclose(values[..., 1], np.exp(-2.0 * in_box), rtol=1e-4)
    np.testing.assert_allclose(values[..., 2], np.exp(-2.0 * (1.0 - y)), rtol=1e-4)


def test_a_wall_shadows_a_point_light(device: Device) -> None:
    solids = np.zeros((16, 16, 16))
    solids[:, :, 8] = 1.0  # one cell thick
    values = left(device, Puff(device, GRID, solids=solids), [gf.PointLight((0.1, 0.5, 0.5))], 1.0)[..., 0]
    assert (values[:, :, :4] > 0.99).all()
    assert (values[:, :, 5:] < 0.01).all()


def test_point_light_falls_with_the_distance_squared(device: Device) -> None:
    """Thin smoke in two places, seen side on: its light goes as 1 / distance^2 up to the light's radius."""
    density = np.zeros((16, 16, 16))
    density[7:9, 7:9, 3:5], density[7:9, 7:9, 11:13] = 1e-3, 1e-3
    puff = Puff(device, GRID, density)
    light = gf.PointLight((-0.5, 0.5, 0.5))
    picture = drawn(puff, STRAIGHT, light=DARK, lights=[light], smoke=gf.Smoke(extinction=1.0))[..., 0]
    near, far = picture[:, :24].sum(), picture[:, 24:].sum()
    assert near / far == pytest.approx((1.25 / 0.75) ** 2, rel=0.03)
    wide = gf.PointLight((-0.5, 0.5, 0.5), radius=2.0)
    picture = drawn(puff, STRAIGHT, light=DARK, lights=[wide], smoke=gf.Smoke(extinction=1.0))[..., 0]
    assert picture[:, :24].sum() / picture[:, 24:].sum() == pytest.approx(1.0, rel=0.03)


CONES = [
    ((0.0, -1.0, 0.0), 60.0, 0.5),
    ((0.3, -1.0, 0.2), 50.0, 1.0),
    ((3e-20, -1e-20, -2e-20), 110.0, 0.2),
    ((0.0, -1.0, 0.1), 8.0, 0.4),
]


@pytest.mark.parametrize(("way", "angle", "softness"), CONES)
def test_a_spot_light_shines_into_its_cone(
    ctx: moderngl.Context, way: tuple[float, float, float], angle: float, softness: float
) -> None:
    """On the floor, beside a lamp in the same place: as its twin has it; and in smoke, cell by cell."""
    place, camera = (0.1, 0.7, -0.05), gf.Camera((0.0, 0.0, 0.0), distance=3.0, elevation=89.0, fov=40.0)
    fluid = gf.Fluid(gf.Grid((16, 16, 16), 1 / 16, origin=(-0.5, 0.0, -0.5)), ctx=ctx)
    frames = gf.FrameRenderer(ctx, (120, 120), background=(0.0, 0.0, 0.0), floor_color=(1.0, 1.0, 1.0))
    spot = gf.SpotLight(place, direction=way, angle=angle, softness=softness)
    seen = []
    for lamp in (gf.PointLight(place), spot):
        frames.draw(gf.Scene(fluid, camera=camera, light=DARK, lights=[lamp], floor=0.0))
        seen.append(frames.read_hdr()[..., 0].astype(np.float64))
    x, z = on_floor(camera, 120)
    floor = np.stack([x, np.zeros_like(x), z], axis=-1)
    lit = seen[0] > 0.05 * seen[0].max()
    expected = in_cone(floor - place, way, angle, softness)
    # of light that turns from 0 to 1 within two pixels a hair of place is much
    np.testing.assert_allclose((seen[1] / seen[0])[lit], expected[lit], atol=0.02 if angle < 10.0 else 1e-3)
    assert expected[lit].max() > 0.99 and expected[lit].min() < 0.01
    frames.release()
    fluid.release()


def test_a_spot_light_in_smoke(device: Device) -> None:
    """A thin layer, seen side on: each cell has its share of the light of a lamp without a cone."""
    density = np.zeros((16, 16, 16))
    density[8] = 1e-3
    puff, place = Puff(device, GRID, density), (0.2, 1.3, 17 / 32)
    how: dict[str, Any] = {"direction": (0.3, -1.0, 0.0), "angle": 50.0, "softness": 0.8}
    round_it, within = (
        drawn(puff, STRAIGHT, light=DARK, lights=[lamp], smoke=gf.Smoke(extinction=1.0))[..., 0]
        for lamp in (gf.PointLight(place), gf.SpotLight(place, **how))
    )
    rows, columns = np.nonzero(round_it > 0.0)
    reach = 2.0 * (3.0 - 1 / 32) * np.tan(np.radians(15.0)) / SIZE[1]  # m a pixel, in the layer
    x, y = (0.5 + reach * (n + 0.5 - 0.5 * size) for n, size in zip((columns, rows), SIZE, strict=True))
    ways = np.stack([x, y, np.full(len(x), 17 / 32)], axis=-1) - place
    expected = in_cone(ways, **how)
    share = within[rows, columns] / round_it[rows, columns]
    print(np.abs(share - expected).max(), np.abs(share - expected).mean())
    assert np.abs(share - expected).max() < 0.1 and np.abs(share - expected).mean() < 0.02
    assert expected.min() == 0.0 and expected.max() > 0.9


def test_a_second_sun_looks_like_the_first(device: Device) -> None:
    puff = Puff(device, GRID, density=0.3)
    sun = gf.Light(direction=(1.0, -0.4, -0.6), color=(2.0, 1.0, 0.5), ambient=(0.0, 0.0, 0.0))
    smoke = gf.Smoke(extinction=8.0, anisotropy=0.4)
    first = drawn(puff, STRAIGHT, light=sun, smoke=smoke)
    second = drawn(puff, STRAIGHT, light=DARK, lights=[sun], smoke=smoke)
    np.testing.assert_array_equal(first[..., 3], second[..., 3])
    assert np.abs(first - second).mean() < 0.01 * first[..., :3].max()


def test_lights_add_up(device: Device) -> None:
    puff = Puff(device, GRID, density=0.2)
    lights: list[gf.Light | gf.PointLight] = [
        gf.PointLight((1.4, 0.5, 0.9), (1.0, 0.2, 0.1)),
        gf.PointLight((0.5, 0.5, 0.5), (0.02, 0.05, 0.1)),
        gf.Light(direction=(0.0, -1.0, 0.0), color=(0.1, 0.9, 0.1)),
        gf.PointLight((-0.3, 1.2, 0.5), (0.2, 0.3, 0.9)),
    ]
    each = [drawn(puff, STRAIGHT, light=DARK, lights=[light])[..., :3] for light in lights]
    both = drawn(puff, STRAIGHT, light=DARK, lights=lights)[..., :3]
    assert all(picture.max() > 1e-3 for picture in each)
    np.testing.assert_allclose(both, np.sum(each, axis=0), rtol=5e-3, atol=1e-4)


# -- fire --------------------------------------------------------------------------------------------------


def test_black_bodies_have_the_colour_of_black_bodies() -> None:
    """Chromaticity (x, y) of CIE illuminant A (2856 K) and of black bodies of 6500 K and 1500 K."""
    xyz = blackbody_xyz(np.array([2856.0, 6500.0, 1500.0]))
    found = xyz[:, :2] / xyz.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found, [(0.4476, 0.4074), (0.3135, 0.3237), (0.5857, 0.3931)], atol=0.006)


def test_fire_is_red_then_yellow_then_white() -> None:
    table, kelvin = fire_table(), np.linspace(COLDEST, HOTTEST, TABLE)
    assert (table[kelvin < DRAPER] == 0.0).all()
    shown = table[kelvin > 900.0]
    assert (np.diff(shown.max(axis=1)) > 0.0).all()
    assert (shown[:, 0] == shown.max(axis=1)).all()
    for channel in (1, 2):
        assert (np.diff(shown[:, channel] / shown[:, 0]) > -1e-12).all()
    assert shown[0, 1] < 0.1 * shown[0, 0] and shown[-1, 2] > 0.3 * shown[-1, 0]


@pytest.mark.parametrize("density", [0.0, 0.5])
def test_glowing_gas_of_even_heat(device: Device, density: float) -> None:
    """Radiance e way where nothing absorbs, e (1 - exp(-k way)) / k where something does."""
    puff = Puff(device, GRID, density, temperature=1.0)
    fire = gf.Fire(kelvin_at_zero=0.0, kelvin_per_temperature=2000.0, intensity=3.0, glow=0.0)
    camera = gf.Camera(target=(0.5, 0.5, 0.5), distance=40.0, azimuth=0.0, elevation=0.0, fov=1.5)
    smoke = gf.Smoke(extinction=4.0)
    picture = drawn(puff, camera, light=DARK, fire=fire, smoke=smoke)[MIDDLE]
    k = 4.0 * density
    way = (1.0 - np.exp(-k)) / k if k else 1.0
    assert picture[0] == pytest.approx(3.0 * way, rel=0.01)
    assert 0.2 < picture[1] / picture[0] < 0.7 and picture[2] < 0.3 * picture[1]
    assert picture[3] == pytest.approx(1.0 - np.exp(-k), abs=2e-3)


def test_burning_fuel_adds_its_colour(device: Device) -> None:
    puff = Puff(device, GRID, flame=(0.5,))
    fire = gf.Fire(core=(0.2, 0.4, 2.0), glow=0.0)
    camera = gf.Camera(target=(0.5, 0.5, 0.5), distance=40.0, azimuth=0.0, elevation=0.0, fov=1.5)
    picture = drawn(puff, camera, light=DARK, fire=fire)[MIDDLE]
    np.testing.assert_allclose(picture[:3], (0.1, 0.2, 1.0), rtol=0.01)
    assert picture[3] == 0.0


def test_burning_fuel_is_blue_only_where_it_is_clear_of_soot(device: Device) -> None:
    """exp(-(6 density / soot)^2) of the core's light is left, in what is seen and in what lights the rest."""
    camera = gf.Camera(target=(0.5, 0.5, 0.5), distance=40.0, azimuth=0.0, elevation=0.0, fov=1.5)
    smoke = gf.Smoke(extinction=0.0)
    seen, lit = [], []
    for density, soot in ((0.0, 0.5), (0.05, 0.5), (0.1, 0.5), (2.0, 0.5), (2.0, 0.0)):
        puff = Puff(device, GRID, density, flame=(0.5,))
        fire = gf.Fire(core=(0.2, 0.4, 2.0), glow=0.0, soot=soot)
        seen.append(drawn(puff, camera, light=DARK, fire=fire, smoke=smoke)[MIDDLE][2])
        light = FireLight(device, GRID)
        light.update(puff, gf.Fire(core=(0.2, 0.4, 2.0), soot=soot), smoke)
        lit.append(light.glow.read()[0, 2, 2, 2])
    left = (1.0, np.exp(-0.36), np.exp(-1.44), 0.0, 1.0)
    np.testing.assert_allclose(seen, left, rtol=0.01, atol=1e-4)
    np.testing.assert_allclose(np.array(lit) / lit[0], left, rtol=0.01, atol=1e-4)


def test_heat_without_fire_shows_nothing(device: Device) -> None:
    cold, hot = (Puff(device, GRID, 0.3, temperature=t) for t in (0.0, 5.0))
    np.testing.assert_array_equal(drawn(cold, STRAIGHT), drawn(hot, STRAIGHT))
    assert (drawn(hot, STRAIGHT, fire=gf.Fire())[MIDDLE] > drawn(hot, STRAIGHT)[MIDDLE])[:3].all()


def test_fire_lights_what_is_round_it(device: Device) -> None:
    """One hot cell far away is a point: its mean radiance over all directions is e volume / (4 pi r^2)."""
    grid = gf.Grid((48, 48, 48), cell_size=1 / 48)
    temperature = np.zeros((48, 48, 48))
    temperature[8, 26, 26] = 1.0  # half a cell from the middle of its block
    fire = gf.Fire(kelvin_at_zero=0.0, kelvin_per_temperature=2000.0, intensity=5.0)
    light = FireLight(device, grid)
    light.update(Puff(device, grid, temperature=temperature), fire, gf.Smoke(1.0))
    glow, ways = np.split(light.glow.read().astype(float), 2)
    places = (np.arange(glow.shape[0]) + 0.5) / glow.shape[0]
    middle = glow.shape[1] // 2
    for k in range(6, glow.shape[0]):
        r2 = (places[k] - 8.5 / 48) ** 2 + 2 * (places[middle] - 26.5 / 48) ** 2
        expected = 5.0 / 48**3 / (4 * np.pi * r2)
        assert glow[k, middle, middle, 0] == pytest.approx(expected, rel=0.1)
        assert ways[k, middle, middle, 3] == pytest.approx(np.sqrt(r2), rel=0.05)
        assert np.linalg.norm(ways[k, middle, middle, :3]) == pytest.approx(1.0, abs=1e-5)
        assert ways[k, middle, middle, 2] < -0.9, "it comes from low z"
    assert (glow[..., :3] >= 0.0).all()
    light.release()


def test_smoke_beside_the_way_takes_no_light_of_the_fire(device: Device) -> None:
    """Light is weakened by the smoke it crosses, and by none that lies behind it."""
    grid = gf.Grid((48, 48, 48), cell_size=1 / 48)
    temperature, wall = np.zeros((48, 48, 48)), np.zeros((48, 48, 48))
    temperature[20:22, 26, 26] = 1.0
    wall[30:36] = 4.0  # a block thick: half of the light is left after 1/8 m of 4 * 1.386 / m
    fire = gf.Fire(kelvin_at_zero=0.0, kelvin_per_temperature=2000.0, intensity=5.0)
    light = FireLight(device, grid)
    glow = []
    for density in (np.zeros_like(wall), wall):
        light.update(Puff(device, grid, density, temperature=temperature), fire, gf.Smoke(1.386))
        glow.append(light.glow.read()[:16, 8, 8, 0].astype(float))
    left = glow[1] / glow[0]
    np.testing.assert_allclose(left[:7], 1.0, rtol=0.02)
    np.testing.assert_allclose(left[13:], 0.5, rtol=0.25)
    light.release()


def test_solids_hide_the_fire_as_their_twin_does(device: Device, rng: np.random.Generator) -> None:
    """Behind a wall, where some of the fire is seen past it, within solids, and in the fire."""
    grid = gf.Grid((40, 28, 32), cell_size=1 / 40)
    temperature, solids = np.zeros((32, 28, 40)), np.zeros((32, 28, 40))
    temperature[12:20, 4:18, 4:9] = rng.random((8, 14, 5)) + 0.5
    solids[8:26, :14, 14:17] = solids[:, 20:22, 24:] = solids[14:17, 3:6, 2:12] = 1.0
    fire = gf.Fire(kelvin_at_zero=0.0, kelvin_per_temperature=2000.0, intensity=5.0)
    light = FireLight(device, grid)
    light.update(Puff(device, grid, temperature=temperature * (1.0 - solids)), fire, gf.Smoke(1.0))
    clear, ways = np.split(light.glow.read().astype(float), 2)
    light.update(Puff(device, grid, solids=solids, temperature=temperature), fire, gf.Smoke(1.0))
    glow, same = np.split(light.glow.read().astype(float), 2)
    light.release()
    np.testing.assert_array_equal(same, ways)
    np.testing.assert_array_equal(clear[..., 3], 1.0)
    number = tuple(2 * -(-n // light.size) for n in (32, 28, 40))
    clear, glow, ways = (a[: number[0], : number[1], : number[2]] for a in (clear, glow, ways))
    some = rng.permutation(np.array(list(np.ndindex(*number))))[:400]
    places, there = (some[:, ::-1] + 0.5) * 0.5 * light.size, ways[tuple(some.T)]
    left = np.array(
        [past_solids(solids, p, w[:3], 40 * w[3], light.size) for p, w in zip(places, there, strict=True)]
    )
    assert (left == 0.0).sum() > 50 and (left > 0.999).sum() > 50 and ((left > 0.1) & (left < 0.9)).sum() > 20
    np.testing.assert_allclose(glow[tuple(some.T)][:, 3], left, atol=2e-3 if device.software else 0.02)
    np.testing.assert_allclose(glow[..., :3], clear[..., :3] * glow[..., 3:], rtol=1e-5, atol=1e-9)


def test_gas_looks_no_hotter_than_the_hottest(device: Device) -> None:
    camera = gf.Camera(target=(0.5, 0.5, 0.5), distance=40.0, azimuth=0.0, elevation=0.0, fov=1.5)
    seen = []
    for temperature in (0.8, 1.0, 1.5, 40.0):
        fire = gf.Fire(0.0, 2000.0, intensity=3.0, glow=0.0, hottest=2000.0)
        puff = Puff(device, GRID, temperature=temperature)
        seen.append(drawn(puff, camera, light=DARK, fire=fire)[MIDDLE][:3])
    assert (seen[0][:2] < 0.9 * seen[1][:2]).all()
    np.testing.assert_array_equal(seen[2:], [seen[1]] * 2)
    cold = gf.Fire(hottest=700.0)
    assert (drawn(Puff(device, GRID, temperature=40.0), camera, light=DARK, fire=cold) == 0.0).all()


def test_soot_glows_and_clear_gas_does_not(device: Device) -> None:
    """1 - exp(-(density / soot)^2) of the glow; none where there is no soot."""
    camera = gf.Camera(target=(0.5, 0.5, 0.5), distance=40.0, azimuth=0.0, elevation=0.0, fov=1.5)
    smoke = gf.Smoke(extinction=0.0)
    seen = []
    for density, soot in ((0.3, 0.0), (0.3, 0.2), (0.0, 0.2), (0.0, 0.0)):
        fire = gf.Fire(0.0, 2000.0, intensity=3.0, glow=0.0, soot=soot)
        puff = Puff(device, GRID, density, temperature=1.0)
        seen.append(drawn(puff, camera, light=DARK, fire=fire, smoke=smoke)[MIDDLE][0])
    np.testing.assert_allclose(seen, (3.0, 3.0 * (1.0 - np.exp(-2.25)), 0.0, 3.0), rtol=0.01)


@pytest.mark.parametrize("way", ["filtered", "loaded", "dispatched"])
def test_colours_are_softened_by_a_b_spline_and_lose_nothing(
    ctx: moderngl.Context, device: Device, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """Each cell and its neighbours 1 : 4 : 1 along each axis, what lies beyond a side as inside it."""
    go_that_way(device, monkeypatch, way)
    dye = np.zeros((16, 16, 16))
    dye[8, 3, 5] = dye[0, 15, 15] = 1.0
    puff = Puff(device, gf.Grid((16, 16, 16), 1 / 16), color=(dye, 0.5 * dye, 0.0))
    target = ctx.simple_framebuffer((16, 16), 4, dtype="f4")
    renderer = gf.VolumeRenderer(ctx)
    renderer.render(puff, STRAIGHT, target, fire=gf.Fire())
    assert renderer._work.stepped is not None
    sharp, soft = renderer._work.stepped.read().astype(float), renderer._work.shaded.read().astype(float)
    assert sharp[..., 0].max() > 1.0
    expected = softened(sharp)
    np.testing.assert_allclose(soft, expected, rtol=within(4e-3, 2e-2), atol=within(1e-4, 4e-3))
    assert soft.sum() == pytest.approx(sharp.sum(), rel=2e-3)
    renderer.release()
    target.release()


@pytest.mark.parametrize("way", ["filtered", "loaded", "dispatched"])
@pytest.mark.parametrize("cells", [(13, 17, 11), (21, 16, 1)])
def test_soft_smoke_is_softened_and_its_light_evened_out(
    ctx: moderngl.Context,
    device: Device,
    rng: np.random.Generator,
    monkeypatch: pytest.MonkeyPatch,
    cells: tuple[int, int, int],
    way: str,
) -> None:
    """Its extinction as colours are, of which the root is kept, and the root of its light 1 : 1 : 1."""
    go_that_way(device, monkeypatch, way)
    puff = Puff(device, gf.Grid(cells, 1 / 16), rng.random(cells[::-1]))
    target = ctx.simple_framebuffer((16, 16), 4, dtype="f4")
    renderer = gf.VolumeRenderer(ctx)
    renderer.render(puff, STRAIGHT, target, smoke=gf.Smoke(20.0, soft=True))
    assert renderer._work.stepped is not None
    sharp, soft = renderer._work.stepped.read().astype(float), renderer._work.shaded.read().astype(float)
    assert sharp[..., :3].std() > 0.01 and sharp[..., 3].std() > 1.0
    expected = softened(sharp, even=True)
    expected[..., 3] = np.sqrt(softened(sharp[..., 3]))
    np.testing.assert_allclose(soft, expected, rtol=within(1e-3, 2e-2), atol=within(1e-4, 4e-3))
    renderer.release()
    target.release()


def test_fire_lights_a_surface_by_how_it_faces_it(ctx: moderngl.Context, device: Device) -> None:
    """A floor under a fire far above it: radiance I h / (pi d^3), I the intensity per solid angle."""
    grid = gf.Grid((16, 32, 16), 1 / 16, (-0.5, 0.0, -0.5))
    temperature = np.zeros((16, 32, 16))
    temperature[7:9, 17:19, 7:9] = 1.0
    puff = Puff(device, grid, temperature=temperature)
    frame = gf.FrameRenderer(ctx, (96, 64), background=(0.0, 0.0, 0.0))
    fire = gf.Fire(0.0, 2000.0, intensity=50.0)
    camera = gf.Camera(target=(0.0, 0.0, 0.0), distance=4.0, elevation=40.0, azimuth=0.0, fov=40.0)
    frame.draw(pictured(puff, camera=camera, light=DARK, fire=fire, floor=0.0, smoke=gf.Smoke(0.0)))
    picture = frame.read_hdr()[..., 0].astype(float)
    power = 50.0 * 8 / 16**3
    rows = np.arange(36, 60, 4)  # in front of the box's middle, and in front of the box
    slope = np.radians(40.0) + np.arctan((rows + 0.5 - 32) / 32 * np.tan(np.radians(20.0)))
    forward = 4.0 * np.cos(np.radians(40.0)) - 4.0 * np.sin(np.radians(40.0)) / np.tan(slope)
    height = 18.0 / 16
    expected = 0.06 * power * height / np.pi / (forward**2 + height**2) ** 1.5
    assert forward[-1] > 0.9 and forward[0] < 0.4
    np.testing.assert_allclose(picture[rows, 48], expected * there(forward, 2.0), rtol=0.03)
    frame.release()


@pytest.mark.parametrize("middle", [(0.0, 0.25, 0.0), (0.07, 0.31, -0.16), (-0.21, 0.2, 0.11)])
def test_fire_throws_a_round_light_on_the_floor(
    ctx: moderngl.Context, device: Device, middle: tuple[float, float, float]
) -> None:
    """A ball of fire, against the sum over its cells, wherever it hangs among the blocks; past the box."""
    grid = gf.Grid((32, 32, 32), 1 / 32, (-0.5, 0.0, -0.5))
    z, y, x = (np.indices((32, 32, 32)) + 0.5) / 32 + np.reshape((-0.5, 0.0, -0.5), (3, 1, 1, 1))
    hot = (x - middle[0]) ** 2 + (y - middle[1]) ** 2 + (z - middle[2]) ** 2 < 0.1**2
    puff = Puff(device, grid, temperature=hot)
    camera = gf.Camera(target=(0.0, 0.0, 0.0), distance=5.0, azimuth=0.0, elevation=89.0, fov=20.0)
    frame = gf.FrameRenderer(ctx, (96, 96), background=(0.0, 0.0, 0.0))
    fire = gf.Fire(0.0, 2000.0, intensity=50.0)
    frame.draw(pictured(puff, camera=camera, light=DARK, fire=fire, floor=0.0, smoke=gf.Smoke(0.0)))
    seen = frame.read_hdr()[..., 0].astype(float)
    frame.release()
    along = ((np.arange(96) + 0.5) / 48 - 1.0) * np.tan(np.radians(10.0))
    right, down = np.meshgrid(along, along)  # from the top of the picture, where it looks to -z
    sine, cosine = np.sin(np.radians(89.0)), np.cos(np.radians(89.0))
    depth = 5.0 * sine / (sine + down * cosine)
    right, down = depth * right, 5.0 * cosine + depth * (down * sine - cosine)
    sources, places = np.stack([x[hot], y[hot], z[hot]], 1), np.stack([right, 0.0 * right, down], 2)
    way = sources - places[:, :, None]
    distance = np.linalg.norm(way, axis=3)
    expected = 0.06 * 50.0 / 32**3 / np.pi * (way[..., 1] / distance**3).sum(axis=2)
    expected *= there(np.hypot(right, down), 1.0)
    nearer = 5.0 / (5.0 - middle[1])
    clear = np.hypot(right - nearer * middle[0], down - nearer * middle[2]) > 0.2  # of the ball itself
    assert abs(right).max() > 0.8, "past the box"
    np.testing.assert_allclose(seen[clear], expected[clear], rtol=0.07)


def there(aside: Any, edge: float) -> Any:
    """How much of the floor is left, so many metres from the middle of a box whose longest edge that is."""
    t = np.clip((1.0 - aside / (FLOOR_REACH * edge)) / 0.95, 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


def test_fire_lights_the_floor(ctx: moderngl.Context, device: Device) -> None:
    grid = gf.Grid((16, 16, 16), cell_size=1 / 16, origin=(-0.5, 0.0, -0.5))
    temperature = np.zeros((16, 16, 16))
    temperature[6:10, 3:7, 6:10] = 1.5
    puff = Puff(device, grid, temperature=temperature)
    frame = gf.FrameRenderer(ctx, (96, 64))
    pictures = []
    for glow in (0.0, 1.0):
        scene = pictured(
            puff,
            camera=gf.Camera(target=(0.0, 0.3, 0.0), distance=3.5, elevation=20.0),
            light=DARK,
            fire=gf.Fire(glow=glow),
            floor=0.0,
        )
        frame.draw(scene)
        pictures.append(frame.read().astype(int))
    frame.release()
    change = (pictures[1] - pictures[0]).mean(axis=2)
    assert change[38:42, 44:52].min() > 8  # the floor before the fire
    assert change[:10].max() <= 1  # and not the wall behind
    beside = change[38:42].mean(axis=0)  # from the middle of the box to far out of it
    assert beside[48] > 1.5 * beside[66] > 3.0 * beside[84] > 0.0


@pytest.mark.parametrize("background", [(0.9, 0.85, 0.8), (0.3, 0.3, 0.3)])
def test_the_floor_before_a_plain_colour_is_of_it(
    ctx: moderngl.Context, device: Device, background: tuple[float, float, float]
) -> None:
    """In full light it cannot be told from what is behind it; a cloud's shadow is darker."""
    density = np.zeros((16, 16, 16))
    density[4:12, 3:7, 4:12] = 1.0
    puff = Puff(device, gf.Grid((16, 16, 16), 1 / 16, (-0.5, 0.0, -0.5)), density)
    frame = gf.FrameRenderer(ctx, (96, 64), background=background)
    light = gf.Light(direction=(-1.0, -0.8, 0.0), color=(2.0, 1.9, 1.7))
    camera = gf.Camera(target=(-0.5, 0.0, 0.0), distance=5.0, azimuth=0.0, elevation=60.0)
    frame.draw(pictured(puff, camera=camera, light=light, floor=0.0, smoke=gf.Smoke(30.0)))
    seen = frame.read_hdr()[..., :3] / background
    frame.release()
    np.testing.assert_allclose(seen[:, -24:], 1.0, rtol=2e-3)  # towards the light
    assert (seen[:, :48].min(axis=(0, 1)) < 0.4).all()


def test_the_shadow_of_a_solid_shows_no_stairs(ctx: moderngl.Context) -> None:
    """A slab turned by two to one is stairs of cells; its shadow's edge is straight to a pixel."""
    turn = np.arctan(0.5)
    with gf.Fluid(gf.Grid((32, 32, 32), 1 / 32, (-0.5, 0.0, -0.5)), backend="fragment", ctx=ctx) as fluid:
        quaternion = (0.0, np.sin(0.5 * turn), 0.0, np.cos(0.5 * turn))
        slab = gf.Obstacle(gf.Box(size=(0.5, 0.1, 0.5)), (0.0, 0.5, 0.0), quaternion, visible=False)
        fluid.obstacles.add(slab)
        frame = gf.FrameRenderer(ctx, (256, 256), background=(0.8, 0.8, 0.8))
        camera = gf.Camera(target=(0.0, 0.0, 0.0), distance=8.0, azimuth=0.0, elevation=89.0, fov=8.0)
        light = gf.Light(direction=(0.0, -1.0, 0.0), ambient=(0.1, 0.1, 0.1))
        frame.draw(gf.Scene(fluid, camera=camera, light=light, floor=0.0))
        seen = frame.read_hdr()[..., 0].astype(float)
        frame.release()
    metres = 8.0 * np.tan(np.radians(4.0)) / 128  # of a pixel
    along, aside = np.meshgrid(np.linspace(-0.15, 0.15, 61), np.linspace(0.15, 0.35, 201), indexing="ij")
    x, z = along * np.cos(turn) + aside * np.sin(turn), -along * np.sin(turn) + aside * np.cos(turn)
    column, row = (np.round(127.5 + v / metres).astype(int) for v in (x, z))
    lit = seen[row, column]
    lit = (lit - seen.min()) / (seen.max() - seen.min())
    edge = aside[0, np.argmax(lit > 0.5, axis=1)] * 32
    assert edge.mean() == pytest.approx(8.0, abs=0.05) and lit[:, 0].max() < 0.05 and lit[:, -1].min() > 0.95
    straight = edge - np.polyval(np.polyfit(along[:, 0], edge, 1), along[:, 0])
    assert straight.std() < 0.06  # a pixel is 0.14 cells


def test_other_lights_light_the_floor(ctx: moderngl.Context, device: Device) -> None:
    """A lamp beside a cloud: the floor is lit round the cloud's shadow, and fades with the distance."""
    grid = gf.Grid((16, 16, 16), cell_size=1 / 16, origin=(-0.5, 0.0, -0.5))
    density = np.zeros((16, 16, 16))
    density[4:12, 3:7, 4:12] = 1.0
    spots = ((0.45, 0.0), (0.45, 0.9), (1.6, 0.9))
    camera = gf.Camera(target=(0.6, 0.0, 0.0), distance=5.0, elevation=40.0)
    seen = []
    for amount in (density, 0.0 * density):
        puff = Puff(device, grid, amount)
        lamp = gf.PointLight((-1.2, 1.2, 0.0), (4.0, 4.0, 4.0))
        made = pictured(puff, camera=camera, light=DARK, lights=[lamp], floor=0.0)
        frame = gf.FrameRenderer(ctx, (96, 64), background=(0.0, 0.0, 0.0))
        frame.draw(made)
        clip = view_of(camera, 1.5).clip.astype(float)
        at = [clip @ (x, 0.0, z, 1.0) for x, z in spots]
        pixels = [((0.5 + 0.5 * c[:2] / c[3]) * (96, 64)).astype(int) for c in at]
        seen.append([float(frame.read_hdr()[::-1][row, column, 1]) for column, row in pixels])
        frame.release()
    shaded, clear = np.array(seen)
    assert shaded[0] < 0.2 * clear[0]
    np.testing.assert_allclose(shaded[1:], clear[1:], rtol=1e-3)
    # falls with the distance squared and with the angle to the floor, less what the floor fades by
    near, far = (np.hypot(np.hypot(x + 1.2, z), 1.2) for x, z in spots[1:])
    fade = [there(np.hypot(x, z), 1.0) for x, z in spots[1:]]
    assert clear[2] / clear[1] == pytest.approx((near / far) ** 3 * fade[1] / fade[0], rel=0.05)
    assert clear[0] > clear[1]


# -- coloured smoke ----------------------------------------------------------------------------------------


def test_coloured_smoke_has_its_colour(device: Device) -> None:
    smoke = gf.Smoke(extinction=5.0, albedo=(0.8, 0.8, 0.8))
    pictures = []
    for dye in ((0.4, 0.0, 0.0), (0.0, 0.4, 0.0), (0.0, 0.0, 0.4)):
        pictures.append(drawn(Puff(device, GRID, 0.0, color=dye), STRAIGHT, smoke=smoke)[MIDDLE])
    plain = drawn(Puff(device, GRID, 0.4, color=(0.0, 0.0, 0.0)), STRAIGHT, smoke=smoke)[MIDDLE]
    for picture, pigment in zip(pictures, smoke.pigments, strict=True):
        assert picture[3] == pytest.approx(plain[3], abs=1e-6)  # it hides as plain smoke does
        np.testing.assert_allclose(picture[:3], plain[:3] / 0.8 * pigment, rtol=2e-3)
    both = drawn(Puff(device, GRID, 0.2, color=(0.1, 0.1, 0.0)), STRAIGHT, smoke=smoke)[MIDDLE]
    mixed = 0.4 + 0.25 * np.array(smoke.pigments[0]) + 0.25 * np.array(smoke.pigments[1])
    np.testing.assert_allclose(both[:3], plain[:3] / 0.8 * mixed, rtol=2e-3)


# -- bad input ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"lights": [gf.Light()] * 5}, "at most 4 beside the first, got 5"),
        ({"lights": ["sun"]}, r"lights\[0\] must be a gf.Light or gf.PointLight, got 'sun'"),
        ({"lights": 3}, "lights must be a list"),
        ({"light": gf.PointLight((0, 0, 0))}, "light must be a gf.Light, got PointLight"),
        ({"fire": 1.0}, "fire must be a gf.Fire, got 1.0"),
        ({"smoke": gf.Fire()}, "smoke must be a gf.Smoke"),
        ({"smoke": False}, "smoke must be a gf.Smoke, got False"),
        ({"light": 0}, "light must be a gf.Light, got 0"),
    ],
)
def test_wrong_looks_are_named(device: Device, options: dict[str, object], words: str) -> None:
    with pytest.raises(gf.GpufluidError, match=words):
        drawn(Puff(device, GRID), STRAIGHT, **options)


def test_wrong_values_are_named() -> None:
    for make, words in (
        (lambda: gf.PointLight((0, np.nan, 0)), "PointLight.position"),
        (lambda: gf.PointLight((0, 0, 0), radius=0.0), "PointLight.radius"),
        (lambda: gf.PointLight((0, 0, 0), color=(1, -1, 0)), "PointLight.color must not be negative"),
        (lambda: gf.Fire(intensity=-1.0), "Fire.intensity"),
        (lambda: gf.Fire(core=(0, -1, 0)), "Fire.core"),
        (lambda: gf.Smoke(pigments=((1, 0, 0),)), "Smoke.pigments must be three"),
        (
            lambda: gf.Smoke(pigments=((1, 0, 0), (0, 2, 0), (0, 0, 1))),
            r"Smoke.pigments\[1\] must be \(r, g, b\), each in 0 .. 1",
        ),
    ):
        with pytest.raises(gf.GpufluidError, match=words):
            make()


def test_even_smoke_in_a_slice_is_evenly_lit(ctx: moderngl.Context) -> None:
    """Light that came along the slice showed where its rays entered it, as stripes."""
    with gf.Fluid(gf.Grid((32, 32, 1), 1 / 32), ctx=ctx) as fluid:
        fluid.density.write(np.ones((1, 32, 32)))
        camera = gf.Camera(target=(0.5, 0.5, 0.0), distance=1.6, elevation=0.0)
        scene, frame = gf.Scene(fluid, camera), gf.FrameRenderer(ctx, (128, 128))
        frame.draw(scene)
        assert np.ptp(frame.read()[64, 44:84, 1].astype(int)) <= 4
        for light in (gf.Light(), gf.Light((-0.5, -0.8, -0.3))):
            frame.draw(gf.Scene(fluid, camera, light))
            assert np.ptp(frame.read()[64, 44:84, 1].astype(int)) <= 4
        frame.release()
    assert gf.Scene(gf.Fluid(gf.Grid((4, 4, 4)), backend="numpy")).light == gf.Light()
