"""A scene in a window: what draws it, what it is seen by, and where it is pointed at."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import glfw

from gpufluid.app import orbit
from gpufluid.app.hands import move_view
from gpufluid.app.pick import Ray, ray_through
from gpufluid.app.window import Window
from gpufluid.description.view import Camera, Picture
from gpufluid.gl.contexts import is_software
from gpufluid.render.frame import FrameRenderer
from gpufluid.scene.scene import Scene

BESIDE = (0.03, 0.032, 0.036)  # what is beside the picture
FOV_MOST = 170.0  # degrees
# as slabs in the picture's own resolution to 0.1 of 255 (mean), in a third of their time
QUICKLY: dict[str, Any] = {"method": "ray-march", "resolution": 0.5}
SET_LATER = ("size", "fps", "exposure", "background", "floor_color")  # of a Picture


class WindowStage:
    """The scene that a window shows, left of `panel` pixels, with its renderer; the window stays another's.

    pointer: where the last event saw it, in the window's units. Asked for at a press, glfw would tell where
    it is by now: at a few frames a second that may be the end of the drag. size: of the window, pixels; zeros
    while it is minimised. volume_options: for the renderer of smoke, beside what the scene's picture says.
    """

    def __init__(self, window: Window, scene: Scene, panel: Callable[[], int]) -> None:
        self.window, self.scene, self._panel = window, scene, panel
        self.pointer: tuple[float, float] = glfw.get_cursor_pos(window.handle)
        self.size = window.framebuffer_size
        self.volume_options: dict[str, Any] = {}
        width, height = (max(side, 1) for side in self.size)
        self.renderer = self._new_renderer((width, height))
        scene.fit(width / height)
        self._framed: Scene | None = None  # in which the user has placed the camera for the window

    def put(self, scene: Scene) -> None:
        """Show `scene` in place of the one before, which is released."""
        self.scene.release()
        self.scene = scene
        _, _, width, height = self.picture_area
        scene.fit(width / height)

    # -- the picture -----------------------------------------------------------------------------------

    @property
    def area(self) -> tuple[int, int, int, int]:
        """Where the picture goes: left, bottom, width, height, in pixels of the window."""
        width, height = self.size
        return 0, 0, max(width - self._panel(), 1), max(height, 1)

    @property
    def picture_area(self) -> tuple[int, int, int, int]:
        """Where in that the picture is, which keeps its shape while it is filmed."""
        return _fitted(self.renderer.size, self.area)

    def fill(self) -> None:
        """Give the picture the shape of the area where it goes."""
        _, _, width, height = self.area
        if (width, height) != self.renderer.size:
            self.renderer.resize((width, height))

    def draw(self) -> None:
        """Draw the picture. Raises GpufluidError where that cannot be."""
        scene, picture = self.scene, self.scene.picture
        self.renderer.exposure, self.renderer.background = picture.exposure, picture.background
        self.renderer.floor_color = picture.floor_color
        own, scene.camera = scene.camera, self.camera
        try:
            self.renderer.draw(scene)
        finally:
            scene.camera = own

    def present(self, picture: bool) -> None:
        """Put the picture, if asked for, and what is beside it into the window, whose frame stays in use."""
        screen, whole = self.window.ctx.screen, (0, 0, *self.size)
        screen.viewport = whole
        if self.picture_area != whole:
            screen.clear(*BESIDE)
        screen.viewport = self.picture_area
        if picture:
            self.renderer.present(screen)
        screen.viewport = whole
        screen.use()

    def follow_picture(self) -> None:
        """Draw as the scene's picture and `volume_options` say. Raises GpufluidError where that cannot be."""
        if self._drawn_by != self._ways_to_draw:
            made = self._new_renderer(self.renderer.size)
            self.renderer.release()
            self.renderer = made

    def _new_renderer(self, size: tuple[int, int]) -> FrameRenderer:
        self._drawn_by = self._ways_to_draw
        return FrameRenderer.of(self._picture_here, self.window.ctx, size, **self.volume_options)

    @property
    def _picture_here(self) -> Picture:
        """What the scene says of its picture; software draws smoke QUICKLY where that says nothing."""
        picture = self.scene.picture
        says = picture.method is not None or picture.slices is not None
        return picture if says or not is_software(self.window.ctx) else replace(picture, **QUICKLY)

    @property
    def _ways_to_draw(self) -> dict[str, Any]:
        """What a renderer is made for; the rest can be set at any time."""
        picture = {n: v for n, v in vars(self._picture_here).items() if n not in SET_LATER}
        return {**picture, **self.volume_options}

    # -- the view --------------------------------------------------------------------------------------

    @property
    def camera(self) -> Camera:
        """What the scene is seen by: its camera, opened so far that a narrow window shows all of its width.

        One that was placed for the scene's picture would lose what is at the sides beside a panel.
        """
        camera, opened = self.scene.camera, self.opened
        if opened == 1.0:
            return camera
        half = math.atan(opened * math.tan(math.radians(0.5 * camera.fov)))
        return replace(camera, fov=min(math.degrees(2.0 * half), FOV_MOST))

    @property
    def opened(self) -> float:
        """How many times as high as the scene's camera sees the picture shows it: see `camera`."""
        if not self.scene.camera_is_given or self._framed is self.scene:
            return 1.0
        (wide, high), (_, _, width, height) = self.scene.picture.size, self.picture_area
        return max(wide * height / (high * width), 1.0)

    @property
    def height(self) -> int:
        """Of the window, in the units of the pointer."""
        return max(glfw.get_window_size(self.window.handle)[1], 1)

    def ray(self, x: float, y: float) -> Ray:
        """The ray through a point of the window, in the units of the pointer."""
        left, bottom, width, height = self.picture_area
        top = self.size[1] - bottom - height
        density = self.size[1] / self.height  # pixels of a unit
        across = 2.0 * (x * density - left) / width - 1.0
        up = 1.0 - 2.0 * (y * density - top) / height
        return ray_through(self.camera, width / height, across, up)

    def turn(self, dx: float, dy: float) -> None:
        """Turn the camera as a drag by so many pixels does."""
        move_view(self.scene, lambda camera: orbit.rotate(camera, dx, dy, self.height))

    def frame_all(self) -> None:
        """Move the camera back to where it sees all boxes whole."""
        _, _, width, height = self.picture_area
        self._framed = self.scene
        move_view(self.scene, lambda _: self.scene.frame_all(width / height))

    def release(self) -> None:
        """Release the renderer and the scene."""
        self.renderer.release()
        self.scene.release()


def _fitted(size: tuple[int, int], area: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    """The largest rectangle of the shape of `size` in the middle of `area`."""
    left, bottom, width, height = area
    scale = min(width / size[0], height / size[1])
    across, up = max(round(size[0] * scale), 1), max(round(size[1] * scale), 1)
    return left + (width - across) // 2, bottom + (height - up) // 2, across, up
