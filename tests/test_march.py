"""The other ways to draw smoke, and what holds for all of them: depths, quality, noise, bad input."""

from __future__ import annotations

import ctypes
import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import moderngl
import numpy as np
import pytest
from driver import told_on_gl_33, within
from host import Host
from numpy.typing import NDArray
from puff import SIZE, Canvas, Floats, Puff, pictured, way_through_box
from reading import nothing_new
from sharing import in_pairs

import gpufluid as gf
from gpufluid.description.view import METHODS, Look
from gpufluid.gl.calls import calls
from gpufluid.gl.contexts import create_context
from gpufluid.gl.device import Device
from gpufluid.render import march, slabs
from gpufluid.render.camera import view_of
from gpufluid.render.frame import FrameRenderer
from gpufluid.render.noise import noise_tile
from gpufluid.render.quality import LOWEST, FrameClock, Quality
from gpufluid.render.slabs import (
    axis_cuts,
    axis_shifts,
    axis_slabs,
    box_of,
    view_cuts,
    view_shifts,
    view_slabs,
)
from gpufluid.render.volume import VolumeRenderer

LARGE = (144, 96)  # pixels, where half of them are few
HALF = {"method": "ray-march", "resolution": 0.5}
WAYS: dict[str, dict[str, Any]] = {
    "view": {},
    "axis": {"method": "axis-slices"},
    "march": {"method": "ray-march"},
    "half": HALF,
}
N = 16
GRID = gf.Grid((N, N, N), cell_size=1 / N)
OUTSIDE = gf.Camera(target=(0.5, 0.5, 0.5), distance=2.5, azimuth=33.0, elevation=24.0, fov=35.0)
INSIDE = gf.Camera(target=(0.5, 0.5, 0.4), distance=0.2, azimuth=20.0, elevation=10.0, fov=70.0)
# the corners of the picture look along other axes of the box than its middle
WIDE = gf.Camera(target=(0.6, 0.5, 0.5), distance=0.9, azimuth=47.0, elevation=20.0, fov=120.0)
EYE = view_of(OUTSIDE, 1.5).view
PARALLEL = (EYE, np.array([[0.9, 0, 0, 0.05], [0, 1.3, 0, -0.1], [0, 0, -0.4, -1.0], [0, 0, 0, 1.0]]))
CAMERAS = {"outside": OUTSIDE, "inside": INSIDE, "wide": WIDE, "parallel": PARALLEL}

ways = pytest.mark.parametrize("way", WAYS)
cameras = pytest.mark.parametrize("camera", CAMERAS)


@pytest.fixture(scope="module")
def plume(ctx: moderngl.Context) -> Iterator[gf.Fluid]:
    """Smoke that rose for a while."""
    rules = gf.Settings(buoyancy=3.0, vorticity_confinement=0.5)
    with gf.Fluid(gf.Grid((32, 32, 32), 1 / 32), settings=rules, backend="fragment", ctx=ctx) as fluid:
        fluid.emitters.add(gf.Emitter(gf.Sphere((0.5, 0.2, 0.5), 0.12), density=4.0, temperature=1.0))
        for _ in range(20):
            fluid.step(1 / 30)
        yield fluid


def drawn(
    fluid: Any,
    camera: Any,
    options: Any = (),
    size: tuple[int, int] = SIZE,
    quality: float = 1.0,
    **given: Any,
) -> Floats:
    """Return the premultiplied picture of `fluid` on nothing, [height, width, 4]."""
    canvas = Canvas(fluid.ctx, size)
    made = VolumeRenderer(fluid.ctx, **dict(options))
    if quality < 1.0:
        made.frame_ms = 1e6
        steering = made._budget._steering
        assert steering is not None
        steering.value = quality
    made.render(fluid, camera, canvas.target, **given)
    picture = canvas.read()
    made.release()
    return picture


def away_from_edges(way: Floats) -> NDArray[np.bool_]:
    """Where the rays two pixels round go about as far: half the resolution blurs what lies between."""
    shifts = [np.roll(way, (i, j), (0, 1)) for i in range(-2, 3) for j in range(-2, 3)]
    return np.abs(np.array(shifts) - way).max(axis=0) < 0.15


def halved(picture: Floats) -> Floats:
    """A picture [height, width, ...] made twice as wide and high, bilinear."""
    wide = np.zeros((2 * picture.shape[0], 2 * picture.shape[1], *picture.shape[2:]))
    padded = np.pad(picture, [(1, 1), (1, 1)] + [(0, 0)] * (picture.ndim - 2), "edge")
    rows, columns = (slice(1, 1 + n) for n in picture.shape[:2])
    for down, right in np.ndindex(2, 2):
        beside = [
            np.roll(padded, (i * (1 - 2 * down), j * (1 - 2 * right)), (0, 1))[rows, columns]
            for i, j in ((0, 0), (0, 1), (1, 0), (1, 1))
        ]
        wide[down::2, right::2] = sum(w * b for w, b in zip((9, 3, 3, 1), beside, strict=True)) / 16
    return wide


def expected_through(way: str, camera: Any, thickness: float, *stop: Any, size: Any = SIZE) -> Floats:
    """What even smoke lets through, [height, width]; thickness: 1/m."""
    if way != "half":
        return np.exp(-thickness * way_through_box(camera, *stop, size=size))
    through = np.exp(-thickness * way_through_box(camera, *stop, size=size, step=2))
    return halved(through)[: size[1], : size[0]]


def depth_texture(ctx: moderngl.Context, values: Floats) -> moderngl.Texture:
    """A depth texture of `values` 0 .. 1, [height, width]."""
    height, width = values.shape
    return ctx.depth_texture((width, height), np.ascontiguousarray(values, "f4").tobytes(), alignment=4)


def texel_of(camera: Any, metres: Any, size: tuple[int, int] = SIZE) -> Floats:
    """The values of a depth texture for depths in front of the eye, m."""
    p = view_of(camera, size[0] / size[1]).projection.astype(float)
    metres = np.asarray(metres, float)
    return 0.5 + 0.5 * (p[2, 3] - p[2, 2] * metres) / (p[3, 3] - p[3, 2] * metres)


# -- all ways show the same ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("way", "camera", "slices"), in_pairs(WAYS, CAMERAS, [1, 7, 40, 128]))
def test_beer_lambert_holds_in_every_way(device: Device, way: str, camera: str, slices: int) -> None:
    """Even smoke lets exp(-extinction density length) through, whatever the steps and the resolution."""
    puff = Puff(device, GRID, density=0.5)
    options = {**WAYS[way], "slices": slices}
    through = 1.0 - drawn(puff, CAMERAS[camera], options, smoke=gf.Smoke(extinction=4.0))[..., 3]
    expected = expected_through(way, CAMERAS[camera], 2.0)
    assert expected.min() < 0.45
    np.testing.assert_allclose(through, expected, rtol=0.01, atol=0.002)


@pytest.mark.parametrize("quality", [0.2, 0.24, 0.26, 0.5])
@ways
def test_quality_changes_no_opacity(device: Device, way: str, quality: float) -> None:
    puff = Puff(device, GRID, density=0.5)
    smoke = gf.Smoke(extinction=4.0)
    less = drawn(puff, OUTSIDE, WAYS[way], quality=quality, smoke=smoke)
    halves = way == "half" or (way == "march" and quality < 0.25)
    expected = expected_through("half" if halves else way, OUTSIDE, 2.0)
    np.testing.assert_allclose(1.0 - less[..., 3], expected, rtol=0.01, atol=0.002)
    assert np.abs(less - drawn(puff, OUTSIDE, WAYS[way], smoke=smoke)).max() > 0.0  # but it did something


@pytest.mark.parametrize("way", ["axis", "march", "half"])
@cameras
def test_plumes_look_the_same_in_every_way(plume: gf.Fluid, way: str, camera: str) -> None:
    """Mean difference of what a screen shows against slices across the view, in 1/255."""
    near = {
        "inside": gf.Camera(target=(0.5, 0.3, 0.5), distance=0.25, fov=70.0),
        "wide": gf.Camera(target=(0.6, 0.35, 0.5), distance=0.5, azimuth=47.0, elevation=20.0, fov=110.0),
    }
    place = near.get(camera, CAMERAS[camera])
    pictures = []
    for options in ({}, WAYS[way]):
        volume = VolumeRenderer(plume.ctx, **options)
        made = FrameRenderer(plume.ctx, size=(96, 64), volume=volume)
        scene = pictured(plume, camera=place, floor=0.0)
        made.draw(scene)
        pictures.append(made.read().astype(float))
        made.release()
        volume.release()
    clear = pictured(plume, camera=place, floor=0.0, smoke=gf.Smoke(extinction=0.0))
    empty = FrameRenderer(plume.ctx, size=(96, 64))
    empty.draw(clear)
    assert np.abs(empty.read() - pictures[0]).mean() > 2.5  # there is smoke to see
    empty.release()
    limit = {"axis": 1.8, "march": 0.2, "half": 1.8}[way]
    assert np.abs(pictures[1] - pictures[0]).mean() < limit


@ways
@pytest.mark.parametrize("soft", [True, False])
def test_an_eye_in_the_middle_of_a_cell_sees_smoke(device: Device, way: str, soft: bool) -> None:
    """From there the way to it has no length; smoke is as bright as from a little aside."""
    grid, projection = gf.Grid((9, 9, 9), cell_size=1 / 9), np.diag([1.2, 1.2, -1.02, 0.0])
    projection[2:, 2:] = (-1.02, -0.0202), (-1.0, 0.0)
    puff, seen = Puff(device, grid, density=0.2), []
    for aside in (0.0, 1e-3):
        view = np.eye(4)
        view[:3, 3] = -0.5, -0.5, -0.5 - aside
        options = {"reuse": False, **WAYS[way]}
        seen.append(drawn(puff, (view, projection), options, smoke=gf.Smoke(extinction=30.0, soft=soft)))
    assert np.isfinite(seen).all() and 0.1 < seen[1].max() < 2.0
    np.testing.assert_allclose(*seen, atol=0.03)


@ways
def test_no_smoke_leaves_every_bit(device: Device, rng: np.random.Generator, way: str) -> None:
    background = rng.random((SIZE[1], SIZE[0], 4)).astype("f4")
    depth = depth_texture(device.ctx, np.ones(SIZE[::-1]))
    for skip in (True, False):  # empty space left out, and looked at
        made = VolumeRenderer(device.ctx, **WAYS[way], skip_empty=skip)
        for density, smoke in ((0.0, gf.Smoke()), (1.0, gf.Smoke(extinction=0.0)), (-1.0, gf.Smoke())):
            for scene in (None, depth):
                canvas = Canvas(device.ctx)
                canvas.texture.write(background.tobytes())
                made.render(Puff(device, GRID, density), OUTSIDE, canvas.target, smoke=smoke, depth=scene)
                assert canvas.texture.read() == background.tobytes()
        made.release()


@ways
def test_depth_may_hang_in_the_target_and_pictures_stand_anywhere(device: Device, way: str) -> None:
    ctx, puff = device.ctx, Puff(device, GRID, density=0.05)
    x = np.arange(SIZE[0])[None].repeat(SIZE[1], 0)
    depth = depth_texture(ctx, texel_of(OUTSIDE, np.where(x < 20, 2.4, 9.0)))
    options = {**WAYS[way], "jitter": False}  # noise keeps to the pixels of the target
    alone = drawn(puff, OUTSIDE, options, depth=depth)
    assert 0.1 < alone[16, 19, 3] < 0.95 * alone[16, 24, 3]  # cut on the left
    made, canvas, large = VolumeRenderer(ctx, **options), Canvas(ctx), Canvas(ctx, (70, 50))
    made.render(puff, OUTSIDE, ctx.framebuffer([canvas.texture], depth), depth=depth)
    np.testing.assert_array_equal(canvas.read(), alone)
    large.target.viewport = (5, 11, *SIZE)
    made.render(puff, OUTSIDE, large.target, depth=depth)
    expected = np.zeros((50, 70, 4))
    expected[11 : 11 + SIZE[1], 5 : 5 + SIZE[0]] = alone
    np.testing.assert_allclose(large.read(), expected, atol=within(1e-5, 1e-3))
    made.release()


@ways
def test_one_depth_of_the_whole_target_serves_every_viewport(device: Device, way: str) -> None:
    """As in a game of two players in one framebuffer, whose depth hangs in it or not."""
    ctx, puff = device.ctx, Puff(device, GRID, density=0.05)
    x, y = np.meshgrid(np.arange(SIZE[0]), np.arange(SIZE[1]))
    values = texel_of(OUTSIDE, np.where(x + y < 30, 2.4, 9.0))
    options = {**WAYS[way], "jitter": False}  # noise keeps to the pixels of the target
    expected, all_depths = np.zeros((50, 71, 4)), np.zeros((50, 71))  # elsewhere all is hidden
    expected[11:43, 5:53] = cut = drawn(puff, OUTSIDE, options, depth=depth_texture(ctx, values))
    all_depths[11:43, 5:53] = values
    depth, large, made = depth_texture(ctx, all_depths), Canvas(ctx, (71, 50)), VolumeRenderer(ctx, **options)
    for target in (large.target, ctx.framebuffer([large.texture], depth)):
        large.target.clear()
        target.viewport = (5, 11, *SIZE)
        made.render(puff, OUTSIDE, target, depth=depth)
        np.testing.assert_allclose(large.read(), expected, atol=within(1e-5, 1e-3))
    assert 0.02 < (drawn(puff, OUTSIDE, options) - cut)[..., 3].max() < cut[..., 3].max(), (
        "some of it is hidden"
    )
    made.release()


@ways
def test_flat_and_odd_grids_with_solids(ctx: moderngl.Context, device: Device, way: str) -> None:
    """A sheet one cell thick; a box of prime sizes; and a solid, which looks like the smoke beside it."""
    smoke = gf.Smoke(extinction=16.0)
    sheet = Puff(device, gf.Grid((16, 16, 1), cell_size=1 / 16), density=1.0)
    camera = gf.Camera(target=(0.5, 0.5, 0.03), elevation=0.0)
    assert 1.0 - drawn(sheet, camera, WAYS[way], smoke=smoke)[16, 24, 3] == pytest.approx(
        np.exp(-1), rel=0.01
    )
    solids = np.zeros((11, 7, 13))
    solids[3:8, 2:5, 4:9] = 1.0
    odd = Puff(device, gf.Grid((13, 7, 11), cell_size=1 / 16), 1.0, solids)
    camera = gf.Camera(target=(6.5 / 16, 3.5 / 16, 5.5 / 16), distance=3.0, elevation=0.0, fov=20.0)
    let_through = 1.0 - drawn(odd, camera, WAYS[way], smoke=gf.Smoke(extinction=2.0))[16, 18, 3]
    assert let_through == pytest.approx(np.exp(-2.0 * 11 / 16), rel=0.02)
    sides = gf.Boundaries(left=gf.Periodic(), right=gf.Periodic())
    with gf.Fluid(gf.Grid((5, 7, 3), 0.1), sides, backend="fragment", ctx=ctx) as fluid:
        fluid.density.write(np.ones((3, 7, 5)))
        camera = gf.Camera(target=(0.25, 0.35, 0.15), elevation=0.0)
        assert 1.0 - drawn(fluid, camera, WAYS[way], smoke=smoke)[16, 24, 3] == pytest.approx(
            np.exp(-16 * 0.3), abs=0.003
        )


@ways
def test_a_frame_makes_nothing_new(plume: gf.Fluid, way: str) -> None:
    ctx = plume.ctx
    assert ctx is not None
    canvas, made = Canvas(ctx), VolumeRenderer(ctx, **WAYS[way])
    made.render(plume, OUTSIDE, canvas.target)
    with nothing_new():
        for camera in CAMERAS.values():
            made.render(plume, camera, canvas.target)
    made.release()


def test_grid_and_size_may_change(device: Device) -> None:
    """One renderer, fluids and pictures of several sizes in turns: each as from a new renderer."""
    puffs = []
    for n in (9, 16):
        density = np.zeros((n, n, n))
        density[-3:, -3:, -3:] = 300.0  # far from the blocks of a smaller grid
        puffs.append(Puff(device, gf.Grid((n, n, n), cell_size=1 / n), density))
    made = VolumeRenderer(device.ctx, **HALF)
    for puff in [*puffs, *puffs]:
        for size in ((48, 32), (31, 33)):
            canvas = Canvas(device.ctx, size)
            made.render(puff, OUTSIDE, canvas.target)
            np.testing.assert_array_equal(canvas.read(), drawn(puff, OUTSIDE, HALF, size))
            assert canvas.read()[..., 3].max() > 0.1
    made.release()


# -- slices across an axis ----------------------------------------------------------------------------------


def test_axis_slices_come_farthest_first() -> None:
    """One slab a layer, and whatever hides another comes after it, on either side of an eye between them."""
    ends = axis_slabs(GRID, view_of(OUTSIDE, 1.5).rays)[:, 4:]
    np.testing.assert_allclose(ends, np.stack([np.arange(N), np.arange(N) + 1.0], 1))  # the eye is at +z
    behind = gf.Camera(target=(0.5, 0.5, 0.5), distance=2.5, azimuth=180.0)
    np.testing.assert_allclose(axis_slabs(GRID, view_of(behind, 1.5).rays)[:, 4], np.arange(N)[::-1])
    eye = np.array(INSIDE.eye)[2] * N
    middles = axis_slabs(GRID, view_of(INSIDE, 1.5).rays)[:, 4:].mean(axis=1)
    assert (np.diff(np.abs(middles - eye)) <= 1e-4).all() and len(middles) < N  # some lie behind the viewer
    for camera, first in ((PARALLEL, 0.0), ((np.diag([-1.0, 1, -1, 1]) @ EYE, PARALLEL[1]), N - 1.0)):
        cut = axis_slabs(GRID, view_of(camera, 1.5).rays)
        assert not len(cut) or cut[0, 4] == first


def test_thin_axis_slices_come_in_turn() -> None:
    """Of slabs on one side of the eye the farther comes first, where the first of all is a thin one too."""
    for deep in (0.02, 0.1, 0.3, 0.6, 0.95):
        camera = gf.Camera(target=(0.5, 0.5, deep - 0.2), distance=0.2, azimuth=0.0, elevation=0.0, fov=150.0)
        eye = N * np.array(camera.eye)[2]
        for moved in (0, 1, 5, 10, 15):
            ends = axis_slabs(GRID, view_of(camera, 1.5).rays, 3, 1.0, (0, 0, moved))[:, 4:]
            below = ends[ends[:, 1] <= eye + 1e-4]
            assert (np.diff(below[:, 0]) > 0.0).all()
            at = np.flatnonzero((ends[:, 0] < eye) & (eye < ends[:, 1]))
            assert len(at) == 1 and at[0] == len(ends) - 1  # it hides all others


def test_rectangles_hold_what_they_bound(rng: np.random.Generator) -> None:
    """Points of the box in front of the eye lie in the rectangle of the box, and of their slab."""
    for camera in CAMERAS.values():
        view = view_of(camera, 1.5)
        axis = int(np.abs(view.rays.direction[0]).argmax())
        points = rng.random((400, 3))
        clip = np.append(points, np.ones((400, 1)), 1) @ view.clip.T.astype(float)
        shown = clip[:, :2] / clip[:, 3:]
        seen = (np.abs(shown) < 1.0).all(1) & (view.rays.depth(points) > view.rays.near)
        assert seen.sum() > 30
        whole = box_of(GRID, view.rays)[0]
        cut = axis_slabs(GRID, view.rays)
        for place, point in zip(shown[seen], points[seen], strict=True):
            assert (whole[:2] <= place).all() and (place <= whole[2:4]).all()
            (slab,) = cut[(cut[:, 4] <= N * point[axis]) & (N * point[axis] < cut[:, 5])]
            assert (slab[:2] <= place).all() and (place <= slab[2:4]).all()


@pytest.mark.parametrize("steps", [N, 3])
def test_axis_slices_stay_in_the_world(steps: int) -> None:
    """In a box that has moved on the cuts, and the noise of each slab, are where they were."""
    for camera in (OUTSIDE, gf.Camera(target=(0.5, 0.5, 0.5), distance=2.5, azimuth=180.0)):
        rays = view_of(camera, 1.5).rays
        seen: dict[float, float] = {}
        for moved in (0, 1, -5, 2**30):
            how = (GRID, rays, steps, 1.0, (7, 9, moved))
            ends = axis_slabs(*how)[:, 4:]
            start, thickness, count = axis_cuts(*how)
            first, more = axis_shifts(*how)
            assert len(ends) == count == steps + (moved * steps % N > 0)
            assert ends.min() == 0.0 and ends.max() == N
            np.testing.assert_allclose(np.sort(ends[:, 0])[1:], np.sort(ends[:, 1])[:-1], rtol=1e-6)
            for low in np.sort(ends[:, 0])[1:].tolist():
                number = round((low - start) / thickness)
                assert start + number * thickness == pytest.approx(low, abs=1e-5)
                turn = (first + more * number) % 1.0
                place = round((low + moved) * steps / N)  # of the cut in the world
                assert seen.setdefault(place, turn) == pytest.approx(turn, abs=1e-5)
        assert len(seen) > steps


@pytest.mark.parametrize(
    ("camera", "count", "way", "moved"),
    [
        # all pairs of any two of the four: what is drawn knows nothing of how it was cut but these numbers
        (camera, count, ("view", "axis")[(n + m) % 2], ((0, 0, 0), (3, 5, -2))[(n // 2 + m) % 2])
        for n, camera in enumerate(CAMERAS)
        for m, count in enumerate([None, 13, 3])
    ],
)
def test_stacks_of_slabs_are_their_slabs(
    device: Device,
    rng: np.random.Generator,
    monkeypatch: pytest.MonkeyPatch,
    way: str,
    camera: str,
    moved: tuple[int, int, int],
    count: int | None,
) -> None:
    """Several slabs to a rectangle are what blending each by itself makes."""
    density = np.where(rng.random((N, N, N)) < 0.4, rng.random((N, N, N)), 0.0)
    puff = Puff(device, GRID, density * (rng.random((N, 1, 1)) < 0.8), scrolled=moved)
    depth = depth_texture(device.ctx, texel_of(CAMERAS[camera], rng.uniform(0.1, 4.0, SIZE[::-1])))
    for given in ({}, {"depth": depth}):
        for skip in (True, False):
            pictures = []
            for most in (1, 8, 5):
                monkeypatch.setattr(slabs, "STACK", most)
                options = {**WAYS[way], "slices": count, "skip_empty": skip}
                pictures.append(drawn(puff, CAMERAS[camera], options, **given))
            assert pictures[0][..., 3].max() > 0.3
            for picture in pictures[1:]:
                np.testing.assert_allclose(picture, pictures[0], atol=1e-4)


@pytest.mark.parametrize("distance", [3.0, 0.2])  # out of the box, and in it
def test_slabs_turn_with_the_view(distance: float) -> None:
    """However the box is seen, a cut lies in its middle, each slab is a cell thick, and keeps its noise."""
    grid, shifts = gf.Grid((40, 50, 60), 1 / 40, (-0.5, -0.625, -0.75)), []
    for azimuth in np.arange(-20.0, 60.0, 0.7):
        rays = view_of(gf.Camera(distance=distance, azimuth=azimuth, elevation=0.3 * azimuth), 1.5).rays
        (row,), slabs = box_of(grid, rays), view_slabs(grid, rays)
        first, thickness, number = view_cuts(grid, rays, None, 1.0, (0, 0, 0))
        assert thickness == pytest.approx(1 / 40) and number >= 32
        assert first <= row[4] + 1e-6 < first + thickness
        assert first + (number - 1) * thickness < row[5] <= first + number * thickness + 1e-6
        inner = (slabs[1:, 5] - first) / thickness  # but where the first that is seen ends
        np.testing.assert_allclose(inner, np.round(inner), atol=1e-3)
        shift, more = view_shifts(grid, rays, None, 1.0, (0, 0, 0))
        before = (distance - first) / thickness
        assert before == pytest.approx(round(before), abs=1e-4)
        shifts.append(shift + more * round(before))
    turned = np.exp(2j * np.pi * np.array(shifts))
    np.testing.assert_allclose(turned, turned[0], atol=1e-6)


@pytest.mark.parametrize("stack", [2, 5, 8, 40])
@pytest.mark.parametrize("cut", [view_slabs, axis_slabs])
def test_stacks_hold_their_slabs(cut: Any, stack: int) -> None:
    """A row of several slabs begins and ends with them, and its rectangle holds theirs."""
    for camera in (OUTSIDE, INSIDE, WIDE):
        for moved in ((0, 0, 0), (3, 5, -2)):
            how = (GRID, view_of(camera, 1.5).rays, 17, 1.0, moved)
            one, many = (rows[np.argsort(rows[:, 4])] for rows in (cut(*how), cut(*how, stack=stack)))
            held = np.searchsorted(many[:, 4], one[:, 4], "right") - 1
            assert (held >= 0).all()
            for n, row in enumerate(many):
                inside = one[held == n]  # but those that are out of the picture
                assert len(inside) == stack or len(many) == 1 or n in (0, len(many) - 1)
                if len(inside) == stack:
                    np.testing.assert_allclose(row[4:], (inside[0, 4], inside[-1, 5]), rtol=1e-6)
                assert (inside[:, 5] <= row[5]).all()
                assert (row[:2] <= inside[:, :2] + 1e-6).all() and (inside[:, 2:4] <= row[2:4] + 1e-6).all()


def rows_found(rows: np.ndarray, cuts: tuple[float, float, int], stack: int, rounding: float) -> np.ndarray:
    """Which row a shader takes each for: stack_number of slab_corner.glsl, in single floats.

    rounding: relative, of its division: OpenGL asks for 2.5 units in the last place (GLSL 4.60, 4.7.1).
    """
    first, thickness = np.float32(cuts[:2])
    middle = np.float32(0.5) * (rows[:, 4] + rows[:, 5]) - first
    return np.floor(middle / (thickness * np.float32(stack)) * np.float32(1.0 + rounding)).astype(int)


@pytest.mark.parametrize("stack", [1, 8])
def test_a_thin_slab_is_taken_for_no_other(stack: int) -> None:
    """However little of the first and the last slab lies in the box, each row is found to be itself."""
    grid, slabs, lag = gf.Grid((64, 64, 64), 1 / 64), 56, 20
    for share in (2e-6, 1e-5, 1e-4, 1e-3, 0.02, -2e-6, -1e-5, -1e-4, -1e-3, -0.02):
        # so turned that the cuts, on which the box has moved by `lag` cells, go on by 17 slabs and that share
        azimuth = np.degrees(np.arctan(lag * slabs / 64 / (17.0 + share) - 1.0))
        for distance in (3.0, 3.1, 5.7, 11.3):
            rays = view_of(gf.Camera((0.5, 0.5, 0.5), distance, float(azimuth), 0.0), 1.5).rays
            how = (grid, rays, slabs, 1.0, (0, 0, -lag))
            cuts, rows = view_cuts(*how), view_slabs(*how, stack=stack)
            assert cuts[2] == len(rows) == slabs + 1 if stack == 1 else len(rows) == 8
            for rounding in (0.0, 3e-7, -3e-7):
                found = rows_found(rows, cuts, stack, rounding)
                np.testing.assert_array_equal(found, np.arange(len(rows))[::-1])


# -- ray marching -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loaded", [False, True], ids=["textures", "images"])
def test_blocks_hold_the_most_of_their_cells(
    device: Device, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, loaded: bool
) -> None:
    if not loaded:
        monkeypatch.setattr(march, "images_of", lambda *_: {})
    grid = gf.Grid((13, 9, 6), cell_size=0.1)
    density = np.where(rng.random((6, 9, 13)) < 0.02, rng.random((6, 9, 13)), 0.0)
    made = VolumeRenderer(device.ctx, method="ray-march")
    made.render(Puff(device, grid, density), OUTSIDE, Canvas(device.ctx).target)
    assert isinstance(made._way, march.RayMarch)
    looks = made._work.shaded.read()
    (occupied,) = made._way._occupied.values()
    found = occupied.read()[..., 0]
    expected = np.zeros((2, 3, 4))
    for z, y, x in np.ndindex(expected.shape):
        low = [max(4 * n - 1, 0) for n in (z, y, x)]
        most = looks[low[0] : 4 * z + 5, low[1] : 4 * y + 5, low[2] : 4 * x + 5].max(axis=(0, 1, 2))
        expected[z, y, x] = most[3] * max(1.0, most[:3].max())  # light counts as far as there is smoke
    np.testing.assert_allclose(found, expected, rtol=1e-3)  # half floats
    assert 0 < (found == 0.0).sum() < found.size
    made.release()


@pytest.mark.parametrize("slices", [6, 40])  # steps longer than a block's edge, and shorter than a cell's
@cameras
def test_leaping_over_empty_air_changes_nothing(
    device: Device,
    plume: gf.Fluid,
    monkeypatch: pytest.MonkeyPatch,
    rng: np.random.Generator,
    camera: str,
    slices: int,
) -> None:
    options = {"method": "ray-march", "slices": slices}
    density = np.where(rng.random((N, N, N)) < 0.01, 5.0 * rng.random((N, N, N)), 0.0)
    sparks = Puff(device, GRID, density)
    pictures = []
    for faint in (march.FAINT, -1.0):  # -1: no block is empty
        monkeypatch.setattr(march, "FAINT", faint)
        pictures.append([drawn(f, CAMERAS[camera], options) for f in (sparks, plume)])
    (sparks_leapt, plume_leapt), (sparks_whole, plume_whole) = pictures
    np.testing.assert_array_equal(sparks_leapt, sparks_whole)
    assert sparks_whole[..., 3].max() > 0.05
    assert np.abs(plume_leapt - plume_whole).max() < 2e-4


def test_rays_end_in_dense_smoke(device: Device) -> None:
    """What is behind nearly opaque smoke adds nothing: light of a wall of fire behind it does not count."""
    density = np.zeros((N, N, N))
    density[8:] = 1.0  # the half nearer to the viewer
    temperature = np.zeros((N, N, N))
    temperature[:6] = 2.0
    camera = gf.Camera(target=(0.5, 0.5, 0.5), distance=3.0, azimuth=0.0, elevation=0.0, fov=30.0)
    given = {"smoke": gf.Smoke(extinction=40.0), "fire": gf.Fire(glow=0.0)}
    hidden = Puff(device, GRID, density, temperature=temperature)
    middle = np.s_[12:20, 18:30]
    marched = drawn(hidden, camera, WAYS["march"], **given)[middle]
    cold = drawn(Puff(device, GRID, density), camera, WAYS["march"], **given)[middle]
    np.testing.assert_array_equal(marched, cold)
    assert (cold[..., 3] > 0.999).all()
    sliced = drawn(hidden, camera, **given)[middle]
    assert 0.0 < np.abs(sliced - marched).max() < 0.01 * sliced.max()  # slices still draw it


@pytest.mark.parametrize("size", [(144, 96), (143, 95)])
def test_half_resolution_keeps_to_the_edges_of_the_scene(device: Device, size: tuple[int, int]) -> None:
    """An opaque thing before the smoke: none of it on the thing, and none missing beside it."""
    puff = Puff(device, GRID, density=1.0)
    width, height = size
    x, y = np.meshgrid(np.arange(width), np.arange(height))
    for near in (x < 71, x + 2 * y < 165, (x > 70) & (x < 76), x % 9 == 4, x % 9 != 4):
        near[[0, -1]] = True  # a line one pixel wide may lack the neighbour that saw it there
        metres = np.where(near, 1.0, 9.0)
        depth = depth_texture(device.ctx, texel_of(OUTSIDE, metres, size))
        given = {"smoke": gf.Smoke(extinction=3.0), "depth": depth}
        whole = drawn(puff, OUTSIDE, WAYS["march"], size, **given)
        half = drawn(puff, OUTSIDE, HALF, size, **given)
        assert half[near].max() < 1e-6 and not whole[near].any()
        beside = ~near & away_from_edges(way_through_box(OUTSIDE, size=size)) & (whole[..., 3] > 0.0)
        assert beside.sum() > 50
        error = np.abs(half - whole)[beside]
        assert error.max() < 0.2 and error.mean() < 0.02


def test_half_resolution_is_smooth_on_a_slope(device: Device) -> None:
    """A floor through smoke whose depth grows by more than a cell from ray to ray leaves no pattern."""
    puff, low = Puff(device, GRID, density=1.0), gf.Camera((0.5, 0.5, 0.5), 2.5, 33.0, 12.0)
    rays = view_of(low, 1.5).rays
    x, y = np.meshgrid(*((np.arange(n) + 0.5) / n * 2 - 1 for n in LARGE))
    down = rays.direction[0, 1] + x * rays.direction[1, 1] + y * rays.direction[2, 1]
    metres = np.where(down < 0.0, (0.2 - rays.origin[0, 1]) / np.minimum(down, -1e-3), 50.0)
    given = {
        "smoke": gf.Smoke(extinction=3.0),
        "depth": depth_texture(device.ctx, texel_of(low, metres, LARGE)),
    }
    half, whole = (drawn(puff, low, WAYS[way], LARGE, **given)[..., 3] for way in ("half", "march"))
    inner = away_from_edges(way_through_box(low, metres, size=LARGE)) & (metres > 2.2) & (metres < 2.8)
    step = np.abs(np.diff(metres, axis=0, prepend=metres[:1]))[inner] * N
    assert inner.sum() > 300 and 0.3 < step.max() < 2.0
    wave = [p[:, 2:-2] - 0.5 * (p[:, :-4] + p[:, 4:]) for p in (half, whole)]  # what turns from ray to ray
    assert np.abs(wave[0] - wave[1])[inner[:, 2:-2]].mean() < 0.003


@pytest.mark.parametrize("size", [(47, 32), (48, 31), (33, 17)])
def test_half_resolution_of_odd_sizes(device: Device, size: tuple[int, int]) -> None:
    """The last ray of a row stands for one pixel and for nothing beside the picture."""
    puff = Puff(device, GRID, density=1.0)
    through = 1.0 - drawn(puff, OUTSIDE, HALF, size, smoke=gf.Smoke(extinction=2.0))[..., 3]
    expected = expected_through("half", OUTSIDE, 2.0, size=size)
    np.testing.assert_allclose(through, expected, rtol=0.01, atol=0.002)


def test_half_resolution_is_bilinear_where_depths_agree(device: Device) -> None:
    puff = Puff(device, GRID, density=1.0)
    far = depth_texture(device.ctx, texel_of(OUTSIDE, np.full(SIZE[::-1], 50.0)))
    without = drawn(puff, OUTSIDE, HALF)
    np.testing.assert_array_equal(drawn(puff, OUTSIDE, HALF, depth=far), without)
    coarse = drawn(puff, OUTSIDE, WAYS["march"], (24, 16))  # the same rays
    np.testing.assert_allclose(without, halved(coarse), atol=2e-3)
    assert without[..., 3].max() > 0.9


# -- depth conventions --------------------------------------------------------------------------------------

WIDTH, HEIGHT = 1.1, 1.65  # of the projections: 1 / tan of half the angles of view, or 1 / half the sizes


def perspective(near: float, far: float | None) -> Floats:
    """Reversed z: the near plane at 1 and the far one, or infinity, at 0."""
    a, b = (0.0, near) if far is None else (near / (far - near), near * far / (far - near))
    return np.array([[WIDTH, 0, 0, 0], [0, HEIGHT, 0, 0], [0, 0, a, b], [0, 0, -1.0, 0]])


def parallel(near: float, far: float) -> Floats:
    """Reversed z without perspective."""
    s = 1.0 / (far - near)
    return np.array([[WIDTH, 0, 0, 0], [0, HEIGHT, 0, 0], [0, 0, s, far * s], [0, 0, 0, 1.0]])


PROJECTIONS = {
    "infinite": perspective(0.05, None),
    "finite": perspective(0.05, 12.0),
    "parallel": parallel(-1.0, 12.0),
    "near plane in the box": perspective(2.2, 12.0),
    "parallel, near plane in the box": parallel(2.2, 12.0),
}


@pytest.mark.parametrize("projection", PROJECTIONS)
@ways
def test_reversed_depth_cuts_the_smoke(device: Device, way: str, projection: str) -> None:
    """A plane across the middle of the box, and the sky, in a depth texture of 0 .. 1 clip depths."""
    p = PROJECTIONS[projection]
    camera = (EYE, p)
    middle = view_of(camera, 1.5, (0, 1)).rays.depth(np.array([0.5, 0.5, 0.5])) + 0.1
    z = (p[2, 3] - p[2, 2] * middle) / (p[3, 3] - p[3, 2] * middle)
    puff, smoke = Puff(device, GRID, density=1.0), gf.Smoke(extinction=2.0)
    for value, stop in ((z, middle), (0.0, np.inf)):  # 0: cleared, nothing there
        depth = depth_texture(device.ctx, np.full(SIZE[::-1], value))
        picture = drawn(puff, camera, WAYS[way], smoke=smoke, depth=depth, clip_z=(0, 1))
        expected = expected_through(way, camera, 2.0, stop, (1.0, 0.01))
        assert (expected < 0.7).sum() > 50
        np.testing.assert_allclose(1.0 - picture[..., 3], expected, rtol=0.01, atol=0.002)


def test_near_planes_are_found_in_clip_depths_of_0_to_1() -> None:
    for near in (0.05, 2.2):
        s = 1.0 / (12.0 - near)
        forward = np.array([[WIDTH, 0, 0, 0], [0, HEIGHT, 0, 0], [0, 0, -s, -near * s], [0, 0, 0, 1.0]])
        away = np.array([[WIDTH, 0, 0, 0], [0, HEIGHT, 0, 0], [0, 0, -12 * s, -12 * near * s], [0, 0, -1, 0]])
        for p in (perspective(near, None), perspective(near, 12.0), parallel(near, 12.0), forward, away):
            assert view_of((EYE, p), 1.5, (0, 1)).rays.near == pytest.approx(near, rel=1e-4)


def test_a_camera_of_ours_has_the_depths_asked_for() -> None:
    """What it takes to the clip depths 0 and 1 are its near and far planes."""
    view = view_of(OUTSIDE, 1.5, (0, 1))
    for metres, z in ((OUTSIDE.near, 0.0), (OUTSIDE.far, 1.0)):
        clip = view.projection.astype(float) @ (0.0, 0.0, -metres, 1.0)
        assert clip[2] / clip[3] == pytest.approx(z, abs=1e-6)
    assert view.rays.near == pytest.approx(OUTSIDE.near, rel=1e-5)
    a, b, c, d = view.texture_scale
    z = float((view.projection.astype(float) @ (0, 0, -2.0, 1.0))[2] / 2.0)
    assert (a * z + b) / (c * z + d) == pytest.approx(2.0, rel=1e-3)


# -- quality ------------------------------------------------------------------------------------------------


def steered(budget: float, cost: Any, frames: int) -> Any:
    """Run a controller on frames of `cost(frame, quality)` ms that are told three frames later."""
    made = Quality(budget)
    told, values = [], []
    for frame in range(frames):
        told.append((cost(frame, made.value), made.value))
        if frame >= 3:
            made.saw(*told[frame - 3])
        values.append(made.value)
    return made, np.array(values)


@pytest.mark.parametrize("fixed", [0.0, 4.0, 9.0])
@pytest.mark.parametrize("each", [2.0, 12.0, 40.0])
def test_quality_settles_within_the_budget(fixed: float, each: float) -> None:
    """Frames of fixed + each * quality ms, to hold 10: what fits is used, and then nothing changes."""
    made, values = steered(10.0, lambda n, q: fixed + each * q, 300)
    taken = fixed + each * made.value
    assert (values[150:] == made.value).all()
    assert taken <= 10.0 or made.value == LOWEST
    assert taken >= 0.69 * 10.0 or made.value == 1.0
    assert (values >= LOWEST).all() and (values <= 1.0).all()


def test_quality_does_not_swing(rng: np.random.Generator) -> None:
    """Times that scatter by a fifth and single slow frames change it now and then, not all the time."""
    noise = rng.uniform(0.85, 1.15, 2000) * np.where(rng.random(2000) < 0.05, 4.0, 1.0)
    _, values = steered(10.0, lambda n, q: (2.0 + 12.0 * q) * noise[n], 2000)
    assert (np.diff(values[100:]) != 0.0).sum() < 20
    assert 0.3 < values[100:].mean() < 0.75 and np.abs(np.diff(values[100:])).max() < 0.4


def test_quality_learns_that_a_rise_does_not_fit() -> None:
    """Half the resolution below 0.25 may cost far less: the gap is not jumped to and fro for ever."""
    _, values = steered(10.0, lambda n, q: 5.0 if q < 0.25 else 12.0 + 4.0 * q, 4000)
    changes = np.flatnonzero(np.diff(values))
    assert len(changes[changes < 400]) > 4  # it tries
    assert len(changes[changes > 2000]) < 0.005 * 2000 * 4  # ever less often


def test_quality_recovers() -> None:
    """A load that comes and goes; and frames told for a quality of the past count for nothing."""
    made, values = steered(10.0, lambda n, q: (30.0 if 100 <= n < 200 else 5.0) * q + 1.0, 400)
    assert values[99] == 1.0 and values[199] < 0.35 and values[399] == 1.0
    made.saw(1e9, 0.123)
    for _ in range(9):
        made.saw(1e9, 0.5)
    assert made.value == 1.0


@pytest.mark.parametrize("way", ["view", "march"])
def test_quality_is_steered_by_what_frames_take(plume: gf.Fluid, way: str) -> None:
    made = VolumeRenderer(plume.ctx, **WAYS[way], frame_ms=1e-3)  # type: ignore[arg-type]
    canvas = Canvas(plume.ctx)  # type: ignore[arg-type]
    assert made.quality == 1.0 and made.frame_ms == 1e-3
    for _ in range(16):
        made.render(plume, OUTSIDE, canvas.target)
    assert made.quality == LOWEST
    made.frame_ms = 1e6
    for _ in range(90):
        made.render(plume, OUTSIDE, canvas.target)
    assert made.quality == 1.0
    made.frame_ms = None
    assert made.quality == 1.0 and made.frame_ms is None
    made.frame_ms = 1e-3
    away = gf.Camera(target=(0.5, 0.5, 9.0), distance=2.0, azimuth=180.0)  # the box is behind it
    for _ in range(16):
        made.render(plume, away, canvas.target)
    assert made.quality == 1.0  # fewer slabs would not help
    made.release()


def test_frames_are_timed_without_waiting(ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """A query is read three frames after its own, in order, and a frame without any tells nothing."""
    clock, canvas = FrameClock(ctx), Canvas(ctx)
    found: list[tuple[float, float] | None] = []
    for frame in range(9):
        if frame != 4:
            for _ in range(3):  # the third is not counted
                with clock.span():
                    canvas.target.clear()
        found.append(clock.next_frame(0.1 * frame))
    assert [f if f is None else round(10 * f[1]) for f in found] == [None] * 3 + [0, 1, 2, 3, None, 5]
    assert all(f is None or f[0] > 0.0 for f in found)


def test_a_time_query_of_the_hosts_goes_on(ctx: moderngl.Context) -> None:
    """A profiler's, around the picture: OpenGL has one at a time, and ended it with the engine's."""
    clock, canvas, profiler = FrameClock(ctx), Canvas(ctx), ctx.query(time=True)
    running = ctypes.c_int()
    with profiler:
        with clock.span():
            canvas.target.clear()
        calls(ctx).glGetQueryiv(0x88BF, 0x8865, ctypes.byref(running))
        assert running.value
    assert profiler.elapsed > 0
    assert [clock.next_frame(1.0) for _ in range(4)] == [None] * 4, "nothing was counted"


def test_queries_serve_again_and_are_deleted(ctx: moderngl.Context) -> None:
    """moderngl deletes none: the studio, which times passes, and each renderer left theirs behind."""
    device, canvas, host = Device(ctx), Canvas(ctx), Host(ctx)
    names = host("glGenQueries", 1, (one := (ctypes.c_uint * 1)())) or one[0]
    for _ in range(3):
        device.timings = {}
        for label in "aab":
            with device.timed(label), device.timed("within"):
                canvas.target.clear()
        taken = device.milliseconds()
        assert [len(taken[label]) for label in taken] == [2, 1] and min(map(min, taken.values())) > 0.0
    clock = FrameClock(ctx)
    for _ in range(12):
        with clock.span():
            canvas.target.clear()
        clock.next_frame(1.0)
    with pytest.raises(ZeroDivisionError), clock.span():
        _ = 1 // 0
    made = range(names + 1, names + 16)
    assert sum(host("glIsQuery", name) for name in made) == 3 + 4
    device.release()
    clock.queries.release()
    assert not any(host("glIsQuery", name) for name in made)
    host.release()


def test_a_driver_without_a_clock_is_named(plume: gf.Fluid, monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenGL lets its counter have no bits; all times are 0 then, and quality would never fall."""
    ctx, ask = plume.ctx, calls(plume.ctx).glGetQueryiv

    def asked(target: int, name: int, out: Any) -> None:
        ask(target, name, out)
        if name == 0x8864:
            out._obj.value = 0

    monkeypatch.setitem(calls(ctx).__dict__, "glGetQueryiv", asked)
    made, canvas = VolumeRenderer(ctx, frame_ms=1e-3), Canvas(ctx)
    with pytest.warns(RuntimeWarning, match="frame_ms has no effect: .* has no clock for it"):
        made.render(plume, OUTSIDE, canvas.target)
    for _ in range(8):
        made.render(plume, OUTSIDE, canvas.target)  # said once
    assert made.quality == 1.0 and canvas.read().any()
    made.release()


# -- noise --------------------------------------------------------------------------------------------------


def test_noise_is_even_and_blue() -> None:
    """Every level as often as the others; next to no energy in waves longer than 8 pixels."""
    tile = noise_tile()
    assert tile.shape == (64, 64) and tile.dtype == np.uint8
    assert (np.bincount(tile.ravel(), minlength=256) == 16).all()

    def long_waves(values: Floats) -> float:
        energy = np.abs(np.fft.fft2(values - values.mean())) ** 2
        length = np.hypot(*np.meshgrid(*2 * [np.fft.fftfreq(64)]))
        return float(energy[length < 0.125].sum() / energy.sum())

    white = np.random.default_rng(2).permutation(tile.ravel()).reshape(tile.shape)
    assert long_waves(white) > 0.03
    assert long_waves(tile) < 0.01 * long_waves(white)
    for level in (16, 64, 128, 200):  # every threshold of it is spread evenly, too
        assert long_waves(tile < level) < 0.1 * long_waves(white < level)


def test_noise_is_what_the_tool_makes() -> None:
    path = Path(__file__).resolve().parent.parent / "tools" / "blue_noise.py"
    spec = importlib.util.spec_from_file_location("blue_noise", path)
    assert spec is not None and spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert sorted(tool.ranks(16).ravel()) == list(range(256))
    np.testing.assert_array_equal(tool.ranks() * 256 // 4096, noise_tile())


def test_dither_keeps_the_mean(ctx: moderngl.Context) -> None:
    """An even picture comes out in the two or three steps of 8 bits nearest to it, in the right shares."""
    made = FrameRenderer(ctx, size=(64, 64))
    means = []
    for radiance in (0.02, 0.0205):
        form = made._targets.color.dtype  # software draws in single floats
        made._targets.color.write(np.full((64, 64, 4), np.float16(radiance), form).tobytes())
        made._tone_map(made._targets.screen)
        levels = made.read()[..., 0]
        assert np.ptp(levels.astype(int)) in (1, 2)
        means.append(levels.mean())
    x = 0.95 * np.float64(np.float16([0.02, 0.0205]))
    filmic = x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14)
    np.testing.assert_allclose(means, 255 * (1.055 * filmic ** (1 / 2.4) - 0.055), atol=0.03)
    made.release()


# -- bad input ----------------------------------------------------------------------------------------------


def test_bad_options_are_named(ctx: moderngl.Context) -> None:
    for options, words in (
        ({"method": "raymarch"}, "method must be one of .*did you mean 'ray-march'"),
        ({"method": "ray-march", "resolution": 0.25}, "resolution must be one of 1.0, 0.5, got 0.25"),
        ({"resolution": 0.5}, "resolution=0.5 needs method=\"ray-march\", got method='view-slices'"),
        ({"frame_ms": 0.0}, "frame_ms must be"),
        ({"frame_ms": float("nan")}, "frame_ms must be"),
        ({"frame_ms": "fast"}, "frame_ms must be"),
    ):
        with pytest.raises(gf.GpufluidError, match=words):
            VolumeRenderer(ctx, **options)  # type: ignore[arg-type]
    for resolution in (1, np.float32(0.5)):
        VolumeRenderer(ctx, method="ray-march", resolution=resolution).release()  # type: ignore[arg-type]


@ways
def test_a_picture_without_pixels_is_skipped(device: Device, way: str) -> None:
    canvas, puff = Canvas(device.ctx), Puff(device, GRID, density=1.0)
    made = VolumeRenderer(device.ctx, **WAYS[way])
    for viewport in ((0, 0, 0, 0), (0, 0, 48, 0), (3, 4, 0, 32)):
        canvas.target.viewport = viewport
        made.render(puff, OUTSIDE, canvas.target, depth=device.ctx.depth_texture((48, 32)))
    assert not canvas.read().any()
    canvas.target.viewport = (0, 0, *SIZE)
    made.render(puff, OUTSIDE, canvas.target)
    assert canvas.read().any()
    canvas.target.clear()
    canvas.target.viewport = (0, 0, 0, 0)
    made.draw(puff, OUTSIDE, canvas.target, None, Look())
    assert not canvas.read().any()
    made.release()


def test_a_minimised_window_is_shown_nothing(plume: gf.Fluid) -> None:
    ctx = plume.ctx
    assert ctx is not None
    made, window = FrameRenderer(ctx, size=(32, 16)), Canvas(ctx)
    made.draw(gf.Scene(plume, OUTSIDE))
    window.target.viewport = (0, 0, 0, 0)
    made.present(window.target)
    assert not window.read().any()
    made.release()


def test_bad_cameras_are_named(device: Device) -> None:
    puff, canvas = Puff(device, GRID, density=1.0), Canvas(device.ctx)
    made = VolumeRenderer(device.ctx)
    nan = float("nan")
    for name in ("distance", "azimuth", "elevation", "fov", "near", "far"):
        camera = gf.Camera()
        setattr(camera, name, nan)
        with pytest.raises(gf.GpufluidError, match=f"Camera.{name}"):
            made.render(puff, camera, canvas.target)
    camera = gf.Camera()
    camera.target = (0.0, nan, 0.0)
    with pytest.raises(gf.GpufluidError, match="Camera.target"):
        made.render(puff, camera, canvas.target)
    for clip_z, words in (
        ((1, 0), r"clip_z must be \(0, 1\) for reversed z"),
        ((0, 2), "clip_z must be one of"),
    ):
        with pytest.raises(gf.GpufluidError, match=words):
            made.render(puff, OUTSIDE, canvas.target, clip_z=clip_z)
    view = view_of(OUTSIDE, 1.5)
    for pair, words in (
        ((view.view.T, view.projection), "bottom row of the view matrix.*: transpose it"),
        ((view.view, view.projection.T), "bottom row of the projection matrix.*: transpose it"),
        (
            (view.view.ravel(), view.projection),
            r"view matrix must be 4x4, got 16 numbers: np.reshape\(m, \(4",
        ),
        ((view.view, view.projection * (1, 1, -1, 1)), "bottom row of the projection.*: a left-handed one"),
        ((view.view @ np.diag([1.0, 1.2, 1.0, 1.0]), view.projection), "scale all axes alike, and does more"),
    ):
        with pytest.raises(gf.GpufluidError, match=words):
            made.render(puff, pair, canvas.target)
    assert not canvas.read().any()
    with pytest.raises(gf.GpufluidError, match="nothing was prepared"):
        made.lighting  # noqa: B018  # nothing ran before the error
    made.release()


@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("scale", [0.01, 0.5, 1.7, 100.0])
def test_a_hosts_world_may_have_other_units(device: Device, scale: float, parallel: bool) -> None:
    """A game in centimetres: its view holds the scale, its projection is in its units; depth too."""
    puff, canvas, own = Puff(device, GRID, density=0.05), Canvas(device.ctx), view_of(OUTSIDE, 1.5)
    projection = own.projection.astype(float)
    if parallel:
        projection = np.array([[0.5, 0, 0, 0], [0, 0.75, 0, 0], [0, 0, -0.1, -1.0], [0, 0, 0, 1.0]])
    larger = np.diag([scale, scale, scale, 1.0])
    theirs = projection @ np.linalg.inv(larger)
    theirs /= 1.0 if parallel else -theirs[3, 2]
    for method in METHODS:
        made = VolumeRenderer(device.ctx, method=method)
        pictures = []
        for pair in ((own.view, projection), (larger @ own.view, theirs)):
            canvas.target.clear()
            made.render(puff, pair, canvas.target)
            pictures.append(canvas.read())
        assert pictures[0].std() > 0.01
        np.testing.assert_allclose(pictures[1], pictures[0], atol=2e-3)
        made.release()


def test_bad_targets_and_depths_are_named(device: Device) -> None:
    ctx, puff = device.ctx, Puff(device, GRID, density=0.05)
    canvas, made = Canvas(ctx), VolumeRenderer(ctx)
    gone = ctx.depth_texture(SIZE)
    gone.release()
    several = ctx.depth_texture(SIZE, samples=4)
    for depth, words in (
        (ctx.depth_texture((24, 16)), "depth texture has 24 x 16 pixels, the viewport of the target 48 x 32"),
        (several, "depth texture has 4 samples a pixel"),
        (ctx.depth_renderbuffer(SIZE), "depth must be a depth texture .*no shader reads a renderbuffer"),
        (gone, "depth texture was released"),
        (ctx.texture(SIZE, 4), "depth must be a depth texture .*got one of 4 components"),
        (7, "depth must be a depth texture"),
    ):
        with pytest.raises(gf.GpufluidError, match=words):
            made.render(puff, OUTSIDE, canvas.target, depth=depth)  # type: ignore[arg-type]
    left = ctx.simple_framebuffer(SIZE)
    left.release()
    for target, words in (
        (
            ctx.texture(SIZE, 4),
            r"target must be a moderngl.Framebuffer.*\(\[texture\]\) draws into it",
        ),
        (None, "target must be a moderngl.Framebuffer, got None"),
        (left, "the target was released"),
        (ctx.framebuffer(depth_attachment=ctx.depth_texture(SIZE)), "the target has no colour to draw to"),
        (ctx.framebuffer([ctx.texture(SIZE, 4, dtype="u1")]), r'whole numbers \(dtype="u1"\)'),
    ):
        with pytest.raises(gf.GpufluidError, match=words):
            made.render(puff, OUTSIDE, target)  # type: ignore[arg-type]
    with pytest.raises(gf.GpufluidError, match=r"fluid must be a gf\.Fluid, got None"):
        made.render(None, OUTSIDE, canvas.target)  # type: ignore[arg-type]
    other = create_context()
    with other:
        foreign, elsewhere = other.depth_texture(SIZE), other.framebuffer([other.texture(SIZE, 4)])
    with ctx:
        with pytest.raises(gf.GpufluidError, match="depth texture lives in another GL context"):
            made.render(puff, OUTSIDE, canvas.target, depth=foreign)
        with pytest.raises(gf.GpufluidError, match="target lives in another GL context"):
            made.render(puff, OUTSIDE, elsewhere)
    other.release()
    ctx.__enter__()
    assert not canvas.read().any()
    made.release()


def test_a_released_renderer_says_so(device: Device) -> None:
    puff, canvas = Puff(device, GRID, density=1.0), Canvas(device.ctx)
    made = VolumeRenderer(device.ctx, **HALF)
    made.render(puff, OUTSIDE, canvas.target)
    made.release()
    made.release()
    for work in (
        lambda: made.render(puff, OUTSIDE, canvas.target),
        lambda: made.prepare(puff, Look()),
        lambda: made.draw(puff, OUTSIDE, canvas.target, None, Look()),
    ):
        with pytest.raises(gf.GpufluidError, match="this VolumeRenderer was released"):
            work()


SCRIPT = """
import sys
sys.path.insert(0, {tests!r})
from test_march import *
ctx = create_context()
puff = Puff(Device(ctx, "fragment"), GRID, density=1.0)
depth = depth_texture(ctx, texel_of(OUTSIDE, np.full(SIZE[::-1], 9.0)))
for options in WAYS.values():
    assert drawn(puff, OUTSIDE, options, depth=depth)[..., 3].max() > 0.9
print(ctx.version_code, ctx.error)
"""


def test_every_way_runs_on_gl_33() -> None:
    assert told_on_gl_33(SCRIPT) == ["GL_NO_ERROR"]
