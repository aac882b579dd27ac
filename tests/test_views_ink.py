"""Letters, rectangles and legends drawn over a picture."""

from __future__ import annotations

import moderngl
import numpy as np
import pytest
from view_flows import ball_flow

import gpufluid as gf
from gpufluid.gl.device import Device
from gpufluid.render.views import lettering
from gpufluid.render.views.colormaps import ColorMaps, colormap
from gpufluid.render.views.ink import Ink

SIZE = (240, 80)


def drawn(ink: Ink, colors: moderngl.Texture | None = None) -> np.ndarray:
    """What `ink` draws on black, 0 .. 1, [height, width, 3], lowest row first."""
    target = ink.device.ctx.simple_framebuffer(SIZE)
    target.clear()
    ink.draw(target, colors)
    return np.frombuffer(target.read(components=3), np.uint8).reshape(*SIZE[::-1], 3) / 255.0


def test_glyphs_fit_their_tiles_and_differ() -> None:
    """No stroke is cut off at its tile's edge, however thick it is drawn, and no two glyphs look alike."""
    atlas = lettering.atlas()
    wide, high = int(lettering.WIDE * lettering.DETAIL), int(lettering.HIGH * lettering.DETAIL)
    tiles = []
    for number in lettering.INDEX.values():
        row, column = divmod(number, lettering.COLUMNS)
        tile = atlas[row * high : (row + 1) * high, column * wide : (column + 1) * wide]
        edge = np.concatenate([tile[0], tile[-1], tile[:, 0], tile[:, -1]])
        assert tile.max() > 200 and edge.max() < 90, list(lettering.GLYPHS)[number]
        tiles.append(tile.astype(float).ravel())
    apart = np.abs(np.array(tiles)[:, None] - np.array(tiles)).mean(-1)
    np.fill_diagonal(apart, 99.0)
    assert apart.min() > 2.0


def test_lines_of_text_are_as_wide_as_they_say(device: Device) -> None:
    ink = Ink(device)
    for text, size in (("speed 0.125 m/s", 8.0), ("WIDE", 20.0), ("-1.5e-7", 10.0)):
        for align in (0.0, 0.5, 1.0):
            width = ink.text(120, 30, text, size, align=align)
            assert width == pytest.approx(ink.text_width(text, size))
            picture = drawn(ink)[..., 0] > 0.3
            columns, rows = np.flatnonzero(picture.any(0)), np.flatnonzero(picture.any(1))
            assert abs(columns[0] - (120 - align * width)) < 3.0
            assert abs(columns[-1] - (120 + (1.0 - align) * width)) < 3.0
            assert rows[-1] <= 30 + size + 2 and rows[0] >= 30 - 0.5 * size
    unknown = ink.text_width("\N{SNOWMAN}", 9.0)
    assert unknown == ink.text_width("?", 9.0) and ink.text_width("", 9.0) == 0.0
    ink.release()


def test_many_things_at_once(device: Device) -> None:
    """More than there is room for at first; each where it was put, and gone once drawn."""
    ink = Ink(device)
    for n in range(4800):
        ink.rectangle(2 * (n % 120), 2 * (n // 120) % 80, 1, 1, (1.0, 0.5, 0.25), 0.5)
    picture = drawn(ink)
    assert (
        (picture[::2, ::2] > 0.1).all() and (picture[1::2] == 0.0).all() and (picture[:, 1::2] == 0.0).all()
    )
    np.testing.assert_allclose(picture[60, 30], (0.5, 0.25, 0.125), atol=0.005)
    assert (drawn(ink) == 0.0).all()
    ink.release()


def test_a_colour_bar_is_its_map(device: Device) -> None:
    ink, maps = Ink(device), ColorMaps(device)
    ink.bar(10, 8, 20, 64)
    picture = drawn(ink, maps.texture("viridis"))
    expected = colormap("viridis")[np.clip((np.arange(64) + 0.5) * 4, 0, 255).astype(int)] / 255.0
    np.testing.assert_allclose(picture[8:72, 20], expected, atol=0.02)
    assert (picture[:, :9] == 0.0).all() and (picture[:, 31:] == 0.0).all() and (picture[73:] == 0.0).all()
    ink.release()
    maps.release()


@pytest.mark.parametrize("size", [(1, 1), (16, 16), (3, 200)])
def test_small_pictures_have_room_for_less(ctx: moderngl.Context, size: tuple[int, int]) -> None:
    """A legend that does not fit is cut off; what would be nothing but margins is refused."""
    fluid = ball_flow(ctx, (8, 12, 8))
    target = ctx.simple_framebuffer(size)
    made = gf.SlicePlane(ctx, "pressure")
    made.render(fluid, gf.Camera(target=(0, 0.6, 0)), target)
    made.release()
    for view in (gf.FlatTextureView(ctx), gf.HistogramView(ctx)):
        with pytest.raises(gf.GpufluidError, match=f"needs a larger viewport than {size[0]} x {size[1]}"):
            view.render(fluid, target)
        view.release()
    assert ctx.error == "GL_NO_ERROR"
    fluid.release()
