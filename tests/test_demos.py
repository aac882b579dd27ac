"""The demos on small grids: they run, and what they show happens."""

from __future__ import annotations

import re
import shutil
import warnings
from pathlib import Path

import msgspec
import numpy as np
import pytest

import gpufluid as gf
from gpufluid.app.demos import demo_file, demo_names, demo_summary, load_demo
from gpufluid.app.edits import STRONGER, History, blow, strengthen

ANY = (12, 16, 12)  # where the cells do not matter: demos that have them share programs
SMALL = {
    "street": (48, 21, 1),
    "plume": (12, 18, 12),
    "flame": (12, 24, 12),
    "incense": (14, 36, 14),
    "blast": (20, 10, 14),
    "paint": (48, 27, 1),
    "stirring": (48, 27, 1),
    "benard": (15, 6, 12),
    "glass_plates": (36, 32, 2),
    "room": (22, 14, 12),
    "steps": (24, 10, 16),
    "streamlines": (22, 12, 12),
}
DRAWN = {  # as large as another test here needs it, which then has its programs
    **SMALL,
    "flame": (16, 32, 16),
    "fireball": (40, 55, 40),  # in larger cells its puffs are lost
    "ink": (36, 64, 36),  # and its streams
    "room": (32, 20, 18),
    "stirring": (64, 36, 1),
    "benard": (48, 8, 6),
    "logo": (36, 15, 8),
    "animated_source": (28, 20, 10),
}
# cells here are larger than those of the demos: some walls and bars are thinner than one
pytestmark = [
    pytest.mark.filterwarnings("ignore:.* thin, and a cell:gpufluid.ShapeWarning"),
    pytest.mark.usefixtures("one_context"),
]


def heat(scene: gf.Scene) -> float:
    """The integral of temperature over the box."""
    return float(scene.fluid.temperature.read().sum()) * scene.fluid.grid.cell_size**3


def height(scene: gf.Scene, above: float) -> float:
    """How high anything hotter than `above` reaches, metres."""
    rows = np.flatnonzero(scene.fluid.temperature.read().max((0, 2)) > above)
    return float(rows.max(initial=-1) + 1) * scene.fluid.grid.cell_size


def measured_in_cells(source: gf.Emitter) -> bool:
    """Whether a source brings more, or other patches, in larger cells."""
    edged = source.edge == "gaussian" and not isinstance(source.shape, gf.Array)
    return (edged and source.falloff is None) or (source.noise > 0.0 and source.noise_size is None)


@pytest.mark.filterwarnings("ignore::gpufluid.ShapeWarning")  # in few cells
@pytest.mark.parametrize("name", demo_names())
def test_every_demo_runs(name: str) -> None:
    """A few frames on two backends, one of them drawn; short, and its first line says what it shows.

    Its sources are as wide in a GPU's finer cells: a default falloff is one cell wide.
    """
    assert len(demo_file(name).read_text(encoding="utf-8").splitlines()) < 90
    assert demo_summary(name).endswith(".")
    for backend, cells in (("fragment", DRAWN), ("numpy", SMALL)):
        scene = load_demo(name)(cells=cells.get(name, ANY), backend=backend)
        assert scene.title == f"gpufluid: {name}"
        assert not any(measured_in_cells(source) for each in scene.fluids for source in each.emitters)
        fluid, renderer = scene.fluid, None
        if fluid.ctx is not None:
            renderer = gf.FrameRenderer.of(scene.picture, fluid.ctx, (64, 36))
            renderer.follow(scene)
        for _ in range(3):
            scene.advance()
        assert np.isfinite(fluid.velocity.read()).all()
        assert any(field.read().any() for field in (fluid.density, fluid.fuel, fluid.color))
        if renderer is not None:
            renderer.draw(scene)
            assert renderer.read().std() > 5.0
            renderer.release()
        scene.release()


@pytest.mark.filterwarnings("ignore::gpufluid.ShapeWarning")
@pytest.mark.parametrize("cells", [(7, 6, 3), (5, 4, 1)], ids=str)
def test_demos_take_any_cells(cells: tuple[int, int, int]) -> None:
    """As ``--cells`` says: also deep ones in a demo of two dimensions, and the other way round."""
    for name in demo_names():
        scene = load_demo(name)(cells=cells, backend="numpy")
        scene.advance()
        assert scene.fluid.grid.cells == cells, name
        assert np.isfinite(scene.fluid.velocity.read()).all(), name
        scene.release()


@pytest.mark.parametrize("name", ["paint", "stirring"])
def test_a_sheet_of_dye_is_as_dark_in_finer_cells(name: str) -> None:
    """In 2D the light goes through one cell: exp(-extinction * cell_size) of it is left at a density of 1."""
    depths = []
    for cells in ((48, 27, 1), (96, 54, 1)):
        scene = load_demo(name)(cells=cells, backend="numpy")
        depths.append(scene.smoke.extinction * scene.fluid.grid.cell_size)
        scene.release()
    assert depths[0] == pytest.approx(depths[1], rel=1e-9) and depths[0] > 3.0


@pytest.mark.parametrize("name", [n for n in demo_names() if demo_file(n).suffix == ".toml"])
def test_cells_for_a_gpu_fill_the_same_box(name: str) -> None:
    """And are finer. Two have none: in finer cells a sheet of dye thins, and streamlines end sooner."""
    grid = msgspec.toml.decode(demo_file(name).read_bytes())["grid"]
    assert ("gpu_cells" in grid) == (name not in {"street", "streamlines"})
    if "gpu_cells" in grid:
        cells, finer = (np.array(grid[key]) for key in ("cells", "gpu_cells"))
        assert (finer * cells[0] == cells * finer[0]).all() and (finer >= 1.5 * cells).all()


def test_the_flame_is_steady_for_ten_seconds() -> None:
    """Once it burns it neither grows nor dies: heat and height stay in bounds, and no fuel heaps up."""
    scene = load_demo("flame")(cells=DRAWN["flame"])
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


def test_the_fireball_burns_out_and_rises_and_another_follows() -> None:
    scene = load_demo("fireball")(cells=DRAWN["fireball"])
    heats, heights = [], []
    for _ in range(56):
        scene.advance()
        heats.append(heat(scene))
        t = scene.fluid.temperature.read()
        rows = np.arange(len(t[0]))
        heights.append(float((t.sum((0, 2)) * rows).sum() / t.sum()) * scene.fluid.grid.cell_size)
    assert not scene.fluid.flame.read().max() > 0.5
    assert np.argmax(heats) < 21 and heats[-1] < 0.6 * max(heats)
    assert heights[-1] > heights[8] + 0.5
    for _ in range(12):
        scene.advance()
    assert heat(scene) > 1.5 * heats[-1]
    scene.release()


def test_the_blast_drives_the_air_out_of_the_room() -> None:
    scene = load_demo("blast")(cells=DRAWN["blast"])
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


def test_the_hand_paints_until_somebody_else_does() -> None:
    scene = load_demo("paint")(cells=SMALL["paint"])
    for _ in range(10):
        scene.advance()
    painted = float(scene.fluid.color.read().sum())
    assert painted > 0.0
    assert np.abs(scene.fluid.velocity.read()).max() > 0.2, "it does not push"
    scene.touched = True
    for _ in range(10):
        scene.advance()
    assert scene.fluid.color.read().sum() < 1.1 * painted, "it goes on"  # else it would be twice that
    scene.release()


def test_the_rod_folds_the_dye() -> None:
    """The bands are gone where it went, and none of the dye is."""
    scene = load_demo("stirring")(cells=DRAWN["stirring"])
    before = scene.fluid.color.read()[0]
    for _ in range(60):
        scene.advance()
    after = scene.fluid.color.read()[0]
    scene.release()
    np.testing.assert_allclose(after.sum((0, 1)), before.sum((0, 1)), rtol=0.1)
    other = (after.argmax(-1) != before.argmax(-1)) & (after.sum(-1) > 0.2)
    assert other.mean() > 0.25
    turns = np.diff(after.argmax(-1), axis=0) != 0
    assert turns.sum(0).mean() > 6.0, "no more layers than the five edges there were"


@pytest.mark.parametrize(("rayleigh", "turns_over"), [(1000.0, False), (20_000.0, True)])
def test_convection_cells_appear_above_the_critical_rayleigh_number(
    rayleigh: float, turns_over: bool
) -> None:
    scene = load_demo("benard")(cells=DRAWN["benard"], rayleigh=rayleigh)
    told = []
    for frame in range(90):
        scene.advance()
        if frame in (30, 89):
            told.append(scene.fluid.velocity.read()[:-1, 4, :-1, 1])  # through the middle of the layer
    scene.release()
    early, late = told
    if not turns_over:
        assert np.abs(late).max() < 0.7 * np.abs(early).max() < 0.01
        return
    assert np.abs(late).max() > 0.1
    along = late.mean(0)
    changes = np.count_nonzero(np.diff(np.sign(along[np.abs(along) > 0.02])))
    assert 4 <= changes <= 16, "cells about as wide as the layer is high, of which it is 6"


def test_the_plume_between_the_plates_meanders() -> None:
    """It swings to both sides of its source in the plane of the plates, and hardly across it."""
    scene = load_demo("glass_plates")(cells=DRAWN["glass_plates"])
    for _ in range(90):
        scene.advance()
    smoke, speed = scene.fluid.density.read(), scene.fluid.velocity.at_centers()
    scene.release()
    rows = smoke.sum((0, 2))
    x = (np.arange(36) + 0.5) * 0.04 - 0.72
    middle = (smoke.sum(0) @ x)[rows > 0.05 * rows.max()] / rows[rows > 0.05 * rows.max()]
    assert middle.min() < -0.02 and middle.max() > 0.02
    u, _, w = np.sqrt((speed**2).mean((0, 1, 2)))
    assert u > 8.0 * w


def test_a_ball_in_somebodys_hand_stays_there() -> None:
    scene = load_demo("spheres")(cells=ANY)
    ball = scene.names["wanderer"]
    places = []
    for _ in range(4):
        scene.advance()
        places.append(ball.position[0])
    assert places == sorted(places) and places[-1] > 0.03, "it does not wander"
    scene.hold(ball, "position")
    ball.position = (-0.1, 0.5, 0.0)
    scene.advance()
    assert ball.position == (-0.1, 0.5, 0.0)
    scene.release()


def test_smoke_leaves_the_room_only_by_the_hole() -> None:
    """With the hole shut nothing gets out; as it is, what has left lies above it."""
    scene = load_demo("room")(cells=DRAWN["room"])
    grid = scene.fluid.grid
    size = grid.cell_size
    x, y, z = ((np.arange(n) + 0.5) * size + low for n, low in zip(grid.cells, grid.origin, strict=True))
    hole = ((z > -0.45) & (z < 0.35))[:, None] & ((x > 0.7) & (x < 1.5))
    room = ((z > -1.1) & (z < 1.1))[:, None, None] & (y < 2.1)[:, None] & ((x > -2.0) & (x < 2.0))
    haze = scene.fluid.density.read() > 0.0
    scene.advance()
    air = scene.fluid.solid.read() < 0.5
    shut = air & ~(hole[:, None] & ((y > 1.9) & (y < 2.1))[:, None])
    reached = haze & shut
    while True:  # a flood from the haze, a cell at a time
        wider = reached.copy()
        for axis in range(3):
            for low, high in ((slice(1, None), slice(None, -1)), (slice(None, -1), slice(1, None))):
                to, of = ([slice(None)] * 3 for _ in range(2))
                to[axis], of[axis] = low, high
                wider[tuple(to)] |= reached[tuple(of)]
        wider &= shut
        if (wider == reached).all():
            break
        reached = wider
    assert (reached & ~room).sum() == 0 < (air & room & ~reached).sum() < 75, "none but the hole's own cells"

    outside = np.zeros_like(air)
    while scene.frame < 120 and outside.sum() < 1e-3:
        scene.advance()
        outside = np.where(room, 0.0, scene.fluid.density.read())
    above = outside.sum(1)
    assert above.sum() > 1e-3, "none leaves"
    assert above[hole].sum() > 0.9 * above.sum()


def test_the_logo_is_there_and_evaporates() -> None:
    """At first the smoke has the shape of the picture; at the end it is gone."""
    scene = load_demo("logo")(cells=DRAWN["logo"])
    grid = scene.fluid.grid
    sharp = gf.Image(demo_file("logo").with_suffix(".png"), (0.0, 0.0, 0.0), (1.5, 0.323)).pixels
    columns = sharp.shape[1]
    x = grid.origin[0] + grid.cell_size * (np.arange(grid.cells[0]) + 0.5)
    shape = sharp[:, np.clip(((x / 1.5 + 0.5) * columns).astype(int), 0, columns - 1)].mean(0)
    shape[np.abs(x) > 0.75] = 0.0
    masses = []
    for _ in range(75):
        scene.advance()
        density = scene.fluid.density.read()
        masses.append(float(density.sum()))
        if scene.frame == 12:
            assert np.corrcoef(density.sum((0, 1)), shape)[0, 1] > 0.9
    assert np.argmax(masses) < 15 and masses[-1] < 0.25 * max(masses)
    scene.release()


def test_the_source_writes_in_the_air_in_colours() -> None:
    """Where it was a while ago there is smoke of the colour it had then."""
    scene = load_demo("animated_source")(cells=DRAWN["animated_source"])
    grid, pen = scene.fluid.grid, scene.names["pen"]
    places, colors = [], []
    for _ in range(60):
        scene.advance()
        places.append(np.array(pen.position))
        colors.append(np.array(pen.color))
    smoke = scene.fluid.color.read()[..., :3]
    for frame in (20, 40, 55):
        x, y, z = ((places[frame] - grid.origin) / grid.cell_size).astype(int)
        there = smoke[z - 1 : z + 2, y : y + 4, x - 1 : x + 2].sum((0, 1, 2))
        assert there.max() > 0.2 and there.argmax() == colors[frame].argmax(), (frame, there)
    assert np.ptp(places, 0) @ (1.0, 1.0, 0.0) > 0.8
    scene.release()


def test_the_walker_drags_air_along() -> None:
    """Its legs swing while it goes on, the air round them goes with it, and the fog is stirred."""
    scene = load_demo("walker")(cells=(30, 15, 14), backend="numpy")
    (body,), fluid = scene.fluid.obstacles, scene.fluid
    reach, before = [], fluid.density.read()
    for frame in range(10):
        assert scene.update is not None
        scene.update(scene, 1.9 + frame * scene.dt)
        fluid.step(scene.dt)
        reach.append(float(np.ptp(body.shape.vertices[:, 0])))
    assert max(reach) > 1.2 * min(reach) > 0.3
    x = int((body.position[0] - fluid.grid.origin[0]) / fluid.grid.cell_size)
    legs = np.s_[5:9, 0:7, x - 3 : x + 4]  # and what is round them
    along = fluid.velocity.at_centers()[legs][..., 0][fluid.solid.read()[legs] == 0.0]
    assert along.mean() > 0.1 and along.max() > 1.25
    assert np.abs(fluid.density.read() - before)[legs].mean() > 0.05
    scene.release()


def test_the_sun_of_the_cloud_turns() -> None:
    """High at noon and beside the cloud, low and red in the evening, then behind it, and at noon again."""
    scene = load_demo("cloud")(cells=(12, 8, 8), backend="numpy")
    towards = scene.camera.eye - np.array(scene.camera.target)
    told = []
    for frame in range(157):
        scene.update(scene, frame * scene.dt)
        way = np.array(scene.light.direction)
        against = way @ towards / np.linalg.norm(way) / np.linalg.norm(towards)
        told.append((-way[1] / np.linalg.norm(way), scene.light.color[0] / scene.light.color[2], against))
    high, red, against = np.array(told).T
    assert high[0] > 0.75 and high.min() < 0.15 and red[0] < 1.2 and red[high.argmin()] > 4.0
    assert abs(against[0]) < 0.5 and against[120] > 0.9 and np.abs(np.diff(against)).max() < 0.1
    assert np.allclose([high[-1], red[-1], against[-1]], [high[0], red[0], against[0]], atol=1e-6)
    scene.release()


def test_the_cloud_stays() -> None:
    """After three seconds it is where it was: what the air tears off dries up, and condenses anew."""
    scene = load_demo("cloud")(cells=(16, 10, 12), backend="numpy")
    before = scene.fluid.density.read()
    for _ in range(104):
        scene.advance()
    after = scene.fluid.density.read()
    scene.release()
    assert np.abs(after - before).sum() < 0.2 * before.sum() and abs(after.sum() / before.sum() - 1.0) < 0.1


def drift_and_amount(name: str, key: str) -> tuple[float, float]:
    """What `key` has done to what burns or is dyed: how far it has gone to the right, and how much there is.

    Metres along x; of the planet, which only turns, m^2/s about its axis. Amounts are integrals over the box.
    """
    scene = load_demo(name)(cells=ANY)
    scene.camera.azimuth = 0.0  # the wind of the keys blows across the view
    history = History()
    for frame in range(15):
        if frame < 6 and key in "ad":
            blow(scene, history, 1.0 if key == "d" else -1.0)
        if frame < 3 and key == "+":
            strengthen(scene, history, STRONGER)
        scene.advance()
    fluid = scene.fluid
    x, _, z = np.moveaxis(fluid.grid.centers(), -1, 0)
    if name == "planet":
        u, matter = fluid.velocity.at_centers(), fluid.color.read().sum(-1)
        drift = z * u[..., 0] - x * u[..., 2]
    else:
        matter, drift = fluid.temperature.read(), x
    scene.release()
    return float((matter * drift).sum() / matter.sum()), float(matter.sum()) * fluid.grid.cell_size**3


@pytest.mark.parametrize(("name", "far"), [("ball_of_fire", 0.02), ("planet", 0.02)])
def test_the_keys_of_the_window_act(name: str, far: float) -> None:
    """+ feeds it, a and d blow it to the left and to the right."""
    plain, left, right, more = (drift_and_amount(name, key) for key in (" ", "a", "d", "+"))
    assert left[0] + far < plain[0] < right[0] - far
    assert more[1] > 1.05 * plain[1]


def test_the_ball_of_fire_stays() -> None:
    """For four seconds it neither drifts nor goes out nor grows: what burns stays about its centre."""
    scene = load_demo("ball_of_fire")(cells=ANY)
    grid, told = scene.fluid.grid, []
    for frame in range(120):
        scene.advance()
        if frame >= 40 and frame % 10 == 9:
            t = scene.fluid.temperature.read()
            up, across = (
                (t.sum(others) * (np.arange(n) + 0.5)).sum() / t.sum() * grid.cell_size
                for others, n in (((0, 2), grid.cells[1]), ((0, 1), grid.cells[0]))
            )
            told.append((heat(scene), up + grid.origin[1] - 0.8, across + grid.origin[0]))
    scene.release()
    heats, above, aside = np.array(told).T
    assert heats.max() < 1.6 * heats.min()
    assert np.abs(above).max() < 0.2 and np.abs(aside).max() < 0.15


def test_the_vortex_tears_the_blast() -> None:
    """What burns goes round the axis: its moment about it is many times that without the vortex."""
    turning = []
    for strength in (0.0, None):
        scene = load_demo("vortex_blast")(cells=ANY)
        if strength is not None:
            scene.fluid.forces[0].strength = strength
        for _ in range(15):
            scene.advance()
        fluid = scene.fluid
        u, hot = fluid.velocity.at_centers(), fluid.temperature.read()
        x, _, z = np.moveaxis(fluid.grid.centers(), -1, 0)
        moment = z * u[..., 0] - x * u[..., 2]
        turning.append(float((hot * moment).sum() / hot.sum()))
        scene.release()
    assert turning[1] > 0.1 and turning[1] > 5.0 * abs(turning[0])


def test_the_smoke_of_incense_wavers() -> None:
    """The eddies above lead it off the stick's axis, on which it stays without them."""
    off = []
    for still in (True, False):
        scene = load_demo("incense")(cells=SMALL["incense"])
        scene.fluid.forces[0].active = not still
        for _ in range(70):
            scene.advance()
        density, h = scene.fluid.density.read().sum(1), scene.fluid.grid.cell_size
        z, x = (n - 0.5 * (len(n) - 1) for n in np.indices(density.shape))
        off.append(float(np.hypot((density * x).sum(), (density * z).sum())) / density.sum() * h)
        scene.release()
    assert off[0] < 1e-3 < 8e-3 < off[1]


def test_the_candle_is_laid_over_a_plate() -> None:
    """Where the picture is clear the plate is kept, where it is opaque it is gone; light is added to it."""
    import runpy

    names = runpy.run_path(str(demo_file("candle")))
    plate = np.full((2, 2, 3), 100, np.uint8)
    picture = np.zeros((2, 2, 4), np.uint8)
    picture[0, 1], picture[1, 0] = (40, 50, 60, 255), (90, 0, 0, 0)
    got = names["over"](picture, plate)
    assert got[0, 0].tolist() == [100, 100, 100] and got[0, 1].tolist() == [40, 50, 60]
    assert got[1, 0, 0] > 120 and got[1, 0, 1:].tolist() == [100, 100]
    assert names["table"](64, 36).shape == (36, 64, 3)


def test_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its Python, block after block in one program, with few cells and frames."""
    root = Path(__file__).parent.parent
    blocks = re.findall(r"```python\n(.*?)```", (root / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    text = "\n".join(blocks)
    for many, few in (
        ("cells=(64, 96, 64), cell_size=1 / 64", "cells=(12, 18, 12), cell_size=1 / 12"),
        ("(48, 72, 48), cell_size=1 / 48", "(12, 18, 12), cell_size=1 / 12"),
        ("range(60)", "range(2)"),
        ("frames=60", "frames=2, size=(64, 48)"),
    ):
        assert many in text
        text = text.replace(many, few)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "demos").mkdir()
    shutil.copy(root / "demos" / "logo.png", tmp_path / "demos")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gf.ShapeWarning)  # what is thinner than one of so few cells
        exec(compile(text, "README.md", "exec"), {})
    assert {path.name for path in tmp_path.glob("*.mp4")} == {"ball.mp4", "fire.mp4"}
