"""What plays a scene in a window: the loop, and all that can be asked for meanwhile."""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import glfw

from gpufluid.app.controls import KEYS, Controls
from gpufluid.app.edits import History, Regrid, blow, strengthen
from gpufluid.app.notice import Notice
from gpufluid.app.recording import Recording
from gpufluid.app.scene_maker import SceneMaker
from gpufluid.app.streams import tell
from gpufluid.app.twice import Message, Twice
from gpufluid.app.window import Window
from gpufluid.app.window_stage import BESIDE, WindowStage
from gpufluid.common.errors import GpufluidError, MissingDependencyError, counted, exits_told
from gpufluid.common.files import readable
from gpufluid.contract.backend import release
from gpufluid.scene.scene import Cells, Scene

if TYPE_CHECKING:
    from gpufluid.app.studio.studio import Studio

EARLY = 0.002  # seconds a frame may come before its time: a screen's refresh is never exactly on it
COMPILES = "the first time on a machine, shaders are compiled"
RELOAD = "press Reload again to reload"


class Player:
    """Plays a scene in an open window, in real time where the machine keeps up; a context manager.

    make: builds the scene in the window's context, at first and for every restart; with cells=, as in
    `Scene.load`, for other grids. name: what saved pictures are called, ``name-0001.png`` in the current
    folder. watch: a file; when it has changed the scene is built anew, or goes on as it is where the file is
    wrong, or where changes that the studio could save would be lost. Once the studio has saved the scene, its
    file is the one that is watched and built from. asked: what the command line asks for, see `SceneMaker`.

    An error that comes while it plays pauses it, where a file that is watched or the studio can mend it.

    stage: the scene in the window, with its renderer. controls: what keys and mouse do.
    history: what was changed by hand, and is changed again in a scene that starts again. studio: the panel
    and all that goes with it, from the first Tab or h on, where its package is installed.
    """

    def __init__(
        self,
        window: Window,
        make: Callable[..., Scene],
        name: str = "gpufluid",
        watch: Path | None = None,
        asked: Mapping[str, Any] | None = None,
    ) -> None:
        self.window = window
        self.maker = SceneMaker(make, window.ctx, watch, asked or {})
        self.name = name
        self.told = Message()  # the last thing
        self.twice = Twice(self.told, self.say)
        self.halted = ""  # why the scene cannot go on, until it does
        self.paused = False
        self.history = History()
        self.recording = Recording(name, lambda: self.stage.renderer.read(), self.say)
        self.studio: Studio | None = None
        glfw.set_window_title(window.handle, readable(f"{name} - is being built ..."))
        self._notice: Notice | None = Notice(window.handle, window.ctx)
        self._notice.show(name, "preparing: the scene is being built", BESIDE)
        scene = self.maker.build({})
        self._notice.show(name, f"preparing: {COMPILES}", BESIDE)
        self.stage = WindowStage(window, scene, self._panel_pixels)
        self._shown: deque[float] = deque(maxlen=30)  # when the last frames were shown, seconds
        self._titled = 0.0
        self._due = 0.0
        self._drawn = False  # whether anything was
        self._single = False
        self.controls = Controls(self)

    @property
    def scene(self) -> Scene:
        """The one that plays."""
        return self.stage.scene

    def _panel_pixels(self) -> int:
        return 0 if self.studio is None else self.studio.panel_pixels

    # -- the loop --------------------------------------------------------------------------------------

    def play(self, max_frames: int | None = None) -> None:
        """Play until the window is closed, or `max_frames` frames were simulated."""
        played = 0
        while not glfw.window_should_close(self.window.handle) and played != max_frames:
            played += self.tick()

    def tick(self) -> bool:
        """Take what the user did, simulate a frame if it is time, show it; whether one was simulated."""
        if ((self.paused or self.scene.over) and not self._single) or 0 in self.stage.size:
            glfw.wait_events_timeout(0.1)  # nothing moves by itself: leave the processor alone
        else:
            glfw.poll_events()
        self.stage.size = self.window.framebuffer_size
        self._reload()
        if 0 in self.stage.size:
            return False
        if self._notice is not None:
            self._begin()
        advanced = False
        if self._single or (not self.paused and self._is_due()):
            self._single = False
            advanced = self._advance()
        self._show(advanced)
        return advanced

    def _begin(self) -> None:
        """Show the scene before its first frame: the flow may take seconds to be ready."""
        self._show(False)
        self._shown.clear()
        assert self._notice is not None
        self._notice.release()
        self._notice = None

    def _advance(self) -> bool:
        """Simulate a frame; where that cannot be, halt."""
        before, studio = self.scene.frame, self.studio
        if self.controls.brush is not None:
            self.controls.brush.stroke()
        try:
            simulating = contextlib.nullcontext() if studio is None else studio.passes.simulating()
            with exits_told(self.maker.file), simulating:
                self.scene.advance()
            self.halted = ""
        except GpufluidError as error:
            self._halt(error)
        return self.scene.frame > before

    def _halt(self, error: GpufluidError) -> None:
        """Pause and tell why the scene cannot go on; raises it where nothing here could mend that."""
        if self.studio is None and self.maker.file is None:
            raise error
        self.paused = True
        if str(error) != self.halted:  # a picture would tell it again and again
            self.halted = str(error)
            self._titled = 0.0
            self.say(str(error))

    def _is_due(self) -> bool:
        """Whether the next frame's time has come; a fast screen shows some frames twice."""
        if self.scene.over:
            return False
        now = time.perf_counter()
        if now < self._due - EARLY:
            return False
        # Counted from when it was due, so that small delays do not add up; from now once it is far behind.
        self._due = max(self._due, now - self.scene.dt) + self.scene.dt
        return True

    def _reload(self) -> None:
        """Build the scene anew where the file watched has changed, or one that it reads."""
        changed = self.maker.has_changed(lambda: self.scene.provenance.files)
        if changed is None:
            return
        if not self.unsaved:
            self._read_again()
            return
        if changed == self.maker.file:
            self.maker.was_left()
        self._titled = 0.0
        ways = f"Reset reads it and keeps {counted(self.unsaved, 'unsaved change')}, Reload reads it without"
        self.say(f"{changed} has changed: {ways}")

    def saved_as(self, file: Path) -> None:
        """The scene was saved in `file`, by which everything goes from now on, and which need not be read."""
        self.maker.was_saved(file, self.history.cells)
        self.history.mark_saved()

    @property
    def unsaved(self) -> int:
        """How many changes would be lost; 0 where the panel, which can save them, was never open."""
        return self.history.unsaved if self.studio is not None and self.studio.used else 0

    def _show(self, advanced: bool) -> None:
        stage, studio = self.stage, self.studio
        if not self.recording.on:
            stage.fill()
        try:
            stage.follow_picture()
        except GpufluidError as error:
            self.say(str(error))
        self._draw()
        if studio is not None:
            studio.draw_charts()
        for snap in () if self._notice else self.scene.take_snaps():
            self.recording.write(snap, overwrite=True)
        if advanced:
            self.recording.add()
        stage.present(studio is None or not studio.has_charts)
        if studio is not None:
            studio.draw()
        if self._notice is not None:
            self._notice.over(f"preparing the flow: {COMPILES}")
        self.window.show()
        now = time.perf_counter()
        self._shown.append(now)
        if now - self._titled > 0.5:
            self._titled = now
            glfw.set_window_title(self.window.handle, self.title)

    def _draw(self) -> None:
        """Draw the picture, in the studio without the views that cannot be drawn any more.

        Where that cannot be, halt, and go on showing the one before. Raises GpufluidError for the first one.
        """
        for again in (True, False):
            try:
                # with the studio the file is not to blame for what may have been changed by hand
                with self.scene.told() if self.studio is None else contextlib.nullcontext():
                    self.stage.draw()
                self._drawn = True
                return
            except GpufluidError as error:
                if again and self.studio is not None and self.studio.views.hide_failing():
                    self.say(str(error))
                    continue
                if not self._drawn:
                    raise
                self._halt(error)
                return

    @property
    def frame_rate(self) -> float:
        """Pictures a second, over the last ones; 0 before there are any."""
        span = self._shown[-1] - self._shown[0] if self._shown else 0.0
        return (len(self._shown) - 1) / span if span > 0.0 else 0.0

    @property
    def title(self) -> str:
        """The window's: the scene's, and what is the matter with it or how fast it plays."""
        trouble = self.maker.trouble or self.halted
        if trouble:
            return f"{self.scene.title} - {trouble}"
        if self.maker.stale:
            return f"{self.scene.title} - {self.maker.file} has changed"
        if self.scene.over:
            return f"{self.scene.title} - over"
        if self.paused:
            return f"{self.scene.title} - paused"
        rate = self.frame_rate
        return f"{self.scene.title} - {f'{rate:.0f} fps' if rate else 'h for help'}"

    # -- what the user does ----------------------------------------------------------------------------

    def pause(self) -> None:
        """Pause the flow, or resume it."""
        self.paused, self.halted = not self.paused, ""
        self._titled = 0.0
        self._shown.clear()

    def single_step(self) -> None:
        """Simulate one frame and pause."""
        self.paused = self._single = True
        self._titled = 0.0

    def restart(self) -> None:
        """Start the scene again, camera included, and keep your changes."""
        try:
            self._replace(self.history.cells)
        except GpufluidError as error:
            self.say(str(error))
            return
        self.paused = False
        self.maker.was_read()
        for problem in self.history.repeat(self.scene):
            self.say(problem)

    @property
    def may_reload(self) -> bool:
        """Whether what a reload would lose was said a moment ago."""
        return self.twice.stands(self._losing(RELOAD))

    def reload(self) -> None:
        """Read the scene's file again and start it; asks before unsaved changes are lost."""
        if self.agreed(RELOAD):
            self._read_again()

    def open(self, file: Path) -> bool:
        """Play the scene in `file` instead; asks before unsaved changes are lost. Whether it does."""
        if not self.agreed(f"drop {file.name} once more to open it"):
            return False
        before, self.maker = self.maker, self.maker.of(file)
        try:
            self._replace({})
        except GpufluidError as error:
            self.maker = before
            self.say(str(error))
            return False
        self.paused = False
        self.history.clear()
        self.say(f"gpufluid: {file} was opened")
        return True

    def _losing(self, more: str) -> str:
        return f"{counted(self.unsaved, 'unsaved change')} would be lost: {more}"

    def agreed(self, more: str) -> bool:
        """Whether there is nothing to lose, or the user was told so a moment ago and asks again."""
        return not self.unsaved or self.twice.agreed(self._losing(more))

    def _read_again(self) -> None:
        """Build the scene as its file is now, or tell what is wrong with that."""
        try:
            self._replace({})
        except GpufluidError as error:
            self.maker.was_wrong(error)
            self.say(f"gpufluid: {error}")
            return
        self.paused = False
        self.maker.was_read()
        self.history.clear()
        self.say(f"gpufluid: {self.maker.file or self.name} was reloaded")

    def use_cells(self, cells: Cells, box: int = 0) -> None:
        """Start again with another grid in one of the boxes, seen as before."""
        had = self.scene.fluids[box].grid.cells
        try:
            self._regrid({**self.history.cells, box: cells})
        except GpufluidError as error:
            self.say(str(error))
            return
        if cells != had or box in self.maker.passing(self.history.cells):
            self.history.make(self.scene, Regrid(box, had, cells))

    def _regrid(self, cells: dict[int, Cells]) -> None:
        """Start again with these grids, seen as before. Raises GpufluidError where that cannot be."""
        before = self.scene
        self._replace(cells)
        for problem in self.history.repeat(self.scene):
            self.say(problem)
        for name, value in vars(before.camera).items():
            setattr(self.scene.camera, name, value)
            if before.is_held(before.camera, name):
                self.scene.hold(self.scene.camera, name)

    def _replace(self, cells: dict[int, Cells]) -> None:
        with exits_told(self.maker.file):
            scene = self.maker.build(cells)
        self.controls.let_go()
        self.stage.put(scene)
        self.halted, self._due = "", 0.0

    def undo(self) -> None:
        """Undo the last change."""
        self._back(self.history.undo, self.history.redo, "there is nothing to undo")

    def redo(self) -> None:
        """Redo the change that was undone last."""
        self._back(self.history.redo, self.history.undo, "there is nothing to redo")

    def _back(self, way: Callable[[Scene], bool], other: Callable[[Scene], bool], nothing: str) -> None:
        """Go a `way` through what was done; the `other` leads back."""
        before = self.history.cells
        try:
            if not way(self.scene):
                self.say(nothing)
            if self.history.cells != before:
                self._regrid(self.history.cells)
                self.say("restarted with the other grid")
        except GpufluidError as error:
            self.say(str(error))
            if self.history.cells != before:
                other(self.scene)

    def strengthen(self, factor: float) -> None:
        """Let the first source make `factor` times as much."""
        self.say(strengthen(self.scene, self.history, factor))

    def blow(self, gusts: float) -> None:
        """Let the wind blow more to the right, or left for negative `gusts`."""
        self.say(blow(self.scene, self.history, gusts))

    def save(self) -> None:
        """Save the scene, where the studio was open."""
        if self.studio is not None and self.studio.used:
            self.studio.files.save()

    def remove(self) -> None:
        """Remove what is selected in the studio."""
        if self.studio is not None and self.studio.shown:
            self.studio.editor.remove()

    def duplicate(self) -> None:
        """Duplicate what is selected in the studio."""
        if self.studio is not None and self.studio.shown:
            self.studio.editor.duplicate()

    def rename(self) -> None:
        """Rename what is selected in the studio."""
        if self.studio is not None and self.studio.shown:
            self.studio.naming.open(self.studio.editor.selected)

    def record(self, suffix: str = ".mp4") -> None:
        """Begin a film (".mp4") or a folder of pictures ("") under the first free number, or end it."""
        if self.recording.on:
            self.recording.end()
        else:
            self.recording.begin(suffix, self.stage.renderer.size, self.scene.picture.fps)

    def say(self, text: str) -> None:
        """Tell the user: on stdout, and in the window where the studio is."""
        self.told.say(text)
        tell(text)

    @property
    def message(self) -> str:
        """The last thing told."""
        return self.told.text

    def show_studio(self) -> None:
        """Show the studio's panel, or hide it."""
        studio = self.made_studio()
        if studio is not None:
            studio.shown = not studio.shown

    def open_studio(self) -> None:
        """Show the studio's panel. Raises MissingDependencyError without its package."""
        self._need_studio().shown = True

    def _need_studio(self) -> Studio:
        from gpufluid.app.studio.studio import Studio

        self.studio = self.studio or Studio(self)
        return self.studio

    def help(self) -> None:
        """Show what keys and mouse do: in the window, or on stdout where the studio cannot be."""
        studio = self.made_studio()
        if studio is not None:
            studio.helping = not studio.helping
            return
        for keys, what in KEYS:
            print(f"{keys:16} {what}")

    def made_studio(self) -> Studio | None:
        """The studio, made when it is first asked for; None where its package is missing."""
        try:
            return self._need_studio()
        except MissingDependencyError as error:
            self.say(str(error))
            return None

    def leave(self) -> None:
        """Close the window; where something is not saved, when asked twice."""
        if self.agreed("press escape again to close"):
            self.close()

    def close(self) -> None:
        """Close the window after this frame."""
        glfw.set_window_should_close(self.window.handle, True)

    def release(self) -> None:
        """Finish the film, and release the studio and the stage."""
        self.recording.end()
        release(self.studio, self._notice)
        self.studio = self._notice = None
        self.stage.release()

    def __enter__(self) -> Player:
        return self

    def __exit__(self, *exception: object) -> None:
        self.release()
