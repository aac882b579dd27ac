"""The studio's hands: what a drag in the picture does there, by the tool that is chosen."""

from __future__ import annotations

from collections.abc import Callable

import glfw
import numpy as np

from gpufluid.app import pick
from gpufluid.app.edits import ScenePath, value_at
from gpufluid.app.hands import Brush, forward_of
from gpufluid.app.studio.editor import Editor
from gpufluid.app.studio.fields import Range, meaning
from gpufluid.app.studio.rows import Rows, Section
from gpufluid.app.studio.ui import imgui
from gpufluid.common.errors import GpufluidError
from gpufluid.common.vectors import Floats
from gpufluid.description.hand import Hand

FINE = 5  # digits of the box's longest side that a drag gives: more are no one's intention
TOOLS = {
    "select": "A drag in the picture moves the object under it, or turns the view",
    "push": "A drag in the picture carries the fluid along",
    "smoke": "A drag in the picture leaves smoke",
}


class Tools(Section):
    """The tools, and what they are set to.

    tool: what a left drag in the picture does, one of TOOLS; with alt it turns, whichever.
    """

    def __init__(self, editor: Editor, rows: Rows) -> None:
        super().__init__(editor, rows)
        self.tool = "select"
        self.reach, self.force, self.amount, self.warmth = 0.06, 1.0, 8.0, 0.5

    def draw(self) -> None:
        """The buttons, and the sliders of the tool that is chosen."""

        def take(tool: str) -> Callable[[], None]:
            def do() -> None:
                self.tool = tool

            do.__doc__ = TOOLS[tool]
            return do

        self.rows.buttons(*((tool.capitalize(), take(tool), tool == self.tool) for tool in TOOLS))
        if self.tool != "select":
            self.reach = self._slider("reach", self.reach, Range(0.01, 0.3, "m", log=True), "reach")
        if self.tool == "push":
            self.force = self._slider("strength", self.force, Range(0.0, 4.0), "push")
        if self.tool == "smoke":
            self.amount = self._slider("amount", self.amount, Range(0.0, 50.0, "1/s"), "density")
            self.warmth = self._slider("temperature", self.warmth, Range(-2.0, 4.0), "temperature")

    def _slider(self, label: str, value: float, spread: Range, field: str) -> float:
        """A slider above what scrolls. field: of a `Hand`, that it stands for."""
        inset = imgui.get_style().window_padding.x
        return float(self.rows.number(label, value, spread, meaning(Hand, field), inset)[1])

    def hand(self) -> Hand:
        """What the chosen tool does."""
        if self.tool == "push":
            return Hand(self.reach, self.force, density=0.0)
        return Hand(self.reach, 0.0, self.amount, temperature=self.warmth or None)

    def grab(self) -> Move | Brush | None:
        """What the left button has got hold of where the pointer is; None: the camera."""
        editor, stage = self.editor, self.editor.player.stage
        if self.tool != "select":
            return Brush(stage, self.hand)
        ray = stage.ray(*stage.pointer)
        found = self.nearest(ray)
        editor.select(None if found is None else found[0])
        return None if found is None else Move(editor, found[0], ray.at(found[1]))

    def nearest(self, ray: pick.Ray) -> tuple[ScenePath, float] | None:
        """The object that `ray` meets first, and how far along."""
        found = [
            (distance, path)
            for path, thing, fluid in self.editor.objects()
            if getattr(thing, "visible", True) and (distance := pick.hit(thing, fluid, ray)) is not None
        ]
        if not found:
            return None
        distance, path = min(found, key=lambda each: each[0])
        return path, distance


class Move:
    """A drag that moves an object: in the plane through where it was grabbed, facing the viewer; with shift
    nearer and away. In 2D it stays in the slice."""

    def __init__(self, editor: Editor, path: ScenePath, point: Floats) -> None:
        self.editor, self.path, self.point = editor, path, point

    def move(self, x: float, y: float, dx: float, dy: float) -> None:
        """Take it along with the pointer."""
        scene = self.editor.scene
        try:
            thing = value_at(scene, self.path)
        except GpufluidError:
            return  # the scene itself took it away
        name = pick.anchor_name(thing)
        if name is None:
            return  # it was undone, or the scene itself did it: a wind is everywhere again
        fluid = self.editor.fluid_at(self.path)
        flat = fluid.grid.dimensions == 2
        forward = np.array([0.0, 0.0, 1.0]) if flat else forward_of(scene.camera)
        stage = self.editor.player.stage
        handle = stage.window.handle
        shift = any(
            glfw.get_key(handle, key) == glfw.PRESS for key in (glfw.KEY_LEFT_SHIFT, glfw.KEY_RIGHT_SHIFT)
        )
        if shift and not flat:
            eye = np.array(scene.camera.eye)
            depth = float((self.point - eye) @ forward)
            metres = 2.0 * depth * np.tan(np.radians(stage.camera.fov) / 2.0) / stage.height
            by = -dy * metres * forward
        else:
            now = stage.ray(x, y).meets(self.point, forward)
            before = stage.ray(x - dx, y - dy).meets(self.point, forward)
            if now is None or before is None:
                return
            by = now - before
        self.point = self.point + by
        moved = np.array(pick.anchor(thing)) + by
        digits = FINE - int(np.floor(np.log10(max(fluid.grid.size))))
        self.editor.change((*self.path, name), tuple(round(v, digits) + 0.0 for v in moved.tolist()))

    def release(self) -> None:
        """The next drag is undone by itself."""
        self.editor.player.history.seal()
