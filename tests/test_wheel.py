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

grid = gf.Grid(np.array((8, 8, 8)), np.float32(0.1), origin=place)
cells: tuple[int, int, int] = grid.cells
corner: tuple[float, float, float] = gf.Grid([8, 8, 8], origin=[0.0, 0.0, 0.0]).origin
fluid = gf.Fluid(grid, gf.Boundaries(left=gf.Inflow(place), top=gf.Wall(velocity=place)))
fluid.boundaries = fluid.boundaries.but(left=gf.Inflow([1.0, 0.0, 0.0]))
fluid.step(np.float32(0.1))
fluid.advance(np.float32(0.1), np.float32(2.0))
fluid.scroll(np.array((1, 0, 0)))
fluid.follow(place, dead_zone=np.float32(0.1))
fluid.forces_on([place], 1.0, drag_coefficient=np.float32(0.5), air_density=np.float32(1.2))
camera = gf.Camera(place)
camera.eye = place
eye: tuple[float, float, float] = camera.eye
camera.frame(place, place)
hand = gf.Hand(color=place)
smoke = gf.Smoke(pigments=[place, place, place])
seeds = gf.Seeds(place, [1.0, 1.0, 1.0], np.array((2, 2, 2)))
lines = gf.StreamlinesView(seeds=seeds, range=np.array((0.0, 1.0)))
source = gf.ParticleSource(gf.Sphere(place, 0.1), color=place, velocity=place)
views = [lines, gf.ParticlesView(sources=[source]), gf.SliceView(point=place, normal=place, range=[0, 1])]
scene = gf.Scene(fluid, camera, smoke=smoke, hand=hand, views=[*views, gf.IsoSurfaceView(color=place)])
scene.picture.background = place
scene.lights = (gf.PointLight(place),)
scene.lights.append(gf.Light(place))
scene.views.append(lines)
scene.draw(gf.Image(np.ones((2, 2)), size=[1.0, 1.0]), 1.0, color=place, velocity=place)
scene.stroke(place, place)
gf.grid_of_seeds(place, place, np.array((2, 2, 2)))
gf.line_of_seeds(place, place, 2)

gf.Fliud
gf.Grid("8")
gf.Vortex("here", strength=1.0, radius=1.0)
fluid.densty
fluid.smokee = 1.0
fluid.emitters[0] = gf.Emitter(gf.Sphere())
fluid.emitters += [gf.Emitter(gf.Sphere())]
fluid.density[0]
scene.lights + (gf.PointLight(place),)
gf.FrameRenderer(fluid.ctx).paynt = place
gf.VolumeRenderer(fluid.ctx).slises = 4
"""


def test_a_type_checker_sees_the_public_names(tmp_path: Path) -> None:
    """It took any misspelt name for one of the package or of a fluid, and refused a story, and arrays."""
    (tmp_path / "typed.py").write_text(TYPED)
    # In this folder, where `make lint` has kept what it knows of the package.
    command = [sys.executable, "-m", "mypy", "--no-error-summary", str(tmp_path / "typed.py")]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)
    errors = [line.partition("error: ")[2] for line in done.stdout.splitlines() if "error: " in line]
    told = [re.sub(";.*|  .*", "", error) for error in errors]
    assert told == [
        'Module has no attribute "Fliud"',
        'Argument 1 to "Grid" has incompatible type "str"',
        'Argument 1 to "Vortex" has incompatible type "str"',
        '"Fluid" has no attribute "densty"',
        '"Fluid" has no attribute "smokee"',
        'Unsupported target for indexed assignment ("Things[Emitter]")',
        'Unsupported left operand type for + ("Things[Emitter]")',
        'Value of type "ScalarField" is not indexable',
        'No overload variant of "__add__" of "list" matches argument type "tuple[PointLight]"',
        '"FrameRenderer" has no attribute "paynt"',
        '"VolumeRenderer" has no attribute "slises"',
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
