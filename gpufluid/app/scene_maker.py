"""What builds the scene of a window, at first and anew, and the file that is watched for changes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from gpufluid.common.errors import GpufluidError, SceneError
from gpufluid.scene.scene import Cells, Scene

LOOK = 0.25  # seconds between looks at the files


class SceneMaker:
    """Builds a scene in the context `ctx` of a window: by `make`, or from the file it was saved in since.

    make: called with cells=, as in `Scene.load`, for other grids. file: the one that is watched, if any.
    asked: what the command line asks for beside it: backend, changes, and cells of the first box. trouble:
    what is wrong with the file as it is now: with one that it names, perhaps, which is watched then. stale:
    whether it has changed and was not read.
    """

    def __init__(
        self, make: Callable[..., Scene], ctx: Any, file: Path | None, asked: Mapping[str, Any]
    ) -> None:
        self._make, self._ctx = make, ctx
        self.file, self._stamp, self._looked = file, _stamp(file), 0.0
        self._backend = asked.get("backend", "auto")
        self._cells: Cells | None = asked.get("cells")
        self.changes: tuple[str, ...] = tuple(asked.get("changes", ()))
        self.trouble, self.stale = "", False
        self._parts: dict[Path, tuple[int, int] | None] = {}
        self._wanted: Sequence[Path] = ()

    def build(self, cells: Mapping[int, Cells]) -> Scene:
        """The scene, with these cells in boxes by their numbers. Raises GpufluidError."""
        if not cells:
            return self._make()
        given = [cells.get(box) for box in range(max(cells) + 1)]
        given[0] = given[0] or self._cells
        return self._make(cells=given[0] if len(given) == 1 else given)

    def of(self, file: Path) -> SceneMaker:
        """Another one, of what is in `file`, with the same backend."""
        asked = {"backend": self._backend}
        return SceneMaker(partial(Scene.load, file, ctx=self._ctx, **asked), self._ctx, file, asked)

    def was_read(self) -> None:
        """The scene is as its file says."""
        self.trouble, self.stale, self._wanted = "", False, ()

    def was_wrong(self, error: GpufluidError) -> None:
        """The file cannot be played, for this reason."""
        self.trouble = str(error)
        self._wanted = error.files if isinstance(error, SceneError) else ()
        self._parts |= {file: _stamp(file) for file in self._wanted}

    def was_left(self) -> None:
        """The file has changed and is not read, for the sake of unsaved changes."""
        self.trouble, self.stale = "", True

    def has_changed(self, parts: Callable[[], Iterable[Path]]) -> Path | None:
        """The file, where it is there and another one than when it was looked at last, LOOK ago or more.

        parts: gives the files that the scene in it reads, one of which may have changed in its place.
        """
        now = time.perf_counter()
        if self.file is None or now - self._looked < LOOK:
            return None
        self._looked, before, self._stamp = now, self._stamp, _stamp(self.file)
        stamps = {
            part: _stamp(part) or self._parts.get(part) for part in (*parts(), *self._wanted)
        }  # some vanish as they are saved
        known, self._parts = self._parts, stamps
        if self._stamp not in (before, None):
            return self.file
        return next((part for part in stamps if known.get(part, stamps[part]) != stamps[part]), None)

    @property
    def changed_elsewhere(self) -> bool:
        """Whether the file is not as it was read or saved here."""
        return self.stale or _stamp(self.file) != self._stamp

    def passing(self, cells: Mapping[int, Cells]) -> tuple[int, ...]:
        """The boxes whose cells are for this session only: those of the command line, and of no `cells`."""
        return () if self._cells is None or 0 in cells else (0,)

    def was_saved(self, file: Path, cells: Mapping[int, Cells]) -> None:
        """The scene was saved in `file`, those `cells` too: from now on that is built and watched."""
        passing = self.passing(cells)
        self.file, self._stamp, self.changes = file, _stamp(file), ()
        self._make = partial(Scene.load, file, ctx=self._ctx, backend=self._backend)
        self.was_read()
        if not passing:
            self._cells = None
        elif self._cells is not None:
            self._make = partial(self._make, cells=self._cells)


def _stamp(file: Path | None) -> tuple[int, int] | None:
    """What tells that a file has changed, or None where there is none."""
    if file is None:
        return None
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
