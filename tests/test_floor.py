"""The floor of scenes of several boxes lies about all of them, and has the light that all of them leave."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import moderngl
import numpy as np
import pytest
from driver import within
from numpy.typing import NDArray
from test_shadows import TOP, WHITE, on_floor, share_of_light

import gpufluid as gf
from gpufluid.render import frame_targets
from gpufluid.render.frame import FrameRenderer

DOWN = gf.Light(direction=(0.0, -1.0, 0.0), color=(1.0, 1.0, 1.0), ambient=(0.4, 0.4, 0.4))
ASLANT = gf.Light(direction=(1.0, -1.0, 0.3), color=(2.0, 1.8, 1.5), ambient=(0.2, 0.3, 0.4))
LAMP = gf.PointLight((0.3, 1.6, 0.8), (1.5, 1.2, 0.8))
Made = Callable[..., gf.Fluid]


@pytest.fixture
def box(ctx: moderngl.Context) -> Iterator[Made]:
    """Makes a box of 1 m about (x, z = 0) with a block of smoke, or of fire, in its midst."""
    made: list[gf.Fluid] = []

    def make(x: float, y: float = 0.0, density: float = 0.0, heat: float = 0.0, n: int = 16) -> gf.Fluid:
        grid = gf.Grid((n, n, n), 1 / n, (x - 0.5, y, -0.5))
        fluid = gf.Fluid(grid, backend="fragment", ctx=ctx)
        a, b = 5 * n // 16, 11 * n // 16
        block = np.zeros((n, n, n), np.float32)
        block[a:b, a - n // 16 : b - n // 16, a:b] = 1.0
        fluid.density.write(density * block)
        fluid.temperature.write(heat * block)
        made.append(fluid)
        return fluid

    yield make
    for fluid in made:
        fluid.release()


@pytest.fixture
def drawn(ctx: moderngl.Context) -> Iterator[Callable[..., NDArray[np.float32]]]:
    """Draws boxes in that order, [200, 200, 4]."""
    frame = FrameRenderer(ctx, (200, 200), background=WHITE)

    def draw(*fluids: gf.Fluid, background: Any = WHITE, **scene: Any) -> NDArray[np.float32]:
        frame.background = background
        rules = {"camera": TOP, "light": ASLANT, "floor": 0.0, **scene}
        frame.draw(gf.Scene(fluids[0], others=fluids[1:], **rules))
        return frame.read_hdr()

    draw.frame = frame  # type: ignore[attr-defined]
    yield draw
    frame.release()


@pytest.mark.parametrize(
    "background", ["studio", "sky", "transparent", gf.Plate(np.full((9, 9, 3), 99, np.uint8))]
)
@pytest.mark.parametrize("more", [{}, {"lights": (LAMP,)}, {"fire": gf.Fire()}], ids=["sun", "lamp", "fire"])
def test_the_order_of_boxes_is_nothing_to_the_picture(
    box: Made, drawn: Any, background: Any, more: dict[str, Any]
) -> None:
    """But for rounding: of the light a thousandth of what is brightest, of the depth a millimetre."""
    one, two = box(-0.7, density=1.0), box(0.6, 0.1, density=6.0, heat=3.0 if "fire" in more else 0.0, n=32)
    one.obstacles.add(gf.Obstacle(gf.Box(size=(0.2, 0.3, 0.2)), (-1.0, 0.15, 0.3)))
    # in the smoke one before another, further than two of the smaller cells and nearer than two of the larger
    one.obstacles.add(
        gf.Obstacle(gf.Box(size=(0.35, 0.4, 0.07)), (-0.7, 0.45, 0.06), color=(0.05, 0.05, 0.05))
    )
    one.obstacles.add(gf.Obstacle(gf.Box(size=(0.15, 0.15, 0.07)), (-0.7, 0.45, 0.15), color=(0.9, 0.9, 0.9)))
    for fluid in (one, two):
        fluid.voxelize()
    camera = gf.Camera(target=(-0.3, 0.3, 0.0), distance=3.0, elevation=20.0, azimuth=15.0)
    pictures = []
    for fluids in ((one, two), (two, one)):
        pictures.append(
            (drawn(*fluids, background=background, camera=camera, **more), drawn.frame.read_depth())
        )
    (first, near), (second, far) = pictures
    assert np.ptp(first) > 0.1
    np.testing.assert_allclose(first, second, atol=1e-3 * first.max())
    np.testing.assert_allclose(near, far, atol=1e-3)


def test_a_shadow_is_as_dark_beside_an_empty_box(box: Made, drawn: Any) -> None:
    """Far off it changes nothing at all; near it there is more floor, with the same share of its light."""
    smoke, near, far = box(0.0, density=20.0), box(1.2), box(40.0)
    alone = drawn(smoke)
    for fluids in ((smoke, far), (far, smoke)):
        np.testing.assert_allclose(drawn(*fluids), alone, atol=within(1e-5, 2e-3))
    camera = {"camera": TOP, "smoke": gf.Smoke(extinction=60.0)}
    x, z = on_floor()
    seen = (np.hypot(x, z) > 0.75) & (np.hypot(x, z) < 2.2)  # beside the smoke itself
    share = share_of_light(drawn(smoke, **camera)[..., 0], x, z)
    assert (share[seen] < 0.3).sum() > 80
    for fluids in ((smoke, near), (near, smoke)):
        other = share_of_light(drawn(*fluids, **camera)[..., 0], x, z, middles=(0.0, 1.2))
        np.testing.assert_allclose(other[seen], share[seen], atol=0.02)


def test_shadows_that_overlap_leave_the_light_from_all_round(box: Made, drawn: Any) -> None:
    """One above the other, under a sun straight above: only the light from above is lost twice."""
    low, high = box(0.0, density=200.0), box(0.0, 1.5, density=200.0)
    camera = gf.Camera(target=(0.0, 0.0, 0.0), distance=3.0, elevation=3.0, fov=30.0)
    shares = [drawn(*fluids, light=DOWN, camera=camera)[..., 0] for fluids in ((low,), (high,), (low, high))]
    x, z = on_floor(camera)
    under = np.maximum(np.abs(x), np.abs(z)) < 0.12
    assert under.sum() > 20
    one, other, both = (share_of_light(seen, x, z)[under] for seen in shares)
    all_round = 0.4 / 1.4
    assert (one < 0.75 * all_round).all() and (other < 0.75 * all_round).all()
    sky_left = [1.0 - (1.0 - share / all_round) / (0.65 * 0.75) for share in (one, other)]
    twice = all_round * (1.0 - 0.65 * 0.75 * (1.0 - sky_left[0] * sky_left[1]))
    np.testing.assert_allclose(both, twice, rtol=0.01)


def test_the_fire_of_every_box_lights_the_floor(box: Made, drawn: Any) -> None:
    """As if it were alone, and that of two is the sum; the floor far from either box too."""
    one, two, cold = box(-0.6, heat=3.0), box(0.7, heat=2.5), box(0.7)
    other = box(-0.6)
    dark = gf.Light(color=(0.0, 0.0, 0.0), ambient=(0.0, 0.0, 0.0))
    rules = {
        "light": dark,
        "background": (0.0, 0.0, 0.0),
        "fire": gf.Fire(),
        "smoke": gf.Smoke(extinction=1e-3),
    }
    none, left, right, both = (
        drawn(*fluids, **rules)[..., :3] for fluids in ((other, cold), (one, cold), (other, two), (one, two))
    )
    _, z = on_floor()
    floor = np.abs(z) > 0.8
    assert (left[floor] > none[floor] + 1e-4)[:, 0].mean() > 0.98
    assert (right[floor] > none[floor] + 1e-4)[:, 0].mean() > 0.98
    np.testing.assert_allclose(
        (both - none)[floor],
        (left + right - 2.0 * none)[floor],
        rtol=within(1e-3, 1e-2),
        atol=within(1e-6, 1e-4),
    )
    np.testing.assert_allclose(
        drawn(two, other, **rules)[floor], drawn(other, two, **rules)[floor], atol=within(1e-6, 1e-3)
    )


@pytest.mark.parametrize("found", [True, False], ids=["lit later", "lit at once"])
def test_fire_lights_the_solids_of_other_boxes(
    box: Made, ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch, found: bool
) -> None:
    """As it does those of its own box that stand beside that, in cells of any size."""
    monkeypatch.setattr(frame_targets, "lit_later", lambda device: found)
    burning, beside = box(-0.6, heat=3.0), gf.Fluid(gf.Grid((8, 8, 8), 1 / 8), backend="fragment", ctx=ctx)
    rules = {"fire": gf.Fire(glow=5.0), "smoke": gf.Smoke(extinction=1e-3), "floor": None}
    dark = gf.Light(color=(0.0, 0.0, 0.0), ambient=(0.0, 0.0, 0.0))
    camera = gf.Camera(target=(0.3, 0.4, 0.0), distance=3.0, elevation=15.0, azimuth=20.0)
    pictures = []
    for fluid in (burning, beside):
        things = [
            fluid.obstacles.add(
                gf.Obstacle(gf.Sphere(radius=0.2), (0.5, 0.4, 0.1), color=(0.9, 0.7, 0.5), gloss=0.5)
            ),
            fluid.obstacles.add(
                gf.Obstacle(gf.Box(size=(0.2, 0.8, 0.5)), (0.9, 0.4, 0.0), color=(0.5, 0.6, 0.7))
            ),
        ]
        frame = FrameRenderer(ctx, (200, 200), background=(0.0, 0.0, 0.0))
        frame.draw(gf.Scene(beside, others=[burning], camera=camera, light=dark, **rules))
        pictures.append(frame.read_hdr()[..., :3])
        depth = frame.read_depth()
        frame.release()
        for thing in things:
            fluid.obstacles.remove(thing)
    beside.release()
    own, other = pictures
    solid = np.isfinite(depth)
    inside = solid & np.all([np.roll(solid, way, axis) for way in (-1, 1) for axis in (0, 1)], axis=0)
    depth[~solid] = 99.0
    inside &= np.ptp([np.roll(depth, way, axis) for way in (-1, 0, 1) for axis in (0, 1)], axis=0) < 0.05
    assert inside.sum() > 1000 and (own[inside].max(axis=1) > 0.01).mean() > 0.2
    np.testing.assert_allclose(other[inside], own[inside], atol=0.003 * own[inside].max())
    off = np.abs(other - own).max(axis=2)  # a pixel or two where outlines cross may differ
    assert (off > 0.1 * own.max()).sum() <= 4
