"""The studio's objects: their list, the fields of the chosen one, and how others come and go."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from warnings import catch_warnings, simplefilter

from gpufluid.app.edits import ScenePath, value_at
from gpufluid.app.studio.editor import Editor
from gpufluid.app.studio.fields import items_of_object
from gpufluid.app.studio.file_field import FileField, found
from gpufluid.app.studio.files import Files
from gpufluid.app.studio.new import (
    ADDABLE,
    FILES,
    TITLES,
    called,
    made_from,
    middle,
    new_from_file,
    new_object,
)
from gpufluid.app.studio.rows import Rows, Section
from gpufluid.app.studio.ui import ACCENT, imgui
from gpufluid.common.errors import GpufluidError
from gpufluid.common.image_files import IMAGE_SUFFIXES
from gpufluid.description import view
from gpufluid.description.mesh import MESH_SUFFIXES
from gpufluid.description.user_forces import ForceField

ROWS = 6  # of the list, at most
KINDS = {
    "mesh": ("meshes", MESH_SUFFIXES),
    "image": ("pictures", IMAGE_SUFFIXES),
    "array": ("arrays", (".npy",)),
}  # of files
# what the file of a shape is of, and of what is no shape
SHAPES = {"mesh": "mesh", "surface": "mesh", "image": "image", "array": "array", None: "array"}


class Objects(Section):
    """The section of the emitters, obstacles, forces and lights."""

    def __init__(self, editor: Editor, rows: Rows, files: Files) -> None:
        super().__init__(editor, rows)
        self.files = files
        self.form = FileForm(self, rows)
        self._shown: dict[str, FileField] = {}  # of the chosen object, by the kind of file
        self._listed: ScenePath | None = None  # what the list was scrolled to

    def draw(self) -> None:
        """The list, its buttons, and the fields of what is chosen."""
        editor = self.editor
        self._list()
        self.rows.box()
        chosen = editor.selected is not None and editor.selected[0] != "views"
        self.rows.buttons(
            ("Add ...", self._ask, False),
            ("Duplicate", editor.duplicate if chosen else None, False),
            ("Remove", editor.remove if chosen else None, False),
        )
        self._add_menu()
        self.form.draw()
        path = editor.selected
        if path is not None and path[0] != "views":
            imgui.push_id(str(path))
            thing = value_at(editor.scene, path)
            self._file(path, thing)
            self.rows.fields(path, thing, items_of_object(thing, middle(editor.fluid_at(path).grid)))
            imgui.pop_id()

    def release(self) -> None:
        """Close the system's dialogs that are open."""
        self.form.close_dialogs()
        for field in self._shown.values():
            field.close_dialog()

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
                wide = imgui.calc_text_size(f"{label}{where}").x > imgui.get_content_region_avail().x
                cut_off = f"{label}{where}\n" if wide else ""
                self.rows.tip(f"{cut_off}double click or F2: rename")
            if path == editor.selected != self._listed:
                imgui.set_scroll_here_y()
        self._listed = editor.selected
        imgui.pop_style_color()
        if not things:
            imgui.text_disabled("nothing yet")
        imgui.end_child()

    def _ask(self) -> None:
        """Choose a source, an obstacle, a force or a light to add"""
        imgui.open_popup("add")

    def _add_menu(self) -> None:
        if not imgui.begin_popup("add"):
            return
        for title, names in ADDABLE.items():
            imgui.text_disabled(TITLES.get(title, title))
            for name in names:
                if imgui.selectable(f"  {name}##{title}", False)[0]:
                    self.add(title, name)
            for kind in (kind for kind, groups in FILES.items() if title in groups):
                if imgui.selectable(f"  {kind} file ...##{title}", False)[0]:
                    self.form.open(kind, title)
        imgui.end_popup()

    def add(self, group: str, name: str) -> None:
        """Add an object of ADDABLE in the middle of the chosen box, and select it."""
        editor = self.editor
        if group == "lights" and len(editor.scene.lights) >= view.MOST_LIGHTS:
            editor.say(
                f"there are already {view.MOST_LIGHTS} lights beside the sun, and no more are possible"
            )
            return
        path: ScenePath = ("lights",) if group == "lights" else ("fluids", editor.box, group)
        editor.add(path, *new_object(group, name, editor.fluid.grid))

    def add_file(self, group: str, kind: str, file: Path) -> str:
        """Add an object of `group` made of a file of a `kind` in FILES; why it cannot be, or ""."""
        editor = self.editor
        try:
            with catch_warnings(record=True) as warned:
                simplefilter("always")
                thing, words = new_from_file(group, kind, file, self.files.folder, editor.fluid.grid)
                if not editor.add(("fluids", editor.box, group), thing, words):
                    return editor.player.message
        except GpufluidError as error:
            return str(error)
        self.files.doubt(file, bool(words), warned)
        return ""

    def _file(self, path: ScenePath, thing: Any) -> None:
        """A row for the file that the shape of an object comes from, or the values of a force, if they do."""
        part = "values" if isinstance(thing, ForceField) else "shape"
        words = self.files.words_of(thing, part) if hasattr(thing, part) else {}
        if "file" not in words or words.get("kind") not in SHAPES:
            return
        kind = SHAPES[words.get("kind")]
        field = self._shown.setdefault(kind, FileField(self.rows, *KINDS[kind]))
        told = f"where its {part} {'come' if part == 'values' else 'comes'} from, in the scene's folder"
        name = field.draw(f"{kind} file", told, words["file"])
        if not name:
            return
        file, folder = found(name, self.files.folder), self.files.folder
        grid = self.editor.fluid_at(path).grid
        try:
            with catch_warnings(record=True) as warned:
                simplefilter("always")
                made, told_of_it = made_from(words, file, folder, grid)
        except GpufluidError as error:
            field.wrong = str(error)
            return
        field.wrong = ""
        if self.editor.change((*path, part), made, told_of_it):
            self.files.doubt(file, told_of_it is not None, warned)


class FileForm:
    """A row in which the file of a new object is named."""

    def __init__(self, objects: Objects, rows: Rows) -> None:
        self.objects, self.rows = objects, rows
        self.fields = {kind: FileField(rows, *KINDS[kind]) for kind in KINDS}
        self.asked: tuple[str, str] | None = None  # kind and group, while it is open

    def open(self, kind: str, group: str) -> None:
        """Ask for a file of a `kind` in FILES, for an object of `group`."""
        self.asked = kind, group
        self.fields[kind].wrong = ""

    def draw(self) -> None:
        """The row, while it is open."""
        if self.asked is None:
            return
        kind, group = self.asked
        entered = self.fields[kind].draw(f"{kind}, {TITLES.get(group, group)}")
        self.rows.buttons((f"Add {kind}", self._add, False), ("Cancel", self._close, False))
        if entered:
            self._add()

    def _add(self) -> None:
        """Add an object with the shape in this file"""
        if self.asked is None:
            return
        field = self.fields[self.asked[0]]
        if not field.name:
            field.wrong = "enter the name of a file first"
        else:
            self.take(found(field.name, self.objects.files.folder))

    def wants(self, kind: str | None) -> bool:
        """Whether a file of that `kind` is asked for."""
        return self.asked is not None and self.asked[0] == kind

    def take(self, file: Path) -> str:
        """Add an object with the shape in `file`, of what is asked for; why that cannot be, or ""."""
        assert self.asked is not None
        kind, group = self.asked
        self.fields[kind].wrong = why = self.objects.add_file(group, kind, file)
        if not why:
            self._close()
        return why

    def _close(self) -> None:
        """Add nothing"""
        self.asked = None
        self.close_dialogs()

    def close_dialogs(self) -> None:
        """Close the system's dialogs that are open for it."""
        for field in self.fields.values():
            field.close_dialog()
