"""Passes over a whole picture: shimmering air, mended outlines of solids, and the tone map."""

from __future__ import annotations

import moderngl

from gpufluid.gl.fences import copy, draw_to
from gpufluid.gl.uniforms import give
from gpufluid.render.camera import View
from gpufluid.render.floor import floor_depth
from gpufluid.render.frame_targets import CLEAR, WHOLE, FrameTargets, only
from gpufluid.render.painter import ray_uniforms
from gpufluid.render.solids.drawn_solids import Part
from gpufluid.render.subject import FluidLike
from gpufluid.render.volume import VolumeRenderer
from gpufluid.render.volume_source import DEPTH, NOISE, PICTURE, SKY, SUN, bind, volume_program

ALPHA = {None: 0, "premultiplied": 1, "straight": 2}


class PicturePasses:
    """They read the textures of `FrameTargets` as `volume` does, and write one of them or a target."""

    def __init__(self, volume: VolumeRenderer) -> None:
        self.device, self.volume = volume.device, volume

    def shimmer(self, targets: FrameTargets, fluid: FluidLike, view: View, strength: float) -> None:
        """Draw the opaque scene as seen through the hot gas."""
        ctx = self.device.ctx
        _, bent = targets.another(WHOLE)
        program = volume_program(self.device, fluid, "shimmer", "render/shimmer.glsl", "scalars")
        values = {
            **ray_uniforms(view, fluid),
            "depth_scale": view.depth_scale,
            "picture_size": targets.size,
            "strength": float(strength),
            "picture": PICTURE,
            "scene_depth": DEPTH,
        }
        give(program, values)
        targets.color.use(PICTURE)
        self.device.between.use(PICTURE)
        targets.depth.use(DEPTH)
        self.volume.depth_sampler.use(DEPTH)
        draw_to(bent)
        ctx.enable_only(moderngl.NOTHING)
        with bind(self.device, program, scalars=fluid.scalars):
            self.device.cover(program)
        self.device.between.clear(PICTURE)
        self.volume.depth_sampler.clear(DEPTH)
        self.device.blank().use(DEPTH)
        copy(bent, targets.smoke)

    def mend_outlines(
        self,
        targets: FrameTargets,
        samples: moderngl.Texture,
        part: Part,
        gap: float,
        view: View,
        floor: float | None,
        exposure: float,
    ) -> None:
        """Give each pixel of `part` that an outline of solids crosses its shares of the smoke on either side.

        samples: the depths of all samples of a pixel. gap: metres from which on two are of two things,
        beyond what the `floor`, that high, spans by itself. exposure: with which it will be shown.
        """
        device = self.device
        program = device.program_of("outlines", "render/outlines.glsl", macros=device.defines)
        values = {
            "depth_scale": view.depth_scale,
            "part": part,
            "gap": gap,
            "exposure": exposure,
            "floor_depth": floor_depth(view, floor, targets.size),
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
        device.ctx.enable_only(moderngl.NOTHING)
        with only(targets.smoke, part):
            device.cover(program)
        self.volume.depth_sampler.clear(DEPTH)
        for unit in (SUN, SKY, DEPTH):
            device.blank().use(unit)

    def tone_map(
        self, targets: FrameTargets, target: moderngl.Framebuffer, exposure: float, alpha: str | None = None
    ) -> None:
        """Draw the picture into the viewport of `target`, for a screen. alpha: see `FrameRenderer.read`."""
        program = self.device.program_of("tone map", "render/tone_map.glsl", macros=self.device.defines)
        x, y, width, height = target.viewport
        if not width or not height:
            return  # a minimised window
        values = {
            "picture": PICTURE,
            "size": (width, height),
            "corner": (x, y),
            "exposure": float(exposure),
            "alpha": ALPHA[alpha],
            "noise_tile": NOISE,
        }
        give(program, values)
        draw_to(target)
        self.device.ctx.enable_only(moderngl.NOTHING)
        self.volume.noise.use(NOISE)
        targets.color.use(PICTURE)
        self.device.between.use(PICTURE)
        self.device.cover(program)
        self.device.between.clear(PICTURE)
