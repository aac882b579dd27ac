"""What a host made without moderngl: framebuffers, textures and programs known by OpenGL's names alone."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import moderngl
import numpy as np
import pytest
from host import Host, U
from PIL import Image
from puff import Puff

import gpufluid as gf
from gpufluid.gl.device import Device
from gpufluid.gl.messages import take
from gpufluid.gl.targets import depth_of
from gpufluid.render.painter import Painter

GRID = gf.Grid((12, 10, 8), 0.1)
SIZE = 48, 32
EYE = gf.Camera(target=(0.6, 0.5, 0.4), distance=2.0)
DRAWN, READ, COLOR, DEPTH, TEXTURE = 0x8CA9, 0x8CA8, 0x8CE0, 0x8D00, 0x0DE1
VIEWS: dict[str, Any] = {
    **{way: lambda ctx, way=way: gf.VolumeRenderer(ctx, method=way) for way in ("view-slices", "ray-march")},
    "SlicePlane": lambda ctx: gf.SlicePlane(ctx, legend=False),
    "VoxelView": gf.VoxelView,
    "Particles": lambda ctx: gf.Particles(ctx, 500, [gf.Box((0.6, 0.5, 0.4), (1.0, 0.8, 0.6))], opacity=1.0),
}


class Raw:
    """A framebuffer with two colours and a depth, made by OpenGL's calls; it draws to those of `drawn`."""

    def __init__(self, ctx: moderngl.Context, drawn: tuple[int, ...] = (1,)) -> None:
        self.ctx, self.gl = ctx, Host(ctx)
        self.colors = [ctx.texture(SIZE, 4, dtype="f2") for _ in range(2)]
        self.depth = ctx.depth_texture(SIZE)
        self.name = self.new([*(texture.glo for texture in self.colors)], self.depth.glo)
        self.draw_to(*drawn)
        self.colors_made = [ctx.framebuffer([color]) for color in self.colors]
        self.clear()

    def new(self, colors: list[int], depth: int = 0) -> int:
        """A framebuffer with those textures."""
        name = (ctypes.c_uint * 1)()
        self.gl("glGenFramebuffers", 1, name)
        self.gl("glBindFramebuffer", DRAWN, int(name[0]))
        for n, color in enumerate(colors):
            self.gl("glFramebufferTexture2D", DRAWN, COLOR + n, TEXTURE, color, 0)
        if depth:
            self.gl("glFramebufferTexture2D", DRAWN, DEPTH, TEXTURE, depth, 0)
        return int(name[0])

    def draw_to(self, *numbers: int) -> None:
        """Have it draw to these of its colours, and read from the last."""
        self.gl("glBindFramebuffer", DRAWN, self.name)
        self.gl("glBindFramebuffer", READ, self.name)
        self.gl("glDrawBuffers", len(numbers), (ctypes.c_uint * len(numbers))(*(COLOR + n for n in numbers)))
        self.gl("glReadBuffer", COLOR + numbers[-1])

    def clear(self) -> None:
        """Both colours to something; what is seen in the left half is hidden, the right is open."""
        for n, made in enumerate(self.colors_made):
            made.clear(0.1, 0.2 + 0.1 * n, 0.3, 0.5)
        half = np.ones(SIZE[::-1], np.float32)
        half[:, : SIZE[0] // 2] = 0.0
        self.depth.write(half.tobytes())

    @property
    def target(self) -> moderngl.Framebuffer:
        """As moderngl detects it."""
        return self.ctx.detect_framebuffer(self.name)

    @property
    def buffers(self) -> list[float]:
        """What it draws to, and what it is read from."""
        self.gl("glBindFramebuffer", DRAWN, self.name)
        self.gl("glBindFramebuffer", READ, self.name)
        return [self.gl.number(0x8825 + n)[0] for n in range(4)] + [self.gl.number(0x0C02)[0]]

    def pixels(self, n: int) -> np.ndarray:
        """The colour `n`, [h, w, 4]."""
        return np.frombuffer(self.colors[n].read(), np.float16).reshape(*SIZE[::-1], 4).astype(float)

    def release(self) -> None:
        """Delete and release all of it."""
        self.gl("glDeleteFramebuffers", 1, (ctypes.c_uint * 1)(self.name))
        for thing in (*self.colors_made, *self.colors, self.depth):
            thing.release()
        self.gl.release()


@pytest.fixture(autouse=True)
def kept(ctx: moderngl.Context) -> Iterator[None]:
    """State is kept as in every host's context; the tests' own is the engine's."""
    gf.keep_state(ctx, True)
    yield
    gf.keep_state(ctx, False)


@pytest.fixture
def raw(ctx: moderngl.Context) -> Iterator[Raw]:
    made = Raw(ctx)
    yield made
    made.release()


@pytest.fixture(scope="module")
def fluid(ctx: moderngl.Context) -> Iterator[gf.Fluid]:
    """Smoke over a ball, in some wind."""
    with gf.Fluid(GRID, ctx=ctx) as made:
        made.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.2), (0.6, 0.4, 0.4)))
        made.density.write(np.linspace(0, 6, 12 * 10 * 8).reshape(8, 10, 12).astype(np.float32))
        made.velocity.write_at_centers(np.ones((8, 10, 12, 3)))
        made.step(0.02)
        yield made


@pytest.mark.parametrize("name", VIEWS)
def test_only_the_first_colour_drawn_to_is_drawn_to(
    ctx: moderngl.Context, raw: Raw, fluid: gf.Fluid, name: str
) -> None:
    """The same as by moderngl; the framebuffer draws and is read as before, and its other colour is kept."""
    view = VIEWS[name](ctx)
    if name == "Particles":
        view.advance(fluid, 0.1)
    colour = raw.ctx.framebuffer([raw.colors[1]], raw.depth)
    view.render(fluid, EYE, colour, depth=raw.depth)
    meant = raw.pixels(1)
    colour.release()
    for drawn in ((1,), (1, 0)):
        raw.draw_to(*drawn)
        raw.clear()
        kept, buffers, target = raw.pixels(0), raw.buffers, raw.target
        view.render(fluid, EYE, target, depth=raw.depth)
        assert raw.buffers == buffers
        assert np.array_equal(raw.pixels(0), kept)
        np.testing.assert_allclose(raw.pixels(1), meant, atol=2e-3)
    seen = np.abs(meant - (0.1, 0.3, 0.3, 0.5)).max(axis=(0, 2)) > 0.01
    assert not seen[:24].any() and seen[24:].any()
    view.release()


@pytest.mark.parametrize("name", ["SlicePlane", "VoxelView"])
def test_an_opaque_view_hides_itself_where_the_framebuffer_has_no_depth(
    ctx: moderngl.Context, raw: Raw, fluid: gf.Fluid, name: str
) -> None:
    view = VIEWS[name](ctx)
    colour = ctx.framebuffer([raw.colors[1]])
    view.render(fluid, EYE, colour, depth=raw.depth)
    meant = raw.pixels(1)
    colour.release()
    bare = raw.new([raw.colors[1].glo])
    raw.clear()
    view.render(fluid, EYE, ctx.detect_framebuffer(bare), depth=raw.depth)
    np.testing.assert_allclose(raw.pixels(1), meant, atol=2e-3)
    raw.gl("glDeleteFramebuffers", 1, (ctypes.c_uint * 1)(bare))
    view.release()


def test_what_is_read_does_not_hang_in_what_is_drawn_to(
    ctx: moderngl.Context, raw: Raw, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OpenGL forbids both at once, though llvmpipe does it."""
    puff, smoke, hung = Puff(Device(ctx, "fragment"), GRID, density=2.0), gf.VolumeRenderer(ctx), []
    drawn = Painter.draw

    def draw(self: Painter, sight: Any, *given: Any, **fields: Any) -> None:
        hung.append(depth_of(sight.target).kind)
        drawn(self, sight, *given, **fields)

    monkeypatch.setattr(Painter, "draw", draw)
    smoke.render(puff, EYE, raw.target, depth=raw.depth)
    assert hung == [0]
    smoke.release()


def test_a_renderbuffer_of_the_depths_number_is_not_that_depth(
    ctx: moderngl.Context, fluid: gf.Fluid
) -> None:
    """Textures and renderbuffers are counted apart: a view took one for the other, and nothing hid it."""
    depth = ctx.depth_texture(SIZE, np.zeros(SIZE[::-1], np.float32).tobytes())  # in front of all
    spare = [ctx.depth_renderbuffer(SIZE)]
    while spare[-1].glo < depth.glo:
        spare.append(ctx.depth_renderbuffer(SIZE))
    same = next((one for one in spare if one.glo == depth.glo), None)
    assert same is not None
    color = ctx.texture(SIZE, 4, dtype="f2")
    target = ctx.framebuffer([color], same)
    target.clear()
    view = gf.VoxelView(ctx)
    view.render(fluid, EYE, target)
    assert any(color.read())
    target.clear()
    view.render(fluid, EYE, target, depth=depth)
    assert not any(color.read())
    for thing in (view, target, color, depth, *spare):
        thing.release()


def test_a_layer_of_a_texture_is_drawn_to_once_its_size_is_known(ctx: moderngl.Context, raw: Raw) -> None:
    array = ctx.texture_array((*SIZE, 3), 4, bytes(16 * 3 * SIZE[0] * SIZE[1]), dtype="f4")
    name = raw.new([])
    raw.gl("glFramebufferTextureLayer", DRAWN, COLOR, array.glo, 0, 1)
    puff, smoke = Puff(Device(ctx, "fragment"), GRID, density=4.0), gf.VolumeRenderer(ctx)
    target = ctx.detect_framebuffer(name)
    take(ctx)  # an error of moderngl's: it asks for the size of a plain texture
    target.viewport = 0, 0, *SIZE
    smoke.render(puff, EYE, target)
    assert not take(ctx)
    layers = np.frombuffer(array.read(), np.float32).reshape(3, -1)
    assert [bool(layer.any()) for layer in layers] == [False, True, False]
    raw.gl("glDeleteFramebuffers", 1, (ctypes.c_uint * 1)(name))
    for thing in (array, smoke):
        thing.release()


@pytest.mark.parametrize("layer", [0, 1, None], ids=["first", "second", "all"])
@pytest.mark.parametrize("hangs", [True, False], ids=["a depth", "no depth"])
@pytest.mark.parametrize("name", ["SlicePlane", "Particles"])
def test_a_layer_with_a_depth_that_has_none(
    ctx: moderngl.Context, raw: Raw, fluid: gf.Fluid, name: str, hangs: bool, layer: int | None
) -> None:
    """The engine's own framebuffer had all layers in place of the first, and was not complete."""
    view = VIEWS[name](ctx)
    if name == "Particles":
        view.advance(fluid, 0.1)
    plain = raw.new([raw.colors[1].glo], raw.depth.glo if hangs else 0)
    view.render(fluid, EYE, ctx.detect_framebuffer(plain))
    meant = raw.pixels(1)
    array = ctx.texture_array(
        (*SIZE, 3), 4, np.tile([0.1, 0.3, 0.3, 0.5], (3, *SIZE[::-1], 1)).astype("f2"), dtype="f2"
    )
    given = raw.new([], raw.depth.glo if hangs and layer is not None else 0)
    if layer is None:  # as a program of the host's draws to all, with a geometry shader
        raw.gl("glFramebufferTexture", DRAWN, COLOR, array.glo, 0)
    else:
        raw.gl("glFramebufferTextureLayer", DRAWN, COLOR, array.glo, 0, layer)
    target = ctx.detect_framebuffer(given)
    take(ctx)  # an error of moderngl's: it asks for the size of a plain texture
    target.viewport = 0, 0, *SIZE
    raw.clear()
    view.render(fluid, EYE, target, depth=None if layer is not None else raw.depth)
    assert not take(ctx)
    layers = np.frombuffer(array.read(), np.float16).reshape(3, *SIZE[::-1], 4)
    if layer is not None:
        np.testing.assert_allclose(layers[layer], meant, atol=2e-3)
    drawn = [bool(np.ptp(one[..., 0])) for one in layers]
    assert drawn == [n == (layer or 0) for n in range(3)]
    raw.gl("glDeleteFramebuffers", 2, (ctypes.c_uint * 2)(plain, given))
    for thing in (view, array):
        thing.release()


def test_bad_targets_and_depths_are_named(ctx: moderngl.Context, raw: Raw) -> None:
    puff, smoke, view = (
        Puff(Device(ctx, "fragment"), GRID, density=2.0),
        gf.VolumeRenderer(ctx),
        gf.VoxelView(ctx),
    )
    whole, small = ctx.texture(SIZE, 4, dtype="u1"), ctx.texture((4, 4), 4, samples=2)
    names = {
        "holds whole numbers": raw.new([whole.glo]),
        "has no colour to draw to": raw.new([], raw.depth.glo),
        "is not complete: .*0x8CD6": raw.new([raw.colors[0].glo, 0]),
        "was deleted": raw.new([raw.colors[0].glo]),
    }
    raw.gl("glBindFramebuffer", DRAWN, names["is not complete: .*0x8CD6"])
    raw.gl("glFramebufferRenderbuffer", DRAWN, 0x8D20, 0x8D41, raw.gl.render.glo)  # colours as a stencil
    targets = {words: ctx.detect_framebuffer(name) for words, name in names.items()}
    raw.gl("glDeleteFramebuffers", 1, (ctypes.c_uint * 1)(names["was deleted"]))
    for words, target in targets.items():
        with pytest.raises(gf.GpufluidError, match=f"the target {words}"):
            smoke.render(puff, EYE, target)
    target = raw.target
    target._size = 0, 0  # as moderngl says of what has several samples or layers
    target.viewport = 0, 0, 0, 0
    with pytest.raises(gf.GpufluidError, match="moderngl does not know the size of the target"):
        smoke.render(puff, EYE, target)
    lost = ctx.external_texture(ctx.depth_texture(SIZE).glo, SIZE, 1, 0, "f4")
    raw.gl("glDeleteTextures", 1, (ctypes.c_uint * 1)(lost.glo))
    with pytest.raises(gf.GpufluidError, match="the depth texture was deleted"):
        smoke.render(puff, EYE, raw.target, depth=lost)
    for thing in (smoke, view, whole, small):
        thing.release()


def test_a_picture_is_written_of_what_is_drawn_to(raw: Raw, tmp_path: Path) -> None:
    """The framebuffer is read from what it was read from before."""
    buffers = raw.buffers
    gf.write_picture(tmp_path / "seen.png", raw.target)
    assert raw.buffers == buffers
    assert (np.asarray(Image.open(tmp_path / "seen.png"))[..., 1] == round(0.3 * 255)).all()


PLACES = np.random.default_rng(5).uniform(-0.3, 1.5, (200, 3)).astype("f4")
ASKS = """#version 330
in vec3 place;
out vec3 sun_and_smoke;
out vec3 wind;
out vec4 lamps;
out vec3 fire;
{}
void main() {{
    sun_and_smoke = vec3(gpufluid_sunlight_at(place), gpufluid_scalars_at(place).xy);
    wind = gpufluid_velocity_at(place);
    lamps = gpufluid_lamplight_at(place);
    fire = gpufluid_firelight_at(place, vec3(0.0, 1.0, 0.0));
}}"""


def test_a_program_is_known_by_its_name(ctx: moderngl.Context, fluid: gf.Fluid) -> None:
    """It finds what a moderngl.Program finds; what is current, and which texture unit is active, stay."""
    smoke, host = gf.VolumeRenderer(ctx), Host(ctx)
    target = ctx.framebuffer([ctx.texture(SIZE, 4, dtype="f2")])
    fluid.temperature.write(np.full((8, 10, 12), 1.0, np.float32))
    lamps = [gf.PointLight((0.5, 1.5, 0.5)), gf.PointLight((1.5, 0.5, 0.5))]
    smoke.render(fluid, EYE, target, fire=gf.Fire(), lights=lamps)
    comparing = ctx.sampler(compare_func="<=")  # it would read nothing by it
    found = []
    for by_name in (False, True):
        program = ctx.program(
            vertex_shader=ASKS.format(gf.glsl("light") + gf.glsl("sample")),
            varyings=["sun_and_smoke", "wind", "lamps", "fire"],
        )
        known: Any = np.uint32(program.glo) if by_name else program
        for give in fluid.give, lambda to: smoke.give(fluid, to):
            host("glUseProgram", host.program.glo)
            for unit in range(16):
                comparing.use(unit)
            host("glActiveTexture", 0x84C0 + 3)
            give(known)
            assert host.number(0x84E0)[0] == 0x84C0 + 3
            assert not by_name or host.number(0x8B8D)[0] == host.program.glo
            lent = range(8, 10) if give == fluid.give else range(10, 13)
            for unit in range(16):
                host("glActiveTexture", 0x84C0 + unit)
                assert (host.number(0x8919)[0] == 0) == (unit in lent)
                comparing.clear(unit)
        given = ctx.vertex_array(program, [(ctx.buffer(PLACES), "3f", "place")])
        target.use()
        out = ctx.buffer(reserve=13 * 4 * len(PLACES))
        given.transform(out, moderngl.POINTS)
        found.append(np.frombuffer(out.read(), np.float32).reshape(-1, 13))
    assert (found[0].std(axis=0)[[0, 1, 2, 3, 4, 5, 6, 7, 10]] > 0.0).all(), "it tells one place from another"
    assert np.array_equal(*found)
    comparing.release()
    host.release()
    smoke.release()


def test_a_name_that_is_no_programs_is_refused(ctx: moderngl.Context, fluid: gf.Fluid) -> None:
    host = Host(ctx)
    make = host.function("glCreateProgram", U)
    unlinked = make()
    for name, words in (
        (987654, "this GL context has no program 987654"),
        (unlinked, f"the program {unlinked} is not linked"),
        (True, "must be a moderngl.Program .*or OpenGL's name of a program, got True"),
    ):
        with pytest.raises(gf.GpufluidError, match=f"Fluid.give: .*{words}"):
            fluid.give(name)
    host("glDeleteProgram", U(unlinked))
    host.release()


def test_a_second_wrapper_of_one_context_is_told_from_another_context(
    ctx: moderngl.Context, fluid: gf.Fluid
) -> None:
    """Some programs call create_context in each of their classes."""
    twin = moderngl.create_context(context=ctx.mglo._context)  # type: ignore[call-arg]
    smoke = gf.VolumeRenderer(twin)
    target = twin.framebuffer([twin.texture(SIZE, 4)])
    with pytest.raises(
        gf.GpufluidError, match=r"another moderngl\.Context of the same GL context \(call create"
    ):
        smoke.render(fluid, EYE, target)
    smoke.release()
