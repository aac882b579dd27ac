"""What holds of every picture, in random ones. ``make fuzz [SEED=n] [SCENES=n]`` draws many, tests few."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import moderngl
import numpy as np
import pytest
from fuzz import seeds
from random_pictures import NAMES, Drawing, H, Motion, View

import gpufluid as gf


@contextmanager
def begun(view: View, ctx: moderngl.Context, seed: int, done: list[str] | None = None) -> Iterator[gf.Scene]:
    """The scene that a program makes. Where a test of it fails, say how to see it again."""
    scene = view.begin(ctx)
    try:
        yield scene
    except BaseException:
        print(f"\nmake fuzz SEED={seed} SCENES=1   # of\n{view.text(*(done or ()))}\n")
        raise
    finally:
        for fluid in scene.fluids:
            fluid.release()
        scene.release()


def drawn(ctx: moderngl.Context, scene: gf.Scene, **options: Any) -> Any:
    """The picture as bytes [height, width, 4], by a renderer of its own."""
    with gf.FrameRenderer.of(scene.picture, ctx, **options) as frame:
        frame.draw(scene)
        assert np.isfinite(frame.read_hdr()).all()
        return frame.read("premultiplied").astype(int)


def alike(got: Any, expected: Any, mean: float, much: int, share: float = 0.0) -> None:
    """Pixels are off by `mean` at most on average, and no larger share of them by more than `much`."""
    off = np.abs(got - expected).max(-1)
    assert off.mean() <= mean and (off > much).mean() <= share, (
        f"off by {off.mean():.3f} of 255 on average; {(off > much).sum()} of {off.size} pixels by more than "
        f"{much}, by up to {off.max()}"
    )


MOTIONS = {
    "moved": (Motion(by=(1.5, -0.25, 3.0)), 0.8),
    "turned": (Motion(quarters=1), 2.0),  # light is kept on grids that lie otherwise then
    "mirrored": (Motion(mirrored=True), 2.0),
}


@pytest.mark.parametrize("name", MOTIONS)
@seeds(0, 9, 40)
def test_a_moved_world_gives_the_same_picture(ctx: moderngl.Context, seed: int, name: str) -> None:
    """But for pixels on edges: those of solids are drawn by facets, and sampled as no mirror does."""
    motion, mean = MOTIONS[name]
    with begun(Drawing(seed).view(), ctx, seed) as scene:
        expected = drawn(ctx, scene, jitter=False)
    with begun(Drawing(seed, motion).view(), ctx, seed) as scene:
        got = drawn(ctx, scene, jitter=False)
        alike(got[:, ::-1] if motion.mirrored else got, expected, mean, 12, 0.03)


@seeds(0, 1, 2)
def test_what_holds_nothing_is_not_seen(ctx: moderngl.Context, seed: int) -> None:
    """Neither places that are skipped, nor a lamp without light, nor, but for its floor, a further box."""
    with begun(Drawing(seed, boxes=1).view(), ctx, seed) as scene:
        expected = drawn(ctx, scene)
        alike(drawn(ctx, scene, skip_empty=False), expected, 0.1, 2)
        lamps, scene.lights = scene.lights, [*scene.lights, gf.PointLight((0, 0, 0), (0, 0, 0))]
        alike(drawn(ctx, scene), expected, 0.1, 2)
        scene.lights, scene.floor = lamps, None
        expected = drawn(ctx, scene)
        grid = scene.fluid.grid
        with gf.Fluid(gf.Grid((6, 8, 6), H, np.add(grid.origin, grid.size)), ctx=ctx) as empty:
            scene.others = [empty]
            alike(drawn(ctx, scene), expected, 0.1, 2)
            scene.others = []


@seeds(0, 13, 16)
def test_boxes_have_no_order(ctx: moderngl.Context, seed: int) -> None:
    with begun(Drawing(seed, boxes=3).view(), ctx, seed) as scene:
        expected = drawn(ctx, scene)
        scene.fluid, *scene.others = scene.fluids[::-1]
        alike(drawn(ctx, scene), expected, 0.1, 4, 0.01)


@seeds(1, 2, 3)
def test_a_transparent_picture_over_a_color_is_that_on_the_color(ctx: moderngl.Context, seed: int) -> None:
    """But for outlines of solids: their pixels have the mean as it is shown, on nothing that of radiance."""
    with begun(Drawing(seed).view(), ctx, seed) as scene:
        scene.floor, plate, seen, outline = None, np.array([0.3, 0.5, 0.2]), [], np.array(False)
        for background in ("transparent", tuple(plate)):
            scene.picture = replace(scene.picture, background=background)
            with gf.FrameRenderer.of(scene.picture, ctx) as frame:
                frame.draw(scene)
                seen.append(frame.read_hdr())
                outline = outlines(frame.read_depth())
        over = seen[0][..., :3] + (1.0 - seen[0][..., 3:]) * plate
        off = (np.abs(over - seen[1][..., :3]) > 1e-3 + 1e-2 * seen[1][..., :3]).any(-1) & ~outline
        assert off.mean() <= 0.002, f"{off.sum()} of {off.size} pixels are others"  # solids of a pixel's size


def outlines(depth: Any) -> Any:
    """The pixels beside which it is nearer or further by more than half a cell."""
    depth = np.minimum(depth, 1e3)
    found = np.zeros(depth.shape, bool)
    for axis in (0, 1):
        jump = np.abs(np.diff(depth, axis=axis)) > 0.5 * H
        found |= np.insert(jump, 0, False, axis) | np.insert(jump, jump.shape[axis], False, axis)
    return found


@seeds(1, 7, 8)
def test_the_ways_of_drawing_agree(ctx: moderngl.Context, seed: int) -> None:
    with begun(Drawing(seed).view(), ctx, seed) as scene:
        seen = []
        for method in ("ray-march", "view-slices", "axis-slices"):
            scene.picture = replace(scene.picture, method=method, slices=64)
            seen.append(drawn(ctx, scene))
        for picture in seen[1:]:
            alike(picture, seen[0], 0.6, 12, 0.01)


@seeds(2, 28, 30)
def test_what_is_kept_of_the_last_picture_is_as_if_made_anew(ctx: moderngl.Context, seed: int) -> None:
    drawing = Drawing(seed)
    view = drawing.view()
    done: list[str] = []
    with begun(view, ctx, seed, done) as scene, gf.FrameRenderer.of(scene.picture, ctx) as kept:
        for _ in range(6):
            for _ in range(drawing.one(0, 1, 1, 2)):
                done.append(drawing.change(view.boxes))
                exec(done[-1], NAMES | {"scene": scene})
            kept.draw(scene)
            assert np.array_equal(kept.read("premultiplied"), drawn(ctx, scene))


@seeds(2, 6, 10)
def test_what_gpus_do_otherwise_gives_the_same_picture(
    ctx: moderngl.Context, another: moderngl.Context, request: pytest.FixtureRequest, seed: int
) -> None:
    """They light solids as they draw them, and write cells by dispatches."""
    with begun(Drawing(seed).view(), ctx, seed) as scene:
        expected = drawn(ctx, scene)
    request.getfixturevalue("like_a_gpu")
    with another, begun(Drawing(seed).view(), another, seed) as scene:
        alike(drawn(another, scene), expected, 0.5, 12, 0.02)
