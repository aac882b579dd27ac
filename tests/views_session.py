"""A scene whose camera moves by itself, in a window and turned by hand; test_window.py runs it under Xvfb."""

from __future__ import annotations

import json
from pathlib import Path

from window_session import LEFT, RIGHT, Hand

import gpufluid as gf
from gpufluid.app.player import Player
from gpufluid.app.window import Window

LEFT_KEY = 0xFF51
SCENE = """\
[grid]
cells = [6, 8, 6]
cell_size = 0.1
[camera]
target = { formula = ["0.3 + 0.1 * t", "0.4", "0.3"] }
distance = { formula = "2 + t" }
azimuth = { formula = "20 + 4 * t" }
"""


def main() -> None:
    report: dict[str, object] = {}
    Path("moves.toml").write_text(SCENE)
    with (
        Window((320, 200), "moves") as window,
        Player(window, lambda **more: gf.Scene.load("moves.toml", ctx=window.ctx, **more)) as player,
    ):
        hand = Hand(window.handle)

        def seen() -> list[float]:
            camera = player.scene.camera
            return [camera.azimuth, camera.distance, camera.target[0]]

        def frames(count: int = 3) -> list[float]:
            until = player.scene.frame + count
            while player.scene.frame < until:
                player.tick()
            return seen()

        report["by_itself"] = [frames(), frames()]
        hand.drag(LEFT, (100, 100), (160, 100))
        player.tick()
        report["turned"] = [seen(), frames()]
        hand.press(LEFT_KEY)
        player.tick()
        report["key"] = [seen(), frames()]
        hand.turn_wheel()
        player.tick()
        report["nearer"] = [seen(), frames()]
        hand.drag(RIGHT, (100, 100), (140, 100))
        player.tick()
        report["moved"] = [seen(), frames()]
        player.restart()
        report["again"] = [frames(), frames()]
        hand.press(ord("f"))
        player.tick()
        report["whole"] = [seen(), frames()]
        player.use_cells((8, 10, 8))
        report["rebuilt"] = [seen(), frames()]
    print(json.dumps(report))


if __name__ == "__main__":
    main()
