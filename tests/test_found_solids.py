"""Solids whose surfaces are found first and lit after, against the same solids lit as they are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import moderngl
import numpy as np
import pytest
from numpy.typing import NDArray
from reference_outlines import shown

import gpufluid as gf
from gpufluid.description.view import EXPOSURE
from gpufluid.render import frame_targets
from gpufluid.render.camera import view_of
from gpufluid.render.floor import sees_ahead
from gpufluid.render.frame import FrameRenderer

pytestmark = pytest.mark.usefixtures("device")  # which keeps the programs from test to test
SIZE = 160, 90
SQUARE_ON = np.diag([0.5, 0.9, -0.1, 1.0])  # a parallel projection that begins behind the eye
LEANING = np.array([(1, 0, 0, -0.5), (0, 0.96, -0.28, 0), (0, 0.28, 0.96, -5), (0, 0, 0, 1)])  # down
AHEAD = SQUARE_ON - np.array([(0, 0, 0, 0), (0, 0, 0, 0), (0, 0, 0, 1), (0, 0, 0, 0)])  # it begins at the eye
WHERE: dict[str, Any] = {
    "from above": gf.Camera((0.6, 0.4, 0.5), 2.4, azimuth=25.0),
    "from below": gf.Camera((0.6, 0.4, 0.5), 2.4, azimuth=200.0, elevation=-20.0),
    "close": gf.Camera((0.5, 0.4, 0.5), 0.7, azimuth=60.0, elevation=40.0),
    "beyond some of the floor": gf.Camera((0.6, 0.4, 0.5), 2.4, azimuth=25.0, elevation=30.0, near=2.3),
    "in parallel": (LEANING, AHEAD),
    "in parallel, from anywhere": (LEANING, SQUARE_ON),
}
APART = "from above", "close", "in parallel"  # the floor's depths are those of its plane


def crowd(ctx: moderngl.Context) -> gf.Scene:
    """Two boxes that stand side by side, solids in both, one before the other, under sun, lamp and smoke."""
    one = gf.Fluid(gf.Grid((16, 16, 16), 1 / 16), backend="fragment", ctx=ctx)
    other = gf.Fluid(gf.Grid((8, 16, 16), 1 / 16, origin=(1.0, 0.0, 0.0)), backend="fragment", ctx=ctx)
    knot = gf.Mesh.trefoil().fitted(0.6)
    for fluid, shape, place, look in (
        (one, gf.Sphere(radius=0.2), (0.3, 0.2, 0.6), {"color": (0.9, 0.1, 0.1)}),
        (one, knot, (0.6, 0.5, 0.4), {"gloss": 0.2}),
        (
            one,
            gf.Capsule((0.0, -0.2, 0.0), (0.0, 0.2, 0.0), 0.05),
            (0.2, 0.5, 0.8),
            {"color": (0.1, 0.2, 0.9)},
        ),
        (other, gf.Box(size=(0.3, 0.6, 0.3)), (1.2, 0.25, 0.7), {"color": (0.1, 0.8, 0.3)}),
        (other, gf.Sphere(radius=0.12), (1.15, 0.6, 0.3), {"emission": (3.0, 2.0, 0.5)}),
    ):
        fluid.obstacles.add(gf.Obstacle(shape, place, rotation=(0.1, 0.2, 0.3, 0.9), **look))
    one.step(1e-3)
    one.density.write(np.where(np.arange(16) > 11, 3.0, 0.0)[:, None, None] * np.ones((16, 16, 16)))
    light = gf.Light(direction=(-0.5, -1.0, -0.4), color=(2.0, 1.8, 1.5), ambient=(0.2, 0.3, 0.4))
    lamp = gf.PointLight((0.5, 0.9, 0.9), color=(0.8, 0.6, 0.4))
    return gf.Scene(one, others=(other,), light=light, lights=[lamp], floor=0.0)


def drawn(
    ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch, scene: gf.Scene, found: bool, **look: Any
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Radiance, and depths."""
    with monkeypatch.context() as patched:
        patched.setattr(frame_targets, "lit_later", lambda device: found)
        with FrameRenderer(ctx, SIZE, **look) as frames:
            assert (frames._targets.surfaces is not None) == found
            frames.draw(scene)
            return frames.read_hdr(), frames.read_depth()


@pytest.mark.parametrize(
    ("where", "background"), [("from above", "transparent"), *((where, "studio") for where in WHERE)]
)
def test_they_look_the_same(
    ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch, where: str, background: str
) -> None:
    """In several boxes, before and in one another, on the floor and below it, with all kinds of light.

    A pixel or two on outlines may differ, where triangles are seen on edge.
    """
    scene = crowd(ctx)
    scene.camera = WHERE[where]
    assert sees_ahead(view_of(scene.camera, SIZE[0] / SIZE[1]), 0.0) == (where in APART)
    found, depth = drawn(ctx, monkeypatch, scene, True, background=background)
    at_once, its_depth = drawn(ctx, monkeypatch, scene, False, background=background)
    off = np.abs(found - at_once).max(axis=2)
    assert at_once.std() > 0.1 and np.isfinite(depth).any()
    assert off.mean() < 2e-4 and (off > 0.02).sum() <= 15
    np.testing.assert_allclose(depth, its_depth, rtol=1e-4)
    scene.release()


def test_fire_lights_them_the_same(ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the box that burns, with all other light there is."""
    scene = crowd(ctx)
    scene.camera, scene.fire = WHERE["from above"], gf.Fire(glow=4.0)
    scene.fluid.temperature.write(
        np.where(np.arange(16) > 11, 2.5, 0.0)[:, None, None] * np.ones((16, 16, 16))
    )
    found, at_once = (drawn(ctx, monkeypatch, scene, kind)[0] for kind in (True, False))
    scene.fire = gf.Fire(glow=1e-6)
    dark = drawn(ctx, monkeypatch, scene, True)[0]
    off = np.abs(found - at_once).max(axis=2)
    assert (found - dark).max(axis=2).mean() > 0.01
    assert off.mean() < 2e-4 * found.max() and (off > 0.02 * found.max()).sum() <= 15
    scene.release()


def joined(meshes: Sequence[gf.Mesh]) -> gf.Mesh:
    first = np.cumsum([0, *(len(one.vertices) for one in meshes)])
    triangles = [one.triangles + n for one, n in zip(meshes, first, strict=False)]
    return gf.Mesh(np.concatenate([one.vertices for one in meshes]), np.concatenate(triangles))


@pytest.mark.parametrize("of", ["one mesh", "two solids", "two boxes"])
def test_samples_share_pixels_where_one_thing_is_parallel_to_another(
    ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch, of: str
) -> None:
    """A fence before a board in its shadow, or one that glows, or with what glows between its slats."""
    near = gf.Fluid(gf.Grid((16, 16, 16), 1 / 16, origin=(-0.5, -0.5, 0.0)), backend="fragment", ctx=ctx)
    far = gf.Fluid(gf.Grid((16, 16, 16), 1 / 16, origin=(-0.5, -0.5, -1.0)), backend="fragment", ctx=ctx)
    slats, filling = (
        joined([gf.Mesh.box((width, 0.9, 0.02), (x, 0.0, 0.3)) for x in np.linspace(start, start + 0.8, 9)])
        for width, start in ((0.03, -0.4), (0.07, -0.35))
    )
    board, turned = gf.Mesh.box((0.9, 0.9, 0.02), (0.0, 0.0, 0.1)), (0.0, 0.0, 0.15, 0.99)
    if of == "one mesh":
        near.obstacles.add(gf.Obstacle(joined([slats, board]), rotation=turned))
    else:
        near.obstacles.add(gf.Obstacle(slats, rotation=turned, color=(0.02, 0.02, 0.02)))
        fluid, shape, z = (near, filling, 0.0) if of == "two solids" else (far, board, -0.4)
        fluid.obstacles.add(gf.Obstacle(shape, (0.0, 0.0, z), turned, emission=(0.5, 0.4, 0.3)))
    scene = gf.Scene(near, others=(far,), light=gf.Light(direction=(-0.4, 0.1, -1.0), color=(2.0, 2.0, 2.0)))
    scene.camera = gf.Camera((0.0, 0.0, 0.0), 2.5, elevation=0.0)
    found, at_once = (drawn(ctx, monkeypatch, scene, way)[0] for way in (True, False))
    assert at_once.std() > 0.1
    assert (np.abs(found - at_once) > 0.01).mean() < 1e-4 and np.abs(found - at_once).max() < 0.012
    # as light of a screen, which what a pixel shows of several things is the mean of
    found, at_once = (shown(picture[..., :3], EXPOSURE) for picture in (found, at_once))
    np.testing.assert_allclose(found, at_once, rtol=0.0, atol=0.008)
    scene.release()
