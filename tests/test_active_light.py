"""Light and looks are worked out only where there is something: the same light, the same looks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import moderngl
import numpy as np
import pytest
from puff import Canvas, Floats, Puff

import gpufluid as gf
from gpufluid.description.view import Look
from gpufluid.gl.device import Device
from gpufluid.render.light import light_volume
from gpufluid.render.light.firelight import FireLight
from gpufluid.render.light.light_reach import COLUMNS, LightReach, ReachPart
from gpufluid.render.light.light_volume import LightVolume
from gpufluid.render.light.other_lights import OtherLights
from gpufluid.render.occupancy import FAINT, Occupancy, _strips_of
from gpufluid.render.volume import VolumeRenderer

LONG = (70, 11, 20)  # more than a span of cells
BOXES = [(21, 17, 26), (29, 23, 1), LONG, (1, 30, 17)]
WAYS = [(-0.75, -0.6, 0.3), (0.0, -1.0, 0.0), (1.0, 0.2, -0.9), (-0.1, 0.2, -1.0), (0.4, 1.0, 1.0)]
CAMERA = gf.Camera(target=(0.4, 0.33, 0.5), distance=2.2, azimuth=33.0, elevation=24.0)
SMOKE = gf.Smoke(extinction=30.0)
LIGHTS = [gf.PointLight((0.5, 0.9, 0.4)), gf.PointLight((2.0, 0.4, 0.5)), gf.Light((0.3, -1.0, 0.2))]


def specks(rng: np.random.Generator, shape: tuple[int, ...], count: int, edge: int = 1) -> Floats:
    """A few small boxes anywhere in a volume [z, y, x], and nothing between them.

    edge: cells kept free at the sides where there is room. At the edge of a tile a filter that rounds reads
    some 1e-5 of the tile beside it, which is of another slice; only the walk through everything does.
    """
    values = np.zeros(shape)
    inner = values[tuple(slice(edge, n - edge) if n > 2 * edge else slice(n) for n in shape)]
    for _ in range(count):
        low = [int(rng.integers(0, n)) for n in inner.shape]
        size = [int(rng.integers(1, 6)) for _ in low]
        inner[tuple(slice(a, a + n) for a, n in zip(low, size, strict=True))] = rng.uniform(0.2, 2.0)
    return values


def found(device: Device, fluid: Any, look: Look) -> Occupancy:
    """Where there is anything in `fluid`."""
    made = Occupancy(device, fluid)
    made.update(fluid, look)
    made.spread(fluid)
    return made


@pytest.mark.parametrize(
    ("cells", "edge", "at_once"),
    [*((cells, 1, n % 2 == 0) for n, cells in enumerate(BOXES)), (BOXES[0], 1, False), (BOXES[0], 0, True)],
)
def test_light_is_walked_only_past_what_stops_it(
    device: Device, rng: np.random.Generator, cells: tuple[int, int, int], edge: int, at_once: bool
) -> None:
    """To the bit, whatever the light did before; with solids and colours, straight down and at any angle."""
    if at_once and device.version < 430:
        pytest.skip("no compute shaders here")
    grid, shape = gf.Grid(cells, cell_size=1 / 26), cells[::-1]
    scale = 1.0 if min(cells) == 1 else 0.5
    rounded = 1e-4 if edge == 0 or cells[0] == 1 else 0.0
    for attenuation in ("exponential", "harris")[: 2 if cells == BOXES[0] else 1]:
        some = [LightVolume(device, grid, size, attenuation, at_once) for size in (1.0, scale)]
        whole = [LightVolume(device, grid, size, attenuation, False) for size in (1.0, scale)]
        for n, way in enumerate(WAYS):
            solids = (specks(rng, shape, 1, edge) > 0.0).astype(float) if n % 2 else None
            dye = [specks(rng, shape, 1, edge) for _ in range(3)] if n == 2 else None
            density = specks(rng, shape, n, edge) + (0.1 if n == 4 else 0.0)  # at last nothing is left out
            puff = Puff(device, grid, density, solids, color=dye, scrolled=(n, -n, 2 * n))
            occupancy = found(device, puff, Look(smoke=SMOKE))
            for one, other in zip(some, whole, strict=True):
                one.update(puff, way, SMOKE, occupancy)
                other.update(puff, way, SMOKE)
                light = other.read()
                assert n == 0 or 0.0 <= light.min() < 0.99
                np.testing.assert_allclose(one.read(), light, rtol=0.0, atol=rounded)
            occupancy.release()
        for volume in (*some, *whole):
            volume.release()


@pytest.mark.parametrize("at_once", [True, False])
def test_lights_are_found_together_as_they_are_alone(
    device: Device, rng: np.random.Generator, at_once: bool
) -> None:
    """Three of them at once, of other directions and sizes: the groups of each keep to its rows."""
    if at_once and device.version < 430:
        pytest.skip("no compute shaders here")
    grid = gf.Grid((37, 30, 17), cell_size=1 / 26)
    lights = [LightVolume(device, grid, size, at_once=at_once) for size in (1.0, 0.5, 0.7)]
    alone = [LightVolume(device, grid, light.scale, at_once=at_once) for light in lights]
    together = LightReach(device, lights)
    for n in range(6):  # now and then one of them turns
        puff = Puff(device, grid, specks(rng, grid.cells[::-1], n % 3), scrolled=(n // 4, 0, 0))
        occupancy = found(device, puff, Look(smoke=SMOKE))
        ways = [WAYS[(k + (n // 3 if k == 1 else 0)) % len(WAYS)] for k in range(3)]
        for light, way in zip(lights, ways, strict=True):
            light.face(puff, way)
        together.find(occupancy)
        for light, single, way, part in zip(lights, alone, ways, together.parts, strict=True):
            light.update(puff, way, SMOKE, occupancy, part)
            single.update(puff, way, SMOKE, occupancy)
            own = single._reach
            assert own is not None
            assert (
                part.follows == own.follows == (n not in (0, 4) and (n != 3 or part is not together.parts[1]))
            )
            np.testing.assert_array_equal(reaches(part), reaches(own))
            np.testing.assert_array_equal(light.read(), single.read())
        occupancy.release()
    together.release()
    for light in (*lights, *alone):
        light.release()


def reaches(part: ReachPart) -> Floats:
    """What a light may meet: the first and the last layer by group of columns, [rows, columns, 2]."""
    groups = part.whole.groups.texture
    image = np.frombuffer(groups.read(), np.float32).reshape(*groups.size[::-1], 4)
    image = image[part.row : part.row + part.count[1], : part.count[0]]
    return np.stack([-image[..., 0], image[..., 1]], axis=-1).astype(float)


def interrupt(*_: Any) -> None:
    """Ctrl-C."""
    raise KeyboardInterrupt


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("few", [0, light_volume.FEW])
def test_light_follows_what_moves(
    device: Device, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, few: int, at_once: bool
) -> None:
    """Light of one direction, again and again: where smoke was it is bright again, to the bit.

    Between them there is none, all is walked once, one walk is broken off, the light turns and turns back.
    """
    if at_once and device.version < 430:
        pytest.skip("no compute shaders here")
    monkeypatch.setattr(light_volume, "FEW", few)
    grid = gf.Grid((40, 33, 29), cell_size=1 / 26)
    some, whole = (LightVolume(device, grid, 1.0, at_once=at) for at in (at_once, False))
    seen = []
    for n in range(9):
        density = specks(rng, grid.cells[::-1], n % 3)
        puff, way = Puff(device, grid, density), WAYS[3 if n == 6 else 0]
        occupancy = found(device, puff, Look(smoke=SMOKE))
        if n == 2:  # it is not walked, and what `n` was 1 for is in the volume still
            nowhere = found(device, Puff(device, grid, 0.0 * density), Look(smoke=SMOKE))
            with monkeypatch.context() as broken, pytest.raises(KeyboardInterrupt):
                broken.setattr(light_volume, "give", interrupt)
                some.update(puff, way, SMOKE, nowhere)
            nowhere.release()
        some.update(puff, way, SMOKE, None if n == 4 else occupancy)
        whole.update(puff, way, SMOKE)
        np.testing.assert_array_equal(some.read(), whole.read())
        seen.append(some.read().min() < 0.9)
        occupancy.release()
    assert seen == [n % 3 > 0 for n in range(9)]
    for volume in (some, whole):
        volume.release()


def test_light_is_left_alone_where_nothing_stops_it(device: Device) -> None:
    """One cell of smoke: the groups of columns through it, the layers beside it; its shadow behind them."""
    grid = gf.Grid((64, 40, 32), cell_size=1 / 32)
    density = np.zeros(grid.cells[::-1])
    density[10, 30, 40] = 1.0
    puff = Puff(device, grid, density)
    occupancy = found(device, puff, Look(smoke=SMOKE))
    assert occupancy._spans.read()[-1, 0, 0, 0] == 1.0  # cells that are shaded
    volume = LightVolume(device, grid, at_once=False)
    volume.update(puff, (0.2, -1.0, 0.1), SMOKE, occupancy)
    reach = volume._reach
    assert reach is not None
    first, last = np.moveaxis(reaches(reach), 2, 0)
    walked = np.maximum(last - first + 1.0, 0.0)
    assert 0 < (walked > 0.0).sum() <= 4
    assert walked.max() <= 4  # the cell, half a cell to both sides, and the slope
    assert first[walked > 0.0].min() >= 40 - 30 - 3
    rects = np.frombuffer(reach.rects.read(), np.float32).reshape(*reach.rects.size[::-1], 4)[:20]
    size = np.maximum(rects[..., 1::2] - rects[..., ::2], 0.0).prod(axis=-1).reshape(2, 10, -1)
    met, behind = size  # by tile of four layers
    assert 0 < met.any(axis=1).sum() <= 3
    first = met.any(axis=1).argmax()
    assert not behind[: first + 1].any() and behind[first + 2 :].any(axis=1).all()
    assert size.max() <= 4 * np.prod(COLUMNS)
    volume.release()
    occupancy.release()


@pytest.mark.parametrize("cells", [(29, 23, 1), LONG])
def test_other_lights_and_fire_meet_the_same(
    device: Device, rng: np.random.Generator, cells: tuple[int, int, int]
) -> None:
    """Lights in the box, outside it and from a direction; the fire's light on everything; to the bit."""
    grid, shape = gf.Grid(cells, cell_size=1 / 26), cells[::-1]
    others = [OtherLights(device, grid) for _ in range(2)]
    fires = [FireLight(device, grid) for _ in range(2)]
    fire = gf.Fire()
    for n in range(4):
        solids = (specks(rng, shape, 1) > 0.0).astype(float) if n == 1 else None
        flame = [specks(rng, shape, 1)] if n == 2 else None
        hot = specks(rng, shape, 2 if n else 0)
        puff = Puff(device, grid, specks(rng, shape, n), solids, temperature=hot, flame=flame)
        occupancy = found(device, puff, Look(smoke=SMOKE, fire=fire, lights=tuple(LIGHTS)))
        for given, other, burning in zip((occupancy, None), others, fires, strict=True):
            other.update(puff, LIGHTS, SMOKE, given)
            burning.update(puff, fire, SMOKE, given)
        values = others[1].field.read()[..., :3]
        assert (values.min() < 0.9) == (n > 0)
        np.testing.assert_array_equal(others[0].field.read(), others[1].field.read())
        glow = fires[1].glow.read()
        assert (glow[..., :3].max() > 0.0) == (n > 0)
        np.testing.assert_array_equal(fires[0].glow.read(), glow)
        np.testing.assert_array_equal(fires[0].blocks.read(), fires[1].blocks.read())
        occupancy.release()
    for made in (*others, *fires):
        made.release()


FAINTEST = 1e-6  # 1/m


def looks(renderer: VolumeRenderer, fluid: Any, **look: Any) -> Floats:
    """How every cell looks; of air but beside smoke, where rays look nothing up: 0."""
    canvas = Canvas(fluid.ctx)
    renderer.render(fluid, CAMERA, canvas.target, **{"smoke": SMOKE, **look})
    shaded = renderer._work.shaded.read().astype(float)
    near = np.pad(shaded[..., 3], 1)
    for axis in range(3):
        near = np.maximum(near, np.maximum(np.roll(near, 1, axis), np.roll(near, -1, axis)))
    shaded[near[1:-1, 1:-1, 1:-1] < FAINTEST] = 0.0
    return shaded


@pytest.mark.parametrize(
    "kind", ["smoke", "soft", "fire", "colours", "solids", "soft solids", "soft colours", "everything"]
)
def test_cells_look_the_same_and_nothing_stays_behind(
    device: Device, rng: np.random.Generator, kind: str
) -> None:
    """Smoke that moves, goes and comes back, in the same renderers: the same bits in every cell."""
    grid = gf.Grid(LONG, cell_size=1 / 26)
    shape = grid.cells[::-1]
    every = kind == "everything"
    solids = (specks(rng, shape, 2) > 0.0).astype(float) if every or "solids" in kind else None
    look: dict[str, Any] = {"fire": gf.Fire()} if every or kind == "fire" else {}
    if every:
        look["lights"] = LIGHTS
    if "soft" in kind:
        look["smoke"] = replace(SMOKE, soft=True)
    some, whole = VolumeRenderer(device.ctx), VolumeRenderer(device.ctx, skip_empty=False)
    seen = []
    for n, count in enumerate((3, 0, 1, 12, -1)):
        extra: dict[str, Any] = {}
        if "fire" in look:
            extra = {"temperature": specks(rng, shape, count), "flame": [specks(rng, shape, count)]}
        if every or "colours" in kind:
            extra["color"] = [specks(rng, shape, count) for _ in range(3)]
        density = specks(rng, shape, count)
        if solids is not None and count:  # right beside them
            density = np.maximum(density, np.roll(solids, 1, 2))
        if count < 0:  # all of the box at once
            density += 0.3 * (1.0 - (0.0 if solids is None else solids))
        puff = Puff(device, grid, density, solids, **extra)
        light = {"light": gf.Light(WAYS[n]), **look}
        one, other = (looks(made, puff, **light) for made in (some, whole))
        np.testing.assert_array_equal(one, other)
        seen.append((one != 0.0).any(axis=-1).mean())
    assert seen[1] == 0.0 < min(seen[0], seen[2]) and max(seen[:4]) < 0.5 and seen[4] > 0.9
    assert some._work.occupancy is not None and whole._work.occupancy is None
    some.release()
    whole.release()


@pytest.mark.parametrize(
    ("rules", "backend"),
    [
        (gf.Settings(), "fragment"),
        (gf.Settings(precision="half"), "compute"),
        (gf.Settings(combustion=gf.Combustion()), "fragment"),
    ],
    ids=["single", "half", "fire"],
)
def test_smoke_of_a_fluid_looks_the_same(ctx: moderngl.Context, rules: gf.Settings, backend: str) -> None:
    """It leaves a periodic box and comes in again, ever thinner at its edge: less than a screen shows."""
    if backend == "compute" and ctx.version_code < 430:
        pytest.skip("no compute shaders here")
    sides = gf.Boundaries(left=gf.Periodic(), right=gf.Periodic())
    fluid = gf.Fluid(gf.Grid((36, 20, 18), 1 / 20), sides, rules.but(solve_velocity=False), backend, ctx)
    velocity = np.zeros((19, 21, 37, 3))
    velocity[..., 0] = 3.0
    fluid.velocity.write(velocity)
    source = gf.Emitter(gf.Sphere((1.6, 0.5, 0.4), 0.12), density=9.0, temperature=1.2, fuel=4.0)
    fluid.emitters.add(source)
    look = {"fire": gf.Fire()} if rules.combustion is not None else {}
    some, whole = VolumeRenderer(ctx), VolumeRenderer(ctx, skip_empty=False)
    shares = []
    for n in range(12):
        fluid.step(1 / 30)
        source.active = n < 6
        if n % 3 == 0:
            one, other = (looks(made, fluid, **look) for made in (some, whole))
            np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-5)
            shares.append((one != 0.0).any(axis=-1).mean())
    assert 0.0 < shares[0] < 0.3
    for made in (fluid, some, whole):
        made.release()


@pytest.mark.parametrize("backend", ["fragment", "compute"])
def test_what_a_step_left_out_is_not_looked_at(ctx: moderngl.Context, backend: str) -> None:
    """The same blocks as without what the step knows; not even read, until somebody else has written."""
    if backend == "compute" and ctx.version_code < 430:
        pytest.skip("no compute shaders here")
    fluid = gf.Fluid(
        gf.Grid((70, 44, 18), cell_size=1 / 22),
        settings=gf.Settings(solve_velocity=False),
        backend=backend,
        ctx=ctx,
    )
    fluid.emitters.add(gf.Emitter(gf.Sphere((0.7, 0.3, 0.4), 0.1), density=6.0, temperature=1.0))
    look = Look(smoke=SMOKE)
    made = Occupancy(fluid.device, fluid)

    def step() -> None:
        if fluid._solver.empty._strips is not None:
            fluid._solver.empty._strips.always = True  # whether it pays or not
        fluid.step(1 / 40)

    def blocks(known: bool) -> Floats:
        assert (_strips_of(fluid, look) is not None) == known
        made.update(fluid, look)
        found = made.boxes.read()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("gpufluid.render.occupancy._strips_of", lambda *_: None)
            made.update(fluid, look)
        np.testing.assert_array_equal(found, made.boxes.read())
        return found

    blocks(False)  # nothing has been stepped yet
    step()
    for dye in (False, True):
        if dye:
            fluid.emitters.add(
                gf.Emitter(gf.Sphere((2.0, 0.5, 0.4), 0.1), density=0.0, color=(3.0, 1.0, 0.0))
            )
            step()
        for _ in range(4):
            step()
            found = blocks(True)
            assert 0 < (found[..., 0] >= 0).sum() < found[..., 0].size / 2
    behind_its_back = fluid.scalars.layout.flatten(np.ones((18, 44, 70, 4), np.float32))
    before = fluid.scalars.front.read()
    fluid.scalars.front.write(behind_its_back.tobytes())
    made.update(fluid, look)
    assert 0.0 < (made.boxes.read()[..., 0] >= 0).mean() < 0.8
    fluid.scalars.front.write(before)
    assert _strips_of(fluid, Look(smoke=SMOKE, fire=gf.Fire())) is None  # air may glow that holds nothing
    for change in ("write", "switch", "solid"):
        if change == "write":
            fluid.density.write(np.roll(fluid.density.read(), 30, 2))
        else:
            step()
            blocks(True)
        if change == "switch":
            fluid.settings = fluid.settings.but(skip_empty=False)
            blocks(False)
            fluid.settings = fluid.settings.but(skip_empty=True)
        elif change == "solid":
            fluid.obstacles.add(gf.Obstacle(gf.Sphere((2.6, 0.5, 0.4), 0.2)))
            step()
        blocks(False)
    made.release()
    fluid.release()


def test_the_thinnest_smoke_takes_next_to_no_light(device: Device) -> None:
    """As much as is left out at most, all the way through 512 cells; twice as much is not left out."""
    grid = gf.Grid((512, 2, 2), cell_size=0.1)
    assert 1.0 - np.exp(-512 * FAINT) < 1e-6
    for share, whole in ((0.99, True), (2.0, False)):
        puff = Puff(device, grid, FAINT / (SMOKE.extinction * 0.1) * share)
        occupancy = found(device, puff, Look(smoke=SMOKE))
        assert (occupancy.boxes.read().max() < 0.0) == whole
        volume = LightVolume(device, grid, at_once=False)
        volume.update(puff, (1.0, 0.0, 0.0), SMOKE)
        assert volume.read().min() > 1.0 - 1e-4  # floats round 512 times, which is more than the smoke takes
        occupancy.release()
        volume.release()


def test_smoke_that_changes_after_the_light_is_seen(device: Device) -> None:
    """Drawn without another `prepare`: what is there now, not where it was."""
    grid = gf.Grid((20, 20, 20), cell_size=1 / 20)
    density = np.zeros((20, 20, 20))
    density[3, 3, 3] = 1.0
    puff = Puff(device, grid, density)
    renderer, look = VolumeRenderer(device.ctx), Look(smoke=SMOKE)
    renderer.prepare(puff, look)
    values = puff.scalars.read()
    puff.scalars.write(np.roll(values, 12, axis=(0, 1, 2)))
    renderer.draw(puff, CAMERA, Canvas(device.ctx).target, None, look)
    shown = np.argwhere(renderer._work.shaded.read()[..., 3] > 0.0)
    assert shown.tolist() == [[15, 15, 15]]
    renderer.release()
