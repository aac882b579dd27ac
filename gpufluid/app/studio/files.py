"""The studio's File: where the scene is saved, when that asks first, and what is recorded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from warnings import WarningMessage

from gpufluid.app.studio.editor import Editor
from gpufluid.app.studio.rows import Rows, Section
from gpufluid.app.studio.ui import imgui
from gpufluid.common.errors import GpufluidError
from gpufluid.scene.saving import is_script, save_description


class Files(Section):
    """The section of the file. name: of the one that the scene is saved in."""

    def __init__(self, editor: Editor, rows: Rows) -> None:
        super().__init__(editor, rows)
        file, player = editor.player.maker.file, editor.player
        self.name = str(file) if file and file.suffix == ".toml" else f"{player.name}.toml"
        self._as_pictures = False

    @property
    def folder(self) -> Path:
        """Where the scene is saved, and below which lies what its file names."""
        return Path(self.name).absolute().parent

    def words_of(self, thing: Any, name: str) -> dict[str, Any]:
        """What the description says of field `name` of `thing`, as of a file, if the value does not tell."""
        said, scene = self.editor.scene.provenance.said(thing, name), self.editor.scene
        if said is None or said.made is not getattr(thing, name) or scene.is_held(thing, name):
            return {}
        return dict(said.words) if isinstance(said.words, dict) else {}

    def doubt(self, file: Path, named: bool, warned: Sequence[WarningMessage]) -> None:
        """Say what is to be said of a file that was taken. named: whether a saved scene can name it."""
        if warned:
            self.editor.say(str(warned[-1].message))
        if not named:
            self.editor.say(f"{file} lies outside {self.folder}: copy it there, or the scene cannot be saved")

    def draw(self) -> None:
        """The name, and what is done with it."""
        self.rows.begin("scene", meaning="the file that it is saved in (.toml)")
        _, self.name = imgui.input_text("##file", self.name)
        again = self.editor.player.twice.stands(self._replacing)
        save = None if is_script(self.editor.scene) else self.save
        self.rows.buttons(("Replace it" if again else "Save scene", save, again))
        _, self._as_pictures = imgui.checkbox("record numbered pictures, not a film", self._as_pictures)
        self.rows.tip("Record, and the key r, then write a folder of PNG files")

    @property
    def _replacing(self) -> str:
        """What a save would replace: another file, or what others did to its own; "" for nothing."""
        maker, path = self.editor.player.maker, Path(self.name)
        own = maker.file is not None and path.absolute() == maker.file.absolute()
        if not path.is_file() or (own and not maker.changed_elsewhere):
            return ""
        return f"{path} {'has changed' if own else 'exists'}: save again to replace it"

    def save(self) -> None:
        """Save the scene to this file; asks before it replaces another file, or changes made elsewhere.

        What --set changed is saved; what --cells asks for is not, unless Rebuild has made it the scene's.
        """
        player, path = self.editor.player, Path(self.name)
        if self._replacing and not player.twice.agreed(self._replacing):
            return
        maker, passing = player.maker, player.maker.passing(player.history.cells)
        try:
            save_description(self.editor.scene, path, overwrite=True, cells_as_read=passing)
        except GpufluidError as error:
            player.say(str(error))
            return
        told = [f"wrote {path.absolute()}"]
        told += ["with what --set has changed"] if maker.changes else []
        told += ["without the cells of --cells"] if passing else []
        player.saved_as(path)
        player.say(", ".join(told))

    def record(self) -> None:
        """Start or stop recording a film, or a folder of pictures."""
        self.editor.player.record("" if self._as_pictures else ".mp4")
