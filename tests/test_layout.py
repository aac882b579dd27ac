"""Flat 3D textures: every value of a volume has one texel of its own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpufluid.common.errors import GpufluidError
from gpufluid.contract.layout import FlatLayout, layouts
from gpufluid.description.grid import Grid

sizes = st.tuples(*[st.integers(1, 23)] * 3)


@given(sizes, st.sampled_from([1, 4]))
@settings(deadline=None, max_examples=60)
def test_flatten_and_back(size: tuple[int, int, int], packing: int) -> None:
    layout = FlatLayout(size, packing)
    nx, ny, nz = size
    volume = np.arange(1.0, nx * ny * nz + 1).reshape(nz, ny, nx, 1)
    image = layout.flatten(volume)
    assert image.shape == (layout.texture_size[1], layout.texture_size[0], packing)
    assert np.count_nonzero(image) == volume.size
    assert np.array_equal(layout.unflatten(image), volume)


@pytest.mark.parametrize("size", [(8, 8, 8), (13, 7, 5), (10, 9, 1)])
def test_slice_k_is_tile_k(size: tuple[int, int, int]) -> None:
    layout = FlatLayout(size)
    nx, ny, nz = size
    volume = np.arange(nx * ny * nz, dtype=float).reshape(nz, ny, nx, 1)
    image = layout.flatten(volume)
    for k in range(nz):
        y, x = k // layout.columns * ny, k % layout.columns * nx
        assert np.array_equal(image[y : y + ny, x : x + nx, 0], volume[k, ..., 0])


def test_four_neighbours_along_x_share_a_texel() -> None:
    volume = np.arange(7.0).reshape(1, 1, 7, 1)
    assert FlatLayout((7, 1, 1), 4).flatten(volume)[0].tolist() == [[0, 1, 2, 3], [4, 5, 6, 0]]


def test_a_tall_texture_is_the_volume_where_it_fits() -> None:
    """Reading it back copies nothing more."""
    layout = FlatLayout((7, 6, 12), limit=72, tall=True)
    image = np.arange(7 * 6 * 12 * 4.0).reshape(72, 7, 4)
    volume = layout.unflatten(image)
    assert np.shares_memory(volume, image)
    assert np.array_equal(volume, image.reshape(12, 6, 7, 4))
    smaller = FlatLayout((7, 6, 12), limit=71, tall=True)
    assert smaller.texture_size == FlatLayout((7, 6, 12), limit=71).texture_size


def test_a_prime_depth_leaves_its_last_row_partly_filled() -> None:
    layout = FlatLayout((16, 16, 13))
    assert 0 < layout.columns * layout.rows - 13 < layout.columns


@pytest.mark.parametrize(
    ("cells", "kind"), [(16, "packed"), (16, "cell"), (32, "half"), (64, "strip"), (64, "half"), (64, "cell")]
)
def test_two_threads_of_a_software_renderer_share_a_texture(cells: int, kind: str) -> None:
    """They take squares of 64 texels; one square alone would leave the other with nothing."""
    width, height = layouts(Grid((cells,) * 3))[kind].texture_size
    squares = np.add.reduceat(np.ones((height, width)), range(0, height, 64), axis=0)
    squares = np.sort(np.add.reduceat(squares, range(0, width, 64), axis=1).ravel())[::-1]
    alternately = squares[::2].sum()  # the larger part, where the squares are taken by turns
    assert alternately <= 0.56 * width * height


@pytest.mark.parametrize("cells", [32, 64, 96, 128, 256])
def test_sizes_of_the_grids_of_a_hierarchy_are_of_one_sort(cells: int) -> None:
    """llvmpipe compiles what reads textures of powers of two once more for others."""
    sorts = set()
    while cells > 3:
        for kind in ("packed", "weights"):
            sorts |= {n & (n - 1) == 0 for n in layouts(Grid((cells,) * 3), software=True)[kind].texture_size}
        cells //= 2
    assert len(sorts) == 1


def test_the_limit_is_kept_or_named() -> None:
    layout = FlatLayout((100, 100, 100), limit=1024)
    assert max(layout.texture_size) <= 1024
    with pytest.raises(GpufluidError, match=r"200 x 200 x 200 values.* 3000 texels.*limit here is 1024"):
        _ = FlatLayout((200, 200, 200), limit=1024).columns


def test_a_2d_grid_stores_one_slice_of_faces() -> None:
    assert layouts(Grid((6, 5, 1)))["face"].size == (7, 6, 1)
    assert layouts(Grid((6, 5, 2)))["face"].size == (7, 6, 3)
