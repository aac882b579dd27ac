"""What is told beside pictures: the scene they show, as plain data."""

from __future__ import annotations

from dataclasses import asdict, is_dataclass
from typing import Any

import gpufluid
from gpufluid.engine.fluid import Fluid
from gpufluid.scene.scene import Scene


def describe(
    scene: Scene, size: tuple[int, int] | None, fps: float, fluid: Fluid | None = None
) -> dict[str, Any]:
    """What `FrameFolder` and `FlipBook` take as `about` of `scene`: plain JSON.

    title, fps, size, dt (seconds a frame), the grid, the settings, the backend, and the engine's version.
    size: (width, height), pixels; None: what is told of is no picture. fps: frames a second. fluid: the one
    that grid, settings and backend are of; None: the first.
    """
    fluid = scene.fluid if fluid is None else fluid
    settings = asdict(fluid.settings)
    pressure = fluid.settings.pressure
    settings["pressure"] = {
        "solver": type(pressure).__name__,
        **(settings["pressure"] if is_dataclass(pressure) else {}),
    }
    return {
        "gpufluid": gpufluid.__version__,
        "title": scene.title,
        "fps": float(fps),
        **({} if size is None else {"size": list(size)}),
        "dt": scene.dt,
        "grid": asdict(fluid.grid),
        "backend": fluid.backend_name,
        "settings": settings,
    }
