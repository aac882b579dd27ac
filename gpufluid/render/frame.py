"""A finished picture of a scene: backdrop, floor, solids, smoke; in high dynamic range, then tone mapped.

The opaque scene is lit through the same boxes as the smoke, so smoke casts its shadow on solids and floor;
solids cast theirs by their own shapes (`shadow_map`). It has several samples a pixel where solids may be
seen, elsewhere one. Views of the flow that hide what is behind them are drawn with it, the smoke is blended
over it, cut by its depth, outlines of solids are mended, and what is see-through comes last. Nothing is
allocated from the second frame of a scene on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from gpufluid.checks import color_triple, finite_number
from gpufluid.errors import GpufluidError, named, one_of
from gpufluid.gl import enums
from gpufluid.gl.calls import calls
from gpufluid.gl.device import blend, check_target, first_color_alone
from gpufluid.gl.passes import give
from gpufluid.gl.source import Source
from gpufluid.gl.state import Guest, own_depths
from gpufluid.gl.targets import drawable
from gpufluid.grid import Grid
from gpufluid.obstacles import Obstacle
from gpufluid.render.camera import View, cells_of, view_of
from gpufluid.render.drawn_solids import DrawnSolids, Floats, Part, Size, part_round
from gpufluid.render.frame_targets import FrameTargets, only
from gpufluid.render.painter import ray_uniforms
from gpufluid.render.reference_light import LightFrame
from gpufluid.render.scene_views import SceneViews
from gpufluid.render.shadow_map import ShadowMap
from gpufluid.render.solid_meshes import CORNERS
from gpufluid.render.solid_travel import draw_travel
from gpufluid.render.subject import FluidLike, SceneLike
from gpufluid.render.volume import VolumeRenderer
from gpufluid.render.volume_source import DEPTH, NOISE, PICTURE, SKY, SUN, bind, volume_program
from gpufluid.view import EXPOSURE, Background, Look, Picture, Plate, checked_background

PAINT = (0.46, 0.115, 0.05)  # albedo of solids: terracotta
ASIDE = 0.75  # cells round the box and solids that their shadows may reach further, since they are filtered
FLOOR = (0.060, 0.058, 0.060)  # its albedo
FLOOR_REACH = 2.6  # edges of the box from its middle to where the floor has faded into the backdrop
BACKDROPS = {"studio": 1, "sky": 2}  # as in studio.glsl; 0 is one colour
WHOLE, CLEAR = range(2)  # copies of the picture: as it is, and before the smoke
ALPHA = {None: 0, "premultiplied": 1, "straight": 2}
# what can be set at any time, and what says that it can be
LOOKS: dict[str, Callable[[Any, str], Any]] = {
    "exposure": partial(finite_number, above=0.0),
    "paint": color_triple,
    "background": checked_background,
    "floor_color": lambda value, name: None if value is None else color_triple(value, name),
}


@named
class FrameRenderer(Guest):
    """Draws whole pictures of scenes, `size` (width, height) pixels: smoke, fire, solids, floor, background.

    exposure: factor on the radiance before the tone map. paint: albedo (r, g, b) of solids without a `color`.
    volume: how the smoke is drawn; None: with a VolumeRenderer of its own. background: "studio"; "sky",
    coloured by the scene's light; "transparent", where only its shadow remains of the floor; a `Plate`; or a
    linear radiance (r, g, b). floor_color: as in `Picture`. All of these but `volume` can be set at any time.
    It is a context manager that releases what it has made in `ctx`.
    Raises GpufluidError for a size that is no picture or over the driver's limit, and naming any other value
    that no picture can have, both when it is made and when that is set.
    """

    def __init__(
        self,
        ctx: moderngl.Context,
        size: Size = (640, 360),
        *,
        exposure: float = EXPOSURE,
        paint: tuple[float, float, float] = PAINT,
        volume: VolumeRenderer | None = None,
        background: Background = "studio",
        floor_color: tuple[float, float, float] | None = None,
    ) -> None:
        self.ctx, self.exposure, self.paint, self.background = ctx, exposure, paint, background
        self.floor_color = floor_color
        # called where a driver may wait for all that was drawn before, in one call that nothing interrupts
        self.pause: Callable[[], None] = lambda: None
        if not isinstance(volume, VolumeRenderer | None):
            raise GpufluidError(f"volume must be a gf.VolumeRenderer or None, got {volume!r}")
        self._owns_volume = volume is None
        self.volume = volume if volume is not None else VolumeRenderer(ctx)
        self.device = self.volume.device
        self._solids = DrawnSolids(ctx)
        self._shadows = ShadowMap(self.device, self._solids)
        self._more: list[VolumeRenderer] = []  # for the further fluids of a scene
        self._plate: tuple[Plate, moderngl.Texture] | None = None  # the one drawn last
        self._targets: FrameTargets
        self._released = False
        self.size: Size = (0, 0)
        try:
            self.resize(size)
        except BaseException:
            self.release()
            raise

    def __setattr__(self, name: str, value: object) -> None:
        checked = LOOKS.get(name)
        super().__setattr__(name, value if checked is None else checked(value, name))

    @classmethod
    def of(
        cls, picture: Picture, ctx: moderngl.Context, size: Size | None = None, **options: Any
    ) -> FrameRenderer:
        """Return the renderer that draws pictures as `picture` says, of another `size` if one is given.

        options: of its `VolumeRenderer`, beside what the picture says.
        """
        volume = VolumeRenderer(
            ctx, slices=picture.slices, method=picture.method, resolution=picture.resolution, **options
        )
        try:
            made = cls(
                ctx,
                picture.size if size is None else size,
                exposure=picture.exposure,
                background=picture.background,
                floor_color=picture.floor_color,
                volume=volume,
            )
        except BaseException:
            volume.release()
            raise
        made._owns_volume = True
        return made

    def resize(self, size: Size) -> None:
        """Draw pictures of `size` (width, height) from now on; the picture drawn last is gone.

        Raises GpufluidError for a size that is no picture or over the driver's limit, or if there is no
        memory for it: pictures then keep the size they had.
        """
        size = _checked_size(size, self.device.max_texture_size)
        if size == self.size:
            return
        before, self.size = self.size, (0, 0)
        try:
            self._make(size)
        except BaseException:
            if before != self.size:
                self._make(before)
            raise

    def _make(self, size: Size) -> None:
        """Make the textures of pictures of `size` in place of those there are; none, where it fails."""
        self._free()
        self._targets = FrameTargets(self.device, size)
        self._view: View | None = None  # of the picture drawn last
        self.size = size

    def draw(self, scene: SceneLike) -> None:
        """Draw `scene` as it is now. Raises GpufluidError where its fluid is not in this context."""
        self._check()
        with own_depths(self.ctx):
            self._draw(scene)

    def _draw(self, scene: SceneLike) -> None:
        views, smoke, targets = self.follow(scene), scene.smoke, self._targets
        if not smoke.visible:
            smoke = replace(smoke, extinction=0.0)
        look = Look(scene.light, smoke, scene.fire, scene.lights)
        look.check()
        boxes = self._boxes(scene)
        self._view = view = view_of(scene.camera, self.size[0] / self.size[1])
        with self.volume.timed(scene.fluid, "shadows"):
            shadows = self._throw_shadows(scene, boxes, view)
        for fluid, volume in boxes:
            volume.prepare(fluid, look, shadows)
        with self.volume.timed(scene.fluid, "opaque"):
            solids = self._draw_opaque(scene, boxes, view)
        if views is not None:
            views.draw(scene.camera, targets.scene, targets.depth, opaque=True)
        # boxes do not overlap: the smoke of the farthest is drawn first
        depth = {
            id(f): float(view.rays.depth(np.array(f.grid.origin) + 0.5 * np.array(f.grid.size)))
            for f, _ in boxes
        }
        shows = scene.smoke.visible or look.fire is not None
        samples = targets.samples if shows and solids[2] and solids[3] else None
        for number, (fluid, volume) in enumerate(sorted(boxes, key=lambda box: -depth[id(box[0])])):
            if look.fire is not None and look.fire.shimmer > 0.0:
                with volume.timed(fluid, "shimmer"):
                    self._shimmer(fluid, view, look.fire.shimmer)
            if samples is not None and number == 0:
                targets.copy(CLEAR, solids)
            if shows:
                volume.draw(fluid, view, targets.smoke, targets.depth, look)
        if samples is not None:
            with self.volume.timed(scene.fluid, "outlines"):
                self._mend_outlines(samples, solids, 2.0 * scene.fluid.grid.cell_size, view, scene.floor)
        if views is not None:
            hiding = [volume for _, volume in boxes] if scene.smoke.visible else []
            views.draw(scene.camera, targets.scene, targets.depth, opaque=False, smoke=hiding)
        self.pause()
        with self.volume.timed(scene.fluid, "tone map"):
            self._tone_map(targets.screen)

    def follow(self, scene: SceneLike) -> SceneViews | None:
        """Make the views that `scene` asks for, so that they move with it from now on; `draw` does so too.

        Raises GpufluidError as the views do.
        """
        if not hasattr(scene, "live"):
            raise GpufluidError(f"what is drawn must be a gf.Scene, as gf.Scene(fluid), got {scene!r}")
        if scene.live is None and scene.views:
            scene.live = SceneViews(self.ctx)
        views: SceneViews | None = scene.live
        if views is not None:
            views.follow((scene.fluid, *scene.others), scene.views, scene.box_names)
        return views

    def _boxes(self, scene: SceneLike) -> list[tuple[FluidLike, VolumeRenderer]]:
        """Each fluid of `scene` and what draws its smoke."""
        while len(self._more) < len(scene.others):
            self._more.append(self.volume.another())
        return [(scene.fluid, self.volume), *zip(scene.others, self._more, strict=False)]

    def read(self, alpha: str | None = None) -> NDArray[np.uint8]:
        """Return the picture drawn last, as a screen shows it, uint8 [height, width, 3], top row first.

        alpha: "premultiplied" or "straight" gives [height, width, 4]. The first put over black is the picture
        on black. Straight alpha cannot add light: where fire shines over nothing it hides a little instead.
        Raises GpufluidError for another alpha, and after `release`.
        """
        self._check()
        one_of(alpha, tuple(ALPHA), "alpha")
        if alpha is not None:
            self._tone_map(self._targets.screen, alpha)
        channels = 3 if alpha is None else 4
        raw = np.frombuffer(self._targets.screen.read(components=channels, alignment=1), np.uint8)
        if alpha is not None:
            self._tone_map(self._targets.screen)
        width, height = self.size
        return np.ascontiguousarray(raw.reshape(height, width, channels)[::-1])

    def read_hdr(self) -> NDArray[np.float32]:
        """Return the picture drawn last as linear radiance, float32 [height, width, 4], premultiplied.

        Top row first; before exposure and tone map. Over a plate of linear radiance it is
        ``picture[..., :3] + (1 - picture[..., 3:]) * plate``.
        """
        self._check()
        width, height = self.size
        color = self._targets.color
        raw = np.frombuffer(color.read(alignment=1), color.dtype).reshape(height, width, 4)
        return np.ascontiguousarray(raw[::-1], np.float32)

    def read_depth(self) -> NDArray[np.float32]:
        """Return how far away the opaque scene drawn last is, float32 [height, width], metres; top row first.

        It is measured along the camera's axis, as in a depth buffer; infinity where there is only the
        backdrop.
        """
        self._check()
        width, height = self.size
        raw = np.frombuffer(self._targets.depth.read(alignment=1), np.float32).reshape(height, width)[::-1]
        if self._view is None:
            return np.full((height, width), np.inf, np.float32)
        a, b, c, d = self._view.depth_scale
        z = 2.0 * raw.astype(np.float64) - 1.0
        depth = np.full(z.shape, np.inf)
        np.divide(a * z + b, c * z + d, out=depth, where=raw < 1.0)
        return depth.astype(np.float32)

    def read_travel(
        self, scene: SceneLike, before: Mapping[Obstacle, Obstacle] | None = None
    ) -> NDArray[np.float32]:
        """Return how far the solids in the picture drawn last go until the next frame, [height, width, 4].

        Metres along x, y and z, and how far away they are, as `read_depth`; all 0 where the middle of a pixel
        shows none. Top row first. A solid goes on as it came since the frame before: its origin straight, its
        turning and growing about that, and vertices of a mesh that bends straight. One that was put elsewhere
        (see `Obstacle`) stays.

        scene: the one drawn, as it is now. before: its obstacles as they were in the frame before, copies;
        None: as `Scene.advance` left them then.
        """
        self._check()
        width, height = self.size
        if self._view is None:
            return np.zeros((height, width, 4), np.float32)
        texture, target = self._targets.travel
        fluids = (scene.fluid, *scene.others)
        known = scene.stood if before is None else before
        with own_depths(self.ctx):
            self.volume.depth_sampler.use(DEPTH)
            draw_travel(
                *(self.device, self._solids, fluids, known, self._view, self.size),
                *(target, self._targets.depth),
            )
            self.volume.depth_sampler.clear(DEPTH)
            self.device.blank().use(DEPTH)
        raw = np.frombuffer(texture.read(alignment=1), np.float32).reshape(height, width, 4)
        return np.ascontiguousarray(raw[::-1])

    def present(self, framebuffer: moderngl.Framebuffer) -> None:
        """Show the picture drawn last in `framebuffer`, scaled to its viewport.

        It is already encoded for a screen: if `framebuffer` encodes what is drawn to it
        (GL_FRAMEBUFFER_SRGB), that is switched off meanwhile. Raises GpufluidError for what cannot be drawn
        to.
        """
        self._check()
        check_target(framebuffer, self.ctx, "this FrameRenderer", "framebuffer")
        gl = calls(self.ctx)
        encodes = gl.glIsEnabled(enums.FRAMEBUFFER_SRGB)
        gl.glDisable(enums.FRAMEBUFFER_SRGB)
        try:
            with drawable(framebuffer) as framebuffer, first_color_alone(framebuffer):
                self._tone_map(framebuffer)
        finally:
            if encodes:
                gl.glEnable(enums.FRAMEBUFFER_SRGB)

    @property
    def view(self) -> View | None:
        """The matrices that the picture drawn last was seen through; None before the first."""
        return self._view

    @property
    def shown(self) -> moderngl.Framebuffer:
        """The picture drawn last, as a screen shows it and `read` returns it: to draw more over it."""
        return self._targets.screen

    @property
    def shown_texture(self) -> moderngl.Texture:
        """The texture of `shown`."""
        return self._targets.shown

    @property
    def picture_bytes(self) -> int:
        """GPU memory that the picture takes, beside the light in the boxes."""
        return self._targets.bytes + self._shadows.bytes

    @property
    def depth(self) -> moderngl.Texture:
        """The depth of the solids and the floor in the picture drawn last."""
        return self._targets.depth

    def release(self) -> None:
        """Release everything made in the context; may be called again."""
        if self._released:
            return
        self._released = True
        self._free()
        self._drop_plate()
        self._shadows.release()
        self._solids.release()
        for volume in self._more:
            volume.release()
        if self._owns_volume:
            self.volume.release()

    def _drop_plate(self) -> None:
        if self._plate is not None:
            self._plate[1].release()
            self._plate = None

    def _plate_values(self) -> dict[str, Any]:
        """Bind the plate that is the background; return what its shader asks for."""
        plate = self.background
        assert isinstance(plate, Plate)
        height, width = plate.pixels.shape[:2]
        if self._plate is None or self._plate[0] is not plate:
            self._drop_plate()
            texture = self.device.texture((width, height), 3, "f1", "the plate")
            texture.write(np.ascontiguousarray(plate.pixels[::-1]))
            texture.build_mipmaps()
            texture.filter = (moderngl.LINEAR_MIPMAP_LINEAR, moderngl.LINEAR)
            self._plate = plate, texture
        self._plate[1].use(DEPTH)
        wider = width * self.size[1] / (height * self.size[0])
        share = min(1.0 / wider, 1.0), min(wider, 1.0)
        return {"plate": DEPTH, "plate_share": share, "plate_gain": 1.0 / float(self.exposure)}

    def _check(self) -> None:
        if self._released:
            raise GpufluidError("this FrameRenderer was released")

    def _free(self) -> None:
        if hasattr(self, "_targets"):  # none where the first could not be made
            self._targets.release()

    def _throw_shadows(
        self, scene: SceneLike, boxes: list[tuple[FluidLike, VolumeRenderer]], view: View
    ) -> ShadowMap | None:
        """Draw the shadows of all solids; None where there are none."""
        throw = [one for fluid, _ in boxes for one in self._solids.placed(fluid, hidden=True)]
        grids = [fluid.grid for fluid, _ in boxes]
        way = LightFrame(grids[0].local, scene.light.direction).way
        self._shadows.update(throw, way, scene.lights, grids, view.clip.astype(np.float64), self.size)
        return self._shadows if self._shadows.any else None

    def _draw_opaque(
        self, scene: SceneLike, boxes: list[tuple[FluidLike, VolumeRenderer]], view: View
    ) -> Part:
        """Draw backdrop, floor and solids into the picture and its depth; return where solids may be seen."""
        ctx, targets = self.ctx, self._targets
        # samples are for the edges of solids: where none can be seen, a pixel has one
        solids = [list(self._solids.placed(fluid)) for fluid, _ in boxes]
        seen = self._solids.seen(list(chain(*solids)), view, self.size)
        whole = (0, 0, *self.size)
        parts = [(targets.opaque, seen), *((targets.scene, part) for part in _around(seen, whole))]
        ctx.enable_only(moderngl.DEPTH_TEST)
        ctx.depth_func = "1"  # the first thing drawn: only the depth it writes is wanted
        self._draw_studio(scene, *boxes[0], view, parts, self._shadows.thrown)
        if scene.floor is not None:
            # what the further boxes take of the light on the floor
            blend(ctx, moderngl.ZERO, moderngl.ONE_MINUS_SRC_ALPHA)
            for fluid, volume in boxes[1:]:
                self._draw_studio(scene, fluid, volume, view, parts, shadow=True)
        if not (seen[2] and seen[3]):
            ctx.enable_only(moderngl.NOTHING)
            return seen
        samples, grid = targets.opaque is not targets.scene, boxes[0][0].grid
        if samples and scene.floor is not None:
            self._floor_depths(scene.floor, grid, view, seen, middles=False)
        ctx.enable_only(moderngl.DEPTH_TEST)
        ctx.depth_func = "<"
        file, corners = "render/mesh_fragment.glsl", "render/mesh_vertex.glsl"
        with only(targets.opaque, seen):
            for (fluid, volume), placed in zip(boxes, solids, strict=True):
                with self._lit(
                    scene, fluid, volume, "solids", file, shadowed=True, vertex_file=corners, handed=False
                ) as program:
                    self._solids.draw(placed, program, fluid, view, self.paint, self.size)
        ctx.enable_only(moderngl.NOTHING)
        if samples:
            self.pause()
            with only(targets.scene, seen):
                ctx.copy_framebuffer(targets.scene, targets.opaque)
            if targets.samples is not None and scene.floor is not None:
                self._floor_depths(scene.floor, grid, view, seen, middles=True)
        return seen

    def _draw_studio(
        self,
        scene: SceneLike,
        fluid: FluidLike,
        volume: VolumeRenderer,
        view: View,
        parts: Sequence[tuple[moderngl.Framebuffer, Part]],
        throw: Sequence[Floats] = (),
        shadow: bool = False,
    ) -> None:
        """What stands behind everything, lit through `fluid`; or the shadow of `fluid` on the floor alone.

        parts: of the picture, and into what they are drawn. throw: corners of what else may shade the floor.
        """
        grid, dim = fluid.grid, self._dimmed(scene, fluid, volume, view, throw)
        height = 0.0 if scene.floor is None else (scene.floor - grid.origin[1]) / grid.cell_size
        values = {
            **ray_uniforms(view, fluid),
            "depth_scale": view.depth_scale,
            "picture_size": self.size,
            "backdrop_kind": 0 if shadow else BACKDROPS.get(str(self.background), 0),
            "plain": (0.0, 0.0, 0.0, 0.0) if shadow else self._plain,
            "has_floor": scene.floor is not None,
            "own_color": self.floor_color is not None,
            "floor_color": self.floor_color or FLOOR,
            "floor_height": height,
            "floor_reach": FLOOR_REACH * max(grid.cells),
        }
        plate = not shadow and isinstance(self.background, Plate)
        if plate:
            values |= self._plate_values()
        # both programs are made with the first picture, wherever the light falls in it
        for clear in (False,) if shadow else (False, True):
            with self._lit(
                *(scene, fluid, volume, "studio", "render/studio.glsl"),
                clear=clear,
                shadowed=not shadow,
                plate=plate,
            ) as program:
                give(program, values)
                for target, part in parts:
                    shared = _common(part, dim)
                    for piece in _around(shared, part) if clear else (shared,):
                        if piece[2] and piece[3]:
                            with only(target, piece):
                                self.device.cover(program)

    def _floor_depths(self, height: float, grid: Grid, view: View, part: Part, middles: bool) -> None:
        """Write depths of the floor into `part` of the picture: of all samples, or of middles of pixels.

        Had all samples of a pixel one depth, a solid that stands on the floor would be before it in all of
        them, or none: its foot would go in stairs. middles: in what has one sample a pixel, where that was
        one of the floor's. Smoke would be cut elsewhere than beside `part`.
        """
        if not _sees_down(view, height):
            return
        program, targets = self.device.keep("floor", self._floor_program), self._targets
        x, _, z = grid.cells
        values = {
            "to_clip": view.clip.astype(np.float64) @ np.linalg.inv(cells_of(grid)),
            "middle": (0.5 * x, (height - grid.origin[1]) / grid.cell_size, 0.5 * z),
            "reach": FLOOR_REACH * max(grid.cells),
            "middles": middles,
            "solid_depth": SUN,
        }
        if targets.samples is not None:  # a sampler that is not read has a texture too, and none of a host's
            (targets.samples if middles else targets.no_samples).use(SUN)
        give(program, values)
        self.ctx.enable_only(moderngl.DEPTH_TEST)
        self.ctx.depth_func = "1"
        with only(targets.depth_alone if middles else targets.samples_alone, part):
            self.device.fullscreen(program).render(moderngl.TRIANGLE_STRIP, vertices=4)
        self.ctx.enable_only(moderngl.NOTHING)
        if middles:
            self.device.blank().use(SUN)

    def _floor_program(self) -> moderngl.Program:
        vertex, fragment = (
            Source(f"floor{stage}").add("#version 330 core", "<stage>") for stage in (" (vertex)", "")
        )
        return self.device.fragment_program(
            fragment.include("render/floor_fragment.glsl"), vertex.include("render/floor_vertex.glsl")
        )

    def _dimmed(
        self,
        scene: SceneLike,
        fluid: FluidLike,
        volume: VolumeRenderer,
        view: View,
        throw: Sequence[Floats] = (),
    ) -> Part:
        """The part of the picture outside which the floor has all the light of sun and sky."""
        if scene.floor is None:
            return 0, 0, 0, 0
        aside = ASIDE * fluid.grid.cell_size * np.where(CORNERS, -1.0, 1.0)
        corners = np.where(CORNERS, fluid.grid.origin, fluid.grid.upper) + aside
        under = corners.copy()  # the sky is dimmed straight below the box alone, and above it
        under[:, 1] = scene.floor
        corners = np.concatenate([corners, *((one[:, None] + aside).reshape(-1, 3) for one in throw)])
        down = -float(volume.lighting.sun.frame.unit[1])
        above = np.maximum(corners[:, 1:2] - scene.floor, 0.0)
        if down > 0.0:  # else the floor has no light of the sun
            corners[:, 1:2] = np.maximum(corners[:, 1:2], scene.floor)
            under = np.concatenate([under, corners + above / down * volume.lighting.sun.frame.unit])
        return part_round(np.concatenate([under, np.ones((len(under), 1))], axis=1) @ view.clip.T, self.size)

    @property
    def _plain(self) -> tuple[float, float, float, float]:
        """What stands behind everything where it is not the studio, premultiplied."""
        if isinstance(self.background, str | Plate):
            return 0.0, 0.0, 0.0, 0.0
        return *self.background, 1.0

    def _shimmer(self, fluid: FluidLike, view: View, strength: float) -> None:
        """Draw the opaque scene as seen through the hot gas."""
        ctx, targets = self.ctx, self._targets
        _, bent = targets.another(WHOLE)
        program = volume_program(self.device, fluid, "shimmer", "render/shimmer.glsl", "scalars")
        values = {
            **ray_uniforms(view, fluid),
            "depth_scale": view.depth_scale,
            "picture_size": self.size,
            "strength": float(strength),
            "picture": PICTURE,
            "scene_depth": DEPTH,
        }
        give(program, values)
        targets.color.use(PICTURE)
        self.device.between.use(PICTURE)
        targets.depth.use(DEPTH)
        self.volume.depth_sampler.use(DEPTH)
        bent.use()
        ctx.enable_only(moderngl.NOTHING)
        with bind(self.device, program, scalars=fluid.scalars):
            self.device.cover(program)
        self.device.between.clear(PICTURE)
        self.volume.depth_sampler.clear(DEPTH)
        self.device.blank().use(DEPTH)
        ctx.copy_framebuffer(targets.smoke, bent)

    def _mend_outlines(
        self, samples: moderngl.Texture, part: Part, gap: float, view: View, floor: float | None
    ) -> None:
        """Give each pixel of `part` that an outline of solids crosses its shares of the smoke on either side.

        samples: the depths of all samples of a pixel. gap: metres from which on two are of two things,
        beyond what the `floor`, that high, spans by itself.
        """
        ctx, device, targets = self.ctx, self.device, self._targets
        program = self._picture_program("outlines", "render/outlines.glsl")
        values = {
            "depth_scale": view.depth_scale,
            "part": part,
            "gap": gap,
            "floor_depth": floor_depth(view, floor, self.size),
            "picture": PICTURE,
            "clear": SKY,
            "scene_depth": DEPTH,
            "solid_depth": SUN,
        }
        give(program, values)
        targets.copy(WHOLE, part).use(PICTURE)
        targets.another(CLEAR)[0].use(SKY)
        targets.depth.use(DEPTH)
        samples.use(SUN)
        self.volume.depth_sampler.use(DEPTH)
        ctx.enable_only(moderngl.NOTHING)
        with only(targets.smoke, part):
            device.cover(program)
        self.volume.depth_sampler.clear(DEPTH)
        for unit in (SUN, SKY, DEPTH):
            device.blank().use(unit)

    @contextmanager
    def _lit(
        self,
        scene: SceneLike,
        fluid: FluidLike,
        volume: VolumeRenderer,
        label: str,
        file: str,
        *,
        shadowed: bool,
        clear: bool = False,
        plate: bool = False,
        **rules: Any,
    ) -> Iterator[moderngl.Program]:
        """A program of the opaque scene with its light set, while the body runs.

        shadowed: solids throw shadows on it. clear: neither they nor smoke do so by the light of sun and sky.
        plate: it shows one.
        """
        lighting, light = volume.lighting, scene.light
        any_shadows, lamps = self._shadows.any, bool(scene.lights)
        rules["defines"] = {
            "CLEAR": int(clear),
            "PLATE": int(plate),
            "SHADOWED": int(shadowed and not clear and any_shadows),
            "LAMPS_SHADOWED": int(shadowed and lamps and any_shadows),
        }
        with lighting.program(fluid, label, file, solids=False, **rules) as program:
            give(program, {"sun_color": tuple(light.color), "ambient": tuple(light.ambient)})
            yield program

    def _picture_program(self, label: str, file: str) -> moderngl.Program:
        """A program over a picture, which knows of no fluid."""

        def make() -> moderngl.Program:
            source = Source(label).add("#version 330 core", "<stage>")
            for name, value in self.device.defines.items():
                source.add(f"#define {name} {value}", "<stage>")
            return self.device.fragment_program(source.include(file))

        return self.device.keep(label, make)

    def _tone_map(self, target: moderngl.Framebuffer, alpha: str | None = None) -> None:
        """Draw the picture into the viewport of `target`, for a screen."""
        program = self._picture_program("tone map", "render/tone_map.glsl")
        x, y, width, height = target.viewport
        if not width or not height:
            return  # a minimised window
        values = {
            "picture": PICTURE,
            "size": (width, height),
            "corner": (x, y),
            "exposure": float(self.exposure),
            "alpha": ALPHA[alpha],
            "noise_tile": NOISE,
        }
        give(program, values)
        target.use()
        self.ctx.enable_only(moderngl.NOTHING)
        self.volume.noise.use(NOISE)
        self._targets.color.use(PICTURE)
        self.device.between.use(PICTURE)
        self.device.cover(program)
        self.device.between.clear(PICTURE)


def _sees_down(view: View, height: float) -> bool:
    """Whether a picture may show a floor from above, all of it before the viewer."""
    rays = view.rays
    if rays.parallel:
        return bool(rays.forward[1] < 0.0 and rays.near >= 0.0)
    return bool(rays.origin[0, 1] > height)


def floor_depth(view: View, height: float | None, size: Size) -> tuple[float, float, float]:
    """The depth of the floor, -1 .. 1: at the lower left corner of a picture of `size`, per pixel of x, of y.

    Where none can be seen it lies behind everything.
    """
    if height is None or not _sees_down(view, height):
        return 2.0, 0.0, 0.0
    x, y, z, one = np.array([0.0, 1.0, 0.0, -height]) @ np.linalg.inv(view.clip.astype(np.float64))
    return float((x + y - one) / z), float(-2.0 * x / z / size[0]), float(-2.0 * y / z / size[1])


def _around(part: Part, whole: Part) -> list[Part]:
    """What is left of `whole`: below `part` of it, above it, on its left and on its right."""
    (x, y, width, height), (left, bottom, across, up) = part, whole
    right, top = x + width, y + height
    return [
        (left, bottom, across, y - bottom),
        (left, top, across, bottom + up - top),
        (left, y, x - left, height),
        (right, y, left + across - right, height),
    ]


def _common(one: Part, other: Part) -> Part:
    """What lies in both, which may be nothing, but in `one`."""
    low = [min(max(a, b), a + n) for a, b, n in zip(one, other, one[2:], strict=False)]
    high = [min(a + n, b + m) for a, n, b, m in zip(one, one[2:], other, other[2:], strict=False)]
    return low[0], low[1], max(high[0] - low[0], 0), max(high[1] - low[1], 0)


def _checked_size(size: Size, limit: int) -> Size:
    """Return `size` as two whole numbers in 1 .. limit, or raise."""
    try:
        width, height = size
        sizes = int(width), int(height)
        whole = sizes == (width, height)
    except (TypeError, ValueError):
        raise GpufluidError(f"size must be two whole numbers (width, height), got {size!r}") from None
    if not whole or min(sizes) < 1 or max(sizes) > limit:
        raise GpufluidError(
            f"the width and height of a picture must be whole numbers in 1 .. {limit}, got {size!r}"
        )
    return sizes
