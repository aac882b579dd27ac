"""A scene: a fluid, and how it is looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from gpufluid.errors import GpufluidError, named
from gpufluid.fluid import Fluid
from gpufluid.grid import finite_number
from gpufluid.view import Camera, Light, Smoke


@named
@dataclass
class Scene:
    """Everything a film or a window needs; `gpufluid.run` plays it.

    fluid: steps by `dt` seconds a frame. camera, light, smoke: the picture. floor: height of a ground
    plane that catches the shadow, metres, or None. update: called as ``update(scene, time)`` before each
    frame, time in seconds. title: the window's.
    """

    fluid: Fluid
    camera: Camera = field(default_factory=Camera)
    light: Light = field(default_factory=Light)
    smoke: Smoke = field(default_factory=Smoke)
    dt: float = 1.0 / 30.0
    floor: float | None = None
    update: Callable[[Scene, float], None] | None = None
    title: str = "gpufluid"
    frame: int = 0

    def __post_init__(self) -> None:
        finite_number(self.dt, "Scene.dt", low=0.0)
        for name, kind in (("fluid", Fluid), ("camera", Camera), ("light", Light), ("smoke", Smoke)):
            if not isinstance(getattr(self, name), kind):
                raise GpufluidError(f"Scene.{name} must be a gf.{kind.__name__}, got {getattr(self, name)!r}")

    @property
    def time(self) -> float:
        """Seconds simulated so far."""
        return self.frame * self.dt

    def advance(self) -> None:
        """Run `update`, then step the fluid by one frame."""
        if self.update is not None:
            self.update(self, self.time)
        self.fluid.step(self.dt)
        self.frame += 1

    def release(self) -> None:
        """Release the fluid."""
        self.fluid.release()
