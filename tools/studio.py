"""The studio on the demo campfire, which burns and waits with one of its logs chosen: docs/studio.png.

    python tools/studio.py [FILE.png]

It opens a window, so it needs a display; `xvfb-run -a -s "-screen 0 1300x800x24"` before it will do.
"""

from __future__ import annotations

import sys
from typing import Any

import glfw
import numpy as np

import gpufluid as gf
from gpufluid.app.demos import load_demo
from gpufluid.app.play import STUDIO_SIZE
from gpufluid.app.player import Player
from gpufluid.app.window import Window
from gpufluid.io.images import write_png

DEMO, FRAME = "campfire", 104
CHOSEN = ("fluids", 0, "obstacles", 2)
SETTLED = 8  # pictures until the panel has found its places


def window_of(player: Player) -> np.ndarray:
    """The whole window as it is shown next, uint8 [height, width, 3]."""
    swap, taken = glfw.swap_buffers, np.zeros((0, 0, 3), np.uint8)

    def take(window: Any) -> None:  # after the swap what was drawn need not be there any more
        nonlocal taken
        width, height = player.stage.size
        raw = player.window.ctx.screen.read((0, 0, width, height), 3, alignment=1)
        taken = np.frombuffer(raw, np.uint8).reshape(height, width, 3)[::-1]
        swap(window)

    glfw.swap_buffers = take
    try:
        player.tick()
    finally:
        glfw.swap_buffers = swap
    return taken


def main(file: str = "studio.png") -> None:
    """Let the fire burn in the studio and write what its window shows."""
    with Window(STUDIO_SIZE, DEMO) as window:

        def make(**options: Any) -> gf.Scene:
            return load_demo(DEMO)(ctx=window.ctx, **options)

        with Player(window, make, DEMO) as player:
            player.open_studio()
            while player.scene.frame < FRAME:
                player.tick()
            player.paused = True
            assert player.studio is not None
            player.studio.editor.select(CHOSEN)
            for _ in range(SETTLED):
                player.tick()
            print(write_png(file, window_of(player), overwrite=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
