"""Sheets for games: they are taken apart again as a game would."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import gpufluid as gf
from gpufluid.io.games import FlipBook, FlowBook, arranged, flow_of, rows_and_columns, write_flow_sheet

RNG = np.random.default_rng(2)


def frames(count: int, channels: int = 4, size: tuple[int, int] = (6, 4)) -> list[np.ndarray]:
    return [RNG.integers(0, 256, (size[1], size[0], channels), np.uint8) for _ in range(count)]


def taken_apart(path: Path, picture: np.ndarray | None = None) -> tuple[list[np.ndarray], dict[str, Any]]:
    """The frames of a sheet, by what its JSON says."""
    about = json.loads(path.with_suffix(".json").read_text())
    sheet = np.asarray(Image.open(path)) if picture is None else picture
    h, w = about["frame_height"], about["frame_width"]
    assert sheet.shape[:2] == (about["rows"] * h, about["columns"] * w)
    places = (divmod(n, about["columns"]) for n in range(about["frames"]))
    return [sheet[r * h : r * h + h, c * w : c * w + w] for r, c in places], about


@pytest.mark.parametrize("channels", [3, 4])
@pytest.mark.parametrize(("count", "columns"), [(1, None), (7, 3), (16, None), (5, 9), (4, 1)])
def test_a_flip_book_comes_apart(tmp_path: Path, count: int, columns: int | None, channels: int) -> None:
    pictures = frames(count, channels)
    with FlipBook(tmp_path / "a.png", columns=columns, fps=24, about={"title": "puff"}) as book:
        reused = np.empty_like(pictures[0])
        for picture in pictures:
            reused[:] = picture
            book.write(reused)
    read, about = taken_apart(tmp_path / "a.png")
    assert len(read) == count
    assert all(np.array_equal(a, b) for a, b in zip(read, pictures, strict=True))
    assert (about["fps"], about["title"]) == (24.0, "puff")
    assert about["alpha"] == ("straight" if channels == 4 else None)


def test_a_flip_book_cut_short_holds_its_frames(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), FlipBook(tmp_path / "a.png") as book:
        book.write(frames(1)[0])
        raise KeyboardInterrupt
    assert taken_apart(tmp_path / "a.png")[1]["frames"] == 1
    with pytest.raises(KeyboardInterrupt), FlipBook(tmp_path / "b.png"):
        raise KeyboardInterrupt
    assert not (tmp_path / "b.png").exists()


def test_sheets_are_as_near_to_a_square_as_it_goes() -> None:
    assert rows_and_columns(16, (8, 8)) == (4, 4)
    assert rows_and_columns(8, (16, 8)) == (4, 2)
    assert rows_and_columns(2, (8, 16)) == (1, 2)
    assert arranged(frames(3), 2)[4:, 6:].max() == 0


def test_flip_books_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(gf.GpufluidError, match=r"must end in \.png"):
        FlipBook(tmp_path / "a.jpg")
    (tmp_path / "b.json").write_text("mine")
    with pytest.raises(gf.GpufluidError, match=r"b\.json: exists already"):
        FlipBook(tmp_path / "b.png")
    book = FlipBook(tmp_path / "a.png", columns=1)
    wide = np.zeros((8000, 2, 3), np.uint8)
    book.write(wide)
    with pytest.raises(gf.GpufluidError, match=r"must all be uint8 \[8000, 2, 3\]"):
        book.write(wide[:-1])
    book.write(wide)
    with pytest.raises(gf.GpufluidError, match="2 x 24000 pixels is over 16384 a side"):
        book.write(wide)
    assert book.frames == 2
    book.close()
    book.close()
    assert taken_apart(tmp_path / "a.png")[1]["frames"] == 2, "what fits is lost with what does not"
    with pytest.raises(gf.GpufluidError, match="columns must be a whole number >= 1, got 0"):
        rows_and_columns(3, (4, 4), 0)


@pytest.mark.parametrize("bits", [8, 16])
def test_velocities_come_back(tmp_path: Path, bits: int) -> None:
    flows = [RNG.standard_normal((5, 7, 2)) * 3.0 for _ in range(3)]
    flows[1][0, 0] = 0.0
    path = write_flow_sheet(tmp_path / "a.png", flows, bits=bits, fps=12)
    if bits == 16:
        import av

        with av.open(str(path)) as file:
            read, about = taken_apart(path, next(file.decode(video=0)).to_ndarray(format="rgb48le"))
    else:
        read, about = taken_apart(path)
    assert about["scale"] == max(np.abs(f).max() for f in flows)
    assert (about["red"], about["green"], about["unit"], about["fps"]) == ("right", "up", "m/s", 12.0)
    for coded, flow in zip(read, flows, strict=True):
        decoded = (
            about["scale"] * (coded[..., :2].astype(float) - about["zero"]) / (about["most"] - about["zero"])
        )
        assert np.abs(decoded - flow).max() <= 0.501 * about["scale"] / (about["most"] - about["zero"])
        assert (np.sign(decoded) == np.sign(flow)).mean() > 0.9
        assert not coded[..., 2].any()
    assert (read[1][0, 0, :2] == about["zero"]).all(), "rest is not stored exactly"


def test_a_given_scale_cuts_off(tmp_path: Path) -> None:
    path = write_flow_sheet(tmp_path / "a.png", [[[(9.0, -9.0), (1.0, 0.0)]]], scale=2.0)
    (read,), about = taken_apart(path)
    assert read[0, :, :2].tolist() == [[255, 1], [192, 128]]
    assert about["scale"] == 2.0
    (still,), about = taken_apart(write_flow_sheet(path, [np.zeros((2, 2, 2))], overwrite=True))
    assert (still[..., :2] == 128).all()
    assert about["scale"] == 1.0


@pytest.mark.parametrize("fps", [0.0, np.nan, "fast"])
def test_a_rate_that_is_none_leaves_no_file(tmp_path: Path, fps: Any) -> None:
    with pytest.raises(gf.GpufluidError, match="fps must be"):
        write_flow_sheet(tmp_path / "a.png", [np.zeros((2, 2, 2))], fps=fps)
    with pytest.raises(gf.GpufluidError, match="fps must be"):
        FlowBook(tmp_path / "a.png", fps=fps)
    assert not list(tmp_path.iterdir())


def windy() -> gf.Fluid:
    """Velocity (1 + z, 10 + x, 100 + y), in numbers of cells; density in one slice of each axis."""
    fluid = gf.Fluid(gf.Grid((5, 4, 3), 0.5, (1.0, 0.0, 0.0)), backend="numpy")
    z, y, x = np.mgrid[:4, :5, :6]
    fluid.velocity.write(np.stack([1.0 + z, 10.0 + x, 100.0 + y], -1))
    return fluid


@pytest.mark.parametrize(
    ("axis", "at", "cell"),
    [
        ("z", 0.75, lambda row, column: (column, 3 - row, 1)),
        ("y", 1.6, lambda row, column: (column, 3, row)),
        ("x", 2.2, lambda row, column: (2, 3 - row, 2 - column)),
    ],
)
def test_a_slice_is_seen_from_its_high_end(axis: str, at: float, cell: Any) -> None:
    flow = flow_of(windy(), axis, at)
    assert flow.shape == {"z": (4, 5, 2), "y": (3, 5, 2), "x": (4, 3, 2)}[axis]
    for row in range(flow.shape[0]):
        for column in range(flow.shape[1]):
            x, y, z = cell(row, column)
            velocity = 1.0 + z, 10.0 + x, 100.0 + y
            across = {"z": (velocity[0], velocity[1]), "y": (velocity[0], -velocity[2])}
            assert tuple(flow[row, column]) == across.get(axis, (-velocity[2], velocity[1]))


@pytest.mark.parametrize("kind", ["grey", "coloured", "both"])
def test_depth_averages_weigh_with_the_smoke(kind: str) -> None:
    fluid = windy()
    density = np.zeros((3, 4, 5))
    density[0, 1], density[2, 1] = 1.0, 3.0
    shares = {"grey": (1.0, 0.0), "coloured": (0.0, 1.0), "both": (0.5, 0.5)}[kind]
    fluid.density.write(shares[0] * density)
    if shares[1]:
        fluid.color.write(shares[1] * density[..., None] * (0.25, 0.5, 0.25))
    flow = flow_of(fluid)
    assert flow[2, 0].tolist() == [1.0 + 2.0 * 0.75, 10.0]
    assert flow[0, 0].tolist() == [2.0, 10.0], "without smoke it is the plain mean"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"axis": "w"}, "axis must be one of 'x', 'y', 'z'"),
        ({"axis": "x", "at": 3.6}, r"at must lie in the box, 1 \.\. 3\.5 m, got 3\.6"),
        ({"at": -0.1}, "at must lie in the box"),
    ],
)
def test_slices_that_are_not_there(options: Any, message: str) -> None:
    with pytest.raises(gf.GpufluidError, match=message):
        flow_of(windy(), **options)
    assert flow_of(windy(), "x", 3.5).shape == (4, 3, 2), "the high side belongs to the last slice"


@pytest.mark.parametrize(
    ("flows", "options", "message"),
    [
        ([], {}, "needs at least one frame"),
        ([np.zeros((3, 3))], {}, r"must be finite \[height, width, 2\]"),
        ([np.full((3, 3, 2), np.inf)], {}, "must be finite"),
        ([windy], {}, r"must be numbers \[height, width, 2\], as flow_of\(fluid\) gives it, got <function"),
        ([np.zeros((3, 3, 2)), np.zeros((3, 2, 2))], {}, "must all be"),
        ([np.zeros((3, 3, 2))], {"bits": 12}, "bits must be one of 8, 16"),
        ([np.zeros((3, 3, 2))], {"scale": 0.0}, "scale must be a finite number > 0"),
    ],
)
def test_flow_sheets_that_cannot_be(tmp_path: Path, flows: Any, options: Any, message: str) -> None:
    with pytest.raises(gf.GpufluidError, match=message):
        write_flow_sheet(tmp_path / "a.png", flows, **options)
    assert list(tmp_path.iterdir()) == []
