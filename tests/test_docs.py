"""What the documentation shows runs, and says what it says there."""

from __future__ import annotations

import re
import shlex
import textwrap
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import moderngl
import numpy as np
import pytest
from PIL import Image

import gpufluid as gf
from gpufluid.app.cli import build_parser, main
from gpufluid.render.camera import view_of

DOCS = Path(__file__).parent.parent / "docs"


def blocks(page: str, language: str) -> list[str]:
    """The blocks of code of a page in docs/, in order."""
    found = re.findall(
        rf"^( *)```{language}\n(.*?)^\1```", (DOCS / page).read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    return [textwrap.dedent(text) for _, text in found]


def test_the_experiment_of_the_physics_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A driven cavity on both backends, its profile, a volume and a chart."""
    monkeypatch.chdir(tmp_path)
    text = next(block for block in blocks("physics.md", "python") if block.startswith("import numpy"))
    found: dict[str, Any] = {}
    exec(text, found)
    assert found["apart"] < 1e-5 and not found["start"].any()
    assert -0.21 < found["profile"].min() < -0.12 and found["profile"].argmin() in range(12, 24)
    with np.load("cavity.npz") as written:
        assert written["velocity"].shape == (1, 32, 32, 3)
        np.testing.assert_allclose(written["velocity"][0, ..., 0], found["u"], atol=1e-3)
    chart = np.asarray(Image.open("cavity.png")).astype(int)
    assert chart.shape == (360, 640, 3)
    assert chart[60:120, 200:440].std() > 10.0, "a lid that shears, and fluid that does not know yet"
    found["fluid"].release()
    found["check"].release()


def test_the_wind_and_the_profile_of_the_physics_page() -> None:
    """The wind is what it was told last, and so is its flux; the profile is the parabola it was made of."""
    winds, profile = (text for text in blocks("physics.md", "python") if not text.startswith("import numpy"))
    found: dict[str, Any] = {}
    exec(winds, found)
    tunnel = found["tunnel"]
    u = tunnel.velocity.read()[:16, :16, :, 0]
    np.testing.assert_allclose(u[:, :, 0], found["wind"].velocity[0], rtol=1e-6)
    np.testing.assert_allclose(u.mean(axis=(0, 1)), found["wind"].velocity[0], rtol=1e-3)  # to the other end
    tunnel.release()
    exec(profile, found)
    channel = found["channel"]
    for _ in range(40):
        channel.step(1 / 32)
    u, y = channel.velocity.read()[0, :32, :, 0], (np.arange(32) + 0.5) / 32
    np.testing.assert_allclose(u[:, 1], 6.0 * y * (1.0 - y), atol=1e-5)
    np.testing.assert_allclose(u[:, 1:].mean(axis=0), 1.0, atol=2e-3)
    channel.release()


COMMANDS = [
    (page.name, line.partition("#")[0].strip())
    for page in sorted(DOCS.glob("*.md"))
    for line in re.findall(r"^    (gpufluid .+)$", page.read_text("utf-8"), re.MULTILINE)
]


def test_rows_of_tables_can_be_read() -> None:
    """One held 1,100 characters of numbers. The page of tests is a list of names."""
    pages = [page for page in DOCS.glob("*.md") if page.name != "trust.md"]
    rows = [
        (page.name, row) for page in pages for row in page.read_text("utf-8").splitlines() if row[:1] == "|"
    ]
    assert len(rows) > 100
    assert [(name, row) for name, row in rows if len(row) > 700] == []


def test_the_arrays_of_the_export_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A flow by a formula, on both backends; points that go with it, and a picture."""
    monkeypatch.chdir(tmp_path)
    _, text = blocks("export.md", "python")
    found: dict[str, Any] = {"gf": gf, "np": np}
    exec(text, found)
    fluid, points = found["fluid"], found["points"]
    assert found["apart"] < 1e-5 and np.ptp(fluid.velocity) > 0.1
    assert np.isfinite(points).all() and np.ptp(found["shade"]) > 200 and found["speed"].max() > 0.1
    u, v, h = found["u"], found["v"], fluid.grid.cell_size
    by_hand = np.gradient(v, h, axis=2) - np.gradient(u, h, axis=1)
    inside = (slice(None), slice(1, -1), slice(1, -1))
    np.testing.assert_allclose(found["curl"][(*inside, 2)], by_hand[inside], atol=1e-4)
    assert np.ptp(by_hand) > 1.0 and Path("slice.png").exists()
    fluid.release()


def test_the_film_of_the_export_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A film with alpha, and a volume of each frame."""
    monkeypatch.chdir(tmp_path)
    text, _ = blocks("export.md", "python")
    fluid = gf.Fluid(gf.Grid((12, 18, 12), 1 / 12))
    assert "range(90)" in text and "(640, 360)" in text
    text = text.replace("range(90)", "range(2)").replace("(640, 360)", "(64, 36)")
    found: dict[str, Any] = {"gf": gf, "fluid": fluid, "scene": gf.Scene(fluid)}
    exec(text, found)
    assert {path.name for path in tmp_path.iterdir()} == {"smoke.webm", "smoke_0000.vdb", "smoke_0001.vdb"}
    found["renderer"].release()
    fluid.release()


def test_the_views_of_the_gallery_page(
    ctx: moderngl.Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One after the other, into one framebuffer: each shows something."""
    monkeypatch.chdir(tmp_path)
    fluid = gf.Fluid(gf.Grid((24, 36, 24), 1 / 30, origin=(-0.4, 0, -0.4)), ctx=ctx)
    fluid.emitters.add(
        gf.Emitter(gf.Sphere((0, 0.3, 0), 0.15), density=5.0, temperature=1.0, velocity=(0, 1, 0))
    )
    fluid.obstacles.add(gf.Obstacle(gf.Sphere((0, 0.6, 0), 0.1)))
    for _ in range(5):
        fluid.step(1 / 30)
    found: dict[str, Any] = {
        "gf": gf,
        "fluid": fluid,
        "camera": gf.Camera(target=(0, 0.6, 0), distance=2.5),
        "dt": 1 / 30,
        "seeds": gf.line_of_seeds((-0.2, 0.3, 0), (0.2, 0.3, 0), 8),
        "burner": gf.Sphere((0, 0.2, 0), 0.1),
        "air": gf.Sphere((0, 0.2, 0), 0.2),
        "embers": gf.Sphere((0, 0.1, 0), 0.1),
    }
    texts = blocks("gallery.md", "python")
    assert len(texts) == 11
    for text in texts:
        if "fbo" in found:
            found["fbo"].clear()
        exec(text, found)
        if "render(" in text:
            seen = np.frombuffer(found["fbo"].read(), np.uint8).reshape(-1, 3)
            assert np.ptp(seen, axis=0).any(), text
    assert Path("lines.png").exists()
    for thing in ("fluid", "view", "particles", "sparks", "streaks"):
        found[thing].release()


def test_there_are_commands() -> None:
    assert len(COMMANDS) > 15 and len({page for page, _ in COMMANDS}) > 2


@pytest.mark.parametrize(("page", "command"), COMMANDS)
def test_every_command_is_one(page: str, command: str) -> None:
    """With options that there are, of values that they take."""
    _, name, *rest = shlex.split(command)
    assert build_parser(name).parse_args([name, *rest]).run


def test_the_examples_of_the_scripting_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The description with its views and boxes, the variations of a scene, and the script to its end."""
    monkeypatch.chdir(tmp_path)
    scene, views, boxes = blocks("scripting.md", "toml")
    Path("cow.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    Path("smoke.toml").write_text(scene + views)
    Path("boxes.toml").write_text(boxes)
    played = []
    monkeypatch.setattr(
        gf, "run", lambda scene, out, **options: played.append((scene.fluid.settings.buoyancy, out))
    )
    vary, script = blocks("scripting.md", "python")
    exec(vary, {"gf": gf})
    assert played == [(0.5, "smoke_0.mp4"), (1.0, "smoke_1.mp4"), (2.0, "smoke_2.mp4")]
    smoke = gf.Scene.load("smoke.toml", backend="numpy")
    smoke.advance()
    assert [*smoke.names] == ["source"] and len(smoke.views) == 2 and smoke.fluid.solid.read().any()
    smoke.release()
    two = gf.Scene.load("boxes.toml", backend="numpy")
    assert [*two.box_names] == ["left", "right"] and [view.box for view in two.views] == [None, "right"]
    two.release()
    Path("script.py").write_text(script.replace("(48, 64, 48), 1 / 48", "(12, 16, 12), 1 / 12"))
    told = gf.Scene.load("script.py")
    saved = []
    while not told.over:
        told.advance()
        saved += told.take_snaps()
    assert told.time == pytest.approx(4.0, abs=0.1), "three seconds and thirty frames"
    assert len(saved) == 1
    told.release()


def test_the_examples_of_the_embedding_page(
    ctx: moderngl.Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One after the other in a game without a window; what its own objects are told is what happens."""
    monkeypatch.chdir(tmp_path)
    assert main(["new", "smoke"]) == 0
    *examples, notebook, _ = blocks("embedding.md", "python")  # the last one in `test_notebook`
    assert notebook.startswith("gf.show")
    size, seen = (64, 48), view_of(gf.Camera(target=(0, 0.8, 0), distance=4.0), 64 / 48)
    told = SimpleNamespace(force=None)
    found: dict[str, Any] = {
        "gf": gf,
        "ctx": ctx,
        "view": seen.view,
        "projection": seen.projection,
        "framebuffer": ctx.framebuffer([ctx.texture(size, 4, dtype="f2")]),
        "size": size,
        "depth_texture": ctx.depth_texture(size, data=np.ones(size, np.float32).tobytes()),
        "hero": SimpleNamespace(position=np.array([0.5, 1.0, 0.2])),
        "trail": gf.Emitter(gf.Sphere(radius=0.1), density=1.0),
        "points": [(0.0, 0.3, 0.0)],
        "v": (0.0, 0.0, 0.0),
        "middle": (0.0, 0.3, 0.0),
        "body": SimpleNamespace(apply=lambda force, torque: vars(told).update(force=force, torque=torque)),
        "waiting": 0.0,
        "frame_time": 1 / 60,
        "fired": True,
        "place": (0.0, 0.5, 0.0),
        "dt": 1 / 60,
    }
    for text in examples:
        if "near_smoke" in text:  # two pools of smoke, each with its light in one shader
            for name in ("near", "far"):
                found[name], found[f"{name}_smoke"] = gf.Fluid(found["grid"], ctx=ctx), gf.VolumeRenderer(ctx)
                found[f"{name}_smoke"].render(found[name], (seen.view, seen.projection), found["framebuffer"])
            both = "near_sunlight_at(place) * far_sunlight_at(place)"
            found["program"] = ctx.program(
                vertex_shader="#version 330\nvoid main() { gl_Position = vec4(0.0, 0.0, 0.0, 1.0); }",
                fragment_shader="#version 330\n"
                + gf.glsl("light", "near")
                + gf.glsl("light", "far")
                + f"out vec4 light;\nvoid main() {{ vec3 place = vec3(0.0); light = vec4({both}); }}",
            )
        if "detect_framebuffer" in text:  # a program that moderngl has not made
            seen_by = ctx.program(
                vertex_shader="#version 330\nout float sun;\n" + gf.glsl("light") + "void main() "
                "{ sun = gpufluid_sunlight_at(vec3(gl_VertexID)); gl_Position = vec4(0.0, 0.0, 0.0, 1.0); }",
                varyings=["sun"],
            )
            found |= {"fbo": found["framebuffer"].glo, "depth": found["depth_texture"].glo}
            found |= {"width": size[0], "height": size[1], "program": seen_by.glo}
        if text.startswith("asked"):  # an answer is there a frame or so later
            text = text.replace("...", "fluid.step(1 / 60); ctx.finish()")
        exec(compile(text, "embedding.md", "exec"), found)
        if text.startswith("boom"):
            assert 1.0 < np.max(found["fluid"].fuel) <= 2.0, "all of it, in patches"
        if "present(" in text:
            shown = np.frombuffer(found["framebuffer"].read(dtype="f2"), np.float16).reshape(48, 64, -1)
            drawn = found["picture"].read()
            assert drawn.std() > 5.0, "a scene"
            np.testing.assert_allclose(shown[::-1, :, :3], drawn / 255.0, atol=1 / 128)  # dithered
        if "trail.motion" in text:
            np.testing.assert_allclose(found["trail"].motion, np.array([0.5, 1.0, 0.2]) * 60)
        if "detect_framebuffer" in text:
            assert seen_by["gpufluid_light_cell_size"].value == pytest.approx(0.05)  # type: ignore[union-attr]
        found["fluid"].finish()  # a step that an example leaves under way
    assert np.isfinite(told.force).all() and np.isfinite(told.torque).all()
    assert found["fluid"].scrolled != (0, 0, 0), "it follows the hero"
    for thing in ("fluid", "near", "far", "near_smoke", "far_smoke", "scene", "picture"):
        found[thing].release()
