"""Smoke in a program with a window of glfw."""

from __future__ import annotations

import glfw
import moderngl
from _world import DT, SIZE, SUN, World, options

import gpufluid as gf


def main() -> None:
    """Run the game, with smoke in it."""
    asked = options()
    glfw.init()
    for hint, value in (
        (glfw.CONTEXT_VERSION_MAJOR, 3),
        (glfw.CONTEXT_VERSION_MINOR, 3),
        (glfw.OPENGL_PROFILE, glfw.OPENGL_CORE_PROFILE),
        (glfw.OPENGL_FORWARD_COMPAT, True),
        (glfw.RESIZABLE, False),
    ):
        glfw.window_hint(hint, value)
    window = glfw.create_window(SIZE[0], SIZE[1], "gpufluid in glfw", None, None)
    glfw.make_context_current(window)
    ctx = moderngl.create_context()
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

    frame = 0
    while not glfw.window_should_close(window) and frame != asked.frames:
        time = frame * DT
        ball.position = world.ball(time)
        fluid.step(DT)
        smoke.give(fluid, world.program)
        world.draw(time)
        smoke.render(fluid, world.camera, world.framebuffer, depth=world.depth, light=light, smoke=look)
        world.show(ctx.screen)
        frame += 1
        if frame == asked.frames and asked.shot:
            world.save(ctx.screen, asked.shot)
        glfw.swap_buffers(window)
        glfw.poll_events()

    smoke.release()
    fluid.release()  # the context is the program's own, and stays
    glfw.terminate()


if __name__ == "__main__":
    main()
