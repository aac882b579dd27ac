"""Rows of the studio in which a file is named: typed, pasted, or chosen in the system's dialog."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.request import url2pathname

from gpufluid.app.studio.rows import Rows
from gpufluid.app.studio.ui import WRONG, file_dialogs, has_file_dialog, imgui

FIRST = 2  # endings that an empty field names
BROWSE = "..."


class FileField:
    """A row for the name of a file, which tells below it what is wrong with that, until another is entered.

    what: such files, in words. suffixes: how their names may end. text: what stands in it. wrong: why that
    cannot be; "" for nothing.
    """

    def __init__(self, rows: Rows, what: str, suffixes: tuple[str, ...]) -> None:
        self.rows, self.what, self.suffixes = rows, what, suffixes
        self.text = self.wrong = ""
        self._shown: str | None = None  # what the scene had there, as the text was taken from it
        self._dialog: Any = None

    def draw(self, label: str, meaning: str = "", shown: str | None = None) -> str:
        """The row; returns the name that was just entered, or chosen in the dialog, or "".

        shown: the file that the scene names there now; left otherwise, the field enters what was typed.
        """
        if shown is not None and shown != self._shown:
            self.text = self._shown = shown
            self.wrong = ""
        chosen = self._take_dialog()
        self.rows.begin(label, meaning=meaning)
        style = imgui.get_style()
        has_dialog = has_file_dialog()
        if has_dialog:
            width = imgui.calc_text_size(BROWSE).x + 2.0 * style.frame_padding.x + style.item_spacing.x
            imgui.set_next_item_width(-width)
        hint = " ".join(self.suffixes[:FIRST]) + (" ..." if len(self.suffixes) > FIRST else "")
        flags = imgui.InputTextFlags_.enter_returns_true if shown is None else 0
        entered, self.text = imgui.input_text_with_hint(f"##{label}", hint, self.text, flags)
        if shown is not None:
            # escape puts back what the scene has
            entered = imgui.is_item_deactivated_after_edit() and (self.text != shown or self.wrong != "")
        if not self.wrong:  # which it would lie over
            self.rows.tip(self.text or meaning)
        if has_dialog:
            imgui.same_line()
            imgui.begin_disabled(self._dialog is not None)  # which would be waited for
            if imgui.button(BROWSE):
                patterns = " ".join(f"*{suffix}" for suffix in self.suffixes)
                self._dialog = file_dialogs.open_file("Choose a file", ".", [self.what, patterns])
            imgui.end_disabled()
            self.rows.tip("Choose a file in the system's dialog")
        if self.wrong:
            imgui.push_style_color(imgui.Col_.text, imgui.ImVec4(*WRONG))
            imgui.text_wrapped(self.wrong)
            imgui.pop_style_color()
        return chosen or (self.name if entered else "")

    @property
    def name(self) -> str:
        """What stands in it, without what a file manager or a shell may have put round it."""
        text = self.text.strip().strip("\"'")
        return url2pathname(text.removeprefix("file://")) if text.startswith("file://") else text

    def close_dialog(self) -> None:
        """Close the dialog, if it is open: merely let go of, it is waited for until the user closes it."""
        if self._dialog is not None:
            self._dialog.kill()
            self._dialog = None

    def _take_dialog(self) -> str:
        """The file chosen in the dialog, once that is closed; the flow runs on meanwhile."""
        if self._dialog is None or not self._dialog.ready(0):
            return ""
        chosen, self._dialog = self._dialog.result(), None
        self.text = chosen[0] if chosen else self.text
        return chosen[0] if chosen else ""


def found(name: str, folder: Path) -> Path:
    """The file called `name`: in the `folder` of the scene, or else where the program runs; there or not."""
    try:
        file = Path(name).expanduser()
        inside = folder / file  # which is the file itself where that is absolute
        return inside if inside.is_file() or not file.is_file() else file
    except (OSError, RuntimeError):  # a name that is too long; the home of somebody unknown
        return folder / name
