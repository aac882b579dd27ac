"""What GPUs do and software does not: draws that overlap dispatches, quotients whose last digits are off."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import moderngl
import numpy as np
import pytest
from attached import nothing_read
from puff import Canvas, Puff, exact, pictured
from reference_light import light_layers
from test_sample import by_shader

import gpufluid as gf
from gpufluid.contract.kernels import Variant
from gpufluid.contract.layout import PROBES
from gpufluid.description.grid import LARGEST_HALF
from gpufluid.gl.device import Device
from gpufluid.gl.source import Source
from gpufluid.render import volume
from gpufluid.render.camera import view_of
from gpufluid.render.frame import FrameRenderer
from gpufluid.render.light.light_volume import LightVolume
from gpufluid.render.light.lighting import uniforms_of

GRID = gf.Grid((14, 12, 10), 1 / 14)


@pytest.mark.parametrize("fire", [None, gf.Fire()], ids=["smoke", "fire"])
def test_no_dispatch_writes_over_what_is_being_read(
    device: Device, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, fire: gf.Fire | None
) -> None:
    """Image stores wait for the texture fetches before them behind a barrier alone (OpenGL 4.6, 7.13.2).

    Two players' pictures of one box: the second's looks go where the first's are still being read.
    """
    if device.version < 430:
        pytest.skip("no compute shaders here")
    done: list[str] = []

    def noted(kind: type, name: str, what: str) -> None:
        call: Callable[..., Any] = getattr(kind, name)
        monkeypatch.setattr(kind, name, lambda *given, **more: done.append(what) or call(*given, **more))

    noted(moderngl.ComputeShader, "run", "stores")
    noted(moderngl.ComputeShader, "run_indirect", "stores")
    noted(moderngl.VertexArray, "render", "reads")
    noted(moderngl.Framebuffer, "clear", "reads")
    noted(moderngl.Context, "memory_barrier", "barrier")
    monkeypatch.setattr(volume, "computes", lambda _: True)
    made = gf.VolumeRenderer(device.ctx)
    monkeypatch.setattr(made.device, "software", False)
    puff = Puff(device, GRID, density=rng.random(GRID.cells[::-1]), temperature=900.0)
    smoke, canvas = gf.Smoke(anisotropy=0.5), Canvas(device.ctx)
    for azimuth in (0.0, 90.0, 180.0):
        made.render(puff, gf.Camera((0.5, 0.4, 0.4), 2.0, azimuth), canvas.target, smoke=smoke, fire=fire)
    assert canvas.read().any()
    stores = [n for n, what in enumerate(done) if what == "stores"]
    assert len(stores) >= 5
    assert all(done[n - 1] == done[n + 1] == "barrier" for n in stores)
    made.release()


def test_no_dispatch_writes_over_what_is_being_copied(
    ctx: moderngl.Context, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits for what flows at points to be copied: the next pass samples into the same texture."""
    if ctx.version_code < 430:
        pytest.skip("no compute shaders here")
    done: list[str] = []

    def noted(kind: type, name: str, what: str) -> None:
        call: Callable[..., Any] = getattr(kind, name)
        monkeypatch.setattr(kind, name, lambda *given, **more: done.append(what) or call(*given, **more))

    with gf.Fluid(GRID, backend="compute", ctx=ctx) as fluid:
        fluid.velocity.write_at_centers(rng.normal(size=(*GRID.cells[::-1], 3)))
        points = rng.uniform(0.1, 0.6, (PROBES**2 + 9, 3))
        expected = fluid.sample(points).read()
        noted(moderngl.ComputeShader, "run", "store")
        noted(moderngl.Texture, "read_into", "copy")
        noted(moderngl.Context, "memory_barrier", "barrier")
        monkeypatch.setattr(fluid.device, "software", False)
        found = fluid.sample(points)
        assert done == ["store", "barrier", "copy", "barrier"] * 4
        for one, other in zip(found.read(), expected, strict=True):
            assert np.array_equal(one, other)


@pytest.mark.parametrize("way", ["fragment", "compute", "as a GPU"])
def test_nothing_is_read_that_is_written(
    ctx: moderngl.Context, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """Steps, a picture with all there is, and smoke in a host's framebuffer with the depth that it reads."""
    if way != "fragment" and ctx.version_code < 430:
        pytest.skip("no compute shaders here")
    stage = "fragment" if way == "fragment" else "compute"
    rules = gf.Settings(combustion=gf.Combustion(), pressure=gf.Multigrid(1), vorticity_confinement=0.3)
    fluid = gf.Fluid(GRID, gf.Boundaries(top=gf.Open()), rules, backend=stage, ctx=ctx)
    low = gf.Sphere((0.5, 0.2, 0.35), 0.15)
    fluid.emitters.add(gf.Emitter(low, density=6.0, temperature=2.0, fuel=1.0, color=(1.0, 0.4, 0.1)))
    ball = fluid.obstacles.add(gf.Obstacle(gf.Mesh.icosphere(1, 0.12), (0.5, 0.6, 0.35), temperature=1.0))
    fluid.forces.add(gf.Vortex((0.3, 0.3, 0.3), strength=1.0, radius=0.2))
    seen = gf.SliceView(), gf.StreamlinesView(seeds=[(0.5, 0.3, 0.3)], points=8), gf.ParticlesView(count=60)
    scene = gf.Scene(
        fluid,
        gf.Camera((0.5, 0.4, 0.35), 2.0),
        lights=[gf.PointLight((1.0, 1.0, 1.0), (1.0, 0.8, 0.6)), gf.Light((1.0, -1.0, 0.3))],
        fire=gf.Fire(shimmer=0.2),
        floor=0.0,
        views=[*seen, gf.IsoSurfaceView(), gf.GlyphsView()],
    )
    if way == "as a GPU":
        monkeypatch.setattr(volume, "computes", lambda _: True)
    frame, smoke = FrameRenderer(ctx, (48, 32)), gf.VolumeRenderer(ctx, method="ray-march", resolution=0.5)
    depth = ctx.depth_texture((48, 32))
    target = ctx.framebuffer([ctx.texture((48, 32), 4, dtype="f2")], depth)
    view = gf.VoxelView(ctx)
    if way == "as a GPU":
        for device in (fluid.device, frame.device, smoke.device):
            monkeypatch.setattr(device, "software", False)
    target.clear(depth=1.0)
    with nothing_read(ctx, monkeypatch) as counts:
        for n in range(2):
            ball.position = (0.5, 0.6 - 0.05 * n, 0.35)
            fluid.step(0.02)
            frame.draw(scene)
            frame.read_travel(scene)
            smoke.render(fluid, scene.camera, target, depth, fire=gf.Fire())
            view.render(fluid, scene.camera, target, depth)
    assert len(counts) > 150 and max(counts) >= 5 and frame.read().std() > 5.0
    for thing in (view, smoke, frame, fluid, target, depth):
        thing.release()


OFF = [1.0 - 2.0**-22, 1.0, 1.0 + 2.0**-22]  # by how much a quotient may be off: GLSL 4.60, 4.7.1


@pytest.mark.parametrize("off", OFF)
def test_next_to_the_seam_nothing_is_lost(
    device: Device, off: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the flow carries to within rounding of a periodic side stays in the box."""
    cells, text = (41, 48, 7), Source.text.fget  # type: ignore[attr-defined]

    def inexact(source: Source) -> str:
        changed, count = re.subn(r"floor\(p / n\)", f"floor(p / n * {off!r})", text(source))
        assert count == ("kept" in source.label)
        return changed

    monkeypatch.setattr(Source, "text", property(inexact))
    variant = Variant(boundaries=gf.Boundaries.all(gf.Periodic()).form)
    source = Source("kept inside", 330).define(variant.defines(3))
    source.add(f"const ivec3 cells = ivec3{cells};\nconst float cell_size = 1.0;", "<box>")
    source.add(variant.constants(3), "<variant>").include("render/kept_inside.glsl")
    source.add("uniform sampler2D places;\nout vec4 color_out;\nvoid main() { bool lost;", "<test>")
    source.add("vec3 p = texelFetch(places, ivec2(gl_FragCoord.xy), 0).xyz;", "<test>")
    source.add("p = kept_inside(p, lost); color_out = vec4(p, float(lost)); }", "<test>")
    program = device.fragment_program(source)
    side = np.array(cells, np.float32)
    near = [side]
    for way in (-np.inf, np.inf):
        for start in (side, 0.0 * side, 2.0 * side, -side):
            place = start
            for _ in range(4):
                place = np.nextafter(place, np.float32(way))
                near.append(place)
    places = device.texture((len(near), 1), 4, "f4", "the places")
    places.write(np.pad(np.array(near, np.float32), ((0, 0), (0, 1))).tobytes())
    canvas = Canvas(device.ctx, (len(near), 1))
    places.use(0)
    canvas.target.use()
    device.ctx.enable_only(moderngl.NOTHING)
    device.cover(program)
    found = canvas.read()[0]
    assert not found[:, 3].any()
    assert (found[:, :3] >= 0.0).all() and (found[:, :3] <= side).all()
    gone = (found[:, :3] - np.array(near)) / side
    np.testing.assert_allclose(gone, np.round(gone), atol=1e-6)


@pytest.mark.parametrize("off", OFF)
def test_a_hosts_shader_sees_smoke_next_to_the_seam(
    device: Device, off: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It saw none in places that the quotient took for ones outside."""
    plain = gf.glsl("sample")
    changed = plain.replace("floor(p / n)", f"floor(p / n * {off!r})")
    assert changed != plain
    monkeypatch.setattr(gf, "glsl", lambda name: changed)
    side = np.float32(GRID.cells[0])
    near = [side, np.float32(0.0)]
    for way in (-np.inf, np.inf):
        for start in (side, np.float32(0.0)):
            near += [np.nextafter(start, np.float32(way)), start + np.float32(np.sign(way) * 4e-6)]
    grid = gf.Grid(GRID.cells, 1.0)  # so that places are cells
    with gf.Fluid(grid, gf.Boundaries.all(gf.Periodic()), backend="fragment", ctx=device.ctx) as fluid:
        fluid.density.write(np.full(grid.cells[::-1], 2.0, np.float32))
        points = np.array([(x, 5.3, 4.4) for x in near], np.float32)
        Canvas(device.ctx).target.use()
        np.testing.assert_allclose(by_shader(device.ctx, fluid, points)[:, 0], 2.0, rtol=1e-5)


@pytest.mark.parametrize("off", OFF)
def test_light_along_an_axis_has_sharp_sides(
    device: Device, rng: np.random.Generator, off: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its columns move aside by 1e-5 a layer: where one beside a side crosses it hangs on its last digits."""
    text = Source.text.fget  # type: ignore[attr-defined]

    def inexact(source: Source) -> str:
        changed: str = re.sub(r"/ (65536\.0|light_slope)", rf"* {off!r} / \1", text(source))
        return changed

    monkeypatch.setattr(Source, "text", property(inexact))
    device, grid = Device(device.ctx, "fragment"), gf.Grid((13, 17, 11), 0.1)  # which keeps no program yet
    puff = Puff(device, grid, rng.random(grid.cells[::-1]))
    density = puff.scalars.read()[..., 0].astype(np.float64)
    volume = LightVolume(device, grid, 0.5)
    for direction in np.concatenate([np.eye(3), -np.eye(3)]):
        for moved in ((1, -1, -1), (-2, 2, -5), (4, -1, -2)):
            puff.scrolled = moved
            volume.update(puff, tuple(direction), gf.Smoke(4.0))
            twin = light_layers(volume.frame, density, 4.0)
            np.testing.assert_allclose(volume.read(), twin, atol=exact(device, 3e-5))
    volume.release()
    device.release()


@pytest.mark.parametrize("background", [(1e6, 1e6, 1e6), "sky"])
def test_what_stands_behind_everything_is_no_brighter_than_a_picture_holds(
    ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch, background: Any
) -> None:
    """A GPU's picture is of half floats: in one that is infinite dense smoke in front would be NaN."""
    puff = Puff(Device(ctx, "fragment"), GRID)
    camera = gf.Camera((0.5, 0.4, 0.4), 2.5, 30.0, 20.0)
    light = gf.Light(color=(3e7, 3e7, 3e7), ambient=(1e6, 1e6, 1e6))
    with FrameRenderer(ctx, (48, 32), background=background) as made:
        made.draw(pictured(puff, camera=camera, light=light, floor=0.0))
        assert made.read_hdr()[..., :3].max() > LARGEST_HALF, "software's is of single ones"
        made._targets.brightest = LARGEST_HALF
        made.draw(pictured(puff, camera=camera, light=light, floor=0.0))
        assert made.read_hdr()[..., :3].max() == LARGEST_HALF
        made.device.software = False
        made.resize((32, 48))
        assert made._targets.brightest == LARGEST_HALF
        made.device.software = True


@pytest.mark.parametrize("lamps", [1, 4])
def test_cells_are_drawn_where_a_dispatch_has_no_room_for_the_shadows_of_lamps(
    device: Device, monkeypatch: pytest.MonkeyPatch, lamps: int
) -> None:
    """Those of four are more than the 512 numbers that OpenGL promises, and than the 1024 of some GPUs."""
    if device.version < 430:
        pytest.skip("no compute shaders here")
    shaders, run, ran = dict[str, moderngl.ComputeShader](), moderngl.ComputeShader.run, list[Any]()
    compiled = Device.compute_program

    def compile(own: Device, source: Source) -> moderngl.ComputeShader:
        shaders[source.label] = compiled(own, source)
        return shaders[source.label]

    monkeypatch.setattr(Device, "compute_program", compile)
    monkeypatch.setattr(moderngl.ComputeShader, "run", lambda own, *n: ran.append(own) or run(own, *n))
    monkeypatch.setattr(volume, "computes", lambda _: True)
    balls = [gf.Obstacle(gf.Sphere(radius=0.1), position=(0.2 + 0.3 * n, 0.4, 0.4)) for n in range(3)]
    lights = [gf.PointLight((0.35, 0.1 + 0.2 * n, 0.4), color=(0.2, 0.2, 0.2)) for n in range(lamps)]
    puff = Puff(device, GRID, density=0.5, temperature=900.0, color=(0.1, 0.3, 0.2), obstacles=balls)
    scene = pictured(puff, camera=gf.Camera((0.5, 0.4, 0.4), 2.5), lights=lights, fire=gf.Fire())
    pictures, counts = [], []
    with FrameRenderer(device.ctx, (48, 32)) as made:
        made.draw(scene)
        uniforms = [shaders["shade"][name] for name in shaders["shade"]]
        pictures.append(made.read_hdr())
        need = sum(
            4 * -(-u.dimension // 4) * u.array_length for u in uniforms if isinstance(u, moderngl.Uniform)
        )
        assert 0.6 * uniforms_of(lamps) < need <= uniforms_of(lamps)
        for most in (uniforms_of(lamps), uniforms_of(lamps) - 1):
            made.volume.lighting._most = most
            puff.scalars.write(puff.scalars.read())
            ran.clear()
            made.draw(scene)
            counts.append(ran.count(shaders["shade"]))
            pictures.append(made.read_hdr())
    assert counts == [1, 0]
    for picture in pictures[1:]:
        np.testing.assert_allclose(picture, pictures[0], atol=2e-3)


def test_looking_through_smoke_from_far_away_ends(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """Software ends a loop after 65,535 turns, a GPU never: of one by steps that rounding takes away."""
    text = Source.text.fget  # type: ignore[attr-defined]

    def counting(source: Source) -> str:
        told: str = text(source)
        if source.label == "veil":
            told = told.replace("float depth = 0.0;", "float depth = 0.0, turns_taken = 0.0;")
            told = told.replace("depth += smoke_at", "turns_taken += 1.0; depth += 0.0 * smoke_at")
            told = told.replace("vec4(exp(-depth) * fade(p))", "vec4(turns_taken)")
            assert told.count("turns_taken") == 3
        return told

    monkeypatch.setattr(Source, "text", property(counting))
    device = Device(device.ctx, "fragment")  # which keeps no program yet
    puff, canvas = Puff(device, GRID, density=1.0), Canvas(device.ctx, (512, 1))
    camera = gf.Camera((0.5, 0.4, 0.4), 3.0, 45.0, 35.0)
    way = np.array((0.5, 0.4, 0.4)) - camera.eye
    far = np.geomspace(20.0, 3e8, 512)[:, None]  # cells
    behind = (GRID.cells[0] * np.array((0.5, 0.4, 0.4)) + far * way / np.linalg.norm(way)).astype(np.float32)
    places = device.texture((512, 1), 4, "f4", "the places")
    places.write(np.pad(behind, ((0, 0), (0, 1))).tobytes())
    with gf.VolumeRenderer(device.ctx) as made:
        made.render(puff, camera, Canvas(device.ctx).target)
        canvas.target.clear(1.0, 1.0, 1.0, 1.0)  # which is multiplied
        made.veil(places, puff.grid, view_of(camera, 1.5), canvas.target)
        turns = canvas.read()[0, :, 0]
    assert (turns[:256] >= 8).all() and turns.max() <= 64, turns
    device.release()
