"""Objects under other names, and copies of them: what refers to them follows, and so does the text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import moderngl
import pytest
from saving import description_of, saved

import gpufluid as gf
from gpufluid.app.edits import Duplication, History, Naming, Removal, free_name, value_at
from gpufluid.app.studio.editor import Editor
from gpufluid.app.studio.new import beside
from gpufluid.common.errors import GpufluidError

TEXT = """\
# two rooms
dt = 0.1

[[containers]]
name = "left"     # the first
grid = { cells = [4, 6, 4], cell_size = 0.1 }

# what smokes
[[containers.emitters]]
name = "jet"   # hot
shape = { kind = "sphere", radius = 0.1 }
position = { formula = ["0.2 + 0.1 * t", "0.1", "0.2"] }
density = { formula = "3 + t" }     # more and more
rotation = { axis = [0, 1, 0], degrees = 30.0 }

[[containers.emitters]]   # no name
shape = { kind = "box", size = [0.1, 0.1, 0.1] }   # small
temperature = 1.0

[[containers.obstacles]]
name = "knot"
shape = { kind = "knot", fit = 0.2 }
position = [0.2, 0.4, 0.2]

[[containers.forces]]
kind = "wind"
name = "gusts"
velocity = [0.1, 0.0, 0.0]

# the other room
[[containers]]
grid = { cells = [4, 6, 4], cell_size = 0.1, origin = [1.0, 0.0, 0.0] }

[[lights]]
kind = "point"
name = "lamp"
position = [0.0, 1.0, 1.0]

[[views]]
kind = "particles"
name = "sparks"
box = "left"   # here
count = 100
sources = [{ shape = "jet",  color = [1.0, 0.5, 0.1] },   # from the jet
           { shape = { kind = "box", size = [0.2, 0.1, 0.2] }, share = 0.5 }]  # and from below

[[views]]
kind = "slice"
box = "box 2"
"""
JET, PLAIN = ("fluids", 0, "emitters", 0), ("fluids", 0, "emitters", 1)
KNOT, GUSTS = ("fluids", 0, "obstacles", 0), ("fluids", 0, "forces", 0)
LAMP, SPARKS, SLICE = ("lights", 0), ("views", 0), ("views", 1)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The text as a file."""
    path = tmp_path / "rooms.toml"
    path.write_text(TEXT)
    return path


@pytest.fixture
def scene(file: Path) -> Iterator[gf.Scene]:
    """What it describes."""
    made = gf.Scene.load(file, backend="numpy")
    yield made
    made.release()


def rename(scene: gf.Scene, history: History, path: tuple[str | int, ...], name: str) -> None:
    thing = value_at(scene, path)
    before = next((n for n, t in scene.names.items() if t is thing), None)
    history.make(scene, Naming(path, before, name))


def test_what_refers_to_a_name_follows_it_into_the_text(scene: gf.Scene, file: Path) -> None:
    history = History()
    for path, name in (
        (JET, "torch"),
        (PLAIN, "ember"),
        (KNOT, "rope"),
        (GUSTS, "draught"),
        (LAMP, "bulb"),
        (SPARKS, "glow"),
        (SLICE, "cut"),
        (("fluids", 0), "kitchen"),
        (("fluids", 1), "hall"),
    ):
        rename(scene, history, path, name)
        assert scene.names[name] is value_at(scene, path)
    assert scene.box_names == ("kitchen", "hall")
    assert [view.box for view in scene.views] == ["kitchen", "hall"]
    assert {"jet", "left", "knot", "gusts", "lamp", "sparks"}.isdisjoint(scene.names)
    scene.advance()
    assert scene.names["torch"].density == pytest.approx(3.0), "it forgets its formula"
    changed = TEXT
    for was, now in (
        ('name = "left"     # the first', 'name = "kitchen"     # the first'),
        ('name = "jet"   # hot', 'name = "torch"   # hot'),
        ("[[containers.emitters]]   # no name\n", '[[containers.emitters]]   # no name\nname = "ember"\n'),
        ('"knot"\nshape', '"rope"\nshape'),
        ('"gusts"', '"draught"'),
        ('"lamp"', '"bulb"'),
        ('"sparks"', '"glow"'),
        ('box = "left"   # here', 'box = "kitchen"   # here'),
        ('{ shape = "jet",  color', '{ shape = "torch",  color'),
        ('# the other room\n[[containers]]\n', '# the other room\n[[containers]]\nname = "hall"\n'),
        ('[[views]]\nkind = "slice"\nbox = "box 2"', '[[views]]\nkind = "slice"\nname = "cut"\nbox = "hall"'),
    ):  # fmt: skip
        assert changed.count(was) == 1, was
        changed = changed.replace(was, now)
    saved(scene, file)
    assert file.read_text() == changed
    while history.undo(scene):
        pass
    assert [view.box for view in scene.views] == ["left", "box 2"]
    saved(scene, file)
    assert file.read_text() == TEXT
    while history.redo(scene):
        pass
    saved(scene, file)
    assert file.read_text() == changed


def test_names_are_given_again_to_a_scene_built_anew(scene: gf.Scene, file: Path) -> None:
    history = History()
    rename(scene, history, JET, "torch")
    history.make(scene, Duplication(JET[:3], 0, "torch 2", {"position": (0.3, 0.1, 0.2)}))
    rename(scene, history, (*JET[:3], 1), "other")
    again = gf.Scene.load(file, backend="numpy")
    assert history.repeat(again) == []
    assert description_of(again) == description_of(scene)
    assert again.names["other"] is again.fluid.emitters[1]
    while history.undo(again):
        pass
    assert sorted(again.names) == ["gusts", "jet", "knot", "lamp", "left", "sparks"]
    again.release()


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("", "a name must not be empty"),
        ("  ", "a name must not be empty"),
        (" jet", "a name must be one line without blanks at its ends, got ' jet'"),
        ("a\nb", r"a name must be one line without blanks at its ends, got 'a\nb'"),
        ("a.b", "a name must be without '.', which --set reads otherwise, got 'a.b'"),
        ("a[0]", "a name must be without '[', which --set reads otherwise, got 'a[0]'"),
        ("a=1", "a name must be without '=', which --set reads otherwise, got 'a=1'"),
        ("12", "a name must not be a number, by which --set counts, got '12'"),
        ("knot", "'knot' is taken already"),
        ("left", "'left' is taken already"),
        ("lamp", "'lamp' is taken already"),
    ],
)
def test_a_name_that_cannot_be_changes_nothing(scene: gf.Scene, tmp_path: Path, name: str, told: str) -> None:
    """By the same rules, and in the same words, as in a file."""
    history, before = History(), dict(scene.names)
    with pytest.raises(GpufluidError) as raised:
        rename(scene, history, JET, name)
    assert str(raised.value) == told
    assert scene.names == before and not history.undo(scene)
    text = TEXT.replace('name = "jet"', f"name = {name!r}".replace("\\n", "\\u000a").replace("'", '"'))
    text = text.replace('shape = "jet"', "shape = { kind = 'sphere' }")
    places = {"knot": "containers[0].obstacles[0].name", "left": "containers[0].name"}  # the later one
    place = places.get(name, "containers[0].emitters[0].name")
    (tmp_path / "b.toml").write_text(text)
    with pytest.raises(gf.SceneError) as wrong:
        gf.Scene.load(tmp_path / "b.toml", backend="numpy")
    assert str(wrong.value) == f"{tmp_path / 'b.toml'}: {place}: {told}"


def test_boxes_are_told_apart(scene: gf.Scene, tmp_path: Path) -> None:
    history, before = History(), dict(scene.names)
    with pytest.raises(GpufluidError, match="each box must have a name of its own, got box 2, box 2"):
        rename(scene, history, ("fluids", 0), "box 2")
    assert scene.names == before and scene.views[0].box == "left"
    path = tmp_path / "one.toml"
    path.write_text(
        "[grid]\ncells = [4, 4, 4]\n" + TEXT[TEXT.index("# the other room") :].split("[[views]]")[0]
    )
    alone = gf.Scene.load(path, backend="numpy")
    with pytest.raises(GpufluidError, match=r"only a box of \[\[containers\]\] has a name"):
        rename(alone, history, ("fluids", 0), "first")
    rename(alone, history, ("fluids", 1), "second")
    assert saved(alone, path)[1] == ['name = "second"']
    alone.release()


def test_a_name_is_free_again_where_its_thing_is_gone(scene: gf.Scene) -> None:
    history, knot = History(), scene.names["knot"]
    history.make(scene, Removal(KNOT[:3], 0, knot))
    rename(scene, history, PLAIN, "knot")
    assert scene.names["knot"] is scene.fluid.emitters[1]
    history.undo(scene)
    history.undo(scene)
    assert scene.names["knot"] is knot is scene.fluid.obstacles[0]
    assert description_of(scene)["containers"][0]["obstacles"][0]["name"] == "knot"


def test_what_particles_start_from_is_not_taken_away(scene: gf.Scene) -> None:
    history = History()
    with pytest.raises(GpufluidError, match=r"the particles of views\[0\] start from it"):
        history.make(scene, Removal(JET[:3], 0, scene.fluid.emitters[0]))
    assert len(scene.fluid.emitters) == 2 and not history.undo(scene)
    history.make(scene, Removal(("views",), 0, scene.views[0]))
    history.make(scene, Removal(JET[:3], 0, scene.fluid.emitters[0]))
    assert len(scene.fluid.emitters) == 1


def test_an_expression_keeps_its_name_when_it_is_changed(ctx: moderngl.Context, tmp_path: Path) -> None:
    """It is another object then."""
    force = '[[forces]]\nkind = "expression"\nname = "swirl"\nexpression = "vec3(0, x, 0)"\n'
    (tmp_path / "a.toml").write_text(f"[grid]\ncells = [4, 4, 4]\n{force}")
    scene, history = gf.Scene.load(tmp_path / "a.toml", ctx), History()
    editor, *_ = editor_of(scene)
    editor.select(("fluids", 0, "forces", 0))
    history.change(scene, ("fluids", 0, "forces", 0, "active"), False)
    assert editor.selected == ("fluids", 0, "forces", 0)
    history.make(scene, Duplication(("fluids", 0, "forces"), 0, "swirl 2", {}))
    first, second = description_of(scene)["forces"]
    assert first == {"kind": "expression", "name": "swirl", "expression": "vec3(0, x, 0)", "active": False}
    assert second == {**first, "name": "swirl 2"}
    assert list(scene.names.values()) == list(scene.fluid.forces)
    scene.release()


# -- copies ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "name", "other", "came"),
    [
        (
            JET,
            "jet 2",
            {"position": (0.3, 0.1, 0.2)},
            [
                "[[containers.emitters]]",
                'name = "jet 2"',
                'shape = { kind = "sphere", radius = 0.1 }',
                'density = { formula = "3 + t" }',
                "position = [0.3, 0.1, 0.2]",
                "rotation = { axis = [0.0, 1.0, 0.0], degrees = 30.0 }",
            ],
        ),
        (
            PLAIN,
            None,
            {},
            [
                "[[containers.emitters]]",
                'shape = { kind = "box", size = [0.1, 0.1, 0.1] }',
                "temperature = 1.0",
            ],
        ),
        (
            KNOT,
            "knot 2",
            {"position": (0.2, 0.5, 0.2)},
            [
                "[[containers.obstacles]]",
                'name = "knot 2"',
                'shape = { kind = "knot", fit = 0.2 }',
                "position = [0.2, 0.5, 0.2]",
            ],
        ),
        (
            GUSTS,
            "gusts 2",
            {},
            ["[[containers.forces]]", 'kind = "wind"', 'name = "gusts 2"', "velocity = [0.1, 0.0, 0.0]"],
        ),
        (
            LAMP,
            "lamp 2",
            {"position": (0.1, 1.0, 1.0)},
            ["[[lights]]", 'kind = "point"', 'name = "lamp 2"', "position = [0.1, 1.0, 1.0]"],
        ),
        (
            SPARKS,
            "sparks 2",
            {},
            [
                "[[views]]",
                'kind = "particles"',
                'name = "sparks 2"',
                'box = "left"',
                "count = 100",
                "sources = [",
                '    { shape = "jet", color = [1.0, 0.5, 0.1] },',
                '    { shape = { kind = "box", size = [0.2, 0.1, 0.2] }, share = 0.5 },',
                "]",
            ],
        ),
    ],
    ids=lambda value: ".".join(map(str, value)) if isinstance(value, tuple) else "",
)  # fmt: skip
def test_a_copy_stands_behind_the_first_and_says_the_same(
    scene: gf.Scene,
    file: Path,
    path: tuple[Any, ...],
    name: str | None,
    other: dict[str, Any],
    came: list[str],
) -> None:
    history, first = History(), value_at(scene, path)
    *place, index = path
    count = len(value_at(scene, tuple(place)))
    for _ in range(2):  # done, and done again
        if not history.redo(scene):
            history.make(scene, Duplication(tuple(place), index, name, other))
        copy = value_at(scene, (*place, index + 1))
        assert value_at(scene, path) is first and copy is not first and type(copy) is type(first)
        assert len(value_at(scene, tuple(place))) == count + 1
        gone, told = saved(scene, file)
        assert gone == [] and sorted(line for line in told if line) == sorted(came)
        assert history.undo(scene)
        assert len(value_at(scene, tuple(place))) == count and name not in scene.names
        saved(scene, file)
        assert file.read_text() == TEXT


def test_a_copy_goes_its_own_way(scene: gf.Scene) -> None:
    history = History()
    for n in range(5):
        scene.advance()
        if n == 2:  # while the first one moves
            history.make(scene, Duplication(JET[:3], 0, "jet 2", {"position": (0.3, 0.1, 0.2)}))
            history.make(scene, Duplication(("views",), 0, "sparks 2", {}))
    first, copy = scene.fluid.emitters[0], scene.fluid.emitters[1]
    assert copy.density == first.density == pytest.approx(3.4), "it forgets the formula"
    assert first.position[0] > 0.2 and copy.position == (0.3, 0.1, 0.2)
    assert first.motion[0] == pytest.approx(0.1) and copy.motion == (0.0, 0.0, 0.0)
    history.change(scene, ("fluids", 0, "emitters", 1, "density"), 1.0)
    sparks, more = scene.views[:2]
    assert more.sources[0].shape is first and more.sources[0] is not sparks.sources[0]  # type: ignore[attr-defined]
    more.sources[0].share = 0.1  # type: ignore[attr-defined]
    scene.advance()
    assert (copy.density, first.density) == (1.0, pytest.approx(3.5))
    assert sparks.sources[0].share == 1.0  # type: ignore[attr-defined]
    # of a value that a hand has taken over the copy has what it is now
    history.change(scene, (*JET, "density"), 7.0)
    history.make(scene, Duplication(JET[:3], 0, "jet 3", {"position": (0.1, 0.1, 0.2)}))
    scene.advance()
    assert scene.names["jet 3"].density == 7.0
    assert description_of(scene)["containers"][0]["emitters"][1]["density"] == 7.0


def test_a_copy_that_cannot_be_leaves_nothing(scene: gf.Scene) -> None:
    history = History()
    with pytest.raises(GpufluidError, match="'knot' is taken already"):
        history.make(scene, Duplication(JET[:3], 0, "knot", {}))
    for n in range(3):
        history.make(scene, Duplication(("lights",), 0, f"lamp {n}", {}))
    with pytest.raises(GpufluidError, match="at most 4"):
        history.make(scene, Duplication(("lights",), 0, "one more", {}))
    assert len(scene.fluid.emitters) == 2 and len(scene.lights) == 4 and "one more" not in scene.names
    assert scene.names["knot"] is scene.fluid.obstacles[0]


def test_the_next_free_name(scene: gf.Scene) -> None:
    assert free_name(scene, "jet") == "jet 2"
    scene.names |= {"jet 2": None, "jet 3": None, "rope09": None}
    assert free_name(scene, "jet") == free_name(scene, "jet 2") == "jet 4"
    assert free_name(scene, "rope08") == "rope10"
    assert free_name(scene, "left") == "left 2"


# -- what is chosen --------------------------------------------------------------------------------------


def editor_of(scene: gf.Scene) -> tuple[Editor, list[str], SimpleNamespace]:
    """An editor of a scene that no window plays, what it says, and its player."""
    said: list[str] = []
    player: Any = SimpleNamespace(scene=scene, history=History(), say=said.append)
    return Editor(player), said, player


def test_what_is_chosen_stays_chosen_where_others_come_and_go(scene: gf.Scene, file: Path) -> None:
    editor, said, player = editor_of(scene)
    editor.select(JET)
    editor.duplicate()
    assert editor.selected == PLAIN and scene.names["jet 2"] is scene.fluid.emitters[1]
    editor.select((*JET[:3], 2))
    player.history.undo(scene)
    assert editor.selected == PLAIN, "another one is chosen than before"
    player.history.redo(scene)
    assert editor.selected == (*JET[:3], 2)
    editor.select(PLAIN)
    player.history.undo(scene)
    assert editor.selected is None, "the next one is chosen in the place of what is gone"
    editor.remove()
    assert len(scene.fluid.emitters) == 2 and said == []
    editor.select(SPARKS)
    player.scene = again = gf.Scene.load(file, backend="numpy")
    assert editor.selected == SPARKS, "it is not found in the scene built anew"
    editor.remove()
    assert editor.selected is None and len(again.views) == 1
    editor.select(JET)
    assert editor.selected == JET
    editor.remove()
    assert editor.selected is None and said == []
    again.release()


def test_a_script_keeps_its_names() -> None:
    fluid = gf.Fluid(gf.Grid((4, 4, 4), 0.1), backend="numpy")
    ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.05), position=(0.2, 0.2, 0.2)))
    scene = gf.Scene(fluid, names={"ball": ball}, update=lambda scene, time: None)
    editor, said, _ = editor_of(scene)
    assert not editor.may_rename() and said == [
        "this scene is told by a script, which finds its parts by their names: they cannot be renamed"
    ]
    editor.select(("fluids", 0, "obstacles", 0))
    editor.duplicate()
    assert list(scene.names) == ["ball", "ball 2"]
    scene.release()


def test_a_copy_is_put_where_there_is_room() -> None:
    with gf.Fluid(gf.Grid((10, 10, 10), 0.1), backend="numpy") as fluid:
        box = gf.Box(size=(0.2, 0.4, 0.1))
        assert beside(gf.Obstacle(box, (0.3, 0.5, 0.5)), fluid) == {"position": (0.54, 0.5, 0.5)}
        assert beside(gf.Obstacle(box, (0.8, 0.5, 0.5)), fluid) == {"position": (0.56, 0.5, 0.5)}
        turned = gf.Obstacle(box, (0.3, 0.5, 0.5), (0.0, 0.0, 0.5**0.5, 0.5**0.5))
        assert beside(turned, fluid) == {"position": (0.78, 0.5, 0.5)}, "as wide as it is, turned"
        whole = gf.Obstacle(gf.Box(size=(1.0, 1.0, 1.0)), (0.5, 0.5, 0.5))
        assert beside(whole, fluid) == {"position": (0.6, 0.5, 0.5)}
        wide = gf.Obstacle(gf.Box(size=(0.5, 0.1, 0.1)), (0.4, 0.5, 0.5))
        assert beside(wide, fluid) == {"position": (0.75, 0.5, 0.5)}, "it reaches out of the box"
        assert beside(gf.Vortex((0.3, 0.2, 0.1), radius=0.1), fluid) == {"center": (0.54, 0.2, 0.1)}
        assert beside(gf.PointLight((0.3, 2.0, 3.0)), fluid) == {"position": (0.4, 2.0, 3.0)}
        assert beside(gf.Wind((1.0, 0.0, 0.0)), fluid) == beside(gf.SliceView(), fluid) == {}
