"""Pictures of 16 bits, EXR with depth and motion, sidecars: read back by other code than wrote them."""

from __future__ import annotations

import json
import struct
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import moderngl
import numpy as np
import OpenEXR
import pytest
from PIL import Image

import gpufluid as gf
from gpufluid.io.about import describe
from gpufluid.io.exr import FAR, write_exr
from gpufluid.io.images import FrameFolder, write_png
from gpufluid.io.motion import _optical_depths, motion_of, trilinear
from gpufluid.io.pictures import sixteen_bits, write_picture
from gpufluid.render.camera import view_of
from gpufluid.render.frame import FrameRenderer


def read_png(path: Path) -> np.ndarray:
    """Decode a PNG of 8 or 16 bits a channel, not interlaced (ISO/IEC 15948)."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, raw = 8, b""
    while at < len(data):
        (length,) = struct.unpack_from(">I", data, at)
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        assert struct.unpack_from(">I", data, at + 8 + length)[0] == zlib.crc32(kind + body)
        if kind == b"IHDR":
            width, height, bits, color, *_, interlaced = struct.unpack(">2I5B", body)
            assert not interlaced
        if kind == b"IDAT":
            raw += body
        at += 12 + length
    channels = {2: 3, 6: 4}[color]
    step, raw = channels * bits // 8, zlib.decompress(raw)
    before = [0] * (width * step)
    rows = []
    for y in range(height):
        filtering, *line = raw[y * (width * step + 1) : (y + 1) * (width * step + 1)]
        for x in range(width * step):
            a, b = line[x - step] if x >= step else 0, before[x]
            c = before[x - step] if x >= step else 0
            p = a + b - c
            paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            line[x] = (line[x] + (0, a, b, (a + b) // 2, paeth)[filtering]) % 256
        before = line
        rows.append(bytes(line))
    return np.frombuffer(b"".join(rows), f">u{bits // 8}").reshape(height, width, channels)


@pytest.mark.parametrize("channels", [3, 4])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_png_comes_back_bit_for_bit(tmp_path: Path, channels: int, dtype: type) -> None:
    rng = np.random.default_rng(1)
    noise = rng.integers(0, np.iinfo(dtype).max + 1, (9, 13, channels), dtype)
    ramp = np.linspace(0, np.iinfo(dtype).max, 11 * 7 * channels).astype(dtype).reshape(11, 7, channels)
    for picture in (noise, ramp, noise[::-1, ::2]):
        path = write_png(tmp_path / "a.png", picture, overwrite=True)
        assert np.array_equal(read_png(path), picture)
        with Image.open(path) as seen:
            assert seen.mode == ("RGB", "RGBA")[channels - 3]
            shift = 8 * (dtype is np.uint16)
            assert np.array_equal(np.asarray(seen), picture >> shift)
    assert [file.name for file in tmp_path.iterdir()] == ["a.png"]


def test_exr_comes_back(tmp_path: Path, rng: np.random.Generator) -> None:
    picture = rng.random((5, 7, 4)).astype(np.float32) * 10.0
    depth = rng.random((5, 7)) * 3.0
    depth[0, 0] = np.inf
    motion = rng.standard_normal((5, 7, 2))
    path = write_exr(tmp_path / "a.exr", picture, depth=depth, motion=motion)
    file = OpenEXR.File(str(path), separate_channels=True)
    channels = {name: channel.pixels for name, channel in file.channels().items()}
    assert set(channels) == {"R", "G", "B", "A", "Z", "forward.u", "forward.v"}
    for n, name in enumerate("RGBA"):
        assert channels[name].dtype == np.float16
        assert np.array_equal(channels[name], picture[..., n].astype(np.float16))
    assert channels["Z"].dtype == np.float32
    assert channels["Z"][0, 0] == np.float32(FAR)
    assert np.array_equal(channels["Z"].ravel()[1:], depth.astype(np.float32).ravel()[1:])
    assert np.array_equal(channels["forward.u"], motion[..., 0].astype(np.float16))
    assert np.array_equal(channels["forward.v"], motion[..., 1].astype(np.float16))
    whole = OpenEXR.File(str(write_exr(path, picture[..., :3], half=False, overwrite=True)))
    assert np.array_equal(whole.channels()["RGB"].pixels, picture[..., :3])
    bright = write_exr(path, np.full((1, 1, 3), 1e6), overwrite=True)
    assert OpenEXR.File(str(bright)).channels()["RGB"].pixels.max() == 65504.0


@pytest.mark.parametrize(
    ("picture", "options", "message"),
    [
        (np.zeros((4, 4, 3), np.uint8), {}, r"must be float \[height, width, 3 or 4\], got uint8"),
        (np.zeros((4, 4, 2)), {}, "3 or 4"),
        (np.full((4, 4, 3), np.nan), {}, "channel R .* must not be NaN"),
        (np.zeros((4, 4, 3)), {"depth": np.zeros((4, 3))}, r"depth must have the shape \[4, 4\]"),
        (np.zeros((4, 4, 3)), {"motion": np.zeros((4, 4))}, r"motion must have the shape \[4, 4, 2\]"),
    ],
)
def test_exr_that_cannot_be(tmp_path: Path, picture: Any, options: Any, message: str) -> None:
    with pytest.raises(gf.GpufluidError, match=message):
        write_exr(tmp_path / "a.exr", picture, **options)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("module", "package", "dtype"), [("OpenEXR", "OpenEXR", np.float32), ("av", "av", np.uint16)]
)
def test_a_missing_package_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, package: str, dtype: type
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    write = write_exr if module == "OpenEXR" else write_png
    ending = "exr" if module == "OpenEXR" else "png"
    with pytest.raises(gf.MissingDependencyError, match=rf'.{package}.: pip install "gpufluid\[all\]"'):
        write(tmp_path / f"a.{ending}", np.zeros((2, 2, 3), dtype))
    assert list(tmp_path.iterdir()) == []


# -- what a renderer drew ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def scene(ctx: moderngl.Context) -> Iterator[gf.Scene]:
    """A ball of smoke in front of a box, above a floor."""
    fluid = gf.Fluid(gf.Grid((16, 16, 16), 1 / 16), ctx=ctx)
    z, y, x = (np.mgrid[:16, :16, :16] + 0.5) / 16
    fluid.density.write(np.exp(-((x - 0.5) ** 2 + (y - 0.6) ** 2 + (z - 0.7) ** 2) / 0.01))
    fluid.obstacles.add(gf.Obstacle(gf.Box((0.25, 0.3, 0.3), (0.2, 0.2, 0.2))))
    made = gf.Scene(fluid, gf.Camera((0.5, 0.4, 0.5), 2.5, elevation=20.0), floor=0.0, title="A ball")
    yield made
    made.release()


@pytest.fixture(scope="module")
def drawn(ctx: moderngl.Context, scene: gf.Scene) -> Iterator[FrameRenderer]:
    renderer = FrameRenderer(ctx, (60, 40), background="transparent")
    renderer.draw(scene)
    yield renderer
    renderer.release()


@pytest.mark.parametrize("alpha", [False, True])
def test_sixteen_bits_are_the_picture_of_eight(tmp_path: Path, drawn: FrameRenderer, alpha: bool) -> None:
    eight = read_png(write_picture(tmp_path / "a.png", drawn, alpha=alpha)).astype(int)
    deep = read_png(write_picture(tmp_path / "b.png", drawn, alpha=alpha, bits=16)).astype(float)
    assert eight.shape == (40, 60, 3 + alpha)
    assert np.array_equal(eight, drawn.read("straight" if alpha else None))
    solid = np.ones(eight.shape[:2], bool) if not alpha else eight[..., 3] > 25
    assert solid.mean() > 0.1
    difference = np.abs(deep[solid] / 257.0 - eight[solid])
    assert difference.max() < (4.0 if alpha else 1.6), "straight alpha divides the noise of 8 bits"
    assert difference.mean() < 0.6
    assert len(np.unique(deep)) > 3 * len(np.unique(eight))


def test_a_framebuffer_is_written_as_it_is_seen(ctx: moderngl.Context, tmp_path: Path) -> None:
    """Its viewport, top row first; 8 bits as they are, half floats as a screen would show them."""
    pixels = np.arange(5 * 7 * 4, dtype=np.uint8).reshape(5, 7, 4)
    eight = ctx.framebuffer([ctx.texture((7, 5), 4, pixels[::-1].tobytes())])
    assert np.array_equal(read_png(gf.write_picture(tmp_path / "a.png", eight)), pixels[..., :3])
    eight.viewport = 1, 2, 5, 3
    assert np.array_equal(read_png(gf.write_picture(tmp_path / "b.png", eight, alpha=True)), pixels[:3, 1:6])
    radiance = np.array([0.2, -1.0, 2.0, 1.0], "f2")
    floats = ctx.framebuffer([ctx.texture((1, 1), 4, radiance.tobytes(), dtype="f2")])
    assert read_png(gf.write_picture(tmp_path / "c.png", floats)).tolist() == [[[51, 0, 255]]]
    whole = ctx.framebuffer([ctx.texture((2, 2), 4, dtype="u1")])
    several = ctx.framebuffer([ctx.texture((2, 2), 4, samples=4)])
    for target, given, said in (
        (eight, {"bits": 16}, "d.png: a framebuffer is written as a .png of 8 bits"),
        (eight, {"motion": np.zeros((5, 7, 2))}, "written as a .png of 8 bits"),
        (whole, {}, "holds whole numbers"),
        (several, {}, "the framebuffer has 4 samples a pixel"),
    ):
        with pytest.raises(gf.GpufluidError, match=said):
            gf.write_picture(tmp_path / "d.png", target, **given)
    with pytest.raises(gf.GpufluidError, match=r"d.exr: a framebuffer is written as a \.png"):
        gf.write_picture(tmp_path / "d.exr", eight)
    eight.release()
    with pytest.raises(gf.GpufluidError, match="the framebuffer was released"):
        gf.write_picture(tmp_path / "d.png", eight)
    assert not (tmp_path / "d.png").exists() and ctx.error == "GL_NO_ERROR"


def test_an_array_is_written_as_it_is(tmp_path: Path) -> None:
    """Bytes and words as PNG, floats as EXR; what does not fit says what would."""
    pixels = np.arange(5 * 7 * 4, dtype=np.uint8).reshape(5, 7, 4)
    for name, picture in (("a.png", pixels), ("b.png", pixels[..., :3]), ("c.png", pixels * np.uint16(257))):
        assert np.array_equal(read_png(gf.write_picture(tmp_path / name, picture)), picture)
    radiance = np.linspace(-1.0, 70.0, 5 * 7 * 3, dtype=np.float32).reshape(5, 7, 3)
    path = gf.write_picture(tmp_path / "a.exr", radiance, half=False)
    channels = OpenEXR.File(str(path), separate_channels=True).channels()
    assert np.array_equal(np.stack([channels[name].pixels for name in "RGB"], -1), radiance)
    for name, picture, given, said in (
        ("d.png", radiance, {}, r"uint8 or uint16 \[height, width, 3 or 4\], got float32 \[5, 7, 3\]"),
        ("d.exr", pixels, {}, r"float \[height, width, 3 or 4\], got uint8 .* read_hdr"),
        ("d.png", pixels, {"motion": np.zeros((5, 7, 2))}, "d.png: a PNG holds no motion"),
        ("d.jpg", pixels, {}, "d.jpg"),
        ("a.png", pixels, {}, "a.png: exists already"),
    ):
        with pytest.raises(gf.GpufluidError, match=said):
            gf.write_picture(tmp_path / name, picture, **given)
        assert not (tmp_path / name).exists() or name == "a.png"


def test_the_tone_map_of_known_values() -> None:
    radiance = np.array([[[0.0, 0.0, 0.0, 0.0], [1e6, 1e6, 1e6, 1.0], [0.1, 0.0, 0.0, 0.5]]])
    shown = sixteen_bits(radiance, 1.0, alpha=True)[0]
    assert shown[0].tolist() == [0, 0, 0, 0]
    assert shown[1].tolist() == [65535] * 4
    x = np.array([0.1, 0.2])  # over black, and what of which half is hidden there
    filmic = x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14)  # 0.1327, 0.3560
    red, alone = 1.055 * filmic ** (1 / 2.4) - 0.055
    assert shown[2] == pytest.approx([65535 * alone, 0, 0, 65535 * red / alone], abs=1)


@pytest.mark.parametrize("plate", [0.0, 0.2, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("smoke", [0.02, 0.3, 2.0])
def test_the_edges_of_smoke_on_a_plate_have_no_rim(smoke: float, plate: float) -> None:
    """Where a program for pictures blends straight alpha, they go evenly from the plate to the smoke."""
    hides = np.linspace(0.0, 1.0, 65)
    radiance = np.stack([*[smoke * hides] * 3, hides], -1)[None]
    shown = sixteen_bits(radiance, 1.0, alpha=True)[0] / 65535.0
    over = shown[:, 0] * shown[:, 3] + plate * (1.0 - shown[:, 3])
    ways = np.diff(over) * np.sign(over[-1] - plate)
    assert over[0] == plate and ways.min() > -1e-4


def test_the_camera_of_an_exr_finds_every_place_again(tmp_path: Path, drawn: FrameRenderer) -> None:
    """By the header and Z alone: all that is opaque lies on the box or on the floor."""
    exr = OpenEXR.File(str(write_picture(tmp_path / "a.exr", drawn)), separate_channels=True)
    header, z = exr.header(), exr.channels()["Z"].pixels
    rows, columns = np.nonzero(z < 1e9)
    to_camera, to_ndc = (header[name].astype(float) for name in ("worldToCamera", "worldToNDC"))
    to_clip = np.linalg.inv(to_camera) @ to_ndc  # of places of the camera
    x, y = (columns + 0.5) / 30.0 - 1.0, 1.0 - (rows + 0.5) / 20.0
    depth = z[rows, columns].astype(float)
    seen = np.stack([x * depth / to_clip[0, 0], y * depth / to_clip[1, 1], -depth, np.ones_like(depth)], -1)
    places = (seen @ np.linalg.inv(to_camera))[:, :3]
    clip = np.concatenate([places, np.ones((len(places), 1))], 1) @ to_ndc
    np.testing.assert_allclose(clip[:, :2] / clip[:, 3:], np.stack([x, y], -1), atol=1e-4)
    on_floor = np.abs(places[:, 1]) < 1e-4
    off_box = np.abs(np.abs(places - (0.25, 0.3, 0.3)).max(1) - 0.1)
    assert on_floor.sum() > 1000 and (~on_floor).sum() >= 20
    assert off_box[~on_floor].max() < 0.02  # half a pixel: its depth is that of one sample, off the middle


def test_an_exr_of_what_was_drawn(tmp_path: Path, drawn: FrameRenderer, scene: gf.Scene) -> None:
    path = write_picture(tmp_path / "a.exr", drawn)
    channels = OpenEXR.File(str(path), separate_channels=True).channels()
    hdr = drawn.read_hdr()
    assert np.array_equal(channels["A"].pixels, hdr[..., 3].astype(np.float16))
    assert np.array_equal(channels["R"].pixels, hdr[..., 0].astype(np.float16))
    assert np.isfinite(channels["Z"].pixels).all()
    with pytest.raises(gf.GpufluidError, match="a PNG holds no motion"):
        write_picture(tmp_path / "a.png", drawn, motion=np.zeros((40, 60, 2)))
    with pytest.raises(gf.GpufluidError, match=r"must end in \.png or \.exr"):
        write_picture(tmp_path / "a.jpg", drawn)


def test_depth_is_that_of_the_scene(drawn: FrameRenderer, scene: gf.Scene) -> None:
    """Each pixel's depth, taken back along its ray, lies on the floor, on the box, or nowhere."""
    depth = drawn.read_depth().astype(np.float64)
    rays = view_of(scene.camera, 60 / 40).rays
    x, y = np.meshgrid((np.arange(60) + 0.5) / 30 - 1, 1 - (np.arange(40) + 0.5) / 20)
    picture = np.stack([np.ones_like(x), x, y], -1)
    there = np.isfinite(depth)
    assert not there[:8].any(), "nothing stands above the horizon"
    assert there[30:, 15:45].all()
    place = (picture @ rays.origin + depth[..., None] * (picture @ rays.direction))[there]
    on_floor = np.abs(place[:, 1]) < 2e-3
    in_box = (np.abs(place - (0.25, 0.3, 0.3)) < 0.1 + 2e-2).all(1)
    assert (on_floor | in_box).mean() > 0.995
    assert in_box.sum() > 20
    assert on_floor.sum() > 500
    # a solid is sampled somewhere in the pixel, which is 4 cm wide, and its front leans by 20 degrees
    off = np.abs(np.abs(place - (0.25, 0.3, 0.3)).max(1) - 0.1)[in_box & ~on_floor]
    assert np.median(off) < 0.01


# -- motion --------------------------------------------------------------------------------------------


def puff(velocity: tuple[float, float, float], center: tuple[float, float, float]) -> gf.Fluid:
    """A dense ball of smoke that moves as one, on NumPy."""
    grid = gf.Grid((24, 20, 16), 0.05, (-0.6, -0.5, -0.4))
    fluid = gf.Fluid(grid, backend="numpy")
    z, y, x = np.meshgrid(
        *((np.arange(n) + 0.5) * 0.05 + o for n, o in ((16, -0.4), (20, -0.5), (24, -0.6))), indexing="ij"
    )
    distance = np.sqrt((x - center[0]) ** 2 + (y - center[1]) ** 2 + (z - center[2]) ** 2)
    fluid.density.write(np.where(distance < 0.2, 5.0, 0.0))
    fluid.velocity.write(np.broadcast_to(velocity, fluid.velocity.read().shape))
    return fluid


CAMERAS = {
    "front": gf.Camera(distance=3.0, elevation=0.0),
    "aside": gf.Camera(distance=2.5, azimuth=70.0, elevation=30.0),
    "parallel": (
        view_of(gf.Camera(distance=3.0, azimuth=-40.0), 1.5).view,
        np.array([[0.8, 0, 0, 0], [0, 1.2, 0, 0], [0, 0, -0.2, -1.0], [0, 0, 0, 1.0]]),
    ),
}


@pytest.mark.parametrize("name", CAMERAS)
def test_motion_of_a_puff_is_where_its_picture_goes(name: str) -> None:
    """Its pixels move as the near side of the puff does through the camera's matrices."""
    size, dt, velocity = (90, 60), 0.1, np.array([0.6, 0.9, -0.5])
    view = view_of(CAMERAS[name], 1.5)
    fluid = puff(tuple(velocity), (0.0, 0.0, 0.0))
    motion = motion_of(fluid, view, size, dt)
    seen = (motion != 0.0).any(-1)
    assert 100 < seen.sum() < 2000
    clip = view.clip.astype(np.float64)

    def pixel(place: Any) -> np.ndarray:
        at = clip @ (*place, 1.0)
        return at[:2] / at[3] * (45.0, 30.0)

    # what is seen is the near side of the ball, about its radius in front of the middle
    towards = -view.rays.forward if view.is_perspective else view.rays.direction[0] * -1.0
    start = 0.18 * towards / np.linalg.norm(towards)
    expected = pixel(start + dt * velocity) - pixel(start)
    rows, columns = np.nonzero(seen)
    middle = (np.hypot(rows - 29.5, columns - 44.5)) < 4
    got = motion[rows[middle], columns[middle]].mean(0)
    assert np.linalg.norm(expected) > 1.0
    assert got == pytest.approx(expected, abs=0.06 * np.linalg.norm(expected))
    # a camera that moves on: the same place, seen by the next
    later = view_of(gf.Camera((0.1, 0.0, 0.0), 2.0, azimuth=15.0), 1.5)
    clip = later.clip.astype(np.float64)
    then = pixel(start + dt * velocity)
    clip = view.clip.astype(np.float64)
    way = motion_of(fluid, view, size, dt, later=later)[rows[middle], columns[middle]].mean(0)
    assert way == pytest.approx(then - pixel(start), abs=0.06 * np.linalg.norm(then - pixel(start)))
    assert np.linalg.norm(way - got) > 3.0
    if not view.is_perspective:
        assert np.ptp(motion[seen], axis=0).max() < 1e-3, "with parallel rays all of it moves alike"


def test_motion_of_what_is_seen_first() -> None:
    """Two puffs, one behind the other, of which the near one hides the far one; and a wall hides both."""
    camera = gf.Camera(distance=3.0, elevation=0.0)
    fluid = puff((0.0, 0.0, 0.0), (0.0, 0.0, 0.2))
    far = puff((0.0, 0.0, 0.0), (0.0, 0.0, -0.2))
    fluid.density.write(fluid.density.read() + far.density.read())
    velocity = np.zeros(fluid.velocity.read().shape)
    velocity[9:, ..., 0], velocity[:8, ..., 1] = 1.0, 1.0
    fluid.velocity.write(velocity)
    middle = motion_of(fluid, camera, (31, 31), 0.1)[15, 15]
    assert middle[0] > 0.5
    assert abs(middle[1]) < 1e-6
    # a wall between the camera and the box leaves nothing of them, and so does smoke that hides nothing
    assert not motion_of(fluid, camera, (31, 31), 0.1, depth=np.full((31, 31), 2.0)).any()
    assert not motion_of(fluid, camera, (31, 31), 0.1, extinction=0.0).any()


@pytest.mark.parametrize(("fade", "edge"), [(0.0, 0.0), (0.6, 0.0), (0.6, 0.9)])
@pytest.mark.parametrize("extinction", [0.05, 1.0, 8.0])
def test_motion_is_that_of_the_middle_of_what_hides(extinction: float, fade: float, edge: float) -> None:
    """In even smoke, 0.8 m deep, which moves the faster the nearer it is; in front it thins out."""
    grid = gf.Grid((24, 20, 16), 0.05, (-0.6, -0.5, -0.4))
    fluid = gf.Fluid(grid, gf.Boundaries(front=gf.Open()), backend="numpy")
    fluid.density.write(np.ones(fluid.density.read().shape))
    z = np.linspace(-0.4, 0.4, 17)
    velocity = np.zeros(fluid.velocity.read().shape)
    velocity[..., 0] = np.clip(z + 0.025, -0.375, 0.375)[:, None, None]  # of the cell behind each face
    fluid.velocity.write(velocity)
    front = np.eye(4)
    front[2, 3] = -3.0
    view = view_of((front, CAMERAS["parallel"][1]), 1.5)
    motion = motion_of(fluid, view, (30, 20), 0.1, extinction=extinction, fade=fade, edge=edge)
    behind = np.linspace(0.0, 0.8, 8001)  # m, the near side
    share = np.clip(behind / fade, 0.0, 1.0) if fade else np.ones(8001)
    shown = share * share * (3.0 - 2.0 * share)
    share = np.clip(shown / edge, 0.0, 1.0) if edge else np.ones(8001)
    optical = extinction * np.cumsum(shown * share * share * (3.0 - 2.0 * share)) * 1e-4
    middle = behind[np.searchsorted(-np.expm1(-optical), -0.5 * np.expm1(-optical[-1]))]
    moved = 0.1 * (0.4 - middle) * 0.8 * 15
    assert motion[10, 15] == pytest.approx([moved, 0.0], abs=0.03 if edge else 0.02 if fade else 0.01)


def test_optical_depths_of_known_cells() -> None:
    """Along x through cells that lose 1, 2, 3, 4 a metre; the middles of its steps lie at 1.1, 2.1, 3.1."""
    loss = np.arange(1.0, 5.0, dtype=np.float32).reshape(1, 1, 4) * np.ones((2, 3, 1), np.float32)
    start, step = np.array([[0.6, 1.5, 0.5]]), np.array([[1.0, 0.2, 0.1]])
    assert _optical_depths(loss, start, step, np.array([0.5]), 3)[:, 0].tolist() == [1.0, 2.5, 4.5]


def test_trilinear_is_linear_between_centres(rng: np.random.Generator) -> None:
    z, y, x = np.mgrid[:4, :5, :6] + 0.5
    values = np.stack([2 * x - y + 3 * z, x], -1)
    places = rng.uniform(0.5, (5.5, 4.5, 3.5), (50, 3))
    got = trilinear(values, places)
    assert got[:, 0] == pytest.approx(places @ (2.0, -1.0, 3.0))
    assert got[:, 1] == pytest.approx(places[:, 0])
    assert trilinear(values, np.array([[-3.0, 0.0, 9.0]]))[0, 1] == 0.5
    assert trilinear(np.ones((1, 1, 1)), places) == pytest.approx(np.ones(50))


# -- numbered pictures ---------------------------------------------------------------------------------


def test_a_sidecar_tells_of_the_frames(tmp_path: Path, scene: gf.Scene) -> None:
    about = describe(scene, (8, 6), 24.0)
    folder, seen = tmp_path / "frames", []
    with FrameFolder(folder, about=about) as frames:
        for _ in range(3):
            frames.write(np.zeros((6, 8, 4), np.uint16))
            seen.append(json.loads((folder / "frames.json").read_text())["frames"])
            assert not json.loads((folder / "frames.json").read_text())["complete"]
    assert seen == [1, 2, 3], "a crash now would leave a wrong count"
    told = json.loads((folder / "frames.json").read_text())
    assert (told["frames"], told["complete"], told["fps"], told["size"]) == (3, True, 24.0, [8, 6])
    assert (told["first"], told["last"]) == ("frame_0001.png", "frame_0003.png")
    assert (told["title"], told["gpufluid"], told["dt"]) == ("A ball", gf.__version__, scene.dt)
    assert told["settings"]["pressure"] == {
        "solver": "Jacobi",
        "iterations": 40,
        "weight": 1.0,
        "tolerance": None,
    }
    assert told["grid"]["cells"] == [16, 16, 16]
    assert sorted(p.name for p in folder.iterdir()) == [f"frame_000{n}.png" for n in (1, 2, 3)] + [
        "frames.json"
    ]


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_a_sidecar_of_an_interrupted_film(tmp_path: Path, error: type[BaseException]) -> None:
    folder = tmp_path / "frames"
    with FrameFolder(folder, about={}) as frames:
        for _ in range(4):
            frames.write(np.zeros((6, 8, 3), np.uint8))
    with pytest.raises(error), FrameFolder(folder, about={"title": "again"}, overwrite=True) as frames:
        frames.write(np.ones((6, 8, 3), np.uint8))
        raise error
    told = json.loads((folder / "frames.json").read_text())
    assert (told["title"], told["frames"], told["complete"]) == ("again", 1, False)
    assert sorted(p.name for p in folder.iterdir()) == ["frame_0001.png", "frames.json"]


def test_numbered_exr_pictures(tmp_path: Path, rng: np.random.Generator) -> None:
    folder, picture = tmp_path / "frames", rng.random((4, 5, 4))
    with FrameFolder(folder) as frames:
        frames.write(np.zeros((6, 8, 3), np.uint8))
    with FrameFolder(folder, suffix=".exr", overwrite=True) as frames:
        frames.write(picture, depth=np.ones((4, 5)))
        frames.write(picture)
    assert sorted(p.name for p in folder.iterdir()) == ["frame_0001.exr", "frame_0002.exr"]
    file = OpenEXR.File(str(folder / "frame_0001.exr"), separate_channels=True)
    assert set(file.channels()) == {"R", "G", "B", "A", "Z"}
    with pytest.raises(gf.GpufluidError, match="holds 2 numbered pictures already"):
        FrameFolder(folder)
    with pytest.raises(gf.GpufluidError, match=r"end in \.png or \.exr, not in '\.jpg'"):
        FrameFolder(tmp_path / "other", suffix=".jpg")
