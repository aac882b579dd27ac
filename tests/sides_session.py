"""Sides that change in the studio, as a program of its own; test_studio_sides.py runs it under Xvfb."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from studio_session import CONTROL, SIZE, Driver, hold

SCENE = """\
dt = 0.04

# the wind tunnel
[[containers]]
name = "flat"
grid = { cells = [8, 8, 1], cell_size = 0.1 }
sides = { left = { kind = "inflow", velocity = [0.5, 0, 0] }, right = { kind = "open" } }

[[containers]]
name = "tunnel"
grid = { cells = [12, 8, 8], cell_size = 0.1, origin = [1.0, 0.0, -0.4] }
settings = { pressure = { kind = "jacobi", iterations = 4 } }

[containers.sides]
left = { kind = "inflow", velocity = { formula = ["1 + t", "0", "0"] } }   # a gust
right = { kind = "open" }
top = { kind = "wall", slip = "free" }
bottom = { kind = "wall", temperature = 0.5 }   # warm
back = { kind = "periodic" }
front = { kind = "periodic" }

[camera]
target = [1.0, 0.4, 0.0]
distance = 4.0

[picture]
slices = 8
size = [160, 320]
"""


def session(drive: Driver, report: dict[str, Any]) -> None:
    """Everything a user does, in turn."""
    player = drive.player
    studio = drive.open_studio()
    drive.simulated(2)
    drive.press(ord(" "))
    drive.frames(2)
    for title in ("Objects", "Flow"):
        drive.press_widget(title)
    before = set(drive.places)
    drive.press_widget("Sides")
    drive.frames(2)
    report["flat"] = sorted(set(drive.places) - before)
    drive.press_widget("##box")
    drive.press_widget("tunnel")
    for label in set(drive.places) - before:
        del drive.places[label]
    drive.frames(2)
    report["rows"] = sorted(set(drive.places) - before)
    report["inside"] = max(drive.places[label][2] for label in report["rows"]) <= SIZE[0]

    # a drag of what follows a formula, and one of a wall's two numbers
    def drag(label: str, share: float, by: int) -> None:
        drive.scroll_to(label)
        x0, y0, x1, y1 = drive.places[label]
        x, y = x0 + share * (x1 - x0), 0.5 * (y0 + y1)
        drive.drag((x, y), [(x + by, y), (x + 2 * by, y)])
        drive.frames(1)

    fluid = player.scene.fluids[1]
    drag("##velocity", 0.15, 20)
    wind = fluid.boundaries.left
    report["gust"] = [list(wind.velocity), len(player.history.done), player.unsaved]  # type: ignore[union-attr]
    drive.press(ord(" "))
    drive.simulated(2)
    drive.press(ord(" "))
    report["stays"] = fluid.boundaries.left == wind
    report["blows"] = [wind.velocity[0], float(fluid.velocity.read()[4, 4, 0, 0])]  # type: ignore[union-attr]
    drag("##velocity x, z", 0.75, 20)
    report["belt"] = list(fluid.boundaries.bottom.velocity)  # type: ignore[union-attr]
    drive.scroll_to("##density")
    drive.press_widget("##density", 0.5)
    report["density"] = fluid.boundaries.left.density  # type: ignore[union-attr]

    # undone and redone; started again; saved, without what was undone
    drive.press(ord("z"), CONTROL)
    drive.press(ord("z"), CONTROL)
    report["undone"] = [list(fluid.boundaries.velocity(2)), fluid.boundaries.left == wind]
    drive.press(ord("y"), CONTROL)
    report["redone"] = list(fluid.boundaries.velocity(2))
    drive.press_widget("Reset")
    drive.frames()
    sides = player.scene.fluids[1].boundaries
    report["again"] = [player.scene.fluids[1] is not fluid, list(sides.velocity(0)), list(sides.velocity(2))]
    studio.files.save()
    report["saved"] = [player.unsaved, msgspec.toml.decode(Path("scene.toml").read_text())["containers"]]
    report["text"] = Path("scene.toml").read_text()


if __name__ == "__main__":
    hold("sides", SIZE, SCENE, session)
