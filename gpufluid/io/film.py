"""Films by PyAV: H.264 in MP4, VP9 in WebM, ProRes 4444 in MOV; the last two with alpha where it is asked.

Frames go to a partial file beside the target in fragments of a second (WebM: clusters), each playable on its
own, so that even a killed process leaves a film that opens. Closing gives it its name; an MP4 or MOV is
copied for that, without encoding again, so that its index comes first, for the web.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from errno import ENOENT
from fractions import Fraction
from itertools import count
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpufluid.common.checks import finite_number, whole_number
from gpufluid.common.errors import GpufluidError, counted, needs, warn
from gpufluid.common.files import partial_path, remove_file, replace_file
from gpufluid.common.vectors import Number, Size
from gpufluid.io.background import Background, patience
from gpufluid.io.images import check_picture
from gpufluid.io.paths import check_output, output_kind

# ITU-T H.273: primaries and matrix of HD television, transfer of sRGB; and FFmpeg's name for 16 to 235
BT709, SRGB, LIMITED = 1, 13, 1
FRAGMENTS = {"movflags": "frag_keyframe+delay_moov+default_base_moof", "flush_packets": "1"}


@dataclass(frozen=True)
class Codec:
    """How films with one ending are written: FFmpeg's names for format, encoder and pixels.

    alpha_pixels: with alpha, or None where the format has none. even: whether sizes must be even, since two
    by two pixels share their colour. gop: whether the encoder takes the distance of its key frames.
    """

    format: str
    encoder: str
    pixels: str
    alpha_pixels: str | None
    options: dict[str, str]
    muxing: dict[str, str]
    even: bool = True
    gop: bool = True


CODECS = {
    # crf 17: 18 is held to look lossless, and smooth smoke shows banding sooner than most. No B-frames:
    # frames leave the encoder in order, and times start at zero in every player.
    ".mp4": Codec("mp4", "libx264", "yuv420p", None, {"crf": "17", "preset": "medium", "bf": "0"}, FRAGMENTS),
    # crf 20 of VP9 is about 17 of x264. No hidden reference frames: colour and alpha
    # are encoded apart and have to keep in step.
    ".webm": Codec(
        "webm",
        "libvpx-vp9",
        "yuv420p",
        "yuva420p",
        {"crf": "20", "b": "0", "cpu-used": "4", "row-mt": "1", "auto-alt-ref": "0"},
        {"cluster_time_limit": "1000", "flush_packets": "1"},
    ),
    ".mov": Codec(
        "mov",
        "prores_ks",
        "yuv444p10le",
        "yuva444p10le",
        {"profile": "4444", "vendor": "apl0", "alpha_bits": "16"},
        FRAGMENTS,
        even=False,
        gop=False,
    ),
}


def require_av(encoder: str = "libx264") -> Any:
    """Return PyAV, or raise MissingDependencyError; an error too where it came without `encoder`."""
    with needs("av", "writing a film"):
        import av
    if encoder not in av.codecs_available:
        raise GpufluidError(
            f"this build of the package 'av' has no {encoder} to write this film with: "
            "pip install --force-reinstall av, or write numbered pictures into a folder"
        )
    return av


class Film:
    """A film being written; a context manager. Close it, and the film is there under its name.

    path: ends in .mp4 (H.264), .webm (VP9) or .mov (ProRes 4444, 10 bits). size: (width, height) of every
    frame, pixels. MP4 and WebM with 4:2:0 colour take even sizes only: an odd one is padded by repeating its
    last column or row. fps: frames a second. alpha: the frames have a fourth channel, straight, and the film
    keeps it; not in MP4. overwrite: replace a file of that name. Without, a film during which another program
    has made one is called smoke_2.mp4 in place of smoke.mp4, as a warning and its `path` say; so is one that
    would replace a file which another program holds open, on Windows.

    However the block ends, by an exception or Ctrl-C too, the frames written so far are the film; with none
    there is no file. Encoding runs in a thread of its own: it overlaps the next frame's computation, and a
    Ctrl-C, which Python raises in the main thread, cannot strike between a frame and its place in the file.

    Raises GpufluidError for a path that cannot be written to, a size or rate no film has, and a full disk.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        size: Size,
        *,
        fps: Number = 30.0,
        overwrite: bool = False,
        alpha: bool = False,
    ) -> None:
        if output_kind(path) != "film":
            raise GpufluidError(f"{os.fspath(path)}: a film's name must end in {', '.join(CODECS)}")
        self._codec = CODECS[Path(path).suffix.lower()]
        pixels = self._codec.alpha_pixels if alpha else self._codec.pixels
        if pixels is None:
            raise GpufluidError(f"{os.fspath(path)}: this film holds no alpha; take .webm or .mov")
        self._pixels, self.alpha = pixels, alpha
        try:
            width, height = size
        except (TypeError, ValueError):
            raise GpufluidError(f"a film's size must be two numbers (width, height), got {size!r}") from None
        what = "a film's width and height"
        self.size = whole_number(width, what, low=1), whole_number(height, what, low=1)
        # Broadcast rates such as 29.97 are fractions over 1001.
        self.rate = Fraction(finite_number(fps, "fps", above=0.0)).limit_denominator(1001)
        if not 0 < self.rate <= 1000:
            raise GpufluidError(f"fps must lie in 0.001 .. 1000, got {fps!r}")
        self._av = require_av(self._codec.encoder)
        self.path = check_output(path, overwrite)
        self.frames = 0
        self._overwrite = overwrite
        self._partial = partial_path(self.path)
        self._container: Any = None
        self._stream: Any = None
        self._failed: Exception | None = None
        self._closed = False
        self._muxed = 0  # frames that are in the file, one a packet
        self._ends: float | None = None
        self._worker = Background("film")

    def write(self, picture: NDArray[Any]) -> None:
        """Add `picture` as one frame, top row first: uint8 or uint16 [h, w, 3], or 4 with alpha.

        The array may be reused at once. Raises GpufluidError for a picture of another shape, a film that is
        closed, and what the disk refused of this frame or one before.
        """
        if self._closed:
            raise GpufluidError(f"{self.path}: the film is closed")
        array = check_picture(picture, self.size, deep=True)
        if (array.shape[2] == 4) != self.alpha:
            raise GpufluidError(
                f"{self.path}: a film made with alpha={self.alpha} takes pictures of {3 + self.alpha} "
                f"channels, got {array.shape[2]}"
            )
        height, width = (n % 2 for n in array.shape[:2])
        if self._codec.even and (height or width):
            array = np.pad(array, ((0, height), (0, width), (0, 0)), mode="edge")
        names = ("rgb24", "rgba") if array.dtype == np.uint8 else ("rgb48le", "rgba64le")
        frame = self._av.VideoFrame.from_ndarray(np.ascontiguousarray(array), format=names[self.alpha])
        try:
            self._worker.do(lambda: self._encode(frame))
        except Exception as error:
            raise self._error(error) from error

    def close(self, patience: float | None = None) -> None:
        """Finish the film. Does nothing the second time.

        patience: seconds after which frames that wait for the encoder, or are in it, are left out.
        """
        if self._closed:
            return
        self._closed = True
        self._ends = None if patience is None else monotonic() + patience
        self._worker.close(self._finish, patience)

    def __enter__(self) -> Film:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.close(patience(error))

    # Below runs in the worker thread.

    def _open(self) -> None:
        rules = self._codec
        width, height = (n + n % 2 * rules.even for n in self.size)
        self._container = self._av.open(
            str(self._partial.absolute()),  # an absolute path is never taken for a URL, whatever its name
            "w",
            format=rules.format,
            options=rules.muxing,
        )
        self._stream = stream = self._container.add_stream(rules.encoder, rate=self.rate)
        stream.width, stream.height, stream.pix_fmt = width, height, self._pixels
        stream.options = rules.options
        codec = stream.codec_context
        if rules.gop:
            codec.gop_size = max(1, round(self.rate))
        codec.colorspace = codec.color_primaries = BT709
        codec.color_trc = SRGB
        codec.color_range = LIMITED

    def _encode(self, frame: Any) -> None:
        if self._container is None:
            self._open()
        elif self._muxed and not self._partial.exists():  # the disk would take the rest for nobody
            raise FileNotFoundError(ENOENT, "it was removed while it was written")
        # one thread: with more swscale spoils pixels where slices of an odd height meet
        frame = frame.reformat(
            format=self._pixels, dst_colorspace="ITU709", dst_color_range="MPEG", threads=1
        )
        frame.pts, frame.time_base = self.frames, 1 / self.rate
        for packet in self._stream.encode(frame):
            self._mux(packet)
        self.frames += 1

    def _mux(self, packet: Any) -> None:
        self._container.mux(packet)
        self._muxed += 1

    def _flush(self) -> None:
        """Write what the encoder holds, dozens of frames perhaps, until time is over."""
        for packet in self._stream.codec_context.encode_lazy(None):
            packet.stream = self._stream
            self._mux(packet)
            if self._ends is not None and monotonic() > self._ends:
                break
        self.frames = self._muxed

    def _finish(self) -> None:
        self._failed = self._worker.failed
        if self._container is None:
            if self._failed is not None:
                raise self._error(self._failed)
            return
        try:
            if self._failed is None:
                self._flush()
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
        """Give the film its name; of an MP4 or MOV, a copy of its fragments with the index first."""
        if self._codec.format == "webm":
            self._name(self._partial)
            return
        whole = partial_path(self.path.with_name(f"whole-{self.path.name}"))
        try:
            with (
                self._av.open(str(self._partial.absolute())) as source,
                self._av.open(
                    str(whole.absolute()), "w", format=self._codec.format, options={"movflags": "+faststart"}
                ) as target,
            ):
                given = source.streams.video[0]
                taken = target.add_stream_from_template(given)
                # else it is called by the first tag of its codec: ProRes 422 HQ, which has no alpha
                taken.codec_context.codec_tag = given.codec_context.codec_tag
                for packet in source.demux(given):
                    if packet.dts is not None:  # the last, empty one has none
                        packet.stream = taken
                        target.mux(packet)
            self._name(whole)
        finally:
            remove_file(whole)
        with suppress(OSError):  # the film is there
            remove_file(self._partial)

    def _salvage(self) -> None:
        """After an error: the fragments that reached the disk whole are the film, if there are any."""
        whole = whole_clusters if self._codec.format == "webm" else whole_fragments
        end = whole(self._partial) if self._partial.exists() else 0
        if not end:
            self.frames = 0
            remove_file(self._partial)
            return
        os.truncate(self._partial, end)
        with self._av.open(str(self._partial.absolute())) as film:
            self.frames = sum(packet.size > 0 for packet in film.demux(video=0))
        self._name(self._partial)

    def _name(self, file: Path) -> None:
        """Give the film its name, or one beside where another program has made a file of that name since.

        So too where one shows that file, and Windows lets nobody replace it.
        """
        wanted, what = self.path, "made by another program meanwhile"
        for n in count(1):
            if n > 1:
                self.path = wanted.with_name(f"{wanted.stem}_{n}{wanted.suffix}")
            if (n > 1 or not self._overwrite) and (self.path.exists() or self.path.is_symlink()):
                continue
            try:
                replace_file(file, self.path)
                break
            except PermissionError:
                if not self.path.exists():
                    raise
                what = "held open by another program"
        if self.path != wanted:
            warn(f"{wanted} was {what}: this film is {self.path}", UserWarning)

    def _error(self, cause: Exception) -> Exception:
        if not isinstance(cause, (OSError, self._av.error.FFmpegError)):
            return cause
        reason = getattr(cause, "strerror", None) or cause
        kept = f"; it keeps {counted(self.frames, 'frame')}" if self._closed and self.frames else ""
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


SEGMENT, CLUSTER = 0x18538067, 0x1F43B675


def whole_clusters(path: Path) -> int:
    """Return how many bytes of a WebM file reach to the end of its last cluster that is there whole.

    The file is a row of elements, each with its name and size in front, as many bytes as the zeros its first
    byte begins with, and one more (EBML, RFC 8794, 4 to 6); clusters, with the media, lie in the segment.
    """
    end = position = 0
    length = path.stat().st_size
    with path.open("rb") as file:

        def number(keep_marker: bool) -> tuple[int, bool]:
            """The next number, and whether it says "unknown"."""
            first = file.read(1)[0]
            more = 8 - first.bit_length()
            value = int.from_bytes(bytes([first]) + file.read(more), "big")
            size = value - (1 << 7 * (more + 1))
            return (value if keep_marker else size), size == (1 << 7 * (more + 1)) - 1

        while position + 12 <= length:
            file.seek(position)
            name, _ = number(keep_marker=True)
            size, unknown = number(keep_marker=False)
            start = file.tell()
            if name == SEGMENT:
                position = start
                continue
            if unknown or start + size > length:
                break
            position = start + size
            if name == CLUSTER:
                end = position
    return end
