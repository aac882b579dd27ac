"""A fluid in a notebook: a live frame where there can be one, else a film.

Who is asked whether there can be: the kernel, whether somebody sits before it. A frontend with a person at it
lets cells ask for input; nbconvert, nbclient and their like, which run a notebook by themselves, do not.
"""

from __future__ import annotations

import base64
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpufluid.app.notebook_stage import NotebookStage, check_alive
from gpufluid.app.play import checked_scene
from gpufluid.common.checks import check_size, finite_number
from gpufluid.common.errors import GpufluidError, MissingDependencyError, counted
from gpufluid.common.files import whole_file
from gpufluid.common.vectors import Number, Size
from gpufluid.contract.backend import released
from gpufluid.description.view import Camera, Light, Picture
from gpufluid.engine.fluid import Fluid
from gpufluid.io.film import Film, require_av
from gpufluid.io.images import png_bytes, require_pillow
from gpufluid.scene.scene import Scene

if TYPE_CHECKING:
    from gpufluid.app.live_frame import LiveFrame
    from gpufluid.render.frame import FrameRenderer

DT = 1.0 / 30.0  # seconds a frame, of a fluid that is shown without a scene
SECONDS = 4.0  # of a film
# light for a fluid in 2D: along its one slice it would be its own shadow
ONTO_A_SLICE = {"direction": (0.0, -0.2, -1.0), "color": (3.2, 3.2, 3.2), "ambient": (0.6, 0.6, 0.6)}


def show(
    fluid: Fluid | Scene,
    *,
    camera: Camera | None = None,
    renderer: FrameRenderer | None = None,
    size: Size | None = None,
    dt: Number | None = None,
    seconds: Number = SECONDS,
    before: Callable[[Fluid], None] | None = None,
    live: bool | None = None,
) -> LiveFrame | ShownFilm:
    """Show `fluid` in a notebook: return a live frame that steps and draws it, or a film of it.

    Let it be the last expression of a cell, or give it to IPython's `display`. In a live frame a left drag
    turns the view (in 2D, and if a scene has a hand, it pushes the fluid; with alt it turns), a right drag
    pans, the wheel zooms, space pauses and ``.`` steps one frame. The frame steps while it is in sight and no
    cell runs, in real time or as fast as the machine can, and ends with the fluid or the scene.

    fluid: a Fluid, or a `Scene` for light, fire, views, a floor and a story of yours. camera: None: the
    scene's, or one that sees the whole box. renderer: a `FrameRenderer` in the fluid's context, which stays
    yours; None: one as the scene's picture says. size: (width, height) in pixels; None: the renderer's, or
    the scene's picture's, 640 x 360. dt: seconds per frame, > 0; None: the scene's, or 1/30. (A camera and a
    dt stay with a scene.) before: a function called with the fluid, of several the first, before each step.
    seconds: simulated time of the film, > 0. live: True: a live frame, or an error; False: a film; None: a
    live frame in an interactive kernel with jupyter-rfb installed, else a film, as in nbconvert.

    Raises GpufluidError for bad input, for a fluid on NumPy, and with live=True outside a kernel;
    MissingDependencyError with live=True without jupyter-rfb, and for a film without PyAV.
    """
    if live not in (None, True, False):
        raise GpufluidError(f"live must be True, False or None, got {live!r}")
    seconds = finite_number(seconds, "seconds", above=0.0)
    if before is not None and not callable(before):
        raise GpufluidError(f"before must be a function of the fluid, or None, got {before!r}")
    scene = _scene_of(fluid, camera, dt, size, renderer)
    problem = _no_kernel() if live is None or live else "a film was asked for"
    if live and problem:
        raise GpufluidError(f"show(live=True): {problem}")
    if not problem:
        try:
            from gpufluid.app.live_frame import LiveFrame
        except ImportError as error:
            missing = MissingDependencyError("jupyter-rfb", "a live frame", "jupyter", error)
            if live:
                raise missing from None
            print(f"gpufluid: {missing}; rendering a film of {seconds:g} s instead", file=sys.stderr)
        else:
            return LiveFrame(NotebookStage(scene, renderer, size, before))
    require_av()
    require_pillow()
    with released(NotebookStage(scene, renderer, size, before)) as stage:
        return _filmed(stage, seconds)


def _scene_of(
    fluid: Fluid | Scene,
    camera: Camera | None,
    dt: Number | None,
    size: Size | None,
    renderer: FrameRenderer | None,
) -> Scene:
    """The scene to play, or raise naming what cannot be."""
    if not isinstance(fluid, Fluid | Scene):
        raise GpufluidError(f"show needs a gf.Fluid or a gf.Scene, got {fluid!r}")
    if not isinstance(camera, Camera | None):
        raise GpufluidError(f"camera must be a gf.Camera or None, got {camera!r}")
    if dt is not None:
        finite_number(dt, "dt", above=0.0)
    if size is not None:
        check_size(size)
    first = fluid.fluid if isinstance(fluid, Scene) else fluid
    check_alive(first)
    if renderer is not None and getattr(renderer, "ctx", None) is not first.ctx:
        raise GpufluidError("renderer must be a gf.FrameRenderer in the GL context of the fluid (fluid.ctx)")
    if isinstance(fluid, Scene):
        scene = fluid
        scene.dt = dt or scene.dt
        scene.camera = camera or scene.camera
    else:
        dt, grid = dt or DT, fluid.grid
        deep = grid.dimensions == 3
        picture = Picture(size=size or (Picture().size if renderer is None else renderer.size), fps=1.0 / dt)
        light = None if deep else Light(**ONTO_A_SLICE)
        floor = grid.origin[1] if deep else None
        scene = Scene(fluid, camera, light, dt=dt, floor=floor, picture=picture)  # type: ignore[arg-type]
    return checked_scene(scene)


def _no_kernel() -> str | None:
    """Why nobody can see a live frame here, or None where somebody can."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    kernel = getattr(shell, "kernel", None)
    if kernel is None:
        return "this is no Jupyter kernel; gf.run opens a window"
    asked = kernel.get_parent("shell").get("content", {})
    if not asked.get("allow_stdin", True):
        return "nobody sits before this kernel: a program runs the notebook"
    return None


class ShownFilm:
    """A film in a notebook: its bytes are part of the notebook, so that it plays wherever that is read.

    data: of an MP4 file. still: of a PNG of the last frame, for frontends that show no film. frames: how many
    there are. size: (width, height), pixels. paused: True, since nothing is stepped any more.

    `paused` and `close` are here because a live frame has them, and a program may run the same notebook.
    """

    def __init__(self, data: bytes, still: bytes, frames: int, size: tuple[int, int]) -> None:
        self.data, self.still, self.frames, self.size = data, still, frames, size
        self.paused = True

    def close(self) -> None:
        """Do nothing: what made the film is released already, and the film is the notebook's."""

    def save(self, path: str, overwrite: bool = False) -> Path:
        """Write the film to an .mp4 file and return its path. Raises GpufluidError for one that exists."""
        with whole_file(path, overwrite, (".mp4",)) as partial:
            partial.write_bytes(self.data)
        return Path(path)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """What a frontend picks from."""
        width, height = self.size
        return {
            "text/html": (
                f'<video width="{width}" height="{height}" style="max-width: 100%; height: auto" '
                f"controls autoplay loop muted playsinline "
                f'src="data:video/mp4;base64,{base64.b64encode(self.data).decode()}"></video>'
            ),
            "image/png": base64.b64encode(self.still).decode(),
            "text/plain": repr(self),
        }

    def __repr__(self) -> str:
        return f"<a film of {counted(self.frames, 'frame')}, {self.size[0]} x {self.size[1]}>"


def _filmed(stage: NotebookStage, seconds: float) -> ShownFilm:
    """Play `seconds` of the scene, or as much as there is of it, into a film."""
    scene = stage.scene
    frames = max(1, round(seconds / scene.dt)) if scene.dt > 0.0 else 1
    with tempfile.TemporaryDirectory(prefix="gpufluid-") as folder:
        path = Path(folder) / "film.mp4"
        with Film(path, stage.size, fps=scene.picture.fps) as film:
            for _ in range(frames):
                stage.advance()
                picture = stage.draw()
                film.write(picture)
                if scene.over:
                    break
        return ShownFilm(path.read_bytes(), png_bytes(picture), film.frames, stage.size)
