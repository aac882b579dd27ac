"""What the studio draws over the picture: outlines, the list of keys, and messages."""

from __future__ import annotations

import numpy as np

from gpufluid.app import pick
from gpufluid.app.controls import KEYS
from gpufluid.app.studio.editor import Editor
from gpufluid.app.studio.ui import ACCENT, Ui, imgui
from gpufluid.common.errors import counted
from gpufluid.common.vectors import Floats
from gpufluid.description import view
from gpufluid.render.camera import view_of

HELP_WIDTH = 430.0  # of the list of keys
OUTLINE, FAINT = (*ACCENT, 0.95), (0.75, 0.8, 0.86, 0.45)


class Overlay:
    """Draws over the picture of an editor's player."""

    def __init__(self, ui: Ui, editor: Editor) -> None:
        self.ui, self.editor = ui, editor
        self._help_room = 0.0, 0.0  # width and height there are for the list of keys
        self._help_share = 1.0  # of the usual size of letters, at which it fits in there

    def _corner(self) -> tuple[float, float, float, float]:
        """Left, top, width and height of the picture, units of the window."""
        stage = self.editor.player.stage
        left, bottom, width, height = stage.picture_area
        top = stage.size[1] - bottom - height
        d = self.ui.density
        return left / d, top / d, width / d, height / d

    def draw_picture(self) -> None:
        """The picture itself, with what lies over it in its texture."""
        x, y, width, height = self._corner()
        imgui.get_background_draw_list().add_image(
            imgui.ImTextureRef(self.editor.player.stage.renderer.shown_texture.glo),
            imgui.ImVec2(x, y),
            imgui.ImVec2(x + width, y + height),
            imgui.ImVec2(0, 1),
            imgui.ImVec2(1, 0),
        )

    def draw_outlines(self, everything: bool) -> None:
        """Lines round what is selected, and, for `everything`, faint ones round what else cannot be seen."""
        scene, brush = self.editor.scene, self.editor.player.controls.brush
        x, y, width, height = self._corner()
        draw = imgui.get_background_draw_list()
        clip = view_of(self.editor.player.stage.camera, width / height).clip.astype(np.float64)
        draw.push_clip_rect(imgui.ImVec2(x, y), imgui.ImVec2(x + width, y + height))
        near = scene.camera.near

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

        for path, thing, fluid in self.editor.objects():
            chosen = path == self.editor.selected
            if chosen or (everything and path[-2] != "obstacles"):
                for points in pick.outline(thing, fluid):
                    line(points, OUTLINE if chosen else FAINT, 1.8 if chosen else 1.0)
        for fluid in scene.fluids if everything else ():
            for points in pick.box_lines(fluid):
                line(points, (*FAINT[:3], 0.24), 1.0)
        if brush is not None:
            for points in pick.outline(view.PointLight(tuple(brush.point)), scene.fluid):
                line(points, OUTLINE, 1.5)
        draw.pop_clip_rect()

    def draw_help(self) -> None:
        """The list of keys."""
        x, y, width, height = self._corner()
        if width < HELP_WIDTH * self.ui.scale or height < self.ui.size[1]:  # over the panel, then
            x, y, (width, height) = 0.0, 0.0, self.ui.size
        imgui.set_next_window_pos(
            imgui.ImVec2(x + 0.5 * width, y + 0.5 * height), pivot=imgui.ImVec2(0.5, 0.5)
        )
        room = max(height - 8.0 * self.ui.scale, 1.0)
        if (width, room) != self._help_room:
            self._help_room, self._help_share = (width, room), 1.0
        imgui.push_font(None, imgui.get_style().font_size_base * self._help_share)
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
        # its window's would be cut where the screen ends. Letters only shrink while the room stays as it is:
        # lines wrap, the height does not go with their size, and they would be one size and another in turns
        high = imgui.get_cursor_pos_y() + imgui.get_style().window_padding.y
        if high > room:
            self._help_share *= min(room / high, 0.98)
        imgui.end()
        imgui.pop_font()

    def draw_message(self) -> None:
        """What was told last, and how long the film is."""
        player = self.editor.player
        x, y, width, height = self._corner()
        lines = []
        if player.recording.on:
            lines.append((f"filmed: {counted(player.recording.frames, 'frame')}", ACCENT))
        if player.told.stands:
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
        if not imgui.is_window_appearing():  # then it is measured, and not seen
            low, size = imgui.get_window_pos(), imgui.get_window_size()
            high = imgui.ImVec2(low.x + size.x, low.y + size.y)
            player.told.seen(imgui.is_mouse_hovering_rect(low, high, False))
        imgui.end()
