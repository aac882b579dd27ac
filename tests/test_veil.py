"""Smoke before particles hides them: the share of their light that it lets through, and the pictures."""

from __future__ import annotations

from typing import Any

import moderngl
import numpy as np
import pytest
from numpy.typing import NDArray
from puff import Canvas, Floats, Puff
from reference_light import let_through
from view_flows import parallel as flat

import gpufluid as gf
from gpufluid.gl.device import Device, let_go
from gpufluid.render.camera import view_of
from gpufluid.render.fading import fade
from gpufluid.render.painter import eye_of
from gpufluid.render.volume import VolumeRenderer

GRID = gf.Grid((12, 16, 14), 1 / 16, (0.2, -0.1, 0.3))
MIDDLE = tuple((np.array(GRID.origin) + 0.5 * np.array(GRID.size)).tolist())
CAMERAS = {
    "far": gf.Camera(MIDDLE, 3.0, azimuth=30.0, elevation=20.0),
    "inside": gf.Camera(MIDDLE, 0.05, azimuth=200.0, elevation=-10.0, near=0.01),
    "along": gf.Camera(MIDDLE, 2.0, azimuth=0.0, elevation=0.0),
    "near plane": gf.Camera(MIDDLE, 0.6, azimuth=70.0, elevation=5.0, near=0.5),
}
BOX = (np.array(GRID.origin), np.array(GRID.size))


def matrices(camera: gf.Camera, parallel: bool) -> Any:
    """What a host gives in place of `camera`, with its perspective or without."""
    view = view_of(camera, 1.5)
    return view.view, flat(0.9, 0.6, camera.near, 10.0) if parallel else view.projection


def seen_through(
    device: Device, fluid: Any, camera: Any, places: Floats, smoke: gf.Smoke, grid: gf.Grid = GRID
) -> Floats:
    """What `VolumeRenderer.veil` leaves of each of `places` [n, 3], cells of `grid`."""
    renderer, canvas = VolumeRenderer(device.ctx), Canvas(device.ctx)
    renderer.render(fluid, camera, canvas.target, smoke=smoke)
    texels = np.concatenate([places, np.zeros((len(places), 1))], axis=1).astype("f4")
    given = device.ctx.texture((len(places), 1), 4, texels.tobytes(), dtype="f4")
    out = device.ctx.texture((len(places), 1), 1, np.full(len(places), 0.5, "f4").tobytes(), dtype="f4")
    target = device.ctx.framebuffer([out])
    renderer.veil(given, grid, view_of(camera, 1.5), target)
    shares = np.frombuffer(out.read(), "f4") / 0.5  # it multiplies what is there
    let_go(target, given, out)
    renderer.release()
    return shares.astype(float)


def spread(rng: np.random.Generator) -> Floats:
    """Places in the box, and some round it."""
    return rng.uniform(-0.4, 1.4, (200, 3)) * np.array(GRID.cells)


def way_through_box(view: Any, places: Floats) -> Floats:
    """Metres of the box between each of `places` (m) and the viewer, from where the picture begins."""
    rays = view.rays
    depth = rays.depth(places)
    back = (
        rays.origin[0] - places if view.is_perspective else np.broadcast_to(-rays.direction[0], places.shape)
    )
    pace = back @ rays.forward  # m of depth for all of `back`
    whole = np.where(depth > rays.near, (rays.near - depth) / pace, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = np.stack([(BOX[0] - places) / back, (BOX[0] + BOX[1] - places) / back])
    near, far = ends.min(axis=0).max(axis=1), ends.max(axis=0).min(axis=1)
    share = np.minimum(far, whole) - np.maximum(near, 0.0)
    return np.maximum(share, 0.0) * np.linalg.norm(back, axis=1)


@pytest.mark.parametrize("parallel", [False, True], ids=["perspective", "parallel"])
@pytest.mark.parametrize("name", CAMERAS)
def test_even_smoke_lets_through_what_it_must(
    device: Device, rng: np.random.Generator, name: str, parallel: bool
) -> None:
    """exp(-extinction density way), Beer and Lambert, of places in the box, before it and behind it."""
    puff, places = Puff(device, GRID, density=0.5), spread(rng)
    camera = matrices(CAMERAS[name], parallel)
    shares = seen_through(device, puff, camera, places, gf.Smoke(extinction=3.0))
    world = np.array(GRID.origin) + places * GRID.cell_size
    view = view_of(camera, 1.5)
    way = way_through_box(view, world)
    counted = view.rays.depth(world) > view.rays.near + 1e-3
    assert way[counted].max() > 0.0 and (~counted).any() == (name in ("inside", "near plane"))
    np.testing.assert_allclose(shares[counted], np.exp(-1.5 * way[counted]), atol=2e-3)
    np.testing.assert_array_equal(shares[~counted], 1.0)


@pytest.mark.parametrize("edge", [0.0, 0.6])
def test_smoke_lets_through_what_its_twin_does(device: Device, rng: np.random.Generator, edge: float) -> None:
    density = rng.uniform(0.0, 1.0, GRID.cells[::-1]) ** 3
    puff, places, camera = Puff(device, GRID, density=density), spread(rng), CAMERAS["far"]
    shares = seen_through(device, puff, camera, places, gf.Smoke(extinction=8.0, edge=edge))
    eye = np.array(eye_of(view_of(camera, 1.5), puff))
    expected = let_through(8.0 * density, GRID.cell_size, places, eye, edge=8.0 * edge)
    assert expected.min() < 0.5
    np.testing.assert_allclose(shares, expected, atol=4e-3 if device.software else 0.02)


def test_things_thin_out_with_the_smoke_of_their_box(device: Device, rng: np.random.Generator) -> None:
    """Towards its open sides as the twin says, with smoke before them or none; not those of other boxes."""
    sides = gf.Boundaries.all(gf.Wall()).but(left=gf.Open(), top=gf.Open())
    density = rng.uniform(0.0, 1.0, GRID.cells[::-1])
    puff, camera = Puff(device, GRID, density=density, boundaries=sides), CAMERAS["far"]
    places = rng.uniform(0.0, 1.0, (200, 3)) * np.array(GRID.cells)
    rate, bits = 1.0 / (0.25 * 16), 0b001001
    z, y, x = np.meshgrid(*(np.arange(n) + 0.5 for n in GRID.cells[::-1]), indexing="ij")
    shown = density * fade(np.stack([x, y, z], -1), GRID.cells, bits, rate)
    eye = np.array(eye_of(view_of(camera, 1.5), puff))
    for extinction in (8.0, 0.0):
        shares = seen_through(device, puff, camera, places, gf.Smoke(extinction=extinction, fade=0.25))
        expected = let_through(extinction * shown, GRID.cell_size, places, eye, 0.0, bits, rate)
        assert expected.min() < 0.02
        np.testing.assert_allclose(shares, expected, atol=4e-3 if device.software else 0.02)
    other = gf.Grid((4, 4, 4), 0.25, (0.3, -0.5, -1.0))
    shares = seen_through(device, puff, camera, places * 0.2, gf.Smoke(extinction=0.0, fade=0.25), other)
    np.testing.assert_array_equal(shares, 1.0)


def test_places_of_another_box(device: Device) -> None:
    """In cells of theirs, of another size and elsewhere."""
    other = gf.Grid((4, 4, 4), 0.25, (0.3, -0.5, -1.0))  # stands behind the first, seen along z
    puff, camera = Puff(device, GRID, density=0.5), CAMERAS["along"]
    world = np.array([(0.5, 0.3, -0.2), (0.4, 0.4, -0.9), (0.3, 3.0, -0.5)])
    places = (world - other.origin) / other.cell_size
    shares = seen_through(device, puff, camera, places, gf.Smoke(extinction=3.0), other)
    way = way_through_box(view_of(camera, 1.5), world)
    assert way[0] > 0.5 and way[2] == 0.0
    np.testing.assert_allclose(shares, np.exp(-1.5 * way), atol=2e-3)


# -- pictures ------------------------------------------------------------------------------------------------


def spots(ctx: moderngl.Context, *places: tuple[float, float, float], **look: Any) -> gf.Particles:
    """One white particle at each of `places`, m, full grown."""
    sources = [gf.ParticleSource(gf.Sphere(place, 1e-4), color=(1.0, 1.0, 1.0)) for place in places]
    return gf.Particles(ctx, len(places), sources, life=4.0, size=9.0, opacity=1.0, linear=True, **look)


@pytest.mark.parametrize("blend", ["additive", "alpha"])
def test_particles_are_seen_through_the_smoke_before_them(ctx: moderngl.Context, blend: str) -> None:
    """A spot behind a slab of smoke has its share of light left; one before it has all of it."""
    sides = gf.Boundaries.all(gf.Wall(slip="free"))
    grid = gf.Grid((16, 16, 16), 1 / 16)
    with gf.Fluid(grid, sides, backend="fragment", ctx=ctx) as fluid:
        scalars = fluid.scalars.read()
        scalars[6:10, ..., 0] = 1.0
        fluid.scalars.write(scalars)
        camera = gf.Camera((0.5, 0.5, 0.5), 4.0, elevation=0.0)
        smoke = gf.Smoke(extinction=6.0, albedo=(0.0, 0.0, 0.0))
        made = spots(ctx, (0.25, 0.5, 0.9), (0.75, 0.5, 0.1), blend=blend)
        for _ in range(44):  # all are born, none is old
            made.advance(fluid, 0.1)
        renderer, size = VolumeRenderer(ctx), (96, 64)

        def lightest(veil: Any) -> NDArray[np.float64]:
            canvas = Canvas(ctx, size)
            renderer.render(fluid, camera, canvas.target, smoke=smoke)
            made.render(fluid, camera, canvas.target, smoke=veil)
            picture = canvas.read()[..., 0]
            return np.array([picture[:, :48].max(), picture[:, 48:].max()])

        bare, veiled = lightest(()), lightest(renderer)
        assert bare.min() > 0.5
        left = float(np.exp(-6.0 * 4 / 16))
        np.testing.assert_allclose(veiled / bare, [1.0, left], rtol=0.03)
        np.testing.assert_allclose(lightest([renderer, renderer]) / bare, [1.0, left**2], rtol=0.05)
        made.veiled = False
        np.testing.assert_array_equal(lightest(renderer), bare)
        made.release()
        renderer.release()


def test_a_scene_hides_particles_behind_its_smoke(ctx: moderngl.Context) -> None:
    """Its own and that of another box; not where smoke is not to be seen, or they are not to be hidden.

    And with it they thin out towards open sides.
    """
    front, back = gf.Grid((8, 8, 8), 1 / 8, (0.0, 0.0, 1.2)), gf.Grid((8, 8, 8), 1 / 8)
    with (
        gf.Fluid(back, gf.Boundaries(left=gf.Open()), backend="fragment", ctx=ctx) as behind,
        gf.Fluid(front, gf.Boundaries.all(gf.Open()), backend="fragment", ctx=ctx) as before,
    ):
        frame = gf.FrameRenderer(ctx, (96, 64), background=(0.0, 0.0, 0.0))
        view = gf.ParticlesView(
            1,
            [gf.ParticleSource(gf.Sphere((0.5, 0.5, 0.5), 1e-4), color=(1.0, 1.0, 1.0))],
            life=8.0,
            size=9.0,
            opacity=1.0,
        )
        smoke = gf.Smoke(extinction=6.0, albedo=(0.0, 0.0, 0.0))
        scene = gf.Scene(
            behind, gf.Camera((0.5, 0.5, 1.0), 5.0, elevation=0.0), smoke=smoke, views=[view], floor=None
        )
        scene.others = [before]

        def lightest(**given: float) -> float:
            for fluid, density in ((behind, given.get("own", 0.0)), (before, given.get("other", 0.0))):
                scalars = fluid.scalars.read()
                scalars[..., 0] = density
                fluid.scalars.write(scalars)
            frame.draw(scene)
            return float(frame.read_hdr()[..., 0].max())

        frame.draw(scene)
        for _ in range(10):
            scene.live.advance(1.0)
        clear = lightest()
        assert clear > 0.5
        assert lightest(own=0.3) == pytest.approx(clear * np.exp(-0.3 * 6.0 * 0.5), rel=0.03)
        assert lightest(other=0.3) == pytest.approx(clear * np.exp(-0.3 * 6.0), rel=0.03)
        assert lightest(own=0.3, other=0.3) == pytest.approx(clear * np.exp(-0.3 * 6.0 * 1.5), rel=0.05)
        view.veiled = False
        assert lightest(own=0.3, other=0.3) == pytest.approx(clear, rel=1e-3)
        view.veiled, smoke.visible = True, False
        assert lightest(own=0.3, other=0.3) == pytest.approx(clear, rel=1e-3)
        # 0.5 m from all sides: towards the open one they thin out, also where fire alone is seen
        smoke.fade = 1.0
        assert lightest() == pytest.approx(clear, rel=1e-3)
        scene.fire = gf.Fire()
        assert lightest() == pytest.approx(0.5 * clear, rel=0.01)
        smoke.visible = True
        assert lightest() == pytest.approx(0.5 * clear, rel=0.01)
        assert lightest(own=0.3) < 0.45 * clear
        scene.live.release()
        frame.release()


def test_what_cannot_veil_is_told(ctx: moderngl.Context) -> None:
    with gf.Fluid(gf.Grid((8, 8, 8), 0.1), backend="fragment", ctx=ctx) as fluid:
        made, canvas, camera = spots(ctx, (0.4, 0.4, 0.4)), Canvas(ctx), gf.Camera()
        with pytest.raises(gf.GpufluidError, match=r"Particles\.render: smoke must be gf\.VolumeRenderer"):
            made.render(fluid, camera, canvas.target, smoke=[gf.Smoke()])
        renderer = VolumeRenderer(ctx)
        with pytest.raises(gf.GpufluidError, match="nothing was drawn yet"):
            made.render(fluid, camera, canvas.target, smoke=renderer)
        renderer.release()
        with pytest.raises(gf.GpufluidError, match="VolumeRenderer was released"):
            made.render(fluid, camera, canvas.target, smoke=renderer)
        made.veiled = "no"
        with pytest.raises(gf.GpufluidError, match=r"Particles\.veiled"):
            made.render(fluid, camera, canvas.target)
        made.release()
