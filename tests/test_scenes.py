"""Scenes from files: what TOML says is built, what is wrong is named, scripts tell stories."""

from __future__ import annotations

import copy
import os
import random
import sys
import textwrap
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import moderngl
import msgspec
import numpy as np
import pytest
from saving import description_of

import gpufluid as gf
from gpufluid.app.edits import Duplication, History
from gpufluid.app.starter import write_starter
from gpufluid.common.vectors import Triple
from gpufluid.description.settings import SOLVERS
from gpufluid.description.view import FILLED
from gpufluid.numerics.solver import Solver
from gpufluid.render.camera import view_of
from gpufluid.scene import file as scene_file
from gpufluid.scene.file import build
from gpufluid.scene.saving import save_description
from gpufluid.scene.scene import AZIMUTH, ELEVATION
from gpufluid.scene.schema import SOLVER_KINDS

pytestmark = pytest.mark.usefixtures("one_context")

FULL = """
title = "everything"
dt = 0.05
duration = 0.5
seed = 3
floor = 0.0

[grid]
cells = [10, 12, 8]
cell_size = 0.1
origin = [-0.5, 0.0, -0.4]

[sides]
all = { kind = "wall", slip = "free" }
top = { kind = "open" }
left = { kind = "inflow", velocity = [0.3, 0.0, 0.0], density = 0.5 }
right = { kind = "wall", velocity = [0.0, 0.2, 0.0], temperature = 1.5 }

[settings]
advection = "bfecc"
buoyancy = { keys = [[0.0, 0.0], [0.2, 2.0]], ease = "smooth" }
cooling = 0.3
pressure = { kind = "sor", iterations = 12, omega = 1.5 }
combustion = { heat_per_burn = 2.0 }

[[emitters]]
name = "source"
shape = { kind = "sphere", center = [0.0, 0.2, 0.0], radius = { keys = [[0.0, 0.1], [1.0, 0.2]] } }
position = { formula = ["0.1 * sin(t)", 0, "0.1 * noise(t)"] }
density = 2
temperature = 1.0
fuel = 0.5
noise = 0.3

[[emitters]]
shape = { kind = "bezier", points = [[0, 0.1, 0], [0.1, 0.3, 0], [0, 0.5, 0], [0.1, 0.7, 0]], radius = 0.06 }
color = [1.0, 0.2, 0.0]

[[obstacles]]
name = "knot"
shape = { kind = "knot", fit = 0.3 }
position = [0.0, 0.7, 0.0]
rotation = { axis = [0, 1, 0], degrees = { formula = "90 * t" } }

[[obstacles]]
name = "ball"
shape = { kind = "sphere", radius = 0.1 }
position = { keys = [[0.0, [0.3, 0.3, 0.0]], [1.0, [0.3, 0.6, 0.0]]] }
temperature = 2.0

[[forces]]
name = "breeze"
kind = "wind"
velocity = [0.1, 0.0, 0.0]
rate = { formula = "t" }

[camera]
target = [0.0, 0.5, 0.0]
azimuth = { formula = "10 * t" }

[light]
direction = [0.0, -1.0, 0.0]

[[lights]]
kind = "point"
position = [0.5, 0.5, 0.5]
color = [1.0, 0.5, 0.2]

[smoke]
extinction = 30.0

[fire]
intensity = 20.0

[[views]]
kind = "particles"
count = 500
sources = [
    { shape = "source", rate = 30.0, color = [1.0, 0.5, 0.0] },
    { shape = { kind = "box", size = [0.1, 0.2, 0.1] }, share = 2.0 },
]
opacity = { keys = [[0.0, 0.1], [1.0, 0.9]] }

[[views]]
kind = "streamlines"
seeds = { low = [-0.2, 0.1, -0.2], high = [0.2, 0.1, 0.2], counts = [3, 1, 3] }
points = 40
range = [0.0, 1.0]

[[views]]
kind = "streak-lines"
seeds = [[0.0, 0.1, 0.0], [0.1, 0.1, 0.0]]
interval = 0.01

[[views]]
kind = "slice"
axis = "x"
position = { formula = "0.1 * t" }

[picture]
size = [80, 60]
fps = 24
background = "transparent"

[hand]
push = 0.5
density = { formula = "2 + t" }
color = [1.0, 0.0, 0.5]
"""


@pytest.fixture
def full(tmp_path: Path) -> Path:
    path = tmp_path / "full.toml"
    path.write_text(FULL)
    return path


def test_everything_is_built_as_it_is_said(full: Path) -> None:
    scene = gf.Scene.load(full, backend="numpy")
    fluid = scene.fluid
    assert (scene.title, scene.dt, scene.frames, scene.floor) == ("everything", 0.05, 10, 0.0)
    assert fluid.grid == gf.Grid((10, 12, 8), 0.1, (-0.5, 0.0, -0.4))
    free = gf.Wall(slip="free")
    assert fluid.boundaries == gf.Boundaries(
        left=gf.Inflow((0.3, 0.0, 0.0), density=0.5),
        right=gf.Wall(velocity=(0.0, 0.2, 0.0), temperature=1.5),
        bottom=free,
        top=gf.Open(),
        back=free,
        front=free,
    )
    assert fluid.settings == gf.Settings(
        advection="bfecc",
        buoyancy=0.0,
        cooling=0.3,
        pressure=gf.RedBlackSOR(iterations=12, omega=1.5),
        combustion=gf.Combustion(heat_per_burn=2.0),
    )
    source, curve = fluid.emitters
    assert isinstance(source.shape, gf.Sphere) and isinstance(curve.shape, gf.Bezier)
    assert (source.density, source.temperature, source.fuel, source.noise) == (2.0, 1.0, 0.5, 0.3)
    assert curve.color == (1.0, 0.2, 0.0)
    assert list(scene.names) == ["source", "knot", "ball", "breeze"]
    assert scene.names["ball"] is fluid.obstacles[1] and fluid.obstacles[1].temperature == 2.0
    assert scene.light.direction == (0.0, -1.0, 0.0) and scene.smoke.extinction == 30.0
    assert scene.lights == [gf.PointLight((0.5, 0.5, 0.5), (1.0, 0.5, 0.2))]
    assert scene.fire == gf.Fire(intensity=20.0)
    assert scene.hand == gf.Hand(push=0.5, density=2.0, color=(1.0, 0.0, 0.5))
    assert scene.picture == gf.Picture(size=(80, 60), fps=24.0, background="transparent")
    scene.release()


def test_values_follow_their_tracks(full: Path) -> None:
    scene = gf.Scene.load(full, backend="numpy")
    for _ in range(5):
        scene.advance()
    time = 0.2  # of the last frame's beginning
    assert scene.time == pytest.approx(0.25)
    assert scene.names["source"].shape.radius == pytest.approx(0.12)
    assert scene.names["source"].position[0] == pytest.approx(0.1 * np.sin(time))
    assert scene.names["ball"].position == pytest.approx((0.3, 0.36, 0.0))
    assert scene.names["breeze"].rate == pytest.approx(time)
    assert scene.fluid.settings.buoyancy == pytest.approx(2.0)
    assert scene.camera.azimuth == pytest.approx(2.0)
    half = np.radians(0.5 * 90 * time)
    assert tuple(scene.names["knot"].rotation) == pytest.approx((0.0, np.sin(half), 0.0, np.cos(half)))
    while not scene.over:
        scene.advance()
    assert scene.frame == 10
    scene.advance()
    assert scene.frame == 10
    assert scene.fluid.diagnostics().mass > 0.0
    scene.release()


def test_yes_and_no_follow_their_tracks(full: Path, tmp_path: Path) -> None:
    """A source that is switched on and off, a ball that comes and goes; written and read again."""
    changes = [
        "emitters.source.active={keys = [[0.0, false], [0.09, true], [0.19, 0]], ease = 'step'}",
        "obstacles.ball.visible={formula = 'sin(40 * t)'}",
    ]
    scene = gf.Scene.load(full, changes=changes, backend="numpy")
    save_description(scene, tmp_path / "again.toml")
    for one in (scene, gf.Scene.load(tmp_path / "again.toml", backend="numpy")):
        seen = []
        for _ in range(5):
            one.advance()
            seen.append((one.names["source"].active, one.names["ball"].visible))
        on, shown = zip(*seen, strict=True)
        assert on == (False, False, True, True, False)
        assert shown == tuple(bool(np.sin(40 * 0.05 * n) >= 0.5) for n in range(5))
        assert all(type(value) is bool for value in on)
        one.release()
    with pytest.raises(gf.SceneError, match=r"emitters\[0\].active: expected .*, got `?str"):
        gf.Scene.load(full, changes=["emitters.source.active='yes'"], backend="numpy")


def test_all_that_changes_is_as_when_the_frame_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sources, forces, settings and sides alike, in every part of a frame's step."""
    text = """
    dt = 0.5
    [grid]
    cells = [6, 6, 6]
    cell_size = 0.1
    [sides]
    all = { kind = "open" }
    left = { kind = "inflow", velocity = { formula = ["3 + t", "0", "0"] } }
    [settings]
    cfl = 2.0
    cooling = { formula = "t" }
    [[emitters]]
    shape = { kind = "sphere" }
    density = { formula = "1 + t" }
    [[forces]]
    kind = "wind"
    velocity = { formula = ["2 + t", "0", "0"] }
    """
    path = tmp_path / "a.toml"
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    scene, seen = gf.Scene.load(path, backend="numpy"), []
    substep = Solver.substep

    def watched(self: Solver, dt: float, emitters: Any, forces: Any = ()) -> None:
        side = self.boundaries.sides[0]
        seen.append(
            (side.velocity[0], self.settings.cooling, emitters[0].density, forces[0].velocity[0], self.time)
        )
        substep(self, dt, emitters, forces)

    monkeypatch.setattr(Solver, "substep", watched)
    for _ in range(2):
        scene.advance()
    second = [each for each in seen if each[-1] >= 0.5]
    assert len(second) > 1, "the step is in one part"
    assert {each[:-1] for each in second} == {(3.5, 0.5, 1.5, 2.5)}
    scene.release()


def test_arrays_come_from_files(tmp_path: Path) -> None:
    """A source and a force by the numbers of every cell; read again from what is written."""
    share = np.zeros((4, 6, 5), np.float32)
    share[1:3, 1:3, 2:4] = 1.0
    push = np.zeros((4, 6, 5, 3))
    push[..., 0] = 2.0
    np.save(tmp_path / "share.npy", share)
    np.save(tmp_path / "push.npy", push)
    text = """
    [grid]
    cells = [5, 6, 4]
    cell_size = 0.1
    [sides]
    all = { kind = "periodic" }
    [[emitters]]
    shape = { kind = "array", file = "share.npy" }
    density = 3.0
    [[forces]]
    kind = "field"
    values = { file = "push.npy" }
    strength = { formula = "1 + t" }
    """
    (tmp_path / "a.toml").write_text(textwrap.dedent(text), encoding="utf-8")
    scene = gf.Scene.load(tmp_path / "a.toml", backend="numpy")
    save_description(scene, tmp_path / "b.toml")
    for one in (scene, gf.Scene.load(tmp_path / "b.toml", backend="numpy")):
        one.advance()
        assert one.fluid.density.read().sum() == pytest.approx(3.0 * share.sum() * one.dt, rel=1e-5)
        assert one.fluid.velocity.at_centers()[..., 0].mean() == pytest.approx(2.0 * one.dt, rel=1e-4)
        one.release()
    (tmp_path / "bad.npy").write_bytes(b"\\x93NUMPY" + bytes(40))
    np.save(tmp_path / "objects.npy", np.array([{"a": 1}], object), allow_pickle=True)
    for file, says in (
        ("gone.npy", "'gone.npy' is missing"),
        ("bad.npy", "'bad.npy' is no array"),
        ("objects.npy", "'objects.npy' is no array"),
        ("../a.npy", "lies outside the scene's folder"),
    ):
        with pytest.raises(gf.SceneError, match=says):
            change = f"forces[0].values={{file = '{file}'}}"
            gf.Scene.load(tmp_path / "a.toml", changes=[change], backend="numpy")


def test_sides_over_time(tmp_path: Path) -> None:
    """Each side follows what is said of it, also of all that are not named; and is written as it was."""
    text = """
    dt = 0.1
    [grid]
    cells = [8, 6, 1]
    cell_size = 0.1
    [sides]
    all = { kind = "wall", temperature = { formula = "2 * t" } }
    left = { kind = "inflow", velocity = { keys = [[0, [0, 0, 0]], [1, [1, 0, 0]]] }, density = 0.5 }
    right = { kind = "open" }
    top = { kind = "wall", velocity = { formula = ["sin(t)", "0", "0"] } }
    """
    (tmp_path / "a.toml").write_text(textwrap.dedent(text), encoding="utf-8")
    scene = gf.Scene.load(tmp_path / "a.toml", backend="numpy")
    assert scene.fluid.boundaries.changing
    scene.provenance.told = None  # as if it were another's
    written = save_description(scene, tmp_path / "b.toml").read_text()
    assert written.count("formula") == 2 and written.count("keys") == 1
    for one in (scene, gf.Scene.load(tmp_path / "b.toml", backend="numpy")):
        for _ in range(6):
            one.advance()
        sides = one.fluid.boundaries
        assert sides.left.velocity == pytest.approx((0.5, 0.0, 0.0)) and sides.left.density == 0.5
        assert sides.top.velocity == pytest.approx((np.sin(0.5), 0.0, 0.0)) and sides.top.temperature is None
        assert sides.bottom == sides.back and sides.back.temperature == pytest.approx(1.0)
        assert one.fluid.velocity.read()[0, :6, 0, 0] == pytest.approx(0.5)
        one.release()
    change = "sides.top.velocity={formula = ['0', 'step(0.15, t)', '0']}"
    leaving = gf.Scene.load(tmp_path / "a.toml", changes=[change], backend="numpy")
    with pytest.raises(
        gf.SceneError, match=r"sides\.top\.velocity at 0.2 s: Boundaries\.top: .* must lie in"
    ):
        for _ in range(4):
            leaving.advance()
    leaving.release()


@pytest.mark.parametrize("kind", SOLVER_KINDS)
def test_every_pressure_solver_by_its_name(tmp_path: Path, kind: str) -> None:
    """In a periodic box of a power of two cells each runs, leaves no divergence and is written as it was."""
    text = """
    [grid]
    cells = [8, 8, 8]
    cell_size = 0.1
    [sides]
    all = { kind = "periodic" }
    [[emitters]]
    shape = { kind = "sphere", center = [0.4, 0.3, 0.4], radius = 0.15 }
    temperature = 1.0
    """
    path = tmp_path / "a.toml"
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    scene = gf.Scene.load(path, changes=[f"settings.pressure={{kind = '{kind}'}}"], backend="numpy")
    save_description(scene, tmp_path / "b.toml")
    again = gf.Scene.load(tmp_path / "b.toml", backend="numpy")
    for one in (scene, again):
        assert type(one.fluid.settings.pressure) is SOLVER_KINDS[kind]
        for _ in range(3):
            one.advance()
        assert 0.0 < one.fluid.diagnostics().max_speed < 1.0
        assert one.fluid.diagnostics().divergence_rms < 0.05
        one.release()
    assert set(SOLVER_KINDS.values()) == set(SOLVERS), "none is left out"


def test_the_same_file_gives_the_same_bits(full: Path, ctx: moderngl.Context) -> None:
    ends = []
    for _ in range(2):
        scene = gf.Scene.load(full, ctx, changes=["settings.advection=semi-lagrangian", "duration=0.2"])
        while not scene.over:
            scene.advance()
        ends.append(scene.fluid.density.read())
        scene.release()
    np.testing.assert_array_equal(*ends)
    assert ends[0].max() > 0.0


def test_a_word_without_quotes_before_msgspec_0_21(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its errors were no ValueError there, and --set settings.advection=bfecc ended in a traceback."""

    class DecodeError(Exception):
        pass

    def decode(text: str) -> Any:
        raise DecodeError("Invalid value (at line 1, column 9)")

    older = SimpleNamespace(DecodeError=DecodeError, toml=SimpleNamespace(decode=decode))
    monkeypatch.setattr(scene_file, "load_msgspec", lambda: older)
    given: dict[str, Any] = {}
    scene_file._change(given, "settings.advection=bfecc", Path("a.toml"))
    assert given == {"settings": {"advection": "bfecc"}}


def test_changes_over_the_file(full: Path) -> None:
    changes = [
        "settings.cooling=0.9",
        "emitters.source.density=7",
        "obstacles[1].temperature=-1",
        "title=other",
    ]
    scene = gf.Scene.load(full, changes=changes, backend="numpy", cells=(5, 6, 4))
    assert scene.fluid.settings.cooling == 0.9 and scene.names["source"].density == 7.0
    assert scene.fluid.obstacles[1].temperature == -1.0 and scene.title == "other"
    assert scene.fluid.grid.cells == (5, 6, 4) and scene.fluid.grid.size == pytest.approx((1.0, 1.2, 0.8))
    scene.release()


@pytest.mark.parametrize("word", ["true", "True", "false", "False"])
def test_yes_and_no_in_either_language(full: Path, word: str) -> None:
    """--set takes those of TOML and of Python for descriptions and scripts; 'false' in a script was true."""
    scene = gf.Scene.load(full, changes=[f"smoke.soft={word}"], backend="numpy")
    assert scene.smoke.soft is (word.lower() == "true")
    scene.release()
    path = full.parent / "asks.py"
    path.write_text(
        "import gpufluid as gf\n"
        "def scene(ctx=None, backend='auto', burns=None):\n"
        "    return gf.Scene(gf.Fluid(gf.Grid((4, 4, 4), 0.1), backend=backend), title=repr(burns))\n"
    )
    scene = gf.Scene.load(path, changes=[f"burns={word}"], backend="numpy")
    assert scene.title == word.capitalize()
    scene.release()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            "settings.visosity=1",
            "settings: the table contains unknown field visosity; did you mean 'viscosity'",
        ),
        ("settings.viscosity=-1", "settings: Settings.viscosity must be a finite number >= 0, got -1"),
        (
            "emitters.source.density=a",
            r"emitters\[0\].density: expected a number, or a table of keys, got str",
        ),
        (
            "emitters[0].shape.kind=spere",
            r"emitters\[0\].shape.kind: invalid value 'spere'; did you mean 'sphere'",
        ),
        ("emitters[0].shape.radius=-1", r"emitters\[0\].shape: Sphere.radius must be a finite number > 0"),
        ("emitters[7].density=1", r"emitters\[7\].density: there are 2, counted from 0"),
        ("lights[1].radius=1", r"lights\[1\].radius: there is one, number 0"),
        ("emitters.nope.density=1", "there is none with the name 'nope'$"),
        ("emitters.sauce.density=1", "there is none with the name 'sauce'; did you mean 'source'"),
        ("sides.left.kind=periodic", "sides.left: the table contains unknown field velocity"),
        ("sides.front={kind='periodic'}", "sides: Boundaries.back and .front must both be"),
        ("camera.fov={formula='1/t'}", "camera: the formula '1/t' has no finite value at t = 0 s"),
        ("camera.fov={keys=[[1,2],[0,3]]}", r"camera.fov: keys must rise in time, but keys\[1\] is at 0 s"),
        ("camera.fov={keys=[[1,2]],formula='t'}", "camera.fov: a value over time must have either keys or a"),
        ("grid.cells=[1,2]", "grid.cells: expected array of length 3, got 2"),
        ("grid.cells=[0,2,2]", "grid: Grid.cells along x must be a whole number >= 1"),
        ("grid.gpu_cells=[8,0,8]", "grid.gpu_cells: Grid.cells along y must be a whole number >= 1"),
        ("grid.gpu_cells=[8,8,1]", "grid.gpu_cells: must be several cells deep, as cells are"),
        (
            "grid.cells=[90000,90000,90000]",
            "grid: a fluid of 90000 x 90000 x 90000 cells takes about 2.19e.08 GB of memory",
        ),
        (
            "obstacles[1].shape={kind='mesh',file='../a.obj'}",
            r"obstacles\[1\].shape: '../a.obj' lies outside",
        ),
        ("obstacles[1].shape={kind='mesh',file='a.obj'}", "does not exist"),
        ("obstacles[1].name=knot", r"obstacles\[1\].name: 'knot' is taken already"),
        ("frames=3", "the top: frames and duration say the same thing"),
        ("views[0].kind=sparks", r"views\[0\].kind: invalid value 'sparks'"),
        (
            "views[0].sources[0].shape=sauce",
            r"views\[0\].sources\[0\].shape: must be .*did you mean 'source'",
        ),
        ("views[0].sources[1].share=-1", r"views\[0\].sources\[1\]: ParticleSource.share must be"),
        (
            "views[0].count=0",
            r"views\[0\]: ParticlesView.count must be a whole number in 1 .. 16777216, got 0",
        ),
        ("views[0].size=-1", r"views\[0\]: ParticlesView.size must be a finite number > 0"),
        ("views[1].seeds.counts=[0,1,1]", r"views\[1\].seeds: counts must be a whole number in 1 .. 1048576"),
        ("views[1].seeds.counts=[2000,1000,1]", r"views\[1\].seeds: Seeds.counts: at most 1048576 points"),
        ("views[1].seeds=[]", r"views\[1\]: StreamlinesView.seeds must be one or more points"),
        ("views[1].fade=2", r"views\[1\]: StreamlinesView.fade must lie in 0 .. 1"),
        ("views[1].range=[1,0]", r"views\[1\]: StreamlinesView.range: low must be less than high"),
        # words of other tables are no help
        ("settings.combustion={expansion=3.0}", r"field expansion; did you mean 'expansion_per_burn'"),
        (
            "settings.combustion={smoke_per_burn=-1.0}",
            r"settings\.combustion: Combustion\.smoke_per_burn must",
        ),
        (
            "views[3].lvel=3.0",
            r"views\[3\]: the table contains unknown field lvel; it may have axis, box, .*, visible$",
        ),
        ('emitters[0].shape={kind="cone"}', "shape.kind: invalid value 'cone'; one of array, .*, torus$"),
        ("views[3].fild=1", r"views\[3\]: the table contains unknown field fild; did you mean 'field'"),
        ("views[3].field=spede", r"views\[3\]: SliceView.field must be one of .*did you mean 'speed'"),
        ("smoke.visible=3", "smoke.visible: expected true or false, or a table of keys, got int"),
        ("foo=1", "the top: the table contains unknown field foo"),
        ("sides.left='wall'", r"sides.left: expected table, got str; did you mean \{ kind = \"wall\" \}\?"),
        ("emitters[0].shape='spere'", r"emitters\[0\].shape: .* did you mean \{ kind = \"sphere\" \}\?"),
        (
            "settings.pressure='x'",
            "settings.pressure: expected table, got str; its kind may be chebyshev, .*sor",
        ),
        ("camera='x'", "camera: expected table, got str$"),
        (
            "viscosity=1",
            "the top: the table contains unknown field viscosity; did you mean 'settings.viscosity'",
        ),
        ("emitters={density=1}", r"emitters: expected array, got table; did you mean \[\[emitters\]\]\?"),
        ("settings=[{buoyancy=1}]", r"settings: expected table, got array; did you mean \[settings\]\?$"),
        (
            "emitters[0].duration=3",
            r"0\]: .* unknown field duration; did you mean 'duration' at the top, above all tables\?$",
        ),
        ("emitters[0].position=1,2,3", r"expected a list of three numbers, or a table .*mean \[1, 2, 3\]\?"),
        ("emitters[0].position=(1, .5,-3e2)", r"got str; did you mean \[1, .5, -3e2\]\?$"),
        ("emitters[0].color=red", r"color: expected a list of three numbers, or a table of keys, got str$"),
        ("emitters[0].density='2.5'", "expected a number, or a table of keys, got str; did you mean 2.5?"),
        ("emitters[0].density=sin(t)", r"got str; a formula is written \{ formula = \"...\" \}$"),
        (
            "obstacles[0].rotation=[0,90,0]",
            r"expected \{ axis = \[x, y, z\], .*, or a quaternion .*, got 3 numbers",
        ),
        ("obstacles[0].rotation=90", r"expected \{ axis = .*, or a quaternion \[x, y, z, w\], got int$"),
        (
            "obstacles[0].rotation={axis=[0,1,0],degrees={formula=['t','0','0']}}",
            r"rotation.degrees: an angle must be a number, got \(0.0, 0.0, 0.0\)",
        ),
        ("obstacles[0].scale=x", "expected a number, a list of three numbers, or a table of keys, got str$"),
        (
            "lights=[{position=[0,1,0]}]",
            r"lights\[0\]: the table missing required field kind; one of point, spot",
        ),
        ("settings.combustion=true", r"settings.combustion: expected table, got bool; did you mean \{\}\?"),
        (
            "views=[{kind='particles',sources=['jet']}]",
            r"sources\[0\]: .*; did you mean \{ shape = \"jet\" \}\?",
        ),
        (
            f"emitters[0].density='{'9' * 100_000}x'",
            r"density: expected a number, or a table of keys, got str$",
        ),
        ("dt=0", "the top: dt must be > 0 seconds for a duration, got 0"),
        ("duration=1e9", r"the top: duration must be > 0 and < 1e9 seconds, got 1e\+09"),
        ("settings", "a change must look like settings.viscosity=0.001"),
        ("emitters[0.density=1", "a change must look like settings.viscosity=0.001"),
        ("emitters[0]density=1", "a change must look like settings.viscosity=0.001"),
        ("emitters[0]..density=1", "a change must look like settings.viscosity=0.001"),
        (".emitters[0].density=1", "a change must look like settings.viscosity=0.001"),
        ("picture.fps=1e9", "picture: Picture.fps must lie in 0.001 .. 1000, got 1000000000.0"),
        ("obstacles[1].shape={kind='line',points=[]}", r"shape.kind: invalid value 'line'; one of box, .*"),
        (
            "forces[0].expression=a",
            r"forces\[0\]: the table contains unknown field expression; it may have active, .*, velocity$",
        ),
        (
            "picture.slices=2000",
            "picture: Picture.slices must be a whole number in 1 .. 1024 or None, got 2000",
        ),
        ("picture.resolution=2", "picture: Picture.resolution must be one of 1.0, 0.5, got 2.0"),
        ("picture.resolution=0.5", "picture: Picture.resolution=0.5 needs method=.ray-march., got method="),
        (
            "lights=[" + 5 * "{kind='sun'}," + "]",
            "the top: lights must be at most 4 beside the first, got 5",
        ),
        ("picture.background=stuido", "picture: Picture.background must be one of .*did you mean 'studio'"),
        ("picture.background=[1,2]", "picture.background: expected array of length 3, got 2"),
        ("picture.background=[1,2,nan]", "picture: Picture.background must be three finite numbers"),
        ("emitters[²].density=1", r"emitters\[²\].density: there is none with the name '²'$"),
        (f"emitters[{'9' * 5000}].density=1", "there are 2, counted from 0"),
    ],
)
def test_what_is_wrong_is_named(full: Path, change: str, words: str) -> None:
    with pytest.raises(gf.SceneError, match=words):
        gf.Scene.load(full, changes=[change], backend="numpy").release()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("obstacles.ball.radius=1", "obstacles.ball.radius: there are no obstacles"),
        ("obstacles[0].radius=1", r"obstacles\[0\].radius: there are no obstacles"),
        ("forces.x=1", "forces.x: there are no forces"),
        ("containers[0].emitters.x=1", r"containers\[0\].emitters.x: there are no containers"),
        ("views.cut.visible=false", "views.cut.visible: there are no views"),
    ],
)
def test_a_change_to_what_there_is_none_of(tmp_path: Path, change: str, words: str) -> None:
    path = tmp_path / "bare.toml"
    path.write_text("[grid]\ncells = [4, 4, 4]\n")
    with pytest.raises(gf.SceneError, match=f"bare.toml: {words}$"):
        gf.Scene.load(path, backend="numpy", changes=[change])


def test_files_that_are_no_scene(tmp_path: Path) -> None:
    for name, text, words in (
        ("none.toml", None, "cannot be read: No such file"),
        ("bad.toml", "a = [", "not TOML"),
        ("empty.toml", "", "a scene needs a grid"),
        ("binary.toml", "\0\0", "not TOML"),
        (
            "python.toml",
            "a = 1\n\tb = True # yes",
            r"line 2, column 6\): 'b = True # yes'; did you mean true\?$",
        ),
        ("other.toml", "a = 1 // one" + 999 * "!", r"column 7\): 'a = 1 // one!{68} \.\.\.'$"),
        ("escape.toml", "a = \x1b[2J", r"'a = \\x1b\[2J'$"),
        ("windows.toml", r'file = "C:\Users\x.obj"', r"; folders are told apart by /, on Windows too$"),
        ("folders.toml", r'file = "meshes\x.obj"', r"; folders are told apart by /, on Windows too$"),
        ("notepad.toml", "a = 1".encode("utf-16"), r"is not in UTF-8, as TOML has to be .*at byte 0\)"),
        ("umlaut.toml", "a = 'Nübel'".encode("cp1252"), r"is not in UTF-8, .*at byte 6\): save it so$"),
        ("long.toml", "#" * (5 << 20), "over 1 MB long"),
        ("scene.txt", "", "a scene is a .toml or a .py file"),
        ("none.py", None, "there is no such file"),
        ("wrong.py", "def scene(:", "line 1: invalid syntax"),
        ("without.py", "x = 1", r"must define a function scene\(ctx=None\)"),
        ("other.py", "def scene(): return 3", "must return a gpufluid.Scene, or yield one first, got 3"),
        ("short.py", "def scene():\n    if False: yield", "the story ended before it gave a scene"),
    ):
        path = tmp_path / name
        if text is not None:
            path.write_bytes(text.encode() if isinstance(text, str) else text)
        with pytest.raises(gf.GpufluidError, match=words) as caught:
            gf.Scene.load(path)
        assert str(path) in str(caught.value)


@pytest.mark.parametrize("name", [r"'meshes\knot.obj'", r'"meshes\torus.obj"', r"'C:\meshes\knot.obj'"])
def test_a_path_of_windows_in_a_scene_is_told_of(tmp_path: Path, name: str) -> None:
    """Of the second TOML makes a tab, and the third is below the scene's folder to others than Windows."""
    path = tmp_path / "box.toml"
    path.write_text(f"[grid]\ncells = [4, 4, 4]\n[[obstacles]]\nshape = {{ kind = 'mesh', file = {name} }}\n")
    with pytest.raises(gf.SceneError, match=r"obstacles\[0\].shape: there is no file .*told apart by /"):
        gf.Scene.load(path, backend="numpy")


def test_cells_for_a_gpu_are_those_on_one_alone(
    ctx: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.toml"
    path.write_text(
        "[grid]\ncells = [4, 6, 4]\ncell_size = 0.5\norigin = [-1, 0, -1]\ngpu_cells = [8, 12, 8]\n"
    )

    def cells(where: Any = ctx, **options: Any) -> Any:
        with gf.Scene.load(path, where, **options).fluid as fluid:
            assert (fluid.grid.size, fluid.grid.origin) == ((2.0, 3.0, 2.0), (-1.0, 0.0, -1.0))
            return fluid.grid.cells

    assert cells() == ((4, 6, 4) if gf.is_software(ctx) else (8, 12, 8))
    monkeypatch.setattr(scene_file, "_has_gpu", lambda where: where is ctx)
    assert cells() == (8, 12, 8)
    assert cells(cells=(2, 3, 2)) == (2, 3, 2)
    assert cells(changes=["grid.gpu_cells=[6, 9, 6]"]) == (6, 9, 6)
    assert cells(changes=["grid.cells=[2, 3, 2]", "grid.cell_size=1"]) == (2, 3, 2)
    assert cells(None, backend="numpy") == (4, 6, 4)
    tenths = gf.Grid((6, 3, 3), 0.1)  # 6 of which are not 0.6
    assert scene_file.of_other_cells(tenths, (6, 3, 3)) == tenths


@pytest.mark.parametrize("cells", [(10, 20, 10), (20, 40, 20), (16, 16, 16), (8, 20, 30), (40, 10, 20)])
def test_a_box_of_other_cells_stands_where_it_stood(tmp_path: Path, cells: tuple[int, int, int]) -> None:
    """On its floor and round its middle; of the same shape it is the same box, to the bit."""
    path = tmp_path / "box.toml"
    path.write_text("[grid]\ncells = [10, 20, 10]\ncell_size = 0.07\norigin = [-0.35, 0.1, -0.35]\n")
    was = gf.Scene.load(path, backend="numpy").fluid.grid
    grid = gf.Scene.load(path, backend="numpy", cells=cells).fluid.grid
    assert max(grid.size[:2]) == pytest.approx(max(was.size[:2]))
    assert grid.origin[1] == was.origin[1]
    for axis in (0, 2):
        assert grid.origin[axis] + grid.upper[axis] == pytest.approx(0.0, abs=1e-12)
    if cells[0] * 2 == cells[1] and cells[2] == cells[0]:
        assert grid.origin == was.origin


def test_a_starter_scene_plays(tmp_path: Path, ctx: moderngl.Context) -> None:
    path = write_starter(str(tmp_path / "mine"))
    with pytest.raises(gf.GpufluidError, match="exists"):
        write_starter(str(tmp_path / "mine"))
    for name, words in (
        ("", "a scene needs a name"),
        ("..", "a scene needs a name"),
        ("a.py", "a new scene is a description, a.toml"),
    ):
        with pytest.raises(gf.GpufluidError, match=words):
            write_starter(name)
    scene = gf.Scene.load(path, ctx, cells=(12, 18, 12))
    scene.advance()
    assert scene.frames == 180 and scene.fluid.density.read().max() > 0.0
    scene.release()


def test_several_boxes(tmp_path: Path, ctx: moderngl.Context) -> None:
    path = tmp_path / "two.toml"
    box = """
    [[containers]]
    grid = {{ cells = [8, 8, 8], cell_size = 0.1, origin = [{x}, 0.0, 0.0] }}
    settings = {{ buoyancy = {buoyancy} }}
    [[containers.emitters]]
    name = "{name}"
    shape = {{ kind = "sphere", center = [{center}, 0.3, 0.4], radius = 0.15 }}
    density = 1.0
    temperature = 1.0
    """
    text = box.format(x=0.0, buoyancy=1.0, name="a", center=0.4)
    path.write_text(textwrap.dedent(text + box.format(x=1.0, buoyancy=-1.0, name="b", center=1.4)))
    scene = gf.Scene.load(path, ctx)
    scene.advance()
    rising, sinking = scene.fluids
    assert rising.ctx is sinking.ctx is ctx
    up, down = (f.velocity.read()[..., 1].sum() for f in (rising, sinking))
    assert up > 0.0 > down and up == pytest.approx(-down, rel=0.02)
    amounts = [fluid.diagnostics().mass for fluid in scene.fluids]
    assert amounts[0] == pytest.approx(amounts[1], rel=0.01) and amounts[0] > 0.0
    scene.release()
    scene = gf.Scene.load(path, backend="numpy", cells=[None, (4, 4, 4)])
    assert [fluid.grid.cells for fluid in scene.fluids] == [(8, 8, 8), (4, 4, 4)]
    assert scene.others[0].grid.size == pytest.approx((0.8, 0.8, 0.8))
    scene.release()
    with pytest.raises(gf.SceneError, match="cells for 3 grids were given, but there are 2"):
        gf.Scene.load(path, backend="numpy", cells=[None, None, (4, 4, 4)])


BOXES = """
[[containers]]
name = "left"
grid = { cells = [4, 4, 4], cell_size = 0.1 }
[[containers]]
grid = { cells = [4, 4, 4], cell_size = 0.1, origin = [1.0, 0.0, 0.0] }
[[views]]
name = "cut"
kind = "slice"
box = "box 2"
visible = { keys = [[0.0, 0], [0.05, 1]], ease = "step" }
[[views]]
kind = "glyphs"
"""


def test_views_name_their_boxes(tmp_path: Path) -> None:
    """In a file, with --set and over time; and what is saved says it again."""
    path = tmp_path / "boxes.toml"
    path.write_text(BOXES)
    scene = gf.Scene.load(path, backend="numpy", changes=["views.cut.box=left"])
    assert [view.box for view in scene.views] == ["left", None]
    assert scene.box_names == ("left", "box 2") and scene.names["left"] is scene.fluid
    assert not scene.views[0].visible
    for _ in range(3):
        scene.advance()
    assert scene.views[0].visible
    scene.views[1].box, scene.views[1].visible = "box 2", False
    saved = save_description(scene, tmp_path / "saved.toml")
    again = gf.Scene.load(saved, backend="numpy")
    assert description_of(again) == description_of(scene)
    told = description_of(again)
    assert [box.get("name") for box in told["containers"]] == ["left", None]
    assert told["views"][0]["box"] == "left" and told["views"][0]["visible"]["ease"] == "step"
    assert told["views"][1] == {"kind": "glyphs", "box": "box 2", "visible": False}
    for made in (scene, again):
        made.release()
    one = gf.Scene.load(path, backend="numpy", changes=["containers.left.settings.viscosity=0.5"])
    assert one.fluid.settings.viscosity == 0.5
    one.release()


def test_one_box_with_a_name_keeps_it(tmp_path: Path) -> None:
    path = tmp_path / "one.toml"
    path.write_text(
        '[[containers]]\nname = "room"\ngrid = { cells = [4, 4, 4] }\n'
        '[[views]]\nkind = "slice"\nbox = "room"\n'
    )
    scene = gf.Scene.load(path, backend="numpy")
    again = gf.Scene.load(save_description(scene, tmp_path / "again.toml"), backend="numpy")
    assert again.box_names == ("room",) and again.views[0].box == "room"
    for made in (scene, again):
        made.release()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            "views[0].box=lefft",
            r"views\[0\].box: must be the name of a box, 'left', 'box 2', got 'lefft'; did you",
        ),
        ("views[1].box=1", r"views\[1\].box: expected str, got int"),
        ("views[1].visible=2", r"views\[1\].visible: expected true or false"),
        ("containers[0].name=cut", r"views\[0\].name: 'cut' is taken already"),
        ("containers[1].name=left", r"containers\[1\].name: 'left' is taken already"),
        ("containers[0].name=box 2", "containers: each box must have a name of its own, got box 2, box 2"),
        ("name=all", "the top: the table contains unknown field name"),
    ],
)
def test_boxes_that_are_not_there_are_named(tmp_path: Path, change: str, words: str) -> None:
    path = tmp_path / "boxes.toml"
    path.write_text(BOXES)
    with pytest.raises(gf.SceneError, match=f"boxes.toml: {words}"):
        gf.Scene.load(path, backend="numpy", changes=[change])


def test_a_scene_with_several_boxes_and_a_mistake_lets_go_of_them(tmp_path: Path) -> None:
    """On the GPU, where the first box owns the context of all."""
    path = tmp_path / "boxes.toml"
    path.write_text(BOXES)
    with pytest.raises(gf.SceneError, match="must be the name of a box"):
        gf.Scene.load(path, changes=["views[0].box=nowhere"])


# -- writing -------------------------------------------------------------------------------------------------


def test_what_is_written_is_read_again(full: Path, tmp_path: Path) -> None:
    """A description of a scene, written, read and described again, stays the same; changes are in it."""
    scene = gf.Scene.load(full, backend="numpy")
    for _ in range(3):
        scene.advance()
    scene.names["source"].density = 9.0
    scene.fluid.settings = scene.fluid.settings.but(cooling=0.7, pressure=gf.Jacobi(10))
    scene.fluid.emitters.add(gf.Emitter(gf.Box((0.0, 0.5, 0.0), (0.1, 0.2, 0.1)), density=1.0))
    scene.fluid.obstacles.remove(scene.names["ball"])
    scene.camera.fov = 50.0
    path = save_description(scene, full.parent / "saved.toml")
    with pytest.raises(gf.GpufluidError, match="exists already"):
        save_description(scene, path)
    again = gf.Scene.load(path, backend="numpy")
    assert description_of(again) == description_of(scene)
    assert again.names["source"].density == 9.0 and again.fluid.settings.cooling == 0.7
    assert again.fluid.settings.pressure == gf.Jacobi(10) and again.camera.fov == 50.0
    assert again.fluid.emitters[2].shape == gf.Box((0.0, 0.5, 0.0), (0.1, 0.2, 0.1))
    assert len(again.fluid.obstacles) == 1 and again.fluid.boundaries == scene.fluid.boundaries
    assert len(again.fluid.forces) == 1 and len(again.views) == len(scene.views) > 0
    parts = ["title", "dt", "frames", "seed", "floor", "light", "lights", "smoke", "fire", "picture"]
    for name in parts:  # what neither of the descriptions had would not differ
        assert getattr(again, name) == getattr(scene, name), name
    assert all(getattr(scene, name) for name in parts if name != "floor")
    text = path.read_text()
    assert again.hand is not None and again.hand.color == (1.0, 0.0, 0.5)
    for words in ("0.1 * noise(t)", "2 + t", "smooth", "90 * t", "bezier", "knot", "inflow"):
        assert words in text  # what changes with time, and what is read or computed, as it was said
    for made in (scene, again):
        made.release()


@pytest.mark.parametrize("camera", ["", "[camera]\nazimuth = -70.0\nfov = 50.0\n"], ids=["none", "turned"])
def test_a_camera_that_nobody_placed_sees_all_boxes_whole(tmp_path: Path, camera: str) -> None:
    """It once looked at the origin from 2 m, wherever and however large the boxes were."""
    path = tmp_path / "far.toml"
    path.write_text(
        "[[containers]]\ngrid = { cells = [4, 8, 4], cell_size = 40.0, origin = [900.0, 0.0, 0.0] }\n"
        "[[containers]]\ngrid = { cells = [4, 4, 4], cell_size = 40.0, origin = [1200.0, 50.0, -80.0] }\n"
        "[picture]\nsize = [300, 400]\n" + camera
    )
    scene = gf.Scene.load(path, backend="numpy")
    low, high = np.array([900.0, 0.0, -80.0]), np.array([1360.0, 320.0, 160.0])
    corners = np.array([[x, y, z, 1.0] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
    corners[:, :3] = low + corners[:, :3] * (high - low)
    clip = corners @ view_of(scene.camera, 300 / 400).clip.T
    assert np.abs(clip[:, :2] / clip[:, 3:]).max() == pytest.approx(FILLED, abs=1e-4)
    assert np.abs(clip[:, 2] / clip[:, 3]).max() < 1.0  # between the clipping planes
    assert scene.camera.azimuth == (-70.0 if camera else AZIMUTH)
    again = gf.Scene.load(save_description(scene, tmp_path / "again.toml"), backend="numpy")
    assert again.camera == scene.camera
    scene.camera.target, scene.camera.distance = gf.Camera().target, gf.Camera().distance
    plain = gf.Scene.load(save_description(scene, tmp_path / "plain.toml"), backend="numpy")
    assert plain.camera == scene.camera  # placed, if only where a plain one is
    for made in (scene, again, plain):
        made.release()


def test_a_camera_in_front_of_a_slice() -> None:
    with gf.Fluid(gf.Grid((8, 6, 1), 0.5), backend="numpy") as fluid:
        camera = gf.Scene(fluid).camera
        assert (camera.azimuth, camera.elevation, camera.target) == (0.0, 0.0, (2.0, 1.5, 0.25))
        with pytest.raises(gf.GpufluidError, match="low must lie below high along every axis"):
            camera.frame((0.0, 0.0, 0.0), (1.0, 1.0, 0.0))
        with pytest.raises(gf.GpufluidError, match="aspect must be a finite number > 0"):
            camera.frame((0.0, 0.0, 0.0), (1.0, 1.0, 1.0), 0.0)


def reach(scene: gf.Scene, aspect: float) -> float:
    """How far from its middle a picture shows the corners of the first box; 1: its edge."""
    grid = scene.fluid.grid
    corners = np.array([[x, y, z, 1.0] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
    corners[:, :3] = np.array(grid.origin) + corners[:, :3] * np.array(grid.size)
    clip = corners @ view_of(scene.camera, aspect).clip.T
    return float(np.abs(clip[:, :2] / clip[:, 3:]).max())


def test_a_camera_that_nobody_placed_fits_the_film_and_every_frame(
    ctx: moderngl.Context, tmp_path: Path
) -> None:
    def scene(text: str) -> gf.Scene:
        path = tmp_path / "a.toml"
        path.write_text("frames = 60\n[grid]\ncells = [16, 8, 4]\ncell_size = 0.125\n" + text)
        return gf.Scene.load(path, ctx)

    made = scene("")
    gf.run(made, frames=1, out=tmp_path / "tall.png", size=(90, 160), progress=False)
    assert reach(made, 90 / 160) == pytest.approx(FILLED, abs=1e-4)
    made.camera.distance *= 2.0  # placed now
    made.fit(16 / 9)
    assert reach(made, 90 / 160) < 0.6 * FILLED
    made.release()
    for moving in ("azimuth = { formula = '90 * t' }", "fov = { keys = [[0, 60], [2, 20]] }"):
        made = scene(f"[camera]\n{moving}\n")
        for aspect in (16 / 9, 1.0):
            made.fit(aspect)
            reaches = []
            for time in np.linspace(0.0, 2.0, 21):
                made.update(made, float(time))  # type: ignore[misc]
                reaches.append(reach(made, aspect))
            assert 0.9 < max(reaches) < 1.0, moving
            made.update(made, 0.0)  # type: ignore[misc]
        made.release()


@pytest.mark.parametrize(
    ("camera", "target", "first", "last"),
    [
        ("eye = [2.0, 1, 3.0]\nfov = 40.0", (0.4, 0.6, 0.2), (2, 1, 3), (2, 1, 3)),  # the middle of the boxes
        ("eye = [2, 1, 3]\ntarget = [1, 0, 0]", (1, 0, 0), (2, 1, 3), (2, 1, 3)),
        (
            "eye = { formula = ['cos(t)', '1', 'sin(t)'] }\ntarget = [0.1, 0, 0.2]",
            (0.1, 0.0, 0.2),
            (1, 1, 0),
            (np.cos(1.0), 1, np.sin(1.0)),
        ),
        # pans from where it stands
        (
            "eye = [0, 0, 3]\ntarget = { keys = [[0, [0, 0, 0]], [1, [1, 0, 0]]] }",
            (1, 0, 0),
            (0, 0, 3),
            (0, 0, 3),
        ),
        # along a path
        (
            "eye = { keys = [[0, [0, 0, 3]], [1, [1, 1, 3]]] }\n"
            "target = { keys = [[0, [0, 0, 0]], [1, [2, 0, 0]]] }",
            (2, 0, 0),
            (0, 0, 3),
            (1, 1, 3),
        ),
        ("eye = [2, 1, 3]\nfov = { keys = [[0, 40], [1, 20]] }", (0.4, 0.6, 0.2), (2, 1, 3), (2, 1, 3)),
    ],
)
def test_a_camera_stands_where_its_eye_is_said_to_be(
    tmp_path: Path, camera: str, target: Triple, first: Triple, last: Triple
) -> None:
    path = tmp_path / "a.toml"
    path.write_text(f"dt = 0.25\n[grid]\ncells = [8, 12, 4]\ncell_size = 0.1\n[camera]\n{camera}\n")
    scene = gf.Scene.load(path, backend="numpy")
    scene.fit(0.3)  # which is for a camera that nobody has placed
    assert scene.camera_is_given and scene.camera.eye == pytest.approx(first)
    for _ in range(5):
        scene.advance()
    assert scene.camera.eye == pytest.approx(last) and scene.camera.target == pytest.approx(target)
    scene.release()


@pytest.mark.parametrize(
    ("camera", "says"),
    [
        (
            "eye=[1,2,3]\nazimuth=5\ndistance=2",
            "eye says where the .* do distance and azimuth: give only one",
        ),
        ("eye=[1,2,3]\ndistance=2", "eye says where the .* does distance: give only one"),
        (
            "eye=[0.5,3,0.5]",
            r"Camera.eye must be seen from the target, \(0.5, 0.5, 0.5\), at -89 to 89 degrees",
        ),
        ("ege=[1,2,3]", "unknown field ege; .*, eye, "),
        ("eye=[1,2]", "eye: expected array of length 3, got 2"),
    ],
)
def test_a_place_where_no_camera_can_be_is_told(tmp_path: Path, camera: str, says: str) -> None:
    path = tmp_path / "a.toml"
    path.write_text(f"[grid]\ncells = [4, 4, 4]\ncell_size = 0.25\n[camera]\n{camera}\n")
    with pytest.raises(gf.SceneError, match=f"a.toml: camera.*{says}"):
        gf.Scene.load(path, backend="numpy")


def test_sources_of_particles_change_with_time_and_stay_so(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    jet = "velocity = { formula = ['t', '0', '1'] }, active = { keys = [[0, 1], [0.5, 0]], ease = 'step' }"
    ball = '{ kind = "sphere", center = { formula = ["4 * t", "0", "0"] } }'
    path.write_text(
        f"""
dt = 0.25
[grid]
cells = [8, 8, 8]
[[emitters]]
name = "jet"
shape = {{ kind = "sphere", radius = 1 }}
[[views]]
kind = "particles"
response = 0.1
sources = [{{ shape = "jet", {jet} }}, {{ shape = {ball}, rate = 20 }}]
"""
    )
    scene = gf.Scene.load(path, backend="numpy")
    born, moving = scene.views[0].sources  # type: ignore[attr-defined]
    assert born.shape is scene.names["jet"] and born.active is True
    seen = []
    for _ in range(4):
        scene._advance(step=False)
        seen.append((born.active, born.velocity[0], moving.shape.center[0], moving.rate))
    assert seen == [
        (True, 0.0, 0.0, 20),
        (True, 0.25, 1.0, 20),
        (False, 0.5, 2.0, 20),
        (False, 0.75, 3.0, 20),
    ]
    text = save_description(scene, path, overwrite=True).read_text()
    again = gf.Scene.load(save_description(scene, tmp_path / "b.toml"), backend="numpy")
    assert "keys = [[0, 1], [0.5, 0]]" in text and description_of(again) == description_of(scene)
    History().make(again, Duplication(("views",), 0, None, {}))  # whose sources do the same
    again._advance(step=False)
    again._advance(step=False)
    copied = again.views[1].sources[1]  # type: ignore[attr-defined]
    assert copied.shape.center[0] == 1.0 and copied is not again.views[0].sources[1]  # type: ignore[attr-defined]
    views = description_of(again)["views"]
    assert views[0] == views[1] and views[1]["sources"][0]["active"]["ease"] == "step"
    scene.views[0].sources[0].rate = 7.0  # type: ignore[attr-defined]
    text = save_description(scene, path, overwrite=True).read_text()
    assert "ease = 'step' }" in text and "rate = 7.0" in text and 'formula = ["4 * t", "0", "0"]' in text
    for made in (scene, again):
        made.release()
    text = text.replace("[[0, 1], [0.5, 0]]", "[[0.5, 1], [0, 0]]")
    path.write_text(text)
    with pytest.raises(gf.SceneError, match=r"views\[0\].sources\[0\].active: keys must rise in time"):
        gf.Scene.load(path, backend="numpy")


def test_a_ring_is_a_solid_or_a_source(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    ring = '{ kind = "torus", radius = 3.0, tube = 0.8, center = [4.0, 4.0, 2.0] }'
    both = f"[[obstacles]]\nshape = {ring}\n[[emitters]]\nshape = {ring}\ndensity = 1.0\n"
    path.write_text(f"[grid]\ncells = [8, 8, 8]\n{both}")
    scene = gf.Scene.load(path, backend="numpy")
    for thing in (scene.fluid.obstacles[0], scene.fluid.emitters[0]):
        low, high = thing.shape.bounds  # type: ignore[union-attr]
        np.testing.assert_allclose(low, (0.2, 0.2, 1.2), atol=1e-6)
        np.testing.assert_allclose(high, (7.8, 7.8, 2.8), atol=1e-6)
    shape = {"kind": "torus", "radius": 3.0, "tube": 0.8, "center": [4.0, 4.0, 2.0]}
    assert description_of(scene)["obstacles"][0]["shape"] == shape
    scene.release()
    for wrong, says in (
        ("tube = 3.0", r"obstacles\[0\].shape: Mesh.torus tube must be less than its radius 3, got 3"),
        ("tub = 3.0", "unknown field tub; did you mean 'tube'"),
    ):
        path.write_text(
            f"[grid]\ncells = [8, 8, 8]\n[[obstacles]]\nshape = {ring.replace('tube = 0.8', wrong)}\n"
        )
        with pytest.raises(gf.SceneError, match=says):
            gf.Scene.load(path, backend="numpy")


@pytest.mark.parametrize(("deep", "direction"), [(1, (0.0, 0.0)), (4, (AZIMUTH, ELEVATION))])
def test_an_opening_alone_does_not_turn_the_camera(
    tmp_path: Path, deep: int, direction: tuple[float, float]
) -> None:
    path = tmp_path / "a.toml"
    path.write_text(f"[grid]\ncells = [8, 8, {deep}]\n[camera]\nfov = 20.0\n")
    scene = gf.Scene.load(path, backend="numpy")
    assert (scene.camera.azimuth, scene.camera.elevation) == direction
    again = gf.Scene.load(save_description(scene, tmp_path / "b.toml"), backend="numpy")
    assert again.camera == scene.camera
    with pytest.raises(gf.GpufluidError, match="aspect must be a finite number > 0"):
        scene.frame_all(0)
    with pytest.raises(gf.GpufluidError, match=r"Scene.picture must be a gf.Picture, got None"):
        gf.Scene(scene.fluid, picture=None)  # type: ignore[arg-type]
    camera = gf.Camera(azimuth=0.0, elevation=0.0)
    camera.frame((0.0, 0.0, 0.0), (0.005, 0.005, 1.0))
    assert camera.near < camera.eye[2] - 1.0  # in front of a long thin box
    for made in (scene, again):
        made.release()


@pytest.mark.parametrize("metres", [2.0**-10, 2.0**10])  # that round alike
def test_a_box_looks_the_same_whatever_its_size(ctx: moderngl.Context, metres: float) -> None:
    """A ball half in smoke, above its shadow: of a millimetre, and of a kilometre."""
    pictures = []
    for size in (1.0, metres):
        fluid = gf.Fluid(gf.Grid((24, 24, 24), size / 24), ctx=ctx)
        z, y, x = np.indices((24, 24, 24))
        fluid.density.write((z < 14) * (y > 8) * (y < 18) * (x > 8) * (x < 16) * 0.5)
        fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.2 * size), position=(0.5 * size,) * 3))
        scene = gf.Scene(fluid, smoke=gf.Smoke(extinction=20.0 / size), floor=0.0)
        with gf.FrameRenderer(ctx, (120, 90)) as renderer:
            renderer.draw(scene)
            pictures.append(renderer.read().astype(int))
        scene.release()
    apart = np.abs(pictures[0] - pictures[1])
    assert apart.max() <= 6 and (apart > 2).mean() < 1e-3


def test_a_description_tells_how_fast_an_emitter_moves(tmp_path: Path) -> None:
    path = tmp_path / "torch.toml"
    path.write_text(
        "dt = 0.1\n[grid]\ncells = [4, 4, 4]\n"
        '[[emitters]]\nname = "even"\nshape = { kind = "sphere" }\n'
        'position = { formula = ["3 * t", "0", "1"] }\n'
        '[[emitters]]\nname = "jumps"\nshape = { kind = "sphere" }\n'
        'position = { keys = [[0, [0, 0, 0]], [0.2, [9, 0, 0]]], ease = "step" }\n'
        '[[emitters]]\nname = "said"\nshape = { kind = "sphere" }\nmotion = [0, 1, 0]\n'
        'position = { formula = ["3 * t", "0", "1"] }\n'
    )
    scene = gf.Scene.load(path, backend="numpy")
    even, jumps, said = (scene.names[name] for name in ("even", "jumps", "said"))
    scene.advance()
    assert even.motion == (0.0, 0.0, 0.0)  # it has just come
    for _ in range(3):
        scene.advance()
        assert even.motion == pytest.approx((3.0, 0.0, 0.0))
        assert jumps.motion == (0.0, 0.0, 0.0) and said.motion == (0.0, 1.0, 0.0)
    assert jumps.position == (9.0, 0.0, 0.0)
    told = description_of(scene)["emitters"]
    assert "motion" not in told[0] and "motion" not in told[1] and told[2]["motion"] == [0.0, 1.0, 0.0]
    scene.hold(even, "position")  # a hand has it
    scene.advance()
    assert even.motion == (0.0, 0.0, 0.0)
    scene.hold(even, "motion")
    even.motion = (5.0, 0.0, 0.0)
    scene.advance()
    assert even.motion == (5.0, 0.0, 0.0) == tuple(description_of(scene)["emitters"][0]["motion"])
    scene.release()


def test_what_is_off_is_written_so(tmp_path: Path) -> None:
    """TOML has no word for None; left out, the file would say the default, which is on."""
    off = gf.Settings(cfl=None, limiter=None, pressure=gf.ConjugateGradient(tolerance=None))
    scene = gf.Scene(gf.Fluid(gf.Grid((4, 4, 4)), settings=off, backend="numpy"))
    path = save_description(scene, tmp_path / "off.toml")
    again = gf.Scene.load(path, backend="numpy")
    assert again.fluid.settings == off
    for made in (scene, again):
        made.release()
    path.write_text('[grid]\ncells = [4, 4, 4]\n[settings]\ncfl = "off"\n')
    with pytest.raises(gf.SceneError, match="settings.cfl: must be a number or 'none', got 'off'"):
        gf.Scene.load(path, backend="numpy")


def test_what_took_the_place_of_a_file_is_not_written_as_the_file(tmp_path: Path) -> None:
    np.save(tmp_path / "dye.npy", np.ones((4, 4, 4)))
    path = tmp_path / "a.toml"
    path.write_text(
        "[grid]\ncells = [4, 4, 4]\n"
        '[[emitters]]\nshape = { kind = "array", file = "dye.npy" }\ndensity = 1.0\n'
        '[[obstacles]]\nshape = { kind = "knot", fit = 2.0 }\n'
    )
    scene = gf.Scene.load(path, backend="numpy")
    told = description_of(scene)
    assert told["emitters"][0]["shape"] == {"kind": "array", "file": "dye.npy"}
    assert told["obstacles"][0]["shape"] == {"kind": "knot", "fit": 2.0}
    (tmp_path / "elsewhere").mkdir()
    with pytest.raises(gf.GpufluidError, match="reads 'dye.npy', which is not in that folder"):
        save_description(scene, tmp_path / "elsewhere" / "a.toml")
    assert not list((tmp_path / "elsewhere").iterdir())
    np.save(tmp_path / "elsewhere" / "dye.npy", np.zeros((4, 4, 4)))
    with pytest.raises(gf.GpufluidError, match="reads 'dye.npy', which is another one in that folder"):
        save_description(scene, tmp_path / "elsewhere" / "a.toml")
    np.save(tmp_path / "elsewhere" / "dye.npy", np.ones((4, 4, 4)))
    save_description(scene, tmp_path / "elsewhere" / "a.toml")
    (tmp_path / "elsewhere" / "a.toml").unlink()
    (tmp_path / "elsewhere" / "dye.npy").unlink()
    scene.fluid.emitters[0].shape = gf.Sphere((1.0, 2.0, 2.0), 1.0)
    assert description_of(scene)["emitters"][0]["shape"]["kind"] == "sphere"
    save_description(scene, tmp_path / "elsewhere" / "a.toml")  # which reads no file now
    scene.fluid.obstacles[0].shape = gf.Mesh.icosphere(1)
    with pytest.raises(gf.GpufluidError, match="Obstacle.shape: a description cannot say Mesh"):
        description_of(scene)
    scene.release()


def test_only_a_script_can_say_some_things(full: Path) -> None:
    scene = gf.Scene.load(full, backend="numpy")
    scene.fluid.obstacles.add(gf.Obstacle(gf.Mesh.icosphere(1)))
    with pytest.raises(gf.GpufluidError, match="Obstacle.shape: a description cannot say Mesh"):
        save_description(scene, full.parent / "mesh.toml")
    scene.release()
    scene = gf.Scene(gf.Fluid(gf.Grid((4, 4, 4)), backend="numpy"), update=lambda scene, time: None)
    with pytest.raises(gf.GpufluidError, match="is a script"):
        save_description(scene, full.parent / "script.toml")
    assert not list(full.parent.glob("*script*")) and not list(full.parent.glob("*mesh*"))
    scene.release()


# -- stories -------------------------------------------------------------------------------------------------

STORY = """
import gpufluid as gf

def scene(ctx=None, backend="auto", strength=2.0):
    fluid = gf.Fluid(gf.Grid((8, 8, 8), 0.1), ctx=ctx, backend=backend)
    source = fluid.emitters.add(gf.Emitter(gf.Sphere((0.4, 0.2, 0.4), 0.15), density=strength))
    scene = gf.Scene(fluid, dt=0.1)
    yield scene
    yield from scene.wait(0.3)
    source.active = False
    scene.draw(gf.Line([(0.2, 0.6, 0.4), (0.6, 0.6, 0.4)], 0.08), density=5.0)
    yield
    scene.title = "drawn"
    yield
"""


def test_a_story_goes_on_with_each_frame(tmp_path: Path) -> None:
    path = tmp_path / "story.py"
    path.write_text(STORY)
    scene = gf.Scene.load(path, backend="numpy", changes=["strength=4.0"])
    source = scene.fluid.emitters[0]
    assert source.density == 4.0
    for frame in range(1, 4):
        scene.advance()
        assert (scene.frame, source.active) == (frame, True)
    mass = scene.fluid.diagnostics().mass
    scene.advance()
    assert not source.active and len(scene.fluid.emitters) == 1  # the line was drawn once
    drawn = scene.fluid.diagnostics().mass
    assert drawn > 1.5 * mass
    scene.advance()
    assert scene.title == "drawn" and scene.fluid.diagnostics().mass == pytest.approx(drawn, rel=0.05)
    assert not scene.over
    scene.advance()
    assert scene.over and scene.frame == 5
    scene.release()


def test_a_wait_that_no_story_takes_is_told(tmp_path: Path) -> None:
    path = tmp_path / "story.py"
    path.write_text(STORY.replace("yield from scene.wait(0.3)", "scene.wait(0.3)"))
    scene = gf.Scene.load(path, backend="numpy")
    with pytest.warns(RuntimeWarning, match=r"wait\(0.3\) has let no time pass: write `yield from") as told:
        scene.advance()
    assert [(Path(one.filename).name, one.lineno) for one in told] == [("story.py", 9)]
    assert next(scene.wait(0.1)) is None, "which takes it"
    scene.release()


def test_what_was_drawn_may_be_taken_away_before_its_frame() -> None:
    scene = gf.Scene(gf.Fluid(gf.Grid((8, 8, 8), 0.1), backend="numpy"))
    scene.draw(gf.Sphere((0.4, 0.4, 0.4), 0.2), density=5.0)
    scene.fluid.emitters.clear()
    scene.advance()
    scene.advance()
    assert scene.frame == 2 and not scene.fluid.density.read().any()


@pytest.mark.parametrize("dt", [0.0, 1e-40])
@pytest.mark.parametrize("later", [False, True], ids=["from the start", "set meanwhile"])
def test_no_time_passes_to_be_waited_for(dt: float, later: bool) -> None:
    """Without steps of time a wait had no end."""

    def story() -> Iterator[None]:
        yield from scene.wait(0.5)

    scene = gf.Scene(gf.Fluid(gf.Grid((4, 4, 4)), backend="numpy"), dt=0.1 if later else dt, story=story())
    if later:
        scene.advance()
        scene.dt = dt
    with pytest.raises(gf.GpufluidError, match=r"wait\(0.5\) never ends: Scene.dt is (0|1e-40) s a frame"):
        for _ in range(9):
            scene.advance()
    scene.release()


def test_a_hand_goes_through_the_fluid() -> None:
    """What it leaves lies where it went, moves as it did, and comes once, into the box that it ends in."""
    still = gf.Settings(buoyancy=0.0)
    boxes = [gf.Fluid(gf.Grid((16, 8, 8), 0.1, (x, 0.0, 0.0)), None, still, "numpy") for x in (0.0, 2.0)]
    scene = gf.Scene(boxes[0], dt=0.1, others=boxes[1:], hand=gf.Hand(0.1, 0.5, 2.0, temperature=3.0))
    scene.stroke((2.5, 0.4, 0.4), (2.7, 0.4, 0.4))
    scene.advance()
    near, far = (fluid.density.read() for fluid in boxes)
    assert not near.any()
    assert far[3:5, 3:5, 5:7].min() > 0.15 and far.max() <= 0.2001, "0.1 s at 2 per second"
    assert far[:, :, 9:].max() < 0.02
    assert 0.3 < boxes[1].velocity.at_centers()[3:5, 3:5, 5:7, 0].mean() < 1.0, (
        "half of 2 m/s, then projected"
    )
    assert boxes[1].temperature.read().max() == pytest.approx(3.0, abs=0.1)
    mass = far.sum()
    scene.advance()
    assert boxes[1].density.read().sum() == pytest.approx(mass, rel=0.05)
    scene.stroke((0.4, 0.4, 0.4), (0.4, 0.4, 0.4), gf.Hand(0.1, color=(0.0, 1.0, 0.0), density=0.0))
    scene.advance()
    color = boxes[0].color.read()
    assert color[3:5, 3:5, 3:5, 1].min() > 0.05 and not color[..., 0].any()
    assert np.abs(boxes[0].velocity.read()).max() < 1e-6, "a hand that rests pushes"
    with pytest.raises(gf.GpufluidError, match=r"Hand.reach must be .*> 0"):
        gf.Hand(reach=0.0)
    assert scene.hand is not None
    scene.hand.color = (0.0, -1.0, 0.0)
    with pytest.raises(gf.GpufluidError, match="Hand.color must not be negative"):
        scene.stroke((0.4, 0.4, 0.4), (0.4, 0.4, 0.4))
    scene.release()


def test_a_mistaken_change_to_a_script(tmp_path: Path) -> None:
    path = tmp_path / "story.py"
    path.write_text(STORY)
    with pytest.raises(gf.SceneError, match="no parameter 'stength' to set; did you mean 'strength'"):
        gf.Scene.load(path, changes=["stength=1"])
    with pytest.raises(gf.SceneError, match="no parameter 'settings.viscosity' to set, only strength"):
        gf.Scene.load(path, changes=["settings.viscosity=0.1"])
    gf.Scene.load(path, cells=[]).release()  # which asks for none
    with pytest.raises(gf.SceneError, match="chooses the cells of its further boxes itself"):
        gf.Scene.load(path, cells=[None, (4, 4, 4)])
    with pytest.raises(gf.SceneError, match="no choice of cells"):
        gf.Scene.load(path, cells=(4, 4, 4))


def test_a_script_without_parameters_tells_how_it_gets_one(tmp_path: Path) -> None:
    path = tmp_path / "bare.py"
    path.write_text("def scene(ctx=None):\n    raise AssertionError\n")
    for change, name in (
        ("settings.viscosity=0.1", "viscosity"),
        ("emitters[0]=1", "strength"),
        ("a=1", "a"),
    ):
        with pytest.raises(gf.SceneError, match=rf"nor any other: .* def scene\(ctx=None, {name}=1.0\)$"):
            gf.Scene.load(path, changes=[change])


@pytest.mark.parametrize("change", ["strength=5", "strength = 5", " strength= 5 "])
def test_a_change_to_a_script_may_have_spaces(tmp_path: Path, change: str) -> None:
    path = tmp_path / "story.py"
    path.write_text(STORY)
    with gf.Scene.load(path, changes=[change], backend="numpy").fluid as fluid:
        assert fluid.emitters[0].density == 5.0


@pytest.mark.parametrize(
    ("header", "changes", "words"),
    [
        ("a", [], "its function scene is missing a required argument: 'a'; give it a default, or set it"),
        ("a, b=1", ["b=2"], "is missing a required argument: 'a'; give it a default, or set it"),
        ("*, size", [], "is missing a required .*argument: 'size'"),
        ("ctx=None", ["ctx=3"], "no parameter 'ctx' to set$"),
        ("ctx=None, strength=1", ["strength"], "a change must look like strength=5, got 'strength'"),
        ("ctx=None, strength=1", ["=5"], "a change must look like strength=5, got '=5'"),
    ],
)
def test_parameters_of_a_script(tmp_path: Path, header: str, changes: list[str], words: str) -> None:
    path = tmp_path / "story.py"
    path.write_text(f"def scene({header}): return None\n")
    with pytest.raises(gf.SceneError, match=f"story.py: .*{words}"):
        gf.Scene.load(path, changes=changes)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import gpufluid as gf\nx = gff.Grid", r"line 2: NameError: name 'gff' is not defined"),
        ("import no_such_module", r"line 1: ModuleNotFoundError: No module named 'no_such_module'"),
        ("x = 1\0", "source code string cannot contain null bytes$"),
        ("def scene(:", "line 1: invalid syntax"),
        (
            "import gpufluid as gf\n\ndef scene():\n    gf.Sphere((0, 0, 0), -1)",
            "line 4: Sphere.radius must be",
        ),
        ("import gpufluid as gf\ndef scene(): yield gf.Scene(3)", "line 2: Scene.fluid must be a gf.Fluid"),
        (
            "import gpufluid as gf\ndef scene():\n return gf.Grid((4, 4, 4), cel_size=1)",
            "line 3: .*'cell_size'",
        ),
        ("import told_helper\ndef scene(): told_helper.help()", "told_helper.py line 2: ZeroDivisionError: "),
        ("def scene(): open('no\\nfile')", "line 1: FileNotFoundError: .*'no.*file'"),
    ],
)
def test_mistakes_in_a_script_are_told_with_their_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, words: str
) -> None:
    monkeypatch.chdir(tmp_path)  # where code that comes from no file, as dataclasses have some, seems to lie
    path = Path("told.py")
    path.write_text(text)
    (tmp_path / "told_helper.py").write_text("def help():\n    1 / 0\n")
    with pytest.raises(gf.SceneError, match=rf"told\.py: {words}") as caught:
        gf.Scene.load(path)
    assert "\n" not in str(caught.value)
    sys.modules.pop("told_helper", None)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("source.density = -1.0", "Emitter.density must be a finite number >= 0, got -1.0"),
        ("source.density = -1.0; yield", "Emitter.density must be a finite number >= 0, got -1.0"),
        ("gf.Sphere((0, 0, 0), -1)", "line 10: Sphere.radius must be a finite number > 0, got -1"),
        ("source.densty()", "line 10: AttributeError: 'Emitter' object has no attribute 'densty'"),
    ],
)
def test_mistakes_in_a_story_are_told_with_their_line(tmp_path: Path, statement: str, words: str) -> None:
    path = tmp_path / "story.py"
    path.write_text(STORY.replace("source.active = False", statement))
    scene = gf.Scene.load(path, backend="numpy")
    with pytest.raises(gf.SceneError, match=rf"story\.py: {words}"):
        for _ in range(5):
            scene.advance()
    scene.release()


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (b">\xe5", "'utf-8' codec can't decode byte 0xe5"),
        (b"a = " + b"1+" * 100_000 + b"1\n", "maximum recursion depth exceeded|is nested too deeply"),
        (b"a = " + b"-" * 100_000 + b"1\n", "maximum recursion depth exceeded|is nested too deeply|line 1: "),
    ],
    ids=["no text", "long", "deep"],
)
def test_what_cannot_be_compiled_is_told(tmp_path: Path, source: bytes, words: str) -> None:
    """As a file that is only half written: a window that watches it plays on."""
    (tmp_path / "told.py").write_bytes(source)
    with pytest.raises(gf.SceneError, match=rf"told\.py: ({words})"):
        gf.Scene.load(tmp_path / "told.py")


def test_a_script_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: Any) -> bytes:
        raise PermissionError(13, "Permission denied")

    (tmp_path / "told.py").touch()
    monkeypatch.setattr("importlib.machinery.SourceFileLoader.get_data", refuse)
    with pytest.raises(gf.SceneError, match=r"told\.py: cannot be read: Permission denied"):
        gf.Scene.load(tmp_path / "told.py")


def test_what_a_description_makes_wrong_later_is_told_with_its_place(full: Path) -> None:
    """And the time: a formula whose values are right at first, a field that meets another, and what no
    step can solve."""
    for change, words in (
        (
            "emitters.source.density={formula='0.1 - t'}",
            r"emitters\[0\] at 0.15 s: Emitter.density must be .* >= 0, got -0.05",
        ),
        (
            "settings.cooling={formula='0.1 - t'}",
            r"settings.cooling at 0.15 s: Settings.cooling must be .* >= 0",
        ),
        (
            "forces.breeze.rate={formula='0.1 - t'}",
            r"forces\[0\] at 0.15 s: Wind.rate must be .* >= 0, got -0.05",
        ),
        (
            "views[1].line_width={formula='0.1 - t'}",
            r"views\[1\] at 0.15 s: StreamlinesView.line_width must be",
        ),
        (
            "settings.density_diffusivity=1e9",
            "Settings.density_diffusivity = 1e.09 m.2/s over dt = 0.05 s reaches",
        ),
    ):
        scene = gf.Scene.load(full, changes=[change], backend="numpy")
        with pytest.raises(gf.SceneError, match=rf"full\.toml: {words}"):
            for _ in range(5):
                scene.advance()
                with scene.told():  # as who draws it does
                    scene.views[1].check()
        scene.release()


def test_errors_of_programs_stay_what_they_are() -> None:
    """A scene that comes from no file names none, and what is no mistake of a script is not hidden."""
    scene = gf.Scene(gf.Fluid(gf.Grid((4, 4, 4)), backend="numpy"))
    scene.update = lambda scene, time: gf.Sphere((0, 0, 0), -1) and None
    with pytest.raises(gf.GpufluidError, match="^Sphere.radius must be") as caught:
        scene.advance()
    assert type(caught.value) is gf.GpufluidError
    scene.update = lambda scene, time: 1 / 0
    with pytest.raises(ZeroDivisionError):
        scene.advance()
    scene.release()


def test_a_script_saved_again_in_the_same_second_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As long as before, too: Python takes what it has compiled of it then. None is left beside it."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    file = tmp_path / "a.py"
    for title in ("one", "two"):
        file.write_text(
            "import gpufluid as gf\ndef scene(backend='numpy'):\n"
            f"    return gf.Scene(gf.Fluid(gf.Grid((4, 4, 4)), backend=backend), title='{title}')\n"
        )
        os.utime(file, (1e9, 1e9))
        scene = gf.Scene.load(file, backend="numpy")
        assert scene.title == title
        scene.release()
    assert [path.name for path in tmp_path.iterdir()] == ["a.py"]


def test_a_script_and_the_module_beside_it(tmp_path: Path) -> None:
    """As where Python runs it; which of the two is mistaken is told."""
    path, beside = tmp_path / "told.py", tmp_path / "told_beside.py"
    path.write_text("import told_beside\n" + STORY)
    beside.write_text("HEIGHT = 0.2\n")
    before = list(sys.path)
    with gf.Scene.load(path).fluid:
        assert sys.path == before
    del sys.modules["told_beside"]
    beside.write_text("\nHEIGHT = = 0.2\n")
    with pytest.raises(gf.SceneError, match=r"told_beside.py: line 2: invalid syntax"):
        gf.Scene.load(path)


def test_a_description_that_begins_with_a_mark(tmp_path: Path) -> None:
    """As editors on Windows write it; and a name that has to be escaped."""
    path = write_starter(str(tmp_path / 'one"two'))
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    scene = gf.Scene.load(path, cells=(8, 12, 8), backend="numpy")
    assert scene.title == 'one"two'
    scene.release()


# -- settings that change ------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["numpy", "fragment"])
def test_settings_change_while_it_runs(backend: str, ctx: moderngl.Context) -> None:
    """What a fluid does from some frame on depends on its settings then, not on those it began with."""
    given = None if backend == "numpy" else ctx

    def run(first: gf.Settings, then: gf.Settings) -> np.ndarray:
        fluid = gf.Fluid(gf.Grid((6, 8, 6), 0.12), settings=first, backend=backend, ctx=given)
        fluid.emitters.add(
            gf.Emitter(gf.Sphere((0.4, 0.3, 0.4), 0.15), density=3.0, temperature=1.0, fuel=1.0)
        )
        for _ in range(2):
            fluid.step(0.05)
        fluid.settings = then
        assert fluid.settings == then
        for _ in range(2):
            fluid.step(0.05)
        out = np.concatenate([fluid.density.read().ravel(), fluid.velocity.read().ravel()])
        fluid.release()
        return out

    plain = gf.Settings(buoyancy=2.0, pressure=gf.Jacobi(8))
    kept = run(plain, plain)
    for change in (
        {"advection": "semi-lagrangian"},
        {"advection": "bfecc", "velocity_advection": "maccormack"},
        {"viscosity": 0.05},
        {"density_diffusivity": 0.05},
        {"vorticity_confinement": 2.0},
        {"reflection": True},
        {"coarse_velocity": True},
        {"buoyancy": -3.0},
        {"up": (1.0, 0.0, 0.0)},
        {"pressure": gf.Multigrid(cycles=1)},
        {"combustion": gf.Combustion(expansion_per_burn=1.0)},
        {"density_dissipation": 5.0},
    ):
        other = plain.but(**change)
        changed = run(plain, other)
        assert np.abs(changed - kept).max() > 1e-5, change
        back = run(other, plain)
        assert np.abs(back - run(other, other)).max() > 1e-6, change


def test_precision_cannot_change(ctx: moderngl.Context) -> None:
    with gf.Fluid(gf.Grid((4, 4, 4)), backend="fragment", ctx=ctx) as fluid:
        with pytest.raises(gf.GpufluidError, match="make another Fluid"):
            fluid.settings = gf.Settings(precision="half")
        with pytest.raises(gf.GpufluidError, match=r"must be a gf.Settings, got 3"):
            fluid.settings = 3  # type: ignore[assignment]


# -- anything goes in ----------------------------------------------------------------------------------------


def mutated(value: Any, rng: random.Random) -> Any:
    """`value` with one thing in it changed, taken away, doubled or put elsewhere."""
    odd = [0, -1, 1e30, float("nan"), float("inf"), "", "sphere", "t", [], {}, [1, 2], True, {"formula": "t"}]
    if isinstance(value, dict) and value and rng.random() < 0.9:
        out = dict(value)
        key = rng.choice(list(out))
        action = rng.random()
        if action < 0.1:
            del out[key]
        elif action < 0.2:
            out[key + "x"] = out.pop(key)
        elif action < 0.3:
            out[key] = copy.deepcopy(rng.choice(list(out.values())))
        else:
            out[key] = mutated(out[key], rng)
        return out
    if isinstance(value, list) and value and rng.random() < 0.9:
        out_list = list(value)
        index = rng.randrange(len(out_list))
        action = rng.random()
        if action < 0.15:
            del out_list[index]
        elif action < 0.3:
            out_list.insert(index, copy.deepcopy(out_list[index]))
        else:
            out_list[index] = mutated(out_list[index], rng)
        return out_list
    if isinstance(value, int | float) and not isinstance(value, bool) and rng.random() < 0.4:
        return value * rng.choice([-1, 0, 0.5, 3, 1e6, 1e-6])
    return rng.choice(odd)


@pytest.mark.filterwarnings("ignore::gpufluid.common.errors.ShapeWarning")
def test_2000_mutations_run_or_are_refused(full: Path) -> None:
    """Nothing but a scene error ever comes out, whatever a description says."""
    given = msgspec.toml.decode(full.read_bytes())
    given["grid"]["cells"] = [5, 6, 4]
    rng = random.Random(7)
    ran = 0
    for number in range(2000):
        broken = given
        for _ in range(rng.choice([1, 1, 2, 3])):
            broken = mutated(broken, rng)
        try:
            if isinstance(broken, dict) and np.prod(np.abs(np.array(_cells(broken), float))) > 5000:
                continue  # a big grid is no error, only slow
            scene = build(broken, full, backend="numpy")
        except gf.SceneError as error:
            assert str(full) in str(error)
            continue
        try:
            if number % 10 == 0:
                scene.advance()
        except gf.GpufluidError:
            pass
        else:
            ran += 1
        scene.release()
    assert 200 < ran < 1800


def _cells(description: dict[str, Any]) -> list[float]:
    """The cells a description asks for, or ones where that says nothing a grid could have."""
    grid = description.get("grid")
    cells = grid.get("cells") if isinstance(grid, dict) else None
    good = isinstance(cells, list) and all(isinstance(n, int | float) and np.isfinite(n) for n in cells)
    return [float(n) for n in cells] if good and cells else [1.0]


def test_a_source_that_is_on_its_way_into_the_box_does_not_warn(tmp_path: Path) -> None:
    """One that the description moves; one that stands outside does."""
    text = """
[grid]
cells = [8, 8, 8]
cell_size = 0.1
[[emitters]]
shape = { kind = "sphere", radius = 0.1 }
density = 1.0
"""
    (tmp_path / "way.toml").write_text(text + 'position = { formula = ["t - 2", 0.4, 0.4] }')
    (tmp_path / "out.toml").write_text(text + "position = [-2.0, 0.4, 0.4]")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gf.Scene.load(tmp_path / "way.toml")
    with pytest.warns(gf.ShapeWarning, match="outside the box"):
        gf.Scene.load(tmp_path / "out.toml")


def test_what_a_program_does_to_a_described_scene_cannot_be_written(full: Path, tmp_path: Path) -> None:
    """It has an update that says nothing, or one of its own: neither is left out without a word."""
    for path in (full, tmp_path / "still.toml"):
        if path != full:
            path.write_text("[grid]\ncells = [4, 4, 4]\ncell_size = 0.25\n")
        scene = gf.Scene.load(path, backend="numpy")
        scene.update = lambda scene, time: None
        with pytest.raises(gf.GpufluidError, match="is a script: what it does cannot be written"):
            save_description(scene, path.parent / "saved.toml")
        scene.release()
    assert not (tmp_path / "saved.toml").exists()
