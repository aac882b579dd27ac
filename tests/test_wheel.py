"""The wheel, not the checkout: what a user installs renders a film from an empty folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import av
import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the sdist, which is built from the checkout."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)],
        check=True,
        capture_output=True,
    )
    assert list(folder.glob("*.tar.gz"))
    (built,) = folder.glob("*.whl")
    return built


def test_wheel_holds_kernels_and_demos(wheel: Path) -> None:
    inside = set(zipfile.ZipFile(wheel).namelist())
    shaders = {f"gpufluid/{p.relative_to(ROOT).as_posix()}" for p in ROOT.glob("glsl/**/*.glsl")}
    demos = {f"gpufluid/{p.relative_to(ROOT).as_posix()}" for p in ROOT.glob("demos/*.*")}
    assert shaders
    assert {".py", ".toml", ".png"} <= {Path(name).suffix for name in demos}
    data = {"gpufluid/py.typed", "gpufluid/render/blue_noise.npy"}
    assert shaders | demos | data <= inside
    assert not any(name.startswith(("tests/", "demos/", "glsl/")) for name in inside)


TYPED = """
from collections.abc import Iterator

import gpufluid as gf
import numpy as np


def story(ctx: object = None) -> Iterator[gf.Scene | None]:
    with gf.Fluid(gf.Grid((8, 8, 8)), backend="numpy") as fluid:
        yield gf.Scene(fluid)
        yield None


place = np.array((0.5, 0.5, 0.5))
ball = gf.Obstacle(gf.Sphere(place, 0.1), position=place, spin=[0.0, 1.0, 0.0])
ball.position = place
gf.Emitter(gf.Sphere(radius=0.1), position=place, motion=place, density=1.0)
gf.Scene(gf.Fluid(gf.Grid((8, 8, 8))), gf.Camera(place), lights=[gf.PointLight(place, color=[1, 0, 0])])
gf.Vortex(place, axis=place, strength=1.0, radius=1.0)
gf.run(story)
gf.Fliud
gf.Grid("8")
gf.Vortex("here", strength=1.0, radius=1.0)
"""


def test_a_type_checker_sees_the_public_names(tmp_path: Path) -> None:
    """It took any misspelt name for one of the package, and refused a story, and arrays as places."""
    (tmp_path / "typed.py").write_text(TYPED)
    # In this folder, where `make lint` has kept what it knows of the package.
    command = [sys.executable, "-m", "mypy", "--no-error-summary", str(tmp_path / "typed.py")]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)
    told = [re.sub(";.*|  .*", "", line.partition("error: ")[2]) for line in done.stdout.splitlines()]
    assert told == [
        'Module has no attribute "Fliud"',
        'Argument 1 to "Grid" has incompatible type "str"',
        'Argument 1 to "Vortex" has incompatible type "str"',
    ], done.stdout


def test_installed_wheel_renders_the_demo(wheel: Path, tmp_path: Path) -> None:
    home = tmp_path / "env"
    venv.create(home, with_pip=False)
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "--python",
            str(python),
            "install",
            "--no-deps",
            "--no-index",
            str(wheel),
        ],
        check=True,
        capture_output=True,
    )
    # The packages it needs are those of this environment. Its .pth files, which may lead to the checkout,
    # are not read: that only happens to a site folder.
    site = next(home.glob("[Ll]ib/**/site-packages"))
    paths = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (site / "packages-of-the-tests.pth").write_text("\n".join(paths))
    work = tmp_path / "work"
    work.mkdir()
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "DISPLAY", "WAYLAND_DISPLAY")}

    def run(*command: str) -> str:
        done = subprocess.run(
            [str(python.parent / command[0]), *command[1:]],
            check=False,
            capture_output=True,
            text=True,
            cwd=work,
            env=env,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert Path(run("python", "-c", "import gpufluid; print(gpufluid.__file__)").strip()).is_relative_to(site)
    assert "plume" in run("gpufluid", "demo", "--list")
    made = run(
        *("gpufluid", "demo", "--frames", "3", "--size", "64x36", "--cells", "12", "18", "12", "-o", "x.mp4")
    )
    assert f"wrote {work / 'x.mp4'} (3 frames, 64 x 36)" in made
    with av.open(str(work / "x.mp4")) as film:
        frames = [frame.to_ndarray(format="rgb24") for frame in film.decode(video=0)]
    assert [frame.shape for frame in frames] == [(36, 64, 3)] * 3
    assert frames[-1].std() > 5.0, "the picture is of one colour"
