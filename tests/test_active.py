"""Empty space is left out: what is skipped changes nothing, in steps, in light and in pictures."""

from __future__ import annotations

from typing import Any

import moderngl
import numpy as np
import pytest
from driver import within
from puff import Canvas, Floats, Puff, specks

import gpufluid as gf
from gpufluid.contract.layout import PIECE, STRIP_ROWS
from gpufluid.gl import kernel_source
from gpufluid.gl import strips as strips_module
from gpufluid.gl.device import Device
from gpufluid.gl.strips import BOXES, GROUP, ROW, SHARES, Strips
from gpufluid.render import volume
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


def drawn(fluid: Any, camera: Any, skip: bool, corner: tuple[int, int] = (0, 0), **options: Any) -> Floats:
    """The premultiplied picture, from `corner` of the target on."""
    canvas = Canvas(fluid.ctx, SIZE)
    canvas.target.viewport = *corner, SIZE[0] - corner[0], SIZE[1] - corner[1]
    look = {name: options.pop(name) for name in ("fire", "depth", "smoke") if name in options}
    made = VolumeRenderer(fluid.ctx, skip_empty=skip, reuse=False, **options)
    for _ in range(2):  # the second time over what the first left behind
        canvas.target.clear()
        made.render(fluid, camera, canvas.target, **look)
    picture = canvas.read()
    made.release()
    return picture


def assert_alike(one: Floats, other: Floats) -> None:
    """Equal but for the rounding of rays: far below a step of 1/255."""
    assert one[..., 3].max() > 0.05
    assert np.abs(one - other).mean() < within(1e-5, 1e-4)
    assert np.abs(one - other).max() < within(5e-4, 0.1)


@pytest.mark.parametrize("method", ["view-slices", "axis-slices"])
@pytest.mark.parametrize("camera", CAMERAS)
def test_slices_leave_out_only_what_shows_nothing(
    device: Device, rng: np.random.Generator, camera: str, method: str
) -> None:
    for count, slices, soft in (
        (1, None, True),
        (1, None, False),
        (3, 7, True),
        (12, None, False),
        (12, 7, False),
    ):
        puff = Puff(device, GRID, density=specks(rng, GRID, count))
        if camera == "inside" and count < 12:
            continue  # may see nothing
        options = {"method": method, "slices": slices, "smoke": gf.Smoke(extinction=60.0, soft=soft)}
        assert_alike(*(drawn(puff, CAMERAS[camera], skip, **options) for skip in (True, False)))


@pytest.mark.parametrize("skip", [True, False])
@pytest.mark.parametrize("more", [{}, {"fire": gf.Fire()}], ids=["smoke", "fire"])
def test_cells_are_shaded_in_a_dispatch_as_in_a_draw(
    device: Device,
    rng: np.random.Generator,
    monkeypatch: pytest.MonkeyPatch,
    more: dict[str, Any],
    skip: bool,
) -> None:
    if device.version < 430:
        pytest.skip("no compute shaders here")
    density = specks(rng, GRID, 12)
    puff, ran = Puff(device, GRID, density=density, temperature=900.0 * density), []
    run = moderngl.ComputeShader.run
    monkeypatch.setattr(moderngl.ComputeShader, "run", lambda *given: ran.append(given) or run(*given))
    pictures, counts = [], []
    for dispatched in (False, True):
        monkeypatch.setattr(volume, "computes", lambda device, answer=dispatched: answer)
        pictures.append(drawn(puff, CAMERAS["outside"], skip, **more))
        counts.append(len(ran))
    assert counts[1] - 2 * counts[0] == 2 * (1 + len(more)), "two pictures, and the heat of fire"
    assert_alike(*pictures)


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
    wholes = made._way._extents._ends[1]
    slabs = wholes.target.viewport[2]  # the texture has room for more
    ends = np.frombuffer(wholes.texture.read(), np.float32).reshape(-1, 4)[:slabs]
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


@pytest.mark.parametrize("method", ["view-slices", "axis-slices", "ray-march"])
@pytest.mark.parametrize("soft", [False, True])
def test_the_outline_of_fire_in_warm_air(device: Device, soft: bool, method: str) -> None:
    """Air too cold to glow by itself, of which rays look up how warm it is beside what is very hot."""
    temperature = np.full(GRID.cells[::-1], 0.32)
    temperature[5:9, 4:10, 6:11] = 20.0
    puff = Puff(device, GRID, 0.2 * (temperature > 1.0), temperature=temperature)
    fire = gf.Fire(600.0, 600.0, intensity=0.5, glow=0.0, hottest=4000.0, soft=soft)
    options = {"method": method, "fire": fire, "slices": 64}
    skipped, whole = (drawn(puff, CAMERAS["outside"], skip, **options) for skip in (True, False))
    assert_alike(skipped, whole)
    assert (skipped[..., 0] > 0.0)[whole[..., 0] > 1e-5].all()


def test_skip_empty_is_a_switch(ctx: moderngl.Context) -> None:
    with pytest.raises(gf.GpufluidError, match="skip_empty must be True or False, got 1"):
        VolumeRenderer(ctx, skip_empty=1)  # type: ignore[arg-type]
    made = VolumeRenderer(ctx, skip_empty=False)
    assert made.another().skip_empty is False
    made.release()


# -- scalars ------------------------------------------------------------------------------------------------

BOX = gf.Grid((70, 14, 12), cell_size=1 / 14)  # two strips wide, the last rows and cells of each cut off
BURNING = gf.Settings(combustion=gf.Combustion(ignition_temperature=0.1), buoyancy=2.0, cooling=1.0)
SCHEMES = {
    "maccormack": gf.Settings(),
    "revert": gf.Settings(limiter="revert"),
    "unlimited": gf.Settings(limiter=None),
    "semi-lagrangian": gf.Settings(advection="semi-lagrangian", trace="euler"),
    "bfecc": gf.Settings(advection="bfecc"),
    "unlimited bfecc": gf.Settings(advection="bfecc", limiter=None),
    "cubic": gf.Settings(advection="monotone-cubic"),
    "volumes": gf.Settings(advection="finite-volume"),
    "filtered": gf.Settings(sampler="hardware"),
    "half": gf.Settings(precision="half", density_dissipation=0.5),
    "fire": BURNING,
}


TURNED = (0.2, 0.3, 0.1, 0.9)  # quaternion


LOW, HIGH = sorted(STRIP_ROWS.values())


@pytest.fixture(params=[LOW, HIGH], ids=lambda rows: f"{rows} rows")
def strip_rows(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """The rows of a strip, as in software and as on a GPU, whatever is here."""
    for software in STRIP_ROWS:
        monkeypatch.setitem(STRIP_ROWS, software, request.param)
    return request.param


class Twins:
    """Two fluids that are told the same; one leaves empty space out, the other does not."""

    def __init__(
        self,
        ctx: moderngl.Context,
        backend: str,
        rules: gf.Settings,
        sides: gf.Boundaries | None = None,
        grid: gf.Grid = BOX,
    ) -> None:
        if backend == "compute" and ctx.version_code < 430:
            pytest.skip("compute passes need OpenGL 4.3")
        # the velocity, of which nothing is left out, is carried the cheapest way
        rules = rules.but(pressure=gf.Jacobi(4), velocity_advection="semi-lagrangian")
        self.fluids = [
            gf.Fluid(grid, sides, rules.but(skip_empty=skip), backend, ctx) for skip in (True, False)
        ]
        self.strips = self.fluids[0]._solver.empty._strips
        assert self.fluids[1]._solver.empty._strips is None
        if isinstance(self.strips, Strips):
            self.strips.always = True

    def blow(self, density: Floats, velocity: Floats, steps: int) -> None:
        """Steps from there on, after each of which both hold the same."""
        for fluid in self.fluids:
            fluid.density.write(density)
            fluid.velocity.write(velocity)
        for _ in range(steps):
            self.step(1 / 30)

    def step(self, dt: float) -> None:
        """A step of both, after which they hold the same."""
        self.tell(lambda fluid: fluid.step(dt))
        self.assert_equal()

    def tell(self, do: Any) -> list[Any]:
        """What `do` returns of each."""
        return [do(fluid) for fluid in self.fluids]

    @property
    def share(self) -> float:
        """The part of the box that was looked at."""
        assert isinstance(self.strips, Strips)
        texture = self.strips.spans.front
        width, height = texture.size
        image = np.frombuffer(texture.read(), np.float32).reshape(height, width, 4)
        return self.strips.share(image)

    def assert_equal(self) -> None:
        """Every bit of what the next step starts from, and the texture that it writes first."""
        one, other = (fluid._solver.stores() for fluid in self.fluids)
        assert one.keys() == other.keys()
        for name, store in one.items():
            for texture, twin in zip(store._textures, other[name]._textures, strict=True):  # type: ignore[attr-defined]
                kind = texture.dtype
                np.testing.assert_array_equal(
                    np.frombuffer(texture.read(), kind), np.frombuffer(twin.read(), kind), err_msg=name
                )

    def release(self) -> None:
        """Release both."""
        self.tell(lambda fluid: fluid.release())


def source(fluid: gf.Fluid, place: Any, **more: Any) -> gf.Emitter:
    """A small emitter that has just been added."""
    return fluid.emitters.add(gf.Emitter(gf.Sphere(place, 0.08), density=6.0, temperature=1.0, **more))


def swirl(rng: np.random.Generator, speed: float) -> Floats:
    """A smooth random velocity at the faces of BOX, at most `speed` along each axis, m/s."""
    nx, ny, nz = BOX.cells
    z, y, x = np.indices((nz + 1, ny + 1, nx + 1)) / ny
    waves = [rng.uniform(-6, 6, 3) @ np.stack([x, y, z]).reshape(3, -1) + rng.uniform(0, 6) for _ in range(3)]
    return speed * np.sin(np.stack(waves, -1)).reshape(*x.shape, 3)


@pytest.mark.parametrize(
    ("scheme", "backend", "strip_rows"),
    [(scheme, "fragment", (LOW, HIGH)[n % 2]) for n, scheme in enumerate(SCHEMES)]
    + [("maccormack", "fragment", HIGH), ("maccormack", "compute", LOW), ("fire", "compute", HIGH)],
    indirect=["strip_rows"],
)
@pytest.mark.usefixtures("strip_rows")
def test_steps_leave_out_only_what_holds_nothing(
    ctx: moderngl.Context, rng: np.random.Generator, scheme: str, backend: str
) -> None:
    """Emitters that move, come and go, other winds, smoke written and taken away: the same bits."""
    twins = Twins(ctx, backend, SCHEMES[scheme].but(solve_velocity=False))
    first = twins.tell(lambda fluid: source(fluid, (0.4, 0.3, 0.4), fuel=4.0))
    shares = []
    for n in range(9):
        for emitter in first:
            emitter.position = (0.09 * n, 0.0, 0.0)
        if n % 3 == 0:
            wind = swirl(rng, 0.5 + 0.65 * n)
            twins.tell(lambda fluid, wind=wind: fluid.velocity.write(wind))
        if n == 2:
            twins.tell(lambda fluid: source(fluid, (2.9, 0.7, 0.7), noise=0.5))  # in an empty corner
        if n == 5:
            twins.tell(lambda fluid: fluid.emitters.remove(fluid.emitters[1]))
        if n == 7:
            twins.tell(lambda fluid: fluid.density.write(np.roll(fluid.density.read(), 20, 2)))
        twins.step(1 / 40)
        shares.append(twins.share)
    assert min(shares) < 0.3 and twins.fluids[0].density.read().max() > 0.1
    twins.release()


def spans_of(strips: Strips) -> list[list[int]]:
    """Each span that holds anything: its slice, its ends along x, its rows."""
    kept = strips.spans.read()[..., 2:]
    (low_row, low), (high_row, high) = (np.divmod(kept[..., n], ROW) for n in range(2))
    slices, rows, across = np.nonzero(low < high)
    x, y = strips.size[0] * across, strips.size[1] * rows
    at = slices, rows, across
    ends = (slices, x + low[at], x + high[at], y + low_row[at], y + high_row[at])
    return np.stack(ends, 1).astype(int).tolist()


@pytest.mark.parametrize(
    ("across", "strip_rows"), [(1, LOW), (5, LOW), (32768, HIGH)], indirect=["strip_rows"]
)
@pytest.mark.usefixtures("strip_rows")
def test_compute_passes_have_a_workgroup_for_each_piece_that_may_hold_something(
    ctx: moderngl.Context, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, across: int
) -> None:
    """And none for the others; a driver that has but few along x takes several rows of them."""
    for module in (kernel_source, strips_module):
        monkeypatch.setattr(module, "GROUPS_ACROSS", across)
    twins = Twins(ctx, "compute", SCHEMES["maccormack"].but(solve_velocity=False))
    wind = swirl(rng, 0.5)
    twins.tell(lambda fluid: fluid.velocity.write(wind))
    twins.tell(lambda fluid: source(fluid, (0.4, 0.3, 0.4)))
    strips = twins.fluids[0]._solver.empty._strips
    dispatched = []
    real = moderngl.ComputeShader.run_indirect
    monkeypatch.setattr(
        moderngl.ComputeShader, "run_indirect", lambda *given: dispatched.append(given) or real(*given)
    )
    small, run = [], moderngl.ComputeShader.run

    def noted(program: moderngl.ComputeShader, *groups: int) -> None:
        if any(program is each.program for each in strips._programs.values()):
            small.append(groups)
        run(program, *groups)

    monkeypatch.setattr(moderngl.ComputeShader, "run", noted)
    for _ in range(3):
        twins.step(1 / 40)
    needed = {-(-int(np.prod(f.layout.texture_size)) // GROUP) for f in (strips.spans, strips._found)}
    assert set(small) == {(min(n, across), -(-n // across)) for n in needed}
    pieces = [
        [first, row, z, min(first + PIECE[0], end)]
        for z, start, end, low, high in spans_of(strips)
        for row in np.arange(low, high, PIECE[1])
        for first in np.arange(start, end, PIECE[0])
    ]
    count = len(pieces)
    full = np.prod([-(-n // size) for n, size in zip(BOX.cells, (*PIECE, 1), strict=True)])
    assert 5 < count < 0.3 * full and dispatched
    table = strips._pieces.listed.read().reshape(-1, 4)[:count]
    assert sorted(table.tolist()) == sorted(pieces)
    rows = -(-count // across)
    groups = np.frombuffer(strips.groups.read(), np.uint32).tolist()
    assert groups == [min(count, across), rows, 1, count]
    twins.release()


@pytest.mark.parametrize(
    "rule",
    [{"ambient_temperature": 0.3}, {"thermal_diffusivity": 0.02}, {"density_diffusivity": 0.02}],
    ids=str,
)
def test_where_something_is_everywhere_nothing_is_left_out(
    ctx: moderngl.Context, rng: np.random.Generator, rule: dict[str, float]
) -> None:
    """From one step to the next there is another air, or smoke and heat that diffuse; then no more."""
    twins = Twins(ctx, "fragment", gf.Settings(solve_velocity=False))
    wind = swirl(rng, 0.5)
    twins.tell(lambda fluid: fluid.velocity.write(wind))
    twins.tell(lambda fluid: source(fluid, (0.4, 0.3, 0.4)))
    for more in ({}, rule, {}):
        for fluid in twins.fluids:
            fluid.settings = fluid.settings.but(**dict.fromkeys(rule, 0.0) | more)
        empty = twins.fluids[0]._solver.empty
        assert (empty._strips is None) == bool(more)
        if isinstance(empty._strips, Strips):
            empty._strips.always = True
        for _ in range(2):
            twins.step(1 / 40)
    twins.release()


@pytest.mark.parametrize(
    ("axis", "backend", "strip_rows"),
    [(0, "fragment", LOW), (1, "fragment", HIGH), (2, "fragment", HIGH), (1, "compute", LOW)],
    indirect=["strip_rows"],
)
@pytest.mark.usefixtures("strip_rows")
def test_fast_smoke_is_followed_round_and_through_the_sides(
    ctx: moderngl.Context, axis: int, backend: str
) -> None:
    """Some 2.4 cells a step, into open sides, out of periodic ones, beside inflows that bring smoke."""
    air, wind = (tuple(speed if n == axis else 0.3 for n in range(3)) for speed in (4.0, -4.0))
    low, high = (("left", "right"), ("bottom", "top"), ("back", "front"))[axis]
    everywhere = ("left", "right", "bottom", "top", "back", "front")
    for blows, sides in (
        (air, {side: gf.Open() for side in everywhere}),
        (air, {low: gf.Periodic(), high: gf.Periodic()}),
        (air, {low: gf.Inflow(air, density=0.5), high: gf.Open()}),
        (wind, {low: gf.Open(), high: gf.Inflow(wind, temperature=0.5)}),
    ):
        rules, tall = gf.Settings(solve_velocity=False), 70 if axis == 1 else 18  # strips one above the other
        twins = Twins(ctx, backend, rules, gf.Boundaries(**sides), gf.Grid((18, tall, 18), 1 / 18))
        density = np.zeros((18, tall, 18))
        density[8:10, 8:11, 10:12] = 1.0
        density[4, tall - 40 : tall - 37, 4:6] = density[12, tall - 3 :, 7] = 1.0
        velocity = np.zeros((19, tall + 1, 19, 3))
        velocity[...] = blows
        twins.blow(density, velocity, steps=4)
        twins.release()


@pytest.mark.parametrize(
    ("backend", "many", "strip_rows"),
    [
        (backend, many, (LOW, HIGH)[(n + many) % 2])
        for n, backend in enumerate(("auto", "fragment", "compute"))
        for many in (False, True)
    ],
    indirect=["strip_rows"],
)
@pytest.mark.usefixtures("strip_rows")
def test_smoke_in_the_one_place_where_a_wind_blows(
    ctx: moderngl.Context, backend: str, many: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Anywhere along z, faster each time: the largest speeds are taken in a few parts, and kept.

    many: by a pass of their own before.
    """
    if many:
        monkeypatch.setattr("gpufluid.description.grid.MANY", 1)
    grid = gf.Grid((70, 8, 42), 1 / 22)
    rules = gf.Settings(solve_velocity=False, advection="semi-lagrangian", trace="euler")
    twins = Twins(ctx, backend, rules, None, grid)
    assert isinstance(twins.strips, Strips)
    slices = twins.strips._layouts["block"].size[2]
    assert slices == 3 if many else slices > SHARES + 2
    for n, z in enumerate((2, 20, 35, 39)):
        density = np.zeros((42, 8, 70))
        density[z, 4, 20:24] = 1.0
        velocity = np.zeros((43, 9, 71, 3))
        velocity[z, 4:6, :, 0] = (2.0 + n) * 30.0 / 22.0  # that many cells a step
        twins.blow(density, velocity, steps=3)
        assert twins.fluids[0].density.read()[z, 4, 27 + 3 * n] > 0.1 and twins.share < 0.2
    twins.release()


@pytest.mark.usefixtures("strip_rows")
def test_smoke_that_a_moving_side_drags(ctx: moderngl.Context) -> None:
    """A lid that crosses six cells in a step; the air below sinks: what comes there was nearer to it."""
    sides = gf.Boundaries(top=gf.Wall(velocity=(10.0, 0.0, 0.0)))
    twins = Twins(ctx, "fragment", gf.Settings(solve_velocity=False), sides, gf.Grid((18, 18, 18), 1 / 18))
    velocity = np.zeros((19, 19, 19, 3))
    velocity[:, 17, :, 1] = -3.0
    density = np.zeros((18, 18, 18))
    density[8:10, 16:, 4:6] = 1.0
    twins.blow(density, velocity, steps=2)
    assert twins.fluids[0].density.read()[:, -1, 14:].max() > 0.1  # it came far
    assert twins.share < 0.8
    twins.release()


@pytest.mark.filterwarnings("ignore::gpufluid.ShapeWarning")  # one stands outside
def test_colours_solids_and_many_sources(ctx: moderngl.Context) -> None:
    """More emitters than spans are told one by one, a box and a line too, coloured; a solid moves."""
    twins = Twins(ctx, "fragment", gf.Settings(combustion=gf.Combustion()))
    solids = twins.tell(
        lambda fluid: fluid.obstacles.add(gf.Obstacle(gf.Box((1.5, 0.4, 0.4), (0.3, 0.4, 0.4))))
    )
    lonely = twins.tell(  # where there is no smoke
        lambda fluid: fluid.obstacles.add(gf.Obstacle(gf.Box((2.0, 0.6, 0.6), (0.2, 0.3, 0.3))))
    )
    for n in range(10):
        place, color = (0.3 + 0.11 * n, 0.2 + 0.03 * n, 0.4), (n % 2, 1.0, 0.5 * (n % 3))
        twins.tell(lambda fluid, place=place, color=color: source(fluid, place, color=color))
    twins.tell(
        lambda fluid: fluid.emitters.add(
            gf.Emitter(gf.Box((2.5, 0.3, 0.4), (0.2, 0.1, 0.2)), density=2.0, edge="hard", rotation=TURNED)
        )
    )
    for n in range(8):
        if n == 6:
            line = gf.Line([(2.8, 0.8, 0.2), (3.0, 0.8, 0.6)], 0.04)
            twins.tell(lambda fluid, line=line: fluid.emitters.add(gf.Emitter(line, density=3.0)))
        if n == 2:  # the first and the last of those told together, each to where nothing is
            twins.tell(lambda fluid: setattr(fluid.emitters[BOXES - 1], "position", (1.6, 0.2, 0.2)))
            twins.tell(lambda fluid: setattr(fluid.emitters[10], "position", (0.55, 0.4, 0.0)))
        if n == 5:
            twins.tell(lambda fluid: fluid.obstacles.clear())
        if n in (3, 4):
            for solid in (*solids, *lonely):
                solid.position = (0.1 * n, 0.0, 0.0)
        twins.step(1 / 60)
    twins.release()


@pytest.mark.parametrize("scheme", ["semi-lagrangian", "maccormack"])
def test_a_solid_moves_while_no_source_is_at_work(ctx: moderngl.Context, scheme: str) -> None:
    """It comes into cells that hold nothing and leaves others: both textures must tell them apart anew."""
    twins = Twins(ctx, "fragment", SCHEMES[scheme])
    twins.tell(lambda fluid: source(fluid, (0.4, 0.3, 0.4)))
    box = gf.Box((2.0, 0.6, 0.6), (0.2, 0.3, 0.3))
    solids = twins.tell(lambda fluid: fluid.obstacles.add(gf.Obstacle(box)))
    for n in range(7):
        if n == 2:
            twins.tell(lambda fluid: fluid.emitters.clear())
        if n in (4, 5):
            for solid in solids:
                solid.position = (0.3 * (n - 3), 0.0, 0.0)
        twins.step(1 / 60)
    assert twins.share < 0.5 and twins.fluids[0].density.read().max() > 0.01
    twins.release()


@pytest.mark.parametrize("reflection", [False, True])
@pytest.mark.parametrize("backend", ["fragment", "compute"])
def test_a_fast_solid_before_textures_are_known(
    ctx: moderngl.Context, backend: str, reflection: bool
) -> None:
    """Finite volumes write each texture more than once: what a solid left and came into each time."""
    rules = SCHEMES["volumes"].but(reflection=reflection)
    twins = Twins(ctx, backend, rules, gf.Boundaries(left=gf.Open(), right=gf.Open()))
    h = BOX.cell_size
    box = gf.Box((1.5, 0.5, 0.4), (0.5, 0.3, 0.3))
    solids = twins.tell(lambda fluid: fluid.obstacles.add(gf.Obstacle(box)))
    twins.tell(lambda fluid: fluid.step(1e-6))
    twins.tell(lambda fluid: source(fluid, (0.4, 0.3, 0.4), color=(1.0, 0.2, 0.5)))
    for n in range(1, 4):
        for solid in solids:
            solid.position = (3.0 * n * h, 0.0, 0.0)
        twins.step(1 / 60)
    twins.release()


MESH = gf.Mesh.trefoil(segments=24, sides=3).fitted(0.35)
COMERS: tuple[Any, ...] = (
    gf.Sphere(radius=0.17),
    MESH,
    gf.Box((0.02, 0.0, 0.0), (0.3, 0.2, 0.15)),
    gf.Plane((0.0, -0.38, 0.0), (0.2, 1.0, 0.0)),
    gf.Capsule((-0.2, 0.0, 0.0), (0.2, 0.1, 0.0), 0.07),
)


@pytest.mark.parametrize(
    ("scheme", "backend", "sides", "strip_rows"),
    [
        ("maccormack", "fragment", {}, LOW),
        ("maccormack", "compute", {}, HIGH),
        ("bfecc", "fragment", {"left": gf.Periodic(), "right": gf.Periodic()}, HIGH),
        ("fire", "fragment", {"top": gf.Open()}, LOW),
        ("volumes", "fragment", {"left": gf.Periodic(), "right": gf.Periodic()}, LOW),
        ("volumes", "compute", {"top": gf.Open()}, HIGH),
    ],
    indirect=["strip_rows"],
)
@pytest.mark.usefixtures("strip_rows")
def test_solids_of_every_kind_come_move_turn_and_go(
    ctx: moderngl.Context, rng: np.random.Generator, scheme: str, backend: str, sides: Any
) -> None:
    """Near smoke, far from it, across a side and all over; known from the stage before, or not."""
    twins = Twins(ctx, backend, SCHEMES[scheme], gf.Boundaries(**sides))
    first = twins.tell(lambda fluid: source(fluid, (1.0, 0.4, 0.4), fuel=4.0, color=(1.0, 0.2, 0.5)))
    far = BOX.size[0]
    places = [(1.7, 0.5, 0.4), (far, 0.4, 0.4), (1.2, 0.3, 0.5), (2.2, 0.5, 0.4), (0.0, 0.2, 0.2)]
    shares, held = [], list[list[gf.Obstacle]]()
    for n in range(20):
        if n % 4 == 0:
            shape, place = COMERS[n // 4], places[n // 4]
            held.append([fluid.obstacles.add(gf.Obstacle(shape, place)) for fluid in twins.fluids])
        elif n % 4 == 3 and n > 4:
            for fluid, solid in zip(twins.fluids, held.pop(-2), strict=True):
                fluid.obstacles.remove(solid)
        step, turn = rng.normal(size=3) * 0.03, rng.normal(size=4)
        for solid in held[-1]:
            solid.position = tuple(np.add(solid.position, step))
            solid.rotation = tuple(turn / np.linalg.norm(turn)) if n % 3 == 0 else solid.rotation
            solid.temperature = 0.5 if n == 9 else None
            if isinstance(solid.shape, gf.Mesh):
                solid.shape = MESH.moved(MESH.vertices * (1.0 + 0.1 * np.sin(n)))
        if n in (6, 10):
            twins.tell(lambda fluid: fluid.density.write(fluid.density.read()))
        for emitter in first:
            emitter.position, emitter.active = (0.05 * (n % 7), 0.0, 0.0), n % 8 < 4
        twins.step(1 / 40)
        shares.append(twins.share)
    assert min(shares) < 0.5 and twins.fluids[0].density.read().max() > 0.1
    twins.release()


def test_a_solid_that_moves_has_little_written(ctx: moderngl.Context) -> None:
    """Every texture is known to be at rest outside the spans, and they hold the solid but for little more."""
    twins = Twins(ctx, "fragment", gf.Settings())
    twins.tell(lambda fluid: source(fluid, (0.4, 0.3, 0.4)))
    ball = gf.Sphere((1.8, 0.5, 0.4), 0.15)
    solids = twins.tell(lambda fluid: fluid.obstacles.add(gf.Obstacle(ball)))
    for n in range(6):
        for solid in solids:
            solid.position = (0.02 * n, 0.0, 0.0)
        twins.step(1 / 60)
        scalars: Any = twins.fluids[0]._solver.scalars
        assert isinstance(twins.strips, Strips)
        known = [twins.strips.covers(mark) for mark in (scalars.mark, scalars.back_mark)]
        assert known == [n > 0] * 2 or n < 2
        assert twins.share < 0.4
    twins.release()


def test_a_step_that_fails_forgets_no_solid(ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """A solid has come to another place when the step breaks off: the next one writes it anew."""
    twins = Twins(ctx, "fragment", gf.Settings())
    twins.tell(lambda fluid: source(fluid, (0.4, 0.3, 0.4)))
    ball = gf.Sphere((1.8, 0.5, 0.4), 0.15)
    solids = twins.tell(lambda fluid: fluid.obstacles.add(gf.Obstacle(ball)))
    for _ in range(3):
        twins.tell(lambda fluid: fluid.step(1 / 60))

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    for fluid, solid in zip(twins.fluids, solids, strict=True):
        solid.position = (0.4, 0.0, 0.0)
        with monkeypatch.context() as patch, pytest.raises(ZeroDivisionError):
            patch.setattr(fluid._solver.advection, "carry_velocity", broken)
            fluid.step(1 / 60)
    for _ in range(2):
        twins.step(1 / 60)
    twins.release()


@pytest.mark.parametrize("moves", [3, 6])
def test_a_solid_moves_often_between_two_steps(
    ctx: moderngl.Context, moves: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a pause, where it is only looked at: what is kept of its ways has an end."""
    monkeypatch.setattr("gpufluid.numerics.solids.MOST_CHANGES", 8)
    twins = Twins(ctx, "fragment", gf.Settings())
    twins.tell(lambda fluid: source(fluid, (0.4, 0.3, 0.4)))
    ball = gf.Sphere((1.2, 0.5, 0.4), 0.1)
    solids = twins.tell(lambda fluid: fluid.obstacles.add(gf.Obstacle(ball)))
    twins.tell(lambda fluid: fluid.step(1 / 60))
    for fluid, solid in zip(twins.fluids, solids, strict=True):
        for n in range(moves):
            solid.position = (1.5 * (n + 1) / moves, 0.0, 0.0)
            fluid._solver.solids.update(fluid.obstacles, None)
        kept = fluid._solver.solids._changes
        assert kept is None if 2 * moves > 8 else len(kept or ()) == 2 * moves
    for _ in range(2):
        twins.step(1 / 60)
    twins.release()


FIELD = np.zeros(BOX.cells[::-1])
FIELD[4:9, 3:12, 40:47] = 0.5
MASKED: dict[str, gf.Emitter] = {
    "mesh": gf.Emitter(MESH, density=3.0),
    "hard mesh": gf.Emitter(MESH, density=3.0, edge="hard"),
    "wide mesh": gf.Emitter(MESH, density=3.0, falloff=0.08),
    "surface": gf.Emitter(gf.Surface(MESH, 0.03), density=3.0, noise=0.5),
    "line": gf.Emitter(gf.Line([(-0.2, 0.1, 0.0), (0.3, -0.1, 0.1), (0.4, 0.2, 0.0)], 0.04), temperature=2.0),
    "bezier": gf.Emitter(gf.Bezier(np.eye(4, 3) * 0.4, 0.03), density=3.0, edge="hard"),
    "image": gf.Emitter(gf.Image(np.eye(5) * 0.5 + 0.5, size=(0.5, 0.4)), density=3.0, rotation=TURNED),
    "array": gf.Emitter(gf.Array(FIELD), density=3.0),
    "no array": gf.Emitter(gf.Array(0.0 * FIELD), density=3.0),
}


@pytest.mark.parametrize(
    ("kind", "round_x"), [(kind, n % 2 == 0) for n, kind in enumerate(MASKED)], ids=list(MASKED)
)
def test_sources_without_a_formula_bring_only_what_is_in_their_box(
    ctx: moderngl.Context, kind: str, round_x: bool
) -> None:
    sides = gf.Boundaries(left=gf.Periodic(), right=gf.Periodic()) if round_x else None
    twins = Twins(ctx, "fragment", gf.Settings(), sides)
    twins.tell(lambda fluid: source(fluid, (0.4, 0.3, 0.4)))
    twins.tell(lambda fluid: fluid.step(1 / 60))
    twins.tell(lambda fluid: fluid.emitters.add(MASKED[kind]))
    for n in range(4):
        MASKED[kind].position = (2.0, 0.5, 0.4) if n < 2 else (3.1, 0.6, 0.4)
        twins.step(1 / 60)
        scalars: Any = twins.fluids[0]._solver.scalars
        assert isinstance(twins.strips, Strips)
        assert twins.strips.covers(scalars.mark) and twins.strips.covers(scalars.back_mark)
        assert n or twins.share < 0.75
    field = twins.fluids[0].temperature if kind == "line" else twins.fluids[0].density
    assert (field.read()[:, :, 30:].max() > 0.01) == (kind != "no array")
    twins.release()


def test_a_source_on_its_way_leaves_both_textures_known(ctx: moderngl.Context) -> None:
    """It is in other cells each step: still each pass that carries leaves empty space out."""
    twins = Twins(ctx, "fragment", gf.Settings())
    twins.tell(lambda fluid: source(fluid, (0.3, 0.3, 0.4)))
    for n in range(6):
        for fluid in twins.fluids:
            next(iter(fluid.emitters)).position = (0.01 * n, 0.02 * n, 0.0)
        scalars: Any = twins.fluids[0]._solver.scalars
        twins.step(1 / 60)
        if n > 2:
            assert isinstance(twins.strips, Strips)
            assert twins.strips.covers(scalars.mark) and twins.strips.covers(scalars.back_mark)
            assert twins.share < 0.75
    twins.release()


def test_a_source_while_nothing_is_left_out(ctx: moderngl.Context, monkeypatch: Any) -> None:
    """The wind takes it away at once: where it stood, a texture that is not known holds some of it still."""
    twins = Twins(ctx, "fragment", gf.Settings(solve_velocity=False))
    wind = np.zeros(twins.fluids[0].velocity.read().shape)
    wind[..., 0] = 20.0 * BOX.cell_size * 60
    twins.tell(lambda fluid: fluid.velocity.write(wind))
    strips = twins.strips
    assert isinstance(strips, Strips)

    def step() -> None:
        twins.step(1 / 60)

    for _ in range(3):
        step()
    gone = twins.tell(lambda fluid: source(fluid, (0.4, 0.4, 0.3)))
    with monkeypatch.context() as patch:
        patch.setattr(strips, "wanted", lambda: False)
        step()
    assert twins.fluids[0].density.read().max() > 0.05
    for fluid, emitter in zip(twins.fluids, gone, strict=True):
        fluid.emitters.remove(emitter)
        fluid.velocity.write(
            np.zeros_like(wind)
        )  # the passes that follow reach no further than where it is now
    for _ in range(3):
        step()
    twins.release()


def test_what_spans_cover_is_in_them(ctx: moderngl.Context) -> None:
    """The box of a source, stage by stage in air that stays empty: as long as it is known it is in them.

    The stage that carries next holds it too: for a source that stays a pass is needed only once.
    """
    with gf.Fluid(BOX, backend="fragment", ctx=ctx) as fluid:
        solver = fluid._solver
        strips = solver.empty._strips
        assert isinstance(strips, Strips)
        speeds = solver.speeds.measure(solver.variant, velocity=solver.velocity)

        def known(box: tuple[tuple[float, ...], tuple[float, ...]]) -> bool:
            (x, y, z), (right, top, _) = box
            return [x, right, y, top] in [span[1:] for span in spans_of(strips) if span[0] == z]

        def carry() -> None:
            strips.carry(solver.scalars, None, speeds, fluid.boundaries, 0.0, 1)

        one, other = ((3.0, 1.0, 2.0), (9.0, 3.0, 4.0)), ((2.0, 2.0, 6.0), (4.0, 4.0, 8.0))
        strips.add([one])
        assert known(one)
        carry()
        first = strips.mark
        strips.add([one])
        assert strips.mark == first
        strips.add([other])
        assert strips.mark == first and known(one) and known(other)
        carry()
        mark, seen = strips.mark, []
        for _ in range(5):
            assert strips.covers(mark) == known(other)
            seen.append((known(one), known(other)))
            carry()
        assert seen == [(True, True), (True, True), (False, True), (False, False), (False, False)]
        strips.add([other])
        assert known(other)  # held two stages ago no longer counts
        mark = strips.mark
        strips.forget()
        assert not strips.covers(mark)


def test_saved_restored_reset_and_with_other_settings(ctx: moderngl.Context, tmp_path: Any) -> None:
    twins = Twins(ctx, "fragment", gf.Settings())
    twins.tell(lambda fluid: source(fluid, (0.4, 0.3, 0.4)))
    path = tmp_path / "state.gpf"

    def go(count: int) -> None:
        for _ in range(count):
            twins.step(1 / 40)

    go(3)
    twins.fluids[0].save(path)
    go(3)
    twins.tell(lambda fluid: fluid.restore(path))
    go(2)
    twins.tell(lambda fluid: fluid.reset())
    go(2)
    for change in ({"ambient_temperature": 0.3}, {"ambient_temperature": 0.0}, {"advection": "bfecc"}):
        for fluid in twins.fluids:
            fluid.settings = fluid.settings.but(**change)
        strips = twins.fluids[0]._solver.empty._strips
        if isinstance(strips, Strips):
            strips.always = True
        go(2)
    twins.release()


@pytest.mark.usefixtures("strip_rows")
def test_little_is_written_where_there_is_little(ctx: moderngl.Context) -> None:
    """A speck in air at rest: the spans are the cell and those beside it; and it stays so."""
    twins = Twins(ctx, "fragment", gf.Settings(buoyancy=0.0))
    density = np.zeros(BOX.cells[::-1])
    density[9, 9, 30] = 1.0
    twins.tell(lambda fluid: fluid.density.write(density))
    for _ in range(5):
        twins.tell(lambda fluid: fluid.step(1 / 40))
        assert twins.share == pytest.approx(3**3 / np.prod(BOX.cells))
    twins.assert_equal()
    twins.release()


@pytest.mark.parametrize("backend", ["fragment", "compute"])
def test_steps_in_slices_leave_nothing_out(ctx: moderngl.Context, backend: str) -> None:
    """Steps at once, in slices whose passes are cut into bands of rows, and half of one that is given up."""
    twins = Twins(ctx, backend, gf.Settings(combustion=gf.Combustion()))
    twins.tell(lambda fluid: source(fluid, (0.4, 0.3, 0.4), fuel=4.0))

    def go_on(fluid: gf.Fluid) -> None:
        before, calls = fluid.density.read(), 1
        while not fluid.advance(1 / 40, 0.02):
            if calls % 7 == 1:  # to read takes longer than such a slice
                np.testing.assert_array_equal(fluid.density.read(), before)
            calls += 1
        assert calls > 10

    def give_up(fluid: gf.Fluid) -> None:
        """How far they get is up to the clock: what is then left in textures that nobody reads differs."""
        for _ in range(30):
            assert not fluid.advance(1 / 40, 0.02)
        fluid._stepper.drop()

    def step(fluid: gf.Fluid) -> None:
        fluid.step(1 / 40)

    for do in (step, go_on, step, give_up, step, go_on, go_on, give_up, go_on, step):
        twins.tell(do)
        assert do is not step or 0.0 < twins.share < 0.7
        one, other = (fluid._solver.stores() for fluid in twins.fluids)
        for name, store in one.items():
            np.testing.assert_array_equal(store.read(), other[name].read(), err_msg=name)
    twins.release()


AIR = {side: gf.Open() for side in ("left", "right", "bottom", "top", "back", "front")}


@pytest.mark.parametrize("sides", [AIR, {**AIR, "left": gf.Periodic(), "right": gf.Periodic()}])
def test_what_is_left_out_follows_the_box(ctx: moderngl.Context, sides: Any) -> None:
    """The box goes on over smoke, a source, a solid and fire, near and far, and all the way back."""
    twins = Twins(ctx, "fragment", gf.Settings(combustion=gf.Combustion()), gf.Boundaries(**sides))
    twins.tell(lambda fluid: source(fluid, (0.6, 0.4, 0.4), fuel=4.0))
    twins.tell(lambda fluid: source(fluid, (2.0, 0.6, 0.4), color=(1.0, 0.5, 0.2)))
    if len(set(map(type, sides.values()))) > 1:  # a solid moves in the box: then nothing is known anyway
        twins.tell(lambda fluid: fluid.obstacles.add(gf.Obstacle(gf.Sphere((1.2, 0.5, 0.4), 0.2))))
    shares = []
    for cells in ((0, 0, 0), (3, 0, -1), (0, 0, 0), (40, 6, 2), (-80, 0, 0), (0, -30, 0), (37, 24, -1)):
        twins.tell(lambda fluid, cells=cells: fluid.scroll(cells))
        for _ in range(2):
            twins.step(1 / 40)
        shares.append(twins.share)
    moves = twins.tell(lambda fluid: fluid.follow((2.9, 0.5, 0.4)))
    assert moves[0] == moves[1] != (0, 0, 0)
    twins.step(1 / 40)
    assert min(shares) < 0.6 and twins.fluids[0].density.read().max() > 0.1
    twins.release()


@pytest.mark.parametrize("method", ["view-slices", "axis-slices"])
def test_slices_of_a_box_that_has_moved(ctx: moderngl.Context, rng: np.random.Generator, method: str) -> None:
    """Slabs stay in the world; the first and the last of them are then thinner than the others."""
    fluid = gf.Fluid(GRID, gf.Boundaries(**AIR), backend="fragment", ctx=ctx)
    for slices in (None, 5, 7):
        for cells in ((0, 0, 1), (2, -1, 0), (-5, 3, 4)):
            fluid.scroll(cells)
            fluid.density.write(specks(rng, GRID, 4))
            low = np.array(fluid.grid.origin)
            camera = gf.Camera(target=tuple(low + MIDDLE), distance=2.2, azimuth=33.0, elevation=24.0)
            options = {"method": method, "slices": slices, "smoke": gf.Smoke(extinction=60.0)}
            assert_alike(*(drawn(fluid, camera, skip, **options) for skip in (True, False)))
    fluid.release()


def test_as_many_slabs_as_there_may_be_in_a_box_that_has_moved(ctx: moderngl.Context) -> None:
    """One more is begun than was asked for."""
    fluid = gf.Fluid(GRID, gf.Boundaries(**AIR), backend="fragment", ctx=ctx)
    fluid.scroll((0, 0, 1))
    fluid.density.write(np.full(GRID.cells[::-1], 0.7))
    assert_alike(*(drawn(fluid, CAMERAS["outside"], skip, slices=1024) for skip in (True, False)))
    fluid.release()


def test_the_numbers_of_a_pass_that_leaves_something_out_are_looked_at(ctx: moderngl.Context) -> None:
    """NaN beside empty space is found in the pass that carries it, and what that read is told."""
    twins = Twins(ctx, "fragment", gf.Settings(solve_velocity=False))
    scalars = np.zeros((*BOX.cells[::-1], 4))
    scalars[9, 9, 30, 0] = np.nan
    fluid = twins.fluids[0]
    fluid.step(1 / 40)
    fluid._solver.scalars.write(scalars)  # a fluid's own write refuses it
    gf.debug("gl", "numbers")
    try:
        with pytest.raises(gf.GpufluidError, match=r"nan from 'scalars' \(density\) at \[30, 9, 9\]"):
            fluid.step(1 / 40)
        assert 0.0 < twins.share < 0.1
    finally:
        gf.debug("gl")
    twins.release()
