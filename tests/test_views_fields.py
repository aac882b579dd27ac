"""Quantities, slices, iso-surfaces, voxels, flat textures and histograms against NumPy."""

from __future__ import annotations

from typing import Any

import moderngl
import numpy as np
import pytest
from sharing import CELLS
from view_flows import cell_places, parallel, solid_of, variant_of, velocity_of

import gpufluid as gf
from gpufluid import reference
from gpufluid.contract.kernels import Variant
from gpufluid.gl.device import Device
from gpufluid.reference.arrays import periods_of
from gpufluid.reference.sampling import trilinear
from gpufluid.render.camera import view_of
from gpufluid.render.views import histogram_view
from gpufluid.render.views.colormaps import MAPS, colormap
from gpufluid.render.views.quantities import QUANTITIES, QuantityOverlay, number_text, ticks

Floats = Any
OPEN = gf.Boundaries(
    left=gf.Periodic(), right=gf.Periodic(), top=gf.Open(), bottom=gf.Inflow((0.0, 0.5, 0.0))
)


def stirred(ctx: moderngl.Context, case: str, rng: np.random.Generator) -> gf.Fluid:
    """Boxes of every kind full of random numbers."""
    cells = (11, 13, 1) if case == "2d" else (13, 11, 7)
    sides = gf.Boundaries() if case == "walls" else OPEN
    fluid = gf.Fluid(gf.Grid(cells, 0.25, (1.0, -2.0, 0.5)), sides, backend="fragment", ctx=ctx)
    if case == "solid":
        fluid.obstacles.add(gf.Obstacle(gf.Sphere((2.5, -0.7, 1.3), 0.6)))
        fluid.solid.read()
    fluid.velocity.write(rng.standard_normal(fluid.velocity.read().shape))
    for field in (fluid.density, fluid.temperature, fluid.fuel, fluid.pressure):
        field.write(rng.standard_normal(cells[::-1]))
    return fluid


def expected_quantity(fluid: gf.Fluid, name: str) -> Floats:
    """A quantity as the fluid's own readers and the reference have it, [nz, ny, nx]; 0 in solids."""
    at_centers = fluid.velocity.at_centers().astype(float)
    if name in ("density", "temperature", "fuel", "pressure", "divergence", "solid", "flame"):
        found = getattr(fluid, name).read().astype(float)
    elif name == "speed":
        found = np.linalg.norm(at_centers, axis=-1)
    elif name == "vorticity":
        found = reference.vorticity(fluid.grid, variant_of(fluid), velocity=velocity_of(fluid))[..., 3]
    else:
        found = at_centers[..., "xyz".index(name[-1])]
    solid = solid_of(fluid)
    return found if solid is None or name == "solid" else found * (solid[..., 0] < 0.5)


@pytest.mark.parametrize("case", ["walls", "open", "2d", "solid"])
def test_quantities_are_what_the_fluid_reads(
    ctx: moderngl.Context, case: str, rng: np.random.Generator
) -> None:
    fluid = stirred(ctx, case, rng)
    made = QuantityOverlay(ctx)
    inside = fluid.solid.read() > 0.5
    assert inside.any() == (case == "solid")
    for name in QUANTITIES:
        shown = made.quantity(fluid, name)
        got, expected = shown.read(), expected_quantity(fluid, name)
        np.testing.assert_allclose(got[..., 0], expected, rtol=1e-5, atol=2e-5, err_msg=name)
        assert (got[..., 3] == np.where(inside & (name != "solid"), 0.0, 1.0)).all()
        values = got[..., 0][got[..., 3] > 0.5]
        assert made.extent(fluid, shown) == (values.min(), values.max())
        low, high = made.range_of(fluid, shown, name, None)
        if QUANTITIES[name].signed:
            most = np.abs(values).max() or 1.0  # in 2D nothing moves along z
            assert low == -high and high == most
        assert made.range_of(fluid, shown, name, (-3.0, 4.0)) == (-3.0, 4.0)
    made.release()
    fluid.release()


def test_half_precision_and_compute(ctx: moderngl.Context) -> None:
    """What a fluid is stepped by and in which precision does not matter to the views."""
    backends = ["fragment", "compute"] if ctx.version_code >= 430 else ["fragment"]
    for backend in backends:
        with gf.Fluid(
            gf.Grid(CELLS, 0.1), settings=gf.Settings(precision="half"), backend=backend, ctx=ctx
        ) as fluid:
            fluid.emitters.add(gf.Emitter(gf.Sphere((0.4, 0.3, 0.3), 0.2), density=5.0, velocity=(0, 1, 0)))
            for _ in range(3):
                fluid.step(0.05)
            made = QuantityOverlay(ctx)
            for name in ("density", "pressure", "speed"):
                got = made.quantity(fluid, name).read()[..., 0]
                np.testing.assert_allclose(got, expected_quantity(fluid, name), atol=1e-6)
                assert got.max() > 0.01
            made.release()


def test_what_burns_is_seen(ctx: moderngl.Context) -> None:
    settings = gf.Settings(combustion=gf.Combustion())
    with gf.Fluid(gf.Grid(CELLS, 0.1), settings=settings, backend="fragment", ctx=ctx) as fluid:
        hot = gf.Emitter(gf.Sphere((0.4, 0.3, 0.3), 0.2), fuel=50.0, temperature=100.0)
        fluid.emitters.add(hot)
        for _ in range(4):
            fluid.step(0.05)
        made = QuantityOverlay(ctx)
        got = made.quantity(fluid, "flame").read()[..., 0]
        assert got.max() > 0.0
        np.testing.assert_allclose(got, fluid.flame.read(), rtol=1e-6)
        made.release()


def test_extent_leaves_out_what_is_not_finite(ctx: moderngl.Context) -> None:
    with gf.Fluid(gf.Grid((6, 5, 4), 0.1), backend="fragment", ctx=ctx) as fluid:
        made = QuantityOverlay(ctx)
        shown = made.quantity(fluid, "density")
        values = np.zeros((4, 5, 6, 4), np.float32)
        values[..., 3] = 1.0
        values[..., 0] = 2.0
        values[1, 2, 3, 0], values[3, 4, 5, 0], values[0, 0, 0, 0] = np.nan, np.inf, -7.0
        shown.write(values)
        assert made.extent(fluid, shown) == (-7.0, 2.0)
        values[..., 3] = 0.0
        shown.write(values)
        assert made.extent(fluid, shown) == (0.0, 0.0)
        made.release()


# -- slices --------------------------------------------------------------------------------------------------


class Flat:
    """A target in single precision seen straight along an axis, `scale` pixels a cell."""

    def __init__(self, ctx: moderngl.Context, fluid: gf.Fluid, along: int, scale: int = 4) -> None:
        grid = fluid.grid
        self.right, self.up = {0: (2, 1), 1: (0, 2), 2: (0, 1)}[along]
        size = grid.cells[self.right] * scale, grid.cells[self.up] * scale
        self.texture = ctx.texture(size, 4, dtype="f4")
        self.depth = ctx.depth_texture(size)
        self.target = ctx.framebuffer([self.texture], self.depth)
        self.target.clear(depth=1.0)
        middle = np.array(grid.origin) + 0.5 * np.array(grid.size)
        view = np.zeros((4, 4))
        view[0, self.right], view[1, self.up], view[3, 3] = 1.0, 1.0, 1.0
        view[2, along] = np.linalg.det(view[:3, :3] + np.outer([0, 0, 1], np.eye(3)[along]))
        view[:3, 3] = -view[:3, :3] @ middle
        view[2, 3] -= 10.0
        half = 0.5 * grid.size[self.right], 0.5 * grid.size[self.up]
        self.camera = view, parallel(*half, 1.0, 30.0)
        self.cells = (np.arange(size[0]) + 0.5) / scale, (np.arange(size[1]) + 0.5) / scale

    def read(self) -> Floats:
        width, height = self.texture.size
        return np.frombuffer(self.texture.read(), np.float32).reshape(height, width, 4).astype(float)


@pytest.mark.parametrize("case", ["walls", "2d", "solid"])
@pytest.mark.parametrize("axis", ["x", "y", "z"])
def test_a_slice_shows_the_trilinear_value(
    ctx: moderngl.Context, case: str, axis: str, rng: np.random.Generator
) -> None:
    """Every pixel, in shades of gray: to one of 255 steps."""
    fluid = stirred(ctx, case, rng)
    a = "xyz".index(axis)
    flat = Flat(ctx, fluid, a)
    at = fluid.grid.origin[a] + 0.37 * fluid.grid.size[a]
    made = gf.SlicePlane(
        ctx, "temperature", axis=axis, position=at, colors="gray", range=(-3, 3), legend=False
    )
    made.render(fluid, flat.camera, flat.target)
    picture = flat.read()
    across, upward = np.meshgrid(*flat.cells)
    place = [np.zeros_like(across)] * 3
    place[flat.right], place[flat.up] = across, upward
    place[a] = np.full_like(across, 0.37 * fluid.grid.cells[a])
    values = np.zeros((*fluid.grid.cells[::-1], 4))
    solid = solid_of(fluid)
    fluid_share = 1.0 if solid is None else 1.0 - solid[..., 0]
    values[..., 0], values[..., 3] = expected_quantity(fluid, "temperature"), fluid_share
    filtered = Variant(solids=solid is not None, sampler="hardware", boundaries=fluid.boundaries)
    stacked = tuple(p[None] for p in place)
    total = trilinear(values, tuple(p - 0.5 for p in stacked), periods_of(fluid.grid, filtered))[0][0]
    expected = (reference.sample_cells(fluid.grid, filtered, values, stacked)[0, ..., 0] + 3.0) / 6.0
    fluid_there = total[..., 3] > 0.75
    assert fluid_there.mean() > 0.5 and expected[fluid_there].std() > 0.04
    tolerance = 0.005 if Device(ctx, "fragment").software else 0.02
    inner = np.zeros_like(fluid_there)
    inner[1:-1, 1:-1] = True  # the outermost pixels are the soft edge
    there = fluid_there & inner
    np.testing.assert_allclose(picture[there, 0], np.clip(expected, 0, 1)[there], atol=tolerance)
    assert (picture[inner, 3] == 1.0).all()
    deep = total[..., 3] < 0.2
    if case == "solid" and axis == "z":
        assert deep.sum() > 50
        np.testing.assert_allclose(
            picture[deep, :3], np.broadcast_to((0.30, 0.31, 0.33), (deep.sum(), 3)), atol=0.01
        )
    made.release()
    fluid.release()


def test_a_slanting_slice_ends_at_the_box(ctx: moderngl.Context) -> None:
    """x + z = a constant, seen along z: each pixel has the value of its z, and none beyond the box."""
    with gf.Fluid(gf.Grid((16, 8, 16), 0.1), backend="fragment", ctx=ctx) as fluid:
        _, _, z = cell_places(fluid.grid)
        fluid.density.write(z)
        flat = Flat(ctx, fluid, 2)
        made = gf.SlicePlane(
            ctx,
            "density",
            point=(0.6, 0.4, 0.6),
            normal=(1, 0, 1),
            colors="gray",
            range=(0, 1.6),
            legend=False,
        )
        made.render(fluid, flat.camera, flat.target)
        picture, metres = flat.read(), flat.cells[0] * 0.1
        expected = 1.2 - metres
        seen = (expected > 0.06) & (expected < 1.54) & (metres > 0.03) & (metres < 1.57)
        np.testing.assert_allclose(picture[10, seen, 0], expected[seen] / 1.6, atol=0.005)
        assert (picture[:, expected < -0.03] == 0.0).all() and (picture[:, seen, 3] == 1.0).mean() > 0.9
        depth = np.frombuffer(flat.depth.read(), np.float32).reshape(picture.shape[:2])
        eye = 10.0 + 0.8 - expected  # m in front of the eye: the middle of the box is 10 m away
        np.testing.assert_allclose(1.0 + 29.0 * depth[10, seen], eye[seen], atol=1e-3)
        made.release()


# -- surfaces ------------------------------------------------------------------------------------------------

CAMERA = gf.Camera(
    target=(0.8, 0.8, 0.8), distance=3.0, azimuth=30.0, elevation=20.0, fov=32.0, near=0.5, far=9.0
)


def reversed_z(camera: gf.Camera, aspect: float) -> tuple[Floats, Floats]:
    """The camera with near things at the larger depth."""
    view = view_of(camera, aspect)
    projection = view.projection.astype(float)
    projection[2] = -projection[2]
    return view.view, projection


def cameras() -> dict[str, Any]:
    view = view_of(CAMERA, 1.5)
    return {
        "perspective": CAMERA,
        "parallel": (view.view, parallel(1.35, 0.9, 0.5, 9.0)),
        "reversed": reversed_z(CAMERA, 1.5),
        "reversed parallel": (view.view, parallel(1.35, 0.9, 0.5, 9.0) * np.array([1, 1, -1, 1])[:, None]),
    }


@pytest.mark.parametrize("clip_z", [(-1, 1), (0, 1)])
@pytest.mark.parametrize("kind", list(cameras()))
def test_the_depth_of_a_ball(ctx: moderngl.Context, kind: str, clip_z: tuple[float, float]) -> None:
    """The surface of a field that falls off from a point, in every projection: to a tenth of a cell."""
    camera = cameras()[kind]
    if clip_z == (0, 1) and kind != "perspective":
        half = np.diag([1.0, 1.0, 0.5, 1.0])
        view, projection = camera
        half[2, 3] = 0.5
        camera = view, half @ projection
    with gf.Fluid(gf.Grid((32, 32, 32), 0.05), backend="fragment", ctx=ctx) as fluid:
        x, y, z = cell_places(fluid.grid)
        fluid.density.write(2.0 - np.sqrt((x - 0.8) ** 2 + (y - 0.8) ** 2 + (z - 0.8) ** 2))
        size = 90, 60
        depth = ctx.depth_texture(size)
        target = ctx.framebuffer([ctx.texture(size, 4, dtype="f4")], depth)
        far = 0.0 if "reversed" in kind else 1.0
        target.clear(depth=far)
        made = gf.IsoSurface(ctx, "density", 2.0 - 0.5, smooth=False)
        made.render(fluid, camera, target, clip_z=clip_z)
        made.release()
    got = np.frombuffer(depth.read(), np.float32).reshape(60, 90).astype(float)
    view = view_of(camera, 1.5, clip_z)
    a, b, c, d = view.texture_scale
    metres = (a * got + b) / (c * got + d)
    rays = view.rays
    u, v = np.meshgrid((np.arange(90) + 0.5) / 45 - 1, (np.arange(60) + 0.5) / 30 - 1)
    origin = rays.origin[0] + u[..., None] * rays.origin[1] + v[..., None] * rays.origin[2] - 0.8
    way = rays.direction[0] + u[..., None] * rays.direction[1] + v[..., None] * rays.direction[2]
    aa, bb, cc = (way**2).sum(-1), (origin * way).sum(-1), (origin**2).sum(-1) - 0.25
    inner = bb**2 - aa * cc
    expected = (-bb - np.sqrt(np.maximum(inner, 0.0))) / aa
    assert (got[inner < -0.03 * aa] == far).all()
    hit = inner > 0.02 * aa  # not where the ray grazes it
    assert hit.sum() > 600
    np.testing.assert_allclose(metres[hit], expected[hit], atol=0.005)


def test_the_box_cuts_an_iso_surface_open(ctx: moderngl.Context) -> None:
    """Dense everywhere: what is seen is the side of the box, at its own depth."""
    with gf.Fluid(gf.Grid((8, 8, 8), 0.1), backend="fragment", ctx=ctx) as fluid:
        fluid.density.write(np.ones((8, 8, 8)))
        flat = Flat(ctx, fluid, 2)
        made = gf.IsoSurface(ctx, "density", 0.5)
        made.render(fluid, flat.camera, flat.target)
        depth = np.frombuffer(flat.depth.read(), np.float32)
        np.testing.assert_allclose(1.0 + 29.0 * depth, 10.0 - 0.4, atol=1e-4)
        made.level = None  # the same everywhere: no surface
        flat.target.clear(depth=1.0)
        made.render(fluid, flat.camera, flat.target)
        assert (flat.read() == 0.0).all()
        made.release()


def test_an_iso_surface_is_refined(ctx: moderngl.Context) -> None:
    """A step between two cells, from inside the box: where it has risen by a tenth, to 1 % of a cell."""
    with gf.Fluid(gf.Grid((16, 8, 8), 0.1), backend="fragment", ctx=ctx) as fluid:
        fluid.density.write(np.broadcast_to(np.arange(16) >= 8, (8, 8, 16)))
        flat = Flat(ctx, fluid, 0)
        view = np.array(flat.camera[0])
        sign = float(view[2, 0])  # which way the eye looks down the x axis
        start = 0.02 if sign < 0 else 1.6 - 0.02  # m: it begins a fifth of a cell inside the box
        view[2, 3] = -(view[2, :3] @ (start, 0.4, 0.4)) - 1.0
        fluid.density.write(np.broadcast_to((np.arange(16) >= 8) == (sign < 0), (8, 8, 16)))
        made = gf.IsoSurface(ctx, "density", 0.1, smooth=False)
        made.render(fluid, (view, flat.camera[1]), flat.target)
        depth = 1.0 + 29.0 * np.frombuffer(flat.depth.read(), np.float32)
        expected = 0.76 if sign < 0 else 0.84
        np.testing.assert_allclose(depth, 1.0 + abs(expected - start), atol=1e-3)
        made.release()


def test_a_thin_slanting_sheet_is_smoother(ctx: moderngl.Context) -> None:
    """A sheet a cell thick that rises by a cell in eight: smoothed its steps are a third lower."""
    with gf.Fluid(gf.Grid((32, 16, 8), 0.1), backend="fragment", ctx=ctx) as fluid:
        x, y, _ = cell_places(fluid.grid)
        off = (y - 0.55 - x / 8.0) / 0.1
        fluid.density.write(np.clip(1.0 - np.abs(off), 0.0, 1.0))
        flat = Flat(ctx, fluid, 1)
        rough = []
        for smooth in (False, True):
            made = gf.IsoSurface(ctx, "density", 0.3, smooth=smooth)
            flat.target.clear(depth=1.0)
            made.render(fluid, flat.camera, flat.target)
            made.release()
            shape = flat.depth.size[1], flat.depth.size[0]
            height = 29.0 / 0.1 * np.frombuffer(flat.depth.read(), np.float32).reshape(shape)
            lines = height.astype(float)[:, shape[1] // 4 : -(shape[1] // 4)]  # away from the sides
            lines = lines if np.ptp(lines, axis=1).mean() > np.ptp(lines, axis=0).mean() else lines.T
            places = np.linspace(-1.0, 1.0, lines.shape[1])
            fitted = np.polynomial.Polynomial.fit(places, lines.mean(0), 1)(places)
            rough.append(float(np.abs(lines.mean(0) - fitted).max()))
        assert rough[1] < 0.11 and rough[1] < 0.7 * rough[0], rough


def test_a_side_of_the_box_is_flat(ctx: moderngl.Context) -> None:
    """Where the box cuts a surface open the side is lit as a side is, whatever the values behind it do."""
    with gf.Fluid(gf.Grid((8, 8, 8), 0.1), backend="fragment", ctx=ctx) as fluid:
        fluid.density.write(1.0 + cell_places(fluid.grid)[0])
        flat = Flat(ctx, fluid, 2)
        made = gf.IsoSurface(ctx, "density", 0.5)
        made.render(fluid, flat.camera, flat.target)
        picture = flat.read()
        assert np.ptp(picture.reshape(-1, 4), axis=0).max() < 1e-5
        ramp = picture[0, 0]
        fluid.density.write(np.ones((8, 8, 8)))
        flat.target.clear(depth=1.0)
        made.render(fluid, flat.camera, flat.target)
        np.testing.assert_allclose(flat.read()[5, 5], ramp, atol=1e-5)
        made.release()


@pytest.mark.parametrize("kind", list(cameras()))
def test_cubes_seen_at_an_angle(ctx: moderngl.Context, kind: str) -> None:
    """Against a fine march along every ray that only asks which cell a place is in."""
    camera = cameras()[kind]
    with gf.Fluid(gf.Grid((16, 16, 16), 0.1), backend="fragment", ctx=ctx) as fluid:
        fluid.obstacles.add(gf.Obstacle(gf.Sphere((0.6, 0.9, 0.8), 0.35)))
        fluid.obstacles.add(gf.Obstacle(gf.Box((1.2, 0.4, 0.9), (0.3, 0.5, 0.2))))
        solid = fluid.solid.read() > 0.5
        size = 90, 60
        depth = ctx.depth_texture(size)
        target = ctx.framebuffer([ctx.texture(size, 4, dtype="f4")], depth)
        far = 0.0 if "reversed" in kind else 1.0
        target.clear(depth=far)
        made = gf.VoxelView(ctx, "cubes", surface=False, fill=1.0)
        made.render(fluid, camera, target)
        made.release()
    got = np.frombuffer(depth.read(), np.float32).reshape(60, 90).astype(float)
    view = view_of(camera, 1.5)
    a, b, c, d = view.depth_scale
    metres = (a * (2 * got - 1) + b) / (c * (2 * got - 1) + d)
    rays = view.rays
    u, v = np.meshgrid((np.arange(90) + 0.5) / 45 - 1, (np.arange(60) + 0.5) / 30 - 1)
    t = np.arange(1.2, 5.0, 0.004)
    origin = rays.origin[0] + u[..., None] * rays.origin[1] + v[..., None] * rays.origin[2]
    way = rays.direction[0] + u[..., None] * rays.direction[1] + v[..., None] * rays.direction[2]
    cell = np.floor((origin[..., None, :] + t[:, None] * way[..., None, :]) / 0.1).astype(int)
    inside = ((cell >= 0) & (cell < 16)).all(-1)
    x, y, z = np.moveaxis(np.clip(cell, 0, 15), -1, 0)
    hits = inside & solid[z, y, x]
    drawn, expected = got != far, hits.any(-1)
    assert expected.sum() > 250 and (drawn != expected).sum() <= 8  # corners between two steps
    both = drawn & expected
    assert np.mean(np.abs(metres - t[hits.argmax(-1)])[both] > 0.006) < 0.02


def test_cubes_stand_where_cells_are_solid(ctx: moderngl.Context) -> None:
    """Straight along each axis: a pixel is drawn where its column holds a solid cell, at the first."""
    with gf.Fluid(gf.Grid((9, 11, 7), 0.1), backend="fragment", ctx=ctx) as fluid:
        fluid.obstacles.add(gf.Obstacle(gf.Sphere((0.4, 0.6, 0.3), 0.25)))
        fluid.obstacles.add(gf.Obstacle(gf.Box((0.85, 0.2, 0.6), (0.1, 0.3, 0.2))))
        solid = fluid.solid.read() > 0.5
        for style, fill in (("cubes", 1.0), ("cubes", 0.6), ("wires", 0.5)):
            made = gf.VoxelView(ctx, style, surface=False, fill=fill, line_width=2.0)
            for along in range(3):
                flat = Flat(ctx, fluid, along, scale=10)
                made.render(fluid, flat.camera, flat.target)
                drawn = (flat.read()[..., 3] > 0.5).reshape(flat.target.height // 10, 10, -1, 10)
                depth = np.frombuffer(flat.depth.read(), np.float32).reshape(drawn.shape)
                columns = np.moveaxis(solid, 2 - along, -1)  # [., ., along], the other two as z, y, x
                columns = np.swapaxes(columns, 0, 1) if along == 0 else columns
                any_there = columns.any(-1)
                if style == "wires":
                    middle, edge = drawn[:, 4:6, :, 4:6], drawn[:, 0, :, 0]
                    assert not middle.any()
                    assert (edge == any_there).all()
                    continue
                inner = slice(0, 10) if fill == 1.0 else slice(3, 7)
                assert (drawn[:, inner, :, inner] == any_there[:, None, :, None]).all()
                if fill < 1.0:
                    assert not drawn[:, 0].any() and not drawn[:, :, :, 0].any()
                # the eye looks down its own -z: from the high side of the axis, or the low one
                sign = np.asarray(flat.camera[0])[2, along]
                order = columns[..., ::-1] if sign > 0 else columns
                first = order.argmax(-1) + 0.5 * (1.0 - fill)
                expected = 10.0 - 0.05 * columns.shape[-1] + 0.1 * first
                found = 1.0 + 29.0 * depth[:, 5, :, 5]
                np.testing.assert_allclose(found[any_there], expected[any_there], atol=1e-3)
            made.release()


def test_surfaces_of_every_shape(ctx: moderngl.Context) -> None:
    """Each shape covers the pixels it should, straight from the front; a plane has no surface."""
    shapes: list[tuple[Any, float]] = [
        (gf.Sphere((0.8, 0.8, 0.8), 0.3), np.pi * 0.09),
        (gf.Box((0.8, 0.8, 0.8), (0.5, 0.7, 0.3)), 0.35),
        (gf.Cylinder((0.8, 0.8, 0.8), 0.3, 0.5), 0.3),
        (gf.Capsule((0.6, 0.8, 0.8), (1.0, 0.8, 0.8), 0.2), 0.16 + np.pi * 0.04),
        (gf.Mesh.box((0.6, 0.4, 0.2), (0.8, 0.8, 0.8)), 0.24),
        (gf.Plane((0.8, 0.4, 0.8)), 0.0),
    ]
    made = gf.VoxelView(ctx, None)
    for shape, area in shapes:
        with gf.Fluid(gf.Grid((16, 16, 16), 0.1), backend="fragment", ctx=ctx) as fluid:
            fluid.obstacles.add(gf.Obstacle(shape))
            flat = Flat(ctx, fluid, 2, scale=6)
            made.render(fluid, flat.camera, flat.target)
            covered = (flat.read()[..., 3] > 0.5).mean() * 1.6**2
            assert covered == pytest.approx(area, rel=0.03, abs=1e-6), repr(shape)
    made.release()


# -- flat textures and histograms ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(QUANTITIES))
def test_a_flat_texture_is_shown_as_it_lies(
    ctx: moderngl.Context, name: str, rng: np.random.Generator
) -> None:
    fluid = stirred(ctx, "solid", rng)
    stored = {
        "density": (fluid.scalars, 0),
        "temperature": (fluid.scalars, 1),
        "fuel": (fluid.scalars, 2),
        "pressure": (fluid.pressure_field, 0),
        "velocity_x": (fluid.velocity_field, 0),
        "velocity_y": (fluid.velocity_field, 1),
        "velocity_z": (fluid.velocity_field, 2),
        "solid": (fluid.solid_field, 0),
    }
    if name in stored:
        field, channel = stored[name]
        assert field is not None
        layout, volume = field.layout, field.read()[..., channel : channel + 1]
    else:
        layout, volume = fluid.layouts["cell"], expected_quantity(fluid, name)[..., None].astype(np.float32)
    image = layout.flatten(volume)
    image = image.reshape(image.shape[0], -1)  # packed: the four of a texel side by side
    scale = 3
    size = image.shape[1] * scale + 16, image.shape[0] * scale + 16
    texture = ctx.texture(size, 4, dtype="f4")
    target = ctx.framebuffer([texture])
    low, high = float(image.min()) - 0.1, float(image.max()) + 0.1
    made = gf.FlatTextureView(ctx, name, colors="gray", range=(low, high), legend=False)
    made.render(fluid, target)
    picture = np.frombuffer(texture.read(), np.float32).reshape(*size[::-1], 4)[8:-8, 8:-8, 0]
    got = picture.reshape(image.shape[0], scale, image.shape[1], scale)[:, 1, :, 1]
    tile = layout.tile[0] * layout.packing, layout.tile[1]
    y, x = np.indices(image.shape)
    slices = x // tile[0] + (y // tile[1]) * layout.columns
    there = (slices < layout.size[2]) & (x % tile[0] < layout.size[0])
    assert there.sum() == np.prod(layout.size)
    np.testing.assert_allclose(got[there], ((image - low) / (high - low))[there], atol=0.005)
    np.testing.assert_allclose(got[~there], 0.055, atol=0.005)
    made.release()
    fluid.release()


@pytest.mark.parametrize("name", ["speed", "velocity_y", "density"])
def test_histograms_equal_numpys(ctx: moderngl.Context, name: str, rng: np.random.Generator) -> None:
    fluid = stirred(ctx, "solid", rng)
    made = gf.HistogramView(ctx, name, bins=23)
    open_cells = fluid.solid.read() < 0.5
    values = expected_quantity(fluid, name)[open_cells]
    for given in (None, (-0.5, 1.25)):
        made.range = given
        counts = made.count(fluid)
        low, high = made.last_range
        assert given is None or (low, high) == given
        expected, _ = np.histogram(values, 23, (low, high))
        assert np.abs(counts - expected).sum() <= 2  # a number on the edge of two bins
        outside = (values < low).sum(), (values > high).sum()
        assert abs(made.below - outside[0]) + abs(made.above - outside[1]) <= (2 if given is None else 0)
        assert counts.sum() + made.below + made.above == open_cells.sum()
        np.testing.assert_allclose(made.edges, np.linspace(low, high, 24))
    assert made.below > 0 or name == "speed"
    made.release()
    fluid.release()


def test_a_histogram_of_more_cells_than_a_float_counts(
    ctx: moderngl.Context, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are drawn in parts, of as many as it counts."""
    fluid, counts, drawn = stirred(ctx, "solid", rng), [], []
    made, render = gf.HistogramView(ctx, "speed", bins=9), moderngl.VertexArray.render
    monkeypatch.setattr(
        moderngl.VertexArray, "render", lambda *given, **more: drawn.append(more) or render(*given, **more)
    )
    for most in (1 << 24, 100):
        monkeypatch.setattr(histogram_view, "MOST_COUNTED", most)
        drawn.clear()
        counts.append(made.count(fluid).tolist())
        assert all(more["vertices"] <= most for more in drawn if "first" in more)
    assert counts[0] == counts[1] and len(drawn) > 5
    made.release()
    fluid.release()


def test_a_histogram_of_one_value(ctx: moderngl.Context) -> None:
    with gf.Fluid(gf.Grid((8, 8, 1), 0.1), backend="fragment", ctx=ctx) as fluid:
        made = gf.HistogramView(ctx, "density", bins=4)
        ctx.point_size = 7.0  # a host's
        assert made.count(fluid).tolist() == [0, 0, 64, 0] and made.last_range == (-0.5, 0.5)
        ctx.point_size = 1.0
        made.release()


@pytest.mark.parametrize("value", [1e20, -1e20, 1e8])
def test_one_value_however_large(ctx: moderngl.Context, value: float) -> None:
    """As of a flow that has blown up: single precision tells the ends of its axis, and its colours, apart."""
    with gf.Fluid(gf.Grid((8, 8, 1), 0.1), backend="fragment", ctx=ctx) as fluid:
        fluid.density.write(np.full((1, 8, 8), value))
        target = ctx.simple_framebuffer((240, 160))
        histogram = gf.HistogramView(ctx, "density", bins=5)
        views = histogram, gf.FlatTextureView(ctx, "density"), gf.SlicePlane(ctx, "density")
        for view in views:
            view.render(fluid, *((CAMERA,) if view is views[2] else ()), target)
            low, high = (np.float32(end) for end in view.last_range)
            assert low < high and low <= np.float32(value) <= high
            view.release()
        assert histogram.counts.tolist() == [0, 0, 64, 0, 0]
        target.release()


# -- scales --------------------------------------------------------------------------------------------------


def test_ticks_are_round_and_inside() -> None:
    assert ticks(0.0, 1.0) == pytest.approx([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    assert ticks(-0.5, 0.5, 6) == pytest.approx([-0.4, -0.2, 0.0, 0.2, 0.4])
    for low, high in ((0.0, 3.7e-9), (-5.0, 1234.5), (0.1234, 0.1235), (-1e8, 2e7)):
        for most in range(2, 9):
            marks = ticks(low, high, most)
            assert (
                1 <= len(marks) <= most and low - 1e-12 <= marks[0] and marks[-1] <= high + 1e-9 * abs(high)
            )
            step = np.diff(marks)
            if len(step):
                leading = step[0] / 10.0 ** np.floor(np.log10(step[0]) + 1e-9)
                assert min(abs(leading - n) for n in (1, 2, 5, 10)) < 1e-6
                texts = [number_text(mark, step[0]) for mark in marks]
                assert len(set(texts)) == len(texts)
                np.testing.assert_allclose([float(t) for t in texts], marks, atol=0.02 * step[0])


def test_colour_maps() -> None:
    """Published ends and middles; what is a sequence grows lighter all the way."""
    for name in MAPS:
        assert colormap(name).shape == (256, 3) and colormap(name).dtype == np.uint8
    assert colormap("viridis")[[0, 255]].tolist() == [[68, 1, 84], [253, 231, 37]]
    # matplotlib's own table at 64, 128, 192
    for at, color in ((64, (59, 82, 139)), (128, (33, 145, 140)), (192, (94, 201, 98))):
        assert np.abs(colormap("viridis")[at].astype(int) - color).max() <= 3
    for at, color in ((64, (81, 18, 124)), (128, (183, 55, 121)), (192, (252, 137, 97))):
        assert np.abs(colormap("magma")[at].astype(int) - color).max() <= 4
    # Moreland (2009), table 1: the ends, and the middle at 221
    assert colormap("coolwarm")[[0, 255]].tolist() == [[59, 76, 192], [180, 4, 38]]
    assert np.abs(colormap("coolwarm")[[127, 128]].astype(int) - 221).max() <= 1
    for at, color in ((64, (141, 176, 254)), (191, (244, 154, 123))):
        assert np.abs(colormap("coolwarm")[at].astype(int) - color).max() <= 2
    for name in ("viridis", "magma", "gray"):
        luminance = (colormap(name) / 255.0) ** 2.2 @ (0.2126, 0.7152, 0.0722)
        assert (np.diff(luminance) > -1.5e-3).all() and luminance[-1] - luminance[0] > 0.5
    dusk = (colormap("dusk") / 255.0) ** 2.2 @ (0.2126, 0.7152, 0.0722)
    assert (np.diff(dusk[128:]) >= 0.0).all() and (np.diff(dusk[:128]) <= 0.0).all() and dusk[128] < 0.02


def test_an_iso_surface_is_found_at_the_far_end_of_a_long_box(ctx: moderngl.Context) -> None:
    """A ray has so many steps: they are longer where the box would be left unseen behind the last."""
    grid = gf.Grid((1300, 6, 6), 0.01)
    density = np.zeros(grid.cells[::-1], np.float32)
    density[:, :, 1200:] = 1.0
    with gf.Fluid(grid, backend="fragment", ctx=ctx) as fluid, gf.IsoSurface(ctx, "density", 0.5) as made:
        fluid.density.write(density)
        texture = ctx.texture((32, 32), 4)
        target = ctx.framebuffer([texture])
        target.clear()
        made.render(fluid, gf.Camera((0.0, 0.03, 0.03), 0.5, -90.0, 0.0, fov=1.0, far=50.0), target)
        assert np.frombuffer(target.read(components=4), np.uint8).reshape(32, 32, 4)[16, 16, 3] == 255
        target.release()
        texture.release()
