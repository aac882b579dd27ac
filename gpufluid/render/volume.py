"""Smoke drawn as view-aligned slabs: premultiplied, back to front, lit by an oriented light volume.

Each frame: the light is walked through the box, once for the sun and once, coarsely, straight down for the
light from all round (`light_volume`); every cell's look is written to one flat texture (``shade.glsl``);
then slabs of equal thickness across the view are blended into the target in one instanced draw. A slab is a
rectangle of the picture that bounds what the box shows of it; its fragments intersect their own ray with the
box, the slab and the scene's depth, and integrate the overlap at its true length. So opacity is right for any
number of slabs, at any angle, in perspective or not, from inside the box too, and the cut by the scene is
soft. Where there is no smoke the target keeps its bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import moderngl
import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpufluid.errors import GpufluidError
from gpufluid.gl.device import Device
from gpufluid.gl.field import Field
from gpufluid.gl.passes import upload
from gpufluid.grid import finite_number
from gpufluid.render.camera import Rays, View, view_of
from gpufluid.render.light_volume import ATTENUATIONS
from gpufluid.render.lighting import Lighting
from gpufluid.render.subject import FluidLike
from gpufluid.render.volume_source import DEPTH, bind, volume_program
from gpufluid.settings import one_of
from gpufluid.view import Camera, Fire, Light, Look, PointLight, Smoke

FEWEST, MOST = 32, 160  # slabs chosen by default
LIMIT = 1024  # slabs, whoever chooses
JITTER = 0.4  # share of a slab over which noise spreads the samples: hides its edges, shows no grain itself
SINGLE = 0.25  # of the radiance of a white surface: light scattered once, alike all round (pi / 4 pi)

Floats = NDArray[np.float64]
CameraLike = Camera | tuple[ArrayLike, ArrayLike]


class VolumeRenderer:
    """Draws the smoke of a fluid into a framebuffer of the same context.

    slices: slabs the box is cut into along the view; None: about one a cell, 32 to 160.
    attenuation: of the light volume, "exponential" or "harris". jitter: whether samples are spread within
    their slab by noise, which hides the slabs' edges. light_scale: light cells per cell, at most 1.

    Raises GpufluidError naming the parameter and its limit.
    """

    def __init__(
        self,
        ctx: moderngl.Context,
        slices: int | None = None,
        attenuation: str = "exponential",
        jitter: bool = True,
        light_scale: float = 1.0,
    ) -> None:
        if slices is not None and (
            isinstance(slices, bool) or not isinstance(slices, int | np.integer) or not 1 <= slices <= LIMIT
        ):
            raise GpufluidError(f"slices must be a whole number in 1 .. {LIMIT} or None, got {slices!r}")
        one_of(attenuation, ATTENUATIONS, "attenuation")
        if finite_number(light_scale, "light_scale", above=0.0) > 1.0:
            raise GpufluidError(f"light_scale must be at most 1, got {light_scale!r}")
        self.ctx, self.slices, self.attenuation = ctx, slices, attenuation
        self.jitter, self.light_scale = jitter, light_scale
        self.device = Device(ctx, "fragment")
        self.depth_sampler = ctx.sampler(
            filter=(moderngl.NEAREST, moderngl.NEAREST), repeat_x=False, repeat_y=False
        )
        self._shape: object = None
        self._lighting: Lighting | None = None
        self._shaded: Field | None = None
        self._slabs = ctx.buffer(reserve=LIMIT * 6 * 4, dynamic=True)
        self._vertex_arrays: dict[int, moderngl.VertexArray] = {}
        self._color_only: tuple[object, moderngl.Framebuffer] | None = None

    @property
    def lighting(self) -> Lighting:
        """The light in the box, as `prepare` left it."""
        if self._lighting is None:
            raise GpufluidError("nothing was prepared yet: call render or prepare first")
        return self._lighting

    def render(
        self,
        fluid: FluidLike,
        camera: CameraLike,
        target: moderngl.Framebuffer,
        depth: moderngl.Texture | None = None,
        light: Light | None = None,
        smoke: Smoke | None = None,
        fire: Fire | None = None,
        lights: Sequence[Light | PointLight] = (),
    ) -> None:
        """Light the smoke and blend it over `target`, premultiplied.

        camera: a Camera, or a host's (view, projection), which stand left of column vectors.
        depth: the depth texture of the scene, seen by the same camera; smoke behind it is hidden.
        light, smoke: None for the defaults. fire: how hot gas glows; None: it does not. lights: up to four
        more lights.
        Raises GpufluidError for a fluid that is not in this context, and for a bad camera.
        """
        look = Look(light or Light(), smoke or Smoke(), fire, lights)
        self.prepare(fluid, look)
        self.draw(fluid, camera, target, depth, look)

    def prepare(self, fluid: FluidLike, look: Look) -> None:
        """Walk the light through the smoke: all that does not depend on the camera."""
        if fluid.ctx is None:
            raise GpufluidError(
                'a fluid with backend="numpy" has no textures to draw: use "fragment", "compute" or "auto"'
            )
        if fluid.ctx is not self.ctx:
            raise GpufluidError("the fluid lives in another GL context than this renderer")
        look.check()
        self._allocate(fluid)
        self.lighting.update(fluid, look)

    def draw(
        self,
        fluid: FluidLike,
        camera: CameraLike,
        target: moderngl.Framebuffer,
        depth: moderngl.Texture | None,
        look: Look,
    ) -> None:
        """Blend the prepared smoke over `target`."""
        width, height = target.viewport[2:]
        view = view_of(camera, width / max(height, 1))
        bounds = slabs(fluid, view, self.slices)
        if not len(bounds):
            return
        with self.timed(fluid, "shade"):
            self._shade(fluid, look, view)
        assert self._shaded is not None
        program = volume_program(
            self.device,
            fluid,
            "slabs",
            "render/slab_fragment.glsl",
            "shaded",
            solids=False,
            vertex_file="render/slab_vertex.glsl",
        )
        for name, value in {
            **ray_uniforms(view, fluid),
            "depth_scale": view.depth_scale,
            "has_depth": depth is not None,
            "scene_depth": DEPTH,
            "jitter": JITTER if self.jitter else 0.0,
        }.items():
            upload(program[name], value)  # type: ignore[arg-type]
        if depth is not None:
            depth.use(DEPTH)
            self.depth_sampler.use(DEPTH)
        self._slabs.write(bounds.tobytes())
        ctx = self.ctx
        self._without_depth(target, depth).use()
        ctx.enable_only(moderngl.BLEND)
        ctx.blend_func = moderngl.ONE, moderngl.ONE_MINUS_SRC_ALPHA
        ctx.blend_equation = moderngl.FUNC_ADD  # type: ignore[assignment]  # moderngl says a pair
        with self.timed(fluid, "slices"), bind(self.device, program, shaded=self._shaded):
            self._vertex_array(program).render(moderngl.TRIANGLE_STRIP, 4, instances=len(bounds))
        ctx.enable_only(moderngl.NOTHING)
        if depth is not None:
            self.depth_sampler.clear(DEPTH)

    def timed(self, fluid: FluidLike, label: str) -> AbstractContextManager[None]:
        """Time what is drawn inside among the passes of `fluid`, while those are timed."""
        return (fluid.device or self.device).timed(label)

    def _shade(self, fluid: FluidLike, look: Look, view: View) -> None:
        """Write how every cell looks from the eye."""
        assert self._shaded is not None
        light, smoke = look.light, look.smoke
        with self.lighting.program(fluid, "shade", "render/shade.glsl") as program:
            for name, value in {
                "extinction": float(smoke.extinction),
                "anisotropy": float(smoke.anisotropy),
                "albedo": smoke.albedo,
                "sun": tuple(SINGLE * np.array(light.color)),
                "ambient": light.ambient,
                "eye": eye_of(view, fluid),
                "parallel_view": not view.is_perspective,
            }.items():
                upload(program[name], value)  # type: ignore[arg-type]
            if "pigments" in program:
                upload(program["pigments"], list(smoke.pigments))  # type: ignore[arg-type]
            self.ctx.enable_only(moderngl.NOTHING)
            self._shaded.back_target.use()
            self.device.fullscreen(program).render(moderngl.TRIANGLES, vertices=3)

    def _allocate(self, fluid: FluidLike) -> None:
        """Make the textures for this grid, once."""
        layout = fluid.layouts["cell"]
        if self._shape == (fluid.grid, layout):
            return
        self._free()
        self._lighting = Lighting(self.device, fluid, self.light_scale, self.attenuation)
        self._shaded = Field(self.device, "shaded smoke", layout, 4, "f2", 1)
        self._shape = (fluid.grid, layout)

    def _vertex_array(self, program: moderngl.Program) -> moderngl.VertexArray:
        if program.glo not in self._vertex_arrays:
            self._vertex_arrays[program.glo] = self.ctx.vertex_array(
                program, [(self._slabs, "4f 2f/i", "bounds", "interval")]
            )
        return self._vertex_arrays[program.glo]

    def _without_depth(
        self, target: moderngl.Framebuffer, depth: moderngl.Texture | None
    ) -> moderngl.Framebuffer:
        """`target`, or the same without its depth where that is what is read: GL forbids both at once."""
        attached: Any = target.depth_attachment if target.glo else None
        if depth is None or attached is None or attached.glo != depth.glo:
            return target
        key = target.glo, *(a.glo for a in target.color_attachments)
        if self._color_only is None or self._color_only[0] != key:
            if self._color_only is not None:
                self._color_only[1].release()
            self._color_only = key, self.ctx.framebuffer(list(target.color_attachments))
        bare = self._color_only[1]
        bare.viewport = target.viewport
        return bare

    def _free(self) -> None:
        for thing in (self._lighting, self._shaded):
            if thing is not None:
                thing.release()
        self._lighting = self._shaded = self._shape = None

    def release(self) -> None:
        """Release everything made in the context; idempotent."""
        self._free()
        for vertex_array in self._vertex_arrays.values():
            vertex_array.release()
        self._vertex_arrays.clear()
        if self._color_only is not None:
            self._color_only[1].release()
            self._color_only = None
        self._slabs.release()
        self.depth_sampler.release()
        self.device.release()


def eye_of(view: View, fluid: FluidLike) -> tuple[float, float, float]:
    """Where the viewer stands, in cells of `fluid`; with parallel rays the way there, of length 1."""
    rays, grid = view.rays, fluid.grid
    place = (rays.origin[0] - grid.origin) / grid.cell_size
    x, y, z = (place if view.is_perspective else -rays.direction[0]).tolist()
    return x, y, z


def ray_uniforms(view: View, fluid: FluidLike) -> dict[str, list[tuple[float, ...]]]:
    """The rays of `view` in cells of `fluid`: at the picture's centre, and per x and y of it."""
    grid, rays = fluid.grid, view.rays
    origin = rays.origin / grid.cell_size
    origin[0] -= np.array(grid.origin) / grid.cell_size
    return {
        "ray_origin": [tuple(row) for row in origin],
        "ray_direction": [tuple(row) for row in rays.direction / grid.cell_size],
    }


CORNERS = np.array([(i & 1, i >> 1 & 1, i >> 2 & 1) for i in range(8)], np.float64)
EDGES = np.array([(i, i | bit) for bit in (1, 2, 4) for i in range(8) if not i & bit])


def slabs(fluid: FluidLike, view: View, count: int | None = None) -> NDArray[np.float32]:
    """Return the slabs of the box seen in `view`, farthest first, [n, 6].

    Each: left, bottom, right, top of its rectangle in the picture (-1 .. 1), begin and end (m in front of
    the eye). Those out of the picture are left out; none where the box is.
    """
    grid, rays = fluid.grid, view.rays
    corners = np.array(grid.origin) + CORNERS * np.array(grid.size)
    depths = rays.depth(corners)
    near, far = max(float(depths.min()), rays.near), float(depths.max())
    if far <= near:
        return np.empty((0, 6), np.float32)
    if count is None:
        count = int(np.clip(round((far - near) / grid.cell_size), FEWEST, MOST))
    cuts = np.linspace(far, near, count + 1)
    rectangles = _rectangles(rays, corners, depths, cuts)
    out = np.concatenate([rectangles, cuts[1:, None], cuts[:-1, None]], axis=1)
    seen = (rectangles[:, :2] < rectangles[:, 2:]).all(axis=1)
    return out[seen].astype(np.float32)


def _rectangles(rays: Rays, corners: Floats, depths: Floats, cuts: Floats) -> Floats:
    """The rectangle of the picture round the part of the box between neighbouring cuts, [n, 4]."""
    # where the planes of the cuts meet the box's edges, [cuts, 12 edges]
    a, b = depths[EDGES[:, 0]], depths[EDGES[:, 1]]
    step = b - a
    part = (cuts[:, None] - a) / np.where(step == 0.0, 1.0, step)
    met = (part >= 0.0) & (part <= 1.0) & (step != 0.0)
    start, end = corners[EDGES[:, 0]], corners[EDGES[:, 1]]
    crossings = _in_picture(rays, start + part[..., None] * (end - start))
    low = np.where(met[..., None], crossings, np.inf).min(axis=1)
    high = np.where(met[..., None], crossings, -np.inf).max(axis=1)
    # the corners of the box that lie between two cuts
    seen = _in_picture(rays, corners)
    inside = ((depths <= cuts[:-1, None]) & (depths >= cuts[1:, None]))[..., None]
    low_corner = np.where(inside, seen, np.inf).min(axis=1)
    high_corner = np.where(inside, seen, -np.inf).max(axis=1)
    low = np.minimum(np.minimum(low[:-1], low[1:]), low_corner)
    high = np.maximum(np.maximum(high[:-1], high[1:]), high_corner)
    slack = 1e-3  # of the picture's half: float32 and pixels that the edge only touches
    return np.concatenate([np.clip(low - slack, -1.0, 1.0), np.clip(high + slack, -1.0, 1.0)], axis=1)


def _in_picture(rays: Rays, points: Floats) -> Floats:
    """Where points [..., 3] are in the picture, [..., 2]; anything large behind the eye or beside it."""
    # point = (origin0 + depth direction0) + x (origin1 + depth direction1) + y (...), across the view
    depth = np.maximum(rays.depth(points), 1e-9)[..., None]
    from_axis = points - rays.origin[0] - depth * rays.direction[0]
    right, up = (rays.origin[i] + depth * rays.direction[i] for i in (1, 2))
    # least squares of two axes that are all but never skew
    rr, ru, uu = ((p * q).sum(axis=-1) for p, q in ((right, right), (right, up), (up, up)))
    r, u = ((from_axis * axis).sum(axis=-1) for axis in (right, up))
    area = rr * uu - ru * ru
    return np.stack([(r * uu - u * ru) / area, (u * rr - r * ru) / area], axis=-1)
