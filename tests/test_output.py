"""What leaves the renderer: transparent pictures over a plate, and the scene seen through hot gas."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import moderngl
import numpy as np
import pytest
from driver import within
from PIL import Image
from puff import Puff, pictured

import gpufluid as gf
from gpufluid.gl.device import Device
from gpufluid.scene.saving import save_description

SIZE = (96, 64)
GRID = gf.Grid((16, 16, 16), cell_size=1 / 16, origin=(-0.5, 0.0, -0.5))
CAMERA = gf.Camera(target=(0.0, 0.5, 0.0), distance=3.5, azimuth=25.0, elevation=15.0)


def cloud() -> np.ndarray:
    z, y, x = (np.indices((16, 16, 16)) - 7.5) / 8
    return np.asarray(np.maximum(1.0 - 2.0 * (x**2 + y**2 + z**2), 0.0))


def scene(device: Device, **options: Any) -> Any:
    """A cloud that glows in its middle, and whatever else is asked for."""
    puff = Puff(device, GRID, cloud(), temperature=1.5 * cloud() ** 2)
    return pictured(puff, **({"camera": CAMERA, "smoke": gf.Smoke(extinction=4.0)} | options))


def frame(ctx: moderngl.Context, made: Any, background: Any) -> gf.FrameRenderer:
    renderer = gf.FrameRenderer(ctx, SIZE, background=background)
    renderer.draw(made)
    return renderer


@pytest.mark.parametrize("fire", [None, gf.Fire()])
def test_composited_over_a_plate_it_is_the_picture_over_that_plate(
    ctx: moderngl.Context, device: Device, fire: gf.Fire | None
) -> None:
    made = scene(device, fire=fire)
    made.fluid.obstacles.append(gf.Obstacle(gf.Sphere(radius=0.1), position=(0.3, 0.6, 0.2)))
    alone = frame(ctx, made, "transparent")
    hdr = alone.read_hdr()
    assert (hdr[0, 0] == 0.0).all() and hdr[..., 3].max() > 0.9
    # where the outline of a solid runs the picture has the mean of what is shown, see test_outlines.py
    solid = np.isfinite(alone.read_depth())
    around = [np.roll(solid, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)]
    whole = np.min(around, axis=0) == np.max(around, axis=0)
    assert solid.sum() > 30 and whole.mean() > 0.98
    partly = (hdr[..., 3] > 0.1) & (hdr[..., 3] < 0.9)
    assert partly.mean() > 0.03
    for plate in ((0.0, 0.0, 0.0), (0.9, 0.2, 0.05)):
        over = frame(ctx, made, plate)
        composite = hdr[..., :3] + (1.0 - hdr[..., 3:]) * np.array(plate)
        # half floats, rounded by 1/2048 in each of 32 slabs: seldom more than a fifth of that adds up
        np.testing.assert_allclose(composite[whole], over.read_hdr()[whole][:, :3], rtol=6e-3, atol=2e-3)
        over.release()
    alone.release()


def test_alpha_for_a_screen(ctx: moderngl.Context, device: Device) -> None:
    """Premultiplied and straight ones over black are the picture on black; straight ones keep the fire."""
    made = scene(device, fire=gf.Fire(kelvin_per_temperature=1500.0))
    black = frame(ctx, made, (0.0, 0.0, 0.0))
    expected = black.read().astype(int)
    alone = frame(ctx, made, "transparent")
    premultiplied = alone.read("premultiplied").astype(float)
    straight = alone.read("straight").astype(float)
    assert premultiplied.shape == (64, 96, 4) and expected.max() > 200
    np.testing.assert_allclose(premultiplied[..., :3], expected, atol=1.01)
    np.testing.assert_allclose(straight[..., :3] * straight[..., 3:] / 255.0, expected, atol=2.0)
    assert (straight[..., 3] >= premultiplied[..., 3] - 1.0).all()
    assert (straight[..., 3] > premultiplied[..., 3] + 5.0).any()  # over fire
    np.testing.assert_array_equal(alone.read(), alone.read())
    with pytest.raises(gf.GpufluidError, match="did you mean 'straight'"):
        alone.read("straigth")
    alone.release()
    black.release()


def test_the_floor_on_nothing_is_its_shadow(ctx: moderngl.Context, device: Device) -> None:
    light = gf.Light(direction=(-1.0, -0.8, 0.0), ambient=(0.02, 0.02, 0.02))
    camera = gf.Camera(target=(-0.5, 0.0, 0.0), distance=5.0, elevation=60.0)
    made = scene(device, floor=0.0, light=light, camera=camera, smoke=gf.Smoke(extinction=30.0))
    alone = frame(ctx, made, "transparent")
    hdr = alone.read_hdr()
    shadow = hdr[28:36, 40:48]  # beside the box, on the far side of the light
    assert (shadow[..., 3] > 0.5).any() and (shadow[shadow[..., 3] > 0.5][:, :3] == 0.0).all()
    assert np.abs(hdr[:, -10:, 3]).max() < 0.01  # no shadow towards the light
    alone.release()


def test_hot_gas_bends_light(ctx: moderngl.Context, device: Device) -> None:
    """Where the temperature rises evenly to one side, the scene is shifted by strength x slope x way, and by
    the share of the way to it that is behind the gas: what is close behind that stays.
    """
    _, _, x = np.indices((16, 16, 16)) / 16
    flat = np.full((16, 16, 16), 2.0)
    far = gf.Camera(target=(0.0, 0.5, 0.0), distance=40.0, elevation=0.0, fov=1.6)
    behind = gf.Obstacle(gf.Sphere(radius=0.3), position=(0.0, 0.5, -40.0))  # as far again from the gas
    close = gf.Obstacle(gf.Sphere(radius=0.15), position=(0.0, 0.5, -0.8))
    # 3 pixels: NDC 3 / 48, times the tangent of half the width of the view; twice that, half of which is seen
    angle = 2.0 * 3.0 / 48.0 * np.tan(np.radians(0.8)) * 1.5
    pictures = {}
    for name, temperature, shimmer, ball in (
        ("none", x, 0.0, behind),
        ("even", flat, 1.0, behind),
        ("sloping", x, angle, behind),
        ("close, none", x, 0.0, close),
        ("close", x, angle, close),
    ):
        puff = Puff(device, GRID, temperature=temperature, obstacles=[ball])
        made: Any = pictured(puff, camera=far, fire=gf.Fire(intensity=0.0, shimmer=shimmer))
        renderer = frame(ctx, made, (0.0, 0.0, 0.0))
        pictures[name] = renderer.read_hdr()[..., :3]
        renderer.release()
    # within the outline: beside it the backdrop is looked up, which moves by more
    base, middle = pictures["none"], np.s_[29:35, 44:53]
    assert base[middle].std() > 0.05
    np.testing.assert_allclose(pictures["even"], base, atol=2e-3)
    # hot on the right: the light comes from further left, so everything shown moves right
    np.testing.assert_allclose(pictures["sloping"][middle], base[29:35, 41:50], atol=0.03)
    assert np.abs(pictures["sloping"][middle] - base[middle]).max() > 0.2
    close = pictures["close, none"][middle]
    assert close.std() > 0.05
    np.testing.assert_allclose(pictures["close"][middle], close, atol=0.03)


def test_the_sky_has_the_colours_of_the_light(ctx: moderngl.Context, device: Device) -> None:
    """Bright towards the sun, pale at the horizon, deep overhead; twice the light is twice the sky."""

    def sky(azimuth: float, elevation: float, **light: Any) -> np.ndarray:
        """What a camera sees that looks from there, over an empty box."""
        made = pictured(Puff(device, GRID), light=gf.Light(**({"direction": (-1.0, -0.2, 0.0)} | light)))
        made.camera = gf.Camera(target=(0.0, 0.5, 0.0), distance=3.5, azimuth=azimuth, elevation=elevation)
        renderer = frame(ctx, made, "sky")
        hdr = renderer.read_hdr()
        renderer.release()
        assert (hdr[..., 3] == 1.0).all() and np.isfinite(hdr).all() and (hdr >= 0.0).all()
        return np.asarray(hdr[..., :3])

    red, blue = {"color": (4.0, 0.0, 0.0)}, {"ambient": (0.0, 0.0, 0.5)}
    dim = {"ambient": (1e-3, 1e-3, 1e-3)}
    towards, away = (sky(azimuth, -5.0, **red, **dim) for azimuth in (-90.0, 90.0))
    assert towards[..., 0].mean() > 2.0 * away[..., 0].mean() and towards[..., 1].max() < 2e-3
    level, overhead = (sky(0.0, elevation, **blue, color=(0.0, 0.0, 0.0)) for elevation in (0.0, -60.0))
    assert level[..., 2].min() > 1.2 * overhead[..., 2].max()
    once, twice = (sky(0.0, 0.0, color=(k, k, k), ambient=(0.1 * k, 0.1 * k, 0.2 * k)) for k in (1.0, 2.0))
    np.testing.assert_allclose(twice, 2.0 * once, rtol=4e-3)


def test_wrong_backgrounds_are_named(ctx: moderngl.Context) -> None:
    with pytest.raises(gf.GpufluidError, match="background must be one of .* did you mean 'transparent'"):
        gf.FrameRenderer(ctx, SIZE, background="transparant")
    with pytest.raises(gf.GpufluidError, match="background"):
        gf.FrameRenderer(ctx, SIZE, background=(0.0, np.nan, 0.0))
    with pytest.raises(gf.GpufluidError, match="Picture.background must not be negative"):
        gf.Picture(background=(0.1, -0.1, 0.1))


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("background", "stuido", "background must be one of .* did you mean 'studio'"),
        ("background", (0.1, 0.2), "background must be three"),
        ("exposure", 0.0, "exposure must be a finite number > 0"),
        ("exposure", np.nan, "exposure must be a finite number > 0"),
        ("paint", (2.0, 0.0, 0.0), "paint must be .r, g, b., each in 0 .. 1"),
        ("floor_color", "dark", r"floor_color must be three finite numbers \(r, g, b\)"),
    ],
)
def test_what_is_wrong_is_named_when_it_is_given_and_when_it_is_set(
    ctx: moderngl.Context, name: str, value: Any, words: str
) -> None:
    given: dict[str, Any] = {name: value}
    with pytest.raises(gf.GpufluidError, match=words):
        gf.FrameRenderer(ctx, SIZE, **given)
    with gf.FrameRenderer(ctx, SIZE) as renderer:
        before = getattr(renderer, name)
        with pytest.raises(gf.GpufluidError, match=words):
            setattr(renderer, name, value)
        assert getattr(renderer, name) == before


def test_a_renderer_that_cannot_be_made_leaves_nothing(
    ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    released, release = list[gf.VolumeRenderer](), gf.VolumeRenderer.release

    def counted(volume: gf.VolumeRenderer) -> None:
        released.append(volume)
        release(volume)

    monkeypatch.setattr(gf.VolumeRenderer, "release", counted)
    with pytest.raises(gf.GpufluidError, match="the width of a picture must lie in"):
        gf.FrameRenderer(ctx, (0, 8))
    with pytest.raises(gf.GpufluidError, match="the height of a picture must lie in"):
        gf.FrameRenderer.of(gf.Picture(), ctx, (8, 0))
    assert len(released) == 2
    with gf.VolumeRenderer(ctx) as own, pytest.raises(gf.GpufluidError, match="the width of a picture"):
        gf.FrameRenderer(ctx, (0, 8), volume=own)
    assert len(released) == 3, "one of the caller's is his to release"


# -- plates ------------------------------------------------------------------------------------------------


def photograph(width: int, height: int) -> np.ndarray:
    """All colours from black to white, smooth, with a bright mark in its upper left part."""
    y, x = np.mgrid[0 : 1 : height * 1j, 0 : 1 : width * 1j]
    made = np.rint(255 * np.stack([x, y, 1.0 - 0.5 * (x + y)], -1)).astype(np.uint8)
    made[: height // 4, : width // 4] = 255
    return made


@pytest.mark.parametrize("exposure", [0.3, 0.95, 4.0])
def test_a_plate_is_shown_as_it_is(ctx: moderngl.Context, device: Device, exposure: float) -> None:
    """At any exposure; noise that hides steps of 8 bits is one of them, half floats round by as much."""
    made, shown = scene(device, smoke=gf.Smoke(visible=False)), photograph(*SIZE)
    with_alpha = np.concatenate([shown, np.full((*shown.shape[:2], 1), 255, np.uint8)], -1)
    for plate in (gf.Plate(shown), gf.Plate(with_alpha), gf.Plate(shown / 255.0)):
        renderer = gf.FrameRenderer(ctx, SIZE, background=plate, exposure=exposure)
        renderer.draw(made)
        off = renderer.read().astype(int) - shown
        assert np.abs(off).max() <= 2 and np.abs(off.mean((0, 1))).max() < 0.2
        renderer.release()


def test_a_plate_of_another_form_fills_the_picture(ctx: moderngl.Context, device: Device) -> None:
    """What is too much is cut on either side; of a large one the mean is seen. It can be set at any time."""
    made, shown = scene(device, smoke=gf.Smoke(visible=False)), photograph(*SIZE)
    renderer = frame(ctx, made, "studio")
    for wider, higher in ((32, 0), (0, 40)):
        edges = ((higher // 2,) * 2, (wider // 2,) * 2, (0, 0))
        renderer.background = gf.Plate(np.pad(shown, edges, constant_values=77))
        renderer.draw(made)
        assert np.abs(renderer.read().astype(int) - shown).max() <= 2
    stripes = np.full((4 * SIZE[1], 4 * SIZE[0], 3), 200, np.uint8)
    stripes[:, ::4] = stripes[::4] = 0
    renderer.background = gf.Plate(stripes)
    renderer.draw(made)
    assert np.abs(renderer.read().astype(int) - 112.5).max() <= 4, "no pixels of it are left out"
    renderer.background = "sky"
    renderer.draw(made)
    sky = frame(ctx, made, "sky")
    assert np.array_equal(renderer.read(), sky.read())
    renderer.release()
    sky.release()


def test_the_floor_of_a_plate_is_what_changes_its_light(ctx: moderngl.Context, device: Device) -> None:
    """Smoke throws a shadow on what is seen there, a lamp lights it; elsewhere it is as it is."""
    options: dict[str, Any] = {"floor": 0.0, "light": gf.Light((0.4, -1.0, 0.2), ambient=(0.1, 0.1, 0.1))}
    grey = gf.Plate(np.full((*SIZE[::-1], 3), 120, np.uint8))
    clear, solid = scene(device, smoke=gf.Smoke(visible=False), **options), scene(device, **options)
    clear.fluid.scalars.write(np.zeros((16, 16, 16, 4)))
    renderer = frame(ctx, clear, grey)
    without = renderer.read().astype(int)
    assert np.abs(without - 120).max() <= 2 and abs(without.mean() - 120) < 0.3, "all light reaches the floor"
    renderer.draw(solid)
    shaded = renderer.read().astype(int)[SIZE[1] // 2 :]
    assert shaded.min() < 80 and np.median(np.abs(shaded - 120)) <= 2
    lit = scene(device, smoke=gf.Smoke(visible=False), **options)
    lit.fluid.scalars.write(np.zeros((16, 16, 16, 4)))
    lit.lights = [gf.PointLight((0.0, 0.4, 0.0), (0.0, 0.5, 0.0))]
    renderer.draw(lit)
    change = renderer.read().astype(int) - without
    assert change[..., 1].max() > 20 and np.abs(change[..., [0, 2]]).max() <= 3
    assert np.abs(change[: SIZE[1] // 4]).max() <= 2, "there is no floor"
    renderer.release()


def test_plates_come_from_files(tmp_path: Path) -> None:
    """As whoever held the camera saw them; what is no picture is named."""
    held, alpha = photograph(30, 20), np.full((20, 30, 1), 51, np.uint8)
    picture = Image.fromarray(held)
    tags = picture.getexif()
    tags[274] = 6  # turned by a quarter
    picture.save(tmp_path / "turned.png", exif=tags)
    assert np.array_equal(gf.Plate(tmp_path / "turned.png").pixels, np.rot90(held, -1))
    Image.fromarray(held[..., 0].astype(np.uint16) * 257).save(tmp_path / "grey.png", exif=tags)
    assert np.array_equal(gf.Plate(tmp_path / "grey.png").pixels[..., 2], np.rot90(held[..., 0], -1))
    Image.fromarray(np.concatenate([held, alpha], -1)).save(tmp_path / "thin.png")
    assert np.abs(gf.Plate(f"{tmp_path}/thin.png").pixels.astype(float) - 0.2 * held).max() <= 0.51
    assert repr(gf.Plate(held)) == "Plate(30 x 20 pixels)"
    (tmp_path / "no.png").write_text("no picture")
    for source, says in (
        (tmp_path / "none.png", "none.png does not exist"),
        (tmp_path / "no.png", "no.png cannot be read"),
        (held[..., 0], r"\[height, width, 3 or 4\], got the shape \[20, 30\]"),
        (np.zeros((0, 4, 3)), "got the shape"),
        (np.full((2, 2, 3), 1.5), "uint8 or in 0 .. 1"),
        (np.full((2, 2, 3), np.nan), "uint8 or in 0 .. 1"),
        ("plate", "does not exist"),
        ([["a"]], "a file or an array of numbers"),
    ):
        with pytest.raises(gf.GpufluidError, match=says):
            gf.Plate(source)
    with pytest.raises(
        gf.GpufluidError, match=r"Picture.background must be gf.Plate\('beach.jpg'\) .*{ file = 'beach"
    ):
        gf.Picture(background="beach.jpg")


def test_a_description_names_its_plate(tmp_path: Path) -> None:
    """It is read with the scene, and named again when that is saved beside it."""
    text = '[grid]\ncells = [4, 4, 4]\n[picture]\nbackground = { file = "plate.png" }\n'
    (tmp_path / "scene.toml").write_text(text)
    with pytest.raises(gf.SceneError, match="picture.background: .*plate.png does not exist"):
        gf.Scene.load(tmp_path / "scene.toml")
    Image.fromarray(photograph(12, 8)).save(tmp_path / "plate.png")
    made = gf.Scene.load(tmp_path / "scene.toml")
    assert np.array_equal(made.picture.background.pixels, photograph(12, 8))
    save_description(made, tmp_path / "again.toml")
    made.picture.background = "sky"
    save_description(made, tmp_path / "sky.toml")
    made.picture.background = gf.Plate(photograph(3, 3))
    with pytest.raises(gf.GpufluidError, match="Picture.background: a description cannot say Plate"):
        save_description(made, tmp_path / "array.toml")
    made.release()
    assert 'background = { file = "plate.png" }' in (tmp_path / "again.toml").read_text()
    assert 'background = "sky"' in (tmp_path / "sky.toml").read_text()


# -- several boxes -----------------------------------------------------------------------------------------


def test_the_shadow_of_a_further_box_hides_what_that_of_the_first_would(
    ctx: moderngl.Context, device: Device
) -> None:
    """On nothing the floor is what shadows take away, of whichever box; on a backdrop all is opaque."""
    grid = gf.Grid((16, 16, 16), 1 / 16, (-0.5, 0.0, -0.5))
    far = gf.Grid((16, 16, 16), 1 / 16, (-40.5, 0.0, -0.5))  # its floor ends before it gets here
    smoking, empty = Puff(device, grid, cloud()), Puff(device, far, 0.0 * cloud())
    sun, dense = gf.Light((-1.0, -1.0, 0.2)), gf.Smoke(extinction=30.0)

    def picture(background: Any, *fluids: Any) -> np.ndarray:
        first, *others = fluids
        made = pictured(first, others=others, camera=CAMERA, smoke=dense, light=sun, floor=0.0)
        with frame(ctx, made, background) as renderer:
            return renderer.read_hdr()

    alone, further = picture("transparent", smoking), picture("transparent", empty, smoking)
    shadow = (alone[..., 3] > 0.5) & (alone[..., :3].max(-1) < 1e-3)
    assert shadow.sum() > 100
    np.testing.assert_allclose(further, alone, atol=within(1e-5, 2e-3))
    assert (picture("studio", empty, smoking)[..., 3] == 1.0).all()


def test_two_boxes_are_drawn_side_by_side(ctx: moderngl.Context, device: Device) -> None:
    """Each as it is alone; what is in front hides what is behind, whichever comes first."""
    left, right = (gf.Grid((16, 16, 16), 1 / 16, (x, 0.0, -0.5)) for x in (-1.3, 0.3))
    camera = gf.Camera(target=(0.0, 0.5, 0.0), distance=4.5, elevation=10.0)
    dense = gf.Smoke(extinction=30.0)
    ball = gf.Obstacle(gf.Sphere(radius=0.1), position=(0.8, 0.9, 0.3))

    def picture(*fluids: Any, view: gf.Camera = camera, floor: float | None = None) -> np.ndarray:
        first, *others = fluids
        made = pictured(first, others=others, camera=view, smoke=dense, floor=floor)
        renderer = frame(ctx, made, (0.1, 0.1, 0.1))
        out = renderer.read_hdr()
        renderer.release()
        return out

    one, other = Puff(device, left, cloud()), Puff(device, right, 0.7 * cloud(), obstacles=[ball])
    both, alone, beside = picture(one, other), picture(one), picture(other)
    assert np.abs(both[:, :48] - alone[:, :48]).max() < 1e-6 < np.abs(both[:, 48:] - alone[:, 48:]).max()
    np.testing.assert_array_equal(both[:, 48:], beside[:, 48:])
    np.testing.assert_array_equal(picture(other, one), both)

    along = gf.Camera(target=(0.0, 0.5, 0.0), distance=5.0, azimuth=90.0, elevation=5.0)  # right before left
    hidden = picture(one, other, view=along)
    np.testing.assert_allclose(hidden, picture(other, one, view=along), atol=2e-3)
    middle = np.s_[30:34, 46:50]
    assert np.abs(hidden[middle] - picture(other, view=along)[middle]).max() < 0.05  # thick smoke hides it

    clear = [Puff(device, grid) for grid in (left, right)]
    shadows = picture(*clear, floor=0.0)[..., 1] - picture(one, other, floor=0.0)[..., 1]
    assert shadows[40:, :48].max() > 0.01 and shadows[40:, 48:].max() > 0.01  # both cast one on the floor


@pytest.mark.parametrize("first", [0, 1])
def test_a_small_box_before_the_far_end_of_a_long_one_is_seen(
    ctx: moderngl.Context, device: Device, first: int
) -> None:
    """Although its middle lies farther away than that of the long one."""
    long = Puff(device, gf.Grid((64, 8, 8), 1 / 8), color=(1.0, 0.1, 0.1))
    small = Puff(device, gf.Grid((8, 8, 8), 1 / 8, (5.0, 0.0, 1.05)), color=(0.1, 0.1, 1.0))
    camera = gf.Camera(target=(5.5, 0.5, 1.5), fov=10.0)
    camera.eye = (2.0, 1.2, 3.5)

    def picture(*fluids: Any) -> np.ndarray:
        look = {"light": gf.Light((0.5, -0.3, -0.6)), "smoke": gf.Smoke(extinction=60.0)}
        made = pictured(fluids[0], others=fluids[1:], camera=camera, **look)
        renderer = frame(ctx, made, (0.1, 0.1, 0.1))
        out = renderer.read_hdr()[28:36, 44:52, :3]  # the middle
        renderer.release()
        return out

    both, behind, before = picture(*(long, small)[:: 1 - 2 * first]), picture(long), picture(small)
    assert np.abs(behind - before).min(axis=(0, 1)).max() > 0.1
    np.testing.assert_allclose(both, before, atol=1e-3)
