"""The studio's objects: their list, the fields of the chosen one, and how others come and go."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Any
from warnings import catch_warnings, simplefilter

from gpufluid import view
from gpufluid.app.edits import Path, value_at
from gpufluid.app.studio_editor import Editor
from gpufluid.app.studio_fields import items_of_object
from gpufluid.app.studio_files import Files
from gpufluid.app.studio_new import ADDABLE, SHAPED, TITLES, called, middle, new_mesh, new_object
from gpufluid.app.studio_rows import Rows, Section
from gpufluid.app.studio_ui import ACCENT, file_dialogs, has_file_dialog, imgui
from gpufluid.errors import GpufluidError
from gpufluid.mesh import MESH_SUFFIXES

ROWS = 6  # of the list, at most


class Objects(Section):
    """The section of the emitters, obstacles, forces and lights."""

    def __init__(self, editor: Editor, rows: Rows, files: Files) -> None:
        super().__init__(editor, rows)
        self.files = files
        self.mesh = MeshForm(self, rows)
        self._listed: Path | None = None  # what the list was scrolled to

    def draw(self) -> None:
        """The list, its buttons, and the fields of what is chosen."""
        editor = self.editor
        self._list()
        self.rows.box()
        chosen = editor.selected is not None and editor.selected[0] != "views"
        self.rows.buttons(
            ("Add ...", lambda: imgui.open_popup("add"), False),
            ("Duplicate", editor.duplicate if chosen else None, False),
            ("Remove", editor.remove if chosen else None, False),
        )
        self._add_menu()
        self.mesh.draw()
        path = editor.selected
        if path is not None and path[0] != "views":
            imgui.push_id(str(path))
            thing = value_at(editor.scene, path)
            fluid = editor.scene.fluids[int(path[1])] if path[0] == "fluids" else editor.fluid
            self.rows.fields(path, thing, items_of_object(thing, middle(fluid.grid)))
            imgui.pop_id()

    def _list(self) -> None:
        editor, scene = self.editor, self.editor.scene
        things = list(editor.objects())
        rows = min(max(len(things), 1), ROWS)
        height = rows * imgui.get_text_line_height_with_spacing() + 2.0 * imgui.get_style().window_padding.y
        imgui.begin_child("list", imgui.ImVec2(0, height), imgui.ChildFlags_.borders)
        names = {id(thing): name for name, thing in scene.names.items()}
        several, boxes = bool(scene.others), scene.box_names
        imgui.push_style_color(imgui.Col_.header, imgui.ImVec4(*ACCENT, 0.45))
        for path, thing, _ in things:
            where = f"  ({boxes[int(path[1])]})" if several and path[0] == "fluids" else ""
            label = names.get(id(thing)) or f"{called(thing)} {path[-1]}"
            if not self.rows.naming.draw(path, label):
                if imgui.selectable(f"{label}{where}##{path}", path == editor.selected)[0]:
                    editor.select(path)
                self.rows.naming.asked(path)
                self.rows.tip("double click or F2: rename")
            if path == editor.selected != self._listed:
                imgui.set_scroll_here_y()
        self._listed = editor.selected
        imgui.pop_style_color()
        if not things:
            imgui.text_disabled("nothing yet")
        imgui.end_child()

    def _add_menu(self) -> None:
        if not imgui.begin_popup("add"):
            return
        for title, names in ADDABLE.items():
            imgui.text_disabled(TITLES.get(title, title))
            for name in names:
                if imgui.selectable(f"  {name}##{title}", False)[0]:
                    self.add(title, name)
            if title in SHAPED and imgui.selectable(f"  mesh file ...##{title}", False)[0]:
                self.mesh.open(title)
        imgui.end_popup()

    def add(self, group: str, name: str) -> None:
        """Add an object of ADDABLE in the middle of the chosen box, and select it."""
        editor = self.editor
        if group == "lights" and len(editor.scene.lights) >= view.MOST_LIGHTS:
            editor.say(
                f"there are already {view.MOST_LIGHTS} lights beside the sun, and no more are possible"
            )
            return
        path: Path = ("lights",) if group == "lights" else ("fluids", editor.box, group)
        editor.add(path, *new_object(group, name, editor.fluid.grid))

    def add_mesh(self, group: str, file: FilePath) -> bool:
        """Add an emitter or obstacle with the shape in a file; where that cannot be, say why."""
        editor = self.editor
        try:
            with catch_warnings(record=True) as warned:
                simplefilter("always")
                made = new_mesh(group, file, self.files.folder, editor.fluid.grid)
                added = editor.add(("fluids", editor.box, group), *made)
        except GpufluidError as error:
            editor.say(str(error))
            return False
        if added and warned:
            editor.say(str(warned[-1].message))
        return added


class MeshForm:
    """A row in which a mesh file is named, typed or by the system's dialog."""

    def __init__(self, objects: Objects, rows: Rows) -> None:
        self.objects, self.rows = objects, rows
        self.file = ""
        self._group: str | None = None  # what it is for, while it is open
        self._dialog: Any = None

    def open(self, group: str) -> None:
        """Ask for a file, for an object of `group`."""
        self._group = group

    def draw(self) -> None:
        """The row, while it is open."""
        group = self._group
        if group is None:
            return
        self._take_dialog()
        self.rows.begin(f"mesh, {TITLES.get(group, group)}")
        entered, self.file = imgui.input_text_with_hint(
            "##mesh", ", ".join(MESH_SUFFIXES), self.file, imgui.InputTextFlags_.enter_returns_true
        )
        buttons = [("Browse ...", self._browse, False)] if has_file_dialog() else []
        self.rows.buttons(*buttons, ("Add mesh", self._add, False), ("Cancel", self._close, False))
        if entered:
            self._add()

    def _add(self) -> None:
        name = self.file.strip()
        if not name:
            self.objects.editor.say("enter the name of a mesh file first")
        elif self._group is not None and self.objects.add_mesh(self._group, FilePath(name).expanduser()):
            self._close()

    def _close(self) -> None:
        self._group = None

    def _browse(self) -> None:
        patterns = " ".join(f"*{suffix}" for suffix in MESH_SUFFIXES)
        self._dialog = file_dialogs.open_file("A mesh", ".", ["meshes", patterns])

    def _take_dialog(self) -> None:
        """The file chosen in the dialog, once it is closed; the flow runs on meanwhile."""
        if self._dialog is not None and self._dialog.ready(0):
            chosen, self._dialog = self._dialog.result(), None
            self.file = chosen[0] if chosen else self.file
