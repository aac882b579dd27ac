"""The demos on small grids: they run, and what they show happens."""

from __future__ import annotations

import numpy as np
import pytest

import gpufluid as gf
from gpufluid.app.demos import demo_file, demo_names, demo_summary, load_demo

SMALL = {
    "street": (48, 21, 1),
    "plume": (12, 18, 12),
    "flame": (12, 24, 12),
    "fireball": (16, 20, 16),
    "blast": (20, 10, 14),
}


def heat(scene: gf.Scene) -> float:
    """The integral of temperature over the box."""
    return float(scene.fluid.temperature.read().sum()) * scene.fluid.grid.cell_size**3


def height(scene: gf.Scene, above: float) -> float:
    """How high anything hotter than `above` reaches, metres."""
    rows = np.flatnonzero(scene.fluid.temperature.read().max((0, 2)) > above)
    return float(rows.max(initial=-1) + 1) * scene.fluid.grid.cell_size


@pytest.mark.parametrize("name", demo_names())
def test_every_demo_runs(name: str) -> None:
    """A few frames on two backends, one of them drawn; short, and its first line says what it shows."""
    assert len(demo_file(name).read_text(encoding="utf-8").splitlines()) < 80
    assert demo_summary(name).endswith(".")
    for backend in ("fragment", "numpy"):
        scene = load_demo(name)(cells=SMALL.get(name, (12, 16, 12)), backend=backend)
        assert scene.title == f"gpufluid: {name}"
        for _ in range(3):
            scene.advance()
        fluid = scene.fluid
        assert np.isfinite(fluid.velocity.read()).all()
        assert any(field.read().any() for field in (fluid.density, fluid.fuel, fluid.color))
        if fluid.ctx is not None:
            renderer = gf.FrameRenderer.of(scene.picture, fluid.ctx, (64, 36))
            renderer.draw(scene)
            assert renderer.read().std() > 5.0
            renderer.release()
        scene.release()


def test_the_flame_is_steady_for_ten_seconds() -> None:
    """Once it burns it neither grows nor dies: heat and height stay in bounds, and no fuel heaps up."""
    scene = load_demo("flame")(cells=(16, 32, 16))
    told = []
    for frame in range(300):
        scene.advance()
        if frame >= 60 and frame % 6 == 0:
            flame = float(scene.fluid.flame.read().sum()) * scene.fluid.grid.cell_size**3
            told.append((heat(scene), height(scene, 1.0), flame, float(scene.fluid.fuel.read().max())))
    scene.release()
    early, late = np.array_split(np.array(told), 2)
    assert scene.time == pytest.approx(10.0)
    for values in (early, late):
        mean = values.mean(0)
        assert (np.abs(values[:, :3] / mean[:3] - 1.0).max(0) < (0.35, 0.5, 0.6)).all()
    np.testing.assert_allclose(late.mean(0), early.mean(0), rtol=0.15)
    assert 0.2 < late[:, 1].mean() < 1.2
    assert late[:, 3].max() < 1.5 * early[:, 3].max()


def test_the_fireball_burns_out_and_rises() -> None:
    scene = load_demo("fireball")(cells=(24, 30, 24))
    heats, heights = [], []
    for _ in range(42):
        scene.advance()
        heats.append(heat(scene))
        t = scene.fluid.temperature.read()
        heights.append(float((t.sum((0, 2)) * np.arange(30)).sum() / t.sum()) * scene.fluid.grid.cell_size)
    assert not scene.fluid.flame.read().max() > 0.5
    assert np.argmax(heats) < 21 and heats[-1] < 0.6 * max(heats)
    assert heights[-1] > heights[8] + 0.5
    scene.release()


def test_the_blast_drives_the_air_out_of_the_room() -> None:
    scene = load_demo("blast")(cells=(40, 20, 28))
    area = scene.fluid.grid.cell_size**2
    out = []
    for _ in range(66):
        scene.advance()
        out.append(float(scene.fluid.velocity.read()[:-1, :-1, -1, 0].sum()) * area)
    before = int(0.3 / scene.dt) - 1
    assert np.abs(out[:before]).max() < 1e-3 < 5.0 < max(out)
    assert np.sum(out) * scene.dt > 2.0, "cubic metres that the room of 22 has no place for"
    assert scene.fluid.fuel.read().sum() * scene.fluid.grid.cell_size**3 < 0.02
    scene.release()
