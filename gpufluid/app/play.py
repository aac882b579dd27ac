"""Playing a scene: in a window where there is a display, else rendered off screen to files."""

from __future__ import annotations

import contextlib
import inspect
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, TextIO

from gpufluid.app.display import glfw_chosen, has_display
from gpufluid.app.outputs import Name, Output, Outputs, Shot
from gpufluid.app.streams import tell
from gpufluid.common.checks import check_size, finite_number, whole_number
from gpufluid.common.errors import GLUnavailableError, GpufluidError, counted
from gpufluid.common.stops import unbroken
from gpufluid.common.vectors import Number, Size
from gpufluid.engine.fluid import Fluid
from gpufluid.gl.late import settle
from gpufluid.io.background import patience
from gpufluid.io.images import write_png
from gpufluid.scene.scene import Scene
from gpufluid.scene.script import scene_of

if TYPE_CHECKING:
    import moderngl

    from gpufluid.render.frame import FrameRenderer

FRAMES = 120
WINDOW_SIZE = (960, 540)
STUDIO_SIZE = (1180, 680)
WAITED = 0.4  # s; a frame that takes longer is not waited for after Ctrl-C, but forgotten


def run(
    scene: Scene | Callable[..., Scene | Iterator[Any]],
    *,
    frames: int | None = None,
    out: Name | None = None,
    size: Size | None = None,
    overwrite: bool = False,
    fps: Number | None = None,
    progress: bool = True,
    still: Name | None = None,
    transparent: bool = False,
) -> None:
    """Play a scene in a window, or render it to files: with `out` or `still`, or where there is no display.

    scene: a Scene, or the function that builds one. The function may be a generator: its first ``yield``
    gives the Scene, and every further one is a frame. A window can only show a fluid that lives in the
    window's own GL context, so the function is called as ``scene(ctx=...)`` with that context, and as
    ``scene()`` without a window. A Scene that is already built has another context: it is rendered to a film.
    What the function has built is released in the end; a Scene stays yours, to continue with.
    frames: how many frames of ``scene.dt`` seconds to simulate, at most, as a scene may be over before; None:
    until it is over; without an end 120, or until the window is closed.
    out: ``.mp4`` for a film, ``.png`` for the last frame, or a folder for numbered pictures. still: the last
    frame as ``.png`` too. With neither, and no window: a film and its last frame, named like the script, in
    the current folder.
    size: (width, height), pixels; None: that of the scene's picture for a film, 960 x 540 for a window.
    overwrite: whether existing files are replaced. fps: frames per second of a film; None: those of the
    scene's picture. progress: a bar with the time left on stderr, and a line for each file written.
    transparent: without a window, smoke, solids and the floor's shadow on nothing, with straight alpha, as
    with a scene's ``background="transparent"``: in ``.webm``, ``.mov`` or pictures, since MP4 has no alpha.

    After an exception or Ctrl-C the film holds the frames finished so far; the picture of the last one is
    written after Ctrl-C only if it had been drawn. Raises GpufluidError for bad input before anything is
    computed, and leaves no file then.
    """
    # not the first of sys.argv, which in a notebook is the kernel's launcher
    script = getattr(sys.modules.get("__main__"), "__file__", None) or ""
    name = Path(script).stem if script.endswith(".py") else "gpufluid"
    wanted = Outputs(out=out, still=still, transparent=transparent, overwrite=overwrite)
    play(scene, wanted, name=name, frames=frames, size=size, fps=fps, progress=progress)


def play(
    scene: Scene | Callable[..., Scene | Iterator[Any]],
    wanted: Outputs,
    *,
    name: str,
    frames: int | None = None,
    size: Size | None = None,
    fps: Number | None = None,
    progress: bool = True,
    watch: Path | None = None,
    last: bool = False,
) -> None:
    """As :func:`run`, with all that can be `wanted` off screen, and the name of files that are given none.

    watch: a file; a window builds the scene anew when that has changed. last: the process ends with this, so
    that after Ctrl-C nothing waits for the GPU to have drawn what nobody wants, as releasing its context
    would.
    """
    if isinstance(scene, Scene):
        checked_scene(scene)
    elif not callable(scene):
        told = "; did you mean gf.Scene(fluid)?" if isinstance(scene, Fluid) else ""
        told = "; did you mean gf.Scene.load(...)?" if isinstance(scene, str | os.PathLike) else told
        raise GpufluidError(f"run needs a gpufluid.Scene or a function that builds one, got {scene!r}{told}")
    if frames is not None:
        frames = whole_number(frames, "frames", low=1)
    if size is not None:
        size = check_size(size)
    if fps is not None:
        fps = finite_number(fps, "fps", above=0.0)
    wanted = wanted.check()  # options of what is not written are no options of a window
    shown = has_display()
    if not wanted.wanted and shown:
        try:
            _play_in_window(scene, name, frames, size or WINDOW_SIZE, watch)
            return
        except GLUnavailableError as error:
            print(f"gpufluid: {error}; rendering a film instead", file=sys.stderr)
    with contextlib.ExitStack() as undo:
        built = scene
        if not isinstance(built, Scene):
            _check_call(built)
            built = checked_scene(scene_of(built(), name))
            undo.callback(built.release)
        if not wanted.wanted:
            wanted = _film_of(built, name, wanted)
            if progress and not shown:
                print(f"gpufluid: no display here, so this writes {wanted.out}", file=sys.stderr)
        if size is None:
            with built.told("picture"):
                size = check_size(built.picture.size)
        built.fit(size[0] / size[1])
        fps = built.picture.fps if fps is None else fps
        frames = _frames_of(built, name, frames, progress)
        try:
            with wanted.opened(built, frames, size, fps, progress) as outputs:
                _render(built, wanted, outputs, frames, size, progress, undo)
        except (KeyboardInterrupt, SystemExit):
            if last:
                undo.pop_all()
            raise


def _film_of(scene: Scene, name: str, wanted: Outputs) -> Outputs:
    """What is written where nothing is asked for: a film and its last frame, of that `name`."""
    clear = wanted.transparent or scene.picture.background == "transparent"
    film = f"{name}.webm" if clear else f"{name}.mp4"
    return replace(wanted, out=film, still=f"{name}.png").check()


def _frames_of(scene: Scene, name: str, frames: int | None, progress: bool) -> int | None:
    """How many frames of `scene` are played where `frames` are asked for; None: until its story ends.

    progress: whether to tell of a scene that has fewer. Raises GpufluidError for one that is over.
    """
    if scene.over:
        played = counted(scene.frame, "frame")
        raise GpufluidError(f"{name} is over after {played}; of a longer duration some are left")
    if scene.frames is None:
        return FRAMES if frames is None and scene.story is None else frames
    left = scene.frames - scene.frame
    if frames is None or frames <= left:
        return left if frames is None else frames
    if progress:
        print(f"gpufluid: {name} is over after {counted(left, 'frame')}, not {frames}", file=sys.stderr)
    return left


def _play_in_window(
    scene: Scene | Callable[..., Scene | Iterator[Any]],
    name: str,
    frames: int | None,
    size: tuple[int, int],
    watch: Path | None = None,
    studio: bool = False,
) -> None:
    """Open a window and play until it is closed. Raises GLUnavailableError where it cannot show the scene.

    studio: begin with the studio's panel open. Raises MissingDependencyError without its package.
    """
    if isinstance(scene, Scene):
        raise GLUnavailableError(
            "this fluid has a GL context of its own, which no window can show (give gpufluid.run the "
            "function that builds the scene)"
        )
    if not _takes(scene, "ctx"):
        raise GLUnavailableError(
            f"{getattr(scene, '__name__', 'the scene function')}() takes no ctx=None, so it cannot build its "
            f"fluid in a window"
        )
    _check_call(scene, ctx=None)
    try:
        with glfw_chosen():
            from gpufluid.app.player import Player
            from gpufluid.app.window import Window
    except ImportError as error:
        raise GLUnavailableError(f"no window opens here ({error})") from None

    def make(**options: Any) -> Scene:
        for option in options:
            if not _takes(scene, option):
                raise GpufluidError(f"{name}: the scene has no choice of {option}")
        return checked_scene(scene_of(scene(ctx=window.ctx, **options), name))

    inner = inspect.unwrap(scene)  # of one that goes on from a state
    asked = inner.keywords if isinstance(inner, partial) else {}
    with Window(size, name) as window, Player(window, make, name, watch, asked) as player:
        if studio:
            player.open_studio()
        player.play(frames)


def studio(scene: Callable[..., Any], *, name: str, size: tuple[int, int] | None, watch: Path | None) -> None:
    """Open the studio on a scene; as :func:`play`, but in a window only, with the panel beside the picture.

    Raises GLUnavailableError where no window opens, MissingDependencyError without imgui-bundle.
    """
    if not has_display():
        raise GLUnavailableError("the studio needs a display, and there is none here")
    _play_in_window(scene, name, None, size or STUDIO_SIZE, watch, studio=True)


def _takes(make: Callable[..., Any], name: str) -> bool:
    """Whether `make` can be called with the keyword `name`."""
    try:
        inspect.signature(make).bind_partial(**{name: None})
    except (TypeError, ValueError):
        return False
    return True


def _check_call(make: Callable[..., Any], **given: Any) -> None:
    """Raise GpufluidError where `make` cannot be called with what is `given` by name, and no more."""
    try:
        signature = inspect.signature(make)
    except (TypeError, ValueError):  # only a call tells
        return
    try:
        signature.bind(**given)
    except TypeError as error:
        what = f"with {', '.join(given)} only" if given else "without values"
        raise GpufluidError(f"the function that builds the scene is called {what}, but is {error}") from None


def checked_scene(scene: Any) -> Scene:
    """Return `scene` if it is one that can be drawn, or raise."""
    if not isinstance(scene, Scene):
        raise GpufluidError(f"run needs a gpufluid.Scene, got {scene!r}")
    if scene.fluid.ctx is None:
        raise GpufluidError(
            'a fluid with backend="numpy" cannot be drawn: use "auto", "compute" or "fragment"; '
            'of one that was saved gf.Fluid.load(file, backend="auto") makes one'
        )
    return scene


def _render(
    scene: Scene,
    wanted: Outputs,
    outputs: list[Output],
    frames: int | None,
    size: tuple[int, int],
    progress: bool,
    undo: contextlib.ExitStack,
) -> None:
    """Simulate `frames` frames, or all, and draw what is asked for; after Ctrl-C, what is done so far.

    undo: takes what is to be released in the end, which waits until all is drawn.
    """
    from gpufluid.render.frame import FrameRenderer

    ctx = scene.fluid.ctx
    assert ctx is not None  # checked
    look, alpha = scene.picture, None
    if wanted.transparent or look.background == "transparent":
        look, alpha = replace(look, background="transparent"), "straight"
    renderer = FrameRenderer.of(look, ctx, size)
    undo.callback(renderer.release)
    renderer.pause = partial(settle, ctx)
    with scene.told():
        renderer.follow(scene)  # views move from the first frame on, whether it is drawn or not
    shot = partial(Shot, scene, partial(_drawn, renderer, scene), alpha)
    rendering = _Rendering(scene, wanted, outputs, ctx, size, progress, shot)
    try:
        with _progress_bar(frames, progress) as tick:
            while rendering.done != frames and rendering.go_on():
                tick()
    except (KeyboardInterrupt, SystemExit) as stop:
        rendering.finish(stop)
        raise
    rendering.finish()
    rendering.write_snaps(shot())  # asked for as the story ended: it may have changed what is seen
    if frames is not None and 0 < rendering.done < frames and progress:  # a story, of no known length
        told = counted(rendering.done, "frame")
        print(f"gpufluid: the scene was over after {told}, not {frames}", file=sys.stderr)
    if rendering.done == 0 and outputs:
        with scene.told():
            raise GpufluidError("the scene is over before its first frame: none was written")


def _drawn(renderer: FrameRenderer, scene: Scene) -> FrameRenderer:
    """`renderer`, which has drawn `scene` as it is now."""
    with scene.told():
        renderer.draw(scene)
    return renderer


@dataclass
class _Rendering:
    """A scene on its way to files, frame by frame; done: so many frames.

    size: of the pictures, pixels. shot: makes one of the scene as it is. last: that of the last frame. whole:
    whether that frame is, so that its state is one to go on from.
    """

    scene: Scene
    wanted: Outputs
    outputs: list[Output]
    ctx: moderngl.Context
    size: tuple[int, int]
    progress: bool
    shot: Callable[[], Shot]
    done: int = 0
    last: Shot | None = None
    whole: bool = True

    def __post_init__(self) -> None:
        # the state after it, where the next frame is not waited for: the first, and those that take long
        self.kept = self.wanted.take_state(self.scene)

    def go_on(self) -> bool:
        """Advance by a frame and give it to the outputs; False where the scene was over."""
        # half a step is no state to go on from: there is one kept, or the frame is finished first
        began, self.whole = monotonic(), False
        waits = self.wanted.save is not None and self.kept is None
        with unbroken() if waits else contextlib.nullcontext():
            frames = self.scene.frame
            self.scene.advance()
            if self.scene.frame == frames:
                self.whole = True
                return False
            settle(self.ctx)
            self.done += 1
            self.last = self.shot()
            self.write_snaps(self.last)
            for output in self.outputs:
                output.add(self.last)
            self.whole = True
        with unbroken():
            self.kept = self.wanted.take_state(self.scene) if monotonic() - began > WAITED else None
        return True

    def write_snaps(self, shot: Shot) -> None:
        """Write the pictures that the scene asks for of `shot`."""
        for snap in self.scene.take_snaps():
            write_png(snap, shot.picture, overwrite=True)

    def finish(self, stopped: BaseException | None = None) -> None:
        """Write the state and the last frame's picture; stopped: what ended it too early."""
        time, path = patience(stopped), None
        failed = self._write_state()  # first: the picture may take long
        drawn = self.last is not None and self.last.is_drawn
        if time is None or drawn:  # who has said stop waits for no drawing
            half = None if time is None else 0.5 * time  # the film needs some too
            path = self.wanted.write_still(self.last or self.shot(), half)
        if path is not None:
            self._say(f"wrote {path.absolute()} (frame {self.done}, {self.size[0]} x {self.size[1]})")
        if failed is not None:
            raise failed

    def _write_state(self) -> GpufluidError | None:
        """Write the state where it is asked for; return what was wrong: the picture is not lost with it."""
        with unbroken():
            state = self.wanted.take_state(self.scene) if self.whole else self.kept
            if state is None:
                return None
            try:
                for file in state.write():
                    self._say(f"wrote {file.absolute()} (the state at {state.time:.3g} s)")
            except GpufluidError as error:
                return error
        return None

    def _say(self, line: str) -> None:
        if self.progress:
            tell(line)


class _Lines:
    """A file to which a bar, which writes over its line, adds one line after the other."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def write(self, text: str) -> None:
        if text := text.strip():
            self._file.write(f"{text}\n")


@contextlib.contextmanager
def _progress_bar(frames: int | None, shown: bool) -> Iterator[Callable[[], object]]:
    """A bar on stderr, where there is tqdm to draw it; yields what moves it on by a frame."""
    try:
        from tqdm import tqdm
    except ImportError:
        shown = False
    if not shown or sys.stderr is None:  # as in a program of Windows' that has no console
        yield lambda: None
        return
    # A log file takes a line now and then; a terminal is told at once. A notebook writes over a line as well.
    live = sys.stderr.isatty()
    over = live or type(sys.stderr).__module__.startswith("ipykernel")
    with tqdm(
        desc="compiling shaders",  # most of the first frame, which may take half a minute on a new machine
        total=frames,
        unit="frame",
        dynamic_ncols=live,
        mininterval=0.1 if live else 10.0,
        file=sys.stderr if over else _Lines(sys.stderr),
    ) as bar:

        def move_on() -> None:
            bar.set_description(refresh=False)
            bar.update()

        yield move_on
