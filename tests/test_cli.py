"""The command: bad input is one clear line and leaves no file; good input leaves what it says."""

from __future__ import annotations

import importlib
import json
import os
import re
import runpy
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import av
import numpy as np
import pytest
from driver import PATIENCE, python
from PIL import Image

import gpufluid
from gpufluid.app import cli, play
from gpufluid.app.cli import main
from gpufluid.app.demos import demo_names
from gpufluid.app.info import OPTIONAL, largest_cube, package_lines
from gpufluid.contract.layout import layouts
from gpufluid.description.grid import Grid

pytestmark = pytest.mark.usefixtures("one_context")
HANGUP = getattr(signal, "SIGHUP", 1)  # of a terminal that is closed
SMALL = ("--size", "64x36", "--cells", "12", "18", "12")
HEADLESS = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder, without a display."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    return tmp_path


def command(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return python("-m", "gpufluid", *words, cwd=cwd, env=HEADLESS)


def begun(*words: str, cwd: Path, number: int) -> subprocess.Popen[str]:
    """The plume without end, in a process that a signal of this number reaches."""
    return subprocess.Popen(
        [sys.executable, "-m", "gpufluid", "demo", "--frames", "100000", *words],
        cwd=cwd,
        env=HEADLESS,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # what starts the tests may ignore it
    )


def names(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def frame_count(path: Path) -> int:
    with av.open(str(path)) as film:
        return sum(1 for _ in film.decode(video=0))


BAD = [
    (
        "dmeo",
        "there is no command 'dmeo', only demo, run, studio, new, scenes, info, bench; did you mean 'demo'?",
    ),
    ("runn smoke.toml", "did you mean 'run'?"),
    ("demo plum", "error: there is no demo 'plum'; did you mean 'plume'?"),
    ("demo zzz", "there is no demo 'zzz'; `gpufluid scenes` lists the demos"),
    ("new mine --from embed_glfw", "embed_glfw is no scene but a program of its own: python "),
    ("demo --frames 0", "--frames: must be a whole number >= 1, got '0'"),
    ("demo --frames -3", "--frames: must be a whole number >= 1, got '-3'"),
    ("demo --frames many", "--frames: must be a whole number >= 1, got 'many'"),
    ("demo --frames 1e99999", "--frames: must be a whole number >= 1"),
    ("demo --size 640", "--size: must look like 640x360, got '640'"),
    ("demo --size 0x90", "the width of a picture must lie in 1 .. 16384 pixels, got 0"),
    ("demo --size=-4x90", "the width of a picture must lie in 1 .. 16384 pixels, got -4"),
    ("demo --size 160x99999", "the height of a picture must lie in 1 .. 16384 pixels, got 99999"),
    ("demo --fps 0", "--fps: the rate must be a finite number > 0"),
    ("demo --fps nan", "--fps: the rate must be a finite number > 0"),
    ("demo --cells 4 4", "--cells: expected 3 arguments, as in --cells 64 96 64"),
    ("demo --cells 4 0 4", "--cells: must be a whole number >= 1, got '0'"),
    ("demo --cells 4 -4 4", "--cells: must be a whole number >= 1, got '-4'"),
    (
        "demo --backend vulkan",
        "--backend: backend must be one of 'auto', 'compute', 'fragment', got 'vulkan'",
    ),
    ("demo --backend computer", "did you mean 'compute'?"),
    ("demo --colour", "unrecognized arguments: --colour"),
    (
        "run --fremes 3",
        "unrecognized arguments: --fremes; did you mean '--frames'? (see: gpufluid run --help)",
    ),
    ("demo -o missing/x.mp4", "missing/x.mp4: the folder missing does not exist"),
    ("demo -o x.avi", "x.avi: cannot write .avi files"),
    ("demo -o taken.mp4", "taken.mp4: exists already"),
    ("demo -o taken", "taken: holds 1 numbered picture already"),
    ("demo -o box.png", "box.png: is a folder"),
    ("demo -o taken.mp4/x.png", "taken.mp4 is not a folder"),
    ("run --obstacle missing.obj -o x.mp4", "missing.obj does not exist"),
    ("run --obstacle empty.obj -o x.mp4", "empty.obj is empty"),
    ("run --obstacle words.obj -o x.mp4", "words.obj"),
    ("run --obstacle words.txt -o x.mp4", "words.txt must end in"),
    ("run --obstacle box.png -o x.mp4", "box.png must end in"),
    ("run candel", "candel: a scene is a .toml or a .py file; did you mean 'candle'?"),
    ("run candle --set wick=3", "candle.py"),
    ("run candle --obstacle words.obj", "--obstacle goes with the plume"),
    ("demo campfire --set settings.bouyancy=1", "did you mean 'buoyancy'?"),
    ("run mine", "mine: a scene is a .toml or a .py file; did you mean 'mine.toml'?"),
    ("run .", ".: a scene is a .toml or a .py file"),
    ("run nothing", "nothing: a scene is a .toml or a .py file; `gpufluid scenes` lists"),
    ("run words.OBJ", "a .py file; did you mean 'gpufluid run --obstacle words.OBJ'?"),
    ("studio plum", "plum: a scene is a .toml or a .py file; did you mean 'plume'?"),
    ("demo --cells 3000 3000 3000 -o x.mp4", "the limit here is"),
    ("mine.toml", "scenes, info, bench; did you mean 'gpufluid run mine.toml'? (see: gpufluid --help)"),
    ("candle --frames 3", "did you mean 'gpufluid run candle'?"),
    ("--versoin", "unrecognized arguments: --versoin; did you mean '--version'? (see: gpufluid --help)"),
    ("run mien.toml", "mien.toml: there is no such file; did you mean 'mine.toml'?"),
    ("run nofile.toml", "nofile.toml: there is no such file\n"),
    ("run box.py", "box.py: is a folder\n"),
    (f"run {'n' * 300}.toml", ".toml: there is no such file\n"),
    (f"run {'n' * 300}/mine.toml", "/mine.toml: there is no such file\n"),
    (f"demo embed_{'n' * 300}", "`gpufluid scenes` lists the demos"),
    (f"bench --page {'n' * 300}.md", ".md: could not be written: File name too long\n"),
    ("run smoke.toml", "smoke.toml: there is no such file; the demo is 'smoke'"),
    ("run mine.tml", "mine.tml: a scene is a .toml or a .py file; did you mean 'mine.toml'?"),
    ("demo smoke.toml", "demo must be a name, got 'smoke.toml'; did you mean 'smoke'?"),
    ("demo smoke --set dt 0.1", "--set: a change must look like settings.viscosity=0.001, got 'dt'"),
    ("demo smoke --set emitters.density=3", "the name 'density'; say of which, as in emitters[0].density"),
    (
        "demo smoke --volumes a.vdb",
        "a.vdb: volumes are written into a folder, one a frame; name one, as in a",
    ),
    ("demo smoke --save a.png", "a.png: the state is no picture or film: save it as a.fluid, and write"),
]


@pytest.mark.parametrize(("words", "message"), BAD, ids=[words or "nothing" for words, _ in BAD])
def test_bad_input_is_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], words: str, message: str
) -> None:
    (folder / "taken.mp4").write_text("mine")
    (folder / "taken").mkdir()
    (folder / "taken/frame_0001.png").write_text("mine")
    (folder / "box.png").mkdir()
    (folder / "box.py").mkdir()
    (folder / "empty.obj").touch()
    (folder / "mine.toml").touch()
    for name in ("words.obj", "words.txt"):
        (folder / name).write_text("no mesh at all\n")
    before = names(folder)
    assert main(words.split()) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("gpufluid: error: ")
    assert told.err.count("\n") == 1
    assert message in told.err
    assert names(folder) == before
    assert (folder / "taken.mp4").read_text() == "mine"


def test_more_digits_than_python_reads(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--size", f"{'9' * 5000}x3"]) == 2
    told = capsys.readouterr().err
    assert "--size: " in told and "invalid" not in told


@pytest.mark.parametrize("words", ["demo candle", "run candle", "run clear.toml"])
def test_a_clear_picture_makes_a_film_with_alpha(folder: Path, words: str) -> None:
    """Where the user has named no file: what cannot hold it would be refused."""
    clear = '[grid]\ncells = [4, 4, 4]\n[picture]\nbackground = "transparent"\n'
    (folder / "clear.toml").write_text(clear)
    few = ["--cells", "12", "16", "12"] if "candle" in words else []
    assert main([*words.split(), "--frames", "1", "--size", "64x36", *few]) == 0
    stem = Path(words.split()[1]).stem
    assert {f"{stem}.webm", f"{stem}.png"} <= set(names(folder))


def test_a_demo_is_changed_and_copied(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As a scene of one's own is: by what it says, or as a file to go on from, with what it names."""
    small = ["--frames", "1", "--size", "64x36", "--cells", "8", "8", "8"]
    (folder / "benard").mkdir()  # something else of that name
    for command in ("demo", "run"):
        words = [command, "benard", "--set", "rayleigh=2000", "-o", "a.png", "--overwrite", "--quiet"]
        assert main([*words, *small]) == 0
        assert capsys.readouterr() == ("", "")
    assert main(["new", "mine", "--from", "logo"]) == 0
    assert set(names(folder)) == {"a.png", "benard", "mine.toml", "logo.png"}
    assert main(["run", "mine.toml", "-o", "b.png", *small]) == 0
    assert main(["new", "other", "--from", "benard"]) == 0
    assert main(["run", "other.py", "-o", "c.png", *small]) == 0
    (folder / "logo.png").unlink()
    capsys.readouterr()
    for words, message in (
        ("new mine --from logo", "mine.toml: exists already"),
        ("new x --from lgo", "did you mean 'logo'?"),
        ("new x.toml --from benard", "the demo benard is a script, x.py"),
    ):
        assert main(words.split()) == 2
        assert message in capsys.readouterr().err
    assert "logo.png" not in names(folder)


def test_bad_input_of_the_process(folder: Path) -> None:
    done = command("run", "--obstacle", "missing.stl", cwd=folder)
    assert done.returncode == 2
    assert done.stderr == "gpufluid: error: mesh file missing.stl does not exist\n"
    assert names(folder) == []


def test_a_bad_variable_is_not_blamed_on_an_option(tmp_path: Path) -> None:
    for words in ("demo --size 64x36 -o a.png", "info"):
        done = spoken(words, tmp_path, env={"GPUFLUID_DEBUG": "foo"})
        told = b"gpufluid: error: GPUFLUID_DEBUG must be one of 'gl', 'numbers', got 'foo'\n"
        assert (done.returncode, done.stderr) == (2, told)


@pytest.mark.parametrize(("given", "code", "told"), [("", 0, ""), ("3", 3, ""), ("'enough'", 1, "enough\n")])
def test_a_script_that_exits(folder: Path, given: str, code: int, told: str) -> None:
    (folder / "mine.py").write_text(f"import sys\nsys.exit({given})\n")
    done = command("run", "mine.py", "-o", "a.png", cwd=folder)
    assert (done.returncode, done.stderr) == (code, told)


def test_an_empty_name_is_no_scene(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", ""]) == 2
    assert capsys.readouterr().err == "gpufluid: error: '': a scene is a .toml or a .py file\n"


@pytest.mark.skipif(sys.platform != "linux", reason="file names that are no text")
@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
@pytest.mark.parametrize("name", [b"caf\xc3\xa9", b"caf\xe9"], ids=["UTF-8", "Latin-1"])
def test_names_that_are_no_text(folder: Path, name: bytes, locale: str) -> None:
    """As of files from other machines: a scene is written, titled and played, by whatever name."""
    env = HEADLESS | {"LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}

    def run(*words: bytes | str) -> None:
        command = [sys.executable, "-m", "gpufluid", *words]
        subprocess.run(command, check=True, cwd=folder, env=env, capture_output=True)

    run("new", name)
    (path,) = folder.iterdir()
    assert os.fsencode(path.name) == name + b".toml"
    title = name.decode(errors="replace")
    assert f'title = "{title}"' in path.read_text(encoding="utf-8")
    path.write_text(path.read_text(encoding="utf-8").replace("title =", "#"), encoding="utf-8")
    run(
        "run",
        name + b".toml",
        "--frames",
        "1",
        "-o",
        name + b"/",
        "--size",
        "16x16",
        "--cells",
        "8",
        "12",
        "8",
    )
    told = json.loads((Path(os.fsdecode(name)) / "frames.json").read_text())
    assert (told["title"], told["frames"]) == (title, 1)


def test_an_open_mesh_is_a_warning_in_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "open.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    assert main(["run", "--obstacle", "open.obj", "-o", "x.png", "--frames", "1", *SMALL]) == 0
    told = [line for line in capsys.readouterr().err.splitlines() if "warning" in line]
    assert len(told) == 1
    assert told[0].startswith("gpufluid: warning: ")


def test_version_and_list(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"gpufluid {gpufluid.__version__}\n"
    assert main(["demo", "--list"]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert listed == sorted(listed) and {"plume", "flame", "fireball", "blast"} <= set(listed)


def test_info(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info"]) == 0
    told = capsys.readouterr().out
    for word in ("renderer", "OpenGL", "passes", "largest texture", "largest grid", "moderngl"):
        assert word in told


def test_info_tells_every_package_that_an_extra_brings(monkeypatch: pytest.MonkeyPatch) -> None:
    """It said nothing of msgspec, without which no scene file is read."""
    project = (Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8")
    listed = re.search(r'^all = \["gpufluid\[(.*)\]"\]', project, re.MULTILINE)
    assert listed
    extras = [re.search(rf"^{name} = \[(.*)\]", project, re.MULTILINE) for name in listed[1].split(",")]
    brought = {name for extra in extras if extra for name in re.findall(r'"([\w-]+)>=', extra[1])}
    elsewhere = {"tomli"} if sys.version_info >= (3, 11) else {"imgui-bundle"}  # as their markers say
    assert brought - elsewhere == set(OPTIONAL)
    monkeypatch.setattr("gpufluid.app.info.find_spec", lambda module: None)
    assert [line for line in package_lines() if line.startswith("missing")] == [
        f'missing          {", ".join(OPTIONAL)}: pip install "gpufluid[all]"'
    ]


@pytest.mark.parametrize(
    ("version", "told"), [((3, 10), "panel, from Python 3.11 on, needs"), ((3, 11), "panel needs")]
)
def test_the_studio_without_its_package(
    version: tuple[int, int], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has no wheels for Python 3.10, so that pip could not install [all] there; now no extra brings it."""
    importlib.import_module("glfw")  # which asks for the version, too
    monkeypatch.setitem(sys.modules, "imgui_bundle", None)
    monkeypatch.setattr(sys, "version_info", version)
    with pytest.raises(gpufluid.MissingDependencyError, match=rf"{told} the package 'imgui-bundle': pip"):
        runpy.run_path(str(Path(cli.__file__).with_name("studio") / "ui.py"))


@pytest.mark.parametrize("limit", [7, 64, 1024, 16384])
def test_largest_cube_fits_and_the_next_does_not(limit: int) -> None:
    n = largest_cube(limit)
    for layout in layouts(Grid((n, n, n)), limit).values():
        assert max(layout.texture_size) <= limit
    with pytest.raises(gpufluid.GpufluidError):
        for layout in layouts(Grid((n + 1,) * 3), limit).values():
            _ = layout.texture_size


def test_output_that_nobody_reads_is_no_error(tmp_path: Path) -> None:
    """As of ``gpufluid info | head -1``."""
    reads, writes = os.pipe()
    os.close(reads)
    with os.fdopen(writes, "w") as pipe:
        done = subprocess.run(
            [sys.executable, "-m", "gpufluid", "info"], cwd=tmp_path, stdout=pipe, stderr=subprocess.PIPE
        )
    assert (done.returncode, done.stderr) == (141, b"")


def test_no_words_are_answered_with_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main([])
    told = capsys.readouterr().out
    assert told.startswith("usage: gpufluid") and "demo" in told


FULL = Path("/dev/full")
LISTED = (
    "info",
    "demo --list",
    "scenes",
    "run --help",
    "--version",
    "bench --backend numpy --cells 6 6 6 --samples 1 --json",
)


def spoken(words: str, cwd: Path, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """The command in a process of its own, whose output is buffered, with a locale that knows ASCII only."""
    env = HEADLESS | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    env |= options.pop("env", {})
    env.pop("PYTHONUNBUFFERED", None)
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    return subprocess.run([sys.executable, "-m", "gpufluid", *words.split()], cwd=cwd, env=env, **options)


@pytest.mark.parametrize("env", [{}, {"PYTHONIOENCODING": "ascii:strict"}], ids=["locale", "variable"])
def test_what_an_encoding_lacks_is_escaped(tmp_path: Path, env: dict[str, str]) -> None:
    done = spoken("scenes", tmp_path, env=env)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"B\\xe9nard" in done.stdout and len(done.stdout.splitlines()) == len(demo_names())


@pytest.mark.skipif(not FULL.exists(), reason="a device that is always full")
@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["at once", "line by line"])
@pytest.mark.parametrize("words", LISTED)
def test_output_that_cannot_be_written_is_one_line(tmp_path: Path, words: str, unbuffered: str) -> None:
    with FULL.open("w") as full:
        done = spoken(words, tmp_path, stdout=full, env={"PYTHONUNBUFFERED": unbuffered})
    told = done.stderr.decode()
    assert told == "gpufluid: error: standard output could not be written: No space left on device\n"
    assert done.returncode == 2
    if words == "info":  # where nobody can be told it is at least no success
        with FULL.open("w") as full:
            assert spoken(words, tmp_path, stdout=full, stderr=full).returncode == 2


@pytest.mark.skipif(not FULL.exists(), reason="a device that is always full")
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_run_is_not_lost_with_what_tells_of_it(folder: Path, stream: str) -> None:
    """Neither where the lines of what was written nor where the bar of progress finds no room."""
    with FULL.open("w") as full:
        words = f"demo --frames 3 -o fr --save end.fluid {' '.join(SMALL)}"
        done = spoken(words, folder, **{stream: full})
    assert done.returncode == (2 if stream == "stdout" else 0)
    assert b"Traceback" not in (done.stderr or b"")
    assert names(folder) == ["end.fluid", "fr"]
    about = json.loads((folder / "fr/frames.json").read_text())
    assert (about["frames"], about["complete"]) == (3, True)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX pipes")
def test_a_run_is_not_lost_with_who_reads_of_it(folder: Path) -> None:
    """As of ``gpufluid demo ... | head -1``, which has read its line and is gone."""
    reads, writes = os.pipe()
    os.close(reads)
    with os.fdopen(writes, "w") as pipe:
        done = spoken(f"demo --frames 2 -o fr --save end.fluid {' '.join(SMALL)}", folder, stdout=pipe)
    assert done.returncode == 141 and b"rror" not in done.stderr
    assert json.loads((folder / "fr/frames.json").read_text())["complete"] is True


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX shells")
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams(folder: Path, closed: str) -> None:
    script = f'exec "$0" -m gpufluid demo --frames 2 -o fr {" ".join(SMALL)} {closed}'
    done = subprocess.run(["sh", "-c", script, sys.executable], cwd=folder, env=HEADLESS, capture_output=True)
    assert done.returncode == 0 and b"Traceback" not in done.stderr
    assert json.loads((folder / "fr/frames.json").read_text())["complete"] is True


def test_demo_without_a_display_leaves_film_and_picture(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = command("demo", "--frames", "3", *SMALL, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert names(folder) == ["plume.mp4", "plume.png"]
    assert frame_count(folder / "plume.mp4") == 3
    picture = np.asarray(Image.open(folder / "plume.png"))
    assert picture.shape == (36, 64, 3)
    assert picture.std() > 5.0, "the picture is of one colour"
    assert done.stdout.splitlines() == [
        f"wrote {folder / 'plume.png'} (frame 3, 64 x 36)",
        f"wrote {folder / 'plume.mp4'} (3 frames, 64 x 36)",
    ]
    assert "3/3" in done.stderr
    told, *bar = [line for line in done.stderr.splitlines() if line]
    assert told == "gpufluid: no display here, so this writes plume.mp4"
    assert bar[0].startswith("compiling shaders: ") and "shaders" not in bar[-1]
    assert main(["demo", "--frames", "1", *SMALL]) == 2, "the film was overwritten"
    assert "exists already" in capsys.readouterr().err
    assert main(["demo", "--frames", "1", "--overwrite", *SMALL]) == 0
    assert frame_count(folder / "plume.mp4") == 1


def test_a_log_takes_lines(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a terminal writes over is no line of a file: it was all one, with carriage returns in it."""
    assert main(["demo", "--frames", "2", "-o", "a.png", *SMALL]) == 0
    first, *_, last = capsys.readouterr().err.split("\n")[:-1]
    assert first.startswith("compiling shaders:   0%") and first.endswith("frame/s]")
    assert last.startswith("100%") and "\r" not in first + last


def test_a_scene_that_has_fewer_frames_than_asked_for_says_so(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fluid = "gf.Fluid(gf.Grid((6, 8, 5), 0.1), ctx=ctx)"
    head = f"import gpufluid as gf\ndef scene(ctx=None):\n    fluid = {fluid}\n"
    (folder / "long.py").write_text(f"{head}    return gf.Scene(fluid, frames=3)\n")
    (folder / "story.py").write_text(f"{head}    yield gf.Scene(fluid)\n    yield\n    yield\n")
    small = ["--size", "16x16", "-o", "fr", "--overwrite", "--frames"]
    for name, said in (
        ("long.py", "gpufluid: long is over after 3 frames, not 9\n"),
        ("story.py", "gpufluid: the scene was over after 2 frames, not 9\n"),
    ):
        assert main(["run", name, *small, "9"]) == 0
        told = capsys.readouterr().err
        assert said in told and ("3/3" in told) == (name == "long.py")
        assert main(["run", name, *small, "9", "--quiet"]) == 0
        assert main(["run", name, *small, "2"]) == 0
        assert "over" not in capsys.readouterr().err


def test_run_with_a_mesh(folder: Path) -> None:
    (folder / "my.obj").write_text(TETRAHEDRON)
    assert main(["run", "--obstacle", "my.obj", "--frames", "2", "-o", "frames", *SMALL]) == 0
    assert names(folder / "frames") == ["frame_0001.png", "frame_0002.png", "frames.json"]
    assert main(["run", "--obstacle", "my.obj", "--frames", "1", "-o", "last.png", *SMALL]) == 0
    assert names(folder) == ["frames", "last.png", "my.obj"]


def test_transparent_pictures_and_films(folder: Path) -> None:
    """Alpha in pictures and in films that can hold it, and none of the studio; MP4 is refused."""
    plain = ["demo", "--frames", "2", "--transparent", *SMALL]
    assert main([*plain, "-o", "film.webm"]) == 0
    assert main([*plain, "-o", "pictures/"]) == 0
    assert main([*plain, "-o", "film.mp4"]) == 2
    assert names(folder) == ["film.webm", "pictures"]
    alpha = np.array(Image.open("pictures/frame_0002.png"))[..., 3]
    assert alpha[0, 0] == 0 and alpha.max() == 255
    with av.open("film.webm") as film:
        assert film.streams.video[0].metadata["alpha_mode"] == "1"


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (HANGUP, 129)])
def test_stopped_keeps_the_finished_frames(folder: Path, number: int, code: int) -> None:
    process = begun(*SMALL, cwd=folder, number=number)
    try:
        ends = time.monotonic() + PATIENCE
        while not list(folder.glob("plume.partial-*")):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < ends
            time.sleep(0.05)
        time.sleep(0.5)
        process.send_signal(number)
        out, err = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == code
    assert "Traceback" not in err
    # of a frame that the stop has struck before it was drawn there is no picture: nobody waits for that
    assert names(folder) in (["plume.mp4", "plume.png"], ["plume.mp4"])
    frames = frame_count(folder / "plume.mp4")
    assert frames >= 1
    assert f"wrote {folder / 'plume.mp4'} ({frames} frames, 64 x 36)" in out


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_a_signal_that_is_ignored_stays_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """As nohup has it for what goes on when the terminal is closed."""
    before = signal.signal(HANGUP, signal.SIG_IGN)
    monkeypatch.setattr(cli, "_obey", lambda words, last: signal.raise_signal(HANGUP) or 7)
    try:
        assert main([]) == 7
        assert signal.getsignal(HANGUP) == signal.SIG_IGN
    finally:
        signal.signal(HANGUP, before)


class TestRun:
    """`gpufluid.run`, as a script calls it."""

    def scene(self, ctx: object = None) -> gpufluid.Scene:
        return gpufluid.Scene(gpufluid.Fluid(gpufluid.Grid((6, 8, 5), cell_size=0.1)))

    def run(self, scene: object, **options: object) -> None:
        gpufluid.run(scene, **{"frames": 2, "size": (16, 16), "progress": False, **options})  # type: ignore[arg-type]

    def test_scene_or_function(self, folder: Path) -> None:
        self.run(self.scene, out="a.mp4")
        self.run(self.scene(), out="b.mp4", still="b.png")
        assert names(folder) == ["a.mp4", "b.mp4", "b.png"]

    def test_films_are_named_like_the_script_if_there_is_one(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """In a notebook that was once the kernel's launcher, which is the first of sys.argv there."""
        monkeypatch.setattr(play, "has_display", lambda: False)
        monkeypatch.setattr(sys, "argv", ["/somewhere/ipykernel_launcher.py", "-f", "kernel.json"])
        main = ModuleType("__main__")
        monkeypatch.setitem(sys.modules, "__main__", main)
        self.run(self.scene())
        main.__file__ = "/somewhere/mine.py"
        self.run(self.scene())
        assert names(folder) == ["gpufluid.mp4", "gpufluid.png", "mine.mp4", "mine.png"]

    def test_a_scene_goes_on_where_it_was(self, folder: Path) -> None:
        scene = self.scene()
        self.run(scene, out="a.mp4")
        self.run(scene, out="b.mp4")
        assert scene.frame == 4

    @pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
    def test_an_error_in_a_frame_keeps_those_before(self, folder: Path, error: type[BaseException]) -> None:
        def update(scene: gpufluid.Scene, time: float) -> None:
            if scene.frame == 3:
                raise error

        scene = self.scene()
        scene.update = update
        with pytest.raises(error):
            self.run(scene, out="a.mp4", frames=9)
        assert frame_count(folder / "a.mp4") == 3

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"frames": 0}, "frames must be a whole number >= 1, got 0"),
            ({"frames": 2.5}, "frames must be a whole number"),
            ({"size": (0, 4)}, "the width of a picture"),
            ({"size": (1.5, 4)}, "size must be two whole numbers"),
            ({"size": 4}, "size must be two whole numbers"),
            ({"fps": float("inf")}, "fps must be a finite number"),
            ({"out": "a.png", "still": "b.png"}, "is the last frame already"),
            ({"still": "b.mp4"}, r"must end in \.png"),
            ({"scene": "a.toml"}, r"run needs a gpufluid.Scene or .* did you mean gf\.Scene\.load"),
            (
                {"scene": gpufluid.Fluid(gpufluid.Grid((4, 4, 4)), backend="numpy")},
                r"did you mean gf\.Scene\(fluid\)\?",
            ),
            ({"scene": lambda ctx=None: None}, "must return a gpufluid.Scene"),
            ({"scene": lambda size: None}, "is called without values, but is missing a .*argument: 'size'"),
            ({"scene": lambda ctx: None}, "is called without values, but is missing a .*argument: 'ctx'"),
        ],
    )
    def test_bad_input(self, folder: Path, options: dict[str, object], message: str) -> None:
        scene = options.pop("scene", self.scene)
        with pytest.raises(gpufluid.GpufluidError, match=message):
            self.run(scene, **{"out": "a.mp4", **options})
        assert names(folder) == []

    def test_numpy_cannot_be_drawn(self, folder: Path) -> None:
        fluid = gpufluid.Fluid(gpufluid.Grid((6, 8, 5)), backend="numpy")
        with pytest.raises(
            gpufluid.GpufluidError, match='"numpy" cannot be drawn: .*load\\(file, backend="auto"'
        ):
            self.run(gpufluid.Scene(fluid), out="a.mp4")
        assert names(folder) == []

    def test_without_tqdm(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """There is no bar."""
        monkeypatch.setitem(sys.modules, "tqdm", None)
        self.run(self.scene, out="a.png", progress=True)
        assert names(folder) == ["a.png"]

    def test_a_size_over_the_drivers_limit(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(play, "check_size", lambda size: size)
        with pytest.raises(gpufluid.GpufluidError, match=r"the width .* in 1 \.\. \d+ pixels, got 1000000"):
            self.run(self.scene, out="a.png", size=(10**6, 4))
        assert names(folder) == []


def test_the_studio_opens_a_scene_with_changes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What --set says holds for the file, and for what is read of it again."""
    (folder / "box.toml").write_text("grid = { cells = [4, 4, 4] }\n[settings]\nviscosity = 0.1\n")
    found = []

    def studio(scene: Callable[..., gpufluid.Scene], watch: Path | None, **more: object) -> None:
        assert watch == Path("box.toml")
        for _ in range(2):
            with scene().fluid as fluid:
                found.append((fluid.settings.viscosity, fluid.settings.cooling))

    monkeypatch.setattr(play, "studio", studio)
    change = ["--set", "settings.viscosity=0.3", "--set", "settings.cooling=2"]
    assert main(["studio", "box.toml", "--backend", "fragment", *change]) == 0
    assert found == [(0.3, 2.0)] * 2


def test_what_python_says_of_pyrr_is_not_told(tmp_path: Path) -> None:
    """It warns of that where it first compiles it, as after an installation without compiled files."""
    nowhere = {**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path)}
    done = python("-W", "error", "-c", "import gpufluid.render.camera", env=nowhere)
    assert done.returncode == 0, done.stderr
