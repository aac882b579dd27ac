"""Dear ImGui in a window of glfw's: its context, its looks, and what the user does.

Events are handed over by whoever has glfw's callbacks, and not by ImGui's own glfw backend: that is linked to
a libglfw of its own, which knows no window that the glfw package has opened.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import glfw

from gpufluid.common.errors import MissingDependencyError

__all__ = ["ACCENT", "HELD", "WRONG", "Ui", "at_every_key", "file_dialogs", "has_file_dialog", "imgui"]


@contextlib.contextmanager
def _bound_late() -> Iterator[None]:
    """Libraries that the block loads look their functions up when they call them, not all at once (Linux).

    ImGui's is linked to the libglfw that is loaded already, the glfw package's, and to functions of X11 in
    it, which its build for Wayland lacks. Nothing here calls them.
    """
    if not sys.platform.startswith("linux"):
        yield
        return
    before = sys.getdlopenflags()
    sys.setdlopenflags((before & ~os.RTLD_NOW) | os.RTLD_LAZY)
    try:
        yield
    finally:
        sys.setdlopenflags(before)


try:
    with _bound_late():
        import imgui_bundle
    from imgui_bundle import imgui
    from imgui_bundle import portable_file_dialogs as file_dialogs
except ImportError as error:
    panel = (
        "the studio's panel" if sys.version_info >= (3, 11) else "the studio's panel, from Python 3.11 on,"
    )
    raise MissingDependencyError("imgui-bundle", panel, error=error) from None

FONT = "assets/fonts/Roboto/Roboto-Regular.ttf", "assets/fonts/DroidSans.ttf"  # in imgui_bundle; or none
FONT_SIZE = 15.0
LONGEST = 0.25  # seconds between frames, as far as the panel is concerned

ACCENT = (0.93, 0.47, 0.20)
HELD = (0.64, 0.29, 0.09)  # the same behind text
WRONG = (1.0, 0.55, 0.45, 1.0)  # text that tells what is wrong
COLORS = {
    "window_bg": (0.075, 0.08, 0.09, 1.0),
    "popup_bg": (0.10, 0.105, 0.118, 0.98),
    "child_bg": (0.05, 0.054, 0.06, 1.0),
    "frame_bg": (0.145, 0.152, 0.168, 1.0),
    "frame_bg_hovered": (0.19, 0.2, 0.22, 1.0),
    "frame_bg_active": (0.22, 0.23, 0.25, 1.0),
    "button": (0.17, 0.178, 0.196, 1.0),
    "button_hovered": (0.25, 0.26, 0.285, 1.0),
    "button_active": (*HELD, 1.0),
    "header": (0.125, 0.132, 0.147, 1.0),
    "header_hovered": (0.19, 0.2, 0.22, 1.0),
    "header_active": (0.24, 0.25, 0.275, 1.0),
    "slider_grab": (0.375, 0.39, 0.42, 1.0),  # the number stands on it
    "slider_grab_active": (*HELD, 1.0),
    "check_mark": (*ACCENT, 1.0),
    "text": (0.88, 0.89, 0.9, 1.0),
    "text_disabled": (0.53, 0.55, 0.58, 1.0),
    "separator": (0.2, 0.21, 0.23, 1.0),
    "border": (0.2, 0.21, 0.23, 0.6),
}
CURSORS = {
    imgui.MouseCursor_.text_input: glfw.IBEAM_CURSOR,
    imgui.MouseCursor_.resize_ew: glfw.HRESIZE_CURSOR,
    imgui.MouseCursor_.resize_ns: glfw.VRESIZE_CURSOR,
    imgui.MouseCursor_.hand: glfw.HAND_CURSOR,
}


# glfw's flags of keys that are held with others, ImGui's names of these, how glfw's names of the keys end. On
# macOS ImGui takes Command for Ctrl.
MODIFIERS = (
    (glfw.MOD_CONTROL, imgui.Key.mod_ctrl, "CONTROL"),
    (glfw.MOD_SHIFT, imgui.Key.mod_shift, "SHIFT"),
    (glfw.MOD_ALT, imgui.Key.mod_alt, "ALT"),
    (glfw.MOD_SUPER, imgui.Key.mod_super, "SUPER"),
)
DIALOGS = ("zenity", "matedialog", "qarma", "kdialog")  # programs that show one, on Linux


def has_file_dialog() -> bool:
    """Whether the system can show one."""
    return not sys.platform.startswith("linux") or any(map(shutil.which, DIALOGS))


def _keep_gl() -> None:
    """Keep libGL open: ImGui closes it in the end, and the next window of the process would find no GLX.

    Seen with Mesa 22.3 and libglvnd 1.6.
    """
    if sys.platform.startswith("linux"):
        with contextlib.suppress(OSError):
            ctypes.CDLL("libGL.so.1")  # ctypes never closes what it has opened


def _clipboard(context: Any) -> str:
    """The text on the system's clipboard; "" where there is none."""
    text = glfw.get_clipboard_string(cast(Any, None))
    return text.decode(errors="replace") if isinstance(text, bytes) else text or ""


def _to_clipboard(context: Any, text: str) -> None:
    """Put `text` on the system's clipboard."""
    glfw.set_clipboard_string(cast(Any, None), text)


def _keys() -> dict[int, Any]:
    """glfw's keys that a text field and a list need, as ImGui names them."""
    key = imgui.Key
    named = {
        "TAB": key.tab,
        "LEFT": key.left_arrow,
        "RIGHT": key.right_arrow,
        "UP": key.up_arrow,
        "DOWN": key.down_arrow,
        "PAGE_UP": key.page_up,
        "PAGE_DOWN": key.page_down,
        "HOME": key.home,
        "END": key.end,
        "INSERT": key.insert,
        "DELETE": key.delete,
        "BACKSPACE": key.backspace,
        "SPACE": key.space,
        "ENTER": key.enter,
        "KP_ENTER": key.keypad_enter,
        "ESCAPE": key.escape,
    }
    named |= {letter.upper(): getattr(key, letter) for letter in "acvxyz"}
    return {getattr(glfw, f"KEY_{name}"): value for name, value in named.items()}


@contextlib.contextmanager
def at_every_key() -> Iterator[None]:
    """Number fields give what is typed at every key; from ImGui 1.92.9 on they do when they are left."""
    flag = getattr(imgui.ItemFlags_, "live_edit_on_input_scalar", None)
    if flag is None:
        yield
        return
    imgui.push_item_flag(flag, True)
    yield
    imgui.pop_item_flag()


class Ui:
    """An ImGui context that draws over the window's picture. Nothing is remembered on disk.

    size: of the window, in its units. density: pixels per unit of it, 1, or 2 on a Mac's screen. scale: units
    of it per unit of the design.
    """

    def __init__(self, handle: Any) -> None:
        self.handle = handle
        self.context = imgui.create_context()
        self.io = imgui.get_io()
        self.io.set_ini_filename("")
        self.io.set_log_filename("")
        _keep_gl()
        platform = imgui.get_platform_io()  # by itself ImGui knows no clipboard but its own here
        platform.platform_get_clipboard_text_fn = _clipboard
        platform.platform_set_clipboard_text_fn = _to_clipboard
        imgui.backends.opengl3_init("#version 330")
        folder = Path(imgui_bundle.__file__).parent
        for name in FONT:
            if (folder / name).is_file():
                self.io.fonts.add_font_from_file_ttf(str(folder / name), FONT_SIZE)
                break
        else:
            imgui.get_style().font_size_base = FONT_SIZE
        self._keys = _keys()
        self._cursors = {kind: glfw.create_standard_cursor(shape) for kind, shape in CURSORS.items()}
        self._cursor: Any = None
        self._last = time.perf_counter()
        self.scale = 1.0
        self._dress()
        self._fit()

    def _dress(self) -> None:
        """Colours and sizes."""
        style = imgui.get_style()
        imgui.style_colors_dark(style)
        style.window_padding, style.frame_padding = imgui.ImVec2(10, 9), imgui.ImVec2(7, 3)
        style.item_spacing, style.item_inner_spacing = imgui.ImVec2(6, 5), imgui.ImVec2(5, 4)
        style.frame_rounding = style.grab_rounding = style.popup_rounding = style.child_rounding = 3.0
        style.window_rounding = style.window_border_size = 0.0
        style.scrollbar_size, style.grab_min_size, style.indent_spacing = 10.0, 8.0, 12.0
        style.color_button_position = imgui.Dir.left
        for name, color in COLORS.items():
            style.set_color_(getattr(imgui.Col_, name), imgui.ImVec4(*color))

    def _fit(self) -> None:
        """Sizes for the window and the screen that it is on now; asked once a frame, for that takes time."""
        self.size = width, height = glfw.get_window_size(self.handle)
        self.density = glfw.get_framebuffer_size(self.handle)[0] / width if width else 1.0
        self.io.display_size = imgui.ImVec2(max(width, 1), max(height, 1))
        self.io.display_framebuffer_scale = imgui.ImVec2(self.density, self.density)
        # units of the window per unit of the design: over 1 where the system scales nothing by itself
        scale = max((glfw.get_window_content_scale(self.handle)[0] or 1.0) / self.density, 0.5)
        if scale != self.scale:
            style = imgui.get_style()
            style.scale_all_sizes(scale / self.scale)
            style.font_scale_dpi = scale
            self.scale = scale

    # -- a frame -------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Start a frame; what is drawn until `end` appears in it."""
        imgui.set_current_context(self.context)
        self._fit()
        now = time.perf_counter()
        self.io.delta_time = min(max(now - self._last, 1e-4), LONGEST)
        self._last = now
        imgui.backends.opengl3_new_frame()
        imgui.new_frame()

    def end(self) -> None:
        """Draw the frame over what the window's framebuffer holds."""
        imgui.render()
        imgui.backends.opengl3_render_draw_data(imgui.get_draw_data())
        cursor = self._cursors.get(imgui.get_mouse_cursor()) if self.wants_pointer else None
        if cursor is not self._cursor:
            self._cursor = cursor
            glfw.set_cursor(self.handle, cursor)  # type: ignore[arg-type]  # None is the arrow

    @property
    def busy(self) -> bool:
        """Whether a slider or another widget is held."""
        return bool(imgui.is_any_item_active())

    @property
    def has_menu(self) -> bool:
        """Whether a menu is open."""
        any_menu = imgui.PopupFlags_.any_popup_id | imgui.PopupFlags_.any_popup_level
        return bool(imgui.is_popup_open("", any_menu))

    def close_menus(self) -> None:
        """Close those that are open, within a frame; ImGui has a key for it only where keys navigate."""
        if self.has_menu:
            imgui.internal.close_popup_to_level(0, True)

    # -- what the user does --------------------------------------------------------------------------------

    @property
    def wants_pointer(self) -> bool:
        """Whether the pointer is over a panel, a menu, or holds something of them."""
        return bool(self.io.want_capture_mouse)

    @property
    def wants_keys(self) -> bool:
        """Whether keys are text now."""
        return bool(self.io.want_text_input)

    def key(self, key: int, down: bool, mods: int) -> None:
        """A key of glfw's went down or up."""
        for flag, name, side in MODIFIERS:
            # X11 tells what was held before the event: of a Ctrl that goes up, that it is down
            own = key in (getattr(glfw, f"KEY_LEFT_{side}"), getattr(glfw, f"KEY_RIGHT_{side}"))
            self.io.add_key_event(name, down if own else bool(mods & flag))
        if key in self._keys:
            self.io.add_key_event(self._keys[key], down)

    def char(self, code: int) -> None:
        """A letter was typed."""
        self.io.add_input_character(code)

    def pointer(self, x: float, y: float) -> None:
        """The pointer is there now, units of the window."""
        self.io.add_mouse_pos_event(x, y)

    def button(self, button: int, down: bool, mods: int) -> None:
        """A button of the mouse went down or up."""
        for flag, name, _ in MODIFIERS:
            self.io.add_key_event(name, bool(mods & flag))
        if 0 <= button < 5:
            self.io.add_mouse_button_event(button, down)

    def wheel(self, dx: float, dy: float) -> None:
        """The wheel was turned."""
        self.io.add_mouse_wheel_event(dx, dy)

    def release(self) -> None:
        """Release what was made in the GL context."""
        imgui.set_current_context(self.context)
        imgui.backends.opengl3_shutdown()
        imgui.destroy_context(self.context)
        for cursor in self._cursors.values():
            glfw.destroy_cursor(cursor)
