"""Smoke in a program without a window: the picture is rendered on a server, or for a test."""

from __future__ import annotations

import sys
from typing import Any

import moderngl
from _world import DT, SIZE, SUN, World, options

import gpufluid as gf


def main() -> None:
    """Run the game, with smoke in it, into a framebuffer."""
    asked = options()
    driver: dict[str, Any] = {"backend": "egl"} if sys.platform == "linux" else {}
    ctx = moderngl.create_context(standalone=True, **driver)
    window = ctx.simple_framebuffer(SIZE)
    world = World(ctx, gf.glsl("light"))

    grid = gf.Grid((90, 48, 36), 1 / 30, origin=(-1.5, 0, -0.6))  # m
    rules = gf.Settings(advection="finite-volume", vorticity_confinement=0.5)
    fluid = gf.Fluid(grid, settings=rules, ctx=ctx)
    for x in (-0.8, 0.0, 0.8):
        fluid.emitters.add(gf.Emitter(gf.Sphere((x, 0.1, 0), 0.12), density=6, temperature=1, noise=0.9))
    fluid.forces.add(gf.Turbulence(strength=0.3, size=0.4))
    ball = fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.25)))
    smoke = gf.VolumeRenderer(ctx)
    light = gf.Light(SUN, color=(7, 4.3, 2.2))
    look = gf.Smoke(extinction=12.0, edge=0.1, anisotropy=0.4)

    for frame in range(asked.frames or 120):
        time = frame * DT
        ball.position = world.ball(time)
        fluid.step(DT)
        smoke.give(fluid, world.program)
        world.draw(time)
        smoke.render(fluid, world.camera, world.framebuffer, depth=world.depth, light=light, smoke=look)
        world.show(window)
    if asked.shot:
        world.save(window, asked.shot)


if __name__ == "__main__":
    main()
