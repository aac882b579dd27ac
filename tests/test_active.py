"""Empty space is left out: what is skipped changes nothing, in steps, in light and in pictures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import moderngl
import numpy as np
import pytest
from puff import Canvas, Floats, Puff

import gpufluid as gf
from gpufluid.gl.device import Device
from gpufluid.render.camera import view_of
from gpufluid.render.slices import Slices
from gpufluid.render.volume import VolumeRenderer

SIZE = (96, 70)
GRID = gf.Grid((21, 17, 26), cell_size=1 / 26)
MIDDLE = (0.4, 0.33, 0.5)
EYE = view_of(gf.Camera(target=MIDDLE, distance=2.5, azimuth=33.0, elevation=24.0), 1.5).view
CAMERAS: dict[str, Any] = {
    "outside": gf.Camera(target=MIDDLE, distance=2.2, azimuth=33.0, elevation=24.0),
    "above": gf.Camera(target=MIDDLE, distance=2.2, azimuth=-120.0, elevation=70.0),
    "inside": gf.Camera(target=MIDDLE, distance=0.2, azimuth=20.0, elevation=10.0, fov=70.0),
    "wide": gf.Camera(target=(0.6, 0.5, 0.5), distance=0.9, azimuth=47.0, elevation=20.0, fov=120.0),
    "parallel": (EYE, np.array([[0.9, 0, 0, 0.05], [0, 1.3, 0, -0.1], [0, 0, -0.4, -1.0], [0, 0, 0, 1.0]])),
}


@pytest.fixture(scope="module")
def device(ctx: moderngl.Context) -> Iterator[Device]:
    made = Device(ctx, "fragment")
    yield made
    made.release()


def specks(rng: np.random.Generator, grid: gf.Grid, count: int) -> Floats:
    """A few small boxes of smoke anywhere in the box, [z, y, x], and nothing between them."""
    density = np.zeros(grid.cells[::-1])
    for _ in range(count):
        low = [int(rng.integers(0, n)) for n in density.shape]
        size = [int(rng.integers(1, 6)) for _ in low]
        density[tuple(slice(a, a + n) for a, n in zip(low, size, strict=True))] = rng.uniform(0.2, 2.0)
    return density


def drawn(fluid: Any, camera: Any, skip: bool, corner: tuple[int, int] = (0, 0), **options: Any) -> Floats:
    """The premultiplied picture, from `corner` of the target on."""
    canvas = Canvas(fluid.ctx, SIZE)
    canvas.target.viewport = *corner, SIZE[0] - corner[0], SIZE[1] - corner[1]
    look = {name: options.pop(name) for name in ("fire", "depth", "smoke") if name in options}
    made = VolumeRenderer(fluid.ctx, skip_empty=skip, **options)
    for _ in range(2):  # the second time over what the first left behind
        canvas.target.clear()
        made.render(fluid, camera, canvas.target, **look)
    picture = canvas.read()
    made.release()
    return picture


def assert_alike(one: Floats, other: Floats) -> None:
    """Equal but for the rounding of rays: far below a step of 1/255."""
    assert one[..., 3].max() > 0.05
    assert np.abs(one - other).mean() < 1e-5
    assert np.abs(one - other).max() < 5e-4


@pytest.mark.parametrize("method", ["view-slices", "axis-slices"])
@pytest.mark.parametrize("camera", CAMERAS)
def test_slices_leave_out_only_what_shows_nothing(
    device: Device, rng: np.random.Generator, camera: str, method: str
) -> None:
    for count in (1, 3, 12):
        puff = Puff(device, GRID, density=specks(rng, GRID, count))
        if camera == "inside" and count < 12:
            continue  # may see nothing
        for slices in (None, 7):
            options = {"method": method, "slices": slices, "smoke": gf.Smoke(extinction=60.0)}
            skipped, whole = (drawn(puff, CAMERAS[camera], skip, **options) for skip in (True, False))
            assert_alike(skipped, whole)


def test_slices_of_a_full_and_of_an_empty_box(device: Device) -> None:
    full, empty = Puff(device, GRID, density=0.7), Puff(device, GRID)
    assert_alike(*(drawn(full, CAMERAS["outside"], skip) for skip in (True, False)))
    assert not drawn(empty, CAMERAS["outside"], True).any()


@pytest.mark.parametrize("method", ["view-slices", "axis-slices"])
def test_slices_of_smoke_round_the_eye(device: Device, method: str) -> None:
    """A block that lies before the eye and behind it has no edge in the picture."""
    eye = np.array(CAMERAS["inside"].eye) * 26
    density = np.zeros(GRID.cells[::-1])
    low, high = (eye[::-1] - 2.6).astype(int), (eye[::-1] + 2.6).astype(int)
    density[tuple(slice(a, b) for a, b in zip(low, high, strict=True))] = 3.0
    puff = Puff(device, GRID, density=density)
    assert_alike(*(drawn(puff, CAMERAS["inside"], skip, method=method) for skip in (True, False)))


def test_slices_draw_little_where_there_is_little(device: Device) -> None:
    """Of the slabs that meet one speck, and of no others, its rectangle; nothing of the last picture's."""
    made = VolumeRenderer(device.ctx)
    for place in ((2, 3, 4), (18, 9, 12)):
        density = np.zeros(GRID.cells[::-1])
        density[place[0], place[1], place[2]] = 1.0
        made.render(Puff(device, GRID, density=density), CAMERAS["outside"], Canvas(device.ctx, SIZE).target)
    assert isinstance(made._way, Slices)
    assert made._way._extents is not None and made._way._extents._ends is not None
    ends = np.frombuffer(made._way._extents._ends.wholes.read(), np.float32).reshape(-1, 4)[:32]
    width = np.maximum(ends[:, 0] + ends[:, 1], 0.0)
    assert 0 < (width > 0.0).sum() < 6
    assert width.max() < 0.5
    made.release()


def test_slices_in_part_of_a_target_behind_a_scene(device: Device, rng: np.random.Generator) -> None:
    puff = Puff(device, GRID, density=specks(rng, GRID, 12))
    width, height = SIZE[0] - 9, SIZE[1] - 4
    values = np.broadcast_to(np.linspace(0.993, 0.9967, width), (height, width))
    data = np.ascontiguousarray(values, "f4").tobytes()
    depth = device.ctx.depth_texture((width, height), data, alignment=4)
    given = {"corner": (9, 4), "depth": depth}
    skipped, whole = (drawn(puff, CAMERAS["outside"], skip, **given) for skip in (True, False))
    assert np.abs(whole - drawn(puff, CAMERAS["outside"], False, corner=(9, 4))).max() > 0.05
    assert_alike(skipped, whole)


def test_slices_of_fire_and_colours_round_a_solid(device: Device, rng: np.random.Generator) -> None:
    solids = np.zeros(GRID.cells[::-1])
    solids[4:12, 5:9, 6:15] = 1.0
    dye = [specks(rng, GRID, 2) for _ in range(3)]
    puff = Puff(
        device, GRID, density=specks(rng, GRID, 4), temperature=specks(rng, GRID, 3), color=dye, solids=solids
    )
    for method in ("view-slices", "axis-slices"):
        options = {"method": method, "fire": gf.Fire()}
        assert_alike(*(drawn(puff, CAMERAS["outside"], skip, **options) for skip in (True, False)))


def test_skip_empty_is_a_switch(ctx: moderngl.Context) -> None:
    with pytest.raises(gf.GpufluidError, match="skip_empty must be True or False, got 1"):
        VolumeRenderer(ctx, skip_empty=1)  # type: ignore[arg-type]
    made = VolumeRenderer(ctx, skip_empty=False)
    assert made.another().skip_empty is False
    made.release()
