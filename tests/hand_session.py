"""A hand in a window, as a program of its own: test_window.py runs it under Xvfb and reads what it prints."""

from __future__ import annotations

import json

import numpy as np
from window_session import BUTTON_PRESS, BUTTON_RELEASE, LEFT, MOTION, RIGHT, Hand

from gpufluid.app.demos import load_demo
from gpufluid.app.player import Player
from gpufluid.app.window import Window

SIZE = (320, 180)
ALT = 8  # X's Mod1


def main() -> None:
    report: dict[str, object] = {}
    with Window(SIZE, "hand") as window:
        player = Player(window, lambda: load_demo("paint")(cells=(64, 36, 1), ctx=window.ctx))
        with player:
            hand, scene = Hand(window.handle), player.scene
            camera = scene.camera

            def frames(count: int) -> None:
                until = scene.frame + count
                while scene.frame < until:
                    player.tick()

            def flow() -> tuple[float, float]:
                """Dye and velocity to the right in the middle of the picture."""
                dye = scene.fluid.color.read()[0, 14:22, 26:38]
                return float(dye.sum()), float(scene.fluid.velocity.at_centers()[0, 16:20, 28:36, 0].mean())

            frames(4)
            report["by_itself"] = float(scene.fluid.color.read().sum())
            scene.fluid.reset()
            hand.send(MOTION, 120, 90)
            player.tick()
            hand.send(BUTTON_PRESS, 120, 90, LEFT)
            for x in range(128, 192, 8):
                hand.send(MOTION, x, 90)
                frames(1)
            report["painted"] = [*flow(), scene.touched, player.controls.brush is not None]
            whole = scene.fluid.color.read()[0].sum(-1)
            rows = np.arange(36) + 0.5
            report["row"] = float((whole.sum(1) * rows).sum() / whole.sum())
            hand.send(BUTTON_RELEASE, 184, 90, LEFT)
            frames(1)
            dye = float(scene.fluid.color.read().sum())
            frames(3)
            report["let_go"] = [player.controls.brush is None, float(scene.fluid.color.read().sum()) / dye]
            report["still"] = [camera.azimuth, camera.elevation, *camera.target]
            hand.drag(RIGHT, (100, 100), (120, 100))
            frames(1)
            report["moved"] = camera.target[0]
            hand.send(MOTION, 100, 100)
            player.tick()
            hand.send(BUTTON_PRESS, 100, 100, LEFT, ALT)
            hand.send(MOTION, 130, 100, state=ALT)
            hand.send(BUTTON_RELEASE, 130, 100, LEFT, ALT)
            frames(1)
            report["turned"] = camera.azimuth
    print(json.dumps(report))


if __name__ == "__main__":
    main()
