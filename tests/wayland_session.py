"""What a window does on Wayland; prints what it saw, as JSON. Run by test_wayland.py."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from typing import Any

import gpufluid as gf
from gpufluid.app.display import glfw_chosen

with glfw_chosen():
    import glfw

from gpufluid.app.player import Player
from gpufluid.app.window import Window

SIZE = 480, 240
HANGS = 60  # s without a frame; the process then ends, also inside a call of the driver's


def sway(*words: str) -> Any:
    return json.loads(subprocess.check_output(["swaymsg", "-r", *words]))


def windows(node: dict[str, Any]) -> list[dict[str, Any]]:
    """Those in a part of the compositor's tree."""
    inner = [window for part in node["nodes"] + node["floating_nodes"] for window in windows(part)]
    return [node, *inner] if node.get("pid") else inner


def frames(player: Player, count: int) -> float:
    """Show so many, and return how long they took, s."""
    began = time.perf_counter()
    for _ in range(count):
        signal.alarm(HANGS)
        player.tick()
    signal.alarm(0)
    return time.perf_counter() - began


def main() -> None:
    report: dict[str, Any] = {}
    with Window(SIZE, "wayland") as window:

        def make() -> gf.Scene:
            fluid = gf.Fluid(gf.Grid((8, 8, 8), cell_size=0.125), ctx=window.ctx)
            return gf.Scene(fluid, picture=gf.Picture(size=(64, 32)))

        with Player(window, make, "wayland") as player:
            frames(player, 2)
            report["platform"] = glfw.get_platform() == glfw.PLATFORM_WAYLAND
            player.open_studio()
            frames(player, 2)
            raw = window.ctx.screen.read(viewport=(0, 0, *window.framebuffer_size), components=3, alignment=1)
            report["panel"] = len(set(raw))
            [shown] = windows(sway("-t", "get_tree"))
            report["app_id"], report["visible"] = shown["app_id"], shown["visible"]
            report["pixels"] = window.framebuffer_size

            sway("workspace", "2")
            frame = player.scene.frame
            frames(player, 5)
            [shown] = windows(sway("-t", "get_tree"))
            report["hidden"] = not shown["visible"]
            report["hidden_frames"] = player.scene.frame - frame
            sway("workspace", "1")

            player.pause()  # as fast as it can, and no faster than the screen
            glfw.post_empty_event()
            frames(player, 1)
            began = time.perf_counter()
            for _ in range(12):
                window.show()
            report["twelve"] = time.perf_counter() - began

            sway("output", "HEADLESS-1", "scale", "2")
            frames(player, 3)
            report["fine_pixels"] = window.framebuffer_size
    print(json.dumps(report))


main()
