"""Folders of numbered files, a frame each, and what is told of them beside them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from gpufluid.common.checks import whole_number
from gpufluid.common.errors import GpufluidError
from gpufluid.common.files import REMEDY, open_plain, remove_file, whole_file
from gpufluid.io.paths import check_folder, numbered

Folder = TypeVar("Folder", bound="NumberedFolder")

LONGEST = 1 << 20  # bytes of a sidecar
# in all parts of a film
ALIKE = "title", "size", "bits", "transparent", "motion", "fps", "dt", "up", "cells", "cell_size"


def write_json(path: Path, value: Mapping[str, Any], overwrite: bool = False) -> None:
    """Write plain data, whole or not at all."""
    with whole_file(path, overwrite) as partial:
        partial.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")


def _alike(about: Mapping[str, Any]) -> dict[str, Any]:
    """What of that is the same in all parts of a film; where the grid lies is not, for it may follow."""
    grid = about.get("grid")
    flat = {**about, **grid} if isinstance(grid, dict) else about
    return {name: flat[name] for name in ALIKE if name in flat}


class NumberedFolder:
    """A folder of numbered files, ``STEM_0001.png`` on; a context manager.

    The folder is made with the first file. pattern: of names that are such files: without `overwrite` there
    must be none yet, with it those of an earlier and longer film that are left over at the end are removed.
    begin: the number of the first file; those of lower numbers are an earlier part of the film, and stay:
    without `overwrite` they must end in `suffix` as well, and be told of alike.
    sidecar, about: the JSON file in it that tells of the frames, and what it tells: also their number, with
    those of an earlier part right before them, which is right after every frame, also after a crash, and
    "complete": true once the block ends without an exception; None: no such file. Raises GpufluidError as
    :func:`gpufluid.io.paths.check_folder` does.
    """

    what = "files"
    sidecar = "frames.json"

    def __init__(
        self,
        folder: str | os.PathLike[str],
        stem: str,
        suffix: str,
        pattern: re.Pattern[str],
        overwrite: bool,
        about: Mapping[str, Any] | None,
        begin: int = 1,
    ) -> None:
        self._begin = whole_number(begin, "begin", low=1)
        self.path = check_folder(folder, pattern, self.what, overwrite, self._begin)
        self.frames = 0
        self._overwrite = overwrite
        self._stem, self._suffix, self._pattern = stem, suffix, pattern
        self._first = self._begin  # of the row of files without a gap
        while self._first > 1 and (self.path / self.name(self._first - 1)).exists():
            self._first -= 1
        self._about = None if about is None else json.loads(json.dumps(about))
        if self._begin > 1 and not overwrite and self.path.is_dir():
            self._check_earlier_part()

    def _check_earlier_part(self) -> None:
        """Raise GpufluidError where the frames before the first are not of the same film."""
        before = Path(self.name(self._begin - 1)).stem
        for file in self.path.iterdir():
            if file.stem == before and file.suffix != self._suffix and self._pattern.fullmatch(file.name):
                raise GpufluidError(f"{file}: {self.what} go on as {self._suffix} here; {REMEDY}")
        told = self._told_before() if self._first < self._begin and self._about is not None else {}
        now = _alike(self._about or {})
        for name, was in _alike(told).items():
            if name in now and was != now[name]:
                raise GpufluidError(
                    f"{self.path}: the {self.what} there are of another film, with {name} {was} in "
                    f"{self.sidecar}, and {now[name]} here; {REMEDY}"
                )

    def _told_before(self) -> dict[str, Any]:
        """What the sidecar says of an earlier part; nothing where there is none, or it is damaged."""
        try:
            with open_plain(self.path / self.sidecar, LONGEST) as file:
                told = json.loads(file.read(LONGEST))
        except (OSError, ValueError, RecursionError):
            return {}
        return told if isinstance(told, dict) else {}

    def name(self, number: int) -> str:
        """The name of the frame `number`."""
        return f"{self._stem}_{number:04d}{self._suffix}"

    def next_file(self) -> Path:
        """Where the next frame goes, in a folder that is there.

        Raises GpufluidError where none can be made, and, unless `overwrite`, for a file that is there by now.
        """
        try:
            self.path.mkdir(exist_ok=True)
        except OSError as error:
            raise GpufluidError(f"{self.path}: could not be made: {error.strerror or error}") from error
        file = self.path / self.name(self._begin + self.frames)
        if not self._overwrite and file.exists():
            raise GpufluidError(f"{file}: another program writes numbered files there too; {REMEDY}")
        return file

    def is_there(self) -> None:
        """Count the next frame, which has been written."""
        self.frames += 1
        self._tell(complete=False)

    def _tell(self, complete: bool) -> None:
        """Say in the sidecar how many frames are good."""
        if self._about is None or not self.frames:
            return
        last = self._begin + self.frames - 1
        told = {**self._about, "frames": last - self._first + 1, "complete": complete}
        told |= {"first": self.name(self._first), "last": self.name(last)}
        write_json(self.path / self.sidecar, told, overwrite=True)

    def close(self, complete: bool = True) -> None:
        """Remove what an earlier film left beyond the last frame. complete: whether no frame is missing.

        Raises GpufluidError where that cannot be: on Windows, of a file that another program has open.
        """
        if not self.frames or not (complete or self.path.is_dir()):  # a folder that vanished has ended it
            return
        self._tell(complete)
        mine = {self.name(self._begin + n) for n in range(self.frames)}
        left = self.path
        try:
            for left in numbered(self.path, self._pattern, self._begin):
                if left.name not in mine:
                    remove_file(left)
        except OSError as error:
            raise GpufluidError(
                f"{left}: what an earlier film left could not be removed: {error.strerror or error}"
            ) from error

    def __enter__(self: Folder) -> Folder:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.close(complete=kind is None)
