"""Volumes as files: what other programs read is what the fluid holds, in the right place."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
import zlib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from driver import python

import gpufluid as gf
from gpufluid.description.grid import LARGEST_HALF
from gpufluid.gl.field import Field
from gpufluid.io.vdb import VdbGrid, _halves, write_vdb
from gpufluid.io.volumes import VolumeFolder, save_volume, volume_later, volume_of, write_volume
from gpufluid.io.vti import BLOCK, write_vti
from gpufluid.numerics.saved import HALVED

BEYOND_ID = 21 + 36  # of a file: its header and its own id

SYSTEM_PYTHON = "/usr/bin/python3"
IMPORT = """
    import numpy as np
    try:
        import openvdb as vdb
    except ImportError:  # before OpenVDB 12
        import pyopenvdb as vdb
"""


def has_openvdb() -> bool:
    try:
        found = subprocess.run([SYSTEM_PYTHON, "-c", textwrap.dedent(IMPORT)], capture_output=True)
    except OSError:
        return False
    return found.returncode == 0


needs_openvdb = pytest.mark.skipif(
    not sys.platform.startswith("linux") or not has_openvdb(),
    reason="OpenVDB files are read back by Debian's python3-openvdb: apt-get install python3-openvdb",
)

READ_BACK = (
    f"{IMPORT}    import json, sys\n"
    + """
    grids, metadata = vdb.readAll(sys.argv[1])
    arrays, about = {}, {"": {k: str(v) for k, v in metadata.items()}}
    for grid in grids:
        low, high = grid.evalActiveVoxelBoundingBox()
        shape = json.loads(sys.argv[2])
        array = np.zeros(shape + ([3] if "Vec3" in type(grid).__name__ else []), np.float32)
        grid.copyToArray(array)
        arrays[grid.name] = array
        on = np.zeros(shape, np.float32)
        for item in grid.citerOnValues():
            for i in range(item.min[0], item.max[0] + 1):
                for j in range(item.min[1], item.max[1] + 1):
                    for k in range(item.min[2], item.max[2] + 1):
                        on[i, j, k] = 1
        arrays[grid.name + " active"] = on
        about[grid.name] = dict(
            type=type(grid).__name__, background=grid.background, size=grid.transform.voxelSize(),
            place=grid.transform.indexToWorld((2, 3, 5)), kind=grid.gridClass, half=grid.saveFloatAsHalf,
            box=[list(low), list(high)], leaves=grid.leafCount(), count=grid.activeVoxelCount(),
            told={k: str(v) for k, v in grid.metadata.items()}, vector=str(grid.vectorType),
        )
    np.savez(sys.argv[1] + ".npz", **arrays)
    print(json.dumps(about))
"""
)


def read_vdb(path: Path, cells: tuple[int, int, int]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Arrays [nz, ny, nx(, 3)] of all grids, and "NAME active", as OpenVDB reads them; and the rest."""
    done = subprocess.run(
        [SYSTEM_PYTHON, "-c", textwrap.dedent(READ_BACK), str(path), json.dumps(list(cells))],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    with np.load(f"{path}.npz") as file:
        return {name: file[name].swapaxes(0, 2) for name in file.files}, json.loads(done.stdout)


@needs_openvdb
@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("cells", [(13, 11, 7), (33, 17, 1), (9, 140, 5), (4099, 3, 2), (8, 8, 8)])
def test_vdb_comes_back_value_by_value(
    tmp_path: Path, rng: np.random.Generator, cells: tuple[int, int, int], half: bool
) -> None:
    shape = cells[::-1]
    density = np.where(rng.random(shape) < 0.2, rng.random(shape), 0.0).astype(np.float32)
    density[:, : cells[1] // 2, : cells[0] // 2] = 0.0  # some blocks are empty
    velocity = rng.standard_normal((*shape, 3)).astype(np.float32) * (density > 0.0)[..., None]
    heat = density + np.float32(3.0)
    grids = [
        VdbGrid("density", density),
        VdbGrid("heat", heat, background=3.0),
        VdbGrid("velocity", velocity, kind="unknown", metadata=(("vector_type", "contravariant relative"),)),
    ]
    path = write_vdb(tmp_path / "a.vdb", grids, voxel_size=0.25, first=(1.0, -2.0, 0.5), half=half)
    arrays, about = read_vdb(path, cells)
    for grid in grids:
        error = np.abs(arrays[grid.name] - grid.values)
        limit = 1e-3 * np.abs(grid.values) if half else 0.0
        assert (error <= limit).all()
        active = np.asarray(grid.values != grid.background)
        assert np.array_equal(
            arrays[grid.name + " active"] > 0, active.any(-1) if active.ndim == 4 else active
        )
        told = about[grid.name]
        assert told["half"] == half
        assert told["size"] == [0.25] * 3
        assert told["place"] == [1.0 + 0.5, -2.0 + 0.75, 0.5 + 1.25]
        assert told["told"]["file_voxel_count"] == str(told["count"])
        assert told["told"]["file_bbox_min"] == str(tuple(told["box"][0]))
        assert told["told"]["file_bbox_max"] == str(tuple(told["box"][1]))
    assert about["density"]["type"] == "FloatGrid"
    assert about["density"]["kind"] == "fog volume"
    assert about["heat"]["background"] == 3.0
    assert about["velocity"]["type"] == "Vec3SGrid"
    assert about["velocity"]["vector"] == "contravariant relative"


@needs_openvdb
def test_empty_space_costs_nothing(tmp_path: Path) -> None:
    density = np.full((64, 64, 64), 1e-6, np.float32)
    density[20, 30, 40] = 1.0
    small = write_vdb(tmp_path / "small.vdb", [VdbGrid("density", density, threshold=1e-4)])
    _, about = read_vdb(small, (64, 64, 64))
    assert (about["density"]["leaves"], about["density"]["count"]) == (1, 1)
    assert small.stat().st_size < 16_000
    nothing = write_vdb(tmp_path / "nothing.vdb", [VdbGrid("density", 0.0 * density)])
    assert read_vdb(nothing, (64, 64, 64))[1]["density"]["count"] == 0


@needs_openvdb
def test_half_floats_are_numpys_to_the_bit() -> None:
    """Every half, the middle to the next, where ties are broken, and what lies just beside."""
    halves = np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float32)
    middles = 0.5 * (halves[:-1] + halves[1:])
    zero, most = np.float32(0.0), np.float32(65504.0)
    exact = np.concatenate([halves, middles, np.float32([1e-45, 1e-38, 2.0**-25])])
    values = np.concatenate([exact, np.nextafter(exact, zero), np.nextafter(exact, most)])
    values = np.concatenate([values, -values])
    np.testing.assert_array_equal(_halves(values).view(np.uint16), values.astype(np.float16).view(np.uint16))


def test_numbers_too_large_for_half_floats_end_there(tmp_path: Path) -> None:
    values = np.array([[[1e6, -1e6, 2.0]]], np.float32)
    path = write_vdb(tmp_path / "a.vdb", [VdbGrid("density", values)])
    assert read_vdb(path, (3, 1, 1))[0]["density"].tolist() == [[[65504.0, -65504.0, 2.0]]]


def smoke() -> gf.Fluid:
    """Every field of another value in every cell, and a ball; its ambient temperature is not 0."""
    grid = gf.Grid((11, 5, 7), 0.1, (1.0, 2.0, -3.0))
    fluid = gf.Fluid(grid, settings=gf.Settings(ambient_temperature=2.0), backend="numpy")
    nz, ny, nx = grid.cells[::-1]
    number = np.arange(nz * ny * nx).reshape(nz, ny, nx) / 100.0
    fluid.density.write(number)
    heat = np.full((nz, ny, nx), 2.0)
    heat[5, 4, 9] = 5.0
    fluid.temperature.write(heat)
    velocity = np.zeros((nz + 1, ny + 1, nx + 1, 3))
    velocity[..., 0], velocity[..., 1] = 1.0, 2.0
    velocity[..., 2] = np.arange(nz + 1)[:, None, None]
    fluid.velocity.write(velocity)
    return fluid


def with_a_ball(fluid: gf.Fluid) -> gf.Fluid:
    fluid.obstacles.add(gf.Obstacle(gf.Box((1.25, 2.25, -2.75), (0.3, 0.3, 0.3))))
    fluid.density.write(fluid.density.read())  # none of it in the solid
    fluid.temperature.write(fluid.temperature.read())
    return fluid


@needs_openvdb
def test_a_fluid_as_vdb(tmp_path: Path) -> None:
    fluid = with_a_ball(smoke())
    path = write_volume(tmp_path / "a.vdb", fluid, half=False, threshold=0.0)
    arrays, about = read_vdb(path, fluid.grid.cells)
    assert {name for name in arrays if "active" not in name} == {
        "density",
        "temperature",
        "velocity",
        "solid",
    }
    assert np.array_equal(arrays["density"], fluid.density.read())
    assert np.array_equal(arrays["velocity"], fluid.velocity.at_centers())
    assert np.array_equal(arrays["solid"], fluid.solid.read())
    assert about["temperature"]["background"] == 2.0
    assert about["temperature"]["count"] == 1, "ambient air, or a solid, counts as heat"
    assert arrays["temperature"][5, 4, 9] == 5.0
    # the middle of cell (2, 3, 5)
    assert about["density"]["place"] == pytest.approx([1.25, 2.35, -2.45])
    assert about[""]["up"] == "y"


@needs_openvdb
def test_z_up_turns_places_and_vectors_alike(tmp_path: Path) -> None:
    fluid = smoke()
    nx, ny, nz = fluid.grid.cells
    path = write_volume(tmp_path / "a.vdb", fluid, up="z", half=False, threshold=0.0)
    arrays, about = read_vdb(path, (nx, nz, ny))
    x, y, z = about["density"]["place"]  # of the voxel (2, 3, 5), which is beyond the top: only a place
    assert (x, y, z) == pytest.approx((1.25, 3.0 - 0.7 + 0.35, 2.0 + 0.55))
    density, velocity = fluid.density.read(), fluid.velocity.at_centers()
    for i, j, k in ((0, 0, 0), (4, 3, 2), (10, 4, 6)):
        # the cell's own middle, turned, is where the voxel is
        middle = np.array(fluid.grid.origin) + (np.array((i, j, k)) + 0.5) * 0.1
        turned = middle[0], -middle[2], middle[1]
        first = np.array((x, y, z)) - 0.1 * np.array((2, 3, 5))
        a, b, c = np.rint((np.array(turned) - first) / 0.1).astype(int)
        assert first + 0.1 * np.array((a, b, c)) == pytest.approx(turned)
        assert arrays["density"][c, b, a] == density[k, j, i]
        vx, vy, vz = velocity[k, j, i]
        assert arrays["velocity"][c, b, a].tolist() == [vx, -vz, vy]


def read_vti(path: Path) -> tuple[dict[str, np.ndarray], ElementTree.Element]:
    """Parse a .vti as VTK's documentation has it."""
    data = path.read_bytes()
    start = data.index(b'<AppendedData encoding="raw">')
    head = ElementTree.fromstring(data[:start] + b"</VTKFile>")
    raw = data[data.index(b"_", start) + 1 :]
    assert head.attrib["byte_order"] == "LittleEndian"
    assert head.attrib["header_type"] == "UInt64"
    assert head.attrib["compressor"] == "vtkZLibDataCompressor"
    (image,) = head.iter("ImageData")
    extent = [int(n) for n in image.attrib["WholeExtent"].split()]
    assert next(head.iter("Piece")).attrib["Extent"] == image.attrib["WholeExtent"]
    shape = [extent[5] - extent[4], extent[3] - extent[2], extent[1] - extent[0]]
    arrays = {}
    for array in next(head.iter("CellData")):
        at = int(array.attrib["offset"])
        count, size, last = np.frombuffer(raw, "<u8", 3, at)
        lengths = np.frombuffer(raw, "<u8", int(count), at + 24)
        at += 24 + 8 * int(count)
        parts = []
        for n, length in enumerate(lengths):
            parts.append(zlib.decompress(raw[at : at + int(length)]))
            assert len(parts[-1]) == (last if n == count - 1 and last else size)
            at += int(length)
        dtype = {"Float32": "<f4", "UInt8": "u1"}[array.attrib["type"]]
        components = int(array.attrib["NumberOfComponents"])
        values = np.frombuffer(b"".join(parts), dtype)
        arrays[array.attrib["Name"]] = values.reshape(shape + ([3] if components == 3 else []))
    return arrays, head


@pytest.mark.parametrize("cells", [(13, 11, 7), (19, 17, 1), (97, 61, 53)])
def test_vti_comes_back(tmp_path: Path, rng: np.random.Generator, cells: tuple[int, int, int]) -> None:
    shape = cells[::-1]
    arrays = {
        "density": rng.random(shape, np.float32),
        "velocity": rng.random((*shape, 3), np.float32),
        "solid": rng.integers(0, 2, shape, np.uint8),
    }
    assert cells != (97, 61, 53) or arrays["velocity"].nbytes > 3 * BLOCK
    path = write_vti(tmp_path / "a.vti", arrays, cell_size=0.5, origin=(1.0, 2.0, 3.0), time=1.5)
    read, head = read_vti(path)
    assert all(np.array_equal(read[name], array) for name, array in arrays.items())
    (image,) = head.iter("ImageData")
    assert image.attrib["Origin"] == "1.0 2.0 3.0"
    assert image.attrib["Spacing"].split() == ["0.5"] * 3
    assert next(a for a in head.iter("DataArray") if a.attrib["Name"] == "TimeValue").text == "1.5"


def test_a_fluid_as_vti(tmp_path: Path) -> None:
    fluid = with_a_ball(smoke())
    fluid.fuel.write(np.ones(fluid.grid.cells[::-1]))
    arrays, head = read_vti(write_volume(tmp_path / "a.vti", fluid))
    assert set(arrays) == {"density", "temperature", "fuel", "velocity", "solid"}
    assert np.array_equal(arrays["density"], fluid.density.read())
    assert np.array_equal(arrays["velocity"], fluid.velocity.at_centers())
    assert arrays["solid"].dtype == np.uint8
    assert arrays["solid"].sum() == fluid.solid.read().sum() == 27
    assert next(head.iter("ImageData")).attrib["Origin"] == "1.0 2.0 -3.0"


@pytest.mark.parametrize("up", ["y", "z"])
def test_a_fluid_as_npz(tmp_path: Path, up: str) -> None:
    fluid = smoke()
    fluid.step(0.25)
    fields = ["density", "velocity", "pressure", "vorticity"]
    path = write_volume(tmp_path / "a.npz", fluid, fields=fields, up=up)
    with np.load(path, allow_pickle=False) as file:
        assert set(file.files) == {*fields, "metadata"}
        about = json.loads(str(file["metadata"]))
        density, velocity, vorticity = file["density"], file["velocity"], file["vorticity"]
    want, flow, curl = fluid.density.read(), fluid.velocity.at_centers(), fluid.vorticity.read()
    assert curl.any()
    if up == "z":
        assert density[4, 0, 3] == want[6, 4, 3]
        assert velocity[4, 0, 3].tolist() == [flow[6, 4, 3, 0], -flow[6, 4, 3, 2], flow[6, 4, 3, 1]]
        assert vorticity[4, 0, 3].tolist() == [curl[6, 4, 3, 0], -curl[6, 4, 3, 2], curl[6, 4, 3, 1]]
        assert about["origin"] == pytest.approx([1.0, 2.3, 2.0])
    else:
        assert np.array_equal(density, want)
        assert np.array_equal(velocity, flow) and np.array_equal(vorticity, curl)
        assert about["origin"] == [1.0, 2.0, -3.0]
    assert (about["time"], about["cell_size"], about["up"]) == (0.25, 0.1, up)
    assert about["gpufluid"] == gf.__version__


def test_a_folder_holds_each_frame_as_it_was(tmp_path: Path) -> None:
    """Files are written behind the caller's back, of the state when `write` was called."""
    with (
        gf.Fluid(gf.Grid((16, 16, 16), 0.1), backend="fragment") as fluid,
        VolumeFolder(tmp_path / "a") as folder,
    ):
        fluid.emitters.add(gf.Emitter(gf.Sphere((0.8, 0.5, 0.8), 0.3), density=1.0))
        expected = []
        for frame in range(4):
            fluid.step(0.05)
            expected.append(save_volume(tmp_path / f"{frame}.vdb", volume_of(fluid)))
            folder.write(fluid)
    assert folder.frames == 4
    for frame, path in enumerate(expected):
        mine = (tmp_path / "a" / f"volume_{frame + 1:04d}.vdb").read_bytes()
        assert len(mine) == path.stat().st_size
        assert mine[BEYOND_ID:] == path.read_bytes()[BEYOND_ID:]  # a file's own id is new each time
    folder.close()
    with pytest.raises(gf.GpufluidError, match="the folder is closed"):
        folder.write(smoke())


def wild(backend: str, rng: np.random.Generator) -> gf.Fluid:
    """A fluid of an odd size, a ball, colours; some values are beyond half floats, some denormal there."""
    fluid = gf.Fluid(gf.Grid((13, 11, 9), 0.1), backend=backend)
    fluid.obstacles.add(gf.Obstacle(gf.Sphere((0.7, 0.5, 0.4), 0.25)))
    for name in ("density", "temperature", "fuel", "color", "velocity"):
        field = getattr(fluid, name)
        shape = field.read().shape
        field.write(rng.standard_normal(shape) * 10.0 ** rng.integers(-8, 6, shape))
    return fluid


@pytest.mark.parametrize("backend", ["fragment", "compute", "numpy"])
def test_halves_of_a_fluid_are_those_of_its_fields(backend: str, rng: np.random.Generator) -> None:
    """Rounded on the GPU, to the bit as NumPy rounds what is read in single precision."""
    with wild(backend, rng) as fluid:
        halves = fluid.take_halves(HALVED)()
        assert tuple(halves) == HALVED
        for name, array in halves.items():
            whole = fluid.velocity.at_centers() if name == "velocity" else getattr(fluid, name).read()
            assert np.unique(whole).size > (1 if name == "solid" else 500)
            want = whole.clip(-LARGEST_HALF, LARGEST_HALF).astype(np.float16)
            np.testing.assert_array_equal(array.view(np.uint16), want.view(np.uint16), err_msg=name)
        with pytest.raises(gf.GpufluidError, match="names must be one of"):
            fluid.take_halves(["pressure"])


def test_a_volume_in_half_floats_is_the_same_volume() -> None:
    """Solids are ambient in it too, and it turns alike."""
    fluid = with_a_ball(smoke())
    whole, half = volume_of(fluid), volume_later(fluid, half=True)()
    assert half.arrays["temperature"][half.arrays["solid"] > 0.5].tolist() == [2.0] * 27
    for one, other in ((whole, half), (whole.turned(), half.turned())):
        assert one.arrays.keys() == other.arrays.keys()
        for name, array in one.arrays.items():
            assert np.array_equal(other.arrays[name], array.astype(np.float16)), name


def test_what_is_no_number_stays_none(tmp_path: Path) -> None:
    with gf.Fluid(gf.Grid((8, 8, 8), 0.1), backend="fragment") as fluid:
        fluid._solver.scalars.write(np.full((8, 8, 8, 4), [1.0, np.nan, np.inf, -np.inf], np.float32))
        halves = fluid.take_halves(["temperature", "fuel"])()
        assert np.isnan(halves["temperature"]).all() and np.isposinf(halves["fuel"]).all()
        with pytest.raises(gf.GpufluidError, match="'temperature' must be finite"):
            write_volume(tmp_path / "a.vdb", fluid)
    assert list(tmp_path.iterdir()) == []


def test_halves_are_read_back_as_halves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the fields of a file two textures of half floats, where there were three of single ones."""
    read: list[int] = []
    take = Field.take

    def counting(self: Field, *rest: Any) -> Any:
        read.append(len(self.front.read(alignment=1)))
        return take(self, *rest)

    with gf.Fluid(gf.Grid((16, 24, 8), 0.1), backend="fragment") as fluid:
        fluid.obstacles.add(gf.Obstacle(gf.Sphere((0.8, 0.8, 0.4), 0.3)))
        monkeypatch.setattr(Field, "take", counting)
        volume = volume_later(fluid, half=True)()
        assert set(volume.arrays) == {"density", "temperature", "velocity", "solid"}
        assert all(array.dtype == np.float16 for array in volume.arrays.values())
        assert sum(read) == 2 * 16 * 24 * 8 * 4 * 2


@pytest.mark.parametrize(("background", "threshold"), [(0.0, 0.0), (0.0, 1e-4), (0.0, 0.3), (300.3, 0.6)])
def test_halves_are_written_as_the_numbers_they_are(
    tmp_path: Path, rng: np.random.Generator, background: float, threshold: float
) -> None:
    """As single floats of the same values would be, from strided views too."""
    shape, rest = (17, 24, 40), float(np.float16(background))
    values = np.where(rng.random((*shape, 4)) < 0.02, rng.normal(0.0, 2.0, (*shape, 4)), 0.0)
    edge = np.float16(threshold)
    values[5, 6, 7] = np.nextafter(edge, np.float16(1.0)), edge, -0.0, 0.0
    values[9, 9, 9] = edge, np.nextafter(edge, np.float16(1.0)), 0.0, -0.0
    values = (values + rest).astype(np.float16)
    files = []
    for array in (values, values.astype(np.float32)):
        grids = [
            VdbGrid("scalar", array[..., 1], rest, threshold),
            VdbGrid("vector", array[..., :3], rest, threshold),
        ]
        files.append(write_vdb(tmp_path / f"{array.dtype}.vdb", grids).read_bytes()[BEYOND_ID:])
    assert files[0] == files[1]


def test_zip_is_used_where_it_pays(tmp_path: Path, rng: np.random.Generator) -> None:
    smooth = np.round(np.linspace(1.0, 2.0, 64**3, dtype=np.float32).reshape(64, 64, 64), 2)
    noise = smooth + rng.random(smooth.shape, np.float32)  # an eighth less where it is deflated
    sizes = {
        name: write_vdb(tmp_path / f"{name}.vdb", [VdbGrid(name, array)]).stat().st_size
        for name, array in {"smooth": smooth, "noise": noise}.items()
    }
    assert sizes["smooth"] < 0.3 * 2 * 64**3
    assert sizes["noise"] > 2 * 64**3


def test_a_folder_tells_of_a_file_that_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with gf.Fluid(gf.Grid((8, 8, 8), 0.1), backend="numpy") as fluid:
        fluid.density.write(np.ones((8, 8, 8)))

        def refuse(*_: object, **__: object) -> None:
            raise OSError(28, "No space left on device")

        folder = VolumeFolder(tmp_path / "a", about={"title": "a"})
        folder.write(fluid)
        folder._worker.do(lambda: monkeypatch.setattr("gpufluid.io.volumes.write_vdb", refuse))
        folder.write(fluid)
        with pytest.raises(OSError, match="No space left"):
            folder.close()
    assert [p.name for p in sorted((tmp_path / "a").iterdir())] == ["volume.json", "volume_0001.vdb"]
    told = json.loads((tmp_path / "a" / "volume.json").read_text())
    assert told["frames"] == 1 and not told["complete"]


def test_fields_unasked_are_those_that_hold_anything() -> None:
    fluid = smoke()
    assert set(volume_of(fluid).arrays) == {"density", "temperature", "velocity"}
    assert set(volume_of(with_a_ball(fluid)).arrays) == {"density", "temperature", "velocity", "solid"}


def test_every_ending_leaves_whole_files_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fluid = smoke()
    for suffix in (".vdb", ".vti", ".npz"):
        path = write_volume(tmp_path / f"a{suffix}", fluid)
        old = path.read_bytes()
        with pytest.raises(gf.GpufluidError, match=rf"a\{suffix}: exists already"):
            write_volume(path, fluid)

        def stop(self: Path, target: Path) -> Path:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(Path, "replace", stop)
            write_volume(path, fluid, overwrite=True)
        assert path.read_bytes() == old
        write_volume(path, fluid, overwrite=True)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.npz", "a.vdb", "a.vti"]


@pytest.mark.skipif(sys.platform == "win32", reason="a limit on the size of files is POSIX")
@pytest.mark.parametrize("suffix", [".vdb", ".vti", ".npz"])
def test_a_full_disk_leaves_nothing(tmp_path: Path, suffix: str) -> None:
    code = """
        import resource, sys
        import numpy as np
        import gpufluid as gf
        fluid = gf.Fluid(gf.Grid((16, 16, 16), 0.1), backend="numpy")
        fluid.density.write(np.random.default_rng(0).random((16, 16, 16)))
        resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))
        try:
            gf.write_volume(sys.argv[1], fluid)
        except gf.GpufluidError as error:
            print(error)
    """
    done = python("-c", textwrap.dedent(code), tmp_path / f"a{suffix}", check=True)
    assert f"a{suffix}: could not be written: File too large" in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("a.obj", {}, r"must end in \.vdb or \.vti or \.npz"),
        ("missing/a.vdb", {}, "does not exist"),
        ("a.vdb", {"fields": ["densty"]}, "did you mean 'density'"),
        ("a.vdb", {"fields": "density"}, "fields must be a list"),
        ("a.vdb", {"up": "x"}, "up must be one of 'y', 'z'"),
        ("a.vdb", {"threshold": -1.0}, "threshold must be a finite number >= 0"),
        ("a.vdb", {"half": "no"}, "half must be True or False, got 'no'"),
    ],
)
def test_volumes_that_cannot_be(tmp_path: Path, name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(gf.GpufluidError, match=message):
        write_volume(tmp_path / name, smoke(), **options)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("grids", "message"),
    [
        ([VdbGrid("a", np.zeros((3, 3)))], r"must be \[nz, ny, nx\]"),
        ([VdbGrid("a", np.zeros((3, 3, 3, 2)))], r"must be \[nz, ny, nx\]"),
        ([VdbGrid("a", np.full((3, 3, 3), np.nan))], "'a' must be finite"),
        ([VdbGrid("a", np.zeros((3, 3, 3)))] * 2, "names, each its own"),
    ],
)
def test_vdb_grids_that_cannot_be(tmp_path: Path, grids: list[VdbGrid], message: str) -> None:
    with pytest.raises(gf.GpufluidError, match=message):
        write_vdb(tmp_path / "a.vdb", grids)
    assert list(tmp_path.iterdir()) == []
