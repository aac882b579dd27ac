"""What is looked at and how: camera, light and the look of the smoke. Descriptions only, no GL."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gpufluid.errors import GpufluidError, named
from gpufluid.grid import finite_number, finite_triple


@named
@dataclass
class Camera:
    """A camera on a sphere round `target`, looking at it; y is up.

    target: metres. distance: metres, > 0. azimuth: degrees round the y axis, 0 looks along -z.
    elevation: degrees above the horizon, -89 to 89. fov: vertical angle of view, degrees, 1 to 170.
    near, far: clipping distances, metres. Change any of them at any time.
    """

    target: tuple[float, float, float] = (0.0, 0.0, 0.0)
    distance: float = 2.0
    azimuth: float = 0.0
    elevation: float = 10.0
    fov: float = 35.0
    near: float = 0.01
    far: float = 100.0

    def __post_init__(self) -> None:
        self.check()

    def check(self) -> None:
        """Raise GpufluidError naming the first value a picture cannot be made with."""
        self.target = finite_triple(self.target, "Camera.target")
        finite_number(self.distance, "Camera.distance", above=0.0)
        finite_number(self.azimuth, "Camera.azimuth")
        if not -89.0 <= finite_number(self.elevation, "Camera.elevation") <= 89.0:
            raise GpufluidError(f"Camera.elevation must lie in -89 .. 89, got {self.elevation!r}")
        if not 1.0 <= finite_number(self.fov, "Camera.fov") <= 170.0:
            raise GpufluidError(f"Camera.fov must lie in 1 .. 170 degrees, got {self.fov!r}")
        finite_number(self.near, "Camera.near", above=0.0)
        finite_number(self.far, "Camera.far", above=self.near)

    @property
    def eye(self) -> tuple[float, float, float]:
        """Where the camera stands, metres."""
        a, e = math.radians(self.azimuth), math.radians(self.elevation)
        x, y, z = self.target
        across = self.distance * math.cos(e)
        return x + across * math.sin(a), y + self.distance * math.sin(e), z + across * math.cos(a)


@named
@dataclass
class Light:
    """A directional light and what surrounds the scene.

    direction: the way the light travels (not towards it). color: linear radiance (r, g, b) of a white
    surface facing it. ambient: linear radiance (r, g, b) that comes from all round.
    """

    direction: tuple[float, float, float] = (-0.75, -0.6, 0.3)
    color: tuple[float, float, float] = (3.0, 2.8, 2.5)
    ambient: tuple[float, float, float] = (0.16, 0.2, 0.28)

    def __post_init__(self) -> None:
        self.check()

    def check(self) -> None:
        """Raise GpufluidError naming the first value that no light has."""
        self.direction = finite_triple(self.direction, "Light.direction")
        if not any(self.direction):
            raise GpufluidError("Light.direction must not be (0, 0, 0)")
        for name in ("color", "ambient"):
            triple = finite_triple(getattr(self, name), f"Light.{name}")
            if min(triple) < 0.0:
                raise GpufluidError(f"Light.{name} must not be negative, got {triple}")
            setattr(self, name, triple)


@named
@dataclass
class Smoke:
    """How density looks.

    extinction: 1/m per unit of density (Beer-Lambert). albedo: share of light scattered, (r, g, b), 0 to 1.
    anisotropy: g of Henyey & Greenstein (1941), -0.95 to 0.95; 0 scatters alike all round.
    """

    extinction: float = 40.0
    albedo: tuple[float, float, float] = (0.9, 0.9, 0.92)
    anisotropy: float = 0.0

    def __post_init__(self) -> None:
        self.check()

    def check(self) -> None:
        """Raise GpufluidError naming the first value smoke cannot have."""
        finite_number(self.extinction, "Smoke.extinction", low=0.0)
        self.albedo = finite_triple(self.albedo, "Smoke.albedo")
        if min(self.albedo) < 0.0 or max(self.albedo) > 1.0:
            raise GpufluidError(f"Smoke.albedo must lie in 0 .. 1, got {self.albedo}")
        if abs(finite_number(self.anisotropy, "Smoke.anisotropy")) > 0.95:
            raise GpufluidError(f"Smoke.anisotropy must lie in -0.95 .. 0.95, got {self.anisotropy!r}")
