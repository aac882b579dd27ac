"""A fluid's fields as a file for other programs: OpenVDB, VTK image data, or NumPy arrays."""

from __future__ import annotations

import json
import os
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import gpufluid
from gpufluid.common.checks import finite_number, flag
from gpufluid.common.errors import GpufluidError, one_of
from gpufluid.common.files import REMEDY, check_file, named_file, whole_file
from gpufluid.description.grid import LARGEST_HALF
from gpufluid.engine.fluid import Fluid
from gpufluid.io.background import Background
from gpufluid.io.folders import NumberedFolder
from gpufluid.io.vdb import SIZE, VdbGrid, write_vdb
from gpufluid.io.vti import write_vti
from gpufluid.numerics.saved import HALVED
from gpufluid.reference.arrays import center_velocity

FIELDS = (
    *("density", "temperature", "fuel", "flame", "color", "velocity"),
    *("pressure", "divergence", "vorticity", "solid"),
)
UNITS = {  # others have none
    "flame": "1/s",
    "velocity": "m/s",
    "pressure": "m^2/s^2",
    "divergence": "1/s",
    "vorticity": "1/s",
}
VECTORS = ("velocity", "vorticity")  # they turn with the box
ALWAYS = ("density", "temperature", "velocity")
WHERE_ANY = ("fuel", "flame", "color", "solid")  # written unasked only where they are not all 0
SUFFIXES = (".vdb", ".vti", ".npz")
ANY_VOLUME = re.compile(r"(volume|box\d+)_\d{4,}\.(vdb|vti|npz)")  # what is written of scenes
THRESHOLD = 1e-4
Array = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Volume:
    """What is written, in SI units.

    arrays: by name, [nz, ny, nx(, 3)], at the cell centres, in single or half precision. cell_size: metres.
    origin: the low corner of the box, metres. time: seconds. ambient_temperature: what the temperature is
    where nothing is. up: the axis against gravity as the simulation has it, "y", or "z" where the box has
    been turned about x for programs whose z points up.
    """

    arrays: dict[str, Array]
    cell_size: float
    origin: tuple[float, float, float]
    time: float
    ambient_temperature: float
    up: str = "y"

    @property
    def first(self) -> tuple[float, float, float]:
        """The centre of the first cell, metres."""
        x, y, z = (low + 0.5 * self.cell_size for low in self.origin)
        return x, y, z

    def turned(self) -> Volume:
        """The same with z up: (x, y, z) becomes (x, -z, y), places and vectors alike."""
        depth = next(iter(self.arrays.values())).shape[0] * self.cell_size
        x, y, z = self.origin
        arrays = {name: np.ascontiguousarray(_turned(array)) for name, array in self.arrays.items()}
        for name in arrays.keys() & VECTORS:
            vx, vy, vz = np.moveaxis(arrays[name], -1, 0)
            arrays[name] = np.stack([vx, -vz, vy], -1)
        return Volume(arrays, self.cell_size, (x, -(z + depth), y), self.time, self.ambient_temperature, "z")


def _turned(array: Array) -> Array:
    """[z, y, x, ...] with its y axis as the first and its z axis, backwards, as the second."""
    return array.swapaxes(0, 1)[:, ::-1]


def volume_of(fluid: Fluid, fields: Sequence[str] | None = None) -> Volume:
    """Read `fields` of a fluid, or those that hold anything; waits for the GPU. Solids are ambient.

    fields: of density, temperature, fuel, velocity (the mean of opposite faces), pressure, divergence,
    vorticity (the curl), solid (1 in solids), and flame and color where the fluid has them. Raises
    GpufluidError for another name.
    """
    return volume_later(fluid, fields)()


def volume_later(
    fluid: Fluid, fields: Sequence[str] | None = None, half: bool = False
) -> Callable[[], Volume]:
    """Copy a fluid as it is now; what is returned makes the volume of `volume_of`, in any thread.

    half: of half floats where the GPU can round to them, as `Fluid.take_halves` tells.
    """
    if not hasattr(fluid, "take_halves"):
        raise GpufluidError(f"fluid must be a gf.Fluid, got {fluid!r}")
    if fields is not None:
        if isinstance(fields, str) or not fields:
            raise GpufluidError(f"fields must be a list of {', '.join(FIELDS)}, got {fields!r}")
        for name in fields:
            one_of(name, FIELDS, "fields")
    wanted = [name for name in FIELDS if name in (*ALWAYS, *WHERE_ANY)] if fields is None else list(fields)
    if fields is None and fluid.settings.combustion is None:
        wanted.remove("flame")
    grid, ambient, time = fluid.grid, fluid.settings.ambient_temperature, fluid.time
    heated = "temperature" in wanted and ambient and len(fluid.obstacles)
    needed = dict.fromkeys([*wanted, *(["solid"] if heated else [])])
    halves = fluid.take_halves([name for name in needed if half and name in HALVED])
    taken = fluid.take([name for name in needed if not (half and name in HALVED)])

    def make() -> Volume:
        arrays: dict[str, Array] = {**halves(), **taken()}
        if heated:
            still = min(max(ambient, -LARGEST_HALF), LARGEST_HALF) if half else ambient
            arrays["temperature"][arrays["solid"] > 0.5] = still
        if "velocity" in arrays and not half:
            arrays["velocity"] = center_velocity(grid, arrays["velocity"]).astype(np.float32, copy=False)
        held = [name for name in wanted if fields is not None or name in ALWAYS or _holds(arrays[name])]
        return Volume({name: arrays[name] for name in held}, grid.cell_size, grid.origin, time, ambient)

    return make


def _holds(array: Array) -> bool:
    """Whether any value is not 0; NumPy is slow to ask half floats."""
    if array.dtype == np.float16:
        return bool((array.view(np.uint16) & SIZE).any())
    return bool(array.any())


def write_volume(
    path: str | os.PathLike[str],
    fluid: Fluid,
    *,
    fields: Sequence[str] | None = None,
    up: str = "y",
    half: bool = True,
    threshold: float = THRESHOLD,
    overwrite: bool = False,
) -> Path:
    """Write the fields of `fluid` as they are now to `path`, and return it. Its ending says how:

    .vdb: OpenVDB, for Blender, Houdini, renderers: a sparse grid for each field, voxels at the cell centres.
        half: 16-bit floats in the file. threshold: cells where a field is within this of its background
        cost nothing; the background is 0, for the temperature the ambient one.
    .vti: VTK image data, for ParaView: cell data in single precision, solid as 0 and 1.
    .npz: NumPy arrays, and "metadata", JSON text; loads with ``allow_pickle=False``.

    fields: as in `volume_of`; None: density, temperature, velocity, and fuel, flame, color and solid where
    they are not all 0. Velocities are m/s at the cell centres. up: "y" as simulated, or "z" for programs
    whose z points up: (x, y, z) becomes (x, -z, y). overwrite: replace an existing file, which is
    an error else.

    The file appears whole or not at all. Raises GpufluidError for another ending or name, and for a path that
    cannot be written to.
    """
    suffix = check_file(path, overwrite, SUFFIXES).suffix.lower()
    one_of(up, ("y", "z"), "up")
    flag(half, "half")
    threshold = finite_number(threshold, "threshold", low=0.0)
    volume = volume_later(fluid, fields, half and suffix == ".vdb")()
    return save_volume(path, volume, up, half, threshold, overwrite)


def save_volume(
    path: str | os.PathLike[str],
    volume: Volume,
    up: str = "y",
    half: bool = True,
    threshold: float = THRESHOLD,
    overwrite: bool = False,
) -> Path:
    """Write `volume`, what was read of a fluid, as `write_volume` does; raises as it does.

    This needs no GL, and may run in any thread.
    """
    suffix = check_file(path, overwrite, SUFFIXES).suffix.lower()
    if up == "z":
        volume = volume.turned()
    if suffix == ".vdb":
        return _write_vdb(path, volume, half, threshold, overwrite)
    if suffix == ".vti":
        arrays: dict[str, NDArray[Any]] = dict(volume.arrays)
        if "solid" in arrays:
            arrays["solid"] = (arrays["solid"] > 0.5).astype(np.uint8)
        return write_vti(
            path,
            arrays,
            cell_size=volume.cell_size,
            origin=volume.origin,
            time=volume.time,
            overwrite=overwrite,
        )
    return _write_npz(path, volume, overwrite)


def check_volumes(folder: str | os.PathLike[str]) -> None:
    """Raise GpufluidError where `folder` has a name as of a single volume, unless it is there."""
    path = named_file(folder)
    if path.suffix.lower() in SUFFIXES and not path.is_dir():
        raise GpufluidError(
            f"{path}: volumes are written into a folder, one a frame; name one, as in {path.with_suffix('')}"
        )


class VolumeFolder(NumberedFolder):
    """A `folder` of numbered volumes, ``volume_0001.vdb`` on, one a frame; a context manager.

    suffix: .vdb, .vti or .npz. fields, up, half, threshold: as in `write_volume`. about: what is told of them
    in `volume.json`, as `FrameFolder` tells it, beside which way is up and the unit of each field that any of
    them holds ("1": none). stem: of the names, where one folder holds several boxes. begin: the number of the
    first, as of a `FrameFolder`.

    Files are written in a thread of its own while the next frame is computed; however the block ends, those
    before it are whole. Raises GpufluidError for another ending and a folder that cannot be written to, and
    for what the disk refuses, at the next `write` or at the end.
    """

    what = "numbered volumes"

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        suffix: str = ".vdb",
        fields: Sequence[str] | None = None,
        up: str = "y",
        half: bool = True,
        threshold: float = THRESHOLD,
        overwrite: bool = False,
        about: Mapping[str, Any] | None = None,
        stem: str = "volume",
        begin: int = 1,
    ) -> None:
        one_of(suffix, SUFFIXES, "suffix")
        check_volumes(folder)
        one_of(up, ("y", "z"), "up")
        self.fields, self._up, self._half = fields, up, flag(half, "half")
        self._threshold = finite_number(threshold, "threshold", low=0.0)
        self.sidecar = f"{stem}.json"
        endings = "|".join(s[1:] for s in SUFFIXES)
        pattern = re.compile(rf"{re.escape(stem)}_\d{{4,}}\.({endings})")
        if about is not None:
            about = {**about, "up": up, "fields": {}}
        super().__init__(folder, stem, suffix, pattern, overwrite, about, begin)
        if self._about is not None and self._first < self._begin:  # what is told is of those files as well
            told = self._told_before().get("fields")
            self._about["fields"] = dict(told) if isinstance(told, dict) else {}
        self._closed = False
        self._worker = Background("volumes")

    def _check_earlier_part(self) -> None:
        """Raise GpufluidError where volumes before the first are of another film, or hold other fields."""
        super()._check_earlier_part()
        told = self._told_before().get("fields") if self._first < self._begin else None
        if not isinstance(told, dict) or not told or self._about is None:
            return
        if self.fields is None:  # some are only there where they hold anything
            alike = set(ALWAYS) <= told.keys() <= {*ALWAYS, *WHERE_ANY}
        else:
            alike = told.keys() == set(self.fields)
        if not alike:
            here = ", ".join(ALWAYS if self.fields is None else self.fields)
            raise GpufluidError(
                f"{self.path}: the {self.what} there hold other fields, {', '.join(told)} in {self.sidecar}, "
                f"and {here}{' and what else there is' if self.fields is None else ''} here; {REMEDY}"
            )

    def write(self, fluid: Fluid) -> None:
        """Add a fluid as it is now: it is read at once, and written in the folder's thread.

        Raises GpufluidError once the folder is closed, and for what the disk refused of one before.
        """
        if self._closed:
            raise GpufluidError(f"{self.path}: the folder is closed")
        volume = self.later(fluid)
        self._worker.do(lambda: self.save(volume()))

    def later(self, fluid: Fluid) -> Callable[[], Volume]:
        """Copy what is written of a fluid; what is returned makes the volume for `save`, in any thread."""
        return volume_later(fluid, self.fields, self._half and self._suffix == ".vdb")

    def save(self, volume: Volume) -> None:
        """Add `volume`, what `volume_of` has read of a fluid, and return when it is written."""
        save_volume(self.next_file(), volume, self._up, self._half, self._threshold, overwrite=True)
        if self._about is not None:
            self._about["fields"] |= {name: UNITS.get(name, "1") for name in volume.arrays}
        self.is_there()

    def close(self, complete: bool = True) -> None:
        """Wait for the last file, and finish as every folder does. Does nothing the second time.

        complete: whether no frame is missing.
        """
        if self._closed:
            return
        self._closed = True
        finish = super().close
        self._worker.close(lambda: finish(complete and self._worker.failed is None))
        self._worker.check()


def _write_vdb(
    path: str | os.PathLike[str], volume: Volume, half: bool, threshold: float, overwrite: bool
) -> Path:
    grids = []
    for name, array in volume.arrays.items():
        background, kind = 0.0, "fog volume"
        metadata: tuple[tuple[str, str], ...] = ()
        if name == "temperature":
            background = volume.ambient_temperature
        if name in VECTORS:
            kind, metadata = "unknown", (("vector_type", "contravariant relative"),)
        grids.append(VdbGrid(name, array, background, threshold, kind, metadata))
    return write_vdb(
        path,
        grids,
        voxel_size=volume.cell_size,
        first=volume.first,
        half=half,
        metadata=(("gpufluid", gpufluid.__version__), ("up", volume.up), ("time", repr(volume.time))),
        overwrite=overwrite,
    )


def _write_npz(path: str | os.PathLike[str], volume: Volume, overwrite: bool) -> Path:
    about = {
        "gpufluid": gpufluid.__version__,
        "cell_size": volume.cell_size,
        "origin": volume.origin,
        "time": volume.time,
        "ambient_temperature": volume.ambient_temperature,
        "up": volume.up,
    }
    arrays = {"metadata": np.array(json.dumps(about)), **volume.arrays}
    # older NumPy's savez_compressed leaves it open on a full disk, which Python complains of in the end
    with (
        whole_file(path, overwrite, (".npz",)) as partial,
        zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as file,
    ):
        for name, array in arrays.items():
            with file.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
    return Path(path)
