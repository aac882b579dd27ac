"""The studio: a panel beside the picture for everything in a scene, and hands that reach into it.

The panel is drawn from the classes' own fields (`studio_fields`) and changes the scene by paths (`edits`), so
that all of it can be undone. What a player does anyway stays in `window`; this only asks for it.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, simplefilter

import glfw
import numpy as np
from numpy.typing import NDArray

from gpufluid import shapes, user_forces, view
from gpufluid.app import studio_pick as pick
from gpufluid.app.edits import LISTS, Addition, Path, Removal, value_at
from gpufluid.app.hands import Brush
from gpufluid.app.studio_fields import (
    FORMS,
    RANGES,
    Item,
    Range,
    degrees_to_turn,
    items_of,
    items_of_view,
    meaning,
    other_form,
    plain,
    turn_to_degrees,
)
from gpufluid.app.studio_grid import foreseen, size_of
from gpufluid.app.studio_ui import ACCENT, HELD, Ui, at_every_key, file_dialogs, has_file_dialog, imgui
from gpufluid.app.studio_views import CHARTS, Shown, renderer_items, view_for
from gpufluid.app.twice import STANDS
from gpufluid.errors import GpufluidError
from gpufluid.flow_views import FlowView
from gpufluid.fluid import Fluid
from gpufluid.grid import Grid
from gpufluid.hand import Hand
from gpufluid.render.camera import view_of
from gpufluid.render.scene_views import SceneViews
from gpufluid.scene import Scene
from gpufluid.scene_saving import save_description
from gpufluid.scene_schema import VIEW_KINDS
from gpufluid.settings import SOLVERS
from gpufluid.shapes import MESH_SUFFIXES
from gpufluid.sources import Emitter, Surface

if TYPE_CHECKING:
    from gpufluid.app.window import Player

Floats = NDArray[np.float64]
Triple = tuple[float, float, float]

PANEL = 340.0  # width
LABEL = 140.0  # from where a row's name stands to its slider
WIDEST = 0.65  # share of the window that the panel takes at most
TIP = 330.0  # width of a tooltip
HELP_WIDTH = 430.0  # of the list of keys
TOAST = STANDS  # seconds that a message is seen: as long as a question
MEASURE = 0.5  # seconds between frames whose passes are timed
SMALL = 1e-4  # low ends of sliders from which on numbers are shown by their exponents
FINE = 5  # digits of the box's longest side that a drag gives: more are no one's intention
PASSES = 16  # rows of the table of passes
TOOLS = ("select", "push", "smoke")
OUTLINE, FAINT = (*ACCENT, 0.95), (0.75, 0.8, 0.86, 0.45)


class Studio:
    """The panel and the tools of a player's window. Raises MissingDependencyError without imgui-bundle.

    shown: whether the panel is; used: whether it ever was. helping: whether the list of keys is shown.
    selected: the path of the object whose fields are shown. tool: what a left drag in the picture does, one
    of TOOLS; with alt it turns, whichever. box: the number of the fluid that new objects, views and another
    grid are for.
    """

    def __init__(self, player: Player) -> None:
        self.player = player
        self.ui = Ui(player.window.handle)
        self.shown = self.used = self.helping = False
        self.selected: Path | None = None
        self._listed: Path | None = None  # what the list was scrolled to
        self.box = 0
        self.tool = "select"
        self.reach, self.force, self.amount, self.warmth = 0.06, 1.0, 8.0, 0.5
        self.outlines = True
        self.charts: list[Shown] = []
        self.passes: dict[str, float] = {}  # ms, smoothed
        self._cells = list(player.scene.fluid.grid.cells)
        self._grid_of: tuple[Scene, int] | None = None
        self._mesh = MeshForm(self)
        self._file = str(player.watch if player.watch and player.watch.suffix == ".toml" else "")
        self._file = self._file or f"{player.name}.toml"
        self._as_pictures = False
        self._menu = False  # whether one is open
        self._help_height = 0.0  # of the list of keys, in letters of the usual size
        self._menu_unwanted = False
        self._timing = False
        self._measured = 0.0

    # -- for the player ------------------------------------------------------------------------------------

    @property
    def scene(self) -> Scene:
        """What is played."""
        return self.player.scene

    @property
    def fluid(self) -> Fluid:
        """What is in the chosen box."""
        self.box = min(self.box, len(self.scene.fluids) - 1)
        return self.scene.fluids[self.box]

    def select(self, path: Path | None) -> None:
        """Show the fields of what lies at `path`, and choose its box."""
        self.selected = path
        if path is not None and path[0] == "fluids":
            assert isinstance(path[1], int)
            self.box = path[1]

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
        return bool(self.charts)

    @contextmanager
    def simulating(self) -> Iterator[None]:
        """Round a frame's simulation: its passes are timed."""
        now = time.perf_counter()
        timed = self._timing and now - self._measured > MEASURE
        if timed:
            self._measured = now
            for device in self._devices:
                device.timings = {}
        yield
        if timed and self.player.volume_options.get("frame_ms") is not None:
            self._collect()  # the renderer has a clock of its own, and OpenGL but one

    @property
    def _devices(self) -> list[Any]:
        """Those of all fluids, each once."""
        return list({id(f.device): f.device for f in self.scene.fluids if f.device is not None}.values())

    def _collect(self) -> None:
        """Take what the passes of this frame took."""
        taken: dict[str, list[float]] = {}
        for device in self._devices:
            if device.timings is not None:
                for name, times in device.milliseconds().items():
                    taken.setdefault(name, []).extend(times)
        found = {f"{name} x{len(t)}" if len(t) > 1 else name: sum(t) for name, t in taken.items()}
        self.passes |= {name: 0.5 * (self.passes.get(name, ms) + ms) for name, ms in found.items()}

    def draw_charts(self) -> None:
        """Draw the charts over the picture just drawn."""
        self._collect()
        for chart in list(self.charts):
            try:
                chart.draw(self.scene, self.player.renderer)
            except GpufluidError as error:
                self.player.say(str(error))
                self._drop(chart)

    def hide_failing(self) -> bool:
        """Hide the views of the scene that cannot be drawn; whether there were any.

        That is no edit: undone it would fail again, and nothing before it could ever be undone.
        """
        scene, found = self.scene, False
        for shown in scene.views:
            trial = SceneViews(self.player.window.ctx)
            try:
                trial.follow(scene.fluids, [shown], scene.box_names)
            except GpufluidError:
                shown.visible = False
                scene.hold(shown, "visible")
                found = True
            finally:
                trial.release()
        return found

    def draw(self) -> None:
        """Draw all that lies over the picture."""
        self.ui.begin()
        if self._menu_unwanted:
            self._menu_unwanted = False
            self.ui.close_menus()
        if self.has_charts:
            self._draw_picture()
        if self.shown:
            self.used = True
            if not self.has_charts:  # they fill the picture
                self._draw_outlines()
            self._draw_panel()
        if self.helping:
            self._draw_help()
        self._draw_toast()
        self._menu = self.ui.has_menu
        if not self.ui.busy and self.player.holds_nothing:
            self.player.history.seal()
        self.ui.end()

    def release(self) -> None:
        """Release the panel and the views."""
        for chart in list(self.charts):
            self._drop(chart)
        self.ui.release()

    def _drop(self, chart: Shown) -> None:
        self.charts.remove(chart)
        chart.view.release()

    # -- input ---------------------------------------------------------------------------------------------

    def take_key(self, key: int, action: int, mods: int) -> bool:
        """A key; whether it was text, or Escape while a menu or the list of keys is open, which it closes."""
        self.ui.key(key, action != glfw.RELEASE, mods)
        if self.ui.wants_keys:
            return True
        if key == glfw.KEY_ESCAPE and action == glfw.PRESS and (self._menu or self.helping):
            self.helping, self._menu_unwanted = self.helping and self._menu, self._menu
            return True
        return False

    def take_char(self, code: int) -> None:
        """A letter."""
        self.ui.char(code)

    def take_pointer(self, x: float, y: float) -> None:
        """The pointer has moved."""
        self.ui.pointer(x, y)

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

    @property
    def _over_panel(self) -> bool:
        if self.player.pointer[0] >= self.ui.size[0] - self.panel_width:
            return True
        # What ImGui wants it tells a frame late, at a few frames a second too late: asked only where a menu
        # may hang over the picture.
        return self._menu and self.ui.wants_pointer

    def grab(self, button: int, mods: int) -> Move | Brush | None:
        """What the hand has got hold of in the picture; None: the camera."""
        if button != glfw.MOUSE_BUTTON_LEFT or mods & glfw.MOD_ALT or not self.shown:
            return None
        if self.tool != "select":
            return Brush(self.player, self.hand)
        ray = self.player.ray(*self.player.pointer)
        found = self.nearest(ray)
        self.select(None if found is None else found[0])
        return None if found is None else Move(self, found[0], ray.at(found[1]))

    def hand(self) -> Hand:
        """What the chosen tool does."""
        if self.tool == "push":
            return Hand(self.reach, self.force, density=0.0)
        return Hand(self.reach, 0.0, self.amount, temperature=self.warmth or None)

    @property
    def brush(self) -> Brush | None:
        """The hand that is in the fluid now."""
        return self.player.brush

    def nearest(self, ray: pick.Ray) -> tuple[Path, float] | None:
        """The object that `ray` meets first, and how far along."""
        found = [
            (distance, path)
            for path, thing, fluid in self.objects()
            if getattr(thing, "visible", True) and (distance := pick.hit(thing, fluid, ray)) is not None
        ]
        if not found:
            return None
        distance, path = min(found, key=lambda each: each[0])
        return path, distance

    def objects(self) -> Iterator[tuple[Path, Any, Fluid]]:
        """Every emitter, obstacle, force and light: its path, itself, and the fluid it is in."""
        for n, fluid in enumerate(self.scene.fluids):
            for name in LISTS:
                for i, thing in enumerate(getattr(fluid, name)):
                    yield ("fluids", n, name, i), thing, fluid
        for i, light in enumerate(self.scene.lights):
            yield ("lights", i), light, self.scene.fluid

    def change(self, path: Path, value: Any) -> None:
        """Change what lies at `path`; where that cannot be, say why."""
        try:
            self.player.history.change(self.scene, path, value)
        except GpufluidError as error:
            self.player.say(str(error))

    # -- over the picture ----------------------------------------------------------------------------------

    def _corner(self) -> tuple[float, float, float, float]:
        """Left, top, width and height of the picture, units of the window."""
        left, bottom, width, height = self.player.picture
        top = self.player.size[1] - bottom - height
        d = self.ui.density
        return left / d, top / d, width / d, height / d

    def _draw_picture(self) -> None:
        x, y, width, height = self._corner()
        imgui.get_background_draw_list().add_image(
            imgui.ImTextureRef(self.player.renderer.shown_texture.glo),
            imgui.ImVec2(x, y),
            imgui.ImVec2(x + width, y + height),
            imgui.ImVec2(0, 1),
            imgui.ImVec2(1, 0),
        )

    def _draw_outlines(self) -> None:
        """Lines round what is selected, and faint ones round what else cannot be seen."""
        x, y, width, height = self._corner()
        draw = imgui.get_background_draw_list()
        clip = view_of(self.scene.camera, width / height).clip.astype(np.float64)
        draw.push_clip_rect(imgui.ImVec2(x, y), imgui.ImVec2(x + width, y + height))
        near = self.scene.camera.near

        def line(points: Floats, color: tuple[float, ...], thick: float) -> None:
            p = np.concatenate([points, np.ones((len(points), 1))], axis=1) @ clip.T
            if (p[:, 3] <= near).any():
                return
            seen = p[:, :2] / p[:, 3:]
            at = np.stack([x + 0.5 * (seen[:, 0] + 1.0) * width, y + 0.5 * (1.0 - seen[:, 1]) * height], 1)
            joined = [imgui.ImVec2(*q) for q in at.tolist()]
            shade = (0.0, 0.0, 0.0, 0.5 * color[3])  # before a bright picture it is what is seen
            for tint, across in ((shade, thick + 1.0), (color, thick)):
                ink = imgui.color_convert_float4_to_u32(imgui.ImVec4(*tint))
                draw.add_polyline(points=joined, col=ink, thickness=across * self.ui.scale, flags=0)

        for path, thing, fluid in self.objects():
            chosen = path == self.selected
            if chosen or (self.outlines and path[-2] != "obstacles"):
                for points in pick.outline(thing, fluid):
                    line(points, OUTLINE if chosen else FAINT, 1.8 if chosen else 1.0)
        if self.outlines:
            for fluid in self.scene.fluids:
                for points in pick.box_lines(fluid):
                    line(points, (*FAINT[:3], 0.24), 1.0)
        if self.brush is not None:
            for points in pick.outline(view.PointLight(tuple(self.brush.point)), self.scene.fluid):
                line(points, OUTLINE, 1.5)
        draw.pop_clip_rect()

    def _draw_help(self) -> None:
        from gpufluid.app.window import KEYS

        x, y, width, height = self._corner()
        if width < HELP_WIDTH * self.ui.scale or height < self.ui.size[1]:  # over the panel, then
            x, y, (width, height) = 0.0, 0.0, self.ui.size
        imgui.set_next_window_pos(
            imgui.ImVec2(x + 0.5 * width, y + 0.5 * height), pivot=imgui.ImVec2(0.5, 0.5)
        )
        small = min(1.0, max(height - 8.0 * self.ui.scale, 1.0) / max(self._help_height, 1.0))
        imgui.push_font(None, imgui.get_style().font_size_base * small)
        imgui.set_next_window_bg_alpha(0.95)
        flags = imgui.WindowFlags_.no_decoration | imgui.WindowFlags_.always_auto_resize
        imgui.begin("Help", None, flags | imgui.WindowFlags_.no_inputs | imgui.WindowFlags_.no_nav)
        wrap = imgui.get_cursor_pos_x() + max(0.9 * width - 30.0 * self.ui.scale, 120.0)
        for keys, what in KEYS:
            imgui.text_colored(imgui.ImVec4(*ACCENT, 1.0), keys)
            imgui.same_line(105.0 * self.ui.scale)
            imgui.push_text_wrap_pos(min(wrap, (HELP_WIDTH - 10.0) * self.ui.scale))
            imgui.text(what)
            imgui.pop_text_wrap_pos()
        # its window's would be cut where the screen ends
        self._help_height = (imgui.get_cursor_pos_y() + imgui.get_style().window_padding.y) / small
        imgui.end()
        imgui.pop_font()

    def _draw_toast(self) -> None:
        player = self.player
        x, y, width, height = self._corner()
        lines = []
        if player.recorder is not None:
            lines.append((f"filmed: {player.recorded} frames", ACCENT))
        if player.message and time.perf_counter() - player.said < TOAST:
            lines.append((player.message, (0.9, 0.91, 0.92)))
        if not lines:
            return
        imgui.set_next_window_pos(imgui.ImVec2(x + 10, y + height - 10), pivot=imgui.ImVec2(0.0, 1.0))
        imgui.set_next_window_bg_alpha(0.8)
        flags = imgui.WindowFlags_.no_decoration | imgui.WindowFlags_.always_auto_resize
        flags |= imgui.WindowFlags_.no_inputs | imgui.WindowFlags_.no_nav
        imgui.begin("Message", None, flags | imgui.WindowFlags_.no_focus_on_appearing)
        imgui.push_text_wrap_pos(max(width - 40.0, 100.0))
        for text, color in lines:
            imgui.text_colored(imgui.ImVec4(*color, 1.0), text)
        imgui.pop_text_wrap_pos()
        imgui.end()

    # -- the panel -----------------------------------------------------------------------------------------

    def _draw_panel(self) -> None:
        width, height = self.ui.size
        panel = self.panel_width
        imgui.set_next_window_pos(imgui.ImVec2(width - panel, 0))
        imgui.set_next_window_size(imgui.ImVec2(panel, height))
        flags = imgui.WindowFlags_.no_decoration | imgui.WindowFlags_.no_move | imgui.WindowFlags_.no_nav
        imgui.begin("Studio", None, flags | imgui.WindowFlags_.no_bring_to_front_on_focus)
        self._transport()
        self._tools()
        imgui.begin_child("all", imgui.ImVec2(0, 0), 0, imgui.WindowFlags_.no_nav)
        for title, section, opened in (
            ("Objects", self._objects, True),
            ("Flow", self._flow, True),
            ("Picture", self._picture, False),
            ("Views", self._views, False),
            ("Grid", self._grid, False),
            ("Passes", self._passes, False),
            ("File", self._files, False),
        ):
            unfolded = imgui.collapsing_header(title, imgui.TreeNodeFlags_.default_open if opened else 0)
            if title == "Passes":
                self._timing = unfolded
            if unfolded:
                imgui.push_id(title)
                section()
                imgui.pop_id()
                imgui.dummy(imgui.ImVec2(0, 3))
        imgui.end_child()
        imgui.end()

    def _buttons(self, *each: tuple[str, Callable[[], object] | None, bool]) -> None:
        """A row of buttons of one width: name, what it does, or None where it can do nothing, whether on."""
        style = imgui.get_style()
        width = (imgui.get_content_region_avail().x - style.item_spacing.x * (len(each) - 1)) / len(each)
        for n, (name, do, on) in enumerate(each):
            if n:
                imgui.same_line()
            if on:
                imgui.push_style_color(imgui.Col_.button, imgui.ImVec4(*HELD, 1.0))
            imgui.begin_disabled(do is None)
            if imgui.button(name, imgui.ImVec2(width, 0)) and do is not None:
                do()
            imgui.end_disabled()
            self._tip((inspect.getdoc(do) or "").partition("\n\n")[0] if inspect.ismethod(do) else "")
            if on:
                imgui.pop_style_color()

    def _transport(self) -> None:
        player, scene = self.player, self.scene
        self._buttons(
            ("Play" if player.paused else "Pause", player.pause, player.paused),
            ("Step", player.single_step, False),
            ("Reset", player.restart, False),
            ("Reload", player.reload, player.stale or player.may_reload),
        )
        recording = player.recorder is not None
        self._buttons(
            ("Snap", player.snap, False),
            ("Stop" if recording else "Record", self._record, recording),
            ("Undo", player.undo if player.history.done else None, False),
            ("Redo", player.redo if player.history.undone else None, False),
        )
        rate = "over" if scene.over else "paused" if player.paused else f"{player.frame_rate:.1f} fps"
        filmed = f"   {player.recorded} filmed" if recording else ""
        imgui.text_disabled(f"frame {scene.frame}   {scene.time:.2f} s   {rate}{filmed}")
        style = imgui.get_style()
        wide = imgui.calc_text_size("?").x + 2.0 * style.frame_padding.x
        imgui.same_line(imgui.get_window_width() - style.window_padding.x - wide)
        if imgui.small_button("?"):
            player.help()

    def _record(self) -> None:
        """Begin a film, or a folder of pictures, under the first free number, or end it."""
        self.player.record("" if self._as_pictures else ".mp4")

    def _tools(self) -> None:
        def take(tool: str) -> Callable[[], None]:
            return lambda: setattr(self, "tool", tool)

        self._buttons(*((tool.capitalize(), take(tool), tool == self.tool) for tool in TOOLS))
        if self.tool != "select":
            self.reach = self._slider("reach", self.reach, Range(0.01, 0.3, "m", log=True), "reach")
        if self.tool == "push":
            self.force = self._slider("strength", self.force, Range(0.0, 4.0), "push")
        if self.tool == "smoke":
            self.amount = self._slider("amount", self.amount, Range(0.0, 50.0, "1/s"), "density")
            self.warmth = self._slider("temperature", self.warmth, Range(-2.0, 4.0), "temperature")

    def _slider(self, label: str, value: float, spread: Range, field: str) -> float:
        """A slider of the studio's own, above what scrolls. field: of a `Hand`, that it stands for."""
        told = meaning(Hand, field)
        self._row(label, imgui.get_style().window_padding.x, told)
        value = float(_number(f"##{label}", value, spread)[1])
        self._tip(told)
        return value

    def _tip(self, text: str) -> None:
        """Tell `text` while the pointer rests on what was drawn last, and holds nothing."""
        rests = imgui.is_item_hovered(imgui.HoveredFlags_.for_tooltip)
        if text and rests and not imgui.is_any_item_active() and imgui.begin_tooltip():
            imgui.push_text_wrap_pos(TIP * self.ui.scale)
            imgui.text(text)
            imgui.pop_text_wrap_pos()
            imgui.end_tooltip()

    def _row(self, label: str, inset: float = 0.0, meaning: str = "") -> None:
        """The name of a row; what follows fills the rest. inset: from the edge of the window to the rows."""
        imgui.align_text_to_frame_padding()
        imgui.text(label)
        self._tip(f"{label}: {meaning}" if meaning else label)
        imgui.same_line(LABEL * self.ui.scale + inset)
        imgui.set_next_item_width(-1)

    # -- sections ------------------------------------------------------------------------------------------

    def _objects(self) -> None:
        things = list(self.objects())
        rows = min(max(len(things), 1), 6)
        height = rows * imgui.get_text_line_height_with_spacing() + 2.0 * imgui.get_style().window_padding.y
        imgui.begin_child("list", imgui.ImVec2(0, height), imgui.ChildFlags_.borders)
        names = {id(thing): name for name, thing in self.scene.names.items()}
        several, boxes = bool(self.scene.others), self.scene.box_names
        imgui.push_style_color(imgui.Col_.header, imgui.ImVec4(*ACCENT, 0.45))
        for path, thing, _ in things:
            where = f"  ({boxes[int(path[1])]})" if several and path[0] == "fluids" else ""
            label = names.get(id(thing)) or f"{_called(thing)} {path[-1]}"
            if imgui.selectable(f"{label}{where}##{path}", path == self.selected)[0]:
                self.select(path)
            if path == self.selected != self._listed:
                imgui.set_scroll_here_y()
        self._listed = self.selected
        imgui.pop_style_color()
        if not things:
            imgui.text_disabled("nothing yet")
        imgui.end_child()
        self._box_row()
        self._buttons(
            ("Add ...", lambda: imgui.open_popup("add"), False),
            ("Remove", self.remove if self.selected is not None else None, False),
        )
        self._add_menu()
        self._mesh.draw()
        if self.selected is not None:
            try:
                thing = value_at(self.scene, self.selected)
            except GpufluidError:
                self.selected = None
                return
            imgui.push_id(str(self.selected))
            self._fields(self.selected, thing)
            imgui.pop_id()

    def _add_menu(self) -> None:
        if not imgui.begin_popup("add"):
            return
        for title, names in ADDABLE.items():
            imgui.text_disabled(TITLES.get(title, title))
            for name in names:
                if imgui.selectable(f"  {name}##{title}", False)[0]:
                    self.add(title, name)
            if title in MeshForm.GROUPS and imgui.selectable(f"  mesh file ...##{title}", False)[0]:
                self._mesh.open(title)
        imgui.end_popup()

    def _box_row(self) -> None:
        """Where there are several boxes, which one is meant."""
        boxes = self.scene.box_names
        if len(boxes) < 2:
            return
        self._row("box")
        if imgui.begin_combo("##box", boxes[min(self.box, len(boxes) - 1)]):
            for n, name in enumerate(boxes):
                if imgui.selectable(name, n == self.box)[0]:
                    self.box = n
            imgui.end_combo()

    def add(self, group: str, name: str) -> None:
        """Add an object of ADDABLE in the middle of the chosen box, and select it."""
        fluid, number = self.fluid, self.box
        grid = fluid.grid
        x, y, z = self._middle
        r = _short(0.1 * min(grid.size[: grid.dimensions]))
        told: dict[str, Any] = {}
        forms: dict[str, Callable[[], Any]] = {
            "sphere": lambda: shapes.Sphere(radius=r),
            "box": lambda: shapes.Box(size=(2 * r, 2 * r, 2 * r)),
            "cylinder": lambda: shapes.Cylinder(radius=r, height=2 * r),
            "capsule": lambda: shapes.Capsule((0.0, -r, 0.0), (0.0, r, 0.0), _short(0.6 * r)),
            "knot": lambda: shapes.Mesh.trefoil().fitted(_short(4 * r)),
        }
        others: dict[str, Callable[[], Any]] = {
            "wind": lambda: user_forces.Wind((0.3, 0.0, 0.0)),
            "vortex": lambda: user_forces.Vortex((x, y, z), radius=2 * r),
            "attractor": lambda: user_forces.Attractor((x, y, z), radius=2 * r),
            "point light": lambda: view.PointLight(
                (x, _short(y + 2 * r), _short(z + 4 * r)), color=(0.5, 0.45, 0.4)
            ),
            "sun": lambda: view.Light(ambient=(0.0, 0.0, 0.0)),
        }
        path: Path = ("lights",) if group == "lights" else ("fluids", number, group)
        placed = group in MeshForm.GROUPS
        thing: Any = self._placed(group, forms[name]()) if placed else others[name]()
        if name == "knot":
            told["shape"] = {"kind": "knot", "fit": _short(4 * r)}
        if group == "lights" and len(self.scene.lights) >= view.MOST_LIGHTS:
            self.player.say(f"there are {view.MOST_LIGHTS} lights beside the sun already")
            return
        self._make(path, thing, told)

    @property
    def _middle(self) -> Triple:
        """That of the chosen box."""
        grid = self.fluid.grid
        x, y, z = (_short(0.5 * (a + b)) for a, b in zip(grid.origin, grid.upper, strict=True))
        return x, y, z

    def _placed(self, group: str, shape: Any) -> Any:
        """An emitter in the lower part of the chosen box, or an obstacle in its middle."""
        x, y, z = self._middle
        if group == "emitters":
            y = _short(y - 0.3 * self.fluid.grid.size[1])
            return Emitter(shape, density=4.0, temperature=1.0, position=(x, y, z))
        return shapes.Obstacle(shape, position=(x, y, z))

    def _make(self, path: Path, thing: Any, told: dict[str, Any]) -> bool:
        """Add what was made, and select it; where that cannot be, say why."""
        index = len(value_at(self.scene, path))
        try:
            self.player.history.make(self.scene, Addition(path, index, thing, told))
        except GpufluidError as error:
            self.player.say(str(error))
            return False
        self.select((*path, index))
        return True

    def add_mesh(self, group: str, file: FilePath) -> bool:
        """Add an emitter or obstacle with the shape in a file; where that cannot be, say why."""
        fluid = self.fluid
        size = _short(0.4 * min(fluid.grid.size[: fluid.grid.dimensions]))
        try:
            with catch_warnings(record=True) as told:
                simplefilter("always")
                mesh = shapes.Mesh.load(file).fitted(size)
                shape = Surface(mesh) if group == "emitters" else mesh
                thing = self._placed(group, shape)
                added = self._make(("fluids", self.box, group), thing, self._told(group, file, size))
        except GpufluidError as error:
            self.player.say(str(error))
            return False
        if added and told:
            self.player.say(str(told[-1].message))
        return added

    def _told(self, group: str, file: FilePath, size: float) -> dict[str, Any]:
        """What a description says of a mesh; nothing where its file lies outside the scene's folder."""
        base = FilePath(self._file).absolute().parent.resolve()
        target = file.resolve()
        if not target.is_relative_to(base):
            return {}
        kind = "surface" if group == "emitters" else "mesh"
        return {"shape": {"kind": kind, "file": target.relative_to(base).as_posix(), "fit": size}}

    def remove(self) -> None:
        """Take the selected object away."""
        if self.selected is not None:
            self.remove_at(self.selected)
        self.selected = None

    def remove_at(self, at: Path) -> None:
        """Take away what lies at this place of a list; where that cannot be, say why."""
        *path, index = at
        assert isinstance(index, int)
        try:
            thing = value_at(self.scene, at)
            self.player.history.make(self.scene, Removal(tuple(path), index, thing))
        except GpufluidError as error:
            self.player.say(str(error))

    def _flow(self) -> None:
        boxes = self.scene.box_names
        for n, fluid in enumerate(self.scene.fluids):
            if len(self.scene.others) and not imgui.tree_node(f"{boxes[n]}##flow"):
                continue
            imgui.push_id(n)
            self._fields(("fluids", n, "settings"), fluid.settings)
            imgui.pop_id()
            if len(self.scene.others):
                imgui.tree_pop()
        told = meaning(Scene, "dt")
        changed, dt = _labelled(self, "time step", self.scene.dt, Range(0.001, 0.1, "s", log=True), told)
        if changed and dt > 0.0:
            self.change(("dt",), dt)

    def _picture(self) -> None:
        scene = self.scene
        for name in ("camera", "light", "smoke", "fire", "picture"):
            if not imgui.tree_node(name):
                continue
            thing = getattr(scene, name)
            if name == "fire":
                changed, on = imgui.checkbox("hot gas glows", thing is not None)
                if changed:
                    self.change(("fire",), view.Fire() if on else None)
                    thing = scene.fire
            if thing is not None:
                self._fields((name,), thing)
            imgui.tree_pop()
        if imgui.tree_node("floor"):
            changed, on = imgui.checkbox("a floor", scene.floor is not None)
            if changed:
                self.change(("floor",), scene.fluid.grid.origin[1] if on else None)
            if scene.floor is not None:
                changed, height = _labelled(
                    self, "height", scene.floor, RANGES["position"], meaning(Scene, "floor")
                )
                if changed:
                    self.change(("floor",), height)
            imgui.tree_pop()
        if imgui.tree_node("renderer"):
            options = self.player.volume_options
            for item in renderer_items():
                value = options.get(item.name, item.default)
                if item.optional and item.name not in options:
                    value = None
                changed, value = self._widget(item, value)
                if changed:
                    self._set_renderer(item.name, value)
            imgui.tree_pop()
        _, self.outlines = imgui.checkbox("outlines of box and sources", self.outlines)

    def _set_renderer(self, name: str, value: Any) -> None:
        """Draw with another option of the renderer; where that cannot be, say why."""
        before = dict(self.player.volume_options)
        self.player.volume_options[name] = value
        if not self.player.follow_picture():
            self.player.volume_options = before

    def _views(self) -> None:
        scene = self.scene
        names = {id(thing): name for name, thing in scene.names.items()}
        for n, shown in enumerate(scene.views):
            kind = next((name for name, made in VIEW_KINDS.items() if type(shown) is made), "view")
            where = "" if not scene.others else f"  ({'every box' if shown.box is None else shown.box})"
            changed, on = imgui.checkbox(f"##visible {n}", shown.visible)
            if changed:
                self.change(("views", n, "visible"), on)
            imgui.same_line()
            if imgui.tree_node(f"{names.get(id(shown), kind)}{where}###view {n}"):
                imgui.push_id(n)
                self._view(n, shown)
                imgui.pop_id()
                imgui.tree_pop()
        self._box_row()
        self._buttons(("Add view ...", lambda: imgui.open_popup("add view"), False))
        if imgui.begin_popup("add view"):
            for kind in VIEW_KINDS:
                if imgui.selectable(f"  {kind}##views", False)[0]:
                    self.add_view(kind)
            imgui.end_popup()
        changed, on = imgui.checkbox("smoke", scene.smoke.visible)
        if changed:
            self.change(("smoke", "visible"), on)
        self._charts()

    def _view(self, number: int, shown: FlowView) -> None:
        """The fields of a view of the scene."""
        scene = self.scene
        boxes = scene.box_names
        if len(boxes) > 1:
            self._row("box")
            changed, box = _choice("##of", shown.box, (None, *boxes), "every box")
            if changed:
                self.change(("views", number, "box"), box)
        grids = [f.grid for f, name in zip(scene.fluids, boxes, strict=True) if shown.box in (None, name)]
        grids = grids or [self.fluid.grid]  # its box has gone
        x, y, z = np.min([grid.origin for grid in grids], axis=0).tolist()
        u, v, w = np.max([grid.upper for grid in grids], axis=0).tolist()
        self._fields(("views", number), shown, items_of_view(shown, (x, y, z), (u, v, w)))
        self._buttons(("Remove view", lambda: self.remove_at(("views", number)), False))

    def add_view(self, kind: str) -> None:
        """Show a view of VIEW_KINDS in the chosen box; where that cannot be, say why."""
        scene = self.scene
        shown = view_for(kind, self.fluid, scene.box_names[self.box] if scene.others else None)
        path: Path = ("views",)
        try:
            self.player.history.make(scene, Addition(path, len(scene.views), shown))
        except GpufluidError as error:
            self.player.say(str(error))

    def _charts(self) -> None:
        """What lies over the picture of the window, and belongs to no scene."""
        used = {chart.name: chart for chart in self.charts if chart.box == self.box}
        for name in CHARTS:
            changed, on = imgui.checkbox(name, name in used)
            if changed and on:
                self.charts.append(Shown.of(name, self.player.window.ctx, self.box))
            elif changed:
                self._drop(used[name])
            elif on:
                chart = used[name]
                imgui.indent()
                imgui.push_id(f"{name} {self.box}")
                for item in chart.items:
                    changed, value = self._widget(item, getattr(chart.view, item.name))
                    if changed:
                        try:
                            chart.put(item.name, value)
                        except GpufluidError as error:
                            self.player.say(str(error))
                imgui.pop_id()
                imgui.unindent()

    def _grid(self) -> None:
        self._box_row()
        fluid = self.fluid
        grid = fluid.grid
        if self._grid_of is None or self._grid_of[0] is not self.scene or self._grid_of[1] != self.box:
            self._grid_of, self._cells = (self.scene, self.box), list(grid.cells)
        self._row("cells x, y, z", meaning=meaning(Grid, "cells"))
        with at_every_key():
            _, self._cells = imgui.input_int3("##cells", self._cells)
        x, y, z = self._cells
        if imgui.button("Rebuild", imgui.ImVec2(-1, 0)):
            self.player.use_cells((x, y, z), self.box)
        told = foreseen(grid, (x, y, z), self.player.watch or self.scene.provenance.file)
        if told:
            imgui.text_wrapped(told)
        imgui.text_disabled(size_of(grid))
        flow = sum(device.field_bytes for device in self._devices)
        renderer = self.player.renderer
        drawn = renderer.device.field_bytes + renderer.picture_bytes
        imgui.text_disabled(f"{grid.cell_count:,} cells, {fluid.backend_name}")
        imgui.text_disabled(f"textures: {flow / 2**20:.1f} MiB flow, {drawn / 2**20:.1f} MiB picture")

    def _passes(self) -> None:
        if not self.passes:
            imgui.text_disabled("measuring; the flow must run")
            return
        imgui.text_disabled(f"{sum(self.passes.values()):.1f} ms of a frame, by the driver's clock")
        ranked = sorted(self.passes.items(), key=lambda each: -each[1])[:PASSES]
        width = imgui.get_content_region_avail().x
        for name, ms in ranked:
            imgui.text(name)
            text = f"{ms:.2f} ms"
            imgui.same_line(width - imgui.calc_text_size(text).x)
            imgui.text(text)

    def _files(self) -> None:
        self._row("scene")
        _, self._file = imgui.input_text("##file", self._file)
        again = self.player.twice.stands(self._replacing)
        self._buttons(("Replace it" if again else "Save scene", self.save, again))
        _, self._as_pictures = imgui.checkbox("record numbered pictures, no film", self._as_pictures)

    @property
    def _replacing(self) -> str:
        """What a save would replace; "" for nothing."""
        player, path = self.player, FilePath(self._file)
        if not path.is_file():
            return ""
        changed = player.stale and player.watch is not None and path.absolute() == player.watch.absolute()
        return f"{path} {'has changed' if changed else 'exists'}: save once more to replace it"

    def save(self) -> None:
        """Write the scene as it is now; a file that is there only when asked twice."""
        player, path = self.player, FilePath(self._file)
        if self._replacing and not player.twice.agreed(self._replacing):
            return
        try:
            save_description(self.scene, path, overwrite=True)
        except GpufluidError as error:
            player.say(str(error))
            return
        player.saved_as(path)
        player.say(f"wrote {path.absolute()}")

    # -- fields --------------------------------------------------------------------------------------------

    def _fields(self, path: Path, thing: Any, items: tuple[Item, ...] | None = None) -> None:
        """A row for every field of a dataclass object, or for those of `items`."""
        kind: Any = type(thing)
        for item in items_of(kind) if items is None else items:
            value = getattr(thing, item.name)
            changed, after = self._widget(item, value)
            if changed:
                self.change((*path, item.name), after)
                value = after
            inner = (
                value_at(self.scene, (*path, item.name)) if item.kind in ("solver", "part", "shape") else None
            )
            if inner is not None and hasattr(inner, "__dataclass_fields__"):
                imgui.indent()
                imgui.push_id(item.name)
                self._fields((*path, item.name), inner)
                imgui.pop_id()
                imgui.unindent()

    def _widget(self, item: Item, value: Any) -> tuple[bool, Any]:
        """A row for one field; whether it was changed, and to what."""
        unit = (
            f", {item.range.unit}"
            if item.range.unit and item.kind in ("triple", "pair", "color", "turn")
            else ""
        )
        self._row(item.label + unit, meaning=item.meaning)
        key = f"##{item.name}"
        if item.optional:
            changed, on = imgui.checkbox(f"{key} on", value is not None)
            self._tip(item.meaning)
            if changed:
                return True, item.default if on else None
            imgui.same_line()
            if value is None:
                imgui.text_disabled(item.none)
                return False, None
            imgui.set_next_item_width(-1)
        changed, value = WIDGETS[item.kind](key, value, item)
        self._tip(item.meaning)
        return changed, value


def _short(metres: float) -> float:
    """A length to begin with, in few digits."""
    return float(f"{metres:.4g}")


def _labelled(studio: Studio, label: str, value: float, spread: Range, told: str) -> tuple[bool, float]:
    studio._row(label, meaning=told)
    changed, value = _number(f"##{label}", value, spread)
    studio._tip(told)
    return changed, value


def _number(key: str, value: float, spread: Range) -> tuple[bool, float]:
    flags = imgui.SliderFlags_.no_round_to_format | (imgui.SliderFlags_.logarithmic if spread.log else 0)
    digits = 5 if spread.log and spread.high <= 0.1 else 3 if spread.high <= 10.0 else 1
    form = ".1e" if spread.log and 0.0 < spread.low <= SMALL else f".{digits}f"
    text = f"%{form} {spread.unit}".rstrip()
    changed, after = imgui.slider_float(key, float(value), spread.low, spread.high, text, flags)
    return changed, plain(value, after)


def _number_or_three(key: str, value: Any, item: Item) -> tuple[bool, Any]:
    if isinstance(value, tuple | list | np.ndarray):
        return _three(key, value, item)
    return _number(key, value, item.range)


def _whole(key: str, value: int, item: Item) -> tuple[bool, int]:
    flags = imgui.SliderFlags_.logarithmic if item.range.log else 0
    text = f"%d {item.range.unit}".rstrip()
    low, high = int(item.range.low), int(item.range.high)
    changed, after = imgui.slider_int(key, int(value), low, high, text, flags)
    return changed, after


def _plain(before: Any, after: Any) -> tuple[float, ...]:
    return tuple(plain(float(b), a) for b, a in zip(before, after, strict=True))


def _flag(key: str, value: bool, item: Item) -> tuple[bool, bool]:
    changed, after = imgui.checkbox(key, bool(value))
    return changed, after


def _three(key: str, value: Any, item: Item) -> tuple[bool, Any]:
    speed = (item.range.high - item.range.low) / 400.0
    changed, after = imgui.drag_float3(key, [float(v) for v in value], speed, format="%.3g")
    return changed, _plain(value, after) if changed else value


def _color(key: str, value: Any, item: Item) -> tuple[bool, Any]:
    flags = imgui.ColorEditFlags_.float | imgui.ColorEditFlags_.hdr
    changed, after = imgui.color_edit3(key, [float(v) for v in value], flags)
    return changed, _plain(value, list(after)[:3]) if changed else value


def _colors(key: str, value: Any, item: Item) -> tuple[bool, Any]:
    changed_any, colors = False, list(value)
    for n, color in enumerate(colors):
        changed, after = imgui.color_edit3(
            f"{key}{n}", list(color), imgui.ColorEditFlags_.float | imgui.ColorEditFlags_.no_inputs
        )
        if n + 1 < len(colors):
            imgui.same_line()
        if changed:
            changed_any, colors[n] = True, _plain(color, list(after)[:3])
    return changed_any, tuple(colors)


def _turn(key: str, value: Any, item: Item) -> tuple[bool, Any]:
    before = turn_to_degrees(value)
    changed, after = imgui.drag_float3(key, list(before), 1.0, format="%.0f°")
    x, y, z = _plain(before, after)
    return changed, degrees_to_turn((x, y, z)) if changed else value


def _of_choices(key: str, value: Any, item: Item) -> tuple[bool, Any]:
    return _choice(key, value, item.choices, item.none)


def _choice(key: str, value: Any, choices: Sequence[Any], none: str = "none") -> tuple[bool, Any]:
    """A menu of `choices`, in which None is called `none`."""
    chosen: tuple[bool, Any] = (False, value)
    if imgui.begin_combo(key, _word(value, none)):
        for choice in choices:
            if imgui.selectable(_word(choice, none), choice == value)[0]:
                chosen = (True, choice)
        imgui.end_combo()
    return chosen


def _word(value: Any, none: str) -> str:
    return none if value is None else value if isinstance(value, str) else f"{value}"


def _text(key: str, value: str, item: Item) -> tuple[bool, str]:
    changed, after = imgui.input_text(key, value, imgui.InputTextFlags_.enter_returns_true)
    return changed, after


def _shape(key: str, value: Any, item: Item) -> tuple[bool, Any]:
    changed, name = _choice(key, type(value).__name__, [form.__name__ for form in FORMS])
    if not changed:
        return False, value
    return True, other_form(value, next(form for form in FORMS if form.__name__ == name))


def _solver(key: str, value: Any, item: Item) -> tuple[bool, Any]:
    changed, name = _choice(key, type(value).__name__, [solver.__name__ for solver in SOLVERS])
    if not changed:
        return False, value
    kind: Any = next(solver for solver in SOLVERS if solver.__name__ == name)
    return True, kind()


def _pair(key: str, value: Any, item: Item) -> tuple[bool, Any]:
    speed = (item.range.high - item.range.low) / 400.0
    changed, after = imgui.drag_float2(key, [float(v) for v in value], speed, format="%.3g")
    return changed, _plain(value, after) if changed else value


def _counts(key: str, value: Any, item: Item) -> tuple[bool, Any]:
    changed, after = imgui.input_int3(key, list(value))
    return changed, tuple(after) if changed else value


def _part(key: str, value: Any, item: Item) -> tuple[bool, Any]:
    if hasattr(value, "__dataclass_fields__"):
        imgui.new_line()
    else:
        imgui.text_disabled(f"{len(value)} points")
    return False, value


WIDGETS: dict[str, Callable[[str, Any, Item], tuple[bool, Any]]] = {
    "number": _number_or_three,
    "whole": _whole,
    "flag": _flag,
    "choice": _of_choices,
    "text": _text,
    "triple": _three,
    "pair": _pair,
    "counts": _counts,
    "color": _color,
    "colors": _colors,
    "turn": _turn,
    "shape": _shape,
    "solver": _solver,
    "part": _part,
}

ADDABLE = {
    "emitters": ("sphere", "box", "cylinder", "capsule"),
    "obstacles": ("sphere", "box", "cylinder", "capsule", "knot"),
    "forces": ("wind", "vortex", "attractor"),
    "lights": ("point light", "sun"),
}
TITLES = {"emitters": "sources"}  # of the groups, where people call them otherwise


def _called(thing: Any) -> str:
    """What an object is called that has no name."""
    shape = getattr(thing, "shape", None)
    if shape is None:
        names = {"Light": "sun", "PointLight": "point light", "ForceExpression": "formula"}
        return names.get(type(thing).__name__, type(thing).__name__.lower())
    role = "source" if isinstance(thing, Emitter) else "obstacle"
    return f"{type(shape).__name__.lower()} {role}"


class MeshForm:
    """A row in which a mesh file is named, typed or by the system's dialog."""

    GROUPS = ("emitters", "obstacles")

    def __init__(self, studio: Studio) -> None:
        self.studio = studio
        self._group: str | None = None  # what it is for, while it is open
        self._file = ""
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
        self.studio._row(f"mesh, {TITLES.get(group, group)}")
        entered, self._file = imgui.input_text_with_hint(
            "##mesh", ", ".join(MESH_SUFFIXES), self._file, imgui.InputTextFlags_.enter_returns_true
        )
        buttons = [("Browse ...", self._browse, False)] if has_file_dialog() else []
        self.studio._buttons(*buttons, ("Add mesh", self._add, False), ("Cancel", self._close, False))
        if entered:
            self._add()

    def _add(self) -> None:
        name = self._file.strip()
        if not name:
            self.studio.player.say("name a mesh file first")
        elif self._group is not None and self.studio.add_mesh(self._group, FilePath(name).expanduser()):
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
            self._file = chosen[0] if chosen else self._file


class Move:
    """A drag that moves an object: in the plane through where it was grabbed, facing the viewer; with shift
    nearer and away. In 2D it stays in the slice."""

    def __init__(self, studio: Studio, path: Path, point: Floats) -> None:
        self.studio, self.path, self.point = studio, path, point

    def move(self, x: float, y: float, dx: float, dy: float) -> None:
        """Take it along with the pointer."""
        studio, scene = self.studio, self.studio.scene
        try:
            thing = value_at(scene, self.path)
        except GpufluidError:
            return  # the scene itself took it away
        name = pick.anchor_name(thing)
        assert name is not None  # it was hit
        fluid = scene.fluids[int(self.path[1])] if self.path[0] == "fluids" else scene.fluid
        flat = fluid.grid.dimensions == 2
        forward = np.array([0.0, 0.0, 1.0]) if flat else studio.player.forward
        handle = studio.player.window.handle
        shift = any(
            glfw.get_key(handle, key) == glfw.PRESS for key in (glfw.KEY_LEFT_SHIFT, glfw.KEY_RIGHT_SHIFT)
        )
        if shift and not flat:
            eye = np.array(scene.camera.eye)
            depth = float((self.point - eye) @ forward)
            metres = 2.0 * depth * np.tan(np.radians(scene.camera.fov) / 2.0) / studio.player.height
            by = -dy * metres * forward
        else:
            now = studio.player.ray(x, y).meets(self.point, forward)
            before = studio.player.ray(x - dx, y - dy).meets(self.point, forward)
            if now is None or before is None:
                return
            by = now - before
        self.point = self.point + by
        moved = np.array(pick.anchor(thing)) + by
        digits = FINE - int(np.floor(np.log10(max(fluid.grid.size))))
        studio.change((*self.path, name), tuple(round(v, digits) + 0.0 for v in moved.tolist()))

    def release(self) -> None:
        """The next drag is undone by itself."""
        self.studio.player.history.seal()
