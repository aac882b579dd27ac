"""The light of smoke and fire on things of a host's, by a shader of its own."""

from __future__ import annotations

from typing import Any

import moderngl
import numpy as np
import pytest
from numpy.typing import NDArray
from reference_light import lamps_left, light_at

import gpufluid as gf
from gpufluid.render.camera import view_of
from gpufluid.render.frame import FrameRenderer
from gpufluid.render.light.lighting import Lighting
from gpufluid.render.light.other_lights import rows_of

pytestmark = pytest.mark.usefixtures("one_context")

GRID = gf.Grid((15, 12, 10), 0.1, origin=(-0.5, 0.2, 0.3))
VERTEX = """#version 330
in vec3 place;
in vec3 normal;
out float sun;
out vec3 fire;
{}
void main() {{ sun = gpufluid_sunlight_at(place); fire = gpufluid_firelight_at(place, normal); }}
"""
SLANTED = ((0.5, -1.0, 0.3), (-0.2, 0.3, 1.0), (0.0, -1.0, 0.0), (1.0, 0.9, -0.95))


def told(
    smoke: gf.VolumeRenderer, fluid: gf.Fluid, places: NDArray[np.float64], normal: Any = (0.0, 1.0, 0.0)
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Share of the sun's light [n] and the fire's [n, 3] at places, by a program of a host's."""
    ctx = smoke.ctx
    program = ctx.program(vertex_shader=VERTEX.format(gf.glsl("light")), varyings=["sun", "fire"])
    smoke.give(fluid, program, unit=3)
    rows = np.concatenate([places, np.broadcast_to(normal, places.shape)], axis=1).astype("f4")
    given = ctx.vertex_array(program, [(ctx.buffer(rows), "3f 3f", "place", "normal")])
    out = ctx.buffer(reserve=16 * len(places))
    given.transform(out, moderngl.POINTS)
    found = np.frombuffer(out.read(), np.float32).reshape(-1, 4)
    return found[:, 0], found[:, 1:]


def around(fluid: gf.Fluid, rng: np.random.Generator, count: int) -> NDArray[np.float64]:
    """Random places in the box, and as far from it as it is wide."""
    low, size = np.array(fluid.grid.origin), np.array(fluid.grid.size)
    inside = rng.uniform(low, low + size, (count, 3))
    return np.concatenate([inside, rng.uniform(low - size, low + 2.0 * size, (count, 3))])


@pytest.mark.parametrize("scroll", [(0, 0, 0), (3, 0, -2)])
@pytest.mark.parametrize("way", SLANTED)
@pytest.mark.parametrize("backend", ["fragment", "compute"])
def test_the_suns_light_is_that_of_the_volume(
    rng: np.random.Generator, backend: str, way: tuple[float, float, float], scroll: tuple[int, int, int]
) -> None:
    """At any place, held to the float64 twin of the lookup; to the smoke alone where a solid stands."""
    sides = gf.Boundaries.all(gf.Open())
    with gf.Fluid(GRID, sides, backend=backend) as fluid:
        assert fluid.ctx is not None
        fluid.scroll(scroll)
        fluid.density.write(rng.uniform(0.0, 1.0, fluid.density.read().shape))
        fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.25), tuple(np.array(fluid.grid.origin) + 0.5)))
        smoke = gf.VolumeRenderer(fluid.ctx)
        target = fluid.ctx.framebuffer([fluid.ctx.texture((32, 24), 4, dtype="f2")])
        smoke.render(fluid, gf.Camera(), target, light=gf.Light(direction=way), smoke=gf.Smoke(3.0))
        places = around(fluid, rng, 150)
        sun, fire = told(smoke, fluid, places)
        volume = smoke.lighting.on_surfaces
        layers = volume.read().astype(np.float64)
        cells = (places - fluid.grid.origin) / fluid.grid.cell_size
        twin = np.array([light_at(volume.frame, layers, tuple(p)) for p in cells])
        np.testing.assert_allclose(sun, twin, atol=2e-4)
        assert volume.past_solids and (sun[150:] == 1.0).any() and sun.min() > 0.0 and sun.min() < 0.6
        np.testing.assert_array_equal(fire, 0.0)
        smoke.release()


@pytest.mark.parametrize("way", [(0.6, -0.7, -0.4), (-0.5, -0.8, 0.45), (0.1, -1.0, 0.95)])
@pytest.mark.parametrize("backend", ["fragment", "compute"])
def test_the_suns_light_beyond_the_box_is_that_of_a_wider_box(
    backend: str, way: tuple[float, float, float]
) -> None:
    """Where the light of smoke beside a side leaves through it, as well as where that side is far away."""
    cells, size, aside = 20, 0.05, 24  # cells of the wider box beside those of the narrow one

    def sunlight(wider: int, places: NDArray[np.float64]) -> NDArray[np.float32]:
        grid = gf.Grid(
            (cells + 2 * wider, cells, cells + 2 * wider), size, (-wider * size, 0.0, -wider * size)
        )
        with gf.Fluid(grid, gf.Boundaries.all(gf.Open()), backend=backend) as fluid:
            assert fluid.ctx is not None
            middle = np.where(np.array(way) > 0.0, 0.75, 0.25)  # near where the light leaves
            off = np.linalg.norm(grid.centers() - (middle[0], 0.5, middle[2]), axis=-1)
            fluid.density.write(4.0 * np.clip((0.2 - off) / size, 0.0, 1.0))
            smoke, target = gf.VolumeRenderer(fluid.ctx), fluid.ctx.simple_framebuffer((32, 24))
            smoke.render(fluid, gf.Camera(), target, light=gf.Light(direction=way), smoke=gf.Smoke(6.0))
            return told(smoke, fluid, places)[0]

    x, z = np.meshgrid(np.arange(-1.0, 2.0, 0.0113), np.arange(-1.0, 2.0, 0.0113))
    floor = np.stack([x, np.zeros_like(x), z], axis=-1).reshape(-1, 3)
    outside = floor[((floor < 0.0) | (floor > 1.0)).any(axis=1)]
    narrow, wide = sunlight(0, outside), sunlight(aside, outside)
    assert (wide < 0.3).sum() > 100  # in the shadow
    off = np.abs(narrow - wide)
    assert off.max() < 0.03 and off[wide < 0.99].mean() < 0.001, (off.max(), off[wide < 0.99].mean())


LAMPS = (
    gf.PointLight((0.3, 0.9, 0.8)),  # in the box
    gf.Light((0.4, -1.0, 0.3)),
    gf.PointLight((-1.5, 2.0, 2.0)),
    gf.Light((0.0, -1.0, 0.0)),
)


def told_of_lamps(
    smoke: gf.VolumeRenderer, fluid: gf.Fluid, places: NDArray[np.float64]
) -> NDArray[np.float32]:
    """Share of the light of each of four lamps [n, 4] at places, by a program of a host's."""
    ctx = smoke.ctx
    source = f"""#version 330
    in vec3 place;
    out vec4 lamps;
    {gf.glsl("light")}
    void main() {{ lamps = gpufluid_lamplight_at(place); }}"""
    program = ctx.program(vertex_shader=source, varyings=["lamps"])
    smoke.give(fluid, program, unit=3)
    given = ctx.vertex_array(program, [(ctx.buffer(places.astype("f4")), "3f", "place")])
    out = ctx.buffer(reserve=16 * len(places))
    given.transform(out, moderngl.POINTS)
    return np.frombuffer(out.read(), np.float32).reshape(-1, 4)


@pytest.mark.parametrize("count", [0, 1, 3, 4])
@pytest.mark.parametrize("scroll", [(0, 0, 0), (3, -1, -2)])
def test_the_light_of_lamps_is_that_of_their_volume(
    ctx: moderngl.Context, rng: np.random.Generator, scroll: tuple[int, int, int], count: int
) -> None:
    """At any place, held to the float64 twin of the lookup. Solids let all by: the host has their shadows."""
    with gf.Fluid(GRID, gf.Boundaries.all(gf.Open()), backend="fragment", ctx=ctx) as fluid:
        fluid.scroll(scroll)
        fluid.density.write(rng.uniform(0.0, 1.0, fluid.density.read().shape))
        smoke, target = gf.VolumeRenderer(ctx), ctx.simple_framebuffer((32, 24))
        target.use()
        places = around(fluid, rng, 150)
        look: dict[str, Any] = {"lights": LAMPS[:count], "smoke": gf.Smoke(3.0)}
        smoke.render(fluid, gf.Camera(), target, **look)
        found = told_of_lamps(smoke, fluid, places)
        assert (found[:, count:] == 1.0).all()
        lamps = rows_of(LAMPS[:count], fluid.grid).places.astype(np.float64)
        cells = (places - fluid.grid.origin) / fluid.grid.cell_size
        others = smoke.lighting._others
        if others is not None:
            left, lag = others.field.read().astype(np.float64), [n % 2 for n in fluid.scrolled]
            twin = lamps_left(left, fluid.grid.cells, lag, lamps, cells)
            np.testing.assert_allclose(found[:, :count], twin, atol=2e-5)
            assert (found[150:, 1:count] == 1.0).any(axis=0).all()
            assert found[:, :count].min(axis=0).max() < 0.6
        # a solid without smoke beside it changes nothing once it stands
        middle = tuple(np.array(fluid.grid.origin) + 0.5)
        fluid.density.write(np.zeros(fluid.density.read().shape))
        fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.25), middle))
        smoke.render(fluid, gf.Camera(), target, **look)
        assert told_of_lamps(smoke, fluid, places).min() > 1.0 - 1e-6
        smoke.release()


@pytest.mark.parametrize("asks", [False, True])
def test_a_third_texture_is_bound_for_those_who_ask_for_lamps(ctx: moderngl.Context, asks: bool) -> None:
    """A host's own stays there for others; where the last unit is one too few it is named."""
    light = "min(gpufluid_sunlight_at(vec3(0.5)), 0.0)"  # 0, which no compiler knows
    light += " + min(gpufluid_lamplight_at(vec3(0.5)).x, 0.0)" * asks
    source = f"""#version 330
    uniform sampler2D mine;
    out float found;
    {gf.glsl("light")}
    void main() {{ found = texelFetch(mine, ivec2(0), 0).x + {light}; }}"""
    program, smoke = ctx.program(vertex_shader=source, varyings=["found"]), gf.VolumeRenderer(ctx)
    out, mine = ctx.buffer(reserve=4), ctx.texture((1, 1), 1, np.float32(7.0).tobytes(), dtype="f4")
    ctx.simple_framebuffer((8, 8)).use()
    with gf.Fluid(GRID, backend="fragment", ctx=ctx) as fluid:
        program["mine"] = 5
        mine.use(5)
        smoke.give(fluid, program, unit=3)
        ctx.vertex_array(program, []).transform(out, moderngl.POINTS, 1)
        assert (np.frombuffer(out.read(), np.float32)[0] == 7.0) is not asks
        last = ctx.info["GL_MAX_COMBINED_TEXTURE_IMAGE_UNITS"] - 2 - asks
        smoke.give(fluid, program, unit=last)
        with pytest.raises(gf.GpufluidError, match=rf"unit must be a texture unit, 0 \.\. {last} here"):
            smoke.give(fluid, program, unit=last + 1)
    smoke.release()


def test_even_smoke_leaves_of_a_lamp_what_beer_and_lambert_say(ctx: moderngl.Context) -> None:
    """Below the box, beside it, and where the lamp is nearer than the box: by the length of the way in it.

    Less at most one cell: where the light enters or leaves, what is kept is that of the outermost cells.
    """
    with gf.Fluid(GRID, backend="fragment", ctx=ctx) as fluid:
        fluid.density.write(np.ones(fluid.density.read().shape))
        low, high = np.array(GRID.origin), np.array(GRID.upper)
        smoke, target = gf.VolumeRenderer(ctx), ctx.simple_framebuffer((32, 24))
        target.use()
        lamps = (gf.PointLight((0.2, 3.0, 0.7)), gf.Light((0.0, -1.0, 0.0)), gf.PointLight((0.2, -0.2, 0.7)))
        places = np.array(
            [(0.2, 0.0, 0.7), (0.3, 0.0, 0.8), (0.2, 0.75, 0.7), (3.0, 0.5, 0.7), (0.2, -1.0, 0.7)]
        )
        assert (told_of_lamps(smoke, fluid, places) == 1.0).all()  # before the first picture
        smoke.render(fluid, gf.Camera(), target, lights=lamps, smoke=gf.Smoke(0.5))
        found = told_of_lamps(smoke, fluid, places)
        for row, place in zip(found, places, strict=True):
            for share, lamp in zip(row, lamps, strict=False):
                if isinstance(lamp, gf.PointLight):
                    way = np.array(lamp.position) - place
                    most = 1.0
                else:
                    way, most = -np.array(lamp.direction), np.inf
                with np.errstate(divide="ignore"):
                    ends = np.stack([(low - place) / way, (high - place) / way])
                near = max(np.nanmin(ends, axis=0).max(), 0.0)
                far = min(np.nanmax(ends, axis=0).min(), most)
                length = max(far - near, 0.0) * np.linalg.norm(way)
                assert np.exp(-0.5 * length) < 1.002 * share, (place, lamp)
                assert share < 1.002 * np.exp(-0.5 * max(length - 0.11, 0.0)), (place, lamp)
        smoke.release()


@pytest.mark.parametrize("cells", [(1, 0, 0), (-3, 2, 5)])
def test_light_stays_where_it_is_when_the_box_moves_on(
    ctx: moderngl.Context, rng: np.random.Generator, cells: tuple[int, int, int]
) -> None:
    """A game moves the box, draws its own things, and then the smoke: their light is of the last picture."""
    rules = gf.Settings(combustion=gf.Combustion())
    grid = gf.Grid((16, 12, 10), 0.1, origin=(-0.5, 0.2, 0.3))
    with gf.Fluid(grid, gf.Boundaries.all(gf.Open()), rules, backend="fragment", ctx=ctx) as fluid:
        fluid.density.write(rng.uniform(0.0, 1.0, fluid.density.read().shape))
        fluid.temperature.write(rng.uniform(0.0, 5.0, fluid.density.read().shape))
        smoke, target = gf.VolumeRenderer(ctx), ctx.simple_framebuffer((32, 24))
        look: dict[str, Any] = {"lights": LAMPS, "smoke": gf.Smoke(3.0), "fire": gf.Fire()}
        places = around(fluid, rng, 100)
        smoke.render(fluid, gf.Camera(), target, **look)
        before = *told(smoke, fluid, places), told_of_lamps(smoke, fluid, places)
        fluid.scroll(cells)
        for was, now in zip(
            before, (*told(smoke, fluid, places), told_of_lamps(smoke, fluid, places)), strict=True
        ):
            np.testing.assert_array_equal(now, was)
        smoke.render(fluid, gf.Camera(), target, **look)
        moved = told_of_lamps(smoke, fluid, places)
        assert np.abs(moved - before[2]).max() > 0.1
        smoke.release()


@pytest.mark.parametrize(("floor", "walled"), [(0.1, False), (0.48, False), (0.35, True)])
def test_the_fires_light_is_that_of_the_floor(
    ctx: moderngl.Context, rng: np.random.Generator, floor: float, walled: bool
) -> None:
    """And of any surface: as on the floor of a picture, below the box and right under the fire."""
    dark = gf.Light(color=(0.0, 0.0, 0.0), ambient=(0.0, 0.0, 0.0))
    rules = gf.Settings(combustion=gf.Combustion())
    with gf.Fluid(GRID, gf.Boundaries.all(gf.Open()), rules, backend="fragment", ctx=ctx) as fluid:
        fluid.scroll((5, 0, 0))
        if walled:
            at = tuple((np.array(fluid.grid.origin) + np.array(fluid.grid.size) * (0.75, 0.3, 0.5)).tolist())
            wall = gf.Box(size=(0.2, 0.6 * fluid.grid.size[1], 0.8))
            fluid.obstacles.add(gf.Obstacle(wall, position=at, visible=False))
        heat = np.zeros(fluid.temperature.read().shape)
        heat[3:6, 3:7, 6:10] = rng.uniform(5.0, 20.0, (3, 4, 4))
        fluid.temperature.write(heat)
        middle = np.array(fluid.grid.origin) + 0.5 * np.array(fluid.grid.size)
        camera = gf.Camera(target=(float(middle[0]), floor, float(middle[2])), distance=3.0, elevation=60.0)
        scene = gf.Scene(fluid, camera, dark, gf.Smoke(visible=False), fire=gf.Fire(), floor=floor)
        pictures = []
        for albedo in (0.0, 1.0):
            frame = FrameRenderer(ctx, (96, 96), background=(0.0, 0.0, 0.0), floor_color=(albedo,) * 3)
            frame.draw(scene)
            pictures.append(frame.read_hdr()[..., :3])
        flame, seen = pictures
        at = 2.0 * (np.arange(96) + 0.5) / 96 - 1.0
        x, y = np.meshgrid(at, -at)
        back = np.linalg.inv(view_of(camera, 1.0).clip.astype(np.float64))
        ends = [np.stack([x, y, np.full_like(x, z), np.ones_like(x)], -1) @ back.T for z in (-0.9, 0.9)]
        near, far = (e[..., :3] / e[..., 3:] for e in ends)
        place = near + (far - near) * ((near[..., 1] - floor) / (near[..., 1] - far[..., 1]))[..., None]
        bare = (np.linalg.norm(place - middle, axis=-1) < 1.6) & (flame.max(axis=-1) == 0.0)
        _, fire = told(frame.volume, fluid, place[bare])
        away = np.hypot(*(place[bare] - middle)[..., ::2].T) / (2.6 * 1.5)
        there = np.clip((1.0 - away) / 0.95, 0.0, 1.0)
        there = there * there * (3.0 - 2.0 * there)
        assert bare.sum() > 1000 and fire.max() > 0.05
        np.testing.assert_allclose(seen[bare], there[:, None] * fire, rtol=0.01, atol=1e-3 * fire.max())
        # of a surface that looks away there is none of what comes from one side
        under = np.array([(middle[0], -5.0, middle[2])])
        (_, up), (_, down) = (told(frame.volume, fluid, under, (0.0, y, 0.0)) for y in (1.0, -1.0))
        assert down.max() < 0.2 * up.max()
        frame.release()


def test_walls_keep_the_fires_light_from_what_is_behind_them(ctx: moderngl.Context) -> None:
    """Held to the sum over the cells of fire that a place sees; the side that faces it has all it had."""
    h = 1 / 32
    with gf.Fluid(gf.Grid((64, 32, 48), h), backend="fragment", ctx=ctx) as fluid:
        centers = fluid.grid.centers()
        hot = np.linalg.norm(centers - (0.4, 0.35, 0.75), axis=-1) < 0.15
        fire = gf.Fire(kelvin_at_zero=0.0, kelvin_per_temperature=2000.0, intensity=5.0, soot=0.0)
        smoke, target = gf.VolumeRenderer(ctx), ctx.simple_framebuffer((32, 24))
        x, z = np.meshgrid(np.linspace(0.1, 1.95, 30), np.linspace(0.1, 1.4, 12))
        floor = np.stack([x.ravel(), np.full(x.size, 0.01), z.ravel()], axis=-1)
        y, z = np.meshgrid(np.linspace(0.05, 0.6, 12), np.linspace(0.3, 1.2, 12))
        face = np.stack([np.full(y.size, 0.9), y.ravel(), z.ravel()], axis=-1)
        back = face + np.array((0.1, 0.0, 0.0))
        seen = []
        for walled in (False, True):
            if walled:
                fluid.obstacles.add(gf.Obstacle(gf.Box(size=(0.1, 0.7, 1.2)), position=(0.95, 0.35, 0.75)))
                fluid.voxelize()
            fluid.temperature.write(hot * 1.0)
            smoke.render(fluid, gf.Camera(), target, fire=fire, smoke=gf.Smoke(extinction=1e-6))
            given = (floor, (0.0, 1.0, 0.0)), (face, (-1.0, 0.0, 0.0)), (back, (1.0, 0.0, 0.0))
            seen.append([told(smoke, fluid, places, normal)[1][:, 0] for places, normal in given])
        smoke.release()
    way = centers[hot] - floor[:, None]
    true = np.maximum(way[..., 1], 0.0) / np.linalg.norm(way, axis=-1) ** 3 * 5.0 * h**3 / np.pi
    share = np.clip((0.95 - floor[:, :1]) / way[..., 0], 0.0, 1.0)
    at = floor[:, None] + way * share[..., None]  # in the wall
    hidden = (floor[:, :1] > 0.95) & (at[..., 1] < 0.7) & (np.abs(at[..., 2] - 0.75) < 0.6)
    bare, beside = true.sum(axis=1), np.abs(floor[:, 0] - 0.95) > 0.2
    left = (true * ~hidden).sum(axis=1)
    dark = beside & (left == 0.0)
    assert dark.sum() > 50 and seen[0][0][dark].min() > 0.001
    assert (seen[1][0][dark] < 0.02 * seen[0][0][dark]).mean() > 0.9
    off, before = (np.abs(a - b)[beside] / bare.max() for a, b in ((seen[1][0], left), (seen[0][0], bare)))
    assert np.sqrt((off**2).mean()) < 1.2 * np.sqrt((before**2).mean()) < 0.03 and off.max() < 0.12
    np.testing.assert_allclose(seen[1][1], seen[0][1], rtol=0.07)  # of the face before it
    assert seen[1][2].max() < 0.01 * seen[1][1].max()


def test_what_a_host_has_bound_stays_and_what_it_is_given_too(ctx: moderngl.Context) -> None:
    """The walk past solids draws; after it the host's framebuffer and the two textures are bound."""
    with gf.Fluid(GRID, backend="fragment", ctx=ctx) as fluid:
        fluid.density.write(np.ones(fluid.density.read().shape))
        fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.3), (0.2, 0.7, 0.7)))
        smoke = gf.VolumeRenderer(ctx)
        target = ctx.framebuffer([ctx.texture((32, 24), 4, dtype="f2")])
        smoke.render(fluid, gf.Camera(), target)
        gf.keep_state(ctx, True)
        try:
            target.use()
            before = ctx.fbo.glo, ctx.viewport
            sun, _ = told(smoke, fluid, np.array([(0.2, 0.3, 0.7)]))
            assert (ctx.fbo.glo, ctx.viewport) == before and 0.0 < sun[0] < 1.0
        finally:
            gf.keep_state(ctx, False)
        smoke.release()


def test_a_shader_may_ask_for_the_flow_and_the_light(ctx: moderngl.Context) -> None:
    """By themselves the textures of both came to the same units, the light's in place of the flow's."""
    source = f"""#version 330
    {gf.glsl("sample")}
    {gf.glsl("light")}
    out float density, sun;
    void main() {{
        density = gpufluid_scalars_at(vec3(0.5)).x;
        sun = gpufluid_sunlight_at(vec3(0.5));
    }}"""
    program = ctx.program(vertex_shader=source, varyings=["density", "sun"])
    target, smoke, out = ctx.simple_framebuffer((8, 8)), gf.VolumeRenderer(ctx), ctx.buffer(reserve=8)
    with gf.Fluid(gf.Grid((8, 8, 8), 1 / 8), ctx=ctx) as fluid:
        fluid.density.write(np.full((8, 8, 8), 0.25))
        smoke.render(fluid, gf.Camera(target=(0.5, 0.5, 0.5)), target)
        fluid.give(program)
        smoke.give(fluid, program)
        ctx.vertex_array(program, []).transform(out, moderngl.POINTS, 1)
    density, sun = np.frombuffer(out.read(), np.float32)
    assert density == 0.25 and 0.0 < sun < 0.9
    smoke.release()


def test_one_shader_asks_for_two_fluids(ctx: moderngl.Context) -> None:
    """Each by a prefix and units of its own: what it says is that of a shader that asks for one."""
    source = f"""#version 330
    {"".join(gf.glsl(what, name) for what in ("light", "sample") for name in ("near", "far_off"))}
    out vec4 found;
    void main() {{
        vec3 at = vec3(0.5);
        found.xy = vec2(near_sunlight_at(at), far_off_sunlight_at(at));
        found.zw = vec2(near_scalars_at(at).x, far_off_scalars_at(at).x);
    }}"""
    program, out = ctx.program(vertex_shader=source, varyings=["found"]), ctx.buffer(reserve=16)
    target, alone = ctx.simple_framebuffer((8, 8)), []
    pairs = [(gf.Fluid(gf.Grid((8, 8, 8), 1 / 8), ctx=ctx), gf.VolumeRenderer(ctx)) for _ in range(2)]
    for n, (name, density) in enumerate((("near", 0.25), ("far_off", 0.75))):
        fluid, smoke = pairs[n]
        smoke.give(fluid, program, 5 + 2 * n, name)  # before the first picture
        fluid.density.write(np.full((8, 8, 8), density))
        smoke.render(fluid, gf.Camera(target=(0.5, 0.5, 0.5)), target, smoke=gf.Smoke(2.0))
        alone.append(told(smoke, fluid, np.full((1, 3), 0.5))[0][0])
    for n, (name, (fluid, smoke)) in enumerate(zip(("near", "far_off"), pairs, strict=True)):
        fluid.give(program, 9 + 2 * n, name)
        smoke.give(fluid, program, 5 + 2 * n, name)
    ctx.vertex_array(program, []).transform(out, moderngl.POINTS, 1)
    assert np.frombuffer(out.read(), np.float32).tolist() == [*alone, 0.25, 0.75]
    assert 0.0 < alone[1] < 0.9 * alone[0] < 0.9
    for prefix in ("", "gl_near", "a__b", "a_", "1st", "near;", None):
        with pytest.raises(gf.GpufluidError, match="prefix must be a name of GLSL"):
            gf.glsl("light", prefix)  # type: ignore[arg-type]
    for fluid, smoke in pairs:
        smoke.release()
        fluid.release()


def test_light_of_another_fluid_is_refused(ctx: moderngl.Context) -> None:
    fluids = [gf.Fluid(GRID, backend="fragment", ctx=ctx) for _ in range(2)]
    smoke = gf.VolumeRenderer(ctx)
    program = ctx.program(vertex_shader=VERTEX.format(gf.glsl("light")), varyings=["sun", "fire"])
    target = ctx.framebuffer([ctx.texture((32, 24), 4, dtype="f2")])
    target.use()
    sun, fire = told(smoke, fluids[0], np.array([(0.0, 0.0, 0.0), (0.2, 0.3, 0.7)]))
    assert (sun == 1.0).all() and (fire == 0.0).all()  # before the first picture
    smoke.render(fluids[0], gf.Camera(), target)
    smoke.give(fluids[0], program)
    with pytest.raises(gf.GpufluidError, match="of another fluid"):
        smoke.give(fluids[1], program)
    smoke.release()
    with pytest.raises(gf.GpufluidError, match="was released"):
        smoke.give(fluids[0], program)
    for fluid in fluids:
        fluid.release()


def test_once_asked_for_it_is_walked_with_each_picture(ctx: moderngl.Context) -> None:
    """Of the smoke that the picture shows, not of what a step has moved since."""
    with gf.Fluid(GRID, backend="fragment", ctx=ctx) as fluid:
        fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.1), (0.2, 0.7, 0.7)))
        smoke, look = gf.VolumeRenderer(ctx), {"smoke": gf.Smoke(5.0), "light": gf.Light((0.0, -1.0, 0.0))}
        target = ctx.framebuffer([ctx.texture((32, 24), 4, dtype="f2")])
        target.use()
        under = np.array([(0.6, 0.3, 0.7)])
        found = []
        for density in (0.0, 1.0, 0.5):
            fluid.density.write(np.full(fluid.density.read().shape, density))
            smoke.render(fluid, gf.Camera(), target, **look)
            fluid.density.write(np.zeros(fluid.density.read().shape))
            found.append(float(told(smoke, fluid, under)[0][0]))
        assert found[0] == 1.0
        assert found[1:] == pytest.approx([np.exp(-5.0 * d * 1.1) for d in (1.0, 0.5)], rel=0.01)
        smoke.release()


def test_a_solid_that_comes_after_the_picture_changes_no_light_before_the_next(ctx: moderngl.Context) -> None:
    """Whatever the smoke has done since: nothing of the last picture is walked again."""
    with gf.Fluid(GRID, backend="fragment", ctx=ctx) as fluid:
        smoke, look = gf.VolumeRenderer(ctx), {"smoke": gf.Smoke(5.0), "light": gf.Light((0.0, -1.0, 0.0))}
        target = ctx.framebuffer([ctx.texture((32, 24), 4, dtype="f2")])
        target.use()
        under = np.array([(-0.4, 0.3, 0.7), (0.9, 0.3, 0.7)])
        found = []
        for side in (slice(0, 4), slice(11, 15)):
            density = np.zeros(fluid.density.read().shape)
            density[..., side] = 1.0
            fluid.density.write(density)
            if found:
                fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.1), (0.2, 0.7, 0.7)))
                fluid.step(1e-4)
                found += [told(smoke, fluid, under)[0]]
            smoke.render(fluid, gf.Camera(), target, **look)
            found += [told(smoke, fluid, under)[0]]
        first, between, last = found
        np.testing.assert_array_equal(between, first)
        assert first[0] < 0.1 < 0.9 < first[1] and last[1] < 0.1 < 0.9 < last[0]
        smoke.release()


def test_light_first_asked_for_after_a_step_is_that_of_the_smoke_now(ctx: moderngl.Context) -> None:
    """Beside a solid it is walked then, and what the picture knew of where smoke is no longer holds."""
    with gf.Fluid(GRID, gf.Boundaries.all(gf.Open()), backend="fragment", ctx=ctx) as fluid:
        fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.1), (0.2, 0.7, 0.7)))
        smoke, look = gf.VolumeRenderer(ctx), {"smoke": gf.Smoke(5.0), "light": gf.Light((0.0, -1.0, 0.0))}
        target = ctx.framebuffer([ctx.texture((32, 24), 4, dtype="f2")])
        target.use()
        for side in (slice(0, 4), slice(11, 15)):
            density = np.zeros(fluid.density.read().shape)
            density[..., side] = 1.0
            fluid.density.write(density)
            if side.start == 0:
                smoke.render(fluid, gf.Camera(), target, **look)
        fluid.step(1e-4)
        lit, dark = told(smoke, fluid, np.array([(-0.2, 0.3, 0.7), (0.9, 0.3, 0.7)]))[0]
        assert lit > 0.999 and dark == pytest.approx(np.exp(-5.0 * 1.1), rel=0.01)
        smoke.release()


@pytest.mark.parametrize("method", ["view-slices", "axis-slices", "ray-march"])
def test_light_that_nobody_sees_is_walked_once_it_is_asked_for(
    ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch, method: Any
) -> None:
    """A picture that does not show the box does without; a host may ask for its light all the same."""
    walks, update = [], Lighting.update

    def counted(self: Lighting, *given: Any) -> None:
        walks.append(self)
        update(self, *given)

    monkeypatch.setattr(Lighting, "update", counted)
    away, there = gf.Camera((9.0, 0.5, 0.8), distance=2.0), gf.Camera((0.2, 0.7, 0.7), distance=3.0)
    with gf.Fluid(GRID, backend="fragment", ctx=ctx) as fluid:
        smoke, look = (
            gf.VolumeRenderer(ctx, method=method),
            {"smoke": gf.Smoke(5.0), "light": gf.Light((0.0, -1.0, 0.0))},
        )
        target = ctx.framebuffer([ctx.texture((32, 24), 4, dtype="f2")])
        target.use()
        target.clear()
        under = np.array([(0.6, 0.3, 0.7)])
        for n, density in enumerate((1.0, 0.5)):
            fluid.density.write(np.full(fluid.density.read().shape, density))
            smoke.render(fluid, away, target, **look)
            assert len(walks) == 2 * n  # once it was asked for, each picture walks it
            left = float(told(smoke, fluid, under)[0][0])
            assert left == pytest.approx(np.exp(-5.0 * density * 1.1), rel=0.01)
        assert not np.frombuffer(target.read(components=4, dtype="f2"), np.float16).any()
        smoke.release()
        other = gf.VolumeRenderer(ctx, method=method)
        other.render(fluid, away, target, **look)
        del walks[:]
        other.render(fluid, there, target, **look)
        assert len(walks) == 1
        assert np.frombuffer(target.read(components=4, dtype="f2"), np.float16).any()
        with pytest.raises(gf.GpufluidError, match="Smoke"):
            other.render(fluid, away, target, smoke="thick")
        other.release()


FIRES = {  # where gas glows, how far off in x a ball stands, and how exact its light is where it sets
    "column": (lambda x, y, z: np.hypot(x - 0.5, z - 0.75) < 0.1, 0.6, 0.028),
    "ball": (lambda x, y, z: (x - 0.6) ** 2 + (y - 0.65) ** 2 + (z - 0.75) ** 2 < 0.09, 0.9, 0.006),
    "sheet": (lambda x, y, z: (np.abs(x - 0.4) < 0.06) & (np.abs(z - 0.75) < 0.5), 0.46, 0.024),
}


@pytest.mark.parametrize("away", [0.15, 0.5])
@pytest.mark.parametrize("name", FIRES)
def test_fire_lights_a_ball_round_to_where_it_sets(
    ctx: moderngl.Context, rng: np.random.Generator, name: str, away: float
) -> None:
    """Of a wide fire a surface sees a part where its middle has set; held to the sum over all its cells."""
    h, (glows, beside, exact) = 1 / 32, FIRES[name]
    with gf.Fluid(gf.Grid((64, 44, 48), h), backend="fragment", ctx=ctx) as fluid:
        centers = fluid.grid.centers()
        hot = glows(*np.moveaxis(centers, -1, 0)) & (np.abs(centers[..., 1] - 0.65) < 0.5)
        fluid.temperature.write(hot * 1.0)
        fire = gf.Fire(kelvin_at_zero=0.0, kelvin_per_temperature=2000.0, intensity=5.0, soot=0.0)
        smoke, target = gf.VolumeRenderer(ctx), ctx.simple_framebuffer((32, 24))
        smoke.render(fluid, gf.Camera(), target, fire=fire, smoke=gf.Smoke(extinction=1e-6))
        normal = rng.normal(size=(600, 3))
        normal /= np.linalg.norm(normal, axis=1, keepdims=True)
        places = (beside + away + 0.16, 0.65, 0.75) + 0.16 * normal
        seen = told(smoke, fluid, places, normal)[1][:, 0]
        way = centers[hot] - places[:, None]
        above = np.maximum(np.einsum("pci,pi->pc", way, normal), 0.0)
        true = (above / np.linalg.norm(way, axis=-1) ** 3).sum(axis=1) * 5.0 * h**3 / np.pi
        smoke.release()
    towards, off = -normal[:, 0], (seen - true) / true.max()
    # 0.015 to 0.08 if all of it sets at once
    assert np.sqrt((off[np.abs(towards) < 0.25] ** 2).mean()) < exact
    assert seen[towards > 0.7].mean() == pytest.approx(true[towards > 0.7].mean(), rel=0.08)
    assert np.abs(off[towards < -0.5]).mean() < 0.01
