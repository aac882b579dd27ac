"""What the command writes: read back by other libraries, refused early, kept when it breaks off."""

from __future__ import annotations

import io
import json
import os
import sys
import textwrap
import threading
import time
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import av
import numpy as np
import OpenEXR
import pytest
from driver import python
from PIL import Image
from test_volumes import needs_openvdb, read_vdb

import gpufluid as gf
from gpufluid.app.cli import main
from gpufluid.app.outputs import Outputs
from gpufluid.app.play import play
from gpufluid.io import background
from gpufluid.io.background import Background
from gpufluid.render.six_way import SixWay

pytestmark = pytest.mark.usefixtures("one_context")
CELLS = (8, 12, 8)
BOX = """
[[containers]]
grid = {{ cells = [8, 12, 8], cell_size = 0.1, origin = [{x}, 0.0, 0.0] }}
[[containers.emitters]]
shape = {{ kind = "sphere", center = [{center}, 0.3, 0.4], radius = 0.25 }}
density = 9.0
temperature = 1.0
velocity = [0.5, 1.0, 0.0]
"""
LOOK = """
dt = 0.05
floor = 0.0
[camera]
target = [0.4, 0.6, 0.4]
distance = 2.5
[picture]
size = [48, 32]
slices = 16
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with scenes of one box and of two in it, and without a display."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    (tmp_path / "one.toml").write_text(LOOK + BOX.format(x=0.0, center=0.4))
    (tmp_path / "two.toml").write_text(LOOK + BOX.format(x=0.0, center=0.4) + BOX.format(x=1.0, center=1.4))
    return tmp_path


def names(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def words(text: str) -> list[str]:
    return text.split()


def ended(scene: str = "one.toml", frames: int = 2) -> gf.Scene:
    """The scene as the command has left it."""
    made = gf.Scene.load(scene)
    for _ in range(frames):
        made.advance()
    return made


def test_linear_pictures_with_depth_and_motion(folder: Path) -> None:
    assert main(words("run one.toml --frames 2 -o fr --format exr --motion")) == 0
    assert names(folder / "fr") == ["frame_0001.exr", "frame_0002.exr", "frames.json"]
    told = json.loads((folder / "fr/frames.json").read_text())
    assert (told["frames"], told["complete"], told["last"], told["size"]) == (
        2,
        True,
        "frame_0002.exr",
        [48, 32],
    )
    file = OpenEXR.File("fr/frame_0002.exr", separate_channels=True)
    channels = {name: channel.pixels for name, channel in file.channels().items()}
    assert set(channels) == {"R", "G", "B", "A", "Z", "forward.u", "forward.v"}
    assert channels["R"].dtype == np.float16 and channels["Z"].dtype == np.float32
    assert channels["Z"].max() == pytest.approx(1e10) and 0.1 < channels["Z"].min() < 5.0
    moves = channels["forward.u"] ** 2 + channels["forward.v"] ** 2 > 0.0
    assert 20 < moves.sum() < moves.size // 2, "the smoke moves, the rest does not"
    # it flows to the right and up, 0.05 s at 1 m/s of a picture that is about 2 m high
    assert 0.1 < channels["forward.u"].max() < 2.0 and 0.1 < channels["forward.v"].max() < 2.0
    # smoke that fades out of the picture has no motion there
    one = BOX.replace("\n[[containers.e", "\nsides = {{ top = {{ kind = 'open' }} }}\n[[containers.e", 1)
    (folder / "one.toml").write_text(LOOK + "[smoke]\nfade = 1e4\n" + one.format(x=0.0, center=0.4))
    assert main(words("run one.toml --frames 2 -o fades --format exr --motion")) == 0
    file = OpenEXR.File("fades/frame_0002.exr", separate_channels=True)
    assert not any(file.channels()[f"forward.{axis}"].pixels.any() for axis in "uv")
    assert main(words("run one.toml --frames 1 -o last.exr --bits 32")) == 0
    file = OpenEXR.File("last.exr", separate_channels=True)
    assert file.channels()["G"].pixels.dtype == np.float32


def test_pictures_of_16_bits(folder: Path) -> None:
    assert main(words("run one.toml --frames 2 -o fr --bits 16 --transparent")) == 0
    assert main(words("run one.toml --frames 2 -o last.png --bits 16")) == 0
    assert main(words("run one.toml --frames 2 -o film.mov --bits 16")) == 0
    for path, channels in ((folder / "fr/frame_0002.png", 4), (folder / "last.png", 3)):
        assert path.read_bytes()[24] == 16  # IHDR's bit depth
        with Image.open(path) as picture:
            assert (picture.size, len(picture.getbands())) == ((48, 32), channels)
    with av.open("last.png") as file:
        deep = next(file.decode(video=0)).to_ndarray(format="rgb48le")
    assert len(np.unique(deep)) > 300, "of 256 values"
    with av.open("film.mov") as film:
        assert len(list(film.decode(video=0))) == 2


@needs_openvdb
def test_a_volume_a_frame_for_blender(folder: Path) -> None:
    assert (
        main(
            [
                "run",
                "one.toml",
                "--frames",
                "2",
                "--volumes",
                "vol",
                "--up",
                "z",
                "--fields",
                "density,velocity",
            ]
        )
        == 0
    )
    assert names(folder) == ["one.toml", "two.toml", "vol"], "there is a film, too"
    assert names(folder / "vol") == ["volume.json", "volume_0001.vdb", "volume_0002.vdb"]
    arrays, about = read_vdb(folder / "vol/volume_0002.vdb", (8, 8, 12))
    assert {"density", "velocity"} == {name for name in about if name}
    scene = ended()
    density = scene.fluid.density.read()
    assert density.max() > 0.3
    np.testing.assert_allclose(arrays["density"], density.swapaxes(0, 1)[:, ::-1], rtol=1e-3, atol=2e-4)
    assert about[""]["time"] == repr(scene.fluid.time)
    told = json.loads((folder / "vol/volume.json").read_text())
    assert told["frames"] == 2 and told["complete"] and told["grid"]["cells"] == list(CELLS)
    assert told["up"] == "z" and told["fields"] == {"density": "1", "velocity": "m/s"}
    assert "size" not in told
    scene.release()


def test_volumes_of_several_boxes_for_paraview_and_numpy(folder: Path) -> None:
    assert main(words("run two.toml --frames 2 --volumes vol --volume-format vti")) == 0
    assert names(folder / "vol") == [
        *("box1.json", "box1_0001.vti", "box1_0002.vti"),
        *("box2.json", "box2_0001.vti", "box2_0002.vti"),
    ]
    origins = []
    for number in (1, 2):
        raw = (folder / f"vol/box{number}_0002.vti").read_bytes()
        head = ElementTree.fromstring(raw[: raw.index(b"<AppendedData")] + b"</VTKFile>")
        origins.append(head.find("ImageData").get("Origin"))  # type: ignore[union-attr]
    assert origins == ["0.0 0.0 0.0", "1.0 0.0 0.0"]
    assert json.loads((folder / "vol/box2.json").read_text())["grid"]["origin"][0] == 1.0
    assert (
        main(
            ["run", "two.toml", "--frames", "1", "--volumes", "vol", "--volume-format", "npz", "--overwrite"]
        )
        == 0
    )
    assert names(folder / "vol") == ["box1.json", "box1_0001.npz", "box2.json", "box2_0001.npz"]
    scene = ended("two.toml", 1)
    with np.load("vol/box2_0001.npz") as file:
        np.testing.assert_array_equal(file["density"], scene.fluids[1].density.read())
    scene.release()


def test_sheets_for_games(folder: Path) -> None:
    words = (
        "run one.toml --frames 5 --size 24x16 --flip-book fb.png --flow-map fm.png --columns 2 --transparent"
    )
    assert main(words.split()) == 0
    assert names(folder) == ["fb.json", "fb.png", "fm.json", "fm.png", "one.toml", "two.toml"]
    told = json.loads(Path("fb.json").read_text())
    assert (told["frames"], told["rows"], told["columns"], told["alpha"]) == (5, 3, 2, "straight")
    sheet = np.asarray(Image.open("fb.png"))
    assert sheet.shape == (48, 48, 4)
    assert sheet[32:, :24, 3].max() > 100 and not sheet[32:, 24:].any(), "the sixth place is empty"
    flow = json.loads(Path("fm.json").read_text())
    assert flow["frames"] == 5 and flow["scale"] > 0.5
    up = (np.asarray(Image.open("fm.png"))[24:, :8, 1].astype(float) - flow["zero"]) * flow["scale"] / 127
    assert up.shape == (12, 8) and up.max() > 0.5
    assert (
        main(
            ["run", "one.toml", "--frames", "1", "--flow-map", "side.png", "--flow-axis", "y", "--bits", "16"]
        )
        == 0
    )
    assert Image.open("side.png").size == (8, 8) and Path("side.png").read_bytes()[24] == 16


def test_six_way_lightmaps_for_games(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = "run one.toml --frames 3 --size 24x16 --six-way lit.png --columns 2"
    assert main(words.split()) == 0
    assert names(folder) == ["lit.json", "lit_lbf.png", "lit_rtb.png", "one.toml", "two.toml"]
    assert "lit_rtb.png (3 frames, six-way lightmaps with lit_lbf.png)" in capsys.readouterr().out
    told = json.loads(Path("lit.json").read_text())
    assert (told["frames"], told["rows"], told["columns"], told["title"]) == (3, 2, 2, "one")
    scene = ended("one.toml", 3)
    look = scene.picture
    with SixWay(scene.fluid.ctx, (24, 16), slices=look.slices, method=look.drawn_by) as drawn:
        maps = drawn.draw(scene)
    for n, name in enumerate(told["pictures"]):
        sheet = np.asarray(Image.open(name)).astype(float)
        assert sheet.shape == (32, 48, 4) and not sheet[16:, 24:].any(), "the fourth place is empty"
        scale = np.array([told["scale"]] * 3 + [(1.0, told["emissive_scale"])[n]])
        expected = np.clip(maps[..., 4 * n : 4 * n + 4] / scale, 0.0, 1.0)
        np.testing.assert_allclose(sheet[16:, :24] / 255, expected, atol=0.7 / 255)
    scene.release()


def test_a_flow_map_that_fits_the_flip_book(folder: Path) -> None:
    """Place for place, and the motion that an EXR of the same frame has, in pixels."""
    words = "run one.toml --frames 5 --size 24x16 --flip-book fb.png --flow-map fm.png --flow-axis camera"
    assert main([*words.split(), "-o", "fr", "--format", "exr", "--motion"]) == 0
    book, flow = (json.loads(Path(f"{name}.json").read_text()) for name in ("fb", "fm"))
    for key in ("frames", "rows", "columns", "frame_width", "frame_height", "fps"):
        assert book[key] == flow[key]
    assert flow["unit"] == "pixels"
    sheet = np.asarray(Image.open("fm.png")).astype(float)
    assert sheet.shape[:2] == np.asarray(Image.open("fb.png")).shape[:2]
    motion = (sheet[..., :2] - flow["zero"]) * flow["scale"] / (flow["most"] - flow["zero"])
    for n in range(5):
        row, column = divmod(n, flow["columns"])
        channels = OpenEXR.File(f"fr/frame_{n + 1:04d}.exr", separate_channels=True).channels()
        there = np.stack([channels[f"forward.{c}"].pixels for c in "uv"], -1)
        mine = motion[16 * row : 16 * row + 16, 24 * column : 24 * column + 24]
        # half a step of 8 bits, and of a half float
        np.testing.assert_allclose(mine, there, atol=flow["scale"] / 253, rtol=2**-11)
    assert np.abs(there).max() > 0.3 * flow["scale"]


def test_motion_with_a_camera_that_moves(folder: Path) -> None:
    """Smoke at rest moves through the picture as the cameras of this frame and the next see it."""
    Path("turns.toml").write_text(
        "dt = 0.1\n[grid]\ncells = [16, 16, 16]\ncell_size = 0.0625\norigin = [-0.5, 0.0, -0.5]\n"
        "[settings]\nsolve_velocity = false\n"
        '[[emitters]]\nshape = { kind = "sphere", radius = 0.08 }\n'
        "position = [0.2, 0.5, 0.1]\ndensity = 40.0\n"
        '[camera]\ntarget = { formula = ["0.8 * t", "0.5", "0.0"] }\nelevation = 0.0\n'
        'distance = { keys = [[0, 3], [1, 2]] }\nazimuth = { formula = "359 + 10 * t" }\n'
    )
    words = "run turns.toml --frames 4 --size 96x64 -o fr --format exr --motion"
    assert main(words.split()) == 0
    files = [OpenEXR.File(f"fr/frame_{n:04d}.exr", separate_channels=True) for n in (2, 3, 4)]

    def pixel(file: Any, towards: np.ndarray, near: float) -> np.ndarray:
        """Where a place is seen that is `near` metres in front of the middle of the smoke."""
        at = np.append((0.2, 0.5, 0.1) + near * towards, 1.0) @ file.header()["worldToNDC"]
        return at[:2] / at[3] * (48.0, 32.0)

    for here, there in pairwise(files):
        towards = here.header()["worldToCamera"][:3, 2]  # a camera looks along its -z
        x, y = pixel(here, towards, 0.0)
        got = here.channels()["forward.u"].pixels[int(32.0 - y), int(48.0 + x)]
        least, most = (pixel(there, towards, near) - pixel(here, towards, near) for near in (0.0, 0.25))
        assert most[0] < got < least[0] < -2.5, "the near side of the smoke lies between"


def test_motion_of_a_solid_that_moves(folder: Path) -> None:
    """A box that goes 0.1 m a frame beside smoke, as EXR pictures and a flow map tell, the last alone too."""
    Path("moves.toml").write_text(
        (LOOK + BOX.format(x=0.0, center=0.4)).replace("floor = 0.0", "")
        + '[[containers.obstacles]]\nshape = { kind = "box", size = [0.3, 0.3, 0.2] }\n'
        'position = { formula = ["0.2 + 2 * t", "1.0", "0.7"] }\n'
    )
    words = "run moves.toml --frames 3 --format exr --motion -o fr --flow-map fm.png --flow-axis camera"
    assert main(words.split()) == 0
    assert main(["run", "moves.toml", "--frames", "3", "--motion", "-o", "last.exr"]) == 0
    seen = [
        OpenEXR.File(name, separate_channels=True).channels() for name in ("fr/frame_0003.exr", "last.exr")
    ]
    assert np.array_equal(*(one["forward.u"].pixels for one in seen))
    u, z = (seen[0][name].pixels for name in ("forward.u", "Z"))
    on = z < 1e9
    assert on.sum() > 20
    focal = 16.0 / np.tan(np.radians(17.5))
    front = u[on & (z < z.min() + 0.15)].astype(float)
    assert front.min() > 0.1 * focal / (z.min() + 0.4) and front.max() < 0.1 * focal / z.min() * 1.02
    flow = json.loads(Path("fm.json").read_text())
    assert flow["scale"] >= front.max()


BAD = [
    ("-o a.mp4 --format exr", "format goes with numbered pictures"),
    ("-o fr --format tiff", "format must be one of 'png', 'exr', got 'tiff'"),
    ("--format exr", "format goes with numbered pictures"),
    ("-o fr --motion", "motion goes with EXR pictures"),
    ("-o a.mp4 --bits 16", "a.mp4 has 8 bits a channel, not 16"),
    ("-o fr --bits 32", "a PNG picture has 8 or 16 bits a channel, not 32"),
    ("-o fr --format exr --bits 8", "an EXR picture has 16 or 32 bits a channel, not 8"),
    ("-o fr --bits 12", "bits must be one of 8, 16, 32, got 12"),
    ("--volumes vol --bits 16", "bits go with pictures, films and sheets"),
    ("--volume-format vti", "volume_format goes with volumes"),
    ("--volumes vol --volume-format vdbb", "did you mean 'vdb'?"),
    ("--volumes vol --fields density,temprature", "did you mean 'temperature'?"),
    ("--volumes vol --up x", "up must be one of 'y', 'z', got 'x'"),
    ("--volumes missing/vol", "missing/vol: the folder missing does not exist"),
    ("--volumes one.toml", "one.toml: is a file; a folder of numbered volumes needs another name"),
    ("--volumes old", "old: holds 1 numbered volume already; choose another name"),
    ("--flip-book a.jpg", "a.jpg: the name must end in .png"),
    ("--flip-book taken.png", "taken.png: exists already"),
    ("--flow-map told.png", "told.json: exists already"),
    ("--flow-map a.png --flow-axis w", "flow_axis must be one of"),
    ("--flow-map a.png --flip-book a.png", "two outputs cannot have one name, a.png"),
    ("--save a.mp4 -o a.mp4", "two outputs cannot have one name, a.mp4"),
    ("--save ./a.png -o a.png", "two outputs cannot have one name, a.png"),
    ("--save a.json --flip-book a.png", "two outputs cannot have one name, a.json"),
    ("--columns 3", "columns go with a flip book, a flow map or six-way lightmaps"),
    ("--six-way a.jpg", "a.jpg: the name must end in .png"),
    ("--six-way told.png", "told.json: exists already"),
    ("--six-way lit.png", "lit_lbf.png: exists already"),
    ("--six-way a.png --flip-book a_rtb.png", "two outputs cannot have one name, a_rtb.png"),
    ("--six-way a.png --volumes a_rtb.png", "two outputs cannot have one name, a_rtb.png"),
    ("-o a.mp4 --volumes a.mp4", "two outputs cannot have one name, a.mp4"),
    ("--six-way a.png --bits 32", "a sheet has 8 or 16 bits a channel, not 32"),
    ("--six-way a.png --frames 3000", "is over 16384 a side"),
    ("--flip-book a.png --frames 3000", "is over 16384 a side"),
    ("-o old/ --format exr", "old: holds 1 numbered picture already"),
]


@pytest.mark.parametrize(("options", "message"), BAD, ids=[options for options, _ in BAD])
def test_what_cannot_be_is_refused_early(
    folder: Path, capsys: pytest.CaptureFixture[str], options: str, message: str
) -> None:
    (folder / "old").mkdir()
    for name in ("old/volume_0001.vdb", "old/frame_0001.png", "taken.png", "told.json", "lit_lbf.png"):
        (folder / name).write_text("mine")
    before = names(folder), names(folder / "old")
    assert main(["run", "one.toml", "--size", "400x300", *options.split()]) == 2
    told = capsys.readouterr()
    assert told.err.startswith("gpufluid: error: ") and told.err.count("\n") == 1
    assert message in told.err
    assert (names(folder), names(folder / "old")) == before


def test_a_script_need_not_print_what_it_wrote(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe on Windows has no letters but its country's, and a program without a console has no streams."""
    (folder / "\u7159").mkdir()  # smoke, in Chinese
    monkeypatch.chdir(folder / "\u7159")
    pipe = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    monkeypatch.setattr(sys, "stdout", pipe)
    wanted = Outputs(still="last.png", save="state.fluid", flow_map="flow.png")
    play(gf.Scene.load("../one.toml"), wanted, name="one", frames=1)
    pipe.seek(0)
    told = pipe.read().splitlines()
    assert len(told) == 3 and all("\\u7159" in line for line in told)

    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    play(gf.Scene.load("../one.toml"), Outputs(still="unseen.png"), name="one", frames=1)
    assert names(Path()) == ["flow.json", "flow.png", "last.png", "state.fluid", "unseen.png"]


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX pipes")
@pytest.mark.parametrize(
    "options",
    ["--save pipe", "-o pipe.mp4", "-o pipe.png", "-o fr --flip-book pipe.png", "-o pipe.exr", "-o link.png"],
)
def test_overwriting_is_for_files(folder: Path, capsys: pytest.CaptureFixture[str], options: str) -> None:
    """A device or a pipe, as /dev/null is one, was replaced by a file."""
    for name in ("pipe", "pipe.mp4", "pipe.png", "pipe.exr"):
        os.mkfifo(name)
    (folder / "link.png").symlink_to("pipe.png")
    before = names(folder)
    assert main(words(f"run one.toml --frames 1 --overwrite {options}")) == 2
    assert "is no plain file, but a pipe or a device; choose another name" in capsys.readouterr().err
    assert names(folder) == before and (folder / "pipe.png").is_fifo() and (folder / "link.png").is_symlink()


def test_a_missing_package_is_named_early(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "OpenEXR", None)
    assert main(words("run one.toml -o fr --format exr")) == 2
    assert "needs the package 'OpenEXR': pip install" in capsys.readouterr().err
    assert names(folder) == ["one.toml", "two.toml"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_cut_short_all_hold_the_frames_before(folder: Path, error: type[BaseException]) -> None:
    def scene() -> gf.Scene:
        def update(scene: gf.Scene, time: float) -> None:
            if scene.frame == 3:
                raise error

        made = gf.Scene.load("one.toml")
        made.update = update
        return made

    wanted = Outputs(out="fr", volumes="vol", flip_book="fb.png", volume_format="npz")
    with pytest.raises(error):
        play(scene, wanted, name="cut", frames=9, progress=False)
    assert names(folder / "fr") == [*(f"frame_000{n}.png" for n in (1, 2, 3)), "frames.json"]
    assert names(folder / "vol") == ["volume.json", *(f"volume_000{n}.npz" for n in (1, 2, 3))]
    for told in (folder / "fr/frames.json", folder / "vol/volume.json"):
        about = json.loads(told.read_text())
        assert (about["frames"], about["complete"]) == (3, False)
    assert json.loads(Path("fb.json").read_text())["frames"] == 3


@pytest.mark.skipif(sys.platform == "win32", reason="a limit on the size of files is POSIX")
def test_a_full_disk_keeps_the_volumes_before(folder: Path) -> None:
    """The volumes grow with the smoke; from some size on the disk takes no more."""
    code = """
        import resource, sys
        from gpufluid.app.cli import main
        resource.setrlimit(resource.RLIMIT_FSIZE, (2_850, 2_850))
        words = "run one.toml --frames 60 --volumes vol --volume-format npz --fields density -o fr"
        sys.exit(main(words.split()))
    """
    done = python("-c", textwrap.dedent(code), cwd=folder)
    assert done.returncode == 2
    last = done.stderr.strip().splitlines()[-1]
    assert "could not be written: File too large" in last
    told = json.loads((folder / "vol/volume.json").read_text())
    assert 1 <= told["frames"] < 60 and not told["complete"]
    assert f"; vol keeps {told['frames']} frame" in last
    kept = [f"volume_{n + 1:04d}.npz" for n in range(told["frames"])]
    assert names(folder / "vol") == ["volume.json", *kept], "something half-written is left"
    assert len(list((folder / "fr").glob("*.png"))) >= told["frames"], "the pictures are lost"


# -- going on ------------------------------------------------------------------------------------------------

MOVING = """
[[containers.obstacles]]
shape = { kind = "knot", fit = 0.5 }
position = { formula = ["0.4 + 0.2 * sin(9 * t)", 0.7, 0.4] }
[[containers.obstacles]]
shape = { kind = "sphere", radius = 0.1 }
position = { keys = [[0.0, [0.4, 0.2, 0.4]], [1.0, [0.4, 1.2, 0.4]]] }
"""
STORY = """
import gpufluid as gf

def scene(ctx=None):
    fluid = gf.Fluid(gf.Grid((8, 12, 8), 0.1), ctx=ctx)
    source = fluid.emitters.add(gf.Emitter(gf.Sphere((0.4, 0.3, 0.4), 0.2), density=3.0, noise=0.5))
    made = gf.Scene(fluid, dt=0.05, picture=gf.Picture(size=(32, 24), slices=8))
    yield made
    for n in range(99):
        source.position = (0.03 * n, 0.0, 0.0)
        made.draw(gf.Sphere((0.4, 0.9, 0.4), 0.1), density=0.2, temperature=1.0)
        if n == 1:
            made.save_frame("told_again.png")
        yield from made.wait(0.1)
"""


@pytest.mark.parametrize("scene", ["moving.toml", "story.py"])
def test_a_run_goes_on_with_the_same_bits(folder: Path, scene: str) -> None:
    """Two boxes with solids on their way, and a script that is in the middle of its story."""
    boxes = BOX.format(x=0.0, center=0.4) + MOVING + BOX.format(x=1.0, center=1.4)
    (folder / "moving.toml").write_text(LOOK + boxes)
    (folder / "story.py").write_text(STORY)
    assert main(words(f"run {scene} --frames 6 --save whole.fluid")) == 0
    assert main(words(f"run {scene} --frames 3 --save half.fluid")) == 0
    (folder / "told_again.png").unlink(missing_ok=True)
    assert main(words(f"run {scene} --frames 3 --resume half.fluid --save again.fluid --volumes vol")) == 0
    assert not (folder / "told_again.png").exists(), "a picture of what was told again was written"
    more = ["-2"] if scene == "moving.toml" else []
    for number in ("", *more):
        again = (folder / f"again{number}.fluid").read_bytes()
        assert again == (folder / f"whole{number}.fluid").read_bytes()
        assert again != (folder / f"half{number}.fluid").read_bytes()
    assert len(list((folder / "vol").glob("*.vdb"))) == 3 * (1 + len(more))


CHOOSY = """
import gpufluid as gf

def scene(ctx=None, cells=(4, 6, 4)):
    fluid = gf.Fluid(gf.Grid(cells, 1.2 / cells[1]), ctx=ctx)
    fluid.emitters.add(gf.Emitter(gf.Sphere((0.4, 0.3, 0.4), 0.25), density=9.0, temperature=1.0))
    return gf.Scene(fluid, dt=0.05)
"""


@pytest.mark.parametrize("scene", ["one.toml", "choosy.py"])
def test_a_run_goes_on_in_the_cells_it_was_saved_in(folder: Path, scene: str) -> None:
    """Also where the scene has others, as on a machine with a GPU."""
    (folder / "choosy.py").write_text(CHOOSY)
    for told in ("", " --cells 6 9 6"):
        run = f"run {scene} --frames"
        assert main(words(f"{run} 4 --save whole.fluid --overwrite{told}")) == 0
        assert main(words(f"{run} 2 --save half.fluid --overwrite{told}")) == 0
        assert main(words(f"{run} 2 --resume half.fluid --save again.fluid --overwrite")) == 0
        assert (folder / "again.fluid").read_bytes() == (folder / "whole.fluid").read_bytes()


def test_every_box_goes_on_in_the_cells_it_was_saved_in(folder: Path) -> None:
    """Box by box; where one does not fit, the scene stays as it was."""
    halves, wholes = ("half.fluid", "half-2.fluid"), ("whole.fluid", "whole-2.fluid")
    scene = gf.Scene.load("two.toml", cells=[(8, 12, 8), (6, 9, 6)])
    for files in (halves, wholes):
        for _ in range(2):
            scene.advance()
        for fluid, file in zip(scene.fluids, files, strict=True):
            fluid.save(file)
    scene.release()
    assert main(words("run two.toml --frames 2 --resume half.fluid --save again.fluid")) == 0
    assert Path("again.fluid").read_bytes() == Path("whole.fluid").read_bytes()
    assert Path("again-2.fluid").read_bytes() == Path("whole-2.fluid").read_bytes()
    other = gf.Scene.load("two.toml")
    with pytest.raises(gf.GpufluidError, match="half-2.fluid: is of .*, which is not this fluid's"):
        other.resume(*halves)
    assert other.frame == 0 and other.time == other.fluid.time == 0.0
    other.release()


TURNING = """
import gpufluid as gf

def scene(ctx=None, nearer=1.0):
    fluid = gf.Fluid(gf.Grid((24, 8, 8), 0.1), ctx=ctx)
    fluid.emitters.add(gf.Emitter(gf.Sphere((1.2, 0.3, 0.4), 0.2), density=3.0))
    made = gf.Scene(fluid, dt=0.05, picture=gf.Picture(size=(32, 24), slices=8))
    made.camera.azimuth = 70.0
    yield made
    for n in range(9):
        made.camera.azimuth -= 10.0
        made.camera.distance *= nearer
        yield
"""


@pytest.mark.parametrize("options", ["", " --size 24x40", " --size 24x40 --set nearer=0.9"])
def test_a_camera_that_turns_goes_on_where_it_was(folder: Path, options: str) -> None:
    """Nobody has placed it: a run that goes on sees the box from as far away as a whole run does."""
    (folder / "turning.py").write_text(TURNING)
    run = "run turning.py --frames 3" + options
    assert main(words(f"{run} --frames 6 -o whole")) == 0
    assert main(words(f"{run} --save half.fluid -o parts")) == 0
    assert main(words(f"{run} --resume half.fluid -o parts")) == 0
    for picture in (folder / "whole").glob("*.png"):
        assert picture.read_bytes() == (folder / "parts" / picture.name).read_bytes(), picture.name


def test_numbers_go_on_where_a_run_goes_on(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In one folder both parts are what a whole run is; in another one the numbers are the same."""
    (folder / "box.toml").write_text(
        LOOK + "[[containers]]\ngrid = { cells = [4, 6, 4], cell_size = 0.2 }\n" * 2
    )
    run = "run box.toml --quiet"
    assert main(words(f"{run} --frames 5 -o whole --volumes all")) == 0
    assert main(words(f"{run} --frames 3 -o fr --volumes vol --save s.fluid")) == 0
    goes_on = f"{run} --frames 2 --resume s.fluid"
    assert main(words(f"{goes_on} -o fr --volumes vol")) == 0
    for one, other in (("whole", "fr"), ("all", "vol")):
        assert names(folder / one) == names(folder / other)
        for name in (
            name for name in names(folder / one) if not name.endswith("vdb")
        ):  # which have an id each
            assert (folder / one / name).read_bytes() == (folder / other / name).read_bytes(), name
    told = json.loads((folder / "fr/frames.json").read_text())
    assert (told["frames"], told["first"], told["last"]) == (5, "frame_0001.png", "frame_0005.png")
    assert told["complete"] and len(names(folder / "vol")) == 2 * (5 + 1)

    # what is there is not replaced unasked, and what comes before never
    capsys.readouterr()
    assert main(words(f"{goes_on} -o fr")) == 2
    assert "fr: holds 2 numbered pictures from number 4 on already" in capsys.readouterr().err
    assert main(words(f"{goes_on} --volumes vol")) == 2
    assert "vol: holds 2 numbered volumes from number 4 on already" in capsys.readouterr().err
    before = (folder / "fr/frame_0003.png").stat().st_mtime_ns
    again = f"{run} --frames 1 --resume s.fluid --overwrite"
    assert main(words(f"{again} -o fr")) == 0
    assert names(folder / "fr") == [*(f"frame_000{n}.png" for n in (1, 2, 3, 4)), "frames.json"]
    assert (folder / "fr/frame_0003.png").stat().st_mtime_ns == before

    assert main(words(f"{goes_on} -o new")) == 0
    assert names(folder / "new") == ["frame_0004.png", "frame_0005.png", "frames.json"]
    told = json.loads((folder / "new/frames.json").read_text())
    assert (told["frames"], told["first"], told["last"]) == (2, "frame_0004.png", "frame_0005.png")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            "-o fr --size 32x16",
            "with size [24, 16] in frames.json, and [32, 16] here",
        ),
        ("-o fr --fps 50", "fr: the numbered pictures there are of another film, with fps"),
        ("-o fr --set title='other'", "fr: the numbered pictures there are of another film, with title"),
        ("-o fr --bits 16", "fr: the numbered pictures there are of another film, with bits 8 in"),
        ("-o fr --transparent", "fr: the numbered pictures there are of another film, with transparent"),
        ("-o fr --format exr", "fr/frame_0002.png: numbered pictures go on as .exr here"),
        (
            "--volumes vol --up z",
            "vol: the numbered volumes there are of another film, with up y",
        ),
        ("--volumes vol --volume-format npz", "vol/volume_0002.vdb: numbered volumes go on as .npz here"),
        (
            "--volumes vol --fields density,velocity",
            "vol: the numbered volumes there hold other fields, density, temperature, velocity in "
            "volume.json, and density, velocity here",
        ),
    ],
)
def test_a_film_of_another_kind_does_not_go_on_unasked(
    folder: Path, capsys: pytest.CaptureFixture[str], options: str, message: str
) -> None:
    """It is refused before the first frame; a sidecar that is damaged refuses nothing."""
    run = "run one.toml --quiet --size 24x16"
    assert main(words(f"{run} --frames 2 -o fr --volumes vol --save s.fluid")) == 0
    goes_on = words(f"{run} --frames 1 --resume s.fluid {options}")
    before = names(folder / "fr"), names(folder / "vol")
    capsys.readouterr()
    assert main(goes_on) == 2
    told = capsys.readouterr().err
    assert message in told and "--overwrite" in told
    assert before == (names(folder / "fr"), names(folder / "vol"))
    if "exr" not in options and "npz" not in options:
        for sidecar in (folder / "fr/frames.json", folder / "vol/volume.json"):
            sidecar.write_text('{"size": 3, "grid": "')
        assert main(goes_on) == 0
        return
    assert main([*goes_on, "--overwrite"]) == 0


def test_volumes_of_some_fields_go_on_with_these_alone(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Unasked they hold what there is, which may come and go; the sidecar tells of all files."""
    run = "run one.toml --quiet --volume-format npz"
    assert main(words(f"{run} --frames 1 --volumes some --fields density --save s.fluid")) == 0
    goes_on = f"{run} --frames 1 --resume s.fluid --volumes some"
    capsys.readouterr()
    assert main(words(goes_on)) == 2
    said = "hold other fields, density in volume.json, and density, temperature, velocity and what else"
    assert said in capsys.readouterr().err
    assert main(words(f"{goes_on} --fields density")) == 0

    assert main(words(f"{run} --frames 1 --volumes all")) == 0
    told = json.loads((folder / "all/volume.json").read_text())
    told["fields"]["fuel"] = "1"  # as if there had been some
    (folder / "all/volume.json").write_text(json.dumps(told))
    assert main(words(f"{run} --frames 1 --resume s.fluid --volumes all")) == 0
    after = json.loads((folder / "all/volume.json").read_text())
    assert after["frames"] == 2 and after["fields"].keys() == told["fields"].keys()


def test_pictures_with_motion_do_not_go_on_without(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("OpenEXR")
    run = "run one.toml --quiet --size 24x16 --frames 1 --format exr -o fr"
    assert main(words(f"{run} --motion --save s.fluid")) == 0
    capsys.readouterr()
    assert main(words(f"{run} --resume s.fluid")) == 2
    assert "of another film, with motion True in frames.json, and False here" in capsys.readouterr().err
    assert main(words(f"{run} --motion --resume s.fluid")) == 0


def test_a_folder_may_begin_with_another_number(tmp_path: Path) -> None:
    grey = np.full((2, 2, 3), 99, np.uint8)
    with gf.FrameFolder(tmp_path / "fr", begin=12, about={}) as folder:
        folder.write(grey)
    assert names(tmp_path / "fr") == ["frame_0012.png", "frames.json"]
    with pytest.raises(gf.GpufluidError, match="begin must be a whole number >= 1, got 0"):
        gf.FrameFolder(tmp_path / "fr", begin=0)


def test_a_view_that_cannot_be_names_its_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    views = "views=[{kind='streamlines',seeds=[[9,9,9]]}]"
    assert main(["run", "two.toml", "--frames", "1", "-o", "a.png", "--set", views]) == 2
    assert "error: two.toml: Scene.views[0]: what it starts from lies in no box" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("one.toml --resume none.fluid -o a.mp4", "none.fluid: cannot be read: No such file"),
        ("one.toml --resume one.toml -o a.mp4", "one.toml: is no gpufluid checkpoint"),
        ("one.toml --resume state.fluid -o a.mp4 --cells 4 6 4", "which is not this fluid's"),
        ("two.toml --resume state.fluid -o a.mp4", "state-2.fluid: cannot be read"),
        (
            "one.toml --resume state.fluid -o a.mp4 --set containers.0.grid.cells=[9,12,8]",
            "which is not this fluid's: Grid(cells=(9, 12, 8), ",
        ),
        ("one.toml --resume state.fluid -o a.mp4 --set frames=1", "where this scene has ended"),
        (
            "one.toml --resume state.fluid -o a.mp4 --set frames=2",
            "one is over after 2 frames; of a longer duration",
        ),
        ("one.toml --resume state.fluid -o a.mp4 --set frames=2 --frames 9", "one is over after 2 frames"),
        ("one.toml --save state.fluid", "state.fluid: exists already"),
        ("one.toml --save missing/state.fluid", "the folder missing does not exist"),
    ],
)
def test_what_cannot_go_on_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], options: str, message: str
) -> None:
    assert main(words("run one.toml --frames 2 --save state.fluid")) == 0
    capsys.readouterr()
    assert main(["run", *options.split()]) == 2
    assert message in capsys.readouterr().err
    assert names(folder) == ["one.toml", "state.fluid", "two.toml"]


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_a_stop_waits_for_the_frame_whose_state_is_saved(folder: Path) -> None:
    """The step during which Ctrl-C comes is finished, so that the state is one to go on from."""
    code = """
        import os, signal, sys
        import gpufluid as gf
        from gpufluid.app.outputs import Outputs
        from gpufluid.app.play import play
        signal.signal(signal.SIGINT, signal.default_int_handler)
        def scene():
            made = gf.Scene.load("one.toml")
            made.update = lambda scene, time: scene.frame == 2 and os.kill(os.getpid(), signal.SIGINT)
            return made
        try:
            play(scene, Outputs(save="cut.fluid"), name="cut", frames=9, progress=False)
        except KeyboardInterrupt:
            sys.exit(130)
    """
    done = python("-c", textwrap.dedent(code), cwd=folder)
    assert done.returncode == 130
    assert main(words("run one.toml --frames 3 --save whole.fluid")) == 0
    assert (folder / "cut.fluid").read_bytes() == (folder / "whole.fluid").read_bytes()


# -- pictures that a story asks for --------------------------------------------------------------------------

SNAPS = """
import gpufluid as gf

def scene(ctx=None, frames=2):
    fluid = gf.Fluid(gf.Grid((8, 12, 8), 0.1), ctx=ctx)
    fluid.emitters.add(gf.Emitter(gf.Sphere((0.4, 0.3, 0.4), 0.2), density=9.0))
    camera = gf.Camera(target=(0.4, 0.6, 0.4), distance=2.5)
    made = gf.Scene(fluid, camera, dt=0.05, picture=gf.Picture(size=(32, 24)))
    yield made
    for _ in range(frames):
        yield
    made.save_frame("end.png")
    made.save_frame("again.png")
"""


@pytest.mark.parametrize("more", ["-o film.mp4", "-o pictures", "--volumes vol", "-o still.png"])
def test_a_picture_asked_for_last_is_written(folder: Path, more: str) -> None:
    """By the last statement of a story, after which no frame comes: it is of the scene as it is then."""
    (folder / "snaps.py").write_text(SNAPS)
    assert main(words(f"run snaps.py {more}")) == 0
    end, again = ((folder / name).read_bytes() for name in ("end.png", "again.png"))
    assert end == again
    if more == "-o pictures":
        assert end == (folder / "pictures/frame_0002.png").read_bytes()
    if more == "-o still.png":
        assert end == (folder / "still.png").read_bytes()


def test_a_picture_asked_for_last_shows_what_was_changed(folder: Path) -> None:
    (folder / "snaps.py").write_text(SNAPS + "    made.camera.elevation = 80.0\n")
    assert main(words("run snaps.py -o pictures")) == 0
    assert names(folder / "pictures") == ["frame_0001.png", "frame_0002.png", "frames.json"]
    assert (folder / "end.png").read_bytes() != (folder / "pictures/frame_0002.png").read_bytes()


@pytest.mark.parametrize("more", ["-o film.mp4", "-o pictures/", "--volumes vol", "--flip-book a.png", ""])
def test_a_story_without_frames_is_told(folder: Path, capsys: pytest.CaptureFixture[str], more: str) -> None:
    """Where there was nothing to write the command ended as if it had written it."""
    (folder / "none.py").write_text(SNAPS.replace("frames=2", "frames=0"))
    assert main(words(f"run none.py {more}")) == 2
    assert "none.py: the scene is over before its first frame: none was written" in capsys.readouterr().err
    left = {"again.png", "end.png", "none.py", "one.toml", "two.toml"}
    assert set(names(folder)) == left | (set() if more else {"none.png"})  # the picture of how it begins
    assert main(words("run none.py -o last.png")) == 0


# -- the thread behind ---------------------------------------------------------------------------------------


def test_work_behind_overlaps_is_bounded_and_keeps_its_order() -> None:
    behind, go, done = Background("test", waiting=2), threading.Event(), []
    behind.do(lambda: (go.wait(10.0), done.append(0)))
    behind.do(lambda: done.append(1))
    assert done == [], "the caller has waited for the work"
    third = threading.Thread(target=lambda: behind.do(lambda: done.append(2)))
    third.start()
    time.sleep(0.05)
    assert third.is_alive() and done == [], "a third piece was taken while two wait"
    go.set()
    third.join(10.0)
    behind.close(lambda: done.append("end"))
    assert done == [0, 1, 2, "end"]


def test_nothing_waits_long_for_work_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """On Windows, before Python 3.14, Ctrl-C strikes only between two waits."""
    asked: list[float | None] = []

    def wait(works: Any, seconds: float | None = None) -> Any:
        asked.append(seconds)
        return real(works, seconds)

    real = background.wait
    monkeypatch.setattr(background, "wait", wait)
    assert background.apart(lambda: time.sleep(0.35) or 1) == 1
    behind = Background("test", waiting=1)
    behind.do(lambda: time.sleep(0.35))
    behind.do(lambda: time.sleep(0.35))
    behind.close()
    assert len(asked) >= 9 and all(seconds is not None and seconds <= 0.1 for seconds in asked)
    began = time.monotonic()
    assert background.apart(lambda: time.sleep(0.6), patience=0.15) is None
    assert 0.15 <= time.monotonic() - began < 0.55


def test_an_error_behind_reaches_the_caller() -> None:
    behind, go, done = Background("test"), threading.Event(), []

    def fail() -> None:
        go.wait(10.0)
        raise OSError(28, "No space left on device")

    behind.do(fail)
    behind.do(lambda: done.append("next"))  # it waits while nobody knows of the error yet
    go.set()
    with pytest.raises(OSError, match="No space left"):
        for n in range(9):
            behind.do(lambda n=n: done.append(n))
    behind.close(lambda: done.append("end"))
    assert done == ["end"], "work went on after the error"


def test_writing_goes_on_behind_the_next_frame(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second frame is simulated while the first one's volume is still being written."""
    from gpufluid.app.outputs import Outputs
    from gpufluid.io import volumes

    second, seen, save = threading.Event(), [], volumes.save_volume

    def slow(path: Any, *rest: Any, **more: Any) -> Any:
        seen.append(second.wait(20.0))
        return save(path, *rest, **more)

    def scene() -> gf.Scene:
        made = gf.Scene.load("one.toml")
        made.update = lambda scene, time: second.set() if scene.frame == 1 else None
        return made

    monkeypatch.setattr(volumes, "save_volume", slow)
    play(scene, Outputs(volumes="vol"), name="behind", frames=2, progress=False)
    assert seen == [True, True]
