"""Smoke in a program of moderngl-window."""

from __future__ import annotations

import moderngl_window
from _world import DT, SIZE, SUN, World, options

import gpufluid as gf

ASKED = options()


class Game(moderngl_window.WindowConfig):  # type: ignore[misc]  # it has no annotations
    """The game, with smoke in it."""

    title, window_size, gl_version, resizable = "gpufluid in moderngl-window", SIZE, (3, 3), False
    aspect_ratio, vsync, samples = None, False, 0

    def __init__(self, **given: object) -> None:
        super().__init__(**given)
        ctx = self.ctx
        self.world, self.frame = World(ctx, gf.glsl("light")), 0

        grid = gf.Grid((90, 48, 36), 1 / 30, origin=(-1.5, 0, -0.6))  # m
        rules = gf.Settings(advection="finite-volume", vorticity_confinement=0.5)
        self.fluid = gf.Fluid(grid, settings=rules, ctx=ctx)
        for x in (-0.8, 0.0, 0.8):
            self.fluid.emitters.add(
                gf.Emitter(gf.Sphere((x, 0.1, 0), 0.12), density=6, temperature=1, noise=0.9)
            )
        self.fluid.forces.add(gf.Turbulence(strength=0.3, size=0.4))
        self.ball = self.fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.25)))
        self.smoke = gf.VolumeRenderer(ctx)
        self.light = gf.Light(SUN, color=(7, 4.3, 2.2))
        self.look = gf.Smoke(extinction=12.0, edge=0.1, anisotropy=0.4)

    def on_render(self, time: float, frame_time: float) -> None:
        """Draw a frame; it counts its time in steps of its own."""
        fluid, smoke, world = self.fluid, self.smoke, self.world
        time = self.frame * DT
        self.ball.position = world.ball(time)
        fluid.step(DT)
        smoke.give(fluid, world.program)
        world.draw(time)
        smoke.render(
            fluid, world.camera, world.framebuffer, depth=world.depth, light=self.light, smoke=self.look
        )
        world.show(self.wnd.fbo)
        self.frame += 1
        if self.frame == ASKED.frames:
            if ASKED.shot:
                world.save(self.wnd.fbo, ASKED.shot)
            self.wnd.close()

    def on_close(self) -> None:
        """Leave the context as it was lent."""
        self.smoke.release()
        self.fluid.release()


if __name__ == "__main__":
    moderngl_window.run_window_config(Game, args=["--window", "glfw"])
