"""The command ``gpufluid``: demo, run, studio, new, scenes, info, bench."""

from __future__ import annotations

import argparse
import contextlib
import difflib
import functools
import importlib
import inspect
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

import gpufluid
from gpufluid.app.hurry import hurry
from gpufluid.app.options import Parser, add_changes, add_grid_arguments, add_play_arguments, size
from gpufluid.app.streams import lasting_streams
from gpufluid.common.errors import ALIKE, GpufluidError, near
from gpufluid.common.files import abandon
from gpufluid.common.stops import ENDS
from gpufluid.description.mesh import MESH_SUFFIXES

OFF_SCREEN = "Without a display, it writes NAME.mp4 and NAME.png into the current folder"
TAKEN = (  # arguments that `Outputs` takes as they are
    *("out", "overwrite", "transparent"),
    *("format", "bits", "motion", "volumes", "volume_format", "fields", "up"),
    *("flip_book", "flow_map", "flow_axis", "six_way", "columns", "save"),
)
BAD_INPUT = 2
STOPPED = 128 + signal.SIGINT  # what a shell reports for a program that Ctrl-C ended
UNREAD = 128 + 13  # and for one that wrote to a pipe which nobody reads, SIGPIPE

AddCommand = Callable[..., argparse.ArgumentParser]  # argparse's `add_parser`, by the name of a command


class _Ended(SystemExit):
    """SIGTERM has come, or another of ENDS."""


def build_parser(command: str) -> argparse.ArgumentParser:
    """Return the parser; the bench adds its own options, and is imported, only where it is `command`."""
    parser = Parser(
        prog="gpufluid",
        description="Real-time 3D smoke, fire and ink.",
        epilog="To begin with: gpufluid demo. `gpufluid COMMAND --help` lists the options of a command.",
    )
    parser.add_argument("--version", action="version", version=f"gpufluid {gpufluid.__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for add_command in (_add_demo, _add_run, _add_studio, _add_new, _add_scenes, _add_info):
        add_command(commands.add_parser)
    bench = commands.add_parser(
        "bench",
        help="measure the speed of a step",
        description="Measure the speed of a step, of each of its passes, and of a picture.",
    )
    if command == "bench":
        from gpufluid.app import bench as module

        module.add_arguments(bench)
        bench.set_defaults(run=module.run)
    if command and not command.startswith("-") and command not in commands.choices:
        there = ", ".join(commands.choices)
        hint = near(command, commands.choices) or _way_to_play(command)
        parser.error(f"there is no command {command!r}, only {there}{hint}")
    if command.startswith("-"):
        parser.check_option(command)
    return parser


def _add_demo(add: AddCommand) -> None:
    demo = add("demo", help="play a demo", description=f"Play a demo. {OFF_SCREEN}.")
    demo.add_argument("name", nargs="?", default="plume", metavar="NAME", help="a demo (default: plume)")
    demo.add_argument("--list", action="store_true", help="list the demos")
    add_changes(demo)
    add_play_arguments(demo)
    demo.set_defaults(run=_demo)


def _add_run(add: AddCommand) -> None:
    run = add(
        "run",
        help="play a scene file",
        description="Play a scene. The window reloads the file whenever it is saved. "
        f"{OFF_SCREEN}, NAME being that of the scene or mesh.",
    )
    run.add_argument(
        "scene", nargs="?", metavar="SCENE", help="a .toml or .py file, or a demo (default: the plume)"
    )
    run.add_argument("--obstacle", metavar="FILE", help="put a mesh into the plume: .obj, .stl, .ply or .glb")
    add_changes(run)
    add_play_arguments(run)
    run.set_defaults(run=_run)


def _add_studio(add: AddCommand) -> None:
    studio = add(
        "studio",
        help="edit a scene while it plays",
        description="Play a scene next to a panel with everything in it, to change with mouse and sliders.",
    )
    studio.add_argument(
        "scene", nargs="?", default="smoke", metavar="SCENE", help="a file, or a demo (default: smoke)"
    )
    add_changes(studio)
    studio.add_argument("--size", type=size, metavar="WxH", help="size of the window (default: 1180x680)")
    add_grid_arguments(studio)
    studio.set_defaults(run=_studio)


def _add_new(add: AddCommand) -> None:
    new = add(
        "new",
        help="write a scene file to start from",
        description="Write a commented scene file to start from.",
    )
    new.add_argument(
        "name", metavar="NAME", help="name of the file: NAME.toml, or NAME.py for a copy of a script"
    )
    new.add_argument("--from", dest="demo", metavar="DEMO", help="copy this demo instead")
    new.add_argument("--overwrite", action="store_true", help="replace an existing file")
    new.set_defaults(run=_new)


def _add_scenes(add: AddCommand) -> None:
    add("scenes", help="list the demos", description="List the demos.").set_defaults(run=_scenes)


def _add_info(add: AddCommand) -> None:
    info = add(
        "info",
        help="show what this machine offers",
        description="Show versions, the OpenGL device and its limits.",
    )
    info.add_argument(
        "--trial",
        action="store_true",
        help="measure again which way to run the kernels is fastest, and use it from then on",
    )
    info.add_argument(
        "--check",
        action="store_true",
        help="step small boxes in every way that this driver has, and compare them with the CPU (a minute)",
    )
    info.set_defaults(run=_info)


def _way_to_play(word: str) -> str:
    """What plays the scene that `word` names, as "; did you mean ...?", or "" where it names none."""
    from gpufluid.app.demos import SUFFIXES, demo_names

    scene = word.lower().endswith(SUFFIXES) or word in demo_names()
    return f"; did you mean 'gpufluid run {word}'?" if scene else ""


def _demo(args: argparse.Namespace) -> int:
    if args.list:
        return _scenes(args)
    return _play(_demo_scene(args.name, args.set), args.name, args)


def _demo_scene(name: str, changes: list[str]) -> Callable[..., Any]:
    """What builds the scene of a demo. Raises GpufluidError for a name that is none."""
    from gpufluid.app.demos import demo_file, load_demo

    if changes:
        return functools.partial(gpufluid.Scene.load, demo_file(name), changes=changes)
    return load_demo(name)


def _named_scene(text: str, changes: list[str]) -> tuple[Callable[..., Any], str, Path | None]:
    """What builds the scene of a file, or else of a demo; its name; and the file that a window watches."""
    from gpufluid.app.demos import ALL_OF_THEM, demo_names
    from gpufluid.scene.scene import scene_suffix

    path = Path(text)
    if text in demo_names() and not path.is_file():
        return _demo_scene(text, changes), text, None
    try:
        scene_suffix(text)  # before its name is one of a film
    except GpufluidError as error:
        told = "" if "did you mean" in str(error) else near(text, demo_names()) or _file_meant(path)
        told = told or _mesh_meant(path) or ("" if path.suffix or not path.name else ALL_OF_THEM)
        raise GpufluidError(f"{error}{told}") from None
    there = False
    with contextlib.suppress(OSError):  # of a name that is too long
        there = path.exists()
    if not there:
        raise GpufluidError(f"{text}: there is no such file{_file_meant(path)}")
    return functools.partial(gpufluid.Scene.load, path, changes=changes), path.stem, path


def _file_meant(path: Path) -> str:
    """Which scene is meant by a `path` where there is none, as "; did you mean ...?", or ""."""
    from gpufluid.app.demos import SUFFIXES, demo_names

    if str(path.parent) == "." and path.stem in demo_names():
        return f"; the demo is {path.stem!r}"
    beside: list[Path] = []
    with contextlib.suppress(OSError):  # there is no such folder
        beside = sorted(path.parent.iterdir())
    stems = {one.stem: one for one in beside if one.suffix in SUFFIXES}
    close = difflib.get_close_matches(path.stem, stems, 1, ALIKE)
    return f"; did you mean {str(stems[close[0]])!r}?" if close else ""


def _mesh_meant(path: Path) -> str:
    """How a mesh is played that was given for a scene, as "; did you mean ...?", or "" for no mesh."""
    mesh = path.suffix.lower() in MESH_SUFFIXES
    return f"; did you mean 'gpufluid run --obstacle {path}'?" if mesh else ""


def _scenes(args: argparse.Namespace) -> int:
    from gpufluid.app.demos import demo_names, demo_summary

    for name in demo_names():
        print(f"{name:16} {demo_summary(name)}")
    return 0


def _new(args: argparse.Namespace) -> int:
    from gpufluid.app.starter import write_starter

    print(f"wrote {write_starter(args.name, args.overwrite, args.demo).absolute()}")
    return 0


def _run(args: argparse.Namespace) -> int:
    from gpufluid.app.demos import load_demo

    if args.scene is not None:
        if args.obstacle is not None:
            raise GpufluidError("--obstacle goes with the plume; a scene names its obstacles itself")
        make, name, watch = _named_scene(args.scene, args.set)
        return _play(make, name, args, watch)
    if args.set:
        raise GpufluidError("--set changes a scene: name one (gpufluid run SCENE --set ...)")
    scene, name = load_demo("plume"), "plume"
    if args.obstacle is not None:
        mesh = gpufluid.Mesh.load(args.obstacle)
        scene, name = functools.partial(scene, obstacle=mesh), Path(args.obstacle).stem
    return _play(scene, name, args)


def _studio(args: argparse.Namespace) -> int:
    from gpufluid.app.play import studio

    make, name, watch = _named_scene(args.scene, args.set)
    studio(_with_choices(make, name, args), name=name, size=args.size, watch=watch)
    return 0


def _with_choices(scene: Callable[..., Any], name: str, args: argparse.Namespace) -> Callable[..., Any]:
    """`scene` with the grid and backend that `args` ask for. Raises GpufluidError for no such choice."""
    chosen = {"cells": tuple(args.cells) if args.cells else None, "backend": args.backend}
    chosen = {key: value for key, value in chosen.items() if value is not None}
    for key in chosen:
        if key not in inspect.signature(scene).parameters:
            raise GpufluidError(f"the demo {name!r} has no choice of --{key}")
    if "cells" in chosen:
        gpufluid.Grid(chosen["cells"])
    return functools.partial(scene, **chosen)


def _play(scene: Callable[..., Any], name: str, args: argparse.Namespace, watch: Path | None = None) -> int:
    from gpufluid.app.outputs import Outputs
    from gpufluid.app.play import play
    from gpufluid.engine.checkpoint import saved_start

    make = _with_choices(scene, name, args)
    if args.resume is not None:
        first = saved_start(args.resume)[0]  # a file that is none is refused before anything is built
        choice = args.cells is None and "cells" in inspect.signature(make).parameters
        make = _resumed(make, name, args.resume, args.size, first if choice else None)
    play(
        make,
        Outputs(**{option: getattr(args, option) for option in TAKEN}, goes_on=args.resume is not None),
        name=name,
        frames=args.frames,
        size=args.size,
        fps=args.fps,
        progress=not args.quiet,
        watch=watch,
        last=args.last,
    )
    return 0


def _resumed(
    scene: Callable[..., Any],
    name: str,
    file: str,
    size: tuple[int, int] | None,
    first: gpufluid.Grid | None,
) -> Callable[..., Any]:
    """`scene`, which goes on where the state in `file` was saved, in pictures of `size` if that is given.

    first: the grid of its first box there, if it may be built in the cells of the state: where there is a GPU
    it may have others.
    """
    from gpufluid.app.outputs import state_files
    from gpufluid.engine.checkpoint import check_grid, saved_start
    from gpufluid.scene.script import scene_of

    @functools.wraps(scene)
    def resumed(*args: Any, **options: Any) -> gpufluid.Scene:
        made = scene_of(scene(*args, **options), name)
        try:
            files = state_files(file, len(made.fluids))
            if first is not None and "cells" not in options:
                more = files[1:] if made.provenance.grids else []  # a script takes cells for one box
                saved = [first, *(saved_start(path)[0] for path in more)]
                described = [fluid.made for fluid in made.fluids[: len(saved)]]
                cells = [grid.cells for grid in saved]
                if cells != [grid.cells for grid in described]:
                    made.release()
                    made = scene_of(scene(*args, **options, cells=cells if more else cells[0]), name)
                    for path, grid, was, fluid in zip(files, saved, described, made.fluids, strict=False):
                        if fluid.made != grid:  # it has another box, which is told as it was described
                            check_grid(path, grid, was)
            if size is not None:
                made.fit(size[0] / size[1])
            made.resume(*files)
        except BaseException:
            made.release()
            raise
        return made

    return resumed


def _info(args: argparse.Namespace) -> int:
    from gpufluid.app.info import check_lines, device_lines, package_lines

    for line in package_lines():
        print(line)
    for line in device_lines(args.trial):
        print(line)
    if args.check:
        for line in check_lines():
            print(line, flush=True)
    return 0


@contextlib.contextmanager
def _manners() -> Iterator[None]:
    """Warnings in one line, and an end by SIGTERM or a closed terminal that still finishes the film."""

    def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        print(f"gpufluid: warning: {message}", file=sys.stderr)

    def end(number: int, frame: object) -> NoReturn:
        raise _Ended(128 + number)

    with warnings.catch_warnings():
        warnings.showwarning = show
        before = {}
        # Python lets no other thread set signal handlers.
        if threading.current_thread() is threading.main_thread():
            before = {number: signal.getsignal(number) for number in ENDS}
        # one that is ignored stays so, as nohup has it; one that was set in C could not be put back
        before = {n: handler for n, handler in before.items() if handler not in (signal.SIG_IGN, None)}
        for number in before:
            signal.signal(number, end)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code: 0, 2 for bad input, 130 after Ctrl-C, 141 where nobody reads.

    argv: its words; None: those of the process, which ends here after Ctrl-C (130) or SIGTERM (143, a
    closed terminal 129).
    """
    words = list(sys.argv[1:] if argv is None else argv)
    with _manners(), lasting_streams(last=argv is None) as output:
        code, ended = 0, None
        try:
            code = _obey(words, last=argv is None)
        except SystemExit as end:  # of --help and --version; of SIGTERM
            ended = end
        output.flush()
        well = not (code if ended is None else ended.code)
        if well and output.failed is not None:
            if isinstance(output.failed, BrokenPipeError):  # as of ``gpufluid info | head -1``
                return UNREAD
            return _refuse(f"standard output could not be written: {output.failed.strerror}")
        if ended is not None:
            raise ended
        return code


def _obey(words: Sequence[str], last: bool) -> int:
    """Do what the `words` say; return the exit code. last: the process ends with this."""
    try:
        if "GPUFLUID_DEBUG" in os.environ:  # or the first option whose check needs the engine would be blamed
            importlib.import_module("gpufluid.common.debugging")
        with _unwrapped():
            args = build_parser(words[0] if words else "").parse_args(words or ["--help"])
            args.last = last
            return int(args.run(args))
    except GpufluidError as error:
        return _refuse(str(error))
    except KeyboardInterrupt:
        print("gpufluid: stopped", file=sys.stderr)
        if last:
            _leave(STOPPED)
        return STOPPED
    except _Ended as end:
        if last:
            _leave(int(str(end)))
        raise


@contextlib.contextmanager
def _unwrapped() -> Iterator[None]:
    """Let a stop be one while modules are loaded: Python before 3.12 may make a RuntimeError of it.

    That is where a class gives its attributes their names (`__set_name__`).
    """
    try:
        yield
    except RuntimeError as error:
        if isinstance(error.__cause__, KeyboardInterrupt | _Ended):
            raise error.__cause__ from None
        raise


def _refuse(why: str) -> int:
    print(f"gpufluid: error: {why}", file=sys.stderr)
    return BAD_INPUT


def _leave(code: int) -> NoReturn:
    """End the process at once: finished files are closed, and the driver may still draw for seconds."""
    abandon()
    sys.stdout.flush()
    sys.stderr.flush()
    hurry()
    os._exit(code)
