"""A finished picture of a scene: backdrop, floor, solids, smoke; in high dynamic range, then tone mapped.

The opaque scene is lit through the same boxes as the smoke, so smoke casts its shadow on solids and floor;
solids cast theirs by their own shapes (`shadow_map`). It has several samples a pixel where solids may be
seen, elsewhere one. Views of the flow that hide what is behind them are drawn with it, the smoke is blended
over it, cut by its depth, outlines of solids are mended, and what is see-through comes last. Nothing is
allocated from the second frame of a scene on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from gpufluid.common.checks import check_size, color_triple, finite_number
from gpufluid.common.errors import GpufluidError, named, one_of
from gpufluid.common.vectors import Number, Real, Size, Vector
from gpufluid.contract.backend import release
from gpufluid.description.obstacles import Obstacle
from gpufluid.description.view import EXPOSURE, Background, Look, Picture, checked_background
from gpufluid.gl import enums
from gpufluid.gl.calls import calls
from gpufluid.gl.drawing import first_color_alone, top_first
from gpufluid.gl.hosts import check_target
from gpufluid.gl.state import Guest, own_depths
from gpufluid.gl.targets import drawable
from gpufluid.render.camera import View, farthest_first, view_of
from gpufluid.render.frame_targets import CLEAR, FrameTargets
from gpufluid.render.light.light_frame import LightFrame
from gpufluid.render.light.shadow_map import ShadowMap
from gpufluid.render.opaque import Boxes, Frame, OpaqueScene
from gpufluid.render.picture_passes import ALPHA, PicturePasses
from gpufluid.render.solids.drawn_solids import DrawnSolids, Part
from gpufluid.render.solids.solid_travel import draw_travel
from gpufluid.render.subject import SceneLike
from gpufluid.render.views.scene_views import SceneViews
from gpufluid.render.volume import VolumeRenderer
from gpufluid.render.volume_source import DEPTH

PAINT = (0.46, 0.115, 0.05)  # albedo of solids: terracotta
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

    exposure: Real

    def __init__(
        self,
        ctx: moderngl.Context,
        size: Size = (640, 360),
        *,
        exposure: Number = EXPOSURE,
        paint: Vector = PAINT,
        volume: VolumeRenderer | None = None,
        background: Background = "studio",
        floor_color: Vector | None = None,
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
        self._opaque = OpaqueScene(self._solids, self._shadows)
        self._passes = PicturePasses(self.volume)
        self._targets: FrameTargets
        self._released = False
        self.size: tuple[int, int] = (0, 0)
        try:
            self.resize(size)
        except BaseException:
            self.release()
            raise

    if not TYPE_CHECKING:  # a type checker would let every name pass

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
            ctx, slices=picture.slices, method=picture.drawn_by, resolution=picture.resolution, **options
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
        size = check_size(size, self.device.max_texture_size)
        if size == self.size:
            return
        before, self.size = self.size, (0, 0)
        try:
            self._make(size)
        except BaseException:
            if before != self.size:
                self._make(before)
            raise

    def _make(self, size: tuple[int, int]) -> None:
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
            looks = self.paint, self.background, self.floor_color, self.exposure
            solid_part = self._opaque.draw(Frame(scene, view, targets, *looks), boxes, self.pause)
        if views is not None:
            views.draw(view, targets.scene, targets.depth, opaque=True)
        self._draw_smoke(scene, look, boxes, view, solid_part)
        if views is not None:
            hiding = [volume for _, volume in boxes] if look.shows else []
            views.draw(view, targets.scene, targets.depth, opaque=False, smoke=hiding)
        self.pause()
        with self.volume.timed(scene.fluid, "tone map"):
            self._tone_map(targets.screen)

    def _draw_smoke(self, scene: SceneLike, look: Look, boxes: Boxes, view: View, solid_part: Part) -> None:
        """Blend smoke and fire over the opaque scene, and mend the outlines of solids in them."""
        targets = self._targets
        samples = targets.samples if look.shows and all(solid_part[2:]) else None
        order = farthest_first([fluid.grid for fluid, _ in boxes], view.rays)
        for number, (fluid, volume) in enumerate(boxes[n] for n in order):
            if look.fire is not None and look.fire.shimmer > 0.0:
                with volume.timed(fluid, "shimmer"):
                    self._passes.shimmer(targets, fluid, view, look.fire.shimmer)
            if samples is not None and number == 0:
                targets.copy(CLEAR, solid_part)
            if look.shows:
                volume.draw(fluid, view, targets.smoke, targets.depth, look)
        if samples is not None:
            with self.volume.timed(scene.fluid, "outlines"):
                gap = 2.0 * min(fluid.grid.cell_size for fluid, _ in boxes)
                self._passes.mend_outlines(
                    targets, samples, solid_part, gap, view, scene.floor, float(self.exposure)
                )

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

    def _boxes(self, scene: SceneLike) -> Boxes:
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
        raw = self._targets.screen.read(components=channels, alignment=1)
        if alpha is not None:
            self._tone_map(self._targets.screen)
        return top_first(raw, np.uint8, self.size, channels)

    def read_hdr(self) -> NDArray[np.float32]:
        """Return the picture drawn last as linear radiance, float32 [height, width, 4], premultiplied.

        Top row first; before exposure and tone map. Over a plate of linear radiance it is
        ``picture[..., :3] + (1 - picture[..., 3:]) * plate``. A pixel that the outline of a solid crosses has
        the radiance that is shown as the mean of what lies in it; on nothing, the mean of radiance.
        """
        self._check()
        color = self._targets.color
        return top_first(color.read(alignment=1), color.dtype, self.size, 4).astype(np.float32, copy=False)

    def read_depth(self) -> NDArray[np.float32]:
        """Return how far away the opaque scene drawn last is, float32 [height, width], metres; top row first.

        It is measured along the camera's axis, as in a depth buffer; infinity where there is only the
        backdrop.
        """
        self._check()
        raw = top_first(self._targets.depth.read(alignment=1), np.float32, self.size, 1)[..., 0]
        if self._view is None:
            return np.full_like(raw, np.inf)
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
        if self._view is None:
            return np.zeros((*self.size[::-1], 4), np.float32)
        texture, target = self._targets.travel
        fluids = (scene.fluid, *scene.others)
        known = scene.stood if before is None else before
        with own_depths(self.ctx):
            self.volume.depth_sampler.use(DEPTH)
            draw_travel(
                *(self.device, self._solids, fluids),
                before=known,
                view=self._view,
                size=self.size,
                target=target,
                depth=self._targets.depth,
            )
            self.volume.depth_sampler.clear(DEPTH)
            self.device.blank().use(DEPTH)
        return top_first(texture.read(alignment=1), np.float32, self.size, 4)

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
        release(self._opaque, self._shadows, self._solids, *self._more)
        if self._owns_volume:
            self.volume.release()

    def _check(self) -> None:
        if self._released:
            raise GpufluidError("this FrameRenderer was released")

    def _free(self) -> None:
        if hasattr(self, "_targets"):  # none where the first could not be made
            self._targets.release()

    def _throw_shadows(self, scene: SceneLike, boxes: Boxes, view: View) -> ShadowMap | None:
        """Draw the shadows of all solids; None where there are none."""
        throw = [one for fluid, _ in boxes for one in self._solids.placed(fluid, hidden=True)]
        grids = [fluid.grid for fluid, _ in boxes]
        way = LightFrame(grids[0].local, scene.light.direction).way
        self._shadows.update(throw, way, scene.lights, grids, view.clip.astype(np.float64), self.size)
        return self._shadows if self._shadows.any else None

    def _tone_map(self, target: moderngl.Framebuffer, alpha: str | None = None) -> None:
        self._passes.tone_map(self._targets, target, self.exposure, alpha)
