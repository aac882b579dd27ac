"""The studio's File: where the scene is saved, when that asks first, and what is recorded."""

from __future__ import annotations

from pathlib import Path

from gpufluid.app.studio_editor import Editor
from gpufluid.app.studio_rows import Rows, Section
from gpufluid.app.studio_ui import imgui
from gpufluid.errors import GpufluidError
from gpufluid.scene_saving import is_script, save_description


class Files(Section):
    """The section of the file. name: of the one that the scene is saved in."""

    def __init__(self, editor: Editor, rows: Rows) -> None:
        super().__init__(editor, rows)
        player = editor.player
        self.name = str(player.watch if player.watch and player.watch.suffix == ".toml" else "")
        self.name = self.name or f"{player.name}.toml"
        self._as_pictures = False

    @property
    def folder(self) -> Path:
        """Where the scene is saved, and below which lies what its file names."""
        return Path(self.name).absolute().parent

    def draw(self) -> None:
        """The name, and what is done with it."""
        self.rows.begin("scene")
        _, self.name = imgui.input_text("##file", self.name)
        again = self.editor.player.twice.stands(self._replacing)
        save = None if is_script(self.editor.scene) else self.save
        self.rows.buttons(("Replace it" if again else "Save scene", save, again))
        _, self._as_pictures = imgui.checkbox("record numbered pictures, not a film", self._as_pictures)

    @property
    def _replacing(self) -> str:
        """What a save would replace: another file, or what others did to its own; "" for nothing."""
        player, path = self.editor.player, Path(self.name)
        own = player.watch is not None and path.absolute() == player.watch.absolute()
        if not path.is_file() or (own and not player.changed_elsewhere):
            return ""
        return f"{path} {'has changed' if own else 'exists'}: save again to replace it"

    def save(self) -> None:
        """Save the scene to this file; asks before it replaces another file, or changes made elsewhere."""
        player, path = self.editor.player, Path(self.name)
        if self._replacing and not player.twice.agreed(self._replacing):
            return
        try:
            save_description(self.editor.scene, path, overwrite=True)
        except GpufluidError as error:
            player.say(str(error))
            return
        player.saved_as(path)
        player.say(f"wrote {path.absolute()}")

    def record(self) -> None:
        """Start or stop recording a film, or a folder of pictures."""
        self.editor.player.record("" if self._as_pictures else ".mp4")
