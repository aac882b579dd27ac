"""The options of the command ``gpufluid``: what they are, and how what is typed there is read."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from gpufluid.common.errors import GpufluidError, near, one_of

BACKENDS = ("auto", "compute", "fragment")  # NumPy steps, but has nothing a renderer could draw

T = TypeVar("T")


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, like every other error of the command."""

    def error(self, message: str) -> NoReturn:
        if message.endswith("--cells: expected 3 arguments"):
            message += ", as in --cells 64 96 64"
        raise GpufluidError(f"{message} (see: {self.prog} --help)")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse's, but the command that does not know a word says so, with the nearest it knows."""
        found, more = super().parse_known_args(args, namespace)
        if more:
            self.refuse(*more)
        return found, more

    def check_option(self, word: str) -> None:
        """Raise GpufluidError where `word` begins no option."""
        if not any(option.startswith(word) for option in self._option_string_actions):
            self.refuse(word)

    def refuse(self, *words: str) -> NoReturn:
        """Raise GpufluidError for words that mean nothing, with the option nearest to the first."""
        known = near(words[0], self._option_string_actions)
        self.error(f"unrecognized arguments: {' '.join(words)}{known}")


def _argument(parse: Callable[[str], T]) -> Callable[[str], T]:
    """Let argparse name the option in front of what `parse` finds wrong."""

    def checked(text: str) -> T:
        try:
            return parse(text)
        except ValueError as error:  # Python's own too, of more digits than it reads
            raise argparse.ArgumentTypeError(str(error)) from None

    return checked


@_argument
def _count(text: str) -> int:
    if not re.fullmatch(r"[+-]?\d+", text) or int(text) < 1:
        raise GpufluidError(f"must be a whole number >= 1, got {text!r}")
    return int(text)


@_argument
def size(text: str) -> tuple[int, int]:
    """Width and height, pixels, as in 640x360. Raises argparse's error."""
    from gpufluid.common.checks import check_size

    match = re.fullmatch(r"([+-]?\d+)[xX]([+-]?\d+)", text)
    if not match:
        raise GpufluidError(f"must look like 640x360, got {text!r}")
    return check_size((int(match[1]), int(match[2])))


@_argument
def _rate(text: str) -> float:
    from gpufluid.common.checks import finite_number

    try:
        return finite_number(float(text), "the rate", above=0.0)
    except ValueError:
        raise GpufluidError(f"the rate must be a finite number > 0, got {text!r}") from None


@_argument
def _change(text: str) -> str:
    if "=" not in text:
        raise GpufluidError(f"a change must look like settings.viscosity=0.001, got {text!r}")
    return text


@_argument
def _backend(text: str) -> str:
    one_of(text, BACKENDS, "backend")
    return text


def add_play_arguments(parser: argparse.ArgumentParser) -> None:
    """How long a scene is played, on which grid, and what is written of it."""
    add = parser.add_argument
    add(
        "--frames",
        type=_count,
        metavar="N",
        help="frames to simulate (default: to the scene's end; 120 for a film of a scene without one)",
    )
    add(
        "--size",
        type=size,
        metavar="WxH",
        help="size of a film in pixels (default: 640x360), or of the window (default: 960x540)",
    )
    add("--fps", type=_rate, metavar="N", help="frame rate of the film (default: the scene's, else 30)")
    add(
        "-o",
        "--out",
        metavar="FILE_OR_DIR",
        help="write to files, without a window: a film (.mp4, .webm, .mov), the last frame (.png, .exr) or a "
        "folder of pictures",
    )
    add("--overwrite", action="store_true", help="replace existing files")
    add("--quiet", action="store_true", help="print no progress bar and no line per file")
    add("--transparent", action="store_true", help="transparent background (.webm, .mov, pictures)")
    _add_output_arguments(parser.add_argument_group("more output, without a window"))
    add_grid_arguments(parser)
    add("--resume", metavar="FILE", help="continue from a state written by --save, for --frames more frames")


def add_grid_arguments(parser: argparse.ArgumentParser) -> None:
    """Its grid, and how kernels run."""
    parser.add_argument(
        "--cells",
        type=_count,
        nargs=3,
        metavar=("X", "Y", "Z"),
        help="cells of the grid along x, y and z; the box keeps its size",
    )
    parser.add_argument(
        "--backend", type=_backend, metavar="NAME", help=f"how kernels run, one of {', '.join(BACKENDS)}"
    )


def _add_output_arguments(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--format", metavar="NAME", help="format of a folder's pictures: png (default), or exr with depth")
    add(
        "--bits",
        type=_count,
        metavar="N",
        help="bits per channel: 8 or 16 (.png, sheets, .mov), 16 or 32 (.exr)",
    )
    add(
        "--motion",
        action="store_true",
        help="add the motion of smoke and solids to EXR pictures (forward.u, forward.v)",
    )
    add("--volumes", metavar="DIR", help="write one numbered volume per frame into this folder")
    add("--volume-format", metavar="NAME", help="vdb (OpenVDB, the default), vti (ParaView) or npz (NumPy)")
    add(
        "--fields",
        type=_words,
        metavar="A,B",
        help="fields in the volumes (default: density, temperature, velocity, and others the scene has)",
    )
    add("--up", metavar="AXIS", help="which axis is up in the volumes: y (default), or z as in Blender")
    add("--flip-book", metavar="FILE.png", help="write all frames as one sheet for games, with a .json file")
    add(
        "--flow-map",
        metavar="FILE.png",
        help="write the velocities as one sheet for games, with a .json file",
    )
    add(
        "--flow-axis",
        metavar="AXIS",
        help="axis the flow map looks along: x, y or z (default); camera: the motion in each frame of the "
        "flip book, in pixels",
    )
    add(
        "--six-way",
        metavar="FILE.png",
        help="write the smoke in the light of six sides as two sheets for games, FILE_rtb.png and "
        "FILE_lbf.png, with a .json file",
    )
    add("--save", metavar="FILE", help="write the state after the last frame, for --resume")
    add("--columns", type=_count, metavar="N", help="columns of the sheets (default: nearly square)")


def add_changes(parser: argparse.ArgumentParser) -> None:
    """What is changed in a scene."""
    parser.add_argument(
        "--set",
        type=_change,
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="change a value of the scene, e.g. settings.viscosity=0.001, or a parameter of a script's "
        "function; can be repeated",
    )


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(","))
