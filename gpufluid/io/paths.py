"""Where a picture or a film may be written, checked before the first frame is computed."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Literal

from gpufluid.common.errors import GpufluidError, counted
from gpufluid.common.files import REMEDY, check_file, check_name, check_parent, named_file, try_folder

Kind = Literal["film", "picture", "folder"]

KINDS: dict[str, Kind] = {
    **dict.fromkeys((".mp4", ".webm", ".mov"), "film"),
    **dict.fromkeys((".png", ".exr"), "picture"),
    "": "folder",
}
FRAME_PATTERN = re.compile(r"frame_\d{4,}\.(png|exr)")
PICTURES = "numbered pictures"


def output_kind(path: str | os.PathLike[str]) -> Kind:
    """Return what `path` asks for: a film (.mp4, .webm, .mov), a picture (.png, .exr), a folder for pictures.

    A folder is a name without a suffix, one that ends in a slash, or one that is a folder already.
    Raises GpufluidError for every other suffix, and for what is no path.
    """
    named_file(path)
    text = os.fspath(path)  # with the slash at its end, which says that it is a folder
    suffix = Path(text).suffix.lower()
    if text.endswith(("/", os.sep)):
        return "folder"
    if suffix in KINDS:
        return KINDS[suffix]
    if Path(text).is_dir():
        return "folder"
    raise GpufluidError(
        f"{text}: cannot write {suffix} files; name a film (.mp4, .webm or .mov), a picture (.png or .exr) "
        f"or a folder for numbered pictures"
    )


def check_output(path: str | os.PathLike[str], overwrite: bool = False) -> Path:
    """Return `path` as a Path that can be written now; nothing is left behind on the disk.

    Raises GpufluidError, naming the path and the remedy, for a suffix that means nothing, a parent folder
    that is missing or cannot be written to, a folder where a file should go, and, without `overwrite`,
    a file or frames that exist.
    """
    if output_kind(path) == "folder":
        return check_folder(path, FRAME_PATTERN, PICTURES, overwrite)
    return check_new_file(path, overwrite)


def check_new_file(
    path: str | os.PathLike[str], overwrite: bool = False, suffixes: tuple[str, ...] = ()
) -> Path:
    """Return `path` as a Path under which a file can be written now; nothing is left behind on the disk.

    Raises GpufluidError as `check_file` does, and for a folder that takes no files.
    """
    target = check_file(path, overwrite, suffixes)
    _try_folder(target, target.parent)
    return target


def check_folder(
    path: str | os.PathLike[str],
    pattern: re.Pattern[str],
    what: str,
    overwrite: bool = False,
    begin: int = 1,
) -> Path:
    """Return `path` as a Path under which a folder of `what`, named as `pattern` says, may be written.

    begin: the number of the first that is going to be; those before it may be there.
    Raises GpufluidError as `check_output` does; nothing is left behind on the disk.
    """
    target = named_file(path)
    try:
        check_name(target)
        there = target.is_dir()
        if target.exists() and not there:
            raise GpufluidError(f"{target}: is a file; a folder of {what} needs another name")
        folder = target if there else target.parent
        check_parent(target, folder)
        if not overwrite and there and (old := numbered(target, pattern, begin)):
            which = f" from number {begin} on" if begin > 1 else ""
            raise GpufluidError(
                f"{target}: holds {counted(len(old), what.removesuffix('s'))}{which} already; {REMEDY}"
            )
    except OSError as error:
        raise GpufluidError(f"{target}: cannot write there: {error.strerror or error}") from None
    _try_folder(target, folder)
    return target


def _try_folder(target: Path, folder: Path) -> None:
    """Raise where `folder`, in which `target` is to be made, takes no files."""
    try:
        try_folder(folder)
    except OSError as error:
        raise GpufluidError(
            f"{target}: cannot write in the folder {folder.absolute()} ({error.strerror}); choose another one"
        ) from None


def numbered(folder: Path, pattern: re.Pattern[str], begin: int = 1) -> list[Path]:
    """Return the files in `folder` whose names `pattern` fits, from the number `begin` on, sorted by name."""
    found = (p for p in folder.iterdir() if pattern.fullmatch(p.name))
    return sorted(p for p in found if begin == 1 or int(p.stem.rpartition("_")[2]) >= begin)
