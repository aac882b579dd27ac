"""Smoke lit by an oriented light volume and blended over a picture, premultiplied.

Each frame: the light is walked through the box, once for the sun and once, coarsely, straight down for the
light from all round (`light_volume`); every cell's look is written to one flat texture (``shade.glsl``), and
while there is fire how hot it is to another (``heat.glsl``); then one of three ways draws them: slabs of
equal thickness across the view, back to front in one instanced draw, or slabs across an axis of the box
(`slices`), or every ray by itself (`march`). A slab is a rectangle of the picture that bounds what the box
shows of it; its fragments intersect their own ray with the box, the slab and the scene's depth, and integrate
the overlap at its true length. So opacity is right for any number of slabs, at any angle, in perspective or
not, from inside the box too, and the cut by the scene is soft. Where there is no smoke the target keeps its
bits.

While nothing changes, neither smoke nor light, a further picture takes over the light of the one before, and
the looks of cells as well where these are alike from everywhere: a second player's, one between two steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import TYPE_CHECKING, Any
from weakref import ReferenceType, ref

import moderngl
import numpy as np
from numpy.typing import ArrayLike

from gpufluid.common.checks import finite_number, flag
from gpufluid.common.errors import GpufluidError, named, one_of
from gpufluid.common.vectors import Number
from gpufluid.contract.backend import release
from gpufluid.description.grid import Grid
from gpufluid.description.view import Camera, Fire, Light, Look, PointLight, Smoke, check_drawing
from gpufluid.gl.capabilities import IMAGE_FORMAT
from gpufluid.gl.device import Device
from gpufluid.gl.drawing import OverTarget, blend, first_color_alone, hangs_in
from gpufluid.gl.fences import draw_to
from gpufluid.gl.field import Field
from gpufluid.gl.hosts import check_depth, check_target, hosts_program
from gpufluid.gl.state import Guest, binding, keeping, lent
from gpufluid.gl.targets import drawable
from gpufluid.gl.uniforms import give
from gpufluid.render.camera import CLIP_Z, View, hosts_view
from gpufluid.render.fading import fading, fading_sides
from gpufluid.render.light.firelight import FIRE, SeenFire
from gpufluid.render.light.light_volume import ATTENUATIONS
from gpufluid.render.light.lighting import SAMPLERS, Lighting, asks_for_lamps, give_all_light
from gpufluid.render.light.shadow_map import ShadowMap
from gpufluid.render.march import RayMarch
from gpufluid.render.occupancy import Occupancy
from gpufluid.render.painter import Painter, Sight, eye_of, eye_uniforms
from gpufluid.render.quality import FrameBudget
from gpufluid.render.slabs import box_of
from gpufluid.render.slices import Slices
from gpufluid.render.subject import FluidLike, check_context
from gpufluid.render.volume_source import (
    PICTURE,
    Program,
    bind,
    cells_program,
    computes,
    contents,
    images_of,
    matter,
    volume_program,
    write_cells,
)

JITTER = 0.4  # share of a thick slab over which noise spreads its ends, and hides them
SINGLE = 0.25  # of the radiance of a white surface: light scattered once, alike all round (pi / 4 pi)

# what its textures and programs are made for
FIXED = ("slices", "attenuation", "jitter", "light_scale", "method", "resolution", "skip_empty")

CameraLike = Camera | View | tuple[ArrayLike, ArrayLike]


class _Made:
    """What is made to draw a fluid in a box of some size, with what it holds: its light and looks."""

    def __init__(self, lighting: Lighting, occupancy: Occupancy | None, shaded: Field) -> None:
        self.lighting, self.occupancy, self.shaded = lighting, occupancy, shaded
        self.stepped: Field | None = None  # the looks before they are softened, where they are
        self.fluid: ReferenceType[FluidLike] | None = None  # drawn last
        self.lit: object = None  # as of `_fingerprint`: what the light was walked through, and how
        self.shown: object = None  # the same of the looks of cells, and from where they are seen

    @property
    def needed(self) -> bool:
        """Whether the fluid drawn last is still there."""
        fluid = self.fluid() if self.fluid is not None else None
        return fluid is not None and not fluid.scalars.released

    def release(self) -> None:
        """Release every texture."""
        release(self.lighting, self.occupancy, self.shaded, self.stepped)


@named
class VolumeRenderer(Guest):
    """Draws the smoke of a fluid into a framebuffer of the same context.

    slices: slabs the box is cut into along the view; None: about one per cell, 32 to 160, and one per layer
    with "axis-slices". attenuation: of the light volume, "exponential" or "harris". jitter: whether noise
    blurs the ends of slabs thicker than 1.25 cells, which hides them. light_scale: light cells per cell, at
    most 1.
    method: "view-slices", slabs across the view; "axis-slices", slabs across the nearest axis of the box;
    "ray-march", every ray by itself, past empty air and no further than it can see. resolution: of the rays
    of "ray-march", 1 or 0.5 of the picture's width and height.
    frame_ms: GPU time that light and smoke may take per frame, ms; None: no limit. If they need more,
    `quality` falls: fewer slabs, and at last half the resolution with "ray-march". OpenGL has one time query
    at a time: while one of the host's runs, `quality` stays as it is.
    skip_empty: skip places without smoke; the picture is the same but for rounding.
    reuse: keep what has not changed since the last picture; without effect while `frame_ms` is set. What a
    shader of yours writes into a field's texture is not noticed: say False then.
    `frame_ms` and `reuse` can be set at any time; anything else needs another renderer.

    It is a context manager that releases what it has made in `ctx`.
    Raises GpufluidError naming the parameter and its limit.
    """

    def __init__(
        self,
        ctx: moderngl.Context,
        slices: int | None = None,
        attenuation: str = "exponential",
        jitter: bool = True,
        light_scale: Number = 1.0,
        *,
        method: str = "view-slices",
        resolution: Number = 1.0,
        frame_ms: Number | None = None,
        skip_empty: bool = True,
        reuse: bool = True,
    ) -> None:
        check_drawing(method, slices, resolution)
        one_of(attenuation, ATTENUATIONS, "attenuation")
        light_scale = finite_number(light_scale, "light_scale", above=0.0)
        if light_scale > 1.0:
            raise GpufluidError(f"light_scale must be at most 1, got {light_scale!r}")
        skip_empty, reuse = flag(skip_empty, "skip_empty"), flag(reuse, "reuse")
        self.ctx, self.slices, self.attenuation = ctx, slices, attenuation
        self.jitter, self.light_scale = flag(jitter, "jitter"), light_scale
        self.method, self.resolution = method, float(resolution)
        self.skip_empty, self.reuse = skip_empty, reuse
        self._budget = FrameBudget(ctx)
        self.frame_ms = frame_ms
        self.device = Device(ctx, "fragment")
        self.computes = computes(self.device)
        self._painter = Painter(self.device, JITTER if jitter else 0.0)
        self._way: Slices | RayMarch
        if method == "ray-march":
            self._way = RayMarch(self._painter, slices, self.resolution)
        else:
            self._way = Slices(self._painter, slices, method == "axis-slices")
        self._released = False
        self._all_made: dict[object, _Made] = {}  # by size and layout of the box
        self._made: _Made | None = None  # that of the fluid in work
        self._edge, self._soft, self._smoke = 0.0, False, Smoke()  # as of the `Sight` drawn last
        self._gives = False  # whether a host asks for the light on things of its own
        self._drawn: ReferenceType[FluidLike] | None = None  # the fluid whose light there is
        self._unwalked: Look | None = None  # of a picture that did not show the box: not walked yet
        self._color_only = OverTarget()

    if not TYPE_CHECKING:  # a type checker would let every name pass

        def __setattr__(self, name: str, value: object) -> None:
            if name in FIXED and name in self.__dict__:
                raise GpufluidError(f"VolumeRenderer.{name} cannot be set: make another renderer with it")
            super().__setattr__(name, value)

    def another(self) -> VolumeRenderer:
        """A renderer like this one, for a fluid beside the first."""
        given: dict[str, Any] = {name: getattr(self, name) for name in (*FIXED, "frame_ms", "reuse")}
        return VolumeRenderer(self.ctx, **given)

    @property
    def noise(self) -> moderngl.Texture:
        """The tile of blue noise."""
        return self._painter.noise

    @property
    def depth_sampler(self) -> moderngl.Sampler:
        """How the depth of a scene is read."""
        return self._painter.depth_sampler

    @property
    def frame_ms(self) -> float | None:
        """GPU time that light and smoke may take in a frame, ms, > 0; None: no limit."""
        return self._budget.ms

    @frame_ms.setter
    def frame_ms(self, value: Number | None) -> None:
        self._budget.ms = None if value is None else finite_number(value, "frame_ms", above=0.0)

    @property
    def quality(self) -> float:
        """The share of slabs or steps drawn now, 0.2 .. 1; always 1 without `frame_ms`."""
        return self._budget.quality

    @property
    def lighting(self) -> Lighting:
        """The light in the box, as `prepare` left it; raises GpufluidError before the first."""
        return self._work.lighting

    @property
    def _work(self) -> _Made:
        """What was made for the fluid in work."""
        if self._made is None:
            raise GpufluidError("nothing was prepared yet: call render or prepare first")
        return self._made

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
        clip_z: tuple[float, float] = CLIP_Z[0],
    ) -> None:
        """Light the smoke and blend it over `target`, premultiplied.

        camera: a Camera, or a host's (view, projection), matrices that multiply column vectors from the left.
        depth: the depth texture of the scene, seen by the same camera, as large as the viewport of `target`
        or, with one picture beside another in it, as all of `target`; smoke behind it is hidden. clip_z: the
        clip-space depths that its 0 and 1 stand for: (-1, 1), or (0, 1) after glClipControl, as hosts with
        reversed z have it; `camera` must then be their own matrices.
        light, smoke: None for the defaults. fire: how hot gas glows; None: it does not. lights: up to four
        more lights.
        A viewport without pixels, as of a minimised window, is left alone.
        Raises GpufluidError for what is not in this context, for a target without colour or of whole numbers,
        for a bad camera, for a depth texture of another size or with several samples, and after `release`.
        """
        self._check(target, depth)
        width, height = target.viewport[2:]
        if not width or not height:
            return
        view = hosts_view(self.ctx, camera, width / height, clip_z)
        look = Look(Light() if light is None else light, Smoke() if smoke is None else smoke, fire, lights)
        self._take_up(fluid, look)
        if not self._gives and not len(box_of(fluid.grid, view.rays)):
            self._unwalked = look  # nobody sees its light, unless it is asked for after all
            return
        self._walk(fluid, look)
        self._draw(fluid, view, target, depth, look)

    @binding
    def give(
        self, fluid: FluidLike, program: moderngl.Program | int, unit: int = 10, prefix: str = "gpufluid"
    ) -> None:
        """Set what ``gf.glsl("light")`` reads in `program`, one of yours: the light of the last picture.

        program: a moderngl.Program, or the name that OpenGL gave one that moderngl has not made.
        Binds two textures, to `unit` and the next, and a third if the program asks for the light of lamps,
        and leaves them bound: call it before you draw with that program. Before the first picture everything
        is fully lit. Each fluid whose light you ask for needs a renderer of its own. prefix: that given to
        `glsl`; a shader that asks for two fluids has one for each, and units of their own.
        Raises GpufluidError if the last picture was of another fluid, as `Fluid.give` does, and after
        `release`.
        """
        self._check_alive()
        known = hosts_program(program, self.ctx, unit, "VolumeRenderer.give", prefix, SAMPLERS)
        self._gives = True
        units = range(unit, unit + (3 if asks_for_lamps(known, prefix) else 2))
        if self._drawn is None:
            with lent(self.ctx, units):
                give_all_light(self.device, known, unit, prefix)
            return
        if self._drawn() is not fluid:
            raise GpufluidError(
                "the light is that of the last picture, which was of another fluid: give each fluid whose "
                "light you ask for a VolumeRenderer of its own"
            )
        with keeping(self.ctx, "VolumeRenderer.give"):
            if self._unwalked is not None:
                self._walk(fluid, self._unwalked)
            self.lighting.walk_past_solids(fluid, late=True)
        with lent(self.ctx, units):
            self.lighting.give(known, unit, prefix)

    def prepare(self, fluid: FluidLike, look: Look, shadows: ShadowMap | None = None) -> None:
        """Walk the light of `look` through the smoke: all that does not depend on the camera.

        shadows: as for `Lighting.update`.
        Raises GpufluidError as `render` does.
        """
        self._take_up(fluid, look)
        self._walk(fluid, look, shadows)

    def _take_up(self, fluid: FluidLike, look: Look) -> None:
        """Begin with `fluid`, whose light is yet to be walked. Raises GpufluidError as `render` does."""
        self._check_alive()
        if not hasattr(fluid, "ctx"):
            raise GpufluidError(f"fluid must be a gf.Fluid, got {fluid!r}")
        check_context(fluid, self.ctx, "this renderer")
        look.check()
        self._made = self._for_box_of(fluid)
        self._drawn = self._made.fluid = ref(fluid)

    def _walk(self, fluid: FluidLike, look: Look, shadows: ShadowMap | None = None) -> None:
        """Find what there is in the fluid in work, and walk the light through it, unless all is as it was."""
        fluid.voxelize()
        self._unwalked = None
        made = self._work
        now = self._fingerprint(fluid, look)
        if now is not None:
            now = now, shadows and (shadows, shadows.version)
            if now == made.lit:
                return
        made.lit = made.shown = None
        with self._counted(fluid):
            self._find_occupied(fluid, look)
            made.lighting.update(fluid, look, made.occupancy, shadows)
            if self._gives:
                made.lighting.walk_past_solids(fluid)
        made.lit = now

    def _fingerprint(self, fluid: FluidLike, look: Look) -> object:
        """What differs where anything but the camera has changed; None: nothing is reused."""
        if not self.reuse or self.frame_ms is not None:
            return None
        things = (look.light, look.smoke, look.fire, *look.lights)
        return (
            contents(fluid),
            fluid.scrolled,
            fluid.spare,
            fading_sides(fluid, look.smoke),  # an inflow that is turned round lets out
            [(type(t), t and list(vars(t).values())) for t in things],
        )

    def _find_occupied(self, fluid: FluidLike, look: Look) -> None:
        """Find where there is anything, where empty space is left out."""
        occupancy = self._work.occupancy
        if occupancy is not None:
            with self.timed(fluid, "occupancy"):
                occupancy.update(fluid, look)

    def draw(
        self,
        fluid: FluidLike,
        camera: CameraLike,
        target: moderngl.Framebuffer,
        depth: moderngl.Texture | None,
        look: Look,
        clip_z: tuple[float, float] = CLIP_Z[0],
    ) -> None:
        """Blend the prepared smoke over `target`.

        camera, depth, look, clip_z: as in `render`, and it raises as that does.
        """
        self._check(target, depth)
        look.check()
        width, height = target.viewport[2:]
        if width and height:
            self._draw(fluid, hosts_view(self.ctx, camera, width / height, clip_z), target, depth, look)

    def _draw(
        self,
        fluid: FluidLike,
        view: View,
        target: moderngl.Framebuffer,
        depth: moderngl.Texture | None,
        look: Look,
    ) -> None:
        """Blend the prepared smoke over `target`."""
        made, smoke = self._work, look.smoke
        self._edge, self._soft, self._smoke = smoke.edge * smoke.extinction, smoke.soft, smoke
        with drawable(target, depth=False) as bare:
            bare = self._color_only.color(bare) if hangs_in(depth, bare) else bare
            fire = made.lighting.seen_fire(fluid)
            sight = Sight(
                fluid,
                view,
                made.shaded,
                bare,
                depth,
                self.quality,
                made.occupancy,
                edge=self._edge,
                fire=fire,
                soft=self._soft,
                depth_part=_part_of(depth, target),
            )
            slabs = self._way.slabs(sight)
            if len(slabs):
                with self._counted(fluid):
                    self._write_looks(fluid, view, look, fire)
                    with first_color_alone(bare):
                        self._way.draw(sight, slabs)
        self._budget.next_frame(sight.quality if len(slabs) else 0.0)

    def _write_looks(self, fluid: FluidLike, view: View, look: Look, fire: SeenFire | None) -> None:
        """Write how all cells look, unless they look as they did."""
        made = self._work
        if made.occupancy is not None and not made.occupancy.knows(fluid, look):
            self._find_occupied(fluid, look)
        now = self._fingerprint(fluid, look)
        # what scatters alike all round looks alike from everywhere
        seen = now and (now, made.lit, eye_of(view, fluid) if look.smoke.anisotropy else None)
        if seen is not None and seen == made.shown:
            return
        made.shown = None
        if made.occupancy is not None:
            with self.timed(fluid, "occupancy"):
                made.occupancy.spread(fluid)
        with self.timed(fluid, "shade"):
            self._shade(fluid, look, view)
        if fire is not None:
            with self.timed(fluid, "heat"):
                self._heat(fluid, look, fire)
        made.shown = seen

    def veil(self, places: moderngl.Texture, grid: Grid, view: View, target: moderngl.Framebuffer) -> None:
        """Multiply each texel of `target` by the share of light that the smoke drawn last lets through.

        It is that of the way to the viewer of `view` from a place, xyz of the same texel of `places`, in
        cells of `grid`; in the box of that smoke times the share of things that its `fade` shows.
        Raises GpufluidError before the first picture and after `release`.
        """
        self._check_alive()
        fluid = self._drawn() if self._drawn is not None else None
        if fluid is None or self._made is None:
            raise GpufluidError("nothing was drawn yet: call render first")
        own, rays = fluid.grid, view.rays
        shift = (np.array(grid.origin) - own.origin) / own.cell_size
        fades, values = fading(fluid, self._smoke)
        inside = fades["FADES"] if grid == own else 0  # others thin out in their own box
        program = volume_program(
            self.device,
            fluid,
            "veil",
            "render/veil.glsl",
            "shaded",
            solids=False,
            defines={"EDGED": int(self._edge > 0.0), "SOFTENED": int(self._soft), "FADES": inside},
        )
        values |= {
            "places": PICTURE,
            "place_scale": (*shift.tolist(), grid.cell_size / own.cell_size),
            **eye_uniforms(view, fluid),
            "ahead": (*(rays.forward * own.cell_size).tolist(), float(rays.depth(np.array(own.origin)))),
            "nearest": rays.near,
            "smoke_edge": self._edge,
        }
        give(program, values)
        places.use(PICTURE)
        self.depth_sampler.use(PICTURE)
        draw_to(target)
        blend(self.ctx, moderngl.ZERO, moderngl.SRC_COLOR)
        with bind(self.device, program, shaded=self._made.shaded):
            self.device.cover(program)
        self.depth_sampler.clear(PICTURE)
        self.ctx.enable_only(moderngl.NOTHING)

    def _check(self, target: moderngl.Framebuffer, depth: moderngl.Texture | None) -> None:
        """Raise where nothing can be drawn into `target` with that depth."""
        self._check_alive()
        check_target(target, self.ctx, "this renderer")
        if depth is None:
            return
        check_depth(depth, self.ctx, "this renderer")
        sizes = tuple(target.viewport[2:]), target.size
        if depth.size not in sizes and 0 not in sizes[0]:
            (a, b), (c, d), (e, f) = depth.size, *sizes
            raise GpufluidError(
                f"the depth texture has {a} x {b} pixels, the viewport of the target {c} x {d}"
                + (f", all of it {e} x {f}" if sizes[0] != sizes[1] else "")
            )

    def _check_alive(self) -> None:
        if self._released:
            raise GpufluidError("this VolumeRenderer was released")

    def _counted(self, fluid: FluidLike) -> AbstractContextManager[None]:
        """Count what is drawn inside to the frame time, unless passes are timed: OpenGL has one timer."""
        timed = (fluid.device or self.device).timings is not None
        return nullcontext() if timed else self._budget.counted()

    def timed(self, fluid: FluidLike, label: str) -> AbstractContextManager[None]:
        """Time what is drawn inside, as `label`, among the passes of `fluid`, while those are timed."""
        return (fluid.device or self.device).timed(label)

    def _shade(self, fluid: FluidLike, look: Look, view: View) -> None:
        """Write how every cell looks from the eye.

        Colours are softened: a cell that is white beside one that is dark would show its corners. So is smoke
        that is to be: dense smoke would show the first cell that holds any.
        """
        made, light, smoke = self._work, look.light, look.smoke
        target, soft = made.shaded, smoke.soft
        if soft or fluid.color_field is not None:
            if made.stepped is None:
                made.stepped = Field(self.device, "shaded cells", fluid.layouts["cell"], 4, "f2", 1)
            target = made.stepped
        covering = self._covering(target)
        fades, fading_values = fading(fluid, smoke)
        defines = {**fades, "SOFTENED": int(soft)}
        shading = made.lighting.cells_program(
            fluid, "shade", "render/shade.glsl", defines=defines, **covering
        )
        with shading as program:
            values = {
                **fading_values,
                "anisotropy": float(smoke.anisotropy),
                "albedo": smoke.albedo,
                "pigments": list(smoke.pigments),
                "sun": tuple(SINGLE * np.array(light.color)),
                "ambient": light.ambient,
                **eye_uniforms(view, fluid),
            }
            give(program, values)
            self._cover(program, target)
        if target is made.shaded:
            return
        images = self._loaded(shaded=target)
        program = cells_program(
            self.device,
            fluid,
            "soften",
            "render/soft.glsl",
            "shaded",
            "solid",
            defines={"SOFTENED": int(soft)},
            images=images,
            **covering,
        )
        with bind(self.device, program, images, shaded=target, solid=fluid.solid_field):
            self._cover(program, made.shaded)

    def _heat(self, fluid: FluidLike, look: Look, fire: SeenFire) -> None:
        """Write how hot every cell is, and its corner if rays ask for it."""
        fades, values = fading(fluid, look.smoke)
        fields = {name: field for name, field in matter(fluid).items() if name in ("scalars", "flame")}
        images = self._loaded(**fields)
        for name, target in fire.heat.items():
            program = cells_program(
                self.device,
                fluid,
                name,
                "render/heat.glsl",
                *fields,
                defines={**FIRE, "CORNERS": int(name == "corners"), **fades},
                images=images,
                **self._covering(target),
            )
            give(program, values)
            fire.give(program)
            with bind(self.device, program, images, **fields):
                self._cover(program, target)

    def _loaded(self, **fields: Field) -> dict[str, str]:
        """What a `cells_program` and `bind` are told of `fields` that it only loads texels of."""
        return {} if self.computes else images_of(self.device, fields)

    def _covering(self, target: Field) -> dict[str, Any]:
        """What a `cells_program` is told that writes `target`."""
        occupancy = self._work.occupancy
        covering: dict[str, Any] = occupancy.spanning if occupancy is not None else {}
        if self.computes:
            covering["form"] = IMAGE_FORMAT[target.components, target.dtype]
        return covering

    def _cover(self, program: Program, target: Field) -> None:
        """Write `target` by `program`, where there is anything to see."""
        self.ctx.enable_only(moderngl.NOTHING)
        occupancy = self._work.occupancy
        if occupancy is not None:
            occupancy.cover(program, target)
        else:
            write_cells(self.device, program, target)

    def _for_box_of(self, fluid: FluidLike) -> _Made:
        """Return what is made for boxes of its size, kept while fluids of several are drawn in turns."""
        layout = fluid.layouts["cell"]
        size = fluid.grid.local, layout
        if size not in self._all_made:
            for other in [of for of, made in self._all_made.items() if not made.needed]:
                self._all_made.pop(other).release()
            self._made = None
            with ExitStack() as undone:  # where the memory ends
                lighting = Lighting(self.device, fluid, self.light_scale, self.attenuation)
                undone.callback(lighting.release)
                occupancy = Occupancy(self.device, fluid) if self.skip_empty else None
                if occupancy is not None:
                    undone.callback(occupancy.release)
                shaded = Field(self.device, "shaded smoke", layout, 4, "f2", 1)
                undone.pop_all()
            self._all_made[size] = _Made(lighting, occupancy, shaded)
        return self._all_made[size]

    def release(self) -> None:
        """Release everything made in the context; may be called again."""
        if self._released:
            return
        self._released = True
        release(*self._all_made.values(), self._way, self._painter, self._color_only, self._budget)
        release(self.device)
        self._all_made.clear()
        self._made = None


def _part_of(
    depth: moderngl.Texture | None, target: moderngl.Framebuffer
) -> tuple[float, float, float, float]:
    """Where the viewport of `target` lies in `depth`, as large as that or as `target`, as in `Sight`."""
    x, y, width, height = target.viewport
    if depth is None or depth.size == (width, height):
        return 0.0, 0.0, 1.0, 1.0
    return x / depth.width, y / depth.height, width / depth.width, height / depth.height
