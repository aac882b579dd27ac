"""A picture in a notebook that goes on by itself: a remote frame buffer, which draws while it is seen.

Frames go to the browser as JPEG, no more than two ahead of those it has confirmed, and the last one, once it
stands still, as PNG (jupyter-rfb).

All is done in the thread of the cell that made the frame, between cells, since the GL context is current
there. JupyterLab sends what widgets hear to a subshell of the kernel, a thread of its own (ipykernel 7), from
which it is handed over.
"""

from __future__ import annotations

import asyncio
import base64
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any
from weakref import WeakSet

import numpy as np
from jupyter_rfb import RemoteFrameBuffer
from numpy.typing import NDArray

from gpufluid.app import orbit
from gpufluid.app.hands import Brush, Drag, grasp, move_view
from gpufluid.app.notebook_stage import NotebookStage
from gpufluid.common.errors import GpufluidError
from gpufluid.contract.backend import release
from gpufluid.io.images import png_bytes

LEFT = 1  # a button
NOTCH = 100.0  # pixels that a notch of a mouse's wheel scrolls a page by
EARLY = 0.002  # seconds a frame may come before its time


# of the cells of a notebook: which run of theirs has shown frames, and which
_shown: dict[str, tuple[str, WeakSet[LiveFrame]]] = {}


def _take_turns(frame: LiveFrame) -> None:
    """Close the frames of earlier runs of the cell that makes `frame`, where the frontend names it."""
    kernel = getattr(sys.modules["IPython"].get_ipython(), "kernel", None)
    asked = {} if kernel is None else kernel.get_parent("shell")
    cell, run = asked.get("metadata", {}).get("cellId"), asked.get("header", {}).get("msg_id", "")
    if cell is None:
        return
    before, frames = _shown.get(cell, (run, WeakSet()))
    if before != run:
        for old in list(frames):
            old.close()
        frames = WeakSet()
    frames.add(frame)
    _shown[cell] = run, frames


class LiveFrame(RemoteFrameBuffer):  # type: ignore[misc]  # has no types
    """The live frame of `gf.show`: a widget that steps a scene in real time, or as fast as the machine can.

    paused: whether the flow stands still; set it at any time, or press space. Between two cells it steps the
    fluid that cells work with, in the same thread. An error of a step pauses it and is told above the
    picture.

    A cell that is run again puts its frames in the place of those of its last run, which end: what they hold,
    the widgets of a kernel being kept in it for good, would never go.
    """

    def __init__(self, stage: NotebookStage) -> None:
        width, height = stage.size
        self.stage = stage
        self._drag: Drag | None = None
        self._due = 0.0  # when the next step is
        self._timer: asyncio.TimerHandle | None = None
        self._paused = self._seen = self._closed = False
        self._told = ""  # the error that was told last, until a picture is drawn again
        self._thread, self._loop = threading.get_ident(), asyncio.get_running_loop()
        picture = stage.draw()  # what is shown where the notebook is read without a kernel
        self._first = base64.b64encode(png_bytes(picture)).decode()
        super().__init__(css_width=f"{width}px", css_height=f"{height}px", cursor="grab")

        def turn(dx: float, dy: float) -> None:
            move_view(self.stage.scene, lambda camera: orbit.rotate(camera, dx, dy, float(height)))

        self._keys: dict[str, Callable[[], object]] = {
            " ": self.pause,
            ".": self.single_step,
            "ArrowLeft": lambda: turn(-orbit.TURN, 0.0),
            "ArrowRight": lambda: turn(orbit.TURN, 0.0),
            "ArrowUp": lambda: turn(0.0, orbit.TURN),
            "ArrowDown": lambda: turn(0.0, -orbit.TURN),
        }
        _take_turns(self)
        self.request_draw()

    @property
    def paused(self) -> bool:
        """Whether the flow stands still; the view can be turned all the same."""
        return self._paused

    @paused.setter
    def paused(self, paused: bool) -> None:
        self._paused = bool(paused)
        self._due = 0.0
        self.request_draw()

    def pause(self) -> None:
        """Stop the flow, or let it go on."""
        self.paused = not self.paused

    def single_step(self) -> None:
        """Simulate one frame and pause."""
        self.paused = True
        self._step()

    def close(self, *args: Any, **options: Any) -> None:
        """End the frame and release what draws it; a page that is closed does not, it may be opened again."""
        super().close(*args, **options)
        self._paused = self._closed = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._let_go()
        self.stage.release()

    # -- called by jupyter-rfb -------------------------------------------------------------------------

    def get_frame(self) -> NDArray[np.uint8] | None:
        """Step if it is time, and return the picture, uint8 [height, width, 3]; called while it is seen."""
        if self._elsewhere(self.request_draw) or self._closed:
            return None
        now = time.perf_counter()
        going = not self._paused and not self.stage.scene.over
        if going and self._seen and now >= self._due - EARLY:
            dt = self.stage.scene.dt
            self._due = max(self._due, now - dt) + dt
            self._step()
            going = not self._paused
        try:
            picture = self.stage.draw()
        except GpufluidError as error:
            self._tell(error)
            return None
        self._told, self._seen = "", True  # at first without a step, which may have to be compiled
        if going and self._timer is None:
            wait = max(self._due - time.perf_counter(), 0.0)
            self._timer = asyncio.get_running_loop().call_later(wait, self._again)
        return picture

    def handle_event(self, event: dict[str, Any]) -> None:
        """Follow mouse and keys; `event` is a message of jupyter-rfb, its (x, y) in pixels, y downward."""
        if self._closed:
            return
        kind = event["type"]
        if kind == "resize":
            self.stage.resize(event["width"], event["height"])
        elif kind == "show":  # also by a page that is loaded anew: what was on its way to the old one is lost
            now = time.time()
            self._frame_feedback = {"index": self._rfb_frame_index, "timestamp": now, "localtime": now}
        elif kind == "pointer_down":
            self._let_go()
            self.stage.pointer = event["x"], event["y"]
            self._drag = grasp(self.stage, left=event["button"] == LEFT, alt="Alt" in event["modifiers"])
        elif kind == "pointer_move":
            (x, y), before = (event["x"], event["y"]), self.stage.pointer
            self.stage.pointer = x, y
            if self._drag is None:
                return
            self._drag.move(x, y, x - before[0], y - before[1])
        elif kind == "pointer_up":
            self._let_go()
        elif kind == "wheel":
            move_view(self.stage.scene, lambda camera: orbit.zoom(camera, -event["dy"] / NOTCH))
        elif kind == "key_down" and event["key"] in self._keys:
            self._keys[event["key"]]()
        else:
            return
        self.request_draw()

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """The widget, with a picture for readers that have no widgets."""
        bundle = super()._repr_mimebundle_(**options)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        if data:
            data["image/png"] = self._first
        return bundle

    def _handle_msg(self, msg: dict[str, Any]) -> None:
        """Follow a message of the browser, in the frame's own thread."""
        follow = super()._handle_msg
        if not self._elsewhere(partial(follow, msg)):
            follow(msg)

    def _elsewhere(self, work: Callable[[], object]) -> bool:
        """Whether this is not the frame's thread; `work` is done there then, when no cell runs."""
        if threading.get_ident() == self._thread:
            return False
        self._loop.call_soon_threadsafe(work)
        return True

    def _again(self) -> None:
        self._timer = None
        self.request_draw()

    def _step(self) -> None:
        if self._closed:
            return
        brush = self._drag if isinstance(self._drag, Brush) else None
        try:
            self.stage.advance(brush)
        except GpufluidError as error:
            self._tell(error)
        except BaseException:  # of a function of the user's: shown with its lines by jupyter-rfb
            self._paused = True
            raise

    def _tell(self, error: GpufluidError) -> None:
        self._paused = True
        if str(error) != self._told:  # each move of the mouse would tell it again
            self._told = str(error)
            self.print(f"gpufluid: {error}")

    def _let_go(self) -> None:
        release(self._drag)
        self._drag = None
