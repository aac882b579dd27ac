"""Pictures and films of what a player shows, under numbered names in the current folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gpufluid.common.errors import GpufluidError, counted
from gpufluid.io.film import Film
from gpufluid.io.images import FrameFolder, write_png


class Recording:
    """Writes what `read` returns, pictures [height, width, 3], and has the user told of it by `say`.

    name: what files are called, ``name-0001.png``. frames: of the film being made. What cannot be written is
    said too, and ends a film.
    """

    def __init__(self, name: str, read: Callable[[], NDArray[np.uint8]], say: Callable[[str], None]) -> None:
        self.name, self._read, self._say = name, read, say
        self.frames = 0
        self._film: Film | FrameFolder | None = None

    @property
    def on(self) -> bool:
        """Whether a film is being made."""
        return self._film is not None

    def begin(self, suffix: str, size: tuple[int, int], fps: float) -> None:
        """Begin a film (".mp4") or a folder of pictures ("") under the first free number."""
        path = self._free(suffix)
        try:
            self._film = Film(path, size, fps=fps) if suffix else FrameFolder(path)
            self._say(f"recording {path}")
        except GpufluidError as error:
            self._say(str(error))

    def add(self) -> None:
        """Add what is seen to the film, if one is being made."""
        if self._film is not None:
            try:
                self._film.write(self._read())
                self.frames += 1
            except GpufluidError as error:
                self._say(str(error))
                self.end()

    def end(self) -> None:
        """Finish the film, if one is being made."""
        film, self._film = self._film, None
        self.frames = 0
        if film is None:
            return
        try:
            film.close()
            if film.frames:
                self._say(f"wrote {film.path.absolute()} ({counted(film.frames, 'frame')})")
        except GpufluidError as error:
            self._say(str(error))

    def snap(self) -> None:
        """Save the picture as a numbered PNG file."""
        self.write(self._free(".png"))

    def write(self, path: Path, overwrite: bool = False) -> None:
        """Save the picture as the PNG file `path`."""
        try:
            write_png(path, self._read(), overwrite)
            self._say(f"wrote {path.absolute()}")
        except GpufluidError as error:
            self._say(str(error))

    def _free(self, suffix: str) -> Path:
        """The first numbered name that is no file's yet."""
        number = 1
        while (path := Path(f"{self.name}-{number:04d}{suffix}")).exists():
            number += 1
        return path
