"""gpufluid: a real-time 3D fluid engine in Python and GLSL.

Names are looked up when they are first used, so importing the package loads neither OpenGL nor a window
library: the NumPy backend runs where there is none.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gpufluid.app.notebook import show as show
    from gpufluid.app.play import run as run
    from gpufluid.boundaries import Boundaries as Boundaries
    from gpufluid.boundaries import Inflow as Inflow
    from gpufluid.boundaries import Open as Open
    from gpufluid.boundaries import Periodic as Periodic
    from gpufluid.boundaries import Wall as Wall
    from gpufluid.combustion import Combustion as Combustion
    from gpufluid.debugging import debug as debug
    from gpufluid.errors import GLUnavailableError as GLUnavailableError
    from gpufluid.errors import GpufluidError as GpufluidError
    from gpufluid.errors import MeshWarning as MeshWarning
    from gpufluid.errors import MissingDependencyError as MissingDependencyError
    from gpufluid.errors import SceneError as SceneError
    from gpufluid.errors import ShaderError as ShaderError
    from gpufluid.errors import ShapeWarning as ShapeWarning
    from gpufluid.flow_views import GlyphsView as GlyphsView
    from gpufluid.flow_views import IsoSurfaceView as IsoSurfaceView
    from gpufluid.flow_views import ParticleSource as ParticleSource
    from gpufluid.flow_views import ParticlesView as ParticlesView
    from gpufluid.flow_views import Seeds as Seeds
    from gpufluid.flow_views import SliceView as SliceView
    from gpufluid.flow_views import StreakLinesView as StreakLinesView
    from gpufluid.flow_views import StreamlinesView as StreamlinesView
    from gpufluid.flow_views import VoxelsView as VoxelsView
    from gpufluid.fluid import Fluid as Fluid
    from gpufluid.gl.contexts import is_software as is_software
    from gpufluid.gl.source import glsl as glsl
    from gpufluid.gl.state import keep_state as keep_state
    from gpufluid.gl.trial import tune as tune
    from gpufluid.grid import Grid as Grid
    from gpufluid.hand import Hand as Hand
    from gpufluid.io.film import Film as Film
    from gpufluid.io.games import FlipBook as FlipBook
    from gpufluid.io.images import FrameFolder as FrameFolder
    from gpufluid.io.pictures import write_picture as write_picture
    from gpufluid.io.volumes import write_volume as write_volume
    from gpufluid.mesh import Mesh as Mesh
    from gpufluid.obstacles import Obstacle as Obstacle
    from gpufluid.render.frame import FrameRenderer as FrameRenderer
    from gpufluid.render.glyphs import Glyphs as Glyphs
    from gpufluid.render.histogram_view import HistogramView as HistogramView
    from gpufluid.render.iso_surface import IsoSurface as IsoSurface
    from gpufluid.render.particles import Particles as Particles
    from gpufluid.render.slice_plane import SlicePlane as SlicePlane
    from gpufluid.render.streamlines import StreakLines as StreakLines
    from gpufluid.render.streamlines import Streamlines as Streamlines
    from gpufluid.render.streamlines import grid_of_seeds as grid_of_seeds
    from gpufluid.render.streamlines import line_of_seeds as line_of_seeds
    from gpufluid.render.texture_view import FlatTextureView as FlatTextureView
    from gpufluid.render.volume import VolumeRenderer as VolumeRenderer
    from gpufluid.render.voxel_view import VoxelView as VoxelView
    from gpufluid.scene import Scene as Scene
    from gpufluid.settings import Settings as Settings
    from gpufluid.shapes import Box as Box
    from gpufluid.shapes import Capsule as Capsule
    from gpufluid.shapes import Cylinder as Cylinder
    from gpufluid.shapes import Plane as Plane
    from gpufluid.shapes import Sphere as Sphere
    from gpufluid.solvers import FFT as FFT
    from gpufluid.solvers import ChebyshevJacobi as ChebyshevJacobi
    from gpufluid.solvers import ConjugateGradient as ConjugateGradient
    from gpufluid.solvers import Jacobi as Jacobi
    from gpufluid.solvers import Multigrid as Multigrid
    from gpufluid.solvers import RedBlackSOR as RedBlackSOR
    from gpufluid.sources import Array as Array
    from gpufluid.sources import Bezier as Bezier
    from gpufluid.sources import Emitter as Emitter
    from gpufluid.sources import Image as Image
    from gpufluid.sources import Line as Line
    from gpufluid.sources import Surface as Surface
    from gpufluid.user_forces import Attractor as Attractor
    from gpufluid.user_forces import ForceExpression as ForceExpression
    from gpufluid.user_forces import ForceField as ForceField
    from gpufluid.user_forces import Turbulence as Turbulence
    from gpufluid.user_forces import Vortex as Vortex
    from gpufluid.user_forces import Wind as Wind
    from gpufluid.view import Camera as Camera
    from gpufluid.view import Fire as Fire
    from gpufluid.view import Light as Light
    from gpufluid.view import Picture as Picture
    from gpufluid.view import Plate as Plate
    from gpufluid.view import PointLight as PointLight
    from gpufluid.view import Smoke as Smoke
    from gpufluid.view import SpotLight as SpotLight

__version__ = "0.1.0"

# the public names of each module
_NAMES = {
    "app.notebook": "show",
    "app.play": "run",
    "boundaries": "Boundaries Inflow Open Periodic Wall",
    "combustion": "Combustion",
    "debugging": "debug",
    "errors": (
        "GLUnavailableError GpufluidError MeshWarning "
        "MissingDependencyError SceneError ShaderError ShapeWarning"
    ),
    "flow_views": (
        "GlyphsView IsoSurfaceView ParticleSource ParticlesView "
        "Seeds SliceView StreakLinesView StreamlinesView VoxelsView"
    ),
    "fluid": "Fluid",
    "gl.contexts": "is_software",
    "gl.source": "glsl",
    "gl.state": "keep_state",
    "gl.trial": "tune",
    "grid": "Grid",
    "hand": "Hand",
    "io.film": "Film",
    "io.games": "FlipBook",
    "io.images": "FrameFolder",
    "io.pictures": "write_picture",
    "io.volumes": "write_volume",
    "mesh": "Mesh",
    "obstacles": "Obstacle",
    "render.frame": "FrameRenderer",
    "render.glyphs": "Glyphs",
    "render.histogram_view": "HistogramView",
    "render.iso_surface": "IsoSurface",
    "render.particles": "Particles",
    "render.slice_plane": "SlicePlane",
    "render.streamlines": "grid_of_seeds line_of_seeds StreakLines Streamlines",
    "render.texture_view": "FlatTextureView",
    "render.volume": "VolumeRenderer",
    "render.voxel_view": "VoxelView",
    "scene": "Scene",
    "settings": "Settings",
    "shapes": "Box Capsule Cylinder Plane Sphere",
    "solvers": "ChebyshevJacobi ConjugateGradient FFT Jacobi Multigrid RedBlackSOR",
    "sources": "Array Bezier Emitter Image Line Surface",
    "user_forces": "Attractor ForceExpression ForceField Turbulence Vortex Wind",
    "view": "Camera Fire Light Picture Plate PointLight Smoke SpotLight",
}
_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = sorted(_HOME)


if not TYPE_CHECKING:  # a type checker would take every misspelt name for one of these

    def __getattr__(name: str) -> Any:
        if name not in _HOME:
            # with both, a traceback tells the nearest name that there is
            here = sys.modules[__name__]
            raise AttributeError(f"module 'gpufluid' has no attribute {name!r}", name=name, obj=here)
        value = getattr(import_module(f"gpufluid.{_HOME[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
