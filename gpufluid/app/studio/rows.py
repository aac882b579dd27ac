"""Rows of the studio's panel: names, buttons and the widgets of fields."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gpufluid.app.edits import ScenePath, value_at
from gpufluid.app.studio.editor import Editor
from gpufluid.app.studio.fields import (
    FORMS,
    Item,
    Range,
    degrees_to_turn,
    items_of,
    other_form,
    plain,
    turn_to_degrees,
)
from gpufluid.app.studio.ui import ACCENT, HELD, Ui, imgui
from gpufluid.common.errors import counted
from gpufluid.description.settings import SOLVERS

LABEL = 140.0  # from where a row's name stands to its slider
TIP = 330.0  # width of a tooltip
DOUBLE, DOUBLE_FRAMES = 0.35, 3  # seconds, or frames, between the presses of a double click, at most
SMALL = 1e-4  # low ends of sliders from which on numbers are shown by their exponents


class Rows:
    """Draws rows, and lets an editor change what stands in them."""

    def __init__(self, ui: Ui, editor: Editor) -> None:
        self.ui, self.editor = ui, editor
        self.naming = NameField(editor)
        self._unfolded: set[ScenePath] = set()
        self._unfolding: ScenePath | None = None  # in the next frame
        self._shown: ScenePath | None = None  # of what was chosen, the last that was scrolled to

    def begin(self, label: str, inset: float = 0.0, meaning: str = "") -> None:
        """The name of a row; what follows fills the rest. inset: from the edge of the window to the rows."""
        imgui.align_text_to_frame_padding()
        imgui.text(label)
        self.tip(f"{label}: {meaning}" if meaning else label)
        imgui.same_line(LABEL * self.ui.scale + inset)
        imgui.set_next_item_width(-1)

    def tip(self, text: str) -> None:
        """Tell `text` while the pointer rests on what was drawn last, and holds nothing."""
        rests = imgui.is_item_hovered(imgui.HoveredFlags_.for_tooltip)
        if text and rests and not imgui.is_any_item_active() and imgui.begin_tooltip():
            imgui.push_text_wrap_pos(TIP * self.ui.scale)
            imgui.text(text)
            imgui.pop_text_wrap_pos()
            imgui.end_tooltip()

    def buttons(self, *each: tuple[str, Callable[[], object] | None, bool]) -> None:
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
            self.tip((inspect.getdoc(do) or "").partition("\n\n")[0] if inspect.isroutine(do) else "")
            if on:
                imgui.pop_style_color()

    def number(
        self, label: str, value: float, spread: Range, told: str, inset: float = 0.0
    ) -> tuple[bool, float]:
        """A row for a number that is no field; whether it was changed, and to what. told: its meaning."""
        self.begin(label, inset, told)
        changed, value = _number(f"##{label}", value, spread)
        self.tip(told)
        return changed, value

    def box(self) -> None:
        """Where there are several boxes, which one is meant."""
        editor = self.editor
        boxes = editor.scene.box_names
        if len(boxes) < 2:
            return
        self.begin("box")
        if imgui.begin_combo("##box", boxes[min(editor.box, len(boxes) - 1)]):
            for n, name in enumerate(boxes):
                if imgui.selectable(name, n == editor.box)[0]:
                    editor.box = n
            imgui.end_combo()

    def unfolds(self, path: ScenePath, name: str, where: str = "", chosen: bool = False) -> bool:
        """A row for the name of what lies at `path`, under which more may be; whether that is shown.

        The name unfolds it, and the arrow before it folds it too: the second press of a double click finds
        the name where it was. chosen: a click chooses what lies there.
        """
        editor, key = self.editor, "-".join(map(str, path))
        if self.naming.draw(path, name):
            if path in self._unfolded:
                imgui.tree_push(key)
            return path in self._unfolded
        if path == self._unfolding:
            self._unfolding = None
            imgui.set_next_item_open(True)
        here = chosen and path == editor.selected
        flags = imgui.TreeNodeFlags_.open_on_arrow | (imgui.TreeNodeFlags_.selected if here else 0)
        imgui.push_style_color(imgui.Col_.header, imgui.ImVec4(*ACCENT, 0.45))
        unfolded: bool = imgui.tree_node_ex(f"{name}{where}###{key}", flags)
        imgui.pop_style_color()
        if imgui.is_item_clicked() and not imgui.is_item_toggled_open():
            self._unfolding = path
            if chosen:
                editor.select(path)
                self._shown = path
        if here and path != self._shown:
            self._shown = path
            imgui.set_scroll_here_y()  # a copy stands below the fields of the first
        self.naming.asked(path)
        self.tip("double click or F2: rename" if chosen else "double click: rename")
        (self._unfolded.add if unfolded else self._unfolded.discard)(path)
        return unfolded

    def fields(self, path: ScenePath, thing: Any, items: tuple[Item, ...] | None = None) -> None:
        """A row for every field of a dataclass object, or for those of `items`."""
        kind: Any = type(thing)
        for item in items_of(kind) if items is None else items:
            value = getattr(thing, item.name)
            changed, after = self.field(item, value)
            if changed:
                self.editor.change((*path, item.name), after)
                value = after
            part = item.kind in ("solver", "part", "shape")
            inner = value_at(self.editor.scene, (*path, item.name)) if part else None
            if hasattr(inner, "__dataclass_fields__"):
                imgui.indent()
                imgui.push_id(item.name)
                self.fields((*path, item.name), inner)
                imgui.pop_id()
                imgui.unindent()

    def field(self, item: Item, value: Any) -> tuple[bool, Any]:
        """A row for one field; whether it was changed, and to what."""
        unit = item.range.unit if item.kind in ("triple", "pair", "color", "turn") else ""
        self.begin(f"{item.label}, {unit}" if unit else item.label, meaning=item.meaning)
        key = f"##{item.name}"
        if item.optional:
            changed, on = imgui.checkbox(f"{key} on", value is not None)
            self.tip(item.meaning)
            if changed:
                return True, item.default if on else None
            imgui.same_line()
            if value is None:
                imgui.text_disabled(item.none)
                return False, None
            imgui.set_next_item_width(-1)
        changed, value = WIDGETS[item.kind](key, value, item)
        self.tip(item.meaning)
        return changed, value


class NameField:
    """A field in the place of a name, in which another is typed: enter keeps it, and escape the one before.

    Anywhere else a click keeps it as well. unseen: whether it was opened, and cannot be typed in yet.
    """

    def __init__(self, editor: Editor) -> None:
        self.editor = editor
        self.path: ScenePath | None = None  # whose name it is, while it is open
        self._text = ""
        # which name last, when, and in which frame
        self._pressed: tuple[ScenePath, float, int] = ((), 0.0, 0)
        self.unseen = False
        self._drawn = False  # in this frame

    def open(self, path: ScenePath | None) -> None:
        """Ask for another name of what lies at `path`; None: of nothing."""
        if path is not None and self.editor.may_rename():
            self.path, self._drawn, self.unseen = path, True, True
            self._text = self.editor.name_at(path) or ""

    def close(self) -> None:
        """Leave the name as it is."""
        self.path = None

    def settle(self) -> None:
        """After a frame: close it where the name is not shown any more."""
        if not self._drawn:
            self.close()
        self._drawn = False

    def draw(self, path: ScenePath, label: str) -> bool:
        """In the place of `label`, if it is open for what lies at `path`; whether it is."""
        if path != self.path:
            return False
        self._drawn = True
        if self.unseen:
            imgui.set_keyboard_focus_here()
        imgui.set_next_item_width(-1)
        flags = imgui.InputTextFlags_.enter_returns_true | imgui.InputTextFlags_.auto_select_all
        padding = imgui.ImVec2(imgui.get_style().frame_padding.x, 0.0)  # as high as what it replaces
        imgui.push_style_var(imgui.StyleVar_.frame_padding, padding)
        entered, self._text = imgui.input_text_with_hint("##name", label, self._text, flags)
        imgui.pop_style_var()
        if self.unseen and not imgui.is_item_visible():
            imgui.set_scroll_here_y()
        self.unseen = self.unseen and not imgui.is_item_active()
        if entered:
            self.unseen = not self.editor.rename(path, self._text)  # to be typed again
            if not self.unseen:
                self.close()
        elif imgui.is_item_deactivated():
            if self._text.strip() and not imgui.is_key_pressed(imgui.Key.escape):
                self.editor.rename(path, self._text)
            self.close()
        return True

    def asked(self, path: ScenePath) -> None:
        """Open it where what was drawn last, the name of what lies at `path`, is double-clicked."""
        if imgui.is_item_clicked():
            pressed, (last, when, frame) = imgui.get_time(), self._pressed
            self._pressed = path, pressed, imgui.get_frame_count()
            if path == last and (pressed - when < DOUBLE or self._pressed[2] - frame <= DOUBLE_FRAMES):
                self.open(path)


class Section(ABC):
    """A part of the panel."""

    def __init__(self, editor: Editor, rows: Rows) -> None:
        self.editor, self.rows = editor, rows

    @abstractmethod
    def draw(self) -> None:
        """Draw its rows."""


def choice(key: str, value: Any, choices: Sequence[Any], none: str = "none") -> tuple[bool, Any]:
    """A menu of `choices`, in which None is called `none`; whether one was made, and which."""
    chosen: tuple[bool, Any] = (False, value)
    if imgui.begin_combo(key, _word(value, none)):
        for each in choices:
            if imgui.selectable(_word(each, none), each == value)[0]:
                chosen = (True, each)
        imgui.end_combo()
    return chosen


def _number(key: str, value: float, spread: Range) -> tuple[bool, float]:
    flags = imgui.SliderFlags_.no_round_to_format | (imgui.SliderFlags_.logarithmic if spread.log else 0)
    digits = 5 if spread.log and spread.high <= 0.1 else 3 if spread.high <= 10.0 else 1
    form = ".1e" if spread.log and 0.0 < spread.low <= SMALL else f".{digits}f"
    text = f"%{form} {spread.unit}".rstrip()
    changed, after = imgui.slider_float(key, float(value), spread.low, spread.high, text, flags)
    return changed, plain(value, after)


def _number_or_three(key: str, value: Any, item: Item) -> tuple[bool, Any]:
    if isinstance(value, tuple | list | np.ndarray):
        return _several(key, value, item)
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


def _several(key: str, value: Any, item: Item) -> tuple[bool, Any]:
    """Two numbers, or three."""
    speed = (item.range.high - item.range.low) / 400.0
    drag = imgui.drag_float3 if len(value) == 3 else imgui.drag_float2
    changed, after = drag(key, [float(v) for v in value], speed, format="%.3g")
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
    return choice(key, value, item.choices, item.none)


def _word(value: Any, none: str) -> str:
    return none if value is None else value if isinstance(value, str) else f"{value}"


def _text(key: str, value: str, item: Item) -> tuple[bool, str]:
    changed, after = imgui.input_text(key, value, imgui.InputTextFlags_.enter_returns_true)
    return changed, after


def _kind(key: str, value: Any, kinds: Sequence[Any]) -> Any:
    """A menu of classes; the one that was chosen, or None."""
    changed, name = choice(key, type(value).__name__, [kind.__name__ for kind in kinds])
    return next(kind for kind in kinds if kind.__name__ == name) if changed else None


def _shape(key: str, value: Any, item: Item) -> tuple[bool, Any]:
    kind = _kind(key, value, FORMS)
    return kind is not None, value if kind is None else other_form(value, kind)


def _solver(key: str, value: Any, item: Item) -> tuple[bool, Any]:
    kind = _kind(key, value, SOLVERS)
    return kind is not None, value if kind is None else kind()


def _counts(key: str, value: Any, item: Item) -> tuple[bool, Any]:
    changed, after = imgui.input_int3(key, list(value))
    return changed, tuple(after) if changed else value


def _part(key: str, value: Any, item: Item) -> tuple[bool, Any]:
    if hasattr(value, "__dataclass_fields__"):
        imgui.new_line()
    else:
        imgui.text_disabled(counted(len(value), "point"))
    return False, value


WIDGETS: dict[str, Callable[[str, Any, Item], tuple[bool, Any]]] = {
    "number": _number_or_three,
    "whole": _whole,
    "flag": _flag,
    "choice": _of_choices,
    "text": _text,
    "triple": _several,
    "pair": _several,
    "counts": _counts,
    "color": _color,
    "colors": _colors,
    "turn": _turn,
    "shape": _shape,
    "solver": _solver,
    "part": _part,
}
