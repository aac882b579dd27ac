"""Films: H.264 in MP4, by PyAV.

Frames go to a partial file beside the target in fragments of a second, each playable on its own, so that
even a killed process leaves a film that opens. Closing copies them, without encoding again, into the final
file, with the index first for the web, and gives it its name.
"""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpufluid.errors import GpufluidError, MissingDependencyError
from gpufluid.grid import finite_number
from gpufluid.io.images import check_picture
from gpufluid.io.paths import check_output, output_kind, partial_path

CRF = 17  # x264's quality: 18 is held to look lossless, and smooth smoke shows banding sooner than most
QUEUE = 2  # frames that may wait for the encoder
# ITU-T H.273: primaries and matrix of HD television, transfer of sRGB; and FFmpeg's name for 16 to 235
BT709, SRGB, LIMITED = 1, 13, 1


def require_av() -> Any:
    """Return PyAV, or raise MissingDependencyError; an error too where it came without an H.264 encoder."""
    try:
        import av
    except ImportError:
        raise MissingDependencyError("av", "writing an MP4 film") from None
    if "libx264" not in av.codecs_available:
        raise GpufluidError(
            "this build of the package 'av' has no libx264 to write an MP4 film with: "
            "pip install --force-reinstall av, or write numbered pictures into a folder"
        )
    return av


class Film:
    """An MP4 film being written; a context manager. Close it, and the film is there under its name.

    path: ends in .mp4. size: (width, height) of every frame, pixels. H.264 with 4:2:0 colour takes even
    sizes only: an odd one is padded by repeating its last column or row. fps: frames a second.

    However the block ends, by an exception or Ctrl-C too, the frames written so far are the film; with none
    there is no file. Encoding runs in a thread of its own: it overlaps the next frame's computation, and a
    Ctrl-C, which Python raises in the main thread, cannot strike between a frame and its place in the file.

    Raises GpufluidError for a path that cannot be written to, a size or rate no film has, and a full disk.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        size: tuple[int, int],
        *,
        fps: float = 30.0,
        overwrite: bool = False,
    ) -> None:
        if output_kind(path) != "film":
            raise GpufluidError(f"{os.fspath(path)}: a film's name must end in .mp4")
        if min(size) < 1:
            raise GpufluidError(f"a film's size must be at least 1 x 1, got {size[0]} x {size[1]}")
        self.size = size
        # Broadcast rates such as 29.97 are fractions over 1001.
        self.rate = Fraction(finite_number(fps, "fps", above=0.0)).limit_denominator(1001)
        if not 0 < self.rate <= 1000:
            raise GpufluidError(f"fps must lie in 0.001 .. 1000, got {fps!r}")
        self._av = require_av()
        self.path = check_output(path, overwrite)
        self.frames = 0
        self._partial = partial_path(self.path)
        self._container: Any = None
        self._stream: Any = None
        self._failed: Exception | None = None
        self._closed = False
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="gpufluid-film")
        self._pending: deque[Future[None]] = deque()

    def write(self, picture: NDArray[np.uint8]) -> None:
        """Add one frame, uint8 [h, w, 3], top row first; the array may be reused at once."""
        if self._closed:
            raise GpufluidError(f"{self.path}: the film is closed")
        array = check_picture(picture, self.size)
        height, width = array.shape[:2]
        if height % 2 or width % 2:
            array = np.pad(array, ((0, height % 2), (0, width % 2), (0, 0)), mode="edge")
        frame = self._av.VideoFrame.from_ndarray(np.ascontiguousarray(array), format="rgb24")
        while len(self._pending) >= QUEUE:
            self._pending.popleft().result()
        if self._failed is not None:
            raise self._error(self._failed)
        self._pending.append(self._worker.submit(self._encode, frame))

    def close(self) -> None:
        """Finish the film. Does nothing the second time."""
        if self._closed:
            return
        self._closed = True
        finished = self._worker.submit(self._finish)
        self._worker.shutdown(wait=False)
        finished.result()

    def __enter__(self) -> Film:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Below runs in the worker thread.

    def _open(self) -> None:
        width, height = (n + n % 2 for n in self.size)
        self._container = self._av.open(
            str(self._partial.absolute()),  # an absolute path is never taken for a URL, whatever its name
            "w",
            format="mp4",
            options={"movflags": "frag_keyframe+delay_moov+default_base_moof", "flush_packets": "1"},
        )
        self._stream = stream = self._container.add_stream("libx264", rate=self.rate)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        # No B-frames: frames leave the encoder in order, and times start at zero in every player.
        stream.options = {"crf": str(CRF), "preset": "medium", "bf": "0"}
        codec = stream.codec_context
        codec.gop_size = max(1, round(self.rate))
        codec.colorspace = codec.color_primaries = BT709
        codec.color_trc = SRGB
        codec.color_range = LIMITED

    def _encode(self, frame: Any) -> None:
        if self._failed is not None:
            return
        try:
            if self._container is None:
                self._open()
            frame = frame.reformat(format="yuv420p", dst_colorspace="ITU709", dst_color_range="MPEG")
            frame.pts, frame.time_base = self.frames, 1 / self.rate
            for packet in self._stream.encode(frame):
                self._container.mux(packet)
            self.frames += 1
        except Exception as error:  # raised in the caller's thread, by the next write or by close
            self._failed = error

    def _finish(self) -> None:
        if self._container is None:
            if self._failed is not None:
                raise self._error(self._failed)
            return
        try:
            for packet in self._stream.encode(None) if self._failed is None else ():
                self._container.mux(packet)
        except Exception as error:
            self._failed = error
        try:
            self._container.close()
        except Exception as error:
            self._failed = self._failed or error
        if self._failed is None:
            try:
                self._publish()
                return
            except Exception as error:
                self._failed = error
        self._salvage()
        raise self._error(self._failed)

    def _publish(self) -> None:
        """Copy the fragments into one film with its index first, under the final name."""
        whole = self._partial.with_name(f"whole-{self._partial.name}")
        try:
            with (
                self._av.open(str(self._partial.absolute())) as source,
                self._av.open(
                    str(whole.absolute()), "w", format="mp4", options={"movflags": "+faststart"}
                ) as target,
            ):
                given = source.streams.video[0]
                taken = target.add_stream_from_template(given)
                for packet in source.demux(given):
                    if packet.dts is not None:  # the last, empty one has none
                        packet.stream = taken
                        target.mux(packet)
            whole.replace(self.path)
            self._partial.unlink()
        finally:
            whole.unlink(missing_ok=True)

    def _salvage(self) -> None:
        """After an error: the fragments that reached the disk whole are the film, if there are any."""
        end = whole_fragments(self._partial) if self._partial.exists() else 0
        if not end:
            self.frames = 0
            self._partial.unlink(missing_ok=True)
            return
        os.truncate(self._partial, end)
        with self._av.open(str(self._partial.absolute())) as film:
            self.frames = sum(packet.size > 0 for packet in film.demux(video=0))
        self._partial.replace(self.path)

    def _error(self, cause: Exception) -> Exception:
        if not isinstance(cause, (OSError, self._av.error.FFmpegError)):
            return cause
        reason = getattr(cause, "strerror", None) or cause
        kept = f"; {self.frames} frames are kept there" if self._closed and self.frames else ""
        return GpufluidError(f"{self.path}: the film could not be written: {reason}{kept}")


def whole_fragments(path: Path) -> int:
    """Return how many bytes of an MP4 file reach to the end of its last fragment that is there whole.

    The file is a row of boxes, each with its size in front (ISO/IEC 14496-12, 4.2); media lie in "mdat".
    """
    end = position = 0
    length = path.stat().st_size
    with path.open("rb") as file:
        while position + 8 <= length:
            file.seek(position)
            header = file.read(16)
            size = int.from_bytes(header[:4], "big")
            if size == 1:  # the size proper follows, in 64 bits
                size = int.from_bytes(header[8:], "big")
            if size < 8 or position + size > length:
                break
            position += size
            if header[4:8] == b"mdat":
                end = position
    return end
