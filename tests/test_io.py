"""Pictures and films: what is written comes back, and nothing half-written is ever left."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
import threading
from pathlib import Path
from types import SimpleNamespace

import av
import numpy as np
import pytest
from PIL import Image

import gpufluid as gf
from gpufluid.common.errors import GpufluidError, MissingDependencyError
from gpufluid.io.film import Film, require_av
from gpufluid.io.images import FrameFolder, write_png
from gpufluid.io.paths import check_output, output_kind


def pictures(count: int, size: tuple[int, int] = (64, 48)) -> list[np.ndarray]:
    """Smooth pictures that differ from frame to frame, in colours that a wrong matrix would shift."""
    width, height = size
    y, x = np.mgrid[0:height, 0:width]
    frames = []
    for k in range(count):
        bar = 255 * (np.abs(x - width * (k + 0.5) / count) < width / 6)
        frames.append(np.stack([bar, 255 * y / height, np.full_like(x, 40 + 150 * k / count)], -1))
    return [frame.astype(np.uint8) for frame in frames]


def read_film(path: Path) -> list[np.ndarray]:
    with av.open(str(path)) as film:
        return [frame.to_ndarray(format="rgb24") for frame in film.decode(video=0)]


def names(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


@pytest.mark.parametrize(
    "picture",
    [
        np.zeros((4, 4, 3)),
        np.zeros((4, 4), np.uint8),
        np.zeros((4, 4, 2), np.uint8),
        np.zeros((0, 4, 3), np.uint8),
    ],
)
def test_png_of_no_picture_is_refused(tmp_path: Path, picture: np.ndarray) -> None:
    with pytest.raises(GpufluidError, match=r"uint8 or uint16 \[height, width, 3 or 4\]"):
        write_png(tmp_path / "a.png", picture)
    assert names(tmp_path) == []


def test_a_picture_that_fails_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = pictures(2)
    path = write_png(tmp_path / "a.png", old)

    def full(self: Image.Image, file: Path, **options: object) -> None:
        Path(file).write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Image.Image, "save", full)
    with pytest.raises(GpufluidError, match=r"a\.png.*No space left"):
        write_png(path, new, overwrite=True)
    assert np.array_equal(np.asarray(Image.open(path)), old)
    assert names(tmp_path) == ["a.png"]


def test_film_comes_back(tmp_path: Path) -> None:
    written = pictures(40)
    with Film(tmp_path / "a.mp4", (64, 48), fps=25.0) as film:
        reused = np.empty_like(written[0])
        for picture in written:
            reused[:] = picture
            film.write(reused)
    assert film.frames == 40
    assert names(tmp_path) == ["a.mp4"]
    read = read_film(tmp_path / "a.mp4")
    assert len(read) == 40
    for a, b in zip(written, read, strict=True):
        # 4:2:0 halves the colour's resolution: the bar's edges differ, the rest by rounding
        assert np.abs(a.astype(float) - b).mean() < 6.0
        assert np.percentile(np.abs(a.astype(float) - b), 75) < 4.0


def test_film_says_how_it_is_to_be_shown(tmp_path: Path) -> None:
    with Film(tmp_path / "a.mp4", (64, 48), fps=29.97) as film:
        for picture in pictures(31):
            film.write(picture)
    with av.open(str(tmp_path / "a.mp4")) as file:
        stream = file.streams.video[0]
        codec = stream.codec_context
        assert (codec.name, codec.pix_fmt) == ("h264", "yuv420p")
        assert (codec.colorspace, codec.color_primaries, codec.color_trc) == (1, 1, 13)
        assert stream.average_rate == pytest.approx(29.97, rel=1e-4)
        assert (stream.frames, stream.start_time) == (31, 0)
    data = (tmp_path / "a.mp4").read_bytes()
    assert data.index(b"moov") < data.index(b"mdat"), (
        "the index is not first: the web waits for the whole file"
    )


def test_flat_colours_keep_their_value(tmp_path: Path) -> None:
    colours = [(255, 0, 0), (0, 255, 0), (0, 0, 255), (128, 128, 128), (20, 60, 200)]
    with Film(tmp_path / "a.mp4", (32, 32)) as film:
        for colour in colours:
            film.write(np.full((32, 32, 3), colour, np.uint8))
    for colour, picture in zip(colours, read_film(tmp_path / "a.mp4"), strict=True):
        assert picture[16, 16] == pytest.approx(colour, abs=3)


def test_odd_size_is_padded_by_its_edge(tmp_path: Path) -> None:
    picture = np.full((5, 7, 3), 30, np.uint8)
    picture[:, -1] = picture[-1] = 220
    with Film(tmp_path / "a.mp4", (7, 5)) as film:
        film.write(picture)
    (read,) = read_film(tmp_path / "a.mp4")
    assert read.shape == (6, 8, 3)
    assert read[:, 7].mean() == pytest.approx(220, abs=8)
    assert read[5].mean() == pytest.approx(220, abs=8)
    assert read[1:3, 1:3].mean() == pytest.approx(30, abs=8)


def test_a_film_without_frames_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), Film(tmp_path / "a.mp4", (64, 48)):
        raise KeyboardInterrupt
    assert names(tmp_path) == []


@pytest.mark.parametrize("ending", [".mp4", ".webm", ".png"])
def test_a_name_may_be_as_long_as_the_disk_lets_it(tmp_path: Path, ending: str) -> None:
    """Also while the file has another one, with more in it, until it is whole."""
    path = tmp_path / (125 * "ü" + ending)
    grey = np.full((8, 8, 3), 99, np.uint8)
    if ending == ".png":
        gf.write_picture(path, grey)
    else:
        with gf.Film(path, (8, 8)) as film:
            film.write(grey)
    assert [p.name for p in tmp_path.iterdir()] == [path.name] and path.stat().st_size > 0


def test_film_refuses_frames_of_another_size(tmp_path: Path) -> None:
    with pytest.raises(GpufluidError, match="64 x 48 does not fit the film of 32 x 32"):  # noqa: SIM117
        with Film(tmp_path / "a.mp4", (32, 32)) as film:
            film.write(pictures(1)[0])
    assert names(tmp_path) == []


def test_a_film_is_given_pictures_not_what_draws_them(tmp_path: Path) -> None:
    with gf.Fluid(gf.Grid((4, 4, 4), 0.25)) as fluid, gf.Film(tmp_path / "a.mp4", (32, 32)) as film:
        renderer = gf.FrameRenderer(fluid.ctx, (32, 32))
        with pytest.raises(GpufluidError, match=r"give it renderer.read\(\), not the renderer"):
            film.write(renderer)  # type: ignore[arg-type]
        renderer.draw(gf.Scene(fluid))
        film.write(renderer.read())
        renderer.release()


def test_folder_of_numbered_pictures(tmp_path: Path) -> None:
    folder = tmp_path / "frames"
    with FrameFolder(folder) as frames:
        for picture in pictures(3):
            frames.write(picture)
    assert names(folder) == ["frame_0001.png", "frame_0002.png", "frame_0003.png"]
    with pytest.raises(GpufluidError, match=r"holds 3 numbered pictures already.*--overwrite"):
        FrameFolder(folder)
    (folder / "notes.txt").write_text("mine")
    with FrameFolder(folder, overwrite=True) as frames:
        frames.write(pictures(1)[0])
    assert names(folder) == ["frame_0001.png", "notes.txt"]


def test_folder_is_made_with_its_first_picture(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), FrameFolder(tmp_path / "frames"):
        raise KeyboardInterrupt
    assert names(tmp_path) == []


def test_a_folder_that_vanishes_is_told_of(tmp_path: Path) -> None:
    """What ended the film is told, where anything did; else that its frames are gone."""
    gone = tmp_path / "gone"
    gone.mkdir()
    with (
        pytest.raises(GpufluidError, match=r"frames: could not be made"),
        FrameFolder(gone / "frames") as told,
    ):
        told.write(pictures(1)[0])
        shutil.rmtree(gone)
        told.write(pictures(1)[0])
    with (
        pytest.raises(GpufluidError, match=r"frames: .* could not be removed: No such file"),
        FrameFolder(tmp_path / "frames") as told,
    ):
        told.write(pictures(1)[0])
        shutil.rmtree(tmp_path / "frames")


def test_a_folder_that_another_film_is_written_to_is_refused(tmp_path: Path) -> None:
    """Of two that began at once each replaced what the other had just written."""
    with FrameFolder(tmp_path / "frames", about={"title": "one"}) as first:
        second = FrameFolder(tmp_path / "frames", about={"title": "two"})
        for picture in pictures(2):
            first.write(picture)
        with pytest.raises(GpufluidError, match=r"frame_0001\.png: another program writes .*--overwrite"):
            second.write(pictures(3)[2])
        second.close()
    assert names(tmp_path / "frames") == ["frame_0001.png", "frame_0002.png", "frames.json"]
    assert json.loads((tmp_path / "frames/frames.json").read_text())["title"] == "one"
    assert np.array_equal(np.asarray(Image.open(tmp_path / "frames/frame_0001.png")), pictures(2)[0])


def test_a_frame_of_an_earlier_film_that_is_being_shown_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On Windows nobody may remove a file that another program holds open."""
    with FrameFolder(tmp_path / "frames") as frames:
        for picture in pictures(2):
            frames.write(picture)
    unlink = Path.unlink

    def refusing(self: Path, missing_ok: bool = False) -> None:
        if self.name == "frame_0002.png":
            raise PermissionError(13, "Permission denied")
        unlink(self, missing_ok)

    monkeypatch.setattr(Path, "unlink", refusing)
    with (
        pytest.raises(GpufluidError, match=r"frame_0002\.png: what an earlier .* removed: Permission denied"),
        FrameFolder(tmp_path / "frames", overwrite=True, about={}) as frames,
    ):
        frames.write(pictures(1)[0])
    assert json.loads((tmp_path / "frames/frames.json").read_text())["complete"]


def test_what_is_held_open_for_a_moment_is_replaced_on_windows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There a new file is opened at once by what looks for viruses, and may not be renamed meanwhile."""
    replace, refused = Path.replace, [0]

    def refusing(self: Path, target: Path) -> Path:
        if refused[0] < 3:
            refused[0] += 1
            raise PermissionError(13, "Permission denied")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", refusing)
    with pytest.raises(GpufluidError, match=r"a\.png: could not be written: Permission denied"):
        write_png(tmp_path / "a.png", pictures(1)[0])  # elsewhere that is the last word
    assert names(tmp_path) == [] and refused == [1]
    monkeypatch.setattr(sys, "platform", "win32")
    write_png(tmp_path / "a.png", pictures(1)[0])
    assert names(tmp_path) == ["a.png"]
    refused[0] = -1_000_000  # for good
    monkeypatch.setattr("gpufluid.common.files.HELD", 0.1)
    with pytest.raises(GpufluidError, match=r"a\.png: could not be written: Permission denied"):
        write_png(tmp_path / "a.png", pictures(1)[0], overwrite=True)
    assert names(tmp_path) == ["a.png"]


def test_a_folder_that_refuses_is_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On Windows tempfile asks two billion times: it takes a refusal for a name that is taken."""
    asked = []

    def refuse(name: str, *given: object, **more: object) -> int:
        asked.append(name)
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    monkeypatch.setattr(tempfile, "_os", SimpleNamespace(**{**vars(os), "name": "nt"}))
    monkeypatch.setattr(tempfile, "TMP_MAX", 100)
    with pytest.raises(GpufluidError, match=r"a\.png: cannot write in the folder .*Permission denied"):
        check_output(tmp_path / "a.png")
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("a.mp4", "film"),
        ("a.MP4", "film"),
        ("b/c.png", "picture"),
        ("frames", "folder"),
        ("frames.v2/", "folder"),
    ],
)
def test_what_a_path_asks_for(path: str, kind: str) -> None:
    assert output_kind(path) == kind


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("a.avi", r"a\.avi: cannot write \.avi files; name a film \(\.mp4, \.webm or \.mov\)"),
        ("missing/a.mp4", r"missing/a\.mp4: the folder .*missing does not exist"),
        ("taken.mp4", r"taken\.mp4: is a folder"),
        ("file.txt/a.png", r"file\.txt/a\.png: .*file\.txt is not a folder"),
        ("file/", r"file: is a file"),
        ("x" * 300 + ".png", "File name too long"),
        ("", "must be a file name"),
        ("a\0.png", "must be a file name"),
    ],
)
def test_outputs_that_cannot_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, message: str, overwrite: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("taken.mp4").mkdir()
    Path("file").touch()
    Path("file.txt").touch()
    with pytest.raises(GpufluidError, match=message) as caught:
        check_output(path, overwrite)
    assert "\n" not in str(caught.value)
    assert names(tmp_path) == ["file", "file.txt", "taken.mp4"]


def test_what_exists_is_kept_unless_asked(tmp_path: Path) -> None:
    target = tmp_path / "a.png"
    target.write_text("old")
    with pytest.raises(GpufluidError, match=r"a\.png: exists already; .*--overwrite"):
        check_output(target)
    assert check_output(target, overwrite=True) == target
    assert target.read_text() == "old"


def test_folder_that_takes_no_files(tmp_path: Path) -> None:
    folder = Path("/proc")  # root may write anywhere but into the kernel's own file systems
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        folder = tmp_path / "locked"
        folder.mkdir(mode=0o500)
    with pytest.raises(GpufluidError, match=rf"cannot write in the folder {folder} "):
        check_output(folder / "a.png")


def test_a_package_that_does_not_load_tells_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is installed, so how to install it would help nobody."""
    (tmp_path / "av.py").write_text("raise ImportError('libdrm.so.2: no such file')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "av", raising=False)
    told = "writing a film needs the package 'av', which does not load here: libdrm.so.2: no such file"
    with pytest.raises(MissingDependencyError, match=f"^{re.escape(told)}$"):
        require_av()


@pytest.mark.parametrize(("module", "package"), [("PIL", "pillow"), ("av", "av")])
def test_missing_package_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, package: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingDependencyError, match=rf'.{package}.: pip install "gpufluid\[all\]"'):
        if module == "PIL":
            write_png(tmp_path / "a.png", pictures(1)[0])
        else:
            Film(tmp_path / "a.mp4", (64, 48))


def test_a_film_can_be_made_in_any_thread(tmp_path: Path) -> None:
    def work() -> None:
        with Film(tmp_path / "a.mp4", (64, 48)) as film:
            film.write(pictures(1)[0])

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert len(read_film(tmp_path / "a.mp4")) == 1
