"""Errors the engine raises: each names what is wrong, where, and the limit it broke.

Everything a caller can cause is a :class:`GpufluidError`, which is a ``ValueError``.
"""

from __future__ import annotations


class GpufluidError(ValueError):
    """Bad input, or something this machine cannot do; the message is one clear sentence."""


class ShaderError(GpufluidError):
    """GLSL that does not load, compile or link; the message names glsl file, line and pass."""


class GLUnavailableError(GpufluidError):
    """No usable OpenGL context on this machine."""


class MissingDependencyError(GpufluidError):
    """An optional package is not installed; the message names the command that installs it."""

    def __init__(self, package: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs the package {package!r}: pip install 'gpufluid[all]'")


class MeshWarning(UserWarning):
    """A mesh that works only in part: it is open, or it lies outside the box."""


class SceneError(GpufluidError):
    """A scene file that cannot be played: names the file, the place in it and what was expected there."""
