"""What a scene is written to while it is rendered off screen: films, pictures, volumes, sheets.

What a frame needs from the GPU is read in the thread of the GL context, each thing once, however many outputs
want it; encoding and writing go on in a thread for each output while the next frame is computed.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gpufluid.app import streams
from gpufluid.common.errors import GpufluidError, counted, one_of
from gpufluid.common.files import check_file, named_file
from gpufluid.description.grid import AXES
from gpufluid.engine.checkpoint import Taken
from gpufluid.gl.late import settle
from gpufluid.io.about import describe
from gpufluid.io.background import Background, apart, patience
from gpufluid.io.exr import require_openexr
from gpufluid.io.film import Film
from gpufluid.io.games import (
    SIX_WAY_ENDINGS,
    FlipBook,
    FlowBook,
    SixWayBook,
    flow_of,
    rows_and_columns,
    sheet_files,
)
from gpufluid.io.images import FrameFolder, require_pillow
from gpufluid.io.motion import motion_later
from gpufluid.io.paths import KINDS, Kind, check_folder, check_new_file, check_output, output_kind
from gpufluid.io.pictures import picture_work, sixteen_bits
from gpufluid.io.volumes import ANY_VOLUME, FIELDS, VolumeFolder, check_volumes
from gpufluid.scene.scene import Scene

if TYPE_CHECKING:
    from gpufluid.render.frame import FrameRenderer

Name = str | os.PathLike[str]
Work = Callable[[], object]

FORMATS = ("png", "exr")
VOLUME_FORMATS = ("vdb", "vti", "npz")
BY_CAMERA = "camera"  # the flow map that fits the flip book


class Target(Protocol):
    """What takes frames: a film, a folder, a sheet."""

    path: Path

    @property
    def frames(self) -> int: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object, /) -> None: ...


class Shot:
    """A frame as the outputs read it; to be used in the thread of the GL context.

    draw: draws the frame and returns what has drawn it. alpha: how, or None for pictures without.
    """

    def __init__(self, scene: Scene, draw: Callable[[], FrameRenderer], alpha: str | None) -> None:
        self.scene, self.alpha, self._draw = scene, alpha, draw

    @cached_property
    def renderer(self) -> FrameRenderer:
        """What has drawn this frame."""
        renderer = self._draw()
        settle(renderer.ctx)
        return renderer

    @property
    def is_drawn(self) -> bool:
        """Whether the frame has been drawn."""
        return "renderer" in self.__dict__

    @cached_property
    def picture(self) -> NDArray[np.uint8]:
        """For a screen, uint8 [h, w, 3], or 4 with alpha."""
        return self.renderer.read(self.alpha)

    @cached_property
    def radiance(self) -> NDArray[np.float32]:
        """Linear, float32 [h, w, 4]."""
        return self.renderer.read_hdr()

    def picture_later(self, bits: int) -> Callable[[], NDArray[Any]]:
        """What gives the picture of 8 or 16 bits, in any thread."""
        if bits == 8:
            picture = self.picture
            return lambda: picture
        radiance, exposure, alpha = self.radiance, self.renderer.exposure, self.alpha is not None
        return lambda: sixteen_bits(radiance, exposure, alpha)

    def motion_later(self) -> Callable[[], NDArray[np.float32]]:
        """What gives the motion of smoke and solids, [h, w, 2], in any thread; smoke of the nearest box."""
        scene = self.scene
        renderer, eye = self.renderer, np.array(scene.camera.eye)

        def distance(fluid: Any) -> float:
            return float(np.linalg.norm(0.5 * (np.array(fluid.grid.origin) + fluid.grid.upper) - eye))

        return motion_later(
            sorted(scene.fluids, key=distance, reverse=True),
            scene.camera,
            renderer.size,
            scene.dt,
            scene.smoke,
            depth=renderer.read_depth(),
            travel=renderer.read_travel(scene),
            later=scene.camera_ahead,
        )


class Output:
    """A target that is written in a thread of its own; a context manager that waits for it.

    take: reads what it needs of a frame and returns the work that is left. draws: whether it needs a picture.
    report: told how it ended. leaves: each frame is a file that is whole once it is there, so that nobody
    waits for one that a stop has found half written. An error of the thread comes out of the next `add`, or
    at the end; the frames before it are kept.
    """

    def __init__(
        self,
        target: Target,
        take: Callable[[Shot], Work],
        draws: bool = True,
        report: Callable[[Target], object] = lambda target: None,
        leaves: bool = False,
    ) -> None:
        self.target, self.draws, self._leaves = target, draws, leaves
        self._take, self._report = take, report
        self._thread = Background("output")

    def add(self, shot: Shot) -> None:
        """Take a frame. Raises what the thread has raised at one before."""
        self._thread.do(self._take(shot))

    def __enter__(self) -> Output:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        def end() -> None:
            failed = self._thread.failed
            self.target.__exit__(type(failed) if failed else kind, failed or error, trace)

        try:
            self._thread.close(end, patience(error), self._leaves)
        finally:
            self._report(self.target)
        failed = self._thread.failed
        if failed is not None and (kind is None or error is failed):
            if isinstance(failed, GpufluidError) and self.target.frames and self.target.path.exists():
                kept = f"{failed}; {self.target.path} keeps {counted(self.target.frames, 'frame')}"
                raise GpufluidError(kept) from failed
            raise failed


@dataclass(frozen=True)
class State:
    """The state of all fluids at a time, s, in main memory, and the files that it goes to."""

    time: float
    files: dict[Path, Taken]
    overwrite: bool = False

    def write(self) -> list[Path]:
        """Write the files, and return them."""
        return [taken.write(path, self.overwrite) for path, taken in self.files.items()]


@dataclass(frozen=True)
class Outputs:
    """All that a scene is to be written to, off screen.

    out: a film or a folder for pictures; still: the last frame's picture. format: "png" or "exr", of the
    pictures in a folder. bits: a channel, of PNG, sheets and ProRes 8 or 16, of EXR 16 or 32; None: the
    first. motion: EXR pictures tell that of smoke and solids. transparent: on nothing, with alpha.
    volumes: a folder for a volume a frame; volume_format: one of VOLUME_FORMATS; fields, up: as in
    `write_volume`. flip_book, flow_map, six_way: sheets (.png), the last of smoke in the light of six sides;
    columns: of all of them; flow_axis: along which the flow is seen, or "camera": as the picture shows it, in
    pixels a frame.
    save: the state after the last frame, as `Fluid.save` writes it; of several boxes also NAME-2 and so on.
    overwrite: whether files that exist are replaced. goes_on: whether numbers of pictures and volumes go on
    from the frames that the scene has had, whose files may be in the folder and stay.
    """

    out: Name | None = None
    still: Name | None = None
    format: str | None = None
    bits: int | None = None
    motion: bool = False
    transparent: bool = False
    volumes: Name | None = None
    volume_format: str | None = None
    fields: tuple[str, ...] | None = None
    up: str | None = None
    flip_book: Name | None = None
    flow_map: Name | None = None
    columns: int | None = None
    flow_axis: str | None = None
    six_way: Name | None = None
    save: Name | None = None
    overwrite: bool = False
    goes_on: bool = False

    @property
    def wanted(self) -> bool:
        """Whether anything is to be written."""
        asked = (self.out, self.still, self.volumes, *self._sheets, self.save)
        return any(value is not None for value in asked)

    @property
    def _kind(self) -> Kind | None:
        return None if self.out is None else output_kind(self.out)

    @property
    def _linear(self) -> bool:
        """Whether pictures are EXR."""
        if self._kind == "folder":
            return self.format == "exr"
        return self.still is not None and Path(self.still).suffix.lower() == ".exr"

    def check(self) -> Outputs:
        """Return these; raises GpufluidError for what does not go together and what cannot be written."""
        for path in (self.out, self.still, self.volumes, *self._sheets, self.save):
            if path is not None:
                named_file(path)
        if self.out is not None and self._kind == "picture":
            if self.still is not None:
                raise GpufluidError(
                    f"out={self.out!s} is the last frame already; leave still={self.still!s} out"
                )
            return replace(self, out=None, still=self.out).check()
        for value, needs, option in (
            (self.format, self._kind == "folder", "format goes with numbered pictures: name a folder"),
            (self.motion or None, self._linear, "motion goes with EXR pictures (format exr)"),
            (self.volume_format, self.volumes is not None, "volume_format goes with volumes: name a folder"),
            (self.fields, self.volumes is not None, "fields go with volumes: name a folder"),
            (self.up, self.volumes is not None, "up goes with volumes: name a folder"),
            (self.columns, any(self._sheets), "columns go with a flip book, a flow map or six-way lightmaps"),
            (self.flow_axis, self.flow_map is not None, "flow_axis goes with a flow map"),
        ):
            if value is not None and not needs:
                raise GpufluidError(option)
        for words, allowed, what in (
            (self.format, FORMATS, "format"),
            (self.volume_format, VOLUME_FORMATS, "volume_format"),
            (self.up, ("y", "z"), "up"),
            (self.flow_axis, (*AXES, BY_CAMERA), "flow_axis"),
            *((field, FIELDS, "fields") for field in self.fields or ()),
        ):
            if words is not None:
                one_of(words, allowed, what)
        self._check_bits()
        self._check_places()
        return self

    @property
    def _sheets(self) -> tuple[Name | None, ...]:
        return self.flip_book, self.flow_map, self.six_way

    def _check_bits(self) -> None:
        if self.bits is None:
            return
        one_of(self.bits, (8, 16, 32), "bits")
        wants = []
        if self._kind == "film":
            wants.append(
                (f"{self.out!s}", (8, 16) if Path(self.out or "").suffix.lower() == ".mov" else (8,))
            )
        elif self._linear:
            wants.append(("an EXR picture", (16, 32)))
        elif self.out is not None or self.still is not None:
            wants.append(("a PNG picture", (8, 16)))
        if any(self._sheets):
            wants.append(("a sheet", (8, 16)))
        if not wants:
            raise GpufluidError("bits go with pictures, films and sheets")
        for what, allowed in wants:
            if self.bits not in allowed:
                raise GpufluidError(
                    f"{what} has {' or '.join(map(str, allowed))} bits a channel, not {self.bits}"
                )

    def _check_places(self) -> None:
        if self.still is not None:
            if output_kind(self.still) != "picture":
                raise GpufluidError(
                    f"{os.fspath(self.still)}: the name of the last frame's picture must end in .png or .exr"
                )
            (require_openexr if Path(self.still).suffix.lower() == ".exr" else require_pillow)()
            check_output(self.still, self.overwrite)
        # which numbers are free is asked once it is known where the scene goes on
        overwrite = self.overwrite or self.goes_on
        if self.out is not None:
            check_output(self.out, overwrite if self._kind == "folder" else self.overwrite)
            if self._linear:
                require_openexr()
        if self.volumes is not None:
            check_volumes(self.volumes)
            check_folder(self.volumes, ANY_VOLUME, VolumeFolder.what, overwrite)
        sheets: list[Path] = []
        for asked, endings in zip(self._sheets, (("",), ("",), SIX_WAY_ENDINGS), strict=True):
            if asked is not None:
                require_pillow()
                *pictures, told = sheet_files(named_file(asked, (".png",)), endings)
                for file in pictures:
                    check_new_file(file, self.overwrite)
                check_file(told, self.overwrite)
                sheets += [*pictures, told]
        if self.save is not None:
            check_new_file(self.save, self.overwrite)
        paths = [Path(p).resolve() for p in (*sheets, self.still, self.out, self.save) if p is not None]
        if self.volumes is not None:
            place = Path(self.volumes).resolve()
            if self._kind != "folder" or place != Path(self.out or "").resolve():
                paths.append(place)  # pictures and volumes may share a folder
        for path in paths:
            if paths.count(path) > 1:
                raise GpufluidError(f"two outputs cannot have one name, {path.name}")
        if self.save is not None and Path(self.save).suffix and Path(self.save).suffix.lower() in KINDS:
            raise GpufluidError(
                f"{self.save!s}: the state is no picture or film: save it as "
                f"{Path(self.save).with_suffix('.fluid').name}, and write pictures with -o (out=)"
            )

    def take_state(self, scene: Scene) -> State | None:
        """The state of all fluids as it is now; None where it is not to be saved."""
        if self.save is None:
            return None
        files = state_files(self.save, len(scene.fluids))
        taken = {file: fluid.take_state() for fluid, file in zip(scene.fluids, files, strict=True)}
        return State(scene.time, taken, self.overwrite)

    # -- opened --------------------------------------------------------------------------------------------

    def write_still(self, shot: Shot, patience: float | None) -> Path | None:
        """Write the last frame's picture, where one is asked for and written within `patience`."""
        if self.still is None:
            return None
        work = picture_work(
            self.still,
            shot.renderer,
            alpha=shot.alpha is not None,
            bits=8 if self._linear else self.bits or 8,
            half=self.bits != 32,
            motion=shot.motion_later()() if self.motion else None,
            overwrite=self.overwrite,
        )
        return apart(work, patience)

    @contextlib.contextmanager
    def opened(
        self, scene: Scene, frames: int | None, size: tuple[int, int], fps: float, progress: bool
    ) -> Iterator[list[Output]]:
        """What takes the frames, finished when the block ends. progress: a line is printed for each then.

        frames: how many there will be, or None where nobody knows. Raises GpufluidError for sheets too large.
        """

        def report(what: str, more: str) -> Callable[[Target], None]:
            def tell(target: Target) -> None:
                if progress and target.frames:
                    streams.tell(f"wrote {target.path.absolute()} ({counted(target.frames, what)}{more})")

            return tell

        for path in state_files(self.save, len(scene.fluids)) if self.save is not None else ():
            check_file(path, self.overwrite)
        about = describe(scene, size, fps)
        alpha = self.transparent or scene.picture.background == "transparent"
        pixels = report("frame", f", {size[0]} x {size[1]}")
        bits, begin = self.bits or 8, scene.frame + 1 if self.goes_on else 1
        made: list[Output] = []
        if self._kind == "film":
            assert self.out is not None
            film = Film(self.out, size, fps=fps, overwrite=self.overwrite, alpha=alpha)
            made.append(Output(film, _pictures(film.write, bits), report=pixels))
        elif self._kind == "folder":
            assert self.out is not None
            each = self.bits or (16 if self._linear else 8)
            kind = {"bits": each, "transparent": alpha}
            if self._linear:
                kind["motion"] = self.motion
            folder = FrameFolder(
                self.out,
                overwrite=self.overwrite,
                suffix=f".{self.format or 'png'}",
                about={**about, **kind},
                begin=begin,
            )
            take = self._linear_picture(folder) if self._linear else _pictures(folder.write, bits)
            made.append(Output(folder, take, report=pixels, leaves=True))
        if self.flip_book is not None:
            rows_and_columns(frames or 1, size, self.columns)
            book = FlipBook(
                self.flip_book, columns=self.columns, fps=fps, about=about, overwrite=self.overwrite
            )
            made.append(Output(book, _pictures(book.write, bits), report=report("frame", ", a flip book")))
        if self.flow_map is not None:
            drawn = self.flow_axis == BY_CAMERA
            flow_map = self._flow_map(scene, frames, size, fps)
            made.append(Output(*flow_map, drawn, report("frame", ", a flow map")))
        if self.volumes is not None:
            for number, fluid in enumerate(scene.fluids):
                volumes = VolumeFolder(
                    self.volumes,
                    suffix=f".{self.volume_format or 'vdb'}",
                    fields=self.fields,
                    up=self.up or "y",
                    overwrite=self.overwrite,
                    about=describe(scene, None, fps, fluid),
                    stem=f"box{number + 1}" if scene.others else "volume",
                    begin=begin,
                )
                tell = report("volume", f" of box {number + 1}" if scene.others else "")
                made.append(Output(volumes, _volumes(volumes, number), False, tell, leaves=True))
        with contextlib.ExitStack() as open_ones:
            if self.six_way is not None:
                maps = self._six_way(scene, frames, size, fps, open_ones)
                made.append(
                    Output(*maps, False, report("frame", f", six-way lightmaps with {maps[0].second.name}"))
                )
            yield [open_ones.enter_context(output) for output in made]

    def _linear_picture(self, folder: FrameFolder) -> Callable[[Shot], Work]:
        def take(shot: Shot) -> Work:
            radiance, depth, view = shot.radiance, shot.renderer.read_depth(), shot.renderer.view
            motion = shot.motion_later() if self.motion else lambda: None
            half = self.bits != 32
            return lambda: folder.write(radiance, depth=depth, motion=motion(), view=view, half=half)

        return take

    def _six_way(
        self, scene: Scene, frames: int | None, size: tuple[int, int], fps: float, undo: contextlib.ExitStack
    ) -> tuple[SixWayBook, Callable[[Shot], Work]]:
        """undo: takes what is to be released in the end."""
        from gpufluid.render.six_way import SixWay

        assert self.six_way is not None
        rows_and_columns(frames or 1, size, self.columns)
        book = SixWayBook(
            self.six_way,
            bits=self.bits or 8,
            columns=self.columns,
            fps=fps,
            about=describe(scene, size, fps),
            overwrite=self.overwrite,
        )
        assert scene.fluid.ctx is not None  # checked
        maps = SixWay(scene.fluid.ctx, size, slices=scene.picture.slices, method=scene.picture.drawn_by)
        undo.callback(maps.release)

        def take(shot: Shot) -> Work:
            with shot.scene.told():
                drawn = maps.draw(shot.scene)
            return lambda: book.write(drawn)

        return book, take

    def _flow_map(
        self, scene: Scene, frames: int | None, size: tuple[int, int], fps: float
    ) -> tuple[FlowBook, Callable[[Shot], Work]]:
        assert self.flow_map is not None
        axis = self.flow_axis or "z"
        nx, ny, nz = scene.fluid.grid.cells
        sizes = {"x": (nz, ny), "y": (nx, nz), "z": (nx, ny), BY_CAMERA: size}
        rows_and_columns(frames or 1, sizes[axis], self.columns)
        book = FlowBook(
            self.flow_map,
            bits=self.bits or 8,
            columns=self.columns,
            fps=fps,
            unit="pixels" if axis == BY_CAMERA else "m/s",
            overwrite=self.overwrite,
        )

        def take(shot: Shot) -> Work:
            if axis == BY_CAMERA:
                motion = shot.motion_later()
                return lambda: book.write(motion())
            flow = flow_of(shot.scene.fluid, axis)
            return lambda: book.write(flow)

        return book, take


def state_files(path: Name, count: int) -> list[Path]:
    """The files of the states of `count` fluids: NAME, NAME-2 and so on."""
    first = Path(path)
    more = [first.with_name(f"{first.stem}-{n + 2}{first.suffix}") for n in range(count - 1)]
    return [first, *more]


def _pictures(write: Callable[[NDArray[Any]], None], bits: int) -> Callable[[Shot], Work]:
    """How a target takes pictures of 8 or 16 bits a channel."""

    def take(shot: Shot) -> Work:
        picture = shot.picture_later(bits)
        return lambda: write(picture())

    return take


def _volumes(folder: VolumeFolder, number: int) -> Callable[[Shot], Work]:
    """How a folder takes a volume of a scene's fluid."""

    def take(shot: Shot) -> Work:
        volume = folder.later(shot.scene.fluids[number])
        return lambda: folder.save(volume())

    return take
