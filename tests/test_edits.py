"""What the studio does to a scene, and what it finds under the pointer; without a window."""

from __future__ import annotations

import copy
import dataclasses
import typing
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import moderngl
import numpy as np
import pytest
from saving import description_of

pytest.importorskip("imgui_bundle")  # which Python 3.10 cannot have

import gpufluid as gf
from gpufluid.app import pick
from gpufluid.app.edits import Addition, History, Regrid, Removal, blow, put, strengthen, value_at
from gpufluid.app.studio.editor import Editor
from gpufluid.app.studio.fields import (
    ANY,
    FORMS,
    HIDDEN,
    Item,
    Range,
    degrees_to_turn,
    item_of,
    items_of,
    items_of_object,
    items_of_view,
    meaning,
    other_form,
    plain,
    turn_to_degrees,
)
from gpufluid.app.studio.file_field import FileField, found
from gpufluid.app.studio.grid import foreseen, size_of
from gpufluid.app.studio.hands import Move
from gpufluid.app.studio.rows import Rows
from gpufluid.app.studio.sections import Passes
from gpufluid.app.studio.views import renderer_items, view_for
from gpufluid.common.errors import GpufluidError
from gpufluid.description.flow_views import FlowView
from gpufluid.description.settings import SOLVERS
from gpufluid.description.shapes import rotation_matrix
from gpufluid.gl.measuring import TimeQueries
from gpufluid.scene.saving import save_description
from gpufluid.scene.scene import Cells
from gpufluid.scene.schema import VIEW_KINDS

SHOWN = (
    *(
        gf.Settings,
        gf.Combustion,
        gf.Emitter,
        gf.Obstacle,
        gf.Wind,
        gf.Vortex,
        gf.Attractor,
        gf.Turbulence,
        gf.ForceExpression,
    ),
    *(
        gf.ForceField,
        gf.Camera,
        gf.Light,
        gf.PointLight,
        gf.SpotLight,
        gf.Fire,
        gf.Smoke,
        gf.Picture,
        *(gf.Wall, gf.Inflow),
        *FORMS,
        *SOLVERS,
    ),
    *(gf.Seeds, *VIEW_KINDS.values()),
)
SCENE = """\
[grid]
cells = [6, 8, 6]
cell_size = 0.1
[settings]
buoyancy = { formula = "1 + t" }
[sides]
left = { kind = "inflow", velocity = { formula = ["1 + t", "0", "0"] } }
right = { kind = "open" }
[[emitters]]
shape = { kind = "sphere", center = [0.3, 0.2, 0.3], radius = 0.1 }
density = { formula = "2 + t" }
[[obstacles]]
shape = { kind = "box", size = [0.2, 0.1, 0.1] }
position = [0.3, 0.5, 0.3]
[[views]]
kind = "streamlines"
seeds = { low = [0.1, 0.1, 0.3], high = [0.5, 0.1, 0.3], counts = [4, 1, 1] }
opacity = { formula = "min(0.5 + t, 1)" }
"""


@pytest.fixture
def scene(ctx: moderngl.Context, tmp_path: Path) -> Iterator[gf.Scene]:
    """A described scene with a value that follows a formula."""
    (tmp_path / "a.toml").write_text(SCENE)
    made = gf.Scene.load(tmp_path / "a.toml", ctx)
    yield made
    made.release()


def test_numbers_are_those_that_were_typed() -> None:
    """ImGui hands them back in single precision."""
    typed = [0.1, 12.3, 179.99, -0.0333, 1e-6, 1e30, 3.0]
    assert [plain(7.0, float(np.float32(value))) for value in typed] == typed
    exact = 1.0 / 3.0
    assert plain(exact, float(np.float32(exact))) == exact, "one that was left alone has lost digits"
    assert np.isnan(plain(1.0, float("nan"))) and plain(1.0, float("inf")) == float("inf")


def test_none_is_told_for_what_it_is() -> None:
    called = {(kind.__name__, item.name): item.none for kind in SHOWN for item in items_of(kind)}
    assert called["Settings", "velocity_advection"] == "as advection"
    assert called["SliceView", "colors"] == called["Picture", "slices"] == "automatic"
    assert called["Emitter", "falloff"] == "one cell"
    assert called["Wind", "center"] == called["Turbulence", "center"] == "everywhere"
    assert called["Inflow", "temperature"] == "ambient"
    assert called["Settings", "limiter"] == called["Emitter", "temperature"] == "none"


# -- changes ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("fluids", 0, "settings", "viscosity"), 0.01),
        (("fluids", 0, "settings", "pressure"), gf.Multigrid()),
        (("fluids", 0, "settings", "pressure", "iterations"), 7),
        (("fluids", 0, "settings", "combustion"), gf.Combustion()),
        (("fluids", 0, "emitters", 0, "temperature"), 2.0),
        (("fluids", 0, "emitters", 0, "shape", "radius"), 0.2),
        (("fluids", 0, "obstacles", 0, "position"), (0.1, 0.2, 0.3)),
        (("camera", "fov"), 50.0),
        (("fluids", 0, "boundaries", "left", "density"), 0.5),
        (("fluids", 0, "boundaries", "left", "temperature"), 1.0),
        (("fluids", 0, "boundaries", "back", "velocity"), (0.5, 0.0, 0.0)),
        (("smoke", "pigments"), ((1.0, 0.0, 0.0),) * 3),
        (("fire",), gf.Fire()),
        (("floor",), 0.1),
        (("dt",), 0.01),
        (("views", 0, "visible"), False),
        (("views", 0, "box"), "box 1"),
        (("views", 0, "range"), (0.0, 2.0)),
        (("views", 0, "seeds", "counts"), (5, 1, 1)),
    ],
)
def test_a_change_is_made_undone_and_made_again(
    scene: gf.Scene, path: tuple[str | int, ...], value: object
) -> None:
    history, before = History(), value_at(scene, path)
    history.change(scene, path, value)
    assert value_at(scene, path) == value != before
    assert history.undo(scene) and value_at(scene, path) == before
    assert history.redo(scene) and value_at(scene, path) == value
    assert not history.redo(scene)
    scene.advance()


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("fluids", 0, "settings", "viscosity"), -1.0),
        (("fluids", 0, "emitters", 0, "density"), float("nan")),
        (("fluids", 0, "emitters", 0, "shape", "radius"), 0.0),
        (("fluids", 0, "boundaries", "left", "density"), -1.0),
        (("fluids", 0, "boundaries", "back", "velocity"), (0.0, 0.0, 1.0)),
        (("fluids", 0, "boundaries", "back", "temperature"), 1.0),
        (("fluids", 0, "boundaries", "back"), gf.Open()),
        (("camera", "elevation"), 95.0),
        (("dt",), -1.0),
        (("views", 0, "opacity"), 2.0),
        (("views", 0, "range"), (1.0, 0.0)),
        (("views", 0, "seeds", "counts"), (0, 1, 1)),
    ],
)
def test_a_bad_value_changes_nothing(scene: gf.Scene, path: tuple[str | int, ...], value: object) -> None:
    history, before = History(), value_at(scene, path)
    with pytest.raises(GpufluidError):
        history.change(scene, path, value)
    assert value_at(scene, path) == before
    assert not history.undo(scene)


def test_changes_of_one_drag_are_undone_together(scene: gf.Scene) -> None:
    history = History()
    for fov in (40.0, 45.0, 50.0):
        history.change(scene, ("camera", "fov"), fov)
    history.seal()
    history.change(scene, ("camera", "fov"), 60.0)
    assert len(history.done) == 2
    history.undo(scene)
    assert scene.camera.fov == 50.0
    history.undo(scene)
    assert scene.camera.fov == 35.0


def test_a_hand_takes_over_from_a_formula_until_it_is_undone(scene: gf.Scene) -> None:
    history, emitter = History(), scene.fluid.emitters[0]
    scene.advance()
    history.change(scene, ("fluids", 0, "emitters", 0, "density"), 9.0)
    history.change(scene, ("fluids", 0, "settings", "buoyancy"), 5.0)
    history.change(scene, ("fluids", 0, "boundaries", "left", "velocity"), (3.0, 0.0, 0.0))
    scene.advance()
    assert emitter.density == 9.0 and scene.fluid.settings.buoyancy == 5.0
    assert scene.fluid.boundaries.left == gf.Inflow((3.0, 0.0, 0.0))
    told = description_of(scene)
    assert told["emitters"][0]["density"] == 9.0 and told["settings"]["buoyancy"] == 5.0
    assert told["sides"]["left"]["velocity"] == [3.0, 0.0, 0.0]
    for _ in range(3):
        history.undo(scene)
    scene.advance()
    assert emitter.density == pytest.approx(2.0 + 2.0 * scene.dt)
    assert scene.fluid.settings.buoyancy == pytest.approx(1.0 + 2.0 * scene.dt)
    assert scene.fluid.boundaries.velocity(0)[0] == pytest.approx(1.0 + 2.0 * scene.dt)
    told = description_of(scene)
    assert told["emitters"][0]["density"]["formula"] == "2 + t"
    assert told["sides"]["left"]["velocity"]["formula"] == ["1 + t", "0", "0"]


def test_objects_come_and_go_in_their_places(scene: gf.Scene) -> None:
    history, fluid = History(), scene.fluid
    path = ("fluids", 0, "obstacles")
    first, ball = fluid.obstacles[0], gf.Obstacle(gf.Sphere((0.3, 0.3, 0.3), 0.1))
    history.make(scene, Addition(path, 1, ball))
    history.make(scene, Removal(path, 0, first))
    assert list(fluid.obstacles) == [ball]
    history.undo(scene)
    assert list(fluid.obstacles) == [first, ball]
    history.undo(scene)
    assert list(fluid.obstacles) == [first]
    light = gf.PointLight((0.0, 1.0, 0.0))
    history.make(scene, Addition(("lights",), 0, light))
    assert list(scene.lights) == [light]
    history.undo(scene)
    assert list(scene.lights) == []


def test_one_of_two_equal_lights_is_changed(ctx: moderngl.Context) -> None:
    """Lights of a list are told apart by their places; the other one, equal to it, once went in its place."""
    fluid, lights = gf.Fluid(gf.Grid((4, 4, 4)), ctx=ctx), [gf.PointLight((0.0, 1.0, 0.0)) for _ in range(2)]
    scene = gf.Scene(fluid, lights=lights)
    put(scene, ("lights", 1), gf.PointLight((0.0, 2.0, 0.0)))
    assert [light.position[1] for light in scene.lights] == [1.0, 2.0]
    with pytest.raises(gf.GpufluidError, match=r"lights\[1\] must be a gf.Light"):
        put(scene, ("lights", 1), 3)
    assert [light.position[1] for light in scene.lights] == [1.0, 2.0]


def test_views_come_and_go_and_are_changed(scene: gf.Scene, ctx: moderngl.Context, tmp_path: Path) -> None:
    """In the order of the list; in the scene built anew; and in what is saved."""
    history, first = History(), scene.views[0]
    for number, kind in enumerate(VIEW_KINDS, 1):
        history.make(scene, Addition(("views",), number, view_for(kind, scene.fluid)))
    assert [type(view) for view in scene.views] == [type(first), *VIEW_KINDS.values()]
    renderer = gf.FrameRenderer(ctx, (32, 24))
    renderer.draw(scene)
    history.change(scene, ("views", 0, "opacity"), 0.25)
    scene.advance()
    assert first.opacity == 0.25
    history.make(scene, Removal(("views",), 1, scene.views[1]))
    again = gf.Scene.load(tmp_path / "a.toml", ctx)
    assert history.repeat(again) == []
    kinds = ["streamlines", *(kind for kind in VIEW_KINDS if kind != "particles")]
    told = description_of(again)["views"]
    assert [view["kind"] for view in told] == kinds and told[0]["opacity"] == 0.25
    assert told == description_of(scene)["views"]
    for _ in range(len(VIEW_KINDS) + 2):
        assert history.undo(again)
    again.advance()
    assert len(again.views) == 1 and again.views[0].opacity == pytest.approx(0.5 + again.dt, abs=0.05)
    assert description_of(again)["views"][0]["opacity"]["formula"] == "min(0.5 + t, 1)"
    again.release()
    renderer.release()


def test_every_field_that_is_shown_has_a_meaning() -> None:
    """From the docstrings: who leaves a field out there finds it here."""
    things = (
        gf.Settings,
        gf.Combustion,
        gf.Emitter,
        gf.Obstacle,
        gf.Camera,
        gf.Light,
        gf.PointLight,
        gf.SpotLight,
        gf.Fire,
    )
    things += (
        gf.Smoke,
        gf.Picture,
        gf.Wind,
        gf.Vortex,
        gf.Attractor,
        gf.Turbulence,
        gf.Seeds,
        *(gf.Wall, gf.Inflow),
        *SOLVERS,
        *FORMS,
    )
    for kind in (*things, *VIEW_KINDS.values()):
        for item in items_of(kind):
            assert len(item.meaning) > 5 and "`" not in item.meaning, f"{kind.__name__}.{item.name}"
    assert all(len(item.meaning) > 5 for item in renderer_items())
    for kind, name, told in (
        (gf.Obstacle, "spin", "rad/s about the world's axes"),  # named in the midst of a sentence
        (gf.Combustion, "heat_per_burn", "what one unit burnt takes"),  # with others, one with its limit
        (gf.Emitter, "noise_size", "0 .. 1, how much of the emission a pattern of patches noise_size"),
        (gf.Capsule, "end", "All that lies within radius > 0 of the straight line from start to end"),
        (gf.Picture, "slices", "slabs the box is cut into"),  # as in VolumeRenderer
        (gf.SliceView, "legend", "whether a bar with numbers"),  # of what draws it, and that one's base
        (gf.Settings, "buoyancy", "m/s² upward"),
        (gf.Inflow, "velocity", "of what comes in, or is drawn out, m/s"),
    ):
        assert meaning(kind, name).startswith(told), name
    told = meaning(gf.ConjugateGradient, "tolerance")
    assert told.startswith("stop once the divergence")
    assert told.endswith("projection, checked in every iteration; None: always all iterations")


def test_what_a_view_is_measured_in(scene: gf.Scene) -> None:
    low, high = (0.0, 1.0, 2.0), (1.0, 3.0, 6.0)

    def shown(view: FlowView) -> dict[str, Item]:
        return {item.name: item for item in items_of_view(view, low, high)}

    cut = shown(gf.SliceView("temperature", axis="y"))
    assert cut["position"].range == Range(1.0, 3.0, "m") and cut["position"].default == 2.0
    assert cut["point"].default == (0.5, 2.0, 4.0) and cut["normal"].default == (0.0, 0.0, 1.0)
    assert cut["axis"].choices == ("x", "y", "z") and "vorticity" in cut["field"].choices
    assert not {"box", "visible"} & set(cut)
    assert shown(gf.SliceView("speed"))["range"].range.unit == "m/s"
    assert shown(gf.SliceView("vorticity"))["range"].range.unit == "1/s"
    assert shown(gf.StreamlinesView([(0, 0, 0)]))["range"].range.unit == "m/s"
    assert shown(gf.ParticlesView(10))["size"].range.unit == "px"
    assert shown(gf.ParticlesView(10, unit="metres"))["size"].range.unit == "m"
    for kind in VIEW_KINDS:  # what is switched on is a value that can be
        view = view_for(kind, scene.fluid)
        for item in items_of_view(view, low, high):
            if item.optional:
                dataclasses.replace(view, **{item.name: item.default})


def test_everything_is_done_again_to_a_scene_built_anew(
    scene: gf.Scene, ctx: moderngl.Context, tmp_path: Path
) -> None:
    history = History()
    history.change(scene, ("fluids", 0, "emitters", 0, "density"), 9.0)
    knot = gf.Obstacle(gf.Mesh.trefoil().fitted(0.2), position=(0.3, 0.3, 0.3))
    history.make(
        scene, Addition(("fluids", 0, "obstacles"), 1, knot, {"shape": {"kind": "knot", "fit": 0.2}})
    )
    history.change(scene, ("fluids", 0, "obstacles", 1, "heating"), 3.0)
    again = gf.Scene.load(tmp_path / "a.toml", ctx, cells=(12, 16, 12))
    assert history.repeat(again) == []
    again.advance()
    assert again.fluid.emitters[0].density == 9.0
    assert again.fluid.obstacles[1].heating == 3.0
    assert description_of(again)["obstacles"][1]["shape"] == {"kind": "knot", "fit": 0.2}
    again.release()


def test_another_grid_goes_by_what_was_saved(scene: gf.Scene) -> None:
    """A scene is built with the cells that are not in its file, or no longer."""
    history, few, more, many = History(), (6, 8, 6), (9, 12, 9), (12, 16, 12)
    history.make(scene, Regrid(0, few, more))
    history.make(scene, Regrid(1, few, many))
    assert history.cells == {0: more, 1: many} and history.unsaved == 2
    history.mark_saved()
    assert history.cells == {} and history.unsaved == 0
    history.make(scene, Regrid(0, more, many))
    assert history.cells == {0: many}
    for _ in range(3):
        history.undo(scene)
    assert history.cells == {0: few, 1: few} and history.unsaved == 2
    assert history.repeat(scene) == [] and history.redo(scene)
    assert history.cells == {1: few}


@pytest.mark.filterwarnings("ignore::gpufluid.ShapeWarning")
@pytest.mark.parametrize("cells", [(16, 24, 16), (5, 9, 7), (20, 3, 1), (1000, 8, 6)])
def test_the_size_of_a_rebuilt_box_is_foreseen(scene: gf.Scene, tmp_path: Path, cells: Cells) -> None:
    file = tmp_path / "a.toml"
    grid = gf.Scene.load(file, backend="numpy", cells=cells).fluid.grid
    assert foreseen(scene.fluid.grid, cells, file) == f"Rebuild: {size_of(grid)}"
    again = gf.Scene.load(file, backend="numpy", cells=(7, 5, 3)).fluid.grid
    assert foreseen(again, cells, file) == f"Rebuild: {size_of(grid)}", "another size after a rebuild"


def test_what_is_not_foreseen_of_a_rebuilt_box(scene: gf.Scene) -> None:
    grid = scene.fluid.grid
    assert foreseen(grid, grid.cells, Path("a.toml")) == ""
    for file in (None, Path("a.py")):
        assert foreseen(grid, (3, 3, 3), file).startswith("Rebuild: the scene's script decides")
    for cells in ((0, 8, 6), (0, 0, 0), (-3, -3, 5), (99999999999, 4, 4)):
        assert "cells" in foreseen(grid, cells, Path("a.toml")), cells


@pytest.mark.parametrize("field", ["fov", "azimuth", "near"])
def test_a_camera_that_nobody_has_placed_is_free_again_once_that_is_undone(
    ctx: moderngl.Context, tmp_path: Path, field: str
) -> None:
    """Also in the scene built anew from the file that was saved meanwhile, which says where it stood."""
    path = tmp_path / "a.toml"
    path.write_text("[grid]\ncells = [8, 12, 8]\ncell_size = 0.1\n")
    scene, history = gf.Scene.load(path, ctx=ctx), History()
    before = copy.copy(scene.camera)
    history.change(scene, ("camera", field), 0.02 if field == "near" else 50.0)
    save_description(scene, path, overwrite=True)
    history.mark_saved()
    scene.release()
    assert "distance" in path.read_text()
    scene = gf.Scene.load(path, ctx=ctx)
    assert history.repeat(scene) == [] and history.undo(scene)
    assert scene.camera_is_free
    save_description(scene, path, overwrite=True)
    assert "distance" not in path.read_text() and "target" not in path.read_text()
    for name in ("distance", "near", "far", "fov"):
        assert getattr(scene.camera, name) == pytest.approx(getattr(before, name))
    assert history.redo(scene) and not scene.camera_is_free
    scene.camera.distance *= 1.5  # by a hand
    assert history.undo(scene) and not scene.camera_is_free
    scene.release()


def test_a_camera_that_was_moved_by_hand_stays_where_that_is_undone(
    ctx: moderngl.Context, tmp_path: Path
) -> None:
    """Before the file was saved, so that the scene built anew has it there."""
    path = tmp_path / "a.toml"
    path.write_text("[grid]\ncells = [8, 12, 8]\ncell_size = 0.1\n")
    scene, history = gf.Scene.load(path, ctx=ctx), History()
    history.change(scene, ("camera", "fov"), 50.0)
    scene.camera.distance *= 1.5
    stood = scene.camera.distance
    save_description(scene, path, overwrite=True)
    history.mark_saved()
    scene.release()
    scene = gf.Scene.load(path, ctx=ctx)
    assert history.undo(scene) and not scene.camera_is_free
    assert scene.camera.distance == pytest.approx(stood)
    scene.release()


def test_what_cannot_be_done_again_is_told_and_forgotten(scene: gf.Scene) -> None:
    history = History()
    history.change(scene, ("fluids", 0, "obstacles", 0, "heating"), 3.0)
    history.change(scene, ("camera", "fov"), 50.0)
    scene.fluid.obstacles.clear()
    assert len(history.repeat(scene)) == 1
    assert len(history.done) == 1
    history.change(scene, ("fluids", 0, "emitters", 0, "density"), 1.0)
    scene.fluid.emitters.clear()
    with pytest.raises(GpufluidError, match="the scene has no fluids.0.emitters.0"):
        history.undo(scene)


def test_a_script_with_an_update_is_not_saved_for_what_was_added(ctx: moderngl.Context) -> None:
    fluid = gf.Fluid(gf.Grid((4, 4, 4), 0.1), ctx=ctx)
    scene = gf.Scene(fluid, update=lambda scene, time: None)
    knot = gf.Obstacle(gf.Mesh.trefoil().fitted(0.2))
    told = {"shape": {"kind": "knot", "fit": 0.2}}
    History().make(scene, Addition(("fluids", 0, "obstacles"), 0, knot, told))
    with pytest.raises(GpufluidError, match="is a script"):
        description_of(scene)
    scene.release()


def test_a_source_grows_and_the_wind_turns_with_the_viewer(scene: gf.Scene) -> None:
    history = History()
    strengthen(scene, history, 1.5)
    assert scene.fluid.emitters[0].density == pytest.approx(3.0)
    scene.camera.azimuth = 90.0  # looks along -x: its right is -z
    blow(scene, history, 1.0)
    wind = scene.fluid.forces[0]
    assert wind.velocity == pytest.approx((0.0, 0.0, -0.16))
    blow(scene, history, 1.0)
    assert wind.velocity[2] == pytest.approx(-0.32)
    blow(scene, history, -2.0)
    assert len(scene.fluid.forces) == 0
    assert history.undo(scene) and scene.fluid.forces[0] is wind
    fan = gf.Wind((0.0, 0.0, -0.16), center=(0.3, 0.4, 0.3))
    scene.fluid.forces.clear()
    scene.fluid.forces.add(fan)
    blow(scene, history, -1.0)
    assert scene.fluid.forces[0] is fan and fan.velocity == (0.0, 0.0, -0.16), "a fan is no wind of the keys"
    assert scene.fluid.forces[1].center is None


def test_a_center_that_is_switched_on_is_in_the_middle_of_the_box() -> None:
    for force in (gf.Wind((1.0, 0.0, 0.0)), gf.Turbulence(), gf.Vortex((0.0, 0.0, 0.0))):
        (item,) = (i for i in items_of_object(force, (7.0, 8.0, 9.0)) if i.name == "center")
        assert (item.default == (7.0, 8.0, 9.0)) is item.optional is not isinstance(force, gf.Vortex)


def test_a_drag_of_a_wind_that_is_everywhere_again_moves_nothing(scene: gf.Scene) -> None:
    """An undo while the button is held takes its center away: the window closed."""
    wind = scene.fluid.forces.add(gf.Wind((1.0, 0.0, 0.0)))
    move = Move(
        cast(Editor, SimpleNamespace(scene=scene, player=None)), ("fluids", 0, "forces", 0), np.zeros(3)
    )
    move.move(10.0, 10.0, 1.0, 1.0)
    assert wind.center is None


def test_passes_that_no_clock_times_say_so(ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """It said "measuring" for ever on such a driver."""
    with gf.Fluid(gf.Grid((4, 4, 4), 0.1), ctx=ctx) as fluid:
        scene = gf.Scene(fluid)
        passes = Passes(cast(Editor, SimpleNamespace(scene=scene)), cast(Rows, None))
        assert passes.untimed == "measuring; needs a running flow"
        monkeypatch.setattr(TimeQueries, "there", False)
        assert passes.untimed == "this driver has no clock to time passes by"


def test_the_memory_of_fields_is_known(ctx: moderngl.Context) -> None:
    fluid = gf.Fluid(gf.Grid((4, 4, 4), 0.1), ctx=ctx)
    device = fluid.device
    assert device is not None
    scalars = fluid.scalars.nbytes
    before = device.field_bytes
    assert before >= 2 * scalars > 0
    fluid.emitters.add(gf.Emitter(gf.Sphere(radius=0.1), color=(1.0, 0.0, 0.0)))
    assert device.field_bytes >= before + scalars
    fluid.release()
    assert device.field_bytes == 0


# -- fields ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", SHOWN, ids=lambda kind: kind.__name__)
def test_every_field_can_be_shown(kind: type) -> None:
    """A field that fails here needs a row in the studio: a range and a unit, choices, or to be hidden."""
    shown = {item.name: item for item in items_of(kind)}
    for part in dataclasses.fields(kind):
        if f"{kind.__name__}.{part.name}" in HIDDEN:
            continue
        assert part.name in shown, f"{kind.__name__}.{part.name} has no widget"
        item = shown[part.name]
        if item.kind in ("number", "whole", "triple", "pair", "counts"):
            assert item.range is not ANY, f"{kind.__name__}.{part.name} has no range"
            assert item.range.low < item.range.high
        if item.kind == "text":
            assert part.name == "expression", f"{kind.__name__}.{part.name} has no choices"


def test_a_value_that_is_switched_on_is_one_that_can_be() -> None:
    for thing in (gf.Settings(), gf.Jacobi(), gf.ConjugateGradient(), gf.Emitter(gf.Sphere())):
        optional = [item for item in items_of(type(thing)) if item.optional]
        assert optional, type(thing)
        for item in optional:
            made = dataclasses.replace(thing, **{item.name: item.default})
            assert getattr(made, item.name) is not None, item.name


def test_hints_become_kinds() -> None:
    assert item_of("A", "flag", bool, True).kind == "flag"
    assert item_of("A", "x", float | None).optional
    assert item_of("A", "x", typing.Optional[int]).kind == "whole"  # noqa: UP045
    assert item_of("A", "x", np.ndarray) is None


@pytest.mark.parametrize(
    "degrees", [(20.0, 30.0, 40.0), (0.0, 90.0, 0.0), (-170.0, 10.0, 100.0), (0.0, 0.0, 0.0)]
)
def test_turns_are_what_they_were(degrees: tuple[float, float, float]) -> None:
    turn = degrees_to_turn(degrees)
    x, y, z = np.radians(degrees)
    about = [
        np.array([[1, 0, 0], [0, np.cos(x), -np.sin(x)], [0, np.sin(x), np.cos(x)]]),
        np.array([[np.cos(y), 0, np.sin(y)], [0, 1, 0], [-np.sin(y), 0, np.cos(y)]]),
        np.array([[np.cos(z), -np.sin(z), 0], [np.sin(z), np.cos(z), 0], [0, 0, 1]]),
    ]
    matrix = rotation_matrix(turn, "turn")
    np.testing.assert_allclose(matrix, about[2] @ about[1] @ about[0], atol=1e-12)
    again = rotation_matrix(degrees_to_turn(turn_to_degrees(turn)), "turn")
    np.testing.assert_allclose(again, matrix, atol=1e-7)


@pytest.mark.parametrize("kind", FORMS, ids=lambda kind: kind.__name__)
def test_another_form_stays_in_its_place(kind: type) -> None:
    before = gf.Box((0.1, 0.2, 0.3), (0.4, 0.2, 0.6))
    after = other_form(before, kind)
    assert type(after) is kind
    assert pick.extent(after)[0] == pytest.approx((0.1, 0.2, 0.3))


# -- under the pointer -----------------------------------------------------------------------------------

GRID = gf.Grid((10, 10, 10), 0.1)


@pytest.fixture(scope="module")
def fluid(ctx: moderngl.Context) -> Iterator[gf.Fluid]:
    """A box of 1 m."""
    with gf.Fluid(GRID, ctx=ctx) as made:
        yield made


def ray(x: float, y: float) -> pick.Ray:
    """Straight along -z, from z = 3."""
    return pick.Ray(np.array([x, y, 3.0]), np.array([0.0, 0.0, -1.0]))


@pytest.mark.parametrize(
    ("thing", "at", "beside"),
    [
        (gf.Obstacle(gf.Sphere(radius=0.2), (0.5, 0.5, 0.5)), 2.3, (0.71, 0.5)),
        (gf.Obstacle(gf.Sphere(radius=0.1), (0.5, 0.5, 0.5), scale=(2.0, 1.0, 1.0)), 2.4, (0.5, 0.61)),
        (gf.Obstacle(gf.Box(size=(0.2, 0.4, 0.6)), (0.5, 0.5, 0.5)), 2.2, (0.61, 0.5)),
        (
            gf.Obstacle(gf.Box(size=(0.2, 0.4, 0.6)), (0.5, 0.5, 0.5), (0, 0.5**0.5, 0, 0.5**0.5)),
            2.4,
            (0.5, 0.71),
        ),
        (gf.Obstacle(gf.Cylinder(radius=0.2, height=0.4), (0.5, 0.5, 0.5)), 2.3, (0.5, 0.71)),
        (gf.Emitter(gf.Capsule((0.3, 0.5, 0.5), (0.7, 0.5, 0.5), 0.1)), 2.4, (0.81, 0.5)),
        (gf.Emitter(gf.Line([(0.2, 0.5, 0.5), (0.8, 0.5, 0.5)], 0.05)), 2.45, (0.5, 0.56)),
        (gf.Obstacle(gf.Mesh.box((0.2, 0.2, 0.2)), (0.5, 0.5, 0.5)), 2.4, (0.61, 0.5)),
        (gf.Vortex((0.5, 0.5, 0.5)), 2.48, (0.53, 0.5)),
        (gf.Wind((1.0, 0.0, 0.0), center=(0.5, 0.5, 0.5)), 2.48, (0.53, 0.5)),
        (gf.Turbulence(center=(0.5, 0.5, 0.5)), 2.48, (0.53, 0.5)),
        (gf.PointLight((0.5, 0.5, 0.5)), 2.48, (0.53, 0.5)),
    ],
    ids=lambda value: type(getattr(value, "shape", value)).__name__,
)
def test_a_ray_meets_what_it_should(
    fluid: gf.Fluid, thing: object, at: float, beside: tuple[float, float]
) -> None:
    assert pick.hit(thing, fluid, ray(0.5, 0.5)) == pytest.approx(at, abs=2e-3)
    assert pick.hit(thing, fluid, ray(*beside)) is None


def test_planes_and_winds_are_not_picked(fluid: gf.Fluid) -> None:
    assert pick.hit(gf.Obstacle(gf.Plane((0.0, 0.5, 0.0))), fluid, ray(0.5, 0.4)) is None
    assert pick.hit(gf.Wind((1.0, 0.0, 0.0)), fluid, ray(0.5, 0.5)) is None
    assert pick.hit(gf.Turbulence(), fluid, ray(0.5, 0.5)) is None


@pytest.mark.parametrize(
    "shape",
    [
        *(gf.Sphere(radius=0.2), gf.Box(size=(0.2, 0.3, 0.4)), gf.Cylinder(radius=0.1, height=0.3)),
        *(gf.Capsule((0.0, -0.1, 0.0), (0.1, 0.1, 0.0), 0.1), gf.Mesh.box((0.2, 0.3, 0.4))),
    ],
    ids=lambda shape: type(shape).__name__,
)
def test_outlines_lie_on_the_surface(fluid: gf.Fluid, shape: object) -> None:
    thing = gf.Obstacle(shape, (0.5, 0.5, 0.5), (0.1, 0.2, 0.3, 0.9))
    lines = pick.outline(thing, fluid)
    assert lines
    points = np.concatenate(lines)
    to_local = np.linalg.inv(thing.matrix)
    local = points @ to_local[:3, :3].T + to_local[:3, 3]
    box = gf.Box(size=(0.2, 0.3, 0.4)) if isinstance(shape, gf.Mesh) else shape
    assert max(abs(pick._distance(box, p, fluid)) for p in local) < 1e-9


@pytest.mark.parametrize(
    "force",
    [
        *(gf.Vortex((0.4, 0.5, 0.6), radius=0.3), gf.Attractor((0.4, 0.5, 0.6), radius=0.3)),
        gf.Wind((1.0, 0.0, 0.0), center=(0.4, 0.5, 0.6), radius=0.3),
        gf.Turbulence(center=(0.4, 0.5, 0.6), radius=0.3),
    ],
    ids=lambda force: type(force).__name__,
)
def test_the_outline_of_a_force_is_its_radius(fluid: gf.Fluid, force: Any) -> None:
    points = np.concatenate(pick.outline(force, fluid))
    np.testing.assert_allclose(np.linalg.norm(points - force.center, axis=1), 0.3)
    if hasattr(force, "rate") or hasattr(force, "size"):
        force.center = None  # everywhere
        assert pick.outline(force, fluid) == []


@pytest.mark.parametrize("way", [(0.0, -1.0, 0.0), (1.0, 2.0, -0.5)])
def test_the_outline_of_a_spot_light_is_its_cone(fluid: gf.Fluid, way: tuple[float, float, float]) -> None:
    """A ring, a quarter of the box from it, and straight lines to the ring."""
    light = gf.SpotLight((0.5, 0.6, 0.4), direction=way, angle=50.0)
    ring, *sides = pick.outline(light, fluid)[3:]
    for points in (ring, np.array([side[1] for side in sides])):
        away = points - light.position
        np.testing.assert_allclose(np.linalg.norm(away, axis=1), 0.25)
        np.testing.assert_allclose(away @ way / np.linalg.norm(way), 0.25 * np.cos(np.radians(25.0)))
    assert len(sides) == 4 and np.linalg.norm(np.ptp(ring, axis=0)) > 0.25
    np.testing.assert_allclose([side[0] for side in sides], [light.position] * 4)


def test_a_ray_through_the_camera_goes_where_it_looks() -> None:
    camera = gf.Camera((1.0, 2.0, 3.0), 4.0, 30.0, 20.0)
    middle = pick.ray_through(camera, 1.5, 0.0, 0.0)
    np.testing.assert_allclose(middle.at(4.0), camera.target, atol=1e-4)
    assert pick.ray_through(camera, 1.5, 0.0, 1.0).direction[1] > middle.direction[1]


def test_a_hand_works_in_the_smoke_or_in_the_middle(fluid: gf.Fluid) -> None:
    away = np.array([0.0, 0.0, -1.0])
    fluid.density.write(np.zeros((10, 10, 10)))
    point, normal = pick.depth_for_hand(fluid, ray(0.55, 0.55), away)
    np.testing.assert_allclose(point, (0.5, 0.5, 0.5))
    np.testing.assert_allclose(normal, away)
    density = np.zeros((10, 10, 10))
    density[2, 5, 5] = 1.0  # z, y, x
    fluid.density.write(density)
    assert pick.depth_for_hand(fluid, ray(0.55, 0.55), away)[0][2] == pytest.approx(0.25, abs=0.06)
    assert pick.depth_for_hand(fluid, ray(0.15, 0.55), away)[0][2] == pytest.approx(0.5)
    density[2, 5, 0] = 1.0  # seen along a side of the box, which is neither inside nor out
    fluid.density.write(density)
    assert pick.depth_for_hand(fluid, ray(0.0, 0.55), away)[0][2] == pytest.approx(0.25, abs=0.06)
    fluid.density.write(np.zeros((10, 10, 10)))
    fluid.color.write(density[..., None] * (0.0, 0.5, 1.0))  # smoke of any colour
    assert pick.depth_for_hand(fluid, ray(0.55, 0.55), away)[0][2] == pytest.approx(0.25, abs=0.06)


def test_emitters_and_forces_of_a_plane_are_picked_in_its_slice(ctx: moderngl.Context) -> None:
    with gf.Fluid(gf.Grid((8, 8, 1), 0.1), ctx=ctx) as flat:
        emitter = gf.Emitter(gf.Sphere((0.4, 0.4, 7.0), 0.1))
        assert pick.hit(emitter, flat, ray(0.4, 0.4)) == pytest.approx(3.0 - 0.15, abs=2e-3)
        for force in (gf.Wind((1.0, 0.0, 0.0), center=(0.4, 0.4, 7.0)), gf.Vortex((0.4, 0.4, -7.0))):
            assert pick.hit(force, flat, ray(0.4, 0.4)) == pytest.approx(3.0 - 0.05 - 0.016, abs=2e-3)
            low, high = (f(np.concatenate(pick.outline(force, flat))[:, 2]) for f in (np.min, np.max))
            assert 0.5 * (low + high) == pytest.approx(0.05)
        point, normal = pick.depth_for_hand(flat, ray(0.4, 0.4), np.array([0.6, 0.0, -0.8]))
        assert point[2] == pytest.approx(0.05) and list(normal) == [0.0, 0.0, 1.0]


def test_what_is_typed_as_a_file_is_a_name_whatever_it_is(tmp_path: Path) -> None:
    """The home of somebody unknown and too long a name ended the studio; a file manager's were not found."""
    assert found("~nobody.here/ball.obj", tmp_path) == tmp_path / "~nobody.here" / "ball.obj"
    assert found("b" * 5000, tmp_path) == tmp_path / ("b" * 5000)
    ball = tmp_path / "a ball.obj"
    ball.write_text("")
    field = FileField(cast(Any, None), "meshes", (".obj",))
    for field.text in (ball.as_uri(), f" '{ball}' "):
        assert "%20" in ball.as_uri() and found(field.name, Path("elsewhere")) == ball
