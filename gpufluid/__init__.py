"""gpufluid: a real-time 3D fluid engine in Python and GLSL.

Names are looked up when they are first used, so importing the package loads neither OpenGL nor a window
library: the NumPy backend runs where there is none.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gpufluid.app.play import run as run
    from gpufluid.boundaries import Boundaries as Boundaries
    from gpufluid.boundaries import Inflow as Inflow
    from gpufluid.boundaries import Open as Open
    from gpufluid.boundaries import Periodic as Periodic
    from gpufluid.boundaries import Wall as Wall
    from gpufluid.errors import GLUnavailableError as GLUnavailableError
    from gpufluid.errors import GpufluidError as GpufluidError
    from gpufluid.errors import MeshWarning as MeshWarning
    from gpufluid.errors import MissingDependencyError as MissingDependencyError
    from gpufluid.errors import ShaderError as ShaderError
    from gpufluid.fluid import Fluid as Fluid
    from gpufluid.gl.device import is_software as is_software
    from gpufluid.grid import Grid as Grid
    from gpufluid.render.frame import FrameRenderer as FrameRenderer
    from gpufluid.render.volume import VolumeRenderer as VolumeRenderer
    from gpufluid.scene import Scene as Scene
    from gpufluid.settings import Settings as Settings
    from gpufluid.shapes import Box as Box
    from gpufluid.shapes import Emitter as Emitter
    from gpufluid.shapes import Mesh as Mesh
    from gpufluid.shapes import Obstacle as Obstacle
    from gpufluid.shapes import Sphere as Sphere
    from gpufluid.solvers import ChebyshevJacobi as ChebyshevJacobi
    from gpufluid.solvers import ConjugateGradient as ConjugateGradient
    from gpufluid.solvers import Jacobi as Jacobi
    from gpufluid.solvers import Multigrid as Multigrid
    from gpufluid.solvers import RedBlackSOR as RedBlackSOR
    from gpufluid.view import Camera as Camera
    from gpufluid.view import Light as Light
    from gpufluid.view import Smoke as Smoke

__version__ = "0.1.0"

_HOME = {
    "Boundaries": "boundaries",
    "Box": "shapes",
    "Camera": "view",
    "Emitter": "shapes",
    "Fluid": "fluid",
    "FrameRenderer": "render.frame",
    "GLUnavailableError": "errors",
    "GpufluidError": "errors",
    "Grid": "grid",
    "Inflow": "boundaries",
    "Jacobi": "solvers",
    "RedBlackSOR": "solvers",
    "Multigrid": "solvers",
    "ConjugateGradient": "solvers",
    "ChebyshevJacobi": "solvers",
    "Light": "view",
    "Mesh": "shapes",
    "MeshWarning": "errors",
    "MissingDependencyError": "errors",
    "Obstacle": "shapes",
    "Open": "boundaries",
    "Periodic": "boundaries",
    "Scene": "scene",
    "Settings": "settings",
    "ShaderError": "errors",
    "Smoke": "view",
    "Sphere": "shapes",
    "VolumeRenderer": "render.volume",
    "Wall": "boundaries",
    "is_software": "gl.device",
    "run": "app.play",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'gpufluid' has no attribute {name!r}")
    value = getattr(import_module(f"gpufluid.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
