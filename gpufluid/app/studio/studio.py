"""The studio: a panel beside the picture for everything in a scene, and hands that reach into it.

The panel is drawn from the classes' own fields (`fields`) and changes the scene by paths (`edits`), so
that all of it can be undone. What a player does anyway stays in `player`; this only asks for it. Here are the
panel's frame and what comes from keys and mouse.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import glfw

from gpufluid.app import edits
from gpufluid.app.hands import Brush
from gpufluid.app.studio.editor import Editor
from gpufluid.app.studio.files import Files
from gpufluid.app.studio.hands import Move, Tools
from gpufluid.app.studio.objects import KINDS, Objects
from gpufluid.app.studio.overlay import Overlay
from gpufluid.app.studio.rows import Rows, Section
from gpufluid.app.studio.sections import Cells, Flow, Passes, Picture, Views
from gpufluid.app.studio.sides import Sides
from gpufluid.app.studio.ui import Ui, imgui
from gpufluid.contract.backend import release
from gpufluid.scene.saving import is_script

if TYPE_CHECKING:
    from gpufluid.app.player import Player

PANEL = 340.0  # width
WIDEST = 0.65  # share of the window that the panel takes at most


class Studio:
    """The panel and the tools of a player's window. Raises MissingDependencyError without imgui-bundle.

    shown: whether the panel is; used: whether it ever was. helping: whether the list of keys is shown.
    editor: what is chosen, and what changes it. naming: where another name is typed. The others are the
    sections of the panel.
    """

    def __init__(self, player: Player) -> None:
        self.player = player
        self.ui = Ui(player.window.handle)
        self.shown = self.used = self.helping = False
        self.editor = editor = Editor(player)
        rows = Rows(self.ui, editor)
        self.overlay = Overlay(self.ui, editor)
        self.tools = Tools(editor, rows)
        self.files = Files(editor, rows)
        self.objects = Objects(editor, rows, self.files)
        self.flow, self.sides = Flow(editor, rows), Sides(editor, rows)
        self.picture, self.views = Picture(editor, rows, self.files), Views(editor, rows)
        self.grid, self.passes = Cells(editor, rows), Passes(editor, rows)
        self._rows, self.naming = rows, rows.naming
        self.menu = False  # whether one is open
        self._menu_unwanted = False

    # -- for the player ------------------------------------------------------------------------------------

    @property
    def panel_width(self) -> float:
        """In units of the window; 0 while it is hidden."""
        if not self.shown:
            return 0.0
        return min(PANEL * self.ui.scale, WIDEST * self.ui.size[0])

    @property
    def panel_pixels(self) -> int:
        """The same in pixels."""
        return round(self.panel_width * self.ui.density)

    @property
    def has_charts(self) -> bool:
        """Whether the studio shows the picture itself, with something drawn over it."""
        return bool(self.views.charts)

    def draw_charts(self) -> None:
        """Draw the charts over the picture just drawn."""
        self.passes.collect()
        self.views.draw_charts()

    def draw(self) -> None:
        """Draw all that lies over the picture."""
        self.ui.begin()
        if self._menu_unwanted:
            self._menu_unwanted = False
            self.ui.close_menus()
        if self.has_charts:
            self.overlay.draw_picture()
        if self.shown:
            self.used = True
            if not self.has_charts:  # they fill the picture
                self.overlay.draw_outlines(self.picture.outlines)
            self._draw_panel()
        if self.helping:
            self.overlay.draw_help()
        self.naming.settle()
        self.overlay.draw_message()
        self.menu = self.ui.has_menu
        if not self.ui.busy and self.player.controls.drag is None:
            self.player.history.seal()
        self.ui.end()

    def release(self) -> None:
        """Release the panel and the views."""
        release(self.objects, self.picture, self.views)
        self.ui.release()

    # -- input ---------------------------------------------------------------------------------------------

    def take_key(self, key: int, action: int, mods: int) -> bool:
        """A key; whether it was text, or Escape while a menu or the list of keys is open, which it closes."""
        self.ui.key(key, action != glfw.RELEASE, mods)
        if self.naming.path is not None and key == glfw.KEY_ESCAPE and not self.ui.wants_keys:
            self.naming.close()
            return True
        if self.ui.wants_keys or self.naming.path is not None:
            return True
        if key == glfw.KEY_ESCAPE and action == glfw.PRESS and (self.menu or self.helping):
            self.helping, self._menu_unwanted = self.helping and self.menu, self.menu
            return True
        return False

    def take_button(self, button: int, pressed: bool, mods: int) -> bool:
        """A button of the mouse; whether the panel has taken it."""
        self.ui.button(button, pressed, mods)
        return pressed and self._over_panel

    def take_wheel(self, dx: float, dy: float) -> bool:
        """The wheel; whether the panel has taken it."""
        if self._over_panel:
            self.ui.wheel(dx, dy)
            return True
        return False

    def take_drop(self, files: Sequence[Path]) -> None:
        """Take files dropped on the window: a mesh is an obstacle, or what is asked for; a picture is the
        background; a scene is opened."""
        self.shown = True
        for file in files:
            why = self._dropped(file)
            if why:
                self.editor.say(why)

    def _dropped(self, file: Path) -> str:
        """Take one; why that cannot be, or ""."""
        suffix = file.suffix.lower()
        kind = next((kind for kind, (_, suffixes) in KINDS.items() if suffix in suffixes), None)
        if self.objects.form.wants(kind):
            return self.objects.form.take(file)
        if kind == "mesh":
            return self.objects.add_file("obstacles", kind, file)
        if kind == "image":
            return self.picture.use_plate(file)
        if kind == "array":
            return f"{file.name}: an array becomes a source or a force by Add ... in Objects"
        if suffix != ".toml":
            return f"{file.name}: what is dropped here must be a mesh, a picture, or a scene (.toml)"
        if self.player.open(file):
            self.files.name = str(file)
        return ""

    @property
    def _over_panel(self) -> bool:
        if self.player.stage.pointer[0] >= self.ui.size[0] - self.panel_width:
            return True
        # What ImGui wants it tells a frame late, at a few frames a second too late: asked only where a menu
        # may hang over the picture.
        return self.menu and self.ui.wants_pointer

    def grab(self, button: int, mods: int) -> Move | Brush | None:
        """What the hand has got hold of in the picture; None: the camera."""
        if button != glfw.MOUSE_BUTTON_LEFT or mods & glfw.MOD_ALT or not self.shown:
            return None
        return self.tools.grab()

    # -- the panel -----------------------------------------------------------------------------------------

    def _draw_panel(self) -> None:
        width, height = self.ui.size
        panel = self.panel_width
        imgui.set_next_window_pos(imgui.ImVec2(width - panel, 0))
        imgui.set_next_window_size(imgui.ImVec2(panel, height))
        flags = imgui.WindowFlags_.no_decoration | imgui.WindowFlags_.no_move | imgui.WindowFlags_.no_nav
        imgui.begin("Studio", None, flags | imgui.WindowFlags_.no_bring_to_front_on_focus)
        self._transport()
        self.tools.draw()
        imgui.begin_child("all", imgui.ImVec2(0, 0), 0, imgui.WindowFlags_.no_nav)
        for title, section, opened in (
            ("Objects", self.objects, True),
            ("Flow", self.flow, True),
            ("Sides", self.sides, False),
            ("Picture", self.picture, False),
            ("Views", self.views, False),
            ("Grid", self.grid, False),
            ("Passes", self.passes, False),
            ("File", self.files, False),
        ):
            named = self.naming.path is not None and section is self._section_of(self.naming.path)
            if named:
                imgui.set_next_item_open(True)
            unfolded = imgui.collapsing_header(title, imgui.TreeNodeFlags_.default_open if opened else 0)
            if named and self.naming.unseen and not imgui.is_item_visible():
                imgui.set_scroll_here_y(0.0)
            if section is self.passes:
                self.passes.wanted = unfolded
            if unfolded:
                imgui.push_id(title)
                section.draw()
                imgui.pop_id()
                imgui.dummy(imgui.ImVec2(0, 3))
        imgui.end_child()
        imgui.end()

    def _section_of(self, path: edits.ScenePath) -> Section:
        """In which the name of what lies at `path` stands."""
        if path[0] == "views":
            return self.views
        return self.flow if path[0] == "fluids" and len(path) == 2 else self.objects

    def _transport(self) -> None:
        player, scene = self.player, self.player.scene
        self._rows.buttons(
            ("Play" if player.paused else "Pause", player.pause, player.paused),
            ("Step", player.single_step, False),
            ("Reset", player.restart, False),
            ("Reload", player.reload, player.maker.stale or player.may_reload),
        )
        recording = player.recording.on
        self._rows.buttons(
            ("Snap", player.recording.snap, False),
            ("Stop" if recording else "Record", self.files.record, recording),
            ("Undo", player.undo if player.history.done else None, False),
            ("Redo", player.redo if player.history.undone else None, False),
        )
        rate = "over" if scene.over else "paused" if player.paused else f"{player.frame_rate:.1f} fps"
        filmed = f"   {player.recording.frames} filmed" if recording else ""
        imgui.text_disabled(f"frame {scene.frame}   {scene.time:.2f} s   {rate}{filmed}")
        style = imgui.get_style()
        wide = imgui.calc_text_size("?").x + 2.0 * style.frame_padding.x
        imgui.same_line(imgui.get_window_width() - style.window_padding.x - wide)
        if imgui.small_button("?"):
            player.help()
        self._rows.tip("What keys and mouse do (h)")
        if is_script(scene):
            imgui.text_disabled("script scene: changes cannot be saved")
