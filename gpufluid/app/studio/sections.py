"""The studio's sections but Objects and File: what each shows of the scene, and lets the user change."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from gpufluid.app.edits import Addition, ScenePath
from gpufluid.app.studio.editor import Editor
from gpufluid.app.studio.fields import RANGES, Item, Range, items_of, items_of_view, meaning
from gpufluid.app.studio.file_field import FileField, found
from gpufluid.app.studio.files import Files
from gpufluid.app.studio.grid import foreseen, size_of
from gpufluid.app.studio.new import name_in
from gpufluid.app.studio.rows import Rows, Section, choice
from gpufluid.app.studio.ui import at_every_key, imgui
from gpufluid.app.studio.views import CHARTS, CHARTS_TOLD, Shown, renderer_items, view_for
from gpufluid.common.errors import GpufluidError
from gpufluid.common.image_files import IMAGE_SUFFIXES
from gpufluid.contract.backend import released
from gpufluid.description import view
from gpufluid.description.flow_views import FlowView
from gpufluid.description.grid import Grid
from gpufluid.render.views.scene_views import SceneViews
from gpufluid.scene.scene import Scene
from gpufluid.scene.schema import VIEW_KINDS

MEASURE = 0.5  # seconds between frames whose passes are timed
PASSES = 16  # rows of the table of passes
COLOR, PLATE = "a color", "a picture file"  # what may be behind everything beside words
GREY = (0.2, 0.2, 0.2)  # linear


class Flow(Section):
    """The section of how each fluid flows."""

    def draw(self) -> None:
        """The settings of every box, and the time step."""
        scene = self.editor.scene
        boxes = scene.box_names
        for n, fluid in enumerate(scene.fluids):
            if len(scene.others) and not self.rows.unfolds(("fluids", n), boxes[n]):
                continue
            imgui.push_id(n)
            self.rows.fields(("fluids", n, "settings"), fluid.settings)
            imgui.pop_id()
            if len(scene.others):
                imgui.tree_pop()
        spread = Range(0.001, 0.1, "s", log=True)
        changed, dt = self.rows.number("time step", scene.dt, spread, meaning(Scene, "dt"))
        if changed and dt > 0.0:
            self.editor.change(("dt",), dt)


class Picture(Section):
    """The section of how the scene is seen. outlines: whether the box and its sources have any."""

    def __init__(self, editor: Editor, rows: Rows, files: Files) -> None:
        super().__init__(editor, rows)
        self.outlines = True
        self.files = files
        self._plate = FileField(rows, "pictures", IMAGE_SUFFIXES)
        self._plate_of: Scene | None = None  # in which a plate is asked for, before there is one

    def draw(self) -> None:
        """Camera, light, smoke, fire, picture, floor, and the renderer."""
        scene, editor = self.editor.scene, self.editor
        for name in ("camera", "light", "smoke", "fire", "picture"):
            if not imgui.tree_node(name):
                continue
            thing = getattr(scene, name)
            if name == "fire":
                changed, on = imgui.checkbox("hot gas glows", thing is not None)
                self.rows.tip("Whether hot gas shines by itself; to burn, the Flow needs combustion")
                if changed:
                    editor.change(("fire",), view.Fire() if on else None)
                    thing = scene.fire
            kind: Any = type(thing)
            for item in () if thing is None else items_of(kind):
                if (name, item.name) == ("picture", "background"):
                    self._background(item)
                else:
                    self.rows.fields((name,), thing, (item,))
            imgui.tree_pop()
        if imgui.tree_node("floor"):
            changed, on = imgui.checkbox("a floor", scene.floor is not None)
            self.rows.tip("A ground that catches shadows and light; it is no wall for the flow")
            if changed:
                editor.change(("floor",), scene.fluid.grid.origin[1] if on else None)
            if scene.floor is not None:
                told = meaning(Scene, "floor")
                changed, height = self.rows.number("height", scene.floor, RANGES["position"], told)
                if changed:
                    editor.change(("floor",), height)
            imgui.tree_pop()
        if imgui.tree_node("renderer"):
            options = editor.player.stage.volume_options
            for item in renderer_items():
                value = options.get(item.name, item.default)
                if item.optional and item.name not in options:
                    value = None
                changed, value = self.rows.field(item, value)
                if changed:
                    self._set_renderer(item.name, value)
            imgui.tree_pop()
        _, self.outlines = imgui.checkbox("outlines of box and sources", self.outlines)
        self.rows.tip("Lines round what else cannot be seen; in this window only")

    def _background(self, item: Item) -> None:
        """Rows for what is behind everything: a word, a color, or the file of a photograph."""
        editor, picture = self.editor, self.editor.scene.picture
        behind, path = picture.background, ("picture", "background")
        kind = PLATE if isinstance(behind, view.Plate) or self._plate_of is editor.scene else behind
        kind = kind if isinstance(kind, str) else COLOR
        self.rows.begin(item.label, meaning=item.meaning)
        changed, kind = choice("##background", kind, (*item.choices, COLOR, PLATE))
        self.rows.tip(item.meaning)
        if changed:
            self._plate_of = editor.scene if kind == PLATE else None
            if kind != PLATE and not (kind == COLOR and isinstance(behind, tuple)):
                editor.change(path, GREY if kind == COLOR else kind)
        elif kind == COLOR:
            color = replace(item, name="background color", kind="color", optional=False)
            changed, after = self.rows.field(color, behind)
            if changed:
                editor.change(path, after)
        elif kind == PLATE:
            shown = self.files.words_of(picture, "background").get("file", "")
            name = self._plate.draw("picture file", meaning(view.Plate, "source"), shown)
            if name:
                self.use_plate(found(name, self.files.folder))

    def use_plate(self, file: Path) -> str:
        """Put the photograph in `file` behind everything; why that cannot be, or ""."""
        self._plate.wrong, self._plate_of = "", None
        try:
            plate = view.Plate(file)
        except GpufluidError as error:
            self._plate.wrong, self._plate_of = str(error), self.editor.scene
            return str(error)
        name = name_in(self.files.folder, file)
        if self.editor.change(("picture", "background"), plate, None if name is None else {"file": name}):
            self.files.doubt(file, name is not None, ())
        return ""

    def release(self) -> None:
        """Close the system's dialog, if it is open."""
        self._plate.close_dialog()

    def _set_renderer(self, name: str, value: Any) -> None:
        """Draw with another option of the renderer; where that cannot be, say why."""
        stage = self.editor.player.stage
        before = dict(stage.volume_options)
        stage.volume_options[name] = value
        try:
            stage.follow_picture()
        except GpufluidError as error:
            self.editor.say(str(error))
            stage.volume_options = before


class Views(Section):
    """The section of the views. charts: those that are shown."""

    def __init__(self, editor: Editor, rows: Rows) -> None:
        super().__init__(editor, rows)
        self.charts: list[Shown] = []

    def draw(self) -> None:
        """The views of the scene with their fields, and what else may be seen."""
        scene, editor = self.editor.scene, self.editor
        names = {id(thing): name for name, thing in scene.names.items()}
        for n, shown in enumerate(scene.views):
            kind = next((name for name, made in VIEW_KINDS.items() if type(shown) is made), "view")
            where = "" if not scene.others else f"  ({'every box' if shown.box is None else shown.box})"
            changed, on = imgui.checkbox(f"##visible {n}", shown.visible)
            self.rows.tip("Whether this view is drawn")
            if changed:
                editor.change(("views", n, "visible"), on)
            imgui.same_line()
            if self.rows.unfolds(("views", n), names.get(id(shown), kind), where, chosen=True):
                imgui.push_id(n)
                self._view(n, shown)
                imgui.pop_id()
                imgui.tree_pop()
        self.rows.box()
        self.rows.buttons(("Add view ...", self._ask, False))
        if imgui.begin_popup("add view"):
            for kind in VIEW_KINDS:
                if imgui.selectable(f"  {kind}##views", False)[0]:
                    self.add(kind)
            imgui.end_popup()
        changed, on = imgui.checkbox("smoke", scene.smoke.visible)
        self.rows.tip("Whether the smoke is drawn, and its shadow")
        if changed:
            editor.change(("smoke", "visible"), on)
        self._charts()

    def _ask(self) -> None:
        """Choose a view of the flow to add"""
        imgui.open_popup("add view")

    def _view(self, number: int, shown: FlowView) -> None:
        """The fields of a view of the scene."""
        scene, editor = self.editor.scene, self.editor
        path: ScenePath = ("views", number)
        boxes = scene.box_names
        if len(boxes) > 1:
            self.rows.begin("box")
            changed, box = choice("##of", shown.box, (None, *boxes), "every box")
            if changed:
                self.editor.change((*path, "box"), box)
        grids = [f.grid for f, name in zip(scene.fluids, boxes, strict=True) if shown.box in (None, name)]
        grids = grids or [self.editor.fluid.grid]  # its box has gone
        x, y, z = np.min([grid.origin for grid in grids], axis=0).tolist()
        u, v, w = np.max([grid.upper for grid in grids], axis=0).tolist()
        self.rows.fields(path, shown, items_of_view(shown, (x, y, z), (u, v, w)))

        def duplicate() -> None:
            """Add another view like this one"""
            editor.select(path)
            editor.duplicate()

        def remove() -> None:
            """Remove this view"""
            editor.remove_at(path)

        self.rows.buttons(("Duplicate view", duplicate, False), ("Remove view", remove, False))

    def add(self, kind: str) -> None:
        """Show a view of VIEW_KINDS in the chosen box; where that cannot be, say why."""
        scene, editor = self.editor.scene, self.editor
        shown = view_for(kind, editor.fluid, scene.box_names[editor.box] if scene.others else None)
        path: ScenePath = ("views",)
        editor.make(Addition(path, len(scene.views), shown))

    def hide_failing(self) -> bool:
        """Hide the views of the scene that cannot be drawn; whether there were any.

        That is no edit: undone it would fail again, and nothing before it could ever be undone.
        """
        scene, found = self.editor.scene, False
        for shown in scene.views:
            try:
                with released(SceneViews(self.editor.player.window.ctx)) as trial:
                    trial.follow(scene.fluids, [shown], scene.box_names)
            except GpufluidError:
                shown.visible = False
                scene.hold(shown, "visible")
                found = True
        return found

    # -- charts --------------------------------------------------------------------------------------------

    def _charts(self) -> None:
        """What lies over the picture of the window."""
        editor = self.editor
        used = {chart.name: chart for chart in self.charts if chart.box == editor.box}
        for name in CHARTS:
            changed, on = imgui.checkbox(name, name in used)
            self.rows.tip(CHARTS_TOLD[name])
            if changed and on:
                self.charts.append(Shown(name, editor.player.window.ctx, editor.box))
            elif changed:
                self.drop(used[name])
            elif on:
                chart = used[name]
                imgui.indent()
                imgui.push_id(f"{name} {editor.box}")
                for item in chart.items:
                    changed, value = self.rows.field(item, getattr(chart.view, item.name))
                    if changed:
                        try:
                            chart.put(item.name, value)
                        except GpufluidError as error:
                            editor.say(str(error))
                imgui.pop_id()
                imgui.unindent()

    def draw_charts(self) -> None:
        """Draw the charts over the picture just drawn."""
        for chart in list(self.charts):
            try:
                chart.draw(self.editor.scene, self.editor.player.stage.renderer)
            except GpufluidError as error:
                self.editor.say(str(error))
                self.drop(chart)

    def drop(self, chart: Shown) -> None:
        """Show a chart no longer."""
        self.charts.remove(chart)
        chart.view.release()

    def release(self) -> None:
        """Release the charts."""
        for chart in list(self.charts):
            self.drop(chart)


def devices_of(scene: Scene) -> list[Any]:
    """The devices of all fluids, each once."""
    return list({id(f.device): f.device for f in scene.fluids if f.device is not None}.values())


class Cells(Section):
    """The section of the grid. cells: those of another one, as they are typed."""

    def __init__(self, editor: Editor, rows: Rows) -> None:
        super().__init__(editor, rows)
        self.cells = list(editor.scene.fluid.grid.cells)
        self._of: tuple[Scene, int] | None = None  # which box they are of

    def draw(self) -> None:
        """The cells, what a rebuild would make of them, and the memory they take."""
        editor, player = self.editor, self.editor.player
        self.rows.box()
        fluid = editor.fluid
        grid = fluid.grid
        if self._of is None or self._of[0] is not editor.scene or self._of[1] != editor.box:
            self._of, self.cells = (editor.scene, editor.box), list(grid.cells)
        self.rows.begin("cells x, y, z", meaning=meaning(Grid, "cells"))
        with at_every_key():
            _, self.cells = imgui.input_int3("##cells", self.cells)
        x, y, z = self.cells
        if imgui.button("Rebuild", imgui.ImVec2(-1, 0)):
            player.use_cells((x, y, z), editor.box)
        self.rows.tip("Start again with these cells, seen as before")
        told = foreseen(grid, (x, y, z), player.maker.file or editor.scene.provenance.file)
        if told:
            imgui.text_wrapped(told)
        elif editor.box in player.maker.passing(player.history.cells):
            imgui.text_wrapped("cells by --cells, which are not saved; Rebuild makes them the scene's")
        imgui.text_disabled(size_of(grid))
        flow = sum(device.field_bytes for device in devices_of(editor.scene))
        renderer = player.stage.renderer
        drawn = renderer.device.field_bytes + renderer.picture_bytes
        imgui.text_disabled(f"{grid.cell_count:,} cells, {fluid.backend_name}")
        imgui.text_disabled(f"textures: {flow / 2**20:.1f} MiB flow, {drawn / 2**20:.1f} MiB picture")


class Passes(Section):
    """The section of the passes. taken: milliseconds of each, smoothed. wanted: whether they are timed."""

    def __init__(self, editor: Editor, rows: Rows) -> None:
        super().__init__(editor, rows)
        self.taken: dict[str, float] = {}
        self.wanted = False
        self.measured = 0.0  # when they were last, seconds

    @contextmanager
    def simulating(self) -> Iterator[None]:
        """Round a frame's simulation: its passes are timed."""
        now = time.perf_counter()
        timed = self.wanted and now - self.measured > MEASURE
        if timed:
            self.measured = now
            for device in devices_of(self.editor.scene):
                device.timings = {}
        yield
        if timed and self.editor.player.stage.volume_options.get("frame_ms") is not None:
            self.collect()  # the renderer has a clock of its own, and OpenGL but one

    def collect(self) -> None:
        """Take what the passes of this frame took."""
        taken: dict[str, list[float]] = {}
        for device in devices_of(self.editor.scene):
            if device.timings is not None:
                for name, times in device.milliseconds().items():
                    taken.setdefault(name, []).extend(times)
        found = {f"{name} x{len(t)}" if len(t) > 1 else name: sum(t) for name, t in taken.items()}
        self.taken |= {name: 0.5 * (self.taken.get(name, ms) + ms) for name, ms in found.items()}

    @property
    def untimed(self) -> str:
        """Why there is nothing in the table yet."""
        if all(device.clock.there for device in devices_of(self.editor.scene)):
            return "measuring; needs a running flow"
        return "this driver has no clock to time passes by"

    def draw(self) -> None:
        """The table, the longest first."""
        if not self.taken:
            imgui.text_disabled(self.untimed)
            return
        imgui.text_disabled(f"{sum(self.taken.values()):.1f} ms per frame, by the driver's clock")
        ranked = sorted(self.taken.items(), key=lambda each: -each[1])[:PASSES]
        width = imgui.get_content_region_avail().x
        for name, ms in ranked:
            imgui.text(name)
            text = f"{ms:.2f} ms"
            imgui.same_line(width - imgui.calc_text_size(text).x)
            imgui.text(text)
