"""A scene that is saved: of its text only that changes what was changed, and a new one reads well."""

from __future__ import annotations

import difflib
import os
import re
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image
from saving import description_of, saved

import gpufluid as gf
from gpufluid.app import orbit, scene_maker
from gpufluid.app.demos import demo_file, demo_names
from gpufluid.app.edits import Addition, Duplication, History, Regrid, Removal, blow, strengthen, value_at
from gpufluid.app.hands import move_view
from gpufluid.app.scene_maker import SceneMaker
from gpufluid.app.starter import write_starter
from gpufluid.app.studio.fields import items_of
from gpufluid.app.studio.new import ADDABLE, new_object
from gpufluid.scene import file as scene_file
from gpufluid.scene.saving import save_description

HAND_WRITTEN = """\
# My room
#  by hand

dt=0.05   # s
floor =  0     # the ground

[grid]
cells = [ 8,8,  6 ]
cell_size = 0.1

[settings]   # rules
buoyancy = 2      # up
  # half as much would do
cooling = 5e-1

# what smokes

# left one
[[emitters]]
name = "left"
shape = { kind="sphere",  radius = 0.1 }  # round
position = [0.2,
            0.1, 0.3]   # below
density = { formula = "3 + t" }

# right one
[[emitters]]
name = 'right'  # not the left
temperature = 1.0
[emitters.shape]
kind = "box"
size = [0.1, 0.1, 0.1] # small

# in the way
[[obstacles]]
shape = { kind = "sphere", radius = 0.15 }
# position = [9, 9, 9]

# how it is seen
[camera]
target = [0.4, 0.4, 0.3]
distance = 2.0
# end
"""
LEFT, RIGHT = ("fluids", 0, "emitters", 0), ("fluids", 0, "emitters", 1)
SETTINGS, OBSTACLES = ("fluids", 0, "settings"), ("fluids", 0, "obstacles")


def loaded(path: Path, text: str = HAND_WRITTEN, **options: object) -> gf.Scene:
    path.write_bytes(text.encode())
    return gf.Scene.load(path, backend="numpy", **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["unix", "windows"])
@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "marked"])
def test_a_value_changes_nothing_but_itself(tmp_path: Path, end: str, mark: str) -> None:
    path, text = tmp_path / "a.toml", mark + HAND_WRITTEN.replace("\n", end)
    scene, history = loaded(path, text), History()
    scene.fit(0.7)  # a window of another shape changes nothing
    save_description(scene, path, overwrite=True)
    assert path.read_bytes() == text.encode()
    for place, value in (
        ((*SETTINGS, "cooling"), 0.0),
        ((*SETTINGS, "buoyancy"), 3.0),
        ((*LEFT, "position"), (0.2, 0.15, 0.3)),
        ((*LEFT, "density"), 4.0),
        ((*LEFT, "shape", "radius"), 0.25),
        ((*RIGHT, "shape", "size"), (0.1, 0.2, 0.1)),
    ):
        history.change(scene, place, value)
    save_description(scene, path, overwrite=True)
    for was, now in (
        ("cooling = 5e-1", "cooling = 0.0"),
        ("buoyancy = 2      # up", "buoyancy = 3      # up"),
        ("0.1, 0.3]   # below", "0.15, 0.3]   # below"),
        ('density = { formula = "3 + t" }', "density = 4.0"),
        ('{ kind="sphere",  radius = 0.1 }  # round', '{ kind="sphere",  radius = 0.25 }  # round'),
        ("size = [0.1, 0.1, 0.1] # small", "size = [0.1, 0.2, 0.1] # small"),
    ):
        assert was in text
        text = text.replace(was, now)
    assert path.read_bytes() == text.encode()
    scene.release()


CUBE = "[grid]\ncells = [4, 4, 4]\ncell_size = 0.1\n"
WIND = 'kind = "inflow"\nvelocity = [1, 0, 0] # m/s\n'
MOVES = 'back = { kind = "wall", velocity = [0.5, 0.0, 0.0] }'


@pytest.mark.parametrize(
    ("text", "after"),
    [
        (
            f'{CUBE}# air\n[sides]\nleft = {{ kind="inflow", velocity=[1, 0, 0] }} # wind\n# and out\n'
            'right = { kind = "open" }\n\n# seen\n[camera]\nfov = 30.0\n',
            f'{CUBE}# air\n[sides]\nleft = {{ kind="inflow", velocity=[2, 0, 0], density = 0.5}} # wind\n'
            f'# and out\nright = {{ kind = "open" }}\n{MOVES}\n\n# seen\n[camera]\nfov = 30.0\n',
        ),
        (
            f'{CUBE}[sides]\nall = {{ kind = "inflow", velocity = [1, 0, 0] }} # all round\n'
            'back = { kind="wall", velocity = [1, 0, 0] } # a belt\n',
            f'{CUBE}[sides]\nall = {{ kind = "inflow", velocity = [1, 0, 0] }} # all round\n'
            'back = { kind="wall", velocity = [0.5, 0, 0] } # a belt\n'
            'left = { kind = "inflow", velocity = [2.0, 0.0, 0.0], density = 0.5 }\n',
        ),
        (
            f"{CUBE}[sides.left]\n{WIND}\n# seen\n[camera]\nfov = 30.0\n",
            f"{CUBE}[sides.left]\n{WIND.replace('1', '2')}density = 0.5\n"
            '\n[sides.back]\nkind = "wall"\nvelocity = [0.5, 0.0, 0.0]\n'
            "\n# seen\n[camera]\nfov = 30.0\n",
        ),
        (
            f'sides.left.kind = "inflow"\nsides.left.velocity = [1, 0, 0] # m/s\n{CUBE}',
            f'sides.left.kind = "inflow"\nsides.left.density = 0.5\nsides.{MOVES}\n'
            f"sides.left.velocity = [2, 0, 0] # m/s\n{CUBE}",
        ),
    ],
    ids=["lines", "all", "tables", "dotted keys"],
)
def test_sides_change_where_they_are_told(tmp_path: Path, text: str, after: str) -> None:
    path, sides = tmp_path / "a.toml", ("fluids", 0, "boundaries")
    scene, history = loaded(path, text), History()
    history.change(scene, (*sides, "left", "velocity"), (2.0, 0.0, 0.0))
    history.change(scene, (*sides, "left", "density"), 0.5)
    history.change(scene, (*sides, "back", "velocity"), (0.5, 0.0, 0.0))
    save_description(scene, path, overwrite=True)
    assert path.read_text() == after
    again = loaded(path, after)
    assert again.fluid.boundaries.sides == scene.fluid.boundaries.sides
    scene.release()
    again.release()


def test_a_scene_that_has_played_is_saved_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    for x in range(1, 21):  # a unit vector divided by its length is another one in a quarter of these
        text = (
            "[grid]\ncells = [4, 4, 4]\ncell_size = 0.1\n"
            f'[[forces]]\nkind = "vortex"\ncenter = [0.2, 0.2, 0.2]\naxis = [{x}, 2, 3]\n'
        )
        scene = loaded(path, text)
        scene.advance()
        save_description(scene, path, overwrite=True)
        assert path.read_text() == text
        scene.release()


def test_what_comes_stands_where_it_belongs(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    scene, history = loaded(path), History()
    history.change(scene, (*SETTINGS, "viscosity"), 0.001)
    history.change(scene, (*SETTINGS, "pressure"), gf.Multigrid())
    history.change(scene, (*RIGHT, "noise"), 0.5)
    history.change(scene, (*RIGHT, "shape", "center"), (0.1, 0.0, 0.0))
    history.change(scene, (*LEFT, "shape", "center"), (0.0, 0.0, 0.1))
    history.change(scene, ("fire",), gf.Fire())
    ball = gf.Obstacle(gf.Sphere(radius=0.1), position=(0.3, 0.3, 0.3))
    history.make(scene, Addition(OBSTACLES, 1, ball))
    history.make(scene, Addition(LEFT[:3], 2, gf.Emitter(gf.Sphere((0.6, 0.1, 0.3), 0.1), density=2.0)))
    history.make(scene, Addition(LEFT[:3], 0, gf.Emitter(gf.Sphere((0.5, 0.1, 0.3), 0.1), density=1.0)))
    history.make(scene, Addition(("lights",), 0, gf.PointLight((1.0, 2.0, 3.0))))
    gone, _ = saved(scene, path)
    assert gone == ['shape = { kind="sphere",  radius = 0.1 }  # round']
    text = path.read_text()
    for words in (
        'cooling = 5e-1\npressure = { kind = "multigrid" }\nviscosity = 0.001\n\n# what smokes\n\n'
        "[[emitters]]\n"
        'shape = { kind = "sphere", center = [0.5, 0.1, 0.3], radius = 0.1 }\ndensity = 1.0\n\n'
        '# left one\n[[emitters]]\nname = "left"\n',
        "name = 'right'  # not the left\ntemperature = 1.0\nnoise = 0.5\n[emitters.shape]\n",
        "size = [0.1, 0.1, 0.1] # small\ncenter = [0.1, 0.0, 0.0]\n\n[[emitters]]\nshape = { kind = ",
        "density = 2.0\n\n# in the way\n[[obstacles]]\n",
        'radius = 0.15 }\n\n[[obstacles]]\nshape = { kind = "sphere", radius = 0.1 }\n',
        "distance = 2.0\n# end\n\n[fire]\n\n[[lights]]\nkind = \"point\"\nposition = [1.0, 2.0, 3.0]\n",
    ):  # fmt: skip
        assert words in text, words
    history.make(scene, Addition(("fluids", 0, "forces"), 0, gf.Wind((0.1, 0.0, 0.0))))
    assert saved(scene, path)[0] == [], "a second save"
    scene.release()


@pytest.mark.parametrize(
    ("group", "name"), [(group, name) for group, names in ADDABLE.items() for name in names]
)
def test_what_the_studio_adds_acts_and_is_saved(group: str, name: str, tmp_path: Path) -> None:
    """A new object is taken and read back as it is; all but a light change the flow. Undone it is gone."""
    path, flows = tmp_path / "a.toml", []
    where = ("lights",) if group == "lights" else ("fluids", 0, group)
    for added in (False, True):
        path.write_text("[grid]\ncells = [13, 13, 13]\ncell_size = 0.05\n")
        scene, history = gf.Scene.load(path, backend="numpy"), History()
        fluid = scene.fluid
        if added:
            thing, told = new_object(group, name, fluid.grid)
            history.make(scene, Addition(where, 0, thing, told))
            saved(scene, path)
        scene.advance()
        flows.append([field.read() for field in (fluid.velocity, fluid.density, fluid.solid)])
        if added:
            assert history.undo(scene)
        assert not value_at(scene, where)
        scene.release()
    assert any((a != b).any() for a, b in zip(*flows, strict=True)) == (group != "lights")


def test_what_goes_takes_its_own_comments_along(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    scene, history = loaded(path), History()
    history.make(scene, Removal(LEFT[:3], 1, scene.fluid.emitters[1]))
    history.change(scene, ("floor",), None)
    gone, came = saved(scene, path)
    i, text = HAND_WRITTEN.index("# right one"), HAND_WRITTEN
    assert came == [] and "floor =  0     # the ground" in gone
    j = text.index("# in the way")
    assert path.read_text() == (text[:i] + text[j:]).replace("floor =  0     # the ground\n", "")
    history.make(scene, Removal(OBSTACLES, 0, scene.fluid.obstacles[0]))
    history.make(scene, Removal(LEFT[:3], 0, scene.fluid.emitters[0]))
    saved(scene, path)
    kept = path.read_text()
    assert "# what smokes\n\n# how it is seen\n[camera]\n" in kept and "way" not in kept
    history.undo(scene)
    history.undo(scene)
    saved(scene, path)
    assert path.read_text().startswith(kept.rstrip("\n")), "what comes again stands behind all"
    scene.release()


def test_what_comes_back_into_a_scene_saved_without_it_is_what_it_was(tmp_path: Path) -> None:
    path, history = tmp_path / "a.toml", History()
    knot = (
        '[[obstacles]]\nname = "knot"\nshape = { kind = "knot" }\nposition = [0.4, 0.4, 0.3]\nscale = 0.5\n'
    )
    text = HAND_WRITTEN.replace("# how it is seen", knot + "\n# how it is seen")
    turn = 'rotation = { axis = [0, 1, 0], degrees = { formula = "9 * t" } }\n'
    scene = loaded(path, text.replace("# position = [9, 9, 9]\n", turn))
    was = description_of(scene)
    history.make(scene, Removal(OBSTACLES, 1, scene.fluid.obstacles[1]))
    history.make(scene, Removal(LEFT[:3], 0, scene.fluid.emitters[0]))
    history.change(scene, (*OBSTACLES, 0, "rotation"), None)
    history.change(scene, (*LEFT, "color"), (1.0, 0.0, 0.0))
    save_description(scene, path, overwrite=True)
    history.mark_saved()
    again = gf.Scene.load(path, backend="numpy")  # as when it starts again
    assert history.repeat(again) == []
    while history.undo(again):
        pass
    assert again.names["knot"] is again.fluid.obstacles[1]
    assert description_of(again) == was
    saved(again, path)
    scene.release()
    again.release()


def test_what_was_added_comes_again_as_it_was_added(tmp_path: Path) -> None:
    path, history = tmp_path / "a.toml", History()
    scene = loaded(path)
    emitter = gf.Emitter(gf.Sphere((0.4, 0.4, 0.3), 0.1), density=2.0)
    history.make(scene, Addition(LEFT[:3], 2, emitter))
    save_description(scene, path, overwrite=True)
    history.mark_saved()
    history.change(scene, (*LEFT[:3], 2, "density"), 5.0)
    again = gf.Scene.load(path, backend="numpy")  # as when it starts again
    assert history.repeat(again) == []
    history.undo(again)
    history.undo(again)
    history.redo(again)
    assert again.fluid.emitters[2].density == 2.0
    history.redo(again)
    assert again.fluid.emitters[2].density == 5.0
    scene.release()
    again.release()


def test_what_was_read_is_said_again_when_it_is_undone_in_a_scene_built_anew(tmp_path: Path) -> None:
    """What the scene built anew has read is another object than the one that comes back."""
    path, history = tmp_path / "a.toml", History()
    knot = '[[obstacles]]\nshape = { kind = "knot" }\nrotation = { axis = [0, 1, 0], degrees = 30 }\n'
    scene = loaded(path, f"[grid]\ncells = [9, 9, 9]\ncell_size = 0.1\n{knot}")
    was = description_of(scene)
    history.make(scene, Addition(OBSTACLES, 1, *new_object("obstacles", "knot", scene.fluid.grid)))
    added = description_of(scene)
    history.change(scene, (*OBSTACLES, 1, "shape"), gf.Sphere(radius=0.2))
    history.change(scene, (*OBSTACLES, 0, "shape"), gf.Box())
    history.change(scene, (*OBSTACLES, 0, "rotation"), None)
    again = gf.Scene.load(path, backend="numpy")  # as when it starts again
    assert history.repeat(again) == []
    for _ in range(3):
        history.undo(again)
    assert description_of(again) == added
    history.undo(again)
    assert description_of(again) == was
    saved(again, path)
    scene.release()
    again.release()


def test_a_copy_of_what_was_added_stays_as_it_was_copied(tmp_path: Path) -> None:
    """In a scene built anew the copy is made of what was added as that was then, not as it is now."""
    path, history = tmp_path / "a.toml", History()
    scene = loaded(path)
    history.make(scene, Addition(OBSTACLES, 1, gf.Obstacle(gf.Sphere(radius=0.1), gloss=0.25)))
    history.make(scene, Duplication(OBSTACLES, 1, None, {}))
    history.change(scene, (*OBSTACLES, 1, "gloss"), 0.75)
    assert [thing.gloss for thing in scene.fluid.obstacles] == [1.0, 0.75, 0.25]
    for _ in range(2):
        again = gf.Scene.load(path, backend="numpy")  # as when it starts again
        assert history.repeat(again) == []
        assert [thing.gloss for thing in again.fluid.obstacles] == [1.0, 0.75, 0.25]
        again.release()
    scene.release()


def test_several_come_before_all_others(tmp_path: Path) -> None:
    path, history = tmp_path / "a.toml", History()
    scene = loaded(path)
    for radius in (0.1, 0.2, 0.3):
        emitter = gf.Emitter(gf.Sphere((0.4, 0.4, 0.3), radius), density=1.0)
        history.make(scene, Addition(LEFT[:3], 0, emitter))
    gone, come = saved(scene, path)
    assert gone == [] and [line for line in come if "radius" in line] == [
        f'shape = {{ kind = "sphere", center = [0.4, 0.4, 0.3], radius = {radius} }}'
        for radius in (0.3, 0.2, 0.1)
    ]
    scene.release()


def test_boxes_lists_on_a_line_and_changes_by_the_command_line(tmp_path: Path) -> None:
    text = (
        "# two\n[[containers]]\nname = 'a' # first\ngrid = { cells = [4, 4, 4], cell_size = 0.1 }\n\n"
        "[[containers]]\n[containers.grid] # second\ncells = [4, 4, 4]\norigin = [9, 0, 0]\n"
        "# its balls\n[[containers.obstacles]]\nshape = { kind = 'sphere' }\n\n"
        "[[views]]\nkind = 'slice' # a cut\nbox = 'a'\n"
    )
    path = tmp_path / "a.toml"
    scene = loaded(path, text, changes=["views[0].opacity=0.5", "containers[1].obstacles[0].gloss=0.25"])
    history = History()
    history.change(scene, ("fluids", 0, "settings", "viscosity"), 0.5)
    history.make(scene, Addition(("fluids", 1, "obstacles"), 1, gf.Obstacle(gf.Sphere(radius=2.0))))
    history.make(scene, Addition(("fluids", 0, "obstacles"), 0, gf.Obstacle(gf.Sphere(radius=0.5))))
    gone, came = saved(scene, path)
    assert gone == []
    assert [line for line in came if line] == [
        "settings = { viscosity = 0.5 }",
        "[[containers.obstacles]]",
        'shape = { kind = "sphere", radius = 0.5 }',
        "gloss = 0.25",
        "[[containers.obstacles]]",
        'shape = { kind = "sphere", radius = 2.0 }',
        "opacity = 0.5",
    ]
    scene.release()
    path = tmp_path / "b.toml"
    line = "obstacles = [{ shape = { kind = 'sphere' } }, { shape = { kind = 'box' } }]\n"
    scene, history = loaded(path, f"{line}[grid]\ncells = [4, 4, 4]\n"), History()
    history.change(scene, (*OBSTACLES, 1, "gloss"), 0.5)
    saved(scene, path)
    assert path.read_text().startswith(
        "obstacles = [{ shape = { kind = 'sphere' } }, { shape = { kind = 'box' }"
    )
    history.make(scene, Removal(OBSTACLES, 0, scene.fluid.obstacles[0]))
    history.change(scene, ("dt",), 0.25)
    saved(scene, path)
    assert path.read_text().startswith(
        'obstacles = [{ shape = { kind = "box" }, gloss = 0.5 }]\ndt = 0.25\n[grid]'
    )
    scene.release()


def test_lines_with_dots_go_as_others_do(tmp_path: Path) -> None:
    """``density.formula = ...`` has no table with a header to be taken away."""
    path = tmp_path / "a.toml"
    text = "[grid]\ncells = [6, 6, 6]\n\n[[emitters]]\nshape.kind = 'sphere' # round\nshape.radius = 0.5\n"
    text += "density.formula = '1 + t' # more and more\nfuel.keys = [[0, 1], [2, 5]]\nfuel.ease = 'smooth'\n"
    scene, history = loaded(path, f"fire.intensity = 20\n{text}noise = 0.5\n"), History()
    for name in ("density", "fuel"):
        history.change(scene, (*LEFT, name), 3.0)
    history.change(scene, ("fire",), None)
    gone, came = saved(scene, path)
    assert came == ["density = 3.0", "fuel = 3.0"]
    assert [line.partition(" ")[0] for line in gone] == [
        *("fire.intensity", "density.formula", "fuel.keys", "fuel.ease")
    ]
    scene.release()


def test_the_first_of_a_list_comes_into_a_box_on_a_line(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    boxes = "{ grid = { cells = [6, 6, 6] } }, { grid = { cells = [6, 6, 6], origin = [9, 0, 0] } }"
    scene = loaded(path, f"containers = [{boxes}]\n")
    History().make(scene, Addition(("fluids", 1, "obstacles"), 0, gf.Obstacle(gf.Sphere(radius=0.5))))
    saved(scene, path)
    assert 'obstacles = [{ shape = { kind = "sphere", radius = 0.5 } }]' in path.read_text()
    scene.release()


def test_how_long_it_lasts_stays_in_frames(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    scene = loaded(path, "duration = 2.0 # s\n[grid] # cells\ncells = [4, 4, 4]\n")
    History().change(scene, ("dt",), 0.05)
    saved(scene, path)
    assert path.read_text() == "duration = 3.0 # s\ndt = 0.05\n[grid] # cells\ncells = [4, 4, 4]\n"
    scene.release()


def test_cells_on_a_gpu_and_without_one_are_saved_apart(
    ctx: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rebuild changes those of the machine it is made on."""
    path, text = tmp_path / "a.toml", "[grid] # cells\ncells = [4, 6, 4]\ngpu_cells = [8, 12, 8] # finer\n"

    def after(cells: Any = None) -> str:
        """What is saved of the scene with those `cells`."""
        path.write_text(text)
        scene = gf.Scene.load(path, ctx, cells=cells)
        save_description(scene, path, overwrite=True)
        scene.release()
        return path.read_text()

    monkeypatch.setattr(scene_file, "_has_gpu", lambda where: False)
    assert after() == text
    assert after((2, 3, 2)) == text.replace("4, 6, 4", "2, 3, 2") + "cell_size = 2.0\n"
    monkeypatch.setattr(scene_file, "_has_gpu", lambda where: where is ctx)
    assert after() == text
    assert after((6, 9, 6)) == text.replace("8, 12, 8", "6, 9, 6")
    path.write_text(text)
    scene = gf.Scene.load(path, ctx, cells=(6, 9, 6))
    save_description(scene, tmp_path / "b.toml", cells_as_read=(0,))
    assert (tmp_path / "b.toml").read_text() == text
    scene.release()


def test_cells_of_the_command_line_stay_with_those_of_another_box() -> None:
    built: list[Any] = []

    def make(**options: Any) -> Any:
        built.append(options)

    maker = SceneMaker(make, None, None, {"cells": (4, 4, 4)})
    maker.build({})  # what it calls has them
    maker.build({1: (8, 8, 8)})
    maker.build({0: (6, 6, 6)})
    assert built == [{}, {"cells": [(4, 4, 4), (8, 8, 8)]}, {"cells": (6, 6, 6)}]
    assert maker.passing({}) == maker.passing({1: (8, 8, 8)}) == (0,)
    assert maker.passing({0: (6, 6, 6)}) == ()


def test_files_that_a_scene_reads_are_watched_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A photograph, a mesh and an array that are saved again; one that is missing for a while is no other."""
    monkeypatch.setattr(scene_maker, "LOOK", 0.0)
    path, plate, rock, wind = (tmp_path / name for name in ("a.toml", "plate.png", "rock.obj", "wind.npy"))
    Image.new("RGB", (4, 4), (9, 9, 9)).save(plate)
    rock.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    np.save(wind, np.zeros((4, 4, 4, 3), np.float32))
    scene = loaded(
        path,
        """
[grid]
cells = [4, 4, 4]
cell_size = 0.25
[[obstacles]]
shape = { kind = "mesh", file = "rock.obj", fit = 0.8, center = [0.5, 0.5, 0.5] }
[[forces]]
kind = "field"
values = { file = "wind.npy" }
[picture]
background = { file = "plate.png" }
""",
    )
    files = scene.provenance.files
    assert sorted(files) == [plate, rock, wind]
    maker = SceneMaker(lambda: scene, None, path, {})
    assert maker.has_changed(lambda: files) is None
    for file in (plate, rock, wind, path):
        os.utime(file, ns=(1, 1))
        assert maker.has_changed(lambda: files) == file
        assert maker.has_changed(lambda: files) is None
    plate.rename(tmp_path / "other.png")
    assert maker.has_changed(lambda: files) is None
    (tmp_path / "other.png").rename(plate)
    assert maker.has_changed(lambda: files) is None
    scene.picture.background = "sky"
    assert sorted(scene.provenance.files) == [rock, wind]  # what is not seen any more is not waited for
    scene.release()


def test_a_mesh_that_was_missing_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The window looked again only when the description was saved once more."""
    from gpufluid.app.player import Player

    monkeypatch.setattr(scene_maker, "LOOK", 0.0)
    path, rock = tmp_path / "a.toml", tmp_path / "rock.obj"
    text = "[grid]\ncells = [4, 4, 4]\ncell_size = 0.25\n"
    scene = loaded(path, text)
    maker = SceneMaker(lambda: gf.Scene.load(path, backend="numpy"), None, path, {})

    def read_again() -> str:
        said: list[str] = []
        player = SimpleNamespace(maker=maker, say=said.append, name="a", history=History(), paused=True)
        player._replace = lambda cells: maker.build(cells).release()
        Player._read_again(player)  # type: ignore[arg-type]
        return said[0]

    def changed() -> Path | None:
        return maker.has_changed(lambda: scene.provenance.files)

    assert changed() is None
    path.write_text(f'{text}[[obstacles]]\nshape = {{ kind = "mesh", file = "rock.obj", fit = 0.4 }}\n')
    assert changed() == path
    assert "rock.obj does not exist" in read_again() and "rock.obj does not exist" in maker.trouble
    assert changed() is None
    rock.write_text("v 0 0 0\nv 1 0 0\n")  # half of it, say
    assert changed() == rock
    assert "rock.obj" in read_again() and maker.trouble
    assert changed() is None
    rock.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    assert changed() == rock
    assert read_again().endswith("was reloaded") and maker.trouble == ""
    rock.unlink()
    assert changed() is None
    scene.release()


def test_another_grid_is_written_into_the_text(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    history = History()
    history.make(loaded(path), Regrid(0, (8, 8, 6), (16, 16, 12)))
    scene = gf.Scene.load(path, backend="numpy", cells=history.cells[0])
    assert saved(scene, path) == (
        ["cells = [ 8,8,  6 ]", "cell_size = 0.1"],
        ["cells = [ 16,16,  12 ]", "cell_size = 0.05"],
    )
    scene.release()


def test_a_view_turned_by_hand_is_saved_and_another_is_not(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    scene = loaded(path, "[grid]\ncells = [4, 4, 4]\n[camera]\nfov = 40 # narrow\n")
    scene.fit(0.5)
    assert saved(scene, path) == ([], [])
    scene.camera.azimuth = 70.0
    scene.hold(scene.camera, "azimuth")
    gone, came = saved(scene, path)
    assert gone == [] and "azimuth = 70.0" in came and any("distance = " in line for line in came)
    scene.release()


def test_lists_that_stand_apart_are_not_rewritten_without_being_asked(tmp_path: Path) -> None:
    ball = '[[obstacles]]\nshape = { kind = "sphere" }\n'
    path, text = tmp_path / "a.toml", f"[grid]\ncells = [4, 4, 4]\n{ball}[[lights]]\nkind = 'sun'\n{ball}"
    scene = loaded(path, text)
    with pytest.raises(gf.GpufluidError, match="a.toml: its text cannot be changed in place .*another name"):
        save_description(scene, path, overwrite=True)
    assert path.read_text() == text
    again = gf.Scene.load(save_description(scene, tmp_path / "b.toml"), backend="numpy")
    assert len(again.fluid.obstacles) == 2
    for made in (scene, again):
        made.release()


@pytest.mark.filterwarnings("ignore::gpufluid.ShapeWarning")
def test_a_new_scene_is_written_neatly(tmp_path: Path) -> None:
    fluid = gf.Fluid(gf.Grid((4, 4, 4), 0.25), gf.Boundaries(top=gf.Open()), backend="numpy")
    fluid.emitters.add(gf.Emitter(gf.Sphere((0.5, 0.2, 0.5), 0.1), density=2.0))
    fluid.obstacles.add(gf.Obstacle(gf.Box(size=(0.3, 0.4, 0.5)), position=(0.5, 0.5, 0.5)))
    scene = gf.Scene(fluid, title='my "room"', fire=gf.Fire())
    path = save_description(scene, tmp_path / "new.toml")
    assert path.read_text() == NEAT
    again = gf.Scene.load(path, backend="numpy")
    assert description_of(again) == description_of(scene)
    for made in (scene, again):
        made.release()


NEAT = """\
title = "my \\"room\\""

[grid]
cells = [4, 4, 4]
cell_size = 0.25

[sides]
top = { kind = "open" }

[[emitters]]
shape = { kind = "sphere", center = [0.5, 0.2, 0.5], radius = 0.1 }
density = 2.0

[[obstacles]]
shape = { kind = "box", size = [0.3, 0.4, 0.5] }
position = [0.5, 0.5, 0.5]

[fire]
"""


def test_what_is_written_of_values_over_time_is_what_was_said(tmp_path: Path) -> None:
    file = write_starter(str(tmp_path / "smoke.toml"), False)
    scene = gf.Scene.load(file, backend="numpy")
    scene.fluid.emitters[0].density = 2.0
    scene.provenance.told = None  # as if it were another's
    text = save_description(scene, tmp_path / "again.toml").read_text()
    assert 'position = { formula = ["0.05 * sin(5 * t)", "0.12", "0.05 * cos(4 * t)"] }\n' in text
    assert "ease" not in text and "repeat" not in text
    scene.release()


@pytest.mark.filterwarnings("ignore::gpufluid.ShapeWarning")
def test_the_demos_stay_as_they_are(tmp_path: Path) -> None:
    """But for what is changed, and for the cells, which are fewer here for the while."""
    files = [file for name in demo_names() if (file := demo_file(name)).suffix == ".toml"]
    assert len(files) > 10
    for file in files:
        path = shutil.copytree(file.parent, tmp_path / file.stem, ignore=shutil.ignore_patterns("*.py", "_*"))
        path /= file.name
        scene = gf.Scene.load(path, backend="numpy", cells=(6, 8, 1 if "street" in file.name else 6))
        scene.smoke.extinction = 33.0
        save_description(scene, path, overwrite=True)
        told = [*difflib.ndiff(file.read_text().splitlines(), path.read_text().splitlines())]
        for sign in "-+":
            other = [line for line in told if line[0] == sign and not re.match(r". (cell|origin|grid)", line)]
            other = [line for line in other if "extinction" not in line]
            assert set(other) <= ({"+ ", "+ [smoke]"} if sign == "+" else set()), file.name
        assert "+ extinction = 33.0" in [line[:19] for line in told], file.name
        scene.release()


@pytest.mark.parametrize(
    "eye", ["[2, 1, 3.0]", '{ formula = ["2 * cos(t)", "1", "2 * sin(t)"] }'], ids=["still", "moving"]
)
def test_a_camera_placed_by_its_eye_stays_so(tmp_path: Path, eye: str) -> None:
    path = tmp_path / "a.toml"
    scene = loaded(path, f"[grid]\ncells = [4, 4, 4]\n[camera]\neye = {eye} # there\nfov = 40\n")
    scene._advance(step=False)
    assert saved(scene, path) == ([], [])
    anew = save_description(scene, tmp_path / "b.toml").read_text()
    assert "eye = " in anew and "azimuth" not in anew and "distance" not in anew
    scene.camera.fov = 50.0
    scene.hold(scene.camera, "fov")  # which is no place
    assert saved(scene, path) == (["fov = 40"], ["fov = 50"])
    move_view(scene, lambda camera: orbit.rotate(camera, 31.0, 7.0, 437.0))
    turned = scene.camera.eye
    scene._advance(step=False)
    assert scene.camera.eye == turned  # not back where the file says
    gone, came = saved(scene, path)
    assert gone == [f"eye = {eye} # there"]
    assert came == [f"eye = {[float(f'{n:.6g}') for n in turned]} # there"]
    again = gf.Scene.load(path, backend="numpy")
    assert again.camera.eye == pytest.approx(turned, rel=1e-5)
    for made in (scene, again):
        made.release()


def test_an_eye_set_in_the_studio_takes_over_from_what_turns_the_camera(tmp_path: Path) -> None:
    path, history = tmp_path / "a.toml", History()
    scene = loaded(
        path, "[grid]\ncells = [4, 4, 4]\n[camera]\ndistance = 3.0\nazimuth = { formula = '90 * t' }\n"
    )
    assert [item.name for item in items_of(gf.Camera)][:3] == ["target", "eye", "distance"]
    history.change(scene, ("camera", "eye"), (1.0, 2.0, 2.0))
    scene._advance(step=False)
    assert scene.camera.eye == pytest.approx((1.0, 2.0, 2.0))
    assert history.undo(scene)
    for _ in range(2):
        scene._advance(step=False)
    assert scene.camera.azimuth == pytest.approx(90.0 * 2.0 / 30.0) and scene.camera.distance == 3.0
    with pytest.raises(gf.GpufluidError, match="Camera.eye must be seen"):
        history.change(scene, ("camera", "eye"), (0.0, 9.0, 0.0))
    assert scene.camera.distance == 3.0
    scene.release()


@pytest.mark.parametrize("near", ["0.3", "{ keys = [[0, 0.1], [1, 0.2]] }"], ids=["still", "moving"])
def test_a_camera_that_nobody_placed_keeps_its_clipping(tmp_path: Path, near: str) -> None:
    """As it was said, not as placing the camera has widened it; in a text that is written anew too."""
    path = tmp_path / "a.toml"
    scene = loaded(path, f"[grid]\ncells = [4, 4, 4]\n[camera]\nnear = {near}  # m\nfar = 30.0\n")
    scene.fit(0.3)
    assert scene.camera_is_free and saved(scene, path) == ([], [])
    scene.provenance.told = None
    text = save_description(scene, tmp_path / "b.toml").read_text()
    assert f"[camera]\nnear = {near}\nfar = 30.0\n" in text
    again = gf.Scene.load(tmp_path / "b.toml", backend="numpy")
    again.fit(0.3)
    assert again.camera == scene.camera
    for one in (scene, again):
        one.release()


def test_a_hand_leaves_no_digits_that_nobody_means(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    scene, history = loaded(path), History()
    history.change(scene, (*LEFT, "density"), 2.1)
    history.seal()
    strengthen(scene, history, 1.25)
    strengthen(scene, history, 0.8)
    blow(scene, history, 1.0)
    orbit.rotate(scene.camera, 31.0, 7.0, 437.0)
    scene.hold(scene.camera, "azimuth")
    saved(scene, path)
    assert "density = 2.1\n" in path.read_text()
    assert re.findall(r"\d\.\d{7,}|-0\.0\b", path.read_text()) == []
    scene.release()
