"""Six-way lightmaps: held to whole pictures in the light of each side, and to what they are for."""

from __future__ import annotations

import json
from pathlib import Path

import moderngl
import numpy as np
import pytest
from host import Host
from PIL import Image

import gpufluid as gf
from gpufluid.description.view import SIX_WAY
from gpufluid.io.games import SixWayBook
from gpufluid.io.images import write_png
from gpufluid.render.six_way import SixWay

SIZE = (48, 32)
WHITE, DARK = (1.0, 1.0, 1.0), (0.0, 0.0, 0.0)
LUMINANCE = (0.2126, 0.7152, 0.0722)
SIDES = tuple(side for side in SIX_WAY if side not in ("alpha", "emissive"))
SMOKE = gf.Smoke(albedo=(0.9, 0.7, 0.5), anisotropy=0.4)


def clouds(ctx: moderngl.Context, count: int = 1, **of_the_scene: object) -> gf.Scene:
    """Boxes side by side with uneven smoke in them, and a warm place, seen from aside."""
    rng, fluids = np.random.default_rng(5), []
    for n in range(count):
        grid = gf.Grid((16, 16, 16), cell_size=1 / 16, origin=(float(n), 0.0, 0.0))
        fluid = gf.Fluid(grid, ctx=ctx)
        z, y, x = grid.centers().transpose(3, 0, 1, 2)[::-1] - np.array(grid.origin)[::-1, None, None, None]
        puff = np.exp(-18.0 * ((x - 0.45) ** 2 + (y - 0.55) ** 2 + (z - 0.5) ** 2))
        fluid.density.write((3.0 * puff * rng.uniform(0.3, 1.0, puff.shape)).astype(np.float32))
        fluid.temperature.write((3.0 * puff).astype(np.float32))
        fluids.append(fluid)
    camera = gf.Camera(target=(0.5 * count, 0.5, 0.5), distance=2.2 * count, azimuth=35.0, elevation=25.0)
    return gf.Scene(fluids[0], camera=camera, smoke=SMOKE, others=fluids[1:], **of_the_scene)  # type: ignore[arg-type]


def whole_picture(scene: gf.Scene, light: gf.Light, fire: gf.Fire | None = None) -> np.ndarray:
    """What pictures show of it on nothing in that light alone: premultiplied radiance, alpha."""
    more = {"others": scene.others, "camera": scene.camera, "smoke": scene.smoke}
    alone = gf.Scene(scene.fluid, light=light, fire=fire, **more)
    with gf.FrameRenderer(scene.fluid.ctx, SIZE, background="transparent") as renderer:
        renderer.draw(alone)
        return renderer.read_hdr().astype(np.float64)


def ways_to_light(camera: gf.Camera) -> dict[str, np.ndarray]:
    """The way to the light of each side, from where the camera stands and what it looks at."""
    back = np.array(camera.eye) - camera.target
    back /= np.linalg.norm(back)
    right = np.cross((0.0, 1.0, 0.0), back)
    right /= np.linalg.norm(right)
    top = np.cross(back, right)
    return dict(zip(SIDES, (right, top, -back, -right, -top, back), strict=True))


@pytest.mark.parametrize("method", ["view-slices", "ray-march"])
@pytest.mark.parametrize("count", [1, 2])
def test_each_side_is_a_picture_in_its_light(ctx: moderngl.Context, count: int, method: str) -> None:
    scene = clouds(ctx, count)
    with SixWay(ctx, SIZE, method=method) as drawn:
        maps = drawn.draw(scene)
    assert maps.shape == (SIZE[1], SIZE[0], 8) and maps.dtype == np.float32
    alpha = maps[..., SIX_WAY.index("alpha")]
    assert 0.3 < alpha.max() <= 1.0
    for side, towards in ways_to_light(scene.camera).items():
        picture = whole_picture(scene, gf.Light(tuple((-towards).tolist()), WHITE, DARK))
        np.testing.assert_allclose(alpha, picture[..., 3], atol=0.005)
        seen, expected = maps[..., SIX_WAY.index(side)] * alpha, picture[..., :3] @ LUMINANCE
        assert expected.max() > 0.05
        np.testing.assert_allclose(seen, expected, atol=0.005 * expected.max(), err_msg=side)
    assert not maps[..., SIX_WAY.index("emissive")].any(), "it shines without a fire"
    scene.release()


def test_the_sides_of_a_ball_are_where_they_are_said_to_be(ctx: moderngl.Context) -> None:
    grid = gf.Grid((24, 24, 24), cell_size=1 / 24)
    with gf.Fluid(grid, ctx=ctx) as fluid, SixWay(ctx, (64, 64)) as drawn:
        far = np.linalg.norm(grid.centers() - 0.5, axis=-1)
        fluid.density.write(np.where(far < 0.3, 4.0, 0.0).astype(np.float32))
        view = gf.Camera(target=(0.5, 0.5, 0.5), distance=2.5, azimuth=90.0, elevation=0.0)
        scene = gf.Scene(fluid, camera=view, smoke=gf.Smoke(extinction=30.0))
        maps = dict(zip(SIX_WAY, np.moveaxis(drawn.draw(scene), -1, 0), strict=True))
        part = {
            "left": (slice(28, 36), slice(18, 30)),
            "right": (slice(28, 36), slice(34, 46)),
            "top": (slice(18, 30), slice(28, 36)),
            "bottom": (slice(34, 46), slice(28, 36)),
        }
        for side, other in (("left", "right"), ("top", "bottom")):
            for lit, dark in ((side, other), (other, side)):
                assert maps[lit][part[lit]].mean() > 2.0 * maps[lit][part[dark]].mean(), lit
        assert maps["front"][28:36, 28:36].mean() > 4.0 * maps["back"][28:36, 28:36].mean()
        edge = (maps["alpha"] > 0.05) & (maps["alpha"] < 0.5)
        assert maps["back"][edge].mean() > 2.0 * maps["back"][28:36, 28:36].mean(), "there is no rim of light"
        np.testing.assert_allclose(maps["left"], maps["right"][:, ::-1], atol=0.01)
        np.testing.assert_allclose(maps["top"], maps["bottom"][::-1], atol=0.01)


def test_what_shines_is_the_fire_in_the_dark(ctx: moderngl.Context) -> None:
    fire = gf.Fire(intensity=500.0)
    scene = clouds(ctx, fire=fire, light=gf.Light(color=(9.0, 9.0, 9.0)))
    with SixWay(ctx, SIZE) as drawn:
        shining = drawn.draw(scene)[..., SIX_WAY.index("emissive")]
    expected = whole_picture(scene, gf.Light(color=DARK, ambient=DARK), fire)[..., :3] @ LUMINANCE
    assert expected.max() > 0.1
    np.testing.assert_allclose(shining, expected, atol=0.005 * expected.max())
    scene.release()


def test_solids_neither_hide_the_smoke_nor_shade_it(ctx: moderngl.Context) -> None:
    """Balls stand on the way of each light, out of the smoke."""
    scene = clouds(ctx)
    far = np.linalg.norm(scene.fluid.grid.centers() - 0.5, axis=-1)
    scene.fluid.density.write(np.where(far < 0.3, scene.fluid.density.read(), 0.0))
    with SixWay(ctx, SIZE) as drawn:
        free = drawn.draw(scene)
        for way in ways_to_light(scene.camera).values():
            place = 0.5 + 0.43 * way / np.abs(way).max()
            scene.fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.06), position=tuple(place.tolist())))
        scene.fluid.voxelize()
        assert scene.fluid.solid.read().sum() > 6.0
        np.testing.assert_allclose(drawn.draw(scene), free, atol=0.01)
    scene.release()


def test_a_renderer_that_is_gone_or_cannot_be(ctx: moderngl.Context) -> None:
    scene = clouds(ctx)
    drawn = SixWay(ctx, SIZE)
    with pytest.raises(gf.GpufluidError, match=r"what is drawn must be a gf\.Scene, .*got <gf\.Fluid"):
        drawn.draw(scene.fluid)  # type: ignore[arg-type]
    drawn.release()
    drawn.release()
    with pytest.raises(gf.GpufluidError, match="this SixWay was released"):
        drawn.draw(scene)
    for size in ((0, 10), (10, 1 << 20)):
        with pytest.raises(gf.GpufluidError):
            SixWay(ctx, size)
    scene.release()


def test_a_host_keeps_its_state_and_the_maps_their_numbers(ctx: moderngl.Context) -> None:
    gf.keep_state(ctx, True)
    scene, host = clouds(ctx, fire=gf.Fire(intensity=500.0)), Host(ctx)
    with SixWay(ctx, SIZE) as drawn:
        alone = drawn.draw(scene)
    with host.oddly(), SixWay(ctx, SIZE) as drawn:
        as_guest = drawn.draw(scene)
    assert alone.any(axis=(0, 1)).all()
    np.testing.assert_array_equal(as_guest, alone)
    host.release()
    scene.release()
    gf.keep_state(ctx, False)


# -- sheets --------------------------------------------------------------------------------------------


def some_maps(rng: np.random.Generator, count: int) -> list[np.ndarray]:
    """Frames of 4 x 6 pixels, each with a clear corner and a bright pixel that hides hardly anything."""
    made = [rng.uniform(0.0, 0.8, (4, 6, 8)).astype(np.float32) for _ in range(count)]
    for maps in made:
        maps[0, 0] = 0.0
        maps[0, 1, SIX_WAY.index("alpha")], maps[0, 1, 0] = 0.01, 50.0
    return made


@pytest.mark.parametrize("bits", [8, 16])
def test_sheets_hold_the_maps(tmp_path: Path, rng: np.random.Generator, bits: int) -> None:
    frames = some_maps(rng, 3)
    with SixWayBook(tmp_path / "a.png", bits=bits, columns=2, fps=24, about={"title": "puff"}) as book:
        for maps in frames:
            book.write(maps)
        assert book.frames == 3
    told = json.loads((tmp_path / "a.json").read_text())
    assert told["channels"] == [["right", "top", "back", "alpha"], ["left", "bottom", "front", "emissive"]]
    assert (told["encoding"], told["alpha"], told["fps"], told["title"]) == ("linear", "straight", 24, "puff")
    assert (told["frames"], told["rows"], told["columns"]) == (3, 2, 2)
    seen = [maps[maps[..., 3] > 0.02] for maps in frames]
    largest = max(pixels[:, [0, 1, 2, 4, 5, 6]].max() for pixels in seen)
    assert told["scale"] == pytest.approx(largest, rel=1e-3), "what nobody sees tells how bright all is"
    assert told["emissive_scale"] == pytest.approx(max(maps[..., 7].max() for maps in frames), rel=1e-3)
    scales = np.array([told["scale"]] * 3 + [1.0] + [told["scale"]] * 3 + [told["emissive_scale"]])
    most = (1 << bits) - 1
    both = [
        sixteen(tmp_path / name) if bits == 16 else np.asarray(Image.open(tmp_path / name))
        for name in told["pictures"]
    ]
    assert told["pictures"] == ["a_rtb.png", "a_lbf.png"]
    for n, maps in enumerate(frames):
        top, left = 4 * (n // 2), 6 * (n % 2)
        read = np.concatenate([sheet[top : top + 4, left : left + 6] for sheet in both], axis=-1)
        # half floats on the way to 8 bits
        step = 0.5 / most + (2**-11 if bits == 8 else 0.0)
        np.testing.assert_allclose(read / most, np.clip(maps / scales, 0.0, 1.0), atol=1.01 * step)


def sixteen(file: Path) -> np.ndarray:
    """A PNG picture of 16 bits a channel, which Pillow reads with 8."""
    import av

    with av.open(str(file)) as container:
        frame = next(container.decode(video=0))
        return np.asarray(frame.to_ndarray(format="rgba64le"))


def test_scales_that_are_given(tmp_path: Path) -> None:
    maps = np.full((2, 2, 8), 0.5, np.float32)
    with SixWayBook(tmp_path / "a.png", scale=2.0, emissive_scale=0.25) as book:
        book.write(maps)
    assert np.asarray(Image.open(tmp_path / "a_rtb.png"))[0, 0].tolist() == [64, 64, 64, 128]
    assert np.asarray(Image.open(tmp_path / "a_lbf.png"))[0, 0].tolist() == [64, 64, 64, 255]


def test_nothing_at_all_is_black(tmp_path: Path) -> None:
    with SixWayBook(tmp_path / "a.png") as book:
        book.write(np.zeros((2, 2, 8)))
    assert not np.asarray(Image.open(tmp_path / "a_rtb.png")).any()


def test_a_book_cut_short_holds_its_frames(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), SixWayBook(tmp_path / "a.png") as book:
        book.write(np.ones((2, 2, 8)))
        raise KeyboardInterrupt
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.json", "a_lbf.png", "a_rtb.png"]


def test_books_that_cannot_be(tmp_path: Path) -> None:
    write_png(tmp_path / "old_lbf.png", np.zeros((2, 2, 3), np.uint8))
    for path, more, told in (
        ("a.jpg", {}, r"a\.jpg: the name must end in \.png"),
        ("old.png", {}, r"old_lbf\.png: exists already"),
        ("missing/a.png", {}, "the folder .*missing does not exist"),
        ("a.png", {"bits": 12}, "bits must be one of 8, 16, got 12"),
        ("a.png", {"scale": 0.0}, "scale must be"),
        ("a.png", {"emissive_scale": -1.0}, "emissive_scale must be"),
        ("a.png", {"fps": 0}, "fps must be"),
    ):
        with pytest.raises(gf.GpufluidError, match=told):
            SixWayBook(tmp_path / path, **more)
    with SixWayBook(tmp_path / "old.png", overwrite=True) as book:
        for maps in (np.zeros((2, 2, 4)), np.zeros((2, 2)), np.full((2, 2, 8), np.nan)):
            with pytest.raises(gf.GpufluidError, match=r"must be finite \[height, width, 8\]"):
                book.write(maps)
        for none in (np.full((2, 2, 8), "x"), np.full((2, 2, 8), 1j), [[1, 2], [3]], "maps"):
            with pytest.raises(gf.GpufluidError, match=r"must be numbers \[height, width, 8\], as SixWay"):
                book.write(none)  # type: ignore[arg-type]
        book.write(np.zeros((2, 2, 8)))
        with pytest.raises(gf.GpufluidError, match="like the first"):
            book.write(np.zeros((2, 3, 8)))
