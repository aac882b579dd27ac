"""Films in WebM and MOV, with alpha, and what is left of any film that was cut short: read again."""

from __future__ import annotations

import shutil
import sys
import textwrap
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from driver import python

import gpufluid as gf
from gpufluid.io.film import Film, whole_clusters

SUFFIXES = (".webm", ".mov")  # of those that may have alpha
FILMS = (*SUFFIXES, ".mp4")
SIZE = (64, 48)


def blob(number: int, size: tuple[int, int] = SIZE, dtype: type = np.uint8) -> np.ndarray:
    """A soft spot that moves to the right, straight alpha, of a colour that changes across the picture."""
    y, x = np.mgrid[: size[1], : size[0]]
    alpha = np.exp(-((x - 10 - 4 * number) ** 2 + (y - 24) ** 2) / 150.0)
    picture = np.stack([np.full(x.shape, 0.9), 0.2 + 0.5 * y / size[1], 1.0 * x / size[0], alpha], -1)
    return np.rint(picture * np.iinfo(dtype).max).astype(dtype)


def read(path: Path, pixels: str = "rgba") -> tuple[list[np.ndarray], Any]:
    """All frames, by the decoder that knows alpha, and the stream's description."""
    with av.open(str(path)) as film:
        stream = film.streams.video[0]
        about = {
            "codec": stream.codec_context.name,
            "tag": stream.codec_context.codec_tag,
            "rate": stream.average_rate,
            "size": (stream.width, stream.height),
            "color": (stream.codec_context.colorspace, stream.codec_context.color_trc),
            "start": stream.start_time,
            "metadata": dict(stream.metadata),
        }
        decoder: Any = stream.codec_context
        if path.suffix == ".webm":
            decoder = av.CodecContext.create("libvpx-vp9", "r")
        frames = [frame for packet in film.demux(stream) for frame in decoder.decode(packet)]
        about["pixels"] = frames[0].format.name if frames else None
        return [frame.to_ndarray(format=pixels) for frame in frames], about


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_alpha_comes_back(tmp_path: Path, suffix: str) -> None:
    with Film(tmp_path / f"a{suffix}", SIZE, fps=24000 / 1001, alpha=True) as film:
        for n in range(12):
            film.write(blob(n))
    assert [p.name for p in tmp_path.iterdir()] == [f"a{suffix}"]
    frames, about = read(tmp_path / f"a{suffix}")
    assert len(frames) == film.frames == 12
    assert about["codec"] == {".webm": "vp9", ".mov": "prores"}[suffix]
    assert about["pixels"] == {".webm": "yuva420p", ".mov": "yuva444p12le"}[suffix]  # as decoders give it
    assert suffix == ".webm" or about["tag"] == "ap4h", "the film does not call itself ProRes 4444"
    # WebM tells time in milliseconds
    assert about["rate"] == (Fraction(24000, 1001) if suffix == ".mov" else pytest.approx(23.976, rel=0.01))
    assert (about["size"], about["start"], about["color"]) == (SIZE, 0, (1, 13))
    for n, frame in enumerate(frames):
        error = np.abs(frame.astype(int) - blob(n))
        assert error[..., 3].max() <= (8 if suffix == ".webm" else 2), f"alpha of frame {n}"
        assert error[..., :3].max() <= (16 if suffix == ".webm" else 3), f"colour of frame {n}"


@pytest.mark.parametrize("suffix", (".mp4", ".webm"))
def test_a_film_takes_no_name_that_another_program_has_given_meanwhile(tmp_path: Path, suffix: str) -> None:
    """Of two that began at once the second replaced the film of the first, and nobody had allowed it."""
    path = tmp_path / f"a{suffix}"
    for allowed in (False, True):
        film = Film(path, SIZE, overwrite=allowed)
        film.write(blob(0)[..., :3])
        path.write_bytes(b"another's")
        if allowed:
            film.close()
            assert film.path == path
        else:
            with pytest.warns(
                UserWarning, match=rf"a\{suffix} was made by another .*: this film is .*a_2\{suffix}"
            ):
                film.close()
            assert path.read_bytes() == b"another's"
        with av.open(str(film.path)) as made:
            assert made.streams.video[0].width == SIZE[0]
    assert sorted(p.name for p in tmp_path.iterdir()) == [path.name, f"a_2{suffix}"]


@pytest.mark.parametrize("suffix", (".mp4", ".webm"))
def test_two_films_of_one_name_are_both_whole(tmp_path: Path, suffix: str) -> None:
    """Of two threads of a program, say: both wrote to one partial file, and neither was a film."""
    path = tmp_path / f"a{suffix}"
    with (
        pytest.warns(UserWarning, match=rf"made by another .*: this film is .*a_2\{suffix}"),
        Film(path, SIZE) as first,
        Film(path, SIZE) as second,
    ):
        for _ in range(3):
            first.write(blob(0)[..., :3])
            second.write(255 - blob(0)[..., :3])
    shown = [read(film.path, "rgb24")[0] for film in (first, second)]
    assert [len(frames) for frames in shown] == [3, 3]
    assert np.abs(shown[0][2].astype(int) + shown[1][2] - 255).max() <= 32
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("suffix", (".mp4", ".webm"))
def test_a_film_that_is_being_shown_stays_and_the_new_one_lies_beside(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On Windows nobody may replace a file that another program holds open: here it is played as it were."""
    path, replace = tmp_path / f"a{suffix}", Path.replace
    path.write_bytes(b"shown")

    def refusing(self: Path, target: Path) -> Path:
        if target == path:
            raise PermissionError(13, "Permission denied")
        return replace(self, target)

    film = Film(path, SIZE, overwrite=True)
    film.write(blob(0)[..., :3])
    monkeypatch.setattr(Path, "replace", refusing)
    with pytest.warns(UserWarning, match=rf"a\{suffix} was held open by .*: this film is .*a_2\{suffix}"):
        film.close()
    assert path.read_bytes() == b"shown"
    with av.open(str(film.path)) as made:
        assert made.streams.video[0].width == SIZE[0]
    assert sorted(p.name for p in tmp_path.iterdir()) == [path.name, f"a_2{suffix}"]


@pytest.mark.skipif(sys.platform == "win32", reason="nobody can remove it there")
def test_a_film_that_vanishes_is_told_of_at_once(tmp_path: Path) -> None:
    """Its folder was removed; all frames went into a file without a name, and the end told of it."""
    (tmp_path / "sub").mkdir()
    with pytest.raises(gf.GpufluidError, match=r"a\.mp4: .* it was removed while it was written"):
        film, written = Film(tmp_path / "sub/a.mp4", SIZE), 0
        while written < 10_000:
            if list((tmp_path / "sub").glob("*.mp4")):  # which has no frame yet that the encoder holds
                shutil.rmtree(tmp_path / "sub")
            film.write(blob(0)[..., :3])
            written += 1
    assert written < 200
    with pytest.raises(gf.GpufluidError, match=r"a\.mp4: .* it was removed while it was written$"):
        film.close()
    assert list(tmp_path.iterdir()) == []


def test_a_film_is_one_though_what_it_was_made_of_cannot_be_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On Windows, where something looks through it; the film was taken for a failed one."""
    unlink = Path.unlink

    def refusing(self: Path, missing_ok: bool = False) -> None:
        if self.name.startswith("a.partial-"):
            raise PermissionError(13, "Permission denied")
        unlink(self, missing_ok)

    monkeypatch.setattr(Path, "unlink", refusing)
    with Film(tmp_path / "a.mp4", SIZE) as film:
        film.write(blob(0)[..., :3])
    left, made = sorted(tmp_path.iterdir(), key=lambda path: path.name == "a.mp4")
    assert made == film.path == tmp_path / "a.mp4" and left.name.startswith("a.partial-")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_film_without_alpha(tmp_path: Path, suffix: str) -> None:
    with Film(tmp_path / f"a{suffix}", (33, 21)) as film:
        for n in range(3):
            film.write(blob(n, (33, 21))[..., :3])
    frames, about = read(tmp_path / f"a{suffix}", "rgb24")
    assert len(frames) == 3
    assert about["size"] == ((34, 22) if suffix == ".webm" else (33, 21))
    assert about["pixels"] == {".webm": "yuv420p", ".mov": "yuv444p12le"}[suffix]
    assert np.abs(frames[2][:21, :33].astype(int) - blob(2, (33, 21))[..., :3]).max() <= 16


def test_no_pixel_is_spoilt_at_an_odd_size(tmp_path: Path) -> None:
    """Colours are converted in one thread: several spoil pixels where slices meet, in half the frames."""
    size = (641, 361)
    with Film(tmp_path / "a.mov", size) as film:
        for n in range(8):
            film.write(blob(n, size)[..., :3])
    with av.open(str(tmp_path / "a.mov")) as film:
        frames = [frame.reformat(format="rgb24", threads=1).to_ndarray() for frame in film.decode(video=0)]
    assert len(frames) == 8
    for n, frame in enumerate(frames):
        assert np.abs(frame.astype(int) - blob(n, size)[..., :3]).max() <= 16, f"frame {n}"


def test_ten_bits_of_prores_are_more_than_eight(tmp_path: Path) -> None:
    ramp = np.repeat(np.linspace(20000, 30000, 64).astype(np.uint16), 3).reshape(1, 64, 3).repeat(48, 0)
    with Film(tmp_path / "a.mov", SIZE) as film:
        film.write(ramp)
    frames, _ = read(tmp_path / "a.mov", "rgb48le")
    assert np.abs(frames[0].astype(int) - ramp).max() < 150
    assert len(np.unique(frames[0])) > 45, "8 bits have 39 steps there"


@pytest.mark.parametrize("suffix", FILMS)
@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_a_film_cut_short_holds_its_frames(tmp_path: Path, suffix: str, error: type[BaseException]) -> None:
    alpha = suffix in SUFFIXES
    with pytest.raises(error), Film(tmp_path / f"a{suffix}", SIZE, alpha=alpha) as film:
        for n in range(7):
            film.write(blob(n)[..., : 3 + alpha])
        raise error
    assert len(read(tmp_path / f"a{suffix}")[0]) == 7
    assert [p.name for p in tmp_path.iterdir()] == [f"a{suffix}"]


@pytest.mark.parametrize("suffix", FILMS)
def test_a_killed_process_leaves_a_film_that_opens(tmp_path: Path, suffix: str) -> None:
    code = """
        import os, sys, time
        import numpy as np
        from gpufluid.io.film import Film
        alpha = not sys.argv[1].endswith(".mp4")
        film = Film(sys.argv[1], (64, 48), fps=5.0, alpha=alpha)
        noise = np.random.default_rng(0)
        for k in range(100):
            film.write(noise.integers(0, 256, (48, 64, 3 + alpha), np.uint8))
        while film.frames < 100:
            time.sleep(0.01)
        os.kill(os.getpid(), 9)
    """
    done = python("-c", textwrap.dedent(code), tmp_path / f"a{suffix}")
    assert done.returncode == -9
    (left,) = tmp_path.iterdir()
    assert left.name.startswith("a.partial-")
    # encoders look ahead, x264 by 40 frames, and a fragment waits for the next key frame
    assert len(read(left)[0]) >= 50


@pytest.mark.skipif(sys.platform == "win32", reason="a limit on the size of files is POSIX")
@pytest.mark.parametrize("suffix", FILMS)
def test_a_full_disk_keeps_what_fits(tmp_path: Path, suffix: str) -> None:
    code = """
        import resource, sys
        import numpy as np
        from gpufluid.io.film import Film
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
        noise = np.random.default_rng(0)
        alpha = not sys.argv[1].endswith(".mp4")
        with Film(sys.argv[1], (64, 48), fps=5.0, alpha=alpha) as film:
            for k in range(150):
                film.write(noise.integers(0, 256, (48, 64, 3 + alpha), np.uint8))
    """
    done = python("-c", textwrap.dedent(code), tmp_path / f"a{suffix}")
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert f"a{suffix}: the film could not be written: File too large" in last
    assert [p.name for p in tmp_path.iterdir()] == [f"a{suffix}"]
    kept = len(read(tmp_path / f"a{suffix}")[0])
    assert kept >= 5
    assert f"; it keeps {kept} frames" in last


def test_the_whole_clusters_of_a_webm_file(tmp_path: Path) -> None:
    with Film(tmp_path / "a.webm", SIZE, fps=2.0) as film:
        for n in range(9):
            film.write(blob(n)[..., :3])
    data = (tmp_path / "a.webm").read_bytes()
    ends = []
    for length in range(len(data) + 1):
        (tmp_path / "cut").write_bytes(data[:length])
        ends.append(whole_clusters(tmp_path / "cut"))
    clusters = [n for n in range(len(data)) if data[n : n + 4] == b"\x1f\x43\xb6\x75"]
    assert sorted(set(ends))[1:-1] == clusters[1:], "each ends where the next begins"
    assert all(end <= length for length, end in enumerate(ends))
    assert ends == sorted(ends)


@pytest.mark.parametrize(
    ("name", "alpha", "channels", "message"),
    [
        ("a.mp4", True, 4, "holds no alpha; take .webm or .mov"),
        ("a.webm", True, 3, "alpha=True takes pictures of 4 channels, got 3"),
        ("a.mov", False, 4, "alpha=False takes pictures of 3 channels, got 4"),
        ("a.avi", False, 3, "cannot write .avi files"),
    ],
)
def test_films_that_cannot_be(tmp_path: Path, name: str, alpha: bool, channels: int, message: str) -> None:
    with pytest.raises(gf.GpufluidError, match=message):  # noqa: SIM117
        with Film(tmp_path / name, SIZE, alpha=alpha) as film:
            film.write(blob(0)[..., :channels])
    assert list(tmp_path.iterdir()) == []
