"""What a picture takes over from the one before: its light and looks, while nothing has changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import moderngl
import numpy as np
import pytest

import gpufluid as gf
from gpufluid.render.march import RayMarch

SIZE = (48, 36)


@dataclass
class Stage:
    """A burning fluid of every matter, and how it is looked at."""

    fluid: gf.Fluid
    ball: gf.Obstacle
    camera: gf.Camera = field(
        default_factory=lambda: gf.Camera(target=(0.6, 0.6, 0.6), distance=3.0, azimuth=20.0)
    )
    look: dict[str, Any] = field(
        default_factory=lambda: {"light": gf.Light(), "smoke": gf.Smoke(), "fire": None, "lights": ()}
    )


@pytest.fixture
def stage(ctx: moderngl.Context, rng: np.random.Generator) -> Iterator[Stage]:
    rules = gf.Settings(combustion=gf.Combustion(), pressure=gf.Multigrid(1))
    sides = gf.Boundaries(left=gf.Open(), right=gf.Inflow((-0.1, 0, 0)))
    with gf.Fluid(gf.Grid((12, 12, 12), 0.1), sides, rules, "fragment", ctx) as fluid:
        ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.2), position=(0.4, 0.5, 0.6)))
        fluid.step(0.01)
        fluid.density.write(rng.random((12, 12, 12)))
        fluid.temperature.write(4.0 * rng.random((12, 12, 12)))
        yield Stage(fluid, ball)


def _mutate(pigments: Any) -> Callable[[Stage], None]:
    def change(stage: Stage) -> None:
        stage.look["smoke"].pigments = pigments

    return change


def _color(stage: Stage) -> None:
    stage.fluid.color.write(np.full((12, 12, 12, 3), (0.3, 0.6, 0.1)))


def _albedo(stage: Stage) -> None:
    stage.look["smoke"].albedo = [0.9, 0.3, 0.2]


def _turn_fan(stage: Stage) -> None:
    stage.fluid.boundaries = stage.fluid.boundaries.but(right=gf.Inflow((0.1, 0, 0)))


def _same_list_again(stage: Stage) -> None:
    """A caller's own list, changed in place."""
    given = [0.1, 0.9, 0.2]
    stage.look["smoke"].albedo = given


# what may come between two pictures, and whether the light must be walked anew for it
CHANGES: list[tuple[str, Callable[[Stage], Any], bool]] = [
    ("nothing", lambda s: None, False),
    ("camera", lambda s: setattr(s.camera, "azimuth", 70.0), False),
    ("step", lambda s: s.fluid.step(0.02), True),
    ("density", lambda s: s.fluid.density.write(s.fluid.density.read()[::-1]), True),
    ("direction of light", lambda s: setattr(s.look["light"], "direction", (0.3, -1.0, 0.2)), True),
    ("color of light", lambda s: setattr(s.look["light"], "color", (1.0, 3.0, 2.0)), True),
    ("albedo", _albedo, True),
    ("albedo again", _same_list_again, True),
    ("extinction", lambda s: setattr(s.look["smoke"], "extinction", 9.0), True),
    ("fade", lambda s: setattr(s.look["smoke"], "fade", 0.3), True),
    ("a fan that draws in and now lets out", _turn_fan, True),
    ("fire", lambda s: s.look.update(fire=gf.Fire(600.0, 500.0)), True),
    ("hottest", lambda s: setattr(s.look["fire"], "hottest", 1500.0), True),
    ("soft fire", lambda s: setattr(s.look["fire"], "soft", True), True),
    ("colours", _color, True),
    ("pigments", _mutate(((0.1, 0.2, 0.9), (0.9, 0.1, 0.1), (0.2, 0.9, 0.3))), True),
    ("a lamp", lambda s: s.look.update(lights=[gf.PointLight((1.5, 1.0, 0.2))]), True),
    ("the lamp moves", lambda s: setattr(s.look["lights"][0], "position", (-0.4, 1.0, 0.2)), True),
    ("the solid moves", lambda s: setattr(s.ball, "position", (0.7, 0.5, 0.6)), True),
    ("the box moves", lambda s: s.fluid.scroll((2, 0, 0)), True),
    ("anisotropy", lambda s: setattr(s.look["smoke"], "anisotropy", 0.6), True),
    ("camera, anisotropic", lambda s: setattr(s.camera, "azimuth", -40.0), False),
    ("nothing, anisotropic", lambda s: None, False),
    ("a step begins", lambda s: s.fluid.advance(0.02, 1e-3), True),
    ("a step goes on", lambda s: s.fluid.advance(0.02, 1e-3), False),
    ("a step ends", lambda s: s.fluid.finish(), True),
]


@pytest.mark.parametrize("method", ["view-slices", "ray-march"])
def test_a_picture_is_as_if_nothing_were_taken_over(ctx: moderngl.Context, stage: Stage, method: str) -> None:
    """To the bit, whatever changes between two pictures; and light is walked only where it must be."""
    renderers = [gf.VolumeRenderer(ctx, method=method, reuse=reuse) for reuse in (True, False)]
    target = ctx.simple_framebuffer(SIZE, 4, dtype="f4")
    walked, before = [], None
    for name, change, anew in CHANGES:
        change(stage)
        pictures = []
        for renderer in renderers:
            target.clear()
            lit = renderer._made and renderer._made.lit
            renderer.render(stage.fluid, stage.camera, target, **stage.look)
            pictures.append(target.read(components=4, dtype="f4"))
            walked.append(renderer._work.lit is None or renderer._work.lit is not lit)
        assert pictures[0] == pictures[1], name
        assert "nothing" in name or "step" in name or pictures[0] != before, name
        if before is not None:
            assert walked[-2:] == [anew, True], name
        before = pictures[0]
    for renderer in renderers:
        renderer.release()


def test_two_fluids_take_over_nothing_of_each_other(ctx: moderngl.Context, stage: Stage) -> None:
    target = ctx.simple_framebuffer(SIZE, 4, dtype="f4")
    renderer = gf.VolumeRenderer(ctx)
    with gf.Fluid(stage.fluid.grid, backend="fragment", ctx=ctx) as other:
        other.density.write(np.ones((12, 12, 12)))
        pictures = []
        for fluid in (stage.fluid, other, stage.fluid, other):
            target.clear()
            renderer.render(fluid, stage.camera, target)
            pictures.append(target.read(components=4, dtype="f4"))
    assert pictures[:2] == pictures[2:] and pictures[0] != pictures[1]
    renderer.release()


@pytest.mark.parametrize(
    "how",
    [{}, {"method": "axis-slices"}, {"method": "ray-march"}, {"method": "ray-march", "resolution": 0.5}],
)
def test_boxes_of_several_sizes_are_drawn_in_turns_without_anything_made(
    ctx: moderngl.Context, stage: Stage, monkeypatch: pytest.MonkeyPatch, how: dict[str, Any]
) -> None:
    """What boxes of one size are drawn with stays, and goes once a new size comes and their fluid is gone."""
    target = ctx.simple_framebuffer(SIZE, 4, dtype="f4")
    renderer, made = gf.VolumeRenderer(ctx, **how), []

    def picture(fluid: gf.Fluid) -> Any:
        target.clear()
        renderer.render(fluid, stage.camera, target)
        return target.read(components=4, dtype="f4")

    others = [gf.Fluid(gf.Grid((n, 10, 8), 0.1), backend="fragment", ctx=ctx) for n in (8, 16, 24)]
    for other in others:
        other.density.write(np.ones(other.grid.cells[::-1]))
    first = [picture(stage.fluid), picture(others[0]), picture(others[1])]
    texture = renderer.device.texture
    monkeypatch.setattr(renderer.device, "texture", lambda *given: (made.append(given), texture(*given))[1])
    held = renderer.device.field_bytes
    assert [picture(stage.fluid), picture(others[0]), picture(others[1])] == first
    assert not made
    others[0].release()
    assert picture(stage.fluid) == first[0] and renderer.device.field_bytes == held
    picture(others[2])
    assert [size.cells for size, _ in renderer._all_made] == [(12, 12, 12), (16, 10, 8), (24, 10, 8)]
    for other in others:
        other.release()
    renderer.release()
    assert renderer.device.field_bytes == 0


def test_pictures_of_several_sizes_are_drawn_in_turns_without_anything_made(
    ctx: moderngl.Context, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A player and a mirror with rays of half the resolution; a window that is dragged keeps few sizes."""
    target, made = ctx.simple_framebuffer((64, 48), 4, dtype="f4"), []
    with gf.VolumeRenderer(ctx, method="ray-march", resolution=0.5) as renderer:
        texture = renderer.device.texture
        monkeypatch.setattr(
            renderer.device, "texture", lambda *given: (made.append(given), texture(*given))[1]
        )
        for turn in range(3):
            for viewport in ((0, 0, 64, 48), (40, 30, 20, 16)):
                target.viewport = viewport
                renderer.render(stage.fluid, stage.camera, target)
            assert turn == 0 or not made
            made.clear()
        for width in range(40, 64, 2):
            target.viewport = 0, 0, width, 40
            renderer.render(stage.fluid, stage.camera, target)
        assert isinstance(renderer._way, RayMarch)
        assert list(renderer._way._halves) == [(28, 20), (29, 20), (30, 20), (31, 20)]


def test_looks_are_shared_by_players(
    ctx: moderngl.Context, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two cameras a frame: cells that look alike from everywhere are shaded once, others twice."""
    target = ctx.simple_framebuffer(SIZE, 4, dtype="f4")
    renderer, shaded = gf.VolumeRenderer(ctx), []
    shade = renderer._shade
    monkeypatch.setattr(renderer, "_shade", lambda *given: (shaded.append(1), shade(*given)))
    for anisotropy, times in ((0.0, 1), (0.5, 2)):
        shaded.clear()
        for azimuth in (0.0, 90.0):
            stage.camera.azimuth = azimuth
            renderer.render(stage.fluid, stage.camera, target, smoke=gf.Smoke(anisotropy=anisotropy))
        assert len(shaded) == times
    renderer.frame_ms = 50.0  # what a frame takes is then what steers it
    shaded.clear()
    for _ in range(2):
        renderer.render(stage.fluid, stage.camera, target)
    assert len(shaded) == 2
    renderer.release()


def test_a_still_of_another_step_is_another(ctx: moderngl.Context, stage: Stage) -> None:
    """While steps go on their textures take turns: the same one holds another state some steps later."""
    renderers = [gf.VolumeRenderer(ctx, reuse=reuse) for reuse in (True, False)]
    target, seen = ctx.simple_framebuffer(SIZE, 4, dtype="f4"), set()
    for unseen in (0, 1, 2, 3, 4, 5, 6, 7):  # steps that nobody looks at
        for _ in range(unseen):
            stage.fluid.advance(0.02, 1e-3)
            stage.fluid.finish()
        stage.fluid.advance(0.02, 1e-3)
        pictures = []
        for renderer in renderers:
            target.clear()
            renderer.render(stage.fluid, stage.camera, target)
            pictures.append(target.read(components=4, dtype="f4"))
        assert pictures[0] == pictures[1]
        seen.add(pictures[0])
        stage.fluid.finish()
    assert len(seen) == 8
    for renderer in renderers:
        renderer.release()
