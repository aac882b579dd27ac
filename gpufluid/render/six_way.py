"""How smoke looks in the light of six sides, for sprites that a game lights anew (six-way lightmaps)."""

from __future__ import annotations

from dataclasses import replace

import moderngl
import numpy as np
from numpy.typing import NDArray

from gpufluid.common.checks import LUMINANCE, check_size
from gpufluid.common.errors import GpufluidError
from gpufluid.common.vectors import Floats, Size
from gpufluid.contract.backend import release
from gpufluid.description.view import SIX_WAY, Fire, Light, Look
from gpufluid.gl.drawing import top_first
from gpufluid.gl.fences import clear
from gpufluid.gl.state import Guest
from gpufluid.render.camera import View, farthest_first, view_of
from gpufluid.render.light.shadow_map import ShadowMap
from gpufluid.render.solids.drawn_solids import DrawnSolids
from gpufluid.render.subject import FlowLike, SceneLike
from gpufluid.render.volume import VolumeRenderer

# the way to the light, as rows of a view matrix have it: right, up, and towards the viewer
TOWARDS = {
    "right": (1.0, 0.0, 0.0),
    "left": (-1.0, 0.0, 0.0),
    "top": (0.0, 1.0, 0.0),
    "bottom": (0.0, -1.0, 0.0),
    "front": (0.0, 0.0, 1.0),
    "back": (0.0, 0.0, -1.0),
}
DARK = (0.0, 0.0, 0.0)


class SixWay(Guest):
    """Draws the smoke of scenes as six-way lightmaps, `size` (width, height) pixels.

    A game's sprite that holds them mixes the six by where its own lights are, as Unity's six-way smoke does.
    They are of smoke and fire alone: solids neither hide the smoke nor shade it, as a sprite goes where
    others are; there is no floor, no particle and no background.

    slices, method: as of `VolumeRenderer`. It is a context manager that releases what it has made in `ctx`.
    Raises GpufluidError for a size that is no picture or over the driver's limit.
    """

    def __init__(
        self, ctx: moderngl.Context, size: Size, *, slices: int | None = None, method: str = "view-slices"
    ) -> None:
        self.ctx = ctx
        self._volumes = [VolumeRenderer(ctx, slices, method=method)]
        device = self._volumes[0].device
        self._solids = DrawnSolids(ctx)
        self._no_shadows = ShadowMap(device, self._solids)
        try:
            self.size = check_size(size, device.max_texture_size)
            self._color = device.texture(self.size, 4, "f4", "the lightmaps")
            self._target = ctx.framebuffer([self._color])
        except BaseException:
            release(self._no_shadows, self._solids, *self._volumes)
            raise
        self._released = False

    def draw(self, scene: SceneLike) -> NDArray[np.float32]:
        """Return the maps of `scene` as it is now, float32 [height, width, 8], top row first; see `SIX_WAY`.

        right, top, back, left, bottom, front: what the smoke of a pixel sends to the camera, not weakened by
        its alpha, in the light of that side alone, seen by the camera, which a white surface that faces it
        would send back as 1; "back" shines towards the camera. Linear luminance. alpha: the share of what is
        behind that the smoke hides. emissive: the luminance of the fire and of the smoke that it lights,
        weakened by the alpha that is in front: it is to be added; 0 without `scene.fire`.
        Where there is no smoke all are 0.

        Raises GpufluidError for what is no scene, where a fluid is not in this context, and after `release`.
        """
        if self._released:
            raise GpufluidError("this SixWay was released")
        if not hasattr(scene, "others"):
            raise GpufluidError(f"what is drawn must be a gf.Scene, as gf.Scene(fluid), got {scene!r}")
        fluids = (scene.fluid, *scene.others)
        while len(self._volumes) < len(fluids):
            self._volumes.append(self._volumes[0].another())
        view = view_of(scene.camera, self.size[0] / self.size[1])
        axes = view.view[:3, :3].astype(np.float64)
        maps = np.zeros((*self.size[::-1], len(SIX_WAY)), np.float32)
        for side, towards in TOWARDS.items():
            away = tuple((-np.array(towards) @ axes).tolist())
            lit = self._lit(scene, fluids, view, Light(away, color=(1.0, 1.0, 1.0), ambient=DARK), None)
            alpha = lit[..., 3]
            shown = np.divide(lit[..., :3] @ LUMINANCE, alpha, out=np.zeros_like(alpha), where=alpha > 0.0)
            maps[..., SIX_WAY.index(side)] = shown
        maps[..., SIX_WAY.index("alpha")] = alpha
        if scene.fire is not None:
            lit = self._lit(scene, fluids, view, Light(color=DARK, ambient=DARK), scene.fire)
            maps[..., SIX_WAY.index("emissive")] = lit[..., :3] @ LUMINANCE
        return maps

    def _lit(
        self, scene: SceneLike, fluids: tuple[FlowLike, ...], view: View, light: Light, fire: Fire | None
    ) -> Floats:
        """The smoke in `light` alone on nothing: radiance, premultiplied, and alpha, [height, width, 4]."""
        smoke = scene.smoke if scene.smoke.visible else replace(scene.smoke, extinction=0.0)
        look = Look(light, smoke, fire)
        clear(self._target)
        for n in farthest_first([fluid.grid for fluid in fluids], view.rays):
            self._volumes[n].prepare(fluids[n], look, self._no_shadows)
            self._volumes[n].draw(fluids[n], view, self._target, None, look)
        raw = top_first(self._color.read(alignment=1), self._color.dtype, self.size, 4)
        return raw.astype(np.float64)

    def release(self) -> None:
        """Release everything made in the context; may be called again."""
        if not self._released:
            self._released = True
            release(self._target, self._color, self._no_shadows, self._solids, *self._volumes)
