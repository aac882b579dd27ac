"""However a run ends, what is finished is whole and nothing half-written has a final name."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import platform
import random
import re
import signal
import struct
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import av
import numpy as np
import OpenEXR
import pytest
from driver import PATIENCE, python
from PIL import Image
from sharing import CELLS
from test_cli import HEADLESS, SMALL, begun, command, frame_count, names
from test_volumes import needs_openvdb, read_vdb

import gpufluid as gf
from gpufluid.app import cli, play
from gpufluid.app.cli import main
from gpufluid.app.hurry import SLICE, hurry
from gpufluid.app.outputs import Outputs
from gpufluid.common.files import abandon
from gpufluid.common.stops import unbroken
from gpufluid.engine.checkpoint import saved_start
from gpufluid.io.film import Film
from gpufluid.render.noise import noise_tile

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals and limits"),
    pytest.mark.usefixtures("one_context"),
]

QUICK = 2.0  # s from a signal to the end of the process, on an idle machine


def check_whole(folder: Path) -> int:
    """Read every file in `folder` back, and return how many there are. Fails for one that is not whole."""
    count = 0
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        assert "partial" not in path.name, f"{path.name} is left"
        count += 1
        if path.suffix in (".mp4", ".webm", ".mov"):
            assert frame_count(path) >= 1
        elif path.suffix == ".png":
            with Image.open(path) as picture:
                picture.load()
        elif path.suffix == ".exr":
            assert np.isfinite(OpenEXR.File(str(path)).channels()["RGBA"].pixels).all()
        elif path.suffix == ".json":
            told = json.loads(path.read_text())
            if "complete" in told:
                assert not told["complete"]
                there = list(path.parent.glob(f"{told['last'].partition('_')[0]}_*"))
                assert told["frames"] == len(there), f"{path.name} tells of other frames"
        elif path.suffix == ".vti":
            assert path.read_bytes().endswith(b"</VTKFile>\n")
        elif path.suffix == ".npz":
            with np.load(path) as arrays:
                assert arrays["density"].shape == (12, 18, 12)
        elif path.suffix == ".vdb":
            assert read_vdb(path, (12, 18, 12))[0]
        elif path.suffix == ".fluid":
            gf.Fluid.load(path, backend="numpy").release()
        else:
            pytest.fail(f"what is {path.name}?")
    return count


def stopped(
    folder: Path, options: str, number: int, seen: str | None, wait: float, small: Any = SMALL
) -> tuple[int, float, float, str]:
    """Run the plume, send a signal `wait` s after a file like `seen` has come, or after the start.

    Returns the exit code, the seconds from the signal to the end, those until `seen`, and the errors.
    """
    start = time.monotonic()
    process = begun(*small, *options.split(), cwd=folder, number=number)
    try:
        while seen is not None and not list(folder.glob(seen)):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < start + PATIENCE
            time.sleep(0.02)
        took = time.monotonic() - start
        time.sleep(wait)
        assert process.poll() is None, process.communicate()
        sent = time.monotonic()
        process.send_signal(number)
        _, errors = process.communicate(timeout=PATIENCE)
        return process.returncode, time.monotonic() - sent, took, errors
    finally:
        process.kill()


RUNS = [
    ("-o fr --format exr --volumes v --flip-book fb.png", "fr/frame_0002*", signal.SIGINT),
    ("-o a.mp4 --volumes v --volume-format vti --flow-map fm.png", "v/volume_0002*", signal.SIGTERM),
    ("-o a.webm --volumes v --volume-format npz --save s.fluid", "v/volume_0002*", signal.SIGINT),
    ("-o a.mov --transparent --save s.fluid", "a.partial*", signal.SIGTERM),
    ("-o fr --bits 16", "fr/frame_0002*", signal.SIGTERM),
]


SCHED_GETATTR = {"x86_64": 315, "aarch64": 275}


def release() -> tuple[int, ...]:
    """Of the system, its first two numbers."""
    return tuple(int(part) for part in re.findall(r"\d+", platform.release())[:2])


@pytest.mark.skipif(sys.platform != "linux", reason="Linux has priorities of threads")
def test_a_process_that_leaves_does_not_wait_for_its_least_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mesa's; where Linux does not let it, it leaves all the same."""
    own = os.getpriority(os.PRIO_PROCESS, os.getpid())
    begun, done = threading.Event(), threading.Event()
    numbers = []

    def least() -> None:
        numbers.append(threading.get_native_id())
        os.sched_setscheduler(numbers[0], os.SCHED_BATCH, os.sched_param(0))
        os.setpriority(os.PRIO_PROCESS, numbers[0], 19)
        begun.set()
        done.wait()

    thread = threading.Thread(target=least)
    thread.start()
    try:
        begun.wait()
        with monkeypatch.context() as context:

            def refuse(*given: Any) -> None:
                raise PermissionError(1, "Operation not permitted")

            context.setattr(os, "setpriority", refuse)
            hurry()
        assert os.getpriority(os.PRIO_PROCESS, numbers[0]) == 19
        if platform.machine() in SCHED_GETATTR and release() >= (6, 12):
            told = ctypes.create_string_buffer(48)
            get = SCHED_GETATTR[platform.machine()]
            assert ctypes.CDLL(None).syscall(get, numbers[0], told, 48, 0) == 0
            _, policy, _, nice, _, runtime, _, _ = struct.unpack("=IIQiIQQQ", told.raw)
            assert (policy, nice, runtime) == (os.SCHED_OTHER, 19, SLICE)
        hurry()
        if os.geteuid() == 0:
            assert os.getpriority(os.PRIO_PROCESS, numbers[0]) == own
        assert os.sched_getscheduler(numbers[0]) == os.SCHED_OTHER
    finally:
        done.set()
        thread.join()


@needs_openvdb
@pytest.mark.parametrize(("options", "seen", "number"), RUNS, ids=[options for options, *_ in RUNS])
def test_a_stop_leaves_finished_frames_of_every_kind(
    tmp_path: Path, options: str, seen: str, number: int
) -> None:
    """At a moment that is another one in each run. A loaded machine is given as long as it took to start."""
    wait = random.Random(time.time_ns()).uniform(0.05, 0.6)
    code, seconds, start, errors = stopped(tmp_path, options, number, seen, wait)
    assert code == 128 + number, errors
    assert "Traceback" not in errors
    assert seconds < max(QUICK, start), f"it went on for {seconds:.2f} s after {wait:.3f} s"
    assert check_whole(tmp_path) >= 1
    for word in options.split()[1::2]:
        if not word.isdigit() and word not in ("exr", "vti", "npz") and not word.startswith("--"):
            assert (tmp_path / word).exists(), f"{word} is lost"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> float:
    """The seconds of a run of one frame, from the start of its process."""
    folder = tmp_path_factory.mktemp("once")
    began = time.monotonic()
    command("demo", "--frames", "1", "-o", "once.png", *SMALL, cwd=folder)
    return time.monotonic() - began


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_a_stop_while_it_starts_leaves_nothing(
    tmp_path: Path, whole: float, share: float, number: signal.Signals
) -> None:
    """While modules are loaded, shaders compiled, the first frame drawn."""
    code, seconds, _, errors = stopped(tmp_path, "-o a.mp4", number, None, share * whole)
    assert code in (128 + number, -number), errors  # before the command runs it is Python that ends
    assert seconds < max(QUICK, whole)
    check_whole(tmp_path)


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), cli._Ended("143"), ValueError()])
def test_a_stop_while_a_class_is_made_is_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], stop: BaseException
) -> None:
    """Python before 3.12 makes a RuntimeError of what ends the naming of a class's attributes."""

    class Named:
        def __set_name__(self, owner: type, name: str) -> None:
            raise stop

    def loads(*_: object) -> None:
        try:
            type("Loaded", (), {"attribute": Named()})
        except RuntimeError:
            raise
        except BaseException as error:  # from 3.12 on
            raise RuntimeError("Error calling __set_name__") from error

    monkeypatch.setattr(cli, "build_parser", loads)
    if isinstance(stop, KeyboardInterrupt):
        assert cli.main(["demo"]) == 130
        assert "stopped" in capsys.readouterr().err
    else:
        with pytest.raises(RuntimeError if isinstance(stop, ValueError) else cli._Ended):
            cli.main(["demo"])


def test_the_start_asks_numpy_for_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """It makes a TypeError of a Ctrl-C that strikes while it asks what the file is called."""
    monkeypatch.setattr(np, "fromfile", lambda *_, **__: pytest.fail("NumPy is given a file"))
    assert noise_tile().shape == (64, 64)


def test_a_stop_in_the_middle_of_a_large_picture(tmp_path: Path) -> None:
    """A picture that takes seconds to draw on any machine without a GPU: it is not waited for."""
    large = ("--size", "4096x4096", *SMALL[2:])
    options = "-o a.png --volumes v --volume-format npz --frames 1 --save s.fluid"
    code, seconds, start, errors = stopped(tmp_path, options, signal.SIGTERM, "v/*0001*", 1.0, large)
    assert code == 143, errors
    assert seconds < max(QUICK, start)
    assert names(tmp_path) == ["s.fluid", "v"]


@pytest.mark.parametrize(
    ("options", "waited", "whole"),
    [
        ("-o a.mp4 --frames 5", 1e9, 3),  # a frame that takes little is finished
        ("-o a.mp4 --frames 5", 0.0, 2),  # one that takes long is not waited for
        ("-o a.png --frames 3", 1e9, 3),  # the last picture is drawn when the state is safe
    ],
)
def test_a_stop_in_a_picture_leaves_a_state_to_go_on_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: str, waited: float, whole: int
) -> None:
    """Ctrl-C comes while the third frame is drawn: the state is that after the last one that is finished."""
    from gpufluid.render.frame import FrameRenderer

    real = FrameRenderer.draw

    def interrupted(renderer: FrameRenderer, scene: Any) -> None:
        if scene.frame == 3:
            signal.raise_signal(signal.SIGINT)
        real(renderer, scene)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(FrameRenderer, "draw", interrupted)
    monkeypatch.setattr("gpufluid.app.play.WAITED", waited)
    assert main(["demo", *SMALL, *options.split(), "--save", "s.fluid"]) == 130
    if "mp4" in options:
        assert names(tmp_path) == ["a.mp4", "s.fluid"] and frame_count(tmp_path / "a.mp4") == whole
    else:
        assert names(tmp_path) == ["s.fluid"]
    assert saved_start(tmp_path / "s.fluid")[1] == pytest.approx(whole / 30)
    monkeypatch.setattr(FrameRenderer, "draw", real)
    assert main(["demo", *SMALL, "--frames", "1", "-o", "b.png", "--resume", "s.fluid"]) == 0


def test_a_stop_in_the_first_frame_leaves_the_state_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gpufluid.Fluid.step", interrupted)
    assert main(["demo", *SMALL, "-o", "a.mp4", "--save", "s.fluid"]) == 130
    assert names(tmp_path) == ["s.fluid"] and saved_start(tmp_path / "s.fluid")[1] == 0.0


@pytest.mark.parametrize("backend", ["fragment", "compute"])
def test_a_stop_while_a_shader_is_compiled_kills_nothing(backend: str) -> None:
    """moderngl calls Python while it makes a program, and dies of an exception there."""
    code = f"""
        import os, signal
        import _moderngl
        import gpufluid as gf

        real, struck, stopped = _moderngl.make_uniform, 0, 0

        def interrupted(*given):
            global struck
            struck += 1
            os.kill(os.getpid(), signal.SIGINT)
            return real(*given)

        fluid = gf.Fluid(gf.Grid({CELLS}, 0.1), backend="{backend}")
        _moderngl.make_uniform = interrupted
        while True:
            before = struck
            try:
                fluid.step(0.1)
                break
            except KeyboardInterrupt:
                assert struck > before
                stopped += 1
        assert struck > 9 and stopped > 3  # it waited, and was not forgotten
        _moderngl.make_uniform = real
        calm = gf.Fluid(gf.Grid({CELLS}, 0.1), backend="{backend}", ctx=fluid.ctx)
        print(struck, calm.velocity.read().tobytes() == fluid.velocity.read().tobytes())
    """
    done = python("-c", textwrap.dedent(code), env=HEADLESS)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("True\n")


def test_a_stop_strikes_while_the_driver_still_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python runs no handler inside a call that waits for the driver: so it is asked again and again."""
    from gpufluid.gl import late

    gone: list[int] = []
    driver = SimpleNamespace(  # one that never comes to an end
        glFenceSync=lambda *_: 7,
        glClientWaitSync=lambda *given: time.sleep(1e-9 * given[2]) or 0x911B,
        glDeleteSync=gone.append,
    )
    monkeypatch.setattr(late, "calls", lambda ctx: driver)
    stop = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
    stop.start()
    start = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            late.settle(SimpleNamespace())  # type: ignore[arg-type]  # which cannot be finished
    finally:
        stop.cancel()
    assert time.monotonic() - start < 1.0
    assert gone == [7]


@pytest.mark.parametrize("last", [True, False])
def test_a_process_that_ends_waits_for_no_release(tmp_path: Path, last: bool) -> None:
    """Releasing a context waits until all is drawn, for seconds perhaps; one that goes on gives it back."""
    made: list[gf.Fluid] = []

    def update(scene: gf.Scene, at: float) -> None:
        if scene.frame == 1:
            raise KeyboardInterrupt

    def scene() -> gf.Scene:
        made.append(gf.Fluid(gf.Grid((6, 8, 5), cell_size=0.1)))
        return gf.Scene(made[0], update=update)

    with pytest.raises(KeyboardInterrupt):
        wanted = Outputs(out=tmp_path / "a.mp4")
        play.play(scene, wanted, name="a", size=(16, 16), progress=False, last=last)
    assert made[0].released == (not last)
    assert frame_count(tmp_path / "a.mp4") == 1
    made[0].release()


def test_a_process_that_leaves_takes_half_a_picture_along(tmp_path: Path) -> None:
    """It does not wait for one that takes long to write; nor does that stay."""
    code = """
        import sys, time
        from gpufluid.app.cli import main
        from gpufluid.io import images

        def slow(array, path):
            path.write_bytes(b"half")
            time.sleep(600.0)

        images._eight_bits = slow
        sys.argv[1:] = "demo --frames 9 -o fr --size 64x36 --cells 12 18 12".split()
        main()
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=tmp_path,
        env=HEADLESS,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        end = time.monotonic() + PATIENCE
        while not list(tmp_path.glob("fr/*partial*")):
            assert process.poll() is None and time.monotonic() < end
            time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=120.0)  # not that long
    finally:
        process.kill()
    assert process.returncode == 143, errors
    assert names(tmp_path / "fr") == []


@pytest.mark.parametrize("fails", ["the picture", "what tells of it"])
def test_what_tells_of_the_frames_stays_whole_and_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    """The disk is full in the middle of the second frame."""
    real, picture = Path.write_text, np.zeros((4, 4, 3), np.uint8)

    def full(self: Path, text: str, **options: Any) -> int:
        real(self, text[: len(text) // 2], **options)
        raise OSError(28, "No space left on device")

    folder = tmp_path / "fr"
    with pytest.raises(gf.GpufluidError, match="No space left"):  # noqa: SIM117
        with gf.FrameFolder(folder, about={}) as out:
            out.write(picture)
            if fails == "the picture":
                monkeypatch.setattr("gpufluid.io.images._eight_bits", lambda array, path: full(path, "half"))
            else:
                monkeypatch.setattr(Path, "write_text", full)
            out.write(picture)
    told = json.loads((folder / "frames.json").read_text())
    assert told["frames"] == 1 and not told["complete"]
    assert (folder / "frame_0001.png").exists() and not list(folder.glob("*partial*"))


@pytest.mark.parametrize("waited", [1e9, 0.0])
def test_the_state_of_half_a_step_is_not_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, waited: float
) -> None:
    """A second Ctrl-C does not wait for the frame; where frames take long the state before is kept."""

    def update(scene: gf.Scene, at: float) -> None:
        if scene.frame == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(play, "WAITED", waited)
    scene = gf.Scene(gf.Fluid(gf.Grid((6, 8, 5), cell_size=0.1)), update=update)
    wanted = Outputs(out=tmp_path / "a.mp4", save=tmp_path / "s.fluid")
    with pytest.raises(KeyboardInterrupt):
        play.play(scene, wanted, name="a", size=(16, 16), progress=False)
    assert names(tmp_path) == ["a.mp4"] + ["s.fluid"] * (waited == 0.0)
    if waited == 0.0:
        assert saved_start(tmp_path / "s.fluid")[1] == pytest.approx(scene.dt)
    scene.release()


FULL = [
    "-o fr --size 200x200",
    "-o fr --format exr --size 200x200",
    "-o fr --bits 16 --size 200x200",
    "-o last.png --size 200x200",
    "-o last.exr --size 200x200",
    "--volumes v",
    "--volumes v --volume-format vti",
    "--volumes v --volume-format npz",
    "--flip-book fb.png --size 200x200",
    "--flow-map fm.png --bits 16",
    "--save s.fluid",
    "-o a.mp4 --size 200x200",
    "-o a.webm --size 200x200",
    "-o a.mov --size 200x200",
]


def test_a_disk_that_is_full_at_once_leaves_nothing(tmp_path: Path) -> None:
    """Every kind of output, where no file may have more than 500 bytes."""
    code = """
        import json, resource, sys
        from pathlib import Path
        import moderngl
        from gpufluid.app.cli import main
        from gpufluid.gl import contexts
        from gpufluid.gl.device import Device
        resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))
        kept = Device(contexts.create_context(), "fragment")  # and with it the programs, which all runs share
        contexts.create_context, moderngl.Context.release = lambda: kept.ctx, lambda self: None
        for options in json.loads(sys.argv[1]):
            before = set(Path().rglob("*"))
            code = main(["demo", "--cells", "12", "18", "12", "--frames", "2", *options.split()])
            left = [str(p) for p in set(Path().rglob("*")) - before if p.is_file() and p.suffix != ".json"]
            print("END", json.dumps([options, code, left]), flush=True)
    """
    done = python("-c", textwrap.dedent(code), json.dumps(FULL), cwd=tmp_path, env=HEADLESS)
    ends = [json.loads(line[4:]) for line in done.stdout.splitlines() if line.startswith("END")]
    assert [end[0] for end in ends] == FULL, done.stderr
    for options, code_, left in ends:
        assert (code_, left) == (2, []), f"{options}: {done.stderr}"
    errors = [line for line in done.stderr.splitlines() if line.startswith("gpufluid: error")]
    assert len(errors) == len(FULL)
    for line in errors:
        assert "File too large" in line or "could not be written" in line, line
    assert "Traceback" not in done.stderr


def test_a_state_that_finds_no_room_leaves_the_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The picture is written after the state, and is kept."""

    def full(*_: Any) -> Any:
        raise gf.GpufluidError("s.fluid: could not be written: No space left on device")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gpufluid.app.outputs.State.write", full)
    words = "demo --cells 12 18 12 --frames 2 --size 64x48 -o x.png --save s.fluid"
    assert main(words.split()) == 2
    assert "No space left" in capsys.readouterr().err
    assert Image.open("x.png").size == (64, 48)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="a folder that takes no files, even of root's")
@pytest.mark.parametrize(
    "options",
    [
        *("-o {}/a.mp4", "-o {}/a.webm", "-o {}/a.png", "-o {}/a.exr", "-o {}/fr"),
        *("--volumes {}/v", "--flip-book {}/a.png", "--flow-map {}/a.png", "--save {}/a.fluid"),
    ],
)
def test_a_folder_that_takes_no_files_is_refused_early(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], options: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gpufluid.Fluid.step", lambda *_: pytest.fail("a step was taken first"))
    assert main(["demo", "--frames", "1", *SMALL, *options.format("/proc").split()]) == 2
    error = capsys.readouterr().err
    assert "cannot write in the folder /proc" in error and error.count("\n") == 1
    assert names(tmp_path) == []


@pytest.mark.parametrize("suffix", [".mp4", ".webm", ".mov"])
@pytest.mark.parametrize("fails", ["encode", "mux"])
def test_an_encoder_that_fails_keeps_the_frames_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, fails: str
) -> None:
    """It runs in this process, so nobody can kill it; what it can do is to fail, here at the 60th frame."""
    opened, done = Film._open, 0

    class Failing:
        def __init__(self, real: Any) -> None:
            self.__dict__["real"] = real

        def __getattr__(self, name: str) -> Any:
            return self._failing if name == fails else getattr(self.real, name)

        def __setattr__(self, name: str, value: Any) -> None:
            setattr(self.real, name, value)

        def _failing(self, *given: Any) -> Any:
            nonlocal done
            done += 1
            if done > 60:
                raise av.error.ExternalError(22, "the encoder is gone")
            return getattr(self.real, fails)(*given)

    def open_failing(self: Film) -> None:
        opened(self)
        part = "_stream" if fails == "encode" else "_container"
        setattr(self, part, Failing(getattr(self, part)))

    monkeypatch.setattr(Film, "_open", open_failing)
    noise = np.random.default_rng(0)
    with pytest.raises(gf.GpufluidError, match=r"could not be written: .*; it keeps \d+ frames?"):  # noqa: SIM117
        with Film(tmp_path / f"a{suffix}", (64, 48), fps=5.0) as film:
            for _ in range(200):
                film.write(noise.integers(0, 256, (48, 64, 3), np.uint8))
    assert names(tmp_path) == [f"a{suffix}"]
    with av.open(str(tmp_path / f"a{suffix}")) as kept:
        assert 5 <= len(list(kept.decode(video=0))) <= 100


def test_what_waits_is_left_out_when_time_is_over() -> None:
    """After a stop a second is waited for frames that wait to be written; the one that is written is."""
    from gpufluid.io.background import Background

    behind, done = Background("test", waiting=9), []
    for n in range(9):
        behind.do(lambda n=n: (time.sleep(0.3), done.append(n)))
    start = time.monotonic()
    behind.close(lambda: done.append("end"), patience=0.7)
    assert time.monotonic() - start < 2.4  # all of it takes 2.7
    assert done[-1] == "end" and done[:2] == [0, 1] and len(done) < 9


def test_an_encoder_is_not_waited_for_when_time_is_over(tmp_path: Path) -> None:
    """It holds dozens of frames; what came out of it is the film, and its frames are counted."""
    noise = np.random.default_rng(0).integers(0, 256, (540, 960, 3), np.uint8)
    taken, frames = [], []
    for patience in (None, 0.05):
        film = Film(tmp_path / f"{patience}.mp4", (960, 540), fps=60.0)
        for n in range(40):
            film.write(np.roll(noise, n, axis=1))
        film._worker._pending[-1].result()
        start = time.monotonic()
        film.close(patience)
        taken.append(time.monotonic() - start)
        frames.append(film.frames)
        assert frame_count(film.path) == film.frames
    assert frames[0] == 40 and 1 <= frames[1] < 40
    assert taken[1] < 0.5 * taken[0]
    assert names(tmp_path) == ["0.05.mp4", "None.mp4"]


@pytest.mark.parametrize("kind", ["still", "folder"])
def test_a_picture_is_not_waited_for_when_time_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """One that takes long to write, as large ones do; the film beside it is whole."""
    from gpufluid.io import images

    quick = images._eight_bits

    def slow(*given: Any) -> None:
        time.sleep(4.0)
        quick(*given)

    def update(scene: gf.Scene, at: float) -> None:
        if scene.frame == 1:
            times.append(time.monotonic())
            raise KeyboardInterrupt

    times: list[float] = []
    monkeypatch.setattr(images, "_eight_bits", slow)
    scene = gf.Scene(gf.Fluid(gf.Grid((6, 8, 5), cell_size=0.1)), update=update)
    outputs = {"still": {"out": "a.mp4", "still": "a.png"}, "folder": {"out": "frames"}}[kind]
    outputs = {name: str(tmp_path / path) for name, path in outputs.items()}
    with pytest.raises(KeyboardInterrupt):
        gf.run(scene, size=(16, 16), progress=False, frames=9, **outputs)
    assert time.monotonic() - times[0] < QUICK
    abandon()
    if kind == "still":
        assert names(tmp_path) == ["a.mp4"] and frame_count(tmp_path / "a.mp4") == 1
    else:
        assert not list((tmp_path / "frames").glob("*.png"))


def test_half_written_files_are_removed_when_a_process_leaves(tmp_path: Path) -> None:
    from gpufluid.common.files import whole_file

    with contextlib.suppress(gf.GpufluidError), whole_file(tmp_path / "a.bin") as partial:
        partial.write_bytes(b"half")
        abandon()
        assert names(tmp_path) == []
    with whole_file(tmp_path / "b.bin") as partial:
        partial.write_bytes(b"whole")
    abandon()
    assert names(tmp_path) == ["b.bin"]
    assert os.stat(tmp_path / "b.bin").st_size == 5  # noqa: PTH116


def test_a_signal_that_nobody_handles_still_ends_the_process() -> None:
    """It was lost where it came while something was written."""
    code = """
        import signal
        from gpufluid.common.stops import unbroken
        with unbroken():
            signal.raise_signal(signal.SIGTERM)
            print("written", flush=True)
        print("and on")
    """
    done = python("-c", textwrap.dedent(code))
    assert (done.returncode, done.stdout) == (-signal.SIGTERM, "written\n"), done.stderr


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_waits_for_the_end_of_a_step(monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """Half a step was left to whoever went on, as in a notebook; who presses it twice does not wait."""
    fluid, stepped = gf.Fluid(gf.Grid((4, 4, 4)), backend="numpy"), []
    step, before = fluid._solver.step, signal.getsignal(signal.SIGINT)

    def struck(*given: object) -> None:
        for _ in range(times):
            signal.raise_signal(signal.SIGINT)
        step(*given)
        stepped.append(True)

    monkeypatch.setattr(fluid._solver, "step", struck)
    with pytest.raises(KeyboardInterrupt):
        fluid.step(0.1)
    assert stepped == [True][: 2 - times] and fluid.time == pytest.approx(0.1 * (2 - times))
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_waits_for_no_long_step(monkeypatch: pytest.MonkeyPatch) -> None:
    fluid, before = gf.Fluid(gf.Grid((4, 4, 4)), backend="numpy"), signal.getsignal(signal.SIGINT)

    def long(*given: object) -> None:
        signal.raise_signal(signal.SIGINT)
        end = time.monotonic() + 60.0
        while time.monotonic() < end:
            time.sleep(0.01)

    monkeypatch.setattr(fluid._solver, "step", long)
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        fluid.step(0.1)
    assert time.monotonic() - began < 30.0 and signal.getsignal(signal.SIGINT) is before


def test_a_handler_that_was_set_in_c_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python cannot put it back: the body ended in a TypeError, and the handler was lost."""
    monkeypatch.setattr(signal, "getsignal", lambda number: None)
    before, there = [], signal.signal
    monkeypatch.setattr(signal, "signal", lambda *given: before.append(given) or there(*given))
    with unbroken((signal.SIGTERM,)):
        pass
    assert not before
