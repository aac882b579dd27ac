"""Smoke in a program of PySide6: a widget of Qt's."""

from __future__ import annotations

import moderngl
from _world import DT, SIZE, SUN, World, options
from PySide6 import QtCore, QtGui, QtWidgets
from PySide6.QtOpenGLWidgets import QOpenGLWidget

import gpufluid as gf

ASKED = options()


class View(QOpenGLWidget):
    """The game, with smoke in it; Qt makes its context current before each of these three calls."""

    def initializeGL(self) -> None:  # noqa: N802  # Qt's name
        """Make everything, once there is a context."""
        ctx = self.ctx = moderngl.create_context()
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

    def paintGL(self) -> None:  # noqa: N802
        """Draw a frame into the framebuffer that Qt composes its window from."""
        fluid, smoke, world = self.fluid, self.smoke, self.world
        window = self.ctx.detect_framebuffer(self.defaultFramebufferObject())
        time = self.frame * DT
        self.ball.position = world.ball(time)
        fluid.step(DT)
        smoke.give(fluid, world.program)
        world.draw(time)
        smoke.render(
            fluid, world.camera, world.framebuffer, depth=world.depth, light=self.light, smoke=self.look
        )
        world.show(window)
        self.frame += 1
        if self.frame == ASKED.frames and ASKED.shot:
            world.save(window, ASKED.shot)


def main() -> None:
    """Open the widget; a timer asks it to draw as often as it can."""
    wanted = QtGui.QSurfaceFormat()
    wanted.setVersion(3, 3)
    wanted.setProfile(QtGui.QSurfaceFormat.OpenGLContextProfile.CoreProfile)
    QtGui.QSurfaceFormat.setDefaultFormat(wanted)
    app = QtWidgets.QApplication([])
    view = View()
    view.setFixedSize(*SIZE)
    view.show()
    timer = QtCore.QTimer()
    timer.timeout.connect(lambda: app.quit() if view.frame == ASKED.frames else view.update())
    timer.start(0)
    app.exec()
    view.makeCurrent()
    view.smoke.release()
    view.fluid.release()


if __name__ == "__main__":
    main()
