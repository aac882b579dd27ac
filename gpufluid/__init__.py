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
    from gpufluid.common.debugging import debug as debug
    from gpufluid.common.errors import GLUnavailableError as GLUnavailableError
    from gpufluid.common.errors import GpufluidError as GpufluidError
    from gpufluid.common.errors import MeshWarning as MeshWarning
    from gpufluid.common.errors import MissingDependencyError as MissingDependencyError
    from gpufluid.common.errors import SceneError as SceneError
    from gpufluid.common.errors import ShaderError as ShaderError
    from gpufluid.common.errors import ShapeWarning as ShapeWarning
    from gpufluid.description.boundaries import Boundaries as Boundaries
    from gpufluid.description.boundaries import Inflow as Inflow
    from gpufluid.description.boundaries import Open as Open
    from gpufluid.description.boundaries import Periodic as Periodic
    from gpufluid.description.boundaries import Wall as Wall
    from gpufluid.description.combustion import Combustion as Combustion
    from gpufluid.description.flow_views import GlyphsView as GlyphsView
    from gpufluid.description.flow_views import IsoSurfaceView as IsoSurfaceView
    from gpufluid.description.flow_views import ParticleSource as ParticleSource
    from gpufluid.description.flow_views import ParticlesView as ParticlesView
    from gpufluid.description.flow_views import Seeds as Seeds
    from gpufluid.description.flow_views import SliceView as SliceView
    from gpufluid.description.flow_views import StreakLinesView as StreakLinesView
    from gpufluid.description.flow_views import StreamlinesView as StreamlinesView
    from gpufluid.description.flow_views import VoxelsView as VoxelsView
    from gpufluid.description.grid import Grid as Grid
    from gpufluid.description.hand import Hand as Hand
    from gpufluid.description.mesh import Mesh as Mesh
    from gpufluid.description.obstacles import Obstacle as Obstacle
    from gpufluid.description.settings import Settings as Settings
    from gpufluid.description.shapes import Box as Box
    from gpufluid.description.shapes import Capsule as Capsule
    from gpufluid.description.shapes import Cylinder as Cylinder
    from gpufluid.description.shapes import Plane as Plane
    from gpufluid.description.shapes import Sphere as Sphere
    from gpufluid.description.solvers import FFT as FFT
    from gpufluid.description.solvers import ChebyshevJacobi as ChebyshevJacobi
    from gpufluid.description.solvers import ConjugateGradient as ConjugateGradient
    from gpufluid.description.solvers import Jacobi as Jacobi
    from gpufluid.description.solvers import Multigrid as Multigrid
    from gpufluid.description.solvers import RedBlackSOR as RedBlackSOR
    from gpufluid.description.sources import Array as Array
    from gpufluid.description.sources import Bezier as Bezier
    from gpufluid.description.sources import Emitter as Emitter
    from gpufluid.description.sources import Image as Image
    from gpufluid.description.sources import Line as Line
    from gpufluid.description.sources import Surface as Surface
    from gpufluid.description.user_forces import Attractor as Attractor
    from gpufluid.description.user_forces import ForceExpression as ForceExpression
    from gpufluid.description.user_forces import ForceField as ForceField
    from gpufluid.description.user_forces import Turbulence as Turbulence
    from gpufluid.description.user_forces import Vortex as Vortex
    from gpufluid.description.user_forces import Wind as Wind
    from gpufluid.description.view import Camera as Camera
    from gpufluid.description.view import Fire as Fire
    from gpufluid.description.view import Light as Light
    from gpufluid.description.view import Picture as Picture
    from gpufluid.description.view import Plate as Plate
    from gpufluid.description.view import PointLight as PointLight
    from gpufluid.description.view import Smoke as Smoke
    from gpufluid.description.view import SpotLight as SpotLight
    from gpufluid.engine.fluid import Fluid as Fluid
    from gpufluid.gl.contexts import is_software as is_software
    from gpufluid.gl.source import glsl as glsl
    from gpufluid.gl.state import keep_state as keep_state
    from gpufluid.gl.trial import tune as tune
    from gpufluid.io.film import Film as Film
    from gpufluid.io.games import FlipBook as FlipBook
    from gpufluid.io.images import FrameFolder as FrameFolder
    from gpufluid.io.pictures import write_picture as write_picture
    from gpufluid.io.volumes import write_volume as write_volume
    from gpufluid.render.frame import FrameRenderer as FrameRenderer
    from gpufluid.render.views.glyphs import Glyphs as Glyphs
    from gpufluid.render.views.histogram_view import HistogramView as HistogramView
    from gpufluid.render.views.iso_surface import IsoSurface as IsoSurface
    from gpufluid.render.views.particles import Particles as Particles
    from gpufluid.render.views.slice_plane import SlicePlane as SlicePlane
    from gpufluid.render.views.streamlines import StreakLines as StreakLines
    from gpufluid.render.views.streamlines import Streamlines as Streamlines
    from gpufluid.render.views.streamlines import grid_of_seeds as grid_of_seeds
    from gpufluid.render.views.streamlines import line_of_seeds as line_of_seeds
    from gpufluid.render.views.texture_view import FlatTextureView as FlatTextureView
    from gpufluid.render.views.voxel_view import VoxelView as VoxelView
    from gpufluid.render.volume import VolumeRenderer as VolumeRenderer
    from gpufluid.scene.scene import Scene as Scene

__version__ = "0.1.0"

# the public names of each module
_NAMES = {
    "app.notebook": "show",
    "app.play": "run",
    "description.boundaries": "Boundaries Inflow Open Periodic Wall",
    "description.combustion": "Combustion",
    "common.debugging": "debug",
    "common.errors": (
        "GLUnavailableError GpufluidError MeshWarning "
        "MissingDependencyError SceneError ShaderError ShapeWarning"
    ),
    "description.flow_views": (
        "GlyphsView IsoSurfaceView ParticleSource ParticlesView "
        "Seeds SliceView StreakLinesView StreamlinesView VoxelsView"
    ),
    "engine.fluid": "Fluid",
    "gl.contexts": "is_software",
    "gl.source": "glsl",
    "gl.state": "keep_state",
    "gl.trial": "tune",
    "description.grid": "Grid",
    "description.hand": "Hand",
    "io.film": "Film",
    "io.games": "FlipBook",
    "io.images": "FrameFolder",
    "io.pictures": "write_picture",
    "io.volumes": "write_volume",
    "description.mesh": "Mesh",
    "description.obstacles": "Obstacle",
    "render.frame": "FrameRenderer",
    "render.views.glyphs": "Glyphs",
    "render.views.histogram_view": "HistogramView",
    "render.views.iso_surface": "IsoSurface",
    "render.views.particles": "Particles",
    "render.views.slice_plane": "SlicePlane",
    "render.views.streamlines": "grid_of_seeds line_of_seeds StreakLines Streamlines",
    "render.views.texture_view": "FlatTextureView",
    "render.volume": "VolumeRenderer",
    "render.views.voxel_view": "VoxelView",
    "scene.scene": "Scene",
    "description.settings": "Settings",
    "description.shapes": "Box Capsule Cylinder Plane Sphere",
    "description.solvers": "ChebyshevJacobi ConjugateGradient FFT Jacobi Multigrid RedBlackSOR",
    "description.sources": "Array Bezier Emitter Image Line Surface",
    "description.user_forces": "Attractor ForceExpression ForceField Turbulence Vortex Wind",
    "description.view": "Camera Fire Light Picture Plate PointLight Smoke SpotLight",
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
